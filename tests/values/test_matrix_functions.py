"""Square roots and logarithms of matrices, and Sylvester's equation: values, errors, formulas, programs."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

import symgrad as sg
from symgrad import linalg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(8)
GENERAL = RNG.uniform(-1, 1, (4, 4)) + 2.5 * np.eye(4)
DEFECTIVE = GENERAL @ (2 * np.eye(4) + np.diag([1.0, 1.0, 1.0], 1)) @ np.linalg.inv(GENERAL)
SPINNING = np.array([[0.0, -1.0], [1.0, 0.0]])


@pytest.mark.parametrize("a", [GENERAL, DEFECTIVE, SPINNING, GENERAL + 1j * GENERAL.T, np.zeros((0, 0)), np.eye(1) * 3])
def test_values(a):
    root, log = linalg.sqrtm(a), linalg.logm(a)
    assert root.dtype == log.dtype == a.dtype
    np.testing.assert_allclose(root @ root, a, atol=1e-13)
    np.testing.assert_allclose(linalg.expm(log), a, atol=1e-13)
    assert (np.linalg.eigvals(root).real >= 0).all()


def test_batches_and_precisions():
    a = np.stack([GENERAL, DEFECTIVE, np.eye(4)])
    for function in (linalg.sqrtm, linalg.logm):
        np.testing.assert_allclose(function(a), [function(m) for m in a])
        single = function(sg.tensor(a, dtype=sg.float32))
        assert single.dtype == sg.float32
        np.testing.assert_allclose(single.numpy(), function(a), atol=2e-6)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_what_scipy_says(name):
    scipy = pytest.importorskip("scipy.linalg", reason="scipy is the referee of these names")
    for a in (GENERAL, GENERAL @ GENERAL.T, GENERAL + 1j * GENERAL.T, np.diag([-1.0 + 0j, 4.0]), SPINNING):
        np.testing.assert_allclose(getattr(linalg, name)(a), getattr(scipy, name)(a), atol=1e-13)
    q = RNG.normal(size=(4, 2))
    found = linalg.solve_sylvester(GENERAL, SPINNING, q)
    np.testing.assert_allclose(found, scipy.solve_sylvester(GENERAL, SPINNING, q), atol=1e-13)


def test_what_has_no_real_value():
    negative = sg.tensor([[-1.0, 0.0], [0.0, 4.0]], name="A")
    for call, what in ((sg.linalg.sqrtm, "square root"), (sg.linalg.logm, "logarithm")):
        with pytest.raises(RuntimeError, match=rf"the eigenvalue -1 < 0, so that its {what} is not real; cast it to c"):
            call(negative)
        assert call(negative.to(sg.complex128)).imag.numpy().max() >= 1
        with pytest.raises(RuntimeError, match="must be|square matrices"):
            call(sg.ones(2, 3))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        sg.linalg.logm(sg.ones(2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="singular and has no square root"):
        sg.linalg.sqrtm(sg.tensor([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="common eigenvalue"):
        sg.linalg.solve_sylvester(sg.eye(2), -sg.eye(3), sg.ones(2, 3))
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        sg.linalg.sqrtm(sg.full((2, 2), sg.nan))


def test_root_of_a_singular_matrix():
    """It has a value where zero stands alone, and an infinite derivative, which is an error."""
    a = sg.ones(3, 3, dtype=sg.float64, requires_grad=True)
    root = sg.linalg.sqrtm(a)
    np.testing.assert_allclose((root @ root).numpy(force=True), np.ones((3, 3)), atol=1e-14)
    with pytest.raises(np.linalg.LinAlgError, match="common eigenvalue"):
        root.sum().backward()


def test_formulas():
    A = sg.tensor(GENERAL, name="A", requires_grad=True)
    assert sg.linalg.sqrtm(A).latex() == "A^{1/2}"
    assert sg.linalg.logm(A).latex() == r"\operatorname{logm}\left(A\right)"
    (slope,) = sg.autograd.grad(sg.linalg.logm(A).trace(), A, create_graph=True)
    assert slope.latex() == r"A^{-\top}"
    (slope,) = sg.autograd.grad(sg.linalg.logm(A).sum(), A, create_graph=True)
    assert r"L_{\log}" in slope.latex()
    root = sg.linalg.sqrtm(A.T @ A)
    for value in (root, sg.linalg.inv(root) @ A, slope):
        read = from_latex(value.latex(), {"A": ("n", "n")})
        np.testing.assert_allclose(evaluate(read, {"A": GENERAL}), value.numpy(force=True), rtol=1e-11)


def test_exported_program(tmp_path):
    def f(A, B):
        return (sg.linalg.logm(A) @ sg.linalg.sqrtm(B)).trace()

    program = sg.compile(sg.func.value_and_grad(f), GENERAL, GENERAL @ GENERAL.T)
    program.save(tmp_path / "program.py")
    text = (tmp_path / "program.py").read_text()
    assert "import scipy" not in text
    assert "import symgrad" not in text
    assert runpy.run_path(str(tmp_path / "program.py"))["_selftest"]() == 0


def test_many_digits_of_functions_of_nearly_singular_matrices():
    turn = np.array([[3.0, 4.0], [-4.0, 3.0]])
    x = sg.tensor(turn @ np.diag([1e4, 1e-8]) @ turn.T, requires_grad=True)
    value = sg.linalg.logm(x).evalf(20)
    assert float(value[0, 0] + value[1, 1]) == pytest.approx(float(sg.linalg.slogdet(x)[1].evalf(20)), rel=1e-15)
    root = sg.linalg.sqrtm(sg.tensor(np.diag([1e-100, 1e100]), requires_grad=True)).evalf(20)
    np.testing.assert_allclose(np.diag(root).astype(float), [1e-50, 1e50], rtol=1e-15)
    with pytest.raises(np.linalg.LinAlgError, match="sqrtm: matrix is numerically singular"):
        sg.linalg.sqrtm(sg.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)).evalf(20)


@pytest.mark.parametrize("size", [1e-20, 1e8, 1e20, 1e100])
def test_slopes_of_exponentials_do_not_depend_on_the_size_of_what_they_go_into(size):
    def slopes(size):
        A = sg.tensor([[0.31, 0.62], [0.73, 0.84]], dtype=sg.float64, requires_grad=True)
        (first,) = sg.autograd.grad(size * sg.linalg.matrix_exp(A).sum(), A, create_graph=True)
        (second,) = sg.autograd.grad(size * first.sum(), A)
        return first.detach().numpy() / size, second.numpy() / size**2

    for got, wanted in zip(slopes(size), slopes(1.0), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("name", ["cholesky", "cholesky_ex", "eigh", "inv", "lu", "qr", "slogdet", "solve", "svd"])
def test_of_no_entries(name, shape):
    """cholesky looked at the last pivot, which there is none of."""
    x = sg.zeros(*shape, requires_grad=True)
    made = linalg.solve(x, x) if name == "solve" else getattr(linalg, name)(x)
    parts = [y for y in (made if isinstance(made, tuple) else (made,)) if y.requires_grad]
    (slope,) = sg.autograd.grad(sum(y.abs().sum() for y in parts), x)
    assert slope.shape == shape


@pytest.mark.parametrize("n", [40, 100, 150])
def test_lower_triangles_are_solved_row_by_row(n):
    """LAPACK looked for pivots among the rows of a lower triangle: of a hundred rows three digits were right."""
    rng = np.random.default_rng(0)
    triangle = np.tril(rng.standard_normal((n, n)), -1) + np.eye(n)
    b = rng.standard_normal((n, 2))
    exact = np.zeros(b.shape, np.longdouble)
    for i in range(n):
        exact[i] = b[i] - triangle[i, :i].astype(np.longdouble) @ exact[:i]

    def solved(a, b):
        return linalg.solve_triangular(a, b, upper=False)

    for found in (solved(sg.tensor(triangle), sg.tensor(b)).numpy(), sg.compile(solved, triangle, b)(triangle, b)):
        np.testing.assert_allclose(found, exact.astype(float), rtol=1e-8)


def test_second_derivatives_of_lu_do_not_depend_on_the_scale():
    """What came back for L was taken from, and added to, what came back for U, which is 1e20 times smaller here."""
    rng = np.random.default_rng(3)
    matrix, inward, outward = rng.standard_normal((3, 4, 5))

    def second(scale):
        x = sg.tensor(scale * matrix, requires_grad=True)
        packed, _ = linalg.lu_factor(x)
        (slope,) = sg.autograd.grad((packed * inward).sum(), x, create_graph=True)
        (found,) = sg.autograd.grad((slope * outward).sum(), x)
        return found.numpy()

    # L does not change with the scale s, and U is s times what it is: the derivative is l/s² + u/s.
    of_u = 4 * second(2.0) - second(1.0)
    of_l = second(1.0) - of_u
    np.testing.assert_allclose(second(1e20) * 1e20, of_u, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(second(1e-20) * 1e-40, of_l, rtol=1e-9, atol=1e-12)

"""Constants that a compiled function makes or meets: which are one, which are sizes, and which cannot be kept."""

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError, ShapeError
from symgrad.op import TABLE

F = sg.nn.functional


def test_a_constant_that_a_loop_meets_at_every_step_is_one_argument():
    F = np.array([[1.0, 0.1], [0.0, 1.0]])

    def f(x):
        for _ in range(4):
            x = (F @ x + np.array([0.0, 0.3])) @ F.T
        return x

    x = np.array([1.0, 2.0])
    compiled = sg.compile(f, x)
    assert [a.name for a in compiled.arguments] == ["x", "F", "c1"]  # the step; F.T is read of F
    np.testing.assert_allclose(compiled(x), f(x))
    F[0, 1] = 5.0  # read at every call, as before
    np.testing.assert_allclose(compiled(x), f(x))


def test_equal_arrays_that_somebody_has_stay_two():
    a, b = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    compiled = sg.compile(lambda x: x * a + b * x, np.ones(2))
    b[0] = 9.0
    np.testing.assert_array_equal(compiled(np.ones(2)), a + b)


def test_zeros_of_a_size_leave_it_a_letter():
    """``np.zeros(n)`` was data: the saved file had a letter and refused every other size for the sake of ``c1``."""

    def potentials(X, Y):
        C = ((X[:, None] - Y[None]) ** 2).sum(-1)
        n, m = C.shape
        f, g = np.zeros(n), np.zeros(m)
        for _ in range(3):
            f = -sg.logsumexp(g - C, 1)
            g = -sg.logsumexp(f[:, None] - C, 0)
        return f.sum() + g.sum()

    rng = np.random.default_rng(0)
    program = sg.compile(sg.func.grad(potentials), rng.random((4, 2)), rng.random((5, 2))).program
    assert [a.name for a in program.arguments] == ["X", "Y"]
    X, Y = rng.random((6, 2)), rng.random((3, 2))
    np.testing.assert_allclose(program(X, Y), sg.func.grad(potentials)(sg.tensor(X), sg.tensor(Y)))


@pytest.mark.parametrize("units", [8, 9, 16, 17])
def test_as_many_examples_as_units_of_a_layer_by_chance_are_a_letter(units, tmp_path):
    """The program held for eight examples alone; beside sixteen units, too, as it was tried at sixteen examples."""
    W, V = sg.randn(units, 3), sg.randn(units, units)
    x, y = sg.randn(8, 3), sg.randn(8, 1)

    def loss(x, y):
        return ((sg.tanh(x @ W.T) @ V - y) ** 2).mean()

    slope = sg.compile(sg.func.grad(loss), x, y, name="slope")
    assert "x (n, 3), y (n, 1)" in slope.source
    slope.save(tmp_path / "slope.py")
    saved: dict[str, Any] = {}
    exec((tmp_path / "slope.py").read_text(), saved)  # noqa: S102
    for n in (8, 5):
        found = saved["slope"](x.numpy()[:n], y.numpy()[:n])
        np.testing.assert_allclose(found, sg.func.grad(loss)(x[:n], y[:n]).numpy(), rtol=1e-4, atol=1e-6)


def test_an_argument_as_long_as_what_it_meets_stays_so():
    u, A = np.arange(8.0), np.ones((8, 8))
    for f in (lambda x: x * u[:, None], lambda x: A @ x, lambda x: x.T @ A @ x, lambda x: x.sum(0) + A[:, :3]):
        assert "(8, " in sg.compile(f, np.ones((8, 3))).source


def test_ones_that_are_data_do_not_become_a_size():
    program = sg.compile(lambda x: x @ np.array([1.0, 1.0]) + x[0], np.ones(2)).program
    with pytest.raises(ShapeError):
        program(np.ones(3))


def test_arrays_written_to_after_they_were_read_are_refused():
    """The program read what the array was at the end: a wrong result without a word."""

    def f(x):
        v = np.zeros(2)
        y = x + v
        v[0] = 1.0
        return y * v

    with pytest.raises(CompileError, match=r"writes to a NumPy array of shape \(2,\) after it has computed with it"):
        sg.compile(f, np.ones(2))
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(sg.jit(f)(sg.tensor(x)), [3.0, 0.0])


def test_large_floats_stay_floats_in_formulas() -> None:
    y = sg.tensor([1.0, 2.0], dtype=sg.float64, requires_grad=True, name="y")
    assert (y * 1e300).latex() == r"10^{300} y"
    assert str((y * 1e300).expr) == "1.0e+300*y"
    assert (y * 2**70).latex() == "1180591620717411303424 y"  # typed as a whole number
    assert (y * 123456789.0).latex() == "123456789 y"


@pytest.mark.parametrize("x", [0.05, 1.2])
@pytest.mark.parametrize("c", [1.4, 3, -0.3])
def test_a_number_as_a_cotangent_has_the_dtype_of_its_argument(x, c):
    """Of a scalar, it met a mask without one, and was 1 or a number in single precision."""
    f = sg.func.grad(lambda x: sg.clamp(sg.exp(-sg.abs(x)), min=0.4) * c)
    g = sg.func.grad(lambda x: (sg.clamp(x * 2 + 1, min=0.4, max=2.0) * c) + x)
    for h in (f, g):
        assert float(sg.compile(h, np.float64(x))(np.float64(x))) == float(h(sg.tensor(np.float64(x))))


def test_the_norm_of_a_constant():
    f = sg.compile(lambda x: x + sg.linalg.norm(1 / (x * x / (x * x) + 3)), np.float64(0.5))
    assert f(np.float64(0.5)) == 0.75


def test_what_only_stands_beside_an_operand_leaves_no_number_for_an_array():
    """The cotangent of ``cross`` was the number 1 in the program, which has no axes."""
    x = np.linspace(0.5, 1.5, 9).reshape(3, 3)
    slope = sg.func.grad(lambda x, y: F.relu(sg.cross(x, y, dim=1)).sum())
    plain = sg.func.grad(lambda x, y: TABLE["beside"](sg.cross(x, y, dim=1), y).sum())
    for gradient in (slope, plain):
        np.testing.assert_array_equal(sg.compile(gradient)(x, x.T), gradient(x, x.T).numpy())


def test_a_number_that_becomes_complex_has_two_parts():
    slope = sg.func.grad(lambda x: sg.real(sg.view_as_complex(x)))
    np.testing.assert_array_equal(sg.compile(slope)(np.array([3.0, 4.0])), [1, 0])


@pytest.mark.parametrize("name", ["inverse_mills_slope", "digamma", "erfcx", "log_ndtr", "airy_ai"])
def test_constants_that_are_whole_numbers_are_floats_to_functions_of_floats(name):
    """What an argument divides to is 1, of which a slope was 0, in the dtype of whole numbers."""
    op, params = TABLE[name], {"n": 3} if name == "inverse_mills_slope" else {}

    def f(x):
        return op(sg.exp(x) / sg.exp(x), **params) * x

    x = np.float64(-0.4)
    assert np.isclose(sg.compile(f)(x), f(sg.tensor(x)).item(), rtol=1e-12)
    assert np.isclose(sg.compile(sg.func.grad(f))(x), sg.func.grad(f)(sg.tensor(x)).item(), rtol=1e-12)


OF_ONE = {
    "determinants": lambda x, m: TABLE["det_divided_twice"](m, 1 / (x / x), m),
    "exponentials": lambda x, m: TABLE["shifted_exp"](m, x / x),
    "gelu": lambda x, m: F.gelu(m / m, approximate="tanh"),
}


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("derive", [False, True])
def test_what_an_operand_divides_to_leaves_the_others_in_single_precision(name, derive):
    """Of the number 1 alone a step of these functions made an array of float64, which is not weak."""
    f = OF_ONE[name]
    g = sg.func.grad(lambda x, m: f(x, m).sum(), (0, 1)) if derive else lambda x, m: (f(x, m),)
    x, m = np.float32(0.7), np.array([[1.5, 0.25], [-0.5, 2]], "float32")
    for found, wanted in zip(sg.compile(g)(x, m), g(sg.tensor(x), sg.tensor(m)), strict=True):
        assert found.dtype == wanted.dtype == np.float32
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5, atol=1e-6)

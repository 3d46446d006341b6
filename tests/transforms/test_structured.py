"""``structured_hessian``: every function's blocks against the dense Hessian, their kinds, products and solutions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, CompileError, ShapeError
from symgrad.func import hessian, structured_hessian


def rng(seed=0):
    return np.random.default_rng(seed)


def spd(n):
    a = rng(n).normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def factorisation(u, t, v):
    return ((t - u @ v.T) ** 2).sum()


def logistic(w, x, y):
    return sg.log1p(sg.exp(-y * (x @ w))).sum()


LABELS = np.sign(rng(1).normal(size=9))
CASES = {
    "factorisation": (factorisation, (rng().normal(size=(6, 2)), rng().normal(size=(6, 4)), rng().normal(size=(4, 2)))),
    "square factorisation": (factorisation, (spd(3), spd(3), spd(3))),
    "quadratic": (lambda x, a: x @ a @ x, (rng().normal(size=5), spd(5))),
    "logistic": (logistic, (rng().normal(size=3), rng().normal(size=(9, 3)), LABELS)),
    "entries": (lambda x: (sg.exp(x) * sg.sin(x)).sum(), (rng().normal(size=5),)),
    "entries of a matrix": (lambda x: (x**4).sum() * 2, (rng().normal(size=(5, 3)) + 3,)),
    "several classes": (lambda w, x: sg.logsumexp(x @ w, 1).sum() + (w**2).sum(), (spd(3)[:, :2], spd(5)[:, :3])),
    "outputs": (
        lambda w, x: sg.nn.functional.softplus(x @ w).sum(),
        (rng().normal(size=(3, 2)), rng().normal(size=(9, 3))),
    ),
    "log determinant": (sg.logdet, (spd(3),)),
    "two products": (lambda x, a, b: sg.trace(x.T @ a @ x @ b), (spd(3)[:, :2], spd(3), spd(2))),
    "norm": (lambda x: (x**2).sum() ** 2, (rng().normal(size=4),)),
    "neighbours": (lambda x: ((x[1:] - x[:-1] ** 2) ** 2 + (x[:-1] - 3) ** 2).sum(), (rng().normal(size=5),)),
    "one number": (lambda x: x**3, (2.0,)),
    "shape with ones": (lambda x: (x**3).sum() + x.sum() ** 2, (rng().normal(size=(1, 4, 1)) + 3,)),
    "plain square": (lambda x: (x**2).sum(), (rng().normal(size=(3, 2)),)),
    "transposed": (lambda x, a: ((x + x.mT) * a).sum() + sg.trace(x @ x), (spd(3), spd(3))),
    "three axes": (lambda x, a: (sg.einsum("aij,jk->aik", x, a) ** 2).sum(), (rng().normal(size=(2, 3, 4)), spd(4))),
}


@pytest.mark.parametrize("name", CASES)
def test_as_the_dense_one(name):
    """Numbers, products and solutions, at the traced point and at another."""
    function, args = CASES[name]
    take = structured_hessian(function)
    for shift in (0.0, 0.25):
        moved = [x + shift * (np.ndim(x) < 2) * np.ones(np.shape(x)) for x in args]
        found, want = take(*moved), hessian(function)(*moved)
        assert found.todense().shape == want.shape
        want = want.numpy()
        close = {"rtol": 1e-11, "atol": 1e-11 * abs(want).max()}
        np.testing.assert_allclose(found.todense().numpy(), want, **close)
        matrix = want.reshape(found.shape)
        v = rng(3).normal(size=(found.shape[1], 2))
        np.testing.assert_allclose((found @ v).numpy(), matrix @ v, rtol=1e-9, atol=1e-9 * abs(matrix).max())
        np.testing.assert_allclose(
            (found @ v[:, 0]).numpy(), matrix @ v[:, 0], rtol=1e-9, atol=1e-9 * abs(matrix).max()
        )
        np.testing.assert_allclose(matrix @ found.solve(v).numpy(), v, rtol=1e-7, atol=1e-7)
    shaped = np.ones(np.shape(args[0]))
    assert (found @ shaped).shape == found.solve(sg.tensor(shaped)).shape == np.shape(shaped)
    assert len(take.program.programs) == 1


@pytest.mark.parametrize(
    ("name", "kind", "numbers"),
    [
        ("factorisation", "Kronecker product", 4),
        ("quadratic", "dense", 25),
        ("logistic", "dense", 9),
        ("entries", "diagonal", 5),
        ("entries of a matrix", "diagonal", 15),
        ("outputs", "block diagonal", 18),
        ("log determinant", "Kronecker product", 18),
        ("norm", "diagonal + product of factors", 9),
        ("plain square", "diagonal", 1),
        ("one number", "dense", 1),
        ("shape with ones", "diagonal + dense", 5),
    ],
)
def test_kinds(name, kind, numbers):
    function, args = CASES[name]
    found = structured_hessian(function)(*args)
    assert set(repr(found).split(": ")[1].split(", ")[0].split(" + ")) == set(kind.split(" + "))
    assert found.stored == numbers


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_sizes(n):
    """The same k x k block for every n; a dense Hessian for n = 1000 would have 25 million numbers."""
    t, u, v = rng().normal(size=(n, 8)), rng(1).normal(size=(n, 5)), rng(2).normal(size=(8, 5))
    found = structured_hessian(factorisation)(u, t, v)
    assert found.shape == (5 * n, 5 * n)
    assert found.stored == 25
    np.testing.assert_allclose(found.parts[0][0][0], 2 * v.T @ v, rtol=1e-12)
    way = rng(3).normal(size=u.shape)
    _, want = sg.func.jvp(sg.func.grad(factorisation), (u, t, v), (way, 0 * t, 0 * v))
    np.testing.assert_allclose((found @ way).numpy(), want.numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.solve(want).numpy(), way, rtol=1e-9, atol=1e-9)
    if n == 10:
        np.testing.assert_allclose(found.todense().numpy(), hessian(factorisation)(u, t, v).numpy(), atol=1e-12)


def test_newton_in_one_step():
    """A factor of a least-squares problem is found by one solution with a k x k matrix."""
    t, v = rng().normal(size=(50, 8)), rng(2).normal(size=(8, 3))
    u = np.zeros((50, 3))
    step = structured_hessian(factorisation)(u, t, v).solve(sg.func.grad(factorisation)(u, t, v))
    np.testing.assert_allclose(u - step.numpy(), t @ v @ np.linalg.inv(v.T @ v), rtol=1e-10)


def test_formula():
    function, args = CASES["logistic"]
    assert structured_hessian(function)(*args).latex().startswith(r"x^{\top} \operatorname{diag}")
    function, args = CASES["factorisation"]
    assert structured_hessian(function)(*args).latex(vec="columns").startswith(r"2 v^{\top} v \otimes I_{")


def test_several_arguments():
    """Blocks by different arguments are rectangular."""
    function, (u, t, v) = CASES["factorisation"]
    found = structured_hessian(function, argnums=(0, 2))(u, t, v)
    want = hessian(function, argnums=(0, 2))(u, t, v)
    for i in range(2):
        for j in range(2):
            assert found[i][j].shape == ((12, 8)[i], (12, 8)[j])
            np.testing.assert_allclose(found[i][j].todense().numpy(), want[i][j].numpy(), rtol=1e-12, atol=1e-12)
            way = rng(4).normal(size=found[i][j].shape[1])
            matrix = want[i][j].numpy().reshape(found[i][j].shape)
            np.testing.assert_allclose((found[i][j] @ way).numpy(), matrix @ way, rtol=1e-10, atol=1e-10)
    with pytest.raises(ShapeError, match="takes a square block"):
        found[0][1].solve(np.ones(12))
    nested = structured_hessian(lambda p: (p["a"] ** 2 * p["b"]).sum())({"a": np.ones(2), "b": np.ones(2)})
    assert nested["a"]["b"].todense().tolist() == [[2, 0], [0, 2]]
    assert nested["b"]["b"].stored == 0


def test_branches_shapes_and_closures_are_traced_again():
    scale = sg.tensor(2.0, dtype=sg.float64)

    def function(x):
        return (x**2).sum() * scale if x.sum() > 0 else (x**4).sum()

    take = structured_hessian(function)
    for x in (np.ones(2), -np.ones(2), np.ones(2), np.ones((2, 2)), np.ones(2, np.float32)):
        found = take(x)
        np.testing.assert_array_equal(found.todense().numpy(), hessian(function)(x).numpy())
        assert found.dtype == x.dtype
    scale.mul_(3)
    np.testing.assert_array_equal(take(np.ones(2)).todense().numpy(), 12 * np.eye(2))
    assert take(x=np.ones(2)).shape == (2, 2)


def test_refusals():
    take = structured_hessian(lambda x: (x**3).sum())
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(AutogradError, match="its result has no history"):
        take(x)
    with pytest.raises(AutogradError, match="its result has no history"):
        sg.func.grad(lambda x: take(x).todense().sum())(np.ones(2))
    with sg.no_grad():
        assert take(x).todense().tolist() == [[6, 0], [0, 12]]
    with pytest.raises(AutogradError, match="complex"):
        structured_hessian(lambda z: (z * z.conj()).real.sum())(np.ones(2, complex))
    with pytest.raises(CompileError, match="one scalar result"):
        structured_hessian(lambda x: x**2)(np.ones(2))
    with pytest.raises(CompileError, match="no array of floating dtype"):
        take(np.arange(3))
    with pytest.raises(ArgumentError, match="only 1 positional"):
        structured_hessian(lambda x: x.sum(), argnums=2)(np.ones(2))
    found = take(np.ones(3))
    with pytest.raises(ShapeError, match=r"it takes one of shape \(3,\), \(3, k\) or \(3,\)"):
        found @ np.ones(4)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        take(np.zeros(3)).solve(np.ones(3))


FOLLOWED = {
    "grad": lambda f: sg.func.grad(lambda w: sg.as_tensor(f(w)).sum())(sg.ones(3, dtype=sg.float64)),
    "jvp": lambda f: sg.func.jvp(f, (sg.ones(3, dtype=sg.float64),), (sg.ones(3, dtype=sg.float64),)),
    "jet": lambda f: sg.func.taylor(f, np.ones(3), np.ones(3), 2),
    "compile": lambda f: sg.compile(f)(sg.ones(3, dtype=sg.float64)),
    "leaf": lambda f: f(sg.ones(3, dtype=sg.float64, requires_grad=True)),
}


@pytest.mark.parametrize("around", FOLLOWED)
def test_what_the_function_holds_must_not_be_followed(around):
    with pytest.raises((AutogradError, CompileError), match="has no history|gave (Dual|Jet)"):
        FOLLOWED[around](lambda w: structured_hessian(lambda x: (w * x**2).sum())(np.ones(3)).todense())


@pytest.mark.parametrize("around", FOLLOWED)
def test_what_a_function_with_a_sparse_jacobian_holds_must_not_be_followed(around):
    with pytest.raises(AutogradError, match="has no history"):
        FOLLOWED[around](lambda w: sg.func.sparse_jacobian(lambda x: w * x**2)(np.ones(3)).todense())


@pytest.mark.parametrize("around", FOLLOWED)
def test_operands_of_matrices_of_numbers_must_not_be_followed(around):
    H = structured_hessian(lambda x: (x**3).sum())(np.ones(3))
    J = sg.func.sparse_jacobian(lambda x: x**3)(np.ones(3))
    for product in (lambda w: H @ w, H.solve, lambda w: J @ w):
        with pytest.raises(ArgumentError, match="gives numbers"):
            FOLLOWED[around](product)


def test_without_grad_operands_may_be_leaves():
    H = structured_hessian(lambda x: (x**3).sum())(np.ones(3))
    w = sg.ones(3, dtype=sg.float64, requires_grad=True)
    with sg.no_grad():
        assert (H @ w).tolist() == [6, 6, 6]


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 3), (3, 1), (0,), ()])
def test_axes_of_size_one_print_multiply_and_solve(shape):
    x = rng().normal(size=shape) + 3
    H = structured_hessian(lambda x: (x**3).sum())(x)
    assert repr(H).startswith(f"<StructuredMatrix {x.size} x {x.size} of float64")
    np.testing.assert_allclose(H.todense().numpy(), hessian(lambda x: (x**3).sum())(x).numpy(), rtol=1e-14)
    v = np.ones(shape)
    np.testing.assert_allclose((H @ v).numpy(), 6 * x, rtol=1e-14)
    np.testing.assert_allclose(H.solve(v).numpy(), 1 / (6 * x), rtol=1e-14)

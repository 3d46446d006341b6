"""Jacobians and Hessians as operators: every product against the matrix, in NumPy's and in SciPy's hands."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, ShapeError
from symgrad.func import LinearOperator, hessian_operator, jacobian_operator

A = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 1.5], [2.0, 0.3, 1.0], [0.1, 0.2, 0.3]])
X = np.array([0.3, -0.2, 0.5])


def close(a, b, **tolerance):
    found = a.numpy() if isinstance(a, sg.Tensor) else a
    assert np.shape(found) == np.shape(b)
    np.testing.assert_allclose(found, b, **({"rtol": 1e-12, "atol": 1e-13} | tolerance))


def f(x):
    return sg.sin(sg.tensor(A, name="A") @ x)


def loss(x):
    return (f(x) ** 2).sum()


def test_all_products(rng):
    J, D = jacobian_operator(f, X), sg.func.jacobian(f)(X).numpy()
    v, V, u, U = rng.normal(size=3), rng.normal(size=(3, 5)), rng.normal(size=4), rng.normal(size=(4, 2))
    assert (J.shape, J.ndim, J.dtype) == ((4, 3), 2, np.float64)
    pairs = [
        (J @ v, D @ v), (J.matvec(v), D @ v), (J(v), D @ v), (J @ v[:, None], D @ v[:, None]), (J @ V, D @ V),
        (J.rmatvec(u), D.T @ u), (J.T @ U, D.T @ U), (J.H @ u, D.T @ u), (J.adjoint().T @ v, D @ v),
        (J.transpose() @ u, D.T @ u), (u @ J, u @ D), (U.T @ J, U.T @ D), (J @ (v + 2j * v), D @ (v + 2j * v)),
        (J.T @ (1j * U), D.T @ (1j * U)), (J.toarray(), D), (J @ sg.tensor(V), D @ V),
        (J @ np.zeros((3, 0)), D @ np.zeros((3, 0))),
        ((2 * J.T @ J - J.H @ J).toarray(), D.T @ D), (((1 + 1j) * J).T @ u, (1 + 1j) * D.T @ u),
        (((1 + 1j) * J).H @ u, (1 - 1j) * D.T @ u), ((J.T @ J) @ V, D.T @ D @ V), (-J @ v, -D @ v),
    ]  # fmt: skip
    for mine, exact in pairs:
        close(mine, exact)
    assert isinstance(J @ sg.tensor(v), sg.Tensor)


def test_hessians(rng):
    H, D = hessian_operator(loss, X), sg.func.hessian(loss)(X).numpy()
    v = rng.normal(size=3)
    for mine, exact in ((H @ v, D @ v), (H.T @ v, D @ v), (H.toarray(), D), (H.rmatmat(np.eye(3)), D)):
        close(mine, exact)


def test_they_print_their_formulas():
    assert repr(jacobian_operator(f, X)) == "<4x3 JacobianOperator of float64: ∂f/∂x = diag(cos(A x)) A>"
    assert repr(hessian_operator(loss, X)) == "<3x3 HessianOperator of float64: ∂²loss/∂x² = 2 Aᵀ diag(cos(2 A x)) A>"
    J = jacobian_operator(f, X)
    assert repr(J.T @ J) == "<3x3 LinearOperator of float64: ((∂f/∂x)ᵀ) (∂f/∂x)>"
    assert J.latex() == r"\operatorname{diag}\left(\cos\left(A x\right)\right) A"
    z = jacobian_operator(lambda z: z**2 * (1 + 2j), np.array([1 + 1j, 2.0]))
    assert repr(z).endswith("∂f/∂z = 2 (1 + 2 ⅈ) diag(z)>")
    assert repr(jacobian_operator(lambda x, y: x * y, X, X)) == "<3x6 JacobianOperator of float64: ∂f/∂(x, y)>"


def test_nested_arguments_and_results():
    def g(p, b):
        return {"u": p["a"] * b, "v": p["c"].sum()}

    J = jacobian_operator(g, {"a": np.array([3.0, 4.0]), "c": np.ones((2, 2))}, np.array([1.0, 2.0]))
    exact = np.zeros((3, 8))
    exact[[0, 1], [0, 1]], exact[2, 2:6], exact[[0, 1], [6, 7]] = [1, 2], 1, [3, 4]
    close(J.toarray(), exact)
    close(J.T.toarray(), exact.T)
    with pytest.raises(ShapeError, match="several arrays"):
        J.latex()


@pytest.mark.parametrize("convention", ["torch", "jax"])
def test_complex_jacobians(convention):
    z, x = np.array([1 + 1j, 2.0]), np.array([1.0, 2.0])
    with sg.conventions(convention):
        for point in (z, x):
            J, D = jacobian_operator(lambda v: v**2 * (1 + 2j), point), np.diag(2 * point * (1 + 2j))
            assert J.dtype == np.complex128
            close(J.toarray(), D)
            close(J.H.toarray(), D.conj().T)
            close(J.T.toarray(), D.T)
            close(J.rmatvec(z), D.conj().T @ z)


def test_scipy_takes_them():
    solvers = pytest.importorskip("scipy.sparse.linalg")
    J, H = jacobian_operator(f, X), hessian_operator(loss, X)
    D, v = J.toarray(), np.array([1.0, 2.0, 3.0])
    close(solvers.gmres(J.T @ J, v, rtol=1e-12)[0], np.linalg.solve(D.T @ D, v), rtol=1e-6)
    close(solvers.eigsh(H, k=1)[0][0], np.abs(np.linalg.eigvalsh(H.toarray())).max(), rtol=1e-8)
    close(solvers.lsqr(J, D @ v, atol=1e-14, btol=1e-14)[0], v, rtol=1e-8)
    both = solvers.aslinearoperator(J)
    close(both.T @ (both @ v), D.T @ (D @ v))


def test_dtypes():
    J = jacobian_operator(lambda x: x**2, X.astype(np.float32))
    assert J.dtype == np.float32
    assert (J @ np.ones(3, np.float32)).dtype == np.float32


def test_the_function_runs_once_for_many_products():
    runs = []

    def counted(x):
        runs.append(1)
        return x**2

    J = jacobian_operator(counted, X)
    for _ in range(5):
        J.matvec(X)
        J.rmatvec(X)
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: jacobian_operator(f, X) @ np.ones(4), ShapeError, r"shape \(3,\) or \(3, 1\); it got shape \(4,\)"),
        (lambda: jacobian_operator(f, X).T @ np.ones(3), ShapeError, r"shape \(4,\)"),
        (lambda: jacobian_operator(f, X) @ np.ones((2, 2)), ShapeError, "a matrix of 3 rows"),
        (lambda: jacobian_operator(f, X) @ jacobian_operator(f, X), ShapeError, "cannot be multiplied"),
        (lambda: jacobian_operator(f, X) + hessian_operator(loss, X), ShapeError, "cannot be added"),
        (lambda: jacobian_operator(f, X) @ sg.tensor(X, requires_grad=True), ArgumentError, "gives numbers"),
        (lambda: jacobian_operator(f, sg.tensor(X, requires_grad=True)), ArgumentError, "made of numbers"),
        (lambda: jacobian_operator(lambda z: z.abs(), X + 1j), AutogradError, "not holomorphic"),
        (lambda: hessian_operator(loss, X + 1j), AutogradError, "primal 0 is complex"),
        (lambda: hessian_operator(f, X), AutogradError, "return a scalar"),
        (lambda: jacobian_operator(f), ArgumentError, "needs the point"),
        (lambda: hessian_operator(3.0, X), ArgumentError, "takes a function first"),
        (lambda: jacobian_operator(f, np.array([1, 2, 3])), ArgumentError, "dtype int64"),
    ],
)
def test_what_does_not_fit_is_told(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_operators_of_ones_own():
    D = LinearOperator((2, 2), float, lambda v: 3 * v, lambda v: 3 * v, name="D")
    close(sg.implicit.solve(D, np.array([3.0, 6.0])), [1.0, 2.0])
    assert repr(2.0 * D) == "<2x2 LinearOperator of float64: 2.0 (D)>"


ONES = np.ones(3)
AROUND = {
    "grad": lambda f: sg.func.grad(lambda w: sg.tensor(f(w, X)).sum())(sg.tensor(2.0, dtype=sg.float64)),
    "jvp": lambda f: sg.func.jvp(lambda w: f(w, X), (sg.ones((), dtype=sg.float64),), (sg.ones((), dtype=sg.float64),)),
    "jet": lambda f: sg.func.taylor(lambda w: f(w, X), 2.0, 1.0, 2),
    "compile": lambda f: sg.compile(lambda w: f(w, X))(sg.tensor(2.0, dtype=sg.float64)),
    "leaf": lambda f: f(sg.tensor(2.0, dtype=sg.float64, requires_grad=True), X),
    "point": lambda f: sg.func.jvp(lambda x: f(2.0, x), (sg.tensor(X),), (sg.tensor(X),)),
    "path": lambda f: sg.func.taylor(lambda x: f(2.0, x), X, X, 2),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", ["jacobian", "hessian"])
def test_operators_are_refused_where_their_numbers_would_lose_a_derivative(around, kind):
    def product(w, x):
        if kind == "jacobian":
            return jacobian_operator(lambda x: w * x**2, x) @ ONES
        return hessian_operator(lambda x: (w * x**3).sum(), x) @ ONES

    with pytest.raises(ArgumentError, match="an operator is made of numbers|no reverse mode"):
        AROUND[around](product)


def test_an_operator_of_a_function_that_holds_a_leaf_is_made_without_grad():
    w = sg.tensor(2.0, dtype=sg.float64, requires_grad=True)
    with sg.no_grad():
        close(jacobian_operator(lambda x: w * x**2, X) @ w.expand(3), 8 * X)


def test_an_operator_keeps_its_point():
    point = X.copy()
    J = jacobian_operator(lambda x: x**2, point)
    before = J @ ONES
    point *= 100
    for found in (J @ ONES, J.T @ ONES, J.toarray() @ ONES):
        close(found, before)

"""Solutions of equations: their values, and their derivatives of every kind and order against closed forms."""

import dataclasses
import functools
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad import implicit
from symgrad.errors import ArgumentError, DtypeError, NotConverged, ShapeError, SingularJacobian

f64 = sg.float64


def close(a, b, **tolerance):
    found = a.detach().numpy() if isinstance(a, sg.Tensor) else a
    np.testing.assert_allclose(found, b, **({"rtol": 1e-9, "atol": 1e-12} | tolerance))


def leaf(value, name=None):
    return sg.tensor(value, dtype=f64, requires_grad=True, name=name)


def square(x, a):
    return x**2 - a


def sqrt(a):
    return implicit.root(square, 1.0, a)


def test_derivatives_of_a_root_to_the_fourth():
    a = leaf(2.0)
    found = [sqrt(a)]
    for _ in range(4):
        found += sg.autograd.grad(found[-1], a, create_graph=True)
    for k, (x, factor) in enumerate(zip(found, (1, 1 / 2, -1 / 4, 3 / 8, -15 / 16), strict=True)):
        close(x, factor * 2.0 ** (0.5 - k))


def test_every_mode_over_every_mode():
    second = -0.25 * 2.0**-1.5
    modes = (sg.func.grad, sg.func.jacfwd, sg.func.jacrev)
    for outer in modes:
        for inner in modes:
            close(outer(inner(sqrt))(2.0), second)
    value, tangent = sg.func.jvp(sqrt, (2.0,), (3.0,))
    close(value, 2**0.5)
    close(tangent, 1.5 * 2**-0.5)
    out, pull = sg.func.vjp(sqrt, 2.0)
    close(pull(2.0)[0], 2**-0.5)
    close(sg.func.linearize(sqrt, 2.0)[1](1.0), 0.5 * 2**-0.5)
    close(sg.func.vmap(sg.func.grad(sqrt))(np.array([1.0, 4.0])), [0.5, 0.25])
    close(sg.func.jacfwd(sg.func.vmap(sqrt))(np.array([1.0, 4.0])), np.diag([0.5, 0.25]))


def equation(x, A, b):
    return A @ x + x**3 - b


A0, B0 = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, 2.0])


def test_systems_pass_gradcheck_to_the_second_order():
    def f(b, how="dense"):
        return implicit.root(equation, np.zeros(2), sg.tensor(A0), b, linear_solver=how)

    b = leaf(B0)
    assert sg.autograd.gradcheck(f, (b,), check_forward_ad=True, atol=1e-6)
    assert sg.autograd.gradgradcheck(f, (b,), atol=1e-6)
    for derive in (sg.func.jacrev, sg.func.jacfwd, lambda f: sg.func.jacrev(sg.func.jacrev(f))):
        close(derive(functools.partial(f, how="gmres"))(B0), derive(f)(B0).numpy())


@pytest.mark.parametrize("how", ["dense", "cg"])
def test_minima(how):
    t = leaf([1.0, 3.0])

    def f(t):
        return implicit.argmin(lambda x, t: ((x - t) ** 2).sum() + (x**4).sum(), np.zeros(2), t, linear_solver=how)

    x = f(t)
    close(2 * (x - t) + 4 * x**3, 0.0)
    close(sg.func.jacobian(f)(t.detach()), np.diag(1 / (1 + 6 * x.detach().numpy() ** 2)))
    second = sg.func.jacrev(sg.func.jacrev(lambda t: f(t)[0]))(t.detach())
    close(second[0, 0], -12 * x[0].item() / (1 + 6 * x[0].item() ** 2) ** 3)


def test_ridge_regression_against_its_closed_form(rng):
    X, y = rng.normal(size=(7, 3)), rng.normal(size=7)

    def loss(w, lam):
        return ((X @ w - y) ** 2).sum() + lam * (w @ w)

    def closed(lam):
        return sg.linalg.solve(sg.tensor(X.T @ X) + lam * sg.eye(3, dtype=f64), sg.tensor(X.T @ y))

    for derive in (lambda f: f, sg.func.jacrev, sg.func.jacfwd, lambda f: sg.func.jacrev(sg.func.jacrev(f))):
        close(derive(lambda lam: implicit.argmin(loss, np.zeros(3), lam))(0.7), derive(closed)(0.7).detach().numpy())


@pytest.mark.parametrize("solver", ["iteration", "newton"])
def test_fixed_points(solver):
    def f(a):
        return implicit.fixed_point(lambda x, a: a * sg.cos(x), np.zeros(2), a, solver=solver)

    a = leaf([0.3, 0.6])
    x = f(a).detach()
    close(x, (a * sg.cos(x)).detach().numpy())
    close(sg.func.jacobian(f)(a.detach()), np.diag((sg.cos(x) / (1 + a.detach() * sg.sin(x))).numpy()))


def test_linear_systems_of_functions():
    d, b = leaf([2.0, 4.0], "d"), leaf([1.0, 3.0], "b")
    x = implicit.solve(lambda x, d: d * x, b, d)
    x.sum().backward()
    close(x, [0.5, 0.75])
    close(d.grad, [-0.25, -0.1875])
    close(b.grad, [0.5, 0.25])
    assert x.latex() == r"\frac{b}{d}"
    assert d.grad.latex() == r"-\frac{b}{d^{\odot 2}}"
    matrix = implicit.solve(sg.tensor(A0), b)
    close(matrix, np.linalg.solve(A0, b.detach().numpy()))
    many = implicit.solve(lambda x: sg.tensor(A0) @ x, np.eye(2))
    close(many, np.linalg.inv(A0))


def test_constant_operators_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    solvers = pytest.importorskip("scipy.sparse.linalg")
    matrix = np.array([[1.0, 2j], [0.0, 1.0 + 1j]])
    expected = leaf([1.0, 2.0]) + 0j
    for A in (sparse.csr_matrix(matrix), solvers.aslinearoperator(matrix)):
        b, c = (sg.tensor([1 + 1j, 2.0], requires_grad=True) for _ in range(2))
        x, expected = implicit.solve(A, b), sg.linalg.solve(sg.tensor(matrix), c)
        close(x, expected.detach().numpy())
        x.abs().sum().backward()
        expected.abs().sum().backward()
        close(b.grad, c.grad.numpy())
    with pytest.raises(ShapeError, match=r"operator of shape \(2, 2\) and b of shape \(3,\)"):
        implicit.solve(sparse.eye(2), np.ones(3))


def test_solvers_of_scipy_fit_as_they_are():
    optimize = pytest.importorskip("scipy.optimize")
    a = leaf(2.0)
    for solver in (optimize.root, optimize.fsolve, optimize.newton, lambda f, _: optimize.brentq(f, 0, 3)):
        x = implicit.root(square, 1.0, a, solver=solver)
        close(sg.autograd.grad(x, a)[0], 0.5 * 2**-0.5)
    t = leaf([1.0, 3.0])
    newton = functools.partial(optimize.minimize, method="BFGS", options={"gtol": 1e-9})
    x = implicit.argmin(lambda x, t: ((x - t) ** 2).sum() + (x**4).sum(), np.zeros(2), t, solver=newton)
    close(2 * (x - t) + 4 * x**3, 0.0, atol=1e-7)
    x = implicit.fixed_point(lambda x, t: sg.cos(x) * t, np.zeros(2), t / 4, solver=optimize.fixed_point)
    close(x, sg.cos(x).detach().numpy() * t.detach().numpy() / 4)
    with pytest.raises(NotConverged, match="the solver says that it failed"):
        implicit.root(lambda x, a: x**2 + a, 1.0, a, solver=optimize.root)


def test_linear_solvers_of_a_caller():
    solvers = pytest.importorskip("scipy.sparse.linalg")
    gmres = functools.partial(solvers.gmres, rtol=1e-12)
    A, b = leaf(A0), leaf(B0)
    x = implicit.root(equation, np.zeros(2), A, b, linear_solver=gmres)
    expected = implicit.root(equation, np.zeros(2), A, b)
    close(sg.autograd.grad(x.sum(), A)[0], sg.autograd.grad(expected.sum(), A)[0].numpy())
    with pytest.raises(NotConverged, match="info = 3"):
        implicit.root(equation, np.zeros(2), A, b, linear_solver=lambda _, r: (r, 3))
    with pytest.raises(ArgumentError, match="gave an array of shape"):
        implicit.root(equation, np.zeros(2), A, b, linear_solver=lambda *_: np.zeros(3))


@dataclasses.dataclass
class Params:
    scale: object
    shift: object
    name: str = "p"


def test_nested_unknowns_and_parameters():
    def f(x, p, more, flag):
        assert flag == "on"
        assert p.name == "p"
        return {"a": x["a"] ** 3 - p.scale, "b": [x["b"][0] - x["a"] * p.shift + 1j * more["c"]]}

    def closed(scale, shift, c):
        a = scale ** (sg.tensor(1.0, dtype=f64) / 3)
        return a, a * shift - 1j * c

    scale, shift, c = leaf(8.0), leaf([1.0, 2.0]), leaf([3.0, 4.0])
    x = implicit.root(f, {"a": 1.0, "b": [np.zeros(2) + 0j]}, Params(scale, shift), {"c": c}, "on")
    a, b = closed(scale, shift, c)
    assert x["b"][0].dtype == np.complex128
    close(x["a"], a.detach().numpy())
    close(x["b"][0], b.detach().numpy())
    for mine, exact in ((x["a"], a), (x["b"][0].abs().sum(), b.abs().sum())):
        options = {"allow_unused": True, "materialize_grads": True, "retain_graph": True}
        found = sg.autograd.grad(mine, (scale, shift, c), **options)
        wanted = sg.autograd.grad(exact, (scale, shift, c), **options)
        for g, w in zip(found, wanted, strict=True):
            close(g, w.numpy())


def test_complex_roots():
    def f(c):
        return implicit.root(square, 1 + 1j, c)

    c = sg.tensor(2j, dtype=sg.complex128, requires_grad=True)
    close(f(c), 1 + 1j)
    assert sg.autograd.gradcheck(f, (c,))
    close(sg.func.grad(lambda c: f(c).abs() ** 2)(2j), sg.func.grad(lambda c: c.abs())(2j).numpy())


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.float64])
def test_dtypes_are_those_of_the_start(dtype):
    a = sg.tensor([2.0, 3.0], dtype=dtype, requires_grad=True)
    x = implicit.root(square, sg.ones(2, dtype=dtype), a)
    assert x.dtype == dtype
    x.sum().backward()
    assert a.grad.dtype == dtype
    close(a.grad, 0.5 / np.sqrt([2.0, 3.0]), rtol=4 * float(np.finfo(x.dtype).eps))
    wide = leaf([2.0, 3.0])
    x = implicit.root(square, sg.ones(2, dtype=dtype), wide)
    x.sum().backward()
    assert (x.dtype, wide.grad.dtype) == (dtype, f64)


def test_a_thousand_unknowns(rng):
    n = 1000
    W = sg.tensor(rng.normal(size=(n, n)) / 100)
    c = leaf(rng.normal(size=n))

    def f(x, c):
        return x - sg.tanh(W @ x + c)

    def g(x, c):
        return sg.tanh(W @ x + c)

    found = {}
    for how in ("dense", "gmres"):
        x = implicit.fixed_point(g, np.zeros(n), c, linear_solver=how)
        (first,) = sg.autograd.grad((x**2).sum(), c, create_graph=True)
        found[how] = first.detach(), sg.autograd.grad((first**2).sum(), c)[0]
    for a, b in zip(*found.values(), strict=True):
        close(a, b.numpy(), rtol=1e-6, atol=1e-9)
    x = x.detach().numpy()
    slope = 1 - x**2
    exact = np.linalg.solve((np.eye(n) - slope[:, None] * W.numpy()).T, 2 * x) * slope
    close(found["dense"][0], exact, rtol=1e-8)


# ---------------------------------------------------------------------------------------------- formulas


def test_formulas_of_gradients():
    a = leaf(2.0, "a")
    (g,) = sg.autograd.grad(sqrt(a), a, create_graph=True)
    assert str(sqrt(a).expr) == "Root(x0, a, square)"
    assert str(g.expr) == "1/(2*Root(x0, a, square))"
    A, b = leaf(A0, "A"), leaf(B0, "b")
    implicit.root(lambda x, A, b: A @ x - b, np.zeros(2), A, b).sum().backward()
    assert b.grad.latex() == r"A^{-\top} \mathbf{1}"


def test_formulas_are_the_numbers():
    from symgrad.formula.term import evaluate

    A, b = leaf(A0, "A"), leaf(B0, "b")
    x = implicit.root(equation, sg.tensor(np.zeros(2), name="x0"), A, b)
    (g,) = sg.autograd.grad((x**2).sum(), A, create_graph=True)
    (h,) = sg.autograd.grad((g**2).sum(), b)
    values = {"A": A0, "b": B0, "x0": np.zeros(2)}
    for t in (x, g, h):
        close(evaluate(t.term, values), t.detach().numpy())


def test_formulas_of_matrices_as_unknowns():
    """The system of the n² unknowns had a term for its size: TypeError: int() argument must be … not 'Term'."""
    from symgrad.formula.term import evaluate

    S0 = np.array([[4.0, 1.0], [0.5, 3.0]])
    S = leaf(S0, "S")
    x = implicit.root(lambda X, S: X @ X - S, sg.tensor(1.5 * np.eye(2), name="x0"), S)
    (g,) = sg.autograd.grad((x**2).sum(), S, create_graph=True)
    close(evaluate(g.term, {"S": S0, "x0": 1.5 * np.eye(2)}), g.detach().numpy())
    close(
        sg.func.grad(lambda S: (implicit.root(lambda X, S: X @ X - S, 1.5 * np.eye(2), S) ** 2).sum())(S0),
        g.numpy(force=True),
    )


def test_functions_that_need_values_stay_functions_with_a_name():
    def f(x, a):
        return square(x, a) if float(x) > 0 else x

    a = leaf(2.0, "a")
    x = implicit.root(f, 1.0, a)
    x.backward()
    close(a.grad, 0.5 * 2**-0.5)
    assert str(a.grad.expr) == "RootBackward(1, x0, a, f, 1)"


THEOREM = r"""\begin{aligned}
& \mathrm{equation}\left(x, A, b\right) = 0 \text{ at } x = x^{*} \\
\frac{\partial x^{*}}{\partial A} &= -\left(\partial_{x} \mathrm{equation}\right)^{-1} \partial_{A} \mathrm{equation} \\
\frac{\partial x^{*}}{\partial b} &= -\left(\partial_{x} \mathrm{equation}\right)^{-1} \partial_{b} \mathrm{equation} \\
\partial_{x} \mathrm{equation} &= A + 3 \operatorname{diag}\left(x^{\odot 2}\right) \\
\partial_{A} \mathrm{equation} &= \left[x_{k} \left[I_{2}\right]_{i j}\right]_{i j k} \\
\partial_{b} \mathrm{equation} &= -I
\end{aligned}"""


def test_theorem():
    A, b = leaf(A0), leaf(B0)
    x = implicit.root(equation, np.zeros(2), A, b)
    found = implicit.theorem(x * 2)
    assert found.latex() == THEOREM
    jacobian = A0 + 3 * np.diag(x.detach().numpy() ** 2)
    close(found.condition, np.linalg.cond(jacobian, 1))
    assert found.residual < 1e-14
    assert "∂x^*/∂b = −(∂ₓ equation)⁻¹ ∂_b equation" in str(found)
    minimum = implicit.argmin(lambda w, t: ((w - t["q"]) ** 2).sum(), np.zeros(2), {"q": b})
    assert r"\partial_{w}^{2} f &= 2 I" in implicit.theorem(minimum).latex()
    point = implicit.fixed_point(lambda x, c: c * sg.cos(x), 0.0, leaf(0.5))
    assert r"\left(I - \partial_{x} f\right)^{-1} \partial_{c} f" in implicit.theorem(point).latex()
    line = implicit.solve(lambda x, d: d * x, b, b)
    assert r"\partial_{x} f &= \operatorname{diag}\left(d\right)" in implicit.theorem(line).latex()
    with pytest.raises(ArgumentError, match="takes what root"):
        implicit.theorem(b)
    nested = implicit.root(lambda x, b: (x[0] - b,), (np.zeros(2),), b)
    assert "not written out: the unknown is nested" in implicit.theorem(nested).latex()


def test_pickled_graphs():
    x = sqrt(leaf(2.0))
    again = pickle.loads(pickle.dumps(x))
    again.backward()
    close(again, 2**0.5)


# ---------------------------------------------------------------------------------------------- refusals


def test_the_start_has_no_gradient():
    a, x0 = leaf(2.0), leaf(1.0)
    implicit.root(square, x0, a).backward()
    assert x0.grad is None
    assert not implicit.root(square, x0, 2.0).requires_grad
    close(sg.func.jvp(lambda s: implicit.root(square, s, 2.0), (1.0,), (1.0,))[1], 0.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda a: implicit.root(lambda x, a: x**2 + a, 1.0, a), NotConverged, "largest entry of the residual is"),
        (lambda a: implicit.root(lambda x: x**2 + 1, 1.0), NotConverged, r"does not solve f\(x\) = 0"),
        (lambda a: implicit.root(square, 1.0, a, solver=lambda f, x: x), NotConverged, "more than tol"),
        (lambda a: implicit.fixed_point(lambda x, a: a * x + 1, 1.0, a), NotConverged, "needs a contraction"),
        (lambda a: implicit.argmin(lambda x, a: a * x, 1.0, a), NotConverged, "Start nearer to a minimum"),
        (lambda a: implicit.argmin(lambda x, a: a * sg.cos(x), 0.0, a), NotConverged, "it is no minimum"),
        (lambda a: implicit.root(lambda x, a: (x - a) ** 2, 1.0, a).backward(), SingularJacobian, "condition number"),
        (lambda a: implicit.solve(lambda x, a: 0 * a * x, np.ones(2), a), SingularJacobian, "condition number is inf"),
        (lambda a: implicit.solve(lambda x, a: a * x**2, np.ones(2), a), NotConverged, "may not be linear"),
        (lambda a: implicit.root(square, np.array([1, 2]), a), DtypeError, "x0 has dtype int64"),
        (lambda a: implicit.root(square, 1, a * 1j), DtypeError, "Start from a complex x0"),
        (lambda a: implicit.root(lambda x, a: x.sum() - a, np.ones(2), a), ShapeError, r"shape \(\), the unknown"),
        (lambda a: implicit.root(lambda x, a: (x, x), 1.0, a), ShapeError, r"has shape \(2,\)"),
        (lambda a: implicit.root(lambda x, a: {"x": x}, 1.0, a), ShapeError, r"nested as \{'x': \*\}"),
        (lambda a: implicit.root(lambda x, a: None, 1.0, a), ArgumentError, "is None"),
        (lambda a: implicit.argmin(lambda x, a: a * x, np.ones(2), a), ShapeError, "must give a real number"),
        (lambda a: implicit.root(lambda x: x - a, 1.0), ArgumentError, "that requires grad, and the derivative"),
        (lambda a: sg.func.jvp(lambda a: implicit.root(lambda x: x - a, 1.0), (2.0,), (1.0,)), ArgumentError, "mode"),
        (lambda a: implicit.root(2.0, a), ArgumentError, "takes a function first"),
        (lambda a: implicit.root(square, "s", a), ArgumentError, "x0 is a str"),
        (lambda a: implicit.root(square, (), a), ArgumentError, "holds no arrays"),
        (lambda a: implicit.root(square, 1.0, a, solver="euler"), ArgumentError, "it is 'newton'"),
        (lambda a: implicit.root(square, 1.0, a, linear_solver="lu"), ArgumentError, "linear_solver='lu'"),
        (lambda a: implicit.root(square, 1.0, a, maxiter=0), ArgumentError, "positive whole number"),
        (lambda a: implicit.root(square, 1.0, a, tol=-1.0), ArgumentError, "positive number"),
        (lambda a: implicit.solve(np.eye(2), np.ones(2), a), ArgumentError, "A is an array"),
        (lambda a: sg.compile(sqrt, 2.0), sg.errors.CompileError, r"Root\(\) cannot be compiled"),
    ],
)  # fmt: skip
def test_what_does_not_work_says_why(call, error, words):
    with pytest.raises(error, match=words):
        call(leaf(2.0))


def test_captured_tensors_are_fine_where_nothing_is_lost():
    a = leaf(2.0)
    with sg.no_grad():
        close(implicit.root(lambda x: x - a, 1.0), 2.0)
    close(implicit.root(lambda x: x - a.detach(), 1.0), 2.0)


@pytest.mark.parametrize("dtype", [sg.float16, sg.bfloat16])
def test_short_dtypes(dtype):
    a = sg.tensor([4.0, 9.0], dtype=dtype, requires_grad=True)
    for found in (
        implicit.root(square, sg.ones(2, dtype=dtype), a),
        implicit.argmin(lambda x, a: (x**3 / 3 - a * x).sum(), sg.ones(2, dtype=dtype), a),
    ):
        assert found.dtype == dtype
        close(found.double(), [2, 3], rtol=1e-2)
        (slope,) = sg.autograd.grad(found.sum(), [a])
        assert slope.dtype == dtype
        close(slope.double(), [1 / 4, 1 / 6], rtol=2e-2)


@pytest.mark.parametrize("power", [2, 3])
def test_a_double_root_at_zero_has_no_derivative(power):
    a = leaf([0.0, 0.0])
    with pytest.raises((SingularJacobian, NotConverged), match="last digits of x|newton stopped"):
        implicit.root(lambda x, a: x**power - a, np.ones(2), a).sum().backward()


def test_a_simple_root_at_zero_has_one():
    a = leaf([0.0, 0.0])
    implicit.root(lambda x, a: sg.sin(x) + x**2 - a, np.full(2, 0.5), a).sum().backward()
    close(a.grad, [1, 1])


def test_tolerances_and_operators_that_do_not_fit_are_named():
    with pytest.raises(ArgumentError, match="tol='a'.*positive number"):
        implicit.root(lambda x: x, 1.0, tol="a")
    with pytest.raises(ArgumentError, match="neither rmatvec nor"):
        implicit.solve(sg.func.structured_hessian(lambda x: (x**3).sum())(np.ones(3)), np.ones(3))


@pytest.mark.parametrize("along", [sg.func.jvp, sg.func.taylor], ids=["tangents", "Taylor paths"])
def test_what_moves_from_outside_is_refused_and_a_start_is_a_value(along):
    def moved(f):
        a = sg.tensor(4.0, dtype=f64)
        return along(f, (a,), (sg.ones_like(a),)) if along is sg.func.jvp else along(f, a, sg.ones_like(a), 1)

    for f in (
        lambda a: implicit.root(lambda x: x**2 - a, 1.0),
        lambda a: implicit.argmin(lambda x: (x - a) ** 2, 1.0),
        lambda a: implicit.solve(lambda v: v * a, 1.0),
        lambda a: implicit.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0]),
    ):
        with pytest.raises(ArgumentError, match="from outside of its arguments that forward mode follows"):
            moved(f)
    value, slope = moved(lambda a: implicit.root(lambda x, b: x**2 - b, a, 9.0))
    close(value, 3)
    close(slope, 0)

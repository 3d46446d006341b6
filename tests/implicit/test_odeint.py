"""Solutions of differential equations: methods, both kinds of derivatives, and what is refused."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError, NotConverged, ShapeError
from symgrad.implicit import odeint, theorem
from symgrad.implicit.tableaus import METHODS
from tests.memory import peak

f64 = np.float64
ADJOINTS = ["discrete", "continuous"]
A0 = np.array([[0.0, 1.0], [-2.0, -0.3]])
Y0, T0, K0 = np.array([1.0, 2.0]), np.array([0.0, 0.35, 0.9]), np.array(0.5)


def swing(y, t, A, k):
    return A @ y + k * sg.sin(t) * 0.1 * y**2


def leaves(*values):
    return [sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in values]


def solve(*args, **options):
    return odeint(swing, *args, **options)


fixed = functools.partial(solve, method="rk4", step_size=0.1)


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_their_order(name):
    errors = []
    for count in (16, 32):
        control = METHODS[name]._replace(errors=())
        h, y = 1.0 / count, np.array([0.0, 1.0])
        for k in range(count):
            y = sg.implicit.tableaus.step(control, lambda t, y: (1 + t) * y[::-1] * [1, -1], k * h, h, y)[0]
        errors.append(np.abs(y - [np.sin(1.5), np.cos(1.5)]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.6)


@pytest.mark.parametrize(("method", "finest"), [("dopri5", 1e-9), ("bosh3", 1e-7), ("RK45", 1e-9), ("RK23", 1e-7)])
@pytest.mark.parametrize("times", [[0.0, 1.0, 2.5], [2.5, 1.0, 0.0], [0, 1, 7]])
def test_adaptive_steps_keep_the_tolerance(method, finest, times):
    for rtol in (1e-4, finest):
        y = odeint(
            lambda y, t: sg.stack([y[1], -y[0]]), np.array([0.0, 1.0]), times, method=method, rtol=rtol, atol=0.0
        )
        s = np.array(times) - times[0]
        assert np.abs(y.numpy() - np.stack([np.sin(s), np.cos(s)], 1)).max() < 30 * rtol


def test_against_scipy():
    integrate = pytest.importorskip("scipy.integrate")

    def lorenz(t, y):
        return np.array([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    start, times = np.array([1.0, 1.0, 1.0]), np.linspace(0, 3, 7)
    want = integrate.solve_ivp(lorenz, (0, 3), start, t_eval=times, rtol=1e-10, atol=1e-12, method="DOP853").y.T
    got = odeint(lambda t, y: sg.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]),
                 start, times, tfirst=True, rtol=1e-9)  # fmt: skip
    assert np.allclose(got.numpy(), want, rtol=1e-5)


def test_against_jax():
    jax = pytest.importorskip("jax")
    ode = pytest.importorskip("jax.experimental.ode")
    jnp = jax.numpy
    with jax.enable_x64(True):

        def other(y, t, A, k):
            return A @ y + k * jnp.sin(t) * 0.1 * y**2

        def loss(*args):
            return (ode.odeint(other, *args, rtol=1e-10, atol=1e-10) ** 2).sum()

        want = jax.grad(loss, (0, 1, 2, 3))(*map(jnp.array, (Y0, T0, A0, K0)))
    for adjoint in ADJOINTS:
        args = leaves(Y0, T0, A0, K0)
        got = sg.autograd.grad((solve(*args, adjoint=adjoint, rtol=1e-10, atol=1e-10) ** 2).sum(), args)
        for a, b in zip(got, want, strict=True):
            assert np.allclose(a.numpy(), b, rtol=1e-6, atol=1e-7)


# ---------------------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_gradients_of_fixed_steps_are_those_of_differences(adjoint):
    args = leaves(Y0, T0, A0, K0)
    near = 1e-5 if adjoint == "discrete" else 1e-4
    assert sg.autograd.gradcheck(
        functools.partial(fixed, adjoint=adjoint), args, check_forward_ad=True, atol=near, rtol=near
    )


def test_discrete_gradients_are_exact_for_the_steps_taken():
    """Rough steps: what the equation says is far away, and differences of the program agree to their last digit."""
    args = leaves(Y0, T0, A0, K0)
    rough = functools.partial(solve, rtol=1e-2, atol=1e-2)
    y = rough(*args)
    got = sg.autograd.grad((y**2).sum(), args)

    def taken(*values):  # the steps of that run, on other numbers
        ctx = _context(y)
        tensors = [sg.tensor(v) for v in values]
        return float((ctx.flow.again(ctx.march, tensors[0], tensors[1], tensors[2:]) ** 2).sum())

    for k, (value, slope) in enumerate(zip((Y0, T0, A0, K0), got, strict=True)):
        move = np.random.default_rng(k).normal(size=np.shape(value))
        ends = []
        for h in (1e-5, -1e-5):
            row = [Y0, T0, A0, K0]
            row[k] = value + h * move
            ends.append(taken(*row))
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(float((slope.numpy() * move).sum()), rel=1e-8)
    exact = sg.autograd.grad((solve(*args, rtol=1e-10) ** 2).sum(), args)
    assert not np.allclose(got[2].numpy(), exact[2].numpy(), rtol=1e-5)


def _context(y):
    return y._node.params["run"].ctx


@pytest.mark.parametrize("start", [0.5, np.array([0.5, 2.0])])
def test_columns_of_a_jacobian_go_through_the_steps_together(start):
    """As many runs of f for five parameters as for one; the columns are those of jvp along each."""

    def runs(k):
        calls = 0

        def f(y, t, k):
            nonlocal calls
            calls += 1
            return -(k[0] + k[1:].sum()) * y + sg.sin(t) * k[-1]

        def solution(k):
            return odeint(f, start, T0, k, rtol=1e-3, atol=1e-6)

        return sg.func.jacfwd(solution)(k).numpy(), calls, solution

    k = np.array([0.5, 0.25, -0.5, 0.125, 1.0])
    wide, count, solution = runs(k)
    assert runs(k[:2])[1] <= count <= 2 * runs(k[:2])[1]
    for column, unit in zip(np.moveaxis(wide, -1, 0), np.eye(5), strict=True):
        np.testing.assert_allclose(column, sg.func.jvp(solution, (k,), (unit,))[1].numpy(), rtol=1e-13, atol=1e-15)
    second = sg.func.jacfwd(sg.func.jacfwd(solution))(k).numpy()
    np.testing.assert_allclose(second, np.swapaxes(second, -1, -2), rtol=1e-9, atol=1e-12)
    reverse = sg.func.jacrev(sg.func.jacfwd(solution))(k).numpy()
    np.testing.assert_allclose(second, reverse, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_all_transforms_agree(adjoint):
    def f(k):
        return (solve(Y0, T0[::2], A0, k, adjoint=adjoint, rtol=1e-8) ** 2).sum()

    first = sg.func.grad(f)(K0).item()
    h = 1e-4
    assert first == pytest.approx((f(K0 + h) - f(K0 - h)).item() / (2 * h), rel=1e-6)
    assert sg.func.jacfwd(f)(K0).item() == pytest.approx(first, rel=1e-6)
    second = sg.func.hessian(f)(K0).item()
    assert second == pytest.approx((sg.func.grad(f)(K0 + h) - sg.func.grad(f)(K0 - h)).item() / (2 * h), rel=1e-5)
    assert sg.func.jacfwd(sg.func.grad(f))(K0).item() == pytest.approx(second, rel=1e-5)
    many = sg.func.vmap(sg.func.grad(f))(np.array([0.5, 1.0]))
    assert many[0].item() == pytest.approx(first, rel=1e-12)


def test_gradgradcheck_of_steps():
    y0, k = leaves(Y0, K0)
    assert sg.autograd.gradgradcheck(
        lambda y0, k: odeint(swing, y0, [0.0, 0.3], A0, k, method="rk4", step_size=0.1), (y0, k), atol=1e-6
    )


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_nested_states_and_parameters(adjoint):
    def f(s, t, p, name):
        assert name == "pump"
        return {"a": p["k"] * s["b"], "z": 1j * p["w"][0] * s["z"], "b": -s["a"]}

    k, w = leaves(1.3, 2.0)
    start = {"a": np.ones(2), "z": np.array([[1 + 1j]], np.complex64), "b": 0.5 * np.ones(2)}
    y = odeint(f, start, np.linspace(0, 1, 4), {"k": k, "w": [w]}, "pump", adjoint=adjoint)
    assert list(y) == ["a", "z", "b"]
    assert y["z"].shape == (4, 1, 1)
    assert y["z"].dtype == np.complex64
    assert np.allclose(y["z"].detach().numpy()[:, 0, 0], (1 + 1j) * np.exp(2j * np.linspace(0, 1, 4)), atol=1e-5)
    by_k, by_w = sg.autograd.grad(y["a"][-1].sum() + y["z"][-1].real.sum(), (k, w))
    r = np.sqrt(1.3)
    assert by_w.item() == pytest.approx(((1 + 1j) * 1j * np.exp(2j)).real, rel=1e-5)

    def a_of(k):
        return 2 * (np.cos(np.sqrt(k)) + 0.5 * np.sqrt(k) * np.sin(np.sqrt(k)))

    assert y["a"][-1].sum().item() == pytest.approx(a_of(r**2), rel=1e-5)
    assert by_k.item() == pytest.approx((a_of(1.3 + 1e-5) - a_of(1.3 - 1e-5)) / 2e-5, rel=1e-5)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_single_precision_and_single_times(adjoint):
    y0 = sg.ones(3, requires_grad=True)
    t = sg.tensor([0.0, 1.0], dtype=sg.float64, requires_grad=True)
    y = odeint(lambda y, t: -y * t, y0, t, adjoint=adjoint)
    assert y.dtype == sg.float32
    y[1].sum().backward()
    assert y0.grad.dtype == sg.float32
    assert t.grad.dtype == sg.float64
    assert np.allclose(y0.grad.numpy(), np.exp(-0.5), atol=1e-5)
    assert np.allclose(t.grad.numpy(), [0.0, -3 * np.exp(-0.5)], atol=1e-4)
    (alone,) = sg.autograd.grad(odeint(lambda y, t: -y, y0, [0.0], adjoint=adjoint).sum(), y0)
    assert alone.tolist() == [1, 1, 1]


def test_scalars_constants_and_unused_parameters():
    k, unused = leaves(0.5, [1.0, 2.0])
    y = odeint(lambda y, t, k, other, table: -k * y * table.sum(), 2.0, [0.0, 1.0], k, unused, np.array([1, 0]))
    y[1].backward()
    assert k.grad.item() == pytest.approx(-2 * np.exp(-0.5), rel=1e-6)
    assert unused.grad.tolist() == [0, 0]
    with sg.no_grad():
        assert not odeint(lambda y, t, k: -k * y, 2.0, [0.0, 1.0], k).requires_grad


def test_many_steps_keep_few_states():
    """A thousand steps of a thousand numbers would be 8 MB of states and ten times as much of tape."""
    start = sg.ones(1000, dtype=sg.float64, requires_grad=True)
    k = sg.tensor(0.1, dtype=sg.float64, requires_grad=True)

    def solved():
        k.grad = None
        y = odeint(lambda y, t, k: -k * y, start, [0.0, 1.0], k, method="euler", step_size=1 / 1000)[1]
        y.sum().backward()

    assert peak(solved, below=3e6) < 3e6  # 1000 states are 8 MB
    assert k.grad.item() == pytest.approx(-1000 * (1 - 0.1 / 1000) ** 999, rel=1e-10)


# ---------------------------------------------------------------------------------------------- formulas and tools


def test_theorem():
    A, k = leaves(A0, K0)

    def pendulum(y, t, A, k):
        return A @ y + k * sg.sin(y)

    steps = theorem(odeint(pendulum, Y0, [0.0, 1.0], A, k)[1].sum())
    assert 5 < steps.steps < 30
    assert (
        r"\partial_{y} \mathrm{pendulum} &= A + k \operatorname{diag}\left(\cos\left(y\right)\right)" in steps.latex()
    )
    assert r"\lambda_{n} &= \left(\partial_{y} \Phi_{n}\right)^{\top} \lambda_{n+1}" in steps.latex()
    assert "∂ₖ pendulum = sin(y)" in str(steps)
    exact = theorem(odeint(pendulum, Y0, [0.0, 1.0], A, k, adjoint="continuous"))
    assert r"&= -\left(\partial_{y} \mathrm{pendulum}\right)^{\top} \lambda" in exact.latex()
    assert r"\int_{t_{0}}^{t_{n}} \left(\partial_{A} \mathrm{pendulum}\right)^{\top} \lambda" in exact.latex()
    assert "∫" in str(exact)
    turned = theorem(odeint(lambda time, z, c: -c * z, 1.0, [0.0, 1.0], k, tfirst=True))
    assert r"f\left(time, z, c\right)" in turned.latex().replace(r"\mathrm{time}", "time")
    assert "Odeint" in str(odeint(pendulum, Y0, [0.0, 1.0], A, k).expr)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_checkpoints_and_other_ways_through(adjoint):
    def last(k):
        return odeint(lambda y, t, k: -k * y, np.ones(2), np.array([0.0, 1.0]), k, adjoint=adjoint)[-1]

    (k,) = leaves([0.5, 1.0])
    sg.utils.checkpoint.checkpoint(lambda k: last(k).sum(), k, use_reentrant=False).backward()
    assert np.allclose(k.grad.numpy(), -np.exp([-0.5, -1.0]))
    H = sg.func.hessian_operator(lambda k: last(k).sum(), k.detach()).toarray()
    assert np.allclose(H, np.diag(np.exp([-0.5, -1.0])), atol=1e-6)
    assert np.allclose(sg.func.linearize(last, k.detach())[1](np.ones(2)).numpy(), k.grad.numpy())
    with pytest.raises(ArgumentError, match="Taylor path"):
        sg.func.nth_derivative(lambda k: last(k).sum(), 2)(0.5)


def test_programs_and_pickles():
    def last(k):
        return odeint(lambda y, t, k: -k * y, 1.0, np.array([0.0, 1.0]), k)[-1]

    with pytest.raises(sg.errors.CompileError):
        sg.compile(last, K0)(K0)
    assert sg.jit(last)(K0).item() == pytest.approx(np.exp(-0.5), rel=1e-6)
    (k,) = leaves(K0)
    y = solve(Y0, T0, A0, k)
    try:
        again = pickle.loads(pickle.dumps(y))
    except (pickle.PicklingError, AttributeError):
        pytest.skip("this module cannot be imported by name")
    again.sum().backward()


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA", "implicit_adams"])
def test_stiff_methods_are_refused_by_name(method):
    with pytest.raises(ArgumentError, match=f"'{method}' is a method for stiff equations"):
        solve(Y0, T0, A0, K0, method=method)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "heun"}, "it is one of euler"),
        ({"rtol": 1e-17}, "no errors below"),
        ({"rtol": -1.0}, "positive number"),
        ({"step_size": 0.1}, "chooses its steps"),
        ({"method": "rk4", "rtol": 1e-3}, "fixed steps"),
        ({"method": "rk4", "step_size": 0}, "positive number"),
        ({"adjoint": "both"}, "'discrete' or 'continuous'"),
        ({"max_steps": 0}, "positive whole number"),
    ],
)
def test_options(options, words):
    with pytest.raises(ArgumentError, match=words):
        solve(Y0, T0, A0, K0, **options)


def test_times():
    for times in ([0.0, 1.0, 0.5], [0.0, 0.0], [0.0, np.nan]):
        with pytest.raises(ArgumentError, match="increase or decrease"):
            solve(Y0, times, A0, K0)
    for times in (1.0, [[0.0, 1.0]], []):
        with pytest.raises(ShapeError, match="one axis"):
            solve(Y0, np.array(times), A0, K0)
    with pytest.raises(DtypeError, match="complex128"):
        solve(Y0, [0j, 1j], A0, K0)


def test_functions_that_do_not_fit():
    with pytest.raises(ShapeError, match=r"shape \(1,\), y0 has shape \(2,\).*tfirst=True"):
        odeint(lambda y, t: y[:1], Y0, T0)
    with pytest.raises(ShapeError, match=r"has shape \(2, 2\)"):  # a tuple is one array, as for SciPy
        odeint(lambda y, t: (y, y), Y0, T0)
    with pytest.raises(ShapeError, match="nested as"):
        odeint(lambda y, t: {"y": y}, Y0, T0)
    with pytest.raises(DtypeError, match="y0 is real"):
        odeint(lambda y, t: 1j * y, Y0, T0)
    with pytest.raises(DtypeError, match="int64"):
        odeint(lambda y, t: y, np.array([1, 2]), T0)
    (k,) = leaves(K0)
    with pytest.raises(ArgumentError, match="from outside.*odeint"):
        odeint(lambda y, t: -k * y, Y0, T0)
    with pytest.raises(ArgumentError, match="takes a function"):
        odeint(1.0, Y0, T0)


def test_solutions_that_end():
    with pytest.raises(NotConverged, match="no step is short enough"):
        odeint(lambda y, t: y**2, 1.0, [0.0, 2.0])
    with pytest.raises(NotConverged, match="max_steps = 100 "):
        odeint(lambda y, t: -1e4 * (y - t), 1.0, [0.0, 100.0], max_steps=100)
    with pytest.raises(NotConverged, match="not finite"):
        odeint(lambda y, t: y * np.inf, 1.0, [0.0, 2.0], method="euler")


def test_what_a_function_may_not_do_at_any_time():
    (k,) = leaves(K0)
    with pytest.raises(ArgumentError, match="from outside.*odeint"):
        odeint(lambda y, t: -k * y if t > 0.5 else -y, 1.0, [0.0, 1.0])
    start = np.ones(2)
    with pytest.raises(ArgumentError, match="changes its argument y in place"):
        odeint(lambda y, t: y.mul_(-1), start, [0.0, 1.0])
    with pytest.raises(ArgumentError, match="changes its argument t in place"):
        odeint(lambda y, t: -y * t.add_(1), start, [0.0, 1.0], method="rk4")
    assert start.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_a_start_that_is_not_finite(method):
    with np.errstate(all="raise"), pytest.raises(NotConverged, match="not finite at the start, t = 0"):
        odeint(lambda y, t: -y, np.array([1.0, np.inf]), [0.0, 1.0], method=method)


def test_functions_that_take_the_time_first():
    with pytest.raises(ArgumentError, match="named t, y. Pass tfirst=True"):
        odeint(lambda t, y: -y, 1.0, [0.0, 1.0])
    expected = odeint(lambda y, t: -y, 1.0, [0.0, 1.0])
    assert odeint(lambda t, y: -y, 1.0, [0.0, 1.0], tfirst=True).equal(expected)
    assert odeint(lambda t, x: -t, 1.0, [0.0, 1.0], tfirst=False).equal(expected)  # a state named t
    assert odeint(lambda *args: -args[0], 1.0, [0.0, 1.0]).equal(expected)
    with pytest.raises(ShapeError, match=r"shape is \(\)\. The arguments are odeint\(f, y0, t"):
        odeint(lambda y, t: -y, 1.0, 2.0)

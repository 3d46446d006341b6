"""Values and gradients at kinks, origins and infinities: the decided conventions, one row each.

Every point is tried eagerly, as a formula (the gradient's term, evaluated), and against torch where that is installed
and has the same convention.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate

INF = math.inf


def gradients(function: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The summed result's gradients by the tape; the formula must say the same."""
    leaves = [sg.tensor(np.array(v, dtype=float), requires_grad=True, name=f"v{k}") for k, v in enumerate(values)]
    with warnings.catch_warnings():
        # A forward value may be infinite or nan, and then NumPy says so; backward is always silent.
        warnings.simplefilter("ignore", RuntimeWarning)
        out = function(*leaves)
    total = out.sum() if out.ndim else out
    total.backward()
    found = [np.zeros_like(x._value) if x.grad is None else x.grad._value for x in leaves]
    named = {f"v{k}": np.array(v, dtype=float)[()] for k, v in enumerate(values)}
    for x, got in zip(leaves, found, strict=True):
        if x.grad is not None:
            np.testing.assert_allclose(evaluate(x.grad.term, named), got, rtol=1e-12, err_msg="formula")
    return out._value, found


POINTS: dict[str, tuple[Callable[..., Any], list[Any], list[Any]]] = {
    "abs": (sg.abs, [0.0], [0.0]),
    "relu": (sg.relu, [0.0], [0.0]),
    "maximum": (sg.maximum, [2.0, 2.0], [0.5, 0.5]),
    "minimum": (sg.minimum, [2.0, 2.0], [0.5, 0.5]),
    "amax": (sg.amax, [[1.0, 3.0, 3.0]], [[0.0, 0.5, 0.5]]),
    "amin": (sg.amin, [[1.0, 1.0, 3.0]], [[0.5, 0.5, 0.0]]),
    "max of all": (sg.max, [[3.0, 3.0]], [[0.5, 0.5]]),
    "max along": (lambda x: sg.max(x, 0).values, [[3.0, 3.0]], [[1.0, 0.0]]),
    "clamp low": (lambda x: x.clamp(1, 2), [1.0], [1.0]),
    "clamp high": (lambda x: x.clamp(1, 2), [2.0], [1.0]),
    "sign": (sg.sign, [0.0], [0.0]),
    "round": (sg.round, [0.5], [0.0]),
    "floor": (sg.floor, [1.0], [0.0]),
    "ceil": (sg.ceil, [1.0], [0.0]),
    "sqrt": (sg.sqrt, [0.0], [INF]),
    "log": (sg.log, [0.0], [INF]),
    "acos": (sg.acos, [1.0], [-INF]),
    "norm": (sg.norm, [[0.0, 0.0]], [[0.0, 0.0]]),
    "std": (sg.std, [[2.0, 2.0, 2.0]], [[0.0, 0.0, 0.0]]),
    "prod one zero": (sg.prod, [[2.0, 0.0, 3.0]], [[0.0, 6.0, 0.0]]),
    "prod two zeros": (sg.prod, [[0.0, 0.0, 3.0]], [[0.0, 0.0, 0.0]]),
    "sinc": (sg.sinc, [0.0], [0.0]),
    "atan2": (sg.atan2, [0.0, 0.0], [0.0, 0.0]),
    "hypot": (sg.hypot, [0.0, 0.0], [0.0, 0.0]),
    "0 ** 2": (sg.pow, [0.0, 2.0], [0.0, 0.0]),
    "0 ** 0": (sg.pow, [0.0, 0.0], [0.0, 0.0]),
    "-2 ** 3": (sg.pow, [-2.0, 3.0], [12.0, math.nan]),
    "xlogy": (sg.xlogy, [0.0, 0.0], [0.0, math.nan]),
    "where sqrt": (lambda x: sg.where(x > 0, sg.sqrt(x), 0), [[0.0, 4.0]], [[0.0, 0.25]]),
    "where log": (lambda x: sg.where(x > 0, sg.log(x), 0), [[0.0, -1.0, 4.0]], [[0.0, 0.0, 0.25]]),
    "where chain": (lambda x: sg.where(x > 0, sg.log(sg.sqrt(x) * 2), x), [[0.0, 4.0]], [[1.0, 0.125]]),
    "logsumexp": (lambda x: sg.logsumexp(x, 0), [[-INF, -INF]], [[0.0, 0.0]]),
    "softplus far": (sg.nn.functional.softplus, [1000.0], [1.0]),
    "sigmoid far": (sg.sigmoid, [[-1000.0, 1000.0]], [[0.0, 0.0]]),
    "logaddexp far": (sg.logaddexp, [1000.0, -1000.0], [1.0, 0.0]),
}
SAME_IN_TORCH = [
    "abs", "relu", "maximum", "minimum", "amax", "amin", "sign", "round", "floor", "ceil", "sqrt", "log", "acos",
    "norm",
    "std", "sinc", "atan2", "0 ** 2", "0 ** 0", "-2 ** 3", "xlogy", "prod one zero", "prod two zeros",
]  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_gradient_at_the_point(name: str) -> None:
    function, values, want = POINTS[name]
    _, found = gradients(function, values)
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


FINITE = [n for n in POINTS if n not in ("log", "where sqrt", "where log", "where chain")]


@pytest.mark.parametrize("name", FINITE)
def test_no_warning_where_the_value_is_finite(name: str) -> None:
    function, values, _ = POINTS[name]
    leaves = [sg.tensor(np.array(v, dtype=float), requires_grad=True) for v in values]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = function(*leaves)
        (out.sum() if out.ndim else out).backward()


@pytest.mark.peer
@pytest.mark.parametrize("name", SAME_IN_TORCH)
def test_torch_says_the_same(name: str) -> None:
    torch = pytest.importorskip("torch")
    _, values, want = POINTS[name]
    function = getattr(torch, {"0 ** 2": "pow", "0 ** 0": "pow", "-2 ** 3": "pow"}.get(name, name.split()[0]))
    leaves = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in values]
    out = function(*leaves)
    out.sum().backward()
    for x, expected in zip(leaves, want, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), expected)


COMPOSED: dict[str, tuple[Callable[..., Any], list[Any], list[Any]]] = {
    "log1p of exp": (lambda x: sg.log1p(sg.exp(x)), [1000.0], [1.0]),
    "log of 1 + exp": (lambda x: sg.log(sg.exp(x) + 1), [[1000.0, -1000.0]], [[1.0, 0.0]]),
    "log of sum of exp": (lambda x: sg.log(sg.exp(x).sum()), [[1000.0, 0.0]], [[1.0, 0.0]]),
    "1 / (1 + exp)": (lambda x: 1 / (1 + sg.exp(-x)), [[-1000.0, 1000.0]], [[0.0, 0.0]]),
    "log of sigmoid": (lambda x: sg.log(sg.sigmoid(x)), [[-1000.0, 1000.0]], [[1.0, 0.0]]),
    "log of softmax": (lambda x: sg.log(sg.softmax(x, 0))[1], [[1000.0, 0.0]], [[-1.0, 1.0]]),
    "sqrt of squares": (lambda x, y: sg.sqrt(x * x + y * y), [0.0, 0.0], [0.0, 0.0]),
    "sqrt of one square": (lambda x: sg.sqrt(x**2), [[0.0, -2.0]], [[0.0, -1.0]]),
    "sqrt of a sum": (lambda x: ((2 * x) ** 2).sum() ** 0.5, [[0.0, 0.0]], [[0.0, 0.0]]),
    "sqrt of x @ x": (lambda x: sg.sqrt(x @ x), [[0.0, 0.0]], [[0.0, 0.0]]),
    "4th power, then 4th root": (lambda x: (x**4) ** 0.25, [[0.0, 2.0, -2.0]], [[0.0, 1.0, -1.0]]),
    "4th power, then sqrt": (lambda x: sg.sqrt(x**4), [[0.0, 2.0, -2.0]], [[0.0, 4.0, -4.0]]),
    "3rd root, then 3rd power": (lambda x: (x ** (1 / 3)) ** 3, [[0.0, 2.0, -2.0]], [[1.0, 1.0, math.nan]]),
    "3rd power, then 3rd root": (lambda x: (x**3) ** (1 / 3), [[0.0, 2.0, -2.0]], [[1.0, 1.0, math.nan]]),
    "square of a sqrt": (lambda x: sg.sqrt(x) ** 2, [[0.0, 2.0, -2.0]], [[1.0, 1.0, math.nan]]),
    "sqrt times itself": (lambda x: sg.sqrt(x) * sg.sqrt(x), [[0.0, 2.0, -2.0]], [[1.0, 1.0, math.nan]]),
    "distances": (
        lambda X: sg.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)),
        [[[0.0, 0.0], [3.0, 4.0]]],
        [[[-1.2, -1.6], [1.2, 1.6]]],
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_limits(name: str) -> None:
    """Where two nodes together have a derivative that the chain rule loses as 0 · inf."""
    function, values, want = COMPOSED[name]
    _, found = gradients(function, values)
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("name", COMPOSED)
def test_composed_limits_recorded_and_compiled(name: str) -> None:
    function, values, want = COMPOSED[name]
    leaves = [sg.tensor(np.array(v), requires_grad=True) for v in values]
    every = tuple(range(len(leaves)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        program = sg.compile(sg.func.grad(lambda *xs: function(*xs).sum(), argnums=every), *(x + 1.5 for x in leaves))
        recorded = sg.autograd.grad(function(*leaves).sum(), leaves, create_graph=True)
    compiled = program(*(np.array(v) for v in values))
    for first, second, expected in zip(recorded, compiled, want, strict=True):
        np.testing.assert_allclose(first.detach(), expected, rtol=1e-12)
        np.testing.assert_allclose(second, expected, rtol=1e-12)
        assert first.requires_grad


def _log_of_sum(x: Any) -> Any:
    return sg.log(sg.exp(x).sum())


def _root_of_squares(x: Any) -> Any:
    return sg.sqrt((x * x).sum())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_composed_limits_along_paths() -> None:
    """Forward mode inside of forward mode, and Taylor coefficients, are finite where backward is."""
    x, v = sg.tensor([1000.0, 0.0], dtype=sg.float64), sg.tensor([1.0, 2.0], dtype=sg.float64)
    inner, outer = sg.func.jvp(lambda x: sg.func.jvp(_log_of_sum, (x,), (v,))[1], (x,), (v,))
    assert (inner.item(), outer.item()) == (1.0, 0.0)
    found = sg.func.taylor(_log_of_sum, x, v, 3)
    assert found[0].item() == math.inf  # values are computed as the program says
    np.testing.assert_array_equal([c.item() for c in found[1:]], [1.0, 0.0, 0.0])
    zero = sg.zeros(2, dtype=sg.float64)
    assert [c.item() for c in sg.func.taylor(_root_of_squares, zero, v, 2)] == [0.0, 0.0, 0.0]
    assert sg.func.jvp(lambda x: sg.func.jvp(_root_of_squares, (x,), (v,))[1], (zero,), (v,))[0].item() == 0.0
    two = sg.func.jet(_log_of_sum, (x,), ([v, v],))[1]
    np.testing.assert_array_equal([c.item() for c in two], [1.0, 1.0])


def test_a_nan_that_is_meant_stays() -> None:
    """Data that is nan, functions without another spelling, and hooks keep what the chain rule says."""
    x = sg.tensor([math.nan, 1.0], requires_grad=True)
    sg.sqrt((x * x).sum()).backward()
    assert np.isnan(x.grad._value).all()
    x = sg.tensor([0.0, 1.0], requires_grad=True)
    sg.sqrt(x * x * x).sum().backward()
    assert np.isnan(x.grad._value).tolist() == [True, False]
    x = sg.tensor([0.0, 0.0], requires_grad=True)
    inner = (x * x).sum()
    inner.register_hook(lambda g: g * 2)
    sg.sqrt(inner).backward()
    assert np.isnan(x.grad._value).all()


def test_leaves_that_changed_since_are_not_asked() -> None:
    x = sg.tensor([0.0, 0.0], requires_grad=True)
    out = sg.sqrt((x * x).sum())
    x.data = np.array([3.0, 4.0])
    out.backward()
    assert np.isinf(x.grad._value).all()  # 3/0 and 4/0, as in torch: the root is that of the old values


def test_long_sums_are_no_problem() -> None:
    x = sg.tensor(0.0, requires_grad=True)
    total = x * x
    for _ in range(3000):
        total = total + x * x
    sg.sqrt(total).backward()
    assert math.isnan(x.grad.item())
    assert x.grad.term.shape == ()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cross_entropy_does_not_depend_on_where_the_logits_are(dtype):
    """A shift of all logits changes nothing; log Σ e^x less one of them would lose the digits of the shift."""
    logits = np.array([[0.0, 1.0, -0.5], [2.0, 1.0, 0.0]])

    def answers(shift):
        x = sg.tensor((logits + shift).astype(dtype), requires_grad=True)
        loss = sg.nn.functional.cross_entropy(x, sg.tensor(np.array([0, 2])))
        (first,) = sg.autograd.grad(loss, x, create_graph=True)
        (second,) = sg.autograd.grad((first * first).sum(), x)
        return [t.detach().numpy() for t in (loss, first, second)]

    for here, there in zip(answers(0), answers(2.0**16), strict=True):
        np.testing.assert_array_equal(here, there)
    assert answers(0)[0] == pytest.approx(1.9359873742761629)
    np.testing.assert_allclose(answers(1e20 * (dtype == "float64"))[1].sum(-1), 0, atol=1e-7)


def test_each_part_of_a_complex_number_is_replaced_by_itself():
    z = sg.tensor([complex(math.nan, 1), complex(2, -INF), complex(INF, math.nan)], requires_grad=True, name="z")
    out = sg.nan_to_num(z, nan=12, neginf=-3)
    high = np.finfo(np.float32).max
    np.testing.assert_array_equal(out.detach().numpy(), np.array([12 + 1j, 2 - 3j, high + 12j], np.complex64))
    (out.real + 2 * out.imag).sum().backward()
    np.testing.assert_array_equal(z.grad.numpy(), np.array([2j, 1, 0], np.complex64))


def test_incomplete_gamma_functions_of_an_infinite_order():
    a, x = sg.tensor([INF, INF, INF, 3.0]), sg.tensor([0.0, 3.0, INF, INF])
    np.testing.assert_array_equal(sg.special.gammainc(a, x).numpy(), [0, 0, math.nan, 1])
    np.testing.assert_array_equal(sg.special.gammaincc(a, x).numpy(), [1, 1, math.nan, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_a_power_of_two_may_be_far_out_where_the_product_is_not(dtype):
    x = sg.tensor([2.0**-20, 1.0], dtype=getattr(sg, dtype), requires_grad=True)
    out = sg.ldexp(x, sg.tensor([140, 120 if dtype != "float64" else 128]))
    assert out.dtype == x.dtype
    assert out.tolist() == [2.0**120, 2.0**120 if dtype != "float64" else 2.0**128]


def test_running_sums_of_complex_exponentials_beside_infinities():
    """nan in one part is nan in both; of infinite sums there is no angle, and two zeros are one."""
    nan = complex(math.nan, math.nan)
    rows = {
        (complex(1, math.nan), 1j): [nan, nan],
        (1j, complex(INF, 1), complex(INF, 2)): [1j, complex(INF, 1), complex(INF, math.nan)],
        (complex(-INF, 1), complex(-INF, 2), 1j): [complex(-INF, 1), complex(-INF, 2), 1j],
    }
    for row, want in rows.items():
        np.testing.assert_array_equal(sg.logcumsumexp(sg.tensor(row), 0).numpy(), np.array(want, np.complex64))

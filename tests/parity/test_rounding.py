"""The steps in which torch rounds: values and gradients of float32 that have no other error agree to the last digit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.parity.processors import fuses_elimination

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

CALLS: dict[str, Callable[..., Any]] = {
    "addcmul": lambda t, a, b, p: t.addcmul(a, b, p, value=0.3),
    "addcmul of itself": lambda t, a, b, p: t.addcmul(a, a, b, value=-3),
    "add": lambda t, a, b, p: t.add(a, b, alpha=3),
    "sub": lambda t, a, b, p: t.sub(a, b, alpha=0.3),
    "lerp": lambda t, a, b, p: t.lerp(a, b, 0.3),
    "lerp from the end": lambda t, a, b, p: t.lerp(a, b, 0.8),
    "lerp by a tensor": lambda t, a, b, p: t.lerp(a, b, p),
    "hypot": lambda t, a, b, p: t.hypot(a, b),
    "var": lambda t, a, b, p: a.var(-1),
    "std": lambda t, a, b, p: a.std(),
    "a number over a tensor": lambda t, a, b, p: 2 / p,
    "rsqrt": lambda t, a, b, p: p.rsqrt(),
    "einsum": lambda t, a, b, p: t.einsum("ij,ij->", a, b),
}


def results(t: Any, call: Callable[..., Any], dtype: str, arrays: list[Any], recorded: bool) -> list[Any]:
    """The value of a function, and its gradients by what it uses."""
    leaves = [t.tensor(a, dtype=getattr(t, dtype), requires_grad=True) for a in arrays]
    out = call(t, *leaves)
    found = t.autograd.grad(out, leaves, t.ones_like(out) / 3, allow_unused=True, create_graph=recorded)
    return [x.detach().numpy() for x in (out, *found) if x is not None]


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (4, 5)])
@pytest.mark.parametrize("name", CALLS)
def test_float32(name: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        a, b, p = rng.normal(0, 1, shape), rng.normal(0, 1, shape), rng.uniform(0.1, 2, shape)
        for got, want in zip(*(results(t, CALLS[name], "float32", [a, b, p], False) for t in (sg, torch)), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["addcmul", "add", "sub", "lerp", "lerp from the end"])
def test_sums_with_products_in_float64(name: str) -> None:
    rng = np.random.default_rng(6)
    a, b, p = (rng.normal(0, 1, (2, 30)) for _ in range(3))
    for got, want in zip(*(results(t, CALLS[name], "float64", [a, b, p], False) for t in (sg, torch)), strict=True):
        assert np.mean(got != want) < 0.02


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_slopes_of_one_kernel_in_float16(name: str, recorded: bool) -> None:
    x = np.random.default_rng(7).normal(0, 1, 200)
    ours, theirs = (results(t, lambda t, x: getattr(t, name)(x), "float16", [x], recorded) for t in (sg, torch))
    np.testing.assert_array_equal(ours[1], theirs[1])


def test_numbers_beside_remainders_of_float16() -> None:
    x = np.random.default_rng(8).normal(0, 3, 200)
    ours, theirs = (results(t, lambda t, x: x % 0.7, "float16", [x], False) for t in (sg, torch))
    np.testing.assert_array_equal(ours[0], theirs[0])


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:var", "ignore:std")
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("rule", ["var", "std"])
def test_variances_of_one_entry(rule: str, recorded: bool) -> None:
    """There is nothing to divide by."""
    ours, theirs = (results(t, lambda t, x: getattr(x, rule)(), "float32", [[1.5]], recorded) for t in (sg, torch))
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(got, want)


def test_formulas_hold_what_the_ops_mean() -> None:
    a, b = (sg.tensor(np.array([1.0, 2.0]), name=n, requires_grad=True) for n in "ab")
    assert str(sg.add(a, b, alpha=3).expr) == "a + 3*b"
    assert str(sg.sub(a, b, alpha=2).expr) == "a - 2*b"
    assert sg.addcmul(a, a, b).latex() == (a + a * b).latex()
    assert sg.lerp(a, b, a).latex() == (a + a * (b - a)).latex()


def every(dtype: str) -> Any:
    """All finite numbers of a half precision, as doubles."""
    patterns = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(getattr(torch, dtype))
    return patterns[torch.isfinite(patterns)].double().numpy()


HALVES: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "tanh": (2, lambda t, x: x.tanh()),
    "sigmoid": (2, lambda t, x: x.sigmoid()),
    "softplus": (2, lambda t, x: t.nn.functional.softplus(x)),
    "logsigmoid": (2, lambda t, x: t.nn.functional.logsigmoid(x)),
    "number over": (2, lambda t, x: 3 / x),
    "fraction over": (2, lambda t, x: 0.3 / x),
    "erf": (2, lambda t, x: t.erf(x)),
    "ndtr": (2, lambda t, x: t.special.ndtr(x)),
    "rsqrt": (2, lambda t, x: x.rsqrt()),
    "entr": (1, lambda t, x: t.special.entr(x)),
    "logit": (1, lambda t, x: t.logit(x)),
    "xlogy": (2, lambda t, x: t.xlogy(t.full_like(x, 3), x)),
    "xlog1py": (2, lambda t, x: t.special.xlog1py(t.full_like(x, 3), x)),
    "logaddexp": (1, lambda t, x: t.logaddexp(x, t.ones_like(x))),
    "asin": (2, lambda t, x: t.asin(x)),
    "acos": (2, lambda t, x: t.acos(x)),
    "asinh": (2, lambda t, x: t.asinh(x)),
    "pow": (2, lambda t, x: x**0.3),
    "fmod": (1, lambda t, x: t.fmod(x, 0.7)),
    "add": (1, lambda t, x: t.add(x, x * 3, alpha=0.3)),
    "sub": (1, lambda t, x: t.sub(x, x * 3, alpha=0.3)),
    "addcdiv": (1, lambda t, x: t.addcdiv(t.ones_like(x), t.full_like(x, 1.7), x, value=0.3)),
    "elu": (2, lambda t, x: t.nn.functional.elu(x, 0.7)),
    "selu": (2, lambda t, x: t.nn.functional.selu(x)),
    "celu": (2, lambda t, x: t.nn.functional.celu(x)),
    "silu": (2, lambda t, x: t.nn.functional.silu(x)),
    "hardswish": (2, lambda t, x: t.nn.functional.hardswish(x)),
    "gelu": (2, lambda t, x: t.nn.functional.gelu(x)),
    "gelu by tanh": (2, lambda t, x: t.nn.functional.gelu(x, approximate="tanh")),
    "sinc": (1, lambda t, x: t.sinc(x)),
    "atan2": (2, lambda t, x: t.atan2(x, t.full_like(x, 2))),
    "softshrink": (1, lambda t, x: t.nn.functional.softshrink(x, 0.1)),
}
"""Functions of one variable, and up to which derivative they agree in half precision."""
ROUGH = ("gelu", "gelu by tanh")
"""Those whose values, many at once, are those of torch's vectors."""


def derivatives(t: Any, call: Callable[[Any, Any], Any], order: int, dtype: str, x: Any) -> list[Any]:
    """The value and the derivatives up to ``order``, the first one recorded and not."""
    found, leaf = [], t.tensor(x, dtype=getattr(t, dtype), requires_grad=True)
    rng = np.random.default_rng(11)
    out = call(t, leaf)
    found.append(out)
    for k in range(order):
        weights = t.tensor(rng.normal(0, 1, out.shape).astype(np.float16)).to(out.dtype)
        if not k:
            found += t.autograd.grad(out, leaf, weights, retain_graph=True)
        (out,) = t.autograd.grad(out, leaf, weights, create_graph=True)
        found.append(out)
    return [f.detach().double().numpy() for f in found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "few"), [(n, few) for n in HALVES for few in (False, True) if few or n not in ROUGH])
def test_every_number_of_float16(name: str, few: bool) -> None:
    """Some three by three, and all at once, when some of torch's exponentials are those of its vectors.

    They may differ where ours is the nearer one: the C library's float32 functions, which torch calls, are units off.
    """
    order, call = HALVES[name]
    numbers = every("float16")
    some = np.random.default_rng(12).permutation(numbers[(1e-3 < np.abs(numbers)) & (np.abs(numbers) < 30)])[:90]
    for x in np.split(some, 30) if few else [numbers]:
        true = derivatives(torch, call, order, "float64", x)
        pairs = zip(*(derivatives(t, call, order, "float16", x) for t in (sg, torch)), true, strict=True)
        for got, want, exact in pairs:
            differ = (got != want) & ~(np.isnan(got) & np.isnan(want)) & ~(np.abs(got - exact) < np.abs(want - exact))
            assert differ.sum() <= (0 if few else 2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "shapes", [((3, 1), (1, 4)), ((1, 1), (1, 4)), ((3, 1), (1, 1)), ((3, 2), (2, 4)), ((3, 1), (1,))]
)
def test_the_signs_of_zeros_in_products(shapes, dtype):
    def signs(t):
        a, b = t.zeros(shapes[0], dtype=getattr(t, dtype)), -t.ones(shapes[1], dtype=getattr(t, dtype))
        return t.signbit(a @ b).tolist()

    assert signs(sg) == signs(torch)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_small_determinants_to_the_last_digit(n):
    values = np.random.default_rng(n).normal(size=(50, n, n)).round(3)
    for x in (*values, *(values @ values.mT + 2 * np.eye(n)), np.full((n, n), 2.25) + 2 * np.eye(n)):
        here, there = sg.linalg.det(sg.tensor(x)).item(), torch.linalg.det(torch.tensor(x)).item()
        assert abs(here - there) <= (1e-13 * (1 + abs(there)) if fuses_elimination() else 0)


SECONDS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a quotient": lambda t, a, b: a * b / (a + b * b + 3),
    "a quotient of itself": lambda t, a, b: a / (a * a + b),
    "softsign": lambda t, a, b: t.nn.functional.softsign(a) * b,
    "a product of quotients": lambda t, a, b: (a * b).tanh() * (a / (b * b + 1)),
}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", SECONDS)
def test_second_derivatives_add_up_in_torchs_order(name: str, dtype: str) -> None:
    rng = np.random.default_rng(13)
    for _ in range(10):
        arrays, found = [rng.normal(0, 1, (3, 3)) for _ in range(2)], []
        for t in (sg, torch):
            leaves = [t.tensor(a, dtype=getattr(t, dtype), requires_grad=True) for a in arrays]
            out = SECONDS[name](t, *leaves)
            first = t.autograd.grad(out, leaves, t.ones_like(out), create_graph=True)
            found.append([x.numpy() for x in t.autograd.grad(first, leaves, list(map(t.ones_like, first)))])
        # The C library's tanh of the last of nine numbers is another one on some processors.
        same = np.equal(*[t.tensor(np.prod(arrays, 0), dtype=getattr(t, dtype)).tanh().numpy() for t in (sg, torch)])
        assert same.sum() >= 8
        for got, want in zip(*found, strict=True):
            np.testing.assert_array_equal(got[same], want[same])


ALONG: dict[str, Callable[[Any, Any], Any]] = {
    "softmax of columns": lambda t, x: x.softmax(0),
    "softmax of rows": lambda t, x: x.softmax(1),
    "log_softmax of columns": lambda t, x: x.log_softmax(0),
    "log_softmax of rows": lambda t, x: x.log_softmax(1),
    "logsumexp": lambda t, x: x.logsumexp((0, 1)),
    "logsumexp of rows": lambda t, x: x.logsumexp(1),
    "prod": lambda t, x: x.prod(),
    "cumprod": lambda t, x: x.cumprod(0),
    "trapezoid": lambda t, x: t.trapezoid(x, dx=0.5),
    "prod of rows": lambda t, x: x.prod(1),
    "squared errors": lambda t, x: t.nn.functional.mse_loss(x, x.detach() * 3, reduction="none"),
}


@pytest.mark.parametrize("shape", [(2, 3), (4, 5)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ALONG)
def test_half_precision_along_axes(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    rng, differing, entries = np.random.default_rng(14), 0, 0
    for _ in range(20):
        x = rng.normal(0, 1.5, shape)
        order = 2 if "softmax" in name else 1
        for got, want in zip(*(derivatives(t, ALONG[name], order, dtype, x) for t in (sg, torch)), strict=True):
            differing, entries = differing + np.sum(got != want), entries + got.size
    assert differing <= 0.02 * entries  # the exponentials of torch's vectors are not always rounded once


@pytest.mark.parametrize("kind", ["float64", "float32", "float16"])
def test_multiples_of_whole_numbers(kind):
    """Whole numbers beside floats are taken in the dtype of the floats before they are multiplied."""
    found = []
    for t in (sg, torch):
        x, k = t.tensor([1.0, 2.0, 3.0], dtype=getattr(t, kind)), t.tensor([0, -2, 3])
        found.append([t.addcmul(x, *pair, value=0.1).tolist() for pair in ((k, k), (k, x), (x, k))])
    assert found[0] == found[1]


WHOLE_QUOTIENTS = {
    "towards 0": lambda t, x, y: t.div(x, y, rounding_mode="trunc"),
    "down": lambda t, x, y: t.div(x, y, rounding_mode="floor"),
    "the operator": lambda t, x, y: x // y,
    "of a number": lambda t, x, y: 2.3 // y,
    "by a number": lambda t, x, y: t.div(x, 2.3, rounding_mode="trunc"),
    "by a tensor without axes": lambda t, x, y: t.div(x, y[3], rounding_mode="floor"),
    "by 0": lambda t, x, y: t.div(x, y * 0, rounding_mode="floor"),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", WHOLE_QUOTIENTS)
def test_whole_quotients_of_halves(name: str, dtype: str) -> None:
    """By a tensor they are rounded after every step, by a number once."""
    rng, found = np.random.default_rng(4), []
    x, y = rng.normal(0, 9, 2000).astype(np.float32), rng.normal(0, 1, 2000).astype(np.float32)
    for t in (sg, torch):
        found.append(WHOLE_QUOTIENTS[name](t, *(t.tensor(v).to(getattr(t, dtype)) for v in (x, y))).float().numpy())
    np.testing.assert_array_equal(*found)


def test_angles_of_single_complex_numbers_are_rounded_once() -> None:
    z = np.random.default_rng(3).standard_normal((9999, 2)).astype(np.float32).view(np.complex64)
    exact = np.angle(z.astype(np.complex128))
    off = np.abs(sg.angle(sg.tensor(z)).numpy() - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert off.max() < 0.51


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("exponent", [2, 3, -1, -2, -3, 0.5, -0.5, 1.5])
def test_powers_of_halves(exponent: float, dtype: str) -> None:
    """In bfloat16 those that are products are rounded after every step, in float16 once."""
    x = np.abs(np.random.default_rng(5).normal(0, 1.5, 77)) + 0.1
    for count in (7, 77):  # of torch's vectors none, and two and some entries
        found = (derivatives(t, lambda _, x: x**exponent, 1, dtype, x[:count]) for t in (sg, torch))
        for got, want in zip(*found, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["rsqrt", "asin", "acos", "asinh", "tanh", "atan"])
def test_second_derivatives_by_roots_in_bfloat16(name: str) -> None:
    """The derivative of a root is made of its third power."""
    x = np.random.default_rng(6).uniform(0.05, 0.95, 35)
    found = (derivatives(t, lambda t, x: getattr(t, name)(x), 2, "bfloat16", x) for t in (sg, torch))
    for got, want in zip(*found, strict=True):
        np.testing.assert_array_equal(got, want)

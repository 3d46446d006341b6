"""Functions at kinks, at zeros, at infinities, nan and far out, against torch: values, first and second derivatives."""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

SIZES = (1e-3, 0.25, 0.5, 1, np.pi / 2, 1.7, 2, 3, 6, np.pi - 1e-5, 12.3, 25, 41, 60, 501, 1001.2, 13437.7, 1e20)
X = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *SIZES, *[-s for s in SIZES]])
FEW = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, *(s * k for k in (0.25, 1, 2, 4.5, 501, 1e20) for s in (1, -1))])
PAIRS = tuple(a.ravel() for a in np.meshgrid(FEW, FEW))
REAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 25.0, -1001.2, 1e20)
Z = np.array([complex(a, b) for a in REAL for b in (0.0, 1.0, -1.0, 0.25, -np.pi / 2, 501.0)])
PARTS = (np.nan, np.inf, -np.inf, 0.0, 1.0)
INFINITE = np.array([complex(a, b) for a in PARTS for b in PARTS])
FEW_Z = np.array([complex(a, b) for a in (0.0, 1.0, -0.5, 25.0) for b in (0.0, 1.0, -501.0)])
PAIRS_INFINITE = tuple(a.ravel() for a in np.meshgrid(INFINITE, INFINITE))
PAIRS_Z = tuple(a.ravel() for a in np.meshgrid(FEW_Z, FEW_Z))

Call = Callable[..., Any]
NAMES = """abs angle asin asinh atan ceil cos cosh deg2rad erf erfc erfinv exp exp2 expm1 floor frac lgamma log log10
    log1p log2 nan_to_num neg reciprocal relu round rsqrt sgn sigmoid sign sin sinh sqrt square tan tanh trunc digamma
    sinc i0 special.entr special.erfcx special.i0e special.i1e special.i1 special.log_ndtr special.ndtr
    nn.functional.hardshrink nn.functional.hardsigmoid nn.functional.hardswish nn.functional.hardtanh
    nn.functional.leaky_relu nn.functional.logsigmoid nn.functional.mish nn.functional.relu6 nn.functional.silu
    nn.functional.softplus nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink
    nn.functional.gelu nn.functional.rrelu nn.functional.elu nn.functional.celu nn.functional.selu""".split()
PAIRED = """add sub mul div atan2 hypot maximum minimum fmax fmin fmod remainder copysign logaddexp logaddexp2 xlogy
    special.xlog1py polar float_power pow ldexp""".split()
LOSSES = "huber_loss l1_loss mse_loss smooth_l1_loss poisson_nll_loss".split()
COMPLEX = "abs angle atan exp exp2 log log10 log1p log2 reciprocal rsqrt sgn sinc sqrt square tanh".split()


def _named(name: str) -> Call:
    return lambda t, *arrays: functools.reduce(getattr, name.split("."), t)(*arrays)


CASES: dict[str, tuple[Call, tuple[np.ndarray, ...]]] = {
    **{name: (_named(name), (X,)) for name in NAMES},
    **{name: (_named(name), PAIRS) for name in PAIRED},
    **{name: (lambda t, x, y, n=name: getattr(t.nn.functional, n)(x, y, reduction="none"), PAIRS) for name in LOSSES},
    **{f"{name} of complex": (_named(name), (Z,)) for name in COMPLEX},
    **{f"{name} of infinite": (_named(name), (INFINITE,)) for name in COMPLEX},
    **{f"{name} of complex": (_named(name), PAIRS_Z) for name in ("add", "sub", "mul", "div", "pow")},
    "add of infinite": (_named("add"), PAIRS_INFINITE),
    "logaddexp of complex": (_named("logaddexp"), PAIRS_Z),
    "logcumsumexp of complex": (lambda t, x, y: t.logcumsumexp(t.stack([x, y]), 0), PAIRS_Z),
    "logaddexp of infinite": (_named("logaddexp"), PAIRS_INFINITE),
    "prelu": (lambda t, x: t.nn.functional.prelu(x, t.tensor(0.3, dtype=t.float64)), (X,)),
    "logit": (_named("logit"), (X,)),
    "logit of limited numbers": (lambda t, x: t.logit(x, 0.01), (X,)),
    "x ** 0.5": (lambda t, x: x**0.5, (X,)),
    "x ** -0.5": (lambda t, x: x**-0.5, (X,)),
    "norm of nothing": (lambda t, x: t.linalg.vector_norm(x, 3.5), (np.zeros(0),)),
    "norm at 0": (lambda t, x: t.linalg.vector_norm(x), (np.zeros(3),)),
    "3.5-norm at 0": (lambda t, x: t.linalg.vector_norm(x, 3.5), (np.zeros(3),)),
    "x ** 3": (lambda t, x: x**3, (X,)),
    "2 ** x": (lambda t, x: 2**x, (X,)),
    "clamp": (lambda t, x: t.clamp(x, -1.0, 2.0), (X,)),
    "softplus, steep": (lambda t, x: t.nn.functional.softplus(x, beta=3, threshold=5), (X,)),
}

UNDECIDED = "at nan torch's vectorised and scalar code differ, so its answer depends on the place in memory"
KEPT = "the right answer, where torch has nan: "
OTHERWISE: dict[tuple[str, int], str] = {
    ("digamma", 2): KEPT + "0 at infinity",
    ("sinc", 2): KEPT + "the second derivative at 0 is -π²/3",
    ("sinc of complex", 2): KEPT + "the second derivative at 0 is -π²/3",
    ("sinc of infinite", 2): KEPT + "the second derivative at 0 is -π²/3",
    ("i0", 0): KEPT + "inf at infinity",
    ("i0", 1): KEPT + "inf at infinity",
    ("i0", 2): KEPT + "the second derivative overflows to inf",
    ("special.i1", 0): KEPT + "inf at infinity",
    ("special.i1", 1): KEPT + "the derivative overflows to inf",
    ("special.i1", 2): KEPT + "the second derivative overflows to inf",
    ("special.erfcx", 1): KEPT + "0 at infinity",
    ("special.erfcx", 2): KEPT + "0 at infinity",
    ("special.log_ndtr", 1): "torch has lost all digits at -1e20, where the derivative is 1e20",
    ("special.log_ndtr", 2): "torch has lost digits from -1001.2 on, where the second derivative is -1",
    ("nn.functional.hardswish", 0): KEPT + "0 at -inf",
    ("nn.functional.mish", 2): KEPT + "0 far out",
    ("nn.functional.softsign", 2): KEPT + "0 at infinity",
    ("nn.functional.hardshrink", 1): UNDECIDED,
    ("nn.functional.hardshrink", 2): UNDECIDED,
    ("nn.functional.softshrink", 1): UNDECIDED,
    ("nn.functional.softshrink", 2): UNDECIDED,
    ("nn.functional.hardtanh", 1): UNDECIDED,
    ("nn.functional.hardtanh", 2): UNDECIDED,
    ("nn.functional.relu6", 1): UNDECIDED,
    ("nn.functional.relu6", 2): UNDECIDED,
    ("hypot", 1): KEPT + "0 at the origin, as for every norm",
    ("hypot", 2): KEPT + "0 at the origin, as for every norm",
    ("logaddexp", 2): KEPT + "0 where the arguments are far apart",
    ("logaddexp2", 2): KEPT + "0 where the arguments are far apart",
    ("logaddexp of infinite", 1): KEPT + "0 or 1 where one is infinitely larger",
    ("logaddexp of infinite", 2): KEPT + "0 where one is infinitely larger",
    ("ldexp", 2): KEPT + "the second derivative by the exponent overflows to inf or -inf",
    ("polar", 1): "torch has 0 at radius 0, where the derivative by the radius is e^(iφ)",
    ("polar", 2): "torch has 0 at radius 0, where the derivative by the radius is e^(iφ)",
    ("prelu", 2): "at 0 torch's first derivative is 0.3 and its derivative by the cotangent 1, which have to be equal",
    ("special.i1e", 1): "at nan torch has 1/2",
    ("special.i1e", 2): "at nan torch has 1/2",
    ("logit", 2): "outside of [0, 1] torch's derivative is nan, and 0 by the cotangent, which have to be equal",
    ("logit of limited numbers", 2): KEPT + "0 where the limits hold",
    ("add of infinite", 0): KEPT + "parts are added; torch multiplies by 1 + 0i first",
    ("norm of nothing", 2): KEPT + "a gradient without entries does not depend on the cotangent",
    ("3.5-norm at 0", 2): "there is no second derivative: here nan, in torch 0",
    ("exp2 of complex", 2): "torch multiplies a complex infinity by a real number part by part",
    ("exp2 of infinite", 2): "torch multiplies a complex infinity by a real number part by part",
    ("huber_loss", 2): "torch has 0 at inf - inf and nan",
    ("smooth_l1_loss", 2): "torch has 0 at inf - inf and nan",
    ("pow", 2): KEPT + "powers of 0 have derivatives",
    ("float_power", 2): KEPT + "powers of 0 have derivatives",
    ("atan2", 2): KEPT + "at the origin, where the derivatives are 0, theirs are 0",
    ("pow of complex", 0): KEPT + "0**0 is 1",
    ("pow of complex", 1): KEPT + "x**1 has derivative 1 at 0",
    ("pow of complex", 2): KEPT + "x**1 has derivative 1 at 0",
}  # fmt: skip
TOLERANCE = ((1e-7, 1e-9), (1e-5, 1e-8), (1e-4, 1e-7))


def _like(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    noise = rng.standard_normal(array.shape)
    return (noise + 1j * rng.standard_normal(array.shape)).astype(array.dtype) if array.dtype.kind == "c" else noise


def _numbers(value: Any, like: Any) -> np.ndarray:
    return np.zeros_like(like.detach().numpy()) if value is None else value.detach().clone().numpy()


def _answers(t: Any, call: Call, arrays: tuple[np.ndarray, ...], order: int) -> list[np.ndarray]:
    """The value, the first or the second derivatives, with the same cotangents for every library."""
    rng = np.random.default_rng(0)
    leaves = [t.tensor(a, requires_grad=True) for a in arrays]
    out = call(t, *leaves)
    if order == 0:
        return [out.detach().clone().numpy()]
    cotangent = t.tensor(_like(rng, out.detach().numpy()), requires_grad=True)
    first = t.autograd.grad(out, leaves, cotangent, create_graph=order == 2, allow_unused=True)
    if order == 1:
        return [_numbers(g, x) for g, x in zip(first, leaves, strict=True)]
    pairs = [(g, t.tensor(_like(rng, a))) for g, a in zip(first, arrays, strict=True) if g is not None]
    pairs = [(g, v) for g, v in pairs if g.requires_grad]
    wanted = [*leaves, cotangent]
    if not pairs:
        return [_numbers(None, x) for x in wanted]
    second = t.autograd.grad([g for g, _ in pairs], wanted, [v for _, v in pairs], allow_unused=True)
    return [_numbers(g, x) for g, x in zip(second, wanted, strict=True)]


def _parameters() -> list[Any]:
    found = []
    for case in ((name, order) for name in CASES for order in (0, 1, 2)):
        if case == ("nn.functional.hardsigmoid", 2):  # which torch has not
            continue
        why = OTHERWISE.get(case)
        marks = [pytest.mark.xfail(strict=True, raises=AssertionError, reason=why)] if why else []
        found.append(pytest.param(*case, marks=marks, id=f"{case[0]}-{case[1]}"))
    return found


@pytest.mark.parametrize(("name", "order"), _parameters())
def test_far_out(name: str, order: int) -> None:
    """torch's value, gradient or second gradient; the exceptions are named, with the reason."""
    call, arrays = CASES[name]
    with np.errstate(all="ignore"):
        ours = _answers(sg, call, arrays, order)
        theirs = _answers(torch, call, arrays, order)
    for got, want in zip(ours, theirs, strict=True):
        assert got.dtype == want.dtype
        rtol, atol = TOLERANCE[order]
        np.testing.assert_allclose(got, want, rtol, atol)


def _by_mpmath(function: Call, x: float, n: int) -> float:
    import mpmath

    with mpmath.workdps(60):
        return float(mpmath.diff(function, mpmath.mpf(x), n))


REFERENCES: dict[str, tuple[Call, Call, tuple[float, ...], int]] = {
    "log_ndtr": (
        lambda x: sg.special.log_ndtr(x),
        lambda m, x: m.log(m.erfc(-x / m.sqrt(2)) / 2),
        (-501.0, -40.0, -10.0, -0.5, 3.0),
        2,
    ),
    "erfcx": (lambda x: sg.special.erfcx(x), lambda m, x: m.exp(x * x) * m.erfc(x), (-2.0, 0.5, 11.0, 13.0, 90.0), 3),
    "sinc": (lambda x: sg.sinc(x), lambda m, x: m.sincpi(x), (-5.388553743213009e-07, 1e-5, 0.1, 2.5), 2),
    "i0": (lambda x: sg.i0(x), lambda m, x: m.besseli(0, x), (-60.0, 0.5, 501.0), 2),
    "mish": (
        lambda x: sg.nn.functional.mish(x),
        lambda m, x: x * m.tanh(m.log1p(m.exp(x))),
        (-20.0, 0.5, 40.0, 501.0),
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
def test_against_more_digits(name: str) -> None:
    """Where torch loses digits or has nan, numbers of sixty digits are the referee."""
    import mpmath

    function, exact, points, orders = REFERENCES[name]
    for point in points:
        x = sg.tensor(point, dtype=sg.float64, requires_grad=True)
        out = function(x)
        for n in range(1, orders + 1):
            (out,) = sg.autograd.grad(out, x, create_graph=True)
            want = _by_mpmath(functools.partial(exact, mpmath), point, n)
            assert out.item() == pytest.approx(want, rel=1e-7, abs=1e-12), (point, n)


def test_as_strided_scatter_of_torch_is_wrong() -> None:
    """torch keeps the gradient of the entries that were replaced, and drops the rest: its own check says so."""
    x, src = np.arange(1.0, 7.0), np.array([9.0, 8.0])

    def place(t: Any, a: Any, b: Any) -> Any:
        return t.as_strided_scatter(a, b, (2,), (2,), 1)

    theirs = [torch.tensor(a, requires_grad=True) for a in (x, src)]
    assert not torch.autograd.gradcheck(functools.partial(place, torch), theirs, raise_exception=False)
    ours = [sg.tensor(a, requires_grad=True) for a in (x, src)]
    assert sg.autograd.gradcheck(functools.partial(place, sg), ours)


def test_cosine_similarity_of_short_vectors() -> None:
    """Below eps the length is a constant; torch differentiates it all the same, and its own check says so."""
    arrays = [np.array([0.3, -0.2, 0.1]), np.array([0.1, 0.4, 0.2])]
    for t, right in ((sg, True), (torch, False)):
        given = [t.tensor(a, requires_grad=True) for a in arrays]
        check = functools.partial(t.nn.functional.cosine_similarity, dim=0, eps=1.0)
        assert t.autograd.gradcheck(check, given, raise_exception=False) is right


def test_norms_of_negative_order_of_zeros_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (sg.float32, sg.float64):
            assert sg.linalg.vector_norm(sg.zeros(3, dtype=dtype), -0.5).item() == 0


def test_polar_at_radius_0() -> None:
    """polar(r, φ) is r e^(iφ): its derivative by r does not depend on r."""
    angle = sg.tensor(0.7, dtype=sg.float64)
    steps = [sg.polar(sg.tensor(r, dtype=sg.float64), angle).numpy() for r in (0.0, 1e-6)]
    radius = sg.tensor(0.0, dtype=sg.float64, requires_grad=True)
    (by_radius,) = sg.autograd.grad(sg.polar(radius, angle).real, radius)
    assert by_radius.item() == pytest.approx(operator.sub(*steps[::-1]).real / 1e-6)


TINY = np.array([1e-30, -1e-30, 1e-42, 0.0, -0.0, 1e-20], np.float32)
SINGLE: dict[str, tuple[Call, tuple[np.ndarray, ...]]] = {
    "sinc": (_named("sinc"), (TINY,)),
    "i1": (_named("special.i1"), (TINY,)),
    "i0": (_named("special.i0"), (TINY,)),
    "xlogy": (_named("xlogy"), (np.zeros(3, np.float32), np.array([np.nan, 0.0, 2.0], np.float32))),
    "logit": (_named("logit"), (np.array([0.0, 1.0, 2.0, -1.0, 0.5], np.float32),)),
    "x ** -0.5": (lambda t, x: x**-0.5, (np.array([-0.0, 0.0, -np.inf, np.inf, 0.3], np.float32),)),
}


@pytest.mark.parametrize(("name", "order"), [(n, k) for n in SINGLE for k in (0, 1) if (n, k) != ("sinc", 1)])
def test_tiny_and_special_numbers_in_float32(name: str, order: int) -> None:
    call, arrays = SINGLE[name]
    with np.errstate(all="ignore"):
        ours, theirs = (_answers(t, call, arrays, order) for t in (sg, torch))
    for got, want in zip(ours, theirs, strict=True):
        assert got.dtype == want.dtype == np.float32
        np.testing.assert_allclose(got, want, 1e-5, 1e-45)


def test_slopes_in_float32_where_torch_has_no_digits() -> None:
    """Near 0 the steps of torch's derivative of sinc cancel: it has 0 below 1e-4.  Left of -5 its 1 + erf is 0."""
    tiny = sg.tensor(TINY, requires_grad=True)
    (slope,) = sg.autograd.grad(sg.sinc(tiny).sum(), tiny)
    np.testing.assert_allclose(slope.numpy(), -(np.pi**2) / 3 * TINY.astype(float), rtol=1e-5, atol=1e-45)
    x = sg.tensor([-1e-4, 1e-3, 0.015], requires_grad=True)
    (slope,) = sg.autograd.grad(sg.sinc(x).sum(), x)
    np.testing.assert_allclose(slope.numpy(), [3.2898681e-4, -3.2898648e-3, -0.049337063], rtol=2e-6)
    np.testing.assert_allclose(
        sg.special.ndtr(sg.tensor([-12.3, -6.0])).numpy(), [4.528696e-35, 9.8658765e-10], rtol=2e-6
    )

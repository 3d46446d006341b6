"""Powers and exponentials less what they are near, Owen's T and erfi, against mpmath: values and derivatives."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels
from symgrad.precision import single

S = sg.special
LINE = [1e-20, -1e-9, 1e-4, -0.01, 0.3, -2.0, 5.0, -5.9, 6.1, 25.0]
ABOVE = [1e-9, 0.3, 1 - 1e-9, 1 + 1e-12, 1.5, 40.0]
LAMBDAS = [1e-12, -1e-6, 0.1, -0.5, 1.0, 2.0, -3.0]
SOME = [k for k in LAMBDAS if k != 1]  # for which the inverse is linear
Point = tuple[float, ...]


def pairs(*columns: list[float]) -> list[Point]:
    return list(itertools.product(*columns))


def owen(h: Any, a: Any) -> Any:
    """For a up to 1, in pieces that the integrand does not vary much in."""
    ends = mpmath.linspace(0, min(a, 14 / h) if h else a, 30)
    scaled = mpmath.quad(lambda t: mpmath.exp(-h * h * t * t / 2) / (1 + t * t), ends)
    return mpmath.exp(-h * h / 2) * scaled / (2 * mpmath.pi)


EXACT: dict[str, tuple[Any, list[Point], int]] = {
    "cosm1": (lambda x: mpmath.cos(x) - 1, [(x,) for x in LINE], 4),
    "exprel": (lambda x: mpmath.expm1(x) / x, [(x,) for x in LINE], 8),
    "powm1": (lambda x, y: x**y - 1, pairs(ABOVE, [1e-12, -0.3, 1.0, 2.5, -7.0]), 16),
    "boxcox": (lambda x, k: (x**k - 1) / k, pairs(ABOVE, LAMBDAS), 32),
    "boxcox1p": (lambda x, k: ((1 + x) ** k - 1) / k, pairs([-0.9, -1e-9, 1e-20, 0.3, 50.0], LAMBDAS), 16),
    "inv_boxcox": (lambda y, k: mpmath.exp(mpmath.log(1 + k * y) / k), pairs([-0.2, 1e-12, 0.3], SOME), 8),
    "inv_boxcox1p": (lambda y, k: mpmath.expm1(mpmath.log(1 + k * y) / k), pairs([-0.2, 1e-12, 0.3], SOME), 8),
    "pseudo_huber": (
        lambda d, r: d**2 * (mpmath.sqrt(1 + (r / d) ** 2) - 1),
        pairs([1e-9, 0.3, 50.0], [1e-12, -0.1, 1.0, -3.0, 1e5]),
        8,
    ),
}
"""Functions in mpmath's numbers, the points, and how many units the value and two derivatives may be off."""


def slopes(f: Any, point: Point, k: int) -> list[Any]:
    """The first and the second derivative by the k-th number, from differences of numbers of 200 digits."""
    at = [mpmath.mpf(x) for x in point]
    h = abs(at[k]) * mpmath.mpf(10) ** -40
    low, mid, high = (f(*at[:k], at[k] + step, *at[k + 1 :]) for step in (-h, 0, h))
    return [(high - low) / (2 * h), (high - 2 * mid + low) / h**2]


@pytest.mark.parametrize("name", EXACT)
def test_values_and_two_derivatives(name: str) -> None:
    exact, points, limit = EXACT[name]
    xs = [sg.tensor(np.array(column), requires_grad=True) for column in zip(*points, strict=True)]
    out = getattr(S, name)(*xs)
    with mpmath.workdps(200):
        rows = [(out, [exact(*map(mpmath.mpf, p)) for p in points])]
        for k, g in enumerate(sg.autograd.grad(out.sum(), xs, create_graph=True)):
            (bend,) = sg.autograd.grad(g.sum(), xs[k], retain_graph=True)
            want = [slopes(exact, p, k) for p in points]
            rows += [(g, [w[0] for w in want]), (bend, [w[1] for w in want])]
        for got, want in rows:
            for value, true, point in zip(got.tolist(), want, points, strict=True):
                assert abs(value - true) <= limit * mpmath.mpf(2) ** -52 * abs(true) + 1e-300, point


def test_box_and_cox_at_zero() -> None:
    """(x^λ - 1)/λ is log(x) + λ log(x)²/2 + λ² log(x)³/6 … there."""
    for call, size in ((S.boxcox, np.log(3.0)), (S.boxcox1p, np.log(4.0))):
        at = sg.tensor(0.0, dtype=sg.float64, requires_grad=True)
        out = call(sg.tensor(3.0, dtype=sg.float64), at)
        (slope,) = sg.autograd.grad(out, at, create_graph=True)
        found = [out.item(), slope.item(), sg.autograd.grad(slope, at)[0].item()]
        np.testing.assert_allclose(found, [size, size**2 / 2, size**3 / 3], rtol=1e-15)
    at = sg.tensor(0.0, dtype=sg.float64, requires_grad=True)
    y = S.inv_boxcox(sg.tensor(0.5, dtype=sg.float64), at)
    np.testing.assert_allclose(
        [y.item(), sg.autograd.grad(y, at)[0].item()], [np.exp(0.5), -np.exp(0.5) / 8], rtol=1e-15
    )


def test_exprel_of_every_order_at_zero() -> None:
    g = x = sg.tensor(0.0, dtype=sg.float64, requires_grad=True)
    for n in range(5):
        g = S.exprel(x) if not n else sg.autograd.grad(g, x, create_graph=True)[0]
        assert g.item() == pytest.approx(1 / (n + 1), rel=1e-15)


@pytest.mark.parametrize("h", [0.0, 1e-6, 0.5, 2.5, 6.0, 20.0])
def test_owens_t(h: float) -> None:
    steep = [1e-9, 0.2, 0.75, 1.0, 1.1, 3.0, 1e5]
    found = S.owens_t(np.full(7, h), np.array(steep))
    with mpmath.workdps(30):
        for a, value in zip(map(mpmath.mpf, steep), found, strict=True):
            above, far = (mpmath.erfc(u / mpmath.sqrt(2)) / 2 for u in (mpmath.mpf(h), h * a))
            true = owen(mpmath.mpf(h), a) if a <= 1 else (above + far) / 2 - above * far - owen(h * a, 1 / a)
            assert abs(value - true) <= 2e-15 * true
    np.testing.assert_array_equal(S.owens_t(-h, -np.array(steep)), -found)


def test_erfi() -> None:
    x = np.array([1e-9, -0.3, 1.0, 5.0, -12.0, 26.0])
    with mpmath.workdps(30):
        want = [float(mpmath.erfi(v)) for v in map(mpmath.mpf, x)]
    np.testing.assert_allclose(S.erfi(x), want, rtol=3e-15)


@pytest.mark.peer
@pytest.mark.parametrize("name", [*EXACT, "owens_t", "erfi"])
def test_far_out_they_are_scipys(name: str) -> None:
    """Also at the ends; SciPy has nan at some where a limit is known."""
    special = pytest.importorskip("scipy.special")
    ends = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, -1.0, 1.0, -0.5, 3.0])
    count = 1 if name in ("cosm1", "exprel", "erfi") else 2
    points = [axis.ravel() for axis in np.meshgrid(*[ends] * count)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        got, want = getattr(S, name)(*points), getattr(special, name)(*points)
    none = np.isnan(points).any(0)
    known = np.isfinite(want) & ~none
    np.testing.assert_allclose(got[known], want[known], rtol=1e-13)
    assert np.isnan(got[none & np.isnan(want)]).all()


def test_large_arrays_and_single_precision() -> None:
    """Some of many are as by themselves where they are many still: erfc of few goes another way, a unit apart."""
    x = np.linspace(-3, 3, 40_001)
    np.testing.assert_array_equal(S.owens_t(x, 0.5 * x)[::1000], S.owens_t(x[::1000], 0.5 * x[::1000]))
    np.testing.assert_array_equal(S.exprel(x)[::1000], S.exprel(x[::1000]))
    for call in (S.cosm1, S.exprel, S.erfi, lambda x: S.owens_t(x, 0.5 * x), lambda x: S.pseudo_huber(abs(x) + 1, x)):
        single = call(sg.tensor(x[::999].astype(np.float32)))
        assert single.dtype == sg.float32
        wide = call(sg.tensor(x[::999].astype(np.float32).astype(np.float64)))
        np.testing.assert_allclose(single.numpy(), wide.numpy(), rtol=4e-7, atol=1e-12)


def test_box_and_cox_near_zero_with_large_powers() -> None:
    """What 1 + x rounds away is all there is, and the power makes it large."""
    x, k = np.array([1e-20, 1e-20, -1e-20, 1e-9, 1e-20]), np.array([1e300, -1e300, 1e300, 1e300, 3e20])
    want = [np.inf, 1e-300, -1e-300, np.inf, float(mpmath.expm1(3) / mpmath.mpf(3e20))]
    np.testing.assert_allclose(S.boxcox1p(x, k), want, rtol=1e-15)


@pytest.mark.parametrize("number", [2, 0.3, 2.5, -1.7, 1e300])
@pytest.mark.parametrize("asked", [False, True])  # a tensor of which something was asked goes another way
def test_numbers_beside_single_precision(number: float, asked: bool) -> None:
    """A number is in single precision what the entries are, on machines whose NumPy has powers of its own, too."""
    entries = np.array([0.7, 1.3, 2.0, 3.1], np.float32)
    rounded, x = single.smooth(kernels.power), sg.tensor(entries)
    assert not asked or x._version == 0
    with np.errstate(all="ignore"):
        base, wide = np.float64(np.float32(number)), entries.astype(np.float64)
        for want, *got in (
            (base**wide, rounded(number, entries), (number**x).numpy()),
            (wide**base, rounded(entries, number), (x**number).numpy()),
        ):
            for found in got:
                assert found.dtype == np.float32
                np.testing.assert_allclose(found, want.astype(np.float32), rtol=3e-7)

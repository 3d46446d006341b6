"""Special functions against mpmath, in units in the last place, and against SciPy under its names."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels

NEAR = np.concatenate([np.geomspace(1e-8, 1, 24), np.linspace(1.05, 12, 40)])
FAR = np.concatenate([NEAR, np.geomspace(12, 600, 12)])
BELOW_ONE = np.concatenate([1 - np.geomspace(1e-14, 0.5, 20), np.linspace(-3, 0.5, 30), -np.geomspace(4, 1e5, 8)])


def units(kernel, exact, x, amplitude=0.0):
    """The distances from the exact values, in units of the last place of these (or of an amplitude)."""
    with mpmath.workdps(40):
        want = [mpmath.re(exact(mpmath.mpf(float(v)))) for v in x]
        away = [float(abs(mpmath.mpf(float(g)) - w)) for g, w in zip(kernel(x), want, strict=True)]
    return np.array(away) / np.spacing(np.maximum(np.abs([float(w) for w in want]), amplitude))


def dawson(x):
    with mpmath.workdps(90):
        return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


def spherical(bessel, n):
    half = mpmath.mpf(1) / 2
    return lambda x: mpmath.sqrt(mpmath.pi / (2 * x)) * bessel(n + half, x)


FUNCTIONS = {
    "gamma": (kernels.gamma_function, mpmath.gamma, NEAR),
    "exp1": (lambda x: kernels.expn(x, 1), mpmath.e1, FAR),
    "expn": (lambda x: kernels.expn(x, 3), lambda x: mpmath.expint(3, x), FAR),
    "expi": (kernels.expi, mpmath.ei, FAR),
    "expi below 0": (lambda x: kernels.expi(-x), lambda x: mpmath.ei(-x), FAR),
    "sici": (kernels.sine_integral, mpmath.si, FAR),
    "dawsn": (kernels.dawsn, dawson, FAR),
    "fresnel S": (kernels.fresnels, mpmath.fresnels, FAR),
    "fresnel C": (kernels.fresnelc, mpmath.fresnelc, FAR),
    "erfcinv": (
        lambda x: kernels.erfcinv(x / 20),
        lambda x: mpmath.erfinv(1 - mpmath.mpf(float(x) / 20)),
        FAR[FAR < 20],
    ),
    "spence": (kernels.spence, lambda x: mpmath.polylog(2, 1 - x), NEAR),
    "ellipk": (kernels.ellipk, mpmath.ellipk, BELOW_ONE),
    "ellipe": (kernels.ellipe, mpmath.ellipe, BELOW_ONE),
    "airy_ai": (kernels.airy_ai, mpmath.airyai, FAR[FAR < 100]),
    "airy_ai_slope": (kernels.airy_ai_slope, lambda x: mpmath.airyai(x, derivative=1), FAR[FAR < 100]),
    "airy_bi": (kernels.airy_bi, mpmath.airybi, FAR[FAR < 100]),
    "airy_bi_slope": (kernels.airy_bi_slope, lambda x: mpmath.airybi(x, derivative=1), FAR[FAR < 100]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_last_digits(name):
    kernel, exact, x = FUNCTIONS[name]
    found = units(kernel, exact, x)
    assert np.median(found) <= 2, name
    assert np.max(found) <= 12, (name, x[np.argmax(found)], np.max(found))


OSCILLATING = {
    "cosine integral": (kernels.cosine_integral, mpmath.ci, lambda x: 1 / np.maximum(x, 1)),
    "airy_ai": (lambda x: kernels.airy_ai(-x), lambda x: mpmath.airyai(-x), lambda x: x**-0.25 / 2),
    "airy_bi": (lambda x: kernels.airy_bi(-x), lambda x: mpmath.airybi(-x), lambda x: x**-0.25 / 2),
    "spherical_jn": (
        lambda x: kernels.spherical_jn(x, 2),
        spherical(mpmath.besselj, 2),
        lambda x: 1 / (x + 5),
    ),
    "spherical_yn": (
        lambda x: kernels.spherical_yn(x, 2),
        spherical(mpmath.bessely, 2),
        lambda x: 1 / (x + 5),
    ),
}


@pytest.mark.parametrize("name", OSCILLATING)
def test_last_digits_of_the_amplitude(name):
    kernel, exact, amplitude = OSCILLATING[name]
    x = FAR[(FAR > 1e-3) & (FAR < 100)]
    assert np.max(units(kernel, exact, x, amplitude(x))) <= 16, name


@pytest.mark.parametrize("high", [8.0, 60.0, 2000.0])
def test_beta(high):
    a, b = np.random.default_rng(3).uniform(0.01, high, (2, 60))
    a[:20] /= high
    pairs = [(mpmath.mpf(p), mpmath.mpf(q)) for p, q in zip(a, b, strict=True)]
    with mpmath.workdps(40):
        want = [float(mpmath.loggamma(p) + mpmath.loggamma(q) - mpmath.loggamma(p + q)) for p, q in pairs]
        values = [float(mpmath.beta(p, q)) for p, q in pairs]
    # Where B is 1 its logarithm has the digits of the difference.
    np.testing.assert_allclose(kernels.betaln(a, b), want, rtol=3e-14, atol=3e-15)
    np.testing.assert_allclose(kernels.beta_function(a, b), values, rtol=2e-15 if high < 80 else 1e-12, atol=1e-300)


def test_powers_of_large_parameters_keep_their_digits():
    """Their exponents are hundreds, whose rounding was the error: 900 last places of P(500, 100), 90 of B(88, 154)."""
    rng = np.random.default_rng(5)
    a = 10 ** rng.uniform(1, 3, 25)
    x = a * np.exp(rng.normal(0, 1, 25))
    with mpmath.workdps(40):
        lower = [mpmath.gammainc(mpmath.mpf(p), 0, mpmath.mpf(q), regularized=True) for p, q in zip(a, x, strict=True)]
        rising = [mpmath.rf(mpmath.mpf(p), mpmath.mpf(q)) for p, q in zip(a, x % 5, strict=True)]
        both = [mpmath.beta(mpmath.mpf(p), mpmath.mpf(q)) for p, q in zip(a, x, strict=True)]
        far = mpmath.rf(mpmath.mpf(1e8), mpmath.mpf(2.5))
    for found, want in ((kernels.gammainc(a, x), lower), (kernels.poch(a, x % 5), rising)):
        np.testing.assert_allclose(found, np.array(want, float), rtol=4e-15, atol=1e-305)
    values = np.array(both, float)
    seen = values > 1e-290
    np.testing.assert_allclose(kernels.beta_function(a, x)[seen], values[seen], rtol=4e-15)
    assert kernels.poch(1e8, 2.5) == pytest.approx(float(far), rel=1e-15)  # 6e8 last places through log Γ


def test_incomplete_beta_next_to_one():
    """The continued fraction lost 200 to 2,000 last places where x is next to 1."""
    rows = [(564.0, 0.033, 0.99993), (560.9, 31.6, 0.9393), (46.03, 0.109, 0.98368), (5.0, 0.05, 0.98)]
    with mpmath.workdps(40):
        want = [float(mpmath.betainc(*map(mpmath.mpf, (a, b)), 0, mpmath.mpf(x), regularized=True)) for a, b, x in rows]
    np.testing.assert_allclose(kernels.betainc(*np.array(rows).T), want, rtol=3e-15)


@pytest.mark.parametrize("n", [0, 7, 30])
def test_bessel_functions_of_the_first_kind_far_out(n):
    """The trapezoidal rule gave 80 last places of the amplitude at 200, and scipy's asymptotic series gives 10^4."""
    x = np.random.default_rng(6).uniform(n, n * n + 60, 20)
    assert np.max(units(lambda x: kernels.bessel_j(x, n), lambda v: mpmath.besselj(n, v), x, 0.4 / np.sqrt(x))) <= 16


def test_slopes_of_fresnel_integrals_far_out():
    x = np.concatenate([FAR, [1.5e5 + 0.1, 3.1e9, -7.3]])
    for cosine, wave in ((False, mpmath.sin), (True, mpmath.cos)):
        found = units(
            lambda x, c=cosine: kernels.fresnel_slope(x, c), lambda v, w=wave: w(mpmath.pi * v * v / 2), x, 0.1
        )
        assert np.max(found) <= 2
    t = sg.tensor(np.array([3.0, 1e5 + 0.5]), requires_grad=True)
    sum(sg.special.fresnel(t)).sum().backward()
    with mpmath.workdps(40):
        exact = [
            float(mpmath.sin(mpmath.pi * v * v / 2) + mpmath.cos(mpmath.pi * v * v / 2))
            for v in map(mpmath.mpf, t.tolist())
        ]
    np.testing.assert_allclose(t.grad.numpy(), exact, rtol=1e-15)


def test_slopes_of_scaled_bessel_functions_of_higher_order():
    x = np.array([3.5, 8.27, 20.0])
    with mpmath.workdps(40):
        want = [float(mpmath.diff(lambda v: mpmath.exp(v) * mpmath.besselk(5, v), mpmath.mpf(v))) for v in x]
    np.testing.assert_allclose(kernels.bessel_ke_slope(x, 5), want, rtol=3e-15)


ORDERS = np.array([0.5, 1.5, 2.506, 0.003, 20.4, 77.7, 3.234])
SIZES = np.array([2.0, 1e-3, 0.0117, 300.0, 9e-4, 41.0, 0.26])


def test_modified_bessel_functions_of_real_order():
    """SciPy's are off by 100 last places."""
    pairs = [(mpmath.mpf(v), mpmath.mpf(x)) for v, x in zip(ORDERS, SIZES, strict=True)]
    with mpmath.workdps(40):
        k = [float(mpmath.besselk(v, x)) for v, x in pairs]
        i = [float(mpmath.exp(-x) * mpmath.besseli(v, x)) for v, x in pairs]
        below = float(mpmath.exp(-2) * mpmath.besseli(-0.5, 2))
        by_order = [float(mpmath.diff(lambda t, x=x: mpmath.besselk(t, x), v)) for v, x in pairs]
        by_size = [float(mpmath.diff(lambda t, v=v: mpmath.exp(-t) * mpmath.besseli(v, t), x)) for v, x in pairs]
    v, x = (sg.tensor(a, requires_grad=True) for a in (ORDERS, SIZES))
    y = sg.special.kv(v, x)
    np.testing.assert_allclose(y.detach().numpy(), k, rtol=1e-15)
    y.sum().backward()
    np.testing.assert_allclose(v.grad.numpy(), by_order, rtol=4e-15)
    np.testing.assert_allclose(
        [sg.special.ive(a, np.float64(b)) for a, b in zip(ORDERS, SIZES, strict=True)], i, rtol=4e-15
    )
    assert sg.special.ive(-0.5, np.float64(2.0)) == pytest.approx(below, rel=1e-14)
    slopes = []
    for order, size in zip(ORDERS, SIZES, strict=True):
        t = sg.tensor(size, requires_grad=True)
        sg.special.ive(float(order), t).backward()
        slopes.append(t.grad.item())
    np.testing.assert_allclose(slopes, by_size, rtol=3e-13)


def test_real_orders_at_the_ends_and_as_scipy_has_them():
    special = pytest.importorskip("scipy.special")
    x = np.array([0.0, -1.0, np.inf, np.nan, 1e-30, 640.0])
    for name in ("kv", "kve", "iv", "ive"):
        for v in (0.5, 1.5, 2.25):
            found, want = getattr(sg.special, name)(v, x), getattr(special, name)(v, x)
            known = ~(np.isinf(x) & np.isnan(want))  # SciPy's ive(0.5, inf) is nan
            np.testing.assert_allclose(found[known], want[known], rtol=2e-13)
    v = np.array([[0.3], [1.0], [-2.5]])
    np.testing.assert_allclose(sg.special.kv(v, np.array([0.2, 3.0])), special.kv(v, [0.2, 3.0]), rtol=3e-14)
    with pytest.raises(sg.errors.ArgumentError, match="kv and kve are differentiable"):
        sg.special.iv(sg.tensor([0.5]), 1.0)


def test_the_kernel_of_matern_learns_its_smoothness():
    """2^(1-v)/Γ(v) (√(2v) r)^v K_v(√(2v) r) and its derivatives, by a program too."""
    S = sg.special

    def matern(v, r):
        s = sg.sqrt(2 * v) * r
        return 2 ** (1 - v) / S.gamma(v) * s**v * S.kv(v, s)

    r = np.array([0.1, 0.7, 2.0])
    np.testing.assert_allclose(matern(np.float64(0.5), r), np.exp(-r), rtol=2e-15)
    g = sg.func.grad(lambda v, r: matern(v, r).sum(), (0, 1))
    by_v, by_r = g(sg.tensor(0.5, dtype=sg.float64), sg.tensor(r))
    np.testing.assert_allclose(by_r.numpy(), -np.exp(-r), rtol=3e-15)
    h = 1e-5
    differences = (matern(np.float64(0.5 + h), r) - matern(np.float64(0.5 - h), r)).sum() / (2 * h)
    assert by_v.item() == pytest.approx(differences, rel=1e-8)
    one, two = sg.compile(g, np.float64(0.5), r)(np.float64(0.5), r)
    np.testing.assert_allclose([one, *two], [by_v.item(), *by_r.tolist()], rtol=1e-14)


def test_tails_of_students_distribution():
    """By a rounded squared sine they were off by 140 last places, the slopes by t by 440."""
    df, t = np.array([512.0, 696.6, 3.5, 1.0, 77.0]), np.array([-6.41, -5.03, -1e5, 0.3, 4.4])
    with mpmath.workdps(40):
        want, slopes = [], []
        for n, v in zip(map(mpmath.mpf, df), map(mpmath.mpf, t), strict=True):
            tail = mpmath.betainc(n / 2, mpmath.mpf(1) / 2, 0, n / (n + v * v), regularized=True) / 2
            want.append(float(tail if v < 0 else 1 - tail))
            slopes.append(
                float((1 + v * v / n) ** (-(n + 1) / 2) / mpmath.sqrt(n) / mpmath.beta(n / 2, mpmath.mpf(1) / 2))
            )
    x = sg.tensor(t, requires_grad=True)
    found = sg.special.stdtr(df, x)
    found.sum().backward()
    np.testing.assert_allclose(found.detach().numpy(), want, rtol=5e-15)
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=2e-14)
    ends = sg.special.stdtr(np.array([3.0, 2.0, 2.0, 0.0, 1.0]), np.array([0.0, np.inf, -np.inf, 1.0, np.nan]))
    np.testing.assert_array_equal(ends, [0.5, 1.0, 0.0, np.nan, np.nan])


def test_rising_factorials_of_either_sign():
    np.testing.assert_allclose(
        sg.special.poch(np.array([-2.5, -2.5, 0.0]), np.array([1.0, 2.3, 2.0])), [-2.5, 6.157933853294983, 0.0]
    )


@pytest.mark.parametrize(
    ("high", "step"), [(5.0, 1), (80.0, 1), (3000.0, 8), pytest.param(3000.0, 1, marks=pytest.mark.slow)]
)
def test_incomplete_beta(high, step):
    """mpmath takes long for large parameters: of these every eighth triple, and all of them in the slow run."""
    rng = np.random.default_rng(4)
    a, b = rng.uniform(0.05, high, (2, 40))
    mean = a / (a + b)
    x = np.clip(mean + rng.normal(size=40) * np.sqrt(mean * (1 - mean) / (a + b + 1)), 1e-3, 1 - 1e-3)
    a, b, x = a[::step], b[::step], x[::step]
    with mpmath.workdps(40):
        want = [float(mpmath.betainc(p, q, 0, v, regularized=True)) for p, q, v in zip(a, b, x, strict=True)]
    np.testing.assert_allclose(kernels.betainc(a, b, x), want, rtol=2e-13)


CALLS = """
S.gamma(x), S.factorial(x), S.gamma(-x - 0.25)
S.poch(x, 2.5), S.binom(x + 3, x)
S.beta(x, y), S.betaln(x, y), S.beta(-x - 0.25, y)
S.betainc(x, y, 0.3), S.betainc(2.0, 3.0, e)
S.exp1(x), S.expi(x), S.expi(-x), [S.expn(n, x) for n in (0, 1, 2, 5)]
S.exp1(e), S.expi(e), S.expn(2, e)
S.sici(x), S.sici(-x)[0]
S.fresnel(x), S.fresnel(-x), S.fresnel(e)
S.dawsn(x), S.dawsn(-x), S.dawsn(e)
S.erfcinv(x / 20), S.erfcinv(1e-30 * x), S.erfcinv(e)
S.rel_entr(x, y), S.kl_div(x, y), S.rel_entr(e, y[:3]), S.kl_div(e, 0 * e), S.log_expit(x - 3)
[S.j0(x), S.j1(x), S.y0(x), S.y1(x), S.k0(x), S.k1(x), S.k0e(x), S.k1e(x)]
[f(n, x) for n in (-3, -2, 0, 4) for f in (S.jv, S.yv, S.iv, S.kv, S.ive, S.kve)]
S.spence(x), S.spence(e)
S.ellipk(-x), S.ellipe(-x), S.ellipk(e), S.ellipe(e)
S.ellipkinc(x, 0.7), S.ellipeinc(x, -2.0), S.ellipkinc(-x, e[:1]), S.ellipeinc(1.2, e), S.ellipkinc(e, 0.5)
S.airy(x), S.airy(-x), S.airy(e)
S.wofz(x + 1j * y), S.wofz(x - 1j * y), S.wofz(x), S.wofz(e), S.voigt_profile(x, y, 0.5), S.voigt_profile(-x, 2.0, y)
S.voigt_profile(x, 0.0, y), S.voigt_profile(x, y, 0.0), S.voigt_profile(x, 0 * y, y), S.voigt_profile(1.0, 0.0, 2.0)
S.ellipj(x, 0.3), S.ellipj(-x, 1.0), S.ellipj(0.7, e), S.ellipj(e, 0.0), S.ellipj(x, -0.5 * y)[0]
S.rgamma(x), S.rgamma(-x), S.rgamma(e), S.rgamma(-x - 150.0), S.rgamma(-10 * e)
[S.spherical_jn(n, x) for n in (0, 1, 4)], [S.spherical_yn(n, x) for n in (0, 1, 4)]
S.spherical_jn(2, x, derivative=True), S.spherical_yn(0, x, derivative=True)
S.chdtr(y, x), S.chdtrc(y, x), S.gdtr(x, y, 0.3), S.gdtrc(x, y, 0.3), S.betaincc(x, y, 0.3)
S.stdtr(x, -y), S.stdtr(x, y), S.stdtr(3.0, 1e4 * e - 1e4), S.stdtr(3.0, e), S.fdtr(x, y, 2.5), S.fdtrc(x, y, 2.5)
S.bdtr(e, 3, 0.3), S.bdtrc(e, 3, 0.3), S.nbdtr(2, 3, y / 5), S.pdtr(e, 2.5), S.pdtrc(e, 2.5)
[S.spherical_jn(n, -x) for n in (0, 1, 4)], [S.spherical_yn(n, -x) for n in (0, 1, 4)]
""".strip().splitlines()


@pytest.mark.parametrize("line", CALLS)
def test_line_as_in_scipy(line):
    special = pytest.importorskip("scipy.special", reason="scipy is the referee of these names")
    x, y, e = np.array([0.25, 1.0, 3.5, 17.0]), np.array([2.0, 0.5, 1.5, 4.0]), np.array([0.0, 1.0, np.nan])

    def flat(found):
        return np.concatenate([flat(part) for part in found]) if isinstance(found, (tuple, list)) else np.ravel(found)

    ours, theirs = (flat(eval(line, {"S": module, "x": x, "y": y, "e": e})) for module in (sg.special, special))
    np.testing.assert_allclose(ours, theirs, rtol=2e-13, atol=1e-15)


SLOPES = [  # derivatives by the parameters, from mpmath with 50 digits
    ("gammainc_slope", (0.05, 0.001), (1,), -4.6618130526896797),
    ("gammainc_slope", (0.3, 1.7), (1,), -0.14172778451101945),
    ("gammainc_slope", (4.5, 3.25), (1,), -0.18108604993911418),
    ("gammainc_slope", (9.5, 11.0), (1,), -0.10890773253543383),
    ("gammainc_slope", (80.0, 75.5), (1,), -0.040291247813218045),
    ("gammainc_slope", (1000.0, 1040.0), (1,), -0.0056749465075921608),
    ("gammainc_slope", (0.75, 0.5), (2,), 0.33364901323850716),
    ("gammainc_slope", (30.0, 28.0), (2,), 0.0048836186038393737),
    ("gammainc_slope", (5.0, 9.0), (3,), -0.0068830048030243622),
    ("betainc_slope", (0.5, 0.25, 0.125), (1, 0), -0.44007671988854145),
    ("betainc_slope", (0.5, 0.25, 0.875), (0, 1), 1.3307447256629888),
    ("betainc_slope", (3.0, 7.5, 0.25), (1, 0), -0.21225518326405862),
    ("betainc_slope", (40.0, 12.5, 0.75), (0, 1), 0.095397673595572062),
    ("betainc_slope", (700.0, 300.0, 0.6875), (1, 0), -0.0057787470205279698),
    ("betainc_slope", (2.0, 3.5, 0.5), (1, 1), 0.049760233814755035),
    ("betainc_slope", (0.5, 6.0, 0.0625), (2, 0), 0.45485775577185222),
    ("zeta_slope", (1.0625, 0.5), (1,), -254.58466382168178),
    ("zeta_slope", (2.5, 3.0), (1,), -0.26480968239264157),
    ("zeta_slope", (7.0, 0.0625), (2,), 2063529982.0496667),
    ("zeta_slope", (20.0, 40.0), (1,), -8.9787314876733915e-32),
]


@pytest.mark.parametrize(("name", "args", "orders", "want"), SLOPES)
def test_derivatives_by_parameters(name, args, orders, want):
    got = getattr(kernels, name)(*map(np.float64, args), *orders)
    np.testing.assert_allclose(got, want, rtol=5e-15 if sum(orders) == 1 else 5e-14)


FAR_OUT = [  # the same: parameters for which series and continued fractions take millions of terms, angles far out
    ("gammainc", (5e3, 4.9e3), 0.0779449562265139139),
    ("gammainc", (1e10, 1e10), 0.500001329807601339),
    ("gammaincc", (1e15, 1e15 + 2.0**26), 0.0169117921269693584),
    ("gammaincc", (1e20, 1e20), 0.499999999986701924),
    ("gammaincc", (1e20, 1e20 + 2.0**35), 0.000295213994100025024),
    ("betainc", (1e5, 40.0, 0.9995), 0.06418851067581932),
    ("lambertw", (1e100,), 224.8431064451185),
    ("lambertw", (1e300,), 684.2472086297608),
    ("lambertw", (np.inf,), np.inf),
    ("airy_ai", (-1e8,), -0.005554128800056995),
    ("airy_ai", (-1e12,), -0.00042921836070697696),
    ("airy_ai", (1e38,), 0.0),
    ("hurwitz", (np.inf, 1.0), 1.0),
    ("hurwitz", (np.inf, 1.5), 0.0),
    ("hurwitz", (np.inf, 0.5), np.inf),
    ("airy_ai", (1e150,), 0.0),
    ("betainc", (2.0**40, 2.0**40, 0.5 - 2.0**-22), 0.23975006109348923),
    ("betainc", (50.0, 1e10, 6e-9), 0.9155933252477093),
    ("polygamma", (-1e6 - 0.5, 2), -9.99998000002749997e-13),
    ("polygamma", (-12345.0625, 3), 393229.471253792258),
    ("digamma", (-123456.125,), 19.3081207505358798),
]


@pytest.mark.parametrize(("name", "args", "want"), FAR_OUT)
def test_values_far_out(name, args, want):
    args = (np.float64(args[0]), args[1]) if name == "polygamma" else map(np.float64, args)
    np.testing.assert_allclose(getattr(kernels, name)(*args), want, rtol=2e-15)


def test_derivatives_by_parameters_at_the_ends():
    end = np.array([0.0, np.inf, -1.0, np.nan])
    np.testing.assert_array_equal(kernels.gammainc_slope(2.0, end, 1), [0, 0, np.nan, np.nan])
    np.testing.assert_array_equal(kernels.betainc_slope(2.0, 3.0, end, 1, 0), [0, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(kernels.betainc_slope(2.0, 3.0, np.array([1.0]), 0, 1), [0])
    np.testing.assert_array_equal(kernels.zeta_slope(2.0, end, 1), [np.nan, 0, np.nan, np.nan])


def test_derivatives_by_parameters_are_passed_on():
    a = sg.tensor([0.5, 20.0], dtype=sg.float64, requires_grad=True)
    (lower,) = sg.autograd.grad(sg.special.gammainc(a, 2.0).sum(), a)
    (upper,) = sg.autograd.grad(sg.igammac(a, sg.tensor([2.0, 2.0], dtype=sg.float64)).sum(), a)
    np.testing.assert_array_equal(lower.numpy(), -upper.numpy())
    many = sg.tensor(np.full((3, 2), 0.25), requires_grad=True)
    (by_a, by_x) = sg.autograd.grad(sg.special.betainc(a, a[:1], many).sum(), [a, many])
    assert by_a.shape == (2,)
    assert by_x.shape == (3, 2)


def test_students_distribution_by_its_degrees_of_freedom():
    """Smooth where t is 0, of which the usual incomplete beta function has a root."""
    df = sg.tensor([1.5, 3.0, 30.0], dtype=sg.float64, requires_grad=True)
    t = sg.tensor([0.0, -2.0, 1.5], dtype=sg.float64, requires_grad=True)
    slopes = sg.autograd.grad(sg.special.stdtr(df, t).sum(), [df, t])
    assert abs(slopes[0][0].item()) < 1e-15
    np.testing.assert_allclose(slopes[0].numpy()[1:], [-0.015255481525655007, 0.00017296409189266232], rtol=1e-13)
    np.testing.assert_allclose(
        slopes[1].numpy(), [0.34073498128869364, 0.067509660663892904, 0.12896160173967176], rtol=1e-14
    )


@pytest.mark.parametrize(("df", "t", "want"), [  # by df, by both, twice by df
    (953.5, 3.5e-6, (3.838509473185085e-13, 1.0967169923520258e-07, -8.050349552936408e-16)),
    (0.25, -1e-8, (-3.15379280013531e-09, 0.31537928001353105, 1.1477451225472763e-08)),
    (20.0, 0.125, (3.097565216039787e-05, 0.0002514948957272277, -3.0742210009688224e-06)),
    (4.0, -1e-3, (-5.6948100098494126e-06, 0.005694815449501397, 2.6862981939393584e-06)),
])  # fmt: skip
def test_slopes_by_degrees_of_freedom_have_digits_next_to_zero(df, t, want):
    at = [sg.tensor(value, dtype=sg.float64, requires_grad=True) for value in (df, t)]
    (slope,) = sg.autograd.grad(sg.special.stdtr(*at), at[0], create_graph=True)
    twice, both = sg.autograd.grad(slope, at)
    np.testing.assert_allclose([slope.item(), both.item()], want[:2], rtol=1e-11)
    np.testing.assert_allclose(twice.item(), want[2], rtol=1e-8)


@pytest.mark.parametrize(("name", "at", "want"), [
    ("spence", 1.0, [-1, 1 / 2, -2 / 3]),
    ("ellipk", 0.0, [np.pi / 8, 9 * np.pi / 64, 75 * np.pi / 256]),
    ("ellipe", 0.0, [-np.pi / 8, -3 * np.pi / 64, -15 * np.pi / 256]),
    ("dawsn", 0.0, [1, 0, -4]),
])  # fmt: skip
def test_derivatives_where_the_quotients_have_none(name, at, want):
    x = sg.tensor(at, dtype=sg.float64, requires_grad=True)
    y, found = getattr(sg.special, name)(x), []
    for _ in want:
        (y,) = sg.autograd.grad(y, x, create_graph=True)
        found.append(float(y))
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["ellipkinc", "ellipeinc"])
def test_incomplete_elliptic_integrals(name):
    phi, m = np.meshgrid(np.linspace(-4, 4, 9), [-5.0, -0.1, 0.0, 0.3, 0.9, 0.999])
    exact = mpmath.ellipf if name == "ellipkinc" else mpmath.ellipe
    with mpmath.workdps(30):
        want = [float(exact(mpmath.mpf(p), mpmath.mpf(q))) for p, q in zip(phi.flat, m.flat, strict=True)]
    np.testing.assert_allclose(getattr(kernels, name)(phi, m).ravel(), want, rtol=5e-15, atol=1e-15)
    x = sg.tensor([0.3, 1.0], dtype=sg.float64, requires_grad=True)
    k = sg.tensor([0.0, 0.4], dtype=sg.float64, requires_grad=True)
    assert sg.autograd.gradcheck(getattr(sg.special, name), (x, k))
    assert sg.autograd.gradgradcheck(getattr(sg.special, name), (x, k))


def test_slopes_of_relative_entropy():
    x = sg.tensor([0.0, 0.5, 2.0], dtype=sg.float64, requires_grad=True)
    y = sg.tensor([1.0, 0.25, 2.0], dtype=sg.float64, requires_grad=True)
    sg.special.kl_div(x, y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [-np.inf, np.log(2), 0])
    np.testing.assert_allclose(y.grad.numpy(), [1, -1, 0])


def test_orders_are_whole_numbers():
    for call in (sg.special.expn, sg.special.spherical_jn, sg.special.spherical_yn):
        with pytest.raises(ValueError, match="needs a whole number n >= 0"):
            call(0.5, np.float64(1.0))


def test_logarithms_of_ratios_keep_their_digits_next_to_1():
    """No digit of ``kl_div`` was right at a distance of 1e-9, nor of ``logit`` at 1/2 + 1e-15."""
    rng = np.random.default_rng(8)
    away = 10 ** rng.uniform(-15, -0.5, 60) * rng.choice([-1, 1], 60)
    p, x, y = 0.5 + away, 3 * (1 + away), np.full(60, 3.0)
    with mpmath.workdps(60):
        exact = [(mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(c)) for a, b, c in zip(p, x, y, strict=True)]
        odds = np.array([mpmath.log(a / (1 - a)) for a, _, _ in exact], float)
        entropy = np.array([b * mpmath.log(b / c) for _, b, c in exact], float)
        gap = np.array([b * mpmath.log(b / c) - b + c for _, b, c in exact], float)
        slope = np.array([mpmath.log(b / c) for _, b, c in exact], float)
    np.testing.assert_allclose(sg.logit(sg.tensor(p)).numpy(), odds, rtol=4e-16)
    np.testing.assert_allclose(sg.special.rel_entr(x, y), entropy, rtol=5e-16)
    np.testing.assert_allclose(sg.special.kl_div(x, y), gap, rtol=1e-15)
    leaf = sg.tensor(x, requires_grad=True)
    sg.special.kl_div(leaf, sg.tensor(y)).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), slope, rtol=5e-16)
    single = sg.logit(sg.tensor(p.astype(np.float32))).numpy()
    wide = p.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(single, np.log1p((2 * wide - 1) / (1 - wide)), rtol=1.2e-7, atol=1e-12)


def test_distribution_of_ratios_of_variances():
    """Where z was next to 1 it had lost the digits of 1 - z: 180,000 last places of the values, 10^6 of the slopes."""
    rng = np.random.default_rng(9)
    p, q, x = 10 ** rng.uniform(-1, 2.3, 40), 10 ** rng.uniform(-1, 2.3, 40), 10 ** rng.uniform(-4, 4, 40)
    exact = {"fdtr": [], "fdtrc": [], "slope": []}
    with mpmath.workdps(40):
        for a, b, c in zip(p / 2, q / 2, x, strict=True):
            a, b, c = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(c)
            z, rest = a * c / (b + a * c), b / (b + a * c)
            exact["fdtr"].append(mpmath.betainc(a, b, 0, z, regularized=True))
            exact["fdtrc"].append(mpmath.betainc(b, a, 0, rest, regularized=True))
            exact["slope"].append(z**a * rest**b / mpmath.beta(a, b) / c)
    for name, sign in (("fdtr", 1), ("fdtrc", -1)):
        leaf = sg.tensor(x, requires_grad=True)
        value = getattr(sg.special, name)(sg.tensor(p), sg.tensor(q), leaf)
        value.sum().backward()
        np.testing.assert_allclose(value.detach().numpy(), np.array(exact[name], float), rtol=1e-14, atol=1e-300)
        np.testing.assert_allclose(sign * leaf.grad.numpy(), np.array(exact["slope"], float), rtol=1e-13, atol=1e-300)
    ends = [(0.0, 0.0), (np.inf, 1.0), (1e300, 1.0), (-1.0, np.nan)]
    for at, want in ends:
        np.testing.assert_equal(kernels.fdtr(3.0, 4.0, np.float64(at)), want)
        np.testing.assert_equal(kernels.fdtrc(3.0, 4.0, np.float64(at)), 1 - want)


def of_high_order(v, x, n, k):
    """The derivative of e^x K_v(x) of orders n by v and k by x, from the integral around its peak."""
    with mpmath.workdps(25):
        v, x = mpmath.mpf(v), mpmath.mpf(x)
        peak, width = mpmath.asinh(v / x), 1 / mpmath.sqrt(mpmath.hypot(v, x))

        def integrand(s):  # in widths, since quad's tolerance is absolute
            t = s * width
            less = 2 * mpmath.sinh(t / 2) ** 2
            both = mpmath.exp(v * t - x * less) + (-1) ** n * mpmath.exp(-v * t - x * less)
            return s**n * (-less / width**2) ** k * both / 2

        ends = sorted({max(peak / width + j, mpmath.mpf(0)) for j in (-12, -4, 0, 4, 12)})
        return mpmath.quad(integrand, ends) * width ** (1 + n + 2 * k)


@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)])
def test_bessel_functions_of_high_order(n, k):
    """A recurrence took a step for every whole number below: minutes at 4e11, and no digits of derivatives by x."""
    for v, x in ((200.5, 100.0), (5200.2, 31573.2), (4e11, 4e22), (3e5, 1e300)):
        found = kernels.real_kve(np.float64(v), np.float64(x), n, k)
        np.testing.assert_allclose(found, float(of_high_order(v, x, n, k)), rtol=5e-13)


def test_bessel_functions_of_high_order_at_the_ends_of_the_range():
    kv, kve = kernels.real_kv, kernels.real_kve
    v, x = np.array([3000.0, 1e4, 1e300, 250.0, np.inf, 200.0]), np.array([2000.0, 1e4, 1e300, 1e-3, 1.0, np.inf])
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_allclose(kv(v, x), [1.2183459060e-11, 0, 0, np.inf, np.inf, 0], rtol=1e-9)
        np.testing.assert_equal(kve(v, x), [np.inf] * 5 + [0])
        np.testing.assert_equal(kve(-v, x, 1), [-np.inf] * 5 + [0])


def test_beta_function_of_negative_arguments_far_out():
    """Where the gamma functions are out of range it was nan."""
    rng = np.random.default_rng(2)
    a = np.concatenate([[-2.5, -2.5, -1e6 - 0.5, -200.5, -3.3], rng.uniform(-200, 0, 20), rng.uniform(-300, 0, 20)])
    b = np.concatenate([[1e3, -300.7, 3.0, 300.0, 1e15], 10 ** rng.uniform(0, 5, 20), rng.uniform(-300, 0, 20)])
    with mpmath.workdps(60):
        want = np.array([float(mpmath.beta(mpmath.mpf(p), mpmath.mpf(q))) for p, q in zip(a, b, strict=True)])
    np.testing.assert_allclose(kernels.beta_function(a, b), want, rtol=2e-13)
    np.testing.assert_equal(kernels.beta_function(np.array([-300.5, -2.5]), np.array([100.5, -1.0])), [0.0, np.inf])
    slope = sg.tensor(-2.5, requires_grad=True, dtype=sg.float64)
    sg.special.beta(slope, sg.tensor(1e3).double()).backward()
    with mpmath.workdps(60):
        np.testing.assert_allclose(
            slope.grad.item(), float(mpmath.diff(lambda t: mpmath.beta(t, 1000), -2.5)), rtol=1e-11
        )

"""Logarithms, roots and multiples of what ends at 0 or 1: their derivatives are numbers where these are not."""

import mpmath
import numpy as np
import pytest

import symgrad as sg

POINTS = np.array([-1000.0, -300.0, -30.0, -2.0, 0.5, 3.0, 30.0, 300.0, 1000.0])


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


CASES = {
    "log of σ(1 - σ)": (
        lambda x: sg.log(sg.sigmoid(x) * (1 - sg.sigmoid(x))),
        lambda x: -mpmath.log1p(mpmath.exp(-x)) - mpmath.log1p(mpmath.exp(x)),
    ),
    "log of σ²": (lambda x: sg.log(sg.sigmoid(x) ** 2), lambda x: -2 * mpmath.log1p(mpmath.exp(-x))),
    "log of σ √σ": (
        lambda x: sg.log(sg.sigmoid(x) * sg.sqrt(sg.sigmoid(x))),
        lambda x: -3 * mpmath.log1p(mpmath.exp(-x)) / 2,
    ),
    "log odds": (lambda x: sg.log(sg.sigmoid(x) / (1 - sg.sigmoid(x))), lambda x: x),
    "log of the logistic density": (
        lambda x: sg.log(sg.exp(-x) / (1 + sg.exp(-x)) ** 2),
        lambda x: -x - 2 * mpmath.log1p(mpmath.exp(-x)),
    ),
    "log of 1 - tanh": (lambda x: sg.log(1 - sg.tanh(x)), lambda x: mpmath.log(2) - mpmath.log1p(mpmath.exp(2 * x))),
    "log of 1 + tanh": (lambda x: sg.log(1 + sg.tanh(x)), lambda x: mpmath.log(2) - mpmath.log1p(mpmath.exp(-2 * x))),
    "log of 1 - erf": (lambda x: sg.log(1 - sg.erf(x)), lambda x: mpmath.log(mpmath.erfc(x))),
    "log of 1 - erf²": (
        lambda x: sg.log(1 - sg.erf(x) ** 2),
        lambda x: mpmath.log(mpmath.erfc(x)) + mpmath.log(mpmath.erfc(-x)),
    ),
    "root of σ(1 - σ)": (
        lambda x: sg.sqrt(sg.sigmoid(x) * (1 - sg.sigmoid(x))),
        lambda x: mpmath.sqrt(logistic(x) * logistic(-x)),
    ),
}


def slope(f, order):
    for _ in range(order):
        f = sg.func.grad(lambda x, f=f: f(x).sum())
    return f


def inside(f, order):
    def g(x):
        y = f(x)
        for _ in range(order):
            (y,) = sg.autograd.grad(y.sum(), x, create_graph=True)
        return y

    return g


WAYS = {
    "eager": lambda f, order: lambda x: slope(f, order)(sg.tensor(x)).numpy(),
    "compiled": lambda f, order: sg.compile(slope(f, order)),
    "inside": lambda f, order: sg.compile(inside(f, order)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_of_what_saturates(name, order, way):
    f, exact = CASES[name]
    with mpmath.workdps(60):
        wanted = [mpmath.diff(exact, mpmath.mpf(x), order) for x in POINTS]
    np.testing.assert_allclose(WAYS[way](f, order)(POINTS), np.array(wanted, float), rtol=2e-3, atol=1e-10)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tails_times_what_outgrows_them(order):
    points = np.array([0.5, 3.0, 30.0, 300.0, 1000.0])
    with mpmath.workdps(60):
        wide = [mpmath.sqrt(mpmath.pi) * mpmath.mpf(x) for x in points]  # erfcx(x) is 1/(√π x) far out
        far = [-1 / w if order == 1 else 1 / w for w in wide]
        scale = [mpmath.factorial(order) / mpmath.mpf(x) ** order for x in points]
    for way in ("compiled", "inside"):
        got = WAYS[way](lambda x: (1 - sg.erf(x)) * sg.exp(x * x), order)(points)
        np.testing.assert_allclose(got[2:], np.array(far, float)[2:] * np.array(scale, float)[2:], rtol=5e-3)


def test_a_product_of_what_may_be_negative_has_no_logarithms_of_its_factors():
    x = np.array([-3.0, -2.0])
    got = sg.compile(slope(lambda x: sg.log(x * (x * sg.sigmoid(x))), 1))(x)
    np.testing.assert_allclose(got, 2 / x + 1 - 1 / (1 + np.exp(-x)), rtol=1e-12)


NEAR = np.array([1e-8, -1e-4, 1e-2, 0.3, 2.0, 30.0])
COTHS = {
    "Brillouin": (
        lambda x: 1.5 / sg.tanh(1.5 * x) - 0.5 / sg.tanh(x / 2),
        lambda x: 1.5 * mpmath.coth(1.5 * x) - mpmath.coth(x / 2) / 2,
    ),
    "Langevin": (lambda x: 1 / sg.tanh(x) - 1 / x, lambda x: mpmath.coth(x) - 1 / x),
    "x coth x": (lambda x: x / sg.tanh(x), lambda x: x * mpmath.coth(x)),
}


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", COTHS)
def test_differences_of_cotangents_near_their_poles(name, order):
    """B(x) was 0 at 1e-8, and the second derivative of x coth x was 0 there: its x was a copy of the other."""
    f, exact = COTHS[name]
    with mpmath.workdps(80):
        wanted = [mpmath.taylor(exact, mpmath.mpf(x), order)[order] * mpmath.factorial(order) for x in NEAR]
    got = sg.compile(slope(f, order))(NEAR)
    np.testing.assert_allclose(got, np.array(wanted, float), rtol=1e-12, atol=1e-25)


LOSSES = {
    "softplus": (sg.nn.functional.softplus, lambda x: mpmath.log1p(mpmath.exp(x))),
    "logsigmoid": (sg.nn.functional.logsigmoid, lambda x: -mpmath.log1p(mpmath.exp(-x))),
    "soft margin": (
        lambda x: sg.nn.functional.soft_margin_loss(x, sg.ones_like(x), reduction="none"),
        lambda x: mpmath.log1p(mpmath.exp(-x)),
    ),
    **{
        f"cross entropy with logits, of {share}": (
            lambda x, share=share: sg.nn.functional.binary_cross_entropy_with_logits(
                x, sg.full_like(x, share), reduction="none"
            ),
            lambda x, share=share: mpmath.log1p(mpmath.exp(x)) - share * x,
        )
        for share in (0.0, 0.3, 1.0)
    },
}


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_curvatures_of_losses_far_out_keep_their_digits(name, order):
    """σ(x) (1 - σ(x)) is 0 from x = 37 on; where it stands beside its mirror, a part of the curvature was missing."""
    f, exact = LOSSES[name]
    points = np.array([-200.0, -40.0, -30.0, -2.0, 0.5, 3.0, 30.0, 40.0, 200.0])
    with mpmath.workdps(200):
        wanted = [mpmath.diff(exact, mpmath.mpf(x), order) for x in points]
    np.testing.assert_allclose(WAYS["eager"](f, order)(points), np.array(wanted, float), rtol=1e-9)


@pytest.mark.parametrize("way", ["compiled", "inside"])
@pytest.mark.parametrize("order", [2, 3])
def test_programs_of_curvatures_of_cross_entropy_keep_their_digits(order, way):
    """They had 0.3 times what it is where the label is 0.7, as both σ(x) and σ(-x) stood beside 1 less them."""
    f, exact = LOSSES["cross entropy with logits, of 0.3"]
    points = np.array([-200.0, -40.0, -30.0, -2.0, 0.5, 3.0, 30.0, 40.0, 200.0])
    with mpmath.workdps(200):
        wanted = [mpmath.diff(exact, mpmath.mpf(x), order) for x in points]
    np.testing.assert_allclose(WAYS[way](f, order)(points), np.array(wanted, float), rtol=1e-9)


def test_mirrors_of_whole_numbers_are_not_taken():
    """They have no negative where they are without a sign."""
    x = np.array([0, 3, 250], np.uint8)
    f = lambda x: 1 - sg.sigmoid(x) + sg.sigmoid(-x) + sg.sigmoid(-1.0 * x)  # noqa: E731
    np.testing.assert_allclose(sg.compile(f)(x), f(sg.tensor(x)).numpy(), rtol=1e-6)

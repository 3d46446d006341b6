"""Derivatives that the chain rule loses far out: naive formulas at points where their parts overflow."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import symgrad as sg

POINTS = np.array([-12589.0, -1000.0, -745.0, -40.0, -1.0, 0.25, 3.0, 40.0, 709.9, 1000.0, 12589.0])


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


NAIVE = {
    "log1p(e^x)": (lambda x: sg.log1p(sg.exp(x)), sigmoid),
    "log(e^x + 1)": (lambda x: sg.log(sg.exp(x) + 1), sigmoid),
    "log(1 + e^-x)": (lambda x: sg.log(1 + sg.exp(-x)), lambda x: -sigmoid(-x)),
    "1 / (1 + e^-x)": (lambda x: 1 / (1 + sg.exp(-x)), lambda x: sigmoid(x) * sigmoid(-x)),
    "1 / (1 + e^x)": (lambda x: 1 / (1 + sg.exp(x)), lambda x: -sigmoid(x) * sigmoid(-x)),
    "reciprocal": (lambda x: (1 + sg.exp(-x)).reciprocal(), lambda x: sigmoid(x) * sigmoid(-x)),
    "e^x / (1 + e^x)": (lambda x: sg.exp(x) / (1 + sg.exp(x)), lambda x: sigmoid(x) * sigmoid(-x)),
    "e^x / (1 + e^x)²": (
        lambda x: sg.exp(x) / (1 + sg.exp(x)) ** 2,
        lambda x: sigmoid(x) * sigmoid(-x) * (1 - 2 * sigmoid(x)),
    ),
    "-log(1 / (1 + e^-x))": (lambda x: -sg.log(1 / (1 + sg.exp(-x))), lambda x: -sigmoid(-x)),
    "-log(1 - σ(x))": (lambda x: -sg.log(1 - sg.sigmoid(x)), sigmoid),
    "x / (1 + e^-x)": (lambda x: x / (1 + sg.exp(-x)), lambda x: sigmoid(x) + x * sigmoid(x) * sigmoid(-x)),
    "softplus²": (lambda x: sg.log1p(sg.exp(x)) ** 2, lambda x: 2 * mpmath.log1p(mpmath.exp(x)) * sigmoid(x)),
    "tanh": (lambda x: (sg.exp(x) - sg.exp(-x)) / (sg.exp(x) + sg.exp(-x)), lambda x: mpmath.sech(x) ** 2),
    "tanh of 2x": (lambda x: (sg.exp(2 * x) - 1) / (sg.exp(2 * x) + 1), lambda x: mpmath.sech(x) ** 2),
    "-tanh": (lambda x: (1 - sg.exp(2 * x)) / (1 + sg.exp(2 * x)), lambda x: -(mpmath.sech(x) ** 2)),
    "log cosh": (lambda x: sg.log(sg.cosh(x)), mpmath.tanh),
    "log(e^x + e^-x)": (lambda x: sg.log(sg.exp(x) + sg.exp(-x)), mpmath.tanh),
    "log(e^x + e^2x)": (lambda x: sg.log(sg.exp(x) + sg.exp(2 * x)), lambda x: 1 + sigmoid(x)),
    "log e^-x²": (lambda x: sg.log(sg.exp(-x * x)), lambda x: -2 * x),
    "e^x / (e^x + e^-2x)": (
        lambda x: sg.exp(x) / (sg.exp(x) + sg.exp(-2 * x)),
        lambda x: 3 * sigmoid(3 * x) * sigmoid(-3 * x),
    ),
    "its logarithm": (
        lambda x: sg.log(sg.exp(x) / (sg.exp(x) + sg.exp(-2 * x))),
        lambda x: 3 * sigmoid(-3 * x),
    ),
    "-e^2x and e^x": (
        lambda x: (sg.exp(x) - sg.exp(2 * x)) / (sg.exp(2 * x) + sg.exp(x)),
        lambda x: -(mpmath.sech(x / 2) ** 2) / 2,
    ),
}


@pytest.mark.parametrize(("naive", "slope"), NAIVE.values(), ids=NAIVE)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_naive_formulas_have_their_derivatives_far_out(naive, slope, dtype):
    x = sg.tensor(POINTS.astype(dtype), requires_grad=True)
    with np.errstate(all="ignore"):
        naive(x).sum().backward()
        alone = sg.tensor(POINTS[0].astype(dtype), requires_grad=True)
        naive(alone).backward()
    with mpmath.workdps(40):
        want = np.array([float(slope(mpmath.mpf(float(p)))) for p in x.detach().numpy()])
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(alone.grad.numpy(), want[0], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("keep", [True, False])
def test_shares_of_exponentials(keep):
    u = np.array([-2000.0, 0.0, 1000.0, 1001.0])
    x = sg.tensor(u, requires_grad=True)
    weights = sg.tensor([1.0, 2.0, 3.0, -1.0])
    with np.errstate(all="ignore"):
        (g,) = sg.autograd.grad((sg.exp(x) / sg.exp(x).sum(0, keepdim=keep) * weights).sum(), x)
        (logs,) = sg.autograd.grad((sg.log(sg.exp(x) / sg.exp(x).sum(0, keepdim=keep)) * weights).sum(), x)
    (want,) = sg.autograd.grad((x.softmax(0) * weights).sum(), x)
    np.testing.assert_allclose(g.numpy(), want.numpy(), rtol=1e-12)
    (want,) = sg.autograd.grad((x.log_softmax(0) * weights).sum(), x)
    np.testing.assert_allclose(logs.numpy(), want.numpy(), rtol=1e-12)


MEANS = {
    "along an axis": lambda u, v: (sg.exp(u) * v).sum() / sg.exp(u).sum(),
    "from the other side": lambda u, v: (v * sg.exp(u)).sum(0, keepdim=True) / sg.exp(u).sum(0, keepdim=True),
    "a product": lambda u, v: sg.exp(u) @ v / sg.exp(u).sum(),
    "a product from the other side": lambda u, v: v @ sg.exp(u) / sg.exp(u).sum(),
    "of rows": lambda u, v: (sg.exp(u * sg.ones(2, 1)) * v).sum(1) / sg.exp(u * sg.ones(2, 1)).sum(1),
    "of matrices": lambda u, v: sg.exp(u[None]) @ v[:, None] / sg.exp(u[None]).sum(1, keepdim=True),
}


@pytest.mark.parametrize("mean", MEANS.values(), ids=MEANS)
def test_means_with_exponentials_as_weights(mean):
    """Σeᵘv / Σeᵘ, a Boltzmann average or attention as it is written first, is Σ softmax(u) v."""
    u, v = np.array([-2000.0, 0.5, 1000.0, 1001.0]), np.array([1.0, 2.0, 3.0, -1.0])
    share = 1 / (1 + np.e)
    want = [0, 0, 4 * share * (1 - share), -4 * share * (1 - share)], [0, 0, share, 1 - share]
    times = 2 if mean is MEANS["of rows"] else 1
    given = [sg.tensor(a, requires_grad=True) for a in (u, v)]
    with np.errstate(all="ignore"):
        found = sg.autograd.grad(mean(*given).sum(), given)
        compiled = sg.compile(sg.func.grad(lambda u, v: mean(u, v).sum(), argnums=(0, 1)), u, v)(u, v)
        value = sg.compile(mean, u, v)(u, v)
    for eager, program, slope in zip(found, compiled, want, strict=True):
        np.testing.assert_allclose(eager.numpy(), np.multiply(times, slope), rtol=1e-12)
        np.testing.assert_allclose(program, np.multiply(times, slope), rtol=1e-12)
    np.testing.assert_allclose(value, np.full(value.shape, 3 * share - (1 - share)), rtol=1e-12)


def written_out(x):
    """Softmax as it is written first."""
    return sg.exp(x) / sg.exp(x).sum()


@pytest.mark.parametrize("shift", [0.0, 300.0, 400.0, 700.0])
def test_second_derivatives_of_softmax_where_squares_of_its_sum_overflow(shift):
    """They were 0, or half of what they are, from 355 on: y² is no number in the slope -x/y² of a quotient."""
    u, weights, v = np.array([0.1, -0.3, 0.2, 0.5]), np.array([1.0, 2.0, 3.0, -1.0]), np.array([0.5, -1.0, 2.0, 0.3])

    def products(f, u):
        x = sg.tensor(u, requires_grad=True)
        (g,) = sg.autograd.grad((f(x) * weights).sum(), x, create_graph=True)
        slope = sg.func.grad(lambda x: (f(x) * weights).sum())
        yield sg.autograd.grad((g * v).sum(), x)[0]
        yield sg.func.hessian(lambda x: (f(x) * weights).sum())(u) @ v
        yield sg.func.jvp(slope, (u,), (v,))[1]
        yield sg.func.grad(lambda x: sg.func.jvp(lambda x: (f(x) * weights).sum(), (x,), (v,))[1])(u)

    want = next(products(lambda x: x.softmax(0), u))
    for found in products(written_out, u + shift):
        np.testing.assert_allclose(found.numpy(), want.numpy(), rtol=1e-12, atol=1e-15)


def test_the_likelihood_of_what_is_next_to_impossible():
    """-log p has a slope where p/Σeˣ is no number: it was 0 for the largest entry, and is 1."""
    u = np.array([90.0, -210.0, 330.0, 60.0])
    x = sg.tensor(u, requires_grad=True)
    (-sg.log(written_out(x)[1])).backward()
    np.testing.assert_allclose(x.grad.numpy(), [0, -1, 1, 0], atol=1e-15)
    np.testing.assert_allclose(sg.func.jacfwd(lambda x: -sg.log(written_out(x)[1]))(u), [0, -1, 1, 0], atol=1e-15)


FAR_OUT = {
    "log(1 - tanh(x)²)": (lambda x: sg.log(1 - sg.tanh(x) ** 2), lambda x: -2 * np.tanh(x), 0),
    "log of a density": (lambda x: sg.log(sg.exp(-x * x / 2) / (2 * np.pi) ** 0.5), lambda x: -x, -1),
    "log of a count": (lambda x: sg.log(sg.exp(-x) * x**3 / 6), lambda x: -1 + 3 / x, None),
    "log odds": (lambda x: sg.log(sg.sigmoid(x) / (1 - sg.sigmoid(x))), np.ones_like, 0),
}


@pytest.mark.parametrize(("f", "slope", "second"), FAR_OUT.values(), ids=FAR_OUT)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_eager_derivatives_where_a_logarithm_has_lost_its_argument(f, slope, second):
    """They were nan, where those of the program had their digits; with the graph also where they were right without."""
    u, v = np.array([50.0, 400.0, 800.0, 2000.0]), np.array([1.0, -2.0, 0.5, 3.0])
    second = -3 / u**2 if second is None else second
    x = sg.tensor(u, requires_grad=True)
    (g,) = sg.autograd.grad(f(x).sum(), x, create_graph=True)
    f(x).sum().backward()
    tangents = sg.func.jvp(f, (u,), (v,))[1]
    for found in (x.grad, g.detach(), tangents / v, sg.compile(sg.func.grad(lambda x: f(x).sum()))(u)):
        np.testing.assert_allclose(np.array(found), slope(u), rtol=1e-12)
    products = sg.autograd.grad((g * v).sum(), x)[0] if g.requires_grad else 0 * x
    np.testing.assert_allclose(products.detach().numpy(), second * v, rtol=1e-9, atol=1e-20)  # of single digits of exp


@pytest.mark.parametrize("x", [1e-200, 1e158, 1e200])
def test_reciprocals_whose_squares_are_no_numbers(x):
    """d log(3/x)/dx is -1/x: it was 0 at 1e200, and had five digits at 1e158."""
    leaf = sg.tensor(x, requires_grad=True, dtype=sg.float64)
    sg.log(3 / leaf).backward()
    np.testing.assert_allclose(leaf.grad.item(), -1 / x, rtol=1e-15)


def test_programs_do_not_divide_by_what_overflows_alone():
    """-2 s/m³ was s · (-2/m³) in the program of the gradient of s/m², which was nan or of another size for kurtosis."""

    def kurtosis(x):
        a = x - x.mean()
        return (a**4).mean() / (a**2).mean() ** 2

    x = np.array([0.3, -0.7, 1.1, 0.2])
    program = sg.compile(sg.func.grad(kurtosis), x)
    for scale in (1e-70, 1e-60, 1e60, 1e70):
        np.testing.assert_allclose(program(x * scale) * scale, program(x), rtol=1e-12)


def test_the_slope_of_a_naive_logarithm_along_a_direction():
    u, v = np.array([998.0, 999.0, 1000.0]), np.array([0.3, -0.2, 0.5])
    program = sg.compile(lambda u, v: sg.func.jvp(lambda u: sg.log(sg.exp(u).sum()), (u,), (v,))[1], u - 998, v)
    np.testing.assert_allclose(program(u, v), program(u - 998, v), rtol=1e-12)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: sg.sqrt(x * x + (2 * x) * (2 * x)),
        lambda x: sg.log(sg.exp(x) + sg.exp(sg.sin(x))),
        lambda x: sg.exp(x) / (sg.exp(x) + sg.exp(x * x)),
        lambda x: x**2 / (1 + sg.exp(x * x)),
        lambda x: sg.sqrt(x**2 + sg.sin(x) ** 2 + x.exp() ** 2),
        lambda x: (sg.exp(-x) - sg.exp(x**3)) / (sg.exp(-x) + sg.exp(x**3)),
    ],
    ids=range(6),
)
def test_parts_that_depend_on_each_other_count_once(program):
    x = sg.tensor([0.3, -0.7, 1.2], requires_grad=True, dtype=sg.float64, name="x")
    (g,) = sg.autograd.grad(program(x).sum(), x)
    got = sg.formula(g).evaluate(x=x.detach().numpy())
    np.testing.assert_allclose(got, g.numpy(), rtol=1e-12)


def test_stable_spellings_have_values_at_zero():
    """The sign of x was written as |x| / x."""

    def f(x):
        return 0.7 * sg.log(abs(x) + 2) + 0.7 / (4 * x * x + 2)

    for x in (0.0, -1.5):
        here = sg.tensor(np.float64(x))
        assert abs(float(sg.compile(sg.func.grad(f), np.float64(x))(np.float64(x)) - sg.func.grad(f)(here))) < 1e-15
    g = sg.compile(lambda x: 1 / (sg.sign(x) * sg.sign(x) + 2), np.zeros(3))
    np.testing.assert_array_equal(g(np.array([0.0, 1.0, -2.0])), [1 / 2, 1 / 3, 1 / 3])


def test_decimal_numbers_are_no_fractions():
    """0.7 was 3152519739159347 / 2**52, and powers of it outgrew the floats."""

    def f(x):
        z = x * 0.7
        return (sg.tanh(z * 0.7) + sg.maximum(z, 0.2) + 0.7 * sg.sin(x)).sum()

    def g(x):
        return (sg.func.grad(f)(x) * sg.func.grad(f)(x) * 0.7).sum()

    x = np.array([0.0, 0.3, -2.0])
    made = sg.compile(sg.func.grad(g), x)
    assert np.allclose(made(x), sg.func.grad(g)(sg.tensor(x)), rtol=1e-14, atol=1e-16)
    assert "5251973915934" not in next(iter(made.variants.values()))[0].program.source


@pytest.mark.filterwarnings("ignore:overflow")
def test_second_answers_are_by_what_was_asked_for():
    """They were by the leaves behind it: doubled where a leaf was read beside it, and no function of a variable."""

    def f(u, x):
        return sg.log(1 + sg.exp(u * x)).sum()

    x = sg.tensor(np.array([0.5, 1.0, 1000.0]), requires_grad=True)
    y = sg.tensor(np.array([2.0, 1.0, 1.0]), requires_grad=True)
    plain = x.detach()
    want = [0.5 / (1 + np.exp(-0.25)), 1 / (1 + np.exp(-1.0)), 1000]
    h = x * 1
    for create in (False, True):
        (g,) = sg.autograd.grad(f(h, x), h, create_graph=create)
        np.testing.assert_allclose(g.detach().numpy(), want, rtol=1e-14)
    (twice,) = sg.autograd.grad(g.sum(), h)
    slope = sg.func.grad(lambda u: f(u, x))
    np.testing.assert_allclose(slope(x).detach().numpy(), want, rtol=1e-14)
    np.testing.assert_allclose(twice.numpy(), sg.func.grad(lambda u: sg.func.grad(f)(u, plain).sum())(plain).numpy())

    def mixed(x, y):
        return sg.func.grad(lambda y: sg.func.grad(f)(x, y).sum())(y).detach().numpy()

    np.testing.assert_allclose(mixed(x, y), mixed(plain, y.detach()), rtol=1e-14)
    assert np.all(mixed(x, y) > 0.9)


@pytest.mark.parametrize("dim", [(1,), (0,), (0, 2), (2, 1), (0, 1, 2)])
@pytest.mark.parametrize("p", [2, 3, 1.5, 0.5])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms_beyond_the_range_of_squares_lie_where_the_others_do(dim, p, keepdim):
    """Only the slices whose sum is lost are found once more."""
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    x[0, 0] = 0
    scale = np.array(1e-200) if 1 in dim else np.array([1.0, 1e200, 1e-200]).reshape(1, 3, 1)
    got = sg.linalg.vector_norm(sg.tensor(x * scale), p, dim, keepdim).numpy()
    want = np.sum(np.abs(x) ** p, dim, keepdims=keepdim) ** (1 / p)
    at = np.max(np.broadcast_to(scale, x.shape), dim, keepdims=keepdim)
    np.testing.assert_allclose(got / at, want, rtol=1e-13)


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        (lambda x: -sg.log(1 - sg.sigmoid(x)), lambda x: mpmath.log1p(mpmath.exp(x))),
        (
            lambda x: -(0.3 * sg.log(sg.sigmoid(x)) + 0.7 * sg.log(1 - sg.sigmoid(x))),
            lambda x: 0.3 * mpmath.log1p(mpmath.exp(-x)) + 0.7 * mpmath.log1p(mpmath.exp(x)),
        ),
        (
            lambda x: -((1 - sg.sigmoid(x)) ** 2) * sg.log(sg.sigmoid(x)),
            lambda x: sigmoid(-x) ** 2 * mpmath.log1p(mpmath.exp(-x)),
        ),
    ],
    ids=["tail", "cross entropy", "focal loss"],
)
def test_compiled_logarithms_of_shares_keep_their_digits(f, exact):
    """What sums make of activations is left as it is, and not a logarithm of it: -log(1 - σ(40)) was inf."""
    x = np.array([-800.0, -40.0, -3.0, 0.5, 12.0, 40.0, 300.0])
    with mpmath.workdps(60):
        want = [float(exact(mpmath.mpf(v))) for v in x]
    np.testing.assert_allclose(sg.compile(f, np.ones(7))(x), want, rtol=1e-13)


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_derivatives_beside_entries_that_were_lost():
    """At 0, where the other spelling of a sum has a seam, they were 1 for 0.16 once another entry was far out."""

    def likelihood(m, x):
        return sg.log(0.3 * sg.exp(-((x - m[0]) ** 2) / 2) + 0.7 * sg.exp(-((x - m[1]) ** 2) / 2)).sum()

    found = []
    for row in ([0.0, 0.7], [0.0, 0.7, 100.0]):
        m, x = (sg.tensor(np.array(a), requires_grad=True) for a in ([1.0, -1.0], row))
        (by_m,) = sg.autograd.grad(likelihood(m, x), m, create_graph=True)
        found.append(sg.autograd.grad(by_m.sum(), x)[0].numpy()[:2])
    np.testing.assert_allclose(*found, rtol=1e-12)


@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_hessians_of_mixtures_with_widths():
    """TypeError: |: 'numpy.bool' and 'Term', where a branch is taken everywhere beside one that is not."""
    x = np.array([100.0, -100.0, 0.0, 30.0, 0.7, 2.0])

    def likelihood(m, s):
        parts = [w * sg.exp(-(((x - m[k]) / s[k]) ** 2) / 2) / s[k] for k, w in enumerate((0.3, 0.7))]
        return sg.log(parts[0] + parts[1]).sum()

    assert sg.func.hessian(likelihood)(sg.tensor([1.0, -1.0]), sg.tensor([1.0, 2.0])).shape == (2, 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_answers_have_the_dtype_of_the_leaf():
    """A float32 leaf below a float64 result got a float64 gradient where its graph was kept."""
    x = sg.tensor([0.5], requires_grad=True)
    y = (x.var(correction=0).square().sum().sqrt() ** 2).double()
    (g,) = sg.autograd.grad(y, x, create_graph=True)
    assert g.dtype == sg.float32
    assert g.tolist() == [0.0]

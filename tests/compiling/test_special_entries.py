"""Programs at kinks, at infinity and at nan: the same values, slopes and second slopes as eager calls have there."""

import runpy
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.op import TABLE
from tests.compiling.test_frameworks import array, precise

F = sg.nn.functional
PLACES = np.array([0.0, -0.0, 1.0, -1.0, 3.0, -3.0, np.inf, -np.inf, np.nan, 0.5, -2.0])
FUNCTIONS = {
    "elu": F.elu,
    "selu": F.selu,
    "celu": F.celu,
    "hardsigmoid": F.hardsigmoid,
    "hardswish": F.hardswish,
    "relu6": F.relu6,
    "softshrink": F.softshrink,
}


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations_and_their_slopes_at_special_entries(name, stable):
    def value(x):
        return FUNCTIONS[name](x)

    def slope(x):
        return sg.func.grad(lambda x: value(x).sum())(x)

    for times, function in enumerate((value, slope, sg.func.grad(lambda x: slope(x).sum()))):
        eager = sg.tensor(PLACES, requires_grad=True)
        want = value(eager)
        for _ in range(times):  # the tape's own rules, which are torch's
            want = sg.autograd.grad(want.sum(), [eager], create_graph=True)[0] if want.requires_grad else 0 * want
        want = want.numpy(force=True)
        if times == 2 and name in ("hardsigmoid", "relu6", "softshrink"):
            want = np.zeros_like(PLACES)  # of pieces that are straight, also beside an infinity
        got = sg.compile(function, stable=stable)(PLACES)
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=f"{name}, derivative {times}")


@pytest.mark.parametrize(
    "function",
    [lambda x: sg.sqrt(1 + x * x) - 1, F.tanhshrink, lambda x: x - sg.tanh(x)],
    ids=["root", "tanhshrink", "difference"],
)
def test_spellings_that_keep_digits_have_the_values_at_infinity(function):
    with np.errstate(all="ignore"):
        got, want = sg.compile(lambda x: function(x))(PLACES), function(sg.tensor(PLACES)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_elliptic_functions_next_to_zero():
    """cn and dn are 1 and sn is u where 1/u² is no number any more."""
    u = np.array([1e-100, 1e-160, -1e-300, 0.0])
    for name, want in (("sn", u), ("cn", np.ones(4)), ("dn", np.ones(4))):
        np.testing.assert_array_equal(TABLE[f"ellip_{name}"](u, np.full(4, 0.5)), want)


def test_the_third_slope_of_gelu_by_tanh_far_out():
    """Where the hyperbolic cosine is too large for a number, its reciprocal is 0, and so are the slopes of that."""

    def slope(f):
        return sg.func.grad(lambda x: f(x).sum())

    third = slope(slope(slope(lambda x: F.gelu(x, approximate="tanh"))))
    x = np.array([30.0, -40.0, 2.0])
    want = third(sg.tensor(x)).numpy()
    assert (want[:2] == 0).all()
    for stable in (False, True):
        np.testing.assert_allclose(sg.compile(third, stable=stable)(x), want, rtol=1e-12)


def test_bessel_functions_of_large_orders_are_infinite_at_once():
    """The recurrence from order to order ends where nothing is finite any more."""
    v, x = np.array([1e9, 2.5, 400.0]), np.array([3.0, 1.0, 2.0])
    found = TABLE["bessel_kve"](v, x)
    np.testing.assert_array_equal(found[[0, 2]], np.inf)
    assert found[1] == TABLE["bessel_kve"](v[1], x[1])


def test_the_exponential_of_a_matrix_that_is_not_finite_is_nan():
    """And that of another one in the stack is what it is alone."""
    x = np.array([[[np.inf, 0.0], [0.0, 0.0]], [[1.0, 2.0], [0.0, 0.5]]])
    slope = sg.func.grad(lambda x: sg.matrix_exp(x).sum())
    for f in (sg.matrix_exp, slope):
        alone = f(sg.tensor(x[1])).numpy()
        for found in (f(sg.tensor(x)).numpy(), sg.compile(lambda x: f(x))(x)):
            assert np.isnan(found[0]).all()
            np.testing.assert_allclose(found[1], alone, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_where_a_difference_of_squares_below_vanishes_the_infinity_has_the_sign_of_its_domain():
    """x² - 1 is +0 at 1 and -1, whichever of its factors vanishes there."""
    x = np.array([1.0, -1.0, 3.0])
    second = sg.func.grad(lambda x: sg.func.grad(lambda x: sg.acosh(x).sum())(x).sum())
    want = second(sg.tensor(x)).numpy()
    assert want[0] == -np.inf == -want[1]
    for stable in (False, True):
        np.testing.assert_allclose(sg.compile(second, stable=stable)(x), want, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_slopes_of_logsumexp_in_rows_of_infinities():
    """Rows that are all -inf have the slope 0, and so have entries beside an inf; the loss of an alignment is one."""
    rows = np.array([[1.0, 2.0], [-np.inf, -np.inf], [np.inf, 1.0], [np.inf, np.inf], [np.nan, 1.0], [-np.inf, 3.0]])

    def slope(f):
        return sg.func.grad(lambda x: f(x).sum())

    def totals(x):
        return sg.logsumexp(x, 1)

    for function in (slope(totals), slope(slope(totals)), sg.func.value_and_grad(lambda x: totals(x).sum())):
        want = sg.tape.containers.flatten(function(sg.tensor(rows)))[0]
        for stable in (False, True):
            got = sg.tape.containers.flatten(sg.compile(function, stable=stable)(rows))[0]
            for a, b in zip(got, want, strict=True):
                np.testing.assert_allclose(a, b.numpy(), rtol=1e-12, atol=1e-15)

    def loss(x):
        return F.ctc_loss(sg.log_softmax(x, 2), sg.tensor([[1, 2]]), sg.tensor([3]), sg.tensor([2]))

    x = np.random.default_rng(0).normal(size=(3, 1, 4))
    want = sg.func.grad(loss)(sg.tensor(x)).numpy()
    np.testing.assert_allclose(sg.compile(sg.func.grad(loss))(x), want, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("weight", [0.0, 0.25, 0.75, 1.0, 2.0])
def test_lerp_begins_at_the_nearer_end(weight):
    """From the nearer end a step is finite where the other one is not: a program went from the start, which was nan."""
    start, end = np.array([np.inf, 1.0, -np.inf, 1e300]), np.array([1.0, np.inf, 2.0, -1e300])
    for w in (weight, np.full(4, weight)):
        want = sg.lerp(sg.tensor(start), sg.tensor(end), sg.tensor(w) if np.ndim(w) else w).numpy()
        for stable in (False, True):
            np.testing.assert_array_equal(sg.compile(lambda a, b: sg.lerp(a, b, w), stable=stable)(start, end), want)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_cross_entropy_of_large_and_infinite_scores():
    """A row is shifted by its largest score first: the difference of log Σ e^x and a score has no digits at 1e10."""
    scores = np.array([[1e10, 1e10 + 1, 0], [-np.inf, 0, 1], [np.inf, 1, 2], [800, -800, 0], [0, 1, np.nan]])
    labels = np.array([0, 2, 1, 1, 0])

    def losses(x):
        return F.cross_entropy(x, sg.tensor(labels), reduction="none")

    for function in (losses, sg.func.value_and_grad(lambda x: losses(x).sum())):
        want = sg.tape.containers.flatten(function(sg.tensor(scores)))[0]
        for stable in (False, True):
            got = sg.tape.containers.flatten(sg.compile(function, stable=stable)(scores))[0]
            for a, b in zip(got, want, strict=True):
                np.testing.assert_allclose(a, b.numpy(), rtol=1e-12)


@pytest.mark.parametrize("target", ["numpy", "torch", "jax"])
def test_what_has_no_weight_stays_out_of_a_picture_at_another_size(target, tmp_path):
    def value(x):
        return F.interpolate(x, size=(5, 8), mode="bilinear")

    def slope(x):
        return sg.func.grad(lambda x: (value(x) ** 2).sum())(x)

    picture = np.random.default_rng(0).random((1, 2, 3, 4))
    holes = picture.copy()
    holes[0, 0, 1, 2], holes[0, 1, 0, 0] = np.inf, np.nan
    for function in (value, slope):
        program = sg.compile(function, picture, name="f").program
        want = function(sg.tensor(holes)).numpy()
        assert 0 < np.isnan(want).sum() < 20
        if target == "numpy":
            np.testing.assert_array_equal(program(holes), want)
            continue
        pytest.importorskip(target)
        program.save(tmp_path / "f.py", target=target)
        with precise(target):
            got = runpy.run_path(str(tmp_path / "f.py"))["f"](array(target, holes))
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_pictures_are_sampled_at_places_that_differ_from_call_to_call(mode, padding):
    """The program held for the very places of the example, so no file could be made of a warp."""
    rng = np.random.default_rng(0)

    def warp(x, theta):
        return F.grid_sample(x, F.affine_grid(theta, (3, 2, 6, 7), True), mode, padding, False)

    def slopes(x, theta):
        return sg.func.grad(lambda *args: (warp(*args) ** 2).sum(), argnums=(0, 1))(x, theta)

    picture = rng.normal(size=(3, 2, 4, 5))
    program = sg.compile(slopes, picture, rng.normal(size=(3, 2, 3))).program
    for theta in (rng.normal(size=(3, 2, 3)), np.full((3, 2, 3), np.inf), 9 * rng.normal(size=(3, 2, 3))):
        for got, want in zip(program(picture, theta), slopes(sg.tensor(picture), sg.tensor(theta)), strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_singular_vectors_of_what_is_not_finite_are_an_error(value):
    """LAPACK did not come back from some such matrices, and gave vectors that are none of others."""
    A = np.random.default_rng(3).normal(size=(3, 3))
    holes = A.copy()
    holes[1, 1] = value
    for function in (sg.linalg.pinv, sg.func.grad(lambda A: sg.linalg.svd(A, full_matrices=False)[0].abs().sum())):
        program = sg.compile(function, A).program
        for call, given in ((function, sg.tensor(holes)), (program, holes)):
            with pytest.raises(np.linalg.LinAlgError):
                call(given)
    twice = sg.func.hessian(sg.linalg.det)
    assert np.isnan(twice(sg.tensor(holes)).numpy()).any()


def slope_of_products(name):
    """The gradient of a weighed sum of products with logarithms, and points of which some lie at the poles."""
    x, y = np.array([2.0, 0.0, 1.0]), np.array([0.0, 0.0, 3.0]) - (name == "xlog1py")
    weights = np.array([0.0, 1.0, 1.0])
    return sg.func.grad(lambda x, y: (getattr(sg.special, name)(x, y) * weights).sum()), x, y


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_no_cotangent_meets_no_logarithm(name):
    """0 times the logarithm at its pole is 0 in programs as in the gradient that runs; it was nan in both."""
    slope, x, y = slope_of_products(name)
    program = sg.compile(slope, x, y)
    np.testing.assert_array_equal(program(x, y), slope(sg.tensor(x), sg.tensor(y)).numpy())
    assert program(x, y).tolist() == [0, 0, np.log(3)]


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.peer
@pytest.mark.parametrize("target", ["jax", "torch"])
@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_so_it_is_in_other_libraries(name, target, tmp_path):
    pytest.importorskip(target)
    slope, x, y = slope_of_products(name)
    path = tmp_path / f"{target}_{name}.py"
    sg.compile(slope, x, y).save(path, target=target)
    subprocess.run([sys.executable, path, "--selftest"], check=True)

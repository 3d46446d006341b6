"""Derivatives that a compiled function takes inside: they hold where the eager ones do, in forward and reverse mode."""

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import forward_ad
from symgrad.op import lookup

DIRECTION = np.array([1.0, 2.0, -1.0])
FAR = np.array([1000.0, 999.0, 998.0])
SHARES = np.exp(FAR - 1000) / np.exp(FAR - 1000).sum()
SHARES_SLOPE = np.diag(SHARES) - np.outer(SHARES, SHARES)


def shares(x):
    e = sg.exp(x)
    return e / e.sum()


def log_sum(x):
    return sg.log(sg.exp(x).sum())


def length(x):
    return sg.sqrt((x**2).sum())


def soft_steps(x):
    return sg.log1p(sg.exp(x))


def by_hand(f):
    def moved(x, v):
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent

    return moved


FIRST = {
    "jvp": lambda f: lambda x, v: sg.func.jvp(f, (x,), (v,))[1],
    "linearize": lambda f: lambda x, v: sg.func.linearize(f, x)[1](v),
    "jacfwd": lambda f: lambda x, v: sg.func.jacfwd(f)(x) @ v,
    "jacrev": lambda f: lambda x, v: sg.func.jacrev(f)(x) @ v,
    "grad of grad": lambda f: lambda x, v: sg.func.grad(lambda w: (sg.func.vjp(f, x)[1](w)[0] * v).sum())(f(x) * 0 + 1),
    "by hand": by_hand,
}
CASES = [
    (shares, FAR, SHARES_SLOPE @ DIRECTION),
    (log_sum, FAR, SHARES @ DIRECTION),
    (length, np.zeros(3), 0.0),
    (soft_steps, FAR, DIRECTION),
]


@pytest.mark.parametrize("way", FIRST)
@pytest.mark.parametrize(("f", "x", "wanted"), CASES)
def test_tangents_that_two_steps_have_together_are_in_the_program(way, f, x, wanted):
    """The program is traced at an ordinary place, and called far out."""
    program = sg.compile(FIRST[way](f), np.array([0.5, 0.2, -0.3]), DIRECTION)
    np.testing.assert_allclose(program(x, DIRECTION), wanted, rtol=1e-12, atol=1e-15)
    assert len(program.programs) == 1


SECOND = {
    "jvp of grad": lambda f: lambda x, v: sg.func.jvp(sg.func.grad(lambda x: (f(x) * v).sum()), (x,), (v,))[1],
    "grad of jvp": lambda f: lambda x, v: sg.func.grad(lambda x: (sg.func.jvp(f, (x,), (v,))[1] * v).sum())(x),
    "jacrev of jacrev": lambda f: lambda x, v: sg.func.jacrev(sg.func.jacrev(lambda x: (f(x) * v).sum()))(x) @ v,
    "hessian": lambda f: lambda x, v: sg.func.hessian(lambda x: (f(x) * v).sum())(x) @ v,
}


@pytest.mark.parametrize("way", SECOND)
@pytest.mark.parametrize("f", [shares, log_sum, soft_steps])
def test_second_derivatives_hold_far_out(way, f):
    """Softmax and its kin are the same 1,000 higher, where what is written overflows."""
    call = SECOND[way](f)
    near = call(sg.tensor(FAR - 1000, requires_grad=True), sg.tensor(DIRECTION)).detach().numpy()
    if f is soft_steps:
        near = np.zeros(3)
    program = sg.compile(call, np.array([0.5, 0.2, -0.3]), DIRECTION)
    np.testing.assert_allclose(program(FAR, DIRECTION), near, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("f", [shares, log_sum, length])
@pytest.mark.parametrize("way", [*FIRST, *SECOND])
def test_one_program_serves_all_sizes(way, f):
    """What another spelling brings along has letters for sizes, too."""
    call = {**FIRST, **SECOND}[way](f)
    program = sg.compile(call, np.array([0.5, 0.2, -0.3]), DIRECTION)
    x, v = np.linspace(-1, 1.5, 6), np.cos(np.arange(6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = call(sg.tensor(x, requires_grad=True), sg.tensor(v)).detach().numpy()
    np.testing.assert_allclose(program(x, v), wanted, rtol=1e-9, atol=1e-13)
    assert len(program.programs) == 1


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_eager_tangents_that_are_differentiated_further():
    """Reverse mode over forward mode, and Jacobians that keep a history."""
    x = sg.tensor(FAR, requires_grad=True)
    again = sg.func.grad(lambda x: (sg.func.jvp(shares, (x,), (DIRECTION,))[1] * DIRECTION).sum())(x)
    near = sg.func.grad(lambda x: (sg.func.jvp(shares, (x,), (DIRECTION,))[1] * DIRECTION).sum())(x - 1000)
    np.testing.assert_allclose(again.detach(), near.detach(), rtol=1e-9)
    np.testing.assert_allclose(sg.func.jacfwd(shares)(x).detach(), SHARES_SLOPE, rtol=1e-9, atol=1e-15)
    with sg.conventions("jax"):
        assert np.isnan(sg.func.jvp(shares, (FAR,), (DIRECTION,))[1].numpy()).all()


def test_a_value_changed_in_place_is_another_one():
    """A spelling that was found before the change would move as the old value."""

    def changed(x):
        e = sg.exp(x)
        total = e.sum()
        e[0] = 1.0
        return e / total

    x = np.array([0.3, -0.2, 0.5])
    program = sg.compile(lambda x, v: sg.func.jvp(changed, (x,), (v,))[1], x, DIRECTION)
    np.testing.assert_allclose(program(x, DIRECTION), sg.func.jvp(changed, (x,), (DIRECTION,))[1], rtol=1e-12)


def test_the_slope_of_log_cosh_is_tanh():
    """It was a difference of two logistic functions, which has no digits near 0, and a polynomial beside it."""

    def loss(x):
        return sg.log(sg.cosh(x - x.mean())).sum()

    x = np.array([1e-170, -2e-170, 3e-165])
    slope = np.tanh(x - x.mean())
    np.testing.assert_allclose(sg.compile(sg.func.grad(loss))(x), slope - slope.mean(), rtol=1e-12)
    assert "return np.tanh(x)" in sg.compile(sg.func.grad(lambda x: sg.log(sg.cosh(x)).sum()), x).source


CANCELLING = {
    "(e^x - 1) / x": (lambda x: (sg.exp(x) - 1) / x, lambda x: 0.5 + x / 3, lambda x: 1 / 3 + x / 4),
    "(1 - cos x) / x^2": (lambda x: (1 - sg.cos(x)) / x**2, lambda x: -x / 12, lambda x: -1 / 12 + 0 * x),
    "x / (e^x - 1)": (lambda x: x / (sg.exp(x) - 1), lambda x: -0.5 + x / 6, lambda x: 1 / 6 + 0 * x),
    "log1p(x) / x": (lambda x: sg.log1p(x) / x, lambda x: -0.5 + 2 / 3 * x, lambda x: 2 / 3 - 1.5 * x),
    "coth x - 1/x": (lambda x: 1 / sg.tanh(x) - 1 / x, lambda x: 1 / 3 - x**2 / 15, lambda x: -2 * x / 15),
}


@pytest.mark.parametrize("name", CANCELLING)
def test_tangents_keep_the_digits_of_the_slope(name):
    """A multiple of the tangent is that of a function of one variable, which has a series where its parts cancel."""
    f, slope, second = CANCELLING[name]
    x, v = np.array([1e-9, -2e-8, 1e-6, -1e-5]), np.array([1.0, -2.0, 3.0, 0.5])

    def total(x):
        return f(x).sum()

    jvp = sg.compile(lambda x, v: sg.func.jvp(f, (x,), (v,))[1])
    hvp = sg.compile(lambda x, v: sg.func.jvp(sg.func.grad(total), (x,), (v,))[1])
    np.testing.assert_allclose(jvp(x, v), slope(x) * v, rtol=1e-9)
    np.testing.assert_allclose(hvp(x, v), second(x) * v, rtol=1e-8)
    np.testing.assert_allclose(sg.compile(sg.func.hessian(total))(x), np.diag(second(x)), rtol=1e-8)


BODIES = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, -1.0]])


def potential(x):
    """Σ 1/r over pairs; a body has no distance from itself."""
    d = x[:, None] - x
    r = sg.sqrt((d * d).sum(-1))
    itself = sg.eye(x.shape[0], dtype=x.dtype) > 0
    return sg.where(itself, 0, 1 / sg.where(itself, 1, r)).sum()


HESSIANS = {
    "jvp of grad": lambda f: lambda x, v: sg.func.jvp(sg.func.grad(f), (x,), (v,))[1],
    "grad of jvp": lambda f: lambda x, v: sg.func.grad(lambda x: sg.func.jvp(f, (x,), (v,))[1])(x),
    "grad of grad": lambda f: lambda x, v: sg.func.grad(lambda x: (sg.func.grad(f)(x) * v).sum())(x),
    "jacfwd of grad": lambda f: lambda x, v: (sg.func.jacfwd(sg.func.grad(f))(x) * v).sum((-2, -1)),
}


@pytest.mark.parametrize("way", HESSIANS)
def test_branches_that_are_not_taken_leave_second_derivatives_alone(way):
    """The other spelling of a length has no second derivative at 0, which no zero of the branch would keep out."""
    v = np.cos(np.arange(6.0)).reshape(3, 2)
    ahead, behind = (sg.func.grad(potential)(BODIES + s * v).numpy() for s in (1e-5, -1e-5))
    found = sg.compile(HESSIANS[way](potential))(BODIES, v)
    np.testing.assert_allclose(found, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-8)


def test_compiled_hessians_keep_branches_apart():
    """Formulas, too, took the other spelling of the length, whose second derivative at 0 is none."""
    mask = np.array([True, False])

    def lengths(x):
        return sg.where(mask, 0, sg.sqrt((x * x).sum(-1))).sum()

    x = np.array([[0.0, 0.0], [1.0, 2.0]])
    for f in (lengths, lambda x: potential(x) + lengths(x)):
        found = sg.compile(sg.func.hessian(f))(x)
        np.testing.assert_allclose(found, sg.func.hessian(f)(x).numpy(), rtol=1e-12)
        assert np.isfinite(found).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_slope_that_is_the_number_zero_has_a_dtype(dtype):
    def slopes(x, y):
        return sum(sg.func.grad(lambda x, y: sg.remainder(sg.log(1 + sg.exp(x)), y), (0, 1))(x, y))

    found = sg.compile(sg.func.grad(slopes, (0, 1)), dtype(0.3), dtype(0.5))(dtype(0.3), dtype(0.5))
    share = 1 / (1 + np.exp(-0.3))
    np.testing.assert_allclose(found, [share * (1 - share), 0], rtol=1e-6)
    assert [g.dtype for g in found] == [dtype, dtype]


@pytest.mark.parametrize("stable", [True, False])
def test_second_derivatives_of_what_hardly_depends_on_its_arguments(stable):
    grad = sg.func.grad

    def cancels(x):
        return sg.nn.functional.binary_cross_entropy_with_logits(sg.acos(-(x - x)), x)

    def constant(x, y):
        return (lookup("cosm1")(lookup("bessel_j")((x + x) - (x + x), n=1)) - y).sum()

    def of_one(x):
        return grad(lambda x: grad(cancels)(x).sum())(x)

    def of_two(x, y):
        return grad(lambda *row: sum(slope.sum() for slope in grad(constant, (0, 1))(*row)), (0, 1))(x, y)

    assert sg.compile(of_one, stable=stable)(np.float64(0.37)) == 0.0
    assert sg.compile(of_two, stable=stable)(np.float64(0.37), np.float64(0.5)) == (0.0, 0.0)


@pytest.mark.parametrize("name", ["silu", "mish", "gelu"])
def test_an_example_with_nan_does_not_move_second_derivatives_elsewhere(name):
    """Traced beside a nan, without other spellings, the second derivative at 0 was half of what it is."""

    def f(x):
        return getattr(sg.nn.functional, name)(x).sum()

    second = sg.func.grad(lambda x: sg.func.grad(f)(x).sum())
    x = np.array([np.nan, 0.0, -0.0, 0.7])
    wanted = second(sg.tensor(x[1:])).numpy()
    for stable in (True, False):
        program = sg.compile(second, x, stable=stable)
        assert np.allclose(program(x)[1:], wanted, rtol=1e-12)
        assert np.allclose(program(x[1:]), wanted, rtol=1e-12)


def test_an_example_that_overflows_leaves_the_second_derivative_short():
    """The other spelling of the first one was derived: 205 lines for 24, and nan at 1000, where e^x is infinite."""

    def f(x):
        return (x**3 / (sg.exp(x) - 1)).sum()

    def hessian(x, v):
        return sg.func.hessian(f)(x) @ v

    def product(x, v):
        return sg.func.grad(lambda y: (sg.func.grad(f)(y) * v).sum())(x)

    x, v = np.array([1000.0, 700.0, 30.0, 0.5, -800.0]), np.array([1.0, 2.0, 1.0, -1.0, 3.0])
    wanted = np.array([0.0, 3.35292302187e-296, 2.0380902784e-9, 0.74742448138, 4800.0]) * v
    for derived in (hessian, product):
        with np.errstate(all="ignore"):
            program = sg.compile(derived, x, v)
            np.testing.assert_allclose(program(x, v), wanted, rtol=1e-8)
        assert len(next(iter(program.programs)).splitlines()) < 40


def test_second_derivatives_of_mixtures_far_out():
    """They are read where like terms are one, and were too long for it otherwise: nan from 40 deviations on."""

    def likelihood(x):
        return sg.log(0.3 * sg.exp(-((x - 1) ** 2) / 2) + 0.7 * sg.exp(-((x + 1) ** 2) / 2)).sum()

    slope = sg.func.grad(likelihood)
    x = np.array([100.0, -100.0, 0.0, 1e6, 30.0, 0.7])
    share = 1 / (1 + 7 / 3 * np.exp(-2 * x))
    wanted = -1 + 4 * share * (1 - share)
    for second in (
        lambda x: sg.func.grad(lambda y: slope(y).sum())(x),
        lambda x: sg.func.jvp(slope, (x,), (sg.ones_like(x),))[1],
    ):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(sg.compile(second)(x), wanted, rtol=1e-13)


def test_halves_of_a_gradient_that_lost_entries():
    """A gradient whose formula is a half of each entry raised TypeError: it was beside one that overflows."""

    def bound(m, s):
        return (sg.exp(2 * s) + m * m - 1 - 2 * s).sum() / 2

    def product(m, s):
        return sg.func.grad(lambda m, s: sum(g.sum() for g in sg.func.grad(bound, (0, 1))(m, s)), (0, 1))(m, s)

    with np.errstate(all="ignore"):
        by_m, by_s = sg.compile(product)(np.array([1.0, 1e3]), np.array([-400.0, 1.0]))
    np.testing.assert_array_equal(by_m, [1.0, 1.0])
    np.testing.assert_allclose(by_s, [0.0, 2 * np.exp(2)], rtol=1e-14, atol=1e-300)


def twice(f):
    """The gradient of the sum of the gradient, by every argument."""

    def total(*xs):
        return sum(g.sum() for g in sg.func.grad(f, tuple(range(len(xs))))(*xs))

    return lambda *xs: sg.func.grad(total, tuple(range(len(xs))))(*xs)


def limited(x, y):
    return sg.remainder(sg.clamp_max(x, 2 * sg.remainder(y, y)), x)


def as_complex(x, y):
    return (sg.real(sg.view_as_complex(sg.cumsum(sg.remainder(y, y) @ x, 0))) * 1.0).sum()


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (limited, (np.array(0.37), np.array(1.0))),
        (as_complex, (np.array([-1.6, 0.57]), np.array([[-0.59, 6.5], [-2.8, 3.4]]))),
    ],
)
def test_second_derivatives_that_are_found_from_numbers_alone_have_dtypes_and_shapes(f, args):
    """Where nan is met they are found from the formula, whose numbers are whole ones."""
    for found, x in zip(sg.compile(twice(f))(*args), args, strict=True):
        assert (found.dtype, found.shape) == (x.dtype, x.shape)
        assert not np.any(found)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_remainders_of_numbers_that_cancel_are_nan():
    """A program of plain numbers alone divided by 0 as Python does, and raised ZeroDivisionError."""

    def f(x, y):
        none = (x - x**1) / y
        return lookup("dawsn_slope")(lookup("sine_integral")(sg.remainder(none, none)), n=2)

    for found in sg.compile(twice(f))(np.array(0.43), np.array(-0.81)):
        assert np.isnan(found) or found == 0


@pytest.mark.parametrize("name", ["_cotangent", "_transposed", "_seed0", "_argument0", "_0", "_value"])
def test_arguments_may_be_called_as_the_library_might_call_its_own(name):
    """The derivative of (A w) ⊙ w by w, with another name for w."""
    scope = {}
    exec(f"def f(A, {name}):\n    return (A @ {name}) * {name}\n", scope)
    A, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 5.0])
    wanted = [[14, 4], [15, 46]]
    np.testing.assert_array_equal(sg.func.jacobian(scope["f"], 1)(A, w), wanted)
    np.testing.assert_array_equal(sg.compile(sg.func.jacobian(scope["f"], 1), A, w)(A, w), wanted)


PARTS = [(1, slice(1, None)), (1, [0, 2]), (slice(None), 1, slice(1, 3)), (1, slice(-2, None))]


@pytest.mark.parametrize("part", PARTS, ids=map(str, PARTS))
def test_parts_beside_single_rows(part):
    """What is put back into an array has fewer axes than that."""

    def slope(x):
        return sg.func.grad(lambda x: (x[part] ** 2).sum())(x)

    compiled = sg.compile(slope)
    for shape in ((3, 4, 4), (5, 6, 3)):
        x = np.random.default_rng(0).random(shape)
        np.testing.assert_array_equal(compiled(x), slope(sg.tensor(x)).numpy())

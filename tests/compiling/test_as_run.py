"""Programs compute what the calls did, also where a shorter formula would have another value."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate

ZEROS = {
    "0 x": lambda x: 0 * x,
    "x 0": lambda x: x * 0.0,
    "0 / x": lambda x: 0 / x,
    "0 / x sin x": lambda x: 0 / x * sg.sin(x),
    "1 + zeros x": lambda x: 1 + sg.zeros_like(x) * x,
    "zeros / x": lambda x: sg.zeros_like(x) / x,
    "einsum": lambda x: sg.einsum("i,i->i", sg.zeros_like(x), x),
}


@pytest.mark.parametrize("name", ZEROS)
def test_zeros_meet_what_is_infinite_or_zero_as_they_do_eagerly(name):
    f = ZEROS[name]
    x = np.array([0.0, 1.0, -np.inf, np.nan])
    t = sg.tensor(x, requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        out = f(t)
        np.testing.assert_array_equal(sg.compile(f, x)(x), out.detach().numpy())
        np.testing.assert_array_equal(evaluate(out.term, {"x": x}), out.detach().numpy())


def test_a_factor_in_single_precision_is_widened_before_it_is_multiplied():
    def loss(x):
        spread = x * 2 * sg.linspace(0, 1, 4)  # float32 beside a float64 array
        return (sg.maximum(x, 2) * 0.7).sum() + (spread * 0.7).sum()

    x = np.arange(12.0).reshape(3, 4)
    t = sg.tensor(x, requires_grad=True)
    loss(t).backward()
    np.testing.assert_allclose(sg.compile(sg.func.grad(loss), x)(x), t.grad.numpy(), rtol=1e-15)


def test_a_number_spread_over_a_double_array_is_multiplied_as_one():
    def loss(x):
        return (x * x * sg.linspace(0, 1, 4)).sum() * 0.5 * 0.7

    x = np.arange(12.0).reshape(3, 4)
    t = sg.tensor(x, requires_grad=True)
    loss(t).backward()
    np.testing.assert_allclose(sg.compile(sg.func.grad(loss), x)(x), t.grad.numpy(), rtol=1e-15)


BRANCHES = {
    "nan_to_num": lambda x: sg.nan_to_num(x / 0),
    "nan_to_num of nan": lambda x: sg.nan_to_num(x / (0 * x)),
    "branches next to each other": lambda x: sg.where(x > 5, sg.where(x > 4, sg.where(x > 3, x / 0, x), 2.0), 3.0),
    "steps between branches": lambda x: sg.where(x > 5, -sg.where(x > 4, sg.sqrt(0 * x), 2.0), 3.0),
    "excepted points in a branch": lambda x: sg.where(x > 5, sg.norm(x[:, None] * 0, dim=1) / 0, 1.0),
    "a branch in excepted points": lambda x: sg.norm(sg.where(x > 5, 1 / (0 * x), 0.0)[:, None], dim=1),
    "one condition for all": lambda x: sg.where(sg.tensor(False), sg.where(x > 5, x / 0, 1.0), 2.0),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_nothing_comes_out_of_branches_inside_of_branches_that_were_not_taken(name):
    def loss(x):
        return BRANCHES[name](x).sum()

    x = np.array([1.0, 0.0, -2.0])
    t = sg.tensor(x, requires_grad=True)
    with np.errstate(all="ignore"):
        loss(t).backward()
        np.testing.assert_array_equal(t.grad.numpy(), [0, 0, 0])
        np.testing.assert_array_equal(sg.compile(sg.func.grad(loss), x)(x), [0, 0, 0])


ENDLESS = {
    "full_like": lambda x: sg.full_like(x, -np.inf),
    "pad": lambda x: sg.nn.functional.pad(x, (1, 2), value=-np.inf),
    "pad with nan": lambda x: sg.nn.functional.pad(x, (1, 2), value=np.nan),
    "max_pool1d": lambda x: sg.nn.functional.max_pool1d(x[None], 2, padding=1),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_infinite_numbers_and_nan_among_the_settings_of_an_op(name):
    f = ENDLESS[name]
    x = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, 2.0]])
    program = sg.compile(f, x)
    np.testing.assert_array_equal(program(x), f(sg.tensor(x)).numpy())


EXCEPTED = {
    "x**x": lambda x: (x**x).sum(),
    "|x|**x": lambda x: (abs(x) ** x).sum(),
    "atan2": lambda x: sg.atan2(x, 3 * x).sum(),
    "sin atan2": lambda x: sg.sin(sg.atan2(x, x)).sum(),
}


@pytest.mark.parametrize("name", EXCEPTED)
def test_second_derivatives_are_zero_at_the_points_that_a_rule_excepts(name):
    first = sg.func.grad(EXCEPTED[name])
    x, v = sg.tensor([0.0, 1.0, 2.0]), sg.ones(3)
    for second in (
        lambda x: sg.func.jvp(first, (x,), (v,))[1],
        sg.func.grad(lambda x: first(x).sum()),
        sg.func.grad(lambda x: sg.func.jvp(EXCEPTED[name], (x,), (v,))[1]),
    ):
        with np.errstate(all="ignore"):
            want = second(x)
            assert want[0] == 0
            np.testing.assert_allclose(sg.compile(second)(x), want, rtol=1e-6, atol=1e-6)


STEPS = {
    "cbrt(floor)": (lambda x: sg.cbrt(sg.floor(x)), [0.0, 0.0, 0.0]),
    "log(round)": (lambda x: sg.log(sg.round(x)), [0.0, 0.0, 0.0]),
    "of a view of a step": (lambda x: sg.sqrt(sg.sign(x)[:2]).sum() + x, [1.0, 1.0, 1.0]),
    "booleans not taken": (lambda x: sg.sqrt(sg.where(x > 0.2, x, x > 1)), [0.0, 1.0, 0.2]),
    "a number not taken": (lambda x: sg.exp(sg.log(sg.where(x > 0.2, x, 0.0))), [0.0, 1.0, 1.0]),
    "a branch of a branch": (lambda x: sg.sqrt(sg.where(x > 0.2, sg.where(x > 0.1, x, x > 1), 0.0)), [0.0, 1.0, 0.2]),
}


@pytest.mark.parametrize("name", STEPS)
def test_tangents_that_lead_nowhere_stay_zero_beside_infinite_slopes(name):
    f, want = STEPS[name]
    x, v = sg.tensor([0.0, 0.25, 6.25]), sg.ones(3)
    along = lambda x: sg.func.jvp(f, (x,), (v,))[1]  # noqa: E731
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(along(x), want, rtol=1e-6)
        np.testing.assert_allclose(sg.compile(along)(x), want, rtol=1e-6)
        np.testing.assert_allclose(sg.func.jacfwd(f)(x) @ v, want, rtol=1e-6)

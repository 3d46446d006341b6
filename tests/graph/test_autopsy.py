"""The autopsy of a nan: the operation and the entry that it begins at, the limit, and another spelling."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import detect_anomaly
from symgrad.autograd.sweeps import autopsy

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled", "ignore:Error detected in")


def dissected(function, *tensors):
    """The error of a backward pass under anomaly mode, and what was found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with detect_anomaly(), pytest.raises(RuntimeError, match="returned nan values") as caught:
            function(*tensors).backward()
    return str(caught.value), caught.value.autopsy


# ------------------------------------------------------------------------------------------ seeded programs


SMOOTH = {
    "tanh": lambda u: sg.tanh(u) * 2,
    "sin": lambda u: u + sg.sin(u) / 2,
    "exp": lambda u: sg.exp(u / 4),
    "square": lambda u: u * u / 8 + u,
    "scale": lambda u: 1.5 * u - 0.25,
    "turn": lambda u: u.mT if u.ndim == 2 else u.flip(0),
    "beside": lambda u: sg.cat([u, u * 2], 0)[: u.shape[0]],
}
SINGULAR = {
    "sqrt": sg.sqrt,
    "log": sg.log,
    "rsqrt": sg.rsqrt,
    "reciprocal": sg.reciprocal,
    "pow": lambda u: u**0.3,
    "acosh": lambda u: sg.acosh(1 + u),
}
TAILS = {
    "sum": lambda u: u.sum(),
    "mean": lambda u: u.mean(),
    "weighted": lambda u: (u.mT if u.ndim == 2 else u * 3).sum(),
    "twice": lambda u: (u + 2 * u).sum(),
}


def smooth(rng, u):
    for name in rng.choice(list(SMOOTH), size=rng.integers(1, 4)):
        u = SMOOTH[name](u)
    return u


def planted(seed):
    """``(function, leaf, name of the operation, entry)``: a program whose gradient is nan at one entry."""
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(2, 6)),) if rng.random() < 0.5 else (3, 3)
    x = sg.tensor(rng.uniform(0.5, 2.0, shape), requires_grad=True, name="x")
    place = tuple(int(rng.integers(n)) for n in shape)
    kind = ("masked before", "masked after", "negative", "overflow")[seed % 4]
    name = str(rng.choice([k for k in SINGULAR if kind != "negative" or k in ("sqrt", "log", "rsqrt", "pow")]))
    tail = TAILS[str(rng.choice(list(TAILS)))]
    mask = np.ones(shape)
    mask[place] = 0
    mask = sg.tensor(mask)
    steps = rng.bit_generator.state

    def function(x):
        rng.bit_generator.state = steps
        u = smooth(rng, x)
        positive = u * u + 0.5
        if kind == "masked before":  # the gradient of the operation is infinite, and then times 0
            return tail(smooth(rng, SINGULAR[name](positive * mask)))
        if kind == "masked after":  # 0 comes in and meets an infinite slope
            shift = sg.where(mask == 0, positive.detach(), 0)
            return tail(smooth(rng, SINGULAR[name](positive - shift) * mask))
        if kind == "negative":  # there is no value to begin with
            shift = sg.where(mask == 0, positive.detach() + 1, 0)
            return tail(SINGULAR[name](positive - shift) * u)
        grown = sg.exp(u + 1000 * (1 - mask))  # the value is infinite
        return tail(grown / (1 + grown))

    return function, x, "exp" if kind == "overflow" else name, place


@pytest.mark.parametrize("seed", range(32))
def test_origin_of_seeded_programs(seed, monkeypatch):
    monkeypatch.setattr(autopsy, "_MOST_ENTRIES", 0)  # limits have tests of their own
    function, x, name, place = planted(seed)
    text, found = dissected(function, x)
    assert (found.operation.removeprefix("scaled_"), found.index) == (name, place), text


# ------------------------------------------------------------------------------------------ limits and spellings


def leaf(*data, name="x"):
    return sg.tensor(data, dtype=sg.float64, requires_grad=True, name=name)


@pytest.mark.parametrize(
    ("function", "data", "limit"),
    [
        (lambda x: sg.sin(x) / x, (1.0, 0.0), "0"),
        (lambda x: (sg.exp(x) - 1) / x, (0.0, 2.0), "1/2"),
        (lambda x: x * sg.log(x), (1.0, 0.0), "-inf"),
        (lambda x: sg.sqrt(x * x), (0.0, 1.0), "-1 from the left and 1 from the right"),
        (lambda x: sg.log1p(sg.exp(x)), (1000.0, 1.0), "1.0"),
        (lambda x: sg.sqrt(x) * 0, (0.0,), "0"),
    ],
)
def test_limit_of_the_derivative(function, data, limit):
    text, found = dissected(lambda x: function(x).sum(), leaf(*data))
    assert found.limit == limit
    assert f"limit of the derivative there: {limit}" in text


def test_a_limit_has_its_time(monkeypatch):
    assert autopsy.within(0.05, lambda: [max(k, 1) for k in iter(int, 1)]) is None  # it would run for ever
    monkeypatch.setattr(autopsy, "_SECONDS", 0.0)
    text, found = dissected(lambda x: (sg.sin(x) / x).sum(), leaf(0.0))
    assert found.limit is None
    assert "limit" not in text
    assert "rewrite" in text


@pytest.mark.parametrize(
    ("function", "data", "spelling"),
    [
        (lambda x: sg.log1p(sg.exp(x)), 1000.0, "write softplus(x) for log1p(exp(x))"),
        (lambda x: sg.log(sg.exp(x).sum()), 1000.0, "write logsumexp(x, dim=(0,)) for log(sum(exp(x)))"),
        (lambda x: sg.exp(x) / (1 + sg.exp(x)), 1000.0, "write sigmoid(x) for exp(x)/(exp(x) + 1)"),
        (lambda x: sg.sqrt((x * x).sum()), 0.0, "write norm(x) for sqrt(sum(x**2))"),
        (lambda x: sg.sin(x) / x, 0.0, "write where(x != 0, sin(x) / x, 1)"),
        (lambda x: x * sg.sqrt(x), 0.0, "write where(x > 0, sqrt(x), 0)"),
        (lambda x: sg.asin(1 + x) * 0, 0.0, "write where(abs(x + 1) < 1, asin(x + 1), 1.57079"),
    ],
)
def test_rewrite(function, data, spelling):
    text, found = dissected(lambda x: function(x).sum(), leaf(data))
    assert found.rewrite.startswith(spelling), found.rewrite
    assert f"rewrite: {spelling}" in text


def test_a_rewrite_has_no_nan():
    for function in (
        lambda x: sg.nn.functional.softplus(x),
        lambda x: sg.where(x != 0, sg.sin(x) / x, 1),
        lambda x: sg.norm(x),
    ):
        x = leaf(0.0)
        with detect_anomaly(), np.errstate(invalid="ignore"):
            function(x).sum().backward()
        assert np.isfinite(x.grad.numpy()).all()


def test_text_tells_what_was_given_and_where_it_begins():
    x, y = leaf(1.0, 0.0), leaf(2.0, 0.0, name="y")
    text, _ = dissected(lambda x, y: sg.sqrt(x * x + y * y).sum(), x, y)
    assert text.startswith("Function 'MulBackward0' returned nan values in its 0th output.")
    assert "It begins in SqrtBackward0, at [1] of the result of sqrt(), whose gradient is infinite there" in text
    assert "sqrt() was given there: x**2 + y**2 = 0.0" in text
    assert "formula: g/(2*sqrt(x1))" in text


def test_an_interior_point_moves_where_operations_are_not_entrywise():
    A = sg.tensor([[1.0, -1.0], [2.0, 0.5]], dtype=sg.float64, requires_grad=True, name="A")
    x = leaf(1.0, 1.0)
    text, found = dissected(lambda A, x: (sg.sin(A @ x) / (A @ x)).sum(), A, x)
    assert found.index == (0,)
    assert "A @ x = 0.0" in text or "matmul" in text


def test_a_program_whose_constants_are_gone_has_an_error_all_the_same():
    x = leaf(0.0, 1.0)
    with detect_anomaly():
        y = (x.sqrt() * sg.tensor([0.0, 1.0], dtype=sg.float64)).sum()
    text, found = dissected(lambda: y)
    assert found.operation == "sqrt"
    assert "returned nan values" in text


def test_large_arrays_are_not_written_out():
    x = sg.tensor(np.r_[0.0, np.ones(10_000)], requires_grad=True, name="x")
    _, found = dissected(lambda x: (sg.sin(x) / x).sum(), x)
    assert (found.index, found.limit) == ((0,), None)


def test_what_comes_from_outside_is_said_to():
    x = leaf(1.0, 2.0)
    text, found = dissected(lambda: _Pass(x.sin(), sg.tensor([1.0, np.nan], dtype=sg.float64)))
    assert "It begins in SinBackward0, at [1]" in text
    assert "where a hook, or the gradient that the pass began with" in text
    assert (found.limit, found.rewrite) == (None, None)

    def hooked(x):
        y = x.sqrt()
        y.register_hook(lambda g: g * np.inf)
        return (y * 0).sum()

    assert "where a hook" in dissected(hooked, x)[0]
    bad = leaf(1.0, np.nan, name="bad")
    text, found = dissected(lambda b: (b.exp() * b).sum(), bad)
    assert "which was given what is not finite" in text
    assert "exp() was given there: bad = nan" in text
    assert (found.operation, found.index) == ("exp", (1,))


class _Pass:
    def __init__(self, out, seed):
        self.out, self.seed = out, seed

    def backward(self):
        self.out.backward(self.seed)

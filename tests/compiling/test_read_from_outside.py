"""Custom functions that read numbers from outside: their programs do what was recorded, or refuse."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError

SCALE = 2.0
X = np.arange(1.0, 5.0)


class Settings:
    scale = 2.0


class OfModule(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * SCALE

    @staticmethod
    def backward(ctx, g):
        return g * SCALE


class OfClass(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * Settings.scale

    @staticmethod
    def backward(ctx, g):
        return g * Settings.scale


def of_closure(scale):
    class OfClosure(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * scale[0]

        @staticmethod
        def backward(ctx, g):
            return g * scale[0]

    return OfClosure


def of(read):
    """A function that keeps what it reads, and writes to other things as it runs."""

    class Reading(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.scale = read()
            return x * ctx.scale

        @staticmethod
        def backward(ctx, g):
            g = g.clone()
            g[0] = g[0]
            return g * read()

    return Reading


class Counting(sg.autograd.Function):
    calls = 0
    log = []
    table = {"calls": 0}

    @staticmethod
    def forward(ctx, x):
        Counting.calls += 1
        Counting.log.append(x.shape)
        count()
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Counting.table["calls"] += 1
        COUNTER.note(g)
        return g * 2


CALLS = 0


def count():
    global CALLS
    CALLS += 1


class Counter:
    def __init__(self):
        self.number, self.last = 0, None

    def note(self, g):
        self.number += 1
        self.last = [self.number]


COUNTER = Counter()


def twice():
    return 2.0


def thrice():
    return 3.0


OUTER = {
    "function": twice, "list": [1.0, 1.0], "settings": Settings(), "tensor": sg.tensor(2.0), "array": np.array([2.0]),
    "entries": np.full(4, 2.0), "many": np.full(20000, 2.0), "number": [2.0],
}  # fmt: skip


def replaced_settings(value):
    OUTER["settings"] = Settings()
    OUTER["settings"].scale = value


def sums(value):
    OUTER["list"][1:] = [1.0] * round(value - 1)


def variable():
    return sg.tensor(X, requires_grad=True, name="x")


SCALES = [2.0]
CASES = {
    "module": (OfModule, lambda value: globals().update(SCALE=value)),
    "class": (OfClass, lambda value: setattr(Settings, "scale", value)),
    "closure": (of_closure(SCALES), lambda value: SCALES.__setitem__(0, value)),
    "another function": (
        of(lambda: OUTER["function"]()), lambda value: OUTER.update(function=thrice if value == 3 else twice)
    ),
    "more entries": (of(lambda: sum(OUTER["list"])), sums),
    "another object": (of(lambda: OUTER["settings"].scale), replaced_settings),
    "another tensor": (of(lambda: OUTER["tensor"]), lambda value: OUTER.update(tensor=sg.tensor(value))),
    "another array": (of(lambda: OUTER["array"].item()), lambda value: OUTER.update(array=np.array([value]))),
    "entries": (of(lambda: float(OUTER["entries"][0])), lambda value: OUTER["entries"].fill(value)),
    "one of many entries": (of(lambda: float(OUTER["many"][0])), lambda value: OUTER["many"].__setitem__(0, value)),
    "beside what it writes": (of(lambda: OUTER["number"][0]), lambda value: OUTER["number"].__setitem__(0, value)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def settings():
    yield
    for _, put in CASES.values():
        put(2.0)


def slope(function):
    x = variable()
    return sg.autograd.grad((function.apply(x) ** 2).sum(), x, create_graph=True)[0]


def left(function):
    x = variable()
    (function.apply(x) ** 2).sum().backward()
    return x.grad


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("made", [lambda f: f.apply(variable()), slope, left], ids=["value", "slope", "left"])
def test_changed_since(case, made):
    """What is not compiled yet is refused, with the reason; what is does what was recorded."""
    function, put = CASES[case]
    before = sg.compile(made(function), ["x"])
    expected = before(X)
    np.testing.assert_allclose(expected, made(function).detach().numpy())
    y = made(function)
    put(3.0)
    with pytest.raises(CompileError, match="reads values from outside that have changed"):
        sg.compile(y, ["x"])
    np.testing.assert_array_equal(before(X), expected)


@pytest.mark.parametrize("case", CASES)
def test_applied_again(case):
    """A later run of the same function has a formula of its own."""
    function, put = CASES[case]
    assert "2" in function.apply(variable()).latex()
    put(3.0)
    np.testing.assert_allclose(sg.compile(function.apply(variable()), ["x"])(X), 3 * X)
    np.testing.assert_allclose(sg.compile(slope(function), ["x"])(X), 18 * X)


def test_counts_of_calls():
    """What a function writes itself, or what it calls, chooses nothing."""
    for made in (slope, left):
        np.testing.assert_allclose(sg.compile(made(Counting), ["x"])(X), 8 * X)
    assert CALLS == Counting.calls == len(Counting.log) > 0
    assert Counting.table["calls"] == COUNTER.number > 0


class OfArray(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * sg.tensor(OUTER["entries"])

    @staticmethod
    def backward(ctx, g):
        return g * sg.tensor(OUTER["entries"])


def test_arrays_from_outside():
    """Their entries are compared, not the arrays, which have no one truth value and no hash."""
    x = variable()
    first, second = OfArray.apply(x), OfArray.apply(x)
    assert "OfArray" in (first + second).latex()
    OUTER["entries"] = np.full(4, 3.0)
    third = OfArray.apply(x)
    assert len({out.grad_fn.name() for out in (first, third)}) == 1
    assert (first + second).latex() != (first + third).latex()
    OUTER["entries"] = np.full(4, 2.0)


SIZES = {}


class Caching(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        if x.shape[0] not in SIZES:
            SIZES[x.shape[0]] = 2.0
        return x * SIZES[x.shape[0]]

    @staticmethod
    def backward(ctx, g):
        return g * SIZES[g.shape[0]]


class CachingToo(Caching):
    """Its first run finds the cache filled; that on formulas does not."""


@pytest.mark.parametrize("made", [lambda f: f.apply(variable()), slope, left], ids=["value", "slope", "left"])
def test_caches(made):
    """A cache that runs on formulas fill, too, is the function's own."""
    for function in (Caching, CachingToo, CachingToo):
        y = made(function)
        np.testing.assert_allclose(sg.compile(y, ["x"])(X), y.detach().numpy())

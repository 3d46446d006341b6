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


class Counting(sg.autograd.Function):
    calls = 0
    log = []

    @staticmethod
    def forward(ctx, x):
        Counting.calls += 1
        Counting.log.append(x.shape)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def variable():
    return sg.tensor(X, requires_grad=True, name="x")


SCALES = [2.0]
CASES = {
    "module": (OfModule, lambda value: globals().update(SCALE=value)),
    "class": (OfClass, lambda value: setattr(Settings, "scale", value)),
    "closure": (of_closure(SCALES), lambda value: SCALES.__setitem__(0, value)),
}


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
    """What a function writes itself chooses nothing."""
    np.testing.assert_allclose(sg.compile(slope(Counting), ["x"])(X), 8 * X)
    assert Counting.calls == len(Counting.log) > 0

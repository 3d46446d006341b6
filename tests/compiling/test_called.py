"""How compiled functions are called, and what they read besides their arguments: numbers, names, objects."""

from __future__ import annotations

import functools
import inspect
import pickle
import types

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, NameProblem

X = np.array([1.0, 2.0])
WAYS = {"compile": sg.compile, "jit": functools.partial(sg.jit, after=0)}
both = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


# ---------------------------------------------------------------------------------------------- Python's numbers


def steps(x, s):
    """Numbers beside tensors, and numbers made of numbers."""
    return x * s + 1, (x + s * s) / s, sg.sin(s * s) * x, sg.where(x > s, x, s), sg.clamp(x, 0.1, 3) ** s


ARRAYS = {
    "0-d float32": np.float32(1.5),
    "float32": np.array([1.5, 0.2], np.float32),
    "0-d float16": np.float16(1.5),
    "float64": np.array(1.5),
    "whole": np.array([1, 2]),
    "bool": np.array([True, False]),
}


@both
@pytest.mark.parametrize("x", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("s", [0.1, 2.0])
def test_numbers_take_the_dtype_of_the_tensor_beside_them(way, x, s):
    """They became float64, and with them results of 0-d float32 and of whole numbers."""
    fast = way(steps)
    for number in (s, 3 * s):
        wanted = steps(sg.tensor(x), number)
        for a, b in zip(wanted, fast(x, number), strict=True):
            assert np.asarray(b).dtype == a.dtype
            np.testing.assert_allclose(np.asarray(b), a.numpy(), rtol=1e-3 if x.dtype == np.float16 else 1e-6)


def test_numbers_that_are_differentiated_are_tensors():
    """As in eager calls, where ``grad`` makes a tensor of the number."""
    x = np.float32(1.5)
    for place in (0, 1):
        slope = sg.func.grad(lambda x, s: x * s, argnums=place)
        assert sg.compile(slope)(x, 0.5).dtype == slope(sg.tensor(x), 0.5).dtype


# ---------------------------------------------------------------------------------------------- names


def defaults(x, a=1, b=2):
    return x * a + b


def alone(x, a=3, *, k, bias=None):
    return x * k * a if bias is None else x * k + bias


@both
def test_defaults_are_passed_over_and_names_alone_are_taken(way):
    f, g = way(defaults), way(alone)
    np.testing.assert_array_equal(f(X, b=3), X + 3)
    np.testing.assert_array_equal(f(X, a=1.5), X * 1.5 + 2)
    np.testing.assert_array_equal(f(b=X, x=X), 2 * X)
    np.testing.assert_array_equal(g(X, k=2), X * 6)
    np.testing.assert_array_equal(g(X, k=X, bias=1.0), X * X + 1)
    np.testing.assert_array_equal(way(functools.partial(alone, k=0.5))(X, a=2.0), X)
    with pytest.raises((TypeError, ArgumentError), match="k"):
        g(X)
    with pytest.raises((TypeError, ArgumentError), match="position"):
        g(X, 3, 2)
    with pytest.raises((TypeError, NameProblem), match="z"):
        f(X, z=1)


def test_names_alone_in_source_and_followed():
    """A parameter that is given by name alone is an argument of the program under its name."""
    f = sg.compile(alone)
    f(X, k=X)
    assert "def alone(x, k)" in f.source
    x = sg.tensor(X, requires_grad=True)
    f(x, k=2).sum().backward()
    np.testing.assert_array_equal(x.grad, [6, 6])


@both
def test_a_tensor_that_a_moving_value_was_written_to_is_followed(way):
    f = way(lambda x: x**2)
    f(sg.ones(2))

    def whole(a):
        x = sg.ones(2, dtype=a.dtype)
        x[1] = a
        return f(x).sum()

    a = sg.tensor(2.0)
    value, slope = sg.func.jvp(whole, (a,), (sg.ones_like(a),))
    assert (value.item(), slope.item()) == (5, 4)


# ---------------------------------------------------------------------------------------------- surroundings


class Base:
    def __init__(self):
        self.scale = 0.5
        self.options = {"a": 1.0}

    def factor(self):
        return self.scale


class Model(Base):
    shift = 1.0

    def forward(self, x):
        return x * self.factor() * self.options["a"] + self.shift

    def __call__(self, x):
        return self.forward(x)

    @property
    def double(self):
        return 2 * self.scale

    def doubled(self, x):
        return x * self.double

    def loss(self, x):
        return self.forward(x).sum()


class Slots:
    __slots__ = ("k",)

    def f(self, x):
        return x * self.k


def of_options(x, options):
    return x * options["a"]


def attribute_of(thing, name, make):
    return thing, make(thing), lambda: setattr(thing, name, getattr(thing, name) + 1)


def entry_of(thing, make):
    return thing, make(thing), lambda: thing.options.update(a=7.0)


def slotted():
    thing = Slots()
    thing.k = 2.0
    return attribute_of(thing, "k", lambda t: t.f)


def default():
    kept = [1.0]

    def f(x, a=kept):
        return x * a[0]

    return None, f, lambda: kept.__setitem__(0, 5.0)


OBJECTS = {
    "method": lambda: attribute_of(Model(), "scale", lambda m: m.forward),
    "entry": lambda: entry_of(Model(), lambda m: m.forward),
    "class attribute": lambda: attribute_of(Model(), "shift", lambda m: m.forward),
    "callable": lambda: attribute_of(Model(), "scale", lambda m: m),
    "property": lambda: attribute_of(Model(), "scale", lambda m: m.doubled),
    "partial of a method": lambda: attribute_of(Model(), "scale", lambda m: functools.partial(Model.forward, m)),
    "partial": lambda: entry_of(Model(), lambda m: functools.partial(of_options, options=m.options)),
    "gradient of a method": lambda: attribute_of(Model(), "scale", lambda m: sg.func.grad(m.loss)),
    "slots": slotted,
    "namespace": lambda: attribute_of(types.SimpleNamespace(k=1.0), "k", lambda n: lambda x: x * n.k),
    "module": lambda: attribute_of(
        types.ModuleType("settings"), "k", lambda n: setattr(n, "k", 1.0) or (lambda x: x * n.k)
    ),
    "default": default,
}


@both
@pytest.mark.parametrize("case", OBJECTS.values(), ids=OBJECTS)
def test_what_objects_hold_is_guarded(way, case):
    """Programs of methods, callables and partials had the values of the first call for good."""
    _, f, change = case()
    fast = way(f)
    for _ in range(2):
        for _ in range(2):
            np.testing.assert_array_equal(fast(X), f(sg.tensor(X)))
        change()


def test_signatures_are_those_of_the_function(tmp_path):
    """``inspect.signature`` tells names and defaults; SciPy's ``curve_fit`` counts parameters by it."""

    def decay(x, height, rate=2.0):
        return height * np.exp(-rate * x)

    example = np.linspace(0.0, 1.0, 5), 1.0, 3.0
    program = sg.compile(decay, *example)
    assert str(inspect.signature(program)) == "(x, height, rate=2.0)"
    assert str(inspect.signature(sg.compile(sg.func.grad(decay, 1), 0.5, 1.0, 3.0))) == "(x, height, rate=2.0)"
    program.save(tmp_path / "decay.json")
    loaded = sg.compiler.load(tmp_path / "decay.json")
    assert str(inspect.signature(loaded)) == "(x, height, rate)"
    again = pickle.loads(pickle.dumps(program))
    assert list(inspect.signature(again).parameters) == ["x", "height", "rate"]
    with pytest.raises(AttributeError, match="compiled function"):
        loaded.latex()
    optimize = pytest.importorskip("scipy.optimize")
    for f in (program, loaded):
        found, _ = optimize.curve_fit(f, example[0], decay(example[0], 2.0, 0.5))
        assert np.allclose(found, [2.0, 0.5])

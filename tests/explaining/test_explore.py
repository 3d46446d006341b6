"""``sg.explore``: every way through a function, and one formula of all cases that agrees with the function."""

from __future__ import annotations

import json

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError


def huber(r):
    if abs(r) <= 1:
        return r**2 / 2
    return abs(r) - 0.5


def nested(x, y):
    if x.sum() > 3:
        if y < x[0]:
            return (x * y).sum()
        return x.prod()
    if (x > 100).any():
        return y * 0
    if x[0] == 7:
        return y**2
    return sg.exp(y)


def test_both_sides_of_one_condition():
    found = sg.explore(huber, 0.3)
    assert found.complete
    assert [str(way) for way in found] == ["r²/2  if |r| ≤ 1", "|r| − ½  if |r| > 1"]
    assert str(found.expr) == "Piecewise((r**2/2, Abs(r) <= 1), (Abs(r) - 1/2, True))"
    assert r"\begin{cases}" in found.latex()
    assert [str(way.expr) for way in found.gradient("r")] == ["r", "sign(r)"]
    assert found[0].conditions[0].where.startswith("test_explore.py:")


def test_conditions_on_arrays_and_equalities_are_reached():
    found = sg.explore(nested, np.array([1.0, 2.0, 3.0]), 2.0)
    assert found.complete
    assert len(found) == 5
    assert any("x[0] = 7" in str(way) for way in found)


def test_every_example_takes_its_way_and_the_formula_is_the_function():
    found = sg.explore(nested, np.array([1.0, 2.0, 3.0]), 2.0)
    slopes = found.gradient("y")
    rng = np.random.default_rng(0)
    points = [way.example for way in found] + [(rng.normal(size=3) * 4, rng.normal()) for _ in range(200)]
    for x, y in points:
        t = sg.tensor(np.float64(y), requires_grad=True)
        value = nested(sg.tensor(x), t)
        assert np.allclose(found(x, y), value.item(), rtol=1e-12)
        slope = sg.autograd.grad(value, t, allow_unused=True)[0] if value.requires_grad else None
        assert np.allclose(slopes(x, y), 0.0 if slope is None else slope.item(), rtol=1e-12)


def random_program(rng):
    """Nested conditions on linear and quadratic functions of two arguments, with a leaf of its own each."""
    count = iter(range(100))

    def made(depth):
        if not depth or rng.random() < 0.15:
            a, b, k = rng.normal(), rng.normal(), next(count)
            return lambda x, y: a * x * x + b * sg.sin(y) + k
        a, b, c, square = rng.normal(), rng.normal(), rng.normal(), rng.random() < 0.3
        yes, no = made(depth - 1), made(depth - 1)

        def program(x, y):
            level = a * x * x + b * y if square else a * x + b * y
            return yes(x, y) if level > c else no(x, y)

        return program

    return made(3)


@pytest.mark.parametrize("seed", range(3))
def test_random_programs_are_found_whole(seed):
    """At every one of many points the merged formula, and its gradient, are those of the program."""
    program = random_program(np.random.default_rng(seed))
    found = sg.explore(program, 0.5, -0.5)
    slopes = found.gradient("x")
    rng = np.random.default_rng(seed + 100)
    for x, y in rng.normal(size=(60, 2)) * 3:
        t = sg.tensor(x, requires_grad=True)
        value = program(t, sg.tensor(y))
        assert np.allclose(found(x, y), value.item(), rtol=1e-9)
        assert np.allclose(slopes(x, y), sg.autograd.grad(value, t)[0].item(), rtol=1e-9)


def test_impossible_conditions_are_named_not_invented():
    def program(x):
        if x > 0 and x < -1:
            return x
        return -x

    found = sg.explore(program, 1.0)
    assert not found.complete
    assert "x < −1" in str(found)
    assert "not reached" in str(found)
    assert str(found.expr) == "-x"


def test_ways_that_raise():
    def program(x):
        if x < 0:
            raise ValueError("negative")
        return sg.sqrt(x)

    found = sg.explore(program, 1.0)
    assert found.complete
    assert [way.error for way in found] == ["ValueError: negative", ""]
    assert str(found.expr) == "sqrt(x)"


def test_loops_end():
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    found = sg.explore(halved, 3.0, most=6)
    assert not found.complete
    assert len(found) >= 6
    assert "most=" in str(found)
    assert found(3.0) == 0.75

    def endless(x):
        while x > -1:
            x = x * 1.0
        return x

    assert "may not end" in str(sg.explore(endless, 1.0))


def test_what_is_not_seen_is_said():
    def program(x):
        return x if x.item() > 0 else -x

    found = sg.explore(program, 1.0)
    assert not found.complete
    assert "item()" in found.notes[0]
    assert "test_explore.py:" in found.notes[0]


def test_one_formula_for_every_size():
    def program(x):
        return (x * x).sum() if x.sum() > 0 else x.sum()

    small, large = sg.explore(program, np.ones(5)), sg.explore(program, np.ones(1000))
    assert small.latex() == large.latex()
    assert small.gradient("x").latex() == large.gradient("x").latex()


def test_forms_and_errors():
    found = sg.explore(huber, 0.3)
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["complete"]
    assert len(again["ways"]) == 2
    assert found._repr_latex_().startswith("$")
    assert repr(found) == str(found)

    def shapes(x):
        return x if x[0] > 0 else x.sum()

    mixed = sg.explore(shapes, np.ones(3))
    assert len(mixed) == 2
    assert "<li>" in mixed._repr_html_()
    with pytest.raises(FormulaError, match="shapes"):
        mixed.latex()
    with pytest.raises(ArgumentError, match="gives float"):
        sg.explore(lambda x: 1.0, 2.0)
    with pytest.raises(ArgumentError, match="floating-point"):
        sg.explore(lambda k: k, 2)
    with pytest.raises(ArgumentError, match="the arguments are r"):
        found.gradient("q")
    with pytest.raises(ArgumentError, match="takes 1 arguments"):
        sg.explore(huber, 1.0, 2.0)
    with pytest.raises(ArgumentError, match="2 arguments for r"):
        found(1.0, 2.0)

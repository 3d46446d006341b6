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


def test_impossible_conditions_are_proved_and_named_not_invented():
    def program(x):
        if x > 0 and x < -1:
            return x
        return -x

    found = sg.explore(program, 1.0)
    assert found.complete
    assert not found.unreached
    assert [str(c.expr) for c in found.impossible[0]] == ["x > 0", "x < -1"]
    assert "impossible: x > 0 and x < −1  (test_explore.py:" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["impossible"] == [["x > 0", "x < -1"]]
    assert found.gradient("x").impossible == found.impossible
    assert str(found.expr) == "-x"


IMPOSSIBLE = {
    "transitive": lambda x, y, v: x > y and y > v[0] and v[0] > x,
    "sums": lambda x, y, v: x + y > 1 and x - y > 1 and x < 1,
    "entries": lambda x, y, v: (v <= 1).all() and v.sum() > 3,
    "an entry": lambda x, y, v: v[1] > 3 and v.max() < 2,
    "squares": lambda x, y, v: x**2 - 2 * x * y + y**2 < 0,
    "length": lambda x, y, v: v @ v < 0,
    "inverse": lambda x, y, v: sg.exp(x) > 10 and x < 2,
    "range": lambda x, y, v: sg.tanh(x * y) > 1,
    "signs": lambda x, y, v: x * y > 1 and x < 0 and y > 0,
    "powers": lambda x, y, v: x**2 < 1 and y > x + 2 and y < 0.9,
    "quotient": lambda x, y, v: x > 0 and 1 / x < 0,
    "equation": lambda x, y, v: x / 2 == 3 and x < 5,
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_is_proved_impossible(name):
    condition = IMPOSSIBLE[name]
    found = sg.explore(lambda x, y, v: x if condition(x, y, v) else y, 1.0, 2.0, np.array([0.5, 1.0, -1.0]))
    assert found.complete, found
    assert found.impossible
    assert not found.unreached


def test_what_is_hard_is_not_called_impossible():
    """Comparisons that fail for a nan, needles, and values that floats reach though exact ones do not."""

    def undefined(x):
        if x < -1:
            if sg.log(x) > 0:
                return x
            return 2 * x  # log(x) is nan here, and no comparison of it holds
        return -x

    found = sg.explore(undefined, 1.0)
    assert any("2 x" in str(way) for way in found)

    def needle(x):
        return x if sg.sin(x * 1e6) * sg.cos(x) > 0.9999999 else -x

    assert not sg.explore(needle, 1.0).impossible

    def underflow(x):
        return x if sg.exp(x) <= 0 else -x

    assert not sg.explore(underflow, 1.0).impossible


@pytest.mark.parametrize("seed", range(2))
def test_no_point_fulfils_what_is_called_impossible(seed):
    from symgrad.explaining.impossible import impossible
    from symgrad.formula.term import evaluate, symbol

    rng = np.random.default_rng(seed)
    x, y = symbol("x"), symbol("y", (3,))
    unary = [
        sg.exp,
        sg.tanh,
        sg.abs,
        sg.relu,
        sg.log,
        sg.sqrt,
        sg.floor,
        lambda u: u * u,
        lambda u: 1 / u,
        lambda u: u**3,
    ]
    joined = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, sg.minimum]

    def grown(depth):
        if not depth:
            leaf = (x, sg.sum(y), sg.amax(y), sg.linalg.vector_norm(y))[rng.integers(4)]
            return leaf * int(rng.integers(-2, 3)) + int(rng.integers(-2, 3))
        if rng.random() < 0.5:
            return unary[rng.integers(len(unary))](grown(depth - 1))
        return joined[rng.integers(len(joined))](grown(depth - 1), grown(depth - 1))

    start = {"x": np.float64(1.0), "y": np.ones(3)}
    rows = [p * scale for scale in (0.1, 1.0, 10.0) for p in rng.normal(size=(15, 4))]
    rows += list(rng.integers(-3, 4, size=(30, 4)) + 0.0)
    points = [{"x": np.float64(p[0]), "y": p[1:]} for p in rows]
    proved = 0
    for _ in range(12):
        path = [(grown(int(rng.integers(2))) > grown(1), bool(rng.random() < 0.7)) for _ in range(rng.integers(1, 4))]
        if impossible(path, start, [x, y], {}):
            proved += 1
            for point in points:
                assert not all(bool(evaluate(c, point)) == wanted for c, wanted in path), (path, point)
    assert proved


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

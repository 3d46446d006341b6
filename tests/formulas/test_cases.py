"""Piecewise formulas: cases about one number line are told once each, with the same value everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.term import Term, evaluate, number, symbol
from symgrad.op import lookup

PLACES = np.array([-4.0, -3.0, -2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0])


def shown(term: Term) -> str:
    return spelled(latex(term), "unicode")


def activation(name: str, times: int = 0) -> str:
    x = sg.tensor(PLACES, requires_grad=True, name="x")
    y = getattr(sg.nn.functional, name)(x)
    for _ in range(times):
        (y,) = sg.autograd.grad(y.sum(), [x], create_graph=True)
    assert np.allclose(
        evaluate(canonical(y.term), {"x": PLACES}, {"n": len(PLACES)}), y.numpy(force=True), rtol=1e-12, atol=0
    )
    return shown(y.term)


@pytest.mark.parametrize(
    ("name", "times", "text"),
    [
        ("elu", 0, "{x for x ≥ 0; e^x − 1 otherwise}"),
        ("elu", 1, "{1 for x ≥ 0; e^x otherwise}"),
        ("elu", 2, "{0 for x ≥ 0; e^x otherwise}"),
        ("celu", 1, "{1 for x ≥ 0; e^x otherwise}"),
        ("selu", 1, "{1.0507009873554805 for x > 0; 1.7580993408473766 e^x otherwise}"),
        ("relu6", 0, "{0 for x ≤ 0; 6 for x ≥ 6; x otherwise}"),
        ("relu6", 1, "{1 for 0 < x < 6; 0 otherwise}"),
        ("hardtanh", 1, "{1 for −1 < x < 1; 0 otherwise}"),
        ("hardswish", 0, "{0 for x ≤ −3; x for x ≥ 3; ⅙ x ⊙ (x + 3) otherwise}"),
        ("hardswish", 1, "{0 for x ≤ −3; 1 for x ≥ 3; ⅓ x + ½ otherwise}"),
        ("hardsigmoid", 0, "{0 for x ≤ −3; 1 for x ≥ 3; ⅙ (x + 3) otherwise}"),
    ],
)
def test_activations(name: str, times: int, text: str) -> None:
    assert activation(name, times) == text


def random_cases(rng: np.random.Generator, x: Term, y: Term, depth: int = 3) -> Term:
    """A tree of choices between places of x, and sometimes of y, in arguments of functions too."""
    kind = rng.integers(6) if depth else 0
    if kind == 0:
        return [x, number(int(rng.integers(-2, 3))) * x, y, x * y, x + 1, number(2) + 0 * x][rng.integers(6)]
    parts = [random_cases(rng, x, y, depth - 1) for _ in range(2)]
    if kind == 1:
        return parts[0] + parts[1]
    if kind == 2:
        return lookup("tanh")(parts[0])
    about = [x, -x, 2 * x - 1, y][rng.integers(4)]
    test = lookup(["lt", "le", "gt", "ge", "eq", "ne"][rng.integers(6)])(about, number(int(rng.integers(-1, 2))))
    if kind == 3:
        other = lookup("gt")(x, number(int(rng.integers(-1, 2))))
        test = lookup(["logical_and", "logical_or"][rng.integers(2)])(lookup("logical_not")(other), test)
    return lookup("where")(test, *parts)


@pytest.mark.parametrize("seed", range(60))
def test_values_of_random_cases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = symbol("x", ("n",)), symbol("y", ("n",))
    made = random_cases(rng, x, y, 4)
    grid = np.array([(a, b) for a in PLACES for b in (-1.0, 0.0, 0.5, 2.0)]).T
    values, sizes = {"x": grid[0], "y": grid[1]}, {"n": grid.shape[1]}
    want = np.broadcast_to(np.asarray(evaluate(made, values, sizes), float), grid[0].shape)
    short = canonical(made)
    assert np.allclose(evaluate(short, values, sizes), want, rtol=1e-12, atol=1e-12)
    assert canonical(short) is short


def test_what_the_program_gives_at_nan_is_the_last_case() -> None:
    x = symbol("x", ("n",))
    limited = lookup("where")(x >= 2, 2, lookup("where")(x <= -1, -1, x))
    assert shown(limited) == "{−1 for x ≤ −1; 2 for x ≥ 2; x otherwise}"
    assert np.isnan(evaluate(canonical(limited), {"x": np.array([np.nan])})).all()


def test_other_conditions_are_known_inside_of_functions() -> None:
    x, y = symbol("x", ("n",)), symbol("y", ("n",))
    where = lookup("where")
    safe = where(x < y, lookup("log")(where(x < y, y - x, 1)), 0)
    assert shown(safe) == "{log(y − x) for x < y; 0 otherwise}"


def test_conditions_about_nothing_stay() -> None:
    x, zero = symbol("x", ("n",)), number(0) * symbol("x", ("n",))
    where = lookup("where")
    term = where(lookup("lt")(zero, x * 0), where(lookup("gt")(zero, 1), x, 2 * x), 3 * x)
    values = {"x": np.array([1.0, -2.0])}
    assert np.allclose(evaluate(canonical(term), values), evaluate(term, values))


def test_truth_values_join_the_only_cases_beside_them() -> None:
    """They did beside a second sum of cases only, whatever that asked."""
    x, y, z, u = (symbol(name, ("n",)) for name in "xyzu")
    where = lookup("where")
    made = y * (x > 0) + where(x > 0, z, u)
    assert shown(made) == "{y + z for x > 0; u otherwise}"
    assert shown(made + where(y > 0, u, z)) == "({y + z for x > 0; u otherwise}) + {u for y > 0; z otherwise}"
    values = {name: np.array([-1.0, 0.5, np.nan]) * k for k, name in enumerate("xyzu", 1)}
    assert np.allclose(evaluate(canonical(made), values), evaluate(made, values), equal_nan=True)

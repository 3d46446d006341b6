"""Rules for batches where the program around them needs single examples."""

from __future__ import annotations

import pytest

import symgrad as sg
from tests.manners.test_batching_rules import batch, scaled


@pytest.mark.parametrize(
    "program",
    [
        lambda f, a, y: f.apply(a * 2 if a.sum() > 3 else a * 3, y),
        lambda f, a, y: f.apply(a.clone().mul_(2), y) + f.apply(a, y),
        lambda f, a, y: sg.func.grad(lambda b: (f.apply(b, y) * b).sum())(a),
        lambda f, a, y: f.apply(a, y) + float(a[0]),
    ],
    ids=["branch", "change", "transform", "number"],
)
def test_examples_after_all(program):
    """Branches on values and the like run on examples: the function is applied to each, and the rule is not asked."""
    f = scaled(sg)
    x, y = batch(sg)
    out = sg.func.vmap(lambda a: program(f, a, y))(x)
    assert out.tolist() == [program(f, row, y).tolist() for row in x]


def test_examples_changed_in_place():
    """A change before the function was met is not done twice."""
    f = scaled(sg)
    x, y = batch(sg)
    assert sg.func.vmap(lambda a: f.apply(a.mul_(2), y))(x.clone()).tolist() == (2 * x * y).tolist()


def test_forward_mode():
    """Without ``jvp``, backward is transposed, also where the rule was applied."""
    f = scaled(sg)
    x, y = batch(sg)
    _, moved = sg.func.jvp(lambda z: sg.func.vmap(lambda a: f.apply(a, z))(x), (y,), (y,))
    assert moved.tolist() == (x * y).tolist()


def test_random_numbers():
    """Numbers that are to differ are drawn example by example; seeds make them the same again."""
    f = scaled(sg)
    x, y = batch(sg)
    out = sg.func.vmap(lambda a: f.apply(a, y) + sg.rand(2), randomness="different")(x * 0)
    assert len({tuple(row) for row in out.tolist()}) == 3
    same = sg.func.vmap(lambda a: f.apply(a, y) + sg.rand(2), randomness="same")(x * 0)
    assert len({tuple(row) for row in same.tolist()}) == 1

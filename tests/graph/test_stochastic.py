"""Samples and their rewards: the score function reaches the parameters, as number, formula and program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate

P = np.array([0.3, 0.6, 0.9])
M, S = np.array([0.5, -1.0, 2.0]), np.array([0.7, 1.3, 2.0])
REWARDS: list[Any] = [2.0, -0.5, np.array([1.0, -2.0, 3.0])]


def leaf(value: Any, name: str) -> Any:
    return sg.tensor(value, requires_grad=True, name=name)


def log_bernoulli(a: Any, p: Any) -> Any:
    return np.where(a == 1, np.log(p), np.log(1 - p))


def log_normal(a: Any, m: Any, s: Any) -> Any:
    return -(((a - m) / s) ** 2) / 2 - np.log(s) - math.log(2 * math.pi) / 2


def log_choice(a: Any, w: Any) -> Any:
    return np.log(w[a] / w.sum())


def log_row(a: Any, w: Any) -> Any:
    """Draws one after the other, none twice."""
    drawn = np.cumsum(w[a]) - w[a]
    return np.log(w[a] / (w.sum() - drawn))


SAMPLERS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "bernoulli": (lambda p: p.bernoulli(), log_bernoulli, (P,)),
    "normal": (sg.normal, log_normal, (M, S)),
    "choice": (lambda w: w.multinomial(3, replacement=True), log_choice, (P,)),
    "row": (lambda w: w.multinomial(3), log_row, (P,)),
}
KINDS = pytest.mark.parametrize("kind", SAMPLERS)


def slope(log_p: Callable[..., Any], sample: Any, reward: Any, values: tuple[Any, ...], i: int) -> Any:
    """Numeric gradient of Σ reward · log p by parameter ``i``."""
    out, step = np.zeros_like(values[i]), 1e-6
    for k in range(out.size):
        for sign in (1, -1):
            moved = values[i].copy()
            moved[k] += sign * step
            args = (*values[:i], moved, *values[i + 1 :])
            out[k] += sign * np.sum(reward * log_p(sample, *args)) / (2 * step)
    return out


@KINDS
@pytest.mark.parametrize("reward", REWARDS, ids=range(len(REWARDS)))
def test_the_score_reaches_the_parameters(kind: str, reward: Any) -> None:
    draw, log_p, values = SAMPLERS[kind]
    leaves = [leaf(v, f"t{i}") for i, v in enumerate(values)]
    a = draw(*leaves)
    given = sg.tensor(reward, name="R")
    a.reinforce(given)
    assert a.requires_grad
    a.backward()
    for i, t in enumerate(leaves):
        want = slope(log_p, a._value, reward, values, i)
        np.testing.assert_allclose(t.grad, want, rtol=1e-6, atol=1e-8)
        name = "a" if kind == "normal" else "sample"  # what is returned by a lambda has no variable
        assert {name, "R"} <= set(map(str, t.grad.expr.free_symbols))
        named = {name: a._value, "R": given._value, **{f"t{k}": v for k, v in enumerate(values)}}
        np.testing.assert_allclose(evaluate(t.grad.term, named), t.grad, rtol=1e-12)
        program = sg.compile(t.grad, list(named))
        np.testing.assert_allclose(program(*named.values()), t.grad, rtol=1e-12)


@KINDS
def test_it_comes_through_whatever_made_the_parameters(kind: str) -> None:
    draw, log_p, values = SAMPLERS[kind]
    t = leaf(np.log(values[0] - values[0].min() + 1), "t")
    first = sg.exp(t) + (float(values[0].min()) - 1)
    a = draw(first, *values[1:])
    a.reinforce(2.0)
    (got,) = sg.autograd.grad(a, t)
    want = slope(log_p, a._value, 2.0, values, 0) * np.exp(t._value)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


@KINDS
def test_a_missing_reward_is_named(kind: str) -> None:
    draw, _, values = SAMPLERS[kind]
    a = draw(*(leaf(v, f"t{i}") for i, v in enumerate(values)))
    for call in (a.backward, lambda: sg.autograd.grad(a, leaf(1.0, "x")), lambda: sg.autograd.backward([a], [None])):
        with pytest.raises(RuntimeError, match=r"requires providing a reward.*reinforce"):
            call()


def test_several_roots_and_losses() -> None:
    p = leaf(P, "p")
    x = leaf(2.0, "x")
    first, second = p.bernoulli(), p.bernoulli()
    first.reinforce(1.0)
    second.reinforce(3.0)
    sg.autograd.backward([x * x, first, second], [None, None, None])
    want = slope(log_bernoulli, first._value, 1.0, (P,), 0) + slope(log_bernoulli, second._value, 3.0, (P,), 0)
    np.testing.assert_allclose(p.grad, want, rtol=1e-6, atol=1e-8)
    assert x.grad == 4


def test_a_loss_made_before_the_reward_is_reached() -> None:
    p = leaf(P, "p")
    a = p.bernoulli()
    loss = (a * 5).sum()
    a.reinforce(loss.item())
    loss.backward()
    np.testing.assert_allclose(p.grad, slope(log_bernoulli, a._value, loss.item(), (P,), 0), rtol=1e-6)


@pytest.mark.parametrize("kind", ["bernoulli", "normal"])
def test_without_reward_the_derivative_inside_a_loss_is_zero(kind: str) -> None:
    draw, _, values = SAMPLERS[kind]
    leaves = [leaf(v, f"t{i}") for i, v in enumerate(values)]
    (draw(*leaves) ** 2).sum().backward()
    for t in leaves:
        np.testing.assert_array_equal(t.grad, np.zeros(3))


def test_probabilities_of_zero_and_one_give_finite_slopes() -> None:
    p = leaf([0.0, 1.0], "p")
    a = p.bernoulli()
    a.reinforce(1.0)
    a.backward()
    assert p.grad.tolist() == [-1.0, 1.0]


def test_second_order() -> None:
    p = leaf(P, "p")
    a = p.bernoulli()
    a.reinforce(2.0)
    (g,) = sg.autograd.grad(a, p, create_graph=True)
    (second,) = sg.autograd.grad(g.sum(), p)
    np.testing.assert_allclose(second, -2 / np.where(a._value == 1, P, 1 - P) ** 2)


def test_what_is_refused() -> None:
    p = leaf(P, "p")
    with pytest.raises(RuntimeError, match="can be only called on outputs of stochastic functions"):
        (p * 2).reinforce(1.0)
    with pytest.raises(RuntimeError, match=r"shape \(2,\) does not broadcast to the sample's shape \(3,\)"):
        p.bernoulli().reinforce(sg.ones(2))
    a = p.detach().bernoulli()
    a.reinforce(1.0)
    with pytest.raises(RuntimeError, match="does not require grad"):
        a.backward()
    b = p.bernoulli()
    b.reinforce(1.0)
    b.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        b.backward()


@KINDS
def test_generators_and_seeds(kind: str) -> None:
    draw, _, values = SAMPLERS[kind]
    leaves = [leaf(v, f"t{i}") for i, v in enumerate(values)]
    rows = []
    for _ in range(2):
        sg.manual_seed(5)
        rows.append(draw(*leaves).tolist())
    assert rows[0] == rows[1]
    given = [sg.multinomial(leaves[0].abs(), 2, generator=np.random.default_rng(4)).tolist() for _ in range(2)]
    assert given[0] == given[1]


def test_frequencies_of_draws() -> None:
    w = sg.tensor([[1.0, 1.5, 2.5, 0.0], [0.0, 0.0, 3.0, 1.0]])
    many = sg.multinomial(w, 20000, replacement=True)
    for row, want in zip(many.numpy(), ([0.2, 0.3, 0.5, 0], [0, 0, 0.75, 0.25]), strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=4) / 20000, want, atol=0.02)
    rows = sg.multinomial(w[:1].expand(20000, 4), 2).numpy()
    assert (rows[:, 0] != rows[:, 1]).all()
    np.testing.assert_allclose(np.bincount(rows[:, 0], minlength=4) / 20000, [0.2, 0.3, 0.5, 0], atol=0.02)
    np.testing.assert_allclose(np.mean((rows == [2, 1]).all(1)), 0.5 * 0.3 / 0.5, atol=0.02)


@pytest.mark.parametrize(
    ("weights", "count", "words"),
    [
        ([-1.0, 1.0], 1, "either `inf`, `nan` or element < 0"),
        ([math.inf, 1.0], 1, "either `inf`, `nan` or element < 0"),
        ([0.0, 0.0], 1, "sum of probabilities <= 0"),
        ([1.0, 1.0], 3, "cannot sample n_sample > prob_dist.size"),
        ([1.0, 1.0], 0, "cannot sample n_sample <= 0 samples"),
        ([1, 1], 1, "multinomial only supports floating-point dtypes"),
        ([[[1.0]]], 1, "prob_dist must be 1 or 2 dim"),
    ],
)
def test_weights_that_cannot_be_drawn_from(weights: Any, count: int, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        sg.multinomial(sg.tensor(weights), count)


def test_other_refusals() -> None:
    with pytest.raises(RuntimeError, match="p_in >= 0"):
        sg.bernoulli(sg.tensor([2.0]))
    with pytest.raises(RuntimeError, match="std >= 0"):
        sg.normal(sg.zeros(1), sg.tensor([-1.0]))


def test_bernoulli_of_a_number_takes_only_the_shape_of_the_input() -> None:
    x = sg.tensor([np.inf, np.nan, 1.0], requires_grad=True)
    sample = x.bernoulli(1.0)
    assert sample.tolist() == [1.0, 1.0, 1.0]
    sample.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]

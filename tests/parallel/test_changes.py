"""Arguments and surroundings of a parallel function that change, before a call, in it and between two."""

from __future__ import annotations

import functools
import multiprocessing

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.parallel import value_and_grad

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(5, 7)), RNG.normal(size=7)

forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")


def test_arguments_that_were_changed_before():
    """As parameters that are trained in place and batches that are filled: only changes by the function count."""
    w, X = sg.tensor(W.copy()), sg.tensor(np.ones((3, 7)))
    w.sub_(0.5)
    X[0] = 7.0
    want = sg.func.value_and_grad(lambda w, X: (X @ w).mean())(w, X)
    with value_and_grad(lambda w, X: (X @ w).mean(), workers=1) as both:
        for _ in range(2):
            found = both(w, X)
            assert found[0].item() == pytest.approx(want[0].item())
            assert np.allclose(found[1], want[1])
            w.mul_(1.0)


def test_the_trial_tells_of_changes_in_place():
    with value_and_grad(lambda w, X: (X.add_(1) @ w).mean(), workers=1) as both:
        with pytest.raises(ArgumentError, match="changes an argument in place"):
            both(W, X.copy())


@forks
def test_what_a_decorator_holds_is_noticed():
    scale = 1.0

    def scaled(function):
        @functools.wraps(function)
        def call(*args):
            return scale * function(*args)

        return call

    @scaled
    def f(w, X):
        return (X @ w).mean()

    with value_and_grad(f, workers=2) as both:
        before = both(W, X)[0].item()
        scale = 3.0
        assert both(W, X)[0].item() == pytest.approx(3 * before)


def squared(t):
    return t**2


def cubed(t):
    return t**3


HELPERS = {"of the loss": squared}
helper = squared


@forks
def test_helpers_that_are_replaced_are_noticed(monkeypatch):
    """Those of the module, of tables and of the closure; workers had the former ones, silently."""
    inner = squared

    def f(w, X):
        return (helper(X @ w) + HELPERS["of the loss"](w[0]) + inner(w[1])).mean()

    with value_and_grad(f, workers=1) as both:
        both(W, X)
        monkeypatch.setitem(globals(), "helper", cubed)
        assert both(W, X)[0].item() == pytest.approx(f(W, X))
        monkeypatch.setitem(HELPERS, "of the loss", lambda t: t**5)
        assert both(W, X)[0].item() == pytest.approx(f(W, X))
        inner = cubed
        assert both(W, X)[0].item() == pytest.approx(f(W, X))

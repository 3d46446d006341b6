"""sg.check names one mistake in the shortest form of a gradient, as people derive it on paper."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check

RNG = np.random.default_rng(3)
X, W, w = RNG.normal(size=(9, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=3)
Y, y = np.eye(4)[RNG.integers(0, 4, 9)], RNG.poisson(2.0, 9) + 0.0


def log_of_sum(W):
    S = X @ W
    return -np.sum(Y * (S - np.log(np.sum(np.exp(S), axis=1, keepdims=True))))


def log_of_quotient(W):
    E = np.exp(X @ W)
    return -np.sum(Y * np.log(E / E.sum(axis=1, keepdims=True)))


def log_softmax(W):
    return -np.sum(Y * sg.log_softmax(X @ W, dim=1))


def logsumexp(W):
    S = X @ W
    return -np.sum(Y * S) + np.sum(Y.sum(axis=1) * sg.logsumexp(S, dim=1))


def normalised_by_columns(W):
    E = np.exp(X @ W)
    return X.T @ (E / E.sum(axis=0) - Y)


@pytest.mark.parametrize("f", [log_of_sum, log_of_quotient, log_softmax, logsumexp])
def test_the_axis_of_a_softmax_that_the_function_has_in_other_words(f):
    found = check(f, normalised_by_columns, W).arguments[0].diagnosis
    assert found.kind == "axis"
    assert "axis 0" in found.sentence
    assert "axis 1" in found.sentence


def counts(w):
    return np.sum(np.exp(X @ w) - y * (X @ w))


def test_a_sum_for_a_product_with_the_transpose():
    found = check(counts, lambda w: X.T @ np.exp(X @ w) - y.sum(), w).arguments[0].diagnosis
    assert found.kind == "factor"
    assert "X.T" in found.sentence


def scores(w):
    return np.mean(np.log(1 + np.exp(X @ w)))


def test_another_function_is_called_by_its_name():
    found = check(scores, lambda w: X.T @ np.tanh(X @ w) / len(X), w).arguments[0].diagnosis
    assert (
        found.sentence == "The function tanh stands where sigmoid should, where the exact formula has sigmoid(X @ w)."
    )


def test_noise_is_not_explained():
    noise = RNG.normal(size=W.shape)
    assert check(log_softmax, lambda W: noise * W, W).arguments[0].diagnosis.kind == "unknown"


def test_the_axis_in_a_formula_that_a_person_types():
    of = "sum(logsumexp(X@W, 1)) - sum(Y*(X@W))"
    verdict = sg.judge("X.T @ (softmax(X@W, 0) - Y)", of=of, wrt="W")
    assert verdict.verdict == "DIFFERENT"
    assert verdict.diagnosis.kind == "axis"

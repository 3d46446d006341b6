"""Mistakes inside of one operation's derivative, in some rounds of a loop, along a wrong axis, and in what is kept."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check

RNG = np.random.default_rng(5)
N = RNG.normal(size=(4, 4))
S, C = N @ N.T + 4 * np.eye(4), RNG.normal(size=(4, 4))


def said(report) -> str:
    assert not report.ok
    return " ".join(f"{a.diagnosis} {a.diagnosis.line}" for a in report.arguments if a.diagnosis)


# ---------------------------------------------------------------------------------------------- rules


def factor(S):
    return (np.linalg.cholesky(S) * C).sum()


def factor_grad(S, diagonal=0.5, turned=False):
    L = np.linalg.cholesky(S)
    P = np.tril(L.T @ np.tril(C))
    P[np.diag_indices(4)] *= diagonal
    inv = np.linalg.inv(L)
    G = inv @ P @ inv.T if turned else inv.T @ P @ inv
    return (G + G.T) / 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"diagonal": 1.0}, ("cholesky", "diag", "is missing")),
        ({"diagonal": 0.25}, ("cholesky", "diag", "3/2 times")),
        ({"turned": True}, ("cholesky", "transpose")),
    ],
)
def test_a_step_of_the_derivative_of_a_cholesky_factor_is_named(options, words):
    assert check(factor, factor_grad, S)
    found = said(check(factor, lambda S: factor_grad(S, **options), S))
    assert all(word in found for word in words), found


def test_gradients_of_symmetric_matrices_are_looked_at_as_symmetric_ones():
    def f(A):
        w, Q = np.linalg.eigh(A)
        return (Q * Q * C).sum() + (w**3).sum()

    def grad(A, part=1.0):
        w, Q = np.linalg.eigh(A)
        F = 1 / np.where(np.eye(4) > 0, np.inf, w[None, :] - w[:, None])
        return Q @ (part * F * (Q.T @ (2 * Q * C)) + np.diag(3 * w**2)) @ Q.T  # one triangle holds it all

    A = N + N.T
    assert check(f, grad, A)
    assert "1/2 times" in said(check(f, lambda A: grad(A, 0.5), A))


# ---------------------------------------------------------------------------------------------- axes and numbers


def likelihood(W, X, T):
    z = X @ W
    return (np.log(np.exp(z).sum(1)) - (z * T).sum(1)).mean()


def test_a_softmax_along_the_wrong_axis_is_named():
    X, T = RNG.normal(size=(6, 3)), np.eye(2)[RNG.integers(0, 2, 6)]

    def grad(W, X, T, axis):
        p = np.exp(X @ W)
        return X.T @ (p / p.sum(axis, keepdims=True) - T) / len(X)

    W = RNG.normal(size=(3, 2))
    assert check(likelihood, lambda W, X, T: grad(W, X, T, 1), W, X, T)
    report = check(likelihood, lambda W, X, T: grad(W, X, T, 0), W, X, T)
    assert report.diagnosis.kind == "axis"
    assert "along axis 0, not along axis 1" in said(report)


def test_factors_that_are_arguments_are_named():
    def f(x, width):
        return np.exp(-(x**2).sum() / width**2)

    report = check(f, lambda x, width: -2 * x * f(x, width) / width, np.array([0.3, -0.4]), 1.3)
    assert "width (= 1.3) times" in said(report)


def test_a_value_computed_without_its_epsilon_is_named():
    def forward(x):
        return (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3)

    def backward(v, x):
        h = forward(x)
        return (v - v.mean(0) - h * (v * h).mean(0)) / np.sqrt(x.var(0))

    assert "without 0.001 that is added" in said(check(forward, backward, RNG.normal(size=(6, 3)), kind="vjp"))


# ---------------------------------------------------------------------------------------------- loops


def energy(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            r = ((x[i] - x[j]) ** 2).sum()
            s = 1 / r**3
            total = total + (s * s - s)
    return total


def forces(x, last=0, twelve=12):
    g = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1, len(x) - last):
            d = x[i] - x[j]
            s = 1 / (d @ d) ** 3
            part = (6 * s - twelve * s * s) / (d @ d) * d
            g[i] += part
            g[j] -= part
    return g


ATOMS = np.array([[0, 0, 0], [1.2, 0.1, 0], [0, 1.1, 0.3], [0.9, 0.8, 1.1]])


def test_rounds_that_are_missing_are_counted():
    assert check(energy, forces, ATOMS)
    report = check(energy, lambda x: forces(x, last=1), ATOMS)
    assert report.diagnosis.kind == "rounds"
    assert "in 3 of the 6 rounds of its line: number 3, 5, 6" in said(report)


def test_equal_operations_of_a_line_are_told_apart_by_what_they_read():
    assert "each time the line runs" in said(check(energy, lambda x: forces(x, twelve=6), ATOMS))


def test_the_slope_of_a_recurrence_taken_at_the_argument_is_named():
    def states(W, x):
        h = [np.zeros(3)]
        for row in x:
            h.append(np.tanh(W @ h[-1] + row))
        return h

    def loss(W, x):
        return (states(W, x)[-1] ** 2).sum()

    def grad(W, x):
        h = states(W, x)
        g, dW = 2 * h[-1], np.zeros_like(W)
        for t in range(len(x) - 1, -1, -1):
            a = g * (1 - (W @ h[t] + x[t]) ** 2)
            dW += np.outer(a, h[t])
            g = W.T @ a
        return dW

    found = said(check(loss, grad, RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3)) / 3, argnums=0))
    assert "takes the argument for the result" in found


# ---------------------------------------------------------------------------------------------- what is kept


def test_a_buffer_that_is_not_set_to_zero_is_found_though_the_first_call_is_right():
    buffer = np.zeros(3)

    def grad(x):
        np.add(buffer, 2 * x, out=buffer)
        return buffer

    report = check(lambda x: (x**2).sum(), grad, np.array([1.0, 2.0, -1.0]))
    assert report.diagnosis.kind == "not deterministic"
    assert "adds the gradient to what the calls before have left" in said(report)


class Layer:
    """A linear layer, or a normalisation whose cache may be ``stale``."""

    def __init__(self, W=None, stale=False):
        self.W, self.stale, self.cache = W, stale, None

    def forward(self, x):
        if self.W is not None:
            return x @ self.W
        size = np.sqrt((x * x).sum(1, keepdims=True))
        if self.cache is None or not self.stale:
            self.cache = (x / size, size)
        return x / size

    def backward(self, g):
        if self.W is not None:
            return g @ self.W.T
        y, size = self.cache
        return (g - y * (g * y).sum(1, keepdims=True)) / size


def test_a_layer_that_does_not_look_at_its_point_is_a_layer_all_the_same():
    x = RNG.normal(size=(5, 3))
    square = Layer(RNG.normal(size=(3, 3)))
    assert check(square.forward, square.backward, x)
    fresh, stale = Layer(), Layer(stale=True)
    assert check(fresh.forward, fresh.backward, x)
    stale.forward(RNG.normal(size=(5, 3)))
    report = check(stale.forward, stale.backward, x)
    assert report.diagnosis.kind == "stale", report


def test_a_function_that_overwrites_its_argument_on_the_way_is_told_so():
    def grad(x):
        np.multiply(x, x, out=x)
        return 3 * x + np.cos(x)

    report = check(lambda x: (x**3 + np.sin(x)).sum(), grad, RNG.normal(size=4) + 3)
    assert report.diagnosis.kind == "in place"
    assert "overwrites x" in said(report)


# ---------------------------------------------------------------------------------------------- parts of values


def variation(u):
    a, b = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return np.sqrt(a * a + b * b + 0.1).sum()


def test_a_loop_that_ends_early_is_told_by_the_part_that_is_missing():
    def grad(u, end=0):
        g = np.zeros_like(u)
        for i in range(u.shape[0] - 1):
            for j in range(u.shape[1] - 1 - end):
                a, b = u[i + 1, j] - u[i, j], u[i, j + 1] - u[i, j]
                r = np.sqrt(a * a + b * b + 0.1)
                g[i + 1, j] += a / r
                g[i, j + 1] += b / r
                g[i, j] -= (a + b) / r
        return g

    u = RNG.normal(size=(4, 5))
    assert check(variation, grad, u)
    report = check(variation, lambda u: grad(u, end=1), u)
    assert "the last part of" in said(report)
    assert "along axis 1 is missing" in said(report)


def test_a_gradient_that_is_rightly_the_same_everywhere_is_not_called_stale():
    v = RNG.normal(size=(3, 4))
    report = check(lambda b, x: x + b, lambda v, b, x: (v[0] + v[1] * v[2], v), v[0], v, cotangent=v + 1)
    assert not report.ok
    assert report.diagnosis.kind != "stale"


def test_sums_inside_of_a_softmax_are_named():
    from symgrad import softmax

    def backward(v, x, axis):
        p = softmax(x, -1)
        return p * (v - (p * v).sum(axis, keepdims=True))

    x = RNG.normal(size=(4, 4))
    assert check(lambda x: softmax(x, -1), lambda v, x: backward(v, x, 1), x)
    found = said(check(lambda x: softmax(x, -1), lambda v, x: backward(v, x, 0), x))
    assert "runs along axis 0, not along axis 1" in found


def test_terms_of_activation_functions_are_told():
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    x = RNG.normal(size=4)

    def f(x):
        return sg.nn.functional.silu(x).sum()

    assert check(f, lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), x)
    missing = said(check(f, sigmoid, x))
    assert "Inside the derivative of silu" in missing
    assert "the term x1*(1 - sigmoid(x1)) is missing" in missing
    assert "wrong sign" in said(check(f, lambda x: sigmoid(x) * (1 - x * (1 - sigmoid(x))), x))

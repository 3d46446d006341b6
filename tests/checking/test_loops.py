"""sg.check of recurrences: a mistake that is made in every round of a loop has one name."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(8)
W, U, XS = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=(4, 2))


def network(W, U, xs):
    h = np.zeros(3)
    for t in range(4):
        h = np.tanh(W @ h + U @ xs[t])
    return h.sum()


def network_gradient(W, U, xs, m=""):
    hs = [np.zeros(3)]
    for t in range(4):
        hs.append(np.tanh(W @ hs[-1] + U @ xs[t]))
    d, dW, dU = np.ones(3), 0 * W, 0 * U
    for t in range(3, -1, -1):
        z = d if m == "no tanh" else d * (1 - hs[t if m == "tanh of the round before" else t + 1] ** 2)
        dW = dW + np.outer(z, hs[t + 1 if m == "h of the round after" else t])
        dU = dU + np.outer(z, xs[t])
        d = W @ z if m == "W for its transpose" else W.T @ z
    return dW, dU


def euler(A, y):
    for _ in range(5):
        y = y + 0.1 * np.tanh(A @ y)
    return (y**2).sum()


def euler_gradient(A, y, m=""):
    ys = [y]
    for _ in range(5):
        ys.append(ys[-1] + 0.1 * np.tanh(A @ ys[-1]))
    d, dA = 2 * ys[-1], 0 * A
    for y in ys[-2::-1]:
        u = d * (1 - np.tanh(A @ y) ** 2) * (1 if m == "no step" else 0.1)
        dA = dA + np.outer(u, y)
        d = A.T @ u + (0 if m == "identity lost" else d)
    return dA, d


def filtered(a, q, r, y):
    m, p, total = 0.0, 1.0, 0.0
    for v in y:
        p = a * a * p + q
        s = p + r
        e = v - a * m
        k = p / s
        total = total + 0.5 * (np.log(s) + e * e / s)
        m = a * m + k * e
        p = (1 - k) * p
    return total


def filtered_gradient(a, q, r, y, mistake=""):
    m, p, dm, dp, g = 0.0, 1.0, np.zeros(3), np.zeros(3), np.zeros(3)
    ea, eq, er = np.eye(3)
    for v in y:
        dp = a * a * dp + 2 * a * p * ea + eq
        p = a * a * p + q
        s, ds = p + r, dp + er
        e, de = v - a * m, -(m * ea + a * dm)
        k, dk = p / s, dp / s - p * ds / s**2
        if mistake == "gain constant":
            dk = 0 * dk
        g = g + 0.5 * ((0 if mistake == "no log" else ds / s) + 2 * e * de / s - e * e * ds / s**2)
        dm = m * ea + a * dm + dk * e + k * de
        m = a * m + k * e
        dp = (1 - k) * dp - dk * p
        p = (1 - k) * p
    return tuple(g)


@pytest.mark.parametrize(
    ("f", "gradient", "args", "mistake", "words"),
    [
        (network, network_gradient, (W, U, XS), "no tanh", "derivative of tanh is left out"),
        (network, network_gradient, (W, U, XS), "tanh of the round before", "from the round before"),
        (network, network_gradient, (W, U, XS), "h of the round after", "from the round after"),
        (network, network_gradient, (W, U, XS), "W for its transpose", "W is taken for its transpose"),
        (euler, euler_gradient, (W, XS[:3, 0]), "no step", "factor 0.1 is left out"),
        (euler, euler_gradient, (W, XS[:3, 0]), "identity lost", "missing"),
        (filtered, filtered_gradient, (0.8, 0.3, 0.5, XS[:, 1]), "gain constant", "missing"),
        (filtered, filtered_gradient, (0.8, 0.3, 0.5, XS[:, 1]), "no log", "log"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mistakes_in_every_round(f, gradient, args, mistake, words):
    count = len(gradient(*args))
    assert check(f, gradient, *args, argnums=range(count))
    name = "mistake" if f is filtered else "m"
    report = check(f, partial(gradient, **{name: mistake}), *args, argnums=range(count))
    assert not report
    for argument in report.arguments:
        if not argument.ok:
            assert words in argument.diagnosis.sentence, report
            assert "each time the line runs" in argument.diagnosis.sentence, report
            assert "test_loops.py:" in argument.diagnosis.line


def implicit_steps(A, B, u):
    for _ in range(3):
        u = np.linalg.solve(A, B @ u)
    return u @ u


def implicit_steps_gradient(A, B, u, m=""):
    us = [u]
    for _ in range(3):
        us.append(np.linalg.solve(A, B @ us[-1]))
    g, gA, gB = 2 * us[-1], np.zeros_like(A), np.zeros_like(B)
    for k in range(3, 0, -1):
        mu = g if m == "solve" else np.linalg.solve(A.T, g)
        gA -= np.outer(mu, us[k])
        gB += np.outer(mu, us[k - 1])
        g = mu if m == "matmul" else B.T @ mu
    return gA, gB, g


@pytest.mark.parametrize("name", ["matmul", "solve"])
def test_a_matrix_that_is_left_out_in_every_round(name):
    A, B, u = np.eye(3) + 0.2 * W[:3, :3], W[:3, :3].T, XS[:3, 0]
    args = (A, B, u)
    report = check(implicit_steps, partial(implicit_steps_gradient, m=name), *args, mend=False)
    assert check(implicit_steps, implicit_steps_gradient, *args)
    assert "is left out, each time the line runs" in report["u"].diagnosis.sentence, report


# ---------------------------------------------------------------------------------------------- single ones


def test_a_symmetric_matrix_taken_for_granted():
    A, x = RNG.normal(size=(3, 3)), RNG.normal(size=3)
    report = check(lambda x: x @ A @ x, lambda x: 2 * A @ x, x)
    assert report.diagnosis.kind == "terms"
    assert "(A + Aᵀ) x" in report.diagnosis.hint


def test_a_function_for_its_derivative_and_the_rule_of_another():
    x = RNG.normal(size=4)
    w = RNG.normal(size=4)
    report = check(lambda x: (w * np.tanh(x)).sum(), lambda x: w * np.tanh(x), x)
    assert "is taken to be its value" in report.diagnosis.sentence
    report = check(lambda x: (w * np.tanh(x)).sum(), lambda x: w * np.tanh(x) * (1 - np.tanh(x)), x)
    assert "that of sigmoid" in report.diagnosis.sentence


def test_the_matrix_of_a_linear_system_turned():
    A, b, c = RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=3), RNG.normal(size=3)
    report = check(lambda A, b: np.linalg.solve(A, b) @ c, lambda A, b: np.linalg.solve(A, c), A, b, argnums=1)
    assert report.diagnosis.kind == "transpose"
    assert "A " in report.diagnosis.sentence


def test_entries_that_should_be_zero():
    x = RNG.normal(size=(4, 4))
    report = check(lambda x: np.tril(x).sum(), np.ones((4, 4)), x)
    assert report.diagnosis.kind == "mask"
    assert "6 of 16" in report.diagnosis.sentence


def test_small_arrays_are_not_called_clipped():
    report = check(lambda x: (x**3).sum(), np.array([1.0, -2.0]), np.array([0.5, 1.0]))
    assert report.diagnosis.kind != "clipped"


def test_a_number_without_a_name_is_no_explanation_where_other_arguments_tell_more():
    def f(a, b, c):
        u = a * b + np.sin(c)
        return u**3

    def gradient(a, b, c):
        u = a * b + np.sin(c)
        d = 3 * u**2 + 0.7  # wrong for all
        return d * b, d * a, d * np.cos(c)

    report = check(f, gradient, 0.7, 1.3, 0.4)
    assert {a.diagnosis.kind for a in report.arguments} == {"place"}
    assert "a*b + sin(c)" in report.diagnosis.sentence


def gated(w, x):
    h = np.zeros(3)
    for t in range(4):
        r = 1 / (1 + np.exp(-w[0] * x[t]))
        h = np.tanh(w[1] * (r * h) + x[t]) + 0.5 * h
    return (h**2).sum()


def gated_gradient(w, x, m=""):
    h, kept = np.zeros(3), []
    for t in range(4):
        r = 1 / (1 + np.exp(-w[0] * x[t]))
        c = np.tanh(w[1] * (r * h) + x[t])
        kept.append((h, r, c))
        h = c + 0.5 * h
    dw, g = np.zeros(2), 2 * h
    for t in reversed(range(4)):
        h, r, c = kept[t]
        dc = g * (1 - c**2)
        dw[1] += (dc * (r * h if m != "operand" else h)).sum()
        dr = w[1] * dc * (h if m != "cached" else c)
        dw[0] += (dr * r * (1 - r) * x[t]).sum()
        g = 0.5 * g + dc * w[1] * (r if m != "gate" else 1)
    return dw


@pytest.mark.parametrize(
    ("m", "words"),
    [
        ("cached", "stands for .*each time the line runs"),
        ("operand", "(left out|stands for).*each time the line runs"),
        ("gate", "left out|missing .*each time the line runs"),
    ],
)
def test_values_of_a_round_that_are_mixed_up(m, words):
    x = np.random.default_rng(6).normal(size=(4, 3))
    assert check(gated, gated_gradient, np.array([0.7, -0.4]), x, argnums=0).ok
    report = check(gated, lambda w, x: gated_gradient(w, x, m), np.array([0.7, -0.4]), x, argnums=0)
    assert re.search(words, " ".join(report.diagnosis.sentence.split())), report
    assert report.diagnosis.line


def test_a_lag_that_the_first_round_does_not_have():
    def f(c, u):
        before, total = u, 0.0
        for _ in range(4):
            before, u = u, 2 * u - before + 0.2 * c * np.roll(u, 1)
            total = total + (u**2).sum()
        return total

    def grad(c, u, late=0):
        us = [u, u]
        for _ in range(4):
            us.append(2 * us[-1] - us[-2] + 0.2 * c * np.roll(us[-1], 1))
        dc, a, b = np.zeros_like(c), np.zeros_like(c), np.zeros_like(c)
        for t in range(3, -1, -1):
            g = a + 2 * us[t + 2]
            dc += 0.2 * np.roll(us[t + 1 - late], 1) * g
            a, b = 2 * g + 0.2 * np.roll(c * g, -1) + b, -g
        return dc

    c, u = np.random.default_rng(7).normal(size=(2, 5))
    assert check(f, grad, c, u, argnums=0).ok
    report = check(f, lambda c, u: grad(c, u, 1), c, u, argnums=0)
    assert "from the round before, each time" in report.diagnosis.sentence, report


def test_a_mask_of_the_gradients_own_sign():
    def f(W, x):
        return (np.maximum(W @ x, 0) * np.array([1.0, -2, 3, -4])).sum()

    def grad(W, x):
        g = np.array([1.0, -2, 3, -4])
        g[g <= 0] = 0
        return np.outer(g, x)

    W = np.abs(np.random.default_rng(8).normal(size=(4, 3)))
    report = check(f, grad, W, np.array([0.3, 0.9, 0.5]), argnums=0)
    assert "maximum" in report.diagnosis.sentence, report


def test_an_array_that_one_line_overwrites_and_another_adds_to():
    def f(U, v):
        total = 0.0
        for k in (0, 1, 2):
            total = total + np.tanh(U[k] @ v[k])
            for j in (1, 0):
                total = total + (U[j] @ v[k]) ** 2
        return total

    def grad(U, v):
        g = np.zeros_like(U)
        for k in (0, 1, 2):
            g[k] += (1 - np.tanh(U[k] @ v[k]) ** 2) * v[k]
            for j in (1, 0):
                g[j] = 2 * (U[j] @ v[k]) * v[k]
        return g

    U, v = np.random.default_rng(9).normal(size=(2, 3, 2))
    report = check(f, grad, U, v, argnums=0)
    assert report.diagnosis.kind == "overwritten", report

"""Programs of arrays that fill tables and keep sets of rows in loops: none of it stops a check."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(29)


def soft_alignment(x, y, gamma=0.5):
    """The soft minimum over all alignments of two series (Cuturi and Blondel, ICML 2017), with a full table."""
    n, k = len(x), len(y)
    table = np.full((n + 1, k + 1), 1e10)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, k + 1):
            a, b, c = -table[i - 1, j - 1] / gamma, -table[i - 1, j] / gamma, -table[i, j - 1] / gamma
            top = max(a, b, c)
            z = np.exp(a - top) + np.exp(b - top) + np.exp(c - top)
            table[i, j] = (x[i - 1] - y[j - 1]) ** 2 - gamma * (np.log(z) + top)
    return table[n, k]


def soft_alignment_grad(x, y, gamma=0.5):
    n, k = len(x), len(y)
    D, r = np.zeros((n + 2, k + 2)), np.full((n + 2, k + 2), 1e10)
    D[1:-1, 1:-1] = (x[:, None] - y) ** 2
    r[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, k + 1):
            v = -np.array([r[i - 1, j - 1], r[i - 1, j], r[i, j - 1]]) / gamma
            r[i, j] = D[i, j] - gamma * (np.log(np.exp(v - v.max()).sum()) + v.max())
    r[:, -1] = r[-1, :] = -1e10
    r[-1, -1], E = r[n, k], np.zeros((n + 2, k + 2))
    E[-1, -1] = 1
    for i in range(n, 0, -1):
        for j in range(k, 0, -1):
            E[i, j] = sum(
                E[p, q] * np.exp((r[p, q] - r[i, j] - D[p, q]) / gamma)
                for p, q in ((i + 1, j), (i, j + 1), (i + 1, j + 1))
            )
    both = 2 * E[1:-1, 1:-1] * (x[:, None] - y)
    return both.sum(1), -both.sum(0)


def test_branches_of_one_expression_may_share_what_they_compare():
    assert check(soft_alignment, soft_alignment_grad, RNG.normal(size=3), RNG.normal(size=3))


def hazard(beta, X, time):
    """The partial likelihood of a proportional hazards model (Cox, 1972)."""
    eta = X @ beta
    risk = np.exp(eta)
    out = 0.0
    for i in range(len(time)):
        out -= eta[i] - np.log(np.sum(risk[time >= time[i]]))
    return out


def test_sets_of_rows_of_another_length_are_no_error():
    def grad(beta, X, time):  # every row of a set counts the same
        return sum(X[time >= t].mean(0) - x for x, t in zip(X, time, strict=True))

    report = check(hazard, grad, RNG.normal(size=3), RNG.normal(size=(5, 3)), np.array([3.0, 5, 2, 8, 1]))
    assert not report.ok


def test_operands_that_are_stretched_otherwise_are_no_error():
    def f(c, s, w, X):
        return (np.exp(-np.exp(s) * ((X[:, None] - c) ** 2).sum(-1)) @ w).sum()

    def grad(c, s, w, X):
        d = X[:, None] - c
        phi = np.exp(-np.exp(s) * (d**2).sum(-1))
        dc = 2 * np.einsum("nk,nkd,k->kd", phi, d, w) * np.exp(s).mean()  # one width for all
        return dc, -w * np.exp(s) * (phi * (d**2).sum(-1)).sum(0), phi.sum(0)

    report = check(f, grad, RNG.normal(size=(4, 2)), RNG.normal(size=4), RNG.normal(size=4), RNG.normal(size=(6, 2)))
    assert [a.ok for a in report.arguments] == [False, True, True]
    assert "factor of its own" in report.diagnosis.sentence


def test_an_axis_of_one_entry_is_squeezed_out_as_it_is():
    def f(A, x):
        for _ in range(2):
            x = np.log(np.exp(x[:, None] + A).sum(0, keepdims=True)).squeeze(0)
        return np.sum(x)

    def grad(A, x):
        y = np.log(np.exp(x[:, None] + A).sum(0))
        P, Q = (np.exp(v[:, None] + A - np.log(np.exp(v[:, None] + A).sum(0))) for v in (x, y))
        return P * Q.sum(0) + Q, P @ Q.sum(0)  # for P @ Q.sum(1)

    assert not check(f, grad, RNG.normal(size=(3, 3)), RNG.normal(size=3)).ok


def test_what_a_function_calls_again_and_again_is_run_on_its_own_arrays():
    """The values that differences are taken of; on tensors each takes ten times as long."""
    calls = {"arrays": 0, "tensors": 0}

    def f(x):
        calls["arrays" if type(x) is np.ndarray else "tensors"] += 1
        out = np.zeros(3)
        for k in range(3):
            out[k] = np.sin(x[k]) * x[k - 1]
        return np.sum(out)

    def grad(x):
        return np.cos(x) * np.roll(x, 1) + np.sin(np.roll(x, -1))

    assert check(f, grad, RNG.normal(size=3))
    assert calls["tensors"] < calls["arrays"], calls


# ---------------------------------------------------------------------------------------------- windows


def convolved(x, w, stride=2, gap=2):
    out = np.zeros((len(w), (x.shape[1] - gap * (w.shape[2] - 1) - 1) // stride + 1))
    for t in range(out.shape[1]):
        part = x[:, t * stride : t * stride + gap * (w.shape[2] - 1) + 1 : gap]
        for k in range(len(w)):
            out[k, t] = np.sum(part * w[k])
    return np.sum(np.tanh(out))


def convolved_grad(x, w, m=""):
    stride, gap, size = 2, 2, w.shape[2]
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for t in range((x.shape[1] - gap * (size - 1) - 1) // stride + 1):
        right = slice(t * stride, t * stride + gap * (size - 1) + 1, gap)
        start, step = t if m == "stride" else t * stride, 1 if m == "gap" else gap
        there = slice(start, start + step * (size - 1) + 1, step)
        for k in range(len(w)):
            g = 1 - np.tanh(np.sum(x[:, right] * w[k])) ** 2
            kernel = w[k][:, ::-1] if m == "turned" else w[k]
            dx[:, there] = g * kernel + (0 if m == "=" else dx[:, there])
            dw[k] += g * x[:, there]
    return dx, dw


@pytest.mark.parametrize(
    ("m", "words"),
    [
        ("stride", "are added with stride 1 in place of 2 along axis 1"),
        ("gap", "are added with step 1 in place of 2 along axis 1"),
        ("turned", "are added turned round along axis 1"),
        ("=", "that overlap are read in several places"),
    ],
)
def test_windows_that_a_gradient_takes_otherwise_are_named(m, words):
    """Some rounds run before Python specialises the loop, and some after: all count as the same line."""
    x, w = RNG.normal(size=(2, 23)), RNG.normal(size=(2, 2, 3))
    assert check(convolved, convolved_grad, x, w)
    report = check(convolved, lambda x, w: convolved_grad(x, w, m), x, w)
    assert words in report["x"].diagnosis.sentence
    if m in ("stride", "gap"):
        assert "In the gradient the windows of x are read with" in report["w"].diagnosis.sentence
        assert "part = x[:, t * stride" in report["w"].diagnosis.line


# ---------------------------------------------------------------------------------------------- every round


def pendulum(q, p, k, step=0.1, rounds=5):
    for _ in range(rounds):
        p = p - step * k * np.sin(q)
        q = q + step * p
    return np.sum(q**2) + np.sum(p * q)


def pendulum_grad(q, p, k, factor=1.0):
    step, states = 0.1, []
    for _ in range(5):
        states.append(q)
        p = p - step * k * np.sin(q)
        q = q + step * p
    dq, dp, dk = 2 * q + p, q, np.zeros_like(k)
    for q in states[::-1]:
        dp = dp + factor * step * dq
        dk = dk - step * np.sin(q) * dp
        dq = dq - step * k * np.cos(q) * dp
    return dq, dp, dk


def test_a_factor_in_every_round_is_named_once_for_all_arguments():
    args = RNG.normal(size=(3, 4))
    assert check(pendulum, pendulum_grad, *args)
    report = check(pendulum, lambda *a: pendulum_grad(*a, factor=0.5), *args)
    said = report["q"].diagnosis.sentence
    assert "is 1/2 times what it should be, each time the line runs" in said
    assert report["p"].diagnosis.sentence == report["k"].diagnosis.sentence == said
    assert str(report).count("The same as for q.") == 2
    assert "q = q + step * p" in report.diagnosis.line


def heads(X, C):
    total = 0.0
    for x, c in zip(X, C, strict=True):
        e = np.exp(x)
        total += np.sum(c * e / e.sum(1, keepdims=True))
    return total


def test_an_axis_that_is_wrong_in_every_round_is_named():
    def grad(X, C, axis=2):
        P = np.exp(X) / np.exp(X).sum(2, keepdims=True)
        return P * (C - (P * C).sum(axis, keepdims=True))

    X, C = RNG.normal(size=(2, 2, 3, 3))
    assert check(heads, grad, X, C)
    found = check(heads, lambda X, C: grad(X, C, 1), X, C).diagnosis
    assert found.kind == "axis"
    assert found.sentence.endswith("the sum runs along axis 0, not along axis 1, each time the line runs.")


def test_what_two_lines_read_in_every_round_is_missing_and_not_overwritten():
    def f(x, c):
        total = 0.0
        for k in range(3):
            total += np.exp(-np.sum((c - x[k]) ** 2)) * np.sum(x[k])
        return total

    def grad(x, c):
        return np.array([np.full(2, np.exp(-np.sum((c - row) ** 2))) for row in x])

    found = check(f, grad, RNG.normal(size=(3, 2)), RNG.normal(size=(4, 2))).diagnosis
    assert "is missing, each time the line runs" in found.sentence
    assert found.kind == "term"


def test_rows_that_are_wrong_have_their_cause_beside_them():
    def f(w, x):
        new = np.tanh(w[0] * x)
        return np.sum((new * w[1]) ** 2)

    def grad(w, x):
        new = np.tanh(w[0] * x)
        return np.array([2 * new * w[1] ** 2 * (1 - new**2) * x, 2 * new * w[1] * x])  # x for new

    found = check(f, grad, RNG.normal(size=(2, 3)), RNG.normal(size=3)).diagnosis
    assert found.sentence.startswith("Only w[1, :] is wrong. Probably: ")
    assert "x stands for" in found.sentence


def diffused(u, d):
    L = np.diag(-2 * np.ones(5)) + np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    A, B = np.eye(5) - 0.025 * d * L, np.eye(5) + 0.025 * d * L
    for _ in range(4):
        u = np.linalg.solve(A, B @ u)
    return np.sum(u**2)


@pytest.mark.parametrize(("sign", "words"), [(0, "is missing, each"), (-1, "has the wrong sign, each")])
def test_a_part_of_every_round_is_not_told_as_a_number_times_that_of_one_round(sign, words):
    def gradient(u, d):
        L = np.diag(-2 * np.ones(5)) + np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
        A, B = np.eye(5) - 0.025 * d * L, np.eye(5) + 0.025 * d * L
        states = [u]
        for _ in range(4):
            states.append(np.linalg.solve(A, B @ states[-1]))
        g, by_d = 2 * states[-1], 0.0
        for k in range(4, 0, -1):
            m = np.linalg.solve(A.T, g)
            by_d += m @ (0.025 * L @ (states[k] + sign * states[k - 1]))
            g = B.T @ m
        return g, by_d

    report = check(diffused, gradient, np.random.default_rng(0).normal(size=5), 1.3)
    assert report["u"].ok
    assert words in " ".join(report.diagnosis.sentence.split()), report


def test_a_power_has_no_branch():
    report = check(lambda x: (np.sin(x) ** 2).sum(), np.cos, np.array([0.5, -1.2, 2.0]))
    assert report.diagnosis.kind == "inner derivative", report


def test_a_number_that_is_another_in_every_round_is_told_as_one():
    def series(A, v):
        total = term = v
        for k in range(1, 6):
            term = A @ term / k
            total = total + term
        return np.sum(total**2)

    def gradient(A, v):
        total, terms = v, [v]
        for k in range(1, 6):
            terms.append(A @ terms[-1] / k)
            total = total + terms[-1]
        g, by_term, by_A = 2 * total, 0 * v, 0 * A
        for k in range(5, 0, -1):
            by_term = by_term + g
            by_A += np.outer(by_term, terms[k - 1])  # / k
            by_term = A.T @ by_term / k
        return by_A, by_term + g

    rng = np.random.default_rng(0)
    found = check(series, gradient, rng.normal(size=(3, 3)), rng.normal(size=3), mend=False).diagnosis
    assert "The division by 1, 2, 3, … is left out" in " ".join(found.sentence.split())


def test_a_row_in_the_place_of_another_in_a_forward_algorithm_is_told():
    """It was an error: whether a leaf leads to a value was asked by ==, which tensors answer entry by entry."""

    def f(A, first, B):
        a = first + B[0]
        for t in range(1, len(B)):
            a = np.log(np.exp(a[:, None] + A).sum(axis=0)) + B[t]
        return -np.log(np.exp(a).sum(axis=0))

    def grad(A, first, B):
        rows, back = [first + B[0]], np.zeros_like(B)
        for t in range(1, len(B)):
            rows.append(np.log(np.exp(rows[-1][:, None] + A).sum(axis=0)) + B[t])
        for t in range(len(B) - 2, -1, -1):
            back[t] = np.log(np.exp(A + B[t + 1] + back[t + 1]).sum(axis=1))
        shares = np.exp(np.array(rows) + back - np.log(np.exp(rows[-1]).sum()))
        dA = np.zeros_like(A)
        for t in range(len(B) - 1):
            dA -= np.exp(rows[t][:, None] + A + B[t + 1] + back[t + 1] - np.log(np.exp(rows[-1]).sum()))
        return dA, -shares[-1], -shares

    rng = np.random.default_rng(0)
    report = check(f, grad, rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(4, 3)))
    assert not report["first"].ok
    assert report["A"].ok

"""Programs of arrays that fill tables and keep sets of rows in loops: none of it stops a check."""

from __future__ import annotations

import numpy as np

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

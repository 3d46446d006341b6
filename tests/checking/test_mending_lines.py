"""sg.check writes the line that was forgotten: a penalty, the other half of a difference, a term of a recurrence."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 10)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 30)


RNG = np.random.default_rng(5)


def ridge(w, X, y, lam=0.5):
    r = X @ w - y
    return r @ r / len(y) + lam * (w @ w)


def without_the_penalty(w, X, y, lam=0.5):  # noqa: ARG001
    r = X @ w - y
    dw = 2 * X.T @ r / len(y)
    return dw


def smooth(u, v, lam):
    d = u[1:] - u[:-1]
    return ((u - v) ** 2).sum() / 2 + lam * np.sqrt(d**2 + 0.01).sum()


def one_half_of_the_difference(u, v, lam):
    d = u[1:] - u[:-1]
    s = np.sqrt(d**2 + 0.01)
    g = u - v
    step = lam * d / s
    g[1:] += step
    return g


def transported(C, a, b):
    K = np.exp(-C)
    v = b / K.sum(axis=0)
    u = a / (K @ v)
    return (u[:, None] * K * v * C).sum()


def without_the_way_through_u(C, a, b):
    K = np.exp(-C)
    s = K.sum(axis=0)
    v = b / s
    t = K @ v
    u = a / t
    G = K * C
    du = G @ v
    dv = G.T @ u
    dt = -du * u / t
    dK = np.outer(u, v) * C + np.outer(dt, v)
    dK = dK - dv * v / s
    return u[:, None] * K * v - dK * K, du / t, dv / s


def filtered(theta, e):
    h = np.zeros(len(e))
    h[0] = 1.0
    for t in range(1, len(e)):
        h[t] = theta[0] + theta[1] * e[t - 1] ** 2 + theta[2] * h[t - 1]
    return (np.log(h) + e**2 / h).sum()


def without_the_round_before(theta, e):
    omega, alpha, beta = theta
    n = len(e)
    h, dtheta = np.zeros(n), np.zeros(3)
    h[0] = 1.0
    for t in range(1, n):
        h[t] = omega + alpha * e[t - 1] ** 2 + beta * h[t - 1]
    dh = 1 / h - e**2 / h**2
    for t in range(n - 1, 0, -1):
        dtheta[0] += dh[t]
        dtheta[1] += dh[t] * e[t - 1] ** 2
        dtheta[2] += dh[t] * h[t - 1]
    return dtheta


def repelled(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            energy = energy + 1 / ((x[i] - x[j]) ** 2).sum()
    return energy


def one_of_two_bodies(x):
    g = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            force = -2 * d / (d @ d) ** 2
            g[i] += force
    return g


FORGOTTEN = {
    "a penalty": (ridge, without_the_penalty, [RNG.normal(size=s) for s in (3, (7, 3), 7)], "dw += 2 * lam * w"),
    "a half": (smooth, one_half_of_the_difference, [*RNG.normal(size=(2, 6)), 0.6], "g[:-1] -= step"),
    "a path": (transported, without_the_way_through_u, [RNG.random((3, 4)), RNG.random(3), RNG.random(4)], "dt @ K"),
    "a round": (filtered, without_the_round_before, [np.array([0.2, 0.15, 0.7]), RNG.normal(size=6)], "dh[t - 1] += "),
    "a body": (repelled, one_of_two_bodies, [RNG.normal(size=(4, 3))], "g[j] -= force"),
}


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_line_that_was_forgotten_is_written(name):
    """There was no mend: what is missing was put into lines that are there, where it has to come before others."""
    f, grad, args, line = FORGOTTEN[name]
    argnums = 0 if grad(*args).__class__ is not tuple else None
    report = check(f, grad, *args, argnums=argnums)
    assert not report.ok
    assert report.mend is not None, report
    assert line in report.mend.right, report
    assert len(report.mend.right.splitlines()) == len(report.mend.was.splitlines()) + 1


def test_a_line_at_the_end_of_a_loop_is_shown_behind_one_of_its_lines():
    f, grad, args, line = FORGOTTEN["a body"]
    mend = check(f, grad, *args).mend
    assert mend.right == f"{mend.was}\n{line}"


def scaled(mu, scale, y):
    z = (y - mu) / scale
    return (z**2).sum() / 2 + len(y) * np.log(scale)


def without_the_length(mu, scale, y):
    z = (y - mu) / scale
    return -z.sum() / scale, -(z**2).sum() / scale


def one_for_the_length(mu, scale, y):
    z = (y - mu) / scale
    return -z.sum() / scale, (1 - (z**2).sum()) / scale


@pytest.mark.parametrize("grad", [without_the_length, one_for_the_length])
def test_a_length_is_a_term_and_stands_for_a_number(grad):
    report = check(scaled, grad, 0.3, 1.4, RNG.normal(size=6))
    assert report.mend is not None, report
    assert "len(y)" in report.mend.right or "len(z)" in report.mend.right, report


def spread(la, lb, C):
    a, b = np.exp(la), np.exp(lb)
    return a @ C @ b + (a**2).sum() + (b**3).sum()


def by_a_and_b(la, lb, C):
    a, b = np.exp(la), np.exp(lb)
    da = C @ b + 2 * a
    db = C.T @ a + 3 * b**2
    return da, db


def test_the_same_factor_that_was_forgotten_for_two_arguments_takes_two_changes():
    report = check(spread, by_a_and_b, RNG.normal(size=3), RNG.normal(size=4), RNG.normal(size=(3, 4)))
    assert report.mend is not None, report
    assert report.mend.also is not None, report


def concentrated(kappa):
    return np.log(np.sinh(kappa)) - np.log(kappa)


def one_for_its_cosine(kappa):
    return 1 / np.sinh(kappa) - 1 / kappa


def test_a_derivative_of_a_function_of_the_text_is_a_factor():
    report = check(concentrated, one_for_its_cosine, 2.5)
    assert "np.cosh(kappa)" in report.mend.right, report

"""Lines that sg.check mends in gradients of cameras, fields, factorisations, embeddings and forces, and in what way."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check, inquiry

RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    for name in ("FIRST_MENDING", "LIKELY_MENDING", "LONGEST_MENDING", "INFORMED"):
        monkeypatch.setattr(inquiry, name, 60)


def camera(X, R, t, fl, uv):
    Y = X @ R.T + t
    return ((fl * Y[:, :2] / Y[:, 2:] - uv) ** 2).sum()


def turned_back(X, R, t, fl, uv):
    Y = X @ R.T + t
    e = 2 * (fl * Y[:, :2] / Y[:, 2:] - uv)
    dY = np.empty_like(Y)
    dY[:, :2] = fl * e / Y[:, 2:]
    dY[:, 2] = -fl * (e * Y[:, :2]).sum(axis=1) / Y[:, 2] ** 2
    dfl = (e * Y[:, :2] / Y[:, 2:]).sum()
    return dY @ R.T, dY.T @ X, dY.sum(axis=0), dfl


def not_squared(X, R, t, fl, uv):
    Y = X @ R.T + t
    e = 2 * (fl * Y[:, :2] / Y[:, 2:] - uv)
    dY = np.empty_like(Y)
    dY[:, :2] = fl * e / Y[:, 2:]
    dY[:, 2] = -fl * (e * Y[:, :2]).sum(axis=1) / Y[:, 2]
    dfl = (e * Y[:, :2] / Y[:, 2:]).sum()
    return dY @ R, dY.T @ X, dY.sum(axis=0), dfl


def divergence(W, H, V):
    R = W @ H
    return (V * np.log(V / R) - V + R).sum()


def quotient_upside_down(W, H, V):
    R = W @ H
    E = 1 - R / V
    return E @ H.T, W.T @ E


def heat(u, k):
    return 0.5 * np.sum(k[:-1] * (u[1:] - u[:-1]) ** 2) + 0.5 * np.sum(k[:, :-1] * np.diff(u, axis=1) ** 2)


def weights_left_out(u, k):
    G = np.zeros_like(u)
    dx = k[:-1] * (u[1:] - u[:-1])
    G[1:] += dx
    G[:-1] -= dx
    dy = np.diff(u, axis=1)
    G[:, 1:] += dy
    G[:, :-1] -= dy
    return G


def weights_one_further(u, k):
    G = np.zeros_like(u)
    dx = k[:-1] * (u[1:] - u[:-1])
    G[1:] += dx
    G[:-1] -= dx
    dy = k[:, 1:] * np.diff(u, axis=1)
    G[:, 1:] += dy
    G[:, :-1] -= dy
    return G


def curve(b, x):
    load = (1 - np.exp(-x)) / x
    return ((b[0] + b[1] * load + b[2] * (load - np.exp(-x))) ** 2).sum()


def hump_left_out(b, x):
    ex = np.exp(-x)
    load = (1 - ex) / x
    r = 2 * (b[0] + b[1] * load + b[2] * (load - ex))
    return np.array([r.sum(), r @ load, r @ load])


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def embedded(U, V, words, others):
    loss = 0.0
    for c, o, few in zip(words, others, others[::-1, None], strict=True):
        loss -= np.log(sigmoid(U[o] @ V[c])) + np.log(sigmoid(-U[few] @ V[c])).sum()
    return loss


def negatives_left_out(U, V, words, others):
    dU, dV = np.zeros_like(U), np.zeros_like(V)
    for c, o, few in zip(words, others, others[::-1, None], strict=True):
        a = sigmoid(U[o] @ V[c]) - 1
        b = sigmoid(U[few] @ V[c])
        dV[c] += a * U[o]
        dU[o] += a * V[c]
        np.add.at(dU, few, np.outer(b, V[c]))
    return dU, dV


def attracted(X, cut):
    r2 = ((X[:, None] - X[None]) ** 2).sum(-1)
    return 0.5 * np.where(r2 < cut**2, (r2 - cut**2) ** 2, 0).sum()


def bound_not_squared(X, cut):
    D = X[:, None] - X[None]
    r2 = (D**2).sum(-1)
    c = 4 * (r2 - cut**2)
    c[r2 >= cut] = 0
    return (c[..., None] * D).sum(1)


def springs(X, i, j):
    return 0.5 * ((X[j] - X[i]) ** 2).sum() + (X**4).sum()


def one_end_left_out(X, i, j):
    pull = X[j] - X[i]
    F = 4 * X**3
    np.add.at(F, j, pull)
    return F


def answers(theta, a, b, Y):
    z = a * (theta[:, None] - b)
    return (np.logaddexp(0, z) - Y * z).sum() + 0.5 * (theta**2).sum()


def slope_left_out(theta, a, b, Y):
    z = a * (theta[:, None] - b)
    e = 1 / (1 + np.exp(-z)) - Y
    return e.sum(1) + theta, (e * (theta[:, None] - b)).sum(0), -(e * a).sum(0)


def form(x, Q):
    return (np.tanh(x) @ Q @ np.tanh(x)) ** 2


def one_half_of_a_form(x, Q):
    h = np.tanh(x)
    return 2 * (h @ Q @ h) * (1 - h**2) * (Q @ h)


def rough(x):
    return 0.5 * ((np.roll(x, -1) - x) ** 2).sum() + (x**3).sum()


def shifted_the_same_way(x):
    d = np.roll(x, -1) - x
    return np.roll(d, -1) - d + 3 * x**2


class Trades:
    def __init__(self, risk, aversion=2.0, cost=0.7):
        self.risk, self.aversion, self.cost = risk, aversion, cost

    def utility(self, w, old):
        return -self.aversion / 2 * w @ self.risk @ w - self.cost * np.sqrt((w - old) ** 2 + 0.01).sum()

    def without_aversion(self, w, old):
        d = w - old
        return -self.risk @ w - self.cost * d / np.sqrt(d**2 + 0.01)

    def by_its_sign(self, w, old):
        d = w - old
        return -self.aversion * self.risk @ w - self.cost * np.sign(d) / np.sqrt(d**2 + 0.01)


def test_a_mend_holds_for_other_numbers_of_an_object_and_for_other_signs():
    """2 stood for an attribute that was 2.0, and |d| for d where all were positive."""
    trades, w = Trades(np.diag([1.0, 2, 3])), np.array([0.7, 1.1, 0.4])
    report = check(trades.utility, trades.without_aversion, w, w / 3, argnums=0)
    assert "self.aversion" in report.mend.right
    report = check(trades.utility, trades.by_its_sign, w, w / 3, argnums=0)
    assert report.mend.right == "return -self.aversion * self.risk @ w - self.cost * d / np.sqrt(d**2 + 0.01)"


POINTS = RNG.normal(size=(6, 3)), np.linalg.qr(RNG.normal(size=(3, 3)))[0] + 0.1, np.array([0.1, -0.2, 6.0])
CAMERA = (*POINTS, 1.7, RNG.normal(size=(6, 2)))
FACTORS = RNG.uniform(0.2, 1, (4, 3)), RNG.uniform(0.2, 1, (3, 5)), RNG.uniform(0.2, 2, (4, 5))
PLATE = RNG.normal(size=(4, 5)), RNG.uniform(0.5, 2, (4, 5))
WORDS = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)), np.array([0, 3, 3, 5]), np.array([1, 2, 2, 4])
ANSWERS = RNG.normal(size=5), RNG.uniform(0.5, 2, 4), RNG.normal(size=4), RNG.integers(0, 2, (5, 4)) * 1.0
ENDS = np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0, 3, 0])


@pytest.mark.parametrize(("f", "grad", "args", "right"), [
    (camera, turned_back, CAMERA, "return dY @ R, dY.T @ X, dY.sum(axis=0), dfl"),
    (camera, not_squared, CAMERA, "dY[:, 2] = -fl * (e * Y[:, :2]).sum(axis=1) / Y[:, 2]**2"),
    (divergence, quotient_upside_down, FACTORS, "E = 1 - V / R"),
    (heat, weights_left_out, PLATE, "dy = np.diff(u, axis=1) * k[:, :-1]"),
    (heat, weights_one_further, PLATE, "dy = k[:, :-1] * np.diff(u, axis=1)"),
    (curve, hump_left_out, (RNG.normal(size=3), RNG.uniform(0.2, 3, 9)), "r @ (load - ex)"),
    (embedded, negatives_left_out, WORDS, "dV[c] += a * U[o] + b @ U[few]"),
    (attracted, bound_not_squared, (0.8 * RNG.normal(size=(6, 2)), 1.8), "c[r2 >= cut**2] = 0"),
    (answers, slope_left_out, ANSWERS, "return (e * a).sum(1) + theta, "),
    (form, one_half_of_a_form, (RNG.normal(size=4), RNG.normal(size=(4, 4))), "((Q + Q.T) @ h)"),
    (rough, shifted_the_same_way, (RNG.normal(size=6),), "d = np.roll(x, 1) - x"),
    (springs, one_end_left_out, (RNG.normal(size=(4, 2)), *ENDS), "np.add.at(F, i, -pull)"),
])  # fmt: skip
def test_the_line_is_found(f, grad, args, right):
    """None was found: fixed numbers of axes, quotients upside down, slices along two axes, squares of bounds."""
    report = check(f, grad, *args)
    assert not report.ok
    assert report.mend is not None, report
    assert right in report.mend.right

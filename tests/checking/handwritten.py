"""Ten derivatives as people write them by hand, each right and with the mistakes that people make in it.

Every problem is a function, its vjp (the cotangent ``v`` first) with a switch ``m`` for the mistakes, a point, and the
mistakes: the kinds of diagnosis that name each, and a word that the sentence must have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RNG = np.random.default_rng(11)


@dataclass
class Problem:
    """``mistakes``: name → (kinds, word)."""

    f: Callable[..., Any]
    vjp: Callable[..., Any]
    args: tuple[Any, ...]
    mistakes: dict[str, tuple[tuple[str, ...], str]]


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# ---------------------------------------------------------------------------------------------- classifiers


def cross_entropy(W, b, X, T):
    z = X @ W + b
    return (np.log(np.exp(z).sum(1)) - (T * z).sum(1)).mean()


def cross_entropy_vjp(v, W, b, X, T, m=""):
    p = softmax(X @ W + b)
    r = v * ((p + T) if m == "target's sign" else (p - T)) / (1 if m == "mean" else len(X))
    return X.T @ r, r if m == "bias not summed" else r.sum(0)


def logistic(w, b, X, y):
    z = X @ w + b
    return (np.log(1 + np.exp(z)) - y * z).sum() + 0.05 * (w**2).sum()


def logistic_vjp(v, w, b, X, y, m=""):
    p = 1 / (1 + np.exp(-(X @ w + b)))
    r = y - p if m == "sign" else p - y
    db = r.mean() if m == "mean of intercept" else r.sum()
    decay = 0.05 * w if m == "decay without 2" else 0.1 * w
    return v * (X.T @ r + decay), v * db


def huber(w, X, y, delta=0.7):
    r = X @ w - y
    return np.where(abs(r) <= delta, 0.5 * r**2, delta * (abs(r) - 0.5 * delta)).sum()


def huber_vjp(v, w, X, y, m="", delta=0.7):
    r = X @ w - y
    outside = delta if m == "no sign" else 0 * r if m == "one branch" else delta * np.sign(r)
    return v * X.T @ np.where(abs(r) <= delta, 2 * r if m == "factor in one branch" else r, outside)


# ---------------------------------------------------------------------------------------------- normalisation


def layer_norm(x, gamma, beta):
    mean = x.mean(1, keepdims=True)
    var = ((x - mean) ** 2).mean(1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * gamma + beta


def layer_norm_vjp(v, x, gamma, beta, m=""):
    mean = x.mean(1, keepdims=True)
    s = 1 / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    h = (x - mean) * s
    g = v * gamma
    dx = g if m == "mean held" else g - g.mean(1, keepdims=True)
    if m != "variance held":
        dx = dx - h * (g * h).mean(1, keepdims=True)
    return s * dx, v * h if m == "gamma not summed" else (v * h).sum(0), v.sum(0)


def batch_norm(x, gamma, beta):
    mean = x.mean(0)
    var = ((x - mean) ** 2).mean(0)
    return gamma * (x - mean) / np.sqrt(var + 1e-5) + beta


def batch_norm_vjp(v, x, gamma, beta, m=""):
    n = len(x)
    s = 1 / np.sqrt(x.var(0) + 1e-5)
    h = (x - x.mean(0)) * s
    g = v * gamma
    axis = 1 if m == "wrong axis" else 0
    dbeta = v.mean(0) if m == "mean of beta" else v.sum(0)
    if m == "without n":
        return s * (g - g.sum(0) - h * (g * h).sum(0)), (v * h).sum(0), dbeta
    return s / n * (n * g - g.sum(axis, keepdims=True) - h * (g * h).sum(0)), (v * h).sum(0), dbeta


def normalise(x):
    return x / np.sqrt((x**2).sum(-1, keepdims=True))


def normalise_vjp(v, x, m=""):
    size = np.sqrt((x**2).sum(-1, keepdims=True))
    y = x / size
    along = (v * y).sum(-1, keepdims=True) * y
    return {
        "norm held": v / size,
        "sign of projection": (v + along) / size,
        "not divided": v - along,
    }.get(m, (v - along) / size)


# ---------------------------------------------------------------------------------------------- products


def attention(Q, K, V):
    z = Q @ K.T / np.sqrt(Q.shape[1])
    e = np.exp(z)
    return e / e.sum(1, keepdims=True) @ V


def attention_vjp(v, Q, K, V, m=""):
    scale = float(np.sqrt(Q.shape[1]))
    p = softmax(Q @ K.T / scale)
    dp = v @ V.T
    dz = p * dp if m == "softmax without its sum" else p * (dp - (p * dp).sum(1, keepdims=True))
    if m != "scale":
        dz = dz / scale
    return dz @ K, (dz @ Q if m == "dz not transposed" else dz.T @ Q), p.T @ v


def convolution(x, w, b):
    n = x.shape[1] - w.shape[0] + 1
    return sum(x[:, k : k + n] * w[k] for k in range(w.shape[0])) + b


def convolution_vjp(v, x, w, b, m=""):
    n, size = v.shape[1], len(w)
    dx = np.zeros_like(x)
    for k in range(size):
        place = size - 1 - k if m == "kernel not flipped" else k
        dx[:, place : place + n] += v * w[k]
    shift = 1 if m == "off by one" else 0
    padded = np.pad(x, ((0, 0), (0, 1)))
    dw = np.array([(v * padded[:, k + shift : k + shift + n]).sum() for k in range(size)], x.dtype)
    return dx, dw, v.mean() if m == "mean of bias" else v.sum()


def rotation(q, x):
    w, u = q[0], q[1:]
    t = 2 * np.cross(u, x)
    return x + w * t + np.cross(u, t)


def rotation_vjp(v, q, x, m=""):
    w, u = q[0], q[1:]
    two = 1 if m == "factor 2" else 2
    dw = two * v @ np.cross(u, x)
    du = two * (w * np.cross(x, v) + np.cross(np.cross(u, x), v) + np.cross(x, np.cross(v, u)))
    if m == "cross turned":
        du = two * (-w * np.cross(x, v) + np.cross(np.cross(u, x), v) + np.cross(x, np.cross(v, u)))
    dx = v + 2 * (w if m == "rotated the other way" else -w) * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v))
    return np.concatenate([[dw], du]).astype(q.dtype), dx


def gaussian(mu, S, X):
    r = X - mu
    return -0.5 * ((r @ np.linalg.inv(S)) * r).sum() - 0.5 * len(X) * np.log(np.linalg.det(S))


def gaussian_vjp(v, mu, S, X, m=""):
    r = X - mu
    P = np.linalg.inv(S)
    spread = 0.5 * P @ (r.T @ r) @ P
    volume = (0.5 if m == "without n" else len(X) if m == "without half" else 0.5 * len(X)) * P
    dS = -spread - volume if m == "sign of the spread" else spread - volume
    return v * (r @ P).sum(0), v * dS


X = RNG.normal(size=(7, 4))
Y = (RNG.random(7) > 0.5).astype(float)
T = np.eye(3)[RNG.integers(0, 3, 7)]
N = RNG.normal(size=(4, 4))

PROBLEMS = {
    "cross entropy": Problem(
        cross_entropy, cross_entropy_vjp, (RNG.normal(size=(4, 3)), RNG.normal(size=3), X, T),
        {"target's sign": (("term",), "wrong sign"), "mean": (("factor",), "X.shape[0]"),
         "bias not summed": (("missing sum",), "axis 0")}),
    "logistic": Problem(
        logistic, logistic_vjp, (RNG.normal(size=4), 0.3, X, Y),
        {"sign": (("term",), "sign"), "mean of intercept": (("factor",), "1/7"),
         "decay without 2": (("term",), "1/2")}),
    "huber": Problem(
        huber, huber_vjp, (np.array([0.6, -0.4, 0.2, -0.7]), X, 2 * Y - 0.2),
        {"no sign": (("inner derivative",), "abs"), "one branch": (("term",), "missing"),
         "factor in one branch": (("term",), "twice")}),
    "layer norm": Problem(
        layer_norm, layer_norm_vjp, (X, RNG.normal(size=4), RNG.normal(size=4)),
        {"mean held": (("term",), "sum(x, 1)"), "variance held": (("term",), "sqrt"),
         "gamma not summed": (("missing sum",), "axis 0")}),
    "batch norm": Problem(
        batch_norm, batch_norm_vjp, (X, RNG.normal(size=4), RNG.normal(size=4)),
        {"wrong axis": (("unknown",), ""), "mean of beta": (("factor",), "1/7"),
         "without n": (("terms",), "7 (= x.shape[0]) times")}),
    "normalise": Problem(
        normalise, normalise_vjp, (X,),
        {"norm held": (("term",), "missing"), "sign of projection": (("term",), "wrong sign"),
         "not divided": (("local factor",), "norm(x, dim=(1,), p=2)[:, None] is too many")}),
    "attention": Problem(
        attention, attention_vjp, (X[:5], RNG.normal(size=(5, 4)), RNG.normal(size=(5, 3))),
        {"scale": (("factor",), "2"), "softmax without its sum": (("term",), "missing"),
         "dz not transposed": (("transpose",), "")}),
    "convolution": Problem(
        convolution, convolution_vjp, (RNG.normal(size=(2, 8)), RNG.normal(size=3), 0.4),
        {"kernel not flipped": (("argument", "order"), "w"), "off by one": (("order",), "shifted"),
         "mean of bias": (("factor",), "1/12")}),
    "rotation": Problem(
        rotation, rotation_vjp, (RNG.normal(size=4), RNG.normal(size=3)),
        {"factor 2": (("factor",), "1/2"), "cross turned": (("term",), "sign"),
         "rotated the other way": (("term", "argument"), "")}),
    "gaussian": Problem(
        gaussian, gaussian_vjp, (RNG.normal(size=4), N @ N.T + np.eye(4), X),
        {"without n": (("term",), "1/7"), "without half": (("term",), "twice"),
         "sign of the spread": (("term",), "sign")}),
}  # fmt: skip

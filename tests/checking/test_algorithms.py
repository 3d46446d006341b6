"""Mistakes in gradients of known algorithms that need several operations to be told: their names, first contact."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(5)
MISTAKES = {}


def mistake(*words, **options):
    """A wrong gradient: ``make() -> (f, grad, *args)``, and the words that the sentence must have."""

    def keep(make):
        MISTAKES[make.__name__] = make, words, options
        return make

    return keep


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_named(name):
    make, words, options = MISTAKES[name]
    f, right, wrong, *args = make()
    assert check(f, right, *args, **options), name
    report = check(f, wrong, *args, **options)
    assert not report.ok
    assert all(word in report.diagnosis.sentence for word in words), report


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@mistake("[:, :4]", "[:, 4:8]", "stand in each other's place", argnums=0)
def gates_in_another_order():
    def cell(h, W, c):
        z = h @ W
        i, f, g = sigmoid(z[:, :4]), sigmoid(z[:, 4:8]), np.tanh(z[:, 8:])
        return ((f * c + i * g) ** 2).sum()

    def grad(h, W, c, order=slice(None)):
        z = h @ W
        i, f, g = sigmoid(z[:, :4]), sigmoid(z[:, 4:8]), np.tanh(z[:, 8:])
        d = 2 * (f * c + i * g)
        parts = [d * g * i * (1 - i), d * c * f * (1 - f)]
        dz = np.hstack([*parts[order], d * i * (1 - g**2)])
        return dz @ W.T

    W, h, c = RNG.normal(size=(4, 12)), RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    return cell, grad, lambda *args: grad(*args, slice(None, None, -1)), h, W, c


@mistake("E", "read several times", "last time only", argnums=0)
def embedding_of_tokens_that_repeat():
    def loss(E, tokens):
        return (E[tokens].mean(1) ** 2).sum()

    def grad(E, tokens, add=np.add.at):
        dE, d = np.zeros_like(E), 2 * E[tokens].mean(1) / tokens.shape[1]
        add(dE, tokens, np.repeat(d[:, None], tokens.shape[1], 1))
        return dE

    def add_once(dE, tokens, d):
        dE[tokens] += d

    tokens = np.array([[0, 1, 1], [2, 1, 4], [0, 0, 3]])
    return loss, grad, lambda E, t: grad(E, t, add_once), RNG.normal(size=(5, 3)), tokens


@mistake("x[1:]", "is missing")
def one_of_two_windows():
    """Each window is read in a place of its own: the other one is forgotten rather than written over."""

    def loss(x):
        return (x[:-1] * np.sin(x[1:])).sum()

    def grad(x, both=1):
        g = np.zeros_like(x)
        g[:-1] += np.sin(x[1:])
        g[1:] += both * x[:-1] * np.cos(x[1:])
        return g

    return loss, grad, lambda x: grad(x, 0), RNG.normal(size=5)


@mistake("np.exp(z - top).sum(1)", "along axis 0, not along axis 1")
def softmax_that_is_shifted_and_along_the_wrong_axis():
    def loss(z):
        top = z.max(1, keepdims=True)
        return (top[:, 0] + np.log(np.exp(z - top).sum(1))).sum()

    def grad(z, axis=1):
        p = np.exp(z - z.max(1, keepdims=True))
        return p / p.sum(axis, keepdims=True)

    return loss, grad, lambda z: grad(z, 0), RNG.normal(size=(4, 3))


@mistake("as argument of div is missing", argnums=0)
def softmax_that_is_shifted_and_without_its_sum():
    def loss(z, w):
        e = np.exp(z - z.max(1, keepdims=True))
        return (w * (e / e.sum(1, keepdims=True))).sum()

    def grad(z, w, whole=1):
        e = np.exp(z - z.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        return p * (w - whole * (p * w).sum(1, keepdims=True))

    return loss, grad, lambda z, w: grad(z, w, 0), RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3))


@mistake("is taken for its transpose", "each time the line runs", argnums=0)
def forward_algorithm_of_a_chain():
    def loss(b, A):
        a = b[0]
        for t in range(1, len(b)):
            top = a.max()
            a = top + np.log(np.exp(a - top) @ A) + b[t]
        top = a.max()
        return top + np.log(np.exp(a - top).sum())

    def grad(b, A, turn=lambda A: A):
        alpha, beta = [np.exp(b[0])], [np.ones(3)]
        for t in range(1, len(b)):
            alpha.append(alpha[-1] @ A * np.exp(b[t]))
            beta.insert(0, turn(A) @ (np.exp(b[-t]) * beta[0]))
        return np.array(alpha) * beta / alpha[-1].sum()

    return loss, grad, lambda b, A: grad(b, A, np.transpose), RNG.normal(size=(4, 3)), RNG.dirichlet(np.ones(3), 3)


@mistake("at the values of f with 0.1 added after sqrt in place of before", argnums=0)
def epsilon_outside_of_the_root():
    def loss(x, y):
        return (x * y / np.sqrt((x**2).mean() + 0.1)).sum()

    def grad(x, y, outside=False):
        s = np.sqrt((x**2).mean()) + 0.1 if outside else np.sqrt((x**2).mean() + 0.1)
        return y / s - (x * y).sum() / s**2 * x / (len(x) * s)

    return loss, grad, lambda x, y: grad(x, y, True), RNG.normal(size=5), RNG.normal(size=5)


@mistake("with the last entry of cumsum everywhere", argnums=0)
def risk_sets_of_all():
    def loss(b, X):
        return (np.log(np.cumsum(np.exp(X @ b))) - X @ b).sum()

    def grad(b, X, whole=False):
        w = np.exp(X @ b)
        s, t = np.cumsum(w), np.cumsum(w[:, None] * X, 0)
        if whole:
            s, t = s[-1:], t[-1:]
        return (t / s[:, None] - X).sum(0)

    return loss, lambda b, X: grad(b, X), lambda b, X: _whole(X, b), RNG.normal(size=3), RNG.normal(size=(6, 3))


def _whole(X, b):
    p = np.exp(X @ b)
    return len(X) * (p @ X) / p.sum() - X.sum(0)


@mistake("maximum takes the side of", "without 1 that is added", argnums=0)
def margin_left_out_of_the_condition():
    def loss(a, p, n):
        return np.maximum(((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + 1, 0).sum()

    def grad(a, p, n, margin=1):
        on = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + margin > 0
        return 2 * on[:, None] * (n - p)

    a, p = RNG.normal(size=(2, 8, 2))
    return loss, grad, lambda a, p, n: grad(a, p, n, 0), a, p, p + 0.3 * RNG.normal(size=(8, 2))


@mistake("stretched along axis 0", "summed along axis 1", argnums=0)
def broadcast_undone_along_the_wrong_axis():
    def loss(c, X):
        return np.exp(-((X[:, None] - c[None]) ** 2)).sum()

    def grad(c, X, axis=0):
        d = X[:, None] - c[None]
        return (2 * d * np.exp(-(d**2))).sum(axis)

    return loss, grad, lambda c, X: grad(c, X, 1), RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))


@mistake("doubled off the diagonal")
def entries_of_a_symmetric_matrix_counted_twice():
    def right(S):
        return np.linalg.inv(S)

    def wrong(S):
        G = np.linalg.inv(S)
        return 2 * G - np.diag(np.diag(G))

    N = RNG.normal(size=(3, 3))
    return lambda S: 2 * np.log(np.diag(np.linalg.cholesky(S))).sum(), right, wrong, N @ N.T + np.eye(3)


@mistake("not symmetrised")
def symmetric_part_forgotten():
    C = RNG.normal(size=(3, 3))

    def loss(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return (C * ((V * w**2) @ V.T)).sum()

    def wrong(A):
        S = (A + A.T) / 2
        return C @ S + S @ C

    def right(A):
        return (wrong(A) + wrong(A).T) / 2

    return loss, right, wrong, RNG.normal(size=(3, 3))


@mistake("The factor k is left out, in k*", argnums=0)
def factor_left_out_of_a_product():
    def loss(x, k):
        y = np.sin(x)
        return (3 * x + k * y).sum()

    k = RNG.normal(size=4)
    return loss, lambda x, k: 3 + k * np.cos(x), lambda x, k: 3 + np.cos(x), RNG.normal(size=4), k


@mistake("is counted twice", "is missing", argnums=0)
def quadratic_form_taken_for_symmetric():
    """Two terms side by side: neither holds the other, whose factor it would have as well."""

    def loss(x, J, h):
        return x @ J @ x - h @ x

    def right(x, J, h):
        return (J + J.T) @ x - h

    return loss, right, lambda x, J, h: 2 * J @ x - h, RNG.normal(size=4), RNG.normal(size=(4, 4)), RNG.normal(size=4)


@mistake("A factor sqrt(", "is missing", argnums=0)
def distance_for_its_square():
    def loss(x, w):
        r2 = (x**2).sum(1)
        return (w / r2).sum() + np.sin(x).sum()

    def grad(x, w, power=2.0):
        r2 = (x**2).sum(1)
        return -2 * (w / r2**power)[:, None] * x + np.cos(x)

    return loss, grad, lambda x, w: grad(x, w, 2.5), RNG.normal(size=(5, 3)) + 1, RNG.normal(size=5)


@mistake("multiplied by", "i", argnums=0)
def imaginary_part_for_the_real_one():
    def loss(q, ph):
        S = (q * np.exp(1j * ph)).sum()
        return (S * S.conj()).real

    def grad(q, ph, part=np.real):
        e = np.exp(1j * ph)
        return 2 * part(e * (q * e).sum().conj())

    return loss, grad, lambda q, ph: grad(q, ph, np.imag), RNG.normal(size=4), RNG.normal(size=4)


@mistake("The derivative of acos is taken for -1")
def angle_without_its_sine():
    def loss(x):
        return (np.arccos(x) ** 2).sum()

    return (
        loss,
        lambda x: -2 * np.arccos(x) / np.sqrt(1 - x**2),
        lambda x: -2 * np.arccos(x),
        RNG.uniform(-0.9, 0.9, size=4),
    )


def test_the_headline_is_of_the_argument_whose_mistake_has_a_name():
    def f(x, y):
        return (np.sin(x) * np.cos(y)).sum()

    def grad(x, y):
        return np.cos(x) * np.cos(y) + np.tanh(x * y), -np.sin(x) * np.cos(y)

    report = check(f, grad, RNG.normal(size=3), RNG.normal(size=3))
    assert report["x"].diagnosis.kind in ("unknown", "place")
    assert report.diagnosis is report["y"].diagnosis
    assert report.headline.startswith("d f / d y")


def test_sizes_without_a_common_letter_do_not_stop_a_diagnosis():
    """``x[:, ::2]`` is as long as ``c``, which the formula cannot know."""

    def f(x, c, s):
        a, b = x[:, ::2], x[:, 1::2]
        return np.tanh(np.concatenate([a * c - b * s, a * s + b * c], 1)).sum()

    def grad(x, c, s, sign=1):
        a, b = x[:, ::2], x[:, 1::2]
        d = 1 - np.tanh(np.concatenate([a * c - b * s, a * s + b * c], 1)) ** 2
        g = np.empty_like(x)
        g[:, ::2] = d[:, :2] * c + sign * d[:, 2:] * s
        g[:, 1::2] = d[:, 2:] * c - d[:, :2] * s
        return g

    x, c, s = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(4, 2))
    assert check(f, grad, x, c, s)
    assert "wrong sign" in check(f, lambda *args: grad(*args, -1), x, c, s).diagnosis.sentence

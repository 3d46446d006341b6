"""Check a gradient that somebody wrote by hand, find the mistake, and check the corrected one.

The function is the negative log-likelihood of a softmax classifier with a bias; its gradient has the three mistakes
that such gradients usually have, one after the other.
"""

import numpy as np

import symgrad as sg

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 5))
T = np.eye(3)[rng.integers(0, 3, 20)]  # one row per sample, 1 at its class
W, b = rng.normal(size=(5, 3)), rng.normal(size=3)


def loss(W, b, X, T):
    z = X @ W + b
    return (sg.logsumexp(z, 1) - (T * z).sum(1)).mean() + 0.05 * (W**2).sum()


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def first_try(W, b, X, T):
    r = softmax(X @ W + b) - T
    return X.T @ r + 0.1 * W, r


def second_try(W, b, X, T):
    r = (softmax(X @ W + b) - T) / len(X)
    return X.T @ r + 0.05 * W, r.sum(axis=0)


def third_try(W, b, X, T):
    r = (softmax(X @ W + b) - T) / len(X)
    return X.T @ r + 0.1 * W, r.sum(axis=0)


for gradient in (first_try, second_try, third_try):
    print(f"=== {gradient.__name__}")
    print(sg.check(loss, gradient, W, b, X, T))
    print()

# In a test suite: an AssertionError with the whole report as its text.
sg.check(loss, third_try, W, b, X, T).raise_for_mismatch()

# Single precision is not an error; a gradient that is off by one part in a million is.
single = tuple(a.astype(np.float32) for a in (W, b, X, T))
print("float32:", sg.check(loss, third_try, *single).ok)
off = sg.check(loss, lambda *args: tuple(g * (1 + 1e-6) for g in third_try(*args)), W, b, X, T)
print("off by 1e-6:", off.ok, "-", off.diagnosis.sentence)

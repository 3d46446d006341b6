"""sg.check names mistakes that several edges of the graph share: windows, sums, weights, running sums."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(6)
x, X, w, A = RNG.normal(size=8), RNG.normal(size=(4, 5)), RNG.random(4) + 0.5, RNG.normal(size=(4, 4)) + 3 * np.eye(4)
k, T, C, b = RNG.normal(size=3), RNG.normal(size=(4, 5)), RNG.normal(size=(5, 4)), RNG.normal(size=4)
z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
a = RNG.normal(size=4) + 1j * RNG.normal(size=4)
NOISE = RNG.normal(size=16)
NO_NAME = ("unknown", "entries", "place", "precision")


def convolved(x, k):
    return (np.stack([x[i : i + 6] for i in range(3)], 1) @ k) ** 2 @ np.arange(6.0)


def convolved_gradient(x, k, m=""):
    windows = np.stack([x[i : i + 6] for i in range(3)], 1)
    r = 2 * (windows @ k) * np.arange(6.0)
    dx = np.zeros_like(x)
    for i in range(3)[:: -1 if m == "written backwards" else 1]:
        if m.startswith("written"):
            dx[i : i + 6] = r * k[i]
        else:
            dx[i : i + 6] += r * k[2 - i if m == "kernel flipped" else i]
    return (NOISE[:8] * dx if m == "noise" else dx), windows.T @ r


def attention(X, C, shift=True):
    S = X @ C
    e = np.exp(S - S.max(-1, keepdims=True) if shift else S)
    return ((e / e.sum(-1, keepdims=True)) * A).sum()


def attention_gradient(X, C, m=""):
    S = X @ C
    p = np.exp(S) / np.exp(S).sum(-1, keepdims=True)
    inner = A * p if m == "entry by entry" else (A * p).sum(0 if m == "other axis" else -1, keepdims=True)
    G = p * (A - inner) * (NOISE.reshape(4, 4) if m == "noise" else 1)
    return G @ C.T, X.T @ G


def centred(X):
    return ((X - X.mean(0)) ** 3 * T).sum()


def centred_gradient(X, axis=0):
    g = 3 * (X - X.mean(0)) ** 2 * T
    return g - g.mean(axis, keepdims=True)


def running(v):
    return (np.cumsum(np.sin(v)) ** 2 * w).sum()


def running_gradient(v, m=""):
    g = 2 * np.cumsum(np.sin(v)) * w
    back = np.cumsum(g) if m == "forward" else np.cumsum(g[::-1])[::-1]
    return np.cos(v) * back


def weighted(v):
    return (w * (v**2 - np.exp(v))).sum()


def standardised(X):
    return ((X - X.mean(0)) / np.sqrt(X.var(0)) * T).sum()


def standardised_gradient(X, ddof=0):
    s = np.sqrt(X.var(0, ddof=ddof))
    h = (X - X.mean(0)) / s
    return (T - T.mean(0) - h * (T * h).mean(0)) / s


def solved(A, b):
    return (np.linalg.solve(A, b) ** 2).sum()


def solved_gradient(A, b, turned=False):
    y = np.linalg.solve(A, b)
    v = np.linalg.solve(A if turned else A.T, 2 * y)
    return -np.outer(v, y), v


def logistic(v):
    return w @ (1 / (1 + np.exp(-(A @ v))))


def logistic_gradient(v, m=""):
    u = A @ v
    s = u if m == "argument" else 1 / (1 + np.exp(-u))
    return A.T @ (w * s * (1 - s))


def beam(z):
    return np.abs(z.conj() @ a) ** 2 + np.real(z.conj() @ (A @ z))


def beam_gradient(z, m=""):
    n = z.conj() @ a
    return 2 * a * (n if m == "conjugate" else n.conj()) + (A + A.T) @ z


MISTAKES = {
    "windows written over each other": (convolved, partial(convolved_gradient, m="written"), (x, k), "overwritten"),
    "the same from the end": (convolved, partial(convolved_gradient, m="written backwards"), (x, k), "overwritten"),
    "a kernel that is not turned": (convolved, partial(convolved_gradient, m="kernel flipped"), (x, k), "operand"),
    "the diagonal of a softmax": (attention, partial(attention_gradient, m="entry by entry"), (X, C), "axis"),
    "the axis of a softmax": (attention, partial(attention_gradient, m="other axis"), (X, C), "axis"),
    "the axis of a softmax without shift": (
        partial(attention, shift=False),
        partial(attention_gradient, m="other axis"),
        (X, C),
        "axis",
    ),
    "the axis of a mean": (centred, partial(centred_gradient, axis=1), (X,), "axis"),
    "a running sum forwards": (running, partial(running_gradient, m="forward"), (b,), "transpose"),
    "a weight on one of two paths": (weighted, lambda v: w * 2 * v - np.exp(v), (b,), "local factor"),
    "n - 1 in the gradient only": (standardised, partial(standardised_gradient, ddof=1), (X,), "other function"),
    "a solution with A for its transpose": (solved, partial(solved_gradient, turned=True), (A, b), "transpose"),
    "the argument of a sigmoid written out": (
        logistic,
        partial(logistic_gradient, m="argument"),
        (b,),
        "local derivative",
    ),
    "a conjugate of one term": (beam, partial(beam_gradient, m="conjugate"), (z,), "conjugate"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_named(name):
    f, grad, args, kind = MISTAKES[name]
    report = check(f, grad, *args)
    found = [argument.diagnosis for argument in report.arguments if argument.diagnosis]
    assert found, name
    assert {d.kind for d in found} == {kind}, [d.sentence for d in found]
    assert all(d.line for d in found), [d.sentence for d in found]


@pytest.mark.parametrize(
    ("f", "grad", "args"),
    [
        (convolved, convolved_gradient, (x, k)),
        (attention, attention_gradient, (X, C)),
        (centred, centred_gradient, (X,)),
        (running, running_gradient, (b,)),
        (weighted, lambda v: w * (2 * v - np.exp(v)), (b,)),
        (standardised, standardised_gradient, (X,)),
        (solved, solved_gradient, (A, b)),
        (logistic, logistic_gradient, (b,)),
        (beam, beam_gradient, (z,)),
    ],
)
def test_right_gradients_pass(f, grad, args):
    assert check(f, grad, *args), str(check(f, grad, *args))


@pytest.mark.parametrize(
    ("f", "grad", "args"), [(convolved, convolved_gradient, (x, k)), (attention, attention_gradient, (X, C))]
)
def test_noise_has_no_name(f, grad, args):
    report = check(f, partial(grad, m="noise"), *args)
    found = [argument.diagnosis for argument in report.arguments if argument.diagnosis]
    assert all(d.kind in NO_NAME for d in found), [d.sentence for d in found]


def test_no_place_is_named_that_any_gradient_would_fit():
    """Windows of x have more entries than x: some gradient of theirs explains every error of x."""
    report = check(convolved, partial(convolved_gradient, m="noise"), x, k)
    assert report.diagnosis.kind == "unknown", report.diagnosis.sentence


def test_slopes_of_two_sides_for_each_other_are_no_order():
    at = np.array([0.4, -0.3, 1.2, -2.0])
    report = check(lambda u: np.where(u > 0, u, 0.1 * u).sum(), lambda u: np.where(u > 0, 0.1, 1.0), at)
    assert not report.ok
    assert report.diagnosis.kind != "order"  # it was "The entries run backwards", as they happen to do


def test_where_the_exact_gradient_is_no_number_nothing_is_said_of_the_given_one():
    """It was "0 of 3 entries are not 0, though they should be"."""
    X, y = np.eye(2)[[0, 1, 0]] + 0.1, np.ones(3)

    def f(b):
        return (y / np.exp(X @ b) + X @ b).sum()

    with np.errstate(all="ignore"):
        found = check(f, lambda b: X.T @ (1 - y / np.exp(X @ b)), np.array([1e8, -1e8])).diagnosis
    assert found.sentence == "The exact gradient is NaN here, first at b[0]; there is none to compare with."
    found = check(lambda x: np.sqrt(x).sum(), lambda x: np.append(0.0, 0.5 / np.sqrt(x[1:])), np.array([0.0, 1.0]))
    assert found.diagnosis.sentence.startswith("The exact gradient is infinite here, first at x[0];")
    assert check(lambda x: np.sqrt(x).sum(), np.zeros_like, np.array([0.0, 1.0])).diagnosis.kind == "zero"


def test_an_error_of_the_function_itself_is_the_one_that_is_raised():
    """It was that tensors have no astype."""
    table = np.arange(20.0)

    def f(x):
        k = np.floor(x).astype(int)
        return ((x - k) * table[k]).sum()

    with pytest.raises(IndexError, match="out of bounds"):
        check(f, lambda x: table[np.floor(x).astype(int)], np.array([100.0]))

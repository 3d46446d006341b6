"""Lines that sg.check mends besides the expressions of a gradient's own function: what its forward pass keeps, what a
function with value and gradient computes beside, closures, loops that end early, and places that are written to."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import inquiry

RNG = np.random.default_rng(7)
X, x = RNG.normal(size=(5, 3)), RNG.normal(size=6)


@pytest.fixture(autouse=True)
def _enough_time(monkeypatch):
    monkeypatch.setattr(inquiry, "FIRST_MENDING", 60)
    monkeypatch.setattr(inquiry, "LONGEST_MENDING", 0)


def mended(f, grad, *args):
    return sg.check(f, grad, *args, diagnose=240).mend


def normalised(x):
    mean, var = x.mean(axis=0), x.var(axis=0)
    std = np.sqrt(var + 0.1)
    x_hat = (x - mean) / std
    kept = (x_hat, var)
    return x_hat, kept


def through_normalised(g, x):
    x_hat, std = normalised(x)[1]
    return (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0)) / std


def test_what_a_forward_pass_keeps_is_looked_at():
    mend = mended(lambda x: normalised(x)[0], through_normalised, X)
    assert (mend.was, mend.right) == ("kept = (x_hat, var)", "kept = (x_hat, std)")


def chained(x):
    t = x[1:] - x[:-1] ** 2
    value = (t**2).sum()
    g = np.zeros_like(x)
    g[:-1] = -4 * t * x[:-1]
    g[1:] = 2 * t
    return value, g


def test_a_function_that_gives_its_gradient_too_is_mended_where_its_value_stays():
    mend = mended(chained, True, x)
    assert (mend.was, mend.right) == ("g[1:] = 2 * t", "g[1:] += 2 * t")


class Value:
    def __init__(self, data):
        self.data, self.grad = data, 0.0

    def __mul__(self, other):
        out = Value(self.data * other.data)

        def back():
            self.grad = other.data * out.grad
            other.grad += self.data * out.grad

        out.back = back
        return out

    def __add__(self, other):
        out = Value(self.data + other.data)

        def back():
            self.grad += out.grad
            other.grad += out.grad

        out.back = back
        return out


def steps(a, b):
    v, w = Value(a), Value(b)
    first, second = v * v, v * w
    return v, w, (first + second, first, second)


def total(a, b):
    return steps(a, b)[2][0].data


def by_steps(a, b):
    v, w, made = steps(a, b)
    made[0].grad = 1.0
    for step in made:
        step.back()
    return v.grad, w.grad


def test_functions_inside_of_others_are_looked_at():
    mend = mended(total, by_steps, 1.3, 0.4)
    assert (mend.was, mend.right) == ("self.grad = other.data * out.grad", "self.grad += other.data * out.grad")


def rough(x):
    return (np.diff(x) ** 2).sum()


def ends_early(x):
    g = np.zeros_like(x)
    for k in range(len(x) - 2):
        d = 2 * (x[k + 1] - x[k])
        g[k] -= d
        g[k + 1] += d
    return g


def other_part(x):
    d = 2 * np.diff(x)
    g = np.zeros_like(x)
    g[:-1] -= d
    g[:-1] += d
    return g


SLOPES = RNG.normal(size=(3, 3))
PAIRS = [(0, 1), (1, 2), (2, 2), (1, 0)]


def of_pairs(M):
    return sum(np.sin(M[i, j]) for i, j in PAIRS) + (SLOPES * M).sum()


def mirrored(M):
    g = SLOPES.copy()
    for i, j in PAIRS:
        g[j, i] += np.cos(M[i, j])
    return g


def shares(D):
    q = D / D.sum()
    return (q * np.log(q)).sum()


def shares_by_row(D):
    s = D.sum(1, keepdims=True)
    q = D / s
    return (np.log(q) - (q * np.log(q)).sum()) / s


def products(W, H):
    return (W.sum(axis=0)[:, None] * H**2).sum()


def of_all_rows(W, H):
    return np.ones_like(W) * (H**2).sum(axis=1), 2 * W.sum() * H


@pytest.mark.parametrize(
    ("f", "grad", "args", "right"),
    [
        (rough, ends_early, (x,), "for k in range(len(x) - 1):"),
        (rough, other_part, (x,), "g[1:] += d"),
        (of_pairs, mirrored, (RNG.normal(size=(3, 3)),), "g[i, j] += np.cos(M[i, j])"),
        (shares, shares_by_row, (RNG.uniform(1, 2, (3, 3)),), "s = D.sum(keepdims=True)"),
        (
            products,
            of_all_rows,
            (RNG.normal(size=(4, 2)), RNG.normal(size=(2, 3))),
            "return np.ones_like(W) * (H**2).sum(axis=1), 2 * W.sum(axis=0)[:, None] * H",
        ),
    ],
)
def test_loops_places_and_axes(f, grad, args, right):
    assert mended(f, grad, *args).right == right


# ------------------------------------------------------------------------------------------- the order of what is done


def product_of_three(A, B, T):
    return (np.einsum("ia,jb,abc->ijc", A, B, T) ** 2).sum()


def with_letters_mixed_up(A, B, T):
    y = 2 * np.einsum("ia,jb,abc->ijc", A, B, T)
    gA = np.einsum("ijc,jb,bac->ia", y, B, T)
    gB = np.einsum("ijc,ia,abc->jb", y, A, T)
    gT = np.einsum("ijc,ia,jb->abc", y, A, B)
    return gA, gB, gT


def test_the_letters_of_an_einsum_are_mended():
    rows = RNG.normal(size=(2, 3, 3))
    mend = mended(product_of_three, with_letters_mixed_up, *rows, RNG.normal(size=(3, 3, 3)))
    assert mend.right == "gA = np.einsum('ijc,jb,abc->ia', y, B, T)"


def rate(x, p):
    return np.array([p[0] * x[0] - x[0] * x[1], x[0] * x[1] - p[1] * x[1]])


def slopes(x, p):
    return np.array([[p[0] - x[1], -x[0]], [x[1], x[0] - p[1]]])


def two_stages(x, p):
    for _ in range(3):
        middle = x + 0.1 * rate(x, p)
        x = x + 0.2 * rate(middle, p)
    return (x**2).sum()


def with_a_stage_at_its_start(x, p):
    kept = []
    for _ in range(3):
        middle = x + 0.1 * rate(x, p)
        kept.append((x, middle))
        x = x + 0.2 * rate(middle, p)
    g = 2 * x
    for start, middle in reversed(kept):
        l2 = 0.2 * slopes(start, p).T @ g
        g = g + l2 + 0.1 * slopes(start, p).T @ l2
    return g


def test_a_variable_of_the_same_shape_may_be_meant():
    x, p = np.array([1.0, 0.6]), np.array([1.1, 0.7])
    mend = sg.check(two_stages, with_a_stage_at_its_start, x, p, argnums=0, diagnose=240).mend
    assert mend.right == "l2 = 0.2 * slopes(middle, p).T @ g"


def kicks(q, p):
    for _ in range(3):
        q = q + 0.1 * p
        p = p - 0.1 * np.sin(q)
    return (q**2).sum() + (p * q).sum()


def kicks_backward(q, p):
    kept = []
    for _ in range(3):
        q = q + 0.1 * p
        kept.append(q)
        p = p - 0.1 * np.sin(q)
    gq, gp = 2 * q + p, q
    for at in reversed(kept):
        gp = gp + 0.1 * gq
        gq = gq - 0.1 * np.cos(at) * gp
    return gq, gp


def test_two_statements_may_stand_in_the_wrong_order():
    mend = mended(kicks, kicks_backward, *RNG.normal(size=(2, 3)))
    assert (mend.was.split("\n")[0], mend.right.split("\n")[0]) == (
        "gp = gp + 0.1 * gq",
        "gq = gq - 0.1 * np.cos(at) * gp",
    )


W = RNG.normal(size=(4, 4))


def saturated(x):
    return (W @ np.tanh(x)).sum() + 0.5 * x @ x


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (lambda x: W.T @ ((1 - np.tanh(x) ** 2) * np.ones(4)) + x, "(1 - np.tanh(x) ** 2) * (W.T @ np.ones(4))"),
        (lambda x: (1 - np.arctanh(x) ** 2) * (W.T @ np.ones(4)) + x, "np.tanh(x)"),
    ],
)
def test_factors_in_the_wrong_order_and_inverse_functions(wrong, right):
    assert right in mended(saturated, wrong, 0.3 * RNG.random(4)).right


def test_what_has_a_transpose_too_many_gets_none_around_it():
    def transposed(x):
        return (1 - np.tanh(x) ** 2) * (W.T.T @ np.ones(4)) + x

    assert "W.T @" in mended(saturated, transposed, 0.3 * RNG.random(4)).right

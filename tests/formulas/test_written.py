"""Arrays that loops fill entry by entry print as the vectors and matrices of what was written."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.term import evaluate, symbols

X = np.array([1.0, 2.0, 3.0])


def filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2 * (i + 1)
    return out.sum()


def scanned(x):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + x[i] ** 2
    return (out**2).sum()


def matrix(x):
    J = np.zeros((2, 2))
    J[0, 0], J[0, 1], J[1, 0], J[1, -1] = x[0], x[1], x[0] * x[1], np.sin(x[1])
    return np.linalg.det(J)


def turned(x):
    return (np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]) @ np.array([1.0, 2.0]))[0]


def rewritten(x):
    out = np.zeros(3)
    out[1] = x[0]
    out[1] = x[1] * out[1]
    out[2] = 5.0
    return out @ x


def some(x):
    y = x * 2
    y[1] = x[0]
    return (y**2).sum()


CASES = {
    "filled": (filled, X, "x[0]² + 2 x[1]² + 3 x[2]²", "2 [x[0]; 2 x[1]; 3 x[2]]"),
    "scanned": (scanned, X[:2], "‖[x[0]; x[0]/2 + x[1]²]‖²", "[(5 x[0])/2 + x[1]²; 2 x[1] (x[0] + 2 x[1]²)]"),
    "matrix": (matrix, X[:2], "det([x[0], x[1]; x[0] x[1], sin(x[1])])", None),
    "turned": (turned, 0.5, None, "−(c₁)[0] sin(x) − (c₁)[1] cos(x)"),
    "rewritten": (rewritten, X, None, None),
    "some": (some, X, None, None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_stands_at_its_place(name):
    f, x, value, gradient = CASES[name]
    if value is not None:
        assert sg.formula(f, x).unicode() == value
    found = sg.formula(f, x, wrt="x")
    if gradient is not None:
        assert found.unicode() == gradient
    if name != "some":
        assert "index_put" not in found.unicode()
    exact = sg.func.grad(f)(x)
    program = sg.compile(sg.func.grad(f))
    for point in (x, x + 0.5):
        steps = np.eye(np.size(point)).reshape(-1, *np.shape(point)) * 1e-6
        want = np.reshape([(float(f(point + e)) - float(f(point - e))) / 2e-6 for e in steps], np.shape(point))
        assert np.allclose(program(point), want, atol=1e-7)
    assert np.allclose(program(x), exact, rtol=1e-14)


def test_long_loops_stay_short_of_time():
    def f(x):
        out = np.zeros(200)
        for i in range(200):
            out[i] = x[i] * x[i - 1]
        return out.sum()

    assert len(sg.latex(f, np.ones(200))) > 200


def stencil(u):
    d = np.zeros_like(u)
    d[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return 0.5 * np.sum(d**2)


def added(u):
    d = np.zeros_like(u)
    d[:2] = u[1:3] ** 2
    d[:2] += u[:2]
    return d @ u


def step(u):
    v = u.copy()
    v[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(v**2)


def on_ones(u):
    v = np.ones(len(u))
    v[1:-1] = u[1:-1] ** 2
    return np.sum(v**3)


def one_entry(x):
    out = x**2
    out[0] *= np.exp(x[1])
    return out.sum()


def block(x):
    Y = np.zeros((3, 4))
    Y[1:, :3] = x[:3] ** 2
    return (Y**2).sum() + Y[1:, :3].sum()


PARTS = {
    "stencil": (stencil, "‖u[2:] − 2 u[1:−1] + u[:−2]‖²/2"),
    "added": (added, None),
    "step": (step, None),
    "on_ones": (on_ones, None),
    "one_entry": (one_entry, None),
    "block": (block, None),
}


@pytest.mark.parametrize("name", PARTS)
def test_what_is_written_into_a_part_stands_there(name):
    f, text = PARTS[name]
    u = np.array([0.5, 1.5, -0.7, 0.9, 2.0])
    value, slope = sg.formula(f, u), sg.formula(f, u, wrt=0)
    if text is not None:
        assert value.unicode() == text
    assert ("index_put" in value.unicode() + slope.unicode()) == (name == "step")
    exact = sg.func.grad(f)(u)
    letter = f.__code__.co_varnames[0]
    for formula, want in ((value, f(u)), (slope, exact.numpy())):
        term = canonical(formula.term)
        sizes = {size: len(u) for s in symbols(term) for size in s.shape if isinstance(size, str)}
        assert canonical(term) is term
        np.testing.assert_allclose(evaluate(term, {letter: u}, sizes), want, rtol=1e-12)

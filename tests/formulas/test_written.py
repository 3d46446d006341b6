"""Arrays that loops fill entry by entry print as the vectors and matrices of what was written."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

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

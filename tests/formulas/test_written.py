"""Arrays that loops fill entry by entry print as the vectors and matrices of what was written."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.reading.text import from_latex
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
    "matrix": (matrix, X[:2], "x[0] (sin(x[1]) − x[1]²)", None),
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
    "step": (step, "‖[u[0]; 0.8 u[1:−1] + 0.1 u[2:] + 0.1 u[:−2]; u[−1]]‖²"),
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
    assert "index_put" not in value.unicode() + slope.unicode()
    exact = sg.func.grad(f)(u)
    letter = f.__code__.co_varnames[0]
    for formula, want in ((value, f(u)), (slope, exact.numpy())):
        term = canonical(formula.term)
        sizes = {size: len(u) for s in symbols(term) for size in s.shape if isinstance(size, str)}
        assert canonical(term) is term
        np.testing.assert_allclose(evaluate(term, {letter: u}, sizes), want, rtol=1e-12)


def relaxed(u):
    v = u.copy()
    for _ in range(2):
        v[1:-1] = (v[2:] + v[:-2]) / 2
    return v @ v


def rows_of_sizes(u):
    Y = np.zeros((len(u), len(u)))
    Y[1:, 1:] = u[1:, None] * u[None, 1:] * 2
    Y[0] = u * 3
    return (Y**2).sum()


def edges(u):
    v = u**2
    v[0] = 0
    v[-1] = 0
    return v @ u


def along(u):
    y = u.copy()
    for i in range(1, 5):
        y[i] = y[i - 1] / 2 + y[i]
    return (y**2).sum()


def corner(u):
    A = u[:, None] * u + np.diag(u)
    A[1, 2] = u[0]
    return np.linalg.det(A)


def plate(u):
    V = u[:, None] * u**2
    V[1:-1, 1:-1] += 0.1 * (V[2:, 1:-1] + V[:-2, 1:-1] + V[1:-1, 2:] + V[1:-1, :-2] - 4 * V[1:-1, 1:-1])
    return (V**2).sum()


@pytest.mark.parametrize("f", [relaxed, rows_of_sizes, edges, along, corner, plate], ids=lambda f: f.__name__)
def test_what_is_written_stands_between_what_is_left(f):
    u = np.array([0.5, 1.5, -0.7, 0.9, 2.0])
    value, slope = sg.formula(f, u), sg.formula(f, u, wrt=0)
    assert "index_put" not in value.unicode() + slope.unicode()
    np.testing.assert_allclose(value.evaluate(u=u), f(u), rtol=1e-12)
    np.testing.assert_allclose(slope.evaluate(u=u), sg.func.grad(f)(u).numpy(), rtol=1e-9)


def test_what_is_written_over_may_have_been_infinite():
    def f(a, v):
        b = a.copy()
        b[2] = v
        return np.exp(-b).sum()

    a = np.array([0.5, 1.5, np.inf, 0.9, 2.0])
    value, slope = sg.formula(f, a, 0.5), sg.formula(f, a, 0.5, wrt="a")
    assert value.unicode() == "𝟏ᵀ e^(−[a[:2]; v; a[3:]])"
    assert slope.unicode() == "[−e^(−a[:2]); 0; −e^(−a[3:])]"
    given = {"a": a, "v": 0.5}
    np.testing.assert_allclose(value.evaluate(**given), f(a, 0.5))
    np.testing.assert_allclose(slope.evaluate(**given), sg.func.grad(f)(a, 0.5).numpy())


def test_parts_of_parts_are_parts():
    f = {"rows": lambda A: A[1:][:, 0] @ A[1][:-1], "ends": lambda A: A[1:-1][1:, 2:][:, -1].sum()}
    assert sg.formula(f["rows"], (4, 4)).unicode() == "A[1:, 0]ᵀ A[1, :−1]"
    assert sg.formula(f["ends"], (4, 4)).unicode() == "𝟏ᵀ A[2:−1, −1]"


def test_ends_that_are_written_after_each_other():
    def f(u):
        v = u.copy()
        v[0] = 0
        v[-1] = 0
        v[1:-1] += 0.2 * (v[2:] - 2 * v[1:-1] + v[:-2])
        return np.sum(v**3)

    u = np.array([0.5, 1.5, -0.7, 0.9, 2.0, 0.3])
    value, slope = sg.formula(f, u), sg.formula(f, u, wrt=0)
    np.testing.assert_allclose(value.evaluate(u=u), f(u))
    np.testing.assert_allclose(slope.evaluate(u=u), sg.func.grad(f)(u).numpy())


def from_the_end(u):
    v = u**2
    v[-3] = 1.5
    v[-5] = u[-3] ** 2
    return (v[1:] * v[:-1]).sum()


def two_from_the_end(u):
    v = u**2
    v[-3:-1] = v[3:5] ** 2
    v[:3] = u[2:5] * 3
    return v.sum()


def beyond_the_end(u):
    v = np.outer(u[:3], u[:3])
    v[1:7, -2:9] = 3 * u[0]
    return (v**3).sum()


def before_the_start(u):
    v = u**2
    v[-9:2] = 2 * u[1:3]
    v[4:2] = 1.0
    return (v**3).sum()


def of_three(u):
    v = np.zeros_like(u)
    v[2:] = v[1:4] ** 2 + u[:3]
    return np.sin(v).sum()


def across(u):
    v = np.ones((5, 5)) * u
    v[0, -3:3] = v[4:5, -1]
    v[-2:, -2:-1] = u[0:1]
    return np.sin(v).sum()


@pytest.mark.parametrize(
    "f", [from_the_end, two_from_the_end, beyond_the_end, before_the_start, of_three, across], ids=lambda f: f.__name__
)
def test_ranges_may_be_counted_from_the_end_and_reach_beyond_it(f):
    u = np.array([0.5, 1.5, 0.7, 0.9, 2.0])
    value, slope = sg.formula(f, u), sg.formula(f, u, wrt=0)
    assert "len(range" not in value.unicode() + slope.unicode()
    np.testing.assert_allclose(value.evaluate(u=u), f(u))
    np.testing.assert_allclose(slope.evaluate(u=u), sg.func.grad(f)(u).numpy())
    np.testing.assert_allclose(sg.compile(sg.func.grad(f), u)(u), sg.func.grad(f)(u).numpy())


def read_and_overwritten(u):
    v = np.ones_like(u)
    v[1] = 3.0
    w = u[:3] + v[2:]
    v[2:] = u[:3]
    return (w**2).sum() + v[-2] * u[1]


def copied_over(u):
    v = np.zeros_like(u)
    v[1:4] = 2.0
    v[3] = v[-2] * u[1]
    return (v[1:] * v[:-1]).sum()


@pytest.mark.parametrize("f", [read_and_overwritten, copied_over], ids=lambda f: f.__name__)
def test_parts_of_constants_have_the_values_that_they_had(f):
    """They were views of the constant, which was written to since."""
    u = np.array([0.5, 1.5, 0.7, 0.9, 2.0])
    np.testing.assert_allclose(sg.formula(f, u).evaluate(u=u), f(u))
    np.testing.assert_allclose(sg.formula(f, u, wrt=0).evaluate(u=u), sg.func.grad(f)(u).numpy())


def test_entries_at_both_ends_stand_around_what_is_left():
    def ends(v, a=0):
        u = v.clone()
        u[0] = a
        u[-1] = a
        return u

    def frame(X):
        X = X.clone()
        X[0, :] = X[-1, :] = 0
        X[:, 0] = X[:, -1] = 1
        return X

    assert sg.latex(ends, (5,)) == r"\begin{bmatrix} 0 \\ v_{[1:-1]} \\ 0 \end{bmatrix}"
    assert sg.latex(ends, (5,), 2.0) == r"\begin{bmatrix} a \\ v_{[1:-1]} \\ a \end{bmatrix}"
    assert sg.latex(lambda v: (ends(v) ** 2).sum(), (5,), wrt="v") == (
        r"2 \begin{bmatrix} 0 \\ v_{[1:-1]} \\ 0 \end{bmatrix}"
    )
    assert sg.latex(lambda v, a: (ends(v, a) ** 2).sum(), (5,), 2.0, wrt="a") == "4 a"
    assert sg.latex(frame, (5, 4)) == (
        r"\begin{bmatrix} \mathbf{1}_{n} & \begin{bmatrix} 0 \\ X_{[1:-1, 1:-1]} \\ 0 \end{bmatrix} "
        r"& \mathbf{1}_{n} \end{bmatrix}"
    )
    for n in (2, 3, 6):
        v = np.arange(1.0, n + 1)
        found = sg.formula(lambda v: (ends(v) ** 2).sum(), (5,), wrt="v")
        read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
        np.testing.assert_array_equal(evaluate(read, {"v": v}), [0, *2 * v[1:-1], 0])


@pytest.mark.parametrize(("rows", "columns", "place"), [("2:", "1:-1", (2, 1)), (":-2", "2:", (0, 2))])
def test_a_matrix_among_few_zeros_is_one_matrix_of_blocks(rows, columns, place):
    f = eval(f"lambda U, M: (U[{rows}, {columns}] * M).sum()")  # noqa: S307
    found = sg.formula(f, np.ones((5, 5)), np.ones((3, 3)), wrt="U")
    cells = [["M" if (i, j) == place else "0" for j in range(3)] for i in range(3)]
    body = r" \\ ".join(" & ".join(row) for row in cells)
    assert found.latex() == rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
    M = np.arange(9.0).reshape(3, 3)
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    np.testing.assert_array_equal(
        evaluate(read, {"M": M}, {"n": 5}), sg.func.grad(f)(sg.ones(5, 5, dtype=sg.float64), sg.tensor(M)).numpy()
    )

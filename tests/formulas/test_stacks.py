"""Gradients of functions of single entries, columns and rows: arrays of what stands at their places, among zeros."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.formats import spelled
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate, symbol
from symgrad.tape.formulas import reading

SIZES = ({"n": 5, "m": 6, "p": 4}, {"n": 6, "m": 4, "p": 5}, {"n": 7, "m": 4, "p": 6})


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


CASES = {
    "two entries": (
        rosenbrock,
        {"v": "n"},
        (
            r"2 \begin{bmatrix} v_{[0]} \left(1 - 200 v_{[1]} + 200 v_{[0]}^{2}\right) - 1 \\ "
            r"100 \left(v_{[1]} - v_{[0]}^{2}\right) \\ \mathbf{0}_{n - 2} \end{bmatrix}"
        ),
    ),
    "zeros between": (
        lambda v: sg.sin(v[1]) * v[3],
        {"v": "n"},
        (
            r"\begin{bmatrix} 0 \\ v_{[3]} \cos\left(v_{[1]}\right) \\ 0 \\ \sin\left(v_{[1]}\right) \\ "
            r"\mathbf{0}_{n - 4} \end{bmatrix}"
        ),
    ),
    "beside an array": (
        lambda v, A: v[0] * v[1] + v @ A @ v,
        {"v": "n", "A": "nn"},
        r"\left(A + A^{\top}\right) v + \begin{bmatrix} v_{[1]} \\ v_{[0]} \\ \mathbf{0}_{n - 2} \end{bmatrix}",
    ),
    "entries of a matrix": (
        lambda X: X[0, 0] * X[1, 1] - X[0, 1] * X[1, 0],
        {"X": "nm"},
        (
            r"\begin{bmatrix} X_{[1, 1]} & -X_{[1, 0]} & \mathbf{0}_{m - 2} \\ -X_{[0, 1]} & X_{[0, 0]} & "
            r"\mathbf{0}_{m - 2} \\ \mathbf{0}_{n - 2} & \mathbf{0}_{n - 2} & \mathbf{0}_{n - 2} \end{bmatrix}"
        ),
    ),
    "entries inside": (
        lambda X: X[1, 2] * X[2, 1],
        {"X": "nm"},
        (
            r"\begin{bmatrix} 0 & 0 & 0 & \mathbf{0}_{m - 3} \\ 0 & 0 & X_{[2, 1]} & \mathbf{0}_{m - 3} \\ "
            r"0 & X_{[1, 2]} & 0 & \mathbf{0}_{m - 3} \\ "
            r"\mathbf{0}_{n - 3} & \mathbf{0}_{n - 3} & \mathbf{0}_{n - 3} & \mathbf{0}_{n - 3} \end{bmatrix}"
        ),
    ),
    "columns": (
        lambda X: (X[:, 0] * sg.exp(X[:, 1])).sum(),
        {"X": "nm"},
        r"\begin{bmatrix} e^{X_{[:, 1]}} & X_{[:, 0]} \odot e^{X_{[:, 1]}} & \mathbf{0}_{m - 2} \end{bmatrix}",
    ),
    "columns of a product": (
        lambda X, A: ((X @ A)[:, 0] * (X @ A)[:, 1]).sum(),
        {"A": "mp", "X": "nm"},
        (
            r"\begin{bmatrix} X^{\top} \left(X A\right)_{[:, 1]} & X^{\top} \left(X A\right)_{[:, 0]} & "
            r"\mathbf{0}_{p - 2} \end{bmatrix}"
        ),
    ),
    "rows": (
        lambda X: (X[0] * X[1]).sum() + sg.exp(X[1]).sum(),
        {"X": "nm"},
        (
            r"\begin{bmatrix} X_{[1]}^{\top} \\ \left(e^{X_{[1]}} + X_{[0]}\right)^{\top} \\ "
            r"\mathbf{0}_{n - 2} \end{bmatrix}"
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_entries(name):
    function, letters, text = CASES[name]
    rng = np.random.default_rng(0)
    known = [symbol(x, tuple(shape)) for x, shape in letters.items()]
    for sizes in SIZES:
        values = {x: rng.uniform(0.5, 1.5, size=[sizes[n] for n in shape]) for x, shape in letters.items()}
        leaves = {x: sg.tensor(v, name=x, requires_grad=True) for x, v in values.items()}
        first = leaves[next(iter(letters))]
        (g,) = sg.autograd.grad(function(**leaves), [first], create_graph=True)
        assert g.latex() == text
        shape = known[0].shape
        for read in (from_latex(text, known, shape=shape), from_unicode(spelled(text, "unicode"), known, shape=shape)):
            np.testing.assert_allclose(evaluate(read, values, sizes), g.detach().numpy(), rtol=1e-12)


def arm(q, a, b):
    return sg.stack([a * sg.cos(q[0]) + b * sg.cos(q[0] + q[1]), a * sg.sin(q[0]) + b * sg.sin(q[0] + q[1])])


def camera(X, f, g):
    return sg.stack([f * X[0] / X[2], g * X[1] / X[2]])


def rates(c, k):
    forth, back = k[0] * c[0] * c[1], k[1] * c[2]
    return sg.stack([back - forth, back - forth, forth - back])


CAMERA = (
    r"\frac{f}{X_{[2]}} & 0 & -\frac{f X_{[0]}}{X_{[2]}^{2}}",
    r"0 & \frac{g}{X_{[2]}} & -\frac{g X_{[1]}}{X_{[2]}^{2}}",
)
JACOBIANS = {
    "arm": (arm, (2, (), ()), (
        "\\begin{aligned}\n" r"t_{1} &= q_{[0]} + q_{[1]} \\" "\n" r"t_{2} &= b \sin\left(t_{1}\right) \\" "\n"
        r"t_{3} &= b \cos\left(t_{1}\right) \\" "\n"
        r"& \begin{bmatrix} -a \sin\left(q_{[0]}\right) - t_{2} & -t_{2} \\ "
        r"t_{3} + a \cos\left(q_{[0]}\right) & t_{3} \end{bmatrix}" "\n\\end{aligned}"
    )),
    "camera": (camera, (3, (), ()), r"\begin{bmatrix} " + r" \\ ".join(CAMERA) + r" \end{bmatrix}"),
    "camera, homogeneous": (camera, (4, (), ()), (
        r"\begin{bmatrix} " + r" \\ ".join(row + r" & \mathbf{0}_{n - 3}" for row in CAMERA) + r" \end{bmatrix}"
    )),
    "rates": (rates, (3, 2), (
        r"\begin{bmatrix} -c_{[1]} k_{[0]} & -k_{[0]} c_{[0]} & k_{[1]} \\ "
        r"-c_{[1]} k_{[0]} & -k_{[0]} c_{[0]} & k_{[1]} \\ c_{[1]} k_{[0]} & k_{[0]} c_{[0]} & -k_{[1]} \end{bmatrix}"
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", JACOBIANS)
def test_jacobians_of_what_was_stacked_are_matrices(name):
    """As in robotics and kinetics: entry by entry, and no columns of the identity."""
    function, shapes, text = JACOBIANS[name]
    rng = np.random.default_rng(0)
    values = [rng.uniform(0.5, 1.5, size=s) for s in shapes]
    names = list(inspect.signature(function).parameters)
    f = sg.formula(sg.func.jacobian(function), *values)
    assert f.latex() == text
    want = sg.func.jacobian(function)(*(sg.tensor(v) for v in values)).numpy()
    given, sizes = dict(zip(names, values, strict=True)), {"n": shapes[0]}
    for read in (
        from_latex(text, f.symbols, shape=f.term.shape),
        from_unicode(f.unicode(), f.symbols, shape=f.term.shape),
    ):
        np.testing.assert_allclose(evaluate(read, given, sizes), want, rtol=1e-12)


def test_entries_counted_to_the_last_say_how_many_there_are():
    """X[0], X[1] and X[2] of three are a point; of four, some of many."""
    energy = lambda x: sg.cos(x[0]) * x[1]  # noqa: E731
    assert r"\mathbf{0}" not in sg.latex(energy, (2,), wrt="x")
    assert sg.latex(energy, (3,), wrt="x").count(r"\mathbf{0}_{n - 2}") == 1
    assert sg.compile(sg.func.grad(energy), np.ones(2))(np.ones(5)).shape == (5,)


def test_all_entries_of_a_known_size_have_no_zeros_behind():
    f = sg.from_latex(r"\begin{bmatrix} a \\ b \\ 0 \end{bmatrix}^{\top} v", "a=() b=() v=3")
    assert sg.latex(f, (), (), (3,), wrt="v").count("0") == 1


def test_a_hessian_of_two_entries_is_one_matrix():
    v = sg.tensor([0.3, -0.2, 1.0], name="v", requires_grad=True)
    H = sg.autograd.functional.hessian(rosenbrock, v, create_graph=True)
    assert H.latex().count(r"\begin{bmatrix}") == 1
    assert r"\mathbf{e}" not in H.latex()


@pytest.mark.parametrize(
    "text",
    [
        r"\begin{bmatrix} \mathbf{0}_{2} & \mathbf{0}_{2} \\ \mathbf{0}_{2} & \mathbf{0}_{2} \end{bmatrix}",
        r"\begin{bmatrix} a & \mathbf{0}_{2} \\ a \end{bmatrix}",
    ],
)
def test_blocks_without_a_size_are_refused(text):
    with pytest.raises((sg.errors.FormulaError, sg.errors.ShapeError)):
        sg.from_latex(text, "a=()", notation="printed")(1.0)


SYSTEMS = {
    "one right side each": (("b n n", "b n"), lambda A, b, c: sg.linalg.solve(A, b[..., None])[..., 0]),
    "several right sides": (("b n n", "b n k"), lambda A, b, c: sg.linalg.solve(A, b)),
    "one matrix for all": (("n n", "b n k"), lambda A, b, c: sg.linalg.solve(A, b)),
    "one right side for all": (("b n n", "n k"), lambda A, b, c: sg.linalg.solve(A, b)),
    "transposed": (("b n n", "b n k"), lambda A, b, c: sg.linalg.solve(A.mT, b)),
    "one of a stack of one": (("1 n n", "b n k"), lambda A, b, c: sg.linalg.solve(A, b)),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("wrt", ["A", "b"])
def test_systems_of_stacks_are_products_with_inverses(name, wrt):
    shapes, solved = SYSTEMS[name]

    def f(A, b, c):
        return (solved(A, b, c) * c).sum()

    rng = np.random.default_rng(1)
    for sizes in ({"b": 4, "n": 3, "k": 2}, {"b": 2, "n": 4, "k": 3}, {"b": 5, "n": 2, "k": 4}):
        A, b = (rng.normal(size=[sizes.get(n, 1) for n in s.split()]) for s in shapes)
        A = A + 4 * np.eye(sizes["n"])
        c = rng.normal(size=np.shape(solved(A, b, None)))
        found = sg.formula(f, A, b, c, wrt=wrt)
        text = found.latex()
        assert "solve" not in text
        assert "^{-1}" in text
        want = sg.func.grad(f, argnums="Ab".index(wrt))(A, b, c).numpy()
        for read in (from_latex(text, found.symbols, shape=found.term.shape), canonical(found.term)):
            np.testing.assert_allclose(evaluate(read, {"A": A, "b": b, "c": c}), want, rtol=1e-8, atol=1e-10)
    if name == "one right side each" and wrt == "b":
        assert text == r"\left[\sum_{k} \left[A^{-1}\right]_{i k j} c_{i k}\right]_{i j}"


def test_stacked_numbers_are_added_entry_by_entry_with_their_decimals():
    def sum_of_two(a):
        one = sg.stack([sg.stack([0.1 * a, a * a]), sg.stack([3 * a, a.sin()])])
        return one + sg.stack([sg.stack([0.3 * a, a]), sg.stack([a, 2 - a.sin()])])

    assert sg.latex(sum_of_two, 1.5) == r"\begin{bmatrix} 0.4 a & a^{2} + a \\ 4 a & 2 \end{bmatrix}"
    assert sg.latex(lambda a, h: h * sg.stack([a, a * a]) - 2 * h * sg.stack([a, a]), 1.5, 0.1) == (
        r"h \begin{bmatrix} -a \\ a^{2} - 2 a \end{bmatrix}"
    )


def turned(t):
    return sg.stack([sg.stack([sg.cos(t), -sg.sin(t)]), sg.stack([sg.sin(t), sg.cos(t)])])


@pytest.mark.parametrize(
    ("f", "wrt", "text"),
    [
        (lambda s, t: sg.linalg.det(turned(t)) * s, None, "s"),
        (lambda s, t: sg.linalg.det(turned(t)), "t", "0"),
        (lambda s, t: sg.linalg.det(sg.stack([sg.stack([s, t]), sg.stack([t, s * t])]).T), "t", "s² − 2 t"),
        (lambda s, t: sg.linalg.det(sg.stack([sg.stack([s, t]), sg.stack([t**2, s])], dim=1)), "t", "−3 t²"),
        (lambda s, t: (turned(t) @ turned(s))[0, 1], "t", "−cos(s + t)"),
    ],
)
def test_two_by_two_matrices_of_numbers_are_worked_out(f, wrt, text):
    assert sg.formula(f, 0.5, 0.3, wrt=wrt).unicode() == text


def epidemic(y, b, c):
    return sg.stack([-b * y[0] * y[1], b * y[0] * y[1] - c * y[1], c * y[1]])


def reactions(y, k):
    slow, back, fast = k[0] * y[0], k[2] * y[1] * y[2], k[1] * y[1] ** 2
    return sg.stack([back - slow, slow - back - fast, fast])


def arm(t, r):
    ends = r[0] * sg.cos(t[0]), r[1] * sg.cos(t[0] + t[1]), r[0] * sg.sin(t[0]), r[1] * sg.sin(t[0] + t[1])
    return sg.stack([ends[0] + ends[1], ends[2] + ends[3]])


def sphere(q):
    ring = q[0] * sg.sin(q[1])
    return sg.stack([ring * sg.cos(q[2]), ring * sg.sin(q[2]), q[0] * sg.cos(q[1])])


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (epidemic, ((3,), 0.3, 0.2), "[−b y[1], −b y[0], 0; b y[1], b y[0] − c, 0; 0, c, 0]"),
        (reactions, ((3,), (3,)), None),
        (arm, ((2,), (2,)), None),
        (sphere, ((3,),), None),
        (lambda y, b: y[0] * y[1] * sg.stack([b, -b, 0 * b]) + y, ((3,), 0.3), None),
    ],
)
def test_jacobians_of_stacked_numbers_are_the_matrix_of_their_entries(f, args, text):
    """They were sums of columns times unit vectors where entries are the same but for a number."""
    rng = np.random.default_rng(2)
    values = [rng.uniform(0.5, 1.5, a) if isinstance(a, tuple) else np.array(a) for a in args]
    found = sg.formula(sg.func.jacobian(f), *values)
    last = found.unicode().splitlines()[-1].strip()
    assert text in (None, last)
    assert "𝐞" not in last
    assert not re.search(r"= \w\[\d\]$", found.unicode(), re.MULTILINE)
    given = dict(zip(f.__code__.co_varnames, values, strict=False))
    want = sg.func.jacrev(f)(*values).numpy()
    for read in (from_latex(found.latex(), found.symbols, shape=found.term.shape), canonical(found.term)):
        np.testing.assert_allclose(evaluate(read, given), want, rtol=1e-9, atol=1e-12)


def test_entries_of_columns_are_entries():
    """They were entries of reshape(c; shape = (3,))."""

    def f(c):
        return sg.exp(c[0, 0]) * c[1, 0] + c[2, 0] ** 2

    found = sg.formula(f, (3, 1), wrt="c")
    assert found.unicode() == "[c[1, 0] e^(c[0, 0]); e^(c[0, 0]); 2 c[2, 0]]"
    c = np.array([[0.3], [0.7], [-0.2]])
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, {"c": c}), [[0.7 * np.exp(0.3)], [np.exp(0.3)], [-0.4]], rtol=1e-12)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda q, k: k * q[2] * q[0] ** 3, "k q[0]³ q[2]"),
        (lambda q, k: sg.sin(q[1]) * q[0] * k, "k q[0] sin(q[1])"),
    ],
)
def test_entries_stand_behind_symbols_and_in_order(f, text):
    assert sg.formula(f, (3,), 0.5).unicode() == text


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda x, y, A: sg.cat([x * y, A @ x]),
            r"\begin{bmatrix} \operatorname{diag}\left(y\right) \\ A \end{bmatrix}",
        ),
        (lambda x, y, A: A @ x - sg.cat([x, y[:1]]), r"A - \begin{bmatrix} I_{m} \\ 0 \end{bmatrix}"),
        (
            lambda x, y, A: sg.cat([A @ x, x]).exp(),
            r"\right) A \\ \operatorname{diag}\left(e^{x}\right) \end{bmatrix}",
        ),
        (
            lambda x, y, A: sg.cat([x**2, A @ x, x * y]),
            r"2 \operatorname{diag}\left(x\right) \\ A \\ \operatorname{diag}\left(y\right) \end{bmatrix}",
        ),
    ],
    ids=["two", "a difference", "under a function", "three"],
)
def test_the_jacobian_of_what_was_joined_is_blocks(function, text):
    A, x, y = (sg.tensor(np.ones(s), name=n, requires_grad=True) for n, s in (("A", (4, 3)), ("x", 3), ("y", 3)))
    assert text in sg.autograd.jacobian(function(x, y, A), x).latex()


ROWS = {
    "a square as a product": lambda x, y, A: sg.cat([x * x, A @ x]),
    "twice": lambda x, y, A: sg.cat([x * y * x, A @ x]) + sg.cat([x, 2 * (A @ x)]),
    "in the middle": lambda x, y, A: sg.cat([A @ x, x * x * x, y]),
    "of both": lambda x, y, A: 3 * sg.cat([x * x, x * x]) + sg.cat([A @ x, x * y]),
    "with zeros": lambda x, y, A: sg.cat([x * x, y, A @ x]) - sg.cat([x, x * x * y, A @ x]),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_added_to_a_part_of_a_join_is_added_once(name, turned):
    """The Jacobian of [x ⊙ x; Ax] was printed as [3 diag(x); A]: what the join had itself was added to it again."""
    rng = np.random.default_rng(3)
    A, x, y = (
        sg.tensor(rng.normal(size=s), name=n, requires_grad=True) for n, s in (("A", (3, 3)), ("x", 3), ("y", 3))
    )
    J = sg.func.jacrev(lambda x: ROWS[name](x, y, A))(x)
    _, term = reading.read(J)
    names = {"A": A.detach().numpy(), "x": x.detach().numpy(), "y": y.detach().numpy()}
    found = evaluate(canonical(sg.transpose(term, 0, 1) if turned else term), names, {"n": 3})
    np.testing.assert_allclose(found.T if turned else found, J.detach().numpy())

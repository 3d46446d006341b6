"""Path conditions: which branches, indices and kinks a formula depends on; noting them keeps nothing alive."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.tape.watching import looks


def leaf(value, name, **options):
    return sg.tensor(np.asarray(value, float), requires_grad=True, name=name, **options)


def test_branches():
    x = leaf([1.0, -2.0], "x")
    y = x * x if x.sum() > 0 else 3 * x
    (found,) = y.valid_when
    assert (found.kind, found.unicode()) == ("branch", "𝟏ᵀ x ≤ 0")
    assert found.where.startswith("test_conditions.py:")
    assert y.valid_when.hold(x=[-1.0, 0.5])
    assert not y.valid_when.hold(x=[1.0, 0.5])
    assert found.expr.rel_op == "<="
    assert str(y.valid_when) == f"𝟏ᵀ x ≤ 0  (branch: {found.where})"


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (lambda a, b: a < b, "a < b"), (lambda a, b: a >= b, "a < b"), (lambda a, b: a == b, "a ≠ b"),
        (lambda a, b: ~(a < b), "a < b"), (lambda a, b: a - 1, "a = 1"), (lambda a, b: a + b, "a + b ≠ 0"),
        (lambda a, b: (a < b) & (b > 0), "a < b ∧ b > 0"),
    ],
    ids=["lt", "ge", "eq", "not", "zero", "number", "and"],
)  # fmt: skip
def test_relations(condition, text):
    a, b = leaf(1.0, "a"), leaf(2.0, "b")
    y = a * b if condition(a, b) else a + b
    assert [c.unicode() for c in y.valid_when] == [text]
    assert y.valid_when.hold(a=1.0, b=2.0)


def test_while_loops():
    def newton(x):
        root = x
        while (root * root - x).abs() > 1e-3:
            root = (root + x / root) / 2
        return root

    x = leaf(9.0, "x")
    before = newton(x).valid_when
    assert len(before) == 4
    assert before.hold(x=1e6)
    whole = sg.formula(newton, 9.0).valid_when  # the way out of the loop is a condition of the function's result
    assert len(whole) == 5
    assert whole.hold(x=9.0001)
    assert not whole.hold(x=1e6)


def test_indices():
    x = leaf([1.0, 3.0, 2.0], "x")
    y = x[x.argmax()] ** 2
    assert [(c.kind, c.unicode()) for c in y.valid_when] == [("index", "argmax(x) = 1")]
    z = x[x > 1.5].sum()
    assert z.valid_when[-1].unicode() == "x > 3/2 is [False, True, True]"
    assert len(x[sg.tensor([0, 1])].valid_when) == len(z.valid_when)


def test_numbers_taken_out():
    x = leaf(2.0, "x")
    y = x * x.item()
    assert [(c.kind, c.unicode()) for c in y.valid_when] == [("value", "x = 2")]


def test_kinks_of_gradients():
    x, y = leaf([1.0, -2.0], "x"), leaf([0.5, 0.5], "y")
    f = sg.relu(x).sum() + sg.maximum(x, y).sum() + (x - 1).abs().sum() + x.clamp(0.0, 3.0).sum() + x.amax()
    assert len(f.valid_when) == 0
    f.backward()
    assert [(c.where, c.unicode()) for c in x.grad.valid_when] == [
        ("relu", "x ≠ 0"), ("maximum", "x ≠ y"), ("abs", "x ≠ 1"), ("clamp", "x ≠ 0"), ("clamp", "x ≠ 3"),
        ("amax", "the largest or chosen entries of x are distinct"),
    ]  # fmt: skip
    assert x.grad.valid_when.hold(x=[1.5, 2.0], y=[0.0, 0.0])
    assert not x.grad.valid_when.hold(x=[1.5, 0.0], y=[0.5, 0.5])
    assert x.grad.valid_when.expr.has(sp.Ne)


def test_only_what_was_looked_at_before():
    x, other = leaf(1.0, "x"), leaf(1.0, "other")
    y = x * 2
    assert bool(x > 0)
    assert repr(y.valid_when) == "no conditions"
    assert len((x * 3).valid_when) == 1
    assert len((other * 3).valid_when) == 0
    with sg.no_grad():
        x += 1
    assert len((x * 3).valid_when) == 0


def test_unknown_leaves_and_large_values():
    x = leaf([1.0], "x")
    bound = sg.tensor([3.0, 1.5, 2.0, 2.0, 2.0])
    y = x * 2 if (x < bound).all() else x
    assert len(y.valid_when) == 1
    z = x
    for _ in range(100):
        z = z.sin()
    t = x * 2 if z.sum() > 0 else x
    assert t.valid_when[-1].words == "a value of many operations is as it was"
    assert t.valid_when[-1].expr is None


def _sines(x, count=100):
    for _ in range(count):
        x = x.sin()
    return x.sum()


def test_larger_values_stand_on_their_own_leaves():
    x, other = leaf([1.0], "x"), leaf([2.0], "other")
    first, second = _sines(x), _sines(other)
    assert bool(first < 9)
    assert first.item() < 9
    assert bool(second < 9)
    assert (len((x * 3).valid_when), len((other * 3).valid_when)) == (2, 1)
    assert bool(first * second < 9)  # of operations that were met before
    assert (len((x * 3).valid_when), len((other * 3).valid_when)) == (3, 2)
    with sg.no_grad():
        other += 1
    assert (len((x * 3).valid_when), len((other * 3).valid_when)) == (2, 0)


def test_what_is_known_of_larger_values_does_not_grow():
    x = leaf([1.0], "x")
    for _ in range(60):
        assert _sines(x, 300).item() < 9
    assert len(looks._LOCAL.below._known) < 4 * 300 + looks.FRESH


def test_nothing_is_kept_alive():
    x = leaf(np.ones(1000), "x")
    h = x.exp()
    kept = weakref.ref(h)
    big = (h * h).sum()
    assert bool(big > 0)
    assert big.item() > 0
    del h, big
    gc.collect()
    assert kept() is None
    dead = weakref.ref(x)
    del x
    gc.collect()
    assert dead() is None


def test_in_formulas():
    def f(x):
        return (x * x).sum() if x.sum() > 0 else (3 * x).sum()

    assert sg.latex(f, (3,), wrt="x", conditions=True) == (
        "\\begin{aligned}\n& 2 x \\\\\n& \\text{valid where}\\; \\mathbf{1}^{\\top} x > 0\n\\end{aligned}"
    )
    assert sg.formula(f, (3,), wrt="x").unicode(conditions=True) == "2 x\nvalid where 𝟏ᵀ x > 0"
    assert sg.latex(lambda x: x * x, 1.0, conditions=True) == "x^{2}"
    x = leaf([1.0, 2.0], "x")
    assert f(x).latex(conditions=True).endswith("\\mathbf{1}^{\\top} x > 0\n\\end{aligned}")
    assert sg.formula(f(x)).valid_when[0].kind == "branch"
    g = sg.formula(lambda x: x.abs().sum(), (3,), wrt="x")
    assert g.markdown(conditions=True).count("\\ne 0") == 1


def test_recorded_gradients_remember_the_kinks_of_what_they_derive():
    x = sg.tensor([1.0, -2.0], requires_grad=True, name="x")
    (slope,) = sg.autograd.grad(x.abs().sum(), x, create_graph=True)
    for derived in (slope, (slope * x).sum()):
        assert str(derived.valid_when) == "x ≠ 0  (kink: abs)"
    (slope,) = sg.autograd.grad((x.relu() ** 2).sum(), x, create_graph=True)
    (second,) = sg.autograd.grad(slope.sum(), x, create_graph=True)
    for derived in (slope, second):
        assert "x ≠ 0  (kink: relu)" in str(derived.valid_when)
    assert not (x * 2).valid_when
    assert not x.abs().valid_when


def test_powers_by_a_number_have_no_kink_of_two_variables():
    assert len(sg.formula(lambda x: ((1 - x) ** 2).sum(), (3,), wrt="x").valid_when) == 0
    assert len(sg.formula(lambda x, y: (x**y).sum(), (3,), (3,), wrt="y").valid_when) > 0


@pytest.mark.parametrize(
    ("f", "wrt", "text"),
    [
        (lambda x, y: (x**y).sum(), "y", "x > 0"),
        (lambda x, y: (x**y).sum(), "x", "x ≠ 0 ∨ y ≥ 1"),
        (lambda x, y: sg.xlogy(x, y).sum(), "y", "y > 0"),
        (lambda x, y: sg.special.xlog1py(x, y).sum(), "x", "y > −1"),
        (lambda x, y: (sg.lgamma(x) * y).sum(), "x", "x > 0 ∨ x ≠ ⌊x⌋"),
        (lambda x, y: (sg.digamma(y) * x).sum(), "y", "y > 0 ∨ y ≠ ⌊y⌋"),
    ],
)
def test_kinks_without_number_are_one_condition(f, wrt, text):
    """The points at which entries try the laws of their op were listed: x ≠ −2 ∨ y ≠ 3."""
    assert [c.unicode() for c in sg.formula(f, (3,), (3,), wrt=wrt).valid_when] == [text]
    point = {"x": leaf([1.0, 2.0, 3.0], "x"), "y": leaf([1.5, 0.5, 1.0], "y")}
    f(**point).backward()
    assert [c.unicode() for c in point[wrt].grad.valid_when] == [text]


def test_what_a_function_asked_of_sizes_is_a_condition_of_its_formula():
    def scaled(A):
        n, m = A.shape
        return (A.T @ A if n > m else A @ A.T).sum() / n

    found = sg.formula(scaled, (5, 3), wrt="A")
    assert [(c.kind, c.unicode()) for c in found.valid_when] == [("size", "n > m")]
    assert found.valid_when.hold(A=np.ones((4, 2)))
    assert not found.valid_when.hold(A=np.ones((2, 4)))
    assert sg.latex(scaled, (5, 3), conditions=True).endswith("& \\text{valid where}\\; n > m\n\\end{aligned}")
    assert str(sg.derive(scaled, (3, 5), wrt="A")).endswith("\nvalid where n ≤ m")
    assert sg.latex(lambda x: x.sum() / min(len(x), 3), (5,), conditions=True).count("n > 3") == 1
    assert not sg.formula(lambda x: x.sum() / len(x), (5,)).valid_when  # nothing was asked

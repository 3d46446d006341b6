"""Constants that are made in a program: formulas show ``0.1 I``, not a letter, and only for as long as it is true."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbols

RNG = np.random.default_rng(3)
X = RNG.normal(size=(5, 3))


@pytest.mark.parametrize(
    "ridge",
    [
        lambda X: X.T @ X + 0.1 * sg.eye(3, dtype=sg.float64),
        lambda X: X.T @ X + sg.eye(3).double() * 0.1,
        lambda X: X.T @ X + 0.1 * np.eye(3),
        lambda X: X.T @ X - -(sg.eye(3, dtype=sg.float64) / 10),
    ],
    ids=["made in double", "cast", "NumPy's", "a quotient"],
)
def test_a_multiple_of_the_identity_is_written_so(ridge):
    text = sg.latex(lambda X: sg.logdet(ridge(X)), X, wrt="X")
    assert text in (
        r"2 X \left(X^{\top} X + 0.1 I\right)^{-1}",
        r"20 X \left(10 X^{\top} X + I\right)^{-1}",
    )


def test_a_centring_matrix_is_written_out():
    def spread(K):
        centring = sg.eye(len(K)) - sg.ones_like(K) / len(K)
        return sg.trace(centring @ K)

    assert sg.latex(spread, RNG.normal(size=(4, 4)), wrt="K") == (
        r"I_{n} - \frac{1}{n} \mathbf{1}_{n} \mathbf{1}_{n}^{\top}"
    )


def test_such_formulas_have_the_values_of_the_program():
    x = sg.tensor(X, name="x", requires_grad=True)
    mixed = x @ (2 * sg.ones(3, 3).double() - sg.eye(3).double())
    (((sg.arange(5) ** 2 + 1) @ mixed) ** 2).sum().backward()
    assert not {s.params["name"] for s in symbols(x.grad.term)} - {"x"}
    np.testing.assert_allclose(evaluate(x.grad.term, {"x": X}, {"n": 5, "m": 3}), x.grad.numpy())


@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize(
    "constant",
    [
        lambda n: sg.zeros(n).fill_(2),
        lambda n: sg.zeros(n).add_(sg.rand(n)),
        lambda n: sg.zeros(n).add_(sg.rand(n)) * 2,
        lambda n: (sg.zeros(n) + 1).mul_(sg.rand(n)) - 1,
        lambda n: changed_after(sg.ones(n) * 2),
        lambda n: changed_after(sg.zeros(n).view(n)),
    ],
    ids=["filled", "added to", "made of a changed one", "changed twice", "entries", "entries of a view"],
)
def test_what_was_changed_in_place_is_a_letter(n, constant):
    """Also where the array is gone, and too large to be kept for a look at its values."""
    x = sg.rand(n, requires_grad=True)
    assert (x * constant(n)).latex() == r"x \odot c_{1}"


def changed_after(constant):
    """A constant whose entries change after its making."""
    constant[1:] += 1
    return constant


def test_a_loop_over_constants_keeps_nothing():
    total = sg.zeros(2000)
    for _ in range(50):
        total = total + 1
    assert total._extra is None or total._extra.recipe is None
    x = sg.rand(2000, requires_grad=True)
    assert (x * (sg.zeros(2000) + 1)).latex() == "x"


def test_data_that_have_a_name_keep_it():
    scale = sg.tensor(2.0)
    x = sg.tensor(X, name="x", requires_grad=True)
    assert (x * (scale * sg.eye(5, 3))).latex() == r"x \odot c_{1}"
    weights = np.ones(3)
    assert (x * weights).latex() == r"x \operatorname{diag}\left(\mathrm{weights}\right)"


def test_pickles_say_the_same():
    x = sg.tensor(X, name="x", requires_grad=True)
    y = sg.logdet(x.T @ x + 0.1 * sg.eye(3))
    assert pickle.loads(pickle.dumps(y)).latex() == y.latex() == r"\log \det\left(x^{\top} x + 0.1 I\right)"


MASKS = {
    "tril": lambda n: sg.tril(sg.ones(n, n, dtype=sg.bool)),
    "not triu": lambda n: ~sg.triu(sg.ones(n, n, dtype=sg.bool), 1),
    "compared": lambda n: sg.tril(sg.ones(n, n)) == 1,
    "NumPy's": lambda n: sg.from_numpy(np.tri(n, dtype=bool)),
    "of places": lambda n: sg.arange(n)[:, None] >= sg.arange(n)[None],
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_a_causal_mask_holds_for_every_size(mask):
    def attention(Q, K, V, G):
        scores = sg.where(mask(len(Q)), Q @ K.T, -np.inf)
        return (G * (sg.softmax(scores, 1) @ V)).sum()

    found = sg.formula(attention, *RNG.normal(size=(4, 4, 3)), wrt="Q")
    assert not found.constants
    other = dict(zip("QKVG", RNG.normal(size=(4, 6, 2)), strict=True))
    want = sg.func.grad(attention)(*map(sg.tensor, other.values())).numpy()
    np.testing.assert_allclose(found.evaluate(**other), want, rtol=1e-10, atol=1e-14)
    read = from_latex(found.latex(), found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, other), want, rtol=1e-10, atol=1e-14)


def test_what_a_masked_softmax_makes_zero_is_not_masked_again():
    def attention(Q, K, V, G):
        scores = (Q @ K.T).masked_fill(~sg.tril(sg.ones(len(Q), len(Q), dtype=sg.bool)), -np.inf)
        return (G * (sg.softmax(scores, 1) @ V)).sum()

    assert sg.latex(attention, *[(4, 3)] * 4, wrt="Q") == (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \operatorname{softmax}\left(\begin{cases} Q K^{\top} & \text{for}\: "
        r"\operatorname{tril}\left(\mathbf{1}_{n} \mathbf{1}_{n}^{\top}\right) \\ -\infty & \text{otherwise} "
        r"\end{cases}\right) \\" "\n"
        r"t_{2} &= G V^{\top} \odot t_{1} \\" "\n"
        r"& \left(t_{2} - \operatorname{diag}\left(t_{2} \mathbf{1}\right) t_{1}\right) K"
        "\n" r"\end{aligned}"
    )  # fmt: skip


@pytest.mark.parametrize(
    "made",
    [lambda n: sg.arange(1, n + 1), lambda n: sg.arange(float(n)), lambda n: sg.arange(n).flip(0)],
    ids=["from one", "floats", "backwards"],
)
def test_counted_numbers_hold_for_every_size(made):
    def f(x):
        return sg.exp(made(len(x)) * x / 9).sum()

    found = sg.formula(f, RNG.normal(size=4), wrt="x")
    assert not found.constants
    x = RNG.normal(size=7)
    np.testing.assert_allclose(found.evaluate(x=x), sg.func.grad(f)(sg.tensor(x)).numpy(), rtol=1e-10)


def test_arrays_that_are_nearly_triangles_of_ones_stay_data():
    almost = np.tri(4)
    almost[2, 1] = 2
    for data in (almost, 2 * np.tri(4), np.tri(4, 5), np.tri(2), np.tri(5, k=-2)):
        assert sg.formula(lambda x, A=data: (A @ x).sum(), RNG.normal(size=data.shape[1]), wrt="x").constants


def test_the_transpose_of_a_triangle_of_ones_is_the_other_one():
    def f(x):
        return sg.exp(sg.tril(sg.ones(len(x), len(x))) @ x).sum()

    found = sg.formula(f, RNG.normal(size=4), wrt="x")
    ones = r"\left(\mathbf{1}_{n} \mathbf{1}_{n}^{\top}\right)"
    assert found.latex() == rf"\operatorname{{triu}}{ones} e^{{\operatorname{{tril}}{ones} x}}"
    x = RNG.normal(size=6)
    np.testing.assert_allclose(found.evaluate(x=x), sg.func.grad(f)(sg.tensor(x)).numpy(), rtol=1e-12)


def test_what_constants_are_stands_below_the_formula():
    def f(x):
        return (sg.tensor([[0.1, 2.0], [0.0, 3.0]]) @ x).sum() * sg.tensor(2.5) + (np.arange(40.0) ** 1.5).sum() * x[0]

    found = sg.formula(f, (2,), wrt="x")
    assert found.unicode(constants=True).splitlines()[-1] == "where c₁ = [0.1, 2; 0, 3]"
    assert found.latex() in found.latex(constants=True)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: np.array([1 + 2j, 3]), "[1 + 2 ⅈ; 3]"),
        (lambda: np.array([np.inf, 1e-7]), "[∞; 10⁻⁷]"),
        (lambda: np.array([True, False]), "[1; 0]"),
        (lambda: np.arange(37.0) ** 2, None),
        (lambda: np.cos(np.arange(8.0)).reshape(2, 2, 2), None),
    ],
    ids=["complex", "infinite", "truth values", "many", "three axes"],
)
def test_constants_are_written_entry_by_entry_where_they_are_few(made, text):
    held = [made()]  # no variable has it
    x = sg.tensor(np.ones(held[0].shape), requires_grad=True, name="x")
    below = sg.formula((x * held[0]).sum()).unicode(constants=True).splitlines()[1:]
    assert below == ([] if text is None else [f"where c₁ = {text}"])


def without_grad(a):
    with sg.no_grad():
        kept = (a * a).sum()
    return kept * a.sum()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda a: ((a.detach() // 2) * a).sum(), r"\left\lfloor \frac{1}{2} a\right\rfloor"),
        (lambda a: (a.detach() ** 2 * a).sum(), r"a^{\odot 2}"),
        (lambda a: (a.data * a).sum(), "a"),
        (lambda a: ((a.detach() > 1) * a).sum(), r"\left[a > 1\right]"),
        (without_grad, r"\left(a^{\top} a\right) \mathbf{1}"),
    ],
    ids=["whole quotients", "powers", "data", "a mask", "without grad"],
)
def test_what_is_computed_of_detached_arguments_stays_a_function_of_them(function, text):
    """It was zero where it was zero at the examples, and else a letter that nobody knows."""
    for args in ((), (np.array([0.5, 2.5, 4.25]),)):
        found = sg.formula(function, *args, wrt="a", **({} if args else {"shapes": "a=n"}))
        assert found.latex() == text
        a = np.array([3.0, 0.5, -2.5, 7.0])
        np.testing.assert_allclose(found.evaluate(a=a), sg.func.grad(function)(sg.tensor(a)).numpy())
        assert np.array_equal(sg.compile(lambda a: function(a), a)(a), function(sg.tensor(a)).numpy())


@pytest.mark.parametrize(
    ("text", "formula"),
    [("x/2^(3/2)", r"\frac{x}{2 \sqrt{2}}"), ("x/(2 sqrt(2) sqrt(pi))", r"\frac{x}{2 \sqrt{2 \pi}}")],
)
def test_a_power_of_a_number_below_a_bar_is_a_number_and_a_root(text, formula):
    """It was 2^(3/2) there, beside √π, and is 2√2 above."""
    assert sg.formula(text, shapes="x=").latex() == formula

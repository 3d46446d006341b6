"""Names for the parts of formulas, chosen by the user."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.reading.tex import from_latex
from symgrad.formula.term import evaluate


def least(A, x, b):
    return ((A @ x - b) ** 2).sum()


def net(W, X, V):
    return (sg.tanh(X @ W) @ V).tanh().sum()


LEAST = sg.formula(least, (5, 3), (3,), (5,), wrt="x")
NET = sg.formula(net, (3, 4), (5, 3), (4, 2), wrt="W")


def rows(text):
    return text.split("\n")[1:-1]


def test_a_part_by_its_name():
    assert rows(LEAST.latex(names={"r": "A@x - b"}, header=True)) == [
        r"r &= A x - b \\",
        r"\frac{\partial \mathrm{least}}{\partial x} &= 2 A^{\top} r",
    ]
    assert rows(LEAST.latex(names={"r": "b - Ax"}))[-1] == r"& -2 A^{\top} r"
    assert LEAST.unicode(names={"r": r"A x - b"}).splitlines()[-1].strip() == "2 Aᵀ r"
    assert str(LEAST.where_list(names={"r": "A@x - b"})) == "[(r, -b + A @ x), (t1, 2*(A.T @ r))]"


def test_names_that_build_on_each_other():
    found = NET.latex(names={"H": "tanh(X@W)", "Y": "tanh(H@V)"}, environment="align*")
    assert rows(found) == [
        r"H &= \tanh\left(X W\right) \\",
        r"Y &= \tanh\left(H V\right) \\",
        r"& X^{\top} \left(\left(1 - Y^{\odot 2}\right) V^{\top} \odot \left(1 - H^{\odot 2}\right)\right)",
    ]


def test_lists_and_letters():
    assert rows(NET.latex(where=True, names=["H"]))[0] == r"H &= \tanh\left(X W\right) \\"
    assert rows(NET.latex(where=True, names="u"))[0] == r"u_{1} &= \tanh\left(X W\right) \\"
    assert [str(name) for name, _ in NET.where_list(names="u")] == ["u1", "u2"]
    assert [str(name) for name, _ in NET.where_list(names=["H"])] == ["H", "t1"]


@pytest.mark.parametrize("names", [{"H": "tanh(X@W)"}, {"H": "tanh(X@W)", "Y": "tanh(H@V)"}, ["H"], "u", None])
def test_named_formulas_read_back(names):
    rng = np.random.default_rng(2)
    values = {"W": rng.normal(size=(3, 4)), "X": rng.normal(size=(5, 3)), "V": rng.normal(size=(4, 2))}
    term = from_latex(NET.latex(where=True, names=names), NET.symbols, NET.shape)
    np.testing.assert_allclose(evaluate(term, values), NET.evaluate(**values))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"X": "tanh(X@W)"}, "X is a symbol or size"),
        (["W"], "W is a symbol or size"),
        ({"n": "tanh(X@W)"}, "n is a symbol or size"),
        (["a", "a"], "twice"),
        ("x y", "a name is a word"),
        (3, "a letter, a list of names or a dict"),
    ],
)
def test_names_that_cannot_be(names, said):
    with pytest.raises(ArgumentError, match=said):
        NET.latex(where=True, names=names)


def test_parts_that_are_not_there():
    with pytest.raises(FormulaError, match=r"calls 'sin\(X@W\)' S, and the formula has no such part"):
        NET.latex(names={"S": "sin(X@W)"})
    with pytest.raises(FormulaError, match=r"position 7"):
        NET.latex(names={"S": "tanh(X@"})


def test_names_look_like_no_symbol():
    """t_1 and t1 are printed alike: the parts of a formula with a symbol t_1 have other letters."""

    def f(t_1, u):
        s = sg.sin(t_1 * u)
        return (s * sg.exp(s) + s).sum()

    found = sg.formula(f, (3,), (3,), wrt="t_1")
    assert rows(found.latex(where=True))[0] == r"v_{1} &= t_{1} \odot u \\"
    with pytest.raises(ArgumentError, match="t_1 is a symbol"):
        found.latex(where=True, names=["t1"])
    assert "t_{2}" in found.latex(where=True, names="t")


# ------------------------------------------------------------------------------------------ derivations


def lefts(derivation):
    return [line.left for line in derivation.lines]


def test_names_in_derivations():
    text = "sum(tanh(tanh(X@W)@V))"
    assert lefts(sg.derive(text, wrt="W"))[:3] == ["z1", "z2", "z3"]
    assert lefts(sg.derive(text, wrt="W", names="u"))[:3] == ["u1", "u2", "u3"]
    assert lefts(sg.derive(text, wrt="W", names=["A", "H"]))[:3] == ["A", "H", "z1"]
    found = sg.derive(text, wrt="W", names={"H": "tanh(X@W)"})
    assert lefts(found) == ["z1", "H", "z2", "z3", "f", "z2bar", "Hbar", "z1bar", "df/dW", ""]
    assert r"\bar{z}_{1} &= \bar{H} \odot \left(1 - H^{\odot 2}\right)" in found.latex()
    assert "— from $H$" in found.markdown()
    with pytest.raises(ArgumentError, match="X is a symbol"):
        sg.derive(text, wrt="W", names={"X": "tanh(X@W)"})
    with pytest.raises(FormulaError, match="'S', and no value"):
        sg.derive(text, wrt="W", names={"S": "sin(X@W)"})


def test_derivations_of_complex_functions():
    Z = np.array([[1 + 2j, 0.5], [0.3j, 2.0], [1.0, -1j]])
    for style in ("reverse", "differential"):
        found = sg.derive(lambda X: (abs(X) ** 2).sum(), Z, wrt="X", style=style)
        np.testing.assert_allclose(evaluate(found.result, {"X": Z}), 2 * Z)

"""Formulas of pairs of rows: arrays of three axes that are made entry by entry are written by their entry."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings

RNG = np.random.default_rng(9)
X, Y, a = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=3)


def squares(X, Y):
    """Squared distances of rows."""
    return ((X[:, None] - Y[None]) ** 2).sum(-1)


def test_a_kernel_of_distances_is_written_by_entries():
    text = sg.latex(lambda s, X: sg.exp(-squares(X, X) / s).sum(), sg.tensor(2.0), X, wrt="X")
    assert text == (
        r"\begin{aligned}"
        "\n"
        r"t_{1} &= e^{-\frac{1}{s} \left[\sum_{k} \left(X_{i k} - X_{j k}\right)^{2}\right]_{i j}} \\"
        "\n"
        r"& \frac{4}{s} \left(t_{1} X - \operatorname{diag}\left(t_{1} \mathbf{1}\right) X\right)"
        "\n"
        r"\end{aligned}"
    )


def test_a_mixture_names_its_distances():
    value = sg.logsumexp(-0.5 * squares(sg.tensor(X, name="X"), sg.tensor(Y, name="mu", requires_grad=True)), 1).sum()
    assert r"\left[\sum_{k} \left(X_{i k} - \mu_{j k}\right)^{2}\right]_{i j}" in value.latex()


CASES = {
    "kernel": lambda X, Y, a: sg.exp(-squares(X, Y) / (1 + a @ a)).sum(),
    "kernel by its width": lambda X, Y, a: sg.exp(-squares(X, Y) / a[0] ** 2).sum() * a[0],
    "distances": lambda X, Y, a: squares(X, Y).sqrt().sum(),
    "norms": lambda X, Y, a: (X[:, None] - Y).norm(dim=-1).sum(),
    "largest norms": lambda X, Y, a: (X[:, None] - Y).abs().amax(-1).sum(),
    "city blocks": lambda X, Y, a: (X[:, None] - Y).abs().sum(2).pow(3).sum(),
    "weights": lambda X, Y, a: (3 * a * (X[:, None] - Y) ** 2 / (1 + a**2)).sum(-1).exp().sum(),
    "sums of products": lambda X, Y, a: ((X[:, None] * Y + 2 * a) ** 3).sum((0, 2)).sin().sum(),
    "functions": lambda X, Y, a: (sg.tanh(X[:, None] - Y) * sg.sigmoid(Y * a)).sum(-1).exp().sum(),
    "kept axes": lambda X, Y, a: ((X[:, None] - Y) ** 2).sum(-1, keepdim=True).exp().sum(),
    "three rows": lambda X, Y, a: ((X[:, None, None] - Y[:, None] + Y) ** 2).sum(-1).exp().sum(),
    "numbers": lambda X, Y, a: (-(0.5 * X[:, None] - Y).pow(2) * 0.25).sum(-1).exp().sum(),
    "conditions": lambda X, Y, a: (sg.relu(X[:, None] - Y) ** 2).sum(-1).exp().sum(),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("order", [0, 1])
def test_texts_of_pairs_say_their_values(name, order):
    """LaTeX, Unicode and SymPy of the value and of the gradients have the numbers of the program."""
    given = {"X": X, "Y": Y, "a": a}
    leaves = [sg.tensor(v, name=k, requires_grad=True) for k, v in given.items()]
    value = CASES[name](*leaves)
    sizes = {"n": 5, "m": 3, "p": 4}
    made = [value] if not order else sg.autograd.grad(value, leaves, allow_unused=True)
    for result in made:
        known = symbols(result.term) if result is not None else []
        for s in known:
            sizes |= {letter: n for letter, n in zip(s.shape, given[s.params["name"]].shape) if isinstance(letter, str)}
        for text, read in readings(result.term, known).items() if result is not None else ():
            np.testing.assert_allclose(evaluate(read, given, sizes), result.numpy(force=True), rtol=1e-10, err_msg=text)


SIGNS = r"\operatorname{sign}\left(x \mathbf{1}^{\top} - \mathbf{1} x^{\top}\right)"


def test_signs_of_differences_change_with_their_order():
    """Gini's mean difference: its signs stood there twice, the second time transposed."""
    plain = sg.latex("sum(abs(x[:,None]-x))", wrt="x", shapes="x=n").replace("_{n}", "")
    assert plain == rf"2 {SIGNS} \mathbf{{1}}"
    text = sg.latex("sum(A*abs(x[:,None]-x))", wrt="x", shapes="x=n A=n,n")
    assert text == rf"\left({SIGNS} \odot \left(A + A^{{\top}}\right)\right) \mathbf{{1}}"

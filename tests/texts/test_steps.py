"""Derivations: every line is right, the last one is the gradient, and the texts are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError, NameProblem
from symgrad.formula.term import evaluate
from symgrad.notation import steps
from symgrad.sources import source
from tests.judging.textbook import TEXTBOOK


@pytest.mark.parametrize("style", ["reverse", "differential"])
@pytest.mark.parametrize("entry", TEXTBOOK, ids=lambda e: f"d {e[0]} / d {e[1]}")
def test_textbook(entry, style):
    f, wrt, _, _, shapes = entry
    found = sg.derive(f, wrt=wrt, shapes=shapes, style=style)
    assert found.checked
    assert found.lines[-1].right is found.result
    about = source(f, (), shapes)
    values = {
        str(s.name): np.linspace(0.4, 1.3, 2 ** len(s.shape)).reshape((2,) * len(s.shape))[()] for s in about.symbols
    }
    exact = evaluate(about.derivative(wrt), values)
    np.testing.assert_allclose(evaluate(found.result, values), exact, rtol=1e-9, atol=1e-12)
    assert found.latex().startswith("\\begin{align}\n")
    assert found.latex().count(" &= ") == len(found.lines) == len(found.markdown().splitlines())


def test_reverse_text():
    found = sg.derive(lambda X, w, y: ((X @ w - y) ** 2).sum(), (5, 3), (3,), (5,), wrt="w")
    assert str(found).splitlines() == [
        "   z1 = X @ w - y",
        "   z2 = z1**2",
        "    f = sum(z2)",
        "z1bar = 2*z1                    # from z2",
        "df/dw = X.T @ z1bar             # from z1",
        "      = 2*(X.T @ (X @ w - y))",
    ]
    assert repr(found) == str(found)


def test_differential_latex():
    found = sg.derive("trace(X.T @ A @ X)", wrt="X", style="differential")
    assert r"\mathrm{d}f &= \operatorname{tr}\left(\mathrm{d}z_{2}\right)" in found.latex()
    assert r"\operatorname{tr}\left(X^{\top} \left(A + A^{\top}\right) \mathrm{d}X\right)" in found.latex()
    assert found._repr_latex_().startswith("$$\\begin{aligned}")


def test_tensor():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    found = sg.derive((x.sin() * x).sum(), wrt=x)
    assert str(found).endswith("x*cos(x) + sin(x)")


def test_a_wrong_line_is_not_printed(monkeypatch):
    """A rule that gave a wrong derivative is found by the differences."""
    right = steps.gradient
    monkeypatch.setattr(steps, "gradient", lambda *args: [g * 2 for g in right(*args)])
    with pytest.raises(FormulaError, match="failed its numerical check"):
        sg.derive("sum(sin(x))", wrt="x")


def test_errors():
    with pytest.raises(ArgumentError, match="scalar"):
        sg.derive(lambda x: x * 2, (3,), wrt="x")
    with pytest.raises(ArgumentError, match="style"):
        sg.derive("x**2", wrt="x", style="forward")
    with pytest.raises(NameProblem, match="no array argument"):
        sg.derive("x**2", wrt="y")


def test_formats():
    found = sg.derive("norm(A@x-b)**2", wrt="x")
    assert found.unicode().splitlines() == [
        "   z₁ = A x − b", "    f = ‖z₁‖²", "   z̄₁ = 2 z₁", "∂f/∂x = Aᵀ z̄₁", "      = 2 Aᵀ (A x − b)",
    ]  # fmt: skip
    assert found.typst().splitlines()[0] == "z_(1) & = A x − b \\"
    assert found.mathml().count("<mtr>") == len(found.lines)
    assert found._repr_markdown_() == found.markdown()
    d = sg.derive("trace(X.T @ A @ X)", wrt="X", style="differential")
    assert "df = tr(dz₂)" in d.unicode()
    assert "dif z_(2)" in d.typst()


def test_a_derivation_states_the_branch_that_it_follows():
    def damped(x):
        e = (x * x).sum()
        return e if e < 1 else 2 * e.sqrt() - 1

    found = sg.derive(damped, np.ones(3), wrt="x")
    assert found.latex().splitlines()[-2] == r"& \text{valid where}\; x^{\top} x \ge 1"
    assert str(found).endswith("\nvalid where xᵀ x ≥ 1")
    assert found.markdown().endswith(r"Valid where $x^{\top} x \ge 1$.")
    assert found.valid_when.hold(x=[1.0, 1.0, 0.0])
    assert not found.valid_when.hold(x=[0.1, 0.0, 0.0])
    assert not sg.derive(damped, np.full(3, 0.1), wrt="x").valid_when.hold(x=[1.0, 1.0, 0.0])
    assert "valid" not in sg.derive("norm(A@x-b)**2", wrt="x").latex()


def test_a_linear_system_with_a_vector_has_no_axes_of_size_1():
    text = str(sg.derive("b @ solve(exp(A), b)", wrt="A", shapes="A=n,n b=n"))
    assert "squeeze" not in text
    assert "z2 = inv(z1) @ b" in text


def gated(xs, Wf, Wi, Wo, Wc, h, c):
    """A recurrent network with gates: each value is used several times in the next step."""
    for t in range(5):
        z = sg.cat([h, xs[t]])
        c = sg.sigmoid(Wf @ z) * c + sg.sigmoid(Wi @ z) * sg.tanh(Wc @ z)
        h = sg.sigmoid(Wo @ z) * sg.tanh(c)
    return (h * h).sum()


@pytest.mark.parametrize("style", ["reverse", "differential"])
def test_the_derivation_of_a_loop_grows_with_its_steps_and_not_with_the_tree_of_its_formula(style):
    found = sg.derive(gated, (5, 3), (4, 7), (4, 7), (4, 7), (4, 7), (4,), (4,), wrt="Wf", style=style)
    assert found.checked
    result = next(line for line in found.lines if line.left == "dgated/dWf")
    assert result.kind == "result"
    assert len(str(found)) < 20_000
    assert len(found.latex()) < 20_000
    # The gradient in one formula would be longer than all lines together: it is left out, or stands over parts.
    assert found.lines[-1] is result


def test_a_line_next_to_a_kink_is_compared_with_the_rules_since_no_difference_tells_its_slope():
    def settling(x):
        for _ in range(20):  # x goes to the kink at 0: after 20 steps it is 1e-7 away from it
            x = sg.where(x > 0, x * x - 0.3, x / 2 + x * x / 10)
        return x.sum()

    x = np.array([0.4, -0.2])
    found = sg.derive(settling, x, wrt="x")
    assert np.allclose(
        evaluate(found.result, {"x": x}), sg.func.grad(settling)(sg.tensor(x)).numpy(), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize(
    "layer", [sg.nn.GroupNorm(2, 4), sg.nn.GRUCell(4, 2), sg.nn.TransformerEncoderLayer(4, 2, 8, 0.0)],
    ids=lambda layer: type(layer).__name__,
)  # fmt: skip
def test_axes_that_are_split_have_the_size_of_the_arguments(layer):
    x = sg.randn(3, 4, requires_grad=True)
    assert sg.derive((layer.float()(x) ** 2).sum(), wrt=x).checked

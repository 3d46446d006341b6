"""Texts and forms that random derivatives found: bars, indices, sizes, axes of size 1, Jacobians of picked entries."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.canonical.chains import identity
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.derive import directional, gradient, jacobian
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.reading.text import parse_formula
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.sympy.expressions import to_sympy
from symgrad.formula.sympy.texts import text as formula_text
from symgrad.formula.term import Term, evaluate, symbol, symbols as symbols_of
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.shapes.sizes import product_size, total_size
from tests.formulas.roundtrip import problems

x, y, w = symbol("x", ("n",)), symbol("y", ("n",)), symbol("w", ("m",))
X, A = symbol("X", ("n", "m")), symbol("A", ("n", "n"))
along, k = symbol("along", ("n",)), symbol("k", ("n",), np.int64)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("|‖x‖|/2", lambda v: np.abs(np.linalg.norm(v["x"])) / 2),
        ("|x|[1:] − y[:−1]", lambda v: np.abs(v["x"])[1:] - v["y"][:-1]),
        ("(1/‖|x|‖) y", lambda v: v["y"] / np.linalg.norm(v["x"])),
        ("slope [x > 0]", lambda v: v["slope"] * (v["x"] > 0)),
    ],
)
def test_unicode_bars_and_brackets(text, want):
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=4) for name in ("x", "y")} | {"slope": 2.0}
    np.testing.assert_allclose(evaluate(from_unicode(text, [x, y, symbol("slope")]), values), want(values))


def test_sizes_are_sums():
    assert total_size(["n-1", 1]) == "n"
    assert total_size([2, 3]) == 5
    assert total_size(["n-1", "n+2"], (1, -1)) == -3
    assert total_size(["len(range(n-1)[:-1:2])", 3, "n"], (1, -1, -1)) == "len(range(n-1)[:-1:2])-n-3"
    assert product_size("n-1", "m+2") == "n*m+n*2-m-2"
    assert sg.cat([x[1:], x[:1]]).shape == ("n",)
    assert parse_formula("zeros(n + m - 1)", [x, w]).shape == ("n+m-1",), "sizes were multiplied"


def whole(made: Term, term: Term) -> list[str]:
    return problems(made, term, 0)


PICKED = {
    "gather": lambda: sg.gather(x * x, 0, k),
    "solve_triangular": lambda: sg.linalg.solve_triangular(sg.tril(A @ A.T), x[:, None], upper=False)[:, 0],
    "cummax": lambda: sg.cummax(x, 0)[0],
    "roll": lambda: sg.roll(x * x, 1, 0),
    "select": lambda: sg.sum(sg.stack([x, A @ x]), 1)[0] * x,
    "cat": lambda: sg.cat([sg.std(A * x, 1)[1:], x[:1]]),
    "sort": lambda: sg.sort(x * x, 0)[0],
}


@pytest.mark.parametrize("name", PICKED)
def test_jacobians_of_picked_entries(name):
    term = PICKED[name]()
    assert not whole(term, jacobian(term, x))


def test_a_direction_is_broadcast_before_it_is_indexed():
    f = sg.sum((sg.outer(w, x) + x)[1:, :-1] ** 2)
    second = directional(gradient(f, [x])[0], [x], [along])
    assert second.shape == ("n",)
    assert not whole(f, second)


def test_a_reduction_lies_as_the_matrix_next_to_it():
    """Numbers are compared with their own maximum: both have to be computed the same way."""
    W = symbol("W", ("m", "n"))  # noqa: N806
    f = sg.sum(sg.amax((X @ W * x).T * w[0], 0) ** 2)
    found = canonical(gradient(f, [x])[0])
    assert "permute" not in {t.args[0].op.name for t in [found] if t.args}
    assert not whole(f, gradient(f, [x])[0])


def test_axes_of_size_one_stay_in_the_arguments_of_primitives():
    a, b = symbol("a"), symbol("b")
    f = sg.logsumexp(sg.stack([a * a, b]), 0)
    assert not whole(f, gradient(gradient(f, [a])[0], [a])[0])
    g = sg.sum(sg.cumsum(sg.cat([x[1:] * 2, sg.exp(x[:1])]), 0) ** 2)
    assert not whole(g, gradient(g, [x])[0])


def test_the_least_entry_has_a_text():
    f = sg.linalg.vector_norm(x, float("-inf"))
    assert not whole(f, gradient(f, [x])[0])


def test_small_decimals_are_not_multiplied_out():
    f = sg.sum(sg.atan2(sg.sqrt(x * x + 1e-12), 2 + x * x))
    (g,) = gradient(f, [x])
    assert not whole(f, g)
    assert max(len(word) for word in str(to_sympy(g)).replace("(", " ").split()) < 24
    assert symbols_of(g) == [x]


def test_a_complex_number_makes_a_product_complex():
    """(1 + i)w is complex, though w is real and 1 + i is a formula without a dtype."""
    z = sg.complex(x, x)
    direction = sg.conj(z / sg.abs(z))
    for made in (sg.sum(sg.real((1 + 1j) * sg.conj(sg.sgn(z)))), sg.real(sg.sum((2 - 1j) * direction))):
        assert not whole(made, made)
    f = sg.erf(sg.sum(sg.abs(z)))
    assert not whole(f, jacobian(gradient(f, [x])[0], x))


def test_what_stands_on_a_diagonal_is_not_the_whole():
    eye = identity("n")
    whole_cube = sg.einsum("ij,k->ijk", eye, x) + sg.einsum("ik,j->ijk", eye, x)
    rows = contract((whole_cube,), ((0, 1, 1),), (0, 1), ("n", "n"))
    kept = contract((rows,), ((0, 1),), (0, 1, 1), ("n", "n", "n"))
    assert not whole(kept, kept)
    assert contract((A,), ((0, 0),), (0, 0), ("n", "n")) is not A
    value = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(contract((value,), ((0, 0),), (0, 0), (2, 2)), np.diag(np.diag(value)))
    program = sg.compile(sg.func.jacobian(lambda v: sg.diagonal(v) * 2), value)
    np.testing.assert_allclose(program(value), sg.func.jacobian(lambda v: sg.diagonal(v) * 2)(sg.tensor(value)).numpy())


def test_fouriers_transform_has_a_text_in_every_format():
    z = symbol("z", ("n",), np.complex128)
    f = sg.sum(sg.abs(sg.fft.fft(z * x)) ** 2)
    assert not whole(f, gradient(f, [x])[0])
    assert not whole(f, gradient(sg.sum(sg.real(sg.fft.ifft(z) * x)), [z])[0])


@pytest.mark.parametrize(("above", "below"), [(3, -2), (0.9, -0.1), (2, 5), (-1, -4)])
def test_the_slope_of_a_largest_multiple_asks_for_the_sign_of_the_difference(above, below):
    """The pinball loss: which of c(y - q) and d(y - q) is greater is a matter of the sign of y - q alone."""
    u = x - symbol("q")
    made = sg.sum(sg.maximum(above * u, below * u))
    (slope,) = gradient(made, [x])
    assert not whole(made, slope)
    assert "Heaviside(x - q)" in canonical_text(slope) or "Heaviside(q - x)" in canonical_text(slope)


def canonical_text(term: Term) -> str:
    """The formula as a line of Unicode."""
    return spelled(latex(term), "unicode").replace("−", "-")


def test_a_divisor_of_zero_is_printed():
    assert latex(x / 0) == r"\frac{x}{0}"
    assert latex(symbol("u") / 0) == r"\frac{u}{0}"


def test_fouriers_transform_is_a_letter():
    """𝓕 with its adjoint 𝓕*, as in phase retrieval; 𝓤 is the unitary one."""
    tex = sg.latex(lambda x, b: ((sg.fft.fft(x).abs() ** 2 - b) ** 2).sum(), (8,), (8,), wrt="x")
    image = r"\mathcal{F}\left(x\right)"
    inside = rf"{image} \odot \left(\left|{image}\right|^{{\odot 2}} - b\right)"
    assert tex == rf"4 \operatorname{{Re}}\left(\mathcal{{F}}^{{*}}\left({inside}\right)\right)"
    assert sg.formula(lambda A: sg.fft.ifft(A, dim=0), (2, 3)).unicode() == "𝓕₀⁻¹(A)"
    assert sg.formula(lambda x: sg.fft.fft(x, norm="ortho"), (4,)).typst() == "𝓤 (x)"
    for inverse in (False, True):
        for norm in ("backward", "forward", "ortho"):
            run = sg.fft.ifft if inverse else sg.fft.fft
            f = sg.formula(lambda x, run=run, norm=norm: run(x, norm=norm), (4,))
            z = sg.from_latex(f.latex(), "x=n")(sg.arange(4.0, dtype=sg.float64))
            np.testing.assert_allclose(z.numpy(), run(sg.arange(4.0, dtype=sg.float64), norm=norm).numpy())
    with pytest.raises(sg.errors.FormulaError, match="not known here"):
        sg.from_latex(r"\mathcal{F}^{2}\left(x\right)", "x=n", notation="printed")


_ONE_OUTPUT = ((1, 3), (5, 3), (1,), (5, 1))


@pytest.mark.parametrize(
    ("f", "shapes", "wrt", "text"),
    [
        (lambda c, A: (c.T @ A @ c)[0, 0], ((3, 1), (3, 3)), "c", "(A + A.T) @ c"),
        (lambda c, A: (c.T @ A @ c)[0, 0], ((3, 1), (3, 3)), ("c", "c"), "(A + A.T)[:, None, :, None]"),
        (lambda w, X, y: ((X @ w - y) ** 2).sum(), ((3, 1), (5, 3), (5, 1)), "w", "2*(X.T @ (X @ w - y))"),
        (lambda w, X: sg.exp(X @ w).sum(), ((3, 1), (5, 3)), "w", "X.T @ exp(X @ w)"),
        (lambda r, A: (A * r).sum(), ((1, 3), (4, 3)), "r", "sum(A, 0)[None, :]"),
        (lambda W, X, b, y: ((X @ W.T + b - y) ** 2).sum(), _ONE_OUTPUT, None, "norm(b - y + X @ W.T)**2"),
        (lambda W, X, b, y: ((X @ W.T + b - y) ** 2).sum(), _ONE_OUTPUT, "W", "2*((b - y + X @ W.T).T @ X)"),
        (lambda W, X, b, y: (X @ W.T + b - y).abs().sum(), _ONE_OUTPUT, "b", "sum(sign(b - y + X @ W.T), 0)"),
        (lambda W, X, b, y: (y * sg.tanh(X @ W.T + b)).sum(), _ONE_OUTPUT, "b", "sum(y*(1 - tanh(b + X @ W.T)**2), 0)"),
        (lambda b, X: (X + b).sum(), ((1,), (5, 1)), "b", "n*ones(1)"),
        (lambda b, X: ((X + b) ** 2).sum(), ((1,), (5, 1)), "b", "2*b*n + 2*sum(X, 0)"),
        (lambda b, x: (x * b).sum(), ((1,), (5,)), None, "b[0]*sum(x)"),
        (lambda b, X, u: (X * u[:, None] * b).sum(), ((1,), (5, 1), (5,)), "b", "u @ X"),
    ],
)
def test_columns_are_columns_in_texts(f, shapes, wrt, text):
    """They were unsqueeze(… squeeze(c, dim=(1,)) …, dim=1); and what has one entry was not simplified at all."""
    found = sg.formula(f, *shapes, wrt=wrt)
    assert formula_text(found.expr) == text
    rng = np.random.default_rng(4)
    names = f.__code__.co_varnames[: len(shapes)]
    given = {name: rng.normal(size=shape) for name, shape in zip(names, shapes, strict=True)}
    sizes = {letter: n for s in found.symbols for letter, n in zip(s.shape, given[s.name].shape, strict=True)}
    read = parse_formula(str(found.expr), found.symbols)
    np.testing.assert_allclose(evaluate(read, given, sizes), evaluate(found.term, given, sizes), rtol=1e-9)

"""Formulas and programs of derivatives that are made of a product's result: they leave it out, and hold at zeros."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

import symgrad as sg

CALLS = ["x.prod()", "x.prod(0)", "x.prod(1, keepdim=True)", "x.cumprod(0)", "x.cumprod(-1)"]
POINT, ZEROS = np.array([[0.5, -1.2, 2.0], [0.7, 1.5, -0.4]]), np.array([[0.5, 0.0, 2.0], [0.0, 1.5, 0.0]])


def second(call):
    """A function that takes two derivatives of a product."""

    def run(x):
        (g,) = sg.autograd.grad((eval(call, {"x": x, "sg": sg}) ** 2).sum(), x, create_graph=True)
        return sg.autograd.grad((g * g).sum(), x, create_graph=True)[0]

    return run


@pytest.mark.parametrize("call", CALLS)
def test_formulas_hold_at_zeros(call):
    """A program read off two recorded passes at one point is right where a factor is zero."""
    program = sg.compile(second(call), POINT)
    for at in (POINT, ZEROS):
        run = second(call)(sg.tensor(at, name="x", requires_grad=True))
        np.testing.assert_allclose(program(at), run.numpy(force=True), atol=1e-12)
    made = second(call)(sg.tensor(POINT, name="x", requires_grad=True))
    assert r"\frac" not in made.latex()
    assert "divi" not in made.latex()
    assert pickle.loads(pickle.dumps(made)).tolist() == made.tolist()


@pytest.mark.parametrize("call", [*CALLS, "sg.linalg.det(x @ x.T)", "sg.linalg.det(x[:, :2])"])
def test_gradient_by_the_result_has_a_formula(call):
    """By the product itself the derivative is not zero, and its formula says so."""
    x = sg.tensor(POINT, name="x", requires_grad=True)
    out = eval(call, {"x": x, "sg": sg})
    (g,) = sg.autograd.grad(out.sum(), x, create_graph=True)
    for kept in (False, True):
        (by_out,) = sg.autograd.grad(g.sum(), out, retain_graph=True, create_graph=kept)
        assert by_out.abs().sum() > 0
        program = sg.compile(by_out)
        np.testing.assert_allclose(program(POINT), by_out.numpy(force=True), rtol=1e-12)
        assert by_out.latex()


def test_a_result_without_history_stays_in_the_formula():
    """Cut off from its factors, the product is a value of its own."""
    x = sg.tensor([2.0, 3.0], name="x", requires_grad=True)
    y = sg.tensor(6.0, name="y", requires_grad=True)
    from symgrad.op import lookup

    slopes = lookup("prod_divided")(y, x, dim=0, keepdim=False)
    found = sg.autograd.grad(slopes.sum(), [x, y])
    np.testing.assert_allclose(found[0].tolist(), [-6 / 4, -6 / 9])
    np.testing.assert_allclose(found[1].item(), 1 / 2 + 1 / 3)
    assert "y" in slopes.latex()
    np.testing.assert_allclose(sg.compile(slopes)(y=6.0, x=np.array([0.0, 3.0])), [3, 0])


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("shift", [0, 0.5j])
def test_second_derivative_at_singular_matrices(rank, shift):
    """The adjugate is a polynomial of the entries: its derivative is finite and right whatever the rank."""
    rng = np.random.default_rng(1)
    base = (rng.standard_normal((3, rank)) + shift) @ rng.standard_normal((rank, 3))
    weights = rng.standard_normal((3, 3)) + shift

    def first(values):
        x = sg.tensor(values, requires_grad=True)
        (g,) = sg.autograd.grad(sg.linalg.det(x).real.sum(), x, create_graph=True)
        return x, g

    x, g = first(base)
    (h,) = sg.autograd.grad((g * weights.conj()).real.sum() if shift else (g * weights).sum(), x)
    step = rng.standard_normal((3, 3)) + shift
    ends = [first(base + sign * 1e-3 * step)[1].numpy(force=True) for sign in (1, -1)]
    moved = (ends[0] - ends[1]) / 2e-3  # exact but for rounding: the adjugate is quadratic here
    want = (weights.conj() * moved).real.sum()
    np.testing.assert_allclose((step.conj() * h.numpy()).real.sum(), want, atol=1e-9)


def test_products_that_under_or_overflow_keep_their_slopes():
    for values in ([1e-200, 1e-200, 3.0], [1e-160, 1e-160, 1e10], [1e200, 1e200, 1e-200], [np.inf, 2.0]):
        x = sg.tensor(values, dtype=sg.float64, requires_grad=True)
        with np.errstate(all="ignore"):
            (g,) = sg.autograd.grad(x.prod(), x)
            np.testing.assert_allclose(g.numpy(), [np.prod(np.delete(values, k)) for k in range(len(values))])


def test_second_derivative_along_a_line_shows_no_condition():
    """d²/dx² det(A + x B) for a number x: the inverse says already that the matrix has to be regular."""
    rng = np.random.default_rng(0)
    a, b = (sg.tensor(rng.standard_normal((3, 3)), name=name) for name in "AB")
    x = sg.tensor(0.3, dtype=sg.float64, name="x", requires_grad=True)
    (first,) = sg.autograd.grad(sg.linalg.det(a + x * b), x, create_graph=True)
    (twice,) = sg.autograd.grad(first, x, create_graph=True)
    assert "cases" not in twice.latex()
    assert "singular" not in twice.latex()


NORMS = [
    ("norm(A@X)**2 + sum(X*X)", "X", r"2 \left(A^{\top} A X + X\right)"),
    ("norm(M*(X-U@V.T))**2", "U", r"2 \left(M^{\odot 2} \odot \left(U V^{\top} - X\right)\right) V"),
    ("norm(X@w)**2 + norm(w)", "w", r"2 X^{\top} X w + \frac{w}{\lVert w \rVert}"),
    ("norm(x*y)**2", "x", r"2 x \odot y^{\odot 2}"),
    ("norm(A@A@x)**2", "x", r"2 \left(A^{2}\right)^{\top} A^{2} x"),
    ("norm(A@x)*sum(x)", "x", None),
    ("norm(A@x)**2*norm(B@x)", "x", None),
]


@pytest.mark.parametrize(("text", "wrt", "latex"), NORMS, ids=[t for t, *_ in NORMS])
def test_norms_of_products_leave_no_quotient_of_themselves(text, wrt, latex):
    found = sg.latex(text, wrt=wrt)
    assert latex is None or found == latex
    assert sg.judge(found, of=text, wrt=wrt)


def test_the_usual_correction_is_not_written():
    shown = [sg.latex(lambda x, k=k: x.std(correction=k), (6,)) for k in (1, 0)]
    assert shown[0] == r"\operatorname{std}\left(x\right)"
    assert "correction" in shown[1]
    x = np.array([1.0, 2.0, 5.0])
    for k, text in zip((1, 0), shown, strict=True):
        np.testing.assert_allclose(sg.from_latex(text, "x=n")(x).item(), x.std(ddof=k))


FRACTIONS = [
    ("norm(x)", "x", r"\frac{x}{\lVert x \rVert}"),
    ("log(x@x)", "x", r"\frac{2 x}{x^{\top} x}"),
    ("T*log(sum(exp(z/T)))", "z", r"\operatorname{softmax}\left(\frac{z}{T}\right)"),
    ("mean(X@w)", "w", r"\frac{1}{n} X^{\top} \mathbf{1}"),
    ("c*norm(x)", "x", r"\frac{c}{\lVert x \rVert} x"),
    ("sum((x - a)**2)/(2*s) + log(s)/2", "s", None),
    ("(x@x/s + log(s))*t/2", "t", r"\frac{1}{2} \left(\frac{x^{\top} x}{s} + \log\left(s\right)\right)"),
    ("mean(maximum(t*(y-X@w),(t-1)*(y-X@w)))", "w",
     r"\frac{1}{n} X^{\top} \left(1 - t - \operatorname{Heaviside}\left(y - X w\right)\right)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrt", "latex"), FRACTIONS, ids=[t for t, *_ in FRACTIONS])
def test_short_arrays_over_scalars_are_one_fraction_and_tall_ones_stand_behind(text, wrt, latex):
    shapes = {k: () for k in "Tcst" if k in re.findall("[a-zA-Z]+", text)}
    found = sg.latex(text, wrt=wrt, shapes=shapes)
    assert latex is None or found == latex
    assert sg.judge(found, of=text, wrt=wrt, shapes=shapes)


def test_arguments_of_transforms_are_called_like_the_parameters():
    def loss(w, X, y):
        return (sg.log1p(sg.exp(X @ w)) - y * (X @ w)).sum()

    rng = np.random.default_rng(0)
    args = rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)
    inner = r"\sigma\left(X w\right)"
    assert sg.func.grad(loss)(*args).latex() == rf"X^{{\top}} \left({inner} - y\right)"
    hessian = sg.func.hessian(loss)(*args)
    assert hessian.latex() == rf"X^{{\top}} \operatorname{{diag}}\left({inner} \odot \left(1 - {inner}\right)\right) X"
    assert (args[1] @ sg.tensor(args[1].T)).grad_fn is None


def test_names_of_functions_are_letters_or_words():
    def gamma_nll(x):
        return -sg.log(x).sum()

    found = sg.formula(gamma_nll, (3,), wrt="x").latex(header=True)
    assert found.startswith(r"\frac{\partial \mathrm{gamma\_nll}}{\partial x} = ")

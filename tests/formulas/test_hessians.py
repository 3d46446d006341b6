"""Formulas of second derivatives: of functions that transforms made, and by two arguments in turn."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate, symbol

RNG = np.random.default_rng(0)
X, W, Y = RNG.normal(size=(5, 3)), RNG.normal(size=3), RNG.normal(size=5)


def loss(w, X, y):
    return sg.log(1 + sg.exp(X @ w)).sum() - y @ (X @ w)


HESSIAN = (
    r"X^{\top} \operatorname{diag}\left(\sigma\left(X w\right) \odot \left(1 - \sigma\left(X w\right)\right)\right) X"
)
CASES = {
    "hessian": (sg.func.hessian(loss), r"\nabla_{w}^{2} \mathrm{loss}", HESSIAN),
    "jacobian of the gradient": (sg.func.jacobian(sg.func.grad(loss)), r"\nabla_{w}^{2} \mathrm{loss}", HESSIAN),
    "forward over reverse": (sg.func.jacfwd(sg.func.jacrev(loss)), r"\nabla_{w}^{2} \mathrm{loss}", HESSIAN),
    "grad": (
        sg.func.grad(loss),
        r"\frac{\partial \mathrm{loss}}{\partial w}",
        r"X^{\top} \left(\sigma\left(X w\right) - y\right)",
    ),
    "two arguments": (
        sg.func.jacobian(sg.func.grad(loss), 2),
        r"\frac{\partial^{2} \mathrm{loss}}{\partial w \partial y}",
        r"-X^{\top}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_transforms_make_has_a_formula(name):
    f, head, text = CASES[name]
    found = sg.formula(f, W, X, Y)
    assert found.latex(header=True) == f"{head} = {text}"
    np.testing.assert_allclose(found.evaluate(w=W, X=X, y=Y), f(W, X, Y).numpy(), rtol=1e-12)


def test_derivatives_by_several_arguments_in_turn():
    found = sg.formula(loss, W, X, Y, wrt=("w", "w"))
    assert found.latex() == HESSIAN
    assert sg.formula("norm(A@x-b)**2", wrt=("x", "x")).unicode(header=True) == "∇ₓ² f = 2 Aᵀ A"


def test_of_a_transform_with_several_results_the_run_is_shown():
    """What the transform alone does not tell: two arguments at once, of which the function picks one."""
    both = sg.func.grad(loss, (0, 2))
    text = sg.latex(lambda w, X, y: both(w, X, y)[1], W, X, Y)
    assert text == "-X w"


def test_a_norm_that_stands_below_a_fraction_bar_is_not_zero():
    text = sg.latex(lambda x: sg.exp(-sg.linalg.norm(x)), (3,), wrt=("x", "x"))
    assert text.count(r"\lVert x \rVert") == 4


def test_a_batch_of_gradients_is_one_formula():
    """``is_grads_batched`` pulls all rows back at once, and their formula has the batch as a matrix."""
    A, x = sg.tensor(X, name="A"), sg.tensor(W, requires_grad=True, name="x")
    V = sg.tensor(RNG.normal(size=(4, 5)), name="V")
    y = (A @ x).tanh()
    (rows,) = sg.autograd.grad(y, x, V, retain_graph=True, is_grads_batched=True)
    assert rows.latex() == r"V \operatorname{diag}\left(1 - \tanh^{2}\left(A x\right)\right) A"
    (twice,) = sg.autograd.grad([y, y * 2], x, [V, V], is_grads_batched=True)
    np.testing.assert_allclose(twice.numpy(), 3 * rows.numpy(), rtol=1e-12)
    found = sg.formula(twice)
    np.testing.assert_allclose(found.evaluate(A=X, x=W, V=V.numpy()), twice.numpy(), rtol=1e-12)


def test_the_gradient_of_the_trace_of_a_root():
    assert sg.latex("trace(sqrtm(A))", wrt="A") == r"\frac{1}{2} \left(A^{1/2}\right)^{-\top}"


def softmax_regression(W, X, Y):
    return (sg.logsumexp(X @ W, 1) - (Y * (X @ W)).sum(1)).sum()


def softmax_of_one(W, x, y):
    return sg.logsumexp(W @ x, 0) - y @ (W @ x)


def smooth_regression(W, X, A):
    return ((X @ W) ** 2).sum() + sg.trace(W.T @ X.T @ A @ X @ W)


OF_MATRICES = {
    "rows of probabilities": (
        softmax_regression, ("nm", "kn", "km"),
        (r"\left[\sum_{a} X_{a i} \left[\operatorname{softmax}\left(X W\right)\right]_{a j} X_{a k} "
        r"\left(\delta_{j l} - \left[\operatorname{softmax}\left(X W\right)\right]_{a l}\right)\right]_{i j k l}"),
    ),
    "probabilities": (
        softmax_of_one, ("mn", "n", "m"),
        (r"\left[x_{j} \left[\operatorname{diag}\left(\operatorname{softmax}\left(W x\right)\right) - "
        r"\operatorname{softmax}\left(W x\right) \operatorname{softmax}\left(W x\right)^{\top}\right]_{i k} "
        r"x_{l}\right]_{i j k l}"),
    ),
    "a Laplacian": (
        smooth_regression, ("nm", "kn", "kk"),
        (r"\left[\left[X^{\top} \left(2 I_{n} + A + A^{\top}\right) X\right]_{i k} "
        r"\left[I_{p}\right]_{j l}\right]_{i j k l}"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATRICES)
def test_hessians_by_matrices_have_their_deltas_in_one_place(name):
    f, shapes, text = OF_MATRICES[name]
    names = f.__code__.co_varnames[: len(shapes)]
    for k, sizes in enumerate(({"n": 3, "m": 4, "k": 5}, {"n": 2, "m": 5, "k": 3})):
        args = [RNG.normal(size=[sizes[x] for x in shape]) for shape in shapes]
        if not k:
            found = sg.formula(f, *args, wrt=("W", "W"))
            assert found.latex() == text
            read = from_latex(text, found.symbols, shape=found.term.shape)
        want = sg.func.hessian(f)(*args).numpy()
        given = dict(zip(names, args, strict=True))
        sizes = dict(zip(found.term.shape, want.shape, strict=True))
        np.testing.assert_allclose(evaluate(found.term, given, sizes), want, rtol=1e-9)
        np.testing.assert_allclose(evaluate(read, given, sizes), want, rtol=1e-9)


def test_sums_of_products_with_deltas_read_back():
    w = symbol("w", ("n",))
    text = r"\left[\sum_{k} \left(w_{k} \delta_{i j} - w_{j} \delta_{i k}\right)\right]_{i j}"
    value = np.array([1.0, 2.0, 4.0])
    got = evaluate(from_latex(text, [w]), {"w": value})
    np.testing.assert_allclose(got, value.sum() * np.eye(3) - np.outer(np.ones(3), value))


# ------------------------------------------------------------------------------------- third and higher derivatives


def cubic(x):
    return x**3


def layer(x):
    return sg.tanh(sg.tensor(X, name="A") @ x)


HIGHER = {
    "Hessian of a vector": (sg.func.hessian(cubic), r"6 \left[x_{i} \delta_{i j} \delta_{i k}\right]_{i j k}"),
    "forward over reverse": (
        sg.func.jacfwd(sg.func.jacrev(cubic)),
        r"6 \left[x_{i} \delta_{i j} \delta_{i k}\right]_{i j k}",
    ),
    "Jacobian of a Hessian": (
        sg.func.jacobian(sg.func.hessian(lambda x: (x**4).sum())),
        r"24 \left[x_{i} \delta_{i j} \delta_{i k}\right]_{i j k}",
    ),
    "forward over a Hessian": (
        sg.func.jacfwd(sg.func.hessian(lambda x: (x**4).sum())),
        r"24 \left[x_{i} \delta_{i j} \delta_{i k}\right]_{i j k}",
    ),
    "fourth": (
        sg.func.jacobian(sg.func.jacobian(sg.func.hessian(lambda x: x.sin().sum()))),
        r"\left[\sin\left(x_{i}\right) \delta_{i j} \delta_{i k} \delta_{i l}\right]_{i j k l}",
    ),
    "functional": (
        lambda x: sg.autograd.functional.jacobian(
            lambda v: sg.autograd.functional.hessian(lambda u: (u**4).sum(), v, create_graph=True), x
        ),
        r"24 \left[x_{i} \delta_{i j} \delta_{i k}\right]_{i j k}",
    ),
}


@pytest.mark.parametrize("case", HIGHER)
def test_formulas_of_higher_derivatives_have_no_part_for_each_row(case):
    f, latex = HIGHER[case]
    small, large = (f(sg.tensor(np.linspace(0.5, 1.5, n), name="x")) for n in (3, 8))
    assert small.latex() == large.latex() == latex
    assert np.allclose(np.array(large.evalf(17), dtype=float), large.numpy())


def test_a_diagonal_times_the_identity_is_the_diagonal():
    found = sg.formula(lambda x: sg.logsumexp(x, 0), W, wrt=("x", "x", "x"))
    assert "@ eye" not in str(found)
    assert r" I\right]" not in found.latex()
    p = np.exp(W) / np.exp(W).sum()
    square, cube = np.einsum("i,ij->ij", p, np.eye(3)), np.einsum("i,ij,ik->ijk", p, np.eye(3), np.eye(3))
    pairs = sum(np.einsum(f"{x},{y}->ijk", p, square) for x, y in (("i", "jk"), ("j", "ik"), ("k", "ij")))
    want = cube - pairs + 2 * np.einsum("i,j,k->ijk", p, p, p)
    np.testing.assert_allclose(found.evaluate(x=W), want, rtol=1e-12)


def test_a_diagonal_among_indices_is_a_delta():
    f = sg.func.hessian(lambda x: x.softmax(0))
    text = f(sg.tensor(W, name="x")).latex()
    assert r"\left[t_{2}\right]_{i j} \delta_{j l}" in text
    assert r"\left[\left[\left[" not in text
    found = sg.formula(f, W)
    read = from_latex(text, found.symbols, shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, {"x": W}, {"n": 3}), f(W).numpy(), atol=1e-15)


def partial_likelihood(b, X, d):
    e = X @ b
    return (d * (e - sg.logcumsumexp(e, 0))).sum()


STACKS = {
    "triangles": (
        partial_likelihood,
        (W, np.random.default_rng(5).normal(size=(5, 3)), np.array([1.0, 0, 1, 1, 0])),
        ("\\begin{aligned}\n"
        r"t_{1} &= X b \\" "\n"
        r"t_{2} &= \operatorname{triu}\left(e^{t_{1} \mathbf{1}_{n}^{\top} - \mathbf{1}_{n} "
        r"\operatorname{logcumsumexp}\left(t_{1}\right)^{\top}}\right) \\" "\n"
        r"& X^{\top} \left(t_{2} \operatorname{diag}\left(d\right) t_{2}^{\top} - "
        r"\operatorname{diag}\left(t_{2} d\right)\right) X" "\n\\end{aligned}"),
    ),
    "determinants": (
        lambda A: sg.exp(sg.linalg.det(A)),
        (np.random.default_rng(6).normal(size=(3, 3)),),
        (r"\det\left(A\right) e^{\det\left(A\right)} \left(\left(\det\left(A\right) + 1\right) "
        r"\left[\left[A^{-1}\right]_{j i} \left[A^{-1}\right]_{l k}\right]_{i j k l} - "
        r"\left[\left[A^{-1}\right]_{j k} \left[A^{-1}\right]_{l i}\right]_{i j k l}\right)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKS)
def test_a_function_of_a_stack_of_equal_matrices_is_that_of_one(name):
    f, values, text = STACKS[name]
    names = f.__code__.co_varnames[: len(values)]
    found = sg.formula(f, *values, wrt=(names[0], names[0]))
    assert found.latex() == text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    want = sg.func.hessian(f)(*map(sg.tensor, values)).numpy()
    np.testing.assert_allclose(evaluate(read, dict(zip(names, values, strict=True))), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (
            lambda x, A: sg.where(x > 0, x**3, x**2).sum(),
            (
                r"\operatorname{diag}\left(\begin{cases} 6 x & \text{for}\: x > 0 \\ 2 & \text{otherwise} "
                r"\end{cases}\right)"
            ),
        ),
        (
            lambda x, A: sg.where(A @ x > 1, (A @ x) ** 3, (A @ x) ** 2).sum(),
            (
                r"A^{\top} \operatorname{diag}\left(\begin{cases} 6 A x & \text{for}\: A x > 1 \\ 2 & \text{otherwise} "
                r"\end{cases}\right) A"
            ),
        ),
        (
            lambda x, A: sg.where(abs(A @ x) <= 1, (A @ x) ** 2 / 2, abs(A @ x)).sum(),
            r"A^{\top} \operatorname{diag}\left(\left[\left|A x\right| \le 1\right]\right) A",
        ),
    ],
)
def test_cases_stand_on_the_diagonal(f, text):
    x, A = np.array([0.5, -0.3, 2.0]), np.random.default_rng(8).normal(size=(3, 3))
    found = sg.formula(f, x, A, wrt=("x", "x"))
    assert found.latex() == text
    read = from_latex(text, found.symbols, shape=found.term.shape)
    want = sg.func.hessian(f)(sg.tensor(x), sg.tensor(A)).numpy()
    np.testing.assert_allclose(evaluate(read, {"x": x, "A": A}), want, rtol=1e-12)


def test_a_hessian_of_a_determinant_times_a_matrix_asks_for_no_regular_matrix():
    X = sg.tensor(np.array([[2.0, 1.0], [0.5, 3.0]]), requires_grad=True, name="X")
    V = sg.tensor(np.array([[1.0, -1.0], [0.5, 2.0]]), name="V")
    (slope,) = sg.autograd.grad(sg.linalg.det(X), X, create_graph=True)
    (product,) = sg.autograd.grad((slope * V).sum(), X, create_graph=True)
    assert product.latex() == (
        r"\det\left(X\right) \left(\operatorname{tr}\left(V X^{-1}\right) X^{-1} - X^{-1} V X^{-1}\right)^{\top}"
    )


def test_hessians_of_vectors_as_functions():
    f = sg.func.hessian(cubic)
    assert (
        str(sg.formula(f, W).latex(header=True))
        == r"\nabla_{x}^{2} \mathrm{cubic} = " + HIGHER["Hessian of a vector"][1]
    )
    program = sg.compile(sg.func.hessian(lambda x, y: {"a": x * y, "b": (x * x).sum()}, argnums=(0, 1)), W, W)
    found = program(W, 2 * W)
    assert np.array_equal(found["a"][0][1], np.einsum("ij,ik->ijk", np.eye(3), np.eye(3)))
    assert np.array_equal(found["b"][0][0], 2 * np.eye(3))
    with pytest.raises(sg.errors.CompileError, match="needs one scalar result"):
        sg.func.structured_hessian(cubic)(W)


def test_a_recorded_jacobian_is_one_stack_of_rows():
    x = sg.tensor(W, requires_grad=True, name="x")
    first = sg.autograd.jacobian(layer(x), x, create_graph=True)
    assert first.latex() == r"\operatorname{diag}\left(1 - \tanh^{2}\left(A x\right)\right) A"
    second = sg.autograd.jacobian(first, x)
    h = np.tanh(X @ W)
    assert np.allclose(second.numpy(), np.einsum("i,ij,ik->ijk", -2 * h * (1 - h * h), X, X))
    (row,) = sg.autograd.grad(first[1, 2], x)
    assert np.allclose(row.numpy(), second.numpy()[1, 2])


def test_programs_of_nested_jacobians_do_not_grow_with_the_rows():
    f = sg.func.hessian(lambda x: x.sin().softmax(0))
    lengths = []
    for n in (3, 30):
        x = RNG.normal(size=n)
        program = sg.compile(f, x)
        lengths.append(len(program.source.splitlines()))
        assert np.allclose(program(x), f(sg.tensor(x)).numpy())
    assert lengths[0] == lengths[1]


BESIDE = r"\left(\mathbf{1}_{n} \mathbf{1}_{n}^{\top} - I_{n}\right) \odot \left[\prod_{k \ne i, j} "
PRODUCTS = {
    "all": (lambda x: sg.prod(x), BESIDE + r"x_{k}\right]_{i j}"),
    "differences": (lambda x: -sg.prod(1 - x), "-" + BESIDE + r"\left(1 - x_{k}\right)\right]_{i j}"),
    "sines": (lambda x: sg.prod(sg.sin(x)) / 2, None),
    "squares": (lambda x: sg.prod(1 + x) ** 2, None),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_hessians_of_products_have_the_products_without_two_entries(name):
    """They were case distinctions by the identity around products of rows that had its ones."""
    f, text = PRODUCTS[name]
    found = sg.formula(f, shapes="x=n", wrt=("x", "x"))
    assert found.latex() == text or (text is None and "cases" not in found.latex())
    for x in (RNG.normal(size=3), np.array([0.5, 0.0, -1.2, 0.0, 2.0])):
        want = sg.func.hessian(f)(sg.tensor(x)).numpy()
        for read, printed in ((from_latex, found.latex()), (from_unicode, found.unicode())):
            made = evaluate(read(printed, found.symbols, shape=found.term.shape), {"x": x})
            np.testing.assert_allclose(made, want, rtol=1e-10, atol=1e-12)


RUNNING = r"\operatorname{triu}\left(\left[\prod_{k \le j, k \ne i} x_{k}\right]_{i j}\right)"
RUNNING_PRODUCTS = {
    "Jacobian": (sg.func.jacobian(lambda x: sg.cumprod(x, 0)), None, RUNNING + r"^{\top}"),
    "gradient": (lambda x: sg.cumprod(x, 0).sum(), "x", RUNNING + r" \mathbf{1}_{n}"),
    "of others": (lambda x: (sg.cumprod(sg.exp(x) - 1, 0) ** 2).sum(), "x", None),
}


@pytest.mark.parametrize("name", RUNNING_PRODUCTS)
def test_derivatives_of_running_products(name):
    """They had case distinctions by divisibility and by the identity."""
    f, wrt, text = RUNNING_PRODUCTS[name]
    found = sg.formula(f, (4,), wrt=wrt)
    assert found.latex() == text or (text is None and "cases" not in found.latex())
    for x in (RNG.normal(size=3), np.array([0.5, 0.0, -1.2, 0.0, 2.0])):
        want = (sg.func.grad(f) if wrt else f)(sg.tensor(x)).numpy()
        for read, printed in ((from_latex, found.latex()), (from_unicode, found.unicode())):
            made = evaluate(read(printed, found.symbols, shape=found.term.shape), {"x": x}, {"n": len(x)})
            np.testing.assert_allclose(made, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x, a, A: (a @ x) / sg.linalg.norm(x) ** 3, r"x x^{\top} - I\right) - x a^{\top} - a x^{\top}\right)"),
        (lambda x, a, A: (a @ x) * x.sum() ** 2, r"\mathbf{1} a^{\top} + a \mathbf{1}^{\top}\right)"),
        (lambda x, a, A: sg.exp(-((x - a) ** 2).sum() / 2), r"\left(x - a\right) \left(x - a\right)^{\top}"),
        (lambda x, a, A: sg.log(x @ A @ x) * (a @ x), r"a t_{1}^{\top}"),
    ],
)
def test_both_sides_of_a_hessian_are_alike(function, text):
    A, x, a = (sg.tensor(np.ones(s), name=n, requires_grad=True) for n, s in (("A", (3, 3)), ("x", 3), ("a", 3)))
    (slope,) = sg.autograd.grad(function(x, a, A), [x], create_graph=True)
    assert text in sg.autograd.jacobian(slope, x).latex()


def call_price(S, K, r, v, T):
    d = (sg.log(S / K) + (r + v**2 / 2) * T) / (v * sg.sqrt(T))
    return S * sg.special.ndtr(d) - K * sg.exp(-r * T) * sg.special.ndtr(d - v * sg.sqrt(T))


@pytest.mark.parametrize("by", ["SSS", "SSSS"])
def test_higher_orders_are_derived_from_short_formulas(by):
    """The fourth derivative of an option's price had 30 named parts; each order goes on from the formula before."""
    given = dict(zip("SKrvT", (1.0, 1.1, 0.1, 0.2, 0.5), strict=True))
    found = sg.formula(call_price, *given.values(), wrt=tuple(by))
    text = found.latex()
    assert "aligned" not in text
    np.testing.assert_allclose(evaluate(from_latex(text, found.symbols), given), found.evaluate(**given), rtol=1e-9)

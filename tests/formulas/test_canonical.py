"""The canonical form: textbook results, their values, and values of random expressions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.trace import trace
from symgrad.formula.canonical.chains import identity
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.printing.latex import latex
from symgrad.formula.term import Term, count, evaluate, number, symbol
from symgrad.op import lookup
from tests.formulas.roundtrip import sizes_of
from tests.formulas.terms import (
    A,
    W,
    X,
    Y,
    Z,
    arrays,
    b,
    check,
    grad,
    lam,
    m,
    mean,
    n,
    op,
    p,
    q,
    s,
    same_value,
    text,
    total,
    w,
    x,
    y,
)

# ---------------------------------------------------------------------------------------------- regression


def test_least_squares() -> None:
    check(grad(total((X @ w - y) ** 2), w), "(2 * (X' @ ((X @ w) - y)))")
    check(grad(total((y - X @ w) ** 2), w), "(2 * (X' @ ((X @ w) - y)))")
    check(grad(mean((X @ w - y) ** 2), w), "((2 / n) * (X' @ ((X @ w) - y)))")
    half = grad(total((X @ w - y) ** 2) / 2, w)
    check(half, "(X' @ ((X @ w) - y))")
    check(grad(0.5 * total((X @ w - y) ** 2), w), "(X' @ ((X @ w) - y))")
    check(jacobian(half, w), "(X' @ X)")


def test_norm_of_a_residual_and_its_square() -> None:
    size = op("norm")(X @ w - y, p=2, dim=(0,), keepdim=False)
    check(grad(size, w), "ratio((X' @ ((X @ w) - y)), norm(((X @ w) - y)))")
    check(grad(size**2, w), "(2 * (X' @ ((X @ w) - y)))")
    check(grad(op("norm")(x, p=2, dim=(0,), keepdim=False), x), "ratio(x, norm(x))")


def test_logistic_regression() -> None:
    loss = total(op("softplus")(X @ w) - y * (X @ w)) + lam / 2 * (w @ w)
    g = grad(loss, w)
    check(g, "((X' @ (sigmoid((X @ w)) - y)) + (lam * w))")
    sigma = "sigmoid((X @ w))"
    check(jacobian(g, w), f"(((X' @ diag(({sigma} * (1 - {sigma})))) @ X) + (lam * eye(m)))")
    check(grad(total(op("softplus")(-(y * (X @ w)))), w), "-(X' @ (y * sigmoid(-(y * (X @ w)))))")


def test_softmax_cross_entropy() -> None:
    loss = -total(Y * op("log_softmax")(X @ W, dim=1))
    check(grad(loss, W), "(X' @ ((diag(sum(Y, (1,))) @ softmax((X @ W), 1)) - Y))")
    loss = total(op("logsumexp")(X @ W, dim=(1,), keepdim=False)) - total(Y * (X @ W))
    check(grad(loss, W), "(X' @ (softmax((X @ W), 1) - Y))")


def test_two_layer_network() -> None:
    W1, W2, T = symbol("W1", (m, p)), symbol("W2", (p, q)), symbol("T", (n, q))
    g1, g2 = grad(total((op("tanh")(X @ W1) @ W2 - T) ** 2) / 2, W1, W2)
    hidden = "tanh((X @ W1))"
    check(g1, f"(X' @ (((({hidden} @ W2) - T) @ W2') * (1 - ({hidden} ** 2))))")
    check(g2, f"({hidden}' @ (({hidden} @ W2) - T))")


def test_two_layer_network_with_biases() -> None:
    W1, W2, T = symbol("W1", (m, p)), symbol("W2", (p, q)), symbol("T", (n, q))
    b1, b2 = symbol("b1", (p,)), symbol("b2", (q,))
    loss = total((op("tanh")(X @ W1 + b1) @ W2 + b2 - T) ** 2) / 2
    hidden = "tanh(((X @ W1) + outer(ones(n), b1)))"
    rest = f"((({hidden} @ W2) + outer(ones(n), b2)) - T)"
    inner = f"(({rest} @ W2') * (1 - ({hidden} ** 2)))"
    expected = [f"(X' @ {inner})", f"({hidden}' @ {rest})", f"sum({inner}, (0,))", f"sum({rest}, (0,))"]
    for found, want in zip(grad(loss, W1, W2, b1, b2), expected, strict=True):
        check(found, want)


# ---------------------------------------------------------------------------------------------- matrix calculus


def test_quadratic_form() -> None:
    f = x @ (A @ x)
    check(f, "(x @ (A @ x))")
    check(grad(f, x), "((A + A') @ x)")
    check(jacobian(grad(f, x), x), "(A + A')")
    check(grad(f + b @ x, x), "(((A + A') @ x) + b)")
    S = symbol("S", (n, n), structure="symmetric")
    check(grad(x @ (S @ x), x), "(2 * (S @ x))")


def test_traces() -> None:
    B, C = symbol("B", (p, n)), symbol("C", (m, p))
    check(grad(op("trace")(B @ X @ C), X), "(B' @ C')")
    check(op("trace")(X.T @ A @ X), "trace(((X' @ A) @ X))")
    check(grad(op("trace")(X.T @ A @ X), X), "((A + A') @ X)")
    check(grad(op("trace")(Z @ Z), Z), "(2 * Z')")


def test_determinants_and_inverses() -> None:
    check(grad(op("logdet")(Z @ Z.T), Z), "(2 * inv(Z)')")
    check(grad(op("logabsdet")(Z), Z), "inv(Z)'")
    check(grad(op("det")(Z), Z), "(det(Z) * inv(Z)')")
    check(op("adjugate")(Z), "(det(Z) * inv(Z))")
    check(op("inv")(A) @ A @ x, "x")
    check(op("inv")(A @ Z), "inv((A @ Z))")
    check(op("solve")(A, x), "(inv(A) @ x)")
    check(op("inv")(op("inv")(A).T), "A'")
    check(op("trace")(op("inv")(A) @ A), "n")
    check(grad(x @ (op("inv")(Z) @ y), Z), "-outer((inv(Z)' @ x), (inv(Z) @ y))")


def test_softmax_and_its_jacobian() -> None:
    f = op("logsumexp")(x, dim=(0,), keepdim=False)
    g = grad(f, x)
    check(g, "softmax(x, 0)")
    check(jacobian(g, x), "(diag(softmax(x, 0)) - outer(softmax(x, 0), softmax(x, 0)))")
    check(op("log")(total(op("exp")(x))), "logsumexp(x)")
    check(jacobian(grad(op("log")(total(op("exp")(x))), x), x), text(canonical(jacobian(g, x))))


def test_elementwise_network() -> None:
    check(grad(total(op("tanh")(w * symbol("v", (m,)))), w), "(v * (1 - (tanh((w * v)) ** 2)))")


def test_jacobians_have_output_axes_first() -> None:
    B = symbol("B", (m, n))
    check(jacobian(B @ op("exp")(x), x), "(B @ diag(exp(x)))")
    found = jacobian(op("outer")(x, x), x)
    assert found.shape == (n, n, n)
    same_value(found, canonical(found))
    found = jacobian(op("where")(op("gt")(x, 0), op("sin")(x), x**3), x)
    same_value(found, canonical(found))


@pytest.mark.parametrize(
    ("output", "target"),
    [
        (op("where")(op("gt")(x, 0), op("sin")(x), x**3), x),
        (op("outer")(x, op("exp")(x)), x),
        (op("softmax")(A @ x, dim=0), x),
        (op("cumsum")(x * x, dim=0), x),
        (op("solve")(A, x * x), x),
        (op("reshape")(op("tanh")(X), shape=("n*m",)), X),
        (op("cat")(x * x, y, dim=0), x),
        (op("norm")(X, p=2, dim=(1,), keepdim=False), X),
        (op("inv")(A), A),
        (x[1:] * x[:-1], x),
    ],
    ids=map(str, range(10)),
)
def test_jacobian_is_the_gradient_of_every_entry(output: Term, target: Term) -> None:
    found = jacobian(output, target)
    assert found.shape == output.shape + target.shape
    values, sizes = arrays([output], 3)
    sizes["n-1"] = sizes["n"] - 1
    got, shape = evaluate(found, values, sizes), np.shape(evaluate(output, values, sizes))
    c = symbol("c", output.shape)
    (pulled,) = gradient(output, [target], c)
    for index in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[index] = 1
        np.testing.assert_allclose(got[index], evaluate(pulled, {**values, "c": unit}, sizes), atol=1e-12)
    np.testing.assert_allclose(evaluate(canonical(found), values, sizes), got, rtol=1e-8, atol=1e-10)


# ---------------------------------------------------------------------------------------------- small algebra


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: s * s * s, "(s ** 3)"),
        (lambda: s / s * 3, "3"),
        (lambda: 2 * s * s * s + s**2 * s, "(3 * (s ** 3))"),
        (lambda: s * lam + lam * s, "((2 * s) * lam)"),
        (lambda: A @ x + A.T @ x, "((A + A') @ x)"),
        (lambda: x * x, "(x ** 2)"),
        (lambda: x - x, "zeros(n)"),
        (lambda: A @ x + b + A.T @ (A @ x + b), "((A + eye(n))' @ ((A @ x) + b))"),
        (lambda: x + b + s * (x + b), "((s + 1) * (x + b))"),
        (lambda: (A @ x / 2**0.5) ** 2, "(1/2 * ((A @ x) ** 2))"),
        (lambda: op("exp")(x) / (1 + op("exp")(x)), "sigmoid(x)"),
        (lambda: 1 / (1 + op("exp")(-x)), "sigmoid(x)"),
        (lambda: op("log")(1 + op("exp")(x)), "softplus(x)"),
        (lambda: op("exp")(x) / total(op("exp")(x)), "softmax(x, 0)"),
        (lambda: op("exp")(op("log_softmax")(x, dim=0)), "softmax(x, 0)"),
        (lambda: op("log")(op("softmax")(x, dim=0)), "log_softmax(x, 0)"),
        (lambda: 1 - op("tanh")(x) * op("tanh")(x), "(1 - (tanh(x) ** 2))"),
        (lambda: op("sigmoid")(x) * op("sigmoid")(-x), "(sigmoid(x) * (1 - sigmoid(x)))"),
        (lambda: op("sinh")(x) / op("cosh")(x), "tanh(x)"),
        (lambda: op("sin")(-x), "-sin(x)"),
        (lambda: total(x), "sum(x)"),
        (lambda: total(x * y), "(x @ y)"),
        (lambda: total(x * 0 + 1), "n"),
    ],
    ids=map(str, range(20)),
)
def test_small_identities(make: Any, expected: str) -> None:
    t = make()
    found = canonical(t)
    same_value(t, found)
    assert text(found) == expected


def test_numbers_are_kept_as_typed() -> None:
    assert canonical(number(0.1) * s).args[0].number == 0.1
    assert canonical(number(0.5) * s).args[1].number == 2
    assert canonical(s * Fraction(1, 3)).args[1].number == 3
    assert canonical(number(1e-5) + s).args[0].number == 1e-5


def test_masks_are_numbers_in_sums_and_products() -> None:
    mask = op("gt")(A, 0) * 1.0
    for t in (mask + mask.T, -mask, mask @ mask, op("softmax")(mask, dim=0), total(mask * mask.T), op("exp")(mask)):
        same_value(t, canonical(t))


def test_what_where_leaves_out_stays_out() -> None:
    t = op("where")(op("gt")(x, 0), 3 * op("log")(x) * y, 0)
    found = evaluate(canonical(t), {"x": np.array([-1.0, np.e]), "y": np.array([np.nan, 2.0])})
    np.testing.assert_allclose(found, [0, 6])


def test_dialect_has_equal_shapes_in_elementwise_ops() -> None:
    t = grad(total(op("exp")(X @ W + symbol("c", (p,))) * Y), W)
    from symgrad.formula.term import postorder

    for node in postorder([canonical(t)]):
        if node.op.kind == "elementwise":
            assert len({a.shape for a in node.args if a.shape}) <= 1
        if node.op.name == "matmul":
            assert (node.args[0].ndim, node.args[1].ndim) in ((2, 2), (2, 1), (1, 1))


# ---------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize("kind", ["chain", "sum", "product", "residual"])
def test_ten_thousand_ops_stay_linear(kind: str) -> None:
    t: Any = x
    steps = {"chain": 5000, "sum": 10000, "product": 3000, "residual": 1500}[kind]
    for k in range(steps):
        if kind == "chain":
            t = op("sin")(t) * x
        elif kind == "sum":
            t = t + symbol(f"c{k}", (n,))
        elif kind == "product":
            t = t * op("cos")(t)
        else:
            t = t + op("tanh")(A @ t + b)
    assert count(canonical(t)) < 40 * count(t)


def test_forms_with_deltas_keep_their_values():
    """A factor on the diagonal of an array of order three, and functions of diagonal matrices."""
    w, A, eye = symbol("w", ("n",)), symbol("A", ("n", "n")), identity("n")
    cube = sg.einsum("i,jk->ijk", w, eye) + sg.einsum("k,ij->ijk", w, eye)
    values = {"w": np.array([0.3, -0.5, 1.2]), "A": np.arange(1.0, 10.0).reshape(3, 3)}
    for term in (
        4 * sg.einsum("ijj->ij", cube) * (w * w) + 2 * sg.outer(w, w * w),
        sg.exp(sg.log(A) * eye),
        sg.log(1 + sg.exp(A) * eye),
        sg.exp(sg.log_softmax(A, 1) * eye),
        -1 * (w @ w > 0) * sg.exp(A),
    ):
        np.testing.assert_allclose(evaluate(canonical(term), values), evaluate(term, values))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: grad(total(sg.relu(x) ** 2), x), "(2 * relu(x))"),
        (lambda: grad(total(sg.abs(x) ** 3), x), "(3 * (x * abs(x)))"),
    ],
)
def test_masks_and_signs(made: Any, expected: str) -> None:
    assert text(canonical(made())) == expected


# ---------------------------------------------------------------------------------------------- shape of the results


def test_common_factors_leave_no_array_of_more_axes() -> None:
    # (A x) ⊙ (B x): taking x out of both terms would leave an array with three axes.
    A, B, x = symbol("A", ("m", "n")), symbol("B", ("m", "n")), symbol("x", ("n",))
    found = canonical(jacobian((A @ x) * (B @ x), x))
    assert text(found) in ("((diag((B @ x)) @ A) + (diag((A @ x)) @ B))", "((diag((A @ x)) @ B) + (diag((B @ x)) @ A))")


def test_a_scalar_is_common_as_a_whole() -> None:
    A, B, x = symbol("A", ("n", "n")), symbol("B", ("n", "n")), symbol("x", ("n",))
    found = canonical(gradient((x @ (A @ x)) / (x @ (B @ x)), [x])[0])
    assert "outer" not in text(found)


def test_brackets_open_where_that_is_shorter() -> None:
    A, x = symbol("A", ("n", "n")), symbol("x", ("n",))
    quartic = (x @ (A @ x)) ** 2
    found = text(canonical(jacobian(gradient(quartic, [x])[0], x)))
    assert found.count("(A + A')") == 3
    assert "eye" not in found


def test_powers_that_rewrites_make_are_gathered() -> None:
    # sinh/cosh is tanh, which meets a tanh that is there already.
    x = symbol("x", ())
    third = op("log")(op("cosh")(x))
    for _ in range(3):
        (third,) = gradient(third, [x])
    value = evaluate(canonical(third), {"x": 0.7}, {})
    t = np.tanh(0.7)
    assert np.isclose(value, -2 * t * (1 - t**2))


def test_a_diagonal_is_taken_before_its_reciprocal() -> None:
    # (1/L) ⊙ I would be 0 · ∞ at the zeros of a triangular matrix.
    L = symbol("L", ("n", "n"))
    entries = lookup("diagonal")(L, offset=0, dim1=0, dim2=1)
    found = canonical(gradient(total(op("log")(entries)), [L])[0])
    value = evaluate(found, {"L": np.array([[2.0, 0.0], [1.0, 4.0]])}, {"n": 2})
    np.testing.assert_array_equal(value, np.diag([0.5, 0.25]))


def test_an_inverse_meets_the_factors_of_its_matrix() -> None:
    X, y = symbol("X", ("m", "n")), symbol("y", ("m",))
    hat = X @ (lookup("inv")(X.T @ X) @ (X.T @ y))
    (found,) = gradient(total((y - hat) ** 2), [y])
    assert text(canonical(found)).count("inv") == 1


@pytest.mark.parametrize(("p", "power"), [(2, 1), (3, 2), (4, 3)])
def test_roots_of_sums_of_powers_are_norms(p: int, power: int) -> None:
    x = symbol("x", ("n",))
    size = x**2 if p == 2 else op("abs")(x) ** p
    found = canonical(total(size) ** Fraction(power, p))
    norm = found.args[0] if power > 1 else found
    assert (norm.op.name, norm.params["p"]) == ("norm", p)


def test_denominators_inside_of_denominators_are_cleared() -> None:
    x, P, nu = symbol("x", ("n",)), symbol("P", ("n", "n")), symbol("nu", ())
    (found,) = gradient(op("log")(1 + x @ (P @ x) / nu), [x])
    assert text(canonical(found)) == "(((P + P') @ x) / (nu + (x @ (P @ x))))"


def test_a_scalar_is_common_to_matrices_and_the_identity() -> None:
    x, q = symbol("x", ("n",)), symbol("q", ())
    found = canonical(jacobian(gradient(q / lookup("norm")(x, p=2, dim=(0,), keepdim=False), [x])[0], x))
    assert (text(found).count("norm"), text(found).count("q")) == (2, 1)


def test_scalars_below_one_fraction_bar_cancel_one_by_one() -> None:
    a, b, A, B = symbol("a", ("n",)), symbol("b", ("m",)), symbol("A", ("n", "n")), symbol("B", ("m", "m"))
    left, right = a @ (A @ a), b @ (B @ b)
    assert text(canonical(right / (left * right))) == "(1 / (a @ (A @ a)))"


def test_reshaped_twice_is_reshaped_once() -> None:
    X = symbol("X", ("n", "m"))
    flat = lookup("reshape")(X, shape=("n*m",))
    assert canonical(lookup("reshape")(2 * flat, shape=("n", "m"))) is canonical(2 * X)


def test_powers_of_symbols_have_slopes_without_conditions() -> None:
    x, y = symbol("x", ()), symbol("y", ())
    assert text(canonical(gradient(x**y, [x])[0])) == "(y * (x ** (y - 1)))"
    assert "log" in text(canonical(gradient(x**x, [x])[0]))
    assert "eq" not in text(canonical(gradient(x**x, [x])[0]))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: (1 / (x**2 + 0.25)).sum(), r"-\frac{2 x}{\left(x^{\odot 2} + \frac{1}{4}\right)^{\odot 2}}"),
        (lambda x: ((x + 0.5) ** 3).sum(), r"3 \left(x + \frac{1}{2}\right)^{\odot 2}"),
        (lambda x: ((2 * x + 1) ** 3).sum(), r"6 \left(2 x + 1\right)^{\odot 2}"),
    ],
)
def test_sums_keep_the_numbers_of_the_program(function, text):
    assert sg.latex(function, (3,), wrt="x") == text


@pytest.mark.parametrize("seed", [650, 739, 897])
def test_diagonals_and_deltas_keep_their_values(seed):
    """A diagonal is no function of diagonals, and deltas over different axes are not one pattern."""
    from tests.formulas.generator import Generator
    from tests.formulas.roundtrip import problems

    made, term = Generator(seed).derivative()
    with np.errstate(all="ignore"):
        assert not [p for p in problems(made, term, seed) if p.startswith("canonical")]


@pytest.mark.parametrize("seed", [537, 1013, 1645])
def test_canonical_forms_stay_without_the_memory_of_the_run_that_found_them(seed):
    from tests.formulas.generator import Generator
    from tests.formulas.roundtrip import problems

    made, term = Generator(seed).derivative()
    with np.errstate(all="ignore"):
        assert not problems(made, term, seed)


def test_joins_of_single_entries_keep_their_axis():
    x = sg.tensor([3.0, 1.0, 2.0], name="x", requires_grad=True)
    assert str(sg.cat([sg.stack([x[0]]), x]).expr) == "cat(stack(x[0], dim=0), x, dim=0)"
    doubled = sg.formula(sg.cat([x[0:1] * 2, x])).term
    assert evaluate(canonical(doubled), {"x": x.detach().numpy()}).tolist() == [6.0, 3.0, 1.0, 2.0]


OF_ONE_ENTRY = {
    "exponentials": lambda s: sg.linalg.matrix_exp(s @ sg.linalg.matrix_exp(s)),
    "powers": lambda s: sg.linalg.matrix_power(s, 3),
    "pseudoinverses": sg.linalg.pinv,
    "systems": lambda s: sg.linalg.solve(s + sg.eye(len(s), dtype=s.dtype), s.mT),
    "softmax": lambda s: sg.softmax(s, 1),
    "the largest": lambda s: s.max(0).values,
    "traces": lambda s: sg.trace(s) * s,
}


@pytest.mark.parametrize("derivative", [sg.func.grad, sg.func.hessian], ids=["grad", "hessian"])
@pytest.mark.parametrize("name", OF_ONE_ENTRY)
def test_matrices_of_one_entry_have_formulas(name, derivative):
    """A delta along axes of size 1 is none, and a matrix function of one number takes a matrix: both had no formula."""
    for shape in ((2, 1), (1, 2), (1, 1)):
        given = np.arange(1.0, 1 + max(shape)).reshape(shape)
        f = derivative(lambda v: sg.sin(OF_ONE_ENTRY[name](v.mT @ v * 0.1 + 0.5)).sum())
        term = trace(f, (given,)).outputs[0].term
        with np.errstate(all="ignore"):
            wanted = evaluate(term, {"v": given})
            # A constant, as the gradient of softmax of one entry is, has no v that tells its size.
            found = evaluate(canonical(term), {"v": given}, sizes_of(term, np.asarray(wanted)))
        np.testing.assert_allclose(np.broadcast_to(found, wanted.shape), wanted, rtol=1e-8, atol=1e-10)


def test_products_entry_by_entry_are_not_transposed_as_a_whole():
    """Aᵀ ⊙ X was (A ⊙ Xᵀ)ᵀ."""
    A, X, B = (symbol(name, ("n", "n")) for name in "AXB")
    for term, printed in (
        (A.T * X, r"A^{\top} \odot X"),
        ((A * X.T).T @ B, r"\left(A^{\top} \odot X\right) B"),
        (2 * X * A.T, r"2 X \odot A^{\top}"),
        (X * A.T * B, r"A^{\top} \odot X \odot B"),
    ):
        assert latex(term) == printed
        values = {name: np.random.default_rng(k).normal(size=(3, 3)) for k, name in enumerate("AXB")}
        np.testing.assert_allclose(evaluate(canonical(term), values), evaluate(term, values), rtol=1e-12)


def test_the_root_of_a_square_is_the_base_where_that_is_never_negative():
    """√‖x‖² stayed in formulas of one example, as of layer normalisation."""
    x = symbol("x", ("n",))
    norm = lookup("norm")(x, p=2, dim=(0,), keepdim=False)
    for base, printed in ((norm, r"\lVert x \rVert"), (lookup("exp")(x), "e^{x}"), (x, r"\sqrt{x^{\odot 2}}")):
        assert latex(lookup("sqrt")(base**2)) == printed


def test_the_root_of_a_square_is_not_the_base_of_complex_numbers():
    """√(eᶻ)² was eᶻ, of which it is the negative where the imaginary part of z is 2."""
    z = symbol("z", ("n",), np.dtype(complex))
    at = {"z": np.array([0.3 + 2j, -1 + 3j])}
    for name in ("exp", "cosh", "sigmoid"):
        for power in (Fraction(1, 2), Fraction(3, 2)):
            term = (lookup(name)(z) ** 2) ** power
            np.testing.assert_allclose(evaluate(canonical(term), at), evaluate(term, at), rtol=1e-12)
    assert latex(lookup("sqrt")(lookup("abs")(z) ** 2)) == r"\left|z\right|"

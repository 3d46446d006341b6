"""The text of compiled programs: no detours, and no names that hide one another."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AutogradError, CompileError, ShapeError
from symgrad.ops.shapes.sizes import size_value


def test_sums_keep_axes_only_where_they_are_used():
    theta, x = np.array([0.3, 0.2]), np.linspace(0, 1, 5)
    f = sg.func.grad(lambda theta, x: (-theta[0] * x[:, None] * x[None, :]).exp().sum())
    program = sg.compile(f, theta, x)
    assert "squeeze" not in program.source
    np.testing.assert_allclose(program(theta, x), f(sg.tensor(theta), sg.tensor(x)).numpy(), rtol=1e-14)

    h = sg.func.hessian(lambda w, x: (sg.softmax(x @ w, 1) ** 2).sum())
    w, rows = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 1, 12).reshape(4, 3)
    program = sg.compile(h, w, rows)
    assert program.source.replace("_delta(np.broadcast_to(", "").count("broadcast_to") == 0  # no sum is spread out
    assert "expand_dims" not in program.source
    np.testing.assert_allclose(program(w, rows), h(sg.tensor(w), sg.tensor(rows)).numpy(), rtol=1e-13)


def test_powers_of_two_among_the_factors_are_one_number():
    a = np.linspace(0.5, 2, 12).reshape(4, 3)
    f = sg.func.grad(lambda a, b: ((a @ b) ** 2).sum() / 2)
    assert "1 / 2" not in sg.compile(f, a, a.T.copy()).source
    np.testing.assert_array_equal(sg.compile(f, a, a.T.copy())(a, a.T), (a @ a.T) @ a)


def test_functions_and_arguments_may_be_called_like_helpers(tmp_path):
    def softmax(x):
        return sg.softmax(x, -1)

    def x(x):
        return 2 * x

    rows = np.array([0.3, 0.4])
    cases = {
        "softmax_": (softmax, softmax),
        "erf_": (sg.erf, sg.erf),
        "x_": (x, x),
        "program": (lambda softmax: sg.softmax(softmax, -1), softmax),
        "grad_program": (sg.func.grad(lambda put: put[0] ** 2), sg.func.grad(lambda x: x[0] ** 2)),
    }
    for name, (f, same) in cases.items():
        program = sg.compile(f, rows).program
        assert program.name == name
        np.testing.assert_allclose(program(rows), same(sg.tensor(rows)), rtol=1e-15)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(program))(rows), program(rows))
        program.save(tmp_path / f"{name}.py")
        done = subprocess.run([sys.executable, "-I", tmp_path / f"{name}.py", "--selftest"], capture_output=True)
        assert done.returncode == 0, done.stdout


def test_the_error_of_sizes_says_why_they_are_one_letter():
    program = sg.compile(lambda a, b: (a**2).sum() + (b**2).sum(), np.ones(3), np.ones(3)).program
    with pytest.raises(ShapeError, match="equal when it is compiled are one letter"):
        program(np.ones(3), np.ones(4))
    program = sg.compile(lambda a, b: (a**2).sum() + (b**2).sum(), np.ones(3), np.ones(2)).program
    assert program(np.ones(4), np.ones(4)) == 8


def test_a_broadcast_on_a_diagonal():
    """Joined to one contraction, it broadcasts the axes before the diagonal repeats them."""

    def function(x):
        return sg.diag_embed(x[:, None].expand(5, 8).mT)

    x = np.linspace(-1, 1, 5)
    program = sg.compile(function, x)
    assert "np.broadcast_to(x, (8, 5))" in program.source
    np.testing.assert_array_equal(program(x), function(sg.tensor(x)).numpy())


# ---------------------------------------------------------------------------- what is read once


def body(f, *args):
    """What a program returns, where it is one expression."""
    return sg.compile(f, *args).program.source.split("return ")[-1].strip()


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (lambda x, c: 2 * (c * x / 2).sum(), (np.ones(3), 0.5), "(c * x).sum()"),
        (lambda x, y: -2 * (x / 4 * y), (np.ones(3), np.ones(3)), "-(x / 2 * y)"),
        (lambda x, y: 2 * x - (2 * (x / 4 + y / 2)).sum(), (np.ones(3), 2.0), "2 * x - (x / 2 + y).sum()"),
        (lambda x, A: x * (2 * A), (np.ones(3), np.ones((2, 3))), "2 * x * A"),
        (lambda x: (8 * x).sum(), (np.ones(3),), "8 * x.sum()"),
        (lambda x: 2 * (0.1 * x), (np.ones(3),), "0.2 * x"),
        (lambda A, B: (A.T @ B).T, (np.ones((3, 2)), np.ones((3, 4))), "B.T @ A"),
        (lambda x: sg.exp(x)[:, None].squeeze(1)[None], (np.ones(3),), "np.exp(x)[None]"),
        (lambda A, x: A * sg.ones(4, 1, dtype=sg.float64) * x, (np.ones((4, 3)), np.ones(3)), "A * x"),
    ],
)
def test_powers_of_two_and_transposes_meet(f, args, text):
    found = body(f, *args)
    assert found == text
    got = sg.compile(f, *args)(*args)
    np.testing.assert_array_equal(got, f(*(sg.tensor(a) for a in args)).numpy())


def test_what_is_read_twice_is_computed_once():
    source = sg.compile(
        lambda x, y: (2 * sg.exp(x / 2 * y), (x / 2 * y).sum(), 2 * (x / 2 * y)), *np.ones((2, 3))
    ).source
    assert source.count("* y") == 1


def test_triangles_are_inverted_as_such():
    K = np.eye(130) + 0.1
    found = sg.compile(sg.func.grad(lambda K: sg.log(sg.diagonal(sg.linalg.cholesky(K))).sum()), K)
    assert "inv_lower(" in found.source
    assert "def solve" not in found.source
    np.testing.assert_allclose(found(K), np.linalg.inv(K) / 2, atol=1e-12)


def _likelihood(K, y):
    L = sg.linalg.cholesky(K)
    return 0.5 * (y @ sg.cholesky_solve(y[:, None], L)[:, 0]) + sg.log(sg.diagonal(L)).sum()


def _whitened(K, y):
    z = sg.linalg.solve_triangular(sg.linalg.cholesky(K), 3 * y[:, None], upper=False)
    return (z**3).sum() + (sg.linalg.solve_triangular(sg.linalg.cholesky(K), y[:, None], upper=False) ** 2).sum()


def _weighted(K, y):
    L = sg.linalg.cholesky(K)
    return sg.triu(sg.linalg.inv(K) * sg.outer(y, y)).sum() + (sg.cholesky_solve(2 * sg.diag(y), L) ** 2).sum()


@pytest.mark.parametrize(("f", "systems"), [(_likelihood, 2), (_whitened, 3), (_weighted, 4)])
def test_gradients_through_factors_solve_no_system_twice(f, systems):
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((7, 7)), rng.standard_normal(7)
    K = A @ A.T + np.eye(7)
    gradient = sg.func.grad(f, argnums=(0, 1))
    compiled = sg.compile(gradient, K, y)
    for ours, wanted in zip(compiled(K, y), gradient(sg.tensor(K), sg.tensor(y)), strict=True):
        np.testing.assert_allclose(ours, wanted.numpy(), rtol=1e-9, atol=1e-9)
    text = compiled.source[compiled.source.index("def grad") :]
    assert text.count("solve_triangular(") == systems
    hessian = sg.compile(sg.func.hessian(f, argnums=1), K, y)
    np.testing.assert_allclose(
        hessian(K, y), sg.func.hessian(f, argnums=1)(sg.tensor(K), sg.tensor(y)).numpy(), atol=1e-9
    )


def test_numbers_do_not_keep_sums_from_being_products():
    f = sg.func.grad(lambda c, A, B: (A * (-0.5 * sg.exp(c) * B)).sum())
    source = sg.compile(f, np.float64(0.3), np.ones((3, 4)), np.ones((3, 4))).source
    assert "A.ravel() @ B.ravel()" in source


def test_a_distribution_of_scalars_is_not_spread_out_first():
    f = sg.func.grad(lambda s, x: (sg.exp(s) * (x[:, None] - s) ** 2).sum(1).mean())
    source = sg.compile(f, np.ones(3), np.ones(5)).source
    assert "broadcast_to" not in source


# ---------------------------------------------------------------------------- corners


@pytest.mark.parametrize("change", ["t_", "squeeze_", "unsqueeze_", "transpose_"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_arguments_keep_their_shapes(change, dtype):
    places = {"unsqueeze_": (0,), "transpose_": (0, 1)}.get(change, ())
    with pytest.raises((CompileError, AutogradError), match=r"changes an argument in place|leaf Variable"):
        sg.compile(lambda x: getattr(x, change)(*places), np.zeros((2, 1), dtype))
    copied = sg.compile(lambda x: getattr(x.clone(), change)(*places), np.zeros((2, 1), dtype))
    assert copied(np.ones((2, 1), dtype)).shape == getattr(sg.zeros(2, 1), change)(*places).shape


@pytest.mark.parametrize("kinds", [("f4", "?"), ("?", "f8"), ("f8", "f4"), ("f4", "f8"), ("f4", "i4")])
def test_functions_of_several_steps_compute_in_the_common_dtype(kinds):
    p, t = np.array([0.2, 1.0, 0.7]).astype(kinds[0]), np.array([1, 0, 1]).astype(kinds[1])
    for f in (lambda p, t: sg.nn.functional.binary_cross_entropy(p, t, reduction="none"), sg.xlogy, sg.special.xlog1py):
        with np.errstate(all="ignore"):
            want = f(sg.tensor(p), sg.tensor(t)).numpy()
            got = sg.compile(f, p, t)(p, t)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-14)


def test_weights_may_be_truth_values():
    x, w = np.ones((2, 3)), np.array([[True, False, True]])
    f = sg.nn.functional.linear
    np.testing.assert_array_equal(sg.compile(f, x, w)(x, w), [[2.0], [2.0]])
    np.testing.assert_array_equal(sg.func.grad(lambda x: f(x, w).sum())(x).numpy(), w * np.ones((2, 1)))


def test_the_gradient_of_heaviside_has_the_dtype_of_its_leaf():
    x = np.array([-1, 0, 2], np.float32)
    f = sg.func.grad(lambda x, y: sg.heaviside(x, y).sum(), argnums=(0, 1))
    for got, want in zip((*f(x, x), *sg.compile(f, x, x)(x, x)), [0, [0, 1, 0]] * 2, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_array_equal(np.asarray(got), np.broadcast_to(want, 3))


def test_digits_far_out_are_no_reason_for_further_exponentials():
    p, t, y = np.array([1.0, 0.5, 0.2]), np.linspace(0, 3, 7), np.linspace(1, 0, 7)

    def fit(p, t, y):
        return ((p[0] * sg.exp(-p[1] * t) + p[2] - y) ** 2).sum()

    program = sg.compile(sg.func.value_and_grad(fit), p, t, y).program
    assert program.source.count("np.exp") == 1
    assert "np.where" not in program.source
    for stiff in (1.0, 300.0, -300.0):  # e^300 squared is an ordinary number of float64
        at = np.array([1.0, stiff / 3, 0.2])
        want = sg.func.grad(fit)(sg.tensor(at), sg.tensor(t), sg.tensor(y))
        np.testing.assert_allclose(program(at, t, y)[1], want, rtol=1e-13)


def test_activations_among_powers_stay_what_they_are():
    def loss(x, scale, gain):
        return (gain * sg.tanh(x / sg.sqrt(scale + 1e-5))).sum()

    x, scale, gain = np.linspace(-2, 2, 5), np.linspace(0.5, 1, 5), np.linspace(1, 2, 5)
    source = sg.compile(sg.func.grad(loss, argnums=(0, 2)), x, scale, gain).program.source
    assert source.count("np.tanh") == 1
    assert "np.exp" not in source


def written(f, *args, argnums=0):
    """The lines of a gradient's program; its values are compared with those of an eager call."""
    eager = sg.func.grad(f, argnums=argnums)
    program = sg.compile(eager, *args)
    found = program(*args)
    np.testing.assert_allclose(found, eager(*map(sg.tensor, args)).numpy(), rtol=1e-14, atol=1e-16)
    return program.program.source


def test_masks_are_choices_and_choices_that_meet_are_one():
    x, y = np.array([0.5, -2.0, 0.25, 3.0]), np.array([0.25, -1.5, 2.0, 0.0])
    assert "np.where(np.maximum(x, 0) != 0, t1, 0)" in written(lambda x: sg.relu(x).mean(), x)

    def huber(x, y):
        r = x - y
        return sg.where(r.abs() < 1, 0.5 * r * r, r.abs() - 0.5).sum()

    source = written(huber, x, y)
    assert source.count("np.where") == 2  # one of sign, which is 0 of nan
    assert "masked" not in source


def test_sums_are_the_same_whichever_operand_comes_first():
    x, w = np.linspace(0.5, 1, 4), np.linspace(-1, 1, 4)
    source = written(lambda x, w: (sg.tanh(x + w) * sg.atan(w + x)).sum(), x, w)
    assert source.count("x + w") + source.count("w + x") == 1


def test_what_is_flipped_twice_is_not_flipped():
    x = np.linspace(0, 1, 5)
    assert "np.flip" not in written(lambda x: (sg.flip(sg.cumsum(sg.flip(x, (0,)), 0), (0,)) * 2.0).sum(), x)


def test_ranges_begin_without_a_sum():
    x = np.linspace(0, 1, 6)
    source = sg.compile(sg.func.grad(lambda x: (sg.cat([x[:1], x[1:] ** 2]) * x).sum()), x).program.source
    assert "0:0 +" not in source


def test_turned_products_are_products_of_turned_operands():
    V, X, y = np.ones((2, 3)), np.linspace(0, 1, 15).reshape(5, 3), np.ones((5, 2))
    source = written(lambda V, X, y: ((X @ V.T - y) ** 2).sum(), V, X, y)
    assert "(2 * (X @ V.T - y)).T @ X" in source
    assert "copy" not in source


def test_slopes_use_the_functions_of_the_value():
    """A spelling that has digits where variables cancel, or where the value overflows, had functions of its own."""

    def surface(u):
        a, b, c, d = u[:-1, :-1], u[1:, :-1], u[:-1, 1:], u[1:, 1:]
        x, y = (b + d - a - c) / 2, (c + d - a - b) / 2
        return sg.sqrt(1 + x * x + y * y).sum()

    def hazard(z, w):
        return (w * sg.log(sg.cumsum(sg.exp(z), 0))).sum() - (w * z).sum()

    rng = np.random.default_rng(0)
    for f, args, name in ((surface, (rng.random((4, 4)),), "sqrt"), (hazard, tuple(rng.random((2, 5))), "exp")):
        both = sg.func.value_and_grad(f)
        program = sg.compile(both, *args)
        assert program.program.source.count(f"np.{name}(") == 1
        for got, want in zip(program(*args), both(*map(sg.tensor, args)), strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-13)


CONTRACTED = {
    "row by row": (lambda p, X, y: (((X * p[0]) * (X - p[1])).sum(1) * y).sum(), 'np.einsum("ab,ab->a", '),
    "all entries": (lambda p, X, y: p[0] * (X * X).sum() + p[1] * y.sum(), ".ravel() @ "),
    "a vector beside columns": (lambda p, X, y: p[0] * ((X * y[:, None]).sum(0) ** 2).sum() + p[1], "X.T @ y"),
    "scalars": (lambda p, X, y: (p[0] * sg.exp(-p[1] * y)).sum(), " @ y"),
}


@pytest.mark.parametrize("name", CONTRACTED)
def test_sums_of_products_in_gradients_are_contractions(name):
    f, text = CONTRACTED[name]
    p, X, y = np.array([0.7, 0.3]), np.random.default_rng(0).standard_normal((4, 3)), np.arange(1.0, 5)
    wrt = (0, 2)
    program = sg.compile(sg.func.value_and_grad(f, argnums=wrt), p, X, y)
    assert text in program.program.source
    for rows in (4, 1, 0):
        args = p, X[:rows], y[:rows]
        leaves = [sg.tensor(a, requires_grad=True) for a in args]
        loss = f(*leaves)
        loss.backward()
        value, slopes = program(*args)
        np.testing.assert_allclose(value, loss.item(), rtol=1e-14)
        for k, slope in zip(wrt, slopes, strict=True):
            np.testing.assert_allclose(slope, leaves[k].grad.numpy(), rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore")  # of 0 / 0
def test_a_contraction_is_not_multiplied_by_what_is_infinite_without_entries():
    def f(w, x):
        return (w * (x * x)).sum() / x.shape[0] + (w * x).mean()

    program = sg.compile(sg.func.grad(f), 2.0, np.ones(3))
    for n in (3, 0):
        w, x = sg.tensor(2.0, requires_grad=True, dtype=np.float64), np.ones(n)
        f(w, sg.tensor(x)).backward()
        np.testing.assert_equal(program(2.0, x), w.grad.numpy())


def test_values_and_single_precision_are_added_in_their_own_order():
    x = np.random.default_rng(0).standard_normal(1001)
    assert sg.compile(lambda x: (x * x).sum(), x)(x) == sg.tensor(x * x).sum().item()
    single = sg.compile(sg.func.grad(lambda a, x: (a * x * x).sum()), np.float32(1), x.astype(np.float32))
    assert "@" not in single.program.source


def test_text_is_as_short_as_numpy_allows():
    def f(x, y):
        ends = sg.cat([sg.flip(x, 0), sg.flip(y, 0)]), sg.ones(3, dtype=sg.float64)
        return *ends, sg.diagonal(x[:, None] * x), sg.eye(3, dtype=sg.float64), sg.flip(x[:, None] * y, 1)

    x, y = np.arange(3.0), np.arange(4.0)
    program = sg.compile(f, x, y)
    assert program.program.source.endswith(
        "    return np.concatenate((x[::-1], y[::-1]), 0), np.ones(3), np.diagonal(t1 * x), np.eye(3), "
        "(t1 * y)[:, ::-1]\n"
    )
    for a, b in zip(program(x, y), f(sg.tensor(x), sg.tensor(y)), strict=True):
        np.testing.assert_array_equal(a, b.numpy())


@pytest.mark.parametrize("sizes", [(2, 3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0), (1, 1, 1)])
@pytest.mark.parametrize("places", [((0, 1), (0, 1)), ((0, 1), (1, 0)), ((1, 2), (0, 2)), ((0, 2), (2, 1))])
def test_sums_over_several_axes_are_one_matrix_product(sizes, places):
    """Eager and compiled calls have one text, also where there is nothing to add."""
    x, y = np.random.default_rng(3).standard_normal((2, 7, 7, 7))
    x = x[tuple(slice(n) for n in sizes)]
    shape = [5, 5, 5]
    for k, place in zip(*places, strict=True):
        shape[place] = sizes[k]
    y = y[tuple(slice(n) for n in shape)]

    def f(x, y):
        return sg.tensordot(x, y, places)

    wanted = np.tensordot(x, y, places)
    np.testing.assert_allclose(f(sg.tensor(x), sg.tensor(y)), wanted, rtol=1e-13, atol=1e-14)
    program = sg.compile(f, x, y)
    np.testing.assert_array_equal(program(x, y), f(sg.tensor(x), sg.tensor(y)))


def test_a_half_that_others_read_is_not_doubled():
    """The slope of x * x / 2 was 2 * (x / 2), as the half was a value of its own."""
    f = sg.compile(sg.func.value_and_grad(lambda x, y: (0.5 * (x - y) * (x - y)).sum()), np.ones(3), np.zeros(3))
    assert "2 *" not in f.source
    np.testing.assert_array_equal(f(np.array([3.0, 1.0, 0.0]), np.zeros(3))[1], [3, 1, 0])


def test_the_loss_of_a_logistic_regression_and_its_slope_share_an_exponential():
    """The slope had 1/(1 + e^|z|) beside the loss's e^-|z|, and so two exponentials."""

    def loss(z):
        return (sg.log1p(sg.exp(-sg.abs(z))) + sg.relu(z)).sum()

    z = np.array([-800.0, -2.0, 0.0, 0.5, 40.0, 800.0])
    both = sg.compile(sg.func.value_and_grad(loss), z)
    assert both.source.count("np.exp(") == 1
    value, slope = both(z)
    expected = sg.func.grad(loss)(z).numpy()
    np.testing.assert_allclose(value, loss(sg.tensor(z)).item(), rtol=1e-14)
    np.testing.assert_allclose(slope, expected, rtol=1e-14)


def _gaussian(K, y):
    L = sg.linalg.cholesky(K)
    a = sg.linalg.solve_triangular(L, y[:, None], upper=False)[:, 0]
    return (a * a).sum() / 2 + sg.log(sg.diagonal(L)).sum()


def test_the_gradient_of_a_gaussian_likelihood_solves_one_system():
    """Lᵀ times the solution of the system of Lᵀ was computed, of which the gradient takes the triangle."""
    slope = sg.func.value_and_grad(_gaussian, argnums=(0, 1))
    A = np.random.default_rng(0).normal(size=(5, 5))
    K, y = A @ A.T + np.eye(5), np.arange(5.0)
    program = sg.compile(sg.func.value_and_grad(_gaussian), K, y)
    text = program.source[program.source.index("def value_and_grad") :]
    assert text.count("solve_triangular(") == 1
    assert "put(" not in text
    for function in (slope, sg.func.hessian(_gaussian, argnums=1)):
        got, want = sg.compile(function, K, y)(K, y), function(sg.tensor(K), sg.tensor(y))
        for a, b in zip(*(sg.tape.containers.flatten(v)[0] for v in (got, want)), strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda L: (
            (L * L).sum() + sg.linalg.solve_triangular(L, sg.ones(4, 2, dtype=sg.float64), upper=False).sin().sum()
        ),
        lambda L: (sg.linalg.solve_triangular(L.T, L, upper=True) ** 2).sum() - L.sum() ** 2,
        lambda L: sg.cholesky_inverse(L).sum() + sg.diagonal(L, -1).sum() + sg.tril(L, -1).exp().sum(),
        lambda L: sg.cholesky_solve(L.sin(), L).sum() - (3 * sg.diagonal(L)).prod(),
    ],
    ids=["square", "system of the transpose", "inverse", "solution"],
)
def test_gradients_through_factors_that_are_read_otherwise(function):
    slope = sg.func.grad(lambda K: function(sg.linalg.cholesky(K)))
    A = np.random.default_rng(1).normal(size=(4, 4))
    K = A @ A.T + np.eye(4)
    np.testing.assert_allclose(sg.compile(slope, K)(K), slope(sg.tensor(K)).numpy(), rtol=1e-9, atol=1e-11)


def test_a_norm_over_features_is_divided_by_as_it_was_written():
    """The root of a negative number is nan, and its square is not: that was taken for lost digits."""

    def normalised(X):
        d = X - X.mean(1, keepdim=True)
        return sg.tanh(d / sg.sqrt((d**2).mean(1, keepdim=True) + 1e-5)).sum()

    X = np.random.default_rng(2).normal(size=(4, 3))
    both = sg.compile(sg.func.value_and_grad(normalised), X)
    assert "where(" not in both.source
    assert both.source.count("np.tanh(") == 1
    np.testing.assert_allclose(both(X)[1], sg.func.grad(normalised)(sg.tensor(X)).numpy(), rtol=1e-9, atol=1e-12)


def test_windows_side_by_side_go_back_to_their_places():
    from symgrad.kernels.arrays.index import windows, windows_sum

    for shape, dim in (((2, 3, 4, 2), 1), ((3, 4, 5, 3), 0), ((2, 0, 2), 0), ((3, 2, 1), 1)):
        g = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        step, size = shape[-1], shape[dim] * shape[-1]
        out = windows_sum(g, dim, step, 1, size)
        assert out.dtype == g.dtype
        assert not np.shares_memory(out, g)
        np.testing.assert_array_equal(windows(out, dim, step, step, 1), g)


def _of(decompose, read):
    return lambda A: read(*decompose(A))


DECOMPOSED = {
    "svd": (_of(lambda A: sg.linalg.svd(A, full_matrices=False), lambda u, s, v: (s * (u @ v) ** 2).sum()), "svd("),
    "eigh": (_of(sg.linalg.eigh, lambda w, v: (w**3).sum() + (v**4).sum()), "np.linalg.eigh("),
    "qr": (_of(sg.linalg.qr, lambda q, r: (q**3).sum() + (r**2).sum()), "np.linalg.qr("),
    "eig": (_of(sg.linalg.eig, lambda w, v: abs(w).sum() + (abs(v) ** 4).sum()), "eig("),
    "slogdet": (_of(sg.linalg.slogdet, lambda s, v: s * v), "np.linalg.slogdet("),
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_the_parts_of_a_decomposition_come_from_one_call(name, tmp_path):
    value, call = DECOMPOSED[name]
    f = sg.func.value_and_grad(value)
    A = np.random.default_rng(1).normal(size=(4, 4)) + 4 * np.eye(4)
    program = sg.compile(f, A + A.T, name="parts").program
    lines = [line for line in program.source.splitlines() if "= np.linalg." in line or "return np.linalg." in line]
    lines = [line for line in lines if "inv" not in line]
    assert call in program.source
    assert len([line for line in lines if "solve" not in line]) == 1
    for found, wanted in zip(program(A), f(A), strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-9, atol=1e-12)
    program.save(tmp_path / "parts.py")
    subprocess.run([sys.executable, "-I", str(tmp_path / "parts.py"), "--selftest"], check=True, capture_output=True)


def test_windows_that_two_products_read_are_gathered_once():
    def value(X, W):
        return (sg.nn.functional.conv2d(X, W) ** 2).sum()

    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(2, 3, 8, 9)), rng.normal(size=(4, 3, 2, 5))
    for argnums in (1, (0, 1)):
        f = sg.func.grad(value, argnums=argnums)
        program = sg.compile(f, X, W).program
        assert program.source.count("ascontiguousarray") == 1
        found, wanted = program(X, W), f(X, W)
        for a, b in zip(found, wanted, strict=True) if argnums != 1 else ((found, wanted),):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-10)
    assert "ascontiguousarray" not in sg.compile(value, X, W).program.source


def test_softmax_regression_is_written_as_its_formula():
    """The weight 1/n of each example is a number beside them, and not an array."""
    W, X, y = np.ones((20, 5)), np.ones((200, 20)), np.arange(200) % 5
    slope = sg.compile(sg.func.grad(lambda W, X, y: sg.nn.functional.cross_entropy(X @ W, y)), W, X, y)
    assert "X.T @ ((softmax(X @ W, dim=1) - one_hot(y, classes=p, dtype='float64')) / n)" in slope.source


def test_sizes_below_nothing_are_none():
    """A size is tried that leaves nothing of an axis that was cut twice."""
    assert size_value("len(range(n-5)[::2])", {"n": 2}) == 0


def contrastive(A, B):
    a, b = (x / sg.norm(x, dim=1, keepdim=True) for x in (A, B))
    return -sg.diagonal(sg.log_softmax(a @ b.T / 0.5, 1)).mean()


def transported(C, a, b):
    f = sg.zeros_like(a)
    for _ in range(2):
        g = -sg.logsumexp(f[:, None] - C, 0)
        f = -sg.logsumexp(g[None] - C, 1)
    return f @ a + g @ b


def test_logarithms_of_probabilities_need_no_care():
    """They are never positive: e^u was written for both signs of u, and the rows of a diagonal were summed."""
    g = np.random.default_rng(0)
    args = g.normal(size=(6, 4)), g.normal(size=(6, 4))
    slope = sg.func.grad(contrastive, argnums=(0, 1))
    compiled = sg.compile(slope, *args)
    text = compiled.source.partition("def grad_contrastive")[2]
    assert "softmax(t3 @ t5.T / 0.5, dim=1) * t1" in text
    assert not any(word in text for word in ("log_softmax", "exp", "where", ".sum(", "[None]"))
    for size in (6, 9):
        args = g.normal(size=(size, 4)), g.normal(size=(size, 4))
        for got, want in zip(compiled.program(*args), slope(*args), strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-11, atol=1e-15)


def test_two_signs_meet_where_only_axes_stood_between():
    g = np.random.default_rng(0)
    args = g.random((5, 5)), g.random(5), g.random(5)
    slope = sg.func.grad(transported)
    compiled = sg.compile(slope, *args)
    assert "-(-" not in compiled.source
    np.testing.assert_allclose(compiled(*args), slope(*args).numpy(), rtol=1e-12)


@pytest.mark.parametrize("keepdim", [False, True])
def test_sums_of_rows_of_a_diagonal_are_the_diagonal(keepdim):
    def f(v, X):
        D = sg.diag(v)
        return D * X, sg.sum(D, 1, keepdim=keepdim), sg.sum(D, 0, keepdim=keepdim)

    v, X = np.array([1.0, -2.0, np.inf]), np.arange(9.0).reshape(3, 3)
    compiled = sg.compile(f, v, X)
    assert ".sum(" not in compiled.source
    for got, want in zip(compiled(v, X), f(sg.tensor(v), sg.tensor(X)), strict=True):
        np.testing.assert_array_equal(got, want.numpy())


def test_a_choice_by_what_always_holds_is_none():
    def huber(w, X, y):
        r = y - X @ w
        return sg.where(sg.abs(r) <= 1, 0.5 * r**2, sg.abs(r) - 0.5).sum()

    rng = np.random.default_rng(5)
    args = rng.normal(size=3), rng.normal(size=(6, 3)), rng.normal(size=6)
    program = sg.compile(sg.func.grad(huber), *args)
    assert "logical_not" not in program.source
    np.testing.assert_allclose(program(*args), sg.func.grad(huber)(*args).numpy(), rtol=1e-12)


def test_a_mask_in_products_of_matrices_is_made_of_numbers_once():
    """NumPy would turn the truth values into numbers at every product, and torch multiplies none."""

    def partial_likelihood(beta, X, t):
        at_risk = t[None, :] >= t[:, None]
        return -(X @ beta - sg.log(at_risk @ sg.exp(X @ beta))).sum()

    rng = np.random.default_rng(5)
    args = rng.normal(size=3), rng.normal(size=(6, 3)), rng.random(6)
    program = sg.compile(sg.func.grad(partial_likelihood), *args)
    assert program.source.count("astype") == 1
    np.testing.assert_allclose(program(*args), sg.func.grad(partial_likelihood)(*args).numpy(), rtol=1e-12)

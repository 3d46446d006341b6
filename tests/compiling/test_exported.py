"""What leaves the library as a program or file: it holds where it says so, and refuses the rest in clear words."""

import functools
import importlib.util
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import build
from symgrad.compiler.trace import trace
from symgrad.errors import ArgumentError, FormulaError, ShapeError
from tests.compiling.of_engineers import gaussian

F = sg.nn.functional
rng = np.random.default_rng(0)


def saved(program, path):
    """The module that a saved file is, after its self-test."""
    program.save(path)
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module._selftest() == 0
    return module


# ---------------------------------------------------------------------------- sizes


def rows(x):
    return sum(k * x[k] ** 2 for k in range(x.shape[0]))


def halves(x):
    half = x.shape[0] // 2
    return (x[:half] * x[half:]).sum()


FIXED = {
    "a loop": rows,
    "remainders": lambda x: x[: x.shape[0] % 4].prod(0).sum(),
    "no simple rule": lambda x: (x * x).sum() * math.sin(len(x)),
    "a condition that C asks": lambda x: (x * x).sum() * (2 if math.sqrt(len(x)) > 3 else 3),
}


@pytest.mark.parametrize("how", FIXED)
def test_a_size_made_a_number_is_no_letter_of_the_program(how, tmp_path):
    x = rng.random(6)
    f = sg.compile(sg.func.grad(FIXED[how]), x)
    assert "(6,)" in f.source
    np.testing.assert_allclose(f.program(x), sg.func.grad(FIXED[how])(x).numpy())
    with pytest.raises(ShapeError, match=r"x of shape \(8,\) has size 8 in axis 0, but was compiled for size 6"):
        f.program(rng.random(8))
    module = saved(f, tmp_path / "f.py")
    with pytest.raises(ValueError, match=r"x has size 8 in axis 0, but x must have shape \(6,\)"):
        next(v for k, v in vars(module).items() if k.startswith("grad_"))(rng.random(8))


SLICED = {
    "differences": lambda x: ((x[1:] - x[:-1]) ** 2).mean(),
    "inner points": lambda x: (x[1:-1] ** 3).mean(),
    "second differences": lambda x: ((0.1 * x[1:-1] - (x[2:] - 2 * x[1:-1] + x[:-2])) ** 2).mean(),
    "beside others": lambda x: x.sum() ** 2 - x[2:].mean() / x[:-1].var(),
}


@pytest.mark.parametrize("how", SLICED)
def test_the_size_of_a_slice_divides_as_a_whole(how, tmp_path):
    f = SLICED[how]
    g = sg.compile(sg.func.grad(f), rng.random(6))
    module = saved(g, tmp_path / "g.py")
    formula = sg.formula(f, rng.random(6), wrt="x")
    for n in (6, 9):
        x = rng.random(n)
        expected = sg.func.grad(f)(x).numpy()
        np.testing.assert_allclose(g.program(x), expected, rtol=1e-9)
        np.testing.assert_allclose(getattr(module, g.program.name)(x), expected, rtol=1e-9)
        np.testing.assert_allclose(formula.evaluate(x=x), expected, rtol=1e-9)


def joined(W, x, h):
    return (W @ sg.cat([x, h])).pow(2).sum()


def test_a_size_that_a_later_argument_tells_is_tested_by_the_file(tmp_path):
    W, x, h = rng.random((2, 7)), rng.random(3), rng.random(4)
    f = sg.compile(sg.func.grad(joined), W, x, h)
    program, function = f.program, getattr(saved(f, tmp_path / "f.py"), f.program.name)
    for args in ((W, x, h), (W[:, :5], x, h[:2])):
        np.testing.assert_allclose(function(*args), sg.func.grad(joined)(*args).numpy())
    with pytest.raises(ShapeError, match="W has size 6 in axis 1, where n\\+m = 7"):
        program(W[:, :6], x, h)
    with pytest.raises(ValueError, match="W must have size n\\+m in axis 1"):
        function(W[:, :6], x, h)
    with pytest.raises(FormulaError, match="W of shape .2, 6. has size 6 in axis 1"):
        sg.formula(joined, W, x, h).evaluate(W=W[:, :6], x=x, h=h)


def test_slices_of_both_axes_leave_both_open(tmp_path):
    u = rng.random((5, 6))
    g = sg.func.grad(lambda u: (u[1:, :-1] * u[:-1, 1:]).sum())
    f = sg.compile(g, u)
    function = getattr(saved(f, tmp_path / "f.py"), f.program.name)
    for shape in ((5, 6), (7, 4)):
        u = rng.random(shape)
        np.testing.assert_allclose(f.program(u), g(u).numpy())
        np.testing.assert_allclose(function(u), g(u).numpy())


def pairs(x):
    i, j = sg.triu_indices(x.shape[0], x.shape[0], 1)
    return (x[i] * x[j] ** 2).sum()


def test_places_that_grow_with_an_argument_fix_its_size(tmp_path):
    """No argument tells how many pairs there are, so nothing would refuse those of another size."""
    x = rng.random(4)
    f = sg.compile(sg.func.grad(pairs), x)
    np.testing.assert_allclose(f.program(x), sg.func.grad(pairs)(x).numpy())
    with pytest.raises(ShapeError, match="has size 6 in axis 0, but was compiled for size 4"):
        f.program(rng.random(6))
    with pytest.raises(ValueError, match="has size 6 in axis 0"):
        getattr(saved(f, tmp_path / "f.py"), f.program.name)(rng.random(6))


def test_a_gradient_that_only_counts_is_floating(tmp_path):
    def hinge(X, y):
        return F.relu(X - X[sg.arange(X.shape[0]), y][:, None] + 1).sum()

    X, y = rng.standard_normal((5, 4)), np.array([0, 1, 3, 2, 1])
    g = sg.compile(sg.func.grad(hinge), X, y)
    assert g(X, y).dtype == getattr(saved(g, tmp_path / "g.py"), g.program.name)(X, y).dtype == np.float64
    assert g(X.astype("f"), y).dtype == np.float32


def test_a_share_that_is_chosen_has_the_dtype_of_the_argument(tmp_path):
    x = rng.standard_normal(6).astype(np.float32)
    g = sg.compile(sg.func.grad(lambda x: F.hardtanh(x).mean()), x)
    assert g(x).dtype == getattr(saved(g, tmp_path / "g.py"), g.program.name)(x).dtype == np.float32
    np.testing.assert_allclose(g(x), sg.func.grad(lambda x: F.hardtanh(x).mean())(x).numpy())


def test_what_wraps_a_transform_is_not_the_transform():
    """functools.wraps copies the attributes of a function."""
    g = sg.func.grad(lambda w, x: sg.sin(w * x).sum(), 1)

    @functools.wraps(g)
    def twice(w, x):
        return 2 * g(w, x)

    w, x = rng.random(3), rng.random(3)
    np.testing.assert_allclose(sg.compile(twice, w, x)(w, x), twice(w, x).numpy())
    rows = sg.func.vmap(sg.func.grad(lambda w, x: sg.sin(w @ x) ** 2), in_dims=(None, 0))
    X = rng.random((5, 3))
    np.testing.assert_allclose(sg.compile(rows, w, X)(w, X), rows(w, X).numpy())


def test_a_program_is_the_same_text_every_time():
    """Operands of one weight are told apart by where they stand."""
    x = rng.standard_normal((4, 3))
    f = sg.func.value_and_grad(lambda x: sg.tanh(sg.sin(x) * x).sum())
    assert len({build(trace(f, (x,)), direct=True).source for _ in range(6)}) == 1


def test_files_tell_formulas_that_somebody_reads(tmp_path):
    def steps(x, count):
        for _ in range(count):
            x = x + 0.1 * sg.sin(x) * x[0]
        return x.sum()

    for count, told in ((2, "sin"), (40, "% not printed: it has ")):
        path = tmp_path / f"steps{count}.py"
        sg.compile(lambda x, count=count: steps(x, count), rng.random(3), name="f").save(path)
        assert told in path.read_text()


def test_half_of_an_array_has_a_formula():
    x = sg.tensor(rng.random(4), requires_grad=True, name="x")
    halves(x).backward()
    assert "x_{[2:]}" in x.grad.latex()
    np.testing.assert_array_equal(sg.formula(x.grad).evaluate(x=x.detach().numpy()), x.grad.numpy())


def test_formulas_of_functions_know_sizes_made_numbers():
    def f(X, w, y, lam):
        return ((X @ w - y) ** 2).sum() / len(y) + lam * math.sqrt(len(w)) * (w @ w)

    shown = sg.latex(f, (5, 3), (3,), (5,), 0.3, wrt="w")
    assert r"\frac{1}{n} X^{\top}" in shown
    assert r"\sqrt{m}" in shown
    with pytest.raises(ArgumentError, match=r"f\(\) takes 4 arguments \(X, w, y, lam\), but 5 were given"):
        sg.latex(f, (5, 3), (3,), (5,), 0.3, 1.0)


def test_scaled_attention_keeps_the_size_of_its_scale():
    shown = sg.latex(F.scaled_dot_product_attention, (5, 3), (6, 3), (6, 2))
    assert r"\frac{1}{\sqrt{m}}" in shown


# ---------------------------------------------------------------------------- branches


def two_ways(x):
    return (x * x).sum() if x.sum() > 0 else (-x).sum()


def test_one_program_is_one_way(tmp_path):
    f = sg.compile(sg.func.grad(two_ways), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(f(np.array([-1.0, -2.0, 0.0])), [-1, -1, -1])
    f = sg.compile(sg.func.grad(two_ways), np.array([1.0, 2.0]))
    for program in (f.program, pickle.loads(pickle.dumps(f.program))):
        np.testing.assert_array_equal(program(np.array([1.0, 2.0, 3.0])), [2, 4, 6])
        with pytest.raises(ArgumentError, match=r"holds where 𝟏ᵀ x > 0 is True"):
            program(np.array([-1.0, -2.0, 0.0]))
    module = saved(f, tmp_path / "f.py")
    assert "Holds where 𝟏ᵀ x > 0 is True" in module.__doc__
    np.testing.assert_array_equal(module.grad_two_ways(np.array([1.0, 2.0, 3.0])), [2, 4, 6])
    with pytest.raises(ValueError, match="holds where 𝟏ᵀ x > 0 is True; for these arguments it is False"):
        module.grad_two_ways(np.array([-1.0, -2.0]))


def test_a_mask_used_as_an_index_is_a_way(tmp_path):
    mask = np.array([True, False, True, True])
    f = sg.compile(sg.func.grad(lambda X, mask: (X[mask] ** 2).sum()), np.ones((4, 2)), mask)
    module = saved(f, tmp_path / "f.py")
    grad = getattr(module, f.program.name)
    np.testing.assert_array_equal(grad(np.ones((4, 2)), mask)[:, 0], [2, 0, 2, 2])
    with pytest.raises(ValueError, match="holds where mask is"):
        grad(np.ones((4, 2)), ~mask)


# ---------------------------------------------------------------------------- places are arguments

STEP = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [3.0, 1.0, -2.0], [0.75, 2.5, 1.25], [1.0, -3.0, 0.125]])
PICKING = {
    "x[k]": lambda x, k: (x[k] ** 2).sum(),
    "x[k, k]": lambda x, k: (x[k, k % 3] ** 2).sum(),
    "x[:, k]": lambda x, k: (x.T[:, k] ** 3).sum(),
    "x[k[:, None], k]": lambda x, k: (x @ x.T)[k[:, None], k].exp().sum(),
    "x[k] = y": lambda x, k: ((x * 1).index_put((k,), x[0]) ** 2).sum(),
    "index_put adding": lambda x, k: (x.index_put((k,), x[0], accumulate=True) ** 2).sum(),
    "index_select": lambda x, k: (x.index_select(0, k) ** 2).sum(),
    "take": lambda x, k: (x.take(k) ** 2).sum(),
    "put": lambda x, k: (x.put(k, x[:, 0][: k.shape[0]]) ** 2).sum(),
    "gather": lambda x, k: (x.gather(0, k[:, None].expand(-1, 3)) ** 2).sum(),
    "take_along_dim": lambda x, k: (sg.take_along_dim(x, k[:, None], 0) ** 2).sum(),
    "index_add": lambda x, k: (x.index_add(0, k, x[:4]) ** 2).sum(),
    "index_copy": lambda x, k: (x.index_copy(0, k[:1], x[1:2]) ** 2).sum(),
    "index_fill": lambda x, k: (x.index_fill(0, k, 2.0) ** 2).sum(),
    "index_reduce": lambda x, k: (x.index_reduce(0, k, x[:4], "prod") ** 2).sum(),
    "scatter_add": lambda x, k: (x.scatter_add(0, k[:, None].expand(-1, 3), x[:4]) ** 2).sum(),
    "scatter_reduce": lambda x, k: (x.scatter_reduce(0, k[:, None].expand(-1, 3), x[:4], "mean") ** 2).sum(),
    "embedding": lambda x, k: (F.embedding(k, x) ** 2).sum(),
    "embedding with padding": lambda x, k: (F.embedding(k, x, padding_idx=1) ** 2).sum(),
    "embedding by frequency": lambda x, k: (F.embedding(k, x, scale_grad_by_freq=True) ** 2).sum(),
    "embedding_bag": lambda x, k: (F.embedding_bag(k.reshape(2, 2), x) ** 2).sum(),
    "cross_entropy": lambda x, k: F.cross_entropy(x.T, k[:3]),
    "nll_loss": lambda x, k: F.nll_loss(x.T, k[:3]),
    "multi_margin_loss": lambda x, k: F.multi_margin_loss(x.T, k[:3]),
    "one_hot": lambda x, k: (x.T @ F.one_hot(k, 5).to(x.dtype).T).exp().sum(),
    "argsort": lambda x, k: (x[k][x[k, 0].argsort()] * sg.arange(4)[:, None]).sum(),
}


def overwritten(x, mask):
    y = x * 2
    y[mask] = -1.0
    y[mask[0]] = y.sum()
    return (y**2).sum()


MASKS = {
    "where": lambda x, mask: (sg.where(mask, x, 0) ** 2).sum(),
    "masked_fill": lambda x, mask: (x.masked_fill(mask, 2.0) ** 2).sum(),
    "x[mask] = number": overwritten,
    "masked.mean": lambda x, mask: (sg.masked.mean(x, 1, mask=mask) ** 2).sum(),
    "masked.std": lambda x, mask: sg.masked.std(x, 1, mask=mask).sum(),
    "masked.softmax": lambda x, mask: (sg.masked.softmax(x, 1, mask=mask) * x.detach()).nansum(),
}


@pytest.mark.parametrize("how", MASKS)
def test_a_mask_that_chooses_is_an_argument(how, tmp_path):
    x = STEP[:3] if how == "x[mask] = number" else STEP
    masks = [(rng.random(x.shape) < 0.5) | (np.arange(3) > 0) for _ in range(4)]
    f = sg.compile(sg.func.grad(MASKS[how]), x, masks[0])
    module = saved(f, tmp_path / "f.py")
    for mask in masks:
        want = sg.func.grad(MASKS[how])(x, mask).numpy()
        np.testing.assert_allclose(getattr(module, f.program.name)(x, mask), want, rtol=1e-12)
        np.testing.assert_allclose(f(x, mask), want, rtol=1e-12)
    assert f.traces == 1


def test_labels_that_end_with_a_negative_one_are_an_argument(tmp_path):
    f = sg.compile(sg.func.grad(F.multilabel_margin_loss), STEP, np.array([[1, -1, 0]] * 5))
    module = saved(f, tmp_path / "f.py")
    for labels in ([[0, 2, -1]] * 5, [[2, 1, 0], [1, -1, -1], [0, -1, 2], [-1, 0, 0], [2, 2, -1]]):
        want = sg.func.grad(F.multilabel_margin_loss)(STEP, np.array(labels)).numpy()
        np.testing.assert_allclose(getattr(module, f.program.name)(STEP, np.array(labels)), want, rtol=1e-12)


@pytest.mark.parametrize("how", PICKING)
def test_an_index_array_is_an_argument(how, tmp_path):
    f = sg.compile(sg.func.grad(PICKING[how]), STEP, np.array([1, 1, 4, 0]))
    module = saved(f, tmp_path / "f.py")
    for k in ([1, 1, 4, 0], [0, 3, 2, 2], [4, 4, 4, 4]):
        want = sg.func.grad(PICKING[how])(STEP, np.array(k)).numpy()
        np.testing.assert_allclose(getattr(module, f.program.name)(STEP, np.array(k)), want, rtol=1e-12)
        np.testing.assert_allclose(f(STEP, np.array(k)), want, rtol=1e-12)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(f.program))(STEP, np.array(k)), want, rtol=1e-12)
    assert f.traces == 1
    with pytest.raises((IndexError, ValueError), match="out of bounds|holds where"):
        getattr(module, f.program.name)(STEP, np.array([99, 1, 99, 2]))


SECOND = {
    "x[k]": lambda x, k: x[k].exp().sum(),
    "x[:, k]": lambda x, k: x.T[:, k].exp().sum(),
    "x[k, :, k]": lambda x, k: x[:, None, :3].expand(5, 2, 3)[k, :, k % 3].exp().sum(),
    "gather": lambda x, k: x.gather(0, k[:, None].expand(-1, 3)).exp().sum(),
    "cross_entropy": lambda x, k: F.cross_entropy(x.T, k[:3]),
}


@pytest.mark.parametrize("how", SECOND)
def test_second_derivatives_take_places_too(how, tmp_path):
    f = sg.compile(sg.func.hessian(SECOND[how]), STEP, np.array([1, 1, 4, 0]))
    module = saved(f, tmp_path / "f.py")
    k, v = np.array([3, 0, 2, 2]), rng.normal(size=STEP.shape)
    found = np.tensordot(getattr(module, f.program.name)(STEP, k), v, 2)
    ends = [sg.func.grad(SECOND[how])(STEP + h * v, k).numpy() for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-5, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sg.func.hessian(SECOND[how])(STEP, k).numpy(), getattr(module, f.program.name)(STEP, k))


def test_places_count_from_the_end_where_they_do_eagerly(tmp_path):
    module = saved(sg.compile(sg.func.grad(PICKING["x[k]"]), STEP, np.array([1, 1, 4, 0])), tmp_path / "f.py")
    (grad,) = (v for k, v in vars(module).items() if k.startswith("grad"))
    np.testing.assert_array_equal(grad(STEP, np.array([-1, 0, -5]))[:, 0], [4 * STEP[0, 0], 0, 0, 0, 2 * STEP[4, 0]])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 5"):
        grad(STEP, np.array([9]))
    with pytest.raises(ValueError, match="k must have shape"):
        grad(STEP, np.array([[1]]))
    with pytest.raises(TypeError, match="k has dtype float64, which does not go into int64"):
        grad(STEP, np.array([1.0]))
    module = saved(sg.compile(sg.func.grad(PICKING["embedding"]), STEP, np.array([1, 1, 4, 0])), tmp_path / "f.py")
    (grad,) = (v for k, v in vars(module).items() if k.startswith("grad"))
    with pytest.raises(
        ValueError, match=r"holds where any\(.*k < 0 ∨ k ≥ m.*\) is False; for these arguments it is True"
    ):
        grad(STEP, np.array([-1]))


def class_loss(W, X, t):
    return F.cross_entropy(X @ W, t)


def test_labels_are_data_and_no_way(tmp_path):
    f = sg.compile(sg.func.grad(class_loss))
    weighted = sg.compile(sg.func.grad(lambda W, X, t, w: F.cross_entropy(X @ W, t, w, label_smoothing=0.1)))
    for _ in range(20):
        args = rng.random((4, 3)), rng.random((5, 4)), rng.integers(0, 3, 5)
        np.testing.assert_allclose(f(*args), sg.func.grad(class_loss)(*args).numpy(), rtol=1e-12)
        weighted(*args, np.array([1.0, 2.0, 0.5]))
    assert f.traces == weighted.traces == 1
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        f(*args[:2], np.full(5, 3))
    args = rng.random((3, 2)), rng.random((6, 3)), rng.integers(0, 2, 6)
    module = saved(f, tmp_path / "f.py")
    np.testing.assert_allclose(module.grad_class_loss(*args), sg.func.grad(class_loss)(*args).numpy(), rtol=1e-12)


# ---------------------------------------------------------------------------- files


@pytest.mark.parametrize("name", ["step", "found", "value", "array", "rng"])
def test_a_program_may_have_the_name_of_a_variable_of_its_file(name, tmp_path):
    f = sg.compile(sg.func.grad(lambda x: (x**3).sum()), np.ones(3), name=name)
    np.testing.assert_array_equal(getattr(saved(f, tmp_path / "f.py"), name)(np.array([1.0, 2.0])), [3, 12])


def least_squares(w, X, y):
    return ((X @ w - y) ** 2).sum()


@pytest.fixture
def module(tmp_path):
    f = sg.compile(sg.func.grad(least_squares), np.ones(2), np.ones((3, 2)), np.ones(3))
    return saved(f, tmp_path / "f.py")


def test_file_takes_what_the_program_takes(module):
    found = module.grad_least_squares([1, 1], [[1, 2], [3, 4]], np.float32([1, 2]))
    np.testing.assert_array_equal(found, [34, 48])
    assert found.dtype == np.float64
    assert "by w: (m,) float64" in module.__doc__
    assert r"2 X^{\top} \left(X w - y\right)" in module.__doc__


WRONG = {
    "sizes": (
        (np.ones(2), np.ones((3, 2)), np.ones(4)),
        ValueError,
        r"y has size 4 in axis 0.*\(n,\), and n is 3 in X",
    ),
    "axes": ((np.ones(2), np.ones((3, 2)), np.ones((3, 1))), ValueError, r"y has shape \(3, 1\) with 2 axes"),
    "dtype": ((np.ones(2), np.ones((3, 2)) * 1j, np.ones(3)), TypeError, "X has dtype complex128"),
    "kind": ((np.ones(2), "X", np.ones(3)), TypeError, "X has dtype <U1"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_file_refuses_what_does_not_fit(module, kind):
    args, error, words = WRONG[kind]
    with pytest.raises(error, match=words):
        module.grad_least_squares(*args)


SYMMETRIC = {
    "eigvalsh": lambda S: (sg.linalg.eigvalsh(S) ** 1.5).sum(),
    "eigh": lambda S: (sg.linalg.eigh(S)[1][:, 0] ** 4).sum(),
    "cholesky": lambda S: gaussian(S, sg.ones(3, dtype=S.dtype)),
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_selftest_of_functions_of_symmetric_matrices(name, tmp_path):
    A = rng.random((3, 3))
    saved(sg.compile(sg.func.grad(SYMMETRIC[name]), A @ A.T + np.eye(3)), tmp_path / "f.py")


def test_selftest_of_what_is_no_derivative_by_design(tmp_path):
    f = sg.compile(sg.func.grad(lambda x: (x.detach() * x).sum()), np.ones(2))
    saved(f, tmp_path / "f.py")


# ---------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_choices_between_numbers_have_the_dtype_of_the_whole(dtype):
    def huber(r):
        return sg.where(sg.abs(r) < 1, 0.5 * r * r, sg.abs(r) - 0.5).sum()

    x = np.array([0.3, -2.0], dtype)
    assert sg.compile(sg.func.grad(huber), x)(x).dtype == dtype


def test_differences_and_numbers_of_numpy_leave_sizes_open():
    def cost(c, x):
        return (np.diff(c, n=2) ** 2).sum() + sg.trapezoid(x) + x.shape[0] / 2 * np.log(2 * np.pi)

    c, x = np.linspace(0, 1, 6) ** 3, np.linspace(0, 2, 9)
    program = sg.compile(cost, c, x).program
    assert [len({*a.shape} & {"n", "m"}) for a in program.arguments] == [1, 1]
    c, x = np.linspace(0, 1, 17) ** 3, np.linspace(0, 2, 4)
    np.testing.assert_allclose(program(c, x), cost(sg.tensor(c), sg.tensor(x)).item(), rtol=1e-14)


def test_numbers_spread_out_have_the_dtype_of_the_trace():
    """A mean's share of the gradient is 1/n everywhere, in single precision, too."""
    x = rng.random((4, 3)).astype(np.float32)
    f = sg.func.grad(lambda x: sg.amin(x, 1).mean() + x.min(1).values.mean() + x.min(0).values.mean())
    found = sg.compile(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize("columns", [1, 2])
def test_second_derivatives_of_batches_of_systems(columns):
    a = rng.random((4, 3, 3)) + 3 * np.eye(3)
    b = rng.random((4, 3, columns))
    f = sg.func.hessian(lambda A, b: (sg.linalg.solve(A, b) ** 2).sum(), argnums=(0, 1))
    for found, expected in zip(sum(sg.compile(f)(a, b), ()), sum(f(a, b), ()), strict=True):
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-12)


def test_the_samples_of_a_self_test_suit_the_function_that_was_differentiated(tmp_path):
    """The second derivative by x reads no entry of u, the function itself eight."""

    def rollout(x, u):
        cost = 0.0
        for k in range(8):
            x = x * x[0] + u[k]
            cost = cost + x @ x
        return cost

    x, u = rng.random(3) * 0.1, rng.random(8)
    f = sg.compile(sg.func.hessian(lambda x, u: (x @ x) * 0.5 + u[7] * x.sum()), x, u)
    saved(f, tmp_path / "f.py")
    saved(sg.compile(sg.func.grad(rollout), x, u), tmp_path / "g.py")


# ---------------------------------------------------------------------------- more sizes that stay letters


def bending(w):
    h = 1 / (w.shape[0] - 1)
    return ((w[2:] - 2 * w[1:-1] + w[:-2]) ** 2).sum() / (h * h * h) + w.sum() * (w.shape[0] / (w.shape[0] - 1))


def jerk(p):
    return (np.diff(p, n=3, axis=0) ** 2).sum() + (p[1:] * p[:-1]).sum()


def filtered(image, kernel):
    padded = F.pad(image, (1, 1, 1, 1))
    return (F.conv2d(padded[None, None], kernel[None, None]) ** 2).sum()


def reprojection(pose, X):
    turned = X + sg.cross(pose[:3].expand(X.shape), X, dim=-1) + pose[3:]
    return (turned[:, :2] / turned[:, 2:]).reshape(-1).pow(2).sum()


OPEN = {
    "numbers made of sizes by several steps": (bending, [(9,)], [(14,)]),
    "differences": (jerk, [(10, 2)], [(17, 3)]),
    "a window beside a padding": (filtered, [(5, 6), (3, 3)], [(9, 8), (3, 3)]),
    "an array of which parts have fixed sizes": (reprojection, [(6,), (7, 3)], [(6,), (10, 3)]),
}


@pytest.mark.parametrize("name", OPEN)
def test_more_sizes_stay_letters(name):
    f, shapes, others = OPEN[name]
    g = sg.func.grad(f)
    program = sg.compile(g, *(rng.random(s) for s in shapes)).program
    args = [rng.random(s) for s in others]
    np.testing.assert_allclose(program(*args), g(*args).numpy(), rtol=1e-9)


# ---------------------------------------------------------------------------- looks that only warn


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals"])
def test_products_with_second_derivatives_of_spectra_are_one_program(name):
    """Whether eigenvalues are too close for their derivative is looked at for a warning, and chooses no way."""
    values = {"eigvalsh": lambda X: sg.linalg.eigvalsh(X.T @ X)[-1], "svdvals": lambda X: sg.linalg.svdvals(X)[0]}

    def product(v, X):
        return sg.func.jvp(sg.func.grad(values[name]), (X,), (v,))[1]

    f = sg.compile(product, rng.random((4, 3)), rng.random((4, 3)))
    for _ in range(3):
        v, X = rng.random((2, 4, 3))
        np.testing.assert_allclose(f(v, X), product(v, X).numpy(), rtol=1e-8)
    assert f.traces == 1


def test_a_size_that_the_program_composes_is_composed_everywhere():
    """The picture has as many rows as windows fit beside each other in its columns."""
    f = sg.func.grad(lambda p, k: (F.conv2d(p[None, None], k[None, None]) ** 2).mean() + p.std())
    args = rng.random((6, 8)), rng.random((3, 3))
    np.testing.assert_allclose(sg.compile(f)(*args), f(*args).numpy(), rtol=1e-10)


def test_endings_that_say_nothing_are_refused(tmp_path):
    program = sg.compile(lambda x: x * 2, np.ones(3))
    with pytest.raises(ArgumentError, match=r"ends in .py, .c, .m or .json"):
        program.save(tmp_path / "f.txt")


def test_paths_where_no_file_can_be_are_told_before_the_program_is_written(tmp_path):
    program = sg.compile(lambda x: x * 2, np.ones(3))
    with pytest.raises(ArgumentError, match="the folder .*nowhere does not exist, so f.py cannot be written there"):
        program.save(tmp_path / "nowhere" / "f.py")
    (tmp_path / "folder.c").mkdir()
    with pytest.raises(ArgumentError, match=r"folder.c is a folder; give the path of a file in it"):
        program.save(tmp_path / "folder.c")
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="file is a file, so f.json cannot be written there"):
        program.save(tmp_path / "file" / "f.json")
    with pytest.raises(ArgumentError, match="cannot be written: File name too long"):
        program.save(tmp_path / f"{'x' * 300}.py")


@pytest.mark.parametrize(("words", "code"), [(["--selftest"], 0), ([], 0), (["--help"], 0), (["selftest"], 2)])
def test_a_word_that_the_file_does_not_know_is_no_success(tmp_path, words, code):
    sg.compile(lambda x: (x * x).sum(), np.ones(3)).program.save(tmp_path / "square.py")
    done = subprocess.run([sys.executable, tmp_path / "square.py", *words], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "--selftest" in done.stdout or words == ["--selftest"]

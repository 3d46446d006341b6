"""``sparse_jacobian`` and ``sparse_hessian``: against the dense ones, their passes, and what they refuse."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, ShapeError
from symgrad.func import hessian, jacrev, sparse_hessian, sparse_jacobian


def chain(x):
    """A discretised equation: every entry with its two neighbours."""
    inside = x[2:] - 2 * x[1:-1] + x[:-2] + sg.exp(x[1:-1])
    return sg.cat([x[:1], inside, x[-1:]])


def energy(x):
    """Rosenbrock's function of many variables."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def same(found, want):
    np.testing.assert_allclose(found.todense().numpy(), want.numpy(), rtol=1e-12, atol=1e-12)
    assert (found.todense().shape, found.todense().dtype) == (want.shape, want.dtype)


X = np.linspace(-1, 1, 12)


def test_tridiagonal_jacobian():
    found = sparse_jacobian(chain)(X)
    same(found, jacrev(chain)(X))
    assert (found.nnz, found.passes, found.shape) == (32, 3, (12, 12))
    assert found.indptr[-1] == found.nnz == len(found.indices) == len(found.data)
    assert "12 x 12 of float64 with 32 entries, from 3 passes" in repr(found)


def test_tridiagonal_hessian():
    found = sparse_hessian(energy)(X)
    same(found, hessian(energy)(X))
    assert (found.nnz, found.passes, found.mode) == (34, 3, "star")


def test_many_rows_go_by_columns():
    """A tall matrix whose columns need fewer passes."""

    def function(x):
        return sg.cat([x * k for k in (1.0, 2.0, 3.0)]) ** 2

    found = sparse_jacobian(function)(X)
    same(found, jacrev(function)(X))
    assert (found.mode, found.passes) == ("columns", 1)
    found = sparse_jacobian(lambda x: x.view(3, 4).sum(0) ** 2)(X)
    assert (found.mode, found.passes) == ("rows", 1)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("full", [1, 3])
def test_arrow_jacobian(full, turned):
    """Full rows and full columns: with either kind alone every entry would take a pass of its own."""
    weights = np.eye(40)
    weights[:full] = weights[:, :full] = 1
    places, x = np.nonzero(weights), np.linspace(0.1, 1, 40)

    def function(x):
        entries = sg.sin(x[places[1]]) * x[places[1]]
        return sg.zeros(40, dtype=x.dtype).index_add(0, sg.tensor(places[0]), entries)[: 30 if turned else 40]

    found = sparse_jacobian(function)(x)
    same(found, jacrev(function)(x))
    assert (found.mode, found.passes) == ("both", 2 * full + 1)


def test_arrow_hessian():
    """One variable that meets all others: two products where a colouring of rows would take as many as there are."""

    def function(x):
        return (x[0] * x[1:] ** 2).sum()

    found = sparse_hessian(function)(X)
    same(found, hessian(function)(X))
    assert found.passes == 2


def test_large():
    """A hundred thousand variables; a dense matrix would have 80 GB."""
    x = np.linspace(0, 1, 100_000)
    found = sparse_jacobian(chain)(x)
    assert found.passes == 3
    np.testing.assert_allclose((found @ np.ones(len(x))).numpy()[1:-1], np.exp(x[1:-1]), rtol=1e-9, atol=1e-9)
    second = sparse_hessian(energy)(x)
    _, want = sg.func.jvp(sg.func.grad(energy), (x,), (np.ones(len(x)),))
    np.testing.assert_allclose((second @ np.ones(len(x))).numpy(), want.numpy(), rtol=1e-9, atol=1e-9)


def test_shapes_and_axes():
    """Rows and columns are entries in row-major order; todense() has the axes of the arrays."""
    x = np.arange(6.0).reshape(2, 3)
    found = sparse_jacobian(lambda x: (x**2).mT)(x)
    assert found.shape == (6, 6)
    same(found, jacrev(lambda x: (x**2).mT)(x))
    scalar = sparse_jacobian(lambda x: x**2)(3.0)
    assert (scalar.shape, scalar.todense().item()) == ((1, 1), 6.0)
    empty = sparse_jacobian(lambda x: x[:0] * 2)(x)
    assert (empty.shape, empty.nnz) == ((0, 6), 0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes(dtype):
    x = sg.tensor(X.astype(dtype))
    found = sparse_jacobian(chain)(x)
    want = jacrev(chain)(x)
    assert found.data.dtype == want.numpy().dtype == dtype
    np.testing.assert_array_equal(found.todense().numpy(), want.numpy())
    assert sparse_jacobian(chain, pattern=found)(x).data.dtype == dtype  # tried at the precision that there is
    second = sparse_hessian(energy, pattern=sparse_hessian(energy)(x))(x)
    np.testing.assert_allclose(second.todense().numpy(), hessian(energy)(x).numpy(), rtol=np.finfo(dtype).eps * 8)


def test_several_arguments_and_outputs():
    """Blocks are nested as those of ``jacobian`` are, and coloured together."""

    def function(x, y):
        return {"a": x * y[:1], "b": y**2}

    y = np.array([2.0, 3.0])
    found = sparse_jacobian(function, argnums=(0, 1))(X, y)
    want = jacrev(function, argnums=(0, 1))(X, y)
    for key in ("a", "b"):
        for k in range(2):
            same(found[key][k], want[key][k])
    assert found["b"][0].nnz == 0

    def scalar(x, y):
        return (x[:2] * y**2).sum()

    found = sparse_hessian(scalar, argnums=(0, 1))(X, y)
    want = hessian(scalar, argnums=(0, 1))(X, y)
    for i in range(2):
        for j in range(2):
            same(found[i][j], want[i][j])


def test_aux_and_other_arguments():
    found, aux = sparse_jacobian(lambda x, k, p: (x * k * p["w"], x.sum()), has_aux=True)(X, 2.0, {"w": np.ones(12)})
    np.testing.assert_array_equal(found.data, 2.0)
    assert abs(aux.item()) < 1e-12


def test_slopes_that_are_zero_or_not_finite_stay_at_their_place():
    found = sparse_jacobian(sg.sqrt)(np.array([0.0, 4.0]))
    assert found.data.tolist() == [np.inf, 0.25]
    assert sparse_jacobian(sg.relu)(np.array([-1.0, 1.0])).data.tolist() == [0, 1]


def test_result_that_does_not_depend_on_the_argument():
    assert sparse_jacobian(lambda x: sg.ones(3, dtype=sg.float64))(X).nnz == 0
    assert sparse_hessian(lambda x: x.sum())(X).nnz == 0


def test_folded_functions():
    """A convolution is one node on the tape, with a band in it."""
    kernel = sg.tensor([[[1.0, -2.0, 1.0]]], dtype=sg.float64)

    def function(x):
        return sg.nn.functional.conv1d(x.view(1, 1, -1), kernel, padding=1).view(-1) * x

    found = sparse_jacobian(function)(X)
    same(found, jacrev(function)(X))
    assert (found.nnz, found.passes) == (34, 3)


# ---------------------------------------------------------------------------------------------- the matrix


def test_products_and_other_forms():
    found = sparse_jacobian(chain)(X)
    whole = found.todense().numpy()
    v = np.random.default_rng(0).normal(size=(12, 2))
    np.testing.assert_allclose((found @ v).numpy(), whole @ v)
    np.testing.assert_allclose((found @ sg.tensor(v[:, 0])).numpy(), whole @ v[:, 0])
    np.testing.assert_array_equal(found.T.todense().numpy(), whole.T)
    np.testing.assert_array_equal(found.tosparse().to_dense().numpy(), whole)
    np.testing.assert_array_equal(found.diagonal().numpy(), np.diag(whole))
    with pytest.raises(ShapeError, match=r"\(12, 12\) times an array of shape \(3,\)"):
        found @ np.ones(3)


def test_toscipy(monkeypatch):
    found = sparse_jacobian(chain)(X)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        found.toscipy()
    monkeypatch.undo()
    pytest.importorskip("scipy.sparse", reason="the form of another library")
    made = found.toscipy()
    assert (made.shape, made.has_canonical_format) == ((12, 12), True)
    np.testing.assert_array_equal(made.toarray(), found.todense().numpy())
    same(sparse_jacobian(chain, pattern=made)(X), found.todense())


# ---------------------------------------------------------------------------------------------- pattern=


def test_pattern_is_reused():
    first = sparse_jacobian(chain)(X)
    x = X + 0.5
    want = jacrev(chain)(x)
    wide = np.abs(np.subtract.outer(range(12), range(12))) < 3
    for given in (first, first.pattern, first.todense(), wide, (first.indices, first.indptr)):
        same(sparse_jacobian(chain, pattern=given)(x), want)
    assert sparse_jacobian(chain, pattern=first)(x).pattern is first.pattern
    second = sparse_hessian(energy)(X)
    same(sparse_hessian(energy, pattern=second)(x), hessian(energy)(x))
    same(sparse_hessian(energy, pattern=np.triu(wide))(x), hessian(energy)(x))


@pytest.mark.parametrize(("take", "function"), [(sparse_jacobian, chain), (sparse_hessian, energy)])
def test_pattern_that_lacks_places(take, function):
    with pytest.raises(AutogradError, match=r"pattern= lacks places .* columns disagree"):
        take(function, pattern=np.eye(12))(X)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (np.eye(5), ShapeError, r"shape \(5, 5\), but the matrix has \(12, 12\)"),
        (np.ones(3), ArgumentError, "dense matrix of outputs x inputs"),
        ("band", ArgumentError, "dense matrix of outputs x inputs"),
        ((np.array([0, 99]), np.arange(13)), ArgumentError, "13 growing whole numbers"),
        ((np.zeros(12, int) + 99, np.arange(13)), ArgumentError, "below 12"),
    ],
)
def test_pattern_that_is_none(given, error, words):
    with pytest.raises(error, match=words):
        sparse_jacobian(chain, pattern=given)(X)


# ---------------------------------------------------------------------------------------------- refusals


def test_what_has_no_sparse_derivative():
    with pytest.raises(AutogradError, match="argument 0 is complex"):
        sparse_jacobian(lambda x: x * 2)(np.ones(3, complex))
    with pytest.raises(AutogradError, match="output 0 is complex"):
        sparse_jacobian(lambda x: x * 2j)(X)
    with pytest.raises(ArgumentError, match="dtype int64"):
        sparse_jacobian(lambda x: x * 2)(np.arange(3))
    with pytest.raises(ArgumentError, match="output 0 has dtype int64"):
        sparse_jacobian(lambda x: x.argmax())(X)
    with pytest.raises(ArgumentError, match="only tensors, got unsupported type <class 'str'>"):
        sparse_jacobian(lambda x: "x")(X)
    with pytest.raises(ArgumentError, match=r"one scalar tensor, not outputs of shapes \[\(12,\)\]"):
        sparse_hessian(lambda x: x**2)(X)
    with pytest.raises(ArgumentError, match="takes a function first"):
        sparse_jacobian(X)
    with pytest.raises(ArgumentError, match="only 1 positional"):
        sparse_jacobian(chain, argnums=1)(X)
    with pytest.raises(RuntimeError, match="random"):
        sparse_jacobian(lambda x: x * sg.rand(12))(X)


def test_mapped():
    """``vmap`` runs its examples one by one, and every one has a matrix of its own."""
    x = np.arange(6.0).reshape(2, 3)
    found = sg.func.vmap(lambda x: sparse_jacobian(chain)(x).todense())(x)
    np.testing.assert_array_equal(found[1].numpy(), jacrev(chain)(x[1]).numpy())


@pytest.mark.parametrize("take", [sparse_jacobian, sparse_hessian])
def test_no_derivative_of_the_result(take):
    def function(x):
        return take(energy)(x).todense().sum()

    with pytest.raises(AutogradError, match="its result has no history"):
        sg.func.grad(function)(X)
    with pytest.raises(AutogradError, match="its result has no history"):
        sg.func.jvp(function, (X,), (X,))
    x = sg.tensor(X, requires_grad=True)
    with pytest.raises(AutogradError, match="its result has no history"):
        function(x)
    with sg.no_grad():
        assert function(x).item() == function(X).item()


def test_hooks_are_refused():
    """A hook would see the sum of several rows."""

    def function(x):
        y = x * 2
        y.register_hook(lambda g: g * (g > 0))
        return y**2

    with pytest.raises(AutogradError, match=r"a hook is registered on the result of mul \(shape \(12,\)\)"):
        sparse_jacobian(function)(X)
    with pytest.raises(AutogradError, match="a hook is registered on the result of mul"):
        sparse_jacobian(function, pattern=np.eye(12))(X)


def test_too_dense():
    x = np.ones(10_000)
    with pytest.raises(AutogradError, match=r"at mul \(shape \(10000,\)\) more than \d+ pairs of an entry"):
        sparse_jacobian(lambda x: x * x.sum())(x)


def test_bfloat16_is_a_floating_dtype():
    x = sg.tensor([1.0, 2.0, 3.0], dtype=sg.bfloat16)
    J = sparse_jacobian(lambda x: x[1:] * x[:-1])(x)
    assert J.dtype == sg.bfloat16
    assert J.todense().double().tolist() == [[2, 1, 0], [0, 3, 2]]
    again = sparse_jacobian(lambda x: x[1:] * x[:-1], pattern=J)(x)
    assert again.todense().double().tolist() == [[2, 1, 0], [0, 3, 2]]
    assert sparse_hessian(lambda x: (x**3).sum())(x).todense().diagonal().double().tolist() == [6, 12, 18]


def test_one_pass_is_no_passes():
    assert "from 1 pass (" in repr(sparse_jacobian(lambda x: x**2)(np.ones(3)))
    assert "from 2 passes (" in repr(sparse_jacobian(lambda x: x[1:] * x[:-1])(np.ones(3)))

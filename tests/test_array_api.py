"""The namespace of the array API standard: every name, beside NumPy, which has the standard's functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad import array_api as xp

RNG = np.random.default_rng(0)
X, S = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 3))
P = S @ S.T + np.eye(3)
K = np.array([[3, 1, 2, 1], [0, 3, 3, 1], [2, 2, 1, 0]])
B = X > 0
CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((X,), {}) for name in (
        "abs", "asinh", "atan", "ceil", "conj", "cos", "cosh", "exp", "expm1", "floor", "imag", "isfinite",
        "isinf", "isnan", "negative", "positive", "real", "reciprocal", "round", "sign", "signbit", "sin",
        "sinh", "square", "tan", "tanh", "trunc", "argmax", "argmin", "count_nonzero", "nonzero", "argsort",
        "sort", "max", "mean", "min", "prod", "std", "sum", "var", "diff", "flip", "matrix_transpose", "tril",
        "triu", "astype", "unstack", "zeros_like", "ones_like", "unique_values", "unique_counts",
        "unique_inverse",
    )},
    **{name: ((np.abs(X),), {}) for name in ("log", "log1p", "log2", "log10", "sqrt")},
    **{name: ((np.tanh(X),), {}) for name in ("acos", "asin", "atanh")},
    **{name: ((X, X[0]), {}) for name in (
        "add", "atan2", "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less",
        "less_equal", "logaddexp", "maximum", "minimum", "multiply", "nextafter", "not_equal", "remainder", "subtract",
        "broadcast_arrays", "vecdot",
    )},
    **{name: ((K, K[0]), {}) for name in (
        "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
    )},
    **{name: ((B, B[0]), {}) for name in ("logical_and", "logical_or", "logical_xor")},
    **{name: ((B,), {}) for name in ("all", "any", "logical_not")},
    "bitwise_invert": ((K,), {}), "acosh": ((1 + np.abs(X),), {}), "pow": ((np.abs(X), 2.5), {}),
    "clip": ((X, -0.5, 0.5), {}), "where": ((B, X, 0.0), {}), "matmul": ((X, X.T), {}), "tensordot": ((X, X), {}),
    "concat": (([X, X],), {"axis": 1}), "stack": (([X, X],), {"axis": -1}), "expand_dims": ((X,), {"axis": 0}),
    "squeeze": ((X[:1],), {"axis": 0}), "permute_dims": ((X, (1, 0)), {}), "moveaxis": ((X, 0, 1), {}),
    "reshape": ((X, (4, 3)), {}), "repeat": ((X, 2), {"axis": 1}), "tile": ((X, (2, 1)), {}), "roll": ((X, 1), {}),
    "broadcast_to": ((X[0], (2, 4)), {}), "take": ((X, np.array([2, 0])), {"axis": 1}),
    "take_along_axis": ((X, np.array([[0], [1], [0]])), {"axis": 1}),
    "searchsorted": ((np.array([0.0, 1.0]), X[0]), {}), "full_like": ((X, 2.0), {}),
    "cumulative_sum": ((X,), {"axis": 1, "include_initial": True}),
    "cumulative_prod": ((X,), {"axis": 0}), "meshgrid": ((X[0], S[0]), {}),
}  # fmt: skip
LINALG: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((
        "cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_norm", "matrix_rank", "matrix_transpose", "pinv",
        "qr", "slogdet", "svdvals", "trace", "diagonal", "vector_norm",
    ), (P,)),
    "cross": (S[0], S[1]), "matmul": (P, S), "matrix_power": (P, 3), "outer": (X[0], S[0]), "solve": (P, S),
    "svd": (P,), "tensordot": (X, X), "vecdot": (X, X),
}  # fmt: skip


def _tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return sg.tensor(value)
    return [_tensors(v) for v in value] if isinstance(value, list) else value


def _same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            _same(a, b)
        return
    assert isinstance(ours, sg.Tensor)
    theirs = np.asarray(theirs)
    assert tuple(ours.shape) == theirs.shape
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_functions(name: str) -> None:
    if not hasattr(np, name):
        pytest.skip(f"this NumPy has no {name}")
    args, options = CALLS[name]
    if name == "astype":
        args = (*args, np.float32)
    _same(getattr(xp, name)(*map(_tensors, args), **options), getattr(np, name)(*args, **options))


@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra(name: str) -> None:
    args = LINALG[name]
    ours, theirs = getattr(xp.linalg, name)(*map(_tensors, args)), getattr(np.linalg, name)(*args)
    if name in ("eigh", "qr", "svd"):  # of which the signs are anybody's
        ours, theirs = [abs(part) for part in ours], [abs(part) for part in theirs]
    _same(ours, theirs)


def test_transforms() -> None:
    for name in xp.fft.__all__:
        args = (4,) if name.endswith("fftfreq") else (X[0],)
        _same(getattr(xp.fft, name)(*map(_tensors, args)), getattr(np.fft, name)(*args))


def test_makers_take_the_standards_arguments() -> None:
    for ours, theirs in (
        (xp.arange(5), np.arange(5)),
        (xp.arange(5, 1, -2), np.arange(5, 1, -2)),
        (xp.arange(2, 1), np.arange(2, 1)),
        (xp.eye(2, 3, k=1, dtype=xp.float64), np.eye(2, 3, k=1)),
        (xp.linspace(0, 1, 4, endpoint=False, dtype=xp.float64), np.linspace(0, 1, 4, endpoint=False)),
        (xp.full(2, 3), np.full(2, 3)),
        (xp.zeros((2, 0), dtype=xp.int32), np.zeros((2, 0), np.int32)),
        (xp.ones(3, dtype=xp.bool), np.ones(3, bool)),
        (xp.asarray(X), X),
    ):
        _same(ours, theirs)
    assert xp.asarray([1.0]).dtype == xp.float32
    assert xp.asarray(X, copy=True).requires_grad is False


def test_dtypes() -> None:
    assert xp.isdtype(xp.float32, "real floating")
    assert xp.isdtype(sg.tensor(1).dtype, ("integral", "bool"))
    assert not xp.isdtype(xp.complex64, xp.float32)
    assert xp.result_type(xp.float32, xp.int64) == xp.float32
    assert xp.result_type(sg.tensor([1.0], dtype=sg.float64), 1j) == xp.complex128
    assert xp.can_cast(xp.int8, xp.float64)
    assert not xp.can_cast(sg.tensor([1.0]), xp.int64)
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"]
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]
    assert "uint8" in info.dtypes(kind=("integral",))
    assert info.default_dtypes()["real floating"] == sg.get_default_dtype()
    assert info.devices() == [info.default_device()]


def test_gradients_and_formulas_go_through() -> None:
    x = sg.tensor(X, requires_grad=True, name="X")
    space = x.__array_namespace__(api_version="2023.12")
    y = space.sum(space.linalg.vector_norm(space.permute_dims(x, (1, 0)), axis=0) ** 2)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * X)
    assert str(x.grad.expr) == "2*X"
    with pytest.raises(ValueError, match=r"from '2021\.12' to '2024\.12'"):
        x.__array_namespace__(api_version="2030.12")


def test_code_written_for_the_standard_runs() -> None:
    compat = pytest.importorskip("array_api_compat")
    x = sg.tensor(X, requires_grad=True)
    space = compat.array_namespace(x)
    space.sum(space.max(x, axis=1)).backward()
    assert int(x.grad.sum()) == 3


def test_all_names_of_the_standard_are_there() -> None:
    told = {*CALLS, "arange", "asarray", "empty", "empty_like", "from_dlpack", "result_type", "unique_all", "finfo",
            "iinfo", "e", "inf", "nan", "pi", "newaxis", "isdtype", "can_cast"}  # fmt: skip
    assert told <= set(xp.__all__)
    assert set(LINALG) == set(xp.linalg.__all__)
    assert all(hasattr(xp, name) for name in xp.__all__)


def test_arguments_of_the_standard_that_numpy_has_not() -> None:
    x, c = sg.tensor([[1.0, 3.0, 2.0]], requires_grad=True), sg.tensor([3 + 4j, -0.6 + 1.4j])
    assert xp.sort(x, descending=True).tolist() == [[3, 2, 1]]
    assert xp.argsort(x, axis=1, descending=True).tolist() == [[1, 2, 0]]
    assert xp.vecdot(x, x, axis=0).tolist() == [1, 9, 4]
    assert xp.expand_dims(x).shape == (1, 1, 3)
    assert xp.clip(x).tolist() == x.tolist()
    assert xp.finfo(x).bits == 32
    assert xp.iinfo(sg.tensor(1)).bits == 64
    assert xp.round(c).tolist() == [3 + 4j, -1 + 1j]
    np.testing.assert_allclose(xp.sign(c).numpy(), c.numpy() / abs(c.numpy()), rtol=1e-6)
    for there in (xp, np):  # NumPy's own function hears the same of a tensor
        with pytest.raises(ValueError, match="size not equal to one"):
            there.squeeze(x, axis=1)
    (xp.sort(x, descending=True)[0] @ sg.tensor([1.0, 10.0, 100.0])).backward()
    assert x.grad.tolist() == [[100, 1, 10]]


def test_gradients_go_through_rows_of_tensors() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    made = xp.asarray([[x[0], 2.0], [3.0, x[1] * x[0]]], dtype=xp.float64)
    assert made.tolist() == [[1, 2], [3, 2]]
    assert made.dtype == xp.float64
    made.sum().backward()
    assert x.grad.tolist() == [3, 1]
    with pytest.raises(ValueError, match="has to be copied"):
        xp.asarray([x, x], copy=False)

"""``out=``: results written into tensors or arrays that are there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtype_objects import KINDS
from symgrad.dtypes import c_name, torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError, UnsupportedMode
from symgrad.notices import notice
from symgrad.op import TABLE
from symgrad.tape.formulas.constants import note_sizes
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.memory.inplace import inplace, misfit, refuse_cast
from symgrad.tape.memory.overlap import PARTIAL, meets
from symgrad.tape.modes import recording


def into(out: Any, name: str, function: Callable[..., Any], args: Any, kwargs: Any, told: bool = True) -> Any:
    """``function(…, out=out)``: results written into tensors or arrays, which take their shapes if need be.

    Where they had entries the user is ``told`` so.
    """
    several = isinstance(out, (tuple, list))
    targets: Sequence[Any] = out if several else (out,)
    if recording() and any(getattr(a, "_requires_grad", False) for a in (*args, *kwargs.values(), *targets)):
        raise AutogradError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if any(faced(a).__class__ is Dual for a in (*args, *kwargs.values(), *targets)):
        raise UnsupportedMode(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
        )
    if name in _APART:
        _check_apart(targets, args)
    elif name in TABLE and TABLE[name].kind == "elementwise":
        _check_apart(targets, args, apart=False)
    if name in _IN_ITS_DTYPE and not several and isinstance(getattr(out, "dtype", None), KINDS):
        kwargs = {"dtype": out.dtype} | kwargs
    new = function(*args, **kwargs)
    if not several:
        _check_dtype(name, new, out, args, kwargs)
        if any(arg is out for arg in args) and new._value.shape != out._value.shape:
            raise misfit(out._value.shape, new._value.shape)
        if name in ("all", "any") and new.dtype != out.dtype:
            new = new.to(out.dtype)
        return _written(out, new, told)
    if not isinstance(new, tuple) or len(new) != len(targets):
        count = len(new) if isinstance(new, tuple) else 1
        raise ArgumentError(f"{name}(): out= has {len(targets)} places, but there are {count} results.")
    of_several = name if name in _WORDS else f"{name}_dim"
    for part, target in zip(new, targets, strict=True):
        _check_dtype(of_several, part, target, args, kwargs)
    written = [_written(target, part) for target, part in zip(targets, new, strict=True)]
    return tuple(written) if new.__class__ is tuple else new.__class__(written)


_EXACT = {
    "Expected out tensor to have dtype {of_c}, but got {given_c} instead": """
        addbmm addmm addmv aminmax argmax argmin as_strided_copy baddbmm bmm bucketize cross det diag diagonal_copy dot
        expand_copy gather heaviside histc index_add index_copy index_reduce inverse isin kthvalue log_softmax lu_solve
        lu_unpack matmul mm mode msort mv nanquantile narrow_copy nonzero norm ormqr permute_copy qr quantile renorm
        scatter scatter_add scatter_reduce searchsorted slice_scatter slogdet softmax sort split_with_sizes_copy
        max_dim min_dim sum prod mean cumsum cumprod
        squeeze_copy svd t_copy take take_along_dim tensordot topk transpose_copy triangular_solve tril triu unbind_copy
        unfold_copy unsqueeze_copy vdot view_copy where
        linalg_cholesky linalg_cholesky_ex linalg_cross linalg_det linalg_eigh linalg_eigvalsh linalg_inv linalg_inv_ex
        linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_norm linalg_multi_dot linalg_norm
        linalg_qr linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals
        linalg_vecdot linalg_vector_norm nn.functional_avg_pool2d nn.functional_avg_pool3d nn.functional_linear
    """,
    "Found dtype {given} but expected {of}": """
        abs absolute bitwise_not ceil conj_physical fix floor frac nan_to_num neg negative round sgn sign trunc
        clamp clip clamp_min clamp_max
        nn.functional_gelu nn.functional_hardshrink nn.functional_softplus nn.functional_softshrink
    """,
    "expected scalar_type {of} but found {given}": "cummax cummin diff logcumsumexp nn.functional_logsigmoid",
    "{name}(): self and result must have the same scalar type, not {of} and {given}": "index_select masked_select",
    "Expected the dtype for input and out to match, but got {of} for input's dtype and {given} for out's dtype.": """
        amax amin
    """,
    "{name} does not support non-boolean outputs.": "isneginf isposinf signbit",
    "{name} only supports bool tensor for result, got: {given}": "all any",
    "Expected object of scalar type {of} but got scalar type {given} for argument 'out'": "complex polar",
    "nonzero_static: Expected out tensor to have scalar type {of} but got scalar type {given}": "nonzero_static",
    "{name} expects {of} tensor out, got: {given}": "multinomial",
}
"""Functions whose ``out=`` has the dtype of the result, as in torch, by what is said where it does not."""
_WORDS = {name: words for words, names in _EXACT.items() for name in names.split()}
_UNLESS_OF_TWO = ("clamp", "clip", "clamp_min", "clamp_max")
"""Of these the ones whose result is converted where it is of several tensors."""
_APART = ("cat", "concat", "concatenate", "cross", "gather", "index_select", "kthvalue", "linalg_cross",
          "masked_select", "take", "take_along_dim")  # fmt: skip
"""Functions whose ``out=`` may not lie in the memory of an argument."""
_IN_ITS_DTYPE = ("cumprod", "cumsum", "mean", "prod", "sum")
"""Functions that compute in the dtype of ``out=``."""


def _check_dtype(name: str, new: Any, target: Any, args: Any, kwargs: Any) -> None:
    """Raise torch's error for a place of another dtype, where the function does not convert its result."""
    words = _WORDS.get(name)
    if words is None or not (hasattr(new, "_value") and hasattr(target, "_value")):
        return
    operands = [x.dtype for x in (*args, *kwargs.values()) if hasattr(x, "_value")]
    if name in _UNLESS_OF_TWO and len(operands) > 1:
        return
    expected = operands[0] if name in ("abs", "absolute") and operands else new.dtype
    if expected == target.dtype or (name in ("all", "any") and target.dtype in (np.uint8, np.bool_)):
        return
    if expected != new.dtype and target.dtype.kind != "c":
        return  # absolute values of complex numbers are converted to other real numbers, but not to complex ones
    dtypes = (expected, target.dtype)
    (of, given), (of_c, given_c) = map(torch_name, dtypes), map(c_name, dtypes)
    raise DtypeError(words.format(name=name, of=of, given=given, of_c=of_c, given_c=given_c))


def _check_apart(targets: Sequence[Any], args: Any, apart: bool = True) -> None:
    """Raise torch's error for a place in the memory of an argument; unless ``apart`` it may be the argument itself."""
    flat = [x for arg in args for x in (arg if isinstance(arg, (list, tuple)) else (arg,))]
    given = [x for x in flat if isinstance(getattr(x, "_value", None), np.ndarray)]
    for target in targets:
        mine = isinstance(getattr(target, "_value", None), np.ndarray)
        if mine and any(meets(x, target, apart) for x in given):
            raise AutogradError(PARTIAL)


def _written(target: Any, new: Any, told: bool = True) -> Any:
    """The target with a result's values, in the shape of the result."""
    if isinstance(target, np.ndarray):
        target[...] = getattr(new, "_value", new)
        return target
    if isinstance(new, tuple):
        raise ArgumentError(f"out= is one tensor, but there are {len(new)} results: give a tuple.")
    if new._value.shape != target._value.shape:
        refuse_cast(new._value.dtype, target._value.dtype)  # or it would be refused in another shape than it had
        if told and target._value.size:
            had, has = list(target._value.shape), list(new._value.shape)
            notice(
                f"An output with one or more elements was resized since it had shape {had}, which does not match the "
                f"required output shape {has}. This behavior is deprecated, and in a future PyTorch release outputs "
                "will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by "
                "resizing it, inplace, to zero elements with t.resize_(0)."
            )
        target._value = np.empty(new._value.shape, target._value.dtype)
    note_sizes(target, (new,))
    return inplace(target, lambda _: new, (), {})

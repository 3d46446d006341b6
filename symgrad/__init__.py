"""symgrad: derivatives as numbers and as exact formulas, side by side.

The names are torch's, so ``import symgrad as torch`` runs autograd code; beside them stand ``latex``, ``where_list``,
``compile``, ``jit``, ``check`` and ``func``.  What needs SymPy is loaded when it is first used; what docstrings need is
loaded here, so that the names do not change while somebody walks over them and reads.
"""

from __future__ import annotations

import importlib
import sys
from types import FunctionType as _FunctionType
from typing import Any

from symgrad import autograd, interop as interop, random, switches
from symgrad.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from symgrad.commands import examples as examples
from symgrad.devices import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    legacy_contiguous_format,
    memory_format,
    preserve_format,
    sparse_coo,
    sparse_csr,
    strided,
)
from symgrad.dtype_objects import (
    bool_,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    int8,
    int16,
    int32,
    int64,
    long,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from symgrad.dtypes import finfo, iinfo, set_default_dtype
from symgrad.guesses import IN_MODULE as _GUESSES
from symgrad.ops.rules.kinks import conventions
from symgrad.tape.forward import dual
from symgrad.tensor import FUNCTIONS, Tensor, borrowed, creation, legacy, questions, ranges
from symgrad.tensor.calls import unbound as _unbound
from symgrad.tensor.docstrings import illustrate as _illustrate
from symgrad.tensor.facts import Shape as Size

__version__ = "0.1.0"

_LAZY = {
    "_standard_gamma": "symgrad.distributions.implicit",
    "GradScaler": "symgrad.amp",
    "OutOfMemoryError": "symgrad.errors",
    "accelerator": "symgrad.backends",
    "cond": "symgrad._higher_order_ops",
    "mps": "symgrad.backends",
    "while_loop": "symgrad._higher_order_ops",
    "xpu": "symgrad.backends",
    "check": "symgrad.check",
    "chain_matmul": "symgrad.linalg",
    "compile": "symgrad.compiler",
    "Future": "symgrad.futures",
    "copy_graph": "symgrad.tape.pickling",
    "frobenius_norm": "symgrad.linalg",
    "install_as_torch": "symgrad.stand_in",
    "jit": "symgrad.compiler",
    "nuclear_norm": "symgrad.linalg",
    "formula": "symgrad.notation",
    "derive": "symgrad.notation.steps",
    "digest": "symgrad.notation",
    "draw": "symgrad.draw",
    "element": "symgrad.notation.elements",
    "from_fx": "symgrad.foreign",
    "from_jax": "symgrad.foreign",
    "from_jaxpr": "symgrad.foreign",
    "from_latex": "symgrad.notation.typed",
    "from_sympy": "symgrad.notation.exchange",
    "to_matexpr": "symgrad.notation.exchange",
    "explicit": "symgrad.notation.elements",
    "errorbars": "symgrad.explaining",
    "explain": "symgrad.explaining",
    "explore": "symgrad.explaining",
    "judge": "symgrad.judging",
    "latex": "symgrad.notation",
    "load": "symgrad.tensor.storing",
    "replay": "symgrad.explaining.precise",
    "save": "symgrad.tensor.storing",
    "get_printoptions": "symgrad.tensor.display",
    "set_printoptions": "symgrad.tensor.display",
    "sparse_coo_tensor": "symgrad.sparse",
    "project": "symgrad.formula.structures",
    "is_anomaly_check_nan_enabled": "symgrad.autograd.anomaly_mode",
    "is_anomaly_enabled": "symgrad.autograd.anomaly_mode",
    "set_anomaly_enabled": "symgrad.autograd.anomaly_mode",
    "verify": "symgrad.explaining",
    "vmap": "symgrad.func",
    "where_list": "symgrad.notation",
}
_DEMANDS = (
    "_assert", "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented",
    "_check_tensor_all", "_check_type", "_check_value", "_check_with",
)  # fmt: skip
_ABSENT = {
    "eig": "torch has removed it; use linalg.eig",
    "lstsq": "torch has removed it; use linalg.lstsq",
    "matrix_rank": "torch has removed it; use linalg.matrix_rank",
    "solve": "torch has removed it; use linalg.solve(A, B), with the arguments in this order",
    "symeig": "torch has removed it; use linalg.eigh",
}
"""Rooms of torch that are not here, and what to do instead."""
_TYPES = {"bool": bool_, "float": float32, "int": int32}
"""torch's dtypes that share a name with Python's types: found as attributes, and not in the way of code below."""
_MODULES = (
    "_C", "__config__", "_dynamo", "_higher_order_ops", "amp", "array_api", "backends", "compiler", "cuda",
    "distributed", "distributions", "fft", "func", "futures", "implicit", "library", "linalg", "masked",
    "multiprocessing", "nn", "optim", "overrides", "parallel", "profiler", "quasirandom", "return_types",
    "serialization", "signal", "sparse", "special", "testing", "types", "utils", "version",
)  # fmt: skip


def _transposed(*call: Any) -> Any:
    """What forward mode asks of an op without a tangent rule; the functions of functions are loaded only then."""
    from symgrad.func.forward import transposed

    return transposed(*call)


dual._TRANSPOSE.append(_transposed)

_ROOMS_OF_NAMES = ("func", "autograd", "linalg", "nn.functional", "special", "fft", "implicit", "signal", "sparse")
"""Where a name is looked for that somebody misses in this namespace."""
_ROOMS = (borrowed, creation, legacy, questions, random, ranges, switches)
globals().update(FUNCTIONS)
globals().update({name: getattr(room, name) for room in _ROOMS for name in room.__all__})
for _name, _found in tuple(globals().items()):
    _illustrate(f"symgrad.{_name}", _found)
_SETTINGS = ("fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state")
globals().update(
    {
        name: _unbound(globals()[name], asks=name.endswith("_like"))
        for room in (borrowed, creation, questions, random, ranges)
        for name in room.__all__
        if isinstance(globals()[name], _FunctionType) and name not in _SETTINGS
    }
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        # importlib leaves the submodule of the same name (``check``) in this namespace; the function replaces it.
        found = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = found
        return found
    if name in _DEMANDS:
        return getattr(importlib.import_module("symgrad.demands"), name)
    if name in _MODULES:
        return importlib.import_module(f"symgrad.{name}")
    if name == "Variable":
        return autograd.Variable
    if name == "bfloat16":
        return dtype("bfloat16")
    if name in _TYPES:
        return _TYPES[name]
    if name in legacy.NAMES:
        return legacy.constructor(name)
    if name.startswith("_foreach_") and (of_lists := importlib.import_module("symgrad.tensor.foreach").foreach(name)):
        return of_lists
    why = _ABSENT.get(name) or _GUESSES.get(name) or _elsewhere(name)
    hint = f": {why}" if why else ""
    raise AttributeError(f"module 'symgrad' has no attribute {name!r}{hint}", name=name, obj=sys.modules[__name__])


def _elsewhere(name: str) -> str:
    """Where a public name is that is not here: in rooms of this library, or among the methods of a formula."""
    if name.startswith("_"):
        return ""  # other libraries ask every module for their protocols
    from symgrad.notation import Formula

    if name in vars(Formula):
        return f"a formula has it, formula(x).{name}"
    rooms = ((room, importlib.import_module(f"symgrad.{room}")) for room in _ROOMS_OF_NAMES)
    found = [f"{room}.{name}" for room, module in rooms if name in getattr(module, "__all__", dir(module))]
    return f"it is {' or '.join(found[:2])}" if found else ""


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES, "Variable", "bfloat16", *_TYPES, *legacy.NAMES})


__all__ = [
    "Size", "Tensor", "autograd", "bool_", "cdouble", "cfloat", "channels_last", "channels_last_3d", "complex64",
    "complex128", "contiguous_format", "conventions", "device", "double", "dtype", "enable_grad", "finfo",
    "float16", "float32", "float64", "get_default_dtype", "half", "iinfo", "inference_mode", "int8", "int16",
    "int32", "int64", "is_grad_enabled", "is_inference_mode_enabled", "layout", "legacy_contiguous_format", "long",
    "memory_format", "no_grad", "preserve_format", "set_default_dtype", "set_grad_enabled", "short", "sparse_coo",
    "sparse_csr", "strided", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

"""Duals changed in place: a new primal goes to the primal's memory, a new tangent to the place of the tangent.

The primals of views share memory, so a change of one is seen through all.  Tangents share nothing: views share the
*place* where the tangent of the dual that they were cut from is kept, and cut their part out of it after a change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import FRONTS, carrier_of, lookup, shape_of
from symgrad.ops.indexing.getitem import static_index
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.place import Place
from symgrad.tape.forward.raised import raise_to
from symgrad.tape.memory.overlap import overlaps
from symgrad.tape.memory.putting import put_entries, put_into

_FACTS = """is_complex is_floating_point is_signed is_conj is_neg is_contiguous is_cpu is_cuda is_meta is_inference
is_mps is_xpu
is_quantized is_sparse is_pinned is_shared is_nonzero dim_order device layout itemsize nbytes nelement ndimension
element_size stride storage_offset data_ptr get_device data grad grad_fn backward register_hook retain_grad retains_grad
output_nr name _version _is_view _base new new_empty new_empty_strided
new_full new_ones new_tensor new_zeros numpy storage untyped_storage bool byte char short int long"""
FACTS = frozenset(_FACTS.split())
"""What a dual answers as its primal does: facts about it, and new values that do not move."""


FACES: list[type] = []
"""Classes of tensors that stand for duals; filled in from above."""


def faced(value: Any) -> Any:
    """The dual that a tensor stands for, or the value itself."""
    return value.__dict__["dual"] if value.__class__ in FACES else value


def at_rest(value: Any) -> Any:
    """The tensor or array that a value moves from, along whatever and however often; other things as they are."""
    value = faced(value)
    while isinstance(value, Carried) and value.beneath is not None:
        value = faced(value.beneath)
    return value


def memory(value: Any) -> Any:
    """The array under a value, whatever carries it; None under a formula."""
    value = at_rest(value)
    while value.__class__ is Bundle:
        value = at_rest(value.parts()[0])
    return value if isinstance(value, (np.ndarray, np.generic)) else getattr(value, "_value", None)


def share_memory(a: Any, b: Any) -> bool:
    """Whether two values lie in the same memory."""
    one, other = memory(a), memory(b)
    return one is not None and other is not None and np.may_share_memory(one, other)


def cut(tangent: Any, chain: tuple[Any, ...]) -> Any:
    """The part of the tangent of a dual that belongs to a view of it."""
    for op, params in chain:
        tangent = op(tangent, **params)
    return tangent


def put(tangent: Any, part: Any, chain: tuple[Any, ...]) -> Any:
    """The tangent of a dual after that of a view of it became ``part``."""
    levels = [cut(tangent, chain[:k]) for k in range(len(chain))]
    memory = np.empty(tuple(shape_of(tangent)), tangent.dtype) if len(chain) > 1 else None
    for k, (op, params) in enumerate(chain[:-1]):
        memory = op.view(memory, **params) if op.view else memory
        if overlaps(memory):  # a row of what was expanded is all of its rows
            part, levels, chain = put_entries(levels[k], part, list(chain[k:])), levels[:k], chain[:k]
            break
    for whole, (op, params) in zip(reversed(levels), reversed(chain), strict=True):
        part = put_into(whole, part, op, params)
    return part


def overwrite(dual: Any, value: Any) -> Any:
    """The dual with ``value`` in its place: a dual of its own or of an inner derivative, or what stands still."""
    value = faced(value)
    if value.__class__ is dual.__class__ and value.tag > dual.tag:
        raise_to(value.tag, dual)
    same = value.__class__ is dual.__class__ and value.tag == dual.tag
    primal, tangent = (value.primal, value.tangent) if same else (value, None)
    if same and value.place.given:  # its tangent is the user's tensor, which later changes go into
        tangent = lookup("clone")(tangent)
    shape = tuple(shape_of(dual.primal))
    moves = tangent is not None or dual.place.tangent is not None
    tangent = _fitted(dual, tangent, shape) if moves else None
    if carrier_of(dual.primal.__class__) is None:
        dual.primal = np.broadcast_to(np.asarray(primal, dual.dtype), shape)[()]
    else:
        dual.primal.copy_(primal)
    if moves:
        dual.move(tangent)
    return dual


def _fitted(dual: Any, tangent: Any, shape: tuple[int, ...]) -> Any:
    """A tangent in the shape and dtype of a dual; zeros for None."""
    if tangent is None:
        zeros = getattr(dual.primal, "new_zeros", None)
        return np.zeros(shape, dual.dtype)[()] if zeros is None else zeros(shape)
    if tuple(shape_of(tangent)) != shape:
        tangent = lookup("expand")(tangent, shape=shape)
    return tangent if tangent.dtype == dual.dtype else lookup("cast")(tangent, dtype=dual.dtype.name)


def change(name: str) -> Callable[..., Any] | None:
    """The method ``name_`` of duals, by the function ``name``, or None where there is none."""
    if name in ("copy", "fill", "zero"):
        return lambda dual, value=0, *_: overwrite(dual, value)
    if name in ("squeeze", "unsqueeze", "t", "transpose", "swapaxes", "swapdims"):
        return lambda dual, *args: dual.become(getattr(dual, name)(*args))
    if name == "requires_grad":
        return _require
    if name == "detach":
        return _detach
    if name in _DRAWS:
        return _drawing(name)
    if name == "fill_diagonal":
        return _fill_diagonal
    entry = FRONTS.get(name)
    if entry is None or not entry.method:
        return None
    return lambda dual, *args, **options: overwrite(
        dual, getattr(unchanged(dual, *args, *options.values()), name)(*args, **options)
    )


def recorded(value: Any) -> bool:
    """Whether the tape follows a value, or its primal or tangent."""
    value = faced(value)
    return bool(
        getattr(value, "requires_grad", False) or getattr(getattr(value, "tangent", None), "requires_grad", False)
    )


def unchanged(dual: Any, *others: Any) -> Any:
    """The dual as it is before a change by others, for what is recorded about the change."""
    return dual.clone() if recorded(dual) or any(map(recorded, others)) else dual


def _require(dual: Any, requires_grad: bool = True) -> Any:
    dual.primal.requires_grad_(requires_grad)  # refused where a function is transformed
    return dual


_DRAWS = ("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "normal", "random", "uniform")


def _drawing(name: str) -> Callable[..., Any]:
    """Random numbers in place of the value: they do not move."""

    def draw(dual: Any, *args: Any, **options: Any) -> Any:
        getattr(dual.primal, f"{name}_")(*args, **options)
        return overwrite(dual, dual.primal)

    return draw


def _detach(dual: Any) -> Any:
    dual.primal.detach_()
    dual.place, dual.chain = Place(None), ()  # it stands still, until it is changed by what moves
    return dual


def _fill_diagonal(dual: Any, fill_value: Any, wrap: bool = False) -> Any:
    shape = dual.raw_shape
    places = np.arange(min(shape))
    index: tuple[Any, ...] = (places,) * len(shape)
    if wrap and len(shape) == 2 and shape[1]:
        index = np.divmod(np.arange(0, shape[0] * shape[1], shape[1] + 1), shape[1])
    set_entries(dual, index, fill_value)
    return dual


def set_entries(dual: Any, index: Any, value: Any) -> None:
    """``dual[index] = value``."""
    parted, places = static_index(index).parted()
    overwrite(dual, lookup("index_put")(dual, value, *places, index=parted))

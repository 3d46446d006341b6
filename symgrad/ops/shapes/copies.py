"""What the functions of views show, in memory of its own: ``permute_copy`` and its kin."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.op import front, known_as, shape_of
from symgrad.ops.calls.still import still
from symgrad.ops.elementwise.floats import resolve_conj, view_as_complex, view_as_real
from symgrad.ops.indexing.getitem import getitem
from symgrad.ops.indexing.windows import unfold
from symgrad.ops.linalg.matrices import diagonal
from symgrad.ops.shapes.joining import narrow, select, split, unbind
from symgrad.ops.shapes.rearrange import split_with_sizes
from symgrad.ops.shapes.shaping import apart, axis_of, expand, permute, reshape, squeeze, t, transpose, unsqueeze
from symgrad.ops.shapes.strides import as_strided


def _copied(name: str, view: Callable[..., Any]) -> None:
    @functools.wraps(view)
    def call(*args: Any, **options: Any) -> Any:
        shown = view(*args, **options)
        return tuple(map(apart, shown)) if isinstance(shown, tuple) else apart(shown)

    known_as(call, f"{name}_copy", f"A copy of what ``{name}`` shows of ``input``, in memory of its own, row by row.")
    words = {"split_size": "split_size_or_sections"} if name == "split" else None
    front(call.__name__, method=name == "narrow", words=words)(call)


def _itself(input: Any) -> Any:
    return input


def _parts(input: Any) -> Any:
    return view_as_real(resolve_conj(input))


def _slice(input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return getitem(input, (slice(None),) * axis_of(dim, len(shape_of(input))) + (slice(start, end, step),))


_VIEWS: dict[str, Callable[..., Any]] = {
    "alias": _itself, "as_strided": as_strided, "detach": still, "diagonal": diagonal, "expand": expand,
    "narrow": narrow, "permute": permute, "select": select, "slice": _slice, "split": split,
    "split_with_sizes": split_with_sizes, "squeeze": squeeze, "t": t, "transpose": transpose, "unbind": unbind,
    "unfold": unfold, "unsqueeze": unsqueeze, "view": reshape, "view_as_complex": view_as_complex,
    "view_as_real": _parts,
}  # fmt: skip
for _name, _view in _VIEWS.items():
    _copied(_name, _view)

"""Padding: constants have a rule; reflections, copies of the edge and wrap-arounds are joined from parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad import kernels
from symgrad.errors import ArgumentError, ShapeError, UnsupportedMode
from symgrad.op import Op, as_size, fixed, front, length_of, primitive, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import placed
from symgrad.ops.reductions.wide import rounded_once
from symgrad.ops.shapes.joining import cat, embed_op, narrow, narrow_op
from symgrad.ops.shapes.shaping import flip, owned, spread


def _cropped(g: Any, like: Any, widths: tuple[tuple[int, int], ...]) -> Any:
    """What lies inside of the border, in memory of its own: torch's does, and hooks may flatten it by ``view``."""
    for axis, (before, after) in enumerate(widths):
        if before or after:
            g = narrow_op(g, dim=axis, start=before, length=shape_of(like)[axis])
    return clone(g)


def _grown(size: Any, added: int) -> Any:
    if not added:
        return size
    return size + added if isinstance(size, int) else f"{size}+{added}"


pad_op: Op = primitive(
    "pad",
    kernels.padded,
    (lambda g, out, like, *, widths, value: _cropped(g, like, widths),),
    jvp=(lambda t, out, like, *, widths, value: pad_op(t, widths=widths, value=0),),
    infer=lambda shape, widths, value: tuple(
        _grown(n, before + after) for n, (before, after) in zip(shape, widths, strict=True)
    ),
    node="ConstantPadNd",
    digits="kernel",
    example=("vector", {"widths": ((1, 0),), "value": 0}),
    along=True,
    samples=[
        sampling.one("real", "n", "m", widths=((1, 1), (0, 0)), value=0),
        sampling.one("real", "n", widths=((2, 0),), value=1),
    ],
    stacks=True,
    doc="A constant border.",
)


def pad_axes(x: Any, widths: dict[int, tuple[int, int]], value: Any = 0) -> Any:
    """A constant border on the axes named; negative widths cut."""
    grown = [(0, 0)] * len(shape_of(x))
    for axis, (before, after) in widths.items():
        if before < 0 or after < 0:
            left = length_of(x, axis) + min(before, 0) + min(after, 0)
            if left < 0:
                raise ShapeError(
                    f"narrow(): length must be non-negative. The widths {(before, after)} cut more than axis {axis} of "
                    f"size {shape_of(x)[axis]} has."
                )
            x = narrow(x, axis, max(-before, 0), left)
        elif value == 0 and {before.__class__, after.__class__} != {int}:
            x = embed_op(x, dim=axis, start=before, size=before + length_of(x, axis) + after)
            continue
        grown[axis] = (max(before, 0), max(after, 0))
    if not any(map(any, grown)):
        return x
    return pad_op(x, widths=tuple(grown), value=value)


def _widths(pad: Sequence[int], ndim: int) -> dict[int, tuple[int, int]]:
    """torch's list of widths: pairs from the last axis backwards."""
    if len(pad) % 2:
        raise ArgumentError(f"Padding length must be divisible by 2, got {list(pad)}")
    if len(pad) // 2 > ndim:
        raise ArgumentError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {ndim}"
        )
    return {ndim - 1 - k: (width_of(pad[2 * k]), width_of(pad[2 * k + 1])) for k in range(len(pad) // 2)}


def width_of(given: Any) -> Any:
    """A width as a size, where sizes tell it and it is one at other sizes, too; else as a number."""
    width = as_size(given)
    return int(fixed(width)) if hasattr(width, "is_behind") and width.is_behind() else width


@front("constant_pad_nd", op=pad_op, method=False)
def constant_pad_nd(input: Any, pad: Sequence[int], value: Any = 0) -> Any:
    """A constant border, with widths in pairs from the last axis backwards; negative widths cut."""
    return owned(_new(input, pad_axes(input, _widths(pad, len(shape_of(input))), value)))


def _new(input: Any, out: Any) -> Any:
    """A result that may be overwritten though nothing was added."""
    return clone(input) if out is input else out


def _bordered(x: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """One axis with its border joined on."""
    size = shape_of(x)[axis]
    limit = {"reflect": size - 1, "circular": size}.get(mode, size * 10**9)
    if max(before, after) > limit:
        raise ShapeError(
            f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) "
            f"at dimension {axis} of input {list(shape_of(x))}"
        )
    parts = [x]
    if before > 0:
        parts.insert(0, _border(x, axis, before, mode, True))
    if after > 0:
        parts.append(_border(x, axis, after, mode, False))
    return cat(parts, axis) if len(parts) > 1 else x


def _border(x: Any, axis: int, width: int, mode: str, left: bool) -> Any:
    size = length_of(x, axis)
    if mode == "circular":
        return narrow(x, axis, size - width if left else 0, width)
    if mode == "reflect":
        return flip(narrow(x, axis, 1 if left else size - 1 - width, width), axis)
    edge = narrow(x, axis, 0 if left else size - 1, 1)
    return spread(edge, *(width if k == axis else -1 for k in range(len(shape_of(x)))))


@within("nn.functional")
def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """A border of a constant, of mirrored entries ("reflect"), of the edge ("replicate") or around ("circular").

    Widths stand in pairs from the last axis backwards; negative ones cut.
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise UnsupportedMode(f"Unrecognised padding mode {mode}: 'constant', 'reflect', 'replicate' or 'circular'.")
    if value:
        raise ArgumentError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _check_borders(shape_of(input), pad, mode)
    source = input if mode == "circular" else placed(input)
    return owned(_new(source, _continued(source, pad, mode)))


def _check_borders(shape: Sequence[Any], pad: Sequence[int], mode: str) -> None:
    """Borders of an array's own entries: channels and one to three axes, maybe in a batch, and entries to take."""
    axes = len(pad) // 2
    if len(pad) not in (2, 4, 6) or len(shape) not in (axes + 1, axes + 2):
        raise UnsupportedMode(
            f"Padding size {len(pad)} is not supported for {len(shape)}D input tensor of shape {list(shape)}. The mode "
            f"{mode!r} takes two widths for 2D or 3D input, four for 3D or 4D, and six for 4D or 5D."
        )
    if mode == "circular":
        return
    if 0 in shape[len(shape) - axes - 1 :]:
        raise ShapeError(
            f"Expected {axes + 1}D or {axes + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    for axis, widths in _widths(pad, len(shape)).items():
        if isinstance(shape[axis], int) and shape[axis] + sum(widths) < 1:
            raise ShapeError(f"input of shape {list(shape)} is too small: widths {widths} leave nothing of axis {axis}")


@rounded_once
def _continued(x: Any, pad: Sequence[int], mode: str) -> Any:
    """A border of entries of the array itself."""
    for axis, (before, after) in _widths(pad, len(shape_of(x))).items():
        cut = (min(before, 0), min(after, 0))
        if any(cut) and mode == "circular":  # the period is what is left after the cut
            x, cut = pad_axes(x, {axis: cut}), (0, 0)
        x = _bordered(x, axis, before, after, mode)
        x = pad_axes(x, {axis: cut}) if any(cut) else x
    return x

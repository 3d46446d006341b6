"""How results lie in memory: as torch's do, which strides and later sums show."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ShapeError
from symgrad.ops.calls import fits
from symgrad.tape.memory.inplace import misfit


def laid_out(layout: str | None, out: Any) -> Any:
    """A result in torch's layout in memory, which is row by row where an op's entry does not say otherwise."""
    if layout == "columns":
        turned = out.swapaxes(-1, -2)
        if turned.flags.c_contiguous and _in_steps(turned):
            return out
        return np.array(turned, order="C").swapaxes(-1, -2)  # a copy: with steps of its own along ones
    if not out.flags.c_contiguous:
        return np.ascontiguousarray(out)
    return np.array(out, order="C") if 1 in out.shape and not _in_steps(out) else out


def _in_steps(x: Any) -> bool:
    """Whether an array whose entries lie row by row has the strides of that along axes of size 1, too."""
    step = x.itemsize
    for n, own in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if own != step:
            return False
        step *= n
    return True


def arranged(out: Any, operands: Any) -> Any:
    """The result of an op entry by entry in torch's layout: the first operand that tells two axes apart orders them.

    NumPy orders them row by row where operands disagree, and some kernels put axes along which the one operand is
    repeated inside.
    """
    if not [x for x in operands if isinstance(x, np.ndarray) and not x.flags.c_contiguous]:
        return out
    strides = [_strides(x, out.shape) for x in operands if isinstance(x, np.ndarray) and x.ndim > 1]
    inward = [k for k in reversed(range(out.ndim)) if out.shape[k] > 1]  # the axis of the shortest step comes first
    for i in range(1, len(inward)):
        at = i
        for before in reversed(range(i)):
            told = _told_apart(inward[before], inward[at], strides, out.shape)
            if told < 0:
                break
            if told > 0:
                inward[before], inward[at], at = inward[at], inward[before], before
    have = sorted(inward, key=lambda k: out.strides[k])
    if have == inward:
        return out
    axes = [*(k for k in range(out.ndim) if out.shape[k] <= 1), *reversed(inward)]
    return np.ascontiguousarray(out.transpose(axes)).transpose(np.argsort(axes))


def like_the_leaf(g: Any, leaf: Any) -> Any:
    """A gradient in memory of its own that lies as its leaf does, or row by row where the leaf has gaps: so torch.

    Code that flattens ``p.grad.view(-1)`` relies on it.
    """
    if g.shape != leaf.shape:
        return _of_a_former_shape(np.asarray(g), np.asarray(leaf))
    if not isinstance(g, np.ndarray):
        return np.array(g)[()]
    if leaf.flags.c_contiguous or not _dense(leaf):
        return g if g.base is None and g.flags.c_contiguous else np.array(g, order="C")
    if g.base is None and all(a == b for a, b, n in zip(g.strides, leaf.strides, g.shape, strict=True) if n > 1):
        return g
    out = np.empty_like(leaf, g.dtype)
    out[...] = g
    return out


def written_out(g: Any) -> Any:
    """A gradient for who may change it in place: one whose entries are repeated in memory, as a mean's, in full."""
    return g.copy() if g.__class__ is np.ndarray and 0 in g.strides else g


def _of_a_former_shape(g: Any, leaf: Any) -> Any:
    """The gradient of a leaf whose ``.data`` has another shape by now: as it lies, or copied into the leaf's layout."""
    steps = _steps(leaf) or (leaf.itemsize,)
    if g.ndim <= len(steps) and all(a == b for a, b, n in zip(g.strides, steps, g.shape, strict=False) if n > 1):
        return np.array(g)
    out = np.empty_like(leaf, g.dtype)
    try:
        out[...] = g
    except ValueError as error:
        words = fits.apart(out.shape, g.shape)
        raise misfit(out.shape, g.shape) if words is None else ShapeError(words) from error
    return out


def _steps(x: Any) -> tuple[int, ...]:
    """The strides of an array as torch has them along axes of size 1, too: as if it went on there."""
    steps, step = [], x.itemsize
    for n, own in zip(reversed(x.shape), reversed(x.strides), strict=True):
        steps.append(step if n == 1 else own)
        step = steps[-1] * n
    return tuple(reversed(steps))


def _dense(x: Any) -> bool:
    """Whether an array fills its memory, each place once, in some order of its axes."""
    outward = sorted(range(x.ndim), key=lambda k: x.strides[k], reverse=True)
    return bool(x.transpose(outward).flags.c_contiguous)


def _strides(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an operand spread to ``shape``: 0 along axes that it is repeated along."""
    own = (0 if n == 1 else step for n, step in zip(x.shape, x.strides, strict=True))
    return (*(0,) * (len(shape) - x.ndim), *own)


def _told_apart(a: int, b: int, strides: Any, shape: tuple[int, ...]) -> int:
    """Whether the axis ``a`` lies inside of ``b`` (-1) or outside (1); 0 where no operand tells."""
    for steps in strides:
        if steps[a] and steps[b]:
            if steps[a] != steps[b]:
                return -1 if steps[a] < steps[b] else 1
            if shape[a] > shape[b]:
                return 1
    return 0

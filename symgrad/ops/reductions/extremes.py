"""The largest and the smallest: their values, their places, and how those that tie share a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import ShapeError
from symgrad.op import Op, front, known_as, lookup, primitive, sampling, shape_of
from symgrad.ops.calls.results import named
from symgrad.ops.calls.still import readable
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import eq, tied, where
from symgrad.ops.reductions.sums import axes_of, cast, keep, reduce_code, reduced_shape, sum_op
from symgrad.ops.rules.kinks import no_kink
from symgrad.ops.shapes.shaping import axis_of, reshape, reshape_op, squeeze_op

_EMPTY = "{}(): Expected reduction dim to be specified for input.numel() == 0."


def check_entries(name: str, input: Any, dim: int, mark: str = "():") -> None:
    """Raise torch's error where an axis has nothing to choose from."""
    shape = shape_of(input)
    axis = axis_of(dim, max(len(shape), 1))
    if shape and shape[axis] == 0:
        raise IndexError(f"{name}{mark} Expected reduction dim {axis} to have non-zero size.")


def check_extremes(name: str, input: Any, dim: Any) -> None:
    """Raise torch's error where there is nothing to choose from, along some axes or (``dim`` names none) at all."""
    if 0 not in shape_of(input):
        return
    if dim in (None, ()):
        raise ShapeError(f"{_EMPTY.format(name)} Specify the reduction dim with the 'dim' argument.")
    for axis in dim if isinstance(dim, (tuple, list)) else (dim,):
        check_entries(name, input, axis)


def shared_by_ties(name: str) -> Any:
    """The rule of an entry that was picked: those that tie for it share its gradient.

    As in torch, nan ties with nan in a whole array and with nothing in its rows, and rows where nothing ties have nan
    for gradient: those with nan, and those whose extreme was overwritten behind autograd's back.  Then a whole array
    has 0, as torch's ``max``, ``min`` and ``median`` of all entries say (its ``amax`` and ``amin`` say nan).
    """

    def vjp(g: Any, out: Any, x: Any, *, dim: tuple[int, ...], keepdim: bool) -> Any:
        whole = len(dim) == len(shape_of(x))
        hit = (tied if whole else eq)(x, keep(out, dim, keepdim))
        count = sum_op(hit, dim=dim, keepdim=True)
        no_kink(name, count > 1)
        return where(hit, keep(g, dim, keepdim) / count, 0 if whole else 0 / count)

    return vjp


def _extreme(name: str, kernel: Any, numpy_name: str) -> Op:
    return primitive(
        name,
        lambda x, dim, keepdim: kernel(x, dim, keepdims=keepdim),
        (shared_by_ties(name),),
        infer=reduced_shape,
        refuses={"c": f"{name[1:]}_values_cpu"},
        mixes="dim",
        rises=True,
        kinks=("ties",),
        twins=("mean", "amin" if name == "amax" else "amax"),
        digits="kernel",
        code=reduce_code(numpy_name),
        method=numpy_name.removeprefix("np."),
        example=("vector", {"dim": (0,), "keepdim": False}),
        samples=sampling.reductions(),
        doc=f"{name} over axes; ties share the gradient equally.",
    )


amax_op: Op = _extreme("amax", np.maximum.reduce, "np.max")
amin_op: Op = _extreme("amin", np.minimum.reduce, "np.min")


@front(op=amax_op)
def amax(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Largest entry over axes; ties share the gradient equally."""
    check_extremes("amax", input, dim)
    return amax_op(input, dim=axes_of(dim, len(shape_of(input))), keepdim=keepdim)


@front(op=amin_op)
def amin(input: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """Smallest entry over axes; ties share the gradient equally."""
    check_extremes("amin", input, dim)
    return amin_op(input, dim=axes_of(dim, len(shape_of(input))), keepdim=keepdim)


_EXTREME = {"argmax": "largest", "argmin": "smallest"}


def _arg(name: str, kernel: Any, code: Any, samples: list[Any]) -> Op:
    return primitive(
        name,
        kernel,
        (None,),
        code=code,
        infer=lambda shape, dim, keepdim: reduced_shape(shape, dim=(dim,), keepdim=keepdim),
        result=lambda *_, **__: np.dtype(np.int64),
        refuses={
            "b": f"{name}(): does not support bool input",
            "c": f"{name}(): does not support complex input",
        },
        digits="order",
        example=("vector", {"dim": 0, "keepdim": False}),
        samples=samples,
        stacks=True,
        doc=f"The place of the {_EXTREME[name[:6]]} entry along an axis, the first of equal ones; no derivative.",
    )


argmax_op: Op = _arg(
    "argmax",
    lambda x, dim, keepdim: x.argmax(dim, keepdims=keepdim),
    reduce_code("np.argmax"),
    samples=[sampling.one("real", "n", "m", dim=0, keepdim=False), sampling.one("real", "n", "m", dim=1, keepdim=True)],
)
argmin_op: Op = _arg(
    "argmin",
    lambda x, dim, keepdim: x.argmin(dim, keepdims=keepdim),
    reduce_code("np.argmin"),
    samples=[sampling.one("real", "n", "m", dim=0, keepdim=False), sampling.one("real", "n", "m", dim=1, keepdim=True)],
)
argmax_of_pool_op: Op = _arg(
    "argmax_of_pool",
    kernels.argmax_of_pool,
    None,
    samples=[sampling.one("real", "n", "m", dim=1, keepdim=True)],
)


def _arg_front(op: Op) -> Any:
    def call(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        input = readable(input)
        ordered = input.dtype.kind not in "bc"  # others are refused first
        if dim is None:
            if ordered and 0 in shape_of(input):
                raise IndexError(_EMPTY.format(op.name))
            found = op(reshape(input, -1), dim=0, keepdim=False)
            return reshape(found, (1,) * len(shape_of(input))) if keepdim else found
        axis = axis_of(dim, len(shape_of(input)))
        if not shape_of(input):
            return reshape_op(op(reshape_op(input, shape=(1,)), dim=0, keepdim=False), shape=())
        if ordered:
            check_entries(op.name, input, dim)
        return op(input, dim=axis, keepdim=keepdim)

    known_as(call, op.name, f"{op.doc[:-1].replace('an axis', '``dim``, or of the flattened input without it')}.")
    return front(op.name, op=op)(call)


argmax = _arg_front(argmax_op)
argmin = _arg_front(argmin_op)


def _extreme_front(name: str, reduce: Any, arg: Any, pairwise: str) -> Any:
    def call(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            check_extremes(name, input, dim)
            return reduce(input)
        if not isinstance(dim, int):
            return lookup(pairwise)(input, dim)
        from symgrad.ops.indexing.gathering import take_along

        if not shape_of(input):
            axis_of(dim, 0)
            return named(name)((clone(input), arg(cast(input, np.uint8) if input.dtype == np.bool_ else input)))
        check_entries(name, input, dim)
        # Truth values are ordered, though argmax and argmin refuse them.
        indices = arg(cast(input, np.uint8) if input.dtype.kind == "b" else input, dim, True)
        values = take_along(input, indices, dim)
        if not keepdim:
            axis = (axis_of(dim, len(shape_of(input))),)
            values, indices = squeeze_op(values, dim=axis), squeeze_op(indices, dim=axis)
        return named(name)((values, indices))

    call.__name__ = name
    call.__doc__ = (
        f"Three forms, as torch: the {name} of all entries; with ``dim`` the pair (values, indices), where the "
        "gradient goes to the entry returned; with a second tensor the entrywise one."
    )
    return front(name, words={"other": "dim"})(call)


max_ = _extreme_front("max", amax, argmax, "maximum")
min_ = _extreme_front("min", amin, argmin, "minimum")

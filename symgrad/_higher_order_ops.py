"""torch's control flow as functions: here they are Python's ``if`` and ``for``, which every transformation follows.

Programs that are compiled of them hold for the branch and the number of steps that were taken, as of any other code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.tape import containers
from symgrad.tensor import FUNCTIONS, Tensor

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

_stack = FUNCTIONS["stack"]


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    """``true_fn(*operands)`` where ``pred`` is true, ``false_fn(*operands)`` where it is not; the other never runs.

    ``pred`` is a bool or a tensor of one entry; ``ArgumentError`` for a tensor of several.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, -3.0], requires_grad=True)
    >>> y = sg.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x**2, (x,))
    >>> y.sum().backward()
    >>> x.grad
    tensor([ 2., -6.])
    """
    return (true_fn if _holds("pred", pred) else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]) -> Any:
    """``carried = body_fn(*carried)`` as long as ``cond_fn(*carried)``: what the last step gave.

    Raises ``ArgumentError`` where a step gives more or fewer values than it was given.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.5, requires_grad=True)
    >>> steps, y = sg.while_loop(lambda k, y: y < 10, lambda k, y: (k + 1, y * x), (sg.tensor(0), x))
    >>> y.backward()
    >>> steps, y, x.grad
    (tensor(5), tensor(11.3906, grad_fn=<MulBackward0>), tensor(45.5625))
    """
    if not isinstance(carried_inputs, (tuple, list)):
        raise ArgumentError(f"carried_inputs must be a tuple or list, got {type(carried_inputs).__name__}")
    made: Any = tuple(carried_inputs)
    row = made
    while _holds("cond_fn", cond_fn(*row)):
        made = body_fn(*row)
        row = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if len(row) != len(carried_inputs):
            raise ArgumentError(
                "Expected body_fn_output and carried_inputs to have same number of outputs but got "
                f"{len(row)} and {len(carried_inputs)}"
            )
    return made


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """``carry, y = combine_fn(carry, x)`` for every slice ``x`` of ``xs`` along ``dim``: the last carry, all y stacked.

    ``init``, ``xs`` and the results may be nested; y are stacked along ``dim``, too.  With ``reverse`` the last slice
    comes first, and every y stands where its x stood.  Raises ``ArgumentError`` for ``xs`` without tensors or of
    several lengths, and for steps that give no pair.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> last, sums = sg._higher_order_ops.scan(lambda s, x: (s + x, s * x), sg.tensor(0.0), x)
    >>> sums
    tensor([0., 2., 9.], grad_fn=<StackBackward0>)
    >>> sums.sum().backward()
    >>> x.grad
    tensor([5., 4., 3.])
    """
    rows = _slices("scan", xs, dim)
    found = []
    for row in reversed(rows) if reverse else rows:
        made = combine_fn(init, row)
        if not isinstance(made, (tuple, list)) or len(made) != 2:  # a tensor of two rows is no pair
            raise ArgumentError(f"scan: combine_fn gives (carry, y), but this one gave {made!r:.60}")
        init, y = made
        found.append(y)
    return init, _stacked(found[::-1] if reverse else found, dim)


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",  # noqa: ARG001  (how torch computes it)
) -> Any:
    """All partial results of ``combine_fn`` over the slices of ``xs`` along ``dim``, as ``cumsum`` is of ``+``.

    ``combine_fn(a, b)`` takes what came before and the next slice, both nested as ``xs``; it is expected to be
    associative.  Raises ``ArgumentError`` for ``xs`` without tensors or of several lengths.

    >>> import symgrad as sg
    >>> decay, drive = sg.tensor([0.5, 0.5, 2.0]), sg.ones(3)
    >>> step = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    >>> sg._higher_order_ops.associative_scan(step, (decay, drive), 0)
    (tensor([0.5000, 0.2500, 0.5000]), tensor([1.0000, 1.5000, 4.0000]))
    """
    rows = _slices("associative_scan", xs, dim)
    rows = rows[::-1] if reverse else rows
    found = rows[:1]
    for row in rows[1:]:
        found.append(combine_fn(found[-1], row))
    return _stacked(found[::-1] if reverse else found, dim)


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for every slice ``x`` of ``xs`` along its first axis, stacked.

    Raises ``ArgumentError`` for ``xs`` without tensors or of several lengths.

    >>> import symgrad as sg
    >>> sg._higher_order_ops.map(lambda x, w: (x * w).sum(), sg.tensor([[1.0, 2.0], [3.0, 4.0]]), sg.ones(2))
    tensor([3., 7.])
    """
    return _stacked([f(row, *args) for row in _slices("map", xs, 0)], 0)


def _holds(name: str, condition: Any) -> bool:
    if isinstance(condition, Tensor) and condition.numel() != 1:
        raise ArgumentError(f"Expected {name} to be bool or single-element tensor, but got {condition}.")
    return bool(condition)


def _slices(name: str, xs: Any, dim: int) -> list[Any]:
    """A container of tensors as one of their slices for every place along ``dim``."""
    leaves, structure = containers.flatten(xs)
    sizes = {leaf.size(dim) if isinstance(leaf, Tensor) else None for leaf in leaves}
    if len(sizes) != 1 or None in sizes:
        raise ArgumentError(f"{name}: xs are tensors with as many slices along axis {dim} as one another")
    parts = zip(*(leaf.unbind(dim) for leaf in leaves), strict=True)
    return [containers.unflatten(structure, iter(part)) for part in parts]


def _stacked(rows: Sequence[Any], dim: int) -> Any:
    if not rows:
        raise ArgumentError("there is nothing to go over: xs has no slices along the axis")
    apart = [containers.flatten(row) for row in rows]
    if any(structure != apart[0][1] for _, structure in apart):
        raise ArgumentError("the function gives results that are nested differently for different slices of xs")
    leaves = zip(*(leaves for leaves, _ in apart), strict=True)
    return containers.unflatten(apart[0][1], iter([_stack(same, dim) for same in leaves]))

"""JAX's ``gather`` and ``scatter`` as one index of arrays, which is what getitem and index_put take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import OutOfBounds
from symgrad.op import shape_of
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor


def gather(params: dict[str, Any], out: Any) -> Callable[..., Any]:
    """The windows of an array at given starts."""
    numbers, sizes = params["dimension_numbers"], tuple(params["slice_sizes"])
    window = [d for d in range(len(sizes)) if d not in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)]
    starts = Starts(numbers.start_index_map, numbers.operand_batching_dims, numbers.start_indices_batching_dims)
    mode = str(params["mode"])

    def run(x: Any, indices: Any) -> Any:
        order, index, tail = starts.index(shape_of(x), indices, sizes, window, mode, "gather")
        found = sg.permute(x, tuple(order))[tuple(index)] if index else x
        batch = len(shape_of(indices)) - 1
        now = [*[d for d in window if d not in tail], *tail]  # the axes of the windows, as they stand after the batch
        place = {d: batch + k for k, d in enumerate(now)}
        inner = iter(place[d] for d in window)
        outer = iter(range(batch))
        axes = tuple(next(inner) if k in numbers.offset_dims else next(outer) for k in range(len(out.shape)))
        return found if axes == tuple(range(len(axes))) else sg.permute(found, axes)

    return run


def scatter(accumulate: bool) -> Callable[..., Any]:
    """The rule of an array into which windows are written, or to which they are added."""

    def rule(params: dict[str, Any], _: Any) -> Callable[..., Any]:
        numbers, mode = params["dimension_numbers"], str(params["mode"])
        batching = numbers.operand_batching_dims
        starts = Starts(numbers.scatter_dims_to_operand_dims, batching, numbers.scatter_indices_batching_dims)

        def run(x: Any, indices: Any, updates: Any) -> Any:
            shape = shape_of(x)
            window = [d for d in range(len(shape)) if d not in (*numbers.inserted_window_dims, *batching)]
            widths = dict(zip(window, (shape_of(updates)[k] for k in numbers.update_window_dims), strict=True))
            sizes = tuple(widths.get(d, 1) for d in range(len(shape)))
            order, index, tail = starts.index(shape, indices, sizes, window, mode, "scatter")
            now = [*[d for d in window if d not in tail], *tail]
            place = dict(zip(window, numbers.update_window_dims, strict=True))
            batch = [k for k in range(len(shape_of(updates))) if k not in numbers.update_window_dims]
            updates = sg.permute(updates, (*batch, *[place[d] for d in now]))
            if not index:
                return x + updates if accumulate else updates
            written = sg.index_put(sg.permute(x, tuple(order)), tuple(index), updates, accumulate=accumulate)
            return sg.permute(written, tuple(int(k) for k in np.argsort(order)))

        return run

    return rule


class Starts:
    """Which axes of an array the numbers of an index array stand for."""

    def __init__(self, axes: Sequence[int], batching: Sequence[int], places: Sequence[int]):
        self.axes = tuple(map(int, axes))
        self.batching = dict(zip(map(int, batching), map(int, places), strict=True))

    def index(
        self, shape: Sequence[int], indices: Any, sizes: Sequence[int], window: Sequence[int], mode: str, name: str
    ) -> tuple[list[int], list[Any], list[int]]:
        """The order of axes, indexed ones first; one index array for each of these; the axes that are taken whole."""
        batch = shape_of(indices)[:-1]
        tail = [d for d in window if d not in self.axes and sizes[d] == shape[d]]
        lines = [d for d in window if d not in tail]
        ahead = [d for d in range(len(shape)) if d not in tail]
        rank = len(batch) + len(lines)
        out = []
        for d in ahead:
            found: Any = np.zeros((1,) * rank, dtype=np.int64)
            if d in self.batching:
                at = self.batching[d]
                found = np.arange(shape[d]).reshape([-1 if k == at else 1 for k in range(rank)])
            if d in self.axes:
                start = _inside(indices[..., self.axes.index(d)], shape[d] - sizes[d], mode, name)
                found = found + sg.reshape(start, (*batch, *(1 for _ in lines)))
            if d in lines:
                at = len(batch) + lines.index(d)
                found = found + np.arange(sizes[d]).reshape([-1 if k == at else 1 for k in range(rank)])
            out.append(found)
        return [*ahead, *tail], _broadcast(out), tail


def _inside(start: Any, most: int, mode: str, name: str) -> Any:
    """Starts as the mode says: clipped, or known to be inside; others that are not are refused."""
    values = start.numpy(force=True) if isinstance(start, Tensor) else np.asarray(start)
    if values.size and (values.min() < 0 or values.max() > most):
        if "CLIP" not in mode:
            raise OutOfBounds(
                f"{name}: an index leaves its axis (places up to {most}, found {values.min()} to {values.max()}); JAX "
                "fills such entries in or drops them, which is not known here. Index with mode='clip', or mend them."
            )
        return sg.clamp(start, 0, most) if isinstance(start, Tensor) else np.clip(values, 0, most)
    return start


def _broadcast(index: list[Any]) -> list[Any]:
    """Index arrays of one shape, so that which of them are tensors makes no difference."""
    if any(isinstance(i, Tensor) for i in index):
        return list(sg.broadcast_tensors(*[i if isinstance(i, Tensor) else tensor(i) for i in index]))
    return list(np.broadcast_arrays(*index)) if index else []


__all__ = ["gather", "scatter"]

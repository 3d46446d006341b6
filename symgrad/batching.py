"""``vmap``: a function of single examples over a batch of them.

The function runs once per example and the results are stacked, so everything that runs on tensors can be mapped,
differentiated and shown as a formula; it costs as many runs as there are examples.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import shape_of
from symgrad.ops.shaping import stack
from symgrad.tape import containers
from symgrad.tape.dual import Dual
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that maps ``func`` over an axis of its arguments and stacks the results.

    ``in_dims`` says which axis of each argument is the batch: one int for all, or a nesting like that of the arguments
    with None for what all examples share.  ``out_dims`` says where the batch goes in the results, as one int or a
    nesting like that of the results.  ``randomness`` (``"error"``, ``"different"``, ``"same"``) and ``chunk_size`` are
    taken as in torch; examples run one after the other, so random functions differ from one to the next, and
    ``"same"`` is refused.  Raises ``ValueError`` for batches of different sizes or none at all.

    >>> import symgrad as sg, numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> sg.func.vmap(sg.func.grad(lambda x: (x * x).sum()))(X)
    tensor([[ 2.,  4.],
            [ 6.,  8.],
            [10., 12.]], dtype=float64)
    """
    if randomness not in ("error", "different", "same"):
        raise ArgumentError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if randomness == "same":
        raise ArgumentError(
            "vmap(randomness='same') is not offered: examples run one after the other; draw the numbers outside of the "
            "function and pass them with in_dims None."
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentError(f"vmap: chunk_size should be None or greater than 0 (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = containers.flatten(tuple(args))
        dims = [_axis(leaf, dim) for leaf, dim in zip(leaves, _spread(in_dims, structure), strict=True)]
        # Keyword arguments are mapped over their first axis.
        named, named_structure = containers.flatten(kwargs)
        leaves += named
        dims += [_axis(leaf, 0) for leaf in named]
        leaves = [_tensor(leaf) if dim is not None else leaf for leaf, dim in zip(leaves, dims, strict=True)]
        rows = []
        for k in range(_batch_size(leaves, dims)):
            row = iter([_example(x, dim, k) for x, dim in zip(leaves, dims, strict=True)])
            given = containers.unflatten(structure, row)
            rows.append(func(*given, **containers.unflatten(named_structure, row)))
        return _stacked(rows, out_dims)

    return mapped


def _example(leaf: Any, dim: int | None, k: int) -> Any:
    """Example ``k`` of one argument."""
    return leaf if dim is None else leaf[(slice(None),) * dim + (k,)]


def _tensor(leaf: Any) -> Any:
    return leaf if isinstance(leaf, (Recorded, Dual)) else plain(Tensor, np.asarray(leaf))


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (Recorded, Dual, np.ndarray))


def _axis(leaf: Any, dim: Any) -> int | None:
    """The batch axis of one argument, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ArgumentError(f"vmap: in_dims holds ints and None, not {dim!r}.")
    if not _is_array(leaf):
        raise ArgumentError(
            f"vmap: got in_dim={dim} for an input of type {type(leaf).__name__}; cannot vmap over non-Tensor "
            "arguments. Please use None as the respective in_dim."
        )
    rank = len(shape_of(leaf))
    if not -rank <= dim < rank:
        raise ArgumentError(
            f"vmap: got in_dim={dim} for an input with {rank} dimensions; it must satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _spread(dims: Any, structure: Any) -> list[Any]:
    """One entry per leaf of the structure."""
    if structure == containers.LEAF:
        return [dims]
    _, keys, parts = structure
    if isinstance(dims, (int, type(None))):
        rows = [dims] * len(parts)
    elif isinstance(dims, dict):
        rows = [dims[key] for key in keys]
    elif isinstance(dims, (tuple, list)) and len(dims) == len(parts):
        rows = list(dims)
    else:
        raise ArgumentError(f"vmap: in_dims is not compatible with the structure of the inputs: {dims!r} for {keys}.")
    return [found for row, part in zip(rows, parts, strict=True) for found in _spread(row, part)]


def _batch_size(leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [shape_of(x)[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ArgumentError("vmap: expected at least one Tensor to vmap over; in_dims names no axis of any argument.")
    if len(set(sizes)) > 1:
        raise ArgumentError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    if not sizes[0]:
        raise ArgumentError("vmap: the mapped dimension has size 0, and no example says what the results look like.")
    return int(sizes[0])


def _stacked(rows: list[Any], out_dims: Any) -> Any:
    """The results of all examples as one."""
    columns = [containers.flatten(row) for row in rows]
    structure = columns[0][1]
    if any(other != structure for _, other in columns):
        raise ArgumentError("vmap: the function gave results nested differently for different examples.")
    dims = _spread(out_dims, structure)
    parts = zip(*(leaves for leaves, _ in columns), strict=True)
    return containers.unflatten(structure, iter([_joined(part, dim) for part, dim in zip(parts, dims, strict=True)]))


def _joined(part: tuple[Any, ...], dim: Any) -> Any:
    if dim is None:
        return part[0]
    if not all(isinstance(x, (Recorded, Dual, np.ndarray, np.generic, int, float, complex)) for x in part):
        raise ArgumentError(
            f"vmap: the function must only return Tensors, got type {type(part[0]).__name__} as the return."
        )
    return stack([x if isinstance(x, Dual) else _tensor(x) for x in part], dim)

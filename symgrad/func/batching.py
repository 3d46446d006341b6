"""``vmap``: a function of single examples over a batch of them.

The function runs once and is repeated on the whole batch (:mod:`symgrad.func.at_once`).  Where it does more than
operations on tensors (looks at values that differ between examples, draws random numbers), it runs once per example and
the results are stacked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from symgrad.autograd.functions.batched import Level, VmapInfo, in_batches
from symgrad.errors import ArgumentError
from symgrad.func.at_once import Apart, at_once
from symgrad.func.bound import applied, of_arrays, released
from symgrad.func.chances import drawing
from symgrad.op import shape_of
from symgrad.ops.shapes.joining import cat, stack
from symgrad.ops.shapes.shaping import movedim
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tape.forward.dual import Dual
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import RUNNING
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.standins import inner
from symgrad.tape.threads import meanwhile
from symgrad.tape.watching.captured import captured, sharing, transforming
from symgrad.tensor import Tensor

Result = TypeVar("Result")

__all__ = ["vmap"]

_CARRIED = (Recorded, Dual, Bundle)
_TENSORS = (*_CARRIED, np.ndarray)


def vmap(
    func: Callable[..., Result],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Result]:
    """The function that maps ``func`` over an axis of its arguments and stacks the results.

    ``in_dims`` says which axis of each argument is the batch: one int for all, or a tuple nested like the arguments
    with None for what all examples share, as they do keyword arguments.  ``out_dims`` says where the batch goes in the
    results, as one int or a nesting like that of the results; None is for what is the same for all examples.  Random
    functions are refused unless ``randomness`` is ``"different"`` (other numbers for every example) or ``"same"``.
    ``chunk_size`` is how many examples go together at most, for batches that are larger than memory.

    The function runs on one example, and what it did is repeated on all of them together.  It may look at values
    (branches, ``item()``): where the examples answer differently they run one after the other, as they do where the
    function draws random numbers or gives nan.
    Raises ``ValueError`` for batches of different sizes or none at all.

    >>> import symgrad as sg, numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> sg.func.vmap(sg.func.grad(lambda x: (x * x).sum()))(X)
    tensor([[ 2.,  4.],
            [ 6.,  8.],
            [10., 12.]], dtype=float64)
    """
    if randomness not in ("error", "different", "same"):
        raise ArgumentError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        name = _name(func)
        args, kwargs = inner((args, kwargs))
        leaves, structure = containers.flatten(tuple(args))
        dims = _axes(leaves, structure, in_dims, name)
        named, named_structure = containers.flatten(kwargs)
        arrays = of_arrays((args, kwargs))
        dims += [None] * len(named)
        leaves = [_tensor(x) if dim is not None else x for x, dim in zip([*leaves, *named], dims, strict=True)]

        def run(row: list[Any]) -> Any:
            entries = iter(row)
            given = containers.unflatten(structure, entries)
            return applied(func, given, containers.unflatten(named_structure, entries), arrays)

        size = _batch_size(leaves, dims)
        if chunk_size is not None and size > chunk_size:
            chunks = [[_part(x, dim, k, chunk_size) for x, dim in zip(leaves, dims, strict=True)]
                      for k in range(0, size, chunk_size)]  # fmt: skip
            of_part = vmap(lambda *row: run([*row]), tuple(dims), out_dims, randomness)
            parts = []
            with drawing(randomness) as start:
                for chunk in chunks:
                    start()
                    parts.append(of_part(*chunk))
            return _end_to_end(parts, out_dims, name)
        began, depth = next(sequence), transforming()
        batch = _Batch(func, run, leaves, dims, size, out_dims, randomness)
        if not size:
            return batch.one_by_one()
        result = in_batches(VmapInfo(size, randomness), leaves, batch.each, batch.whole)
        return containers.tree_map(lambda part: released(part, began, depth + 1), result)

    return mapped


@dataclasses.dataclass(frozen=True, slots=True)
class _Batch:
    """One call of a mapped function: its arguments in a row, the batch axis of each, and ``run``, which takes a row."""

    func: Callable[..., Any]
    run: Callable[[list[Any]], Any]
    leaves: list[Any]
    dims: list[int | None]
    size: int
    out_dims: Any
    randomness: str

    def pairs(self) -> Iterator[tuple[Any, int | None]]:
        return zip(self.leaves, self.dims, strict=True)

    def mapped_over(self) -> list[Any]:
        return [x for x, dim in self.pairs() if dim is not None]

    def each(self, level: Level) -> Any:
        """One run that is repeated on all examples, or one for each where that does not do."""
        if self.size > 1 and self.randomness == "error":
            with contextlib.suppress(Apart), drawing(self.randomness) as start, self.sharing(level):
                start()
                result = at_once(self.func, self.run, self.leaves, self.dims, level.bundle)
                return _unbundled(result, self.out_dims, _name(self.func), level)
        return self.one_by_one(level)

    def sharing(self, level: Level | None) -> contextlib.AbstractContextManager[Any]:
        """Inside, the examples run: what they share is changed once, by a run on the batch itself."""
        anew = None if level is None or level.changing else level.change_once
        given = [x for x, dim in self.pairs() if dim is None and isinstance(x, Recorded)]
        return sharing(self.mapped_over(), lambda: [*given, *captured(self.func)], anew)

    def one_by_one(self, level: Level | None = None) -> Any:
        """A run for each example; of an empty batch one of what might be an example, for the shapes."""
        rows = []
        with drawing(self.randomness) as start, self.sharing(level) as examples:
            for k in range(self.size or 1):
                examples.noting = not k
                start()
                row = [_example(x, dim, k) if self.size else _imagined(x, dim) for x, dim in self.pairs()]
                with meanwhile(RUNNING, again=RUNNING.again or k + 1 < self.size):
                    rows.append(self.run(row))
        return _stacked(rows, self.out_dims, _name(self.func), bool(self.size))

    def whole(self, level: Level) -> Any:
        """One run on the batch itself, for custom functions that have a rule for it and changes of what all share."""
        with drawing("shared" if self.randomness == "different" else self.randomness):
            result = self.run([x if dim is None else level.bundle(x, dim) for x, dim in self.pairs()])
        return _unbundled(result, self.out_dims, _name(self.func), level)


def _part(leaf: Any, dim: int | None, start: int, length: int) -> Any:
    """Some examples of one argument."""
    return leaf if dim is None else leaf[(slice(None),) * dim + (slice(start, start + length),)]


def _end_to_end(parts: list[Any], out_dims: Any, name: str) -> Any:
    """The results of the parts of a batch, one behind the other."""
    columns = [containers.flatten(part) for part in parts]
    dims = _result_axes(columns[0][1], out_dims, name)
    rows = zip(*(leaves for leaves, _ in columns), strict=True)
    joined = [row[0] if dim is None else cat(row, dim) for row, dim in zip(rows, dims, strict=True)]
    return containers.unflatten(columns[0][1], iter(joined))


def _name(func: Any) -> str:
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return str(getattr(func, "__name__", func))


def _example(leaf: Any, dim: int | None, k: int) -> Any:
    """Example ``k`` of one argument."""
    return leaf if dim is None else leaf[(slice(None),) * dim + (k,)]


def _imagined(leaf: Any, dim: int | None) -> Any:
    """What stands for an example of an empty batch, for the shape of the results: ones, or an identity matrix."""
    if dim is None:
        return leaf
    shape, dtype = tuple(n for k, n in enumerate(shape_of(leaf)) if k != dim), leaf.dtype
    if dtype.kind in "biu":
        return plain(Tensor, np.zeros(shape, dtype)[()])
    square = len(shape) >= 2 and shape[-1] == shape[-2]
    filled = np.broadcast_to(np.eye(shape[-1]), shape) if square else np.ones(shape)
    return leaf.sum(dim) + plain(Tensor, np.asarray(filled, dtype)[()])


def _tensor(leaf: Any) -> Any:
    return leaf if isinstance(leaf, _CARRIED) else plain(Tensor, np.asarray(leaf))


# ---------------------------------------------------------------------------------------------- the axes


def _axes(leaves: list[Any], structure: Any, in_dims: Any, name: str) -> list[int | None]:
    """The batch axis of every argument, or None for what all examples share."""
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ArgumentError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not structure[1]:
        raise ArgumentError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    spread = spread_over(in_dims, structure)
    if spread is None:
        raise ArgumentError(
            f"{call}: in_dims is not compatible with the structure of `inputs`: an int or None stands for a whole "
            f"argument, everything else is nested as it is, {containers.shown(structure)}."
        )
    return [_axis(leaf, dim, call) for leaf, dim in zip(leaves, spread, strict=True)]


def _axis(leaf: Any, dim: Any, call: str) -> int | None:
    """The batch axis of one argument, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ArgumentError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, _TENSORS):
        raise ArgumentError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = len(shape_of(leaf))
    if not -rank <= dim < rank:
        raise ArgumentError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {rank} so expected "
            f"in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def spread_over(dims: Any, structure: Any) -> list[Any] | None:
    """One entry per leaf of the structure; None where ``dims`` are nested otherwise."""
    if structure == containers.LEAF:
        return None if isinstance(dims, (tuple, list, dict)) else [dims]
    if isinstance(structure, containers.Setting):
        return []
    kind, keys, parts = structure
    rows = [dims] * len(parts)
    if dataclasses.is_dataclass(dims):
        if type(dims) is not kind:
            return None
        rows = [getattr(dims, key) for key in keys]
    elif isinstance(dims, (tuple, list, dict)):
        other_kind, other_keys, _ = containers.flatten(dims)[1]
        if other_kind != kind or set(other_keys) != set(keys):
            return None
        rows = [dims[key] for key in keys] if isinstance(dims, dict) else list(dims)
    found: list[Any] = []
    for row, part in zip(rows, parts, strict=True):
        below = spread_over(row, part)
        if below is None:
            return None
        found += below
    return found


def _batch_size(leaves: list[Any], dims: list[int | None]) -> int:
    sizes = [shape_of(x)[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ArgumentError("vmap: Expected at least one Tensor to vmap over; in_dims names no axis of any input")
    if len(set(sizes)) > 1:
        raise ArgumentError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    return int(sizes[0])


# ---------------------------------------------------------------------------------------------- the results


def _unbundled(result: Any, out_dims: Any, name: str, level: Level) -> Any:
    """The results of a run on bundles."""
    leaves, structure = containers.flatten(result)
    dims = _result_axes(structure, out_dims, name)
    joined = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is None or not isinstance(leaf, (*_TENSORS, np.generic)):
            one = leaf.each() if level.owns(leaf) else (leaf,)
            joined.append(_joined(one, dim, name))
        else:
            whole = bundled(leaf if level.owns(leaf) else _tensor(leaf), level.tag, level.info.batch_size)
            joined.append(movedim(whole, 0, dim) if dim else whole)
    return containers.unflatten(structure, iter(joined))


def _stacked(rows: list[Any], out_dims: Any, name: str, filled: bool) -> Any:
    """The results of all examples as one; of an empty batch, no example of them."""
    columns = [containers.flatten(row) for row in rows]
    structure = columns[0][1]
    if any(other != structure for _, other in columns):
        raise ArgumentError("vmap: the function gave results nested differently for different examples.")
    dims = _result_axes(structure, out_dims, name)
    parts = zip(*(leaves for leaves, _ in columns), strict=True)
    joined = [_joined(part, dim, name) for part, dim in zip(parts, dims, strict=True)]
    if not filled:
        joined = [x if dim is None else x.narrow(dim, 0, 0) for x, dim in zip(joined, dims, strict=True)]
    return containers.unflatten(structure, iter(joined))


def _result_axes(structure: Any, out_dims: Any, name: str) -> list[Any]:
    """Where the batch goes in every result."""
    call = f"vmap({name}, ..., out_dims={out_dims})"
    if not all(dim is None or type(dim) is int for dim in containers.flatten(out_dims)[0]):
        raise ArgumentError(
            f"{call}: `out_dims` must be an int, None or a python collection of ints representing where in the outputs "
            "the vmapped dimension should appear."
        )
    if structure == containers.LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        out_dims = out_dims[0]
    dims = spread_over(out_dims, structure)
    if dims is None:
        raise ArgumentError(
            f"{call}(<inputs>): out_dims is not compatible with the structure of `outputs`: it is nested as they are, "
            f"{containers.shown(structure)}."
        )
    return dims


def _joined(part: tuple[Any, ...], dim: Any, name: str) -> Any:
    if dim is None:
        if any(isinstance(x, _TENSORS) for x in part) and not _common(part):
            raise ArgumentError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return part[0]
    if not all(isinstance(x, (*_TENSORS, np.generic)) for x in part):
        kind = next(type(x) for x in part if not isinstance(x, (*_TENSORS, np.generic)))
        raise ArgumentError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {kind}. Did you mean to set "
            "out_dims= to None for output?"
        )
    return stack([_tensor(x) for x in part], dim)


def _common(part: tuple[Any, ...]) -> bool:
    """Whether all examples gave the same: one object, or equal values that nothing will be differentiated by."""
    first = part[0]
    if all(x is first for x in part):
        return True
    if any(isinstance(x, (Dual, Bundle)) or getattr(x, "requires_grad", False) for x in part):
        return False
    arrays = [np.asarray(value_of(x)) for x in part]
    return all(x.shape == arrays[0].shape and x.tobytes() == arrays[0].tobytes() for x in arrays)

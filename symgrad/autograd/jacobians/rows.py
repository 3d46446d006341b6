"""Many cotangents in one backward pass, as a bundle: all rows of a Jacobian, or a batch that somebody gives.

A Jacobian that is to be differentiated itself is pulled back so, too: its rows are one stack on the tape, whose formula
has letters for sizes and nothing for each row.

That needs a graph in which nothing but the table's rules runs.  Where somebody's code takes part (hooks, custom
functions), where a rule works in torch's dtypes (half precision, operands of several dtypes), or where a row came out
as nan and has a second answer (:mod:`symgrad.autograd.sweeps.rescue`), the rows are pulled back one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.anomaly_mode import ANOMALY
from symgrad.autograd.profiler import ACTIVE
from symgrad.autograd.sweeps.entrances import COMPLEX_SEED, _check, _check_targets, run_sweep
from symgrad.autograd.sweeps.rescue import is_lost, read_blocks
from symgrad.errors import ArgumentError, AutogradError, OutOfBounds
from symgrad.op import shape_of
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.shapes.joining import cat, stack
from symgrad.ops.torch_nodes.kinds import Steps
from symgrad.tape.backward.engine import Sweep, passed
from symgrad.tape.backward.narrow import needs_torchs_dtypes
from symgrad.tape.backward.order import in_order
from symgrad.tape.formulas.origin import Origin, attach
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.graph import FREED, Labelled, Node
from symgrad.tape.memory.views import out_of_reach
from symgrad.tape.observers import PackedRow
from symgrad.tape.record import Recorded, plain, root_of
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor
from symgrad.tensor.creation import eye
from symgrad.tensor.facts import Shape

_KINDS = frozenset({"elementwise", "multilinear", "primitive"})
_ENTRIES = 1 << 22
"""So many entries of one cotangent are pulled back at once, as a rule."""


def pulled_rows(out: Any, variables: Sequence[Any], chunk_size: int | None = None) -> list[Any] | None:
    """The gradients of every entry of ``out`` by the variables, stacked as arrays: one array for each of them.

    None where they have to be pulled back one by one.  ``chunk_size`` is how many go at once.
    """
    value = out._value
    if not value.ndim or value.size < 2 or out._node is None or not out._requires_grad:
        return None

    def units(start: int, stop: int) -> list[Any]:
        rows = np.zeros((stop - start, value.size), value.dtype)
        rows[range(len(rows)), range(start, stop)] = 1
        return [rows.reshape(-1, *value.shape)]

    found = _in_blocks([out], variables, value.size, units, chunk_size)
    if found is None:
        return None
    like = [v._value for v in variables]
    return [
        np.zeros((value.size, *x.shape), x.dtype) if rows is None else rows for rows, x in zip(found, like, strict=True)
    ]


def recorded_rows(out: Any, variables: Sequence[Any], chunk_size: int | None) -> list[Any] | None:
    """The Jacobian of ``out`` by each of the variables as a tensor with history, of shape output + input.

    None where the rows have to be pulled back one by one.  Every axis of ``out`` has a bundle of its own, so that the
    cotangents are a product of identities, which formulas know.
    """
    shape = tuple(out._value.shape)
    if out._value.size < 2 or out._node is None or not out._requires_grad:
        return None
    if _free_way([out], variables) is None:
        return None
    if (read := read_blocks(out, variables)) is not None:
        return [_laid_out([block], shape + v._value.shape, v.dtype) for block, v in zip(read, variables, strict=True)]
    # All of them stay on the tape, however few go at once.
    width = shape[0] if chunk_size is None else max(1, chunk_size * shape[0] // out._value.size)
    blocks: list[list[Any]] = [[] for _ in variables]
    for start in range(0, shape[0], width):
        found = _recorded(out, variables, slice(start, start + width))
        if any(is_lost(block._value) for block in found if isinstance(block, Recorded)):
            return None
        for block, row in zip(found, blocks, strict=True):
            row.append(block)
    return [_laid_out(row, shape + v._value.shape, v.dtype) for row, v in zip(blocks, variables, strict=True)]


def _laid_out(row: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Recorded rows as one tensor, a view of a temporary one: of the stack of rows."""
    whole = plain(Tensor, np.zeros(shape, dtype)) if row[0] is None else row[0] if len(row) == 1 else cat(row)
    if whole._node is None:
        return whole.view(shape)
    rows = ",".join("xyzw"[: len(whole._node.args)])  # stand for what was pulled back together
    Labelled.on(whole._node, Steps.of("ViewBackward0", f"View(Stack({rows}))", hidden="StackBackward0"))
    return whole


def _recorded(out: Any, variables: Sequence[Any], rows: slice) -> list[Any]:
    """The gradients of some rows of ``out``, recorded; None where none arrive."""
    shape = tuple(out._value.shape)
    units = [eye(n, dtype=out.dtype) for n in shape]
    if rows != slice(0, shape[0]):
        units[0] = units[0][rows]
    axes = range(len(shape))
    labels = tuple((k, len(shape) + k) for k in axes)
    sizes = tuple(u._value.shape[0] for u in units)
    seed = contract(units, labels, (*axes, *(b for _, b in labels)), sizes + shape) if len(shape) > 1 else units[0]
    tags = [dual.new_tag() for _ in shape]
    for tag in tags:
        seed = Bundle(tag, seed)
    found = run_sweep(
        [out], [seed], [root_of(v) for v in variables], True, True, Origin([out], [None]), lambda _, g: g
    ).found
    whole = []
    for variable in variables:
        g = found.get(root_of(variable))
        if g is not None:
            for tag, size in zip(reversed(tags), reversed(sizes), strict=True):
                g = bundled(g, tag, size)
        whole.append(g)
    return whole


def pulled_batch(
    grad: Callable[..., tuple[Any, ...]],
    outs: Sequence[Any],
    variables: Sequence[Any],
    batches: Sequence[Any],
    keep: bool,
    create_graph: bool,
) -> list[Any]:
    """The gradients of ``outs`` for every entry of some batches of cotangents, along an axis in front.

    None for a variable that is not used.  ``grad`` pulls back a single row; after it, unless ``keep``, the graph is
    freed.
    """
    count = _count(outs, batches)
    if not create_graph and not any(isinstance(faced(x), Dual) for x in (*outs, *variables, *batches)):
        _check(outs)
        _check_targets(variables)
        seeds = [g._value.astype(out.dtype, copy=False) for out, g in zip(outs, batches, strict=True)]
        found = _in_blocks(outs, variables, count, lambda *ends: [s[slice(*ends)] for s in seeds], None, keep)
        if found is not None:
            origin = Origin(outs, batches)
            origin.pulled = "rows"
            rows = zip(found, variables, strict=True)
            return [None if g is None else attach(plain(Tensor, g), origin, v) for g, v in rows]
    table = []
    for k in range(count):
        last = k == count - 1
        row = [g[k] for g in batches]
        table.append(grad(outs, variables, row, keep or not last, create_graph, allow_unused=True))
    return [None if column[0] is None else stack(column) for column in zip(*table, strict=True)]


def _count(outs: Sequence[Any], batches: Sequence[Any]) -> int:
    """How many cotangents there are for every output."""
    for k, (out, g) in enumerate(zip(outs, batches, strict=True)):
        dtype = getattr(g, "dtype", None)
        if g is None:
            raise ArgumentError(
                "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
                "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0. (With is_grads_batched=True every "
                f"output needs a batch of grad_outputs; that of output {k} is None.)"
            )
        if not isinstance(g, (Recorded, Dual)):
            raise ArgumentError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if tuple(shape_of(g))[1:] != tuple(shape_of(out)) or not shape_of(g):
            raise AutogradError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{k}] has a shape of {Shape(shape_of(g))} and "
                f"output[{k}] has a shape of {Shape(shape_of(out))}. If you only want some tensors in `grad_output` to "
                "be considered batched, consider using vmap."
            )
        if (dtype.kind == "c") is not (out.dtype.kind == "c"):  # type: ignore[union-attr]
            raise AutogradError(COMPLEX_SEED.format(k, dtype, k, out.dtype))
    sizes = [int(shape_of(g)[0]) for g in batches]
    if len(set(sizes)) > 1:
        raise ArgumentError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    if not sizes[0]:
        raise OutOfBounds("index 0 is out of bounds for dimension 0 with size 0: the batch of grad_outputs is empty")
    return sizes[0]


def _in_blocks(
    outs: Sequence[Any],
    variables: Sequence[Any],
    count: int,
    seeds: Callable[[int, int], list[Any]],
    chunk_size: int | None,
    keep: bool = True,
) -> list[Any] | None:
    """The gradients for ``count`` rows of ``seeds(start, stop)``, or None where rows have to be pulled one by one."""
    way = None if watching() is not None else _free_way(outs, variables)
    if way is None or any(is_lost(out._value) for out in outs):
        return None
    wanted, nodes = way
    largest = max((int(np.prod(node.shape, dtype=int)) for node in nodes), default=0)
    largest = max(largest, *(out._value.size for out in outs))
    width = min(count, chunk_size or max(1, _ENTRIES // max(largest, 1)))
    if width < 2:
        return None
    blocks: list[list[Any]] = [[] for _ in variables]
    for start in range(0, count, width):
        rows = seeds(start, min(start + width, count))
        found = _pulled(outs, variables, wanted, rows)
        if any(is_lost(block) for block in found if block is not None):
            return None
        for block, row in zip(found, blocks, strict=True):
            row.append(block)
    if not keep:
        for node in nodes:
            node.saved = FREED
    return [None if row[0] is None else np.array(row[0]) if len(row) == 1 else np.concatenate(row) for row in blocks]


def _free_way(outs: Sequence[Any], variables: Sequence[Any]) -> tuple[list[Any], list[Node]] | None:
    """The edges that are wanted and the nodes on the way to them; None where something else than rules takes part."""
    if ANOMALY.enabled or ACTIVE or any(out.dtype.kind != "f" for out in outs):
        return None
    wanted = [root_of(v) for v in variables if not out_of_reach(v)]
    roots = [root_of(out) for out in outs]
    way = Sweep([(root, None) for root in roots], wanted, False, True, passed, passed, passed, passed, passed)
    nodes = in_order(way)
    if any(map(_watched, (*roots, *way.leaves))) or not all(map(_open, nodes)):
        return None
    return wanted, nodes


def _watched(end: Any) -> bool:
    """Whether hooks of a root or a leaf may run, also where the root leads to nothing that is wanted."""
    return end.extra is not None if end.__class__ is Node else end.has_hooks()


def _open(node: Node) -> bool:
    op, saved = node.op, node.saved
    return (
        op.kind in _KINDS
        and not op.underived
        and node.extra is None
        and saved.__class__ is not PackedRow
        and node.dtype.kind == "f"
        and (saved is FREED or not needs_torchs_dtypes(node, saved))
    )


def _pulled(outs: Sequence[Any], variables: Sequence[Any], wanted: Sequence[Any], rows: Sequence[Any]) -> list[Any]:
    """The gradients for the cotangents of a bundle; None where none arrive."""
    tag, width = dual.new_tag(), len(rows[0])
    seeds = [Bundle(tag, row) for row in rows]
    sweep = run_sweep(outs, seeds, wanted, True, False, Origin(outs, [None] * len(outs)), lambda _, g: g)
    found = [sweep.found.get(root_of(variable)) for variable in variables]
    return [None if g is None else bundled(g, tag, width) for g in found]

"""A mapped function in one run: recorded on one example, repeated on all of them together.

Every operation that the function made of its example is an op of the table, and these run on bundles
(:mod:`symgrad.tape.forward.bundle`): a product gets the batch as one label more of its einsum.  What does more than
such operations (looks at values that differ between examples, draws random numbers, runs somebody's ``backward``) is
left to one run per example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.compiler.trace import note_rewritten, note_unrepeatable
from symgrad.compiler.verbatim import KINDS
from symgrad.dtypes import is_floating, is_narrow
from symgrad.errors import SymgradError
from symgrad.op import carrier_of, shape_of
from symgrad.ops.shapes.shaping import movedim
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tape.forward.dual import BY_HAND, Dual, faced
from symgrad.tape.graph import Node, Source
from symgrad.tape.modes import enable_grad
from symgrad.tape.numbering import sequence
from symgrad.tape.operands import as_operand
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.captured import captured
from symgrad.tape.watching.changes import changes_seen
from symgrad.tape.watching.watch import WATCH, Watch
from symgrad.tensor import Tensor


class Apart(Exception):
    """The examples have to run one by one."""


def at_once(
    func: Callable[..., Any], run: Callable[[list[Any]], Any], leaves: Sequence[Any], dims: Sequence[int | None],
    bundle: Callable[[Any, int], Bundle],
) -> Any:  # fmt: skip
    """The results of ``run`` as bundles of all examples, nested as it nests them.

    ``leaves`` are the arguments, ``dims`` their batch axes; ``bundle`` makes a bundle of one.  Raises
    :class:`Apart` where the examples have to run one by one.
    """
    inputs: dict[int, Any] = {}
    row = []
    for x, dim in zip(leaves, dims, strict=True):
        row.append(_example(x, dim) if dim is not None or isinstance(x, Dual) else x)
        if row[-1] is not x:
            inputs[id(row[-1])] = x if dim is None else bundle(x, dim)
    start = next(sequence)
    with _traces_left_as_they_are(), Watch(everything=True) as watch:
        try:
            with enable_grad(), changes_seen(note_unrepeatable):
                found, structure = containers.flatten(run(row))
                note_rewritten(watch)
                found = [faced(r) for r in found]
        except Exception as error:  # whatever it is, an example that runs by itself raises it, or does not
            raise Apart from error
    inputs |= {id(v): _constant(v) for v in watch.variables}
    moving = any(isinstance(r, Dual) for r in found)
    if watch.problems or (moving and (BY_HAND or any(isinstance(x, Dual) for x in leaves))):
        raise Apart  # with arguments that move as well, tangents of both kinds would have to be added
    before = {id(t._node): t for t in [*leaves, *captured(func)] if isinstance(t, Recorded) and t._node is not None}
    try:
        ends = [part.edge() for r in found for part in _recorded(r)] + [read.edge for read in watch.reads]
        with np.errstate(all="ignore"):
            images = _images(ends, inputs, start, before)
    except (SymgradError, ValueError, TypeError, IndexError) as error:
        raise Apart from error
    if not all(_same_for_all(images[id(read.edge)], read.seen) for read in watch.reads):
        raise Apart
    made = [_moved(r, images, next(iter(inputs.values()))) if isinstance(r, Dual) else _image(r, images) for r in found]
    if any(_lost(x) for x in made):
        raise Apart  # one by one, a nan has a second answer where another spelling is finite
    return containers.unflatten(structure, iter(made))


def _example(leaf: Any, dim: int | None) -> Any:
    """A leaf of its own like the first example, or like what all share; of what moves, where it moves from."""
    while isinstance(leaf, Dual) and leaf.tag not in BY_HAND:
        leaf = leaf.primal
    value = value_of(leaf)
    if not isinstance(value, np.ndarray):
        raise Apart
    first = () if dim is None else (slice(None),) * dim + (0,)
    made = plain(Tensor, np.array(value[first])[()])
    made._requires_grad = is_floating(made.dtype)
    if not made._requires_grad:
        made.more().name = "example"  # so that what is detached of it is followed, too, as in a program
    return made


def _constant(variable: Any) -> Any:
    """What all examples share in place of a variable of a derivative inside, under its name."""
    made = plain(Tensor, variable._value)
    made.more().name = variable.name
    return made


@contextmanager
def _traces_left_as_they_are() -> Iterator[None]:
    """What the example reads, or may not do, is nothing to who watches the mapped call."""
    marks = [(watch, len(watch.reads), len(watch.problems), len(watch.passes)) for watch in WATCH.local.stack]
    try:
        yield
    finally:
        for watch, reads, problems, passes in marks:
            del watch.reads[reads:], watch.problems[problems:], watch.passes[passes:]


def _images(edges: Sequence[Any], inputs: dict[int, Any], start: int, before: dict[int, Any]) -> dict[int, Any]:
    """What every edge is for the whole batch: nodes younger than ``start`` run again, older ones are as they were."""
    images: dict[int, Any] = {}
    nodes: list[Node] = []
    stack = [*edges]
    while stack:
        edge = stack.pop()
        if id(edge) in images:
            continue
        if not isinstance(edge, Node):
            images[id(edge)] = _leaf(edge, inputs)
        elif edge.sequence_nr <= start:
            if id(edge) not in before:
                raise Apart
            images[id(edge)] = before[id(edge)]
        else:
            images[id(edge)] = None
            nodes.append(edge)
            stack += [arg for arg in edge.args if isinstance(arg, (Node, Recorded, Source))]
    for node in sorted(nodes, key=lambda node: node.sequence_nr):
        if node.op.kind not in KINDS or is_narrow(node.dtype):
            raise Apart
        args = [_argument(node, arg, k, images) for k, arg in enumerate(node.args)]
        image = images[id(node)] = node.op(*args, **node.params or {})
        if image.dtype != node.dtype or tuple(shape_of(image)) != tuple(node.shape):
            raise Apart  # numbers without axes count for less in promotion than a batch of them
    return images


def _argument(node: Node, arg: Any, place: int, images: dict[int, Any]) -> Any:
    return images[id(arg)] if isinstance(arg, (Node, Recorded, Source)) else as_operand(node.op, arg, place)


def _leaf(edge: Any, inputs: dict[int, Any]) -> Any:
    """A leaf of the recorded run: the batch that an argument was an example of, or a tensor that all share."""
    alive = edge if isinstance(edge, Recorded) else edge.ref()
    if alive is None:
        raise Apart
    return inputs.get(id(alive), alive)


def _recorded(result: Any) -> Iterator[Recorded]:
    """The tensors of a result: itself, or primals and tangents; :class:`Apart` for what no graph has all of."""
    result = faced(result)
    if isinstance(result, Recorded):
        yield result
    elif isinstance(result, Dual):
        yield from (*_recorded(result.primal), *_recorded(result.tangent))
    elif isinstance(result, Bundle):
        for part in result.parts():
            yield from _recorded(part)
    elif carrier_of(result.__class__) is not None:
        raise Apart


def _image(part: Any, images: dict[int, Any]) -> Any:
    return images[id(part.edge())] if isinstance(part, Recorded) else part


def _moved(result: Any, images: dict[int, Any], batch: Bundle) -> Bundle:
    """All examples of what moves along a tangent of something captured, with their axis in front of every part."""

    def whole(part: Any) -> Any:
        part = faced(part)
        if isinstance(part, Dual):
            return Dual(whole(part.primal), whole(part.tangent), part.tag)
        if isinstance(part, Bundle) and part.rows is not None:
            return Bundle(part.tag, None, [whole(row) for row in part.rows])
        if isinstance(part, Bundle):
            return Bundle(part.tag, movedim(whole(part.whole), 0, 1))
        return bundled(_image(part, images), batch.tag, batch.width)

    return Bundle(batch.tag, whole(result))


def _same_for_all(image: Any, seen: Any) -> bool:
    """Whether every example would have seen what the recorded one saw where it looked at a value."""
    value = image.whole if isinstance(image, Bundle) else image
    value = getattr(value, "_value", value)
    return isinstance(value, (np.ndarray, np.generic)) and bool(np.all(value == seen))


def _lost(value: Any) -> bool:
    """Whether there is a nan anywhere."""
    if isinstance(value, Dual):
        return _lost(value.primal) or _lost(value.tangent)
    if isinstance(value, Bundle):
        return any(_lost(part) for part in value.parts())
    value = getattr(value, "_value", value)
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc" and bool(np.isnan(value).any())

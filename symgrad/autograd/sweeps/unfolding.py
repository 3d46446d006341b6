"""Backward through folded functions: they run once more, recorded, and the cotangent is pulled back through that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.anomaly_mode import ANOMALY
from symgrad.autograd.sweeps.entrances import grad
from symgrad.op import lookup
from symgrad.op.folds import ONE_NODE
from symgrad.ops.rules.kinks import steepest
from symgrad.tape import record
from symgrad.tape.backward.engine import Sweep, passed
from symgrad.tape.folding import PULL, Call
from symgrad.tape.graph import Labelled
from symgrad.tape.layout import like_the_leaf
from symgrad.tape.memory.anew import Again
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain, root_of, value_of
from symgrad.tensor import Tensor


def _pulled(
    call: Call | Again, g: Any, inputs: Sequence[Any], wanted: Sequence[int], result: Any = None
) -> dict[int, Any]:
    recorded = isinstance(g, Recorded) or any(isinstance(x, Recorded) for x in inputs)
    with steepest():
        if recorded or ANOMALY.enabled or call.__class__ is not Call:
            tensors = [_leaf(x, k in wanted) for k, x in enumerate(inputs)]
            with enable_grad():
                out = call.run(tensors)
        else:
            tensors, out = call.again(inputs)
        targets = [tensors[k] for k in wanted]
        if result is not None and out._node.saved[0] is not None:
            out._node.saved = (value_of(result), *out._node.saved[1:])
        if recorded or ANOMALY.enabled:
            with enable_grad():
                seed = g if isinstance(g, Recorded) else plain(Tensor, g)
                found = grad([out], targets, [seed], create_graph=recorded, allow_unused=True)
                if recorded and getattr(call, "name", "") in ONE_NODE:
                    found = _in_one_node(found, targets, (seed, *inputs))
            return {k: c if recorded or c is None else c._value for k, c in zip(wanted, found, strict=True)}
        # Leaves that nobody else knows have no hooks, and a nan is seen where the whole pass ends.
        sweep = Sweep([(root_of(out), g)], targets, False, False, passed, passed, passed, passed, passed)
        sweep.run()
    return {k: _laid_out(sweep.found.get(leaf), leaf._value) for k, leaf in zip(wanted, targets, strict=True)}


def _laid_out(g: Any, x: Any) -> Any:
    """The gradient of an argument as torch's kernels write it: hooks and functions before it may ask for a ``view``."""
    return g if not isinstance(g, np.ndarray) or g.flags.c_contiguous else like_the_leaf(g, x)


def _in_one_node(found: Sequence[Any], targets: Sequence[Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """Recorded gradients that lead to all that was ``given``, though they may not depend on it."""
    places = tuple(x.edge() if isinstance(x, Recorded) and x._requires_grad else None for x in given)
    row = []
    for c, t in zip(found, targets, strict=True):
        if c is not None:
            edges, values = (c.edge(), t.edge()), [c._value, t._value]
            c = record.recorded(Tensor, lookup("by_pieces"), c._value, edges, values, {}, 2 + c._requires_grad)
            Labelled.on(c._node, None, places)
        row.append(c)
    return tuple(row)


def _leaf(value: Any, wanted: bool) -> Any:
    """An argument of its own: a leaf, or in a recorded pass a node above the one that gave the argument."""
    if not isinstance(value, Recorded):
        made = plain(Tensor, value)
        made._requires_grad = wanted
        return made
    if not wanted:
        return value
    return record.recorded(Tensor, lookup("clone"), value._value, (value.edge(),), [value._value], {}, 1)


PULL.append(_pulled)

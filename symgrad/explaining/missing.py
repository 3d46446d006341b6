"""Why a tensor has no gradient at all: it asks for none, nothing reached it, or the program left the graph.

A function is run once more while somebody watches, so that ``detach``, ``no_grad`` and integers are recorded as steps
that no gradient goes through; the step that the gradient would have to cross is the one to name.  Of a loss that is
there already only what the graph still knows can be told.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import SymgradError
from symgrad.explaining.answer import Cause
from symgrad.explaining.scene import leaf_name, lines_noted
from symgrad.notices import Line, line_text
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.graph import Node, Source
from symgrad.tape.memory.versions import storage
from symgrad.tape.naming import node_name
from symgrad.tape.record import Recorded, root_of
from symgrad.tape.watching.watch import Read, Watch


def not_asked(x: Any, name: str) -> Cause | None:
    """Why a tensor gets no gradient whatever is computed from it; None where it may get one."""
    if not x.requires_grad and x._node is None:
        if not is_floating(x.dtype):
            return Cause(
                "integer",
                f"{name} has dtype {x.dtype}, and only floating-point tensors can require a gradient.",
                advice=f"Make it with a floating-point dtype, or cast it: {name}.double().requires_grad_().",
            )
        return Cause(
            "requires_grad",
            f"{name} does not require a gradient.",
            advice=f"{name}.requires_grad_(), or requires_grad=True where it is made.",
        )
    if not x.requires_grad:
        return Cause(
            "no history",
            f"{name} is computed from tensors none of which requires a gradient, or without recording.",
            advice="Say requires_grad=True of the tensors that it is computed from.",
        )
    return None


def not_kept(x: Any, name: str) -> Cause:
    """Why ``.grad`` is None where no loss is given."""
    if not x.is_leaf:
        return Cause(
            "not a leaf",
            f"{name} is not a leaf: it is the result of {x._node.op.name}(), and backward keeps the gradients of "
            "leaves only.",
            node_name(x._node),
            x._node.op.name,
            advice=f"{name}.retain_grad() before backward, or sg.autograd.grad(loss, {name}).",
        )
    return Cause(
        "no backward",
        f"{name} is a leaf that requires a gradient, and no backward pass has reached it yet.",
        advice=f"Call loss.backward(); if you did, sg.explain({name}, lambda: loss(…)) says where the path to {name} "
        "is broken.",
    )


# ---------------------------------------------------------------------------------------------- a function, watched


def broken_in(x: Any, name: str, function: Callable[[], Any]) -> list[Cause]:
    """The steps of a program that no gradient goes through on the way from ``x`` to its result."""
    with lines_noted() as lines, Watch() as watch, np.errstate(all="ignore"):
        watch.inputs.add(id(x))
        out = function()
    if not isinstance(out, Recorded):
        taken = _taken(x, name, set(), watch.reads)
        text = f"The function gives {type(out).__name__}, which is no tensor."
        return taken or [Cause("no tensor", text, advice="Give a function that returns the loss as a tensor.")]
    steps = _steps(x, name, out, lines)
    return steps or _taken(x, name, _flowing(x, out), watch.reads) or [_no_path(name)]


def leads(out: Any, x: Any) -> bool:
    """Whether gradients flow from a tensor to another."""
    return id(out.edge()) in _flowing(x, out)


def _flowing(x: Any, out: Any) -> set[int]:
    """The identities of the places to which a gradient of the result would flow back from, and on to ``x``."""
    found = {id(root_of(x))}
    for node in nodes_below([out.edge()])[0]:
        if any(node.mask >> i & 1 and id(arg) in found for i, arg in enumerate(node.args)):
            found.add(id(node))
    return found


def _steps(x: Any, name: str, out: Any, lines: dict[Any, Line]) -> list[Cause]:
    """The operations that take ``x``, or what has its gradient, and have none to give."""
    flowing = _flowing(x, out)
    found = []
    for node in nodes_below([out.edge()])[0]:
        for i, arg in enumerate(node.args):
            if id(arg) in flowing and not node.mask >> i & 1:
                found.append(_step(node, i, name if arg is root_of(x) else None, lines))
    return list(dict.fromkeys(found))


def _step(node: Node, i: int, name: str | None, lines: dict[Any, Line]) -> Cause:
    op, line = node.op, line_text(lines.get(node))
    fields: dict[str, Any] = {"node": node_name(node), "op": op.name, "line": line}
    place = node.args[i]
    arg = name or leaf_name(place) or (f"the result of {place.op.name}()" if isinstance(place, Node) else "it")
    if op.name == "detach":
        how = ".data" if ".data" in line and ".detach" not in line else ".detach()"
        return Cause(
            "detached",
            f"{how} takes {arg} out of the graph: what is computed from it there is a constant.",
            advice=f"Leave {how} out where the gradient should flow.",
            **fields,
        )
    if not is_floating(node.dtype):
        return Cause(
            "integer",
            f"{op.name}() makes {node.dtype} of {arg}: integers and truth values have no gradient.",
            advice="Use a soft form: sigmoid(k*(x - c)) for a comparison, a weighted sum for an index.",
            **fields,
        )
    if op.differentiable(i):
        return Cause(
            "no_grad",
            f"{op.name}() ran on {arg} inside no_grad or inference_mode, so it was not recorded.",
            advice="Move it out of the block, or say enable_grad() inside.",
            **fields,
        )
    return Cause(
        "no derivative",
        f"{op.name}() has no derivative by {arg}.",
        advice="Use another operation, or give it a derivative with a custom Function.",
        **fields,
    )


def _taken(x: Any, name: str, flowing: set[int], reads: list[Read]) -> list[Cause]:
    """Values that were taken out as numbers or arrays."""
    found = [
        Cause(
            "taken out",
            f"{read.how} takes a value that depends on {name} out of the graph: what is computed from it is a "
            "constant.",
            line=line_text(read.line),
            advice="Compute with the tensor itself; sg has NumPy's functions, and np.sin(t) records, too.",
        )
        for read in reads
        if read.edge is root_of(x) or id(read.edge) in flowing or _comes_from(read.edge, x)
    ]
    return list(dict.fromkeys(found))


def _comes_from(edge: Any, x: Any) -> bool:
    return any(leaf is x for leaf in nodes_below([edge])[1])


def _no_path(name: str) -> Cause:
    return Cause(
        "no path",
        f"The result does not depend on {name}: no operation on the way to it takes {name}.",
        advice=f"Look whether another tensor is used in its place: a copy, or one made anew from {name}'s values.",
    )


# ---------------------------------------------------------------------------------------------- a loss that is there


def broken_before(x: Any, name: str, out: Any) -> list[Cause]:
    """What the graph of a tensor tells of why it does not lead to ``x``."""
    try:
        leaves = nodes_below([out.edge()])[1]
    except SymgradError as error:
        return [Cause("changed", str(error))]
    mine = storage(x._value) if isinstance(x._value, np.ndarray) else None
    found = []
    for leaf in leaves:
        alive = leaf.ref() if isinstance(leaf, Source) else leaf
        if alive is None or alive is x:
            continue
        site = alive._extra.site if alive._extra is not None else None
        line = line_text(_line_of(site))
        shares = mine is not None and isinstance(alive._value, np.ndarray) and storage(alive._value) is mine
        twin = alive._extra.detached() if alive._extra is not None and alive._extra.detached is not None else None
        comes = twin is not None and _leads(twin, x)
        if shares or comes or ".detach(" in line or ".data" in line:
            how = ".data" if ".data" in line and ".detach(" not in line else ".detach()"
            word = "takes" if shares or comes else "may take"
            source = name if shares else f"what is computed from {name}"
            found.append(
                Cause(
                    "detached",
                    f"{how} {word} {source} out of the graph: in the loss it is a constant.",
                    op="detach",
                    line=line,
                    advice=f"Leave {how} out where the gradient should flow.",
                )
            )
    if found:
        return found
    if not out.requires_grad:
        text = (
            "The result has no history: everything that led to it was detached, unrecorded (no_grad), or of integers."
        )
    else:
        text = f"The graph of the result has no path to {name}."
    return [
        Cause(
            "no path",
            text,
            advice=f"sg.explain({name}, lambda: …) with the program that computes the result runs it once more, "
            "watched, and names the line at which the path breaks.",
        )
    ]


def _leads(tensor: Any, x: Any) -> bool:
    try:
        return any(leaf is x for leaf in nodes_below([tensor.edge()])[1])
    except SymgradError:
        return False


def _line_of(site: Any) -> Line | None:
    """The line of a creation site, which is a code object with an instruction; names of parameters have none."""
    if site is None or isinstance(site, str):
        return None
    code, last = site
    for k, (line, *_) in enumerate(code.co_positions()):
        if 2 * k >= last and line is not None:
            return code.co_filename, line
    return None

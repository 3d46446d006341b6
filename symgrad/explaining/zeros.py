"""Where a gradient of zero was lost: from the entries that are zero along the pass to the operations that ended it.

The walk goes over whole arrays of entries, oldest place first, so that every place is visited once.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.autopsy import first
from symgrad.explaining.answer import Cause, at_text, digits_text, number_text
from symgrad.explaining.reaching import argument_value, depends, exact_pull, given_text, kink_at, reached, slope
from symgrad.explaining.replay import Edge
from symgrad.explaining.scene import Scene, scalar
from symgrad.tape.graph import Node

_MOST = 5
"""Causes that are told."""
_SCALE = (
    "Scale {} down; of a probability take the logarithm (log_softmax, logsigmoid, a loss with logits), which has a "
    "slope where it is small. A loss at its least has none."
)
_WIDEN = "Compute in a wider dtype, scale the loss, or work with logarithms (log_softmax, logsigmoid); or scale {}."


def zero_causes(scene: Scene, mask: Any) -> list[Cause]:
    """Why the target's gradient is zero in the entries of ``mask``; those that account for most entries first."""
    ends = _Ends(scene, np.asarray(mask))
    ends.walk()
    return [cause for _, cause in sorted(ends.found.values(), key=lambda end: -end[0])][:_MOST]


class _Ends:
    """The walk: ``found`` has the causes, each with the number of entries that it ended."""

    def __init__(self, scene: Scene, mask: Any):
        self.scene = scene
        self.done = scene.done
        self.found: dict[tuple[Any, ...], tuple[float, Cause]] = {}  # the nearest of its kind, by op and line
        self.told: set[tuple[str, int, str]] = set()  # operations, by line, that were told of
        self.masks: dict[Any, Any] = {self.done.target: mask}
        self.order: list[tuple[float, int, Any]] = [(0, 0, self.done.target)]
        self.roots = {id(root) for root, _ in self.done.roots}

    def walk(self) -> None:
        while self.order:
            _, _, place = heapq.heappop(self.order)
            mask = self.masks.pop(place)
            edges = self.done.into.get(place, [])
            if id(place) in self.roots and not edges:
                self._add(mask, "given", "The pass began with a gradient that is zero there.", index=first(mask))
                continue
            rest = self._without_cancelled(place, mask, edges)
            if rest.any():
                for edge in edges:
                    self._follow(edge, rest)

    def _without_cancelled(self, place: Any, mask: Any, edges: list[Edge]) -> Any:
        """The entries to which nothing but zeros came; of the others the sum is zero."""
        sums = np.zeros(mask.shape, bool)
        for edge in edges:
            sums |= mask & (np.asarray(edge.c) != 0)
        if sums.any():
            at = first(sums)
            parts = [edge for edge in edges if np.asarray(edge.c)[at] != 0]
            values = " and ".join(number_text(scalar(np.asarray(e.c)[at])) for e in parts[:3])
            names = " and ".join(dict.fromkeys(f"{e.node.op.name}()" for e in parts[:3]))
            self._add(
                sums,
                "cancels",
                f"The parts of the gradient of {self._name(place)} cancel{at_text(at)}: {values} came through {names}.",
                node=parts[0].node,
                index=at,
                advice="In exact arithmetic it is zero, too, or next to it: the parts are as they should be.",
            )
        return mask & ~sums

    def _name(self, place: Any) -> str:
        return self.scene.name.removesuffix(".grad") if place is self.done.target else self.scene.text(place)

    def _follow(self, edge: Edge, mask: Any) -> None:
        node, g = edge.node, edge.g
        if node.op.kind == "function":
            self._custom(edge, mask)
            return
        meets = reached(self.scene.replay, edge, mask)
        if not meets.any():
            self._not_read(edge, mask)
            return
        above = meets & (g == 0)
        here = meets & (g != 0)
        if above.any() and node.op.entrywise and np.shape(edge.c) == node.shape:
            local = self.done.local(node, edge.i)
            if local is not None:  # it would have ended what did not arrive, too
                here = here | (above & (np.asarray(local) == 0))
        if here.any():
            self._ended(edge, here, mask)
        if above.any() and (not here.any() or node.op.entrywise or node.op.kind == "multilinear"):
            self._go_on(node, above)

    def _go_on(self, node: Node, above: Any) -> None:
        """Walk on from entries of a result that no gradient arrived at."""
        before = self.masks.get(node)
        if before is None:
            heapq.heappush(self.order, (node.sequence_nr, id(node), node))
        self.masks[node] = above if before is None else before | above

    def _custom(self, edge: Edge, mask: Any) -> None:
        """A custom function, which may give what it likes."""
        node = edge.node
        if (edge.g == 0).all() or node.op.name == "output":  # which only hands on
            self._go_on(node, np.broadcast_to(edge.g == 0, edge.g.shape))
            return
        self._add(
            mask,
            "custom function",
            f"The backward of {node.op.name} gives 0 for {self._entries(mask, node.args[edge.i])}, though a gradient "
            f"of up to {number_text(np.max(np.abs(edge.g)))} arrives.",
            node=node,
            index=first(mask),
            factor=0.0,
            advice=f"Check {node.op.name}.backward: sg.check compares it with its forward.",
        )

    def _not_read(self, edge: Edge, mask: Any) -> None:
        """The result does not depend on these entries."""
        self._add(
            mask,
            "not selected",
            f"{self.scene.call(edge.node)} does not read {self._entries(mask, edge.node.args[edge.i])}.",
            node=edge.node,
            index=first(mask),
            factor=0.0,
            advice="Nothing computed from them comes into the result: they are not picked, or are written over.",
        )

    def _entries(self, mask: Any, place: Any) -> str:
        count = int(np.count_nonzero(mask))
        name = self._name(place)
        if count == 1:
            return f"entry {list(first(mask))} of {name}"
        return f"{count} of the {mask.size} entries of {name}"

    def _ended(self, edge: Edge, here: Any, mask: Any) -> None:
        """A gradient arrived at ``here`` and did not get through to ``mask``, or would not have."""
        if (edge.node.op.name, edge.i, self.scene.line(edge.node)) in self.told:
            return
        self.told.add((edge.node.op.name, edge.i, self.scene.line(edge.node)))
        scene, (node, i, *_) = self.scene, edge
        index = first(here)
        given = given_text(scene, node, index)
        where = f"{at_text(index)}" + (f", where {given}" if given else "")
        call, name = scene.call(node), self._name(node.args[i])
        count = f" It is so at {int(here.sum())} of its {here.size} entries." if here.sum() > 1 else ""
        fields: dict[str, Any] = {
            "node": node, "index": index, "value": argument_value(scene, node, i, index), "factor": 0.0,
        }  # fmt: skip
        if node.op.kind == "multilinear":
            others = " and ".join(scene.text(a) for k, a in enumerate(node.args) if k != i)
            self._multiplied(edge, mask, others, call, fields)
        elif node.op.structural is not None and len(node.args) > 1:
            text = f"{call} takes another branch than {name}{at_text(index)}.{count}"
            advice = "No gradient flows through a branch not taken; give inputs for which the condition is the other."
            self._add(here, "branch not taken", text, advice=advice, **fields)
        elif not node.op.entrywise:
            self._not_through(edge, mask, call, fields)
        else:
            self._flat(edge, here, index, call, where, count, fields)

    def _not_through(self, edge: Edge, mask: Any, call: str, fields: dict[str, Any]) -> None:
        """A function that is not entrywise: it chooses entries, reads not all of them, or has a derivative of zero."""
        op, name = edge.node.op, self._name(edge.node.args[edge.i])
        kink = kink_at(self.scene, edge, fields["index"])
        if kink and not op.chooses:
            self._at_kink(mask, f"{call} has no derivative where {kink}", fields)
            return
        exact = exact_pull(self.scene, edge, first(mask & (np.asarray(edge.c) == 0)))
        if exact is not None and exact != 0:
            text = (
                f"{call} is saturated: its derivative by these entries of {name} is {digits_text(exact)}, rounded to 0."
            )
            self._add(mask, "saturated", text, advice=_SCALE.format(name), **fields)
            return
        if op.chooses or "ties" in (op.kinks or ()):
            text = f"{call} passes its gradient on to the entries of {name} that it chooses; these are not among them."
            advice = "A soft form gives all entries a gradient: logsumexp or a softmax-weighted mean for a maximum."
            self._add(mask, "not chosen", text, advice=advice, **fields)
            return
        if not depends(self.scene, edge.node, edge.i, mask & (np.asarray(edge.c) == 0)):
            self._not_read(edge, mask)
            return
        text = f"The derivative of {call} by these entries of {name} is 0 for the gradient that arrives."
        advice = "That is what its formula gives; sg.latex(x.grad) shows it."
        self._add(mask, "zero derivative", text, advice=advice, **fields)

    def _multiplied(self, edge: Edge, mask: Any, by: str, call: str, fields: dict[str, Any]) -> None:
        """A product whose other factors are zero."""
        count = f", as at {int(mask.sum())} of its {mask.size} entries" if mask.sum() > 1 else ""
        zero = f"which is 0{at_text(fields['index'])}{count}"
        if not edge.node.op.entrywise:
            zero = "whose entries there are 0"
        text = f"In {call} the gradient is multiplied by {by or 'zeros'}, {zero}."
        advice = "Start that factor from values other than 0, or take it out, where the gradient should flow."
        self._add(mask, "multiplied by zero", text, advice=advice, **fields)

    def _at_kink(self, mask: Any, said: str, fields: dict[str, Any]) -> None:
        """A point without a derivative, where 0 is taken for it."""
        text = f"{said}: it has a kink there, and 0 is the convention."
        advice = "Begin elsewhere, round the kink off (the root of the square plus a small number), or choose another "
        self._add(mask, "kink", text, advice=advice + "value with sg.conventions.", **fields)

    def _flat(
        self, edge: Edge, here: Any, index: tuple[int, ...], call: str, where: str, count: str, fields: dict[str, Any]
    ) -> None:
        """An entrywise operation whose derivative is zero, or was rounded to zero."""
        node, name = edge.node, self._name(edge.node.args[edge.i])
        found = slope(self.scene, node, edge.i, index)
        if found.everywhere:
            text = f"{call} is a step function: its derivative by {name} is 0 everywhere."
            advice = f"To let the gradient pass as if it were not there: {name} + ({call} - {name}).detach()."
            self._add(here, "step function", text, advice=advice, **fields)
            return
        if found.by is not None and not found.exact:
            self._multiplied(edge, here, self.scene.text(node.args[found.by]), call, fields)
            return
        kink = kink_at(self.scene, edge, index)
        if kink:
            self._at_kink(here, f"{call} has no derivative{where}", fields)
            return
        if found.exact is None or found.exact == 0:
            text = f"{call} is flat{where}: its derivative by {name} is 0 there.{count}"
            advice = (
                f"Move {name} out of the flat part (starting values, step size), or use a function with a slope there."
            )
            self._add(here, "flat", text, advice=advice, **fields)
            return
        if node.dtype.kind == "c" and node.args[edge.i].dtype.kind != "c":
            text = (
                f"The gradient that arrives at {call} is imaginary, and {name} is real: only a real part would count."
            )
            advice = f"Nothing real depends on {name} here; make it complex if its imaginary part should move, too."
            self._add(here, "imaginary", text, advice=advice, **fields)
            return
        dtype = np.dtype(node.dtype if node.dtype.kind in "fc" else float)
        came = float(np.max(np.abs(edge.g)))
        if abs(found.exact) * came < float(np.finfo(dtype).tiny):
            text = (
                f"{call} underflows{where}: the gradient that arrives, {number_text(came)}, times the derivative, "
                f"{digits_text(found.exact)}, is less than {dtype} can hold.{count}"
            )
            self._add(here, "underflow", text, advice=_WIDEN.format(name), **fields)
            return
        text = f"{call} is saturated{where}: its derivative there is {digits_text(found.exact)}, rounded to 0.{count}"
        self._add(here, "saturated", text, advice=_SCALE.format(name), **fields)

    def _add(self, mask: Any, kind: str, text: str, node: Node | None = None, **fields: Any) -> None:
        cause = Cause(
            kind,
            text,
            None if node is None else self.scene.node_name(node),
            None if node is None else node.op.name,
            line="" if node is None else self.scene.line(node),
            **fields,
        )
        self.found.setdefault(
            (kind, cause.op, cause.line), (float(np.count_nonzero(mask)) / max(np.size(mask), 1), cause)
        )

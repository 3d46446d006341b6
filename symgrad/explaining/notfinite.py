"""Where a nan or an infinity of a gradient begins: the pass is followed back to it, and the autopsy does the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.autopsy import Autopsy, Infinite, first
from symgrad.explaining.answer import Cause, at_text, number_text
from symgrad.explaining.gains import gain_causes
from symgrad.explaining.reaching import argument_value, given_text, ill_posed, reached
from symgrad.explaining.replay import Edge
from symgrad.explaining.scene import Scene, scalar

_BEGINS = {
    "": "",
    "gradient": " Its derivative is infinite there; times 0 it is nan.",
    "value": " Its value is not finite there.",
    "given": " What is not finite was given to the pass, or by a hook.",
    "argument": " What it was given is not finite.",
}


def not_finite_causes(scene: Scene, index: tuple[int, ...], kind: str) -> list[Cause]:
    """Why a gradient is nan, or infinite, at an entry."""
    edge, at = _born(scene, index, np.isnan if kind == "nan" else np.isinf)
    if edge is None:
        text = "The pass began with a gradient that is not finite."
        return [Cause("given", text, advice="Look at the gradient that backward is given.")]
    if kind != "nan" and (grown := _grown(scene, edge, at)):
        return grown
    value = np.asarray(edge.c)
    entries = np.zeros(value.shape, bool)
    entries[at] = True
    found = Autopsy(scene.done.roots, _infinite(scene, edge), Infinite(edge.node, edge.i, entries, edge.g), scene.names)
    birth = found.birth
    node = birth.node
    out = np.asarray(scene.replay.value(node))
    over = (
        birth.inf in ("", "value")
        and node.op.regular is None
        and out.dtype.kind in "fc"
        and bool(np.isinf(out[birth.index]))
    )
    begins = _BEGINS[birth.inf]
    if over:
        begins = " Its value overflows there."
    elif birth.inf == "" and kind != "nan":
        begins = " Its derivative is infinite there."
    given = given_text(scene, node, birth.index)
    what = "nan" if kind == "nan" else "infinity"
    text = f"The {what} begins in {scene.call(node)}{at_text(birth.index)}" + (f", where {given}." if given else ".")
    limit = f" The limit of the derivative there is {found.limit}." if found.limit is not None else ""
    ill = ill_posed(scene, edge) if node is edge.node else ""
    why, _, cure = ill.partition(". ")
    if ill:
        begins = f" {why}."
    advice = cure or found.rewrite or _advice("overflow" if over else birth.inf)
    cause = Cause(
        "argument" if birth.inf == "argument" else "overflow" if over else "singular point",
        text + begins + limit,
        scene.node_name(node),
        node.op.name,
        birth.index,
        argument_value(scene, node, birth.i, birth.index),
        float("nan") if kind == "nan" else float("inf"),
        scene.line(node),
        advice[0].upper() + advice[1:] + ("" if advice.endswith(".") else "."),
    )
    return [cause]


def respelled_causes(scene: Scene, index: tuple[int, ...]) -> list[Cause]:
    """Of an entry that is finite though the operations alone give nan: the whole was computed in another spelling."""
    return [
        replace(
            cause,
            text=f"One operation after the other gives nan: {cause.text[0].lower()}{cause.text[1:]} The gradient is "
            "that of the whole, written otherwise, which is finite.",
        )
        for cause in not_finite_causes(scene, index, "nan")
    ]


def _grown(scene: Scene, edge: Edge, at: tuple[int, ...]) -> list[Cause]:
    """A gradient that grew until its dtype could not hold it: finite, times a finite derivative."""
    node = edge.node
    if not node.op.entrywise or np.shape(edge.c) != node.shape:
        return []
    local, came = scene.done.local(node, edge.i), edge.g[at]
    if local is None or not np.isfinite(np.asarray(local)[at]) or not np.isfinite(came):
        return []
    factor = float(np.abs(np.asarray(local)[at]))
    text = (
        f"The gradient outgrows {node.dtype} in {scene.call(node)}{at_text(at)}: it arrives as "
        f"{number_text(scalar(came))} and is multiplied by {number_text(factor)}."
    )
    advice = "Scale the factors to about 1, or compute in logarithms."
    fields = {"value": argument_value(scene, node, edge.i, at), "line": scene.line(node), "advice": advice}
    cause = Cause("overflow", text, scene.node_name(node), node.op.name, at, factor=factor, **fields)
    return [cause, *gain_causes(scene, at, True, node)]


def _advice(inf: str) -> str:
    if inf in ("argument", "given"):
        return "Look at what is put in: it has entries that are nan or infinite."
    if inf == "overflow":
        return "Scale the argument down, clamp it, or work with logarithms (log_softmax, logsumexp, softplus)."
    return "Keep the value out of the singular point: clamp it, or select with where()."


def _born(scene: Scene, index: tuple[int, ...], bad: Any) -> tuple[Edge | None, tuple[int, ...]]:
    """The edge on which the entry became bad, of a gradient that was not, and the entry of what went along it."""
    place, born, at = scene.done.target, None, index
    while True:
        came = scene.done.into.get(place, ())
        edges = [e for e in came if bad(np.asarray(e.c)[index])]
        edges = edges or [e for e in came if not np.isfinite(np.asarray(e.c)[index])]  # inf - inf
        if not edges:
            return born, at
        born, at = edges[0], index
        one = np.zeros(np.shape(born.c), bool)
        one[index] = True
        g = born.g
        meets = reached(scene.replay, born, one) & ~np.isfinite(g)
        if not meets.any():
            return born, at
        place, index = born.node, first(meets & bad(g)) if (meets & bad(g)).any() else first(meets)


def _infinite(scene: Scene, born: Edge) -> dict[Any, list[Infinite]]:
    """The infinite gradients that operations gave before, by the place that they were given to."""
    found: dict[Any, list[Infinite]] = {}
    for edge in scene.done.edges:
        if edge is born:
            break
        value = np.asarray(edge.c)
        if value.dtype.kind in "fc" and np.isinf(value).any():
            found.setdefault(edge.node.args[edge.i], []).append(
                Infinite(edge.node, edge.i, ~np.isfinite(value), edge.g)
            )
    return found

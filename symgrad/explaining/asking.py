"""``explain``: why a gradient is None, nan, zero, huge or tiny."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.autopsy import first
from symgrad.autograd.sweeps.rescue import Rescue
from symgrad.errors import ArgumentError
from symgrad.explaining.answer import Cause, Explanation, at_text, entries_text, number_text
from symgrad.explaining.gains import gain_causes, largest_entry
from symgrad.explaining.missing import broken_before, broken_in, leads, not_asked, not_kept
from symgrad.explaining.notfinite import not_finite_causes, respelled_causes
from symgrad.explaining.replay import passes_of, swept
from symgrad.explaining.scene import Scene, leaf_name, lines_noted
from symgrad.explaining.zeros import zero_causes
from symgrad.tape.formulas.origin import origin_of
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded, root_of

HUGE = 1e6
"""Gradients with an entry of at least this magnitude are huge."""
TINY = 1e-6
"""Gradients without an entry of more than this magnitude are tiny."""


def explain(x: Any, of: Any = None, *, index: Any = None) -> Explanation:
    """Why the gradient of a tensor is None, nan, zero, huge or tiny: the operation, its factor, the entry, the remedy.

    x
        ``x.grad``, or the tensor ``x`` itself, whose ``.grad`` may be None.
    of
        The output: a tensor, or a function of no arguments that computes it.  Not needed after ``backward``.  With a
        function the program runs once more, and the answer names its lines.
    index
        The entry that is asked about (an int or a tuple); else all of them are looked at.

    The pass is run again by the engine with everything kept that flows along it; ``.grad`` is not touched, and hooks
    are not called.  Works on whole arrays, and on graphs of any depth.  A non-scalar ``of`` counts as its sum.

    Raises ``ArgumentError`` where there is no tensor to ask about, ``AutogradError`` where values were changed since.

    >>> import symgrad as sg
    >>> x = sg.tensor([-1.0, 2.0, -3.0], requires_grad=True)
    >>> sg.relu(x).sum().backward()
    >>> print(sg.explain(x.grad))
    x.grad is zero in 2 of 3 entries, first at [0].
    relu(x) is flat at [0], where x = -1: its derivative by x is 0 there. It is so at 2 of its 3 entries.
      → Move x out of the flat part (starting values, step size), or use a function with a slope there.
    >>> sg.explain(x.grad).cause.op
    'relu'
    """
    if x is None:
        x = _asked_about(sys._getframe(1))
    if not isinstance(x, Recorded):
        raise ArgumentError(
            f"explain() is asked about a tensor or its gradient, not {type(x).__name__}: explain(x.grad), explain(x), "
            "explain(x, loss), or explain(x, lambda: loss(x))."
        )
    origin = origin_of(x) if of is None else None
    if origin:
        return _of_gradient(x, origin, index)
    if of is None:
        grad = x._extra.grad if x._extra is not None else None
        if isinstance(grad, Recorded):
            origin = origin_of(grad)
            return _of_gradient(grad, origin, index) if origin else _unknown(x)
        name = leaf_name(x) or "x"
        return _none(name, [not_asked(x, name) or not_kept(x, name)])
    return _of_output(x, of, index)


def _of_output(x: Any, of: Any, index: Any) -> Explanation:
    """The gradient of ``of`` by ``x``, which need not have been computed."""
    name = leaf_name(x) or "x"
    cause = not_asked(x, name)
    if cause is not None:
        return _none(name, [cause])
    lines: dict[Any, Any] = {}
    out = of
    if not isinstance(of, Recorded):
        if not callable(of):
            raise ArgumentError(
                f"explain(x, of): of is a tensor or a function that computes one, not {type(of).__name__}."
            )
        with lines_noted() as lines, np.errstate(all="ignore"):
            out = of()
    function: Callable[[], Any] | None = None if out is of else of
    if not isinstance(out, Recorded) or not out._requires_grad or not leads(out, x):
        return _none(name, broken_before(x, name, out) if function is None else broken_in(x, name, function))
    edge = root_of(x)
    seed = np.ones(out._value.shape, out._value.dtype)[()]
    done = swept([(out.edge(), seed)], edge)
    if done.gradient is None:
        return _none(name, broken_before(x, name, out) if function is None else broken_in(x, name, function))
    gradient = Rescue([out], [seed], [x])(edge, done.gradient)
    return _answer(Scene(done, lines, f"{name}.grad"), np.asarray(gradient), index)


def _of_gradient(grad: Any, origin: Any, index: Any) -> Explanation:
    """A gradient that backward, or ``autograd.grad``, gave."""
    asked = passes_of(origin)
    target, done = asked.wanted, swept(*asked)
    name = leaf_name(target) if not isinstance(target, Node) else None
    scene = Scene(done, {}, f"{name or 'x'}.grad")
    found = _answer(scene, np.asarray(grad._value), index)
    hooked = _hooked(scene, grad)
    return Explanation(found.of, found.kind, found.summary, [hooked]) if hooked else found


def _hooked(scene: Scene, grad: Any) -> Cause | None:
    """Where the gradient is another one than that of the operations: a hook has changed it, or somebody else."""
    found, value = np.asarray(scene.done.gradient), np.asarray(grad._value)
    if found.shape != value.shape or np.allclose(
        np.where(np.isnan(found), value, found), value, 1e-3, 0, equal_nan=True
    ):
        return None  # entries that are nan one by one may have been computed in another spelling
    return Cause(
        "hook",
        f"{scene.name} is not what the operations give: a hook changed the gradient on its way.",
        advice="Look at the hooks of the tensors on the way (register_hook); sg.explain(x, loss) tells of the gradient "
        "without them.",
    )


def _answer(scene: Scene, gradient: Any, index: Any) -> Explanation:
    """What is told of a gradient that is there."""
    asked = np.zeros(gradient.shape, bool)
    if index is None:
        asked[...] = True
    else:
        asked[index] = True
    size = int(asked.sum())
    for kind, bad in (("nan", np.isnan), ("infinite", np.isinf)):
        wrong = asked & bad(gradient)
        if wrong.any():
            at = first(wrong)
            return Explanation(
                scene.name, kind, _summary(scene.name, kind, wrong, size, at), not_finite_causes(scene, at, kind)
            )
    zero = asked & (gradient == 0)
    at = largest_entry(np.where(asked, gradient, 0))
    most = float(np.abs(gradient[at])) if gradient.size else 0.0
    if zero.any() and most < HUGE:
        lost = zero & np.isnan(scene.done.gradient)  # as long as nobody wrote it otherwise
        causes = respelled_causes(scene, first(lost)) if lost.any() else zero_causes(scene, zero)
        return Explanation(scene.name, "zero", _summary(scene.name, "zero", zero, size, first(zero)), causes)
    if most >= HUGE or 0 < most <= TINY:
        kind = "huge" if most >= HUGE else "tiny"
        largest = "" if gradient.size == 1 else "its largest entry is "
        summary = f"{scene.name} is {kind}: {largest}{number_text(gradient[at])}{at_text(at)}."
        return Explanation(scene.name, kind, summary, gain_causes(scene, at, kind == "huge"))
    if not gradient.size:
        return Explanation(scene.name, "ordinary", f"{scene.name} has no entries.")
    low = float(np.min(np.abs(gradient[asked])))
    return Explanation(
        scene.name,
        "ordinary",
        f"{scene.name} is ordinary: finite, not zero, of magnitudes from {number_text(low)} to {number_text(most)}.",
    )


def _summary(name: str, kind: str, entries: Any, size: int, at: tuple[int, ...]) -> str:
    if entries.size == 1:
        return f"{name} is {kind}."
    if size < entries.size:
        return f"{name} is {kind}{at_text(at)}."
    count = int(entries.sum())
    where = "" if count == size else f", first{at_text(at)}"
    return f"{name} is {kind} in {entries_text(count, size)}{where}."


def _none(name: str, causes: Any) -> Explanation:
    return Explanation(f"{name}.grad", "None", f"{name} has no gradient.", list(causes))


def _unknown(x: Any) -> Explanation:
    name = leaf_name(x) or "x"
    return Explanation(
        f"{name}.grad",
        "changed",
        f"{name}.grad is not, or no longer, what a backward pass gave.",
        [
            Cause(
                "changed",
                f"{name}.grad was set by hand, or changed in place since the pass (zero_(), clipping, scaling).",
                advice=f"Ask right after backward, or give the output: sg.explain({name}, lambda: loss({name})).",
            )
        ],
    )


# ---------------------------------------------------------------------------------------------- explain(x.grad) of None


def _asked_about(frame: Any) -> Any:
    """The tensor whose ``.grad`` is None in ``explain(x.grad)``, as the text of the call names it; nothing is run."""
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, end, start, stop = place
    if None not in place:
        text = "".join(linecache.getline(frame.f_code.co_filename, k) for k in range(line, end + 1))
        rows = text.encode().splitlines()
        rows = [*rows[:-1], rows[-1][:stop]] if rows else []
        try:
            call = ast.parse(b"\n".join([rows[0][start:], *rows[1:]]).decode(), mode="eval").body if rows else None
        except SyntaxError:
            call = None
        found = _named(call.args[0], frame) if isinstance(call, ast.Call) and call.args else None
        if found is not None:
            return found
    raise ArgumentError(
        "explain(None): a gradient that is None knows nothing of its tensor. Ask about the tensor: explain(x), or "
        "explain(x, lambda: loss(x))."
    )


def _named(item: Any, frame: Any) -> Any:
    """The value of ``a.b`` in ``a.b.grad``, by looking the names up."""
    if not isinstance(item, ast.Attribute) or item.attr != "grad":
        return None
    path, item = [], item.value
    while isinstance(item, ast.Attribute):
        path.append(item.attr)
        item = item.value
    if not isinstance(item, ast.Name):
        return None
    found = frame.f_locals.get(item.id, frame.f_globals.get(item.id))
    for name in reversed(path):
        found = getattr(found, "__dict__", {}).get(name)
    return found if isinstance(found, Recorded) else None

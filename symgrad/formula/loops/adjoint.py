"""The gradient of a recurrence: the adjoint recurrence, from the last step back to the first.

The rules are those of every derivative: one reverse sweep over one step, with a symbol for the adjoint of every state
after it, gives the adjoints before it and what the step adds to the gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.formula.derive import Derivation, depends_on
from symgrad.formula.loops.moving import Moving
from symgrad.formula.loops.pairing import entry
from symgrad.formula.loops.recurrence import Recurrence, State, Trajectory, replaced
from symgrad.formula.term import Term, evaluate, full, postorder, symbol
from symgrad.op import lookup


@dataclass
class Adjoint:
    """The gradient of a loop's result by ``target``.

    ``last`` are the adjoints of the states after the loop, ``bodies`` those before a step by those after it (the
    symbols ``bars``), and the gradient is ``outside`` (over the adjoints ``starts`` before the first step) with the
    sum of ``inside`` over the steps.  ``rows`` are the gradients by the entries that single steps read, ``stacked``
    those by what stacks values of all steps, and ``inner`` those by the named parts of a step, the last part first.
    """

    loop: Recurrence
    target: Term
    states: list[State]
    bars: dict[str, Term]
    starts: dict[str, Term]
    last: dict[str, Term]
    bodies: dict[str, Term]
    outside: Term | None
    inside: Term | None
    rows: list[tuple[Moving, Term]]
    inner: list[tuple[Term, Term]]
    stacked: list[tuple[Trajectory, Term]]

    @property
    def terms(self) -> list[Term]:
        """What is worked out in every step, and the gradient."""
        parts = [*self.bodies.values(), *(t for _, t in self.rows), *(t for _, t in self.inner)]
        return parts + [t for t in (self.outside, self.inside) if t is not None]

    def value(self, values: dict[str, Any], sizes: dict[str, int]) -> Any:
        """The number of the gradient, by running forward and back."""
        forward = self.loop.run(values, sizes)
        ends = self.loop.after(forward, sizes)
        rows = {str(t.symbol.name): np.moveaxis(evaluate(bar, ends, sizes), t.axis, 0) for t, bar in self.stacked}
        ends |= {f"{n}@bar@last": row[-1] for n, row in rows.items()}
        bar = {n: evaluate(t, ends, sizes) for n, t in self.last.items()}
        found = np.zeros(np.shape(values[str(self.target.name)]))
        for k in range(self.loop.steps - 1, -1, -1):
            env = {**ends, **forward[k], **{str(self.bars[n].name): v for n, v in bar.items()}}
            env |= {f"{n}@bar": row[k] for n, row in rows.items()}
            for z, t in self.inner:
                env[str(z.name)] = evaluate(t, env, sizes)
            if self.inside is not None:
                found = found + evaluate(self.inside, env, sizes)
            for d, row in self.rows:
                np.add.at(found, entry(d.terms[k])[1], evaluate(row, env, sizes))  # type: ignore[index]
            bar = {n: evaluate(t, env, sizes) for n, t in self.bodies.items()}
        if self.outside is not None:
            env = {**ends, **{str(self.starts[n].name): v for n, v in bar.items()}}
            found = found + evaluate(self.outside, env, sizes)
        return found


def adjoint(loop: Recurrence, target: Term) -> Adjoint | None:
    """The adjoint recurrence of a loop with a scalar result; None where single steps read the target in other ways."""
    if loop.result.shape != () or any(target in d.terms for d in loop.data):
        return None
    one = full((), 1, loop.result.dtype)
    ends = [s.last for s in loop.states]
    outer = Derivation([loop.result], [one], [*ends, target, *(t.symbol for t in loop.stacked)]).adjoints
    stacked = [t for t in loop.stacked if t.symbol in outer]
    tails: dict[Term, list[Term]] = {s.last: [outer[s.last]] if s.last in outer else [] for s in loop.states}
    for t in stacked:
        if t.last is not None:
            tails[t.last].append(t.bar_last)
    entries = [d for d in loop.data if d.array is target]
    whole = dict(zip([s.name for s in loop.states], loop.whole, strict=False))
    given = [row for t, row in zip(loop.stacked, loop.whole[len(loop.states) :], strict=True) if t in stacked]
    useful = _useful(loop, whole, {target, *(d.symbol for d in entries)})
    constant = {s.name: outer.get(s.last) for s in loop.sums}
    bars = {s.name: symbol(f"{s.name}@bar", s.now.shape, s.now.dtype) for s in loop.states}
    active = [s for s in useful if tails[s.last]]
    while True:
        seeds = [bars[s.name] if s not in loop.sums else constant[s.name] for s in active]
        targets = [*(s.now for s in useful), target, *(d.symbol for d in entries)]
        outputs = [*(whole[s.name] for s in active), *given]
        found, inner = _swept(outputs, [*seeds, *(t.bar for t in stacked)], targets, loop.parts)  # type: ignore[list-item]
        more = [s for s in useful if s not in active and s.now in found]
        if not more:
            break
        active += more
    carried = [s for s in loop.states if s in active and s not in loop.sums]
    starts = {s.name: symbol(f"{s.name}@bar@0", s.now.shape, s.now.dtype) for s in carried}
    firsts = [s for s in loop.states if s in active]
    seeds = [starts[s.name] if s in carried else constant[s.name] for s in firsts]
    before = Derivation([s.first for s in firsts], seeds, [target]).adjoints.get(target)  # type: ignore[arg-type]
    outside = _total([outer.get(target), before])
    known = {whole[s.name]: s.new for s in loop.states if whole[s.name].args}

    def shown(t: Term | None) -> Term | None:
        return None if t is None else replaced([t], known)[0]

    rows = [(d, shown(found[d.symbol])) for d in entries if d.symbol in found]
    made = Adjoint(
        loop,
        target,
        carried,
        bars,
        starts,
        {s.name: _or_zero(shown(_total(tails[s.last])), s) for s in carried},
        {s.name: _or_zero(shown(found.get(s.now)), s) for s in carried},
        shown(outside),
        shown(found.get(target)),
        rows,  # type: ignore[arg-type]
        [(z, shown(t)) for z, t in inner],  # type: ignore[misc]
        [],
    )
    read = set(postorder([*made.last.values(), *made.terms]))
    made.stacked += [(t, outer[t.symbol]) for t in stacked if t.bar in read or t.bar_last in read]
    return made if _is_simple(made) else None


def _swept(
    outputs: Sequence[Term], seeds: Sequence[Term], targets: Sequence[Term], parts: Sequence[tuple[Term, Term]]
) -> tuple[dict[Term, Term], list[tuple[Term, Term]]]:
    """The adjoints of the targets over one step, and those of its named parts, which the former are made of."""
    found: dict[Term, Term] = {}
    inner: list[tuple[Term, Term]] = []
    every = [*targets, *(z for z, _ in parts)]

    def push(bodies: Sequence[Term], by: Sequence[Term]) -> None:
        swept = Derivation(bodies, by, every).adjoints
        for t in every:
            if t in swept:
                found[t] = lookup("add")(found[t], swept[t]) if t in found else swept[t]

    push(outputs, seeds)
    for z, body in reversed(parts):
        if z in found and _leads(body, set(every)):
            bar = symbol(f"{z.name}@bar", z.shape, z.dtype)
            inner.append((bar, found[z]))
            push([body], [bar])
    return found, inner


def _is_simple(made: Adjoint) -> bool:
    """Whether no two steps write into the same entry, and all entries are told."""
    if not made.rows:
        return True
    if len(made.rows) > 1 or made.inside is not None or made.outside is not None:
        return False
    ((d, _),) = made.rows
    places = [(axis, p[0]) for axis, p in enumerate(d.index) if not isinstance(p, str)]
    return [(made.target.shape[axis], abs(slope)) for axis, slope in places] == [(made.loop.steps, 1)]


def _or_zero(t: Term | None, s: State) -> Term:
    return full(s.now.shape, 0, s.now.dtype) if t is None else t


def _total(parts: Sequence[Term | None]) -> Term | None:
    found = [p for p in parts if p is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else lookup("add")(*found)


def _useful(loop: Recurrence, whole: dict[str, Term], targets: set[Term]) -> list[State]:
    """The states that a derivative leads from to the target."""
    found = {s.name for s in loop.states if _leads(s.first, targets)}
    while True:
        inputs = targets | {s.now for s in loop.states if s.name in found}
        for z, body in loop.parts:
            if _leads(body, inputs):
                inputs.add(z)
        more = {s.name for s in loop.states if s.name not in found and _leads(whole[s.name], inputs)}
        if not more:
            return [s for s in loop.states if s.name in found]
        found |= more


def _leads(t: Term, targets: set[Term]) -> bool:
    return t in depends_on(postorder([t]), targets)


__all__ = ["Adjoint", "adjoint"]

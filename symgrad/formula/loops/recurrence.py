"""An unrolled loop as a recurrence: its states, what a step makes of them, and what becomes of them after the loop.

Every recurrence is unrolled again before it is given, and has to be the program itself: the very same terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symgrad.formula.loops.moving import Moving, moving
from symgrad.formula.loops.pairing import FEWEST, Chain, Pairing, is_data, pairings
from symgrad.formula.term import SIZE, SYMBOL, Term, evaluate, make, postorder, symbol
from symgrad.op import Op, lookup

_LONGEST = 400
"""Terms of a step that is printed as a recurrence."""


_REACHES = (2, 3, 4)
"""How many steps back a step may read."""


_TOGETHER = Op("together", "opaque", lambda *_: None, (), infer=lambda *_: (), result=lambda *_: np.dtype(float))
"""The results of one step, so that their common parts get one name."""


@dataclass
class State:
    """What goes from step to step: its symbols before, after a step and after the loop, and how a step makes it."""

    name: str
    now: Term
    new: Term
    last: Term
    first: Term
    body: Term

    @property
    def added(self) -> Term | None:
        """What a step adds to a state that is a sum and nothing else; None for others."""
        summands: list[Term] = []
        rest = self.body
        while rest is not self.now:
            if rest.op.name != "add" or rest.shape != self.now.shape:
                return None
            before, other = rest.args if rest.args[0].op.name == "add" or rest.args[0] is self.now else rest.args[::-1]
            summands.append(other)
            rest = before
        if not summands or self.now in postorder(summands) or any(t.shape != self.now.shape for t in summands):
            return None
        total = summands.pop()
        while summands:
            total = lookup("add")(total, summands.pop())
        return total


@dataclass
class Trajectory:
    """Values of all steps, which are stacked: ``row`` is that of a step, and ``last`` may come after them."""

    symbol: Term
    whole: Term
    row: Term
    last: Term | None

    @property
    def axis(self) -> int:
        """The axis of the steps."""
        return int(self.whole.params["dim"])

    @property
    def bar(self) -> Term:
        """The gradient by the row of a step."""
        return symbol(f"{self.symbol.name}@bar", self.row.shape, self.row.dtype)

    @property
    def bar_last(self) -> Term:
        """The gradient by what comes after the steps."""
        return symbol(f"{self.symbol.name}@bar@last", self.row.shape, self.row.dtype)


@dataclass
class Recurrence:
    """A program with a loop: ``states`` from 0 to ``steps``, ``data`` that is other in each step, and ``result``.

    ``stacked`` are values of all steps that the result reads.  ``parts`` are names (symbols) of parts of a step with
    what they are of the states before it; bodies may have them.
    """

    states: list[State]
    steps: int
    counter: Term
    data: list[Moving]
    result: Term
    root: Term
    rules: dict[Term, tuple[Term | None, ...]]
    stacked: list[Trajectory] = field(default_factory=list)
    parts: list[tuple[Term, Term]] = field(default_factory=list)
    sums: list[State] = field(init=False)

    def __post_init__(self) -> None:
        self.sums = []
        for s in self.states:
            read = set(
                postorder([*(o.body for o in self.states if o is not s), *(t for _, t in self.parts), *self.rows])
            )
            if s.added is not None and s.now not in read and s.new not in read:
                self.sums.append(s)

    @property
    def rows(self) -> list[Term]:
        """What a step adds to the stacked values."""
        return [t.row for t in self.stacked]

    @property
    def whole(self) -> list[Term]:
        """What a step makes of the states before it, and of the stacked rows, new values of states written out."""
        new: dict[Term, Term] = {}
        for s in self.states:
            (new[s.new],) = replaced([s.body], new)
        return [*new.values(), *replaced(self.rows, new)]

    def in_parts(self, size: int, letter: str) -> Recurrence:
        """The same with names for parts of a step: what states share, and what is larger than ``size``."""
        from symgrad.formula.printing.wherelist import Statements

        bodies = self.whole
        root = make(_TOGETHER, tuple(bodies), {}, (), np.dtype(float))
        found = Statements(root, size=size)
        shared = {a for t in postorder(bodies) for a in t.args}
        parts: list[tuple[Term, Term]] = []
        known: dict[Term, Term] = {}
        for whole in found.named:
            part = replaced_below(whole, known)
            if whole is root:
                count = len(self.states)
                states = [replace(s, body=t) for s, t in zip(self.states, part.args, strict=False)]
                rows = [
                    t.row if t.row.op is SYMBOL else row for t, row in zip(self.stacked, part.args[count:], strict=True)
                ]
                stacked = [replace(t, row=row) for t, row in zip(self.stacked, rows, strict=True)]
                return replace(self, states=states, stacked=stacked, parts=parts)
            if whole in bodies and whole not in shared:
                continue  # it has a line of its own
            z = symbol(f"{letter}{len(parts) + 1}", whole.shape, whole.dtype or np.dtype(float))
            known[whole] = z
            parts.append((z, part))
        raise AssertionError

    def step(self, k: int, values: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
        """Values of what is other in step ``k``."""
        out = {str(self.counter.name): k}
        for d in self.data:
            out[str(d.symbol.name)] = evaluate(d.terms[k], values, sizes)
        return out

    def run(self, values: dict[str, Any], sizes: dict[str, int]) -> list[dict[str, Any]]:
        """The values of all names in every step: what is given, the states before and after it, and its data."""
        now = {s.name: np.asarray(evaluate(s.first, values, sizes))[()] for s in self.states}
        out = []
        for k in range(self.steps):
            env = {**values, **self.step(k, values, sizes), **{str(s.now.name): now[s.name] for s in self.states}}
            for z, part in self.parts:
                env[str(z.name)] = evaluate(part, env, sizes)
            for s in self.states:
                now[s.name] = env[str(s.new.name)] = evaluate(s.body, env, sizes)
            out.append(env)
        return out

    def after(self, forward: list[dict[str, Any]], sizes: dict[str, int]) -> dict[str, Any]:
        """The values of what the result reads, of the names in every step."""
        env = {**forward[-1], **{str(s.last.name): forward[-1][str(s.new.name)] for s in self.states}}
        for t in self.stacked:
            rows = [evaluate(t.row, step, sizes) for step in forward]
            env[str(t.symbol.name)] = np.stack(
                rows if t.last is None else [*rows, evaluate(t.last, env, sizes)], axis=t.axis
            )
        return env

    def value(self, values: dict[str, Any], sizes: dict[str, int]) -> Any:
        """The number of the result."""
        return evaluate(self.result, self.after(self.run(values, sizes), sizes), sizes)


class _Unfit(Exception):
    """What was found is no recurrence of one step."""


class _ReadsFurther(_Unfit):
    """A step reads values of more steps ago."""


def recurrence(root: Term) -> Recurrence | None:
    """The loop of a program; None where it has none that is simple enough."""
    order = postorder([root])
    if len(order) < 3 * FEWEST:
        return None
    for found in itertools.chain(*(pairings(root, order, data_first) for data_first in (False, True))):
        made = _rolled(found)
        if made is not None and unrolled(made) is found.root:
            return made
    return None


def _rolled(found: Pairing) -> Recurrence | None:
    """The recurrence of chains, with as few values of former steps as it reads."""
    for reach in _REACHES:
        try:
            return _Rolling(found.root, found.chains, reach).made()
        except _ReadsFurther:
            continue
        except _Unfit:
            break
    return None


class _Rolling:
    """The states of a loop, cut out of its chains."""

    def __init__(self, root: Term, chains: list[Chain], reach: int):
        self.root = root
        begun = {chain.nodes[0] for chain in chains if chain.is_state and len(chain.nodes) > 2}
        chains = [c for c in chains if not (c.is_state and len(c.nodes) == 2 and c.nodes[1] in begun)]
        self.chains = chains
        self.place = {
            t: (c, j) for c, chain in enumerate(chains) for j, t in enumerate(chain.nodes) if j or not chain.is_state
        }
        self.level = self._levels()
        self.states = [c for c, chain in enumerate(chains) if chain.is_state]
        if not self.states:
            raise _Unfit
        self.start = max(self.level[c] for c in self.states)
        self.end = max(self.level[c] + len(chains[c].nodes) - 1 for c in self.states)
        self.steps = self.end - self.start
        if self.steps < FEWEST:
            raise _Unfit
        # Steps before the one that the others are told by, which reads only what the loop has computed.
        self.before = reach
        self.shown = self.start + self.before + 1
        self.late: dict[Term, tuple[int, int]] = {}  # values before the last ones: of how many steps ago, which state
        self.begun: dict[tuple[int, int], set[Term]] = {}  # what these are before the loop
        self.data: dict[Any, Moving | Term | None] = {}
        self.used = {str(t.name) for t in postorder([root]) if t.op is SYMBOL or t.op is SIZE}
        self.used |= {n for t in postorder([root]) for n in t.shape if isinstance(n, str)}
        self.counter = next(c for c in ("k", "t", "j", "k_", "t_", "step") if c not in self.used)

    def _levels(self) -> list[int]:
        """The number of the step that every chain begins in: as early as what it reads allows."""
        low = -(10**9)
        level = [0 if chain.is_state else low for chain in self.chains]
        edges = []
        for c, chain in enumerate(self.chains):
            if chain.is_state and len(chain.nodes) < 3:
                raise _Unfit
            for arg in chain.nodes[-1].args:
                if arg in self.place:
                    other, j = self.place[arg]
                    edges.append((c, other, j - len(chain.nodes) + 1))
        for _ in range(len(self.chains) + 1):
            changed = False
            for c, other, step in edges:
                if level[other] > low and level[other] + step > level[c]:
                    level[c], changed = level[other] + step, True
            if not changed:
                return level
        raise _Unfit

    def _at(self, level: int) -> list[Term]:
        """The values of the states after a step."""
        return [self.chains[c].nodes[self._in(c, level)] for c in self.states]

    def _in(self, c: int, level: int) -> int:
        j = level - self.level[c]
        if not 0 <= j < len(self.chains[c].nodes):
            raise _Unfit
        return j

    def made(self) -> Recurrence:
        """The recurrence."""
        firsts = self._at(self.start)
        values = [self._at(self.shown - ago) for ago in range(self.before + 1)]
        tops = values[0]
        kinds = [(t.shape, t.dtype or np.dtype(float)) for t in tops]
        self.k = symbol(self.counter, (), kinds[0][1])
        marks = [[symbol(f"@{n}@{ago}", *kind) for n, kind in enumerate(kinds)] for ago in range(self.before + 1)]
        stop = {t: z for terms, at in zip(values, marks, strict=True) for t, z in zip(terms, at, strict=True)}
        self.late = {t: (ago, n) for ago in range(2, self.before + 1) for n, t in enumerate(values[ago])}
        bodies = [self._body(t, stop) for t in tops]
        rows = self._rows(stop)
        late = sorted(self.begun)
        if any(len(self.begun[at]) > 1 for at in late):
            raise _Unfit
        firsts += [first for at in late for first in self.begun[at]]
        kinds += [kinds[n] for _, n in late]
        names = self._names(firsts)
        now, new, last = (
            [symbol(f"{name}@{mark}", *kind) for name, kind in zip(names, kinds, strict=True)]
            for mark in ("k", "next", "last")
        )
        known = dict(zip([*marks[1], *(marks[ago][n] for ago, n in late)], now, strict=True))
        bodies += [marks[ago - 1][n] for ago, n in late]
        known |= dict(zip(marks[0], new, strict=False))
        bodies = replaced(bodies, known)
        ends = [(self.chains[c].nodes[-1], z) for c, z in zip(self.states, last, strict=False) if self._ends(c)]
        after = dict(ends)
        stacked = [
            Trajectory(z, t, replaced([row], known)[0], None if end is None else after.get(end))
            for z, t, row, end in rows
        ]
        after |= {t.whole: t.symbol for t in stacked}
        inner = {t for c in self.states for t in self.chains[c].computed}
        if any(t in inner for t in postorder([self.root], after)):
            raise _Unfit  # what comes after the loop reads more than its last step
        (result,) = replaced([self.root], after)
        states = [State(*each) for each in zip(names, now, new, last, firsts, bodies, strict=True)]
        if not all(_reads(s.body, now) for s in states):
            raise _Unfit  # data by another name
        # The last steps may read nothing: of two readers of one symbol that which reads longer knows its terms.
        read = {t: sum(x is not None for x in t) for t in self.data}
        data = {
            d.symbol: d
            for terms, d in sorted(self.data.items(), key=lambda item: read[item[0]])
            if isinstance(d, Moving)
        }
        rules = {d: terms for terms, d in self.data.items() if isinstance(d, Term)}
        return Recurrence(_in_order(states), self.steps, self.k, [*data.values()], result, self.root, rules, stacked)

    def _ends(self, c: int) -> bool:
        return self.level[c] + len(self.chains[c].nodes) - 1 == self.end

    def _rows(self, stop: dict[Term, Term]) -> list[tuple[Term, Term, Term, Term | None]]:
        """What stacks values of all steps: a symbol for it, itself, its row in a step, and what comes after them."""
        found = []
        for t in postorder([self.root]):
            if t.op.name != "stack" or t.args[-1] not in self.place:
                continue
            more = len(t.args) - self.steps
            if more not in (0, 1):
                continue
            top = t.args[self.before]
            base = self.chains[self.place[t.args[-1]][0]].nodes[0]
            own = str(base.name).rstrip("0_").upper() if base.op is SYMBOL else ""
            name = next(n for n in (own, *"YXZSVU", "Y_", "X_", "Z_") if n.isidentifier() and n not in self.used)
            self.used.add(name)
            row = stop[top] if top in stop else self._body(top, stop)
            found.append((symbol(name, t.shape, t.dtype), t, row, t.args[-1] if more else None))
        return found

    def _names(self, firsts: Sequence[Term]) -> list[str]:
        """Names of the states: of the symbols that they begin with and that stand nowhere else, or free letters."""
        begun = {
            t
            for chain in self.chains
            for t in (*chain.computed[: 1 + len(firsts) - len(self.states)], *chain.nodes[:1])
        }
        elsewhere = {a for t in postorder([self.root]) if t not in begun and t.op.name != "stack" for a in t.args}
        letters = (n for n in ("z", "s", "u", "v", "y", "w", *(f"z{j}" for j in range(1, 99))) if n not in self.used)
        names: list[str] = []
        for base in firsts:
            own = str(base.name) if base.op is SYMBOL and base not in elsewhere else ""
            bare = own.rstrip("0_")
            own = bare if own.endswith("0") and bare and bare not in self.used else own
            names.append(own if own and own not in names else next(letters))
        return names

    def _body(self, top: Term, stop: dict[Term, Term]) -> Term:
        """What a step makes of the states, over their symbols."""
        known = {t: z for t, z in stop.items() if t is not top}
        order = postorder([top], known)
        if len(order) > _LONGEST:
            raise _Unfit
        image: dict[Term, Term] = dict(known)
        for t in order:
            at = self.place.get(t)
            args = tuple([image[a] if at is None else self._slot(*at, i, image) for i, a in enumerate(t.args)])
            if at is None and args != t.args:
                raise _Unfit  # what is the same in every step reads what the loop computes
            if at is not None and self.chains[at[0]].is_state and t is not top:
                raise _ReadsFurther
            image[t] = t.with_args(args)
        return image[top]

    def _slot(self, c: int, j: int, i: int, image: dict[Term, Term]) -> Term:
        """An argument of a term of the loop: what it is made of, or data of the step."""
        chain = self.chains[c]
        arg = chain.nodes[j].args[i]
        values = [n.args[i] for n in chain.computed]
        if arg in self.late and j >= self.before:
            ago, n = self.late[arg]
            for back in range(2, ago + 1):
                self.begun.setdefault((back, n), set()).add(chain.nodes[j - self.before + ago - back].args[i])
        if arg in self.place or all(v is arg for v in values):
            return image[arg]
        if not all(is_data(arg, v) for v in values):
            raise _ReadsFurther
        first = 1 if chain.is_state else 0
        rows = range(j - self.before, j - self.before + self.steps)
        terms = tuple([chain.nodes[r].args[i] if first <= r < len(chain.nodes) else None for r in rows])
        if terms not in self.data:
            self.data[terms] = moving(terms, self.k, self.used)
        found = self.data[terms]
        if found is None:
            raise _Unfit
        return found.symbol if isinstance(found, Moving) else found


def replaced(roots: Sequence[Term], images: dict[Term, Term]) -> list[Term]:
    """Terms with images of some that they are made of; the ops stay as they are."""
    return _into(roots, dict(images))


def _into(roots: Sequence[Term], image: dict[Term, Term]) -> list[Term]:
    """The images of terms, which ``image`` has afterwards, with those of all that they are made of."""
    for t in postorder(roots, image):
        args = tuple([image[a] for a in t.args])
        image[t] = t.with_args(args)
    return [image[r] for r in roots]


def replaced_below(root: Term, images: dict[Term, Term]) -> Term:
    """A term with images of what is below it."""
    args = tuple(replaced(root.args, images))
    return root.with_args(args)


def _reads(body: Term, states: Sequence[Term]) -> bool:
    return any(t in postorder([body]) for t in states)


def _in_order(states: list[State]) -> list[State]:
    """The states such that each reads only new values of those before it."""
    out: list[State] = []
    waiting = list(states)
    while waiting:
        later = {s.new for s in waiting}
        ready = [s for s in waiting if not any(t in later for t in postorder([s.body]))]
        if not ready:
            raise _Unfit
        out += ready[:1]
        waiting.remove(ready[0])
    return out


def unrolled(loop: Recurrence, steps: int | None = None) -> Term:
    """The program again, step by step; or that of its first ``steps`` steps."""
    now = [s.first for s in loop.states]
    rows: list[list[Term]] = []
    for k in range(loop.steps if steps is None else steps):
        image: dict[Term, Term] = dict(zip((s.now for s in loop.states), now, strict=True))
        image |= {d.symbol: d.terms[k] for d in loop.data}
        image |= {t: terms[k] for t, terms in loop.rules.items() if terms[k] is not None}  # type: ignore[misc]
        for n, s in enumerate(loop.states):
            now[n] = image[s.new] = _into([s.body], image)[0]
        rows.append(_into(loop.rows, image))
    known = dict(zip((s.last for s in loop.states), now, strict=True))
    for t, column in zip(loop.stacked, zip(*rows, strict=True), strict=True):
        args = column if t.last is None else (*column, known[t.last])
        known[t.symbol] = t.whole.with_args(args)
    return replaced([loop.result], known)[0]

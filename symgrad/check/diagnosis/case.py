"""One wrong derivative, and everything known about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.asking.subject import Subject
from symgrad.check.graph.lines import line_text
from symgrad.check.graph.replay import Replay
from symgrad.check.graph.slopes import slopes
from symgrad.check.graph.surgery import BUDGET, CHANGE, NONE, Change, Edges, Local, Surgeon
from symgrad.check.oracle.answer import Exact
from symgrad.check.oracle.trust import symmetrised
from symgrad.check.report import ArgumentReport, Diagnosis


class Suspect(NamedTuple):
    """A mistake that has explained the derivative by one argument: what it makes of that by another, and the words."""

    predict: Callable[[Case], Any]
    found: Diagnosis


@dataclass
class Case:
    """One wrong derivative and everything known about it.

    ``seeds`` are the cotangents whose products with the derivative are compared, for sweeps of the tape; None for a
    gradient, where there is but one.  Along the edges that are ``still`` nothing of a change is handed down, as where
    all cancels in the exact gradient (:attr:`Surgeon.idle`).  A ``strict`` case is met to all digits only.
    Hypotheses that are ``refuted`` are not looked at again when there is more time.  ``again`` gives the derivatives
    at other arguments, where they are known.
    """

    argument: ArgumentReport
    number: int
    subject: Subject
    exact: Exact
    seeds: Any = None
    still: Edges = NONE
    strict: bool = False
    refuted: set[Any] = field(default_factory=set)
    again: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        self.name = self.argument.name
        self.what = {"jacobian": "Jacobian", "jvp": "tangent"}.get(self.argument.kind, "gradient")
        self.g = self.argument.exact
        self.c = self.argument.given
        symmetric = self.subject.positions[self.number] in self.exact.symmetric and self.argument.kind != "jvp"
        self.symmetric = symmetric and self.c.shape == self.g.shape
        self.c = self._fitted(self.c)
        self.x = self.subject.args[self.subject.positions[self.number]]
        self.off: Any = self.c - self.g if self.c.shape == self.g.shape else None

    def _fitted(self, gradient: Any) -> Any:
        """A gradient as it is compared: that for symmetric matrices where the function reads one triangle only."""
        return symmetrised(gradient) if self.symmetric else gradient

    def meets(self, prediction: Any, given: Any = None) -> bool:
        """Whether a predicted gradient is the given one, and so explains the whole difference; None is none."""
        c = self.c if given is None else given
        if prediction is None or np.shape(prediction) != c.shape:
            return False
        aligned = c is self.c and c.shape == self.g.shape
        room = 8 * (self.argument.tolerance if aligned else float(np.max(self.argument.tolerance)))
        part = 1e-9 if self.strict else 1e-5 if c.size > 2 else 1e-8  # one number alone is met by chance too easily
        if self.off is not None:
            room = room + part * float(min(np.max(np.abs(self.off)), np.max(np.abs(c), initial=0.0)))
        else:
            room = room + part * float(np.max(np.abs(prediction)))
        return bool(np.all(np.abs(c - prediction) <= room))

    def multiple_of(self, direction: Any) -> float | complex | None:
        """``k`` if the difference to the exact gradient is ``k * direction``, else None."""
        norm = float(np.sum(np.abs(direction) ** 2))
        if self.off is None or not norm or not np.isfinite(norm) or np.shape(direction) != self.off.shape:
            return None
        k = np.sum(np.conj(direction) * self.off) / norm
        k = float(np.real(k)) if abs(np.imag(k)) <= 1e-9 * abs(k) else complex(k)
        return k if k and self.meets(self.g + k * direction) else None

    def by_rows(self) -> Case:
        """The same for a few products with cotangents, which a sweep of the tape gives; itself for a gradient."""
        derivative, value = self.subject.derivative, np.asarray(self.exact.value)
        if derivative.kind == "gradient" or self.off is None:
            return self
        seeds = np.random.default_rng(3).normal(size=(min(MOST_ROWS, value.size), *value.shape))
        argument = replace(
            self.argument,
            exact=derivative.contracted(self.g, seeds),
            given=derivative.contracted(self.c, seeds),
            tolerance=derivative.contracted(self.argument.tolerance, np.abs(seeds)),
        )
        return Case(argument, self.number, self.subject, self.exact, seeds, self.still, self.strict)

    @property
    def surgeon(self) -> Surgeon | None:
        """The recorded sweeps of the graph; None for a black box."""
        output = self.exact.output
        if output is None or output._node is None:
            return None
        surgeons: dict[str, Surgeon] = self.exact.surgeons
        key = "gradient" if self.seeds is None else "rows"
        if key not in surgeons:
            replay = self.replay
            surgeons[key] = Surgeon(output, self.seeds, *([] if replay is None else [partial(slopes, replay)]))
        surgeons[key].deadline = self.exact.deadline
        return surgeons[key]

    @property
    def is_late(self) -> bool:
        """Whether the time for finding the mistake is up."""
        return time.monotonic() > self.exact.deadline

    @property
    def replay(self) -> Replay | None:
        """The graph with its values; None for a black box, and where a constant is not known."""
        output = self.exact.output
        if output is None or output._node is None:
            return None
        if self.exact.replay is None:
            self.exact.replay = Replay(output, self.exact.constants)
        return self.exact.replay if self.exact.replay.works else None

    def edges(self, budget: int = BUDGET) -> Iterator[tuple[Any, int]]:
        """The edges of the graph that may be changed, while changes have not cost more; none for a black box."""
        return iter(()) if self.surgeon is None else self.surgeon.edges(budget)

    def altered(self, node: Any, i: int, change: Change) -> Any:
        """What the sweep gives when argument ``i`` of a node receives something else; None where that has no sense."""
        assert self.surgeon is not None
        moved = self.surgeon.moved(self.exact.leaves[self.number], node, i, change, self.still)
        if moved is None:
            return None
        if self.seeds is None:
            return self.g + self._fitted(moved[0])
        return self.g + self._fitted(self._rows(moved))

    def added_to(self, value: Any, more: Callable[[dict[Any, Local]], Any]) -> Any:
        """What the sweep gives when a value receives ``more(edges)`` besides, where that is an array of its shape."""
        assert self.surgeon is not None
        leaf, rows = self.exact.leaves[self.number], []
        for edges in self.surgeon.sweeps:
            cotangent = more(edges)
            if cotangent is None or np.shape(cotangent) != value.raw_shape or not np.all(np.isfinite(cotangent)):
                return None
            rows.append(self.surgeon.pulled(value, cotangent.astype(value.dtype), leaf, self.still))
        self.surgeon.spent += CHANGE
        return self.g + self._fitted(rows[0] if self.seeds is None else self._rows(rows))

    def roughly(self, edges: Any, change: Change) -> Any:
        """The same with each change by itself, which costs no sweep; None where one is needed all the same."""
        assert self.surgeon is not None
        rows = self.surgeon.added_up(self.exact.leaves[self.number], edges, change, self.still)
        return None if rows is None else self.g + self._fitted(rows[0] if self.seeds is None else self._rows(rows))

    def _rows(self, rows: Any) -> Any:
        return np.array([self.subject.derivative.row(row, self.number) for row in rows])

    def changed_everywhere(self, edges: Any, change: Change) -> Any:
        """What the sweep gives with a change on several edges at once."""
        assert self.surgeon is not None
        rows = self.surgeon.changed(self.exact.leaves[self.number], edges, change, self.still)
        return self.g + self._fitted(rows[0] if self.seeds is None else self._rows(rows))

    def keep(self, predict: Callable[[Case], Any], found: Diagnosis) -> Diagnosis:
        """Remember a mistake in the function that explains this derivative: it may explain those by other arguments."""
        self.exact.suspects.append(Suspect(predict, found))
        return found

    def suspected(self) -> Diagnosis | None:
        """A mistake that has explained the derivative by another argument, if it explains this one."""
        rows = self.by_rows()
        if rows.surgeon is None or not rows.surgeon.sweeps:
            return None
        suspects: list[Suspect] = self.exact.suspects
        return next((s.found for s in suspects if rows.meets(s.predict(rows))), None)

    def line(self, edge: Any) -> str:
        """The line of the function under check that a value was computed in."""
        return line_text(self.exact.lines.get(edge))


MOST_ROWS = 4
"""Cotangents that a Jacobian is looked at through."""

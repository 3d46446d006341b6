r"""Recurrences as lines of LaTeX: ``x^{(k+1)} = …``, adjoints ``\bar{x}^{(k)} = …`` from the last step, and sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symgrad.formula.canonical.budget import exceeds
from symgrad.formula.loops.adjoint import Adjoint, adjoint
from symgrad.formula.loops.recurrence import Recurrence, State, Trajectory
from symgrad.formula.printing.latex import Writer, written
from symgrad.formula.printing.names import name_latex, texts
from symgrad.formula.printing.pieces import CROSS, brackets, signed
from symgrad.formula.printing.wherelist import canonical_or_raw
from symgrad.formula.printing.width import COLUMN, width
from symgrad.formula.term import SYMBOL, Term, constant_value, postorder, symbol

_LARGE = 36
"""Terms of a part of a step from which its common parts get names."""

_SIZES = (None, 24, 12, 6)
"""What a part of a step may hold before it gets a name; the first size is taken whose lines fit, None names nothing."""

_CLUMSY = 1e6
"""What axes of size 1 cost that have to be told: written out, the formula does not have them."""

Row = tuple[str, str]


class Shown(NamedTuple):
    """A recurrence as lines of left and right sides, and what they are made of."""

    rows: list[Row]
    loop: Recurrence
    back: Adjoint | None


def shown(loop: Recurrence, target: Term | None, name: str | None, bold: bool, column: float | None) -> Shown | None:
    """The result of a loop, or its gradient by ``target``, in the fewest names with which the lines fit.

    None for gradients that are no such recurrence.
    """
    best: tuple[float, Shown] | None = None
    for size in _SIZES:
        letter = _free_letter(loop)
        cut = loop if size is None else loop.in_parts(size, letter)
        back = None if target is None else adjoint(cut, target)
        if target is not None and back is None:
            return None
        lines = _Lines(cut, back, bold, COLUMN if column is None else column)
        if size is None and lines.are_large():
            continue
        found = Shown(lines.whole(name), cut, back)
        over = 0.0 if column is None else max(0.0, *(width(f"{a} = {b}") - column for a, b in found.rows))
        over += _CLUMSY * sum(right.count(r"\operatorname{reshape}") for _, right in found.rows)
        if best is None or over < best[0]:
            best = over, found
        if not over:
            break
    return None if best is None or best[0] >= _CLUMSY else best[1]


def _free_letter(loop: Recurrence) -> str:
    used = {str(t.name).rstrip("0123456789") for t in postorder([loop.root]) if t.op is SYMBOL}
    used |= {s.name.rstrip("0123456789") for s in loop.states} | {str(loop.counter.name)}
    return next(c for c in ("t", "u", "v", "z", "w", "t_") if c not in used)


def _barred(text: str) -> str:
    """A name with the bar of an adjoint over its letter."""
    stem, mark, rest = text.partition("_{") if not text.endswith("}}") else (text, "", "")
    return rf"\bar{{{stem}}}{mark}{rest}"


def _place(t: Trajectory, step: str) -> str:
    """The index of the value of a step in the stack of all."""
    return f"_{{[{','.join([':'] * t.axis + [step])}]}}"


class _Lines:
    """The lines of a recurrence, and of its adjoint where that is given."""

    def __init__(self, loop: Recurrence, back: Adjoint | None, bold: bool, column: float):
        self.loop = loop
        self.back = back
        self.bold = bold
        self.column = column
        self.k = name_latex(str(loop.counter.name))
        self.rows: list[Row] = []
        plain = [str(t.name) for t in postorder([loop.root]) if t.op is SYMBOL]
        stacks = (str(t.symbol.name) for t in loop.stacked)
        self.names = texts([*plain, *(s.name for s in loop.states), *stacks, str(loop.counter.name)])
        for s in loop.states:
            self._call(s.name, self.names[s.name])
            if s in loop.sums:
                self.names[f"{s.name}@last"] = self.names[s.name]
        for z, _ in loop.parts:
            self.names[str(z.name)] = f"{name_latex(str(z.name))}^{{({self.k})}}"
            self.names[f"{z.name}@bar"] = f"{_barred(name_latex(str(z.name)))}^{{({self.k})}}"
        for d in loop.data:
            self.names[str(d.symbol.name)] = d.text(self.names, self.k)
        for t in loop.stacked:
            name = str(t.symbol.name)
            bar = _barred(self.names[name])
            self.names |= {f"{name}@bar": bar + _place(t, self.k), f"{name}@bar@last": bar + _place(t, str(loop.steps))}

    def _call(self, name: str, stem: str) -> None:
        """The texts of a state and of its adjoint in every step."""
        end = str(self.loop.steps)
        for mark, place in (("k", self.k), ("next", f"{self.k}+1"), ("last", end), ("0", "0")):
            self.names[f"{name}@{mark}"] = f"{stem}^{{({place})}}"
        for mark, place in (("", f"{self.k}+1"), ("@k", self.k), ("@last", end), ("@0", "0")):
            self.names[f"{name}@bar{mark}"] = f"{_barred(stem)}^{{({place})}}"

    def are_large(self) -> bool:
        """Whether parts of a step are too large to be one formula."""
        terms = [s.body for s in self.loop.states]
        if self.back is not None:
            terms += self.back.terms
        return any(exceeds(t, _LARGE) for t in terms)

    def whole(self, name: str | None) -> list[Row]:
        """All lines; the last one is the formula itself, with ``name`` on its left."""
        if self.back is None:
            self._forward([self.loop.result], name)
        else:
            self._forward([*self.back.last.values(), *(t for _, t in self.back.stacked), *self.back.terms], None)
            self._backward(self.back, name)
        return self.rows

    # -------------------------------------------------------------------------------------- forward

    def _needed(self, roots: Sequence[Term]) -> set[Term]:
        """The symbols that the terms read, directly or by way of a step."""
        found = {t for t in postorder(roots) if not t.args}
        while True:
            read = [s.body for s in self.loop.states if found & {s.now, s.new, s.last}]
            read += [t for z, t in self.loop.parts if z in found]
            read += [t.row for t in self.loop.stacked if t.symbol in found]
            more = {t for t in postorder(read) if not t.args} - found
            if not more:
                return found
            found |= more

    def _forward(self, roots: Sequence[Term], name: str | None) -> None:
        """The states before the loop, a step, and what is added up; without a gradient also what becomes of them."""
        loop, needed = self.loop, self._needed(roots)
        states = [s for s in loop.states if needed & {s.now, s.new, s.last}]
        sums = [s for s in states if s in loop.sums]
        states = [s for s in states if s not in sums]
        for d in loop.data:
            if d.symbol in needed and not d.index:
                self._row(d.text({}, self.k), d.listed())
        for s in states:
            self._row(self._at(s, "0"), self._text(s.first))
        rows = [(self._text(z), self._text(t)) for z, t in loop.parts if z in needed]
        rows += [(self._at(s, "next"), self._text(s.body)) for s in states]
        self._steps(rows, f"0, \\ldots, {loop.steps - 1}")
        for t in loop.stacked:
            if t.symbol in needed:
                row = (self.names[str(t.symbol.name)] + _place(t, self.k), self._text(t.row))
                self._steps([row], f"0, \\ldots, {loop.steps - (t.last is None)}")
        for s in sums:
            total = self._total(s.first, s.added)
            if self.back is None and loop.result is s.last:
                self._row(name or "", total)
                return
            self._row(self._at(s, "last"), total)
        if self.back is None:
            self._row(name or "", self._text(loop.result, exact=False))

    # -------------------------------------------------------------------------------------- backward

    def _backward(self, back: Adjoint, name: str | None) -> None:
        """The adjoints after the loop, those before a step, and the gradient."""
        for t, bar in back.stacked:
            self._row(_barred(self.names[str(t.symbol.name)]), self._text(bar))
        zero = [s for s in back.states if constant_value(back.last[s.name]) == 0]
        for s in back.states:
            if s not in zero:
                self._row(self._at(s, "bar@last"), self._text(back.last[s.name]))
        if zero:
            self._row(" = ".join(self._at(s, "bar@last") for s in zero), "0")
        rows = [(self._text(z), self._text(t)) for z, t in back.inner]
        rows += [(self._at(s, "bar@k"), self._text(back.bodies[s.name])) for s in back.states]
        target = str(back.target.name)
        for d, term in back.rows:
            rows.append((d.text({target: _barred(self.names[target])}, self.k), self._text(term)))
        self._steps(rows, f"{self.loop.steps - 1}, \\ldots, 0")
        self._row(name or "", _barred(self.names[target]) if back.rows else self._total(back.outside, back.inside))

    # -------------------------------------------------------------------------------------- lines

    def _total(self, first: Term | None, added: Term | None) -> str:
        """A value and the sum over all steps."""
        head = "" if first is None or constant_value(first) == 0 else self._text(first)
        if added is None:
            return head or "0"
        piece = Writer(self.names, self.bold).write(canonical_or_raw(added))
        body, level = signed(piece)
        minus = body.startswith("-") and piece.parts is None
        body = body[1:] if minus else brackets(body) if level < CROSS else body
        total = rf"\sum_{{{self.k}=0}}^{{{self.loop.steps - 1}}} {body}"
        if not head:
            return f"-{total}" if minus else total
        return f"{head} {'-' if minus else '+'} {total}"

    def _steps(self, rows: list[Row], steps: str) -> None:
        """The lines of one step, and for which k they hold."""
        if not rows:
            return
        left, right = rows.pop()
        said = rf"{self.k} = {steps}"
        beside = rf"{right}, \quad {said}"
        fits = width(f"{left} = {beside}") <= self.column
        self.rows += [*rows, (left, beside)] if fits else [*rows, (left, rf"{right},"), ("", rf"\quad {said}")]

    def _text(self, t: Term, exact: bool = True) -> str:
        return written(canonical_or_raw(t), self.names, self.bold, exact=exact)

    def _at(self, s: State, mark: str) -> str:
        return self._text(symbol(f"{s.name}@{mark}", s.now.shape, s.now.dtype))

    def _row(self, left: str, right: str) -> None:
        self.rows.append((left, right))

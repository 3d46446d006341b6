"""Where the nan of a backward pass comes from: the operation and entry it begins at, the limit, another spelling.

The operation whose gradient is nan is often not the one to blame: 0 · inf meets an infinite gradient that was born
later in the program, or a value that was nan or inf before.  Both are followed to where they begin.  All of this runs
once, for an error that is about to be raised.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import FormulaError, SymgradError
from symgrad.formula.derive import Derivation
from symgrad.formula.stable import respelled
from symgrad.formula.term import Term, full, images, own_symbol, postorder, substitute, symbol
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded, value_of

_SECONDS = 3.0
"""How long SymPy may look for a limit."""

_MOST_NODES = 2_000
"""In larger programs neither values from before nor limits are looked for."""

_MOST_ENTRIES = 200
"""More entries than this are not written out one by one for a limit."""


class Infinite(NamedTuple):
    """A gradient that is not finite, as a node gave it to its argument ``i``."""

    node: Node
    i: int
    entries: Any
    g: Any


@dataclass(frozen=True)
class Birth:
    """Where a nan begins: ``index`` is the entry of the operation's result, ``inf`` says as what."""

    node: Node
    i: int
    index: tuple[int, ...]
    inf: str
    """As "gradient" or "value" that is infinite, "given" as a gradient or "argument" from outside; "" for a new nan."""


@dataclass(frozen=True)
class Findings:
    """What an error of anomaly mode tells, as data: nothing of the graph is kept.

    ``operation``  the name of the op that the nan begins in
    ``index``      the entry of its result
    ``slope``      the derivative of the whole program by the entry that moves, a SymPy expression
    ``limit``      what that tends to, in words
    ``rewrite``    a spelling without the nan

    What is not known is None.
    """

    operation: str
    index: tuple[int, ...]
    slope: Any
    limit: str | None
    rewrite: str | None


class Autopsy:
    """What is found out about one nan, which a pass from ``roots`` ``found``.

    ``birth`` is where it begins, ``slope`` the derivative of the whole program there, ``limit`` what that tends to,
    ``rewrite`` a spelling without the nan; None where they are not known.  ``names`` of leaves go by identity.
    """

    def __init__(
        self,
        roots: Sequence[tuple[Any, Any]],
        infinite: dict[Any, list[Infinite]],
        found: Infinite,
        names: dict[int, str] | None = None,
    ):
        self.roots = roots
        self.names = names
        self.reading, self.values, self.images = self._read()
        self.birth = self._before(self._followed(infinite, found))
        self.slope: Any = None
        self.limit: str | None = None
        self.level: str | None = None  # what the value of the operation tends to
        self.rewrite: str | None = None
        if self.birth.inf not in ("given", "argument"):
            self._find_limit()
            self.rewrite = self._other_spelling()

    @property
    def findings(self) -> Findings:
        """What is left when the graph is gone."""
        return Findings(self.birth.node.op.name, self.birth.index, self.slope, self.limit, self.rewrite)

    def _read(self) -> tuple[Any, dict[str, Any], dict[Term, Any]]:
        """The program as terms with its values; nothing where it is too large or its constants are gone."""
        roots = [root for root, _ in self.roots]
        try:
            reading = Reading(roots, self.names, letters={})
            values = {}
            for name, leaf in reading.sources.items():
                alive = leaf if isinstance(leaf, Recorded) else leaf.ref()
                values[name] = leaf.kept if alive is None else alive._value
            if len(reading.nodes) > _MOST_NODES or any(v is None for v in values.values()):
                return None, {}, {}
            return reading, values, images([reading[root] for root in roots], values, {})
        except (SymgradError, ArithmeticError, ValueError, TypeError, KeyError):
            return None, {}, {}

    # -------------------------------------------------------------------------------------- where it begins

    def _followed(self, infinite: dict[Any, list[Infinite]], found: Infinite) -> Birth:
        """Back along infinite gradients to the operation that made one of finite ones."""
        how = ""
        while True:
            inside = _met(found)
            earlier = [e for e in infinite.get(found.node, ()) if (e.entries & inside).any()]
            if not earlier:
                given = inside.any()  # by a hook, or by who began the pass: what operations gave was noted
                return Birth(found.node, found.i, first(inside if given else _spread(found)), "given" if given else how)
            found = earlier[0]._replace(entries=earlier[0].entries & inside)
            how = "gradient"

    def _before(self, birth: Birth) -> Birth:
        """Back along values that are not finite to the operation that made one of finite ones."""
        node, index, how = birth.node, birth.index, birth.inf
        while how != "given":
            for arg in node.args:
                value = self._value(arg)
                if not isinstance(arg, Node) or value is None or np.isfinite(value).all():
                    continue
                at = aligned(node, index, value.shape)
                if at is None:
                    at = first(~np.isfinite(value))
                if not np.isfinite(value[at]):
                    node, index, how = arg, at, "value"
                    break
            else:
                i = birth.i if node is birth.node else next((k for k, _ in _tracked(node)), 0)
                return Birth(node, i, index, "argument" if self._is_given(node, index) else how)
        return birth

    def _is_given(self, node: Node, index: tuple[int, ...]) -> bool:
        """Whether an argument that no operation made is nan or inf itself."""
        for arg in node.args:
            value = self._value(arg)
            at = None if value is None or isinstance(arg, Node) else aligned(node, index, value.shape)
            if at is not None and not np.isfinite(value[at]):
                return True
        return False

    def _value(self, edge: Any) -> Any:
        """The value of an argument of a node, as far as it is known."""
        if self.reading is None or id(edge) not in self.reading.terms:
            return np.asarray(edge._value) if isinstance(edge, Recorded) else None
        found = self.images.get(self.reading.terms[id(edge)])
        return None if found is None or not hasattr(edge, "raw_shape") else np.broadcast_to(found, edge.raw_shape)

    def inputs(self) -> list[tuple[str, Any]]:
        """The arguments of the operation at the entry, by their text."""
        node, rows = self.birth.node, []
        for k, arg in enumerate(node.args):
            value = self._value(arg)
            at = None if value is None else aligned(node, self.birth.index, value.shape)
            if value is not None:
                shown = value[at].item() if at is not None else value.item() if value.size == 1 else None
                rows.append((self.text(arg, k), f"of shape {list(value.shape)}" if shown is None else repr(shown)))
        return rows

    def text(self, arg: Any, k: int) -> str:
        """How the program spells an argument, where that is short."""
        try:
            found = _spelled(self.reading[arg])
            return found if len(found) <= 40 else f"argument {k}"
        except (SymgradError, TypeError, AttributeError, KeyError, ValueError):
            return f"argument {k}"

    # -------------------------------------------------------------------------------------- the limit

    def _find_limit(self) -> None:
        """``slope``, ``limit`` and ``level``, as far as they are found."""
        if self.reading is None or sum(np.size(v) for v in self.values.values()) > _MOST_ENTRIES:
            return
        import symgrad.formula.sympy.entries  # noqa: F401  (SymPy takes its time, which is not that of the limits)

        edge, index = self._variable()
        if edge is None:
            return

        def slope() -> None:
            entry, self.slope = self._entry(edge, index, self._derivative(edge), index)
            self.limit = _limit(self.slope, *entry)

        def level() -> None:
            entry, value = self._entry(edge, index, self.reading[self.birth.node], self.birth.index)
            self.level = _limit(value, *entry)

        for find in (slope, level):
            with suppress(SymgradError, ArithmeticError, ValueError, TypeError, KeyError, AttributeError):
                within(_SECONDS, find)  # an error is under way; what cannot be found must not hide it

    def _derivative(self, edge: Any) -> Term:
        """The derivative of the whole by an argument of an operation, with ``@seed0`` … for the pass's seeds."""
        target = self.reading[edge]
        seeds = [own_symbol(f"seed{k}", out.raw_shape, out.dtype) for k, (out, _) in enumerate(self.roots)]
        outputs = [self.reading[root] for root, _ in self.roots]
        found = Derivation(outputs, seeds, [target], ends=True).adjoints.get(target)
        return full(target.shape, 0, target.dtype) if found is None else found

    def _entry(self, edge: Any, index: tuple[int, ...], term: Term, at: tuple[int, ...]) -> Any:
        """``(symbol, value)`` of the entry that moves, and the entry of ``term`` at ``at`` as a SymPy expression of it.

        Every other entry is the number that it is.
        """
        import sympy as sp

        from symgrad.formula.sympy.entries import entry_at

        target, name = self.reading[edge], "@entry"
        known = self.values | {f"@seed{k}": value_of(seed) for k, (_, seed) in enumerate(self.roots)}
        if isinstance(edge, Node):
            (term,) = substitute([term], {target: symbol(name, target.shape, target.dtype)})
            known[name] = self._value(edge)
        else:
            name = str(target.name)
        variable = sp.Symbol(f"{self.text(edge, 0)}{list(index) if index else ''}", real=True)
        entry = sp.sympify(entry_at(term, at))
        for atom in entry.atoms(sp.Indexed) | entry.free_symbols:
            base = str(atom.base) if isinstance(atom, sp.Indexed) else str(atom)
            place = tuple(map(int, atom.indices)) if isinstance(atom, sp.Indexed) else ()
            if base in known and (place or not np.ndim(known[base])):
                moves = base == name and place == index
                entry = entry.xreplace({atom: variable if moves else _exact(np.asarray(known[base])[place])})
        if entry.free_symbols - {variable}:
            raise FormulaError(f"{entry} has entries that are not known")
        return (variable, _exact(np.asarray(known[name])[index])), entry

    def _variable(self) -> tuple[Any, tuple[int, ...]]:
        """The entry to move: from the birth up to a leaf, as long as operations are elementwise."""
        node, i, index = self.birth.node, self.birth.i, self.birth.index
        while True:
            edge = node.args[i]
            at = aligned(node, index, edge.raw_shape)
            if at is None:
                return (None, ()) if node is self.birth.node else (node, index)
            if not isinstance(edge, Node):
                return edge, at
            node, index = edge, at
            i = next((k for k, _ in _tracked(node)), 0)

    # -------------------------------------------------------------------------------------- another spelling

    def _other_spelling(self) -> str | None:
        """A spelling of a part of the program that has no nan there, or a guard around the operation."""
        node = self.birth.node
        if self.reading is not None and node in self.reading.nodes:
            here = self.reading[node]
            for term in postorder([self.reading[root] for root, _ in self.roots]):
                found = respelled(term)
                if found is not None and (term is here or here in postorder(term.args, found[1])):
                    return f"write {_spelled(found[0])} for {_spelled(term)}: its derivative is right everywhere"
        if node.op.regular is None:
            return None
        k, condition = node.op.regular
        words = [self.text(arg, j) if hasattr(arg, "raw_shape") else repr(arg) for j, arg in enumerate(node.args)]
        if any(word.startswith("argument ") for word in words):
            words = [f"x{j + 1}" for j in range(len(words))]
        infix = _INFIX.get(node.op.name)
        call = f"{node.op.name}({', '.join(words)})" if infix is None else infix.format(*map(_bracketed, words))
        known = self.level is not None and "inf" not in self.level and "and" not in self.level
        value = self.level.split()[0] if known and self.level else "c"
        chosen = " with a c of your choice" if value == "c" else ""
        return f"write where({condition.format(words[k])}, {call}, {value}){chosen}: a branch not taken has no gradient"


_INFIX = {"div": "{} / {}", "pow": "{} ** {}", "scaled_reciprocal": "1 / {}", "reciprocal": "1 / {}"}


def _bracketed(word: str) -> str:
    """In brackets where a sum or product is no single factor."""
    depth = 0
    for letter in word:
        depth += (letter == "(") - (letter == ")")
        if not depth and letter in "+-*/ ":
            return f"({word})"
    return word


def _spelled(term: Term) -> str:
    from symgrad.formula.sympy.texts import text

    return text(term, canonicalise=False)


def _tracked(node: Node) -> Iterable[tuple[int, Any]]:
    return ((k, arg) for k, arg in enumerate(node.args) if node.mask >> k & 1)


def first(mask: Any) -> tuple[int, ...]:
    """The first entry that is true."""
    return tuple(int(k) for k in np.argwhere(mask)[0]) if np.ndim(mask) else ()


def _spread(found: Infinite) -> Any:
    """The entries of an operation's result that meet entries of its argument; all where that is not entry by entry."""
    if not found.node.op.entrywise:
        return np.ones(found.node.shape, bool)
    return np.broadcast_to(found.entries, found.node.shape)


def _met(found: Infinite) -> Any:
    """The entries of an operation's result with an infinite gradient that make those of its argument."""
    g = found.g
    if not hasattr(g, "shape") or g.shape != found.node.shape:
        return np.zeros(found.node.shape, bool)
    return _spread(found) & ~np.isfinite(g)


def aligned(node: Node, index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The entry of an argument that meets one of the result; None where the operation is not entry by entry."""
    if not node.op.entrywise or len(shape) > len(index):
        return None
    own = index[len(index) - len(shape) :]
    return tuple(0 if n == 1 else k for k, n in zip(own, shape, strict=True))


# ---------------------------------------------------------------------------------------------- SymPy's part


def _exact(value: Any) -> Any:
    """A float as the fraction that it is, for SymPy."""
    import sympy as sp

    number = Fraction(float(value))
    return sp.Rational(number.numerator, number.denominator)


_LOOKS = 64
"""How many calls pass from one look at the clock to the next."""


class _TimeIsUp(BaseException):
    """Not an ``Exception``, which SymPy may catch."""


def within(seconds: float, run: Callable[[], Any]) -> Any:
    """What ``run()`` gives, or None when it takes more of this thread's time: SymPy has no budget of its own."""
    end, before = time.thread_time() + seconds, sys.getprofile()
    calls = itertools.count()

    def watch(*_: Any) -> None:
        if next(calls) % _LOOKS == 0 and time.thread_time() > end:
            raise _TimeIsUp

    sys.setprofile(watch)
    try:
        return run()
    except _TimeIsUp:
        return None
    finally:
        sys.setprofile(before)


def _limit(expression: Any, variable: Any, point: Any) -> str | None:
    """In words what an expression tends to from both sides; None where SymPy does not know."""
    import sympy as sp

    plain = expression.replace(
        lambda e: type(e).__name__ in _SPELLED_OUT, lambda e: _SPELLED_OUT[type(e).__name__](sp, *e.args)
    )

    def side(sign: str) -> Any:
        try:
            found = sp.limit(plain, variable, point, sign)
        except (NotImplementedError, ValueError, TypeError, ArithmeticError, AttributeError, RecursionError):
            return None
        known = found.is_extended_real and not found.atoms(sp.Limit, sp.core.function.AppliedUndef)
        return found if known else None

    right, left = side("+"), side("-")
    if right is None or left is None or right == left:
        only = "" if right == left else " from the right" if left is None else " from the left"
        return None if right is left is None else f"{_number(left if right is None else right)}{only}"
    return f"{_number(left)} from the left and {_number(right)} from the right"


_SPELLED_OUT: dict[str, Callable[..., Any]] = {
    "ratio": lambda sp, a, b: a / b,
    "hypot": lambda sp, a, b: sp.sqrt(a**2 + b**2),
    "sigmoid": lambda sp, a: 1 / (1 + sp.exp(-a)),
    "softplus": lambda sp, a: sp.log(1 + sp.exp(a)),
}
"""Functions that SymPy knows no limits of."""


def _number(value: Any) -> str:
    """Fractions as they are, others as floats."""
    if value.is_Rational or value.is_infinite:
        return str(value).replace("oo", "inf")
    return repr(float(value.evalf(17, maxn=1000)))

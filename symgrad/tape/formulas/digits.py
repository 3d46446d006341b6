"""Values and gradients of the tape at any number of digits."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError, AutogradError, FormulaError
from symgrad.formula.digits import evalf as evaluated, in_mpmath
from symgrad.formula.term import SYMBOL
from symgrad.tape.formulas.origin import origin_of
from symgrad.tape.formulas.reading import read
from symgrad.tape.memory.versions import renewed
from symgrad.tape.record import Recorded


def evalf(tensor: Any, n: int) -> Any:
    """The value of a tensor to ``n`` digits, see :meth:`symgrad.Tensor.evalf`."""
    return evaluated(*_asked(tensor, "evalf", n), n)


def exact(tensor: Any, n: int) -> Any:
    """The same in mpmath's numbers, whose exponents have no bounds: an object array, or one number."""
    term, values, sizes = _asked(tensor, "verify", n)
    if term.op is SYMBOL:
        raise FormulaError(
            "verify: this tensor has no formula but itself: it is a leaf, or it was changed in place since it was "
            "computed. Ask about a result, or about x.grad right after backward."
        )
    return in_mpmath(term, values, sizes, n)


def _asked(tensor: Any, who: str, n: int) -> tuple[Any, dict[str, Any], dict[str, int]]:
    """The formula of a tensor, the values of its symbols, and the sizes of its letters."""
    if not isinstance(n, int) or n < 1:
        raise ArgumentError(f"{who}({n!r}): the number of digits is a whole number of at least 1.")
    reading, term = read(tensor)
    values, sizes = known(tensor, reading, who)
    return term, values, sizes


def known(tensor: Any, reading: Any, who: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of the symbols in a reading of a tensor, and the sizes of its letters."""
    origin = origin_of(tensor)
    since = (
        min((passed.began for passed, _ in origin), default=0) if origin else getattr(tensor._node, "sequence_nr", 0)
    )
    values = {}
    for name, leaf in reading.sources.items():
        values[name] = _value(name, leaf)
        if since and renewed(leaf if isinstance(leaf, Recorded) else leaf.ref(), since):
            raise AutogradError(
                f"{who}: {name} was changed after it was used, so the value cannot be computed again. Ask before the "
                "change, or run the program again."
            )
    return values, {letter: size for size, letter in reading.letters.items()}


def _value(name: str, leaf: Any) -> Any:
    if isinstance(leaf, Recorded):
        return leaf._value
    alive = leaf.ref()
    value = leaf.kept if alive is None else alive._value
    if value is None:
        raise FormulaError(f"the constant {name} of shape {leaf.shape} is gone; keep a reference to it.")
    return value

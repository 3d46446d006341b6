"""The digest of a formula: SHA-256 of a canonical byte form, the same in every process and on every machine.

What counts is what is computed: operations, their static parameters, dtypes, sizes (as letters or numbers) and which
symbol stands where.  What symbols are called does not count, and neither do identities, hash seeds or byte orders.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import SIZE, SYMBOL, Term, postorder, rebuilt
from symgrad.ops.indexing.getitem import HOLE, Index

_HEAD = b"symgrad formula 1\n"
_WORD = re.compile(r"[^\W\d]\w*")


def digest_of(roots: Sequence[Term], values: Callable[[Term], Any] | None = None) -> str:
    """The digest of formulas together, as 64 hexadecimal digits; with ``values``, of their symbols' arrays, too.

    Raises ``FormulaError`` for functions that cannot be told apart by name.

    >>> from symgrad.formula.term import symbol
    >>> x, y, n = symbol("x", ("n",)), symbol("y", ("m",)), symbol("n", ())
    >>> digest_of([x * 2]) == digest_of([y * 2])
    True
    >>> digest_of([x * 2]) == digest_of([x * 3])
    False
    """
    roots = [_written_out(root) for root in roots]
    order = postorder(roots)
    place = {t: k for k, t in enumerate(order)}
    numbers: dict[str, int] = {}
    made = hashlib.sha256(_HEAD)

    def sizes(value: Any) -> Any:
        """Letters by the order in which they come."""
        if isinstance(value, tuple):
            return tuple(map(sizes, value))
        if not isinstance(value, str):
            return value
        return _WORD.sub(lambda word: f"n{numbers.setdefault(word.group(), len(numbers))}", value)

    for t in order:
        named = t.op.size_params or ()
        params = {
            key: sizes(value) if key in named or t.op is SIZE else value
            for key, value in t.params.items()
            if t.op is not SYMBOL or key != "name"
        }
        dtype = None if t.dtype is None else t.dtype.name
        row = (t.op.name, tuple(place[a] for a in t.args), params, sizes(t.shape), dtype)
        for part in encoded(row):
            made.update(part)
        if t.op is SYMBOL and values is not None:
            for part in encoded(values(t)):
                made.update(part)
    for part in encoded(tuple(place[r] for r in roots)):
        made.update(part)
    return made.hexdigest()


def _written_out(root: Term) -> Term:
    """Custom functions as what they are made of, where that is known: their names say less."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term.op.kind == "function" and term.op.define is not None:
            return term.op.define(*args, **term.params)
        return term.again(args)

    return rebuilt([root], change)[0]  # type: ignore[no-any-return]


def encoded(value: Any) -> Iterator[bytes]:
    """Unambiguous bytes of static data: every part has its kind and its length in front."""
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple" if value.__class__ is tuple else type(value).__name__
        yield f"{kind} {len(value)} ".encode()
        for part in value:
            yield from encoded(part)
    elif isinstance(value, dict):
        yield from encoded(tuple(sorted(value.items())))
    elif isinstance(value, slice):
        yield b"slice "
        yield from encoded((value.start, value.stop, value.step))
    elif isinstance(value, Index):
        yield b"index "
        yield from encoded((value.value, value.steps))
    elif isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
        yield f"array {value.dtype.name} {value.shape} ".encode()
        yield array.tobytes()
    else:
        text = _text(value).encode()
        yield f"{len(text)} ".encode()
        yield text


def _text(value: Any) -> str:
    """The kind and value of a single thing."""
    if isinstance(value, np.generic):
        return f"{value.dtype.name} {_text(value.item())}"
    if isinstance(value, bool) or value is None or value is Ellipsis or value is HOLE:
        return repr(value)
    if isinstance(value, int):
        return f"int {int(value)}"
    if isinstance(value, float):
        return f"float {float(value).hex()}"
    if isinstance(value, complex):
        return f"complex {value.real.hex()} {value.imag.hex()}"
    if isinstance(value, Fraction):
        return f"fraction {value}"
    if isinstance(value, str):
        return f"str {value}"
    if isinstance(value, np.dtype):
        return f"dtype {value.name}"
    known = getattr(value, "digested", None)
    if known is not None:
        return "".join(part.decode("latin-1") for part in encoded(known))
    if callable(value):
        return f"function {_name(value)}"
    raise FormulaError(f"digest: {value!r:.60} among the parameters of an operation has no canonical form.")


def _name(function: Any) -> str:
    """The full name of a function or class, where it has one of its own."""
    name = f"{getattr(function, '__module__', None)}.{getattr(function, '__qualname__', None)}"
    if "<" in name or "None" in name.split("."):
        raise FormulaError(
            f"digest: {function!r:.60} is not known by its name alone. Define it at the top of a module, or write it "
            "with tensor operations only."
        )
    return name

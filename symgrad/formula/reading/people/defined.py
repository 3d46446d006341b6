r"""Functions that a text defines beside its formula: ``X^\top \phi(Xw), \quad \phi(z) = 1/(1 + e^{-z})``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from symgrad.formula.reading.misfits import ProductMisfit
from symgrad.formula.reading.people.functions import slope
from symgrad.formula.reading.text import power
from symgrad.formula.reading.values import Value, value_of


class Defined(NamedTuple):
    """The tokens of a function's name and of its arguments, and a reader of its right side."""

    name: list[str]
    letters: list[list[str]]
    reader: Callable[[], Any]

    def value(self, r: Any, values: Sequence[Any]) -> Any:
        """The value of its right side, in which it is not defined itself."""
        reader = self.reader()
        reader.defined = [other for other in r.defined if other is not self]
        reader.known = [*zip(self.letters, values, strict=True), *reader.known]
        found = reader.whole()
        reader.tokens.end()
        return found


def head(left: Sequence[str]) -> tuple[list[str], list[list[str]]] | None:
    """The name and the arguments of what ``f(z)`` or ``f(x, y)`` on the left of a definition defines."""
    if "(" not in left[1:] or left[-1] != ")":
        return None
    start = left.index("(", 1)
    letters: list[list[str]] = [[]]
    for text in left[start + 1 : -1]:
        if text == ",":
            letters.append([])
        else:
            letters[-1].append(text)
    return (list(left[:start]), letters) if all(letters) else None


def call(r: Any) -> Any:
    r"""The value of a defined function that is called here, such as ``\phi'(x)`` or ``\phi^2(x)``; else None."""
    tokens, start = r.tokens, r.tokens.at
    for function in r.defined:
        if [tokens.peek(k) for k in range(len(function.name))] != function.name:
            continue
        tokens.at += len(function.name)
        primes = 0
        while tokens.found("'") or _is_prime(tokens):
            primes += 1
        primes += _order(tokens)
        exponent = r.group() if tokens.peek() == "^" and tokens.peek(1) == "{" and tokens.found("^") else None
        if tokens.peek() == "(":
            if isinstance(exponent, Value) and exponent.term.number == -1:
                raise tokens.error("this may be the inverse function or 1 over the value; write 1/f(x) for that")
            values = _arguments(r, len(function.letters))
            found = _derived(r, function, primes, *values) if primes else function.value(r, values)
            return found if exponent is None else r.entrywise(power, found, exponent)
        tokens.at = start
    return None


def _is_prime(tokens: Any) -> bool:
    r"""Whether a prime comes, which is taken then; behind letters it was made ``^{\top}``."""
    prime = [tokens.peek(k) for k in range(4)] == ["^", "{", r"\top", "}"]
    tokens.at += 4 * prime
    return prime


def _order(tokens: Any) -> int:
    r"""The order of a derivative that comes as ``^{(2)}``, which is taken then; 0 where none comes."""
    words = [tokens.peek(k) for k in range(6)]
    if words[:3] != ["^", "{", "("] or words[4:] != [")", "}"] or not words[3].isdigit():
        return 0
    tokens.at += 6
    return int(words[3])


def _arguments(r: Any, count: int) -> list[Any]:
    """As many values in a bracket as the function has arguments."""
    r.tokens.expect("(")
    before, r.inside = r.inside, []
    values = [r.condition()]
    while len(values) < count:
        r.tokens.expect(",")
        values.append(r.condition())
    r.inside = before
    r.tokens.expect(")")
    return values


def _derived(r: Any, function: Defined, primes: int, *values: Any) -> Any:
    """The derivative of a function of one argument, taken entry by entry."""
    if len(values) > 1:
        raise r.tokens.error("a prime is the derivative of a function of one argument", ProductMisfit)
    f: Callable[[Any], Any] = lambda x: function.value(r, [value_of(x)]).term  # noqa: E731
    for _ in range(primes):
        f = slope(f)
    return r.entrywise(f, *values)

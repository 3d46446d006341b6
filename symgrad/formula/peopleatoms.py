"""Atoms and named functions of formulas typed by people, for :mod:`symgrad.formula.people`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symgrad.formula.indices import identity
from symgrad.formula.peopleindices import subscript_letters
from symgrad.formula.term import Term, as_term, number
from symgrad.formula.texatoms import ATOMS
from symgrad.formula.texvalues import Value, entrywise, op, transposed, value_of
from symgrad.op import FRONTS, lookup
from symgrad.ops.constants import PI


def _bars(r: Any, _: str) -> Any:
    inner = r.between("|")
    if inner.kind == "m" and r.bars == "det":
        return Value("s", op("det", r.square(inner)))
    return entrywise(lookup("abs"), inner)


def _norm(r: Any, _: str) -> Any:
    inner = r.between(r"\|")
    p: Any = 2
    if r.tokens.peek() == "_":
        mark = "".join(r.subscript())
        marks = {"F": 2, "2": 2, "1": 1, r"\infty": math.inf, "fro": 2, "F,2": 2}
        if mark == "*" and inner.kind == "m":
            total = op("svdvals", inner.term)
            return Value("s", op("sum", total, dim=(0,), keepdim=False))
        if mark not in marks and not mark.isdigit():
            raise r.tokens.error(f"the norm with the index {mark!r} is not known here")
        p = marks.get(mark, int(mark) if mark.isdigit() else 2)
    dims = tuple(range(inner.term.ndim))
    return Value("s", op("norm", inner.term, p=p, dim=dims, keepdim=False) if dims else op("abs", inner.term))


def _inner_product(r: Any, _: str) -> Any:
    a = r.condition()
    r.tokens.expect(",")
    b = r.between(r"\rangle")
    both = entrywise(lookup("mul"), a, b)
    return Value("s", _total(both.term))


def _total(term: Term) -> Term:
    return op("sum", term, dim=tuple(range(term.ndim)), keepdim=False) if term.ndim else term


def _det(r: Any, _: str) -> Any:
    return Value("s", op("det", r.square(r.argument())))


def _cases(r: Any, text: str) -> Any:
    rows: list[tuple[Any, Any]] = []
    while True:
        value = r.condition()
        r.tokens.expect("&")
        if r.tokens.peek() == r"\text{otherwise}":
            r.tokens.take()
            rows.append((value, None))
        else:
            rows.append((value, r.condition()))
        r.tokens.found(",")
        if r.tokens.found(r"\end{cases}"):
            break
        r.tokens.expect(r"\\")
        if r.tokens.found(r"\end{cases}"):
            break
    value = rows[-1][0]
    for above, condition in reversed(rows[:-1]):
        value = r.entrywise(lookup("where"), condition, above, value)
    return value


def _exponential(r: Any, _: str) -> Any:
    if r.tokens.found("^"):
        return entrywise(lookup("exp"), r.group())
    return Value("s", op("exp", number(1)))


def _letter_i(r: Any, text: str) -> Any:
    tokens = r.tokens
    if tokens.peek() == "_" and tokens.peek(2).isdigit() and tokens.peek(4) == "(":
        order = int(tokens.peek(2))
        tokens.at += 4
        return entrywise(lambda x: op("bessel_i", x, n=order), r.bracketed())
    return ATOMS["I"](r, text)


def _iverson(r: Any, text: str) -> Any:
    before, r.inside = r.inside, []
    found = r.condition()
    r.inside = before
    r.tokens.expect("]")
    return found


def _delta(r: Any, _: str) -> Any:
    pair = subscript_letters(r)
    if len(pair) != 2:
        raise r.tokens.error("Kronecker's delta has two indices")
    size = r.index_sizes.get(pair[0])
    if size is None:
        raise r.tokens.error(f"the size of the index {pair[0]} is not known; state shape= or shapes=")
    return identity(size, (pair[0], pair[1]))


PEOPLE: dict[str, Callable[[Any, str], Any]] = {
    "|": _bars,
    r"\|": _norm,
    r"\langle": _inner_product,
    r"\det": _det,
    r"\begin{cases}": _cases,
    "e": _exponential,
    "I": _letter_i,
    "[": _iverson,
    r"\delta": _delta,
    "π": lambda r, _: Value("s", op("mul", 1, as_term(PI))),
}


# ---------------------------------------------------------------------------------------------- named functions


def _mean(r: Any, args: list[Any]) -> Any:
    return Value("s", FRONTS["mean"].call(args[0].term))


def _clamp(r: Any, args: list[Any]) -> Any:
    low, high = (a.term.number for a in args[1:3])
    return entrywise(lambda x: FRONTS["clamp"].call(x, low, high), args[0])


def _along(name: str) -> Callable[[Any, list[Any]], Any]:
    def rule(r: Any, args: list[Any]) -> Any:
        term = args[0].term
        found = FRONTS[name].call(term, term.ndim - 1)
        return value_of(found) if name == "logsumexp" else Value(args[0].kind, found)

    return rule


def _on_matrix(name: str) -> Callable[[Any, list[Any]], Any]:
    return lambda r, args: value_of(FRONTS[name].call(args[0].term))


def _over_all(name: str) -> Callable[[Any, list[Any]], Any]:
    def rule(r: Any, args: list[Any]) -> Any:
        return Value("s", FRONTS[name].call(args[0].term))

    return rule


def _elementwise(name: str) -> Callable[[Any, list[Any]], Any]:
    return lambda r, args: r.entrywise(FRONTS[name].call, *args)


def _sech(r: Any, args: list[Any]) -> Any:
    return entrywise(lambda x: op("div", 1, op("cosh", x)), args[0])


def _diag(r: Any, args: list[Any]) -> Any:
    a = args[0].term
    if a.ndim == 2:
        return Value("v", op("diagonal", a, offset=0, dim1=0, dim2=1))
    return Value("m", op("einsum", a, inputs=((0,),), output=(0, 0), shape=(a.shape[0], a.shape[0])))


def _dot(r: Any, args: list[Any]) -> Any:
    a, b = args
    return Value("s", op("matmul", a.term, b.term)) if a.kind == b.kind == "v" else r.times(a, b)


def _trace(r: Any, args: list[Any]) -> Any:
    a = args[0]
    return a if a.kind == "s" else Value("s", op("trace", r.square(a)))


def _outer(r: Any, args: list[Any]) -> Any:
    return Value("m", op("outer", args[0].term, args[1].term))


NAMED: dict[str, Callable[[Any, list[Any]], Any]] = {
    "mean": _mean,
    "clip": _clamp,
    "clamp": _clamp,
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "logsumexp": _along("logsumexp"),
    "tril": _on_matrix("tril"),
    "triu": _on_matrix("triu"),
    "norm": _over_all("norm"),
    "sum": lambda r, args: Value("s", _total(args[0].term)),
    "sech": _sech,
    "diag": _diag,
    "dot": _dot,
    "trace": _trace,
    "tr": _trace,
    "outer": _outer,
    "transpose": lambda r, args: transposed(args[0]),
    "inv": lambda r, args: r.inverse(args[0]),
    "det": lambda r, args: Value("s", op("det", r.square(args[0]))),
    "logdet": lambda r, args: Value("s", op("logdet", r.square(args[0]))),
    "softplus": lambda r, args: entrywise(lambda x: op("softplus", x), args[0]),
    **{name: _elementwise(name) for name in ("relu", "sigmoid", "sign", "sqrt", "square", "maximum", "minimum")},
}

"""Atoms and named functions of formulas typed by people, for :mod:`symgrad.formula.reading.people.tex`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from symgrad.formula.canonical.normal import size_text
from symgrad.formula.derive import jacobian
from symgrad.formula.reading import families
from symgrad.formula.reading.atoms import ATOMS, KINDS, crossing, sizes_below
from symgrad.formula.reading.called import called
from symgrad.formula.reading.families import Family
from symgrad.formula.reading.indices import Indexed, identity
from symgrad.formula.reading.people.entries import basis
from symgrad.formula.reading.people.functions import ENTRYWISE, commutation, density, factorial
from symgrad.formula.reading.people.indices import subscript, subscript_letters
from symgrad.formula.reading.people.tokens import TURNED
from symgrad.formula.reading.text import plain_value
from symgrad.formula.reading.values import Value, cross_matrix, diag, entrywise, op, transposed, value_of
from symgrad.formula.term import Term, as_term, full, number, size_letter, symbols
from symgrad.op import FRONTS, lookup
from symgrad.ops.rules.constants import PI


def _bars(r: Any, _: str) -> Any:
    inner = r.between("|")
    if inner.kind == "m" and r.bars == "det":
        return of_square(r, "det", inner)
    return _length(inner, 2) if r.bars == "norm" and inner.kind in ("v", "r") else entrywise(lookup("abs"), inner)


def _norm(r: Any, _: str) -> Any:
    inner = r.between(r"\|")
    p: Any = 2
    if r.tokens.peek() == "_":
        mark = "".join(r.subscript())
        marks = {"F": 2, "fro": 2, "F,2": 2, **dict.fromkeys((r"\infty", "inf"), math.inf)}
        marks |= {f"-{mark}": -math.inf for mark in (r"\infty", "inf")}
        if mark in ("*", r"\cdot", r"\ast") and inner.kind == "m":
            total = op("svdvals", inner.term, k=inner.term.shape[-1])
            return Value("s", op("sum", total, dim=(0,), keepdim=False))
        p = marks.get(mark, plain_value(mark))
        if isinstance(p, str):
            raise r.tokens.error(f"the norm with the index {mark!r} is not known here")
    if isinstance(inner, Family):
        return families.norm(inner, p)
    if inner.kind == "indexed":
        return entrywise(lookup("abs"), inner)
    return _length(inner, p)


def _length(inner: Value, p: Any) -> Value:
    dims = tuple(range(inner.term.ndim))
    return Value("s", op("norm", inner.term, p=p, dim=dims, keepdim=False) if dims else op("abs", inner.term))


def _rounded(name: str, closing: str) -> Callable[[Any, str], Any]:
    return lambda r, _: entrywise(lookup(name), r.between(closing))


def _binomial(r: Any, _: str) -> Any:
    """n!/(k! (n - k)!)."""
    n, k = r.group(), r.group()
    return r.entrywise(lambda n, k: op("div", factorial(n), op("mul", factorial(k), factorial(op("sub", n, k)))), n, k)


def _inner_product(r: Any, _: str) -> Any:
    r"""``\langle x, y \rangle``; ``\langle x | y \rangle`` and ``\langle x | A | y \rangle``, as in physics."""
    end = next((k for k in range(len(r.tokens.items)) if r.tokens.peek(k) == r"\rangle"), 0)
    signs = [r.tokens.peek(k) for k in range(end)]
    if signs.count("|") in (1, 2) and "," not in signs:
        parts = [r.between("|") for _ in range(signs.count("|"))] + [r.between(r"\rangle")]
        bra, *rest = parts
        bra = entrywise(lambda x: op("conj", x), bra) if bra.term.dtype.kind == "c" else bra
        return functools.reduce(r.times, rest, transposed(bra))
    r.inside.append(r"\rangle")
    a = r.condition()
    r.inside.pop()
    if r.tokens.peek() == r"\rangle":
        raise r.tokens.error(r"\langle x, y\rangle is the inner product of two; a mean is written \bar{x}")
    r.tokens.expect(",")
    b = r.between(r"\rangle")
    return _all_of(r.entrywise(lookup("mul"), a, b))


def _all_of(a: Any) -> Any:
    """The sum of all entries, of each member of a family."""
    return families.total(a) if isinstance(a, Family) else Value("s", _total(a.term))


def of_square(r: Any, name: str, a: Any) -> Any:
    """A number that an op makes of a square matrix, or of each of a family."""
    if isinstance(a, Family) and a.kind == "m":
        return a.each("s", lookup(name))
    return Value("s", op(name, r.square(a)))


def _total(term: Term) -> Term:
    return op("sum", term, dim=tuple(range(term.ndim)), keepdim=False) if term.ndim else term


def _cases(r: Any, text: str) -> Any:
    rows: list[tuple[Any, Any]] = []
    while True:
        value = r.condition()
        r.tokens.found(",")
        last = r.tokens.peek() == r"\end{cases}" or (r.tokens.peek(), r.tokens.peek(1)) == (r"\\", r"\end{cases}")
        if (last and rows) or (r.tokens.found("&") and r.tokens.found(r"\text{otherwise}")):
            rows.append((value, None))
        else:
            if r.tokens.peek(-1) != "&":
                r.tokens.expect("&")
            r.tokens.found(r"\for")
            rows.append((value, r.condition()))
        r.tokens.found(",") or r.tokens.found(".")
        if r.tokens.found(r"\end{cases}"):
            break
        r.tokens.expect(r"\\")
        if r.tokens.found(r"\end{cases}"):
            break
    value = rows[-1][0]
    for above, condition in reversed(rows[:-1]):
        value = r.entrywise(lookup("where"), condition, above, value)
    return value


def _exponential(r: Any, text: str) -> Any:
    if r.tokens.found("^"):
        return exponential(r, r.group())
    if r.tokens.peek() == "_":
        size, comma, at = (r.tokens.peek(k) for k in (2, 3, 4))
        printed = comma == "," and (at == size or at.isdigit())  # e_{n,0} and e_{n,n-1}, which say where they are 1
        return KINDS["unit"](r, text) if printed else basis(r)
    return Value("o", number(1)) if r.others.get("ones") else Value("s", op("exp", number(1)))


def exponential(r: Any, exponent: Any) -> Any:
    """e to a power: entry by entry, or the matrix exponential where that is asked for."""
    if r.others.get("expm") and exponent.kind == "m":
        return Value("m", op("matrix_exp", r.square(exponent)))
    return entrywise(lookup("exp"), exponent)


def _ones(r: Any, text: str) -> Any:
    r"""``\mathbf{1}``: ones, the identity, or with a condition in brackets or below it the indicator function."""
    if _has_condition(r.tokens) or r.tokens.peek() == "_" or not r.others.get("unit"):
        return indicator(r)
    return Value("eye", number(1))


CONDITIONS = ("<", ">", r"\le", r"\ge", "=", r"\ne", r"\wedge", r"\vee")


def _has_condition(tokens: Any) -> bool:
    """Whether a bracket or subscript with a condition starts here."""
    start = tokens.at + (tokens.peek() == "_")
    depth = 0
    for _, text, _ in tokens.items[start:]:
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if not depth:
            return False
        if text in CONDITIONS:
            return True
    return False


def indicator(r: Any) -> Any:
    r"""The function that is 1 where the condition that follows holds, as in ``1_{x>0}``; without one, ones."""
    tokens = r.tokens
    if not _has_condition(tokens):
        return KINDS["ones"](r, r"\mathbf{1}")
    closing = ["}"] if tokens.found("_") and tokens.found("{") else []
    if tokens.found("(") or tokens.found("["):
        closing.insert(0, {"(": ")", "[": "]"}[tokens.peek(-1)])
    before, r.inside = r.inside, []
    found = r.condition()
    r.inside = before
    for sign in closing:
        tokens.expect(sign)
    return found


def zeros(r: Any) -> Value:
    r"""``0_n`` and ``0_{m \times n}``: zeros with their shape."""
    return value_of(full(sizes_below(r), 0, "float64"))


def _letter_zero(r: Any, text: str) -> Value:
    """``O``, the matrix of zeros, where it is no symbol."""
    if r.tokens.peek() == "(":
        return _not_a_symbol(r, text)  # type: ignore[no-any-return]
    return zeros(r) if r.tokens.peek() == "_" else Value("s", number(0))


def _conjugate(r: Any, text: str) -> Any:
    """The complex conjugate; over what is made of real values a line is something else, such as their mean."""
    found = r.group()
    terms = [term for term, _ in getattr(found, "operands", ())] or [found.term]
    if all(term.dtype.kind != "c" for term in terms) and (len(terms) > 1 or terms[0].args):
        raise r.tokens.error(r"an overline is the complex conjugate, and this is real; write a mean as \frac1n \sum_i")
    return entrywise(lambda x: op("conj", x), found)


def _bessel(r: Any, text: str) -> Any:
    """A Bessel function of a whole order, ``J_0(x)``; the letter ``I`` is the identity otherwise."""
    tokens = r.tokens
    if tokens.peek() == "_" and tokens.peek(2).isdigit() and tokens.peek(4) == "(":
        order = int(tokens.peek(2))
        if order > 64:
            raise tokens.error(f"the order {order} of a Bessel function is beyond what is read")
        tokens.at += 4
        return entrywise(lambda x: op(f"bessel_{text.lower()}", x, n=order), r.bracketed())
    return ATOMS["I"](r, text) if text == "I" else _not_a_symbol(r, text)


def _commutation(r: Any, text: str) -> Any:
    """The commutation matrix ``K_{mn}`` of two sizes, or ``K_n`` of one; else Bessel's function."""
    place = r.tokens.at
    sizes = [x for x in r.subscript() if x != ","] if r.tokens.peek() == "_" else []
    if 0 < len(sizes) < 3 and all(x in r.letters or (x.isdigit() and len(sizes) == 2) for x in sizes):
        return Value("m", commutation(*(int(x) if x.isdigit() else x for x in (sizes[0], sizes[-1]))))
    r.tokens.at = place
    return _bessel(r, text)


def _not_a_symbol(r: Any, text: str) -> Any:
    r.tokens.at -= 1
    raise r.tokens.error(f"{text!r} is no symbol here; {r.listed()}")


def _special(function: Callable[..., Any]) -> Callable[[Any, str], Any]:
    """A letter that is a function before a bracket, where it is no symbol."""

    def rule(r: Any, text: str) -> Any:
        if r.tokens.peek() == "_" and r.tokens.peek(2) == "0" and r.tokens.peek(4) == "(":
            r.tokens.at += 4
        command = r.with_index(text)
        if command != text:
            return r.function(called().commands[command])
        return entrywise(function, *r.arguments()[0]) if r.tokens.peek() == "(" else _not_a_symbol(r, text)

    return rule


def _iverson(r: Any, text: str) -> Any:
    before, r.inside = r.inside, []
    found = _listed(r, "]")
    r.inside = before
    if isinstance(found, Indexed) and r.tokens.peek() == "_" and r.tokens.peek(2) not in ("[", "+"):
        return _of_entries(r, found)
    return cross_matrix(found) if crossing(r) else found


def _of_entries(r: Any, found: Indexed) -> Any:
    """``[a_i b_j]_{ij}``: the array of these entries, as formulas are printed; of a sum's indices the entry itself."""
    place = r.tokens.at
    letters = tuple(x.letter for x in subscript(r) if not x.shift)
    if {*letters} != {*found.letters}:
        r.tokens.at = place
        return found
    return found if {*letters} & {*r.bound} else value_of(found.contracted(letters))


def _tuple(r: Any, _: str) -> Any:
    """A bracket, or numbers in one with commas, which are a vector."""
    before, r.inside = r.inside, []
    found = _listed(r, ")")
    r.inside = before
    return found


def _listed(r: Any, closing: str) -> Any:
    r"""What stands in a bracket: ``[a, b]``, ``[a; b]`` and ``(a, b)^\top`` are columns, ``[a, b; c, d]`` a matrix."""
    from symgrad.formula.printing.blocks import of_blocks

    tokens = r.tokens
    rows = [[r.condition()]]
    while (sign := tokens.peek()) in (",", ";") and (closing == "]" or (sign == "," and rows[0][0].kind == "s")):
        tokens.take()
        if sign == ";":
            rows.append([])
        rows[-1].append(r.condition())
    tokens.expect(closing)
    if rows == [rows[0][:1]]:
        return rows[0][0]
    if len(rows) > 1:
        return of_blocks(r, rows)
    if [tokens.peek(k) for k in (0, 1, 3)] == ["^", "{", "}"] and tokens.peek(2) in TURNED:
        tokens.at += 4
    return of_blocks(r, [[entry] for entry in rows[0]])


def _delta(r: Any, _: str) -> Any:
    pair = subscript_letters(r)
    if len(pair) != 2:
        raise r.tokens.error("Kronecker's delta has two indices")
    size = r.index_sizes.get(pair[0])
    if size is None:
        raise r.tokens.error(f"the size of the index {pair[0]} is not known; state shape= or shapes=")
    return identity(size, (pair[0], pair[1]))


def _group(r: Any, _: str) -> Any:
    r"""A group in braces; an empty one holds the transpose that stands before a matrix, ``{}^t A``."""
    words = [r.tokens.peek(k) for k in range(5)]
    if words[:3] == ["}", "^", "{"] and words[3] in TURNED and words[4] == "}":
        r.tokens.at += 5
        return transposed(r.factor())
    r.tokens.at -= 1
    return r.group()


def _step(r: Any, text: str) -> Any:
    """Heaviside's step function, which is ½ at 0, as where formulas are printed."""
    if r.tokens.peek() != "(":
        return _not_a_symbol(r, text)
    return r.entrywise(lookup("step"), r.bracketed(), Value("s", number(0)))


def _fraction(r: Any, text: str) -> Any:
    r"""A fraction; ``\frac{\partial K}{\partial t}`` of what a definition beside says is its derivative."""
    place, parts = r.tokens.at, []
    for _ in range(2):
        if not r.tokens.found("{") or not (r.tokens.found(r"\partial") or r.tokens.found("d")):
            break
        parts.append(r.symbol())
        if not isinstance(parts[-1], Value) or not r.tokens.found("}"):
            break
    else:
        of, by = (value.term for value in parts)
        if by in symbols(of) and 0 in (of.ndim, by.ndim):
            return value_of(jacobian(of, by))
    r.tokens.at = place
    return ATOMS[text](r, text)


PEOPLE: dict[str, Callable[[Any, str], Any]] = {
    r"\frac": _fraction,
    "|": _bars,
    r"\|": _norm,
    r"\langle": _inner_product,
    r"\lfloor": _rounded("floor", r"\rfloor"),
    r"\lceil": _rounded("ceil", r"\rceil"),
    r"\binom": _binomial,
    r"\det": lambda r, _: of_square(r, "det", r.argument()),
    r"\begin{cases}": _cases,
    "e": _exponential,
    r"\mathbf{1}": _ones,
    "{": _group,
    "H": _step,
    r"\Theta": _step,
    **dict.fromkeys("IJY", _bessel),
    "K": _commutation,
    "O": _letter_zero,
    "W": _special(lambda x: op("lambertw", x)),
    r"\Gamma": _special(ENTRYWISE["gamma"]),
    "B": _special(ENTRYWISE["beta"]),
    r"\overline": _conjugate,
    r"\chi": lambda r, text: indicator(r) if _has_condition(r.tokens) else _not_a_symbol(r, text),
    r"\phi": _special(density),
    r"\varphi": _special(density),
    "[": _iverson,
    "(": _tuple,
    r"\delta": _delta,
    "π": lambda r, _: Value("s", op("mul", 1, as_term(PI))),
}


# ---------------------------------------------------------------------------------------------- named functions


def _along(name: str) -> Callable[[Any, list[Any]], Any]:
    def rule(r: Any, args: list[Any]) -> Any:
        term = args[0].term
        found = FRONTS[name].call(term, term.ndim - 1)
        return value_of(found) if name == "logsumexp" else Value(args[0].kind, found)

    return rule


def _diag(r: Any, args: list[Any]) -> Any:
    if isinstance(args[0], Family):
        return families.diagonal(args[0])
    if args[0].kind == "s" and r.others.get("rows"):  # R's identity
        return Value("m", op("eye", n=size_text(args[0].term), dtype="float64"))
    entries = tuple(x for x in getattr(args[0], "letters", ()) if x not in r.bound)
    return value_of(diag(args[0].contracted(entries) if len(entries) == 1 else args[0].term))


def _dot(r: Any, args: list[Any]) -> Any:
    a, b = args
    return Value("s", op("matmul", a.term, b.term)) if a.kind == b.kind == "v" else r.times(a, b)


def _trace(r: Any, args: list[Any]) -> Any:
    a = args[0]
    if isinstance(a, Family) and a.kind == "m":
        return families.trace(a)
    return a if a.kind == "s" else Value("s", op("trace", r.square(a)))


def _clamp(r: Any, args: list[Any]) -> Any:
    return r.entrywise(lookup("minimum"), r.entrywise(lookup("maximum"), *args[:2]), args[2])


def _copies(r: Any, args: list[Any]) -> Any:
    """MATLAB's ``repmat(A, m, n)``: the Kronecker product of ones with a matrix, a column or a row."""
    a, *counts = args
    one = [count.term.number == 1 for count in counts]
    sizes = tuple(size_text(count.term) for count in counts)
    if a.kind == "s" or (a.kind, *one) in (("v", True, False), ("r", False, True)):
        ones = [Value("v", full((size,), 1, "float64")) for size in sizes]
        return (
            r.times(r.times(ones[0], a), transposed(ones[1]))
            if a.kind == "s"
            else (r.times(a, transposed(ones[1])) if a.kind == "v" else r.times(ones[0], a))
        )
    return r.crossed(Value("m", full(sizes, 1, "float64")), a)


def _rows_or_columns(r: Any, args: list[Any]) -> Any:
    """MATLAB's ``size(A, 1)``, which counts axes from 1; NumPy's elsewhere."""
    a, axis = args[0].term, args[1].term.number
    at = axis - 1 if r.others.get("rows") else axis
    return Value("s", size_letter(a.shape[at] if at < a.ndim else 1))


NAMED: dict[str, tuple[int, Callable[[Any, list[Any]], Any]]] = {
    **{name: (1, _along(name)) for name in ("softmax", "log_softmax", "logsumexp")},
    **dict.fromkeys(("clip", "clamp"), (3, _clamp)),
    "where": (3, lambda r, args: r.entrywise(lookup("where"), *args)),
    "step": (1, lambda r, args: r.entrywise(lookup("step"), args[0], Value("s", number(0)))),
    "cross": (2, lambda r, args: r.across(*args)),
    "kron": (2, lambda r, args: r.crossed(*args)),
    "outer": (2, lambda r, args: r.crossed(*args)),
    "sum": (1, lambda r, args: _all_of(args[0])),
    "diag": (1, _diag),
    "dot": (2, _dot),
    **dict.fromkeys(("trace", "tr"), (1, _trace)),
    "transpose": (1, lambda r, args: transposed(args[0])),
    "repmat": (3, _copies),
    "size": (2, _rows_or_columns),
    "inv": (1, lambda r, args: r.inverse(args[0])),
    "det": (1, lambda r, args: of_square(r, "det", args[0])),
    "logdet": (1, lambda r, args: of_square(r, "logdet", args[0])),
}
"""Functions that mean more in matrix notation than in NumPy's, by name: for how many arguments, and what they do."""

"""Differentiate first, then lose nothing: terms whose derivative is finite although their parts' derivatives are not.

``log1p(exp(x))`` at 1000 has the derivative 1, but the chain rule finds 0 · inf; ``sqrt(x*x + y*y)`` at the origin
finds inf · 0.  In such places the same value has another spelling in the op table, whose rule is right everywhere:
softplus, the logistic function, tanh, softmax, logsumexp, the norms.  :func:`respelled` finds it, and the reverse sweep
differentiates that one.  Nothing else changes: values are computed as the program says.

Patterns after Blanchard, Higham and Higham, "Accurately computing the log-sum-exp and softmax functions" (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symgrad.formula.term import SIZE, Term, full, number
from symgrad.op import lookup
from symgrad.ops.reductions.products import QUOTIENTS, made_of
from symgrad.ops.rules.constants import exact

Found = tuple[Term, list[Term]]
"""The other spelling, and the terms of the program that it is made of."""


def respelled(term: Term) -> Found | None:
    """The same value with a derivative that is right everywhere, for the few terms that need it."""
    find = _PATTERNS.get(term.op.name)
    found = None if find is None else find(term)
    if found is None or found[0].shape != term.shape:
        return None
    return found


def _made(name: str, base: Term, **params: Any) -> Found:
    return lookup(name)(base, **params), [base]


ZERO = number(0)


def _exponent(term: Term) -> Term | None:
    """u of eᵘ for real u; 1 is e⁰."""
    if term.op.name == "exp":
        return term.args[0] if term.real_dtype else None
    return ZERO if term.number == 1 else None


def _pair(term: Term, op: str) -> tuple[Term, Term] | None:
    """u and v of eᵘ + eᵛ or eᵘ - eᵛ, one of which may be 1."""
    if term.op.name != op:
        return None
    u, v = map(_exponent, term.args)
    return None if u is None or v is None or u is v is ZERO else (u, v)


def _minus(u: Term, v: Term) -> Term:
    """u - v, of which one may be 0."""
    if v is ZERO:
        return u
    if u is not ZERO:
        return u - v  # type: ignore[operator,no-any-return]
    return v.args[0] if v.op.name == "neg" else -v


def _found(term: Term, *bases: Term) -> Found:
    """The bases are the terms themselves, without a minus in front, and not 0."""
    plain = (b.args[0] if b.op.name == "neg" else b for b in bases)
    return term, [b for b in dict.fromkeys(plain) if b is not ZERO]


def _log1p(term: Term) -> Found | None:
    """log(1 + eᵘ) = softplus(u)."""
    u = _exponent(term.args[0])
    return None if u is None or u is ZERO else _made("softplus", u)


def _log(term: Term) -> Found | None:
    """The logarithm of what has one that does not overflow, or of a product of such."""
    return _log_of(term.args[0])


def _log_of(x: Term) -> Found | None:
    """log x of a product, power or quotient as the sum of the logarithms of its factors, all of which are above 0."""
    total: Any = None
    bases: list[Term] = []
    factors, rest = [(x, Fraction(1))], _MOST_FACTORS
    while factors:
        factor, power = factors.pop()
        found = _log_of_one(factor)
        if found is None:
            parts, rest = _factors(factor, power), rest - 1
            if not parts or not rest:
                return None
            factors += parts
            continue
        part = found[0] if abs(power) == 1 else lookup("mul")(number(abs(power)), found[0])
        first = part if power > 0 else -part
        total = first if total is None else total + part if power > 0 else total - part
        bases += found[1]
    return _found(total, *bases)


_MOST_FACTORS = 8
"""Of how many products a logarithm is looked into."""


def _factors(x: Term, power: Fraction) -> list[tuple[Term, Fraction]]:
    """The factors of a real product with their powers, the last one first; nothing where it is none."""
    name = x.op.name
    if not x.real_dtype:
        return []
    if (base := x.squared) is not None:
        return [(base, 2 * power)]
    if name == "sqrt":
        return [(x.args[0], power / 2)]
    if name in ("mul", "div"):
        return [(x.args[1], power if name == "mul" else -power), (x.args[0], power)]
    if name == "sub" and x.args[0].number == 1 and (f := x.args[1].squared) is not None and f.op.name in TAILS:
        return [(complement(lookup(way)(x.args[0], f)), power) for way in ("add", "sub")]
    return []


TAILS = frozenset({"erf", "erfc", "ndtr"})
"""Distribution functions."""


def complement(term: Term) -> Term:
    """1 ± f(u) of distribution functions f as the other tail, and 1 - f(u)² by both."""
    u = term.args[1]
    f = u.squared if term.op.name == "sub" else None
    if f is not None and f.op.name in TAILS:
        return lookup("mul")(*(complement(lookup(name)(term.args[0], f)) for name in ("sub", "add")))  # type: ignore[no-any-return]
    if u.op.name not in TAILS:
        return term
    name, minus = u.op.name, term.op.name == "sub"
    if name == "erf":
        return lookup("erfc")(u.args[0] if minus else -u.args[0])  # type: ignore[no-any-return]
    if minus and name == "erfc":
        return lookup("erf")(u.args[0])  # type: ignore[no-any-return]
    return lookup("ndtr")(-u.args[0]) if minus and name == "ndtr" else term


def _log_of_one(x: Term) -> Found | None:
    """log eᵘ, log(eᵘ + eᵛ), log Σeᵘ, log cosh u, log Φ(u), log(1 ± tanh u), log σ(u) and log softmax(u)."""
    name = x.op.name
    if not x.real_dtype:
        return None
    if name in ("add", "sub") and x.args[0].number == 1 and x.args[1].op.name in TAILS:
        x = complement(x)
        name = x.op.name
    if name == "exp":
        return _found(x.args[0], x.args[0])
    if (pair := _pair(x, "add")) is not None:
        u, v = pair
        one = v if u is ZERO else u
        return _found(lookup("softplus")(one) if ZERO in pair else lookup("logaddexp")(u, v), u, v)
    if name == "sum" and x.args[0].op.name == "exp":
        return _made("logsumexp", x.args[0].args[0], **x.params)
    if name == "cosh":
        return _made("log_cosh", x.args[0])
    if name == "ndtr":
        return _found(lookup("log_ndtr")(x.args[0]), x.args[0])
    if name == "erfc":
        return _found(lookup("log_ndtr")(-lookup("sqrt")(exact(2)) * x.args[0]) + lookup("log")(exact(2)), x.args[0])
    if name in ("add", "sub") and x.args[0].number == 1:
        return _log_beside_one(x.args[1], name == "sub")
    return _log_of_share(x)


def _log_beside_one(f: Term, minus: bool) -> Found | None:
    """log(1 - σ(u)) and log(1 ± tanh u)."""
    (u,) = f.args or (None,) if len(f.args) < 2 else (None,)
    if u is not None and f.op.name == "tanh":
        twice = lookup("logsigmoid")(lookup("mul")(-2 if minus else 2, u))
        return _found(lookup("log")(exact(2)) + twice, u)
    return _found(lookup("logsigmoid")(-u), u) if u is not None and minus and f.op.name == "sigmoid" else None


def _log_of_share(x: Term) -> Found | None:
    """log σ(u) and log softmax(u), also where they are written as quotients, and of single shares."""
    picks = x.op.name in ("getitem", "gather")
    shared = x.args[0] if picks else x
    inner = _quotient(shared) if shared.op.name in ("div", "reciprocal") else None
    spelling, bases = inner or (shared, list(shared.args))
    if picks:
        if spelling.op.name != "softmax":
            return None
        logs = lookup("log_softmax")(spelling.args[0], **spelling.params)
        return _found(x.op(logs, *x.args[1:], **x.params), *bases, *x.args[1:])
    if spelling.op.name == "sigmoid":
        return _found(lookup("logsigmoid")(spelling.args[0]), *bases)
    if spelling.op.name == "softmax":
        return _found(lookup("log_softmax")(spelling.args[0], **spelling.params), *bases)
    if inner is not None and spelling.op.name == "mul" and all(a.op.name == "sigmoid" for a in spelling.args):
        one, two = (lookup("logsigmoid")(a.args[0]) for a in spelling.args)
        return _found(one + two, *bases)
    return None


def _quotient(term: Term) -> Found | None:
    """Quotients by eᵘ + eᵛ, by its square, and by Σeᵘ: with σ, tanh and softmax nothing overflows."""
    top, below = term.args if term.op.name == "div" else (number(1), term.args[0])
    squared = _real_root(below)
    pair = _pair(below if squared is None else squared, "add")
    if pair is None:
        return _share(top, below) or _mean(top, unspread(below))
    u, v = pair
    sigmoid = lookup("sigmoid")
    of = _exponent(top)
    if of is not None and of in pair:
        other = v if of is u else u
        share = sigmoid(_minus(of, other))
        if squared is None:
            return _found(share, u, v)
        return _found(share * sigmoid(_minus(other, of)), u, v) if other is ZERO else None
    minus = _pair(top, "sub")
    if minus is not None and squared is None and set(minus) == set(pair):
        return _found(lookup("tanh")(lookup("div")(_minus(*minus), 2)), u, v)
    if ZERO not in pair:
        return None
    share = sigmoid(-v if u is ZERO else -u) if squared is None else sigmoid(-v if u is ZERO else -u) ** 2
    return _found(top * share, u, v, top)


def _share(top: Term, below: Term) -> Found | None:
    """eᵘ / Σeᵘ = softmax(u), and the same times what stands before it."""
    top = _original(top)
    below = unspread(below)
    if top.op.name == "mul" and below.op.name == "sum":
        place = next((k for k, a in enumerate(top.args) if _original(a) is _original(below.args[0])), None)
        shares = None if place is None else _share(top.args[place], below)
        if shares is None or shares[0].shape != top.shape:
            return None
        other = top.args[1 - place]  # type: ignore[operator]
        return lookup("mul")(other, shares[0]), [other, *shares[1]]
    if (
        below.op.name != "sum"
        or _original(below.args[0]) is not top
        or _exponent(top) is None
        or len(below.params["dim"]) != 1
    ):
        return None
    if not below.params["keepdim"] and top.ndim > 1:
        return None
    dim = below.params["dim"][0]
    return _made("softmax", _unshifted(top.args[0], dim), dim=dim)


def _mean(top: Term, below: Term) -> Found | None:
    """Σeᵘv / Σeᵘ = Σ softmax(u) v, as a sum along an axis or as a product of matrices."""
    if below.op.name != "sum" or below.args[0].op.name != "exp" or len(below.params["dim"]) != 1 or not top.args:
        return None
    weights, (dim,) = below.args[0], below.params["dim"]
    summed = top.op.name == "sum" and top.params == below.params and top.args[0].op.name == "mul"
    last = dim == weights.ndim - 1 and (weights.ndim == 1 or below.params["keepdim"])
    args = top.args[0].args if summed else top.args if last and top.op.name in ("matmul", "dot") else ()
    place = next((k for k, a in enumerate(args) if _original(a) is weights), None)
    if place is None or not weights.real_dtype or (place and not summed and weights.ndim > 1):
        return None
    u, other = _unshifted(weights.args[0], dim), args[1 - place]
    shares = lookup("softmax")(u, dim=dim)
    pair = (other, shares) if place else (shares, other)
    if not summed:
        return top.op(*pair, **top.params), [u, other]
    product = lookup("mul")(*pair)
    return (top.op(product, **top.params), [u, other]) if product.shape == weights.shape else None


def _unshifted(u: Term, dim: int) -> Term:
    """u without what is added to it alike along an axis, such as its largest entry: softmax does not see it."""
    while u.op.name in ("add", "sub") and u.args[0].shape == u.shape and _level(u.args[1], u.ndim, dim):
        u = _original(u.args[0])
    return u


def _original(t: Term) -> Term:
    """What a copy was made of, which is there before something is changed in place."""
    while t.op.name == "clone":
        t = t.args[0]
    return t


def unspread(t: Term) -> Term:
    """What was spread along axes."""
    while t.op.name in ("unsqueeze", "expand"):
        t = t.args[0]
    return t


def _level(t: Term, ndim: int, dim: int) -> bool:
    """Whether all entries along an axis are one entry that was spread."""
    while True:
        axis = dim - (ndim - t.ndim)
        if axis < 0 or t.shape[axis] == 1:
            return True
        if t.op.name != "expand":
            return False
        t, ndim, dim = t.args[0], t.ndim, axis


def _softmax(term: Term) -> Found | None:
    """softmax(u + c) = softmax(u), and the logarithm."""
    u = _unshifted(term.args[0], term.params["dim"])
    return None if u is term.args[0] else _made(term.op.name, u, **term.params)


def _log_share(term: Term) -> Found | None:
    """u - log Σeᵘ = log_softmax(u)."""
    u, total = term.args[0], unspread(term.args[1])
    if total.op.name == "log":
        of = total.args[0]
        if of.op.name != "sum" or of.args[0].op.name != "exp" or of.args[0].args[0] is not u:
            return None
        total = of
    elif total.op.name != "logsumexp" or total.args[0] is not u:
        return None
    dims = total.params["dim"]
    if len(dims) != 1 or not u.real_dtype or (not total.params["keepdim"] and u.ndim > 1):
        return None
    return _made("log_softmax", _unshifted(u, dims[0]), dim=dims[0])


def _root(term: Term) -> Found | None:
    """√(Σx²) = ‖x‖, √(Σx²/n) = ‖x‖/√n, √(x² + y²) = hypot(x, y), √x² = |x|, (Σ|x|ᵖ)^(1/p) = ‖x‖ₚ.

    The norms know what holds at the origin, and where powers leave the range of numbers.
    """
    root = Fraction(1, 2) if term.op.name == "sqrt" else term.args[1].number
    if root not in (0.5, Fraction(1, 2)):
        return _root_of_powers(term, root) or _nested_power(term)
    bases: list[Term] = []
    inside, count = _mean_of(term.args[0])
    norm = _norm_of(inside, bases)
    if norm is None:
        return _nested_power(term) or _root_of_tails(term.args[0])
    if count is not None:
        return None if norm in bases else (lookup("div")(norm, lookup("sqrt")(count)), bases)
    return (lookup("abs")(norm) if norm in bases else norm), bases


def _root_of_tails(x: Term) -> Found | None:
    """√x of a product of functions that end at 0, as σ(u)(1 - σ(u)), whose root is steep there: e^(log x / 2)."""
    log = _log_of(x) if x.op.name == "mul" and x.squared is None else None
    return None if log is None else (lookup("exp")(lookup("div")(log[0], 2)), log[1])


def _root_of_powers(term: Term, root: Any) -> Found | None:
    """(Σ|x|ᵖ)^(1/p) = ‖x‖ₚ, and the same of a mean."""
    total, count = _mean_of(term.args[0])
    if not isinstance(root, (int, float, Fraction)) or total.op.name != "sum":
        return None
    x, p = _power(total.args[0])
    if p is None or p <= 1 or abs(p * root - 1) > _ROUNDED or not x.real_dtype:
        return None
    if x.op.name == "abs":
        (x,) = x.args
    elif p % 2:
        return None
    norm = lookup("norm")(x, p=p, **total.params)
    return (norm if count is None else lookup("div")(norm, lookup("pow")(count, number(root)))), [x]


_ROUNDED = 1e-15
"""How far p · (1/p) is from 1, at most."""


def _mean_of(term: Term) -> tuple[Term, Term | None]:
    """A sum, and the size or number that it is divided by, which is None where there is none."""
    if term.op.name == "mean":
        assert term.op.define is not None
        term = term.op.define(*term.args, **term.params)
    if term.op.name == "div":
        total, count = term.args
        known = count.number
        if count.op is SIZE or (isinstance(known, (int, float, Fraction)) and known > 0):
            return total, count
    return term, None


def _scaled_tail(term: Term) -> Found | None:
    """e^(x²) erfc(x) = erfcx(x), of which one factor overflows where the other one is 0."""
    for up, tail in (term.args, term.args[::-1]):
        if up.op.name == "exp" and (x := up.args[0].squared) is not None and x.real_dtype:
            written = tail.op.name == "sub" and tail.args[0].number == 1
            tail = complement(tail) if written else tail
            if tail.op.name == "erfc" and tail.args[0] is x:
                return _made("erfcx", x)
    return None


def _nested_power(term: Term) -> Found | None:
    """(xᵃ)ᵇ, of whose slopes at 0 one is infinite and the other 0, as xᵃᵇ: of |x| for even a, else where x ≥ 0."""
    y, b = _power(term)
    if b is None:
        return None
    x, a = _power(term.args[0])
    if a is None or y is not term.args[0] or x.number is not None or not x.real_dtype:
        return None
    c = a * b
    if min(a, b) <= 0 or min(a, b) >= 1 or c < 1:
        return None
    whole = int(c) if c == int(c) else c
    if a % 2 == 0:
        return _raised(x if whole % 2 == 0 else lookup("abs")(x), whole), [x]
    inside = _raised(x, whole) * lookup("defined")(full(x.shape, 1, x.dtype), x >= 0)  # type: ignore[operator]
    return lookup("by_pieces")(inside, x), [x]


def _raised(x: Term, exponent: Any) -> Term:
    return x if exponent == 1 else x**exponent


def _power(term: Term) -> tuple[Term, Any]:
    """x and a of xᵃ with a real number a, which is None where ``term`` is no power."""
    if not term.args:
        return term, None
    x, name = term.args[0], term.op.name
    if name == "mul" and x is term.args[1]:
        return x, 2
    a = term.args[1].number if name == "pow" else _EXPONENTS.get(name)
    return x, a if isinstance(a, (int, float, Fraction)) else None


_EXPONENTS = {"sqrt": Fraction(1, 2), "square": 2}


def _norm_of(term: Term, bases: list[Term], deep: int = 16) -> Term | None:
    """``r`` with r² = ``term`` up to its sign, for a sum of squares; the squared terms go to ``bases``.

    Sums that are nested deeper than ``deep`` are no norm that a person wrote down.
    """
    squared = _real_root(term)
    if squared is not None:
        bases.append(squared)
        return squared
    name = term.op.name if deep else ""
    if name == "add":
        parts = [_norm_of(a, bases, deep - 1) for a in term.args]
        return None if None in parts else lookup("hypot")(*parts)
    if name == "var" and term.args[0].real_dtype:
        bases.append(term.args[0])
        return lookup("std")(term.args[0], **term.params)  # type: ignore[no-any-return]
    if name == "sum":
        inner = _norm_of(term.args[0], bases, deep - 1)
        return None if inner is None else lookup("norm")(inner, p=2, **term.params)
    if name in ("matmul", "dot") and term.args[0] is term.args[1] and term.args[0].ndim == 1:
        bases.append(term.args[0])
        return lookup("norm")(term.args[0], p=2, dim=(0,), keepdim=False)  # type: ignore[no-any-return]
    return None


def _real_root(term: Term) -> Term | None:
    """``x`` of its square, where x is real and no number."""
    x = term.squared
    return x if x is not None and x.number is None and x.real_dtype else None


def _divided(term: Term) -> Found | None:
    """A product, running product or determinant over its own factors: the others, which no zero among them upsets."""
    *rest, out, x = term.args
    if not made_of(out, term.op.name.partition("_")[0], x, term.params):
        return None
    assert term.op.define is not None
    return term.op.define(*term.args, **term.params), [*rest, x]


_PATTERNS: dict[str, Callable[[Term], Found | None]] = {
    "log1p": _log1p,
    "log": _log,
    "div": _quotient,
    "reciprocal": _quotient,
    "sqrt": _root,
    "pow": _root,
    "square": _nested_power,
    "mul": lambda term: _scaled_tail(term) or _nested_power(term),
    "softmax": _softmax,
    "log_softmax": _softmax,
    "sub": _log_share,
    **dict.fromkeys(QUOTIENTS, _divided),
}
CANDIDATES = frozenset(_PATTERNS) | {"scaled_reciprocal"}
"""Names of the ops that a pattern may end in, on the tape, too: 1/x is a step of its own there."""

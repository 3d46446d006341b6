"""Values of formulas at any number of digits: one walk over the graph, repeated with more digits until they hold.

What is computed is the formula itself, without rounding on the way: symbols stand for exactly the floats they hold.
"""

from __future__ import annotations

import collections
import contextlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import FormulaError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, as_term, concrete, postorder, symbol
from symgrad.op import Op, shape_of
from symgrad.ops.shapes.sizes import size_value
from symgrad.precision.digits import by_entry, is_complex, ranks

_ROUNDS, _LAST = 4, 6
"""How often the working precision is doubled; and how often where terms cancel that are far from 1."""
_MOST = 16
"""How many times the digits that are wanted, or a hundred of them: an exact zero never agrees with itself sooner."""
_DEEP = 360
"""Digits at which what is 0 is taken for that."""
_HELD = 20
"""Digits of which floats hold 17."""
_PRECISIONS = 32
"""Precisions whose contexts are kept."""
_FAINT = 1e-330
"""Below the smallest float: what cancels down to here after four rounds is taken for the zero that it may be."""


def evalf(root: Term, values: dict[str, Any], sizes: dict[str, int] | None = None, n: int = 15) -> Any:
    """The value of a formula to ``n`` digits: a SymPy number, or an object array of them.

    ``values`` are arrays by symbol, ``sizes`` letters that stand in no symbol.  Raises ``FormulaError`` for ops that
    have no exact meaning (bits of integers, functions that are not known).

    >>> import numpy as np
    >>> from symgrad.op import lookup
    >>> evalf(lookup("exp")(symbol("x")), {"x": np.float64(1.0)}, n=30)
    2.71828182845904523536028747135
    """
    return _numbers(in_mpmath(root, values, sizes, n), n)


def in_mpmath(
    root: Term, values: dict[str, Any], sizes: dict[str, int] | None = None, n: int = 15, faint: float = 0.0
) -> Any:
    """The value of a formula in mpmath's own numbers: their exponents have no bounds, so they are not for printing.

    Of what lies below ``faint`` the digits do not matter: terms that cancel each other would be asked for ever more.
    """
    return all_in_mpmath([root], values, sizes, n, faint)[0]


def all_in_mpmath(
    roots: Sequence[Term], values: dict[str, Any], sizes: dict[str, int] | None, n: int, faint: float = 0.0
) -> list[Any]:
    """The same of several formulas, whose common parts are evaluated once."""

    def walk(digits: int, rounding: str) -> list[Any]:
        numbers = Digits(digits, rounding)
        out = numbers.values(roots, values, sizes or {})
        numbers.end()
        return out

    digits = n + 10
    found = walk(digits, "down")
    for k in range(_LAST):
        digits *= 2
        if digits > max(_MOST * n, _MOST * 100):
            break
        # Rounded towards zero and away from it by turns: a 1 that is lost beside 10^60 would leave the same wrong 0.
        before, found = found, walk(digits, "down" if k % 2 else "up")
        least = faint if k < _ROUNDS else max(faint, _FAINT)
        if not all(_agree(a, b, n + 2, least) for a, b in zip(before, found, strict=True)):
            continue
        if digits >= _DEEP or not any(_vanishes(a) for a in found):
            break
        digits = _DEEP  # zeros of both may still be what x/tanh(x) - 1 leaves near 0, however it is rounded
        found = walk(digits, "nearest")
        if all(_agree(a, b, n + 2) for a, b in zip(before, found, strict=True)):
            break
    return found


def _vanishes(a: Any) -> bool:
    """Whether an entry is 0, other than by the op's own choice (of whole numbers and truth values)."""
    a = np.asarray(a)
    return a.dtype == object and any(x == 0 for x in a.flat)


def rounded(spellings: Sequence[Term], plain: Any, values: dict[str, Any], sizes: dict[str, int] | None = None) -> Any:
    """``plain``, the value of a formula in floats, made right to the last place by its value in many digits.

    ``spellings`` are equal in exact arithmetic: the first that has a value where others are beyond all numbers counts.
    What has none keeps the floats; entries are tried one by one where all together have none.
    """
    out = np.array(plain)
    if out.dtype.kind not in "fcV":
        return plain
    for term in spellings:
        try:
            return _in_floats(in_mpmath(term, values, sizes, _HELD), out)
        except (FormulaError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            continue
    alike = {np.shape(v) for v in values.values() if np.ndim(v)} == {out.shape}
    if not alike or out.size < 2 or any(not t.op.entrywise for t in postorder(spellings) if t.args):
        return plain
    for index in np.ndindex(out.shape):
        entry = tuple(slice(k, k + 1) for k in index)
        one = {name: v[entry] if np.ndim(v) else v for name, v in values.items()}
        out[entry] = rounded(spellings, out[entry], one, dict.fromkeys(sizes or {}, 1))
    return out


def _in_floats(exact: Any, plain: Any) -> Any:
    """Numbers of mpmath, rounded to the dtype of ``plain``, whose values stand where those are complex, or nan."""

    def one(x: Any, instead: Any) -> Any:
        if plain.dtype.kind == "c":
            return complex(x)
        if hasattr(x, "_mpc_"):
            return float(x.real) if not x.imag else instead
        return instead if x != x else float(x)

    rows = zip(np.asarray(exact, object).flat, plain.flat, strict=True)
    return np.array([one(x, y) for x, y in rows]).reshape(plain.shape).astype(plain.dtype)[()]


def without_digits(roots: Sequence[Term]) -> list[str]:
    """The ops below some terms that have no value in many digits, by name."""
    found = [t.op.name for t in postorder(roots) if t.args and _lacks(t)]
    return list(dict.fromkeys(found))


def _lacks(t: Term) -> bool:
    whole = all(a.dtype is not None and a.dtype.kind in "biu" for a in t.args)
    return in_digits(t.op) is None and t.op.define is None and not whole


def _agree(a: Any, b: Any, digits: int, least: float = 0.0) -> bool:
    """Whether all entries of two values agree to a number of digits, or are below ``least``."""
    for x, y in zip(np.asarray(a, object).flat, np.asarray(b, object).flat, strict=True):
        if x != y and (x == x or y == y):
            off = abs(x - y)
            if off != off or (off > min(abs(x), abs(y)) * 10.0**-digits and max(abs(x), abs(y)) >= least):
                return False
    return True


def _numbers(value: Any, n: int) -> Any:
    """SymPy's numbers of mpmath's; truth values and integers stay NumPy's."""
    import sympy as sp

    def one(x: Any) -> Any:
        if hasattr(x, "_mpc_"):
            return one(x.real) + sp.I * one(x.imag)
        return sp.nan if x != x else sp.Float(x, n) if abs(x) != math.inf else sp.oo if x > 0 else -sp.oo

    value = np.asarray(value)
    if value.dtype != object:
        return value[()]
    return np.frompyfunc(one, 1, 1)(value)


def _dtype(array: Any) -> Any:
    return array.dtype if array.dtype != object else complex if is_complex(array) else float


_REDUCING = ("exp", "sin", "cos", "tan", "cot", "sinh", "cosh", "tanh")
"""Functions that need as many bits of π or log 2 as their argument has before the point."""
_LONGEST = 2**15
"""How many bits that may be: a millisecond's work. e^e^(10^12) would otherwise be worked at for ever."""


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of mpmath that refuses numbers too large for it, which come from e^e^x."""

    def call(x: Any, **named: Any) -> Any:
        parts = [x._mpf_] if hasattr(x, "_mpf_") else list(getattr(x, "_mpc_", ()))
        if any(exponent + bits > _LONGEST for _, _, exponent, bits in parts):
            raise OverflowError(f"{name} of a number beyond 2**{_LONGEST} has no value in many digits")
        return function(x, **named)

    return call


def _exponential(mp: Any) -> Callable[..., Any]:
    """exp of large whole numbers by what lies next to them: mpmath raises e to their power, bit by bit."""
    function = mp.exp

    def call(x: Any, **named: Any) -> Any:
        _, _, exponent, bits = getattr(x, "_mpf_", (0, 0, -1, 0))
        if exponent < 0 or exponent + bits < 64:
            return function(x, **named)
        return function(mp.fsub(x, 0.5, exact=True), **named) * function(mp.mpf(0.5), **named)

    return call


def in_digits(op: Op) -> Callable[..., Any] | None:
    """What an entry says of itself in mpmath's numbers, as a function ``(mp, *arrays, **params)``; None if nothing."""
    said = op.digits
    if callable(said):
        return by_entry(said) if op.kind == "elementwise" else said
    if said == "floats" or (said is None and op.define is not None):
        return None
    if said == "order":
        return lambda mp, *arrays, **params: op.kernel(*map(ranks, arrays), **params)
    if said == "kernel" and op.kind == "elementwise":  # entries may be Python's integers, which have no largest one
        return lambda mp, *arrays, **params: np.asarray(
            op.kernel(*(np.asarray(a, object) for a in arrays), **params), object
        )
    if said == "kernel" or op.kind == "multilinear" or op.view is not None:
        return lambda mp, *arrays, **params: op.kernel(*map(np.asarray, arrays), **params)
    if op.sympy is not None:
        from sympy.utilities.lambdify import MPMATH_TRANSLATIONS

        name = MPMATH_TRANSLATIONS.get(op.sympy, op.sympy)
        return by_entry(lambda mp, *x: getattr(mp, name)(*x))
    return None


_SPARE: collections.defaultdict[int, list[Any]] = collections.defaultdict(list)
"""mpmath's contexts by their digits, of walks that have ended: a new one takes as long as a walk over 50 terms."""


def _context(digits: int) -> Any:
    """mpmath's functions at a precision, for one walk at a time."""
    import mpmath

    with contextlib.suppress(IndexError):
        return _SPARE[digits].pop()
    mp: Any = mpmath.MPContext()
    mp.dps = digits
    mp.exp = _exponential(mp)
    for name in _REDUCING:
        vars(mp)[name] = _bounded(name, getattr(mp, name))
    return mp


def _whole(value: Any, dtype: Any) -> Any:
    """Whole numbers as NumPy's, which may be indices; those that are too large for it stay Python's."""
    if np.asarray(value).dtype == object:
        with contextlib.suppress(OverflowError):
            return np.asarray(value).astype(dtype)
    return value


class Digits:
    """One walk at one precision, rounded to the nearest number, away from zero (``up``) or towards it (``down``)."""

    def __init__(self, digits: int, rounding: str = "nearest"):
        self.digits = digits
        self.mp = _context(digits)
        self.mode: list[Any] = self.mp._prec_rounding  # mpmath has no other way to choose how it rounds
        self.mode[1] = rounding[0]

    def end(self) -> None:
        """What is done with the results is rounded as usual, and another walk may use the context."""
        self.mode[1] = "n"
        if len(_SPARE) > _PRECISIONS:
            _SPARE.clear()
        _SPARE[self.digits].append(self.mp)

    def value(self, root: Term, values: dict[str, Any], sizes: dict[str, int]) -> Any:
        """The value of a formula as an array of mpmath's numbers."""
        return self.values([root], values, sizes)[0]

    def values(self, roots: Sequence[Term], values: dict[str, Any], sizes: dict[str, int]) -> list[Any]:
        """The values of several formulas."""
        letters = dict(sizes)
        order = postorder(roots)
        for t in order:
            if t.op is SYMBOL:
                if t.params["name"] not in values:
                    raise FormulaError(f"no value was given for {t.params['name']!r}")
                given = shape_of(values[t.params["name"]])
                if len(given) != len(t.shape):
                    raise FormulaError(f"{t.params['name']!r} has {len(t.shape)} axes, its value has shape {given}")
                letters.update(zip(t.shape, given, strict=True))
        image: dict[Term, Any] = {}
        with np.errstate(all="ignore"):
            for t in order:
                image[t] = self._term(t, [image[a] for a in t.args], values, letters)
        return [self._shaped(root, image[root], letters) for root in roots]

    def _shaped(self, root: Term, value: Any, letters: dict[str, int]) -> Any:
        shape = tuple(size_value(s, letters) for s in root.shape)
        out = np.asarray(value)
        out = out if out.dtype.kind in "ObB" or root.dtype is None or root.dtype.kind in "iu" else self.exact(out)
        return np.broadcast_to(out, shape)

    def _term(self, t: Term, args: list[Any], values: dict[str, Any], letters: dict[str, int]) -> Any:
        if t.op is SYMBOL:
            return self.exact(values[t.params["name"]])
        if t.op is SIZE:
            return size_value(t.params["name"], letters)
        if t.op is NUMBER:
            return self._number(t.params["value"])
        made = self.apply(t.op, args, concrete(t.op, t.params, letters))
        return made if t.dtype is None or t.dtype.kind not in "iu" else _whole(made, t.dtype)

    def exact(self, value: Any) -> Any:
        """An array of exactly the floats of another; integers and truth values stay NumPy's."""
        value = np.asarray(value)
        if value.dtype.kind in "biuO":
            return value
        wide = value.astype(complex if value.dtype.kind == "c" else float)
        return np.frompyfunc(self.mp.convert, 1, 1)(wide.astype(object))

    def _number(self, value: Any) -> Any:
        if isinstance(value, str):
            return +self.mp.pi
        if isinstance(value, Fraction):
            return self.mp.mpf(value.numerator) / value.denominator
        return self.mp.convert(value) if isinstance(value, (float, complex)) else value

    def apply(self, op: Op, args: list[Any], params: dict[str, Any]) -> Any:
        """An op on arrays of exact numbers."""
        call = in_digits(op)
        rounding = self.mode[1]
        try:
            if call is not None:
                if op.kind == "primitive":  # iterations (svd) end when rounded to the nearest number only
                    self.mode[1] = "n"
                return call(self.mp, *args, **params)
            if op.define is not None:
                return self._defined(op, args, params)
            if all(np.asarray(a).dtype != object for a in args):
                return op.kernel(*map(np.asarray, args), **params)
        except (TypeError, NotImplementedError) as error:
            raise FormulaError(f"{op.name}{tuple(map(np.shape, args))} has no value in many digits: {error}") from None
        except ZeroDivisionError as error:
            raise np.linalg.LinAlgError(f"{op.name}: {error}") from None
        finally:
            self.mode[1] = rounding
        raise FormulaError(
            f"{op.name} has no value in many digits; compute it before, and take the result for a symbol."
        )

    def _defined(self, op: Op, args: list[Any], params: dict[str, Any]) -> Any:
        """An op that says what it is in terms of others."""
        assert op.define is not None
        names = [f"a{k}" for k in range(len(args))]
        arrays = [np.asarray(a) for a in args]
        made = op.define(*(symbol(n, a.shape, _dtype(a)) for n, a in zip(names, arrays, strict=True)), **params)
        return self.value(as_term(made), dict(zip(names, arrays, strict=True)), {})

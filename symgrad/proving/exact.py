"""Rules against definitions: the derivative of an entry's exact value, and what its rules say, at fifty digits.

The definition of an op in many digits is its field ``digits``, its SymPy function, or the ops that it is defined as.
Its slope along a random direction is a difference of second order with a step of 10^-45 in numbers of 140 digits, which
is right to more than sixty; vjp and jvp are evaluated as formulas in the same numbers.  Where the definition takes
SymPy's symbols in place of numbers, the same comparison is one of expressions, and SymPy decides it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.autopsy import within
from symgrad.errors import FormulaError
from symgrad.formula.derive import directional, gradient
from symgrad.formula.digits import Digits
from symgrad.formula.term import Term, as_term, symbol
from symgrad.op import Op
from symgrad.op.sampling import Case
from symgrad.proving.laws import (
    close,
    demand,
    differentiable,
    has_free_phases,
    is_data,
    projection,
    run_kernel,
    weights,
)

DIGITS = 50
"""How many digits have to agree."""
_WORK = 140
_STEP = 45
SECONDS = 2.0
"""What SymPy may take for one argument of one op."""
ENTRIES = 24
"""Operands and results with more entries are compared as numbers only."""


def exact_law(op: Op, case: Case) -> int:
    """⟨w, J t⟩ by the definition, by the vjp and by the jvp agree in fifty digits; gives how many arguments that were.

    Raises ``LawBroken`` where two differ, and ``FormulaError`` where the op, or a part of its rules, has no value in
    many digits.
    """
    args, params = case
    if not args:
        return 0
    numbers = Digits(_WORK)
    terms, values = _symbols(args)
    out = as_term(op(*terms, **params))
    exactly = numbers.value(out, values, {})
    kernel = np.asarray(run_kernel(op, args, params))
    close(_rounded(exactly, kernel), kernel, 1e-9, f"{op.name}: the kernel's value against the definition")
    if kernel.dtype.kind not in "fc":
        return 0
    compared = 0
    for i in differentiable(op, args):
        way = projection(op, weights(np.shape(args[i]), args[i].dtype, 3))
        w = weights(kernel.shape, kernel.dtype, 4)
        slope = _slope(numbers, op, (args, params), i, (way, w))
        if has_free_phases(op, w.dtype):
            w = numbers.exact(w.real) * exactly
        (pulled,) = gradient(out, [terms[i]], symbol("w", kernel.shape, kernel.dtype))
        back = numbers.value(pulled, {**values, "w": w}, {})
        _agree(numbers, slope, _inner(numbers, back, way), f"{op.name}: vjp of argument {i}")
        moved = as_term(directional(out, [terms[i]], [symbol("t", terms[i].shape, terms[i].dtype)]))
        ahead = np.broadcast_to(numbers.value(moved, {**values, "t": way}, {}), kernel.shape)
        _agree(numbers, slope, _inner(numbers, w, ahead), f"{op.name}: jvp of argument {i}")
        compared += 1
    return compared


def _symbols(args: Sequence[Any]) -> tuple[list[Term], dict[str, Any]]:
    terms = [symbol(f"x{i}", np.shape(a), a.dtype) if is_data(a) else as_term(a) for i, a in enumerate(args)]
    return terms, {f"x{i}": a for i, a in enumerate(args) if is_data(a)}


def _rounded(value: Any, like: Any) -> Any:
    array = np.asarray(value)
    return (
        array.astype(like.dtype) if array.shape == like.shape else np.broadcast_to(array, like.shape).astype(like.dtype)
    )


def _slope(numbers: Digits, op: Op, case: Case, i: int, ways: tuple[Any, Any]) -> Any:
    """Re⟨w, f(x + h t) - f(x - h t)⟩ / 2h; for vectors with free phases, |f|²/2 in place of f."""
    args, params = case
    free = has_free_phases(op, ways[1].dtype)
    sizes = numbers.exact(ways[1].real)
    way, w = (numbers.exact(v) for v in ways)
    step = numbers.mp.mpf(10) ** -_STEP
    at = [numbers.exact(a) for a in args]

    def moved(sign: int) -> Any:
        out = numbers.apply(op, [*at[:i], at[i] + sign * step * way, *at[i + 1 :]], params)
        return _inner(numbers, sizes * out, out) / 2 if free else _inner(numbers, w, out)

    return (moved(1) - moved(-1)) / (2 * step)


def _inner(numbers: Digits, a: Any, b: Any) -> Any:
    """Re Σ conj(a) b in many digits."""
    left, right = np.broadcast_arrays(numbers.exact(a), numbers.exact(b))
    mp = numbers.mp
    return mp.fsum(mp.re(mp.conj(x) * y) for x, y in zip(left.flat, right.flat, strict=True))


def _agree(numbers: Digits, want: Any, got: Any, what: str) -> None:
    off, scale = abs(want - got), max(1, abs(want))
    demand(
        off <= scale * numbers.mp.mpf(10) ** -DIGITS,
        f"{what}: {numbers.mp.nstr(got, 12)}, the definition's slope is {numbers.mp.nstr(want, 12)}",
    )


# ---------------------------------------------------------------------------------------------- SymPy


_NAMES = {
    "ln": "log",
    "fabs": "Abs",
    "conj": "conjugate",
    "gammainc": "",
    "root": "",
}
"""Functions of SymPy that have other names than mpmath's; none where they mean something else."""
_SPELLED: dict[str, Any] = {
    "log1p": lambda sp, x: sp.log(1 + x),
    "expm1": lambda sp, x: sp.exp(x) - 1,
    "cbrt": lambda sp, x: sp.cbrt(x),
    "sigmoid": lambda sp, x: 1 / (1 + sp.exp(-x)),
}
"""Functions of mpmath that SymPy has no name for."""


class _Arithmetic:
    """SymPy's functions under mpmath's names, where both mean the same."""

    class mpc:  # noqa: N801  (mpmath's name: what definitions ask of numbers)
        """No number here is complex."""

    class mpf:  # noqa: N801
        """A number as it is."""

        def __new__(cls, value: Any) -> Any:
            import sympy as sp

            return sp.sympify(value)

    def convert(self, value: Any) -> Any:
        """A number of SymPy."""
        import sympy as sp

        return sp.nsimplify(value, rational=True) if isinstance(value, float) else sp.sympify(value)

    def __getattr__(self, name: str) -> Any:
        import sympy as sp

        if name in _SPELLED:
            return lambda x: _SPELLED[name](sp, x)
        found = getattr(sp, _NAMES.get(name, name), None)
        if found is None:
            raise FormulaError(f"SymPy has no {name} like mpmath's")
        return found


class _Symbols(Digits):
    """The walk of :class:`Digits` over SymPy's expressions in place of numbers."""

    def __init__(self) -> None:
        self.mp, self.mode = _Arithmetic(), [0, "n"]


def symbolic(op: Op, case: Case) -> list[bool]:
    """Whether SymPy proves the vjp from the definition, one answer for each argument that has a derivative.

    ``False`` also means that the op does not take symbols, or that SymPy came to no end in ``SECONDS``.
    """
    args, params = case
    if not args:
        return []
    if any(np.asarray(a).dtype.kind == "c" for a in args):
        return [False for _ in differentiable(op, args)]
    return [bool(within(SECONDS, functools.partial(_decided, op, args, params, i))) for i in differentiable(op, args)]


def _decided(op: Op, args: tuple[Any, ...], params: dict[str, Any], i: int) -> bool:
    import sympy as sp

    try:
        return _is_derivative(op, args, params, i)
    except (TypeError, ValueError, ArithmeticError, AttributeError, NotImplementedError, RecursionError, LookupError):
        return False
    except (FormulaError, sp.SympifyError, np.linalg.LinAlgError):
        return False


def _is_derivative(op: Op, args: tuple[Any, ...], params: dict[str, Any], i: int) -> bool:
    import sympy as sp

    walk = _Symbols()
    terms, _ = _symbols(args)
    at = {
        t.params["name"]: _named(f"x{k}", a, op, k)
        for k, (t, a) in enumerate(zip(terms, args, strict=True))
        if is_data(a)
    }
    given = [at.get(f"x{k}", a) for k, a in enumerate(args)]
    out = np.asarray(walk.apply(op, list(given), params), object)
    if max(out.size, *(np.size(v) for v in given)) > ENTRIES:
        return False
    w = _named("w", np.zeros(out.shape), None, 0)
    (pulled,) = gradient(as_term(op(*terms, **params)), [terms[i]], symbol("w", out.shape, args[i].dtype))
    found = np.asarray(walk.value(pulled, {**at, "w": w}, {}), object)
    total = sp.Add(*(a * b for a, b in zip(w.flat, out.flat, strict=True)))
    return all(
        _vanishes(sp.diff(total, x) - g) for x, g in zip(np.asarray(given[i], object).flat, found.flat, strict=True)
    )


def _named(name: str, like: Any, op: Op | None, k: int) -> Any:
    """An array of real symbols, positive where the op's domain is; data that is not real stays itself."""
    import sympy as sp

    array = np.asarray(like)
    if array.dtype.kind != "f":
        return array
    domain = op.domain[k] if op is not None and isinstance(op.domain, tuple) else getattr(op, "domain", None)
    positive = True if domain in ("positive", "above-one", "probability") else None
    made = [sp.Symbol(f"{name}_{j}", real=True, positive=positive) for j in range(array.size)]
    return np.array(made, object).reshape(array.shape)


def _vanishes(expression: Any) -> bool:
    """Whether an expression is zero, away from the points where a derivative jumps."""
    import sympy as sp

    plain = sp.sympify(expression).replace(lambda e: isinstance(e, sp.DiracDelta), lambda e: sp.S.Zero)
    if plain == 0 or sp.expand(plain) == 0:
        return True
    return any(way(plain) == 0 for way in (sp.simplify, lambda e: sp.simplify(e.rewrite(sp.exp))))

"""Symbolic rules of custom functions: what a static ``symbolic`` says a function is, and whether it says the truth.

A rule stands for ``forward`` in formulas only; numbers never come from it.  So a formula is given only where the two
agree at the point that was recorded: there ``forward`` is run once more, beside the rule, and, where the derivative
is to come from the rule, ``backward`` too.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.errors import FormulaError, ShapeError, SymgradError
from symgrad.formula.derive import Derivation
from symgrad.formula.digits import evalf
from symgrad.formula.term import Term, as_term, evaluate, own_symbol
from symgrad.op import is_complex, lookup
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.modes import own_no_grad
from symgrad.tape.record import Recorded, plain

_DIGITS = 20
"""Digits of the second comparison, where rounding or an overflow may have parted the two in floats."""


def rule_of(function: Any) -> Any:
    """The ``symbolic`` of a custom function, or None; torch.onnx has another one, which takes a graph first."""
    rule = function.symbolic
    if rule is None:
        return None
    try:
        first = next(iter(inspect.signature(rule).parameters), "")
    except (TypeError, ValueError):
        return rule
    return None if first in ("g", "graph") and first not in inspect.signature(function.forward).parameters else rule


def stated(signature: Any, args: tuple[Term, ...]) -> tuple[Term | None, ...] | None:
    """The outputs by the rule, as terms; None where there is no rule, or it gives none for these arguments.

    A rule of several outputs may leave one out (None), which stays a function with a name.
    """
    rule = rule_of(signature.function)
    if rule is None:
        return None
    name = f"{signature.function.__name__}.symbolic"
    try:
        found = rule(*signature.filled(tuple(map(Formal, args))))
    except Exception as error:  # anything a user's function may raise when it meets a formula
        raise FormulaError(
            f"{name} cannot be run on formulas: {str(error).rstrip('.')}. It gets one formula for every tensor and "
            "makes its answer of them with symgrad's functions: where() instead of if, no values. It may return None "
            "for arguments for which there is no formula."
        ) from error
    if found is None:
        return None
    count = signature.count
    row = found if isinstance(found, (tuple, list)) else (found,)
    if (count is None) is isinstance(found, (tuple, list)) or (count is not None and len(row) != count):
        wanted = "one formula, as forward gives one result" if count is None else f"a tuple of {count}, as forward does"
        raise FormulaError(f"{name} must return {wanted}; it returned {_kind(found)}.")
    return tuple(None if out is None else _as_term(name, out) for out in row)


def _kind(found: Any) -> str:
    return f"{len(found)} things" if isinstance(found, (tuple, list)) else f"a {type(found).__name__}"


def _as_term(name: str, out: Any) -> Term:
    if isinstance(out, Formal):
        return out.term
    if isinstance(out, (Term, bool, int, float, complex, np.number)):
        return as_term(out)
    raise FormulaError(
        f"{name} returned a {type(out).__name__}, which is no formula. Make the answer of the arguments with symgrad's "
        "functions; a SymPy expression becomes such a function by symgrad.from_sympy(expression)."
    )


def as_recorded(term: Term, shape: tuple[Any, ...], dtype: Any, name: str) -> Term:
    """A rule's answer with the dtype of the number that it stands for; its shape must be that one's."""
    if term.shape != shape:
        raise ShapeError(f"{name}.symbolic has shape {term.shape}, the result of forward has shape {shape}.")
    return term if term.dtype == dtype else lookup("cast")(term, dtype=np.dtype(dtype).name)


# ---------------------------------------------------------------------------------------------- the proof


class Point:
    """The values that a function with a rule was applied to, kept for the comparison."""

    __slots__ = ("derivable", "proved", "values")

    def __init__(self, values: tuple[Any, ...]):
        self.values = values
        self.proved = False
        self.derivable: bool | None = None

    def prove(self, signature: Any) -> None:
        """Raise where the rule is not what ``forward`` gives here."""
        if self.proved:
            return
        symbols = self._symbols()
        row = stated(signature, symbols)
        if row is not None:
            _, out = signature.run(self._tensors())
            for k, (term, number) in enumerate(zip(row, _row(out), strict=True)):
                if term is not None and isinstance(number, Recorded):
                    self._same(signature, term, number._value, "" if signature.count is None else f" of output {k}")
        self.proved = True

    def _symbols(self) -> tuple[Term, ...]:
        return tuple(own_symbol(f"x{k}", np.shape(v), v.dtype) for k, v in enumerate(self.values))

    def _named(self) -> dict[str, Any]:
        return {f"@x{k}": v for k, v in enumerate(self.values)}

    def _tensors(self) -> tuple[Any, ...]:
        """Tensors with memory of their own: forward may write into its arguments."""
        from symgrad.tensor import Tensor

        return tuple(plain(Tensor, np.array(v)[()]) for v in self.values)

    def _same(self, signature: Any, term: Term, number: Any, which: str) -> None:
        name = signature.function.__name__
        if term.shape != number.shape:
            raise FormulaError(
                f"{name}.symbolic contradicts {name}.forward: the shape{which} is {list(term.shape)} by the rule, and "
                f"{list(number.shape)} by forward. Correct the rule; without it {name} stands in formulas as a "
                "function of that name."
            )
        wrong = _apart(term, self._named(), number)
        if not wrong.any():
            return
        where = tuple(int(k) for k in np.argwhere(wrong)[0])
        rule = np.broadcast_to(evaluate(term, self._named()), number.shape)
        entries = ", ".join(
            f"argument {k} is {v[where].item()!r}" if v.shape == number.shape else f"argument {k} has shape {v.shape}"
            for k, v in enumerate(self.values)
        )
        raise FormulaError(
            f"{name}.symbolic contradicts {name}.forward in {int(wrong.sum())} of {wrong.size} entries{which}, first "
            f"at {list(where)}: the rule gives {rule[where].item()!r}, forward {number[where].item()!r} ({entries}). "
            f"Correct the rule; without it {name} stands in formulas as a function of that name."
        )

    def agrees(self, signature: Any) -> bool:
        """Whether ``backward`` gives here what the derivative of the rule is: if not, formulas must not say so."""
        if self.derivable is None:
            try:
                self.derivable = self._agrees(signature)
            except Exception:  # noqa: BLE001  (anything that a user's backward may raise)
                self.derivable = False
        return self.derivable

    def _agrees(self, signature: Any) -> bool:
        symbols = self._symbols()
        row = stated(signature, symbols)
        if row is None or None in row:
            return False
        ctx, out = signature.run(self._tensors())
        seeds = tuple(_seed(o._value) for o in _row(out))
        with own_no_grad():
            rows = signature.gradients(ctx, tuple(plain(type(o), s) for o, s in zip(_row(out), seeds, strict=True)))
        terms = tuple(as_recorded(t, s.shape, s.dtype, "") for t, s in zip(row, seeds, strict=True))  # type: ignore[arg-type]
        cotangents = tuple(own_symbol(f"g{k}", s.shape, s.dtype) for k, s in enumerate(seeds))
        values = self._named() | {f"@g{k}": s for k, s in enumerate(seeds)}
        pulled = pull(terms, cotangents, symbols)
        for v, found, term in zip(self.values, rows, pulled, strict=True):
            number = np.zeros(v.shape, v.dtype) if found is None else np.asarray(found._value)
            if v.dtype.kind in "fc" and _apart(term, values, np.broadcast_to(number, v.shape)).any():
                return False
        return True


def pull(outputs: Sequence[Term], seeds: Sequence[Term], symbols: tuple[Term, ...]) -> list[Any]:
    """The gradients of symbols that the outputs are made of; a number 0 where there is none."""
    found = Derivation(outputs, seeds, symbols, ends=True).adjoints
    return [found.get(s, as_term(0)) for s in symbols]


def _row(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def _seed(value: Any) -> Any:
    """A cotangent whose entries differ, the same in every run."""
    weights = np.cos(1.0 + np.arange(value.size)).reshape(value.shape)
    return weights.astype(value.dtype)[()]


def _apart(term: Term, values: dict[str, Any], number: Any) -> Any:
    """Where the value of a term is not ``number``, up to rounding: in floats, or else in many digits."""
    number = np.asarray(number)
    with np.errstate(all="ignore"):
        wrong = _differ(evaluate(term, values), number)
        if wrong.any() and number.dtype.kind in "fc":
            try:
                exact = np.asarray(evalf(term, values, n=_DIGITS))
                wrong = wrong & _differ(exact.astype(complex if is_complex(term) else float), number)
            except (SymgradError, ArithmeticError, TypeError, ValueError):
                pass  # what has no digits was compared in floats
    return wrong


def _differ(found: Any, number: Any) -> Any:
    found = np.broadcast_to(np.asarray(found), number.shape)
    if number.dtype.kind not in "fc":
        return found != number
    finite = np.abs(number[np.isfinite(number)])
    near = float(np.finfo(number.dtype).eps) ** 0.5 * 10
    scale = float(finite.max()) if finite.size else 0.0
    return ~np.isclose(found, number, rtol=near, atol=near * scale, equal_nan=True)

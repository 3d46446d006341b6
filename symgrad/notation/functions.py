"""A formula that was written elsewhere, in SymPy or LaTeX, as a function of arrays, tensors and terms."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term, evaluate, postorder, size_letter, with_sizes
from symgrad.op import shape_of
from symgrad.ops.rules.constants import PI, exact
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.formulas.sizes import Size
from symgrad.tape.record import Recorded
from symgrad.tensor import creation
from symgrad.tensor.creation import tensor

__all__ = ["FormulaFunction"]


class FormulaFunction:
    """A differentiable function of arrays made of a formula that was written elsewhere.

    ``given`` is what was written, ``term`` its formula, ``names`` are the arguments in order.  The function takes
    arrays, numbers, tensors (and records them) or terms, by position or by name.
    """

    def __init__(self, given: Any, term: Term, symbols: list[Term]):
        self.given = given
        self.term = term
        self.symbols = symbols
        self.names = [str(s.name) for s in symbols]
        self.__name__ = "f"
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(_argument(n), inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in self.names]
        )
        order = postorder([term])
        self._used = {t for t in order if t.op is SYMBOL}
        self._entrywise = all(t.op.entrywise or t.op.kind == "leaf" for t in order)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The value for arrays, numbers, tensors or terms, by position or by name."""
        if any(isinstance(v, Formal) for v in (*args, *named.values())):
            return Formal(self(*map(_bare, args), **{name: _bare(v) for name, v in named.items()}))
        try:
            bound = self.__signature__.bind(*args, **named)
        except TypeError as error:
            raise ArgumentError(f"f({', '.join(self.names)}): {error}.") from None
        values = {name: _value(bound.arguments[_argument(name)], name) for name in self.names}
        letters = self._letters(values)
        if any(isinstance(v, (Recorded, Term)) for v in values.values()):
            return self._run(values, letters)
        if self._entrywise and any(np.ndim(values[str(s.name)]) for s in self.symbols if not s.shape):
            return self._run(values, letters)
        return evaluate(self.term, values, letters)

    def __repr__(self) -> str:
        return f"f({', '.join(self.names)}) = {self.given}"

    def _letters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The size that every letter stands for; shapes that do not fit are an error."""
        letters: dict[str, Any] = {}
        # Sizes such as n-1 come after those of which they are made.
        for s in sorted(self.symbols, key=lambda s: any(map(_is_sum, s.shape))):
            got = tuple(shape_of(values[str(s.name)]))
            if not s.shape and (not got or self._entrywise or s not in self._used):
                continue
            fits = len(got) == len(s.shape)
            for letter, n in zip(s.shape, got, strict=False):
                known = _of_sum(letter, letters) if _is_sum(letter) else letter
                known = letters.setdefault(letter, n) if isinstance(known, str) and known.isidentifier() else known
                fits = fits and (isinstance(known, str) or isinstance(n, str) or known == n)
            if not fits:
                sizes = ", ".join(f"{k} = {v}" for k, v in letters.items())
                raise ShapeError(
                    f"f({', '.join(self.names)}): {s.name} has shape {got} where the expression has "
                    f"{tuple(s.shape)}{' with ' + sizes if sizes else ''}."
                )
        return letters

    def _run(self, values: Mapping[str, Any], letters: dict[str, Any]) -> Any:
        """The ops of the formula, one after the other, on whatever the arguments are."""
        formal = any(isinstance(v, Term) for v in values.values())
        if any(isinstance(v, Recorded) for v in values.values()):
            values = {name: _tensor(v, name) for name, v in values.items()}
        image: dict[Term, Any] = {}
        for t in postorder([self.term]):
            if t.op is SYMBOL:
                image[t] = values[str(t.name)]
            elif t.op is NUMBER:
                image[t] = _constant(t.number)
            elif t.op is SIZE:
                n = letters.get(str(t.name), t.name)
                image[t] = size_letter(n) if formal else Size(n)  # type: ignore[arg-type]
            elif t.op.name in ("full", "eye"):
                image[t] = t if formal else _constant_tensor(t, letters)
            else:
                image[t] = t.op(
                    *(image[a] for a in t.args), **with_sizes(t.op, t.params, lambda size: _size(size, letters))
                )
        return image[self.term]


def _is_sum(size: Any) -> bool:
    return isinstance(size, str) and not size.isidentifier()


def _of_sum(size: str, letters: Mapping[str, Any]) -> Any:
    """What a size such as n-1 is where its letters are known as numbers, else itself."""
    known = all(isinstance(letters.get(letter), int) for letter in letters_of(size))
    return size_value(size, dict(letters)) if known else size


def _argument(name: str) -> str:
    """The argument of a name: with a line below where Python has the name for itself, as ``lambda``."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _bare(value: Any) -> Any:
    return value.term if isinstance(value, Formal) else value


def _value(value: Any, name: str) -> Any:
    if isinstance(value, (Recorded, Term)):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise ArgumentError(f"{name} is {type(value).__name__}; arrays, numbers, tensors and terms are taken.")
    return array if array.ndim else array[()]


def _tensor(value: Any, name: str) -> Any:
    """An array beside tensors becomes a tensor with a name, so that it is one symbol wherever the formula has it."""
    return tensor(value, name=name) if isinstance(value, np.ndarray) else value


def _constant(value: Any) -> Any:
    if isinstance(value, str):
        return PI
    return exact(value) if isinstance(value, Fraction) else value


def _constant_tensor(t: Term, letters: dict[str, Any]) -> Any:
    sizes = tuple(Size(size_value(n, letters)) for n in t.shape)
    if t.op.name == "eye":
        return creation.eye(sizes[0], dtype=t.dtype)
    return creation.full(sizes, t.params["value"], dtype=t.dtype)


def _size(value: Any, letters: dict[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    if value in letters:
        return letters[value] if isinstance(letters[value], str) else Size(letters[value])
    written = re.sub(r"[^\W\d]\w*", lambda m: str(letters.get(m[0], m[0])), value)
    return written if re.search(r"[^\W\d]", written) else size_value(written, {})

"""The eager target: a program that calls what eager calls of the ops run, so that it rounds as they do.

An op whose kernel is a Python operator is written as that.  Everything else is called under the op's name; the
functions live in the program's namespace, so such a program has no text to be saved.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.targets.literals import number_text
from symgrad.compiler.targets.memory import shows_argument
from symgrad.compiler.trace import Input, Output
from symgrad.dtypes import NARROW, float64
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, Term, frozen
from symgrad.kernels.arrays.copies import copied
from symgrad.op import Op
from symgrad.tape.layout import arranged
from symgrad.tape.operands import promoted
from symgrad.tape.record import computed, finished

OPERATORS: dict[Any, str] = {
    operator.add: "({} + {})",
    operator.sub: "({} - {})",
    operator.mul: "({} * {})",
    operator.truediv: "({} / {})",
    operator.neg: "(-{})",
}
"""How kernels that are operators are written."""


class Writer:
    """Writes calls, and collects the functions that they call; ``raw`` terms ran on arrays, by the kernels alone."""

    def __init__(self, inputs: Sequence[Input], raw: Container[Term] = ()):
        self.raw = raw
        self.inputs = list(inputs)
        self.names = {i.term: i.name for i in inputs}
        self.taken = {*self.names.values(), "np", "complex"}
        self.used: set[str] = set()
        self.repeated: set[Output] = set()
        self.functions: dict[str, Any] = {}
        self._known: dict[Any, str] = {}

    def literal(self, term: Term) -> str:
        """Text of a number."""
        value = term.params["value"]
        text = number_text(value)
        if isinstance(value, int) and text != repr(value):
            raise CompileError(f"the number {value} is too large to be written down")
        return text if term.dtype is None else f"np.{term.dtype.name}({text})"

    def text(self, operand: Any) -> str:
        """Source of an operand; the depth of calls is bounded by the scheduler."""
        if isinstance(operand, str):
            return operand
        term, texts = operand.term, [self.text(a) for a in operand.args]
        if term.op.shares:
            return texts[0]
        written = None if term in self.raw and term.ndim > 1 else OPERATORS.get(_bare(term))
        if written is not None:
            return written.format(*texts)
        return f"{self._function(term)}({', '.join(texts)})"

    def _function(self, term: Term) -> str:
        """The name under which the program calls a term's op."""
        raw = term in self.raw
        plain = not raw and _as_it_comes(term)
        kinds = tuple(a.dtype if a.op is not NUMBER else a.params["value"].__class__ for a in term.args)
        key = (term.op.name, frozen(term.params), (min(term.ndim, 2), kinds) if plain else raw)
        name = self._known.get(key)
        if name is None:
            made = _alone(term) if plain else _raw(term) if raw else stepwise(term.op, term.params)
            name = self._known[key] = self._add(term.op.name, made)
        return name

    def _add(self, stem: str, function: Callable[..., Any]) -> str:
        name, count = stem.replace(".", "_"), 1
        while name in self.taken or name in self.functions or not name.isidentifier():
            count += 1
            name = f"{stem.replace('.', '_')}_{count}"
        self.functions[name] = function
        return name

    def result(self, output: Output, operand: Any) -> str:
        """Text of a result; what shows the memory of an argument or of another result is copied."""
        text = self.text(operand)
        if output not in self.repeated and not shows_argument(output.term):
            return text
        self.functions.setdefault("copied_", _copied)
        return f"copied_({text})"

    @staticmethod
    def size_lines(wanted: set[str]) -> list[tuple[str, str]]:
        """No sizes: the program serves one."""
        return []


def always(_term: Term, _place: int) -> bool:
    """Every argument of a call stands once in its text."""
    return True


def _copied(x: Any) -> Any:
    return copied(x) if x.__class__ is np.ndarray and x.ndim else x


def _as_it_comes(term: Term) -> bool:
    """Whether the op takes its operands as they come: no cast, no view, none of the dtypes with a path of their own."""
    op = term.op
    if op.view is not None or all(a.op is NUMBER for a in term.args):
        return False
    row: list[Any] = []
    for a in term.args:
        if a.op is not NUMBER:
            if a.dtype.char in NARROW:
                return False
            row.append(np.empty((0,) * a.ndim, a.dtype) if a.ndim else a.dtype.type())
        elif a.dtype is not None or (isinstance(a.params["value"], int) and term.dtype.kind not in "fc"):
            return False  # a whole number may be too large for the dtype of whole numbers beside it
        else:
            row.append(a.params["value"])
    return all(a is b for a, b in zip(row, promoted(op, row), strict=True))


def _bare(term: Term) -> Any:
    """The kernel of a term, where nothing is to be done before or after it; else None."""
    if term.ndim > 1 or term.params or term.dtype.char in NARROW or not _as_it_comes(term):
        return None
    kernel = term.op.chosen(_leading(term))
    return kernel if isinstance(kernel, np.ufunc) or kernel in OPERATORS else None


def _leading(term: Term) -> Any:
    """The dtype by which an op chooses its kernel: that of the first operand."""
    return term.args[0].dtype or float64


def _alone(term: Term) -> Callable[..., Any]:
    """What runs for operands that come as they must: the kernel itself where nothing is to be done after it."""
    op, params = term.op, term.params
    kernel = op.chosen(_leading(term))
    if op.scalar is not None and not term.ndim and term.dtype == float64:
        return op.of_number
    if not op.entrywise or params or not (isinstance(kernel, np.ufunc) or kernel in OPERATORS):
        return lambda *xs: finished(op, kernel(*xs, **params), xs, False)[0]
    if term.ndim < 2:
        return kernel

    def laid(*xs: Any) -> Any:
        return arranged(kernel(*xs), xs)

    return laid


def _raw(term: Term) -> Callable[..., Any]:
    """The op on arrays, as a rule calls it."""
    return functools.partial(term.op, **term.params)


def stepwise(op: Op, params: dict[str, Any]) -> Callable[..., Any]:
    """What an eager call does to values, without its record."""
    cuts = op.view is not None

    def run(*xs: Any) -> Any:
        values = promoted(op, list(xs))
        if cuts:
            values[0] = np.asarray(values[0])
        out = op.view(*values, **params) if cuts else computed(op, values, params)  # type: ignore[misc]
        return finished(op, out, values, cuts)[0]

    return run

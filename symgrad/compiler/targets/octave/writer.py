"""The program as an Octave function: every statement of the schedule is one line, or a few."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler.schedule import Call, Program
from symgrad.compiler.targets import forms
from symgrad.compiler.targets.libraries import called
from symgrad.compiler.targets.octave.entries import FORMS
from symgrad.compiler.targets.octave.library import LIBRARY
from symgrad.compiler.targets.octave.products import fitted, product
from symgrad.compiler.targets.octave.spelling import ENTIRE, closed, filled, number, octave_name, spelled
from symgrad.compiler.trace import Input
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, Term

_COMPARED = re.compile(r"[<>~=]=? \{\d\}")
_ARITHMETIC = re.compile(r"^\{0\} (\+|\.\*) \{1\}$")
CLASSES = {"float64": "double", "float32": "single", "complex128": "double", "complex64": "single", "bool": "logical"}
"""What NumPy's dtypes are called; whole numbers are computed with as doubles."""


def has_form(term: Term) -> bool:
    """Whether a term can be written for Octave as it is."""
    op = term.op
    if op.c is None or op.name in FORMS:
        return forms.has_form(term, FORMS)
    imaginary = any(a.complex_dtype for a in term.args)
    return not imaginary or _entire(op.c)


def _entire(c: str) -> bool:
    """Whether the spelling of an op holds for complex numbers."""
    text = spelled(c, imaginary=True)
    return set(called(text)) <= ENTIRE and not re.search(r"\{\d\} [<>]", text)


def once(term: Term, k: int) -> bool:
    """Whether operand ``k`` may be written where it is used: it stands there once."""
    return term.op.c is None or term.op.c.count(f"{{{k}}}") == 1


class Writer:
    """Writes operands as text, and notes the helper functions that it needs."""

    def __init__(self, inputs: Sequence[Input], taken: set[str]):
        self.taken = taken
        self.names = {i.term: octave_name(i.name, taken) for i in inputs}
        found = forms.letters_in([i.shape for i in inputs])
        self.letters = {letter: octave_name(letter, taken) for letter in found}
        self.used: set[str] = set()
        self.helpers: set[str] = set()
        self.lines: list[str] = []
        self.count = 0
        self.plain: set[Term] = set()

    # -------------------------------------------------------------------------------------- sizes and numbers

    def size(self, size: Any) -> str:
        """A size as an expression."""

        def length(axis: str, part: slice) -> str:
            ends = ", ".join("NaN" if end is None else str(end) for end in (part.start, part.stop))
            return self.helped(f"slice_length({self.size(axis)}, {ends}, {part.step or 1})")

        return forms.size_text(size, self._letter, length)

    def _letter(self, letter: str) -> str:
        self.used.add(letter)
        return self.letters.get(letter, letter)

    def literal(self, term: Term) -> str:
        """Text of a number or a size."""
        return self.size(term.params["name"]) if term.op is SIZE else number(term.params["value"])

    def constant(self, value: Any) -> str:
        """An array of whole numbers, which is part of the program."""
        if value.ndim > 2:
            raise CompileError("a constant array of places with more than two axes is not written for Octave.")
        rows = value.reshape(len(value), -1) if value.ndim else value.reshape(1, 1)
        text = "; ".join(", ".join(str(int(v)) for v in row) for row in rows)
        return f"[{text}]" if value.ndim else text

    # -------------------------------------------------------------------------------------- calls

    def helped(self, text: str) -> str:
        """A text whose helper functions are noted."""
        self.helpers.update(name for name in called(text) if name in LIBRARY)
        return text

    def named(self, _term: Term, text: str) -> str:
        """The name of an operand, which gets one where it has none: brackets of an index stand behind names only."""
        if text.isidentifier():
            return text
        self.count += 1
        name = f"part{self.count}"
        self.lines.append(f"{name} = {text};")
        return name

    def text(self, operand: Any) -> str:
        """Source of an operand; the depth of calls is bounded by the scheduler."""
        if not isinstance(operand, Call):
            return str(operand)
        term = operand.term
        texts = [self.text(a) for a in operand.args]
        return self.call(term, texts)

    def call(self, term: Term, texts: Sequence[str]) -> str:
        """Source of one op applied to the texts of its operands."""
        op = term.op
        _check_dtypes(term)
        write = FORMS[op.name].entry if op.name in FORMS else None
        if write is not None:
            text = str(write(self, term, texts))
            return text if term.args else self._of_dtype(term, text)
        texts = self._met(term, texts)
        if op.c is None:
            return self._of_dtype(term, product(self, term, texts))
        imaginary = any(a.complex_dtype for a in term.args)
        row = [fitted(t, x.ndim, term.ndim) for t, x in zip(texts, term.args, strict=True)]
        form = spelled(op.c, imaginary)
        if called(form) and term.dtype != np.bool_:  # rem() and its kin take no truth values
            row = [
                self.as_dtype(t, a.dtype, np.dtype(float)) if a.dtype == np.bool_ and k != op.condition else t
                for k, (t, a) in enumerate(zip(row, term.args, strict=True))
            ]
        text = self.helped(filled(_beside_number(form, term), row))
        if term.dtype == np.bool_ and _ARITHMETIC.search(form):
            return f"logical({text})"  # true + true is 2 here
        if _COMPARED.search(form) and not form.startswith("choose(") and term.dtype == np.float32:
            return f"single({text})"  # what is made of truth values is double
        return self._of_dtype(term, text)

    def _met(self, term: Term, texts: Sequence[str]) -> list[str]:
        """The operands, where NumPy computes in double precision though one of them is single."""
        known = {a.dtype for a in term.args if a.dtype is not None and a.dtype.kind in "fc"}
        wide = any(dtype.name in ("float64", "complex128") for dtype in known)
        if not wide or (term.dtype is not None and term.dtype.name in ("float32", "complex64")):
            return list(texts)
        return [
            f"double({t})" if a.dtype is not None and a.dtype.name in ("float32", "complex64") else t
            for a, t in zip(term.args, texts, strict=True)
        ]

    def _of_dtype(self, term: Term, text: str) -> str:
        """A result in single precision, where no operand makes it so; one of whole numbers as a double."""
        kinds = {a.dtype.name for a in term.args if a.dtype is not None and not self._plain(a)}
        if term.dtype is not None and term.dtype.name in ("float32", "complex64"):
            return text if kinds & {"float32", "complex64"} else f"single({text})"
        return text

    def _plain(self, term: Term) -> bool:
        """Whether a term is a number made of numbers and sizes, which is a double whatever its dtype."""
        if term.op not in (NUMBER, SIZE) and not (term.args and not term.shape and self.plain.issuperset(term.args)):
            return False
        self.plain.add(term)
        return True

    def as_dtype(self, text: str, own: Any, wanted: Any) -> str:
        """A text of one dtype as one of another."""
        if own == wanted:
            return text
        if wanted.kind == "b":
            return f"{closed(text)} ~= 0"
        if wanted.kind in "iu":
            return text if own is not None and own.kind in "iub" else f"fix({text})"
        if own is not None and own.kind == "c" and wanted.kind != "c":
            text = f"real({text})"
        same = own is not None and CLASSES.get(own.name) == CLASSES[wanted.name]
        return text if same else f"{CLASSES[wanted.name]}({text})"

    # -------------------------------------------------------------------------------------- statements

    def write(self, program: Program, outputs: Sequence[Any], targets: Sequence[str]) -> None:
        """All statements of the program, and the results."""
        for name, _, operand in program.statements:
            text = self.text(operand)
            self.lines.append(f"{name} = {text};")
        for output, operand, target in zip(outputs, program.results, targets, strict=True):
            text, term = self.text(operand), output.term
            own = None if term.op in (NUMBER, SIZE) else term.dtype
            if output.dtype.kind in "iu":
                text = f"{output.dtype.name}({text})"
            elif own != output.dtype:
                text = self.as_dtype(text, own, output.dtype)
            elif own == np.bool_ and _is_called(term) and all(a.dtype == np.bool_ for a in term.args):
                text = f"logical({text})"  # Octave's functions of truth values give numbers
            self.lines.append(f"{target} = {text};")


def _is_called(term: Term) -> bool:
    """Whether an op is written as a call, and not in operators alone."""
    return term.op.name in FORMS or bool(term.op.c and called(spelled(term.op.c)))


def _beside_number(form: str, term: Term) -> str:
    """The form of a product or a quotient, where one with a number is written as such."""
    single = [not a.ndim for a in term.args]
    if form == "{0} .* {1}" and any(single):
        return "{0} * {1}"
    return "{0} / {1}" if form == "{0} ./ {1}" and single[1] else form


def _check_dtypes(term: Term) -> None:
    """Raise ``CompileError`` for dtypes that Octave has not, or computes with otherwise."""
    dtype = term.dtype
    if dtype is None:
        return
    if dtype.kind in "iu" and dtype != np.int64 and (term.op.kind == "multilinear" or term.op.c is not None):
        raise CompileError(
            f"{term.op.name}() of {dtype} goes round at the end of its range, which Octave's numbers do not. Save the "
            "program as a Python file, or cast the argument to int64 or to a float."
        )

"""The program as a C99 function: statements of the schedule become loops, written line by line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.schedule import Call, Program
from symgrad.compiler.targets.c.decompositions import DECOMPOSITIONS
from symgrad.compiler.targets.c.entries import ENTRIES
from symgrad.compiler.targets.c.library import COMPLEX, LIBRARY, WHOLE
from symgrad.compiler.targets.c.loops import LOOPS, contraction, summed
from symgrad.compiler.targets.c.texts import MATH, c_name, closed, filled, is_complex, is_whole, literal, type_of, wide
from symgrad.compiler.targets.forms import Form, has_form, letters_in, size_text
from symgrad.compiler.targets.libraries import CALL, called
from symgrad.compiler.trace import Input
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, SYMBOL, Term
from symgrad.ops.indexing.lengths import least_size

FORMS = {**ENTRIES, **LOOPS, **DECOMPOSITIONS}
"""Ops that are neither spelled in operators nor sums of products."""
_NONE = Form()
_GOING_ROUND = frozenset("{}0123456789+-* ")
"""What stands in the spelling of ops of whole numbers that are the same ones without a sign, which go round."""
_DOUBLE = re.compile(r"\d\.\d")
_ORDERED = re.compile(r"\{\d\} [<>]|[<>] \{\d\}")


class Writer:
    """Writes the body of a function, and notes what it needs: memory, helper functions, conditions on sizes."""

    def __init__(self, inputs: Sequence[Input], taken: set[str]):
        self.taken = taken
        self.names = {i.term: c_name(i.name, taken) for i in inputs}
        self.letters = {letter: c_name(letter, taken) for letter in letters_in([i.shape for i in inputs])}
        self.kinds = {i.term: type_of(i.dtype, i.name) for i in inputs}
        self.plain: set[Term] = set()
        self.lines: list[str] = []
        self.memory: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        self.helpers: set[str] = set()
        self.least: dict[str, int] = {}
        self.ordered: dict[tuple[Any, Any], None] = {}  # sizes of which the first must not be the smaller one
        self.constants: dict[str, Any] = {}
        self.depth = 1
        self.loops = 0

    # -------------------------------------------------------------------------------------- sizes and places

    def size(self, size: Any) -> str:
        """A size as an expression."""
        sliced = False

        def length(axis: str, part: slice) -> str:
            nonlocal sliced
            sliced = True
            start, stop, step = self._ends(part, axis)
            return str(self.helped(f"slice_length({start}, {stop}, {step})"))

        text = size_text(size, lambda letter: self.letters.get(letter, letter), length)
        if isinstance(size, str) and "-" in text and not sliced:
            self.at_least(text, 0)
        return text

    def at_least_of(self, size: Any, least: int) -> None:
        """The same of a size that may be a number, which was looked at where the program was made."""
        if isinstance(size, str):
            self.at_least(self.size(size), least)

    def at_least(self, size: str, least: int) -> None:
        """The program holds where a size is that large, and says so where it is not."""
        self.least[size] = max(least, self.least.get(size, 0))

    def smaller(self, size: Any, sizes: Sequence[Any]) -> str:
        """Which of two sizes a result has as the smaller one; elsewhere the program says that it does not hold."""
        for other in sizes:
            if other != size and any(str(each).isidentifier() for each in (other, size)):
                self.ordered[other, size] = None
        return str(self.size(size))

    def _ends(self, part: slice, size: Any) -> tuple[str, str, int]:
        step = 1 if part.step is None else int(part.step)
        whole = closed(self.size(size))
        first, last = ("0", self.size(size)) if step > 0 else (f"{whole} - 1", "-1")

        def end(place: Any, given: str) -> str:
            return given if place is None else self.helped(f"slice_end({place}, {whole}, {step})")

        return end(part.start, first), end(part.stop, last), step

    def slice_start(self, part: slice, size: Any) -> str:
        """Where a slice of an axis begins; the axis must reach there."""
        if isinstance(size, int):
            return str(part.indices(size)[0])
        if needed := least_size(part):
            self.at_least(self.size(size), needed)
        if part.step is not None and part.step < 0:
            return self._ends(part, size)[0]
        start = part.start or 0
        return str(start) if start >= 0 else f"{closed(self.size(size))} - {-start}"

    def place(self, index: Any, size: Any) -> str:
        """The place of an entry that is taken by number; the axis must be long enough."""
        if isinstance(size, int):
            return str(index % size)
        self.at_least(self.size(size), index + 1 if index >= 0 else -index)
        return str(index) if index >= 0 else f"{closed(self.size(size))} - {-index}"

    def constant_place(self, places: Any, size: Any, at: Sequence[str]) -> str:
        """A place of an array that is data of the program; the axis must be long enough for all of them."""
        if places.size:
            self.place(int(places.max()), size)
            self.place(int(places.min()), size)
        known = [name for name, kept in self.constants.items() if kept is places]
        name = known[0] if known else c_name(f"places{len(self.constants) + 1}", self.taken)
        self.constants[name] = places
        own = at[len(at) - places.ndim :]
        return self.helped(f"wrap({self.at(name, places.shape, own)}, {self.size(size)})")

    def linear(self, shape: Sequence[Any], at: Sequence[str]) -> str:
        """The place of an entry in memory, where rows lie one after the other."""
        text = ""
        for size, i in zip(shape, at, strict=True):
            if size == 1:
                continue
            text = f"{closed(text)} * {closed(self.size(size))} + {i}" if text and text != "0" else i
        return text or "0"

    def at(self, target: str, shape: Sequence[Any], places: Sequence[str]) -> str:
        """An entry of a named array, or the number that has the name."""
        return f"{target}[{self.linear(shape, places)}]" if shape else target

    def broadcast(self, term: Term, at: Sequence[str]) -> list[str]:
        """Where an operand is read for the entry ``at`` of a result that it is broadcast to."""
        own = at[len(at) - len(term.shape) :]
        return ["0" if size == 1 else i for size, i in zip(term.shape, own, strict=True)]

    # -------------------------------------------------------------------------------------- entries

    def kind(self, term: Term) -> str:
        """The type of an array's entries; numbers without a dtype, and what is made of sizes alone, are doubles."""
        if term.dtype is None or (term in self.plain and term.dtype.kind == "f"):
            return "double"
        return type_of(term.dtype, f"{term.op.name}()")

    def cast(self, text: str, own: str, kind: str) -> str:
        """An expression of one type as one of another."""
        if own == kind:
            return text
        if kind == "bool":
            return f"{closed(text)} != 0"
        return f"({kind}){closed(f'creal({text})' if is_complex(own) and not is_complex(kind) else text)}"

    def entry(self, term: Term, operand: Any, at: Sequence[str], kind: str) -> str:
        """One entry of an operand, as an expression of the type ``kind``."""
        if term.op is NUMBER:
            return self.literal(term.number, kind)
        if term.op is SIZE:
            return self.cast(self.size(term.params["name"]), "ptrdiff_t", kind)
        own = self.kinds.get(term) or (kind if term.dtype is None else self.kind(term))
        if isinstance(operand, str):
            return self.cast(self.at(operand, term.shape, at), self.scalars.get(operand, own), kind)
        return self.cast(self._computed(term, operand.args, list(at), own), own, kind)

    def literal(self, value: Any, kind: str) -> str:
        """A number as an expression of the type ``kind``."""
        return self.helped(literal(value, kind))

    def _computed(self, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
        op = term.op
        if op.c is not None:
            return self._spelled(term, args, at, kind)
        write = FORMS.get(op.name, _NONE).entry
        if write is not None:
            return str(write(self, term, args, at, kind))
        inputs, output = term.labels()
        by = dict(zip(output, at, strict=True))
        x = term.args[0]
        inside = [by.get(label, "0") for label in inputs[0]]
        return self.entry(x, args[0], ["0" if s == 1 else i for s, i in zip(x.shape, inside, strict=True)], kind)

    def _spelled(self, term: Term, args: Sequence[Any], at: list[str], kind: str) -> str:
        """An elementwise op as its entry in the table spells it, in the precision of the result."""
        op = term.op
        inner = self._common(term) if kind == "bool" and op.condition is None else kind
        if not is_complex(inner) and any(
            is_complex(self.kind(x)) for k, x in enumerate(term.args) if k != op.condition
        ):
            inner = "double complex"
        form = str(op.c)
        if is_whole(inner):
            form = self._of_whole_numbers(term)
        elif is_complex(inner):
            form = str(of_complex_numbers(form))
            for k, x in enumerate(term.args):
                if not is_complex(self.kind(x)):  # compilers warn of a real number there
                    form = form.replace(f"cabs({{{k}}})", f"fabs({{{k}}})")
        goes_round = is_whole(inner) and set(form) <= _GOING_ROUND
        texts = []
        for k, (x, operand) in enumerate(zip(term.args, args, strict=True)):
            wanted = "bool" if k == op.condition else "uint64_t" if goes_round else inner
            texts.append(self.entry(x, operand, self.broadcast(x, at), wanted))
        text = self.helped(filled(form, texts))
        if kind == "bool" or inner == "double":
            return text
        if is_whole(inner):
            return f"({inner}){closed(text)}" if goes_round or inner != "int64_t" else text
        if inner != "float":
            return self.cast(text, "double", kind) if kind == "float" else text
        used = set(called(form))
        if LIBRARY.keys() & used or _DOUBLE.search(form):
            return f"(float){closed(text)}"
        functions = MATH & used
        return re.sub(rf"\b({'|'.join(sorted(functions))})\(", r"\1f(", text) if functions else text

    def _of_whole_numbers(self, term: Term) -> str:
        """The spelling of an op for whole numbers, exact to the last digit."""
        form = re.sub(r"\b(\w+)(?=\()", lambda m: WHOLE.get(m[1], m[1]), str(term.op.c))
        if LIBRARY.keys() & set(called(form)) and "uint64" in {str(a.dtype) for a in (term, *term.args)}:
            raise CompileError(f"{term.op.name}() of uint64 is not written in C; save the program as a Python file.")
        return form

    def _common(self, term: Term) -> str:
        """The type in which the operands of a comparison meet."""
        known = [a.dtype for a in term.args if a.dtype is not None]
        if not known:
            return "double"
        whole = np.result_type(*known)
        numbers = [a.number for a in term.args if a.op is NUMBER]
        if whole.kind in "bui" and any(not isinstance(v, (bool, int)) for v in numbers):
            return "double"
        return type_of(np.int64 if whole.kind == "b" and numbers else whole, f"{term.op.name}()")

    def helped(self, text: str) -> str:
        """A text whose helper functions are noted."""
        self.helpers.update(name for name in called(text) if name in LIBRARY)
        return text

    # -------------------------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        """One line at the depth of the loops that are open."""
        self.lines.append("    " * self.depth + text)

    @contextlib.contextmanager
    def over(self, sizes: Sequence[Any]) -> Iterator[list[str]]:
        """Loops over axes; those of size 1 need none."""
        places, opened = [], 0
        for size in sizes:
            if size == 1:
                places.append("0")
                continue
            self.loops += 1
            i = f"i{self.loops}"
            self.line(f"for (ptrdiff_t {i} = 0; {i} < {self.size(size)}; {i}++) {{")
            self.depth += 1
            opened += 1
            places.append(i)
        yield places
        for _ in range(opened):
            self.depth -= 1
            self.loops -= 1
            self.line("}")

    @contextlib.contextmanager
    def accumulator(self, kind: str, first: str = "0") -> Iterator[tuple[str, str]]:
        """A sum that begins with ``first``, with its type: single precision is added up in double."""
        own = kind if kind == "int64_t" else wide(kind)
        self.line("{")
        self.depth += 1
        self.line(f"{own} s = {first};")
        yield "s", own
        self.depth -= 1
        self.line("}")

    def fill(self, target: str, shape: Sequence[Any], kind: str) -> None:
        """Zeros."""
        with self.over(shape) as at:
            self.line(f"{self.at(target, shape, at)} = {literal(0, kind)};")

    # -------------------------------------------------------------------------------------- memory

    def variable(self, shape: Sequence[Any], kind: str) -> str:
        """A new temporary: a number, or an array with memory of its own."""
        if shape:
            return self.memory_for([self.size(s) for s in shape], kind)
        name = f"t{len(self.memory) + len(self.scalars) + 1}"
        self.scalars[name] = kind
        return name

    def memory_for(self, sizes: Sequence[Any], kind: str) -> str:
        """A new array for as many entries as the product of sizes, which may be expressions, with memory of its own."""
        name, held = f"t{len(self.memory) + len(self.scalars) + 1}", f"held[{len(self.memory)}]"
        self.memory[name] = kind
        count = " * ".join(closed(str(s)) for s in sizes if str(s) != "1") or "1"
        self.line(f"if (!({name} = {held} = room(sizeof *{name}, {count}))) {{ status = 1; goto done; }}")
        return name

    def copied(self, term: Term, operand: Any, kind: str) -> str:
        """A new array with the entries of an operand."""
        name = self.variable(term.shape, kind)
        self.copy_into(name, term, operand, kind)
        return name

    def as_kind(self, term: Term, operand: Any, kind: str) -> str:
        """The array of an operand, or a copy where it has none of this type."""
        named = isinstance(operand, str) and term.shape and self.kind(term) == kind
        return operand if named else self.copied(term, operand, kind)

    def copy_into(self, target: str, term: Term, operand: Any, kind: str) -> None:
        """The entries of an operand in another array."""
        with self.over(term.shape) as at:
            self.line(f"{self.at(target, term.shape, at)} = {self.entry(term, operand, at, kind)};")

    def begun(self, term: Term, target: str) -> str:
        """The array in double precision in which a result is computed: its own where it has that."""
        own = wide(self.kind(term))
        return target if self.kind(term) == own else self.variable(term.shape, own)

    def finished(self, term: Term, target: str, x: str) -> None:
        """What was computed goes where it belongs."""
        if x != target:
            with self.over(term.shape) as at:
                text = self.cast(self.at(x, term.shape, at), wide(self.kind(term)), self.kind(term))
                self.line(f"{self.at(target, term.shape, at)} = {text};")

    # -------------------------------------------------------------------------------------- statements

    def write(self, program: Program, outputs: Sequence[Any], targets: Sequence[str]) -> None:
        """All statements of the program, and the results."""
        now: dict[str, str] = {}
        for name, _, operand in program.statements:
            term, operand = operand.term, _renamed(operand, now)
            self.line(f"/* {said(term, operand)} */")
            operand = self._prepared(operand)
            new = self.variable(term.shape, self.kind(term))
            self.store(term, operand, new)
            old = now.get(name)
            if old in self.memory:
                self.line(f"free({old});")
                self.line(f"held[{list(self.memory).index(old)}] = NULL;")
            now[name] = new
        for output, operand, target in zip(outputs, program.results, targets, strict=True):
            operand = _renamed(operand, now)
            self.line(f"/* {target.lstrip('*')} is {said(output.term, operand)} */")
            self.result(output, self._prepared(operand), target)

    def result(self, output: Any, operand: Any, target: str) -> None:
        """A result in the memory of the caller, in its traced dtype."""
        kind, term = type_of(output.dtype, "a result"), output.term
        if isinstance(operand, Call) and not lazy(term) and self.kind(term) == kind:
            self.store(term, operand, target)
            return
        if isinstance(operand, Call) and not lazy(term):
            name = self.variable(term.shape, self.kind(term))
            self.store(term, operand, name)
            operand = name
        self._check_places(operand)
        self.copy_into(target, term, operand, kind)

    def store(self, term: Term, operand: Call, target: str) -> None:
        """The lines that compute a term into a variable."""
        self._check_places(operand)
        if lazy(term):
            self.copy_into(target, term, operand, self.kind(term))
        else:
            (FORMS.get(term.op.name, _NONE).loop or contraction)(self, term, operand.args, target)

    def _prepared(self, operand: Any) -> Any:
        """An operand of which the parts have names that need them."""
        if not isinstance(operand, Call):
            return operand
        args = [self._prepared(a) for a in operand.args]
        for k in FORMS.get(operand.term.op.name, _NONE).named:
            if isinstance(args[k], Call):
                args[k] = self.copied(operand.term.args[k], args[k], self.kind(operand.term.args[k]))
        return Call(operand.term, tuple(args))

    def _check_places(self, operand: Any) -> None:
        """Lines that look whether all places of index arrays exist."""
        if not isinstance(operand, Call):
            return
        term = operand.term
        for arg in operand.args:
            self._check_places(arg)
        places = FORMS.get(term.op.name, _NONE).places
        for k, size in places(term) if places else ():
            index = term.args[k]
            with self.over(index.shape) as at:
                text = self.helped(f"outside({self.entry(index, operand.args[k], at, 'int64_t')}, {self.size(size)})")
                self.line(f"if ({text}) {{ status = 3; goto done; }}")


def _renamed(operand: Any, names: dict[str, str]) -> Any:
    """An operand with the names of C in place of those of the schedule."""
    if isinstance(operand, Call):
        return Call(operand.term, tuple(_renamed(a, names) for a in operand.args))
    return names.get(operand, operand)


def of_complex_numbers(form: str) -> str | None:
    """The spelling of an op for complex numbers; None where it holds for real ones only.

    >>> of_complex_numbers("1 / sqrt({0})"), of_complex_numbers("fabs((double)({0})) < INFINITY")
    ('1 / csqrt({0})', 'cabs(({0})) < INFINITY')
    >>> of_complex_numbers("floor({0})"), of_complex_numbers("{0} < {1}")
    (None, None)
    """
    if not COMPLEX.keys() >= set(called(form)) or _ORDERED.search(form):
        return None
    return CALL.sub(lambda m: f"{COMPLEX[m[1]]}(", form.replace("(double)", ""))


def written(term: Term) -> bool:
    """Whether a term can be written in C as it is."""
    if term.op.c is not None and any(a.complex_dtype for a in term.args):
        return of_complex_numbers(term.op.c) is not None
    return has_form(term, FORMS)


def lazy(term: Term) -> bool:
    """Whether an entry of a term is an expression of entries of its operands."""
    op = term.op
    if op.kind == "leaf" or op.c is not None:
        return True
    form = FORMS.get(op.name)
    if form is not None:
        return form.entry is not None and (form.loop is None or not term.params["index"].fancy)
    return op.kind == "multilinear" and not summed(term)


def said(term: Term, operand: Any) -> str:
    """An operand in words, for those who read the lines that compute it: ops by their names in the table."""
    if term.op is NUMBER or term.op is SIZE:
        return str(term.params["value" if term.op is NUMBER else "name"])
    if not isinstance(operand, Call):
        return str(operand)
    parts = (said(x, a) for x, a in zip(operand.term.args, operand.args, strict=True))
    return f"{operand.term.op.name}({', '.join(parts)})"


def once(term: Term, k: int) -> bool:
    """Whether operand ``k`` may be written where it is used: it is an expression, and read once per entry."""
    x, op = term.args[k], term.op
    if not lazy(x) or x.op is SYMBOL:
        return False
    if op.c is not None:
        return bool(x.shape == term.shape)
    form = FORMS.get(op.name)
    if form is not None:
        return form.once == "all" or (form.once == "first" and k == 0)
    return op.kind == "multilinear" and len(term.args) == 1 and set(term.labels()[1]) <= set(term.labels()[0][0])

"""The NumPy target: statements as NumPy source, through SymPy's ``lambdify`` or written directly.

Every statement's text comes from the op table (``op.code``), so eager kernels and generated code are the same text.
An op without text is called as a helper function, whose source travels with the program.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.compiler.schedule import Call, Program
from symgrad.compiler.targets.gathered import gathered
from symgrad.compiler.targets.helpers import helper_modules
from symgrad.compiler.targets.literals import (
    Endless,
    as_dtype,
    free,
    number_dtype,
    number_text,
    plain_text,
    sample,
    typed_number,
)
from symgrad.compiler.targets.memory import shows_argument
from symgrad.compiler.trace import Input, Output
from symgrad.dtypes import shared, weak_with
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, Term, postorder, with_sizes
from symgrad.op import Op
from symgrad.op.operators import WRITTEN
from symgrad.ops.elementwise.arithmetic import closed, static_number
from symgrad.ops.shapes.sizes import letters_of, size_value, spaced

FRAME = "_lambdifygenerated"
"""The function name that lambdify writes; the program's own name replaces it."""

_IDENTIFIER = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")
_HELPER = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\(")


class Writer:
    """Writes operands as source text, and notes the sizes and helpers that the text needs."""

    def __init__(self, inputs: Sequence[Input], order: Sequence[Term], sizes: dict[str, int]):
        self.names = {i.term: i.name for i in inputs}
        self.inputs = list(inputs)
        self.sizes = sizes
        taken = set(self.names.values())
        self.letters = {letter: free(letter, taken) for i in inputs for letter in i.shape if isinstance(letter, str)}
        self.taken = taken | set(self.letters.values())
        self.used: set[str] = set()
        self.helpers: dict[str, Callable[..., Any]] = {}
        self.gathered = gathered(order)
        self.repeated: set[Output] = set()
        """Results that would show the memory of others."""
        self.weak: set[Term] = set()
        for term in order:
            alone = term.op.entrywise and term.args and all(a in self.weak for a in term.args)
            if term.op is NUMBER or term.op is SIZE or (alone and _of_numbers(term)):
                self.weak.add(term)

    # -------------------------------------------------------------------------------------- leaves

    def literal(self, term: Term) -> str:
        """Text of a number or a size."""
        if term.op is SIZE:
            name = term.params["name"]
            self.used.update(letter for letter in letters_of(name) if letter in self.letters)
            return spaced(self.size(name))
        return number_text(term.params["value"])

    def size(self, letter: Any) -> str:
        """Text of a size or a size expression such as ``n*m``."""
        if not isinstance(letter, str):
            return str(letter)

        def renamed(match: re.Match[str]) -> str:
            word = match.group(0)
            return self.letters.get(word, word)

        return _IDENTIFIER.sub(renamed, letter)

    def _note_sizes(self, term: Term, text: str) -> None:
        """The sizes that made it into the text of a call must be read first."""
        words = set(_IDENTIFIER.findall(text))
        for key in term.op.size_params or ():
            value = term.params[key]
            for size in value if isinstance(value, tuple) else (value,):
                if isinstance(size, str):
                    self.used.update(
                        w for w in _IDENTIFIER.findall(size) if w in self.letters and self.letters[w] in words
                    )

    def _params(self, op: Op, params: dict[str, Any]) -> dict[str, Any]:
        for value in params.values():
            if isinstance(value, float) and not math.isfinite(value):
                params = {k: Endless(v) if isinstance(v, float) else v for k, v in params.items()}
                break
        return with_sizes(op, params, self.size)

    # -------------------------------------------------------------------------------------- calls

    def text(self, operand: Any) -> str:
        """Source of an operand; the depth of calls is bounded by the scheduler."""
        if isinstance(operand, str):
            return operand
        return self.call(operand, [self.text(a) for a in operand.args])

    def call(self, call: Call, texts: list[str]) -> str:
        """Source of one op applied to argument texts."""
        term = call.term
        op: Any = term.op
        texts = self._numbers(term, self._cast(term, texts))
        if call.whole:
            options = [f"{key}={value}" for key, value in call.whole.along(term.params).items()]
            return f"{self._function(op, call.whole.decompose)}({', '.join([texts[0], *options])})"
        params = self._params(op, term.params)
        if op.name == "cast":
            return self._cast_text(term, texts[0])
        if self.by_size(term):
            return _by_size(term, texts)
        if op.name == "remainder" and term in self.weak and not static_number(term.args[1]):
            return f"np.remainder({', '.join(texts)}).item()"  # by 0, too, where Python's numbers raise
        if op.kind != "elementwise" and term.dtype == np.int64:
            texts = [_signed(t, a) for t, a in zip(texts, term.args, strict=True)]
        if op.method is not None:
            return _reduction_text(op.method, texts[0], term.args[0].ndim, **params)
        if op.name == "einsum" and len(texts) > 2:
            shapes = tuple(tuple(size_value(s, self.sizes) for s in a.shape) for a in term.args)
            text = op.code(*texts, **params, shapes=shapes)
        elif op.code is not None:
            text = op.code(*texts, **params)
        else:
            options = [
                f"{k}={v if k in (op.size_params or ()) and isinstance(v, str) else plain_text(v)}"
                for k, v in params.items()
            ]
            leading = term.args[0].dtype if term.args else None
            kernel = op.imaginary if op.imaginary and leading is not None and leading.kind == "c" else op.kernel
            text = f"{self._function(op, kernel)}({', '.join([*texts, *options])})"
        for name in _HELPER.findall(text):
            self._need(name)
        if op.size_params:
            self._note_sizes(term, text)
        if term in self.gathered:
            return _in_memory(str(text), self.gathered[term])
        if term in self.weak and op.name not in WRITTEN:  # operators make Python numbers of Python numbers
            return f"float({text})"
        return str(text)

    def by_size(self, term: Term) -> bool:
        """Whether a term is a plain number divided by sizes, which Python refuses where arrays are empty."""
        return term in self.weak and term.op.name == "div" and term.args[1].op is not NUMBER

    def _numbers(self, term: Term, texts: list[str]) -> list[str]:
        """Plain numbers as NumPy scalars where a Python number would not do.

        Functions that change shape need an array; and a Python complex times a NumPy float is a Python complex, but
        times an array it is an array.
        What is chosen beside a plain 0, or between two plain numbers, has its dtype from nowhere else.
        """
        if term.op.dtypes == "float" and term.op.code is None:
            texts = [self._in_floats(a, text) for a, text in zip(term.args, texts, strict=True)]
        if self.weak.isdisjoint(term.args) or (term in self.weak and term.op.kind != "elementwise"):
            return texts
        if term.op.name == "where" and term not in self.weak and all(a in self.weak for a in term.args[1:]):
            natural = np.result_type(*(np.asarray(sample(a)).dtype for a in term.args[1:]))
            return texts if natural == term.dtype else [texts[0], typed_number(texts[1], term.dtype), texts[2]]
        if term.op.name == "beside" and term.args[0] in self.weak:
            typed = term.dtype != np.float64 or isinstance(sample(term.args[0]), int)
            return [typed_number(texts[0], term.dtype) if typed else texts[0], *texts[1:]]
        alone = term.op.kind != "elementwise" and all(a in self.weak for a in term.args)  # nothing else has the dtype
        if not alone and (term.op.kind == "elementwise" if term.op.weak is None else term.op.weak):
            wanted = [isinstance(a.number, complex) and not term.shape for a in term.args]
        else:
            wanted = [a in self.weak for a in term.args]
        return [
            f"np.{number_dtype(a, term)}({text})" if typed else text
            for a, text, typed in zip(term.args, texts, wanted, strict=True)
        ]

    def _function(self, op: Op, kernel: Any) -> str:
        module = getattr(kernel, "__module__", None) or "numpy"
        if isinstance(kernel, np.ufunc) or module == "numpy":
            return f"np.{kernel.__name__}"
        if module.startswith("numpy."):
            return f"np.{module[6:]}.{kernel.__name__}"
        if not inspect.isfunction(kernel) or kernel.__name__ == "<lambda>" or inspect.unwrap(kernel).__closure__:
            raise CompileError(
                f"op {op.name!r} cannot be compiled: it has no code template and its kernel is not a plain function. "
                "Give the op code=, or a kernel that is a module-level function."
            )
        self.helpers.setdefault(kernel.__name__, kernel)
        return kernel.__name__

    def _need(self, name: str) -> None:
        if name not in self.helpers:
            for module in helper_modules():
                found = vars(module).get(name)
                if inspect.isfunction(found):
                    self.helpers[name] = found
                    return

    # -------------------------------------------------------------------------------------- dtypes

    def _cast(self, term: Term, texts: list[str]) -> list[str]:
        """Argument texts with the casts that the library's promotion asks for and NumPy's would not do."""
        op = term.op
        first = 1 if op.name == "where" else 0
        if op.kind == "primitive" and not op.together:
            return texts
        considered = term.args[first:]
        target = term.dtype if op.result is None or op.name == "where" else self._common(considered)
        if target is None or (target.kind in "fc" and all(a.dtype == target for a in considered)):
            return texts
        strong = [a for a in considered if a not in self.weak]
        if not strong:
            return texts
        weak = [sample(a) for a in considered if a in self.weak]
        natural = np.result_type(*(a.dtype for a in strong), *weak)
        # A function of several steps computes with one operand alone, as in 1 - t, before the others widen it.
        alone = _in_steps(op) and any(a.dtype != target for a in strong)
        if natural == target and not alone and not (op.dtypes == "float" and natural.kind in "bui"):
            return texts
        if op.name == "div" and all(a.dtype.kind in "bui" for a in strong) and target == np.float64:
            return texts
        out = list(texts)
        for k, a in enumerate(considered, first):
            if a not in self.weak and a.dtype != target:
                out[k] = as_dtype(texts[k], target, a.shape)
        return out

    def _in_floats(self, a: Term, text: str) -> str:
        """A whole number as a float: the kernels give their results in the dtype of what they are given."""
        if a not in self.weak or not isinstance(sample(a), int):
            return text
        return f"{text}.0" if text.isdigit() else f"float({text})"

    def _common(self, terms: Sequence[Term]) -> Any:
        """The dtype in which operands meet, by the library's category rule."""
        strong = [a for a in terms if a not in self.weak]
        if not strong:
            return None
        dtype = shared(strong)
        for a in terms:
            if a in self.weak:
                dtype = weak_with(sample(a), dtype)
        return dtype

    def _cast_text(self, term: Term, text: str) -> str:
        return as_dtype(text, term.dtype, () if term.args[0] in self.weak else term.shape)

    # -------------------------------------------------------------------------------------- results

    def result(self, output: Output, operand: Any) -> str:
        """Text of a result in its traced shape and dtype."""
        term, text = output.term, self.text(operand)
        if term in self.weak:
            return as_dtype(text, output.dtype, ())
        if term.dtype is not None and term.dtype != output.dtype:
            return as_dtype(text, output.dtype, term.shape)
        if output in self.repeated or _is_view(term):
            return f"{closed(text)}.copy()" + ("[()]" if not term.shape and term.op.boxed else "")
        if not term.shape and (term.op.boxed or text.startswith("np.einsum")):
            return f"{closed(text)}[()]"
        return text

    # -------------------------------------------------------------------------------------- frame

    def size_lines(self, wanted: set[str]) -> list[tuple[str, str]]:
        """Assignments that read the sizes: ``n, m`` from ``X.shape``."""
        lines: list[tuple[str, str]] = []
        done: set[str] = set()
        for i in self.inputs:
            new = [letter for letter in i.shape if letter in wanted and letter not in done]
            if not new:
                continue
            if len(set(new)) == len(new) == len(i.shape) > 1:
                lines.append((", ".join(self.letters[letter] for letter in i.shape), f"{i.name}.shape"))
                done |= set(new)
                continue
            for axis, letter in enumerate(i.shape):
                if letter in new and letter not in done:
                    lines.append((self.letters[letter], f"{i.name}.shape[{axis}]"))
                    done.add(letter)
        return lines


def _of_numbers(term: Term) -> bool:
    """Whether an entrywise function of plain numbers is one: not what gives them a dtype, nor parts of complex ones."""
    return term.op.kind == "elementwise" or (
        term.op.name != "cast" and term.dtype is not None and term.dtype.kind != "c"
    )


def _signed(text: str, operand: Term) -> str:
    """An operand of short unsigned numbers, of which NumPy makes uint64 where the library has int64."""
    short = operand.dtype is not None and operand.dtype.kind == "u" and operand.dtype.itemsize < 8
    return as_dtype(text, np.dtype(np.int64), operand.shape) if short else text


def _in_steps(op: Op) -> bool:
    """Whether an entrywise op is a function of several steps, and no function or operator of NumPy."""
    return not isinstance(op.kernel, np.ufunc) and op.name not in WRITTEN and op.name != "where"


def _reduction_text(method: str, text: str, ndim: int, dim: tuple[int, ...], keepdim: bool) -> str:
    axes = "" if len(dim) == ndim and not keepdim else str(dim[0] if len(dim) == 1 else dim)
    return f"{closed(text)}.{method}({axes}{', keepdims=True' if keepdim else ''})"


def _by_size(term: Term, texts: Sequence[str]) -> str:
    """A plain number divided by a size, as IEEE divides: ``1 / n if n else np.inf``."""
    above, below = texts
    number = static_number(term.args[0])
    if isinstance(number, (int, float, Fraction)) and number:
        limit = "np.inf" if number > 0 else "-np.inf"
    else:
        limit = f"{closed(above)} * np.inf"
    return f"{term.op.code(above, below)} if {below} else {limit}"  # type: ignore[misc]


def _in_memory(text: str, axes: tuple[int, ...]) -> str:
    """An array as it is, in memory in which its axes lie in another order."""
    if axes == tuple(range(len(axes))):
        return f"np.ascontiguousarray({text})"
    back = ", ".join(str(axes.index(k)) for k in range(len(axes)))
    return f"np.ascontiguousarray({text}.transpose({', '.join(map(str, axes))})).transpose({back})"


class Plain:
    """Whether an argument of a term stands once in the term's text, so that a call may be written there.

    A division by a size is a statement of its own, as it tells the case of no entries.
    """

    def __init__(self, writer: Writer):
        self.writer = writer
        self.known: dict[tuple[str, int], bool] = {}

    def __call__(self, term: Term, i: int) -> bool:
        """Whether argument ``i`` stands once."""
        op = term.op
        if self.writer.by_size(term.args[i]) or self.writer.by_size(term):
            return False
        if op.code is None or op.name in ("einsum", "cast"):
            return True
        key = (op.name, i)
        if key not in self.known:
            marks = [f"a{k}_" for k in range(len(term.args))]
            text = op.code(*marks, **self.writer._params(op, term.params))
            self.known[key] = text.count(marks[i]) == 1
        return self.known[key]


def _is_view(term: Term) -> bool:
    """Whether a result would share memory with an argument, or be a read-only broadcast."""
    if term.op.name == "einsum" and len(term.args) == 1:
        return len(set(term.params["output"])) == len(term.params["output"])  # else new memory with a diagonal
    return term.op.name == "expand" or shows_argument(term)


# ---------------------------------------------------------------------------------------------- guards of warnings


def silence(order: Sequence[Term], derived: bool) -> str | None:
    """The ``errstate`` arguments a program needs: where eager code would be silent and NumPy would warn.

    Backward passes never warn; neither do functions that are right at an overflow (sigmoid), nor branches of ``where``
    that are not taken.
    """
    ops = {t.op for t in order if not (t.op.name in ("div", "pow") and _harmless(t))}
    singular = any(op.regular or op.overflows for op in ops)
    if singular and (derived or any(op.chooses for op in ops)):
        return 'all="ignore"'
    kinds = sorted({op.quiet for op in ops if op.quiet is not None})
    return ", ".join(f'{kind}="ignore"' for kind in kinds) or None


def _harmless(term: Term) -> bool:
    other = term.args[1]
    if term.op.name == "div":
        return other.op is SIZE or (other.op is NUMBER and other.number != 0)
    return isinstance(other.number, int) and other.number >= 0


# ---------------------------------------------------------------------------------------------- the two routes

DIRECT = 40
"""Statements beyond which the same source is written without lambdify, which takes five times as long."""


def body(writer: Writer, program: Program, outputs: Sequence[Output], direct: bool | None = None) -> str:
    """The text of the function, under the name that lambdify gives it."""
    if direct is None:
        direct = len(program.statements) > DIRECT
    return directly(writer, program, outputs) if direct else through_sympy(writer, program, outputs)


def directly(writer: Any, program: Program, outputs: Sequence[Output]) -> str:
    """The text, written statement by statement."""
    lines = [f"    {target} {sign} {writer.text(operand)}" for target, sign, operand in program.statements]
    results = [writer.result(o, r) for o, r in zip(outputs, program.results, strict=True)]
    value = ", ".join(results) or "()"
    sizes = [f"    {name} = {text}" for name, text in writer.size_lines(writer.used)]
    head = f"def {FRAME}({', '.join(i.name for i in writer.inputs)}):"
    return "\n".join([head, *sizes, *lines, f"    return {value}"]) + "\n"


_MARKS = {"=": "", "+=": "._plus", "-=": "._minus"}
"""Ends of targets: lambdify, which writes ``target = value`` only, takes them for attributes."""


def through_sympy(writer: Writer, program: Program, outputs: Sequence[Output]) -> str:
    """The text that ``sympy.lambdify`` writes when it is given our straight-line list and our printer."""
    import linecache

    import sympy

    from symgrad.compiler.targets.sympy_nodes import CallNode, ListPrinter, Result

    variable: dict[str, Any] = {}

    def symbol(name: str) -> Any:
        if name not in variable:
            variable[name] = sympy.Symbol(name)
        return variable[name]

    def node(operand: Any) -> Any:
        return symbol(operand) if isinstance(operand, str) else CallNode(operand, [node(a) for a in operand.args])

    pairs = [(symbol(target + _MARKS[sign]), node(operand)) for target, sign, operand in program.statements]
    results = [Result(o, r, node(r)) for o, r in zip(outputs, program.results, strict=True)]
    value = results[0] if len(results) == 1 else tuple(results)
    printer = ListPrinter(writer)
    for _, call in pairs:
        printer.doprint(call)  # finds out which sizes are needed before they are read in the first lines
    for r in results:
        printer.doprint(r)
    sizes = [(sympy.Symbol(name), sympy.Symbol(text)) for name, text in writer.size_lines(writer.used)]
    arguments = [symbol(i.name) for i in writer.inputs]
    straight = [*sizes, *pairs]
    function = sympy.lambdify(
        arguments, value, modules=[{"np": np}], printer=printer, cse=lambda _: (straight, value), docstring_limit=0
    )
    text = "".join(linecache.getlines(function.__code__.co_filename))
    for sign, mark in _MARKS.items():
        text = text.replace(f"{mark} = ", f" {sign} ") if mark else text
    if len(results) > 1:  # which lambdify writes as (a, b,)
        rest, _, row = text.rpartition("    return (")
        text = f"{rest}    return {row.removesuffix(',)' + chr(10))}\n"
    return text


def order_of(outputs: Sequence[Term]) -> list[Term]:
    """All terms of a program, arguments first."""
    return postorder(outputs)

"""Saving a program as one C99 file: its formula, the function, and a self-test with stored values under a macro."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler import schedule
from symgrad.compiler.exports.alone import described, sample_for
from symgrad.compiler.exports.shared import (
    check_seen,
    in_lines,
    inputs_of,
    known_arguments,
    number_texts,
    outputs_of,
    result_names,
    sizes_of_constants,
    traced,
)
from symgrad.compiler.program import Compiled
from symgrad.compiler.targets.c.library import LIBRARY
from symgrad.compiler.targets.c.texts import c_name, constant, is_complex, is_taken, literal, type_of
from symgrad.compiler.targets.c.writer import Writer, once, written
from symgrad.compiler.targets.libraries import with_theirs
from symgrad.compiler.trace import Input, Output
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, postorder

_WORD = re.compile(r"\b[^\W\d]\w*")
_INCLUDES = ("math", "stdbool", "stddef", "stdint", "stdlib")

_ROOM = """/* Memory for a temporary array; never none of it. */
static void *room(size_t each, ptrdiff_t count)
{
    return malloc(each * (size_t)count + 1);
}"""

_CODES = {
    1: "1 where there is no memory for temporary arrays",
    2: "2 where a size does not suit the program",
    3: "3 where a place in an array of places does not exist",
    4: "4 where a matrix is singular or not positive definite",
    5: "5 where what the function looked at is not as it was",
}


def text_of(program: Compiled) -> str:
    """The C99 file of a program.

    Raises ``CompileError`` for half precision, for ops that C programs do not have, which it names, and for programs
    that looked at very many values.
    """
    traced(program, "C")
    inputs = inputs_of(program)
    if is_taken(program.name):
        raise CompileError(f"{program.name}() has a name that C has for something else. Compile it with another name=.")
    taken = {program.name}
    writer = Writer(inputs, taken)
    outputs = outputs_of(program, written, "C")
    looked, way = _way(program, writer)
    body = _function(program, writer, inputs, outputs, way)
    arguments, results, (rtol, _) = sample_for(program, outputs, "C", writer.ordered)
    test = _selftest(program, writer, arguments, results, rtol)
    constants = _constants(program, writer, inputs)
    words = set(_WORD.findall("\n".join([body, *looked])))
    helpers = [LIBRARY[name] for name in with_theirs(writer.helpers & words, LIBRARY)]
    parts = [_header(program, writer, body), "", *helpers]
    parts += [_ROOM] if "room(" in "".join([body, *looked]) else []
    parts += [f"static const int64_t {n}[] = {{\n{_rows(v, 'int64_t')}\n}};" for n, v in writer.constants.items()]
    parts += [*constants, *looked, body, test]
    names = sorted([*_INCLUDES, *["complex"] * any(" complex" in part for part in parts[1:])])
    parts[1] = "\n".join(f"#include <{name}.h>" for name in names)
    return "\n\n".join(parts) + "\n"


def _constants(program: Compiled, writer: Writer, inputs: Sequence[Input]) -> list[str]:
    """The arrays that the program took from elsewhere, as data of the file."""
    return [
        _array("static const", f"{writer.names[i.term]}", type_of(i.dtype, i.name), a.default)
        for a, i in zip(known_arguments(program), inputs, strict=True)
        if a.default is not None and np.ndim(a.default)
    ]


def _way(program: Compiled, writer: Writer) -> tuple[list[str], list[str]]:
    """What a function looked at: one that computes it, as text, and the lines that compare it with what was seen.

    The lines stand in the function of ``writer``, which shares its names and helpers with that other one.
    """
    guards = program.guards
    if guards is None:
        return [], []
    check_seen(program)
    inner = guards.program
    inputs, outputs = inputs_of(inner), outputs_of(inner, written, "C")
    own = Writer(inputs, writer.taken)
    name = c_name(f"{program.name}_looked_at", writer.taken)
    sizes = {} if inner.trace is None else inner.trace.sizes
    given = [writer.letters.get(letter, str(sizes.get(letter))) for letter in own.letters]
    given += [writer.names[i.term] for a, i in zip(known_arguments(inner), inputs, strict=True) if a.default is None]
    lines: list[str] = []
    data: list[str] = []
    for k, (seen, output) in enumerate(zip(guards.seen, outputs, strict=True), 1):
        kind, local = type_of(seen.dtype, "a value"), c_name(f"looked{k}", writer.taken)
        fitting = [
            f"    if ({writer.size(size)} != {n}) return 2;"
            for size, n in zip(output.shape, seen.shape, strict=True)
            if isinstance(size, str)
        ]
        if not seen.ndim:
            lines.append(f"    {kind} {local};")
            given.append(f"&{local}")
            data.append(_unlike(local, literal(seen.item(), kind), kind))
            continue
        known = c_name(f"seen{k}", writer.taken)
        lines += [*fitting, f"    {kind} {local}[{max(1, seen.size)}];"]
        given.append(local)
        data.append(f"    static const {kind} {known}[] = {{\n{_rows(seen, kind)}\n    }};")
        loop = f"    for (int k = 0; k < {seen.size}; k++)\n    "
        data.append(loop + _unlike(f"{local}[k]", f"{known}[k]", kind))
    text = _function(inner, own, inputs, outputs, called=name)
    writer.helpers |= own.helpers
    writer.constants |= own.constants
    shared = _constants(inner, own, inputs)
    way = c_name("way", writer.taken)
    lines += [f"    int {way} = {name}({', '.join(given)});", f"    if ({way}) return {way};", *data]
    return [*shared, f"static {text}"], lines


def _unlike(found: str, seen: str, kind: str) -> str:
    """The line that leaves the function where a value is another one; nan is nan."""
    nan = f" && ({found} == {found} || {seen} == {seen})" if kind in ("double", "float") else ""
    return f"    if ({found} != {seen}{nan}) return 5;"


def _function(
    program: Compiled,
    writer: Writer,
    inputs: Sequence[Input],
    outputs: Sequence[Output],
    way: Sequence[str] = (),
    called: str | None = None,
) -> str:
    """The function: sizes, arguments and results as parameters; declarations, conditions, statements, the way out.

    ``way``: lines that come after the conditions.
    """
    terms = [o.term for o in outputs]
    writer.plain = _plain(terms)
    made = schedule.schedule(terms, postorder(terms), writer.names, lambda term: "", once, writer.taken, False, False)
    names = result_names(outputs)
    writer.write(made, outputs, [name if o.shape else f"*{name}" for name, o in zip(names, outputs, strict=True)])
    conditions = [f"{size} >= {least}" for size, least in writer.least.items()]
    conditions += [f"{writer.size(size)} >= {writer.size(other)}" for size, other in writer.ordered]
    conditions += [f"{writer.size(letter)} == {size}" for letter, size in sizes_of_constants(program).items()]
    lines = [f"    {kind} *{name};" for name, kind in writer.memory.items()]
    # What is to be freed stands in one array: a compiler that follows hundreds of pointers to ``done`` takes minutes.
    lines += [f"    void *held[{len(writer.memory)}] = {{0}};"] * bool(writer.memory)
    lines += [f"    {kind} {name} = 0;" for name, kind in writer.scalars.items()]
    for a, i in zip(known_arguments(program), inputs, strict=True):
        if a.default is not None and not np.ndim(a.default):
            kind = type_of(a.dtype, a.name)
            lines.append(f"    const {kind} {writer.names[i.term]} = {literal(a.default.item(), kind)};")
    statements = "\n".join(writer.lines)
    jumps = "goto done" in statements
    lines += ["    int status = 0;"] * jumps
    lines += [f"    if (!({c})) return 2;" for c in conditions]
    lines += [*way, "", *writer.lines]
    lines += ["done:"] if jumps else []
    lines += [f"    for (int k = 0; k < {len(writer.memory)}; k++) free(held[k]);"] * bool(writer.memory)
    lines += ["    return status;" if jumps else "    return 0;"]
    parameters = [f"ptrdiff_t {letter}" for letter in writer.letters.values()]
    used = set(_WORD.findall("\n".join(lines)))
    unused: list[str] = []
    for a, i in zip(known_arguments(program), inputs, strict=True):
        if a.default is None:
            kind = type_of(a.dtype, a.name)
            name = writer.names[i.term]
            parameters.append(f"const {kind} *{name}" if a.shape else f"{kind} {name}")
            unused += [name] * (name not in used)
    unused = [letter for letter in writer.letters.values() if letter not in used] + unused
    lines[:0] = [f"    (void){name};" for name in unused]
    parameters += [f"{type_of(o.dtype, 'a result')} *{name}" for name, o in zip(names, outputs, strict=True)]
    return f"int {called or program.name}({', '.join(parameters)})\n{{\n" + "\n".join(lines) + "\n}"


def _plain(terms: Sequence[Any]) -> set[Any]:
    """Numbers made of sizes alone, such as ``n - 0.5``: Python computes them in double precision."""
    found: set[Any] = set()
    for term in postorder(terms):
        if term.op in (NUMBER, SIZE) or (term.args and not term.shape and found.issuperset(term.args)):
            found.add(term)
    return found


def _header(program: Compiled, writer: Writer, body: str) -> str:
    """The comment at the top: what goes in and comes out, the formula, and what the function gives back."""
    lines = [f"{program.name}: C99 written by symgrad.", ""]
    if writer.letters:
        lines += [f"Sizes: {', '.join(writer.letters.values())}"]
    lines += described(program)
    codes = [text for code, text in _CODES.items() if f"status = {code}" in body or (code == 2 and "return 2" in body)]
    codes += [_CODES[5]] * ("return 5" in body)
    codes += (
        [_CODES[4]] if "status = " in body and any(f"{n}(" in body for n in ("solve", "cholesky", "triangular")) else []
    )
    lines += ["", "Arrays lie row by row; results are memory of the caller that overlaps no argument."]
    lines += [f"Gives 0{''.join(f', {text}' for text in codes)}."]
    lines += ["", "`cc -std=c99 -O2 -DSELFTEST <this file> -lm && ./a.out` compares it with stored values."]
    text = "\n".join(
        f" * {line}".rstrip() for line in "\n".join(lines).replace("*/", "* /").replace("/*", "/ *").splitlines()
    )
    return f"/*\n{text}\n */"


def _rows(values: Any, kind: str) -> str:
    """Numbers with commas, in lines of a page's width."""

    def spelled(value: Any) -> str:
        return constant(value, kind)

    texts = number_texts(values, spelled, kind == "double") or [spelled(0)]
    return in_lines(", ".join(texts) + ",", "    ")


def _array(words: str, name: str, kind: str, value: Any) -> str:
    return f"{words} {kind} {name}[] = {{\n{_rows(value, kind)}\n}};"


def _selftest(program: Compiled, writer: Writer, arguments: Sequence[Any], results: Sequence[Any], rtol: float) -> str:
    """``main`` under the macro SELFTEST: the function at stored arguments against stored results."""
    lines = ["#ifdef SELFTEST", "#include <stdio.h>", ""]
    sizes: dict[str, int] = {}
    call: list[str] = []
    for a, value in zip(program.arguments, arguments, strict=True):
        if a.shape == (...,):
            continue
        sizes.update((s, n) for s, n in zip(a.shape, np.shape(value), strict=True) if s in writer.letters)
        if a.default is not None:
            continue
        kind = type_of(a.dtype, a.name)
        if a.shape:
            lines.append(f"static const {kind} argument{len(call)}[] = {{\n{_rows(value, kind)}\n}};")
            call.append(f"argument{len(call)}")
        else:
            call.append(constant(np.asarray(value).item(), kind))
    missing = [letter for letter in writer.letters if letter not in sizes]
    if missing:
        raise CompileError(f"{program.name}(): no argument has the size {missing[0]} alone, so C could not be told it.")
    checks = []
    for k, value in enumerate(results):
        kind = type_of(np.asarray(value).dtype, "a result")
        own, found = ("double", f"((const double *)found{k})") if is_complex(kind) else (kind, f"found{k}")
        if is_complex(kind):  # compared part by part
            value = np.stack([np.real(value), np.imag(value)], -1)
            own, found = ("float", f"((const float *)found{k})") if kind.startswith("float") else (own, found)
        count = int(np.size(value))
        lines.append(f"static const {own} stored{k}[] = {{\n{_rows(value, own)}\n}};")
        lines.append(f"static {kind} found{k}[{max(1, count // 2 if is_complex(kind) else count)}];")
        checks.append(f"    for (ptrdiff_t i = 0; i < {count}; i++)")
        checks.append(f"        failures += differs((double){found}[i], (double)stored{k}[i]);")
    given = [*(str(sizes[letter]) for letter in writer.letters), *call, *(f"found{k}" for k in range(len(results)))]
    lines += [
        "",
        "static int differs(double found, double stored)",
        "{",
        "    if (found == stored || (found != found && stored != stored)) return 0;",
        f"    return !(fabs(found - stored) <= {rtol} * (1 + fabs(stored)));",
        "}",
        "",
        "int main(void)",
        "{",
        "    int failures = 0;",
        f"    int status = {program.name}({', '.join(given)});",
        *checks,
        '    printf("%s: %d differences, status %d\\n", failures || status ? "self-test FAILED" : "self-test passed",',
        "           failures, status);",
        "    return failures || status;",
        "}",
        "#endif",
    ]
    return "\n".join(lines)

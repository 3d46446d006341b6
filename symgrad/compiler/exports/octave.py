"""Saving a program as one file for GNU Octave and MATLAB: the function on whole arrays, its formula, a self-test."""

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
from symgrad.compiler.targets.libraries import with_theirs
from symgrad.compiler.targets.octave.library import LIBRARY
from symgrad.compiler.targets.octave.spelling import number, octave_name
from symgrad.compiler.targets.octave.writer import CLASSES, Writer, has_form, once
from symgrad.compiler.trace import Input
from symgrad.errors import ArgumentError, CompileError
from symgrad.formula.term import postorder
from symgrad.ops.shapes.sizes import letters_of

_NAME = re.compile(r"[A-Za-z]\w*\Z", re.ASCII)

_TAKEN = """% An argument as an array of its class and size; a row stands for the column of a vector.
function x = taken(x, name, wanted, dims, words)
    whole = any(strcmp(wanted, {'logical', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'}));
    imaginary = ~isempty(strfind(wanted, 'complex'));
    if ~(isnumeric(x) || islogical(x)) || ~(isreal(x) || imaginary) || (whole && any(x(:) ~= fix(x(:))))
        error('symgrad:dtype', '%s has entries that do not go into %s', name, wanted);
    end
    if numel(dims) < 2
        dims = [dims, ones(1, 2 - numel(dims))];
        if dims(2) == 1 && size(x, 1) == 1 && ndims(x) == 2
            x = x(:);
        end
    end
    found = size(x);
    found = [found, ones(1, numel(dims) - numel(found))];
    if numel(found) > numel(dims) || any(found ~= dims & ~isnan(dims))
        error('symgrad:size', '%s has size %s, but must be %s, which is %s here', name, mat2str(found), words, ...
            mat2str(dims));
    end
    if strncmp(wanted, 'single', 6)
        x = single(x);
    elseif strcmp(wanted, 'logical')
        x = x ~= 0;
    else
        x = double(x);
    end
end"""

_DIFFERS = """function n = differs(k, found, stored, rtol)
    n = 0;
    close = abs(double(found) - double(stored)) <= rtol * (1 + abs(double(stored)));
    close = close | found == stored | (isnan(found) & isnan(stored));
    if ~strcmp(class(found), class(stored)) || ~all(close(:))
        n = 1;
        fprintf('result %d DIFFERS from the stored value\\n', k);
    else
        fprintf('result %d: as stored\\n', k);
    end
end"""


def text_of(program: Compiled, called: str | None = None) -> str:
    """The file of a program, in which the function has the name ``called``: Octave and MATLAB find it by its file.

    Raises ``CompileError`` for half precision, for ops that have no form there, which it names, and for programs that
    looked at very many values; ``ArgumentError`` for a name that is none there.
    """
    traced(program, "Octave")
    name = called or program.name
    if not _NAME.match(name) or octave_name(name, set()) != name:
        raise ArgumentError(
            f"save(): Octave calls a function by the name of its file, and {name!r} is no name of its own there; take "
            "letters, digits and underscores, as in gradient.m."
        )
    between = (t.dtype for t in postorder(program.terms) if t.dtype is not None)
    for dtype in (*(a.dtype for a in known_arguments(program)), *(dtype for _, dtype in program.results), *between):
        if dtype.name not in CLASSES and dtype.kind not in "iu":
            raise CompileError(
                f"{program.name}() has dtype {dtype}, which Octave has not. Save the program as a Python file."
            )
    own = {name, f"{name}_looked_at", *LIBRARY, "taken", "differs", "selftest"}
    inputs, outputs, writer = _written(program, own)
    looked, way, needed = _way(program, name, writer, own)
    function = _function(program, name, writer, inputs, outputs, way)
    arguments, values, (rtol, _) = sample_for(program, outputs, "Octave")
    test = _selftest(program, name, arguments, values, rtol)
    text = "\n\n".join([*looked, function, test])
    needed |= writer.helpers | ({"rows"} if "rows(" in text else set())
    helpers = [LIBRARY[h] for h in with_theirs(needed, LIBRARY)]
    return "\n\n".join([_header(program, name) + "\n" + function, *looked, _TAKEN, *helpers, test, _DIFFERS]) + "\n"


def _written(program: Compiled, taken: set[str]) -> tuple[Sequence[Input], Sequence[Any], Writer]:
    """The inputs and results of a program, and the writer with its statements."""
    inputs, outputs = inputs_of(program), outputs_of(program, has_form, "Octave")
    writer = Writer(inputs, set(taken))
    terms = [o.term for o in outputs]
    order, own = postorder(terms), set(writer.taken)
    made = schedule.schedule(terms, order, writer.names, writer.literal, once, own, False, False)
    writer.write(made, outputs, result_names(outputs))
    return inputs, outputs, writer


def _way(program: Compiled, name: str, writer: Writer, taken: set[str]) -> tuple[list[str], list[str], set[str]]:
    """What a function looked at: one that computes it, the lines that compare it with what was seen, and helpers."""
    guards = program.guards
    if guards is None:
        return [], [], set()
    check_seen(program)
    inputs, outputs, own = _written(guards.program, taken)
    found = [f"looked{k}" for k in range(1, len(outputs) + 1)]
    given = [
        writer.names[i.term] for a, i in zip(known_arguments(guards.program), inputs, strict=True) if a.default is None
    ]
    lines = [f"[{', '.join(found)}] = {name}_looked_at({', '.join(given)});"]
    for k, seen in zip(found, guards.seen, strict=True):
        lines += [
            f"if ~isequaln({k}, {_array(seen)})",
            f"    error('symgrad:way', '{name}: what the function looked at is not as it was; export it for that');",
            "end",
        ]
    text = _function(guards.program, f"{name}_looked_at", own, inputs, outputs, None)
    return [text], lines, own.helpers


def _function(
    program: Compiled,
    name: str,
    writer: Writer,
    inputs: Sequence[Input],
    outputs: Sequence[Any],
    way: Sequence[str] | None,
) -> str:
    """The function: its head, its arguments, which are looked at, and its statements.

    ``way``: lines that come after the arguments; None for a function that the others call, with arguments looked at.
    """
    results = result_names(outputs)
    given = dict(zip((a.name for a in known_arguments(program)), (writer.names[i.term] for i in inputs), strict=True))
    known = {a.name: a for a in known_arguments(program)}
    named = [octave_name(a.name, writer.taken) if a.shape == (...,) else given[a.name] for a in program.arguments]
    parameters = [
        n
        for n, a in zip(named, program.arguments, strict=True)
        if a.default is None and (way is not None or a.shape != (...,))
    ]
    letters = {letter: str(size) for letter, size in sizes_of_constants(program).items()}
    lines = [f"{writer.letters[letter]} = {size};" for letter, size in letters.items()]
    lines += [f"{given[a.name]} = {_array(a.default)};" for a in known.values() if a.default is not None]
    for a in known.values():
        if a.default is None:
            lines += _sizes_of(a, given[a.name], writer, letters)
    missing = sorted({x for s in writer.used for x in letters_of(s)} - letters.keys())
    if missing:
        raise CompileError(f"{name}(): no argument has the size {missing[0]} alone, so Octave could not be told it.")
    for a in known.values() if way is not None else ():
        if a.default is None:
            sizes = [
                writer.size(s) if not isinstance(s, str) or letters_of(s) <= letters.keys() else "NaN" for s in a.shape
            ]
            words = "a scalar" if not a.shape else " x ".join(map(str, a.shape)) + (" x 1" if len(a.shape) == 1 else "")
            wanted = CLASSES.get(a.dtype.name, a.dtype.name) + " complex" * (a.dtype.kind == "c")
            own = given[a.name]
            lines.append(f"{own} = taken({own}, '{own}', '{wanted}', [{', '.join(sizes)}], '{words}');")
    test = (
        []
        if way is None or not parameters
        else [
            f"if nargin == 1 && ischar({parameters[0]}) && strcmp({parameters[0]}, 'selftest')",
            "    selftest();",
            "    return",
            "end",
        ]
    )
    head = f"[{', '.join(results)}]" if len(results) > 1 else results[0]
    body = [*test, *lines, *(way or ()), *writer.lines]
    text = "\n".join(f"    {line}" for line in body)
    return f"function {head} = {name}({', '.join(parameters)})\n{text}\nend"


def _sizes_of(a: Any, name: str, writer: Writer, letters: dict[str, str]) -> list[str]:
    """The lines that read sizes off an argument."""
    lines = []
    for axis, size in enumerate(a.shape):
        if isinstance(size, str) and size.isidentifier() and size not in letters:
            letters[size] = name
            read = f"numel({name})" if len(a.shape) == 1 else f"size({name}, {axis + 1})"
            lines.append(f"{writer.letters[size]} = {read};")
    return lines


def _header(program: Compiled, name: str) -> str:
    whole = any(t.dtype is not None and t.dtype.kind in "iu" for t in postorder(program.terms))
    lines = [f"{name}: Octave and MATLAB source written by symgrad.", "", *described(program), ""]
    lines += ["A vector is a column; a row is taken for one. Axes are in the order that is told above."]
    lines += ["Whole numbers are computed with as doubles, which hold them up to 2^53; places count from 0."] * whole
    lines += ["", f"`octave-cli --eval \"{name}('selftest')\"` compares it with stored values."]
    return "\n".join(f"% {line}".rstrip() for line in "\n".join(lines).splitlines())


# ---------------------------------------------------------------------------------------------- numbers


def _array(value: Any) -> str:
    """Source that gives an array back to the last bit, of its class.

    >>> _array(np.array([0.5, 2.0])), _array(np.float32(1)), _array(np.zeros((0, 2)))
    ('[0.5; 2.0]', 'single(1.0)', 'zeros(0, 2)')
    """
    array = np.asarray(value)
    text = _entries(array)
    kind = CLASSES.get(array.dtype.name, array.dtype.name)
    return text if kind == "double" else f"{kind}({text})"


def _entries(array: Any) -> str:
    if not array.size:
        return f"zeros({', '.join(map(str, (*array.shape, 1)[: max(2, array.ndim)]))})"
    if not array.ndim:
        return _number(array.item())
    if array.ndim > 2:
        shape = ", ".join(map(str, array.shape))
        return f"rows({_entries(array.ravel())}, 1, [{shape}])"
    texts, width = number_texts(array, _number, True), array.size // len(array)
    rows = texts if width == 1 else [", ".join(texts[k : k + width]) for k in range(0, len(texts), width)]
    return in_lines(f"[{'; '.join(rows)}]", " " * 8, " ...", "")


def _number(value: Any) -> str:
    return number(int(value) if isinstance(value, bool) else value)


def _selftest(program: Compiled, name: str, arguments: Sequence[Any], results: Sequence[Any], rtol: float) -> str:
    """The function at stored arguments against stored results; an error where it gives others."""
    given = [
        "0" if a.shape == (...,) else _array(value)
        for a, value in zip(program.arguments, arguments, strict=True)
        if a.default is None
    ]
    found = [f"found{k}" for k in range(len(results))]
    lines = [f"argument{k} = {text};" for k, text in enumerate(given)]
    call = f"{name}({', '.join(f'argument{k}' for k in range(len(given)))})"
    lines.append(f"[{', '.join(found)}] = {call};")
    lines.append("failures = 0;")
    for k, value in enumerate(results):
        lines.append(f"stored = {_array(value)};")
        lines.append(f"failures = failures + differs({k}, found{k}, stored, {number(rtol)});")
    lines += ["if failures", "    error('self-test FAILED');", "end", "fprintf('self-test passed\\n');"]
    text = "\n".join(f"    {line}" for line in lines)
    return f"function selftest()\n{text}\nend"

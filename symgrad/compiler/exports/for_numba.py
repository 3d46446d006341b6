"""Saving a program as one file for Numba: the function on NumPy's arrays, compiled to machine code at its first call.

Before it is written, the file is run on samples, which compiles all of it: what Numba cannot compile is refused then.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from symgrad.compiler.exports.alone import (
    _CHECKED,
    _END,
    _SELFTEST,
    _layout,
    _made,
    array_text,
    of_sizes,
)
from symgrad.compiler.exports.frameworks import headed, run_before, run_file
from symgrad.compiler.exports.places import of_places
from symgrad.compiler.targets.frameworks.for_numba import NUMBA
from symgrad.compiler.targets.frameworks.rewriting import Rewritten, rewritten

_WRAPPER = '''def {name}({signature}):
    """{words}"""
{check}    found = _compiled({row})
    found = found if isinstance(found, tuple) else (found,)
    found = tuple([np.asarray(value, dtype)[()] for value, dtype in zip(found, _DTYPES)])
    return found if len(found) > 1 else found[0]


'''


def text_of(program: Any) -> str:
    """The file of a program for Numba, which must be installed, as the file is run before it is written.

    Raises ``CompileError`` for programs that hold for one way through a function, for calls that Numba has no form for,
    which it names with their ops, and for files that do not give what the NumPy program gives.
    """
    return run_before(
        program,
        "numba",
        "symgrad[numba]",
        lambda: rewritten(program.source, program.name, NUMBA, None),
        lambda body, sample: _text(program, body, sample),
        lambda text: run_file(program, "numba", text, contextlib.nullcontext(), _said),
        2,
    )


def _said(error: Exception) -> str:
    """What Numba raises, with the function that it does not compile and the line, where it tells them."""
    named = re.search(r"(?:Function\(<(?:function|built-in function|ufunc|intrinsic)|function) '?([\w.]+)", str(error))
    line = re.search(r"def _compiled.*?\n|^\s*(t\d+ = .*|return .*)$", str(error), re.MULTILINE)
    why = f"{type(error).__name__}: {named[1] if named else str(error).strip()[:200]}"
    return why + (f" in {line[1].strip()}" if line and line[1] else "")


def _text(program: Any, body: Rewritten, sample: tuple[Any, ...]) -> str:
    arguments, results, loose = sample
    names = [a.name for a in program.arguments]
    constants = {a.name: a.default for a in program.arguments if a.default is not None}
    signature = ", ".join(f"{n}={n}" if n in constants else n for n in names)
    row = f"{', '.join(names)}{',' * (len(names) == 1)}"
    check = f"    {row} = _checked({', '.join(f'{n}={n}' for n in names)})\n" if names else ""
    lines = [f"{name} = {array_text(value)}\n" for name, value in constants.items()]
    lines += ["\n\n", *(f"@numba.njit\n{text}\n\n" for text in body.helpers.values())]
    lines.append(f"@numba.njit\n{_renamed(body.source, program.name, names)}\n\n")
    words = program.source.split('"""')[1] if '"""' in program.source else program.name
    made = _made(program) + of_sizes(program) + of_places(program, "numba")
    inside = ", ".join(f'np.asarray({n}, order="C")[()]' for n in names)
    lines.append(_WRAPPER.format(name=program.name, signature=signature, words=words.strip(), check=check, row=inside))
    lines += [_layout(program), _CHECKED.format(name=program.name, made=made)]
    dtypes = [dtype for _, dtype in program.results]
    lines.append(f"_DTYPES = {[str(d) for d in dtypes]!r}\n_PROGRAM = {program.name}\n")
    for title, values in (("_ARGUMENTS", arguments), ("_RESULTS", results)):
        lines.append(f"{title} = [\n{''.join(f'    {array_text(v)},{chr(10)}' for v in values)}]\n")
    code = "".join(lines) + f"_RTOL = {loose[0]}\n\n" + _SELFTEST.format(name=program.name) + _END.format()
    return headed(program, "NumPy source for Numba,", NUMBA, code)


def _renamed(source: str, name: str, names: list[str]) -> str:
    """The function as the one that Numba compiles: without defaults, as it is given all of its arguments."""
    _, _, body = source.split("\n", 2)
    return f"def _compiled({', '.join(names)}):\n{body}".replace(f"def {name}(", "def _compiled(", 1)

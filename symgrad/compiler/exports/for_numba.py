"""Saving a program as one file for Numba: the function on NumPy's arrays, compiled to machine code at its first call.

Before it is written, the file is run on samples, which compiles all of it: what Numba cannot compile is refused then.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import warnings
from typing import Any

from symgrad.compiler.exports.alone import (
    _CHECKED,
    _END,
    _SELFTEST,
    _layout,
    _made,
    _steady,
    array_text,
    samples,
)
from symgrad.compiler.exports.frameworks import headed
from symgrad.compiler.targets.frameworks.for_numba import NUMBA
from symgrad.compiler.targets.frameworks.rewriting import Missing, Rewritten, rewritten
from symgrad.errors import CompileError
from symgrad.formula.term import postorder

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
    if program.guards is not None:
        raise CompileError(
            f"{program.name}() holds for one way through a function that looked at values, so it is not written for "
            "numba. Use where(condition, a, b) in the function."
        )
    if importlib.util.find_spec("numba") is None:
        raise CompileError(
            "A file for numba is run before it is written, and numba is not installed: pip install symgrad[numba]."
        )
    try:
        body = rewritten(program.source, program.name, NUMBA, None)
    except Missing as missing:
        raise CompileError(_refusal(program, str(missing))) from None
    found = list(samples(program, None))
    if not found:
        raise CompileError(f"{program.name} fails on every sample, so it cannot be given a self-test.")
    text = _text(program, body, found[0])
    for sample in (found[0], *(s for s in found[1:2] if _steady(program, *s))):
        _run(program, text if sample is found[0] else _text(program, body, sample))
    return text


def _refusal(program: Any, call: str) -> str:
    name = call.removeprefix("np.").removeprefix(".")
    ops = {t.op for t in postorder(program.terms)}
    names = sorted(op.name for op in ops if name in (op.name, getattr(op.kernel, "__name__", None)))
    of = f" (of {', '.join(names)})" if names and names != [name] else ""
    return (
        f"{program.name}() calls {call}{of}, for which there is no form in numba. Save it as .py, which NumPy runs, or "
        "write the function without that."
    )


def _run(program: Any, text: str) -> None:
    """Run the self-test of a file; ``CompileError`` where Numba cannot compile it or finds other values."""
    why = "its values differ"
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scope: dict[str, Any] = {"__name__": "symgrad_export"}
            exec(compile(text, "<export>", "exec"), scope)  # noqa: S102  (text that was written here)
            if not scope["_selftest"]():
                return
    except Exception as error:  # noqa: BLE001  (whatever Numba raises: the file is not written)
        named = re.search(
            r"(?:Function\(<(?:function|built-in function|ufunc|intrinsic)|function) '?([\w.]+)", str(error)
        )
        line = re.search(r"def _compiled.*?\n|^\s*(t\d+ = .*|return .*)$", str(error), re.MULTILINE)
        why = f"{type(error).__name__}: {named[1] if named else str(error).strip()[:200]}"
        why += f" in {line[1].strip()}" if line and line[1] else ""
    ops = sorted({t.op.name for t in postorder(program.terms)} - {"symbol", "number", "size"})
    raise CompileError(
        f"{program.name}() was not written for numba: it does not compile what the NumPy program calls, or gives other "
        f"values ({why}). Its ops are {', '.join(ops)}. Save it as .py, which NumPy runs."
    )


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
    inside = ", ".join(f'np.asarray({n}, order="C")[()]' for n in names)
    lines.append(_WRAPPER.format(name=program.name, signature=signature, words=words.strip(), check=check, row=inside))
    lines += [_layout(program), _CHECKED.format(name=program.name, made=_made(program))]
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

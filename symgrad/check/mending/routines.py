"""The user's functions that compute a gradient: their texts, the lines that ran, and running them with other texts."""

from __future__ import annotations

import ast
import gc
import linecache
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from symgrad.notices import is_of_program

_OUTWARD = frozenset(
    """open write writelines remove unlink rename rmdir makedirs mkdir system popen Popen run call check_call kill
    check_output fork exec eval compile save savez savetxt savez_compressed tofile dump dumps send sendall post put
    delete request urlopen connect execute input exit _exit sleep submit shuffle seed ctypes data_as cast byref POINTER
    from_buffer as_strided ndpointer CDLL dlopen ffi""".split()  # noqa: SIM905  (words)
)
"""Names in functions that reach out of the program, or into memory: these are run as they are written only."""

_PYTHON = str(Path(os.__file__).parent) + os.sep
"""Where Python's own modules are."""

LONGEST = 400
"""Lines of a function that is looked at."""


@dataclass
class Routine:
    """A function of the user's, as it is written.

    ``text`` is that of its definition, indented as little as it can be, ``tree`` the syntax of it, ``body`` where its
    first statement begins, ``first`` the number of its first line in the file; ``ran`` holds the lines of the file that
    ran, ``shared`` those that the function under the derivative runs as well, ``held`` what its variables held last.
    ``repeated`` are the lines that stand in the function under the derivative in the same words.
    """

    function: FunctionType
    text: str
    tree: Any
    body: int
    first: int
    ran: set[int]
    shared: set[int]
    held: dict[str, Any] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.function.__code__.co_filename

    @contextmanager
    def reading(self, text: str) -> Iterator[None]:
        """Inside, the function runs another text of itself; what that writes into other variables is undone."""
        code = _compiled(text, self.function.__code__, self.body)
        before, kept = self.function.__code__, [(value, value.copy()) for value in self._mutable()]
        self.function.__code__ = code
        try:
            yield
        finally:
            self.function.__code__ = before
            for value, copy in kept:
                _put_back(value, copy)

    def _mutable(self) -> Iterator[Any]:
        """Arrays, lists and dicts that its variables hold, and the parts of ``self``."""
        for value in self.held.values():
            parts = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, _WHOLE) else ()
            yield from (v for v in (value, *parts) if type(v) in (np.ndarray, list, dict))


def _put_back(value: Any, copy: Any) -> None:
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value[...] = copy  # which costs less than to look for what has changed
    elif isinstance(value, list):
        value[:] = copy
    else:
        value.clear()
        value.update(copy)


_WHOLE = (ModuleType, type, FunctionType)
"""What has variables of its own that are no function's of the user's to change."""


class NotThisText(Exception):
    """A text that is no function with the same variables from outside."""


def routines(run: Callable[[], Any], besides: Callable[[], Any]) -> list[Routine]:
    """The functions of the user's that ``run`` calls, and which of their lines ``besides`` runs as well."""
    others, seen = _Seen(), _Seen()
    for call, trace in ((besides, others), (run, seen)):
        _traced(call, trace)
    codes = list(seen.lines)
    inner = {id(below) for code in codes for below in _codes_in(code) if below is not code}
    found = []
    for code in codes:
        if id(code) not in inner:
            made = _routine(code, seen, others)
            if made is not None:
                made.repeated = _words_of({c: lines for c, lines in others.lines.items() if c not in seen.lines})
                found.append(made)
    return found


def _words_of(ran: dict[CodeType, set[int]]) -> set[str]:
    """The lines that ran, but those that give a result."""
    words = {linecache.getline(code.co_filename, k).strip() for code, lines in ran.items() for k in lines}
    return {line for line in words if not line.startswith("return ")}


class _Seen:
    def __init__(self) -> None:
        self.lines: dict[CodeType, set[int]] = {}
        self.held: dict[CodeType, dict[str, Any]] = {}
        self.functions: dict[CodeType, FunctionType] = {}

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:  # noqa: ARG002
        code = frame.f_code
        if not is_of_program(code.co_filename) or code.co_filename.startswith(("<", _PYTHON)):
            return None
        lines = self.lines.setdefault(code, set())
        if code not in self.functions:
            function = _function_of(code, frame)
            if function is not None:
                self.functions[code] = function

        def line(frame: Any, event: str, arg: Any) -> Any:  # noqa: ARG001
            lines.add(frame.f_lineno)
            if event == "return":
                self.held[code] = dict(frame.f_locals)
            return line

        return line


def _function_of(code: CodeType, frame: Any) -> FunctionType | None:
    """The function that a code object is of: one that the caller has, its module or class, or that refers to it."""
    called_by = dict(frame.f_back.f_locals) if frame.f_back is not None else {}
    own = next(iter(frame.f_locals.values()), None)
    classes = (vars(c).get(code.co_name) for c in type(own).__mro__)
    for value in (*called_by.values(), frame.f_globals.get(code.co_name), *classes, *gc.get_referrers(code)):
        function = getattr(value, "__func__", value)
        if isinstance(function, FunctionType) and function.__code__ is code:
            return function
    return None


def _traced(call: Callable[[], Any], trace: _Seen) -> None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions that are written inside of it."""
    stack = [code]
    while stack:
        code = stack.pop()
        yield code
        stack.extend(c for c in code.co_consts if isinstance(c, CodeType))


def _routine(code: CodeType, seen: _Seen, others: _Seen) -> Routine | None:
    inside = list(_codes_in(code))
    names = {name for c in inside for name in (*c.co_names, *c.co_freevars)}
    if names & _OUTWARD or code.co_name in names or "__class__" in code.co_freevars or code.co_name.startswith("<m"):
        return None
    function = seen.functions.get(code)
    if function is None:
        return None
    lines = linecache.getlines(code.co_filename)
    try:
        whole = ast.parse("".join(lines))
    except SyntaxError:
        return None
    node = _node_of(code, whole, lines)
    if node is None or node.end_lineno - node.lineno > LONGEST or any(isinstance(n, ast.While) for n in ast.walk(node)):
        return None  # a loop that may not end is not run with another text
    text = _text_of(node, lines)
    held = {name: value for c in reversed(inside) for name, value in seen.held.get(c, {}).items()}
    read = names.union(*(c.co_names for c in others.lines if c.co_filename == code.co_filename))  # what was forgotten
    outside = {n: function.__globals__[n] for n in sorted(read) if n in function.__globals__}
    ran, shared = (set().union(*(by.lines.get(c, ()) for c in inside)) for by in (seen, others))
    try:
        tree, body = _body_of(text, code.co_name == "<lambda>")
        _compiled(text, code, body)
    except (NotThisText, SyntaxError):
        return None
    return Routine(function, text, tree, body, node.lineno, ran, shared, {**outside, **held})


def _node_of(code: CodeType, whole: Any, lines: Sequence[str]) -> Any:
    """The definition that a code object was compiled from."""
    kind: Any = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef,)
    nodes = [n for n in ast.walk(whole) if isinstance(n, kind) and _start(n) == code.co_firstlineno]
    if code.co_name != "<lambda>":
        return next((n for n in nodes if n.name == code.co_name), None)
    alike = []
    for node in nodes:
        try:
            made = _compiled(_text_of(node, lines), code)
        except NotThisText:
            continue
        if (made.co_names, made.co_consts, made.co_varnames) == (code.co_names, code.co_consts, code.co_varnames):
            alike.append(node)
    return alike[0] if len(alike) == 1 else None  # of two on a line that are alike it is not known which one it is


def _start(node: Any) -> int:
    """The first line of a definition, decorators included, as a code object has it."""
    return int(min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]))


def _text_of(node: Any, lines: Sequence[str]) -> str:
    """The text of a definition, as far to the left as it can be."""
    if isinstance(node, ast.Lambda):
        return ast.get_source_segment("".join(lines), node) or ""
    return textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))


def _compiled(text: str, like: CodeType, body: int | None = None) -> CodeType:
    """The code of a function, with the same variables from outside as another.

    ``body`` is where its first statement begins: what the text may no longer read is named there, and so stays a
    variable of the function.
    """
    outside = ", ".join(like.co_freevars)
    if like.co_name == "<lambda>":
        if outside and body is not None:
            text = f"{text[:body]}({text[body:]}) if 1 else ({outside},)"
        text = f"({text})"
    elif outside and body is not None:
        start = text.rfind("\n", 0, body) + 1
        text = f"{text[:start]}{text[start:body]}if 0: {outside}\n{text[start:]}"
    around = f"def around({outside}):\n" + "".join(f" {line}" for line in text.splitlines(keepends=True))
    try:
        with warnings.catch_warnings():  # a text that nobody wrote may call a number, or take a part of it
            warnings.simplefilter("ignore", SyntaxWarning)
            made = compile(around, like.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise NotThisText from error
    found = next((c for c in _codes_in(made) if c.co_name == like.co_name), None)
    if found is None or found.co_freevars != like.co_freevars:
        raise NotThisText
    return found


def _body_of(text: str, is_lambda: bool) -> tuple[Any, int]:
    """The syntax of a definition, and where its first statement begins."""
    tree = ast.parse(text)
    definition: Any = next(n for n in ast.walk(tree) if isinstance(n, ast.Lambda)) if is_lambda else tree.body[0]
    first = definition.body if is_lambda else definition.body[0]
    line = text.splitlines(keepends=True)
    before = sum(map(len, line[: first.lineno - 1]))
    return tree, before + len(line[first.lineno - 1].encode()[: first.col_offset].decode())

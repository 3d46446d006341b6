"""Where the user's program stands, and warnings: given at its line, however deep in the library the reason is found.

torch gives some of its warnings once in the life of a program; so do these.  The filters of ``warnings`` have their say
in any case.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from symgrad.errors import ArgumentError

_PACKAGE = str(Path(__file__).parent) + os.sep
_NUMPY = f"{os.sep}numpy{os.sep}"
_INSTALLED = f"{os.sep}site-packages{os.sep}"
Line = tuple[str, int]
"""A file and the number of a line."""

_given: set[str] = set()
"""What was said and is not said again."""
_always = [False]


def set_warn_always(b: bool) -> None:
    """Give every time the warnings that are otherwise given once in the life of the program.

    >>> import symgrad as sg
    >>> sg.set_warn_always(True)
    >>> sg.is_warn_always_enabled()
    True
    >>> sg.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise ArgumentError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _always[0] = b


def is_warn_always_enabled() -> bool:
    """Whether :func:`set_warn_always` is in force."""
    return _always[0]


def is_of_user(file: str) -> bool:
    """Whether a file is none of this library's nor of NumPy's."""
    return not file.startswith(_PACKAGE) and _NUMPY not in file


def is_of_program(file: str) -> bool:
    """Whether a file is one of the user's own programs, and not of a library that is installed."""
    return is_of_user(file) and _INSTALLED not in file


def users_frames() -> Iterator[Any]:
    """The frames outside of this library, innermost first."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            yield frame
        frame = frame.f_back


_OURS: dict[str, bool] = {}
"""Whether a file is the library's, for those that were met."""


BORROWED: set[str] = set()
"""Files that the library runs as its own: notices are not about their lines."""


def users_line() -> tuple[Any, int] | None:
    """Code object and line number of the innermost of them; None where a thread runs nothing but this library."""
    frame = users_frame()
    return None if frame is None else (frame.f_code, frame.f_lineno)


def users_frame() -> Any:
    """The innermost of them; None where a thread runs nothing but this library."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        ours = _OURS.get(file)
        if ours is None:
            ours = _OURS[file] = file.startswith(_PACKAGE)
        if not ours:
            break
        frame = frame.f_back
    return frame


def line_text(line: Line | None) -> str:
    """``losses.py:12: r = X @ w - y``; empty where the line is not known."""
    if line is None:
        return ""
    file, number = line
    text = linecache.getline(file, number).strip()
    return f"{Path(file).name}:{number}" + (f": {text}" if text else "")


def notice(words: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the line of the user's program that led to it.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     notice("this is old")
    >>> print(given[0].message)
    this is old
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and ((file := frame.f_code.co_filename).startswith(_PACKAGE) or file in BORROWED):
        level, frame = level + 1, frame.f_back
    warnings.warn(words, category, stacklevel=level)


def notice_once(words: str) -> None:
    """The same, the first time only; or always, if :func:`set_warn_always` says so."""
    if _always[0] or words not in _given:
        _given.add(words)
        notice(words)


def renamed(function: Callable[..., Any], room: str) -> Callable[..., Any]:
    """A function under the name that it once had, which has no ``_`` at its end, with torch's warning at every call.

    >>> import warnings
    >>> def fill_(x):
    ...     return x
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     found = renamed(fill_, "nn.init")(3)
    >>> found, str(given[0].message)
    (3, '`nn.init.fill` is now deprecated in favor of `nn.init.fill_`.')
    """
    old = function.__name__.removesuffix("_")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        notice(f"`{room}.{old}` is now deprecated in favor of `{room}.{function.__name__}`.", FutureWarning)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    return call

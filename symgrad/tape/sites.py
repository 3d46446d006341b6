"""Where the user's program stands: the frames on the stack that are not this library's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGE = str(Path(__file__).parent.parent) + os.sep


def users_frames() -> Iterator[Any]:
    """The frames outside of this library, innermost first."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_PACKAGE):
            yield frame
        frame = frame.f_back


def users_line() -> tuple[Any, int] | None:
    """Code object and line number of the innermost of them; None where a thread runs nothing but this library."""
    frame = next(users_frames(), None)
    return None if frame is None else (frame.f_code, frame.f_lineno)

"""Whose file a piece of code stands in."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_NUMPY = f"{os.sep}numpy{os.sep}"
_INSTALLED = f"{os.sep}site-packages{os.sep}"


def is_of_user(file: str) -> bool:
    """Whether a file is none of this library's nor of NumPy's."""
    return not file.startswith(_PACKAGE) and _NUMPY not in file


def is_of_program(file: str) -> bool:
    """Whether a file is one of the user's own programs, and not of a library that is installed."""
    return is_of_user(file) and _INSTALLED not in file

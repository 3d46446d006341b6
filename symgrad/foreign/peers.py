"""The libraries whose programs are read."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from symgrad.errors import MissingPackage


def peer(library: str, asked: str) -> Any:
    """The module of a library.  Raises ``MissingPackage`` for ``asked`` where it is not installed."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise MissingPackage(
            f"{asked} needs the package {library}, which is not installed: pip install {library}.", name=library
        ) from None

"""What programs name of torch and is not here: classes of which nothing is an instance, functions that say so.

A package names such things at its import, in types and defaults, and most programs never call them.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

from symgrad.errors import SymgradError


class NotHere(SymgradError, NotImplementedError):
    """A part of torch that is not here was called."""


class _Kind(type):
    """Of classes that are not here: what is asked of one is not here, either, such as a default of a function."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return AbsentRoom(f"{cls.__module__}.{cls.__name__}.{name}", cls._why)


def absent_class(name: str, module: str, why: str, base: type = object) -> type:
    """A class that may be named, derived from and asked about, and cannot be made."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG001
        raise NotHere(f"{module.removeprefix('symgrad.')}.{name} {why}")

    members = {"__init__": refuse, "__module__": module, "__doc__": f"Not here: it {why}", "_why": why}
    return _Kind(name, (base,), members)


def _no(*args: Any, **kwargs: Any) -> bool:  # noqa: ARG001
    """What is asked before anything else of a room is called: is_available, is_fake, is_in_onnx_export."""
    return False


class AbsentRoom(ModuleType):
    """A module of torch that is not here: names in capitals are classes, all others functions or modules again."""

    def __init__(self, name: str, why: str, base: type = object):
        super().__init__(name)
        self.__path__: list[str] = []
        self._why, self._base = why, base

    def __getattr__(self, name: str) -> Any:
        if name.startswith("is_"):
            return _no
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = (
            absent_class(name, self.__name__, self._why, self._base)
            if name[0].isupper()
            else AbsentRoom(f"{self.__name__}.{name}", self._why, self._base)
        )
        setattr(self, name, found)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        """Say why it is not here."""
        raise NotHere(f"{self.__name__} {self._why}")

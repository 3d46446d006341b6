"""Dtypes that an operation refuses: how an entry says so, and the error in torch's classes and words."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from symgrad.dtypes import float32, result_type, torch_name
from symgrad.errors import DtypeError, SymgradError, UnsupportedDtype

F = TypeVar("F", bound=Callable[..., Any])


def by_kind(refuses: str | dict[str, str] | None) -> dict[str, str]:
    """What an op refuses, with one dtype kind to a key; empty words stand for the common ones."""
    if refuses is None or isinstance(refuses, str):
        refuses = {refuses or "": ""}
    kinds = {kind: words for kinds, words in refuses.items() for kind in kinds}
    return kinds | {"V": kinds["f"]} if "f" in kinds else kinds  # NumPy does not know bfloat16 for a float


def refusal(name: str, words: str, dtype: Any) -> SymgradError:
    """The error for a dtype that an operation refuses: torch's classes and words.

    ``{dtype}`` in the words is replaced; without words it is a missing kernel, as it is where they are its one name.
    """
    if " " in words:
        return DtypeError(words.format(dtype=torch_name(dtype)))
    kernel = words or f"{name}_cpu"
    return UnsupportedDtype(
        f"\"{kernel}\" not implemented for '{torch_name(dtype)}'; cast the tensor with .to() or dtype="
    )


def inexact(name: str) -> dict[str, str]:
    """What the function of that name of ``linalg`` refuses as a whole number: with torch's words."""
    return {"bui": f"{name}: Expected a floating point or complex tensor as input. Got {{dtype}}"}


@functools.lru_cache
def _common(dtypes: tuple[Any, ...]) -> Any:
    return dtypes[0] if dtypes.count(dtypes[0]) == len(dtypes) else functools.reduce(result_type, dtypes)


def refusing(refuses: str | dict[str, str]) -> Callable[[F], F]:
    """Let a function made of ops refuse dtypes, as an op's ``refuses``: by the common dtype of its leading arrays."""
    table = by_kind(refuses)

    floats = not {"f", "c"} & table.keys()  # what has a part of floats is of floats

    def publish(call: F) -> F:
        @functools.wraps(call)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if floats and args and getattr(args[0], "dtype", None) is float32:
                return call(*args, **kwargs)
            found = tuple([dtype for arg in args if (dtype := getattr(arg, "dtype", None)) is not None])
            if found:
                dtype = _common(found)
                if dtype.kind in table:
                    raise refusal(call.__name__, table[dtype.kind], dtype)
            return call(*args, **kwargs)

        return checked  # type: ignore[return-value]

    return publish

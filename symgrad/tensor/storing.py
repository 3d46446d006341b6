"""Tensors in files: ``save`` and ``load``."""

from __future__ import annotations

import os
import pickle
from typing import Any

from symgrad.devices import on_cpu
from symgrad.errors import ArgumentError


def save(obj: Any, f: Any, pickle_protocol: int = 4) -> None:
    """Write tensors, or containers of tensors, to a file: a path, or a file open for writing bytes.

    The file is a pickle: graphs and formulas are kept, and it is symgrad's own, not torch's.

    >>> import io
    >>> import symgrad as sg
    >>> file = io.BytesIO()
    >>> save({"w": sg.tensor([1.0, 2.0])}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'w': tensor([1., 2.])}
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:
            pickle.dump(obj, file, pickle_protocol)
    else:
        pickle.dump(obj, f, pickle_protocol)


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None, **_: Any) -> Any:
    """Read what :func:`save` wrote.  A pickle can run any code: load only files that you trust.

    Raises ``ArgumentError`` for ``weights_only=True``, whose promise a pickle cannot keep, and for files of torch.
    """
    if isinstance(map_location, str) or hasattr(map_location, "type"):
        on_cpu(map_location)
    if weights_only:
        raise ArgumentError("load(): weights_only=True promises that no code runs; a pickle cannot promise it.")
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load(file)
    if f.read(2) == b"PK":
        raise ArgumentError("load(): this is a file of torch.save; load it with torch and pass t.numpy() to tensor().")
    f.seek(-2, os.SEEK_CUR)
    return pickle.load(f)

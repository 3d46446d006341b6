"""Files of tensors under the name of torch's module for them, and the types of its arguments."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from symgrad.tensor.storing import load, save

__all__ = ["FILE_LIKE", "MAP_LOCATION", "load", "save"]

FILE_LIKE: TypeAlias = str | os.PathLike[str] | IO[bytes]
MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | str | dict[str, str] | None

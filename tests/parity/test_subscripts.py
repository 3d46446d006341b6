"""Odd things between the brackets of a tensor, and odd views: what torch makes of them, or how it refuses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

LINES = """
x[..., ...]
x[0:2, ..., ...]
x[..., 1, ...]
x[..., ..., 1]
x[0, ..., 1, ..., 2]
x[None, ..., ..., None]
x[..., [0, 1], ...]
x[0.0, 0.0:2.0]
x[0.0, ..., 0.0:2.0]
x[1.5]
x[0.0:2.0]
""".strip().splitlines()


def outcome(t: Any, line: str) -> Any:
    """Value, strides and offset of what a line gives, or the class of its error."""
    try:
        made = eval(line, {"t": t, "np": np, "x": t.arange(24.0).reshape(2, 3, 4)})
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return type(error)
    return [(part.tolist(), tuple(part.stride()), part.storage_offset()) for part in (made,)]


@pytest.mark.parametrize("line", LINES)
def test_as_torch(line: str) -> None:
    theirs, ours = outcome(torch, line), outcome(symgrad, line)
    if isinstance(theirs, type):
        assert isinstance(ours, type)
        assert issubclass(ours, theirs)
    else:
        assert ours == theirs

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
x[None, :2, 3]
x[None, -1]
x[:, None, 0]
x[1, None, 2, None]
x[..., None, 0]
x[None, 0, ..., None, 1:]
x[None, None, 1:]
x.transpose(0, 2)[None, 1:, None, 0]
x[None, :, 1:0]
x.permute(dims=(1, 0, 2))
t.permute(x, dims=(1, 0, 2))
x.reshape(shape=(24,))
t.reshape(x, shape=(24,))
x.view(size=(24,))
x.expand(size=(2, 2, 3, 4))
t.broadcast_to(x, size=(2, 2, 3, 4))
x.repeat(repeats=(1, 2, 1))
x.tile(dims=(2,))
x.flip(dims=(0,))
x.permute()
x.reshape()
x.view()
x.view("a")
x.expand()
x.repeat()
x.tile()
x.flip()
reversed(x)
reversed(x[0, 0, 0])
x.as_strided([-3], [2])
x.as_strided((0,), (1,)).add_(1)
x.as_strided((0, 3), (1, 1)).mul_(2)
x.as_strided((2, 0), (5, 1), 24).fill_(1)
x.expand(0, 2, 3, 4).add_(1)
""".strip().splitlines()


def outcome(t: Any, line: str) -> Any:
    """Value, strides and offset of what a line gives, or the class of its error."""
    try:
        made = eval(line, {"t": t, "np": np, "x": t.arange(24.0).reshape(2, 3, 4)})
    except (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return type(error)
    place = (tuple(made.stride()), made.storage_offset()) if made.numel() else ()
    return made.tolist(), tuple(made.shape), place, made._is_view()


@pytest.mark.parametrize("line", LINES)
def test_as_torch(line: str) -> None:
    theirs, ours = outcome(torch, line), outcome(symgrad, line)
    if isinstance(theirs, type):
        assert isinstance(ours, type)
        assert issubclass(ours, theirs)
    else:
        assert ours == theirs


def test_changes_of_no_entries() -> None:
    for cut in (lambda x: x.as_strided((0, 2), (1, 1), 2), lambda x: x.expand(0, 3), lambda x: x[3:]):
        for t in (torch, symgrad):
            a = t.ones(3, requires_grad=True)
            x = a * 2
            cut(x).mul_(5)
            x.sum().backward()
            assert a.grad.tolist() == [2.0, 2.0, 2.0]
            assert x._version == 1


PLACES = """
t.nonzero_static(x, size=3)
x.nonzero_static(size=30, fill_value=-7)
t.nonzero_static(x, size=0)
t.nonzero_static(x, size=-1)
t.nonzero_static(x[0, 0, 1], size=2)
t.repeat_interleave(t.tensor([1, 0, 2]))
t.repeat_interleave(t.tensor([1, 0, 2], dtype=t.int32))
t.repeat_interleave(t.tensor([1.0, 0.0]))
t.repeat_interleave(t.tensor([[1, 0]]))
t.repeat_interleave(t.tensor([1, -1]))
t.vander(x[0, 0], 0)
t.vander(x[0, 0], 1)
t.vander(x[0, 0], 3)
t.vander(x[0, 0], -1)
t.arange()
t.arange(1j)
t.arange(0, 3, 1j)
""".strip().splitlines()


@pytest.mark.parametrize("line", PLACES)
def test_places_and_powers(line: str) -> None:
    test_as_torch(line)

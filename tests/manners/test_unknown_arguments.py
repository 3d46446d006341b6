"""Keyword arguments that a function does not know are refused: the caller meant something by them."""

from __future__ import annotations

from typing import Any

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor import FUNCTIONS


def _samples() -> list[tuple[Any, ...]]:
    x, v, i = sg.tensor([[0.3, 0.6], [0.1, 0.2]]), sg.tensor([0.3, 0.4]), sg.tensor([0, 1])
    pairs = ((x, x), (v, v), (x, 0), (x, 2), (x, i), (x, 1, 0), (x, 1, i), (x, 0, i, x))
    return [(x,), (v,), *pairs, (2,), (2, 3), (v, v, v), (x[None],), (x[None, None], 2), (x, x, x)]


def _passes_over(call: Any) -> bool:
    for args in _samples():
        try:
            call(*args)
        except Exception:  # noqa: BLE001, S112  (these are not its arguments)
            continue
        try:
            call(*args, unknown_word=1)
        except (TypeError, SymgradError):
            return False
        return True
    return False


def test_every_function_refuses_them() -> None:
    named = {f"{space}.{name}": call for space, calls in SPACES.items() for name, call in calls.items()}
    methods = {f"Tensor.{name}": getattr(sg.Tensor, name) for name in dir(sg.Tensor) if not name.startswith("_")}
    calls = {name: call for name, call in {**FUNCTIONS, **named, **methods}.items() if callable(call)}
    assert [name for name, call in calls.items() if "hook" not in name and _passes_over(call)] == []


def test_copies_by_position() -> None:
    x = sg.ones(3)
    assert x.to(sg.float32, False, True) is not x
    assert x.to(sg.float32, True) is x

"""Keyword arguments that a function does not know are refused: the caller meant something by them."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def test_methods_in_place_write_into_nothing_else() -> None:
    """What stands behind the operands is no array to write into, as it is to NumPy's functions."""
    written = []
    for name in [name for name in dir(sg.Tensor) if name.endswith("_") and not name.endswith("__")]:
        for count in (1, 2):
            given = [sg.tensor([0.3, 0.4]) for _ in range(count + 1)]
            try:
                getattr(given[0], name)(*given[1:])
            except Exception:  # noqa: BLE001, S112  (too many, or no such arguments)
                continue
            if any(other.tolist() != sg.tensor([0.3, 0.4]).tolist() for other in given[1:]):
                written.append(name)
    assert written == []


def test_detached_in_place_in_a_program() -> None:
    def doubled(x: Any) -> Any:
        y = x * 2
        y.detach_()
        return y + x

    assert sg.compile(doubled, np.ones(2))(np.array([3.0, 4.0])).tolist() == [9.0, 12.0]

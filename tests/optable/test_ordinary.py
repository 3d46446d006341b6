"""The common way through an op leaves on the tape what the careful one does, which is taken while somebody observes."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.op import TABLE
from symgrad.proving.samples import cases, make_case, samples
from symgrad.tape.observers import observing

NAMES = [name for name in dict.fromkeys(name for name, _ in cases()) if make_case(name, 0)[0]]
"""The ops that have operands."""


def left_by(name: str, args: Any, params: dict[str, Any], grad: bool, careful: bool) -> Any:
    """What an op gives of new tensors, and all that its node and its record of views say."""
    operands = []
    for a in args:
        if isinstance(a, np.ndarray | np.generic):
            a = sg.tensor(a)
            a.requires_grad_(grad and a.is_floating_point())
        operands.append(a)
    sg.manual_seed(0)
    with observing(lambda node: None) if careful else contextlib.nullcontext():
        try:
            out = TABLE[name](*operands, **params)
        except Exception as error:  # noqa: BLE001  (the same one is wanted)
            return type(error), str(error)
    array, node, extra = out._value, out._node, out._extra
    found = [array.shape, array.dtype, array.strides if array.size else None, array.tobytes(), out.requires_grad]
    found.append(None if extra is None or extra.view is None else (extra.view.op, extra.view.kind))
    if node is not None:
        found += [node.op, node.params, node.mask, node.shape, node.dtype, node.saved.__class__]
        found += [None if value is None else (value.__class__, np.asarray(value).tobytes()) for value in node.saved]
        places = {id(operand): k for k, operand in enumerate(operands)}
        found += [places.get(id(arg), arg.__class__) for arg in node.args]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_both_ways_leave_the_same(name: str) -> None:
    for k in range(len(samples(TABLE[name]))):
        for dtype, grad in ((np.float64, True), (np.float64, False), (np.float32, True)):
            args, params = make_case(name, k, dtype=dtype)
            first, second = (left_by(name, args, params, grad, careful) for careful in (False, True))
            assert repr(first) == repr(second), f"sample {k}"


def test_a_change_in_place_makes_no_array_of_its_size() -> None:
    import tracemalloc

    x, y = sg.ones(100_000, dtype=sg.float64), sg.ones(100_000, dtype=sg.float64)
    changes = (lambda: x.mul_(2.0), lambda: x.add_(y), lambda: x.__isub__(y), lambda: x.sqrt_(), lambda: x.div_(y))
    for change in changes:
        change()
        tracemalloc.start()
        try:
            change()
            assert tracemalloc.get_traced_memory()[1] < x._value.nbytes / 10
        finally:
            tracemalloc.stop()

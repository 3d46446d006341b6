"""The order of the axes in memory that a caller names: row by row, or with the channels innermost."""

from __future__ import annotations

import pytest

import symgrad as sg

MAKERS = {
    "contiguous": lambda x, f: x.contiguous(memory_format=f),
    "clone": lambda x, f: x.clone(memory_format=f),
    "to": lambda x, f: x.to(memory_format=f),
    "cast": lambda x, f: x.to(sg.float64, memory_format=f),
    "double": lambda x, f: x.double(memory_format=f),
    "empty": lambda x, f: sg.empty(x.shape, memory_format=f),
    "zeros_like": lambda x, f: sg.zeros_like(x, memory_format=f),
    "full_like": lambda x, f: sg.full_like(x, 2.0, memory_format=f),
    "rand_like": lambda x, f: sg.rand_like(x, memory_format=f),
}
EVERY = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@EVERY
def test_channels_lie_innermost_where_that_is_asked(make):
    flat, solid = sg.ones(2, 3, 4, 5), sg.ones(2, 3, 4, 5, 6)
    assert make(flat, sg.channels_last).stride() == (60, 1, 15, 3)
    assert make(flat, sg.channels_last).is_contiguous(memory_format=sg.channels_last)
    assert make(solid, sg.channels_last_3d).stride() == (360, 1, 90, 18, 3)


@EVERY
def test_a_tensor_without_channels_is_refused(make):
    for shape, order in (((3, 4), sg.channels_last), ((2, 3, 4, 5), sg.channels_last_3d)):
        with pytest.raises(RuntimeError, match=r"required rank \d tensor to use channels_last"):
            make(sg.ones(shape), order)
        assert not sg.ones(shape).is_contiguous(memory_format=order)


def test_an_order_has_no_part_in_values_and_gradients():
    x = sg.arange(24.0).reshape(1, 2, 3, 4).requires_grad_()
    y = x.contiguous(memory_format=sg.channels_last)
    assert (y == x).all()
    assert y.contiguous(memory_format=sg.channels_last) is y
    (y * y).sum().backward()
    assert (x.grad == 2 * x).all()
    assert y.contiguous().stride() == x.stride()

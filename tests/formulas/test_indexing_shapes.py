"""Shapes of indexed arrays with letters for sizes: NumPy's own rule, and no memory for it."""

from __future__ import annotations

import itertools

import numpy as np

import symgrad as sg
from symgrad.ops.indexing.getitem import Index, indexed_shape

PARTS = (slice(None), slice(1, 3), None, 0, np.array([0, 1]), np.array([[0], [2]]), np.array(1))


def test_shapes_are_numpys():
    x = np.zeros((3, 4, 5))
    masks = [
        (np.ones((3, 4), bool), slice(None)),
        (slice(None), np.array([True, False, True, True])),
        (None, np.ones((3, 4), bool), np.ones(12, int)),
        (Ellipsis, np.array([True] * 5)),
    ]
    for count in (1, 2, 3, 4):
        masks += [c for c in itertools.product(PARTS, repeat=count) if sum(p is not None for p in c) <= 3]
    for index in masks:
        assert indexed_shape(x.shape, index=Index(index)) == x[index].shape, index


def test_letters_of_axes_between_arrays():
    x = sg.tensor(np.arange(60.0).reshape(5, 3, 4), requires_grad=True, name="x")
    y = x[:, [2, 0]]
    assert y.term.shape == ("n", 2, "p")
    y.sum().backward()
    assert x.grad.latex()


def test_places_that_are_operands_have_letters():
    x = sg.tensor(np.arange(60.0).reshape(5, 3, 4), requires_grad=True, name="x")
    k, i = sg.tensor([[2, 0]], name="k"), sg.tensor([4, 1, 1, 0, 0, 2, 3], name="i")
    assert x[:, k].term.shape == ("n", 1, "q", "p")
    assert x[i].term.shape[1:] == ("m", "p")
    assert isinstance(x[i].term.shape[0], str)
    assert x[i[:, None], k[0], [1, 0]].term.shape[1] == 2  # a list is a constant, beside which a letter is its number
    mask = sg.tensor(np.array([True, False, True]), name="mask")
    assert x[:, mask].term.shape == ("n", "q", "p")  # a mask is the places where it holds, which have a size

"""What programs take from torch's utilities: nested containers, packed sequences, limits of dtypes, handles."""

from __future__ import annotations

import collections
import importlib
from typing import Any, NamedTuple

import pytest


class State(NamedTuple):
    mean: Any
    steps: Any


@pytest.fixture
def tree(t):
    return importlib.import_module(f"{t.__name__}.utils._pytree")


def test_trees_come_apart_and_together(tree):
    ordered = collections.OrderedDict(z=3)
    nested = {"b": [1, (2, None)], "a": ordered, "n": State(4, 5), "q": collections.deque([7], 2)}
    nested["d"] = collections.defaultdict(list, {1: 2})
    leaves, spec = tree.tree_flatten(nested)
    assert leaves == [1, 2, None, 3, 4, 5, 7, 2]
    assert spec.num_leaves == 8
    back = tree.tree_unflatten(leaves, spec)
    assert back == nested
    assert type(back["n"]) is State
    assert back["d"][9] == []
    assert back["q"].maxlen == 2
    shown = "TreeSpec(list, None, [*,\n  TreeSpec(tuple, None, [*,\n    *]),\n  TreeSpec(dict, ['a'], [*])])"
    assert str(tree.tree_structure([1, (2, 3), {"a": 4}])) == shown
    with pytest.raises(ValueError, match="`leaves` has length 1 but the spec refers to a pytree that holds 8 items"):
        tree.tree_unflatten([1], spec)


def test_trees_are_mapped(t, tree):
    state = State(t.zeros(2), {"a": [t.ones(1)]})
    more = tree.tree_map(lambda x: x + 1, state)
    assert more.steps["a"][0].item() == 2
    assert tree.tree_map(lambda a, b: (a, b), {"x": 1, "y": 2}, {"y": 3, "x": 4}) == {"x": (1, 4), "y": (2, 3)}
    assert tree.tree_map(lambda a, b: (a, b), [1], [[2, 3]]) == [(1, [2, 3])]
    assert tree.tree_map_only(int, lambda x: -x, [1, "a"]) == [-1, "a"]
    assert tree.tree_leaves(None) == [None]
    assert tree.tree_any(lambda x: x > 2, [1, 3])
    assert not tree.tree_all(lambda x: x > 2, [1, 3])
    with pytest.raises(ValueError, match="Node type mismatch"):
        tree.tree_map(lambda a, b: a, [1, [2]], [3, 4])


def test_leaves_know_their_way(tree):
    rows = tree.tree_flatten_with_path({"a": [1, State(2, 3)]})[0]
    assert [(tree.keystr(path), leaf) for path, leaf in rows] == [
        ("['a'][0]", 1),
        ("['a'][1].mean", 2),
        ("['a'][1].steps", 3),
    ]


def test_sequences_are_packed(t):
    rnn = t.nn.utils.rnn
    x = t.arange(12.0).reshape(2, 3, 2).requires_grad_()
    packed = rnn.pack_padded_sequence(x, [1, 2, 2], enforce_sorted=False)
    assert packed.data.tolist() == [[2, 3], [4, 5], [0, 1], [8, 9], [10, 11]]
    assert packed.batch_sizes.tolist() == [3, 2]
    assert (packed.sorted_indices.tolist(), packed.unsorted_indices.tolist()) == ([1, 2, 0], [2, 0, 1])
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=3)
    assert padded[:, :, 0].tolist() == [[0, -1, -1], [2, 8, -1], [4, 10, -1]]
    assert lengths.tolist() == [1, 2, 2]
    (weight,) = t.autograd.grad((padded * padded).sum(), x)
    assert weight.tolist() == [[[0, 2], [4, 6], [8, 10]], [[0, 0], [16, 18], [20, 22]]]
    assert [row.shape[0] for row in rnn.unpack_sequence(packed)] == [1, 2, 2]
    assert rnn.pack_sequence([t.tensor([1.0, 2.0]), t.tensor([3.0])]).data.tolist() == [1, 3, 2]
    assert packed.double().data.dtype == t.float64
    assert packed.cpu() is packed
    shown = "PackedSequence(data=tensor([1., 1., 1.]), batch_sizes=tensor([2, 1]), sorted_indices=None, unsorted"
    assert repr(rnn.pack_sequence([t.ones(2), t.ones(1)])).startswith(shown)


def test_sequences_that_cannot_be_packed(t):
    rnn, x = t.nn.utils.rnn, t.zeros(2, 3)
    refused = {
        "Expected `len\\(lengths\\)` to be equal to batch_size, but got 2 \\(batch_size=3\\)": [2, 1],
        "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True": [1, 2, 2],
        "Length of all samples has to be greater than 0": [2, 1, 0],
        "'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu Long tensor": [[2, 2, 1]],
    }
    for words, lengths in refused.items():
        with pytest.raises(RuntimeError, match=words):
            rnn.pack_padded_sequence(x, t.tensor(lengths))
    with pytest.raises(ValueError, match="Expected total_length to be at least the length of the longest sequence"):
        rnn.pad_packed_sequence(rnn.pack_padded_sequence(x, [2, 2, 1]), total_length=1)


def test_limits_of_integers_and_handles(t):
    assert repr(t.iinfo(t.int32)) == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert (t.iinfo(t.uint8).max, t.iinfo(t.int8).min, t.iinfo(t.int64).bits) == (255, -128, 64)
    x = t.ones(1, requires_grad=True)
    assert type(x.register_hook(print)).__name__ == "RemovableHandle"


def test_powers_keep_their_graph_as_long_as_torch(t):
    for power, orders in ((lambda x: x**2, 2), (t.square, 2), (lambda x: x**3, 3), (lambda x: t.float_power(x, 2), 2)):
        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        y = power(x)
        for _ in range(orders):
            (y,) = t.autograd.grad(y.sum(), x, create_graph=True)
            assert y.requires_grad
        (y,) = t.autograd.grad(y.sum(), x, create_graph=True)
        assert y.tolist() == [0, 0]
        assert not y.requires_grad

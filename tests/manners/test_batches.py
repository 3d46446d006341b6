"""torch.utils.data: the batches of training loops, in torch's order for every seed."""

from __future__ import annotations

import importlib
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from types import MappingProxyType

import numpy as np
import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore")

Pair = namedtuple("Pair", "x y")  # noqa: PYI024  (as users write it)


def room(t):
    return importlib.import_module(f"{t.__name__}.utils.data")


def rows(t):
    return room(t).TensorDataset(t.arange(20.0).reshape(10, 2), t.arange(10))


def listed(batch):
    """A batch as lists and numbers."""
    if hasattr(batch, "tolist"):
        return batch.tolist()
    if isinstance(batch, dict):
        return {key: listed(part) for key, part in batch.items()}
    return [listed(part) for part in batch] if isinstance(batch, (list, tuple)) else batch


LOADERS = {
    "plain": lambda t, data: {"batch_size": 3},
    "shuffled": lambda t, data: {"batch_size": 3, "shuffle": True},
    "without the rest": lambda t, data: {"batch_size": 3, "shuffle": True, "drop_last": True},
    "one by one": lambda t, data: {"batch_size": None},
    "of a generator": lambda t, data: {"batch_size": 4, "shuffle": True, "generator": t.Generator().manual_seed(4)},
    "some places": lambda t, data: {"batch_size": 4, "sampler": room(t).SubsetRandomSampler([1, 5, 7, 9, 2])},
    "with replacement": lambda t, data: {"batch_size": 5, "sampler": room(t).RandomSampler(data, True, 40)},
    "more than there are": lambda t, data: {"batch_size": 5, "sampler": room(t).RandomSampler(data, False, 13)},
    "by weight": lambda t, data: {"batch_size": 5, "sampler": room(t).WeightedRandomSampler([1.0, 2.0, 3.0], 6)},
    "batches of places": lambda t, data: {
        "batch_sampler": room(t).BatchSampler(room(t).SequentialSampler(data), 4, True)
    },
    "own batches": lambda t, data: {"batch_size": 2, "collate_fn": len, "num_workers": 0, "pin_memory": False},
}


class Record(UserDict):
    """A dict with something beside its entries."""

    source = "measured"


EXAMPLES = {
    "texts beside numbers": [("a", 1), ("b", 2)],
    "lists of texts": [["a", 1.5], ["b", 2.5]],
    "in order": [OrderedDict(x=1.0, y=2), OrderedDict(x=3.0, y=4)],
    "of one's own": [Record(x=1.0), Record(x=2.0)],
    "missing ones": [defaultdict(list, x=1), defaultdict(list, x=2)],
    "ranges": [range(2), range(1, 3)],
    "queues": [deque([1, 2.0]), deque([3, 4.0])],
    "pairs of pairs": [Pair(Pair(1, "a"), [2.0]), Pair(Pair(3, "b"), [4.0])],
    "a frozen one": [MappingProxyType({"x": 1}), MappingProxyType({"x": 2})],
}


@pytest.mark.peer
@pytest.mark.parametrize("name", EXAMPLES)
def test_containers_of_batches_are_those_of_the_examples(name):
    """An OrderedDict became a dict, texts of tuples came in a list, and ranges were refused."""
    torch = pytest.importorskip("torch")
    for make in ("default_collate", "default_convert"):
        ours, theirs = (repr(getattr(room(t), make)(EXAMPLES[name])) for t in (sg, torch))
        assert ours.replace(", dtype=float64", "") == theirs.replace(", dtype=torch.float64", "")


def test_loaders_in_annotations_and_parts_of_workers(t):
    """Code for several processes asks which one it is, and annotations say what batches are."""
    assert room(t).get_worker_info() is None
    assert room(t).DataLoader[int] is not None


@pytest.mark.peer
@pytest.mark.parametrize("how", LOADERS)
def test_two_passes_of_a_loader(how):
    """The same batches, and the same numbers drawn after them."""
    torch = pytest.importorskip("torch")
    found = []
    for t in (sg, torch):
        t.manual_seed(7)
        data = rows(t)
        loader = room(t).DataLoader(data, **LOADERS[how](t, data))
        found.append(([[listed(batch) for batch in loader] for _ in range(2)], len(loader), t.rand(2).tolist()))
    assert found[0] == found[1]


def test_examples_of_all_kinds_become_a_batch(t):
    example = lambda k: {  # noqa: E731
        "array": np.ones(2) * k, "whole": k, "real": k / 2, "name": f"s{k}", "flag": k > 1,
        "pair": (t.tensor(k), np.float32(k)), "list": [k, k + 1], "named": Pair(k, 2.0 * k),
    }  # fmt: skip
    (batch,) = room(t).DataLoader([example(1), example(2)], batch_size=2)
    assert listed(batch) == {
        "array": [[1.0, 1.0], [2.0, 2.0]], "whole": [1, 2], "real": [0.5, 1.0], "name": ["s1", "s2"],
        "flag": [False, True], "pair": [[1, 2], [1.0, 2.0]], "list": [[1, 2], [2, 3]], "named": [[1, 2], [2.0, 4.0]],
    }  # fmt: skip
    assert type(batch["named"]) is Pair
    assert (batch["real"].dtype, batch["whole"].dtype, batch["pair"][1].dtype) == (t.float64, t.int64, t.float32)


def test_batches_of_results_keep_their_history(t):
    w = t.ones(2, requires_grad=True)
    (batch,) = room(t).DataLoader([w, w * 2], batch_size=2)
    batch.sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_examples_that_come_one_after_the_other(t):
    class Counted(room(t).IterableDataset):
        def __iter__(self):
            return iter(range(7))

        def __len__(self):
            return 7

    loader = room(t).DataLoader
    assert [batch.tolist() for batch in loader(Counted(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batch.tolist() for batch in loader(Counted(), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    assert list(loader(Counted(), batch_size=None)) == list(range(7))
    assert [len(loader(Counted(), batch_size=3, drop_last=last)) for last in (True, False)] == [2, 3]
    assert sum(len(batch) for batch in loader(room(t).ChainDataset([Counted(), Counted()]), batch_size=5)) == 14


def test_datasets_of_datasets(t):
    data = rows(t)
    longer = data + room(t).Subset(data, [1, 2])
    assert (len(longer), listed(longer[-1]), listed(longer[10])) == (12, [[4.0, 5.0], 2], [[2.0, 3.0], 1])
    assert listed(room(t).StackDataset(a=data, b=data)[1]) == {"a": [[2.0, 3.0], 1], "b": [[2.0, 3.0], 1]}
    assert listed(room(t).StackDataset(data, data)[1]) == [[[2.0, 3.0], 1], [[2.0, 3.0], 1]]


@pytest.mark.peer
def test_splits_are_those_of_torch():
    torch, found = pytest.importorskip("torch"), []
    for t in (sg, torch):
        t.manual_seed(3)
        parts = room(t).random_split(rows(t), [7, 3])
        shares = room(t).random_split(rows(t), [0.5, 0.3, 0.2], generator=t.Generator().manual_seed(1))
        found.append([list(part.indices) for part in (*parts, *shares)])
    assert found[0] == found[1]


REFUSED = {
    "no batch": (lambda d, data: d.DataLoader(data, batch_size=0), "batch_size should be a positive integer"),
    "two orders": (
        lambda d, data: d.DataLoader(data, shuffle=True, sampler=d.SequentialSampler(data)),
        "sampler option is mutually exclusive with shuffle",
    ),
    "two sizes": (lambda d, data: d.DataLoader(data, 2, batch_sampler=[[1]]), "batch_sampler option is mutually"),
    "no rest": (lambda d, data: d.DataLoader(data, None, drop_last=True), "batch_size=None option disables"),
    "nothing": (lambda d, data: d.DataLoader([], shuffle=True), "num_samples should be a positive integer value"),
    "unknown": (lambda d, data: d.DataLoader(data, foo=1), "unexpected keyword argument 'foo'"),
    "rows": (lambda d, data: d.TensorDataset(data.tensors[0], data.tensors[1][:3]), "Size mismatch between tensors"),
    "kind": (lambda d, data: list(d.DataLoader([object()])), "default_collate: batch must contain tensors"),
    "lengths": (lambda d, data: list(d.DataLoader([[1], [1, 2]], 2)), "each element in list of batch should be of eq"),
    "split": (lambda d, data: d.random_split(data, [7, 2]), "Sum of input lengths does not equal the length of the"),
    "weights": (lambda d, data: d.WeightedRandomSampler([[1.0]], 1), "weights should be a 1d sequence but given"),
    "datasets": (lambda d, data: d.ConcatDataset([]), "datasets should not be an empty iterable"),
    "unwritten": (lambda d, data: d.Dataset()[0], "implement __getitem__"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(t, name):
    call, words = REFUSED[name]
    kinds = (ValueError, RuntimeError, TypeError, AssertionError, NotImplementedError)
    with pytest.raises(kinds) as caught:
        call(room(t), rows(t))
    if name != "unwritten":
        assert words in str(caught.value)

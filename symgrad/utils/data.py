"""Batches of data: the datasets, samplers and the loader that training loops take from ``torch.utils.data``.

All is read in this process; shuffling draws torch's random numbers in torch's order, so that a seed gives its batches.
"""

from __future__ import annotations

import bisect
import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from symgrad import random
from symgrad.errors import ArgumentError, ShapeError
from symgrad.notices import notice
from symgrad.stand_in import elsewhere
from symgrad.tensor import FUNCTIONS, Tensor, borrowed, creation

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler",
    "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

_collate_fn_t = Callable[[list[Any]], Any]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Examples by their places: a class derived from it has ``__getitem__``, and mostly ``__len__``."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Examples one after the other: a class derived from it has ``__iter__``."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: example ``k`` is ``(x[k], y[k], ...)``.  Raises ``AssertionError`` for other numbers of rows.

    >>> import symgrad as sg
    >>> from symgrad.utils.data import TensorDataset
    >>> TensorDataset(sg.arange(4.0).reshape(2, 2), sg.arange(2))[1]
    (tensor([2., 3.]), tensor(1))
    """

    def __init__(self, *tensors: Tensor):
        if len({tensor.size(0) for tensor in tensors}) > 1:
            rows = [len(tensor) for tensor in tensors]
            raise AssertionError(f"Size mismatch between tensors: they have {rows} rows")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Examples of several datasets side by side, as tuples, or dicts where they are given by name."""

    def __init__(self, *args: Any, **kwargs: Any):
        if bool(args) is bool(kwargs):
            raise ArgumentError("StackDataset takes datasets by place or by name, and at least one")
        self.datasets: Any = args or kwargs
        counts = {len(part) for part in (args or kwargs.values())}
        if len(counts) > 1:
            raise ShapeError(f"Size mismatch between datasets: they have {sorted(counts)} examples")
        self._length = counts.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[Any]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable: give one dataset at least")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: Any) -> Any:
        place = index + len(self) if index < 0 else index
        if place < 0:
            raise ArgumentError("absolute value of index should not exceed dataset length")
        k = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[k][place - (self.cumulative_sizes[k - 1] if k else 0)]


class ChainDataset(IterableDataset[Any]):
    """Datasets of examples one after the other, one behind the other."""

    def __init__(self, datasets: Iterable[Any]):
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class Subset(Dataset[Any]):
    """The examples of a dataset at some of its places."""

    def __init__(self, dataset: Any, indices: Sequence[int]):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[[self.indices[k] for k in index] if isinstance(index, list) else self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Disjoint subsets of these lengths, or of these parts of the whole where they add up to 1.

    Raises ``ArgumentError`` for lengths that do not add up to that of the dataset.

    >>> import symgrad as sg
    >>> from symgrad.utils.data import random_split
    >>> train, rest = random_split(range(10), [0.8, 0.2], sg.Generator().manual_seed(0))
    >>> len(train), sorted([*train, *rest]) == list(range(10))
    (8, True)
    """
    count = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for k, part in enumerate(lengths):
            if not 0 <= part <= 1:
                raise ArgumentError(f"Fraction at index {k} is not between 0 and 1")
        sizes = [math.floor(count * part) for part in lengths]
        for k in range(count - sum(sizes)):
            sizes[k % len(sizes)] += 1
        for k, size in enumerate(sizes):
            if not size:
                notice(f"Length of split at index {k} is 0. This might result in an empty dataset.")
    else:
        sizes = [int(length) for length in lengths]
        if sum(lengths) != count:
            raise ArgumentError("Sum of input lengths does not equal the length of the input dataset!")
    places = random.randperm(count, generator=generator).tolist()
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, places[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


# ---------------------------------------------------------------------------------------------- places


class Sampler(Generic[T_co]):
    """The places of examples in the order in which they are taken: a class derived from it has ``__iter__``."""

    def __init__(self, data_source: Any = None):
        del data_source

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """One place after the other."""

    def __init__(self, data_source: Any):
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """All places in a random order, or ``num_samples`` of them; with ``replacement`` a place may come again.

    >>> import symgrad as sg
    >>> from symgrad.utils.data import RandomSampler
    >>> list(RandomSampler(range(5), generator=sg.Generator().manual_seed(5)))
    [1, 3, 0, 4, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ):
        self.data_source = data_source
        self.replacement = replacement
        self.generator = generator
        self._count = num_samples
        if not isinstance(replacement, bool):
            raise ArgumentError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many places are taken."""
        return len(self.data_source) if self._count is None else self._count

    def __iter__(self) -> Iterator[int]:
        n, count = len(self.data_source), self.num_samples
        source = self.generator
        if source is None:
            source = random.Generator().manual_seed(_seed(None))
        if self.replacement:
            for start in range(0, count, 32):
                yield from random.randint(0, n, (min(32, count - start),), generator=source).tolist()
            return
        for _ in range(count // n):
            yield from random.randperm(n, generator=source).tolist()
        yield from random.randperm(n, generator=source).tolist()[: count % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some places in a random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None):
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for k in random.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[k]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` places, each with the chance that its weight has."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None):
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ArgumentError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = borrowed.as_tensor(weights, dtype="float64")
        if self.weights.dim() != 1:
            raise ArgumentError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        draw = FUNCTIONS["multinomial"]
        yield from draw(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The places that another sampler gives, ``batch_size`` at a time; ``drop_last`` leaves a smaller last one out."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ArgumentError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ArgumentError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler: Any = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        places = iter(self.sampler)
        while batch := list(itertools.islice(places, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


def _check_count(count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        raise ArgumentError(f"num_samples should be a positive integer value, but got num_samples={count}")


def _seed(generator: Any) -> int:
    """A seed for what is drawn apart; torch's loader draws one at the start of every pass, too."""
    return int(creation.empty((), dtype="int64").random_(generator=generator).item())


# ---------------------------------------------------------------------------------------------- batches


def default_convert(data: Any) -> Any:
    """Arrays in an example as tensors, in nested containers too."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if np.asarray(data).dtype.kind in "SUO" else borrowed.as_tensor(data)
    if isinstance(data, Mapping):
        return _named_like(data, {key: default_convert(part) for key, part in data.items()})
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _listed_like(data, [default_convert(part) for part in data])
    return data


def _named_like(example: Mapping[Any, Any], parts: dict[Any, Any]) -> Any:
    """Parts by name in a container of the kind of the example, with what it has beside them; a dict, if need be."""
    try:
        if not isinstance(example, MutableMapping):
            return type(example)(parts)  # type: ignore[call-arg]
        made = copy.copy(example)
        made.update(parts)
    except TypeError:
        return parts
    return made


def _listed_like(example: Sequence[Any], parts: list[Any]) -> Any:
    """Parts in a container of the kind of the example; a list for tuples without names, as in torch."""
    if isinstance(example, tuple):
        return type(example)(*parts) if hasattr(example, "_fields") else parts
    try:
        if not isinstance(example, MutableSequence):
            return type(example)(parts)  # type: ignore[call-arg]
        made = copy.copy(example)
        for k, part in enumerate(parts):
            made[k] = part
    except TypeError:
        return parts
    return made


def default_collate(batch: Any) -> Any:
    """Examples as one: tensors, arrays and numbers are stacked, entry by entry of tuples, lists and dicts.

    Raises ``ArgumentError`` for what cannot be stacked, and for rows of several lengths.

    >>> from symgrad.utils.data import default_collate
    >>> default_collate([{"x": 1.5, "name": "a"}, {"x": 2.5, "name": "b"}])
    {'x': tensor([1.5000, 2.5000], dtype=float64), 'name': ['a', 'b']}
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](list(batch))
    if isinstance(first, np.ndarray) and first.dtype.kind not in "SUO":
        return FUNCTIONS["stack"]([borrowed.as_tensor(entry) for entry in batch])
    if isinstance(first, np.generic) and first.dtype.kind not in "SUO":
        return borrowed.as_tensor(np.array(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype="float64")
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _named_like(first, {key: default_collate([entry[key] for entry in batch]) for key in first})
    if isinstance(first, Sequence):
        if len({len(entry) for entry in batch}) > 1:
            raise ShapeError("each element in list of batch should be of equal size")
        return _listed_like(first, [default_collate(column) for column in zip(*batch, strict=True)])
    raise ArgumentError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first)}: give collate_fn=, which makes a batch of a list of examples"
    )


_WORKERS = {
    "in_order", "multiprocessing_context", "persistent_workers", "pin_memory_device", "prefetch_factor", "timeout",
    "worker_init_fn",
}  # fmt: skip
"""Options of torch's that say which processes read, and into which memory."""


def get_worker_info() -> None:
    """Which of several processes this one is, of which a dataset reads its part: None, as one process reads all.

    >>> from symgrad.utils.data import get_worker_info
    >>> get_worker_info() is None
    True
    """


class DataLoader(Generic[T_co]):
    """Batches of a dataset: ``for x, y in DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)``.

    ``sampler`` says which examples come in which order, ``batch_sampler`` which of them together; ``collate_fn``
    makes a batch of a list of examples, and ``batch_size=None`` gives them one by one.  ``num_workers`` and torch's
    other options about processes and memory are taken and have no meaning.  Raises ``ArgumentError`` for options that
    exclude each other.

    >>> import symgrad as sg
    >>> from symgrad.utils.data import DataLoader, TensorDataset
    >>> loader = DataLoader(TensorDataset(sg.arange(5.0), sg.arange(5)), batch_size=2)
    >>> [(x.tolist(), y.tolist()) for x, y in loader]
    [([0.0, 1.0], [0, 1]), ([2.0, 3.0], [2, 3]), ([4.0], [4])]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Any = None,
        **options: Any,
    ):
        if unknown := options.keys() - _WORKERS:
            raise ArgumentError(f"DataLoader.__init__() got an unexpected keyword argument {min(unknown)!r}")
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.generator = generator
        self._streams = isinstance(dataset, IterableDataset)
        self._check(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None and not self._streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(itertools.repeat(None) if self._streams else sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def _check(self, batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any) -> None:
        if self._streams:
            for name, given in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given:
                    raise ArgumentError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}"
                    )
        if sampler is not None and shuffle:
            raise ArgumentError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ArgumentError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_size is None and drop_last:
            raise ArgumentError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )

    def __iter__(self) -> Iterator[Any]:
        _seed(self.generator)  # for torch's workers: what is drawn after it is torch's, too
        return self._streamed() if self._streams else self._picked()

    def _picked(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for place in self.sampler:
                yield self.collate_fn(self.dataset[place])
            return
        together = getattr(self.dataset, "__getitems__", None)
        for places in self.batch_sampler:
            yield self.collate_fn(together(places) if together else [self.dataset[place] for place in places])

    def _streamed(self) -> Iterator[Any]:
        examples = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, examples)
            return
        while batch := list(itertools.islice(examples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def __len__(self) -> int:
        if not self._streams:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return elsewhere(__name__, name)  # torch has more modules below

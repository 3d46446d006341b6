"""Random numbers as torch's CPU generator gives them: the same seed gives the same numbers.

The engine is the Mersenne twister with 32-bit words.  A double takes two words, everything narrower one; normal samples
are Box and Muller's, in blocks of sixteen when there are that many.  NumPy's generators and torch's own answer the same
questions here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

_AHEAD = 256
"""Doubles that are made at a time where it is not known how many are needed."""
_BLOCK = 16
_WIDE = 1 << 28
"""From this span on torch takes 64 bits for an integer."""


def _normal_pair(angle: float, chance: float) -> tuple[float, float]:
    """Two standard normal numbers of two uniform ones (Box and Muller 1958)."""
    radius = math.sqrt(-2 * math.log1p(-chance))
    return radius * math.cos(2 * math.pi * angle), radius * math.sin(2 * math.pi * angle)


class Generator:
    """A source of random numbers with torch's seeds and torch's numbers (of its portable, not its MKL, kernels).

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.Generator().manual_seed(0).uniform((2,), np.dtype("float64"))
    array([0.970..., 0.707...])
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device
        self._made: Any = None
        self.manual_seed(67280421310721)

    @property
    def _words(self) -> Any:
        """The engine, made when the first number is drawn: importing NumPy's takes as long as importing its arrays."""
        if self._made is None:
            self._made = np.random.MT19937()
            self._made._legacy_seeding(self._seed & 0xFFFFFFFF)
        return self._made

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed; returns the generator."""
        if not -(2**63) <= int(seed) < 2**64:
            raise ValueError(f"a seed has 64 bits: {seed} is not from -2**63 to 2**64 - 1")
        self._seed = int(seed) % 2**64
        self._made = None
        self._second_normal: float | None = None
        return self

    def seed(self) -> int:
        """Start from a seed that nobody knows; returns it."""
        return self.manual_seed(int.from_bytes(os.urandom(8)) >> 1).initial_seed()

    def initial_seed(self) -> int:
        """The seed this generator started from."""
        return self._seed

    def get_state(self) -> Any:
        """What ``set_state`` needs to go on from here."""
        return self._seed, self._words.state, self._second_normal

    def set_state(self, state: Any) -> None:
        """Go on from where ``get_state`` was called."""
        self._seed, self._words.state, self._second_normal = state

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Numbers from [0, 1)."""
        count = math.prod(shape)
        if dtype.kind == "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            return self._uniform(2 * count, part).view(dtype).reshape(shape)
        return self._uniform(count, dtype).reshape(shape)

    def _uniform(self, count: int, dtype: Any) -> Any:
        if dtype != np.float64:
            low = self._words.random_raw(count) & np.uint64((1 << 24) - 1)
            values = (low * 2.0**-24).astype(dtype)
            if dtype.itemsize == 2:  # what half precision rounds up to 1, which is not in the range, begins anew
                values[values == 1] = 0
            return values
        words = self._words.random_raw(2 * count)
        return (((words[::2] << np.uint64(32)) | words[1::2]) & np.uint64((1 << 53) - 1)) * 2.0**-53

    @contextmanager
    def one_by_one(self) -> Iterator[Callable[[], float]]:
        """What draws a double at each call; they are made many at a time, and the engine goes on after the last."""
        ahead: list[float] = []
        before: Any = None

        def draw() -> float:
            nonlocal before
            if not ahead:
                before = self._words.state
                ahead.extend(self._uniform(_AHEAD, np.dtype(np.float64))[::-1].tolist())
            return ahead.pop()

        try:
            yield draw
        finally:
            if ahead:
                self._words.state = before
                self._words.random_raw(2 * (_AHEAD - len(ahead)), output=False)

    def integers(self, span: int, shape: tuple[int, ...], wide: bool | None = None) -> Any:
        """Integers from 0 up to ``span``, itself excluded: a word for each, or (``wide``: as a wide span has) two."""
        count = math.prod(shape)
        if not (span >= _WIDE if wide is None else wide):
            return (self._words.random_raw(count) % np.uint64(span)).astype(np.int64).reshape(shape)
        words = self._words.random_raw(2 * count)
        long = (words[::2] << np.uint64(32)) | words[1::2]
        return (long % np.uint64(span)).astype(np.int64).reshape(shape)

    def permutation(self, count: int) -> Any:
        """The numbers below ``count`` in random order (Fisher and Yates)."""
        order = np.arange(count)
        jumps = self._words.random_raw(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint64)
        for k, jump in enumerate(jumps.tolist()):
            order[k], order[k + jump] = order[k + jump], order[k]
        return order

    def normal(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Standard normal numbers; complex ones have variance 1/2 in each part."""
        return self.normal_unrounded(shape, dtype).astype(dtype, copy=False)

    def normal_unrounded(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """The numbers of ``normal`` with all of the digits that they are drawn with."""
        count = math.prod(shape)
        if dtype.kind == "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            parts = self._normal(2 * count, part).astype(part, copy=False)
            return (parts / part.type(math.sqrt(2))).view(dtype).reshape(shape)
        return self._normal(count, dtype).reshape(shape)

    def normal_in_turn(self, shape: tuple[int, ...]) -> Any:
        """Standard normal doubles, two by two, however many there are."""
        count = math.prod(shape)
        made = [] if self._second_normal is None else [self._second_normal]
        pairs = max(0, count - len(made) + 1) // 2
        uniform = self._uniform(2 * pairs, np.dtype(np.float64)).tolist() if pairs else []
        for angle, chance in zip(uniform[::2], uniform[1::2], strict=True):
            made += _normal_pair(angle, chance)
        self._second_normal = made.pop() if len(made) > count else None
        return np.array(made, np.float64).reshape(shape)

    def next_normal(self, draw: Callable[[], float]) -> float:
        """One standard normal double, of the uniform ones that ``draw`` gives, or the second of the last two."""
        if self._second_normal is None:
            made, self._second_normal = _normal_pair(draw(), draw())
        else:
            made, self._second_normal = self._second_normal, None
        return made

    def _normal(self, count: int, dtype: Any) -> Any:
        if count < _BLOCK:
            return self.normal_in_turn((count,))
        whole, narrow = count - count % _BLOCK, dtype.itemsize == 2
        kind = np.dtype(np.float32) if narrow else dtype
        uniform = self._uniform(whole if narrow else count, kind)  # half precision draws no more than it uses
        out = np.empty(count, kind)
        out[:whole] = _box_muller(uniform[:whole])
        if whole < count:  # the last sixteen are drawn anew
            out[-_BLOCK:] = _box_muller(self._uniform(_BLOCK, kind))
        return out

    def bernoulli(self, chance: Any, shape: tuple[int, ...]) -> Any:
        """True with a probability, or with one of an array of probabilities for each entry."""
        dtype: Any = np.dtype(np.float64)
        if isinstance(chance, np.ndarray) and chance.dtype.kind in "fV":  # V is bfloat16
            dtype = np.dtype(np.float32) if chance.dtype.itemsize == 2 else chance.dtype
        return self.uniform(shape, dtype) < chance


class NumpyNumbers:
    """The same questions, answered by a NumPy generator that the user gave."""

    def __init__(self, source: np.random.Generator) -> None:
        self.source = source

    def integers(self, span: int, shape: tuple[int, ...], wide: bool | None = None) -> Any:  # noqa: ARG002
        """Integers from 0 up to ``span``, itself excluded."""
        return np.asarray(self.source.integers(span, size=shape))

    def permutation(self, count: int) -> Any:
        """The numbers below ``count`` in random order."""
        return self.source.permutation(count)

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Numbers from [0, 1)."""
        if dtype.kind == "c":
            return (self.source.random(shape) + 1j * self.source.random(shape)).astype(dtype)
        return np.asarray(self.source.random(shape)).astype(dtype)

    def normal(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Standard normal numbers; complex ones have variance 1/2 in each part."""
        real = np.asarray(self.source.standard_normal(shape))
        if dtype.kind == "c":
            return ((real + 1j * self.source.standard_normal(shape)) / math.sqrt(2)).astype(dtype)
        return real.astype(dtype)

    normal_unrounded = normal

    def normal_in_turn(self, shape: tuple[int, ...]) -> Any:
        """Standard normal doubles."""
        return self.normal(shape, np.dtype(np.float64))

    def bernoulli(self, chance: Any, shape: tuple[int, ...]) -> Any:
        """True with a probability, or with one of an array of probabilities for each entry."""
        return self.source.random(shape) < chance


class TorchNumbers:
    """The same questions, answered by one of torch's own generators."""

    def __init__(self, source: Any) -> None:
        import torch

        self.torch, self.source = torch, source

    def integers(self, span: int, shape: tuple[int, ...], wide: bool | None = None) -> Any:  # noqa: ARG002
        """Integers from 0 up to ``span``, itself excluded."""
        return self.torch.randint(span, shape, generator=self.source, device=self.source.device).cpu().numpy()

    def permutation(self, count: int) -> Any:
        """The numbers below ``count`` in random order."""
        return self.torch.randperm(count, generator=self.source, device=self.source.device).cpu().numpy()

    def uniform(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Numbers from [0, 1)."""
        return self._drawn(self.torch.rand, shape, dtype)

    def normal(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Standard normal numbers; complex ones have variance 1/2 in each part."""
        return self._drawn(self.torch.randn, shape, dtype)

    normal_unrounded = normal

    def normal_in_turn(self, shape: tuple[int, ...]) -> Any:
        """Standard normal doubles."""
        made = self.torch.empty(shape, dtype=self.torch.float64, device=self.source.device)
        return made.log_normal_(0, 1, generator=self.source).log_().cpu().numpy()

    def bernoulli(self, chance: Any, shape: tuple[int, ...]) -> Any:
        """True with a probability, or with one of an array of probabilities for each entry."""
        if not isinstance(chance, np.ndarray):
            out = self.torch.empty(shape, dtype=self.torch.float64, device=self.source.device)
            return out.bernoulli_(chance, generator=self.source).cpu().numpy() != 0
        chances = self.torch.tensor(chance, device=self.source.device).expand(shape)
        return self.torch.bernoulli(chances, generator=self.source).cpu().numpy() != 0

    def _drawn(self, draw: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        kind = getattr(self.torch, dtype.name)
        made = draw(shape, dtype=kind, generator=self.source, device=self.source.device).cpu()
        return made.float().numpy().astype(dtype) if dtype.itemsize == 2 else made.numpy()


def turned_in_memory(steps: Sequence[int], shape: tuple[int, ...]) -> bool:
    """Whether some axis of more than one entry has longer steps than one before it."""
    long = [step for step, size in zip(steps, shape, strict=False) if size > 1]
    return long != sorted(long, reverse=True)


def by_memory(steps: Sequence[int], shape: tuple[int, ...], draw: Callable[..., Any], *others: Any) -> Any:
    """What ``draw`` gives for a shape, with the numbers in the order in which entries lie in memory, as torch has it.

    ``steps`` are the strides of what is filled; row by row without any.  ``draw`` gets the shape with the axes in that
    order, and other arrays of the shape turned likewise.
    """
    if not turned_in_memory(steps, shape):
        return draw(shape, *others)
    order = sorted(range(len(shape)), key=lambda axis: -steps[axis])
    turned = draw(tuple(shape[axis] for axis in order), *(np.transpose(other, order) for other in others))
    return np.transpose(turned, np.argsort(order))


def normal_in_turn(source: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Standard normal doubles one after the other, as torch fills what does not lie row by row."""
    if dtype.kind != "c":
        return source.normal_in_turn(shape)
    parts = source.normal_in_turn((*shape, 2)) / math.sqrt(2)
    return parts[..., 0] + 1j * parts[..., 1]


def _box_muller(uniform: Any) -> Any:
    """Normal numbers from uniform ones: of every sixteen the first eight give the radii, the others the angles."""
    pairs = uniform.reshape(-1, 2, _BLOCK // 2)
    radius = np.sqrt(-2 * np.log(1 - pairs[:, 0]))
    angle = pairs[:, 1] * pairs.dtype.type(2 * math.pi)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)

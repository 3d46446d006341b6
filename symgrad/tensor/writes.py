"""Methods that write into a tensor: random numbers, a diagonal, the results of Python functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.dtypes import torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.kernels.entries.elementwise import fused
from symgrad.kernels.randomness.streams import by_memory, normal_in_turn
from symgrad.op import refusing
from symgrad.ops.noise import check_bound, drawn
from symgrad.ops.reductions.sums import cast
from symgrad.tape.memory.inplace import inplace, overwrite, refuse
from symgrad.tape.memory.overlap import OVERLAP, overlaps
from symgrad.tape.memory.writing import WHOLE, put
from symgrad.tape.record import Recorded

_FLOAT = np.dtype(np.float64)
_CONTINUOUS = (
    "{} distribution is a continuous probability distribution. dtype must be a floating point but you specified "
    "{{dtype}}"
)


class Writes(Recorded):
    """The part of a tensor that overwrites it.  The gradient does not pass through what was overwritten."""

    __slots__ = ()

    def _filled(self, value: Any, node: str, source: Any = None) -> Any:
        source = value if source is None else source
        if isinstance(value, Recorded) and value._value.dtype.kind == "c" != self._value.dtype.kind:
            value = cast(value, self._value.dtype)
        if overwrite(self, value):
            return self
        return inplace(self, lambda x: put(x, value, WHOLE, node, source=source), (), {}, even=True)

    def _drawn(self, values: Any, node: str, source: Any = None) -> Any:
        return self._filled(np.asarray(values).astype(self._value.dtype), node, source)

    # -------------------------------------------------------------------------------------- random numbers

    def _by_memory(self, draw: Callable[..., Any], *others: Any) -> Any:
        """Numbers in the order in which the entries of this tensor lie in memory; ``draw`` makes some of a shape."""
        value = self._value
        return by_memory(() if value.flags.c_contiguous else value.strides, value.shape, draw, *others)

    def _source(self, generator: Any, *others: Any) -> Any:
        """Where numbers come from for a tensor that takes them: one that refuses its change costs the seed none."""
        if overlaps(self._value):
            raise AutogradError(OVERLAP)
        refuse(self, others, "copy")
        return drawn(generator)

    def _uniform(self, generator: Any, dtype: Any = _FLOAT) -> Any:
        source = self._source(generator)
        return self._by_memory(lambda shape: source.uniform(shape, dtype))

    @refusing({"bui": "normal_kernel_cpu"})
    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
        """Normal samples in place; of complex numbers both parts have the mean, and half of the variance."""
        if not std >= 0:
            raise AutogradError(f"normal expects std >= 0.0, but found std {std}")
        source, dtype = self._source(generator), self._value.dtype
        if self._value.flags.c_contiguous:
            values = source.normal_unrounded(self._value.shape, dtype)
        else:
            values = self._by_memory(lambda shape: normal_in_turn(source, shape, dtype))
        if values.dtype.kind == "c":
            return self._drawn(values * std + complex(mean, mean), "NormalBackward0")
        kind = values.dtype.type
        return self._drawn(fused(values, kind(std), kind(mean)), "NormalBackward0")

    @refusing({"bui": "check_uniform_bounds"})
    def uniform_(self, a: float = 0.0, b: float = 1.0, *, generator: Any = None) -> Any:
        """Uniform samples from [a, b) in place; of complex numbers both parts."""
        dtype = self._value.dtype
        check_bound("from", a, dtype)
        check_bound("to", b, dtype)
        if a > b:
            raise AutogradError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
        if b - a > dtypes.finfo(dtype).max:
            raise AutogradError(
                "uniform_ expects to-from <= std::numeric_limits<dtype>::max(), but found "
                f"to={b} and from={a} which result in to-from to exceed the limit"
            )
        if dtype.itemsize == 2:  # rounded once; what is rounded to the end, which is not in the range, begins anew
            low, high = np.float32(a), np.float32(b)
            places = np.asarray(self._uniform(generator, dtypes.float32)).astype(_FLOAT)
            values = (places * _FLOAT.type(high - low) + low).astype(np.float32).astype(dtype)
            return self._drawn(np.where(values == dtype.type(b), dtype.type(a), values), "UniformBackward0")
        part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
        low, high = part.type(a), part.type(b)
        places = np.ascontiguousarray(self._uniform(generator, dtype)).view(part)
        return self._drawn(fused(places, high - low, low).view(dtype).reshape(self._value.shape), "UniformBackward0")

    @refusing({"c": "bernoulli_scalar_cpu_"})
    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """1 with probability ``p`` (a number, or a tensor of one for every entry) and 0 else, in place.

        >>> import symgrad as sg
        >>> sg.empty(2).bernoulli_(sg.tensor([0.0, 1.0]))
        tensor([0., 1.])
        """
        chances = np.broadcast_to(p._value, self._value.shape) if isinstance(p, Recorded) else p
        if not np.all((np.asarray(chances) >= 0) & (np.asarray(chances) <= 1)):
            raise AutogradError(
                "Expected p_in >= 0 && p_in <= 1 to be true, but got false."
                if isinstance(p, Recorded)
                else f"bernoulli_ expects p to be in [0, 1], but got p={p}"
            )
        source = self._source(generator, p)
        if isinstance(p, Recorded):
            values = self._by_memory(lambda shape, chances: source.bernoulli(chances, shape), chances)
        else:
            values = self._by_memory(lambda shape: source.bernoulli(p, shape))
        known = isinstance(p, Recorded)
        if known and p.requires_grad:  # the derivative by the chances is 0, as in torch, and not none
            values = cast(p * 0 + np.asarray(values), self._value.dtype)
            return self._filled(values, "BernoulliBackward1", p)
        return self._drawn(values, f"BernoulliBackward{1 if known else 2}", p if known else None)

    @refusing({"cbui": _CONTINUOUS.format("Exponential")})
    def exponential_(self, lambd: float = 1.0, *, generator: Any = None) -> Any:
        """Exponential samples of rate ``lambd`` in place."""
        if lambd <= 0:
            raise AutogradError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
        chances = self._uniform(generator)
        return self._drawn(-np.log1p(-chances) / lambd, "ExponentialBackward0")

    @refusing({"cbui": "log_normal_cpu"})
    def log_normal_(self, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
        """The exponential of normal samples in place."""
        if std <= 0:
            raise AutogradError(f"log_normal_ expects std > 0.0, but found std={std}")
        values = self._by_memory(self._source(generator).normal_in_turn)
        return self._drawn(np.exp(values * std + mean), "LogNormalBackward0")

    @refusing({"cbui": _CONTINUOUS.format("Cauchy")})
    def cauchy_(self, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
        """Cauchy samples in place."""
        if sigma <= 0:
            raise AutogradError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
        chances = self._uniform(generator)
        return self._drawn(median + sigma * np.tan(math.pi * (chances - 0.5)), "CauchyBackward0")

    @refusing({"cb": "geometric_cpu"})
    def geometric_(self, p: float, *, generator: Any = None) -> Any:
        """The number of trials up to the first success of probability ``p``, in place.

        >>> import symgrad as sg
        >>> _ = sg.manual_seed(0)
        >>> bool((sg.zeros(100).geometric_(0.5) >= 1).all())
        True
        """
        if not 0 < p < 1:
            raise AutogradError(f"geometric_ expects p to be in (0, 1), but got p={p}")
        chances = self._uniform(generator)
        return self._drawn(np.ceil(np.log(chances) / math.log1p(-p)), "GeometricBackward0")

    @refusing({"c": "random_kernel_cpu"})
    def random_(self, *bounds: int | None, generator: Any = None, **named: int | None) -> Any:
        """Integers in place: from ``from`` up to ``to`` (excluded), below ``to`` given alone, or all there are.

        ``to=None`` beside ``from`` is behind the last integer of the dtype that it can count to without a gap.  Both
        are given by place, or by name: ``random_(**{"from": 5, "to": None})``.

        >>> import symgrad as sg
        >>> _ = sg.manual_seed(0)
        >>> sg.zeros(4).random_(0, 10)
        tensor([4., 9., 3., 0.])
        """
        dtype, number = self._value.dtype, 2 - len(bounds) - len(named)
        low, last = _ends(bounds, named)
        high = _countable(dtype) if last is None else last
        if low >= high and last is not None:
            raise AutogradError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        check_bound("from", low, dtype)
        check_bound("to - 1", high - 1, dtype)
        source, wide = self._source(generator), dtype.itemsize == 8 if number == 2 else None
        values = self._by_memory(lambda shape: source.integers(high - low, shape, wide)) + low
        return self._drawn(values, f"RandomBackward{number}")

    # -------------------------------------------------------------------------------------- the rest

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Any:
        """One value on the main diagonal in place; ``wrap`` starts again below the square of a tall matrix.

        >>> import symgrad as sg
        >>> sg.zeros(2, 2).fill_diagonal_(3)
        tensor([[3., 0.],
                [0., 3.]])
        """
        shape: Any = self._value.shape
        if len(shape) < 2:
            raise AutogradError(f"dimensions must larger than 1: fill_diagonal_ needs a matrix, not the shape {shape}")
        if len(shape) > 2 and len(set(shape)) > 1:
            raise AutogradError(f"all dimensions of input must be of equal length, not of the sizes {shape}")
        tensor: Any = self
        diagonal = tensor
        for _ in shape[1:]:
            diagonal = diagonal.diagonal()
        diagonal.fill_(fill_value)
        if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
            places = np.arange(shape[1] * (shape[1] + 1), math.prod(shape), shape[1] + 1)
            tensor[np.divmod(places, shape[1])] = fill_value
        return self

    def apply_(self, callable: Callable[[Any], Any]) -> Any:
        """A Python function of a number on every entry, in place.  It has no derivative: see ``autograd.Function``.

        >>> import symgrad as sg
        >>> sg.tensor([1.0, 2.0]).apply_(lambda x: x + 1)
        tensor([2., 3.])
        """
        self._unrecorded("apply_")
        array = self._array()
        return self._filled(_numbers([callable(x) for x in array.reshape(-1).tolist()], array), "")

    def map_(self, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """A Python function of two numbers, this tensor's entries and another's, in place; without a derivative.

        >>> import symgrad as sg
        >>> sg.tensor([1.0, 2.0]).map_(sg.tensor([10.0, 20.0]), lambda a, b: a + b)
        tensor([11., 22.])
        """
        self._unrecorded("map_")
        return self._mapped(callable, tensor)

    def map2_(self, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """A Python function of three numbers, entries of this tensor and of two others, in place; no derivative.

        >>> import symgrad as sg
        >>> sg.tensor([1.0, 2.0]).map2_(sg.tensor([3.0, 4.0]), sg.tensor([5.0, 6.0]), lambda a, b, c: a + b * c)
        tensor([16., 26.])
        """
        for tensor in (self, x, y):
            tensor._unrecorded("map2_")
        return self._mapped(callable, x, y)

    def _mapped(self, function: Callable[..., Any], *others: Any) -> Any:
        array = self._array()
        for k, other in enumerate(others):
            if other.dtype != array.dtype:
                wanted, got = torch_name(array.dtype), torch_name(other.dtype)
                raise DtypeError(f"expected a tensor of {wanted} for argument {k + 1} (got {got})")
        rows = [other.detach().expand(array.shape)._value.reshape(-1).tolist() for other in others]
        made = [function(*row) for row in zip(array.reshape(-1).tolist(), *rows, strict=True)]
        return self._filled(_numbers(made, array), "")

    def _unrecorded(self, name: str) -> None:
        if self._requires_grad:
            raise ArgumentError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            )


def _numbers(results: list[Any], array: Any) -> Any:
    """What a Python function gave for the entries of an array, in its dtype."""
    made = np.asarray(results)
    if made.dtype.kind not in ("biufc" if array.dtype.kind == "c" else "biuf"):
        strange = next((x for x in results if np.asarray(x).dtype.kind not in "biuf"), results[0])
        raise ArgumentError(f"must be real number, not {type(strange).__name__} ({strange!r:.40})")
    return made.astype(array.dtype).reshape(array.shape)


def _ends(bounds: tuple[int | None, ...], named: dict[str, int | None]) -> tuple[int, int | None]:
    """Where random integers start, and what they stay below, of bounds given by place or by name."""
    given = dict(zip(("from", "to")[len(bounds) == 1 and not named :], bounds, strict=False)) | named
    low, high = given.get("from", 0), given.get("to")
    alone = given and "from" not in given and high is None
    if low is None or alone or not set(given) <= {"from", "to"} or len(given) < len(bounds) + len(named):
        raise ArgumentError(f"random_() takes to, or from and to, where to alone may be None; got {bounds} and {named}")
    if given and "to" not in given:
        raise ArgumentError("random_() takes from beside to, which may be None")
    return operator.index(low), None if high is None else operator.index(high)


def _countable(dtype: Any) -> int:
    """How many integers from 0 on a dtype holds without a gap."""
    if dtype.kind == "b":
        return 2
    if dtype.kind in "ui":
        return int(np.iinfo(dtype).max) + 1
    digits = int(dtypes.finfo(dtype).nmant) + 1
    return int(2**digits) + 1

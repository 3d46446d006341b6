"""Random tensors, and the state of the random numbers.

The same seed gives torch's numbers; ``generator=`` takes a :class:`Generator`, or one of NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import ArgumentError, AutogradError, DtypeError
from symgrad.kernels.randomness.streams import Generator, by_memory, normal_in_turn
from symgrad.op import known_as, refusal, shape_of
from symgrad.ops.noise import SOURCE, check_bound, dense_steps, drawn
from symgrad.tape.watching.watch import WATCH, note_problem
from symgrad.tensor import Tensor
from symgrad.tensor.creation import filled, finished, laid_like, like, model_of, whole_sizes

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "rand", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip

default_generator = Generator()
default_generator.seed()


def generator() -> Generator:
    """The random generator behind ``rand`` and its kin."""
    if WATCH.count:
        note_problem("random numbers were drawn; draw them outside and pass them as an argument")
    return default_generator


SOURCE[0] = generator


# ------------------------------------------------------------------------------------------ the state


def manual_seed(seed: int) -> Generator:
    """Seed the random functions; returns the generator.  The same seed gives torch's numbers.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> sg.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the random functions with a number that nobody knows; returns it.

    >>> import symgrad as sg
    >>> number = sg.seed()
    >>> number == sg.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the random functions started from.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(7)
    >>> sg.initial_seed()
    7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """What :func:`set_rng_state` needs to go on from here.

    >>> import symgrad as sg
    >>> state = sg.get_rng_state()
    >>> first = sg.rand(3)
    >>> sg.set_rng_state(state)
    >>> sg.equal(first, sg.rand(3))
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Go on from where :func:`get_rng_state` was called.

    >>> import symgrad as sg
    >>> state = sg.random.get_rng_state()
    >>> first = sg.random.rand(3)
    >>> sg.random.set_rng_state(state)
    >>> bool((sg.random.rand(3) == first).all())
    True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:  # noqa: ARG001  (torch's signature)
    """Within the block random numbers may be drawn and seeded; after it they go on as if there had been none."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


# ------------------------------------------------------------------------------------------ tensors


def _drawing(name: str, kind: str, kernel: str, doc: str) -> Callable[..., Tensor]:
    def make(*size: Any, generator: Any = None, _depth: int = 2, _like: Any = None, **options: Any) -> Tensor:
        source, steps = drawn(generator), dense_steps(_like)

        def fill(shape: tuple[int, ...], dtype: Any) -> Any:
            dtype = np.dtype(dtype)
            if dtype.kind in "bui":
                raise refusal(name, kernel, dtype)
            if steps and kind == "normal":
                return by_memory(steps, shape, lambda shape: normal_in_turn(source, shape, dtype)).astype(dtype)
            return by_memory(steps, shape, lambda shape: getattr(source, kind)(shape, dtype))

        return filled(name, fill, doc)(*size, _depth=_depth + 1, **options)

    return known_as(make, name, doc)


randn = _drawing(
    "randn", "normal", "normal_kernel_cpu", "Standard normal samples: ``randn(2, 3)``, ``randn((2, 3), generator=…)``."
)
rand = _drawing(
    "rand",
    "uniform",
    "check_uniform_bounds",
    "Uniform samples from [0, 1): ``rand(2, 3)``, ``rand((2, 3), generator=…)``.",
)
randn_like = like("randn_like", randn, told=True)
rand_like = like("rand_like", rand, told=True)


def randint(
    *bounds: Any,
    size: Any = None,
    low: int | None = None,
    high: int | None = None,
    generator: Any = None,
    dtype: Any = None,
    requires_grad: bool = False,
    _like: Any = None,
    **options: Any,
) -> Tensor:
    """Integers from ``low`` (or 0) up to ``high``, itself excluded: ``randint(high, size)``, ``randint(low, high, …)``.

    Raises ``AutogradError`` in torch's words where there is no such integer.

    >>> import symgrad as sg
    >>> sg.randint(5, 6, (2,))
    tensor([5, 5])
    """
    given = list(bounds)
    if len(given) + (size is not None) + (high is not None) < 2:
        raise ArgumentError("randint() takes (high, size) or (low, high, size)")
    if size is None:
        size = given.pop()
    if high is None:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    low, high = int(low), int(high)
    if low >= high:
        raise AutogradError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    shape, source, kind = whole_sizes((size,)), drawn(generator), dtypes.as_dtype(dtype or dtypes.int64)
    if kind.kind == "c":
        raise DtypeError("check_random_bounds handles only integral, floating-point and boolean types")
    check_bound("from", low, kind)
    check_bound("to - 1", high - 1, kind)
    value = by_memory(dense_steps(_like), shape, lambda shape: source.integers(high - low, shape)) + low
    value = laid_like(value.astype(kind), _like)
    return finished("randint", value, requires_grad, None, options)


def randint_like(input: Any, *bounds: int, dtype: Any = None, **options: Any) -> Tensor:
    """Integers in the shape and dtype of ``input``: ``randint_like(x, high)``, ``randint_like(x, low, high)``.

    >>> import symgrad as sg
    >>> _ = sg.manual_seed(0)
    >>> sg.randint_like(sg.zeros(4), 0, 10)
    tensor([4., 9., 3., 0.])
    """
    model = model_of(input, options)
    return randint(*bounds, size=shape_of(input), dtype=dtype or input.dtype, _like=model, **options)


def randperm(
    n: int, *, generator: Any = None, dtype: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    """The integers below ``n`` in random order.

    >>> import symgrad as sg
    >>> sorted(sg.random.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    count = int(n)
    if count < 0:
        raise ArgumentError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    kind = dtypes.as_dtype(dtype or dtypes.int64)
    if kind.kind in "bc":
        raise refusal("randperm", "randperm", kind)
    most = np.iinfo(kind).max if kind.kind in "ui" else 2 ** (int(dtypes.finfo(kind).nmant) + 1) + 1
    if count > most + (kind.kind in "ui"):
        raise ArgumentError(f"n cannot be greater than {most} for {dtypes.torch_name(kind)} type.")
    value = drawn(generator).permutation(count).astype(kind)
    return finished("randperm", value, requires_grad, None, options)

"""What is computed of a batch, chunk after chunk: the same code here and in worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from symgrad import dtypes, random
from symgrad.autograd import no_grad
from symgrad.autograd.graphs.shown import version_of
from symgrad.errors import ArgumentError
from symgrad.func import value_and_grad
from symgrad.func.bound import standing_for_arrays
from symgrad.func.chances import drawing
from symgrad.ops.rules import kinks
from symgrad.parallel.pieces import Sums, tree_sum
from symgrad.tape import containers
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor


class Manners(NamedTuple):
    """The settings of the process that are in force for a call."""

    dtype: Any
    convention: kinks.Convention
    recording: bool
    floating: dict[str, Any]

    @classmethod
    def here(cls) -> Manners:
        """Those of this moment."""
        return cls(dtypes.get_default_dtype(), kinks.in_force(), is_grad_enabled(), dict(np.geterr().items()))

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Inside, they are in force."""
        with ExitStack() as inside:
            inside.enter_context(dtypes.default_dtype(self.dtype))
            inside.enter_context(kinks.under(self.convention))
            inside.enter_context(np.errstate(**self.floating))
            if not self.recording:
                inside.enter_context(no_grad())
            yield


class Arguments(NamedTuple):
    """The arguments of a call without their arrays, and how the arrays are cut.

    ``others`` has the leaves that are no arrays, and None in place of arrays; ``wrapped`` says which of these
    the function gets as tensors; ``axes`` has the axis along which an array is cut, or None.  ``of_arrays`` says that
    the user gave no tensors, so that the function may be written for arrays.
    """

    structure: Any
    others: list[Any]
    wrapped: list[bool]
    axes: list[int | None]
    arrays: list[int]
    of_arrays: bool

    def filled(self, arrays: Sequence[Any], span: tuple[int, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """``(args, kwargs)`` of the chunk that goes from one example to another."""
        leaves = list(self.others)
        for k, array in zip(self.arrays, arrays, strict=True):
            part = cut(array, self.axes[k], span).view()
            part.flags.writeable = False
            leaves[k] = plain(Tensor, part) if self.wrapped[k] else part
        args, kwargs = containers.unflatten(self.structure, iter(leaves))
        return args, kwargs


def cut(array: Any, axis: int | None, span: tuple[int, int]) -> Any:
    """The examples from one to another along an axis."""
    return array if axis is None else array[(slice(None),) * axis + (slice(*span),)]


class Extra(NamedTuple):
    """What a chunk gives beside its sums: the dtype of the value, and what the function gave with it."""

    dtype: Any
    aux: Any


class Gradients:
    """A function whose value and gradient are summed over chunks.

    ``mean`` says that the function averages over its examples, so that a chunk counts by their number.
    """

    def __init__(self, function: Callable[..., Any], argnums: Any, has_aux: bool, mean: bool, randomness: str):
        self.settings = function, argnums, has_aux, mean, randomness
        self.function = function
        self.argnums = argnums
        self.has_aux = has_aux
        self.mean = mean
        self.randomness = randomness
        self.both = value_and_grad(function, argnums, has_aux)

    def __reduce__(self) -> Any:
        return Gradients, self.settings

    @property
    def name(self) -> str:
        """What errors call the function."""
        return str(getattr(self.function, "__name__", "the function"))

    @contextmanager
    def reading(self, args: Any, kwargs: Any) -> Iterator[None]:
        """Raise ``ArgumentError`` where the function changes an argument inside; before, the caller may have."""
        given = [x for x in containers.flatten((args, kwargs))[0] if isinstance(x, Recorded)]
        before = [version_of(x) for x in given]
        yield
        if [version_of(x) for x in given] != before:
            raise ArgumentError(
                f"parallel: {self.name} changes an argument in place, which other chunks read, too; let it change a "
                "clone()."
            )

    def chunk(self, args: Any, kwargs: Any, weight: float) -> tuple[Sums, Extra]:
        """``([value, gradient, ...], extra)`` of one chunk, as arrays of this call's own."""
        with drawing("error" if self.randomness == "error" else "different"), self.reading(args, kwargs):
            out, found = self.both(*args, **kwargs)
        value, aux = out if self.has_aux else (out, None)
        leaves = containers.flatten(found)[0]
        if any(getattr(x, "_requires_grad", False) for x in (value, *leaves)):
            raise ArgumentError(
                f"parallel: {self.name} uses a tensor from outside of its arguments that requires grad, and the "
                "derivative by it would be lost. Pass it as an argument (and name it in argnums), or detach() it."
            )
        sums = [weighted(x, weight if self.mean else 1.0) for x in (value, *leaves)]
        return sums, Extra(value.dtype, containers.tree_map(_bare, aux))


def weighted(x: Any, weight: float) -> Any:
    """A new array to add up: times its weight, half precision in float32."""
    value = np.asarray(x._value)
    wide = value.astype(np.float32 if dtypes.is_narrow(value.dtype) else value.dtype)
    return wide if weight == 1.0 else np.asarray(wide * wide.real.dtype.type(weight))


def _bare(leaf: Any) -> Any:
    """A tensor without its history, which goes from process to process."""
    return plain(Tensor, leaf._value) if isinstance(leaf, Recorded) else leaf


class Span(NamedTuple):
    """One chunk: its number, its examples, what it counts, and the seed of its random numbers."""

    number: int
    examples: tuple[int, int]
    weight: float
    seed: int | None


def run(
    job: Gradients, given: Arguments, arrays: Sequence[Any], spans: Sequence[Span], pieces: dict[int, Any], manners: Any
) -> tuple[Sums, list[Extra]]:
    """The sum over a run of chunks, and what each gives beside.

    ``pieces`` are arrays of the whole batch, by place in the sums: of gradients by an argument that is cut, to which
    every chunk writes its part.
    """
    extra: list[Extra] = []

    def each() -> Iterator[Sums]:
        for span in spans:
            args, kwargs = given.filled(arrays, span.examples)
            try:
                with random.fork_rng(enabled=span.seed is not None):
                    if span.seed is not None:
                        random.manual_seed(span.seed)
                    with standing_for_arrays(given.of_arrays):
                        sums, beside = job.chunk(args, kwargs, span.weight)
            except Exception as error:
                low, high = span.examples
                error.add_note(f"(in chunk {span.number}, the examples {low} to {high - 1} of the batch)")
                raise
            for k, (whole, axis) in pieces.items():
                cut(whole, axis, span.examples)[...] = sums[k]
            extra.append(beside)
            yield [part for k, part in enumerate(sums) if k not in pieces]

    with manners.applied():
        return tree_sum(each()), extra

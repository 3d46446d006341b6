"""A program as a list of steps: what runs, on which values, and where its results go."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import shape_of
from symgrad.tape.observers import STANDING
from symgrad.tape.threads import meanwhile


class Slot(NamedTuple):
    """The place of a value."""

    number: int


class Step(NamedTuple):
    """A function with its arguments (slots and constants), the slots of its results, and what it is called there.

    ``kept``: it runs even if nothing reads its results, because it changes an argument.  ``calls``: where it stands in
    the program that was traced (:data:`symgrad.tape.observers.STANDING`).
    """

    run: Callable[..., Any]
    args: tuple[Any, ...]
    outs: tuple[int, ...]
    name: str
    kept: bool = False
    calls: tuple[tuple[Any, int], ...] = ()


class ImportedFunction:
    """A function of arrays and tensors that runs the steps of a program.

    ``names`` are its arguments, ``shapes`` theirs; ``steps`` is what it runs.  It takes arrays, numbers and tensors of
    these shapes (None: of any), and raises ``ShapeError`` for others.  ``examples`` are the shapes that it was read
    with, which its formula is asked about.  ``entering`` makes values of the arguments.
    """

    def __init__(
        self,
        name: str,
        names: Sequence[str],
        shapes: Sequence[tuple[int, ...] | None],
        steps: Sequence[Step],
        results: Sequence[Any],
        several: bool,
        entering: Callable[[Any], Any] | None = None,
    ):
        self.__name__ = name
        self.names = list(names)
        self.shapes: list[tuple[int, ...] | None] = list(shapes)
        self.examples = list(shapes)
        self.steps = needed(steps, results)
        self.results = list(results)
        self.several = several
        self.entering = entering or _as_array
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in self.names]
        )

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The results for arrays, numbers or tensors."""
        try:
            given = self.__signature__.bind(*args, **named).arguments
        except TypeError as error:
            raise ArgumentError(f"{self.__name__}({', '.join(self.names)}): {error}.") from None
        values: dict[int, Any] = {}
        for k, (name, shape) in enumerate(zip(self.names, self.shapes, strict=True)):
            values[k] = self.entering(given[name])
            if shape is not None and tuple(shape_of(values[k])) != tuple(shape):
                raise ShapeError(
                    f"{self.__name__}: {name} has shape {tuple(shape_of(values[k]))} where the program was made for "
                    f"{tuple(shape)}; import it again with arguments of that shape."
                )
        with meanwhile(STANDING, calls=STANDING.calls):
            for step in self.steps:
                STANDING.calls = step.calls
                out = step.run(*[values[a.number] if isinstance(a, Slot) else a for a in step.args])
                values.update(zip(step.outs, out if len(step.outs) > 1 else (out,), strict=False))
        found = tuple(values[r.number] if isinstance(r, Slot) else r for r in self.results)
        return found if self.several else found[0]

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(self.names)}) in {len(self.steps)} operations>"


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, (list, float, int)) else value


def needed(steps: Sequence[Step], results: Sequence[Any]) -> list[Step]:
    """The steps whose results are read."""
    read = {r.number for r in results if isinstance(r, Slot)}
    kept = []
    for step in reversed(steps):
        if step.kept or read.intersection(step.outs):
            kept.append(step)
            read.update(a.number for a in step.args if isinstance(a, Slot))
    return kept[::-1]

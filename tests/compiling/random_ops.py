"""Random programs over the op table: steps are samples of its entries, inputs have special values among their entries.

A program is made of the table alone: an op that is new is among its steps as soon as it has samples.  Its arrays are of
one dtype, or of one more where dtypes meet.  How far two runs of a program may lie apart is asked of the program: its
values are ``rounded`` otherwise.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from hypothesis import find, settings, strategies as st
from hypothesis.errors import NoSuchExample

import symgrad as sg
from symgrad.errors import ShapeError, SymgradError
from symgrad.op import TABLE
from symgrad.op.operators import WRITTEN
from symgrad.proving.samples import make_case, ops, samples

SIZES = [dict(zip("nmpq", row, strict=True)) for row in (*((n,) * 4 for n in (3, 2, 3, 1)), (2, 3, 1, 2), (0, 3, 2, 1))]
SPECIAL = (0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -0.0, 0.5, 2.0, -2.0, 3.0, 40.0, -40.0, 800.0, -800.0)
NAMES = [op.name for op in ops() if samples(op) and not op.underived]
OPERATORS = [name for name in sorted(WRITTEN) if name in NAMES]
DTYPES = ("float32", "float16", "complex128", "complex64")
"""What programs are written in besides double precision."""


class Value(NamedTuple):
    """What an earlier line of a program gives."""

    line: int


class Step(NamedTuple):
    """A call of an op: its operands are values of earlier lines, or constants."""

    name: str
    operands: tuple[Any, ...]
    params: dict[str, Any]


class Program:
    """Lines that are inputs or steps; the result is that of the last line.

    ``values``: what the lines gave while the program was written; ``special``: by line and place, the entries that
    inputs have instead; ``weighed``: whether the loss is a weighted sum of the result, and not the plain one.
    """

    def __init__(
        self, lines: Sequence[Any], values: Sequence[Any], special: dict[tuple[int, int], float], weighed: bool
    ):
        used, stack = set(), [len(lines) - 1]
        while stack:
            used.add(k := stack.pop())
            stack += [a.line for a in getattr(lines[k], "operands", ()) if isinstance(a, Value)]
        self.lines = [line if k in used else None for k, line in enumerate(lines)]
        self.values, self.special, self.weighed = values, special, weighed
        for k, line in enumerate(self.lines):
            if isinstance(line, np.ndarray):
                self.lines[k] = line = line.copy()
                for place in range(line.size):
                    line.flat[place] = special.get((k, place), line.flat[place])
        self.inputs = [line for line in self.lines if isinstance(line, np.ndarray)]
        shape = values[len(lines) - 1].shape
        real = values[len(lines) - 1].real.dtype
        self.weights = 1.0
        if weighed:
            count = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            self.weights = (0.5 + count % 7 / 4).astype(real if real.kind == "f" else float)
        self.rounded: Callable[[Any], Any] = lambda value: value

    def value(self, *inputs: Any) -> Any:
        given, values = iter(inputs), []
        for line in self.lines:
            if isinstance(line, Step):
                operands = [values[a.line] if isinstance(a, Value) else a for a in line.operands]
                made = TABLE[line.name](*operands, **line.params)
                values.append(self.rounded(made))
            else:
                values.append(None if line is None else next(given))
        return values[-1]

    def loss(self, *inputs: Any) -> Any:
        return _real(self.value(*inputs) * self.weights).sum()

    def slopes(self, *inputs: Any) -> Any:
        return sg.func.grad(self.loss, tuple(range(len(inputs))))(*inputs)

    def second(self, *inputs: Any) -> Any:
        def total(*xs: Any) -> Any:
            return sum(_real(slope).sum() for slope in self.slopes(*xs))

        return sg.func.grad(total, tuple(range(len(inputs))))(*inputs)

    def __repr__(self) -> str:
        def shown(a: Any) -> str:
            return f"v{a.line}" if isinstance(a, Value) else repr(a)

        rows = []
        for k, line in enumerate(self.lines):
            if isinstance(line, Step):
                words = [*map(shown, line.operands), *(f"{key}={value!r}" for key, value in line.params.items())]
                rows.append(f"v{k} = {line.name}({', '.join(words)})")
            elif line is not None:
                rows.append(f"v{k} = {line!r}")
        return "\n".join(["", *rows, f"weights {self.weights!r}"])


def _real(x: Any) -> Any:
    return sg.real(x) if x.dtype.kind == "c" else x


@contextmanager
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def _numbers(a: Any) -> bool:
    return isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "fc"


class _Writer:
    """Writes the lines of a program, and runs them on the way, so that the shapes of all values are known."""

    def __init__(self, seed: int, dtype: str = "float64"):
        self.pick = random.Random(seed)
        self.dtypes = [dtype] if dtype == "float64" else [*[dtype] * 5, self.pick.choice(("float64", *DTYPES))]
        self.sizes = self.pick.choice(SIZES)
        self.lines: list[Any] = []
        self.values: list[Any] = []

    def fits(self, a: Any) -> list[int]:
        """The lines whose values may stand in the place of a sample's operand."""
        if not _numbers(a):
            return []
        return [k for k, v in enumerate(self.values) if v.shape == a.shape and v.dtype == a.dtype]

    def operand(self, a: Any) -> Any:
        """The newest value that fits, another one, or a new input; what holds no numbers stays as it is."""
        if not _numbers(a):
            return a
        fits = self.fits(a)
        if fits and self.pick.random() < 0.9:
            return Value(fits[-1] if self.pick.random() < 0.7 else self.pick.choice(fits))
        self.lines.append(np.asarray(a))
        self.values.append(self.lines[-1])
        return Value(len(self.lines) - 1)

    def step(self, name: str, sample: int) -> None:
        """One more step, unless the sample has no form of these sizes, or takes nothing of the step before."""
        newest, mark, op = len(self.lines) - 1, len(self.lines), TABLE[name]
        try:
            dtype = self.pick.choice(self.dtypes) if len(self.dtypes) > 1 else self.dtypes[0]
            args, params = make_case(name, sample, self.sizes, dtype)
            if self.lines and not any(newest in self.fits(a) for a in args):
                return
            derived = any(op.differentiable(i) for i in range(len(args)))
            # What has no derivative beside operands that have one is a constant, such as the weights of a resampling.
            operands = [a if derived and not op.differentiable(i) else self.operand(a) for i, a in enumerate(args)]
            row = [self.values[a.line] if isinstance(a, Value) else a for a in operands]
            made = self.run(op, row, params)
            if op.infer is not None and tuple(op.infer(*map(np.shape, row), **params)) != made.shape:
                raise ShapeError("parameters that are of other sizes")
        except (ArithmeticError, IndexError, SymgradError, TypeError, ValueError):
            del self.lines[mark:], self.values[mark:]
            return
        self.lines.append(Step(name, tuple(operands), params))
        self.values.append(made)

    def run(self, op: Any, row: list[Any], params: dict[str, Any]) -> Any:
        """What an op gives; but in double precision, tensors say whether it is there for the dtypes."""
        if self.dtypes == ["float64"]:
            return np.asarray(op.run(*row, **params))
        made = op(*(sg.tensor(a) if _numbers(a) else a for a in row), **params)
        return made.numpy() if isinstance(made, sg.Tensor) else np.asarray(made)

    def any_step(self) -> None:
        name = self.pick.choice(OPERATORS if self.pick.random() < 0.35 else NAMES)
        self.step(name, self.pick.randrange(len(samples(TABLE[name]))))

    def done(self, chance: float) -> Program:
        """The program, of whose inputs entries are special with this chance; what is infinite is no complex number."""
        special = {}
        for k, x in enumerate(self.lines):
            for place in range(x.size) if isinstance(x, np.ndarray) else ():
                if self.pick.random() < chance:
                    chosen = self.pick.choice(SPECIAL)
                    if x.dtype.kind == "f" or np.isfinite(chosen):
                        special[k, place] = chosen
        return Program(self.lines, self.values, special, self.pick.random() < 0.5)


def program(number: int, steps: int = 5, dtype: str = "float64") -> Program:
    """The program of this number, with up to so many steps."""
    writer = _Writer(number, dtype)
    with quiet():
        while not writer.lines:
            writer.any_step()
        for _ in range(12 * writer.pick.randrange(steps)):
            writer.any_step()
    return writer.done(0.25)


def single(name: str, sample: int) -> Program | None:
    """The program of one sample of an op, with special values in half of all places; None where it takes no numbers."""
    writer = _Writer(sample)
    writer.sizes = SIZES[0]
    with quiet():
        writer.step(name, sample)
    made = writer.done(0.5) if writer.lines else None
    return made if made is not None and made.inputs else None


@st.composite
def _simpler(draw: Any, whole: Program) -> Program:
    """A program with less: fewer steps, some of whose values may as well be inputs, and fewer special entries."""

    def left_out() -> bool:
        return draw(st.integers(0, 31)) == 0

    steps = [k for k, line in enumerate(whole.lines) if isinstance(line, Step)]
    end = steps[draw(st.integers(0, len(steps) - 1))]
    lines = list(whole.lines[: end + 1])
    for k in steps:
        if k < end and left_out():
            lines[k] = np.asarray(whole.values[k])
    special = {place: value for place, value in whole.special.items() if place[0] <= end and not left_out()}
    return Program(lines, whole.values, special, whole.weighed and not left_out())


def shrunk(whole: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest program that fails among those with less than ``whole``, which does."""
    several = settings(max_examples=200, database=None, deadline=None, derandomize=True)
    try:
        return find(_simpler(whole), fails, settings=several)  # type: ignore[no-any-return]
    except NoSuchExample:
        return whole

"""Mistakes made on purpose in gradients by hand, and how well ``check`` finds and names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.check.run import check
from symgrad.check.selftest.programs import REPEATED, Program, random_program

Gradients = list[Any]
Mutation = Callable[[Program, np.random.Generator], "Gradients | None"]

SMALLEST = 1e-10
"""The relative error of the smallest mistakes that have to be found."""


def _result(change: Callable[[Any, np.random.Generator, Program, int], Any]) -> Mutation:
    """A mistake in one of the gradients as a whole."""

    def mutation(program: Program, rng: np.random.Generator) -> Gradients | None:
        found = program.gradients()
        k = int(rng.integers(len(found)))
        changed = change(found[k].copy(), rng, program, k)
        return None if changed is None else [*found[:k], changed, *found[k + 1 :]]

    return mutation


def _rule(fits: Callable[[Any], bool], change: Callable[..., list[Any] | None]) -> Mutation:
    """A mistake in the rule of one of the steps that fit."""

    def mutation(program: Program, rng: np.random.Generator) -> Gradients | None:
        places = [k for k, (step, _) in enumerate(program.steps[:-1]) if fits(step)]
        if not places:
            return None
        chosen = places[int(rng.integers(len(places)))]
        tried: list[Any] = []

        def rule(number: int, g: Any, out: Any, inputs: list[Any]) -> list[Any]:
            step = program.steps[number][0]
            right = step.backward(g, out, *inputs)
            if number != chosen:
                return right
            wrong = change(right, g, out, inputs, step)
            tried.append(wrong)
            return right if wrong is None else wrong

        found = program.gradients(change=rule)
        return found if tried and tried[0] is not None else None

    return mutation


def _entry(g: Any, rng: np.random.Generator, change: Callable[[Any], Any]) -> Any:
    index = tuple(int(rng.integers(n)) for n in g.shape)
    g[index] = change(g[index])
    return g


def _swapped(program: Program, rng: np.random.Generator) -> Gradients | None:  # noqa: ARG001
    found = program.gradients()
    pairs = [(i, j) for j in range(len(found)) for i in range(j) if found[i].shape == found[j].shape]
    if not pairs:
        return None
    i, j = pairs[0]
    found[i], found[j] = found[j], found[i]
    return found


def _conjugate(value: Any) -> Any:
    return np.conj(value) if value.dtype.kind == "c" else None


def _is_unary(step: Any) -> bool:
    return step.arity == 1 and step.name not in ("gather", "transpose", "mean", "softmax")


def _overwritten(right: list[Any], g: Any, out: Any, inputs: list[Any], step: Any) -> list[Any]:  # noqa: ARG001
    made = np.zeros_like(right[0])
    made[REPEATED] = g
    return [made]


def _unsummed(program: Program, rng: np.random.Generator) -> Gradients | None:  # noqa: ARG001
    """A bias whose gradient is given per row."""
    k = next((k for k, a in enumerate(program.args) if a.ndim == 1), None)
    found = program.gradients()
    if k is None or not np.any(found[k]):
        return None
    rows = np.linspace(0.5, 1.5, 3)
    found[k] = (rows / rows.sum())[:, None] * found[k]
    return found


ANY = ("factor", "term", "terms", "sign", "local factor", "slice factors", "zeros", "zero", "other function")
"""What a wrong rule of one step may be called by: where all goes through that step, it is a factor of the whole."""
MUTATIONS: dict[str, tuple[Mutation, tuple[str, ...]]] = {
    "sign": (_result(lambda g, rng, p, k: -g), ("sign",)),
    "factor 2": (_result(lambda g, rng, p, k: 2 * g), ("factor",)),
    "factor 1/2": (_result(lambda g, rng, p, k: g / 2), ("factor",)),
    "mean for sum": (_result(lambda g, rng, p, k: g / g.shape[0]), ("factor",)),
    "factor 1.0005": (_result(lambda g, rng, p, k: g * (1 + 5e-4)), ("factor", "precision")),
    "factor 1 + 1e-9": (_result(lambda g, rng, p, k: g * (1 + 1e-9)), ("factor", "precision")),
    "one entry": (_result(lambda g, rng, p, k: _entry(g, rng, lambda v: 1.01 * v)), ("entry",)),
    "one entry zero": (_result(lambda g, rng, p, k: _entry(g, rng, lambda v: 0 * v)), ("entry",)),
    "one entry nan": (_result(lambda g, rng, p, k: _entry(g, rng, lambda v: v * np.nan)), ("non-finite",)),
    "zero": (_result(lambda g, rng, p, k: 0 * g), ("zero",)),
    "transpose": (
        _result(lambda g, rng, p, k: g.T if g.ndim == 2 else None),
        ("transpose",),
    ),
    "flip": (_result(lambda g, rng, p, k: g[::-1]), ("order",)),
    "shift": (_result(lambda g, rng, p, k: np.roll(g, 1, 0)), ("order",)),
    "row lost": (_result(lambda g, rng, p, k: np.r_[g[:1] * 0, g[1:]]), ("zeros", "entry", "slice")),
    "constant added": (_result(lambda g, rng, p, k: g + np.asarray(0.1, g.dtype)), ("offset",)),
    "decay added": (_result(lambda g, rng, p, k: g + np.asarray(0.1, g.dtype) * p.args[k]), ("regularisation",)),
    "clipped": (
        _result(lambda g, rng, p, k: np.clip(g, -1, 1) * (np.abs(g).max() > 1) if g.dtype.kind == "f" else None),
        ("clipped", "entry", "function", "slice", "zero"),
    ),
    "single precision": (
        _result(lambda g, rng, p, k: g.astype(np.complex64 if g.dtype.kind == "c" else np.float32).astype(g.dtype)),
        ("precision",),
    ),
    "conjugate": (_result(lambda g, rng, p, k: _conjugate(g)), ("conjugate", "complex part")),
    "not summed": (_unsummed, ("missing sum",)),
    "swapped": (_swapped, ("swapped", "factor", "sign", "zero")),
    "path lost": (
        _rule(lambda s: s.arity == 2, lambda right, *_: [right[0], 0 * right[1]]),
        (*ANY, "inner derivative", "held constant"),
    ),
    "sign of a path": (_rule(lambda s: s.arity == 2, lambda right, *_: [right[0], -right[1]]), (*ANY, "signs")),
    "path twice": (_rule(lambda s: s.arity == 2, lambda right, *_: [2 * right[0], right[1]]), ANY),
    "inner derivative": (
        _rule(_is_unary, lambda right, g, *_: [g]),
        (*ANY, "inner derivative", "branch", "local derivative", "operand"),
    ),
    "inner derivative twice": (
        _rule(_is_unary, lambda right, g, out, inputs, step: step.backward(right[0], out, *inputs)),
        (*ANY, "inner derivative", "local derivative", "operand"),
    ),
    "argument for result": (
        _rule(lambda s: s.name in ("tanh", "sigmoid"), lambda right, g, out, i, step: step.backward(g, i[0], i[0])),
        (*ANY, "local derivative", "operand"),
    ),
    "overwritten": (_rule(lambda s: s.name == "gather", _overwritten), ("overwritten",)),
    "branch forgotten": (
        _rule(lambda s: s.name == "relu", lambda right, g, *_: [g]),
        (*ANY, "branch", "inner derivative"),
    ),
    "matrix not turned": (
        _rule(
            lambda s: s.name == "matmul",
            lambda right, g, out, i, step: [g @ np.conj(i[1]), right[1]] if len({*g.shape, *i[1].shape}) == 1 else None,
        ),
        ("transpose", "argument", "operand", "other function", "terms"),
    ),
}  # fmt: skip
"""By name: how it is made, and the kinds of diagnosis that name it."""


@dataclass
class Outcome:
    """What came of a run: counts, and the cases to look at."""

    right: int = 0
    alarms: list[str] = field(default_factory=list)
    mutants: int = 0
    missed: list[str] = field(default_factory=list)
    named: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    unnamed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """No false alarm, no mistake missed, nine of ten named."""
        return not self.alarms and not self.missed and self.share >= 0.9

    @property
    def share(self) -> float:
        """The share of mistakes that were named right."""
        return sum(self.named.values()) / max(self.mutants, 1)

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        kinds = {kind: {"made": self.made[kind], "named": self.named[kind]} for kind in self.made}
        return {
            "ok": self.ok, "right": self.right, "false_alarms": self.alarms, "mutants": self.mutants,
            "missed": self.missed, "named": self.share, "kinds": kinds,
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.right} right gradients: {len(self.alarms)} false alarms"]
        lines += [f"{self.mutants} wrong ones: {len(self.missed)} missed, {self.share:.1%} named right"]
        lines += [f"  {kind:<24} {self.named[kind]:>4} of {self.made[kind]}" for kind in self.made]
        return "\n".join(
            [*lines, *(f"false alarm: {text}" for text in self.alarms), *map("missed: {}".format, self.missed)]
        )


def selftest(mutants: int = 300, right: int = 300, seed: int = 0) -> Outcome:
    """Check gradients of random programs: ``right`` ones in six dtypes, and ``mutants`` with a mistake.

    >>> outcome = selftest(mutants=5, right=6)
    >>> outcome.right, outcome.mutants, outcome.alarms, outcome.missed
    (6, 5, [], [])
    """
    outcome = Outcome()
    for number in range(right):
        _check_right(outcome, np.random.default_rng([seed, 0, number]), number)
    for name, program, gradients, label in _mutants(mutants, seed):
        _check_wrong(outcome, name, program, gradients, label)
    return outcome


def _dtypes() -> list[Any]:
    wide = [np.float64, np.float32, np.complex128, np.complex64, np.float16]
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return wide
    return [*wide, bfloat16]


def _check_right(outcome: Outcome, rng: np.random.Generator, number: int) -> None:
    dtypes = _dtypes()
    dtype = np.dtype(dtypes[number % len(dtypes)])
    narrow = dtype.itemsize == 2
    program = random_program(rng, np.float32 if narrow else dtype)
    args = [a.astype(dtype) for a in program.args] if narrow else program.args
    with np.errstate(all="ignore"):
        # As libraries do, half precision is computed in single and rounded.
        gradients = program.gradients([a.astype(np.float32) for a in args] if narrow else args)
    if not all(np.isfinite(g).all() for g in gradients):
        return
    given = tuple(g.astype(dtype) for g in gradients)
    report = check(program, given, *args, names=program.names)
    outcome.right += 1
    if not report.ok:
        outcome.alarms.append(f"program {number} in {dtype}: {[s.name for s, _ in program.steps]}\n{report}")


def _mutants(count: int, seed: int) -> Iterator[tuple[str, Program, Gradients, str]]:
    """So many wrong gradients, of all kinds in turn, each off by more than the smallest error."""
    names, made, number = list(MUTATIONS), 0, 0
    while made < count:
        rng = np.random.default_rng([seed, 1, number])
        name = names[number % len(names)]
        is_complex = name == "conjugate" or (number // len(names)) % 4 == 3
        program = random_program(rng, np.complex128 if is_complex else np.float64)
        number += 1
        with np.errstate(all="ignore"):
            right, wrong = program.gradients(), MUTATIONS[name][0](program, rng)
        if wrong is not None and _differs(right, wrong):
            made += 1
            yield name, program, wrong, f"{name}, program {number - 1}: {[s.name for s, _ in program.steps]}"


def _differs(right: Gradients, wrong: Gradients) -> bool:
    if not all(np.isfinite(g).all() for g in right):
        return False
    noise = 1e-4 * max(np.abs(a).max() for a in right)  # what cancels to 0 but for its rounding has no sign
    for a, b in zip(right, wrong, strict=True):
        if a.shape != b.shape or np.isnan(b).any():
            return True
        if np.abs(a - b).max() > SMALLEST * max(np.abs(a).max(), noise):
            return True
    return False


def _check_wrong(outcome: Outcome, name: str, program: Program, gradients: Gradients, label: str) -> None:
    report = check(program, tuple(gradients), *program.args, names=program.names)
    outcome.mutants += 1
    outcome.made[name] += 1
    if report.ok:
        outcome.missed.append(label)
        return
    kinds = {a.diagnosis.kind for a in report.arguments if a.diagnosis is not None}
    if kinds <= {*MUTATIONS[name][1]}:
        outcome.named[name] += 1
    else:
        outcome.unnamed.append(f"{label}: {sorted(kinds)}")

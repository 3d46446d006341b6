"""The exact gradient, and how far rounding alone may carry an honest one from it.

``f`` runs on double-precision tensors and the tape gives the gradient.  A directional derivative by differences of
``f`` itself guards against functions that leave the tape on the way (``float(x)``, ``x.data``); those, and functions
that do not run on tensors at all, are treated as black boxes (:mod:`symgrad.check.blackbox`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.autograd import grad as tape_grad
from symgrad.check.arrays import as_array, epsilon, is_array_like, wide
from symgrad.check.blackbox import central_difference, gradient_of_black_box
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

ULPS = 32
"""How many times its natural rounding error an honest gradient may be off: room for another order of summation."""


@dataclass
class Exact:
    """The answer of the oracle.

    gradients  exact gradients in double precision, one per argument under check
    tolerance  how far each entry of an honest gradient may be off
    low, high  the span of each entry over the pieces that meet at the point, where ``f`` has a kink there
    output     the result of ``f`` as a tensor with its graph, None for a black box
    leaves     the arguments under check as tensors of that graph
    """

    method: str
    value: Any
    gradients: list[Any]
    tolerance: list[Any]
    low: list[Any] = field(default_factory=list)
    high: list[Any] = field(default_factory=list)
    output: Any = None
    leaves: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Subject:
    """``f`` at one point: its arguments in double precision, and which of them are under check."""

    def __init__(self, f: Callable[..., Any], args: Sequence[Any], positions: Sequence[int], names: Sequence[str]):
        self.f = f
        self.positions = list(positions)
        self.names = list(names)
        self.data = [k for k, a in enumerate(args) if is_array_like(a)]
        self.args = [wide(as_array(a)) if k in self.data else a for k, a in enumerate(args)]
        self.dtypes = [as_array(args[k]).dtype for k in self.positions]

    def moved(self, moves: dict[int, Any]) -> list[Any]:
        """The arguments with ``moves`` added to some of them."""
        return [a + moves[k] if k in moves else a for k, a in enumerate(self.args)]

    def trace(self, args: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The result of ``f`` on named tensors, and the leaves under check."""
        values = [self._leaf(k, a) if k in self.data else a for k, a in enumerate(args)]
        return self.f(*values), [values[k] for k in self.positions]

    def _leaf(self, k: int, array: Any) -> Any:
        made = plain(Tensor, np.array(array)[()])
        made.more().name = self.names[k]
        return made.requires_grad_() if k in self.positions else made

    def on_tensors(self, args: Sequence[Any]) -> Any:
        """The value of ``f`` computed with tensors that record nothing."""
        with no_grad():
            out = self.f(*(plain(Tensor, np.array(a)[()]) if k in self.data else a for k, a in enumerate(args)))
        return as_array(out)[()]

    def on_arrays(self, args: Sequence[Any]) -> Any:
        """The value of ``f`` computed with plain arrays."""
        return as_array(self.f(*(np.array(a)[()] if k in self.data else a for k, a in enumerate(args))))[()]


def exact_gradient(subject: Subject, given: Sequence[Any]) -> Exact:
    """The exact gradient at the point, from the tape if ``f`` can be traced and from ``f``'s values if not."""
    try:
        with np.errstate(all="ignore"):
            output, leaves = subject.trace(subject.args)
        reason = "" if isinstance(output, Recorded) else f"f gave a {type(output).__name__}, which has no history"
    except Exception as error:  # noqa: BLE001  (whatever f does with a tensor; it may still run on arrays)
        said = " ".join(str(error).split())
        reason = f"f does not run on symgrad tensors ({type(error).__name__}: {said:.60}{'…' * (len(said) > 60)})"
        output = None
        try:
            with np.errstate(all="ignore"):
                subject.on_arrays(subject.args)
        except Exception:  # noqa: BLE001
            raise error from None
    if reason:
        return _black_box(subject, given, subject.on_arrays, reason)
    _require_scalar(output)
    _require_deterministic(output._value, subject.on_tensors(subject.args))
    gradients = _tape_gradients(output, leaves)
    if not _agrees_with_values(subject, gradients):
        reason = "f leaves the tape on the way (float(), .item(), .data, .detach() or plain NumPy on values)"
        return _black_box(subject, given, subject.on_tensors, reason)
    found = Exact("the exact derivative, from the recorded operations", output._value, gradients, [])
    found.output, found.leaves = output, leaves
    _set_tolerances(subject, found, given)
    return found


def _require_scalar(output: Any) -> None:
    if as_array(output).size != 1:
        raise ArgumentError(
            f"check() compares gradients of a scalar function, but f gave shape {as_array(output).shape}; reduce it "
            "(sum, mean), or check lambda *args: (v * f(*args)).sum() for a fixed v."
        )
    if as_array(output).dtype.kind == "c":
        raise ArgumentError(
            "check() compares gradients of a real function, but f gave a complex number; check its abs()."
        )


def _require_deterministic(value: Any, again: Any) -> None:
    if not np.array_equal(as_array(value), as_array(again), equal_nan=True):
        raise ArgumentError(
            f"f is not deterministic: it gave {value} and then {again} for the same arguments. Fix its random seed "
            "inside f."
        )


def _tape_gradients(output: Any, leaves: Sequence[Any]) -> list[Any]:
    if not output._requires_grad:
        return [np.zeros_like(as_array(leaf)) for leaf in leaves]
    found = tape_grad(output, leaves, retain_graph=True, allow_unused=True, materialize_grads=True)
    return [np.asarray(g._value) for g in found]


def _black_box(subject: Subject, given: Sequence[Any], run: Callable[[Sequence[Any]], Any], reason: str) -> Exact:
    value = run(subject.args)
    _require_scalar(value)
    _require_deterministic(value, run(subject.args))
    method, gradients, errors = gradient_of_black_box(run, subject.args, subject.positions)
    found = Exact(method, value, gradients, [], notes=[f"{reason}; it was treated as a black box"])
    found.low, found.high = gradients, gradients
    for g, error, c, dtype in zip(gradients, errors, given, subject.dtypes, strict=True):
        eps = epsilon(c.dtype, dtype)
        found.tolerance.append(4 * error + ULPS * eps * (np.abs(g) + _largest(g)))
    return found


# ---------------------------------------------------------------------------------------------- trust in the tape


def _agrees_with_values(subject: Subject, gradients: Sequence[Any]) -> bool:
    """Whether the tape's gradient predicts how ``f``'s values move along a direction, here or close by.

    "Close by" clears points that sit on a kink, where the difference quotient takes the mean of two pieces.
    """
    rng = np.random.default_rng(0)
    for attempt in range(2):
        moves = {k: _nudge(subject.args[k], rng) * 1e-3 * attempt for k in subject.positions}
        args = subject.moved(moves)
        if attempt:
            output, leaves = subject.trace(args)
            gradients = _tape_gradients(output, leaves)
        direction = {k: _nudge(args[k], rng) for k in subject.positions}
        slope = sum(
            float(np.sum(np.real(np.conj(g) * direction[k])))
            for k, g in zip(subject.positions, gradients, strict=True)
        )  # fmt: skip
        measured, error = central_difference(
            lambda t, args=args, direction=direction: subject.on_tensors(  # type: ignore[misc]
                [a + t * direction[k] if k in direction else a for k, a in enumerate(args)]
            )
        )
        scale = sum(float(np.sum(np.abs(g * direction[k]))) for k, g in zip(subject.positions, gradients, strict=True))
        if not np.isfinite(measured) or not np.isfinite(slope):
            return True
        if abs(slope - measured) <= 20 * error + 1e-5 * scale + 1e-12:
            return True
    return False


def _nudge(array: Any, rng: np.random.Generator) -> Any:
    """A random direction of the size of the array's entries."""
    size = np.where(array == 0, 1.0, np.abs(array))
    noise = rng.uniform(0.5, 1, array.shape) * rng.choice([-1.0, 1.0], array.shape)
    if array.dtype.kind == "c":
        noise = noise * np.exp(1j * rng.uniform(0, 6, array.shape))
    return size * noise


# ---------------------------------------------------------------------------------------------- tolerance


def _largest(array: Any) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


def _set_tolerances(subject: Subject, found: Exact, given: Sequence[Any]) -> None:
    """Tolerance per entry: rounding of the result, and the exact gradient's own movement under rounded inputs."""
    eps = [epsilon(c.dtype, dtype) for c, dtype in zip(given, subject.dtypes, strict=True)]
    near = _moved_gradients(subject, max(eps), 4)
    far = _moved_gradients(subject, 16 * max(eps), 2)
    for i, g in enumerate(found.gradients):
        moved = np.max([np.abs(s[i] - g) for s in near], axis=0) if near else np.zeros(g.shape)
        moved_far = np.max([np.abs(s[i] - g) for s in far], axis=0) if far else np.zeros(g.shape)
        floor = eps[i] * (np.abs(g) + _largest(g))
        # Noise grows with the size of the move; a jump does not.  What jumps is a kink, and no excuse for an error.
        jump = (moved > np.sqrt(eps[i]) * _largest(g)) & (moved_far < 4 * moved)
        found.tolerance.append(ULPS * (np.where(jump | ~np.isfinite(moved), 0, moved) + floor))
        samples = [g, *(s[i] for s in near + far)]
        found.low.append(np.where(jump, np.min(np.real(samples), axis=0), np.real(g)))
        found.high.append(np.where(jump, np.max(np.real(samples), axis=0), np.real(g)))


def _moved_gradients(subject: Subject, eps: float, count: int) -> list[list[Any]]:
    """Exact gradients at points that all data arguments reach by one rounding error."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(count):
        moves = {}
        for k in subject.data:
            array = subject.args[k]
            if is_floating(array.dtype):
                size = np.where(array == 0, max(_largest(array), 1.0), np.abs(array))
                moves[k] = eps * size * rng.choice([-1.0, 1.0], array.shape)
        with np.errstate(all="ignore"):
            output, leaves = subject.trace(subject.moved(moves))
            found.append(_tape_gradients(output, leaves))
    return found

"""A function at a point, for ``gradcheck``: its inputs and outputs, its differences, its backward passes.

The smaller checks stand here too: that backward repeats itself, takes batches and undefined gradients, keeps dtypes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.autograd.function import Function
from symgrad.autograd.graphs.shown import version_of
from symgrad.autograd.sweeps.entrances import grad
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError, GradcheckError, UnsteadyOutput
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor


def random_values(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Normally distributed entries."""
    value = rng.standard_normal(shape)
    if dtype.kind == "c":
        value = value + 1j * rng.standard_normal(shape)
    return np.asarray(value).astype(dtype)[()]


def tensors_of(outputs: Any, tracked: bool) -> list[Any]:
    """The results of a function; with ``tracked`` those that require grad.  Raises for results that are no tensors."""
    row = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    for o in row:
        if not isinstance(o, Recorded):
            raise ArgumentError(f"gradcheck: the function must return tensors, not {type(o).__name__} ({o!r:.40})")
    return [o for o in row if o._requires_grad or not tracked]


def new_leaf(value: Any, requires_grad: bool) -> Any:
    """A leaf with a value."""
    made = plain(Tensor, value)
    made._requires_grad = requires_grad
    return made


def place(entry: int, of: Any) -> str:
    """The index of an entry, as text."""
    shape = of._value.shape
    return str([int(i) for i in np.unravel_index(int(entry), shape)]) if shape else ""


def worst(values: Any) -> Any:
    """The entry of largest magnitude."""
    values = np.ravel(values)
    return values[np.nan_to_num(np.abs(values), nan=np.inf).argmax()].item()


@contextmanager
def _moved_in_memory(x: Any, move: Any) -> Iterator[None]:
    """The entries of a tensor moved where they lie, as by ``.data``: so do all that share its memory."""
    kept = x._array()
    if not kept.flags.writeable:
        x._value = kept.copy()
    entries, before = x._value, kept.copy()
    entries[...] = before + move
    try:
        yield
    finally:
        entries[...] = before
        x._value = kept


class Subject:
    """A function at a point: its inputs under check and its outputs there."""

    def __init__(self, func: Callable[..., Any], inputs: tuple[Any, ...], eps: float):
        self.func = func
        self.inputs = inputs
        self.eps = eps
        self.checked = [k for k, x in enumerate(inputs) if isinstance(x, Recorded) and x._requires_grad]
        self._look_at_inputs()
        self.outputs = tensors_of(self._call(), tracked=False)
        self.tracked = [k for k, o in enumerate(self.outputs) if o._requires_grad]

    def _look_at_inputs(self) -> None:
        if not self.checked:
            raise ArgumentError(
                "gradcheck expects at least one input tensor to require gradient, but none of them have "
                "requires_grad=True."
            )
        for k in self.checked:
            value = self.inputs[k]._value
            if value.dtype not in (np.float64, np.complex128):
                warnings.warn(
                    f"Input #{k} requires gradient and is not a double precision floating point or complex. This check "
                    "will likely fail if all the inputs are not of double precision floating point or complex. ",
                    stacklevel=4,
                )
            if any(s == 0 and n > 1 for s, n in zip(getattr(value, "strides", ()), value.shape, strict=False)):
                raise AutogradError(
                    f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                    "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                    ".contiguous on the input before passing it to gradcheck."
                )

    def name(self, k: int) -> str:
        """``input 0 (x)``."""
        name = self.inputs[k].name
        return f"input {k}" + (f" ({name})" if name else "")

    def _call(self) -> Any:
        before = [version_of(self.inputs[k]) for k in self.checked]
        with enable_grad():
            found = self.func(*self.inputs)
        self.changing = before != [version_of(self.inputs[k]) for k in self.checked]
        return found

    def given(self) -> list[Any]:
        """What the function is called with: the inputs, or copies of those under check if it changes them in place."""
        with enable_grad():
            return [x.clone() if self.changing and k in self.checked else x for k, x in enumerate(self.inputs)]

    def trace(self) -> tuple[list[Any], list[Any]]:
        """``(inputs under check, outputs)`` of a run of its own."""
        with enable_grad():
            found = self.func(*self.given())
        return [self.inputs[k] for k in self.checked], tensors_of(found, tracked=False)

    def moved(self, k: int, move: Any) -> list[Any]:
        """The values of all outputs with input ``k`` moved."""
        with _moved_in_memory(self.inputs[k], move), enable_grad():
            found = self.func(*self.given())
            return [np.array(o._value) for o in tensors_of(found, tracked=False)]

    def difference(self, k: int, direction: Any) -> list[Any]:
        """The derivative of all outputs along ``direction`` of input ``k``, by central differences."""
        low, high = self.moved(k, -self.eps * direction), self.moved(k, self.eps * direction)
        for j, (a, b, out) in enumerate(zip(low, high, self.outputs, strict=False)):
            for what, now in (("shape", out._value.shape), ("dtype", out.dtype)):
                if not getattr(a, what) == getattr(b, what) == now:
                    raise UnsteadyOutput(
                        f"Expected `func` to return outputs with the same {what} when inputs are perturbed by "
                        f"{self.eps}, but {what}s of output {j} are {getattr(a, what)}, {now} and {getattr(b, what)} "
                        f"when {self.name(k)} is lowered, left and raised."
                    )
        return [(b - a) / (2 * self.eps) for a, b in zip(low, high, strict=True)]

    def units(self, k: int) -> Iterator[tuple[int, bool, Any]]:
        """The real directions of input ``k``: entry, whether it is the imaginary one, and the direction."""
        value = self.inputs[k]._value
        for entry in range(value.size):
            unit = np.zeros(value.shape, value.dtype)
            unit.flat[entry] = 1
            yield entry, False, unit
            if value.dtype.kind == "c":
                yield entry, True, unit * 1j

    def pullback(self, leaves: Any, out: Any, seed: Any) -> list[Any]:
        """The gradients of the checked inputs for one cotangent, zero where there is none."""
        if not out._requires_grad:
            return [np.zeros_like(x._value) for x in leaves]
        found = grad([out], leaves, [plain(Tensor, seed)], retain_graph=True, allow_unused=True)
        return [
            np.zeros_like(x._value) if g is None else np.array(g._value) for g, x in zip(found, leaves, strict=True)
        ]

    # -------------------------------------------------------------------------------------- the smaller checks

    def check_dtypes(self) -> None:
        """Inputs and outputs are all real or all complex, and of one precision."""
        dtypes = {self.inputs[k].dtype for k in self.checked} | {self.outputs[k].dtype for k in self.tracked}
        if len({np.empty(0, d).real.dtype for d in dtypes}) > 1:
            raise GradcheckError(
                f"the inputs and outputs under check have different precisions, {sorted(map(str, dtypes))}; gradients "
                "of these dtypes cannot be compared exactly"
            )

    def check_constant(self) -> bool:
        """Without differentiable output the derivative must be zero."""
        for k in self.checked:
            for entry, _, unit in self.units(k):
                for j, d in enumerate(self.difference(k, unit)):
                    if is_floating(self.outputs[j].dtype) and np.any(d != 0):
                        raise GradcheckError(
                            "Numerical gradient for function expected to be zero: output "
                            f"{j} does not require grad, but moves by {worst(d)!r} per unit of {self.name(k)} at entry "
                            f"{place(entry, self.inputs[k])}. It left the graph on the way (detach(), .data, item() or "
                            "NumPy on values)."
                        )
        return True

    def check_repeatable(self, tolerance: float) -> None:
        """Two backward passes over one graph agree."""
        leaves, outputs = self.trace()
        rng = np.random.default_rng(0)
        for j in self.tracked:
            out = outputs[j]
            seed = random_values(rng, out._value.shape, out.dtype)
            first, second = self.pullback(leaves, out, seed), self.pullback(leaves, out, seed)
            for k, a, b in zip(self.checked, first, second, strict=True):
                off = np.abs(a - b).max(initial=0.0)
                if off > tolerance:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
                        "times gives different values, although analytical gradient matches numerical gradient. "
                        f"The tolerance for nondeterminism was {tolerance}. (output {j}, {self.name(k)}: {off:g} apart)"
                    )

    def check_batched(self) -> None:
        """A batch of cotangents gives what they give one by one."""
        leaves, outputs = self.trace()
        rng = np.random.default_rng(1)
        for j in self.tracked:
            out = outputs[j]
            seeds = np.stack([random_values(rng, out._value.shape, out.dtype) for _ in range(2)])
            together = grad(
                [out], leaves, [plain(Tensor, seeds)], retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            apart = [self.pullback(leaves, out, seed[()]) for seed in seeds]
            for i, k in enumerate(self.checked):
                one = np.stack([row[i] for row in apart])
                both = np.zeros_like(one) if together[i] is None else together[i]._value
                if not np.allclose(one, both):
                    raise GradcheckError(
                        f"Batched gradients of output {j} by {self.name(k)} differ from those computed one by one: "
                        f"{worst(one - both)!r} at the worst entry."
                    )

    def check_gradients(self) -> None:
        """Gradients have the shape and dtype of their inputs, and zero cotangents give zeros."""
        leaves, outputs = self.trace()
        outs = [outputs[j] for j in self.tracked]
        seeds = [plain(Tensor, np.zeros_like(o._value)) for o in outs]
        found = grad(outs, leaves, seeds, retain_graph=True, allow_unused=True)
        for k, x, g in zip(self.checked, leaves, found, strict=True):
            if g is None:
                continue
            if g._value.shape != x._value.shape:
                raise GradcheckError(f"grad has shape {g._value.shape}, but {self.name(k)} has {x._value.shape}")
            if g.dtype != x.dtype:
                raise GradcheckError(f"grad is of type {g.dtype}, but {self.name(k)} is of type {x.dtype}")
            if np.any(g._value != 0):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: zeros give {g._value} for {self.name(k)}"
                )

    def check_undefined(self) -> None:
        """Undefined gradients of the outputs are taken, and give undefined gradients or zeros."""
        groups = [self.tracked] if len(self.tracked) < 2 else [self.tracked, *([j] for j in self.tracked)]
        for undefined in groups:
            leaves, outputs = self.trace()
            outs = [_Undefined.apply(o) if j in undefined else o for j, o in enumerate(outputs) if j in self.tracked]
            seeds = [plain(Tensor, np.zeros_like(o._value)) for o in outs]
            try:
                found = grad(outs, leaves, seeds, allow_unused=True)
            except Exception as error:
                self._warn_undefined()
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads. Please look at 'Notes about "
                    f"undefined output gradients'; it raised {type(error).__name__}: {error}. (A custom Function "
                    "gets None for them after ctx.set_materialize_grads(False).)"
                ) from error
            for k, g in zip(self.checked, found, strict=True):
                if g is not None and np.any(g._value != 0):
                    self._warn_undefined()
                    raise GradcheckError(
                        "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                        f"Please look at 'Notes about undefined output gradients'; {self.name(k)} got {g._value}."
                    )

    @staticmethod
    def _warn_undefined() -> None:
        warnings.warn(
            "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it "
            "may break existing callers of this function. If this is true for you, you can call this function with "
            '"check_undefined_grad=False" to disable the feature',
            UserWarning,
            stacklevel=4,
        )


class _Undefined(Function):
    """The identity; its gradient is undefined."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return None

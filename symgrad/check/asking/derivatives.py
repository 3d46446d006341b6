"""What is compared: the gradient of a scalar, the Jacobian of an array, or the derivative along a tangent.

Each is found from the recorded operations; :mod:`symgrad.check.oracle.blackbox` finds the same by values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.autograd import grad as tape_grad
from symgrad.autograd.jacobians.rows import pulled_rows
from symgrad.check.asking.arrays import as_array
from symgrad.dtypes import is_floating, is_number
from symgrad.errors import ArgumentError
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

METHODS = ("exact", "mp", "complex-step", "fd")
"""Ways to know a derivative: by the rules of the recorded operations, in double precision or many digits; by values."""


@dataclass
class Derivative:
    """One kind of derivative.

    kind      "gradient", "jacobian" or "jvp"
    tangents  for "jvp" the direction in each argument under check
    method    how it has to be found, one of :data:`METHODS`; None for the sharpest way that there is
    """

    kind: str = "gradient"
    tangents: Sequence[Any] = ()
    method: str | None = None

    def value(self, out: Any) -> Any:
        """What ``f`` gave, as a number or an array; refuses what has no derivative of this kind."""
        return scalar(out) if self.kind == "gradient" else _real_array(out)

    def exact(self, output: Any, leaves: Sequence[Any]) -> list[Any]:
        """The derivative with respect to each leaf."""
        if self.kind == "gradient":
            return pulled(output, leaves)
        if self.kind == "jacobian":
            return _jacobians(output, leaves)
        return [pushed(output, [leaf], [v]) for leaf, v in zip(leaves, self.tangents, strict=True)]

    def contracted(self, derivative: Any, seeds: Any) -> Any:
        """The products of each seed with the derivative: one row per seed."""
        return np.tensordot(seeds, derivative, axes=seeds.ndim - 1)

    def row(self, gradient: Any, number: int) -> Any:
        """The row of the derivative that belongs to the gradient for one cotangent."""
        return np.sum(gradient * self.tangents[number]) if self.kind == "jvp" else gradient


def scalar(out: Any) -> Any:
    """The number that ``f`` gave; refuses several."""
    if isinstance(out, (tuple, list, dict)):
        raise ArgumentError(
            f"a gradient is that of a scalar function, but f gave a {type(out).__name__} of {len(out)}; check "
            "lambda *args: f(*args)[0], if that is the scalar."
        )
    value = _numbers(out)
    if value.size != 1:
        raise ArgumentError(
            f"a gradient is that of a scalar function, but f gave shape {value.shape}; check its Jacobian or its vjp "
            "(kind='jacobian', kind='vjp'), or reduce it (sum, mean)."
        )
    return value.reshape(())[()]


def _numbers(out: Any) -> Any:
    """What ``f`` gave as an array of numbers."""
    value = as_array(out)
    if not is_number(value.dtype) or value.dtype == bool:
        what = "None; does it return its result?" if out is None else f"{out!r:.60}, which is no number."
        raise ArgumentError(f"f gave {what}")
    return value


def _real_array(out: Any) -> Any:
    value = _numbers(out)
    if not is_floating(value.dtype) or value.dtype.kind == "c":
        raise ArgumentError(
            f"a Jacobian is that of a real function, but f gave {value.dtype}"
            + ("; check its vjp (kind='vjp')." if value.dtype.kind == "c" else ".")
        )
    return value


def largest(array: Any) -> float:
    """The largest size of the finite entries."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0


def pulled(output: Any, leaves: Sequence[Any], cotangent: Any = None) -> list[Any]:
    """The gradients of ``<cotangent, output>`` with respect to leaves; zeros where nothing leads to them."""
    if not output._requires_grad:
        return [np.zeros_like(as_array(leaf)) for leaf in leaves]
    seed = None if cotangent is None else plain(Tensor, np.reshape(cotangent, output._value.shape)[()])
    found = tape_grad(output, leaves, seed, retain_graph=True, allow_unused=True, materialize_grads=True)
    return [np.asarray(g._value) for g in found]


def pushed(output: Any, leaves: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of ``output`` along tangents of leaves."""
    found = pushed_tensor(output, leaves, [plain(Tensor, np.asarray(v)[()]) for v in tangents])
    return np.zeros(output._value.shape) if found is None else np.asarray(found._value)


def pushed_tensor(output: Any, leaves: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The same as a tensor with its graph: the vjp is linear in its cotangent, and the derivative of that is the jvp.

    None where nothing leads from the leaves to the output.
    """
    if not output._requires_grad:
        return None
    cotangent = plain(Tensor, np.zeros_like(output._value)[()])._require()
    gradients = tape_grad(output, leaves, cotangent, create_graph=True, allow_unused=True)
    terms = [(g * v).sum() for g, v in zip(gradients, tangents, strict=True) if g is not None]
    total = sum(terms[1:], terms[0]) if terms else None
    if total is None or not total._requires_grad:
        return None
    return tape_grad(total, cotangent, create_graph=True, allow_unused=True)[0]


def _jacobians(output: Any, leaves: Sequence[Any]) -> list[Any]:
    """By rows or by columns, whichever are fewer; shape ``(*output, *leaf)``."""
    shape = output._value.shape
    if output._value.size <= sum(leaf._value.size for leaf in leaves):
        rows = pulled_rows(output, leaves)
        if rows is None:
            each = [pulled(output, leaves, unit) for unit in units(shape)]
            rows = [[row[i] for row in each] for i in range(len(leaves))]
        return [np.array(row).reshape(shape + np.shape(leaf._value)) for row, leaf in zip(rows, leaves, strict=True)]
    found = []
    for leaf in leaves:
        columns = [pushed(output, [leaf], [unit]) for unit in units(np.shape(leaf._value))]
        found.append(np.stack(columns, -1).reshape(shape + np.shape(leaf._value)) if columns else np.zeros((*shape, 0)))
    return found


def units(shape: tuple[int, ...]) -> Any:
    """The arrays of a shape with a single 1."""
    size = int(np.prod(shape))
    return np.eye(size).reshape(size, *shape)

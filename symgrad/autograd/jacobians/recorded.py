"""The Jacobian of recorded tensors: every entry of one by every entry of the other, as number and as closed formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.jacobians.rows import pulled_rows, recorded_rows
from symgrad.autograd.sparsity.walk import pattern_of
from symgrad.autograd.sweeps.entrances import NO_GRAD, grad
from symgrad.autograd.sweeps.rescue import has_nan
from symgrad.errors import AutogradError
from symgrad.ops.elementwise.complex import imag, real
from symgrad.ops.elementwise.select import guard
from symgrad.ops.rules.kinks import keeps_nan, steepest
from symgrad.ops.shapes.joining import stack
from symgrad.ops.shapes.shaping import reshape
from symgrad.tape.formulas.origin import Origin, attach
from symgrad.tape.record import Recorded, plain, traced
from symgrad.tensor import Tensor


def jacobian(outputs: Any, inputs: Any, *, create_graph: bool = False) -> Any:
    r"""The derivative of every entry of ``outputs`` by every entry of ``inputs``, of shape outputs + inputs.

    Both are recorded tensors (for functions see ``autograd.functional.jacobian`` and ``func.jacobian``).  The numbers
    come from a backward pass for every entry of ``outputs``, together where they can be, the formula from one
    derivation for all of them.  The graph is kept; with ``create_graph`` the result can be differentiated again.
    Raises ``RuntimeError`` when ``outputs`` or ``inputs`` does not require grad, and for complex ``outputs``, which
    have no one Jacobian (see :func:`wirtinger`).

    >>> import symgrad as sg
    >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], name="A")
    >>> x = sg.tensor([1.0, 1.0], requires_grad=True, name="x")
    >>> J = sg.autograd.jacobian((A @ x).tanh(), x)
    >>> J.shape, J.latex()
    (torch.Size([2, 2]), '\\operatorname{diag}\\left(1 - \\tanh^{2}\\left(A x\\right)\\right) A')
    """
    check_real([outputs], "output", "jacobian")
    shape, wrt = outputs._value.shape, inputs._value.shape
    blocks = rows_at_once(outputs, [inputs], create_graph)
    if blocks is not None:
        return blocks[0]
    rows = []
    for unit in units(shape, outputs.dtype):
        seed = plain(Tensor, unit)
        (row,) = grad(outputs, inputs, seed, True, create_graph, allow_unused=True, materialize_grads=True)
        rows.append(row)
    if create_graph and rows:
        return with_entries(reshape(stack(rows), shape + wrt), outputs, inputs)
    if not rows and not outputs._requires_grad:
        raise AutogradError(NO_GRAD.format(0))
    value = np.array([r._value for r in rows], inputs.dtype).reshape(shape + wrt)[()]
    return _attached(value, "jacobian", outputs, inputs)


def rows_at_once(out: Any, inputs: Sequence[Any], create: bool, chunk_size: int | None = None) -> list[Any] | None:
    """The Jacobian of one result by each input, many rows in one pass; None where they are pulled back one by one."""
    if not isinstance(out, Recorded):
        return None
    if create:
        blocks = recorded_rows(out, inputs, chunk_size)
    else:
        blocks = pulled_rows(out, inputs, chunk_size)
        if blocks is not None:
            shapes = [out._value.shape + x._value.shape for x in inputs]
            blocks = [plain(Tensor, rows.reshape(shape)) for rows, shape in zip(blocks, shapes, strict=True)]
    return blocks and [with_entries(block, out, x) for block, x in zip(blocks, inputs, strict=True)]


def units(shape: tuple[int, ...], dtype: Any) -> Iterator[Any]:
    """The cotangents of the single entries of an array: 1 at one place, in row-major order."""
    for k in range(math.prod(shape)):
        unit = np.zeros(math.prod(shape), dtype)
        unit[k] = 1
        yield unit.reshape(shape)[()]


def check_real(values: Iterable[Any], what: str, name: str) -> None:
    """Refuses what has no one Jacobian: rows of vector-Jacobian products are its conjugate, or half of two."""
    for k, value in enumerate(values):
        if value.dtype.kind == "c":
            raise AutogradError(
                f"{name}: Expected all {what}s to be real but received complex tensor at flattened input idx: {k}; "
                "sg.autograd.wirtinger gives both derivatives of complex tensors."
            )


def with_entries(found: Any, outputs: Any, inputs: Any, pulled: str = "jacobian") -> Any:
    """``found``, which holds the derivatives of all entries of ``outputs``, with one closed formula for them."""
    if not isinstance(outputs, Recorded) or not traced(outputs) or not isinstance(inputs, Recorded):
        return found
    origin = Origin([outputs], [None])
    origin.pulled = pulled
    return attach(_without_strangers(found, outputs, inputs), origin, inputs)


def _without_strangers(found: Any, outputs: Any, inputs: Any) -> Any:
    """The entries with 0, as formulas have it, for a nan where no path leads from the input to the output."""
    if keeps_nan("composed") or found.dtype.kind == "c" or not has_nan(found._value):
        return found
    if not (outputs._requires_grad and inputs._requires_grad):  # the graph of forward mode does not tell the paths
        return found
    try:
        places = pattern_of([outputs], [inputs])
    except AutogradError:  # as good as dense, or with somebody's hooks in it
        return found
    near = np.zeros(places.shape, bool)
    near[places.rows(), places.indices] = True
    near = near.reshape(found._value.shape)
    return guard(found, near) if found._node is not None else plain(Tensor, np.where(near, found._value, 0)[()])


def wirtinger(outputs: Any, inputs: Any) -> tuple[Any, Any]:
    r"""Both Wirtinger derivatives (∂f/∂z, ∂f/∂z̄) of complex tensors, each of shape outputs + inputs.

    ``outputs`` are recorded, real or complex; ``inputs`` are complex.  ∂f/∂z̄ is 0 where f is holomorphic, and the
    gradient of a real f, as ``backward`` gives it, is 2∂f/∂z̄.  The numbers come from one backward pass for the real
    and one for the imaginary part of every entry; the graph is kept.  Raises ``RuntimeError`` when ``inputs`` is not
    complex or does not require grad.  After W. Wirtinger (1927); the formulas are those of Kreutz-Delgado (2009).

    >>> import symgrad as sg
    >>> z = sg.tensor([1 + 2j, 0.5j], requires_grad=True, name="z")
    >>> dz, dzbar = sg.autograd.wirtinger((z.conj() * z).sum(), z)
    >>> dz, dzbar
    (tensor([1.-2.0000j, 0.-0.5000j]), tensor([1.+2.0000j, 0.+0.5000j]))
    >>> dz.latex(), dzbar.latex()
    ('\\overline{z}', 'z')
    """
    if inputs._value.dtype.kind != "c":
        raise AutogradError(
            f"wirtinger() differentiates by complex tensors, but {inputs.name or 'the input'} has dtype "
            f"{inputs.dtype}; for real ones ask autograd.jacobian."
        )
    parts = [outputs] if outputs._value.dtype.kind != "c" else [real(outputs), imag(outputs)]
    with steepest():
        slopes = [jacobian(part, inputs)._value for part in parts]
    u, v = slopes[0], slopes[1] if len(slopes) > 1 else 0
    dz, dzbar = (np.conj(u) + 1j * np.conj(v)) / 2, (u + 1j * v) / 2
    return _attached(dz, "dz", outputs, inputs), _attached(dzbar, "dzbar", outputs, inputs)


def _attached(value: Any, pulled: str, outputs: Any, inputs: Any) -> Any:
    """Numbers of all entries at once, with their formula."""
    return with_entries(plain(Tensor, value.astype(inputs.dtype, copy=False)), outputs, inputs, pulled)

"""Jacobians, Hessians and their products with vectors, of functions of tensors: ``torch.autograd.functional``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.sweeps import grad
from symgrad.errors import ArgumentError, AutogradError
from symgrad.ops.shaping import stack
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple_of(value: Any, what: str, name: str) -> tuple[tuple[Any, ...], bool]:
    several = isinstance(value, tuple)
    row = value if several else (value,)
    for k, t in enumerate(row):
        if not isinstance(t, Recorded):
            part = f" {what}" if not several else f" value at index {k} in the {what}"
            raise ArgumentError(
                f"The{part} given to {name} must be either a Tensor or a tuple of Tensors but got type "
                f"{type(t).__name__}."
            )
    return row, several


def _fresh(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Inputs to differentiate by: of the caller's graph with ``create_graph``, else leaves of their own."""
    if create_graph:
        return tuple(x.view(tuple(x.shape)) if x._requires_grad else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _call(func: Callable[..., Any], inputs: Any, name: str, create_graph: bool) -> Any:
    row, several = _tuple_of(inputs, "inputs", name)
    row = _fresh(row, create_graph)
    outputs, many = _tuple_of(func(*row), "outputs of the user-provided function", name)
    return row, several, outputs, many


def _zeros(like: Any) -> Any:
    return plain(Tensor, np.zeros_like(like._value)[()])


def _gradients(
    outputs: tuple[Any, ...], inputs: tuple[Any, ...], vectors: Any, create_graph: bool, strict: bool, what: str
) -> tuple[Any, ...]:
    """Gradients, zero where an output does not depend on an input (an error with ``strict``)."""
    kept = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o._requires_grad]
    if strict and len(kept) < len(outputs):
        raise AutogradError(
            f"Output of the user-provided function does not require gradients ({what}). The outputs must be computed "
            "in a differentiable manner from the input when running in strict mode."
        )
    if not kept:
        return tuple(map(_zeros, inputs))
    found = grad([o for o, _ in kept], inputs, [v for _, v in kept], True, create_graph, allow_unused=True)
    for k, g in enumerate(found):
        if strict and g is None:
            raise AutogradError(
                f"The output of the user-provided function is independent of input {k} ({what}). This is not allowed "
                "in strict mode."
            )
    return tuple(_zeros(x) if g is None else g for g, x in zip(found, inputs, strict=True))


def _out(rows: tuple[Any, ...], several: bool, create_graph: bool) -> Any:
    rows = rows if create_graph else tuple(r.detach() if r._requires_grad or r._node is not None else r for r in rows)
    return rows if several else rows[0]


def _vectors(v: Any, like: tuple[Any, ...], name: str, of: str) -> tuple[Any, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise AutogradError(
                f"The vector v can only be None if the {of} is a single Tensor with a single element ({name}); pass "
                f"one of the shape of the {of}."
            )
        return (like[0].detach().full_like(1),)
    row, _ = _tuple_of(v, "v", name)
    if len(row) != len(like):
        raise AutogradError(f"v is a tuple of invalid length: should be {len(like)} but got {len(row)}.")
    for k, (a, b) in enumerate(zip(row, like, strict=True)):
        if tuple(a.shape) != tuple(b.shape):
            raise AutogradError(
                f"Entry {k} in v has invalid size: should be {tuple(b.shape)} but got {tuple(a.shape)}."
                if len(like) > 1
                else f"v has invalid size: should be {tuple(b.shape)} but got {tuple(a.shape)}."
            )
    return row


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(outputs, vᵀJ)``: the product of a vector with the Jacobian of ``func`` at ``inputs``.

    ``v`` has the shape of the outputs and may be left out for a single number.

    >>> import symgrad as sg
    >>> vjp(lambda x: x**2, sg.tensor([1.0, 2.0]), sg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        row, several, outputs, many = _call(func, inputs, "vjp", create_graph)
        vectors = _vectors(v, outputs, "vjp", "output of the user-provided function")
        found = _gradients(outputs, row, vectors, create_graph, strict, "vjp")
    return _out(outputs, many, create_graph), _out(found, several, create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(outputs, Jv)``: the product of the Jacobian of ``func`` at ``inputs`` with a vector, by two reverse passes.

    >>> import symgrad as sg
    >>> jvp(lambda x: x**2, sg.tensor([1.0, 2.0]), sg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        row, _, outputs, many = _call(func, inputs, "jvp", create_graph)
        vectors = _vectors(v, row, "jvp", "input of the user-provided function")
        probes = tuple(_zeros(o).requires_grad_() for o in outputs)
        pulled = _gradients(outputs, row, probes, True, strict, "jvp")
        moved = [(g, t) for g, t in zip(pulled, vectors, strict=True) if g._requires_grad]
        pushed: tuple[Any, ...] = (None,) * len(probes)
        if moved:
            pushed = grad([g for g, _ in moved], probes, [t for _, t in moved], None, create_graph, allow_unused=True)
        found = tuple(_zeros(o) if g is None else g for g, o in zip(pushed, outputs, strict=True))
    return _out(outputs, many, create_graph), _out(found, many, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at ``inputs``, of shape (output axes, input axes); nested tuples for several of them.

    ``vectorize`` and ``strategy`` choose how torch computes it and do not change the result.

    >>> import symgrad as sg
    >>> jacobian(lambda x: x * x, sg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ArgumentError(f'Expected strategy to be either "forward-mode" or "reverse-mode", not {strategy!r}.')
    if strict and vectorize:
        raise AutogradError("strict=True and vectorize=True are not supported together; leave one of them out.")
    with enable_grad():
        row, several, outputs, many = _call(func, inputs, "jacobian", create_graph)
        blocks = tuple(_rows(out, row, create_graph, strict) for out in outputs)
    shaped = tuple(_out(block, several, create_graph) for block in blocks)
    return shaped if many else shaped[0]


def _rows(out: Any, inputs: tuple[Any, ...], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """The Jacobian of one output by each input, one reverse pass per entry."""
    shape, count = tuple(out._value.shape), out._value.size
    rows = []
    for k in range(count):
        seed = np.zeros(count, out.dtype)
        seed[k] = 1
        vector = plain(Tensor, seed.reshape(shape)[()])
        rows.append(_gradients((out,), inputs, (vector,), create_graph, strict, f"entry {k}"))
    if not rows:
        return tuple(plain(Tensor, np.zeros((*shape, *x._value.shape), x.dtype)) for x in inputs)
    return tuple(
        stack(column).reshape((*shape, *x._value.shape))
        for column, x in zip(zip(*rows, strict=True), inputs, strict=True)
    )


def _scalar(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    def checked(*inputs: Any) -> Any:
        (out, *rest), _ = _tuple_of(func(*inputs), "outputs of the user-provided function", name)
        if rest:
            raise AutogradError(f"The function given to {name} should return a single Tensor")
        if out._value.size != 1:
            raise AutogradError(f"The Tensor returned by the function given to {name} should contain a single element")
        return out.reshape(())

    return checked


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function at ``inputs``, of shape (input axes, input axes); nested tuples for several.

    >>> import symgrad as sg
    >>> hessian(lambda x: (x**3).sum(), sg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _, several = _tuple_of(inputs, "inputs", "hessian")
    scalar = _scalar(func, "hessian")

    def gradient(*row: Any) -> Any:
        row = tuple(x if x._requires_grad else x.requires_grad_() for x in row)
        return _gradients((scalar(*row),), row, (None,), True, strict, "gradient")

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0]


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(output, vᵀH)``: the product of a vector with the Hessian of a scalar function."""
    with enable_grad():
        row, several, outputs, many = _call(_scalar(func, "vhp"), inputs, "vhp", create_graph)
        vectors = _vectors(v, row, "vhp", "input of the user-provided function")
        first = _gradients(outputs, row, (None,), True, strict, "gradient")
        found = _gradients(first, row, vectors, create_graph, strict, "vhp")
    return _out(outputs, many, create_graph), _out(found, several, create_graph)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(output, Hv)``: the product of the Hessian of a scalar function with a vector.

    >>> import symgrad as sg
    >>> hvp(lambda x: (x**3).sum(), sg.tensor([1.0, 2.0]), sg.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        row, several, outputs, many = _call(_scalar(func, "hvp"), inputs, "hvp", create_graph)
        vectors = _vectors(v, row, "hvp", "input of the user-provided function")
        probes = tuple(_zeros(x).requires_grad_() for x in row)
        first = _gradients(outputs, row, (None,), True, strict, "gradient")
        moved = [(g, p) for g, p in zip(first, probes, strict=True) if g._requires_grad]
        pulled = tuple(map(_zeros, row))
        if moved:
            pulled = _gradients(tuple(g for g, _ in moved), row, tuple(p for _, p in moved), True, strict, "hvp")
        kept = [(g, t) for g, t in zip(pulled, vectors, strict=True) if g._requires_grad]
        pushed: tuple[Any, ...] = (None,) * len(probes)
        if kept:
            pushed = grad([g for g, _ in kept], probes, [t for _, t in kept], None, create_graph, allow_unused=True)
        found = tuple(_zeros(x) if g is None else g for g, x in zip(pushed, row, strict=True))
    return _out(outputs, many, create_graph), _out(found, several, create_graph)

"""Which kind of derivative was given: asked of its shapes and of the parameters of the function that computes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_differentiable, is_operator, shape_if_any
from symgrad.check.asking.nested import Arguments
from symgrad.check.asking.outputs import output_parts
from symgrad.errors import ArgumentError
from symgrad.op.factories import stretches

KINDS = ("gradient", "jacobian", "vjp", "jvp", "elementwise")


def known_kind(kind: Any) -> Any:
    """The kind as it was given; refuses unknown ones."""
    if kind is not None and kind not in KINDS:
        raise ArgumentError(f"kind={kind!r} is none of {', '.join(map(repr, KINDS))}.")
    return kind


def kind_of(grad: Any, flat: Arguments, out: Any) -> str:
    """The kind of derivative that ``grad`` is, of a function that gives ``out``.

    A function with one parameter more than there are arguments is a vjp, and so is one that gives a function.  Of a
    scalar it is the gradient, of an array the Jacobian, or the derivative of each entry where the shapes say so.
    """
    count = len(flat.whole_args)
    if callable(grad) and not takes(grad, count) and takes(grad, count + 1):
        return "vjp"
    several = output_parts(out) is not None
    if not several and not np.ndim(as_array(out)):
        return "gradient"
    value = grad(*flat.whole([_copy(a) for a in flat.args])) if callable(grad) else grad
    if _is_pullback(value) or (isinstance(value, (tuple, list)) and value and _is_pullback(value[-1])):
        return "vjp"
    if several:
        return "jacobian"
    shape = np.shape(as_array(out))
    arrays = [a for a in flat.whole_args if is_differentiable(a)]
    given = list(value) if isinstance(value, tuple) and len(value) <= len(arrays) else [value]
    pairs = [(shape_if_any(g), np.shape(as_array(a))) for g, a in zip(given, arrays, strict=False)]
    if all(g == shape + x for g, x in pairs):
        return "jacobian"
    if all(g == x for g, x in pairs) and int(np.prod(shape)) == 1:
        return "gradient"
    return "elementwise" if pairs and all(g == shape and stretches(x, shape) for g, x in pairs) else "jacobian"


def _is_pullback(value: Any) -> bool:
    return callable(value) and not is_operator(value)


BUFFERS = ("out", "grad", "gradient", "jac", "jacobian", "result", "dest")
"""What people call the last parameter of a function that writes a gradient there."""


def filled(grad: Any, args: Sequence[Any]) -> Any:
    """``grad(x, out)``, which writes into an array as NLopt's functions do, as a function that gives it.

    It is one if it gives None: a vjp whose cotangent has such a name gives its result.
    """
    count, named = len(args), parameters(grad) if callable(grad) else []
    if len(named) != count + 1 or named[-1] not in BUFFERS or takes(grad, count) or not is_differentiable(args[0]):
        return grad

    def gradient(*values: Any) -> Any:
        buffer = np.zeros_like(as_array(values[0]))
        made = grad(*values, buffer)
        return buffer if made is None else made

    try:
        return gradient if grad(*map(_copy, args), np.zeros_like(as_array(args[0]))) is None else grad
    except Exception:  # noqa: BLE001  (it wants something else there)
        return grad


def takes(f: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments; True where it does not say."""
    try:
        inspect.signature(f).bind(*range(count))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def signature_text(f: Callable[..., Any]) -> str:
    """The parameters of a function as they are written: ``(x, y=2)``."""
    try:
        found = inspect.signature(f)
    except (TypeError, ValueError):
        return "(...)"
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def parameters(f: Callable[..., Any]) -> list[str]:
    """The names of the positional parameters."""
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def vjp_function(f: Callable[..., Any], grad: Any, count: int) -> Callable[..., Any]:
    """``vjp(cotangent, *args)`` of what people write: cotangent first, cotangent last, or ``args -> (out, pullback)``.

    The cotangent is last where the parameters before it have the names of those of ``f``.
    """
    if not callable(grad):
        raise ArgumentError("kind='vjp' needs the function, vjp(cotangent, *args), or its result with cotangent=.")
    own, named = parameters(f)[:count], parameters(grad)
    last = len(named) == count + 1 and named[:count] == own != named[1:]

    def vjp(cotangent: Any, *args: Any) -> Any:
        if takes(grad, count) and not takes(grad, count + 1):
            made = grad(*args)
            return (made[-1] if isinstance(made, (tuple, list)) else made)(cotangent)
        try:
            return grad(*args, cotangent) if last else grad(cotangent, *args)
        except TypeError as error:
            if "item assignment" not in str(error) or np.ndim(as_array(cotangent)):
                raise
            raise ArgumentError(
                f"grad{signature_text(grad)} was called as a vjp, with the cotangent {float(cotangent):.4g}, and wrote "
                "into it. If it writes the gradient there, call that parameter out, or give a function that returns it."
            ) from error

    return vjp


def jvp_function(grad: Any, count: int) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
    """``jvp(primals, tangents)`` of what people write: that, or ``jvp(*args, *tangents)``.

    For one argument the two look alike; the first is meant where its first parameter is called primals.
    """
    if not callable(grad):
        raise ArgumentError("kind='jvp' needs the function, jvp(primals, tangents), or its result with tangents=.")
    spread = takes(grad, 2 * count) and not (takes(grad, 2) and (count > 1 or "primals" in parameters(grad)[:1]))

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return grad(*primals, *tangents) if spread else grad(tuple(primals), tuple(tangents))

    return jvp


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value

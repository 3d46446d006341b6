"""Functions written for JAX, run on tensors of this library: the program that JAX traces, step by step.

Custom functions (``custom_vjp``, ``custom_jvp``) are looked through: what they compute counts, since the rule may be
what is under check.  Programs with primitives that are not known here remain black boxes.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Sequence
from importlib import import_module
from typing import Any

from symgrad.check.asking.calling import double_precision, is_jax
from symgrad.check.asking.nested import leaves, rebuilt
from symgrad.tape.record import Recorded
from symgrad.tape.watching.captured import contents
from symgrad.tape.watching.lookthrough import met_functions


def jax_followed(f: Callable[..., Any], grad: Any, args: Sequence[Any]) -> Callable[..., Any]:
    """``f`` in a form that runs on tensors of this library, too, if it is written for JAX; itself otherwise."""
    if "jax" not in sys.modules or not (grad == "jax" or _of_jax(f) or any(map(_holds_jax, args))):
        return f

    met: dict[str, bool] = {}
    programs: dict[Any, list[Any]] = {}

    @functools.wraps(f)
    def run(*values: Any) -> Any:
        if not any(isinstance(part, Recorded) for value in values for _, part in leaves(value, "")):
            return f(*values)
        return _on_tensors(f, values, met, programs)

    return run


def _holds_jax(arg: Any) -> bool:
    return any(is_jax(part) for _, part in leaves(arg, ""))


def _of_jax(f: Callable[..., Any]) -> bool:
    """Whether a function is one of JAX's own kinds, or reads something of JAX by a name in its code."""
    code, scope = getattr(f, "__code__", None), getattr(f, "__globals__", {})
    read = [f] if code is None else [scope.get(name) for name in code.co_names]
    return any(map(_is_of_jax, [*read, *(contents(cell) for cell in getattr(f, "__closure__", None) or ())]))


def _is_of_jax(value: Any) -> bool:
    """Whether a value is a module of JAX, or something that one of them defines."""
    modules = (getattr(value, "__name__", ""), type(value).__module__, getattr(value, "__module__", ""))
    return any(isinstance(name, str) and name.partition(".")[0] in ("jax", "jaxlib") for name in modules)


TRACED = 2
"""How often a program is traced: one that draws random numbers, or keeps something, is another one the second time."""


def _on_tensors(
    f: Callable[..., Any], values: Sequence[Any], met: dict[str, bool], programs: dict[Any, list[Any]]
) -> Any:
    """The program of ``f`` for arrays like these, run on them; what is no tensor stays as it is."""
    groups = [[part for _, part in leaves(value, "")] for value in values]
    tensors = [part for group in groups for part in group if isinstance(part, Recorded)]

    def of_arrays(*arrays: Any) -> Any:
        source = iter(arrays)
        made = ([next(source) if isinstance(part, Recorded) else part for part in group] for group in groups)
        return f(*(rebuilt(value, iter(parts)) for value, parts in zip(values, made, strict=True)))

    kinds = tuple(_kind_of(part) for group in groups for part in group)
    traced = programs.setdefault(kinds, [])
    if len(traced) < TRACED:
        with double_precision():
            # It is written in the public names, which stand above this room, and is needed at run time only.
            traced.append(import_module("symgrad.foreign.jaxprs").of_bodies(of_arrays, tensors, met))
    noted = met_functions()
    if noted is not None:
        noted += [name for name, differs in met.items() if differs]
    return traced[-1](*tensors)


def _kind_of(part: Any) -> Any:
    """What a program depends on: the kind of a tensor, and the value of what is none, or nothing that comes again."""
    if isinstance(part, Recorded):
        return part._value.shape, str(part._value.dtype)
    return part if isinstance(part, Hashable) else object()

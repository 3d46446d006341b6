"""The derivative that a library itself gives of a function: torch, JAX, HIPS autograd, MyGrad, and this one.

Each is ``vjp(cotangent, *args)``.  Backward passes that users wrote for the library are asked, not looked through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_array_like, is_differentiable
from symgrad.check.asking.calling import copied, is_jax, is_torch
from symgrad.check.asking.nested import leaves, parts, rebuilt
from symgrad.check.asking.outputs import output_leaves
from symgrad.errors import ArgumentError
from symgrad.stand_in import loaded_torch

LIBRARIES = ("torch", "jax", "autograd", "mygrad", "symgrad")


def derivative_of(library: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The vjp of ``f`` that a library computes."""
    made = {"jax": _by_jax, "autograd": _by_autograd, "mygrad": _by_mygrad}.get(library, _by_backward)
    return made(_loaded(library), f)


def in_library(library: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """Arguments with their floating-point arrays as arrays of the library that the function is written for."""
    module = _loaded(library)

    def held(value: Any) -> Any:
        if library == "torch" and is_differentiable(value) and not is_torch(value):
            return module.tensor(np.array(as_array(value)))  # a copy, since torch refuses what runs backwards
        if library == "jax" and is_differentiable(value) and not is_jax(value):
            return module.numpy.asarray(as_array(value))
        return value

    if library not in ("torch", "jax"):
        return tuple(args)
    return tuple(rebuilt(arg, iter([held(leaf) for _, leaf in leaves(arg, "")])) for arg in args)


def wants_torch(f: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function that was given arrays takes torch's tensors alone, as torch's words say when it is tried."""
    if loaded_torch() is None or any(is_torch(leaf) for arg in args for _, leaf in leaves(arg, "")):
        return False

    def of_own(arg: Any) -> Any:
        return rebuilt(arg, iter([copied(leaf) if is_array_like(leaf) else leaf for _, leaf in leaves(arg, "")]))

    try:
        f(*map(of_own, args))
    except TypeError as error:
        return "must be Tensor, not" in str(error)
    except Exception:  # noqa: BLE001  (the check calls it again, and has words for what it raises)
        return False
    return False


def _loaded(library: str) -> Any:
    if library not in LIBRARIES:
        raise ArgumentError(
            f"grad={library!r} names no library; give one of {', '.join(map(repr, LIBRARIES))}, a function, or arrays."
        )
    try:
        return import_module(library)
    except ImportError as error:
        raise ArgumentError(
            f"grad={library!r} needs the package {library}, which is not installed: pip install {library}."
        ) from error


def _by_backward(library: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """By ``autograd.grad`` of torch, or of this library."""

    def vjp(cotangent: Any, *args: Any) -> Any:
        def leaf(value: Any) -> Any:
            if not is_differentiable(value):
                return value
            made = value.detach().clone() if is_torch(value) else library.tensor(as_array(value))
            return made.requires_grad_()

        inputs = [[leaf(part) for _, part in leaves(arg, "")] for arg in args]
        outputs = output_leaves(f(*(rebuilt(arg, iter(made)) for arg, made in zip(args, inputs, strict=True))))
        seeds = [v for _, v in output_leaves(cotangent)]
        tracked = [(out, v) for (_, out), v in zip(outputs, seeds, strict=True) if out.requires_grad]
        wanted = [made for group in inputs for made in group if is_differentiable(made)]
        found = iter(
            library.autograd.grad(
                [out for out, _ in tracked],
                wanted,
                [library.tensor(as_array(v)).to(out.dtype).reshape(out.shape) for out, v in tracked],
                allow_unused=True,
                materialize_grads=True,
            )
            if tracked
            else [made.detach() * 0 for made in wanted]
        )
        return _by_argument(args, [[next(found) if is_differentiable(m) else m for m in group] for group in inputs])

    return vjp


def _by_jax(jax: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    def vjp(cotangent: Any, *args: Any) -> Any:
        groups = [[part for _, part in leaves(arg, "")] for arg in args]
        inputs = [jax.numpy.asarray(as_array(part)) for group in groups for part in group if is_differentiable(part)]

        def whole(values: Sequence[Any]) -> list[list[Any]]:
            source = iter(values)
            return [[next(source) if is_differentiable(part) else part for part in group] for group in groups]

        def of_arrays(*values: Any) -> Any:
            return f(*(rebuilt(arg, iter(made)) for arg, made in zip(args, whole(values), strict=True)))

        out, pull = jax.vjp(of_arrays, *inputs)
        seeds = iter([v for _, v in output_leaves(cotangent)])
        # JAX gives the conjugates of what torch and this library give.
        seed = jax.tree_util.tree_map(lambda o: np.conj(as_array(next(seeds))).astype(o.dtype).reshape(o.shape), out)
        return _by_argument(args, whole([g.conj() for g in pull(seed)]))

    return vjp


def _by_autograd(autograd: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    def vjp(cotangent: Any, *args: Any) -> Any:
        places = [k for k, arg in enumerate(args) if any(is_differentiable(part) for _, part in leaves(arg, ""))]
        found = []
        for k in places:
            pull, _ = autograd.make_vjp(lambda value, k=k: f(*args[:k], value, *args[k + 1 :]))(args[k])
            found.append(pull(np.conj(cotangent) if isinstance(cotangent, np.ndarray) else cotangent))
        return tuple(np.conj(g) if isinstance(g, np.ndarray) else g for g in found)

    return vjp


def _by_mygrad(mygrad: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """By the ``backward`` of the sum of the results times the cotangents, which leaves gradients in the arguments."""

    def vjp(cotangent: Any, *args: Any) -> Any:
        def leaf(value: Any) -> Any:
            return mygrad.tensor(as_array(value)) if is_differentiable(value) else value

        def gradient(value: Any) -> Any:
            made = getattr(value, "grad", None)
            return np.zeros(value.shape) if made is None and is_differentiable(value) else made

        groups = [[leaf(part) for _, part in leaves(arg, "")] for arg in args]
        out = f(*(rebuilt(arg, iter(made)) for arg, made in zip(args, groups, strict=True)))
        pairs = zip(output_leaves(out), output_leaves(cotangent), strict=True)
        sum((mygrad.sum(result * as_array(v)) for (_, result), (_, v) in pairs), mygrad.tensor(0.0)).backward()
        return _by_argument(args, [[gradient(part) for part in made] for made in groups])

    return vjp


def _by_argument(args: Sequence[Any], groups: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    """The gradients of the arguments that have one, each in the structure of its argument."""
    found = []
    for arg, group in zip(args, groups, strict=True):
        if parts(arg) is not None:
            if any(is_differentiable(part) for _, part in leaves(arg, "")):
                found.append(rebuilt(arg, iter(group)))
        elif is_differentiable(arg):
            found.append(group[0])
    return tuple(found)

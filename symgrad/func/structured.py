"""Hessians that keep their structure: Kronecker products, diagonals and blocks in place of arrays with four axes."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.derivatives import Layout, hessian_parts
from symgrad.compiler.specialise import Specialised, Variant, signature
from symgrad.compiler.trace import Trace
from symgrad.compiler.transforms import Transform
from symgrad.errors import AutogradError
from symgrad.func.blocks import StructuredMatrix
from symgrad.func.bound import Argnums, check_function, numbered
from symgrad.op import is_complex, shape_of
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.tape import containers
from symgrad.tape.watching.following import is_followed


def structured_hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    r"""The function that gives the Hessian of a scalar function without multiplying its Kronecker deltas out.

    The result is a :class:`StructuredMatrix`: the sum of a few products of small arrays, with ``H @ v``, ``solve``,
    ``todense()`` and ``latex()``.  It comes from the formula, so a call with other numbers runs a compiled program of
    these small arrays; another branch, dtype or shape is traced again.  For several arguments the blocks are nested as
    those of :func:`hessian` are.  The ``program`` of the function that is given has ``source`` and ``cost``.

    Raises ``AutogradError`` where somebody outside differentiates by the arguments or by what the function holds, since
    the result has no history,
    and ``CompileError`` or ``FormulaError`` for functions without a formula, which :func:`hessian` takes.

    After S. Laue, M. Mitterreiter and J. Giesen, "Computing higher order derivatives of matrix and tensor expressions",
    NeurIPS 2018.

    >>> import symgrad as sg, numpy as np
    >>> T, U, V = np.ones((100, 80)), np.ones((100, 3)), np.ones((80, 3))
    >>> H = sg.func.structured_hessian(lambda U, T, V: ((T - U @ V.T) ** 2).sum())(U, T, V)
    >>> H
    <StructuredMatrix 300 x 300 of float64: Kronecker product, 9 numbers>
    >>> H.latex(vec="rows")
    '2 I_{p} \\otimes V^{\\top} V \\quad \\text{(vec stacks rows)}'
    """
    check_function(func, "structured_hessian")
    made = _Hessian(func, argnums)

    @functools.wraps(func)
    def compressed(*args: Any, **kwargs: Any) -> Any:
        return made.at(args, kwargs)

    compressed.program = made.program  # type: ignore[attr-defined]
    return compressed


class _Hessian:
    """The programs of a function's Hessian, with how the results of each make a matrix."""

    def __init__(self, function: Callable[..., Any], argnums: Argnums):
        self.argnums = argnums
        self.latest = threading.local()
        self.layouts: dict[Variant, tuple[list[Layout], Any]] = {}

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        def traced(args: Sequence[Any]) -> Trace:
            if any(is_complex(leaf) for k in numbered(argnums, len(args)) for leaf in _leaves(args[k])):
                raise AutogradError(
                    "structured_hessian: an argument is complex, and a complex second derivative is not one matrix; "
                    "take its real and imaginary parts apart."
                )
            trace, layouts, structure = hessian_parts(function, args, argnums)
            self.latest.found = layouts, structure
            return trace

        call.__symgrad_transform__ = Transform(call, traced, "hessian", function, argnums, False)  # type: ignore[attr-defined]
        self.program = Specialised(call, stable=not keeps_nan("composed"))

    def at(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The Hessian at some arguments."""
        _refuse_followed(leaf for arg in (*args, *named.values()) for leaf in _leaves(arg))
        if named:
            args = self.program.positional(args, named)
        numbers = numbered(self.argnums, len(args))
        wanted = [leaf for k in numbers for leaf in _leaves(args[k])]
        key, arrays = signature(args)
        variant = self.program.variant(key, arrays, args)
        _refuse_followed(t for _, t in variant.live)
        if variant not in self.layouts:
            self.layouts[variant] = self.latest.found
        layouts, structure = self.layouts[variant]
        found = variant.program.function(*arrays, **{a.name: t._value for a, t in variant.live})
        results = found if len(variant.program.results) > 1 else (found,)
        shapes = [tuple(shape_of(x)) for x in wanted]
        count = len(shapes)
        blocks = [
            StructuredMatrix(
                [([results[k] for k in places], labels, out) for places, labels, out in layout.parts],
                (shapes[i // count], shapes[i % count]),
                np.dtype(layout.dtype),
                layout.term,
            )
            for i, layout in enumerate(layouts)
        ]
        return containers.unflatten(structure, iter(blocks))


def _refuse_followed(values: Iterable[Any]) -> None:
    if is_followed(values):
        raise AutogradError(
            "structured_hessian: its result has no history, so it cannot be differentiated or traced by what is "
            "around it. Take hessian there, or call it with detached arguments, of a function of detached tensors."
        )


def _leaves(arg: Any) -> Sequence[Any]:
    return (arg,) if arg.__class__ is np.ndarray else containers.flatten(arg)[0]

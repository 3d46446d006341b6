"""Equations F(x, θ) = 0 that define x: their residuals on numbers, tensors and formulas, and products with ∂F/∂x.

The unknown may be nested and complex; equations are solved in one array, the *point*.  A single real array is its own
point; anything else is laid out in one vector, real parts before imaginary ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating, is_real_floating
from symgrad.errors import ArgumentError, DtypeError, FormulaError, ShapeError
from symgrad.formula.derive import gradient
from symgrad.formula.term import Term
from symgrad.func import grad, jvp, vjp
from symgrad.implicit.factors import Factor
from symgrad.interop.array_calls import called
from symgrad.op import lookup, shape_of
from symgrad.ops.shapes.joining import cat, stack
from symgrad.tape import containers
from symgrad.tape.formulas.formal import Formal
from symgrad.tape.forward.dualwrites import at_rest, memory
from symgrad.tape.modes import enable_grad, own_no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor


class Layout:
    """How the unknown is nested, and how it lies in a point."""

    called, start = "the unknown", "x0"
    advice = (
        "an equation needs as many entries as its unknown. Give x0 the shape of the solution (for more equations than "
        "unknowns, minimise the sum of squares with argmin)."
    )

    def __init__(self, structure: Any, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]):
        self.structure = structure
        self.shapes = tuple(shapes)
        self.dtypes = tuple(dtypes)
        self.direct = structure == containers.LEAF and is_real_floating(self.dtypes[0])
        self.dtype = np.result_type(*(np.zeros((), d).real.dtype for d in self.dtypes))

    @property
    def key(self) -> Any:
        """What equal layouts have in common."""
        return self.structure, self.shapes, self.dtypes

    def pack(self, tree: Any, what: str) -> Any:
        """The point of a tree; ``ShapeError`` where it is nested otherwise or has other shapes.

        Nested lists of numbers are one array where an array is asked for: ``[y[1], -k * y[0]]``.
        """
        if self.structure == containers.LEAF and isinstance(tree, (list, tuple)):
            tree = _stacked(tree)
        leaves, structure = containers.flatten(tree)
        if containers.without_settings(structure) != containers.without_settings(self.structure):
            as_one = (
                f"{self.start} is one array if it is np.array({self.start}); " if structure == containers.LEAF else ""
            )
            raise ShapeError(
                f"{what} is nested as {containers.shown(structure)}, {self.called} as "
                f"{containers.shown(self.structure)}: {as_one}{self.advice}"
            )
        leaves = [self._fitted(leaf, k, what) for k, leaf in enumerate(leaves)]
        if self.direct:
            return leaves[0]
        parts = []
        for leaf, dtype in zip(leaves, self.dtypes, strict=True):
            halves = (leaf.real, leaf.imag) if dtype.kind == "c" else (leaf,)
            parts += [half.reshape(-1).to(self.dtype) for half in halves]
        return cat(parts)

    def _fitted(self, leaf: Any, k: int, what: str) -> Any:
        if not hasattr(leaf, "raw_shape"):
            if leaf is None or np.asarray(leaf).dtype.kind not in "biufc":
                raise ArgumentError(f"{what} is {leaf!r:.40}, a {type(leaf).__name__}; it must be made of arrays.")
            leaf = plain(Tensor, np.asarray(leaf)[()])
        shape, dtype = self.shapes[k], self.dtypes[k]
        if isinstance(leaf, Formal):
            return leaf  # its sizes may be letters; the run on numbers was looked at
        if tuple(shape_of(leaf)) != shape:
            raise ShapeError(
                f"{what} has shape {tuple(shape_of(leaf))}, {self.called} has shape {shape}: {self.advice}"
            )
        if leaf.dtype.kind == "c" and dtype.kind != "c":
            raise DtypeError(
                f"{what} is complex ({leaf.dtype}) and {self.called} is real ({dtype}). Start from a complex "
                f"{self.start} ({self.start} + 0j), or make an equation of its real part."
            )
        return leaf if leaf.dtype == dtype else leaf.to(dtype)

    def unpack(self, point: Any) -> Any:
        """The tree of a point."""
        if self.direct:
            return point if self.structure == containers.LEAF else containers.unflatten(self.structure, iter([point]))
        leaves, at = [], 0
        for shape, dtype in zip(self.shapes, self.dtypes, strict=True):
            count = int(np.prod(shape, dtype=int))
            halves = []
            for _ in range(2 if dtype.kind == "c" else 1):
                halves.append(point[at : at + count].reshape(shape))
                at += count
            whole = halves[0] if len(halves) == 1 else lookup("complex")(*halves)
            leaves.append(whole if whole.dtype == dtype else whole.to(dtype))
        return containers.unflatten(self.structure, iter(leaves))


def _stacked(value: Any) -> Any:
    """Nested lists of numbers and tensors as one."""
    if isinstance(value, (list, tuple)):
        return stack([_stacked(part) for part in value])
    return value if hasattr(value, "raw_shape") else plain(Tensor, np.asarray(value, float)[()])


class Given:
    """How the parameters are nested, and all of their leaves that are no arrays."""

    def __init__(self, params: tuple[Any, ...]):
        leaves, self.structure = containers.flatten(params)
        self.arrays = [k for k, leaf in enumerate(leaves) if hasattr(leaf, "dtype")]
        self.fixed = [None if hasattr(leaf, "dtype") else leaf for leaf in leaves]

    @staticmethod
    def leaves(params: tuple[Any, ...]) -> list[Any]:
        """The arrays, as tensors."""
        return [_array(leaf) for leaf in containers.flatten(params)[0] if hasattr(leaf, "dtype")]

    def filled(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The parameters with other arrays in their places."""
        leaves = list(self.fixed)
        for k, array in zip(self.arrays, arrays, strict=True):
            leaves[k] = array
        found: tuple[Any, ...] = containers.unflatten(self.structure, iter(leaves))
        return found


def _array(leaf: Any) -> Any:
    return leaf if hasattr(leaf, "raw_shape") else plain(Tensor, np.asarray(leaf)[()])


class Problem:
    """F(x, θ) = 0 with F of the shape of x; ``kind`` says what F is made of.

    root         F = f(x, θ)
    fixed_point  F = x - f(x, θ)
    argmin       F = ∂f(x, θ)/∂x for a scalar f
    linear       F = f(x, θ) - b, with f linear in x; b is the first parameter

    ``of_arrays`` says that x0 and the parameters are arrays, for which f may be written; where they are tensors it may,
    too, but methods that both have are then those of tensors.  ``scale`` is the largest entry of the start: what a
    root at 0 is small against.
    """

    def __init__(self, kind: str, function: Callable[..., Any], layout: Layout, given: Given, options: Any):
        self.kind = kind
        self.function = function
        self.layout = layout
        self.given = given
        self.options = options
        self.watched = False
        self.of_arrays = False
        self.scale = 0.0
        self._factor: Factor | None = None
        name = getattr(function, "__name__", type(function).__name__)
        self.__name__ = name if name.isidentifier() else "f"

    @property
    def key(self) -> Any:
        """What equal problems have in common."""
        fixed = tuple((type(x).__name__, repr(x) if isinstance(x, float) else x) for x in self.given.fixed)
        return self.kind, self.function, self.layout.key, self.given.structure, fixed, self.options

    def __hash__(self) -> int:
        return hash((self.kind, self.function))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Problem) and bool(self.key == other.key))

    def __getstate__(self) -> Any:
        return {**vars(self), "_factor": None, "watched": False}

    # ------------------------------------------------------------------------------------------ what f says

    def _called(self, point: Any, leaves: Sequence[Any]) -> Any:
        args = self.given.filled(leaves)
        args = (self.layout.unpack(point), *(args[1:] if self.kind == "linear" else args))
        return called(self.function, args, None, self.of_arrays)

    def mapped(self, point: Any, *leaves: Any) -> Any:
        """What f gives, as a point."""
        return self.layout.pack(self._called(point, leaves), f"the result of {self.__name__}")

    def objective(self, point: Any, *leaves: Any) -> Any:
        """What a scalar f gives."""
        out = self._called(point, leaves)
        out = out if hasattr(out, "raw_shape") else plain(Tensor, np.asarray(out)[()])
        if tuple(shape_of(out)) or not is_real_floating(out.dtype):
            raise ShapeError(
                f"{self.__name__} must give a real number to be minimised; it gave shape {tuple(shape_of(out))} and "
                f"dtype {out.dtype}. Sum it, or square and sum it."
            )
        return out

    def residual(self, point: Any, *leaves: Any) -> Any:
        """F at a point."""
        if self.kind == "argmin":
            return grad(self.objective)(point, *leaves)
        out = self.mapped(point, *leaves)
        if self.kind == "fixed_point":
            return point - out
        if self.kind == "linear":
            return out - self.layout.pack(self.given.filled(leaves)[0], "b")
        return out

    def residual_term(self, point: Term, leaves: Sequence[Term]) -> Term:
        """F as a formula; raises where f needs values."""
        formals = [Formal(leaf) for leaf in leaves]
        if self.kind == "argmin":
            return gradient(self._as_term(self._called(Formal(point), formals)), [point])[0]
        return self._as_term(self.residual(Formal(point), *formals))

    @staticmethod
    def _as_term(found: Any) -> Term:
        if not isinstance(found, Formal):
            raise FormulaError("the function made its result from values")
        return found.term

    # ------------------------------------------------------------------------------------------ numbers

    def numbers(self, point: Any, leaves: Sequence[Any]) -> Any:
        """F as an array, from arrays or tensors."""
        with own_no_grad():
            return np.asarray(self.residual(_tensor(point), *map(_tensor, leaves))._value)

    def factor(self, point: Any, leaves: Sequence[Any]) -> Factor:
        """∂F/∂x at a point, ready for solving; the last one is kept."""
        values = tuple(memory(v) for v in (point, *leaves))
        if self._factor is None or not self._factor.at(values):
            self._factor = Factor(self, values)
        return self._factor

    def refuse_captured(self, point: Any, leaves: Sequence[Any]) -> None:
        """Raise where f uses something that moves and is no parameter: its derivative would be lost."""
        with enable_grad():
            out = self._called(_tensor(point), [_tensor(v) for v in leaves])
        name = self.__name__
        call = f"{self.kind.replace('linear', 'solve')}({name}, ..., w) with {name}(x, ..., w)"
        refuse_lost(out, name, call, self.watched)


def refuse_lost(out: Any, name: str, call: str, watched: bool) -> None:
    """Raise where what a function gave moves, though none of its arguments does; ``call`` is what to write instead."""
    for leaf in containers.flatten(out)[0]:
        moves = at_rest(leaf) is not leaf
        if moves or (watched and isinstance(leaf, Recorded) and leaf._requires_grad):
            raise ArgumentError(
                f"{name} uses a tensor from outside of its arguments that "
                f"{'forward mode follows' if moves else 'requires grad'}, and the derivative by it would be lost. "
                f"Pass it as a parameter: {call}, or detach() it."
            )


def _tensor(v: Any) -> Any:
    return plain(Tensor, memory(v))


def product(problem: Problem, transposed: bool, v: Any, point: Any, leaves: Sequence[Any]) -> Any:
    """(∂F/∂x) v, or its transpose times v."""
    if transposed:
        _, pull = vjp(lambda p: problem.residual(p, *leaves), point)
        return pull(v)[0]
    return jvp(lambda p: problem.residual(p, *leaves), (point,), (v,))[1]


class Linear:
    """The system (∂F/∂x) v = r of a problem, or the one with the transposed matrix; r is its first argument."""

    def __init__(self, base: Problem, transposed: bool):
        self.base = base
        self.transposed = transposed
        self.__name__ = base.__name__

    def __hash__(self) -> int:
        return hash((self.base, self.transposed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and (self.base, self.transposed) == (other.base, other.transposed)

    def residual(self, v: Any, r: Any, point: Any, *leaves: Any) -> Any:
        """What is zero at the solution."""
        return product(self.base, self.transposed, v, point, leaves) - r


def check_unknown(tree: Any, name: str) -> tuple[Layout, Any]:
    """``(layout, point)`` of a start: values alone, for nothing is differentiated by a start."""
    leaves, structure = containers.flatten(tree)
    bare = []
    for leaf in leaves:
        leaf = at_rest(leaf)
        bare.append(leaf.detach() if getattr(leaf, "requires_grad", False) else leaf)
    layout, point = tracked(containers.unflatten(structure, iter(bare)), name)
    if isinstance(point, Tensor) and point._node is None and (point._extra is None or not point._extra.name):
        point = plain(Tensor, point._value)
        point.more().name = "x0"
    return layout, point


def tracked(tree: Any, name: str) -> tuple[Layout, Any]:
    """``(layout, point)`` of a nested value."""
    leaves, structure = containers.flatten(tree)
    if not leaves:
        raise ArgumentError(f"{name} holds no arrays; give it the structure and the shapes of the solution.")
    found = []
    for leaf, path in zip(leaves, containers.paths(structure, name), strict=True):
        if isinstance(leaf, (int, float, complex)) and not isinstance(leaf, bool):
            leaf = np.complex128(leaf) if isinstance(leaf, complex) else np.float64(leaf)
        if not hasattr(leaf, "dtype"):
            raise ArgumentError(f"{path} is a {type(leaf).__name__}; a start is an array, a number or nested of them.")
        if not is_floating(leaf.dtype):
            raise DtypeError(
                f"{path} has dtype {leaf.dtype}; solutions of equations are floating or complex. Start from floats "
                "(x0.double(), 1.0 in place of 1)."
            )
        found.append(_array(leaf))
    layout = Layout(structure, [tuple(shape_of(x)) for x in found], [np.dtype(x.dtype) for x in found])
    return layout, layout.pack(containers.unflatten(structure, iter(found)), name)

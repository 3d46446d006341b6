"""A compiled function: one program per signature of its arguments, traced when it is first met.

The signature is the dtypes and exact shapes of the arrays and the values of everything else, so a size that the Python
code turned into a number can never serve another size; programs with equal source are one object all the same.
Values that the traced function looked at are guards: a call that would see others is traced again.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.rescue import spelled_later
from symgrad.compiler.called import by_position, completed, most_of
from symgrad.compiler.cost import Cost
from symgrad.compiler.generality import (
    apart,
    beside_constants,
    beside_numbers,
    filled,
    fixed_sizes,
    guarded,
    holds_at,
    note_order,
    with_sizes,
)
from symgrad.compiler.outside import entries_of, read_by_python
from symgrad.compiler.program import Argument, Compiled, Guards, build
from symgrad.compiler.trace import (
    ARRAYS,
    array_of,
    collection_paused,
    fixed,
    function_name,
    is_array,
    of_tensors,
    safe_name,
    trace,
)
from symgrad.dtypes import get_default_dtype, is_floating
from symgrad.errors import ArgumentError, AutogradError, CompileError, ShapeError
from symgrad.guesses import OF_PROGRAMS, arrays_meant, missing
from symgrad.interop.array_calls import has_two_meanings
from symgrad.tape import containers
from symgrad.tape.formulas.constants import grown_recipe, made_as
from symgrad.tape.memory.arrays import look_of
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.following import is_followed
from symgrad.tape.watching.surroundings import values_and_ways
from symgrad.tensor import Tensor

VARIANTS = 16
"""How many branch patterns of one signature are compiled before it is taken as a function of values."""


class Variant:
    """One program, its guards, and the tensors outside the function that it reads (``live``).

    Arrays outside that Python may read are known by their look: what it computes of entries is a number of the program.

    ``example`` has the structure of the arguments that it was traced with, and ``shown`` is the program for other
    sizes, once somebody asked for it.
    """

    __slots__ = ("example", "guards", "live", "looks", "of_tensors", "program", "same", "seen", "shown", "surroundings")

    def __init__(
        self,
        program: Compiled,
        guards: Guards | None,
        surroundings: list[Any],
        live: list[tuple[Argument, Any]],
        example: Sequence[Any] = (),
        of_tensors: bool | None = None,
        function: Any = None,
    ):
        self.example = example
        self.of_tensors = of_tensors
        self.shown: Compiled | None = None
        self.live = live
        self.program = program
        self.same = same_value if program.kernels is None else same_bits
        self.guards = None if guards is None else guards.program
        self.seen = [] if guards is None else guards.seen
        self.surroundings = surroundings
        known = [*(a.default for a in program.arguments if a.default is not None), *(t._value for _, t in live)]
        read = read_by_python(function, [outer.value for outer in surroundings], known)
        self.looks = [(thing, look_of(entries_of(thing))) for thing in read]

    def current(self) -> bool:
        """Whether the surroundings are what they were when the function was traced."""
        for outer in self.surroundings:
            if not outer.same:
                return False
        return all(look_of(entries_of(thing)) == look for thing, look in self.looks)

    def holds(self, arrays: Sequence[Any]) -> bool:
        """Whether the function would see the same values and surroundings as when it was traced."""
        if not self.current():
            return False
        for a, tensor in self.live:
            if tensor._value.shape != a.default.shape or tensor._value.dtype != a.dtype:
                return False
        if self.guards is None:
            return True
        try:
            live = {a.name for a in self.guards.arguments if a.default is not None}
            found = self.guards.function(*arrays, **{a.name: t._value for a, t in self.live if a.name in live})
        except (ArithmeticError, ValueError, TypeError, LookupError, RuntimeError):
            return False
        found = found if len(self.seen) > 1 else (found,)
        return all(map(self.same, self.seen, found))


def as_tensor(leaf: Any) -> Any:
    """Arrays as tensors; anything else as it is."""
    return plain(Tensor, leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def _stand_in(leaf: Any) -> Any:
    """Something small of the kind of an argument's leaf."""
    if isinstance(leaf, Recorded):
        return plain(Tensor, np.float64(0))
    return np.float64(0) if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def same_value(a: Any, b: Any) -> bool:
    """Whether a value is the one that was seen: nan is nan, and zeros are one number."""
    if b.__class__ is np.bool and not a.ndim:
        return bool(a == b)  # what most programs look at, five times as fast
    return np.array_equal(a, b, equal_nan=is_floating(a.dtype))


def same_bits(a: Any, b: Any) -> bool:
    """Whether two values have one dtype, one shape and the same entries, zeros of the same sign; nan is nan.

    >>> same_bits(np.zeros(1), np.zeros(1)), same_bits(np.zeros(1), -np.zeros(1))
    (True, False)
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if not is_floating(a.dtype) or not np.array_equal(a, b, equal_nan=True):
        return False
    parts = ((a.real, b.real), (a.imag, b.imag)) if a.dtype.kind == "c" else ((a, b),)
    return all(np.array_equal(np.signbit(x) & (x == 0), np.signbit(y) & (y == 0)) for x, y in parts)


def _lost(program: Compiled, found: Any) -> int:
    """How many entries of the results are nan at the example of a trace."""
    constants = [a.default for a in program.arguments if a.default is not None]
    results = program.function(*(i.value for i in found.inputs), *constants)
    row = (results,) if len(program.results) == 1 else results
    return sum(int(np.isnan(r).sum()) for r in map(np.asarray, row) if r.dtype.kind in "fc")


class Specialised:
    """A function compiled for the signatures it is called with; see :func:`symgrad.compile`."""

    def __init__(self, function: Callable[..., Any], name: str | None = None, stable: bool = True, exact: bool = False):
        self.function = by_position(function)
        self.most = most_of(self.function)
        self.stable = stable
        self.exact = exact
        self.named = name is not None
        self.name = safe_name(name) if name is not None else function_name(function)
        self.variants: dict[Any, list[Variant]] = {}
        self.programs: dict[str, Compiled] = {}
        self.traces = 0
        self._plain: dict[Any, Variant] = {}
        self.__doc__ = getattr(function, "__doc__", None)

    def __repr__(self) -> str:
        found = [v.shown or v.program for kept in self.variants.values() for v in kept]
        if not found:
            return f"<compiled {self.name}: not traced yet>"
        more = len(self.programs) - 1
        return f"{found[-1]!r}"[:-1] + (f" and {more} more program{'s' * (more > 1)}>" if more > 0 else ">")

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":  # what inspect.signature asks for
            return self._parameters()
        raise missing("a compiled function", name, OF_PROGRAMS, self)

    def _parameters(self) -> inspect.Signature:
        """The parameters of the function, or where it was unpickled without it those of a program."""
        if self.function is not None:
            return inspect.signature(getattr(self.function, "by_name", self.function))
        return inspect.signature(next(kept[-1].program for kept in self.variants.values()))

    # -------------------------------------------------------------------------------------- calling

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the program for these arguments, tracing the function if there is none."""
        if not named and (key := _plain_key(args)) in self._plain:
            plain = self._plain[key]
            if float in key:
                args = tuple([np.float64(a) if a.__class__ is float else a for a in args])
            if plain.holds(args):
                return _nested(plain.program, plain.program.function(*args))
        if is_followed(containers.flatten((args, named))[0]):
            return self._followed(args, named)
        if named or len(args) > self.most:
            args = self.positional(args, named)
        key, arrays = signature(args, self.exact)
        variant = self.variant(key, arrays, args)
        self._note_plain(args, variant, len(self.variants[key]))
        program = variant.program
        return _nested(program, program.function(*arrays, **{a.name: t._value for a, t in variant.live}))

    def _followed(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Where tensors are followed the function itself runs, or what is known of it after unpickling."""
        if self.function is not None:
            return self.function(*containers.tree_map(as_tensor, args), **containers.tree_map(as_tensor, named))
        known = self.variants.get(signature(args)[0], ())
        if named or not known:
            return self.trace(*args)
        leaves = [x for x in containers.flatten(args)[0] if is_array(x)]
        return known[-1].program(*leaves)

    def variant(self, key: Any, arrays: Sequence[Any], args: Sequence[Any]) -> Variant:
        """The program for these arguments, traced if there is none."""
        known = self.variants.get(key)
        if known is not None:
            for v in known:
                if (v.of_tensors is None or v.of_tensors == of_tensors(args)) and v.holds(arrays):
                    return v
        return self.trace(*args)

    def positional(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call in their order, also those that were given by name."""
        if len(args) > self.most:
            alone = " by position" if hasattr(self.function, "by_name") else ""
            raise ArgumentError(f"{self.name}() takes {self.most} arguments{alone}, but {len(args)} were given.")
        return completed(self.name, self.function, args, named)

    # -------------------------------------------------------------------------------------- tracing

    def trace(self, *args: Any) -> Variant:
        """Trace the function for these arguments and keep the program."""
        if self.function is None:
            raise CompileError(
                f"{self.name}() was unpickled without its Python function, so it serves only the dtypes and shapes it "
                "had been compiled for; compile the function again for these."
            )
        with collection_paused(), arrays_meant(args):
            return self._trace(*args)

    def _trace(self, *args: Any) -> Variant:
        key, _ = signature(args, self.exact)
        found, program = self._built(args if self.exact else as_inputs(args))
        self.traces += 1
        example = [containers.tree_map(_stand_in, a) for a in as_inputs(args)]
        if program.kernels is None and program.guards is None and all(a.default is None for a in program.arguments):
            program = self.programs.setdefault(program.source, program)
        else:
            self.programs[f"{program.source}#{self.traces}"] = program
        outside = {c.name: c.tensor for c in found.constants}
        constants = [(a, outside[a.name]) for a in program.arguments if a.default is not None]
        live = [(a, tensor) for a, tensor in constants if tensor is not None]  # others were changed in place since
        meant = of_tensors(args) if has_two_meanings(self.function) else None
        around = [*itertools.chain(*values_and_ways(self.function))]
        made = Variant(program, program.guards, around, live, example, meant, self.function)
        kept = self.variants.setdefault(key, [])
        kept[:] = [v for v in kept if v.current()]
        kept.append(made)
        if len(kept) > VARIANTS:
            self.variants[key] = []
            ways = sorted({how for _, _, how in found.guards})
            raise CompileError(
                f"{self.name}() looked at values of its arguments ({', '.join(ways)}) and "
                f"did something else {VARIANTS} times; use where(condition, a, b), or run it without compiling."
            )
        return made

    def _built(self, args: Sequence[Any]) -> tuple[Any, Compiled]:
        """What the function did, and its program.

        Where derivatives inside lost entries of the example, and the program does, they are spelled one by one.
        """
        name = self.name if self.named else None
        with spelled_later(self.stable) as later:
            found = self._read(args)
        program = build(found, name, stable=self.stable)
        if later.met and (lost := _lost(program, found)):
            other = self._read(args)
            made = build(other, name, stable=self.stable)
            if _lost(made, other) < lost:
                other.respelled = True
                return other, made
        return found, program

    def _read(self, args: Sequence[Any]) -> Any:
        """What the function did, with letters for sizes; with numbers where a size that it took for one is a constant.

        Arrays that a function makes by ``len(x)`` have their size as a number, and do not fit letters.
        """
        try:
            return trace(self.function, args, self.exact)
        except (ShapeError, AutogradError):  # as where a derivative does not fit
            with fixed():
                return trace(self.function, args, self.exact)

    def _note_plain(self, args: Sequence[Any], made: Variant, variants: int) -> None:
        """Signatures of arrays alone that have one program are looked up, and that is called at once."""
        key = _plain_key(args)
        if key is None:
            return
        if variants == 1 and not made.live and not self.exact:
            self._plain[key] = made
        else:
            self._plain.pop(key, None)

    @property
    def program(self) -> Compiled:
        """The program traced last, for the sizes at which it holds: a letter where it does at all, else the number."""
        found = [v for kept in self.variants.values() for v in kept]
        if not found:
            raise CompileError(f"{self.name}() has not been traced yet: call it, or give compile() example arguments.")
        last = found[-1]
        if last.shown is None:
            last.shown = self._for_other_sizes(last)
        return last.shown

    def _for_other_sizes(self, variant: Variant) -> Compiled:
        program = variant.program
        if self.function is None or program.trace is None or self.exact:
            return program
        with collection_paused(), spelled_later(self.stable and not program.trace.respelled):
            wider = self._wider(variant)
            if wider is not None:
                return wider
            traced, name = program.trace.lettered or program.trace, self.name if self.named else None
            found = beside_constants(self.function, variant.example, traced)
            sizes, grown = fixed_sizes(self.function, variant.example, found)
            recipes = [(values[0], recipe) for values in grown.values() if (recipe := grown_recipe(values)) is not None]
            if not sizes and not recipes:
                whole = guarded(self.function, variant.example, found)
                return program if whole is traced else build(whole, name, stable=self.stable)
            joined = with_sizes(self.function, variant.example, found) if sizes else None
            joined = joined or (beside_numbers(self.function, variant.example, found) if sizes else None)
            if joined is not None:
                return build(guarded(self.function, variant.example, joined), name, stable=self.stable)
            args = filled(variant.example, [i.value for i in found.inputs])
            # Where no size is free, those of constants are not, either.
            given = {n for i in found.inputs for s, n in zip(i.shape, np.shape(i.value), strict=True) if s != n}
            alone = None if given <= sizes else sizes
            with fixed(alone), made_as(recipes):
                rest = trace(self.function, args)
                note_order(self.function, args, rest)
                return build(guarded(self.function, variant.example, rest), name, stable=self.stable)

    def _wider(self, variant: Variant) -> Compiled | None:
        """A program for sizes that are not made of each other, where it gives here what the variant's gives."""
        program = variant.program
        assert program.trace is not None
        here = program.trace.lettered or program.trace
        other = apart(self.function, variant.example, here)
        if other is None or program.guards is not None or fixed_sizes(self.function, variant.example, other)[0]:
            return None
        if not holds_at(other, here.sizes):
            return None
        made = build(
            guarded(self.function, variant.example, other), self.name if self.named else None, stable=self.stable
        )
        row = [i.value for i in here.inputs]
        live = [a.default for a in program.arguments if a.default is not None]
        try:
            found, known = made.function(*row), program.function(*row, *live)
        except ValueError:  # it holds at its own sizes alone
            return None
        if len(made.results) == 1:
            found, known = (found,), (known,)
        same = all(
            np.shape(a) == np.shape(b)
            and np.allclose(a, b, rtol=1e-9 if b.dtype.itemsize >= 8 else 1e-4, equal_nan=True)
            for a, b in zip(map(np.asarray, found), map(np.asarray, known), strict=True)
        )
        return made if same else None

    @property
    def source(self) -> str:
        """Source of the program traced last, which says what must hold of values and sizes that were looked at."""
        program = self.program
        return program.source if program.guards is None else program.guards.stated(program.source, program.name)

    @property
    def formula(self) -> str:
        """Formula of the program traced last, in LaTeX."""
        return self.program.formula

    @property
    def cost(self) -> Cost:
        """What the program traced last costs; see :attr:`Compiled.cost`."""
        return self.program.cost

    @property
    def arguments(self) -> Any:
        """The arrays that the program traced last takes."""
        return self.program.arguments

    def save(self, path: Any, target: str | None = None) -> None:
        """Write the program traced last as a file that needs only NumPy; see :meth:`Compiled.save`."""
        self.program.save(path, target)

    def __getstate__(self) -> dict[str, Any]:
        kept = {key: [v.program for v in variants] for key, variants in self.variants.items()}
        return {"name": self.name, "variants": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.function = None  # type: ignore[assignment]
        self.stable, self.exact, self.most = True, False, math.inf
        self.named = True
        self.name = state["name"]
        self.programs = {}
        self.traces = 0
        self._plain = {}
        self.variants = {
            key: [Variant(p, p.guards, [], []) for p in programs] for key, programs in state["variants"].items()
        }
        self.__doc__ = None


def _plain_key(args: Sequence[Any]) -> Any:
    """What tells calls with arrays and real numbers alone apart, sooner than their signature; None for other calls."""
    row: list[Any] = []
    for a in args:
        if a.__class__ is float:
            row.append(float)
        elif (a.__class__ is np.ndarray or a.__class__ is np.float64) and a.dtype.isnative:
            row.append(a.dtype)
            row.append(a.shape)
        else:
            return None
    return tuple(row)


def _nested(program: Compiled, out: Any) -> Any:
    """What a program gave in the structure of what its function gives."""
    if program.structure == containers.LEAF:
        return out
    return containers.unflatten(program.structure, iter(out if len(program.results) > 1 else (out,)))


def signature(args: Sequence[Any], exact: bool = False) -> tuple[Any, list[Any]]:
    """A hashable key of the arguments (dtypes, shapes, everything static) and the arrays among them.

    ``exact``: also how arrays lie in memory, on which sums of float32 depend, and the default dtype; and a number is no
    array, as it has no dtype.
    """
    if exact:
        return _signature_of_bits(args)
    key: list[Any] = []
    arrays: list[Any] = []
    for arg in args:
        if arg.__class__ is np.ndarray and arg.dtype.isnative:
            key.append((arg.dtype, arg.shape))
            arrays.append(arg)
            continue
        leaves, structure = containers.flatten(arg)
        if structure != containers.LEAF:
            key.append(structure)
        for leaf in leaves:
            if is_array(leaf):
                array = array_of(leaf)
                arrays.append(array)
                # Plain numbers take the dtype of what is beside them.
                key.append(leaf.__class__ if leaf.__class__ in (float, complex) else (array.dtype, array.shape))
            else:
                key.append((leaf.__class__, _static(leaf)))
    if not arrays and args:
        return signature(as_inputs(args))
    if (float in key or complex in key) and not of_tensors(args) and all(a.dtype.char in "dD" for a in arrays):
        # Beside double arrays alone they are what NumPy's double numbers are: solvers give now one, now the other.
        key = [_DOUBLE.get(k, k) if isinstance(k, type) else k for k in key]
    return tuple(key), arrays


_DOUBLE = {float: (np.dtype(np.float64), ()), complex: (np.dtype(np.complex128), ())}


def _signature_of_bits(args: Sequence[Any]) -> tuple[Any, list[Any]]:
    key: list[Any] = [get_default_dtype()]
    arrays: list[Any] = []
    for arg in args:
        leaves, structure = ((arg,), containers.LEAF) if isinstance(arg, ARRAYS) else containers.flatten(arg)
        if structure != containers.LEAF:
            key.append(structure)
        for leaf in leaves:
            if isinstance(leaf, ARRAYS):
                array = value_of(leaf)
                arrays.append(array)
                key.append((array.dtype, array.shape, array.strides))
            else:
                # -0.0 is not 0.0, though they are equal.
                key.append((leaf.__class__, repr(leaf) if isinstance(leaf, (float, complex)) else _static(leaf)))
    return tuple(key), arrays


_STATIC = (bool, int, str, bytes, type(None), type, type(Ellipsis), np.dtype, FunctionType, BuiltinFunctionType)


def _static(leaf: Any) -> Any:
    if not isinstance(leaf, _STATIC):
        raise ArgumentError(
            f"an argument of type {type(leaf).__name__} is neither an array nor a plain value, so a later call could "
            "not be told from this one; pass arrays, numbers, strings, functions, or tuples, lists and dicts of them."
        )
    return leaf


def as_inputs(args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments; when there is no array among them, whole numbers stand for numbers and not for sizes."""
    leaves, structure = containers.flatten(tuple(args))
    if any(is_array(leaf) for leaf in leaves):
        return tuple(args)
    changed = [float(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in leaves]
    return containers.unflatten(structure, iter(changed))  # type: ignore[no-any-return]

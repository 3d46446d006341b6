"""``@jit``: a function runs eagerly until it is called often, then as a program.

A call is counted under its signature: dtypes and shapes of arrays, values of everything else.  When a signature is hot
the function is traced and compiled.  Guards are the signature, the outer variables the function uses, and the values it
looked at (branches, ``item()``); a call that misses runs eagerly or is compiled as another variant.  What cannot be
repeated by a program (random numbers, ``backward``, leaves made on the way) always runs eagerly.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from symgrad.autograd.sweeps.rescue import has_nan
from symgrad.compiler.specialise import VARIANTS, Specialised, Variant, as_tensor, same_bits, signature
from symgrad.compiler.trace import ARRAYS, array_of
from symgrad.errors import ArgumentError, CompileError, NameProblem, SymgradError
from symgrad.interop.array_calls import called
from symgrad.ops.rules.kinks import usual
from symgrad.tape import containers
from symgrad.tape.forward.carried import Carried
from symgrad.tape.forward.dualwrites import faced
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.record import Recorded, traced
from symgrad.tape.watching.watch import watching

LIMIT = 64
"""How many signatures one function is counted under; beyond that new ones run eagerly."""


class Jitted:
    """A function that is compiled when it is hot; made by :func:`jit`."""

    def __init__(self, function: Callable[..., Any], after: int, exact: bool):
        functools.update_wrapper(self, function)
        self.function = function
        self.after = after
        self.compiled = Specialised(function, stable=False, exact=exact)  # hot calls follow the steps of cold ones
        self.counts: dict[Any, int] = {}
        self.refused: dict[Any, str] = {}
        self._stats = {"eager": 0, "compiled": 0, "compilations": 0, "guard_misses": 0}

    def __repr__(self) -> str:
        return f"<jit {self.compiled.name}: {self._stats}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the function: eagerly, or as a program where its guards hold."""
        if watching() is not None or not usual() or self._differentiated(args, named):
            return self._eagerly(args, named)
        try:
            row = self._row(args, named)
            key, arrays = signature(row, self.compiled.exact)
        except (ArgumentError, NameProblem, TypeError):
            return self._eagerly(args, named)
        variant = self._variant(key, arrays, row)
        if variant is None or (is_grad_enabled() and any(t._requires_grad for _, t in variant.live)):
            return self._eagerly(args, named)
        program = variant.program
        try:
            leaves = self._leaves(variant, arrays)
        except Exception:  # noqa: BLE001  (eagerly it fails with the words for it)
            return self._eagerly(args, named)
        if any(
            leaf.dtype.kind == "f" and has_nan(leaf) for leaf in leaves if isinstance(leaf, (np.ndarray, np.generic))
        ):
            return self._eagerly(args, named)  # a nan among its derivatives has a second answer there
        self._stats["compiled"] += 1
        if program.structure == containers.LEAF:
            return as_tensor(leaves[0])
        return containers.unflatten(program.structure, iter([as_tensor(leaf) for leaf in leaves]))

    @staticmethod
    def _leaves(variant: Variant, arrays: list[Any]) -> Any:
        live = {a.name: t._value for a, t in variant.live} if variant.live else {}
        out = variant.program.function(*arrays, **live)
        return out if len(variant.program.results) > 1 else (out,)

    def _row(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        return self.compiled.positional(args, named) if named or len(args) > self.compiled.most else args

    @staticmethod
    def _differentiated(args: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Tensors that are followed need the tape; their calls stay eager."""
        simple = not named and all(isinstance(a, ARRAYS) for a in args)
        leaves = args if simple else containers.flatten((args, named))[0]
        enabled = is_grad_enabled()
        for leaf in map(faced, leaves):
            if isinstance(leaf, Recorded):
                if enabled and traced(leaf):
                    return True
            elif isinstance(leaf, Carried):
                return True
        return False

    def _eagerly(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        self._stats["eager"] += 1
        inputs = containers.tree_map(as_tensor, args)
        options = containers.tree_map(as_tensor, named)
        if any(isinstance(leaf, Recorded) for leaf in containers.flatten((args, named))[0]):
            result = self.function(*inputs, **options)
        else:  # arrays, for which it may be written
            result = called(self.function, inputs, options)
        return containers.tree_map(as_tensor, result)

    def _variant(self, key: Any, arrays: list[Any], row: tuple[Any, ...]) -> Variant | None:
        known = self.compiled.variants.get(key)
        if known:
            for v in known:
                if v.holds(arrays):
                    return v
            self._stats["guard_misses"] += 1
        if key in self.refused:
            return None
        count = self.counts.get(key, 0) + 1
        if count == 1 and len(self.counts) >= LIMIT:
            return None
        self.counts[key] = count
        if count <= self.after:
            return None
        if known and len(known) >= VARIANTS:
            self.refused[key] = f"it did something else for {VARIANTS} patterns of values"
            return None
        return self._compile(key, row)

    def _compile(self, key: Any, row: tuple[Any, ...]) -> Variant | None:
        try:
            made = self.compiled.trace(*row)
        except (CompileError, SymgradError) as error:
            self.refused[key] = str(error)
            return None
        if self.compiled.exact and not self._repeats(made, row):
            self.refused[key] = "its program does not round as the function does"
            self.compiled.variants[key].remove(made)
            return None
        self._stats["compilations"] += 1
        return made

    def _repeats(self, made: Variant, row: tuple[Any, ...]) -> bool:
        """Whether a new program gives, to the last bit, what the function gave when it was traced."""
        trace = made.program.trace
        wanted, trace.given = trace.given, []  # type: ignore[union-attr]
        with np.errstate(all="ignore"):
            try:
                found = self._leaves(made, signature(row, True)[1])
            except Exception:  # noqa: BLE001  (whatever it is, the function did not raise it)
                return False
            if trace.passes:  # type: ignore[union-attr]
                # A pass is recorded while it is traced, and in the call that is repeated it is not.
                results = self.compiled.function(*containers.tree_map(as_tensor, row))
                wanted = [array_of(r) for r in containers.flatten(results)[0]]
        return all(map(same_bits, wanted, found))

    def stats(self) -> dict[str, Any]:
        """Numbers of eager and compiled calls, compilations and guard misses, and why signatures stay eager."""
        return {**self._stats, "signatures": len(self.counts), "refused": sorted(set(self.refused.values()))}

    @property
    def source(self) -> str:
        """Source of the program compiled last; ``CompileError`` when there is none yet."""
        return self.compiled.source


@overload
def jit(function: Callable[..., Any], *, after: int = 3, exact: bool = True) -> Jitted: ...
@overload
def jit(function: None = None, *, after: int = 3, exact: bool = True) -> Callable[[Callable[..., Any]], Jitted]: ...
def jit(function: Callable[..., Any] | None = None, *, after: int = 3, exact: bool = True) -> Any:
    """Compile a function once it has been called ``after`` times with one signature.

    The result is always made of tensors, eager or compiled.  Calls with tensors that require grad (and recording on)
    run eagerly on the tape.  ``f.stats()`` tells what happened.

    A program runs the kernels of the eager call in the same order, so that no bit of a result changes when a function
    gets hot; it only does without the tape.  With ``exact=False`` it is the text that :func:`symgrad.compile` writes,
    which is shorter where formulas can be rewritten, and rounds as NumPy does: functions of float32 arrays, which run
    eagerly in float64 and are rounded once, and some of a single number may then differ in the last digit.

    Python's numbers among the arguments are part of the signature, as they have no dtype; pass arrays or tensors for
    what changes from call to call.  Where a program fails, the function itself runs, and raises what it raises.
    Results of a program have memory of their own, also where the function returns a view of an argument.
    Functions stay eager that change tensors in place which they did not compute, or take gradients in half precision.

    >>> import symgrad as sg, numpy as np
    >>> @sg.jit(after=1)
    ... def f(x):
    ...     return (x * x).sum()
    >>> f(np.array([1.0, 2.0])), f(np.array([3.0, 4.0])), f.stats()["compiled"]
    (tensor(5., dtype=float64), tensor(25., dtype=float64), 1)
    """
    if after < 0:
        raise ArgumentError(f"after={after}: the number of eager calls is not negative.")
    if function is None:
        return lambda f: Jitted(f, after, exact)
    if not callable(function):
        raise ArgumentError(f"jit() takes a function, not {type(function).__name__}.")
    return Jitted(function, after, exact)

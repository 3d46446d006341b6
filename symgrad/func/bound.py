"""Calls whose derivatives are taken: arguments become variables, and what does not fit is told in torch's words."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.rescue import VARIABLES
from symgrad.compiler import trace as tracing
from symgrad.dtypes import in_native_order, is_floating
from symgrad.errors import ArgumentError, ChangedInPlace
from symgrad.interop.array_calls import called, followed, leads_back
from symgrad.op import lookup
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle, apart
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.forward.jets import Jet
from symgrad.tape.modes import (
    MODE,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    own_no_grad,
)
from symgrad.tape.numbering import sequence
from symgrad.tape.record import Recorded, plain, recorded
from symgrad.tape.standins import inner
from symgrad.tape.threads import ThreadState, meanwhile
from symgrad.tape.watching.captured import guarding
from symgrad.tape.watching.scalars import values_read
from symgrad.tape.watching.watch import WATCH, note_variable, watching
from symgrad.tensor import Tensor

Argnums = int | Sequence[int]
NUMBERS = (bool, int, float, complex)
NOT_KNOWN = (
    ". A number does not know what it was computed from (float() and .item() give one): return the tensor, or "
    "zeros(()) for a constant."
)


@contextmanager
def deriving() -> Iterator[None]:
    """Where derivatives are taken operations are recorded, also inside of ``inference_mode``."""
    if not is_inference_mode_enabled():
        yield
        return
    with inference_mode(False), own_no_grad():
        yield


def watched() -> bool:
    """Whether somebody outside may differentiate what is computed now."""
    return is_grad_enabled() or watching() is not None


def as_tensor(value: Any, name: str) -> Any:
    """A tensor of an argument; Python numbers become double precision, since precision is what derivatives need."""
    value = faced(inner(value))
    if isinstance(value, (Recorded, Dual, Jet)):
        return value
    if isinstance(value, NUMBERS):
        value = np.complex128(value) if isinstance(value, complex) else np.float64(value)
    elif not isinstance(value, (np.ndarray, np.generic)):
        raise ArgumentError(
            f"{name} holds {type(value).__name__}; tensors, arrays and numbers can be differentiated by."
        )
    return plain(Tensor, in_native_order(value))


def refuse_path(value: Any, name: str) -> None:
    """Raise where reverse mode meets a Taylor path, whose coefficients no tape keeps."""
    if isinstance(value, Jet):
        raise ArgumentError(
            f"{name} is followed along a Taylor path (func.jet, func.taylor), inside of which there is no reverse "
            "mode: differentiate the jet (func.grad of a function that calls func.taylor), or take func.jvp inside."
        )


def as_variable(tensor: Any, name: str, tie: bool, pulled: bool = True) -> tuple[Any, Any]:
    """A new variable with the value of ``tensor``, and what the function gets of it.

    Where the tensor is tracked the variable is tied to it, so that derivatives nest; a dual keeps its tangent.  The
    variable requires grad if derivatives by it are ``pulled`` back to it.
    """
    refuse_path(tensor, name)
    if isinstance(tensor, Dual):
        base, shown = as_variable(as_tensor(tensor.primal, name), name, tie, pulled)
        return base, Dual(shown, apart(tensor.tangent) if pulled else tensor.tangent, tensor.tag)
    if not is_floating(tensor.dtype):
        raise ArgumentError(
            f"{name} has dtype {tensor.dtype}; derivatives need a floating or complex dtype (cast it with .double())."
        )
    if tie and tensor._requires_grad:
        made = recorded(Tensor, lookup("clone"), tensor._value, (tensor.edge(),), [tensor._value], {}, 1)
        VARIABLES[made._node.sequence_nr] = made
        return made, made
    made = plain(Tensor, tensor._value)
    extra = made.more()
    extra.name = tensor._extra.name if tensor._extra is not None and tensor._extra.name else name
    made._requires_grad = pulled
    if WATCH.count:
        note_variable(made)
    return made, made


def numbered(argnums: Any, count: int) -> tuple[int, ...]:
    """The arguments to differentiate by, counted from the front."""
    if not isinstance(argnums, (int, tuple, list)):
        said = " (the position of the argument, 0 for the first)" if isinstance(argnums, str) else ""
        raise ArgumentError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}{said}")
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    if not numbers:
        raise ArgumentError("argnums must be non-empty")
    for number in numbers:
        if not isinstance(number, int):
            raise ArgumentError(f"argnum must be int, got: {type(number)}")
        if not -count <= number < count:
            raise ArgumentError(f"Got argnum={number}, but only {count} positional inputs")
    numbers = tuple(number % count for number in numbers)
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"argnums elements must be unique, got {argnums}")
    return numbers


class Bound:
    """The arguments of one call: those differentiated by as new variables, the others as they are."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        argnums: Argnums,
        tie: bool = False,
        pulled: bool = True,
    ):
        self.single = isinstance(argnums, int)
        self.numbers = numbers = numbered(argnums, len(args))
        names = tracing.argument_names(function, len(args))
        names += [f"x{k + 1}" for k in range(len(names), len(args))]
        self.tie = tie or watched()
        self.of_arrays = of_arrays(args)
        self.args = [_beside(arg, name) for arg, name in zip(args, names, strict=True)]
        self.variables: list[Any] = []
        self.shown: list[Any] = []
        self.structures = []
        self.tracked = False
        self.start = next(sequence)
        for number in numbers:
            leaves, structure = containers.flatten(args[number])
            shown = []
            for leaf, name in zip(leaves, containers.paths(structure, names[number]), strict=True):
                base, value = as_variable(as_tensor(leaf, f"argument {name}"), name, self.tie, pulled)
                self.tracked = self.tracked or base._node is not None
                self.variables.append(base)
                shown.append(value)
            self.shown += shown
            self.structures.append(structure)
            self.args[number] = containers.unflatten(structure, iter(shown))

    def given(self, leaves: Sequence[Any]) -> list[Any]:
        """The arguments of the call with others in place of what the function gets of the variables."""
        row, args = iter(leaves), list(self.args)
        for number, structure in zip(self.numbers, self.structures, strict=True):
            args[number] = containers.unflatten(structure, row)
        return args

    def closed(self) -> AbstractContextManager[None]:
        """Unless the graph goes on to leaves of somebody outside, it may save inference tensors."""
        return meanwhile(MODE.local, closed=MODE.local.closed or not self.tracked)

    def nested(self, leaves: Iterator[Any]) -> Any:
        """Derivatives in the structure of the arguments; leaves that the function made are no longer anybody's."""
        leaves = (released(leaf, self.start) for leaf in leaves)
        parts = tuple(containers.unflatten(containers.without_settings(s), leaves) for s in self.structures)
        return parts[0] if self.single else parts

    def outer(self, outs: Sequence[Any]) -> bool:
        """Whether somebody outside may differentiate the derivative: a transform, a tracer, or other leaves."""
        if not self.tie:
            return False
        if self.tracked or (WATCH.count and watching() is not None):
            return True
        mine = {id(v) for v in self.variables}
        return any(id(leaf) not in mine and not _inner(leaf, self.start) for leaf in _leaves(outs))

    def beside(self, aux: Any) -> Any:
        """What a function gave beside its output: parts keep their graph where it leads to something outside."""
        return containers.tree_map(self._left, aux)

    def _left(self, value: Any) -> Any:
        if self.outer(flat_parts(value)):
            return value
        mine = any(value is v for v in self.variables) and value._node is None
        return value.detach() if mine else released(value, self.start)

    def keep(self) -> None:
        """The function ran; what is pulled back later still needs the variables, and nobody else does."""
        for variable in self.variables:
            if variable._node is None:
                variable.more().inner = math.inf

    def close(self) -> None:
        """The transform is done: nobody outside differentiates by its variables."""
        for variable in self.variables:
            if variable._node is None:
                variable._requires_grad = False


def _beside(arg: Any, name: str) -> Any:
    """An argument that is not differentiated by; formulas call an array like the parameter, without recording it."""
    if not isinstance(arg, np.ndarray):
        return containers.tree_map(_other, arg)
    made = plain(Tensor, arg)
    made.more().site = name
    return made


class _Program(ThreadState):
    """Whether the function that is run was given arrays and numbers, and whether what it writes into are copies."""

    def __init__(self) -> None:
        self.of_arrays = False
        self.copies = False


_PROGRAM = _Program()


def of_arrays(args: Any) -> bool:
    """Whether a call is given arrays and numbers alone, or stands inside of one that is."""
    if _PROGRAM.of_arrays:
        return True
    leaves = containers.flatten(list(args))[0]
    return not any(isinstance(leaf, (Recorded, Dual, Jet, Bundle)) for leaf in leaves)


def applied(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], arrays: bool) -> Any:
    """What a function gives for tensors; with ``arrays`` they stand for arrays, for which it may be written."""
    with meanwhile(_PROGRAM, of_arrays=arrays):
        if not arrays:
            return function(*args, **kwargs)
        return followed(function, args, kwargs) if _PROGRAM.copies else called(function, args, kwargs)


def standing_for_arrays(arrays: bool) -> AbstractContextManager[None]:
    """Inside, tensors that functions are given stand for arrays of the user, if ``arrays``."""
    return meanwhile(_PROGRAM, of_arrays=arrays or _PROGRAM.of_arrays)


def for_arrays(function: Callable[..., Any], args: Any) -> Callable[..., Any]:
    """A function that is called with tensors by others than :func:`run`: where ``args`` are arrays, as theirs."""
    if not of_arrays(args):
        return function

    @functools.wraps(function)
    def called_for_arrays(*args: Any, **kwargs: Any) -> Any:
        return applied(function, args, kwargs, True)

    return called_for_arrays


def overwriting(call: Callable[..., Any]) -> Callable[..., Any]:
    """A derivative that is taken again where the function is given arrays, and overwrites what its derivative needs.

    Then it is run as a program for arrays, which writes into copies.  A function that is no such program keeps the
    error of its first run.
    """

    @functools.wraps(call)
    def attempted(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except ChangedInPlace as error:
            if _PROGRAM.copies or not of_arrays((args, kwargs)):
                raise
            changed = error
        with meanwhile(_PROGRAM, copies=True):
            try:
                return call(*args, **kwargs)
            except Exception:  # noqa: BLE001  (whatever a program for tensors does with arrays)
                raise changed from None

    return attempted


def _other(leaf: Any) -> Any:
    return plain(Tensor, leaf) if isinstance(leaf, np.ndarray) else inner(leaf)


def check_function(function: Any, name: str) -> None:
    """Raise ``ArgumentError`` where a transform is given something else than a function."""
    if not callable(function):
        raise ArgumentError(f"{name}() takes a function first, not {type(function).__name__} ({function!r:.40}).")


def run(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    has_aux: bool,
    api: str,
    arrays: bool = False,
) -> tuple[Any, Any]:
    """``(output, aux)`` of one call; ``api`` is how torch calls the transform in its errors.

    With ``arrays`` the tensors among the arguments stand for arrays, for which the function may be written.
    """
    before = values_read()
    with enable_grad(), guarding(function, (*args, *kwargs.values())):
        result = applied(function, args, kwargs, arrays)
    if values_read() > before and not leads_back(result):
        raise ArgumentError(
            f"{api}: Expected f(*args) to return a Tensor, got {type(result)}, made of plain numbers: float() or "
            ".item() of a tensor, functions of the module math, or entries written into an array of NumPy leave no "
            "derivative."
        )
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError(
            f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True, but it is a "
            f"{type(result).__name__}{f' of {len(result)}' if isinstance(result, (tuple, list)) else ''}."
        )
    return result


def results(output: Any, api: str) -> tuple[list[Any], Any]:
    """The tensors that a function gave, and how they are nested."""
    leaves, structure = containers.flatten(output)
    if output is None or not leaves:
        raise ArgumentError(f"{api}: Expected f to be a function that has non-empty output (got output = {output})")
    for leaf in leaves:
        if not hasattr(leaf, "shape"):
            raise ArgumentError(
                f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
                f"{NOT_KNOWN * isinstance(leaf, NUMBERS)}"
            )
    return [as_result(leaf) for leaf in leaves], structure


def as_result(value: Any) -> Any:
    """A tensor of what a function gave."""
    value = faced(value)
    return value if isinstance(value, (Recorded, Dual, Jet)) else plain(Tensor, np.asarray(value)[()])


def settled(value: Any, own: Sequence[Any] = ()) -> Any:
    """A result that nobody outside differentiates: its formula stays, its grad goes; ``own`` are the variables."""
    if isinstance(value, Dual):
        return Dual(settled(value.primal, own), settled(value.tangent, own), value.tag)
    if isinstance(value, Bundle):
        return value.on_parts(lambda part: settled(part, own))
    if any(value is v and v._node is None for v in own):
        return value.detach()
    if not isinstance(value, Recorded) or not value._requires_grad or value._node is None:
        return value
    made = plain(Tensor, value._value)
    made._node = value._node
    return made


def _inner(leaf: Any, since: float, depth: int = 0) -> bool:
    extra = leaf._extra
    return extra is not None and (extra.inner == math.inf or (extra.inner > since and extra.depth >= depth))


def _leaves(outs: Iterable[Any]) -> Iterator[Any]:
    """The leaves that results require grad for, each as soon as it is found."""
    seen: set[int] = set()
    stack = [o._node for o in outs if isinstance(o, Recorded) and o._node is not None]
    while stack:
        node = stack.pop()
        for k, arg in enumerate(node.args):
            if node.mask >> k & 1 and id(arg) not in seen:
                seen.add(id(arg))
                if not isinstance(arg, Recorded):
                    stack.append(arg)
                elif arg._requires_grad:
                    yield arg


def released(value: Any, since: float, depth: int = 0) -> Any:
    """What a function gave whose transform, which began at ``since``, is done: leaves that it made are nobody's.

    Of a function that was only mapped they are those that transforms inside of it made, ``depth`` of them at least.
    """
    if isinstance(value, Recorded) and value._requires_grad and value._node is None:
        return plain(Tensor, value._value) if _inner(value, since, depth) else value
    return settled(value) if all(_inner(leaf, since, depth) for leaf in _leaves(flat_parts(value))) else value


def flat_parts(out: Any) -> list[Any]:
    """The tensors that a result consists of: itself, or the primals and tangents of a dual."""
    if isinstance(out, Dual):
        return [*flat_parts(out.primal), *flat_parts(out.tangent)]
    return [part for row in out.parts() for part in flat_parts(row)] if isinstance(out, Bundle) else [out]

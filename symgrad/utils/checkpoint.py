"""Checkpoints: what a function saves for backward is computed again there and not kept.

The graph, and with it every formula, is that of the function without a checkpoint; only the saved values are missing.
A backward pass runs the function again at the first saved value that it wants and takes each value once; values that
nobody waits for any more go with the pass.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

from symgrad.autograd.graphs.saving import packer, saved_tensors_hooks
from symgrad.errors import ArgumentError, AutogradError, ChangedInPlace
from symgrad.random import fork_rng, get_rng_state, set_rng_state
from symgrad.tape.memory.versions import changes, unchanged
from symgrad.tape.modes import enable_grad, is_grad_enabled
from symgrad.tape.naming import node_name
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import RUNNING, observe, unobserve
from symgrad.tape.record import Recorded
from symgrad.tape.threads import ThreadState, meanwhile

__all__ = [
    "CheckpointError",
    "GraphExecGroup",
    "checkpoint",
    "checkpoint_sequential",
    "get_device_states",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]

_SPENT = object()
"""Stands for a value that its pass has taken."""

_TIP = (
    "Tip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` "
    "or wrap the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):`."
)


class CheckpointError(AutogradError):
    """The second run of a function saved something else than the first."""


class _Stop(Exception):
    """No error: a second run has saved what the first one saved, and ends."""


class _Settings(ThreadState):
    early_stop: bool | None = None
    debug: bool | None = None
    group: GraphExecGroup | None = None


_SETTINGS = _Settings()


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:  # noqa: ARG001
    """The states of random numbers on other devices, of which there are none.

    >>> import symgrad as sg
    >>> sg.utils.checkpoint.get_device_states(sg.ones(2))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None) -> None:
    """Nothing: see :func:`get_device_states`.

    >>> import symgrad as sg
    >>> sg.utils.checkpoint.set_device_states(*sg.utils.checkpoint.get_device_states())
    """


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """Whether checkpoints made meanwhile end their second run as soon as it has saved enough, whatever they were told.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> with sg.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     y = sg.utils.checkpoint.checkpoint(sg.exp, x, use_reentrant=False)
    >>> y.sum().backward()
    """
    return meanwhile(_SETTINGS, early_stop=enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """Whether checkpoints made meanwhile note their operations, whatever ``debug=`` says; None leaves it to that.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> with sg.utils.checkpoint.set_checkpoint_debug_enabled(True):
    ...     y = sg.utils.checkpoint.checkpoint(sg.exp, x, use_reentrant=False)
    >>> y.sum().backward()
    """
    return meanwhile(_SETTINGS, debug=enabled)


class GraphExecGroup:
    """Backward passes inside share what checkpoints compute again, so each function runs a second time at most once.

    The passes may not want the same saved value; contexts may not be nested.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> y = sg.utils.checkpoint.checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False)
    >>> with sg.utils.checkpoint.GraphExecGroup():
    ...     y.sum().backward()
    """

    def __enter__(self) -> Self:
        if _SETTINGS.group is not None:
            raise AutogradError(f"GraphExecGroup contexts cannot be nested. Already inside group {_SETTINGS.group}")
        _SETTINGS.group = self
        return self

    def __exit__(self, *error: object) -> None:
        _SETTINGS.group = None


class _Log:
    """Context that notes the operations recorded in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def _see(self, node: Any) -> None:
        self.lines.append(f"{node_name(node)} of shape {tuple(node.shape)} and dtype {node.dtype}")

    def __enter__(self) -> None:
        observe(self._see)

    def __exit__(self, *error: object) -> None:
        unobserve(self._see)


class _Place:
    """What a node keeps instead of a saved value."""

    __slots__ = ("__weakref__",)


class _Argument:
    """An argument as hooks around the checkpoint keep it, which need not have the tensor in memory."""

    __slots__ = ("moves", "packed")

    def __init__(self, hooks: saved_tensors_hooks, tensor: Any):
        self.packed = hooks.packed(tensor)
        self.moves = tensor.requires_grad

    def unpacked(self) -> Any:
        """What the hooks make of it: the function saves of it what it saved of the argument."""
        made = self.packed.tensor()
        return made if made.requires_grad == self.moves else made.detach().requires_grad_(self.moves)


def _kept(args: Sequence[Any]) -> Sequence[Any]:
    """What a checkpoint keeps of its arguments: those that are tensors are saved, as hooks around it want them."""
    hooks = packer()
    return args if hooks is None else [_Argument(hooks, x) if isinstance(x, Recorded) else x for x in args]


class _Run:
    """One call of a function: how to run it again, and what that gave for the backward passes under way."""

    def __init__(self, call: Callable[..., Any], args: Sequence[Any], again: AbstractContextManager[Any], random: Any):
        self.call = call
        self.again = again
        self.random = random
        self.args = args
        self.given = [(x, x._node) for x in args if isinstance(x, Recorded)]
        self.since = next(sequence)
        self.complete = False
        self.early_stop = True
        self.compare = True
        self.logs: tuple[_Log, _Log] | None = None
        self.places: list[weakref.ref[_Place]] = []
        self.kinds: list[dict[str, Any]] = []
        self.found: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[_Place, Any]] = weakref.WeakKeyDictionary()

    def pack(self, value: Any) -> _Place:
        """A place for a saved value, instead of the value."""
        place = _Place()
        self.places.append(weakref.ref(place))
        self.kinds.append(_kind(value))
        return place

    def unpack(self, place: _Place) -> Any:
        """A saved value, which a pass gets once."""
        group = _SETTINGS.group
        of = group or (RUNNING.sweeps[-1] if RUNNING.sweeps else None)
        values = self.found.get(of) if of is not None else None
        if values is None:
            try:
                values = self._run_again()
            except CheckpointError as error:
                raise error if self.logs is None else self._explained(error) from error
            if of is not None:
                self.found[of] = values
        value = values[place]
        if value is _SPENT:
            overlap = (
                "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{overlap if group is not None else ''}If you are calling ctx.saved_tensors in backward, make sure to "
                "do so only once."
            )
        values[place] = _SPENT
        value, before = value
        if changes(value._value) != before:
            raise ChangedInPlace(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a "
                f"tensor of shape {tuple(value.shape)} that the function of a checkpoint saved and then changed, as it "
                "also did when it ran again. Hint: change a clone() of it."
            )
        return value

    def _check_arguments(self) -> None:
        """Raise torch's error where an argument was changed in place since the first run, which saw it otherwise."""
        row = [(x._value, place) for x, place in self.given]
        unchanged(
            row,
            self.since,
            "It is an argument of a checkpoint, whose function runs again in backward. Hint: give "
            "the checkpoint a copy (x.clone()), or change one.",
        )

    def _run_again(self) -> weakref.WeakKeyDictionary[_Place, Any]:
        self._check_arguments()
        args = [x.unpacked() if isinstance(x, _Argument) else x for x in self.args]
        values: weakref.WeakKeyDictionary[_Place, Any] = weakref.WeakKeyDictionary()
        kinds: list[dict[str, Any]] = []

        def pack(value: Any) -> Any:
            if len(kinds) == len(self.places):
                if not self.complete:
                    return value  # the function goes itself back through what its first run has computed so far
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                    f"forward pass.\n{_TIP}"
                )
            place = self.places[len(kinds)]()
            kinds.append(_kind(value))
            if place is not None:
                values[place] = value, changes(value._value)
            if self.early_stop and len(kinds) == len(self.places):
                raise _Stop
            return value

        with fork_rng(enabled=self.random is not None):
            if self.random is not None:
                set_rng_state(self.random)
            try:
                with saved_tensors_hooks(pack, lambda held: held), enable_grad(), self.again:
                    self.call(*args)
            except _Stop:
                pass
        self._check(kinds)
        return values

    def _check(self, kinds: list[dict[str, Any]]) -> None:
        if len(kinds) != len(self.kinds):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.kinds)}\n"
                f"Number of tensors saved during recomputation: {len(kinds)}.\n{_TIP}"
            )
        others = [
            f"tensor at position {k}:\nsaved metadata: {first}\nrecomputed metadata: {second}\n"
            for k, (first, second) in enumerate(zip(self.kinds, kinds, strict=True))
            if first != second and self.places[k]() is not None
        ]
        if others and self.compare:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(others)}.\n{_TIP}"
            )

    def _explained(self, error: CheckpointError) -> CheckpointError:
        """The error with the operations of both runs."""
        runs = ("\n".join(log.lines) or "(none)" for log in self.logs or ())
        first, second = runs
        return CheckpointError(
            f"{error}\n\nOperations of the first run:\n{first}\n\nOperations of the second run:\n{second}\n\n"
            "You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved during "
            "the original forward and differ between those saved during recomputation. Compare the two lists above: "
            "the first line that differs is the operation that depends on something else than the arguments."
        )


def _kind(value: Any) -> dict[str, Any]:
    return {"shape": value.shape, "dtype": value.dtype, "device": value.device}


def _no_contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    return nullcontext(), nullcontext()


def _chosen(name: str, use_reentrant: bool | None) -> bool:
    """Which of torch's two ways is meant, with its warning where nothing was said."""
    if use_reentrant is None:
        warnings.warn(
            f"{name}: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; "
            "here both run the same way.",
            UserWarning,
            stacklevel=3,
        )
    return use_reentrant is not False


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Contexts = _no_contexts,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, which backward runs a second time instead of keeping what it saves.

    ``use_reentrant`` names one of torch's two ways; here there is one, which has the limits of neither, and only the
    arguments that go with each are torch's.  ``context_fn`` gives two context managers, for the first and the second
    run.  Random numbers are the same in both unless ``preserve_rng_state`` is False.  The second run ends when it has
    saved what the first one saved, unless ``early_stop`` is False.  It gets the tensors among ``args`` as the hooks of
    ``saved_tensors_hooks`` around the checkpoint kept them.

    Raises torch's error in backward when a tensor among ``args`` was changed in place since, by the function itself,
    too, and no hooks kept it; and ``CheckpointError`` when the second run saves other shapes, dtypes (unless
    ``determinism_check`` is "none") or counts of values, and when ``backward`` of a custom function reads
    ``ctx.saved_tensors`` twice; ``debug`` adds the operations of both runs to the text.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> sg.utils.checkpoint.checkpoint(lambda x: sg.tanh(x).exp().sum(), x, use_reentrant=False).backward()
    >>> x.grad
    tensor([1.0000, 0.8995])
    """
    reentrant = _chosen("torch.utils.checkpoint", use_reentrant)
    if reentrant:
        if kwargs:
            raise ArgumentError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not _no_contexts or debug is not False:
            raise ArgumentError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    debug = debug if _SETTINGS.debug is None else _SETTINGS.debug
    if debug and context_fn is not _no_contexts:
        raise ArgumentError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in ("default", "none"):
        raise ArgumentError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    logs = (_Log(), _Log()) if debug else None
    first, again = context_fn() if logs is None else logs
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    given = args if reentrant and not any(getattr(x, "requires_grad", False) for x in args) else _kept(args)
    run = _Run(functools.partial(function, **kwargs), given, again, get_rng_state() if preserve_rng_state else None)
    run.early_stop = early_stop if _SETTINGS.early_stop is None else _SETTINGS.early_stop
    run.compare = determinism_check == "default"
    run.logs = logs
    with saved_tensors_hooks(run.pack, run.unpack), first:
        result = function(*args, **kwargs)
    run.complete = True
    return result


def checkpoint_sequential(
    functions: Sequence[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Functions one after the other, in ``segments`` checkpoints of which the last keeps what it saves.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> sg.utils.checkpoint.checkpoint_sequential([sg.tanh, sg.exp, sg.sum], 2, x, use_reentrant=False).backward()
    >>> x.grad
    tensor([1.0000, 0.8995])
    """
    reentrant = _chosen("torch.utils.checkpoint.checkpoint_sequential", use_reentrant)
    chain = list(functions)
    if not 1 <= segments <= len(chain):
        raise ArgumentError(f"checkpoint_sequential(): {len(chain)} functions cannot be cut into {segments} segments.")

    def through(part: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
        def call(value: Any) -> Any:
            for function in part:
                value = function(value)
            return value

        return call

    size = len(chain) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            through(chain[start : start + size]),
            input,
            use_reentrant=reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return through(chain[size * (segments - 1) :])(input)

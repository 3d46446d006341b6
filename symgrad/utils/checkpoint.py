"""Checkpoints: what a function saves for backward is computed again there and not kept.

The graph, and with it every formula, is that of the function without a checkpoint; only the saved values are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from symgrad.autograd.saving import saved_tensors_hooks
from symgrad.errors import ArgumentError, AutogradError
from symgrad.random import fork_rng, get_rng_state, set_rng_state
from symgrad.tape.modes import enable_grad, is_grad_enabled
from symgrad.tape.threads import ThreadState

__all__ = ["CheckpointError", "checkpoint", "checkpoint_sequential", "set_checkpoint_early_stop"]

Contexts = Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]]


class CheckpointError(AutogradError):
    """The second run of a function saved something else than the first."""


class _Local(ThreadState):
    early_stop: bool | None = None


_LOCAL = _Local()


class set_checkpoint_early_stop:  # noqa: N801  (torch's name)
    """Context in which checkpoints stop their second run at the last value it has to save, or never do.

    It counts for the checkpoints made in it, more than their own ``early_stop``.

    >>> import symgrad as sg
    >>> x = sg.tensor(0.5, requires_grad=True)
    >>> with set_checkpoint_early_stop(False):
    ...     y = checkpoint(lambda x: x.sin().clone(), x, use_reentrant=False)
    """

    def __init__(self, enable: bool):
        self.enable = bool(enable)
        self._before: list[bool | None] = []

    def __enter__(self) -> None:
        self._before.append(_LOCAL.early_stop)
        _LOCAL.early_stop = self.enable

    def __exit__(self, *error: object) -> None:
        _LOCAL.early_stop = self._before.pop()


class _AllSaved(Exception):
    """No error: the second run has saved all that backward needs, and ends."""


class _Run:
    """One call of a function: how to run it again, and what that run saved until backward has read it."""

    def __init__(self, call: Callable[[], Any], again: AbstractContextManager[Any], random: Any, early_stop: bool):
        self.call = call
        self.again = again
        self.random = random
        self.early_stop = early_stop
        self.complete = False
        self.saved: list[tuple[Any, Any]] = []
        self.values: dict[int, Any] = {}

    def pack(self, value: Any) -> int:
        """Number and kind of a saved value, instead of the value."""
        self.saved.append((tuple(value.shape), value.dtype))
        return len(self.saved) - 1

    def unpack(self, place: int) -> Any:
        """A saved value, which is forgotten once it was read."""
        if place not in self.values:
            self._run_again()
        return self.values.pop(place)

    def _run_again(self) -> None:
        found: list[Any] = []

        def keep(value: Any) -> Any:
            found.append(value)
            if self.early_stop and len(found) == len(self.saved):
                raise _AllSaved
            return value  # the function may itself go back through what it computes

        with fork_rng(enabled=self.random is not None), suppress(_AllSaved):
            if self.random is not None:
                set_rng_state(self.random)
            with enable_grad(), self.again, saved_tensors_hooks(keep, lambda value: value):
                self.call()
        # The function may itself go back through what it computes: then its first run has not saved all yet.
        if len(found) < len(self.saved) or (self.complete and len(found) > len(self.saved)):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation. Number of tensors saved during forward: {len(self.saved)} Number of tensors saved "
                f"during recomputation: {len(found)}."
            )
        for k, (value, kind) in enumerate(zip(found, self.saved, strict=False)):
            if (tuple(value.shape), value.dtype) != kind:
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                    f"during the forward pass: tensor at position {k}: saved {kind}, recomputed "
                    f"{(tuple(value.shape), value.dtype)}."
                )
        self.values = dict(enumerate(found[: len(self.saved)]))


def _no_contexts() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,  # noqa: ARG001  (torch's two ways; here there is one)
    context_fn: Contexts = _no_contexts,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",  # noqa: ARG001  (shapes and dtypes are always compared)
    debug: bool = False,  # noqa: ARG001
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, which backward runs a second time instead of keeping what it saves.

    ``context_fn`` gives two context managers, for the first and the second run.  Random numbers are the same in both
    unless ``preserve_rng_state`` is False.  The second run ends where all is saved that backward needs, unless
    ``early_stop`` is False.  Raises ``CheckpointError`` in backward when it saves other shapes, dtypes or counts of
    values.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)
    >>> checkpoint(lambda x: sg.tanh(x).exp().sum(), x).backward()
    >>> x.grad
    tensor([1.0000, 0.8995])
    """
    first, again = context_fn()
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    random = get_rng_state() if preserve_rng_state else None
    stops = early_stop if _LOCAL.early_stop is None else _LOCAL.early_stop
    run = _Run(lambda: function(*args, **kwargs), again, random, stops)
    with first, saved_tensors_hooks(run.pack, run.unpack):
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
    >>> checkpoint_sequential([sg.tanh, sg.exp, sg.sum], 2, x).backward()
    >>> x.grad
    tensor([1.0000, 0.8995])
    """
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
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return through(chain[size * (segments - 1) :])(input)

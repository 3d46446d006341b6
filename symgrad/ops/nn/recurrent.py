"""Recurrent networks over whole sequences, in several layers and both directions: torch's functions behind its modules.

A sequence is either padded, (steps, batch, in), or packed: rows of all sequences step by step, and how many sequences
still run at each step.  A padded one is packed with the whole batch at every step, so that there is one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import front, shape_of
from symgrad.ops.elementwise.select import relu
from symgrad.ops.elementwise.smooth import sigmoid, tanh
from symgrad.ops.nn.layers import linear
from symgrad.ops.noise import dropout
from symgrad.ops.shapes.joining import cat, chunk, narrow, stack
from symgrad.ops.shapes.shaping import reshape, transpose

Step = Callable[[Any, tuple[Any, ...], Callable[[Any], Any]], tuple[Any, ...]]
"""What a unit makes of what the input gives its gates, its state, and what the hidden state gives them."""


def _plain(bend: Callable[[Any], Any]) -> Step:
    return lambda given, state, kept: (bend(kept(state[0]) + given),)


def _gated(given: Any, state: tuple[Any, ...], kept: Callable[[Any], Any]) -> tuple[Any, ...]:
    here, before = chunk(given, 3, 1), chunk(kept(state[0]), 3, 1)
    reset, update = sigmoid(before[0] + here[0]), sigmoid(before[1] + here[1])
    new = tanh(here[2] + before[2] * reset)
    return ((state[0] - new) * update + new,)


def _remembering(given: Any, state: tuple[Any, ...], kept: Callable[[Any], Any]) -> tuple[Any, ...]:
    into, forget, cell, out = chunk(kept(state[0]) + given, 4, 1)
    memory = sigmoid(forget) * state[1] + sigmoid(into) * tanh(cell)
    return sigmoid(out) * tanh(memory), memory


def _rows(x: Any, start: int, count: int) -> Any:
    return x if start == 0 and shape_of(x)[0] == count else narrow(x, 0, start, count)


def _along(step: Step, rows: Any, counts: Sequence[int], first: tuple[Any, ...], weights: Any, back: bool) -> Any:
    """The outputs of one layer in one direction, as rows, and its last states."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    given = linear(rows, w_ih, b_ih)
    starts = [sum(counts[:k]) for k in range(len(counts))]
    order = range(len(counts) - 1, -1, -1) if back else range(len(counts))
    state = tuple(_rows(s, 0, counts[order[0]]) for s in first)
    outs: list[Any] = [None] * len(counts)
    ended: list[tuple[Any, ...]] = []
    for k in order:
        runs, count = shape_of(state[0])[0], counts[k]
        if count < runs:  # sequences that have ended keep their state
            ended.append(tuple(narrow(s, 0, count, runs - count) for s in state))
            state = tuple(_rows(s, 0, count) for s in state)
        elif count > runs:  # backwards: longer ones begin later
            state = tuple(cat([s, narrow(f, 0, runs, count - runs)]) for s, f in zip(state, first, strict=True))
        state = step(_rows(given, starts[k], count), state, lambda h: linear(h, w_hh, b_hh))
        if w_hr is not None:
            state = (linear(state[0], w_hr), *state[1:])
        outs[k] = state[0]
    last = [cat([s[i] for s in (state, *reversed(ended))]) if ended else state[i] for i in range(len(state))]
    return cat(outs), last


def _whole(
    name: str, step: Step, rows: Any, counts: Sequence[int], states: tuple[Any, ...], params: Sequence[Any],
    has_biases: bool, num_layers: int, drop: float, bidirectional: bool,
) -> tuple[Any, ...]:  # fmt: skip
    """The outputs of all layers as rows, and the last states, stacked."""
    ways = 2 if bidirectional else 1
    projects = len(states) == 2 and shape_of(states[0])[2] != shape_of(states[1])[2]
    each = 2 + 2 * bool(has_biases) + projects
    if len(params) != each * ways * num_layers:
        raise ArgumentError(
            f"{name}() got {len(params)} weights for {num_layers} layers in {ways} directions, which have {each} each."
        )
    lasts: list[list[Any]] = []
    for layer in range(num_layers):
        outs = []
        for way in range(ways):
            place = layer * ways + way
            own = list(params[place * each : (place + 1) * each])
            w_hr = own.pop() if projects else None
            weights = (*own, w_hr) if has_biases else (*own, None, None, w_hr)
            out, last = _along(step, rows, counts, tuple(s[place] for s in states), weights, bool(way))
            outs.append(out)
            lasts.append(last)
        rows = cat(outs, 1) if bidirectional else outs[0]
        if drop and layer < num_layers - 1:
            rows = dropout(rows, drop)
    return (rows, *(stack([last[i] for last in lasts]) for i in range(len(states))))


def _states(name: str, hx: Any, several: int) -> tuple[Any, ...]:
    states = tuple(hx) if several > 1 else (hx,)
    if len(states) != several:
        raise ShapeError(f"{name} expects two hidden states")
    return states


def _sequence(name: str, step: Step, several: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
    padded = not isinstance(args[3], (list, tuple))
    if padded:
        input, hx, params, has_biases, num_layers, dropping, train, bidirectional, batch_first = args
        if len(shape_of(input)) != 3:
            raise ShapeError(f"{name}: Expected input to be 3D, got {len(shape_of(input))}D instead")
        x = transpose(input, 0, 1) if batch_first else input
        steps, batch, size = shape_of(x)
        rows, counts = reshape(x, steps * batch, size), [int(batch)] * int(steps)
    else:
        rows, sizes, hx, params, has_biases, num_layers, dropping, train, bidirectional = args
        counts, batch_first = [int(n) for n in sizes.tolist()], False
    states, drop = _states(name, hx, several), dropping if train else 0.0
    out, *last = _whole(name, step, rows, counts, states, params, has_biases, num_layers, drop, bidirectional)
    if padded:
        out = reshape(out, steps, batch, shape_of(out)[1])
        out = transpose(out, 0, 1) if batch_first else out
    return (out, *last)


def _entrance(name: str, step: Step, what: str, gates: int, states: int) -> None:
    def call(*args: Any) -> tuple[Any, ...]:
        if len(args) != 9:
            raise ArgumentError(f"{name}() takes 9 arguments, by their places, got {len(args)}.")
        return _sequence(name, step, states, args)

    zeros = "(sg.zeros(1, 1, 1), sg.zeros(1, 1, 1))" if states == 2 else "sg.zeros(1, 1, 1)"
    memory, last = (", and that of the memory, as a tuple", "states") if states == 2 else ("", "state")
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{what} over whole sequences, in torch's order of arguments.

    ``(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`` with ``input`` (steps,
    batch, in); or packed, ``(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)``.
    ``hx`` (layers · directions, batch, hidden){memory}; ``params``:
    w_ih ({gates} hidden, in), w_hh ({gates} hidden, hidden) and, with biases, b_ih and b_hh for each layer and
    direction.  Returns the outputs and the last {last}.  ``ArgumentError`` for another number of
    weights, ``ShapeError`` where shapes do not fit.

    >>> import symgrad as sg
    >>> weights = [sg.ones({gates}, 1), sg.ones({gates}, 1)]
    >>> sg.{name}(sg.ones(2, 1, 1), {zeros}, weights, False, 1, 0.0, False, False, False)[0].shape
    torch.Size([2, 1, 1])
    """
    front(name, method=False)(call)


_entrance("rnn_tanh", _plain(tanh), "A recurrent network of tanh units", 1, 1)
_entrance("rnn_relu", _plain(relu), "A recurrent network of relu units", 1, 1)
_entrance("gru", _gated, "Gated recurrent units (Cho et al. 2014)", 3, 1)
_entrance("lstm", _remembering, "Long short-term memory (Hochreiter and Schmidhuber 1997)", 4, 2)

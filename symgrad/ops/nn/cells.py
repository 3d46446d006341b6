"""One step of recurrent networks: plain tanh and relu cells, gated units and long short-term memory.

The weights are those of torch's cells: (gates x hidden, in) and (gates x hidden, hidden), the gates in torch's order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.errors import ShapeError
from symgrad.op import front, shape_of
from symgrad.ops.elementwise.select import relu
from symgrad.ops.elementwise.smooth import sigmoid, tanh
from symgrad.ops.nn.layers import linear
from symgrad.ops.shapes.joining import chunk


def _check(input: Any, hidden: tuple[Any, ...], w_ih: Any, w_hh: Any) -> None:
    """torch's words for a batch that does not fit the weights, or the state."""
    if len(shape_of(input)) != 2 or any(len(shape_of(h)) != 2 for h in hidden):
        sizes = [tuple(shape_of(x)) for x in (input, *hidden)]
        raise ShapeError(f"a recurrent cell takes an input (batch, in) and a state (batch, hidden), got {sizes}.")
    (count, size), wanted = shape_of(input), shape_of(w_ih)[1]
    if size != wanted:
        raise ShapeError(f"input has inconsistent input_size: got {size} expected {wanted}")
    for k, state in enumerate(hidden):
        rows, width = shape_of(state)
        if rows != count:
            raise ShapeError(f"Input batch size {count} doesn't match hidden{k} batch size {rows}")
        if width != shape_of(w_hh)[1]:
            raise ShapeError(f"hidden{k} has inconsistent hidden_size: got {width}, expected {shape_of(w_hh)[1]}")


def _plain(name: str, bend: Callable[[Any], Any], text: str) -> None:
    def call(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        _check(input, (hx,), w_ih, w_hh)
        return bend(linear(hx, w_hh, b_hh) + linear(input, w_ih, b_ih))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The next state {text} of a recurrent network.

    Shapes: ``input`` (batch, in), ``hx`` (batch, hidden), ``w_ih`` (hidden, in), ``w_hh`` (hidden, hidden), biases
    (hidden,).  Raises ``ShapeError`` where they do not fit.

    >>> import symgrad as sg
    >>> sg.{name}(sg.zeros(1, 2), sg.ones(1, 1), sg.ones(1, 2), sg.zeros(1, 1))
    tensor([[0.]])
    """
    front(name, method=False)(call)


_plain("rnn_tanh_cell", tanh, "tanh(w_ih input + b_ih + w_hh hx + b_hh)")
_plain("rnn_relu_cell", relu, "relu(w_ih input + b_ih + w_hh hx + b_hh)")


@front("gru_cell", method=False)
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """The next state of a gated recurrent unit (Cho et al. 2014), gates in the order reset, update, new.

    Shapes: ``input`` (batch, in), ``hx`` (batch, hidden), ``w_ih`` (3 hidden, in), ``w_hh`` (3 hidden, hidden), biases
    (3 hidden,).  Raises ``ShapeError`` where they do not fit.

    >>> import symgrad as sg
    >>> sg.gru_cell(sg.ones(1, 1), sg.zeros(1, 1), sg.ones(3, 1), sg.ones(3, 1))
    tensor([[0.2048]])
    """
    _check(input, (hx,), w_ih, w_hh)
    given, kept = chunk(linear(input, w_ih, b_ih), 3, 1), chunk(linear(hx, w_hh, b_hh), 3, 1)
    reset, update = sigmoid(kept[0] + given[0]), sigmoid(kept[1] + given[1])
    new = tanh(given[2] + kept[2] * reset)
    return (hx - new) * update + new


@front("lstm_cell", method=False)
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> tuple[Any, Any]:
    """The next state and memory of a long short-term memory (Hochreiter and Schmidhuber 1997), from ``hx = (h, c)``.

    Gates in the order input, forget, cell, output; ``w_ih`` (4 hidden, in), ``w_hh`` (4 hidden, hidden), biases
    (4 hidden,).  Raises ``ShapeError`` where shapes do not fit.

    >>> import symgrad as sg
    >>> h, c = sg.lstm_cell(sg.ones(1, 1), (sg.zeros(1, 1), sg.zeros(1, 1)), sg.ones(4, 1), sg.ones(4, 1))
    >>> h, c
    (tensor([[0.3696]]), tensor([[0.5568]]))
    """
    if len(hx) != 2:
        raise ShapeError(f"lstm_cell expects two hidden states, got {len(hx)}.")
    h, c = hx
    _check(input, (h, c), w_ih, w_hh)
    into, forget, cell, out = chunk(linear(h, w_hh, b_hh) + linear(input, w_ih, b_ih), 4, 1)
    memory = sigmoid(forget) * c + sigmoid(into) * tanh(cell)
    return sigmoid(out) * tanh(memory), memory

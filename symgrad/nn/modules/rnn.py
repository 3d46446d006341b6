"""Recurrent networks over whole sequences, and cells of one step, which hold the weights of torch's functions."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from symgrad.errors import ArgumentError, ShapeError
from symgrad.nn import init
from symgrad.nn.modules.linear import empty_parameter
from symgrad.nn.modules.module import Module
from symgrad.nn.utils.rnn import PackedSequence
from symgrad.tensor import FUNCTIONS
from symgrad.tensor.creation import zeros

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
"""How many rows of weights an entry of the hidden state has, by mode; its function is the mode in small letters."""


class _Drawn(Module):
    """Parameters that are uniform between ±1/√hidden_size at the beginning."""

    hidden_size: int

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)


class RNNBase(_Drawn):
    """What recurrent networks share: layers, one after the other, of units that go along the steps.

    The weights of layer k are ``weight_ih_lk`` (gates · hidden, in), ``weight_hh_lk`` (gates · hidden, hidden) and, if
    ``bias``, ``bias_ih_lk`` and ``bias_hh_lk``; those of the way back end in ``_reverse``.
    """

    _layer_shown = "{input_size}, {hidden_size}"
    _layer_usual: ClassVar[dict[str, Any]] = {
        "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False,
    }  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.bidirectional, self.proj_size = bias, batch_first, bidirectional, proj_size
        self.__check_settings(dropout)
        self.dropout = float(dropout)
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for way in ("", "_reverse") if bidirectional else ("",):
                shapes = self.__shapes(layer)
                self._all_weights.append([f"{name}_l{layer}{way}" for name in shapes])
                for name, shape in zip(self._all_weights[-1], shapes.values(), strict=True):
                    setattr(self, name, empty_parameter(shape, device, dtype))
        self.reset_parameters()

    def __check_settings(self, dropout: Any) -> None:
        for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise ArgumentError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ArgumentError(f"{name} must be greater than zero")
        if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:  # type: ignore[operator]
            raise ArgumentError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        if self.proj_size < 0:
            raise ArgumentError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ArgumentError("proj_size has to be smaller than hidden_size")
        if self.mode not in GATES:
            raise ArgumentError(f"Unrecognized RNN mode: {self.mode}")

    def __shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights of a layer in one direction, by name, in the order in which functions take them."""
        rows, out = GATES[self.mode] * self.hidden_size, self._layer_out_size
        width = out * (2 if self.bidirectional else 1) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, out)}
        if self.bias:
            shapes.update(bias_ih=(rows,), bias_hh=(rows,))
        if self.proj_size:
            shapes["weight_hr"] = (out, self.hidden_size)
        return shapes

    @property
    def _layer_out_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Any]:
        return [weight for weights in self.all_weights for weight in weights]

    def flatten_parameters(self) -> None:
        """Nothing: torch has the weights in one piece of memory on GPUs."""

    # ------------------------------------------------------------------------------------ running

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The outputs of the last layer for all steps, and the last state of each layer.

        ``input`` is (steps, batch, input_size), (batch, steps, input_size) if ``batch_first``, (steps, input_size) or a
        ``PackedSequence``; ``hx`` (layers · directions, batch, hidden_size), zeros if None.  Outputs have hidden_size
        entries for each direction.  Raises ``ValueError`` and ``RuntimeError`` for what has other sizes.
        """
        if isinstance(input, PackedSequence):
            return self.__of_packed(input, hx)
        if input.ndim not in (2, 3):
            told = "tensor instead" if self.mode.startswith("RNN") else "instead"
            raise ShapeError(f"{self._layer_kind}: Expected input to be 2D or 3D, got {input.ndim}D {told}")
        alone, axis = input.ndim == 2, 0 if self.batch_first else 1
        if hx is not None:
            hx = self._layer_batched(hx, alone)
        if alone:
            input = input.unsqueeze(axis)
        states = self.__begin(hx, input, input.shape[axis], 3)
        out, *last = self.__run((input,), states, (self.batch_first,))
        if alone:
            out, last = out.squeeze(axis), [state.squeeze(1) for state in last]
        return out, self._layer_as_given(last)

    def __of_packed(self, packed: PackedSequence, hx: Any) -> tuple[Any, Any]:
        """The same for sequences of several lengths, whose states stand in the order of the batch that was packed."""
        rows, sizes, order, back = packed
        if hx is not None:
            hx = self._layer_each(lambda state: _ordered(state, order), hx)
        states = self.__begin(hx, rows, int(sizes[0]), 2)
        out, *last = self.__run((rows, sizes), states, ())
        return packed._replace(data=out), self._layer_as_given([_ordered(state, back) for state in last])

    def __run(self, input: tuple[Any, ...], states: tuple[Any, ...], last: tuple[Any, ...]) -> Any:
        return FUNCTIONS[self.mode.lower()](
            *input, self._layer_as_given(states), self._flat_weights, self.bias, self.num_layers, self.dropout,
            self.training, self.bidirectional, *last,
        )  # fmt: skip

    def __begin(self, hx: Any, input: Any, batch: int, ndim: int) -> tuple[Any, ...]:
        """The states at the beginning, all of whose sizes fit, and so do those of the input."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ArgumentError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.ndim != ndim:
            raise ShapeError(f"input must have {ndim} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise ShapeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        shapes = [(len(self._all_weights), batch, size) for size in self._layer_state_sizes]
        if hx is None:
            return tuple(zeros(shape, dtype=input.dtype) for shape in shapes)
        states = tuple(hx) if len(shapes) > 1 else (hx,)
        for k, (state, shape) in enumerate(zip(states, shapes, strict=True)):
            if tuple(state.shape) != shape:
                which = f"hidden[{k}]" if len(shapes) > 1 else "hidden"
                raise ShapeError(f"Expected {which} size {shape}, got {list(state.shape)}")
        return states

    # ------------------------------------------------------------------------------------ states: one, or (h, c)

    @property
    def _layer_state_sizes(self) -> list[int]:
        return [self._layer_out_size]

    @property
    def _layer_kind(self) -> str:
        return self.mode.partition("_")[0]

    def _layer_each(self, change: Callable[[Any], Any], hx: Any) -> Any:
        return change(hx)

    def _layer_as_given(self, states: Any) -> Any:
        return states[0]

    def _layer_batched(self, hx: Any, alone: bool) -> Any:
        """The given states with an axis for the batch, as the input has one."""
        ndim = 2 if alone else 3
        if hx.ndim != ndim:
            how = f"For {'unbatched' if alone else 'batched'} {ndim}-D input, hx should also be {ndim}-D"
            raise ShapeError(f"{how} but got {hx.ndim}-D tensor")
        return hx.unsqueeze(1) if alone else hx


def _ordered(state: Any, order: Any) -> Any:
    return state if order is None else state.index_select(1, order)


def _without_projection(settings: dict[str, Any]) -> dict[str, Any]:
    if "proj_size" in settings:
        raise ArgumentError("proj_size argument is only supported for LSTM, not RNN or GRU")
    return settings


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh) at each step (Elman 1990), or relu of that.

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
    bidirectional=False)``; see :class:`RNNBase` for shapes.  Raises ``ValueError`` for other nonlinearities.

    >>> import symgrad as sg
    >>> out, h = sg.nn.RNN(3, 4)(sg.ones(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **settings: Any):
        given = _without_projection(settings)
        bend = args[3] if len(args) > 3 else given.pop("nonlinearity", "tanh")
        if bend not in ("tanh", "relu"):
            raise ArgumentError(f"Unknown nonlinearity '{bend}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{bend.upper()}", *args[:3], *args[4:], **given)
        self.nonlinearity = bend


class GRU(RNNBase):
    """Gated recurrent units (Cho et al. 2014), the gates in the order reset, update, new.

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False)``; see
    :class:`RNNBase` for shapes.

    >>> import symgrad as sg
    >>> out, h = sg.nn.GRU(3, 4, bidirectional=True)(sg.ones(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **settings: Any):
        super().__init__("GRU", *args, **_without_projection(settings))


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), the gates in the order input, forget, cell, output.

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0)``; its state is a pair (h, c), and h is ``weight_hr`` (proj_size, hidden_size) times as wide a one if
    ``proj_size``.  See :class:`RNNBase` for shapes.

    >>> import symgrad as sg
    >>> out, (h, c) = sg.nn.LSTM(3, 4, batch_first=True)(sg.ones(2, 5, 3))
    >>> out.shape, h.shape, c.shape
    (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **settings: Any):
        super().__init__("LSTM", *args, **settings)

    @property
    def _layer_state_sizes(self) -> list[int]:
        return [self._layer_out_size, self.hidden_size]

    def _layer_each(self, change: Callable[[Any], Any], hx: Any) -> Any:
        return tuple(change(state) for state in hx)

    def _layer_as_given(self, states: Any) -> Any:
        return tuple(states)

    def _layer_batched(self, hx: Any, alone: bool) -> Any:
        ndim = 2 if alone else 3
        if any(state.ndim != ndim for state in hx):
            dims = ", ".join(f"{state.ndim}-D" for state in hx)
            how = f"For {'unbatched' if alone else 'batched'} {ndim}-D input, hx and cx should also be {ndim}-D"
            raise ShapeError(f"{how} but got ({dims}) tensors")
        return tuple(state.unsqueeze(1) for state in hx) if alone else hx


class RNNCellBase(_Drawn):
    """What cells share: ``weight_ih`` (gates · hidden, in), ``weight_hh`` (gates · hidden, hidden) and two biases."""

    _layer_shown, _layer_usual = "{input_size}, {hidden_size}", {"bias": True, "nonlinearity": "tanh"}

    _layer_kind: ClassVar[str]
    _layer_states: ClassVar[int] = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = empty_parameter((rows, input_size), device, dtype)
        self.weight_hh = empty_parameter((rows, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty_parameter((rows,), device, dtype) if bias else None)
        self.reset_parameters()

    @property
    def _layer_function(self) -> Any:
        return FUNCTIONS[f"{self._layer_kind.lower()}_cell"]

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state, (batch, hidden_size) for inputs (batch, input_size), or both without the batch.

        ``hx`` is the state, zeros if None.  Raises ``ValueError`` and ``RuntimeError`` for what has other sizes.
        """
        kind = f"{self._layer_kind}Cell"
        if input.ndim not in (1, 2):
            raise ShapeError(f"{kind}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        alone = input.ndim == 1
        rows = input.unsqueeze(0) if alone else input
        if hx is None:
            states: tuple[Any, ...] = (zeros(rows.shape[0], self.hidden_size, dtype=input.dtype),) * self._layer_states
        else:
            states = tuple(hx) if self._layer_states > 1 else (hx,)
            for k, state in enumerate(states):
                if state.ndim not in (1, 2):
                    which = f"hx[{k}]" if self._layer_states > 1 else "hidden"
                    raise ShapeError(f"{kind}: Expected {which} to be 1D or 2D, got {state.ndim}D instead")
            states = tuple(state.unsqueeze(0) for state in states) if alone else states
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        made = self._layer_function(rows, states if self._layer_states > 1 else states[0], *weights)
        if not alone:
            return made
        return tuple(state.squeeze(0) for state in made) if self._layer_states > 1 else made.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`: the next state of an input (batch, input_size) and a state (batch, hidden_size).

    >>> import symgrad as sg
    >>> sg.nn.RNNCell(3, 4, nonlinearity="relu")(sg.ones(2, 3)).shape
    torch.Size([2, 4])
    """

    _layer_kind = "RNN"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    @property
    def _layer_function(self) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(f"Unknown nonlinearity: {self.nonlinearity}")
        return FUNCTIONS[f"rnn_{self.nonlinearity}_cell"]


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`.

    >>> import symgrad as sg
    >>> sg.nn.GRUCell(3, 4)(sg.ones(2, 3), sg.zeros(2, 4)).shape
    torch.Size([2, 4])
    """

    _layer_kind = "GRU"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`: the state is a pair (h, c).

    >>> import symgrad as sg
    >>> h, c = sg.nn.LSTMCell(3, 4)(sg.ones(2, 3))
    >>> h.shape, c.shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    _layer_kind, _layer_states = "LSTM", 2

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

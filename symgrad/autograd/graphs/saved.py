"""What a node saved, by torch's names: ``grad_fn._saved_self``, ``grad_fn._raw_saved_result.register_hooks(…)``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from symgrad.autograd.graphs.held import (
    at_place,
    cut,
    held_operand,
    held_places,
    indices,
    inputs_given,
    is_whole,
    names,
    parameters,
    was_given,
)
from symgrad.autograd.graphs.saving import saved_tensors_hooks, shown_saved
from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import FROM
from symgrad.ops.indexing.getitem import Index
from symgrad.tape.backward.freed import SECOND_TIME
from symgrad.tape.graph import FREED, Labelled, Node
from symgrad.tape.naming import turned_round
from symgrad.tape.observers import Packed, PackedRow
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

_PLACES = {"result": 0, "output": 0, "self": 1, "input": 1, "other": 2, "exponent": 2, "mat2": 2, "weight": 2}
"""torch's names of what is saved: the result, the first argument, the second one."""

_SPELLED = {"scales": "scale_factor", "split_size": "split_size_or_sections"}
"""torch's names of what is saved, where its functions call it otherwise."""

_TORCHS = {"input": "self"} | {own: torchs for torchs, own in _SPELLED.items()}

_UNSAVED = frozenset(["out", "inplace", "dtype", "call"])
"""Names of arguments that nothing is saved of under them."""

_PER_AXIS = ("stride", "padding", "dilation", "kernel_size")
"""Settings of convolutions and pools that a number gives for all axes."""

_SIZES = re.compile(r"(\w+)_sym_(sizes|numel|argsize_(minus_)?(\d+))")
"""torch's names of the sizes of what is saved."""


class SavedTensor:
    """One saved value of a node, as ``_raw_saved_<name>`` gives it.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x.exp()
    >>> y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t / 2)
    >>> y.grad_fn._saved_result
    tensor([2.7183, 7.3891], grad_fn=<ExpBackward0>)
    """

    __slots__ = ("_node", "_place")
    _node: Node
    _place: int

    def __init__(self) -> None:
        raise AutogradError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: Node, place: int) -> SavedTensor:
        """What ``node`` saved at a place."""
        made = cls.__new__(cls)
        made._node, made._place = node, place
        return made

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """``register_hooks(pack_hook, unpack_hook)``: keep what ``pack_hook(tensor)`` gives instead of the value.

        ``unpack_hook`` makes a tensor of it again.  Raises ``RuntimeError`` where the value was freed, is None or has
        hooks already.
        """
        if len(hooks) != 2 or not all(map(callable, hooks)):
            raise ArgumentError(
                "register_hooks(): incompatible function arguments. It takes two functions, pack_hook and unpack_hook, "
                f"but got ({', '.join(type(hook).__name__ for hook in hooks)})"
            )
        node, place = self._node, self._place
        if node.saved is FREED:
            raise AutogradError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        row = list(node.saved)
        if row[place] is None:
            raise AutogradError("Calling register_hooks on a saved tensor with value None is forbidden")
        if row[place].__class__ is Packed:
            raise AutogradError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
                "hooks is allowed at a time."
            )
        row[place] = saved_tensors_hooks(*hooks).packed(shown_saved(node)[place])
        node.saved, node.rules = PackedRow(row), None
        run = (node.params or {}).get("run")
        if run is not None:
            run.ctx.let_go(place)

    @property
    def data(self) -> Any:
        """What is kept: what the pack hook gave, else the tensor."""
        kept = _alive(self._node)[self._place]
        return kept.held if kept.__class__ is Packed else None if kept is None else shown_saved(self._node)[self._place]

    @property
    def unpack_hook(self) -> Any:
        """The function that makes a tensor of it; None where none was set."""
        kept = _alive(self._node)[self._place]
        return kept.hooks.unpack_hook if kept.__class__ is Packed else None

    def unpack(self) -> Any:
        """The tensor that backward would read."""
        kept = _alive(self._node)[self._place]
        return kept.tensor() if kept.__class__ is Packed else self.data


def saved_attribute(node: Node, name: str) -> Any:
    """``grad_fn._saved_<name>`` or ``grad_fn._raw_saved_<name>``.  Raises ``KeyError`` for what the node did not save.

    Settings and numbers that the operation was given are as good as saved.
    """
    raw, _, label = name.partition("_saved_")
    if node.op.kind == "function":
        if name != "_raw_saved_tensors":
            raise KeyError(name)
        return tuple(SavedTensor.of(node, k) for k in range(len(_alive(node))))
    if isinstance(node.args, Labelled) and node.args.inputs is not None:
        if node.args.given is not None and not raw:
            with suppress(KeyError):
                return _of_whole(node, label, *was_given(node.args))
        if not _one_step(node, inputs_given(node.args)):
            raise KeyError(name)
    if not raw and (size := _SIZES.fullmatch(label)) is not None:
        of, *what = size.groups()
        place = _PLACES[of]
        return _size(node if not place else node.args[place - 1] if place <= len(node.args) else None, *what)
    if not raw and label in (settings := _settings(node)):
        return _as_operand(settings[label])
    if label == "indices" and not raw:
        return indices(node)
    place = _place(node, label)
    if place > len(node.args):
        raise KeyError(name)
    number = node.args[place - 1] if place else None
    if isinstance(number, (int, float, complex)) and not raw:
        return _as_operand(number, node.op.numbers not in ("setting", "within") and not node.op.underived)
    if not _reads(node.op.needs((1 << len(node.args)) - 1)[0], place - 1):
        raise KeyError(name)
    if raw:
        return SavedTensor.of(node, place)
    # None where the gradients that are wanted do not need it
    return None if _alive(node)[place] is None else at_place(node, place)


def saved_names(node: Node) -> list[str]:
    """The names under which users find what a node saved."""
    if node.op.kind == "function":
        return ["_raw_saved_tensors"]
    own = {"result", "indices", *was_given(node.args)[0]} if is_whole(node) else names(node)
    labels = {_TORCHS.get(label, label) for label in own} - _UNSAVED
    return [f"_saved_{label}" for label in sorted(labels) if _is_saved(node, f"_saved_{label}")]


def _is_saved(node: Node, name: str) -> bool:
    try:
        saved_attribute(node, name)
    except KeyError:
        return False
    except AutogradError:  # it was
        return True
    return True


def _place(node: Node, label: str) -> int:
    """Where among what a node saved that stands which torch calls ``label``: 0 for the result, k for argument k."""
    names = list(parameters(node))
    own = "input" if label == "self" else label
    place = 1 + names.index(own) if own in names else _PLACES[label]
    return 3 - place if place and turned_round(node) else place


def _as_operand(given: Any, wrapped: bool = False) -> Any:
    """An array that a node was given (as a mask, in its index) as a tensor; so a number ``wrapped`` in one by torch."""
    given = given.value if isinstance(given, Index) else given
    return plain(Tensor, np.asarray(given)[()]) if wrapped or isinstance(given, np.ndarray) else given


def _settings(node: Node) -> dict[str, Any]:
    """What an op was told besides its operands, and what it was not told and so is as usual."""
    told, known = node.params or {}, parameters(node)
    rest = list(known)[len(node.args) :]
    renamed = dict(zip(rest, told.values(), strict=True)) if len(rest) == len(told) else {}
    usual = {} if told else {name: p.default for name, p in known.items() if isinstance(p.default, (int, float))}
    return {**usual, **renamed, **told, **cut(node)}


def _of_whole(node: Node, label: str, given: dict[str, Any], edges: dict[str, Any]) -> Any:
    """What the function that ends at ``node`` was given as ``label``, or a size of it, in torch's form."""
    if (size := _SIZES.fullmatch(label)) is not None:
        of, *what = size.groups()
        return _size(edges["input" if of == "self" and of not in edges else of], *what)
    if label == "output_size":
        return node.shape[2:]
    if label == "indices" and not {"index", "indices"} & set(given):
        _alive(node)
        return held_places(node, node.args.inputs)  # type: ignore[attr-defined]
    if label == "result":
        return at_place(node, 0)
    found = given[own := "input" if label == "self" else _SPELLED.get(label, label)]
    if found is ...:
        _alive(node)
        return held_operand(node, edges.get(own), node.args.inputs)  # type: ignore[attr-defined]
    if label == "reduction":
        return ("none", "mean", "sum").index(found)
    if label in _PER_AXIS and not isinstance(found, (tuple, list)):
        first = next(iter(edges.values()), None)
        return () if found is None else (found,) * (len(getattr(first, "raw_shape", node.shape)) - 2)
    if label == "align_corners":
        return bool(found)
    return tuple(found) if isinstance(found, list) else found


def _one_step(node: Node, inputs: tuple[Any, ...]) -> bool:
    """Whether a function that ends at ``node`` has no other step, so that it was given what the node was given."""
    given = [arg for arg in node.args if hasattr(arg, "raw_shape")]
    return len(given) == len(inputs) and all(i is None or i is arg for i, arg in zip(inputs, given, strict=True))


def _size(of: Any, what: str, minus: str | None, k: str | None) -> Any:
    """The shape of what is saved, its number of entries, or one of its sizes."""
    shape = getattr(of, "raw_shape", None)
    if shape is None:
        raise KeyError(what)
    if k is None:
        return tuple(shape) if what == "sizes" else math.prod(shape)
    return shape[-int(k) if minus else int(k)]


def _reads(needs: tuple[int, ...], position: int) -> bool:
    """Whether what an op needs (see :meth:`symgrad.op.Op.needs`) covers the output (-1) or an argument."""
    if position in needs or position < 0:
        return position in needs
    return any(p == -2 or (FROM < p < -2 and p != -3 - position) or (p <= FROM and position >= FROM - p) for p in needs)


def _alive(node: Node) -> Any:
    if node.saved is FREED:
        raise AutogradError(SECOND_TIME)
    return node.saved

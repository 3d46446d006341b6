"""What ``forward`` of a custom function leaves for ``backward``, and how that finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.autograd.functions.keeping import standing
from symgrad.autograd.functions.symbolic import output_node
from symgrad.autograd.graph import handle
from symgrad.autograd.sweeps.entrances import at_leaf
from symgrad.errors import ArgumentError, AutogradError
from symgrad.tape.backward.freed import SECOND_TIME
from symgrad.tape.backward.tether import at
from symgrad.tape.graph import FREED, Node
from symgrad.tape.memory.versions import by_now, detached_since
from symgrad.tape.observers import Packed
from symgrad.tape.record import plain
from symgrad.tensor import Tensor

_OF_NODES = ("metadata", "next_functions", "register_hook", "register_prehook")
"""What torch's contexts answer in ``backward`` since they are nodes."""


class _Spent(tuple[Any, ...]):
    """Stands for the saved values of a function that gave them away for good."""

    __slots__ = ()


SPENT = _Spent()


class FunctionCtx:
    """What ``forward`` leaves for ``backward``: saved tensors, marks, and any attribute the user sets.

    ``needs_input_grad``  for each argument of ``apply``: whether a gradient is wanted for it
    """

    needs_input_grad: tuple[bool, ...] = ()
    _node: Callable[[], Node | None] | None = None
    _kinds: tuple[tuple[str, Any], ...] = ()
    _reserved: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.to_save: tuple[Any, ...] = ()
        self.materialize_grads = True
        self._materialize_non_diff_grads = True
        self.non_differentiable: tuple[Any, ...] = ()
        self.dirty_tensors: tuple[Any, ...] = ()
        self.saved_for_forward: tuple[Any, ...] | None = None
        self.in_jvp = False
        self.takes_bundles = False  # whether jvp is made of ops and follows many tangents at once
        self.still: tuple[bool, ...] = ()  # which outputs have no tangent

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) until the backward pass; only inputs and outputs keep their place in the graph."""
        for k, t in enumerate(tensors):
            if t is not None and not hasattr(t, "raw_shape"):
                raise ArgumentError(
                    f"save_for_backward can only save variables, but argument {k} is of type {type(t).__name__}; "
                    "keep other things as attributes of ctx"
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``, which finds them in ``saved_tensors``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs ``forward`` changed in place; each must also be returned."""
        for k, t in enumerate(args):
            if not hasattr(t, "raw_shape"):
                raise ArgumentError(
                    f"mark_dirty can only accept variables, but argument {k} is of type {type(t).__name__}"
                )
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        for t in args:
            if not hasattr(t, "raw_shape"):
                raise ArgumentError(
                    f"mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}"
                )
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a gradient that does not exist reaches ``backward`` as zeros (the default) or as None."""
        if not isinstance(value, bool):
            raise ArgumentError(f"set_materialize_grads received {value!r:.40}, but expected (bool)")
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` kept, in ``jvp`` what ``save_for_forward`` did.

        Raises torch's error once the graph is freed.
        """
        if self.in_jvp:
            return self.saved_for_forward or ()
        node = self._node() if self._node is not None else None
        if node is None:
            return self.to_save
        if node.saved is FREED:
            raise AutogradError(SECOND_TIME)
        if node.saved is SPENT:
            raise AutogradError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        row = enumerate(zip(self._kinds, node.saved, strict=True))
        found = tuple(
            standing(node, k, unpacked_at(node, kind, place, value))
            if kind == "kept"
            else unpacked_at(node, kind, place, value)
            for k, ((kind, place), value) in row
        )
        if node.params["run"].signature.function.clear_saved_tensors_on_access:  # type: ignore[index]
            node.saved, self._kinds = SPENT, ()
        return found

    def shown(self, node: Node, k: int, value: Any) -> Any:
        """Saved value ``k`` as pack hooks see it: leaves themselves, results where they stand nowhere."""
        kind, place = self._kinds[k]
        if value is None:
            return None
        return plain(Tensor, value) if kind in ("output", "fixed") else unpacked_at(node, kind, place, value)

    def let_go(self, k: int) -> None:
        """Saved value ``k`` is kept by a hook in its own way: the tensor itself need not stay."""
        kinds = list(self._kinds)
        if kinds[k][0] == "kept":
            kinds[k] = ("kept", None)
        self._kinds = tuple(kinds)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of ``saved_tensors``."""
        import warnings

        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def __getattr__(self, name: str) -> Any:
        node = self._node() if name in _OF_NODES and self._node is not None else None
        if node is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(handle(node), name)

    def name(self) -> str:
        """The name of the node."""
        node = self._node() if self._node is not None else None
        return type(self).__name__ if node is None else f"{node.op.node}Backward"


FunctionCtx._reserved = frozenset(("_node", "_kinds", "needs_input_grad", *vars(FunctionCtx())))  # no user's attributes


def unpacked_at(node: Node, kind: str, place: Any, value: Any) -> Any:
    """A saved value as a tensor that stands where it stood in the graph."""
    if value.__class__ is Packed:
        if kind == "kept":
            return value.tensor()
        value = value.value()
    place = at(place)
    if kind == "kept":
        return place if place is not None or value is None else plain(Tensor, value)
    if kind == "node" and (lost := detached_since(value, node)) is not None:
        tensor = lost.tensor()  # what was saved is the tensor itself, which stands elsewhere by now
        return plain(Tensor, value) if tensor is None else tensor
    if kind not in ("output", "fixed"):
        value = by_now(value, place, node.sequence_nr)
    if kind == "leaf":
        # A leaf that a hook kept in its own way.
        return place if place._value is value else at_leaf(place, value)
    made = plain(Tensor, value)
    if kind in ("output", "fixed"):
        place = node if place is None else output_node(node, place, value)
    made._node = place
    made._requires_grad = place.mask != 0 and kind != "fixed"
    return made

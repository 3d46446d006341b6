"""The graph as torch shows it: ``grad_fn``, ``next_functions``, ``AccumulateGrad``, edges; and what nodes save."""

from __future__ import annotations

import abc
import contextlib
import functools
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd.graphs.budget import memory_budget
from symgrad.autograd.graphs.hooks import NodeHook, accumulated, attached, register_multi_grad_hook
from symgrad.autograd.graphs.saving import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_as,
    save_on_cpu,
    save_on_disk,
    saved_tensors_hooks,
)
from symgrad.devices import CPU
from symgrad.errors import ArgumentError, AutogradError
from symgrad.tape import graph as tape
from symgrad.tape.backward.order import settle
from symgrad.tape.backward.siblings import output_number, siblings_of, whole_of
from symgrad.tape.graph import Labelled, Slices
from symgrad.tape.memory.views import count_change, out_of_reach
from symgrad.tape.modes import is_grad_enabled
from symgrad.tape.naming import full_name, node_name, spaced, tensor_like, turned_round
from symgrad.tape.observers import RUNNING
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "current_graph_task_id", "current_node",
    "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "memory_budget",
    "register_multi_grad_hook", "save_as", "save_on_cpu", "save_on_disk", "saved_tensors_hooks",
]  # fmt: skip


def node_of(tensor: Any) -> Any:
    """``tensor.grad_fn``."""
    node = tensor._node
    if not tensor._requires_grad or node is None:
        return None
    return handle(node)


class Node(abc.ABC):
    """Any node of the graph as users see it: ``isinstance(y.grad_fn, Node)``.

    >>> import symgrad as sg
    >>> y = sg.tensor(2.0, requires_grad=True) * 3
    >>> isinstance(y.grad_fn, sg.autograd.graph.Node)
    True
    """

    @abc.abstractmethod
    def name(self) -> str:
        """torch's name of the node, such as ``AddBackward0``."""


class InputMetadata(NamedTuple):
    """The shape, dtype and device of a gradient that a node takes."""

    shape: list[int]
    dtype: Any
    device: Any = CPU
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def _looks(place: Any) -> InputMetadata:
    return InputMetadata(list(place.raw_shape), place.dtype)


@Node.register
class GradFn:
    """A node of the graph: what ``grad_fn`` and ``next_functions`` give.  One object per node while it is held.

    The class of every such object is named like the node, as in torch: ``type(y.grad_fn).__name__`` is the operation.
    """

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: tape.Node):
        self.node = node

    def name(self) -> str:
        """torch's name of the node, such as ``AddBackward0``."""
        return full_name(self.node)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that receive this node's gradients: ``(node, output number)``; ``(None, 0)`` for constants."""
        from symgrad.autograd.graphs.shown import resolved

        last = resolved(self.node)
        return _edges(places(self.node) if last.__class__ is tape.Node else last.places)

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for the user's own notes; anomaly mode notes where the node was made, and in whose backward."""
        extra = whole_of(self.node).more()
        if extra.metadata is None:
            extra.metadata = {}
            trace = self.node.more().trace
            if trace is not None:
                extra.metadata["traceback_"] = trace.lines()
                if trace.parent is not None:
                    give = handle if trace.parent.__class__ is tape.Node else accumulator
                    extra.metadata["parent_"] = give(trace.parent)
        return extra.metadata

    def __call__(self, *gradients: Any) -> Any:
        """Run this node by itself: a gradient per output in, a gradient (or None) per tensor argument out."""
        from symgrad.autograd.sweeps.entrances import call_node

        return call_node(self.node, gradients)

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran; its result, if any, replaces grad_inputs."""
        return attached(whole_of(self.node).more().post, hook)

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook(grad_outputs)`` before this node runs; its result replaces them."""
        return attached(whole_of(self.node).more().pre, hook)

    @property
    def formula(self) -> dict[str, Any]:
        """Local derivatives of this node: a SymPy expression per input, with ``g`` for the incoming gradient."""
        from symgrad.tape.formulas.local import local_formula

        return local_formula(self.node)

    requires_grad = True

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        """What a gradient of each output looks like."""
        whole = siblings_of(self.node)
        if whole is not None:
            return [InputMetadata(list(shape), dtype) for shape, dtype in whole.looks]
        if self.node.dtype is None:
            rows = (row or ((), None) for row in self.node.params["run"].outputs)  # type: ignore[index]
            return [InputMetadata(list(shape), dtype) for shape, dtype in rows]
        return [_looks(self.node)]

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved_", "_raw_saved_")):
            from symgrad.autograd.graphs.saved import saved_attribute

            with contextlib.suppress(KeyError):
                return saved_attribute(self.node, name)
        run = (self.node.params or {}).get("run")
        if run is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return run.signature.function if name == "_forward_cls" else getattr(run.ctx, name)

    def __dir__(self) -> list[str]:
        from symgrad.autograd.graphs.saved import saved_names

        return [*super().__dir__(), *saved_names(self.node)]

    def __setattr__(self, name: str, value: Any) -> None:
        run = None if name == "node" else (self.node.params or {}).get("run")
        if run is None:
            object.__setattr__(self, name, value)
        else:
            setattr(run.ctx, name, value)  # in torch the node of a custom function is its context

    def _sequence_nr(self) -> int:
        return self.node.sequence_nr

    def __repr__(self) -> str:
        room = "torch.autograd.function." if self.node.op.kind == "function" else ""
        return f"<{room}{type(self).__name__} object at {hex(id(self))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and whole_of(self.node) is whole_of(other.node)

    def __hash__(self) -> int:
        return hash(whole_of(self.node))


@Node.register
class InnerFn:
    """A node inside of what torch makes several nodes of and is one here: it has a name and a place, and does not run.

    ``step`` is its record.  Hooks go on the whole, which is the ``grad_fn`` of the result.
    """

    __slots__ = ("__weakref__", "step")

    def __init__(self, step: Any):
        self.step = step

    def name(self) -> str:
        """torch's name of the node."""
        return spaced(str(self.step.name))

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that receive this node's gradients in torch."""
        return _edges(self.step.places)

    def register_hook(self, hook: Any) -> Any:
        """Raise: nothing runs here by itself."""
        raise AutogradError(
            f"{self.name()} is part of an operation that is one node here: register the hook {hook!r} on the grad_fn "
            "of a result."
        )

    register_prehook = register_hook

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


@Node.register
class AccumulateGrad:
    """Where the gradients of a leaf end: ``variable`` is the leaf."""

    __slots__ = ("__weakref__", "variable")
    next_functions: tuple[Any, ...] = ()
    requires_grad = True

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        """What the gradient looks like."""
        return [_looks(self.variable)]

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook((), (grad,))`` after the gradient was added to the leaf."""
        return attached(self.variable.more().post, NodeHook(hook, before=False))

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook((grad,))`` before the gradient is added to the leaf; its result replaces the gradient."""
        return attached(self.variable.more().post, NodeHook(hook, before=True))

    def __init__(self, variable: Any):
        self.variable = variable

    def _sequence_nr(self) -> int:
        """The largest number: the gradients of leaves are added as soon as they are there."""
        return 2**64 - 1

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for the user's own notes."""
        extra = self.variable.more()  # the node itself lives no longer than somebody holds it
        if extra.metadata is None:
            extra.metadata = {}
        return extra.metadata  # type: ignore[no-any-return]

    def __call__(self, *gradients: Any) -> tuple[()]:
        """Add a gradient to the leaf's, as a backward pass does; there is nothing to give on."""
        if len(gradients) != 1:
            raise ArgumentError(f"expected 1 arguments, got {len(gradients)} instead")
        (g,) = gradients
        if g is not None:
            leaf = self.variable
            before = plain(Tensor, np.zeros_like(leaf._value)) if leaf.grad is None else leaf.grad
            leaf.grad = before + g if is_grad_enabled() else before.add_(g)
            accumulated(leaf, g._value, Tensor)
        return ()

    def name(self) -> str:
        """The node's name, as torch writes it."""
        return "torch::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {hex(id(self))}>"


def places(node: tape.Node) -> tuple[Any, ...]:
    """Where the gradients of a node go: a node, a leaf, or None for an input that gets none; of a composite, whole."""
    settle(node)
    return tuple(place for _, place in inputs(node))


def inputs(node: tape.Node) -> tuple[tuple[Any, Any], ...]:
    """The inputs of a node in torch's order: ``(what is known of it, where its gradient goes)``."""
    if node.args.__class__ is Labelled:
        if node.args.inputs is not None:
            return tuple((place, place) for place in node.args.inputs)
        if node.args.label.__class__ is Slices:
            base, changed = node.args.label.base, node.args.label.changed
            return ((node if base is None else base, base), *inputs(changed)[1:])
    apart = node.op.underived or node.op.numbers in ("setting", "within")
    numbers = not apart and not (node.op.name == "sub" and not tensor_like(node.args[0]))
    found = tuple(
        (arg, arg if node.mask >> i & 1 else None)
        for i, arg in enumerate(node.args)
        if (tensor_like(arg) and node.op.differentiable(i))
        or (numbers and i < (3 if node.op.name == "where" else 2) and not tensor_like(arg))
    )
    return found[::-1] if len(found) == 2 and turned_round(node) else found


@functools.cache
def class_named(name: str) -> type[GradFn]:
    """The class of the nodes of that name."""
    return type(name, (GradFn,), {"__slots__": (), "__doc__": GradFn.__doc__})


@functools.cache
def inner_class_named(name: str) -> type[InnerFn]:
    """The class of the inner nodes of that name."""
    return type(name, (InnerFn,), {"__slots__": (), "__doc__": InnerFn.__doc__})


def handle(node: tape.Node) -> GradFn:
    """The one :class:`GradFn` of a node."""
    while node.op.name == "output" or (node.args.__class__ is Labelled and node.args.role == "apart"):
        node = node.args[0]
    keeper = siblings_of(node) or node.more()
    found: GradFn | None = keeper.handle() if keeper.handle is not None else None
    if found is None:
        found = class_named(node_name(node))(node)
        keeper.handle = weakref.ref(found)
    return found


def accumulator(leaf: Any) -> AccumulateGrad:
    """The one :class:`AccumulateGrad` of a leaf."""
    extra = leaf.more()
    found = extra.accumulate() if extra.accumulate is not None else None
    if found is None:
        found = AccumulateGrad(leaf)
        extra.accumulate = weakref.ref(found)
    return found


_INNER: weakref.WeakKeyDictionary[Any, weakref.ref[InnerFn]] = weakref.WeakKeyDictionary()


def _inner(step: Any) -> InnerFn:
    """The one :class:`InnerFn` of a step."""
    found = _INNER[step]() if step in _INNER else None
    if found is None:
        found = inner_class_named(step.name)(step)
        _INNER[step] = weakref.ref(found)
    return found


def _edges(row: tuple[Any, ...]) -> tuple[tuple[Any, int], ...]:
    return tuple(_edge(place) for place in row)


def _edge(place: Any) -> tuple[Any, int]:
    if isinstance(place, tape.Node):
        return handle(place), output_number(place)
    if place is None or (isinstance(place, Recorded) and out_of_reach(place)):
        return None, 0
    return (accumulator(place) if isinstance(place, Recorded) else _inner(place)), 0


# ---------------------------------------------------------------------------------------------- edges


class GradientEdge(NamedTuple):
    """A place in the graph where a gradient flows: output ``output_nr`` of ``node``.

    ``ownership_token`` keeps the place alive; it is what an edge of one of several outputs is found by.

    >>> import symgrad as sg
    >>> y = sg.tensor(2.0, requires_grad=True) * 3
    >>> edge = sg.autograd.graph.get_gradient_edge(y)
    >>> edge.node is y.grad_fn, edge.output_nr
    (True, 0)
    """

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The place of a tensor in the graph; ``autograd.grad`` and ``backward`` take it instead of the tensor.

    Unlike the tensor it does not keep the value.  Raises ``RuntimeError`` for a tensor that does not require grad.

    >>> import symgrad as sg
    >>> x = sg.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> edge = sg.autograd.graph.get_gradient_edge(y)
    >>> sg.autograd.grad(y * 2, edge)
    (tensor(2.),)
    """
    if not isinstance(tensor, Recorded):
        raise ArgumentError(f"get_gradient_edge() takes a tensor, not {type(tensor).__name__}.")
    if not tensor._requires_grad:
        raise AutogradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor._node is None:
        return GradientEdge(accumulator(tensor), 0)
    node, number = _edge(tensor._node)
    return GradientEdge(node, number, tensor._node)


def tensor_at(edge: GradientEdge) -> Any:
    """A tensor that stands at an edge, with zeros for its value, which an edge does not keep."""
    if isinstance(edge.node, AccumulateGrad):
        return edge.node.variable
    if not isinstance(edge.node, GradFn):
        raise ArgumentError(f"a GradientEdge holds a node of the graph, not {type(edge.node).__name__}.")
    place = edge.node.node if edge.ownership_token is None else edge.ownership_token
    whole = siblings_of(place)
    if whole is not None:
        place = whole.nodes[edge.output_nr]() if 0 <= edge.output_nr < len(whole.nodes) else None
    elif place.dtype is None:
        place = (place.params or {})["run"].place(edge.output_nr)
    elif edge.output_nr and edge.ownership_token is None:
        place = None  # the node of one result
    if place is None:
        raise AutogradError(
            f"output {edge.output_nr} of {edge.node.name()} does not exist, or nobody holds it any more"
        )
    made = plain(Tensor, np.broadcast_to(np.zeros((), place.dtype), place.shape)[()])
    made._node = place
    made._requires_grad = True
    return made


def current_node() -> Any:
    """The node that the backward pass under way in this thread is running; None outside of one.

    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> y = x.sin()
    >>> handle = y.register_hook(lambda g: print(sg.autograd.graph.current_node().name()))
    >>> y.backward()
    SinBackward0
    """
    found = RUNNING.sweeps[-1].current if RUNNING.sweeps else None
    if found is None:
        return None
    return handle(found) if isinstance(found, tape.Node) else accumulator(found)


def current_graph_task_id() -> int:
    """The number of the backward pass under way in this thread, which no other pass has; -1 outside of one.

    >>> import symgrad as sg
    >>> x = sg.ones(2, requires_grad=True)
    >>> hook = x.register_hook(lambda g: print(sg.autograd.graph.current_graph_task_id() >= 0))
    >>> x.sum().backward()
    True
    >>> sg.autograd.graph.current_graph_task_id()
    -1
    """
    return RUNNING.sweeps[-1].number if RUNNING.sweeps else -1


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Say that the memory of a tensor (or of several) was changed by other means than its own methods.

    >>> import symgrad as sg
    >>> x = sg.ones(2)
    >>> sg.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for t in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
        if not isinstance(t, Recorded):
            raise ArgumentError(f"increment_version() takes tensors, not {type(t).__name__}.")
        count_change(t)

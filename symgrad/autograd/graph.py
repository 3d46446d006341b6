"""The graph as torch shows it: ``grad_fn``, ``next_functions``, ``AccumulateGrad``."""

from __future__ import annotations

import functools
import weakref
from typing import Any

from symgrad.tape.graph import Node, NodeExtra

_NUMBERS_APART = ("pow", "clamp", "clamp_min", "clamp_max", "remainder", "sum", "getitem")
"""Ops whose number arguments are settings in torch, not inputs: they have no place in ``next_functions``."""


def node_of(tensor: Any) -> Any:
    """``tensor.grad_fn``."""
    if not tensor._requires_grad or tensor._node is None:
        return None
    return handle(tensor._node)


class GradFn:
    """A node of the graph: what ``grad_fn`` and ``next_functions`` give.  One object per node while it is held.

    The class of every such object is named like the node, as in torch: ``type(y.grad_fn).__name__`` is the operation.
    """

    __slots__ = ("__weakref__", "node")

    def __init__(self, node: Node):
        self.node = node

    def name(self) -> str:
        """torch's name of the node, such as ``AddBackward0``."""
        return node_name(self.node)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that receive this node's gradients: ``(node, output number)``; ``(None, 0)`` for constants."""
        node = self.node
        numbers = node.op.name not in _NUMBERS_APART and not (node.op.name == "sub" and not _tensor_like(node.args[0]))
        return tuple(
            _edge(arg) if node.mask >> i & 1 else (None, 0)
            for i, arg in enumerate(node.args)
            if (_tensor_like(arg) and node.op.differentiable(i)) or (numbers and i < 2 and not _tensor_like(arg))
        )

    @property
    def metadata(self) -> dict[str, Any]:
        """A dictionary for the user's own notes."""
        extra = self.node.more()
        if extra.metadata is None:
            extra.metadata = {}
        return extra.metadata

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` after this node ran; its result, if any, replaces grad_inputs."""
        from symgrad.autograd.hooks import Handle

        return Handle(self.node.more().post, hook)

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook(grad_outputs)`` before this node runs; its result replaces them."""
        from symgrad.autograd.hooks import Handle

        return Handle(self.node.more().pre, hook)

    @property
    def formula(self) -> dict[str, Any]:
        """Local derivatives of this node: a SymPy expression per input, with ``g`` for the incoming gradient."""
        from symgrad.tape.formula import local_formula

        return local_formula(self.node)

    def __getattr__(self, name: str) -> Any:
        run = (self.node.params or {}).get("run")
        if run is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(run.ctx, name)

    def _sequence_nr(self) -> int:
        return self.node.sequence_nr

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and self.node is other.node

    def __hash__(self) -> int:
        return hash(self.node)


class AccumulateGrad:
    """Where the gradients of a leaf end: ``variable`` is the leaf."""

    __slots__ = ("__weakref__", "variable")
    next_functions: tuple[Any, ...] = ()

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook((), (grad,))`` after the gradient was added to the leaf."""
        from symgrad.autograd.hooks import Handle, NodeHook

        return Handle(self.variable.more().post, NodeHook(hook, before=False))

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook((grad,))`` before the gradient is added to the leaf; its result replaces the gradient."""
        from symgrad.autograd.hooks import Handle, NodeHook

        return Handle(self.variable.more().post, NodeHook(hook, before=True))

    def __init__(self, variable: Any):
        self.variable = variable

    def name(self) -> str:
        """The node's name, as torch writes it."""
        return "torch::autograd::AccumulateGrad"

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {hex(id(self))}>"


def _tensor_like(arg: Any) -> bool:
    return not isinstance(arg, (int, float, complex)) and hasattr(arg, "dtype")


@functools.cache
def _class_named(name: str) -> type[GradFn]:
    return type(name, (GradFn,), {"__slots__": (), "__doc__": GradFn.__doc__})


def handle(node: Node) -> GradFn:
    """The one :class:`GradFn` of a node."""
    if node.op.name == "output":
        node = node.args[0]
    extra: NodeExtra = node.more()
    found = extra.handle() if extra.handle is not None else None
    if found is None:
        found = _class_named(node_name(node))(node)
        extra.handle = weakref.ref(found)
    return found


def accumulator(leaf: Any) -> AccumulateGrad:
    """The one :class:`AccumulateGrad` of a leaf."""
    extra = leaf.more()
    found = extra.accumulate() if extra.accumulate is not None else None
    if found is None:
        found = AccumulateGrad(leaf)
        extra.accumulate = weakref.ref(found)
    return found


def _edge(arg: Any) -> tuple[Any, int]:
    if isinstance(arg, Node):
        number = arg.params["index"] if arg.op.name == "output" and arg.params else 0
        return handle(arg), number
    return accumulator(arg), 0


_NAMES_WITH_NUMBERS: dict[tuple[str, tuple[bool, ...]], str] = {
    ("sub", (True, False)): "RsubBackward1",
    ("pow", (False, False)): "PowBackward1",
    ("pow", (True, False)): "PowBackward2",
}
"""Names that depend on which arguments are Python numbers."""


def node_name(node: Node) -> str:
    """torch's name: the op's, or the label a composite or custom function gave."""
    if node.extra is not None and node.extra.label is not None:
        return node.extra.label
    if node.op.kind == "function":
        return f"{node.op.name}Backward"
    numbers = tuple(not _tensor_like(a) for a in node.args)
    known = _NAMES_WITH_NUMBERS.get((node.op.name, numbers))
    if known is not None:
        return known
    name = node.op.node
    if callable(name):
        name = name(*(getattr(a, "shape", ()) for a in node.args), **(node.params or {}))
    return name if "Backward" in name else f"{name}Backward0"

"""Graphs of torch.fx from modules and functions of torch: layers are traced into what they call.

Where example arguments are given, every value has a fake beside it, which has a shape and a dtype and no entries.
What the program asks about shapes is answered by it, as torch would; what it asks about entries is refused.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symgrad.errors import ArgumentError, UnsupportedFunction
from symgrad.foreign.following import (
    LINE,
    attribute_of,
    classes,
    has_tensor,
    own_folders,
    place,
    refuse_hooks,
    unlooked,
    variables,
)


class Traced:
    """A graph, the torch tensors and settings that it reads by name, and whether it was asked for sizes.

    ``result`` is what it gives, of nodes in containers, where its last node does not say so.
    """

    def __init__(self, graph: Any, held: Mapping[str, Any], sized: bool, result: Any = None):
        self.result = result
        self.graph = graph
        self.held = held
        self.sized = sized


def traced(f: Any, args: Sequence[Any], ignored: bool) -> Traced:
    """The graph of a module, a method of one, or a function, which may call modules that it knows by a variable.

    ``ignored``: of an ``autograd.Function`` the forward is followed, and its backward does not count.
    """
    import torch

    tracer = classes()[0](f, args)
    root = f
    owner = getattr(f, "__self__", None)
    if isinstance(owner, torch.nn.Module) and inspect.ismethod(f):
        root, tracer.traced_func_name = owner, f.__name__
    name = getattr(f, "__name__", type(f).__name__)
    with _as_they_were(_modules_of(root, f)), unlooked(root, bool(args)), torch.enable_grad():
        try:
            refuse_hooks(root, True)
            with _recorded(tracer), _forwards(ignored):
                graph = tracer.trace(root)
        except (ArgumentError, UnsupportedFunction):
            raise
        except Exception as error:
            raise UnsupportedFunction(_why(name, error, bool(args))) from error
        held = {n.target: attribute_of(tracer.root, n.target) for n in graph.nodes if n.op == "get_attr"}
    return Traced(graph, held, tracer.sized)


def _modules_of(root: Any, f: Any) -> list[Any]:
    """The modules that are traced: those of a module, or of the variables around a function."""
    import torch

    tops = [root, *variables(f).values()]
    found = {id(m): m for top in tops if isinstance(top, torch.nn.Module) for m in top.modules()}
    return list(found.values())


def line_of(node: Any) -> str:
    """The line of the user's source that made a node, as words; nothing where the graph does not know."""
    if LINE in node.meta:
        return place(*node.meta[LINE])
    found = re.findall(r'File "([^"]+)", line (\d+), in', str(node.stack_trace or ""))
    mine = [(file, int(number)) for file, number in found if not file.startswith(own_folders())]
    return place(*mine[-1]) if mine else ""


def _why(name: str, error: Exception, shaped: bool) -> str:
    """What torch says of a program that it cannot trace, and what helps."""
    said = str(error).strip().split("\n", 1)[0]
    hint = (
        "Choose with torch.where instead of if, and without what reads entries (item(), bool(x > 0), lists of numbers)"
        if shaped
        else "Give from_fx() example arguments, from_fx(f, x, ...): what a program asks about shapes is then answered"
    )
    where = _last_line(error)
    return f"{name} cannot be traced by torch.fx ({type(error).__name__}: {said}){where}. {hint}."


def _last_line(error: Exception) -> str:
    """The last line of the traceback that is the user's."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(own_folders())]
    return place(frames[-1].filename, frames[-1].lineno or 0) if frames else ""


@contextlib.contextmanager
def _as_they_were(modules: Sequence[Any]) -> Iterator[None]:
    """What modules hold is put back: torch.fx hangs constants on them, and the program may set their attributes."""
    import torch

    places = [(m, part) for m in modules for part in (vars(m), m._parameters, m._buffers, m._modules)]
    before = [dict(part) for _, part in places]
    lost = ""
    try:
        yield
        for (module, part), held in zip(places, before, strict=True):
            for name, value in held.items():
                now = vars(module).get(name, part.get(name))
                if isinstance(value, torch.Tensor) and isinstance(now, torch.fx.Proxy):
                    lost = f"{type(module).__name__}.{name}"
    finally:
        for (_, part), held in zip(places, before, strict=True):
            part.clear()
            part.update(held)
    if lost:
        name = lost.rpartition(".")[2]
        raise UnsupportedFunction(
            f"{lost} is a tensor that the program replaces (self.{name} = ...), and that the next call reads. Write "
            f"into it, self.{name}.copy_(...), which is followed, or take it as an argument and return the new one."
        )


@contextlib.contextmanager
def _recorded(tracer: Any) -> Iterator[None]:
    """Calls of the program without a value of it among their arguments are recorded: random numbers, leaves."""
    from torch.overrides import TorchFunctionMode, is_tensor_method_or_property

    class Mode(TorchFunctionMode):  # type: ignore[misc,unused-ignore]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            if _is_random(name) and not has_tensor([*args, *kwargs.values()]):
                return tracer.create_proxy("call_function", func, args, kwargs)
            found = func(*args, **kwargs)
            if not has_tensor(found, grad=True):
                return found
            if name == "__get__":
                return tracer.create_proxy("call_function", getattr, (args[0], func.__self__.__name__), {})
            if is_tensor_method_or_property(func):
                return tracer.create_proxy("call_method", name, args, kwargs)
            return tracer.create_proxy("call_function", func, args, kwargs)

    with Mode():
        yield


@contextlib.contextmanager
def _forwards(ignored: bool) -> Iterator[None]:
    """What ``apply`` of an ``autograd.Function`` does while a program is traced: refuse, or run its forward."""
    import torch

    function = torch.autograd.Function
    before = vars(function)["apply"]

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        if not any(isinstance(leaf, torch.fx.Proxy) for leaf in leaves):
            return before.__get__(None, cls)(*args, **kwargs)
        if not ignored:
            raise UnsupportedFunction(
                f"{cls.__name__} is an autograd.Function with a backward of its own, which is not read; with "
                "from_fx(..., own_backward='ignore') its derivative is that of what forward computes."
            )
        if cls.setup_context is not function.setup_context:
            return cls.forward(*args, **kwargs)
        return cls.forward(torch.autograd.function.FunctionCtx(), *args, **kwargs)

    function.apply = classmethod(apply)  # type: ignore[assignment,unused-ignore]
    try:
        yield
    finally:
        function.apply = before


@functools.cache
def _is_random(name: str) -> bool:
    import torch

    packet = getattr(torch.ops.aten, name, None) if name and not name.startswith("__") else None
    overloads = packet.overloads() if packet is not None else ()
    return any(torch.Tag.nondeterministic_seeded in getattr(packet, o).tags for o in overloads)

"""How a module of torch is followed: what the tracer of torch.fx does otherwise here, and what its values know.

The classes have no base until torch is there, see :func:`classes`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.errors import ArgumentError, UnsupportedFunction

FAKE = "symgrad_fake"
"""Where a node keeps the fake of its value."""
LINE = "symgrad_line"
"""Where a node keeps the file and the line of the user that made it."""
NO_GRAD = "symgrad_no_grad"
"""Where a node keeps whether it was recorded under ``torch.no_grad()``."""

BASE: Any = object
"""Stands for the class of torch that comes behind."""


def has_tensor(value: Any, grad: bool = False) -> bool:
    """Whether a value is a tensor of torch (which requires ``grad``), or a container of some."""
    import torch

    if isinstance(value, dict):
        return any(has_tensor(v, grad) for v in value.values())
    if isinstance(value, (tuple, list)):
        return any(has_tensor(v, grad) for v in value)
    return isinstance(value, torch.Tensor) and (value.requires_grad or not grad)


def attribute_of(root: Any, path: str) -> Any:
    """What a dotted name stands for, past ``Module.__getattr__``, which a tracer looks at."""
    for part in path.split("."):
        inside = vars(root)
        for found in (inside.get("_parameters", {}), inside.get("_buffers", {}), inside.get("_modules", {}), inside):
            if part in found:
                root = found[part]
                break
        else:
            root = getattr(root, part)
    return root


@functools.cache
def own_folders() -> tuple[str, ...]:
    """The folders of torch and of this room, whose lines tell a user nothing."""
    import torch

    return (os.path.dirname(torch.__file__), os.path.dirname(__file__))


def place(file: str, number: int) -> str:
    """A line of a file, as words with its text."""
    text = linecache.getline(file, number).strip()
    return f" at line {number} of {file}" + (f", {text}" if text else "")


def line_now() -> tuple[str, int] | None:
    """The line that runs now, of the user's source."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(own_folders()):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


class Value(BASE):  # type: ignore[misc]
    """A value of the program, to whose entries it may write."""

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tracer.create_proxy("call_function", operator.setitem, (self, index, value), {})


class Shaped(Value):
    """A value of the program with its fake, which answers what does not depend on entries."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            return super().__getattr__(name)
        from torch.fx.proxy import Attribute

        found = getattr(self.node.meta[FAKE], name)
        if callable(found) or has_tensor(found):
            return Attribute(self, name)
        self.tracer.sized = True
        return found

    def __len__(self) -> int:
        self.tracer.sized = True
        return len(self.node.meta[FAKE])

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))


class Following(BASE):  # type: ignore[misc]
    """Goes into every module, and names what it finds as the user's variables do."""

    proxy_buffer_attributes = True

    def __init__(self, f: Callable[..., Any], examples: Sequence[Any]):
        from torch._subclasses.fake_tensor import FakeTensorMode

        super().__init__()
        self.examples = list(examples)
        self.names = {id(value): name for name, value in variables(f).items()}
        self.taken: dict[int, str] = {}
        self.sized = False
        self.mode: Any = FakeTensorMode(allow_non_fake_inputs=True) if self.examples else None

    # ------------------------------------------------------------------------------ what is followed

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:  # noqa: ARG002
        """Whether a layer stays one call: none does."""
        return False

    def call_module(self, m: Any, forward: Any, args: Any, kwargs: Any) -> Any:
        """Follow what a layer calls."""
        refuse_hooks(m, False)
        with unlooked(m, bool(self.examples)):
            return super().call_module(m, forward, args, kwargs)

    def path_of_module(self, mod: Any) -> str:
        """Also of a module that is not the root's: that of a variable around the function."""
        try:
            return str(super().path_of_module(mod))
        except NameError:
            self.root.add_module(name := self._name(mod, "module"), mod)
            self.submodule_paths = {m: n for n, m in self.root.named_modules()}
            return name

    def create_arg(self, a: Any) -> Any:
        """Also for parameters that are not the root's."""
        import torch

        foreign = isinstance(a, torch.Tensor) and a not in self.tensor_attrs and id(a) in self.names
        if foreign and not any(a is p for p in (*self.root.parameters(), *self.root.buffers())):
            self.tensor_attrs[a] = name = self._name(a, "tensor")
            object.__setattr__(self.root, name, a)
        if isinstance(a, torch.nn.Parameter) and a in self.tensor_attrs:
            return self._filled(self.create_node("get_attr", self.tensor_attrs[a], (), {}))
        found = super().create_arg(a)
        return self._filled(found) if isinstance(found, torch.fx.Node) else found

    def _name(self, value: Any, stem: str) -> str:
        name = self.names.get(id(value), stem)
        while hasattr(self.root, name):
            name = self.get_fresh_qualname(name)
        return name

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> Any:  # noqa: ARG002
        """Placeholders for the arguments without a default, or for those that have an example."""
        given = iter(self.examples)
        args: list[Any] = [self.root] if is_module else []
        named = {}
        for p in list(inspect.signature(root_fn).parameters.values())[int(is_module) :]:
            if p.kind is p.VAR_POSITIONAL:
                args += [self._placeholder(f"{p.name}_{k}", example) for k, example in enumerate(given)]
            elif p.kind is p.KEYWORD_ONLY and p.default is p.empty:
                named[p.name] = self._placeholder(p.name, next(given, p.empty))
            elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                example = next(given, p.default if self.examples or p.default is not p.empty else None)
                if example is p.empty:
                    raise ArgumentError(f"from_fx() was given no example for the argument {p.name!r}.")
                wanted = example is not p.default or p.default is p.empty
                args.append(self._placeholder(p.name, example) if wanted else p.default)
        if list(given):
            raise ArgumentError("from_fx() was given more examples than the function has arguments.")
        return functools.partial(root_fn, **named), args

    def _placeholder(self, name: str, example: Any) -> Any:
        import torch

        if not self.examples:
            return super().create_proxy("placeholder", name, (), {})
        if not isinstance(example, torch.Tensor):
            if has_tensor(example):
                raise ArgumentError(
                    f"from_fx(): the argument {name!r} is a {type(example).__name__} of tensors; write a function "
                    "that takes them one by one."
                )
            return example  # a setting
        proxy = super().create_proxy("placeholder", name, (), {})
        proxy.node.meta["example"] = example
        return self._filled(proxy)

    # ------------------------------------------------------------------------------ shapes

    def proxy(self, node: Any) -> Any:
        """The value of a node."""
        _, plain, shaped = classes()
        return (shaped if self.examples else plain)(node, self)

    def create_proxy(self, kind: str, target: Any, args: Any, kwargs: Any, *more: Any, **named: Any) -> Any:
        """A value, with its fake; an answer in place of it where it is about shapes."""
        import torch

        if torch.is_autocast_enabled("cpu"):
            raise UnsupportedFunction("the program runs in torch.autocast, which is not known here; call it outside")
        made = super().create_proxy(kind, target, args, kwargs, *more, **named)
        made.node.meta[LINE] = line_now() or ("?", 0)
        made.node.meta[NO_GRAD] = not torch.is_grad_enabled()
        if not self.examples:
            return made
        self._filled(made.node)
        value = made.node.meta[FAKE]
        if kind.startswith("call") and not has_tensor(value) and not _writes(made.node):
            self.graph.erase_node(made.node)
            self.sized = True
            return value
        return made

    def _filled(self, made: Any) -> Any:
        """Give a node its fake."""
        import torch

        node = getattr(made, "node", made)
        if self.mode is None or FAKE in node.meta:
            return made
        if node.op == "placeholder":
            node.meta[FAKE] = self.mode.from_tensor(node.meta["example"])
        elif node.op == "get_attr":
            held = attribute_of(self.root, node.target)
            node.meta[FAKE] = self.mode.from_tensor(held) if isinstance(held, torch.Tensor) else held
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta[FAKE])
            node.meta[FAKE] = self._fake(node, args, kwargs)
        return made

    def _fake(self, node: Any, args: Any, kwargs: Any) -> Any:
        """What a call gives for fakes; a function that looks at entries only to check them is run on ones."""
        import torch
        from torch._subclasses.fake_tensor import DataDependentOutputException

        run = node.target
        if node.op == "call_method":
            run = operator.methodcaller(node.target, *args[1:], **kwargs)
            args, kwargs = args[:1], {}
        try:
            with self.mode, torch.no_grad():
                return run(*args, **kwargs)
        except DataDependentOutputException:
            ones = functools.partial(_mapped, lambda t: torch.ones(t.shape, dtype=t.dtype))
            found = run(*ones(args), **ones(kwargs))
            if not has_tensor(found):
                raise
            return _mapped(self.mode.from_tensor, found)


@functools.cache
def classes() -> tuple[Any, Any, Any]:
    """The tracer, and the class of its values without and with shapes."""
    import torch

    proxy = torch.fx.Proxy
    plain, shaped = type("Value", (Value, proxy), {}), type("Shaped", (Shaped, proxy), {})
    return type("Tracer", (Following, torch.fx.Tracer), {}), plain, shaped


def variables(f: Any) -> dict[str, Any]:
    """The modules and tensors of torch that a function finds in variables around it, by their names."""
    import torch

    try:
        seen = inspect.getclosurevars(inspect.unwrap(f))
    except TypeError:
        return {}
    found = {**seen.globals, **seen.nonlocals}
    return {name: v for name, v in found.items() if isinstance(v, (torch.nn.Module, torch.Tensor))}


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Nested containers with every tensor changed."""
    import torch

    return torch.utils._pytree.tree_map_only(torch.Tensor, change, value)


def _writes(node: Any) -> bool:
    return str(getattr(node.target, "__name__", node.target)) in ("setitem", "__setitem__")


@contextlib.contextmanager
def unlooked(module: Any, shaped: bool) -> Iterator[None]:
    """Without the look at the number of axes that normalising layers take, where there are no shapes to look at."""
    look = "_check_input_dim"
    if shaped or not hasattr(type(module), look):
        yield
        return
    setattr(module, look, lambda x: None)
    try:
        yield
    finally:
        delattr(module, look)


def refuse_hooks(module: Any, first: bool) -> None:
    """Refuse what changes values or gradients of a module and is not in its graph; ``first``: it is what is traced."""
    import torch

    if not isinstance(module, torch.nn.Module):
        return
    name = type(module).__name__
    if first and (module._forward_hooks or module._forward_pre_hooks):
        raise UnsupportedFunction(
            f"{name} has forward hooks, which torch.fx does not run of the module that it is given; call it in a "
            "function, from_fx(lambda x: module(x))."
        )
    if module._backward_hooks or module._backward_pre_hooks:
        raise UnsupportedFunction(f"{name} has backward hooks, which are not part of its graph; remove them.")

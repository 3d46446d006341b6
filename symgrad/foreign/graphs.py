"""Functions of torch's programs: the nodes of a graph of torch.fx, or of an exported program, as one list of steps."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import ArgumentError, UnsupportedFunction
from symgrad.foreign.following import NO_GRAD
from symgrad.foreign.peers import peer
from symgrad.foreign.steps import ImportedFunction, Slot, Step
from symgrad.foreign.targets import array_of, function_of, is_format, method_of, name_of, setting
from symgrad.foreign.tracing import Traced, line_of, traced
from symgrad.nn.parameter import Parameter
from symgrad.tape.record import Recorded
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor

RESERVED = {"np", "math", "I"}
"""Names that mean something in programs and formulas."""


class ImportedModule:
    """A program of torch that holds its parameters: called with the inputs alone, like the module it was read from.

    ``parameters`` are leaves that require grad, as nested dicts by torch's names; ``pure`` is the same program as a
    function of the parameters (by the names in ``pure.names``) and then of the inputs, without any state: for
    ``grad``, ``latex``, ``compile`` and files.  ``weights`` are the parameters in that order, by these names.
    """

    def __init__(self, pure: ImportedFunction, weights: Mapping[str, Any], parameters: dict[str, Any]):
        self.pure = pure
        self.weights = dict(weights)
        self.parameters = parameters
        self.names = pure.names[len(self.weights) :]
        self.examples = pure.examples[len(self.weights) :]
        self.__name__ = pure.__name__
        signature = pure.__signature__
        self.__signature__ = signature.replace(parameters=list(signature.parameters.values())[len(self.weights) :])

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The results for arrays, numbers or tensors."""
        return self.pure(*self.weights.values(), *args, **named)

    def __repr__(self) -> str:
        held = f" with {len(self.weights)} parameters" if self.weights else ""
        return f"<{self.__name__}({', '.join(self.names)}){held} in {len(self.pure.steps)} operations>"


def from_fx(f: Any, *args: Any, names: Mapping[str, str] | None = None, own_backward: str = "refuse") -> ImportedModule:
    r"""A program of torch as a differentiable function of symgrad: it runs, derives, prints, compiles, exports.

    ``f`` is a module, a method of one, a function that calls torch (and modules it has in a variable), a
    ``torch.fx.GraphModule``, or an ``ExportedProgram`` of ``torch.export``.  Modules are read as they stand, in
    training or evaluation mode.  Layers are traced into what they call, and every call runs as the function of symgrad
    that has its name: gradients, formulas and programs are symgrad's own, with torch's conventions at kinks.

    ``args`` are example tensors of torch, of which shapes and dtypes are read.  They are needed for programs that ask
    about shapes (recurrent layers, attention), and the result then takes arguments of these shapes only, and ``args``
    that are not tensors are settings; arguments with a default keep it, if there is no example.  ``names`` gives
    parameters and arguments other names than torch's: ``{"0.weight": "W"}``.

    Raises ``UnsupportedFunction`` for what is unknown here, with the node, its target and the line of the source; and
    for programs that torch.fx cannot trace, such as those that look at entries.  An
    ``autograd.Function`` is refused, too, because its backward need not be the derivative of its forward; with
    ``own_backward="ignore"`` its forward is read, and the derivative is that of what it computes.
    Raises ``ArgumentError`` for examples that do not fit the arguments, ``ShapeError`` at calls with other shapes, and
    ``MissingPackage`` without torch.

    >>> import symgrad as sg
    >>> import torch  # doctest: +SKIP
    >>> net = torch.nn.Linear(3, 1)  # doctest: +SKIP
    >>> f = sg.from_fx(lambda x, y: ((net(x) - y) ** 2).sum())  # doctest: +SKIP
    >>> f.pure.names  # doctest: +SKIP
    ['net_weight', 'net_bias', 'x', 'y']
    """
    torch = peer("torch", "from_fx()")
    if own_backward not in ("refuse", "ignore"):
        raise ArgumentError(f"from_fx(): own_backward is 'refuse' or 'ignore', not {own_backward!r}.")
    if isinstance(f, torch.export.ExportedProgram):
        if args:
            raise ArgumentError("from_fx(): an ExportedProgram has its shapes; it takes no examples.")
        return _Reader(*_exported(_decomposed(f)), names or {}).function("f")
    if not callable(f):
        raise ArgumentError(
            "from_fx() takes a module, a function, a torch.fx.GraphModule or an ExportedProgram, not "
            f"{type(f).__name__}."
        )
    examples = [torch.as_tensor(a.numpy(force=True)) if isinstance(a, Tensor) else a for a in args]
    examples = [torch.as_tensor(a) if isinstance(a, np.ndarray) else a for a in examples]
    name = getattr(f, "__name__", type(f).__name__.lower())
    return _Reader(traced(f, examples, own_backward == "ignore"), {}, names or {}).function(
        name if _fits(name) else "f"
    )


def _decomposed(program: Any) -> Any:
    """An exported program in calls that are known here, as far as torch can write the others with these.

    Torch's rewriting is for values alone: it drops ``no_grad`` blocks and takes ``detach`` for the identity.
    """
    import torch
    from torch._decomp import get_decompositions
    from torch.export import default_decompositions

    nodes = [n for n in program.graph.nodes if n.op == "call_function"]
    if any(n.target is torch.ops.higher_order.wrap_with_set_grad_enabled for n in nodes):
        raise UnsupportedFunction(
            "the exported program has a block under no_grad(), which is not read; give from_fx() the module itself, "
            "from_fx(module, x, ...), or write detach() there."
        )
    stopping = torch.ops.aten.detach.default, torch.ops.aten.detach_.default, torch.ops.aten.alias.default
    if any(n.target in stopping for n in nodes):
        return program
    for _ in range(2):
        unknown = [n.target for n in program.graph.nodes if n.op == "call_function" and not _is_known(n.target)]
        if not unknown:
            break
        program = program.run_decompositions({**default_decompositions(), **get_decompositions(unknown)})
    return program


def _is_known(target: Any) -> bool:
    try:
        function_of(target)
    except UnsupportedFunction:
        return False
    return True


def _exported(program: Any) -> tuple[Traced, dict[str, str]]:
    """The graph of an exported program, and torch's names of those of its placeholders that hold something."""
    import torch

    held, paths = {}, {}
    constants = {**program.state_dict, **program.constants}
    for spec in program.graph_signature.input_specs:
        if spec.target is not None:
            paths[spec.arg.name] = spec.target
            held[spec.target] = constants[spec.target]
    for spec in program.graph_signature.output_specs:
        if spec.kind.name != "USER_OUTPUT":
            raise UnsupportedFunction(
                f"the exported program changes {spec.target!r} in place; export it in evaluation mode, "
                "or without what writes to its arguments."
            )
    for node in program.graph.nodes:
        if node.op == "get_attr":
            held[node.target] = getattr(program.graph_module, node.target)
    row = next(n for n in program.graph.nodes if n.op == "output").args[0]
    result = torch.utils._pytree.tree_unflatten(list(row), program.call_spec.out_spec)
    return Traced(program.graph, held, True, result), paths


class _Reader:
    """The steps of a graph.  ``paths`` are torch's names of placeholders that hold parameters or buffers."""

    def __init__(self, graph: Traced, paths: Mapping[str, str], names: Mapping[str, str]):
        self.graph = graph
        self.nodes = list(graph.graph.nodes)
        self.paths = paths
        self.given = names
        self.taken: set[str] = set()
        self.slots: dict[Any, Any] = {}
        self.steps: list[Step] = []
        self.count = 0

    def function(self, name: str) -> ImportedModule:
        """The program as a function with parameters."""
        inputs = [n for n in self.nodes if n.op == "placeholder" and n.name not in self.paths]
        labels = {n: self.label(str(n.target)) for n in inputs}
        weights = self.held({n: path for n in self.nodes if (path := self._path(n)) is not None})
        self.known(labels)
        for k, node in enumerate(inputs):
            self.slots[node] = Slot(len(weights) + k)
        self.count = len(weights) + len(inputs)
        for path, constant in self.constants.items():
            self._constant(path, constant)
        for node in self.nodes:
            if node.op in ("call_function", "call_method"):
                self.add(node)
            elif node.op not in ("placeholder", "get_attr", "output"):
                raise UnsupportedFunction(f"{_described(node)} is not known here.")
        result = self._result(next(n for n in self.nodes if n.op == "output"))
        shapes: list[Any] = [tuple(v.shape) for v in weights.values()] + [_shape_of(n) for n in inputs]
        arguments = [*weights, *labels.values()]
        pure = ImportedFunction(name, arguments, shapes, self.steps, [result], False, entering=_entering)
        if not self.graph.sized:  # nobody asked for sizes, so that they may be others
            pure.shapes = [None] * len(shapes)
        return ImportedModule(pure, weights, self.parameters)

    def _path(self, node: Any) -> str | None:
        return str(node.target) if node.op == "get_attr" else self.paths.get(node.name)

    def label(self, path: str) -> str:
        """A name for torch's name of something: ``0.weight`` is ``weight_0``, ``net.0.weight`` is ``net_0_weight``."""
        name = self.given.get(path)
        if name is None:
            parts = path.strip("_").split(".")
            name = "_".join([parts[-1], *parts[:-1]] if parts[0].isdigit() else parts)
        if not _fits(name):
            name = f"{name}_"
        while name in self.taken:
            name = f"{name}_"
        self.taken.add(name)
        return name

    def known(self, labels: Mapping[Any, str]) -> None:
        """Refuse other names for what is not there."""
        there = [*self.graph.held, *(str(n.target) for n in labels)]
        for path in self.given:
            if path not in there:
                raise ArgumentError(f"from_fx(): names has {path!r}, and the program has {', '.join(there)}.")

    def held(self, nodes: Mapping[Any, str]) -> dict[str, Any]:
        """The parameters as leaves; what else is held is constant."""
        import torch

        weights: dict[str, Any] = {}
        places: dict[int, Slot] = {}
        self.parameters: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self.users: dict[str, list[Any]] = {}
        for node, path in nodes.items():
            value = self.graph.held[path]
            if not (isinstance(value, torch.Tensor) and value.requires_grad):
                self.constants[path] = value
                self.users.setdefault(path, []).append(node)
                continue
            if value._backward_hooks:
                raise UnsupportedFunction(f"{path} has hooks, which are not part of the graph; remove them.")
            if id(value) not in places:
                places[id(value)] = Slot(len(weights))
                name = self.label(path)
                weights[name] = Parameter(tensor(array_of(value), name=name))
                _put(self.parameters, path, weights[name])
            self.slots[node] = places[id(value)]
        return weights

    def _constant(self, path: str, value: Any) -> None:
        """A buffer has a name in formulas; a constant that the program writes to is a new one in every call."""
        import torch

        found = value
        if isinstance(value, torch.Tensor):
            found = tensor(array_of(value), name=self.label(path)) if value.ndim else setting(value)
        if isinstance(found, Tensor) and path.rpartition(".")[2].startswith("_tensor_constant"):
            written = any(_writes(n) for n in self.nodes)
            found = self._step(found.clone, (), path, False) if written else found
        for node in self.users.get(path, ()):
            self.slots[node] = found

    def add(self, node: Any) -> None:
        """One step for a call."""
        where = _described(node)
        try:
            run = method_of(node.target) if node.op == "call_method" else function_of(node.target)
        except UnsupportedFunction as error:
            raise UnsupportedFunction(f"{where} is not known here: {error}.{self.hint()}") from None
        kwargs = {k: v for k, v in node.kwargs.items() if k not in ("device", "layout", "memory_format", "pin_memory")}
        args = tuple(a for a in node.args if not is_format(a))
        template, values = _Template.of((args, kwargs), self.slots)
        closed = node.meta.get(NO_GRAD, False)

        def call(*found: Any) -> Any:
            positional, named = template.filled(found)
            try:
                if not closed:
                    return run(*positional, **named)
                with sg.no_grad():
                    return run(*positional, **named)
            except Exception as error:
                error.add_note(f"in {where}")
                raise

        self.slots[node] = self._step(call, values, node.name, _writes(node))

    def hint(self) -> str:
        """Torch can write most of its functions in simpler ones, where it exports a program."""
        return (
            ""
            if self.graph.result is not None
            else " torch.export.export(module, (x, ...)) may give a program without it."
        )

    def _step(self, run: Callable[..., Any], values: Any, name: str, kept: bool) -> Slot:
        out = Slot(self.count)
        self.count += 1
        self.steps.append(Step(run, tuple(values), (out.number,), name, kept))
        return out

    def _result(self, node: Any) -> Slot:
        """The results in the containers that the program gives them in."""
        wanted = node.args[0] if self.graph.result is None else self.graph.result
        template, values = _Template.of(wanted, self.slots)
        return self._step(lambda *found: template.filled(found), values, "output", False)


class _Template:
    """Nested arguments with places for values."""

    def __init__(self, shape: Any):
        self.shape = shape

    @classmethod
    def of(cls, value: Any, slots: Mapping[Any, Any]) -> tuple[_Template, list[Any]]:
        """The template of the arguments of a node, and the values that belong into it."""
        values: list[Any] = []

        def walk(part: Any) -> Any:
            if isinstance(part, (tuple, list)):
                return ("tuple" if isinstance(part, tuple) else "list", [walk(p) for p in part])
            if isinstance(part, dict):
                return ("dict", {k: walk(p) for k, p in part.items()})
            if isinstance(part, slice):
                return ("slice", [walk(p) for p in (part.start, part.stop, part.step)])
            if part.__hash__ is not None and part in slots:
                values.append(slots[part])
                return ("value", len(values) - 1)
            return ("constant", setting(part))

        return cls(walk(value)), values

    def filled(self, found: Any) -> Any:
        """The arguments with these values."""

        def walk(part: Any) -> Any:
            kind, inside = part
            if kind == "value":
                return found[inside]
            if kind == "constant":
                return inside
            if kind == "dict":
                return {k: walk(p) for k, p in inside.items()}
            row = [walk(p) for p in inside]
            return slice(*row) if kind == "slice" else tuple(row) if kind == "tuple" else row

        return walk(self.shape)


def _entering(value: Any) -> Any:
    """An argument as a tensor, whose methods the program calls."""
    if isinstance(value, Recorded) or not isinstance(value, (int, float, complex, list, np.ndarray, np.generic)):
        return value if not hasattr(value, "detach") or isinstance(value, Recorded) else setting(value)
    return tensor(value)


def _described(node: Any) -> str:
    return f"the node {node.name!r} ({node.op} {name_of(node.target)}{line_of(node)})"


def _writes(node: Any) -> bool:
    """Whether a call changes one of its arguments."""
    name = str(getattr(node.target, "__name__", node.target)).partition(".")[0]
    if name in ("setitem", "__setitem__") or node.kwargs.get("inplace") or node.kwargs.get("out") is not None:
        return True
    return (name.endswith("_") and not name.endswith("__")) or (name.startswith(("i", "__i")) and name in _INPLACE)


_INPLACE = {
    f"{end}i{name}{end}"
    for end in ("", "__")
    for name in ["add", "sub", "mul", "truediv", "floordiv", "pow", "mod", "and", "or", "xor", "lshift", "rshift"]
}
"""Python's operators that write to their left side."""


def _shape_of(node: Any) -> tuple[int, ...] | None:
    found = node.meta.get("example", node.meta.get("val"))
    if found is None or not all(isinstance(n, int) for n in found.shape):
        return None
    return tuple(found.shape)


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    """Put a value into nested dicts, at the place that a dotted name says."""
    *ahead, last = path.split(".")
    for part in ahead:
        tree = tree.setdefault(part, {})
    tree[last] = value


def _fits(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and name not in RESERVED and not name.startswith("__")

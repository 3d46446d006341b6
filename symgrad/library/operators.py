"""Custom operators: functions with a schema and a name, and the gradients that they are given.

A custom operator is a :class:`symgrad.autograd.Function` that is written in pieces: what computes it, and later, if at
all, how its gradient is found and what it does to a batch.  There is no dispatcher below: kernels for other devices and
results without values are taken and never asked for.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad import ops
from symgrad.autograd.function import Function
from symgrad.errors import ArgumentError, AutogradError, NameProblem
from symgrad.library.schemas import stub_of
from symgrad.op import carrier_of
from symgrad.ops import NAMESPACES
from symgrad.tape.memory.versions import storage
from symgrad.tape.modes import no_grad
from symgrad.tape.record import Recorded
from symgrad.tensor import Tensor

__all__ = ["CustomOpDef", "custom_op", "register_autograd", "register_fake", "register_kernel", "register_vmap"]

_WORDS: dict[Any, str] = {Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "complex"}
"""What a schema calls the types of arguments; others are taken as ``Any``, which torch has no word for."""


class _Call(NamedTuple):
    """What one application is told besides its tensors: how many of them each list had, and what goes by keyword."""

    widths: tuple[int | None, ...]
    named: tuple[tuple[str, Any], ...]

    def rebuilt(self, flat: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with the tensors of a list in a list again."""
        rest = iter(flat)
        return tuple(next(rest) if width is None else [next(rest) for _ in range(width)] for width in self.widths)

    def flattened(self, rows: Sequence[Any]) -> list[Any]:
        """The same backwards, of gradients, which may be None for a whole list."""
        flat: list[Any] = []
        for width, row in zip(self.widths, rows, strict=True):
            flat += [row] if width is None else [None] * width if row is None else list(row)
        return flat


def _is_list(arg: Any) -> bool:
    return isinstance(arg, (list, tuple)) and any(carrier_of(type(x)) is not None for x in arg)


_NUMBERS: dict[Any, tuple[type, ...]] = {
    int: (int, np.integer, np.bool_),
    float: (int, float, np.integer, np.floating, np.bool_),
    bool: (int, float, complex, np.generic, type(None)),
}
_UNFIT = object()


def _taken(kind: Any, value: Any) -> Any:
    """A value as what an argument is declared to be, where that is one of torch's plain types; else :data:`_UNFIT`."""
    inner, several = _inside(kind)
    if inner is not None and not several:
        return None if value is None else _taken(inner, value)
    if inner is not None:
        if isinstance(value, Tensor) and inner in _NUMBERS:
            value = value.tolist() if value.dim() == 1 else None
        taken = [_taken(inner, entry) for entry in value] if isinstance(value, (list, tuple)) else [_UNFIT]
        return _UNFIT if any(entry is _UNFIT for entry in taken) else taken
    if kind is Tensor:
        return value if hasattr(value, "dtype") and not isinstance(value, np.ndarray) else _UNFIT
    if kind in _NUMBERS:
        if not (isinstance(value, _NUMBERS[kind]) or (isinstance(value, Tensor) and value.numel() == 1)):
            return _UNFIT
        exact = isinstance(value, int) and kind is int and not isinstance(value, bool)
        return value if exact else kind(value)  # which keeps what is known of sizes
    return value if kind is not str or isinstance(value, str) else _UNFIT


def _inside(kind: Any) -> tuple[Any, bool]:
    """What a list or an optional argument has in it, and whether that may be several; ``(None, False)`` else."""
    parts = [part for part in typing.get_args(kind) if part is not type(None)]
    if typing.get_origin(kind) in (list, collections.abc.Sequence) and parts:
        return parts[0], True
    if typing.get_origin(kind) in (typing.Union, types.UnionType) and len(parts) == 1 < len(typing.get_args(kind)):
        return parts[0], False
    return None, False


def _spelled(kind: Any) -> str:
    """A type as torch's errors write it, such as ``List[int]``."""
    inner, several = _inside(kind)
    if inner is None:
        return getattr(kind, "__name__", str(kind))
    return f"{'List' if several else 'Optional'}[{_spelled(inner)}]"


class CustomOpDef:
    """A custom operator: call it like the function that it was made of; the methods register what else it can do."""

    def __init__(self, namespace: str, name: str, fn: Callable[..., Any], mutates_args: str | Iterable[str]):
        self._namespace, self._name, self._run = namespace, name, fn
        self._signature = inspect.signature(fn)
        self._types = _annotations(fn, self._signature)
        self._changes = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
        self._check_changes()
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._function = _function_of(self)
        self._recorded: Callable[..., Any] | None = None
        """What is differentiated itself, instead of being given a gradient."""
        self.default = self  # the one overload that there is

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def _schema(self) -> str:
        """The declaration, in torch's words."""
        parts = []
        by_name = False
        changed = {name: k for k, name in enumerate(self._signature.parameters) if name in self._changes}
        for name, param in self._signature.parameters.items():
            if param.kind is param.KEYWORD_ONLY and not by_name:
                by_name = True
                parts.append("*")
            word = f"{_marked(_word(self._types[name]), changed.get(name))} {name}"
            parts.append(word if param.default is param.empty else f"{word}={_default(param.default)}")
        given = self._types["return"]
        several = typing.get_args(given) if typing.get_origin(given) is tuple else ()
        result = "()" if given in (None, type(None)) else _word(given)
        return f"{self._qualname}({', '.join(parts)}) -> " + (
            f"({', '.join(map(_word, several))})" if several else result
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The operator on its arguments; raises ``RuntimeError`` where they do not fit the declaration."""
        row, named = self._bound(args, kwargs)
        if self._recorded is not None:
            return self._recorded(*row, **named)
        if self._changes and self._types["return"] in (None, type(None)):
            with no_grad():
                return self._run(*row, **named)
        call = _Call(tuple(len(a) if _is_list(a) else None for a in row), tuple(named.items()))
        found = self._function.apply(*call.flattened(row), call)
        return list(found) if typing.get_origin(self._types["return"]) in (list, collections.abc.Sequence) else found

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by position and those by keyword, with their defaults."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise AutogradError(
                f"{self._qualname}() {self._misfit(error, args)}. Declaration: {self._schema}"
            ) from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            kind = self._types[name]
            bound.arguments[name] = _taken(kind, value)
            if bound.arguments[name] is _UNFIT:
                raise AutogradError(
                    f"{self._qualname}() Expected a value of type '{_spelled(kind)}' for argument '{name}' but instead "
                    f"found type '{type(value).__name__}'.\nDeclaration: {self._schema}"
                    + ("\nsymgrad.tensor(...) takes it." if kind is Tensor else "")
                )
        return list(bound.args), dict(bound.kwargs)

    def _misfit(self, error: TypeError, args: Sequence[Any]) -> str:
        """What is wrong with arguments that the signature does not take, in torch's words."""
        kinds = [param.kind for param in self._signature.parameters.values()]
        most = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if len(args) > most:
            return f"expected at most {most} argument(s) but received {len(args)} argument(s)"
        return str(error).replace("missing a required argument:", "is missing value for argument")

    def _check_changes(self) -> None:
        if isinstance(self._changes, str):
            if self._changes != "unknown":
                raise NameProblem(
                    "mutates_args must either be a sequence of the names of the arguments that are mutated or the "
                    f"string 'unknown'. (It is {self._changes!r}.)"
                )
            self._changes = ()  # who changes nothing may say so; in-place operations are seen anyway
        missing = set(self._changes) - set(self._signature.parameters)
        if missing:
            raise NameProblem(
                f"infer_schema(func): {missing} in mutates_args were not found in the custom op's signature. "
                "mutates_args should contain the names of all args that the custom op mutates, or just the string "
                f"'unknown' if you don't know. Got func with signature {self._signature}"
            )

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the operator its gradient: ``backward(ctx, *grads)``, one gradient per argument.

        ``setup_context(ctx, inputs, output)`` saves what that needs; it has ``keyword_only_inputs``, too, where there
        are any.  Raises ``RuntimeError`` for an operator that changes arguments.
        """
        if self._changes:
            raise AutogradError(
                f"Cannot register autograd formula for non-functional operator {self!r} with schema {self._schema}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        self._backward, self._setup = backward, setup_context

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """What computes the operator on a device; here that is the CPU, and others are never asked."""

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if device_types is None or "cpu" in ([device_types] if isinstance(device_types, str) else device_types):
                self._run = fn
            return fn

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What the result looks like, for tracers without values: there are none here."""
        return fn

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """What the operator does to a batch: ``func(info, in_dims, *args)`` gives the outputs and their axes of it."""

        def register(func: Callable[..., Any]) -> None:
            def batched(info: Any, in_dims: Any, *given: Any) -> Any:
                *flat, call = given
                return func(info, call.rebuilt(in_dims[:-1]), *call.rebuilt(flat), **dict(call.named))

            self._function.vmap = staticmethod(batched)

        return register if func is None else register(func)


def _function_of(op: CustomOpDef) -> Any:
    """The function that an operator is to autograd; its last argument is the :class:`_Call`."""

    def forward(ctx: Any, *given: Any) -> Any:
        *flat, call = given
        args, named = call.rebuilt(flat), dict(call.named)
        output = op._run(*args, **named)
        made = output if isinstance(output, (tuple, list)) else (output,)
        _refuse_shared(op, flat, made)
        if op._setup is not None:
            told = {"keyword_only_inputs": named} if named else {}
            op._setup(ctx=ctx, inputs=args, output=output, **told)
        ctx._library_call = call, isinstance(output, list)
        return tuple(output) if isinstance(output, list) else output

    def backward(ctx: Any, *grads: Any) -> Any:
        if op._backward is None:
            raise AutogradError(
                f"Trying to backward through {op._namespace}.{op._name}.default but no autograd formula was "
                "registered. Please use register_autograd to add one."
            )
        call, listed = ctx._library_call
        asked = ctx.needs_input_grad
        ctx.needs_input_grad = call.rebuilt(asked[:-1])
        try:
            found = op._backward(ctx, list(grads)) if listed else op._backward(ctx, *grads)
        finally:
            ctx.needs_input_grad = asked
        rows = found if isinstance(found, tuple) else (found,)
        if len(rows) != len(call.widths):
            raise AutogradError(
                f"{op._qualname}: backward returned {len(rows)} gradients for {len(call.widths)} arguments; give one "
                "per argument, None for what has none, and a list for a list of tensors."
            )
        return (*call.flattened(rows), None)

    own = {"forward": staticmethod(forward), "backward": staticmethod(backward), "__doc__": inspect.getdoc(op._run)}
    return types.new_class(
        f"GeneratedBackwardFor_{op._namespace}_{op._name}_default", (Function,), {}, lambda body: body.update(own)
    )


def _refuse_shared(op: CustomOpDef, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Raise torch's error where a result is an argument, or lies in the memory of one or of another result."""
    seen = {id(storage(x._value)) for x in inputs if isinstance(x, Recorded) and isinstance(x._value, np.ndarray)}
    given = [id(x) for x in inputs]
    for out in outputs:
        memory = id(storage(out._value)) if isinstance(out, Recorded) and isinstance(out._value, np.ndarray) else None
        if memory in seen or (isinstance(out, Recorded) and id(out) in given):
            raise AutogradError(
                f"{op._name}: The output of this custom operator (1) must not also be an input to this custom operator "
                "and (2) may not alias any inputs to this custom operator or other returns. The most common way to "
                "trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead "
                "return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom "
                "operator to not return y."
            )
        if memory is not None:
            seen.add(memory)


def _annotations(fn: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    """The types of the arguments and of the result; raises ``ValueError`` in torch's words where they are not told."""

    def refuse(what: str) -> NameProblem:
        return NameProblem(f"infer_schema(func): {what} Got func with signature {signature}")

    try:
        found = typing.get_type_hints(fn)
    except NameError as error:
        raise refuse(f"Unsupported type annotation. It is not a type. ({error})") from error
    for name, param in signature.parameters.items():
        if param.kind not in (param.POSITIONAL_OR_KEYWORD, param.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if name not in found:
            raise refuse(f"Parameter {name} must have a type annotation.")
        if typing.get_origin(found[name]) is tuple:
            raise refuse(
                f"Parameter {name} has unsupported type {found[name]}. We do not support Tuple inputs in schema. As a "
                "workaround, please try to use List instead."
            )
        if found[name] in (dict, set, object) or typing.get_origin(found[name]) in (dict, set):
            raise refuse(f"Parameter {name} has unsupported type {found[name]}: it takes tensors, numbers and lists.")
    if "return" not in found:
        raise refuse("No return type annotation was provided. Please add one.")
    if found["return"] in (dict, set, str, object) or typing.get_origin(found["return"]) in (dict, set):
        raise refuse(f"Return has unsupported type {found['return']}: it may be tensors, numbers and lists of tensors.")
    return found


def _marked(word: str, place: int | None) -> str:
    """A type of what is changed in place, as schemas mark it: ``Tensor(a0!)``."""
    return word if place is None else word.replace("Tensor", f"Tensor(a{place}!)", 1)


def _default(value: Any) -> str:
    """A default as a schema writes it: texts in double quotes, sequences in brackets."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_default, value))}]"
    return json.dumps(value) if isinstance(value, str) else str(value)


def _word(kind: Any) -> str:
    """A type as a schema writes it.

    >>> import symgrad as sg
    >>> _word(list[sg.Tensor]), _word(float), _word(int | None)
    ('Tensor[]', 'float', 'SymInt?')
    """
    inner = typing.get_args(kind)
    if typing.get_origin(kind) in (list, collections.abc.Sequence) and inner:
        return f"{_word(inner[0])}[]"
    known = [x for x in inner if x is not type(None)]
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return f"{_word(known[0])}?" if len(known) == 1 < len(inner) else "Scalar"
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))


class _Namespace:
    """The operators of one namespace, ``symgrad.ops.NAME``, by their names."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'_OpNamespace' {self._name!r} object has no attribute {name!r}")


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Sequence[Any] | None = None,
) -> Any:
    """A function of tensors as an operator named ``namespace::name``, which :class:`CustomOpDef` describes.

    Its parameters and its result need types.  ``mutates_args`` are the names of those that it changes in place, which
    nothing is differentiated through.  ``schema``, such as ``"(Tensor x, float k) -> Tensor"``, stands for the types,
    and marks the same names.  It is called by itself or as ``symgrad.ops.namespace.name``; what stands in
    ``device_types`` and ``tags`` is for torch's dispatcher.  Raises ``ValueError`` for a name without a namespace, for
    one that ``symgrad.ops`` has already, for parameters without a type, and for a schema that marks other names.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::cube", mutates_args=())
    ... def cube(x: sg.Tensor) -> sg.Tensor:
    ...     return sg.tensor(x.numpy() ** 3)
    >>> cube.register_autograd(
    ...     lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2,
    ...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    ... )
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> sg.ops.doc.cube(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    del device_types, tags

    def made(fn: Callable[..., Any]) -> CustomOpDef:
        namespace, mark, short = name.partition("::")
        if not (mark and namespace.isidentifier() and short.isidentifier()):
            raise NameProblem(f"custom_op: a name is 'namespace::name', such as 'mylib::sine', not {name!r}")
        if schema is None:
            op = CustomOpDef(namespace, short, fn, mutates_args)
        else:  # tells the signature instead of the function, which may have no types then
            stub, changed = stub_of(schema)
            if set(changed) != set(mutates_args):
                raise NameProblem(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}`. The "
                    f"schema suggests that the op mutates {set(changed) or '{}'}, which is different from what was "
                    "provided to us in `mutates_args`. Please make these consistent."
                )
            op = CustomOpDef(namespace, short, stub, changed)
            op._run = fn
        room = NAMESPACES.get(namespace)
        if room is None:  # the library's own rooms, such as symgrad.ops.nn, take operators in beside what they have
            own = getattr(ops, namespace, None)
            room = NAMESPACES[namespace] = own if isinstance(own, types.ModuleType) else _Namespace(namespace)
        if not isinstance(getattr(room, short, op), CustomOpDef):
            raise NameProblem(f"custom_op: {name!r} is a name of the library's own; take another namespace")
        setattr(room, short, op)
        return op

    return made if fn is None else made(fn)


def registered(op: Any) -> CustomOpDef:
    """The operator itself, or the one of that name; raises torch's ``AttributeError`` for a name that is unknown."""
    if isinstance(op, CustomOpDef):
        return op
    if not isinstance(op, str):
        raise ArgumentError(f"an operator is what custom_op made or its name, not {type(op).__name__}")
    namespace, _, short = op.partition("::")
    found: CustomOpDef = getattr(NAMESPACES.get(namespace, _Namespace(namespace)), short)
    return found


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """:meth:`CustomOpDef.register_autograd` of an operator or of the one of that name.

    Raises ``AttributeError`` for a name that is unknown.

    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::twice", mutates_args=())
    ... def twice(x: sg.Tensor) -> sg.Tensor:
    ...     return x * 2
    >>> sg.library.register_autograd("doc::twice", lambda ctx, g: g * 2)
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> twice(x).backward()
    >>> x.grad
    tensor(2.)
    """
    del lib
    registered(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """:meth:`CustomOpDef.register_kernel` of an operator or of the one of that name.

    Raises ``AttributeError`` for a name that is unknown.

    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::one", mutates_args=())
    ... def one(x: sg.Tensor) -> sg.Tensor:
    ...     return x + 1
    >>> @sg.library.register_kernel("doc::one", "cpu")
    ... def _(x):
    ...     return x + 1.5
    >>> one(sg.tensor(1.0))
    tensor(2.5000)
    """
    del lib
    return registered(op).register_kernel(device_types, func) if func else registered(op).register_kernel(device_types)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, **_: Any) -> Any:
    """:meth:`CustomOpDef.register_fake` of an operator or of the one of that name.

    Raises ``AttributeError`` for a name that is unknown.

    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::half", mutates_args=())
    ... def half(x: sg.Tensor) -> sg.Tensor:
    ...     return x / 2
    >>> @sg.library.register_fake("doc::half")
    ... def _(x):
    ...     return sg.empty_like(x)
    """
    del lib
    found = registered(op)
    return found.register_fake if func is None else found.register_fake(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """:meth:`CustomOpDef.register_vmap` of an operator or of the one of that name.

    Raises ``AttributeError`` for a name that is unknown.

    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::sine", mutates_args=())
    ... def sine(x: sg.Tensor) -> sg.Tensor:
    ...     return x.sin()
    >>> sg.library.register_vmap("doc::sine", lambda info, in_dims, x: (sine(x), in_dims[0]))
    >>> sg.func.vmap(sine)(sg.zeros(2, 3)).ndim
    2
    """
    del lib
    return registered(op).register_vmap(func)

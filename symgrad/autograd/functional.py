"""Jacobians, Hessians and their products with vectors, of functions of tensors: ``torch.autograd.functional``.

All of them take ``return_expr=True`` and then give ``(results, formulas)``, SymPy expressions in the same nesting.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.jacobians.columns import pushed_columns
from symgrad.autograd.jacobians.recorded import check_real, rows_at_once, units, with_entries
from symgrad.autograd.sweeps.entrances import grad
from symgrad.errors import ArgumentError, AutogradError, ConflictingChecks
from symgrad.op import shape_of
from symgrad.ops.shapes.joining import stack
from symgrad.tape.formulas.names import name_of
from symgrad.tape.forward.bundle import apart
from symgrad.tape.forward.dual import Dual
from symgrad.tape.memory.views import out_of_reach
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.captured import SWITCHED, transforming
from symgrad.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


_INDEPENDENT = (
    "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
)
_OUTPUTS = (
    "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
_GRADIENTS = (
    "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is not "
    "allowed in strict mode."
)
_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example)."
)
_HESSIAN = (
    "The hessian of the user-provided function with respect to input {i} is independent of the input. This is not "
    "allowed in strict mode. You should ensure that your function is thrice differentiable and the hessian depends on "
    "the inputs."
)
_CONSTANT = (
    "The {} of the user-provided function is independent of input {{i}}. This is not allowed in strict mode when "
    "create_graph=True."
)
_CONSTANT_JACOBIAN, _CONSTANT_HESSIAN = _CONSTANT.format("jacobian"), _CONSTANT.format("hessian")


def _tuple_of(value: Any, what: str, name: str) -> tuple[tuple[Any, ...], bool]:
    several = isinstance(value, tuple)
    row = value if several else (value,)
    for k, t in enumerate(row):
        if not isinstance(t, (Recorded, Dual)):
            part = f"the value at index {k}" if several else f"the given {what}"
            raise ArgumentError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but {part} has type "
                f"{type(t)}."
            )
    return row, several


def _fresh(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Inputs to differentiate by: of the caller's graph with ``create_graph``, else leaves of their own.

    Raises torch's error for leaves inside of a function that is differentiated: its derivative would end there.
    """
    tangents = any(isinstance(x, Dual) for x in inputs)
    if transforming() and (tangents or not create_graph):
        raise AutogradError(SWITCHED)
    if tangents:
        raise AutogradError(
            "autograd.functional carries no tangents along: use unpack_dual(x).primal, or the transforms of func"
        )
    if create_graph:
        return tuple(x.view(tuple(x.shape)) if x._requires_grad else x.detach()._require() for x in inputs)
    return tuple(map(_leaf, inputs))


def _leaf(x: Any) -> Any:
    """A leaf of its own with the value of a tensor, which formulas call by that tensor's name."""
    made = x.detach()._require()
    extra = made.more()
    extra.name, extra.site = name_of(x), None
    extra.structure = None if x._extra is None else x._extra.structure
    return made


def _given(inputs: Any, name: str, create_graph: bool) -> tuple[tuple[Any, ...], bool]:
    row, several = _tuple_of(inputs, "inputs", name)
    return _fresh(row, create_graph), several


def _returned(func: Callable[..., Any], row: tuple[Any, ...], name: str, strict: bool) -> tuple[tuple[Any, ...], bool]:
    outputs, many = _tuple_of(func(*row), "outputs of the user-provided function", name)
    _demand(outputs, _OUTPUTS, strict)
    return outputs, many


def _single(func: Callable[..., Any], row: tuple[Any, ...], name: str, strict: bool) -> Any:
    """What a function gives that should give one tensor of one entry."""
    outputs, many = _returned(func, row, name, strict)
    if many:
        raise AutogradError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise AutogradError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs[0]


def _demand(row: tuple[Any, ...], words: str, strict: bool) -> None:
    """In strict mode: every tensor of ``row`` has a history."""
    for i, t in enumerate(row):
        if strict and not t.requires_grad:
            raise AutogradError(words.format(i=i))


def _zeros(like: Any) -> Any:
    return plain(Tensor, np.zeros(shape_of(like), like.dtype)[()])


def _gradients(
    outputs: Any,
    inputs: tuple[Any, ...],
    vectors: Any,
    create_graph: bool,
    strict: bool,
    words: str = _INDEPENDENT,
    constant: str = "",
) -> tuple[Any, ...]:
    """Gradients, zero for independent inputs; ``words`` and ``constant`` are the errors of what ``strict`` refuses."""
    kept = [(o, v) for o, v in zip(outputs, vectors, strict=True) if o.requires_grad]
    found: Any = (None,) * len(inputs)
    if kept:
        found = grad([o for o, _ in kept], inputs, [v for _, v in kept], True, create_graph, allow_unused=True)
    for i, g in enumerate(found):
        if strict and g is None:
            raise AutogradError(words.format(i=i))
        if strict and constant and not g.requires_grad:
            raise AutogradError(constant)
    return tuple(_zeros(x) if g is None else g for g, x in zip(found, inputs, strict=True))


def _out(rows: tuple[Any, ...], several: bool, create_graph: bool) -> Any:
    rows = rows if create_graph else tuple(r.detach() if r._requires_grad or r._node is not None else r for r in rows)
    return rows if several else rows[0]


def _vectors(v: Any, like: tuple[Any, ...], several: bool, name: str, of: str) -> tuple[Any, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise AutogradError(f"The vector v can only be None if {of} a single Tensor with a single element.")
        return (like[0].detach().full_like(1),)
    row, _ = _tuple_of(v, "v", name)
    if len(row) != len(like):
        raise AutogradError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(row)}."
            if several
            else "The given v should contain a single Tensor."
        )
    for k, (a, b) in enumerate(zip(row, like, strict=True)):
        if tuple(a.shape) != tuple(b.shape):
            which = f"Entry {k} in v" if several else "v"
            raise AutogradError(f"{which} has invalid size: should be {b.shape} but got {a.shape}.")
    return row


def _with_formulas(function: Callable[..., Any], several: bool) -> Callable[..., Any]:
    """``function`` with ``return_expr``: its results, and the formulas of them, or of ``several``, the values first."""

    @functools.wraps(function)
    def call(func: Callable[..., Any], inputs: Any, *args: Any, return_expr: bool = False, **kwargs: Any) -> Any:
        if not return_expr:
            return function(func, inputs, *args, **kwargs)
        values: list[Any] = []

        def watched(*row: Any) -> Any:
            for given, parameter in zip(row, _parameters(func, len(row)), strict=True):
                x = given.primal if isinstance(given, Dual) else given
                if isinstance(x, Recorded) and name_of(x) is None:
                    x.more().name = parameter
            values.append(func(*row))
            return values[0]

        found = function(watched, inputs, *args, **kwargs)
        return found, _exprs((values[0], found[1]) if several else found)

    signature = inspect.signature(function)
    added = inspect.Parameter("return_expr", inspect.Parameter.KEYWORD_ONLY, default=False, annotation="bool")
    call.__signature__ = signature.replace(parameters=[*signature.parameters.values(), added])  # type: ignore[attr-defined]
    return call


def _parameters(func: Callable[..., Any], count: int) -> list[str | None]:
    """The names that a function calls its arguments by, None where it tells none."""
    try:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        names = [p.name for p in inspect.signature(func).parameters.values() if p.kind in kinds]
    except (TypeError, ValueError):
        names = []
    return [*names, *(None,) * count][:count]


def _exprs(value: Any) -> Any:
    return tuple(map(_exprs, value)) if isinstance(value, tuple) else value.expr


_OF_INPUT = "the input to the user-provided function is"
_OF_OUTPUT = "the user-provided function returns"


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(outputs, vᵀJ)``: the product of a vector with the Jacobian of ``func`` at ``inputs``.

    ``v`` has the shape of the outputs and may be left out for a single number.

    >>> import symgrad as sg
    >>> sg.autograd.functional.vjp(lambda x: x**2, sg.tensor([1.0, 2.0]), sg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        row, several = _given(inputs, "vjp", create_graph)
        outputs, many = _returned(func, row, "vjp", strict)
        vectors = _vectors(v, outputs, many, "vjp", _OF_OUTPUT)
        found = _gradients(outputs, row, vectors, create_graph, strict)
        _demand(found, _CONSTANT_JACOBIAN, strict and create_graph)
    return _out(outputs, many, create_graph), _out(found, several, create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(outputs, Jv)``: the product of the Jacobian of ``func`` at ``inputs`` with a vector, by two reverse passes.

    >>> import symgrad as sg
    >>> sg.autograd.functional.jvp(lambda x: x**2, sg.tensor([1.0, 2.0]), sg.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        row, several = _given(inputs, "jvp", create_graph)
        vectors = _vectors(v, row, several, "jvp", _OF_INPUT)
        outputs, many = _returned(func, row, "jvp", strict)
        probes = tuple(_zeros(o)._require() for o in outputs)
        pulled = _gradients(outputs, row, probes, True, strict)
        _demand(pulled, _GRADIENTS, strict)
        found = _by_probes(pulled, probes, vectors, outputs, create_graph)
        _demand(found, _CONSTANT_JACOBIAN, strict and create_graph)
    return _out(outputs, many, create_graph), _out(found, many, create_graph)


def _by_probes(pulled: Any, probes: Any, vectors: Any, like: Any, create_graph: bool) -> tuple[Any, ...]:
    """Gradients that are linear in their probes, at vectors: derivatives by the probes, zeros where there is none."""
    moved = [(g, t) for g, t in zip(pulled, vectors, strict=True) if g._requires_grad]
    pushed: tuple[Any, ...] = (None,) * len(probes)
    if moved:
        pushed = grad([g for g, _ in moved], probes, [t for _, t in moved], None, create_graph, allow_unused=True)
    return tuple(_zeros(x) if g is None else g for g, x in zip(pushed, like, strict=True))


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of ``func`` at ``inputs``, of shape (output axes, input axes); nested tuples for several of them.

    ``strategy="forward-mode"`` computes all columns in one run of ``func``, which is cheap where there are more outputs
    than inputs; ``vectorize`` does not change the result.  With ``return_expr=True`` the formula comes along, as a
    SymPy expression.  Raises ``RuntimeError`` for complex outputs, of which forward mode gives the derivative where
    the function is holomorphic and ``autograd.wirtinger`` both derivatives.

    >>> import symgrad as sg
    >>> sg.autograd.functional.jacobian(lambda x: x * x, sg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    >>> sg.autograd.functional.jacobian(lambda x: x * x, sg.tensor([1.0, 2.0]), return_expr=True)[1]
    2*diag(x)
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ConflictingChecks(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _pushed(func, inputs, strict)
    with enable_grad():
        row, several = _given(inputs, "jacobian", create_graph)
        outputs, many = _returned(func, row, "jacobian", strict)
        if strict and vectorize:
            raise AutogradError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        check_real(outputs, "output", "jacobian")
        blocks = tuple(_rows(j, out, row, create_graph, strict) for j, out in enumerate(outputs))
    shaped = tuple(_out(block, several, create_graph) for block in blocks)
    return shaped if many else shaped[0]


def _pushed(func: Callable[..., Any], inputs: Any, strict: bool) -> Any:
    """The Jacobian by forward mode; it has a graph where the inputs have one."""
    if strict:
        raise AutogradError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    row, several = _tuple_of(inputs, "inputs", "jacobian")
    shown = [x.view(tuple(x.shape)) if x._requires_grad else _leaf(x)._require(False) for x in row]
    many = [False]

    def run(given: list[Any]) -> tuple[list[Any], Any]:
        with enable_grad():
            outputs, many[0] = _tuple_of(func(*given), "outputs of the user-provided function", "jacobian")
        return list(outputs), lambda _: None

    found, _ = pushed_columns(run, shown)
    shaped = tuple(tuple(blocks) if several else blocks[0] for blocks in found)
    return shaped if many[0] else shaped[0]


def _rows(j: int, out: Any, inputs: tuple[Any, ...], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """The Jacobian of one output by each input: a reverse pass per entry, together where they can be."""
    shape = tuple(out._value.shape)
    together = None if strict else rows_at_once(out, inputs, create_graph)
    if together is not None:
        return tuple(together)
    if out._requires_grad and out_of_reach(out):  # a view that was cut out under no_grad(): its entries are constants
        out = out.detach()
    words = _INDEPENDENT.replace("The output", f"Output {j}")
    constant = _CONSTANT_JACOBIAN.format(i=j) if create_graph else ""
    rows = [
        _gradients((out,), inputs, (plain(Tensor, unit),), create_graph, strict, words, constant)
        for unit in units(shape, out.dtype)
    ]
    if not rows:
        return tuple(plain(Tensor, np.zeros((*shape, *x._value.shape), x.dtype)) for x in inputs)
    blocks = [
        stack(column).reshape((*shape, *x._value.shape))
        for column, x in zip(zip(*rows, strict=True), inputs, strict=True)
    ]
    blocks = blocks if create_graph else [block.detach() for block in blocks]
    return tuple(with_entries(block, out, x) for block, x in zip(blocks, inputs, strict=True))


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a scalar function at ``inputs``, of shape (input axes, input axes); nested tuples for several.

    >>> import symgrad as sg
    >>> sg.autograd.functional.hessian(lambda x: (x**3).sum(), sg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _, several = _tuple_of(inputs, "inputs", "hessian")

    def gradient(*row: Any) -> Any:
        row = tuple(_pulled_apart(x) if x.requires_grad else _pulled_apart(x)._require() for x in row)
        out = _single(func, row, "hessian", strict)
        found = _gradients((out,), row, (None,), True, False)
        _demand(found, _JACOBIAN, strict)
        return found

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if several else found[0]


def _pulled_apart(x: Any) -> Any:
    """An argument that backward passes will start from: where it moves along many tangents, they are kept apart."""
    return Dual(x.primal, apart(x.tangent), x.tag) if isinstance(x, Dual) else x


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(output, vᵀH)``: the product of a vector with the Hessian of a scalar function.

    >>> import symgrad as sg
    >>> sg.autograd.functional.vhp(lambda x: (x**3).sum(), sg.tensor([1.0, 2.0]), sg.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        row, several = _given(inputs, "vhp", create_graph)
        vectors = _vectors(v, row, several, "vhp", _OF_INPUT)
        outputs = (_single(func, row, "vhp", strict),)
        first = _gradients(outputs, row, (None,), True, strict)
        _demand(first, _JACOBIAN, strict)
        found = _gradients(first, row, vectors, create_graph, strict, _INDEPENDENT.replace("output", "jacobian"))
        _demand(found, _CONSTANT_HESSIAN, strict and create_graph)
    return _out(outputs, False, create_graph), _out(found, several, create_graph)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``(output, Hv)``: the product of the Hessian of a scalar function with a vector.

    >>> import symgrad as sg
    >>> sg.autograd.functional.hvp(lambda x: (x**3).sum(), sg.tensor([1.0, 2.0]), sg.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        row, several = _given(inputs, "hvp", create_graph)
        vectors = _vectors(v, row, several, "hvp", _OF_INPUT)
        outputs = (_single(func, row, "hvp", strict),)
        probes = tuple(_zeros(x)._require() for x in row)
        first = _gradients(outputs, row, (None,), True, strict)
        _demand(first, _JACOBIAN, strict)
        moved = [(g, p) for g, p in zip(first, probes, strict=True) if g._requires_grad]
        pulled = tuple(map(_zeros, row))
        if moved:
            words = _INDEPENDENT.replace("output", "jacobian")
            pulled = _gradients(tuple(g for g, _ in moved), row, tuple(p for _, p in moved), True, strict, words)
        found = _by_probes(pulled, probes, vectors, row, create_graph)
        _demand(found, _HESSIAN, strict and create_graph)
    return _out(outputs, False, create_graph), _out(found, several, create_graph)


vjp, jvp, vhp, hvp = (_with_formulas(f, True) for f in (vjp, jvp, vhp, hvp))
jacobian, hessian = (_with_formulas(f, False) for f in (jacobian, hessian))

"""How transforms of functions are traced: the function once, the derivative on its terms.

A transform (``symgrad.func.grad(f)``) carries what it is; tracing it traces ``f`` and derives on formulas, so nested
transforms never run a backward pass, and the program is as small as the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd.jacobians.recorded import check_real
from symgrad.autograd.sweeps.entrances import NOT_REAL
from symgrad.compiler.trace import Output, Trace, target_structure, targets_of, trace
from symgrad.compiler.transforms import Transform
from symgrad.errors import AutogradError, CompileError
from symgrad.formula import derive
from symgrad.formula.canonical.parts import parts
from symgrad.formula.term import Term
from symgrad.interop.array_calls import followed
from symgrad.op import Labels
from symgrad.ops.rules.kinks import turned
from symgrad.ops.shapes.joining import concat_op
from symgrad.ops.shapes.shaping import reshape_op
from symgrad.tape import containers
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor


def transformed(
    call: Callable[..., Any], kind: str, function: Callable[..., Any], argnums: Any, has_aux: bool
) -> Callable[..., Any]:
    """``call`` with the knowledge of how to trace it."""
    maker = _MAKERS[kind]
    call.__name__ = call.__qualname__ = f"{kind}_{getattr(function, '__name__', 'f')}".replace("<lambda>", "f")

    def traced(args: Sequence[Any]) -> Trace:
        return maker(function, _floating(args, argnums), argnums, has_aux)

    # ``functools.wraps`` copies attributes to functions that do more: the one who is meant stands beside.
    found = Transform(call, traced, kind, function, argnums, has_aux)
    call.__symgrad_transform__ = found  # type: ignore[attr-defined]
    return call


def _floating(args: Sequence[Any], argnums: Any) -> list[Any]:
    """Python's numbers among the differentiated arguments are tensors of a dtype, and whole ones stand for numbers."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    row = list(args)
    for k in numbers:
        if -len(row) <= k < len(row):
            row[k] = containers.tree_map(lambda x: np.float64(x) if type(x) in (int, float) else x, row[k])
    return row


def _followed(function: Any, args: Sequence[Any]) -> Trace:
    """The trace of a function to be differentiated; refused where it gives plain numbers, whose slopes would be 0."""
    inner = trace(function, args)
    if inner.plain:
        raise CompileError(
            f"{inner.name}() gives plain numbers: float() or .item() of a tensor, functions of the module math, or "
            "entries written into an array of NumPy leave no derivative; return the tensor."
        )
    if inner.numbers and not any(isinstance(leaf, Recorded) for leaf in containers.flatten(list(args))[0]):
        followed(function, containers.tree_map(_moving, list(args)))  # raises where the result depends on them
    return inner


def _moving(leaf: Any) -> Any:
    """What a derivative would follow of an argument."""
    array = np.asarray(leaf) if isinstance(leaf, (float, complex, np.ndarray, np.generic)) else None
    return leaf if array is None or array.dtype.kind not in "fc" else plain(Tensor, array[()])._require()


def _split(inner: Trace, has_aux: bool) -> tuple[list[Output], Any, list[Output], Any]:
    """Outputs proper with their structure, and the auxiliary ones with theirs."""
    if not has_aux:
        return inner.outputs, inner.structure, [], None
    structure = inner.structure
    if structure == containers.LEAF or structure[0] != "tuple" or len(structure[2]) != 2:
        raise CompileError(f"has_aux=True needs a function that gives (output, aux); {inner.name}() does not.")
    first, aux = structure[2]
    count = _count(first)
    return inner.outputs[:count], first, inner.outputs[count:], aux


def _count(structure: Any) -> int:
    return 1 if structure == containers.LEAF else sum(map(_count, structure[2]))


def _pair(first: Any, second: Any) -> Any:
    return ("tuple", (0, 1), (first, second))


def _scalar_of(inner: Trace, outputs: Sequence[Output]) -> Output:
    if len(outputs) != 1 or outputs[0].shape != ():
        shapes = ", ".join(str(o.shape) for o in outputs)
        raise CompileError(f"the gradient of {inner.name}() needs one scalar result, but it gave {shapes}.")
    if np.dtype(outputs[0].dtype).kind == "c":
        raise AutogradError(NOT_REAL.format(outputs[0].dtype))
    return outputs[0]


def _gradients(inner: Trace, out: Output, argnums: Any) -> list[Output]:
    targets = targets_of(inner, argnums)
    terms = [turned(term) for term in derive.gradient(out.term, [t.term for t in targets])]
    return [
        Output(term, t.dtype, t.shape, (inner.inputs.index(t), inner.outputs.index(out) if out in inner.outputs else 0))
        for term, t in zip(terms, targets, strict=True)
    ]


def slope_of(inner: Trace, out: Output, argnums: int) -> Output:
    """The gradient of a scalar output by one argument, as an output."""
    return _gradients(inner, _scalar_of(inner, [out]), argnums)[0]


def _grad(function: Any, args: Sequence[Any], argnums: Any, has_aux: bool) -> Trace:
    inner = _followed(function, args)
    outputs, _, extra, aux = _split(inner, has_aux)
    found = _gradients(inner, _scalar_of(inner, outputs), argnums)
    structure = target_structure(inner, argnums)
    return inner.derived(f"grad_{inner.name}", [*found, *extra], _pair(structure, aux) if has_aux else structure)


def _value_and_grad(function: Any, args: Sequence[Any], argnums: Any, has_aux: bool) -> Trace:
    inner = _followed(function, args)
    outputs, structure, extra, aux = _split(inner, has_aux)
    found = _gradients(inner, _scalar_of(inner, outputs), argnums)
    first = _pair(structure, aux) if has_aux else structure
    return inner.derived(
        f"value_and_grad_{inner.name}",
        [*outputs, *extra, *found],
        _pair(first, target_structure(inner, argnums)),
    )


def _jacobian(function: Any, args: Sequence[Any], argnums: Any, has_aux: bool) -> Trace:
    return _rows_of(_followed(function, args), argnums, has_aux)


def _rows_of(inner: Trace, argnums: Any, has_aux: bool) -> Trace:
    outputs, structure, extra, aux = _split(inner, has_aux)
    check_real(targets_of(inner, argnums), "input", "jacobian")
    check_real(outputs, "output", "jacobian")
    rows, name = [], f"jacobian_{inner.name}"
    for k, out in enumerate(outputs):
        rows += _jacobian_terms(inner, out, argnums, k)
    nested = _substituted(structure, target_structure(inner, argnums))
    return inner.derived(name, [*rows, *extra], _pair(nested, aux) if has_aux else nested)


def _hessian(function: Any, args: Sequence[Any], argnums: Any, _: bool) -> Trace:
    inner = _followed(function, args)
    if len(inner.outputs) != 1 or inner.outputs[0].shape != ():
        return _rows_of(_rows_of(inner, argnums, False), argnums, False)
    return _hessian_of(inner, inner.outputs[0], argnums)


def _hessian_of(inner: Trace, scalar: Output, argnums: Any) -> Trace:
    check_real(targets_of(inner, argnums), "input", "hessian")
    first = _gradients(inner, scalar, argnums)
    inner_structure = target_structure(inner, argnums)
    rows = [o for k, g in enumerate(first) for o in _jacobian_terms(inner, g, argnums, k)]
    made = inner.derived(f"hessian_{inner.name}", rows, _substituted(inner_structure, inner_structure))
    made.base = inner.derived(f"grad_{inner.name}", first, inner_structure)
    return made


class Layout(NamedTuple):
    """How a program's results make one block of a Hessian: of each part the numbers of its results, and its labels."""

    parts: list[tuple[list[int], list[Labels], Labels]]
    term: Term
    dtype: Any


def hessian_parts(function: Any, args: Sequence[Any], argnums: Any) -> tuple[Trace, list[Layout], Any]:
    """The trace whose results are the arrays of which a Hessian consists, how they make its blocks, and their nesting.

    Arrays that several blocks or parts have in common are one result.
    """
    inner = _followed(function, _floating(args, argnums))
    made = _hessian_of(inner, _scalar_of(inner, inner.outputs), argnums)
    results: dict[tuple[Term, Any], int] = {}
    layouts = []
    for block in made.outputs:
        found = []
        for part in parts(block.term):
            places = [results.setdefault((term, block.dtype), len(results)) for term in part.terms]
            # A block of axes of size 1 may be a single number; these axes then have labels of their own.
            found.append((places, part.labels, part.out or tuple(range(len(block.shape)))))
        layouts.append(Layout(found, block.term, block.dtype))
    outputs = [Output(term, dtype) for term, dtype in results]
    row = ("tuple", tuple(range(len(outputs))), (containers.LEAF,) * len(outputs))
    program = made.derived(f"parts_of_{made.name}", outputs, row)
    program.base = made.base
    return program, layouts, made.structure


def _substituted(structure: Any, leaf: Any) -> Any:
    """A structure with another one at every leaf."""
    if structure == containers.LEAF:
        return leaf
    if isinstance(structure, containers.Setting):
        return structure
    kind, keys, parts = structure
    return (kind, keys, tuple(_substituted(p, leaf) for p in parts))


def _jacobian_terms(inner: Trace, out: Output, argnums: Any, number: int) -> list[Output]:
    if out.shape == ():
        return _gradients(inner, out, argnums)
    found = []
    for target in targets_of(inner, argnums):
        term = jacobian_term(out.term, target.term)
        dtype = np.result_type(out.dtype, target.dtype)
        found.append(Output(term, dtype, (*out.shape, *target.shape), (inner.inputs.index(target), number)))
    return found


PIECES = 6
"""Of how many joined pieces each is derived for itself; of more, they are derived together."""


def jacobian_term(out: Term, target: Term) -> Term:
    """The Jacobian as one term with axes (output…, input…): structure stays products and diagonals.

    The Jacobian of what is reshaped is the reshaped Jacobian, and that of joined pieces are their Jacobians joined:
    each of them begins with an identity of its own, and with zeros nowhere.
    """
    x = out.args[0] if out.args else out
    if out.op is reshape_op and x.dtype == out.dtype and x.shape != ():
        return reshape_op(jacobian_term(x, target), shape=(*out.shape, *target.shape))  # type: ignore[no-any-return]
    if out.op is concat_op and len(out.args) <= PIECES and all(a.dtype == out.dtype for a in out.args):
        return concat_op(*(jacobian_term(a, target) for a in out.args), **out.params)  # type: ignore[no-any-return]
    return derive.jacobian(out, target)


_MAKERS: dict[str, Callable[[Any, Sequence[Any], Any, bool], Trace]] = {
    "grad": _grad,
    "value_and_grad": _value_and_grad,
    "jacobian": _jacobian,
    "hessian": _hessian,
}

"""Derivatives of functions, under the names of ``torch.func`` and JAX.

The functions take tensors, arrays, numbers and nested tuples, lists and dicts of them, and give tensors.  They nest to
any order, and ``symgrad.compile`` derives through them on formulas.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symgrad import autograd
from symgrad.autograd.jacobians import with_entries
from symgrad.batching import vmap
from symgrad.compiler import trace as tracing
from symgrad.compiler.derivatives import transformed
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import Op, lookup, shape_of
from symgrad.ops.fitting import fit
from symgrad.ops.kinks import steepest
from symgrad.ops.shaping import reshape, stack
from symgrad.tape import containers, dual
from symgrad.tape.dual import Dual
from symgrad.tape.modes import enable_grad, is_grad_enabled
from symgrad.tape.record import Recorded, plain, recorded
from symgrad.tape.watch import WATCH, watching
from symgrad.tensor import Tensor

__all__ = [
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linearize",
    "value_and_grad",
    "vjp",
    "vmap",
]

Argnums = int | Sequence[int]


# ---------------------------------------------------------------------------------------------- arguments


def _tensor(value: Any, name: str) -> Any:
    """A tensor of an argument; Python numbers become double precision, since precision is what derivatives need."""
    if isinstance(value, (Recorded, Dual)):
        return value
    if isinstance(value, (bool, int, float, complex)):
        value = np.complex128(value) if isinstance(value, complex) else np.float64(value)
    elif not isinstance(value, (np.ndarray, np.generic)):
        raise ArgumentError(
            f"{name} holds {type(value).__name__}; tensors, arrays and numbers can be differentiated by."
        )
    return plain(Tensor, value)


def _variable(tensor: Any, name: str, tie: bool) -> tuple[Any, Any]:
    """A new variable with the value of ``tensor``, and what the function gets of it.

    Where the tensor is tracked the variable is tied to it, so that derivatives nest; a dual keeps its tangent.
    """
    if isinstance(tensor, Dual):
        base, shown = _variable(_tensor(tensor.primal, name), name, tie)
        return base, Dual(shown, tensor.tangent, tensor.tag)
    if not is_floating(tensor.dtype):
        raise ArgumentError(
            f"{name} has dtype {tensor.dtype}; derivatives need a floating or complex dtype (cast it with .double())."
        )
    if tie and tensor._requires_grad:
        made = recorded(Tensor, lookup("clone"), tensor._value, (tensor.edge(),), [tensor._value], {}, 1)
        return made, made
    made = plain(Tensor, tensor._value)
    extra = made.more()
    extra.name = tensor._extra.name if tensor._extra is not None and tensor._extra.name else name
    made._requires_grad = True
    return made, made


class _Bound:
    """The arguments of one call: those differentiated by as new variables, the others as they are."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], argnums: Argnums):
        self.single = isinstance(argnums, int)
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        names = tracing.argument_names(function, len(args))
        names += [f"x{k + 1}" for k in range(len(names), len(args))]
        self.tie = is_grad_enabled() or watching() is not None
        self.args = [containers.tree_map(_other, arg) for arg in args]
        self.variables: list[Any] = []
        self.structures = []
        self.tracked = False
        for number in numbers:
            if not -len(args) <= number < len(args):
                raise ArgumentError(f"argnums={number} is out of range: the function was given {len(args)} arguments.")
            leaves, structure = containers.flatten(args[number])
            shown = []
            for leaf, name in zip(leaves, containers.paths(structure, names[number]), strict=True):
                base, value = _variable(_tensor(leaf, f"argument {name}"), name, self.tie)
                self.tracked = self.tracked or base._node is not None
                self.variables.append(base)
                shown.append(value)
            self.structures.append(structure)
            self.args[number] = containers.unflatten(structure, iter(shown))

    def nested(self, leaves: Iterator[Any]) -> Any:
        """Derivatives in the structure of the arguments."""
        parts = tuple(containers.unflatten(structure, leaves) for structure in self.structures)
        return parts[0] if self.single else parts

    def outer(self, outs: Sequence[Any]) -> bool:
        """Whether somebody outside may differentiate the derivative: a transform, a tracer, or other leaves."""
        if not self.tie:
            return False
        if self.tracked or (WATCH.count and watching() is not None):
            return True
        mine = {id(v) for v in self.variables}
        seen: set[int] = set()
        stack = [o._node for o in outs if isinstance(o, Recorded) and o._node is not None]
        while stack:
            node = stack.pop()
            for k, arg in enumerate(node.args):
                if node.mask >> k & 1 and id(arg) not in seen:
                    seen.add(id(arg))
                    if not isinstance(arg, Recorded):
                        stack.append(arg)
                    elif id(arg) not in mine and arg._requires_grad:
                        return True
        return False

    def close(self) -> None:
        """The transform is done: nobody outside differentiates by its variables."""
        for variable in self.variables:
            if variable._node is None:
                variable._requires_grad = False


def _other(leaf: Any) -> Any:
    return plain(Tensor, leaf) if isinstance(leaf, np.ndarray) else leaf


def _function(function: Any, name: str) -> None:
    if not callable(function):
        raise ArgumentError(f"{name}() takes a function first, not {type(function).__name__} ({function!r:.40}).")


def _call(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], has_aux: bool) -> tuple[Any, Any]:
    with enable_grad():
        result = function(*args, **kwargs)
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError(
            f"has_aux=True needs a function that gives (output, aux), but it gave {type(result).__name__}."
        )
    return result


def _as_result(value: Any) -> Any:
    return value if isinstance(value, (Recorded, Dual)) else plain(Tensor, np.asarray(value)[()])


def _settled(value: Any) -> Any:
    """A result that nobody outside differentiates: its formula stays, its grad goes."""
    if isinstance(value, Dual):
        return Dual(_settled(value.primal), _settled(value.tangent), value.tag)
    if not isinstance(value, Recorded) or not value._requires_grad or value._node is None:
        return value
    made = plain(Tensor, value._value)
    made._node = value._node
    return made


def _flat_parts(out: Any) -> list[Any]:
    """The tensors that a result consists of: itself, or the primals and tangents of a dual."""
    return [*_flat_parts(out.primal), *_flat_parts(out.tangent)] if isinstance(out, Dual) else [out]


# ---------------------------------------------------------------------------------------------- reverse mode


def _pull(out: Any, variables: Sequence[Any], seed: Any, create: bool) -> list[Any]:
    """Cotangents of the variables from one result; the cotangent of a dual is a dual."""
    if isinstance(out, Dual):
        seed_primal, seed_tangent = dual.parts(seed, out.tag)
        primal = _pull(out.primal, variables, seed_primal, create)
        tangent = _pull(out.tangent, variables, seed_primal, create)
        if seed_tangent is not None:
            more = _pull(out.primal, variables, seed_tangent, create)
            tangent = [a + b for a, b in zip(tangent, more, strict=True)]
        return [Dual(p, t, out.tag) for p, t in zip(primal, tangent, strict=True)]
    if isinstance(seed, Dual):
        primal = _pull(out, variables, seed.primal, create)
        tangent = _pull(out, variables, seed.tangent, create)
        return [Dual(p, t, seed.tag) for p, t in zip(primal, tangent, strict=True)]
    found: Sequence[Any] = [None] * len(variables)
    if isinstance(out, Recorded) and out._requires_grad:
        seeds = None if seed is None else [_tensor(seed, "the cotangent")]
        found = autograd.grad([out], variables, seeds, retain_graph=True, create_graph=create, allow_unused=True)
    return [
        plain(Tensor, np.zeros_like(v._value)[()]) if g is None else g for g, v in zip(found, variables, strict=True)
    ]


def _scalar(out: Any, name: str) -> Any:
    out = _as_result(out)
    if tuple(shape_of(out)) != ():
        raise AutogradError(
            f"{name}() needs a function with a scalar result, but it gave shape {tuple(shape_of(out))}; sum or average "
            "it, or use jacobian()."
        )
    return out


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of a scalar function by its arguments ``argnums``.

    The gradient has the structure, shapes and dtypes of the argument (a tuple for several).  With ``has_aux`` the
    function gives ``(output, aux)`` and the gradient function ``(gradient, aux)``.  Nesting gives higher derivatives.

    >>> import symgrad as sg
    >>> sg.func.grad(sg.func.grad(lambda x: x**3))(2.0)
    tensor(12., dtype=float64)
    """
    _function(func, "grad")
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return transformed(gradient, "grad", func, argnums, has_aux)


def value_and_grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives ``(value, gradient)``; with ``has_aux`` it gives ``((value, aux), gradient)``.

    >>> import symgrad as sg
    >>> sg.func.value_and_grad(lambda x: x**2)(3.0)
    (tensor(9., dtype=float64), tensor(6., dtype=float64))
    """
    _function(func, "value_and_grad")

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        bound = _Bound(func, args, argnums)
        out, aux = _call(func, bound.args, kwargs, has_aux)
        out = _scalar(out, "grad")
        outer = bound.outer(_flat_parts(out))
        found = bound.nested(iter(_pull(out, bound.variables, None, outer)))
        bound.close()
        if not outer:
            out, aux = _settled(out), containers.tree_map(_settled, aux)
        return ((out, aux) if has_aux else out), found

    return transformed(both, "value_and_grad", func, argnums, has_aux)


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives ``(gradient, value)``, torch's order; with ``has_aux``, ``(gradient, (value, aux))``.

    >>> import symgrad as sg
    >>> sg.func.grad_and_value(lambda x: x**2)(3.0)
    (tensor(6., dtype=float64), tensor(9., dtype=float64))
    """
    _function(func, "grad_and_value")
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def swapped(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return found, value

    return swapped


def jacobian(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the Jacobian: axes (output…, input…), nested as outputs of arguments.

    >>> import symgrad as sg, numpy as np
    >>> sg.func.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]], dtype=float64)
    """
    _function(func, "jacobian")

    @functools.wraps(func)
    def rows(*args: Any, **kwargs: Any) -> Any:
        bound = _Bound(func, args, argnums)
        result, aux = _call(func, bound.args, kwargs, has_aux)
        leaves, structure = containers.flatten(result)
        leaves = [_as_result(leaf) for leaf in leaves]
        outer = bound.outer([part for leaf in leaves for part in _flat_parts(leaf)])
        found = [bound.nested(iter(_rows(leaf, bound.variables, outer))) for leaf in leaves]
        bound.close()
        nested = containers.unflatten(structure, iter(found))
        return (nested, containers.tree_map(lambda a: a if outer else _settled(a), aux)) if has_aux else nested

    return transformed(rows, "jacobian", func, argnums, has_aux)


jacrev = jacfwd = jacobian


def _rows(out: Any, variables: Sequence[Any], create: bool) -> list[Any]:
    """The Jacobian of one result by every variable, one vector-Jacobian product per entry."""
    shape = tuple(shape_of(out))
    if not shape:
        return _pull(out, variables, None, create)
    count = int(np.prod(shape, dtype=int))
    table = []
    for k in range(count):
        seed = np.zeros(count, out.dtype)
        seed[k] = 1
        table.append(_pull(out, variables, seed.reshape(shape), create))
    found = []
    for j, v in enumerate(variables):
        target = (*shape, *v._value.shape)
        if not count:
            found.append(plain(Tensor, np.zeros(target, v.dtype)))
        else:
            found.append(with_entries(reshape(stack([row[j] for row in table], 0), *target), out, v))
    return found


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that gives the Hessian of a scalar function: axes (input…, input…).

    >>> import symgrad as sg, numpy as np
    >>> sg.func.hessian(lambda x: (x**3).sum())(np.array([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]], dtype=float64)
    """
    _function(func, "hessian")
    second = jacobian(jacobian(func, argnums), argnums)
    return transformed(
        functools.wraps(func)(lambda *args, **kwargs: second(*args, **kwargs)), "hessian", func, argnums, False
    )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``(output, pull)``: the value, and the function that takes a cotangent of it to the cotangents of the primals.

    ``pull(cotangent)`` gives a tuple with one entry per primal; without argument the cotangent of a scalar is 1.  With
    ``has_aux`` the result is ``(output, pull, aux)``.

    >>> import symgrad as sg, numpy as np
    >>> out, pull = sg.func.vjp(lambda x: x * x, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 10.0]))
    (tensor([ 2., 40.], dtype=float64),)
    """
    _function(func, "vjp")
    bound = _Bound(func, primals, tuple(range(len(primals))))
    result, aux = _call(func, bound.args, {}, has_aux)
    leaves, structure = containers.flatten(result)
    leaves = [_as_result(leaf) for leaf in leaves]
    outer = bound.outer([part for leaf in leaves for part in _flat_parts(leaf)])

    def pull(*cotangents: Any) -> Any:
        seeds, given = containers.flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if not cotangents and len(leaves) == 1 and shape_of(leaves[0]) == ():
            seeds, given = [np.ones((), leaves[0].dtype)[()]], structure
        if given != structure:
            raise ArgumentError(f"the cotangent must be nested as the output, {structure}, but is {given}.")
        total: list[Any] | None = None
        for leaf, seed in zip(leaves, seeds, strict=True):
            value = seed if isinstance(seed, (Recorded, Dual)) else np.asarray(seed, leaf.dtype)[()]
            create = outer or any(isinstance(s, Recorded) and s._requires_grad for s in _flat_parts(value))
            found = _pull(leaf, bound.variables, value, create)
            total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
        return bound.nested(iter(total or ()))

    shown = result if outer else containers.unflatten(structure, iter([_settled(leaf) for leaf in leaves]))
    return (shown, pull, aux) if has_aux else (shown, pull)


# ---------------------------------------------------------------------------------------------- forward mode


def jvp(func: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False) -> Any:
    """``(output, tangent)``: the value and its derivative along ``tangents``, in one forward pass.

    ``primals`` and ``tangents`` are tuples of equal structure and shapes.  With ``has_aux`` the result is
    ``(output, tangent, aux)``.

    >>> import symgrad as sg
    >>> sg.func.jvp(lambda x: x**3, (2.0,), (1.0,))
    (tensor(8., dtype=float64), tensor(12., dtype=float64))
    """
    _function(func, "jvp")
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise ArgumentError("jvp() takes tuples: jvp(f, (x, y), (dx, dy)).")
    values, structure = containers.flatten(tuple(primals))
    moves, given = containers.flatten(tuple(tangents))
    if given != structure:
        raise ArgumentError(f"primals and tangents must be nested alike: {structure} and {given}.")
    tag = dual.new_tag()
    row = []
    for k, (value, move) in enumerate(zip(values, moves, strict=True)):
        primal = _tensor(value, f"primal {k}")
        if not is_floating(primal.dtype):
            raise ArgumentError(f"primal {k} has dtype {primal.dtype}; derivatives need a floating or complex dtype.")
        tangent = _tensor(move, f"tangent {k}")
        row.append(dual.make_dual(primal, fit(tangent, shape_of(tangent), primal.dtype), tag))
    args = containers.unflatten(structure, iter(row))
    result, aux = _call(func, args, {}, has_aux)
    leaves, out_structure = containers.flatten(result)
    pairs = [dual.parts(_as_result(leaf), tag) for leaf in leaves]
    out = containers.unflatten(out_structure, iter([_as_result(p) for p, _ in pairs]))
    moved = [plain(Tensor, np.zeros(shape_of(p), p.dtype)[()]) if t is None else _as_result(t) for p, t in pairs]
    pushed = containers.unflatten(out_structure, iter(moved))
    aux = containers.tree_map(lambda a: dual.parts(a, tag)[0], aux)
    return (out, pushed, aux) if has_aux else (out, pushed)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(output, push)``: the value, and the linear map that takes tangents of the primals to that of the output.

    The function runs once; ``push(*tangents)`` costs no further run of it.

    >>> import symgrad as sg
    >>> out, push = sg.func.linearize(lambda x: x**3, 2.0)
    >>> out, push(1.0), push(10.0)
    (tensor(8., dtype=float64), tensor(12., dtype=float64), tensor(120., dtype=float64))
    """
    _function(func, "linearize")
    bound = _Bound(func, primals, tuple(range(len(primals))))
    result, _ = _call(func, bound.args, {}, False)
    leaves, structure = containers.flatten(result)
    leaves = [_as_result(leaf) for leaf in leaves]
    outer = bound.outer([part for leaf in leaves for part in _flat_parts(leaf)])
    # A vector-Jacobian product is linear in its cotangent, so its derivative by the cotangent is the Jacobian.
    probes = [_variable(plain(Tensor, np.zeros(shape_of(o), o.dtype)[()]), "probe", False)[0] for o in leaves]
    pulled: list[Any] = [None] * len(bound.variables)
    with enable_grad():
        for leaf, probe in zip(leaves, probes, strict=True):
            found = _pull(leaf, bound.variables, probe, True)
            pulled = [g if total is None else total + g for total, g in zip(pulled, found, strict=True)]

    def push(*tangents: Any) -> Any:
        moves, given = containers.flatten(tangents)
        wanted = ("tuple", tuple(range(len(bound.structures))), tuple(bound.structures))
        if given != wanted:
            raise ArgumentError(f"the tangents must be nested as the primals, {wanted}, but are {given}.")
        pairs = []
        for k, (g, move, v) in enumerate(zip(pulled, moves, bound.variables, strict=True)):
            tangent = _tensor(move, f"tangent {k}")
            if shape_of(tangent) != shape_of(v):
                raise ArgumentError(f"tangent {k} has shape {shape_of(tangent)}, but its primal has {shape_of(v)}.")
            if isinstance(g, Recorded) and g._requires_grad:
                pairs.append((g, fit(tangent, shape_of(v), v.dtype)))
        found: Sequence[Any] = [None] * len(probes)
        if pairs:
            seeds = [t for _, t in pairs]
            found = autograd.grad(
                [g for g, _ in pairs], probes, seeds, retain_graph=True, create_graph=outer, allow_unused=True
            )
        rows = [
            plain(Tensor, np.zeros(shape_of(p), p.dtype)[()]) if g is None else g
            for g, p in zip(found, probes, strict=True)
        ]
        return containers.unflatten(structure, iter(rows))

    shown = result if outer else containers.unflatten(structure, iter([_settled(leaf) for leaf in leaves]))
    return shown, push


def _transposed(op: Op, i: int, tangent: Any, out: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The tangent of an op without a tangent rule: its vjp, linear in the cotangent, is transposed on the tape."""

    def pulled(cotangent: Any) -> Any:
        found = op.pullback(i, cotangent, out, inputs, params)
        return fit(_as_result(found), shape_of(inputs[i]), inputs[i].dtype)

    probe = plain(Tensor, np.zeros(shape_of(out), out.dtype)[()])
    with steepest():
        _, back = vjp(pulled, probe)
        return back(tangent)[0]


dual._TRANSPOSE.append(_transposed)

"""Gradients, Jacobians and Hessians of functions, and products of vectors with Jacobians."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, TypeAlias, TypeVar, overload

import numpy as np

from symgrad import autograd
from symgrad.autograd.jacobians.columns import pushed_columns
from symgrad.autograd.jacobians.recorded import check_real, rows_at_once, units, with_entries
from symgrad.compiler.derivatives import transformed
from symgrad.compiler.transforms import transform_of
from symgrad.errors import ArgumentError, AutogradError
from symgrad.func.bound import (
    NOT_KNOWN,
    NUMBERS,
    Argnums,
    Bound,
    as_result,
    as_tensor,
    check_function,
    deriving,
    flat_parts,
    overwriting,
    refuse_path,
    results,
    run,
    settled,
    watched,
)
from symgrad.func.chances import drawing
from symgrad.op import shape_of
from symgrad.ops.rules.fitting import fit
from symgrad.ops.shapes.joining import stack
from symgrad.ops.shapes.shaping import reshape
from symgrad.tape import containers
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, row_of
from symgrad.tape.forward.dual import Dual
from symgrad.tape.modes import switches_noticed
from symgrad.tape.record import Recorded
from symgrad.tensor import Tensor
from symgrad.tensor.creation import zeros

if TYPE_CHECKING:
    # What a function is differentiated by, and what its gradient is like; lambdas are taken as they are.
    Argument = TypeVar("Argument", bound=Any)
    Scalar: TypeAlias = Callable[Concatenate[Argument, ...], Any]

# ---------------------------------------------------------------------------------------------- reverse mode


def pull_back(out: Any, variables: Sequence[Any], seed: Any, create: bool) -> list[Any]:
    """Cotangents of the variables from one result; the cotangent of a dual is a dual."""
    refuse_path(out, "the result")
    refuse_path(seed, "the cotangent")
    if isinstance(out, Bundle):
        rows = [pull_back(row, variables, row_of(seed, out.tag, k), create) for k, row in enumerate(out.each())]
        return [out.like(column) for column in zip(*rows, strict=True)]
    if isinstance(out, Dual):
        seed_primal, seed_tangent = dual.parts(seed, out.tag)
        primal = pull_back(out.primal, variables, seed_primal, create)
        tangent = pull_back(out.tangent, variables, seed_primal, create)
        if seed_tangent is not None:
            more = pull_back(out.primal, variables, seed_tangent, create)
            tangent = [a + b for a, b in zip(tangent, more, strict=True)]
        return [Dual(p, t, out.tag) for p, t in zip(primal, tangent, strict=True)]
    if isinstance(seed, Dual):
        primal = pull_back(out, variables, seed.primal, create)
        tangent = pull_back(out, variables, seed.tangent, create)
        return [Dual(p, t, seed.tag) for p, t in zip(primal, tangent, strict=True)]
    if isinstance(seed, Bundle):
        rows = [pull_back(out, variables, row, create) for row in seed.each()]
        return [seed.like(column) for column in zip(*rows, strict=True)]
    found: Sequence[Any] = [None] * len(variables)
    if isinstance(out, Recorded) and out._requires_grad:
        seeds = None if seed is None else [as_tensor(seed, "the cotangent")]
        found = autograd.grad([out], variables, seeds, retain_graph=True, create_graph=create, allow_unused=True)
        for g in found:
            if g is not None and g._extra is not None:
                g._extra.given = True  # torch unwraps it, whatever its engine did on the way
    return [
        zeros(v._value.shape, dtype=v._value.dtype) if g is None else g for g, v in zip(found, variables, strict=True)
    ]


_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"
JVP = "jvp(f, primals, tangents)"


def _scalar(out: Any) -> Any:
    if isinstance(out, (tuple, list, dict, str)) or out is None:
        several = isinstance(out, (tuple, list, dict)) and bool(out)
        rest = ". For the derivatives of several results take func.jacrev; for a gradient, return their sum." * several
        raise ArgumentError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(out)}{rest}")
    if isinstance(out, NUMBERS):
        raise ArgumentError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(out)}{NOT_KNOWN}")
    out = as_result(out)
    shape = tuple(shape_of(out))
    if shape:
        raise AutogradError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {len(shape)} dims. Maybe you "
            f"wanted to use the vjp or jacrev APIs instead? Its shape is {shape}; sum or average it."
        )
    return out


@overload
def grad(
    func: Scalar[Argument], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[..., Argument]: ...
@overload
def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of a scalar function by its arguments ``argnums``.

    The gradient has the structure, shapes and dtypes of the argument (a tuple for several): a number or an array, or
    tuples, lists, dicts and dataclasses of them.  Fields of a dataclass that are strings, flags, functions or whole
    numbers declared ``int`` are settings, and None in the gradient.  With ``has_aux`` the function gives
    ``(output, aux)`` and the gradient function ``(gradient, aux)``.  Nesting gives higher derivatives.

    >>> import symgrad as sg
    >>> sg.func.grad(sg.func.grad(lambda x: x**3))(2.0)
    tensor(12., dtype=float64)
    """
    check_function(func, "grad")
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return transformed(gradient, "grad", func, argnums, has_aux)


@overload
def value_and_grad(
    func: Scalar[Argument], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[..., tuple[Tensor, Argument]]: ...
@overload
def value_and_grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
def value_and_grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives ``(value, gradient)``; with ``has_aux`` it gives ``((value, aux), gradient)``.

    >>> import symgrad as sg
    >>> sg.func.value_and_grad(lambda x: x**2)(3.0)
    (tensor(9., dtype=float64), tensor(6., dtype=float64))
    """
    check_function(func, "value_and_grad")

    @functools.wraps(func)
    @overwriting
    def both(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound = Bound(func, args, argnums)
            with bound.closed():
                out, aux = run(func, bound.args, kwargs, has_aux, _GRAD, bound.of_arrays)
            out = _scalar(out)
            outer = bound.outer(flat_parts(out))
            found = bound.nested(iter(pull_back(out, bound.variables, None, outer)))
            bound.close()
        if not outer:
            out = settled(out)
        return ((out, bound.beside(aux)) if has_aux else out), found

    return transformed(both, "value_and_grad", func, argnums, has_aux)


@overload
def grad_and_value(
    func: Scalar[Argument], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[..., tuple[Argument, Tensor]]: ...
@overload
def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives ``(gradient, value)``, torch's order; with ``has_aux``, ``(gradient, (value, aux))``.

    >>> import symgrad as sg
    >>> sg.func.grad_and_value(lambda x: x**2)(3.0)
    (tensor(6., dtype=float64), tensor(9., dtype=float64))
    """
    check_function(func, "grad_and_value")
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def swapped(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return found, value

    return swapped


@overload
def jacobian(
    func: Scalar[Argument], argnums: Literal[0] = 0, has_aux: Literal[False] = False
) -> Callable[..., Argument]: ...
@overload
def jacobian(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
def jacobian(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the Jacobian: axes (output…, input…), nested as outputs of arguments.

    Raises ``RuntimeError`` for complex arguments and results, which have no one Jacobian.

    >>> import symgrad as sg, numpy as np
    >>> sg.func.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]], dtype=float64)
    """
    return _pulled_back(func, argnums, has_aux, "jacobian")


def _pulled_back(
    func: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    name: str,
    chunk_size: int | None = None,
    as_pushed: bool = False,
) -> Callable[..., Any]:
    """:func:`jacobian`, of which ``chunk_size`` rows are computed at once; ``name`` is what the user called.

    ``as_pushed``: in the dtypes of the outputs, as forward mode gives it, and not in those of the variables.
    """
    check_function(func, name)

    @functools.wraps(func)
    @overwriting
    def rows(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound = Bound(func, args, argnums)
            check_real(bound.variables, "input", name)
            with bound.closed():
                result, aux = run(func, bound.args, kwargs, has_aux, _VJP, bound.of_arrays)
            leaves, structure = results(result, _VJP)
            check_real(leaves, "output", name)
            outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])
            blocks = [_rows(leaf, bound.variables, outer, chunk_size) for leaf in leaves]
            if as_pushed:
                both = zip(leaves, blocks, strict=True)
                blocks = [[fit(b, tuple(shape_of(b)), leaf.dtype) for b in row] for leaf, row in both]
            found = [bound.nested(iter(row)) for row in blocks]
            bound.close()
        nested = containers.unflatten(structure, iter(found))
        return (nested, bound.beside(aux)) if has_aux else nested

    return transformed(rows, "jacobian", func, argnums, has_aux)


@overload
def jacrev(
    func: Scalar[Argument], argnums: Literal[0] = 0, *, has_aux: Literal[False] = False, chunk_size: int | None = None
) -> Callable[..., Argument]: ...
@overload
def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Any: ...
def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """:func:`jacobian`, with torch's arguments; ``chunk_size`` is how many rows are computed at once.

    >>> import symgrad as sg
    >>> sg.func.jacrev(lambda x: x.sum())(sg.ones(2))
    tensor([1., 1.])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ArgumentError("jacrev: `chunk_size` should be greater than 0.")
    return _pulled_back(func, argnums, has_aux, "jacrev", chunk_size)


@overload
def jacfwd(
    func: Scalar[Argument], argnums: Literal[0] = 0, has_aux: Literal[False] = False, *, randomness: str = "error"
) -> Callable[..., Argument]: ...
@overload
def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Any: ...
def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """:func:`jacobian` by forward mode: the function runs once, along all unit tangents of the arguments.

    That is cheap where there are more outputs than inputs.  The Jacobian has the dtypes of the outputs.  Random
    functions are refused unless ``randomness`` is ``"same"`` (all columns are those of one function) or ``"different"``
    (every column has numbers of its own, from a run of its own).  Raises ``RuntimeError`` for complex arguments and
    results, which have no one Jacobian.

    >>> import symgrad as sg
    >>> sg.func.jacfwd(lambda x: x * x)(sg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    check_function(func, "jacfwd")
    if randomness not in ("error", "different", "same"):
        raise ArgumentError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")

    inner = transform_of(func)
    gradient = (
        inner is not None and inner.kind in ("grad", "jacobian", "hessian") and not has_aux and randomness == "error"
    )

    @functools.wraps(func)
    def pushed(*args: Any, **kwargs: Any) -> Any:
        if gradient and (second := _rows_of_gradient(func, args, kwargs, argnums)) is not None:
            return second
        with deriving():
            bound = Bound(func, args, argnums, pulled=False)
            check_real(bound.variables, "input", "jacfwd")
            structures: list[Any] = []

            def moved(row: list[Any]) -> tuple[list[Any], Any]:
                with bound.closed(), drawing(randomness) as start:
                    start()
                    result, aux = run(func, bound.given(row), kwargs, has_aux, JVP, bound.of_arrays)
                leaves, structure = results(result, JVP)
                check_real(leaves, "output", "jacfwd")
                structures.append(structure)
                return leaves, functools.partial(_mapped, aux)

            found, aux = pushed_columns(moved, bound.shown, randomness != "different")
        rows = iter([bound.nested(iter(blocks)) for blocks in found])
        nested = containers.unflatten(structures[0], rows)
        return (nested, aux) if has_aux else nested

    return transformed(pushed, "jacobian", func, argnums, has_aux)


def _rows_of_gradient(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], argnums: Argnums) -> Any:
    """The Jacobian of a function that is a gradient: it has as many rows as columns, and rows go all at once.

    None where they do not: beside functions of the user's own, under other transforms, and of dtypes that differ; also
    where the function switches recording off, which forward mode moves through.
    """
    with deriving(), switches_noticed() as switched:
        bound = Bound(func, args, argnums)
        if any(not isinstance(v, Tensor) or isinstance(v, Dual) or v.dtype.kind == "c" for v in bound.shown):
            return None
        with bound.closed(), drawing("error"):
            result, _ = run(func, bound.args, kwargs, False, _VJP, bound.of_arrays)
        leaves, structure = results(result, _VJP)
        known = all(isinstance(leaf, Recorded) and leaf._requires_grad for leaf in leaves)
        if (
            not known
            or switched()
            or bound.outer(leaves)
            or {x.dtype for x in (*leaves, *bound.variables)} != {leaves[0].dtype}
        ):
            return None
        found = []
        for leaf in leaves:
            rows = rows_at_once(leaf, bound.variables, False)
            if rows is None:
                return None
            found.append(bound.nested(iter(rows)))
        bound.close()
    return containers.unflatten(structure, iter(found))


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    return containers.tree_map(function, tree)


def _rows(out: Any, variables: Sequence[Any], create: bool, chunk_size: int | None) -> list[Any]:
    """The Jacobian of one result by every variable: a vector-Jacobian product per entry, together where they can be."""
    shape = tuple(shape_of(out))
    if not shape:
        return pull_back(out, variables, None, create)
    together = rows_at_once(out, variables, create, chunk_size)
    if together is not None:
        return together
    table = [pull_back(out, variables, unit, create) for unit in units(shape, out.dtype)]
    found = []
    for j, v in enumerate(variables):
        target = (*shape, *v._value.shape)
        if not table:
            found.append(zeros(target, dtype=v.dtype))
        else:
            found.append(with_entries(reshape(stack([row[j] for row in table], 0), *target), out, v))
    return found


@overload
def hessian(func: Scalar[Argument], argnums: Literal[0] = 0) -> Callable[..., Argument]: ...
@overload
def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Any: ...
def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that gives the Hessian of a scalar function: axes (input…, input…).

    Raises ``AutogradError`` where an input or the result is complex: ``autograd.wirtinger`` takes such derivatives.

    >>> import symgrad as sg, numpy as np
    >>> sg.func.hessian(lambda x: (x**3).sum())(np.array([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]], dtype=float64)
    """
    check_function(func, "hessian")
    first = jacobian(func, argnums)
    pulled, pushed = _pulled_back(first, argnums, False, "jacobian", as_pushed=True), jacfwd(first, argnums)

    @functools.wraps(func)
    def second(*args: Any, **kwargs: Any) -> Any:
        with switches_noticed() as switched:
            found = pulled(*args, **kwargs)
            if not switched():
                return found
        return pushed(*args, **kwargs)  # what runs under no_grad() moves in forward mode, which torch takes here

    return transformed(second, "hessian", func, argnums, False)


@overload
def vjp(
    func: Callable[..., Tensor], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Tensor, Callable[..., tuple[Tensor, ...]]]: ...
@overload
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any: ...
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``(output, pull)``: the value, and the function that takes a cotangent of it to the cotangents of the primals.

    ``pull(cotangent)`` gives a tuple with one entry per primal; without argument the cotangent of a scalar is 1.  It
    can be called again and again, and what it gives is differentiable where the primals are, unless it is called with
    ``create_graph=False``; ``retain_graph`` changes nothing.  With ``has_aux`` the result is ``(output, pull, aux)``.

    >>> import symgrad as sg, numpy as np
    >>> out, pull = sg.func.vjp(lambda x: x * x, np.array([1.0, 2.0]))
    >>> pull(np.array([1.0, 10.0]))
    (tensor([ 2., 40.], dtype=float64),)
    """
    check_function(func, "vjp")
    with deriving():
        bound = Bound(func, primals, tuple(range(len(primals))), tie=True)
        with bound.closed():
            result, aux = run(func, bound.args, {}, has_aux, _VJP, bound.of_arrays)
        leaves, structure = results(result, _VJP)
        outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])
        bound.keep()

    def pull(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:  # noqa: ARG001
        with deriving():
            return pulled(cotangents, watched() if create_graph is None else create_graph)

    def pulled(cotangents: tuple[Any, ...], followed: bool) -> Any:
        seeds, given = containers.flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        if not cotangents and len(leaves) == 1 and shape_of(leaves[0]) == ():
            seeds, given = [np.ones((), leaves[0].dtype)[()]], structure
        if containers.without_settings(given) != containers.without_settings(structure):
            raise ArgumentError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {containers.shown(given)}, primal output: {containers.shown(structure)}"
            )
        total: list[Any] | None = None
        for leaf, seed in zip(leaves, seeds, strict=True):
            value = seed if isinstance(seed, (Recorded, Dual)) else np.asarray(seed, leaf.dtype)[()]
            moving = outer or any(isinstance(s, Recorded) and s._requires_grad for s in flat_parts(value))
            found = pull_back(leaf, bound.variables, value, followed and moving)
            total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
        return bound.nested(iter(total or ()))

    kept = outer and watched()
    shown = (
        result if kept else containers.unflatten(structure, iter([settled(leaf, bound.variables) for leaf in leaves]))
    )
    return (shown, pull, bound.beside(aux)) if has_aux else (shown, pull)

"""Gradients, Jacobians and Hessians of functions, and their products with vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad import autograd
from symgrad.autograd.jacobians.columns import pushed_columns
from symgrad.autograd.jacobians.recorded import with_entries
from symgrad.autograd.jacobians.rows import pulled_rows, recorded_rows
from symgrad.autograd.sweeps.rescue import has_nan
from symgrad.compiler.derivatives import transformed
from symgrad.compiler.transforms import transform_of
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError, SymgradError
from symgrad.func.bound import (
    Argnums,
    Bound,
    as_result,
    as_tensor,
    as_variable,
    check_function,
    deriving,
    flat_parts,
    refuse_path,
    results,
    run,
    settled,
    watched,
)
from symgrad.func.chances import drawing
from symgrad.op import Op, shape_of
from symgrad.ops.elementwise.choosing import where
from symgrad.ops.rules.fitting import fit
from symgrad.ops.rules.kinks import keeps_nan, steepest
from symgrad.ops.shapes.joining import stack
from symgrad.ops.shapes.shaping import reshape
from symgrad.tape import containers
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, row_of
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.jets import Jet
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.watch import watching
from symgrad.tensor import Tensor
from symgrad.tensor.creation import zeros
from symgrad.tensor.moving import settle

# ---------------------------------------------------------------------------------------------- reverse mode


def _pull(out: Any, variables: Sequence[Any], seed: Any, create: bool) -> list[Any]:
    """Cotangents of the variables from one result; the cotangent of a dual is a dual."""
    refuse_path(out, "the result")
    refuse_path(seed, "the cotangent")
    if isinstance(out, Bundle):
        rows = [_pull(row, variables, row_of(seed, out.tag, k), create) for k, row in enumerate(out.each())]
        return [out.like(column) for column in zip(*rows, strict=True)]
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
    if isinstance(seed, Bundle):
        rows = [_pull(out, variables, row, create) for row in seed.each()]
        return [seed.like(column) for column in zip(*rows, strict=True)]
    found: Sequence[Any] = [None] * len(variables)
    if isinstance(out, Recorded) and out._requires_grad:
        seeds = None if seed is None else [as_tensor(seed, "the cotangent")]
        found = autograd.grad([out], variables, seeds, retain_graph=True, create_graph=create, allow_unused=True)
    return [
        zeros(v._value.shape, dtype=v._value.dtype) if g is None else g for g, v in zip(found, variables, strict=True)
    ]


_GRAD = "grad_and_value(f)(*args)"
_VJP = "vjp(f, *primals)"
_JVP = "jvp(f, primals, tangents)"


def _scalar(out: Any) -> Any:
    if isinstance(out, (tuple, list, dict, str)) or out is None:
        raise ArgumentError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(out)}")
    out = as_result(out)
    shape = tuple(shape_of(out))
    if shape:
        raise AutogradError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {len(shape)} dims. Maybe you "
            f"wanted to use the vjp or jacrev APIs instead? Its shape is {shape}; sum or average it."
        )
    return out


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


def value_and_grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives ``(value, gradient)``; with ``has_aux`` it gives ``((value, aux), gradient)``.

    >>> import symgrad as sg
    >>> sg.func.value_and_grad(lambda x: x**2)(3.0)
    (tensor(9., dtype=float64), tensor(6., dtype=float64))
    """
    check_function(func, "value_and_grad")

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound = Bound(func, args, argnums)
            with bound.closed():
                out, aux = run(func, bound.args, kwargs, has_aux, _GRAD)
            out = _scalar(out)
            outer = bound.outer(flat_parts(out))
            found = bound.nested(iter(_pull(out, bound.variables, None, outer)))
            bound.close()
        if not outer:
            out, aux = settled(out), containers.tree_map(settled, aux)
        return ((out, aux) if has_aux else out), found

    return transformed(both, "value_and_grad", func, argnums, has_aux)


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


def jacobian(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the Jacobian: axes (output…, input…), nested as outputs of arguments.

    >>> import symgrad as sg, numpy as np
    >>> sg.func.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]], dtype=float64)
    """
    return _pulled_back(func, argnums, has_aux)


def _pulled_back(
    func: Callable[..., Any], argnums: Argnums, has_aux: bool, chunk_size: int | None = None
) -> Callable[..., Any]:
    """:func:`jacobian`, of which ``chunk_size`` rows are computed at once."""
    check_function(func, "jacobian")

    @functools.wraps(func)
    def rows(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound = Bound(func, args, argnums)
            with bound.closed():
                result, aux = run(func, bound.args, kwargs, has_aux, _VJP)
            leaves, structure = results(result, _VJP)
            outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])
            found = [bound.nested(iter(_rows(leaf, bound.variables, outer, chunk_size))) for leaf in leaves]
            bound.close()
        nested = containers.unflatten(structure, iter(found))
        return (nested, containers.tree_map(lambda a: a if outer else settled(a), aux)) if has_aux else nested

    return transformed(rows, "jacobian", func, argnums, has_aux)


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
    return _pulled_back(func, argnums, has_aux, chunk_size)


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
            _check_real(bound.variables, "input")
            structures: list[Any] = []

            def moved(row: list[Any]) -> tuple[list[Any], Any]:
                with bound.closed(), drawing(randomness) as start:
                    start()
                    result, aux = run(func, bound.given(row), kwargs, has_aux, _JVP)
                leaves, structure = results(result, _JVP)
                _check_real(leaves, "output")
                structures.append(structure)
                return leaves, functools.partial(_mapped, aux)

            found, aux = pushed_columns(moved, bound.shown, randomness != "different")
        rows = iter([bound.nested(iter(blocks)) for blocks in found])
        nested = containers.unflatten(structures[0], rows)
        return (nested, aux) if has_aux else nested

    return transformed(pushed, "jacobian", func, argnums, has_aux)


def _rows_of_gradient(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], argnums: Argnums) -> Any:
    """The Jacobian of a function that is a gradient: it has as many rows as columns, and rows go all at once.

    None where they do not: beside functions of the user's own, under other transforms, and of dtypes that differ.
    """
    with deriving():
        bound = Bound(func, args, argnums)
        if any(not isinstance(v, Tensor) or isinstance(v, Dual) or v.dtype.kind == "c" for v in bound.shown):
            return None
        with bound.closed(), drawing("error"):
            result, _ = run(func, bound.args, kwargs, False, _VJP)
        leaves, structure = results(result, _VJP)
        known = all(isinstance(leaf, Recorded) and leaf._requires_grad for leaf in leaves)
        if not known or bound.outer(leaves) or {x.dtype for x in (*leaves, *bound.variables)} != {leaves[0].dtype}:
            return None
        found = []
        for leaf in leaves:
            stacks = pulled_rows(leaf, bound.variables)
            if stacks is None:
                return None
            shaped = (s.reshape(*shape_of(leaf), *shape_of(v)) for s, v in zip(stacks, bound.variables, strict=True))
            rows = [with_entries(plain(Tensor, s), leaf, v) for s, v in zip(shaped, bound.variables, strict=True)]
            found.append(bound.nested(iter(rows)))
        bound.close()
    return containers.unflatten(structure, iter(found))


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    return containers.tree_map(function, tree)


def _check_real(values: Sequence[Any], what: str) -> None:
    for k, value in enumerate(values):
        if value.dtype.kind == "c":
            raise AutogradError(
                f"jacfwd: Expected all {what}s to be real but received complex tensor at flattened input idx: {k}; "
                "sg.autograd.wirtinger gives both derivatives by a complex variable."
            )


def _rows(out: Any, variables: Sequence[Any], create: bool, chunk_size: int | None) -> list[Any]:
    """The Jacobian of one result by every variable: a vector-Jacobian product per entry, together where they can be."""
    shape = tuple(shape_of(out))
    if not shape:
        return _pull(out, variables, None, create)
    stacks = pulled_rows(out, variables, chunk_size) if isinstance(out, Recorded) and not create else None
    if stacks is not None:
        blocks = [plain(Tensor, s.reshape(shape + v._value.shape)) for s, v in zip(stacks, variables, strict=True)]
        return [with_entries(block, out, v) for block, v in zip(blocks, variables, strict=True)]
    recorded = recorded_rows(out, variables, chunk_size) if create and isinstance(out, Recorded) else None
    if recorded is not None:
        return [with_entries(block, out, v) for block, v in zip(recorded, variables, strict=True)]
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
            found.append(zeros(target, dtype=v.dtype))
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
    check_function(func, "hessian")
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
    check_function(func, "vjp")
    with deriving():
        bound = Bound(func, primals, tuple(range(len(primals))), tie=True)
        with bound.closed():
            result, aux = run(func, bound.args, {}, has_aux, _VJP)
        leaves, structure = results(result, _VJP)
        outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])

    def pull(*cotangents: Any) -> Any:
        with deriving():
            return pulled(cotangents)

    def pulled(cotangents: tuple[Any, ...]) -> Any:
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
            create = moving and watched()
            found = _pull(leaf, bound.variables, value, create)
            total = found if total is None else [a + b for a, b in zip(total, found, strict=True)]
        return bound.nested(iter(total or ()))

    kept = outer and watched()
    shown = result if kept else containers.unflatten(structure, iter([settled(leaf) for leaf in leaves]))
    return (shown, pull, aux) if has_aux else (shown, pull)


# ---------------------------------------------------------------------------------------------- forward mode


def jvp(
    func: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """``(output, tangent)``: the value and its derivative along ``tangents``, in one forward pass.

    ``primals`` and ``tangents`` are tuples of equal structure and shapes.  With ``has_aux`` the result is
    ``(output, tangent, aux)``; with ``strict`` an output that does not depend on the primals is an error.

    Where a tangent comes out as nan, the function runs once more for reverse mode, which may know the derivative: two
    steps such as ``log1p(exp(x))`` have it together and neither alone.

    >>> import symgrad as sg
    >>> sg.func.jvp(lambda x: x**3, (2.0,), (1.0,))
    (tensor(8., dtype=float64), tensor(12., dtype=float64))
    """
    check_function(func, "jvp")
    if not isinstance(primals, (tuple, list)):
        raise ArgumentError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals): "
            "jvp(f, (x, y), (dx, dy))."
        )
    values, structure = containers.flatten(primals)
    moves, given = containers.flatten(tangents)
    if containers.without_settings(given) != containers.without_settings(structure):
        raise ArgumentError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {containers.shown(structure)} and "
            f"tangents with structure {containers.shown(given)}"
        )
    if not values:
        raise ArgumentError(f"{_JVP}: Expected primals to contain at least one Tensor.")
    tag = dual.new_tag()
    row = []
    for k, (value, move) in enumerate(zip(values, moves, strict=True)):
        primal = as_tensor(value, f"primal {k}")
        if not is_floating(primal.dtype):
            raise ArgumentError(f"primal {k} has dtype {primal.dtype}; derivatives need a floating or complex dtype.")
        tangent = as_tensor(move, f"tangent {k}")
        tangent = fit(tangent, shape_of(tangent), primal.dtype)
        if isinstance(tangent, Tensor) and tangent.requires_grad and tangent.is_leaf:
            tangent = tangent.clone()  # a custom function may change it in place
        row.append(dual.make_dual(primal, tangent, tag))
    args = containers.unflatten(structure, iter(row))
    try:
        result, aux = run(func, args, {}, has_aux, _JVP)
        leaves, out_structure = results(result, _JVP)
        pairs = [dual.parts(leaf, tag) for leaf in leaves]
        aux = containers.tree_map(lambda a: dual.parts(a, tag)[0], aux)
    finally:
        settle(tag)
    if strict and any(t is None for _, t in pairs):
        raise AutogradError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    if any(lost(t) for _, t in pairs):
        pairs = _found_again(func, primals, tangents, has_aux, pairs)
    out = containers.unflatten(out_structure, iter([as_result(p) for p, _ in pairs]))
    moved = [plain(Tensor, np.zeros(shape_of(p), p.dtype)[()]) if t is None else as_result(t) for p, t in pairs]
    pushed = containers.unflatten(out_structure, iter(moved))
    return (out, pushed, aux) if has_aux else (out, pushed)


def lost(tangent: Any) -> bool:
    """Whether a value or tangent holds a nan that another spelling of the function may mend."""
    value = tangent._value if isinstance(tangent, Recorded) else tangent
    known = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"
    return known and has_nan(value) and not keeps_nan("composed") and watching() is None


def _found_again(func: Any, primals: Any, tangents: Any, has_aux: bool, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """The values and tangents, with those that are nan as reverse mode has them, where it has them."""
    if any(isinstance(value, (Dual, Jet)) for value, _ in pairs):  # then reverse mode would ask forward mode
        return pairs
    try:
        first = functools.wraps(func)(lambda *args: func(*args)[0]) if has_aux else func
        again, push = linearize(first, *primals)
        moved = containers.flatten(push(*tangents))[0]
    except (SymgradError, NotImplementedError):
        return pairs
    found = []
    for (p, t), other, new in zip(pairs, containers.flatten(again)[0], moved, strict=True):
        if lost(t) and lost(p) and not lost(other):  # the value is a derivative itself, which is lost as well
            p = mended(p, other)
        found.append((p, mended(t, new) if lost(t) and same_values(p, other) else t))
    return found


def mended(tangent: Any, new: Any) -> Any:
    """A tangent with the entries of another one where it is nan and the other is not; it keeps its formula."""
    tangent = as_result(tangent)
    lost = np.isnan(tangent._value) & np.isfinite(new._value)
    if tangent._requires_grad or new._requires_grad:
        return where(plain(Tensor, lost), new, tangent)
    made = plain(Tensor, np.where(lost, new._value, tangent._value)[()])
    made._node = tangent._node
    return made


def same_values(value: Any, other: Any) -> bool:
    """Whether a function that ran twice gave the same: it may draw random numbers, or count its calls."""
    first, second = (x._value if isinstance(x, Recorded) else x for x in (value, other))
    return isinstance(first, (np.ndarray, np.generic)) and np.array_equal(first, second, equal_nan=True)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``(output, push)``: the value, and the linear map that takes tangents of the primals to that of the output.

    The function runs once; ``push(*tangents)`` costs no further run of it, but where forward mode or :func:`jet`
    follows what the function holds, whose own motion the product then has.

    >>> import symgrad as sg
    >>> out, push = sg.func.linearize(lambda x: x**3, 2.0)
    >>> out, push(1.0), push(10.0)
    (tensor(8., dtype=float64), tensor(12., dtype=float64), tensor(120., dtype=float64))
    """
    check_function(func, "linearize")
    with deriving():
        bound = Bound(func, primals, tuple(range(len(primals))))
        with bound.closed():
            result, _ = run(func, bound.args, {}, False, _JVP)
        leaves, structure = results(result, _JVP)
        outer = bound.outer([part for leaf in leaves for part in flat_parts(leaf)])
        shown = result if outer else containers.unflatten(structure, iter([settled(leaf) for leaf in leaves]))
        if any(isinstance(leaf, (Dual, Jet)) for leaf in leaves):  # what it holds moves, and with it the derivative
            return shown, lambda *tangents: jvp(func, primals, tangents)[1]
        # A vector-Jacobian product is linear in its cotangent, so its derivative by the cotangent is the Jacobian.
        probes = [as_variable(plain(Tensor, np.zeros(shape_of(o), o.dtype)[()]), "probe", False)[0] for o in leaves]
        pulled: list[Any] = [None] * len(bound.variables)
        with enable_grad():
            for leaf, probe in zip(leaves, probes, strict=True):
                found = _pull(leaf, bound.variables, probe, True)
                pulled = [g if total is None else total + g for total, g in zip(pulled, found, strict=True)]

    def push(*tangents: Any) -> Any:
        moves, given = containers.flatten(tangents)
        wanted = ("tuple", tuple(range(len(bound.structures))), tuple(bound.structures))
        if containers.without_settings(given) != containers.without_settings(wanted):
            raise ArgumentError(
                f"Expected the tangents {containers.shown(given)} to have the same argspec as the primals "
                f"{containers.shown(wanted)}"
            )
        pairs = []
        for k, (g, move, v) in enumerate(zip(pulled, moves, bound.variables, strict=True)):
            tangent = as_tensor(move, f"tangent {k}")
            if shape_of(tangent) != shape_of(v):
                raise ArgumentError(
                    f"tangent:{k} with shape {shape_of(tangent)} in flattened pytree doesn't match the shape "
                    f"{shape_of(v)} of the corresponding primal."
                )
            if isinstance(move, Tensor) and move.dtype != v.dtype:
                raise ArgumentError(
                    f"tangent:{k} with dtype {move.dtype} in flattened pytree doesn't match the dtype {v.dtype} of the "
                    "corresponding primal."
                )
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

    return shown, push


def transposed(op: Op, i: int, tangent: Any, out: Any, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The tangent of an op without a tangent rule: its vjp, linear in the cotangent, is transposed on the tape."""

    def pulled(cotangent: Any) -> Any:
        found = op.pullback(i, cotangent, out, inputs, params)
        return fit(as_result(found), shape_of(inputs[i]), inputs[i].dtype)

    probe = plain(Tensor, np.zeros(shape_of(out), out.dtype)[()])
    with steepest():
        _, back = vjp(pulled, probe)
        return tangent.map(lambda row: back(row)[0]) if isinstance(tangent, Bundle) else back(tangent)[0]

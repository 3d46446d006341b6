"""Sparse Jacobians and Hessians of functions: the pattern from the recorded graph, few passes, and a CSR matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from symgrad import autograd
from symgrad.autograd.sparsity.colours import Plan, count_of, plan, star
from symgrad.autograd.sparsity.matrix import SparseMatrix, from_plan, from_star, plan_places, seeds_of, star_places
from symgrad.autograd.sparsity.pattern import Pattern
from symgrad.autograd.sparsity.walk import check_hooks, pattern_of
from symgrad.compiler.compressed import Passes, compressed, one_by_one
from symgrad.compiler.derivatives import slope_of
from symgrad.compiler.trace import ARRAYS, array_of, fixed, trace
from symgrad.compiler.transforms import Transform
from symgrad.dtypes import finfo, is_floating
from symgrad.errors import ArgumentError, AutogradError, CompileError
from symgrad.func.bound import Argnums, Bound, check_function, deriving, flat_parts, results, run
from symgrad.func.chances import drawing
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import Dual
from symgrad.tape.forward.jets import Jet
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor
from symgrad.tensor.creation import zeros

Solver = Callable[[Pattern], tuple[Any, str, int]]


def sparse_jacobian(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, pattern: Any = None
) -> Callable[..., Any]:
    """The function that gives the Jacobian as a sparse matrix, from as few passes as its columns or rows have colours.

    Which entries can be nonzero is read from the recorded graph, op by op, without looking at values; a place that the
    structure allows may hold a zero.  So it is right for the branches that the function takes at its arguments, and
    for all values of the arguments at which it takes the same.  The result has ``data``, ``indices`` and ``indptr``,
    rows for the entries of the output and columns for those of the argument, ``toscipy()`` and ``todense()``; for
    several outputs or arguments it is nested as that of :func:`jacobian` is.

    ``compile(sparse_jacobian(f), x)``, of one array by another, is a program that gives ``(data, indices, indptr)``.

    ``pattern`` saves the search: an earlier result or its ``.pattern`` (whose colouring is kept), a SciPy matrix,
    ``(indices, indptr)``, or a dense matrix; its rows are all outputs, its columns all arguments.  It is tried on a
    random combination of rows, and a missing place raises ``AutogradError``.  So do complex arguments, functions of
    random numbers, and derivatives of the result by another transform, which :func:`jacobian` has.  Raises
    ``ArgumentError`` for integer arguments, and for outputs that are no tensors of a floating dtype.

    The method: A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapters 7 and 8.

    >>> import symgrad as sg, numpy as np
    >>> J = sg.func.sparse_jacobian(lambda x: x[1:] * x[:-1])(np.arange(1.0, 6.0))
    >>> J
    <SparseMatrix 4 x 5 of float64 with 8 entries, from 2 passes (rows)>
    >>> J.data, J.indices, J.indptr
    (array([2., 1., 3., 2., 4., 3., 5., 4.]), array([0, 1, 1, 2, 2, 3, 3, 4]), array([0, 2, 4, 6, 8]))
    """
    check_function(func, "sparse_jacobian")

    @functools.wraps(func)
    def compressed(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound, leaves, structure, aux = _recorded("sparse_jacobian", func, args, argnums, kwargs, has_aux)
            whole = _whole(leaves, bound.variables, pattern, functools.partial(_by_colours, leaves, bound.variables))
            bound.close()
        rows = [bound.nested(iter(blocks)) for blocks in _blocks(whole, leaves, bound.variables)]
        nested = containers.unflatten(structure, iter(rows))
        return (nested, aux) if has_aux else nested

    return _compiled(compressed, "sparse_jacobian", func, argnums, has_aux)


def sparse_hessian(func: Callable[..., Any], argnums: Argnums = 0, *, pattern: Any = None) -> Callable[..., Any]:
    """The function that gives the Hessian of a scalar function as a sparse matrix.

    The pattern is that of the gradient's recorded graph; a star colouring takes each pair of mirror images from one
    of the two.  Arguments, result, program and errors are as in :func:`sparse_jacobian`.

    The colouring: A. H. Gebremedhin, F. Manne and A. Pothen, "What color is your Jacobian?", SIAM Review 47 (2005).

    >>> import symgrad as sg, numpy as np
    >>> H = sg.func.sparse_hessian(lambda x: ((x[1:] - x[:-1]) ** 4).sum())(np.array([1.0, 2.0, 4.0]))
    >>> H
    <SparseMatrix 3 x 3 of float64 with 7 entries, from 2 passes (star)>
    >>> H.todense()
    tensor([[ 12., -12.,   0.],
            [-12.,  60., -48.],
            [  0., -48.,  48.]], dtype=float64)
    """
    check_function(func, "sparse_hessian")

    @functools.wraps(func)
    def compressed(*args: Any, **kwargs: Any) -> Any:
        with deriving():
            bound, leaves, structure, _ = _recorded("sparse_hessian", func, args, argnums, kwargs, False)
            if structure != containers.flatten(leaves[0])[1] or leaves[0]._value.shape:
                shapes = [tuple(leaf._value.shape) for leaf in leaves]
                raise ArgumentError(
                    f"sparse_hessian: the function must return one scalar tensor, not outputs of shapes {shapes}; sum "
                    "or average it, or take sparse_jacobian of its gradient."
                )
            slopes = _gradient(leaves[0], bound.variables)
            whole = _whole(slopes, bound.variables, pattern, functools.partial(_by_star, slopes, bound.variables), True)
            bound.close()
        rows = [bound.nested(iter(blocks)) for blocks in _blocks(whole, slopes, bound.variables)]
        return bound.nested(iter(rows))

    return _compiled(compressed, "sparse_hessian", func, argnums, False)


# ---------------------------------------------------------------------------------------------- programs


def _compiled(call: Any, kind: str, func: Callable[..., Any], argnums: Any, has_aux: bool) -> Callable[..., Any]:
    """``call`` with the knowledge of how a program of it is traced."""
    call.__name__ = call.__qualname__ = f"{kind}_{getattr(func, '__name__', 'f')}".replace("<lambda>", "f")

    def traced(args: Sequence[Any]) -> Any:
        if has_aux:
            raise CompileError(f"a program of {kind}() gives the matrix alone; leave has_aux= out.")
        with fixed():  # the places belong to these sizes
            inner = trace(func, args)
        out = one_by_one(inner, argnums, kind)
        found = call(*(containers.tree_map(lambda a: array_of(a) if isinstance(a, ARRAYS) else a, arg) for arg in args))
        if kind == "sparse_hessian":
            out = slope_of(inner, out, argnums)
        return compressed(inner, out, argnums, _passes(found.pattern, kind), call.__name__)

    call.__symgrad_transform__ = Transform(call, traced, kind, func, argnums, has_aux)
    return cast("Callable[..., Any]", call)


def _passes(pattern: Pattern, kind: str) -> Passes:
    """The passes of a program, by the colouring that a call has found."""
    indices, indptr = pattern.indices, pattern.indptr
    if kind == "sparse_hessian":
        colours = pattern.colourings["star"]
        return Passes(seeds_of(colours, bool), (), star_places(pattern, colours), indices, indptr)
    found: Plan = pattern.colourings["plan"]
    rows, columns = seeds_of(found.rows, bool), seeds_of(found.columns, bool)
    return Passes(rows, columns, plan_places(pattern, found), indices, indptr)


# ---------------------------------------------------------------------------------------------- recording


def _recorded(
    name: str, func: Callable[..., Any], args: Any, argnums: Argnums, kwargs: Any, has_aux: bool
) -> tuple[Bound, list[Any], Any, Any]:
    """The variables of a call, and its outputs with how they are nested; what cannot be compressed is refused."""
    bound = Bound(func, args, argnums)
    with bound.closed(), drawing("error"):
        result, aux = run(func, bound.args, kwargs, has_aux, name, bound.of_arrays)
    leaves, structure = results(result, name)
    moving = any(isinstance(x, (Dual, Bundle, Jet)) for x in (*leaves, *bound.shown))
    if moving or bound.outer([part for leaf in leaves for part in flat_parts(leaf)]):
        raise AutogradError(
            f"{name}: its result has no history, so it cannot be differentiated or traced by what is around it. "
            "Take jacobian or hessian there, or call it with detached arguments."
        )
    for what, values in (("argument", bound.variables), ("output", leaves)):
        for k, value in enumerate(values):
            if value.dtype.kind == "c":
                raise AutogradError(
                    f"{name}: {what} {k} is complex ({value.dtype}), and a complex derivative is not one matrix; take "
                    "its real and imaginary parts apart, or use sg.autograd.wirtinger."
                )
            if not is_floating(value.dtype):
                raise ArgumentError(
                    f"{name}: {what} {k} has dtype {value.dtype}; derivatives need a floating dtype (.double())."
                )
    return bound, leaves, structure, aux


def _live(outs: Sequence[Any]) -> list[int]:
    return [k for k, out in enumerate(outs) if isinstance(out, Recorded) and out._requires_grad]


def _gradient(out: Any, variables: Sequence[Any]) -> list[Any]:
    """The recorded gradient of a scalar; zeros by what it does not depend on."""
    found: Sequence[Any] = [None] * len(variables)
    if _live([out]):
        with enable_grad():
            found = autograd.grad([out], variables, create_graph=True, allow_unused=True)
    return [zeros(v._value.shape, dtype=v.dtype) if g is None else g for g, v in zip(found, variables, strict=True)]


# ---------------------------------------------------------------------------------------------- passes


def _sizes(values: Sequence[Any]) -> list[int]:
    return [int(np.prod(v._value.shape, dtype=int)) for v in values]


def _pulled(outs: Sequence[Any], variables: Sequence[Any], seeds: Any) -> Any:
    """``seeds @ J``: a row of cotangents for all outputs gives a row of gradients by all variables."""
    live = _live(outs)
    ends = np.cumsum(_sizes(outs))[:-1]
    parts = np.split(seeds, ends, 1)
    found: Sequence[Any] = [None] * len(variables)
    if live and len(seeds):
        batches = [plain(Tensor, parts[k].reshape(-1, *outs[k]._value.shape).astype(outs[k].dtype)) for k in live]
        alive = [outs[k] for k in live]
        found = autograd.grad(alive, variables, batches, retain_graph=True, allow_unused=True, is_grads_batched=True)
    rows = [
        np.zeros((len(seeds), n), v.dtype) if g is None else g._value.reshape(len(seeds), n)
        for g, v, n in zip(found, variables, _sizes(variables), strict=True)
    ]
    return np.concatenate(rows, 1)


def _pushed(outs: Sequence[Any], variables: Sequence[Any], seeds: Any) -> Any:
    """``seeds @ J.T``, tangents of all outputs by rows of tangents of all variables: the derivative of a pullback."""
    live = _live(outs)
    sizes = _sizes(outs)
    table = [np.zeros((len(seeds), n), out.dtype) for out, n in zip(outs, sizes, strict=True)]
    probes = [zeros(outs[k]._value.shape, dtype=outs[k].dtype).requires_grad_() for k in live]
    with enable_grad():
        found = autograd.grad([outs[k] for k in live], variables, probes, create_graph=True, allow_unused=True)
    moved = [zeros(v._value.shape, dtype=v.dtype) if g is None else g for g, v in zip(found, variables, strict=True)]
    if live:
        parts = np.split(_pulled(moved, probes, seeds), np.cumsum([sizes[k] for k in live])[:-1], 1)
        for k, rows in zip(live, parts, strict=True):
            table[k] = rows
    return np.concatenate(table, 1)


def _by_colours(outs: Sequence[Any], variables: Sequence[Any], pattern: Pattern) -> tuple[Any, str, int]:
    """The entries of a Jacobian, by rows, columns or both, whichever takes the fewest passes."""
    if "plan" not in pattern.colourings:
        pattern.colourings["plan"] = plan(pattern)
    found: Plan = pattern.colourings["plan"]
    pulled = _pulled(outs, variables, seeds_of(found.rows, bool))
    pushed = np.zeros((0, pattern.shape[0]))
    if count_of(found.columns):
        pushed = _pushed(outs, variables, seeds_of(found.columns, bool))
    mode = "both" if len(pulled) and len(pushed) else "columns" if len(pushed) else "rows"
    return from_plan(pattern, found, pulled, pushed), mode, found.passes


def _by_star(outs: Sequence[Any], variables: Sequence[Any], pattern: Pattern) -> tuple[Any, str, int]:
    """The entries of a Hessian, from products with the seeds of a star colouring."""
    if "star" not in pattern.colourings:
        pattern.colourings["star"] = star(pattern)
    colours = pattern.colourings["star"]
    if not pattern.nnz:
        return np.zeros(0), "star", 0
    found = _pulled(outs, variables, seeds_of(colours, bool))
    return from_star(pattern, colours, found), "star", len(found)


def _whole(
    outs: Sequence[Any], variables: Sequence[Any], given: Any, solve: Solver, symmetric: bool = False
) -> SparseMatrix:
    """The matrix of all outputs and all variables."""
    shape = (sum(_sizes(outs)), sum(_sizes(variables)))
    pattern = pattern_of(outs, variables) if given is None else Pattern.of(given, shape)
    mirrored = pattern.symmetric() if symmetric else pattern
    if mirrored.nnz == pattern.nnz:  # the same places: the one that may know its colouring
        mirrored = pattern
    data, mode, passes = solve(mirrored)
    made = SparseMatrix(data, mirrored, ((shape[0],), (shape[1],)), mode, passes)
    if given is not None:
        check_hooks(outs, variables)
        _try(made, outs, variables)
    return made


def _try(made: SparseMatrix, outs: Sequence[Any], variables: Sequence[Any]) -> None:
    """Compare a random combination of rows with that of the matrix from a pattern that the caller gave."""
    weights = np.random.default_rng(made.nnz).uniform(0.5, 1.5, made.shape[0])
    want = _pulled(outs, variables, weights[None])[0]
    parts = made.data * weights[made.pattern.rows()]
    got = np.bincount(made.indices, parts, made.shape[1])
    scale = np.bincount(made.indices, abs(parts), made.shape[1])
    tolerance = np.sqrt(finfo(made.dtype).eps)
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(abs(got - want) > tolerance * np.maximum(scale, abs(want)))
    if len(wrong):
        j = int(wrong[0])
        raise AutogradError(
            f"pattern= lacks places of this matrix: {len(wrong)} of {made.shape[1]} columns disagree in a random "
            f"combination of rows, first column {j} ({got[j]:.6g} from the pattern, {want[j]:.6g} without it). Give "
            "all places that can be nonzero, or leave pattern= out."
        )


def _blocks(whole: SparseMatrix, outs: Sequence[Any], variables: Sequence[Any]) -> list[list[SparseMatrix]]:
    """The matrix cut into those of each output by each variable."""
    rows, columns = (np.concatenate([[0], np.cumsum(_sizes(v))]).tolist() for v in (outs, variables))
    return [
        [
            whole.block(
                slice(rows[i], rows[i + 1]),
                slice(columns[j], columns[j + 1]),
                (tuple(out._value.shape), tuple(v._value.shape)),
                v.dtype,
            )
            for j, v in enumerate(variables)
        ]
        for i, out in enumerate(outs)
    ]

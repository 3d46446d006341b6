"""Functions of JAX's programs: the equations of a jaxpr, and of those that it calls, as one list of steps."""

from __future__ import annotations

import functools
import inspect
import itertools
import keyword
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import ArgumentError, UnsupportedFunction
from symgrad.foreign.loops import LOOPS
from symgrad.foreign.peers import peer
from symgrad.foreign.primitives import PRIMITIVES
from symgrad.foreign.steps import ImportedFunction, Slot, Step, needed

CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint")
"""Primitives that run another jaxpr and do nothing else."""
CUSTOM = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")
"""Primitives of functions with a derivative of their own."""


def from_jaxpr(closed_jaxpr: Any, names: Sequence[str] | None = None) -> ImportedFunction:
    r"""A differentiable function that does what a jaxpr (of ``jax.make_jaxpr``) does.

    Its arguments are those of the jaxpr, one array each, called ``x0``, ``x1`` … or by ``names``; with several results
    it gives a tuple.  Every primitive runs as an operation of the op table, so that gradients, formulas and compiled
    programs are symgrad's: at kinks they have its conventions.  Calls (``jit``, ``checkpoint``) are inlined; ``scan``,
    ``while`` and ``cond`` run as loops and branches of Python, by the values of each call.  Functions with a derivative
    of their own (``custom_jvp``, ``custom_vjp``) are refused unless it is that of their body, which is tried at random
    points.  Raises ``UnsupportedFunction`` with the names of all primitives that are not known, ``ShapeError`` when
    called with other shapes than the jaxpr's.

    >>> import symgrad as sg
    >>> import jax, jax.numpy as jnp  # doctest: +SKIP
    >>> f = sg.from_jaxpr(jax.make_jaxpr(lambda x: jnp.sum(jnp.sin(x)))(jnp.ones(3)), ["x"])  # doctest: +SKIP
    >>> sg.latex(f, (3,), wrt="x")  # doctest: +SKIP
    '\\cos\\left(x\\right)'
    """
    if not (hasattr(closed_jaxpr, "jaxpr") and hasattr(closed_jaxpr, "consts")):
        raise ArgumentError(
            f"from_jaxpr() takes a closed jaxpr, as jax.make_jaxpr(f)(x) gives it, not {type(closed_jaxpr).__name__}; "
            "from_jax(f, x) takes a function."
        )
    return _imported(closed_jaxpr, names)


def _imported(closed_jaxpr: Any, names: Sequence[str] | None, met: dict[str, bool] | None = None) -> ImportedFunction:
    """As :func:`from_jaxpr`, without looking at the argument.

    With ``met`` functions with rules of their own leave their names there, with whether their derivative is another
    one than that of their body, and are not refused; those that stand there are not asked again.
    """
    jaxpr = closed_jaxpr.jaxpr
    given = list(names) if names is not None else [f"x{k}" for k in range(len(jaxpr.invars))]
    if len(given) != len(jaxpr.invars):
        raise ArgumentError(f"the jaxpr has {len(jaxpr.invars)} arguments, and {len(given)} names are given.")
    reader = _Reader(len(given), met)
    results = reader.inline(jaxpr, closed_jaxpr.consts, [Slot(k) for k in range(len(given))])
    shapes = [tuple(v.aval.shape) for v in jaxpr.invars]
    return ImportedFunction("f", given, shapes, reader.finished(results), results, len(results) != 1)


def from_jax(f: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """A function of JAX as a differentiable function of symgrad, for arguments like ``args``.

    ``args`` are arrays, or containers that JAX knows (dicts, lists …); numbers become arrays without axes.  The result
    is called with the same containers, of arrays or tensors, and gives what ``f`` gives.  What :func:`from_jaxpr`
    says of primitives, kinks and errors holds here, too; what ``f`` does in Python is done once, now.

    >>> import symgrad as sg
    >>> import jax.numpy as jnp  # doctest: +SKIP
    >>> f = sg.from_jax(lambda x: jnp.tanh(x).sum(), jnp.ones(2))  # doctest: +SKIP
    >>> x = sg.tensor([0.0, 1.0], requires_grad=True)  # doctest: +SKIP
    >>> f(x).backward()  # doctest: +SKIP
    >>> x.grad  # doctest: +SKIP
    tensor([1.0000, 0.4200])
    """
    return of_bodies(f, args)


def of_bodies(f: Callable[..., Any], args: Sequence[Any], met: dict[str, bool] | None = None) -> Callable[..., Any]:
    """As :func:`from_jax`; with ``met``, what functions compute counts, whatever derivative they have of their own.

    The names of those that have one are left there, with whether it is another one than that of what they compute.
    """
    jax = peer("jax", "from_jax()")
    leaves, form = jax.tree_util.tree_flatten(tuple(args))
    arrays = [a.numpy(force=True) if isinstance(a, sg.Tensor) else a for a in leaves]
    closed, shape = jax.make_jaxpr(f, return_shape=True)(*jax.tree_util.tree_unflatten(form, arrays))
    plain = len(leaves) == len(args)
    program = _imported(closed, _names(f, len(args)) if plain else None, met)
    program.__name__ = getattr(f, "__name__", "f") if getattr(f, "__name__", "").isidentifier() else "f"
    single = jax.tree_util.treedef_is_leaf(jax.tree_util.tree_structure(shape))
    if plain and single:
        return program
    result = jax.tree_util.tree_structure(shape)

    @functools.wraps(f)
    def imported(*given: Any) -> Any:
        values, its = jax.tree_util.tree_flatten(given)
        if its != form:
            raise ArgumentError(f"{program.__name__}: the arguments are {its}, and the program was made for {form}.")
        found = program(*values)
        return jax.tree_util.tree_unflatten(result, found if program.several else [found])

    return imported


def _names(f: Callable[..., Any], count: int) -> list[str] | None:
    """The names of the arguments of a function, where each is one array."""
    try:
        found = [
            p.name
            for p in inspect.signature(f).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        return None
    return found[:count] if len(found) >= count and not any(map(keyword.iskeyword, found)) else None


def _calls(eqn: Any) -> tuple[tuple[Any, int], ...]:
    """The code and the instruction of the calls that led to an equation, up to this library, where JAX kept them."""
    trace: Any = getattr(getattr(eqn, "source_info", None), "traceback", None)
    if not hasattr(trace, "raw_frames"):
        return ()
    frames = zip(*trace.raw_frames(), strict=True)
    return tuple(itertools.takewhile(lambda frame: not frame[0].co_filename.startswith(_PACKAGE), frames))


_PACKAGE = str(Path(__file__).parents[1]) + os.sep


class _Reader:
    """The steps of a jaxpr, collected with a stack of its own, however deep its calls are."""

    def __init__(self, taken: int, met: dict[str, bool] | None):
        self.steps: list[Step] = []
        self.taken = taken
        self.met = met

    def inline(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
        """Collect the steps of a jaxpr and of those that it calls; the slots and constants of its results."""
        top = _Frame(jaxpr, consts, args)
        stack = [top]
        while stack:
            frame = stack[-1]
            eqn = next(frame.equations, None)
            if eqn is None:
                stack.pop()
                if stack:
                    frame.leave(stack[-1])
                continue
            values = [frame.value(v) for v in eqn.invars]
            if eqn.primitive.name == "platform_index":  # which of several programs runs: that for processors
                frame.known[eqn.outvars[0]] = _branch(eqn.params["platforms"])
                continue
            inner = self.called(eqn, values)
            if inner is not None:
                stack.append(_Frame(*inner, outs=eqn.outvars))
            else:
                self.add(eqn, values, frame)
        return [top.value(v) for v in jaxpr.outvars]

    def called(self, eqn: Any, values: list[Any]) -> tuple[Any, Sequence[Any], Sequence[Any]] | None:
        """The jaxpr that an equation runs, its constants and arguments; None for a primitive."""
        name, params = eqn.primitive.name, eqn.params
        if name == "cond" and not isinstance(values[0], Slot):
            which = min(max(int(values[0]), 0), len(params["branches"]) - 1)
            branch = params["branches"][which]
            return branch.jaxpr, branch.consts, values[1:]
        if name in CUSTOM and not _is_relu(eqn):
            self.look_through(eqn)
        elif name not in CALLS:
            return None
        inner = params.get("jaxpr", params.get("call_jaxpr", params.get("fun_jaxpr")))
        if inner is None:
            return None
        return (inner.jaxpr, inner.consts, values) if hasattr(inner, "consts") else (inner, (), values)

    def look_through(self, eqn: Any) -> None:
        """Refuse a function with a rule of its own, or note its name, unless the rule is that of its body."""
        if self.met is None:
            _check_rule(eqn)
        elif _name(eqn) not in self.met:
            try:
                _check_rule(eqn)
                self.met[_name(eqn)] = False
            except UnsupportedFunction:
                self.met[_name(eqn)] = True

    def add(self, eqn: Any, values: list[Any], frame: _Frame) -> None:
        """One step for a primitive."""
        outs = list(range(self.taken, self.taken + len(eqn.outvars)))
        self.taken += len(outs)
        run, name = _operation(eqn, self.met), eqn.primitive.name
        if name == "custom_linear_solve":  # what solves it is not read: A and b are
            values = [values[0], values[-1]]
        self.steps.append(Step(run, tuple(values), tuple(outs), name, calls=_calls(eqn)))
        for var, slot in zip(eqn.outvars, outs, strict=True):
            frame.known[var] = Slot(slot)

    def finished(self, results: list[Any]) -> list[Step]:
        """The steps that are needed; what is unknown among them is refused by name."""
        kept = needed(self.steps, results)
        unknown = {
            s.name: s.run.args[0] for s in kept if isinstance(s.run, functools.partial) and s.run.func is _refuse
        }
        if unknown:
            listed = "; ".join(f"{name}: {why}" if why else name for name, why in unknown.items())
            raise UnsupportedFunction(f"the program has primitives of JAX that are not known here: {listed}.")
        return kept


class _Frame:
    """A jaxpr whose equations are being read, with the values of its variables."""

    def __init__(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], outs: Sequence[Any] = ()):
        self.jaxpr = jaxpr
        self.equations = iter(jaxpr.eqns)
        self.outs = outs
        self.known = dict(zip(jaxpr.constvars, map(_constant, consts), strict=True))
        self.known |= dict(zip(jaxpr.invars, args, strict=True))

    def value(self, var: Any) -> Any:
        """The slot or constant of a variable or literal."""
        return _constant(var.val) if hasattr(var, "val") else self.known[var]

    def leave(self, caller: _Frame) -> None:
        """Give the results to the caller."""
        caller.known |= dict(zip(self.outs, map(self.value, self.jaxpr.outvars), strict=True))


def _branch(platforms: Any) -> int:
    """The place of the branch for processors, or of the one for all platforms."""
    for k, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return k
    return len(platforms) - 1


def _constant(value: Any) -> Any:
    """A constant as NumPy's array, or as Python's number, which takes the dtype of what it meets."""
    array = np.asarray(value)
    return array if array.ndim else array.item()


def _refuse(why: str, *_: Any) -> Any:
    raise UnsupportedFunction(why)


def _operation(eqn: Any, met: dict[str, bool] | None) -> Callable[..., Any]:
    """What runs for an equation; a refusal where nothing does, which counts if somebody needs its results."""
    name = eqn.primitive.name
    if name in CUSTOM:
        return lambda x: sg.relu(x)
    try:
        if name == "custom_linear_solve":
            return _solver(eqn)
        if name in PRIMITIVES:
            return PRIMITIVES[name](eqn.params, eqn.outvars[0].aval)
        if name in LOOPS:
            return LOOPS[name](eqn, lambda inner: _imported(inner, None, met))
        return functools.partial(_refuse, "")
    except UnsupportedFunction as error:
        return functools.partial(_refuse, str(error).rstrip("."))


# ---------------------------------------------------------------------------------------------- rules of their own


def _is_relu(eqn: Any) -> bool:
    """Whether an equation is ``jax.nn.relu``, whose rule differs from that of max(x, 0) at 0 only."""
    body = eqn.params["call_jaxpr"]
    while len(body.eqns) == 1 and body.eqns[0].primitive.name in CALLS:
        body = body.eqns[0].params["jaxpr"]
    one = body.eqns[0] if len(body.eqns) == 1 else None
    literal = one is not None and one.primitive.name == "max" and [v.val for v in one.invars if hasattr(v, "val")]
    return bool(literal) and literal == [0] and _slope_at_zero(eqn) == 0


def _slope_at_zero(eqn: Any) -> float:
    import jax
    import jax.numpy as jnp

    aval = next(v.aval for v in eqn.invars)
    zeros = jnp.zeros(aval.shape, aval.dtype)
    _, tangent = jax.jvp(lambda *xs: _run(eqn, *xs), (zeros,), (jnp.ones_like(zeros),))
    return float(np.max(np.abs(np.asarray(tangent[0])), initial=0.0))


def _run(eqn: Any, *xs: Any) -> Any:
    """An equation on its own, with the rule it has in JAX."""
    found = dict(zip(dict.fromkeys(v for v in eqn.invars if not hasattr(v, "val")), xs, strict=True))
    bound = eqn.primitive.get_bind_params(eqn.params)  # older versions give the functions apart
    functions, params = bound if isinstance(bound, tuple) else ((), bound)
    values = [v.val if hasattr(v, "val") else found[v] for v in eqn.invars]
    out = eqn.primitive.bind(*functions, *values, **params)
    return out if eqn.primitive.multiple_results else [out]


def _check_rule(eqn: Any) -> None:
    """Refuse a function whose own derivative is not that of its body, at random points."""
    import jax
    import jax.numpy as jnp

    inner = eqn.params.get("call_jaxpr", eqn.params.get("fun_jaxpr"))
    avals = [v.aval for v in dict.fromkeys(v for v in eqn.invars if not hasattr(v, "val"))]
    rng = np.random.default_rng(0)

    def body(*xs: Any) -> Any:
        found = iter(dict.fromkeys(v for v in eqn.invars if not hasattr(v, "val")))
        known = dict(zip(found, xs, strict=True))
        return jax.core.eval_jaxpr(
            inner.jaxpr, inner.consts, *[v.val if hasattr(v, "val") else known[v] for v in eqn.invars]
        )

    def total(run: Callable[..., Any], *xs: Any) -> Any:
        outs = [o for o in run(*xs) if np.issubdtype(o.dtype, np.inexact)]
        return sum(
            jnp.sum(jnp.real(o) * (1 + 0.5 * jnp.arange(o.size).reshape(o.shape) / max(o.size, 1))) for o in outs
        )

    floats = tuple(k for k, a in enumerate(avals) if np.issubdtype(a.dtype, np.inexact))
    own, of_body = (
        _at_once(jax.grad(functools.partial(total, run), argnums=floats))
        for run in (functools.partial(_run, eqn), body)
    )
    for scale in (1.0, 3.0) if floats else ():
        point = [jnp.asarray(np.asarray(scale * rng.normal(size=a.shape)), a.dtype) for a in avals]
        want, have = own(*point), of_body(*point)
        if not all(np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True) for a, b in zip(want, have, strict=True)):
            raise UnsupportedFunction(
                f"{_name(eqn)} ({eqn.primitive.name}) has a derivative of its own, which is not that of what "
                "it computes; write it as an autograd.Function of symgrad, or without the rule."
            )


def _at_once(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function compiled as a whole, which is faster; as it is where values decide what runs next."""
    import jax

    compiled = jax.jit(run)

    def call(*xs: Any) -> Any:
        try:
            return compiled(*xs)
        except TypeError:
            return run(*xs)

    return call


def _name(eqn: Any) -> str:
    """The name of a function with a rule of its own."""
    inner = eqn.params.get("call_jaxpr", eqn.params.get("fun_jaxpr"))
    return str(getattr(inner.jaxpr.debug_info, "func_name", "a function"))


def _solver(eqn: Any) -> Callable[..., Any]:
    """The solution of a linear system whose map is the product with a matrix."""
    import jax
    import jax.numpy as jnp

    lengths, matvec = eqn.params["const_lengths"], eqn.params["jaxprs"].matvec
    matrix, right = eqn.invars[0].aval, eqn.invars[-1].aval
    refused = "custom_linear_solve with another map than the product with one matrix"
    if lengths.matvec != 1 or len(eqn.outvars) != 1 or len(matrix.shape) < 2:
        raise UnsupportedFunction(refused)
    rng = np.random.default_rng(0)
    A, b = (jnp.asarray(np.asarray(rng.normal(size=v.shape)), v.dtype) for v in (matrix, right))
    (got,) = jax.core.eval_jaxpr(matvec.jaxpr, matvec.consts, A, b)
    for vectors in (True, False):
        try:
            want = (A @ b[..., None])[..., 0] if vectors else A @ b
        except (TypeError, ValueError):
            continue
        if want.shape == got.shape and np.allclose(want, got, rtol=1e-3, atol=1e-4):
            return lambda a, y: sg.linalg.solve(a, sg.unsqueeze(y, -1))[..., 0] if vectors else sg.linalg.solve(a, y)
    raise UnsupportedFunction(refused)

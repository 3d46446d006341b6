"""The laws: what must hold between an op's number, its derivatives, its formula and its code."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.autograd import grad
from symgrad.autograd.jacobians.rows import pulled_rows
from symgrad.compiler import compile as compiled
from symgrad.errors import LawBroken
from symgrad.formula.derive import directional
from symgrad.formula.term import Term, as_term, evaluate, symbol
from symgrad.func import jvp
from symgrad.op import TABLE, Op
from symgrad.op.sampling import Case
from symgrad.proving.making import FRESH, SIZES
from symgrad.proving.samples import make_case
from symgrad.tape.formulas.reading import Reading, read
from symgrad.tape.forward import dual
from symgrad.tape.forward.bundle import Bundle, bundled
from symgrad.tensor import Tensor
from symgrad.tensor.creation import tensor

STEP = 2.0**-11
STEPS = ((1, 8), (-1, -8), (2, -1), (-2, 1))
"""Differences of fourth order: steps, and twelve times the weights of the values there."""

HELPERS = {
    name: value
    for module in list(sys.modules.values())
    if (getattr(module, "__name__", None) or "").startswith("symgrad.kernels")
    for name, value in vars(module).items()
    if inspect.isfunction(value)
}
"""The functions that source text may call by name."""


def demand(holds: Any, words: str) -> None:
    """Raise ``LawBroken`` unless something holds."""
    if not holds:
        raise LawBroken(words)


def is_leaf(value: Any) -> bool:
    """Whether a sample's argument is data that a gradient can flow to."""
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc"


def is_data(value: Any) -> bool:
    """Whether a sample's argument is an array (and not a Python number)."""
    return isinstance(value, (np.ndarray, np.generic))


def differentiable(op: Op, args: tuple[Any, ...]) -> list[int]:
    """Positions of arguments that have a derivative."""
    return [i for i, a in enumerate(args) if is_leaf(a) and op.differentiable(i)]


def tensors(args: tuple[Any, ...], targets: list[int]) -> list[Any]:
    """Named tensors of the arrays in a sample; numbers stay numbers."""
    return [tensor(a, name=f"x{i}", requires_grad=i in targets) if is_data(a) else a for i, a in enumerate(args)]


def close(got: Any, want: Any, rtol: float, what: str) -> None:
    """Equal shapes, and values equal up to ``rtol`` of the largest entry."""
    got, want = np.asarray(got), np.asarray(want)
    demand(got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}")
    scale = float(np.max(np.abs(want), initial=1.0, where=np.isfinite(want)))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * scale, err_msg=what)


def weights(shape: tuple[int, ...], dtype: Any, seed: int = 5) -> Any:
    """A cotangent of a shape and dtype."""
    rng = np.random.default_rng(seed)
    value = np.asarray(rng.uniform(-1, 1, shape))
    if np.dtype(dtype).kind == "c":
        value = value + 1j * rng.uniform(-1, 1, shape)
    return value.astype(dtype)[()]


def cotangent(op: Op, out: Any, w: Any) -> Any:
    """What a result is weighed by: ``w``; of complex vectors whose phases are free, so much of each entry's |v|²/2."""
    return w.real * out if has_free_phases(op, out.dtype) else w


def has_free_phases(op: Op, dtype: Any) -> bool:
    """Whether a result of this dtype is vectors that may be turned by any phase."""
    return bool(op.phases) and dtype.kind == "c"


def inner(a: Any, b: Any) -> float:
    """Re Σ conj(a) b."""
    return float(np.sum((np.conj(a) * b).real))


def numeric_gradient(function: Any, x: Any, w: Any, entrywise: bool = False) -> Any:
    """Gradient of Re⟨w, function(x)⟩ by differences of fourth order, each entry moved alone; complex x by its parts.

    An entrywise function gets the moved arrays in one call.
    """
    x, w = np.asarray(x), np.asarray(w)
    ways = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    out = np.zeros(x.size, x.dtype)

    def weighed(moved: Any) -> Any:
        if not entrywise or not x.ndim:
            return np.array([inner(w, function(one[()])) for one in moved])
        values = function(moved.reshape(x.size, *(1,) * (w.ndim - x.ndim), *x.shape))
        weighted = np.conj(w) * np.broadcast_to(values, (x.size, *w.shape))
        return np.sum(weighted.real, axis=tuple(range(1, weighted.ndim)))

    for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
        out += unit * sum(factor * weighed(x + k * STEP * unit * ways) for k, factor in STEPS) / (12 * STEP)
    return out.reshape(x.shape)[()]


def direction(x: Any, seed: int) -> Any:
    """Which way to move all entries of ``x`` at once: each by a third of a unit at least, and by one at most."""
    way = weights(np.shape(x), np.asarray(x).dtype, seed)
    return (2 * way + np.sign(way.real)) / 3


def run_kernel(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The kernel's value with NumPy's warnings off."""
    with np.errstate(all="ignore"):
        kernel = (op.imaginary if np.asarray(args[0] if args else 0).dtype.kind == "c" else None) or op.kernel
        return kernel(*args, **params)


def projection(op: Op, x: Any) -> Any:
    """The input brought back to the op's domain after one entry was moved, where that is the Hermitian matrices."""
    return (x + np.conj(np.swapaxes(x, -1, -2))) / 2 if op.triangle else x


def moved_kernel(op: Op, case: Case, i: int) -> Any:
    """The kernel as a function of argument ``i`` alone."""
    args, params = case

    def function(x: Any) -> Any:
        return run_kernel(op, (*args[:i], projection(op, x), *args[i + 1 :]), params)

    return function


def gradients(op: Op, case: Case, seed: int = 5) -> tuple[list[Any], Any, Any, list[int]]:
    """The tape's gradients of ⟨w, op(…)⟩: the leaves with their ``.grad``, the output, w, and the positions."""
    args, params = case
    targets = differentiable(op, args)
    leaves = tensors(args, targets)
    out = op(*leaves, **params)
    w = None
    if targets and out.requires_grad:
        w = tensor(cotangent(op, out._value, weights(out.shape, out.dtype, seed)), name="w")
        out.backward(w)
    return leaves, out, w, targets


# ---------------------------------------------------------------------------------------------- the laws


def _shape(op: Op, *shapes: Any, **params: Any) -> tuple[Any, ...]:
    if op.infer is None:
        raise LawBroken(f"{op.name}: no shape rule")
    return tuple(op.infer(*shapes, **params))


def value_law(op: Op, case: Case) -> None:
    """Tensors give the kernel's number; the shape and dtype rules agree with it."""
    args, params = case
    targets = differentiable(op, args)
    leaves = tensors(args, targets)
    out = op(*leaves, **params)
    want = run_kernel(op, args, params)
    if not leaves:
        demand(np.shape(want) == _shape(op, **params), f"{op.name}: shape {np.shape(want)} is not the inferred one")
        return
    np.testing.assert_array_equal(out._value, want)
    shapes = [np.shape(a) for a in args]
    inferred = _shape(op, *shapes, **params)
    demand(inferred == np.shape(want), f"{op.name}: inferred shape {inferred}, the value has {np.shape(want)}")
    demand(out.dtype == np.asarray(want).dtype, f"{op.name}: {out.dtype}, the kernel gives {np.asarray(want).dtype}")
    if op.result is None and all(is_leaf(a) for a in args):
        demand(out.dtype == args[0].dtype, f"{op.name}: {out.dtype} of {args[0].dtype}")


def vjp_law(op: Op, case: Case, rtol: float = 1e-7) -> None:
    """The tape's gradient is the numeric one, in the leaf's shape and dtype."""
    args, _ = case
    leaves, out, w, targets = gradients(op, case)
    for i in targets:
        found = leaves[i].grad
        if not out.requires_grad:
            demand(found is None, f"{op.name}: a gradient at argument {i}, and the result has no history")
            continue
        demand(found is not None, f"{op.name}: no gradient at argument {i}")
        demand(found.dtype == args[i].dtype, f"{op.name}: gradient of dtype {found.dtype} for {args[i].dtype}")
        want = numeric_gradient(moved_kernel(op, case, i), args[i], w._value, op.kind == "elementwise")
        close(found._value, want, rtol, f"{op.name}: gradient of argument {i}")


def jvp_law(op: Op, case: Case) -> None:
    """⟨g, J t⟩ = ⟨Jᵀ g, t⟩ for the tangent rule and the cotangent rule, both as formulas."""
    args, params = case
    terms = [symbol(f"x{i}", np.shape(a), a.dtype) if is_data(a) else as_term(a) for i, a in enumerate(args)]
    values = {f"x{i}": a for i, a in enumerate(args) if is_data(a)}
    out = op(*terms, **params)
    for i in differentiable(op, args):
        value = np.asarray(run_kernel(op, args, params))
        t = weights(np.shape(args[i]), args[i].dtype, 3)
        g = cotangent(op, value, weights(value.shape, value.dtype, 4))
        moved = directional(out, [terms[i]], [symbol("t", terms[i].shape, terms[i].dtype)])
        leaves, result, *_ = gradients(op, case, 4)
        if not result.requires_grad or leaves[i].grad is None:
            continue
        tangent = np.broadcast_to(evaluate(as_term(moved), {**values, "t": t}), value.shape)
        left, right = inner(g, tangent), inner(leaves[i].grad._value, t)
        demand(abs(left - right) <= 1e-10 * max(1.0, abs(left)), f"{op.name}: {left} is not {right} (argument {i})")
        number = inner(g, np.broadcast_to(pushed(op, args, params, i, t), value.shape))
        demand(abs(number - right) <= 1e-10 * max(1.0, abs(right)), f"{op.name}: dual {number} is not {right} ({i})")


def pushed(op: Op, args: tuple[Any, ...], params: dict[str, Any], i: int, t: Any) -> Any:
    """The tangent of the result when argument ``i`` moves along ``t``, in numbers."""
    _, moved = jvp(lambda x: op(*args[:i], x, *args[i + 1 :], **params), (tensor(args[i]),), (tensor(t),))
    return moved.numpy(force=True)


def columns_law(op: Op, case: Case) -> None:
    """Many tangents at once move the result so that, with random weights, it moves as along their weighted sum."""
    args, params = case
    mix = weights((3,), np.float64, 9)
    for i in differentiable(op, args):
        rows = np.stack([weights(np.shape(args[i]), args[i].dtype, seed) for seed in (5, 6, 7)])
        tag = dual.new_tag()
        moving = dual.Dual(tensor(args[i]), Bundle(tag, rows), tag)
        out, moved = dual.parts(op(*args[:i], moving, *args[i + 1 :], **params), tag)
        if moved is None:
            continue
        demand(moved.shape == out.shape, f"{op.name}: tangent of shape {moved.shape}, the result has {out.shape}")
        demand(moved.dtype == out.dtype, f"{op.name}: tangent of dtype {moved.dtype}, the result has {out.dtype}")
        stack = bundled(moved, tag, len(rows))
        got = np.asarray(getattr(stack, "_value", stack))
        demand(got.shape == (len(rows), *out.shape), f"{op.name}: tangents of shape {got.shape}")
        alone = pushed(op, args, params, i, np.tensordot(mix, rows, 1).astype(rows.dtype)[()])
        close(np.tensordot(mix, got, 1), alone, 1e-12, f"{op.name}: argument {i}")


def rows_law(op: Op, case: Case) -> None:
    """All rows of a Jacobian pulled back at once add up, with random weights, to what these weights pull back."""
    args, params = case
    targets = differentiable(op, args)
    leaves = tensors(args, targets)
    out = op(*leaves, **params)
    wanted = [leaves[i] for i in targets]
    found = pulled_rows(out, wanted) if targets and out.requires_grad else None
    if found is None:
        return
    w = cotangent(op, out._value, weights(out.shape, out.dtype))
    together = grad(out, wanted, tensor(w), materialize_grads=True)
    for i, stack, g in zip(targets, found, together, strict=True):
        demand(stack.dtype == args[i].dtype, f"{op.name}: rows of dtype {stack.dtype}")
        demand(stack.shape == (out.numel(), *np.shape(args[i])), f"{op.name}: rows of shape {stack.shape}")
        close(np.tensordot(w.reshape(-1), stack, 1), g._value, 1e-12, f"{op.name}: argument {i}")


def second_order_law(op: Op, case: Case, rtol: float = 1e-6) -> None:
    """create_graph: the gradient of a projected gradient is its numeric slope, for every pair of arguments.

    Along two random directions, in which every entry has its part: what is wrong in one entry or more shows in both.
    """
    args, params = case
    targets = differentiable(op, args)
    if not targets:
        return

    def first(arrays: tuple[Any, ...], create: bool) -> Any:
        leaves = tensors(arrays, targets)
        out = op(*leaves, **params)
        if not out.requires_grad:
            return leaves, None
        w = tensor(weights(out.shape, out.dtype), requires_grad=create, name="w")
        inputs = [leaves[i] for i in targets]
        return (leaves, w), grad(out, inputs, cotangent(op, out, w), create_graph=create, allow_unused=True)

    @functools.cache
    def moved(i: int, seed: int, k: int) -> Any:
        x = (args[i] + k * STEP * direction(args[i], seed))[()]
        return first((*args[:i], projection(op, x), *args[i + 1 :]), False)[1]

    (made, grads) = first(args, True)
    if grads is None:
        return
    leaves, w = made
    for position, g in enumerate(grads):
        if g is None or not g.requires_grad:
            continue
        a = tensor(weights(g.shape, g.dtype, 8))
        inputs = [leaves[i] for i in targets]
        second = grad(g, [*inputs, w], a, retain_graph=True, allow_unused=True)
        for i, got in zip(targets, second[:-1], strict=True):
            have = np.zeros_like(args[i]) if got is None else got._value
            demand(np.shape(have) == np.shape(args[i]), f"{op.name}: second derivative of shape {np.shape(have)}")
            for seed in (21, 22):
                way = direction(args[i], seed)
                slopes = (factor * inner(a._value, moved(i, seed, k)[position]._value) for k, factor in STEPS)
                slack = rtol * max(1.0, float(np.sum(np.abs(have * way))))
                apart = abs(inner(have, way) - sum(slopes) / (12 * STEP))
                demand(apart <= slack, f"{op.name}: second derivative of argument {i}")


def evaluated(term: Term, args: tuple[Any, ...], w: Any, found: Reading) -> Any:
    """A formula's value for a sample's arrays; letters come from all of them, also those not in the formula."""
    values = {f"x{i}": a for i, a in enumerate(args) if is_data(a)}
    letters = {name: found[leaf].shape for name, leaf in found.sources.items()}
    sizes = {
        letter: n
        for name, value in values.items()
        for letter, n in zip(letters.get(name, ()), np.shape(value), strict=name in letters)
        if isinstance(letter, str)
    }
    return evaluate(term, values if w is None else {**values, "w": w}, sizes)


def formula_law(op: Op, name: str, k: int, dtype: Any = np.float64) -> None:
    """Formula = number: of the value and of the gradients, at the recorded values and at other sizes."""
    args, _ = make_case(name, k, SIZES, dtype)
    fresh, fresh_params = make_case(name, k, FRESH, dtype, 23)
    leaves, out, w, targets = gradients(op, make_case(name, k, SIZES, dtype))
    if not leaves:
        return
    other_leaves, other_out, other_w, _ = gradients(op, (fresh, fresh_params))
    found, term = read(out)
    demand(term.dtype is None or term.dtype == out.dtype, f"{op.name}: formula dtype {term.dtype}, number {out.dtype}")
    what = f"{op.name}: formula {term}"
    close(evaluated(term, args, None, found), out._value, 1e-12, what)
    if not pinned(op, found, fresh):
        close(evaluated(term, fresh, None, found), other_out._value, 1e-12, f"{what} at other sizes")
    for i in targets if w is not None else ():
        found, pulled = read(leaves[i].grad)
        what = f"{op.name}: formula {pulled} of gradient {i}"
        close(evaluated(pulled, args, w._value, found), leaves[i].grad._value, 1e-12, what)
        if not pinned(op, found, fresh):
            want = other_leaves[i].grad._value
            close(evaluated(pulled, fresh, other_w._value, found), want, 1e-12, f"{what} at other sizes")


def pinned(op: Op, found: Reading, fresh: tuple[Any, ...]) -> bool:
    """Whether an index fixed sizes, so that the formula holds for the recorded ones alone."""
    fixed = any(
        not isinstance(s, str) and s != n
        for name, leaf in found.sources.items()
        if name.startswith("x")
        for s, n in zip(found[leaf].shape, np.shape(fresh[int(name[1:])]), strict=True)
    )
    demand(not fixed or op.name in ("getitem", "index_put", "put", "windows_sum"), f"{op.name}: a size is fixed")
    return fixed


def code_text(op: Op, names: list[str], args: tuple[Any, ...], params: dict[str, Any]) -> str:
    """The source text of one application: the op's own, or a call of its kernel by name."""
    if op.code is not None:
        shapes = {"shapes": tuple(map(np.shape, args))} if op.name == "einsum" else {}
        return str(op.code(*names, **params, **shapes))
    kernel = (op.imaginary if np.asarray(args[0]).dtype.kind == "c" else None) or op.kernel
    options = "".join(f", {k}={v!r}" for k, v in params.items())
    if getattr(np, kernel.__name__, None) is kernel:
        return f"np.{kernel.__name__}({', '.join(names)}{options})"
    demand(
        HELPERS.get(kernel.__name__) is kernel,
        f"{op.name}: without `code` the kernel must be a function of numpy or of symgrad.kernels",
    )
    return f"{kernel.__name__}({', '.join(names)}{options})"


def code_law(op: Op, case: Case) -> None:
    """Code = number: the source text, run on NumPy and the helper kernels, gives the kernel's value."""
    args, params = case
    names = [f"a{i}" if is_data(a) else repr(a) for i, a in enumerate(args)]
    text = code_text(op, names, args, params)
    scope = {"np": np, **HELPERS}
    with np.errstate(all="ignore"):
        got = eval(text, scope, {f"a{i}": a for i, a in enumerate(args)})  # noqa: S307  (a text of the table)
    want = run_kernel(op, args, params)
    np.testing.assert_array_equal(got, want, err_msg=text)
    demand(np.asarray(got).dtype == np.asarray(want).dtype, text)


def compiled_law(op: Op, case: Case) -> None:
    """Compiled = number, for the value and for every gradient."""
    args, _ = case
    leaves, out, w, targets = gradients(op, case)
    if not leaves:
        return
    values = {f"x{i}": a for i, a in enumerate(args) if is_data(a)}
    for found in (out, *(leaves[i].grad for i in targets if w is not None)):
        if not is_leaf(found._value):
            continue
        named = values if found is out else {**values, "w": w._value}
        program = compiled(found, list(named))
        with np.errstate(all="ignore"):
            got = program(*named.values())
        close(got, found._value, 1e-12, f"{op.name}: compiled {program.source}")
        demand(np.asarray(got).dtype == found.dtype, f"{op.name}: compiled to {np.asarray(got).dtype}")


def single_law(name: str, k: int) -> None:
    """float32 stays float32 in value and gradient, and is the float64 result rounded."""
    op = TABLE[name]
    args, params = make_case(name, k, SIZES, np.float32)
    leaves, out, w, targets = gradients(op, (args, params))
    wide = tuple(a.astype(np.result_type(a.dtype, np.float64))[()] if is_leaf(a) else a for a in args)
    wide_params = {key: "float64" if v == "float32" else v for key, v in params.items()}
    wide_leaves = tensors(wide, targets)
    wide_out = op(*wide_leaves, **wide_params)
    if not leaves:
        return
    if out.dtype.kind == "f":
        demand(out.dtype == np.float32, f"{name}: {out.dtype}")
        close(out._value, wide_out._value, 2e-5, f"{name}: value")
        demand(out.term.dtype in (None, np.float32), f"{name}: formula of dtype {out.term.dtype}")
    if w is None:
        return
    wide_out.backward(tensor(w._value.astype(wide_out.dtype)))
    for i in targets:
        demand(leaves[i].grad.dtype == args[i].dtype, f"{name}: gradient of dtype {leaves[i].grad.dtype}")
        close(leaves[i].grad._value, wide_leaves[i].grad._value, 5e-5, f"{name}: gradient {i}")


NARROW = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""The dtypes of few digits, and their rounding."""
CANCELLING = {"dsinc": 16}
"""Ops of which torch rounds steps that nearly cancel, and how many times less exact that makes them."""


def doubled(value: Any) -> Any:
    """An array of few digits, or a tensor of one, in float64."""
    array = np.asarray(value._value if isinstance(value, Tensor) else value)
    return array.astype(np.float64)[()] if dtypes.is_narrow(array.dtype) else array


def refused_law(op: Op, leaves: list[Any], params: dict[str, Any]) -> None:
    """An op without a kernel of half precision says so in torch's words."""
    try:
        op(*leaves, **params)
    except (NotImplementedError, RuntimeError) as error:
        demand(re.search("Half|BFloat16", str(error)), f"{op.name}: refuses half precision without its name: {error}")
        return
    raise LawBroken(f"{op.name}: takes half precision, which its entry refuses")


def narrow_law(name: str, k: int, dtype: str) -> None:
    """float16 and bfloat16 stay what they are, and number, gradients, formulas and programs are float64's, rounded."""
    op = TABLE[name]
    args, params = make_case(name, k, SIZES, np.float32)
    args = tuple(a.astype(dtypes.as_dtype(dtype))[()] if is_leaf(a) and a.dtype.kind == "f" else a for a in args)
    params = {key: dtype if v == "float32" else v for key, v in params.items()}
    wide_params = {key: "float64" if v == dtype else v for key, v in params.items()}
    targets = [i for i, a in enumerate(args) if is_data(a) and dtypes.is_floating(a.dtype) and op.differentiable(i)]
    leaves, wide_leaves = tensors(args, targets), tensors(tuple(map(doubled, args)), targets)
    if not any(is_data(a) and dtypes.is_narrow(a.dtype) for a in args):
        return
    if "h" in op.refuses:
        refused_law(op, leaves, params)
        return
    out, wide_out = op(*leaves, **params), op(*wide_leaves, **wide_params)
    if not dtypes.is_real_floating(out.dtype):
        return
    values = {f"x{i}": a for i, a in enumerate(args) if is_data(a)}
    results = [(out, wide_out)]
    if out.requires_grad:
        w = weights(out.shape, out.dtype)
        values["w"] = w
        out.backward(tensor(w, name="w"))
        wide_out.backward(tensor(doubled(w)))
        results += [(leaves[i].grad, wide_leaves[i].grad) for i in targets if leaves[i].grad is not None]
    # One program has all results: how each of them is compiled alone is shown in float64.
    program = compiled([got for got, _ in results], list(values))
    with np.errstate(all="ignore"):
        ran = program(*values.values())
    for (got, want), computed in zip(results, ran, strict=True):
        demand(got.dtype == dtypes.as_dtype(dtype), f"{name}: {got.dtype}")
        found, term = read(got)
        demand(term.dtype in (None, got.dtype), f"{name}: formula of dtype {term.dtype}")
        demand(np.asarray(computed).dtype == got.dtype, f"{name}: compiled to {np.asarray(computed).dtype}")
        formula = evaluated(term, args, values.get("w"), found)
        for what, value in (("number", got), ("formula", formula), ("program", computed)):
            slack = 8 * NARROW[dtype] * CANCELLING.get(name, 1)
            close(doubled(value), want._value, slack, f"{name} {dtype}: {what} {term}")

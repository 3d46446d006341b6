"""Passes over terms: cheaper programs with the same values, in the user's order of operations.

Each rewrite states when it is valid.  None reassociates sums or products of arrays; what changes is where scalars are
multiplied in, how deltas and broadcasts are expressed, and what is not computed at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symgrad.compiler import axes, merged
from symgrad.compiler.contracted import with_contractions
from symgrad.compiler.diagonals import without_identities
from symgrad.compiler.grams import with_grams
from symgrad.compiler.kept import kept_sum, without_kept_axes
from symgrad.compiler.merged import known_by, moved_constant
from symgrad.compiler.operands import Operands
from symgrad.compiler.singles import negated, with_singles
from symgrad.compiler.triangles import with_triangles
from symgrad.dtypes import is_floating
from symgrad.errors import CompileError
from symgrad.formula.term import NUMBER, SIZE, Term, full, make, number, postorder, rebuilt
from symgrad.op import broadcast_shapes, lookup
from symgrad.ops.linalg.contraction import einsum_op
from symgrad.ops.shapes.shaping import unsqueeze_op


def optimise(outputs: Sequence[Term], derived: bool, order: Sequence[Term] | None) -> list[Term]:
    """The outputs with every pass applied; dead code is what no output reaches, sharing is identity of terms.

    ``derived`` programs are nobody's order of operations, so products in them may also be regrouped where that is
    cheaper (:func:`_regrouped`).  ``order``: the terms of the outputs, where they are known.
    """
    settled: set[Term] = set()  # terms in which nothing is left to change
    seen: set[Term] = set()

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        if args is term.args and term in settled:
            return term
        made = known_by(_changed(term, args), seen)
        if made is term or (made.args == args and _alike(made, term)):
            settled.add(made)
        return made

    found = opened(outputs, order := postorder(outputs) if order is None else order)
    if derived:
        found = without_identities(found, order if found == outputs else postorder(found))
    found = rebuilt(found, change, order if found == outputs else None)
    if derived:
        found = rebuilt(found, _regrouped, only=("mul", "add", "sub"))
        found, before = merged.inverses(found, order := postorder(found)), found
        order = order if found == before else postorder(found)
        found, before = merged.exponentials(found, order), found
        order = order if found == before else postorder(found)
        found, before = with_triangles(found, order), found
        order = order if found == before else postorder(found)
    else:
        order = postorder(found)
    found, before = merged.with_shares(found, order), found
    order = order if found == before else postorder(found)
    single = with_singles(found, order)
    known = order if single == found else postorder(single)
    last = rebuilt(single, change, known)
    last, before = without_kept_axes(last, order := known if last == single else postorder(last)), last
    if not derived:
        return last
    joined = with_contractions(last, order := order if last == before else postorder(last), _changed)
    return with_grams(joined, order if joined == last else postorder(joined))


def _alike(a: Term, b: Term) -> bool:
    """Whether two terms differ in nothing but their arguments."""
    return a.op is b.op and a.fits(b) and a.params == b.params


def opened(outputs: Sequence[Term], order: Sequence[Term] | None = None) -> list[Term]:
    """Custom functions as what they are made of: a program does not call what it cannot carry along.

    ``order``: the terms of the outputs, where they are known.
    """
    if all(term.op.kind != "function" for term in (postorder(outputs) if order is None else order)):
        return list(outputs)

    def change(term: Term, args: tuple[Any, ...]) -> Term:
        known = term.op.kind == "function" and term.op.define is not None
        return term.op.define(*args, **term.params) if known else term.with_args(args)  # type: ignore[misc]

    found = rebuilt(outputs, change)
    for term in postorder(found):
        if term.op.kind == "function":
            changed = term.params["signature"].changed() if "signature" in term.params else None
            raise CompileError(
                f"{term.op.name}() cannot be compiled: "
                + (
                    changed
                    or "what it computes is not known, since it needs values and states no formula. Give the custom "
                    "function a static method symbolic(*args) that returns its formula, or write it with tensor "
                    "operations only."
                )
            )
    return found


def _regrouped(term: Term, args: tuple[Any, ...]) -> Term:
    """a · (1/b) is a/b, with one rounding less; (A · v) · u is A · (v · u) where v and u are smaller than A.

    A multiple of (x/y)/y, as slopes of quotients are, is divided last.  Two choices by one condition are one, and
    a/n ± b/n is (a ± b)/n for a size n.
    """
    if term.op.name == "add" and (chosen := merged.choices(term, args)) is not None:
        return chosen
    if term.op.name in ("add", "sub"):
        over = args[0].args[1] if all(a.op.name == "div" and a.args[0].fits(term) for a in args) else None
        if over is not None and over.op is SIZE and over is args[1].args[1]:
            whole = make(term.op, tuple(a.args[0] for a in args), {}, term.shape, term.dtype)
            return make(args[0].op, (whole, over), {}, term.shape, term.dtype)
    if term.op.name == "mul" and term.dtype is not None and is_floating(term.dtype):
        a, u = args
        if term.shape and a.op.name == "mul" and a.fits(term):
            for big, v in (a.args, a.args[::-1]):
                small = _broadcast((v, u))
                dtype = a.op(v, u).dtype if is_weak(u) or is_weak(v) else term.dtype
                smaller = big.shape == term.shape and small is not None and len(small) < len(big.shape)
                if smaller and _as_precise(dtype, term.dtype):
                    factor = _regrouped(make(a.op, (v, u), {}, small, dtype), (v, u))
                    return make(a.op, (big, factor), {}, term.shape, term.dtype)
        for a, b in (args, args[::-1]):
            if b.op.name == "div" and a.fits(term) and b.fits(term) and _is_by_square(b):
                over = make(term.op, (a, b.args[0]), {}, term.shape, term.dtype)
                return make(b.op, (_regrouped(over, over.args), b.args[1]), {}, term.shape, term.dtype)
            if (
                b.op.name == "div"
                and b.args[0].number == 1
                and (b.dtype is None or b.dtype == term.dtype)
                and not is_weak(a)
            ):
                return make(b.op, (a, b.args[1]), {}, term.shape, term.dtype)
    return term.with_args(args)


def _is_by_square(term: Term) -> bool:
    """Whether a quotient is (x/y)/y, which leaves the range of numbers before its multiples do."""
    x, y = term.args
    x = x.args[0] if x.op.name == "neg" else x
    return x.op.name == "div" and x.args[1] is y and x.fits(term)


def _as_precise(dtype: Any, like: Any) -> bool:
    """Whether numbers of one dtype have the digits of another: a factor in single precision does not come first."""
    return dtype is not None and is_floating(dtype) and bool(np.finfo(dtype).eps == np.finfo(like).eps)


def _changed(term: Term, args: tuple[Any, ...]) -> Term:
    if not args:
        return term
    op = term.op
    name = op.name
    if op.identity or (name == "cast" and args[0].dtype == term.dtype and not is_weak(args[0])):
        return args[0]  # type: ignore[no-any-return]
    if not term.shape:
        found = _folded(term, args) if args[0].op is NUMBER else None
        if found is not None:
            return found
    elif op.entrywise:
        for a in args:
            if a.shape and (a.op.name in _LEANED or a.op.identity):
                args = _without_broadcasts(term, args)
                if (spread := _spread_last(term, args)) is not None:
                    return spread
                break
    if (constant := moved_constant(term, args)) is not None:
        return constant
    rule = _RULES.get(name)
    if rule is not None:
        short = rule(term, args)
        if short is not None:
            return short
    return term.with_args(args)


def same_place(made: Term, like: Term) -> Term:
    """``made`` with the shape and dtype that ``like`` has; the program's dtypes are those of the trace."""
    if made.op is NUMBER or made.fits(like) or not made.args:
        return made
    if made.op.name == "cast":  # which says itself what dtype it gives
        return make(made.op, (made,), {"dtype": like.dtype.name}, like.shape, like.dtype)
    return make(made.op, made.args, made.params, like.shape, like.dtype)


# ---------------------------------------------------------------------------------------------- constants


def is_weak(term: Term) -> bool:
    """Whether a term is a Python number in the program: a constant or a size."""
    return term.op is NUMBER or term.op is SIZE or (term.dtype is None and not term.shape)


def _folded(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A scalar function of plain numbers is computed now: exactly where it is rational, else to the last bit."""
    if any(a.op is not NUMBER for a in args):
        return None
    if term.op.kind != "elementwise" and term.op.name not in ("conj", "real", "imag"):
        return None
    values = [a.number for a in args]
    return _float(term, values)


def _float(term: Term, values: Sequence[Any]) -> Term | None:
    numbers = [math.pi if isinstance(v, str) else float(v) if isinstance(v, Fraction) else v for v in values]
    with np.errstate(all="ignore"):
        floats = [float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in numbers]
        try:
            value = term.op.kernel(*floats)
        except ZeroDivisionError:  # of Python's numbers; NumPy's divide as IEEE says
            if any(isinstance(v, complex) for v in floats):
                return None
            value = term.op.kernel(*map(np.float64, floats))
        except (ArithmeticError, ValueError):
            return None
    if np.ndim(value) or np.asarray(value).dtype.kind not in "bfc":
        return None
    plain = np.asarray(value).item()
    fits = term.dtype is None or term.dtype.kind == "c" or not isinstance(plain, complex)
    return number(plain, term.dtype if fits else None)


# ---------------------------------------------------------------------------------------------- broadcasts


_PRODUCTS = ("mul", "div")
_SPREAD = ("full", "expand", "unsqueeze", "einsum")
_LEANED = frozenset(_PRODUCTS + _SPREAD)
"""The ops, beside those that do nothing, of which :func:`lean` finds smaller ones."""


def lean(term: Term, depth: int = 2) -> Term:
    """A smaller term that broadcasts to the same values as ``term``, or the term itself."""
    while True:
        op = term.op.name
        if op == "full" and not isinstance(term.params["value"], str):
            return number(term.params["value"])
        if op == "expand" or term.op.identity:
            term = term.args[0]
        elif op == "unsqueeze":
            inner = lean(term.args[0], depth)
            behind = term.ndim - 1 - term.params["dim"]  # axes from the end, where shapes meet
            if behind < inner.ndim:
                return term if inner is term.args[0] else unsqueeze_op(inner, dim=inner.ndim - behind)
            term = inner
        elif op == "neg":
            inner = lean(term.args[0], depth)
            return term if inner is term.args[0] else negated(inner)
        elif op == "einsum" and len(term.args) == 1:
            spread = _broadcast_of_einsum(term)
            if spread is None:
                return term
            term = spread
        elif depth and op in _PRODUCTS and _spread_inside(term, depth - 1):
            return _lean_product(term, depth - 1)
        else:
            return term


def _spread_inside(term: Term, depth: int) -> bool:
    """Whether a factor of a product, or of a product among its factors, may be smaller than it is."""
    for a in term.args:
        op = a.op
        if op.name in _SPREAD or op.identity or (depth and op.name in _PRODUCTS and _spread_inside(a, depth - 1)):
            return True
    return False


def _lean_product(term: Term, depth: int) -> Term:
    """A product of which a factor was spread out, without that where the product stays smaller."""
    small = tuple(lean(a, depth) for a in term.args)
    shape = None if all(a is b for a, b in zip(small, term.args, strict=True)) else _broadcast(small)
    if shape is None or shape == term.shape:
        return term
    for one, other in (small, small[::-1]) if term.op.name == "mul" else ():
        if one.number == 1 and other.shape == shape and (other.dtype == term.dtype or is_weak(other)):
            return other
    if all(map(is_weak, small)):
        return term
    return make(term.op, small, term.params, shape, term.dtype)


def _broadcast_of_einsum(term: Term) -> Term | None:
    """The operand with axes of size 1 where a contraction only broadcasts it."""
    labels, output = term.params["inputs"][0], term.params["output"]
    kept = [x for x in output if x in labels]
    if len(set(labels)) < len(labels) or len(set(output)) < len(output) or kept != list(labels) or kept == list(output):
        return None
    found = term.args[0]
    first = output.index(labels[0]) if labels else len(output)
    for axis, label in enumerate(output[first:]):
        if label not in labels:
            found = unsqueeze_op(found, dim=axis)
    return found


def _without_broadcasts(term: Term, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands that another operand's shape broadcasts anyway need not be spread out first."""
    small = [lean(a) if a.shape else a for a in args]
    for s, a in zip(small, args, strict=True):
        if s is not a:
            break
    else:
        return args
    for k in range(len(args) + 1):
        tried = (*args[:k], *small[k:]) if k else tuple(small)
        if _broadcast(tried) == term.shape and not all(is_weak(t) for t in tried):
            return _typed(term, args, tried)
        tried = (*small[: len(args) - k], *args[len(args) - k :])
        if _broadcast(tried) == term.shape and not all(is_weak(t) for t in tried):
            return _typed(term, args, tried)
    return args


def _spread_last(term: Term, args: tuple[Any, ...]) -> Term | None:
    """What is computed of operands that are all spread out, computed before that."""
    small = tuple(lean(a) if a.shape else a for a in args)
    shape = None if all(map(is_weak, small)) or term.shape in (a.shape for a in small) else _broadcast(small)
    if shape is None or shape == term.shape or _typed(term, args, small) is args:
        return None
    found = _changed(make(term.op, small, term.params, shape, term.dtype), small)
    return make(lookup("expand"), (found,), {"shape": term.shape}, term.shape, term.dtype)


def _typed(term: Term, args: tuple[Any, ...], tried: tuple[Any, ...]) -> tuple[Any, ...]:
    """A constant array that becomes a number no longer takes part in promotion, which may matter for comparisons."""
    if term.op.result is None or term.op.name == "where":
        return tried
    return tried if len({a.dtype for a in args if a.dtype is not None}) < 2 else args


def _broadcast(terms: Sequence[Term]) -> Any:
    try:
        return broadcast_shapes(*(t.shape for t in terms))
    except Exception:  # noqa: BLE001  (shapes that do not fit are simply not what is wanted)
        return None


# ---------------------------------------------------------------------------------------------- single ops


def _pow(term: Term, args: tuple[Any, ...]) -> Term | None:
    """x², x³ by multiplication, and negative powers of whole numbers, which NumPy refuses, as the kernel does."""
    x, y = args
    if y.dtype is not None and y.dtype.kind == "i" and term.dtype.kind in "iu" and y.op.name != "abs":
        size = lookup("abs")(y)
        vanishes = lookup("logical_and")(lookup("lt")(y, 0), lookup("ne")(lookup("abs")(x), 1))
        return lookup("where")(vanishes, 0, make(term.op, (x, size), {}, term.shape, term.dtype))  # type: ignore[no-any-return]
    if y.number in (2, 3) and not isinstance(y.number, (str, bool)) and not is_weak(x):
        square = make(lookup("mul"), (x, x), {}, x.shape, term.dtype)
        return square if y.number == 2 else make(lookup("mul"), (square, x), {}, x.shape, term.dtype)
    return None


def _square(term: Term, args: tuple[Any, ...]) -> Term | None:
    return None if is_weak(args[0]) else make(lookup("mul"), (args[0], args[0]), {}, term.shape, term.dtype)


def _add(term: Term, args: tuple[Any, ...]) -> Term | None:
    """a + (-b) is a - b, and a + a is 2 a, to the last bit."""
    a, b = args
    if a is b and term.dtype is not None and is_floating(term.dtype):
        return make(lookup("mul"), (number(2), a), {}, term.shape, term.dtype)
    if b.op.name == "neg":
        return make(lookup("sub"), (a, b.args[0]), {}, term.shape, term.dtype)
    if a.op.name == "neg":
        return make(lookup("sub"), (b, a.args[0]), {}, term.shape, term.dtype)
    return None


def _sub(term: Term, args: tuple[Any, ...]) -> Term | None:
    a, b = args
    if b.op.name == "neg":
        return make(lookup("add"), (a, b.args[0]), {}, term.shape, term.dtype)
    return None


def _mul(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A factor that is the number 1, and the number -1."""
    for one, other in (args, args[::-1]):
        if one.op is not NUMBER:
            continue
        if one.number == 1 and not isinstance(one.number, (bool, str)) and other.fits(term):
            return other  # type: ignore[no-any-return]
        if one.number == -1 and not isinstance(one.number, str) and other.fits(term):
            return make(lookup("neg"), (other,), {}, term.shape, term.dtype)
    return _negated(term, args)


def _div(term: Term, args: tuple[Any, ...]) -> Term | None:
    if args[1].number == 1 and args[0].fits(term):
        return args[0]  # type: ignore[no-any-return]
    return _negated(term, args)


def _negated(term: Term, args: tuple[Any, ...]) -> Term | None:
    """(-a) · b is -(a · b) to the last bit, for products, quotients and contractions: signs move out and cancel."""
    for a in args:
        if a.op.name == "neg":
            break
    else:
        return None
    if term.dtype is None:
        return None
    signs = [a.op.name == "neg" for a in args]
    bare = tuple(a.args[0] if s else a for a, s in zip(args, signs, strict=True))
    inner = term.with_args(bare)
    inner = _changed(inner, bare)
    return inner if sum(signs) % 2 == 0 else negated(inner)


def _neg(term: Term, args: tuple[Any, ...]) -> Term | None:
    (x,) = args
    if x.op.name == "sub":
        return make(x.op, x.args[::-1], {}, term.shape, term.dtype)
    if x.op.name == "full" and not isinstance(x.params["value"], (str, bool)) and x.dtype.kind in "fc":
        return full(x.shape, -x.params["value"], x.dtype)
    return x.args[0] if x.op.name == "neg" else None


def _sigmoid(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The kernel's own formula, written out so that signs cancel; that of complex numbers is longer."""
    (x,) = args
    if is_weak(x) or x.complex_dtype:
        return None
    if x.dtype is not None and x.dtype.kind in "bui":  # whole numbers without a sign have no negative
        x = make(lookup("cast"), (x,), {"dtype": term.dtype.name}, x.shape, term.dtype)
    power = make(lookup("exp"), (negated(x),), {}, term.shape, term.dtype)
    below = make(lookup("add"), (number(1), power), {}, term.shape, term.dtype)
    return make(lookup("div"), (number(1), below), {}, term.shape, term.dtype)


def _inv(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The inverse of a triangle costs a sixth of that of any matrix."""
    (x,) = args
    if x.op.name != "tril" or x.params["k"]:
        return None
    return make(lookup("inv_lower"), x.args, {}, term.shape, term.dtype)


# ---------------------------------------------------------------------------------------------- contractions


def _einsum(term: Term, args: tuple[Any, ...]) -> Term | None:
    found = kept_sum(term, args)
    if found is None and len(args) == 1:
        same = _broadcast_of_einsum(term.with_args(args))
        if same is not None and same.shape == term.shape:  # new axes of size 1
            return same
    return _contraction(term, args, term.params["inputs"], term.params["output"]) if found is None else found


def _sum(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The sum of a matrix that is zero off its diagonal, along one of its axes, is that diagonal."""
    (x,) = args
    if x.op is einsum_op and len(x.args) == 1:
        labels, gone = x.params["output"], {d % x.ndim for d in term.params["dim"]}
        output = tuple(label for k, label in enumerate(labels) if k not in gone)
        if set(labels) == set(output) and x.dtype == term.dtype:
            shape = tuple(size for k, size in enumerate(x.shape) if k not in gone)
            found = make(einsum_op, x.args, {**x.params, "output": output, "shape": shape}, shape, term.dtype)
            for k in sorted(gone) if term.params["keepdim"] else ():
                found = unsqueeze_op(found, dim=k)
            return found
    return _negated(term, args)


def _matmul(term: Term, args: tuple[Any, ...]) -> Term | None:
    """A product with a broadcast, constant or diagonal matrix; any other product stays ``a @ b``."""
    if not any(a.op.name in ("full", "expand") or _is_delta(a) for a in args):
        return _negated(term, args)
    inputs, output = term.op.einsum(*(a.shape for a in args))
    return _contraction(term, args, inputs, output)


def _is_delta(term: Term) -> bool:
    return (term.op is einsum_op and len(term.args) == 1) or term.op.name == "eye"


def _contraction(term: Term, args: tuple[Any, ...], inputs: Any, output: Any) -> Term | None:
    work = Operands(args, inputs, output)
    changed = False
    while work.step():
        changed = True
    if not changed:
        delta = _constant_delta(term, args)
        return _negated(term, args) if delta is None else delta
    core: Term | None = None
    if work.xs:
        core = _core(term, work)
        if core is None:
            return None
    if work.value != 1:
        work.scalars.append(number(work.value))
    for s in work.scalars:
        core = s if core is None else make(lookup("mul"), (s, core), {}, core.shape, term.dtype)
    if core is None or core.op is NUMBER:
        return full(term.shape, 1 if core is None else core.number, term.dtype)
    if core.shape != term.shape:
        core = make(lookup("expand"), (core,), {"shape": term.shape}, term.shape, term.dtype)
    return core


def _constant_delta(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Ones on a diagonal are the identity matrix."""
    (x,) = args if len(args) == 1 else (None,)
    if x is None or x.op.name != "full" or x.params["value"] != 1 or x.ndim != 1:
        return None
    if term.params.get("output") is None or term.params["output"] != term.params["inputs"][0] * 2:
        return None
    return make(lookup("eye"), (), {"n": term.shape[0], "dtype": term.dtype.name}, term.shape, term.dtype)


def _core(term: Term, work: Operands) -> Term | None:
    """The contraction of what is left, without the axes that nothing is known of."""
    numbers: dict[int, int] = {}
    inputs = tuple(tuple(numbers.setdefault(a, len(numbers)) for a in row) for row in work.inputs)
    output = tuple(numbers.setdefault(a, len(numbers)) for a in work.output)
    if len(work.xs) == 1 and inputs[0] == output and len(set(output)) == len(output):
        return same_place(work.xs[0], term) if work.xs[0].shape == term.shape else work.xs[0]
    if len(work.xs) == 1 and (turned := _turned_first(work.xs[0], inputs[0], output)) is not None:
        work.xs, inputs = [turned], (tuple(a for a in output if a in inputs[0]),)
    return make(
        einsum_op, tuple(work.xs), {"inputs": inputs, "output": output, "shape": term.shape}, term.shape, term.dtype
    )


def _turned_first(x: Term, labels: tuple[int, ...], output: tuple[int, ...]) -> Term | None:
    """What is turned and spread out, turned alone: a product may do without the spreading."""
    dims = tuple(labels.index(a) for a in output if a in labels)
    if len(dims) == len(output) or sorted(dims) != list(range(x.ndim)) or dims == tuple(range(x.ndim)):
        return None
    return make(lookup("permute"), (x,), {"dims": dims}, tuple(x.shape[k] for k in dims), x.dtype)


def _mean(term: Term, args: tuple[Any, ...]) -> Term | None:
    """Mean is the sum over the number of entries, as NumPy computes it."""
    (x,) = args
    if term.dtype is None or not is_floating(term.dtype):
        return None
    total = make(lookup("sum"), (x,), dict(term.params), term.shape, term.dtype)
    return make(lookup("div"), (total, x.sizes(term.params["dim"])), {}, term.shape, term.dtype)


def _norm(term: Term, args: tuple[Any, ...]) -> Term | None:
    """The 1-norm as the kernel computes it."""
    (x,) = args
    if is_weak(x) or x.dtype.kind != "f" or x.dtype != term.dtype or term.params["p"] != 1:
        return None
    size = make(lookup("abs"), (x,), {}, x.shape, x.dtype)
    params = {"dim": term.params["dim"], "keepdim": term.params["keepdim"]}
    return make(lookup("sum"), (size,), params, term.shape, term.dtype)


_RULES: dict[str, Callable[[Term, tuple[Any, ...]], Term | None]] = {
    "pow": _pow, "square": _square, "add": _add, "sub": _sub, "mul": _mul, "div": _div, "neg": _neg,
    "sigmoid": _sigmoid, "sum": _sum, "permute": axes.permute, "reshape": axes.reshape, "expand": axes.expand,
    "flip": merged.flip, "masked": merged.masked, "where": merged.chosen,
    "getitem": axes.getitem, "inv": _inv, "put": axes.put,
    "gather": axes.gather, "scatter_into": axes.scatter,
    "unsqueeze": axes.unsqueeze, "squeeze": axes.squeeze, "einsum": _einsum, "matmul": _matmul, "mean": _mean,
    "norm": _norm,
}  # fmt: skip

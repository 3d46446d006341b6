"""How each op reads as a sum of products: the ops that the normal form knows by more than their einsum.

A reader gets the run, the term and the forms of its arguments.  It answers None where the general reading is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from symgrad.dtypes import is_real_floating
from symgrad.formula.canonical.cases.branches import read_first, read_where
from symgrad.formula.canonical.chains import count_transposes, counted, identity, is_truth
from symgrad.formula.canonical.entries.blocks import read_joined, read_narrow, read_select, read_sum
from symgrad.formula.canonical.entries.places import read_gathered, read_getitem, read_put, read_scattered
from symgrad.formula.canonical.entries.slices import is_identity
from symgrad.formula.canonical.entries.written import read_written
from symgrad.formula.canonical.matrices.commuting import commutes
from symgrad.formula.canonical.matrices.inverses import inverse_of
from symgrad.formula.canonical.matrices.kronecker import before_reshape, determinant_of_kron, read_as_kron
from symgrad.formula.canonical.matrices.transforms import read_fourier
from symgrad.formula.canonical.matrices.triangles import (
    running_sums,
    triangle,
    turned_part,
    weights_in_front,
)
from symgrad.formula.canonical.normal import Factor, Form, Product, exact_number, plain_power, size_factors
from symgrad.formula.canonical.sums.expanding import WIDEST
from symgrad.formula.canonical.sums.shifts import read_logsumexp, read_softmax
from symgrad.formula.canonical.writing import whole
from symgrad.formula.term import Term
from symgrad.op import lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser

Reader = Callable[["Canonicaliser", Term, Sequence[Form]], Form | None]


_REAL_ON_A_PART = frozenset(("positive", "unit", "above-one", "probability", "positive-definite"))
"""Domains of functions that leave the real numbers outside: their arguments say in which numbers they compute."""


def read_arguments(run: Canonicaliser, term: Term) -> list[Form]:
    """The forms of a term's arguments.

    A cast to complex numbers does not show in them, but √x and log x need it where x is real.
    """
    forms = [run.forms[a] for a in term.args]
    if term.op.domain not in _REAL_ON_A_PART or not any(a.complex_dtype for a in term.args):
        return forms
    power = forms[1].constant if term.op.name == "pow" else None
    if power is not None and Fraction(power.coef).denominator == 1:
        return forms
    return [_complexed(run, a, form) for a, form in zip(term.args, forms, strict=True)]


def _complexed(run: Canonicaliser, raw: Term, form: Form) -> Form:
    if not raw.complex_dtype or form.constant is not None:
        return form
    made = whole(run.term(form), form.shape)
    real = made.dtype is not None and made.dtype.kind != "c"
    return run.opaque(lookup("cast")(made, dtype=raw.dtype.name)) if real else form


def _read_sum(*signs: int) -> Reader:
    def read(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
        if term.dtype is not None and term.dtype.kind == "b":
            return run.elementwise(term.op, args, {}, term.shape)
        return run.plus(args, signs, term.shape)

    return read


def _read_ratio(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """ratio(x, y) = x · ratio(1, y) for finite x: both are 0 where y is 0.  Coefficients of y are pulled out."""
    p = run.product(args[1])
    if not p.coef:
        return Form((), term.shape)
    one = Form([Product(1, (), ())], ())
    if p.constant:
        return args[0].scaled(Fraction(1) / p.coef, p.decimal).broadcast(term.shape)
    guard = one
    if p.elementwise and all(f.power > 0 for f in p.factors):
        for f in p.factors:
            inner = Form([Product(1, [Factor(f.base, f.labels)], p.out)], args[1].shape)
            guard = run.times(guard, run.power(run.elementwise(term.op, [one, inner], {}, args[1].shape), f.power))
    else:
        inner = Form([Product(1, p.factors, p.out)], args[1].shape)
        guard = run.elementwise(term.op, [one, inner], {}, args[1].shape)
    return run.times(args[0].scaled(Fraction(1) / p.coef, p.decimal), guard).broadcast(term.shape)


def _read_pow(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    constant = args[1].constant
    if constant is None:
        return None
    if constant.coef == 0:
        return Form([Product(1, (), tuple(range(term.ndim)))], term.shape)
    power = plain_power(Fraction(constant.coef))
    return run.power(args[0].broadcast(term.shape), power) if -1000 < power < 1000 else None


def _read_full(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    value = exact_number(term.params["value"])
    if value is None:
        return None
    return Form([Product(value[0], (), tuple(range(term.ndim)), value[1])] if value[0] else (), term.shape)


def _read_eye(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    return None if term.dtype.kind == "b" else Form([Product(1, (), (0, int(term.shape[0] == 1)))], term.shape)


def _read_cast(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """A cast between float types, or of truth values and integers to them, does not show; one to truths asks x ≠ 0."""
    source = term.args[0].dtype
    if term.dtype.kind == "b" and not is_truth(term.args[0]):
        if is_identity(args[0]):
            return run.opaque(identity(term.shape[0], "bool"))
        return run.elementwise(lookup("ne"), [args[0], Form((), ())], {}, term.shape)
    if term.dtype.kind == "c" or (is_real_floating(term.dtype) and (source is None or source.kind != "c")):
        return args[0]
    return None


def _read_solve(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """solve(A, B) = A⁻¹B for regular A, and so for stacks of them; a lone axis of B is that of one right side."""
    a, b = args
    inverse = inverse_of(run, a) if len(a.shape) == 2 else run.form_of(lookup("inv")(whole(run.term(a), a.shape)))
    left, last = range(len(a.shape) - 2), len(term.shape) + 1
    columns = (last,) if len(b.shape) > 1 else ()
    rows = last + 1
    batch = tuple(range(len(term.shape) - 1 - len(columns)))
    beside = batch[len(batch) - len(left) :]
    right = batch[len(batch) - (len(b.shape) - 1 - len(columns)) :]
    if a.shape[:-2] != tuple([term.shape[k] for k in beside]) or b.shape[: len(right)] != tuple(
        [term.shape[k] for k in right]
    ):
        return None  # an axis of one entry is repeated
    contracted = last + 2
    return run.contract(
        [inverse, b],
        [(*beside, rows, contracted), (*right, contracted, *columns)],
        (*batch, rows, *columns),
        term.shape,
    )


def _inverses_of(run: Canonicaliser, form: Form) -> Form | None:
    """The inverses of a stack of transposed matrices are those of the matrices, transposed."""
    p = form.only
    if p is None or p.coef != 1 or len(p.factors) != 1 or p.factors[0].power != 1:
        return None
    *lead, row, column = p.out
    if p.factors[0].labels != (*lead, column, row) or p.factors[0].base.ndim != len(form.shape):
        return None
    axes = (*range(len(lead)), len(lead) + 1, len(lead))
    return run.opaque(lookup("inv")(p.factors[0].base)).restricted(axes)


def _read_cross(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """(sa) × (tb) = st (a × b), and of rows with one column x always the same, A × x = A [x]ₓ, always."""
    for sign, (rows, x) in ((1, args), (-1, args[::-1])):
        if len(term.shape) > 1 and x.covered() == [term.params["dim"]]:
            return _in_matrix(run, term, rows, x).scaled(sign)
    (s, a), (t, b) = map(run.apart, args)
    made = run.opaque(term.op(*(run.like(raw, x) for raw, x in zip(term.args, (a, b), strict=True)), **term.params))
    return run.times(run.times(s, t), made)


def _in_matrix(run: Canonicaliser, term: Term, rows: Form, x: Form) -> Form:
    """Cross products with one vector as the product with its matrix, which is that of the identity with it."""
    dim, size = term.params["dim"], term.shape[term.params["dim"]]
    scale, vector = run.apart(x.restricted([dim]))
    lines = whole(run.term(vector.spread([1], (size, size))), (size, size))
    matrix = run.times(scale, run.opaque(term.op(identity(size), lines, dim=1)))
    axes, new = tuple(range(len(term.shape))), len(term.shape)
    return run.contract([rows, matrix], [tuple(new if k == dim else k for k in axes), (new, dim)], axes, term.shape)


def _read_sylvester(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """AX + XA = cI has the solution X = cA⁻¹/2, for A with no two eigenvalues that add up to 0."""
    a, b, q = args
    p = q.terms[0] if len(q.terms) == 1 and len(q.shape) == 2 else None
    multiple = p is not None and p.out[0] == p.out[1] and not any(f.labels for f in p.factors)
    if p is None or not multiple or not run.same(a, b):
        return None
    scale = Form([Product(p.coef * Fraction(1, 2), p.factors, (), p.decimal)], ())
    return run.times(scale, inverse_of(run, a))


def _read_det(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """det(Mᵀ) = det(M) always: the orientation of the opaque factor is the one shown."""
    if len(args[0].shape) != 2:
        return None
    if args[0].shape == (1, 1) and term.op.name in ("det", "logdet"):
        number = args[0].restricted(())
        return number if term.op.name == "det" else run.elementwise(lookup("log"), [number], {}, ())
    written = _two_by_two(run, args[0])
    if written is not None and term.op.name == "det":
        a, b, c, d = map(run.form_of, written)
        return run.plus([run.times(a, d), run.times(b, c)], (1, -1), ())
    p = run.product(args[0])
    if (
        not p.coef
        or len(p.factors) != 1
        or p.coef != 1
        or p.has_delta
        or set(p.out) != set(p.factors[0].labels)
        or p.factors[0].power != 1
    ):
        return None
    base = p.factors[0].base
    found = determinant_of_kron(run, term.op.name, base)
    if found is not None:
        return found
    if base.op.name == "inv":
        # det(M⁻¹) = 1/det(M), log|det(M⁻¹)| = -log|det M| for regular M.
        inner = run.opaque(term.op(base.args[0]))
        return run.power(inner, -1) if term.op.name == "det" else inner.scaled(-1)
    return run.opaque(term.op(base))


def _two_by_two(run: Canonicaliser, form: Form) -> tuple[Term, ...] | None:
    """The entries of a 2 × 2 matrix whose rows or columns were stacked from numbers, row by row."""
    p = form.only
    alone = p is not None and form.shape == (2, 2) and len(p.factors) == 1 and not p.has_delta
    if p is None or not alone or (p.coef, p.factors[0].power) != (1, 1):
        return None
    base, labels = p.factors[0].base, p.factors[0].labels
    if base.op.name != "stack" or any(row.op.name != "stack" for row in base.args):
        return None
    (a, b), (c, d) = (row.args for row in base.args)
    return (a, b, c, d) if (labels == tuple(p.out)) == (base.params["dim"] == 0) else (a, c, b, d)


def _read_adjugate(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """adj [a, b; c, d] = [d, -b; -c, a], always."""
    written = _two_by_two(run, args[0])
    if written is None:
        return None
    (a, b, c, d), stack = written, lookup("stack")
    return run.form_of(stack(stack(d, -b, dim=0), stack(-c, a, dim=0), dim=0))


def _read_shifted_exp(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    return run.elementwise(lookup("exp"), [run.plus(args, (1, -1), term.shape)], {}, term.shape)


def _read_softplus(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    """log σ(x) = -softplus(-x) always."""
    inner = args[0].scaled(-1)
    return run.elementwise(lookup("softplus"), [inner], {}, term.shape).scaled(-1)


def _read_size(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form:
    coef, factors = size_factors(term.params["name"])
    return Form([Product(coef, factors, ())], ())


def _read_one_hot(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """One label after the other is the identity."""
    (labels,) = term.args
    if labels.op.name != "arange" or labels.params["n"] != term.params["classes"] or term.dtype == bool:
        return None
    return run.form_of(identity(term.params["classes"]))


def _read_frechet(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The derivatives of e^A and log A in directions that commute with A (cI, A⁻¹, e^A) are e^A and A⁻¹ times these."""
    matrix, direction = args
    if not direction.terms:
        return direction
    if term.ndim != 2 or len(direction.terms) != 1 or not commutes(direction.terms[0], matrix, run):
        made = term.op(*(run.like(t, a) for t, a in zip(term.args, args, strict=True)))
        run.arguments[made] = [matrix, direction]
        return run.opaque(made)
    slope = exponential(run, matrix) if term.op.name == "matrix_exp_frechet" else inverse_of(run, matrix)
    return run.contract([slope, direction], [(0, 1), (1, 2)], (0, 2), term.shape)


def exponential(run: Canonicaliser, form: Form) -> Form:
    """e^(Aᵀ) = (e^A)ᵀ, always."""
    inner = counted(whole(run.term(form), form.shape))
    back = counted(whole(run.term(form.restricted((1, 0))), form.shape[::-1]))
    if count_transposes(back) < count_transposes(inner):
        return run.opaque(lookup("matrix_exp")(back)).restricted((1, 0))
    return run.opaque(lookup("matrix_exp")(inner))


def _read_triangle(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The lower (upper) part of a lower (upper) triangular matrix is the matrix."""
    if term.ndim != 2:
        return None
    k = term.params["k"]
    found = triangle(term.op, args[0], run) if k == 0 else None
    return found or weights_in_front(term.op, args[0], k, run) or turned_part(term.op, args[0], k, run)


def _read_prod(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """The product of all eigenvalues is the determinant, always; that of equal entries a power."""
    p = args[0].only
    if p is None or term.shape or len(p.factors) != 1 or p.coef != 1 or p.factors[0].power != 1 or len(p.out) != 1:
        return None
    base = p.factors[0].base
    return run.opaque(lookup("det")(base.args[0])) if base.op.name == "eigvalsh" and base.ndim == 1 else None


def _read_reshape(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """Axes of size 1 come and go; an identity whose two axes are split alike is a product of identities."""
    old, new = ([k for k, size in enumerate(shape) if size != 1] for shape in (args[0].shape, term.shape))
    if [args[0].shape[k] for k in old] == [term.shape[k] for k in new]:
        return args[0].restricted(old).spread(new, term.shape)
    product = read_as_kron(run, term, args[0])
    if product is not None:
        return product
    p = args[0].only
    f = None if p is None else _array_of(p)
    if p is not None and f is not None:
        front = Form([Product(p.coef, p.factors[:-1], (), p.decimal)], ())
        if f.base.op.name == "reshape" and f.power == 1:
            # Reshaped twice is reshaped once.
            (inner,) = run.arguments.get(f.base, [run.opaque(f.base.args[0])])
            made = inner if inner.shape == term.shape else run.linear(term.op, run.term(inner), inner, term.params)
            return run.times(front, made)
        before = before_reshape(f.base, term.shape)
        if before is not None:
            return run.times(front, run.form_of(lookup("pow")(before, f.power) if f.power != 1 else before))
    if p is not None and p.elementwise and not any(g.labels for g in p.factors):
        return Form([p.with_out(tuple(range(term.ndim)))], term.shape)
    if len(new) < term.ndim:
        bare = lookup("reshape")(term.args[0], shape=tuple(term.shape[k] for k in new))
        return run.form_of(bare).spread(new, term.shape)
    half = term.ndim // 2
    if p is None or len(p.out) != 2 or p.out[0] != p.out[1] or any(f.labels for f in p.factors):
        return None
    if term.ndim % 2 or term.shape[:half] != term.shape[half:] or half < 2:
        return None
    return Form([Product(p.coef, p.factors, (*range(half), *range(half)), p.decimal)], term.shape)


def _array_of(p: Product) -> Factor | None:
    """The array, its axes in order, of a product of one with scalars; None of others, such as a diagonal of one."""
    *scalars, f = p.factors or (None,)
    plain = f is not None and f.labels == p.out and not p.has_delta
    return f if plain and not any(g.labels for g in scalars) else None


def _read_moved(run: Canonicaliser, term: Term, args: Sequence[Form]) -> Form | None:
    """roll(roll(x, -1) - x, 1) = x - roll(x, 1), always: constants stay, and what was moved before is moved once."""
    (form,), op, dims = args, term.op, term.params["dims"]
    from_last = _sums_from_last(run, term)
    if from_last is not None:
        return from_last
    varies = form.covered()
    kept = [k for k, dim in enumerate(dims) if dim % term.ndim in varies]
    if len(kept) < len(dims):
        params = {name: tuple(value[k] for k in kept) for name, value in term.params.items()}
        return run.form_of(op(term.args[0], **params)) if kept else form
    parts = [run.apart(Form([p], form.shape)) for p in form.terms[: WIDEST + 1]]
    before = [_moved_before(term, inner) for _, inner in parts]
    if len(parts) > WIDEST or all(base is None for base in before):
        return None
    moved = []
    for (front, inner), base in zip(parts, before, strict=True):
        if base is not None:
            shifts = [a + b for a, b in zip(base.params.get("shifts", ()), term.params.get("shifts", ()), strict=True)]
            x = op(base.args[0], shifts=tuple(shifts), dims=dims) if any(shifts) else base.args[0]
            moved.append(run.times(front, run.form_of(x)))
        elif {dim % term.ndim for dim in dims} <= {*inner.covered()}:
            moved.append(run.times(front, run.linear(op, run.like(term.args[0], inner), inner, term.params)))
        else:
            return None
    return run.plus(moved, [1] * len(moved), form.shape)


def _sums_from_last(run: Canonicaliser, term: Term) -> Form | None:
    """flip(cumsum(flip(D))) of a diagonal matrix D; None for others."""
    sums, dims = term.args[0], term.params["dims"]
    turned = sums.args[0] if sums.op.name == "cumsum" and term.op.name == "flip" else None
    if turned is None or turned.op is not term.op or not turned.params["dims"] == dims == (sums.params["dim"],):
        return None
    return running_sums(run, run.forms[turned.args[0]], dims[0], back=True)


def _moved_before(term: Term, form: Form) -> Term | None:
    """What a form is, where it is an array whose entries the same op moved along the same axes."""
    p = form.terms[0]
    f = _array_of(p) if len(p.factors) == 1 else None
    base = f.base if f is not None and f.power == 1 else None
    return base if base is not None and base.op is term.op and base.params["dims"] == term.params["dims"] else None


READERS: dict[str, Reader] = {
    "add": _read_sum(1, 1),
    "sub": _read_sum(1, -1),
    "neg": _read_sum(-1),
    "mul": lambda run, term, args: run.times(*args),
    "div": lambda run, term, args: run.times(args[0], run.power(args[1], -1)) if args[1].terms else None,
    "ratio": _read_ratio,
    "pow": _read_pow,
    "sqrt": lambda run, term, args: run.power(args[0], Fraction(1, 2)),
    "size": _read_size,
    "full": _read_full,
    "eye": _read_eye,
    "one_hot": _read_one_hot,
    "cast": _read_cast,
    **dict.fromkeys(("clone", "detach", "unrecorded"), lambda run, term, args: args[0]),
    "beside": read_first,
    "by_pieces": read_first,
    "sgn": lambda run, term, args: run.elementwise(lookup("sign"), args, {}, term.shape),
    "inv": lambda run, term, args: inverse_of(run, args[0]) if term.ndim == 2 else _inverses_of(run, args[0]),
    "solve": _read_solve,
    "cross": _read_cross,
    "solve_sylvester": _read_sylvester,
    "fourier": read_fourier,
    "adjugate": _read_adjugate,
    "det": _read_det,
    "logdet": _read_det,
    "logabsdet": _read_det,
    "shifted_exp": _read_shifted_exp,
    "logsigmoid": _read_softplus,
    "matrix_exp": lambda run, term, args: exponential(run, args[0]) if term.ndim == 2 else None,
    "matrix_exp_frechet": _read_frechet,
    "logm_frechet": _read_frechet,
    "prod": _read_prod,
    "tril": _read_triangle,
    "triu": _read_triangle,
    "reshape": _read_reshape,
    "cumsum": lambda run, term, args: running_sums(run, args[0], term.params["dim"]),
    "flip": _read_moved,
    "roll": _read_moved,
    "where": read_where,
    "guard": read_first,
    "excepted": read_first,
    "defined": read_first,
    "getitem": read_getitem,
    "gather": read_gathered,
    "scatter_into": read_scattered,
    "put": read_put,
    "index_put": read_written,
    "cat": read_joined,
    "narrow": read_narrow,
    "select": read_select,
    "sum": read_sum,
    "softmax": read_softmax,
    "log_softmax": read_softmax,
    "logsumexp": read_logsumexp,
}
"""The reader of an op, by its name."""

"""Triangular matrices: parts of triangles that are whole triangles, and Cholesky factors that meet their transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.formula.canonical.chains import identity
from symgrad.formula.canonical.normal import Factor, Form, Product, relabelled
from symgrad.formula.canonical.writing import whole
from symgrad.formula.structures import declared, shows_symmetry
from symgrad.formula.term import SYMBOL, Term, constant_value, full
from symgrad.op import Op, lookup

if TYPE_CHECKING:
    from symgrad.formula.canonical.simplify import Canonicaliser


def triangle_of(term: Term) -> str | None:
    """Whether a matrix is "lower", "upper" or "diagonal": declared so, cut out, a Cholesky factor, or the inverse."""
    while term.op.name == "inv":
        term = term.args[0]
    if term.op.name == "cholesky":
        return "lower"
    if term.op.name in ("tril", "triu") and term.params["k"] == 0:
        return "lower" if term.op.name == "tril" else "upper"
    found = declared(term)
    return found if found in ("lower", "upper", "diagonal") else None


def triangle(op: Op, form: Form, run: Canonicaliser) -> Form | None:
    """tril (triu) of a sum, shorter: triangles that others imply are whole, triangular terms stay as they are."""
    wanted = "lower" if op.name == "tril" else "upper"
    done: list[Product] = []
    rest: list[Product] = []
    for p in form.terms:
        # Where only entries with column ≤ row count, Uᵢₖ tril(M)ₖⱼ with an upper U has k ≥ i ≥ j anyway.
        q = without_implied(p, run, wanted)
        found = Form([q], form.shape) if q.out[0] == q.out[1] else part_of_triangle(Form([q], form.shape), wanted, run)
        if found is not None:
            done += found.terms
        else:
            rest.append(q)
    if not done and all(p is q for p, q in zip(form.terms, rest, strict=True)):
        return None
    if rest:
        inner = whole(run.term(run.sum_of(rest, form.shape)), form.shape)
        done += run.form_of(op(inner, k=0)).terms
    return run.sum_of(done, form.shape)


def weights_in_front(op: Op, form: Form, k: int, run: Canonicaliser) -> Form | None:
    """tril(diag(x) A) = diag(x) tril(A) for vectors x of the program, which are finite."""
    p = form.only
    if p is None or not p.elementwise or all(len(f.labels) < 2 for f in p.factors):
        return None
    weights = [f for f in p.factors if f.base.op is SYMBOL and len(f.labels) == 1 and f.power > 0]
    if not weights:
        return None
    rest = Form([Product(1, [f for f in p.factors if f not in weights], p.out)], form.shape)
    inner = run.form_of(op(whole(run.term(rest), form.shape), k=k))
    return run.times(Form([p.with_factors(weights)], form.shape), inner)


def running_sums(run: Canonicaliser, form: Form, dim: int, back: bool = False) -> Form | None:
    """The running sums of a diagonal matrix are the triangle of 11ᵀ times it, always; ``back``: from the last on."""
    if len(form.shape) != 2 or not form.terms or any(p.out[0] != p.out[1] for p in form.terms):
        return None
    size = form.shape[0]
    op = lookup("tril" if (dim == 0) != back else "triu")
    half = run.form_of(op(full((size, size), 1, "float64"), k=0))
    return run.contract([half, form] if dim == 0 else [form, half], [(0, 2), (2, 1)], (0, 1), form.shape)


def halves_of_symbols(p: Product, run: Canonicaliser) -> Product:
    """A ⊙ tril(11ᵀ) = tril(A) for matrices A of the program, which are finite."""
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        alone = len(f.labels) == 2 and f.labels[0] != f.labels[1]
        if f.base.op.name not in ("tril", "triu") or not alone or constant_value(f.base.args[0]) != 1:
            continue
        for g in p.factors:
            if g.base.op is SYMBOL and g.power == 1 and set(g.labels) == set(f.labels) and len(g.labels) == 2:
                k, turned = f.base.params["k"], g.labels != f.labels
                name = f.base.op.name if not turned else "triu" if f.base.op.name == "tril" else "tril"
                made = Factor(lookup(name)(g.base, k=-k if turned else k), g.labels)
                rest = [made if h is g else h for h in p.beside(f)]
                return halves_of_symbols(merged(p.with_factors(rest), run), run)
    return p


def _half_of_mask(condition: Form) -> tuple[str, int] | None:
    """The triangle of a matrix, and its first diagonal, that a condition such as triu(11ᵀ) ≠ 0 picks."""
    p = condition.only
    f = p.factors[0] if p is not None and len(p.factors) == 1 and p.coef == 1 else None
    if p is None or f is None or len(p.out) != 2 or p.has_delta or f.labels != p.out or f.power != 1:
        return None
    args = f.base.args if f.base.op.name == "ne" else ()
    cut = args and args[0].op.name in ("tril", "triu") and constant_value(args[0].args[0]) == 1
    return (args[0].op.name, args[0].params["k"]) if cut and args[1].number == 0 else None


def half_where(run: Canonicaliser, condition: Form, first: Form, second: Form) -> Form | None:
    """where(triu(11ᵀ) ≠ 0, X, 0) = triu(X) and where(triu(11ᵀ) ≠ 0, 0, X) = tril₋₁(X), always."""
    found = _half_of_mask(condition) if bool(first.terms) != bool(second.terms) else None
    if found is None:
        return None
    name, k = found
    if second.terms:
        name, k = ("tril", k - 1) if name == "triu" else ("triu", k + 1)
    kept = whole(run.term(first if first.terms else second), condition.shape)
    return run.form_of(lookup(name)(kept, k=k))


def off_diagonal(run: Canonicaliser, condition: Form, first: Form, second: Form) -> Form | None:
    """where(I, 0, X) = X - diag(diag(X)) and where(I, X, 0) = diag(diag(X)), where X is finite on its diagonal."""
    holds = _holds_on_diagonal(condition) if bool(first.terms) != bool(second.terms) else None
    kept = first if first.terms else second
    if holds is None or not _finite(kept, run):
        return None
    diagonal = run.contract([run.form_of(identity(condition.shape[0])), kept], [(0, 1), (0, 1)], (0, 1), kept.shape)
    if holds == bool(first.terms):
        return diagonal
    return Form(run.sum_of([*kept.terms, *(p.scaled(-1) for p in diagonal.terms)], kept.shape).terms, kept.shape)


def asks_diagonal(condition: Term) -> bool:
    """Whether a condition is I ≠ 0, which holds on the diagonal alone."""
    return condition.op.name == "ne" and condition.args[0].op.name == "eye" and condition.args[1].number == 0


def without_own(rows: Term) -> Term | None:
    """The matrix of which ``rows`` are those without the entries on the diagonal, where ones stand."""
    if rows.op.name != "where" or rows.args[1].number != 1 or not asks_diagonal(rows.args[0]):
        return None
    return rows.args[2] if rows.args[0].shape == rows.shape else None


def without_two(t: Term) -> bool:
    """Whether a matrix is that of the products of all entries but two, [∏ₖ xₖ without i and j]ᵢⱼ, times a number.

    It is as finite on its diagonal as beside it, and so is what multiplies its rows and columns.
    """
    while t.op.name == "mul" and not t.args[0].shape:
        t = t.args[1]
    return t.op.name == "prod_others" and t.params["dim"] == 1 and without_own(t.args[0]) is not None


def _holds_on_diagonal(condition: Form) -> bool | None:
    """Whether a condition such as I = 1 holds on the diagonal and nowhere else, or (False) everywhere else."""
    square = len(condition.shape) == 2 and condition.shape[0] == condition.shape[1]
    p = condition.terms[0] if square and len(condition.terms) == 1 else None
    if p is None or p.coef != 1:
        return None
    if not p.factors:
        return True if p.out[0] == p.out[1] else None
    base = p.factors[0].base
    if base.op.name == "eye":
        return True if len(p.factors) == 1 else None  # an identity of truth values
    sides = base.args if len(p.factors) == 1 and base.op.name in ("eq", "ne") and p.factors[0].power == 1 else ()
    if not sides or sides[0].op.name != "eye" or sides[1].number not in (0, 1):
        return None
    on = bool(sides[1].number == 1)
    return on == (base.op.name == "eq")


def without_implied(p: Product, run: Canonicaliser, wanted: str | None = None) -> Product:
    """A product in which triangles are cut out of no matrix where the others have zeros already, always.

    ``wanted``: the half of the product, "lower" or "upper", that counts.
    """
    from symgrad.formula.canonical.rewriting import merged

    for f in p.factors:
        if not _cut_out(f):
            continue
        above = {_falling(g.labels, triangle_of(g.base)) for g in p.factors if g is not f and _halved(g)}
        above |= {_falling(p.out, wanted)} if wanted and len(p.out) == 2 else set()
        if _at_least(*_falling(f.labels, triangle_of(f.base)), above) and _finite(_uncut(f, run), run):
            return without_implied(merged(_with(p, f, _uncut(f, run), run), run), run, wanted)
    return p


def _cut_out(f: Factor) -> bool:
    """Whether a factor is a triangle of a matrix; of a stack of matrices it is left as it is."""
    alone = len(f.labels) == 2 and f.labels[0] != f.labels[1]
    return alone and f.base.op.name in ("tril", "triu") and f.base.params["k"] == 0 and f.power == 1


def _uncut(f: Factor, run: Canonicaliser) -> Form:
    """The matrix of which a factor is a triangle."""
    kept = run.arguments.get(f.base)
    return kept[0] if kept is not None else run.form_of(f.base.args[0])


def _finite(form: Form, run: Canonicaliser) -> bool:
    """Whether no entry that was cut off may be infinite: a zero in front would make it no number."""
    for p in form.terms:
        for f in p.factors:
            inside = run.insides.get(f.base)
            plain = f.base.op is SYMBOL or f.base.op.name in ("inv", "cholesky", "tril", "triu")
            if len(f.labels) > 1 and not (f.power > 0 and (plain or (inside is not None and _finite(inside, run)))):
                return False
    return True


def _halved(f: Factor) -> bool:
    """Whether a factor has zeros on one side of its diagonal."""
    return len(f.labels) == 2 and f.power > 0 and triangle_of(f.base) in ("lower", "upper")


def _falling(labels: Sequence[int], half: str | None) -> tuple[int, int]:
    """The row and the column of a lower triangle, of which the first is at least the second; of an upper one turned."""
    row, column = labels
    return (row, column) if half == "lower" else (column, row)


def _at_least(high: int, low: int, above: set[tuple[int, int]]) -> bool:
    """Whether a chain of pairs leads from one label to another."""
    reached, size = {high}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {y for x, y in above if x in reached}
    return low in reached


def _with(p: Product, f: Factor, new: Form, run: Canonicaliser) -> Product:
    """A product with one factor replaced by a form of its shape."""
    return p.contracted([f], run.product(new), new.shape)


_BESIDE_DIAGONAL: dict[tuple[str, Any], int] = {("tril", 0): 1, ("triu", 0): 1, ("tril", -1): -1, ("triu", 1): -1}
"""Halves that with their transposes have the diagonal twice (1) or not at all (-1)."""


def both_halves(terms: list[Product], run: Canonicaliser) -> list[Product] | None:
    """tril(S) + tril(S)ᵀ = S + diag(S) and tril₋₁(S) + tril₋₁(S)ᵀ = S - diag(S) for symmetric S, anywhere."""
    from symgrad.formula.canonical.rewriting import merged

    keys = {run.key(p): p for p in terms}
    for p in terms:
        for f in p.factors:
            sign = _BESIDE_DIAGONAL.get((f.base.op.name, f.base.params.get("k")))
            if sign is None or f.power != 1 or len(set(f.labels)) < 2:
                continue
            turned = Factor(f.base, f.labels[::-1])
            other = keys.get(run.key(Product(1, [turned if g is f else g for g in p.factors], p.out)))
            if other is None or other is p or other.coef != p.coef:
                continue
            full = _uncut(f, run)
            if run.same(full, full.restricted((1, 0))) and (sign > 0 or _finite(full, run)):
                row = run.contract([full], [(0, 0)], (0,), full.shape[:1])
                diagonal = Form([q.with_out((q.out[0], q.out[0])).scaled(sign) for q in row.terms], full.shape)
                made = [merged(_with(p, f, new, run), run) for new in (full, diagonal) if new.terms]
                return [*(q for q in terms if q is not p and q is not other), *made]
    return None


def part_of_triangle(form: Form, wanted: str, run: Canonicaliser) -> Form | None:
    """The lower (upper) part of a triangular matrix with weights: the matrix, or the diagonal of one the other way."""
    p = form.only
    if p is None or len(set(p.out)) < 2:
        return None
    matrices = [f for f in p.factors if len(set(f.labels)) == 2]
    if len(matrices) != 1 or matrices[0].power != 1 or set(matrices[0].labels) != set(p.out):
        return None
    if any(x not in p.out for f in p.factors for x in f.labels):
        return None
    found = triangle_of(matrices[0].base)
    if matrices[0].labels != p.out and found in ("lower", "upper"):
        found = "upper" if found == "lower" else "lower"
    if found is None:
        return None
    if found in (wanted, "diagonal"):
        return form
    row, column = p.out
    factors = [_on_diagonal(f) for f in relabelled(p.factors, lambda x: row if x == column else x)]
    from symgrad.formula.canonical.rewriting import merged

    return Form([merged(Product(p.coef, factors, (row, row), p.decimal), run)], form.shape)


def _on_diagonal(f: Factor) -> Factor:
    """The diagonal of a triangle's inverse has the reciprocals of its own; a part with it has that of the whole."""
    base, power = f.base, f.power
    while len(f.labels) == 2 and triangle_of(base) is not None and base.args:
        if base.op.name == "inv":
            base, power = base.args[0], -power
        elif base.op.name in ("tril", "triu"):
            base = base.args[0]
        else:
            break
    return Factor(base, f.labels, power)


def turned_part(op: Op, form: Form, k: int, run: Canonicaliser) -> Form | None:
    """triu(Xᵀ) = tril(X)ᵀ, always."""
    p = form.only
    f = p.factors[0] if p is not None and p.coef == 1 and len(p.factors) == 1 else None
    if p is None or f is None or f.base.op is not SYMBOL or f.labels != p.out[::-1] or f.power != 1:
        return None
    other = lookup("triu" if op.name == "tril" else "tril")
    flipped = form.restricted((1, 0))
    return run.linear(other, run.term(flipped), flipped, {"k": -k}).restricted((1, 0))


def other_half(made: Term, form: Form, run: Canonicaliser) -> Term | None:
    """tril(Xᵀ) for triu(X), which is its transpose, where the formula has it already."""
    if made.op.name not in ("tril", "triu") or made.ndim != 2:
        return None
    flipped = whole(run.term(form.restricted((1, 0))), form.shape[::-1])
    other = lookup("triu" if made.op.name == "tril" else "tril")(flipped, k=-made.params["k"])
    seen = other.args[0] is not made.args[0] or shows_symmetry(flipped)
    return other if seen and other in run.arguments else None


def without_cholesky(p: Product, run: Canonicaliser) -> Product:
    """L Lᵀ = S, L⁻ᵀ L⁻¹ = S⁻¹, Lᵀ S⁻¹ = L⁻¹ and ‖L‖² = tr S for the Cholesky factor L of a real S."""
    from symgrad.formula.canonical.rewriting import merged

    uses: dict[int, int] = {}
    for f in p.factors:
        for x in f.labels:
            uses[x] = uses.get(x, 0) + 1
    inner = {x for x in uses if x not in p.out}
    for f in p.factors:
        found = _whole(f)
        if found is None or f.power not in (1, 2) or len(set(f.labels)) < 2:
            continue
        met = _met(f, found, p, {x for x in inner if uses[x] == 3 - f.power}, run)
        if met is not None:
            made, gone = met
            rest = [made if h is f else h for h in p.beside(gone)]
            return without_cholesky(merged(p.with_factors(rest), run), run)
    return p


def _met(
    f: Factor, whole: tuple[int, Term], p: Product, inner: set[int], run: Canonicaliser
) -> tuple[Factor, Factor | None] | None:
    """What a Cholesky factor makes with another factor, which is gone, or with itself where it is squared."""
    axis, matrix = whole
    x, other = f.labels[axis], f.labels[1 - axis]
    if f.power == 2:
        return (Factor(matrix, (other, other)), None) if x in inner else None
    for g in p.factors:
        if g is f or g.power != 1 or len(set(g.labels)) != 2:
            continue
        if g.base is f.base and x in inner and g.labels[axis] == x and g.labels[1 - axis] != other:
            run.symmetries.note(matrix)
            return Factor(matrix, (other, g.labels[1 - axis])), g
        if axis == 1 and g.base.op.name == "inv" and g.base.args[0] is matrix and other in inner and other in g.labels:
            for symmetric in (matrix, g.base):
                run.symmetries.note(symmetric)
            return Factor(lookup("inv")(f.base), (x, g.labels[g.labels[0] == other])), g
    return None


def _whole(f: Factor) -> tuple[int, Any] | None:
    """The axis along which a (inverse) Cholesky factor meets itself, and what comes of it."""
    inverse = f.base.op.name == "inv"
    factor = f.base.args[0] if inverse else f.base
    if factor.op.name != "cholesky" or factor.ndim != 2 or factor.dtype is None or factor.dtype.kind == "c":
        return None
    matrix = factor.args[0]
    return (0, lookup("inv")(matrix)) if inverse else (1, matrix)

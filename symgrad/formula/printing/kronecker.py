r"""Derivatives of matrices by matrices as matrices: the Kronecker form, with its convention of vec.

A derivative of shape (p, q, r, s) is a matrix of shape (pq, rs) once matrices are read as vectors.  Stacking rows (as
NumPy's ``ravel`` does), entries A_ik B_jl make A ⊗ B; stacking columns (as most textbooks do) they make B ⊗ A.  Entries
A_il B_jk make the same times the commutation matrix K, for which K vec(X) is vec(Xᵀ).  After J. R. Magnus and
H. Neudecker, Matrix Differential Calculus (1988).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from symgrad.errors import FormulaError
from symgrad.formula.canonical.matrices.kronecker import split
from symgrad.formula.canonical.normal import Form, Product
from symgrad.formula.canonical.simplify import Canonicaliser, canonical
from symgrad.formula.canonical.sums.expanding import flattened
from symgrad.formula.canonical.writing import form_term
from symgrad.formula.printing import pieces
from symgrad.formula.printing.pieces import Piece, closed, text_of
from symgrad.formula.term import Term

CONVENTIONS = ("rows", "columns")


class Block(NamedTuple):
    """``scale · (left ⊗ right)``, times the commutation matrix when ``crossed``; in the convention of rows."""

    scale: Term
    left: Term
    right: Term
    crossed: bool


def blocks(term: Term) -> list[Block]:
    """The Kronecker products whose sum a formula with four axes is, in the convention of rows.

    Raises ``FormulaError`` where some entries depend on their indices in another way.
    """
    if term.ndim != 4:
        raise FormulaError(
            f"the Kronecker form is that of a derivative of a matrix by a matrix, with four axes; this formula has "
            f"shape {term.shape}."
        )
    run = Canonicaliser()
    run.run(canonical(term))
    form = run.forms[canonical(term)]
    return [_block(p, form.shape, run) for p in flattened(form.terms, run.insides)]


def _block(p: Product, shape: tuple[Any, ...], run: Canonicaliser) -> Block:
    for first, second, crossed in (((0, 2), (1, 3), False), ((0, 3), (1, 2), True)):
        found = split(p, first, second)
        if found is None:
            continue
        scalars, left, right = found
        matrices = []
        for axes, factors in ((first, left), (second, right)):
            part = Product(1, factors, tuple(p.out[k] for k in axes))
            matrices.append(run.term(Form([part], tuple(shape[k] for k in axes))))
        scale = form_term(Form([Product(p.coef, scalars, (), p.decimal)], ()), run.layout, lambda q: q)
        return Block(scale, matrices[0], matrices[1], crossed)
    raise FormulaError("this derivative is no sum of Kronecker products; it prints in index notation without vec=.")


def kronecker_latex(term: Term, vec: str, names: dict[str, str], bold: bool = False) -> str:
    r"""The LaTeX of the Kronecker form, ``vec`` stacking ``"rows"`` or ``"columns"``, with the convention beside it.

    >>> from symgrad.formula.term import symbol
    >>> from symgrad.formula.derive import jacobian
    >>> A, X = symbol("A", ("k", "n")), symbol("X", ("n", "m"))
    >>> kronecker_latex(jacobian(A @ X, X), "columns", {})
    'I_{m} \\otimes A \\quad \\text{(vec stacks columns)}'
    """
    from symgrad.formula.printing.latex import Writer

    if vec not in CONVENTIONS:
        raise FormulaError(f"vec= is 'rows' (NumPy's order) or 'columns' (the textbooks'), not {vec!r}.")
    writer = Writer(names, bold, sized=True)
    parts = [_piece(block, vec, writer) for block in blocks(term)]
    text = text_of(pieces.total("m", parts) if len(parts) > 1 else parts[0]) if parts else "0"
    return rf"{text} \quad \text{{(vec stacks {vec})}}"


def _piece(block: Block, vec: str, writer: Any) -> Piece:
    left, right = (block.left, block.right) if vec == "rows" else (block.right, block.left)
    pair = [writer.write(m) for m in (left, right)]
    texts = [closed((x.core, x.level), pieces.MUL) for x in pair]
    text, level = rf"{texts[0]} \otimes {texts[1]}", pieces.HADAMARD
    if block.crossed:
        sizes = ", ".join(str(s) for s in (block.right.shape[1], block.left.shape[1]))
        text, level = rf"\left({text}\right) K_{{{sizes}}}", pieces.MUL
    made = Piece("m", text, level)
    for x in pair:
        made = made.with_lead(x.coef, x.top, x.bottom)
    return pieces.product(writer.write(block.scale), made)

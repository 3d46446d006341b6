"""Sums and products as people type them: what stands side by side, and the signs between factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.errors import FormulaError, ShapeError
from symgrad.formula.reading import families
from symgrad.formula.reading.atoms import KINDS
from symgrad.formula.reading.families import Family, has_families
from symgrad.formula.reading.indices import Indexed
from symgrad.formula.reading.misfits import ProductMisfit, TwoMeanings, said
from symgrad.formula.reading.people.indices import SUMS
from symgrad.formula.reading.people.sums import summed, totalled
from symgrad.formula.reading.tex import _TexReader
from symgrad.formula.reading.values import (
    Value,
    divided,
    entrywise,
    identity,
    kronecker_product,
    negated,
    op,
    product,
    transposed,
)
from symgrad.formula.term import Term
from symgrad.op import lookup


class Products(_TexReader):
    """The levels of sums and products of the wider grammar; how it reads factors is its heir's business."""

    inside: list[str]
    misfit: str | None
    repeated: bool
    inverse: Callable[[Any], Any]
    others: dict[str, Any]

    @property
    def asked(self) -> bool:
        """Whether the text is the function itself, of which no other reading is tried."""
        return self.others.get("solidus", False) is None

    def closing(self) -> bool:
        """Whether the next token ends a product."""
        text = self.tokens.peek()
        if text in ("|", r"\|", r"\rangle", "/"):
            return text in self.inside and self.inside[-1] == text
        return text in _ENDS or self.tokens.kind in ("end", "row") or text.startswith(r"\end")

    def juxtaposed(self) -> Any:
        """Factors side by side, with the signs of products between them."""
        tokens = self.tokens
        one = self._is_one()
        out = self.summed() if tokens.peek() in SUMS else self.signed()
        while not self.closing():
            if tokens.found("/"):
                start = tokens.at
                out = self.quotient(out, self.denominator())
                if self.asked:
                    self.refuse_beside(start)
                continue
            if tokens.peek() == r"\times" and out.kind == "v":
                break
            sign = tokens.take() if tokens.peek() in _BETWEEN else ""
            if sign == r"\otimes" and self.others.get("loose"):
                return self.crossed(out, self.juxtaposed())
            before, one = one and not sign, self._is_one()
            if not sign and out.kind in ("m", "r") and one:
                tokens.take()
                right = KINDS["ones"](self, r"\mathbf{1}")
            else:
                right = self.summed() if tokens.peek() in SUMS else self.signed()
            if before and right.kind == "r":  # 1 xᵀ
                right = self.times(KINDS["ones"](self, r"\mathbf{1}"), right)
            while sign == r"\cdot" and out.kind == right.kind == "v" and tokens.found(r"\times"):
                right = self.across(right, self.signed())  # a · b × c is a · (b × c)
            if sign == r"\cdot" and out.kind == "v" and right.kind == "m":
                out = self.times(transposed(right), out)  # NumPy's x @ A, which is a column, too
            elif sign == r"\otimes" or (sign == r"\cdot" and out.kind == right.kind == "v"):
                out = self.crossed(out, right) if sign == r"\otimes" else self.times(transposed(out), right)
            elif sign in (r"\entry", r"\ratio"):
                out = self.entrywise(lookup("mul" if sign == r"\entry" else "div"), out, right)
            elif sign == r"\under":
                out = self.times(self.inverse(out), right)
            elif sign in (r"\star", r"\pair", r"\firm"):
                out = self.starred(out, right, sign)
            else:
                out = self.times(out, right)
        return self.implied_sum(out)

    def _is_one(self) -> bool:
        r"""Whether a plain 1 comes, which is a column of ones beside a matrix, as in ``X^\top 1``, or before a row."""
        return (
            not self.others.get("numbers")
            and self.tokens.kind == "number"
            and self.tokens.peek() == "1"
            and self.tokens.peek(1) not in ("/", "_", "^")
        )

    def implied_sum(self, product: Any) -> Any:
        """The sum over the indices that a product has twice, where that needs no sum sign."""
        if not self.repeated or not isinstance(product, (Indexed, Family)):
            return product
        twice = [x for x in product.repeated() if x not in self.bound]
        return totalled(self, product, twice) if twice else product

    def summed(self) -> Any:
        """A sum or product over indices."""
        return summed(self)

    def signed(self) -> Any:
        """A factor, with the sign that it may have after an operator."""
        if self.tokens.found("-"):
            return entrywise(negated, self.signed())
        return self.factor()

    def denominator(self) -> Any:
        """What a quotient in a line is divided by: one factor, or where that is asked for all up to the next sign."""
        out = self.signed()
        while (
            self.others.get("solidus", False)
            and not self.closing()
            and self.tokens.peek() not in (*_BETWEEN, *SUMS, "/")
        ):
            out = self.times(out, self.signed())
        return out

    def refuse_beside(self, start: int) -> None:
        """Refuse ``a/2b``, where b may be above or below; ``1/2 x`` with a space is half of x."""
        tokens = self.tokens
        if not (tokens.kind == "number" or not self.symbol_free()):
            return
        place = tokens.items[tokens.at][2]
        fraction = [tokens.items[k][0] for k in (start - 2, start) if k >= 0] == ["number", "number"]
        if fraction and start == tokens.at - 1 and tokens.text[place - 1 : place].isspace():
            return
        raise tokens.error(
            "what is divided by is not clear: write a/(2 b) with b below the line, or (a/2) b with b above it",
            TwoMeanings,
        )

    def quotient(self, top: Any, bottom: Any) -> Any:
        """A quotient; arrays divide entry by entry, and MATLAB solves equations with matrices."""
        if self.others.get("solves") and bottom.kind == "m":
            return self.times(top, self.inverse(bottom))
        return divided(top, bottom) if bottom.kind == "s" else self.entrywise(lookup("div"), top, bottom)

    def times(self, a: Any, b: Any) -> Any:
        """The product of two neighbours, or what ``misfit`` makes of one that has no meaning."""
        try:
            kinds = {a.kind, b.kind}  # a number times an array of any axes is no product of its members
            if has_families(a, b) or ("t" in kinds and "s" not in kinds) or self.weighted(a, b):
                return families.product(a, b)
            return super().times(a, b)
        except (FormulaError, ShapeError) as error:
            if self.misfit is None:
                raise self.tokens.error(f"this product does not fit: {said(error)}", ProductMisfit) from None
        if self.misfit == "entrywise":
            return entrywise(lookup("mul"), a, b)
        if self.misfit == "swapped":
            return product(b, a)
        return product(transposed(a), b) if self.misfit == "left" else product(a, transposed(b))

    def weighted(self, a: Any, b: Any) -> bool:
        """Whether one is a number for each index of a sum, and the other a vector or matrix."""
        entries = a if isinstance(a, Indexed) else b
        other = b if entries is a else a
        mixed = isinstance(entries, Indexed) and isinstance(other, Value) and other.kind in ("v", "r", "m")
        return mixed and set(entries.letters) <= self.bound

    def crossed(self, a: Any, b: Any) -> Any:
        r"""``a \otimes b``: the outer product of columns, else the Kronecker product."""
        if a.kind == "v" and b.kind in ("v", "r"):
            return self.times(a, b if b.kind == "r" else transposed(b))
        a, b = self._sized(a), self._sized(b)
        if isinstance(a, Value) and isinstance(b, Value) and {a.kind, b.kind} <= {"m", "v", "r"}:
            return kronecker_product(a, b)
        raise self.tokens.error(r"\otimes stands between vectors or matrices here", ProductMisfit)

    def plain(self, value: Any) -> Term:
        """The term of a value, for places where its own axes count: in brackets, ``vec(I)``."""
        if isinstance(value, Family):
            raise self.tokens.error("a row or column with an index of a sum stands beside other entries, or in a sum")
        return super().plain(self._sized(value))

    def _sized(self, value: Any) -> Any:
        """An identity whose size nothing tells at the size that the option ``eye`` says."""
        size = self.others.get("eye")
        open_ = size is not None and isinstance(value, Value) and value.kind == "eye"
        return Value("m", identity(value, size)) if open_ else value

    def across(self, a: Any, b: Any) -> Any:
        r"""``a \times b``: the cross product of columns; a column times a number."""
        if b.kind == "s":
            return self.times(a, b)
        try:
            return super().across(a, b)
        except (FormulaError, ShapeError) as error:
            raise self.tokens.error(f"this product does not fit: {said(error)}", ProductMisfit) from None

    def starred(self, a: Any, b: Any, sign: str) -> Any:
        """What ``*`` means in plain text: the matrix product, or entry by entry where that is meant or fits alone."""
        if self.others.get("rows") and {a.kind, b.kind} == {"m", "v"} and sign == r"\pair":
            return self.entrywise(lookup("mul"), a, b)
        alike = isinstance(a, Value) and isinstance(b, Value) and a.kind == b.kind and a.kind in ("v", "r", "m")
        unfit = alike and sign == r"\star" and a.kind == "m" and a.term.shape[1] != b.term.shape[0]
        if alike and (sign == r"\pair" or a.kind != "m" or unfit):
            return self.entrywise(lookup("mul"), a, b)
        return self.times(a, b)

    def entrywise(self, function: Callable[..., Any], *values: Any) -> Any:
        """An entrywise operation, with a place in its error."""
        if {"eye", "oo"} <= {a.kind for a in values}:
            values = tuple(map(self._sized, values))
        if self.others.get("rows") and {a.kind for a in values} in ({"m", "v"}, {"m", "r"}):
            axes = {"v": 1, "r": 0}
            terms = [op("unsqueeze", a.term, dim=axes[a.kind]) if a.kind in axes else a.term for a in values]
            return Value("m", function(*terms))
        try:
            return super().entrywise(function, *values)
        except (FormulaError, ShapeError) as error:
            raise self.tokens.error(f"this does not fit: {said(error)}", ProductMisfit) from None


_BETWEEN = (r"\cdot", r"\times", r"\star", r"\pair", r"\firm", r"\entry", r"\ratio", r"\otimes", r"\under")
RELATIONS = ("=", r"\ne", "<", r"\le", ">", r"\ge")
_ENDS = (
    ")", "}", "]", "&", ",", ";", ".", "", r"\\", "+", "-", r"\odot", r"\oslash", r"\bmod", r"\wedge", r"\vee", ":",
    r"\rfloor", r"\rceil", *RELATIONS,
)  # fmt: skip

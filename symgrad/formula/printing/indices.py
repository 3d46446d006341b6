r"""Index notation: sums over indices, and the entries of arrays that matrix notation has no room for.

A contraction is ``\left[\sum_{k} A_{i k} B_{k j}\right]_{i j}``.  An array of three or more axes that is made entry by
entry of smaller ones is written by its entry: ``X_{i k} - Y_{j k}`` says what no broadcast can.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symgrad.formula.canonical.matrices.triangles import without_own
from symgrad.formula.printing import pieces
from symgrad.formula.printing.calls import exact
from symgrad.formula.printing.latex import Writer, kind_of
from symgrad.formula.printing.pieces import ATOM, MUL, OPEN, Item, Piece, closed, text_of
from symgrad.formula.printing.sizes import size_tex
from symgrad.formula.term import NUMBER, SYMBOL, Term, apply, constant_value, number, postorder, symbol
from symgrad.op import lookup
from symgrad.ops.linalg.contraction import contract

_LETTERS = "ijklabcdefghpqrsuvwxyzmnot"
_APART = "ijklrstuvpahemnoxbcdfgqwyz"
"""Where brackets inside have the first of them; those with a small letter of Unicode come first."""

LARGEST = 24
"""Ops of an entry that is written out."""

_LETTER = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])")


def _letters(w: Writer, t: Term) -> Iterator[str]:
    """Letters for indices, which nothing around the term is called; first those that no bracket inside has."""
    free = [x for x in (_APART if w.within else _LETTERS) if not w.taken(x) and x not in w.sizes_of(t)]
    return iter(sorted(free, key=w.within.__contains__))


def _apart(rule: Callable[..., Piece | None]) -> Callable[..., Piece | None]:
    """A rule whose letters are not those of brackets inside of its text, which are known when it was written once."""

    @functools.wraps(rule)
    def written(w: Writer, *args: Any, **options: Any) -> Piece | None:
        outer, w.within = w.within, set()
        made = rule(w, *args, **options)
        if made is not None and w.within:
            made = rule(w, *args, **options)
        w.within = outer
        return made

    return written


@_apart
def index_notation(w: Writer, t: Term) -> Piece | None:
    """Sums over indices, with the free indices of the result on a bracket around it."""
    inputs, output = t.params["inputs"], list(t.params["output"])
    letters = _letters(w, t)
    labels = dict.fromkeys([*output, *(x for row in inputs for x in row)])
    name = {x: next(letters) for x in labels}
    deltas: list[str] = []
    sums: list[str] = []
    factors: list[str] = []
    below: list[Item] = []
    free = []
    for k, x in enumerate(output):
        if x in output[:k]:
            extra = next(letters)
            deltas.append(_delta([name[x], extra]))
            free.append(extra)
        else:
            free.append(name[x])
    lead = Piece("s")
    pairs = list(zip(t.args, inputs, strict=True))
    if all(len(row) == 1 and row[0] in output for row in inputs):
        pairs.sort(key=lambda pair: output.index(pair[1][0]))  # entries of vectors in the order of their indices
    for arg, row in pairs:
        if _is_delta(arg) and any(set(row) & set(y) for x, y in zip(t.args, inputs, strict=True) if not _is_delta(x)):
            deltas.append(_delta([name[x] for x in row]))
            continue
        a = exact(w, arg)
        if not row:
            lead = pieces.product(lead, a)
            continue
        entry = entry_of(w, arg, [name[x] for x in row], letters)
        if entry is not None:
            lead = pieces.product(lead, Piece("s", coef=entry.coef))  # all else of it has indices
            for item in entry.above():
                (sums if item[1] < MUL else factors).append(closed(item, OPEN + 1))  # brackets are read last
            below += entry.bottom
            continue
        lead = pieces.product(lead, Piece("s", coef=a.coef, top=a.top, bottom=a.bottom)) if a.kind != "s" else lead
        factors.append(_named(w, a.core if a.kind != "s" else text_of(a), a, [name[x] for x in row]))
    covered = set().union(*map(set, inputs))
    if w.sized:
        ones = [(name[x], n) for x, n in zip(output, t.shape, strict=True) if x not in covered]
        factors += [rf"\left[\mathbf{{1}}_{{{size_tex(n)}}}\right]_{{{letter}}}" for letter, n in ones]
    bound = [name[x] for x in labels if x not in output]
    above = [*factors, *sums]
    if below:
        above = [rf"\frac{{{' '.join(above) or '1'}}}{{{pieces.juxtaposed(below)[0]}}}"]
    text = (rf"\sum_{{{' '.join(bound)}}} " if bound else "") + " ".join([*above, *deltas])
    if not output:
        return pieces.product(lead, Piece("s", text, OPEN if bound else MUL))
    made = Piece(kind_of(t.shape), rf"\left[{text}\right]_{{{' '.join(free)}}}")
    return pieces.product(lead, made)


def _is_delta(t: Term) -> bool:
    """Whether the entries of an array are Kronecker's delta, which tells no size: others tell it with that index."""
    return t.op.name == "eye" and t.shape[0] == t.shape[1]


def _delta(letters: Sequence[str]) -> str:
    return rf"\delta_{{{' '.join(letters)}}}"


def _named(w: Writer, text: str, a: Piece, letters: Sequence[str]) -> str:
    """The entry of an array of which the text is known."""
    w.within |= set(_LETTER.findall(text))
    plain = a.level == ATOM and "_" not in text and "^" not in text and not text.endswith(r"\right)")
    return (text if plain else rf"\left[{text}\right]") + f"_{{{' '.join(letters)}}}"


def sum_of_entries(w: Writer, t: Term) -> Piece | None:
    """The sum of an array of three or more axes over some of them, by its entries."""
    return None if t.params["keepdim"] else _summed(w, t.args[0], t.params["dim"])


def product_of_entries(w: Writer, t: Term) -> Piece | None:
    """The products of the entries along an axis of a vector or matrix, or for each entry of all others, by entries."""
    return _along(w, t, r"\prod", t.params["dim"], others=t.op.name == "prod_others")


@_apart
def products_without_own(w: Writer, t: Term) -> Piece | None:
    """[∏ₖ xₖ, k ≤ j without i]ᵢⱼ, of which the Jacobian of running products is made."""
    own = without_own(t.args[0]) if t.params["dim"] == 1 else None
    if own is None or own.op.name != "outer" or constant_value(own.args[0]) != 1:
        return None
    letters = _letters(w, t)
    i, j, k = (next(letters) for _ in range(3))
    entry = _Entries(w, letters).of(own.args[1], (k,))
    if entry is None:
        return None
    text = closed(pieces.signed(w.write(entry)), MUL)
    return Piece("m", rf"\left[\prod_{{{k} \le {j}, {k} \ne {i}}} {text}\right]_{{{i} {j}}}")


def extreme_of_entries(w: Writer, t: Term) -> Piece | None:
    """The largest or smallest entries along an axis of a matrix, by entries."""
    dims = t.params["dim"]
    return _along(w, t, r"\max" if t.op.name == "amax" else r"\min", dims[0]) if len(dims) == 1 else None


@_apart
def _along(w: Writer, t: Term, sign: str, dim: int, others: bool = False) -> Piece | None:
    (x,) = t.args
    letters = _letters(w, x)
    name = [next(letters) for _ in range(x.ndim)]
    bound = next(letters) if others else name[dim]
    row = tuple(bound if k == dim else y for k, y in enumerate(name))
    own = without_own(x) if others else None
    if own is not None:
        alike = own.op.name == "outer" and constant_value(own.args[0]) == 1
        x, row = (own.args[1], (bound,)) if alike else (own, row)
    entries, sizeless = _Entries(w, letters), w.needs_sizes
    entry = entries.of(x, row) if x.ndim in (1, 2) and not t.params.get("keepdim") else None
    if entry is None or entries.deltas:  # the product of deltas is no shorter than what it stands in
        w.needs_sizes = sizeless
        return None
    below = rf"{bound} \ne {', '.join(name if own is not None else [name[dim]])}" if others else bound
    text = rf"{sign}_{{{below}}} {closed(pieces.signed(w.write(entry)), MUL)}"
    free = [y for k, y in enumerate(name) if others or k != dim]
    return Piece(kind_of(t.shape), rf"\left[{text}\right]_{{{' '.join(free)}}}") if free else Piece("s", text, OPEN)


def root_of_squares(w: Writer, t: Term) -> Piece | None:
    """The norms along an axis of a real array of three or more axes, by its entries."""
    (x,), dims = t.args, t.params["dim"]
    if t.params["keepdim"] or t.params["p"] != 2 or x.dtype is None or x.dtype.kind == "c" or len(dims) == x.ndim:
        return None
    return _summed(w, lookup("pow")(x, 2), dims, root=True)


@_apart
def _summed(w: Writer, x: Term, dims: Sequence[int], root: bool = False) -> Piece | None:
    letters = _letters(w, x)
    name = [next(letters) for _ in range(x.ndim)]
    entry = entry_of(w, x, name, letters)
    if entry is None and x.op is SYMBOL and len(dims) < x.ndim:  # the sum of all entries has a shorter text
        entry = Piece("s", _named(w, w.operand(x).core, w.operand(x), name), MUL)
    if entry is None:
        return None
    item = pieces.signed(entry)
    text = rf"\sum_{{{' '.join(name[k] for k in dims)}}} {closed(item, MUL)}"
    text = rf"\sqrt{{{text}}}" if root else text
    free = [k for k in range(x.ndim) if k not in dims]
    if not free:
        return Piece("s", text, OPEN)
    kind = kind_of(tuple(x.shape[k] for k in free))
    return Piece(kind, rf"\left[{text}\right]_{{{' '.join(name[k] for k in free)}}}")


def entry_of(w: Writer, t: Term, letters: Sequence[str], more: Iterator[str]) -> Piece | None:
    """The entry of an array that is made entry by entry as a scalar formula; None where there is no such text for it.

    Of a vector or matrix it is one only where the entries of all arrays are plain, as in 1/ℓₖ²: [W x]ₖ is no shorter
    than what it stands in.  ``more`` are letters for sums within.
    """
    if not t.shape or not _by_entry(t):
        return None
    entries = _Entries(w, more)
    sizeless, made = w.needs_sizes, entries.of(t, tuple(letters))
    if made is None or (t.ndim < 3 and (not entries.plain or _reads_hard(made))):
        w.needs_sizes = sizeless  # it was a try
        return None
    entries.spell_deltas(made)
    return w.write(made)


@_apart
def by_its_entry(w: Writer, t: Term) -> Piece | None:
    """An array of three or more axes by its entry, where that is made of the entries of smaller ones."""
    letters = _letters(w, t)
    name = [next(letters) for _ in range(t.ndim)]
    entries = _Entries(w, letters)
    sizeless, made = w.needs_sizes, entries.of(t, tuple(name))
    plain = made is not None and entries.plain and entries.spread > 1 and not _reads_hard(made)
    if made is None or not plain or not set(name) <= set().union(*entries.told.values()):
        w.needs_sizes = sizeless  # it was a try
        return None
    entries.spell_deltas(made)
    return Piece("t", rf"\left[{text_of(w.write(made))}\right]_{{{' '.join(name)}}}")


class _Entries:
    """Rewrites an array that is made entry by entry as the scalar term of its entry."""

    def __init__(self, w: Writer, more: Iterator[str]):
        self.w = w
        self.more = more
        self.left = LARGEST
        self.plain = True
        """Whether no array is in brackets with its letters behind them."""
        self.spread = 0
        """How many arrays have further axes here."""
        self.told: dict[Term, set[str]] = {}
        """The letters of entries of arrays, whose text tells how many values they have."""
        self.deltas: list[tuple[Term, Term, tuple[str, ...]]] = []

    def spell_deltas(self, root: Term) -> None:
        """Identities are deltas where the sum that they stand in has one of the letters, else matrices with a size."""
        if not self.deltas:
            return
        above: dict[Term, list[Term]] = {}
        for t in postorder([root]):
            self.told.setdefault(t, set()).update(*(self.told.get(a, ()) for a in t.args))
            for a in t.args:
                above.setdefault(a, []).append(t)
        for made, t, letters in self.deltas:
            stack, told = [made], True
            while stack:
                for user in above.get(stack.pop(), ()):
                    if user.op.name in ("mul", "neg"):
                        stack.append(user)
                    else:
                        told = told and not self.told[user].isdisjoint(letters)
            told = told and not self.told[root].isdisjoint(letters)
            self.w.images[made] = Piece("s", _delta(letters)) if told else self._entry_piece(t, letters)

    def of(self, t: Term, letters: tuple[str, ...]) -> Term | None:
        """The entry at some letters: the op on entries, the entry of what was broadcast, or that of an array."""
        self.left -= 1
        if self.left < 0:
            return None
        if not t.shape:
            if t in self.w.images:
                self.w.within |= set(_LETTER.findall(text_of(self.w.images[t])))
            return t
        value = constant_value(t)
        if value is not None:
            return number(value)
        if _by_entry(t):
            if t.ndim > 2:
                return self._through(t, letters)
            left, plain, self.plain = self.left, self.plain, True
            made = self._through(t, letters)
            if made is not None and self.plain and not _reads_hard(made):
                self.plain = plain
                return made
            self.left, self.plain = left, plain
        t = _spread(t)
        if t.op.name == "einsum" and len(t.args) > 1:
            return self._product(t, letters)
        source = _broadcast(t, letters)
        if source is None:
            return self._entry(t, letters)
        self.spread += 1
        return self.of(*source)

    def _through(self, t: Term, letters: tuple[str, ...]) -> Term | None:
        args = []
        for a in t.args:
            own = letters[t.ndim - a.ndim :]
            if a.shape != t.shape[t.ndim - a.ndim :]:
                return None
            made = self.of(a, own)
            if made is None:
                return None
            args.append(made)
        return t.op(*args, **t.params)  # type: ignore[no-any-return]

    def _product(self, t: Term, letters: tuple[str, ...]) -> Term | None:
        """The product of entries that a contraction is, or its sum."""
        output = t.params["output"]
        name = dict(zip(output, letters, strict=True))
        rows = t.params["inputs"]
        if len(name) < len(output):
            return None
        bound = {x: next(self.more, "") for x in dict.fromkeys(y for row in rows for y in row) if x not in name}
        if not all(bound.values()):
            return None  # more sums within one another than there are letters
        name |= bound
        found = len(self.deltas)
        factors: list[Term] = []
        for a, row in zip(t.args, rows, strict=True):
            factor = self.of(a, tuple(name[x] for x in row))
            if factor is None:
                return None
            factors.append(factor)
        made: Term = functools.reduce(lookup("mul"), factors)
        if not bound:
            return made
        if len(self.deltas) > found:
            return None
        total = symbol(f"sum {id(t)} {' '.join(letters)}", (), t.dtype)
        self.told[total] = set(letters) & set().union(*(self.told.get(x, ()) for x in postorder([made])))
        item = closed(pieces.signed(self.w.write(made)), MUL)
        self.w.images[total] = Piece("s", rf"\sum_{{{' '.join(bound.values())}}} {item}", OPEN)
        return total

    def _entry(self, t: Term, letters: tuple[str, ...]) -> Term:
        """A number that is written as the entry of an array."""
        made = symbol(f"{t.op.name} {id(t)} {' '.join(letters)}", (), t.dtype)
        if _is_delta(t):
            self.deltas.append((made, t, letters))
        else:
            self.told[made] = set(letters)
            self.w.images[made] = self._entry_piece(t, letters)
        return made

    def _entry_piece(self, t: Term, letters: tuple[str, ...]) -> Piece:
        if t not in self.w.images:  # an identity of a diagonal, which the formula itself does not have
            self.w.write(t)
        a = exact(self.w, t)
        text = _named(self.w, text_of(a), a if a.bare else a.replaced(level=MUL), letters)
        self.plain = self.plain and not text.startswith(r"\left[")
        return Piece("s", text)


def _reads_hard(entry: Term) -> bool:
    """Whether an entry has Iverson brackets or exponents with indices, which do not tell theirs from those around."""
    return any(
        (t.dtype is not None and t.dtype.kind == "b") or (t.op.name == "pow" and t.args[1].op is not NUMBER)
        for t in postorder([entry])
    )


def _by_entry(t: Term) -> bool:
    """Whether an array is made entry by entry of its arguments."""
    return bool(t.op.entrywise)


def _spread(t: Term) -> Term:
    """An array laid out over a diagonal, x[i] at [i, i], as its product with the identity."""
    if t.op.name != "einsum" or len(t.args) > 1:
        return t
    (row,), output = t.params["inputs"], list(t.params["output"])
    if not set(row) <= set(output) or len(set(output)) == len(output) or _is_delta(t):
        return t
    args, inputs = [t.args[0]], [row]
    for k, x in enumerate(output):
        if x in output[:k]:
            output[k] = 1 + max(output)
            args.append(apply(lookup("eye"), (), {"n": t.shape[k], "dtype": "float64"}))
            inputs.append((x, output[k]))
    return contract(args, tuple(inputs), tuple(output), t.shape)  # type: ignore[no-any-return]


def _broadcast(t: Term, letters: tuple[str, ...]) -> tuple[Term, tuple[str, ...]] | None:
    """What an array with axes moved, repeated or added is made of, with the letters that are left."""
    if t.op.name == "permute":
        dims = t.params["dims"]
        return t.args[0], tuple(letters[dims.index(k)] for k in range(t.ndim))
    if t.op.name == "unsqueeze":
        return t.args[0], letters[: t.params["dim"]] + letters[t.params["dim"] + 1 :]
    if t.op.name == "expand" and t.args[0].shape == t.shape[t.ndim - t.args[0].ndim :]:
        return t.args[0], letters[t.ndim - t.args[0].ndim :]
    if t.op.name == "einsum" and len(t.args) == 1:
        (row,), output = t.params["inputs"], t.params["output"]
        if set(row) <= set(output) and len(set(output)) == len(output):
            return t.args[0], tuple(letters[output.index(x)] for x in row)
    return None

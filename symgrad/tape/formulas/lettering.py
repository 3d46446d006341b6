"""Sizes of a reading: which are letters, which are made of letters, and which are numbers of the program."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.errors import ShapeError
from symgrad.formula.term import Term
from symgrad.op import Rest
from symgrad.ops.shapes.sizes import letters_of, product_size, share_size, size_value, total_size
from symgrad.tape.formulas.constants import Guess
from symgrad.tape.formulas.lost_sizes import sizes_read
from symgrad.tape.formulas.parts import Part
from symgrad.tape.formulas.sizes import SHARE, TURNED, Size, is_written


class Lettering:
    """The letters of a reading, and what it notes of sizes while it goes through a graph.

    ``strict``: of sizes that are equal by chance none is taken for the other; ``recorded``: nor a user's number for a
    size, as all that is known is one run.
    """

    def __init__(self, strict: bool, recorded: bool):
        self.strict = strict
        self.recorded = recorded
        self.by_value = False
        self.apart: dict[int, str] = {}
        """Sizes that leaves have which are not the first of that length: such as the program composes of others."""
        self.doubting = recorded
        """Whether arrays of NumPy's that are as long as an axis are so by chance, where no size like that was read."""
        self.fitting: set[int] = set()
        """Sizes that numbers of users may be, too, as the shapes do not fit otherwise."""
        self.joint: dict[int, str] = {}
        """Sizes of leaves that the program composes, too."""
        self.alike: dict[tuple[str, str], None] = {}
        """Sizes of leaves, and those that the program composes, which are taken for them."""
        self.sharing = False
        """Whether sizes that were divided are written as shares, where nothing was left."""
        self.begin({})

    def begin(self, letters: Mapping[int, str]) -> None:
        """Begin an attempt with these letters."""
        self.letters: dict[int, str] = dict(letters)
        self.composed: dict[int, str] = {}
        self.beyond = False
        """Whether sizes were read of what the graph does not have."""
        self.cut: list[Term] = []
        """Parts of which sizes were read that are not in the graph."""
        self.asked: set[int] = set()
        """Sizes that were told by their values alone, such as those of ``reshape``."""
        self.met: dict[int, str] = {}
        """Values of letters that are values of composed sizes, too, and these."""
        self.told: set[int] = set()
        """Composed sizes that were told by their values alone."""
        self.divides = False
        """Whether sizes were divided."""
        self.shared: dict[tuple[str, int], None] = {}
        """Sizes of which shares were written, and of how many."""
        self.plain: set[int] = set()
        """Sizes that are numbers: of leaves, and of what the program makes; and one, where n - 1 is one here."""

    def shape(self, sizes: Sequence[int]) -> tuple[Any, ...]:
        """Sizes as letters where a leaf has that size."""
        return tuple(map(self.size, sizes))

    def size(self, n: int) -> Any:
        """A size that is known by its value alone, as a letter or as what the program composed, or the number."""
        size = self._letter(n) or self.composed.get(n)
        if size is not None or n == 1:
            self.told.add(n)
            self._check_plain()
        return n if size is None else size

    def factor(self, n: int, known: Mapping[int, Any]) -> Any:
        """A size of which numbers are made: that of a part by how it was cut, else what is ``known`` by its value."""
        size = self.part(n) if n.__class__ is Part else None
        return known.get(n, n) if size is None else size

    def part(self, n: Part) -> Any:
        """The length of a part; a lettering alone knows of none."""
        raise NotImplementedError

    def given_size(self, n: int) -> Any:
        """A size that an op is given, by its value or by the part that it is of; or the number that it is."""
        if self.strict and n.__class__ is Size and n.steps and is_written(n):
            return self.written(n)
        if isinstance(n, Size) and not n.steps and any(f.__class__ is Part for f in n.factors):
            sizes = [self.part(f) if f.__class__ is Part else self.size(f) for f in n.factors]
            if None not in sizes:
                return functools.reduce(product_size, sizes)
        number = self._number_of(n)
        if number is not None:
            return number
        size = self.size(n)
        if size.__class__ is not str and n.__class__ is not int and n > 1 and not self.has_length(n):
            self.beyond = True
        return size

    def written(self, made: Size) -> Any:
        """A size that a program made of others, ``n // 2``, in their letters.

        A half of what is even here is written as a share of it where shapes fit by that alone: x[:h] + x[h:].
        """
        factors = [self.part(f) if f.__class__ is Part else self.size(f) for f in made.factors]
        if None in factors:
            raise ShapeError(f"{made} is made of the size of what the graph does not have")
        out = functools.reduce(product_size, factors, 1)
        for name, other in made.steps:
            by = self.written(other) if other.__class__ is Size else other
            match name.removeprefix(TURNED):
                case "mul":
                    out = product_size(out, by)
                case "floor_divide" | "share" as step:
                    out = self._divided(out, by, step == SHARE)
                case step:
                    sides = (by, out) if name.startswith(TURNED) else (out, by)
                    out = total_size(sides, (1, -1 if step == "sub" else 1))
        if size_value(out, {letter: n for n, letter in self.letters.items()}) != made:
            raise ShapeError(f"{made} is no {out} here")
        return out

    def _divided(self, size: Any, k: int, share: bool) -> Any:
        """A size divided by a number, and rounded down where it is no share."""
        if isinstance(size, int):
            return size // k
        self.divides = self.divides or k > 1
        if (
            (share or self.sharing)
            and k > 1
            and size_value(size, {letter: n for n, letter in self.letters.items()}) % k == 0
        ):
            self.shared[size, k] = None
            return share_size(size, k)
        return f"len(range({total_size([size, 1 - k])})[::{k}])" if k > 1 else size

    def has_length(self, n: int) -> bool:
        """Whether an axis of the graph is so long at any size; a lettering alone knows of none."""
        raise NotImplementedError

    def _number_of(self, n: int) -> int | None:
        """A plain int that the program of a recorded graph is given is a number, whatever axis is as long by chance."""
        plain = n.__class__ is int or (n.__class__ is Guess and self.doubting and n not in sizes_read())
        if plain and self.recorded and n not in self.fitting:
            self.note_plain((int(n),))
            return int(n)
        return None

    def _check_plain(self) -> None:
        """A size told by its value alone is a number where something else is so long at any size, such as a kernel."""
        if not self.told.isdisjoint(self.plain):
            raise ShapeError(f"{sorted(self.told & self.plain)} may be a number or a size that is composed")

    def _letter(self, n: int) -> str | None:
        """The letter of a size that is known by its value alone; refused where the program composes that value, too."""
        self.asked.add(n)
        self._check_met()
        return self.letters.get(n)

    def _check_met(self) -> None:
        if not (self.by_value or self.apart) and not self.asked.isdisjoint(self.met):
            raise ShapeError(f"{sorted(self.asked & self.met.keys())} may be a size of a leaf or one that is composed")

    def note_plain(self, shape: tuple[Any, ...]) -> None:
        """Sizes of which some are numbers, whatever the sizes of leaves are."""
        self.plain.update(n for n in shape if n.__class__ is int and n > 1)
        self._check_plain()

    def note_composed(self, size: str, n: int) -> None:
        """A size of a term that is a letter or composed of letters, and its number."""
        if self.strict and (n == 1 or not self._same_size(self.composed.get(n, size), size)):
            self.plain.add(n)  # which nobody can tell by its value
            self._check_plain()
        if self.recorded and size_value(size, {letter: k for k, letter in self.letters.items()}) != n:
            raise ShapeError(f"{size} is not {n} here")  # x[3:] of two rows
        if n not in self.letters and n != 1:
            self.composed.setdefault(n, size)
        elif not size.isalnum() and self.letters.get(n, "+").isalnum():
            self.met.setdefault(n, size)
            self._check_met()
            if self.by_value:
                self.joint.setdefault(n, size)
        if self.by_value and n in self.letters and not self._same_size(self.letters[n], size):
            self.alike[self.letters[n], size] = None

    def _same_size(self, size: str, other: str) -> bool:
        """Whether sizes that are equal here are so at all sizes, as m+m and 2*m are."""
        apart = dict(zip(self.letters.values(), (1009, 2003, 4001, 8009, 16001, 32003, 64007), strict=False))
        for letter, (_, k) in itertools.product(apart, self.shared):  # of which shares are written
            apart[letter] *= k
        if size == other or not letters_of(size) | letters_of(other) <= apart.keys():
            return size == other
        return size_value(size, apart) == size_value(other, apart)

    # ---------------------------------------------------------------------------------------- sizes that ops are given

    def sizes_given(self, name: str, arrays: Sequence[tuple[Any, Any]], params: Mapping[str, Any], key: str) -> Any:
        """A size or sizes among parameters of an op, as letters where they are; its arrays have numbers and sizes."""
        sizes = params[key]
        if not isinstance(sizes, tuple):
            return self.given_size(sizes)
        if name == "einsum":
            return self._contracted(arrays, params["inputs"], params["output"], sizes)
        if name == "reshape":
            return self._reshaped(*arrays[0], sizes)
        if name == "expand":
            return self._expanded(*arrays[0], sizes)
        return tuple(map(self.given_size, sizes))

    def _contracted(
        self, arrays: Sequence[tuple[Any, Any]], inputs: Sequence[Any], output: Sequence[Any], sizes: Sequence[int]
    ) -> tuple[Any, ...]:
        """Sizes of the axes of a product: those of the axes of the same labels that are not broadcast."""
        found: dict[tuple[Any, int], Any] = {}
        for (old, known), labels in zip(arrays, inputs, strict=True):
            for label, n, size in zip(labels, old, known, strict=True):
                found.setdefault((label, n), size)
        return tuple(
            found[label, n] if n != 1 and (label, n) in found else self.given_size(n)
            for label, n in zip(output, sizes, strict=True)
        )

    def _expanded(self, old: tuple[int, ...], known: tuple[Any, ...], new: tuple[int, ...]) -> tuple[Any, ...]:
        """Target sizes of an expansion: those of the axes that it keeps, and those that it is given."""
        added = len(new) - len(old)
        row = zip((1,) * added + old, (1,) * added + known, new, strict=True)
        return tuple(self._kept(size, wide) if n == wide and n != 1 else self.given_size(wide) for n, size, wide in row)

    def _kept(self, size: Any, given: int) -> Any:
        """The size of an axis that stays as long as it is, for which a size is given: no other that is so by chance."""
        if given.__class__ is Size:
            parts = [self.part(f) for f in given.factors if f.__class__ is Part]
            other = parts[0] if len(parts) == 1 else self.letters.get(given)
            if other is not None and size is not None and not self._same_size(str(other), str(size)):
                self._letter(given)
                raise ShapeError(f"an axis of {size} is given {other}, which is another size elsewhere")
        return size

    def _reshaped(self, old: tuple[int, ...], known: tuple[Any, ...], new: tuple[int, ...]) -> tuple[Any, ...]:
        """Target sizes of a reshape: an old size, a letter, a product of neighbouring old sizes, or the number."""
        out: list[Any] = []
        open_shape = any(n.__class__ is Rest for n in new)
        for sizes, targets, chance in _regrouped(list(zip(old, known, strict=True)), new):
            letters = any(isinstance(size, str) for size in sizes)
            if sizes and all(isinstance(size, int) for size in sizes):
                out += [self._kept(int(n), n) for n in targets]  # as many entries as numbers are numbers themselves
                continue
            alone = len(targets) == 1 and letters and (len(sizes) == 1 or targets[0] not in self.letters)
            if alone or (chance and len(targets) == 1 and self._is_left(targets[0], targets, sizes)):
                if (open_shape or len(sizes) == 1) and self._number_of(targets[0]) is not None:
                    self.told.add(targets[0])
                    self._check_plain()
                out.append(self._kept(functools.reduce(product_size, sizes), targets[0]))
                continue
            known_sizes = [size for size in sizes if size is not None]
            made = [n if self._is_left(n, targets, known_sizes) else self._target(n) for n in targets]
            if self.strict and letters:
                made = self._with_rest(made, targets, known_sizes)
            given = self.recorded and any(n.__class__ is int for n in targets)
            written = any(n.__class__ is str and not n.isalnum() for n in made)
            if (given or chance or written) and letters and not self._fill(made, known_sizes):
                raise ShapeError(f"entries of {sizes} are no longer those of {made} at other sizes")
            out += made
        return tuple(out)

    def _target(self, n: int) -> Any:
        """A size that axes are given which others are made into."""
        if self.strict and n.__class__ is Size and n.steps and is_written(n):
            return self.written(n)
        return self._number_of(n) or self._letter(n) or n

    def _with_rest(self, made: Sequence[Any], targets: Sequence[int], sizes: Sequence[Any]) -> list[Any]:
        """The sizes of axes with a share of all entries where -1 stands beside numbers, unless they fill them."""
        rest = [k for k, n in enumerate(targets) if n.__class__ is Rest]
        others = [n for k, n in enumerate(made) if k not in rest]
        if len(rest) != 1 or any(n.__class__ is str for n in others) or self._fill(made, sizes):
            return list(made)
        share = self._divided(functools.reduce(product_size, sizes, 1), math.prod(others), True)
        return [share if k in rest else n for k, n in enumerate(made)]

    def _is_left(self, n: int, targets: Sequence[int], sizes: Sequence[Any]) -> bool:
        """Whether what -1 stood for is as long as an axis by chance: it would not fill the others at other sizes."""
        letter = self.letters.get(n) if n.__class__ is Rest else None
        row = [letter if m is n else self._number_of(m) or self.letters.get(m) or m for m in targets]
        return letter is not None and not self._fill(row, sizes)

    def _fill(self, made: Sequence[Any], sizes: Sequence[Any]) -> bool:
        """Whether axes have as many entries as others at all sizes."""
        products = [str(functools.reduce(product_size, row, 1)) for row in (made, sizes)]
        return self._same_size(*products)


def _regrouped(old: list[tuple[int, Any]], new: tuple[int, ...]) -> list[tuple[list[Any], list[int], bool]]:
    """The shortest runs of old axes and new ones that have as many entries: sizes as letters, and as numbers.

    The last part tells whether an axis of them has one entry by chance, as n - 1 rows do where n is 2.
    """
    if 0 in new:
        return [([], list(new), False)]  # nothing tells which of the axes without entries belong together
    rest = iter(old)
    found: list[tuple[list[Any], list[int], bool]] = []
    sizes: list[Any] = []
    targets: list[int] = []
    entries = wanted = 1
    chance = False
    for n in new:
        targets.append(n)
        wanted *= n
        while entries < wanted:
            size, letter = next(rest, (wanted, None))
            entries *= size
            single = size == 1 and isinstance(letter, str)
            chance = chance or single
            sizes += [letter] * (size != 1 or single)
        if entries == wanted:
            found.append((sizes, targets, chance))
            sizes, targets, entries, wanted, chance = [], [], 1, 1, False
    if targets:
        found.append(([], targets, False))
    left = [letter for size, letter in rest if size == 1 and isinstance(letter, str)]
    if left and found and found[-1][0]:
        found[-1] = [*found[-1][0], *left], found[-1][1], True
    return found

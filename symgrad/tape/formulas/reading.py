"""From the tape to formulas: every recorded node becomes the same op applied to terms.

Sizes become letters by value, in the order in which the leaves appear: all axes of length 10 are one letter.  Numbers
that are not sizes stay numbers.  The walk is linear in the graph and not recursive.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.errors import AutogradError, ShapeError
from symgrad.formula.shortcuts import as_run
from symgrad.formula.term import Term, apply, as_term, full, make, number, postorder, size_product, symbol
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import Index, indexed_shape
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.tape.formulas.below import NO_ENDS, nodes_below
from symgrad.tape.formulas.constants import Recipe, alike, filled, grown, holds, plain_recipe, sources_of
from symgrad.tape.formulas.hooked import marked
from symgrad.tape.formulas.lettering import Lettering
from symgrad.tape.formulas.names import site_name
from symgrad.tape.formulas.parts import Part
from symgrad.tape.formulas.places import Places, placed, read_at_places, shows_arrays, with_places
from symgrad.tape.formulas.pulled import gradient_of, passed_through, roots_of, told_by_passes
from symgrad.tape.formulas.sizes import TURNED, Measure, Size, factors_of, is_written
from symgrad.tape.formulas.variables import held_alone
from symgrad.tape.graph import Node, Source
from symgrad.tape.record import Recorded
from symgrad.timing import timed

LETTERS = ("n", "m", "p", "q", "r", "s", "d", "h", "l", "u", "v")


class Reading(Lettering):
    """One reading of a graph as formulas: names, letters, and the term of every node.

    ``names`` gives names to leaves by identity, before those they have of their own; ``letters`` says which sizes are
    letters (no others are then), else all sizes of leaves are that are not among the ``fixed`` ones; those of arrays in
    indices only with ``counts``: programs keep such arrays as they are, and take no size for another one that is as
    long here; nor a user's number for a size, where all that is known is one ``recorded`` run.  ``ends`` as in
    :func:`nodes_below`.
    """

    def __init__(
        self,
        roots: Sequence[Any],
        names: dict[int, str] | None = None,
        letters: dict[int, str] | None = None,
        fixed: Collection[int] = (),
        local: bool = False,
        counts: bool = True,
        ends: Mapping[int, Any] = NO_ENDS,
        recorded: bool = False,
    ):
        super().__init__(strict=not counts, recorded=recorded)
        self.local = local
        self.terms: dict[int, Term] = {}
        self.span: tuple[int, int] | None = None  # creation numbers of a run, where the graph is that of a run
        self.compared: list[Term] = []  # what the run asked of sizes; or its opposite: it is true
        self.nodes, leaves = nodes_below(roots, with_places, ends)
        self.recipes: dict[int, Recipe] = {}  # by the identity of constants
        unmade = self._unmade(leaves, names or {})
        self.again = _repeated(unmade, names or {})
        """Constants that are one with another leaf, and nodes that are leaves here, by identity."""
        self.leaves = [leaf for leaf in unmade if id(leaf) not in self.again]
        if ends:
            reached = set(map(id, self.leaves))
            self.again.update({node: tensor for node, tensor in ends.items() if id(tensor) in reached})
        # Arrays without a name here.
        self.taken = any(leaf.raw_shape and not _given(leaf, names or {}) for leaf in unmade)
        self.letters = dict(letters or {})
        self.lettered = letters is None
        self.unclear: set[int] = set()
        """Values of letters of which a user's number may be one by chance."""
        self.sources: dict[str, Any] = {}
        self._taken: set[str] = set()
        self._counted: dict[str, int] = {}
        """Up to which number names were given, by the name that was asked for."""
        chosen = self._name_leaves(names or {})
        if letters is None:
            self._letter_sizes(fixed, counts)
        self._pin_numbers()
        self._read_with_letters(chosen)

    def _read_with_letters(self, chosen: dict[int, str]) -> None:
        """The terms with as many letters as there can be.

        A size that is one number in the program cannot be a letter, such as that of a pose of which three entries are a
        turn and the others a shift.  So the letter without which most can be read is left out, until all can.
        """
        # Functions that a tracer runs at several sizes tell by these which of them are numbers.
        if self.lettered and (self.recorded or not self.strict) and self._without_numbers(chosen):
            return
        while not self._attempted(chosen, self.letters):
            attempts = []
            for n in self.letters:
                others = {k: letter for k, letter in self.letters.items() if k != n}
                if self._attempted(chosen, others):
                    return
                attempts.append((len(self.terms), others))
            self.letters = max(attempts, key=operator.itemgetter(0))[1]
            self.lettered = bool(self.letters)

    def _without_numbers(self, chosen: dict[int, str]) -> bool:
        """Whether all can be read where a user's number is no size that is as large by chance.

        A tile of three times three rows is no tile of n; but beside n rows, an identity matrix of so many has n, too.
        Where that cannot be told, numbers are sizes, as long as these are as they were here.
        """
        letters = self.letters
        if not letters:
            return False
        if self.recorded:
            if self._attempted(chosen, letters):
                return True
            self.doubting = False  # np.eye(n) of n rows
            return False
        self.recorded = True
        tries: list[set[int]] = [set()]
        for self.fitting in tries:
            if self._attempted(chosen, letters):
                return True
            tries += [{n} for n in sorted(self.plain & letters.keys()) if not self.fitting]
            self.unclear |= self.told & self.plain & letters.keys()
        self.recorded = False
        return False

    def _attempted(self, chosen: dict[int, str], letters: dict[int, str]) -> bool:
        """Whether all terms can be read with these letters; without any they are.

        A letter that has the value of a size that the program composes is another size, as far as that can be: of four
        rows and three columns n - 1 is not m, but beside a join of x and h, W has n + m columns.  And where both are so
        long, a kernel of three entries and three results of five entries, leaves after the first may have that size.
        """
        before = self.letters
        modes: list[tuple[bool, bool, dict[int, str]]] = [(False, False, {})]
        for k, (self.sharing, self.by_value, self.apart) in enumerate(modes, 1):
            self.terms = {}
            self.begin(letters)
            try:
                self._read(chosen)
            except ShapeError:
                if self.divides and not self.sharing:
                    modes.append((True, self.by_value, self.apart))
                if self.met and not (self.by_value or self.apart):
                    modes += [(self.sharing, False, dict(self.met))] * (not self.strict) + [(self.sharing, True, {})]
                if k < len(modes):
                    continue
                if not letters:
                    raise
                self.letters = before
                return False
            break
        return True

    def _read(self, chosen: dict[int, str]) -> None:
        """The terms of all leaves and nodes; again where a leaf has a size that the program composes.

        Beside a join of x and h, W has n + m columns.
        """
        while True:
            self.joint: dict[int, str] = {}
            self.alike, self.shared = {}, {}
            self.composed = {}
            self.terms = {}
            self._make_symbols(chosen)
            for key, leaf in self.again.items():
                self.terms[key] = self.terms[id(leaf)]
            self._read_nodes(self.nodes)
            open_letters = {self.letters[n] for n in self.joint}
            written = {n: size for n, size in self.joint.items() if not letters_of(size) & open_letters}
            if not written:
                return
            self.letters.update(written)

    def _read_nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self._make(map(id, with_places(node)))  # now that the sizes are known that other arguments are made of
            self.terms[id(node)] = self._term(node)
        self._make(self.recipes)

    def _make(self, keys: Iterable[int]) -> None:
        """The terms of constants by their recipes, of those that have one and are not there yet."""
        for key in keys:
            if key in self.recipes and key not in self.terms:
                self.terms[key] = self._made(self.recipes[key])

    def hooked(self, replaced: dict[Any, list[Any]]) -> Reading:
        """The same reading with marks on the nodes at which hooks replaced the gradient."""
        made = copy.copy(self)
        made.terms = dict(self.terms)
        for node in self.nodes:
            term = made._term(node)
            made.terms[id(node)] = marked(term, node.sequence_nr, replaced[node]) if node in replaced else term
        return made

    def also(self, root: Any) -> None:
        """Read another value's graph with the same names and letters; leaves that are new get names of their own."""
        nodes, leaves = nodes_below([root], with_places)
        before, self.leaves = self.leaves, self._unmade([leaf for leaf in leaves if id(leaf) not in self.terms], {})
        chosen = self._name_leaves({})
        free = (x for x in itertools.chain(LETTERS, (f"n{k}" for k in itertools.count(1))) if x not in self._taken)
        for n in (n for leaf in self.leaves for n in leaf.raw_shape if self.lettered and n > 1):
            if n not in self.letters:
                self.letters[n] = next(x for x in free if x not in self.letters.values())
        self._make_symbols(chosen)
        self.leaves = before + self.leaves
        self._read_nodes(nodes)

    def __getitem__(self, edge: Any) -> Term:
        if isinstance(edge, (Node, Recorded, Source)):
            return self.terms[id(edge)]
        return self.number(edge)

    def _letter_sizes(self, fixed: Collection[int], counts: bool) -> None:
        free = (x for x in itertools.chain(LETTERS, (f"n{k}" for k in itertools.count(1))) if x not in self._taken)
        for leaf in self.leaves:
            for n in leaf.raw_shape if counts or leaf.__class__ is not Places else ():
                if n > 1 and n not in self.letters and n not in fixed:
                    self.letters[n] = next(free)

    def _pin_numbers(self) -> None:
        """Sizes that the program fixes are no letters."""
        given = [(node.params or {}).get("length") for node in self.nodes]
        self.lengths = {int.__int__(n) for n in given if n.__class__ is Size and is_written(n)}
        for node in self.nodes:
            if node.op.name == "stack" or (node.op.name == "cat" and not self.strict):
                self._pin_joined(node)
            elif node.op.name == "windows_sum":
                # Its rules count with the length and number of windows.
                for n in (*node.args[0].raw_shape, *node.shape):
                    self.letters.pop(n, None)
            elif node.params and isinstance(node.params.get("index"), Index):
                self._pin_sizes(node)
                self._pin_last(node)

    def _pin_joined(self, node: Node) -> None:
        """As many as there are arguments: a number of the program, whatever leaf has that size."""
        dim = node.params["dim"]  # type: ignore[index]
        parts = [self.shape(a.raw_shape)[dim] for a in node.args] if node.op.name == "cat" else []
        if all(isinstance(size, int) and size not in self.lengths for size in parts):
            self.letters.pop(node.shape[dim], None)

    def _pin_sizes(self, node: Node) -> None:
        """Sizes that an index fixes are numbers: a leaf of such a size, by value, belongs to that index alone."""
        params = node.params or {}
        whole = params["shape"] if "shape" in params else node.args[0].raw_shape
        index, places = placed(params["index"], node.args)
        sizes = [a.raw_shape for a in places]
        letters = indexed_shape(self.shape(whole), *map(self.shape, sizes), index=index)
        for letter, n in zip(letters, indexed_shape(tuple(whole), *sizes, index=index), strict=True):
            if isinstance(letter, int):
                self.letters.pop(n, None)

    def _pin_last(self, node: Node) -> None:
        """Who counts entries one by one up to the last, such as X[0], X[1] and X[2] of a point, means so many."""
        index = node.params["index"]  # type: ignore[index]
        if node.op.name != "getitem" or index.fancy or Ellipsis in index.parts or None in index.parts:
            return
        for part, n in zip(index.parts, node.args[0].raw_shape, strict=False):
            if part.__class__ is int and 0 < part == n - 1:
                self.letters.pop(n, None)

    def _name_leaves(self, given: dict[int, str]) -> dict[int, str]:
        """Given names first, then assigned ones, then x1, x2 … and c1, c2 …; a name belongs to one leaf."""
        chosen: dict[int, str] = {}
        rest = []
        for leaf in self.leaves:
            name, explicit = self._own_name(leaf, given)
            if name is not None and explicit:
                chosen[id(leaf)] = self._free(name)
            else:
                rest.append((leaf, name))
        for leaf, name in rest:
            if name is not None:
                chosen[id(leaf)] = self._free(name)
        for leaf, name in rest:
            if name is None:
                stem = "x" if isinstance(leaf, Recorded) else "c"
                chosen[id(leaf)] = self._free(stem + "1")
        return chosen

    def _make_symbols(self, chosen: dict[int, str]) -> None:
        apart: dict[int, str] = {}
        for leaf in self.leaves:
            name = chosen[id(leaf)]
            structure = leaf.structure if isinstance(leaf, Source) else leaf._extra.structure if leaf._extra else None
            shape = tuple(apart.get(n) or self.letters.get(n) or self.composed.get(n, n) for n in leaf.raw_shape)
            apart |= {n: self.apart[n] for n in leaf.raw_shape if n in self.apart}
            self.note_plain(shape)
            self.terms[id(leaf)] = symbol(name, shape, leaf.dtype, structure)
            self.sources[name] = leaf

    def _own_name(self, leaf: Any, given: dict[int, str]) -> tuple[str | None, bool]:
        if _given(leaf, given):
            return given[id(leaf if isinstance(leaf, Recorded) else leaf.ref())], True
        extra = leaf if isinstance(leaf, Source) else leaf._extra
        if extra is None:
            return None, False
        found = site_name(extra.name, extra.site)
        if found is None and isinstance(leaf, Source):
            found = leaf.variable or held_alone(leaf)
        return found, extra.name is not None

    def _free(self, name: str) -> str:
        found, k = name, self._counted.get(name, 1)
        stem = name.rstrip("0123456789") if name[-1].isdigit() else name + "_"
        while found in self._taken:
            k += 1
            found = f"{stem}{k}"
        self._taken.add(found)
        self._counted[name] = k
        return found

    def _unmade(self, leaves: Sequence[Any], names: dict[int, str]) -> list[Any]:
        """Those of ``leaves``, and of the parts of their recipes, that have no recipe; others' recipes are noted."""
        found = []
        for leaf in (rest := list(leaves)):
            recipe = _recipe(leaf, names, self.local)
            if recipe is None:
                found.append(leaf)
            else:
                self.recipes[id(leaf)] = recipe
                rest += {id(p): p for p in sources_of(recipe) if id(p) not in {*self.terms, *map(id, rest)}}.values()
        return found

    def _made(self, recipe: Recipe) -> Term:
        """A constant as the ops that made it, with sizes as letters."""
        name, params = recipe
        if name == "number":
            return self.number(params["value"])
        if name == "constant":
            self._make([id(params["source"])])
            return self.terms[id(params["source"])]
        if name == "root":
            return self.terms[id(params["of"]())]
        if name == "full":
            return full(tuple(map(self.given_size, params["shape"])), params["value"], np.dtype(params["dtype"]))
        op, parts = (params["op"], params["args"]) if name == "made" else (lookup(name), ())
        given = params["params"] if name == "made" else params
        args = tuple(map(self._made, parts))
        values = {letter: n for n, letter in self.letters.items()}
        known = [(tuple(size_value(size, values) for size in a.shape), a.shape) for a in args]
        for key in op.size_params or ():
            if given[key].__class__ is Size and not is_written(given[key]):
                raise ShapeError(f"{given[key]} is a number that was made of sizes")
        sizes = {key: self.sizes_given(op.name, known, given, key) for key in op.size_params or ()}
        return as_term(apply(op, args, given | sizes))

    @property
    def symbols(self) -> list[Term]:
        """The symbols of the leaves and constants, used in the formula or not."""
        return [self.terms[id(leaf)] for leaf in self.leaves]

    # -------------------------------------------------------------------------------------- nodes

    def number(self, value: Any, known: Mapping[int, str] | None = None) -> Term:
        """A number of the program, with letters, or what is ``known``, for the sizes that it is made of."""
        if not isinstance(value, (Size, Measure)):
            return as_term(value)
        if known is None:
            known = {n: size for n in factors_of(value) if isinstance(size := self.size(n), str)}
        sizes = [self.factor(f, known) for f in value.factors]
        if known.keys().isdisjoint(factors_of(value)) and all(isinstance(size, int) for size in sizes):
            return number(int(value) if isinstance(value, Size) else float(value))
        made = size_product(sizes)
        for name, other in value.steps:
            sides = (made, self.number(other, known))
            made = lookup(name.removeprefix(TURNED))(*(sides[::-1] if name.startswith(TURNED) else sides))
        return made

    def _term(self, node: Node) -> Term:
        op = node.op
        known = self.terms
        args = () if op.kind == "folded" else tuple([known[id(a)] if id(a) in known else self[a] for a in node.args])
        if op.define_symbolic is not None:
            return op.define_symbolic(self, node, args)  # type: ignore[no-any-return]
        params = self.params(node)
        if not self.strict and (index := _slice_of(node)) is not None:
            found = _sliced(args[0], index, params)
        elif shows_arrays(node):
            found = read_at_places(node, args, params, self.terms)
        else:
            found = as_run(op, args, params) if args else op(**params)
        return self._typed(found, node) if isinstance(found, Term) else as_term(found)

    def _typed(self, term: Term, node: Node) -> Term:
        """The recorded dtype is the truth; inference may not know the default dtype of the time.

        A size that inference composes (``n+p`` of a join) stands for its value in what follows; a leaf that has it too,
        by value, is read with that size.
        """
        if term.op.kind == "leaf" or term.op.name == "full":
            return term
        shape = term.shape
        self.note_plain(shape)
        if _composed(shape):
            for s, n in zip(shape, node.shape, strict=True):
                if isinstance(s, str):
                    self.note_composed(s, n)
            shape = tuple(
                self.letters.get(n, s) if isinstance(s, str) and (self.by_value or s.isalnum()) else s
                for s, n in zip(shape, node.shape, strict=True)
            )
        dtype = term.dtype if term.dtype is None else node.dtype
        if shape is term.shape and dtype is term.dtype:
            return term
        return make(term.op, term.args, term.params, shape, dtype)

    def part(self, n: Part) -> Any:
        """The length of a part by how it was cut; None where the graph does not tell it."""
        try:
            made = self._made(n.recipe)
        except (KeyError, ShapeError):
            self.beyond = True
            return None
        size = made.shape[n.axis]
        if size_value(size, {letter: n for n, letter in self.letters.items()}) != n:
            self.beyond = True  # x[:10] of fewer entries
            return None
        self.cut.append(made)
        return size

    def has_length(self, n: int) -> bool:
        """Whether an axis of a leaf is so long, or one of what was read until now at any size."""
        return any(n in leaf.raw_shape for leaf in self.leaves) or any(n in term.shape for term in self.terms.values())

    def params(self, node: Node) -> dict[str, Any]:
        """Static parameters with sizes as letters."""
        given = node.params or {}
        # What was made of sizes is a number in formulas; who compiles them asks the node.
        params = {key: _without_steps(value) for key, value in given.items()}
        if not node.op.size_params:
            return params
        out = dict(params)
        arrays = [(a.raw_shape, self[a].shape) if hasattr(a, "raw_shape") else ((), ()) for a in node.args]
        for key in node.op.size_params:
            if not self.strict:
                out[key] = self.sizes_given(node.op.name, arrays, params, key)
            elif given[key].__class__ is not Size or is_written(given[key]):
                out[key] = self.sizes_given(node.op.name, arrays, given, key)
        return out


def _without_steps(value: Any) -> Any:
    """A parameter with numbers for what was made of sizes, and sizes that are no more than that as they are."""
    if value.__class__ is tuple:
        return tuple(map(_without_steps, value))
    return int.__int__(value) if value.__class__ is Size and value.steps else value


def _slice_of(node: Node) -> Index | None:
    """The slice between sizes, ``x[:h]``, that a node takes, or puts into zeros; formulas show it with numbers."""
    params = node.params or {}
    if node.op.name not in ("narrow", "embed") or not any(isinstance(n, Size) for n in params.values()):
        return None
    dim, first = params["dim"], operator.index(params["start"])
    lengths = node.shape[dim], node.args[0].raw_shape[dim]
    last = first + min(lengths)
    return Index((*(slice(None),) * dim, slice(first or None, None if last == max(lengths) else last)))


def _sliced(x: Term, index: Index, params: dict[str, Any]) -> Term:
    """A slice of a term; or, where the ``size`` of a whole is given, the whole with the term there."""
    if "size" not in params:
        return lookup("getitem")(x, index=index)  # type: ignore[no-any-return]
    shape = (*x.shape[: params["dim"]], params["size"], *x.shape[params["dim"] + 1 :])
    return lookup("put")(x, index=index, shape=shape)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1024)
def _composed(shape: tuple[Any, ...]) -> bool:
    """Whether a size of a shape is more than a letter."""
    return any(isinstance(s, str) and not s.isalnum() for s in shape)


def _given(leaf: Any, given: dict[int, str]) -> bool:
    """Whether a leaf is one that was given a name by identity."""
    tensor = leaf if isinstance(leaf, Recorded) else leaf.ref()
    return tensor is not None and id(tensor) in given


def _repeated(leaves: Sequence[Any], given: dict[int, str]) -> dict[int, Any]:
    """The constants without a name that are one with an earlier leaf, and that leaf."""
    first: dict[Any, Any] = {}
    found: dict[int, Any] = {}
    for leaf in leaves:
        if not isinstance(leaf, Source) or leaf.site is not None or leaf.name is not None or _given(leaf, given):
            continue
        key = leaf.key if leaf.__class__ is Places else alike(leaf)
        if key is not None and first.setdefault(key, leaf) is not leaf:
            found[id(leaf)] = first[key]
    return found


def _recipe(leaf: Any, given: dict[int, str], local: bool) -> Recipe | None:
    """How a constant without a name was made, if it still has the values of then, or what its values are plainly."""
    if not isinstance(leaf, Source):
        return None
    alive = leaf.ref()
    if local and alive is None and leaf.name is None and leaf.recipe is not None:
        return leaf.recipe  # the name of a variable that was gone with the run
    if site_name(leaf.name, leaf.site) is not None:
        return None
    if _given(leaf, given):
        return None
    if leaf.recipe is None:  # no name for the value here: it is counted who has it
        found = filled(leaf)
        value = leaf.kept if alive is None else alive._value
        return found or grown(value) or plain_recipe(value)
    value = leaf.kept if alive is None else alive._value
    return leaf.recipe if value is None or holds(leaf.recipe, value) else None


def term_of(tensor: Any) -> Term:
    """The formula of a tensor: of its node, of the backward passes it accumulated, or its own symbol."""
    return read(tensor)[1]


@timed("symbolic", "read the graph")
def read(tensor: Any, names: dict[int, str] | None = None) -> tuple[Reading, Term]:
    """The reading of a tensor's graph and its term in it."""
    reading, (term,) = read_all([tensor], names)
    return reading, term


def read_all(
    tensors: Sequence[Any], names: dict[int, str] | None = None, recorded: bool = False
) -> tuple[Reading, list[Term]]:
    """One reading of the graphs of several tensors, and their terms in it; for a program of what was ``recorded``."""
    origins = [told_by_passes(tensor) for tensor in tensors]
    roots = []
    for tensor, origin in zip(tensors, origins, strict=True):
        roots += [tensor.edge()] if origin is None else roots_of(origin)

    def reading_from(roots: Sequence[Any]) -> tuple[Reading, list[Term]]:
        letters: dict[int, str] | None
        for letters in (None, {}):  # with numbers for sizes where a derivative does not fit their letters
            reading = Reading(roots, names, letters, counts=not recorded, recorded=recorded)
            try:
                terms = [
                    reading[tensor.edge()] if origin is None else gradient_of(reading, origin)
                    for tensor, origin in zip(tensors, origins, strict=True)
                ]
                break
            except (ShapeError, AutogradError):
                if not reading.letters:
                    raise
        return reading, terms

    reading, terms = reading_from(roots)
    sizes = {n for t in postorder(terms) for n in t.shape if isinstance(n, int) and n > 1}
    sizes |= {n for node in reading.nodes for a in node.args if isinstance(a, (Size, Measure)) for n in factors_of(a)}
    sizes -= reading.letters.keys()
    passed = passed_through(reading.nodes) if sizes else []
    nodes, leaves = nodes_below(passed, with_places) if passed else ([], [])
    if any(sizes.intersection(shape) for shape in (*(x.raw_shape for x in leaves), *map(_merged_shape, nodes))):
        # The slope of a sum of log b over the rows of x is n / b: x has no part in it but its size.  And that of the
        # trace of A ⊗ B has no part of A ⊗ B but its size, which is a product.
        with contextlib.suppress(ShapeError, AutogradError):
            reading, terms = reading_from([*roots, *passed])
    return reading, terms


def _merged_shape(node: Node) -> tuple[int, ...]:
    """The shape of a result whose axes are made of several."""
    return node.shape if node.op.name == "reshape" else ()

"""How constants were made, for formulas: ``eye(n)``, ``ones(n)`` and what is computed of them, ``0.1 * eye(n)``.

A recipe is the name of an op and its parameters.  That of a constant which an op made of others holds theirs, down to a
few levels: so a loop that adds to zeros forgets where it began, and keeps nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import numpy as np

from symgrad.op import Length, Op, lookup
from symgrad.tape.formulas.names import site_name
from symgrad.tape.formulas.sizes import Comparison, Measure, Size, fixed_number, is_whole, watched
from symgrad.tape.memory.versions import changes
from symgrad.tape.threads import during
from symgrad.tape.watching.watch import WATCH


class Guess(Length):
    """A length of an array of NumPy's, of which nobody knows how it was made: by its value it may be a size."""

    __slots__ = ()


Recipe = tuple[str, dict[str, Any]]
"""The name of an op and its parameters; ``("made", {"op": …, "args": …, "params": …})`` for what an op made.

``("constant", {"source": …})`` is a part that is nothing but its entries.
"""

SMALL = 4096
"""Bytes up to which a constant's values are kept with the graph."""

DEEPEST = 6
"""Ops that a recipe holds one inside of the other."""


def known(arg: Any) -> bool:
    """Whether an argument is a constant that is told by how it was made, which no name or data is."""
    extra = getattr(arg, "_extra", None)
    if extra is None or extra.recipe is None or extra.recipe[0] == "number" or extra.name is not None:
        return False
    return not changes(arg._value)


def noted(made: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """A constant with the note how it was made, where its parts are numbers and constants of which that is known.

    While a tracer looks on, an array of given entries that is made as long as another is noted, too, as in
    ``x.index_add(1, [0, 2], y)``: a program is for other sizes.
    """
    sized = WATCH.count > 0 and op.size_params is not None
    if sized or any(map(known, args)):
        _note(made, op, args, params, sized)
    note_sizes(made, args)
    return made


def note_sizes(made: Any, args: Sequence[Any]) -> None:
    """Note which sizes that a program read are in the entries of a constant that is made of ``args``.

    A graph with these entries holds where the sizes are the same.  Who watches runs the function at other sizes, too.
    """
    for arg in args:
        if isinstance(arg, (Size, Measure)):
            sizes: Collection[Any] = [fixed_number(arg)]
        else:
            extra = getattr(arg, "_extra", None)
            if extra is None or not extra.sized:
                continue
            sizes = extra.sized
        note_lengths(made, sizes)


def note_lengths(made: Any, sizes: Collection[Any]) -> None:
    """The same of the sizes with which a constant is made: its shape tells those that are axes of it, but of parts."""
    found = [size for size in sizes if isinstance(size, (Comparison, Size, Measure))]
    if found and not watched():
        shape = made._value.shape
        made.more().sized |= {
            size if isinstance(size, Comparison) or (size in shape and is_whole(size)) else fixed_number(size)
            for size in found
        }


def _note(made: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any], sized: bool) -> None:
    plain = op.entrywise or op.kind == "multilinear" or (op.linear and (sized or not op.size_params))
    if not plain or op.define_symbolic is not None:
        return
    parts: list[Any] = []
    deep = 0
    for arg in args:
        if known(arg):
            parts.append(arg._extra.recipe)
            deep = max(deep, parts[-1][1].get("deep", 0))
        elif isinstance(arg, (int, float)) and not isinstance(arg, bool):
            parts.append(("number", {"value": arg}))
        elif sized and hasattr(arg, "source"):
            parts.append(("constant", {"source": arg.source()}))
        else:
            return
    if deep < DEEPEST:
        made.more().recipe = ("made", {"op": op, "args": tuple(parts), "params": params, "deep": deep + 1})


def _value_of(source: Any) -> tuple[Any, int]:
    """The value of a constant, and how many references there are to it."""
    tensor = source.ref()
    value = source.kept if tensor is None else tensor._value
    return value, sys.getrefcount(value)


class _Alone:
    """A constant whose array nobody else has: its tensor, itself and its record in one."""

    def __init__(self) -> None:
        self._value = self.kept = np.zeros(2)

    def ref(self) -> Any:
        return self


_OURS = _value_of(_Alone())[1]
"""References to the array of a constant that nobody else has; Python's versions count differently."""


def passing(source: Any) -> Any:
    """The array of a constant that was made in passing: nobody has it who could change it; None for all others."""
    value, count = _value_of(source)
    if source.copied is not None and source.copied() is not None:
        return None
    known = value.__class__ is np.ndarray and value.base is None and value.nbytes <= SMALL
    return value if known and count <= _OURS else None


def alike(source: Any) -> Any:
    """What constants without a name have in common that are one: the same memory, or equal entries made in passing.

    A loop that reads one array at every step, or writes ``np.array([0, 0, 9.81])`` there, has one constant.  None for
    a constant of which that cannot be said.
    """
    value = passing(source)
    if value is not None:
        return value.dtype.str, value.shape, source.structure, value.tobytes()
    value = _value_of(source)[0]
    if value.__class__ is not np.ndarray:
        return None
    return value.dtype.str, value.shape, source.structure, value.strides, value.__array_interface__["data"][0]


def filled(source: Any) -> Recipe | None:
    """How zeros and ones were made that a function took in passing, ``np.zeros(n)``; None for all else."""
    value = passing(source)
    if value is None or value.size < 2 or value.dtype.kind != "f" or value.flat[0] not in (0, 1):
        return None
    if value.tobytes() != np.full_like(value, value.flat[0]).tobytes():
        return None
    return ("full", {"shape": tuple(map(Guess, value.shape)), "value": int(value.flat[0]), "dtype": value.dtype.name})


def counted(start: int, count: int, dtype: Any) -> Recipe:
    """How so many whole numbers from ``start`` on are made."""
    made: Recipe = ("arange", {"n": count, "dtype": "int64"})
    if start:
        made = _recipe("add", made, ("number", {"value": int(start)}))
    return made if dtype == np.int64 else _recipe("cast", made, dtype=dtype.name)


def plain_recipe(value: Any) -> Recipe | None:
    """What made an array, by values that data hardly have: multiples of I, triangles of ones, I - 11ᵀ/n, 11ᵀ - I."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or value.size < 4 or value.dtype.kind not in "bif":
        return None
    number = value[0, 0].item()
    if value[0, -1] != value[-1, 0]:
        return _triangle(value)
    if value.dtype.kind == "b":
        return None
    if value[0, -1]:
        return _centring(value) if number else _beside_the_diagonal(value)
    if not number:
        return None
    if not np.array_equal(value, number * np.eye(len(value))):
        return None
    eye = ("eye", {"n": Guess(len(value)), "dtype": value.dtype.name})
    return eye if number == 1 else _recipe("mul", ("number", {"value": number}), eye)


def _adds_axes(index: Any) -> bool:
    """Whether an index takes all entries, with further axes: ``[None]``, ``[:, None]``, ``[..., None]``."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or part == slice(None) for part in parts)


_TURNS = frozenset({"permute", "unsqueeze"})


def turned_about(view: Any) -> Recipe | None:
    """What is made of a constant that has a name by turning its axes, ``W.T``, or adding some; None for other parts."""
    base: Any = view.base
    made: Recipe | None = None
    for op, params in () if base._requires_grad else view.chain():
        if op.name not in _TURNS and not (op.name == "getitem" and _adds_axes(params["index"].value)):
            return None
        if made is None:
            source = base.source()
            if site_name(source.name, source.site) is None:
                return None
            made = ("constant", {"source": source})
        made = ("made", {"op": op, "args": (made,), "params": params})
    return made


# ---------------------------------------------------------------------------------------------- what grows


def grown_recipe(values: Sequence[Any]) -> Recipe | None:
    """How arrays of several sizes were made, where one way makes all of them: one number, 1/n, even steps along axes.

    Or even steps between two numbers.  ``values`` are one constant of a function in several runs; the recipe is for the
    first of them.
    """
    first = values[0]
    if first.dtype.kind not in "fi" or first.size < 2 or any(v.dtype != first.dtype for v in values):
        return None
    for made in (_one_number(first), _share(first), _even(first)):
        if all(v.tobytes() == np.ascontiguousarray(_value(made(v.shape))).tobytes() for v in values):
            return made(first.shape)
    made = _between(first)
    return made(first.shape) if first.ndim == 1 and all(_rounds(_value(made(v.shape)), v) for v in values) else None


def _rounds(made: Any, value: Any) -> bool:
    """Whether an array has the entries of another one up to a rounding or two: linspace has others in each library."""
    return value.dtype.kind == "f" and bool(
        np.all(np.abs(made - value) <= 2 * np.spacing(np.abs(value).max(initial=0)))
    )


Maker = Callable[[tuple[int, ...]], Recipe]


def _one_number(like: Any) -> Maker:
    """Arrays filled with the number that ``like`` begins with."""
    return lambda shape: ("full", {"shape": shape, "value": like.flat[0].item(), "dtype": like.dtype.name})


def _share(like: Any) -> Maker:
    """Arrays filled with 1/n for the n entries of their first axis."""
    ones: Maker = lambda shape: ("full", {"shape": shape, "value": 1, "dtype": like.dtype.name})  # noqa: E731
    return lambda shape: _recipe("div", ones(shape), ("number", {"value": Size(shape[0])}))


def _between(like: Any) -> Maker:
    """Even steps from the first entry to the last, as linspace makes them, however many; of one there is no step."""
    start, stop = like.flat[0].item(), like.flat[-1].item()

    def made(shape: tuple[int, ...]) -> Recipe:
        found = _recipe("mul", ("number", {"value": stop - start}), counted(0, shape[0], np.dtype(float)))
        found = _recipe("ratio", found, ("number", {"value": Size(shape[0]) - 1}))
        found = _recipe("add", ("number", {"value": start}), found) if start else found
        return found if like.dtype == np.float64 else _recipe("cast", found, dtype=like.dtype.name)

    return made


def _even(like: Any) -> Maker:
    """Arrays of even steps along each axis, those with which ``like`` begins."""
    start = like.flat[0]
    steps = [
        (line[1] - start).item() if len(line := like[(0,) * k + (slice(None),) + (0,) * (like.ndim - k - 1)]) > 1 else 0
        for k in range(like.ndim)
    ]

    def made(shape: tuple[int, ...]) -> Recipe:
        found: Recipe = ("number", {"value": start.item()})
        for axis, step in enumerate(steps):
            if not step:
                continue
            row = counted(0, shape[axis], like.dtype)
            row = row if step == 1 else _recipe("mul", ("number", {"value": step}), row)
            for k in range(len(shape)):
                row = row if k == axis else _recipe("unsqueeze", row, dim=k)
            found = row if found[1].get("value") == 0 else _recipe("add", row, found)
        return found if all(steps) else _recipe("expand", found, shape=shape)

    return made


_GROWN: ContextVar[dict[Any, Recipe] | None] = ContextVar("constants known by their values", default=None)


def made_as(recipes: Sequence[tuple[Any, Recipe]]) -> AbstractContextManager[Any]:
    """Constants with these values are read as what these recipes make."""
    return during(_GROWN, {_key(value): recipe for value, recipe in recipes})


def grown(value: Any) -> Recipe | None:
    """The recipe that :func:`made_as` gave for a value."""
    known = _GROWN.get()
    return known.get(_key(value)) if known and isinstance(value, np.ndarray) else None


def _key(value: Any) -> Any:
    return value.dtype.str, value.shape, value.tobytes()


def _centring(value: Any) -> Recipe | None:
    """I - 11ᵀ/n, by its values; None for all else."""
    n, dtype = len(value), value.dtype.name
    if n != value.shape[1] or n < 3 or value.dtype.kind != "f":
        return None
    size = Size(n)
    mean = _recipe(
        "div",
        ("full", {"shape": tuple(map(Guess, value.shape)), "value": 1, "dtype": dtype}),
        ("number", {"value": size}),
    )
    made = _recipe("sub", ("eye", {"n": Guess(n), "dtype": dtype}), mean)
    return made if np.array_equal(value, _value(made)) else None


def _beside_the_diagonal(value: Any) -> Recipe | None:
    """1 - I, by its values; None for all else."""
    eye = ("eye", {"n": Guess(len(value)), "dtype": value.dtype.name})
    made = _recipe("sub", ("number", {"value": 1}), eye)
    return made if value.shape[0] == value.shape[1] > 2 and np.array_equal(value, _value(made)) else None


def _triangle(value: Any) -> Recipe | None:
    """How a square array was made that is a triangle of ones, with its diagonal or without; None for all else."""
    if len(value) != value.shape[1] or len(value) < 3:
        return None
    name = "tril" if value[-1, 0] else "triu"
    k = int(not value[0, 0]) * (1 if name == "triu" else -1)
    made = _recipe(
        name, ("full", {"shape": tuple(map(Guess, value.shape)), "value": 1, "dtype": value.dtype.name}), k=k
    )
    return made if np.array_equal(value, _value(made)) else None


def _recipe(name: str, *args: Recipe, **params: Any) -> Recipe:
    return ("made", {"op": lookup(name), "args": args, "params": params})


def holds(recipe: Recipe, value: Any) -> bool:
    """Whether a constant still has the values it was made with."""
    if recipe[0] == "number":
        return bool(value == recipe[1]["value"] or value != value)
    return all(_value_of(s)[0] is not None for s in sources_of(recipe)) and np.array_equal(value, _value(recipe))


def sources_of(recipe: Recipe) -> Iterator[Any]:
    """The records of the constants in a recipe that are nothing but their entries."""
    rest = [recipe]
    while rest:
        name, params = rest.pop()
        if name == "constant":
            yield params["source"]
        elif name == "made":
            rest += params["args"][::-1]


def ops_of(recipes: Iterable[Recipe]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """The ops by which constants were made, and their parameters; numbers stand for themselves, of no op."""
    rest = list(recipes)
    for name, params in rest:
        if name == "made":
            rest += params["args"]
            yield params["op"], params["params"]
        elif name in ("number", "full"):
            yield None, {"value": params["value"]}


def _value(recipe: Recipe) -> Any:
    name, params = recipe
    if name == "number":
        value = params["value"]
        return value._plain(value) if isinstance(value, (Size, Measure)) else value  # NumPy would widen float32 for it
    if name == "constant":
        return _value_of(params["source"])[0]
    if name != "made":
        return lookup(name)(**params)
    return params["op"](*map(_value, params["args"]), **params["params"])

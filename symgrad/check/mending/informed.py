"""Changes for mistakes that have a name: what is missing is put together from what the function has at hand."""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array
from symgrad.check.mending.edits import TWINS
from symgrad.check.mending.routines import Routine
from symgrad.check.mending.spots import (
    Edit,
    Spot,
    called,
    enclosed,
    is_factor,
    is_of_matmul,
    is_operand,
    is_term,
    placed,
    spots_of,
)

FACTORS = (
    "inner derivative",
    "local factor",
    "local derivative",
    "factor",
    "term",
    "terms",
    "entry",
    "function",
    "other function",
)
TERMS = ("term", "terms", "entry", "axis", "missing sum", "other function")
"""Kinds of diagnosis where a factor may be missing, and a term."""

MOST_VALUES, LONGEST = 30, 48
"""Values that products are made of, and characters of an expression that stands elsewhere in the text."""

_FORMS = (
    "{}", "(1 - {})", "(1 - {}**2)", "{} * (1 - {})", "({} > 0)", "{}**2", "np.sqrt({})", "np.exp({})", "np.cos({})",
    "np.sign({})", "{}[:, None]", "len({})", "{}.size", "{}.shape[0]", "{}.shape[1]", "{}.shape[-1]",
)  # fmt: skip

_MEANS = ("{}.mean(0)", "{}.mean(-1, keepdims=True)", "{}.sum(0)", "{}.sum(-1, keepdims=True)")
MOST_IN_THREES = 7
"""Arrays of which sums of products are made."""

_NUMBERS = ("np.sqrt(2 * np.pi)", "np.pi", "2 * np.pi", "np.log(2)", "np.log(10)", "np.sqrt(2)")


def informed_edits(routine: Routine, spots: Sequence[Spot], kinds: set[str], ratio: float | None) -> Iterator[Edit]:
    """A factor or a term that is missing, at each of the expressions: the shortest ones everywhere first.

    With ``ratio``, by which everything is off, only factors that make up for it.
    """
    values = Values(routine)
    chosen = [spot for spot in spots if is_operand(spot) and not isinstance(spot.node, ast.Constant)]
    wanted = [(spot, values[spot.words]) for spot in chosen]
    if kinds & {*FACTORS}:
        known = list(values.factors())
        for words, value in known:
            for spot, own in wanted:
                if words != spot.words and not is_factor(spot) and stretches(value, own):
                    if ratio is None or _near(value, ratio):
                        yield placed(spot, f"{enclosed(spot)} * {words}")
                    if ratio is None or _near(value, 1 / ratio):
                        yield placed(spot, f"{enclosed(spot)} / {_tight(words)}")
    if kinds & {*TERMS} and ratio is None:
        for words, value in values.terms():
            for spot, own in wanted:
                inside = isinstance(spot.node, ast.BinOp) and isinstance(spot.above, ast.Call)
                tied = is_factor(spot) or is_of_matmul(spot)
                if own is not None and stretches(value, own) and (is_term(spot) or tied or inside):
                    for made in (f"{spot.words} + {words}", f"{spot.words} - {words}"):
                        yield placed(spot, f"({made})" if tied else made)


def _near(value: Any, wanted: float) -> bool:
    return np.ndim(value) == 0 and bool(abs(value - wanted) <= 1e-6 * abs(wanted))


def _tight(words: str) -> str:
    return f"({words})" if " " in words and words[-1] != ")" else words


def stretches(value: Any, own: Any) -> bool:
    """Whether a value may multiply another one, and leave it its shape; what is not known may."""
    if own is None or np.ndim(value) == 0:
        return True
    try:
        return bool(np.broadcast_shapes(np.shape(value), np.shape(own)) == np.shape(own))
    except ValueError:
        return False


class Values:
    """What expressions of a function are worth, with what its variables held last."""

    def __init__(self, routine: Routine):
        self.routine = routine
        self.scope = {"np": np, **routine.function.__globals__, **routine.held}

    def __getitem__(self, words: str) -> Any:
        """The value of an expression of numbers and arrays; None for others, and where calls may do something."""
        try:
            tree = ast.parse(words.strip(), mode="eval")
            if not all(map(self._is_harmless, ast.walk(tree))):
                return None
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = eval(compile(tree, "<part>", "eval"), self.scope)  # noqa: S307  (of the user's own function)
        except Exception:  # noqa: BLE001  (a variable of another moment, shapes that do not fit)
            return None
        return as_array(value) if _is_number(value) else None

    def _is_harmless(self, node: ast.AST) -> bool:
        """Whether a part of an expression only computes: a call is one of NumPy's own functions, and not random."""
        if isinstance(node, ast.Attribute) and node.attr.startswith("rand"):
            return False
        if not isinstance(node, ast.Call):
            return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))
        func = node.func
        if isinstance(func, ast.Name):
            return func.id == "len"
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
            return isinstance(func, ast.Attribute) and func.attr in _METHODS
        module = self.scope.get(func.value.id)
        return func.attr in _METHODS or (isinstance(module, ModuleType) and module.__name__ in _MODULES)

    def _named(self) -> list[str]:
        """Variables, and parts of ``self``, that hold numbers or arrays."""
        own = self.routine.held.get("self")
        parts = [f"self.{part}" for part in getattr(own, "__dict__", ())]
        return [name for name in [*self.routine.held, *parts] if name != "self" and self[name] is not None]

    def _written(self) -> list[str]:
        """Expressions that stand in the text, the short ones first."""
        parts = (ast.BinOp, ast.Call, ast.Subscript)
        found = {s.words for s in spots_of(self.routine) if isinstance(s.node, parts) and is_operand(s)}
        return sorted((w for w in found if len(w) <= LONGEST and "\n" not in w), key=lambda w: (len(w), w))

    def factors(self) -> Iterator[tuple[str, Any]]:
        """Values that may be a factor, each once: variables, forms of them, numbers, and expressions of the text."""
        named = self._named()
        words = [form.format(*[name] * form.count("{}")) for form in _FORMS for name in named]
        words += self._twins()
        bracketed = [w if w[-1] in ")]" and " " not in w.partition("(")[0] else f"({w})" for w in self._written()]
        yield from self._distinct([*words[: len(named)], *bracketed, *words[len(named) :], *_NUMBERS], named)

    def _twins(self) -> list[str]:
        """Calls of the functions that those in the text have as derivatives, or are mistaken for: a cosh for a sinh."""
        calls = [s for s in spots_of(self.routine) if isinstance(s.node, ast.Call) and len(s.node.args) == 1]
        pairs = ((s.node, twin) for s in calls for twin in TWINS.get(called(s.node), ()))
        return [
            f"{ast.unparse(node.func).removesuffix(called(node))}{twin}({ast.unparse(node.args[0])})"
            for node, twin in pairs
        ]

    def terms(self) -> Iterator[tuple[str, Any]]:
        """Values that may be a term: those, their means, and products of two or three, as in a softmax's derivative."""
        named = [name for name in self._named() if not isinstance(self[name], (bool, np.bool_))][:MOST_VALUES]
        pairs = list(itertools.permutations(named, 2))
        products = [f"{a} * {b}" for a, b in itertools.combinations_with_replacement(named, 2)]
        outer = [f"np.outer({a}, {b})" for a, b in itertools.product(named, named)]
        matrices = [form.format(a, b) for form in ("{} @ {}", "{}.T @ {}", "{} @ {}.T") for a, b in pairs]
        written = self._written()
        entries = [w for w in written if w[-1:] == "]" and w.count("[") == 1][:MOST_IN_THREES]
        tied = [f"{a} {op} {w}" for op in "*@" for a, w in itertools.product(named, entries)]
        threes = [f"{a} * {b} * {c}" for a, b, c in itertools.combinations(named, 3)]
        quotients = [f"{a} / {b}" for a, b in pairs]
        means = [form.format(name) for name in named if np.ndim(self[name]) for form in _MEANS]
        lengths = [f"len({name})" for name in named if np.ndim(self[name])]
        few = [name for name in named if np.ndim(self[name])][:MOST_IN_THREES]
        form = "{} * ({} * {}).sum(-1, keepdims=True)"
        inner = [form.format(a, b, c) for a in few for b, c in itertools.combinations_with_replacement(few, 2)]
        inner += [f"{a} * ({b} @ {c})" for a in few for b, c in itertools.combinations_with_replacement(few, 2)]
        yield from self._distinct(
            [
                *named,
                "2",
                *lengths,
                *means,
                *written,
                *products,
                *tied,
                *matrices,
                *outer,
                *quotients,
                *threes,
                *inner,
            ],
            named,
        )

    def _distinct(self, candidates: Sequence[str], named: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Each value once, but all variables: of a loop the last round alone is known, where two may be equal."""
        seen: set[Any] = set()
        for words in candidates:
            value = self[words]
            if value is None or np.size(value) == 0:
                continue
            key = (np.shape(value), np.asarray(value).tobytes())
            if words in named or (key not in seen and not (np.ndim(value) == 0 and value in (0, 1))):
                seen.add(key)
                yield words, value


_MODULES = ("numpy", "math", "torch", "jax.numpy", "autograd.numpy")
_METHODS = ("sum", "mean", "reshape", "ravel", "transpose", "swapaxes", "astype", "max", "min", "dot", "conj")


def _is_number(value: Any) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    return hasattr(value, "shape") and hasattr(value, "dtype") and as_array(value).dtype.kind in "biufc"

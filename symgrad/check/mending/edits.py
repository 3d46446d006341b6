"""Small changes of a function's text: those that undo the mistakes people make, the most frequent first."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from symgrad.check.mending.places import other_places
from symgrad.check.mending.routines import Routine
from symgrad.check.mending.spots import (
    REDUCING,
    TIGHT,
    Edit,
    Spot,
    bare_words,
    called,
    enclosed,
    index_words,
    is_call,
    is_factor,
    is_of_matmul,
    is_operand,
    is_term,
    placed,
    spots_of,
    words_of,
)

TWINS = {
    name: twins.split()
    for name, twins in {
        "sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "tan": "arctan", "tanh": "arctanh", "arctan": "tan",
        "arctanh": "tanh", "arcsin": "arccos", "arccos": "arcsin", "sqrt": "square", "square": "sqrt", "tril": "triu",
        "triu": "tril", "sum": "mean", "mean": "sum", "maximum": "minimum", "minimum": "maximum", "max": "min",
        "min": "max", "argmax": "argmin", "zeros_like": "ones_like", "log": "log1p exp log2", "log1p": "log expm1",
        "log2": "log", "log10": "log", "exp": "expm1 log exp2", "expm1": "exp", "var": "std", "std": "var",
        "floor": "ceil", "ceil": "floor", "abs": "real sign", "real": "imag", "imag": "real", "fft": "ifft",
        "ifft": "fft", "cumsum": "cumprod", "digamma": "gammaln", "gammaln": "digamma", "empty": "zeros", "inv": "pinv",
        "len": "sum",
    }.items()
}  # fmt: skip
"""Functions that people write for each other: derivatives, inverses, and those of the same kind."""


MOST_NAMES, MOST_PARTS = 40, 24
"""Variables, and entries of arrays, that are tried in the place of others, or multiplied in."""


_NAME = re.compile(r"[A-Za-z_][\w.]*")
"""A function that is no method of what is computed on the spot."""


def edits(routine: Routine, spots: Sequence[Spot], likely: bool) -> Iterator[Edit]:
    """Changes of some expressions, in the order in which they are tried: the ``likely`` ones, or all others."""
    names, every = list(held_data(routine)), list(spots_of(routine))
    parts = _parts(
        [s.node for s in every if isinstance(s.node, ast.Subscript)],
        [index_words(node) for node in ast.walk(routine.tree) if isinstance(node, ast.Subscript)],
    )
    numbers = list({s.words: s for s in every if _is_number(s.node)})[:MOST_PARTS]
    longer = list({s.words: s for s in every if isinstance(s.node, ast.BinOp)}.values())
    calls = [s for s in every if is_call(s.node) and len(s.node.args) == 1 and not s.node.keywords]
    around = list(dict.fromkeys(w for s in calls if _NAME.fullmatch(w := words_of(s, s.node.func))))[:MOST_PARTS]
    functions = [name for name, value in routine.held.items() if isinstance(value, FunctionType)][:MOST_PARTS]
    if likely:
        yield from _of_spots(spots, names, _turned, _too_many, _structure)
        yield from _swapped(routine.text, spots)
        yield from _of_spots(
            spots, names, partial(_other_functions, functions=functions), _exchanged, _thresholds,
            partial(_numbers, numbers=numbers), _constants, _names_alike, partial(_completed, longer=longer),
            other_places, _axes, _directions, _lengths, _branches, _alike_besides,
        )  # fmt: skip
    else:
        yield from _of_spots(
            spots, names, _other_names, partial(_other_parts, parts=parts), _calls, _factors,
            partial(_more_terms, parts=parts), partial(_with_functions, around=around), _solved,
            _scaled_by_parts, _statements,
        )  # fmt: skip


def _parts(read: Sequence[Any], places: Sequence[str]) -> list[str]:
    """The entries and parts of arrays that a text reads, then the same arrays at the other places of the text."""
    own = sorted({ast.unparse(node) for node in read}, key=len)
    arrays, at = dict.fromkeys(ast.unparse(n.value) for n in read), dict.fromkeys(places)
    others = [f"{array}[{place}]" for array in arrays for place in at if len(place) < LONGEST_TERM]
    return list(dict.fromkeys([*own, *others]))[:MOST_PARTS]


def _of_spots(
    spots: Sequence[Spot], names: Names, *proposals: Callable[[Spot, Names], Iterator[str]]
) -> Iterator[Edit]:
    """What is proposed for each expression, proposal by proposal."""
    for propose in proposals:
        for spot in spots:
            for words in propose(spot, names):
                if words != spot.words:
                    yield placed(spot, words)


def _swapped(text: str, spots: Sequence[Spot]) -> Iterator[Edit]:
    """A statement and the next one in each other's place."""
    known = {id(spot.node): spot for spot in spots if isinstance(spot.node, ast.stmt)}
    for spot in known.values():
        body = getattr(spot.above, "body", ())
        after = next((b for a, b in itertools.pairwise(body) if a is spot.node), None) if type(body) is list else None
        other = known.get(id(after))
        if other is not None and not isinstance(after, ast.Return):
            yield Edit(spot.start, other.end, other.words + text[spot.end : other.start] + spot.words)


def held_data(routine: Routine) -> Iterator[tuple[str, Any]]:
    """The variables that hold numbers, arrays or flags, and such parts of ``self``."""
    count = 0
    for name, value in routine.held.items():
        own = vars(value) if name == "self" and hasattr(value, "__dict__") else None
        for text, held in [(name, value)] if own is None else [(f"self.{part}", v) for part, v in own.items()]:
            if _is_data(held) and count < MOST_NAMES:
                count += 1
                yield text, held


def _is_data(value: Any) -> bool:
    if isinstance(value, (bool, str, ModuleType, type)):
        return False
    return isinstance(value, (int, float, complex, np.ndarray, np.generic)) or (
        hasattr(value, "shape") and hasattr(value, "dtype")
    )


# ---------------------------------------------------------------------------------------------- what may be meant


Names = list[tuple[str, Any]]


def _turned(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """A difference taken the other way round: what people mean by a wrong sign, wherever another would do as well."""
    node = spot.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and not _is_number(node.left):
        yield f"{words_of(spot, node.right)} - {words_of(spot, node.left)}"


def _other_functions(spot: Spot, names: Names, functions: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    """Another function of the program's: a density for its integral, the function for its derivative."""
    if isinstance(spot.above, ast.Call) and spot.node is spot.above.func and isinstance(spot.node, ast.Name):
        yield from functions


def _too_many(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Without a sign, a transpose, a part, a step or a cut; nothing is put around what has one before that is tried."""
    node = spot.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
        yield words_of(spot, node.operand)
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "real", "imag"):
        yield words_of(spot, node.value)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        yield words_of(spot, node.value)
    if isinstance(node, ast.Call) and called(node) in _CUTTING:
        yield from map(partial(words_of, spot), node.args or [getattr(node.func, "value", node.func)])


_CUTTING = ("detach", "stop_gradient")


def _structure(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Signs, transposes, the order of operands and of letters in an einsum, terms and factors too many, += for =."""
    node = spot.node
    if isinstance(node, ast.BinOp):
        yield from _of_two(spot, node)
    if isinstance(node, ast.Constant) and isinstance(spot.above, ast.Call) and called(spot.above) == "einsum":
        yield from map(repr, _other_letters(node.value) if isinstance(node.value, str) else ())
    if is_call(node):
        yield from _twins(spot, node)
    if isinstance(node, ast.AugAssign):
        target, value = words_of(spot, node.target), words_of(spot, node.value)
        for op in {ast.Add: "-+", ast.Sub: "+-", ast.Mult: "/*", ast.Div: "*/"}.get(type(node.op), ""):
            yield f"{target} {op}= {_bare(value)}"
        yield f"{target} = {_bare(value)}"
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield from _added_at(spot, node.target, ("-" if isinstance(node.op, ast.Sub) else "") + value)
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        target, value = words_of(spot, node.targets[0]), words_of(spot, node.value)
        yield f"{target} += {_bare(value)}"
        yield from _added_at(spot, node.targets[0], _bare(value))
    if is_operand(spot):
        if not is_factor(spot):
            yield f"-{enclosed(spot)}"
        if not isinstance(node, ast.Constant):
            yield f"{enclosed(spot)}.T"


def _added_at(spot: Spot, target: Any, value: str) -> Iterator[str]:
    """What is written into some entries, added up where an index repeats."""
    if isinstance(target, ast.Subscript):
        of, index = words_of(spot, target.value), ast.unparse(target.slice)
        index = f"({index})" if isinstance(target.slice, ast.Tuple) and index[:1] != "(" else index
        yield f"np.add.at({of}, {index}, {value})"


def _exchanged(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Two elements of a list, or two arguments of a call, in each other's place: the nearest ones first."""
    node = spot.node
    elements = node.args if is_call(node) else getattr(node, "elts", [])
    words = [bare_words(spot, e) for e in elements]
    pairs = [(i, j) for i, j in itertools.combinations(range(len(words)), 2) if j == i + 1 or len(words) <= MOST_MOVED]
    for i, j in sorted(pairs, key=lambda pair: pair[1] - pair[0]):
        other = list(words)
        other[i], other[j] = words[j], words[i]
        inside = ", ".join(other)
        if isinstance(node, ast.Call):
            keywords = "".join(f", {ast.unparse(k)}" for k in node.keywords)
            yield f"{words_of(spot, node.func)}({inside}{keywords})"
        elif isinstance(node, ast.List):
            yield f"[{inside}]"
        else:
            yield f"({inside})" if spot.words.startswith("(") else inside


MOST_MOVED = 6
"""Elements of a list of which any two may have been mixed up; of longer ones it is two that follow each other."""


def _other_letters(subscripts: str) -> Iterator[str]:
    """Subscripts of an einsum with two letters of one operand, or of the result, in each other's place."""
    for part in re.finditer(r"[A-Za-z]+", subscripts):
        for i, j in itertools.combinations(range(part.start(), part.end()), 2):
            if subscripts[i] != subscripts[j]:
                yield subscripts[:i] + subscripts[j] + subscripts[i + 1 : j] + subscripts[i] + subscripts[j + 1 :]


def _twins(spot: Spot, node: ast.Call) -> Iterator[str]:
    """The same call of the function that is mistaken for this one: a variance of n for one of n - 1."""
    func, name = words_of(spot, node.func), called(node)
    keywords = {k.arg: f"{k.arg}={bare_words(spot, k.value)}" for k in node.keywords if k.arg}
    places = [bare_words(spot, a) for a in node.args]
    if name in TWINS and func.endswith(name):
        every = ", ".join([*places, *keywords.values()])
        yield from (f"{func[: -len(name)]}{twin}({every})" for twin in TWINS[name])
    if name in ("var", "std", "cov"):
        inside = [*places, *(words for key, words in keywords.items() if key not in ("ddof", "unbiased", "correction"))]
        for divisor in ("", "ddof=1", "unbiased=False", "correction=0", "ddof=0"):
            yield f"{func}({', '.join(filter(None, [*inside, divisor]))})"


def _bare(words: str) -> str:
    return words[1:-1] if words[:1] == "(" and words[-1:] == ")" and words.count("(") == 1 else words


def _of_two(spot: Spot, node: ast.BinOp) -> Iterator[str]:
    a, b = words_of(spot, node.left), words_of(spot, node.right)
    swapped = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}.get(type(node.op))
    if swapped is not None:
        yield f"{a} {swapped} {b}"
    if isinstance(node.op, ast.MatMult):
        yield f"{a}.T @ {b}"
        yield f"{a} @ {b}.T"
        yield from (f"{a}.swapaxes(-1, -2) @ {b}", f"{a} @ {b}.swapaxes(-1, -2)")
        yield f"{b} @ {a}"
        yield f"{a} * {b}"
    yield a
    if isinstance(node.op, ast.Div):
        yield f"{b} / {a}"
    elif not isinstance(node.op, ast.Pow):
        yield b
    if isinstance(node.op, ast.Mult):
        yield f"{a} @ {b}"
    if isinstance(node.op, (ast.Mult, ast.MatMult)):
        yield from _in_other_order(spot, node)


def _in_other_order(spot: Spot, node: ast.BinOp) -> Iterator[str]:
    """``d * (A @ v)`` for ``A @ (d * v)``, and the other way round."""
    a, b = words_of(spot, node.left), words_of(spot, node.right)
    inner: Any = node.right
    if isinstance(inner, ast.BinOp) and {type(inner.op), type(node.op)} == {ast.Mult, ast.MatMult}:
        first, second = words_of(spot, inner.left), words_of(spot, inner.right)
        if isinstance(node.op, ast.Mult):
            yield f"{first} @ ({a} * {second})"
        else:
            yield from (f"{first} * ({a} @ {second})", f"{second} * ({a} @ {first})")
    inner = node.left
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.MatMult) and isinstance(node.op, ast.Mult):
        yield f"{words_of(spot, inner.left)} @ ({words_of(spot, inner.right)} * {b})"


def _is_number(node: Any) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _thresholds(spot: Spot, names: Names) -> Iterator[str]:
    """A variable, or minus one, in the place of the number that something is compared with, a margin or a bound.

    Or the square or the root of what is there, as distances and their squares are mixed up.
    """
    above = spot.above
    if isinstance(above, ast.Compare) and isinstance(spot.node, (ast.Name, ast.Attribute)):
        yield from (f"{spot.words}**2", f"np.sqrt({spot.words})")
    bound = isinstance(above, ast.Call) and called(above) in _BOUNDING and spot.node in above.args
    if _is_number(spot.node) and (isinstance(above, ast.Compare) or bound):
        for text, held in names:
            if np.asarray(held).dtype.kind == "f":
                yield text
                if np.ndim(held) == 0:
                    yield f"-{text}"


_BOUNDING = ("clip", "clamp", "maximum", "minimum")


def _numbers(spot: Spot, names: Names, numbers: Sequence[str]) -> Iterator[str]:
    """Numbers: one more or less, half or double, another one of the text, or a variable in their place."""
    if isinstance(spot.node, ast.UnaryOp) and _is_number(spot.node.operand):
        yield "0"
    if _is_number(spot.node):
        value = spot.node.value
        if isinstance(value, int):
            yield from (str(value + 1), f"{value - 1}")
        if not isinstance(spot.above, ast.UnaryOp):  # x[-0] is read as the last one
            yield from ("0", f"-{value}")
        yield from (f"{2 * value}", f"{value / 2:g}", *numbers)
        yield from (text for text, held in names if np.ndim(held) == 0)


def _is_square(value: Any) -> bool:
    return np.ndim(value) == 2 and np.shape(value)[0] == np.shape(value)[1]


def _constants(spot: Spot, names: Names) -> Iterator[str]:
    """Powers, and factors 2, 1/2 and others that were forgotten."""
    node = spot.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and words_of(spot, node.left) == "2":
        other = words_of(spot, node.right)
        yield f"({other} + {other}.T)"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = words_of(spot, node.left), words_of(spot, node.right)
        yield from (f"{base}**({power} - 1)", f"{base}**({power} + 1)", f"{base}**(-{power})")
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub)):  # (1 - t)**2 for 1 - t**2
            sign = "+" if isinstance(node.left.op, ast.Add) else "-"
            yield f"({words_of(spot, node.left.left)} {sign} {words_of(spot, node.left.right)}**{power})"
    if is_of_matmul(spot) and _is_square(dict(names).get(spot.words)):
        yield f"({spot.words} + {spot.words}.T)"
    if is_operand(spot) and not isinstance(node, ast.Constant):
        own = enclosed(spot)
        yield from (f"{own}**2", f"(1 - {own})", f"(1 + {own})")
        if not is_factor(spot):
            yield from (f"2 * {own}", f"0.5 * {own}", f"3 * {own}", f"{own} / 3", f"4 * {own}", f"{own} / 4")


def _axes(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Another axis of a sum or its like, and that axis kept, as a sum that is divided by needs it."""
    node = spot.node
    if not is_call(node):
        return
    func = words_of(spot, node.func)
    inside = [bare_words(spot, a) for a in node.args]
    keywords = {k.arg: bare_words(spot, k.value) for k in node.keywords if k.arg}
    for key, kept in (("axis", "keepdims"), ("dim", "keepdim")):
        if key in keywords:
            others = [f"{name}={words}" for name, words in keywords.items() if name != key]
            for axis in ("0", "1", "-1", "2", "-2", "(0, 1)", "(0, 2)", "(1, 2)"):
                yield f"{func}({', '.join([*inside, f'{key}={axis}', *others])})"
            if called(node) in REDUCING and not others:
                yield from (f"{func}({', '.join([*inside, f'{key}={k}, {kept}=True'])})" for k in (0, 1, -1))
            yield f"{func}({', '.join([*inside, *others])})"
    rest = [f"{name}={words}" for name, words in keywords.items()]
    for k, arg in enumerate(node.args):  # .sum(0), np.sum(x, 1)
        if isinstance(arg, (ast.Tuple, ast.Constant)) and called(node) in REDUCING:
            for axis in ("", "0", "1", "-1", "(0, 1)", "(0, 2)", "(1, 2)", "(0, 2, 3)"):
                yield f"{func}({', '.join(filter(None, [*inside[:k], axis, *inside[k + 1 :], *rest]))})"


def _directions(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """A running sum from the other end, as the transpose of one is, along the axis that it has."""
    node = spot.node
    if not is_call(node) or called(node) not in ("cumsum", "cumprod"):
        return
    of_array = not node.args or isinstance(node.args[0], ast.Constant)  # g.cumsum(0)
    func: Any = node.func
    if of_array and not isinstance(func, ast.Attribute):
        return
    array, places = (func.value, node.args) if of_array else (node.args[0], node.args[1:])
    keywords = [f"{k.arg}={bare_words(spot, k.value)}" for k in node.keywords if k.arg]
    rest = [*(bare_words(spot, a) for a in places), *keywords]
    words = bare_words(spot, array) if isinstance(array, TIGHT) else f"({bare_words(spot, array)})"
    axis = rest[0].rpartition("=")[2] if rest else "0"
    turned = {"1": "[:, ::-1]", "-1": "[..., ::-1]"}.get(axis, "[::-1]")
    if of_array:
        yield f"{words}{turned}.{called(node)}({', '.join(rest)}){turned}"
    else:
        yield f"{words_of(spot, func)}({', '.join([words + turned, *rest])}){turned}"


def _calls(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Other functions of the same kind, functions too many, and sums that were forgotten."""
    node = spot.node
    if is_call(node):
        func = words_of(spot, node.func)
        inside = [bare_words(spot, a) for a in node.args]
        name = called(node)
        if len(node.args) == 1 and not node.keywords:
            yield inside[0] if isinstance(node.args[0], TIGHT) else f"({inside[0]})"
        if (
            name in REDUCING
            and not node.keywords
            and not any(isinstance(a, (ast.Tuple, ast.Constant)) for a in node.args)
        ):
            for axis in ("axis=0", "axis=1", "axis=0, keepdims=True", "axis=1, keepdims=True"):
                yield f"{func}({', '.join([*inside, axis])})"
            yield from (
                f"{func}({', '.join([*inside, f'axis={k}'])})[{at}]" for k, at in enumerate((":, None", "None"))
            )
        if isinstance(node.func, ast.Attribute) and name in (*REDUCING, *_MOVING):
            yield words_of(spot, node.func.value)
    if is_operand(spot) and not isinstance(node, ast.Constant):
        own = enclosed(spot)
        yield from (f"{own}.sum()", f"{own}.sum(0)", f"{own}.sum(1)", f"{own}.mean()", f"({own} - {own}.mean())")
        yield from (f"({own} + {own}.T)", f"0.5 * ({own} + {own}.T)")
        yield from (f"np.sqrt({own})", f"np.exp({own})", f"np.abs({own})", f"np.sign({own})", f"np.conj({own})")


_MOVING = ("swapaxes", "transpose", "reshape", "copy", "clip", "detach", "conj", "stop_gradient")


def _names_alike(spot: Spot, names: Names) -> Iterator[str]:
    """One variable in the place of another of its shape, or another length: a step before, another argument."""
    own, above = _own_value(spot, names), spot.above
    measured = getattr(above, "attr", "") in ("shape", "size") or (is_call(above) and called(above) == "len")
    if own is not None:
        yield from (text for text, v in names if np.shape(v) == np.shape(own) or (measured and np.ndim(v)))


def _completed(spot: Spot, names: Names, longer: Sequence[Spot]) -> Iterator[str]:  # noqa: ARG001
    """A longer expression that stands elsewhere in the text, of which one operand is all that is here."""
    if isinstance(spot.node, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)) and is_operand(spot):
        for other in longer:
            inside = other.start <= spot.start and spot.end <= other.end
            if not inside and spot.words in (words_of(other, other.node.left), words_of(other, other.node.right)):
                yield f"({other.words})"


def _other_parts(spot: Spot, names: Names, parts: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    """Another entry or part of an array that the text reads."""
    if isinstance(spot.node, (ast.Name, ast.Subscript)) and is_operand(spot):
        yield from parts


def _more_terms(spot: Spot, names: Names, parts: Sequence[str]) -> Iterator[str]:  # noqa: ARG001
    """An entry or a part of an array that was forgotten, as one more term or factor."""
    if not is_operand(spot) or isinstance(spot.node, ast.Constant):
        return
    inner = isinstance(spot.node, ast.BinOp) and isinstance(spot.node.op, (ast.Add, ast.Sub)) and is_factor(spot)
    for part in parts:
        if part != spot.words and not is_factor(spot):
            yield f"{enclosed(spot)} * {part}"
        if part != spot.words and (inner or (is_term(spot) and not is_factor(spot))):
            sums = (f"{spot.words} + {part}", f"{spot.words} - {part}")
            yield from (f"({words})" for words in sums) if inner else sums


def _with_functions(spot: Spot, names: Names, around: Sequence[str]) -> Iterator[str]:
    """A variable, as the argument of a function that the text calls elsewhere."""
    if isinstance(spot.node, (ast.Name, ast.Attribute)) and spot.words in dict(names) and is_operand(spot):
        yield from (f"{function}({spot.words})" for function in around)


def _solved(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """A system that is solved, or of the transposed matrix, in the place of a product, and the other way round."""
    node = spot.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        a, b = words_of(spot, node.left), words_of(spot, node.right)
        yield from (f"np.linalg.solve({a}, {b})", f"np.linalg.solve({a}.T, {b})")
        yield from (f"np.linalg.inv({a}) @ {b}", f"{a} @ np.linalg.inv({b})")
    if isinstance(node, ast.Call) and called(node) == "solve" and len(node.args) == 2:
        a, b = words_of(spot, node.args[0]), words_of(spot, node.args[1])
        yield from (f"{words_of(spot, node.func)}({a}.T, {b})", f"{a} @ {b}", f"{a}.T @ {b}")


def _alike_besides(spot: Spot, names: Names) -> Iterator[str]:
    """A variable of the same shape as one more factor or term, that was forgotten."""
    own, words = _own_value(spot, names), enclosed(spot)
    if own is None and isinstance(spot.above, ast.Assign) and isinstance(spot.above.targets[0], ast.Name):
        own = dict(names).get(spot.above.targets[0].id)
    if own is None or not is_operand(spot) or is_factor(spot):
        return
    for text, held in names:
        if np.shape(held) == np.shape(own) and text != spot.words:
            yield from (f"{words} * {text}", f"{words} / {text}")
            if is_term(spot):
                yield from (f"{spot.words} + {text}", f"{spot.words} - {text}")


def _branches(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Nothing, on one side of a branch."""
    if isinstance(spot.above, ast.Call) and called(spot.above) == "where" and spot.node in spot.above.args[1:]:
        yield "0"


def _lengths(spot: Spot, names: Names) -> Iterator[str]:
    """The length of another array, or along another axis."""
    node = spot.node
    if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
        yield from (f"len({text})" for text, held in names if np.ndim(held))
        yield from (f"{text}.shape[{k}]" for text, held in names for k in range(1, np.ndim(held)))
    elif isinstance(node, ast.Call) and called(node) == "len":
        yield from (f"{text}.shape[{k}]" for text, held in names for k in range(1, np.ndim(held)))


def _own_value(spot: Spot, names: Names) -> Any:
    """What a variable held last; None for what is none."""
    named = isinstance(spot.node, (ast.Name, ast.Attribute))
    function = isinstance(spot.above, ast.Call) and spot.node is spot.above.func
    return dict(names).get(spot.words) if named and not function else None


def _other_names(spot: Spot, names: Names) -> Iterator[str]:
    """One variable in the place of another, or of a number or an entry."""
    own = _own_value(spot, names)
    if own is not None:
        yield from (text for text, held in names if np.shape(held) != np.shape(own))
    if isinstance(spot.node, ast.Subscript) or (isinstance(spot.node, ast.Constant) and is_operand(spot)):
        yield from (text for text, held in names if isinstance(spot.node, ast.Subscript) or np.ndim(held))
        if isinstance(spot.node, ast.Constant):
            yield from (f"len({text})" for text, held in names if np.ndim(held))
            yield from (f"{text}[:, None]" for text, held in names if np.ndim(held) == 1)
    if isinstance(spot.node, (ast.Call, ast.BinOp)) and is_operand(spot) and len(spot.words) < LONGEST_TERM:
        yield from (text for text, _ in names)


LONGEST_TERM = 24
"""Characters of an expression that a variable may stand for."""


def _factors(spot: Spot, names: Names) -> Iterator[str]:
    """A variable multiplied in, divided by, or added, that was forgotten."""
    if not is_operand(spot) or isinstance(spot.node, ast.Constant):
        return
    own = enclosed(spot)
    term = is_term(spot)
    if is_factor(spot):
        return
    if term:
        yield from (f"{own} + 1", f"{own} - 1")
    for text, held in names:
        if text == spot.words:
            continue
        yield f"{own} * {text}"
        yield f"{own} / {text}"
        if term:
            yield from (f"{own} + {text}", f"{own} - {text}")
        if np.ndim(held):
            yield f"{own} / len({text})"
            yield f"{own} * len({text})"


def _scaled_by_parts(spot: Spot, names: Names) -> Iterator[str]:
    """The same with the derivative of a function by its result, a mask, an entry, or an axis more."""
    if not is_operand(spot) or isinstance(spot.node, ast.Constant) or is_factor(spot):
        return
    own = enclosed(spot)
    for text, held in names:
        for form in _FORMS if np.ndim(held) else _OF_NUMBERS:
            yield form.format(own, text)


_FORMS: tuple[str, ...] = (
    "{0} * (1 - {1})", "{0} * {1} * (1 - {1})", "{0} * (1 - {1}**2)", "{0} * ({1} > 0)", "{0} / {1}**2",
    "{0} * {1}[:, None]", "{0} / {1}[:, None]", "{0} @ {1}", "{1} @ {0}", "{0} @ {1}.T", "{1}.T @ {0}",
    "{0} * {1}**2", "{0} / np.sqrt({1})", "{0} * np.sqrt({1})", "{0} * np.exp({1})", "{0} * np.cos({1})",
    "-{0} * np.sin({1})", "{0} * {1}.shape[0]", "{0} / {1}.shape[0]", "{0} / {1}.shape[1]", "{0} / {1}.size",
    "{0} * {1}.sum()", "{0} / {1}.sum()", "{0} * np.eye(len({1}))",
)  # fmt: skip

_OF_NUMBERS: tuple[str, ...] = (
    "{0} * {1}**2", "{0} / {1}**2", "{0} / np.sqrt({1})", "{0} * np.cos({1})", "-{0} * np.sin({1})",
    "{0} * np.exp({1})", "{0} * (1 - {1}**2)", "{0} * {1} * (1 - {1})", "2 * {0} * {1}", "({0} + 1 - {1})",
)  # fmt: skip


def _statements(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """A statement that takes away in place of writing, and one that should not be there."""
    node = spot.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        yield f"{words_of(spot, node.targets[0])} -= {_bare(words_of(spot, node.value))}"
    if isinstance(spot.node, (ast.Assign, ast.AugAssign, ast.Continue, ast.Break, ast.Expr)):
        yield "pass"

"""Small changes of a function's text: those that undo the mistakes people make, the most frequent first."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.mending.routines import Routine


class Edit(NamedTuple):
    """Other words for a stretch of a text."""

    start: int
    end: int
    words: str

    def applied(self, text: str) -> str:
        """The text with the other words."""
        return text[: self.start] + self.words + text[self.end :]


class Spot(NamedTuple):
    """An expression or a statement of a function, with the node that it stands in."""

    node: Any
    above: Any
    start: int
    end: int
    words: str
    value: tuple[int, int] | None  # where the value stands that its statement writes


_TWINS = {
    name: twins.split()
    for name, twins in {
        "sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "tan": "arctan", "tanh": "arctanh", "arctan": "tan",
        "arctanh": "tanh", "arcsin": "arccos", "arccos": "arcsin", "sqrt": "square", "square": "sqrt", "tril": "triu",
        "triu": "tril", "sum": "mean", "mean": "sum", "maximum": "minimum", "minimum": "maximum", "max": "min",
        "min": "max", "argmax": "argmin", "zeros_like": "ones_like", "log": "log1p exp log2", "log1p": "log expm1",
        "log2": "log", "log10": "log", "exp": "expm1 log exp2", "expm1": "exp", "var": "std", "std": "var",
        "floor": "ceil", "ceil": "floor", "abs": "real sign", "real": "imag", "imag": "real", "fft": "ifft",
        "ifft": "fft", "cumsum": "cumprod", "digamma": "gammaln", "gammaln": "digamma", "empty": "zeros", "inv": "pinv",
    }.items()
}  # fmt: skip

_SIZED = frozenset(
    "zeros ones empty eye full arange linspace tile repeat broadcast_to identity indices randn rand normal".split()  # noqa: SIM905  (words)
)
"""Functions that make arrays as large as they are told: what they are told stays as it is."""

MOST_NAMES = 24
"""Variables that are tried in the place of others, or multiplied in."""


def edits(routine: Routine, spots: Sequence[Spot]) -> Iterator[Edit]:
    """Changes of some expressions, in the order in which they are tried."""
    names = list(_names(routine))
    parts = sorted({s.words for s in spots_of(routine) if isinstance(s.node, ast.Subscript)}, key=len)[:MOST_NAMES]
    for propose in (
        _too_many, _structure, _constants, _names_alike, _places, _other_names, _calls, _factors, _scaled_by_parts,
        _statements,
    ):  # fmt: skip
        for spot in spots:
            for words in propose(spot, names):
                if words != spot.words:
                    yield Edit(spot.start, spot.end, words)
            if propose is _other_names and isinstance(spot.node, (ast.Name, ast.Subscript)) and _is_operand(spot):
                yield from (Edit(spot.start, spot.end, words) for words in parts if words != spot.words)
        if propose is _structure:
            yield from _swapped(routine.text, spots)


def _swapped(text: str, spots: Sequence[Spot]) -> Iterator[Edit]:
    """A statement and the next one in each other's place."""
    known = {id(spot.node): spot for spot in spots if isinstance(spot.node, ast.stmt)}
    for spot in known.values():
        body = getattr(spot.above, "body", ())
        after = next((b for a, b in itertools.pairwise(body) if a is spot.node), None) if type(body) is list else None
        other = known.get(id(after))
        if other is not None and not isinstance(after, ast.Return):
            yield Edit(spot.start, other.end, other.words + text[spot.end : other.start] + spot.words)


def spots_of(routine: Routine) -> Iterator[Spot]:
    """All expressions and statements on lines that ran, but those that say how large an array is."""
    sizes = _sizes(routine.tree)
    text = routine.text
    starts = list(itertools.accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))
    lines = text.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    root = routine.tree.body[0]

    def ends(node: Any) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    stack: list[tuple[Any, Any, Any]] = [(child, root, None) for child in reversed(_bodies(root))]
    while stack:
        node, above, value = stack.pop()
        if isinstance(node, ast.Call) and _called(node) in _SIZED:
            continue
        if isinstance(node, (ast.Assign, ast.AugAssign)) and sizes & _written(node):
            continue
        if isinstance(node, ast.stmt):
            writing = _first_writing(node)
            value = None if writing is None or isinstance(writing.value, ast.Tuple) else ends(writing.value)
        stack.extend((child, node, value) for child in reversed(list(ast.iter_child_nodes(node))))
        if isinstance(node, (ast.expr, ast.stmt)) and _is_seen(node, routine):
            start, end = ends(node)
            yield Spot(node, above, start, end, text[start:end], value)


def _first_writing(node: Any) -> Any:
    """The assignment that a statement is, or the first one that a loop or a condition decides on."""
    inside = ast.walk(node) if isinstance(node, (ast.For, ast.If)) else [node]
    return next((n for n in inside if isinstance(n, (ast.Assign, ast.AugAssign))), None)


def is_shared(spot: Spot, routine: Routine) -> bool:
    """Whether the function under the derivative runs all lines of an expression, too."""
    return not _lines(spot.node, routine) & routine.ran - routine.shared


def probes(spot: Spot, text: str) -> list[Edit]:
    """A value a little off, and that which its statement writes: they show what depends on it."""
    own = _is_operand(spot) and not isinstance(spot.node, (ast.Constant, ast.Compare))
    places = [*([(spot.start, spot.end)] if own else []), *([spot.value] if spot.value is not None else [])]
    return [Edit(a, b, f"(({text[a:b]}) * 1.0009765625 + 0.0009765625)") for a, b in places]


def _sizes(tree: Any) -> set[str]:
    """The variables that say how large arrays are, or how often a loop runs, and those that they are made of."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in (*_SIZED, "range"):
            found |= _counted(node)
        if isinstance(node, ast.Slice):
            found |= _counted(node)
    assigned = [n for n in ast.walk(tree) if isinstance(n, (ast.Assign, ast.AugAssign))]
    more = True
    while more:
        before = len(found)
        for node in assigned:
            if found & _written(node):
                found |= _counted(node.value)
        more = len(found) > before
    return found


def _counted(node: Any) -> set[str]:
    """The variables in an expression whose values, and not just lengths, count."""
    found, stack = set(), [node]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call) and _called(node) == "len":
            continue
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "size", "ndim", "dtype"):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _written(node: Any) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _bodies(root: Any) -> list[Any]:
    return list(root.body) if isinstance(root, ast.FunctionDef) else [root]


def _is_seen(node: Any, routine: Routine) -> bool:
    return bool(_lines(node, routine) & routine.ran) and not isinstance(
        getattr(node, "ctx", None), (ast.Store, ast.Del)
    )


def _lines(node: Any, routine: Routine) -> set[int]:
    """The lines of the file that an expression or a statement stands on."""
    return {k + routine.first - 1 for k in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _names(routine: Routine) -> Iterator[tuple[str, Any]]:
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

_TIGHT = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List)

Names = list[tuple[str, Any]]


def _held(spot: Spot) -> str:
    """The words of an expression, as part of a longer one."""
    return spot.words if isinstance(spot.node, _TIGHT) else f"({spot.words})"


def _part(spot: Spot, node: Any) -> str:
    """The words of a part of an expression on the same line."""
    if node.lineno != spot.node.lineno or node.end_lineno != node.lineno:
        return ast.unparse(node)
    first = spot.words.encode()
    a, b = node.col_offset - spot.node.col_offset, node.end_col_offset - spot.node.col_offset
    words = first[a:b].decode()
    return words if isinstance(node, _TIGHT) else f"({words})"


def _too_many(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Without a sign, a transpose or a step; nothing is put around what has one before that is tried."""
    node = spot.node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
        yield _part(spot, node.operand)
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield _part(spot, node.value)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        yield _part(spot, node.value)


def _structure(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Signs, transposes, the order of operands and of letters in an einsum, terms and factors too many, += for =."""
    node = spot.node
    if isinstance(node, ast.BinOp):
        yield from _of_two(spot, node)
    if isinstance(node, ast.Constant) and isinstance(spot.above, ast.Call) and _called(spot.above) == "einsum":
        yield from map(repr, _other_letters(node.value) if isinstance(node.value, str) else ())
    if isinstance(node, ast.Call):
        yield from _twins(spot, node)
    if isinstance(node, ast.AugAssign):
        target, value = _part(spot, node.target), _part(spot, node.value)
        for op in {ast.Add: "-+", ast.Sub: "+-", ast.Mult: "/*", ast.Div: "*/"}.get(type(node.op), ""):
            yield f"{target} {op}= {_bare(value)}"
        yield f"{target} = {_bare(value)}"
        if isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(node.target, ast.Subscript):
            of, index = _part(spot, node.target.value), ast.unparse(node.target.slice)
            index = f"({index})" if isinstance(node.target.slice, ast.Tuple) and index[:1] != "(" else index
            minus = "-" if isinstance(node.op, ast.Sub) else ""
            yield f"np.add.at({of}, {index}, {minus}{value})"
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        target, value = _part(spot, node.targets[0]), _part(spot, node.value)
        yield f"{target} += {_bare(value)}"
    if _is_operand(spot):
        if not _is_factor(spot):
            yield f"-{_held(spot)}"
        if not isinstance(node, ast.Constant):
            yield f"{_held(spot)}.T"


def _other_letters(subscripts: str) -> Iterator[str]:
    """Subscripts of an einsum with two letters of one operand, or of the result, in each other's place."""
    for part in re.finditer(r"[A-Za-z]+", subscripts):
        for i, j in itertools.combinations(range(part.start(), part.end()), 2):
            if subscripts[i] != subscripts[j]:
                yield subscripts[:i] + subscripts[j] + subscripts[i + 1 : j] + subscripts[i] + subscripts[j + 1 :]


def _twins(spot: Spot, node: ast.Call) -> Iterator[str]:
    """The same call of the function that is mistaken for this one."""
    func, name = _part(spot, node.func), _called(node)
    if name in _TWINS and func.endswith(name):
        keywords = [f"{k.arg}={_bare_part(spot, k.value)}" for k in node.keywords if k.arg]
        inside = ", ".join([*(_bare_part(spot, a) for a in node.args), *keywords])
        yield from (f"{func[: -len(name)]}{twin}({inside})" for twin in _TWINS[name])


def _bare(words: str) -> str:
    return words[1:-1] if words[:1] == "(" and words[-1:] == ")" and words.count("(") == 1 else words


def _of_two(spot: Spot, node: ast.BinOp) -> Iterator[str]:
    a, b = _part(spot, node.left), _part(spot, node.right)
    swapped = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}.get(type(node.op))
    if swapped is not None:
        yield f"{a} {swapped} {b}" if isinstance(node.op, (ast.Add, ast.Sub)) else f"{a}{swapped}{b}"
    if isinstance(node.op, ast.MatMult):
        yield f"{a}.T @ {b}"
        yield f"{a} @ {b}.T"
        yield f"{b} @ {a}"
        yield f"{a} * {b}"
    yield a
    if not isinstance(node.op, (ast.Div, ast.Pow)):
        yield b
    if isinstance(node.op, ast.Mult):
        yield f"{a} @ {b}"
    if isinstance(node.op, (ast.Mult, ast.MatMult)):
        yield from _in_other_order(spot, node)


def _in_other_order(spot: Spot, node: ast.BinOp) -> Iterator[str]:
    """``d * (A @ v)`` for ``A @ (d * v)``, and the other way round."""
    a, b = _part(spot, node.left), _part(spot, node.right)
    inner: Any = node.right
    if isinstance(inner, ast.BinOp) and {type(inner.op), type(node.op)} == {ast.Mult, ast.MatMult}:
        first, second = _part(spot, inner.left), _part(spot, inner.right)
        if isinstance(node.op, ast.Mult):
            yield f"{first} @ ({a} * {second})"
        else:
            yield from (f"{first} * ({a} @ {second})", f"{second} * ({a} @ {first})")
    inner = node.left
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.MatMult) and isinstance(node.op, ast.Mult):
        yield f"{_part(spot, inner.left)} @ ({_part(spot, inner.right)} * {b})"


def _is_factor(spot: Spot) -> bool:
    """Whether an expression is part of a product, which may be changed as a whole."""
    above = spot.above
    if isinstance(above, ast.UnaryOp):
        return True
    return isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Mult, ast.Div))


def _is_operand(spot: Spot) -> bool:
    """Whether an expression is a value that something is made of, and no index, name of a function or keyword."""
    if not isinstance(spot.node, ast.expr) or isinstance(spot.node, (ast.Slice, ast.Starred, ast.Tuple, ast.List)):
        return False
    if isinstance(spot.node, ast.Constant) and not isinstance(spot.node.value, (int, float)):
        return False
    above = spot.above
    if isinstance(above, ast.Call):
        return spot.node is not above.func
    if isinstance(above, ast.Attribute):
        return isinstance(spot.node, (ast.BinOp, ast.Call))
    if isinstance(above, (ast.Tuple, ast.List)):
        return True
    return isinstance(
        above, (ast.BinOp, ast.Assign, ast.AugAssign, ast.Return, ast.UnaryOp, ast.IfExp, ast.Lambda, ast.Dict)
    )


def _constants(spot: Spot, names: Names) -> Iterator[str]:
    """Numbers: one more or less, half or double; and factors 2, 1/2 and others that were forgotten."""
    node = spot.node
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        value = node.value
        if isinstance(value, int):
            yield from (str(value + 1), f"{value - 1}")
        yield from ("0", f"{2 * value}", f"{value / 2:g}", f"-{value}")
        yield from (text for text, held in names if np.ndim(held) == 0)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _part(spot, node.left) == "2":
        other = _part(spot, node.right)
        yield f"({other} + {other}.T)"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        base, power = _part(spot, node.left), _part(spot, node.right)
        yield from (f"{base}**({power} - 1)", f"{base}**({power} + 1)", f"{base}**(-{power})")
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub)):  # (1 - t)**2 for 1 - t**2
            sign = "+" if isinstance(node.left.op, ast.Add) else "-"
            yield f"({_part(spot, node.left.left)} {sign} {_part(spot, node.left.right)}**{power})"
    if _is_operand(spot) and not isinstance(node, ast.Constant):
        own = _held(spot)
        yield from (f"{own}**2", f"(1 - {own})")
        if not _is_factor(spot):
            yield from (f"2 * {own}", f"0.5 * {own}", f"3 * {own}", f"{own} / 3", f"4 * {own}", f"{own} / 4")


def _calls(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """Other axes, other functions of the same kind, functions too many, and sums that were forgotten."""
    node = spot.node
    if isinstance(node, ast.Call):
        func = _part(spot, node.func)
        inside = [_bare_part(spot, a) for a in node.args]
        keywords = {k.arg: _bare_part(spot, k.value) for k in node.keywords if k.arg}
        rest = [f"{name}={words}" for name, words in keywords.items()]
        for key in ("axis", "dim"):
            if key in keywords:
                others = [f"{name}={words}" for name, words in keywords.items() if name != key]
                for axis in ("0", "1", "-1", "2", "-2", "(0, 1)", "(0, 2)", "(1, 2)"):
                    yield f"{func}({', '.join([*inside, f'{key}={axis}', *others])})"
                yield f"{func}({', '.join([*inside, *others])})"
        for k, arg in enumerate(node.args):  # .sum(0), np.sum(x, 1)
            if isinstance(arg, (ast.Tuple, ast.Constant)) and _called(node) in _REDUCING:
                for axis in ("", "0", "1", "-1", "(0, 1)", "(0, 2)", "(1, 2)", "(0, 2, 3)"):
                    yield f"{func}({', '.join(filter(None, [*inside[:k], axis, *inside[k + 1 :], *rest]))})"
        name = _called(node)
        if len(node.args) == 1 and not node.keywords:
            yield inside[0] if isinstance(node.args[0], _TIGHT) else f"({inside[0]})"
        if name in _REDUCING and not rest and not any(isinstance(a, (ast.Tuple, ast.Constant)) for a in node.args):
            for axis in ("axis=0", "axis=1", "axis=0, keepdims=True", "axis=1, keepdims=True"):
                yield f"{func}({', '.join([*inside, axis])})"
            yield from (
                f"{func}({', '.join([*inside, f'axis={k}'])})[{at}]" for k, at in enumerate((":, None", "None"))
            )
        if isinstance(node.func, ast.Attribute) and name in (*_REDUCING, *_MOVING):
            yield _part(spot, node.func.value)
    if _is_operand(spot) and not isinstance(node, ast.Constant):
        own = _held(spot)
        yield from (f"{own}.sum()", f"{own}.sum(0)", f"{own}.sum(1)", f"{own}.mean()", f"({own} - {own}.mean())")
        yield from (f"({own} + {own}.T)", f"0.5 * ({own} + {own}.T)")
        yield from (f"np.sqrt({own})", f"np.exp({own})", f"np.abs({own})", f"np.sign({own})", f"np.conj({own})")


_MOVING = ("swapaxes", "transpose", "reshape", "copy", "clip", "detach", "conj", "stop_gradient")

_REDUCING = ("sum", "mean", "max", "min", "var", "std", "prod", "softmax", "logsumexp", "cumsum", "flip", "roll")


def _bare_part(spot: Spot, node: Any) -> str:
    words = _part(spot, node)
    return words if isinstance(node, _TIGHT) else words[1:-1] if words[:1] == "(" else words


def _places(spot: Spot, names: Names) -> Iterator[str]:
    """Indices and slices one further on or back, and comparisons with or without equality."""
    node = spot.node
    if isinstance(node, ast.Subscript):
        yield from _moved(spot, node)
        of = _part(spot, node.value)
        yield f"{of}[::-1]"
        yield of
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if isinstance(node, (ast.Assign, ast.AugAssign)) and isinstance(target, ast.Subscript):
        rest = spot.words.encode()[(target.end_col_offset or 0) - node.col_offset :].decode()
        yield from (moved + rest for moved in _moved(spot, target) if node.lineno == target.end_lineno)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        a, b = _part(spot, node.left), _part(spot, node.comparators[0])
        yield from (f"{a} {op} {b}" for op in ("<", "<=", ">", ">="))
    if isinstance(node, ast.Call) and _called(node) == "range":
        inside = [_bare_part(spot, a) for a in node.args]
        yield f"range({', '.join([*inside[:-1], inside[-1] + ' - 1'])})"
        yield f"range({', '.join([*inside[:-1], inside[-1] + ' + 1'])})"
    if _is_operand(spot) and isinstance(node, (ast.Name, ast.Attribute)):
        yield from (f"{spot.words}[{text}]" for text, held in names if _is_index(held))
        yield f"{spot.words}[::-1]"


def _moved(spot: Spot, node: ast.Subscript) -> Iterator[str]:
    """Parts of an array one further on or back, and at the mirrored place."""
    of = _part(spot, node.value)
    if isinstance(node.slice, (ast.Name, ast.BinOp, ast.Call)):
        index = _bare_part(spot, node.slice)
        yield from (f"{of}[{index} + 1]", f"{of}[{index} - 1]")
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first, second = map(ast.unparse, node.slice.elts)
        yield f"{of}[{second}, {first}]"
        for by in ("+ 1", "- 1"):
            if isinstance(node.slice.elts[0], (ast.Name, ast.BinOp)):
                yield f"{of}[{first} {by}, {second}]"
            if isinstance(node.slice.elts[1], (ast.Name, ast.BinOp)):
                yield f"{of}[{first}, {second} {by}]"
    words = ast.unparse(node.slice)
    for old, new in (("1:", ":-1"), (":-1", "1:"), ("2:", ":-2"), (":-2", "2:"), ("1:", ":"), (":-1", ":")):
        if old in words and not words.startswith("::"):
            yield f"{of}[{words.replace(old, new)}]"


def _is_index(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iub")


def _names_alike(spot: Spot, names: Names) -> Iterator[str]:
    """One variable in the place of another of its shape: the value of a step before, or of another argument."""
    own = _own_value(spot, names)
    if own is not None:
        yield from (text for text, held in names if np.shape(held) == np.shape(own))


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
    if isinstance(spot.node, ast.Subscript) or (isinstance(spot.node, ast.Constant) and _is_operand(spot)):
        yield from (text for text, held in names if isinstance(spot.node, ast.Subscript) or np.ndim(held))
    if isinstance(spot.node, (ast.Call, ast.BinOp)) and _is_operand(spot) and len(spot.words) < LONGEST_TERM:
        yield from (text for text, _ in names)


LONGEST_TERM = 24
"""Characters of an expression that a variable may stand for."""


def _factors(spot: Spot, names: Names) -> Iterator[str]:
    """A variable multiplied in, divided by, or added, that was forgotten."""
    if not _is_operand(spot) or isinstance(spot.node, ast.Constant):
        return
    own = _held(spot)
    term = isinstance(spot.above, (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple, ast.Dict, ast.Lambda))
    term = term or (isinstance(spot.above, ast.BinOp) and isinstance(spot.above.op, (ast.Add, ast.Sub)))
    if _is_factor(spot):
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
    if not _is_operand(spot) or isinstance(spot.node, ast.Constant) or _is_factor(spot):
        return
    own = _held(spot)
    for text, held in names:
        for form in _FORMS if np.ndim(held) else _OF_NUMBERS:
            yield form.format(own, text)


_FORMS: tuple[str, ...] = (
    "{0} * (1 - {1})", "{0} * {1} * (1 - {1})", "{0} * (1 - {1}**2)", "{0} * ({1} > 0)", "{0} / {1}**2",
    "{0} * {1}[:, None]", "{0} / {1}[:, None]", "{0} @ {1}", "{1} @ {0}", "{0} @ {1}.T", "{1}.T @ {0}",
    "{0} * {1}**2", "{0} / np.sqrt({1})", "{0} * np.sqrt({1})", "{0} * np.exp({1})", "{0} * np.cos({1})",
    "-{0} * np.sin({1})", "{0} * {1}.shape[0]", "{0} / {1}.shape[0]", "{0} / {1}.shape[1]", "{0} / {1}.size",
    "{0} * {1}.sum()", "{0} / {1}.sum()",
)  # fmt: skip

_OF_NUMBERS: tuple[str, ...] = (
    "{0} * {1}**2", "{0} / {1}**2", "{0} / np.sqrt({1})", "{0} * np.cos({1})", "-{0} * np.sin({1})",
    "{0} * np.exp({1})", "{0} * (1 - {1}**2)", "{0} * {1} * (1 - {1})", "2 * {0} * {1}", "({0} + 1 - {1})",
)  # fmt: skip


def _statements(spot: Spot, names: Names) -> Iterator[str]:  # noqa: ARG001
    """A statement that takes away in place of writing, and one that should not be there."""
    node = spot.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        yield f"{_part(spot, node.targets[0])} -= {_bare(_part(spot, node.value))}"
    if isinstance(spot.node, (ast.Assign, ast.AugAssign, ast.Continue, ast.Break, ast.Expr)):
        yield "pass"

"""How many axes the values of Python's expressions have, as far as names and functions tell it."""

from __future__ import annotations

import ast
from collections.abc import Callable

MODULES = {
    "np", "numpy", "torch", "jnp", "jax", "sg", "sympy", "sp", "scipy", "linalg", "math", "special", "F", "nn", "tf",
}  # fmt: skip
"""Names before a point that say where a function is from."""
ENTRYWISE = {
    "abs", "absolute", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square", "sign", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "sigmoid", "expit", "relu", "softplus", "maximum", "minimum",
    "clip", "where", "isnan", "floor", "ceil", "power", "logical_and", "logical_or", "logical_not", "copy", "astype",
    "zeros_like", "ones_like", "empty_like",
}  # fmt: skip
"""Functions that are taken entry by entry."""
_REDUCING = {
    "sum", "mean", "prod", "max", "min", "amax", "amin", "any", "all", "norm", "var", "std", "trace", "det", "len",
    "float",
}  # fmt: skip
_WITHOUT_AXES = ("size", "ndim", "pi", "e", "inf")


def rank(node: ast.expr, axes: Callable[[str], int | None]) -> int | None:
    """The number of axes of a value, of whose names ``axes`` tells it; None where that is not known.

    >>> [rank(ast.parse(text, mode="eval").body, {"A": 2, "x": 1}.get) for text in ("2*x + x[0]", "A @ x", "x.sum()")]
    [1, 1, 0]
    """
    if isinstance(node, ast.Constant):
        return 0
    if isinstance(node, ast.Name):
        return axes(node.id)
    if isinstance(node, ast.UnaryOp):
        return rank(node.operand, axes)
    if isinstance(node, ast.BinOp):
        left, right = rank(node.left, axes), rank(node.right, axes)
        return _of_product(left, right) if isinstance(node.op, ast.MatMult) else _largest([left, right])
    if isinstance(node, ast.Compare):
        return _largest([rank(x, axes) for x in (node.left, *node.comparators)])
    if isinstance(node, ast.BoolOp):
        return _largest([rank(x, axes) for x in node.values])
    if isinstance(node, ast.Attribute):
        return 0 if node.attr in _WITHOUT_AXES else rank(node.value, axes) if node.attr == "T" else None
    if isinstance(node, ast.Subscript):
        return _of_entries(node, axes)
    return _of_call(node, axes) if isinstance(node, ast.Call) else None


def _largest(ranks: list[int | None]) -> int | None:
    known = [r for r in ranks if r is not None]
    return max(known) if len(known) == len(ranks) else None


def _of_product(left: int | None, right: int | None) -> int | None:
    return left + right - 2 if left in (1, 2) and right in (1, 2) else None


def _of_entries(node: ast.Subscript, axes: Callable[[str], int | None]) -> int | None:
    """Of what is taken out of an array: an index takes an axis away, and a range leaves it."""
    whole = rank(node.value, axes)
    parts = parts_of(node)
    if whole is None or len(parts) > whole:
        return None
    plain = [part for part in parts if not isinstance(part, ast.Slice)]
    return whole - len(plain) if all(rank(part, axes) == 0 for part in plain) else None


def _of_call(node: ast.Call, axes: Callable[[str], int | None]) -> int | None:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    args = list(node.args)
    if name == "sum" and len(args) == 1 and isinstance(args[0], ast.GeneratorExp):  # over indices, which are no names
        return rank(args[0].elt, axes)
    of = node.func.value if isinstance(node.func, ast.Attribute) else None
    if of is not None and getattr(of, "attr", getattr(of, "id", "")) not in MODULES:
        args.insert(0, of)  # of a method
    if name in ("zeros", "ones", "empty") and len(args) == 1:
        shape = args[0]
        if isinstance(shape, ast.Attribute) and shape.attr == "shape":
            return rank(shape.value, axes)
        return len(shape.elts) if isinstance(shape, ast.Tuple) else 1
    ranks = [rank(arg, axes) for arg in args]
    if name in ENTRYWISE:
        return _largest(ranks)
    if name in ("dot", "inner", "vdot"):
        return _of_product(*ranks) if len(ranks) == 2 else None
    return 0 if name in _REDUCING and len(args) == 1 and not node.keywords and ranks[0] is not None else None


def parts_of(target: ast.Subscript) -> list[ast.expr]:
    """The indices of a subscript, axis by axis."""
    return target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]


def is_whole_axis(node: ast.expr) -> bool:
    """Whether an index is a colon."""
    return isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)

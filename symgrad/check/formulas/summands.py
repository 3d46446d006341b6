"""The terms that a formula is a sum of."""

from __future__ import annotations

from symgrad.errors import SymgradError
from symgrad.formula.term import Term
from symgrad.op import lookup


def summands(root: Term) -> list[Term]:
    """The terms of a sum with their signs."""
    out: list[Term] = []
    stack = [(root, False)]
    while stack and len(out) < 40:
        t, minus = stack.pop()
        if t.op.name in ("add", "sub"):
            stack.append((t.args[1], minus != (t.op.name == "sub")))
            stack.append((t.args[0], minus))
        elif t.op.name == "neg":
            stack.append((t.args[0], not minus))
        else:
            out.append(lookup("neg")(t) if minus else t)
    return out


def expanded_summands(root: Term) -> list[Term]:
    """The terms of a sum, with products of sums multiplied out where that is simple."""
    parts = summands(root)
    out: list[Term] = []
    for part in parts:
        out += _distributed(part)
    return out if len(out) <= 24 else parts


def _distributed(t: Term, depth: int = 0) -> list[Term]:
    if t.op.name in ("add", "sub", "neg") and depth < 6:
        return [x for s in summands(t) for x in (_distributed(s, depth + 1) if s is not t else [s])]
    if depth < 6 and (t.op.name in ("mul", "matmul", "outer") or (t.op.name == "div")):
        left = _distributed(t.args[0], depth + 1)
        right = [t.args[1]] if t.op.name == "div" else _distributed(t.args[1], depth + 1)
        if len(left) * len(right) > 1 and len(left) * len(right) <= 16:
            try:
                return [t.op(a, b, **t.params) for a in left for b in right]
            except SymgradError:
                # A number in a sum of arrays was broadcast; on its own it has no matrix product.
                return [t]
    return [t]

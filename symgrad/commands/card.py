"""The card of an op: what the table knows about it, with everything worked out on a small example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import AutogradError, FormulaError
from symgrad.formula.derive import directional
from symgrad.formula.term import Term, as_term, symbol
from symgrad.op import Op, lookup

_MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])
_ARRAYS = {"matrix": _MATRIX, "vector": np.array([0.5, -1.5])}
_NUMBERS = {
    "real": 0.5,
    "positive": 2.0,
    "nonzero": -2.0,
    "off-zero": -0.5,
    "unit": 0.5,
    "probability": 0.25,
    "above-one": 2.0,
    "off-integer": 1.25,
    "above-branch": -0.25,
    "index": 1,
    "integer": 6,
    "bool": True,
}
_SECOND = {"real": 0.25, "positive": 3.0, "nonzero": 4.0, "off-zero": 0.25, "bool": False}


def card(name: str) -> str:
    """What the table knows about the op ``name``: a value, SymPy form, derivatives both ways, LaTeX, code, domain.

    Raises ``ArgumentError`` for a name that is not in the table, with near ones.

    >>> print(card("tanh").splitlines()[0])
    tanh: Hyperbolic tangent.
    """
    op = lookup(name)
    rows = [("kind", op.kind), ("domain", _plain(op.domain)), ("kinks", _plain(op.kinks))]
    if op.kind != "leaf":
        rows += _worked(op)
    rows.append(("node", _node(op) if op.kind != "leaf" else None))
    width = max(len(label) for label, _ in rows)
    lines = [f"{label:<{width}}  {text}" for label, text in rows if text is not None]
    return "\n".join([f"{op.name}: {op.doc or 'a leaf of formulas.'}", *lines])


def example(op: Op) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Small arguments and parameters for an op: those of its entry, or numbers from its domain."""
    if op.example is not None:
        *operands, params = op.example
        return tuple(
            _ARRAYS[a] if isinstance(a, str) else np.array(a) if isinstance(a, list) else a for a in operands
        ), params
    kinds = op.domain if isinstance(op.domain, tuple) else (op.domain,) * len(op.vjps)
    values = [_NUMBERS.get(kind, _MATRIX) for kind in kinds]
    if len(values) > 1 and not isinstance(values[1], np.ndarray):
        values[1] = _SECOND.get(kinds[1], values[1])
    return tuple(v if isinstance(v, np.ndarray) else np.asarray(v)[()] for v in values), {}


def _worked(op: Op) -> list[tuple[str, str | None]]:
    args, params = example(op)
    names = ["x", "y", "z", "w", "v"][: len(args)]
    with np.errstate(all="ignore"):
        value = op.kernel(*args, **params)
    shown = ", ".join([*map(_value, args), *(f"{k}={_value(v)}" for k, v in params.items())])
    terms = [symbol(n, np.shape(a), np.asarray(a).dtype) for n, a in zip(names, args, strict=True)]
    rows: list[tuple[str, str | None]] = [("value", f"{op.name}({shown}) = {_value(value)}")]
    if terms:
        out = op(*terms, **params)
        rows += [("expression", _sympy(out)), ("latex", _latex(out))]
        for i, term in enumerate(terms):
            if op.differentiable(i) and is_floating(term.dtype):
                rows += _derivatives(op, out, terms, i, params)
    rows.append(("code", _code(op, names, params)))
    return rows


def _derivatives(op: Op, out: Term, terms: list[Term], i: int, params: dict[str, Any]) -> list[tuple[str, str | None]]:
    name = terms[i].name
    g = symbol("g", out.shape, out.dtype or np.dtype(float))
    try:
        pulled = op.pullback(i, g, out, terms, params)
    except AutogradError as refusal:
        return [(f"vjp {name}", f"refused: {refusal}")]
    moved = directional(out, [terms[i]], [symbol("t", terms[i].shape, terms[i].dtype)])
    return [
        (f"vjp {name}", None if pulled is None else _sympy(as_term(pulled))),
        (f"jvp {name}", _sympy(as_term(moved))),
    ]


def _node(op: Op) -> str:
    args, params = example(op)
    name = op.node if isinstance(op.node, str) else str(op.node(*map(np.shape, args), **params))
    return name if "Backward" in name else f"{name}Backward0"


def _value(value: Any) -> str:
    if isinstance(value, (np.ndarray, np.generic)):
        return str(np.round(value, 6).tolist()) if is_floating(value.dtype) else str(value.tolist())
    return repr(value)


def _sympy(term: Term) -> str:
    from symgrad.formula.sympy.texts import text

    try:
        return text(term)
    except FormulaError as error:
        return f"none ({error})"


def _latex(term: Term) -> str:
    from symgrad.formula.printing.latex import latex

    try:
        return str(latex(term))
    except FormulaError as error:
        return f"none ({error})"


def _code(op: Op, names: list[str], params: dict[str, Any]) -> str:
    if op.code is not None:
        return str(op.code(*names, **params))
    options = "".join(f", {k}={'np.inf' if v == math.inf else repr(v)}" for k, v in params.items())
    where = "np." if isinstance(op.kernel, np.ufunc) else ""
    return f"{where}{op.kernel.__name__}({', '.join(names)}{options})"


def _plain(value: Any) -> str | None:
    if value is None:
        return None
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)

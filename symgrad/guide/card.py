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
from symgrad.ops.indexing import Index

_MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])
_VECTOR = np.array([0.5, -1.5])
_NUMBERS = {
    "real": 0.5,
    "positive": 2.0,
    "nonzero": -2.0,
    "off-zero": -0.5,
    "unit": 0.5,
    "probability": 0.25,
    "above-one": 2.0,
    "off-integer": 1.25,
    "index": 1,
    "integer": 6,
    "bool": True,
}
_SECOND = {"real": 0.25, "positive": 3.0, "nonzero": 4.0, "off-zero": 0.25, "bool": False}
_ALL = {"dim": (0,), "keepdim": False}
_EXAMPLES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "where": ((True, 0.5, -1.0), {}),
    "clamp": ((2.0, -1, 1), {}),
    "guard": ((0.5, True), {}),
    "adjoint": ((_MATRIX,), {}),
    "matrix_power": ((_MATRIX,), {"n": 3}),
    "polygamma": ((2.0,), {"n": 1}),
    "spence_slope": ((2.0,), {"n": 1}),
    "reshape": ((_MATRIX,), {"shape": (4,)}),
    "einsum": ((_MATRIX, _VECTOR), {"inputs": ((0, 1), (1,)), "output": (0,), "shape": (2,)}),
    "squeeze": ((np.array([[1.0, 2.0]]),), {"dim": (0,)}),
    "unsqueeze": ((_VECTOR,), {"dim": 0}),
    "permute": ((_MATRIX,), {"dims": (1, 0)}),
    "expand": ((_VECTOR,), {"shape": (3, 2)}),
    "full": ((), {"shape": (2,), "value": 1, "dtype": "float64"}),
    "eye": ((), {"n": 2, "dtype": "float64"}),
    "arange": ((), {"n": 3, "dtype": "int64"}),
    "cat": ((_VECTOR, _VECTOR), {"dim": 0}),
    "stack": ((_VECTOR, _VECTOR), {"dim": 0}),
    "narrow": ((_VECTOR,), {"dim": 0, "start": 1, "length": 1}),
    "embed": ((_VECTOR,), {"dim": 0, "start": 1, "size": 4}),
    "select": ((_VECTOR,), {"dim": 0, "index": 1}),
    "flip": ((_VECTOR,), {"dims": (0,)}),
    "getitem": ((_VECTOR,), {"index": Index(slice(1, None))}),
    "put": ((np.array([1.0]),), {"index": Index(slice(1, None)), "shape": (2,)}),
    "index_put": ((_VECTOR, np.array([9.0])), {"index": Index(slice(1, None))}),
    "gather": ((_VECTOR, np.array([1, 1])), {"dim": 0}),
    "scatter_into": ((_VECTOR, np.array([1, 1])), {"dim": 0, "shape": (3,)}),
    "one_hot": ((np.array([1, 0]),), {"classes": 3, "dtype": "int64"}),
    "sum": ((_VECTOR,), _ALL),
    "mean": ((_VECTOR,), _ALL),
    "var": ((_VECTOR,), {**_ALL, "correction": 1}),
    "std": ((_VECTOR,), {**_ALL, "correction": 1}),
    "amax": ((_VECTOR,), _ALL),
    "amin": ((_VECTOR,), _ALL),
    "logsumexp": ((_VECTOR,), _ALL),
    "norm": ((_VECTOR,), {**_ALL, "p": 2}),
    "cast": ((0.5,), {"dtype": "float32"}),
    "prod": ((_VECTOR,), {"dim": 0, "keepdim": False}),
    "argmax": ((_VECTOR,), {"dim": 0, "keepdim": False}),
    "argmax_of_pool": ((_VECTOR,), {"dim": 0, "keepdim": False}),
    "argmin": ((_VECTOR,), {"dim": 0, "keepdim": False}),
    "prod_others": ((_VECTOR,), {"dim": 0}),
    "prod_divided": ((6.0, _VECTOR), {"dim": 0, "keepdim": False}),
    "prod_divided_twice": ((_VECTOR, 6.0, _VECTOR), {"dim": 0, "keepdim": False}),
    "cumprod_divided": ((_VECTOR, _VECTOR, _VECTOR), {"dim": 0}),
    "cumprod_moved": ((_VECTOR, _VECTOR, _VECTOR), {"dim": 0}),
    "cumprod_divided_twice": ((_VECTOR, _VECTOR, _VECTOR, _VECTOR), {"dim": 0}),
    "adjugate_moved": ((_MATRIX, _MATRIX), {}),
    "det_divided": ((6.0, _MATRIX), {}),
    "det_divided_twice": ((_MATRIX, 6.0, _MATRIX), {}),
    "softmax": ((_VECTOR,), {"dim": 0}),
    "log_softmax": ((_VECTOR,), {"dim": 0}),
    "softmax_slope": ((_VECTOR, np.array([0.25, 0.75])), {"dim": 0}),
    "log_softmax_slope": ((_VECTOR, np.log([0.25, 0.75])), {"dim": 0}),
    "cumsum": ((_VECTOR,), {"dim": 0}),
    "matmul": ((_MATRIX, _VECTOR), {}),
    "outer": ((_VECTOR, _VECTOR), {}),
    "diagonal": ((_MATRIX,), {"offset": 0, "dim1": 0, "dim2": 1}),
    "trace": ((_MATRIX,), {}),
    "tril": ((_MATRIX,), {"k": 0}),
    "triu": ((_MATRIX,), {"k": 0}),
    "chosen": ((_MATRIX, np.array([0, 1])), {}),
    "solve_triangular": ((_MATRIX, _MATRIX), {"upper": True, "unit": False}),
    "solve": ((_MATRIX, _VECTOR), {}),
    **{
        name: ((0.5,), {"n": 1})
        for name in ("bessel_y", "bessel_k", "bessel_ke", "expn", "spherical_jn", "spherical_yn")
    },
    **{
        family: ((0.5,), {"n": 3})
        for family in ("chebyshev_polynomial_t", "hermite_polynomial_h", "hermite_polynomial_he")
    },
    "gegenbauer_polynomial": ((0.5,), {"n": 3, "a": 0.5}),
    "laguerre_polynomial": ((0.5,), {"n": 3, "a": 0}),
    "bessel_j": ((0.5,), {"n": 1}),
    "bessel_i": ((0.5,), {"n": 1}),
    "bessel_ie": ((0.5,), {"n": 1}),
    "pad": ((_VECTOR,), {"widths": ((1, 0),), "value": 0}),
    "scatter": ((_VECTOR, np.array([9.0]), np.array([1])), {"dim": 0}),
    "scatter_combine": (
        (_VECTOR, np.array([9.0]), np.array([1])),
        {"dim": 0, "reduce": "amax", "include_self": True},
    ),
    "scatter_others": ((_VECTOR, np.array([9.0, 2.0]), np.array([1, 1])), {"dim": 0, "include_self": True}),
    "windows": ((np.array([1.0, 2.0, 3.0]),), {"dim": 0, "size": 2, "step": 1, "dilation": 1}),
    "windows_sum": ((_MATRIX,), {"dim": 0, "step": 1, "dilation": 1, "size": 3}),
    "roll": ((_VECTOR,), {"shifts": (1,), "dims": (0,)}),
    "cumprod": ((_VECTOR,), {"dim": 0}),
    "logcumsumexp": ((_VECTOR,), {"dim": 0}),
    "argsort": ((_VECTOR,), {"dim": 0, "descending": False}),
    "isin": ((_VECTOR, _VECTOR), {}),
    "any": ((_VECTOR,), {"dim": (0,), "keepdim": False}),
    "all": ((_VECTOR,), {"dim": (0,), "keepdim": False}),
    "view_as_real": ((_VECTOR + 0j,), {}),
    "view_as_complex": ((np.array([[1.0, 2.0]]),), {}),
    "middle": ((_VECTOR,), {"skip_nan": False}),
    "searchsorted": ((_VECTOR, np.array([1.5])), {"right": False, "dtype": "int64"}),
    "argcummax": ((_VECTOR,), {"dim": 0}),
    "argkth": ((_VECTOR,), {"dim": 0, "k": 2}),
    "argtop": ((_VECTOR,), {"dim": 0, "k": 2, "largest": True}),
    "argcummin": ((_VECTOR,), {"dim": 0}),
    "svdvals": ((_MATRIX,), {"k": 2}),
    "svd_u": ((_MATRIX,), {"k": 2}),
    "svd_vh": ((_MATRIX,), {"k": 2}),
    "pinv": ((_MATRIX,), {"atol": 0.0, "rtol": 1e-15}),
    "fourier": ((_VECTOR + 0j,), {"dims": (0,), "inverse": False, "norm": "backward"}),
}
"""Arguments that show what an op with parameters does; other ops get numbers from their domain."""


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
    """Small arguments and parameters for an op: from the list above, or numbers from its domain."""
    if op.name in _EXAMPLES:
        return _EXAMPLES[op.name]
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

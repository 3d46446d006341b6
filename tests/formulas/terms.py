"""Terms for tests: how they are built and written down, and whether two of them have one value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.derive import gradient
from symgrad.formula.term import Term, evaluate, symbol, symbols
from symgrad.op import lookup

n, m, p, q = "n", "m", "p", "q"
X, Y, w, y, x = symbol("X", (n, m)), symbol("Y", (n, p)), symbol("w", (m,)), symbol("y", (n,)), symbol("x", (n,))
A, b, W = symbol("A", (n, n)), symbol("b", (n,)), symbol("W", (m, p))
Z, lam, s = symbol("Z", (n, n)), symbol("lam"), symbol("s")

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**"}


def text(t: Term) -> str:
    """A short text of a matrix term, for comparison with the expected form."""
    name = t.op.name
    if name in ("symbol", "size"):
        return str(t.params["name"])
    if name == "number":
        return str(t.number)
    args = [text(a) for a in t.args]
    if name in _INFIX:
        return f"({args[0]} {_INFIX[name]} {args[1]})"
    if name == "neg":
        return f"-{args[0]}"
    if name == "permute":
        return f"{args[0]}'"
    if name == "full":
        return f"{'ones' if t.params['value'] else 'zeros'}({','.join(map(str, t.shape))})"
    if name == "einsum" and t.params["output"] == (0, 0):
        return f"diag({args[0]})"
    if name == "eye":
        return f"eye({t.shape[0]})"
    dims = t.params.get("dim")
    axes = "" if dims is None or (dims == tuple(range(t.args[0].ndim))) else f", {dims}"
    return f"{name}({', '.join(args)}{axes})"


def total(t: Term, dim: tuple[int, ...] | None = None) -> Term:
    return lookup("sum")(t, dim=tuple(range(t.ndim)) if dim is None else dim, keepdim=False)


def mean(t: Term) -> Term:
    return lookup("mean")(t, dim=tuple(range(t.ndim)), keepdim=False)


def op(name: str) -> Any:
    return lookup(name)


def arrays(roots: Sequence[Term], seed: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Random values for all symbols, at sizes that differ from seed to seed."""
    rng = np.random.default_rng(seed)
    sizes = dict(zip("nmpqr", map(int, rng.permutation([2, 3, 4, 5, 6])), strict=True))
    values: dict[str, Any] = {}
    for s in symbols(*roots):
        x = rng.normal(size=tuple(sizes[k] if isinstance(k, str) else k for k in s.shape))
        values[s.name or ""] = x + x.T if s.params.get("structure") == "symmetric" else x
    return values, sizes


def same_value(t: Term, found: Term, seeds: Sequence[int] = (0, 1, 2)) -> None:
    assert found.shape == t.shape
    for seed in seeds:
        values, sizes = arrays([t], seed)
        want = evaluate(t, values, sizes)
        got = evaluate(found, values, sizes)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)


def check(t: Term, expected: str) -> None:
    found = canonical(t)
    same_value(t, found)
    assert text(found) == expected
    assert canonical(found) is found


def grad(f: Term, *targets: Term) -> Any:
    found = gradient(f, list(targets))
    return found[0] if len(found) == 1 else found

"""The exact gradient in words, for reports; built only when a report is printed or asked for it."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.autograd import grad as tape_grad
from symgrad.check.oracle import Exact


def formula_texts(exact: Exact, i: int) -> Callable[[], tuple[str, str] | None]:
    """A function giving ``(text, LaTeX)`` of the exact gradient; it gives None for a black box."""
    found: list[tuple[str, str]] = []

    def texts() -> tuple[str, str] | None:
        if exact.output is None or not exact.output._requires_grad:
            return None
        if not found:
            from symgrad.formula.sympy.texts import text

            (g,) = tape_grad(
                exact.output, exact.leaves[i], retain_graph=True, allow_unused=True, materialize_grads=True
            )
            found.append((text(g.expr), g.latex()))
        return found[0]

    return texts

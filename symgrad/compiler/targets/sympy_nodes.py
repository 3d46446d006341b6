"""SymPy nodes that stand for calls of the op table, and the printer that writes them.

``lambdify`` sees a flat list of opaque calls: it orders, names and frames them; what a call looks like is the table's
business.
"""

from __future__ import annotations

from typing import Any, Self

from sympy import Expr, Integer, Symbol
from sympy.printing.numpy import NumPyPrinter


class CallNode(Expr):  # type: ignore[misc]
    """One op applied to symbols and other calls; opaque to SymPy's algebra."""

    call: Any
    is_commutative = True

    def __new__(cls, call: Any, operands: list[Any]) -> Self:
        """A node whose identity is the call's."""
        made = Expr.__new__(cls, Integer(id(call)), *operands)
        made.call = call
        return made  # type: ignore[no-any-return]


class Result(Expr):  # type: ignore[misc]
    """A result of the program, in the shape and dtype it must have."""

    output: Any
    operand: Any

    def __new__(cls, output: Any, operand: Any, node: Any) -> Self:
        """A node whose identity is the output's."""
        made = Expr.__new__(cls, Integer(id(output)), node)
        made.output, made.operand = output, operand
        return made  # type: ignore[no-any-return]


class ListPrinter(NumPyPrinter):  # type: ignore[misc]
    """NumPy source of the list: names as they are, calls through the table."""

    def __init__(self, writer: Any):
        super().__init__({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
        self.writer = writer
        self.calls: dict[Any, str] = {}  # printed once to find the sizes, and again by lambdify

    def doprint(self, expr: Any, assign_to: Any = None) -> str:
        """The text of one node; of ours there is nothing that SymPy would have to look for inside."""
        if isinstance(expr, (CallNode, Result, Symbol)):
            return str(self._print(expr))
        return str(super().doprint(expr, assign_to))

    def _print_Symbol(self, expr: Symbol) -> str:  # noqa: N802  (SymPy's naming)
        return str(expr.name)

    def _print_CallNode(self, expr: CallNode) -> str:  # noqa: N802
        text = self.calls.get(expr.call)
        if text is None:
            text = self.calls[expr.call] = self.writer.call(expr.call, [self._print(a) for a in expr.args[1:]])
        return text

    def _print_Result(self, expr: Result) -> str:  # noqa: N802
        return str(self.writer.result(expr.output, expr.operand))

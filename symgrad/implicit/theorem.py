"""The implicit function theorem of one solution, written out: with named Jacobians, and with what these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler.trace import argument_names
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError
from symgrad.formula.printing.names import name_latex
from symgrad.implicit.adjoints import Adjoint, Equations, jacobian_text
from symgrad.implicit.equations import Solution
from symgrad.implicit.flows import Odeint
from symgrad.implicit.problems import Problem
from symgrad.sources.running import head_latex
from symgrad.tape import containers
from symgrad.tape.record import Recorded

_EQUATIONS = {
    "root": r"{f}\left({args}\right) = 0",
    "fixed_point": r"{x} = {f}\left({args}\right)",
    "argmin": r"\partial_{{{x}}} {f}\left({args}\right) = 0",
    "linear": r"{f}\left({args}\right) = {b}",
}
_DERIVATIVES = {
    "root": r"-\left(\partial_{{{x}}} {f}\right)^{{-1}} \partial_{{{t}}} {f}",
    "fixed_point": r"\left(I - \partial_{{{x}}} {f}\right)^{{-1}} \partial_{{{t}}} {f}",
    "argmin": r"-\left(\partial_{{{x}}}^{{2}} {f}\right)^{{-1}} \partial_{{{t}}} \partial_{{{x}}} {f}",
    "linear": r"-\left(\partial_{{{x}}} {f}\right)^{{-1}} \partial_{{{t}}} {f}",
}


class Theorem(Equations):
    """What :func:`theorem` gives: ``latex()``, text, the residual and the condition number of the solution."""

    def __init__(self, problem: Problem, values: Sequence[Any]):
        self._problem = problem
        self._values = values
        self._names = _names(problem)
        self._unknown, *self._leaves = map(name_latex, self._names)
        self._name = head_latex(problem.__name__)

    @property
    def residual(self) -> float:
        """The largest entry of what the equation says to be zero."""
        return float(np.abs(self._problem.numbers(self._values[0], self._values[1:])).max(initial=0.0))

    @property
    def condition(self) -> float:
        """The condition number of the Jacobian by the unknown, in the 1-norm; it makes the whole matrix."""
        return self._problem.factor(self._values[0], self._values[1:]).condition

    def latex(self) -> str:
        """The equation, the derivative by every parameter, and the formulas of the Jacobians at the solution.

        A Jacobian has no formula where the function needs values (NumPy functions, ``if``): then that is said.
        """
        kind, f, x = self._problem.kind, self._name, self._unknown
        if kind == "linear":
            right, args = self._leaves[0], self._leaves[1:]
        else:
            right, args = "", self._leaves
        said = _EQUATIONS[kind].format(f=f, x=x, b=right, args=", ".join([x, *args]))
        lines = [rf"& {said} \text{{ at }} {x} = {x}^{{*}}"]
        for k, t in enumerate(self._leaves):
            if is_floating(self._values[k + 1].dtype):
                slope = _DERIVATIVES[kind].format(f=f, x=x, t=t)
                if kind == "linear" and not k:
                    slope = rf"\left(\partial_{{{x}}} {f}\right)^{{-1}}"
                lines.append(rf"\frac{{\partial {x}^{{*}}}}{{\partial {t}}} &= {slope}")
        body = " \\\\\n".join([*lines, *self._jacobians()])
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def _jacobians(self) -> list[str]:
        """A line for every Jacobian."""
        kind, f, x = self._problem.kind, self._name, self._unknown
        lines = []
        for k, t in enumerate([x, *self._leaves]):
            if not is_floating(self._values[k].dtype) or (kind == "linear" and k == 1):
                continue
            name = rf"\partial_{{{t}}} {f}"
            if kind == "argmin":
                name = rf"\partial_{{{t}}} \partial_{{{x}}} {f}" if k else rf"\partial_{{{x}}}^{{2}} {f}"
            lines.append(f"{name} &= {self._shown(k)}")
        return lines

    def _shown(self, k: int) -> str:
        problem = self._problem
        if not problem.layout.direct:
            return r"\text{not written out: the unknown is nested}"
        across = problem.mapped if problem.kind in ("fixed_point", "linear") else problem.residual
        return jacobian_text(across, problem.__name__, self._names, self._values, k)


def theorem(x: Any) -> Theorem | Adjoint:
    r"""The implicit function theorem for a solution ``x`` (or one of its parts) of this module's functions.

    For a solution of ``odeint`` it is the adjoint (:class:`Adjoint`), of its steps or of the equation.  It shows the
    derivative by every parameter with named Jacobians, and the formulas of these.  Raises
    ``ArgumentError`` where x is not, or no longer, a solution that the tape knows.

    >>> import symgrad as sg
    >>> a = sg.tensor(2.0, requires_grad=True)
    >>> found = sg.implicit.theorem(sg.implicit.root(lambda x, a: x**2 - a, 1.0, a))
    >>> print(found.latex())
    \begin{aligned}
    & f\left(x, a\right) = 0 \text{ at } x = x^{*} \\
    \frac{\partial x^{*}}{\partial a} &= -\left(\partial_{x} f\right)^{-1} \partial_{a} f \\
    \partial_{x} f &= 2 x \\
    \partial_{a} f &= -1
    \end{aligned}
    >>> found.condition
    1.0
    """
    leaves = [leaf for leaf in containers.flatten(x)[0] if isinstance(leaf, Recorded)]
    stack = [leaf._node for leaf in leaves if leaf._node is not None]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        function = getattr(node.op, "function", None)
        if isinstance(function, type) and issubclass(function, Solution):
            ctx = (node.params or {})["run"].ctx
            return Theorem(ctx.problem, ctx.at)
        if function is Odeint:
            ctx = (node.params or {})["run"].ctx
            return Adjoint(ctx.flow, ctx.march, ctx.at)
        stack += [arg for arg in node.args if hasattr(arg, "args")]
    raise ArgumentError(
        "theorem() takes what root, fixed_point, argmin, solve or odeint gave, while one of their parameters requires "
        "grad (solve of a matrix is linalg.solve)."
    )


def _names(problem: Problem) -> list[str]:
    """The names of the unknown and of the arrays among the parameters."""
    params = problem.given.structure[2]
    first = ["b"] if problem.kind == "linear" else []
    count = 1 + len(params) - len(first)
    said = argument_names(problem.function, count)
    said += [f"p{k}" for k in range(len(said), count)]
    stems = [*first, *said[1:]]
    every = [name for stem, part in zip(stems, params, strict=True) for name in containers.paths(part, stem)]
    return [said[0], *(every[k] for k in problem.given.arrays)]

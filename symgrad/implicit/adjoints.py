"""The adjoint of one solution of a differential equation, written out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.compiler.trace import argument_names
from symgrad.dtypes import is_floating
from symgrad.errors import SymgradError
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.names import name_latex
from symgrad.func import jacobian
from symgrad.implicit.flows import Flow
from symgrad.notation import formula
from symgrad.sources.running import head_latex
from symgrad.tape import containers
from symgrad.tape.record import plain
from symgrad.tensor import Tensor


class Equations:
    """What is shown as its ``latex()``: in text and in notebooks."""

    def latex(self) -> str:
        """The equations in LaTeX."""
        raise NotImplementedError

    def __str__(self) -> str:
        return spelled(self.latex(), "unicode")

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def jacobian_text(function: Callable[..., Any], name: str, names: Sequence[str], values: Sequence[Any], k: int) -> str:
    """The formula of the Jacobian by argument ``k`` of a function whose arguments have these names, in one line."""

    def called(*args: Any) -> Any:
        return function(*args)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    named = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    called.__signature__ = named  # type: ignore[attr-defined]
    try:
        return formula(jacobian(called, k), *(plain(Tensor, v) for v in values)).latex().replace("\n", " ")
    except SymgradError:
        return rf"\text{{without formula: {name} needs values}}"


class Adjoint(Equations):
    """What :func:`symgrad.implicit.theorem` gives for a solution of ``odeint``: ``latex()`` and text.

    ``steps`` is how many steps were taken.
    """

    def __init__(self, flow: Flow, march: Any, values: Sequence[Any]):
        self.steps = int(march.count)
        self._flow = flow
        self._values = values
        self._names = _names(flow)
        self._y, self._t, *self._leaves = map(name_latex, self._names)
        self._name = head_latex(flow.__name__)

    def latex(self) -> str:
        """The equation, its adjoint, the gradients, and the formulas of the Jacobians at a time between.

        λ is the gradient of a number L of the solution by y, at every time.  With ``adjoint="discrete"`` it is that of
        the steps Φ.  A Jacobian has no formula where the function needs values (NumPy functions, ``if``).
        """
        f, y, t = self._name, self._y, self._t
        args = ", ".join([t, y, *self._leaves] if self._flow.tfirst else [y, t, *self._leaves])
        moving = [x for x, v in zip(self._leaves, self._values[2:], strict=True) if is_floating(v.dtype)]
        lines = [rf"\frac{{\mathrm{{d}} {y}}}{{\mathrm{{d}} {t}}} &= {f}\left({args}\right)"]
        if self._flow.adjoint == "discrete":
            lines += self._discrete(moving)
        else:
            lines += self._continuous(moving)
        known = zip([y, *self._leaves], [0, *range(2, len(self._values))], strict=True)
        lines += [rf"\partial_{{{x}}} {f} &= {self._shown(k)}" for x, k in known if is_floating(self._values[k].dtype)]
        body = " \\\\\n".join(lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def _continuous(self, moving: list[str]) -> list[str]:
        f, y, t = self._name, self._y, self._t
        loss = rf"\frac{{\partial L}}{{\partial {y}\left({t}_{{k}}\right)}}"
        back = rf"-\left(\partial_{{{y}}} {f}\right)^{{\top}} \lambda"
        lines = [
            rf"\frac{{\mathrm{{d}} \lambda}}{{\mathrm{{d}} {t}}} &= {back}",
            rf"\lambda\left({t}_{{k}}^{{-}}\right) &= \lambda\left({t}_{{k}}^{{+}}\right) + {loss}",
            rf"\frac{{\partial L}}{{\partial {y}_{{0}}}} &= \lambda\left({t}_{{0}}\right)",
        ]
        for x in moving:
            inside = rf"\left(\partial_{{{x}}} {f}\right)^{{\top}} \lambda \, \mathrm{{d}} {t}"
            lines.append(rf"\frac{{\partial L}}{{\partial {x}}} &= \int_{{{t}_{{0}}}}^{{{t}_{{n}}}} {inside}")
        return lines

    def _discrete(self, moving: list[str]) -> list[str]:
        y, name = self._y, self._flow.control.name
        loss = rf"\frac{{\partial L}}{{\partial {y}_{{n}}}}"
        lines = [
            rf"{y}_{{n+1}} &= \Phi_{{n}}\left({', '.join([f'{y}_{{n}}', *self._leaves])}\right) \text{{ by {name}}}",
            rf"\lambda_{{n}} &= \left(\partial_{{{y}}} \Phi_{{n}}\right)^{{\top}} \lambda_{{n+1}} + {loss}",
            rf"\frac{{\partial L}}{{\partial {y}_{{0}}}} &= \lambda_{{0}}",
        ]
        for x in moving:
            inside = rf"\left(\partial_{{{x}}} \Phi_{{n}}\right)^{{\top}} \lambda_{{n+1}}"
            lines.append(rf"\frac{{\partial L}}{{\partial {x}}} &= \sum_{{n}} {inside}")
        return lines

    def _shown(self, k: int) -> str:
        flow = self._flow
        if not flow.layout.direct:
            return r"\text{not written out: the state is nested}"

        def function(y: Any, t: Any, *leaves: Any) -> Any:
            return flow.slope(t, y, leaves)

        values = [self._values[0], self._values[1][0], *self._values[2:]]
        text = jacobian_text(function, flow.__name__, self._names, values, k)
        return r"\text{of several lines: ask sg.latex for it}" if r"\begin{aligned}" in text else text


def _names(flow: Flow) -> list[str]:
    """The names of the state, the time, and the arrays among the parameters."""
    params = flow.given.structure[2]
    said = argument_names(flow.function, 2 + len(params))
    said += [("y", "t", *(f"p{k}" for k in range(len(params))))[k] for k in range(len(said), 2 + len(params))]
    if flow.tfirst:
        said[:2] = said[1::-1]
    every = [name for stem, part in zip(said[2:], params, strict=True) for name in containers.paths(part, stem)]
    return [*said[:2], *(every[k] for k in flow.given.arrays)]

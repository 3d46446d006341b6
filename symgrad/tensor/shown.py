"""The formula of a tensor: its name, term, SymPy expression and LaTeX, worked out when asked."""

from __future__ import annotations

from typing import Any

from symgrad.tape.formulas.names import check_name, name_of
from symgrad.tensor.facts import Facts


class Shown(Facts):
    """The part of a tensor that shows its formula."""

    __slots__ = ()

    @property
    def name(self) -> str | None:
        """The symbol in formulas: given at creation, else read from the assignment.

        >>> import symgrad as sg
        >>> sg.tensor(1.0, requires_grad=True, name="w").name
        'w'
        """
        return name_of(self)

    @name.setter
    def name(self, value: str) -> None:
        self.more().name = check_name(value)

    @property
    def term(self) -> Any:
        """The formula as a :class:`~symgrad.formula.term.Term` (array-level, no values).

        >>> import symgrad as sg
        >>> x = sg.tensor(2.0, requires_grad=True, name="x")
        >>> (x.sin() * 2).term
        <term mul(…, 2)>
        """
        from symgrad.tape.formulas.reading import term_of

        return term_of(self)

    @property
    def expr(self) -> Any:
        """The exact formula as a SymPy expression, built when first asked for.

        Raises ``FormulaTooDeep`` past the depth budget; ``symgrad.where_list(t)`` has no such limit.

        >>> import symgrad as sg
        >>> A = sg.tensor([[1.0, 2.0], [3.0, 4.0]], name="A")
        >>> x = sg.tensor([0.5, 1.0], requires_grad=True, name="x")
        >>> y = (A @ x).sin().sum()
        >>> y.expr
        sum(sin(A @ x))
        >>> y.backward()
        >>> x.grad.expr
        A.T @ cos(A @ x)
        """
        from symgrad.formula.sympy.expressions import to_sympy
        from symgrad.tape.formulas.reading import read

        reading, term = read(self)
        return to_sympy(term, symbols=reading.symbols)

    def evalf(self, n: int = 15) -> Any:
        """The value to ``n`` digits: what the recorded program gives without rounding, from exactly the floats it read.

        A SymPy number, or a NumPy array of them with the tensor's shape (truth values and integers stay NumPy's).
        Gradients have digits, too: ``x.grad.evalf(50)``.  The working precision is raised until the digits hold, so
        cancellation does no harm.  Raises ``FormulaError`` for values that have no formula, and for operations without
        an exact meaning; ``AutogradError`` when a leaf was changed after it was used.

        >>> import symgrad as sg
        >>> x = sg.tensor(3.0, requires_grad=True)
        >>> y = 1 / x
        >>> y.evalf(30)
        0.333333333333333333333333333333
        >>> y.backward()
        >>> x.grad.evalf(20)
        -0.11111111111111111111
        """
        from symgrad.tape.formulas.digits import evalf

        return evalf(self, n)

    def verify(self, digits: int = 30) -> Any:
        """Whether the numbers are those of the formula, and by how many ulps they differ: :func:`symgrad.verify`.

        >>> import symgrad as sg
        >>> x = sg.tensor(2.0, requires_grad=True)
        >>> y = sg.exp(x) / 3
        >>> y.verify().ok
        True
        """
        from symgrad.explaining import verify

        return verify(self, digits)

    @property
    def valid_when(self) -> Any:
        """The conditions under which the formula holds: branches taken, indices chosen, and kinks of derivatives.

        A sequence of conditions, each with ``kind``, ``term``, ``expr`` and ``where``; ``hold(**values)`` tells whether
        the formula is that of other values, too.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, -2.0], requires_grad=True, name="x")
        >>> x.abs().sum().backward()
        >>> x.grad.valid_when[0].unicode()
        'x ≠ 0'
        """
        from symgrad.tape.watching.conditions import valid_when

        return valid_when(self)

    def latex(self, **options: Any) -> str:
        r"""The formula in LaTeX, as a text without dollars; the options are those of :func:`symgrad.latex`.

        >>> import symgrad as sg
        >>> x = sg.tensor([0.5, 1.0], requires_grad=True, name="x")
        >>> (x @ x).exp().backward()
        >>> print(x.grad.latex())
        2 e^{x^{\top} x} x
        >>> print(x.grad.latex(bold=True))
        2 e^{\mathbf{x}^{\top} \mathbf{x}} \mathbf{x}
        """
        from symgrad.formula.printing.latex import caption, latex
        from symgrad.tape.formulas.origin import origin_of, slope_of
        from symgrad.tape.formulas.reading import read

        notes = []
        if options.pop("conditions", False) and self.valid_when:
            notes.append(self.valid_when.note())
        if options.pop("caption", False):
            notes.append(caption(self._node is None and origin_of(self) is not None))
        reading, term = read(self)
        return latex(term, notes=notes, **{"slope": slope_of(reading, self), **options})

    def _repr_latex_(self) -> str | None:
        from symgrad.formula.term import SYMBOL

        if self.term.op is SYMBOL:  # its name alone would hide the numbers, which notebooks show otherwise
            return None
        return f"$\\displaystyle {self.latex()}$"

"""Formulas of tensors and functions: LaTeX, SymPy, where-lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.entrances import NOT_REAL
from symgrad.compiler.transforms import transform_of
from symgrad.dtype_objects import shown
from symgrad.errors import ArgumentError, AutogradError, FormulaError, FormulaTooDeep
from symgrad.formula.accurate import accurate
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.digits import evalf, rounded
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.names import texts
from symgrad.formula.signs import with_signs
from symgrad.formula.term import SYMBOL, Term, as_term, evaluate, postorder
from symgrad.guesses import OF_FORMULAS, arrays_meant, missing, options
from symgrad.notation.layouts import Derivative, derivative_of, transposed
from symgrad.op import is_complex, lookup
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.ops.shapes.shaping import shape_text
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.sources.asked import assuming, named, one_entry, refuse_numbers
from symgrad.sources.natural import asked_about
from symgrad.sources.running import called, head_latex, name_of, parameters
from symgrad.sources.runs import run_on
from symgrad.tape.formulas.fitting import asked, has_sizes
from symgrad.tape.formulas.origin import origin_of, slope_of
from symgrad.tape.formulas.reading import Reading, read
from symgrad.tape.graph import Source
from symgrad.tape.record import Recorded

__all__ = ["Formula", "digest", "formula", "latex", "where_list"]


_INSTEAD = "; name a value to have it in formulas: tensor(value, name='x')"
_NO_GRADIENT = "; a .grad is None before backward(), and explain(x.grad) says why it stays so"
_OPTIONS = options(
    argnums="say wrt=, a name or a position",
    order="a second derivative is wrt=('x', 'x')",
    symbols="arrays are called as the parameters of the function are: lambda theta, X: ...",
    simplify="formulas are simplified; canonical=False shows them as they were run",
)


class Formula:
    """The formula of a value, in every form: text, SymPy, LaTeX, Unicode, Markdown, Typst, MathML, and as a program.

    ``term`` is the program as it was run, ``symbols`` are the arrays it is a function of, ``head`` is the LaTeX of what
    it is the formula of, where that is known, and ``of`` of what by what it is the derivative.  In a notebook it shows
    itself.
    """

    __slots__ = ("_orders", "_reading", "_slope", "derivative", "head", "of", "symbols", "term")

    def __init__(
        self,
        term: Term,
        symbols: Sequence[Term] = (),
        head: str | None = None,
        reading: Reading | None = None,
        derivative: bool = False,
        of: Derivative | None = None,
        slope: tuple[Term, Term] | None = None,
        orders: tuple[Term, Sequence[Term]] | None = None,
    ):
        self.term = term
        self._slope = slope
        self._orders = orders
        self.of = of
        self._reading = reading
        self.derivative = derivative
        self.symbols = list(symbols) or [t for t in postorder([term]) if t.op is SYMBOL]
        self.head = head

    def __getattr__(self, name: str) -> Any:
        raise missing("'Formula' object", name, OF_FORMULAS, self)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: ints and size letters."""
        return self.term.shape

    @property
    def dtype(self) -> Any:
        """The NumPy dtype of the value."""
        return shown(self.term.dtype)

    @property
    def names(self) -> list[str]:
        """The names of the symbols."""
        return [t.params["name"] for t in self.symbols]

    @property
    def canonical(self) -> Term:
        """The term in its shortest textbook form."""
        from symgrad.formula.printing.wherelist import canonical_or_raw

        if self._orders is None:
            return canonical_or_raw(self.term)
        found, numbers = self._orders
        for at in numbers:  # the derivative of a short formula is short, that of its program grows with every order
            found = canonical_or_raw(with_signs(gradient(found, [at])[0]))
        return found

    @property
    def expr(self) -> Any:
        """The SymPy expression.  Raises ``FormulaTooDeep`` past the depth budget; :meth:`where_list` has none."""
        from symgrad.formula.sympy.expressions import to_sympy

        return to_sympy(self.term, symbols=self.symbols)

    @property
    def valid_when(self) -> Any:
        """The conditions under which the formula holds, as for ``Tensor.valid_when``."""
        from symgrad.tape.watching.conditions import Conditions, conditions

        by = [] if self._slope is None else [self._slope[1].name]
        return Conditions([]) if self._reading is None else conditions(self._reading, self.derivative, by)

    def latex(
        self,
        header: bool | str = False,
        conditions: bool = False,
        caption: bool = False,
        layout: str | None = None,
        constants: bool = False,
        **options: Any,
    ) -> str:
        r"""The LaTeX; ``header`` prints what it is on the left of ``=``, further options as for :func:`latex`.

        ``header`` may be "leibniz" (∂f/∂x, as True), "nabla" (∇f, of scalars) or "D" (Df, in the numerator layout).
        ``layout`` is "mixed" (as the array lies), "numerator" or "denominator", for derivatives of functions and texts;
        ``caption=True`` states it by the differential.  ``constants=True`` says below what the arrays of the program
        are that stand in the formula as ``c1``, ``c2`` …, as far as they have few entries.  Raises ``ArgumentError``
        where a notation does not apply.

        >>> import symgrad as sg
        >>> f = sg.formula("norm(A@x-b)**2", wrt="x")
        >>> f.latex(layout="numerator", header="D")
        '\\mathrm{D}_{x} f = 2 \\left(A x - b\\right)^{\\top} A'
        >>> print(f.unicode(layout="denominator", header=True, caption=True))
        ∂f/∂x = 2 Aᵀ (A x − b)
        df = (∂f/∂x)ᵀ dx (denominator layout)
        >>> g = sg.formula(lambda x: (sg.tensor([[1.0, 2.0], [0.0, 3.0]]) @ x).sum(), (2,), wrt="x")
        >>> print(g.unicode(constants=True))
        c₁ᵀ 𝟏
        where c₁ = [1, 2; 0, 3]
        """
        from symgrad.formula.printing.latex import caption as said, latex

        term, note = self._laid_out(layout)
        term = _as_matrix(term) if self.derivative else term
        bold = self.of is not None and bool(options.get("bold"))
        if header and header is not True:
            options["name"] = self._headed(header, layout or "mixed", bold)
        elif header and self.head:
            options["name"] = self.of.in_bold().head("leibniz") if bold and self.of else self.head
        found = self.valid_when if conditions else ()
        notes = [found.note()] if found else []
        notes += self._constant_notes() if constants else []
        if term is self.term:
            options.setdefault("slope", self._slope)
            term = self.canonical if self._orders and options.get("canonical", True) else term
        return latex(term, notes=notes + [note or said(self.derivative)] * caption, **options)

    def _constant_notes(self) -> list[str]:
        """What the arrays are that the program brought along, and that the formula shows, in lines below it."""
        from symgrad.formula.printing.blocks import few_numbers

        shown = {t.params["name"] for t in postorder([self.canonical]) if t.op is SYMBOL}
        found = {name: few_numbers(value) for name, value in self.constants.items() if name in shown}
        names = texts([*self.names, *shown])
        return [rf"\text{{where}}\; {names[name]} = {text}" for name, text in found.items() if text is not None]

    def _known(self, option: str) -> Derivative:
        if self.of is None:
            raise ArgumentError(f"{option}= is for derivatives of functions and texts: formula(f, ..., wrt=...).")
        return self.of

    def _laid_out(self, layout: str | None) -> tuple[Term, str | None]:
        """The formula with its axes in a layout, and what states that."""
        if layout is None:
            return self.term, None
        of = self._known("layout")
        value = self.term.ndim - sum(count for _, count in of.by)
        turned = of.turned(layout, value)
        return transposed(self.term) if turned else self.term, of.caption(layout, value)

    def _headed(self, notation: str, layout: str, bold: bool) -> str:
        of = self._known("header")
        of = of.in_bold() if bold else of
        return of.checked_head(notation, self.term.ndim - sum(count for _, count in of.by), layout)

    def unicode(self, **options: Any) -> str:
        """Plain text with mathematical signs; options as for :meth:`latex`.

        >>> import symgrad as sg
        >>> sg.formula(lambda A, x: ((A @ x) ** 2).sum(), (4, 3), (3,), wrt="x").unicode(header=True)
        '∂f/∂x = 2 Aᵀ A x'
        """
        return self._spelled("unicode", options)

    def markdown(self, **options: Any) -> str:
        """A displayed formula for Markdown; options as for :meth:`latex`."""
        return self._spelled("markdown", options)

    def typst(self, **options: Any) -> str:
        """Mathematics for Typst, to stand between dollar signs; options as for :meth:`latex`."""
        return self._spelled("typst", options)

    def mathml(self, **options: Any) -> str:
        """A ``<math>`` element for web pages and documents; options as for :meth:`latex`."""
        return self._spelled("mathml", options)

    def _spelled(self, form: str, options: dict[str, Any]) -> str:
        return spelled(self.latex(**options), form)

    def where_list(self, names: Any = None) -> list[tuple[Any, Any]]:
        """Named parts and the result, as ``(symbol, expression)`` pairs; ``names`` as for :func:`where_list`."""
        from symgrad.formula.printing.wherelist import where_list

        return where_list(self.term, names)

    @property
    def constants(self) -> dict[str, Any]:
        """The arrays that the program brought along (as ``c1``, ``c2`` …), by name, as far as they were kept.

        >>> import symgrad as sg
        >>> sg.formula(lambda x: (x * sg.tensor([1.0, 2.0])).sum(), (2,), wrt="x").constants
        {'c1': array([1., 2.], dtype=float32)}
        """
        found = {} if self._reading is None else self._reading.sources
        return {name: leaf.kept for name, leaf in found.items() if isinstance(leaf, Source) and leaf.kept is not None}

    def evaluate(self, stable: bool | str = True, /, **values: Any) -> Any:
        """The number for other values of the symbols, of any fitting sizes; constants of the program have theirs.

        Sizes that no value tells are those of the run.

        Parts that overflow or cancel as they are written, such as ``exp(x) / (1 + exp(x))``, are computed so that they
        keep their digits; with ``stable`` False (by position), and under the conventions of other libraries, which keep
        the nan there, they are computed as they are written, to the bit.

        With ``"exact"`` (by position) the formula is computed in as many digits as it takes, from exactly the floats
        given, and rounded once: right to the last place however it is written, at some 10 to 100 microseconds for every
        operation and entry.  What has no value in many digits is as it is without.  Raises ``ArgumentError`` for other
        words.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> float(sg.formula((x * x).sum()).evaluate(x=np.array([1.0, 2.0, 3.0])))
        14.0
        >>> sg.formula("x*sin(y) - y*sin(x)", shapes="x=;y=").evaluate("exact", x=1e-9, y=1.1e-9)
        np.float64(-3.8499999999999947e-38)
        """
        if isinstance(stable, str) and stable != "exact":
            raise ArgumentError(f'evaluate({stable!r}, …): True, False or "exact" says how; symbols go by name.')
        given = {name: np.asarray(value)[()] for name, value in values.items()}
        term = accurate([self.term])[0] if stable and not keeps_nan("composed") else self.term
        sizes = self._sizes(given)
        known = {**self.constants, **given}
        found = evaluate(term, known, sizes)
        if stable != "exact":
            return found
        return rounded([self.term, term], found, known, sizes)

    def _sizes(self, given: dict[str, Any]) -> dict[str, int]:
        """The sizes that values have, and those of the run for letters that nothing given tells.

        Refused are others where the program that was run would have gone another way, or made other numbers.
        """
        sizes = _sizes_of(self.symbols, given)
        if self._reading is None:
            return sizes
        here = {letter: n for n, letter in self._reading.letters.items() if letter.isidentifier()}
        whole = {**here, **sizes}
        if whole != here:
            for term in asked(self._reading):
                if has_sizes(term) and not evaluate(term, {}, whole):
                    raise FormulaError(
                        f"the formula holds where {Formula(term).unicode()}, which the program asked of its sizes, or "
                        "took for a number; run it at the sizes that are meant, or take the formula of the function."
                    )
        return whole

    def evalf(self, n: int = 15, /, **values: Any) -> Any:
        """The same to ``n`` digits: a SymPy number, or a NumPy array of them.

        >>> import symgrad as sg
        >>> sg.formula("sqrt(x)", shapes={"x": ()}).evalf(30, x=2.0)
        1.41421356237309504880168872421
        """
        given = {name: np.asarray(value)[()] for name, value in values.items()}
        return evalf(self.term, {**self.constants, **given}, self._sizes(given), n=n)

    def __str__(self) -> str:
        try:
            return str(self.expr)
        except FormulaTooDeep:
            pairs = self.where_list()
            shown = pairs if len(pairs) <= 12 else [*pairs[:11], pairs[-1]]
            rows = [f"{name} = {value}" for name, value in shown]
            if len(pairs) > len(shown):
                rows.insert(-1, f"… ({len(pairs) - len(shown)} more lines)")
            return "\n".join(rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


@_OPTIONS
def formula(value: Any, *args: Any, wrt: Any = None, shapes: Any = None, assume: Any = None) -> Formula:
    """The formula of a tensor, a term, a function or a text, with its SymPy expression, LaTeX and other formats.

    A function is run on tensors called like its parameters: on ``args``, which are arrays, numbers, nested containers
    of them, or shapes (tuples of ints); where these are arrays and shapes alone, it is run at other sizes, too, so that
    ``1 / len(x)`` is 1/n.  Without ``args``, and for a text such as ``"sum((X@w-y)**2)"``, shapes are those that
    ``shapes`` states (``"X=n,m w=m"``), or are found by trying.  ``wrt`` (a parameter's name or position) gives the
    gradient by it, which needs a scalar result; of two (``("x", "x")``) the Hessian, which ``sg.func.hessian(f)`` in
    the place of the function gives, too.  ``assume`` states structures of arguments, as ``{"S": "symmetric"}``.  Raises
    ``ArgumentError`` for what has no formula, ``FormulaError`` for a text that cannot be read, a structure that is not
    known, or letters that are stated for sizes that the function makes plain numbers of, and ``NameProblem`` for a
    ``wrt`` that is not there.

    >>> import symgrad as sg
    >>> X = sg.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]], name="X")
    >>> w = sg.tensor([1.0, 3.0], requires_grad=True, name="w")
    >>> (X @ w).sum().backward()
    >>> sg.formula(w.grad)
    sum(X, 0)
    >>> sg.formula(lambda A, x: (A @ x).sum(), (3, 2), (2,), wrt="x").unicode()
    'Aᵀ 𝟏'
    >>> sg.formula("norm(A@x-b)**2", wrt="x").unicode()
    '2 Aᵀ (A x − b)'
    >>> sg.formula("x@S@x", wrt="x", assume={"S": "symmetric"}).unicode()
    '2 S x'
    """
    assume = dict(assume or {})
    if not args and (isinstance(value, str) or (callable(value) and (shapes is not None or parameters(value, 1)))):
        about = asked_about(value, shapes, wrt is not None)
        refuse_numbers(about, shapes)
        about = about.assuming(assume)
        head = head_latex(about.name)
        targets = [] if wrt is None else [about.target(w) for w in _each(wrt)]
        of = derivative_of(head, targets, about.symbols)
        head = head if of is None else of.head("leibniz")
        slope = (about.term, targets[0]) if len(targets) == 1 and about.term.shape == () else None
        found = about.derivative(wrt)
        orders = _orders(about.term, targets)
        return Formula(found, about.symbols, head, about.reading, wrt is not None, of, slope, orders)
    if isinstance(value, (Term, Recorded)) or not callable(value):
        if args or wrt is not None:
            raise ArgumentError(
                "the formula of a tensor takes no further arguments; of a function, latex(f, *args, wrt=...); of a "
                "text, latex(text, wrt=..., shapes=...)."
            )
        if isinstance(value, Term):
            return Formula(*assuming(value, [t for t in postorder([value]) if t.op is SYMBOL], assume))
        if not isinstance(value, Recorded):
            raise ArgumentError(
                f"formulas are those of tensors, terms, functions and texts, not of {type(value).__name__}"
                f"{_INSTEAD if value is not None else _NO_GRADIENT}."
            )
        reading, term = read(value)
        term, symbols = assuming(term, reading.symbols, assume)
        derivative = value._node is None and origin_of(value) is not None
        slope = None if assume else slope_of(reading, value)
        return Formula(term, symbols, None, reading, derivative, slope=slope)
    with arrays_meant(args):
        reading, term = run_on(value, args)
    name = name_of(value)
    term, symbols = assuming(term, reading.symbols, assume)
    if wrt is None:
        name, targets = _derived(value, symbols, len(args))
        of = derivative_of(name, targets, symbols)
        return Formula(term, symbols, name if of is None else of.head("leibniz"), reading, of is not None, of)
    targets = [_target(symbols, w, [*parameters(value, len(args))]) for w in _each(wrt)]
    term = one_entry(term)
    if term.shape != ():
        raise ArgumentError(
            f"{called(value)} gives an array of shape {shape_text(term.shape)}; the gradient with respect to "
            f"{targets[0].name} is that of a scalar. Reduce the result, for example with .sum(), or ask for the "
            "Jacobian: func.jacobian(f, argnums) in the place of f, without wrt=."
        )
    slope = (term, targets[0]) if len(targets) == 1 else None
    orders = _orders(term, targets)
    for target in targets:
        if is_complex(term):
            raise AutogradError(NOT_REAL.format(term.dtype) + "; sg.autograd.wirtinger gives both derivatives.")
        term = jacobian(term, target)
    of = derivative_of(name, targets, symbols)
    return Formula(term, symbols, name if of is None else of.head("leibniz"), reading, True, of, slope, orders)


def _orders(term: Term, targets: Sequence[Term]) -> tuple[Term, Sequence[Term]] | None:
    """A number and the numbers by which it is differentiated, where they are so many that this is done step by step."""
    return (term, targets) if len(targets) > 2 and not any(t.shape for t in (term, *targets)) else None


def _as_matrix(term: Term) -> Term:
    """A Jacobian of columns, of shape (n, 1, m, 1), as the matrix that it is on paper."""
    units = tuple(k for k, n in enumerate(term.shape) if n == 1)
    return as_term(lookup("squeeze")(term, dim=units)) if units and term.ndim - len(units) <= 2 < term.ndim else term


def _each(wrt: Any) -> tuple[Any, ...]:
    """The arguments by which is differentiated in turn."""
    return tuple(wrt) if isinstance(wrt, (tuple, list)) else (wrt,)


def digest(value: Any, *args: Any, wrt: Any = None, shapes: Any = None, values: bool = False) -> str:
    """A fingerprint of what a tensor, a term, a function or a text computes: 64 hexadecimal digits (SHA-256).

    It is the same in every process and on every machine, and goes through ``pickle`` with the tensor.  Operations,
    constants, dtypes and the pattern of sizes count; names and sizes that are letters in the formula do not.
    ``values=True`` counts the values of a tensor's leaves and constants, too.  The other arguments are as for
    :func:`formula`.  Raises ``FormulaError`` for functions that cannot be told apart by their name, and
    ``ArgumentError`` for the values of what has none.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = sg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> sg.digest(x.sin() * 2) == sg.digest(y.sin() * 2)
    True
    >>> sg.digest(x.sin() * 2, values=True) == sg.digest(y.sin() * 2, values=True)
    False
    >>> sg.digest(x.sin() * 2)[:16]
    'e750a74acac4f0c4'
    """
    from symgrad.formula.digest import digest_of

    found = formula(value, *args, wrt=wrt, shapes=shapes)
    if not values:
        return digest_of([found.term])
    if not isinstance(value, Recorded):
        raise ArgumentError("digest(..., values=True) is for tensors; terms, functions and texts have no values.")
    sources = found._reading.sources  # type: ignore[union-attr]

    def array(symbol: Term) -> Any:
        leaf = sources[str(symbol.name)]
        alive = leaf.ref() if isinstance(leaf, Source) else leaf
        kept = leaf.kept if alive is None else alive._value
        if kept is None:
            raise ArgumentError(f"digest: the constant {symbol.name} is gone, and its values with it; keep the tensor.")
        return np.asarray(kept)

    return digest_of([found.term], array)


def where_list(tensor: Any, names: Any = None) -> list[tuple[Any, Any]]:
    """A formula as short statements: ``(symbol, expression)`` pairs in SymPy, parts t1, t2, … first, the result last.

    Every part that occurs more than once or lies deep has a name, so the list is linear in the computation and never
    too deep to print.  ``names`` chooses other names: a letter that is numbered, a list of names, or a dict that says
    which part has which name.

    >>> import symgrad as sg
    >>> x = sg.tensor(0.5, requires_grad=True, name="x")
    >>> y = x.sin() * x
    >>> sg.where_list(y.exp() + y)
    [(t1, x*sin(x)), (t2, t1 + exp(t1))]
    >>> sg.where_list(y.exp() + y, names={"s": "sin(x)", "y": "x*s"})
    [(s, sin(x)), (y, s*x), (t1, y + exp(y))]
    """
    return formula(tensor).where_list(names)


@_OPTIONS
def latex(
    value: Any,
    *args: Any,
    wrt: Any = None,
    shapes: Any = None,
    assume: Any = None,
    header: bool | str = False,
    **options: Any,
) -> str:
    r"""The LaTeX of the formula of a tensor, a function or a text; the arguments are as for :func:`formula`.

    ``header=True`` prints what it is on the left of ``=``; ``header="nabla"`` and ``header="D"`` with these signs, and
    ``layout="numerator"`` or "denominator" is another order of the axes, see :meth:`Formula.latex`.  Further options:
    ``canonical=False`` (as it was run), ``where=`` and ``lines=`` (named parts), ``names=`` (what they are called: a
    letter, a list, or a dict such as ``{"r": "X@w - y"}``), ``width=`` (of a line, in points), ``bold=True`` (arrays in
    bold), ``loops=`` (True or False: whether steps that are alike are printed as a recurrence, which is done where that
    is shorter), ``environment="align"`` (or "align*", "equation", "equation*": a whole environment for a document),
    ``conditions=True`` (when the formula holds, see ``Tensor.valid_when``), ``constants=True`` (what ``c1``,
    ``c2`` … are), and ``caption=True`` (how its axes are meant).

    >>> import symgrad as sg
    >>> sg.latex(lambda X, w, y: ((X @ w - y) ** 2).sum(), (5, 3), (3,), (5,), wrt="w")
    '2 X^{\\top} \\left(X w - y\\right)'
    >>> sg.latex("log(det(S))", wrt="S", assume={"S": "symmetric"})
    'S^{-1}'
    """
    return formula(value, *args, wrt=wrt, shapes=shapes, assume=assume).latex(header=header, **options)


def _target(symbols: Sequence[Term], wrt: str | int, parameters: Sequence[str]) -> Term:
    number = isinstance(wrt, int) and -len(parameters) <= wrt < len(parameters)
    return named(symbols, parameters[wrt] if number else wrt)  # type: ignore[index]


def _derived(function: Any, symbols: Sequence[Term], count: int) -> tuple[str, list[Term]]:
    """The name of a function, and the variables by which it is the derivative of the one that has this name."""
    targets: list[Term] = []
    made = transform_of(function)
    while made is not None and made.kind in ("grad", "jacobian", "hessian") and isinstance(made.argnums, int):
        function = made.function
        target = _target(symbols, made.argnums, parameters(function, count))
        targets += [target] * (2 if made.kind == "hessian" else 1)
        made = transform_of(function)
    return name_of(function), targets[::-1]


def _sizes_of(symbols: Sequence[Term], given: dict[str, Any]) -> dict[str, int]:
    """The letters of the sizes that values have; an error where a symbol has another size, by all that is known."""
    axes = [
        (s, k, size, n)
        for s in symbols
        if s.name in given and len(s.shape) == given[s.name].ndim
        for k, (size, n) in enumerate(zip(s.shape, given[s.name].shape, strict=True))
    ]
    sizes: dict[str, int] = {}
    for _, _, size, n in axes:
        if isinstance(size, str) and size.isidentifier():
            sizes.setdefault(size, n)
    for s, k, size, n in axes:
        if isinstance(size, str) and not sizes.keys() >= letters_of(size):
            continue
        if n != (held := size_value(size, sizes)):
            told = f"{size} = {held}" if isinstance(size, str) else str(size)
            raise FormulaError(
                f"{s.name} of shape {given[str(s.name)].shape} has size {n} in axis {k}, where the formula holds for "
                f"{told}; a size that the function makes a plain number, or that an index fixes, is no letter"
            )
    return sizes

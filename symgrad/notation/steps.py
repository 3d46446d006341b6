"""Derivations line by line: the reverse sweep, or the differential, as one would write them on a board.

Values between the linear parts of a function get names; every line is a formula over these names, and every line is
checked by numbers before it is shown: values against the program, derivatives against differences of the function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, FormulaError, LineFailed
from symgrad.formula.canonical.budget import exceeds
from symgrad.formula.derive import depends_on, directional, gradient
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import INLINE_SIZE, is_long, written
from symgrad.formula.printing.names import name_latex, texts
from symgrad.formula.printing.naming import PREFIXES, Names, chosen_parts
from symgrad.formula.printing.wherelist import Statements, canonical_or_raw
from symgrad.formula.printing.width import COLUMN, broken, width
from symgrad.formula.term import SYMBOL, Term, postorder, substitute, symbol
from symgrad.notation.checked import Point, direction, largest, points_of, slope_error, tangent_error, value_error
from symgrad.op import lookup
from symgrad.sources import Source, source
from symgrad.sources.asked import names_of
from symgrad.sources.running import head_latex
from symgrad.tape.watching.conditions import Conditions, conditions

TOLERANCE = 1e-5
"""The relative error at which a line is wrong: it is compared with differences of the function."""


@dataclass(frozen=True)
class Line:
    """One line: ``left = right``.

    ``kind`` is "value", "adjoint", "differential" or "result", ``reason`` says where it comes from, and ``checked`` is
    the largest relative error that its check found.
    """

    left: str
    right: Term
    kind: str
    reason: str
    checked: float


class Derivation:
    """A derivation: its lines, printed as text, LaTeX (``align``), Markdown, or in a notebook.

    ``valid_when`` are the branches that the program took, which are printed below the lines.
    """

    def __init__(
        self, lines: Sequence[Line], names: dict[str, str], lefts: dict[str, str], result: Term, valid_when: Conditions
    ):
        self.lines = list(lines)
        self.result = result
        self.valid_when = valid_when
        self._names = names
        self._lefts = lefts

    @property
    def checked(self) -> bool:
        """Whether every line agrees with numbers (otherwise it would not have been made)."""
        return all(np.isfinite(line.checked) for line in self.lines)

    def latex(self, bold: bool = False) -> str:
        """The lines in an ``align`` environment."""
        return f"\\begin{{align}}\n{self._rows(bold)}\n\\end{{align}}"

    def _rows(self, bold: bool = False) -> str:
        rows = [
            (f"{left} &=" if row == 0 else "&", text)
            for x in self.lines
            for row, (left, text) in enumerate(broken(self._lefts[x.left], written(x.right, self._names, bold), COLUMN))
        ]
        rows += [("&", self.valid_when.note())] if self.valid_when else []
        return " \\\\\n".join(f"{left} {text}" for left, text in rows)

    def _repr_latex_(self) -> str:
        return f"$$\\begin{{aligned}}\n{self._rows()}\n\\end{{aligned}}$$"

    def markdown(self) -> str:
        """The lines as a numbered list."""
        out = []
        for k, x in enumerate(self.lines, 1):
            tail = f" — {self._reason(x.reason)}" if x.reason else ""
            out.append(f"{k}. ${f'{self._lefts[x.left]} = {written(x.right, self._names)}'.strip()}${tail}")
        out += ["", f"Valid where ${self.valid_when.latex()}$."] if self.valid_when else []
        return "\n".join(out)

    def _reason(self, text: str) -> str:
        """A reason in which names are mathematics."""
        return re.sub(r"\w+", lambda found: f"${self._names[found[0]]}$" if found[0] in self._names else found[0], text)

    def unicode(self) -> str:
        """The lines as text with mathematical signs."""
        return spelled(self.latex(), "unicode")

    def typst(self) -> str:
        """The lines for Typst, to stand between dollar signs."""
        return spelled(self.latex(), "typst")

    def mathml(self) -> str:
        """The lines as a ``<math>`` element."""
        return spelled(self.latex(), "mathml")

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        from symgrad.formula.sympy.texts import text

        rows = [(x.left, text(x.right, canonicalise=False), x.reason) for x in self.lines]
        width = max(len(left) for left, _, _ in rows)
        body = max(len(right) for _, right, _ in rows)
        lines = [
            f"{left:>{width}} = {right:<{min(body, 48)}}{'   # ' + reason if reason else ''}".rstrip()
            for left, right, reason in rows
        ]
        lines += ["valid where " + ", ".join(c.unicode() for c in self.valid_when)] if self.valid_when else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def derive(
    value: Any,
    *args: Any,
    wrt: Any,
    style: str = "reverse",
    shapes: Any = None,
    names: Any = None,
    assume: Any = None,
) -> Derivation:
    r"""The derivation of the gradient of a function, tensor or text with respect to ``wrt``, line by line.

    ``value`` and ``args`` are as for :func:`symgrad.latex`, or a text such as ``"sum((X@w-y)**2)"`` with ``shapes``.
    ``style`` is "reverse" (names for intermediate values, then adjoints from the result back) or "differential" (from
    ``dX`` forward to ``df = tr(… dX)``).  ``names`` chooses the names of the values: a letter instead of z, a list, or
    a dict such as ``{"r": "A@x - b"}``.  ``assume`` states structures, as ``{"S": "symmetric"}``.  Raises
    ``ArgumentError`` when the value is not a scalar, and ``FormulaError`` if a line fails its check.

    >>> import symgrad as sg
    >>> print(sg.derive("norm(A@x-b)**2", wrt="x"))
       z1 = A @ x - b
        f = norm(z1)**2
    z1bar = 2*z1          # from f
    df/dx = A.T @ z1bar   # from z1
          = 2*(A.T @ (A @ x - b))
    """
    if style not in ("reverse", "differential"):
        raise ArgumentError(f"style is 'reverse' or 'differential', not {style!r}.")
    about = source(value, args, shapes, scalar=True).assuming(dict(assume or {}))
    if about.term.shape != ():
        raise ArgumentError(
            f"a derivation starts from a scalar, not from an array of shape {about.term.shape}; add up its entries, or "
            "multiply it by a cotangent."
        )
    target = about.target(names_of(wrt))
    made = _Board(about, target, names)
    return made.reverse() if style == "reverse" else made.differential()


def linear(t: Term, useful: set[Term]) -> bool:
    """Whether a term is linear in those of its arguments that depend on the variable."""
    moving = [k for k, a in enumerate(t.args) if a in useful]
    if t.op.linear or t.op.name in ("add", "sub", "neg"):
        return True
    if t.op.name == "div":
        return moving == [0]
    if t.op.kind == "multilinear" or t.op.name == "mul":
        return len(moving) <= 1
    return False


class _Board:
    """The named values of one function, and its lines."""

    def __init__(self, about: Source, target: Term, names: Any = None):
        self.about = about
        self.target = target
        self.root = about.term
        self.order = postorder([self.root])
        self.useful = depends_on(self.order, {target})
        used = [*self.order, *about.symbols]
        self.namer = Names(names, used, ("z", *PREFIXES))
        self.chosen = chosen_parts(names, used) if isinstance(names, Mapping) else {}
        self.named: list[tuple[Term, Term]] = []
        self.bodies: dict[Term, Term] = {}
        self._name_values()
        self.points = points_of(about, self.root, target)
        for point in self.points:
            point.values.update((str(z.name), point.known[t]) for t, z in self.named)
        self.valid_when = Conditions([]) if about.reading is None else conditions(about.reading, False)
        self.lines: list[Line] = []
        self.lefts: dict[str, str] = {}
        plain = texts([str(s.name) for s in (*about.symbols, *(z for _, z in self.named))])
        self.names = dict(plain)
        self.f = about.name if about.name.isidentifier() and about.name not in plain else "f"

    def _name_values(self) -> None:
        uses: dict[Term, int] = {}
        users: dict[Term, Term] = {}
        bent: set[Term] = set()
        for t in self.order:
            curved = t in self.useful and t.args and not linear(t, self.useful)
            if curved:
                bent.add(t)
            for a in t.args:
                uses[a] = uses.get(a, 0) + 1
                users[a] = t
                if curved and a in self.useful:
                    bent.add(_under(a))
        image: dict[Term, Term] = {}
        for t in self.order:
            args = tuple(image[a] for a in t.args)
            now = t.again(args)
            shared = uses.get(t, 0) > 1
            wanted = t in self.useful and (shared or (t in bent and not _goes_with(t, users.get(t))))
            if wanted and uses.get(t) == 1 and users[t].op.name == "squeeze":
                bent.add(users[t])  # x = A⁻¹b, and not the column that the program solves for
                wanted = False
            chosen = self._chosen(t)
            if t.args and t is not self.root and (chosen or (wanted and not _trivial(now))):
                z = symbol(chosen or self.namer.next(), t.shape, t.dtype or np.dtype(float))
                self.named.append((t, z))
                self.bodies[z] = now
                now = z
            image[t] = now
        self.body = image[self.root]
        if self.chosen:
            missing = next(iter(self.chosen.values()))
            raise FormulaError(
                f"names= has {missing!r}, and no value of the function that depends on wrt is that part."
            )

    def _chosen(self, t: Term) -> str | None:
        """The name that was chosen for a value."""
        if not self.chosen or t not in self.useful or all(t.shape != goal.shape for goal in self.chosen):
            return None
        return self.chosen.pop(canonical_or_raw(t), None)

    # -------------------------------------------------------------------------------------- lines

    def add(
        self, left: str, tex: str, right: Term, kind: str, reason: str, error: Callable[[Term, Point], float]
    ) -> None:
        """Write a line down; one that fails its check is an error instead."""
        worst = largest(error, right, self.points)
        if not worst <= TOLERANCE:
            raise LineFailed(f"the line {left} = … of this derivation failed its numerical check (error {worst:.1e})")
        self.lefts[left] = tex
        self.lines.append(Line(left, right, kind, reason, worst))

    def know(self, name: str, right: Term) -> None:
        """From here on a name stands in lines, and has the number of its formula at every point."""
        for point in self.points:
            point.values[name] = point.number(right)

    def forward(self) -> None:
        """The named values."""
        for original, z in self.named:
            right = canonical_or_raw(self.bodies[z])
            self.add(str(z.name), self.names[str(z.name)], right, "value", "", value_error(original))
        self.add(self.f, self.f_tex, canonical_or_raw(self.body), "value", "", value_error(self.root))

    @property
    def f_tex(self) -> str:
        """The LaTeX of the function's name."""
        return head_latex(self.f)

    def reverse(self) -> Derivation:
        """Values, then adjoints from the last to the variable."""
        self.forward()
        parts: dict[Term, list[tuple[Term, str]]] = {}
        self._pull(self.body, None, self.f, parts)
        for original, z in reversed(self.named):
            found = self._total(parts.pop(z, []))
            if found is None:
                continue
            right, reason = found
            if right.op is SYMBOL or right.op.name in ("number", "full", "eye"):
                bar = right
            else:
                name = f"{z.name}bar"
                bar = symbol(name, z.shape, z.dtype)
                tex = name_latex(f"{z.name}_bar")
                self.names[name] = tex
                self.add(name, tex, right, "adjoint", reason, slope_error(self.root, original))
                self.know(name, right)
            self._pull(self.bodies[z], bar, str(z.name), parts)
        found = self._total(parts.pop(self.target, []))
        left, tex = (
            f"{'d'}{self.f}/d{self.target.name}",
            rf"\frac{{\partial {self.f_tex}}}{{\partial {self.names[str(self.target.name)]}}}",
        )
        result = canonical_or_raw(gradient(self.root, [self.target])[0])
        if found is not None and found[0] is not result:
            self.add(left, tex, found[0], "result", found[1], slope_error(self.root, self.target))
            left, tex = "", ""
        if left or not exceeds(result, INLINE_SIZE):
            shown = self._in_names(result)
            if left or not (shown is self.lines[-1].right or is_long(shown)):
                self.add(left, tex, self._cut(shown), "result", "", slope_error(self.root, self.target))
        return Derivation(self.lines, self.names, self.lefts, result, self.valid_when)

    def _in_names(self, term: Term) -> Term:
        """A formula that is too wide for a line, with the named values in it by their names."""
        if not is_long(term) and width(written(term, self.names)) <= COLUMN:
            return term
        for original, z in reversed(self.named):
            (term,) = substitute([term], {canonical_or_raw(original): z})
        return term

    def _cut(self, term: Term) -> Term:
        """A formula that is too long for a line, over parts of it that get lines of their own."""
        if not is_long(term):
            return term
        statements = Statements(term)
        for whole, (name, part) in zip(statements.named, statements.parts[:-1], strict=False):
            self.names[name] = name_latex(name)
            self.add(name, self.names[name], part, "value", "", value_error(whole))
            self.know(name, part)
        return statements.parts[-1][1]

    def _pull(self, body: Term, seed: Term | None, name: str, parts: dict[Term, list[tuple[Term, str]]]) -> None:
        """What one named value sends to the values it is made of."""
        below = [t for t in postorder([body]) if t.op is SYMBOL and (t is self.target or t in self.bodies)]
        if body in below:
            parts.setdefault(body, []).append((seed if seed is not None else body, name))
            return
        for t, g in zip(below, gradient(body, below, seed), strict=True):
            parts.setdefault(t, []).append((g, name))

    def _total(self, parts: list[tuple[Term, str]]) -> tuple[Term, str] | None:
        if not parts:
            return None
        total: Any = parts[-1][0]
        for part, _ in reversed(parts[:-1]):
            total = total + part
        return self._recognised(canonical_or_raw(total)), f"from {', '.join(n for _, n in reversed(parts))}"

    def _recognised(self, term: Term) -> Term:
        """A formula in which the values that have names stand by them: 1 - z2² for 1 - tanh(z1)²."""
        named = {canonical_or_raw(body): z for z, body in self.bodies.items()}
        (found,) = substitute([term], named)
        return found  # type: ignore[no-any-return]

    # -------------------------------------------------------------------------------------- differentials

    def differential(self) -> Derivation:
        """Values, then differentials from the variable to the result."""
        self.forward()
        moved: dict[Term, Term] = {self.target: self._d(self.target)}
        for point in self.points:
            point.values[f"d{self.target.name}"] = direction(point.values[str(self.target.name)])
        for original, z in self.named:
            below = [t for t in postorder([self.bodies[z]]) if t in moved]
            right = self._recognised(canonical_or_raw(directional(self.bodies[z], below, [moved[t] for t in below])))
            if right.op is SYMBOL:
                moved[z] = right
                continue
            moved[z] = self._d(z)
            name = f"d{z.name}"
            error = tangent_error(original, self.target)
            self.add(name, self.names[name], right, "differential", f"d of {z.name}", error)
            self.know(name, right)
        below = [t for t in postorder([self.body]) if t in moved]
        right = canonical_or_raw(directional(self.body, below, [moved[t] for t in below]))
        left, tex = f"d{self.f}", rf"\mathrm{{d}}{self.f_tex}"
        error = tangent_error(self.root, self.target)
        self.add(left, tex, right, "differential", f"d of {self.f}", error)
        result = canonical_or_raw(gradient(self.root, [self.target])[0])
        slope = rf"\frac{{\partial {self.f_tex}}}{{\partial {self.names[str(self.target.name)]}}}"
        paired = self._in_names(_paired(result, moved[self.target]))
        if is_long(paired) or width(written(paired, self.names)) > COLUMN - width(tex):
            # The gradient is too long for a factor, and stands in the next line.
            whole = symbol(f"(d{self.f}/d{self.target.name})", result.shape, result.dtype or np.dtype(float))
            self.names[str(whole.name)] = rf"\left({slope}\right)"
            self.know(str(whole.name), result)
            paired = _paired(whole, moved[self.target])
        form = {0: "… d{0}", 1: "(…)ᵀ d{0}", 2: "tr((…)ᵀ d{0})"}.get(result.ndim, "sum of … d{0}").format(
            self.target.name
        )
        self.add("", "", paired, "differential", form, error)
        shown = self._cut(self._in_names(result))
        name = f"d{self.f}/d{self.target.name}"
        self.add(name, slope, shown, "result", "", slope_error(self.root, self.target))
        return Derivation(self.lines, self.names, self.lefts, result, self.valid_when)

    def _d(self, t: Term) -> Term:
        name = f"d{t.name}"
        self.names[name] = rf"\mathrm{{d}}{self.names[str(t.name)]}"
        return symbol(name, t.shape, t.dtype or np.dtype(float))


def _under(t: Term) -> Term:
    """A value without the axes of size 1 that a program adds to it for a call."""
    while t.op.name == "unsqueeze":
        (t,) = t.args
    return t


def _trivial(t: Term) -> bool:
    """Whether a value is not worth a name: a sign, a transpose, or a multiple of something named."""
    if t.op is SYMBOL:
        return True
    if t.op.name in ("neg", "permute", "cast", "reshape", "squeeze", "unsqueeze"):
        return _trivial(t.args[0])
    return (
        t.op.name in ("mul", "div")
        and any(a.number is not None for a in t.args)
        and all(a.number is not None or _trivial(a) for a in t.args)
    )


def _goes_with(t: Term, user: Term | None) -> bool:
    """Whether a value stays inside the one line that uses it: a multiple of it, a sign, or a norm that is squared."""
    if user is None:
        return False
    name = user.op.name
    scaled = (
        name in ("mul", "div") and any(a.number is not None for a in user.args) and user.args[0] is t
    ) or name == "neg"
    squared = t.op.name == "norm" and name in ("pow", "square") and (name == "square" or user.args[1].number == 2)
    return scaled or squared


def _paired(g: Term, d: Term) -> Term:
    """``tr(Gᵀ dX)``, ``gᵀ dx`` or ``g dx``; of complex arrays the real part, with conjugates."""
    if g.complex_dtype:
        total: Any = lookup("sum")(lookup("conj")(g) * d, dim=tuple(range(g.ndim)), keepdim=False)
        return lookup("real")(canonical_or_raw(total) if g.ndim else lookup("conj")(g) * d)  # type: ignore[no-any-return]
    if g.ndim == 2:
        return lookup("trace")(lookup("matmul")(_turned(g), d))  # type: ignore[no-any-return]
    if g.ndim == 1:
        return lookup("matmul")(g, d)  # type: ignore[no-any-return]
    return lookup("sum")(g * d, dim=tuple(range(g.ndim)), keepdim=False) if g.ndim else g * d  # type: ignore[no-any-return, operator]


def _turned(g: Term) -> Term:
    return canonical_or_raw(g.T)

"""The canonical form of a formula: the shortest textbook matrix form, with the same value.

Every term is read once, arguments first, as a sum of einsum products (:mod:`symgrad.formula.canonical.normal`);
rewrites act on products and sums and state when they are valid; :mod:`symgrad.formula.canonical.writing` writes the
result in matrix notation.  All rewrites hold in exact arithmetic; the result may differ from the program in rounding
and where it overflows.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symgrad.formula.canonical.budget import (
    CASE_STEPS,
    INLINE,
    LARGEST,
    ONE_RUN,
    PASSES,
    SHARED,
    SMALL,
    STEPS,
    TERMS,
    carried_over,
    exceeds,
    shared_terms,
)
from symgrad.formula.canonical.cases.guards import unguarded
from symgrad.formula.canonical.chains import (
    Layout,
    count_transposes,
    counted,
    is_transpose,
    is_truth,
    price,
    turned,
    turned_sums,
)
from symgrad.formula.canonical.entries.slices import keeps_order, without_spread
from symgrad.formula.canonical.entries.stacks import stacked
from symgrad.formula.canonical.matrices.resolvents import without_resolvents
from symgrad.formula.canonical.matrices.symmetries import Symmetries
from symgrad.formula.canonical.matrices.triangles import other_half
from symgrad.formula.canonical.normal import (
    Factor,
    Form,
    Product,
    collected,
    constant_form,
    content,
    contract_products,
    exact_power,
    factor_out,
    inner_shape,
    is_never_negative,
    plain_power,
    product_key,
)
from symgrad.formula.canonical.reading import READERS, read_arguments
from symgrad.formula.canonical.rewriting import merged, simpler_function
from symgrad.formula.canonical.scalars.collecting import shortest
from symgrad.formula.canonical.scalars.identities import cotangents, doubled_angle
from symgrad.formula.canonical.scalars.numerals import exact_root, read_number, root_of_multiple
from symgrad.formula.canonical.scalars.powers import in_front, root_of, roots_apart
from symgrad.formula.canonical.scalars.rational import in_lowest_terms
from symgrad.formula.canonical.sums.expanding import absorbed, distributed, expanded, flattened, opened
from symgrad.formula.canonical.sums.factoring import factored, scalars_apart
from symgrad.formula.canonical.sums.fewer import fewer
from symgrad.formula.canonical.sums.mirrored import opened as opened_sides
from symgrad.formula.canonical.sums.presenting import Presenter
from symgrad.formula.canonical.writing import form_term, whole
from symgrad.formula.term import NUMBER, SYMBOL, Term, flatten, number, postorder
from symgrad.op import Op, lookup


@functools.lru_cache(maxsize=256)
def canonical(term: Term) -> Term:
    """The shortest textbook matrix form of a formula, as a term of the same shape.

    Array operands of elementwise ops have equal shapes in it (numbers and 0-d terms aside), ``matmul`` has matrices on
    the left, and what has no matrix notation is an ``einsum``.

    >>> from symgrad.formula.term import symbol
    >>> x, A = symbol("x", ("n",)), symbol("A", ("n", "n"))
    >>> canonical(A @ x + A.T @ x).op.name, canonical(A @ x + A.T @ x).args[0].op.name
    ('matmul', 'add')
    """
    return shortest(term, _settled(term), _settled)


def _settled(term: Term) -> Term:
    """The canonical form of the canonical form, until it is itself; of forms that lead to each other the first."""
    first = Canonicaliser()
    seen = [first.run(term)]
    if first.steps <= 0 and price(seen[0]) > ONE_RUN:
        return seen[0]
    while len(seen) < PASSES and not exceeds(seen[-1], SMALL):
        again = Canonicaliser().run(seen[-1])
        if again in seen:
            return min(seen[seen.index(again) :], key=lambda t: (price(t), repr(flatten([t]))))
        seen.append(again)
    return seen[-1]


class Canonicaliser:
    """One run: the forms of all terms below a root, and what is known about opaque factors."""

    def __init__(self) -> None:
        self.lowest: set[Term] = set()
        """Terms that are fractions in lowest terms already."""
        self.steps_of: set[Any] = set()
        """What step functions were taken of, by the keys of forms."""
        self.forms: dict[Term, Form] = {}
        self.insides: dict[Term, Form] = {}
        self.products, self.contractions = dict[Term, Form](), dict[Term, Form]()
        self._atoms: dict[Any, Factor] = {}
        self._ordinals: dict[Term, int] = {}
        self.arguments: dict[Term, list[Form]] = {}
        self.paths: dict[Term, list[tuple[Term, bool]]] = {}
        self.symmetries = Symmetries(self)
        self.layout = Layout(self.symmetries.symmetric)
        self.steps, self.case_steps = STEPS, CASE_STEPS
        self._carried: dict[Term, Term] = {}
        self.given: dict[Term, Fraction] = {}
        """What part of a sum in whole numbers the program has, where it comes first."""
        self.presenter = Presenter(self)
        self.small = True
        self.brackets = 0
        self._cancelling = self.telling = False
        self.asking: dict[Term, bool] = {}

    def run(self, root: Term) -> Term:
        """The canonical term of ``root``."""
        order = postorder([root])
        self.small = len(order) <= SMALL
        shared = set() if self.small else shared_terms(order)
        for term in order:
            if self.steps > 0:
                form = self._read(term)
                self.forms[term] = self._as_one(form) if term in shared else form
            else:
                exact = term.op.kind != "elementwise"
                self._carried[term] = carried_over(term, tuple([self._done(a, exact) for a in term.args]))
        if root in self._carried:
            return self._carried[root]
        form = self.forms[root]
        found = self._written(form)
        if self.small:
            # a(b + c) - ab is ac: what is much shorter when multiplied out first, is so.
            other = opened(form, self)
            shorter = found if other is None else self._written(other)
            return shorter if price(shorter) + 2 < price(found) else found
        return found

    def _written(self, form: Form) -> Term:
        """The term of the result."""
        found = self.term(form)
        if len(form.shape) == 2 and 0 < len(form.terms) <= TERMS:
            # (XB + BX)ᵀ rather than BᵀXᵀ + XᵀBᵀ, and (X⁻¹AX⁻¹)ᵀ rather than X⁻ᵀAᵀX⁻ᵀ, always.  In a sum X⁻ᵀ is as short
            # as X⁻¹: X⁻ᵀ - X⁻ᵀabᵀX⁻ᵀ stays, and so does what sums or masks would be transposed for: Aᵀ(E ⊙ [Z > 0]).
            back, alone = self.term(form.restricted((1, 0))), len(form.terms) == 1
            if back.ndim == 2 and price(back) + 1 + alone < price(found, inverses=alone):
                return found if turned_sums(back) > turned_sums(found) else turned(back)
        return found

    def _as_one(self, form: Form) -> Form:
        """A form that several others use: what is long is written once, and is one factor in each of them."""
        if len(form.terms) > SHARED:
            return Form([self._bracket(form)], form.shape)
        if len(form.terms) == 1 and len(form.terms[0].factors) > SHARED:
            return Form([self.packed(form.terms[0], form.shape)], form.shape)
        return form

    def _done(self, term: Term, exact: bool) -> Term:
        """What was made of a term, when the steps are used up; ``exact``: with all its axes."""
        found = self._carried.get(term)
        if found is None:
            found = self._carried[term] = self.like(term, self.forms[term])
        return lookup("expand")(found, shape=term.shape) if exact and found.shape != term.shape else found

    # ---------------------------------------------------------------- bookkeeping

    def ordinal(self, term: Term) -> int:
        """A number for a factor's base, in order of first use."""
        return self._ordinals.setdefault(term, len(self._ordinals))

    def key(self, p: Product) -> Any:
        """Key by which products with equal bodies are merged."""
        self.steps -= 1
        return product_key(p, self.ordinal, self.symmetries.alike)

    def sum_of(self, terms: Sequence[Product], shape: tuple[Any, ...]) -> Form:
        """A form with like terms merged."""
        found = without_resolvents(absorbed(self._collected(unguarded(terms)), self), self)
        less = fewer(found, self, shape)
        if less is not None:
            return self.sum_of(less, shape)
        return Form(found, shape)

    def _collected(self, terms: Sequence[Product]) -> list[Product]:
        """Like terms merged; a multiple of a sum in brackets is opened where some of its terms merge."""
        if len(terms) < 2:
            return collected(terms, self.key)
        once, all_open = (flattened(terms, self.insides, multiples) for multiples in (False, True))
        found = collected(all_open, self.key)
        return collected(once, self.key) if len(once) < len(all_open) == len(found) else found

    # ---------------------------------------------------------------- forms to terms and factors

    def term(self, form: Form) -> Term:
        """The matrix term of a form."""
        constant = form.constant
        axes = form.covered()
        if constant is None and len(form.terms) > 1 and len(axes) < len(form.shape):
            inner = self.product(form.restricted(axes))
            return self.term(Form([inner], inner_shape(form, axes)).spread(axes, form.shape))
        form = self.settled(stacked(form, self))
        form = Form([doubled_angle(cotangents(p, self), self) for p in form.terms], form.shape)
        return self._sum_term(form) if len(form.terms) > 1 else self.plain_term(form)

    def settled(self, form: Form, beside: bool = False) -> Form:
        """The form with common factors taken out and its fractions in lowest terms."""
        form = factored(opened_sides(form, self) or form, self, beside)
        if not self.small or self._cancelling or self.steps <= 0:
            return form
        self._cancelling = True
        found = in_lowest_terms(form, self)
        self._cancelling = False
        return form if found is form else factored(found, self, beside)

    def _sum_term(self, form: Form) -> Term:
        """A sum with a number that all coefficients have in front of a bracket, where that leaves fewer numbers."""
        scale, numbers = abs(content(form.terms)), self.presenter.numbers
        alike = all(abs(p.coef) == scale for p in form.terms)
        if scale != 1 and numbers(form, 1) > (0 if alike else 1 + numbers(form, 1 / scale)):
            return form_term(Form([self._bracket(form)], form.shape), self.layout, self.presenter.product)
        return form_term(form, self.layout, self.presenter.product)

    def product(self, form: Form, beside: bool = False) -> Product:
        """A form as one product: a single term as it is, a sum as an opaque factor; ``beside`` other factors."""
        form = self.settled(form, beside) if len(form.terms) > 1 else form
        if len(form.terms) == 1:
            return form.terms[0]
        if not form.terms:
            return Product(0, (), tuple(range(len(form.shape))))
        return self._bracket(form)

    def _bracket(self, form: Form) -> Product:
        # In a large formula numbers stay where they are: (1 + x/1000)^k has none, 10^-3k (1000 + x)^k outgrows floats.
        scale = content(form.terms) if self.small else 1 if form.terms[0].coef > 0 else -1
        decimal = any(p.decimal for p in form.terms) and abs(scale) != 1
        inner = form if scale == 1 else form.scaled(1 / Fraction(scale))
        axes = inner.covered()
        factor = self.atom(inner.restricted(axes), inner=True)
        self.given.setdefault(factor.base, abs(Fraction(scale)))
        whole = Form([Product(scale, [factor], factor_out(factor), decimal)], inner_shape(form, axes))
        return whole.spread(axes, form.shape).terms[0]

    def atom(self, form: Form, inner: bool = False) -> Factor:
        """A form as one opaque factor with labels 0, 1 …; equal forms and transposes share it."""
        out_key = self.form_key(form)
        found = self._atoms.get(out_key)
        if found is None:
            found = self._new_atom(form, inner)
            self._atoms[out_key] = found
            if len(form.shape) == 2:
                flipped = form.restricted((1, 0))
                flipped_key = self.form_key(flipped)
                if flipped_key == out_key:
                    self.symmetries.note(found.base)
                self._atoms.setdefault(flipped_key, Factor(found.base, found.labels[::-1]))
            elif self._is_difference(form):
                self.symmetries.differences.add(found.base)
        return found

    def has_bracket(self, form: Form) -> bool:
        """Whether a multiple of a sum is an opaque factor already."""
        scale = Fraction(content(form.terms))
        return any(self.form_key(form.scaled(sign / scale)) in self._atoms for sign in (1, -1))

    def stepped(self, form: Form) -> bool:
        """Whether there is a step function of the negative of a form; else one of the form is noted."""
        if self.form_key(form.scaled(-1)) in self.steps_of:
            return True
        self.steps_of.add(self.form_key(form))
        return False

    def _is_difference(self, form: Form) -> bool:
        """Whether an array is its own negative when its first two axes change places."""
        square = len(form.shape) == 3 and form.shape[0] == form.shape[1] and len(form.terms) == 2
        return square and self.same(form.restricted((1, 0, 2)), form.scaled(-1))

    def form_key(self, form: Form) -> Any:
        """Key of a form: that of any other way to write the same sum of products."""
        return frozenset((self.key(p), p.coef) for p in form.terms), form.shape

    def _new_atom(self, form: Form, inner: bool) -> Factor:
        write = self.plain_term if inner else self.term
        labels = tuple(range(len(form.shape)))
        term = write(form)
        if len(labels) == 2:
            flipped = form.restricted((1, 0))
            if is_transpose(term):
                term, labels, form = term.args[0], (1, 0), flipped
            elif count_transposes(term):
                other = write(flipped)
                if all(count_transposes(other, x) < count_transposes(term, x) for x in (True, False)):
                    term, labels, form = other, (1, 0), flipped
        if len(form.terms) > 1:
            self.insides[term] = form
        elif form.terms:
            (self.products if form.terms[0].elementwise else self.contractions)[term] = form
        return Factor(term, labels)

    def plain_term(self, form: Form) -> Term:
        """The matrix term of a form as it is."""
        return form_term(stacked(form, self), self.layout, self.presenter.product)

    # ---------------------------------------------------------------- terms to forms

    def _read(self, term: Term) -> Form:
        op = term.op
        if op is NUMBER:
            return read_number(term, self)
        if op is SYMBOL:
            return self.opaque(term)
        args = read_arguments(self, term)
        shorter = without_spread(self, term, args) if op.along or op.mixes is not None else None
        if shorter is not None:
            return shorter
        reader = READERS.get(op.name)
        if reader is not None:
            found = reader(self, term, args)
            if found is not None:
                return found
        if (op.expanded or op.kind == "function") and op.define is not None:
            return self._defined(term)
        if op.kind == "multilinear":
            return self._multilinear(term, args)
        if op.entrywise:
            return self.elementwise(op, args, term.params, term.shape)
        return self._primitive(term, args) if args else self.opaque(term)

    def _defined(self, term: Term) -> Form:
        """An op by its definition, read in this run."""
        assert term.op.define is not None
        return self.form_of(term.op.define(*term.args, **term.params)).broadcast(term.shape)

    def form_of(self, term: Term) -> Form:
        """The form of a term that is not of the formula, read in this run."""
        for t in postorder([term], self.forms):
            self.forms[t] = self._read(t)
        return self.forms[term]

    def opaque(self, term: Term) -> Form:
        """A term as a factor of its own."""
        if term.op is NUMBER:
            return read_number(term, self)
        if term.op.name == "full":
            found = READERS["full"](self, term, ())
            if found is not None:
                return found
        axes = tuple(k for k, size in enumerate(term.shape) if size != 1)
        base = term
        if len(axes) < term.ndim:
            base = lookup("squeeze")(term, dim=tuple(k for k, size in enumerate(term.shape) if size == 1))
        factor = Factor(base, axes)
        if is_transpose(base):
            factor = Factor(base.args[0], axes[::-1])
        return Form([Product(1, [factor], tuple(range(term.ndim)))], term.shape)

    def _primitive(self, term: Term, args: Sequence[Form]) -> Form:
        op, params = term.op, term.params
        if op.linear:  # real factors in front are pulled out
            front, form = self.apart(args[0])
            inner = self.linear(op, self.like(term.args[0], form), form, params, term.args[1:])
            return self.times(front, inner)
        if "keepdim" in params:  # which is written as an axis of its own
            return self._reduced(term, args[0])
        return self._applied(op, [self.like(t, a) for t, a in zip(term.args, args, strict=True)], params)

    def apart(self, form: Form) -> tuple[Form, Form]:
        """The real numbers in front of an array, and the array without them."""
        p = self.product(form)
        scalars = [f for f in p.factors if not f.labels and f.base.dtype is not None and f.base.dtype.kind != "c"]
        rest = Product(1, [f for f in p.factors if f not in scalars], p.out)
        return Form([Product(p.coef, scalars, (), p.decimal)] if p.coef else (), ()), Form([rest], form.shape)

    def _reduced(self, term: Term, form: Form) -> Form:
        """A reduction along axes, without axes of size 1; a matrix lies as it does next to it: max₀(Aᵀ) is max₁(A).

        ‖-x‖ = ‖x‖, always.  All axes are all axes, whether the program named them or not.
        """
        if term.op.parity == "even" and form.terms and all(p.coef < 0 for p in form.terms):
            form = form.scaled(-1)
        several = isinstance(term.params["dim"], tuple)
        dims = tuple(term.params["dim"]) if several else (term.params["dim"],)
        params = {**term.params, "dim": dims if several else dims[0]}
        argument = self.like(term.args[0], form)
        if argument.ndim == 2 and len(dims) == 1 and dims[0] is not None and count_transposes(argument):
            flipped = self.like(term.args[0].T, form.restricted((1, 0)))
            if count_transposes(flipped) < count_transposes(argument):
                argument, params["dim"] = flipped, (1 - dims[0],) if several else 1 - dims[0]
        keep = params.get("keepdim")
        inner = self._applied(term.op, [argument], params if keep is None else {**params, "keepdim": False})
        self.symmetries.note_reduced(inner, form, dims, term.op.parity == "even")
        return inner.spread([k for k in range(term.ndim) if k not in dims], term.shape) if keep else inner

    def linear(self, op: Op, argument: Term, form: Form, params: dict[str, Any], places: Sequence[Term] = ()) -> Form:
        """A linear op of an array; without operands as places it remembers it; one change of shape is all of them."""
        while op.name == "reshape" and keeps_order(argument):
            argument = argument.args[0]
            form = self.form_of(argument)
        made = op(argument, *(self.like(a, self.forms[a]) for a in places), **params)
        if made.op is op and not places:
            other = other_half(made, form, self)
            if other is not None:
                return self.opaque(other).restricted((1, 0))
            self.arguments[made] = [form]
        return self.opaque(made)

    def like(self, raw: Term, form: Form) -> Term:
        """The term of an argument and its axes of size 1; a mask that stood for numbers in the program does so."""
        found = whole(self.term(form), form.shape)
        return found if is_truth(raw) else counted(found)

    def _applied(self, op: Op, terms: Sequence[Term], params: dict[str, Any]) -> Form:
        return self.opaque(op(*terms, **params))

    # ---------------------------------------------------------------- algebra

    def plus(self, forms: Sequence[Form], signs: Sequence[int], shape: tuple[Any, ...]) -> Form:
        """A signed sum with broadcasting."""
        terms: list[Product] = []
        for form, sign in zip(forms, signs, strict=True):
            if len(form.terms) > TERMS:
                form = Form([self._bracket(form)], form.shape)
            wide = form.broadcast(shape)
            terms += wide.terms if sign == 1 else [p.scaled(sign) for p in wide.terms]
        return self.sum_of(terms, shape)

    def times(self, a: Form, b: Form) -> Form:
        """The elementwise product, with broadcasting."""
        for scale, other in ((a, b), (b, a)):
            if not scale.shape and scale.constant is not None:
                return other.scaled(scale.constant.coef, scale.constant.decimal)
        rank = max(len(a.shape), len(b.shape))
        specs: list[list[int]] = []
        sizes: dict[int, Any] = {}
        fresh = rank
        for form in (a, b):
            labels = []
            for k, size in enumerate(form.shape, rank - len(form.shape)):
                labels.append(k)
                sizes[k] = size if sizes.get(k, 1) == 1 else sizes[k]
            specs.append(labels)
        for form, labels in zip((a, b), specs, strict=True):
            for place, size in enumerate(form.shape):
                if size == 1 and sizes[labels[place]] != 1:
                    labels[place], fresh = fresh, fresh + 1
        out = tuple(range(rank))
        return self.contract([a, b], [tuple(x) for x in specs], out, tuple(sizes[k] for k in out))

    def contract(
        self, forms: Sequence[Form], specs: Sequence[tuple[int, ...]], output: tuple[int, ...], shape: tuple[Any, ...]
    ) -> Form:
        """The einsum of forms; sums go in as opaque factors, and so do products that are too long."""
        if any(not f.terms for f in forms):
            return Form((), shape)
        sizes: dict[int, Any] = {}
        for form, labels in zip(forms, specs, strict=True):
            sizes.update(zip(labels, form.shape, strict=True))
        plain = len(set(output)) == len(output) and len(set(specs[0])) == len(specs[0])
        if len(forms) == 1 and set(specs[0]) <= set(output) and (plain or forms[0].has_diagonal):
            # Transposes and broadcasts distribute over sums, and so does the diagonal where terms of one are diagonal.
            parts = [contract_products([p], specs, output, sizes) for p in forms[0].terms]
            return self.sum_of(parts, shape)
        constants = sum(f.constant is not None for f in forms)
        spread = distributed(forms, specs, output, sizes, self)
        if spread is not None:
            return self.sum_of(spread, shape)
        products = [self.product(f, not f.shape and len(forms) - constants > 1) for f in forms]
        while sum(len(p.factors) for p in products) > INLINE and any(len(p.factors) > 1 for p in products):
            k = max(range(len(products)), key=lambda i: len(products[i].factors))
            products[k] = self.packed(products[k], forms[k].shape)
        found = contract_products(products, specs, output, sizes)
        return self.sum_of(expanded(merged(found, self), self) if found.coef else (), shape)

    def packed(self, p: Product, shape: tuple[Any, ...]) -> Product:
        """A product as one opaque factor, its coefficient aside unless that would outgrow every float in the end."""
        if max(abs(Fraction(p.coef).numerator), Fraction(p.coef).denominator) > LARGEST and p.factors:
            return self._base(p, shape, keep_coef=True)
        form = Form([Product(1, p.factors, p.out)], shape)
        axes = form.covered()
        factor = self.atom(form.restricted(axes))
        whole = Form([Product(p.coef, [factor], factor_out(factor), p.decimal)], inner_shape(form, axes))
        return whole.spread(axes, shape).terms[0]

    def _multilinear(self, term: Term, args: Sequence[Form]) -> Form:
        specs, output = term.op.einsum(*(a.shape for a in args), **term.params)
        return self.contract(args, specs, tuple(x for x in output if x is not None), term.shape)

    def power(self, form: Form, power: int | Fraction) -> Form:
        """A form to a constant power."""
        p = self.product(form)
        if not p.coef:
            if power > 0:
                return Form((), form.shape)
            return self.elementwise(lookup("pow"), [form, constant_form(power)], {}, form.shape)
        whole = power == int(power)
        found = None if whole else root_of(p, form.shape, power, self)
        if found is not None:
            return found
        constant = None if whole else root_of_multiple(p, power)
        if constant is not None:
            return Form([constant], ()).broadcast(form.shape)
        single = p.elementwise and (whole or (len(p.factors) == 1 and p.coef == 1))
        if whole and not p.elementwise:
            p = scalars_apart(p, self)
            single = p.elementwise
        if p.factors and not single:
            roots, p = roots_apart(p) if whole else ([], p)
            p = in_front(roots, self._base(p, form.shape, keep_coef=not whole))
        # (xy)ᵏ = xᵏyᵏ and (xᵃ)ᵏ = xᵃᵏ for integer k; for other k only where a is not an even power (then x ≥ 0),
        # or x is never negative: √‖x‖² = ‖x‖.
        if not whole and p.factors and p.factors[0].power % 2 == 0 and not is_never_negative(p.factors[0].base):
            p = self._base(p, form.shape, keep_coef=True)
        if not whole and not p.factors:
            root = exact_power(p.coef, power)
            known = exact_root(p, power) if root is None else None
            if known is not None:
                return Form([known], ()).broadcast(form.shape)
            if root is None:
                term = lookup("pow")(self.term(Form([Product(p.coef, (), (), p.decimal)], ())), number(power))
                return self.opaque(term).broadcast(form.shape)
            return Form([Product(root, (), p.out, p.decimal)], form.shape)
        factors = [Factor(f.base, f.labels, plain_power(f.power * power)) for f in p.factors]
        coef = Fraction(p.coef) ** int(power) if whole else 1
        return self.sum_of([merged(Product(coef, factors, p.out, p.decimal), self)], form.shape)

    def _base(self, p: Product, shape: tuple[Any, ...], keep_coef: bool) -> Product:
        """A product as one factor whose powers can be taken; with its coefficient inside when ``keep_coef``."""
        if not keep_coef:
            return self.packed(p, shape)
        form = Form([p], shape)
        axes = form.covered()
        factor = self.atom(form.restricted(axes))
        whole = Form([Product(1, [factor], factor_out(factor))], inner_shape(form, axes))
        return whole.spread(axes, shape).terms[0]

    # ---------------------------------------------------------------- functions

    def elementwise(self, op: Op, args: Sequence[Form], params: dict[str, Any], shape: tuple[Any, ...]) -> Form:
        """A function entry by entry: along axes where no argument varies it is applied once and broadcast."""
        wide = [a.broadcast(shape) if a.shape else a for a in args]
        axes = sorted(set().union(*(a.covered() for a in wide if a.shape)))
        inner = [a.restricted(axes) if a.shape else a for a in wide]
        small = tuple(shape[k] for k in axes)
        found = simpler_function(self, op, inner, small)
        if found is None:
            factor = self._function(op, [self._argument(a) for a in inner], params, small)
            found = factor if isinstance(factor, Form) else Form([Product(1, [factor], factor_out(factor))], small)
        return found.spread(axes, shape)

    def _argument(self, form: Form) -> Form:
        """An argument that varies nowhere is a scalar."""
        return form.restricted(()) if not form.covered() else form

    def _function(self, op: Op, args: Sequence[Form], params: dict[str, Any], shape: tuple[Any, ...]) -> Factor | Form:
        terms = [self.term(a) for a in args]
        if op.dtypes == "float":
            terms = [counted(t) for t in terms]
        labels = tuple(range(len(shape)))
        if len(shape) == 2 and any(count_transposes(t) for t in terms):
            flipped = [self.term(a.restricted((1, 0))) if a.shape else t for a, t in zip(args, terms, strict=True)]
            if sum(map(count_transposes, flipped)) < sum(map(count_transposes, terms)):
                terms, labels = flipped, (1, 0)
        made = op(*terms, **params)
        if labels == (1, 0):
            args = [a.restricted((1, 0)) if a.shape else a for a in args]
        if made.op is NUMBER or made.shape != tuple(shape[k] for k in labels):
            return self.opaque(made).broadcast(shape)
        self.symmetries.note_function(made, args)
        self.arguments[made] = list(args)
        return Factor(made, labels)

    def same(self, a: Form, b: Form) -> bool:
        """Whether two forms are equal."""
        return bool(self.form_key(a) == self.form_key(b))


__all__ = ["Canonicaliser", "canonical"]

"""Formulas that keep their digits: what a program evaluates in place of a formula as it was written.

``exp(x)/(1 + exp(x))``, ``sqrt(x**2 + 1) - x``, ``(1 - cos(x))/x**2`` and their derivatives overflow or cancel in
floating point, although their values are ordinary numbers.  :func:`accurate` finds the elementwise parts of a formula,
reads them as ratios of polynomials in exponentials, roots and logarithms, in which everything that can be cancelled is
(:mod:`.ratios`), and writes these so that nothing is lost (:mod:`.writing`).  A part is replaced only where it does
lose digits and its other spelling does not (:mod:`.probing`).  Formulas are printed as they were written.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any

from symgrad.dtypes import is_real_floating
from symgrad.formula.accurate.part import VARIABLES, Part, price_of, readers_of
from symgrad.formula.accurate.probing import (
    NEARER,
    NORMAL,
    SINGLE,
    USUAL,
    has_gaps,
    is_false,
    is_narrower,
    loses,
    lost_ends,
    suffices,
)
from symgrad.formula.accurate.reading import READABLE, SLOPES, Reader, TooLong, Unreadable, has_halves
from symgrad.formula.accurate.writing import rewritten
from symgrad.formula.stable import CANDIDATES, TAILS, complement, respelled, unspread
from symgrad.formula.term import NUMBER, SYMBOL, Term, number, own_symbol, postorder, rebuilt, substitute
from symgrad.op import lookup
from symgrad.op.operators import WRITTEN

DEAR = 1.5
"""What costs so many times as much as it was written has to keep digits at places that functions are called at."""
DEARER = 10
"""What costs so many times as much has to keep many digits where variables are of usual size, if it is long."""
LONG = 256
"""More products than a choice of two spellings of a function takes, or a series."""


def accurate(
    roots: Sequence[Term],
    activations: bool = True,
    order: Sequence[Term] | None = None,
    derived: bool = False,
    first: bool = False,
    lost: bool = False,
) -> list[Term]:
    """The terms with every elementwise part written so that it keeps its digits, where it would not.

    Without ``activations``, parts with no other functions than σ, tanh and softplus are left as they are: what networks
    are made of has to be quick, and 1 - tanh² is off by no more than a rounding error of 1.  Among powers and roots,
    which no exponential outgrows, their values are numbers like any others.

    In ``derived`` programs a function of a part, such as √u in u'/√u, may be computed for the value anyway.  Another
    spelling with new functions in its place then has to be better at places where the value is, too.

    ``order``: the terms of the roots, where they are known; ``first``: no more than one part is written otherwise, for
    those who ask whether there is any; ``lost``: parts are written otherwise at the entries alone where they are no
    numbers, for what is derived once more.

    >>> import numpy as np
    >>> from symgrad.formula.term import evaluate, symbol
    >>> x = symbol("x")
    >>> naive = lookup("exp")(x) / (1 + lookup("exp")(x))
    >>> evaluate(naive, {"x": np.float64(1000)}), evaluate(accurate([naive])[0], {"x": np.float64(1000)})
    (np.float64(nan), np.float64(1.0))
    """
    order = postorder(roots) if order is None else order
    sums = {"add", "sub"} if any(t.op.name in TAILS for t in order) else set()  # 1 - erf(x) is erfc(x)
    named = rebuilt(roots, _named, order, only=_NAMED | sums)
    if named != list(roots):
        order = postorder(named)
    roots = _by_mirrors(named, order)
    if roots != named:
        order = postorder(roots)
    telling = ("digits", "activation") if activations else ("digits",)
    linear: dict[Term, frozenset[Term] | None] = {}
    if not any(_tells(t, telling) for t in order) and not _meets(order, linear):
        return roots
    linear = linear or _linear(order)
    inside = {t for t in order if _readable(t)}
    outside = {a for t in order if t not in inside for a in t.args}.union(roots)
    found: dict[Term, tuple[Part, Term]] = {}
    readers: dict[Term, list[Term]] | None = None
    for term in order:
        if term in inside and term in outside:
            part = Part(term, inside)
            meets = part.known and _meets(part.terms, linear)
            if part.known and (meets or any(_tells(t, telling) for t in part.terms)):
                if not activations and not meets:
                    part = _beside_activations(part, inside)
                if readers is None:
                    readers = readers_of(order)
                written = None
                if part.known:
                    done = _computed(part, readers, found, roots) if derived else 0
                    own = _functions(part.terms) - done if done else None
                    alone = price_of(part.own(readers, roots))
                    written = _written(part.scalar(), part.price(readers), own, part.bounds(), _is_single(term), alone)
                if written is not None:
                    found[term] = part, written
                    if first:
                        break
    if not found:
        return roots
    image: dict[Term, Any] = {}
    for term in order:
        image[term] = term.with_args(tuple([image[a] for a in term.args]))
        if term in found:
            part, written = found[term]
            filled = part.filled(written, image)
            raw = image[term]
            image[term] = lookup("where")(lookup("isfinite")(raw), raw, filled) if lost else filled
    return [image[root] for root in roots]


def _by_mirrors(roots: Sequence[Term], order: Sequence[Term]) -> list[Term]:
    """The terms with σ(-u) for 1 - σ(u), which has no digits far out, where both are computed anyway."""
    known = {t for t in order if t.op.name == "sigmoid" and t.args[0].dtype and is_real_floating(t.args[0].dtype)}
    if len(known) < 2 or not any(_mirror(t) in known for t in known):
        return list(roots)

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        first, y = args
        slope = term.op.name == "sigmoid_slope"
        if y not in known or _mirror(y) not in known or not (slope or first.number == 1):
            return term.with_args(args)
        return first * _mirror(y) * y if slope else _mirror(y)

    return rebuilt(roots, change, order, only={"sub", "sigmoid_slope"})


def _mirror(term: Term) -> Term:
    """σ(-u) of σ(u)."""
    return term.op(-term.args[0])  # type: ignore[no-any-return]


def _tells(term: Term, telling: tuple[str, ...]) -> bool:
    """Whether formulas of its op lose what is asked for, or it is a reciprocal."""
    return term.op.loses in telling or (term.op.name == "div" and term.args[0].number is not None)


def _meets(terms: Collection[Term], linear: dict[Term, frozenset[Term] | None]) -> bool:
    """Whether an activation meets its own argument, or one of nearly the same, in a sum or quotient: x - tanh(x).

    Or quotients by the same sum meet, as in the derivative of x/(x + y), 1/(x + y) - x/(x + y)².  ``linear`` is what
    :func:`_linear` finds; where it is empty, the terms are an order, and it is filled.
    """
    if not linear:
        linear.update(_linear(terms))
    for term in terms:
        if term.op.name in ("add", "sub") and _divisors(term.args[0]) & _divisors(term.args[1]):
            return True
        if term.op.name in ("add", "sub", "div"):
            one, two = _upturned(term)
            first, second = _active(one), _active(two)
            if (first or second) and (first or _bare(_multiplied(one))) and (second or _bare(_multiplied(two))):
                of_one, of_two = (linear[a.args[0] if active else a] for a, active in ((one, first), (two, second)))
                if of_one and of_two and of_one & of_two:
                    return True
        if term.op.name == "sub" and any(_gates(a, b, linear) for a, b in (term.args, term.args[::-1])):
            return True
    return False


def _upturned(term: Term) -> Sequence[Term]:
    """The operands, and those of which both are reciprocals for these: coth 3x - coth x."""
    found = [_multiplied(t) for t in term.args]
    if term.op.name == "div" or any(t.op.name != "div" or t.args[0].number is None for t in found):
        return term.args
    return [t.args[1] for t in found]


def _multiplied(term: Term) -> Term:
    """What is multiplied with numbers, or divided by them."""
    while True:
        if term.op.name == "neg" or (term.op.name in ("mul", "div") and term.args[-1].op is NUMBER):
            term = term.args[0]
        elif term.op.name == "mul" and term.args[0].op is NUMBER:
            term = term.args[1]
        else:
            return term


def _gates(term: Term, x: Term, linear: dict[Term, frozenset[Term] | None]) -> bool:
    """Whether a term is x times an activation of x alone: x σ(x) - x."""
    if term.op.name != "mul" or x not in term.args or not _bare(x):
        return False
    other = term.args[term.args[0] is x]
    return _active(other) and linear[other.args[0]] == frozenset((x,))


_LINEAR = frozenset({"add", "sub", "neg", "mul", "div"})


def _linear(order: Iterable[Term]) -> dict[Term, frozenset[Term] | None]:
    """What every term is a sum, product or quotient of; None where it is of other functions, or of too many."""
    found: dict[Term, frozenset[Term] | None] = {}
    for term in order:
        if term.op is NUMBER:
            found[term] = frozenset()
        elif _bare(term):
            found[term] = frozenset((term,))
        elif term.op.name in _LINEAR:
            every = found[term.args[0]]
            for a in term.args[1:]:
                more = found[a]
                every = None if every is None or more is None else every if more <= every else every | more
            found[term] = None if every is None or len(every) > VARIABLES else every
        else:
            found[term] = None
    return found


def _active(term: Term) -> bool:
    return term.op.loses == "activation" and len(term.args) == 1


def _divisors(term: Term) -> set[Term]:
    """The sums by which a quotient divides."""
    found: set[Term] = set()
    while term.op.name in ("div", "neg", "reciprocal", "scaled_reciprocal"):
        if term.op.name == "div":
            found.add(term.args[1])
        elif term.op.name != "neg":
            found.add(term.args[0])
            break
        term = term.args[0]
    return {t for t in found if t.op.name in ("add", "sub")}


def _bare(term: Term) -> bool:
    return term.op is SYMBOL or not term.op.entrywise


_NAMED = CANDIDATES | {"ratio", "shifted_exp"}
"""Names of the ops that :func:`_named` looks at."""


def _named(term: Term, args: tuple[Any, ...]) -> Any:
    """Sums of exponentials and squares along an axis as the functions for them; x/hypot(x, y) as a guarded quotient.

    e^(x - log Σ e^x) is the share of x, which has its digits where x is so large that the logarithm has none of log Σ.

    Other spellings entry by entry are found later, where digits are lost.
    """
    made = term.with_args(args)
    if made.op.name in ("add", "sub") and made.args[0].number == 1:
        made = complement(made)
    if made.op.name == "ratio" and made.args[1].op.name == "hypot":
        return lookup("guard")(lookup("div")(*made.args), lookup("ne")(made.args[1], number(0)))
    if made.op.name == "shifted_exp":
        x, total = made.args[0], unspread(made.args[1])
        if total.op.name == "logsumexp" and total.args[0] is x and len(total.params["dim"]) == 1 and x.real_dtype:
            return lookup("shares")(x, dim=total.params["dim"][0])
    other = respelled(made)
    return made if other is None or not _unread(*other) else other[0]


_OF_TAILS = frozenset({"log_ndtr", "erfcx"})


def _unread(term: Term, bases: Sequence[Term]) -> bool:
    """Whether a spelling has functions that no part which is read entry by entry has: of whole rows, and of tails."""
    if not term.op.entrywise or any(t.op.name in _OF_TAILS for t in (term, *postorder(term.args, bases))):
        return True
    return term.op.name in ("mul", "div") and any(not a.op.entrywise and a.args and a not in bases for a in term.args)


def _readable(term: Term) -> bool:
    name = term.op.name
    if not term.args or not (name in READABLE or name == "guard") or (name == "pow" and not has_halves(term)):
        return False
    for t in (term, *(term.args[:1] if name == "guard" else term.args)):
        if t.dtype is not None and not is_real_floating(t.dtype):
            return False
    return True


def _beside_activations(part: Part, inside: set[Term]) -> Part:
    """The part with its activations as variables where what is left is algebraic; else the part itself.

    What sums and products make of these alone, such as the slope 1 - tanh², is a variable, too: it is off by no more
    than they are, and a logarithm of it is not.
    """
    active = {
        t for t in part.terms
        if t.op.loses == "activation" and len(t.args) == 1 and not _algebraic(t.op(own_symbol("0"), **t.params))
    }  # fmt: skip
    known = active | {t for t in part.leaves if _active(t)}
    for t in postorder([part.end], part.leaves):
        if _polynomial(t) and all(a in known or a.op is NUMBER for a in t.args):
            known.add(t)
            active.add(t)
    active.discard(part.end)
    bare = Part(part.end, inside - active) if active else part
    return bare if bare is not part and bare.known and _algebraic(bare.scalar()) else part


def _polynomial(term: Term) -> bool:
    """Whether an op adds or multiplies its operands."""
    if term.op.name == "pow":
        return bool(term.args[1].op is NUMBER and term.args[1].number in range(1, 10))
    return term.op.name in _ADDING


_ADDING = {"add", "sub", "neg", "mul", "square"} | SLOPES


def _algebraic(scalar: Term, kinds: Collection[str] = ("variable", "constant", "abs", "sqrt")) -> bool:
    """Whether a formula consists of powers and roots, as generators of these ``kinds`` are."""
    reader = Reader(False)
    try:
        reader(scalar)
    except (Unreadable, TooLong, ZeroDivisionError, OverflowError):
        return False
    return all(g.kind in kinds for g in reader.field.generators)


_ROOTS = ("variable", "constant", "abs", "sqrt", "sqrt_of", "sum", "ratio")
"""Kinds of generators that are powers and roots, of whatever is made of such."""


def _computed(part: Part, readers: Mapping[Term, Sequence[Term]], found: Container[Term], roots: Sequence[Term]) -> int:
    """How many functions of a part are computed whatever is made of it: what is no part of a formula reads them.

    ``found`` are the ends of parts that are written otherwise.
    """
    others = part.terms - {part.end}
    read = (t for t in others if t in roots or any(not _readable(reader) for reader in readers.get(t, ())))
    return _functions(t for t in read if t not in found)


_QUICK = WRITTEN | {"abs", "reciprocal"}
"""Functions that cost no more than an operator."""


def _functions(terms: Iterable[Term]) -> int:
    """How many terms are functions: not operators, sizes, comparisons and choices."""
    return sum(t.op.loses is not None and t.op.name not in _QUICK for t in terms)


def _variables(scalar: Term) -> list[Term]:
    return [t for t in postorder([scalar]) if t.op is SYMBOL]


_MULTIPLES = {"mul": ([0, 1], [1, 0]), "div": ([1, 0],)}
"""Of which operands a product or quotient is a multiple of what one of them is."""


def _multiple(scalar: Term, variable: Term) -> bool:
    """Whether a formula is a variable times what does not depend on it, by its sums, products and quotients."""
    degree: dict[Term, int | None] = {}  # None where it is neither free of the variable nor a multiple of it
    for t in postorder([scalar]):
        own = [degree[a] for a in t.args]
        if t is variable:
            degree[t] = 1
        elif None in own:
            degree[t] = None
        elif not any(own):
            degree[t] = 0
        else:
            multiple = all(own) if t.op.name in ("add", "sub", "neg") else own in _MULTIPLES.get(t.op.name, ())
            degree[t] = 1 if multiple else None
    return degree[scalar] == 1


def _degree(scalar: Term, variable: Term) -> int | None:
    """The degree of a formula in a variable that is never a divisor; None where it is one, or inside of a function."""
    degree: dict[Term, int | None] = {}
    for t in postorder([scalar]):
        own = [degree[a] for a in t.args]
        known = [n for n in own if n is not None]
        if t is variable:
            degree[t] = 1
        elif len(known) < len(own) or (any(known) and t.op.name not in _LINEAR) or (t.op.name == "div" and own[1]):
            degree[t] = None
        else:
            degree[t] = sum(known) if t.op.name == "mul" else max(known, default=0)
    return degree[scalar]


def _is_single(term: Term) -> bool:
    """Whether a term is computed in single precision, as half precision is, too."""
    return term.dtype is not None and term.dtype.itemsize <= 4


def _ordinary(scalar: Term, most: float) -> Term:
    """Whether the largest variable is not beyond ``most``, or its reciprocal.

    Tangents, in which a formula is linear, may be.
    """
    every = _variables(scalar)
    sized = [x for x in every if _degree(scalar, x) not in (0, 1)] or every
    largest = functools.reduce(lookup("maximum"), [lookup("abs")(x) for x in sized])
    ends = lookup("gt")(largest, number(1 / most)), lookup("lt")(largest, number(most))
    return lookup("logical_and")(*ends)  # type: ignore[no-any-return]


def _multiplies(term: Term) -> bool:
    """Whether a term is a product, a quotient, a whole power, or what these are made of."""
    if term.op.name == "pow":
        return term.args[1].op is NUMBER and isinstance(term.args[1].number, int)
    return not term.args or term.op.name in _PRODUCTS


_PRODUCTS = {"mul", "div", "neg", "square", "reciprocal", "scaled_reciprocal"}


def _multiplied_in(factor: Term, term: Term) -> Term:
    """factor · term, before the divisions that ``term`` ends in: 1/h³ leaves the range of numbers before s/h³ does."""
    a, *others = term.args or (term,)
    if term.op.name == "mul" and a.op is NUMBER:
        return lookup("mul")(a, _multiplied_in(factor, others[0]))  # type: ignore[no-any-return]
    if term.op.name == "neg":
        return -_multiplied_in(factor, a)  # type: ignore[no-any-return]
    if term.op.name == "div" and a.number == 1:
        return lookup("div")(factor, others[0])  # type: ignore[no-any-return]
    if term.op.name == "div" and (a.op.name == "div" or a.op is NUMBER):
        return lookup("div")(_multiplied_in(factor, a), others[0])  # type: ignore[no-any-return]
    return lookup("mul")(factor, term)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=512)
def _written(
    scalar: Term,
    price: int,
    functions: int | None = None,
    bounds: tuple[tuple[str, float, float], ...] = (),
    single: bool = False,
    alone: int | None = None,
) -> Term | None:
    """A formula of scalars that keeps its digits; None where it does so already, or cannot be read.

    ``price``: what it costs as it was written; ``alone``: without what is computed anyway; ``functions``: how many it
    has beside those that are, if there are such; ``bounds``: variables that stay in an interval; ``single``: it is for
    single precision.  What it is a multiple of, as a tangent is of that along which it moves, is set apart, since
    functions of one variable have more spellings.  Powers have not, and 1/m³ may leave the range of numbers where s/m³
    does not.
    """
    factor = next((x for x in _variables(scalar) if _multiple(scalar, x)), None)
    if factor is not None and not all(_multiplies(t) for t in postorder([scalar])):
        rest = substitute([scalar], {factor: number(1)})[0]
        others = tuple(bound for bound in bounds if bound[0] != factor.name)
        apart = _written(rest, price, functions, others, single, alone) if _variables(rest) else None
        if apart is not None:
            return _multiplied_in(factor, apart)
    for expands in (True, False):
        reader, found, scaled = rewritten(scalar, expands)
        if found is not None and _nearer(scalar, found, price, functions, bounds, alone):
            other = rewritten(scalar, collects=True)[1] if has_gaps(found, bounds=bounds) else None
            if other is not None and has_gaps(found, other, bounds):
                found = other if _nearer(scalar, other, price, functions, bounds, alone) else found
            plain = rewritten(scalar, expands, scales=False)[1] if scaled else None
            if plain is not None and _nearer(scalar, plain, price, functions, bounds, alone):
                found = plain if suffices(plain, found, bounds) else found  # 2/(2 + x)/(2 + x)
            return _where_held(scalar, found, bounds, single)
        if not reader.expanded:  # another reading would be the same
            break
    if found is None:  # it is too long, unless like terms are one
        found = rewritten(scalar, collects=True)[1]
        if found is not None and _nearer(scalar, found, price, functions, bounds, alone):
            return _where_held(scalar, found, bounds, single)
    return None


def _where_held(scalar: Term, found: Term, bounds: tuple[tuple[str, float, float], ...], single: bool) -> Term:
    """A spelling, and the formula as it was written where that alone has a value: far out, and at infinities."""
    if single and _algebraic(scalar, _ROOTS) and is_narrower(scalar, found, bounds, single, USUAL):
        return scalar
    if _algebraic(scalar, _ROOTS) and (is_narrower(scalar, found, bounds, single) or is_false(scalar, found, bounds)):
        held: Any = _ordinary(scalar, SINGLE if single else NORMAL)
    else:
        ends = [lookup("isfinite")(x) for x in lost_ends(scalar, found)]
        held = functools.reduce(lookup("logical_and"), ends) if ends else None
    return found if held is None else lookup("where")(held, found, scalar)


def _nearer(
    scalar: Term,
    found: Term,
    price: int,
    functions: int | None,
    bounds: tuple[tuple[str, float, float], ...],
    alone: int | None,
) -> bool:
    """Whether a spelling keeps digits that the formula loses, at a price that they are worth.

    They are not where nearly all of the formula is computed anyway, as the states of a loop are.
    """
    terms = postorder([found])
    further = functions is not None and _functions(terms) > functions
    cost = price_of(terms)
    if alone is not None and alone * DEARER <= min(price, cost):
        return False
    worth = loses(scalar, found, cost > DEAR * price, further, bounds, cost > max(DEARER * price, LONG))
    return worth and not is_false(scalar, found, bounds, NEARER)

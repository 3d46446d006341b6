"""Derivatives of formulas: the reverse sweep of the engine, run on terms with the same rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.stable import respelled
from symgrad.formula.term import NUMBER, Term, as_term, describe, full, make, own_symbol, postorder
from symgrad.op import is_complex, lookup
from symgrad.ops.elementwise.select import EXCEPTING, guard, where_op
from symgrad.ops.linalg.contraction import contract
from symgrad.ops.rules.fitting import fit
from symgrad.ops.rules.kinks import keeps_nan


def depends_on(order: Sequence[Term], targets: set[Term]) -> set[Term]:
    """The terms of a postorder that a derivative leads from to a target: not from whole numbers, nor past a detach."""
    found = set(targets)
    for term in order:
        for i, a in enumerate(term.args):
            if a in found and (term.op.differentiable(i) or term.op.apart(i)) and not _ends(a, term):
                found.add(term)
                break
    return found


def _ends(x: Term, term: Term) -> bool:
    """Whether no derivative goes from ``term`` to its operand ``x``; ops that are no formula decide that themselves."""
    if term.op.kind == "opaque":
        return False
    return term.dtype is not None and term.dtype.kind in "bui" and x.dtype is not None and is_floating(x.dtype)


class Derivation:
    """One reverse sweep: adjoints of every term between the outputs and the targets.

    ``ends``: targets are taken for independent, so that nothing goes on below one of them to another.
    """

    def __init__(self, outputs: Sequence[Term], seeds: Sequence[Term], targets: Sequence[Term], ends: bool = False):
        self.adjoints: dict[Term, Term] = {}
        self.structural: dict[Term, Zeros] = {}
        order = postorder(outputs)
        self.targets = set(targets)
        useful = depends_on(order, self.targets)
        self.pending: dict[Term, list[Term]] = {}
        for output, seed in zip(outputs, seeds, strict=True):
            self.pending.setdefault(output, []).append(seed)
        for term in reversed(order):
            if term in useful and term in self.pending:
                g = self._total(term)
                self.adjoints[term] = g
                if term in self.targets and (ends or not term.args):
                    continue
                if not self._pushed_past(term, g, useful):
                    self._push(term, g, useful)

    def _total(self, term: Term) -> Term:
        parts = self.pending.pop(term)
        total = parts[0]
        for part in parts[1:]:
            # Later uses come first in a reverse sweep: this way the formula reads in the program's order, and the
            # number is the engine's to the last bit, because a + b = b + a in floating point.
            total = part + total  # type: ignore[operator]
        zeros = [self.structural.get(part) for part in parts]
        if len(parts) > 1 and None not in zeros:
            self.structural[total] = _zeros_of_sum(total, cast(list[Zeros], zeros))
        return total

    def _pushed_past(self, term: Term, g: Term, useful: set[Term]) -> bool:
        """Push through another spelling of ``term`` whose derivative is right everywhere, where there is one."""
        found = None if keeps_nan("composed") else respelled(term)
        if any(term.args[i] in useful for i in term.op.settings or ()):
            found = as_term(term.op.define(*term.args, **term.params)), list(term.args)  # type: ignore[misc]
        if found is None or not self.targets.isdisjoint(postorder(term.args, found[1])):
            return False
        bases = [b for b in found[1] if b in useful]
        inner = Derivation([found[0]], [g], bases, ends=True)
        zeros = self.structural.get(g)
        for base in dict.fromkeys(bases):
            if base in inner.adjoints:
                c = inner.adjoints[base]
                self.pending.setdefault(base, []).append(c if zeros is None else _zeroed(c, zeros, found[0]))
        return True

    def _push(self, term: Term, g: Term, useful: set[Term]) -> None:
        op = term.op
        for i, arg in enumerate(term.args):
            if arg not in useful or not op.differentiable(i) or _ends(arg, term):
                continue
            c = op.pullback(i, g, term, term.args, term.params)
            if c is None:
                continue
            c = as_term(c)
            fitted = _with_dtype(fit(c, arg.shape, arg.dtype or term.dtype), arg.dtype or term.dtype)
            c = self._structural(term, i, g, c, fitted)
            self.pending.setdefault(arg, []).append(c)

    def _structural(self, term: Term, i: int, g: Term, raw: Term, c: Term) -> Term:
        """Keep the zeros of a branch that was not taken outside of everything that meets them.

        ``raw`` is the contribution before broadcasting was undone, ``c`` after it.
        """
        known = self.structural.get(g)
        rule = None if term.params.get("leaks") else term.op.structural
        keep = None if rule is None else rule(i, *term.args)
        if keep is not None:
            if c.op is where_op or c.op in EXCEPTING:
                self.structural[c] = _zeros_of(c, keep, known)
            return c
        if known is not None and term.op.by_entries and raw is not g and c.op.name != "full":
            inner = term.op.pullback(i, known.inner, term, term.args, term.params)
            if inner is None or known.keep.shape not in ((), term.shape):
                return c
            inner = _with_dtype(as_term(inner), c.dtype)
            moved = known.put_in(inner)
            fitted = fit(moved, c.shape, c.dtype)
            if fitted is moved:
                self.structural[moved] = known._replace(inner=inner)
            return fitted  # type: ignore[no-any-return]
        return c


def _with_dtype(c: Term, dtype: Any) -> Term:
    """A plain number that has become a cotangent is one of the argument's dtype: a mask has none to give it."""
    plain = c.dtype is None and (c.shape or c.op is NUMBER)
    return make(c.op, c.args, c.params, c.shape, dtype) if plain else c


class Zeros(NamedTuple):
    """Structural zeros of a cotangent: where it is none, what it was before them, how they are put in, and by what."""

    keep: Any
    inner: Term
    put_in: Callable[[Any], Any]
    op: Any


def _zeroed(c: Term, zeros: Zeros, term: Term) -> Term:
    """A contribution by another spelling with the zeros of its cotangent: further derivatives meet them there, too."""
    keep = zeros.keep
    if keep.shape != c.shape and not term.params.get("keepdim", True):
        for k in term.params["dim"]:
            keep = lookup("unsqueeze")(keep, dim=k)
    if zeros.op is not where_op or len(keep.shape) not in (0, c.ndim):
        return c
    if keep.shape != c.shape:
        keep = lookup("expand")(keep, shape=c.shape)
    return where_op(keep, c, 0)  # type: ignore[no-any-return]


def _zeros_of(c: Term, keep: Any, outer: Zeros | None) -> Zeros:
    """The zeros of ``c``, the cotangent of a branch where ``keep`` holds, inside of one with the zeros ``outer``."""
    if outer is None or (c.op is where_op and outer.op is guard):
        if c.op in EXCEPTING:
            return Zeros(keep, c.args[0], lambda inner: guard(inner, keep), guard)
        condition, a, b = c.args
        if a.number == 0:
            return Zeros(keep, b, lambda inner: where_op(condition, 0, inner), where_op)
        return Zeros(keep, a, lambda inner: where_op(condition, inner, 0), where_op)
    if c.op in EXCEPTING and outer.op is where_op:
        return outer._replace(inner=guard(outer.inner, keep))
    both = lookup("logical_and")(keep, outer.keep)
    if c.op in EXCEPTING:
        return Zeros(both, outer.inner, lambda inner: guard(inner, both), guard)
    return Zeros(both, outer.inner, lambda inner: where_op(both, inner, 0), where_op)


def _zeros_of_sum(total: Term, parts: Sequence[Zeros]) -> Zeros:
    """The zeros of a sum of cotangents that have zeros: where no part of it is anything."""
    keep = functools.reduce(lookup("logical_or"), dict.fromkeys(part.keep for part in parts))
    if all(part.op is guard for part in parts):
        return Zeros(keep, total, lambda inner: guard(inner, keep), guard)
    return Zeros(keep, total, lambda inner: where_op(keep, inner, 0), where_op)


def gradient(output: Term, targets: Sequence[Term], seed: Term | None = None) -> list[Term]:
    """Gradients of a scalar term (or of ``sum(seed * output)``) with respect to ``targets``; zeros when unrelated."""
    if isinstance(targets, Term):
        raise ArgumentError(f"targets is a list of terms, and one term was given: write [{describe(targets)}]")
    if seed is None:
        if output.shape != ():
            raise FormulaError(
                f"the gradient of a formula of shape {output.shape} needs a seed of that shape; only scalars have one "
                "of their own"
            )
        seed = full((), 1, output.dtype)
    found = Derivation([output], [seed], targets).adjoints
    return [found.get(t, full(t.shape, 0, t.dtype)) for t in targets]


def jacobian(output: Term, target: Term) -> Term:
    """The derivative of every entry of ``output`` by every entry of ``target``: axes are (outputs…, inputs…).

    >>> from symgrad.formula.term import symbol
    >>> A, x = symbol("A", ("m", "n")), symbol("x", ("n",))
    >>> jacobian(A @ x, x).shape
    ('m', 'n')
    """
    if output.shape == ():
        return gradient(output, [target])[0]
    axes, dtype = tuple(range(output.ndim)), output.dtype or np.dtype(float)
    units = contract((full(output.shape, 1, dtype),), (axes,), axes + axes, output.shape + output.shape)
    return pulled_rows(output, target, units)


def pulled_rows(output: Term, target: Term, stack: Term) -> Term:
    """The gradients by ``target`` for all cotangents of ``output`` in a stack, whose leading axes come first."""
    from symgrad.formula.batch import batched

    # The pullback is linear in its cotangent: one with a symbol for it, then all of them at once.
    cotangent = own_symbol("cotangent", output.shape, output.dtype or np.dtype(float))
    return batched(gradient(output, [target], cotangent)[0], cotangent, stack)


def wirtinger(output: Term, target: Term) -> tuple[Term, Term]:
    """(∂f/∂z, ∂f/∂z̄) of every entry of ``output`` by every entry of a complex ``target``.

    The rules' gradients of Re f and Im f are their steepest directions u and v; f moves by (ū + i·v̄)/2 along dz and by
    (u + i·v)/2 along dz̄ (Kreutz-Delgado, "The complex gradient operator and the CR-calculus", 2009).
    """
    conj: Callable[[Term], Any] = lookup("conj")
    i: Any = as_term(1j)
    if not is_complex(output):
        slope: Any = jacobian(output, target)
        return conj(slope) / 2, slope / 2
    u, v = (jacobian(lookup(part)(output), target) for part in ("real", "imag"))
    return (conj(u) + i * conj(v)) / 2, (u + i * v) / 2


def directional(output: Term, targets: Sequence[Term], tangents: Sequence[Term]) -> Term:
    """The derivative of ``output`` along ``tangents``: the pushforward, by the ops' tangent rules."""
    order = postorder([output])
    useful = depends_on(order, set(targets))
    moved: dict[Term, Term] = dict(zip(targets, tangents, strict=True))
    for term in order:
        if term not in useful or term in moved:
            continue
        total: Any = None
        for i, arg in enumerate(term.args):
            if arg in moved and term.op.differentiable(i) and not (_ends(arg, term) or term.op.still(i)):
                part = pushforward(term, i, moved[arg])
                total = part if total is None else total + part
        if total is not None:
            moved[term] = total if total.shape == term.shape else lookup("expand")(total, shape=term.shape)
    return moved.get(output, full(output.shape, 0, output.dtype or np.dtype(float)))


def pushforward(term: Term, i: int, tangent: Term) -> Any:
    """The tangent of ``term`` when argument ``i`` moves along ``tangent``; without a rule the vjp is transposed."""
    op = term.op
    rules = op.jvps
    if callable(rules):
        return rules(i, tangent, term, *term.args, **term.params)
    if rules is not None and rules[i] is not None:
        return rules[i](tangent, term, *term.args, **term.params)
    probe = own_symbol("cotangent", term.shape, term.dtype or np.dtype(float))
    pulled = op.pullback(i, probe, term, term.args, term.params)
    return gradient(as_term(pulled), [probe], tangent)[0] if pulled is not None else lookup("mul")(term, 0)

"""Ops: their record, its four factories, what flows through them, and their public names.

An op is one table entry.  Its derivative is written in the library's own ops, and an op looks once at what flows
through it (the *carrier*): arrays run the NumPy kernel; any other carrier registers itself here with
:func:`register_carrier` and is handed ``(op, args, params)``.  No carrier is known here by name.

Calling convention: array data is positional, static parameters are keyword-only.

Rules.  ``op.vjps[i]`` is the pullback to input ``i``: ``rule(g, out, *inputs, **params)``; ``op.jvps[i]`` pushes a
tangent of input ``i`` forward with the same signature.  What a rule *names* says what is kept for the backward pass:
an argument it never reads is not saved, and one whose name starts with ``like`` is read for its shape and dtype only.
"""

from symgrad.op.carriers import (
    Length,
    Rest,
    as_size,
    carrier_of,
    fixed,
    fixed_length,
    is_complex,
    length_of,
    lengths,
    of_this_length,
    register_carrier,
    shape_of,
)  # fmt: skip
from symgrad.op.factories import broadcast_shapes, elementwise, family, multilinear, of_reals, primitive
from symgrad.op.folds import folded
from symgrad.op.fronts import FRONTS, Front, front, known_as, publish, with_numpy_names
from symgrad.op.needs import FROM, KEEP
from symgrad.op.record import TABLE, Labels, Op, Rule, Spec, lookup, register, scales, title, unlisted
from symgrad.op.refusals import by_kind, inexact, refusal, refusing

__all__ = [
    "FROM", "FRONTS", "KEEP", "TABLE", "Front", "Labels", "Length", "Op", "Rest", "Rule", "Spec", "as_size",
    "broadcast_shapes", "by_kind", "carrier_of", "elementwise", "family", "fixed", "fixed_length", "folded",
    "front", "inexact", "is_complex", "known_as", "length_of", "lengths", "lookup", "multilinear", "of_reals",
    "of_this_length", "primitive", "publish", "refusal", "refusing", "register", "register_carrier", "scales",
    "shape_of", "title", "unlisted", "with_numpy_names",
]  # fmt: skip

"""Derivatives at kinks: one table of conventions, read by every rule whose function has a kink.

At a kink the derivative jumps, and libraries choose differently.  The default is torch's choice; :class:`conventions`
swaps it.  A rule says where its kink is and what it gives there by default (:func:`at_kink`); the number, the formula
and compiled code come from the same rule, so they agree on the choice in force when the derivative is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any, NamedTuple, Self

from symgrad.errors import ArgumentError, KinkError
from symgrad.op import KEEP, is_complex

Shares = tuple[float | Fraction, ...]
"""The derivative at the kink by each argument."""


class Kink(NamedTuple):
    """Where a function's derivative jumps, and what each convention gives there, by argument.

    ``symgrad`` is what holds by default: torch's choice, but for the few points where that is nan and a right one is
    known.
    """

    where: str
    torch: Shares
    jax: Shares
    min_norm: Shares
    left: Shares
    right: Shares
    better: Shares | None = None

    @property
    def symgrad(self) -> Shares:
        """The derivatives by default."""
        return self.torch if self.better is None else self.better

    def shares(self, name: str) -> Shares:
        """The derivatives under the convention of that name."""
        found: Shares = getattr(self, name.replace("-", "_"))
        return found


_HALF = (Fraction(1, 2), Fraction(1, 2))
_NAN = (math.nan, math.nan)
_ZERO = (0, 0)

KINKS: dict[str, Kink] = {
    #                  where            torch    jax     min-norm left     right
    "abs": Kink("x = 0", (0,), (1,), (0,), (-1,), (1,)),
    "relu": Kink("x = 0", (0,), (0,), (0,), (0,), (1,)),
    "maximum": Kink("x = y", _HALF, _HALF, _HALF, (0, 1), (1, 0)),
    "minimum": Kink("x = y", _HALF, _HALF, _HALF, (1, 0), (0, 1)),
    "fmax": Kink("x = y", (1, 0), (0, 1), _HALF, (0, 1), (1, 0)),
    "fmin": Kink("x = y", (1, 0), (0, 1), _HALF, (1, 0), (0, 1)),
    "clamp_min": Kink("x = min", (1, 0), _HALF, (0, 1), (0, 1), (1, 0)),
    "clamp_max": Kink("x = max", (1, 0), _HALF, (0, 1), (1, 0), (0, 1)),
    "leaky_relu": Kink("x = 0", (0,), (1,), (0,), (0,), (1,)),
    "elu": Kink("x = 0", (0,), (0,), (0,), (0,), (1,)),
    "hardtanh_min": Kink("x = min", (0,), (1,), (0,), (0,), (1,)),
    "hardtanh_max": Kink("x = max", (0,), (1,), (0,), (1,), (0,)),
    "relu6_min": Kink("x = 0", (0,), (0,), (0,), (0,), (1,)),
    "relu6_max": Kink("x = 6", (0,), (0,), (0,), (1,), (0,)),
    "softshrink_min": Kink("x = -lambd", (0,), (0,), (0,), (1,), (0,)),
    "softshrink_max": Kink("x = lambd", (0,), (0,), (0,), (0,), (1,)),
    "hardshrink_min": Kink("x = -lambd", (0,), (0,), (0,), (1,), (0,)),
    "hardshrink_max": Kink("x = lambd", (0,), (0,), (0,), (0,), (1,)),
    "threshold": Kink("x = threshold", (0,), (0,), (0,), (0,), (1,)),
    "norm": Kink("x = 0", (0,), (math.nan,), (0,), (0,), (0,)),
    "std": Kink("all x equal", (0,), (math.nan,), (0,), (0,), (0,)),
    "hypot": Kink("x = y = 0", _NAN, _HALF, _ZERO, _ZERO, _ZERO, _ZERO),
    "atan2": Kink("y = x = 0", _ZERO, _NAN, _ZERO, _ZERO, _ZERO),
    "where": Kink("branch not taken", (math.nan,), (math.nan,), (0,), (0,), (0,), (0,)),
    "composed": Kink("0 times inf", (math.nan,), (math.nan,), (0,), (0,), (0,), (0,)),
}
"""``left`` and ``right``: the first argument comes from below or above.  Ties of several entries always share alike.

``leaky_relu`` and ``elu`` have the share of the slope above; the rest is that of the slope below.  ``relu6`` is that of
``hardsigmoid`` and ``hardswish``, too, and ``abs`` and ``norm`` are those of the 1-norm, of the largest entry, and of
the other p-norms.  ``hardshrink`` and ``threshold`` jump: their slopes are those of the pieces on the two sides.

``where`` is 0 times an infinite derivative in the branch not taken.  ``composed`` is the same in a function that the
op table knows as a whole, ``log1p(exp(x))`` or ``sqrt((x*x).sum())``: the derivative of the whole stands for "0" there.
"""

NAMES = ("symgrad", "torch", "jax", "min-norm", "left", "right", "raise")
_RAISE: Shares = ()
_NO_KINKS = frozenset({"where", "composed"})
"""Rows that no op's own rule reads, so that nothing has to be kept for them."""
_Swapped = dict[str, Shares]


class _State:
    """What is in force: the kinks whose derivative is not torch's, and whether complex gradients are JAX's."""

    __slots__ = ("listeners", "swapped", "unconjugated")

    def __init__(self) -> None:
        self.swapped: _Swapped = {}
        self.unconjugated = False
        self.listeners: list[Callable[[bool], None]] = []

    def set(self, swapped: _Swapped, unconjugated: bool) -> None:
        """Put another convention in force; listeners hear when torch's ends or comes back."""
        self.swapped, self.unconjugated = swapped, unconjugated
        keep = not _NO_KINKS.issuperset(swapped)
        if KEEP.all is not keep:
            KEEP.all = keep
            for hear in self.listeners:
                hear(KEEP.all)


STATE = _State()
Convention = tuple[_Swapped, bool]


def in_force() -> Convention:
    """The convention of the moment, as plain data."""
    return (STATE.swapped, STATE.unconjugated)


def usual() -> bool:
    """Whether torch's values are in force everywhere."""
    return not (STATE.swapped or STATE.unconjugated)


def shares_of(name: str) -> Shares | None:
    """What is in force for a kink where that is not the usual: the derivatives, none where they are refused."""
    return STATE.swapped.get(name)


def bent(name: str, value: Any, x: Any, at: Any, inside: Callable[[], Any]) -> Any:
    """``value``, a function with a kink at ``x = at``, with the slope there that the convention in force says.

    That is a share of the slope of ``inside``, the piece on one side, and the rest of that of ``value``, which is the
    usual one.  The choice is made in the forward pass.
    """
    shares = STATE.swapped.get(name)
    if shares is None:
        return value
    from symgrad.ops.elementwise.select import eq, where

    here = eq(x, at)
    if not shares:
        if getattr(x, "requires_grad", False) or getattr(x, "tangent", None) is not None:
            no_kink(name, here)
        return value
    share = _exactly(shares[0])
    return where(here, share * inside() + (1 - share) * value, value)


def keeps_nan(name: str) -> bool:
    """Whether the nan that torch gives at a point stays, where the library knows better."""
    swapped = STATE.swapped
    return bool(swapped) and name in swapped and swapped[name] != (0,)


@contextmanager
def under(convention: Convention) -> Iterator[None]:
    """Derive under a convention that was in force before."""
    before = in_force()
    STATE.set(*convention)
    try:
        yield
    finally:
        STATE.set(*before)


def steepest() -> AbstractContextManager[None]:
    """torch's complex gradients, for passes inside of a derivative: only what users get is turned, and once."""
    return under((STATE.swapped, False))


def turned(g: Any) -> Any:
    """A complex cotangent as it goes into or comes out of a pass: JAX's gradients are the conjugates of torch's."""
    if not STATE.unconjugated or not is_complex(g):
        return g
    from symgrad.ops.elementwise.complex import conj

    return conj(g)


def at_kink(name: str, i: int, factor: Any, a: Any, b: Any, g: Any = None) -> Any:
    """The factor of argument ``i`` in a rule: ``factor``, but what the convention says where ``a`` equals ``b``.

    Where the cotangent ``g`` is in the factor already, the convention's answer is multiplied by it.
    """
    swapped = STATE.swapped
    if not swapped or name not in swapped:
        return factor
    if a is None:
        raise KinkError(
            f"{name} was recorded under torch's convention, for which its result is enough; choose conventions before "
            "the forward pass, so that its argument is kept."
        )
    from symgrad.ops.elementwise.select import eq, where
    from symgrad.ops.reductions.sums import cast

    here, shares = eq(a, b), swapped[name]
    if shares:
        # A factor that says where (x > 0) takes the dtype of x before it meets other numbers than 0 and 1.
        number = factor if factor.dtype.kind != "b" else cast(factor, a.dtype)
        share = _exactly(shares[i])
        return where(here, share if g is None else g * share, number)
    no_kink(name, here)
    return factor


def _exactly(share: Any) -> Any:
    """A half is a half in formulas, and weak in promotion."""
    from symgrad.ops.rules.constants import exact

    if isinstance(share, float) and math.isfinite(share) and share.as_integer_ratio()[1] <= 64:
        share = Fraction(share)
    if isinstance(share, Fraction):
        return int(share) if share.denominator == 1 else exact(share)
    return share


def no_kink(name: str, here: Any) -> None:
    """Raise where the convention is "raise" and an entry of ``here`` holds; formulas have no entries."""
    if not STATE.swapped or STATE.swapped.get(name) != _RAISE:
        return
    some = getattr(here, "any", None)
    if some is not None and bool(some()):
        place = KINKS[name].where if name in KINKS else "ties"
        error = KinkError(
            f"{name}: {int(here.sum())} of {math.prod(here.shape)} entries sit on its kink ({place}), where it has no "
            'derivative, and conventions("raise") is in force. Move the point, or choose a value with '
            f'conventions("torch", {name}=…); the values that libraries give are listed by repr(conventions()).'
        )
        error.place = place
        raise error


class conventions:  # noqa: N801  (used like torch.set_grad_enabled)
    r"""Choose the derivatives at kinks: from here on, or in a ``with`` block.

    ``name`` is "symgrad" (the default: torch's values, but for the few points where torch has nan and a right value is
    known), "torch" (its nan stays there), "jax", "min-norm" (the smallest subgradient), "left", "right" (the first
    argument comes from below, above) or "raise" (``KinkError`` where a derivative is taken at a kink).  Keywords
    override single functions, by such a name or by a number: ``conventions(abs="jax", relu=0.5, where="torch")``.
    "jax" also gives complex gradients without conjugate: that of |z|² at 1+2j is 2-4j.

    Numbers, formulas and programs follow the convention in force when the derivative is taken; for ``relu``, which
    keeps only its result, and for ``where`` and the other activations (``leaky_relu``, ``elu``, ``hardtanh`` …) it has
    to be in force in the forward pass, too.  What holds at each kink was measured on torch 2.13 and JAX 0.10.  Raises
    ``ArgumentError`` for unknown names.

    >>> import symgrad as sg
    >>> x = sg.tensor(0.0, requires_grad=True)
    >>> with sg.conventions("jax"):
    ...     (g,) = sg.autograd.grad(x.abs(), x)
    >>> g, sg.autograd.grad(x.abs(), x)[0]
    (tensor(1.), tensor(0.))
    """

    def __init__(self, name: str | None = None, /, **overrides: Any):
        self._before = in_force()
        if name is not None:
            if name not in NAMES:
                raise ArgumentError(f"conventions({name!r}): the names are {', '.join(map(repr, NAMES))}.")
            swapped = {kink: _chosen(kink, name) for kink in (*KINKS, *TIES)}
            STATE.set({k: v for k, v in swapped.items() if not _is_usual(k, v)}, name == "jax")
        for kink, value in overrides.items():
            if kink not in KINKS:
                raise ArgumentError(f"conventions({kink}=…): the functions with kinks are {', '.join(KINKS)}.")
            shares = _chosen(kink, value)
            rest = {k: v for k, v in STATE.swapped.items() if k != kink}
            STATE.set(rest if _is_usual(kink, shares) else {**rest, kink: shares}, STATE.unconjugated)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        STATE.set(*self._before)

    def __repr__(self) -> str:
        rows: list[tuple[str, ...]] = [("kink", "", *NAMES[:-1], "in force")]
        for kink, row in KINKS.items():
            now = STATE.swapped.get(kink, row.symgrad)
            cells = [*(row.shares(name) for name in NAMES[:-1]), now]
            rows.append((kink, row.where, *map(_cell, cells)))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in rows)


TIES = ("amax", "amin", "median")
"""Functions whose kinks are ties of several entries: they share alike, or raise."""


def _chosen(kink: str, value: Any) -> Shares:
    """The derivatives that a convention's name, a number or a tuple of numbers means for one kink."""
    if value == "raise":
        return KINKS[kink].symgrad if kink in _NO_KINKS else _RAISE
    if kink in TIES:
        return (1,)
    row = KINKS[kink]
    if value in NAMES:
        return row.shares(value)
    if kink in _NO_KINKS and value != 0 and value == value:
        raise ArgumentError(f"conventions({kink}={value!r}): a name ({', '.join(NAMES)}), 0, or nan.")
    shares = value if isinstance(value, tuple) else (value,)
    if len(shares) == 1 < len(row.torch):
        shares = (shares[0], 1 - shares[0])
    if len(shares) != len(row.torch) or not all(isinstance(v, (int, float, Fraction)) for v in shares):
        raise ArgumentError(
            f"conventions({kink}={value!r}): a name ({', '.join(NAMES)}), a number, or one number for each of its "
            f"{len(row.torch)} arguments."
        )
    return shares


def _is_usual(kink: str, shares: Shares) -> bool:
    return shares == ((1,) if kink in TIES else KINKS[kink].symgrad)


def _cell(shares: Shares) -> str:
    return ", ".join(str(v) for v in shares) or "raise"

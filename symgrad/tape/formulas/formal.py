"""A formula with the face of a tensor, for running a user's code on formulas instead of numbers.

Custom functions and hooks are written for tensors: they call methods and operators.  Run on :class:`Formal` arguments
the same text gives a formula.  Whatever needs a value (``if``, ``.item()``, ``.numpy()``, a constant tensor) raises,
and the caller falls back to an opaque function; a formula is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from symgrad.dtype_objects import shown
from symgrad.dtypes import is_floating
from symgrad.errors import FormulaError
from symgrad.formula.term import Term, as_term, size_letter
from symgrad.op import FRONTS, TABLE, Op, lookup, register_carrier
from symgrad.op.operators import Operand, bind_operators
from symgrad.tape.threads import during


class Formal(Operand):
    """A term that has the methods of a tensor and no value."""

    __slots__ = ("term",)
    requires_grad = False
    is_leaf = True
    grad_fn = None

    def __init__(self, term: Term):
        self.term = term

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, as formulas."""
        return tuple(Formal(size_letter(n)) for n in self.term.shape)

    @property
    def raw_shape(self) -> tuple[Any, ...]:
        """The sizes as letters, for the library's own use."""
        return self.term.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the array that the formula stands for."""
        return shown(self.term.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.term.shape)

    def dim(self) -> int:
        """Number of axes."""
        return len(self.term.shape)

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them, as formulas."""
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> Any:
        """Number of entries, as a formula."""
        return Formal(self.term.sizes(tuple(range(self.ndim))))

    def sizes(self, dim: tuple[int, ...]) -> Any:
        """Number of entries along ``dim``, as a formula."""
        return Formal(self.term.sizes(dim))

    def full_like(self, value: int) -> Any:
        """A constant of this shape and dtype."""
        return Formal(self.term.full_like(value))

    def detach(self) -> Any:
        """The same values, without derivative."""
        if "detach" not in TABLE:
            raise FormulaError("detach() inside a function has no formula")
        return lookup("detach")(self)

    @property
    def mT(self) -> Any:  # noqa: N802  (the tensor's name)
        """The last two axes exchanged."""
        order = tuple(range(self.ndim - 2))
        return lookup("permute")(self, dims=(*order, self.ndim - 1, self.ndim - 2))

    def __getitem__(self, index: Any) -> Any:
        from symgrad.ops.indexing.getitem import getitem

        return getitem(self, index)

    def __getattr__(self, name: str) -> Any:
        entry = FRONTS.get(name)
        if entry is None or not entry.method:
            raise FormulaError(f".{name} has no formula of its own")
        call = entry.call
        return lambda *args, **kwargs: call(self, *args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        entry = FRONTS.get(ufunc.__name__)
        if method != "__call__" or kwargs or entry is None:
            raise FormulaError(f"np.{ufunc.__name__} has no formula in this form")
        return entry.call(*inputs)

    def __bool__(self) -> bool:
        raise FormulaError("a formula has no truth value")

    __hash__ = object.__hash__


bind_operators(Formal)


_STILL: ContextVar[bool] = ContextVar("results are constants to derivatives", default=False)


def computed_still() -> AbstractContextManager[bool]:
    """Inside, results are constants to derivatives, as they are under ``no_grad``."""
    return during(_STILL, True)


def _apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    # Whatever is no formula and no number is refused by as_term: a tensor here would be a value frozen into a formula.
    found = as_term(op(*(a.term if isinstance(a, Formal) else as_term(a) for a in args), **params))
    if _STILL.get() and found.dtype is not None and is_floating(found.dtype):
        found = lookup("unrecorded")(found)
    return Formal(found)


register_carrier(Formal, 3, _apply)


def formula_of(run: Callable[[], Any]) -> Any:
    """What ``run()`` gives, or None when it cannot be read as a formula.

    It runs twice: two different answers mean that it draws random numbers or counts its calls, and then it has no
    formula.
    """
    try:
        first, second = run(), run()
    except Exception:  # noqa: BLE001  (anything a user's function may raise when it meets a formula)
        return None
    return first if _same(first, second) else None


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Formal) and isinstance(b, Formal):
        return a.term is b.term
    return type(a) is type(b) and not isinstance(a, Formal)

"""Custom functions run on tensors that stand for their arguments, with a tracer looking on.

So formulas are found of what cannot be run on formulas: changes in place, masks, constants made of sizes.  What depends
on values has none: the tensors have such as were never computed, but where a tracer saw the function run.  There they
are those of that run, and what ``forward`` looked at is noted by the tracer already.

To derivatives what ``forward`` computes is a constant, as it runs without grad; a saved argument is that argument, and
a saved output the result of the function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.autograd.functions.outside import run_again
from symgrad.dtypes import is_floating
from symgrad.errors import FormulaError
from symgrad.formula.term import Term, number, rebuilt, substitute, symbol
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.graph import Source
from symgrad.tape.modes import enable_grad, own_no_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.changes import arguments_kept, changes_seen
from symgrad.tape.watching.watch import Watch, watching

if TYPE_CHECKING:
    from symgrad.autograd.functions.symbolic import Signature


ARGUMENT, RESULT, COTANGENT = "_argument", "_output", "_cotangent"
"""What the symbols are called, before the number of the argument or output."""


def values_seen(tensors: Sequence[Any]) -> tuple[Any, ...] | None:
    """The values that a function is applied to, where a tracer sees the values of a real run; None elsewhere."""
    watch = watching()
    if watch is None or "reads" in watch.refuses:
        return None
    return tuple(np.array(t._value) for t in tensors)


def stripped(terms: Sequence[Term | None]) -> tuple[Term | None, ...]:
    """The terms without the marks of what was computed without grad: their values, of which nobody differentiates."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term.op.name == "unrecorded":
            return args[0]
        return term.again(args)

    found = iter(rebuilt([term for term in terms if term is not None], change))
    return tuple(None if term is None else next(found) for term in terms)


class StandIns:
    """A custom function with symbols for its arguments, and tensors that stand for these.

    All its methods raise where there are no formulas: ``FormulaError``, or what the user's function does.
    """

    def __init__(self, signature: Signature, args: tuple[Term, ...]):
        self.signature = signature
        shapes = [shape for shape in signature.shapes if shape is not None]
        self.letters = _letters(args, shapes)
        self.symbols = tuple(
            symbol(f"{ARGUMENT}{k}", a.shape, dtype)
            for k, (a, dtype) in enumerate(zip(args, signature.dtypes, strict=True))
        )
        self.real = signature.values is not None
        self.values = signature.values or tuple(map(_stand_in, shapes, signature.dtypes))

    def outputs(self) -> tuple[Term | None, ...]:
        """What ``forward`` gives, in the symbols; None for what is no tensor."""

        def run() -> tuple[Term | None, ...]:
            _, outputs, named = self._applied()
            return self._terms(outputs, named)

        return stripped(_repeatable(run))

    def kept(self, find: Callable[[Any], Any]) -> tuple[Term | None, ...]:
        """What ``forward`` computed and its context has, in the symbols."""

        def run() -> tuple[Term | None, ...]:
            ctx, _, named = self._applied()
            return self._terms((find(ctx),), named)

        return stripped(_repeatable(run))

    def rows(self) -> tuple[Term | None, ...]:
        """What ``backward`` gives, in symbols for the arguments, the outputs and their cotangents."""

        def run() -> tuple[Term | None, ...]:
            ctx, outputs, named = self._applied()
            fixed = {id(t) for t in (*named, *ctx.non_differentiable)}
            named += [_leaf(f"{RESULT}{k}", o) for k, o in enumerate(outputs) if _moves(o) and id(o) not in fixed]
            cotangents = [_cotangent(k, o) if isinstance(o, Recorded) else None for k, o in enumerate(outputs)]
            named += [c for c in cotangents if c is not None]
            with _unrepeatable_refused(named, values=False):
                rows = self.signature.gradients(ctx, tuple(cotangents))
            if any(row is not None and not isinstance(row, Recorded) for row in rows):
                raise FormulaError("backward gave something that is no tensor")
            return self._terms(rows, named)

        return _repeatable(run)

    def _applied(self) -> tuple[Any, tuple[Any, ...], list[Any]]:
        """The context and the outputs of ``forward``, and the stand-ins that it was given."""
        from symgrad.autograd.function import FunctionCtx, run_forward
        from symgrad.tensor import Tensor

        named = [
            _leaf(str(term.name), plain(Tensor, np.array(value)[()]))
            for term, value in zip(self.symbols, self.values, strict=True)
        ]
        self.signature.check()
        args, ctx = self.signature.filled(tuple(named)), FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Recorded) and a._requires_grad for a in args)
        again = run_again(self.signature.function)
        with _unrepeatable_refused(named, values=self.real), own_no_grad(), again:
            returned = run_forward(self.signature.function, ctx, args)
        if ctx.dirty_tensors:
            raise FormulaError("forward changes its arguments")
        return ctx, returned if isinstance(returned, tuple) else (returned,), named

    def _terms(self, tensors: Sequence[Any], named: Sequence[Any]) -> tuple[Term | None, ...]:
        """The terms of what was recorded; raises where an array from outside, or a size by chance, is among them."""
        names = {id(t): t._extra.name for t in named}
        edges = [t.edge() if isinstance(t, Recorded) else None for t in tensors]
        reading = Reading(
            [*(e for e in edges if e is not None), *(t.edge() for t in named)], names, dict(self.letters), local=True
        )
        known = {reading[t.edge()] for t in named}
        if any(reading[t.edge()] is not term for t, term in zip(named, self.symbols, strict=False)):
            raise FormulaError("its sizes are not those of its arguments")
        if any(e.__class__ is Source and e.recipe is None and reading[e] not in known for e in edges):
            raise FormulaError("its result is made from values")
        places = {term: _number(leaf) for leaf in reading.leaves if (term := reading.terms[id(leaf)]) not in known}
        found = iter(substitute([reading[e] for e in edges if e is not None], places))
        return tuple(None if e is None else next(found) for e in edges)


def _moves(out: Any) -> bool:
    return isinstance(out, Recorded) and is_floating(out._value.dtype)


def _leaf(name: str, tensor: Any) -> Any:
    """A tensor made a leaf with that name, wherever a context keeps it."""
    tensor._node, tensor._extra = None, None
    tensor.more().name = name
    tensor._requires_grad = is_floating(tensor._value.dtype)
    return tensor


def _cotangent(k: int, out: Any) -> Any:
    return _leaf(f"{COTANGENT}{k}", plain(type(out), np.ones(out._value.shape, out._value.dtype)[()]))


def _letters(args: Sequence[Term], shapes: Sequence[tuple[int, ...]]) -> dict[int, str]:
    """The letters that sizes stand for in the arguments' formulas."""
    letters: dict[int, str] = {}
    for arg, shape in zip(args, shapes, strict=True):
        for size, n in zip(arg.shape, shape, strict=True):
            if isinstance(size, str) and letters.setdefault(n, size) != size:
                raise FormulaError("two sizes have one value")
    return letters


def _number(leaf: Any) -> Term:
    """A constant as a number; raises for arrays, of which nobody knows whether they are the same next time."""
    alive = leaf.ref() if isinstance(leaf, Source) else None
    value = alive._value if alive is not None else getattr(leaf, "kept", None)
    if value is None or np.shape(value):
        raise FormulaError("it takes an array from elsewhere")
    return number(value[()])


def _stand_in(shape: tuple[int, ...], dtype: Any) -> Any:
    """Values that most functions take: numbers between 0 and 1, in matrices that have an inverse."""
    if not is_floating(dtype):
        return np.zeros(shape, dtype)
    made = np.full(shape, 0.5, dtype)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        made += np.eye(shape[-1], dtype=made.dtype)
    return made


@contextmanager
def _unrepeatable_refused(tensors: Sequence[Any], values: bool) -> Iterator[None]:
    """What no formula can repeat raises; ``values``: looks at values are no such thing."""
    watch = Watch(everything=True, refuses=("problems",) if values else ("problems", "reads"))
    watch.inputs.update(map(id, tensors))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with watch, enable_grad(), changes_seen(arguments_kept(watch)):
            yield


def _repeatable(run: Callable[[], tuple[Term | None, ...]]) -> tuple[Term | None, ...]:
    """What ``run`` gives twice: what draws random numbers or counts its calls has no formula."""
    first, second = run(), run()
    if len(first) != len(second) or any(a is not b for a, b in zip(first, second, strict=True)):
        raise FormulaError("it gives something else every time")
    return first

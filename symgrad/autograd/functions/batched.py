"""Custom functions on whole batches: the user's static ``vmap`` in place of one run per example.

``symgrad.func.vmap`` runs examples one by one.  When the first of them meets a function with a rule for batches, it
starts again with a :class:`~symgrad.tape.forward.bundle.Bundle` of all examples for each argument; the function's rule
then gets what the bundles are made of.  What cannot run on bundles (a branch on values, a change in place) runs on
examples after all, without the rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from symgrad.autograd.graphs.shown import version_of
from symgrad.errors import AutogradError
from symgrad.op import lookup, shape_of
from symgrad.ops.shapes.shaping import axis_of
from symgrad.tape import containers
from symgrad.tape.forward.bundle import Bundle
from symgrad.tape.forward.dual import new_tag
from symgrad.tape.record import Recorded
from symgrad.tape.threads import ThreadState, meanwhile
from symgrad.tape.watching.captured import SHARED

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a function's ``vmap`` is told: how many examples there are, and what ``vmap`` said of random numbers."""

    batch_size: int
    randomness: str


class Wanted(BaseException):
    """Raised through an example that meets what is done to the whole batch, up to the mapped call that shall do it.

    That is a function with a rule for batches, for the outermost call, or the change of a tensor that all share.
    """


class Level:
    """One mapped call.

    whole      whether it runs on bundles now
    changing   whether it does so since it changes a tensor that all examples share, which is to be done once
    untouched  whether no example was changed in place so far, so that the call may begin anew
    places     by bundle: the argument that it is the examples of, and their axis in it
    """

    def __init__(self, info: VmapInfo, untouched: Callable[[], bool]):
        self.tag = new_tag()
        self.info = info
        self.untouched = untouched
        self.whole = self.changing = False
        self.refused: Exception | None = None
        self.places: dict[Bundle, tuple[Any, int]] = {}

    def bundle(self, argument: Any, dim: int) -> Bundle:
        """All examples of one argument."""
        made = Bundle(self.tag, to_front(argument, dim))
        self.places[made] = argument, dim
        return made

    def change_once(self) -> None:
        """Begin anew on bundles, before an example changes what all of them share."""
        self.changing = True
        raise Wanted(self)

    def owns(self, value: Any) -> bool:
        """Whether a value is a bundle of this call."""
        return isinstance(value, Bundle) and value.tag == self.tag


class _Levels(ThreadState):
    open: tuple[Level, ...] = ()


LEVELS = _Levels()
"""The mapped calls under way in this thread, outermost first."""


def to_front(whole: Any, dim: int) -> Any:
    """An axis moved to the front."""
    rank = len(shape_of(whole))
    order = (dim, *(k for k in range(rank) if k != dim))
    return whole if not dim else lookup("permute")(whole, dims=order)


def ruled(function: Any, args: tuple[Any, ...]) -> Any:
    """What a function's rule makes of a batch; NotImplemented where its ``forward`` is to run on these arguments.

    Raises torch's errors for a rule that gives something else than outputs and their axes.
    """
    level = LEVELS.open[-1]
    own, generated = has_rule(function), function.generate_vmap_rule
    if own and generated:
        raise AutogradError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
            f"avoid ambiguity. {_MORE}"
        )
    if not level.whole:
        if own and level.untouched():
            raise Wanted(next(outer for outer in LEVELS.open if not outer.whole and outer.untouched()))
        return NotImplemented
    leaves, structure = containers.flatten(args)
    if not any(map(level.owns, leaves)):
        return _below(lambda: function.apply(*args))
    if not own:
        return _by_examples(function, args, level)
    try:
        return _below(lambda: _by_rule(function, leaves, structure, level))
    except Exception as error:
        level.refused = error  # it is the user's: the examples would not raise it
        raise


def has_rule(function: Any) -> bool:
    """Whether the user wrote a ``vmap`` for a function."""
    from symgrad.autograd.function import Function

    return function.vmap is not Function.vmap


def _below(run: Callable[[], Any]) -> Any:
    """``run()`` as it goes outside of the innermost mapped call."""
    with meanwhile(LEVELS, open=LEVELS.open[:-1]):
        return run()


def _by_rule(function: Any, leaves: list[Any], structure: Any, level: Level) -> Any:
    places = [level.places.get(x, (x.stack(), 0)) if level.owns(x) else (x, None) for x in leaves]
    args = containers.unflatten(structure, iter([whole for whole, _ in places]))
    dims = containers.unflatten(structure, iter([dim for _, dim in places]))
    given = function.vmap(level.info, dims, *args)
    if not isinstance(given, tuple) or len(given) != 2:
        got = f"{len(given)} returns" if isinstance(given, tuple) else f"a {type(given)}"
        raise AutogradError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            f"compatible with the output. Got {got} instead"
        )
    outputs, shape = containers.flatten(given[0])
    out_dims, other = containers.flatten(given[1])
    if other == containers.LEAF:
        out_dims = out_dims * len(outputs)
    elif other != shape:
        raise AutogradError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={given[1]} to be compatible with the structure of `output`. out_dims has structure "
            f"{containers.shown(other)} but output has structure {containers.shown(shape)}. {_MORE}"
        )
    same = {id(whole): x for (whole, dim), x in zip(places, leaves, strict=True) if dim is not None}
    made = [_bundle(out, dim, level, same) for out, dim in zip(outputs, out_dims, strict=True)]
    return containers.unflatten(shape, iter(made))


def _bundle(out: Any, dim: Any, level: Level, same: dict[int, Any]) -> Any:
    if dim is None or id(out) in same:
        return same.get(id(out), out)  # an argument that the rule changed and gave back is still itself
    return Bundle(level.tag, to_front(out, axis_of(dim, len(shape_of(out)))))


def _row(level: Level, k: int, value: Any) -> Any:
    return value.each()[k] if level.owns(value) else value


def _by_examples(function: Any, args: tuple[Any, ...], level: Level) -> Any:
    """The function on one example after the other, its results along an axis in front."""
    rows = []
    for k in range(level.info.batch_size):
        row = containers.tree_map(functools.partial(_row, level, k), args)
        rows.append(_below(functools.partial(function.apply, *row)))
    columns, structure = [containers.flatten(row)[0] for row in rows], containers.flatten(rows[0])[1]
    made = [Bundle(level.tag, lookup("stack")(*column, dim=0)) for column in zip(*columns, strict=True)]
    return containers.unflatten(structure, iter(made))


def in_batches(
    info: VmapInfo, leaves: Sequence[Any], each: Callable[[Level], Any], whole: Callable[[Level], Any]
) -> Any:
    """A mapped call: ``each(level)`` runs examples, ``whole(level)`` bundles where a rule for batches is met."""
    before = [version_of(x) for x in leaves if isinstance(x, Recorded)]
    level = Level(info, lambda: before == [version_of(x) for x in leaves if isinstance(x, Recorded)])
    with meanwhile(LEVELS, open=(*LEVELS.open, level)):
        try:
            return each(level)
        except Wanted as wanted:
            if wanted.args[0] is not level:
                raise
        level.whole = True
        try:
            return whole(level)
        except Exception as error:
            if level.refused is not None:
                raise
            if level.changing and not isinstance(error, AutogradError):  # which has words of its own
                raise AutogradError(SHARED) from error
            if level.changing:
                raise
        level.whole, level.untouched = False, lambda: False
        return each(level)

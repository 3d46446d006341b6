"""In-place changes of arrays, and the check that no saved value was changed before backward used it.

Nothing is paid per op: a change notes the array's storage, the current creation number and the line it came from;
backward looks only when there are such notes, and a node is stale when a storage it saved was changed after the node
was made.
"""

from __future__ import annotations

import bisect
import linecache
import sys
import weakref
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

import numpy as np

from symgrad.dtypes import type_name
from symgrad.errors import AutogradError, ChangedInPlace
from symgrad.notices import users_line
from symgrad.tape.graph import FREED, Labelled, Node
from symgrad.tape.naming import word_of
from symgrad.tape.numbering import sequence

_REMEMBERED = 8
_age = attrgetter("sequence_nr")
DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please "
    "use out-of-place `.detach()` instead"
)


class Change:
    """What is known of the changes of some memory.

    owner    a reference to the array that has it
    latest   creation number at the last change of any kind
    version  number of open changes, as torch counts
    times    creation numbers at the last open changes
    site     the user's code and line of the last open change
    history  a reference to the array of the tensor that has another history since a recorded change, and torch's word
             for the node of that; else None
    """

    __slots__ = ("history", "latest", "owner", "site", "times", "version")

    def __init__(self, owner: weakref.ref[Any]):
        self.owner = owner
        self.latest = self.version = 0
        self.times: list[int] = []
        self.site: tuple[Any, int] | None = None
        self.history: tuple[weakref.ref[Any], str] | None = None


_changed: dict[int, Change] = {}
"""By the identity of the owner of the memory."""


_scalars: dict[int, tuple[Any, list[Any]]] = {}
"""By identity: 0-d values that graphs may have saved, and the arrays that their tensors have now instead."""
_room = 64
_UNHELD = 2
"""References to a scalar that no graph holds: the entry's own, and that of asking."""


def note_scalar(value: Any) -> Any:
    """A 0-d array for a NumPy scalar, which cannot be written to; nodes that saved the scalar see its changes."""
    global _room
    array = np.array(value)
    if len(_scalars) >= _room:
        for key, entry in list(_scalars.items()):
            if sys.getrefcount(entry[0]) <= _UNHELD:
                del _scalars[key]
        _room = max(64, 2 * len(_scalars))
    _scalars.setdefault(id(value), (value, []))[1].append(array)
    return array


def _instead(value: Any) -> list[Any]:
    """The arrays that tensors of a saved value have: itself, or those made of a 0-d value."""
    if isinstance(value, np.generic):
        return _scalars[id(value)][1] if id(value) in _scalars else []
    return [value] if isinstance(value, np.ndarray) else []


def storage(array: Any) -> Any:
    """The array that owns the memory."""
    while array.__class__ is np.ndarray or isinstance(array, np.ndarray):
        base = array.base
        if base is None:
            break
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # NumPy's stride tricks put an object of their own in between
            if not isinstance(base, np.ndarray):
                break
        array = base
    return array


class Apart(np.ndarray):
    """Stands between an array and the memory that it shows, so that its changes are counted apart.

    Those of its views are counted with them.  The memory knows that it changed, and backward has nothing to object to.
    """


class Foreign(Apart):
    """The same for an array of NumPy's: torch takes its memory for a storage of its own, whoever else has it, too."""


def apart(array: Any, kind: type[Apart] = Apart) -> Any:
    """An array of the same memory whose changes are counted apart: that of ``.data``, and what NumPy gives back."""
    return array.view(kind).view(kind).view(np.ndarray)  # NumPy leaves out what stands between two arrays alone


def counter(array: Any, border: type[Apart] = Apart) -> Any:
    """The array by which changes are counted: the owner of the memory, or what was set apart from it.

    With ``border`` Foreign the array that torch's storage has: ``.data`` is not set apart from it.
    """
    while isinstance(array, np.ndarray):
        base = array.base
        if base is None or isinstance(base, border):
            break
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)
            if not isinstance(base, np.ndarray):
                break
        array = base
    return array


def _beneath(owner: Any) -> Any:
    """The array that one was set apart from; None where it was not."""
    return owner.base.base.base if isinstance(getattr(owner, "base", None), Apart) else None


def note_change(array: Any, seen: bool = True) -> None:
    """Remember that the memory of ``array`` changed now; ``seen``: by the line that the user is at."""
    owner, now = array if array.base is None else counter(array), next(sequence)
    _Latest.number = now
    if isinstance(owner, np.ndarray):
        note = _changed.get(id(owner))
        if note is None or note.owner() is not owner:
            note = _open_note(owner)
        note.latest = now
        note.version += 1
        note.times.append(now)
        if len(note.times) > _REMEMBERED:
            del note.times[0]
        note.site = users_line() if seen else None
    while owner.base is not None and (beneath := _beneath(owner)) is not None:
        owner = counter(beneath)
        _open_note(owner).latest = now


def note_history(array: Any, node: Any) -> None:
    """Remember that the tensor of an array whose memory changed has the history ``node`` since."""
    note = _note(array)
    if note is not None and node.__class__ is Node:
        note.history = weakref.ref(array), word_of(node)


def _open_note(owner: Any) -> Change:
    """What is known of the changes of an owner of memory, to be written to."""
    note = _changed.get(id(owner))
    if note is None or note.owner() is not owner:
        note = _changed[id(owner)] = Change(_reference(owner, _changed))
    return note


def _reference(array: Any, notes: dict[int, Any]) -> weakref.ref[Any]:
    """A reference to an array with which what is noted of it is forgotten, also when the interpreter ends."""
    key = id(array)

    def forget(_: object, forgotten: Callable[..., Any] = notes.pop) -> None:
        forgotten(key, None)

    return weakref.ref(array, forget)


def _note(array: Any) -> Change | None:
    owner = counter(array)
    note = _changed.get(id(owner)) if _changed else None
    return note if note is not None and note.owner() is owner else None


def changes(array: Any) -> int:
    """How often the memory of ``array`` was openly changed in place: torch's version number."""
    note = _note(array)
    return 0 if note is None else note.version


def changed_since(array: Any, number: float) -> bool:
    """Whether the memory of ``array`` was changed in place after that creation number."""
    while _changed and isinstance(array, np.ndarray):
        note = _note(array)
        if note is not None and note.latest > number:
            return True
        array = _beneath(counter(array))
    return False


class _Latest:
    """The creation number of the latest change of any memory."""

    number = 0


def changed_after_oldest(nodes: Sequence[Node]) -> bool:
    """Whether any array was changed in place, or its tensor detached or given other ``data``, since the oldest node.

    Parameters that were changed before the graph was made, as in every step of a training loop, cost a pass nothing.
    """
    return _Latest.number > 0 and bool(nodes) and _Latest.number >= min(map(_age, nodes))


def any_changes() -> bool:
    """Whether any live array was changed in place, or its tensor detached in place or given other ``data``."""
    return bool(_changed or _detached or _replaced)


class Detached(NamedTuple):
    """A tensor that was detached in place."""

    array: weakref.ref[Any]
    when: int
    tensor: weakref.ref[Any]


_detached: dict[int, Detached] = {}
"""By the identity of the array of the tensor."""


def note_detached(tensor: Any, array: Any) -> None:
    """Remember that a tensor was detached in place now: to who saved its array as an operand it is lost."""
    key, now = id(array), next(sequence)
    _Latest.number = now
    _detached[key] = Detached(_reference(array, _detached), now, weakref.ref(tensor))


def detached_since(value: Any, node: Node) -> Detached | None:
    """What is known of a value that ``node`` saved if its tensor was detached in place afterwards."""
    for array in _instead(value) if _detached else ():
        note = _detached.get(id(array))
        if note is not None and note.array() is array and note.when > node.sequence_nr:
            return note
    return None


class Replaced(NamedTuple):
    """An array that is no longer that of its tensor, since other ``data`` was set."""

    old: weakref.ref[Any]
    place: weakref.ref[Any]  # where the tensor stands in graphs
    new: Any
    when: int


_replaced: dict[int, tuple[Replaced, ...]] = {}
"""By the identity of the old array, which a tensor and what is detached from it share."""
_parted = _reformed = False


def parted() -> bool:
    """Whether some tensor ever got other ``data``, so that a view need not lie in the memory of its base."""
    return _parted


_given: weakref.WeakKeyDictionary[Node, tuple[Any, int]] = weakref.WeakKeyDictionary()
"""The data that the result of a node was given last, and when: of what it had, nobody need keep the memory."""


def given_data(place: Any, since: int) -> Any:
    """The data that the result of a node was given after a creation number; None where it was not."""
    new, when = _given.get(place, (None, 0)) if place.__class__ is Node else (None, 0)
    return new if when > since else None


def reformed() -> bool:
    """Whether some tensor ever got ``data`` of another shape or dtype."""
    return _reformed


def note_formed(tensor: Any, when: int, former: Any) -> None:
    """Remember the shape and dtype that a tensor had until it got others by ``.data`` or in place without grad."""
    global _reformed
    _reformed, extra = True, tensor.more()
    extra.formed = [*(extra.formed or ()), (when, former.shape, former.dtype)]


def note_replaced(old: Any, place: Any, new: Any) -> int:
    """Remember that the tensor at ``place`` has other data now: who saved it as an operand reads that, as in torch.

    Returns the creation number of the change.
    """
    global _parted
    key, now, _parted = id(old), next(sequence), True
    _Latest.number = now
    others = (r for r in _replaced.get(key, ()) if r.old() is old and r.place() is not place)
    _replaced[key] = (*others, Replaced(_reference(old, _replaced), weakref.ref(place), new, now))
    if place.__class__ is Node:
        _given[place] = (new, now)
    return now


def renewed(tensor: Any, since: float) -> bool:
    """Whether a tensor was changed in place, or given other data, after a creation number; False where it is gone."""
    if tensor is None:
        return False
    if tensor._extra is not None and tensor._extra.renewed > since:
        return True
    return any(changed_since(array, since) for array in _instead(tensor._value))


def catch_up(node: Node) -> None:
    """Let a node read what its operands have by now: other ``data``, or 0-d values that changed through ``.data``."""
    if node.saved.__class__ is not tuple or node.saved is FREED:
        return
    if node.op.kind == "function":  # which knows itself where its operands stand
        return
    places, since = _places(node), node.sequence_nr
    now = [by_now(value, place, since) for value, place in zip(node.saved, places, strict=False)]
    if any(was is not value and not _alike(was, value) for was, value in zip(node.saved, now, strict=True)):
        _misfits.add(node)
    for given in node.args.kept if node.args.__class__ is Labelled else ():
        if given.__class__ is Given:
            array, place = given.array(), places[given.position]
            other = given_data(place, since) if array is None else by_now(array, place, since)
            if other is not None and (other is not array or changed_since(array, since)):
                if array is None or not _alike(array, other):
                    _misfits.add(node)
                now[given.position] = other.astype(node.saved[given.position].dtype)[()]
    if any(a is not b for a, b in zip(now, node.saved, strict=True)):
        node.saved = tuple(now)


_misfits: weakref.WeakSet[Node] = weakref.WeakSet()
"""Nodes that read other data of another shape or dtype than they saved."""


def _alike(a: Any, b: Any) -> bool:
    return bool(a.shape == b.shape and a.dtype == b.dtype)


_refused: weakref.WeakKeyDictionary[Node, str] = weakref.WeakKeyDictionary()
"""Nodes at which functions of several ops end that cannot be run again, and the reason."""


def refuse_backward(node: Node, reason: str) -> None:
    """Let backward object to a node for a reason."""
    _refused[node] = reason


def reads_misfit(node: Node) -> bool:
    """Whether a node reads data of another shape or dtype than it saved, since they were set."""
    return node in _misfits


def former(place: Any, node: Node) -> tuple[tuple[int, ...], Any] | None:
    """The shape and dtype that a leaf had when ``node`` was made, if it has others by now; else None."""
    extra = getattr(place, "_extra", None)
    formed = None if extra is None else extra.formed
    if not formed or node.sequence_nr >= formed[-1][0]:
        return None
    return formed[bisect.bisect_right(formed, node.sequence_nr, key=itemgetter(0))][1:]  # type: ignore[no-any-return]


def _places(node: Node) -> tuple[Any, ...]:
    """Where what a node saved stands: its operands, or the node itself for views of them, which keep their memory."""
    indirect = node.op.indirect
    if not indirect:
        return (None, *node.args)
    if indirect is True:
        return (node,) * (1 + len(node.args))
    viewed = indirect(node)
    return (None, *(node if seen else arg for arg, seen in zip(node.args, viewed, strict=True)))


def by_now(value: Any, place: Any, since: int) -> Any:
    """A value that was saved as that of ``place`` at the creation number ``since``, or what stands for it by now."""
    for array in _instead(value):
        if array is not value and changed_since(array, since):
            value = array
        while (other := _replacement(array, place, since)) is not None:
            if changed_openly(array, since):  # before the data were set: backward objects
                break
            value = array = other.new
    return value


def _replacement(array: Any, place: Any, since: int) -> Replaced | None:
    """What is known of an array if the tensor at ``place`` had it, and got other ``data`` after a creation number."""
    for other in _replaced.get(id(array), ()):
        if other.old() is array and other.place() is place and other.when >= since:
            return other
    return None


def fresh(node: Node) -> bool:
    """Whether no value that ``node`` saved was changed in place after the node was made."""
    try:
        check_saved(node)
    except AutogradError:
        return False
    return True


def kept(tensor: Any) -> Any:
    """A reference to what counts the changes of a tensor, for :attr:`Labelled.kept`: it need not live on.

    That is its memory, but for ``.data``, whose changes are counted apart.
    """
    value = getattr(tensor, "_value", None)
    return weakref.ref(counter(value)) if isinstance(value, np.ndarray) else lambda: value


def set_apart(node: Node, value: Any) -> None:
    """Let a node keep a copy of its first operand, of which torch keeps factors; the operand may not change openly."""
    if len(node.saved) > 1 and node.saved[1] is value and isinstance(value, np.ndarray):
        node.saved = (node.saved[0], value.copy(), *node.saved[2:])
        Labelled.on(node, None, None, (weakref.ref(counter(value)),))


class Given:
    """A reference to the memory of an operand of which a cast copy was saved, at ``position`` of the saved values."""

    __slots__ = ("array", "position", "ref")

    def __init__(self, tensor: Any, position: int):
        self.ref, self.position = kept(tensor), position
        array = tensor._value
        self.array = weakref.ref(array) if isinstance(array, np.ndarray) else lambda: array

    def __call__(self) -> Any:
        """The memory, while it lives."""
        return self.ref()


class Memory:
    """A reference to the memory of a node's result or of a view, which may be detached though it may not change."""

    __slots__ = ("ref",)

    def __init__(self, ref: Any):
        self.ref = ref

    def __call__(self) -> Any:
        """The array, while it lives."""
        return self.ref()


def check_saved(node: Node) -> None:
    """Raise torch's error when a value that ``node`` saved was changed in place after the node was made."""
    if node.saved is FREED:
        return
    if _refused and node in _refused:
        raise AutogradError(_refused[node])
    for k, value in enumerate(node.saved):
        note = _late(value, node)
        if note is not None:
            raise ChangedInPlace(_stale(node, node if k == 0 else node.args[k - 1], value, note, k))
        if k and detached_since(value, node) and _places(node)[k] is not node:
            raise AutogradError(DETACHED)
    if node.args.__class__ is Labelled:
        for owner in node.args.kept:
            note = _late(owner(), node)
            if note is not None:
                raise ChangedInPlace(_stale(node, None, owner(), note))
            if owner.__class__ is not Memory and detached_since(owner(), node):
                raise AutogradError(DETACHED)


def _late(value: Any, node: Node) -> Change | None:
    """What is known of a value's memory if it was openly changed after ``node`` was made."""
    for array in _instead(value):
        note = changed_openly(array, node.sequence_nr)
        if note is not None:
            return note
    return None


def changed_openly(array: Any, number: int) -> Change | None:
    """What is known of an array's memory if it was openly changed after that creation number."""
    note = _note(array)
    return note if note is not None and note.times and note.times[-1] > number else None


def unchanged(values: Sequence[tuple[Any, Any]], since: int, what: str) -> None:
    """Raise torch's error where a value, given with its place in graphs, changed openly after a creation number.

    ``what`` tells who needs it as it was.
    """
    for value, place in values:
        for array in _instead(value):
            note = changed_openly(array, since)
            if note is not None:
                raise ChangedInPlace(f"{_words(place, value, note, since)} {what}")


def _laid_alike(a: Any, b: Any) -> bool:
    """Whether two arrays are the same entries of the same memory."""
    return a is b or (a is not None and a.__array_interface__ == b.__array_interface__)


def _words(place: Any, value: Any, note: Change, number: int) -> str:
    """The start of torch's words for a value that changed after a creation number."""
    since = sum(time > number for time in note.times)
    expected = note.version - since
    made = word_of(place) if isinstance(place, Node) else None
    operand = not (isinstance(place, Node) and place.sequence_nr >= number)
    cut = isinstance(place, Node) and place.op.view is not None
    if operand and note.history is not None:
        array, word = note.history
        whole = array() is value or (not cut and (counter(value) is value or _laid_alike(array(), value)))
        made = word if whole else "AsStrided"
    elif operand and made is not None and cut and counter(value) is not value:
        made = "AsStrided"  # of views of what changed, torch takes another one by strides
    which = "" if made is None else f", which is output 0 of {made},"
    known = str(expected) if since < len(note.times) or since == note.version else f"{expected} or earlier"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name(value.dtype)} {list(value.shape)}]{which} is at version {note.version}; expected version {known} "
        "instead."
    )


def _stale(node: Node, place: Any, value: Any, note: Change, saved: int | None = None) -> str:
    """torch's words for a stale value, then its name, who saved it, the line that changed it and the rule it is in."""
    from symgrad.tape.formulas.local import reading_of

    made = place.op if isinstance(place, Node) else None
    where = ""
    if note.site is not None:
        code, number = note.site
        line = linecache.getline(code.co_filename, number).strip()
        where = f" by {line!r} (line {number} of {code.co_filename})" if line else f" at line {number}"
    name = None if made is not None else _name(place)
    what = "It was" if name is None else f"{name} was"
    rule = "" if saved is None else reading_of(node, saved)
    needed = f" The old value is needed: {rule}." if rule else ""
    return (
        f"{_words(place, value, note, node.sequence_nr)} {what} saved for the backward of {node.op.name} and changed "
        f"afterwards{where}.{needed} Hint: "
        f"change a copy ({'x = x.clone()' if note.site else 'x = x.copy() of an array of NumPy'}) or use the "
        "out-of-place operation."
    )


def _name(place: Any) -> str | None:
    """The symbol of a leaf or constant, given or read from its assignment."""
    from symgrad.tape.formulas.names import site_name

    known = getattr(place, "_extra", place)
    found: str | None = None if known is None else site_name(known.name, known.site)
    return found

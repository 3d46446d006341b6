"""In-place changes of arrays, and the check that no saved value was changed before backward used it.

Nothing is paid per op: a change notes the array's storage and the current creation number; backward looks only when
there are such notes, and a node is stale when a storage it saved was changed after the node was made.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np

from symgrad.errors import AutogradError
from symgrad.tape.graph import FREED, Node, sequence

_changed: dict[int, tuple[weakref.ref[Any], int, int, int]] = {}
"""By the identity of the owner of some memory: the owner, when it last changed at all, when and how often openly."""


_scalars: dict[int, tuple[Any, Any]] = {}
"""By identity: 0-d values that graphs may have saved, and the array that their tensor has now instead."""
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
    _scalars[id(value)] = (value, array)
    return array


def storage(array: Any) -> Any:
    """The array that owns the memory."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array


def note_change(array: Any, silent: bool = False) -> None:
    """Remember that the memory of ``array`` changed now; ``silent`` (through ``.data``): backward does not object."""
    owner = storage(array)
    if isinstance(owner, np.ndarray):
        key = id(owner)
        note, now = _note(owner), next(sequence)
        openly, count = (0, 0) if note is None else note[2:]
        gone = weakref.ref(owner, lambda _: _changed.pop(key, None))
        _changed[key] = (gone, now, openly, count) if silent else (gone, now, now, count + 1)


def _note(array: Any) -> Any:
    owner = storage(array)
    note = _changed.get(id(owner)) if _changed else None
    return note if note is not None and note[0]() is owner else None


def changes(array: Any) -> int:
    """How often the memory of ``array`` was openly changed in place: torch's version number."""
    note = _note(array)
    return 0 if note is None else note[3]


def changed_since(array: Any, number: int) -> bool:
    """Whether the memory of ``array`` was changed in place after that creation number."""
    note = _note(array)
    return note is not None and note[1] > number


def any_changes() -> bool:
    """Whether any live array was changed in place."""
    return bool(_changed)


def check_saved(node: Node) -> None:
    """Raise torch's error when a value that ``node`` saved was changed in place after the node was made."""
    if node.saved is FREED:
        return
    for value in node.saved:
        if isinstance(value, np.generic) and id(value) in _scalars:
            array = _scalars[id(value)][1]
            note = _note(array)
        else:
            note = _note(value) if isinstance(value, np.ndarray) else None
        if note is not None and note[2] > node.sequence_nr:
            raise AutogradError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{value.dtype} {list(value.shape)}], saved by {node.op.name}, was changed after it was used. "
                "Hint: change a copy (x = x.clone()) or use the out-of-place operation."
            )

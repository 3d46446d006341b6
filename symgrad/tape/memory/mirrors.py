"""Conjugates that follow what they were taken of, as torch's do, which share its memory.

NumPy has no array that reads its memory conjugated.  A conjugate is an array of its own, an image: it is written again
whenever the memory that it shows has changed, and what is written to it is written back.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np

from symgrad.tape.memory.versions import counter, note_change, storage


class Mirror(NamedTuple):
    """What an image shows, and the image while it lives."""

    source: Any
    image: weakref.ref[Any]


IMAGES: dict[int, Mirror] = {}
"""By the identity of the image."""
_by_source: dict[int, list[Mirror]] = {}
"""By the identity of the owner of what is shown, which its mirrors keep alive."""


def image_of(source: Any) -> Any:
    """The conjugate of an array that may be written to, kept equal to it from now on."""
    image = np.conj(source, out=np.empty_like(source))
    key, owner = id(image), id(storage(source))
    mirror = Mirror(source, weakref.ref(image, lambda _: _forget(key, owner)))
    IMAGES[key] = mirror
    _by_source.setdefault(owner, []).append(mirror)
    return image


def mirrored() -> bool:
    """Whether there are images at all."""
    return bool(IMAGES)


def memory(array: Any) -> Any:
    """The owner of the memory that an array is in the end made of: not an image, but what it shows."""
    owner = storage(array)
    while id(owner) in IMAGES:
        owner = storage(IMAGES[id(owner)].source)
    return owner


def _forget(key: int, owner: int) -> None:
    gone = IMAGES.pop(key)
    left = [mirror for mirror in _by_source[owner] if mirror is not gone]
    if left:
        _by_source[owner] = left
    else:
        del _by_source[owner]


def reflect(array: Any) -> None:
    """Let images, and what they are images of, follow a change of the memory of ``array``."""
    if not mirrored():
        return
    counted = counter(array) is storage(array)
    waiting, seen = [storage(array)], {id(storage(array))}
    while waiting:
        owner = waiting.pop()
        pairs = [(mirror.image(), mirror.source) for mirror in _by_source.get(id(owner), ())]
        if id(owner) in IMAGES:
            pairs.append((IMAGES[id(owner)].source, owner))
        for target, shown in pairs:
            if target is not None and id(storage(target)) not in seen:
                target[...] = np.conj(shown)
                if counted:
                    note_change(target)
                seen.add(id(storage(target)))
                waiting.append(storage(target))

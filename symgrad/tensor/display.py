"""Text of tensors, as torch prints them.

The numbers, brackets, line breaks and suffixes are torch's, character for character, with one difference: dtypes are
NumPy's here, so the suffix reads ``dtype=float64`` where torch writes ``dtype=torch.float64``.  Lines break where
torch's break, so taking ``torch.`` out of torch's text gives this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import ArgumentError
from symgrad.tape.memory.aliases import Invalid

_DEFAULTS: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES: dict[str, dict[str, Any]] = {
    "default": _DEFAULTS,
    "short": {**_DEFAULTS, "precision": 2, "edgeitems": 2},
    "full": {**_DEFAULTS, "threshold": math.inf},
}
_options = dict(_DEFAULTS)


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; what is None stays as it is.

    ``profile`` is "default", "short" or "full".  ``sci_mode`` None chooses by the range of the values, and goes back
    to that at every call that does not name it, as in torch.

    >>> import symgrad as sg
    >>> sg.set_printoptions(precision=2)
    >>> sg.tensor(1 / 3)
    tensor(0.33)
    >>> sg.set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ArgumentError(f"set_printoptions: profile is one of {', '.join(_PROFILES)}, not {profile!r}.")
        _options.update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update({key: value for key, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options in force, in the form :func:`set_printoptions` takes them.

    >>> import symgrad as sg
    >>> sg.get_printoptions()["precision"]
    4
    """
    return dict(_options)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Other print options until the end of the block.

    >>> import symgrad as sg
    >>> with printoptions(precision=2):
    ...     sg.tensor([1.2345])
    tensor([1.23])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        _options.update(before)


# ---------------------------------------------------------------------------------------------- one entry


class _Format:
    """How the entries of one array print: one width and one notation for all of them."""

    def __init__(self, values: Any):
        self.floating = values.dtype.kind not in "biu"
        self.whole, self.scientific, self.width = True, False, 1
        if not self.floating:
            self.width = max((len(str(v)) for v in values.ravel().tolist()), default=1)
            return
        wide = values.astype(np.float64).ravel()
        shown = wide[np.isfinite(wide) & (wide != 0)]
        if not shown.size:
            return
        size = np.abs(shown)
        low, high = float(size.min()), float(size.max())
        self.whole = bool((shown == np.ceil(shown)).all())
        chosen = _options["sci_mode"]
        self.scientific = (high / low > 1000 or high > 1e8 or low < 1e-4) if chosen is None else bool(chosen)
        self.width = max(1, max(len(self.number(v)) for v in shown.tolist()))

    def number(self, value: Any) -> str:
        """The entry without padding."""
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{_options['precision']}e}"
        if self.whole:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{_options['precision']}f}"

    def padded(self, value: Any) -> str:
        """The entry at the common width."""
        return self.number(value).rjust(self.width)


def _formatter(values: Any) -> tuple[Callable[[Any], str], int]:
    """The function that prints an entry, and the width it takes with the separator."""
    if values.dtype.kind != "c":
        one = _Format(values)
        return one.padded, one.width + 2
    real, imag = _Format(values.real), _Format(values.imag)

    def pair(value: complex) -> str:
        second = imag.padded(value.imag).lstrip() + "j"
        return real.padded(value.real) + (second if second[0] in "+-" else f"+{second}")

    return pair, real.width + imag.width + 3


# ---------------------------------------------------------------------------------------------- the array


def _corners(values: Any) -> Any:
    """The entries that a summary shows."""
    edge = _options["edgeitems"]
    for axis, size in enumerate(values.shape):
        if size > 2 * edge:
            values = np.take(values, [*range(edge), *range(size - edge, size)], axis)
    return values


def _row(values: Any, indent: int, summarize: bool, entry: Callable[[Any], str], length: int) -> str:
    edge = _options["edgeitems"]
    per_line = max(1, (_options["linewidth"] - indent) // length)
    if summarize and not edge:
        texts = ["..."]
    elif summarize and len(values) > 2 * edge:
        texts = [*map(entry, values[:edge].tolist()), " ...", *map(entry, values[-edge:].tolist())]
    else:
        texts = [entry(v) for v in values.tolist()]
    lines = [", ".join(texts[k : k + per_line]) for k in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _block(values: Any, indent: int, summarize: bool, entry: Callable[[Any], str], length: int) -> str:
    # The depth of this recursion is the number of axes, which NumPy limits to 64.
    if not values.ndim:
        text: str = entry(values.item())
        return text
    if values.ndim == 1:
        return _row(values, indent, summarize, entry, length)
    edge = _options["edgeitems"]
    cut = summarize and len(values) > 2 * edge
    places = [*range(edge), *range(len(values) - edge, len(values))] if cut else range(len(values))
    rows = [_block(values[k], indent + 1, summarize, entry, length) for k in places]
    if cut:
        rows.insert(edge, "...")
    separator: str = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(rows) + "]"


def array_text(values: Any, indent: int = 0) -> str:
    """The nested brackets of an array; lines after the first are indented by ``indent``."""
    if not values.size:
        return "[]"
    if values.dtype.kind == "V":
        values = values.astype(np.float32)
    summarize = values.size > _options["threshold"]
    entry, length = _formatter(_corners(values) if summarize else values)
    return _block(values, indent, summarize, entry, length)


def _suffixes(t: Any, values: Any) -> list[str]:
    found = []
    if not values.size and values.ndim != 1:
        found.append(f"size={tuple(values.shape)}")
    default = dtypes.get_default_dtype()
    usual = {default}
    if values.size:
        usual |= {dtypes.for_python_number(1j), np.dtype(bool), np.dtype(np.int64)}
    if values.dtype not in usual:
        found.append(f"dtype={values.dtype}")
    if t._node.__class__ is Invalid:
        return [*found, "grad_fn=<Invalid>"]  # the base of this view was changed: asking for the node is an error
    node = t.grad_fn
    if node is not None:
        found.append(f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>")
    elif t.requires_grad:
        found.append("requires_grad=True")
    return found


def tensor_text(t: Any, more: tuple[str, ...]) -> str:
    """``repr`` of a tensor, with ``more`` to be said at its end.

    >>> import symgrad as sg
    >>> sg.tensor([[1.0, 2.5], [3.0, 4.0]], requires_grad=True)
    tensor([[1.0000, 2.5000],
            [3.0000, 4.0000]], requires_grad=True)
    >>> sg.tensor([1.0, 2.0], dtype=sg.float64)
    tensor([1., 2.], dtype=float64)
    """
    values = np.asarray(t._value)
    name = type(t).__name__
    prefix = "tensor(" if name == "Tensor" else f"{name}("
    text = prefix + array_text(values, len(prefix))
    last = len(text) - text.rfind("\n") + 1
    for suffix in (*_suffixes(t, values), *more):
        length = len(suffix) + (len("torch.") if suffix.startswith("dtype=") else 0)
        if last + length + 2 > _options["linewidth"]:
            text += ",\n" + " " * len(prefix) + suffix
            last = len(prefix) + length
        else:
            text += ", " + suffix
            last += length + 2
    return text + ")"

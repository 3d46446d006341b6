"""What an explanation says: a sentence on the gradient, and its causes with node, entry, factor, line and remedy."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cause:
    """One cause.

    ``kind``    in a word or two: "detached", "flat", "multiplied by zero", "chain of products" …
    ``text``    one or two sentences
    ``node``    torch's name of the node, None where no node is to blame
    ``op``      the name of its operation in :mod:`symgrad.ops`
    ``index``   the entry of the node's result, None where all are meant or none
    ``value``   what the operation was given there
    ``factor``  by what the gradient is multiplied there
    ``line``    the user's line, ``file.py:12: y = exp(x)``; empty where it is not known
    ``advice``  what to do
    """

    kind: str
    text: str
    node: str | None = None
    op: str | None = None
    index: tuple[int, ...] | None = None
    value: float | None = None
    factor: float | None = None
    line: str = ""
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON knows them; numbers that are not finite are texts."""
        found = asdict(self)
        found["index"] = None if self.index is None else list(self.index)
        for name in ("value", "factor"):
            found[name] = json_numbers(found[name])
        return found

    def __str__(self) -> str:
        rows = [self.text]
        if self.line:
            rows.append(f"  {self.line}")
        if self.advice:
            rows.append(f"  → {self.advice}")
        return "\n".join(rows)


class Told:
    """What prints as its text, in notebooks, too."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "<p>" + "<br>".join(map(html.escape, str(self).splitlines())) + "</p>"


class Explanation(Told):
    """Why a gradient is as it is; what :func:`symgrad.explain` gives.

    ``of``       what the gradient is called: ``w.grad``
    ``kind``     "None", "nan", "infinite", "zero", "huge", "tiny" or "ordinary"
    ``summary``  that in a sentence
    ``causes``   :class:`Cause` objects, the main one first

    It prints as text, in notebooks as a list; ``to_dict()`` is for JSON.
    """

    def __init__(self, of: str, kind: str, summary: str, causes: Sequence[Cause] = ()):
        self.of = of
        self.kind = kind
        self.summary = summary
        self.causes = tuple(causes)

    @property
    def cause(self) -> Cause | None:
        """The main cause."""
        return self.causes[0] if self.causes else None

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it."""
        return {
            "of": self.of,
            "kind": self.kind,
            "summary": self.summary,
            "causes": [cause.to_dict() for cause in self.causes],
        }

    def __str__(self) -> str:
        marks = [f"{k}. " for k in range(1, len(self.causes) + 1)] if len(self.causes) > 1 else [""]
        rows = [self.summary]
        for mark, cause in zip(marks, self.causes, strict=False):
            first, *others = str(cause).splitlines()
            rows += [f"{mark}{first}", *(" " * len(mark) + row for row in others)]
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        items = []
        for cause in self.causes:
            line = f"<br><code>{html.escape(cause.line)}</code>" if cause.line else ""
            advice = f"<br><em>→ {html.escape(cause.advice)}</em>" if cause.advice else ""
            items.append(f"<li>{html.escape(cause.text)}{line}{advice}</li>")
        found = f"<ol>{''.join(items)}</ol>" if items else ""
        return f"<p><strong>{html.escape(self.summary)}</strong></p>{found}"


def json_numbers(value: Any) -> Any:
    """A number, or the entries of an array, as JSON knows them: those that are not finite are texts."""
    if np.ndim(value):
        return [json_numbers(v) for v in value]
    return value if value is None else float(value) if math.isfinite(value) else repr(float(value))


def number_text(value: Any) -> str:
    """A number in a sentence, to four digits."""
    if isinstance(value, complex):
        return f"{value:.4g}"
    return f"{float(value):.4g}"


def digits_text(value: Any) -> str:
    """A number of mpmath in a sentence: its exponent may be beyond any float."""
    import mpmath

    return str(mpmath.nstr(mpmath.mpmathify(value), 3))


def entries_text(count: int, size: int) -> str:
    """``all 5 entries``, ``3 of 5 entries``; for a number ``its value``."""
    if size == 1:
        return "its value"
    return f"all {size} entries" if count == size else f"{count} of {size} entries"


def at_text(index: Sequence[int] | None) -> str:
    """`` at [2, 0]``; nothing for a number."""
    return f" at {list(index)}" if index else ""

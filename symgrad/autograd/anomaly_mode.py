"""Anomaly mode: the first nan of a backward pass is an error that names where it comes from.

While the mode is on, every node keeps the stack of the call that made it, and every gradient that backward computes is
looked at.  Nothing is kept or checked otherwise.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from symgrad.autograd.sweeps.autopsy import Autopsy, Infinite
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, AutogradError, SymgradError
from symgrad.notices import users_frames
from symgrad.tape import observers
from symgrad.tape.backward.engine import Sweep
from symgrad.tape.graph import Node
from symgrad.tape.naming import node_name
from symgrad.tape.observers import RUNNING, PackedRow
from symgrad.tape.record import value_of

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_STARTED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."
)

_GENERATIONS = 10
"""How far back the warnings go: the node that failed, the one whose backward made it, and so on."""


class _Anomaly:
    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


ANOMALY = _Anomaly()


class Trace:
    """Where a node was made: the user's frames, innermost last, and the node whose backward made it, if any."""

    __slots__ = ("frames", "parent")

    def __init__(self, frames: tuple[tuple[str, int, str], ...], parent: Any):
        self.frames = frames
        self.parent = parent

    def lines(self) -> list[str]:
        """A frame each, as ``traceback.format_stack`` gives them."""
        rows = []
        for file, line, function in self.frames:
            text = linecache.getline(file, line).strip()
            rows.append(f'  File "{file}", line {line}, in {function}\n' + (f"    {text}\n" if text else ""))
        return rows

    def __str__(self) -> str:
        return "".join(self.lines()).removesuffix("\n")


def _note(node: Node) -> None:
    """Keep where a node is made."""
    frames = [(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name) for frame in users_frames()]
    sweep = RUNNING.sweeps[-1] if RUNNING.sweeps else None
    parent = getattr(sweep, "current", None)
    node.more().trace = Trace(tuple(reversed(frames)), parent)


def _trace_of(node: Any) -> Trace | None:
    extra = getattr(node, "extra", None)
    return None if extra is None else extra.trace


def _switch(enabled: bool) -> None:
    if enabled and not ANOMALY.enabled:
        observers.observe(_note)
    elif ANOMALY.enabled and not enabled:
        observers.unobserve(_note)
    ANOMALY.enabled = enabled


# ---------------------------------------------------------------------------------------------- the modes


class detect_anomaly:  # noqa: N801  (torch's name)
    """Context in which a nan in a backward pass is an error that names the forward operation and its line.

    The error gives torch's words, the first wrong entry with what went into it, the operation and entry that it begins
    at (an infinite gradient, or a value from before), the formula of the gradient there, the limit of the whole
    derivative by that entry, and how to write it otherwise; its attribute ``autopsy`` has them as ``operation``,
    ``index``, ``slope``, ``limit`` and ``rewrite``.  The warning before it gives the stack of the forward call.
    ``check_nan=False`` keeps the stacks (for errors raised by backward itself) without looking for nan.

    >>> import symgrad as sg, warnings
    >>> warnings.simplefilter("ignore")
    >>> x = sg.tensor([1.0, 0.0], requires_grad=True)
    >>> with sg.autograd.detect_anomaly():
    ...     y = (x.sqrt() * 0).sum()
    ...     y.backward()
    Traceback (most recent call last):
        ...
    symgrad.errors.AutogradError: Function 'SqrtBackward0' returned nan values in its 0th output. ...
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        self._before: list[tuple[bool, bool]] = []
        warnings.warn(_STARTED, stacklevel=2)

    def __enter__(self) -> None:
        self._before.append((ANOMALY.enabled, ANOMALY.check_nan))
        _switch(True)
        ANOMALY.check_nan = self.check_nan

    def __exit__(self, *error: object) -> None:
        enabled, ANOMALY.check_nan = self._before.pop()
        _switch(enabled)


class set_detect_anomaly:  # noqa: N801  (torch's name)
    """Switch anomaly mode on or off: at once as a function, until the end of the block as a context.

    >>> import symgrad as sg
    >>> with sg.autograd.set_detect_anomaly(True):
    ...     sg.autograd.anomaly_mode.is_anomaly_enabled()
    True
    >>> sg.autograd.anomaly_mode.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        if not isinstance(mode, bool):
            raise ArgumentError(f"set_detect_anomaly() takes a bool, not {type(mode).__name__}")
        self._before = (ANOMALY.enabled, ANOMALY.check_nan)
        _switch(mode)
        ANOMALY.check_nan = check_nan

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        enabled, ANOMALY.check_nan = self._before
        _switch(enabled)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    >>> import symgrad as sg
    >>> sg.is_anomaly_enabled()
    False
    """
    return ANOMALY.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode, when on, looks for nan.

    >>> import symgrad as sg
    >>> sg.is_anomaly_check_nan_enabled()
    True
    """
    return ANOMALY.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off; with ``check_nan`` it looks for nan.

    >>> import symgrad as sg
    >>> sg.set_anomaly_enabled(True)
    >>> sg.is_anomaly_enabled()
    True
    >>> sg.set_anomaly_enabled(False)
    """
    set_detect_anomaly(mode, check_nan)


# ---------------------------------------------------------------------------------------------- the checked sweep


class CheckedSweep(Sweep):
    """A backward pass that looks at every gradient."""

    def __init__(self, *args: Any):
        super().__init__(*args)
        after, roots = self.run_post_hooks, self.roots
        infinite: dict[Any, list[Infinite]] = {}  # by the place that an infinite gradient was given to

        def checked(node: Node, results: list[Any], g: Any) -> list[Any]:
            found = after(node, results, g)
            if ANOMALY.check_nan:
                for i, c in enumerate(found):
                    _look(roots, infinite, node, i, c, g)
            return found

        self.run_post_hooks = checked  # which holds no sweep, so that the graph goes away with it

    def _run_block(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            g = self.grads.pop(node, None)
            if g is None:
                self._unreached(node)
                continue
            node.more()  # hooks run, and with them the check, where a node has room for them
            try:
                self._careful(node, g)
            except Exception:
                _tell(_report(node))
                raise

    def _refuse_stale(self, node: Node) -> None:
        try:
            super()._refuse_stale(node)
        except AutogradError:
            _tell(_report(node))
            raise


def _tell(texts: Iterable[str]) -> None:
    """Warn; to the standard error where warnings are errors, so that the error under way is not lost."""
    for text in texts:
        try:
            warnings.warn(text, stacklevel=3)
        except UserWarning:
            sys.stderr.write(text + "\n")


def _look(roots: Any, infinite: dict[Any, list[Infinite]], node: Node, i: int, c: Any, g: Any) -> None:
    """Raise where a gradient is nan, and note where it is infinite: that may become one."""
    value = value_of(c)
    if not hasattr(value, "dtype") or value.dtype is None or not is_floating(value.dtype):
        return
    finite = np.isfinite(value)
    if finite.all():
        return
    wrong = np.isnan(value)
    if wrong.any():
        raise _nan(roots, infinite, node, i, wrong, g)
    infinite.setdefault(node.args[i], []).append(Infinite(node, i, ~finite, value_of(g)))


def _nan(roots: Any, infinite: dict[Any, list[Infinite]], node: Node, i: int, wrong: Any, g: Any) -> AutogradError:
    """The error of a nan: torch's words, the entry, where it begins, the formula, the limit, and what helps."""
    where = tuple(int(k) for k in np.argwhere(wrong)[0]) if wrong.ndim else ()
    first = np.zeros(wrong.shape, bool)
    first[where] = True
    found = Autopsy(roots, infinite, Infinite(node, i, first, value_of(g)))
    birth = found.birth
    torchs = f"Function '{node_name(node)}' returned nan values in its {i}th output."
    count = f"{int(wrong.sum())} of {wrong.size} entries"
    rows = [
        f"{torchs} The gradient of {node.op.name}() by {_argument(node, i)} is nan in {count}, first at {list(where)}:",
        f"  {_went_in(node, where, wrong.shape, g)}",
    ]
    if birth.node is not node or birth.inf in ("given", "argument"):
        rows.append(
            f"  It begins in {node_name(birth.node)}, at {list(birth.index)} of the result of {birth.node.op.name}(), "
            + _BEGINS[birth.inf]
        )
    if inputs := ", ".join(f"{text} = {value}" for text, value in found.inputs()):
        rows.append(f"  {birth.node.op.name}() was given there: {inputs}")
    rows.append(f"  {_created(birth.node)}")
    rows.append(f"  formula: {_formula(birth.node, birth.i)}")
    if found.slope is not None and len(str(found.slope)) <= _LONG:
        rows.append(f"  derivative of the whole by that entry: {found.slope}")
    if found.limit is not None:
        rows.append(f"  limit of the derivative there: {found.limit}")
    if found.rewrite is not None:
        rows.append(f"  rewrite: {found.rewrite}")
    rows.append(
        "Keep the value out of the singular point (clamp it, or select with where()), or give the operation another "
        "derivative there with a custom Function."
    )
    error = AutogradError("\n".join(rows))
    error.autopsy = found.findings  # type: ignore[attr-defined]
    return error


_BEGINS = {
    "": "which gave nan.",
    "gradient": "whose gradient is infinite there; times 0 it is nan.",
    "value": "whose value is not finite there.",
    "given": "where a hook, or the gradient that the pass began with, gave what is not finite.",
    "argument": "which was given what is not finite.",
}
_LONG = 200
"""Longer expressions are not shown in an error."""


def _created(node: Node) -> str:
    trace = _trace_of(node)
    if trace is None or not trace.frames:
        return "the forward call ran outside of anomaly mode, so its line is not known"
    file, line, function = trace.frames[-1]
    text = linecache.getline(file, line).strip()
    return f'created at File "{file}", line {line}, in {function}' + (f": {text}" if text else "")


def _argument(node: Node, i: int) -> str:
    arg = node.args[i]
    name = getattr(arg, "name", None)
    return f"{name} (argument {i})" if isinstance(name, str) else f"argument {i}"


def _went_in(node: Node, where: tuple[int, ...], shape: tuple[int, ...], g: Any) -> str:
    incoming = value_of(g)
    parts = [f"incoming gradient {_entry(incoming, where, shape)}"]
    if node.op.kind != "function":
        # What hooks keep they give to the pass alone.
        for k, v in enumerate(() if node.saved.__class__ is PackedRow else node.saved):
            if isinstance(v, (np.ndarray, np.generic)):
                parts.append(f"{'output' if not k else f'argument {k - 1}'} {_entry(v, where, shape)}")
    return ", ".join(parts)


def _entry(value: Any, where: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """The entry of a value that meets an entry of the gradient, where their shapes tell which."""
    if not hasattr(value, "dtype"):
        return f"of kind {type(value).__name__}"
    if value.shape == shape:
        return repr(value[where].item())
    return repr(value.item()) if value.size == 1 else f"of shape {list(value.shape)}"


def _formula(node: Node, i: int) -> str:
    from symgrad.tape.formulas.local import local_formula

    try:
        return str(local_formula(node)[f"x{i + 1}"])
    except (SymgradError, KeyError, TypeError, ValueError):
        return f"{node_name(node)}(g), which has none"


def _report(node: Node) -> Iterator[str]:
    """torch's warnings before an error of backward: the stack of the forward call, and of what induced that."""
    text = f"Error detected in {node_name(node)}."
    trace = _trace_of(node)
    if trace is None:
        yield (
            f"{text} No forward pass information available. Enable detect anomaly during forward pass for more "
            "information."
        )
        return
    yield f"{text} Traceback of forward call that caused the error:\n{trace}"
    for _ in range(_GENERATIONS):
        if trace is None or trace.parent is None:
            return
        parent = trace.parent
        trace = _trace_of(parent)
        text = f"\n\nPrevious calculation was induced by {node_name(parent)}."
        yield text + (
            " No forward pass information available."
            if trace is None
            else f" Traceback of forward call that induced the previous calculation:\n{trace}"
        )

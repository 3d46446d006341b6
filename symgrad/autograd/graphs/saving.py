"""What nodes save for backward, in the user's hands: pack and unpack hooks, spilling to disk, few digits, copies.

A pack hook sees every value that a rule will read and gives something to keep instead; the unpack hook turns that into
a tensor again when backward needs it.  Formulas do not change: they read the graph, not the saved values.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np

from symgrad.errors import ArgumentError, AutogradError, CopiesForgotten
from symgrad.tape import observers
from symgrad.tape.graph import Node
from symgrad.tape.memory.versions import changes
from symgrad.tape.memory.views import out_of_reach
from symgrad.tape.modes import own_no_grad
from symgrad.tape.observers import Packed, PackedRow
from symgrad.tape.operands import scalarised
from symgrad.tape.record import Recorded, plain
from symgrad.tape.saved import select_saved
from symgrad.tape.threads import ThreadState
from symgrad.tensor import Tensor

__all__ = [
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "save_as",
    "save_on_cpu",
    "save_on_disk",
    "saved_tensors_hooks",
]


class _Local(ThreadState):
    def __init__(self) -> None:
        self.hooks: list[saved_tensors_hooks] = []
        self.refusals: list[str] = []
        self.busy = False


_LOCAL = _Local()


def _pack_node(node: Any, target: Any = None) -> None:
    """Give the saved values of a new node to the innermost pack hook of this thread, but for the array ``target``."""
    hooks = _LOCAL.hooks
    if not hooks or _LOCAL.busy or not node.saved:
        return
    hook = hooks[-1]
    _LOCAL.busy = True
    try:
        row, shown, turn, read = list(node.saved), shown_saved(node), _in_turn(node), _read(node)
        for k in turn:
            wanted = isinstance(read[k], (np.ndarray, np.generic)) and read[k] is not target
            row[k] = hook.packed(shown[k]) if wanted else row[k]
        node.saved = PackedRow(row)
        node.saved.turn = turn
    finally:
        _LOCAL.busy = False
    # Only the general path of the engine unpacks.
    node.rules = None


observers.OPERANDS.append(_pack_node)


def _read(node: Any) -> Any:
    """The saved values that the derivatives read by those of several operands that a gradient reaches."""
    count = len(node.args)
    reached = sum(1 << i for i, arg in enumerate(node.args) if node.mask >> i & 1 and not out_of_reach(arg))
    if count < 2 or reached == node.mask or node.op.kind == "function":
        return node.saved
    return select_saved(node.op, reached, node.saved[0], node.saved[1:]) or (None,) * (1 + count)


def _in_turn(node: Any) -> range | tuple[int, ...]:
    """The order in which torch saves: by its names, in which ``other`` comes before ``self``, and the result last.

    A vector that a matrix or another vector is multiplied by is called ``vec`` or ``tensor``, and comes after.
    """
    op, count = node.op, len(node.saved)
    if node.saved.__class__ is PackedRow:  # the operands of a change in place are packed
        return node.saved.turn  # type: ignore[no-any-return]
    if op.kind == "function" or op.turn:
        return (*op.turn, 0) if op.turn else range(count)
    last: Any = node.saved[-1] if count > 1 else None
    turned = op.kind == "elementwise" or (op.kind == "multilinear" and count == 3 and np.ndim(last) > 1)
    return (*(range(count - 1, 0, -1) if turned else range(1, count)), 0)


def shown_saved(node: Any) -> list[Any]:
    """What a node has just saved, as pack hooks see it: leaves themselves, and other values where they stand.

    Results stand nowhere, since a hook that keeps one would keep the node that keeps what the hook keeps.
    """
    run = (node.params or {}).get("run")
    if run is not None:
        return [run.ctx.shown(node, k, value) for k, value in enumerate(node.saved)]
    row = [_standing(None, node.saved[0])]
    return row + [_standing(arg, value) for arg, value in zip(node.args, node.saved[1:], strict=True)]


def _standing(arg: Any, value: Any) -> Any:
    """A saved value as a tensor at the place of the argument that it is of."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    if hasattr(arg, "ref"):
        arg = arg.ref()  # a constant, while anybody holds it
    if isinstance(arg, Tensor) and (arg._value is value or (not value.ndim and arg._value == value)):
        return arg
    made = plain(Tensor, value)
    if isinstance(arg, Node):
        made._node, made._requires_grad = arg, arg.mask != 0
    return made


def packer() -> saved_tensors_hooks | None:
    """The innermost pair of hooks of this thread, None where there is none."""
    return _LOCAL.hooks[-1] if _LOCAL.hooks and not _LOCAL.busy else None


class saved_tensors_hooks:  # noqa: N801  (torch's name)
    """While active, values saved for backward go through ``pack_hook`` and come back through ``unpack_hook``.

    ``pack_hook(tensor)`` may give anything; ``unpack_hook`` gets that and gives a tensor of the same shape and dtype.
    The innermost pair of the thread counts.  A pack hook that changes its tensor in place, and an unpack hook that does
    not give a tensor, are errors.

    >>> import symgrad as sg
    >>> a = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> with sg.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
    ...     y = (a * a).sum()
    >>> y.backward()
    >>> a.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]):
        if not callable(pack_hook) or not callable(unpack_hook):
            raise ArgumentError("saved_tensors_hooks() takes two functions: pack_hook and unpack_hook.")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def packed(self, shown: Any) -> Packed:
        """One saved value, shown as a tensor, after the pack hook."""
        value = shown._value
        before = changes(value), shown._version
        with own_no_grad():
            held = self.pack_hook(shown)
        if (changes(value), shown._version) != before:
            raise AutogradError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can "
                "not be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook. "
                f"(a value of shape {tuple(value.shape)}; give back a changed copy instead)"
            )
        return Packed(held, self)

    def tensor(self, held: Any) -> Any:
        """What the unpack hook makes of what the pack hook gave.  Raises ``TypeError`` where it is no tensor."""
        with own_no_grad():
            found = self.unpack_hook(held)
        if not isinstance(found, Recorded):
            raise ArgumentError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}; turn it into one with symgrad.tensor()"
            )
        return found

    def value(self, found: Any) -> Any:
        """The value of that tensor, as the rules read it."""
        return scalarised(found._value)

    def __enter__(self) -> Self:
        if _LOCAL.refusals:
            raise AutogradError(_LOCAL.refusals[-1])
        _LOCAL.hooks.append(self)
        observers.observe(_pack_node)
        return self

    def __exit__(self, *error: object) -> None:
        _LOCAL.hooks.pop()
        observers.unobserve(_pack_node)


class hooks_as_they_are:  # noqa: N801  (a context like those above)
    """Undo what runs inside to the hooks of this thread: what a pass enters or leaves is over with the pass."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = tuple(_LOCAL.hooks)

    def __exit__(self, *error: object) -> None:
        if self.before or _LOCAL.hooks:
            for _ in range(len(self.before) - len(_LOCAL.hooks)):
                observers.observe(_pack_node)
            for _ in range(len(_LOCAL.hooks) - len(self.before)):
                observers.unobserve(_pack_node)
            _LOCAL.hooks[:] = self.before


class disable_saved_tensors_hooks:  # noqa: N801  (torch's name)
    """While active, entering ``saved_tensors_hooks`` is an error with the text ``error_message``.

    >>> import symgrad as sg
    >>> with sg.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     sg.autograd.graph.save_on_disk().__enter__()
    Traceback (most recent call last):
        ...
    symgrad.errors.AutogradError: no hooks here
    """

    def __init__(self, error_message: str):
        self.error_message = str(error_message)

    def __enter__(self) -> None:
        if _LOCAL.hooks:
            raise AutogradError(self.error_message)
        _LOCAL.refusals.append(self.error_message)

    def __exit__(self, *error: object) -> None:
        _LOCAL.refusals.pop()


# ---------------------------------------------------------------------------------------------- spilling


class _Spilled:
    """One value in a file of its own, which goes when the last node that saved it goes."""

    __slots__ = ("__weakref__", "dtype", "folder", "path", "shape")

    def __init__(self, folder: _Folder, value: Any):
        import tempfile

        self.folder = folder
        self.shape = value.shape
        self.dtype = value.dtype
        handle, path = tempfile.mkstemp(".bin", "saved-", folder.path)
        with os.fdopen(handle, "wb") as file:
            np.ascontiguousarray(value).tofile(file)
        self.path = Path(path)
        weakref.finalize(self, _remove, self.path)

    def read(self) -> Any:
        """The value, mapped from its file."""
        return np.memmap(self.path, self.dtype, "r", shape=self.shape).view(np.ndarray)


class _Folder:
    """A directory for spilled values; a temporary one goes with the last of them."""

    __slots__ = ("__weakref__", "path")

    def __init__(self, directory: str | os.PathLike[str] | None):
        import shutil  # which loads the libraries of all archives
        import tempfile

        self.path = tempfile.mkdtemp(prefix="symgrad-") if directory is None else os.fspath(directory)
        if directory is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


class Kept:
    """A value that a packer leaves in memory: it has to be what it was when it is read."""

    __slots__ = ("changes", "value")

    def __init__(self, value: Any):
        self.value = value
        self.changes = changes(value)

    def read(self) -> Any:
        """The value.  Raises torch's error where it was changed in place since."""
        if changes(self.value) != self.changes:
            raise AutogradError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: a "
                f"value of shape {tuple(self.value.shape)} that its pack hook left in memory. Change a clone() of it."
            )
        return self.value


def kept_number(tensor: Any) -> Any:
    """A value without axes, which need not keep the block of memory that it may be a view of."""
    return plain(Tensor, tensor._value.copy())


def kept_by(keep: Callable[[Any], Any]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The hooks that keep values with axes as what ``keep`` makes of them, which is read again."""

    def pack(tensor: Any) -> Any:
        return keep(tensor._value) if tensor._value.ndim else kept_number(tensor)

    def unpack(held: Any) -> Any:
        return held if isinstance(held, Tensor) else plain(Tensor, held.read())

    return pack, unpack


class save_on_disk(saved_tensors_hooks):  # noqa: N801  (stands beside torch's names)
    """Keep what nodes save for backward in files instead of memory.

    ``directory`` (default: a temporary one) takes the files, one per value of at least ``min_bytes`` bytes; each is
    removed when no node needs it any more.

    >>> import symgrad as sg
    >>> x = sg.ones(1000, requires_grad=True)
    >>> with sg.autograd.graph.save_on_disk():
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> x.grad[:2]
    tensor([2.7183, 2.7183])
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None, min_bytes: int = 1):
        folder, least = _Folder(directory), max(1, min_bytes)
        super().__init__(*kept_by(lambda value: Kept(value) if value.nbytes < least else _Spilled(folder, value)))


class save_on_cpu(save_on_disk):  # noqa: N801  (torch's name)
    """torch moves saved tensors from the device to the host; here, where the host is the device, they go to disk.

    ``pin_memory`` and ``device_type`` are taken as in torch and have no meaning for files.

    >>> import symgrad as sg
    >>> x = sg.ones(2, requires_grad=True)
    >>> with sg.autograd.graph.save_on_cpu():
    ...     y = x.exp().sum()
    >>> y.backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):  # noqa: ARG002  (torch's signature)
        super().__init__()


class _Narrowed:
    """One value in a narrower dtype, divided by a power of two that brings its largest entry to about 1."""

    __slots__ = ("dtype", "scale", "value")

    def __init__(self, value: Any, dtype: np.dtype[Any]):
        parts = value.view(value.real.dtype) if value.dtype.kind == "c" else value
        finite = np.abs(parts, where=np.isfinite(parts), out=np.zeros_like(parts))
        self.scale = int(np.frexp(finite.max())[1])
        self.value = np.ldexp(parts, -self.scale).astype(dtype)
        self.dtype = value.dtype

    def read(self) -> Any:
        """The value in its own dtype again."""
        wide = self.value.astype(self.dtype.type(0).real.dtype)
        return np.ldexp(wide, self.scale).view(self.dtype)


class save_as(saved_tensors_hooks):  # noqa: N801  (stands beside torch's names)
    """Keep what nodes save for backward in a narrower dtype: half the memory, or a quarter of it.

    ``dtype`` is float16 or float32.  Values are scaled before, so large ones do not overflow; gradients carry
    the rounding of ``dtype`` (relative 5e-4 for float16).  Values with as few bytes, integers and masks are kept as
    they are.  Raises ``ArgumentError`` for other dtypes.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 1e6], requires_grad=True)
    >>> with sg.autograd.graph.save_as(sg.float16):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> abs(x.grad / (2 * x.detach()) - 1).max() < 1e-3
    tensor(True)
    """

    def __init__(self, dtype: Any = np.float16):
        wanted = np.dtype(dtype)
        if wanted not in (np.float16, np.float32):
            raise ArgumentError(f"save_as({dtype}): saved values can be kept as float16 or float32.")

        def keep(value: Any) -> Any:
            wide = value.size and value.dtype in _WIDE and value.real.dtype.itemsize > wanted.itemsize
            return _Narrowed(np.ascontiguousarray(value), wanted) if wide else Kept(value)

        super().__init__(*kept_by(keep))


_WIDE = (np.float32, np.float64, np.complex64, np.complex128)


class _Copy:
    """A copy of a saved value, until it is forgotten."""

    __slots__ = ("__weakref__", "value")

    def __init__(self, value: Any):
        self.value = value


class allow_mutation_on_saved_tensors(saved_tensors_hooks):  # noqa: N801  (torch's name)
    """Let tensors that backward needs be changed in place: nodes save copies.

    torch copies when a change comes; here a copy is made when a value is saved, which costs memory and is right.

    >>> import symgrad as sg
    >>> a = sg.ones(2, requires_grad=True)
    >>> with sg.autograd.graph.allow_mutation_on_saved_tensors():
    ...     b = a.clone()
    ...     out = (b**2).sum()
    ...     _ = b.detach().zero_()
    ...     out.backward()
    >>> a.grad
    tensor([2., 2.])
    """

    def __init__(self) -> None:
        self._copies: weakref.WeakSet[_Copy] = weakref.WeakSet()
        super().__init__(self._copied, self._read)

    def _copied(self, tensor: Any) -> _Copy:
        self._copies.add(copy := _Copy(tensor._value.copy()))
        return copy

    def _read(self, copy: _Copy) -> Any:
        if copy.value is None:
            raise CopiesForgotten(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded: its copies were forgotten by clear()."
            )
        return plain(Tensor, copy.value)

    def clear(self) -> None:
        """Forget the copies: backward through what was recorded so far raises ``AssertionError``."""
        for copy in self._copies:
            copy.value = None

    def __enter__(self) -> Self:
        if any(isinstance(hooks, allow_mutation_on_saved_tensors) for hooks in _LOCAL.hooks):
            raise AutogradError("allow_mutation_on_saved_tensors contexts cannot be nested")
        return super().__enter__()

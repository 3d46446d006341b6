"""torch's optimisers and schedules of rates, where torch is installed: its own files, run with tensors of this library.

They are Python that calls tensors, as any package that imports torch is, and they are kept well where they are.  torch
itself is not imported: its files are read where it is installed, and what they import of torch they find here, whatever
``import torch`` is elsewhere in the program.  Their base class is :class:`symgrad.optim.Optimizer`.
"""

from __future__ import annotations

import builtins
import functools
import threading
from collections.abc import Callable
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.notices import BORROWED
from symgrad.optim.optimizer import Optimizer
from symgrad.stand_in import stand_in

_FILES = ("torch.optim", "torch.utils._foreach_utils")
"""The modules of torch that are read; all others are the rooms here."""


class _Silent(Optimizer):
    """Optimisers that divide by zero and leave out what comes of it, which NumPy would warn of."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__:
            cls.step = _quietly(cls.__dict__["step"])  # type: ignore[method-assign]


def _quietly(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def taken(self: Any, *args: Any, **kwargs: Any) -> Any:
        for group in self.param_groups:
            if group.get("fused"):
                group["fused"] = False  # by one kernel, of which there is none here; the others have the same values
        with np.errstate(divide="ignore", invalid="ignore"):
            return step(self, *args, **kwargs)

    return taken


_CHANGED: dict[str, Callable[[type], type]] = {
    # Theirs has helpers of torch's optimisers behind it; a schedule takes optimisers of users' own as well.
    "torch.optim.optimizer": lambda theirs: type("Optimizer", (_Silent, theirs), {}),
    "torch.optim.lr_scheduler": lambda _: Optimizer,
}
"""What becomes of the base class in a module."""
_LOCK = threading.RLock()
_READ: dict[str, ModuleType] = {}


def installed() -> Path | None:
    """The folder of torch's package; None where torch is not installed."""
    spec = PathFinder.find_spec("torch")  # not what stands in for torch
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def borrowed(name: str) -> Any:
    """What ``torch.optim`` has by a name: a class, or one of its modules.

    Raises ``AttributeError`` where it has no such name, and ``ImportError`` where a file of the torch that is installed
    does not run here.
    """
    try:
        room = _read("torch.optim")
        return getattr(room, name) if hasattr(room, name) else _read(f"torch.optim.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"torch.optim.{name}":
            raise AttributeError(f"module 'torch.optim' has no attribute {name!r}") from None
        raise


def _read(name: str) -> ModuleType:
    """A module of torch's, from its file."""
    with _LOCK:
        if name not in _READ:
            _READ[name] = ModuleType(name)  # for those that import one another
            try:
                _run(name, _READ[name])
            except BaseException:
                del _READ[name]
                raise
        return _READ[name]


def _run(name: str, module: ModuleType) -> None:
    folder = installed()
    path = Path() if folder is None else folder.joinpath(*name.split(".")[1:])
    package, file = path.is_dir(), path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if folder is None or not file.is_file():
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    BORROWED.add(str(file))
    parent, _, last = name.rpartition(".")
    module.__file__, module.__package__ = str(file), name if package else parent
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _importing}
    try:
        code: Any = SourceFileLoader(name, str(file)).get_code(name)  # Python keeps it compiled
        exec(code, module.__dict__)  # noqa: S102  (a file of torch's, as import would run it)
    except (ImportError, AttributeError) as error:
        if isinstance(error, ImportError) and (error.name or "").startswith("torch.optim"):
            raise  # which names the file already
        raise ImportError(f"torch's {file.name} does not run here: {error}", name=name) from error
    _call_at_home(name, module)
    if (change := _CHANGED.get(name)) is not None:
        module.__dict__["Optimizer"] = change(module.__dict__["Optimizer"])
    if parent in _READ:
        setattr(_READ[parent], last, module)


def _call_at_home(name: str, module: ModuleType) -> None:
    """Let pickles find the classes of a file below ``symgrad.optim``: those of ``torch.optim`` are others."""
    inside = name.removeprefix("torch.optim").removeprefix(".")
    for made in vars(module).values():
        if isinstance(made, type) and made.__module__ == name:
            made.__module__ = "symgrad.optim"
            made.__qualname__ = ".".join(filter(None, (inside, made.__qualname__)))


def _found(name: str) -> Any:
    """What a file of torch's gets for the name of a module of torch."""
    if name == "torch":
        return _TORCH
    if any(name == file or name.startswith(f"{file}.") for file in _FILES):
        return _read(name)
    room = _room(name)
    if room is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return room


def _importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """The ``import`` of torch's files: as Python's, but for the names of torch."""
    if level:
        parents = globals["__package__"].split(".")
        name = ".".join([*parents[: len(parents) - level + 1], *([name] if name else [])])
    if name.partition(".")[0] != "torch":
        return builtins.__import__(name, globals, locals, fromlist)
    module = _found(name)
    for wanted in fromlist or ():
        if not hasattr(module, wanted):
            setattr(module, wanted, _found(f"{name}.{wanted}"))
    return module if fromlist else _TORCH


class _Torch(type(stand_in("torch"))):  # type: ignore[misc]
    """``torch``, for its optimisers: the stand-in, with the modules that are read."""

    @property
    def optim(self) -> ModuleType:
        """The module that is read from torch's files."""
        return _read("torch.optim")

    @staticmethod
    def _disable_dynamo(function: Callable[..., Any] | None = None, recursive: bool = True) -> Callable[..., Any]:
        """The function itself: nothing is compiled behind anyone's back."""
        return function if function is not None else lambda function: function


_room = functools.cache(stand_in)  # steps import some again and again
_TORCH = _Torch("torch")

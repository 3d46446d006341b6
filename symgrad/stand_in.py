"""Programs that import torch, run with this library in its place.

``import torch.nn.functional as F`` looks the module up by that name: a finder of Python's import system answers with
the room here that has torch's name.  ``torch`` itself is a module of its own, which asks this library for everything:
so code may look at its version, and what is set there changes nothing here.
"""

from __future__ import annotations

import copyreg
import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from symgrad.errors import ArgumentError

REFEREE = "2.13.0"
"""The version of torch whose manners these are, which code asks for to see what there is."""


class _Torch(ModuleType):
    """``torch``, as far as programs can tell."""

    __version__ = REFEREE

    def __getattr__(self, name: str) -> Any:
        ours: Any = sys.modules["symgrad"]
        if name in (known := vars(ours)) and name != "__all__":  # as almost all that programs ask for, line by line
            return known[name]
        if name == "torch":
            return self
        if name == "__all__":  # from torch import * gives functions, too; from symgrad import * does not
            public = (name for name in dir(ours) if not name.startswith("_") and hasattr(ours, name))
            return [name for name in public if not isinstance(getattr(ours, name), ModuleType)]
        if f"torch.{name}" in _ROOMS:
            return elsewhere("symgrad", name)
        if name in _NOT_HERE:
            return _not_here(f"torch.{name}")
        if name in _NO_KINDS:
            from symgrad.absent import absent_class

            vars(self)[name] = absent_class(name, "torch", "is not here: no number and no tensor is of it.")
            return vars(self)[name]
        return getattr(ours, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(importlib.import_module("symgrad"))})


class _Finder:
    """Finds ``torch`` and its rooms; a room that is a function here, as ``jit`` is, is found as well.

    It derives from no class of ``importlib.abc``, which loads 20 modules of Python's for every ``import symgrad``.
    """

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """The place of a module of torch; None for all other modules."""
        if fullname not in ("torch", "functorch") and not fullname.startswith("torch."):
            return None
        return ModuleSpec(fullname, _FINDER, is_package=True) if stand_in(fullname) is not None else None

    def create_module(self, spec: ModuleSpec) -> Any:
        """The room itself, which is not loaded again."""
        room = stand_in(spec.name)
        self.kept = getattr(room, "__spec__", None)
        return room

    def exec_module(self, module: Any) -> None:
        """The room stays what it was: the import system has written on it where it was found."""
        if not isinstance(module, _Torch):
            module.__spec__ = self.kept


_FINDER: Any = _Finder()


_ELSEWHERE = {
    "symgrad": "_tensor functional",
    "symgrad.nn.modules": "nn.modules.channelshuffle nn.modules.distance nn.modules.flatten nn.modules.fold "
    "nn.modules.pixelshuffle nn.modules.upsampling",
    "symgrad.nn.modules.batchnorm": "nn.modules.instancenorm",
    "symgrad.nn.flex_attention": "nn.attention.flex_attention",
    "symgrad.utils.data": "utils.data._utils utils.data._utils.collate utils.data.dataloader utils.data.dataset "
    "utils.data.sampler",
}
"""Rooms here, and the modules of torch whose classes and functions are there."""
_ROOMS = {f"torch.{name}": room for room, names in _ELSEWHERE.items() for name in names.split()}
_ROOMS["functorch"] = "symgrad.func.models"


_NOT_HERE = {
    "_subclasses": "is not here: every tensor has values.",
    "fx": "is not here: symgrad.from_fx reads a graph of torch.fx.",
    "hub": "is not here: torch.load reads files of weights.",
    "nn.parallel.scatter_gather": "is not here: there is one device.",
    "onnx": "is not here: symgrad.compile writes files of programs.",
    "utils.model_zoo": "is not here: torch.load reads files of weights.",
    **dict.fromkeys(
        ("ao", "nn.intrinsic", "nn.qat", "nn.quantized", "quantization"),
        "is not here: symgrad.fake_quantize_per_tensor_affine rounds as if to few bits.",
    ),
}
"""Rooms of torch that are not here, which packages import all the same."""
_NO_KINDS = ("SymBool", "SymFloat", "SymInt", "complex32", "qint32", "qint8", "quint8")
"""Numbers of traced programs and dtypes that nothing here has, which packages compare with."""
_ABSENT: dict[str, ModuleType] = {}


def _not_here(name: str) -> ModuleType | None:
    """What stands for a room that is not here, or for one inside of it."""
    for room, why in _NOT_HERE.items():
        if name == f"torch.{room}" or name.startswith(f"torch.{room}."):
            if name not in _ABSENT:
                from symgrad.absent import AbsentRoom  # of programs that ask for it alone

                _ABSENT[name] = AbsentRoom(name, why)
                if name == "torch.fx":  # tells a tracer of a function, at the import of a package
                    vars(_ABSENT[name])["wrap"] = lambda function: function
            return _ABSENT[name]
    return None


def elsewhere(room: str, name: str) -> Any:
    """What is found in a room under the name of a module of torch whose classes and functions are elsewhere here."""
    ours = _ROOMS.get(f"torch{room.removeprefix('symgrad')}.{name}")
    if ours is None:
        raise AttributeError(f"module {room!r} has no attribute {name!r}", name=name, obj=sys.modules[room])
    return importlib.import_module(ours)


def stand_in(name: str) -> Any:
    """What stands for a module of torch; None where there is nothing like it."""
    if name == "torch":
        made = _Torch(name)
        made.__path__ = []
        return made
    if (absent := _not_here(name)) is not None:
        return absent
    ours = _ROOMS.get(name) or f"symgrad{name.removeprefix('torch')}"
    try:
        return importlib.import_module(ours)
    except ModuleNotFoundError as error:
        if error.name is None or not ours.startswith(error.name):
            raise
    parent, _, last = name.rpartition(".")
    return getattr(stand_in(parent), last, None) if parent else None


_HOMES = {
    "Tensor": ("symgrad.tensor.tensor", "torch"),
    "Parameter": ("symgrad.nn.parameter", "torch.nn.parameter"),
}
"""Where classes are that say they are torch's, and what they say."""


def at_home(name: str) -> Any:
    """A class of tensors by its name: what pickles refer to, which torch itself may read elsewhere."""
    return getattr(importlib.import_module(_HOMES[name][0]), name)


def _reference(kind: type) -> Any:
    """What a pickle writes for a class of tensors."""
    name = kind.__qualname__
    return (at_home, (name,)) if name in _HOMES and at_home(name) is kind else name


class _Installing:
    """What a new process reads before its program: it installs this library there."""

    def __reduce__(self) -> Any:
        return install_as_torch, ()


def _tell_new_processes() -> None:
    """Processes that multiprocessing starts anew run the program again: ``import torch`` would find torch itself."""
    spawn: Any = importlib.import_module("multiprocessing.spawn")
    told = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {**told(name), "symgrad": _Installing()}


def install_as_torch() -> None:
    """From now on ``import torch`` gives this library: programs and packages written for torch run as they are.

    Call it before anything imports torch, as in the first line of a program, or run the program by
    ``python -m symgrad run program.py``.  A second call does nothing.  ``torch.__version__`` is that of the torch whose
    manners these are.

    Raises ``RuntimeError`` if torch has been imported: its tensors would be mixed with those of this library.

    >>> import symgrad as sg
    >>> sg.install_as_torch()  # doctest: +SKIP
    >>> import torch  # doctest: +SKIP
    >>> torch.tensor([1.0, 2.0], requires_grad=True).exp().sum().expr  # doctest: +SKIP
    sum(exp(x))
    """
    if _FINDER in sys.meta_path:
        return
    if "torch" in sys.modules:
        raise ArgumentError(
            "install_as_torch(): torch is imported already, and its tensors would be mixed with those of symgrad. Call "
            "it before the first import of torch, or run the program by python -m symgrad run PROGRAM."
        )
    sys.meta_path.insert(0, _FINDER)
    for name, (_, module) in _HOMES.items():
        kind = at_home(name)
        kind.__module__ = module  # by which packages that take many libraries' arrays tell them
        copyreg.pickle(type(kind), _reference)
    _tell_new_processes()


def loaded_torch() -> Any:
    """torch itself, where a program has imported it; None where it has not, or where this library stands for it."""
    found = sys.modules.get("torch")
    return None if isinstance(found, _Torch) else found

"""Tensors in files: ``save`` and ``load``."""

from __future__ import annotations

import os
import pickle
from contextlib import ExitStack
from typing import Any

from symgrad.devices import on_cpu
from symgrad.errors import ArgumentError
from symgrad.tape.pickling import without_gradients


def save(obj: Any, f: Any, pickle_protocol: int = 4) -> None:
    """Write tensors, or containers of tensors, to a file: a path, or a file open for writing bytes.

    The file is a pickle: graphs and formulas are kept, and it is symgrad's own, not torch's.  Gradients (``grad``) are
    not written, as in torch: training goes on with none.

    >>> import io
    >>> import symgrad as sg
    >>> file = io.BytesIO()
    >>> sg.save({"w": sg.tensor([1.0, 2.0])}, file)
    >>> _ = file.seek(0)
    >>> sg.load(file)
    {'w': tensor([1., 2.])}
    """
    with ExitStack() as stack:
        stack.enter_context(without_gradients())
        file = stack.enter_context(open(f, "wb")) if isinstance(f, (str, os.PathLike)) else f
        pickle.dump(obj, file, pickle_protocol)


_NUMPY = ("_reconstruct", "scalar", "ndarray", "dtype")
_PLAIN = {
    "builtins": ("complex", "int", "set", "frozenset", "slice", "bytearray", "range"),
    "collections": ("OrderedDict",),
    "numpy": _NUMPY,
    "numpy.core.multiarray": _NUMPY,
    "numpy._core.multiarray": _NUMPY,
    "symgrad.dtype_objects": ("dtype",),
    "symgrad.nn.parameter": ("Parameter",),
    "symgrad.op.carriers": ("Length", "Rest"),
    "symgrad.op.record": ("lookup",),
    "symgrad.stand_in": ("at_home",),
    "symgrad.ops.reductions.sums": ("Everything",),
    "symgrad.tape.formulas.constants": ("Guess",),
    "symgrad.tape.pickling": ("_member", "restored"),
    "symgrad.tensor.facts": ("Shape",),
    "symgrad.tensor.tensor": ("Tensor",),
}
"""What files of tensors, numbers and containers refer to; none of it runs code of the file's choice."""


TRUSTED: dict[str, Any] = {}
"""What else files of weights alone may refer to, by its path: a program says so."""


class _WeightsOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        path = f"{module}.{name}"
        if path in TRUSTED:
            return TRUSTED[path]
        if name not in _PLAIN.get(module, ()) and not (module == "numpy.dtypes" and name.endswith("DType")):
            raise pickle.UnpicklingError(
                f"Weights only load failed: the file refers to {path}, which is no tensor, number or "
                "container. If you trust the file, load it with weights_only=False; if you trust that class, tell "
                f"serialization.add_safe_globals([{name}])."
            )
        return super().find_class(module, name)


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None, **_: Any) -> Any:
    """Read what :func:`save` wrote.  A pickle can run any code: load only files that you trust.

    With ``weights_only=True`` nothing runs, and files that hold more than tensors, numbers, texts and containers raise
    ``pickle.UnpicklingError``.  Files of torch raise ``ArgumentError``.

    >>> import io
    >>> import symgrad as sg
    >>> file = io.BytesIO()
    >>> sg.save({"w": sg.tensor([1.0, 2.0])}, file)
    >>> _ = file.seek(0)
    >>> sg.load(file, weights_only=True)
    {'w': tensor([1., 2.])}
    """
    if isinstance(map_location, str) or hasattr(map_location, "type"):
        on_cpu(map_location)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return load(file, weights_only=weights_only)
    if f.read(2) == b"PK":
        raise ArgumentError("load(): this is a file of torch.save; load it with torch and pass t.numpy() to tensor().")
    f.seek(-2, os.SEEK_CUR)
    return (_WeightsOnly if weights_only else pickle.Unpickler)(f).load()

"""torch's functions of lists, ``_foreach_<name>``: the method ``name`` of every tensor in a list.

Training loops call them for speed (``_foreach_mul_(averages, decay)``).  Here they are loops, and made on demand for
every op that has a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError, AutogradError
from symgrad.op.fronts import FRONTS
from symgrad.tensor.tensor import Tensor

PREFIX = "_foreach_"
_WITHOUT_ENTRY = ("copy_", "zero_")
"""Methods that are no ops."""
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""What two tensors, but no tensor and a number, are given to."""
_KEYWORDS = {"addcmul": (2, "value"), "addcdiv": (2, "value")}
"""Arguments that the method takes by name alone: after how many of them they stand, and the name."""


def foreach(name: str) -> Callable[..., Any] | None:
    """The function of lists called ``name``; None where there is none.

    >>> import symgrad as sg
    >>> averages = [sg.ones(2), 3 * sg.ones(1)]
    >>> foreach("_foreach_mul_")(averages, 0.5)
    [tensor([0.5000, 0.5000]), tensor([1.5000])]
    """
    what = name.removeprefix(PREFIX)
    stem = what.removesuffix("_")
    if what not in _WITHOUT_ENTRY and (stem not in FRONTS or not hasattr(Tensor, stem)):
        return None

    def call(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(tensors, (list, tuple)):  # numbers to the power of tensors
            if stem != "pow" or not args:
                raise ArgumentError(f"{name}() takes a list of tensors first, not {type(tensors).__name__}.")
            return tuple(tensors**exponent for exponent in args[0])
        if not tensors:
            raise AutogradError("Tensor list must have at least one tensor.")
        place, word = _KEYWORDS.get(stem, (len(args), ""))
        if len(args) > place:
            args, kwargs = args[:place], {word: args[place], **kwargs}
        if "ord" in kwargs:
            kwargs["p"] = kwargs.pop("ord")
        rows = [_each(arg, len(tensors)) for arg in args]
        named = {key: _each(arg, len(tensors), key == "value") for key, arg in kwargs.items()}
        made = [
            _one(what, tensor, [row[k] for row in rows], {key: row[k] for key, row in named.items()})
            for k, tensor in enumerate(tensors)
        ]
        return made if what.endswith("_") else tuple(made)

    call.__name__ = call.__qualname__ = name
    return call


def _one(what: str, tensor: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    stem = what.removesuffix("_")
    if stem in _OF_NUMBERS and isinstance(args[0], (int, float)):
        what = what.replace(stem, _OF_NUMBERS[stem])
    if hasattr(tensor, what):
        return getattr(tensor, what)(*args, **kwargs)
    return tensor.copy_(getattr(tensor, what.removesuffix("_"))(*args, **kwargs))


def _each(arg: Any, count: int, scalars: bool = False) -> Sequence[Any]:
    """What every tensor of a list is given of an argument: an entry of a list or of ``scalars``, or all of it."""
    if scalars and isinstance(arg, Tensor):
        if arg.numel() != count:
            raise AutogradError(
                f"Expected length of scalars to match input of length {count} but got {arg.numel()} instead."
            )
        return arg.tolist()  # type: ignore[no-any-return]
    if not isinstance(arg, (list, tuple)):
        return [arg] * count
    if len(arg) != count:
        raise AutogradError(
            f"Tensor lists must have the same number of tensors, got {count} and {len(arg)}"
            if any(isinstance(entry, Tensor) for entry in arg)
            else "Tensor list must have same number of elements as scalar list."
        )
    return arg

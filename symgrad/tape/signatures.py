"""torch's words for a call that fits none of the ways in which a function is called.

The ways stand in ``signatures.txt``, and are read when the first call has failed.  They are tried in torch's order, and
the sentences are those of torch's parser of arguments.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

import numpy as np

from symgrad.dtype_objects import KINDS
from symgrad.notices import notice_once
from symgrad.op import carrier_of

_WORDS = {
    "ints": "tuple of ints",
    "Tensors": "tuple of Tensors",
    "floats": "tuple of floats",
    "Numbers": "tuple of Numbers",
    "dtype": "torch.dtype",
    "layout": "torch.layout",
    "device": "torch.device",
    "generator": "torch.Generator",
    "memory_format": "torch.memory_format",
}
_ALIASES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
_NEW = (
    "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False, "
    "Tensor? out=None"
)
_ENTRIES = {"ints": "int", "Tensors": "Tensor", "floats": "float", "Numbers": "Number"}
_INT, _FLOAT = (int, np.integer), (int, float, np.integer, np.floating)
ARRAYS, NUMBERS = (list, tuple, np.ndarray), (int, float, complex, np.generic)
"""What stands for a tensor here, though not in torch."""


class Parameter(NamedTuple):
    """A parameter of a way: what it takes, where a list how many entries one number stands for, and its default."""

    name: str
    kind: str
    single: bool
    none: bool
    default: str | None
    keyword: bool


_ONE = Parameter("", "int", False, False, None, False)


class Way(NamedTuple):
    """One way to call a function: its parameters, those that may be placed, and how many arguments it has at least."""

    parameters: tuple[Parameter, ...]
    placed: int
    least: int
    hidden: bool

    def __str__(self) -> str:
        words, named = [], False
        for p in self.parameters:
            if p.keyword and not named:
                words.append("*")
                named = True
            default = "" if p.default is None else f" = {p.default}"
            words.append(f"{_WORDS.get(p.kind, p.kind)} {p.name}{default}")
        return f"({', '.join(words)})"


@functools.cache
def _lines() -> dict[str, str]:
    from importlib.resources import files  # which loads more than the rest of this module

    found: dict[str, str] = {}
    for line in files("symgrad.tape").joinpath("signatures.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("F: "):
            found.update({f"nn.functional_{name}": name for name in line[3:].split()})
        elif not line.startswith("#"):
            cut = min(k for k in (line.find("("), line.find(" ")) if k > 0)
            found[line[:cut]] = line[cut:].strip()
    return {name: found.get(text, text) for name, text in found.items()}


@functools.cache
def ways(name: str) -> tuple[Way, ...] | None:
    """The ways to call a function, or method (``Tensor.sum``); None where torch has it not, or written in Python."""
    text = _lines().get(name)
    if text is None or text == "none":
        return None if text is None else ()
    if text == "same":
        return tuple(_without_input(way) for way in ways(name.removeprefix("Tensor.")) or ())
    return tuple(_way(part.strip("() ")) for part in text.split(") or ("))


def _way(text: str) -> Way:
    hidden, keyword, parameters = text.endswith(" hidden"), False, []
    for part in text.removesuffix(" hidden").replace("<new>", _NEW).split(", "):
        if part == "*":
            keyword = True
        elif part:
            kind, rest = part.split(" ", 1)
            name, _, default = rest.partition("=")
            none = kind.endswith("?") or default == "None"
            bare = kind.rstrip("?").rstrip("0123456789")
            single = bare == "ints" and kind.rstrip("?") != bare
            parameters.append(Parameter(name, bare, single, none, default or None, keyword))
    return _counted(parameters, hidden)


def _counted(parameters: list[Parameter], hidden: bool) -> Way:
    placed = sum(not p.keyword for p in parameters)
    return Way(tuple(parameters), placed, sum(p.default is None for p in parameters), hidden)


def _without_input(way: Way) -> Way:
    return _counted([p for p in way.parameters[1:] if p.name != "out"], way.hidden)


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], kindly: tuple[type, ...]) -> str | None:
    """torch's sentence on arguments that fit no way to call a function; None where they fit one.

    ``kindly`` are classes that are taken for tensors: of :data:`ARRAYS` and :data:`NUMBERS`.
    """
    found, name = ways(name), name.removeprefix("Tensor.").removeprefix("nn.functional_")
    if found == ():
        if kwargs:
            return f"TensorBase.{name}() takes no keyword arguments"
        return f"TensorBase.{name}() takes no arguments ({len(args)} given)" if args else None
    assert found is not None
    unfit = [_misfit(name, way, args, kwargs, kindly) for way in found]
    if None in unfit:
        return None
    count = len(args) + len(kwargs)
    likely = [k for k, way in enumerate(found) if way.least <= count <= len(way.parameters) and not way.hidden]
    if len(found) == 1 or len(likely) == 1:
        return unfit[likely[0] if len(found) > 1 else 0]
    shown = [way for way in found if not way.hidden]
    named = [f"{key}={_kind(value)}" for key, value in reversed(kwargs.items())]
    given = ", ".join([*map(_kind, args), *named]) + (", " if kwargs and not args else "")
    ends = f" {shown[0]}" if len(shown) == 1 else " one of:" + "".join(f"\n * {way}" for way in shown)
    return f"{name}() received an invalid combination of arguments - got ({given}), but expected{ends}"


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def otherwise(name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments | None:
    """The arguments of a call that failed, as another call has them that torch takes for the same; None of others."""
    fitting = (way for way in ways(name) or () if not way.hidden and _misfit(name, way, args, kwargs, ()) is None)
    way = next(fitting, None)
    return _as_now(name, args, kwargs) if way is None else _as_here(name, way, function, args, kwargs)


def _as_here(name: str, way: Way, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments | None:
    """The arguments of a call that fits a way, as the function takes them.

    Tensors without axes are the numbers they hold (``roll(x, tensor(1))``), whole numbers one by one their tuple
    (``squeeze(0, 1)``), what stands behind the function's own parameters has its name (``subtract(x, 2, 1)``), and
    what says nothing of the result is left out.
    """
    kinds = {p.name: p for p in way.parameters}
    placed = [_number(p, value) for p, value in zip(way.parameters, args, strict=False)]
    placed += args[len(placed) :]  # more sizes than parameters: ``expand(2, -5)``
    named = {key: _number(kinds[key], value) if key in kinds else value for key, value in kwargs.items()}
    taken = inspect.signature(function).parameters
    if not any(p.kind is p.VAR_POSITIONAL for p in taken.values()):
        own = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in taken.values())
        own -= name.startswith("Tensor.")
        if len(placed) > way.placed:
            placed = [tuple(placed)]
        named |= {p.name: value for p, value in zip(way.parameters[own:], placed[own:], strict=False)}
        placed = placed[:own]
    named = {key: value for key, value in named.items() if key not in _IDLE or key in taken}
    same = len(placed) == len(args) and named.keys() == kwargs.keys()
    if same and all(a is b for a, b in zip((*args, *kwargs.values()), (*placed, *named.values()), strict=True)):
        return None
    return tuple(placed), named


_IDLE = ("cudnn_enable", "cudnn_enabled", "implicit")
"""Parameters that say how torch computes, or what its compiler knows."""


def _number(p: Parameter, value: Any) -> Any:
    return value if p.kind == "Tensor" or not hasattr(value, "raw_shape") else value.item()


def _as_now(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments | None:
    """The arguments of a call in a way that torch has given up, ``add(x, 2, y)``, as it is called now; None of others.

    torch takes such a call, and says once that it is old.
    """
    found = ways(name) or ()
    old = next(
        (way for way in found if way.hidden and _misfit(name, way, args, kwargs, (*ARRAYS, *NUMBERS)) is None), None
    )
    if old is None:
        return None
    given = {p.name: value for p, value in zip(old.parameters, args, strict=False)} | kwargs
    new = next(way for way in found if not way.hidden)
    called = name.removeprefix("Tensor.")
    notice_once(
        f"This overload of {called} is deprecated:\n\t{called}{old}\nConsider using one of the following signatures "
        f"instead:\n\t{called}{new}"
    )
    placed = tuple(given.pop(p.name) for p in new.parameters if not p.keyword)
    return placed, given


def _misfit(name: str, way: Way, args: tuple[Any, ...], kwargs: dict[str, Any], kindly: tuple[type, ...]) -> str | None:
    """What does not fit this way, in torch's order of looking; None where all does."""
    parameters = way.parameters
    row = bool(way.placed == 1 and parameters[0].kind == "ints")
    if len(args) > way.placed and not row:
        least = f"from {way.least} to " if way.least != way.placed else ""
        some, was = "s" * (way.placed != 1 or bool(least)), "was" if len(args) == 1 else "were"
        return f"{name}() takes {least}{way.placed} positional argument{some} but {len(args)} {was} given"
    used = set()
    for k, p in enumerate(parameters):
        key = None
        if k < len(args) and not p.keyword:
            value = args[k]
        else:
            key = next((word for word in (p.name, *_ALIASES.get(p.name, ())) if word in kwargs), None)
            if key is None:
                if p.default is not None:
                    continue
                return _missing(name, way, k, kwargs)
            used.add(key)
            value = kwargs[key]
        if row and k == 0 and key is None and isinstance(value, _INT):
            value = args
        if (value is None and p.none) or _fits(p, value, kindly):
            continue
        if p.kind == "ints" and isinstance(value, (list, tuple)) and _fits(_ONE, value[0], kindly):
            j = next(j for j, entry in enumerate(value) if not _fits(_ONE, entry, kindly))
            reason = f'"type must be tuple of ints,but got {_kind(value[j])}"'
            return f"{name}(): argument '{p.name}' failed to unpack the object at pos {j + 1} with error {reason}"
        if p.kind == "Tensors" and isinstance(value, (list, tuple)):
            j = next(j for j, entry in enumerate(value) if not hasattr(entry, "raw_shape"))
            return f"expected Tensor as element {j} in argument {k}, but got {_kind(value[j])}"
        place = f" (position {k + 1})" if key is None else ""
        return f"{name}(): argument '{p.name}'{place} must be {_WORDS.get(p.kind, p.kind)}, {_instead(p, value)}"
    for key in kwargs:
        if key not in used:
            twice = any(key == p.name for p in parameters[: len(args)])
            what = "multiple values for" if twice else "an unexpected keyword"
            return f"{name}() got {what} argument '{key}'"
    return None


def _missing(name: str, way: Way, start: int, kwargs: dict[str, Any]) -> str:
    lost = [f'"{p.name}"' for p in way.parameters[start:] if p.default is None and p.name not in kwargs]
    # The s stands where torch has it.
    return f"{name}() missing {len(lost)} required positional argument{'s' * (len(lost) == 1)}: {', '.join(lost)}"


def _instead(p: Parameter, value: Any) -> str:
    if p.kind in _ENTRIES and isinstance(value, (list, tuple)):
        one = Parameter("", _ENTRIES[p.kind], False, False, None, False)
        for k, entry in enumerate(value):
            if not _fits(one, entry, ()):
                return f"but found element of type {_kind(entry)} at pos {k}"
    return f"not {_kind(value)}"


def _kind(value: Any) -> str:
    if hasattr(value, "raw_shape"):
        return "Parameter" if type(value).__name__ == "Parameter" else "Tensor"
    if isinstance(value, KINDS):
        return "torch.dtype"
    kind = type(value)
    if kind.__name__ == "Tensor":
        return f"{kind.__module__}.Tensor (symgrad.tensor(...) takes it)"
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _flows(value: Any) -> bool:
    """Whether a value flows through ops as tensors do: formulas, values with tangents."""
    return not isinstance(value, str) and carrier_of(type(value)) is not None


def _fits(p: Parameter, value: Any, kindly: tuple[type, ...]) -> bool:
    """Whether an argument is of the kind that a parameter takes."""
    tensor = hasattr(value, "raw_shape")
    kind = p.kind
    if kind == "Tensor":
        return tensor or _flows(value) or isinstance(value, kindly)
    if kind in _ENTRIES:
        if p.single and (tensor or (isinstance(value, _INT) and not isinstance(value, bool))):
            return _fits(_ONE, value, kindly)
        one = Parameter("", _ENTRIES[kind], False, False, None, False)
        if isinstance(value, np.ndarray):
            return np.ndarray in kindly
        return isinstance(value, (list, tuple)) and all(v is None or _fits(one, v, kindly) for v in value)
    if tensor:
        number = kind in ("int", "float", "Number") and not value.raw_shape and not value.requires_grad
        return number and (kind != "int" or value.dtype.kind in "iu")
    if kind == "int":
        return isinstance(value, _INT) and not isinstance(value, bool)
    if kind == "float":
        return isinstance(value, _FLOAT)
    if kind == "Number":
        return isinstance(value, (int, float, complex, np.generic))
    if kind == "bool":
        return isinstance(value, (bool, np.bool))
    if kind == "str":
        return isinstance(value, str)
    return kind != "dtype" or isinstance(value, (*KINDS, type))

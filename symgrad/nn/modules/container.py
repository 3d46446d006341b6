"""Modules that hold others, or parameters, in rows and dicts."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import index
from typing import Any, Self

from symgrad.errors import ArgumentError, MemberError, OutOfBounds
from symgrad.nn.modules.holding import typename
from symgrad.nn.modules.module import Module, indented
from symgrad.nn.parameter import Parameter
from symgrad.tensor import Tensor


def _place(i: Any, length: int) -> int:
    """A place of a row, counted from its end where it is below 0."""
    place: int = index(i)
    if not -length <= place < length:
        raise OutOfBounds(f"index {place} is out of range")
    return place % length


class _Row(Module):
    """What is held goes by numbers, in order: what the rows of modules share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return self._of(list(self._modules.items())[i])
        return self._modules[self._key(i)]

    def __setitem__(self, i: Any, module: Any) -> None:
        setattr(self, self._key(i), module)

    def __delitem__(self, i: Any) -> None:
        for key in list(self._modules)[i] if isinstance(i, slice) else [self._key(i)]:
            delattr(self, key)
        self._renumber(list(self._modules.values()))

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    def append(self, module: Any) -> Self:
        """Put a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Self:
        """Put some modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, i: Any = -1) -> Any:
        """Take a module out and return it."""
        module = self[i]
        del self[i]
        return module

    def _key(self, i: Any) -> str:
        return list(self._modules)[_place(i, len(self))]

    def _put_before(self, i: int, module: Any) -> None:
        row = list(self)
        row.insert(i, module)
        self._renumber(row)

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        """A row of the same class of some of the modules."""
        return type(self)([module for _, module in items])

    def _renumber(self, row: list[Any]) -> None:
        self._modules.clear()
        for module in row:
            self.append(module)


class Sequential(_Row):
    """Modules that are called one after the other: ``Sequential(first, second)``, or an ``OrderedDict`` with names.

    >>> import symgrad as sg
    >>> net = sg.nn.Sequential(sg.nn.Linear(3, 2), sg.nn.Tanh())
    >>> net
    Sequential(
      (0): Linear(in_features=3, out_features=2, bias=True)
      (1): Tanh()
    )
    >>> net(sg.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, *args: Any):
        super().__init__()
        alone = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict) else None
        for name, module in enumerate(args) if alone is None else alone.items():
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """What the last module makes of what the one before it made."""
        for module in self:
            input = module(input)
        return input

    def insert(self, i: int, module: Any) -> Self:
        """Put a module before the one at a place; raises ``IndexError`` for places that are not there."""
        if not -len(self) <= i <= len(self):
            raise OutOfBounds(f"Index out of range: {i}")
        self._put_before(i, module)
        return self

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ArgumentError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        if not isinstance(times, int) or times <= 0:
            raise ArgumentError(f"a Sequential is repeated a whole number of times from 1 on, not {times!r}.")
        return Sequential(*itertools.chain.from_iterable(itertools.repeat(list(self), times)))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        return self.extend((self * times)[len(self) :])

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(OrderedDict(items))


class ModuleList(_Row):
    """A list whose modules are found by ``parameters()``; it is not called.

    >>> import symgrad as sg
    >>> layers = sg.nn.ModuleList(sg.nn.Linear(2, 2) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Iterable[Any] | None = None):
        super().__init__()
        self.extend(() if modules is None else modules)

    def insert(self, i: int, module: Any) -> None:
        """Put a module before the one at a place."""
        self._put_before(i, module)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def _layer_told_below(self) -> list[str]:
        """What prints alike, one after the other, is told once: ``(0-5): 6 x Linear(…)``."""
        lines, first = [], 0
        for text, row in itertools.groupby(map(repr, self)):
            times = len(list(row))
            places, many = (f"{first}-{first + times - 1}", f"{times} x ") if times > 1 else (f"{first}", "")
            lines.append(f"({places}): {many}{indented(text)}")
            first += times
        return lines


def _pairs(given: Any) -> list[tuple[str, Any]]:
    """Names and what goes by them, of a mapping or of a list of pairs."""
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise ArgumentError(f"a mapping or an iterable of pairs is needed, not {typename(given)}.")
    pairs = list(given)
    for k, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ArgumentError(f"element #{k} of what a dict is updated with has {len(pair)} entries; 2 is required.")
    return [(name, thing) for name, thing in pairs]


class ModuleDict(Module):
    """A dict whose modules are found by ``parameters()``; it is not called.

    >>> import symgrad as sg
    >>> heads = sg.nn.ModuleDict({"mean": sg.nn.Linear(3, 1), "scale": sg.nn.Linear(3, 1)})
    >>> [name for name, _ in heads.named_parameters()]
    ['mean.weight', 'mean.bias', 'scale.weight', 'scale.bias']
    """

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Put the modules of a mapping, or of pairs, in."""
        for name, module in _pairs(modules):
            self[name] = module


def _as_parameter(value: Any) -> Any:
    """Tensors become parameters; other things stay what they are."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _dtype(tensor: Any) -> str:
    return f"torch.{tensor.dtype}"


def _told(value: Any, kind: Callable[[Any], Any]) -> str:
    """A line of the text of a container of parameters; ``kind`` tells the class of a tensor."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    return f"Parameter containing: [{kind(value)} of size {'x'.join(map(str, value.shape))}]"


class ParameterList(Module):
    """A list whose tensors are parameters; other things may stand among them.

    >>> import symgrad as sg
    >>> powers = sg.nn.ParameterList([sg.ones(1) for _ in range(3)])
    >>> sum(p * 2.0**k for k, p in enumerate(powers))
    tensor([7.], grad_fn=<AddBackward0>)
    """

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        self.extend([] if values is None else values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return type(self)([self[k] for k in range(*i.indices(len(self)))])
        return getattr(self, str(_place(i, len(self))))

    def __setitem__(self, i: Any, value: Any) -> None:
        setattr(self, str(_place(i, len(self))), _as_parameter(value))

    def append(self, value: Any) -> Self:
        """Put a tensor, or another thing, at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Put some at the end."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise ArgumentError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"  ({k}): {_told(value, _dtype)}" for k, value in enumerate(self))


class ParameterDict(Module):
    """A dict whose tensors are parameters; other things may stand among them.

    >>> import symgrad as sg
    >>> sizes = sg.nn.ParameterDict({"left": sg.ones(2), "right": sg.zeros(2)})
    >>> sizes["left"] @ sizes["right"]
    tensor(0., grad_fn=<DotBackward0>)
    """

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise MemberError(f"'ParameterDict' object has no attribute '{key}'")
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def values(self) -> Any:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> Any:
        """Names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Put the tensors of a mapping, or of pairs, in."""
        for name, value in _pairs(parameters):
            self[name] = value

    def __or__(self, other: Any) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> Any:
        both = other.copy()
        both.update(self)
        return both

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        """Take all out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take one out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last one out and return it with its name."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The one under a name; if there is none, ``default`` comes there."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The one under a name, or ``default``."""
        return self[key] if key in self else default  # noqa: SIM401  (which would call itself)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Another dict with one value under many names."""
        return ParameterDict([(key, default) for key in keys])

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"  ({key}): {_told(value, Tensor.type)}" for key, value in self.items())

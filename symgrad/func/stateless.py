"""Objects that hold tensors, called with other tensors in their place: ``functional_call``, and many of one kind.

It need not be an ``nn.Module``: any object will do that has tensors as attributes, also in lists, dicts and
other objects among them; where it has ``named_parameters()`` and ``named_buffers()``, their names count, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType, ModuleType
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.op import lookup
from symgrad.tape.record import Recorded

__all__ = ["functional_call", "functionalize", "replace_all_batch_norm_modules_", "stack_module_state"]

_NO_HOLDERS = (type, ModuleType, FunctionType, MethodType, str, bytes, int, float, complex)


class _Place:
    """Where a tensor stands: an attribute of an object, or an entry of a list or dict."""

    __slots__ = ("holder", "key", "path", "tensor")

    def __init__(self, path: str, holder: Any, key: Any, tensor: Any):
        self.path, self.holder, self.key, self.tensor = path, holder, key, tensor

    def read(self) -> Any:
        if isinstance(self.holder, (dict, list)):
            return self.holder[self.key]
        return getattr(self.holder, self.key)

    def write(self, value: Any) -> None:
        if isinstance(self.holder, (dict, list)):
            self.holder[self.key] = value
        else:  # whatever the class does where users set attributes
            object.__setattr__(self.holder, self.key, value)


def _members(holder: Any) -> Iterator[tuple[Any, Any]]:
    """What an object, list or dict holds, with the attribute's name, number or key."""
    if isinstance(holder, dict):
        yield from ((key, value) for key, value in holder.items() if isinstance(key, (str, int)))
    elif isinstance(holder, (list, tuple)):
        yield from enumerate(holder)
    elif not isinstance(holder, _NO_HOLDERS):
        yield from getattr(holder, "__dict__", {}).items()
        for kind in type(holder).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(holder, name) and name not in ("__dict__", "__weakref__"):
                    yield name, getattr(holder, name)


def _places(module: Any) -> list[_Place]:
    """Where tensors stand below an object, in the order in which they were put there."""
    found: list[_Place] = []
    seen, stack = {id(module)}, [("", module)]
    while stack:
        path, holder = stack.pop()
        inner = []
        for key, value in _members(holder):
            name = f"{path}{key}"
            if isinstance(value, Recorded):
                if not isinstance(holder, tuple):
                    found.append(_Place(name, holder, key, value))
            elif id(value) not in seen:
                seen.add(id(value))
                inner.append((f"{name}.", value))
        stack.extend(reversed(inner))
    return found


def _named(module: Any, what: str) -> dict[str, Any] | None:
    """The tensors that an object's own ``named_parameters()`` or ``named_buffers()`` gives; None where it has none."""
    method = getattr(module, what, None)
    return dict(method()) if callable(method) else None


def _merged(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ArgumentError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    if not all(isinstance(part, Mapping) for part in given):
        raise ArgumentError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    keys = list(itertools.chain(*given))
    repeated = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if repeated:
        raise ArgumentError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {key: value for part in given for key, value in part.items()}


def _targets(module: Any, given: dict[str, Any], tied: bool, strict: bool) -> dict[str, list[_Place]]:
    """The places that each given tensor goes to; raises where a name is not known, or a tied tensor gets two values."""
    places = _places(module)
    own = {**(_named(module, "named_parameters") or {}), **(_named(module, "named_buffers") or {})}
    known = {**{place.path: place.tensor for place in places}, **own}
    wanted = own or known
    unexpected, missing = [key for key in given if key not in known], [key for key in wanted if key not in given]
    if unexpected or (strict and missing):
        words = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] if unexpected else []
        words += [f"Missing key(s): {', '.join(map(repr, missing))}."] if missing and strict else []
        raise ArgumentError(
            "\n\t".join([f"Error(s) in reparametrizing for {type(module).__name__}:", *words])
            + f"\nIt has {', '.join(map(repr, wanted)) or 'no tensors'}."
        )
    targets: dict[str, list[_Place]] = {}
    for key in given:
        alike = [place for place in places if place.tensor is known[key]]
        alone = [place for place in alike if place.path == key] or alike[:1]
        targets[key] = alike if tied else alone
        if not alike:
            raise ArgumentError(f"functional_call: {key!r} is made when it is asked for, and stands nowhere.")
        others = [k for k in targets if known[k] is known[key] and given[k] is not given[key]]
        if tied and others:
            raise ArgumentError(
                f"functional_call got multiple values for keys {sorted([*others, key])}, which are tied. Consider "
                "using tie_weights=False"
            )
    return targets


@contextmanager
def _reparametrized(targets: dict[str, list[_Place]], given: dict[str, Any], asked: Any) -> Iterator[None]:
    """Inside, the given tensors stand at their places; what the call put there is noted in the dict of the user."""
    before = [(place, place.tensor) for row in targets.values() for place in row]
    try:
        for key, row in targets.items():
            for place in row:
                place.write(given[key])
        yield
    finally:
        for key, row in targets.items():
            now = row[0].read()
            if now is not given[key] and isinstance(asked, dict):
                asked[key] = now
        for place, tensor in before:
            place.write(tensor)


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other tensors in the place of some of its own, which it has again afterwards.

    ``module`` is any object that is called, or has ``forward``, and holds tensors: as attributes, in lists and dicts,
    or in other objects that it holds.  Names are paths such as ``"layers.0.weight"``, and those that
    ``named_parameters()`` and ``named_buffers()`` of the object give where it has these methods.  Tensors may have any
    shapes that the object's code takes.

    ``parameter_and_buffer_dicts`` is one dict from names to tensors, or several without common names; ``args`` a tuple,
    or one argument.  ``tie_weights``: a tensor that stands in several places is replaced in all of them.  ``strict``:
    every name must be given.  A buffer that the call replaces is put into the dict, if there is one alone.

    Raises ``RuntimeError`` for names that the object does not have (torch adds them, and nobody reads them), and
    ``ValueError`` for several values of one tied tensor.

    >>> import symgrad as sg
    >>> class Line:
    ...     def __init__(self):
    ...         self.w, self.b = sg.tensor(2.0, requires_grad=True), sg.tensor(1.0, requires_grad=True)
    ...     def __call__(self, x):
    ...         return self.w * x + self.b
    >>> line = Line()
    >>> sg.func.functional_call(line, {"w": sg.tensor(10.0)}, sg.tensor(3.0))
    tensor(31., grad_fn=<AddBackward0>)
    >>> sg.func.grad(lambda p: sg.func.functional_call(line, p, sg.tensor(3.0)))({"w": line.w, "b": line.b})["w"].item()
    3.0
    """
    given = _merged(parameter_and_buffer_dicts)
    row = () if args is None else args if isinstance(args, tuple) else (args,)
    targets = _targets(module, given, tie_weights, strict)
    with _reparametrized(targets, given, parameter_and_buffer_dicts):
        return (module if callable(module) else module.forward)(*row, **(kwargs or {}))


def _state(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and buffers of an object: by its own methods, or what requires grad, and what does not."""
    parameters, buffers = _named(model, "named_parameters"), _named(model, "named_buffers")
    if parameters is None:
        places = _places(model)
        parameters = {place.path: place.tensor for place in places if place.tensor.requires_grad}
        buffers = {place.path: place.tensor for place in places if not place.tensor.requires_grad}
    return parameters, buffers or {}


def _stacked(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """New leaves, each of what the models have under one name."""
    made: dict[str, Any] = {}
    for name, first in rows[0].items():
        tensors = [row[name] for row in rows]
        if any(tensor.requires_grad != first.requires_grad for tensor in tensors):
            raise ArgumentError(f"Expected {name} from each model to have the same .requires_grad")
        whole = lookup("stack")(*(tensor.detach() for tensor in tensors), dim=0)
        made[name] = whole.requires_grad_(first.requires_grad)
    return made


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several objects of one class, stacked by name: new leaves, for :func:`vmap`.

    Names are those of :func:`functional_call`.  Without ``named_parameters()``, parameters are the tensors that require
    grad, and buffers the others.  Raises ``RuntimeError`` where there is no object, or where they are of several
    classes.

    >>> import symgrad as sg
    >>> class Line:
    ...     def __init__(self, w):
    ...         self.w = sg.tensor(w, requires_grad=True)
    ...     def __call__(self, x):
    ...         return self.w * x
    >>> lines = [Line(1.0), Line(2.0), Line(3.0)]
    >>> params, buffers = sg.func.stack_module_state(lines)
    >>> sg.vmap(lambda p, x: sg.func.functional_call(lines[0], p, x), (0, None))(params, sg.tensor(5.0)).tolist()
    [5.0, 10.0, 15.0]
    """
    if not models:
        raise ArgumentError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise ArgumentError("stack_module_state: Expected all models to be of the same class.")
    states = [_state(model) for model in models]
    return _stacked([parameters for parameters, _ in states]), _stacked([buffers for _, buffers in states])


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function itself: programs that are traced here have no changes in place, whatever the function does.

    >>> import symgrad as sg
    >>> sg.func.functionalize(lambda x: x.clone().add_(1))(sg.zeros(2))
    tensor([1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise ArgumentError("functionalize(f, remove='mutations'): 'mutations' or 'mutations_and_views' can be removed")
    return func


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Take the running statistics from every ``BatchNorm`` of a module, in place, so that ``vmap`` can go over it.

    >>> import symgrad as sg
    >>> net = sg.func.replace_all_batch_norm_modules_(sg.nn.Sequential(sg.nn.BatchNorm1d(3)))
    >>> net[0].running_mean is None, net[0].track_running_stats
    (True, False)
    """
    from symgrad.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d

    for module in root.modules():
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root

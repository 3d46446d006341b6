"""Parameters that are computed of others: ``module.weight`` is what a row of modules makes of what is held.

A module with such a parameter has a class of its own, derived from its class before, where the name is a property; what
is held stands below ``module.parametrizations``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.nn.modules.container import ModuleDict, ModuleList
from symgrad.nn.parameter import Parameter
from symgrad.tape.modes import no_grad
from symgrad.tensor import Tensor

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]


class _Cache:
    """What was computed inside ``cached()``, by module and name."""

    depth = 0
    made: dict[tuple[int, str], Any] = {}  # noqa: RUF012  (one for all, on purpose)


@contextmanager
def cached() -> Iterator[None]:
    """Inside, a parameter that is computed of others is computed once: ``with cached(): ...``.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.parametrizations.orthogonal(sg.nn.Linear(2, 2))
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.made = {}


class ParametrizationList(ModuleList):
    """The modules that make a parameter, one after the other, and what they make it of.

    That is ``original``, or ``original0``, ``original1`` … where the first module takes several: what ``right_inverse``
    of the modules, where they have it, makes of the parameter.
    """

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False, name: str = ""):
        if not modules:
            raise ArgumentError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = _Told(original)
        with no_grad():
            new = self._back(original, strict=False)
        self.is_tensor = isinstance(new, Tensor)
        if not self.is_tensor and not isinstance(new, Sequence):
            raise ArgumentError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}"
            )
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != original.dtype:
                raise ArgumentError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            original.data = new.detach()
            parts = {"original": original}
        else:
            parts = {f"original{k}": _alike(part, original, k) for k, part in enumerate(new)}
        for key, part in parts.items():
            if isinstance(part, Parameter):
                part.name = _called(original.name, name, f"{name}_{key}")
            _hold(self, key, part)
        if not unsafe:
            before.check(self(), "Registering a parametrization", "unparametrized {}", "parametrized {}")

    def _back(self, value: Any, strict: bool) -> Any:
        """What the modules make the value of; ``strict``: all of them must be able to tell."""
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    if strict:
                        raise
            elif strict:
                raise ArgumentError(f"parametrization {type(module).__name__} does not implement right_inverse.")
        return value

    def _originals(self) -> list[Any]:
        keys = ["original"] if self.is_tensor else [f"original{k}" for k in range(self.ntensors)]
        return [getattr(self, key) for key in keys]

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Give what is held the values of which the modules make this one.

        Raises ``RuntimeError`` where one of them has no ``right_inverse``, ``ValueError`` for other dtypes and counts.
        """
        found = self._back(value, strict=True)
        if self.is_tensor != isinstance(found, Tensor):
            wanted = "a tensor" if self.is_tensor else "a sequence of tensors"
            raise ArgumentError(f"`right_inverse` should return {wanted}. Got {type(found).__name__}")
        row, originals = [found] if self.is_tensor else list(found), self._originals()
        if len(row) != len(originals):
            raise ArgumentError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(row)}."
            )
        for k, (original, new) in enumerate(zip(originals, row, strict=True)):
            if original.dtype != new.dtype:
                raise ArgumentError(
                    f"Tensor {k} returned by `right_inverse` has dtype {new.dtype} while `original` has dtype "
                    f"{original.dtype}"
                )
            original.data = new.detach()

    def forward(self) -> Any:
        """The parameter."""
        first, *others = self
        x = first(*self._originals())
        for module in others:
            x = module(x)
        return x


class _Told:
    """The dtype and shape of a tensor, which parametrizations leave as they are."""

    def __init__(self, tensor: Any):
        self.dtype, self.shape = tensor.dtype, tuple(tensor.shape)

    def check(self, made: Any, what: str, ours: str, theirs: str) -> None:
        """Raise ``ValueError`` for what is no tensor, or another kind of one; ``ours`` and ``theirs`` are words."""
        if not isinstance(made, Tensor):
            raise ArgumentError(f"A parametrization must return a tensor. Got {type(made).__name__}.")
        for aspect, found in (("dtype", made.dtype), ("shape", tuple(made.shape))):
            if found != getattr(self, aspect):
                raise ArgumentError(
                    f"{what} may not change the {aspect} of the tensor, unless the `unsafe` flag is enabled.\n"
                    f"{ours.format(aspect)}: {getattr(self, aspect)}\n{theirs.format(aspect)}: {found}"
                )


def _alike(part: Any, original: Any, k: int) -> Any:
    """One of several tensors as a parameter, if what they stand for is one."""
    if not isinstance(part, Tensor):
        raise ArgumentError(
            f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element {k} of the "
            f"sequence with type {type(part).__name__}."
        )
    return Parameter(part, original.requires_grad) if isinstance(original, Parameter) else part


def _hold(module: Any, name: str, tensor: Any) -> None:
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


def _called(given: str | None, old: str, new: str) -> Any:
    """A name in formulas where the last part that is ``old`` is ``new``: fc1_weight becomes fc1_weight_original."""
    if given is None:
        return None
    return re.sub(rf"(^|.*_){re.escape(old)}(?=_|$)", lambda m: f"{m[1]}{new}", given, count=1)


# ------------------------------------------------------------------------------------------ the class of such modules


@functools.cache
def _class_with(base: type, names: tuple[str, ...]) -> type:
    """The class of modules of a class whose parameters of these names are computed."""

    def reduce(self: Any, protocol: Any) -> Any:  # noqa: ARG001
        return _blank, (base, names), self.__getstate__()

    members: dict[str, Any] = {name: _computed(name) for name in names}
    return type(f"Parametrized{base.__name__}", (base,), {**members, "__reduce_ex__": reduce, "_undressed": base})


def _computed(name: str) -> property:
    def get(self: Any) -> Any:
        if not _Cache.depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _Cache.made:
            _Cache.made[key] = self.parametrizations[name]()
        return _Cache.made[key]

    return property(get, lambda self, value: self.parametrizations[name].right_inverse(value))


def _blank(base: type, names: tuple[str, ...]) -> Any:
    """A module whose state comes afterwards: of a copy, or of a file."""
    kind: Any = _class_with(base, names)
    return kind.__new__(kind)


def _dress(module: Any) -> None:
    """Give a module the class that goes with its parametrizations."""
    base, names = type_before_parametrizations(module), tuple(module._modules.get("parametrizations") or ())
    module.__class__ = _class_with(base, names) if names else base


# ------------------------------------------------------------------------------------------ what users call


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has a parameter that is computed of others, or whether the one of this name is.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(2, 2))
    >>> is_parametrized(layer), is_parametrized(layer, "bias")
    (True, False)
    """
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def type_before_parametrizations(module: Any) -> type:
    """The class of a module as it was before any of its parameters was computed of others.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(2, 2))
    >>> type(layer).__name__, type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    kind: type = type(module)
    before: type = vars(kind).get("_undressed", kind)
    return before


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Any:
    """From now on ``module.<tensor_name>`` is what ``parametrization`` makes of the parameter or buffer of this name.

    That one stands at ``module.parametrizations.<tensor_name>.original``.  A second one is applied to what the first
    makes.  Assignments to the name go through ``right_inverse`` of the parametrization, as the present value does.
    ``unsafe``: shapes and dtypes may change.  Returns the module; raises ``ValueError`` for names without a tensor, and
    for other shapes and dtypes.

    >>> import symgrad as sg
    >>> class Symmetric(sg.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = register_parametrization(sg.nn.Linear(3, 3), "weight", Symmetric())
    >>> sg.equal(layer.weight, layer.weight.T)
    True
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'parametrizations.weight.original']
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        row = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization, tensor_name)
        row.append(parametrization)
        row.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        row = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe, tensor_name)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = row
        _dress(module)
    else:
        raise ArgumentError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_next(now: Any, parametrization: Any, name: str) -> None:
    """Refuse a second parametrization that changes what the first one makes, forwards or backwards."""
    before, made = _Told(now), parametrization(now)
    before.check(made, "Registering a parametrization", f"module.{name}.{{}}", f"parametrization(module.{name}).{{}}")
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(made)
        except NotImplementedError:
            return
        before.check(back, "parametrization.right_inverse", f"module.{name}.{{}}", "returned {}")


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Hold ``module.<tensor_name>`` as a parameter again: with the value that it has, or with that of the original.

    Returns the module.  Raises ``ValueError`` where the name is not parametrized, and for the originals where they are
    several.

    >>> import symgrad as sg
    >>> layer = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(2, 2))
    >>> remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ArgumentError(f"Module {module} does not have a parametrization on {tensor_name}")
    row = module.parametrizations[tensor_name]
    with no_grad():
        value = getattr(module, tensor_name)
    first = row._originals()[0]
    if row.is_tensor:
        held = first
        if leave_parametrized:
            held.data = value.detach()
    elif leave_parametrized:
        held = Parameter(value, first.requires_grad) if isinstance(first, Parameter) else value
    else:
        raise ArgumentError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    del module.parametrizations[tensor_name]
    _dress(module)
    if not len(module.parametrizations):
        del module.parametrizations
    if isinstance(held, Parameter):
        held.name = _called(first.name, f"{tensor_name}_original{'' if row.is_tensor else 0}", tensor_name)
    _hold(module, tensor_name, held)
    return module


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Parametrize a module as another one is, and share what is held; ``tensor_name``: one of its parameters alone.

    >>> import symgrad as sg
    >>> first = sg.nn.utils.parametrizations.weight_norm(sg.nn.Linear(2, 2))
    >>> second = transfer_parametrizations_and_params(first, sg.nn.Linear(2, 2))
    >>> second.parametrizations.weight.original0 is first.parametrizations.weight.original0
    True
    """
    if is_parametrized(from_module):
        for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name)))
            row = from_module.parametrizations[name]
            for parametrization in row:
                register_parametrization(to_module, name, parametrization, unsafe=row.unsafe)
            for key, original in [*row._parameters.items(), *row._buffers.items()]:
                setattr(to_module.parametrizations[name], key, original)
    return to_module

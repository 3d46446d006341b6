"""Layers without weights: each is a function of :mod:`symgrad.nn.functional` and the settings that it is called with.

A class names the function and lists the settings, in torch's order:

    class ELU(Applied):
        _layer_function = staticmethod(functional.elu)
        alpha: float = 1.0
        inplace: bool = False

``__init__``, ``forward`` and the text follow from that.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar, dataclass_transform

from symgrad.errors import ArgumentError
from symgrad.nn.modules.module import Module, Signature


class _AppliedSignature(Signature):
    """A class is called with the settings, and a layer with what its function takes beside them."""

    def __get__(self, layer: Any, owner: Any) -> inspect.Signature:
        if layer is None:
            first = next(kind for kind in owner.__mro__ if {"__init__", "_layer_signature"} & vars(kind).keys())
            settings: inspect.Signature | None = vars(first).get("_layer_signature")
            if settings is not None:
                return settings
        if layer is None or owner.forward is not Applied.forward:
            return super().__get__(layer, owner)
        taken = inspect.signature(owner._layer_function).parameters.items()
        return inspect.Signature([p for name, p in taken if name not in layer._layer_settings()])


@dataclass_transform()
class Applied(Module):
    """Calls its function with the inputs and its settings.

    _layer_function  what the layer computes
    _layer_trains    whether the function is told if the layer is in training
    """

    _layer_function: ClassVar[Any]
    _layer_usual: ClassVar[dict[str, Any]] = {"inplace": False}
    _layer_trains: ClassVar[bool] = False
    _layer_signature: ClassVar[inspect.Signature] = inspect.Signature()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = [name for name, kind in inspect.get_annotations(cls).items() if "ClassVar" not in str(kind)]
        own = "_layer_function" in cls.__dict__ or not hasattr(super(cls, cls), "_layer_function")
        if names and own:  # in classes that users derive from a layer, they are attributes as in any class
            rows = [
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=cls.__dict__.get(name, inspect.Parameter.empty),
                )
                for name in names
            ]
            cls._layer_signature = inspect.Signature(rows)
            for name in cls.__dict__.keys() & set(names):
                delattr(cls, name)  # a layer has its settings itself, some of them as buffers
        cls.__signature__ = _AppliedSignature()

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        try:
            bound = self._layer_signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{type(self).__name__}{self._layer_signature}: {error}.") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def _layer_settings(self) -> dict[str, Any]:
        """What the function is called with beside the inputs."""
        told = {name: getattr(self, name) for name in self._layer_signature.parameters}
        return {**told, "training": self.training} if self._layer_trains else told

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """What the function gives for the inputs."""
        return type(self)._layer_function(*inputs, **named, **self._layer_settings())

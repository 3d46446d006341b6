"""What is special to functions of torch's plain namespace: reductions as numbers, changes in place, sums of numbers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from symgrad.errors import ArgumentError

NUMBERS = (bool, int, float, complex)
OF_NUMBERS = ("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide")
"""Functions that make a tensor of two numbers."""
_LOSSES = {
    "binary_cross_entropy_with_logits": ("input", "target", "weight", "pos_weight"),
    "cosine_embedding_loss": ("input1", "input2", "target", "margin"),
    "ctc_loss": ("log_probs", "targets", "input_lengths", "target_lengths", "blank"),
    "hinge_embedding_loss": ("input", "target", "margin"),
    "kl_div": ("input", "target"),
    "margin_ranking_loss": ("input1", "input2", "target", "margin"),
    "poisson_nll_loss": ("input", "target", "log_input", "full", "eps"),
    "triplet_margin_loss": ("anchor", "positive", "negative", "margin", "p", "eps", "swap"),
}
"""The losses, and what their arguments before the reduction are called."""
_AFTER = {"kl_div": ("log_target",), "ctc_loss": ("zero_infinity",)}
_REDUCTIONS = {1: "mean", 2: "sum"}


def plain_losses(functional: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The losses by name, made of those of ``nn.functional``."""
    return {name: _numbered(name, functional[name], words) for name, words in _LOSSES.items()}


def _numbered(name: str, whole: Callable[..., Any], words: tuple[str, ...]) -> Callable[..., Any]:
    signature = inspect.signature(whole)
    after = _AFTER.get(name, ())
    rows = [signature.parameters[word].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) for word in words]
    reduction = inspect.Parameter("reduction", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=0, annotation="int")
    taken = signature.replace(parameters=[*rows, reduction, *(signature.parameters[word] for word in after)])

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = taken.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentError(f"{name}(): {error}. It is called as {name}{taken}.") from error
        number = given.pop("reduction", 0)
        if not isinstance(number, int):
            raise ArgumentError(
                f"{name}(): argument 'reduction' must be int, not {type(number).__name__}: 0 for none, 1 for the mean, "
                f"2 for the sum (nn.functional.{name} takes the words)."
            )
        if name == "kl_div" and number == 1:
            return whole(**given, reduction="none").mean()  # without a word about "batchmean"
        return whole(**given, reduction=_REDUCTIONS.get(number, "none"))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"``nn.functional.{name}`` with torch's number for the reduction: 0 none (torch's default), 1 mean, 2 sum."
    )
    call.__module__ = "symgrad.ops"
    call.__signature__ = taken  # type: ignore[attr-defined]
    return call


def writing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ``nn.functional`` in place."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs, inplace=True)

    call.__name__ = call.__qualname__ = f"{function.__name__}_"
    call.__doc__ = f"``{function.__name__}`` in place."
    signature = inspect.signature(function)
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for p in signature.parameters.values() if p.name != "inplace"]
    )
    return call


def of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result is a tensor even where both arguments are numbers, as in torch."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (
            args
            and args[0].__class__ in NUMBERS
            and all(a.__class__ in NUMBERS or key == "rounding_mode" for key, a in (*enumerate(args), *kwargs.items()))
        ):
            from symgrad.tensor.creation import tensor

            args = (tensor(args[0]), *args[1:])
        return function(*args, **kwargs)

    return call

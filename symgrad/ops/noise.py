"""Random functions: dropout and its relatives, bernoulli, normal.  The noise is a constant of the formula.

Random numbers come from the ``generator=`` given, or from the one that ``manual_seed`` seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.op import front, shape_of
from symgrad.ops.naming import inplace, within, written

inplace("bernoulli")

SOURCE: list[Callable[[], Any]] = [np.random.default_rng]
"""Where random numbers come from without ``generator=``; the maker of random tensors puts its own here."""


def drawn(generator: Any) -> Any:
    """The NumPy generator to draw from."""
    return SOURCE[0]() if generator is None else generator


def uniform(like: Any, low: float, high: float, generator: Any = None) -> Any:
    """Uniform numbers in the shape and dtype of a value."""
    return np.asarray(drawn(generator).uniform(low, high, shape_of(like))).astype(like.dtype)


def _probability(p: float, name: str) -> None:
    if not 0 <= p <= 1:
        raise ArgumentError(f"{name}: probability has to be between 0 and 1, but got {p}")


def _kept(x: Any, p: float, axes: int | None, generator: Any) -> Any:
    """1/(1-p) with probability 1-p and 0 else, for every entry or for every one of the first ``axes`` axes."""
    shape = shape_of(x)
    if axes is not None:
        shape = (*shape[:axes], *(1,) * (len(shape) - axes))
    if p == 1:
        return np.zeros(shape, x.dtype)
    return np.asarray((drawn(generator).random(shape) >= p) / (1 - p)).astype(x.dtype)


def _dropout(name: str, axes: int | None) -> Any:
    def call(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Any = None) -> Any:
        _probability(p, name)
        if not training or not p:
            return input

        def masked(x: Any) -> Any:
            first = axes if axes is None or len(shape_of(x)) > int(name[-2]) else axes - 1
            return x * _kept(x, p, first, generator)

        return written(input, masked) if inplace else masked(input)

    what = "entries" if axes is None else "channels"
    call.__name__ = name
    call.__doc__ = f"While training, {what} become 0 with probability p and the others are divided by 1 - p."
    return within("nn.functional")(call)


dropout = _dropout("dropout", None)
dropout1d, dropout2d, dropout3d = (_dropout(f"dropout{k}d", 2) for k in (1, 2, 3))
front("dropout", method=False)(lambda input, p, train: dropout(input, p, train))


def _alpha_dropout(name: str, axes: int | None) -> Any:
    def call(
        input: Any, p: float = 0.5, training: bool = False, inplace: bool = False, *, generator: Any = None
    ) -> Any:
        _probability(p, name)
        if not training or not p:
            return input

        def masked(x: Any) -> Any:
            if p == 1:
                return x * np.zeros(shape_of(x), x.dtype)
            alpha = 1.7580993408473766
            keep = np.asarray(_kept(x, p, axes, generator) * (1 - p)).astype(x.dtype)
            scale = 1 / np.sqrt((alpha * alpha * p + 1) * (1 - p))
            shift = ((keep - 1) * alpha + alpha * p) * scale
            return x * (keep * scale).astype(x.dtype) + shift.astype(x.dtype)

        return written(input, masked) if inplace else masked(input)

    call.__name__ = name
    call.__doc__ = "Dropout that keeps mean 0 and variance 1 of self-normalising networks (Klambauer et al. 2017)."
    return within("nn.functional")(call)


alpha_dropout = _alpha_dropout("alpha_dropout", None)
feature_alpha_dropout = _alpha_dropout("feature_alpha_dropout", 2)


@front("bernoulli")
def bernoulli(input: Any, p: float | None = None, *, generator: Any = None) -> Any:
    """0 or 1, with the probabilities in ``input`` (or ``p`` everywhere); derivative 0."""
    values = input.detach() if hasattr(input, "detach") else input
    chances = np.asarray(values) if p is None else p
    ones = np.asarray(drawn(generator).random(shape_of(input)) < chances).astype(input.dtype)
    return input * 0 + ones


@front("normal", method=False)
def normal(mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None) -> Any:
    """Normal samples mean + std · z of the given means and deviations (or numbers with a ``size``)."""
    shape = tuple(size) if size is not None else np.broadcast_shapes(shape_of(mean), shape_of(std))
    dtype = next((x.dtype for x in (mean, std) if hasattr(x, "dtype")), np.dtype(np.float64))
    z = np.asarray(drawn(generator).standard_normal(shape)).astype(dtype)
    return std * z + mean

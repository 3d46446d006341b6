"""Random functions: dropout and its relatives, bernoulli, normal.  The noise is a constant of the formula.

Random numbers come from the ``generator=`` given, or from the one that ``manual_seed`` seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.dtypes import finfo, get_default_dtype, is_floating, torch_name
from symgrad.errors import ArgumentError, AutogradError, DtypeError, ShapeError
from symgrad.kernels.arrays.copies import kept_order
from symgrad.kernels.entries.elementwise import fused
from symgrad.kernels.randomness.counts import binomial_counts, poisson_counts
from symgrad.kernels.randomness.streams import Generator, NumpyNumbers, TorchNumbers, by_memory, turned_in_memory
from symgrad.notices import notice
from symgrad.op import broadcast_shapes, front, known_as, refusal, refusing, shape_of
from symgrad.ops.calls.naming import within, written
from symgrad.ops.calls.still import glanced, still, values_of, wrapped_like
from symgrad.ops.elementwise.arithmetic import clone
from symgrad.ops.elementwise.select import beside
from symgrad.ops.elementwise.smooth import log
from symgrad.ops.indexing.gathering import gather
from symgrad.ops.reductions.scans import cumsum
from symgrad.ops.reductions.softmax import softmax
from symgrad.ops.reductions.sums import sum_
from symgrad.ops.rules.constants import PI
from symgrad.ops.special.common import lgamma

SOURCE: list[Callable[[], Any]] = [Generator]
"""Where random numbers come from without ``generator=``; the maker of random tensors puts its own here."""


ANNOUNCED: list[Callable[[Any], None]] = []
"""Who is told of every draw, with the generator it comes from; mapping over examples puts itself here."""


def drawn(generator: Any) -> Any:
    """The numbers to draw from: those of the ``generator=`` given (ours, NumPy's or torch's), or of the common one."""
    source = SOURCE[0]() if generator is None else generator
    for told in ANNOUNCED:
        told(source)
    if generator is None:
        return source
    if isinstance(generator, np.random.Generator):
        return NumpyNumbers(generator)
    return TorchNumbers(generator) if type(generator).__module__.startswith("torch") else generator


def check_bound(what: str, bound: float, dtype: Any) -> None:
    """Raise torch's error for a bound of random numbers that their dtype does not reach."""
    limits = np.iinfo(dtype) if dtype.kind in "ui" else None if dtype.kind == "b" else finfo(dtype)
    low, high = (limits.min, limits.max) if limits else (0, 1)
    if not low <= bound <= high:
        raise AutogradError(f"{what} is out of bounds for {dtype.name}: {bound} is not from {low} to {high}")


def _probability(p: float, name: str) -> None:
    if not 0 <= p <= 1:
        if name == "bernoulli":
            raise ArgumentError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
        raise ArgumentError(f"dropout probability has to be between 0 and 1, but got {p} ({name})")


def _divisible(x: Any) -> None:
    if x.dtype.kind in "bui":
        kind = torch_name(x.dtype)
        raise DtypeError(f"result type Float can't be cast to the desired output type {kind}; dropout is for floats")


def _kept(x: Any, p: float, axes: int | None, generator: Any) -> Any:
    """1/(1-p) with probability 1-p and 0 else, for every entry or for every one of the first ``axes`` axes."""
    shape = shape_of(x)
    if axes is not None:
        shape = (*shape[:axes], *(1,) * (len(shape) - axes))
    if p == 1:
        return np.zeros(shape, x.dtype)
    source = drawn(generator)
    made = by_memory(dense_steps(x) if axes is None else (), shape, lambda shape: source.bernoulli(1 - p, shape))
    return np.asarray(made / (1 - p)).astype(x.dtype)


def dense_steps(x: Any) -> tuple[int, ...]:
    """The strides of a tensor whose entries do not lie row by row, which noise like it has, too; none for others."""
    value = glanced(x)
    if not isinstance(value, np.ndarray) or value.flags.c_contiguous or kept_order(value) == "C":
        return ()
    return value.strides if turned_in_memory(value.strides, value.shape) else ()


def _check_axes(name: str, ndim: int) -> None:
    """torch's words where there are not the axes that a dropout of channels is for."""
    if name == "dropout1d" and ndim not in (2, 3):
        raise ShapeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    space = {"dropout2d": 2, "dropout3d": 3}.get(name)
    if space and ndim not in (space + 1, space + 2):
        notice(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
            "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
            f"{name} exists to provide channel-wise dropout on inputs with {space} spatial dimensions, a channel "
            f"dimension, and an optional batch dimension (i.e. {space + 1}D or {space + 2}D inputs)."
        )
    elif name == "dropout2d" and ndim == 3:
        notice(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )


def _dropout(name: str, axes: int | None, published: bool = True) -> Any:
    def call(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False, *, generator: Any = None) -> Any:
        _probability(p, name)
        _check_axes(name, len(shape_of(input)))
        if not training or not p or 0 in shape_of(input):
            return input
        _divisible(input)

        def masked(x: Any) -> Any:
            # Without a batch axis the channels come first; dropout2d takes three axes as a batch of signals.
            alone = name in ("dropout1d", "dropout3d") and len(shape_of(x)) != int(name[-2]) + 2
            first = axes - 1 if alone and axes is not None else axes
            return x * _kept(x, p, first, generator)

        return written(input, masked) if inplace else masked(input)

    what = "entries" if axes is None else "channels"
    known_as(call, name, f"While training, {what} become 0 with probability p and the others are divided by 1 - p.")
    return within("nn.functional")(call) if published else call


dropout = _dropout("dropout", None)
dropout1d, dropout2d, dropout3d = (_dropout(f"dropout{k}d", 2) for k in (1, 2, 3))


def _plainly(name: str, whole: Callable[..., Any]) -> None:
    """A dropout with torch's signature of the plain name, which has no defaults, and the same in place."""

    def call(input: Any, p: float, train: bool) -> Any:
        return whole(input, p, train)

    def change(input: Any, p: float, train: bool) -> Any:
        return whole(input, p, train, True)

    for made, suffix, how in ((call, "", ""), (change, "_", ", in place")):
        made.__name__ = made.__qualname__ = f"{name}{suffix}"
        made.__doc__ = f"``{name}`` with all of its arguments{how}: the probability, and whether it is training."
        front(f"{name}{suffix}", method=False)(made)


_plainly("dropout", dropout)
_plainly("feature_dropout", _dropout("feature_dropout", 2, published=False))


@front("native_dropout", method=False)
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """Dropout with the mask of what was kept: while training, entries become 0 with probability p."""
    _probability(p, "dropout")
    if train is False or 0 in shape_of(input):
        return clone(input), wrapped_like(input, np.ones(shape_of(input), np.bool_))
    _divisible(input)
    source = drawn(None)  # also where all are kept, or none is
    keep = np.asarray(by_memory(dense_steps(input), shape_of(input), lambda shape: source.bernoulli(1 - p, shape)))
    return input * keep * (1 / (1 - p) if p < 1 else 0.0), wrapped_like(input, keep)


def _alpha_dropout(name: str, axes: int | None) -> Any:
    def call(
        input: Any, p: float = 0.5, training: bool = False, inplace: bool = False, *, generator: Any = None
    ) -> Any:
        _probability(p, name)
        if not training or not p or 0 in shape_of(input):
            return input
        _divisible(input)

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


@within("nn.functional")
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1, *, generator: Any = None
) -> Any:
    """Softmax of the logits with Gumbel noise, over the temperature ``tau`` (Jang, Gu and Poole 2017).

    ``hard`` gives the one-hot choice, with the derivative of the soft one.
    """
    if not is_floating(logits.dtype):
        raise DtypeError(f"gumbel_softmax() adds noise of floats to the logits, which are {logits.dtype}")
    chances = drawn(generator).uniform(shape_of(logits), np.dtype(np.float64))
    with np.errstate(divide="ignore"):
        noise = -np.log((-np.log1p(-chances)).astype(logits.dtype))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    best = np.expand_dims(np.argmax(values_of(soft), dim), dim)
    choice = np.zeros(shape_of(soft), soft.dtype)
    np.put_along_axis(choice, best, 1, dim)
    return choice - still(soft) + soft


# ------------------------------------------------------------------------------------------ samples

SAMPLED: list[Callable[..., Any]] = [lambda values, parameters, log_p: values]
"""Makes ``(values drawn, parameters, log-probability of a value)`` a sample; tensors have one that remembers it."""


@front("bernoulli")
def bernoulli(input: Any, p: float | None = None, *, generator: Any = None) -> Any:
    """0 or 1, with the probabilities in ``input`` (or ``p`` everywhere); derivative 0 unless given a reward.

    ``reinforce`` on the result sends the score-function gradient to ``input``.  Probabilities outside of [0, 1] are an
    ``AutogradError``.
    """
    if input.dtype.kind == "c":
        raise refusal("bernoulli", "bernoulli_tensor_cpu_self_" if p is None else "bernoulli_scalar_cpu_", input.dtype)
    if p is not None:
        _probability(p, "bernoulli")
        return beside(np.asarray(drawn(generator).bernoulli(p, shape_of(input))).astype(input.dtype), input)
    if input.dtype.kind in "bui":
        raise refusal("bernoulli", "bernoulli_tensor_cpu_p_", input.dtype)
    chances = values_of(input)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise AutogradError("bernoulli(): Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    ones = np.asarray(drawn(generator).bernoulli(chances, shape_of(input))).astype(input.dtype)
    return SAMPLED[0](ones, [input], lambda a: log(a * input + (1 - a) * (1 - input)))


@front("poisson", method=False)
@refusing({"buic": "poisson_cpu"})
def poisson(input: Any, generator: Any = None) -> Any:
    """Counts of Poisson's distribution with the rates in ``input``, in its dtype; derivative 0, as torch has it.

    ``reinforce`` on the result sends the score-function gradient to ``input``.  Negative rates are an
    ``AutogradError``.

    >>> import symgrad as sg
    >>> sg.poisson(sg.zeros(3))
    tensor([0., 0., 0.])
    """
    rates = values_of(input)
    if np.any(rates < 0):
        raise AutogradError("invalid Poisson rate, expected rate to be non-negative")
    counts = poisson_counts(rates, drawn(generator)).astype(input.dtype)
    return SAMPLED[0](counts, [input], lambda a: a * log(input) - input - lgamma(a + 1))


@front("binomial", method=False)
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Successes in ``count`` trials of probability ``prob`` each, tensors of one dtype, float32 or float64.

    A sample has no derivative, and neither has torch's: for ``prob`` that requires grad draw under ``no_grad``, and use
    the log-probability of what was drawn.

    >>> import symgrad as sg
    >>> sg.binomial(sg.tensor([3.0, 4.0]), sg.tensor([0.0, 1.0]))
    tensor([0., 4.])
    """
    trials, chances = np.broadcast_arrays(values_of(count), values_of(prob))
    if trials.dtype.kind != "f":
        raise ArgumentError(f"binomial only supports floating-point dtypes for count, got: {torch_name(trials.dtype)}")
    if trials.dtype != chances.dtype:
        raise DtypeError(
            f"Found dtype {torch_name(chances.dtype)} but expected {torch_name(trials.dtype)} (count and prob of "
            "binomial have one dtype)"
        )
    counts = binomial_counts(trials, chances, drawn(generator)).astype(trials.dtype)
    return SAMPLED[0](counts, [count, prob], None)


@front("normal", method=False)
@refusing({"bui": "normal_kernel_cpu"})
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    device: Any = "cpu",
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Normal samples of the given means and deviations (or numbers with a ``size``); derivative 0, as torch has it.

    ``reinforce`` on the result sends the score-function gradient to both; ``mean + std * randn(...)`` is the sample
    that has a derivative of its own.
    """
    shape = tuple(size) if size is not None else broadcast_shapes(shape_of(mean), shape_of(std))
    kinds = [x.dtype for x in (mean, std) if hasattr(x, "dtype")]
    kind = np.dtype(kinds[0] if kinds else dtype or get_default_dtype())
    if values_of(std).dtype.kind == "c":
        raise DtypeError("normal expects standard deviation to be non-complex")
    if np.any(values_of(std) < 0):
        raise AutogradError("normal expects all elements of std >= 0.0")
    middle, spread = (values_of(x).astype(kind) if hasattr(x, "dtype") else x for x in (mean, std))
    values = drawn(generator).normal(shape, kind)
    if kinds or kind.kind == "c":
        values = np.asarray(middle + spread * values).astype(kind)
    else:  # rounded once
        values = fused(np.asarray(values), *(values.dtype.type(x) for x in (spread, middle))).astype(kind)
    sample = SAMPLED[0](values, [mean, std], lambda a: -(((a - mean) / std) ** 2) / 2 - log(std) - log(2 * PI) / 2)
    return sample._require() if requires_grad else sample


@front("multinomial")
def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Places in the last axis, drawn with the probabilities or weights in ``input``: shape (num_samples,) or (m, …).

    ``reinforce`` on the result sends the score-function gradient to ``input``.  Raises ``AutogradError`` in torch's
    words for weights that are negative, not finite or all zero, and for more places than there are.

    >>> import symgrad as sg
    >>> sg.multinomial(sg.tensor([0.0, 1.0]), 3, replacement=True)
    tensor([1, 1, 1])
    """
    weights = values_of(input)
    _drawable(weights, num_samples, replacement)
    by_clocks = num_samples == 1 or not replacement
    count = weights.shape[-1] if by_clocks else num_samples
    source, steps = drawn(generator), dense_steps(weights) if by_clocks else ()
    noise = by_memory(steps, (*weights.shape[:-1], count), lambda shape: source.uniform(shape, np.dtype(np.float64)))
    if by_clocks:  # the first arrivals of independent exponential clocks
        with np.errstate(divide="ignore"):
            rates = weights / -np.log1p(-noise).astype(weights.dtype)
        found = np.argsort(-rates, -1, kind="stable")[..., :num_samples]
    else:
        edges = np.cumsum(weights, -1, dtype=np.float32 if weights.dtype.itemsize == 2 else weights.dtype)
        edges = edges / edges[..., -1:]
        found = np.sum(edges[..., None, :-1] < noise[..., None], -1)  # the last edge is 1, whatever was rounded

    def log_p(places: Any) -> Any:
        chosen = gather(input, -1, places)
        left = sum_(input, -1, True)
        if not replacement and num_samples > 1:
            left = left - (cumsum(chosen, -1) - chosen)
        return log(chosen) - log(left)

    return SAMPLED[0](found.astype(np.int64), [input], log_p)


def _drawable(weights: Any, count: int, replacement: bool) -> None:
    if weights.dtype.kind in "biuc":
        raise AutogradError(
            f"multinomial only supports floating-point dtypes for input, got: {torch_name(weights.dtype)}"
        )
    if weights.ndim not in (1, 2):
        raise AutogradError(f"prob_dist must be 1 or 2 dim (it has {weights.ndim})")
    if count <= 0:
        raise AutogradError(f"cannot sample n_sample <= 0 samples (num_samples={count})")
    if not replacement and count > weights.shape[-1]:
        raise AutogradError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement "
            f"(num_samples={count} of {weights.shape[-1]}; replacement=True allows it)"
        )
    if weights.shape[-1] > 2**24:
        raise AutogradError(f"number of categories cannot exceed 2^24 (there are {weights.shape[-1]})")
    low, odd = not np.all(weights >= 0), not np.all(np.isfinite(weights))  # nan is not 0 or more
    if replacement and (low or odd):
        what = "< 0" if low else "= infinity or NaN"
        raise AutogradError(f"invalid multinomial distribution (encountering probability entry {what})")
    if low or odd:
        raise AutogradError("probability tensor contains either `inf`, `nan` or element < 0")
    if np.any(np.sum(weights, -1) <= 0):
        raise AutogradError("invalid multinomial distribution (sum of probabilities <= 0)")

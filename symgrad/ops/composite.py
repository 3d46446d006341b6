"""Plain functions of ops: activations, losses and small conveniences.  No derivative rules stand here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symgrad.errors import ArgumentError, ShapeError
from symgrad.op import front, shape_of
from symgrad.ops.constants import PI, exact
from symgrad.ops.elementwise import exp, expm1, log, log1p, sigmoid, sqrt, tanh
from symgrad.ops.elementwise import softplus as softplus_op
from symgrad.ops.indexing import one_hot_op, take_along
from symgrad.ops.linalg import matmul
from symgrad.ops.reductions import log_softmax, logsumexp, mean, norm, size, sum_
from symgrad.ops.select import abs_, clamp, clamp_max, clamp_min, eq, where
from symgrad.ops.shaping import squeeze, t, unsqueeze
from symgrad.ops.special import erf, xlogy


def _reduce(value: Any, reduction: str) -> Any:
    if reduction == "mean":
        return mean(value)
    if reduction == "sum":
        return sum_(value)
    if reduction == "none":
        return value
    raise ArgumentError(f"reduction is 'mean', 'sum' or 'none', not {reduction!r}.")


# ------------------------------------------------------------------------------------------ activations


@front(method=False, function=False)
def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + e^(beta x)) / beta.  ``threshold`` is accepted as in torch; the value is exact without it.

    >>> import numpy as np
    >>> softplus(np.array([0.0, 1000.0]))
    array([6.93147181e-01, 1.00000000e+03])
    """
    _ = threshold
    return softplus_op(input) if beta == 1 else softplus_op(input * beta) / beta


@front(method=False, function=False)
def silu(input: Any) -> Any:
    """x · sigmoid(x), of any shape.

    >>> float(silu(0.0))
    0.0
    """
    return input * sigmoid(input)


@front(method=False, function=False)
def gelu(input: Any, approximate: str = "none") -> Any:
    """x · Φ(x) with Φ the normal distribution function; ``approximate="tanh"`` gives torch's approximation of it.

    >>> import numpy as np
    >>> gelu(np.array([0.0, 10.0]))
    array([ 0., 10.])
    """
    if approximate == "none":
        return input * (1 + erf(input / sqrt(exact(2)))) / 2
    if approximate == "tanh":
        inner = sqrt(2 / PI) * (input + exact(Fraction(44715, 1000000)) * input**3)
        return input * (1 + tanh(inner)) / 2
    raise ArgumentError(f"approximate is 'none' or 'tanh', not {approximate!r}.")


@front(method=False, function=False)
def leaky_relu(input: Any, negative_slope: float = 0.01) -> Any:
    """x where x > 0, else negative_slope · x.

    >>> import numpy as np
    >>> leaky_relu(np.array([-1.0, 2.0]))
    array([-0.01,  2.  ])
    """
    return where(input > 0, input, input * negative_slope)


@front(method=False, function=False)
def elu(input: Any, alpha: float = 1.0) -> Any:
    """x where x > 0, else alpha · (e^x - 1).

    >>> import numpy as np
    >>> elu(np.array([-1000.0, 2.0]))
    array([-1.,  2.])
    """
    # The exponential never sees a positive number, so that nothing overflows in the branch not taken.
    return where(input > 0, input, alpha * expm1(clamp_max(input, 0)))


@front(method=False, function=False)
def softsign(input: Any) -> Any:
    """x / (1 + |x|).

    >>> float(softsign(1.0))
    0.5
    """
    return input / (1 + abs_(input))


@front(method=False, function=False)
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``input`` limited to [min_val, max_val].

    >>> float(hardtanh(3.0))
    1.0
    """
    return clamp(input, min_val, max_val)


@front(method=False, function=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), the inverse of the sigmoid; ``eps`` limits the input to [eps, 1 - eps] first.

    >>> float(logit(0.5))
    0.0
    """
    x = input if eps is None else clamp(input, eps, 1 - eps)
    return log(x / (1 - x))


@front(method=False, function=False)
def entr(input: Any) -> Any:
    """-x log x, and 0 at 0.

    >>> float(entr(1.0))
    -0.0
    """
    return -xlogy(input, input)


@front(method=False, function=False)
def xlog1py(input: Any, other: Any) -> Any:
    """x log(1 + y), and 0 where x is 0.

    >>> float(xlog1py(0.0, -1.0))
    0.0
    """
    zero = eq(input, 0)
    return where(zero, 0, input * log1p(where(zero, 0, other)))


# ------------------------------------------------------------------------------------------ losses


@front(method=False, function=False)
def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Squared differences, averaged ("mean"), summed ("sum") or as they are ("none").

    >>> import numpy as np
    >>> float(mse_loss(np.array([1.0, 3.0]), np.array([1.0, 1.0])))
    2.0
    """
    return _reduce((input - target) ** 2, reduction)


@front(method=False, function=False)
def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Absolute differences, averaged, summed or as they are.

    >>> import numpy as np
    >>> float(l1_loss(np.array([1.0, 3.0]), np.array([1.0, 1.0])))
    1.0
    """
    return _reduce(abs_(input - target), reduction)


@front(method=False, function=False)
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """d²/2 for |d| <= delta, else delta · (|d| - delta/2), with d = input - target.

    >>> import numpy as np
    >>> float(huber_loss(np.array([3.0]), np.array([1.0])))
    1.5
    """
    d = input - target
    size = abs_(d)
    return _reduce(where(size <= delta, d**2 / 2, delta * (size - delta / 2)), reduction)


@front(method=False, function=False)
def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """d²/(2 beta) for |d| < beta, else |d| - beta/2, with d = input - target.

    >>> import numpy as np
    >>> float(smooth_l1_loss(np.array([3.0]), np.array([1.0])))
    1.5
    """
    if beta == 0:
        return l1_loss(input, target, reduction)
    d = input - target
    size = abs_(d)
    return _reduce(where(size < beta, d**2 / (2 * beta), size - beta / 2), reduction)


@front(method=False, function=False)
def binary_cross_entropy(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-[t log p + (1 - t) log(1 - p)] of probabilities, the logarithms limited from below by -100, as torch.

    >>> import numpy as np
    >>> float(binary_cross_entropy(np.array([1.0]), np.array([1.0])))
    0.0
    """
    least = exp(exact(-100))
    value = target * log(clamp_min(input, least)) + (1 - target) * log(clamp_min(1 - input, least))
    return _reduce(-value, reduction)


@front(method=False, function=False)
def binary_cross_entropy_with_logits(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-[t log σ(x) + (1 - t) log(1 - σ(x))], without overflow.

    >>> import numpy as np
    >>> float(binary_cross_entropy_with_logits(np.array([1000.0]), np.array([1.0])))
    0.0
    """
    return _reduce(softplus_op(input) - target * input, reduction)


@front(method=False, function=False)
def cross_entropy(input: Any, target: Any, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """-log softmax(input) at the target class.

    ``input`` has shape (classes,) or (batch, classes); ``target`` holds class numbers, or class probabilities in the
    shape of ``input``.  ``label_smoothing`` mixes the target with the uniform distribution.

    >>> import numpy as np
    >>> round(float(cross_entropy(np.array([0.0, 0.0]), np.array(1))), 6)
    0.693147
    """
    ndim = len(shape_of(input))
    if ndim not in (1, 2):
        raise ShapeError(f"cross_entropy: input of shape (classes,) or (batch, classes) expected, got {ndim} axes.")
    classes = shape_of(input)[-1]
    if target.dtype.kind in "ui":
        target = one_hot_op(target, classes=classes, dtype=input.dtype.name)
        if not label_smoothing:
            # A row of a one-hot target sums to 1, so that the gradient is softmax(input) - target as it stands.
            return _reduce(logsumexp(input, -1) - sum_(target * input, -1), reduction)
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / size(input, (ndim - 1,))
    return _reduce(-sum_(target * log_softmax(input, -1), -1), reduction)


@front(method=False, function=False)
def nll_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """-input at the target class, for log-probabilities of shape (classes,) or (batch, classes).

    >>> import numpy as np
    >>> float(nll_loss(np.array([-1.0, -2.0]), np.array(1)))
    2.0
    """
    ndim = len(shape_of(input))
    if ndim not in (1, 2):
        raise ShapeError(f"nll_loss: input of shape (classes,) or (batch, classes) expected, got {ndim} axes.")
    picked = take_along(input, unsqueeze(target, ndim - 1), -1)
    return _reduce(-squeeze(picked, -1), reduction)


@front(method=False, function=False)
def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """target · (log target - input), the divergence from log-probabilities ``input``; "batchmean" divides by the rows.

    >>> import numpy as np
    >>> float(kl_div(np.log(np.array([0.5, 0.5])), np.array([0.5, 0.5]), reduction="sum"))
    0.0
    """
    value = exp(target) * (target - input) if log_target else xlogy(target, target) - target * input
    if reduction == "batchmean":
        return sum_(value) / size(input, (0,))
    return _reduce(value, reduction)


# ------------------------------------------------------------------------------------------ vectors


@front(method=False, function=False)
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weightᵀ + bias, for ``input`` (…, in), ``weight`` (out, in) and ``bias`` (out,).

    >>> import numpy as np
    >>> linear(np.ones(2), np.array([[1.0, 2.0]]), np.array([0.5]))
    array([3.5])
    """
    out = matmul(input, t(weight))
    return out if bias is None else out + bias


@front(method=False, function=False)
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """``input`` divided by its p-norm along ``dim``, which is taken as at least ``eps``.

    >>> import numpy as np
    >>> normalize(np.array([3.0, 4.0]), dim=0)
    array([0.6, 0.8])
    """
    return input / clamp_min(norm(input, p, dim, True), eps)


@front(method=False, function=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 · x2 over the product of their norms along ``dim``, each taken as at least ``eps``.

    >>> import numpy as np
    >>> float(cosine_similarity(np.array([3.0, 4.0]), np.array([3.0, 4.0]), dim=0))
    1.0
    """
    top = sum_(x1 * x2, dim)
    return top / (clamp_min(norm(x1, 2, dim), eps) * clamp_min(norm(x2, 2, dim), eps))

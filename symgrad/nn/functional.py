"""Activations and losses under the names of ``torch.nn.functional``; every one is made of ops of the table.

>>> import symgrad as sg
>>> x = sg.tensor([1.0, -1.0], requires_grad=True)
>>> relu(x).sum().backward()
>>> x.grad
tensor([1., 0.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import ArgumentError, DtypeError
from symgrad.ops.composite import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_similarity,
    cross_entropy,
    elu,
    gelu,
    hardtanh,
    huber_loss,
    kl_div,
    l1_loss,
    leaky_relu,
    linear,
    mse_loss,
    nll_loss,
    normalize,
    silu,
    smooth_l1_loss,
    softplus,
    softsign,
)
from symgrad.ops.indexing import one_hot_op
from symgrad.tensor import FUNCTIONS

relu = FUNCTIONS["relu"]
sigmoid = FUNCTIONS["sigmoid"]
tanh = FUNCTIONS["tanh"]
logsigmoid = FUNCTIONS["logsigmoid"]
softmax = FUNCTIONS["softmax"]
log_softmax = FUNCTIONS["log_softmax"]


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Class numbers as rows with a single 1: shape (…,) becomes (…, num_classes), dtype int64.

    ``num_classes`` is one more than the largest class by default.  Raises ``DtypeError`` unless the classes are
    integers, and ``ArgumentError`` for a class outside the range.

    >>> import symgrad as sg
    >>> one_hot(sg.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if tensor.dtype.kind not in "ui":
        raise DtypeError(f"one_hot is only applicable to index tensors, of an integer dtype; got {tensor.dtype}.")
    values = np.asarray(tensor)
    largest = int(np.max(values, initial=-1))
    classes = largest + 1 if num_classes == -1 else num_classes
    if values.size and (int(np.min(values)) < 0 or largest >= classes):
        raise ArgumentError(
            f"Class values must be between 0 and {classes - 1} (num_classes={classes}); found {int(np.min(values))} … "
            f"{largest}."
        )
    return one_hot_op(tensor, classes=classes, dtype="int64")


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_similarity",
    "cross_entropy",
    "elu",
    "gelu",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "relu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "softsign",
    "tanh",
]

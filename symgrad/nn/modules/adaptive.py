"""The softmax over many classes in clusters, the rare ones of which have fewer weights (Grave et al. 2017)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError, ShapeError
from symgrad.nn import functional
from symgrad.nn.modules.container import ModuleList, Sequential
from symgrad.nn.modules.linear import Linear
from symgrad.nn.modules.module import Module
from symgrad.tensor import FUNCTIONS


class _ASMoutput(NamedTuple):
    """The logarithm of each target's probability, and the mean of their negatives."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """log softmax over ``n_classes``, of which those below ``cutoffs[0]`` stand in the head, as the clusters do.

    The classes from ``cutoffs[k]`` on are a cluster, which projects its inputs to ``in_features // div_value**(k + 1)``
    features first.  Raises ``ValueError`` unless the cutoffs rise, between 1 and n_classes - 1.

    >>> import symgrad as sg
    >>> layer = sg.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [4, 7], div_value=2.0)
    >>> layer(sg.ones(3, 8), sg.tensor([0, 5, 9])).output.shape
    torch.Size([3])
    >>> sg.allclose(layer.log_prob(sg.ones(3, 8)).exp().sum(1), sg.ones(3))
    True
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ArgumentError("cutoffs should be a sequence of length larger than 0")
        if ends != sorted(set(ends)) or ends[0] <= 0 or ends[-1] > n_classes - 1 or any(int(c) != c for c in ends):
            raise ArgumentError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                f"value is between 1 and n_classes-1, and not {ends} for {n_classes} classes"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        where = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for k, (start, stop) in enumerate(itertools.pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (k + 1))
            first = Linear(in_features, width, bias=False, **where)
            self.tail.append(Sequential(first, Linear(width, stop - start, bias=False, **where)))

    def reset_parameters(self) -> None:
        """Draw the values of the beginning again."""
        for layer in (self.head, *(part for cluster in self.tail for part in cluster)):
            layer.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        """``(output, loss)``: the logarithm of each target's probability, and the mean of their negatives.

        ``input_`` is (batch, in_features), ``target_`` (batch,); or both without the batch.  Raises ``RuntimeError``
        for other sizes, and for targets that are no class.
        """
        if target_.ndim > 1:
            raise ShapeError("0D or 1D target tensor expected, multi-target not supported")
        if target_.ndim and input_.shape[0] != target_.shape[0]:
            raise ShapeError("Input and target should have the same size in the batch dimension.")
        if input_.ndim != target_.ndim + 1:
            raise ShapeError(
                f"{target_.ndim}D target tensor expects {target_.ndim + 1}D input tensors, but found inputs with size "
                f"{input_.shape}"
            )
        if not target_.ndim:
            output, loss = self.forward(input_.unsqueeze(0), target_.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        if ((target_ < 0) | (target_ >= self.n_classes)).any():
            raise ArgumentError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target_.min().item()}, "
                f"{target_.max().item()}] were found. "
            )
        output, in_head = input_.new_zeros(target_.shape[0]), target_
        for k, (start, stop) in enumerate(itertools.pairwise(self.cutoffs)):
            rows = ((target_ >= start) & (target_ < stop)).nonzero().squeeze(1)
            if rows.numel():
                scores = functional.log_softmax(self.tail[k](input_.index_select(0, rows)), 1)
                own = scores.gather(1, (target_[rows] - start).unsqueeze(1)).squeeze(1)
                output = output.index_add(0, rows, own)
                in_head = in_head.index_fill(0, rows, self.shortlist_size + k)
        scores = functional.log_softmax(self.head(input_), 1)
        output = output + scores.gather(1, in_head.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output, (-output).mean())

    def log_prob(self, input: Any) -> Any:
        """The logarithms of the probabilities of all classes, (batch, n_classes)."""
        head = functional.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for k, cluster in enumerate(self.tail):
            parts.append(functional.log_softmax(cluster(input), 1) + head[:, self.shortlist_size + k].unsqueeze(1))
        return FUNCTIONS["cat"](parts, 1)

    def predict(self, input: Any) -> Any:
        """The most probable classes, (batch,): where a class of the head is the highest there, it is that one."""
        best = self.head(input).argmax(1)
        return FUNCTIONS["where"](best < self.shortlist_size, best, self.log_prob(input).argmax(1))

"""Losses: functions of a prediction and a target, reduced to their mean, to their sum, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.nn import functional
from symgrad.nn.modules.applied import Applied
from symgrad.nn.modules.shaping import PairwiseDistance
from symgrad.ops.nn.losses import reduction_of
from symgrad.tensor import Tensor


class _Loss(Applied):
    """What losses share: weights are buffers, and the two flags of old programs say what the reduction is."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        told = self.__dict__
        told["reduction"] = reduction_of(told["reduction"], told.pop("size_average", None), told.pop("reduce", None))

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and name in self._layer_signature.parameters and name not in self._buffers:
            self.register_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _layer_settings(self) -> dict[str, Any]:
        """What the function is called with beside the inputs."""
        names = self._layer_signature.parameters.keys() - {"size_average", "reduce"}
        return {name: getattr(self, name) for name in names}


class _ReducedLoss(_Loss):
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class _WeightedLoss(_Loss):
    weight: Any = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class L1Loss(_ReducedLoss):
    """|x - y|."""

    _layer_function = staticmethod(functional.l1_loss)


class MSELoss(_ReducedLoss):
    """(x - y)².

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> loss = sg.nn.MSELoss()(x, sg.tensor([0.0, 4.0], name="y"))
    >>> loss.backward()
    >>> print(loss.item(), x.grad.expr)
    2.5 2*(x - y)/n
    """

    _layer_function = staticmethod(functional.mse_loss)


class SmoothL1Loss(_Loss):
    """(x - y)²/(2β) where |x - y| < β, and |x - y| - β/2 elsewhere."""

    _layer_function = staticmethod(functional.smooth_l1_loss)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    beta: float = 1.0


class HuberLoss(_Loss):
    """(x - y)²/2 where |x - y| < δ, and δ (|x - y| - δ/2) elsewhere."""

    _layer_function = staticmethod(functional.huber_loss)
    reduction: str = "mean"
    delta: float = 1.0


class NLLLoss(_Loss):
    """Minus the logarithm of the probability of the class that is right; inputs are logarithms."""

    _layer_function = staticmethod(functional.nll_loss)
    weight: Any = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """The former name of :class:`NLLLoss` for images."""


class CrossEntropyLoss(_Loss):
    """Minus the logarithm of the softmax at the class that is right, or at given probabilities of all."""

    _layer_function = staticmethod(functional.cross_entropy)
    weight: Any = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class PoissonNLLLoss(_Loss):
    """exp(x) - y x, or x - y log x where ``log_input`` is False; ``full``: with Stirling's approximation of log y!."""

    _layer_function = staticmethod(functional.poisson_nll_loss)
    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"


class GaussianNLLLoss(_Loss):
    """(log σ² + (x - y)²/σ²)/2, called with x, y and the variance."""

    _layer_function = staticmethod(functional.gaussian_nll_loss)
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"


class KLDivLoss(_Loss):
    """y (log y - x), where x is a logarithm, and y as well if ``log_target``."""

    _layer_function = staticmethod(functional.kl_div)
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    log_target: bool = False


class BCELoss(_WeightedLoss):
    """-y log p - (1 - y) log(1 - p)."""

    _layer_function = staticmethod(functional.binary_cross_entropy)


class BCEWithLogitsLoss(_Loss):
    """The same of p = σ(x), without loss of digits."""

    _layer_function = staticmethod(functional.binary_cross_entropy_with_logits)
    weight: Any = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"
    pos_weight: Any = None


class HingeEmbeddingLoss(_Loss):
    """x where y is 1, and max(0, margin - x) where it is -1."""

    _layer_function = staticmethod(functional.hinge_embedding_loss)
    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class SoftMarginLoss(_ReducedLoss):
    """log(1 + exp(-y x))."""

    _layer_function = staticmethod(functional.soft_margin_loss)


class MultiMarginLoss(_Loss):
    """max(0, margin - x[y] + x[i])ᵖ, summed over the other classes i."""

    _layer_function = staticmethod(functional.multi_margin_loss)
    p: int = 1
    margin: float = 1.0
    weight: Any = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MultiLabelMarginLoss(_ReducedLoss):
    """The same where several classes are right."""

    _layer_function = staticmethod(functional.multilabel_margin_loss)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes of the logistic loss of each."""

    _layer_function = staticmethod(functional.multilabel_soft_margin_loss)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x₁, x₂) where y is 1, and max(0, cos(x₁, x₂) - margin) where it is -1."""

    _layer_function = staticmethod(functional.cosine_embedding_loss)
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MarginRankingLoss(_Loss):
    """max(0, -y (x₁ - x₂) + margin)."""

    _layer_function = staticmethod(functional.margin_ranking_loss)
    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginLoss(_Loss):
    """max(0, ‖a - p‖ - ‖a - n‖ + margin)."""

    _layer_function = staticmethod(functional.triplet_margin_loss)
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class TripletMarginWithDistanceLoss(_Loss):
    """The same with a distance of one's own."""

    _layer_function = staticmethod(functional.triplet_margin_with_distance_loss)
    distance_function: Callable[[Any, Any], Any] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()


class CTCLoss(_Loss):
    """Minus the logarithm of the probability of a row of labels, whichever way it is laid along the inputs."""

    _layer_function = staticmethod(functional.ctc_loss)
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

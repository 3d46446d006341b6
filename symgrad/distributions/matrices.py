"""Distributions of matrices: of covariances, and of the Cholesky factors of correlations."""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, broadcast_all, room
from symgrad.distributions.gammas import Beta, Chi2
from symgrad.distributions.matrix_transforms import vec_to_tril_matrix
from symgrad.distributions.normals import Spread
from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.op import broadcast_shapes
from symgrad.ops.calls.naming import SPACES
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, Tensor, creation
from symgrad.tensor.ranges import arange

_where, _LOG2 = FUNCTIONS["where"], math.log(2)


class LKJCholesky(Distribution):
    """Lower Cholesky factors L of ``(dim, dim)`` correlations, of density det(L Lᵀ) to ``concentration`` - 1.

    At a concentration of 1 all correlations are equally probable.  Raises ``ArgumentError`` for a ``dim`` below 2.

    >>> import symgrad as sg
    >>> sg.distributions.LKJCholesky(2, 1.0).log_prob(sg.eye(2))
    tensor(-0.6931)
    """

    support = constraints.corr_cholesky
    _alike = ("dim",)
    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive}

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None):
        if dim < 2:
            raise ArgumentError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient: row by row a direction, and a length that is left for the diagonal."""
        with no_grad():
            kind = self.concentration.dtype
            before = arange(self.dim - 1, dtype=kind)
            before = FUNCTIONS["cat"]([before[:1], before])
            conc = (self.concentration + 0.5 * (self.dim - 2)).unsqueeze(-1)
            squares = Beta(before + 0.5, conc - 0.5 * before).sample(sample_shape).unsqueeze(-1)
            noise = room(self._extended_shape(sample_shape), self.concentration).normal_().tril(-1)
            lengths = noise.norm(dim=-1, keepdim=True)
            rows = squares.sqrt() * noise / _where(lengths > 0, lengths, 1.0)
            left = (1 - rows.square().sum(-1)).clamp(min=finfo(kind).tiny).sqrt()
            return rows + left.diag_embed()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.dim
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + n - arange(2, n + 1)
        logs = (powers * value.diagonal(0, -2, -1)[..., 1:].log()).sum(-1)
        most = self.concentration + 0.5 * (n - 1)
        scale = 0.5 * (n - 1) * math.log(math.pi) + FUNCTIONS["mvlgamma"](most - 0.5, n - 1) - (n - 1) * most.lgamma()
        return logs - scale


class Wishart(Spread):
    """What the sum of x xᵀ is for ``df`` normal vectors of mean 0: positive definite matrices.

    One of ``covariance_matrix``, ``precision_matrix`` and ``scale_tril`` of the vectors is given.  Raises
    ``ArgumentError`` for none or several of them, and for a ``df`` that is not larger than their length less one.

    >>> import symgrad as sg
    >>> sg.distributions.Wishart(3.0, sg.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    has_rsample = True
    support = constraints.positive_definite

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ):
        name, matrix = self._chosen(
            covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
        )
        df = df if isinstance(df, Tensor) else creation.tensor(df, dtype=matrix.dtype)
        batch, event = broadcast_shapes(tuple(matrix.shape[:-2]), tuple(df.shape)), tuple(matrix.shape[-2:])
        n = event[-1]
        self.df = df.expand(batch)
        if bool((self.df.detach() <= n - 1).any()):
            raise ArgumentError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if bool((self.df.detach() < n).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        self.__dict__[name] = matrix.expand((*batch, *event))
        super().__init__(batch, event, validate_args=validate_args)
        self._factorise(name)

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """What the parameters satisfy: the degrees of freedom are as many as a row has entries, at least."""
        return {**self._of_matrices, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        factor = self.scale_tril.expand((*batch_shape, *self.event_shape))
        made = Wishart(self.df.expand(tuple(batch_shape)), scale_tril=factor, validate_args=False)
        return self._filled(_instance, made._given_as(self))

    def _degrees(self) -> Any:
        """One number for each row of a sample's Cholesky factor."""
        return self.df.unsqueeze(-1) - arange(self.event_shape[-1], dtype=self.df.dtype)

    def _digammas(self) -> Any:
        return (self._degrees() / 2).digamma().sum(-1)

    @property
    def mean(self) -> Any:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """The value of the largest density; nan where there is none."""
        factor = self.df - self.event_shape[-1] - 1
        return _where(factor > 0, factor, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """The variance of each entry."""
        V = self.covariance_matrix
        own = V.diagonal(0, -2, -1)
        return self.df[..., None, None] * (V.square() + own.unsqueeze(-1) * own.unsqueeze(-2))

    def _drawn(self, sample_shape: Any) -> Any:
        """L A Aᵀ Lᵀ for a triangular A of normal numbers, with the roots of chi-squared ones on its diagonal."""
        n, small = self.event_shape[-1], finfo(self.scale_tril.dtype).eps
        roots = Chi2(self._degrees(), validate_args=False).rsample(sample_shape).sqrt().clamp(min=small)
        noise = room((*sample_shape, *self.batch_shape, n * (n - 1) // 2), roots).normal_()
        factor = self.scale_tril @ (vec_to_tril_matrix(noise, -1) + roots.diag_embed())
        return factor @ factor.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Values by which the parameters can be differentiated; singular ones are drawn again, a few times."""
        with no_grad():
            self._drawn(tuple(sample_shape))  # torch gives what it draws the second time
        sample = self._drawn(tuple(sample_shape))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            regular = self.support.check(sample.detach())
            if bool(regular.all()):
                return sample
            sample = _where(regular[..., None, None], sample, self._drawn(tuple(sample_shape)))
        warnings.warn("Singular sample detected.", stacklevel=2)
        return sample

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, factor = self.event_shape[-1], self.scale_tril
        logs = (self.df - n - 1) / 2 * SPACES["linalg"]["slogdet"](value)[1]
        trace = FUNCTIONS["cholesky_solve"](value, factor).diagonal(0, -2, -1).sum(-1)
        return logs - trace / 2 - self.df * (n * _LOG2 / 2 + self._half_log_det()) - self._scale()

    def _scale(self) -> Any:
        return FUNCTIONS["mvlgamma"](self.df / 2, self.event_shape[-1])

    def entropy(self) -> Any:
        n = self.event_shape[-1]
        widths = (n + 1) * (n * _LOG2 / 2 + self._half_log_det())
        return widths + self._scale() - (self.df - n - 1) / 2 * self._digammas() + self.df * n / 2

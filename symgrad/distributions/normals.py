"""Normal distributions: of numbers, of their logarithms, and of vectors."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

from symgrad.distributions import constraints
from symgrad.distributions.base import Distribution, Located, room
from symgrad.errors import ArgumentError
from symgrad.op import broadcast_shapes
from symgrad.ops.calls.naming import SPACES
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, creation

_LINALG = SPACES["linalg"]


class Normal(Located):
    """The normal distribution of mean ``loc`` and standard deviation ``scale``.

    >>> import symgrad as sg
    >>> sg.distributions.Normal(0.0, 2.0).log_prob(sg.tensor(1.0))
    tensor(-1.7371)
    """

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return FUNCTIONS["normal"](self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = room(self._extended_shape(sample_shape), self.loc).normal_()
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 0.5 * (1 + ((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)).erf())

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Spread(Distribution):
    """What has a covariance, which is given by itself, by its inverse, or by its lower Cholesky factor.

    Raises ``ArgumentError`` for none or several of them, and for one that is not symmetric and positive definite, or
    not lower triangular; ``LinAlgError`` where that is not checked.
    """

    _of_matrices: ClassVar[dict[str, Any]] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    @staticmethod
    def _chosen(**given: Any) -> tuple[str, Any]:
        """The name and the value of the one that is given."""
        chosen = [(name, matrix) for name, matrix in given.items() if matrix is not None]
        if len(chosen) != 1:
            raise ArgumentError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = chosen
        if matrix.dim() < 2:
            raise ArgumentError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        return name, matrix

    def _is_given(self, name: str) -> bool:
        return name in self.__dict__

    def _factorise(self, name: str) -> None:
        """Take the Cholesky factor of the matrix that is given, which the property of its name gives back."""
        matrix = self.__dict__[name]
        self._unbroadcasted_scale_tril = {
            "scale_tril": lambda: matrix,
            "covariance_matrix": lambda: _LINALG["cholesky"](matrix),
            "precision_matrix": lambda: _precision_to_scale_tril(matrix),
        }[name]()

    def _given_as(self, other: Any) -> Self:
        """Itself, made by the factor of another one, with the matrix that the other was given, which texts show."""
        name = next(name for name in self._of_matrices if other._is_given(name))
        factor = self.__dict__.pop("scale_tril")
        self.__dict__[name] = other.__dict__[name].expand(factor.shape)
        return self

    @property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        given = self.__dict__.get("scale_tril")
        return self._unbroadcasted_scale_tril if given is None else given

    @property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        given = self.__dict__.get("covariance_matrix")
        return self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT if given is None else given

    @property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        given = self.__dict__.get("precision_matrix")
        return FUNCTIONS["cholesky_inverse"](self._unbroadcasted_scale_tril) if given is None else given

    def _half_log_det(self) -> Any:
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _widths(self, B: Any) -> Any:
        """The trace of Σ⁻¹ B Bᵀ: how wide something is, in units of the distribution."""
        return _LINALG["solve_triangular"](self._unbroadcasted_scale_tril, B, upper=False).pow(2).sum((-2, -1))


class NormalVectors(Distribution):
    """The normal distribution of vectors around ``loc``, whose covariance is the sum of B Bᵀ for its factors."""

    has_rsample = True
    support = constraints.real_vector
    loc: Any

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean

    def _factors(self) -> list[Any]:
        raise NotImplementedError

    def _half_log_det(self) -> Any:
        raise NotImplementedError

    def _widths(self, B: Any) -> Any:
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        squares = self._widths((value - self.loc).unsqueeze(-1))
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + squares) - self._half_log_det()

    def entropy(self) -> Any:
        return 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det()


class MultivariateNormal(Spread, NormalVectors):
    """The normal distribution of vectors around ``loc``.

    One of ``covariance_matrix``, ``precision_matrix`` and ``scale_tril`` is given: the covariance, its inverse, or its
    lower Cholesky factor.  Raises ``ArgumentError`` for none or several, and where it is not symmetric and positive
    definite, or not lower triangular; ``LinAlgError`` where that is not checked.

    >>> import symgrad as sg
    >>> sg.distributions.MultivariateNormal(sg.zeros(2), sg.eye(2)).log_prob(sg.ones(2))
    tensor(-2.8379)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real_vector, **Spread._of_matrices}

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ):
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.")
        name, matrix = self._chosen(
            covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril
        )
        batch = broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        n = loc.shape[-1]
        self.loc = loc.expand((*batch, n))
        self.__dict__[name] = matrix.expand((*batch, n, n))
        super().__init__(batch, (n,), validate_args=validate_args)
        self._factorise(name)

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = (*batch_shape, *self.event_shape)
        factor = self._unbroadcasted_scale_tril.expand((*shape, *self.event_shape))
        made = MultivariateNormal(self.loc.expand(shape), scale_tril=factor, validate_args=False)
        return self._filled(_instance, made._given_as(self))

    def rsample(self, sample_shape: Any = ()) -> Any:
        noise = room(self._extended_shape(sample_shape), self.loc).normal_()
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def _factors(self) -> list[Any]:
        return [self._unbroadcasted_scale_tril]


class LowRankMultivariateNormal(NormalVectors):
    """The normal distribution of vectors around ``loc``, of covariance W Wᵀ + diag(D).

    W, ``cov_factor``, is ``(…, n, m)`` for few columns m, and D, ``cov_diag``, ``(…, n)``: nothing but ``(m, m)`` is
    factorised.  Raises ``ArgumentError`` for shapes that do not fit, and for a D that is not positive.

    >>> import symgrad as sg
    >>> D = sg.distributions.LowRankMultivariateNormal(sg.zeros(2), sg.ones(2, 1), sg.ones(2))
    >>> D.log_prob(sg.ones(2))
    tensor(-2.7205)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None):
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ArgumentError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        n, m = loc.shape[-1], cov_factor.shape[-1]
        if cov_factor.shape[-2] != n:
            raise ArgumentError(f"cov_factor must be a batch of matrices with shape {n} x m, not {cov_factor.shape}")
        if tuple(cov_diag.shape[-1:]) != (n,):
            raise ArgumentError(f"cov_diag must be a batch of vectors with shape ({n},), not {cov_diag.shape}")
        shapes = [tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1])]
        try:
            batch = broadcast_shapes(*shapes)
        except ValueError as error:
            raise ArgumentError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = loc.expand((*batch, n)), cov_diag.expand((*batch, n))
        self.cov_factor = cov_factor.expand((*batch, n, m))
        super().__init__(batch, (n,), validate_args=validate_args)
        ones = creation.eye(m, dtype=cov_factor.dtype)
        self._small = _LINALG["cholesky"](ones + cov_factor.mT @ (cov_factor / cov_diag.unsqueeze(-1)))

    @property
    def variance(self) -> Any:
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return _LINALG["cholesky"](self.covariance_matrix)

    @property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, D⁻¹ - D⁻¹ W C⁻¹ Wᵀ D⁻¹ for C = I + Wᵀ D⁻¹ W."""
        A = self._shrunk(self.cov_diag.reciprocal().diag_embed())
        return self.cov_diag.reciprocal().diag_embed() - A.mT @ A

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        of_factor = room((*shape[:-1], self.cov_factor.shape[-1]), self.loc).normal_()
        of_diagonal = room(shape, self.loc).normal_()
        return self.loc + _batch_mv(self.cov_factor, of_factor) + self.cov_diag.sqrt() * of_diagonal

    def _shrunk(self, B: Any) -> Any:
        """L⁻¹ Wᵀ B, where L Lᵀ is the small matrix C."""
        return _LINALG["solve_triangular"](self._small, self.cov_factor.mT @ B, upper=False)

    def _factors(self) -> list[Any]:
        return [self.cov_factor, self.cov_diag.sqrt().diag_embed()]

    def _half_log_det(self) -> Any:
        return self._small.diagonal(dim1=-2, dim2=-1).log().sum(-1) + 0.5 * self.cov_diag.log().sum(-1)

    def _widths(self, B: Any) -> Any:
        scaled = B / self.cov_diag.unsqueeze(-1)
        return (B * scaled).sum((-2, -1)) - self._shrunk(scaled).pow(2).sum((-2, -1))


# The functions below have torch's private names, which programs with distributions of their own import.


def _batch_mv(bmat: Any, bvec: Any) -> Any:
    """Matrices times vectors."""
    return (bmat @ bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL: Any, bx: Any) -> Any:
    """xᵀ (L Lᵀ)⁻¹ x for lower triangular L, of a batch."""
    return _LINALG["solve_triangular"](bL, bx.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def _precision_to_scale_tril(P: Any) -> Any:
    """The lower Cholesky factor of P⁻¹, by that of P with both axes reversed."""
    turned = _LINALG["cholesky"](P.flip((-2, -1))).flip((-2, -1)).mT
    return _LINALG["solve_triangular"](turned, creation.eye(P.shape[-1], dtype=P.dtype), upper=False)

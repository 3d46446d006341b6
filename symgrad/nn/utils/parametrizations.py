"""Weights that are orthogonal, of spectral norm 1, or a length and a direction."""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError, OutOfBounds, UnsupportedMode
from symgrad.nn import functional
from symgrad.nn.modules.conv import _ConvTransposeNd
from symgrad.nn.modules.module import Module
from symgrad.nn.utils.parametrize import register_parametrization
from symgrad.ops.linalg.decompositions import householder_product
from symgrad.ops.linalg.inverse import solve
from symgrad.tape.modes import no_grad
from symgrad.tensor import FUNCTIONS, Tensor
from symgrad.tensor.creation import eye

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_MAPS = ("matrix_exp", "cayley", "householder")


# ------------------------------------------------------------------------------------------ orthogonal


class _Orthogonal(Module):
    """An orthogonal matrix of any one, by one of three maps; ``base`` stands before it, and is what it begins with."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ArgumentError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """Orthogonal columns, or rows where there are fewer of them."""
        wide = X.shape[-2] < X.shape[-1]
        found = self._columns(X.mT if wide else X)
        if hasattr(self, "base"):
            found = self.base @ found
        return found.mT if wide else found

    def _columns(self, x: Any) -> Any:
        rows, columns = x.shape[-2:]
        if self.orthogonal_map == "householder":
            low = x.tril(-1)
            found = householder_product(low, 2.0 / (1.0 + (low * low).sum(-2)))
            return found * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        low = x.tril()
        if rows != columns:
            rest = low.new_zeros(rows, rows - columns).expand(*low.shape[:-2], -1, -1)
            low = FUNCTIONS["cat"]([low, rest], -1)
        skew = low - low.mH
        if self.orthogonal_map == "matrix_exp":
            whole = FUNCTIONS["matrix_exp"](skew)
        else:
            one = eye(rows, dtype=skew.dtype)
            whole = solve(one - skew * 0.5, one + skew * 0.5)
        return whole[..., :columns]

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """What gives an orthogonal matrix; others are made so first."""
        if Q.shape != self.shape:
            raise ArgumentError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got shape {Q.shape}.")
        wide = Q.shape[-2] < Q.shape[-1]
        columns = Q.mT if wide else Q
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise UnsupportedMode(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            packed, tau = FUNCTIONS["geqrf"](columns)
            signs = packed.diagonal(dim1=-2, dim2=-1)
            signs.sign_()
            signs[tau == 0.0] *= -1
            return packed.mT if wide else packed
        self.base = self._completed(columns)
        start = Q.new_zeros(Q.shape)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start

    def _completed(self, columns: Any) -> Any:
        """A square orthogonal matrix that begins with the columns, as far as they are orthogonal themselves."""
        rows, count = columns.shape[-2:]
        if rows != count:
            more = columns.new_empty(*columns.shape[:-2], rows, rows - count).normal_()
            return _orthogonal(FUNCTIONS["cat"]([columns, more], -1))
        one, atol = eye(count, dtype=columns.dtype), 10.0 * rows * finfo(columns.dtype).eps
        close = FUNCTIONS["allclose"](columns.mH @ columns, one, atol=float(atol))
        return columns.clone() if close else _orthogonal(columns)


def _orthogonal(x: Any) -> Any:
    packed, tau = FUNCTIONS["geqrf"](x)
    return householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _weight(module: Any, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """The weight has orthogonal columns, or rows where these are fewer, whatever is trained.

    ``orthogonal_map``: "matrix_exp" of a skew matrix, "cayley", or "householder"; the first for square and complex
    matrices, the last otherwise.  ``use_trivialization``: what is trained is multiplied by a fixed matrix, and any
    matrix can be assigned.  Raises ``ValueError`` for other maps, and weights with less than two axes.

    >>> import symgrad as sg
    >>> layer = orthogonal(sg.nn.Linear(3, 2))
    >>> sg.allclose(layer.weight @ layer.weight.T, sg.eye(2), atol=1e-5)
    True
    """
    weight: Any = _weight(module, name)
    if weight.ndim < 2:
        raise ArgumentError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ArgumentError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


# ------------------------------------------------------------------------------------------ length and direction


class _WeightNorm(Module):
    """g v/‖v‖, the norm over all axes but one."""

    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        """The weight of its length and its direction."""
        return FUNCTIONS["_weight_norm"](weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        """Its length, and itself."""
        return FUNCTIONS["norm_except_dim"](weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """The weight is g v/‖v‖ (Salimans and Kingma 2016); the norm is over all axes but ``dim``, or over all if None.

    g is ``parametrizations.weight.original0``, v is ``parametrizations.weight.original1``.

    >>> import symgrad as sg
    >>> layer = weight_norm(sg.nn.Linear(3, 2))
    >>> {name: tuple(p.shape) for name, p in layer.parametrizations.named_parameters()}
    {'weight.original0': (2, 1), 'weight.original1': (2, 3)}
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """States of :func:`symgrad.nn.utils.weight_norm` have other names for the same: a hook that changes them."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, state: Any, prefix: str, *_: Any) -> None:
        old = {f"{prefix}{self.name}_{part}": k for k, part in enumerate("gv")}
        if all(key in state for key in old):
            for key, k in old.items():
                state[f"{prefix}parametrizations.{self.name}.original{k}"] = state.pop(key)


# ------------------------------------------------------------------------------------------ spectral norm


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight as a matrix whose rows go along one of its axes."""
    return weight.movedim(dim, 0).flatten(1)


class _SpectralNorm(Module):
    """W/σ, where the vectors of the largest singular value σ follow the weight by power iterations in training."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise OutOfBounds(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ArgumentError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                drawn = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(name, functional.normalize(drawn, dim=0, eps=eps))
            self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Any, times: int) -> None:
        for _ in range(times):
            self._u.copy_(functional.normalize(matrix @ self._v, dim=0, eps=self.eps))
            self._v.copy_(functional.normalize(matrix.mH @ self._u, dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        """The weight with a largest singular value of 1; a vector with a norm of 1."""
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        return weight / FUNCTIONS["vdot"](self._u.clone(), matrix @ self._v.clone())

    def right_inverse(self, value: Any) -> Any:
        """The value, which may be of any norm."""
        return value


def usual_axis(module: Any) -> int:
    """The axis of the outputs in the weight of a layer."""
    return 1 if isinstance(module, _ConvTransposeNd) else 0


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """The weight is divided by its largest singular value (Miyato et al. 2018), as a matrix with rows along ``dim``.

    In training, each use does ``n_power_iterations`` to find it.  Raises ``ValueError`` for numbers below 1 of them.

    >>> import symgrad as sg
    >>> layer = spectral_norm(sg.nn.Linear(3, 2))
    >>> 0.9 < sg.linalg.matrix_norm(layer.weight, 2).item() < 1.1
    True
    """
    weight = _weight(module, name)
    made = _SpectralNorm(weight, n_power_iterations, usual_axis(module) if dim is None else dim, eps)
    return register_parametrization(module, name, made)

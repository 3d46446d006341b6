"""What examples of docstrings show is what torch shows when it is asked the same."""

from __future__ import annotations

import doctest
import inspect
import re
import warnings
from typing import Any

import pytest

from tests.test_docstrings import PUBLIC, WITHOUT

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

OTHERWISE = {
    # The derivative of what is computed, where torch takes another one.
    "as_strided_scatter", "cholesky_inverse", "ctc_loss",
    # torch has none, or for another function only.
    "heaviside", "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0",
    "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "spherical_bessel_j0", "igamma", "igammac", "gammainc", "gammaincc",
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "unique", "unique_consecutive",
    # Functions made of others in torch, too, of which the last is another one here.
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "dropout3d", "istft", "median",
    "normal", "prod", "sum", "tensorinv", "to_sparse",
    # Zeros, where torch shows what the memory held.
    "empty", "empty_like", "new_empty", "new_empty_strided", "resize_",
    # Zeros of either sign, and digits that are left where the value is zero.
    "blackman_window", "ifft", "ihfft2", "layer_norm", "cond", "eigvalsh", "svdvals", "solve_triangular", "pca_lowrank",
    "lobpcg", "nll_loss",
    # The last of the digits shown: torch's is the nearer one in neither of these.
    "matrix_exp",
    # Settings.
    "are_deterministic_algorithms_enabled", "is_warn_always_enabled", "set_default_dtype",
    # Dtypes by themselves, which NumPy shows.
    "get_autocast_cpu_dtype", "get_autocast_gpu_dtype",
    # torch asks for arguments that have defaults here, or refuses.
    "alpha_dropout", "feature_alpha_dropout", "batch_norm", "instance_norm", "float_power_", "poisson_nll_loss",
    "vander", "zeta",
}  # fmt: skip
"""Functions whose examples differ from torch's, by their names."""


def _told(text: str) -> str:
    """What was shown, without the spelling of dtypes and the lines that a longer spelling of them needs."""
    return re.sub(r"\s+", "", text.replace("<BLANKLINE>", "").replace("torch.", ""))


def _shown(text: str) -> list[tuple[str, str]]:
    """What the lines of an example show here and on torch."""
    scope: dict[str, Any] = {"sg": torch}
    shown = []
    for example in doctest.DocTestParser().get_examples(text)[1:]:
        if example.want:
            found = repr(eval(example.source, scope))
            shown.append((_told(example.want), _told(found)))
        else:
            exec(example.source, scope)
    return shown


def _of_torch(place: str) -> bool:
    """Whether torch has the function, or method, that stands at a place."""
    there: Any = torch
    for name in place.removeprefix("symgrad.").split("."):
        there = getattr(there, name, None)
    return there is not None


def _same(place: str, function: Any) -> bool:
    """Whether its example is one that is made, and torch's."""
    return not function.__doc__.own and _of_torch(place) and place.rpartition(".")[2] not in OTHERWISE


SAME = sorted(place for place, function in PUBLIC.items() if place not in WITHOUT and _same(place, function))


@pytest.mark.parametrize("place", SAME)
def test_torch_shows_the_same(place: str) -> None:
    text = inspect.getdoc(PUBLIC[place]) or ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for here, there in _shown(text):
            assert here == there

"""Kernels that take another way on large arrays: the numbers and the layout are those of the way of small ones."""

import numpy as np
import pytest

from symgrad import kernels

STRETCHED = {
    "lgamma": (),
    "digamma": (),
    "polygamma": (2,),
    "bessel_ie": (1,),
    "bessel_j": (0,),
    "bessel_y": (1,),
    "bessel_ke": (0,),
    "erfinv": (),
    "ndtri": (),
    "erfcx": (),
    "erfcx_tail": (),
    "log_ndtr": (),
    "expn": (2,),
    "expi": (),
    "sine_integral": (),
    "cosine_integral": (),
    "dawsn": (),
    "dawsn_slope": (),
    "fresnels": (),
    "fresnelc": (),
    "spence": (),
    "spherical_jn": (2,),
    "airy_ai": (),
    "erfcinv": (),
}


@pytest.mark.parametrize("name", STRETCHED)
@pytest.mark.parametrize("order", ["C", "F"])
def test_stretches(name: str, order: str) -> None:
    x = np.asarray(np.random.default_rng(0).uniform(0.01, 0.99, (181, 182)), order=order)
    kernel, params = getattr(kernels, name), STRETCHED[name]
    out = kernel(x, *params)
    np.testing.assert_allclose(out[:5], kernel(x[:5], *params), rtol=1e-14)
    np.testing.assert_allclose(out[-5:], kernel(x[-5:], *params), rtol=1e-14)
    assert out.flags.c_contiguous is x.flags.c_contiguous


@pytest.mark.parametrize(
    ("dim", "shape", "count"), [(0, (50, 40, 60), 30), (1, (40, 50, 60), 70), (2, (40, 60, 50), 40)]
)
def test_scatter_by_lines(dim: int, shape: tuple[int, ...], count: int) -> None:
    rng = np.random.default_rng(0)
    size = (*shape[:dim], count, *shape[dim + 1 :])
    index, g = rng.integers(-shape[dim], shape[dim], size), rng.normal(size=size)
    want = np.zeros(shape)
    grids = list(np.ogrid[tuple(slice(n) for n in size)])
    grids[dim] = index
    np.add.at(want, tuple(grids), g)
    np.testing.assert_array_equal(kernels.scatter(g, index, dim, shape), want)


def test_log_gamma_at_its_ends() -> None:
    x = np.array([0.0, -1.0, -2.5, 1e306, np.inf, -np.inf, np.nan, 3.0])
    out = kernels.lgamma(x)
    np.testing.assert_allclose(out, [np.inf, np.inf, -0.05624371649767405, np.inf, np.inf, np.inf, np.nan, np.log(2)])


def test_log_gamma_of_many() -> None:
    x = np.concatenate([np.geomspace(3, 30, 1500), np.geomspace(30, 1e300, 500), [-2.5, 0.25, 1.0, np.nan, np.inf]])
    np.testing.assert_allclose(kernels.lgamma(x), [kernels.lgamma(v) for v in x], rtol=2e-14)

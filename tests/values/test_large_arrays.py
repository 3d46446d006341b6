"""Kernels that take another way on large arrays: the numbers and the layout are those of the way of small ones."""

import numpy as np
import pytest

from symgrad import kernels

STRETCHED = {
    "lgamma": (),
    "digamma": (),
    "polygamma": (2,),
    "bessel_ie": (1,),
    "bessel_ie_slope": (1, 2),
    "bessel_j": (0,),
    "bessel_y": (1,),
    "bessel_ke": (0,),
    "erfinv": (),
    "ndtri": (),
    "ndtri_slope": (2,),
    "erfcx": (),
    "erfcx_slope": (2,),
    "log_ndtr": (),
    "expn": (2,),
    "expi": (),
    "sine_integral": (),
    "cosine_integral": (),
    "dawsn": (),
    "dawsn_slope": (2,),
    "fresnels": (),
    "fresnelc": (),
    "spence": (),
    "spherical_jn": (2,),
    "airy_ai": (),
    "erfcinv": (),
    "erfcinv_slope": (2,),
    "erfinv_slope": (2,),
    "inverse_mills_slope": (2,),
    "lambertw": (),
    "lambertw_slope": (2, True),
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_triangles_in_blocks(upper: bool, unit: bool, dtype: type) -> None:
    """What solves the whole triangle leaves no less over, in stacks that broadcast, too."""
    rng = np.random.default_rng(0)
    a = (rng.normal(size=(2, 1, 200, 200)) / 200 + np.eye(200)).astype(dtype)
    b = rng.normal(size=(3, 200, 2)).astype(dtype)
    x = kernels.solve_triangular(a, b, upper, unit)
    assert x.dtype == dtype
    triangle = (np.triu if upper else np.tril)(a)
    if unit:
        triangle[..., range(200), range(200)] = 1
    whole = np.linalg.solve(triangle, np.broadcast_to(b, (2, 3, 200, 2)))
    left, wanted = (np.abs(triangle @ v - b).max() for v in (x, whole))
    assert left <= 4 * wanted
    np.testing.assert_allclose(x, whole, rtol=0, atol=200 * np.finfo(dtype).eps * np.abs(whole).max())


def test_triangles_without_columns() -> None:
    assert kernels.solve_triangular(np.eye(200), np.zeros((200, 0)), False, False).shape == (200, 0)

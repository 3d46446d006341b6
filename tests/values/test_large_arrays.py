"""Kernels that take another way on large arrays: the numbers and the layout are those of the way of small ones."""

import itertools
import math

import numpy as np
import pytest

import symgrad as sg
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
    "erf": (),
    "erfc": (),
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


_RNG = np.random.default_rng(1)
PLACES = {
    "rows": ((40, 5), _RNG.integers(-40, 40, 300)),
    "long rows": ((9, 400), _RNG.integers(-9, 9, 30)),
    "rows by a table of places": ((40, 5), _RNG.integers(0, 40, (30, 4))),
    "entries": ((12, 9), (_RNG.integers(-12, 12, 300), _RNG.integers(0, 9, 300))),
    "columns": ((12, 9), (slice(None), _RNG.integers(-9, 9, 50))),
    "a vector": ((12,), _RNG.integers(-12, 12, 300)),
    "blocks": ((6, 3, 7), (_RNG.integers(0, 6, 50), slice(None), _RNG.integers(0, 7, 50))),
    "few of many": ((300, 300), (_RNG.integers(0, 300, 90), _RNG.integers(0, 300, 90))),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.complex64, np.int64])
@pytest.mark.parametrize("name", PLACES)
def test_what_falls_on_one_place_is_added_in_order(name: str, dtype: type) -> None:
    shape, index = PLACES[name]
    want = np.zeros(shape, dtype)
    g = (np.random.default_rng(2).normal(size=want[index].shape) * 100).astype(dtype)
    np.add.at(want, index, g)
    assert kernels.put(g, index, shape).tobytes() == want.tobytes()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_slices_are_added_in_order(dim: int, order: str) -> None:
    rng = np.random.default_rng(0)
    x = np.asarray(rng.normal(size=(5, 6, 7)), order=order)
    size = tuple(40 if k == dim else n for k, n in enumerate(x.shape))
    row = rng.integers(0, x.shape[dim], 40).reshape([40 if k == dim else 1 for k in range(3)])
    src = rng.normal(size=size)
    want = np.array(x)
    grids = list(np.ogrid[tuple(slice(n) for n in size)])
    grids[dim] = np.broadcast_to(row, size)
    np.add.at(want, tuple(grids), src)
    got = kernels.scatter_plus(x, src, np.broadcast_to(row, size), dim)
    np.testing.assert_array_equal(got, want)
    assert got.strides == want.strides


COMBINED = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64])
@pytest.mark.parametrize("reduce", COMBINED)
def test_what_falls_on_one_place_is_combined_in_order(reduce: str, dtype: type, whole: bool) -> None:
    rng = np.random.default_rng(3)
    for shape, dim in (((300,), 0), ((9, 400), 0), ((12, 30), 1), ((5, 6, 7), 1)):
        size = tuple(20 if k == dim else n for k, n in enumerate(shape))
        row = [20 if k == dim else 1 for k in range(len(shape))]
        index = np.broadcast_to(rng.integers(0, shape[dim], row if whole else size), size)
        x, src = rng.normal(size=shape).astype(dtype), (2 * rng.normal(size=size)).astype(dtype)
        want = np.array(x)
        grids = list(np.ogrid[tuple(slice(n) for n in size)])
        grids[dim] = index
        COMBINED[reduce].at(want, tuple(grids), src)
        assert kernels.scatter_combine(x, src, index, dim, reduce, True).tobytes() == want.tobytes()


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_the_product_of_all_else_at_a_place(zeros: int) -> None:
    x, src = np.array([3.0, 5.0]), np.arange(1.0, 101.0) / 40
    src[:zeros] = 0
    index = np.arange(100) % 4 // 3
    got = kernels.scatter_others(x, src, index, 0, True)
    for k in range(100):
        others = src[(index == index[k]) & (np.arange(100) != k)]
        np.testing.assert_allclose(got[k], x[index[k]] * others.prod(), rtol=1e-13)


@pytest.mark.parametrize("align", [False, True])
def test_interpolation_of_long_axes(align: bool) -> None:
    """A matrix of 100 000 x 150 000 entries would not fit into memory."""
    x = sg.tensor(np.random.default_rng(0).normal(size=(1, 1, 100_000)), requires_grad=True)
    y = sg.nn.functional.interpolate(x, 150_000, mode="linear", align_corners=align)
    places = np.arange(150_000.0) * (99_999 / 149_999) if align else (np.arange(150_000.0) + 0.5) / 1.5 - 0.5
    want = np.interp(places, np.arange(100_000.0), x.detach().numpy()[0, 0])
    np.testing.assert_allclose(y.detach().numpy()[0, 0], want, atol=1e-10)
    y.backward(sg.ones_like(y))
    np.testing.assert_allclose(x.grad.numpy().sum(), 150_000)


def test_means_of_cells_of_long_axes() -> None:
    x = sg.tensor(np.random.default_rng(0).normal(size=(1, 1, 100_001)), requires_grad=True)
    y = sg.nn.functional.adaptive_avg_pool1d(x, 40_000)
    ends = [(k * 100_001 // 40_000, -(-(k + 1) * 100_001 // 40_000)) for k in range(40_000)]
    want = [x.detach().numpy()[0, 0, a:b].mean() for a, b in ends]
    np.testing.assert_allclose(y.detach().numpy()[0, 0], want, rtol=1e-11, atol=1e-14)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy().sum(), 40_000)


def test_interpolation_by_gathers_is_that_by_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    from symgrad.ops.nn import weighing

    smooth = {"mode": "bicubic", "antialias": True}
    for how, shape, size in (
        ({"mode": "bicubic"}, (2, 3, 7, 5), (11, 4)),
        ({"mode": "trilinear"}, (1, 2, 3, 4, 5), (5, 2, 7)),
        (smooth, (1, 2, 13, 9), (4, 5)),
        ({"mode": "area"}, (1, 2, 13, 9), (4, 5)),
    ):
        found = []
        for most in (1 << 15, 0):
            monkeypatch.setattr(weighing, "_DENSE", most)
            x = sg.tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)
            y = sg.nn.functional.interpolate(x, size, **how)
            found.append((y.detach().numpy(), sg.autograd.grad((y**3).sum(), x)[0].numpy()))
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(9000,), (2, 3, 5000), (0, 5000), (5000, 3)])
def test_long_lines_are_gathered_as_by_numpy(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=(*shape[:-1], 7))
    places = np.random.default_rng(1).integers(-7, 7, shape)
    np.testing.assert_array_equal(kernels.gather(x, places, len(shape) - 1), np.take_along_axis(x, places, -1))
    if places.size:
        places[(-1,) * places.ndim] = 7
        with pytest.raises(IndexError):
            kernels.gather(x, places, len(shape) - 1)


@pytest.mark.parametrize("kind", ["few ties", "many ties", "nan"])
@pytest.mark.parametrize("largest", [False, True])
def test_the_first_of_many_are_those_of_the_whole_order(kind: str, largest: bool) -> None:
    x = np.random.default_rng(0).normal(size=(30, 200)).round(1 if kind == "many ties" else 6)
    if kind == "nan":
        x[::3, 5] = np.nan
    for k in (1, 3, 40, 199):
        turned = -x if largest else x
        order = np.argsort(turned, -1, kind="stable")
        if kind == "nan" and largest:  # the largest of all
            order = np.lexsort((np.broadcast_to(np.arange(200), x.shape), -x, ~np.isnan(x)), -1)
        places = kernels.argtop(x, 1, k, largest)
        np.testing.assert_array_equal(
            np.take_along_axis(x, places, 1), np.take_along_axis(x, order[:, :k], 1), strict=True
        )
        if not largest:
            place = kernels.argkth(x, 1, k)
            np.testing.assert_array_equal(np.take_along_axis(x, place, 1), np.sort(x, 1)[:, k - 1 : k])


def test_error_function_of_many() -> None:
    x = np.concatenate([np.linspace(-7, 7, 4001), np.geomspace(1e-300, 9, 500), [np.inf, -np.inf, 0.0, -0.0]])
    want = np.array([math.erf(v) for v in x])
    np.testing.assert_array_less(np.abs(kernels.erf(x) - want), 2.8 * np.spacing(np.abs(want)))
    assert np.signbit(kernels.erf(x)[-1])
    x = np.concatenate([x, np.linspace(20, 28, 500)])
    want = np.array([math.erfc(v) for v in x])
    np.testing.assert_array_less(np.abs(kernels.erfc(x) - want), 8 * np.spacing(np.abs(want)))
    for kernel in (kernels.erf, kernels.erfc):
        assert np.isnan(kernel(np.full(50, np.nan))).all()


@pytest.mark.parametrize("spread", [1, 30, 300])
def test_running_log_sums_pull_back_in_linear_time(spread: float) -> None:
    """Narrow and wide ranges take ways of their own; a table of 100,000 by 100,000 weights would not fit."""
    rng = np.random.default_rng(0)
    x, g, t = rng.normal(size=(3, 4, 60)) * np.array([spread, 1, 1]).reshape(3, 1, 1)
    out = kernels.logcumsumexp(x, 1)
    weights = np.triu(np.exp(np.minimum(x[:, :, None] - out[:, None, :], 0)))
    np.testing.assert_allclose(kernels.logcumsumexp_slope(g, out, x, 1), (weights * g[:, None]).sum(2), rtol=1e-11)
    np.testing.assert_allclose(kernels.logcumsumexp_moved(t, out, x, 1), (weights * t[..., None]).sum(1), rtol=1e-11)
    long = sg.tensor(rng.normal(size=100_000) * spread, requires_grad=True)
    sg.logcumsumexp(long, 0)[-1].backward()
    np.testing.assert_allclose(long.grad, sg.softmax(long.detach(), 0), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("shift", [0, 500, -500])
def test_running_log_sums_that_begin_with_nothing_pull_back_in_linear_time(shift: float) -> None:
    """-inf stands for an entry that is masked; the sums after it are those of the others."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=30_000) + shift
    x[:2], x[7] = -np.inf, -np.inf
    g = rng.normal(size=x.size)
    out = kernels.logcumsumexp(x, 0)
    finite = np.maximum(x, -1e9)[2:]
    for kernel in (kernels.logcumsumexp_slope, kernels.logcumsumexp_moved):
        found = kernel(g, out, x, 0)
        assert not found[:2].any()
        np.testing.assert_allclose(found[2:], kernel(g[2:], out[2:], finite, 0), rtol=1e-9, atol=1e-12)
    nothing = np.full((2, 3), -np.inf)
    assert not kernels.logcumsumexp_slope(np.ones((2, 3)), nothing, nothing, 1).any()


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


def test_the_commonest_of_many() -> None:
    """Every entry beside every other would take 40 GB."""
    x = np.random.default_rng(0).integers(0, 3000, 200_000)
    counts = np.bincount(x)
    value, place = sg.mode(sg.tensor(x))
    assert value.item() == counts.argmax()  # the smallest of equally common ones
    assert place.item() == np.flatnonzero(x == counts.argmax())[-1]


@pytest.mark.parametrize("again", [False, True])
def test_choices_are_those_of_itertools(again: bool) -> None:
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    for n, r in itertools.product(range(6), range(1, 8)):
        want = np.array(list(choose(range(n), r)), np.int64).reshape(-1, r)
        np.testing.assert_array_equal(sg.combinations(sg.arange(n), r, again).numpy(), want)


@pytest.mark.parametrize("shape", [(4, 3), (3, 3), (2, 4)])
def test_elimination_of_many_matrices_is_that_of_each(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).integers(-1, 2, (5, 60, *shape)).astype(float)  # some without rank
    order = kernels.lu_order(x)
    swaps = kernels.swaps_of(order, min(shape))
    for at in np.ndindex(5, 60):
        np.testing.assert_array_equal(order[at], kernels.lu_order(x[at]))
        np.testing.assert_array_equal(swaps[at], kernels.swaps_of(order[at], min(shape)))
    np.testing.assert_array_equal(kernels.order_of(swaps, shape[0]), order)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("wanted", [100, 400])
def test_sums_of_neighbours_without_number_stay_where_they_are(wanted: int, bad: float) -> None:
    """Of gathered neighbours, too, weights of 0 keep out what is not finite."""
    row = np.random.default_rng(0).normal(size=400)
    row[3] = bad
    x, functions = sg.tensor(row, requires_grad=True).reshape(1, 1, 400), sg.nn.functional
    means = functions.adaptive_avg_pool1d(x, wanted)[0, 0].detach().numpy()
    np.testing.assert_allclose(means, row.reshape(wanted, -1).mean(1), rtol=1e-12)
    between = functions.interpolate(x, size=wanted, mode="linear", align_corners=True)[0, 0]
    place = np.arange(wanted) * 399 / (wanted - 1)
    far = np.abs(place - 3) >= 1
    rest = np.interp(place, np.arange(400), np.where(np.isfinite(row), row, 0.0))
    np.testing.assert_allclose(between.detach().numpy()[far], rest[far], rtol=1e-9, atol=1e-12)
    assert not np.isfinite(between.detach().numpy()[np.abs(place - 3) < 0.9]).any()
    assert sg.autograd.grad(between.sum(), x)[0].isfinite().all()


def test_second_derivatives_of_cross_entropy_of_many_classes_in_single_precision() -> None:
    logits = np.random.default_rng(0).standard_normal((4, 64))
    found = {}
    for dtype in ("float32", "float64"):
        x = sg.tensor(logits.astype(dtype), requires_grad=True)
        (g,) = sg.autograd.grad(sg.nn.functional.cross_entropy(x, sg.tensor([3, 0, 63, 9])), x, create_graph=True)
        (found[dtype],) = sg.autograd.grad(g, x, x.detach())
    np.testing.assert_allclose(found["float32"].numpy(), found["float64"].numpy(), atol=1e-7)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(5000,), (50, 100), (100,), ()])
def test_what_is_not_kept_is_zero_whatever_it_is(dtype, shape):
    """Large masks keep the bits of their entries, those of infinity, nan and -0.0 as well."""
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)[()]
    keep = np.random.default_rng(1).random((50, 100) if shape in ((100,), ()) else shape) < 0.5
    if shape:
        x.flat[:8] = [np.inf, -np.inf, np.nan, -0.0] * 2
    found, expected = kernels.masked(x, keep), np.where(keep, x, 0)
    assert found.dtype == expected.dtype == dtype
    assert found.tobytes() == expected.tobytes()
    if shape == keep.shape:
        assert kernels.masked(x.T, keep.T).tobytes() == np.where(keep.T, x.T, 0).tobytes()


@pytest.mark.parametrize("often", [True, False])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_choices_of_many_are_those_of_numpy_to_the_bit(dtype: type, often: bool) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 300, 200)).astype(dtype)
    mask = (x > 0.2) if often else np.tri(300, 200, dtype=bool)
    x[0, :3], y[1, :4] = (np.nan, np.inf, -0.0), (-np.inf, -0.0, np.nan, 0)
    number = dtype(20)
    for a, b in ((x, y), (number, y), (x, number), (0.1, y), (x, math.inf), (0.1, 0.2), (x.T.copy().T, y), (x[:1], y)):
        found, want = kernels.either(mask, a, b), np.where(mask, a, b)
        assert (found.dtype, found.shape, found.tobytes()) == (want.dtype, want.shape, want.tobytes())


@pytest.mark.parametrize("imaginary", [0, 1j])
def test_reflections_at_once_are_those_one_after_another(imaginary: complex) -> None:
    rng = np.random.default_rng(3)
    a, tau = ((x + imaginary * y) for x, y in (rng.normal(size=(2, 3, 6, 4)), rng.normal(size=(2, 3, 4))))
    tau[:, 1] = 0
    want = np.broadcast_to(np.eye(6, dtype=a.dtype), (3, 6, 6))
    for k in range(4):
        v = np.tril(a, -1)[:, :, k] + np.eye(6)[k]
        want = want @ (np.eye(6) - tau[:, k, None, None] * v[:, :, None] * v[:, None].conj())
    parts = [sg.tensor(p, requires_grad=True) for p in (a, tau)]
    np.testing.assert_allclose(sg.linalg.householder_product(*parts).numpy(force=True), want[..., :4], atol=1e-12)
    adjoint = sg.ormqr(*parts, sg.tensor(want[..., :2].copy()), True, True)
    np.testing.assert_allclose(adjoint.numpy(force=True), want.conj().swapaxes(-1, -2) @ want[..., :2], atol=1e-11)
    assert sg.autograd.gradcheck(sg.linalg.householder_product, parts)


@pytest.mark.parametrize("slope", [0, 0.25, 1, 2.0, -1])
def test_leaky_slopes_are_those_of_the_choice(slope):
    """By the larger of two where that is the same, of which nan, infinity and both zeros have no other sign."""
    x, g = np.array([-3.0, -0.0, 0.0, 2.0, np.nan, np.inf, -np.inf] * 2), np.repeat([-2.0, -0.0], 7)
    with np.errstate(invalid="ignore"):
        assert kernels.leaky(x, slope).tobytes() == np.where(x > 0, x, x * slope).tobytes()
        assert kernels.leaky_slope(g, x, slope).tobytes() == np.where(x > 0, g, g * slope).tobytes()


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("zeros", range(5))
def test_scattered_products_have_derivatives_of_three_orders_at_zeros(zeros: int, include: bool) -> None:
    """Those of the products spelled out, without a row for every source."""
    rng = np.random.default_rng(zeros)
    x, src = rng.normal(size=4), rng.normal(size=9)
    index = np.array([0, 1, 0, 0, 1, 0, 0, 2, 1])
    src[[0, 2, 3, 7][:zeros]] = 0

    def scattered(x, src):
        return x.scatter_reduce(0, sg.tensor(index), src, "prod", include_self=include)

    def spelled(x, src):
        own = [x[k] if include or k not in index else x[k].detach() * 0 + 1 for k in range(4)]
        return sg.stack([math.prod([own[k], *(src[j] for j in np.flatnonzero(index == k))]) for k in range(4)])

    found = []
    for way in (scattered, spelled):
        given = sg.tensor(x, requires_grad=True), sg.tensor(src, requires_grad=True)
        total = (way(*given) ** 3).sum()
        for _ in range(3):
            slopes = sg.autograd.grad(total, given, create_graph=True)
            total = sum((slope * slope + slope).sum() for slope in slopes)
        found.append([*slopes, total])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want.detach().numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keepdim", [False, True])
def test_a_sum_over_a_few_neighbours_has_the_bits_of_numpy(dtype, keepdim):
    draw = np.random.default_rng(0)
    image = draw.normal(size=(16, 40, 40)).astype(dtype)
    windows = [np.lib.stride_tricks.sliding_window_view(image, (k, k), (1, 2)) for k in (2, 3, 5)]
    rows, blocks = (draw.normal(size=shape).astype(dtype) for shape in ((9000, 6), (900, 4, 9, 4)))
    arrays = [*windows, windows[0][:, ::2, ::2], windows[1][..., ::-1], rows, rows[:, ::-2], rows.reshape(6, 9000).T]
    arrays += [blocks, blocks[..., :3], blocks.transpose(0, 2, 1, 3), blocks.transpose(0, 2, 3, 1)]
    for x in arrays:
        for dim in ((x.ndim - 1,), (x.ndim - 2, x.ndim - 1), (0,))[: 3 if x.ndim > 2 else 1]:
            found, wanted = kernels.sum_inside(x, dim, keepdim), np.add.reduce(x, dim, keepdims=keepdim)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)

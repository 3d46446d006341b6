"""One entry that is not finite: it reaches those of values and gradients that it reaches in torch, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

BAD = [np.inf, -np.inf, np.nan]


def reached_no_further(call: Any, x: Any, bad: float, seed: int) -> None:
    """Entries that are finite in torch are so here, and have its values: of the result, and of the gradient."""
    rng = np.random.default_rng(seed)
    spoilt = x.copy()
    spoilt[tuple(rng.integers(0, n) for n in x.shape)] = bad
    found: list[Any] = []
    for t in (sg, torch):
        value = call(t, t.tensor(spoilt))
        a = t.tensor(x, requires_grad=True)
        out = call(t, a)
        g = np.random.default_rng(seed + 1).normal(size=tuple(out.shape)).astype(x.dtype)
        g[tuple(np.random.default_rng(seed + 2).integers(0, n) for n in g.shape)] = bad
        out.backward(t.tensor(g))
        found.append((value.numpy(), a.grad.numpy()))
    for got, want in zip(*found, strict=True):
        here, there = np.isfinite(got), np.isfinite(want)
        assert not (there & ~here).any()
        both = here & there
        tolerance = 1e-4 if x.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(got[both], want[both], rtol=tolerance, atol=tolerance)


MODES = [(1, m) for m in ("nearest", "nearest-exact", "linear", "area")]
MODES += [
    (2, m) for m in ("nearest", "nearest-exact", "bilinear", "bicubic", "area", "bilinear smooth", "bicubic smooth")
]
MODES += [(3, m) for m in ("nearest", "nearest-exact", "trilinear", "area")]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("rank", "mode"), MODES)
def test_interpolate(rank: int, mode: str, dtype: str, bad: float) -> None:
    mode, _, smooth = mode.partition(" ")
    corners = (False, True) if mode.endswith(("linear", "cubic")) else (None,)
    for seed, (have, want) in enumerate([(5, 8), (8, 5), (6, 3), (4, 4)]):
        x = np.random.default_rng(seed).normal(size=(2, 1, *(have,) * rank)).astype(dtype)
        for align in corners:
            options = {"size": (want,) * rank, "mode": mode, "align_corners": align, "antialias": bool(smooth)}
            reached_no_further(lambda t, a, o=options: t.nn.functional.interpolate(a, **o), x, bad, seed)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_adaptive_means(rank: int, bad: float) -> None:
    for seed, (have, want) in enumerate([(7, 3), (6, 4), (5, 5), (400, 90)][: 4 if rank == 1 else 3]):
        x = np.random.default_rng(seed).normal(size=(2, 3, *(have,) * rank))
        reached_no_further(
            lambda t, a, n=want: getattr(t.nn.functional, f"adaptive_avg_pool{rank}d")(a, n), x, bad, seed
        )


def test_derivatives_of_an_image_with_a_hole() -> None:
    """Second derivatives and forward mode keep the hole where it is, too."""
    x = np.arange(12.0).reshape(1, 1, 12)
    x[0, 0, 3] = np.nan
    a = sg.tensor(x, requires_grad=True)
    out = (sg.nn.functional.interpolate(a, size=24, mode="linear") ** 2)[..., 12:].sum()
    (first,) = sg.autograd.grad(out, a, create_graph=True)
    (second,) = sg.autograd.grad((first[..., 6:] ** 2).sum(), a)
    for gradient in (first, second):
        assert np.isnan(gradient.detach().numpy()).sum() <= 3  # the hole and its neighbours
        assert np.isfinite(gradient[..., 5:].detach().numpy()).all()
    moved = sg.func.jvp(lambda v: sg.nn.functional.interpolate(v, size=24, mode="linear"), (sg.ones(1, 1, 12),), (a,))
    assert np.isnan(moved[1].detach().numpy()).sum() == 4


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_points_that_are_nowhere_have_the_values_of_torch(bad: float, padding: str, mode: str) -> None:
    if mode == "bilinear" and padding == "zeros" and np.isinf(bad):
        pytest.skip("torch has nan beside the image, and here is zero")
    image, grid = np.arange(9.0).reshape(1, 1, 3, 3) + 1, np.array([[[[bad, 0.1], [0.2, bad], [bad, bad]]]])
    found = [
        t.nn.functional.grid_sample(t.tensor(image), t.tensor(grid), mode, padding, align_corners=align)
        for align in (False, True)
        for t in (torch, sg)
    ]
    for want, got in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-14)


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("rank", [2, 3])
def test_points_at_infinity_are_outside_of_an_image(rank: int, bad: float) -> None:
    """Zero where zeros surround the image, as in torch's kernel of three axes; its kernels of two have nan there."""
    image = np.arange(2.0 * 4**rank).reshape(1, 2, *(4,) * rank) + 1
    points = np.full((1, *(1,) * (rank - 1), 3, rank), 0.3)
    points[0, ..., 1, 0] = bad
    for mode in ("bilinear", "nearest", "bicubic")[: 3 if rank == 2 else 2]:
        x, grid = sg.tensor(image, requires_grad=True), sg.tensor(points, requires_grad=True)
        out = sg.nn.functional.grid_sample(x, grid, mode=mode, align_corners=False)
        out.sum().backward()
        np.testing.assert_array_equal(out.detach().numpy()[..., 1], 0)
        assert np.isfinite(x.grad.numpy()).all()
        assert np.isfinite(grid.grad.numpy()).all()
        if rank == 3:
            want = torch.nn.functional.grid_sample(
                torch.tensor(image), torch.tensor(points), mode=mode, align_corners=False
            )
            np.testing.assert_allclose(out.detach().numpy(), want.numpy(), rtol=1e-12)


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_outside_of_an_image_do_not_read_its_edge(bad: float, mode: str) -> None:
    image = np.arange(25.0).reshape(1, 1, 5, 5) + 1
    image[0, 0, 0, 0] = bad
    points = np.array([[[[-3.0, -2.5], [3.0, -0.9], [0.9, 0.8]]]])
    found = []
    for t in (torch, sg):
        x, grid = t.tensor(image, requires_grad=True), t.tensor(points, requires_grad=True)
        out = t.nn.functional.grid_sample(x, grid, mode=mode, align_corners=False)
        out.sum().backward()
        found.append([a.detach().numpy() for a in (out, x.grad, grid.grad)])
    assert np.isfinite(found[1][0]).all()
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)

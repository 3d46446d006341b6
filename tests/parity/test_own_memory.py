"""What functions return lies row by row where torch's kernels write it so, and in no memory of their operands."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer

ROWS = {
    "rfft": lambda t, x: t.fft.rfft(x[0, 0]),
    "rfft2": lambda t, x: t.fft.rfft2(x[0]),
    "irfft": lambda t, x: t.fft.irfft(x[0]),
    "hfft2": lambda t, x: t.fft.hfft2(x[0]),
    "diag_embed": lambda t, x: t.diag_embed(x[0, 0], dim1=0, dim2=1),
    "diagonal_scatter": lambda t, x: t.diagonal_scatter(x[0], t.ones(2, 4), 0, 1, 2),
    "gradient": lambda t, x: t.gradient(x[0], dim=0)[0],
    "conv_transpose1d": lambda t, x: t.nn.functional.conv_transpose1d(x[0, :, :1].mT, t.ones(4, 3, 3), padding=1),
    "conv_transpose2d": lambda t, x: t.nn.functional.conv_transpose2d(x, t.ones(2, 3, 3, 3), padding=1),
    "fold": lambda t, x: t.nn.functional.fold(x[0, :, :2].reshape(1, 4, 4), (3, 3), 2, padding=0),
    "padded fold": lambda t, x: t.nn.functional.fold(t.ones(1, 4, 16), (3, 3), 2, padding=1) * x[0, 0, 0, 0],
    "reflected and cut": lambda t, x: t.nn.functional.pad(x, (-1, 1, 0, 0), mode="reflect"),
    "repeated and cut": lambda t, x: t.nn.functional.pad(x, (2, -1, 0, 0), mode="replicate"),
    "permutation": lambda t, x: t.linalg.lu(x[0, 0, :3, :3])[0],
}
APART = {
    "pixel_shuffle by 1": lambda t, x: t.nn.functional.pixel_shuffle(x, 1),
    "pixel_unshuffle by 1": lambda t, x: t.nn.functional.pixel_unshuffle(x, 1),
    "pixel_shuffle of one place": lambda t, x: t.nn.functional.pixel_shuffle(x.reshape(1, 32, 1, 1)[:, :4], 2),
    "unfold by 1": lambda t, x: t.nn.functional.unfold(x, 1),
    "unfold of one place": lambda t, x: t.nn.functional.unfold(x, (4, 4)),
    "cut": lambda t, x: t.nn.functional.pad(x, (-1, 0, 0, -1), mode="replicate"),
    "cut by a constant border": lambda t, x: t.nn.functional.pad(x, (-1, 0, 0, -1)),
    "cloned coefficient": lambda t, x: t.triangular_solve(t.ones(4, 1), x[0, 0])[1],
    "solution": lambda t, x: t.linalg.solve(x[0, 0] @ x[0, 0].mT + 9 * t.eye(4), x[0, 0, 0]),
    "solution from the right": lambda t, x: t.linalg.solve(9 * t.eye(4), x[0, 0, :3], left=False),
    "triangular solution": lambda t, x: t.linalg.solve_triangular(t.eye(4), x[0, 0], upper=True, left=False),
    "upper Cholesky factor": lambda t, x: t.linalg.cholesky(9 * t.eye(4), upper=True),
    "right singular vectors": lambda t, x: t.linalg.svd(x[0, 0])[2],
    "half of a spectrum": lambda t, x: t.fft.rfft(x[0, 0]),
    "pooled rows": lambda t, x: t.nn.functional.max_pool1d(x[0], 2),
    "masked.prod": lambda t, x: getattr(t, "masked", torch.masked).prod(x[0, 0, 0, 0], 0),
}


def images(t: Any) -> Any:
    return t.arange(1.0, 33.0).reshape(1, 2, 4, 4)


@pytest.mark.parametrize("name", ROWS)
def test_results_lie_row_by_row(name: str) -> None:
    made = [ROWS[name](t, images(t)) for t in (torch, sg)]
    assert made[0].is_contiguous()
    assert made[1].is_contiguous()
    assert made[1].view(-1).shape == made[0].view(-1).shape
    torch.testing.assert_close(torch.from_numpy(made[1].numpy()), made[0])


@pytest.mark.parametrize("name", APART)
@pytest.mark.filterwarnings("ignore:.*triangular_solve:UserWarning")
def test_results_may_be_overwritten(name: str) -> None:
    for t in (torch, sg):
        x = images(t)
        made = APART[name](t, x)
        assert made._base is None
        made.zero_()
        assert bool((x == images(t)).all())


SLOPES = {
    "weights of a convolution": lambda t, w: t.nn.functional.conv2d(t.ones(1, 3, 5, 5), w),
    "what is broadcast in the middle": lambda t, w: w[:, :1] * t.ones(4, 3, 2, 2) + w.sum(),
    "interpolated": lambda t, w: t.nn.functional.interpolate(w, scale_factor=2.0, mode="bilinear"),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", SLOPES)
def test_gradients_can_be_flattened(name: str, create_graph: bool) -> None:
    for t in (torch, sg):
        w = t.arange(48.0).reshape(4, 3, 2, 2).requires_grad_()
        out = SLOPES[name](t, w)
        (slope,) = t.autograd.grad(out, w, t.ones(out.shape), create_graph=create_graph)
        assert slope.view(-1).shape == (48,)

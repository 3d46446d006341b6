"""Whole numbers and truth values: the dtype and the values that torch gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

ROWS = [[5, 1, 6, 2], [3, 3, 1, 4]]
KINDS = ("uint8", "int16", "int32", "int64")

CASES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "addmv with parts of one": lambda t, x, i: t.addmv(x[:, 0], x, x[0], beta=0.6, alpha=1.9),
    "baddbmm with parts of one": lambda t, x, i: t.baddbmm(x[None, :, :2], x[None], x.mT[None], beta=0.2),
    "covariance": lambda t, x, i: t.cov(x),
    "correlation": lambda t, x, i: t.corrcoef(x),
    "running sum in a dtype": lambda t, x, i: t.cumsum(x, 1, dtype=t.int32),
    "running product in a dtype": lambda t, x, i: t.cumprod(x, 1, dtype=t.int16),
    "polynomial on [0, 1]": lambda t, x, i: t.special.shifted_chebyshev_polynomial_u(x - 1, 3),
    "heaviside": lambda t, x, i: t.heaviside(x - 3, x),
    "means of windows": lambda t, x, i: t.nn.functional.avg_pool1d(x.long(), 3, 1),
    "response norm": lambda t, x, i: t.nn.functional.local_response_norm(x.long()[None], 2),
    "largest of padded windows": lambda t, x, i: t.nn.functional.max_pool2d(x[None], 2, 2, 1),
    "hardtanh": lambda t, x, i: t.nn.functional.hardtanh(x.short() - 3, -1.5, 2.5),
    "powers below 0": lambda t, x, i: x.long() ** (1 - x.long()),
    "a number to powers below 0": lambda t, x, i: 2 ** (2 - x.long()),
    "powers below 0 as far as they go": lambda t, x, i: (x.long() - 3) ** t.tensor(-(2**63)),
    "counts by half precision": lambda t, x, i: t.bincount(i.long(), weights=x[:, 0].half()),
    "counts by bfloat16": lambda t, x, i: t.bincount(i.long(), weights=x[:, 0].bfloat16()),
    "above a threshold": lambda t, x, i: t.nn.functional.threshold(x, 2.5, 7.5),
    "above a threshold below 0": lambda t, x, i: t.nn.functional.threshold(x.long() - 3, -0.5, 9.0),
    "a sum by labels": lambda t, x, i: t.einsum("ij->i", x),
    "a product by labels": lambda t, x, i: t.einsum("ij,kj->ik", x, x),
    "tensordot": lambda t, x, i: t.tensordot(x, x, ([0, 1], [0, 1])),
    "tensordot of a size 1": lambda t, x, i: t.tensordot(x[:1], x, ([0], [0])),
    "trace, wide": lambda t, x, i: t.trace(x),
    "slices taken away": lambda t, x, i: x.index_add(0, i, x, alpha=-1),
    "mean by places": lambda t, x, i: x.index_reduce(0, i, x, "mean"),
    "mean of others by places": lambda t, x, i: x.scatter_reduce(1, x.long() % 2, x, "mean", include_self=False),
    "largest by places": lambda t, x, i: x.index_reduce(0, i, x, "amax", include_self=False),
    "one number by places": lambda t, x, i: x[0].scatter(0, t.tensor(1), t.tensor(5, dtype=x.dtype), reduce="add"),
    "a number by places": lambda t, x, i: x.scatter(1, x.long() % 2, value=t.tensor(3), reduce="multiply"),
    "smallest by places": lambda t, x, i: x.scatter_reduce(0, x.long() % 2, x, "amin", include_self=False),
    "any by places": lambda t, x, i: (x > 3).scatter_reduce(0, x.long() % 2, x > 4, "amax", include_self=False),
    "nothing twice in a row": lambda t, x, i: t.unique_consecutive(x[:, :0], dim=1),
    "weights counted": lambda t, x, i: t.bincount(x[0], x[1]),
    "how many of a number": lambda t, x, i: t.count_nonzero(x[0, 0], dim=0),
    "Fourier": lambda t, x, i: t.fft.fft(x),
    "Fourier of truth values": lambda t, x, i: t.fft.rfft(x > 2),
    "Fourier to real": lambda t, x, i: t.fft.irfft(x),
    "a factor below 0": lambda t, x, i: x * -1,
    "a summand out of range": lambda t, x, i: x + 300,
    "filled with less than 0": lambda t, x, i: t.full_like(x, -9),
    "one number less than 0": lambda t, x, i: t.scalar_tensor(-5, dtype=x.dtype),
    "a range between": lambda t, x, i: t.arange(0.1, -7.9, -4.0, dtype=t.int64),
    "masked running sum": lambda t, x, i: t.masked.cumsum(x, 1, mask=x > 2),
    "running area between points": lambda t, x, i: t.cumulative_trapezoid(x * 30, x * 20),
    "a masked product of one": lambda t, x, i: t.masked.prod(x[0, 0], mask=x[0, 0] > 2),
    "a truth value summed to no axes": lambda t, x, i: (x > 2)[0, 0].sum_to_size(()),
    "powers in a row": lambda t, x, i: t.logspace(0, 4.2, 4, 2.5, dtype=x.dtype),
    "a power alone": lambda t, x, i: t.logspace(1.7, 4.2, 1, 3, dtype=x.dtype),
    "outer product of truth values": lambda t, x, i: t.addr(x > 2, x[:, 0] > 3, x[0] > 3, beta=3, alpha=2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name: str, kind: str) -> None:
    want, got = (
        CASES[name](t, t.tensor(np.array(ROWS, kind)), t.tensor(np.array([1, 1], np.int64))) for t in (torch, sg)
    )
    assert str(got.dtype) == str(want.dtype).removeprefix("torch.")
    assert tuple(got.shape) == tuple(want.shape)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=2e-6, atol=1e-6)


def test_numbers_that_a_dtype_does_not_have() -> None:
    for t in (torch, sg):
        with pytest.raises(RuntimeError, match="without overflow"):
            t.tensor([300], dtype=t.uint8)
        with pytest.raises(RuntimeError, match="without overflow"):
            t.full((2,), -200, dtype=t.int8)


def test_places_in_a_tensor_without_axes() -> None:
    assert sg.unravel_index(sg.tensor([0, 0]), ()) == torch.unravel_index(torch.tensor([0, 0]), ())


def test_a_picture_is_interpolated_and_rounded() -> None:
    rows = np.arange(0, 160, 10, np.uint8).reshape(1, 1, 4, 4)
    results = [
        t.nn.functional.interpolate(t.tensor(rows), (7, 7), mode="bilinear", align_corners=True) for t in (torch, sg)
    ]
    assert results[1].dtype == sg.uint8
    assert np.abs(results[0].numpy().astype(int) - results[1].numpy().astype(int)).max() <= 1


WIDE: dict[str, Callable[[Any, Any], Any]] = {
    "printed": lambda t, x: str(x),
    "below 0": lambda t, x: t.tensor([1.0, 200.0], dtype=t.float64).to(x.dtype),
    "made": lambda t, x: t.zeros(2, dtype=x.dtype),
    "beside floats": lambda t, x: x + t.tensor([1.0, 2.0]),
    "times a float": lambda t, x: x * 2.5,
    "a share": lambda t, x: x / 2,
    "sine": lambda t, x: x.sin(),
    "sum": lambda t, x: x.sum(),
    "cast": lambda t, x: x.to(t.float32),
    "joined": lambda t, x: t.cat([x, x]),
    "in order": lambda t, x: x.sort()[0],
    "compared": lambda t, x: x == 1,
    "bits": lambda t, x: x & 1,
    "bytes": lambda t, x: x.view(t.uint8),
    "type": lambda t, x: x.type(),
    "facts": lambda t, x: (x.dtype.is_signed, x.dtype.itemsize, t.iinfo(x.dtype).max, x.dtype.is_floating_point),
}


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("how", WIDE)
def test_unsigned_numbers_of_more_bytes(how: str, dtype: str) -> None:
    found = [WIDE[how](t, t.tensor([1, 7], dtype=getattr(t, dtype))) for t in (sg, torch)]
    if not isinstance(found[1], torch.Tensor):
        assert str(found[0]).replace("torch.", "") == str(found[1]).replace("torch.", "")
        return
    assert found[0].dtype.name == str(found[1].dtype).removeprefix("torch.")
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), rtol=1e-6)

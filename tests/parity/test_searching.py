"""searchsorted, bucketize, count_nonzero and unique against torch, with its errors."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from tests.parity.test_changes import alike

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

RNG = np.random.default_rng(11)
ROWS = np.sort(RNG.integers(0, 6, (2, 7)).astype(float), -1)
VALUES = RNG.integers(-1, 8, (2, 3)).astype(float)
SHORT = RNG.integers(0, 2, (5, 3, 2)).astype(float)
NANS = np.array([2.0, np.nan, 1.0, np.nan, 1.0])

CASES = {
    "rows": lambda t, rows, values, _: t.searchsorted(rows, values),
    "rows, right": lambda t, rows, values, _: t.searchsorted(rows, values, right=True),
    "one row": lambda t, rows, values, _: t.searchsorted(rows[0], values, side="right", out_int32=True),
    "number": lambda t, rows, *_: t.searchsorted(rows[0], 3.0),
    "sorter": lambda t, rows, values, _: t.searchsorted(rows.flip(1), values, sorter=t.argsort(rows.flip(1), dim=1)),
    "bucketize": lambda t, rows, values, _: t.bucketize(values, rows[0]),
    "bucketize, right": lambda t, rows, values, _: t.bucketize(values, rows[0], right=True),
    "count": lambda t, *rest: t.count_nonzero(rest[2]),
    "count, axes": lambda t, *rest: rest[2].count_nonzero((0, -1)),
    "unique": lambda t, *rest: t.unique(rest[2], return_inverse=True, return_counts=True),
    "unique, axis": lambda t, *rest: t.unique(rest[2], dim=0, return_inverse=True, return_counts=True),
    "unique, values": lambda t, rows, *_: rows.unique(),
    "consecutive": lambda t, *rest: t.unique_consecutive(rest[2], return_inverse=True, return_counts=True),
    "consecutive, axis": lambda t, *rest: rest[2].unique_consecutive(dim=1, return_counts=True),
}


@pytest.mark.parametrize("name", CASES)
def test_as_torch(name):
    found, wanted = (CASES[name](t, *(t.tensor(x) for x in (ROWS, VALUES, SHORT))) for t in (sg, torch))
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
        assert a.dtype == b.numpy().dtype


def test_nan_is_never_equal():
    for t in (sg, torch):
        assert t.unique(t.tensor(NANS)).shape[0] == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.searchsorted(t.ones(2, 3), t.ones(3, 3)), "first N-1 dimensions of boundaries tensor"),
        (lambda t: t.searchsorted(t.ones(3), t.ones(3), side="middle"), "side can only be 'left' or 'right'"),
        (lambda t: t.searchsorted(t.ones(3), t.ones(3), side="left", right=True), "can't be set to opposites"),
        (lambda t: t.bucketize(t.ones(3), t.ones(2, 3)), "boundaries tensor must be 1 dimension"),
    ],
)
def test_errors(call, words):
    for t in (sg, torch):
        with pytest.raises((RuntimeError, ValueError), match=words):
            call(t)


@pytest.mark.parametrize("dim", [0, 1])
def test_selection_among_equal_entries(dim: int) -> None:
    """Which of several equal entries is chosen, and so gets the gradient, is torch's choice, too."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        x = rng.integers(-2, 3, rng.integers(1, 13, 2)).astype(float)
        if rng.random() < 0.2:
            x.ravel()[0] = np.nan
        k, largest = int(rng.integers(1, x.shape[dim] + 1)), bool(rng.random() < 0.5)
        for ours, theirs in (
            (sg.tensor(x).kthvalue(k, dim), torch.tensor(x).kthvalue(k, dim)),
            (sg.tensor(x).topk(k, dim, largest), torch.tensor(x).topk(k, dim, largest)),
        ):
            for mine, wanted in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(mine.numpy(), wanted.numpy())


@pytest.mark.parametrize("name", ["kthvalue(1)", "mode()", "kthvalue(3)", "mode(2)"])
@pytest.mark.parametrize("values", ["True", "2 - 1j", "[True, False]", "[1j, 2]", "[]", "1.5"])
@pytest.mark.parametrize("grad", ["", ".requires_grad_()"])
def test_one_entry_is_the_commonest_and_the_first_whatever_its_dtype(name, values, grad):
    made = f"x = t.tensor({values})\nif x.is_complex(): x = x{grad}\nvalue, place = x.{name}"
    alike(made, "'value' in dir() and (value.tolist(), place.tolist())")

"""Errors that people meet say what torch says first; what is told besides stands after it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")


def leaf(t, *shape):
    return t.ones(*shape, requires_grad=True)


CASES = {
    "too many indices": lambda t: t.ones(3)[0, 0],
    "an index that is a float": lambda t: t.ones(3)[1.5],
    "a part of a leaf": lambda t: leaf(t, 2).__setitem__(0, 1.0),
    "a slice of a leaf": lambda t: leaf(t, 2).__setitem__(slice(0, 1), 1.0),
    "a column of a leaf": lambda t: leaf(t, 2, 3).__setitem__((slice(None), 0), 1.0),
    "all of a leaf": lambda t: leaf(t, 2).__setitem__(slice(None), 1.0),
    "places of a leaf": lambda t: leaf(t, 2).__setitem__(t.tensor([0]), 1.0),
    "a mask of another shape": lambda t: leaf(t, 2, 3).masked_fill(t.ones(3, 2) > 0, 0.0),
    "a mask that selects": lambda t: leaf(t, 2, 3).masked_select(t.ones(4) > 0),
    "branches of another shape": lambda t: t.where(t.ones(2, 3) > 0, leaf(t, 2, 3), t.ones(4)),
    "a branch and a number": lambda t: t.where(t.ones(3, 2) > 0, leaf(t, 2, 3), 0.0),
    "the first of two factors": lambda t: t.addcmul(leaf(t, 2, 3), t.ones(4), t.ones(2, 3)),
    "an end of another shape": lambda t: t.lerp(leaf(t, 2, 3), t.ones(4), 0.5),
    "a bound of another shape": lambda t: t.clamp(leaf(t, 2, 3), t.ones(4), t.ones(2, 3)),
    "a place that is not there": lambda t: leaf(t, 2, 3).index_select(0, t.tensor([3])),
    "more than there are": lambda t: leaf(t, 2, 3).topk(9),
    "a row that does not fit": lambda t: t.ones(3, 4).__setitem__(0, t.ones(3)),
    "a part that does not fit": lambda t: t.ones(3, 4).__setitem__(slice(1), t.ones(2, 4)),
    "places that do not fit": lambda t: t.ones(3, 4).__setitem__((slice(None), [0, 1]), t.ones(3)),
    "a join of ranks": lambda t: t.cat([t.ones(2, 2), t.ones(3)]),
    "a join of sizes": lambda t: t.cat([t.ones(2, 2), t.ones(2, 3)]),
    "a stack": lambda t: t.stack([t.ones(2), t.ones(3)]),
    "no grad for a result": lambda t: setattr(leaf(t, 2) * 2, "requires_grad", False),
    "grad for a result": lambda t: setattr(leaf(t, 2) * 2, "requires_grad", True),
    "a singular system": lambda t: t.linalg.solve(t.zeros(2, 2), t.ones(2)),
    "a matrix times a vector": lambda t: t.ones(2, 3) @ t.ones(2),
    "matrices times a vector": lambda t: t.ones(2, 4, 3) @ leaf(t, 2),
    "a row times a matrix": lambda t: leaf(t, 2) @ t.ones(3, 3),
    "matrices": lambda t: leaf(t, 2, 3) @ t.ones(2, 3),
    "a dot product of lengths": lambda t: t.dot(t.ones(9), t.ones(3)),
    "a dot product of a matrix": lambda t: t.vdot(t.ones(1, 1), t.ones(3)),
    "a dot product of dtypes": lambda t: t.dot(t.ones(3), t.ones(3).double()),
    "a diagonal of one axis": lambda t: t.diagonal(t.ones(2, 3), dim1=1, dim2=1),
    "two sizes left open": lambda t: t.ones(1, 3, 5).reshape(5, -1, -1),
    "a size that could be any": lambda t: t.ones(0, 5).reshape(0, -1),
    "a number taken apart": lambda t: t.tensor(1).unbind(0),
    "an axis that is not there": lambda t: t.ones(2).unbind(2),
    "axes moved to fewer places": lambda t: t.movedim(t.ones(2, 3, 4), [0, -1], [1]),
    "an axis moved twice": lambda t: t.movedim(t.ones(2, 3, 4), [0, -3], [1, 0]),
    "a spectrum of a number": lambda t: t.fft.irfft(t.tensor(1.0)),
    "closeness below 0": lambda t: t.isclose(t.ones(1), t.ones(1), rtol=-0.5),
    "more rows than there are": lambda t: t.gather(t.ones(1, 1), 1, t.zeros((2, 2), dtype=t.int64)),
    "channels of prelu": lambda t: t.nn.functional.prelu(t.ones(2, 8, 3), t.ones(9)),
    "axes of prelu's weight": lambda t: t.nn.functional.prelu(t.ones(2, 8), t.ones(2, 4)),
    "labels of a margin": lambda t: t.nn.functional.multi_margin_loss(t.ones(5, 4), t.ones(5, 4).long()),
    "no classes": lambda t: t.nn.functional.multi_margin_loss(t.ones(5, 0), t.ones(5).long()),
    "labels that are floats": lambda t: t.nn.functional.multi_margin_loss(t.ones(5, 4), t.ones(5)),
    "lists of labels": lambda t: t.nn.functional.multilabel_margin_loss(t.ones(5, 4), t.ones(4).long()),
    "ranks of a triplet": lambda t: t.nn.functional.triplet_margin_loss(t.ones(3), t.ones(3, 4), t.ones(3, 4)),
    "ranks of a ranking": lambda t: t.nn.functional.margin_ranking_loss(t.ones(5, 4), t.ones(5, 4), t.ones(5)),
    "nothing to normalize": lambda t: t.nn.functional.rms_norm(t.ones(2, 3), []),
    "other axes to normalize": lambda t: t.nn.functional.layer_norm(t.ones(2, 2, 3), [2, 2]),
    "weights of a normalization": lambda t: t.nn.functional.layer_norm(t.ones(2, 3), [3], t.ones(2)),
    "parts that are integers": lambda t: t.complex(t.ones(2), t.ones(2).int()),
    "parts of two dtypes": lambda t: t.polar(t.ones(2), t.ones(2).double()),
    "steps below 0": lambda t: t.linspace(0, 3, -1),
    "rows of ends": lambda t: t.logspace(t.ones(2), t.ones(2), 1),
    "an endless range": lambda t: t.arange(0, float("inf"), 2),
    "a range without steps": lambda t: t.arange(0, 3, 0),
    "an identity below 0": lambda t: t.eye(-1),
    "columns below 0": lambda t: t.eye(0, -3),
    "a layout of other axes": lambda t: t.empty_permuted([2], [0, 1]),
    "a layout with an axis twice": lambda t: t.empty_permuted([2, 3], [0, 0]),
    "extremes of nothing": lambda t: t.aminmax(t.ones(5, 0, 5)),
    "chances below 0": lambda t: t.multinomial(t.tensor([0.5, -1.0]), 2, replacement=True),
    "chances without a number": lambda t: t.multinomial(t.tensor([0.5, float("nan")]), 2, replacement=True),
    "chances drawn once each": lambda t: t.multinomial(t.tensor([0.5, -1.0]), 2),
    "a mean of integers": lambda t: t.mean(t.ones(2).long()),
    "a mean in integers": lambda t: t.mean(t.ones(2), dtype=t.int64),
}


@pytest.mark.parametrize("name", CASES)
def test_torchs_words_come_first(name):
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        CASES[name](torch)
    with pytest.raises((RuntimeError, IndexError)) as ours:
        CASES[name](sg)
    assert str(ours.value).startswith(str(theirs.value).rstrip(". ")), (str(ours.value), str(theirs.value))
    assert isinstance(ours.value, IndexError) == isinstance(theirs.value, IndexError)


@pytest.mark.parametrize("call", ["cholesky", "inv"])
def test_matrices_that_have_none(call):
    """torch adds the place on the diagonal."""
    with pytest.raises(RuntimeError) as theirs:
        getattr(torch.linalg, call)(torch.zeros(2, 2))
    with pytest.raises(sg.linalg.LinAlgError) as ours:
        getattr(sg.linalg, call)(sg.zeros(2, 2))
    last = re.split(r", | because ", re.sub(r" \(.*\)", "", str(theirs.value)))[-1]
    assert last.removesuffix(".") in str(ours.value)


LISTS = {
    "a NumPy number and a float": lambda t: [np.float32(1), 2.0],
    "a float and a NumPy number": lambda t: [2.0, np.float64(1)],
    "NumPy's half and an int": lambda t: [np.float16(1), 1],
    "NumPy numbers": lambda t: [np.float64(1), np.float32(2)],
    "NumPy and complex": lambda t: [np.float32(1), np.complex64(1j)],
    "a tensor and an int": lambda t: [t.tensor(1.0), 2],
    "tensors": lambda t: [[t.tensor(1.0, dtype=t.float64)], [t.tensor(2)]],
    "a bool and a float": lambda t: [True, 1.0],
    "ints and bools": lambda t: [[True, 2], [3, False]],
    "floats in rows": lambda t: [(1.0, 2), (3, 4.0)],
    "complex": lambda t: [1j, 2],
    "nothing": lambda t: [[]],
}


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize("name", LISTS)
def test_dtypes_of_lists(name, default):
    found = []
    for t in (sg, torch):
        before = t.get_default_dtype()
        t.set_default_dtype(getattr(t, default))
        try:
            found.append(t.tensor(LISTS[name](t)))
        finally:
            t.set_default_dtype(before)
    ours, theirs = found
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("t", [sg, torch], ids=lambda t: t.__name__)
def test_old_types_as_types(t):
    x = t.tensor([1.5, -2.5])
    assert x.type(t.DoubleTensor).dtype == t.float64
    assert x.type(t.LongTensor).tolist() == [1, -2]
    assert x.type("torch.DoubleTensor").dtype == t.float64
    assert x.type(t.float16).dtype == t.float16


SIZES = {
    "parts that do not make up the axis": lambda t: t.ones(7, 4).split([3, 3], 0),
    "a part of no size": lambda t: t.ones(7, 4).split(0),
    "a part of a negative size": lambda t: t.ones(7, 4).split(-1),
    "parts of negative sizes": lambda t: t.ones(7, 4).split([-1, 8]),
    "a part of a broken size": lambda t: t.ones(7, 4).split(2.5),
    "a new axis of any size": lambda t: t.ones(5).expand(-1, -1),
    "a size that does not stretch": lambda t: t.ones(5).expand(4),
    "too few sizes": lambda t: t.ones(1, 8, 1).expand(8, 1),
    "a size inside that does not stretch": lambda t: t.ones(1, 8, 1).expand(2, 3, 1),
    "a negative size": lambda t: t.ones(5).expand(2, -5),
    "an axis squeezed twice": lambda t: t.ones(2, 1, 3).squeeze((1, 1)),
    "too few axes": lambda t: t.ones(7, 4).permute(0),
    "an axis twice": lambda t: t.ones(7, 4).permute(0, 0),
    "an entry that is not there": lambda t: t.ones(7, 4).select(0, 9),
    "a window that is too wide": lambda t: t.ones(7, 4).unfold(0, 9, 1),
    "a window that does not move": lambda t: t.ones(7, 4).unfold(0, 2, 0),
    "a window of a negative size": lambda t: t.ones(7, 4).unfold(0, -1, 1),
    "too few repetitions": lambda t: t.ones(7, 4).repeat(2),
    "a format of several entries": lambda t: f"{t.ones(2):.2f}",
    "limits of integers": lambda t: t.finfo(t.int32),
    "limits of floating numbers": lambda t: t.iinfo(t.float32),
    "a random negative size": lambda t: t.rand(-1),
    "a text as value": lambda t: t.full((2,), "a"),
    "another word for a mean": lambda t: t.nn.functional.l1_loss(t.ones(3), t.ones(3), reduction="abc"),
    "another word for a mean of paths": lambda t: t.nn.functional.ctc_loss(
        t.ones(5, 1, 4), t.ones(1, 2).long(), t.tensor([5]), t.tensor([2]), reduction="abc"
    ),
    "targets of another shape": lambda t: t.nn.functional.soft_margin_loss(t.ones(5, 4), t.ones(5)),
    "cells of too few axes": lambda t: t.nn.functional.adaptive_avg_pool2d(t.ones(2, 2), (2, 2)),
    "cells of a line": lambda t: t.nn.functional.adaptive_max_pool1d(t.ones(2), 2),
    "cells of too many axes": lambda t: t.nn.functional.adaptive_max_pool2d(t.ones(1, 1, 1, 2, 2), 2),
    "no number of cells": lambda t: t.nn.functional.adaptive_max_pool2d(t.ones(1, 2, 3, 4), ()),
    "a window wider than the line": lambda t: t.nn.functional.max_pool1d(t.ones(2, 2, 2), 5, 1),
    "a window wider than the line, and places": lambda t: t.nn.functional.max_pool1d(
        t.ones(2, 2, 2), 5, 1, return_indices=True
    ),
    "solids of too few axes": lambda t: t.nn.functional.avg_pool3d(t.ones(1, 1, 4), 2),
    "empty solids": lambda t: t.nn.functional.max_pool3d(t.ones(2, 1, 0, 1, 2), 1),
    "shrinking below 0": lambda t: t.nn.functional.softshrink(t.ones(2), -0.5),
    "a window of halves": lambda t: t.signal.windows.hann(3, dtype=t.float16),
    "a window of no coefficients": lambda t: t.signal.windows.general_cosine(3, a=None),
    "broken steps": lambda t: t.linspace(0, 3, 1.0),
    "a step that is 0 in the dtype": lambda t: t.arange(0, 64, 0.5, dtype=t.int64),
    "a step that is 0 in the dtype of out": lambda t: t.arange(0, 64, 0.5, out=t.zeros(0, dtype=t.int64)),
    "a tensor joined": lambda t: t.cat(t.ones(2, 3)),
    "nothing stacked": lambda t: t.stack([]),
    "extremes along nothing": lambda t: t.aminmax(t.ones(5, 0, 5), dim=1),
    "chances that are integers": lambda t: t.multinomial(t.ones(2).long(), 1),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_do_not_fit(name: str) -> None:
    errors = []
    for t in (torch, sg):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            SIZES[name](t)
        errors.append(caught.value)
    assert isinstance(errors[1], type(errors[0]))
    assert str(errors[0]).partition(". ")[0][:100].rstrip(".") in str(errors[1])


@pytest.mark.parametrize("ends", [(0, 3, 1.5), (0.5, -4, -1), (0, 0.2, 1), (-2, 5.5, 2.7)])
def test_ranges_of_integers_from_floats(ends: tuple[float, ...]) -> None:
    assert sg.arange(*ends, dtype=sg.int64).tolist() == torch.arange(*ends, dtype=torch.int64).tolist()


@pytest.mark.parametrize("ends", [(0, 1.7e308, 5), (-1e307, 1e307, 7), (1e300, 1.1e300, 9), (-1e308, 0, 4)])
def test_ranges_to_the_largest_numbers(ends: tuple[float, ...]) -> None:
    ours, theirs = (t.linspace(*ends, dtype=t.float64).tolist() for t in (sg, torch))
    assert ours == theirs


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_broken_and_negative_sizes(name: str) -> None:
    for t in (torch, sg):
        with pytest.raises(RuntimeError):
            getattr(t, name)(2, -1)
        for size in (1.5, "a"):
            with pytest.raises(TypeError):
                getattr(t, name)(size)
    with pytest.raises(TypeError):
        sg.ones(7, 4).view(2.0, 14)


def _batch(t, *matrices, dtype="float64"):
    return t.stack([t.tensor(m, dtype=getattr(t, dtype)) for m in matrices])


SINGULAR = {
    "inv of zeros": lambda t: t.linalg.inv(t.zeros(3, 3)),
    "inv of dependent rows": lambda t: t.linalg.inv(t.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)),
    "inv of a column of zeros": lambda t: t.inverse(t.tensor([[1.0, 0.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.0, 1.0]])),
    "inv in a batch": lambda t: t.linalg.inv(_batch(t, np.eye(2), np.ones((2, 2)), np.zeros((2, 2)))),
    "inv in a batch of batches": lambda t: t.linalg.inv(_batch(t, np.eye(2), np.eye(2), np.zeros((2, 2)))[:, None]),
    "inv of complex": lambda t: t.linalg.inv(_batch(t, np.eye(2), np.eye(2) * 1j, np.diag([1j, 0]), dtype="complex64")),
    "solve in a batch": lambda t: t.linalg.solve(_batch(t, np.eye(2), np.zeros((2, 2))), t.ones(2, 2).double()),
    "cholesky": lambda t: t.linalg.cholesky(t.tensor([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, -1.0]])),
    "cholesky of a large one": lambda t: t.linalg.cholesky(t.diag(7.5 - t.arange(20.0))),
    "cholesky in a batch": lambda t: t.linalg.cholesky(_batch(t, np.eye(2), -np.eye(2), dtype="complex128")),
}


@pytest.mark.parametrize("case", SINGULAR)
def test_what_lapack_refuses(case: str) -> None:
    """Which matrix of a batch has no result, and where it fails, are torch's words to the letter."""
    errors = []
    for t in (torch, sg):
        with pytest.raises(RuntimeError) as caught:
            SINGULAR[case](t)
        errors.append(str(caught.value))
    assert errors[1].startswith(errors[0])


@pytest.mark.parametrize("how", ["a * b", "b * a", "a @ b", "b / a", "a - b", "a < b", "b >= a", "a & b", "a ** b"])
def test_operators_beside_a_tensor_of_torch(how: str) -> None:
    """Python's own words, "unsupported operand type(s) for *: 'Tensor' and 'Tensor'", would not tell what is wrong."""
    with pytest.raises(TypeError, match=r"torch.Tensor is no operand of symgrad's .*symgrad.tensor\(...\) makes one"):
        eval(how, {"a": sg.tensor([1.0]), "b": torch.tensor([2.0])})  # noqa: S307

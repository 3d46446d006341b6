"""Dtypes of tensors next to NumPy's: equal, hashed alike, and taken by NumPy's functions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

ALL = [sg.bool_, sg.uint8, sg.int8, sg.int16, sg.int32, sg.int64, sg.float16, sg.float32, sg.float64, sg.complex64]


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_equal_from_both_sides(dtype):
    of = np.dtype(dtype.name)
    assert dtype == of
    assert of == dtype
    assert dtype == of.type
    assert of.type == dtype
    assert dtype == dtype.name
    assert {of: "found"}[dtype] == {dtype: "found"}[of] == "found"
    assert dtype != "nothing of the kind"
    assert dtype is not None
    assert dtype != None  # noqa: E711  (code compares dtypes that may be absent)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_taken_by_numpy(dtype):
    of = np.dtype(dtype.name)
    made = np.zeros(2, dtype), np.ones(2).astype(dtype), np.array([1], dtype=dtype), np.add(True, False, dtype=dtype)
    assert {x.dtype for x in made if of.kind != "b"} <= {of}
    assert np.result_type(dtype, dtype) == of
    assert np.promote_types(dtype, np.bool_) == of
    assert np.can_cast(np.bool_, dtype)
    assert np.issubdtype(dtype, np.floating) == dtype.is_floating_point
    assert (str(dtype), repr(dtype), dtype.alignment) == (str(of), repr(of), of.alignment)


def test_bfloat16_has_torch_attributes():
    pytest.importorskip("ml_dtypes")
    assert sg.bfloat16.is_floating_point
    assert sg.bfloat16.to_complex() is sg.complex64
    assert sg.ones(2, dtype=sg.bfloat16).dtype is sg.bfloat16


def test_dtypes_cannot_be_changed():
    with pytest.raises(AttributeError, match="a dtype cannot be changed"):
        sg.float32.kind = "c"


def test_unknown_dtypes_are_refused():
    with pytest.raises(sg.errors.DtypeError, match="Did you mean 'float64'"):
        sg.dtype("flaot64")


def test_torchs_own_dtypes_are_equal_to_those_of_their_names():
    torch = pytest.importorskip("torch")
    for name in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool", "uint8", "int64"):
        own = getattr(sg, name)
        assert own == getattr(torch, name)
        assert getattr(torch, name) == own
        assert own != (torch.float64 if name != "float64" else torch.float32)

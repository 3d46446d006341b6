"""Memory read in another dtype, parts of complex numbers that are assigned, and transposes of what is no matrix."""

from __future__ import annotations

import numpy as np
import pytest


def test_memory_read_in_another_dtype(t):
    x = t.tensor([[1.0, -2.0], [0.5, 3.0]])
    bits = x.view(t.int32)
    assert bits.dtype == t.int32
    assert bits.tolist() == np.array([[1.0, -2.0], [0.5, 3.0]], np.float32).view(np.int32).tolist()
    assert bits.data_ptr() == x.data_ptr()
    bits[0, 0] = 0
    assert x[0, 0] == 0
    assert x._version == 1
    assert t.equal(x.view(t.uint8).view(t.float32), x)
    assert x.t().view(t.int32).stride() == (1, 2)


def test_wider_and_narrower_dtypes(t):
    x = t.arange(8, dtype=t.int32).view(2, 4)
    assert x.view(t.int64).shape == (2, 2)
    assert x.view(t.int64).stride() == (2, 1)
    assert x.view(t.int16).shape == (2, 8)
    assert x.view(t.float64).storage_offset() == 0
    assert x[1:].view(t.int64).storage_offset() == 2
    assert t.zeros(0, 4).view(t.float64).shape == (0, 2)
    assert t.tensor(1.0).view(t.int32).item() == 1065353216


REFUSED = {
    r"self.dim\(\) cannot be 0 to view Float as Double": lambda t: t.tensor(1.0).view(t.float64),
    r"self.stride\(-1\) must be 1 to view Float as Half .*, but got 3": lambda t: t.zeros(2, 3).t().view(t.float16),
    r"self.size\(-1\) must be divisible by 2 to view Float as Double .*, but got 3": (
        lambda t: t.zeros(2, 3).view(t.float64)
    ),
    r"self.storage_offset\(\) must be divisible by 2": lambda t: t.zeros(2, 4)[:, 1:3].view(t.float64),
    r"self.stride\(0\) must be divisible by 2": lambda t: t.zeros(2, 3)[:, :2].view(t.float64),
    "not supported for conjugate view tensors": lambda t: t.tensor([1j]).conj().view(t.float32),
}


@pytest.mark.parametrize("words", REFUSED)
def test_rows_that_do_not_fit(t, request, words):
    if "conjugate" in words and t.__name__ == "symgrad":
        pytest.skip("conjugates have memory of their own here")
    with pytest.raises(RuntimeError, match=words):
        REFUSED[words](t)


def test_bits_have_no_derivative(t):
    x = t.ones(2, 4, requires_grad=True)
    for dtype in (t.float32, t.float64, t.complex64, t.int32):
        assert not x.view(dtype).requires_grad


def test_parts_that_are_assigned(t):
    z = t.zeros(2, dtype=t.complex64)
    z.real = t.tensor([1, 2])
    z.imag = t.tensor([3.0, 4.0], dtype=t.float64)
    assert z.tolist() == [1 + 3j, 2 + 4j]
    x = t.zeros(2)
    x.real = t.tensor([5.0, 6.0])
    assert x.tolist() == [5, 6]
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        x.imag = t.tensor([5.0, 6.0])


def test_gradients_of_parts_that_are_assigned(t):
    z = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = t.tensor([5.0, 7.0], requires_grad=True)
    w = z * 1
    w.real = y
    assert w._version == 1
    (w * w).real.sum().backward()
    assert y.grad.tolist() == [10, 14]
    assert z.grad.tolist() == [-4j, 2j]


@pytest.mark.filterwarnings("ignore:.* is deprecated on 0-D tensors")
def test_transposes_of_numbers(t):
    z = t.tensor(1 + 2j)
    assert z.mT.item() == z.T.item() == 1 + 2j
    assert z.H.item() == z.mH.item() == z.adjoint().item() == 1 - 2j


TRANSPOSES = {"H": lambda x: x.H, "mT": lambda x: x.mT, "mH": lambda x: x.mH, "adjoint": lambda x: x.adjoint()}


@pytest.mark.parametrize("name", TRANSPOSES)
def test_transposes_of_vectors_are_refused(t, name):
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        TRANSPOSES[name](t.ones(3))


def test_matrices_have_two_axes(t):
    with pytest.raises(RuntimeError, match="consider using tensor.mH"):
        t.ones(2, 3, 4).H  # noqa: B018


def test_axes_by_name(t):
    x = t.ones(2, 3, 4)
    assert t.swapaxes(x, axis0=0, axis1=2).shape == x.swapaxes(axis0=-1, axis1=0).shape == (4, 3, 2)
    assert t.swapdims(x, dim0=0, dim1=2).shape == (4, 3, 2)

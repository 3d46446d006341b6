"""DLPack: memory shared with torch in both directions, and torch's words where it cannot be."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer
DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes_there_and_back(name: str) -> None:
    ours = sg.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(sg, name))
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype == getattr(torch, name)
    np.testing.assert_array_equal(theirs.numpy(), ours.numpy())
    back = sg.from_dlpack(theirs)
    assert back.dtype == ours.dtype
    assert back.data_ptr() == theirs.data_ptr() == ours.data_ptr()


def test_memory_is_shared() -> None:
    ours = sg.tensor([[1.0, 2.0], [3.0, 4.0]])
    theirs = torch.from_dlpack(ours)
    theirs[0, 0] = 9
    ours.add_(1)
    assert ours.tolist() == theirs.tolist() == [[10, 3], [4, 5]]
    a = torch.arange(6.0).reshape(2, 3)
    b = sg.from_dlpack(a.T)
    a.mul_(2)
    b[0, 1] = 7.0
    assert b.tolist() == a.T.tolist() == [[0, 7], [2, 8], [4, 10]]
    assert torch.from_dlpack(ours.T).tolist() == [[10, 4], [3, 5]]
    scalar = sg.tensor(2.0)
    torch.from_dlpack(scalar).add_(1)
    assert scalar.item() == 3
    assert torch.utils.dlpack.from_dlpack(ours.__dlpack__()).tolist() == ours.tolist()


def test_what_is_refused() -> None:
    words = "Can't export tensors that require gradient, use tensor.detach"
    for made, read in (
        (sg.ones(2, requires_grad=True), torch.from_dlpack),
        (torch.ones(2, requires_grad=True), sg.from_dlpack),
    ):
        with pytest.raises(BufferError, match=words):
            read(made)
        assert read(made.detach()).tolist() == [1, 1]
    with pytest.raises(TypeError, match="__dlpack__"):
        sg.from_dlpack([1.0])
    pytest.importorskip("ml_dtypes")
    with pytest.raises(BufferError, match=r"bfloat16: \.float\(\)"):
        sg.from_dlpack(torch.ones(2, dtype=torch.bfloat16))
    with pytest.raises(BufferError, match=r"bfloat16.*float\(\)"):
        torch.from_dlpack(sg.ones(2, dtype=sg.bfloat16))


def test_a_gradient_through_shared_memory() -> None:
    data: Any = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    x = sg.from_dlpack(data).requires_grad_()
    (x**3).sum().backward()
    np.testing.assert_allclose(torch.from_dlpack(x.grad), 3 * data**2)


def test_the_array_namespace() -> None:
    x = sg.tensor([1.0, 4.0], requires_grad=True)
    assert x.__array_namespace__(api_version="2023.12").sqrt(x).requires_grad
    assert np.from_dlpack(x.detach()).tolist() == [1, 4]
    assert x.__dlpack_device__() == np.ones(1).__dlpack_device__()


def test_capsules_go_there_and_back():
    """``utils.dlpack`` hands memory over by its capsule, once."""
    for giver, taker in itertools.product((sg, torch), repeat=2):
        x = giver.ones(2)
        capsule = giver.utils.dlpack.to_dlpack(x)
        y = taker.utils.dlpack.from_dlpack(capsule)
        x.mul_(3)
        assert y.tolist() == [3.0, 3.0]
    with pytest.raises(BufferError):
        sg.utils.dlpack.to_dlpack(sg.ones(2, requires_grad=True))

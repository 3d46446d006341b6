"""What code written for torch asks before it starts: devices, types by their old names, constructors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import DeviceError


def test_the_usual_first_lines():
    device = sg.device("cuda" if sg.cuda.is_available() else "cpu")
    sg.cuda.manual_seed_all(0)
    sg.cuda.empty_cache()
    assert sg.cuda.memory_allocated() == sg.cuda.max_memory_allocated() == 0
    x = sg.ones(2, 3, device=device, requires_grad=True)
    y = (x.to(device) * 2).cpu()
    assert x.device == y.device == sg.device("cpu")
    assert not x.is_cuda
    assert x.get_device() == -1
    assert x.to("cpu") is x
    assert x.to(sg.device("cpu"), sg.float64).dtype == sg.float64


def test_devices_are_values():
    assert repr(sg.device("cuda:1")) == "device(type='cuda', index=1)"
    assert sg.device("cuda", 1) == sg.device("cuda:1") == sg.device(sg.device("cuda:1"))
    assert str(sg.device("cuda:1")) == "cuda:1"
    assert len({sg.device("cpu"), sg.device("cpu")}) == 1
    assert pickle.loads(pickle.dumps(sg.device("cuda:1"))) == sg.device("cuda:1")
    for bad in ("CPU!", 3, "cuda:x"):
        with pytest.raises(ValueError, match="a device is named"):
            sg.device(bad)


def test_other_devices_are_refused():
    x = sg.ones(2)
    with pytest.raises(DeviceError, match="there is no device"):
        x.cuda()
    with pytest.raises(RuntimeError, match="there is no device 'cuda:0'"):
        x.to("cuda:0")
    with pytest.raises(AssertionError, match="there is no device 'mps'"):
        x.to(device="mps")


DTYPES = "float16 float32 float64 complex64 complex128 int64 int32 int16 int8 uint8 bool".split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_by_their_old_names(dtype):
    x = sg.ones(2, dtype=np.dtype(dtype))
    name = x.type()
    assert name.startswith("torch.")
    assert sg.ones(2).type(name).dtype == x.dtype
    made = getattr(sg, name.removeprefix("torch."))
    assert made([1, 0]).dtype == x.dtype
    assert made(2, 3).shape == (2, 3)
    torch = pytest.importorskip("torch")
    assert name == torch.ones(2, dtype=getattr(torch, dtype)).type()


@pytest.mark.filterwarnings("ignore:.*set_default_tensor_type.. is deprecated")
def test_the_default_type():
    try:
        with pytest.warns(UserWarning, match=r"torch.set_default_tensor_type\(\) is deprecated as of PyTorch 2.1"):
            sg.set_default_tensor_type("torch.DoubleTensor")
        assert sg.tensor(1.0).dtype == sg.float64
        sg.set_default_tensor_type(sg.FloatTensor)
        assert sg.tensor(1.0).dtype == sg.float32
        with pytest.raises(TypeError, match="floating"):
            sg.set_default_tensor_type("torch.LongTensor")
    finally:
        sg.set_default_dtype(sg.float32)


def test_sizes_and_vmap_at_the_top():
    assert sg.Size([2, 3]) == sg.ones(2, 3).shape == (2, 3)
    assert repr(sg.Size((2,))) == "torch.Size([2])"
    np.testing.assert_array_equal(sg.vmap(lambda row: row.sum())(sg.ones(2, 3)), [3.0, 3.0])


def test_settings_of_other_libraries_may_be_set():
    sg.backends.cudnn.deterministic = True
    sg.backends.cuda.matmul.allow_tf32 = False
    assert not sg.backends.mps.is_available()
    sg.set_float32_matmul_precision("high")
    assert sg.get_float32_matmul_precision() == "high"
    sg.set_float32_matmul_precision("highest")
    with pytest.warns(UserWarning, match="low is not one of"):
        sg.set_float32_matmul_precision("low")
    x = sg.ones(2, requires_grad=True)
    assert x.is_cpu
    assert not x.is_xpu
    assert sg.detach(x).data_ptr() == x.data_ptr()
    assert not sg.detach_(x * 2).requires_grad


def test_what_training_loops_ask_of_devices_that_are_not_there():
    assert sg.cuda.OutOfMemoryError is sg.OutOfMemoryError
    assert issubclass(sg.OutOfMemoryError, RuntimeError)
    assert sg.accelerator.current_accelerator(check_available=True) is None
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        sg.accelerator.synchronize()
    assert (sg.cuda.memory_reserved(), sg.cuda.max_memory_reserved(), sg.cuda.is_initialized()) == (0, 0, False)
    assert not sg.cuda.is_bf16_supported()
    leaf = (sg.ones(1, requires_grad=True) * 2).grad_fn.next_functions[0][0]
    assert leaf._sequence_nr() == 2**64 - 1  # as in torch: before all others

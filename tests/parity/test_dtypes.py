"""float16, bfloat16, float32 and complex64 against torch, over torch's own list of operators and samples.

What is compared for every operator that torch runs on the CPU in a dtype: the results' dtypes and values, and the
dtypes and values of the gradients, to the dtype's precision.
"""

from __future__ import annotations

import functools
import types
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
pytest.importorskip("ml_dtypes")
database = pytest.importorskip("torch.testing._internal.common_methods_invocations")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

DTYPES = ("float16", "bfloat16", "float32", "complex64")
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}
SAMPLES = 4
"""Samples of each operator; torch lists the plain ones first."""


class Untold(Exception):
    """A sample that cannot be expressed here, or to which torch gives no dependable answer."""


# ---------------------------------------------------------------------------------------------- between the libraries


def array_of(tensor: Any) -> Any:
    """The values of a tensor of either library."""
    tensor = tensor.detach()
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.clone().resolve_conj().resolve_neg()
        if tensor.dtype == torch.bfloat16:
            return tensor.float().numpy().astype(sg.bfloat16)
    return tensor.numpy()


def name_of(dtype: Any) -> str:
    """A dtype's name, alike for both libraries."""
    return str(dtype).removeprefix("torch.")


class Ours:
    """A sample's arguments as symgrad has them; ``leaves`` are those that require grad."""

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self.leaves: list[Any] = []

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.known:
                if value.layout != torch.strided or value.dtype == torch.complex32:
                    raise Untold(str(value.dtype))
                made = sg.tensor(array_of(value), requires_grad=value.requires_grad)
                self.known[id(value)] = made
                if value.requires_grad:
                    self.leaves.append(made)
            return self.known[id(value)]
        if isinstance(value, torch.Size):
            return tuple(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(self, value))
        if isinstance(value, dict):
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, torch.dtype):
            return getattr(sg, name_of(value))
        if isinstance(value, (types.FunctionType, functools.partial)):
            return meaning_ours(value)
        if value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str)):
            return value
        raise Untold(type(value).__name__)


def meaning_ours(function: Any) -> Any:
    """One of torch's testing functions with ``torch`` meaning symgrad."""
    if isinstance(function, functools.partial):
        return functools.partial(meaning_ours(function.func), *function.args, **function.keywords)
    scope = {k: sg if v is torch else v for k, v in function.__globals__.items()}
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def ours_of(entry: Any) -> Any:
    """symgrad's function for an operator of torch's list, or None."""
    inner = entry.op.func if isinstance(entry.op, functools.partial) else entry.op
    if "testing" in getattr(getattr(inner, "__code__", None), "co_filename", ""):
        return meaning_ours(entry.op)
    found: Any = sg
    for part in entry.name.split("."):
        found = getattr(found, part, None)
    if callable(found) and not isinstance(found, type):
        return found
    if "." in entry.name or callable(getattr(torch, entry.name, None)):
        return None
    return getattr(sg.Tensor, entry.name, None)


def tensors_in(value: Any) -> list[Any]:
    """The tensors of a nested result."""
    if isinstance(value, (torch.Tensor, sg.Tensor)):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (list, tuple)) else []


def leaves_in(sample: Any) -> list[Any]:
    """The leaves of a sample in the order in which ``Ours`` meets them."""
    found: dict[int, Any] = {}
    for t in tensors_in([sample.input, list(sample.args), dict(sample.kwargs)]):
        if t.requires_grad:
            found.setdefault(id(t), t)
    return list(found.values())


# ---------------------------------------------------------------------------------------------- one sample


def applied(entry: Any, function: Any, sample: Any, read: Any) -> list[Any]:
    """The results of an operator on a sample, as torch's own gradient tests take them."""
    args = read([sample.input, *sample.args])
    options = read(dict(sample.kwargs))
    wrapper, after = entry.gradcheck_wrapper, sample.output_process_fn_grad
    if read is not same:
        wrapper, after = wrapper and meaning_ours(wrapper), after and meaning_ours(after)
    out = wrapper(function, *args, **options) if wrapper is not None else function(*args, **options)
    return tensors_in(after(out) if after is not None else out)


def same(value: Any) -> Any:
    """torch's own reading of a sample."""
    return value


def weighted(outs: list[Any], space: Any) -> tuple[list[Any], list[Any]]:
    """The results that have a gradient, and a cotangent of small whole numbers for each."""
    chosen, seeds = [], []
    for out in outs:
        if out.requires_grad:
            shape = tuple(out.shape)
            weights = (np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) % 3 + 1) / 2
            chosen.append(out)
            seeds.append(space.tensor(weights).to(out.dtype))
    return chosen, seeds


def answers(entry: Any, function: Any, sample: Any, space: Any) -> tuple[list[Any], list[Any]]:
    """Results and gradients of a sample in one of the libraries."""
    read = same if space is torch else Ours()
    outs = applied(entry, function, sample, read)
    leaves = leaves_in(sample) if space is torch else read.leaves
    chosen, seeds = weighted(outs, space)
    if not chosen or not leaves:
        return outs, []
    return outs, list(space.autograd.grad(chosen, leaves, seeds, allow_unused=True))


def wanted(entry: Any, sample: Any) -> tuple[list[Any], list[Any]]:
    """torch's answer; ``Untold`` where it refuses, or answers something else the next time."""
    try:
        torch.manual_seed(0)
        outs, grads = answers(entry, entry.op, sample, torch)
        torch.manual_seed(1)
        again = applied(entry, entry.op, sample, same)
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        raise Untold(str(error)) from None
    if any(t.dtype == torch.complex32 or t.layout != torch.strided for t in [*outs, *(g for g in grads if g is not None)]):
        raise Untold("complex32")
    if any(not torch.equal(a.detach().nan_to_num(), b.detach().nan_to_num()) for a, b in zip(outs, again, strict=True)):
        raise Untold("random")
    return outs, grads


def compare(got: Any, want: Any, tolerance: float, what: str) -> None:
    """Equal dtypes and shapes, and values equal up to ``tolerance`` of the largest entry."""
    assert name_of(got.dtype) == name_of(want.dtype), f"{what}: dtype {got.dtype}, torch has {want.dtype}"
    a, b = array_of(got), array_of(want)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, torch has {b.shape}"
    if b.dtype.kind in "biu":
        np.testing.assert_array_equal(a, b, err_msg=what)
        return
    wide = np.complex128 if b.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    scale = max(1.0, float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b))))
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=what)


ENTRIES = {f"{e.name}{'-' + e.variant_test_name if e.variant_test_name else ''}": e for e in database.op_db}


def check(name: str, dtype: str, count: int) -> int:
    """Compare the first samples of an operator; the number of them to which torch has an answer."""
    entry = ENTRIES[name]
    function = ours_of(entry)
    if function is None or getattr(torch, dtype) not in entry.supported_dtypes("cpu"):
        pytest.skip(f"not here, or torch has no {dtype}")
    told = 0
    backward = getattr(torch, dtype) in entry.supported_backward_dtypes("cpu")
    samples = entry.sample_inputs("cpu", getattr(torch, dtype), requires_grad=backward)
    for k, sample in zip(range(count), samples, strict=False):
        try:
            outs, grads = wanted(entry, sample)
            mine, slopes = answers(entry, function, sample, sg)
        except Untold:
            continue
        told += 1
        assert len(mine) == len(outs)
        for i, (a, b) in enumerate(zip(mine, outs, strict=True)):
            compare(a, b, 16 * EPSILON[dtype], f"{name} {dtype}, sample {k}, result {i}")
        for i, (a, b) in enumerate(zip(slopes, grads, strict=False)):
            if a is not None and b is not None:
                compare(a, b, 64 * EPSILON[dtype], f"{name} {dtype}, sample {k}, gradient {i}")
    return told


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ENTRIES)
def test_dtype(name: str, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(name, dtype, SAMPLES)

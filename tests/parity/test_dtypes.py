"""float16, bfloat16, float32 and complex64 against torch, over torch's own list of operators and samples.

What is compared for every operator that torch runs on the CPU in a dtype: the results' dtypes and values, and the
dtypes and values of the gradients, to the dtype's precision.
"""

from __future__ import annotations

import functools
import types
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
EPSILON |= {"float64": 2.0**-52, "complex128": 2.0**-52}
TIES = {"sort", "argsort", "msort", "topk", "mode", "median", "nanmedian", "kthvalue"}
"""Which of equal entries comes first is open, and so is which has the gradient; few digits make many equal entries."""
LOST = {("logcumsumexp", "float16")}
"""torch's samples go to 10⁴, where a result rounded to float16 leaves no digit of e^(x - result)."""
SKIPPED = {
    "normal": "random", "bernoulli": "random", "nn.functional.rrelu": "random",
    "nn.functional.fractional_max_pool2d": "random", "nn.functional.fractional_max_pool3d": "random",
    "as_strided": "the memory behind a sample is not copied",
    "max_pool2d_with_indices_backward": "called below the public functions", "to_sparse": "sparse",
    "zero_": "in place on a leaf", "as_strided_scatter": "torch's gradient is not the slope of its own values",
    "nn.functional.multi_head_attention_forward": "random", "grid_sampler_3d": "slow",
    "svd_lowrank": "random", "pca_lowrank": "random",
}  # fmt: skip


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
    if entry.name.startswith("masked."):
        return [unmasked_zeroed(entry, sample, t) for t in tensors_in(function(*args, **options))]
    if read is not same:
        wrapper, after = wrapper and meaning_ours(wrapper), after and meaning_ours(after)
    out = wrapper(function, *args, **options) if wrapper is not None else function(*args, **options)
    return tensors_in(after(out) if after is not None else out)


def unmasked_zeroed(entry: Any, sample: Any, out: Any) -> Any:
    """A masked operation's result with zeros where torch leaves it undefined."""
    if sample.kwargs.get("mask") is None:
        return out
    defined = torch.masked._output_mask(entry.op, sample.input, *sample.args, **sample.kwargs)
    space = torch if isinstance(out, torch.Tensor) else sg
    return space.where(space.tensor(defined.numpy()), out, space.zeros_like(out))


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
    found = [*outs, *(g for g in grads if g is not None)]
    if any(t.dtype == torch.complex32 or t.layout != torch.strided for t in found):
        raise Untold("complex32")
    if any(not torch.equal(a.detach().nan_to_num(), b.detach().nan_to_num()) for a, b in zip(outs, again, strict=True)):
        raise Untold("random")
    return outs, grads


def described(tensor: Any) -> tuple[str, tuple[int, ...]]:
    """What must be equal exactly."""
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)


def wide(tensor: Any) -> Any:
    """The values in double precision."""
    values = array_of(tensor)
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def error(got: Any, want: Any, unit: float) -> float:
    """The largest difference in units of the dtype's rounding; infinite where only one of them is finite."""
    finite = np.isfinite(want)
    scale = max(1.0, float(np.max(np.abs(want), initial=0.0, where=finite)))
    with np.errstate(all="ignore"):
        off = np.where(
            finite, np.abs(got - want), np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.inf)
        )
        return float(
            np.max(np.nan_to_num(off / (unit * (np.abs(np.where(finite, want, 0)) + scale)), nan=np.inf), initial=0.0)
        )


def compare(entry: Any, sample: Any, got: list[Any], want: list[Any], which: int, limit: float, what: str) -> None:
    """Equal dtypes and shapes, and values within ``limit`` roundings of torch's.

    Where torch is farther than that from its own answer in double precision, being as near to that one is enough.
    """
    exact: list[Any] | None = None
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        if a is None or b is None:
            assert b is None or not array_of(b).any(), f"{what} {i}: no gradient, torch has {b}"
            continue
        assert described(a) == described(b), f"{what} {i}: {described(a)}, torch has {described(b)}"
        if array_of(b).dtype.kind in "biu":
            if not tied(entry, sample):
                np.testing.assert_array_equal(array_of(a), array_of(b), err_msg=f"{what} {i}")
            continue
        unit = EPSILON[described(b)[0]]
        off = error(wide(a), wide(b), unit)
        if off > limit:
            exact = answers(entry, entry.op, doubled(sample), torch)[which] if exact is None else exact
            truth = wide(exact[i])
            ours, theirs = error(wide(a), truth, unit), error(wide(b), truth, unit)
            assert ours <= max(limit, theirs), f"{what} {i}: off torch by {off:.3g}, off the truth by {ours:.3g}"


def tied(entry: Any, sample: Any) -> bool:
    """Whether an operator that orders may meet equal entries: the dtype has few values."""
    return entry.name in TIES and sample.input.dtype in (torch.float16, torch.bfloat16)


def doubled(sample: Any) -> Any:
    """The sample in double precision."""

    def widened(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            kind = torch.complex128 if value.is_complex() else torch.float64
            return value.detach().to(kind).requires_grad_(value.requires_grad)
        if isinstance(value, torch.dtype) and value in (torch.float16, torch.bfloat16, torch.float32):
            return torch.float64
        return value

    return sample.transform(widened)


ENTRIES = {
    f"{e.name}{'-' + e.variant_test_name if e.variant_test_name else ''}": e
    for e in database.op_db
    if e.supports_autograd and "dropout" not in e.name and e.name not in SKIPPED
}


def check(name: str, dtype: str, count: int) -> int:
    """Compare the first samples of an operator; the number of them to which torch has an answer."""
    entry = ENTRIES[name]
    function = ours_of(entry)
    if function is None or (name, dtype) in LOST or getattr(torch, dtype) not in entry.supported_dtypes("cpu"):
        return 0
    told = 0
    torch.manual_seed(7)
    backward = getattr(torch, dtype) in entry.supported_backward_dtypes("cpu")
    samples = entry.sample_inputs("cpu", getattr(torch, dtype), requires_grad=backward)
    for k, sample in zip(range(count), samples, strict=False):
        if any("dropout" in option and sample.kwargs[option] for option in sample.kwargs):
            continue
        try:
            outs, grads = wanted(entry, sample)
            mine, slopes = answers(entry, function, sample, sg)
        except Untold:
            continue
        told += 1
        assert len(mine) == len(outs)
        compare(entry, sample, mine, outs, 0, 16, f"{name} {dtype}, sample {k}, result")
        if not tied(entry, sample):
            compare(entry, sample, slopes, grads, 1, 64, f"{name} {dtype}, sample {k}, gradient")
    return told


@pytest.mark.parametrize("name", ENTRIES)
def test_the_first_samples(name: str) -> None:
    if not sum(check(name, dtype, 2) for dtype in DTYPES):
        pytest.skip("not here, or torch has no answer")


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_more_samples(name: str) -> None:
    if not sum(check(name, dtype, 40) for dtype in DTYPES):
        pytest.skip("not here, or torch has no answer")


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", "complex64", None])
def test_limits(name):
    ours, theirs = (t.finfo(*([] if name is None else [getattr(t, name)])) for t in (sg, torch))
    assert repr(ours) == repr(theirs)
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, field) == getattr(theirs, field)
        assert type(getattr(ours, field)) is type(getattr(theirs, field))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_rearranged_whole_numbers(dtype):
    for program in (
        lambda t, x: t.diag(x[0]),
        lambda t, x: t.diag_embed(x),
        lambda t, x: t.einsum("ij->ji", x),
        lambda t, x: t.einsum("ij->", x),
        lambda t, x: t.einsum("ij,kj->ik", x, x),
        lambda t, x: t.einsum("ij,kj,kl->il", x, x, x),
    ):
        mine, theirs = (program(t, t.tensor([[1, 2], [3, 4]], dtype=getattr(t, dtype))) for t in (sg, torch))
        assert name_of(mine.dtype) == name_of(theirs.dtype)
        assert mine.tolist() == theirs.tolist()

"""float32 agrees with torch to the last digit where torch rounds as IEEE arithmetic does: the order of sums, the
precision of running results; and nearly always where a smooth function is within a rounding error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.parity.processors import fuses_elimination

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


def drawn(rng: np.random.Generator, *shape: int) -> Any:
    return np.round(rng.standard_normal(shape), 3).astype(np.float32)


def both(call: Callable[..., Any], *arrays: Any) -> tuple[Any, Any]:
    """The results of both libraries, as arrays."""
    ours = call(sg, *map(sg.tensor, arrays))
    theirs = call(torch, *map(torch.tensor, arrays))
    return np.asarray(ours.detach().numpy()), np.asarray(theirs.detach().numpy())


SHAPES = [(3,), (6,), (7,), (9,), (35,), (2, 3), (3, 2), (3, 3), (5, 9), (2, 3, 2), (3, 1, 40), (2, 3, 4, 5), (1000,)]
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda t, x, d: x.sum(d),
    "mean": lambda t, x, d: x.mean(d),
    "nansum": lambda t, x, d: x.nansum(d),
    "var": lambda t, x, d: x.var(d, correction=0),
    "std": lambda t, x, d: x.std(d, correction=0),
    "norm": lambda t, x, d: t.linalg.vector_norm(x, dim=d),
    "norm 1": lambda t, x, d: t.linalg.vector_norm(x, 1, dim=d),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    rng = np.random.default_rng(3)
    call = REDUCTIONS[name]
    for shape in SHAPES:
        x = drawn(rng, *shape)
        for dims in {(0,), (len(shape) - 1,), tuple(range(len(shape))), tuple(range(0, len(shape), 2))}:
            if name == "norm" and (len(dims) > 1 or x.size > 40):
                continue
            ours, theirs = both(lambda t, a, dims=dims: call(t, a, dims), x)
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{shape} {dims}")


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_sums_of_views(dtype: Any) -> None:
    """The order follows the memory: turned, sliced and expanded tensors."""
    rng = np.random.default_rng(4)
    for shape in SHAPES[5:-1]:
        x = (drawn(rng, *shape) + (1j * drawn(rng, *shape) if dtype is np.complex64 else 0)).astype(dtype)
        for view in (
            lambda a: a.transpose(0, -1),
            lambda a: a[..., ::2],
            lambda a: a[1:],
            lambda a: a.unsqueeze(1).expand(a.shape[0], 3, *a.shape[1:]),
        ):
            for dims in ((0,), (-1,), (0, 1), (0, -1), None):
                if dims == (0, -1) and len(shape) < 2:
                    continue
                ours, theirs = both(lambda t, a, view=view, dims=dims: view(a).sum(dims), x)
                np.testing.assert_array_equal(ours, theirs, err_msg=f"{shape} {dims}")


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_running_results(name: str) -> None:
    rng = np.random.default_rng(5)
    for shape in ((9,), (3, 3), (2, 3, 2)):
        for dim in range(len(shape)):
            ours, theirs = both(lambda t, a, dim=dim: getattr(a, name)(dim), drawn(rng, *shape))
            np.testing.assert_array_equal(ours, theirs)


def test_gradients_are_summed_in_the_same_order() -> None:
    """What broadcasting spread is summed back."""
    rng = np.random.default_rng(6)
    for narrow, wide in (((3, 1), (3, 7)), ((9,), (5, 9)), ((), (2, 3)), ((2, 1, 2), (2, 6, 2))):
        arrays = (drawn(rng, *narrow), drawn(rng, *wide))
        found = []
        for t in (sg, torch):
            a, b = (t.tensor(x, requires_grad=True) for x in arrays)
            (a * b * b).sum().backward()
            found.append((a.grad.numpy(), b.grad.numpy()))
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_array_equal(ours, theirs)


SMOOTH = {
    "exp": 3, "expm1": 3, "sin": 12, "cos": 15, "tanh": 3, "sinh": 3, "cosh": 3, "asinh": 3, "exp2": 3, "erf": 5,
    "sigmoid": 3, "sinc": 4, "deg2rad": 0,
}  # fmt: skip
SMOOTH_POSITIVE = {"log": 20, "log1p": 3, "log2": 3, "log10": 3, "rsqrt": 0, "digamma": 3, "acosh": 3}


@pytest.mark.parametrize("name", [*SMOOTH, *SMOOTH_POSITIVE])
def test_smooth_functions(name: str) -> None:
    """Percent of entries that differ and are not the nearest float32, at most.

    With NumPy's own float32 functions a third of exp does; the C library's sinh, which torch calls, is rounded wrongly
    in as many entries.
    """
    x = drawn(np.random.default_rng(7), 1000)
    limit = SMOOTH.get(name)
    if limit is None:
        limit, x = SMOOTH_POSITIVE[name], np.abs(x) + np.float32(1)
    pairs = [both(lambda t, a: getattr(t, name)(a), x[k : k + 5]) for k in range(0, 1000, 5)]
    ours, theirs = (np.concatenate(side) for side in zip(*pairs, strict=True))
    nearest = getattr(torch, name)(torch.tensor(x, dtype=torch.float64)).numpy().astype(np.float32)
    assert 100 * np.mean((ours != theirs) & (ours != nearest)) <= limit
    np.testing.assert_allclose(ours, theirs, rtol=4e-7, atol=1e-7)


def test_float32_is_rounded_once() -> None:
    """Independent of the peer: the nearest float32 to the true value."""
    x = drawn(np.random.default_rng(8), 200)
    for name in ("exp", "expm1", "sin", "cos", "tanh"):
        want = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
        np.testing.assert_array_equal(getattr(sg, name)(sg.tensor(x)).numpy(), want)
        np.testing.assert_array_equal(getattr(sg, name)(x), want)


SLOPES = ["log", "log1p", "log2", "sqrt", "atan", "tanh", "sigmoid", "reciprocal", "square", "logit"]


@pytest.mark.parametrize("name", SLOPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_slopes(name: str, dtype: Any) -> None:
    """Derivatives do torch's operations in torch's order; in float16 every one of them is rounded."""
    x = (np.abs(drawn(np.random.default_rng(9), 15)) + np.float32(0.5)).astype(dtype)
    weights = drawn(np.random.default_rng(10), 15).astype(dtype)
    x = x / 8 if name == "logit" else x
    if name == "sqrt" and dtype is np.float32:
        x = np.float32(1) / 4 * np.arange(1, 16, dtype=np.float32) ** 2  # torch's root is not the nearest number
    for power in (1, 4):
        found = []
        for t in (sg, torch):
            a = t.tensor(x, requires_grad=True)
            (getattr(a, name)() ** power).backward(t.tensor(weights))
            found.append(a.grad.numpy())
        if power == 1 or dtype is np.float16:
            np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(*found, rtol=2e-3 if dtype is np.float16 else 1e-6)


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_that_are_given_get_the_dtype_of_the_result(recorded: bool) -> None:
    found = []
    for t in (sg, torch):
        x = t.tensor(np.array([0.422, 1.766]), requires_grad=True)
        g = t.tensor(np.array([0.422, 1.766]))
        (slope,) = t.autograd.grad(x.half(), [x], [g], create_graph=recorded)
        found.append(slope.detach().numpy())
    np.testing.assert_array_equal(*found)


def test_alpha_scales_what_is_promoted_already() -> None:
    for name in ("add", "sub"):
        ours, theirs = both(
            lambda t, a, b, name=name: getattr(t, name)(a, b, alpha=3), np.array([0.932]), np.float16([0.932])
        )
        np.testing.assert_array_equal(ours, theirs)


def test_numbers_added_to_float16_are_rounded() -> None:
    """torch rounds a number to float16 before it is added, though not before it is a factor."""
    x = np.random.default_rng(12).standard_normal(200).astype(np.float16)
    for call in (lambda t, a: a + 0.1, lambda t, a: 0.1 - a, lambda t, a: a * 0.1, lambda t, a: a / 3):
        ours, theirs = both(call, x)
        np.testing.assert_array_equal(ours, theirs)


def test_the_derivative_of_digamma_to_the_last_digit() -> None:
    x = (np.abs(np.random.default_rng(0).standard_normal((50, 7))) + 0.5).astype(np.float32)
    here, there = (t.polygamma(1, t.tensor(x)).numpy() for t in (sg, torch))
    np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8])
def test_determinants(rows: int) -> None:
    """Elimination with torch's roundings; the gradient is made of that result, in float64, and rounded."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        b = drawn(rng, rows, 3)
        x = b @ b.T + 2 * np.eye(rows, dtype=np.float32)
        for given in (x, drawn(rng, rows, rows)):
            here, there = both(lambda t, a: t.linalg.det(a), given)
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-5 * (1 + abs(there)) if fuses_elimination() else 0)
        a = sg.tensor(x, requires_grad=True)
        out = sg.linalg.det(a)
        out.backward()
        made = np.float64(out.numpy(force=True)) * np.linalg.inv(x.astype(np.float64)).T
        np.testing.assert_array_equal(a.grad.numpy(), made.astype(np.float32))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu", "softplus"])
def test_a_derivative_of_one_kernel_is_rounded_once(name: str, dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(3)
    values, seed = rng.normal(0, 2, 500).astype(np.float32), rng.normal(0, 1, 500).astype(np.float32)
    grads = []
    for t in (sg, torch):
        x = t.tensor(values, dtype=getattr(t, dtype), requires_grad=True)
        getattr(t.nn.functional, name)(x).backward(t.tensor(seed, dtype=getattr(t, dtype)))
        grads.append(x.grad.float().numpy())
    np.testing.assert_array_equal(*grads)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_gradient_of_logaddexp2_where_one_operand_is_far_below(dtype: str) -> None:
    found = []
    for module in (sg, torch):
        x = module.tensor([-100.0, -10.0, 3.0, 7.0], dtype=getattr(module, dtype), requires_grad=True)
        module.logaddexp2(x, module.tensor([10.0, 3.0, 3.0, -20.0], dtype=getattr(module, dtype))).sum().backward()
        found.append(x.grad.to(getattr(module, "float64")).numpy())
    np.testing.assert_allclose(*found, rtol={"float16": 1e-3, "bfloat16": 1e-2, "float32": 3e-7}[dtype])


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_losses_of_logits_far_out_keep_their_digits(dtype: str) -> None:
    x = sg.tensor([-40.0, -10.0, 40.0, 10.0], dtype=getattr(sg, dtype), requires_grad=True)
    target = sg.tensor([0.0, 0.0, 1.0, 1.0], dtype=x.dtype)
    value = sg.nn.functional.binary_cross_entropy_with_logits(x, target, reduction="none")
    value.sum().backward()
    far = np.exp([-40.0, -10.0, -40.0, -10.0])
    tolerance = {"bfloat16": 1e-2, "float32": 3e-7, "float64": 1e-15}[dtype]
    np.testing.assert_allclose(value.detach().to(sg.float64).numpy(), np.log1p(far), rtol=tolerance)
    np.testing.assert_allclose(x.grad.to(sg.float64).numpy(), far / (1 + far) * [1, 1, -1, -1], rtol=tolerance)

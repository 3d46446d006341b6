"""How often torch's functions change their own result: ``_version`` of what no graph records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

SHAPES = [(), (3,), (3, 3), (2, 1, 3)]
OF_ONE = (
    "abs amax amin any all clone deg2rad exp sin sqrt neg floor frac sigmoid mean sum prod rad2deg relu isnan "
    "logical_not var std"
).split()
OF_TWO = "add sub mul div maximum atan2 fmax hypot eq gt logical_and complex matmul".split()
ALONG = ["amax", "amin", "any", "all", "mean", "sum", "prod", "logsumexp", "softmax", "argmax"]
CASTS = ["int", "half", "bool", "cfloat"]
MATRICES = ["linalg.inv", "linalg.det", "linalg.solve", "mm", "tril", "trace"]


def versions(t: Any, name: str, inference: bool, shapes: Any, *more: Any, **options: Any) -> Any:
    space, _, last = name.rpartition(".")
    function = getattr(t.Tensor, last) if last in CASTS else getattr(getattr(t, space) if space else t, last)
    values = [np.random.default_rng(k).uniform(0.5, 2, shape) for k, shape in enumerate(shapes)]
    with t.inference_mode(inference):
        args = [t.tensor(value) for value in values]
    return function(*args, *more, **options)._version


def compare(name: str, *given: Any, **options: Any) -> None:
    for inference in (True, False):
        assert versions(sg, name, inference, *given, **options) == versions(torch, name, inference, *given, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", OF_ONE + CASTS)
def test_functions_of_one(name: str, shape: Any) -> None:
    compare(name, [shape])


@pytest.mark.parametrize("shape", SHAPES[1:3])
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name: str, shape: Any) -> None:
    compare(name, [shape, shape])


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("name", ALONG)
def test_functions_along_an_axis(name: str, shape: Any) -> None:
    compare(name, [shape], dim=-1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_that_keep_their_axis(name: str, shape: Any) -> None:
    for keepdim in (True, False):
        found = [[part._version for part in extremes(t, name, shape, keepdim)] for t in (sg, torch)]
        assert found[0] == found[1]


def extremes(t: Any, name: str, shape: Any, keepdim: bool) -> Any:
    with t.inference_mode():
        x = t.ones(shape)
    return getattr(x, name)(-1, keepdim)


@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices(name: str) -> None:
    compare(name, [(3, 3)] * (2 if name in ("linalg.solve", "mm") else 1))


WHOLE = [
    "x.flip(0)", "x.tile((2,))", "x.repeat(2, 1, 1)", "x.nansum()", "x.nan_to_num()", "x.max()", "x.max(dim=0)",
    "x.min(dim=-1)", "x.median(dim=0)", "x.mode(dim=0)", "x.kthvalue(1, dim=0)", "x.sort(dim=0)", "x.msort()",
    "x.topk(1, dim=0)", "x.cummax(dim=0)", "x.aminmax(dim=0)", "x.argmin(dim=0)", "x.argsort()", "x.cumsum(0)",
    "x.cumprod(0)", "x.norm()", "x.norm(p=1)", "t.linalg.vector_norm(x)",
    "t.linalg.vector_norm(x, dim=0)", "t.linalg.norm(x, dim=0)",
    "t.var_mean(x)", "t.std_mean(x, dim=0)", "x.std()", "x.var(dim=0)",
    "x.std(dim=-1)", "x.mean()", "2 ** x", "x ** 0", "x ** 1", "x ** 2", "x ** x", "x.floor()", "x.angle()",
    "x.isfinite()", "x.isreal()", "x.nonzero()", "t.isclose(x, x)", "t.nn.functional.hardtanh(x)",
    "t.nn.functional.relu6(x)",
    "t.nn.functional.mse_loss(x, x)", "t.nn.functional.mse_loss(x, x, reduction='none')",
    "t.nn.functional.smooth_l1_loss(x, x)", "t.nn.functional.pad(x, (1, 1))", "t.diag_embed(x)", "t.diag(x)",
    "t.diagflat(x)", "t.einsum('ij->j', x)", "x.new_zeros(2)", "x.new_full((2,), 1.0)",
    "t.linalg.vecdot(x, x)", "x.softmax(0)", "t.roll(x, 1, 0)", "x.repeat_interleave(2, dim=0)", "x @ x", "x.mT @ x",
    "x.scatter(0, t.zeros(x.shape, dtype=t.int64), 0.5)", "x.prod(dim=0)", "x & x", "x.quantile(0.5)",
    "t.nn.functional.smooth_l1_loss(x, x, reduction='sum')", "t.max(input=x, other=x)", "t.max(input=x, dim=0)",
    "t.max(x, other=x)", "t.cumsum(dim=0, input=x)", "t.isclose(x, other=x)", "t.diag_embed(input=x)",
    "t.nn.functional.mse_loss(target=x, input=x, reduction='sum')",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "bool", "complex128"])
@pytest.mark.parametrize("code", WHOLE)
def test_functions_that_are_several_ops_here(code: str, dtype: str) -> None:
    """What torch's function does counts, whatever it is made of here; every call that both take is compared."""

    def told(t: Any, shape: Any) -> Any:
        with t.inference_mode():
            x = t.tensor(np.random.default_rng(0).uniform(0.5, 2, shape).astype(dtype))
        try:
            made = eval(code, {"t": t, "x": x})  # noqa: S307
        except Exception:  # noqa: BLE001  (which calls are refused is tested elsewhere)
            return None
        return [out._version for out in (made if isinstance(made, tuple) else (made,))]

    for shape in [(), (1,), (3,), (1, 3), (3, 1), (2, 3), (2, 1, 3), (2, 0)]:
        here, there = told(sg, shape), told(torch, shape)
        assert None in (here, there) or here == there, shape


def test_beside_other_tensors_nothing_is_counted() -> None:
    def told(t: Any) -> Any:
        with t.inference_mode():
            x = t.ones(2, 2)
        made = [t.maximum(x, t.ones(2)), t.nn.functional.mse_loss(x, t.ones(2, 2)), t.lerp(x, t.zeros(2, 2), 0.5)]
        made += [t.nn.functional.mse_loss(x, target=t.ones(2, 2)), t.max(other=t.zeros(2, 2), input=x)]
        return [y._version for y in [*made, x.gather(0, t.zeros(1, 2, dtype=t.int64))]]

    assert told(sg) == told(torch)


def test_products_of_vectors_and_matrices() -> None:
    """A vector times a matrix loses an axis in place, whether a graph is recorded or not."""

    def told(t: Any) -> Any:
        x, W = t.ones(3, dtype=t.float64), t.ones(3, 2, dtype=t.float64)
        plain = [x @ W, t.matmul(x, W), W.T @ x, x @ x, W.T @ W]
        x.requires_grad_()
        with t.no_grad():
            plain.append(x @ W)
        changed = (x @ W).sigmoid_(), t.matmul(x, W).unsqueeze(0).fill_(2.0)
        first = t.autograd.grad((x @ W).sin().sum(), x, create_graph=True)
        second = t.autograd.grad(first[0].sin().sum(), x, create_graph=True)
        seen = [*plain, *changed, x @ W, (x @ W).detach(), (x @ W).data, (x @ W).clone(), (x @ W)[0], *first, *second]
        return [y._version for y in seen]

    assert told(sg) == told(torch)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles(name: str, interpolation: str) -> None:
    """They are weighed and arranged in place, by as many levels as there are, whether a graph is recorded or not."""

    def told(t: Any) -> Any:
        found = []
        for requires_grad in (False, True):
            x = t.tensor([[1.0, 2.0, 3.0], [2.0, 3.0, 7.0]], requires_grad=requires_grad)
            for q in (0.4, t.tensor(0.4), t.tensor([0.4]), t.tensor([0.4, 0.2])):
                for options in ({}, {"dim": 0}, {"dim": 1, "keepdim": True}):
                    made = getattr(t, name)(x, q, interpolation=interpolation, **options)
                    found.append((made._version, (made * made).exp()._version))
        return found

    assert told(sg) == told(torch)

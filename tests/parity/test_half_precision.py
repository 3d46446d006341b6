"""Half precision beside wider numbers, repeated and added up: rounded where torch rounds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.parity.test_histories import values

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("scale", ["t.tensor(0.7123456, dtype=t.float64)", "t.tensor(0.7123456)", "t.tensor(2049)"])
@pytest.mark.parametrize("how", ["x * s", "x / s", "s * x", "s / x", "x + s", "x.clone().mul_(s)", "x.clone().div_(s)"])
def test_half_precision_scaled_by_a_wider_number(how: str, scale: str, dtype: str) -> None:
    """The second operand is read as it is, the first one rounded."""
    x = np.random.default_rng(1).normal(0, 1, 40)
    program = f"x = t.tensor(x, dtype=t.{dtype}); s = {scale}; out = {how}"
    assert values(sg, program, x=x) == values(torch, program, x=x)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "how",
    ["x.scatter_add(0, i, y)", "x.scatter_add(1, i[:, :3], y)", "x.index_add(1, i[0], y[:, :3].repeat(1, 2)[:, :3])",
     "x.scatter_reduce(0, i, y, 'sum')"],
)  # fmt: skip
def test_sums_by_places_are_made_one_after_the_other(how: str, dtype: str) -> None:
    x, y = np.random.default_rng(2).normal(0, 1, (2, 4, 3))
    program = f"x, y = t.tensor(x, dtype=t.{dtype}), t.tensor(y, dtype=t.{dtype}); i = t.zeros(4, 3, dtype=t.int64); "
    assert values(sg, program + f"out = {how}", x=x, y=y) == values(torch, program + f"out = {how}", x=x, y=y)


@pytest.mark.parametrize("pair", ["t.tensor(True), x[0]", "t.tensor([1, 2, 3]), x", "x, t.tensor([1, 2, 3])"])
def test_multiples_of_other_dtypes_are_added_in_one_step(pair: str) -> None:
    x = np.random.default_rng(3).normal(0, 1, 3).astype(np.float32)
    program = f"x = t.tensor(x); out = t.add({pair}, alpha=0.7)"
    assert values(sg, program, x=x) == values(torch, program, x=x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("how", ["y + x", "x * y", "y / x", "(x.sin() * y) ** 2", "t.where(x > 0, y, x)"])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (5, 1), ()])
def test_gradients_of_repeated_half_precision_are_added_in_float32(shape: Any, how: str, dtype: str) -> None:
    rng = np.random.default_rng(4)
    x, y, g = rng.normal(0, 1, (5, 3)), rng.normal(0, 1, shape), rng.normal(0, 1, (5, 3))
    program = (
        f"x, y, g = (t.tensor(a).to(t.{dtype}) for a in (x, y, g)); y.requires_grad_(); "
        f"(out,) = t.autograd.grad({how}, y, g)"
    )
    assert values(sg, program, x=x, y=y, g=g) == values(torch, program, x=x, y=y, g=g)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_long_sum_of_half_precision_does_not_stand_still(dtype: str) -> None:
    x = sg.zeros(1, dtype=getattr(sg, dtype), requires_grad=True)
    (x + sg.zeros(8192, dtype=getattr(sg, dtype))).backward(sg.ones(8192, dtype=getattr(sg, dtype)))
    assert x.grad.item() == 8192


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("scale", ["t.tensor(0.7123456, dtype=t.float64)", "t.tensor(65)", "t.tensor(True)"])
@pytest.mark.parametrize("how", ["x * s", "x / s", "s * x", "x[0] * s", "x.nanmean()"])
def test_gradients_of_half_precision_scaled_by_a_wider_number(how: str, scale: str, dtype: str) -> None:
    x = np.random.default_rng(1).normal(0, 1, 40)
    program = (
        f"x = t.tensor(x, dtype=t.{dtype}, requires_grad=True); s = {scale}; v = {how}; "
        "(g,) = t.autograd.grad((v.double() ** 2).sum(), x, create_graph=True); (h,) = t.autograd.grad(g.sum(), x); "
        "out = t.stack([g, h])"
    )
    assert values(sg, program, x=x) == values(torch, program, x=x)

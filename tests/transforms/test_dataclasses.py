"""Dataclasses as arguments: parameters are differentiated by, settings stay as they are."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import symgrad as sg


@dataclasses.dataclass(frozen=True)
class Layer:
    scale: Any
    act: str = "tanh"


@dataclasses.dataclass
class Model:
    w: Any
    b: float
    layer: Layer
    depth: int = 2
    after: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.b, float) and self.b < 0:
            raise ValueError("b is not negative")


def loss(model: Model, x: Any) -> Any:
    z = x @ model.w + model.b
    for _ in range(model.depth):  # a whole number stays one
        z = getattr(np, model.layer.act)(z) * model.layer.scale
    return (z**2).sum()


X = np.arange(12.0).reshape(4, 3) / 10
MODEL = Model(np.full(3, 0.1), 0.5, Layer(1.5))
OTHER = Model(np.full(3, 0.3), 0.2, Layer(0.7))


def flat(w: Any, b: Any, scale: Any) -> Any:
    return loss(Model(w, b, Layer(scale)), X)


def test_gradients_have_the_structure_and_no_settings() -> None:
    value, got = sg.func.grad_and_value(loss)(MODEL, X)[::-1]
    want = sg.func.grad(flat, argnums=(0, 1, 2))(MODEL.w, 0.5, 1.5)
    assert isinstance(got, Model)
    assert isinstance(got.layer, Layer)
    assert (got.depth, got.after, got.layer.act) == (None, None, None)
    for mine, other in zip((got.w, got.b, got.layer.scale), want, strict=True):
        np.testing.assert_array_equal(mine, other)
    assert float(value) == float(loss(MODEL, X))


def test_gradients_may_be_what_the_class_refuses() -> None:
    got = sg.func.grad(lambda m, x: -loss(m, x))(MODEL, X)
    assert float(got.b) < 0


def test_products_jacobians_and_examples() -> None:
    direction = sg.func.grad(loss)(MODEL, X)
    _, slope = sg.func.jvp(lambda m: loss(m, X), (MODEL,), (direction,))
    parts = (direction.w, direction.b, direction.layer.scale)
    np.testing.assert_allclose(slope, sum(float((p * p).sum()) for p in parts), rtol=1e-12)
    _, pull = sg.func.vjp(lambda m: loss(m, X), MODEL)
    np.testing.assert_array_equal(pull(sg.tensor(1.0, dtype=sg.float64))[0].w, direction.w)
    assert sg.func.hessian(loss)(MODEL, X).w.layer.scale.shape == (3,)
    batch = Model(np.stack([MODEL.w, OTHER.w]), np.array([0.5, 0.2]), Layer(np.array([1.5, 0.7])))  # type: ignore[arg-type]
    each = sg.func.vmap(loss, in_dims=(0, None))(batch, X)
    np.testing.assert_allclose(each, [float(loss(m, X)) for m in (MODEL, OTHER)], rtol=1e-14)
    shared = sg.func.vmap(loss, in_dims=(Model(0, None, Layer(None)), None))(  # type: ignore[arg-type]
        Model(batch.w, 0.5, Layer(1.5)), X
    )
    assert shared.shape == (2,)


def test_programs_take_them_and_look_at_settings() -> None:
    program = sg.compile(sg.func.grad(loss), MODEL, X)
    sines = dataclasses.replace(OTHER, layer=Layer(0.7, "sin"))
    for model in (MODEL, OTHER, sines, dataclasses.replace(OTHER, depth=3)):
        got, want = program(model, X), sg.func.grad(loss)(model, X)
        assert isinstance(got, Model)
        assert got.depth is None
        for name in ("w", "b"):
            np.testing.assert_allclose(getattr(got, name), getattr(want, name), rtol=1e-12)
        np.testing.assert_allclose(got.layer.scale, want.layer.scale, rtol=1e-12)
    fast = sg.jit(loss)
    assert [float(fast(m, X)) for m in (MODEL, OTHER, sines)] == [float(loss(m, X)) for m in (MODEL, OTHER, sines)]


def test_formulas_name_the_fields() -> None:
    text = sg.latex(lambda m, x: ((x @ m.w + m.b) ** 2).sum(), MODEL, X, wrt="m_w")
    assert text == r"2 x^{\top} \left(x m_{w} + m_{b}\right)"


def test_other_objects_are_still_told_apart() -> None:
    with pytest.raises(sg.errors.ArgumentError, match="holds object"):
        sg.func.grad(lambda a: a)(object())
    with pytest.raises(sg.errors.ArgumentError, match="same python structure"):
        sg.func.jvp(lambda m: loss(m, X), (MODEL,), (MODEL.w,))

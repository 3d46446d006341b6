"""jit: eager first, compiled when hot, guarded always."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError


def counts(f):
    stats = f.stats()
    return stats["eager"], stats["compiled"], stats["compilations"]


def test_compiles_when_hot():
    @sg.jit
    def f(x):
        return (x * x).sum()

    for k in range(6):
        assert f(np.full(3, k, float)).item() == 3.0 * k * k
    assert counts(f) == (3, 3, 1)
    assert "sum((x * x))" in f.source


def test_results_are_tensors_either_way():
    @sg.jit(after=1)
    def f(x):
        return {"a": x + 1, "b": (x.sum(), x)}

    for _ in range(3):
        out = f(np.ones(2))
        assert isinstance(out["a"], sg.Tensor)
        assert isinstance(out["b"][0], sg.Tensor)
        assert not out["a"].requires_grad


def test_shapes_and_dtypes_are_guards():
    @sg.jit(after=0)
    def f(x):
        return x / len(x)

    assert f(np.ones(2)).tolist() == [0.5, 0.5]
    assert f(np.ones(4)).tolist() == [0.25] * 4
    assert f(np.ones(2, np.float32)).dtype == np.float32
    assert f.stats()["signatures"] == 3


def test_branches_are_guards():
    @sg.jit(after=1)
    def f(x):
        return x * 2 if x.sum() > 0 else x * 3

    for sign in (1, 1, 1, -1, 1, -1, -1):
        assert f(np.full(2, sign, float)).tolist() == [(2 if sign > 0 else 3) * sign] * 2
    assert f.stats()["guard_misses"] == 1
    assert f.stats()["compilations"] == 2


def test_functions_of_values_fall_back():
    @sg.jit(after=0)
    def f(x):
        return x * x.item()

    for k in range(40):
        assert f(np.float64(k)).item() == k * k
    assert f.stats()["refused"]


def test_random_numbers_stay_random():
    @sg.jit(after=0)
    def f(x):
        return x + sg.rand(3, dtype=np.float64)

    assert len({tuple(f(np.zeros(3)).tolist()) for _ in range(4)}) == 4
    assert "random numbers" in f.stats()["refused"][0]


def test_static_arguments_are_part_of_the_signature():
    @sg.jit(after=0)
    def f(x, k, mode="sum"):
        return x**k if mode == "sum" else x * k

    assert f(np.array([3.0]), 2).tolist() == [9.0]
    assert f(np.array([3.0]), 3).tolist() == [27.0]
    assert f(np.array([3.0]), 3, mode="times").tolist() == [9.0]
    assert f(np.array([3.0]), mode="times", k=4).tolist() == [12.0]


def test_tensors_that_require_grad_are_differentiated():
    @sg.jit(after=0)
    def f(x):
        return (x**3).sum()

    assert f(np.array([2.0])).item() == 8.0
    x = sg.tensor([2.0], requires_grad=True)
    f(x).backward()
    assert x.grad.tolist() == [12.0]
    with sg.no_grad():
        assert not f(x).requires_grad
    assert sg.func.grad(f)(2.0).item() == 12.0
    assert sg.func.jvp(f, (np.array([2.0]),), (np.array([1.0]),))[1].item() == 12.0


def test_jit_of_a_gradient():
    g = sg.jit(sg.func.grad(lambda x: (sg.sin(x) * x).sum()), after=1)
    x = np.array([0.3, 2.0])
    for _ in range(3):
        np.testing.assert_allclose(g(x).numpy(), np.cos(x) * x + np.sin(x))
    assert counts(g)[1:] == (2, 1)


def test_outer_variables_are_guards():
    scale = 2.0

    @sg.jit(after=0)
    def f(x):
        return x * scale

    assert f(np.ones(1)).tolist() == [2.0]
    scale = 5.0
    assert f(np.ones(1)).tolist() == [5.0]


def test_methods_and_objects_run_eagerly():
    class Model:
        scale = 2.0

        @sg.jit(after=0)
        def __call__(self, x):
            return x * self.scale

    m = Model()
    assert m(np.ones(1)).tolist() == [2.0]
    m.scale = 3.0
    assert m(np.ones(1)).tolist() == [3.0]


def test_bad_use():
    with pytest.raises(ArgumentError):
        sg.jit(3)
    with pytest.raises(ArgumentError):
        sg.jit(lambda x: x, after=-1)

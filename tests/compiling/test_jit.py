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


class Scaled:
    """An object that functions have from outside."""

    def __init__(self):
        self.weight = sg.tensor([2.0, 3.0])
        self.calls = []

    def __call__(self, x):
        return x * self.weight


SCALED, SETTINGS, WEIGHTS, FACTOR = Scaled(), {"rate": 2.0}, [sg.tensor([1.0, 2.0])], 3.0


def by_factor(x):
    return x * FACTOR


def test_what_stands_in_containers_objects_and_helper_functions_is_a_guard(monkeypatch):
    functions = [
        lambda x: x * SCALED.weight,
        lambda x: SCALED(x),
        lambda x: x * SETTINGS["rate"],
        lambda x: sum(value * x for value in SETTINGS.values()),
        lambda x: sum(x * w for w in WEIGHTS),
        lambda x: by_factor(x),
        lambda x: (lambda v: v * FACTOR)(x),
    ]
    x = sg.tensor([1.0, 2.0])
    for compiled in (lambda f: sg.jit(f, after=0), sg.compile):
        made = [compiled(f) for f in functions]
        for f, program in zip(functions, made, strict=True):
            assert np.asarray(program(x)).tolist() == f(x).tolist()
        with monkeypatch.context() as patched:
            patched.setattr(SCALED, "weight", sg.tensor([5.0, 6.0]))
            patched.setitem(SETTINGS, "rate", 7.0)
            patched.setitem(SETTINGS, "other", 8.0)
            patched.setitem(globals(), "FACTOR", 9.0)
            WEIGHTS.append(sg.tensor([4.0, 5.0]))
            for f, program in zip(functions, made, strict=True):
                assert np.asarray(program(x)).tolist() == f(x).tolist()
            WEIGHTS.pop()


def test_what_an_object_holds_beside_what_is_read_is_no_guard():
    f = sg.jit(lambda x: x * SCALED.weight, after=0)
    for k in range(3):
        f(np.ones(2))
        SCALED.calls.append(k)
    assert f.stats()["compilations"] == 1


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sg.tensor(x) * 2,
        lambda x: sg.tensor([x[0], x[1]]) * 2,
        lambda x: x.detach().requires_grad_() * 3,
        lambda x: x.clone().detach().requires_grad_().detach() * 2,
    ],
    ids=["tensor", "list of tensors", "leaf", "constant of a leaf"],
)
@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")  # as torch warns
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "text"])
def test_new_leaves_made_of_arguments_are_not_taken_for_constants(f, exact):
    hot = sg.jit(f, after=0, exact=exact)
    with sg.no_grad():
        for k in range(3):
            x = sg.tensor([1.0 + k, 2.0])
            assert hot(x).tolist() == f(x).tolist()


def test_data_that_is_set_is_not_lost():
    def f(x):
        y = x * 2
        y.data = x * 5
        return y * 1

    hot = sg.jit(f, after=0)
    for k in range(3):
        x = sg.tensor([1.0 + k, 2.0])
        assert hot(x).tolist() == f(x).tolist()


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("traced_far", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_hot_derivatives_keep_their_second_answer(reverse, traced_far):
    """A program of jit repeats every node, and would say nan where the function takes steps together."""

    def shares(x):
        e = sg.exp(x)
        return e / e.sum()

    v = np.array([1.0, 2.0, -1.0])

    @sg.jit
    def moved(x):
        if reverse:
            return sg.func.grad(lambda x: (shares(x) * v).sum())(x)
        return sg.func.jvp(shares, (x,), (v,))[1]

    far = np.array([1000.0, 999.0, 998.0])
    for _ in range(5):
        moved(sg.tensor(far if traced_far else far - 1000))
    np.testing.assert_allclose(moved(sg.tensor(far)), moved(sg.tensor(far - 1000)), rtol=1e-12)

"""sg.check of functions written with ndarray's methods: they are recorded, and mean what they mean on arrays."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy import asarray

import symgrad as sg
from symgrad.check import check
from symgrad.interop.ndarray import Array

x = np.random.default_rng(0).normal(size=(3, 4))


def in_place(x):
    y = x.copy()
    y -= y.max(1, keepdims=True)
    y[:, 0] = x[:, 1] ** 2
    y.sort()
    return (y * np.arange(4.0)).sum()


FUNCTIONS = {
    "max": lambda x: x.max(1).sum() + x.min(axis=0, keepdims=True).sum(),
    "spread": lambda x: x.std() + x.var(0, ddof=1).sum() + x.std(axis=0, keepdims=True).sum(),
    "repeat": lambda x: (x.repeat(2) ** 2).sum() + (x.repeat(2, axis=1) ** 3).sum(),
    "size": lambda x: (x**2).sum() / x.size / x.ndim,
    "cumulated": lambda x: (x.cumsum() ** 2).sum() + x.cumprod(1).sum(),
    "axes": lambda x: (x.transpose() @ x).sum() + (x.reshape(3, 2, 2).transpose(2, 0, 1)[0] ** 2).sum(),
    "order": lambda x: x.ravel("F") @ np.arange(12.0) + (x.reshape(4, 3, order="F") ** 2)[1].sum(),
    "flatten": lambda x: x.flatten() @ np.arange(12.0) + x.T.dot(x).sum() + x.swapaxes(0, 1)[1].prod(),
    "places": lambda x: x[np.arange(3), x.argmax(1)].sum() + x.take([0, 2], axis=1).sum() + x[x > 0].sum(),
    "order of values": lambda x: x.ravel()[x.ravel().argsort()] @ np.arange(12.0),
    "in place": in_place,
    "astype": lambda x: (x.astype(float).clip(-1, 1) ** 2).sum() + (x - x.round(2)).sum(),
    "diagonal": lambda x: x.trace() + (x.diagonal() ** 2).sum() + x[:, :1].squeeze().mean(),
    "number": lambda x: float((x.std(0) ** 2).sum()),
    "rows": lambda x: sum(row.std() for row in x) + len(x),
    "complex": lambda x: ((x + 1j * x.cumsum().reshape(x.shape)).conj() * (1 + 2j)).imag.sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_methods_of_arrays_are_recorded(name):
    f = FUNCTIONS[name]
    report = check(f, np.zeros_like(x), x)
    assert "recorded operations" in report.method
    assert report.value == pytest.approx(f(x), rel=1e-14)
    black_box = check(lambda x: f(asarray(x)), report["x"].exact, x)
    assert "recorded operations" not in black_box.method
    assert black_box.ok, black_box


def test_arrays_of_tensors_refuse_to_lose_their_gradient():
    a = Array(sg.tensor(x, requires_grad=True))
    with pytest.raises(sg.errors.NotFollowed, match=r"np\.asarray\(\) makes plain numbers of an array"):
        np.asarray(a)
    assert np.array_equal(np.asarray(Array(sg.tensor(x))), x)
    assert np.array_equal(x[Array(sg.tensor([0, 2]))], x[[0, 2]])


def test_a_leaf_is_not_written_to():
    leaf = sg.tensor(x, requires_grad=True)
    a = Array(leaf)
    a += 1.0
    a[0, 0] = 5.0
    assert np.array_equal(leaf.detach().numpy(), x)
    assert float(a[0, 0]) == 5.0
    assert a.numbers


def test_a_change_of_the_argument_in_place_is_followed():
    def f(x):
        x -= x.mean(axis=0)
        return (x**2).sum()

    assert check(f, lambda x: 2 * (x - x.mean(axis=0)), x.copy())


@pytest.mark.parametrize(
    "weight",
    [
        lambda k: 2.0**k,
        np.sqrt,
        lambda k: np.exp(k) / 3,
        lambda k: k / 3,
        lambda k: k.mean() / 3 + k.std() + np.var(k),
        lambda k: k[0] / 3 + 1 / np.log2(2 + k),
    ],
    ids=["power", "sqrt", "exp", "quotient", "mean", "entry"],
)
def test_whole_numbers_become_double_ones_as_in_numpy(weight):
    x, k = np.array([0.3, 0.7, 1.1]), np.array([3, 0, 2])
    report = check(lambda x, k: (x * weight(k)).sum(), lambda x, k: weight(k) + 0 * x, x, k, argnums=0)
    assert report
    assert "exact" in report.method
    assert sg.get_default_dtype() == np.float32


def test_whole_numbers_are_double_ones_in_the_thread_of_the_check_alone():
    seen = set()

    def f(x, k):
        other = threading.Thread(target=lambda: seen.add(sg.tensor(1.0).dtype))
        other.start()
        other.join()
        return (x * np.sqrt(k)).sum()

    k = np.array([3, 0, 2])
    assert check(f, lambda x, k: np.sqrt(k) + 0 * x, np.array([0.3, 0.7, 1.1]), k, argnums=0)
    assert seen == {np.dtype(np.float32)}


def test_a_default_dtype_that_is_set_while_a_check_runs_is_that_of_all_that_follows():
    def f(x):
        sg.set_default_dtype(sg.float16)
        assert sg.tensor(1.0).dtype == np.float16
        return (x**2).sum()

    assert check(f, lambda x: 2 * x, np.array([0.3, 0.7, 1.1]))
    assert sg.get_default_dtype() == np.float16


def test_a_number_has_no_item_and_libraries_that_ask_until_there_is_none_come_to_an_end():
    def unwrapped(number):  # as converters in C do
        for _ in range(3):
            if not hasattr(number, "item"):
                return number
            number = number.item()
        raise RecursionError("items all the way down")

    def f(x):
        try:
            return x[0] * unwrapped(x[1])
        except AttributeError:
            return x[0] * x[1]

    assert check(f, lambda x: x[::-1], np.array([0.3, 0.7]))
    with pytest.raises(AttributeError, match="'float' object has no attribute 'item'"):
        Array(sg.tensor(2.0)).item().item()


def test_rows_of_indices_beside_values_stay_what_they_are():
    games = [(0, 1, 1.0), (1, 2, 0.5), (2, 0, 0.0)]

    def f(r, games):
        return sum(s * (r[i] - r[j]) ** 2 for i, j, s in games)

    def grad(r, games):
        g = np.zeros_like(r)
        for i, j, s in games:
            g[i] += 2 * s * (r[i] - r[j])
            g[j] -= 2 * s * (r[i] - r[j])
        return g

    r = np.array([0.3, 0.7, 1.1])
    assert check(f, grad, r, games)
    assert check(f, grad, r, tuple(games), argnums=0)
    points = [(0.0, 1.0), (2.0, 0.5)]  # and these are an array
    assert check(lambda p: (np.asarray(p) ** 2).sum(), lambda p: 2 * np.asarray(p), points)

"""Saved values under a budget of bytes: what stays in memory, what goes to files, and what backward makes of it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd.graph import memory_budget
from symgrad.errors import ArgumentError, AutogradError
from tests.memory import peak


def deep(x, layers=20):
    for _ in range(layers):
        x = (x.sin() * 1.5).cos()
    return x.sum()


@pytest.mark.parametrize("dtype", [sg.float32, sg.float64, sg.complex128])
@pytest.mark.parametrize("limit", [0, "1kB", "100GB"])
def test_gradients_are_the_same_to_the_last_bit(limit, dtype):
    a, b = (sg.linspace(0.1, 1, 60).to(dtype).reshape(6, 10).requires_grad_() for _ in range(2))
    with memory_budget(limit) as budget:
        y = abs(deep(a @ a.T + a.sum()))
        assert budget.in_memory <= budget.limit
    y.backward()
    abs(deep(b @ b.T + b.sum())).backward()
    assert a.grad.numpy().tobytes() == b.grad.numpy().tobytes()


def megabytes(limit, below):
    x = sg.ones(125_000, dtype=sg.float64, requires_grad=True)  # a megabyte
    deep(x[:3]).backward()

    def run():
        x.grad = None
        with memory_budget(limit):
            y = deep(x)
        y.backward()

    return peak(run, below * 1e6) / 1e6


def test_the_peak_of_memory_follows_the_budget():
    assert megabytes("1GB", below=50) > 35
    working = megabytes(0, below=8)  # what forward and backward hold of values in flight
    assert working < 8
    assert megabytes("10MB", below=working + 10.5) < working + 10.5


def test_what_counts_and_what_goes(tmp_path):
    x = sg.ones(1000, dtype=sg.float64, requires_grad=True)
    with memory_budget("20 KiB", tmp_path) as budget:
        assert (x * x).sum() == 1000
        assert budget.in_memory == 0  # a leaf
        e = x.exp()
        products = [e * e, e[:500] * e[500:], e.reshape(10, 100).sin()]
        assert budget.in_memory == 8000  # one block
        rest = [e.sin().cos(), e.cos().cos(), e.tan().cos()]
        assert 8000 < budget.in_memory <= 20 * 1024
        assert any(tmp_path.iterdir())
        del e, products, rest
        gc.collect()
        assert budget.in_memory == 0
        assert not any(tmp_path.iterdir())
        again = x.exp().sin()
        assert budget.in_memory == 8000
    again.sum().backward()
    assert budget.in_memory == 0


def test_a_value_in_memory_that_was_changed_is_refused():
    x = sg.ones(3, requires_grad=True)
    with memory_budget("1MB"):
        e = x.exp()
        y = e.sin().sum()
        e.mul_(2)
    with pytest.raises(AutogradError, match="modified by an inplace operation"):
        y.backward()


def test_values_without_axes_hold_no_block():
    x = sg.ones(1000, dtype=sg.float64, requires_grad=True)
    with memory_budget(100) as budget:
        e = x.exp()
        first = e.detach()[0]
        y = (first * x.sum()).sin() + e.sum()
        kept = e.sin().sum()
        assert budget.in_memory <= 100
        first.zero_()  # after the product: its factor was copied
    (y + kept).backward()
    exact = np.e * np.cos(1000 * np.e) + np.e + np.e * np.cos(np.e)
    np.testing.assert_allclose(x.grad.numpy()[1:], exact, rtol=1e-12)


def test_higher_orders_and_formulas():
    x = sg.tensor([0.3, 0.7], dtype=sg.float64, requires_grad=True)
    for limit in (0, "1MB"):
        with memory_budget(limit):
            (g,) = sg.autograd.grad((x.sin() ** 3).sum(), x, create_graph=True)
            (h,) = sg.autograd.grad(g.sum(), x)
        s, c = np.sin(x.detach().numpy()), np.cos(x.detach().numpy())
        np.testing.assert_allclose(h.numpy(), 6 * s * c**2 - 3 * s**3, rtol=1e-14)
        assert "sin" in sg.latex(g)


@pytest.mark.parametrize("limit", ["", "many", "5XB", "-1MB", "1iB", -1, True, None, float("nan"), float("inf")])
def test_other_limits_are_refused(limit):
    with pytest.raises(ArgumentError, match="500MB"):
        memory_budget(limit)


def test_limits():
    for limit, size in {"500MB": 5e8, "2GiB": 2**31, "1.5 kB": 1500, "7": 7, "7B": 7, 9: 9, "1 KiB": 1024}.items():
        assert memory_budget(limit).limit == size

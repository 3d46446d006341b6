"""``sg.replay``: values and gradients in many digits, and how far the floats are from them."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, FormulaError


def test_values_and_gradients_have_the_digits_asked_for():
    x = sg.tensor([0.1, 0.2], dtype=sg.float64, requires_grad=True, name="x")
    found = sg.replay(sg.log(sg.exp(x) - 1).sum(), digits=50)
    with mpmath.workdps(70):
        for entry, got in zip(x.tolist(), found.gradients["x"], strict=True):
            exact = mpmath.exp(entry) / mpmath.expm1(entry)
            assert abs(got - exact) < exact * mpmath.mpf(10) ** -50
    assert found.text("x")[0].startswith("10.508331944775049069396926719884999370432917460585")
    assert found.ulps["x"].shape == (2,)
    assert (found.ulps["x"] < 100).all()
    assert found.value.shape == ()
    assert json.loads(json.dumps(found.to_dict()))["digits"] == 50
    assert "50 digits" in str(found)
    assert "by x" in repr(found)


@pytest.mark.parametrize("dtype", [sg.float16, sg.float32, sg.float64, sg.complex64, sg.complex128])
def test_distances_are_those_of_the_pass_in_every_dtype(dtype):
    x = sg.tensor([0.3, 1.7, -2.1], dtype=dtype, requires_grad=True, name="x")
    y = (x * x * sg.tanh(x)).sum()
    found = sg.replay(y, 30)
    (g,) = sg.autograd.grad(y, x, sg.ones_like(y))
    for got, exact, ulps in zip(g.numpy(), found.gradients["x"], found.ulps["x"], strict=True):
        unit = float(np.spacing(abs(got)))
        assert float(abs(mpmath.mpmathify(got.item()) - exact)) == pytest.approx(ulps * unit, rel=0.01, abs=unit * 1e-6)
        assert ulps < 8


def test_after_backward_and_of_matrices_and_of_what_is_not_reached():
    a = sg.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=sg.float64, requires_grad=True, name="a")
    b = sg.tensor([1.0, 2.0], dtype=sg.float64, requires_grad=True, name="b")
    y = sg.linalg.solve(a, b)
    y.sum().backward()
    found = sg.replay(y)
    assert {*found.gradients} == {"a", "b"}
    assert found.text("a").tolist() == [["0.0", "-0.2"], ["0.0", "-0.4"]]
    assert max(float(u.max()) for u in found.ulps.values()) < 4
    assert [*sg.replay(y, wrt=b).gradients] == ["b"]
    assert [*sg.replay(y, wrt=[b, a]).gradients] == ["b", "a"]


def test_what_cannot_be_replayed_is_said():
    x = sg.tensor([0.5], dtype=sg.float64, requires_grad=True, name="x")
    other = sg.tensor([0.5], dtype=sg.float64, requires_grad=True, name="other")
    for wrong in (x, 3.0, sg.tensor([1.0])):
        with pytest.raises(ArgumentError, match="computed from others"):
            sg.replay(wrong)
    y = x * 2
    with pytest.raises(ArgumentError, match="other is no leaf"):
        sg.replay(y, wrt=other)
    with pytest.raises(ArgumentError, match="digits is a whole number"):
        sg.replay(y, digits=0)
    with pytest.raises(ArgumentError, match="gradients by x"):
        sg.replay(y).text("y")
    with pytest.raises(FormulaError, match="nextafter has no value in many digits"):
        sg.replay(x * sg.nextafter(x, other))
    z = x * x
    with sg.no_grad():
        x.add_(1)
    with pytest.raises(AutogradError, match="changed after it was used"):
        sg.replay(z)


def test_arrays_of_a_thousand_entries():
    x = sg.tensor(np.linspace(0.1, 2, 1000), requires_grad=True)
    assert sg.replay(sg.exp(-x * x).sum(), 20).ulps["x"].shape == (1000,)


@pytest.mark.parametrize("name", ["svdvals", "pinv"])
def test_iterations_end_in_many_digits(name):
    """They are rounded to the nearest number: rounded in one direction, that of mpmath's svd did not end."""
    A = sg.tensor(np.random.default_rng(0).normal(size=(4, 4)), requires_grad=True, name="A")
    found = sg.replay(getattr(sg.linalg, name)(A).sum(), digits=30)
    assert found.ulps["A"].max() < 1e4


def test_roots_of_nearly_singular_matrices_have_digits():
    q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    A = sg.tensor((q * np.array([1.0, 1e-4, 1e-8])) @ q.T, requires_grad=True, name="A")
    found = sg.replay(sg.linalg.sqrtm(A).sum(), digits=20)
    with mpmath.workdps(60):
        w, u = mpmath.eigsy(mpmath.matrix(A.tolist()) / 2 + mpmath.matrix(A.tolist()).T / 2)
        want = mpmath.fsum(u * mpmath.diag([mpmath.sqrt(v) for v in w]) * u.T)
    assert float(found.value) == pytest.approx(float(want), rel=1e-10)  # A is symmetric to its last places only

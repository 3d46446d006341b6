"""``sg.verify`` and ``sg.errorbars``: the number against its formula, and how far rounding may have moved it."""

from __future__ import annotations

import json

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, FormulaError
from symgrad.explaining.bars import ulp

PROGRAMS = {
    "tanh": lambda a, b: (sg.tanh(b @ a) ** 2).sum(),
    "logsumexp": lambda a, b: sg.logsumexp(b @ a, dim=0),
    "cancelling": lambda a, b: ((a * a).sum() - 3.0) ** 2,
    "product": lambda a, b: sg.exp(a).prod() / (1 + a**2).sum(),
    "logarithm": lambda a, b: sg.log((b @ a) ** 2 + 1).mean(),
    "norm": lambda a, b: sg.linalg.norm(b @ a) * sg.cos(a.sum()),
    "softmax": lambda a, b: sg.softmax(b @ a, dim=0)[0],
    "inverse": lambda a, b: (sg.linalg.inv(b + 3 * sg.eye(4, dtype=b.dtype)) @ a).sum(),
    "cumsum": lambda a, b: sg.cumsum(a * a, dim=0).sum() - a.sum(),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_are_those_of_the_formula_and_bars_cover_the_error(name, dtype):
    rng = np.random.default_rng(len(name))
    for _ in range(4):
        a = sg.tensor(rng.normal(size=4).astype(dtype), requires_grad=True)
        b = sg.tensor(rng.normal(size=(4, 4)).astype(dtype))
        loss = PROGRAMS[name](a, b)
        loss.backward()
        for t in (a.grad, loss):
            found, bars = sg.verify(t), sg.errorbars(t)
            assert found, found
            exact = np.broadcast_to(np.asarray(found.exact, object), t.shape)
            for at in np.ndindex(t.shape):
                error = abs(mpmath.mpf(float(t.detach().numpy()[at])) - exact[at])
                assert error <= max(bars.bars[at], 0.5 * ulp(t.detach().numpy())[at]), (at, error, bars)


def test_a_wrong_number_is_found_with_its_entry():
    x = sg.tensor([0.5, 1.0, 2.0], dtype=sg.float64, requires_grad=True)
    y = sg.exp(x)
    y._value[1] *= 1 + 1e-12
    found = sg.verify(y)
    assert not found.ok
    assert found.worst == (1,)
    assert 6000 < found.ulps[1] < 6300
    assert "not what its formula gives at [1]" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["worst"] == [1]
    assert "not what" in found._repr_html_()


def test_cancellation_is_seen_by_bars_and_explained_by_rounding():
    x = sg.tensor(1e-8, dtype=sg.float64, requires_grad=True)
    y = (1 - sg.cos(x)) / x**2
    assert float(y) == 0.0
    assert sg.errorbars(y).digits < 1
    assert sg.verify(y).ok  # all digits are lost, to rounding
    z = 2 * (sg.sin(x / 2) / x) ** 2
    assert sg.errorbars(z).digits > 14
    assert y.verify().ok
    assert z.verify(50).digits == 50


def test_sums_that_cancel_inside_of_one_operation():
    x = sg.tensor([1e16, 1.0, -1e16], dtype=sg.float64, requires_grad=True)
    assert sg.errorbars(x.sum()).bars > 0.1


def test_condition_numbers():
    x = sg.tensor(3.0, dtype=sg.float64, requires_grad=True)
    assert 1 < sg.errorbars(x**3).condition < 4  # 3, of changes up to 1 with root mean square 0.58
    assert sg.errorbars(x - 2.999999).condition > 1e5


def test_bars_are_the_same_at_every_call_and_of_the_shape_of_the_value():
    x = sg.tensor(np.linspace(0.1, 1, 1000), requires_grad=True)
    (sg.sin(x) * x).sum().backward()
    one, two = sg.errorbars(x.grad), sg.errorbars(x.grad)
    assert one.bars.shape == (1000,)
    assert np.array_equal(one.bars, two.bars)
    assert np.all(one.digits > 13)
    assert "x.grad has 1" in str(one)
    assert json.dumps(one.to_dict(), allow_nan=False)
    assert "Condition number" in one._repr_html_()


def test_exact_results_and_special_values():
    x = sg.tensor([1.0, 2.0], dtype=sg.float64, requires_grad=True)
    assert sg.errorbars(x[:1]).bars == 0
    assert sg.verify(x * 2).ulps.max() == 0
    z = sg.tensor([0.0], dtype=sg.float64, requires_grad=True)
    with np.errstate(all="ignore"):
        assert sg.verify(sg.exp(z + 800)).ok  # infinite, and the formula's value lies beyond float64


def test_what_cannot_be_verified():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(FormulaError, match="no formula but itself"):
        sg.verify(x)
    with pytest.raises(ArgumentError, match="floating-point tensor"):
        sg.verify(3.0)
    with pytest.raises(ArgumentError, match="floating-point tensor"):
        sg.errorbars(sg.tensor([1, 2]))
    with pytest.raises(ArgumentError, match="not computed"):
        sg.errorbars(x)
    with pytest.raises(ArgumentError, match="at least 2"):
        sg.errorbars(x * 2, samples=1)
    with pytest.raises(ArgumentError, match=r"samples is a whole number, not Tensor.*errorbars\(x.grad\)"):
        sg.errorbars((x * 2).sum(), x)
    (x * x).sum().backward()
    with sg.no_grad():
        x -= 0.1 * x.grad
    with pytest.raises(AutogradError, match="changed after"):
        sg.verify(x.grad)


def test_the_operations_that_the_error_comes_from_are_ranked():
    """The quadratic formula with a large b: the difference loses what the root was rounded to."""
    a, b, c = (sg.tensor(v, dtype=sg.float64, requires_grad=True) for v in (1.0, -1e8, 1.0))
    found = sg.errorbars((-b - sg.sqrt(b * b - 4 * a * c)) / (2 * a))
    assert {"sqrt", "neg"} <= {part.op for part in found.operations[:3]}
    assert found.operations == tuple(sorted(found.operations, key=lambda part: -part.share))
    assert {part.text for part in found.leaves} <= {"a", "b", "c", "x1", "x2", "x3"}
    s = sg.tensor(1e-6, dtype=sg.float64, requires_grad=True)
    naive = sg.errorbars((1 - sg.cos(s)) / s**2)
    assert naive.operations[0].text == "cos(s)"
    assert naive.operations[0].share > 0.99
    assert "100% from cos(s)" in str(naive)


def test_condition_numbers_by_leaf():
    x = sg.tensor([1e8, 1.0, -1e8], dtype=sg.float64, requires_grad=True)
    y = sg.tensor(3.0, dtype=sg.float64, requires_grad=True)
    found = sg.errorbars(x.sum() * y)
    assert [(leaf.text, round(leaf.share)) for leaf in found.leaves] == [("x", 200000001), ("y", 1)]
    assert found.leaves[0].at in ((0,), (2,))
    assert "By leaf: x 2e+08, y 1." in str(found)
    assert json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("dtype", [sg.bfloat16, sg.float16])
def test_half_precisions_have_bars_and_are_verified(dtype):
    x = sg.tensor([0.1, 0.2, 0.3, -1.5], dtype=dtype, requires_grad=True)
    y = (sg.tanh(x) ** 2).sum()
    y.backward()
    for t in (y, x.grad):
        found, bars = sg.verify(t), sg.errorbars(t)
        assert found.ok
        assert found.ulps.max() < 16
        assert 0 < bars.digits.min() < bars.digits.max() + 1e-9 <= 4
        assert bars.ulps.min() > 0.5
    assert sg.errorbars(y).operations
    unit = sg.finfo(dtype).eps
    assert abs(float(sg.errorbars(y).bars / sg.errorbars(y).ulps) - unit / 2) < 1e-6  # one ulp of a number below 1


def test_units_in_the_last_place_are_those_of_numpy():
    from symgrad.explaining.bars import ulp

    for dtype in (np.float16, np.float32, np.float64):
        info = np.finfo(dtype)
        numbers = np.array([1, 0.99, 3, 1e-3, info.tiny, 2 * info.tiny, 0.9 * info.max], dtype)
        assert np.array_equal(ulp(numbers), np.spacing(numbers).astype(float))
        assert ulp(dtype(0)) == float(np.spacing(info.tiny))
        assert np.isnan(ulp(dtype("nan")))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_sums_have_bars_for_their_partial_sums(dtype):
    """A sum rounds its partial sums; the bars were those of changes of its terms, eight times too small."""
    rng = np.random.default_rng(0)
    x = sg.tensor(rng.normal(size=3000).astype(dtype), requires_grad=True)
    rows = sg.tensor(rng.normal(size=(8, 3000)).astype(dtype))
    (sg.sigmoid(rows @ x)).sum().backward()
    for t in (sg.cumsum(x, 0), (sg.cumsum(x, 0)[::100] ** 2).sum(), rows @ x, x.grad, sg.logsumexp(rows @ x, 0)):
        found = sg.verify(t)
        assert found, found
        assert np.max(found.ulps / found.allowed) < 0.7  # with room for other kernels
    assert sg.errorbars(x * 2).ulps.max() < 8  # where nothing is added up, bars stay narrow

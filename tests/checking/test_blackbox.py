"""sg.check of functions that can only be called: what they are compared with, how sharply, and what the report says."""

from __future__ import annotations

import array
import ctypes
import ctypes.util
import math

import numpy as np
import pytest
from numpy import asarray

from symgrad.check import check
from symgrad.errors import ArgumentError

X = np.array([0.4, -1.1, 0.7, 2.0])


def by_asarray(x):
    x = asarray(x, dtype=float)
    return np.sum(np.sin(x) * x)


def by_number(x):
    a, b, c, d = (float(v) for v in x)
    return math.exp(a) * math.sin(b) + c**2 * d


def by_writing(x):
    out = array.array("d", [0.0] * 4)
    for i in range(4):
        out[i] = x[i] ** 2 * x[(i + 1) % 4]
    return sum(out)


GRADIENTS = {
    by_asarray: lambda x: np.sin(x) + x * np.cos(x),
    by_number: lambda x: np.array(
        [math.exp(x[0]) * math.sin(x[1]), math.exp(x[0]) * math.cos(x[1]), 2 * x[2] * x[3], x[2] ** 2]
    ),
    by_writing: lambda x: 2 * x * np.roll(x, -1) + np.roll(x, 1) ** 2,
}


@pytest.mark.parametrize(
    ("f", "line"),
    [(by_asarray, "asarray(x"), (by_number, "float(v)"), (by_writing, "out[i] =")],
    ids=["asarray", "number", "writing"],
)
def test_the_line_that_leaves_the_tape_is_named(f, line):
    gradient = GRADIENTS[f]
    report = check(f, gradient, X)
    assert report.ok, report
    said = " ".join(str(report).split())
    assert "black box" in said
    assert "test_blackbox.py:" in said
    assert line in said
    assert "digits" in report.method
    assert not check(f, lambda x: gradient(x) * (1 + 1e-8), X)
    wrong = check(f, lambda x: gradient(x) + x**3, X)
    assert not wrong
    assert "formula below" not in str(wrong)
    assert "exact" not in str(wrong).replace("exact derivative", "")  # differences are not


def test_functions_of_c_libraries():
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.erf.restype, library.erf.argtypes = ctypes.c_double, [ctypes.c_double]

    def gradient(x):
        return 2 / np.sqrt(np.pi) * np.exp(-x * x)

    assert check(library.erf, gradient, 0.3, names=["x"])
    assert not check(library.erf, lambda x: gradient(x) * (1 + 1e-7), 0.3, names=["x"])


def test_values_in_single_precision_are_known_by_their_noise():
    def f(x):
        return float((asarray(x, np.float32) ** 2).sum(dtype=np.float32))

    report = check(f, lambda x: 2 * x, X)
    assert report.ok, report
    assert "kink" not in str(report)
    assert "digits" in " ".join(str(report).split())
    assert np.max(report["x"].tolerance) < 1e-2
    assert not check(f, lambda x: 2 * x + 0.05, X)


def test_functions_that_move_in_steps_cannot_be_checked():
    def f(x):
        return float(np.round(np.sum(asarray(x, float) ** 2), 2))

    with pytest.raises(ArgumentError, match="cannot be measured"):
        check(f, lambda x: 2 * x, X)


def test_solvers_are_as_good_as_their_tolerance():
    integrate = pytest.importorskip("scipy.integrate")

    def f(k, T):
        return integrate.solve_ivp(lambda t, y: -k * y, (0, T), [1.0], rtol=1e-10, atol=1e-12).y[0, -1]

    def gradient(k, T):
        return -T * np.exp(-k * T), -k * np.exp(-k * T)

    assert check(f, gradient, 0.7, 1.3)
    wrong = check(f, lambda k, T: (T * np.exp(-k * T), -k * np.exp(-k * T)), 0.7, 1.3)
    assert wrong["k"].diagnosis.kind == "sign"
    assert wrong["T"].ok

    def rough(k):
        return integrate.solve_ivp(lambda t, y: -k * y, (0, 1.3), [1.0], rtol=1e-5, atol=1e-8).y[0, -1]

    report = check(rough, lambda k: -1.3 * np.exp(-1.3 * k), 0.7)
    assert "tolerance" in report.diagnosis.hint
    assert "rtol=" in report.diagnosis.hint
    assert check(rough, lambda k: -1.3 * np.exp(-1.3 * k), 0.7, rtol=1e-3)


# ---------------------------------------------------------------------------------------------- method=


def smooth(x):
    return (np.exp(x) * np.sin(x)).sum()


def smooth_gradient(x):
    return np.exp(x) * (np.sin(x) + np.cos(x))


@pytest.mark.parametrize(
    ("method", "words"),
    [("fd", "differences"), ("complex-step", "complex-step"), ("mp", "50 digits"), ("exact", "recorded operations")],
)
def test_methods_by_name(method, words):
    report = check(smooth, smooth_gradient, X, method=method)
    assert report.ok, report
    assert words in report.method
    off = 1e-8 if method == "fd" else 1e-11
    assert not check(smooth, lambda x: smooth_gradient(x) * (1 + off), X, method=method)
    wrong = check(smooth, lambda x: 2 * smooth_gradient(x), X, method=method)
    assert wrong.diagnosis.kind == "factor"


def test_many_digits_do_not_cancel():
    def f(x):
        return ((x + 1e8) ** 2 - x**2 - 1e16).sum()

    x = np.array([0.1, 0.2])
    assert np.all(check(f, np.full(2, 2e8), x, method="mp")["x"].exact == 2e8)


def test_methods_that_do_not_fit_say_so():
    with pytest.raises(ArgumentError, match="none of 'exact', 'mp', 'complex-step', 'fd'"):
        check(smooth, smooth_gradient, X, method="magic")
    with pytest.raises(ArgumentError, match="test_blackbox.py:.*method='fd'"):
        check(by_number, GRADIENTS[by_number], X, method="exact")
    with pytest.raises(ArgumentError, match="complex numbers"):
        check(by_number, GRADIENTS[by_number], X, method="complex-step")
    with pytest.raises(ArgumentError, match="complex numbers"):
        check(lambda x: abs(x).sum(), np.sign, X, method="complex-step", kind="gradient")
    with pytest.raises(ArgumentError, match="method='mp'.*gradient"):
        check(np.sin, np.cos, X, method="mp", kind="jacobian")


# ---------------------------------------------------------------------------------------------- many entries


def of_many(x):
    x = asarray(x, dtype=float)
    return float(np.log1p(np.exp(x)).sum())


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_black_boxes_with_many_entries():
    size = 5_000
    x = np.random.default_rng(1).normal(size=size)
    report = check(of_many, sigmoid, x)
    assert report.ok, report
    assert "random directions" in str(report)
    twice = check(of_many, lambda x: 2 * sigmoid(x), x)
    assert twice.diagnosis.kind == "factor"
    assert twice["x"].wrong == size
    one = check(of_many, lambda x: sigmoid(x) * (1 + 1e-4 * (np.arange(len(x)) == 777)), x)
    assert one.diagnosis.kind == "entry"
    assert "x[777]" in one.diagnosis.sentence
    rest = check(of_many, lambda x: sigmoid(x) + 0.1 * np.cos(np.arange(len(x))), x)
    assert rest.diagnosis.kind == "entries"
    assert "that were measured" in rest.diagnosis.sentence

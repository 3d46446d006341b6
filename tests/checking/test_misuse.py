"""What sg.check says to what it cannot compare, and what it takes though it is written otherwise."""

from __future__ import annotations

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError

x = np.array([1.0, 2.0, 3.0])


def energy(x):
    return (x**2).sum()


@pytest.mark.parametrize(
    ("f", "grad", "args", "words"),
    [
        (lambda x: None, lambda x: x, (x,), "f gave None; does it return its result"),
        (lambda x: "a", lambda x: x, (x,), "f gave 'a', which is no number"),
        (energy, lambda x: None, (x,), "the gradient of x is None"),
        (energy, lambda x: (2 * v for v in x), (x,), "is a generator; give a list or a tuple"),
        (energy, lambda x: np.array(list(x), object), (x,), r"an array of objects.*astype\(float\)"),
        (energy, lambda x: x > 0, (x,), "is bool, not floating-point numbers"),
        (energy, lambda x: {"y": 2 * x}, (x,), "by the names of the arguments, x; 'y' is none of them"),
        (energy, lambda x: {}, (x,), "the dict of gradients is empty"),
        (energy, lambda x: 2 * x, (np.array([1.0, np.nan]),), r"x\[1\] is nan"),
        (lambda x: (x > 0).all(), lambda x: x, (x,), r"f gave tensor\(True\), which is no number"),
        (energy, lambda x: np.ma.array(2 * x, mask=[0, 1, 0]), (x,), "masked entries"),
        (energy, lambda x: 2 * x, (np.ma.array(x, mask=[0, 1, 0]),), "masked entries"),
        (energy, lambda x: 2 * x, ([[1.0, 2.0], [3.0]],), "rows have different lengths"),
        (energy, lambda x: 2 * x, ("abc",), "no argument is a floating-point array .x is a str"),
        (energy, lambda x: 2 * x, (np.array(["2020-01-01"], "M8[D]"),), r"array of datetime64\[D\]: take .astype"),
        (energy, lambda x: 2 * x, (x.astype(np.longdouble),), r"x is an array of .*: take .astype\(float\)"),
        (np.sin, np.cos, (float("nan"),), "is nan, where no derivative can be compared"),
        (lambda x, y: x, lambda x: 1, (x,), r"f takes \(x, y\), but check\(\) was given 1 argument for it"),
        (energy, lambda: 1, (x,), r"grad takes \(\), but it is called with the arguments of f, of which there is 1"),
        (lambda x, y: x @ y, lambda a, b, c, d, e: a, (x, x), "of which there are 2"),
    ],
)
def test_misuse_is_explained(f, grad, args, words):
    with pytest.raises(ArgumentError, match=words):
        check(f, grad, *args)


def test_gradients_may_be_given_by_name():
    def f(w, b):
        return (w**2).sum() + b**3

    assert check(f, lambda w, b: {"b": 3 * b**2, "w": 2 * w}, x, 2.0)
    assert check(f, {"b": 12.0}, x, 2.0)["b"].ok
    assert not check(f, lambda w, b: {"b": 3 * b**2, "w": w}, x, 2.0)["w"].ok


def test_gradients_in_the_place_of_each_other_are_told():
    def loss(W, b):
        return ((W @ x + b) ** 2).sum()

    def gradients(W, b):
        r = 2 * (W @ x + b)
        return r, np.outer(r, x)

    report = check(loss, gradients, np.arange(6.0).reshape(2, 3), np.ones(2))
    assert report.diagnosis.sentence == "The gradients of W and b stand in each other's place."


def test_arguments_of_the_caller_are_not_changed():
    def f(x):
        x *= 2
        return (x**2).sum()

    def gradient(x):
        x *= 8
        return x

    point = x.copy()
    assert check(f, gradient, point)
    assert np.array_equal(point, x)
    nested = {"w": x.copy()}

    def of_dict(p):
        p["w"] *= 2
        return {"w": p["w"]}

    assert check(lambda p: (p["w"] ** 2).sum(), of_dict, nested)
    assert np.array_equal(nested["w"], x)


def test_errors_of_the_functions_come_through():
    for f, grad in ((lambda x: 1 / 0, lambda x: x), (energy, lambda x: 1 / 0)):
        with pytest.raises(ZeroDivisionError):
            check(f, grad, x)
    assert sg.check(energy, lambda x: [2 * x], x)


def test_the_mistake_stands_where_pytest_shows_it():
    """An assertion shows about the first hundred characters of what it was about."""
    report = check(energy, lambda x: x, x)
    assert str(report).startswith("d energy / d x: WRONG\n  mistake     Every entry is 1/2 times the exact one.")
    right = check(energy, lambda x: 2 * x, x)
    assert str(right).startswith("d energy / d x: right\n  entries     all of 3 agree")


def test_a_report_on_many_arguments_begins_with_what_to_do():
    """One page for the mistake, three rows for every other argument that is wrong, one for all that are right."""

    def f(a, b, c, d):
        return np.sum(np.exp(a * np.tanh(b)) * np.sin(c) ** 3 * d)

    def grad(a, b, c, d):
        e, t = np.exp(a * np.tanh(b)), np.tanh(b)
        return e * np.sin(c) ** 3 * d, a * (1 - t) * e * np.sin(c) ** 3 * d, e * np.cos(c), e * np.sin(c) ** 3

    report = check(f, grad, *np.random.default_rng(3).uniform(0.5, 1, (4, 5)))
    lines = str(report).splitlines()
    labels = [word for line in lines if (word := line[:14].strip())]
    assert labels[:4] == ["d f / d a: WRO", "mistake", "line", "look for"]
    assert len(lines) <= 28
    assert "  right       d" in lines
    assert sum(line.startswith("  formula") for line in lines) == 2  # that of c, whose mistake has no name, too


def test_the_reason_of_randomness_is_told():
    x = np.array([1.0, 2.0])
    counter = [0.0]

    def counts(x):
        counter[0] += 1
        return (x**2).sum() * counter[0]

    with pytest.raises(ArgumentError, match="not deterministic.*draws from np.random"):
        check(lambda x: (x**2).sum() + np.random.rand(), lambda x: 2 * x, x)  # noqa: NPY002
    with pytest.raises(ArgumentError, match="not deterministic.*draws from random"):
        check(lambda x: (x**2).sum() + random.random(), lambda x: 2 * x, x)
    with pytest.raises(ArgumentError, match="not deterministic.*between calls"):
        check(counts, lambda x: 2 * x, x)


def test_another_order_of_summation_is_no_randomness():
    signs = iter([1, -1] * 1000)
    report = check(lambda x: (x**2).sum() * (1 + 4e-16 * next(signs)), lambda x: 2 * x, np.array([1.0, 2.0, 3.0]))
    assert report.ok
    assert "another order of summation" in " ".join(str(report).split())


def test_a_gradient_that_changes_its_argument_is_noted():
    def gradient(x):
        x *= 2
        return x

    x = np.array([1.0, 2.0])
    report = check(lambda x: (x**2).sum(), gradient, x)
    assert report.ok
    assert "changes x in place" in str(report)
    assert np.array_equal(x, [1.0, 2.0])


def test_options_of_a_wrong_type_are_named():
    x, f, g = np.ones(3), lambda x: (x**2).sum(), lambda x: 2 * x
    with pytest.raises(ArgumentError, match="argnums='x': arguments are chosen by position"):
        check(f, g, x, argnums="x")
    with pytest.raises(ArgumentError, match="rtol='1e-3' is a str"):
        check(f, g, x, rtol="1e-3")
    with pytest.raises(ArgumentError, match=r"cotangent= has shape \(2,\), but the result of f has \(3,\)"):
        check(lambda x: x**2, lambda v, x: 2 * v * x, x, cotangent=np.ones(2))


def test_what_has_no_end_is_no_gradient():
    with pytest.raises(ArgumentError, match="RClass is no array"):
        check(lambda x: (x**2).sum(), lambda x: np.r_, np.ones(2))

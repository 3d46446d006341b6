"""sg.check of pairs as SciPy, JAX and CasADi have them: value and gradient at once, Jacobians told by their shape."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError

x = np.array([0.3, -0.7, 1.1])
times = np.linspace(0, 1, 7)
y = np.array([1.0, 2.0])


def both(x):
    return (x**3).sum(), 3 * x**2


def test_a_function_that_gives_its_gradient_too():
    assert check(both, True, x)
    report = check(lambda x: (both(x)[0], 2 * both(x)[1]), True, x)
    assert report.diagnosis.kind == "factor"
    with pytest.raises(ArgumentError, match="gives \\(value, derivative\\), but it gave a float"):
        check(lambda x: float((x**2).sum()), True, x)


def test_a_function_that_gives_its_jacobian_too():
    assert check(lambda x: (x[:2] ** 2, 2 * np.eye(2, 3) * x), True, x)


@pytest.mark.parametrize("argnums", [None, 0])
def test_a_gradient_behind_the_value(argnums):
    assert check(lambda x: (x**3).sum(), both, x, argnums=argnums)
    assert check(lambda x: (x**3).sum(), sg.func.value_and_grad(lambda x: (x**3).sum()), sg.tensor(x), argnums=argnums)
    assert check(lambda x: (x**3).sum(), lambda x: (both(x)[0], -both(x)[1]), x).diagnosis.kind == "sign"


def test_gradients_of_two_arguments_behind_the_value():
    def f(a, x):
        return a * (x**2).sum()

    assert check(f, lambda a, x: (f(a, x), ((x**2).sum(), 2 * a * x)), 1.5, x)
    assert check(f, lambda a, x: (f(a, x), (x**2).sum()), 1.5, x)  # the first has a gradient
    assert check(f, lambda a, x: ((x**2).sum(), 2 * a * x), 1.5, x)  # no value


def with_aside(x):
    return (x**3).sum(), {"sizes": np.abs(x)}


def cube(x):
    return with_aside(x)[0]


def bare(x):
    return 3 * x**2


@pytest.mark.parametrize(
    ("f", "grad"),
    [
        (cube, lambda x: (with_aside(x), bare(x))),
        (cube, sg.func.value_and_grad(with_aside, has_aux=True)),
        (with_aside, lambda x: (with_aside(x), bare(x))),
        (with_aside, lambda x: (bare(x), with_aside(x)[1])),
        (lambda x: (with_aside(x), bare(x)), True),
    ],
    ids=["value and aside", "value_and_grad", "both with aside", "gradient and aside", "one function"],
)
def test_what_a_function_gives_beside_its_value_is_left_out(f, grad):
    assert check(f, grad, x), str(check(f, grad, x))


def test_a_mistake_is_found_beside_what_is_left_out():
    assert check(with_aside, lambda x: (with_aside(x), -bare(x)), x).diagnosis.kind == "sign"


def test_a_gradient_behind_another_number_is_refused():
    with pytest.raises(ArgumentError, match="2 gradients were given"):
        check(lambda x: (x**3).sum(), lambda x: (1.0, 3 * x**2), x)


def van_der_pol(t, y):
    return [y[1], 3 * (1 - y[0] ** 2) * y[1] - y[0]]


def of_van_der_pol(t, y):
    return [[0, 1], [-6 * y[0] * y[1] - 1, 3 * (1 - y[0] ** 2)]]


@pytest.mark.parametrize("f", [van_der_pol, lambda t, y: np.array([y[1], 3 * (1 - y[0] ** 2) * y[1] - y[0]])])
def test_the_jacobian_of_an_ode_is_that_by_its_state(f):
    report = check(f, of_van_der_pol, 0.3, y)
    assert report
    assert {argument.name for argument in report.arguments} == {"y"}
    assert not check(f, lambda t, y: np.transpose(of_van_der_pol(t, y)), 0.3, y)
    assert not check(f, of_van_der_pol, 0.3, y, argnums=0)  # it was said to be that by t


def decay(x, a, b):
    return a * np.exp(-b * x)


def of_decay(x, a, b):
    return np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], 1)


@pytest.mark.parametrize("argnums", [None, (1, 2)])
def test_the_jacobian_of_a_fit_has_a_column_for_each_parameter(argnums):
    report = check(decay, of_decay, times, 1.3, 0.5, argnums=argnums)
    assert report
    assert [argument.name for argument in report.arguments] == ["a", "b"]
    wrong = check(decay, lambda x, a, b: of_decay(x, a, b) * [1, -1], times, 1.3, 0.5, argnums=argnums)
    assert wrong["a"].ok
    assert wrong.diagnosis.kind == "sign"


def test_one_gradient_of_numbers_has_an_entry_for_each():
    assert check(lambda a, b: a**2 * b, lambda a, b: np.array([2 * a * b, a**2]), 1.5, 0.7)


def test_a_sum_that_is_missing_is_no_gradient_of_another_argument():
    assert check(lambda s, x: (s * x).sum(), lambda s, x: x, 0.5, x).diagnosis.kind == "missing sum"


def test_functions_of_casadi():
    casadi = pytest.importorskip("casadi")
    X = casadi.SX.sym("x", 3)
    value = casadi.sumsqr(casadi.sin(X)) + X[0] * X[1]
    F, G = casadi.Function("F", [X], [value]), casadi.Function("G", [X], [casadi.gradient(value, X)])
    row = casadi.Function("row", [X], [casadi.jacobian(value, X)])
    vector = casadi.sin(X) * X[0]
    V, J = casadi.Function("V", [X], [vector]), casadi.Function("J", [X], [casadi.jacobian(vector, X)])
    assert check(F, G, x)
    assert check(F, row, x)
    assert check(V, J, x)
    assert check(lambda x: (np.sin(x) ** 2).sum() + x[0] * x[1], G, x)
    assert check(F, lambda x: 2 * G(x), x).diagnosis.kind == "factor"

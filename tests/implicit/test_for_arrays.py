"""Equations that are written for NumPy's arrays, as those of SciPy's solvers are, have the same derivatives."""

import math

import numpy as np
import pytest

import symgrad as sg
from symgrad import implicit
from symgrad.errors import ShapeError

F64 = sg.float64
START, TIMES = np.array([1.0, 0.0]), [0.0, 1.0]


def by_tensors(x, a):
    return sg.stack([x[0] ** 2 + x[1] - a, x[0] - sg.exp(-x[1])])


def by_list(x, a):
    return [x[0] ** 2 + x[1] - a, x[0] - math.exp(-x[1])]


def by_array(x, a):
    return np.array([x[0] ** 2 + x[1] - a, x[0] - np.exp(-x[1])])


def by_entries(x, a):
    out = np.zeros(2)
    out[0] = x[0] ** 2 + x[1] - a
    out[1] = x[0] - math.exp(-x[1])
    return out


def spring(y, t, k):
    return sg.stack([y[1], -k * y[0]])


def spring_list(y, t, k):
    return [y[1], -k * y[0]]


def spring_array(y, t, k):
    return np.array([y[1], -k * y[0]])


def spring_entries(y, t, k):
    slope = np.empty(2)
    slope[0], slope[1] = y[1], -k * y[0]
    return slope


def derivatives(of, at):
    """The value, two derivatives and a tangent of a function of one number."""
    tangent = sg.func.jvp(of, (np.array(at),), (np.array(1.0),))[1]
    first = sg.func.jacobian(of)(at)
    return [
        v.detach().numpy()
        for v in (of(sg.tensor(at, dtype=F64)), first, sg.func.jacobian(sg.func.jacobian(of))(at), tangent)
    ]


@pytest.mark.parametrize("f", [by_list, by_array, by_entries])
@pytest.mark.parametrize("how", [implicit.root, implicit.fixed_point])
def test_roots_and_fixed_points(f, how):
    def of(g):
        if how is implicit.root:
            return lambda a: how(g, np.array([1.0, 0.5]), a)
        return lambda a: how(lambda x, a: x - np.asarray(0.2) * pack(g(x, a)), np.array([1.0, 0.5]), a, solver="newton")

    def pack(rows):
        return sg.stack(rows) if isinstance(rows, list) else rows

    for mine, exact in zip(derivatives(of(f), 2.0), derivatives(of(by_tensors), 2.0), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-8, atol=1e-10)


def test_minima():
    def loss(x, a):
        return float(np.sum((x - a) ** 2) + math.exp(x[0]))

    def for_tensors(x, a):
        return ((x - a) ** 2).sum() + sg.exp(x[0])

    found, exact = (derivatives(lambda a, f=f: implicit.argmin(f, np.zeros(3), a), 2.0) for f in (loss, for_tensors))
    for mine, known in zip(found, exact, strict=True):
        np.testing.assert_allclose(mine, known, rtol=1e-8, atol=1e-10)


def test_linear_equations():
    def heat(x, k):
        out = np.zeros(4)
        out[:] = 2 * k * x
        out[1:] -= x[:-1]
        out[:-1] -= x[1:]
        return out

    k = sg.tensor(1.5, dtype=F64, requires_grad=True)
    x = implicit.solve(heat, np.ones(4), k)
    (slope,) = sg.autograd.grad(x.sum(), k)
    A = 3.0 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    np.testing.assert_allclose(x.detach(), np.linalg.solve(A, np.ones(4)))
    np.testing.assert_allclose(slope, -2 * np.ones(4) @ np.linalg.solve(A, np.linalg.solve(A, np.ones(4))))


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
@pytest.mark.parametrize("f", [spring_list, spring_array, spring_entries])
def test_differential_equations(f, adjoint):
    def slopes(f):
        def end(k):
            return implicit.odeint(f, START, TIMES, k, adjoint=adjoint, method="rk4", step_size=0.25)[-1]

        rows = [sg.func.jacobian(end)(2.0), sg.func.jvp(end, (np.array(2.0),), (np.array(1.0),))[1]]
        return rows if adjoint == "continuous" else [*rows, sg.func.jacobian(sg.func.jacobian(end))(2.0)]

    for mine, exact in zip(slopes(f), slopes(spring), strict=True):
        np.testing.assert_allclose(mine, exact, rtol=1e-12)
    assert abs(slopes(f)[0][0] + math.sin(math.sqrt(2)) / 2 / math.sqrt(2)) < 1e-3


def test_equations_inside_of_a_program_for_arrays():
    """The gradient goes through the solver's result into arrays that are written into."""

    def misfit(k):
        path = implicit.odeint(spring_entries, START, TIMES, k)
        seen = np.zeros(2)
        seen[0] = path[-1, 0]
        seen[1] = math.sin(path[-1, 1])
        return np.sum(seen**2)

    step = 1e-5
    slope = (misfit(2.0 + step) - misfit(2.0 - step)) / (2 * step)
    np.testing.assert_allclose(sg.func.grad(misfit)(2.0), slope, rtol=1e-6)


def test_an_array_for_a_list_of_numbers_is_refused_with_what_to_do():
    with pytest.raises(ShapeError, match=r"y0 is one array if it is np\.array\(y0\)"):
        implicit.odeint(spring_array, [1.0, 0.0], TIMES, 2.0)

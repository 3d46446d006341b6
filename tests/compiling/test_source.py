"""The text of compiled programs: no detours, and no names that hide one another."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError


def test_sums_keep_axes_only_where_they_are_used():
    theta, x = np.array([0.3, 0.2]), np.linspace(0, 1, 5)
    f = sg.func.grad(lambda theta, x: (-theta[0] * x[:, None] * x[None, :]).exp().sum())
    program = sg.compile(f, theta, x)
    assert "squeeze" not in program.source
    np.testing.assert_allclose(program(theta, x), f(sg.tensor(theta), sg.tensor(x)).numpy(), rtol=1e-14)

    h = sg.func.hessian(lambda w, x: (sg.softmax(x @ w, 1) ** 2).sum())
    w, rows = np.linspace(-1, 1, 6).reshape(3, 2), np.linspace(0, 1, 12).reshape(4, 3)
    program = sg.compile(h, w, rows)
    assert "broadcast_to" not in program.source
    assert "expand_dims" not in program.source
    np.testing.assert_allclose(program(w, rows), h(sg.tensor(w), sg.tensor(rows)).numpy(), rtol=1e-13)


def test_powers_of_two_among_the_factors_are_one_number():
    a = np.linspace(0.5, 2, 12).reshape(4, 3)
    f = sg.func.grad(lambda a, b: ((a @ b) ** 2).sum() / 2)
    assert "1 / 2" not in sg.compile(f, a, a.T.copy()).source
    np.testing.assert_array_equal(sg.compile(f, a, a.T.copy())(a, a.T), (a @ a.T) @ a)


def test_functions_and_arguments_may_be_called_like_helpers(tmp_path):
    def softmax(x):
        return sg.softmax(x, -1)

    def x(x):
        return 2 * x

    rows = np.array([0.3, 0.4])
    cases = {
        "softmax_": (softmax, softmax),
        "erf_": (sg.erf, sg.erf),
        "x_": (x, x),
        "program": (lambda softmax: sg.softmax(softmax, -1), softmax),
        "grad_program": (sg.func.grad(lambda put: put[0] ** 2), sg.func.grad(lambda x: x[0] ** 2)),
    }
    for name, (f, same) in cases.items():
        program = sg.compile(f, rows).program
        assert program.name == name
        np.testing.assert_allclose(program(rows), same(sg.tensor(rows)), rtol=1e-15)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(program))(rows), program(rows))
        program.save(tmp_path / f"{name}.py")
        done = subprocess.run([sys.executable, "-I", tmp_path / f"{name}.py", "--selftest"], capture_output=True)
        assert done.returncode == 0, done.stdout


def test_the_error_of_sizes_says_why_they_are_one_letter():
    program = sg.compile(lambda a, b: (a**2).sum() + (b**2).sum(), np.ones(3), np.ones(3)).program
    with pytest.raises(ShapeError, match="equal when it is compiled are one letter"):
        program(np.ones(3), np.ones(4))
    program = sg.compile(lambda a, b: (a**2).sum() + (b**2).sum(), np.ones(3), np.ones(2)).program
    assert program(np.ones(4), np.ones(4)) == 8


def test_a_broadcast_on_a_diagonal():
    """Joined to one contraction, it broadcasts the axes before the diagonal repeats them."""

    def function(x):
        return sg.diag_embed(x[:, None].expand(5, 8).mT)

    x = np.linspace(-1, 1, 5)
    program = sg.compile(function, x)
    assert "np.broadcast_to(np.squeeze(x[:, None], (1,)), (8, 5))" in program.source
    np.testing.assert_array_equal(program(x), function(sg.tensor(x)).numpy())

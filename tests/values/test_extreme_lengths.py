"""Lengths of vectors whose squares are smaller or larger than any number."""

import numpy as np
import pytest

import symgrad as sg

SCALES = [1e-300, 1e-170, 1e-162, 1e160, 1e200, 1e300]
FORMULAS = {
    "norm": sg.norm,
    "linalg.norm": sg.linalg.norm,
    "sum of squares": lambda x: sg.sqrt((x**2).sum()),
    "dot": lambda x: sg.sqrt(x @ x),
    "entries": lambda x: sg.sqrt(x[0] ** 2 + x[1] ** 2),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_the_gradient_of_a_length_is_a_unit_vector(name, scale):
    """It was inf in eager code and 0 in programs, or 0 in both."""
    f, x = FORMULAS[name], np.array([3.0, 4.0]) * scale
    if scale == 1e-162 and name not in ("norm", "linalg.norm"):
        tolerance = 0.01  # squares below the smallest normal number keep some digits, and a gradient that is one
    else:
        tolerance = 1e-14
    leaf = sg.tensor(x, requires_grad=True)
    f(leaf).backward()
    found = {
        "backward": leaf.grad,
        "grad": sg.func.grad(f)(x),
        "compiled": sg.compile(sg.func.grad(f))(x),
        "jacfwd": sg.func.jacfwd(f)(x),
        "jvp": [sg.func.jvp(f, (x,), (unit,))[1] for unit in np.eye(2)],
        "compiled jvp": [sg.compile(lambda x, v: sg.func.jvp(f, (x,), (v,))[1])(x, unit) for unit in np.eye(2)],
    }
    for way, gradient in found.items():
        np.testing.assert_allclose(np.array(gradient), [0.6, 0.8], rtol=tolerance, err_msg=way)


@pytest.mark.parametrize("p", [2, 1.5, 3, 7])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_norms_neither_overflow_nor_vanish(p, dtype):
    near = np.array([[3.0, 4.0, 0.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]).astype(dtype)
    wanted = np.sum(np.abs(near) ** p, 1) ** (1 / p)
    for power in (-100, 0, 100) if dtype == "float32" else (-900, 0, 900):
        np.testing.assert_allclose(
            sg.norm(np.ldexp(1.0, power).astype(dtype) * near, p, 1), np.ldexp(wanted, power), rtol=1e-5
        )
    rows = np.array([[np.inf, 1.0], [np.nan, 1.0], [1e300, 0.0]])
    np.testing.assert_array_equal(sg.norm(rows, 2, 1), [np.inf, np.nan, 1e300])

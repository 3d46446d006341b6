"""Functions that are written for NumPy's arrays, in several processes."""

import math
import multiprocessing

import numpy as np
import pytest

import symgrad as sg
from symgrad.parallel import value_and_grad

forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
RNG = np.random.default_rng(0)


def entries(w, X, y):
    out = np.zeros(len(X))
    for i in range(len(X)):
        out[i] = math.log1p(math.exp(-y[i] * (X[i] @ w)))
    return out.sum()


@forks
@pytest.mark.parametrize("count", [1, 2])
def test_functions_written_for_arrays(count):
    X, y, w = RNG.normal(size=(12, 3)), np.sign(RNG.normal(size=12)), RNG.normal(size=3)
    options = {"in_axes": (None, 0, 0), "reduction": "sum", "start_method": "fork"}
    with value_and_grad(entries, workers=count, **options) as both:
        value, slopes = both(w, X, y)
    np.testing.assert_allclose(value, entries(w, X, y))
    np.testing.assert_allclose(slopes, sg.func.grad(entries)(w, X, y))

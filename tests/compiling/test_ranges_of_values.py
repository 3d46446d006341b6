"""What functions of the library ask of their arguments' values: one program serves all values that they take."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

ROWS = np.array([[2.0, 0.0], [0.5, 1.0], [1.0, -2.0], [0.0, 3.0]])
PROBABILITIES = (
    (np.array([0.2, 0.7, 0.5]), np.array([1.0, 0.0, 0.25])),
    (np.array([0.1, 1.0, 0.4]), np.array([0.5, 0.5, 1.0])),
)
LOSSES = {
    "cross entropy": (sg.nn.functional.binary_cross_entropy, *PROBABILITIES, "all([0 ≤ input ≤ 1]) is True"),
    "Gaussian": (
        lambda x, v: sg.nn.functional.gaussian_nll_loss(x, x * 0, v),
        *PROBABILITIES,
        "all([v ≥ 0]) is True",
    ),
    "weighted covariance": (
        lambda x, w: sg.cov(x, aweights=w),
        (ROWS.T, np.array([0.5, 1.0, 1.0, 0.25])),
        (ROWS.T + 1, np.array([0.5, 0.5, 1.0, 0.25])),
        "all([w ≥ 0]) is True",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_programs_are_for_all_values_in_range(name):
    """They were for the values of the example alone, and said so: x is [0.2 0.7]."""
    f, first, second, held = LOSSES[name]
    program = sg.compile(f, *first)
    assert held in program.source
    np.testing.assert_allclose(program(*second), f(*second), rtol=1e-12)
    assert len(program.programs) == 1


@pytest.mark.parametrize("name", LOSSES)
def test_values_out_of_range_have_the_same_error(name):
    """It said that plain numbers were made of an array."""
    f, (x, other), *_ = LOSSES[name]
    for call in (f, sg.compile(f, x, other)):
        with pytest.raises(ArgumentError, match=r"between 0 and 1|negative"):
            call(x, other - 2)


def test_least_squares_ask_for_the_rank_where_the_driver_does():
    b = np.array([1.0, 2.0, 0.0, 1.0])
    program = sg.compile(lambda A, b: sg.linalg.lstsq(A, b)[0], ROWS, b)
    assert "Holds where" not in program.source
    flat = np.ones_like(ROWS)
    np.testing.assert_allclose(program(flat, b), np.linalg.lstsq(flat, b)[0], rtol=1e-12)
    assert len(program.programs) == 1
    assert int(sg.linalg.lstsq(flat, b).rank) == 1
    picky = sg.compile(lambda A, b: sg.linalg.lstsq(A, b, driver="gels")[0], ROWS, b)
    assert "is 2" in picky.source
    with pytest.raises(ArgumentError, match="full rank"):
        picky(flat, b)

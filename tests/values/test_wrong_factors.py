"""Decompositions given what they cannot use: pivots of nobody, whole numbers, matrices of lower rank."""

from __future__ import annotations

import pytest

import symgrad as sg

LU, PIVOTS = sg.linalg.lu_factor(sg.tensor([[4.0, 3.0], [6.0, 3.0]]))
USES = {
    "lu_unpack": lambda pivots: sg.lu_unpack(LU, pivots),
    "lu_solve": lambda pivots: sg.linalg.lu_solve(LU, pivots, sg.ones(2, 1)),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_pivots_are_those_of_lu_factor(use):
    use(PIVOTS)
    with pytest.raises(RuntimeError, match="of dtype torch.int32, got Long"):
        use(PIVOTS.to(sg.int64))
    for wrong in ([9, 9], [0, 1], [-1, 2], [1]):
        with pytest.raises(RuntimeError, match="between 1 and LU"):
            use(sg.tensor(wrong, dtype=sg.int32))


def test_pivots_that_are_not_unpacked_are_not_looked_at():
    sg.lu_unpack(LU, PIVOTS.to(sg.int64), unpack_pivots=False)


def test_the_exponential_of_whole_numbers_is_refused():
    with pytest.raises(RuntimeError, match=r"linalg.matrix_exp: Expected a floating point .* Got Long"):
        sg.linalg.matrix_exp(sg.tensor([[0, 1], [0, 0]]))


def test_gels_needs_full_rank_and_the_other_drivers_do_not():
    A, b = sg.ones(3, 2), sg.ones(3, 1)
    with pytest.raises(RuntimeError, match="does not have full rank"):
        sg.linalg.lstsq(A, b, driver="gels")
    sg.linalg.lstsq(A + sg.eye(3, 2), b, driver="gels")
    assert sg.allclose(sg.linalg.lstsq(A, b)[0], sg.tensor(0.5))


def test_a_block_diagonal_of_nothing_is_empty():
    assert sg.block_diag().shape == (1, 0)

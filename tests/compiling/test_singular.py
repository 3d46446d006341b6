"""Programs of determinants at matrices without an inverse, where eager gradients are infinite and no error."""

import numpy as np
import pytest

import symgrad as sg

SINGULAR = {
    "rank 1": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "zeros": np.zeros((2, 2)),
    "in a batch": np.array([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 2.0], [2.0, 4.0]]]),
    "infinite": np.array([[np.inf, 1.0], [1.0, 2.0]]),
}
LOGARITHMS = {
    "logdet": lambda A: sg.logdet(A).sum(),
    "slogdet": lambda A: sg.linalg.slogdet(A)[1].sum(),
}


@pytest.mark.parametrize("place", SINGULAR)
@pytest.mark.parametrize("name", LOGARITHMS)
def test_the_slope_of_a_logarithm_is_infinite(name, place):
    """Programs raised LinAlgError."""
    both, A = sg.func.value_and_grad(LOGARITHMS[name]), SINGULAR[place]
    with np.errstate(all="ignore"):
        found, wanted = sg.compile(both)(A), both(sg.tensor(A))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-12)


def test_one_inverse_is_enough():
    def likelihood(A):
        return sg.logdet(A) + sg.trace(sg.linalg.inv(A))

    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    program = sg.compile(sg.func.grad(likelihood), A)
    assert "inv_or_infinite" not in program.source
    assert program.source.count("inv(") == 1
    np.testing.assert_allclose(program(A), sg.func.grad(likelihood)(A).numpy(), rtol=1e-12)

"""Eigenvectors of values that meet have no derivative: backward says so, with the gap."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import IllPosedDerivative

RNG = np.random.default_rng(4)
Q = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
W = sg.tensor(RNG.standard_normal((3, 3)))


def with_values(*values):
    return sg.tensor(Q @ np.diag(values) @ Q.T, requires_grad=True)


VECTORS = {
    "eigh": (lambda A: (sg.linalg.eigh(A)[1] * W).sum(), "eigenvectors is ill-posed: eigenvalues"),
    "eig": (lambda A: (sg.linalg.eig(A)[1].abs() * W).sum(), "eigenvectors is ill-posed: eigenvalues"),
    "svd U": (lambda A: (sg.linalg.svd(A)[0] * W).sum(), "singular vectors is ill-posed: singular values"),
    "svd Vh": (lambda A: (sg.linalg.svd(A)[2] * W).sum(), "singular vectors is ill-posed: singular values"),
}


@pytest.mark.parametrize(("loss", "words"), VECTORS.values(), ids=VECTORS)
def test_values_that_meet_are_warned_of(loss, words):
    near = with_values(1.0, 1.0 + 1e-14, 3.0)
    with pytest.warns(IllPosedDerivative, match=rf"{words} \d and \d differ by .*e-1\d \(the largest is 3\)"):
        loss(near).backward()
    apart = with_values(1.0, 1.5, 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss(apart).backward()
    assert np.isfinite(apart.grad.numpy()).all()


def test_values_themselves_and_what_does_not_depend_on_the_choice_pass():
    A = with_values(1.0, 1.0 + 1e-14, 3.0)
    values, vectors = sg.linalg.eigh(A)
    (values**2).sum().backward(retain_graph=True)
    (vectors @ sg.diag(values) @ vectors.T * W).sum()
    np.testing.assert_allclose(A.grad.numpy(), 2 * A.detach().numpy(), rtol=1e-6, atol=1e-9)


def test_the_matrix_of_a_stack_is_named():
    stack = sg.tensor(np.stack([np.diag([1.0, 2.0]), np.eye(2)]), requires_grad=True)
    with pytest.warns(IllPosedDerivative, match=r"eigenvalues 0 and 1 of matrix \[1\] differ by 0 "):
        sg.linalg.eigh(stack)[1].sum().backward()

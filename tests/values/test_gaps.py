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


def of_matrix(A):
    values, vectors = sg.linalg.eigh(A)
    return ((vectors * sg.exp(values)) @ vectors.mT * W).sum()


def of_general(A):
    values, vectors = sg.linalg.eig(A)
    return (((vectors * values**2) @ sg.linalg.inv(vectors)).real * W).sum()


DEFECTIVE = Q @ np.array([[2.0, 1, 0], [0, 2, 0], [0, 0, 3]]) @ Q.T
QUOTIENTS_OF_ROUNDING = {
    "a function of a symmetric matrix": (of_matrix, Q @ np.diag([1.0, 1.0, 3.0]) @ Q.T),
    "of a defective one, whose values are told apart by half of the digits": (of_general, DEFECTIVE),
    "Q of dependent columns": (lambda A: (sg.linalg.qr(A)[0] ** 2 * W).sum(), np.array(Q) @ np.diag([3.0, 1, 0]) @ Q),
    "a vector of the singular value 0": (
        lambda A: (sg.linalg.svd(A, False)[0] ** 2).cos().sum(),
        np.vstack([Q, Q[:1]]) @ np.diag([2.0, 1.0, 0.0]) @ Q,
    ),
    "second derivatives by eigenvalues": (
        lambda A: (sg.autograd.grad(sg.linalg.eigvalsh(A).exp().sum(), A, create_graph=True)[0] * W).sum(),
        Q @ np.diag([1.0, 1.0, 3.0]) @ Q.T,
    ),
}


@pytest.mark.parametrize(("loss", "matrix"), QUOTIENTS_OF_ROUNDING.values(), ids=QUOTIENTS_OF_ROUNDING)
def test_quotients_of_rounding_errors_are_not_silent(loss, matrix):
    with pytest.warns(IllPosedDerivative, match="is ill-posed"):
        loss(sg.tensor(matrix, requires_grad=True)).backward()


def span_of_first(A):
    u, s, vh = sg.linalg.svd(A, False)
    return ((u[:, :1] * s[:1]) @ vh[:1] * W).sum()


WITHOUT_HARM = {
    "one vector beside two that meet": (
        lambda A: ((v := sg.linalg.eigh(A)[1][:, 2:]) @ v.mT * W).sum(),
        Q @ np.diag([1.0, 1.0, 3.0]) @ Q.T,
    ),
    "singular values that are 0": (lambda A: (sg.linalg.svdvals(A) ** 2).sum(), np.diag([3.0, 1.0, 0.0])),
    "a product of singular vectors": (span_of_first, np.diag([3.0, 1.0, 0.0])),
    "eigenvalues that split by half of the digits": (lambda A: (sg.linalg.eigvals(A) ** 2).sum().real, DEFECTIVE),
}


@pytest.mark.parametrize(("loss", "matrix"), WITHOUT_HARM.values(), ids=WITHOUT_HARM)
def test_what_does_not_depend_on_the_choice_is_right_and_silent(loss, matrix):
    A = sg.tensor(matrix, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loss(A).backward()
    way = W.numpy() + W.numpy().T
    ahead, behind = (loss(sg.tensor(matrix + step * way)).item() for step in (1e-5, -1e-5))
    np.testing.assert_allclose((A.grad.numpy() * way).sum(), (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-8)


def test_eigenvalues_of_a_defective_matrix_warn_or_say_that_they_have_no_derivative():
    jordan = np.array([[2.0, 1.0], [0.0, 2.0]])
    with pytest.warns(IllPosedDerivative, match=r"eigenvalue \d has the condition number .*e\+15.* products, solve"):
        (sg.linalg.eigvals(sg.tensor(jordan, requires_grad=True)) ** 2).sum().real.backward()
    with pytest.raises(np.linalg.LinAlgError, match="fewer eigenvectors than rows"):
        sg.linalg.eigvals(sg.tensor(np.eye(3, k=1), requires_grad=True)).sum().real.backward()


def test_dependent_columns_of_one_matrix_leave_the_gradients_of_the_others():
    stack = sg.tensor(np.stack([Q, np.diag([1.0, 0.0, 0.0])]), requires_grad=True)
    with pytest.warns(IllPosedDerivative, match=r"diagonal entry 1 of matrix \[1\] is 0"):
        (sg.linalg.qr(stack)[0] * W).sum().backward()
    assert np.isfinite(stack.grad.numpy()[0]).all()
    assert np.isnan(stack.grad.numpy()[1]).any()


COMPLETED = {
    "qr": lambda A: sg.linalg.qr(A, "complete")[0][:, 2:],
    "svd U": lambda A: sg.linalg.svd(A)[0][:, 2:],
    "svd Vh": lambda A: sg.linalg.svd(A.mH)[2][2:].mH,
}


@pytest.mark.parametrize("imaginary", [0, 1j])
@pytest.mark.parametrize("rest", COMPLETED.values(), ids=COMPLETED)
def test_what_completing_columns_span_has_a_derivative_and_they_have_none(rest, imaginary):
    A = sg.tensor(RNG.standard_normal((4, 2)) + imaginary * RNG.standard_normal((4, 2)), requires_grad=True)
    weights = sg.tensor(RNG.standard_normal((4, 4)))

    def span(A):
        return ((v := rest(A)) @ v.mH * weights).real.sum()

    assert sg.autograd.gradcheck(span, (A,))
    assert sg.autograd.gradgradcheck(span, (A,))
    with pytest.raises(sg.errors.AutogradError, match="may be any basis of what they span"):
        rest(A).real.sum().backward()

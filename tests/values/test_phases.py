"""Complex eigenvectors and singular vectors have phases that nobody chose: no derivative may depend on them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AutogradError

RNG = np.random.default_rng(6)
REAL = RNG.standard_normal((3, 3))
COMPLEX = REAL + 1j * RNG.standard_normal((3, 3))


def eigh(A):
    return sg.linalg.eigh(A + A.mH)


DEPENDENT = {
    "svd U": lambda A: sg.linalg.svd(A)[0].sum().abs(),
    "svd Vh": lambda A: sg.linalg.svd(A)[2].sum().abs(),
    "svd both": lambda A: (sg.linalg.svd(A)[0] @ sg.linalg.svd(A)[2].conj()).sum().abs(),
    "eigh": lambda A: eigh(A)[1].sum().abs(),
    "eig": lambda A: sg.linalg.eig(A)[1].sum().abs(),
}


def of_svd(A):
    u, s, vh = sg.linalg.svd(A)
    return (u @ vh).sum().abs() + (u[:, :2] / s[:2] @ vh[:2]).abs().sum()


INVARIANT = {
    "svd U": lambda A: (sg.linalg.svd(A)[0].abs() * sg.tensor(REAL)).sum(),
    "svd both": of_svd,
    "eigh": lambda A: (eigh(A)[1][:, :1] @ eigh(A)[1][:, :1].mH).sum().abs(),
    "eig": lambda A: (sg.linalg.eig(A)[1].abs() * sg.tensor(REAL)).sum(),
    "eig fixed": lambda A: (lambda v: (v / v[..., :1, :].sgn()).sum().abs())(sg.linalg.eig(A)[1]),
}


def leaf(value, dtype=None):
    return sg.tensor(value, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", [sg.complex64, sg.complex128])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("loss", DEPENDENT.values(), ids=DEPENDENT)
def test_a_loss_that_depends_on_the_phases_is_refused_whatever_its_size(loss, size, dtype):
    A = leaf(COMPLEX, dtype)
    with pytest.raises(AutogradError, match=r"vectors in the complex case are .* fix the phases first"):
        (size * loss(A)).backward()
    assert A.grad is None


@pytest.mark.parametrize("dtype", [sg.complex64, sg.complex128])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("loss", INVARIANT.values(), ids=INVARIANT)
def test_a_loss_that_does_not_depend_on_them_passes_whatever_its_size(loss, size, dtype):
    A = leaf(COMPLEX, dtype)
    (size * loss(A)).backward()
    assert A.grad.isfinite().all()


@pytest.mark.parametrize("loss", INVARIANT.values(), ids=INVARIANT)
def test_derivatives_of_it_are_those_of_differences(loss):
    assert sg.autograd.gradcheck(loss, (leaf(COMPLEX),))
    assert sg.autograd.gradgradcheck(loss, (leaf(COMPLEX),))


@pytest.mark.parametrize("name", ["eig", "eig fixed"])
def test_real_matrices_have_complex_eigenvectors(name):
    A, loss = leaf(REAL), INVARIANT[name]
    assert sg.autograd.gradcheck(loss, (A,))
    assert sg.autograd.gradgradcheck(loss, (A,))
    with pytest.raises(AutogradError, match="eigenvectors in the complex case"):
        DEPENDENT["eig"](A).backward()


def test_formulas_and_programs_have_the_gradient_of_the_pass():
    A = sg.tensor(REAL, requires_grad=True, name="A")
    (g,) = sg.autograd.grad(INVARIANT["eig"](A), A)
    np.testing.assert_allclose(sg.compile(sg.func.grad(INVARIANT["eig"]))(REAL), g.numpy(), rtol=1e-10)


def test_functional_gradients_refuse_it_and_tell_the_matrices_of_a_stack_apart():
    with pytest.raises(AutogradError, match="singular vectors"):
        sg.func.grad(DEPENDENT["svd U"])(sg.tensor(COMPLEX))
    stack = sg.tensor(np.stack([COMPLEX, 2 * COMPLEX + 1]))
    sg.func.vmap(sg.func.grad(of_svd))(stack)
    with pytest.raises(AutogradError, match="singular vectors"):
        sg.func.vmap(sg.func.grad(DEPENDENT["svd U"]))(stack)


def test_real_singular_vectors_and_those_of_symmetric_matrices_have_no_phases():
    for loss in (DEPENDENT["svd U"], DEPENDENT["svd Vh"], DEPENDENT["eigh"]):
        loss(leaf(REAL)).backward()


def test_hooks_on_the_decomposition_leave_its_parts_together():
    A = leaf(COMPLEX)
    u, _, vh = sg.linalg.svd(A)
    u.grad_fn.register_hook(lambda *_: None)
    (u @ vh).sum().abs().backward()
    with pytest.raises(AutogradError, match="singular vectors"):
        sg.linalg.svd(A)[0].grad_fn(sg.ones(3, 3, dtype=A.dtype), None, None)

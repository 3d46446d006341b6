"""``linalg.ldl_factor`` and ``ldl_solve``: LAPACK's pivots, and gradients of what is solved, which torch has not."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer


def matrix(seed: int, n: int, kind: str, batch: tuple[int, ...] = ()) -> np.ndarray:
    random = np.random.default_rng(seed)
    A = random.normal(size=(*batch, n, n))
    if kind != "real":
        A = A + 1j * random.normal(size=A.shape)
    A = A + (A.conj() if kind == "hermitian" else A).swapaxes(-1, -2)
    return A * (1 - np.eye(n)) if seed % 3 == 0 and n > 1 else A  # without a diagonal D has blocks


@pytest.mark.parametrize("kind", ["real", "complex", "hermitian"])
@pytest.mark.parametrize("seed", range(12))
def test_factors_and_pivots(seed: int, kind: str) -> None:
    A = matrix(seed, 1 + seed % 7, kind, (2,) * (seed % 2))
    hermitian = kind == "hermitian"
    right = np.random.default_rng(seed).normal(size=(A.shape[-1], 2)).astype(A.dtype)
    rows = []
    for t in (sg, torch):
        LD, pivots, info = t.linalg.ldl_factor_ex(t.tensor(A), hermitian=hermitian)
        X = t.linalg.ldl_solve(LD, pivots, t.tensor(right), hermitian=hermitian)
        rows.append([LD.numpy(), pivots.numpy(), info.numpy(), X.numpy()])
    for ours, theirs in zip(*rows, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_odd_shapes_and_zeros() -> None:
    for t in (sg, torch):
        assert [tuple(x.shape) for x in t.linalg.ldl_factor(t.zeros(0, 0))] == [(0, 0), (0,)]
        assert t.linalg.ldl_solve(t.zeros(0, 0), t.zeros(0, dtype=t.int32), t.zeros(0, 2)).shape == (0, 2)
        assert t.linalg.ldl_factor_ex(t.zeros(3, 2, 2)).info.tolist() == [1, 1, 1]
        assert t.linalg.ldl_factor(t.eye(2)).pivots.dtype == t.int32
        with pytest.raises(RuntimeError):
            t.linalg.ldl_factor(t.zeros(2, 2))
        assert not t.linalg.ldl_factor(t.tensor([[2.0, 9.0], [1.0, 3.0]])).LD[0, 1]  # the upper half is not read


WRONG = {
    "no square": "t.linalg.ldl_factor(t.ones(2, 3))",
    "no matrix": "t.linalg.ldl_factor(t.ones(2))",
    "integers": "t.linalg.ldl_factor(t.ones(2, 2, dtype=t.int32))",
    "half": "t.linalg.ldl_factor(t.eye(2).half())",
    "rows": "t.linalg.ldl_solve(t.eye(2), p, t.ones(3, 1))",
    "a vector": "t.linalg.ldl_solve(t.eye(2), p, t.ones(2))",
    "pivots": "t.linalg.ldl_solve(t.eye(2), t.tensor([1, 2, 3], dtype=t.int32), t.ones(2, 1))",
    "dtypes": "t.linalg.ldl_solve(t.eye(2), p, t.ones(2, 1).double())",
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case: str) -> None:
    errors = []
    for t in (sg, torch):
        try:
            eval(WRONG[case], {"t": t, "p": t.tensor([1, 2], dtype=t.int32)})  # noqa: S307
        except Exception as error:  # noqa: BLE001
            errors.append(error)
    ours, theirs = errors
    assert isinstance(ours, type(theirs))
    assert str(ours).replace("torch.", "")[:40] == str(theirs).replace("torch.", "")[:40]


def test_gradients() -> None:
    A = sg.tensor(matrix(3, 4, "real"))
    LD, pivots = sg.linalg.ldl_factor(A)
    assert (pivots < 0).any()
    LD.requires_grad_()
    B = sg.tensor(np.random.default_rng(0).normal(size=(4, 2)), requires_grad=True)
    assert sg.autograd.gradcheck(lambda LD, B: sg.linalg.ldl_solve(LD.tril(), pivots, B), (LD, B))
    assert sg.autograd.gradgradcheck(lambda B: sg.linalg.ldl_solve(LD.detach(), pivots, B), (B,))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        sg.linalg.ldl_factor(A.clone().requires_grad_())
    with sg.no_grad():
        assert sg.linalg.ldl_factor(A.clone().requires_grad_()).LD.tolist() == LD.tolist()

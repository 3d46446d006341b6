"""Decompositions of matrices at and beyond the edge of their rank: values and gradients as torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

SHAPES = [(4, 3), (3, 4), (5, 5), (2, 6, 3), (2, 2, 4, 2), (40, 36), (70, 5), (5, 70), (3, 70, 70), (4, 1), (1, 4)]
DTYPES = ["float64", "float32", "complex128", "complex64"]


def whole(shape: Any, seed: int, dtype: str) -> Any:
    """Entries -1, 0 and 1, so that the rank is often too small and no pivot depends on rounding early on."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, 2, shape).astype(dtype)
    return x + 1j * rng.integers(-1, 2, shape) if dtype.startswith("c") else x


def alike(got: Any, want: Any, tolerance: float) -> None:
    got, want = np.asarray(got.detach().numpy()), want.detach().numpy()
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (5, 3), (6, 4), (3, 5), (4, 4), (7, 4, 3), (2, 3, 5, 2)])
def test_lu_of_matrices_without_full_rank(shape: Any, dtype: str) -> None:
    tolerance = 1e-5 if dtype in ("float32", "complex64") else 1e-12
    for seed in range(6):
        x = whole(shape, seed, dtype)
        p, lower, upper = sg.linalg.lu(sg.tensor(x))
        np.testing.assert_allclose((p @ lower @ upper).numpy(), x, rtol=tolerance, atol=tolerance)
        assert np.abs(lower.numpy()).max() < 1.5  # by |re| + |im| no entry below is larger than its pivot
        if dtype.startswith("c"):
            continue  # of equal pivots rounding chooses one
        for name in ("lu", "lu_factor_ex"):
            got, want = (getattr(t.linalg, name)(t.tensor(x)) for t in (sg, torch))
            for a, b in zip(got, want, strict=True):
                alike(a, b, tolerance)


@pytest.mark.parametrize("shape", [(2, 3), (3, 4, 3), (4, 4)])
def test_lu_of_zeros_and_ones(shape: Any) -> None:
    for x in (np.zeros(shape), np.ones(shape), np.swapaxes(np.ones(shape), -1, -2).copy()):
        for a, b in zip(sg.linalg.lu(sg.tensor(x)), torch.linalg.lu(torch.tensor(x)), strict=True):
            alike(a, b, 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_lu_of_any_shape(shape: Any) -> None:
    x = np.random.default_rng(3).normal(size=shape)
    p, lower, upper = sg.linalg.lu(sg.tensor(x))
    for a, b in zip((p, lower, upper), torch.linalg.lu(torch.tensor(x)), strict=True):
        alike(a, b, 1e-10)
    packed, pivots = sg.linalg.lu_factor(sg.tensor(x))
    for a, b in zip(sg.lu_unpack(packed, pivots), (p, lower, upper), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("pivot", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (2, 6, 2), (3, 2, 6), (1, 3), (3, 1)])
def test_gradients_of_lu(shape: Any, dtype: str, pivot: bool) -> None:
    rng = np.random.default_rng(5)
    x, parts = rng.normal(size=shape) + 2 * np.eye(*shape[-2:]), []
    if dtype == "complex128":
        x = x + 1j * rng.normal(size=shape)
    for t in (sg, torch):
        a = t.tensor(x, requires_grad=True)
        if pivot:
            _, lower, upper = t.linalg.lu(a)
        else:  # which torch has on other machines only: the rows come in an order in which nothing is exchanged
            a = t.tensor(torch.linalg.lu(torch.tensor(x))[0].mT.numpy() @ x, requires_grad=True)
            _, lower, upper = sg.linalg.lu(a, pivot=False) if t is sg else torch.linalg.lu(a)
        weights = [np.random.default_rng(k).normal(size=tuple(m.shape)) for k, m in enumerate((lower, upper))]
        loss = sum(((m * t.tensor(w)).abs() ** 2).sum() for m, w in zip((lower, upper), weights, strict=True))
        first = t.autograd.grad(loss, a, create_graph=True)[0]
        second = t.autograd.grad((first.abs() ** 2).sum(), a)[0]
        parts.append((first, second))
    for got, want in zip(*parts, strict=True):
        alike(got, want, 1e-7 * float(want.abs().max()))


@pytest.mark.parametrize("shape", [(4, 3), (4, 4), (2, 5, 3)])
def test_gradients_of_lu_without_full_rank_are_not_finite(shape: Any) -> None:
    """Where U has no inverse there is no derivative: torch divides by its zeros, and so do we."""
    x = np.ones(shape)
    a, b = sg.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    sg.linalg.lu(a)[1].sum().backward()
    torch.linalg.lu(b)[1].sum().backward()
    np.testing.assert_array_equal(np.isfinite(a.grad.numpy()).all(), torch.isfinite(b.grad).all().numpy())


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (3, 2), (2, 3)])
def test_a_pivot_of_zero_has_torchs_words(shape: Any) -> None:
    x = np.ones(shape)
    for name, options in (("lu_factor", {}), ("lu_factor_ex", {"check_errors": True})):
        told = []
        for t in (sg, torch):
            with pytest.raises(RuntimeError) as info:
                getattr(t.linalg, name)(t.tensor(x), **options)
            told.append(str(info.value))
        assert told[0] == told[1]


def test_systems_from_factors_of_stacks() -> None:
    rng = np.random.default_rng(8)
    x, b = rng.normal(size=(3, 40, 40)), rng.normal(size=(3, 40, 2))
    got = sg.linalg.lu_solve(*sg.linalg.lu_factor(sg.tensor(x)), sg.tensor(b))
    want = torch.linalg.lu_solve(*torch.linalg.lu_factor(torch.tensor(x)), torch.tensor(b))
    alike(got, want, 1e-10)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_reads_one_triangle(upper: bool, dtype: str) -> None:
    x = whole((2, 4, 4), 0, dtype) + 9 * np.eye(4)
    for call in ("cholesky", "cholesky_ex"):
        found = []
        for m, tensor in ((sg, sg.tensor), (torch, torch.tensor)):
            a = tensor(x, requires_grad=True)
            factor = getattr(m.linalg, call)(a, upper=upper)
            factor = factor[0] if call == "cholesky_ex" else factor
            (abs(factor) ** 2).sum().backward()
            found.append((factor, a.grad))
        for got, want in zip(*found, strict=True):
            alike(got, want, 1e-12)
    spoilt = np.eye(3)
    spoilt[(0, 1) if upper else (1, 0)] = 2  # in the triangle that is read
    for turned in (spoilt, spoilt.T):
        got, want = (
            m.linalg.cholesky_ex(t(turned), upper=upper)[1] for m, t in ((sg, sg.tensor), (torch, torch.tensor))
        )
        assert int(got) == int(want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (5, 5), (2, 6, 3), (0, 3), (2, 0, 3)])
def test_reflections_of_qr(shape: Any, dtype: str) -> None:
    """geqrf gives what orgqr takes; neither library has a derivative of it."""
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    ours, theirs = (t.geqrf(t.tensor(x)) for t in (sg, torch))
    tolerance = 1e-5 if dtype in ("float32", "complex64") else 1e-12
    for a, b in zip(ours, theirs, strict=True):
        alike(a, b, tolerance)
    alike(ours.tau, theirs.tau, tolerance)


def test_reflections_of_qr_have_no_derivative() -> None:
    for t in (sg, torch):
        x = t.eye(2).requires_grad_()
        with pytest.raises(RuntimeError, match="the derivative for 'geqrf' is not implemented"):
            t.geqrf(x)[0].sum().backward()
        with t.no_grad():
            assert not t.geqrf(x).a.requires_grad
        with pytest.raises(RuntimeError, match=r"torch.geqrf: input must have at least 2 dimensions"):
            t.geqrf(t.ones(3))


def of_extremes(t, settings):
    generator = np.random.default_rng(0)
    rows, weights = generator.standard_normal((9, 9)), generator.standard_normal((9, 1))
    a = t.tensor(rows @ rows.T, requires_grad=True)
    e, x = t.lobpcg(a, **({"niter": -1, "tol": 1e-14} if t is torch else {}), **settings)
    (e.sum() + (x.abs() * t.tensor(weights)).sum()).backward()
    return [e.detach().numpy(), x.abs().detach().numpy(), a.grad.numpy()], [e.grad_fn.name(), x.grad_fn.name()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", [{}, {"k": 2}, {"k": 3, "largest": False}], ids=str)
def test_extreme_eigenvalues(settings):
    (found, names), (wanted, theirs) = of_extremes(sg, settings), of_extremes(torch, settings)
    assert names == theirs
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


def test_extreme_eigenvalues_of_two_matrices():
    """A x = λ B x, by which torch does not differentiate."""
    generator = np.random.default_rng(1)
    a, b = (m @ m.T + 9 * np.eye(9) for m in generator.standard_normal((2, 9, 9)))
    e, x = sg.lobpcg(sg.tensor(a), 2, sg.tensor(b))
    np.testing.assert_allclose(a @ x.numpy(), b @ x.numpy() * e.numpy(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x.numpy().T @ b @ x.numpy(), np.eye(2), atol=1e-12)
    leaves = sg.tensor(a, requires_grad=True), sg.tensor(b, requires_grad=True)
    assert sg.autograd.gradcheck(lambda a, b: sg.lobpcg(a, 2, b)[0], leaves)
    with pytest.raises(ValueError, match=r"smaller than 3 x the number of requested eigenpairs \(=2\)"):
        sg.lobpcg(sg.eye(5), k=2)

"""Matrices at the edge: without entries, singular, or one unknown of a batch, the same as in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

M = np.random.default_rng(5).uniform(-2, 2, (3, 4))
POSITIVE = np.array([[2.0, 0.5], [0.5, 1.0]])

NORMS = {
    "norm 1": ((3, 0), lambda t, x: t.linalg.matrix_norm(x, 1)),
    "norm 2": ((2, 0, 3), lambda t, x: t.linalg.matrix_norm(x, 2, keepdim=True)),
    "norm inf": ((0, 3), lambda t, x: t.linalg.matrix_norm(x, np.inf)),
    "cond": ((2, 0, 3), lambda t, x: t.linalg.cond(x)),
    "cond 1": ((0, 0), lambda t, x: t.linalg.cond(x, 1)),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_of_matrices_without_entries(name):
    """They are 0, and their gradient has no entries; torch's norm has none."""
    shape, call = NORMS[name]
    x = sg.zeros(shape, dtype=sg.float64, requires_grad=True)
    out = call(sg, x)
    assert out.tolist() == call(torch, torch.zeros(shape, dtype=torch.float64)).tolist()
    (g,) = sg.autograd.grad(out.sum(), x)
    assert g.shape == shape
    with pytest.raises(IndexError, match="amin"):
        sg.linalg.matrix_norm(x[..., :0], -2)


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.parametrize("p", [None, 1, -1, np.inf, "fro", "nuc", 2, -2])
def test_the_condition_of_singular_matrices(p):
    """Infinite beside that of a matrix that is not singular, whose gradient is as it is alone; it was an error."""
    batch = np.array([[[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.5], [0.5, 1.0]]])
    x = sg.tensor(batch, requires_grad=True)
    out = sg.linalg.cond(x, p)
    assert out.tolist() == pytest.approx(torch.linalg.cond(torch.tensor(batch), p).tolist(), rel=1e-12)
    (g,) = sg.autograd.grad(out[1], x)
    (alone,) = sg.autograd.grad(sg.linalg.cond(x[1], p), x)
    assert np.allclose(g[1], alone[1], rtol=1e-12)


TRIED = {
    "cholesky_ex": (lambda t, x, **kw: t.linalg.cholesky_ex(x, **kw), np.array([[0.1, 0.9], [0.8, 0.3]])),
    "inv_ex": (lambda t, x, **kw: t.linalg.inv_ex(x, **kw), np.ones((2, 2))),
    "solve_ex": (lambda t, x, **kw: t.linalg.solve_ex(x, t.ones(2, 3, dtype=x.dtype), **kw), np.ones((2, 2))),
    "solve_ex of vectors": (
        lambda t, x, **kw: t.linalg.solve_ex(x, t.ones(2, 2, dtype=x.dtype), **kw),
        np.ones((2, 2)),
    ),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", TRIED)
def test_matrices_without_a_result(name, dtype):
    """torch's integers, nan where there is no result, and no nan beside it; an error where one is asked for."""
    call, failing = TRIED[name]
    batch = np.stack([failing, POSITIVE]).astype(dtype)
    found = {}
    for t in (torch, sg):
        x = t.tensor(batch, requires_grad=True)
        out, info = call(t, x)
        (g,) = t.autograd.grad(out.abs().sum(), x)
        found[t] = info.tolist(), out[1].tolist(), g[1].tolist()
        with pytest.raises(np.linalg.LinAlgError if t is sg else RuntimeError):
            call(t, x, check_errors=True)
    assert np.isnan(out[0].tolist()).all()
    assert np.isnan(g[0].tolist()).all()
    assert found[sg][0] == found[torch][0]
    for ours, theirs in zip(found[sg][1:], found[torch][1:], strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-12, 1e-13)


def test_factors_of_one_matrix_in_a_program():
    """A factor tried at a matrix without one is no program for others."""
    program = sg.compile(lambda x: tuple(sg.linalg.cholesky_ex(x)), -POSITIVE)
    factor, info = program(POSITIVE)
    assert info == 0
    np.testing.assert_allclose(factor, np.linalg.cholesky(POSITIVE))


@pytest.mark.parametrize("name", TRIED)
def test_programs_for_matrices_with_a_result_are_none_for_others(name):
    """The integers of programs and of vmap were 0 for all matrices, if the first one had a result, silently."""
    call, failing = TRIED[name]
    both = np.stack([POSITIVE, failing])
    wanted = call(torch, torch.tensor(both)).info.tolist()
    assert wanted[0] == 0 < wanted[1]
    program = sg.compile(lambda x: call(sg, x)[1])
    assert [program(x).tolist() for x in both] == wanted
    assert sg.vmap(lambda x: call(sg, x)[1])(both).tolist() == wanted
    out, info = sg.compile(lambda x: tuple(call(sg, x)), POSITIVE)(failing)
    assert np.isnan(out).all()
    assert info == wanted[1]


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_determinants_without_entries(shape: tuple[int, ...]) -> None:
    found = []
    for t in (sg, torch):
        x = t.zeros(shape, dtype=t.float64, requires_grad=True)
        out = t.linalg.det(x * 2)
        (first,) = t.autograd.grad(out.sum(), x, create_graph=True)
        found.append((tuple(out.shape), out.tolist(), tuple(first.shape)))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore")
def test_one_unknown_matrix_of_a_batch() -> None:
    """Its gradient is nan, the others' are not."""
    batch = np.stack([M[:, :3], M[:, 1:]])
    batch[0, 1, 1] = np.nan
    found = []
    for t in (torch, sg):
        x = t.tensor(batch, requires_grad=True)
        t.linalg.det(x).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0])


@pytest.mark.parametrize("rows", [np.tile(M[0, :3], (3, 1)), np.zeros((3, 3))], ids=["equal", "0"])
def test_elimination_without_an_inverse(rows: Any) -> None:
    """Zeros below a pivot of 0 stay what they are; the first such pivot is counted from 1."""
    want, got = (t.linalg.lu_factor_ex(t.tensor(rows)) for t in (torch, sg))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-12)


SINGULAR = [
    [[1.0, 2.0], [2.0, 4.0]],
    [[0.0, 0.0], [1.0, 6.0]],
    [[0.0, 0.0], [0.0, 0.0]],
    [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]],
    [[[0.0, 2.0], [0.0, 6.0]], [[1.0, 2.0], [2.0, 3.0]]],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("matrix", SINGULAR, ids=str)
def test_slopes_of_log_determinants_of_singular_matrices(matrix: Any, dtype: str) -> None:
    """They are infinite or nan, place by place as in torch, and no error; a regular matrix beside keeps its own."""
    for call in (lambda t, x: t.linalg.slogdet(x)[1], lambda t, x: t.logdet(x).real):
        found = []
        for t in (sg, torch):
            x = t.tensor(matrix, dtype=getattr(t, dtype), requires_grad=True)
            if call(t, x).isnan().any():
                break  # the logarithm of a negative determinant
            found.append(t.autograd.grad(call(t, x).sum(), x)[0].numpy())
        if len(found) == 2 and not np.isfinite(found[1]).all():  # else a pivot of 0 is rounded on this machine
            np.testing.assert_allclose(*found, 1e-6)


UNKNOWN = {
    "cholesky": lambda t, x: t.linalg.cholesky(x),
    "cholesky upper": lambda t, x: t.linalg.cholesky(x, upper=True),
    "svd": lambda t, x: t.linalg.svd(x),
    "svdvals": lambda t, x: t.linalg.svdvals(x),
    "pinv": lambda t, x: t.linalg.pinv(x),
    "rank": lambda t, x: t.linalg.matrix_rank(x),
    "cond": lambda t, x: t.linalg.cond(x),
    "eig": lambda t, x: t.linalg.eig(x),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_nan_in_a_matrix_is_told(name):
    """A factor of nan went on as a number, which loops that add jitter until there is a factor wait for."""
    said = []
    for t in (torch, sg):
        with pytest.raises(RuntimeError) as error:
            UNKNOWN[name](t, t.tensor([[1.0, 0.5], [0.5, float("nan")]], dtype=t.float64))
        said.append(str(error.value))
    assert said[1].startswith(said[0].removesuffix("."))


def test_the_place_of_nan_is_that_of_the_first_minor():
    batch = [[[1.0, 0.0], [0.0, 1.0]], [[float("nan"), 0.0], [0.0, 1.0]], [[4.0, 0.0], [0.0, 9.0]]]
    found = [t.linalg.cholesky_ex(t.tensor(batch, dtype=t.float64)) for t in (torch, sg)]
    assert found[0].info.tolist() == found[1].info.tolist() == [0, 1, 0]
    assert found[1].L[2].tolist() == [[2.0, 0.0], [0.0, 3.0]]
    with pytest.raises(RuntimeError, match=r"linalg.cholesky: \(Batch element 1\): .* minor of order 1 "):
        sg.linalg.cholesky(sg.tensor(batch))

"""Results of several parts: the class, the names of the parts and the text, as torch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

CALLS = """
x.max(0)
t.min(x, 1, keepdim=True)
x.median(0)
x.nanmedian(-1)
x.mode(0)
x.kthvalue(2)
x.sort()
t.sort(x[0, 0])
x.topk(2)
x[0, 0].topk(1)
x.cummax(0)
t.cummin(x, 1)
x.aminmax()
x.frexp()
t.slogdet(x)
t.linalg.slogdet(x)
t.qr(x)
x.qr()
t.linalg.eigh(x)
t.linalg.svd(x)
t.svd(x)
t.linalg.qr(x)
t.linalg.cholesky_ex(x)
t.linalg.inv_ex(x)
t.linalg.solve_ex(x, x)
t.linalg.lu(x)
t.linalg.lu_factor(x)
t.linalg.lstsq(x, x)
t.triangular_solve(x, x)
x.max(0, out=(t.zeros(2), t.zeros(2, dtype=t.int64)))
t.std_mean(x)
x.unique(return_counts=True)
t.svd_lowrank(x, 2)
""".strip().splitlines()


@pytest.mark.parametrize("line", CALLS)
def test_as_torch(line: str) -> None:
    def made(t: Any) -> Any:
        return eval(line.replace("x.max(0, out", "t.max(x, 0, out"), {"t": t, "x": t.tensor([[4.0, 1.0], [1.0, 3.0]])})

    theirs, ours = made(torch), made(symgrad)
    assert isinstance(ours, tuple)
    assert type(ours).__name__ == type(theirs).__name__.removesuffix("_out")
    for name in getattr(type(theirs), "__match_args__", ()):
        assert np.allclose(abs(getattr(ours, name).numpy()), abs(getattr(theirs, name).numpy()), atol=1e-5)
    if "sort" in line or "max" in line:
        assert repr(ours).replace("dtype=", "dtype=torch.") == repr(theirs).replace("_out(", "(")
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours), copy.copy(ours)):
        assert type(other) is type(ours)
        assert repr(other) == repr(ours)


def test_classes_by_name() -> None:
    x = symgrad.tensor([2.0, 1.0])
    assert isinstance(x.sort(), symgrad.return_types.sort)
    assert not isinstance(x.sort(), symgrad.return_types.max)
    with pytest.raises(AttributeError, match="no attribute 'add'"):
        _ = symgrad.return_types.add


KEPT = {
    "vmap": lambda t, f, x: t.func.vmap(f)(x),
    "vmap by twos": lambda t, f, x: t.func.vmap(f, chunk_size=2)(x),
    "vmap of vmap": lambda t, f, x: t.func.vmap(t.func.vmap(f))(t.stack([x, x])),
    "jvp": lambda t, f, x: t.func.jvp(f, (x[0],), (x[1],))[0],
    "vjp": lambda t, f, x: t.func.vjp(f, x[0])[0],
    "jacrev": lambda t, f, x: t.func.jacrev(f)(x[0]),
    "jacfwd": lambda t, f, x: t.func.jacfwd(f)(x[0]),
    "functional.jacobian": lambda t, f, x: t.autograd.functional.jacobian(f, x[0]),
    "grad's second result": lambda t, f, x: t.func.grad(lambda v: (v.sum(), f(v)), has_aux=True)(x[0])[1],
    "checkpoint": lambda t, f, x: t.utils.checkpoint.checkpoint(f, x[0], use_reentrant=False),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept_by_transforms(name: str) -> None:
    """``vmap(max)`` and others give the class of ``max``, whose parts have names."""
    found = []
    for t in (symgrad, torch):
        x = t.tensor([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 7.0]], [[5.0, 2.0], [2.0, 2.5]]])
        made = KEPT[name](t, t.linalg.slogdet, x)
        found.append((type(made).__name__, [(part + 0).tolist() for part in made]))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(*(np.concatenate([np.ravel(p) for p in parts]) for _, parts in found), rtol=1e-5)


def test_parts_by_name_after_vmap() -> None:
    for t in (symgrad, torch):
        x = t.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
        assert t.func.vmap(lambda v, t=t: t.max(v, 0))(x).indices.tolist() == [0, 1]
        assert t.func.vmap(lambda v: v.sort())(x).values.tolist() == [[1.0, 2.0, 3.0], [0.0, 4.0, 5.0]]


def test_kept_by_programs() -> None:
    x = np.array([[4.0, 1.0], [1.0, 3.0]])
    program = symgrad.compile(lambda m: symgrad.linalg.eigh(m), x)
    jitted = symgrad.jit(lambda m: symgrad.linalg.eigh(m))
    for made in (program, pickle.loads(pickle.dumps(program)), jitted, jitted, jitted):
        assert type(made(x)) is symgrad.return_types.linalg_eigh
    np.testing.assert_allclose(program(x).eigenvalues, np.linalg.eigvalsh(x), rtol=1e-12)


def test_plain_tuples_stand_for_named_results() -> None:
    """Where a nesting is asked for, the names need not be: cotangents and ``out_dims``."""
    x = symgrad.tensor([[4.0, 1.0], [1.0, 3.0]])
    out, pull = symgrad.func.vjp(symgrad.linalg.slogdet, x)
    seeds = (symgrad.zeros(()), symgrad.ones(()))
    assert symgrad.equal(pull(seeds)[0], pull(type(out)(seeds))[0])
    assert symgrad.func.vmap(lambda v: v.max(0), out_dims=(0, 0))(x).values.tolist() == [4.0, 3.0]

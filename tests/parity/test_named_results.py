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

"""Compiled code = the tape, for every op of the table: value, gradient, shape and dtype.

In float64, it is a law of the table, which float16 and bfloat16 have, too.  Of an op with a complex form, programs of
float32 are left to the slow run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import build
from symgrad.compiler.trace import trace
from symgrad.op import TABLE
from symgrad.proving.laws import differentiable, is_data
from symgrad.proving.samples import cases, make_case
from tests.turns import in_turn

DTYPES = {"float32": np.float32, "complex128": np.complex128}
REAL, COMPLEX = (dict.fromkeys(name for name, _ in cases(complex_too)) for complex_too in (False, True))
CASES = [
    *(pytest.param("float32", name, marks=pytest.mark.slow if name in COMPLEX else ()) for name in REAL),
    *(("complex128", name) for name in COMPLEX),
]


def equal(got: Any, want: Any, name: str) -> None:
    want = want.detach().numpy() if isinstance(want, sg.Tensor) else np.asarray(want)
    assert np.shape(got) == want.shape, name
    assert np.asarray(got).dtype == want.dtype, name
    assert isinstance(got, np.generic) == (want.shape == ()), name
    double = want.dtype.itemsize >= 8 and want.dtype != np.complex64
    scale = float(np.max(np.abs(want), initial=1.0, where=np.isfinite(want))) if want.dtype.kind in "fc" else 1.0
    tolerance = 1e-11 if double else 2e-4
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale, err_msg=name)


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_compiled(dtype: str, name: str) -> None:
    for k in in_turn(name, 2):
        check(name, *make_case(name, k, dtype=DTYPES[dtype]))


def check(name: str, args: Any, params: dict[str, Any]) -> None:
    op = TABLE[name]
    arrays = [a for a in args if is_data(a)]

    def f(*xs: Any) -> Any:
        rest = iter(xs)
        return op(*(next(rest) if is_data(a) else a for a in args), **params)

    tensors = [sg.tensor(a, requires_grad=a.dtype.kind in "fc") for a in arrays]
    with np.errstate(all="ignore"):
        want = f(*tensors)
        traced = trace(f, arrays)
        program = build(traced)
        assert program.source == build(traced, direct=True).source
        equal(program(*arrays), want, name)
    targets = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc" and op.differentiable(i)]
    if not targets or not differentiable(op, args) or want.dtype.kind not in "fc":
        return

    def total(*xs: Any) -> Any:
        out = f(*xs)
        if op.phases and out.dtype.kind == "c":  # of vectors whose phases are free
            out = sg.abs(out) ** 2
        out = sg.real(out * (1 + 0.5j)) if out.dtype.kind == "c" else out * 0.5
        return (out * sg.sin(out)).sum()

    found = sg.compile(sg.func.grad(total, argnums=tuple(targets)), *arrays)(*arrays)
    expected = sg.func.grad(total, argnums=tuple(targets))(*arrays)
    for got, g in zip(found, expected, strict=True):
        equal(got, g, name)

"""Programs of many fields run with symgrad as with torch: values, dtypes, shapes, nodes; their formulas can be had."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaTooDeep
from tests.parity.fields import PROGRAMS

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")


def flat(found, path=""):
    """Everything in nested containers, each with its place."""
    if isinstance(found, (list, tuple)):
        return [row for k, part in enumerate(found) for row in flat(part, f"{path}[{k}]")]
    return [(path, found)]


def shown(value):
    """What is compared of a value: of tensors everything but the numbers."""
    if isinstance(value, (sg.Tensor, torch.Tensor)):
        node = None if value.grad_fn is None else value.grad_fn.name()
        return str(value.dtype).removeprefix("torch."), tuple(value.shape), value.requires_grad, value.is_leaf, node
    return value if isinstance(value, (str, bool, type(None))) else type(value).__name__


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_program(program):
    ours, theirs = flat(program(sg)), flat(program(torch))
    assert [(path, shown(value)) for path, value in ours] == [(path, shown(value)) for path, value in theirs]
    for (path, mine), (_, right) in zip(ours, theirs, strict=True):
        if isinstance(right, torch.Tensor):
            want = right.detach().numpy()
            close = 1e-9 if want.dtype in (np.float64, np.complex128) else 1e-4
            scale = np.abs(want).max(initial=1e-3, where=np.isfinite(want))
            np.testing.assert_allclose(mine.detach().numpy(), want, rtol=close, atol=close * scale, err_msg=path)
        elif isinstance(right, (float, complex)):
            assert mine == pytest.approx(right, rel=1e-4), path
        else:
            assert mine == right, path


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_formulas(program):
    """Of the last result there is a text always, and an expression unless it is too large for one."""
    tensors = [value for _, value in flat(program(sg)) if isinstance(value, sg.Tensor)]
    floats = [t for t in tensors if t.is_floating_point() or t.is_complex()]
    for t in floats[-1:]:
        assert t.latex()
        with contextlib.suppress(FormulaTooDeep):
            assert t.expr is not None

"""Operands of several floating dtypes: the rules read them as they were given, as torch's do."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

CALLS = {
    "atan2": lambda t, a, b: t.atan2(a, b),
    "atan2 of the other": lambda t, a, b: t.atan2(b, a),
    "mul": lambda t, a, b: a * b,
    "div": lambda t, a, b: a / b,
    "div of the other": lambda t, a, b: b / a,
    "pow": lambda t, a, b: a.abs() ** b,
    "pow of the other": lambda t, a, b: b.abs() ** a,
    "xlogy": lambda t, a, b: t.xlogy(b, a.abs()),
    "xlog1py": lambda t, a, b: t.special.xlog1py(b, a.abs()),
    "a square beside": lambda t, a, b: a * a * b,
    "a number without axes": lambda t, a, b: t.atan2(a[0], b),
}
ONLY_FIRST = ("atan2", "atan2 of the other", "a number without axes", "xlog1py")
"""Those for whose second derivatives torch takes the steps in another order."""


def gradients(t, call, narrow, wide, arrays, seconds):
    dtypes = getattr(t, narrow), getattr(t, wide)
    a, b = (t.tensor(x, dtype=d, requires_grad=True) for x, d in zip(arrays[:2], dtypes, strict=True))
    out = call(t, a, b)
    found = t.autograd.grad(out, [a, b], t.tensor(arrays[2], dtype=out.dtype), retain_graph=True)
    if seconds:
        first = t.autograd.grad(out, [a, b], t.tensor(arrays[2], dtype=out.dtype), create_graph=True)
        found = [*found, *first, *t.autograd.grad(first, [a, b], [t.ones_like(x) for x in first])]
    assert all(x.dtype == leaf.dtype for x, leaf in zip(found, (a, b) * 3, strict=False))
    return [np.array(x.detach().double().numpy()) for x in found]


@pytest.mark.parametrize(("narrow", "wide"), [("float32", "float64"), ("float16", "float64"), ("bfloat16", "float32")])
@pytest.mark.parametrize("name", CALLS)
def test_gradients(name, narrow, wide):
    rng = np.random.default_rng(31)
    for _ in range(10):
        arrays = rng.standard_normal((3, 4))
        ours, theirs = (gradients(t, CALLS[name], narrow, wide, arrays, name not in ONLY_FIRST) for t in (sg, torch))
        for got, want in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6 if wide == "float32" else 1e-13)


def test_what_is_saved_is_the_operand_itself():
    a, b = sg.ones(3, requires_grad=True), sg.ones(3, dtype=sg.float64, requires_grad=True)
    product = (a * 1) * b
    assert product.grad_fn._saved_self.dtype == sg.float32
    a16 = sg.tensor([300.0, 2.0], dtype=sg.float16, requires_grad=True)
    sg.atan2(a16, sg.ones(2)).sum().backward()
    assert a16.grad.tolist() == [0, torch.tensor(0.2).half().item()]  # 300² is infinite in float16


RESULTS = {
    "normal": lambda t, x, y: t.normal(x, y.abs()),
    "addr to a number": lambda t, x, y: t.addr(x[0], y, y),
    "masked logaddexp": lambda t, x, y: t.masked.logaddexp(x, y),
    "covariance with weights": lambda t, x, y: t.cov(x, aweights=y.abs()),
    "huber_loss": lambda t, x, y: t.nn.functional.huber_loss(x, y),
    "soft_margin_loss": lambda t, x, y: t.nn.functional.soft_margin_loss(x, y),
    "with logits": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y),
    "with logits and weights": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, x, y, pos_weight=y),
    "rms_norm": lambda t, x, y: t.nn.functional.rms_norm(x, (3,), y),
}
UNDERIVED = ("normal", "addr to a number", "huber_loss", "soft_margin_loss", "with logits and weights")
"""Those whose gradients torch refuses, for some of the dtypes or of the operands."""


@pytest.mark.parametrize("name", RESULTS)
def test_dtypes_of_results(name):
    """Some have the dtype of one operand, whatever that of the others is."""
    dtypes = ("float16", "bfloat16", "float32", "float64")
    for pair in ((a, b) for a in dtypes for b in dtypes):
        found = []
        for t in (sg, torch):
            kinds = [getattr(t, d) for d in pair]
            x, y = (t.tensor([1.5, -2.0, 0.25], dtype=d, requires_grad=name not in UNDERIVED) for d in kinds)
            out = RESULTS[name](t, x, y)
            slopes = t.autograd.grad(out.sum(), (x, y), allow_unused=True) if out.requires_grad else ()
            found.append([str(v.dtype).removeprefix("torch.") for v in (out, *slopes) if v is not None])
        assert found[0] == found[1], pair

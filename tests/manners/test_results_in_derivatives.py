"""Derivatives that torch computes from the result: it stands in the graph of a second pass, where gradients meet it."""

from __future__ import annotations

import numpy as np
import pytest

POINT = [[0.5, -1.2, 2.0], [0.7, 1.5, -0.4]]


def third(t, x, out):
    """Gradients by ``x`` and by the result ``out``, three times over."""
    total = (out.sin() * out).sum()
    row = []
    for _ in range(3):
        found = t.autograd.grad(total, [x, out], create_graph=True)
        row.append([g.tolist() for g in found])
        total = sum((g * g).sum() for g in found)
    return row


@pytest.mark.parametrize(
    ("call", "slope"),
    [
        ("x.prod(0)", lambda v, out: out / v),
        ("x.prod(1, keepdim=True)", lambda v, out: out / v),
        ("x.cumprod(1)", None),
        ("(x + 1j * x).prod(0)", None),
        ("t.linalg.det(x @ x.t())", None),
    ],
)
def test_result_of_a_product(t, call, slope):
    """d(out_of_first_pass)/d(out) is 1/x: the slopes out/x are made of the result itself, while no factor is zero."""
    x = t.tensor(POINT, dtype=t.float64, requires_grad=True)
    out = eval(call, {"x": x, "t": t})
    (g,) = t.autograd.grad(out, x, t.ones_like(out), create_graph=True)
    (by_out,) = t.autograd.grad(g.sum(), out, retain_graph=True)
    assert by_out.abs().sum() > 0
    if slope is not None:
        values = np.array(POINT)
        assert np.allclose(g.detach().numpy(), slope(values, out.detach().numpy()))
        assert np.allclose(
            by_out.numpy(), (1 / values).sum(0 if by_out.shape[-1] == 3 else 1, keepdims=by_out.shape[-1] == 1)
        )


def test_second_pass_calls_the_hooks_of_a_product(t):
    """And so the hooks on a product are called once more."""
    x = t.tensor([0.5, 2.0], dtype=t.float64, requires_grad=True)
    out = x.prod()
    seen = []
    out.register_hook(lambda g: seen.append(g.item()))
    (g,) = t.autograd.grad(out, x, create_graph=True)
    t.autograd.grad(g.sum(), x)
    assert seen == [1, 2.5]


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_result_changed_behind_the_graph(t, name):
    """What is done to the result through ``.data`` shows in the derivative."""
    x = t.tensor([0.5, -1.2, 2.0], dtype=t.float64, requires_grad=True)
    out = getattr(x, name)(0)
    out.data.mul_(3)
    before = t.tensor([0.5, -1.2, 2.0], dtype=t.float64, requires_grad=True)
    (g,) = t.autograd.grad(out.sum(), x)
    (h,) = t.autograd.grad(getattr(before, name)(0).sum(), before)
    assert g.tolist() == pytest.approx([3 * v for v in h.tolist()])


def test_result_of_a_determinant(t):
    """d(det·X⁻ᵀ)/d(det) is X⁻ᵀ; where the matrix is singular the determinant is not looked at."""
    x = t.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=t.float64, requires_grad=True)
    out = t.linalg.det(x)
    (g,) = t.autograd.grad(out, x, create_graph=True)
    (by_out,) = t.autograd.grad(g.sum(), out)
    assert by_out.item() == pytest.approx(np.linalg.inv(x.detach().numpy()).sum())
    x = t.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=t.float64, requires_grad=True)
    out = t.linalg.det(x)
    (g,) = t.autograd.grad(out, x, create_graph=True)
    found = t.autograd.grad(g.sum(), [x, out], allow_unused=True)
    assert found[0].flatten().tolist() == pytest.approx([1, -1, -1, 1])
    assert found[1] is None or found[1].item() == 0


def test_hooks_on_a_determinant_are_called_twice(t):
    x = t.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=t.float64, requires_grad=True)
    out = t.linalg.det(x)
    seen = []
    out.register_hook(lambda g: seen.append(g.item()))
    (g,) = t.autograd.grad(out, x, create_graph=True)
    t.autograd.grad(g.sum(), x)
    assert seen == pytest.approx([1, np.linalg.inv(x.detach().numpy()).sum()])

"""Operands that are told to require grad when the graph is there: a second gradient reads them as they are by then."""

from __future__ import annotations

import pytest

from tests.leaves import values

CALLS = {
    "a * b": [None, [1.0, 2.0]],
    "F.mse_loss(a, b, reduction='sum')": [[2.0, 4.0], [-2.0, -4.0]],
    "F.smooth_l1_loss(a, b, reduction='sum', beta=4)": [[0.25, 0.5], [-0.25, -0.5]],
    "F.huber_loss(a, b, reduction='sum', delta=4)": [[1.0, 2.0], [-1.0, -2.0]],
    "F.huber_loss(input=a, target=b, reduction='sum', delta=4)": [[1.0, 2.0], [-1.0, -2.0]],
}


@pytest.mark.parametrize("nonleaf", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_second_gradient_of_an_operand_told_late(t, call, nonleaf):
    """The first gradient is that of the graph as it was; its own gradient has one by the operand, too."""
    leaf, b = t.tensor([4.0, 10.0], requires_grad=True), t.tensor([3.0, 8.0])
    a = leaf * 1 if nonleaf else leaf
    scope = {"a": a, "b": b, "F": t.nn.functional}
    y = eval(call, scope).sum()
    b.requires_grad_()
    assert t.autograd.grad(y, [b], retain_graph=True, allow_unused=True) == (None,)
    (g,) = t.autograd.grad(y, leaf, create_graph=True)
    seconds = t.autograd.grad((g * t.tensor([1.0, 2.0])).sum(), [leaf, b], allow_unused=True)
    assert [None if v is None else values(v) for v in seconds] == CALLS[call]


def test_matrix_of_which_factors_are_kept(t):
    """Of the matrix of a linear system torch keeps factors, and it has a second gradient all the same."""
    a, b = t.tensor([[2.0, 0.0], [0.0, 4.0]]), t.tensor([[1.0], [1.0]], requires_grad=True)
    y = t.linalg.solve(a, b).sum()
    a.requires_grad_()
    (g,) = t.autograd.grad(y, b, create_graph=True)
    assert values(g) == [[0.5], [0.25]]
    (second,) = t.autograd.grad(g.sum(), a)
    assert values(second) == [[-0.25, -0.125], [-0.125, -0.0625]]

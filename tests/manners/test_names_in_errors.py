"""What errors about changed values call them: by the node of the tensor as it is by then, as in torch."""

from __future__ import annotations

import pytest

CHANGES = {
    "y = x * 2; z = y.sin(); y.add_(1)": "Add",
    "y = x * 2; z = y.sin(); y.add_(1); y.exp_()": "Exp",
    "y = x.exp(); z = y; z.add_(1)": "Exp",
    "y = x * 2; z = y.sin(); y.fill_(2)": "Fill2",
    "y = x * 2; z = y.sin(); y.zero_()": "Zero",
    "y = x * 2; z = y.sin(); y.clamp_(0, 1)": "Clamp1",
    "y = x * 2; z = y.sin(); y.copy_(x)": "torch::autograd::CopyBackwards",
    "y = x * 2; z = y.sin(); y[0] = 1": "torch::autograd::CopySlices",
    "y = x * 2; z = y.sin(); y[:1].add_(1)": "torch::autograd::CopySlices",
    "y = x * 2; v = y[:1]; z = v.sin(); y.add_(1)": "AsStrided",
    "y = x * 2; v = y.view(2, 1); z = v.sin(); v.mul_(2)": "AsStrided",
    "y = x * 2; v = y[:]; z = v.sin(); v.mul_(2)": "AsStrided",
    "y = x * 2; v = y[:]; z = y.sin(); v.mul_(2)": "torch::autograd::CopySlices",
    "y = t.einsum('ij,j->i', t.ones(2, 2) * x, x); z = y.sin(); y.mul_(2)": "AsStrided",
    "y = x + 0; y += x; y *= y; z = y": "Mul",
    "y = x * 2; z = y.sin(); y.detach().add_(1)": "Mul",
    "y = x * 2; z = y.sin(); t.no_grad()(y.add_)(1)": "Mul",
    "c = t.ones(2); z = x * c; c.mul_(x)": "Mul",
    "c = t.ones(2); z = x * c; c.add_(1)": None,
    "z = x * x; t.no_grad()(x.add_)(1)": None,
    "y = x.softmax(0); z = y * y; y.relu_()": "Relu",
}


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("program", CHANGES)
def test_changed_values_are_called_by_their_history(t, program, held):
    """Whether anybody holds the tensor or not."""
    scope = {"t": t, "x": t.tensor([1.0, 2.0], requires_grad=True)}
    exec(program, scope)
    z = scope["z"].sum()
    if not held:
        scope.clear()
    word = CHANGES[program]
    words = (
        r"\[torch.FloatTensor \[\d(, \d)?\]\]" + ("" if word is None else f", which is output 0 of {word},") + " is at"
    )
    with pytest.raises(RuntimeError, match=f"modified by an inplace operation: {words} version"):
        z.backward()

"""Operands that a change in place makes stale: those that lie in the changed memory, and those kept whole."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("change", ["v.mul_(v)", "v.div_(v)", "v.pow_(v)", "v.addcmul_(v, v)", "v.addcdiv_(v, v)",
                                    "v.lerp_(v, v)", "v.mul_(v.detach())", "v.mul_(v.view(-1))", "v.clamp_(v, v)",
                                    "v[:1].pow_(v.detach()[1:])", "v.copysign_(v.detach()).mul_(v)"])  # fmt: skip
def test_saved_argument_is_what_changes(t, change):
    """An operand that lies in the memory being changed is saved as any other, and stale at once."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    v = x * 1
    eval(change, {"v": v})
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        v.sum().backward()


@pytest.mark.parametrize("change", ["v.add_(v)", "v.sub_(v, alpha=2)", "v.lerp_(v, 0.5)",
                                    "v.addcdiv_(v, v.detach() + 1)",
                                    "v.masked_fill_(v > 0, v[0])", "v.sin_()"])  # fmt: skip
def test_unsaved_argument_is_what_changes(t, change):
    """Where the derivative does not need the old contents of another operand, all is well."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    v = x * 1
    eval(change, {"v": v})
    v.sum().backward()
    assert x.grad.shape == (2,)


@pytest.mark.parametrize("call", ["index_add(a, 0, i, b)", "index_copy(a, 0, i, b)",
                                  "nn.functional.threshold(b, 0.0, 1.0)",
                                  "lerp(a, b, a)", "lerp(b, a, a)"])  # fmt: skip
def test_operands_that_are_kept_whole(t, call):
    """Operands that torch keeps though the derivative would get by with less."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    a, b, i = x * 1, x * 2, t.tensor([0, 1])
    y = eval(f"t.{call}", {"t": t, "a": a, "b": b, "i": i})
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()

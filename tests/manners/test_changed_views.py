"""Views that were changed in place: what their history does in recorded and in second passes."""

from __future__ import annotations

import pytest

SECOND_TIME = "Trying to backward through the graph a second time"
CHANGES = ["v.fill_(0.5)", "v.zero_()", "v.copy_(v.detach() * 2)", "v.sign_()"]


def changed(t, change):
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    v = y.transpose(0, 1)
    eval(change, {"v": v})
    return x, y


@pytest.mark.parametrize("change", CHANGES)
def test_recorded_zeros_have_history(t, change):
    """A change without derivative leaves zeros that are a copy into the base's gradient, with its history."""
    x, y = changed(t, change)
    (g,) = t.autograd.grad(y.sin().sum(), x, create_graph=True)
    assert g.requires_grad
    assert g.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    (g,) = t.autograd.grad(y.sum(), x, create_graph=True)
    assert not g.requires_grad


@pytest.mark.parametrize("change", [*CHANGES, "v.add_(1)"])
def test_second_pass(t, change):
    """The change of a view is undone by the pass that runs through it, even where nothing was saved."""
    _, y = changed(t, change)
    y.sum().backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.sum().backward()


@pytest.mark.parametrize("change", ["v.fill_(0.5)", "v.zero_()"])
def test_entries_shown_twice(t, change):
    """One value may be written into a view that shows entries twice, but no gradient can be copied back."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y.expand(2, 2)
    eval(change, {"v": v})
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y.sum().backward()


@pytest.mark.parametrize("call", ["t.add(x, x, alpha=3)", "t.sub(x, x, alpha=2)", "t.lerp(x, x, 0.3)"])
def test_numbers_are_not_freed(t, call):
    """Functions that multiply by a number on the way and save nothing can be run through twice."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    y.sum().backward()
    first = x.grad.clone()
    y.sum().backward()
    assert x.grad.tolist() == (2 * first).tolist()


@pytest.mark.parametrize("call", ["x.max(0)[0]", "x.max()", "x.prod(0)", "x.prod()", "x.softmax(0)", "x.log_softmax(0)",
                                  "t.copysign(x, t.tensor(1.0))"])  # fmt: skip
def test_numbers_without_axes_are_saved_too(t, call):
    """What a reduction does to a 0-d tensor is nothing, but what it saved is freed all the same."""
    x = t.tensor(2.0, requires_grad=True)
    y = eval(call, {"t": t, "x": x})
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND_TIME):
        y.backward()


def test_bessel_function_saves_its_argument_only(t):
    """The result of i0 may change, its derivative is i1 of the argument."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = t.special.i0(x)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx((2 * t.special.i1(x)).tolist())

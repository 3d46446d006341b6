"""``allow_mutation_on_saved_tensors``: what backward needs may be changed in place, and backward stays right."""

from __future__ import annotations

import pytest

from tests.leaves import leaf


def allowed(t):
    return t.autograd.graph.allow_mutation_on_saved_tensors()


def test_basic(t):
    """A result that a square saved is changed; the gradient is that of the forward pass."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        out = (y**2).sum()
        y.sin_()
        out.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_views(t):
    """The change goes through a view of a view; the whole and another view were saved."""
    x = leaf(t, [1.0, 2.0, 3.0, 4.0])
    with allowed(t):
        y = x.clone()
        out = (y**2).sum() + (y[:2] ** 2).sum()
        y.view(2, 2)[:1].mul_(10)
        out.backward()
    assert x.grad.tolist() == [4.0, 8.0, 6.0, 8.0]


def test_save_base_and_modify_view(t):
    """The whole is saved, a view of it changed."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        view = y[:1]
        out = y**2
        view.mul_(10)
        assert y.tolist() == [10.0, 2.0]
        out.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_save_view_modify_base(t):
    """A view is saved, the whole changed."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        out = (y[:] ** 2).sum()
        y.mul_(10)
        out.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_double_backward(t):
    """Second order: what the first backward saved may change, too."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        out = (y**3).sum()
        y.zero_()
        (g,) = t.autograd.grad(out, x, create_graph=True)
        assert g.tolist() == [3.0, 12.0]
        (h,) = t.autograd.grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]


def test_saved_same_tensor_many_times(t):
    """One tensor that several operations saved, changed once."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        square, sine, product = y**2, y.sin(), y * y
        y.zero_()
        (square + product).sum().backward(retain_graph=True)
        assert x.grad.tolist() == [4.0, 8.0]
        (g,) = t.autograd.grad(sine.sum(), x)
    assert g.tolist() == x.detach().cos().tolist()


def test_saved_same_tensor_different_versions(t):
    """One tensor saved before a change and after it: each operation has its own."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        before = (y**2).sum()
        y.mul_(10)
        after = (y**2).sum()
        y.zero_()
        (before + after).backward()
    assert x.grad.tolist() == [2.0 + 200.0, 4.0 + 400.0]


@pytest.mark.except_symgrad("what was saved is a copy of its own, so backward is right also when the context has ended")
def test_backward_out_of_context(t):
    """Backward after the context has ended is an error."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t):
        y = x.clone()
        out = (y**2).sum()
        y.zero_()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
        out.backward()


def test_disallow_nesting(t):
    """One such context within another is refused."""
    with (
        allowed(t),
        pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"),
        allowed(t),
    ):
        pass


def test_clear(t):
    """What was kept for the context is forgotten: backward through it fails, and through what comes later does not."""
    x = leaf(t, [1.0, 2.0])
    with allowed(t) as context:
        y = x.clone()
        out = (y**2).sum()
        y.mul_(10)
        context.clear()
        with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors' context"):
            out.backward()
        later = (y**2).sum()
        y.zero_()
        later.backward()
    assert x.grad.tolist() == [200.0, 400.0]

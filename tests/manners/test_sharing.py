"""Tensors that take over other memory, and views of other classes."""

from __future__ import annotations

import pytest


def test_set(t):
    """Memory is shared from then on, and the version counts it."""
    x, y = t.ones(2), t.tensor([1.0, 2.0, 3.0])
    assert x.set_(y) is x
    y[0] = 5.0
    assert x.tolist() == [5.0, 2.0, 3.0]
    assert x._version == 1
    assert x.is_set_to(y)
    assert x.set_(y, 1, (2,), (1,)).tolist() == [2.0, 3.0]
    assert not x.is_set_to(y)
    assert x.is_set_to(y[1:])
    assert x.set_().shape == (0,)


def test_set_of_leaves(t):
    x = t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.set_(t.zeros(3))
    with t.no_grad():
        x.set_(t.zeros(3))
    assert x.is_leaf
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="Could not set tensor of type long int to a tensor of type float"):
        t.ones(2).set_(t.ones(2, dtype=t.int64))


@pytest.mark.parametrize("way", ["itself", "its detached", "a view of it"])
def test_set_is_a_change_of_what_was_saved(t, way):
    """Backward objects, as to every change in place, and does not read the other memory."""
    a = t.tensor([1.0, 2.0], requires_grad=True)
    c = a * 2
    y = (c * c).sum()
    z = c.exp().sum()
    with t.no_grad():
        {"itself": c, "its detached": c.detach(), "a view of it": c[:]}[way].set_(t.tensor([5.0, 6.0]))
    assert c._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation.* is at version 1; expected version 0"):
        y.backward()
    z.backward()
    assert t.allclose(a.grad, 2 * t.exp(t.tensor([2.0, 4.0])))


def test_set_of_a_constant_and_of_a_leaf_that_were_saved(t):
    a, c = t.tensor([1.0, 2.0], requires_grad=True), t.tensor([2.0, 3.0])
    y, z = (c * a).sum(), (a * a).sum()
    with t.no_grad():
        c.set_(c)
        a.set_(t.tensor([5.0, 6.0]))
    for out in (y, z):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()


def test_as_subclass(t):
    """A view with the same history."""

    class Length(t.Tensor):
        pass

    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = (x * 2).as_subclass(Length)
    assert type(y) is Length
    assert type(y.grad_fn).__name__ == "AliasBackward0"
    assert y._is_view()
    t.Tensor.sum(y.as_subclass(t.Tensor) ** 2).backward()
    assert x.grad.tolist() == [8.0, 16.0]
    plain = t.ones(2)
    plain.as_subclass(Length).data[0] = 4.0
    assert plain.tolist() == [4.0, 1.0]
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        plain.as_subclass(int)

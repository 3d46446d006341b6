"""``_foreach_…``: functions of lists of tensors, which training loops and hand-written optimisers call."""

from __future__ import annotations

import pytest


def lists(t):
    return [t.tensor([1.0, 2.0]), t.tensor([[4.0]])], [t.tensor([3.0, 5.0]), t.tensor([[7.0]])]


def numbers(tensors):
    return [tensor.tolist() for tensor in tensors]


CALLS = {
    "mul_": (lambda a, b: (0.5,), [[0.5, 1.0], [[2.0]]]),
    "add_": (lambda a, b: (b,), [[4.0, 7.0], [[11.0]]]),
    "sub_": (lambda a, b: ([1.0, 2.0],), [[0.0, 1.0], [[2.0]]]),
    "div_": (lambda a, b: (a,), [[1.0, 1.0], [[1.0]]]),
    "addcmul_": (lambda a, b: (b, b, 2.0), [[19.0, 52.0], [[102.0]]]),
    "addcdiv_": (lambda a, b: (b, b, [1.0, 2.0]), [[2.0, 3.0], [[6.0]]]),
    "lerp_": (lambda a, b: (b, 0.5), [[2.0, 3.5], [[5.5]]]),
    "copy_": (lambda a, b: (b,), [[3.0, 5.0], [[7.0]]]),
    "zero_": (lambda a, b: (), [[0.0, 0.0], [[0.0]]]),
    "reciprocal_": (lambda a, b: (), [[1.0, 0.5], [[0.25]]]),
    "maximum_": (lambda a, b: (b,), [[3.0, 5.0], [[7.0]]]),
    "maximum": (lambda a, b: (1.5,), [[1.5, 2.0], [[4.0]]]),
    "clamp_max": (lambda a, b: (1.5,), [[1.0, 1.5], [[1.5]]]),
    "pow": (lambda a, b: (2,), [[1.0, 4.0], [[16.0]]]),
    "norm": (lambda a, b: (1,), [3.0, 4.0]),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_is_done_with_its_partner(t, name):
    """Those that change their tensors count one change each, and give the list back."""
    (a, b), (arguments, expected) = lists(t), CALLS[name]
    made = getattr(t, f"_foreach_{name}")(a, *arguments(a, b))
    assert numbers(made) == expected
    changed = name.endswith("_")
    assert all((one is other) is changed for one, other in zip(made, a, strict=True))
    assert [tensor._version for tensor in a] == [int(changed)] * 2
    assert type(made) is (list if changed else tuple)


def test_scalars_come_as_a_tensor(t):
    a, b = lists(t)
    assert numbers(t._foreach_addcmul(a, b, b, t.tensor([1.0, 0.0]))) == [[10.0, 27.0], [[4.0]]]
    with pytest.raises(RuntimeError, match="Expected length of scalars to match input of length 2 but got 3 instead."):
        t._foreach_addcmul(a, b, b, t.ones(3))
    assert numbers(t._foreach_pow(2.0, a)) == [[2.0, 4.0], [[16.0]]]


def test_lists_of_other_lengths_are_refused(t):
    a, _ = lists(t)
    with pytest.raises(RuntimeError, match="Tensor lists must have the same number of tensors, got 2 and 1"):
        t._foreach_add_(a, a[:1])
    with pytest.raises(RuntimeError, match="Tensor list must have same number of elements as scalar list."):
        t._foreach_add_(a, [1.0])
    with pytest.raises(RuntimeError, match="Tensor list must have at least one tensor."):
        t._foreach_neg([])
    with pytest.raises(AttributeError):
        t._foreach_backward(a)


def test_a_step_with_momentum_and_clipping(t):
    """Gradients flow through what is not in place; leaves are changed without grad only."""
    weights = [t.tensor([3.0], requires_grad=True), t.tensor([4.0], requires_grad=True)]
    length = t.stack(t._foreach_norm(weights)).norm()
    length.backward()
    assert [w.grad.item() for w in weights] == pytest.approx([0.6, 0.8])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        t._foreach_add_(weights, 1.0)
    with t.no_grad():
        t._foreach_add_(weights, [w.grad for w in weights], alpha=-1.0)
    assert [w.item() for w in weights] == pytest.approx([2.4, 3.2])

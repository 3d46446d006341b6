"""Inference mode: what is made inside, what may be done with it outside, and what becomes of ordinary tensors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from tests.leaves import values

SAVED = "Inference tensors cannot be saved for backward"
OUTSIDE = "Inplace update to inference tensor outside InferenceMode is not allowed"


def made_inside(t, requires_grad=False):
    with t.inference_mode():
        return t.ones(2, 3, requires_grad=requires_grad)


def test_inference_mode_context_manager(t):
    """The mode nests, can be switched off inside of itself, and ends with its block, also after an error."""
    assert not t.is_inference_mode_enabled()
    with t.inference_mode():
        assert t.is_inference_mode_enabled()
        assert not t.is_grad_enabled()
        with t.inference_mode(False):
            assert not t.is_inference_mode_enabled()
            assert t.is_grad_enabled()
            assert (t.ones(2, requires_grad=True) * 2).requires_grad
            with t.inference_mode(True):
                assert t.is_inference_mode_enabled()
        assert t.is_inference_mode_enabled()
        with t.enable_grad():
            assert not (t.ones(2, requires_grad=True) * 2).requires_grad
    with pytest.raises(ZeroDivisionError), t.inference_mode():
        1 / 0
    assert not t.is_inference_mode_enabled()
    assert t.is_grad_enabled()


def test_inference_mode_decorator(t):
    """Functions under the decorator run in the mode it names, with brackets, with an argument, or bare."""

    def product(x):
        return t.is_inference_mode_enabled(), x * 3

    x = t.ones(2, requires_grad=True)
    for mode in (True, False):
        enabled, result = t.inference_mode(mode)(product)(x)
        assert enabled is mode
        assert result.requires_grad is not mode
        assert result.is_inference() is mode
    for wrapped in (t.inference_mode()(product), t.inference_mode(product)):
        assert wrapped(x)[0]
        assert wrapped.__name__ == "product"
    assert not t.is_inference_mode_enabled()


def test_inference_mode_tensor_creation(t):
    """Every way of making a tensor inside makes an inference tensor; it may carry the flag, and count no versions."""
    with t.inference_mode():
        made = [t.tensor([1.0, 2.0]), t.zeros(3), t.from_numpy(np.ones(2)), t.arange(3.0), t.zeros(2) + 1]
        flagged = [t.ones(2, requires_grad=True), t.zeros(2).requires_grad_()]
    for tensor in (*made, *flagged):
        assert t.is_inference(tensor)
        assert tensor.is_inference()
        assert tensor.is_leaf
        with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
            tensor._version
    assert [x.requires_grad for x in made] == [False] * 5
    assert [x.requires_grad for x in flagged] == [True] * 2
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
        made[0].requires_grad_()
    assert not t.is_inference(t.ones(2))


def test_inference_mode_existing_autograd_session(t):
    """A change made inside of an ordinary tensor spoils the graph outside that saved it."""
    x = t.ones(2, 3, requires_grad=True)
    y = x.clone()
    z = y * y
    with t.inference_mode():
        y.add_(2)
    assert not y.is_inference()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward(t.ones_like(z))


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_inf_mode_functional_op(t, requires_grad):
    """Inside, results are inference tensors without history."""
    x = made_inside(t, requires_grad)
    with t.inference_mode():
        for result in (x * x, x.exp(), t.cat([x, x]), x @ x.T, x.sum()):
            assert result.is_inference()
            assert not result.requires_grad
            assert result.is_leaf


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_inf_mode_inplace_op(t, requires_grad):
    """Inside, inference tensors may be changed, flag or no flag."""
    with t.inference_mode():
        x = t.ones(2, 3, requires_grad=requires_grad)
        assert x.mul_(4) is x
        x[0] = 7
        assert x.is_inference()
        assert x.requires_grad is requires_grad
    assert values(x) == [[7.0] * 3, [4.0] * 3]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_inf_mode_view_op(t, requires_grad):
    """Inside, a view of one shares its memory and is an inference tensor that requires no grad."""
    with t.inference_mode():
        x = t.ones(2, 3, requires_grad=requires_grad)
        for view in (x.view(-1), x[1], x.T, x.unsqueeze(0)):
            assert view.is_inference()
            assert not view.requires_grad
            assert view.is_leaf
        x[1].add_(1)
    assert values(x) == [[1.0] * 3, [2.0] * 3]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_normal_mode_functional_op(t, requires_grad):
    """Outside, what is computed from inference tensors alone is an ordinary tensor and a leaf."""
    x = made_inside(t, requires_grad)
    for result in (x * x, x + x, x.exp(), x.sum(0)):
        assert not result.is_inference()
        assert not result.requires_grad
        assert result.is_leaf
    assert (x * x).requires_grad_().requires_grad


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_normal_mode_inplace_op(t, requires_grad):
    """Outside, an inference tensor may not be changed."""
    x = made_inside(t, requires_grad)
    words = "a leaf Variable that requires grad is being used in an in-place operation" if requires_grad else OUTSIDE
    for change in (lambda: x.mul_(2), lambda: x.add_(t.ones(2, 3)), lambda: x.t_()):
        with pytest.raises(RuntimeError, match=f"{words}|{OUTSIDE}"):
            change()
    with pytest.raises(RuntimeError, match=words):
        x.mul_(2)


@pytest.mark.parametrize("requires_grad", [True, False])
def test_inference_mode_inf_tensor_in_normal_mode_view_op(t, requires_grad):
    """Outside, a view of one is an inference tensor as well, and nobody tracks it as a view."""
    x = made_inside(t, requires_grad)
    for view in (x.view(-1), x[0], x.T):
        assert view.is_inference()
        assert not view.requires_grad
        assert view.is_leaf
        assert not view._is_view()
        with pytest.raises(RuntimeError, match=OUTSIDE):
            view.mul_(2)


@pytest.mark.parametrize("requires_grad", [True, False])
def test_normal_tensor_inplace_output_in_inference_mode(t, requires_grad):
    """An ordinary tensor that is changed inside, itself or through its views, stays ordinary and keeps its history."""
    x = t.ones(2, 3, requires_grad=requires_grad)
    y = x.clone()
    with t.inference_mode():
        y.add_(1)
        y[0].mul_(3)
        y.view(-1).add_(1)
    assert not y.is_inference()
    assert y.requires_grad is requires_grad
    assert y.is_leaf is not requires_grad
    assert y._version == 3
    assert values(y) == [[7.0] * 3, [3.0] * 3]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_normal_tensor_view_output_in_inference_mode(t, requires_grad):
    """Inside, a view of an ordinary tensor is ordinary, carries the flag as a leaf, and gives inference results."""
    y = t.ones(2, 3, requires_grad=requires_grad).clone()
    with t.inference_mode():
        view = y.view(-1)
        assert not view.is_inference()
        assert view.requires_grad is requires_grad
        assert view.is_leaf
        assert view._is_view()
        assert (view * 2).is_inference()
        again = view[:3]
        assert not again.is_inference()
        view.add_(1)
    assert values(again) == [2.0] * 3


@pytest.mark.parametrize("requires_grad", [True, False])
def test_normal_tensor_view_output_in_normal_mode(t, requires_grad):
    """Outside, such a view serves in computations, and may be changed only where nothing requires grad."""
    y = t.ones(2, 3, requires_grad=requires_grad).clone()
    with t.inference_mode():
        view = y.view(-1)
    result = view * 3
    assert not result.is_inference()
    assert result.requires_grad is requires_grad
    deeper = view[:2]
    assert not deeper.is_inference()
    if requires_grad:
        with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
            view.mul_(2)
        with pytest.raises(RuntimeError, match="is a view of a view which was created in inference mode"):
            deeper.mul_(2)
    else:
        view.mul_(2)
        deeper.mul_(2)
        assert values(y) == [[4.0, 4.0, 2.0], [2.0] * 3]


def test_mix_inference_and_normal_tensor_functional_op(t):
    """A graph takes an inference tensor where it need not keep it, and refuses it where it must."""
    x = t.ones(2, 3, requires_grad=True)
    s = made_inside(t)
    total = x + s
    assert total.requires_grad
    assert not total.is_inference()
    for product in (lambda: x * s, lambda: (x * 2) * s, lambda: t.matmul(x, s.T), lambda: s * x):
        with pytest.raises(RuntimeError, match=SAVED):
            product()
    copied = x * s.clone()
    (total + copied).sum().backward()
    assert values(x.grad) == [[2.0] * 3] * 2
    assert not (t.ones(2, 3) * s).requires_grad


def test_mix_inference_and_normal_tensor_inplace_op(t):
    """In place it is the same: added it may be, multiplied in not, and nothing goes into an inference tensor."""
    x = t.ones(2, 3, requires_grad=True)
    s = made_inside(t)
    y = x.clone()
    y.add_(s)
    assert values(y) == [[2.0] * 3] * 2
    with pytest.raises(RuntimeError, match=SAVED):
        y.mul_(s)
    with pytest.raises(RuntimeError, match=OUTSIDE):
        s.add_(t.ones(2, 3))
    y.copy_(s)
    y.sum().backward()
    assert values(x.grad) == [[0.0] * 3] * 2
    with t.inference_mode():
        s.zero_()
        s.add_(t.ones(2, 3))
    assert values(s) == [[1.0] * 3] * 2


def test_mix_inference_and_normal_tensor_view_op(t):
    """A view may take its shape from a tensor of the other sort."""
    x = t.ones(6, requires_grad=True)
    s = made_inside(t)
    shaped = x.view_as(s)
    assert tuple(shaped.shape) == (2, 3)
    assert shaped.requires_grad
    assert not shaped.is_inference()
    flat = s.view_as(x)
    assert flat.is_inference()
    assert not flat.requires_grad


def test_inference_mode_handle_direct_view_on_rebase(t):
    """A view made inside of a tensor with history may not be changed outside."""
    for source in (t.ones(2, 3, requires_grad=True), t.ones(2, 3, requires_grad=True).clone()):
        with t.inference_mode():
            view = source.view_as(source)
        with pytest.raises(RuntimeError, match="A view was created in inference mode and is being modified inplace"):
            view.add_(1)


def test_inference_mode_handle_indirect_view_on_rebase(t):
    """Nor may a view of it, made outside; and when the base is changed, the view made inside is lost."""
    for source in (t.ones(2, 3, requires_grad=True), t.ones(2, 3, requires_grad=True).clone()):
        with t.inference_mode():
            view = source.view(-1)
        outer = view.view(3, 2)
        with pytest.raises(RuntimeError, match="created in inference mode and is being modified inplace"):
            outer.add_(1)
    source.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        view.grad_fn
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        view * 2


def test_inference_leaf_in_recorded_operations(t):
    """An inference tensor that requires grad is a leaf to copies and to operations with others, to none by itself."""
    with t.inference_mode():
        x = t.tensor([2.0], requires_grad=True)
    for made in (x.clone(), x.double(), x + 2):
        x.grad = None
        assert made.requires_grad
        assert not made.is_inference()
        made.sum().backward()
        assert x.grad.tolist() == [1.0]
    assert not x.sin().requires_grad
    assert not x.view(1).requires_grad
    seen = []
    x.register_hook(seen.append)
    (x + 1).sum().backward()
    assert len(seen) == 1


def test_versions_of_what_inference_tensors_give(t):
    """Copies made outside are normal tensors; what is taken off an inference tensor there counts its changes."""
    with t.inference_mode():
        x = t.tensor([2.0, 3.0])
    for made in (x.repeat(1), x.tile((2,)), x.repeat(2, 1)):
        assert not made.is_inference()
        made.add_(1)
    assert x.tolist() == [2.0, 3.0]
    assert (x.data._version, x.detach()._version) == (0, 0)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = x._version


def test_calls_by_name_once_there_was_an_inference_tensor(t):
    """What such a tensor changes of later calls asks for their first operand, whether it has a name or a place."""
    with t.inference_mode():
        t.ones(1)
    x, y = t.tensor([1.0, 4.0, 2.0]), t.tensor([3.0, 3.0, 3.0])
    assert t.max(input=x, other=y).tolist() == [3.0, 4.0, 3.0]
    assert t.min(input=x, other=y).tolist() == [1.0, 3.0, 2.0]
    assert t.max(input=x, dim=0)[1].item() == 1
    assert t.mode(input=y, dim=0)[0].item() == 3.0
    assert t.cumsum(input=x, dim=0).tolist() == t.cumsum(dim=0, input=x).tolist() == [1.0, 5.0, 7.0]
    assert t.cumprod(input=x, dim=0).tolist() == [1.0, 4.0, 8.0]
    assert t.logcumsumexp(input=x, dim=0).tolist()[0] == 1.0


@pytest.mark.parametrize(
    ("call", "slopes"),
    [
        ("x + w", [1.0, 1.0]),
        ("w + x", [1.0, 1.0]),
        ("x * 1 + w", [1.0, 1.0]),
        ("x - w", [-1.0, -1.0]),
        ("t.sub(w, x)", [1.0, 1.0]),
        ("t.sub(x, w, alpha=2)", [-2.0, -2.0]),
    ],
)
def test_inference_leaf_beside_what_is_tracked(t, call, slopes):
    """An inference tensor that claims to require grad gets its gradient beside others that require it, too."""
    with t.inference_mode():
        w = t.tensor([1.0, 2.0], requires_grad=True)
    x = t.tensor([3.0, 4.0], requires_grad=True)
    y = eval(call, {"t": t, "w": w, "x": x})
    assert t.autograd.grad(y.sum(), w)[0].tolist() == slopes


def test_integers_never_require_grad(t):
    """Whole numbers refuse ``requires_grad_`` in inference mode, too, and out of it before that is asked."""
    with t.inference_mode():
        x = t.tensor([1, 2])
        with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
            x.requires_grad_()
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
        x.requires_grad_()


COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_inference_tensors(t, how):
    """They are what the mode of their making says: inside inference tensors, outside leaves that may require grad."""
    with t.inference_mode():
        w = t.tensor([2.0, 1.0], requires_grad=True)
        inside = COPIES[how](w)
        assert (inside.requires_grad, inside.is_inference(), inside.is_leaf) == (True, True, True)
        assert COPIES[how](w.detach()).is_inference()
        assert not COPIES[how](w.detach()).requires_grad
    outside = COPIES[how](w)
    assert (outside.requires_grad, outside.is_inference(), outside.is_leaf) == (True, False, True)
    (outside * outside).sum().backward()
    assert outside.grad.tolist() == [4.0, 2.0]


@pytest.mark.parametrize("how", COPIES)
def test_copies_in_inference_mode(t, how):
    """Of an ordinary leaf the copy is an inference tensor there, which still says that it requires grad."""
    x = t.tensor([2.0, 1.0], requires_grad=True)
    with t.inference_mode():
        made = COPIES[how](x)
    assert (made.requires_grad, made.is_inference()) == (True, True)

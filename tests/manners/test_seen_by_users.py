"""What torch.autograd shows its users, stated once and held by both: every statement runs on symgrad and on torch.

``t`` is the module under test; where torch is not installed its half is skipped.  What PyTorch's own tests ask for
stands in the other files here, what only symgrad has (formulas) in ``tests/formulas/test_beside_numbers.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.leaves import values


@pytest.fixture(params=["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def t(request):
    if request.param == "symgrad":
        return symgrad
    torch = pytest.importorskip("torch", reason="torch, the referee of these statements, is not installed")
    torch.set_warn_always(True)  # each test by itself, whatever ran before
    return torch


def text(value) -> str:
    """repr, with dtypes written the same way by both."""
    return repr(value).replace("dtype=torch.", "dtype=")


def name(node) -> str:
    return node.name().rsplit("::", 1)[-1]


# ------------------------------------------------------------------------------------------ 1, 2: first contact


def test_leaf_constant_and_result(t):
    a = t.ones((3, 4), requires_grad=True)
    b = t.zeros(3, 4)
    c = a + b
    d = c.sum()
    d.backward()
    assert values(a.grad) == [[1.0] * 4] * 3
    assert b.grad is None
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert c.grad is None
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (True, False, True)
    assert (a.is_leaf, b.is_leaf, c.is_leaf) == (True, True, False)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda t: t.ones(2, 2, requires_grad=True),
            "tensor([[1., 1.],\n        [1., 1.]], requires_grad=True)",
        ),
        (
            lambda t: t.ones(2, 2, requires_grad=True) + 2,
            "tensor([[3., 3.],\n        [3., 3.]], grad_fn=<AddBackward0>)",
        ),
        (lambda t: t.tensor([6.0, 9.0], requires_grad=True).mean(), "tensor(7.5000, grad_fn=<MeanBackward0>)"),
        (lambda t: t.tensor([1.0, 2.0], dtype=t.float64), "tensor([1., 2.], dtype=float64)"),
        (lambda t: t.tensor([1, -20]), "tensor([  1, -20])"),
        (lambda t: t.tensor([True, False]), "tensor([ True, False])"),
        (lambda t: t.tensor([1, 2], dtype=t.int32), "tensor([1, 2], dtype=int32)"),
        (lambda t: t.tensor([0.5, 100.25]), "tensor([  0.5000, 100.2500])"),
        (lambda t: t.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
        (lambda t: t.tensor([1.0, float("nan"), float("inf")]), "tensor([1., nan, inf])"),
        (lambda t: t.tensor([1 + 2j, 3.5 - 1j]), "tensor([1.0000+2.j, 3.5000-1.j])"),
        (lambda t: t.tensor([]), "tensor([])"),
        (lambda t: t.zeros(2, 0), "tensor([], size=(2, 0))"),
        (lambda t: t.tensor(3), "tensor(3)"),
        (lambda t: t.tensor(2.0, requires_grad=True), "tensor(2., requires_grad=True)"),
        (
            lambda t: t.zeros(1001),
            "tensor([0., 0., 0.,  ..., 0., 0., 0.])",
        ),
    ],
)
def test_text(t, make, expected):
    assert text(make(t)) == expected


# ------------------------------------------------------------------------------------------ 3: in place


def test_in_place_on_a_leaf_is_refused(t):
    x = t.ones(2, requires_grad=True)
    for change in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.__iadd__(1), lambda: x.__setitem__(0, 1.0)):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            change()
    with t.no_grad():
        x += 1
    assert values(x) == [2.0, 2.0]
    assert x.is_leaf
    assert x.requires_grad


def test_in_place_on_a_result(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = y
    y += x
    assert z is y
    assert name(y.grad_fn) == "AddBackward0"
    y.sum().backward()
    assert values(x.grad) == [4.0, 4.0]


def test_copy_into_a_result(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.copy_(t.tensor([5.0, 6.0]))
    assert y.requires_grad
    (y * y).sum().backward()
    assert values(y) == [5.0, 6.0]
    assert values(x.grad) == [0.0, 0.0]


def test_changes_through_data_are_not_noticed(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    c = t.tensor([3.0, 4.0])
    y = x * c
    c.data.add_(1)
    y.sum().backward()
    assert values(x.grad) == [4.0, 5.0]


def test_changed_value_needed_for_backward(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    c = t.tensor([3.0, 4.0])
    y = x * c
    c.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# ------------------------------------------------------------------------------------------ 4: the graph


def test_graph(t):
    x = t.ones(3)
    w = t.ones(3, requires_grad=True)
    b = t.ones(3, requires_grad=True)
    y = w * x
    z = y + b
    assert name(z.grad_fn) == "AddBackward0"
    assert type(z.grad_fn).__name__ == "AddBackward0"
    assert name(y.grad_fn) == "MulBackward0"
    (first, number), (second, _) = z.grad_fn.next_functions
    assert (first, number) == (y.grad_fn, 0)
    assert name(second) == type(second).__name__ == "AccumulateGrad"
    assert second.variable is b
    (accumulate, _), constant = y.grad_fn.next_functions
    assert accumulate.variable is w
    assert constant == (None, 0)
    assert w.grad_fn is None
    assert x.grad_fn is None
    assert y.grad_fn is y.grad_fn


# ------------------------------------------------------------------------------------------ 5, 6, 7: backward


def test_gradient_argument(t):
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()
    y.backward(t.tensor([1.0, 1 / 2, 1 / 3]))
    np.testing.assert_allclose(values(x.grad), [2.0, 2.0, 2.0], rtol=1e-6)


def test_gradient_of_the_wrong_shape(t):
    x = t.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape: grad_output"):
        (x * 2).backward(t.ones(2))


def test_second_backward(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert values(x.grad) == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_create_graph(t):
    x = t.tensor(2.0, requires_grad=True)
    (first,) = t.autograd.grad(x**4, x, create_graph=True)
    (second,) = t.autograd.grad(first, x, create_graph=True)
    (third,) = t.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x**3).backward(create_graph=True)
    assert x.grad.requires_grad
    assert t.autograd.grad(x.grad, x)[0].item() == 12.0


def test_gradients_do_not_share_memory(t):
    x = t.ones(2, requires_grad=True)
    y = t.ones(2, requires_grad=True)
    seed = t.tensor([1.0, 2.0])
    (x + y).backward(seed)
    x.grad.zero_()
    assert values(y.grad) == [1.0, 2.0]
    assert values(seed) == [1.0, 2.0]


# ------------------------------------------------------------------------------------------ 8, 9: sums and dtypes


def test_python_sum(t):
    w = t.tensor([1.0, 2.0], requires_grad=True)
    x = t.tensor([3.0, 4.0])
    y = sum(w * x)
    assert y.item() == 11.0
    y.backward()
    assert values(w.grad) == [3.0, 4.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_gradients_keep_the_dtype(t, dtype):
    x = t.tensor([1.0, 2.0], dtype=getattr(t, dtype), requires_grad=True)
    y = (x * x).sum().abs() if dtype.startswith("complex") else (x * x).sum()
    y.backward()
    assert x.grad.dtype == getattr(t, dtype)


def test_mixed_dtypes(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    z = x * y
    assert z.dtype == t.float64
    z.sum().backward()
    assert (x.grad.dtype, y.grad.dtype) == (t.float32, t.float64)


# ------------------------------------------------------------------------------------------ 11: leaving the graph


def test_detach_shares_memory(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x.detach()
    assert not y.requires_grad
    assert y.is_leaf
    y[0] = 5.0
    assert values(x) == [5.0, 2.0]
    assert x._version == y._version == 1
    x.data.zero_()
    assert values(y) == [0.0, 0.0]
    assert x._version == 1


def test_item_and_data(t):
    x = t.tensor([2.5], requires_grad=True)
    assert isinstance(x.item(), float)
    assert x.item() == 2.5
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        t.ones(2).item()
    x.data = t.tensor([7.0])
    assert text(x) == "tensor([7.], requires_grad=True)"


def test_assigned_grad(t):
    x = t.ones(2, requires_grad=True)
    x.grad = t.tensor([1.0, 2.0])
    (x * 2).sum().backward()
    assert values(x.grad) == [3.0, 4.0]
    x.grad.data.zero_()
    assert values(x.grad) == [0.0, 0.0]
    x.grad = None
    assert x.grad is None
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = t.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = t.ones(3, dtype=t.float64)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0


# ------------------------------------------------------------------------------------------ 12, 13: retain, leaves


def test_retain_grad(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward(retain_graph=True)
    assert values(y.grad) == [4.0, 8.0]
    (y * y).sum().backward()
    assert values(y.grad) == [8.0, 16.0]
    x.retain_grad()
    assert not x.retains_grad
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        t.ones(2).retain_grad()


def test_leaves(t):
    x = t.ones(2)
    assert x.is_leaf
    assert (x * 2).is_leaf
    w = t.ones(2, requires_grad=True)
    assert w.is_leaf
    assert w.grad_fn is None
    assert not (w * 2).is_leaf


# ------------------------------------------------------------------------------------------ 14: autograd.grad


def test_grad_sums_over_outputs(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    (g,) = t.autograd.grad([x.sum(), (x * x).sum()], x)
    assert values(g) == [3.0, 5.0]


def test_grad_of_a_result(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    (g,) = t.autograd.grad((y * 3).sum(), y)
    assert values(g) == [3.0, 3.0]
    assert x.grad is None


# ------------------------------------------------------------------------------------------ 15: modes


def test_modes(t):
    x = t.ones(2, requires_grad=True)
    with t.no_grad():
        assert not t.is_grad_enabled()
        assert not (x * 2).requires_grad
        with t.enable_grad():
            assert (x * 2).requires_grad
        assert not t.is_grad_enabled()
    assert t.is_grad_enabled()
    with t.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    t.set_grad_enabled(False)
    assert not t.is_grad_enabled()
    t.set_grad_enabled(True)

    @t.no_grad()
    def quiet(v):
        return v * 2

    assert not quiet(x).requires_grad
    assert t.enable_grad()(lambda v: v * 2)(x).requires_grad
    with t.inference_mode():
        assert not (x * 2).requires_grad
    assert t.is_grad_enabled()


def test_mode_is_restored_after_an_error(t):
    with pytest.raises(ZeroDivisionError), t.no_grad():
        raise ZeroDivisionError
    assert t.is_grad_enabled()


# ------------------------------------------------------------------------------------------ 17: hooks


def test_order_of_hooks(t):
    seen = []
    x = t.tensor([1.0], requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("post"))
    y.grad_fn.register_prehook(lambda outputs: seen.append("pre"))
    y.register_hook(lambda g: seen.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: seen.append(f"accumulated {values(p.grad)}"))
    x.register_hook(lambda g: seen.append("leaf"))
    y.backward()
    assert seen == ["tensor", "pre", "post", "leaf", "accumulated [2.0]"]


def test_posthook_replaces(t):
    x = t.tensor([1.0], requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 7, None)[: len(inputs)])
    y.backward()
    assert values(x.grad) == [14.0]


def test_hook_errors(t):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require grad"):
        t.ones(2).register_hook(lambda g: g)


# ------------------------------------------------------------------------------------------ 18: least squares


def test_least_squares_by_hand(t):
    w = t.Tensor([1.0])
    w.requires_grad = True
    w.grad = t.zeros(1)
    X, Y = t.tensor([1.0, 2.0, 3.0]), t.tensor([3.0, 5.0, 7.0])
    y = ((Y - w * X) ** 2).sum()
    y.backward()
    assert values(w.grad) == [-40.0]
    w.data = w.data - w.grad.data
    assert text(w) == "tensor([41.], requires_grad=True)"
    assert w.is_leaf
    w = w - w.grad
    assert text(w) == "tensor([81.], grad_fn=<SubBackward0>)"


# ------------------------------------------------------------------------------------------ 20: legacy names


def test_variable(t):
    x = t.autograd.Variable(t.ones(2), requires_grad=True)
    assert text(x) == "tensor([1., 1.], requires_grad=True)"
    assert isinstance(x, t.autograd.Variable)
    assert isinstance(t.ones(1), t.autograd.Variable)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        y = t.autograd.Variable(t.ones(2), volatile=True)
    assert not y.requires_grad


# ------------------------------------------------------------------------------------------ 24: complex


def test_square_of_the_modulus(t):
    z = t.tensor(1 + 2j, dtype=t.complex128, requires_grad=True)
    (z * z.conj()).real.backward()
    assert z.grad.item() == 2 + 4j
    z.grad = None
    (z.abs() ** 2).backward()
    assert abs(z.grad.item() - (2 + 4j)) < 1e-12
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for real scalar outputs"):
        (z * 2).backward()


def test_real_leaf_on_a_complex_path(t):
    x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    y = (x * (1 + 2j)).abs().sum()
    y.backward()
    assert x.grad.dtype == t.float64
    np.testing.assert_allclose(values(x.grad), [5**0.5, 5**0.5])


# ------------------------------------------------------------------------------------------ 16: custom functions


def line_of(t):
    class line(t.autograd.Function):
        @staticmethod
        def forward(ctx, w, x, b):
            ctx.save_for_backward(w, x)
            return w * x + b

        @staticmethod
        def backward(ctx, g):
            w, x = ctx.saved_tensors
            return g * x, g * w, g

    return line


def test_line(t):
    w, x, b = (t.ones(2, 2, requires_grad=True) for _ in range(3))
    out = line_of(t).apply(w, x, b)
    assert text(out) == "tensor([[2., 2.],\n        [2., 2.]], grad_fn=<lineBackward>)"
    assert [name(n) for n, _ in out.grad_fn.next_functions] == ["AccumulateGrad"] * 3
    out.backward(t.ones(2, 2))
    for leaf in (w, x, b):
        assert values(leaf.grad) == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        out.backward(t.ones(2, 2))


def test_double_backward_of_a_function(t):
    w, x, b = (t.tensor([k + 1.0, 2.0], requires_grad=True) for k in range(3))
    out = line_of(t).apply(w, x, b)
    (gw,) = t.autograd.grad((out * out).sum(), w, create_graph=True)
    (gx,) = t.autograd.grad(gw.sum(), x)
    # d/dx 2 (w x + b) x = 4 w x + 2 b
    assert values(gx) == [4 * 1 * 2 + 2 * 3.0, 4 * 2 * 2 + 2 * 2.0]


def test_several_outputs_and_other_arguments(t):
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, label):
            ctx.k = k
            ctx.save_for_backward(x)
            return x * k, (x * x).sum(), label

        @staticmethod
        def backward(ctx, a, b, none):
            assert none is None
            (x,) = ctx.saved_tensors
            return a * ctx.k + 2 * b * x, None, None

    x = t.tensor([1.0, 2.0], requires_grad=True)
    p, q, label = Two.apply(x, 3, "label")
    assert label == "label"
    assert p.grad_fn is q.grad_fn
    (p.sum() * q).backward()
    assert values(x.grad) == [33.0, 51.0]
    x.grad = None
    Two.apply(x, 3, "")[1].backward()
    assert values(x.grad) == [2.0, 4.0]


def test_marks_of_a_function(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            up = x > 0
            ctx.mark_non_differentiable(up)
            ctx.save_for_backward(up)
            return x * 2, up

        @staticmethod
        def backward(ctx, g, _):
            (up,) = ctx.saved_tensors
            return g * 2 * up

    x = t.tensor([1.0, -1.0], requires_grad=True)
    y, up = F.apply(x)
    assert not up.requires_grad
    y.sum().backward()
    assert values(x.grad) == [2.0, 0.0]


def test_dirty_input(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    leaf = t.ones(2, requires_grad=True)
    x = leaf * 1
    y = Double.apply(x)
    assert y is x
    y.sum().backward()
    assert values(leaf.grad) == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(t.ones(2, requires_grad=True))


def test_needs_input_grad_and_none(t):
    class F(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            assert ctx.needs_input_grad == (True, False)
            return x * y

        @staticmethod
        def backward(ctx, g):
            return None, None

    x = t.ones(2, requires_grad=True)
    F.apply(x, t.ones(2)).sum().backward()
    assert x.grad is None

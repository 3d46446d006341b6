"""``autograd.grad`` and the nodes it runs: results as inputs, unused inputs, second derivatives, the graph itself."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from tests.functions import parted
from tests.leaves import leaf


def name(node):
    return node.name().rsplit("::", 1)[-1]


# ---------------------------------------------------------------------------------------------- gradients of gradients


def test_grad(t):
    """The gradient of a gradient is a Hessian times a vector; a grad_outputs of the wrong shape is named with both."""
    a, b = leaf(t, [[1.0, 2.0], [3.0, 4.0]]), leaf(t, [[0.5, 0.5], [2.0, 1.0]])
    out = a**3 + b * a
    ga, gb = t.autograd.grad([out.sum()], [a, b], create_graph=True)
    np.testing.assert_allclose(ga.detach().numpy(), 3 * np.array([[1, 4], [9, 16]]) + b.detach().numpy())
    assert gb.tolist() == a.tolist()
    # One leaf of the product: the gradients' sum is 3a² + b + a.
    (second,) = t.autograd.grad([ga + gb], [a], [t.ones(2, 2, dtype=t.float64) * 2], create_graph=True)
    np.testing.assert_allclose(second.detach().numpy(), 2 * (6 * a.detach().numpy() + 1))
    assert a.grad is None
    assert b.grad is None
    with pytest.raises(
        RuntimeError, match=r"(?s)Mismatch in shape: grad_output\[0\] has a shape of .*1.* and output\[0\] has .*2, 2"
    ):
        t.autograd.grad([ga], [a], [t.ones(1, dtype=t.float64)])


def test_grad_nonleaf(t):
    """Steps uphill from a start point: each uses the gradient at a result, and all stay differentiable to the start."""
    start = leaf(t, [1.0, 2.0])

    def height(x):
        return (x**2).sum() / 2

    x = start
    for _ in range(3):
        (g,) = t.autograd.grad([height(x)], [x], create_graph=True)
        assert g.requires_grad
        x = x + g * 0.5
    assert start.grad is None
    assert x.tolist() == [1.5**3, 2 * 1.5**3]
    x.sum().backward()
    assert start.grad.tolist() == [1.5**3, 1.5**3]


def test_grad_nonleaf_many_outputs(t):
    """The gradients of both halves of a tensor come together, and no hook of the whole runs."""
    called = []
    x = leaf(t, [[1.0, 2.0, 3.0, 4.0]])
    x.register_hook(called.append)
    left, right = x.chunk(2, dim=1)
    ga, gb = t.autograd.grad((left * 2 + right * left).sum(), [left, right])
    assert ga.tolist() == [[5.0, 6.0]]
    assert gb.tolist() == [[1.0, 2.0]]
    assert called == []
    assert x.grad is None


def test_grad_nonleaf_register_hook(t):
    """A hook on one output of unbind sees its gradient, and only when that output takes part."""
    for used in ([0, 1], [1], [0]):
        x = leaf(t, [1.0, 2.0, 3.0])
        rows = x.unbind()
        seen = []
        rows[0].register_hook(lambda g, seen=seen: seen.extend([] if g is None else [g.item()]))
        (sum(rows[k] * (k + 5) for k in used)).backward()
        assert seen == ([5.0] if 0 in used else [])
        assert x.grad.tolist() == [5.0 if 0 in used else 0.0, 6.0 if 1 in used else 0.0, 0.0]


def test_grad_materialize_grads(t):
    """materialize_grads gives zeros for derivatives that do not exist, of any order; it excludes allow_unused=False."""
    x, unused = leaf(t, 0.5), leaf(t, 1.0)
    y = x * 3
    (first,) = t.autograd.grad(y, x, create_graph=True)
    assert first.item() == 3.0
    assert t.autograd.grad(y, [unused], allow_unused=True, retain_graph=True) == (None,)
    g, zero = t.autograd.grad(y, (x, unused), allow_unused=True, materialize_grads=True, create_graph=True)
    assert (g.item(), zero.item()) == (3.0, 0.0)
    # a first derivative that depends on x, a second that does not, a third that nothing leads to
    first, _ = t.autograd.grad(x**2 + unused, (x, unused), create_graph=True)
    (second,) = t.autograd.grad(first, x, create_graph=True, materialize_grads=True)
    (third,) = t.autograd.grad(second * unused, x, materialize_grads=True)
    assert (second.item(), third.item()) == (2.0, 0.0)
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        t.autograd.grad(y, x, allow_unused=False, materialize_grads=True)


def test_dict_of_inputs(t):
    """Gradients by a dict of inputs are a dict with its keys; other mappings are refused."""
    x, y, unused = leaf(t, 2.0), leaf(t, 3.0), leaf(t, 1.0)
    found = t.autograd.grad(x * x * y, {"x": x, "y": y}, create_graph=True)
    assert list(found) == ["x", "y"]
    assert found["x"].item() == 12.0
    assert t.autograd.grad(found["x"], {"b": y, "a": unused}, allow_unused=True) == {"b": t.tensor(4.0), "a": None}
    batched = t.autograd.grad(x * y, {"x": x}, t.ones(2, dtype=t.float64), is_grads_batched=True)
    assert batched["x"].tolist() == [3.0, 3.0]
    with pytest.raises(TypeError, match="must be a dict, not mappingproxy"):
        t.autograd.grad(x * y, MappingProxyType({"x": x}))
    with pytest.raises(RuntimeError, match="cannot be empty"):
        t.autograd.grad(x * y, {})


def test_unused_output(t):
    """Parts of a tensor that nothing uses count as zeros; a gradient in .grad already stays in the sum."""
    x = leaf(t, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    parts = x.chunk(3)
    (parts[1].sum() * 2).backward()
    assert x.grad.tolist() == [[0.0] * 3, [2.0] * 3, [0.0] * 3]
    (x.chunk(3)[0] * 3).sum().backward()
    assert x.grad.tolist() == [[3.0] * 3, [2.0] * 3, [0.0] * 3]


def test_sharded_grad(t):
    """Gradients of results taken a few at a time, then carried on to the leaves by one backward."""
    leaves = [leaf(t, [float(k + 1)] * 2) for k in range(6)]
    middle = [x * (k + 1) for k, x in enumerate(leaves)]
    loss = sum((m**2).sum() / 2 * (k + 1) for k, m in enumerate(middle))
    grads = []
    for start in (0, 2, 4):
        grads += t.autograd.grad(loss, middle[start : start + 2], retain_graph=True)
    t.autograd.backward(middle, grads)
    for k, x in enumerate(leaves):
        assert x.grad.tolist() == [(k + 1) ** 4.0] * 2


# ---------------------------------------------------------------------------------------------- what cannot be asked


def test_grad_badcalls(t):
    """Neither outputs nor inputs without requires_grad have a gradient."""
    x, constant = leaf(t, [1.0]), t.ones(1, dtype=t.float64)
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.autograd.grad(constant, x)
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.autograd.grad(x, constant)
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.autograd.grad(constant, constant)
    assert t.autograd.grad(x, x)[0].tolist() == [1.0]


def test_grad_empty_inputs(t):
    """grad with respect to nothing says that it is nothing."""
    x = leaf(t, [1.0])
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty\."):
        t.autograd.grad(2 * x, [], grad_outputs=t.ones(1, dtype=t.float64))


def test_grad_fn_badcalls(t):
    """A node of the graph can be called with a gradient per output; another number of them is a TypeError."""
    x = leaf(t, [3.0])
    y = x**2
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        y.grad_fn(x.detach(), x.detach())
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()
    assert y.grad_fn(t.tensor([10.0], dtype=t.float64)).tolist() == [60.0]
    product = x * y
    first, second = product.grad_fn(t.tensor([1.0], dtype=t.float64))
    assert (first.item(), second.item()) == (9.0, 3.0)
    mean = leaf(t, [1.0, 2.0]).mean()
    assert mean.grad_fn(t.tensor(4.0, dtype=t.float64)).tolist() == [2.0, 2.0]
    doubled = (x * 2).grad_fn
    assert len(doubled.next_functions) == len(doubled(x.detach())) == 2  # numbers are inputs, too, and get nothing
    assert doubled(x.detach())[1] is None
    assert doubled(None) == (None, None)


def test_calling_an_accumulation_node(t):
    """It adds to the leaf's gradient and runs the hooks after that, not those of the leaf itself."""
    x, seen = leaf(t, [1.0, 2.0]), []
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad.tolist()))
    node = (x * 2).grad_fn.next_functions[0][0]
    assert node(t.tensor([3.0, 3.0], dtype=t.float64)) == ()
    assert node(t.tensor([1.0, 0.0], dtype=t.float64)) == ()
    assert seen == [[3.0, 3.0], [4.0, 3.0]]
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        node()


def test_grad_unreachable(t):
    """An input that the output does not come from: None with allow_unused, else an error that names the option."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    z, far = x * 2, y * 2
    gx, gy = t.autograd.grad(z.sum(), [x, y], allow_unused=True)
    assert (gx.tolist(), gy) == ([2.0, 2.0], None)
    # a result, rather than a leaf, that is out of reach
    gx, gfar = t.autograd.grad((x * 2).sum(), [x, far], allow_unused=True)
    assert (gx.tolist(), gfar) == ([2.0, 2.0], None)
    for targets in ([x, y], [x, far]):
        with pytest.raises(RuntimeError, match="Set allow_unused=True"):
            t.autograd.grad((x * 2).sum(), targets)


def test_grad_unreachable_discovery(t):
    """A node that leads to no input asked for is never run, however it would fail."""

    class Forbidden(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise AssertionError("this node leads nowhere")

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    total = x * 2 + Forbidden.apply(y)
    (g,) = t.autograd.grad(total, x, retain_graph=True)
    assert g.item() == 2.0
    assert t.autograd.grad(Forbidden.apply(y), x, allow_unused=True) == (None,)
    total.backward(inputs=[x], retain_graph=True)
    assert (x.grad.item(), y.grad) == (2.0, None)
    with pytest.raises(AssertionError, match="leads nowhere"):
        total.backward()


def test_unrelated_inputs(t):
    """Both checks accept an input that the function does not read."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    assert t.autograd.gradcheck(lambda x, y: x * x, (x, y))
    assert t.autograd.gradgradcheck(lambda x, y: x * x, (x, y))


# ---------------------------------------------------------------------------------------------- the graph


def test_next_functions(t):
    """Where a node sends its gradients: the leaf's accumulation node, the parent's grad_fn, None for a constant."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    total = x + y
    assert [name(node) for node, _ in total.grad_fn.next_functions] == ["AccumulateGrad"] * 2
    assert [number for _, number in total.grad_fn.next_functions] == [0, 0]
    assert total.grad_fn.next_functions[0][0].variable is x
    after = total + 5
    assert after.grad_fn.next_functions == ((total.grad_fn, 0), (None, 0))

    first, second = parted(t).apply(x)
    assert (first.output_nr, second.output_nr) == (0, 1)
    node = first.grad_fn
    assert second.grad_fn is node
    assert (second * first).grad_fn.next_functions == ((node, 1), (node, 0))


def test_no_unnecessary_save(t):
    """A constant factor's derivative needs nothing of the other operand, which may be overwritten afterwards."""
    x = leaf(t, [2.0])
    held = t.empty(1, dtype=t.float64)
    loss = 0
    for k in range(3):
        held.detach_()
        held.copy_(x + k)
        loss = loss + (held * t.tensor([float(k)], dtype=t.float64)).sum()
    loss.backward()
    assert x.grad.tolist() == [3.0]
    assert loss.item() == 1 * 3.0 + 2 * 4.0


def test_gradients_of_one_output_of_a_function_after_its_hooks(t):
    """Where the sweep ends in a function's output, what the hooks made of its gradient is what grad() gives."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    first, _ = parted(t).apply(x)
    first.register_hook(lambda g: g * 10)
    out = first.sum()
    (g,) = t.autograd.grad(out, first, retain_graph=True)
    assert g.tolist() == [10.0, 10.0]
    g, h = t.autograd.grad(out, [first, x])  # here the sweep goes on
    assert g.tolist() == [1.0, 1.0]
    assert h.tolist() == [20.0, 20.0]


def test_fmax_beside_an_infinite_gradient(t):
    """The smaller operand gets nothing, even of infinity."""
    x = t.tensor([1.0, 0.5], dtype=t.float64, requires_grad=True)
    y = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    t.fmax(x, y).backward(t.tensor([float("inf"), float("inf")], dtype=t.float64))
    assert x.grad.tolist() == [float("inf"), 0.0]
    assert y.grad.tolist() == [0.0, float("inf")]


@pytest.mark.parametrize("call", ["w * v", "t.atan2(w, v)", "w / v", "t.hypot(w, v)"])
def test_second_pass_beside_a_wider_operand(t, call):
    """What was cast to a wider dtype for an operation gets its gradient in its own, in every pass."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    w = t.tensor([3.0, 0.5], dtype=t.float64, requires_grad=True)
    v = x * 1
    seen = []
    v.register_hook(lambda g: seen.append(g.dtype))
    y = eval(call, {"t": t, "w": w, "v": v})
    (g,) = t.autograd.grad(y.sum(), w, create_graph=True)
    (g * g).sum().backward()
    assert seen == [t.float32]
    assert x.grad.dtype == t.float32


def test_any_iterable_holds_tensors(t):
    """Parameters in a dict are given as its values, those of a model by a generator: tensors in any order of things."""
    weights = {"w": leaf(t, [1.0, 2.0]), "b": leaf(t, [3.0])}
    loss = (weights["w"] * weights["b"]).sum()
    found = t.autograd.grad(iter([loss]), weights.values(), (v for v in [None]), retain_graph=True)
    assert [g.tolist() for g in found] == [[3.0, 3.0], [3.0]]
    t.autograd.backward((part for part in [loss]), inputs=(p for p in weights.values()))
    assert [p.grad.tolist() for p in weights.values()] == [[3.0, 3.0], [3.0]]

"""In-place changes, views and versions, second half: how the history of a base follows its views."""

from __future__ import annotations

import numpy as np
import pytest

from tests.leaves import node, ramp

CHANGED = "modified by an inplace operation"
SEVERAL = "This view is the output of a function that returns multiple views"
LEAF_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation"


def values(tensor) -> list:
    return tensor.detach().tolist()


def test_autograd_inplace_views_cross_dtype(t):
    """Turning the real view of a complex tensor in place is turning it out of place."""
    weights = t.tensor(np.arange(18.0).reshape(3, 3, 2))

    def gradient(turn):
        z = t.tensor(np.arange(9.0).reshape(3, 3) + 1j, requires_grad=True)
        pairs = turn(t.view_as_real(z.clone()))
        pairs += 1
        pairs.backward(weights)
        return z.grad

    there, here = gradient(lambda p: p.transpose(0, 1)), gradient(lambda p: p.transpose_(0, 1))
    if t.__name__ == "torch":
        here = here.T  # torch 2.13 forgets the turn in the history of this one view, and its own test says so
    assert values(there) == values(here)
    assert values(there)[1][0] == 2 + 3j


@pytest.mark.except_symgrad("a changed view always gets the ops that cut it: strides would have no formula")
def test_view_replay_enabled(t):
    """A switch says whether a changed view gets its history as strides or as the ops that cut it."""

    def changed():
        out = t.ones(2, 2, requires_grad=True).clone().view(-1)
        out.add_(1)
        return out

    assert "AsStrided" in node(changed())
    with t.autograd._force_original_view_tracking(True):
        assert "View" in node(changed())
    assert "AsStrided" in node(changed())


def test_first_grad_fn_access_in_no_grad_mode(t):
    """The node of a view that was recorded anew may be read for the first time without grad."""
    z = t.tensor([1 + 1j, 2 - 1j], requires_grad=True).clone()
    part = z.real
    z.mul_(2)
    with t.no_grad():
        assert part.grad_fn is not None
    assert part.requires_grad
    assert values(part) == [2.0, 4.0]


def test_saved_variable_saved_original_inplace_detach(t):
    """After ``detach_`` an input that was saved is lost to backward; a saved output is not needed as a place."""
    x = t.tensor(1.0, requires_grad=True)
    out = x.clone()
    y = out.exp()
    y.detach_()
    z = x.exp()
    z.backward()
    assert x.grad.item() == pytest.approx(np.e)
    copy = x.clone()
    sine = copy.sin()
    copy.detach_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        sine.backward()


def test_inplace_on_view_backprop_base(t):
    """A change of a part shows in the gradient of the whole."""
    x = ramp(t, 3, 2)
    y = x.clone()
    y.narrow(0, 1, 1).mul_(4)
    y.sum().backward()
    assert values(x.grad) == [[1.0, 1.0], [4.0, 4.0], [1.0, 1.0]]


def test_inplace_on_view_backprop_view_of_view(t):
    """What is changed through one view is seen, and differentiated, through another."""
    x = ramp(t, 4)
    y = x.clone()
    first, second = y[1:3], y[:2]
    first.mul_(3)
    second.sum().backward()
    assert values(x.grad) == [1.0, 3.0, 0.0, 0.0]


def test_inplace_on_view_of_view(t):
    """A change through a view of a view reaches the base."""
    x = ramp(t, 2, 3)
    y = x.clone()
    y.t()[1:].select(0, 1).mul_(5)
    y.sum().backward()
    assert values(x.grad) == [[1.0, 1.0, 5.0], [1.0, 1.0, 5.0]]


def test_inplace_on_view_then_no_grad(t):
    """After a change of the view its node may be read under ``no_grad``, and stays what it is."""
    x = ramp(t, 3, 2)
    y = x.clone()
    part = y.transpose(0, 1)
    part.mul_(2)
    with t.no_grad():
        y.grad_fn, part.grad_fn  # noqa: B018
    part.sum().backward()
    assert values(x.grad) == [[2.0, 2.0]] * 3


def test_inplace_on_view_gradcheck(t):
    """Two views changed by another tensor: first and second derivatives are right."""
    a, b = ramp(t, 3, 4), ramp(t, 2, 2)

    def function(whole, factor):
        x = whole.clone()
        x[:2, 1:3].mul_(factor)
        x.t()[2:, 1:].div_(factor + 1)
        return x

    assert t.autograd.gradcheck(function, (a, b))
    assert t.autograd.gradgradcheck(
        function,
        (
            a,
            b,
        ),
        ramp(t, 3, 4),
    )


def test_inplace_on_view_multiple_outputs(t):
    """One of the views that ``unbind`` returned may not be changed."""
    parts = (ramp(t, 3, 2) * 1).unbind()
    with pytest.raises(RuntimeError, match=SEVERAL):
        parts[1].mul_(2)


def test_inplace_on_view_of_multiple_output_view(t):
    """Nor may a view of such a view."""
    part = (ramp(t, 3, 2) * 1).unbind(0)[0]
    with pytest.raises(RuntimeError, match=SEVERAL):
        part.view_as(part).mul_(2)


def test_inplace_multiple_output_view_of_view(t):
    """Nor one that ``unbind`` made of a view."""
    whole = ramp(t, 3, 2) * 1
    with pytest.raises(RuntimeError, match=SEVERAL):
        whole.view_as(whole).unbind(1)[1].mul_(2)


def test_inplace_on_view_makes_base_require_grad(t):
    """A plain base requires grad once a part of it was multiplied by something that does."""
    base = t.ones(3, 2, dtype=t.float64)
    factor = ramp(t, 2)
    part = base[1]
    assert not base.requires_grad
    part.mul_(factor)
    assert part.requires_grad
    assert base.requires_grad
    (base * base).sum().backward()
    assert values(factor.grad) == [2 * 0.25, 2 * 0.5]


def test_inplace_on_view_backprop_view(t):
    """The factor gets the gradient; the plain base gets none."""
    base = t.tensor([2.0, 5.0])
    factor = t.tensor(3.0, requires_grad=True)
    part = base[1:]
    part.mul_(factor)
    part.sum().backward()
    assert factor.grad.item() == 5.0
    assert base.grad_fn is not None


def test_inplace_on_view_modify_base(t):
    """A base that is changed by a tensor that requires grad takes its older views along."""
    factor = t.tensor(2.0, dtype=t.float64, requires_grad=True)
    base = t.tensor([1.0, 3.0, 5.0], dtype=t.float64)
    part = base[1:]
    assert not part.requires_grad
    base.mul_(factor)
    assert part.requires_grad
    part.sum().backward()
    assert factor.grad.item() == 8.0


def doubling(t):
    """A Function that adds its second argument to the first in place."""

    class AddInto(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            x.add_(y)
            return x

        @staticmethod
        def backward(ctx, g):
            return g, g

    return AddInto


def test_inplace_on_view_python(t):
    """A Function that changes a view it was given is as good as an in-place method."""
    AddInto = doubling(t)
    a, b = ramp(t, 3, 3), ramp(t, 2)

    def function(whole, row):
        x = whole.clone()
        AddInto.apply(x[1:, 2], row)
        AddInto.apply(x.t()[0, 1:], row)
        return x

    out = function(a, b)
    expected = a.detach().numpy().copy()
    expected[1:, 2] += b.detach().numpy()
    expected[1:, 0] += b.detach().numpy()
    assert values(out) == expected.tolist()
    assert t.autograd.gradcheck(function, (a, b))
    assert t.autograd.gradgradcheck(function, (a, b))


def test_inplace_on_view_non_contig(t):
    """The base may lie in memory any way it likes."""
    x = ramp(t, 2, 3, 2)
    whole = x.permute(2, 0, 1).select(1, 1).t().clone().t()
    part = whole[:, 1:]
    part.mul_(3)
    whole.sum().backward()
    assert values(x.grad) == [[[0.0] * 2] * 3, [[1.0, 1.0], [3.0, 3.0], [3.0, 3.0]]]


def test_inplace_on_view_multi_output_unsafe(t):
    """The ``unsafe_`` splitting functions let their outputs be changed."""
    for split in (
        lambda x: t.unsafe_split(x, 2),
        lambda x: t.unsafe_split_with_sizes(x, [1, 3]),
        lambda x: t.unsafe_chunk(x, 2),
    ):
        a, factor = ramp(t, 4), ramp(t, 1)
        first, second = split(a.clone())
        second.mul_(factor)
        (first.sum() + second.sum()).backward()
        assert factor.grad is not None


def test_inplace_on_view_multi_output_safe(t):
    """The others name themselves and refuse."""
    for split, name in (
        (lambda x: x.split(2), "Split"),
        (lambda x: t.split_with_sizes(x, [1, 3]), "SplitWithSizes"),
        (lambda x: x.chunk(2), "Split"),
    ):
        parts = split(ramp(t, 4).clone())
        with pytest.raises(RuntimeError, match=f"Output 1 of {name}.* is a view and is being modified inplace"):
            parts[1].mul_(2)


def test_inplace_on_view_undefined_grad_output(t):
    """An in-place Function on a view that gives one input no gradient leaves that input's ``grad`` None."""

    class Twice(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, unused):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    a = t.tensor([1.0, 3.0], requires_grad=True)
    b = t.tensor(1.0, requires_grad=True)
    whole = a.clone()
    out = Twice.apply(whole[:1], b)
    out.backward()
    assert b.grad is None
    assert values(a.grad) == [2.0, 0.0]


def test_resize_version_bump(t):
    """``resize_`` to the same shape is no change; to another it is one."""
    x = t.ones(3)
    same = t.ones(3)
    x.resize_(3)
    x.resize_as_(same)
    assert x._version == 0
    x.resize_(4)
    assert tuple(x.shape) == (4,)
    assert x._version == 1
    x.resize_as_(same)
    assert x._version == 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_copy_(t, dtype):
    """``copy_`` from a tensor that requires grad gives the receiver its history, in the receiver's dtype."""
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    source = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    target = t.zeros(3, dtype=getattr(t, dtype))
    target.copy_(source)
    assert target.requires_grad
    assert target.dtype == getattr(t, dtype)
    (target * 2).sum().backward()
    assert source.grad.dtype == t.float32
    assert values(source.grad) == [2.0] * 3


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("relu", ()),
        ("leaky_relu", (0.1,)),
        ("elu", (1.0,)),
        ("hardtanh", (-1.0, 1.0)),
        ("silu", ()),
        ("threshold", (0.0, 0.0)),
        ("rrelu", (0.1, 0.2, False)),
        ("dropout", (0.5, False)),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_inplace_by_position(t, name, settings):
    """Activations take ``inplace`` as their last argument, also without its name."""
    function = getattr(t.nn.functional, name)
    x = t.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    changed = x * 1
    made = function(changed, *settings, True)
    assert made is changed
    assert made.tolist() == function(x, *settings).tolist() == function(x * 1, *settings, inplace=True).tolist()
    made.sum().backward()
    assert x.grad.tolist() == pytest.approx(t.autograd.grad(function(x, *settings).sum(), x)[0].tolist())


@pytest.mark.parametrize("kind", ["tensor", "parameter", "data", "after_a_view", "under_no_grad"])
@pytest.mark.parametrize("change", ["v.add_(g)", "v.mul_(2)", "v.sqrt_()", "v.sub_(g, alpha=2)", "v.__itruediv__(2.0)",
                                    "v.add_(v)", "v.addcmul_(g, g)", "v.zero_()", "v.copy_(g)", "v.add_(g[:1])",
                                    "v.add_(g[None].expand(2, 3))", "v.mul_(v.detach().flip(0))", "v.add_(1j)",
                                    "v.add_(t.ones(3, dtype=t.float32))", "v.fill_(4)"])  # fmt: skip
def test_changes_that_nothing_has_to_follow(t, change, kind):
    """Values, versions and refusals of the shortest way are those of all others."""
    leaf = t.tensor([1.0, 4.0, 9.0], dtype=t.float64, requires_grad=kind != "tensor")
    g = t.tensor([0.5, 1.0, 2.0], dtype=t.float64)
    v = {
        "tensor": lambda: leaf,
        "parameter": lambda: t.nn.Parameter(leaf.detach()),
        "data": lambda: leaf.data,
        "after_a_view": lambda: leaf.detach().clone()[:],
        "under_no_grad": lambda: leaf,
    }[kind]()
    saved = v.detach() * t.ones(3, dtype=t.float64, requires_grad=True)
    with t.no_grad():
        try:
            eval(change, {"v": v, "g": g, "t": t})
        except RuntimeError:
            seen = "refused"
        else:
            seen = "changed"
    refused = change in ("v.add_(g[None].expand(2, 3))", "v.add_(1j)")
    assert seen == ("refused" if refused else "changed")
    assert v._version == (0 if refused else 1)
    wanted = {
        "v.add_(g)": [1.5, 5.0, 11.0], "v.mul_(2)": [2.0, 8.0, 18.0], "v.sqrt_()": [1.0, 2.0, 3.0],
        "v.sub_(g, alpha=2)": [0.0, 2.0, 5.0], "v.__itruediv__(2.0)": [0.5, 2.0, 4.5], "v.add_(v)": [2.0, 8.0, 18.0],
        "v.addcmul_(g, g)": [1.25, 5.0, 13.0], "v.zero_()": [0.0] * 3, "v.copy_(g)": [0.5, 1.0, 2.0],
        "v.add_(g[:1])": [1.5, 4.5, 9.5], "v.mul_(v.detach().flip(0))": [9.0, 16.0, 9.0], "v.fill_(4)": [4.0] * 3,
        "v.add_(t.ones(3, dtype=t.float32))": [2.0, 5.0, 10.0],
    }.get(change, [1.0, 4.0, 9.0])  # fmt: skip
    assert v.tolist() == wanted
    assert leaf.tolist() == ([1.0, 4.0, 9.0] if kind == "after_a_view" else wanted)
    if not refused:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            saved.sum().backward()

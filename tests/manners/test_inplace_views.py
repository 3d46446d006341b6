"""In-place changes, views and versions, first half: what one process of autograd promises."""

from __future__ import annotations

import gc
import re
import tracemalloc
import weakref

import numpy as np
import pytest

from tests.leaves import ramp, values

CHANGED = "modified by an inplace operation"
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
LEAF_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation"
NO_GRAD = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"


def test_inplace(t):
    """A change spoils the graphs that saved the tensor, for good, and no others; each change is one version."""
    x, w = ramp(t, 4), ramp(t, 4)
    y = x * 3
    product, power, total, root = y * w, y**2, y + w, y.exp()
    y.add_(1)
    assert (y._version, w._version, root._version) == (1, 0, 0)
    for spoilt in (product, power):
        with pytest.raises(RuntimeError, match=CHANGED):
            spoilt.sum().backward(retain_graph=True)
    x.grad = w.grad = None
    y.sub_(1)  # the old values again, but nobody compares them
    assert y._version == 2
    with pytest.raises(RuntimeError, match=CHANGED):
        power.sum().backward()
    total.sum().backward(retain_graph=True)
    assert values(x.grad) == [3.0] * 4
    assert values(w.grad) == [1.0] * 4
    root.mul_(2)
    with pytest.raises(RuntimeError, match=CHANGED):
        root.sum().backward()
    assert root._version == 1


def test_version_counter(t):
    """Base and view count together; new ``.data`` counts as no change, and what it counted itself is its own."""
    x = t.ones(3, 2)
    row = x[1]
    assert (x._version, row._version) == (0, 0)
    row.mul_(2)
    x.neg_()
    assert (x._version, row._version) == (2, 2)
    other = t.zeros(3, 2)
    other.add_(1).add_(1).add_(1)
    x.data = other
    assert x._version == 2
    x.add_(1)
    assert x._version == 3
    assert row._version >= 2


def test_no_grad_modifies_version(t):
    """A change under ``no_grad`` spoils what was saved before it."""
    x = ramp(t, 3)
    y = (x * x).sum()
    before = x._version
    with t.no_grad():
        x.mul_(2)
    assert x._version == before + 1
    with pytest.raises(RuntimeError, match=CHANGED):
        y.backward()


def test_detach(t):
    """``detach`` cuts an alias off, ``detach_`` the tensor itself, and a view refuses the latter."""
    x = ramp(t, 2, 3)
    y = x.sin()
    cut = y.detach()
    assert not cut.requires_grad
    assert cut.is_leaf
    assert y.requires_grad
    ((y * 2) + cut * 100).sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * np.cos(x.detach().numpy()))

    x.grad = None
    first = x * 2
    second = first * 5
    first.detach_()
    assert first.is_leaf
    assert not first.requires_grad
    assert first.grad_fn is None
    (first + second).sum().backward()
    assert values(x.grad) == [[10.0] * 3] * 2  # what was made before the cut still knows its history
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (x * 1)[0].detach_()


def test_detach_base(t):
    """A view stays in the graph when its base leaves it, and still knows the base."""
    x = ramp(t, 4, 2)
    y = ramp(t, 4, 2)
    part = x[1:3]
    x.detach_()
    assert not x.requires_grad
    assert part.requires_grad
    assert part.grad_fn is not None
    assert part._base is x
    z = y * 2
    tail = z.t()
    z.detach_()
    tail.sum().backward()
    assert values(y.grad) == [[2.0, 2.0]] * 4


def test_detach_then_inplace_raises_in_autograd(t):
    """A detached alias shares the memory, so changing it spoils what the graph saved."""
    x = ramp(t, 5)
    y = (x**3).sum()
    x.detach().zero_()
    with pytest.raises(RuntimeError, match=CHANGED):
        y.backward()


def test_requires_grad_inplace(t):
    """What receives a tensor that requires grad requires grad, plain tensor or result."""
    x = ramp(t, 3)
    plain = t.ones(3, dtype=t.float64)
    plain += x
    assert plain.requires_grad
    assert not plain.is_leaf
    derived = t.ones(3, dtype=t.float64) * 4
    derived.mul_(x)
    assert derived.requires_grad
    (plain + derived).sum().backward()
    assert values(x.grad) == [5.0] * 3


def test_no_requires_grad_inplace(t):
    """Changes before the flag is set are forgotten; after it, neither the leaf nor a view of it may change."""
    x = t.tensor([1.0, 2.0, 3.0])
    x.mul_(2)
    x[0] = 7
    x.requires_grad = True
    (x * x).sum().backward()
    assert values(x.grad) == [14.0, 8.0, 12.0]
    with pytest.raises(RuntimeError, match=LEAF):
        x.add_(1)
    with pytest.raises(RuntimeError, match=LEAF_VIEW):
        x[1:].add_(1)


def test_leaf_assignment(t):
    """Rows of a plain tensor, assigned from leaves, lead back to them."""
    table = t.zeros(3, 2)
    a, b, c = (t.tensor(row, requires_grad=True) for row in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]))
    table[0] = a
    table[1] = b * 2
    table[2] = c
    table[2] = a + c
    assert table.requires_grad
    assert not table.is_leaf
    table.sum().backward()
    assert [values(r.grad) for r in (a, b, c)] == [[2.0] * 2, [2.0] * 2, [1.0] * 2]


def test_no_grad_assignment(t):
    """Under ``no_grad`` a leaf takes new entries and stays the leaf it was."""
    x = ramp(t, 4, 2)
    source = ramp(t, 2)
    with t.no_grad():
        x[2] = source
    assert x.requires_grad
    assert x.is_leaf
    assert x.grad_fn is None
    assert values(x[2]) == values(source)


def test_set_data_preserve_pyobj(t):
    """A tensor that gets another's data remains the object it was, and so does the other."""
    x, other = ramp(t, 3), ramp(t, 3) * 2
    held = {"x": x, "other": other}
    x.data = other
    assert held["x"] is x
    assert held["other"] is other
    assert x is not other
    assert x.is_leaf
    assert values(x) == values(other)


def test_set_data_self_requires_grad(t):
    """Data of an integer type cannot go into a tensor that requires grad; other floats can."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.data = t.tensor([3.0, 4.0])
    assert x.requires_grad
    with pytest.raises(RuntimeError, match=r"(?i)data"):
        x.data = t.tensor([1, 2])
    assert values(x) == [3.0, 4.0]


def test_inplace_on_view_leaf_errors(t):
    """Views of a leaf refuse a change in fixed words, also views of views."""
    x = ramp(t, 2, 3)
    for view in (x[0], x.t(), x.view(-1)[2:], x.view_as(x)):
        with pytest.raises(RuntimeError, match=re.escape(LEAF_VIEW)):
            view.mul_(2)


class Bell:
    """A hook whose end can be observed."""

    def __call__(self, *_):
        return None


def test_inplace_on_view_saved_output(t):
    """An operation that saves its own result, done in place on a view, holds no node in a circle."""

    def run():
        bell = Bell()
        root = ramp(t, 2, 2)
        copy = root.clone()
        copy.grad_fn.register_hook(bell)
        copy.view(4).relu_()
        return weakref.ref(bell)

    gc.collect()
    gc.disable()
    try:
        assert run()() is None
    finally:
        gc.enable()


def test_inplace_on_view_weak_grad_fn(t):
    """A changed view may be gone before backward comes; a view of a leaf refuses ``relu_``."""
    x = t.tensor([-1.0, 2.0, 3.0, -4.0], requires_grad=True)
    part = x[:2].clone().view(-1)
    part.relu_()
    copy = part.clone()
    del part
    gc.collect()
    copy.sum().backward()
    assert values(x.grad) == [0.0, 1.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match=LEAF_VIEW):
        x[1:3].relu_()


def test_copy_slices_graph_task_updates(t):
    """After an addition into a view only the branch that is asked for is run."""

    class Trap(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("this branch was not asked for")

    def one(x, y):
        out = x.clone().view(-1)
        out += y
        return out

    def two(x, y):
        out = x.clone().view(-1)
        twice = out * 2
        out += y
        return out + twice

    for function, slope in ((one, 1.0), (two, 3.0)):
        x, y = ramp(t, 3), ramp(t, 3)
        out = function(x, Trap.apply(y)).sum()
        (found,) = t.autograd.grad(out, x, retain_graph=True)
        assert values(found) == [slope] * 3
        out.backward(inputs=[x], retain_graph=True)
        assert values(x.grad) == [slope] * 3
        with pytest.raises(ValueError, match="not asked for"):
            t.autograd.grad(out, y)
        clean = function(x, y).sum()
        assert values(t.autograd.grad(clean, y)[0]) == [1.0] * 3


def test_autograd_views_codegen(t):
    """Views know that they are views in each mode, and each mode has its answer to changing one."""
    several = "Output {} of Unbind.* is a view and is being modified inplace"
    cases = [
        (True, False, (None, None, None)),
        (True, True, (None, several.format(0), several.format(1))),
        (False, True, (NO_GRAD, NO_GRAD, NO_GRAD)),
        (False, False, (None, None, None)),
    ]
    for enabled, tracked, words in cases:
        base = t.ones(2, 3, requires_grad=tracked).clone()
        other = t.ones(2, 3, requires_grad=tracked).clone()
        with t.set_grad_enabled(enabled):
            views = (base.view_as(base), *other.unbind(0))
        for view, expected in zip(views, words, strict=True):
            assert view._is_view()
            if expected is None:
                view.add_(1)
                assert values(view.view(-1)) == [2.0] * view.numel()
            else:
                with pytest.raises(RuntimeError, match=expected):
                    view.add_(1)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_autograd_simple_views_python(t, dtype):
    """What a Function returns of its input is a view that may not change; a view of its own temporary may."""
    dtype = getattr(t, dtype)
    ran = []

    class Same(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            ran.append("same")
            return g * 2

    class Temporary(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone().view_as(x)

        @staticmethod
        def backward(ctx, g):
            ran.append("temporary")
            return g * 2

    class Pair(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, g, h):
            ran.append("pair")
            return t.cat([g, h]) * 2

    x = ramp(t, 4, dtype=dtype)
    own = x.clone()
    view = Same.apply(own)
    assert view._is_view()
    view.backward(t.ones_like(view))
    assert values(x.grad) == [2.0] * 4
    with pytest.raises(RuntimeError, match="view was created inside a custom Function"):
        view.mul_(3)
    one, rest = Pair.apply(x.clone())
    assert one._is_view()
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        rest.mul_(3)

    x.grad = None
    changed_before = x.clone()
    changed_before.mul_(3)
    Same.apply(changed_before).backward(t.ones_like(x))
    assert values(x.grad) == [6.0] * 4

    x.grad = None
    base = x.clone()
    out = Temporary.apply(base)
    base.mul_(5)  # no concern of a copy
    out.backward(t.ones_like(x))
    assert values(x.grad) == [2.0] * 4
    assert ran == ["same", "same", "temporary"]


def test_autograd_inplace_views_creation_meta(t):
    """Methods that turn a tensor in place obey the mode in which their view was made."""
    methods = [
        lambda v: v.t_(),
        lambda v: v.transpose_(0, 1),
        lambda v: v.swapaxes_(0, 1),
        lambda v: v.unsqueeze_(0),
        lambda v: v.squeeze_(),
    ]
    for turn in methods:
        base = (ramp(t, 2, 2)) * 1
        view = base[:2]
        turn(view)  # an ordinary view turns
        view.mul_(2)
        assert base.requires_grad
        base = ramp(t, 2, 2) * 1
        with t.no_grad():
            silent = base[:2]
            turn(silent)  # and inside the block, too
        with pytest.raises(RuntimeError, match=NO_GRAD):
            silent.mul_(2)
        with pytest.raises(RuntimeError, match="This view is the output of a function that returns multiple views"):
            turn(base.view(1, 2, 2).unbind(0)[0])


def test_autograd_inplace_view_of_view(t):
    """A view of a view that was made without grad is as good as made without grad itself."""
    base = ramp(t, 3, 2) * 1
    with t.no_grad():
        silent = base[:2]
    later = silent.t()
    with pytest.raises(RuntimeError, match="a view of a view which was created in no_grad mode and is being modified"):
        later.mul_(2)
    with t.inference_mode():
        hidden = base[:2]
    after = hidden.t()
    with pytest.raises(RuntimeError, match="created in inference mode and is being modified inplace"):
        after.mul_(2)


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_view_told_to_require_grad_beside_a_base_that_does_not(t, mode):
    """It is a leaf, whatever mode it was cut in: a change of the base leaves it one."""
    base = t.ones(2) * 1
    with getattr(t, mode)():
        view = base[...]
    view.requires_grad = True
    base.mul_(3)
    assert (view.is_leaf, view.grad_fn, view._version) == (True, None, 1)
    (view * view).sum().backward()
    assert view.grad.tolist() == [6.0, 6.0]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="A view was created in"):
        view.grad_fn  # noqa: B018


def test_a_view_told_to_require_grad_becomes_a_view_again(t):
    """Once its base requires grad and was changed meanwhile, its history is that of the base."""
    for when in ("before", "after"):
        base = t.ones(2) * 1
        view = base[...]
        view.requires_grad = True
        assert view.is_leaf
        if when == "before":
            base.mul_(3)
        base.requires_grad_()
        if when == "after":
            assert view.is_leaf
            with t.no_grad():
                base.mul_(3)
        assert view.grad_fn.name() == "AsStridedBackward0"
        (view * 2).sum().backward()
        assert (base.grad.tolist(), view.is_leaf) == ([2.0, 2.0], False)


def written_in_turn(write, z, p):
    for k in (0, 2, 1):
        exec(write, {"z": z, "p": p, "k": k})
    return z


@pytest.mark.parametrize("write", ["z[k] = p", "z[k].mul_(p)", "z[:, k] = p", "z[k, 1:3] = 2.0", "z[1:][k] = p",
                                   "z.t()[k] = p", "z[k] = z[k - 1]", "z[1:] = z[:-1].clone() * p", "z[[k, 3]] = p",
                                   "z[k].copy_(p).add_(p)"])  # fmt: skip
def test_parts_that_are_written_one_after_the_other(t, write):
    """The whole is not copied for every part: values and gradients are those of one function of the parts."""
    p = t.tensor([0.5, 1.5, -2.0, 3.0], dtype=t.float64, requires_grad=True)

    def run(p):
        return written_in_turn(write, p.detach()[0] * t.ones(4, 4, dtype=t.float64) + 0 * p, p)

    z = run(p)
    before = z.tolist()
    z.pow(2).sum().backward()
    assert z.tolist() == before
    step = 1e-6
    for k in range(4):
        moved = [run_with(t, write, p.detach(), k, sign * step).pow(2).sum().item() for sign in (1, -1)]
        assert abs(p.grad[k].item() - (moved[0] - moved[1]) / (2 * step)) < 1e-5


def run_with(t, write, p, k, step):
    first = p[0].item()
    p = p.clone()
    p[k] += step
    return written_in_turn(write, first * t.ones(4, 4, dtype=t.float64), p)


def test_a_part_that_does_not_fit_leaves_the_whole_as_it_is(t):
    """Of a tensor with a history, too."""
    p = t.ones(3, requires_grad=True)
    z = t.zeros(2, 3)
    z[0] = p
    for wrong in ("z[1] = t.ones(2)", "z[[0, 5]] = p", "z[3] = p"):
        with pytest.raises((RuntimeError, IndexError)):
            exec(wrong, {"z": z, "t": t, "p": p})
    assert z.tolist() == [[1.0] * 3, [0.0] * 3]
    z.sum().backward()
    assert p.grad.tolist() == [1.0] * 3


def test_the_memory_that_writing_a_part_takes(t):
    """That of the part, not of the whole."""
    p = t.ones(300, requires_grad=True)
    z = t.zeros(300, 300)
    z[0] = p
    z[3].mul_(2)
    tracemalloc.start()
    z[1] = p
    z[2].mul_(2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 90_000
    z.sum().backward()
    assert p.grad.sum() == 600

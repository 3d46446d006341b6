"""``utils.checkpoint``: the same numbers and formulas, with what backward needs computed again instead of kept."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.utils import checkpoint as checkpoints
from symgrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop

rng = np.random.default_rng(0)
W = rng.standard_normal((4, 4)) * 0.4
X = rng.standard_normal((3, 4))


def leaves():
    return [sg.tensor(v, requires_grad=True, name=n) for v, n in ((X, "x"), (W, "W"))]


def run_twice(function, *args, **kwargs):
    return checkpoint(function, *args, use_reentrant=False, **kwargs)


def plainly(function, *args, **kwargs):
    return function(*args, **kwargs)


@pytest.mark.parametrize("way", [plainly, run_twice])
def test_gradients_of_any_order(way):
    x, w = leaves()
    runs = []

    def layer(h, scale=1.0):
        runs.append(h)
        return sg.tanh(h @ w) * scale, h.mean()

    h, m = way(layer, x, scale=0.5)
    (out, _) = way(lambda h: way(layer, h), h)  # one inside another
    loss = (out**2).sum() + m
    first = sg.autograd.grad(loss, [x, w], create_graph=True)
    second = sg.autograd.grad(sum((g**2).sum() for g in first), [x, w], retain_graph=True)
    loss.backward()
    expected = leaves()
    again = ((sg.tanh(sg.tanh(expected[0] @ expected[1]) * 0.5 @ expected[1])) ** 2).sum() + expected[0].mean()
    wanted = sg.autograd.grad(again, expected, create_graph=True)
    for found, want in zip([x.grad, w.grad, *first], wanted * 2, strict=True):
        np.testing.assert_allclose(found.detach(), want.detach(), rtol=1e-12)
        assert r"\tanh" in found.latex()
    for found, want in zip(second, sg.autograd.grad(sum((g**2).sum() for g in wanted), expected), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-12)
    assert len(runs) > 2 or way is plainly


def test_nothing_is_kept_between():
    x, w = leaves()
    kept = []
    with sg.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        run_twice(lambda h: sg.exp(sg.tanh(h @ w)), x).sum()
    assert kept == [x.numel()]  # the argument alone


def test_random_numbers_are_the_same_in_both_runs():
    x, _ = leaves()
    sg.manual_seed(1)
    y = run_twice(lambda h: sg.nn.functional.dropout(h, 0.5).exp(), x)
    after = sg.rand(2).tolist()
    y.sum().backward()
    kept = y.detach().numpy() != 1
    np.testing.assert_array_equal(x.grad.numpy() != 0, kept)
    sg.manual_seed(1)
    sg.nn.functional.dropout(x, 0.5)
    assert sg.rand(2).tolist() == after


def test_other_runs_are_refused():
    x, _ = leaves()
    runs = []

    def shrinks(h):
        runs.append(h)
        for _ in range(3 - len(runs)):
            h = h.exp()
        return h

    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        run_twice(shrinks, x).sum().backward()
    cuts = iter([3, 2])
    with pytest.raises(CheckpointError, match="different metadata"):
        run_twice(lambda h: h[: next(cuts)].exp(), x).sum().backward()


def test_without_grad_and_in_contexts():
    x, _ = leaves()
    with sg.no_grad():
        assert not run_twice(lambda h: h * 2, x).requires_grad
    seen = []

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *error):
            return None

    run_twice(lambda h: h.exp(), x, context_fn=lambda: (Noted("first"), Noted("again"))).sum().backward()
    assert seen == ["first", "again"]


def test_segments():
    x, w = leaves()
    calls = []

    def step(h):
        calls.append(1)
        return sg.tanh(h @ w)

    y = checkpoint_sequential([step] * 5, 2, x, use_reentrant=False)
    y.sum().backward()
    assert len(calls) == 5 + 2
    a, b = leaves()
    z = a
    for _ in range(5):
        z = sg.tanh(z @ b)
    z.sum().backward()
    np.testing.assert_array_equal(w.grad, b.grad)
    with pytest.raises(ValueError, match="5 functions cannot be cut into 6"):
        checkpoint_sequential([step] * 5, 6, x, use_reentrant=False)


@pytest.mark.parametrize("early_stop", [True, False])
def test_checkpoints_that_take_gradients_themselves(early_stop):
    """A function in a checkpoint may go back through its own graph, also through a checkpoint inside of it."""

    def slope(function):
        return lambda x: sg.autograd.grad(function(x), x, create_graph=True)[0]

    def kept(function):
        return lambda x: checkpoint(function, x, use_reentrant=False)

    def wave(x):
        return x.sin().exp().sin()

    x = sg.tensor(0.3, requires_grad=True, dtype=sg.float64)
    first, second = slope(wave)(x), slope(slope(wave))(x)
    with set_checkpoint_early_stop(early_stop):
        for want, ways in {
            first: [slope(kept(kept(wave))), kept(slope(wave)), kept(slope(kept(wave)))],
            second: [slope(kept(slope(wave))), slope(kept(slope(kept(wave)))), kept(slope(slope(kept(wave))))],
        }.items():
            for way in ways:
                np.testing.assert_allclose(way(x).item(), want.item(), rtol=1e-12)


def test_where_the_second_run_stops():
    """Behind the last value that is saved, unless told otherwise; the context counts more than the argument."""
    copies = []

    def counted(**options):
        copies.clear()

        def function(x):
            y = x.sin().cos()
            copies.append(1)
            return y.clone()

        return checkpoint(function, sg.tensor(1.0, requires_grad=True), use_reentrant=False, **options)

    def runs(out):
        out.backward()
        return len(copies)

    assert runs(counted()) == 1
    assert runs(counted(early_stop=False)) == 2
    for enable, times in ((True, 1), (False, 2)):
        for options in ({}, {"early_stop": not enable}):
            with set_checkpoint_early_stop(not enable), set_checkpoint_early_stop(enable):
                out = counted(**options)
            assert runs(out) == times


def other_the_second_time(first, second):
    ways = iter([first])
    return lambda x: next(ways, second)(x)


def test_the_second_run_ends_when_it_has_saved_enough():
    x, _ = leaves()
    done = []

    def longer(h):
        h = h.exp()
        done.append(h)
        return h.sin()

    shorter = other_the_second_time(lambda h: h.exp(), longer)
    run_twice(shorter, x).sum().backward()
    assert not done
    with checkpoints.set_checkpoint_early_stop(False):
        y = run_twice(other_the_second_time(lambda h: h.exp(), longer), x)
    with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
        y.sum().backward()


def test_functions_that_change_what_they_saved():
    """The second run ends before it overwrites what it saved last; what it did overwrite is refused, as without it."""
    x = sg.tensor([1.0, 2.0], requires_grad=True)

    def quotient(x):
        y = x.clone()
        return y.div_(y * y + 1)

    run_twice(quotient, x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (1 - x.detach().numpy() ** 2) / (1 + x.detach().numpy() ** 2) ** 2)

    def stale(x):
        y = x.sin()
        z = y * y
        y.add_(1)
        return z.exp() * y

    for call in (plainly, run_twice):
        out = call(stale, x)
        with pytest.raises(sg.errors.ChangedInPlace, match="modified by an inplace operation"):
            out.sum().backward()


def test_what_differs_is_told_on_request():
    x, _ = leaves()
    cut = lambda: other_the_second_time(lambda h: h.exp(), lambda h: h[:1].exp())  # noqa: E731
    with pytest.raises(CheckpointError, match="saved metadata") as told:
        run_twice(cut(), x).sum().backward()
    assert "debug=True` to checkpoint and" not in str(told.value)
    run_twice(cut(), x, determinism_check="none").sum()
    with pytest.raises(CheckpointError, match="because you passed `debug=True` to checkpoint") as told:
        run_twice(cut(), x, debug=True).sum().backward()
    assert "SliceBackward0" in str(told.value)
    with checkpoints.set_checkpoint_debug_enabled(True):
        y = run_twice(cut(), x)
    with pytest.raises(CheckpointError, match="because you passed `debug=True` to checkpoint"):
        y.sum().backward()


def test_each_value_is_taken_once_by_a_pass():
    x, _ = leaves()

    class Twice(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with pytest.raises(CheckpointError, match="already unpacked once"):
                _ = ctx.saved_tensors
            return g * x.exp()

    runs = []

    def noted(h):
        runs.append(1)
        return Twice.apply(h * h)

    y = run_twice(noted, x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert len(runs) == 3  # one pass, one run
    zero = sg.tensor(0.0, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with sg.autograd.detect_anomaly():
            run_twice(lambda h: h.exp().sin(), x).sum().backward()
            with pytest.raises(RuntimeError, match="returned nan values in its 0th output"):
                run_twice(lambda h: (h.sqrt() * 0).sum(), zero).backward()


def test_passes_of_a_group_share_a_run():
    x, _ = leaves()
    runs = []

    def two(h):
        runs.append(1)
        first = h.sin().cos()
        return first, first.sin().cos()

    first, second = run_twice(two, x)
    with checkpoints.GraphExecGroup():
        (g,) = sg.autograd.grad(second.sum(), first)
        sg.autograd.grad(first, x, g)
        with pytest.raises(RuntimeError, match="cannot be nested"), checkpoints.GraphExecGroup():
            pass
    assert len(runs) == 2
    y = run_twice(lambda h: h.sin().cos(), x).sum()
    with checkpoints.GraphExecGroup():
        y.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            y.backward()


def test_the_way_is_to_be_named():
    x, _ = leaves()
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint(sg.exp, x)
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([sg.exp, sg.sin], 2, x)
    for wrong in ({"debug": True}, {"context_fn": lambda: (None, None)}):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(sg.exp, x, use_reentrant=True, **wrong)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(lambda x, scale: x * scale, x, use_reentrant=True, scale=2.0)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        run_twice(sg.exp, x, determinism_check="values")
    with pytest.raises(ValueError, match="incompatible with non-default context_fn"):
        run_twice(sg.exp, x, debug=True, context_fn=lambda: (None, None))


def test_arguments_may_change_where_hooks_copied_them():
    """The second run takes the copies; it refused the arguments for having changed."""
    x = sg.tensor([1.0, 2.0])
    w = sg.tensor([3.0, 4.0], requires_grad=True)
    with sg.autograd.graph.allow_mutation_on_saved_tensors():
        out = sg.utils.checkpoint.checkpoint(lambda x: (w * x).exp().sum(), x, use_reentrant=False)
        x.zero_()
        out.backward()
    assert w.grad.tolist() == pytest.approx([math.e**3, 2 * math.e**8])

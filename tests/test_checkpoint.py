"""``utils.checkpoint``: the same numbers and formulas, with what backward needs computed again instead of kept."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential, set_checkpoint_early_stop

rng = np.random.default_rng(0)
W = rng.standard_normal((4, 4)) * 0.4
X = rng.standard_normal((3, 4))


def leaves():
    return [sg.tensor(v, requires_grad=True, name=n) for v, n in ((X, "x"), (W, "W"))]


def plainly(function, *args, use_reentrant=None, **kwargs):
    return function(*args, **kwargs)


@pytest.mark.parametrize("way", [plainly, checkpoint])
def test_gradients_of_any_order(way):
    x, w = leaves()
    runs = []

    def layer(h, scale=1.0):
        runs.append(h)
        return sg.tanh(h @ w) * scale, h.mean()

    h, m = way(layer, x, scale=0.5, use_reentrant=False)
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
        checkpoint(lambda h: sg.exp(sg.tanh(h @ w)), x).sum()
    assert not kept


def test_random_numbers_are_the_same_in_both_runs():
    x, _ = leaves()
    sg.manual_seed(1)
    y = checkpoint(lambda h: sg.nn.functional.dropout(h, 0.5).exp(), x)
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

    def grows(h):
        runs.append(h)
        for _ in runs:
            h = h.exp()
        return h

    with pytest.raises(CheckpointError, match="A different number of tensors was saved"):
        checkpoint(grows, x, early_stop=False).sum().backward()
    runs.clear()
    checkpoint(grows, x).sum().backward()  # nobody looks at what a run that stops early would have saved
    cuts = iter([3, 2])
    with pytest.raises(CheckpointError, match="different metadata"):
        checkpoint(lambda h: h[: next(cuts)].exp(), x).sum().backward()


def test_without_grad_and_in_contexts():
    x, _ = leaves()
    with sg.no_grad():
        assert not checkpoint(lambda h: h * 2, x).requires_grad
    seen = []

    class Noted:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            seen.append(self.name)

        def __exit__(self, *error):
            return None

    checkpoint(lambda h: h.exp(), x, context_fn=lambda: (Noted("first"), Noted("again"))).sum().backward()
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
        checkpoint_sequential([step] * 5, 6, x)


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

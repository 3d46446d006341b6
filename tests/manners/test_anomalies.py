"""Anomaly mode: who made the first nan, where in the forward pass, and that nothing stays behind."""

from __future__ import annotations

import gc
import re
import warnings
import weakref

import numpy as np
import pytest

from tests.leaves import values

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")


def spoiling(t, place=0):
    """A Function of two tensors whose backward gives nan for one of them."""

    class Spoil(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            bad = g * float("nan")
            return (bad, g) if place == 0 else (g, bad)

    return Spoil.apply


def test_anomaly_detect_nan(t):
    """The first nan of a backward pass raises, naming the function and the place; the line that called it is told."""
    x = t.ones(3, requires_grad=True)
    for place in (0, 1):
        with t.autograd.detect_anomaly():
            out = spoiling(t, place)(x * 2, x * 3)
            words = f"Function 'SpoilBackward' returned nan values in its {place}th output"
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                with pytest.raises(RuntimeError, match=words):
                    out.sum().backward()
        text = "".join(str(w.message) for w in told)
        assert "Error detected in SpoilBackward" in text
        assert "spoiling(t, place)" in text
    fresh = t.ones(3, requires_grad=True)
    spoiling(t)(fresh * 2, fresh).sum().backward()
    assert np.isnan(fresh.grad.numpy()).all()  # outside of the mode nobody looks

    outside = spoiling(t)(x * 2, x)
    with t.autograd.detect_anomaly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="SpoilBackward"):
            outside.sum().backward()


def test_nested_anomaly_detect_nan(t):
    """A nan in the gradient of a gradient names the backward that made it, and the node that induced that one."""

    class Once(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return Inner.apply(g, x)

    class Inner(t.autograd.Function):
        @staticmethod
        def forward(ctx, g, x):
            ctx.save_for_backward(g, x)
            return g * x * 2

        @staticmethod
        def backward(ctx, h):
            g, x = ctx.saved_tensors
            return h * x * 2, h * g * float("nan")

    x = t.tensor([2.0, 3.0], requires_grad=True)
    with t.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        (first,) = t.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
        assert values(first) == [4.0, 6.0]
        with pytest.raises(RuntimeError, match="Function 'InnerBackward' returned nan values in its 1th output") as e:
            first.sum().backward()
    text = "".join(str(w.message) for w in told) + str(e.value)
    assert "InnerBackward" in text
    assert "OnceBackward" in text


def test_anomaly_mode_no_check_nan(t):
    """With ``check_nan=False`` nan passes; inside of it another block may look again."""
    x = t.ones(2, requires_grad=True)

    def backward():
        x.grad = None
        spoiling(t)(x * 2, x).sum().backward()

    with t.autograd.detect_anomaly(check_nan=False):
        backward()
        assert np.isnan(x.grad.numpy()).all()
        with t.autograd.detect_anomaly(check_nan=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(RuntimeError, match="returned nan values"):
                backward()
        backward()
    with t.autograd.set_detect_anomaly(True, check_nan=False):
        backward()


def test_anomaly_grad_warnings(t, capfd):
    """Entering warns; the trace of the failing node is a warning, or goes to stderr where warnings are errors."""
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), t.autograd.detect_anomaly():
        pass

    class Fails(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("cannot go back")

    x = t.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with t.autograd.detect_anomaly(), pytest.raises(ValueError, match="cannot go back"):
            Fails.apply(x).sum().backward()
    assert any("Error detected in FailsBackward" in str(w.message) for w in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Anomaly Detection")
        with t.autograd.detect_anomaly(), pytest.raises(ValueError, match="cannot go back"):
            Fails.apply(x).sum().backward()
    assert re.search(r"Error detected in FailsBackward", capfd.readouterr().err)


class Marker:
    """Something to keep in a node's metadata and to look for afterwards."""


def test_anomaly_assign_parent_cleanup(t):
    """Inside of the mode, too, a graph that was differentiated twice goes away with its nodes' metadata."""

    def run():
        with t.autograd.detect_anomaly():
            x = t.ones(3, requires_grad=True)
            y = x.exp()
            marker = Marker()
            y.grad_fn.metadata["mine"] = marker
            (first,) = t.autograd.grad(y.sum(), x, create_graph=True)
            t.autograd.grad(first.sum(), x)
            return weakref.ref(marker)

    gc.collect()
    gc.disable()
    try:
        marker = run()
        assert marker() is None
    finally:
        gc.enable()


def test_nested_anomaly_printstack_cleanup(t):
    """So it does after a backward pass of a backward pass failed and its traces were told."""

    def run():
        x = t.zeros(3, requires_grad=True)
        with t.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            y = x.sqrt()
            (first,) = t.autograd.grad(y.sum(), x, create_graph=True)  # infinite, which is no nan yet
            second = (first * 0).sum()
            marker = Marker()
            second.grad_fn.metadata["mine"] = marker
            if t.__name__ != "torch":  # where the node that induced the failing one stays behind
                y.grad_fn.metadata["mine"] = marker
            with pytest.raises(RuntimeError, match="nan values"):
                second.backward()
        assert any("SqrtBackward0" in str(w.message) for w in told)
        return weakref.ref(marker)

    marker = run()
    gc.collect()
    assert marker() is None


def test_nodes_know_where_they_were_made(t):
    """In anomaly mode their ``metadata`` has the stack, and the node in whose backward they were made."""
    x = t.ones(2, requires_grad=True)
    with t.autograd.detect_anomaly(check_nan=False):
        y = x * 2
        y.register_hook(lambda g: g * 3)
        (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
    stack = y.grad_fn.metadata["traceback_"]
    assert stack[-1].endswith("in test_nodes_know_where_they_were_made\n    y = x * 2\n")
    assert "parent_" not in y.grad_fn.metadata
    y.grad_fn.metadata["note"] = 1
    assert set(y.grad_fn.metadata) == {"traceback_", "note"}
    assert g.grad_fn.metadata["parent_"].name() == "MulBackward0"
    assert (x * 2).grad_fn.metadata == {}

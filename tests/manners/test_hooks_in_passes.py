"""Saved-tensor hooks that a backward pass itself enters or leaves."""

from __future__ import annotations

import gc
import weakref


def test_hooks_left_in_a_pass(t):
    """What a pass enters or leaves of saved-tensor hooks is over with the pass."""

    def unpack(x):
        inner.__exit__()
        return x

    hooks = t.autograd.graph.saved_tensors_hooks
    inner, outer = hooks(lambda x: x, unpack), hooks(lambda x: x, lambda x: x)
    with outer:
        inner.__enter__()
        x = t.ones(3, requires_grad=True)
        x.sin().sum().backward()
    inner.__exit__()
    y = t.ones(2, requires_grad=True).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


def test_hooks_entered_in_a_pass(t):
    """A context that an unpack hook enters again is not kept by that."""

    def scope():
        def unpack(x):
            again().__enter__()
            return x

        context = t.autograd.graph.saved_tensors_hooks(lambda x: x, unpack)
        again = weakref.ref(context)
        with context:
            t.ones(3, requires_grad=True).sin().sum().backward()
        return weakref.ref(unpack)

    gc.collect()
    gc.disable()
    try:
        assert scope()() is None
    finally:
        gc.enable()

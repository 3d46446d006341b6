"""Checkpoints beside torch's: what hooks around them see."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")


@pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:None of the inputs")
@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("name", ["x", "x and w", "a place", "of a value", "nothing moves"])
def test_arguments_are_saved_by_the_hooks_around(reentrant, name):
    """Every tensor that is an argument goes through them and comes back for the second run, as in torch."""
    found = []
    for t in (torch, sg):
        checkpoint = import_module(f"{t.__name__}.utils.checkpoint").checkpoint
        log = []
        x = t.tensor([1.0, 2.0], requires_grad=True)
        w = t.tensor([2.0, 3.0, 5.0])
        f, args = {
            "x": (lambda x: x.sin().cos(), (x,)),
            "x and w": (lambda x, w, n: x.sin() * w.sum() * n, (x, w, 3)),
            "a place": (lambda x, k: x[k].exp(), (x, t.tensor([0, 0]))),
            "of a value": (lambda x: x.sin().cos(), (x * 2,)),
            "nothing moves": (lambda w: w.exp(), (w,)),
        }[name]

        def pack(value, log=log, args=args):
            log.append((tuple(value.shape), value.requires_grad, any(value is x for x in args)))
            return value * 2

        def unpack(value, log=log):
            log.append("back")
            return value

        with t.autograd.graph.saved_tensors_hooks(pack, unpack):
            out = checkpoint(f, *args, use_reentrant=reentrant)
        if out.requires_grad:
            out.sum().backward()
        found.append((log, None if x.grad is None else x.grad.tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1] or np.allclose(found[0][1], found[1][1], 1e-6)

"""Programs of what was recorded: several results of one run, and calls that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError


def test_what_backward_left_is_one_program(tmp_path):
    """A loss and its gradients, by name, with the parts that they share computed once."""
    rng = np.random.default_rng(0)
    X = sg.tensor(rng.normal(size=(8, 3)), name="X")
    w = sg.tensor(rng.normal(size=3), requires_grad=True, name="w")
    b = sg.tensor(rng.normal(size=()), requires_grad=True, name="b")
    loss = sg.log(1 + sg.exp(X @ w + b)).sum()
    loss.backward()
    program = sg.compile({"loss": loss, "slopes": (w.grad, b.grad)}, ["w", "X", "b"])
    found = program(w.detach().numpy(), X.numpy(), b.detach().numpy())
    assert np.allclose(found["loss"], loss.item(), rtol=1e-14)
    assert np.allclose(found["slopes"][0], w.grad.numpy(), rtol=1e-13)
    assert np.allclose(found["slopes"][1], b.grad.item(), rtol=1e-14)
    assert program.source.count("X @ w") == 1
    program.save(tmp_path / "step.json")
    again = sg.compiler.load(tmp_path / "step.json")
    assert again(w.detach().numpy(), X.numpy()[:5], 0.5)["slopes"][0].shape == (3,)

    (g,) = sg.autograd.grad((w**3).sum(), w, create_graph=True)
    (h,) = sg.autograd.grad(g.sum(), w)
    first, second = sg.compile([g, h])(np.array([1.0, 2.0, 3.0]))
    assert np.allclose(first, [3, 12, 27])
    assert np.allclose(second, [6, 12, 18])
    for wrong in ([loss, None], {"a": 1}, ("x", loss)):
        with pytest.raises(ArgumentError, match="takes tensors in it"):
            sg.compile(wrong)
    with pytest.raises(ArgumentError, match="container of tensors"):
        sg.compile([])


def test_wrong_calls_are_told_in_words():
    program = sg.compile(sg.func.grad(lambda w, X: (X @ w).sum()), np.ones(3), np.ones((4, 3)))
    with pytest.raises(ArgumentError, match="takes 2 arguments, but 3 were given"):
        program(np.ones(3), np.ones((4, 3)), 1)
    for values in (np.array([1, 2, "a"], object), np.array(["a", "b"])):
        with pytest.raises(ArgumentError, match="w is an array of dtype"):
            program(values, np.ones((4, 3)))

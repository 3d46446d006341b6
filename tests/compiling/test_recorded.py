"""Programs of what was recorded: several results of one run, and calls that do not fit."""

from __future__ import annotations

import math
import runpy

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


def gram(A):
    n, m = A.shape
    return (A.T @ A if n > m else A @ A.T).pow(3).sum()


def capped(A):
    return (A**2).sum() * min(A.shape[0], 50)


def rooted(A):
    return (A**2).sum() / math.sqrt(A.shape[0])


def halved(A):
    n = len(A) // 2
    return (A[:n] * A[n : 2 * n]).sum()


def outcome(call, x):
    try:
        return call(x)
    except ValueError as error:  # ArgumentError is one
        return error


@pytest.mark.parametrize("f", [gram, capped, rooted, halved, lambda A: (A**2).sum() / len(A)])
def test_what_a_run_asked_of_sizes_holds_for_the_program_of_its_graph(f, tmp_path):
    """Numbers at sizes where the function would have computed others were silently those of the recorded run."""
    rng = np.random.default_rng(0)
    A = sg.tensor(rng.random((6, 4)), requires_grad=True)
    program = sg.compile(f(A), ["A"], name="f")
    assert np.allclose(program(A.detach().numpy()), f(A).item())
    program.save(tmp_path / "f.py")
    function = runpy.run_path(str(tmp_path / "f.py"))["f"]
    refused = 0
    for shape in ((5, 4), (7, 5), (4, 6), (60, 4), (150, 2)):
        x = rng.random(shape)
        for call in (program, function):
            found = outcome(call, x)
            if isinstance(found, ValueError):
                refused += 1
                assert "holds where" in str(found)
            else:
                assert np.allclose(found, f(sg.tensor(x)).item())
    assert refused


def test_sizes_that_stay_sizes_leave_the_program_of_a_graph_open():
    A = sg.tensor(np.ones((6, 4)), requires_grad=True)
    n, m = A.shape
    program = sg.compile((A**2).sum() / n + (m - 1) * A.mean() / n**0.5, ["A"])
    x = np.random.default_rng(0).random((3, 5))
    assert np.allclose(program(x), (x**2).sum() / 3 + 4 * x.mean() / 3**0.5)


def test_lengths_of_other_tensors_are_not_asked_of_a_graph():
    other = sg.ones(6)
    assert len(other) == 6
    A = sg.tensor(np.ones(6), requires_grad=True)
    assert sg.compile((A**2).sum(), ["A"])(np.ones(4)) == 4

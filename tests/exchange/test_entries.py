"""Entries of formulas: ``t.expr[i, j]``, and what an expression that takes an index keeps of SymPy's manners."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

import symgrad as sg
from symgrad.errors import ArgumentError

i, j, k, n = *sp.symbols("i j k", integer=True), sp.Symbol("n", integer=True, positive=True)
A_, x_ = sp.IndexedBase("A"), sp.IndexedBase("x")


@pytest.fixture
def leaves(rng):
    A = sg.tensor(rng.normal(size=(3, 3)), requires_grad=True, name="A")
    x = sg.tensor(rng.normal(size=3), requires_grad=True, name="x")
    return A, x


def test_entries(leaves):
    A, x = leaves
    row = sp.Sum(A_[i, k] * x_[k], (k, 0, n - 1))
    assert (A @ x).expr[i] == row
    assert (sg.tanh(A @ x) * x).expr[i] == sp.tanh(row) * x_[i]
    assert (A + A.T).expr[i, j] == A_[i, j] + A_[j, i]
    assert (A + A.T).expr["i", "j"] == A_[i, j] + A_[j, i]
    assert A.expr[1, 0] == A_[1, 0]
    assert x.expr[-1] == x_[n - 1]
    assert (2 * (A @ A)).expr[0, j] == 2 * sp.Sum(A_[0, k] * A_[k, j], (k, 0, n - 1))
    assert sg.softmax(x, 0).expr[i] == sp.exp(x_[i]) / sp.Sum(sp.exp(x_[k]), (k, 0, n - 1))
    assert (x @ x).expr == (x @ x).expr


def test_entries_of_gradients(leaves):
    A, x = leaves
    (A @ x).tanh().sum().backward()
    assert A.grad.expr[i, j] == sg.element(A.grad, "i", "j")
    assert A.grad.expr[i, j].free_symbols >= {i, j}


def test_entries_are_the_numbers(leaves, rng):
    """The general entry, with numbers in the places of its indices, is the entry of the tensor."""
    A, x = leaves
    values = {"A": A.numpy(force=True), "x": x.numpy(force=True)}
    for t in ((A @ x).exp() * x, A @ A.T @ A, sg.softmax(A @ x, 0), sg.outer(x, A @ x), sg.logsumexp(A, 1)):
        names = (i, j)[: t.ndim]
        again = sg.from_sympy(t.expr[names])
        found = again(**{name: values[name] for name in again.names})
        np.testing.assert_allclose(found, t.numpy(force=True), rtol=1e-9)


def test_manners_of_sympy(leaves):
    A, x = leaves
    for t in (sg.tanh(A @ x) * x, x + A @ x, x**2, x.sin(), A @ x):
        e = t.expr
        plain = getattr(e, "plain", e)
        assert e == plain
        assert plain == e
        assert not e != plain
        assert hash(e) == hash(plain)
        assert (str(e), sp.latex(e), sp.srepr(e)) == (str(plain), sp.latex(plain), sp.srepr(plain))
        assert type(pickle.loads(pickle.dumps(e))) is type(e)
        assert pickle.loads(pickle.dumps(e)) == copy.deepcopy(e) == e
        assert e.func(*e.args) == plain
        assert (e - plain, -(-e), 2 * e - e) == (0, plain, plain)
        assert e.subs(sp.Symbol("absent"), 1) == e
        assert e.xreplace({}) == e
        assert not sp.utilities.iterables.iterable(e)
        f = sp.lambdify([sp.Symbol("A"), sp.Symbol("x")], e, "numpy")
        np.testing.assert_allclose(f(A.numpy(force=True), x.numpy(force=True)), t.numpy(force=True))


def test_refusals(leaves):
    A, x = leaves
    with pytest.raises(ArgumentError, match="1 axes .* 2 indices"):
        (A @ x).expr[i, j]
    with pytest.raises(ArgumentError, match="2 axes .* 1 indices"):
        A.expr[0]
    with pytest.raises(ArgumentError, match="take parts of the tensor"):
        (x * 2).expr[0:2]
    with pytest.raises(TypeError, match="not iterable"):
        list((x * 2).expr)

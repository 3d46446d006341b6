"""Digests of formulas: the same for the same computation, wherever and whenever it is asked for, and else another."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.digest import digest_of
from symgrad.formula.term import postorder
from tests.formulas.generator import Generator


def leaf(*shape, name=None, dtype=sg.float64, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return sg.tensor(values, dtype=dtype, requires_grad=True, name=name)


class Cube(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        return g * 3 * ctx.saved_tensors[0] ** 2


class Opaque(Cube):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return sg.tensor(x.detach().numpy() * k)


def test_it_is_this_one_everywhere():
    """A change here is a change of the format: then its first line says so."""
    x, A = leaf(3, name="x"), leaf(3, 3, name="A")
    y = (sg.tanh(A @ x)[1:] * 0.1).sum() / 3
    assert sg.digest(y) == "cd72c277e796012c26ff48b38fc0fb5225a8a80e6a7316790018e52dee1a5b95"


PROGRAMS = [
    lambda x, y: x * y,
    lambda x, y: x + y,
    lambda x, y: y * y,  # noqa: ARG005
    lambda x, y: (x * y).sum(),
    lambda x, y: (x * y).sum(0, keepdim=True),
    lambda x, y: x * 2,  # noqa: ARG005
    lambda x, y: x * 2.5,  # noqa: ARG005
    lambda x, y: x * -0.0,  # noqa: ARG005
    lambda x, y: x[1:],  # noqa: ARG005
    lambda x, y: x[:-1],  # noqa: ARG005
    lambda x, y: x[[0, 1]],  # noqa: ARG005
    lambda x, y: x[[1, 0]],  # noqa: ARG005
    lambda x, y: x[sg.tensor([1, 0])] * y[:2],
    lambda x, y: sg.cat([x, y]),
    lambda x, y: Cube.apply(x),  # noqa: ARG005
    lambda x, y: Opaque.apply(x, 2),  # noqa: ARG005
    lambda x, y: Opaque.apply(x, 2.0),  # noqa: ARG005
    lambda x, y: sg.unbind(sg.stack([x, y]))[0],
    lambda x, y: sg.unbind(sg.stack([x, y]))[1],
]


def test_different_computations_have_different_digests():
    found = [sg.digest(program(leaf(4), leaf(4, seed=1))) for program in PROGRAMS]
    same = [(j, k) for (j, a), (k, b) in itertools.combinations(enumerate(found), 2) if a == b]
    assert not same


@pytest.mark.parametrize("program", PROGRAMS, ids=map(str, range(len(PROGRAMS))))
def test_names_sizes_and_values_do_not_count(program):
    one = program(leaf(4, name="x"), leaf(4, name="y"))
    other = program(leaf(5, name="n", seed=3), leaf(5, name="a", seed=4))
    assert sg.digest(one) == sg.digest(other)
    assert sg.digest(one) == sg.digest(pickle.loads(pickle.dumps(one)))
    assert sg.digest(one) == sg.digest(sg.copy_graph(one))


def test_dtypes_and_which_symbol_stands_where_count():
    x, y = leaf(4), leaf(4)
    assert sg.digest(x - y) != sg.digest(leaf(4, dtype=sg.float32) - leaf(4, dtype=sg.float32))
    assert sg.digest(x - y) == sg.digest(y - x)
    assert sg.digest((x - y) * x) != sg.digest((x - y) * y)
    assert sg.digest(x * leaf(4, 4)) != sg.digest(x * leaf(3, 4))


def test_gradients_have_digests():
    x = leaf(4)
    (x.sin() * x).sum().backward()
    other = leaf(6)
    (other.sin() * other).sum().backward()
    assert sg.digest(x.grad) == sg.digest(other.grad) != sg.digest(x)
    assert sg.digest(x.grad) == sg.digest(pickle.loads(pickle.dumps(x.grad)))


def test_values_count_when_they_shall():
    x = leaf(4)
    y = (x * sg.tensor([1.0, 2.0, 3.0, 4.0])).sum()
    before = sg.digest(y, values=True)
    assert before == sg.digest(pickle.loads(pickle.dumps(y)), values=True) != sg.digest(y)
    with sg.no_grad():
        x[0] = 7.0
    assert sg.digest(y, values=True) != before
    big = sg.tensor(x.detach().numpy().astype(">f8"))
    assert sg.digest(big * 2, values=True) == sg.digest(sg.tensor(x.detach().numpy()) * 2, values=True)
    with pytest.raises(ArgumentError, match="have no values"):
        sg.digest("sin(x)", values=True)


def test_functions_and_texts_have_digests():
    f = lambda X, w: ((X @ w) ** 2).sum()  # noqa: E731
    assert sg.digest(f, (5, 3), (3,)) == sg.digest(f, (7, 2), (2,)) != sg.digest(f, (5, 3), (3,), wrt="w")
    assert sg.digest("sum((X@w)**2)") == sg.digest("sum((Z@v)**2)")


def test_what_has_no_name_of_its_own_is_refused():
    class Local(Opaque):
        pass

    with pytest.raises(FormulaError, match="Define it at the top of a module"):
        sg.digest(Local.apply(leaf(3), 2))


def test_formulas_of_one_digest_are_the_same_formula():
    found = {}
    for seed in range(60):
        for term in Generator(seed).derivative():
            row = [(t.op.name, t.dtype, len(t.args), len(t.shape)) for t in postorder([term])]
            assert found.setdefault(digest_of([term]), row) == row
    assert len(found) > 50


def test_deep_graphs_are_no_problem():
    x = y = leaf(2)
    for _ in range(20_000):
        y = y * 0.5 + x
    assert len(sg.digest(y)) == 64

"""Sparse tensors: what they hold, what is done to them, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore:Sparse:UserWarning")

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
RIGHT = np.arange(6.0).reshape(3, 2)


@pytest.fixture(params=["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def t(request):
    return sg if request.param == "symgrad" else pytest.importorskip("torch", reason="torch is not installed")


def twice(t, grad=False):
    """A matrix with two entries at one place."""
    values = t.tensor([3.0, 4.0, 5.0], dtype=t.float64)
    return t.sparse_coo_tensor(t.tensor([[0, 1, 1], [2, 0, 0]]), values, (2, 3), requires_grad=grad)


def test_facts(t):
    s = t.tensor(DENSE).to_sparse()
    assert s.is_sparse
    assert s.layout == t.sparse_coo
    assert s.is_coalesced()
    assert s._nnz() == 3
    assert tuple(s.shape) == (2, 3)
    assert s.numel() == 6
    assert s.sparse_dim() == s.ndimension() == 2
    assert s.dense_dim() == 0
    assert len(s) == 2
    np.testing.assert_array_equal(s.indices(), [[0, 0, 1], [0, 2, 1]])
    np.testing.assert_array_equal(s.values(), [1, 2, 3])
    np.testing.assert_array_equal(s.to_dense(), DENSE)
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor"):
        twice(t).indices()
    np.testing.assert_array_equal(twice(t).coalesce().values(), [3, 9])


@pytest.mark.parametrize(
    "line",
    """
    s.t()
    s.T
    s.transpose(0, 1)
    -s
    s * 2
    s / 2
    s + s
    s - s
    s * s
    s * t.ones(2, 3, dtype=t.float64)
    s.pow(2)
    s.sin()
    t.tanh(s)
    s.abs()
    s.detach()
    s.clone()
    s.double()
    s @ s.t()
    t.sparse.mm(s, s.t())
    t.sparse.sum(s, 0)
    t.sparse.softmax(s, 1)
    t.sparse.log_softmax(s, 1)
    """.split("\n")[1:-1],
)
def test_results_are_sparse(t, line):
    def value(s):
        found = eval(line, {"s": s, "t": t})
        assert found.is_sparse
        return found.to_dense()

    for s in (t.tensor(DENSE).to_sparse(), twice(t)):
        own = sg.tensor(s.to_dense().numpy()).to_sparse()
        want = eval(line, {"s": own, "t": sg}).to_dense()
        np.testing.assert_allclose(value(s), want, rtol=1e-12)


def test_results_are_dense(t):
    s, d = t.tensor(DENSE).to_sparse(), t.tensor(RIGHT)
    np.testing.assert_array_equal(t.sparse.mm(s, d), DENSE @ RIGHT)
    np.testing.assert_array_equal(s @ d, DENSE @ RIGHT)
    for product in (t.mm, t.spmm, t.dsmm):
        np.testing.assert_array_equal(product(s, d), DENSE @ RIGHT)
    np.testing.assert_array_equal(s @ d[:, 0], DENSE @ RIGHT[:, 0])
    np.testing.assert_array_equal(s.mv(d[:, 0]), DENSE @ RIGHT[:, 0])
    np.testing.assert_array_equal(t.sparse.mm(d.T, s.t()), (DENSE @ RIGHT).T)
    np.testing.assert_array_equal(t.sparse.addmm(t.ones(2, 2, dtype=t.float64), s, d, beta=2.0), DENSE @ RIGHT + 2)
    assert float(t.sparse.sum(s)) == float(s.sum()) == 6


def test_gradients(t):
    """Only entries get a gradient from ``sparse.mm`` and ``to_dense``; every number gets one from ``@``."""
    x = t.tensor(DENSE, requires_grad=True)
    d = t.tensor(RIGHT, requires_grad=True)
    for f, mask in (
        (lambda: t.sparse.mm(x.to_sparse(), d), DENSE != 0),
        (lambda: x.to_sparse() @ d, np.ones((2, 3))),
        (lambda: x.to_sparse().to_dense() @ d, DENSE != 0),
    ):
        x.grad = d.grad = None
        f().pow(2).sum().backward()
        product = DENSE @ RIGHT
        np.testing.assert_allclose(x.grad, 2 * product @ RIGHT.T * mask)
        np.testing.assert_allclose(d.grad, 2 * DENSE.T @ product)
    x.grad = None
    (x.to_sparse().values() ** 2).sum().backward()
    np.testing.assert_array_equal(x.grad, 2 * DENSE)


def test_gradient_of_a_sparse_leaf_is_sparse(t):
    s = twice(t, grad=True)
    assert s.is_leaf
    assert s.requires_grad
    t.sparse.mm(s, t.tensor(RIGHT)).sum().backward()
    assert s.grad.is_sparse
    np.testing.assert_array_equal(s.grad.to_dense(), [[0, 0, 9], [1, 0, 0]])


def test_what_is_not_sparse_is_refused():
    s = twice(sg)
    with pytest.raises(TypeError, match="use .to_dense"):
        s.exp()
    with pytest.raises(RuntimeError, match="add\\(sparse, dense\\) is not supported"):
        s + 1
    with pytest.raises(ValueError, match="cannot be multiplied"):
        sg.sparse.mm(s, s)
    with pytest.raises(ValueError, match="outside of the size"):
        sg.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (3,))
    with pytest.raises(ValueError, match="values of shape"):
        sg.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0])
    with pytest.raises(AttributeError, match="to_dense"):
        s.no_such_thing


def test_large_and_sparse():
    """A million columns: nothing dense of that size by that size is made."""
    n = 1_000_000
    places = np.stack([np.arange(1000) % 7, np.arange(1000) * 997 % n])
    s = sg.sparse_coo_tensor(places, np.ones(1000), (n, n), requires_grad=True)
    out = sg.sparse.mm(s, sg.ones(n, 1, dtype=sg.float64))
    out.sum().backward()
    assert float(out.sum()) == 1000
    assert s.grad._nnz() == len(set(map(tuple, places.T)))

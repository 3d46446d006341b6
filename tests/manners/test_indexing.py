"""Indexing and assignment: the gradient of every kind of index, of choices, ties and scatters."""

from __future__ import annotations

import numpy as np
import pytest

from tests.leaves import ramp, values


def as_tensors(t, index):
    """Lists that stand for index tensors, as tensors; everything else as it is."""
    if isinstance(index, tuple):
        return tuple(as_tensors(t, i) for i in index)
    return t.tensor(index.tolist()) if isinstance(index, np.ndarray) else index


INDICES = [
    0,
    -1,
    (2, 1),
    (0, -1, 3),
    np.array(1),
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(-2, None),
    slice(3, 3),
    ...,
    None,
    (..., 1),
    (0, ..., slice(1, 2)),
    (slice(None), None, 2),
    (None, ..., None),
    (slice(None), slice(0, 2), slice(1, None, 2)),
    (slice(1), 2),
    (1, slice(1)),
    [0, 2],
    [3, 0, 0],
    np.array([1, -1]),
    np.array([[0, 1], [3, 3]]),
    ([0, 1], [2, 0]),
    ([0, 1], slice(None), [2, 0]),
    (slice(None), [0, 2]),
    (slice(None), np.array([1, 1, 0])),
    (..., [0, 3]),
    ([[0], [1]], [[0, 2]]),
    (np.array([[0], [1]]), np.array([[0, 2]]), slice(1, 3)),
    (1, [0, 2]),
    ([0, 2], 1),
    (slice(1, None), 1, [0, 3]),
    ([1], None, slice(2)),
    (None, [1, 3]),
    np.array([True, False, True, True]),
    np.array([False] * 4),
    (slice(None), np.array([True, False, True])),
    (np.array([True, False, False, True]), [0, 1]),
    (np.array([True, False, False, True]), slice(None), 2),
    (2, np.array([False, True, True])),
    True,
    (),
]


def test_indexing(t):
    """Each form of index picks what NumPy picks where the two agree, and its gradient is one in the places picked."""
    array = np.arange(1.0, 61.0).reshape(4, 3, 5)
    for index in INDICES:
        x = t.tensor(array, requires_grad=True)
        picked = x[as_tensors(t, index)]
        weights = t.tensor(np.arange(1.0, 1 + picked.numel()).reshape(tuple(picked.shape)))
        (picked * weights).sum().backward()
        expected = np.zeros_like(array)
        places = picked.detach().numpy().astype(int) - 1  # every entry tells its own place
        np.add.at(expected.reshape(-1), places.reshape(-1), weights.numpy().reshape(-1))
        assert values(x.grad) == expected.tolist(), index
        both_ways = isinstance(index, tuple) and sum(isinstance(i, (list, np.ndarray, int)) for i in index) > 1
        if not both_ways:
            assert values(picked) == array[index].tolist(), index


def test_indexing_duplicates(t):
    """An entry that is picked twice gets both gradients."""
    for index in ([1, 1, 3, 1], t.tensor([1, 1, 3, 1]), (t.tensor([1, 1, 3, 1]),)):
        x = ramp(t, 4, 2)
        (x[index] * t.tensor([[1.0], [10.0], [100.0], [1000.0]])).sum().backward()
        assert values(x.grad) == [[0.0] * 2, [1011.0] * 2, [0.0] * 2, [100.0] * 2]
    x = ramp(t, 4, 2)
    x[[[1, 1], [2, 1]], [[0, 0], [1, 0]]].sum().backward()
    assert values(x.grad) == [[0.0] * 2, [3.0, 0.0], [0.0, 1.0], [0.0] * 2]


def test_index_backward_does_not_save_tensor(t):
    """Assigning under a mask what was picked under it needs no value that is overwritten."""
    x = ramp(t, 6)
    y = x.clone()
    mask = t.tensor([True, False, True, False, False, True])
    y[mask] = y[mask]
    y[mask] = y[mask] * 2
    y.sum().backward()
    assert values(x.grad) == [2.0, 1.0, 2.0, 1.0, 1.0, 2.0]


def check_assignment(t, shape, index):
    x, v = ramp(t, *shape), None
    y = x.clone()
    y[index] = 7.0
    assert (y[index] == 7).numpy().all()
    assert y._version == 1
    hit = np.zeros(shape)
    picked = index.numpy() if hasattr(index, "numpy") else index
    picked = tuple(i.numpy() if hasattr(i, "numpy") else i for i in picked) if isinstance(picked, tuple) else picked
    hit[picked] = 1
    y.sum().backward()
    assert values(x.grad) == (1 - hit).tolist()

    x = ramp(t, *shape)
    y = x * 1
    v = t.ones_like(y[index]).mul(5).requires_grad_()
    y[index] = v
    (y * y).sum().backward()
    assert values(x.grad) == (2 * x.detach().numpy() * (1 - hit)).tolist()
    assert np.allclose(v.grad.numpy(), 10.0)


@pytest.mark.parametrize(
    "index",
    [1, (2, 0), slice(1, 3), (slice(None), 1), (..., slice(0, 2)), [0, 2], ([0, 1], [1, 0]), (slice(None), [0, 2]),
     (0, [1, 2]), (slice(None, None, 2), 1), (None, 2), slice(None)],
    ids=str,
)  # fmt: skip
def test_setitem(t, index):
    """What is assigned gets the gradient of its place, what it replaced gets none; numbers and tensors alike."""
    check_assignment(t, (4, 3), index)
    x = ramp(t, 3, 2)
    y = x * 1
    row = ramp(t, 2)
    y[t.tensor([0, 2])] = row  # broadcast over the places
    y.sum().backward()
    assert values(row.grad) == [2.0, 2.0]
    assert values(x.grad) == [[0.0] * 2, [1.0] * 2, [0.0] * 2]


def test_setitem_mask(t):
    """The same under masks of the whole and of one axis, empty ones too."""
    whole = t.tensor([[True, False, True], [False, False, True]])
    for mask in (whole, ~whole, whole & ~whole, t.tensor([True, False])):
        check_assignment(t, (2, 3), mask)
    check_assignment(t, (2, 3), (slice(None), t.tensor([False, True, True])))


def test_advanced_indexing_backwards_large(t):
    """Many rows picked by a list: each gets one gradient."""
    count = 1 << 16
    x = t.ones(count, 1, requires_grad=True)
    x[list(range(count))].sum().backward()
    assert tuple(x.grad.shape) == (count, 1)
    assert x.grad.numpy().min() == x.grad.numpy().max() == 1.0


def test_where_functional(t):
    """``where`` has right derivatives of both orders, whatever is broadcast."""
    for a, b, c in (((3, 2), (3, 2), (3, 2)), ((3, 1), (3, 2), (2,)), ((2,), (1, 2), (3, 1)), ((3, 2), (), (1,))):
        condition = t.tensor(np.arange(int(np.prod(a))).reshape(a) % 2 == 0)
        x, y = ramp(t, *b), ramp(t, *c)
        chosen = lambda x, y: t.where(condition, x * x, y * 3)  # noqa: E731
        assert t.autograd.gradcheck(chosen, (x, y))
        assert t.autograd.gradgradcheck(chosen, (x, y))


def test_where_scalar(t):
    """A number may stand on either side."""
    condition = t.tensor([True, False, True])
    x = ramp(t, 3)
    for chosen in (lambda x: t.where(condition, x * x, 4.0), lambda x: t.where(condition, 4, x * x)):
        assert chosen(x).dtype == t.float64
        assert t.autograd.gradcheck(chosen, (x,))
        assert t.autograd.gradgradcheck(chosen, (x,))


NAN = float("nan")


def test_min_max_median_backprops_to_all_values(t):
    """The gradient of an extreme value or a median is shared by all entries that tie for it, nans included."""
    for function in (t.min, t.max, t.median, t.nanmedian):
        for row in ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [NAN] * 4, [2.0, 2.0]):
            x = t.tensor(row, requires_grad=True)
            extreme = function(x)
            extreme.backward()
            gradient = x.grad.numpy()
            assert gradient.sum() == pytest.approx(1.0)
            chosen = extreme.detach().numpy()
            ties = np.isnan(row) if np.isnan(chosen) else np.array(row) == chosen
            assert np.allclose(gradient, ties / ties.sum())


@pytest.mark.filterwarnings("ignore:index_reduce")
def test_scatter_index_reduce_amin_amax_backprops_to_all_values(t):
    """Scattered extremes share their gradient among ties as well, with the receiver where it takes part."""
    index = t.tensor([0, 0, 1, 1, 2, 2])
    for scatter in (
        lambda x, s, how: x.scatter_reduce(0, index, s, reduce=how),
        lambda x, s, how: x.index_reduce(0, index, s, reduce=how),
    ):
        for how in ("amin", "amax"):
            x = t.tensor([1.0, 5.0, 2.0], dtype=t.float64, requires_grad=True)
            s = t.tensor([1.0, 1.0, 2.0, 2.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
            out = scatter(x, s, how)
            out.sum().backward()
            together = np.concatenate([x.detach().numpy(), s.detach().numpy()])
            owner = np.array([0, 1, 2, 0, 0, 1, 1, 2, 2])
            won = together == out.detach().numpy()[owner]
            share = won / np.array([won[owner == k].sum() for k in range(3)])[owner]
            assert np.allclose(np.concatenate([x.grad.numpy(), s.grad.numpy()]), share), how


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.except_symgrad("the second derivative is right where zeros repeat, too: there is nothing to refuse")
def test_scatter_index_reduce_prod_gradgrad_error(t):
    """Scattered products have a first derivative; a second is refused where two zeros meet in one place."""
    index = t.tensor([0, 1, 1, 1, 2])
    for scatter in (
        lambda x, s: x.scatter_reduce(0, index, s, reduce="prod"),
        lambda x, s: x.index_reduce(0, index, s, reduce="prod"),
    ):
        x = t.tensor([2.0, 3.0, 5.0], dtype=t.float64, requires_grad=True)
        s = t.tensor([1.5, 0.0, 2.0, 0.0, 3.0], dtype=t.float64, requires_grad=True)
        assert t.autograd.gradcheck(scatter, (x, s))
        with pytest.raises(RuntimeError, match=r"[Dd]ouble backward is unsupported|second derivative"):
            t.autograd.gradgradcheck(scatter, (x, s))


def test_mv_grad_stride_0(t):
    """A matrix times a vector that is one number in many places."""
    A = ramp(t, 3, 4)
    one = t.tensor([2.0], dtype=t.float64, requires_grad=True)

    def product(matrix, number):
        return matrix.mv(number.expand(4))

    assert t.autograd.gradcheck(product, (A, one))
    assert t.autograd.gradgradcheck(product, (A, one))
    t.mv(A, one.expand(4)).sum().backward()
    assert values(A.grad) == [[2.0] * 4] * 3


def test_non_differentiable_ops(t):
    """Questions about numbers have no derivative, and their answers require none."""
    x = t.tensor([1.0, -2.0, 3.0], requires_grad=True)
    assert not t.isin(x, t.tensor([2.0, 3.0])).requires_grad
    assert values(t.isin(x, t.tensor([2.0, 3.0]))) == [False, False, True]
    assert not t.signbit(x).requires_grad
    assert values(t.signbit(x)) == [False, True, False]
    assert not (x > 0).requires_grad

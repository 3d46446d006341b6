"""What stays alive and what does not; one backward told from the next; several threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

from tests.functions import squaring
from tests.leaves import leaf


def test_retain_grad_cycle(t):
    """retain_grad does not keep a tensor alive: it goes when the last reference goes, without the collector."""
    x = leaf(t, [1.0, 2.0])

    def use():
        y = x * 2
        y.retain_grad()
        return y / 2, weakref.ref(y)

    gc.disable()
    try:
        out, y = use()
        assert y() is None
    finally:
        gc.enable()
    out.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_looking_at_a_gradient_keeps_nothing_alive(t):
    """The graph of a gradient goes with its last reference, also after somebody looked at the gradient's node."""

    def use():
        x = leaf(t, [1.0, 2.0])
        out = x.sin().exp().sum()
        (slope,) = t.autograd.grad(out, x, create_graph=True)
        assert slope.grad_fn.name() == "MulBackward0"
        assert slope.grad_fn.next_functions
        return weakref.ref(x)

    gc.disable()
    try:
        assert use()() is None
    finally:
        gc.enable()


def test_variable_traverse(t):
    """A cycle that nobody refers to and that holds a view within the graph is collected; backward does not mind."""

    def use():
        x = leaf(t, [1.0, 2.0, 3.0])
        middle = x.view(3, 1)
        cycle = [middle]
        cycle.append(cycle)
        return middle.view(3), x

    out, x = use()
    gc.collect()
    out.backward(t.tensor([1.0, 2.0, 3.0], dtype=t.float64))
    assert x.grad.tolist() == [1.0, 2.0, 3.0]


def test_current_graph_task_id(t):
    """Hooks of one backward see one number, those of the next another, and outside there is none."""
    current = t._C._current_graph_task_id if t.__name__ == "torch" else t.autograd.graph.current_graph_task_id
    seen = []
    x = leaf(t, [1.0])
    y = x * 2
    x.register_hook(lambda g: seen.append(current()))
    y.register_hook(lambda g: seen.append(current()))
    y.backward(retain_graph=True)
    y.backward()
    assert seen[0] == seen[1] != seen[2] == seen[3]
    assert min(seen) >= 0
    assert current() == -1


# ---------------------------------------------------------------------------------------------- threads


@pytest.fixture
def often():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(count, work):
    """Run ``work(k)`` in ``count`` threads at once; what one of them raises comes out."""
    errors, start = [], threading.Barrier(count)

    def run(k):
        try:
            start.wait()
            work(k)
        except BaseException as error:  # noqa: BLE001  (for the thread that waits)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_simple_backward(t, often):
    """A graph per thread: each is differentiated as if it were alone."""

    def work(k):
        x = leaf(t, [float(k), 2.0])
        for _ in range(5):
            x.grad = None
            y = x * x
            with t.no_grad():
                assert not (x * 2).requires_grad
            (y * 3).sum().backward()
            assert x.grad.tolist() == [6.0 * k, 12.0]

    in_threads(6, work)


def test_simple_backward_same_input(t, often):
    """Graphs of several threads that end in one leaf: no contribution to its .grad is lost."""
    x = leaf(t, [1.0, 2.0])

    def work(_):
        for _ in range(20):
            (x * x).sum().backward()

    in_threads(6, work)
    assert x.grad.tolist() == [240.0, 480.0]
    y = (x * x).sum()
    x.grad = None
    in_threads(6, lambda _: y.backward(retain_graph=True))
    assert x.grad.tolist() == [12.0, 24.0]


def test_python_thread_in_middle(t):
    """Parts of a graph are made in one thread after another and differentiated in a third."""
    x = leaf(t, [2.0, 3.0])
    parts = [x * x]

    def work(_):
        parts.append(parts[-1] + 1)
        parts[-1].sum().backward(retain_graph=True)
        parts.append(parts[-1] * x)

    in_threads(1, work)
    in_threads(1, work)
    first = x.grad.tolist()
    parts[-1].sum().backward()
    # x² + 1, then (x² + 1) x + 1 in the threads; ((x² + 1) x + 1) x here
    assert first == [2 * v + 3 * v**2 + 1 for v in (2.0, 3.0)]
    assert x.grad.tolist() == [a + 4 * v**3 + 2 * v + 1 for a, v in zip(first, (2.0, 3.0), strict=True)]


def test_gradients_through_functions_keep_nothing_alive(t):
    """Nor does a recorded gradient that a custom Function or a hook gave: the graph goes with its last reference."""

    class Marker:
        pass

    def use():
        x = leaf(t, [1.0, 2.0])
        y = squaring(t).apply(x)
        y.register_hook(lambda g: g * 2)
        marker = y.grad_fn.metadata["mine"] = Marker()
        (slope,) = t.autograd.grad(y.sum(), x, create_graph=True)
        assert slope.tolist() == [4.0, 8.0]
        return weakref.ref(marker)

    gc.disable()
    try:
        assert use()() is None
    finally:
        gc.enable()


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_duals_in_another_thread(t):
    """A tangent made in one thread is there in another, while its level is open."""
    forward, found = t.autograd.forward_ad, []
    with forward.dual_level():
        x = forward.make_dual(t.tensor([1.0, 2.0]), t.tensor([1.0, 0.5]))
        in_threads(1, lambda _: found.append(forward.unpack_dual(x * x).tangent))
    assert found[0].tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_duals_made_in_another_thread(t):
    """A thread without a level of its own takes the open one; it was refused."""
    forward, found = t.autograd.forward_ad, []

    def moved(_):
        x = forward.make_dual(t.tensor([1.0, 2.0]), t.tensor([1.0, 0.5]))
        found.append(forward.unpack_dual(x * x).tangent)

    with forward.dual_level():
        in_threads(1, moved)
    assert found[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="no level exists"):
        moved(None)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize(
    ("primal", "tangent"), [("float32", "float64"), ("float64", "float32"), ("float16", "float32")]
)
def test_tangents_of_another_precision(t, primal, tangent):
    """Duals may have them, in which they are given back; what is made of them is right in the dtype of the primal."""
    forward = t.autograd.forward_ad
    x = t.tensor([1.0, 2.0], dtype=getattr(t, primal), requires_grad=True)
    v = t.tensor([0.5, 0.25], dtype=getattr(t, tangent), requires_grad=True)
    with forward.dual_level():
        dual = forward.make_dual(x, v)
        assert forward.unpack_dual(dual).tangent.dtype == v.dtype
        moving = forward.unpack_dual((dual**3).sin().sum()).tangent
    expected = 3 * np.array([0.5, 1.0]) * np.cos([1.0, 8.0])
    assert float(moving.detach()) == pytest.approx(expected.sum(), rel=3e-3)
    by_x, by_v = t.autograd.grad(moving, (x, v))
    assert (by_x.dtype, by_v.dtype) == (x.dtype, v.dtype)
    np.testing.assert_allclose(by_v.numpy(), 3 * np.array([1.0, 4.0]) * np.cos([1.0, 8.0]), rtol=3e-3)

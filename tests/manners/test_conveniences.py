"""Conveniences: batched gradients, no circles of references, several threads."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from tests.leaves import values


@pytest.mark.filterwarnings("ignore:.torch.jit")
def test_grad_batched_grad(t):
    """With ``is_grads_batched`` the first axis of a gradient counts the gradients; each is pulled back on its own."""
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=t.float64, requires_grad=True)
    y = x * x
    eye = t.eye(4, dtype=t.float64).reshape(4, 2, 2)
    (many,) = t.autograd.grad(y, x, eye, is_grads_batched=True, retain_graph=True)
    assert tuple(many.shape) == (4, 2, 2)
    for k in range(4):
        assert values(many[k]) == values(t.autograd.grad(y, x, eye[k], retain_graph=True)[0])

    w = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
    several = t.autograd.grad(
        (x * w, w.sum()),
        (x, w),
        (t.ones(3, 2, 2, dtype=t.float64), t.tensor([1.0, 2.0, 3.0], dtype=t.float64)),
        is_grads_batched=True,
    )
    assert [tuple(g.shape) for g in several] == [(3, 2, 2), (3, 2)]
    assert values(several[1]) == [[5.0, 7.0], [6.0, 8.0], [7.0, 9.0]]


def freed_by_counting(make) -> bool:
    """Whether what ``make`` gives a weak reference to goes away without the collector's help."""
    gc.collect()
    gc.disable()
    try:
        return make()() is None
    finally:
        gc.enable()


def test_retain_grad_cycle(t):
    """The graph does not keep a tensor that retains its gradient, before a backward pass or after."""
    x = t.ones(3, 4, requires_grad=True)
    graphs = []

    def before():
        y = x * 2
        y.retain_grad()
        graphs.append(y.exp())
        return weakref.ref(y)

    def after():
        y = x * 2
        z = y.exp()
        y.retain_grad()
        z.sum().backward()
        assert y.grad is not None
        return weakref.ref(y)

    assert freed_by_counting(before)
    graphs[0].sum().backward()
    assert x.grad is not None
    assert freed_by_counting(after)


def test_variable_traverse(t):
    """The collector may take a circle that holds a view in the middle of a graph; backward does not mind."""
    x = t.ones(6, requires_grad=True)

    def unreferenced_circle():
        view = x.view(2, 3)
        circle = [view]
        circle.append(circle)
        return view.t() * 3

    out = unreferenced_circle()
    gc.collect()
    out.backward(t.ones(3, 2))
    assert values(x.grad) == [3.0] * 6


def test_current_graph_task_id(t):
    """A hook can tell one backward call from the next, and outside of backward there is none."""
    seen = []
    x = t.tensor(2.0, requires_grad=True)
    y = x.clone()
    y.register_hook(lambda g: seen.append(task()))
    out = y * y

    def task():
        return t._C._current_graph_task_id() if hasattr(t, "_C") else t.autograd.graph.current_graph_task_id()

    assert task() == -1
    for _ in range(2):
        out.backward(retain_graph=True)
    assert len(set(seen)) == 2
    assert -1 not in seen


def in_threads(work, count=4):
    """Run ``work(k)`` in several threads at once; errors come through."""
    errors = []

    def run(k):
        try:
            work(k)
        except BaseException as error:  # noqa: BLE001  (told below)
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_simple_backward(t):
    """Threads with graphs of their own do not disturb one another."""

    def work(k):
        for step in range(20):
            x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
            y = (x + k) * (x + 4) * step
            y.sum().backward()
            assert np.allclose(x.grad.numpy(), (2 * x.detach().numpy() + k + 4) * step)

    in_threads(work)


def test_simple_backward_same_input(t):
    """A leaf that several threads share gets the gradients of all of them."""
    x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
    in_threads(lambda k: ((x + 1) * (x + 2)).sum().backward())
    assert np.allclose(x.grad.numpy(), 4 * (2 * x.detach().numpy() + 3))

    shared = t.tensor([1.0, 2.0], requires_grad=True)
    out = (shared * shared).sum()
    in_threads(lambda k: t.autograd.grad(out, shared, retain_graph=True))
    in_threads(lambda k: out.backward(retain_graph=True))
    assert np.allclose(shared.grad.numpy(), 4 * 2 * shared.detach().numpy())


def test_python_thread_in_middle(t):
    """A graph whose middle parts were made, or differentiated, in other threads is one graph."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    start = x * 3
    parts = {}

    def middle(k):
        parts[k] = (start + k) * (start - k)

    in_threads(middle)
    total = sum(parts[k].sum() for k in range(4))
    total.backward(retain_graph=True)
    assert np.allclose(x.grad.numpy(), 4 * 2 * 3 * start.detach().numpy())
    x.grad = None
    in_threads(lambda k: parts[k].sum().backward(retain_graph=True))
    assert np.allclose(x.grad.numpy(), 4 * 2 * 3 * start.detach().numpy())

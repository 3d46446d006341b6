"""Results that torch makes as views of a tensor nobody holds, and views whose base lost its history."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

RESULTS = {
    "einsum": lambda t, x, q: t.einsum("ij,kj->ik", x, x),
    "einsum, all summed": lambda t, x, q: t.einsum("ij,ij->", x, x),
    "einsum, turned": lambda t, x, q: t.einsum("ij->ji", x * 1),
    "einsum, diagonal": lambda t, x, q: t.einsum("jij->ij", q * 1),
    "einsum, batches": lambda t, x, q: t.einsum("bij,bkj->bik", q, q),
    "einsum, not summed": lambda t, x, q: t.einsum("ij,ij->ij", x, x),
    "tensordot": lambda t, x, q: t.tensordot(x, x, ([0], [0])),
    "tensordot, all": lambda t, x, q: t.tensordot(x, x, 2),
    "tensordot, batches": lambda t, x, q: t.tensordot(q, x, ([1, 0], [1, 0])),
    "inner": lambda t, x, q: t.inner(x, x),
    "inner of vectors": lambda t, x, q: t.inner(x[0], x[1]),
    "matrix and batch": lambda t, x, q: x[:1] @ q,
    "linear": lambda t, x, q: t.nn.functional.linear(q, q[0], x[0]),
    "a recorded Jacobian": lambda t, x, q: t.autograd.functional.jacobian(
        lambda a: a * a.sum(), x[0], create_graph=True
    ),
    "several matrices": lambda t, x, q: t.linalg.multi_dot([x, x.mT, x]),
    "matrices and a vector": lambda t, x, q: t.linalg.multi_dot([x, x.mT, x[:, 0]]),
    "bilinear": lambda t, x, q: t.nn.functional.bilinear(q[0], q[1], q[:, :2]),
    "a layer of one example": lambda t, x, q: t.nn.functional.linear(x[0], x, x[1, :2]),
    "repeat_interleave": lambda t, x, q: x.repeat_interleave(2),
    "the mean of a line": lambda t, x, q: t.nn.functional.adaptive_avg_pool1d(q, 1),
    "a convolution of one example": lambda t, x, q: t.nn.functional.conv1d(q[0], q[..., :1]),
    "a picture, pooled": lambda t, x, q: t.nn.functional.max_pool2d(q, 2),
}

UNRECORDED = {name: make for name, make in RESULTS.items() if name != "matrix and batch"} | {
    "groups of channels": lambda t, x, q: t.nn.functional.group_norm(q, 3),
    "differences": lambda t, x, q: t.gradient(x[0])[0],
}
"""Products of a matrix and a batch are left out: torch folds them, without grad, by which factor requires one."""

CHANGES = {
    "in place": lambda t, v: v.mul_(0.5),
    "entries": lambda t, v: v[None][0].view_as(v).mul_(2),
    "a view of it": lambda t, v: v[None].mul_(2),
    "without grad": lambda t, v: t.no_grad()(v.mul_)(2),
    "through a twin": lambda t, v: v.detach().mul_(2),
    "another shape": lambda t, v: v.unsqueeze_(0),
    "detached": lambda t, v: v.detach_(),
    "not at all": lambda t, v: v._base is None or v._base.sum(),
}


def shown(tensor):
    node = tensor.grad_fn
    names = None if node is None else (type(node).__name__, [type(n).__name__ for n, _ in node.next_functions])
    return names, tensor._version, tensor._is_view(), tensor.is_leaf, tensor.detach().numpy().tolist()


def story(t, make, change):
    """What is seen of a result and of a view of it before and after the change, and the gradients."""
    x = t.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]], dtype=t.float64, requires_grad=True)
    q = t.tensor(np.arange(12.0).reshape(2, 3, 2) / 4, requires_grad=True)
    seen = []
    v = make(t, x, q)
    v.retain_grad()
    w = v[..., 0] if v.ndim else v[None]
    seen += [shown(v), shown(w), v._base is None or type(v._base.grad_fn).__name__]
    try:
        change(t, v)
    except RuntimeError as error:
        seen.append(str(error)[:40])
    seen += [shown(v), shown(w)]
    ((v * v).sum() + w.sum() * 3).backward()
    return seen + [None if g is None else g.tolist() for g in (v.grad, x.grad, q.grad)]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_a_change_of_a_view_of_a_hidden_base(make, change):
    here, there = (story(t, make, change) for t in (symgrad, torch))
    assert here == there


def test_the_base_of_an_einsum_is_a_tensor_of_its_own():
    x = symgrad.ones(2, 2, requires_grad=True)
    v = symgrad.einsum("ij,jk->ik", x, x)
    w = v.view(4)
    assert v._base is w._base is not v
    w.mul_(3)
    assert v._base.grad_fn.name() == "torch::autograd::CopySlices"
    assert v.tolist() == v._base.tolist() == [[6.0, 6.0], [6.0, 6.0]]


@pytest.mark.parametrize("mode", ["no_grad", "enable_grad"])
@pytest.mark.parametrize("make", UNRECORDED.values(), ids=UNRECORDED)
def test_without_gradient_the_same_results_are_views_of_a_hidden_base(make, mode):
    def seen(t):
        x = t.tensor([[0.5, -1.0, 2.0], [1.5, 3.0, -0.25]], dtype=t.float64, requires_grad=mode == "no_grad")
        q = t.tensor(np.arange(12.0).reshape(2, 3, 2) / 4, requires_grad=mode == "no_grad")
        w = t.tensor(2.0, dtype=t.float64, requires_grad=True)
        with getattr(t, mode)():
            v = (
                make(t, x, q).detach()
                if mode == "no_grad" and make is RESULTS["a recorded Jacobian"]
                else make(t, x, q)
            )
        seen = [shown(v)]
        try:
            v.mul_(w)
        except RuntimeError as error:
            return [*seen, str(error)[:90]]
        v.sum().backward()
        return [*seen, shown(v), w.grad.tolist()]

    assert seen(symgrad) == seen(torch)


VIEWS = {
    "slice": lambda y: y[:],
    "view": lambda y: y.view(-1),
    "two steps": lambda y: y.view(-1)[1:],
    "spread": lambda y: y.expand(2, 3),
}


def cut_off(t, view, leaf):
    x = t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
    y = x if leaf else x * 2
    v = view(y)
    y.detach_()
    seen = [shown(v)]
    y[0] = 5
    seen += [shown(v), v.requires_grad]
    if not leaf:
        seen.append(t.autograd.grad((v * v).sum(), x, allow_unused=True)[0])
    other = view(y)
    other.add_(1) if other.is_contiguous() else None
    return [*seen, shown(v)]


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_the_view_of_a_base_that_was_detached_and_changed_leads_nowhere(view, leaf):
    here, there = (cut_off(t, view, leaf) for t in (symgrad, torch))
    assert here == there


FIRST = {
    "summed": lambda x: x.sum(),
    "scaled": lambda x: (x * 2).sum(),
    "several": lambda x: (x * x).sum() + (x.sin() * x).sum() + x.exp().sum(),
}
MEANWHILE = {
    "zero_": lambda g: g.zero_(),
    "sin_": lambda g: g.sin_(),
    "an entry": lambda g: g.__setitem__(0, 0.0),
    "nothing": lambda g: None,
    "through data": lambda g: g.data.zero_(),
}


def versions(t, first, meanwhile):
    x = t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
    first(x).backward()
    seen = [x.grad._version]
    for _ in range(2):
        meanwhile(x.grad)
        FIRST["several"](x).backward()
        seen.append(x.grad._version)
    return seen


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_the_version_of_a_gradient_counts_from_the_pass_that_made_it(first, meanwhile):
    here, there = (versions(t, first, meanwhile) for t in (symgrad, torch))
    assert here == there

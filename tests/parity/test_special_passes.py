"""Nodes and versions of gradients where torch's rules go another way: no axes, one entry, none, zeros, strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

LOSSES = [lambda y: (y.sin() * y).sum(), lambda y: y.tanh().pow(2).sum(), lambda y: (y**4).mean()]


def compare(function: Any, *shapes: Any, zeros: int = 0) -> None:
    """The same nodes and versions of gradients, plain and recorded, of the function and of its gradient."""
    for loss in LOSSES:
        assert _told(sg, function, shapes, zeros, loss) == _told(torch, function, shapes, zeros, loss)


def _told(t: Any, function: Any, shapes: Any, zeros: int, loss: Any) -> Any:
    values = [np.random.default_rng(k).normal(size=shape) for k, shape in enumerate(shapes)]
    for value in values:
        value.ravel()[:zeros] = 0
    xs = [t.tensor(value, requires_grad=True) for value in values]
    first = t.autograd.grad(loss(function(t, *xs)), xs, create_graph=True, allow_unused=True)
    told = [_seen(first)]
    total = sum(((g * g).sum() for g in first if g is not None), t.zeros(()))
    if total.requires_grad:
        told.append(_seen(t.autograd.grad(total, xs, retain_graph=True, allow_unused=True)))
        told.append(_seen(t.autograd.grad(total, xs, create_graph=True, allow_unused=True)))
    return told


def _seen(gradients: Any) -> Any:
    return [None if g is None else (type(g.grad_fn).__name__, g._version) for g in gradients]


SHAPES = [(), (1,), (3,), (3, 1), (1, 3), (2, 3), (2, 0)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_running_sums(name: str, shape: Any) -> None:
    for dim in (0, -1):
        compare(lambda t, x, dim=dim: getattr(t, name)(x, dim), shape)


@pytest.mark.parametrize("zeros", [0, 1, 9])
@pytest.mark.parametrize("shape", SHAPES[:-1])
def test_products(shape: Any, zeros: int) -> None:
    for options in ({}, {"dim": 0}, {"dim": -1, "keepdim": True}):
        if shape or not zeros:
            compare(lambda t, x, options=options: t.prod(x, **options), shape, zeros=zeros)


@pytest.mark.parametrize("name", ["amax", "amin", "var", "std"])
def test_numbers(name: str) -> None:
    compare(lambda t, x: getattr(t, name)(x), ())


@pytest.mark.parametrize("shapes", [((3,), (3,)), ((3, 3), (3,)), ((), (3,)), ((2, 1, 3), (3, 1))])
def test_signs_have_no_gradient(shapes: Any) -> None:
    compare(lambda t, x, y: t.copysign(x, y), *shapes)
    compare(lambda t, x, y: t.copysign(x > 0, y), *shapes)
    compare(lambda t, x, y: t.copysign(x.detach(), y), *shapes)


def test_what_is_no_float_has_a_place_among_the_next_functions() -> None:
    def told(t: Any) -> Any:
        x = t.ones(3, requires_grad=True)
        made = t.copysign(x > 0, x), t.gather(x, 0, t.tensor([0]))
        return [[type(f).__name__ for f, _ in m.grad_fn.next_functions] for m in made]

    assert told(sg) == told(torch)


GRAM = {
    "product": lambda t, x: x @ x.T,
    "linear": lambda t, x: t.nn.functional.linear(x, x),
    "addmm": lambda t, x: t.addmm(t.ones(1, dtype=x.dtype), x, x.t()),
    "det": lambda t, x: t.linalg.det(x @ x.t() + 2 * t.eye(2, dtype=x.dtype)),
    "inv": lambda t, x: t.linalg.inv(x @ x.t() + 2 * t.eye(2, dtype=x.dtype)),
    "solve": lambda t, x: t.linalg.solve(x @ x.t() + 2 * t.eye(2, dtype=x.dtype), x),
    "cholesky": lambda t, x: t.linalg.cholesky(x @ x.mH + 2 * t.eye(2, dtype=x.dtype)),
}


@pytest.mark.parametrize("name", GRAM)
def test_products_over_nothing(name: str) -> None:
    compare(GRAM[name], (2, 0))


@pytest.mark.parametrize(("shape", "counts"), [((3,), (2, 1)), ((2, 1, 3), (2, 1, 1, 1)), ((2, 3), (1, 1)),
                                               ((), (2,)), ((2, 3), (2, 2)), ((3,), (2, 2, 1))])  # fmt: skip
def test_repetitions(shape: Any, counts: Any) -> None:
    compare(lambda t, x: x.repeat(*counts), shape)
    compare(lambda t, x: t.sub(t.ones(2, 1, 3, dtype=x.dtype), x).repeat(2, 1, *counts), shape)


@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("shape", [(2, 3), (6, 1), (1, 2, 3)])
def test_gradients_that_were_spread_take_another_shape(shape: Any, dim: Any) -> None:
    compare(lambda t, x: x.view(shape).sum(dim), (6,))


FORWARD = {
    "an alias where memory is spread": lambda t, x: [x.T.reshape(-1), x[:, 0].reshape(1, 2), x[:, :1].flatten(),
                                                     x[0].expand(2, 3).reshape(3, 2), x.T.reshape(3, 2, 1),
                                                     x.sum().expand(2).reshape(2, 1), x.view(3, 2)],
    "ravel copies what is spread": lambda t, x: [x.T.ravel(), x[:, 0].ravel(), x.ravel()],
    "slices are whole as written": lambda t, x: [x[:0, :-1], x[0:0][:-1, :], x[0, :7], x[0, 0:], x[0, -3:], x[:],
                                                 x[None, 2:], x[:2, 0:3:1], x[:0][:5, 0], x[:, :0][0, :-1]],
    "chunks of nothing": lambda t, x: [*x[:0].chunk(2), *x[:0].chunk(2, -1), *x.chunk(2, dim=1)],
    "stacks of vectors": lambda t, x: [t.vstack([x[0], x[1]]), t.dstack([x[0], x[1]]), t.atleast_3d(x[0])],
}  # fmt: skip


@pytest.mark.parametrize("name", FORWARD)
def test_nodes(name: str) -> None:
    def told(t: Any) -> Any:
        made = FORWARD[name](t, t.ones(2, 3, requires_grad=True))
        return [type(y.grad_fn).__name__ for y in made]

    assert told(sg) == told(torch)


def test_a_raveled_column_has_memory_of_its_own() -> None:
    def told(t: Any) -> Any:
        x = t.ones(2, 3)
        x[:, 0].ravel().add_(1)
        return x.tolist(), x._version

    assert told(sg) == told(torch)


LEAVES = {
    "steps": "(x * x).sum().backward(); see(); x.grad.zero_(); see()",
    "steps through data": "(x * x).sum().backward(); see(); x.grad.data.zero_(); see()",
    "accumulated": "(x * x).sum().backward(); see()",
    "recorded": "(x * x).sum().backward(create_graph=True); see(); x.grad.detach().add_(1); see()",
    "a given one": "x.grad = x.detach() * 0 if x.grad is None else x.grad; (x * x).sum().backward(); see()",
    "a seed": "x.backward(seed); see(); x.grad.zero_(); see()",
    "a view of a seed": "x.view(3, 1).backward(seed.view(3, 1).clone()); see()",
    "a conjugate": "x.conj().view(3).backward(seed.clone()); see()",
}


@pytest.mark.parametrize("name", LEAVES)
def test_gradients_of_leaves(name: str) -> None:
    """Three passes, each adding into ``.grad``."""

    def told(t: Any) -> Any:
        x, seed, seen = t.ones(3, requires_grad=True), t.ones(3), []
        for _ in range(3):
            exec(LEAVES[name], {"x": x, "seed": seed, "see": lambda: seen.append(_seen([x.grad]))})  # noqa: B023, S102
        return seen

    assert told(sg) == told(torch)


@pytest.mark.parametrize("t", [sg, torch], ids=["symgrad", "torch"])
def test_a_gradient_that_was_saved_is_not_added_into_unnoticed(t: Any) -> None:
    x, w = t.ones(3, requires_grad=True), t.ones(3, requires_grad=True)
    (x * x).sum().backward()
    y = (w * x.grad).sum()
    (x * x).sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


CHANGED = {
    "a batch of products": "v = t.einsum('bij,bkj->bik', x[None], x[None]); see(v); v *= 3; see(v); v.fill_(0.5); "
    "see(v); v.sin_(); see(v); v[0].mul_(2); see(v); v.unsqueeze(0).add_(1); see(v)",
    "a number": "v = t.einsum('ij,ij->', x, x); v.mul_(3); see(v); v.sin_(); see(v)",
    "without a graph": "v = t.einsum('ij,ij->', x, x)\nwith t.no_grad(): v.mul_(3)\nsee(v)",
    "products of elements": "v = t.einsum('ij,ij->ij', x, x); v.mul_(3); see(v); v[0].mul_(2); see(v)",
    "part of one": "v = t.einsum('ij,kj->ik', x, x); v[...] += 1; see(v); v.copy_(v); see(v); d = v.diagonal(); "
    "d[0] *= 2; see(v); see(d)",
    "real pairs": "y = t.complex(x, x) * 2; v = t.view_as_real(y); v.sin_(); see(v); see(y); w = t.view_as_real(y); "
    "z = w[0]; w.mul_(2); see(z); see(w); see(v)",
    "complex pairs": "y = x * 2; v = t.view_as_complex(y); v.mul_(2); see(v); see(y); z = v[0:1]; y.mul_(2); "
    "see(z); see(v)",
}


@pytest.mark.parametrize("name", CHANGED)
def test_views_of_what_has_gone_and_those_that_strides_cannot_say(name: str) -> None:
    def told(t: Any) -> Any:
        x, seen = t.ones(3, 2, requires_grad=True), []
        exec(CHANGED[name], {"t": t, "x": x, "see": lambda v: seen.append((type(v.grad_fn).__name__, v._version))})  # noqa: S102
        return seen

    assert told(sg) == told(torch)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("shapes", [((3, 3), (2, 3, 2)), ((3, 1), (2, 1, 3)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 2))])
def test_a_batch_is_folded_for_a_derivative_of_the_matrix(shapes: Any, first: bool) -> None:
    compare(lambda t, x, y: (x if first else x.detach()) @ y, *shapes)

    def told(t: Any) -> Any:
        x, y = (t.ones(shape, requires_grad=True) for shape in shapes)
        return type(((x if first else x.detach()) @ y).grad_fn).__name__

    assert told(sg) == told(torch)

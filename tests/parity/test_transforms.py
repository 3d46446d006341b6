"""Functions as people write them, under transforms inside of transforms: the same numbers as torch.

Where torch's forward mode is known to be wrong or missing (``solve``, ``slogdet``, ``cdist``, ``index_reduce`` …) a
function is not among these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
import symgrad.utils.checkpoint

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytest.importorskip("torch.utils.checkpoint")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(8)
X, Y = RNG.uniform(-1.5, 1.5, (2, 3, 3)).round(3)


def recurrence(t: Any, a: Any, b: Any) -> Any:
    h = a[0]
    for i in range(3):
        h = t.tanh(h * b[i] + a[i])
    return h


def loop_in_place(t: Any, a: Any, b: Any) -> Any:
    a = a * 1
    a[0] *= b[0]
    a.t()[1].add_(b[2])
    a.view(-1)[::2].mul_(2.0)
    return a.relu_().sub(b)


def attention(t: Any, a: Any, b: Any) -> Any:
    return t.nn.functional.scaled_dot_product_attention(a[None], b[None], a[None] * 2)[0]


def normalised(t: Any, a: Any, b: Any) -> Any:
    return t.nn.functional.gelu(t.nn.functional.layer_norm(a @ b, (3,)))


def scattered(t: Any, a: Any, b: Any) -> Any:
    index = t.tensor([[0, 1, 0], [1, 0, 1], [2, 2, 2]])
    added = a.scatter_add(0, index, b).index_add(0, t.tensor([0, 0, 1]), b)
    return added.index_put((t.tensor([0, 1, 0]),), b, accumulate=True)


def spectrum(t: Any, a: Any, b: Any) -> Any:
    return t.fft.ifft(t.fft.fft(a) * t.fft.fft(b)).real + t.fft.rfft(a, dim=0).abs().sum()


def complex_chain(t: Any, a: Any, b: Any) -> Any:
    z = t.complex(a, b)
    return ((z @ z.mH) / (z + 3)).abs() + z.prod().imag + z.norm()


def factored(t: Any, a: Any, b: Any) -> Any:
    s = a @ a.mT + 2 * t.eye(3, dtype=a.dtype)
    return t.linalg.cholesky(s) @ b + t.linalg.inv(s) + t.linalg.matrix_exp(b * 0.3)


def checkpointed(t: Any, a: Any, b: Any) -> Any:
    return t.utils.checkpoint.checkpoint(lambda u, v: t.softmax(u @ v, -1) * u, a, b, use_reentrant=False)


def inner_transforms(t: Any, a: Any, b: Any) -> Any:
    slopes = t.func.vmap(t.func.grad(lambda r: (r * r * r.sin()).sum()))(a)
    moved = t.func.jvp(lambda u: u.sin() * b, (a,), (b,))[1]
    return slopes + moved + t.func.vjp(lambda u: u.exp() * b, a)[1](b)[0]


def sorted_parts(t: Any, a: Any, b: Any) -> Any:
    return a.sort(-1)[0].cumsum(0) * t.cat([b[:1], a[1:].flip(1)]) + t.where(a > b, a, b * b).logsumexp(0)


def pooled(t: Any, a: Any, b: Any) -> Any:
    functional = t.nn.functional
    image = functional.interpolate(a[None, None], size=(4, 4), mode="bilinear")
    return functional.conv2d(image, b[None, None, :2, :2]).flatten() + functional.max_pool2d(image, 2).sum()


FUNCTIONS = [
    recurrence, loop_in_place, attention, normalised, scattered, spectrum, complex_chain, factored, checkpointed,
    inner_transforms, sorted_parts, pooled,
]  # fmt: skip


def scalar(t: Any, function: Any) -> Any:
    def total(a: Any, b: Any) -> Any:
        out = function(t, a, b)
        return (out * (t.arange(out.numel(), dtype=t.float64).reshape(out.shape) * 0.37 + 1).cos()).sum()

    return total


def hooked(t: Any, f: Any, x: Any, y: Any) -> Any:
    with t.autograd.graph.saved_tensors_hooks(lambda v: v.detach().clone(), lambda v: v):
        out = f(x.requires_grad_(), y)
    return t.autograd.grad(out, x)


def dual(t: Any, f: Any, x: Any, y: Any) -> Any:
    forward = t.autograd.forward_ad
    with forward.dual_level():
        return tuple(forward.unpack_dual(f(forward.make_dual(x, y), y)))


TRANSFORMS = {
    "gradient": lambda t, f, x, y: t.func.grad(f, argnums=(0, 1))(x, y),
    "hessian": lambda t, f, x, y: t.autograd.functional.hessian(f, (x, y)),
    "reverse over reverse": lambda t, f, x, y: t.func.jacrev(t.func.jacrev(f), argnums=1)(x, y),
    "forward": lambda t, f, x, y: t.func.jvp(f, (x, y), (y, x)),
    "dual numbers": dual,
    "gradients of rows": lambda t, f, x, y: t.func.vmap(t.func.grad(f), (0, None))(t.stack([x, x * 0.5]), y),
    "pack hooks": hooked,
}


REFUSED = {
    *((checkpointed, name) for name in ("gradient", "reverse over reverse", "forward", "gradients of rows")),
    *((inner_transforms, name) for name in ("dual numbers", "pack hooks")),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_transform(function, transform):
    if (function, transform) in REFUSED:
        pytest.skip("torch does not take hooks, or forward mode twice, there")
    found = [flat(TRANSFORMS[transform](t, scalar(t, function), t.tensor(X), t.tensor(Y))) for t in (symgrad, torch)]
    assert len(found[0]) == len(found[1])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


def flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in flat(part)]
    return [value.detach().numpy()]


AUX = {
    "vjp": lambda t, f, x: t.func.vjp(f, x, has_aux=True)[2],
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (x,), has_aux=True)[2],
    "jacrev": lambda t, f, x: t.func.jacrev(f, has_aux=True)(x)[1],
    "jacfwd": lambda t, f, x: t.func.jacfwd(f, has_aux=True)(x)[1],
    "grad": lambda t, f, x: t.func.grad(lambda v: (f(v)[0].sum(), f(v)[1]), has_aux=True)(x)[1],
    "vjp inside of grad": lambda t, f, x: t.func.grad(lambda v: t.func.vjp(f, v, has_aux=True)[2]["of x"].sum())(x),
}


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("name", AUX)
def test_aux_keeps_no_graph_of_the_transform(name, inner):
    """It requires grad where something from outside of the function does."""

    def answers(t):
        w = t.tensor([1.0, 2.0], requires_grad=True)
        x = w * 1 if inner else w.detach() + 1
        made = AUX[name](t, lambda v: (v.exp(), {"of x": v * 2, "x": v, "of w": w * 3}), x)
        row = made.values() if isinstance(made, dict) else [made]
        return [(a.requires_grad, a.is_leaf, a.tolist()) for a in row]

    assert answers(symgrad) == answers(torch)

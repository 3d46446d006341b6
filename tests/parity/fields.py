"""Programs as the literature of many fields has them: each takes the module it runs with and returns tensors."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from tests.parity.parts import layers, network, normal
from tests.parity.physics import (
    adjoint_of_steps,
    convolution_by_transforms,
    fixed_point,
    flow_in_time,
    lagrangian_mechanics,
    planar_flow,
    rotations,
    splats,
    two_qubits,
)


def kronecker_factors(torch):
    """Second moments of gradients, gathered by hooks, make a step of natural gradient."""
    rng = np.random.default_rng(11)
    W1 = torch.tensor(rng.standard_normal((5, 4)) * 0.4, requires_grad=True)
    W2 = torch.tensor(rng.standard_normal((3, 5)) * 0.4, requires_grad=True)
    X = torch.tensor(rng.standard_normal((10, 4)))
    t = torch.tensor(rng.integers(0, 3, 10))
    stats = {}

    def save(name):

        def hook(g):
            stats[name] = g.T @ g * g.shape[0]

        return hook

    s1 = X @ W1.t()
    s1.register_hook(save("G1"))
    a1 = torch.relu(s1)
    s2 = a1 @ W2.t()
    s2.register_hook(save("G2"))
    loss = torch.nn.functional.cross_entropy(s2, t)
    loss.backward()
    A1 = X.T @ X / 10
    A2 = a1.detach().T @ a1.detach() / 10
    out = []
    for W, A, G in ((W1, A1, stats["G1"]), (W2, A2, stats["G2"])):
        eye = torch.eye
        out.append(
            torch.linalg.inv(G + 0.1 * eye(len(G), dtype=G.dtype))
            @ W.grad
            @ torch.linalg.inv(A + 0.1 * eye(len(A), dtype=A.dtype))
        )
    return (out, loss)


def gauss_newton(torch):
    """Steps of Gauss and Newton by products with the Jacobian from both sides."""
    rng = np.random.default_rng(12)
    X = torch.tensor(rng.standard_normal((9, 2)))
    y = torch.tensor(rng.standard_normal(9))

    def model(p):
        return torch.tanh(X @ p[:2]) * p[2] + p[3]

    p = torch.tensor([0.1, 0.2, 1.0, 0.0], dtype=torch.float64)
    for _ in range(3):
        out, vjp = torch.func.vjp(model, p)
        (g,) = vjp(out - y)

        def gnv(v):
            _, jv = torch.func.jvp(model, (p,), (v,))
            return vjp(jv)[0] + 0.01 * v

        G = torch.stack([gnv(e) for e in torch.eye(4, dtype=torch.float64)])
        p = p - torch.linalg.solve(G, g)
    J = torch.func.jacrev(model)(p)
    return (p, G, J, torch.allclose(J, torch.func.jacfwd(model)(p)))


def implicit_weight(torch):
    """The derivative of a validation loss by a weight of the penalty, implicit and direct."""
    rng = np.random.default_rng(1)
    X, Xv = (torch.tensor(rng.standard_normal((12, 4))), torch.tensor(rng.standard_normal((6, 4))))
    y, yv = (torch.tensor(rng.standard_normal(12)), torch.tensor(rng.standard_normal(6)))
    lam = torch.zeros((), dtype=torch.float64, requires_grad=True)

    def inner(w, lam):
        return 0.5 * ((X @ w - y) ** 2).sum() + 0.5 * lam.exp() * w @ w

    with torch.no_grad():
        w = torch.linalg.solve(X.T @ X + lam.exp() * torch.eye(4, dtype=X.dtype), X.T @ y)
    w.requires_grad_()
    outer = ((Xv @ w - yv) ** 2).mean()
    (v,) = torch.autograd.grad(outer, w)
    H = torch.autograd.functional.hessian(lambda w: inner(w, lam), w)
    q = torch.linalg.solve(H, v)
    (gw,) = torch.autograd.grad(inner(w, lam), w, create_graph=True)
    (hyper,) = torch.autograd.grad(gw, lam, grad_outputs=-q)
    w2 = torch.linalg.solve(X.T @ X + lam.exp() * torch.eye(4, dtype=X.dtype), X.T @ y)
    (direct,) = torch.autograd.grad(((Xv @ w2 - yv) ** 2).mean(), lam)
    return (hyper, direct, H)


def bins_of_splines(torch):
    """Points looked up among learned knots."""
    F = torch.nn.functional
    rng = np.random.default_rng(12)
    uw = torch.tensor(rng.standard_normal((6, 5)), requires_grad=True)
    uh = torch.tensor(rng.standard_normal((6, 5)), requires_grad=True)
    x = torch.tensor(rng.uniform(-2.5, 2.5, 6), requires_grad=True)

    def knots(u):
        w = F.softmax(u, dim=-1) * 0.9 + 0.02
        c = F.pad(torch.cumsum(w, dim=-1), pad=(1, 0), mode="constant", value=0.0) * 6 - 3
        c[..., 0] = -3.0
        c[..., -1] = 3.0
        return (c, c[..., 1:] - c[..., :-1])

    cw, w = knots(uw)
    ch, h = knots(uh)
    idx = torch.searchsorted(cw.detach(), x.detach()[:, None]) - 1
    t = (x - cw.gather(-1, idx)[..., 0]) / w.gather(-1, idx)[..., 0]
    y = ch.gather(-1, idx)[..., 0] + t * h.gather(-1, idx)[..., 0]
    ld = (h / w).gather(-1, idx).squeeze(-1).log()
    loss = (0.5 * y**2 - ld).sum()
    loss.backward()
    return (y, loss, x.grad, uw.grad, uh.grad)


def alignments(torch):
    """All alignments of a label to a sequence, by hand."""
    rng = np.random.default_rng(3)
    lp = normal(torch, rng, 6, 4, grad=True)
    logp = lp.log_softmax(-1)
    lab = [0, 1, 0, 2, 0]
    neg = torch.tensor(-1e30)
    a = torch.stack([logp[0, 0], logp[0, 1]] + [neg] * 3)
    for t in range(1, 6):
        s1 = torch.cat([neg.view(1), a[:-1]])
        s2 = torch.cat([neg.expand(2), a[:-2]])
        allow = torch.tensor([False, False, False, True, False])
        a = torch.logsumexp(torch.stack([a, s1, torch.where(allow, s2, neg)]), 0) + logp[t, lab]
    loss = -torch.logaddexp(a[-1], a[-2])
    loss.backward()
    ref = torch.nn.functional.ctc_loss(
        logp.detach().unsqueeze(1), torch.tensor([[1, 2]]), torch.tensor([6]), torch.tensor([2]), reduction="sum"
    )
    return (loss, lp.grad, ref)


def experts(torch):
    """Rows sent to the best two experts and added up again."""
    rng = np.random.default_rng(7)
    x = normal(torch, rng, 6, 4)
    Wg = normal(torch, rng, 4, 3, grad=True)
    We = normal(torch, rng, 3, 4, 4, grad=True)
    w = torch.softmax(x @ Wg, dim=1, dtype=torch.float)
    w, sel = torch.topk(w, 2, dim=-1)
    w /= w.sum(dim=-1, keepdim=True)
    final = torch.zeros(6, 4)
    mask = torch.nn.functional.one_hot(sel, num_classes=3).permute(2, 1, 0)
    for e in range(3):
        idx, top_x = torch.where(mask[e])
        cur = x[None, top_x].reshape(-1, 4)
        h = torch.relu(cur @ We[e]) * w[top_x, idx, None]
        final.index_add_(0, top_x, h.to(x.dtype))
    loss = final.pow(2).sum()
    loss.backward()
    return (final, Wg.grad, We.grad)


def attention_along_edges(torch):
    """A softmax over the edges that arrive at each node."""
    F = torch.nn.functional
    rng = np.random.default_rng(12)
    src = torch.tensor([0, 1, 2, 0, 3, 2])
    dst = torch.tensor([1, 1, 0, 2, 2, 3])
    x = normal(torch, rng, 4, 3, grad=True)
    W = normal(torch, rng, 3, 4, grad=True)
    a = normal(torch, rng, 8, grad=True)
    h = x.matmul(W)
    e = F.leaky_relu(torch.cat([h[src], h[dst]], dim=-1) @ a, 0.2)
    m = torch.full((4,), -1e38).scatter_reduce(0, dst, e, reduce="amax")
    w = torch.exp(e - m[dst].detach())
    den = torch.zeros(4).scatter_add(0, dst, w)
    alpha = w / (den[dst] + 1e-16)
    out = torch.zeros(4, 4).index_add_(0, dst, alpha[:, None] * h[src])
    loss = out.norm()
    loss.backward()
    return (alpha, out, x.grad, W.grad, a.grad)


def segments(torch):
    """Sums, means, extremes and deviations of groups of rows."""
    rng = np.random.default_rng(13)
    x = normal(torch, rng, 7, 3, grad=True)
    batch = torch.tensor([0, 0, 1, 1, 1, 2, 2])
    cnt = torch.bincount(batch, minlength=3)
    s = torch.zeros(3, 3).scatter_add(0, batch.view(-1, 1).expand(-1, 3), x)
    mean = s / cnt.clamp(min=1).unsqueeze(1)
    mx = torch.stack([x[batch == b].max(0)[0] for b in range(3)])
    mn = x.new_full((3, 3), float("inf")).scatter_reduce(0, batch[:, None].expand_as(x), x, "amin", include_self=False)
    sp = torch.split(x, cnt.tolist())
    sd = torch.stack([p.std(0, unbiased=False) for p in sp])
    loss = (mean * mx).sum() - mn.prod(1).sum() + sd.sum()
    loss.backward()
    return (mean, mx, mn, sd, x.grad)


def weights_on_a_simplex(torch):
    """Gradient steps and a projection by sorting."""
    rng = np.random.default_rng(0)

    def proj(v):
        u, _ = torch.sort(v, descending=True)
        css = torch.cumsum(u, 0) - 1
        ind = torch.arange(1, len(v) + 1)
        rho = torch.nonzero(u - css / ind > 0)[-1, 0]
        return torch.clamp(v - css[rho] / (rho + 1.0), min=0)

    A = normal(torch, rng, 6, 4, dtype="float64")
    b = normal(torch, rng, 6, dtype="float64")
    w = torch.full((4,), 0.25, dtype=torch.float64, requires_grad=True)
    for _ in range(20):
        loss = torch.linalg.vector_norm(A @ w - b) ** 2
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w.copy_(proj(w - 0.02 * w.grad))
    return (w, loss, w.sum().item(), w.is_leaf)


def checkpoints_by_hand(torch):
    """A function that runs another one again in its backward."""

    class Checkpoint(torch.autograd.Function):
        @staticmethod
        def forward(ctx, run, n, *args):
            ctx.run, ctx.ins, ctx.params = (run, list(args[:n]), list(args[n:]))
            with torch.no_grad():
                return ctx.run(*ctx.ins)

        @staticmethod
        def backward(ctx, *gs):
            ctx.ins = [x.detach().requires_grad_(True) for x in ctx.ins]
            with torch.enable_grad():
                outs = ctx.run(*[x.view_as(x) for x in ctx.ins])
            grads = torch.autograd.grad(outs, ctx.ins + ctx.params, gs, allow_unused=True)
            return (None, None) + grads

    rng = np.random.default_rng(5)
    W = normal(torch, rng, 4, 4, grad=True)
    x = normal(torch, rng, 2, 4, grad=True)
    y = Checkpoint.apply(lambda z: torch.tanh(z @ W), 1, x, W)
    y = Checkpoint.apply(lambda z: torch.tanh(z @ W), 1, y, W)
    y.sum().backward()
    return (y, W.grad, x.grad)


class Weights(NamedTuple):
    """Parameters of a line."""

    w: Any
    b: Any


def containers(torch):
    """Transforms of functions of named tuples and dicts."""
    p = Weights(torch.ones(2), torch.tensor(0.5))

    def f(p, x):
        return ((p.w * x).sum() + p.b) ** 2

    g = torch.func.grad(f)(p, torch.tensor([1.0, 2.0]))
    od = OrderedDict(w=torch.ones(2), b=torch.tensor(0.5))
    h = torch.func.grad(lambda q: (q["w"].sum() * q["b"]) ** 2)(od)
    J = torch.func.jacrev(lambda q: {"y": q["w"] * q["b"], "z": q["b"]})(dict(od))
    return (type(g).__name__, g, type(h).__name__, h["w"], h["b"], J["y"]["w"], J["z"]["b"])


def clipped_per_example(torch):
    """The gradient of every example, cut to length one."""
    rng = np.random.default_rng(12)
    params = tuple(p.detach() for p in layers(torch, [4, 5, 3], rng))
    X = normal(torch, rng, 6, 4)
    t = torch.from_numpy(rng.integers(0, 3, 6))

    def loss(params, x, t):
        return torch.nn.functional.cross_entropy(network(torch, params, x.unsqueeze(0)), t.unsqueeze(0))

    g, losses = torch.func.vmap(torch.func.grad_and_value(loss), in_dims=(None, 0, 0))(params, X, t)
    norms = torch.stack([x.flatten(1).norm(dim=1) for x in g]).norm(dim=0)
    fac = (1.0 / (norms + 1e-06)).clamp(max=1.0)
    return ([torch.einsum("i,i...->...", fac, x) for x in g], norms, losses)


def steps_inside_backward(torch):
    """Parameters that take their step while backward still runs."""
    rng = np.random.default_rng(17)
    ps = layers(torch, [2, 3, 1], rng)

    def step(p):
        with torch.no_grad():
            p.add_(p.grad, alpha=-0.1)
        p.grad = None

    for p in ps:
        p.register_post_accumulate_grad_hook(step)
    X = normal(torch, rng, 4, 2)
    for _ in range(3):
        loss = network(torch, ps, X).square().mean()
        loss.backward()
    return (loss, ps, [p.grad is None for p in ps])


def codebook(torch):
    """The nearest code, with the gradient passed straight through."""
    rng = np.random.default_rng(3)
    z = normal(torch, rng, 6, 3, grad=True)
    e = normal(torch, rng, 4, 3, grad=True)
    d = z.pow(2).sum(1, keepdim=True) + e.pow(2).sum(1) - 2 * torch.matmul(z, e.t())
    idx = torch.argmin(d, dim=1).unsqueeze(1)
    enc = torch.zeros(idx.shape[0], 4)
    enc.scatter_(1, idx, 1)
    q = torch.matmul(enc, e)
    F = torch.nn.functional
    loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(q.detach(), z)
    q = z + (q - z).detach()
    p = enc.mean(0)
    perp = torch.exp(-torch.sum(p * torch.log(p + 1e-10)))
    (loss + q.sin().sum()).backward()
    return (q, loss, perp, z.grad, e.grad, idx)


PROGRAMS = (
    kronecker_factors,
    gauss_newton,
    fixed_point,
    implicit_weight,
    adjoint_of_steps,
    flow_in_time,
    planar_flow,
    bins_of_splines,
    alignments,
    experts,
    attention_along_edges,
    segments,
    splats,
    lagrangian_mechanics,
    weights_on_a_simplex,
    rotations,
    two_qubits,
    convolution_by_transforms,
    checkpoints_by_hand,
    containers,
    clipped_per_example,
    steps_inside_backward,
    codebook,
)

"""Programs as the literature of many fields has them: each takes the module it runs with and returns tensors."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np


def normal(torch, rng, *shape, dtype="float32", grad=False, scale=1.0):
    """Normal numbers from NumPy, the same for both modules."""
    return torch.tensor(rng.standard_normal(shape) * scale, dtype=getattr(torch, dtype), requires_grad=grad)


def layers(torch, sizes, rng, dtype="float32"):
    """Weights and biases of a network."""
    made = []
    for before, after in zip(sizes[:-1], sizes[1:]):
        made.append(normal(torch, rng, after, before, dtype=dtype, grad=True, scale=before**-0.5))
        made.append(torch.zeros(after, dtype=getattr(torch, dtype), requires_grad=True))
    return made


def network(torch, weights, x, activation=None):
    """The network of :func:`layers`."""
    for k in range(0, len(weights), 2):
        x = torch.nn.functional.linear(x, weights[k], weights[k + 1])
        if k + 2 < len(weights):
            x = (activation or torch.tanh)(x)
    return x


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


def fixed_point(torch):
    """The gradient through a fixed point, by iteration in a hook."""
    rng = np.random.default_rng(0)
    W = torch.tensor(rng.standard_normal((5, 5)) * 0.15, requires_grad=True)
    U = torch.tensor(rng.standard_normal((5, 3)), requires_grad=True)
    x = torch.tensor(rng.standard_normal((4, 3)))

    def f(z):
        return torch.tanh(z @ W.T + x @ U.T)

    with torch.no_grad():
        z = torch.zeros(4, 5, dtype=W.dtype)
        for k in range(60):
            z_new = f(z)
            if (z_new - z).norm() < 1e-12:
                break
            z = z_new
    z = f(z)
    z0 = z.clone().detach().requires_grad_()
    f0 = f(z0)

    def backward_hook(grad):
        g = grad
        for _ in range(60):
            g = torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + grad
        return g

    z.register_hook(backward_hook)
    loss = z.pow(2).sum()
    loss.backward()
    return (W.grad, U.grad, loss)


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


def adjoint_of_steps(torch):
    """Steps of a differential equation whose backward runs them again, one by one."""
    rng = np.random.default_rng(2)
    W = torch.tensor(rng.standard_normal((3, 3)) * 0.5, requires_grad=True)

    def f(t, y, W):
        return torch.tanh(y @ W) * torch.cos(t)

    class ODE(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y0, W, ts):
            with torch.no_grad():
                ys = [y0]
                for t0, t1 in zip(ts[:-1], ts[1:]):
                    h = t1 - t0
                    ys.append(ys[-1] + h * f(t0, ys[-1], W))
                out = torch.stack(ys)
            ctx.save_for_backward(out, W, ts)
            return out

        @staticmethod
        def backward(ctx, g):
            ys, W, ts = ctx.saved_tensors
            a = g[-1]
            gW = torch.zeros_like(W)
            for i in range(len(ts) - 2, -1, -1):
                with torch.enable_grad():
                    y = ys[i].detach().requires_grad_(True)
                    w = W.detach().requires_grad_(True)
                    o = y + (ts[i + 1] - ts[i]) * f(ts[i], y, w)
                gy, gw = torch.autograd.grad(o, (y, w), a)
                gW += gw
                a = gy + g[i]
            return (a, gW, None)

    y0 = torch.tensor(rng.standard_normal((2, 3)), requires_grad=True)
    ts = torch.linspace(0, 1, 6, dtype=torch.float64)
    out = ODE.apply(y0, W, ts)
    loss = (out[-1] ** 2).sum() + out[2].mean()
    loss.backward()
    g1 = (y0.grad.clone(), W.grad.clone())
    y0.grad = None
    W.grad.zero_()
    ys = [y0]
    for t0, t1 in zip(ts[:-1], ts[1:]):
        ys.append(ys[-1] + (t1 - t0) * f(t0, ys[-1], W))
    ((ys[-1] ** 2).sum() + ys[2].mean()).backward()
    return (g1, y0.grad, W.grad, torch.allclose(g1[1], W.grad))


def flow_in_time(torch):
    """A flow in time whose density changes by the trace of a network's Jacobian."""
    rng = np.random.default_rng(3)
    ps = layers(torch, [3, 6, 2], rng)
    z = torch.tensor(rng.standard_normal((5, 2)), dtype=torch.float32)
    logp = torch.zeros(5, 1)
    for i in range(4):
        t = torch.full((5, 1), i / 4)
        with torch.set_grad_enabled(True):
            z.requires_grad_(True) if z.is_leaf else None
            dz = network(torch, ps, torch.cat((z, t), 1))
            tr = 0.0
            for d in range(2):
                tr = tr + torch.autograd.grad(dz[:, d].sum(), z, create_graph=True)[0].contiguous()[:, d].contiguous()
        z = z + 0.25 * dz
        logp = logp - 0.25 * tr.view(5, 1)
    base = -0.5 * (z**2).sum(1, keepdim=True) - math.log(2 * math.pi)
    loss = -(base - logp).mean()
    g = torch.autograd.grad(loss, ps)
    return (loss, g)


def planar_flow(torch):
    """The log-determinant of a layer in closed form and by the Jacobian."""
    rng = np.random.default_rng(9)
    u, w, b = (
        torch.tensor(rng.standard_normal(s), dtype=torch.float32, requires_grad=True) for s in ((1, 2), (1, 2), (1,))
    )
    z = torch.tensor(rng.standard_normal((7, 2)), dtype=torch.float32)
    wtu = torch.mm(w, u.t())
    u_hat = u + (torch.log(1 + torch.exp(wtu)) - 1 - wtu) * w / torch.sum(w**2)
    a = torch.tanh(torch.nn.functional.linear(z, w, b))
    f = z + u_hat * a
    psi = (1 - a**2) * w
    logdet = torch.log(torch.abs(1 + torch.mm(psi, u_hat.t())) + 1e-07)
    J = torch.stack(
        [
            torch.autograd.functional.jacobian(lambda q: (q + u_hat * torch.tanh(q @ w.t() + b)).squeeze(0), zi)
            for zi in z
        ]
    )
    ld2 = torch.linalg.slogdet(J)[1]
    loss = -(logdet - 0.5 * f.pow(2).sum(1, True)).mean()
    loss.backward()
    return (loss, logdet, ld2, u.grad, w.grad, b.grad)


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


def splats(torch):
    """Turned Gaussians, one over the other."""
    rng = np.random.default_rng(17)
    mu = torch.tensor(rng.uniform(1, 5, (4, 2)), requires_grad=True)
    logs = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    th = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    col = torch.tensor(rng.random((4, 3)), requires_grad=True)
    op = torch.zeros(4, 1, dtype=torch.float64, requires_grad=True)
    c, s = (torch.cos(th), torch.sin(th))
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    S = torch.diag_embed(logs.exp())
    cov = R @ S @ S.transpose(1, 2) @ R.transpose(1, 2)
    yy, xx = torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij")
    grid = torch.stack((xx, yy), -1).reshape(-1, 2).double()
    d = grid[:, None] - mu[None]
    power = -0.5 * torch.einsum("pgi,gij,pgj->pg", d, torch.inverse(cov), d)
    a = torch.clamp(torch.sigmoid(op).T * power.exp(), max=0.99)
    T = torch.cumprod(1 - a, dim=1)
    T = torch.roll(T, 1, dims=1)
    T[:, 0] = 1.0
    img = ((a * T).unsqueeze(-1) * col).sum(1).view(6, 6, 3)
    loss = (img - 0.3).abs().mean()
    loss.backward()
    return (loss, img, mu.grad, logs.grad, th.grad, col.grad, op.grad)


def lagrangian_mechanics(torch):
    """Accelerations from derivatives of a network by positions and velocities."""
    rng = np.random.default_rng(22)
    ps = [p.detach().double() for p in layers(torch, [4, 8, 1], rng)]

    def L(q, qd):
        return network(torch, ps, torch.cat([q, qd]), torch.nn.functional.softplus).squeeze(-1) + 2 * qd.pow(2).sum()

    def acc(q, qd):
        g = torch.func.grad(L, argnums=0)(q, qd)
        H = torch.func.hessian(L, argnums=1)(q, qd)
        C = torch.func.jacrev(torch.func.grad(L, argnums=1), argnums=0)(q, qd)
        return torch.linalg.pinv(H) @ (g - C @ qd)

    q, qd = (normal(torch, rng, 5, 2, dtype="float64"), normal(torch, rng, 5, 2, dtype="float64"))
    return (torch.func.vmap(acc)(q, qd), acc(q[0], qd[0]))


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


def rotations(torch):
    """The exponential of skew matrices, in closed form and not, with its limit at 0."""

    def hat(w):
        z = torch.zeros_like(w[..., 0])
        return torch.stack(
            [
                torch.stack([z, -w[..., 2], w[..., 1]], -1),
                torch.stack([w[..., 2], z, -w[..., 0]], -1),
                torch.stack([-w[..., 1], w[..., 0], z], -1),
            ],
            -2,
        )

    w = torch.tensor([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [1.0, -1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    R = torch.linalg.matrix_exp(hat(w))
    th2 = (w * w).sum(-1)[..., None, None]
    small = th2 < 1e-08
    th = torch.sqrt(torch.where(small, torch.ones_like(th2), th2))
    A = torch.where(small, 1 - th2 / 6, th.sin() / th)
    B = torch.where(small, 0.5 - th2 / 24, (1 - th.cos()) / th**2)
    K = hat(w)
    R2 = torch.eye(3, dtype=w.dtype) + A * K + B * (K @ K)
    (g1,) = torch.autograd.grad(R[..., 0, 1].sum(), w, retain_graph=True)
    (g2,) = torch.autograd.grad(R2[..., 0, 1].sum(), w)
    return (R, R2, g1, g2, torch.allclose(R, R2))


def two_qubits(torch):
    """The energy of a circuit of two qubits, lowered by gradient steps."""
    X = torch.tensor([[0, 1], [1, 0]], dtype=torch.complex64)
    Z = torch.tensor([[1, 0], [0, -1]], dtype=torch.complex64)
    one = torch.eye(2, dtype=torch.cfloat)
    H = torch.kron(Z, Z) + 0.5 * (torch.kron(X, one) + torch.kron(one, X))
    CNOT = torch.eye(4, dtype=torch.cfloat)[[0, 1, 3, 2]]

    def RY(t):
        c, s = (torch.cos(t / 2), torch.sin(t / 2))
        return torch.stack([torch.stack([c, -s]), torch.stack([s, c])]).to(torch.complex64)

    def RZ(t):
        return torch.diag(torch.stack([torch.exp(-0.5j * t), torch.exp(0.5j * t)]))

    th = torch.tensor([0.1, 0.2, 0.3, 0.4], requires_grad=True)
    hist = []
    for _ in range(5):
        psi = torch.zeros(4, dtype=torch.cfloat)
        psi[0] = 1
        psi = torch.kron(RY(th[0]), RY(th[1])) @ psi
        psi = CNOT @ psi
        psi = torch.kron(RZ(th[2]) @ RY(th[3]), one) @ psi
        E = (psi.conj() @ H @ psi).real
        (g,) = torch.autograd.grad(E, th)
        th = (th - 0.4 * g).detach().requires_grad_()
        hist.append(E.item())
    return (hist, psi, torch.linalg.eigvalsh(H), (psi.abs() ** 2).sum())


def convolution_by_transforms(torch):
    """A convolution by Fourier transforms, and the spectrum of a product."""
    rng = np.random.default_rng(15)
    x = normal(torch, rng, 2, 16, grad=True)
    k = normal(torch, rng, 5, grad=True)
    n = 20
    y = torch.fft.irfft(torch.fft.rfft(x, n=n) * torch.fft.rfft(k, n=n), n=n)
    ref = torch.nn.functional.conv1d(torch.nn.functional.pad(x.unsqueeze(1), (4, 4)), k.flip(0).view(1, 1, -1)).squeeze(
        1
    )
    spec = torch.fft.fftshift(torch.fft.fft2(torch.outer(x[0], k)).abs())
    loss = y.pow(2).sum() + spec.log1p().mean()
    loss.backward()
    return (y, torch.allclose(y, ref, atol=1e-05), loss, x.grad, k.grad)


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

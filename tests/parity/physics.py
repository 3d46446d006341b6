"""Programs of physics and numerical analysis: steps in time, flows, fixed points, mechanics, qubits, pictures."""

from __future__ import annotations

import math

import numpy as np

from tests.parity.parts import layers, network, normal


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

"""Programs that print what they find: equations, forces, curvature, solvers."""

from __future__ import annotations

import math


def pinn_burgers(torch):
    """The residual of Burgers' equation as the loss of a network, and its gradient as one vector."""
    torch.manual_seed(0)
    Ws = [torch.randn(i, o) / math.sqrt(i) for i, o in ((2, 8), (8, 8), (8, 1))]
    bs = [torch.zeros(w.shape[1]) for w in Ws]
    for p in Ws + bs:
        p.requires_grad_(True)

    def net(x, t):
        h = torch.cat([x, t], dim=1)
        for W, b in zip(Ws[:-1], bs[:-1]):
            h = torch.tanh(h @ W + b)
        return h @ Ws[-1] + bs[-1]

    x = torch.linspace(-1, 1, 9).view(-1, 1).requires_grad_(True)
    t = torch.rand(9, 1, requires_grad=True)
    u = net(x, t)
    u_t = torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    f = u_t + u * u_x - 0.01 / math.pi * u_xx
    loss = (f**2).mean() + (net(-torch.ones(3, 1), torch.rand(3, 1)) ** 2).mean()
    loss.backward()
    print(loss)
    print([p.grad.norm().item().__round__(4) for p in Ws + bs])
    print(u_xx.shape, f.grad_fn)
    flat = torch.cat([p.grad.view(-1) for p in Ws + bs])
    print(flat.shape, flat[:3])


def divergence_curl(torch):
    """Divergence, curl and Laplacian of a field from its Jacobian."""
    x = torch.randn(4, 3, requires_grad=True)
    torch.manual_seed(1)
    A = torch.randn(3, 3)
    f = torch.sin(x @ A) * x
    J = torch.stack(
        [torch.autograd.grad(f[:, i].sum(), x, retain_graph=True, create_graph=True)[0] for i in range(3)], dim=1
    )
    div = J.diagonal(dim1=-2, dim2=-1).sum(-1)
    curl = torch.stack([J[:, 2, 1] - J[:, 1, 2], J[:, 0, 2] - J[:, 2, 0], J[:, 1, 0] - J[:, 0, 1]], -1)
    print(J.shape, div.shape, curl.shape, div.grad_fn, curl.requires_grad)
    lap = sum(torch.autograd.grad(J[:, i, i].sum(), x, retain_graph=True)[0][:, i] for i in range(3))
    print(lap.shape)


def lanczos(torch):
    """Lanczos' iteration on products with a Hessian, beside the Hessian."""
    torch.manual_seed(0)
    th = torch.randn(5, dtype=torch.float64, requires_grad=True)
    A = torch.randn(5, 5, dtype=torch.float64)
    loss = torch.cos(A @ th).sum() + (th**4).sum()
    g = torch.autograd.grad(loss, th, create_graph=True)[0]

    def hv(v):
        return torch.autograd.grad(g, th, grad_outputs=v, retain_graph=True)[0]

    q = torch.ones(5, dtype=torch.float64) / math.sqrt(5)
    Q = [q]
    al = []
    be = []
    for k in range(4):
        w = hv(Q[-1])
        a = w.dot(Q[-1])
        al.append(a)
        w = w - a * Q[-1] - (be[-1] * Q[-2] if be else 0)
        for qq in Q:
            w -= qq * torch.dot(qq, w)
        b = w.norm()
        be.append(b)
        Q.append(w / b)
    T = torch.diag(torch.stack(al)) + torch.diag(torch.stack(be[:-1]), 1) + torch.diag(torch.stack(be[:-1]), -1)
    print(torch.linalg.eigvalsh(T))
    H = torch.autograd.functional.hessian(lambda t: torch.cos(A @ t).sum() + (t**4).sum(), th)
    print(torch.linalg.eigvalsh(H))
    vs = torch.eye(5, dtype=torch.float64)
    print(torch.allclose(torch.stack([hv(v) for v in vs]), H))
    print(torch.autograd.grad(g, th, vs, is_grads_batched=True)[0].allclose(H))


def hutchinson(torch):
    """Hutchinson's estimate of a trace."""
    torch.manual_seed(0)
    x = torch.randn(6, requires_grad=True)
    f = (x.sin() * x).sum()
    (g,) = torch.autograd.grad(f, x, create_graph=True)
    tr = 0
    for _ in range(20):
        v = torch.randint(0, 2, (6,)).float() * 2 - 1
        tr += (v * torch.autograd.grad(g, x, v, retain_graph=True)[0]).sum() / 20
    v = torch.randint_like(x, high=2)
    v[v == 0] = -1
    print(tr, v)


def persample(torch):
    """Gradients, Jacobians and Hessians of single examples."""
    torch.manual_seed(0)
    W = torch.randn(3, 2)
    b = torch.zeros(2)
    X = torch.randn(5, 3)
    Y = torch.randint(0, 2, (5,))

    def loss(params, x, y):
        W, b = params
        return torch.nn.functional.cross_entropy((x @ W + b).unsqueeze(0), y.unsqueeze(0))

    gs = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))((W, b), X, Y)
    print([g.shape for g in gs], gs[0][0])
    g2, l2 = torch.func.vmap(torch.func.grad_and_value(loss), in_dims=(None, 0, 0))((W, b), X, Y)
    print(l2)
    print(
        torch.func.vmap(torch.func.jacrev(lambda x: torch.tanh(x @ W)))(X).shape,
        torch.func.vmap(torch.func.hessian(lambda x: (x @ W).exp().sum()))(X)[0],
    )
    v, f = torch.func.vjp(lambda x: (x @ W).sin(), X)
    print(f(torch.ones_like(v))[0][0])
    print(
        torch.func.vmap(torch.dot)(X, X),
        torch.func.vmap(lambda x, y: x * y, in_dims=(0, None), out_dims=1)(X, torch.ones(3)).shape,
        torch.func.vmap(torch.func.vmap(torch.mul))(X, X).shape,
    )
    jac = torch.func.jacfwd(lambda x: x.cumsum(0) * 2)(torch.arange(3.0))
    print(jac)


def lbfgs_hand(torch):
    """L-BFGS by two loops."""

    def f(x):
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    S, Yv = ([], [])
    pg = px = None
    for k in range(15):
        value = f(x)
        (g,) = torch.autograd.grad(value, x)
        if pg is not None:
            s, y = (x.detach() - px, g - pg)
            if s.dot(y) > 1e-10:
                S.append(s)
                Yv.append(y)
        q = g.clone()
        al = []
        for s, y in zip(reversed(S), reversed(Yv)):
            a = s.dot(q) / y.dot(s)
            al.append(a)
            q.add_(y, alpha=-a.item())
        if S:
            q = q * (S[-1].dot(Yv[-1]) / Yv[-1].dot(Yv[-1]))
        for (s, y), a in zip(zip(S, Yv), reversed(al)):
            q += s * (a - y.dot(q) / y.dot(s))
        st = 1.0
        while f(x.detach() - st * q) > value - 0.0001 * st * g.dot(q) and st > 1e-08:
            st *= 0.5
        px, pg = (x.detach().clone(), g)
        x = (x - st * q).detach().requires_grad_()
    print(x, f(x).item())


def pendulum_neuralode(torch):
    """The gradient through steps of Runge and Kutta."""
    torch.manual_seed(10)
    W = (torch.randn(2, 2) * 0.3).requires_grad_()
    y0 = torch.tensor([1.0, 0.0])
    ys = [y0]
    t = torch.linspace(0, 1, 6)
    for a, b in zip(t[:-1], t[1:]):
        h = b - a

        def f(y):
            return torch.tanh(y @ W)

        k1 = f(ys[-1])
        k2 = f(ys[-1] + h * k1 / 2)
        k3 = f(ys[-1] + h * k2 / 2)
        k4 = f(ys[-1] + h * k3)
        ys.append(ys[-1] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    tr = torch.stack(ys)
    (tr[-1] ** 2).sum().backward()
    print(tr, W.grad)


def deq_hook(torch):
    """A fixed point whose gradient is found in a hook."""
    torch.manual_seed(11)
    W = (torch.randn(3, 3) * 0.2).requires_grad_()
    x = torch.randn(2, 3)
    with torch.no_grad():
        z = torch.zeros(2, 3)
        for _ in range(50):
            z = torch.tanh(z @ W + x)
    z = torch.tanh(z @ W + x)
    z0 = z.clone().detach().requires_grad_()
    f0 = torch.tanh(z0 @ W + x)

    def bh(g):
        u = g
        for _ in range(50):
            u = torch.autograd.grad(f0, z0, u, retain_graph=True)[0] + g
        return u

    z.register_hook(bh)
    z.sum().backward()
    print(W.grad)


def qp_layer(torch):
    """The solution of a quadratic program by its linear equations."""
    torch.manual_seed(1)
    Q = torch.eye(2, dtype=torch.float64) * 2
    p = torch.tensor([1.0, -1.0], dtype=torch.float64, requires_grad=True)
    Aq = torch.ones(1, 2, dtype=torch.float64)
    bq = torch.ones(1, dtype=torch.float64)
    Kt = torch.cat([torch.cat([Q, Aq.T], 1), torch.cat([Aq, torch.zeros(1, 1, dtype=torch.float64)], 1)], 0)
    sol = torch.linalg.solve(Kt, torch.cat([-p, bq]))
    print(sol, torch.autograd.grad(sol[0], p)[0])
    print(torch.block_diag(Q, Aq), torch.vstack((Q, Aq)), torch.linalg.matrix_rank(Kt), torch.linalg.cond(Q))


def diffphysics(torch):
    """Springs and masses, stepped, and the gradient by the stiffness."""
    pos = torch.tensor([[0.0, 0.0], [1.0, 0.0], [2.0, 0.5]])
    vel = torch.zeros(3, 2)
    kk = torch.tensor(3.0, requires_grad=True)
    rest = torch.ones(2)
    idx = torch.tensor([[0, 1], [1, 2]])
    for s in range(10):
        d = pos[idx[:, 1]] - pos[idx[:, 0]]
        L = d.norm(dim=1, keepdim=True)
        fs = kk * (L - rest[:, None]) * d / L
        f = torch.zeros_like(pos).index_add(0, idx[:, 0], fs).index_add_(0, idx[:, 1], -fs)
        f = f + torch.tensor([0.0, -1.0])
        vel = vel * 0.99 + 0.05 * f
        vel = torch.where(torch.arange(3)[:, None] == 0, torch.zeros(()), vel)
        pos = pos + 0.05 * vel
    loss = (pos[2] - torch.tensor([2.0, 0.0])).square().sum()
    loss.backward()
    print(pos, kk.grad, loss)


def lj_forces(torch):
    """Forces of pairs, a loss on forces, the stress by the cell."""
    torch.manual_seed(2)
    r = torch.rand(4, 3, dtype=torch.float64).mul_(3).requires_grad_()
    i, j = torch.triu_indices(4, 4, offset=1)
    rij = r[i] - r[j]
    d = rij.pow(2).sum(1).sqrt()
    E = (4 * (d ** (-12) - d ** (-6))).sum()
    Fo = -torch.autograd.grad(E, r, create_graph=True)[0]
    print(E, Fo.sum(0).abs().max() < 1e-08)
    lf = (Fo**2).mean()
    lf.backward()
    print(r.grad.shape, torch.combinations(torch.arange(4), 2).shape)
    cell = torch.eye(3, dtype=torch.float64, requires_grad=True)
    st = torch.autograd.grad((r.detach() @ cell).norm(dim=1).sum(), cell)[0]
    print(st)


def hamiltonian_nn(torch):
    """Motion from the gradient of a learned energy."""
    torch.manual_seed(3)
    W = torch.randn(2, 8, requires_grad=True)
    V = torch.randn(8, 1, requires_grad=True)
    x = torch.randn(5, 2, requires_grad=True)
    H = torch.tanh(x @ W) @ V
    dH = torch.autograd.grad(H.sum(), x, create_graph=True)[0]
    Jm = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    xd = dH @ Jm.t()
    value = (xd - torch.ones(5, 2)).pow(2).mean()
    value.backward()
    print(value, W.grad.norm(), xd.split(1, dim=1)[0].squeeze())


def neural_tangent(torch):
    """The tangent kernel, by Jacobians and by products."""
    torch.manual_seed(7)
    W1 = torch.randn(2, 4)
    W2 = torch.randn(4, 1)
    X = torch.randn(3, 2)

    def fn(ps, x):
        return (torch.relu(x @ ps[0]) @ ps[1]).squeeze(-1)

    j = torch.func.vmap(torch.func.jacrev(fn), (None, 0))((W1, W2), X)
    j = [q.flatten(1) for q in j]
    print(sum(torch.einsum("Nf,Mf->NM", q, q) for q in j))

    def ntk(x1, x2):

        def k(v):
            _, vf = torch.func.vjp(lambda p: fn(p, x1), (W1, W2))
            return torch.func.jvp(lambda p: fn(p, x2), ((W1, W2),), vf(v))[1]

        return k(torch.ones(()))

    print(torch.func.vmap(torch.func.vmap(ntk, (None, 0)), (0, None))(X, X))


def ggn(torch):
    """A product with the generalised Gauss-Newton matrix."""
    torch.manual_seed(8)

    def net(w):
        return torch.tanh(X @ w)

    X = torch.randn(4, 2)
    w = torch.randn(2, 3)
    z, jf = torch.func.linearize(net, w)
    v = torch.ones_like(w)
    Jv = jf(v)
    Hl = torch.func.hessian(lambda z: torch.nn.functional.cross_entropy(z, torch.tensor([0, 1, 2, 0])))(z)
    HJv = torch.einsum("ijkl,kl->ij", Hl, Jv)
    _, vf = torch.func.vjp(net, w)
    print(vf(HJv)[0])


def linear_solver(torch):
    """A custom solver with a second output that has no derivative."""

    class Lin(torch.autograd.Function):
        @staticmethod
        def forward(ctx, A, b):
            x = torch.linalg.solve(A, b)
            ctx.save_for_backward(A, x)
            ctx.mark_non_differentiable(it := torch.tensor(3))
            return (x, it)

        @staticmethod
        def backward(ctx, g, _):
            A, x = ctx.saved_tensors
            gb = torch.linalg.solve(A.mT, g)
            return (-torch.outer(gb, x) if ctx.needs_input_grad[0] else None, gb)

    A = (torch.eye(3, dtype=torch.float64) + 0.1).requires_grad_()
    b = torch.ones(3, dtype=torch.float64)
    x, n = Lin.apply(A, b)
    print(x, n, n.requires_grad)
    x.sum().backward()
    print(A.grad)
    print(torch.autograd.gradcheck(lambda A, b: Lin.apply(A, b)[0], (A, b.requires_grad_())))


def raymarch(torch):
    """Rays that march to a ball, and light along rays."""
    torch.manual_seed(6)
    ce = torch.tensor([0.0, 0.0, 3.0], requires_grad=True)
    ra = torch.tensor(1.0, requires_grad=True)
    o = torch.zeros(6, 3)
    d = torch.nn.functional.normalize(torch.cat([torch.rand(6, 2) * 0.4 - 0.2, torch.ones(6, 1)], -1), dim=-1)
    t = torch.zeros(6, 1)
    for _ in range(20):
        t = t + ((o + t * d - ce).norm(dim=-1, keepdim=True) - ra)
    n = torch.nn.functional.normalize(o + t * d - ce, dim=-1)
    sh = (n @ torch.tensor([0.0, 0.0, -1.0])).clamp(min=0)
    sh.mean().backward()
    print(t.squeeze(), sh, ce.grad, ra.grad)
    sig = torch.rand(3, 8, requires_grad=True)
    al = 1 - torch.exp(-torch.nn.functional.relu(sig) * 0.1)
    wgt = al * torch.cumprod(torch.cat([torch.ones(3, 1), 1.0 - al + 1e-10], -1), -1)[:, :-1]
    wgt.sum().backward()
    print(wgt.sum(-1), sig.grad[0])


def siren(torch):
    """The Laplacian of a network of sines."""
    torch.manual_seed(7)
    c = (
        torch.stack(torch.meshgrid(torch.linspace(-1, 1, 4), torch.linspace(-1, 1, 4), indexing="ij"), -1)
        .reshape(-1, 2)
        .requires_grad_()
    )
    W = torch.empty(2, 8).uniform_(-0.5, 0.5).requires_grad_()
    V = torch.empty(8, 1).uniform_(-math.sqrt(6 / 8) / 30, math.sqrt(6 / 8) / 30).requires_grad_()
    o = torch.sin(30 * c @ W) @ V
    g = torch.autograd.grad(o, c, torch.ones_like(o), create_graph=True)[0]
    lap = 0.0
    for k in range(2):
        lap = lap + torch.autograd.grad(g[..., k], c, torch.ones_like(g[..., k]), create_graph=True)[0][..., k : k + 1]
    lap.pow(2).mean().backward()
    print(o[:2], g.norm(), lap[:3].T, V.grad.T[0, :3])
    pe = torch.cat([f(2.0**k * math.pi * c) for k in range(2) for f in (torch.sin, torch.cos)], -1)
    print(pe.shape)


def levenberg(torch):
    """Least squares by Levenberg and Marquardt."""
    p = torch.tensor([1.0, 0.5], dtype=torch.float64)
    tt = torch.linspace(0, 2, 6, dtype=torch.float64)
    yy = 2 * torch.exp(-1.3 * tt)
    lm = 0.01

    def res(p):
        return p[0] * torch.exp(-p[1] * tt) - yy

    for _ in range(12):
        Jm = torch.autograd.functional.jacobian(res, p)
        r = res(p)
        stp = torch.linalg.solve(Jm.T @ Jm + lm * torch.diag(torch.diag(Jm.T @ Jm)), -Jm.T @ r)
        if res(p + stp).norm() < r.norm():
            p = p + stp
            lm /= 3
        else:
            lm *= 2
    print(p, f"{res(p).norm():.2e}")


PROGRAMS = (
    pinn_burgers,
    divergence_curl,
    lanczos,
    hutchinson,
    persample,
    lbfgs_hand,
    pendulum_neuralode,
    deq_hook,
    qp_layer,
    diffphysics,
    lj_forces,
    hamiltonian_nn,
    neural_tangent,
    ggn,
    linear_solver,
    raymarch,
    siren,
    levenberg,
)

"""Programs as people write them, small: each takes the module it runs with and returns numbers."""

from __future__ import annotations

import math


def gaussian_process(torch):
    """Marginal likelihood of a Gaussian process, by Cholesky, with gradient steps."""
    X = torch.linspace(0, 1, 12).unsqueeze(-1)
    y = torch.sin(6 * X).squeeze()
    p = [torch.zeros((), requires_grad=True) for _ in range(3)]
    for k in range(20):
        ls, os, noise = [q.exp() for q in p]
        d = torch.cdist(X / ls, X / ls)
        K = os * torch.exp(-0.5 * d**2) + (noise + 1e-6) * torch.eye(12)
        L = torch.linalg.cholesky(K)
        a = torch.cholesky_solve(y.unsqueeze(-1), L)
        nll = 0.5 * (y @ a.squeeze(-1)) + L.diagonal().log().sum() + 6 * math.log(2 * math.pi)
        g = torch.autograd.grad(nll, p)
        with torch.no_grad():
            for q, gg in zip(p, g):
                q.sub_(0.01 * gg)
    return nll.item(), [q.item() for q in p]


def hamiltonian_monte_carlo(torch):
    """Leapfrog steps with gradients of a potential, and random acceptance."""

    def U(q):
        return 0.5 * (q[..., 0] ** 2) + 0.5 * ((q[..., 1] - q[..., 0] ** 2) ** 2)

    q = torch.zeros(2)
    s = []
    for i in range(10):
        p = torch.randn(2)
        q0 = q.clone()
        H0 = U(q) + 0.5 * (p * p).sum()
        for _ in range(5):
            q.requires_grad_(True)
            (g,) = torch.autograd.grad(U(q), q)
            q = q.detach()
            p = p - 0.05 * g
            q = q + 0.1 * p
            q.requires_grad_(True)
            (g,) = torch.autograd.grad(U(q), q)
            q = q.detach()
            p = p - 0.05 * g
        H = U(q) + 0.5 * (p * p).sum()
        if torch.rand(()).log() > H0 - H:
            q = q0
        s.append(q.tolist())
    return s


def differential_equation(torch):
    """A network trained on the residual of a differential equation: second derivatives inside a loss."""
    W1 = torch.randn(10, 1) * 0.5
    b1 = torch.randn(10) * 0.5
    W2 = torch.randn(1, 10) * 0.5
    ps = [w.requires_grad_() for w in (W1, b1, W2)]
    x = torch.linspace(0, 1, 20).reshape(-1, 1).requires_grad_()
    for k in range(5):
        u = torch.tanh(x @ W1.T + b1) @ W2.T
        ux = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
        uxx = torch.autograd.grad(ux, x, torch.ones_like(ux), create_graph=True)[0]
        loss = ((uxx + math.pi**2 * torch.sin(math.pi * x)) ** 2).mean() + (u[0] ** 2 + u[-1] ** 2).sum()
        for p in ps:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p in ps:
                p -= 1e-4 * p.grad
    return loss.item()


def attention(torch):
    """Causal attention by hand and by the function for it."""
    q, k, v = (torch.randn(2, 4, 5, 8, requires_grad=True) for _ in range(3))
    mask = torch.triu(torch.full((5, 5), float("-inf")), diagonal=1)
    a = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8) + mask, dim=-1) @ v
    b = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(a, b)
    (a.pow(2).mean()).backward()
    return q.grad.norm().item(), k.grad.norm().item(), v.grad.sum().item()


def truncated_recurrence(torch):
    """Backpropagation through time, cut by detach."""
    h = torch.zeros(3, 6)
    W = (torch.randn(6, 6) * 0.3).requires_grad_()
    V = (torch.randn(4, 6) * 0.3).requires_grad_()
    x = torch.randn(10, 3, 4)
    tot = 0
    for t in range(10):
        h = torch.tanh(x[t] @ V + h @ W)
        if t % 4 == 3:
            h = h.detach()
        tot = tot + h.mean()
    tot.backward()
    return W.grad.sum().item(), V.grad.sum().item()


def lstm(torch):
    """Cells of an LSTM from chunks of one product."""
    W = (torch.randn(16, 4) * 0.3).requires_grad_()
    U = (torch.randn(16, 4) * 0.3).requires_grad_()
    h = c = torch.zeros(2, 4)
    x = torch.randn(6, 2, 4)
    for t in range(6):
        i, f, g, o = (x[t] @ W.t() + h @ U.t()).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    h.sum().backward()
    return W.grad.abs().sum().item(), U.grad.abs().sum().item()


def meta_learning(torch):
    """Gradients through gradient steps."""
    w = torch.randn(3, requires_grad=True)
    meta = 0
    for task in range(3):
        X = torch.randn(5, 3)
        y = torch.randn(5)
        fw = w
        for k in range(2):
            loss = ((X @ fw - y) ** 2).mean()
            (g,) = torch.autograd.grad(loss, fw, create_graph=True)
            fw = fw - 0.1 * g
        meta = meta + ((X @ fw - y) ** 2).mean()
    meta.backward()
    return w.grad.tolist()


def gradient_penalty(torch):
    """A penalty on the norm of a gradient."""
    D = [(torch.randn(8, 2) * 0.5).requires_grad_(), (torch.randn(1, 8) * 0.5).requires_grad_()]

    def disc(x):
        return torch.nn.functional.leaky_relu(x @ D[0].T, 0.2) @ D[1].T

    real, fake = torch.randn(6, 2), torch.randn(6, 2)
    a = torch.rand(6, 1)
    x = (a * real + (1 - a) * fake).requires_grad_(True)
    g = torch.autograd.grad(
        outputs=disc(x), inputs=x, grad_outputs=torch.ones(6, 1), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    gp = ((g.norm(2, dim=1) - 1) ** 2).mean()
    (disc(fake).mean() - disc(real).mean() + 10 * gp).backward()
    return [p.grad.sum().item() for p in D]


def implicit_function(torch):
    """The root of an equation with the derivative of the implicit function theorem."""

    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            x = torch.ones_like(a)
            for _ in range(50):
                x = x - (x**3 + x - a) / (3 * x**2 + 1)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g / (3 * x**2 + 1)

    a = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
    assert torch.autograd.gradcheck(Root.apply, (a,))
    assert torch.autograd.gradgradcheck(Root.apply, (a,))
    x = Root.apply(a)
    x.sum().backward()
    return a.grad.tolist()


def kalman_filter(torch):
    """The likelihood of a Kalman filter."""
    A = torch.tensor([[1.0, 0.1], [0, 1.0]])
    H = torch.tensor([[1.0, 0]])
    lq = torch.tensor(-2.0, requires_grad=True)
    lr = torch.tensor(-1.0, requires_grad=True)
    y = torch.cumsum(torch.randn(15) * 0.1, 0)
    m = torch.zeros(2)
    P = torch.eye(2)
    ll = 0
    for t in range(15):
        m = A @ m
        P = A @ P @ A.mT + lq.exp() * torch.eye(2)
        S = H @ P @ H.mT + lr.exp()
        v = y[t] - H @ m
        K = P @ H.mT @ torch.linalg.inv(S)
        m = m + K @ v
        P = (torch.eye(2) - K @ H) @ P
        ll = ll - 0.5 * (v @ torch.linalg.solve(S, v) + torch.logdet(S) + math.log(2 * math.pi))
    ll.backward()
    return ll.item(), lq.grad.item(), lr.grad.item()


def conditional_random_field(torch):
    """The forward algorithm, and the score of a path."""
    E = torch.randn(7, 4, requires_grad=True)
    T = torch.randn(4, 4, requires_grad=True)
    a = E[0]
    for t in range(1, 7):
        a = torch.logsumexp(a.unsqueeze(1) + T + E[t].unsqueeze(0), 0)
    Z = torch.logsumexp(a, 0)
    tags = torch.tensor([0, 1, 2, 3, 0, 1, 2])
    s = E[torch.arange(7), tags].sum() + T[tags[:-1], tags[1:]].sum()
    (Z - s).backward()
    return E.grad.sum(0).tolist(), T.grad.tolist()


def variational_autoencoder(torch):
    """The evidence bound with a reparametrised sample."""
    x = torch.rand(8, 5)
    We = (torch.randn(5, 4) * 0.3).requires_grad_()
    Wd = (torch.randn(2, 5) * 0.3).requires_grad_()
    mu, lv = (x @ We).split(2, dim=1)
    z = mu + torch.exp(0.5 * lv) * torch.randn_like(mu)
    r = torch.sigmoid(z @ Wd)
    loss = torch.nn.functional.binary_cross_entropy(r, x, reduction="sum") - 0.5 * torch.sum(
        1 + lv - mu.pow(2) - lv.exp()
    )
    loss.backward()
    return loss.item(), We.grad.sum().item(), Wd.grad.sum().item()


def newton_conjugate_gradients(torch):
    """Newton steps by conjugate gradients on Hessian-vector products."""
    X = torch.randn(20, 5)
    y = (torch.rand(20) > 0.5).double()
    w = torch.zeros(5, requires_grad=True)

    def f(w):
        return torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y) + 0.05 * w @ w

    for _ in range(6):
        g = torch.autograd.grad(f(w), w, create_graph=True)[0]

        def hv(v):
            return torch.autograd.grad(g, w, v, retain_graph=True)[0]

        p = r = -g.detach()
        d = torch.zeros(5)
        for _ in range(10):
            Hp = hv(p)
            al = (r @ r) / (p @ Hp)
            d = d + al * p
            rn = r - al * Hp
            if rn.norm() < 1e-10:
                break
            p = rn + (rn @ rn) / (r @ r) * p
            r = rn
        w = (w.detach() + d).requires_grad_()
    return w.tolist()


def convolution(torch):
    """A small network of images."""
    x = torch.randn(2, 3, 8, 8)
    W1 = (torch.randn(4, 3, 3, 3) * 0.2).requires_grad_()
    b1 = torch.zeros(4, requires_grad=True)
    W2 = (torch.randn(10, 4 * 4 * 4) * 0.1).requires_grad_()
    h = torch.nn.functional.max_pool2d(torch.nn.functional.relu(torch.nn.functional.conv2d(x, W1, b1, padding=1)), 2)
    o = h.flatten(1) @ W2.T
    loss = torch.nn.functional.cross_entropy(o, torch.tensor([3, 7]))
    loss.backward()
    return loss.item(), W1.grad.abs().sum().item(), b1.grad.tolist(), W2.grad.norm().item()


def adam(torch):
    """The update rule of Adam, in place."""
    w = torch.nn.Parameter(torch.randn(4))
    m = torch.zeros_like(w)
    v = torch.zeros_like(w)
    for t in range(1, 50):
        if w.grad is not None:
            w.grad.zero_()
        ((w - torch.arange(4.0)) ** 2).sum().backward()
        with torch.no_grad():
            m.mul_(0.9).add_(w.grad, alpha=0.1)
            v.mul_(0.999).addcmul_(w.grad, w.grad, value=0.001)
            w.addcdiv_(m / (1 - 0.9**t), (v / (1 - 0.999**t)).sqrt().add_(1e-8), value=-0.1)
    return w.tolist()


def flat_parameters(torch):
    """Several parameters as one vector, and back."""
    ps = [torch.randn(3, 2, requires_grad=True), torch.randn(2, requires_grad=True)]

    def flat(tensors):
        return torch.cat([t.reshape(-1) for t in tensors])

    loss = (torch.tanh(ps[0]).sum(0) * ps[1]).sum() ** 2
    g = flat(torch.autograd.grad(loss, ps))
    off = 0
    with torch.no_grad():
        for p in ps:
            n = p.numel()
            p.add_(g[off : off + n].view_as(p), alpha=-0.1)
            off += n
    return flat(ps).tolist()


def jacobians(torch):
    """Jacobians and Hessians by every name."""

    def f(x):
        return torch.stack([x[0] * x[1], torch.sin(x[2]), x.prod()])

    x = torch.tensor([1.0, 2.0, 3.0])
    J = torch.autograd.functional.jacobian(f, x)
    H = torch.autograd.functional.hessian(lambda x: f(x).sum(), x)
    return (
        J.tolist(),
        H.tolist(),
        torch.func.jacrev(f)(x).tolist(),
        torch.func.jacfwd(f)(x).tolist(),
        torch.func.vmap(torch.func.grad(lambda x: f(x).sum()))(torch.stack([x, x + 1])).tolist(),
    )


def spectral_norm(torch):
    """Power iteration without gradient, a quotient with it."""
    W = torch.randn(6, 4, requires_grad=True)
    u = torch.randn(6)
    with torch.no_grad():
        for _ in range(5):
            v = torch.nn.functional.normalize(W.t() @ u, dim=0)
            u = torch.nn.functional.normalize(W @ v, dim=0)
    s = u @ W @ v
    ((W / s) ** 2).sum().backward()
    return W.grad.norm().item()


def mixture_density(torch):
    """The likelihood of a mixture whose parameters are a chunked output."""
    x = torch.randn(10, 1)
    W = (torch.randn(1, 9) * 0.5).requires_grad_()
    pi, mu, ls = torch.chunk(x @ W, 3, dim=-1)
    y = torch.sin(x)
    ll = torch.logsumexp(torch.nn.functional.log_softmax(pi, -1) - ls - 0.5 * ((y - mu) / ls.exp()) ** 2, dim=-1).mean()
    (-ll).backward()
    return W.grad.tolist()


def assignments(torch):
    """Assignments to slices, masks and lists of places."""
    x = torch.randn(5, 6, requires_grad=True)
    y = x.clone()
    y[1:3, ::2] = 0
    y[y > 1] = 1.0
    y[:, -1] *= 2
    y[torch.tensor([0, 4])] += x[[1, 2]]
    m = torch.zeros(5, dtype=torch.bool)
    m[2] = True
    (y.masked_fill(m[:, None], 3.0).cumsum(1).gather(1, torch.tensor([[0], [1], [2], [3], [4]])) ** 2).sum().backward()
    return x.grad.tolist()


def scatter(torch):
    """Means over groups, two ways."""
    idx = torch.tensor([0, 1, 0, 2])
    s = torch.randn(4, 3, requires_grad=True)
    o = torch.zeros(3, 3).index_add(0, idx, s)
    c = torch.bincount(idx, minlength=3).unsqueeze(1)
    o = o / c
    o2 = torch.zeros(3, 3).scatter_add_(0, idx[:, None].expand(-1, 3), s)
    (o.relu().sum() + o2.sigmoid().sum()).backward()
    return s.grad.tolist()


def forces(torch):
    """Energies of pairs, forces, and rows of their Hessian."""
    pos = torch.rand(6, 3, requires_grad=True)
    i, j = torch.triu_indices(6, 6, 1)
    d = (pos[i] - pos[j]).norm(dim=-1) + 0.5
    E = (4 * (d**-12 - d**-6)).sum()
    Fo = -torch.autograd.grad(E, pos, create_graph=True)[0]
    H = torch.stack([torch.autograd.grad(Fo.reshape(-1)[k], pos, retain_graph=True)[0].reshape(-1) for k in range(4)])
    return E.item(), Fo.tolist(), H.sum().item()


def spectra(torch):
    """Power spectrum, and a derivative taken in Fourier space."""
    x = torch.randn(16, requires_grad=True)
    X = torch.fft.rfft(x)
    (X.abs() ** 2).sum().backward()
    g = x.grad.clone()
    x.grad = None
    k = torch.fft.fftfreq(16)
    y = torch.fft.ifft(1j * 2 * math.pi * k * torch.fft.fft(x)).real
    (y**2).sum().backward()
    return g.tolist(), x.grad.tolist()


def hooks(torch):
    """Hooks that look and hooks that change."""
    x = torch.randn(4, requires_grad=True)
    log = []
    h = x.register_hook(lambda g: (log.append(g.sum().item()), g.clamp(-0.1, 0.1))[1])
    y = x**2
    y.retain_grad()
    y.register_hook(lambda g: log.append(g.shape[0]))
    y.sum().backward()
    h.remove()
    return log, x.grad.tolist(), y.grad.tolist()


def runge_kutta(torch):
    """The gradient through an integrator."""
    A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], requires_grad=True)
    y = torch.tensor([2.0, 0.0])

    def f(y):
        return (y**3) @ A

    for _ in range(20):
        k1 = f(y)
        k2 = f(y + 0.025 / 2 * k1)
        k3 = f(y + 0.025 / 2 * k2)
        k4 = f(y + 0.025 * k3)
        y = y + 0.025 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    y.sum().backward()
    return y.tolist(), A.grad.tolist()


def image_rotation(torch):
    """A rotation angle through bilinear sampling."""
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 6), indexing="ij")
    th = torch.tensor(0.3, requires_grad=True)
    g = torch.stack([torch.cos(th) * xx - torch.sin(th) * yy, torch.sin(th) * xx + torch.cos(th) * yy], -1)[None]
    img = torch.rand(1, 1, 6, 6)
    torch.nn.functional.grid_sample(img, g, align_corners=True).sum().backward()
    return th.grad.item()


def straight_through_choice(torch):
    """A hard choice with a soft derivative."""
    loss = torch.randn(4, 3, requires_grad=True)
    (torch.nn.functional.gumbel_softmax(loss, tau=0.5, hard=True) * torch.arange(3.0)).sum().backward()
    return loss.grad.tolist()


def score_function(torch):
    """The score-function gradient of drawn actions."""
    loss = torch.zeros(3, requires_grad=True)
    p = torch.nn.functional.softmax(loss, 0)
    a = torch.multinomial(p, 5, replacement=True)
    R = torch.tensor([1.0, 0.0, 2.0])[a]
    (-(torch.log(p[a]) * R).sum()).backward()
    return a.tolist(), loss.grad.tolist()


def metric_losses(torch):
    """Losses on distances."""
    a, p, n = (torch.randn(4, 5, requires_grad=True) for _ in range(3))
    torch.nn.functional.triplet_margin_loss(a, p, n).backward()
    c = torch.nn.functional.cosine_embedding_loss(a, p, torch.tensor([1.0, -1, 1, -1]))
    return a.grad.sum().item(), c.item()


def spectral_decompositions(torch):
    """Functions of eigenvalues, eigenvectors and singular values."""
    A = torch.randn(4, 4)
    S = (A @ A.T).requires_grad_()
    w, V = torch.linalg.eigh(S)
    (w.log().sum() + (V[:, 0] ** 2 @ torch.arange(4.0))).backward()
    U, s, Vh = torch.linalg.svd(torch.randn(4, 3, requires_grad=True), full_matrices=False)
    return S.grad.tolist(), s.tolist()


def straight_through_rounding(torch):
    """Rounding with the derivative of the identity."""

    class STE(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.round(x)

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.randn(6, requires_grad=True)
    (STE.apply(x * 3) ** 2).sum().backward()
    return x.grad.tolist()


def rearrangements(torch):
    """Views, sorts, quantiles, correlations."""
    x = torch.randn(3, 4)
    y = x.permute(1, 0).contiguous().view(2, 6).unfold(1, 3, 3)
    z = torch.where(x > 0, x, -x).topk(2, dim=1)
    return (
        y.tolist(),
        z.values.tolist(),
        z.indices.tolist(),
        torch.einsum("ij,kj->ik", x, x).tolist(),
        x.std(0, unbiased=False).tolist(),
        torch.quantile(x, 0.3).item(),
        x.sort(1)[0].tolist(),
        x.median().item(),
        torch.cov(x).tolist(),
        torch.corrcoef(x).tolist(),
        torch.linspace(0, 1, 5)[torch.tensor([True, False, True, False, True])].tolist(),
        torch.stack([x, x]).flip(0).roll(1, 2).tolist(),
        torch.histc(x, 5).tolist(),
        torch.bucketize(x, torch.tensor([-1.0, 0, 1.0])).tolist(),
    )


PROGRAMS = (
    gaussian_process,
    hamiltonian_monte_carlo,
    differential_equation,
    attention,
    truncated_recurrence,
    lstm,
    meta_learning,
    gradient_penalty,
    implicit_function,
    kalman_filter,
    conditional_random_field,
    variational_autoencoder,
    newton_conjugate_gradients,
    convolution,
    adam,
    flat_parameters,
    jacobians,
    spectral_norm,
    mixture_density,
    assignments,
    scatter,
    forces,
    spectra,
    hooks,
    runge_kutta,
    image_rotation,
    straight_through_choice,
    score_function,
    metric_losses,
    spectral_decompositions,
    straight_through_rounding,
    rearrangements,
)

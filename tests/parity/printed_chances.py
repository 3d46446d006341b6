"""Programs that print what they find: densities, samples, sequences, games."""

from __future__ import annotations

import math


def hmm_forward(torch):
    """The forward algorithm of a hidden Markov model, and the best path."""
    torch.manual_seed(0)
    logA = torch.randn(3, 3).log_softmax(1).requires_grad_()
    logB = torch.randn(3, 4).log_softmax(1).requires_grad_()
    pi = torch.log_softmax(torch.zeros(3), 0)
    obs = [0, 3, 2, 1]
    al = pi + logB[:, obs[0]]
    for o in obs[1:]:
        al = torch.logsumexp(al.unsqueeze(1) + logA, dim=0) + logB[:, o]
    ll = al.logsumexp(0)
    ll.backward()
    print(ll, logA.grad, logB.grad.exp().sum(), sep="\n")
    best = pi + logB[:, obs[0]]
    back = []
    for o in obs[1:]:
        m, idx = (best.unsqueeze(1) + logA).max(0)
        back.append(idx)
        best = m + logB[:, o]
    print(best.max(0), [b.tolist() for b in back])


def crf_mask(torch):
    """A conditional random field of sequences of different lengths."""
    torch.manual_seed(1)
    em = torch.randn(2, 4, 3, requires_grad=True)
    tr = torch.randn(3, 3, requires_grad=True)
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()
    tags = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 0]])
    s = em[:, 0]
    for i in range(1, 4):
        n = torch.logsumexp(s.unsqueeze(2) + tr.unsqueeze(0) + em[:, i].unsqueeze(1), dim=1)
        s = torch.where(mask[:, i].unsqueeze(1), n, s)
    Z = s.logsumexp(1)
    score = em.gather(2, tags[..., None]).squeeze(2).masked_fill(~mask, 0.0).sum(1) + (
        tr[tags[:, :-1], tags[:, 1:]] * mask[:, 1:]
    ).sum(1)
    (Z - score).mean().backward()
    print(Z, score, tr.grad, em.grad[1])


def actor_critic(torch):
    """An actor with a critic: returns, entropy, clipped ratios."""
    torch.manual_seed(2)
    W = torch.randn(4, 2, requires_grad=True)
    V = torch.randn(4, 1, requires_grad=True)
    st = torch.randn(6, 4)
    logits = st @ W
    probs = torch.nn.functional.softmax(logits, dim=-1)
    a = probs.multinomial(1).squeeze(1).data
    logp = torch.log(probs.gather(1, a.unsqueeze(1))).squeeze()
    r = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    R = 0
    ret = []
    for x in r[::-1]:
        R = x + 0.9 * R
        ret.insert(0, R)
    ret = torch.tensor(ret)
    ret = (ret - ret.mean()) / (ret.std() + 1e-05)
    v = (st @ V).squeeze(-1)
    adv = ret - v.detach()
    ent = -(probs * probs.log()).sum(-1).mean()
    loss = (
        torch.stack([-p * d for p, d in zip(logp, adv)]).sum() + torch.nn.functional.smooth_l1_loss(v, ret) - 0.01 * ent
    )
    loss.backward()
    print(a, loss, W.grad, V.grad.t())
    torch.nn.utils.clip_grad_norm_([W, V], 0.5)
    print(W.grad.norm())
    ratio = torch.exp(logp - logp.detach())
    ppo = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
    print(ppo)
    q = torch.randn(6, 3, requires_grad=True)
    tgt = torch.randn(6, 3).max(1)[0]
    print(torch.nn.functional.mse_loss(q.gather(1, torch.tensor([[0], [1], [2], [0], [1], [2]])).squeeze(1), tgt))


def vae(torch):
    """The two parts of the evidence bound."""
    torch.manual_seed(3)
    E = torch.randn(5, 4) * 0.1
    E.requires_grad_()
    D = (torch.randn(2, 5) * 0.1).requires_grad_()
    x = torch.rand(3, 5)
    mu, logvar = torch.chunk(x @ E, 2, dim=-1)
    std = torch.exp(0.5 * logvar)
    eps = torch.randn_like(std)
    z = mu + eps * std
    BCE = torch.nn.functional.binary_cross_entropy(torch.sigmoid(z @ D), x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    (BCE + KLD).backward()
    print(mu.grad_fn, BCE, KLD, E.grad.abs().sum())


def iwae_flow(torch):
    """Coupled layers and log-determinants of Jacobians of a batch."""
    torch.manual_seed(4)
    z = torch.randn(7, 2, requires_grad=True)
    s = torch.randn(2, requires_grad=True)
    t = torch.zeros(2, requires_grad=True)
    z * s.exp() + t
    lad = s.sum().expand(7)
    J = torch.func.vmap(torch.func.jacrev(lambda q: q * s.exp() + t))(z)
    print(*torch.linalg.slogdet(J), torch.allclose(torch.logdet(J), lad))
    m = torch.tensor([1.0, 0.0])
    x1 = m * z + (1 - m) * (z * torch.tanh((m * z).sum(-1, keepdim=True)).exp())
    lw = -0.5 * (x1**2).sum(-1) + lad
    print(torch.logsumexp(lw, 0) - math.log(7), lad.grad_fn)


def gp(torch):
    """Steps on the marginal likelihood of a Gaussian process."""
    torch.manual_seed(5)
    X = torch.linspace(0, 1, 8)[:, None]
    y = torch.sin(6 * X).squeeze()
    ls = torch.tensor(-1.0, requires_grad=True)
    ns = torch.tensor(-2.0, requires_grad=True)

    def K(a, b):
        return torch.exp(-0.5 * torch.cdist(a, b).pow(2) / ls.exp() ** 2)

    for i in range(3):
        C = K(X, X) + ns.exp() * torch.eye(8)
        L = torch.linalg.cholesky(C)
        al = torch.cholesky_solve(y[:, None], L)
        nll = 0.5 * (y[None] @ al).squeeze() + L.diagonal().log().sum() + 4 * math.log(2 * math.pi)
        gs = torch.autograd.grad(nll, [ls, ns])
        print(nll, gs)
        with torch.no_grad():
            for p, g in zip([ls, ns], gs):
                p.sub_(g, alpha=0.05)
    xs = torch.rand(3, 1, requires_grad=True)
    mean = K(xs, X) @ al.detach()
    (dm,) = torch.autograd.grad(mean.sum(), xs)
    print(dm.shape)


def hmc(torch):
    """Leapfrog steps and acceptance."""
    torch.manual_seed(6)

    def U(q):
        return (q**2).sum() / 2 + torch.cos(q).sum()

    q = torch.zeros(2)
    acc = 0
    for it in range(5):
        p = torch.randn(2)
        q0, p0 = (q.clone(), p.clone())
        qq = q.clone().requires_grad_(True)
        for s in range(5):
            g = torch.autograd.grad(U(qq), qq)[0]
            p = p - 0.05 * g
            qq = (qq.detach() + 0.1 * p).requires_grad_(True)
            g = torch.autograd.grad(U(qq), qq)[0]
            p = p - 0.05 * g
        dH = U(q0) + p0.pow(2).sum() / 2 - U(qq.detach()) - p.pow(2).sum() / 2
        if torch.rand(1).log() < dH:
            q = qq.detach()
            acc += 1
    print(q, acc)


def svgd(torch):
    """A step of Stein variational gradients."""
    torch.manual_seed(7)
    X = torch.randn(5, 2, requires_grad=True)
    lp = -0.5 * (X**2).sum()
    (sc,) = torch.autograd.grad(lp, X)
    d2 = ((X[:, None] - X[None].detach()) ** 2).sum(-1)
    h = d2.detach().median() / math.log(6)
    Kx = torch.exp(-d2 / h)
    (gk,) = torch.autograd.grad(Kx.sum(), X)
    print((Kx.detach() @ sc - gk) / 5)
    sq = torch.pdist(X)
    print(sq.shape, torch.autograd.grad(sq.sum(), X)[0].shape)


def gumbel(torch):
    """Hard choices by the Gumbel trick, by the function and by hand."""
    torch.manual_seed(9)
    lo = torch.randn(3, 4, requires_grad=True)
    print(torch.nn.functional.gumbel_softmax(lo, tau=0.5, hard=True), torch.nn.functional.gumbel_softmax(lo).sum())
    u = torch.rand_like(lo)
    gmb = -torch.log(-torch.log(u + 1e-20) + 1e-20)
    ys = torch.nn.functional.softmax((lo + gmb) / 0.5, -1)
    yh = torch.zeros_like(ys).scatter_(-1, ys.argmax(-1, keepdim=True), 1.0)
    y = (yh - ys).detach() + ys
    y[:, 0].sum().backward()
    print(lo.grad)


def sinkhorn_unrolled(torch):
    """Sinkhorn's iteration on the kernel itself."""
    torch.manual_seed(8)
    x = torch.rand(4, 2, requires_grad=True)
    yy = torch.rand(3, 2)
    C = (x[:, None] - yy).abs().pow(2).sum(-1)
    Km = torch.exp(-C / 0.1)
    u = torch.ones(4) / 4
    v = torch.ones(3) / 3
    for _ in range(20):
        u = 1 / 4 / (Km @ v)
        v = 1 / 3 / (Km.T @ u)
    P = u[:, None] * Km * v[None]
    W = (P * C).sum()
    (g,) = torch.autograd.grad(W, x)
    print(W, P.sum(1), g)


def softdtw(torch):
    """Soft time warping over a dict of cells."""
    torch.manual_seed(4)
    X = torch.randn(4, 2, requires_grad=True)
    Y = torch.randn(5, 2)
    Dm = torch.cdist(X, Y) ** 2
    inf_ = torch.tensor(float("inf"))
    Rr = {(-1, -1): torch.zeros(())}
    for i in range(4):
        for j in range(5):
            c = torch.stack([Rr.get((i - 1, j), inf_), Rr.get((i, j - 1), inf_), Rr.get((i - 1, j - 1), inf_)])
            Rr[i, j] = Dm[i, j] - 0.5 * torch.logsumexp(-c / 0.5, 0)
    Rr[3, 4].backward()
    print(Rr[3, 4], X.grad)


def neuralsort(torch):
    """Sorting as a product with a soft permutation."""
    torch.manual_seed(5)
    s = torch.randn(4, requires_grad=True)
    As = (s[:, None] - s[None]).abs()
    Bm = As @ torch.ones(4, 1)
    sc = torch.arange(4, 0, -1).mul(2).sub(5).to(s.dtype)[:, None] * s[None]
    P = torch.nn.functional.softmax((sc - Bm.T) / 0.1, -1)
    print(P @ s, s.sort(descending=True)[0])
    (P @ s)[0].backward()
    print(s.grad, P.argmax(1), torch.argsort(s, descending=True))


def wgan_gp(torch):
    """A gradient penalty between two samples."""
    torch.manual_seed(5)
    D = torch.randn(4, 1, requires_grad=True)
    real = torch.randn(6, 4)
    fake = torch.randn(6, 4)
    al = torch.rand(6, 1).expand_as(real)
    inter = (al * real + (1 - al) * fake).requires_grad_(True)
    o = torch.tanh(inter @ D)
    gp = (
        (
            torch.autograd.grad(
                outputs=o,
                inputs=inter,
                grad_outputs=torch.ones(o.size()),
                create_graph=True,
                retain_graph=True,
                only_inputs=True,
            )[0]
            .view(6, -1)
            .norm(2, dim=1)
            - 1
        )
        ** 2
    ).mean() * 10
    gp.backward()
    print(gp, D.grad.T, al.stride())


def r1_path(torch):
    """The length of paths through a generator."""
    torch.manual_seed(6)
    z = torch.randn(2, 3, requires_grad=True)
    G = torch.randn(3, 12)
    img = (z @ G).view(2, 3, 2, 2)
    noise = torch.randn_like(img) / math.sqrt(img.shape[2] * img.shape[3])
    (g,) = torch.autograd.grad((img * noise).sum(), z, create_graph=True)
    pl = torch.sqrt(g.pow(2).sum(1).mean(0))
    print(pl)
    mean = torch.zeros(()).lerp(pl.mean(), 0.01)
    print(mean, (pl - mean).square())


def laplace(torch):
    """Newton's method, and the covariance at its end."""
    torch.manual_seed(8)
    X = torch.randn(12, 2)
    y = (X[:, 0] > 0).float()
    w = torch.zeros(2, requires_grad=True)

    def nlp(w):
        return torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y, reduction="sum") + 0.5 * w.dot(w)

    for _ in range(6):
        H = torch.autograd.functional.hessian(nlp, w)
        (g,) = torch.autograd.grad(nlp(w), w)
        w = (w - torch.linalg.solve(H, g)).detach().requires_grad_()
    cov = torch.inverse(H)
    print(w, cov, torch.logdet(H), torch.cholesky_inverse(torch.linalg.cholesky(H)).allclose(cov))


def fisher_diag(torch):
    """Squares of gradients of drawn labels, one by one and batched."""
    torch.manual_seed(12)
    W = torch.randn(3, 2, requires_grad=True)
    X = torch.randn(5, 3)
    lp = torch.nn.functional.log_softmax(X @ W, 1)
    smp = torch.multinomial(lp.exp(), 1).squeeze(-1)
    fd = torch.zeros_like(W)
    for i in range(5):
        fd += torch.autograd.grad(lp[i, smp[i]], W, retain_graph=True)[0].pow(2) / 5
    print(fd, [f"{n}:{tuple(p.shape)}" for n, p in zip("W", [W])])
    gb = torch.autograd.grad(lp.gather(1, smp[:, None]).squeeze(), W, torch.eye(5), is_grads_batched=True)[0]
    print(gb.pow(2).mean(0).allclose(fd))


def influence_products(torch):
    """The influence of an example by products with the Hessian."""
    torch.manual_seed(4)
    X = torch.randn(20, 3)
    y = (torch.rand(20) > 0.5).float()
    w = torch.zeros(3, requires_grad=True)
    for _ in range(20):
        (g,) = torch.autograd.grad(torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y), w)
        w.data -= g

    def hvp(v):
        (g,) = torch.autograd.grad(torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y), w, create_graph=True)
        return torch.autograd.grad((g * v).sum(), w)[0] + 0.01 * v

    v = torch.autograd.grad(torch.nn.functional.binary_cross_entropy_with_logits(X[:1] @ w, y[:1]), w)[0]
    h = v.clone()
    for _ in range(50):
        h = v + h - hvp(h) / 2
    print(h / 2, w)
    print(
        torch.autograd.functional.hvp(lambda w: torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y), w, v)[1]
    )
    ginf = [
        -(
            torch.autograd.grad(
                torch.nn.functional.binary_cross_entropy_with_logits(X[k : k + 1] @ w, y[k : k + 1]), w
            )[0]
            * h
        )
        .sum()
        .item()
        for k in range(3)
    ]
    print([f"{g:.4f}" for g in ginf])


PROGRAMS = (
    hmm_forward,
    crf_mask,
    actor_critic,
    vae,
    iwae_flow,
    gp,
    hmc,
    svgd,
    gumbel,
    sinkhorn_unrolled,
    softdtw,
    neuralsort,
    wgan_gp,
    r1_path,
    laplace,
    fisher_diag,
    influence_products,
)

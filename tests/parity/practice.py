"""More programs as people write them, from papers' repositories and answers to questions."""

from __future__ import annotations

import math


def listed(found):
    """Nested lists of numbers of nested tensors; what a program tells in words is left out."""
    if isinstance(found, (list, tuple)):
        return [listed(part) for part in found if not isinstance(part, str) and part is not None]
    return found.detach().tolist() if hasattr(found, "detach") else found


def gradient_reversal(torch):
    """A layer that turns gradients round, in front of a classifier of domains."""

    class GRL(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, lambd):
            ctx.lambd = lambd
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g.neg() * ctx.lambd, None

    x = torch.randn(3, 2, requires_grad=True)
    f = x.sigmoid()
    d = GRL.apply(f, 0.7)
    loss = torch.nn.functional.binary_cross_entropy(d.mean(1), torch.tensor([0.0, 1.0, 1.0]))
    loss.backward()
    return listed([d, loss, x.grad])


def jacobian_regularisation(torch):
    """Random projections of a Jacobian as a penalty, beside the Jacobian of every example."""
    x = torch.randn(4, 3, requires_grad=True)
    W = torch.randn(3, 5, requires_grad=True)
    y = torch.tanh(x @ W)
    J2 = 0
    for k in range(2):
        v = torch.randn(4, 5)
        v = v / torch.norm(v, 2, 1, True)
        (vj,) = torch.autograd.grad(y, x, grad_outputs=v, retain_graph=True, create_graph=True)
        J2 = J2 + torch.norm(vj) ** 2 / 8
    J2.backward(retain_graph=True)
    J = torch.func.vmap(torch.func.jacrev(lambda x: torch.tanh(x @ W)))(x.detach())
    return listed([J2, W.grad, x.grad, J])


def score_matching(torch):
    """The trace of a score's derivative as a loss, and denoising."""
    W = torch.randn(2, 8, requires_grad=True)
    V = torch.randn(8, 2, requires_grad=True)
    x = torch.randn(10, 2).requires_grad_(True)
    s = torch.nn.functional.softplus(x @ W) @ V
    loss1 = torch.norm(s, dim=-1) ** 2 / 2
    tr = 0
    for i in range(2):
        tr += torch.autograd.grad(s[:, i].sum(), x, create_graph=True, retain_graph=True)[0][:, i]
    loss = (loss1 + tr).mean(dim=0)
    loss.backward()
    sigma = 0.1
    pert = x.detach() + torch.randn_like(x) * sigma
    dsm = 0.5 * ((torch.nn.functional.softplus(pert @ W) @ V + (pert - x) / sigma**2) ** 2).sum(-1).mean()
    return listed([loss, W.grad, V.grad, dsm, tr])


def langevin(torch):
    """Noisy steps down a gradient, with and without ``data``."""
    x = torch.randn(6, 2)

    def E(x):
        return ((x**2 - 1) ** 2).sum(-1) + 0.1 * x.sum(-1)

    for k in range(5):
        x.requires_grad_(True)
        g = torch.autograd.grad(E(x).sum(), x)[0]
        x = (x - 0.01 * g + math.sqrt(0.02) * torch.randn_like(x)).detach()
    y = torch.zeros(3, requires_grad=True)

    def E2():
        return (y - 1).pow(2).sum()

    for k in range(3):
        e = E2()
        e.backward()
        y.data.add_(y.grad, alpha=-0.1).add_(torch.randn(3), alpha=0.01)
        y.grad.detach_()
        y.grad.zero_()
    return listed([x, y, y.grad, x.requires_grad])


def saliency(torch):
    """Gradients by pictures: saliency, integrated gradients, class activations by hooks."""
    img = torch.rand(1, 3, 8, 8)
    img.requires_grad_()
    K = torch.randn(4, 3, 3, 3)
    h = torch.nn.functional.max_pool2d(torch.relu(torch.nn.functional.conv2d(img, K, padding=1)), 2)
    logits = h.mean(dim=(2, 3))
    k = logits.argmax()
    score = logits[0, k]
    score.backward()
    sal, idx = torch.max(img.grad.data.abs(), dim=1)
    base = torch.zeros_like(img)
    ig = 0
    for a in torch.linspace(0, 1, 5):
        z = (base + a * (img.detach() - base)).requires_grad_()
        o = (
            torch.nn.functional.max_pool2d(torch.relu(torch.nn.functional.conv2d(z, K, padding=1)), 2)
            .mean((2, 3))[:, int(k)]
            .sum()
        )
        ig = ig + torch.autograd.grad(o, z)[0]
    feats = []
    h2 = torch.relu(torch.nn.functional.conv2d(img, K))
    h2.register_hook(lambda g: feats.append(g))
    h2.retain_grad()
    h2.mean((2, 3))[0, 1].backward()
    cam = torch.relu((feats[0].mean((2, 3), keepdim=True) * h2).sum(1))
    return listed([logits, k, sal, idx, ig / 5, cam, h2.grad])


def clipping_hooks(torch):
    """Gradients clipped by hooks, by norm and by value."""
    w = torch.randn(4, requires_grad=True)
    b = torch.randn(4, requires_grad=True)
    log = []
    w.register_hook(lambda g: torch.clamp(g, -0.5, 0.5))
    b.register_hook(lambda g: log.append(g.norm()))
    h = w * 3
    h.register_hook(lambda g: g * 2)
    y = (h * b).sum()
    y.backward()
    total = torch.nn.utils.clip_grad_norm_([w, b], 1.0)
    torch.nn.utils.clip_grad_value_([w, b], 0.3)
    b.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.clone()))
    (b**2).sum().backward()
    return listed([w.grad, b.grad, total, log])


def elastic_weights(torch):
    """Fisher information of sampled labels as weights of a penalty."""
    W = torch.randn(4, 3, requires_grad=True)
    x = torch.randn(8, 4)
    fisher = torch.zeros_like(W)
    for i in range(8):
        lp = torch.nn.functional.log_softmax(x[i] @ W, dim=-1)
        lab = torch.multinomial(lp.exp(), 1)[0]
        (g,) = torch.autograd.grad(lp[lab], W)
        fisher += g.pow(2)
    old = W.detach().clone()
    fisher /= 8
    loss = (fisher * (W - old - 0.1).pow(2)).sum()
    loss.backward()
    return listed([fisher, W.grad, loss])


def contrastive(torch):
    """A contrastive loss with masked similarities."""
    z = torch.randn(8, 5, requires_grad=True)
    f = torch.nn.functional.normalize(z, dim=1)
    sim = f @ f.T / 0.5
    mask = torch.eye(8, dtype=torch.bool)
    sim = sim.masked_fill(mask, float("-inf"))
    lab = (torch.arange(8) + 4) % 8
    loss = torch.nn.functional.cross_entropy(sim, lab)
    loss.backward()
    pos = sim[range(8), lab]
    top = sim.topk(3, dim=1)
    return listed([loss, z.grad, pos, top.indices, top.values])


def learned_steps(torch):
    """Quantisation whose step has a gradient of its own."""

    class LSQ(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, s, qn, qp):
            ctx.save_for_backward(x, s)
            ctx.other = qn, qp
            return (x / s).round().clamp(qn, qp) * s

        @staticmethod
        def backward(ctx, g):
            x, s = ctx.saved_tensors
            qn, qp = ctx.other
            q = x / s
            small = (q < qn).float()
            big = (q > qp).float()
            mid = 1.0 - small - big
            gs = ((small * qn + big * qp + mid * (-q + q.round())) * g / math.sqrt(x.numel() * qp)).sum().unsqueeze(0)
            return mid * g, gs, None, None

    x = torch.linspace(-2, 2, 9, requires_grad=True)
    s = torch.tensor([0.3], requires_grad=True)
    y = LSQ.apply(x, s, -4, 3)
    (y * torch.arange(9.0)).sum().backward()
    return listed([y, x.grad, s.grad, repr(y)])


def trust_region(torch):
    """Products with the Fisher matrix by two backward passes."""
    th = torch.randn(3, 2, requires_grad=True)
    s = torch.randn(7, 3)
    old = torch.log_softmax(s @ th, -1).detach()
    kl = (old.exp() * (old - torch.log_softmax(s @ th, -1))).sum(-1).mean()
    g = torch.autograd.grad(kl, th, create_graph=True)[0].view(-1)

    def Fvp(v):
        gv = (g * v).sum()
        return torch.autograd.grad(gv, th, retain_graph=True)[0].contiguous().view(-1) + 0.1 * v

    v = torch.randn(6)
    out = [kl, g, Fvp(v), Fvp(v)]
    vec = torch.nn.utils.parameters_to_vector([th])
    torch.nn.utils.vector_to_parameters(vec * 0.9, [th])
    return listed(out + [vec, th, th.is_leaf])


def optimal_transport(torch):
    """Sinkhorn's iteration on logarithms."""
    x = torch.randn(5, 2, requires_grad=True)
    y = torch.randn(4, 2)
    C = torch.cdist(x, y) ** 2
    a = torch.full((5,), 0.2).log()
    b = torch.full((4,), 0.25).log()
    f = torch.zeros(5)
    g = torch.zeros(4)
    for _ in range(10):
        f = -0.5 * torch.logsumexp((g - C) / 0.5 + b, 1)
        g = -0.5 * torch.logsumexp((f[:, None] - C) / 0.5 + a[:, None], 0)
    P = ((f[:, None] + g - C) / 0.5 + a[:, None] + b).exp()
    loss = (P * C).sum()
    loss.backward()
    return listed([P.sum(0), loss, x.grad])


def equilibrium(torch):
    """A custom function that iterates forward and backward."""

    class FP(torch.autograd.Function):
        @staticmethod
        def forward(ctx, W, x):
            z = torch.zeros_like(x)
            for _ in range(60):
                z = torch.tanh(z @ W.t() + x)
            ctx.save_for_backward(W, x, z)
            return z

        @staticmethod
        def backward(ctx, g):
            W, x, z = ctx.saved_tensors
            with torch.enable_grad():
                z = z.detach().requires_grad_()
                W_ = W.detach().requires_grad_()
                x_ = x.detach().requires_grad_()
                f = torch.tanh(z @ W_.t() + x_)
            u = g.clone()
            for _ in range(60):
                u = torch.autograd.grad(f, z, u, retain_graph=True)[0] + g
            return torch.autograd.grad(f, (W_, x_), u)

    W = (torch.randn(3, 3, dtype=torch.float64) * 0.3).requires_grad_()
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    z = FP.apply(W, x)
    z.sum().backward()
    return listed([z, W.grad, x.grad, torch.autograd.gradcheck(FP.apply, (W, x), raise_exception=False)])


def attacks(torch):
    """Steps along signs of gradients, projected back."""
    W = torch.randn(6, 3)
    x = torch.rand(4, 6)
    y = torch.tensor([0, 1, 2, 0])
    adv = x.clone().detach() + torch.empty_like(x).uniform_(-0.1, 0.1)
    for _ in range(3):
        adv.requires_grad_()
        with torch.enable_grad():
            loss = torch.nn.functional.cross_entropy(adv @ W, y)
        g = torch.autograd.grad(loss, [adv])[0]
        adv = adv.detach() + 0.05 * torch.sign(g.detach())
        adv = torch.min(torch.max(adv, x - 0.1), x + 0.1)
        adv = torch.clamp(adv, 0, 1)
    return listed([adv])


def smoothed_labels(torch):
    """Mixed, smoothed and weighted labels."""
    x = torch.randn(6, 4, requires_grad=True)
    t = torch.nn.functional.one_hot(torch.tensor([0, 1, 2, 3, 1, 2]), 4).float()
    lam = 0.3
    p = torch.randperm(6)
    tm = lam * t + (1 - lam) * t[p]
    loss = torch.sum(-tm * torch.nn.functional.log_softmax(x, -1), -1).mean()
    l2 = torch.nn.functional.cross_entropy(
        x, t.argmax(1), label_smoothing=0.1, weight=torch.tensor([1.0, 2.0, 0.5, 1.0])
    )
    foc = ((1 - torch.exp(-torch.nn.functional.cross_entropy(x, t.argmax(1), reduction="none"))) ** 2).mean()
    (loss + l2 + foc).backward()
    return listed([loss, l2, foc, x.grad])


def speech(torch):
    """The CTC loss, by words and by numbers for the reduction."""
    x = torch.randn(6, 2, 4, requires_grad=True)
    t = torch.tensor([[1, 2, 2], [3, 1, 0]])
    lp = torch.nn.functional.log_softmax(x, 2)
    loss = torch.nn.functional.ctc_loss(lp, t, torch.tensor([6, 5]), torch.tensor([3, 2]))
    loss.backward()
    l2 = torch.ctc_loss(x.log_softmax(2), t, (6, 6), (3, 2), 0, 2)
    l2.backward()
    return listed([loss, l2, x.grad])


def influence(torch):
    """Influence functions: one gradient per example, and a Hessian row by row."""
    theta = torch.zeros(4, requires_grad=True, dtype=torch.double)
    X = torch.randn(12, 4).double()
    y = torch.randn(12).double()

    def loss_i(i):
        return 0.5 * (X[i] @ theta - y[i]).pow(2)

    total = sum(loss_i(i) for i in range(12)) / 12
    g = torch.autograd.grad(total, theta, create_graph=True)[0]
    H = torch.stack([torch.autograd.grad(gi, theta, retain_graph=True)[0] for gi in g])
    gs = torch.stack([torch.autograd.grad(loss_i(i), theta)[0] for i in range(12)])
    inf = -gs @ torch.linalg.solve(H + 1e-3 * torch.eye(4).double(), gs.T)
    return listed([total, H, inf, torch.argsort(inf.sum(1), descending=True)])


def learned_rate(torch):
    """A learning rate that is learned through unrolled steps."""
    lr = torch.tensor(0.1, requires_grad=True)
    w = torch.tensor([1.0, -2.0]).requires_grad_()
    target = torch.tensor([0.3, 0.4])
    cur = w
    for k in range(4):
        loss = ((cur - target) ** 2).sum() + cur.prod()
        (g,) = torch.autograd.grad(loss, cur, create_graph=True)
        cur = cur - lr.exp() * 0.1 * g
    final = ((cur - target) ** 2).sum()
    final.backward()
    return listed([final, lr.grad, w.grad])


def learned_optimizer(torch):
    """An optimizer that is learned through unrolled steps."""
    P = (torch.randn(3, 4) * 0.1).requires_grad_()
    Q = (torch.randn(4, 1) * 0.1).requires_grad_()
    theta = torch.randn(5)
    m = torch.zeros(5)
    total = 0
    theta.requires_grad_()
    cur = theta
    for k in range(4):
        loss = (cur**2).sum() + torch.cos(3 * cur).sum()
        total = total + loss
        g = torch.autograd.grad(loss, cur, create_graph=True)[0].detach()
        m = 0.9 * m + 0.1 * g
        feat = torch.stack([g, m, g.sign() * torch.log(g.abs() + 1e-8)], -1)
        cur = cur + (torch.tanh(feat @ P) @ Q).squeeze(-1)
    total.backward()
    return listed([total, P.grad, Q.grad, theta.grad])


def natural_gradient(torch):
    """Empirical Fisher matrix and least squares."""
    mu = torch.tensor([0.1, 0.2], requires_grad=True)
    ls = torch.tensor([0.0, 0.1], requires_grad=True)
    x = torch.randn(30, 2)
    lp = (-0.5 * ((x - mu) / ls.exp()) ** 2 - ls - 0.5 * math.log(2 * math.pi)).sum(1)
    rows = []
    for i in range(30):
        g = torch.autograd.grad(lp[i], [mu, ls], retain_graph=True)
        rows.append(torch.cat([a.reshape(-1) for a in g]))
    G = torch.stack(rows)
    F = G.t() @ G / 30
    nat = torch.linalg.lstsq(F + 1e-4 * torch.eye(4), G.mean(0, keepdim=True).t()).solution
    p = torch.softmax(torch.tensor([0.1, 0.2, 0.3], requires_grad=True), 0)
    q = torch.tensor([0.2, 0.3, 0.5])
    kl = torch.nn.functional.kl_div(p.log().unsqueeze(0), q.unsqueeze(0), reduction="batchmean")
    kl2 = torch.nn.functional.kl_div(p.log(), q)
    return listed([F, nat, kl, kl2])


PROGRAMS = (
    gradient_reversal,
    jacobian_regularisation,
    score_matching,
    langevin,
    saliency,
    clipping_hooks,
    elastic_weights,
    contrastive,
    learned_steps,
    trust_region,
    optimal_transport,
    equilibrium,
    attacks,
    smoothed_labels,
    speech,
    influence,
    learned_rate,
    learned_optimizer,
    natural_gradient,
)

"""Networks as people write them, beside torch: training, transforms, hooks, states and weights computed of others."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

import symgrad as sg

other = pytest.importorskip("torch")


def network(torch, *widths, act=None):
    """Linear layers with tanh, or another activation, between them."""
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(before, after), (act or torch.nn.Tanh)()]
    return torch.nn.Sequential(*layers[:-1]).double()


def drawn(torch, *shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


def gradients(module):
    return [parameter.grad for parameter in module.parameters()]


def physics_informed_network(torch):
    net = network(torch, 2, 8, 8, 1)
    x = drawn(torch, 10, 2).requires_grad_()
    u = net(x)
    g = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_t, u_x = (g[:, 1:], g[:, :1])
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0][:, :1]
    loss = ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean() + torch.nn.MSELoss()(u, torch.zeros_like(u))
    loss.backward()
    return [loss, *gradients(net)]


def neural_ode(torch):

    class F(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = network(torch, 2, 6, 2)
            self.nfe = 0

        def forward(self, time, y):
            self.nfe += 1
            return self.net(y**3)

    f = F()
    y = drawn(torch, 3, 2)
    ys = [y]
    h = 0.1
    for k in range(5):
        k1 = f(k * h, y)
        k2 = f(k * h, y + h / 2 * k1)
        k3 = f(k * h, y + h / 2 * k2)
        k4 = f(k * h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ys.append(y)
    loss = torch.stack(ys).abs().mean()
    loss.backward()
    return [loss, f.nfe, *gradients(f)]


def maml(torch):
    net = network(torch, 1, 8, 1)
    x, y = (drawn(torch, 5, 1), drawn(torch, 5, 1, seed=1))
    p = dict(net.named_parameters())
    fc = torch.func.functional_call
    for _ in range(2):
        loss = ((fc(net, p, (x,)) - y) ** 2).mean()
        g = torch.autograd.grad(loss, tuple(p.values()), create_graph=True)
        p = {k: v - 0.1 * d for (k, v), d in zip(p.items(), g)}
    out = ((fc(net, p, x) - y) ** 2).mean()
    out.backward()
    return [out, *gradients(net)]


def gradients_of_each_sample(torch):
    net = network(torch, 3, 4, 2)
    x = drawn(torch, 6, 3)
    y = torch.tensor([0, 1, 0, 1, 1, 0])
    p = {k: v.detach() for k, v in net.named_parameters()}

    def loss(p, x, y):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(net, p, (x.unsqueeze(0),)), y.unsqueeze(0))

    g = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(p, x, y)
    return list(g.values())


def gauss_newton_product(torch):
    net = network(torch, 3, 4, 2)
    x = drawn(torch, 6, 3)
    p = {k: v.detach() for k, v in net.named_parameters()}

    def f(p):
        return torch.func.functional_call(net, p, (x,))

    v = {k: torch.ones_like(a) for k, a in p.items()}
    out, jv = torch.func.jvp(f, (p,), (v,))
    _, vjp = torch.func.vjp(f, p)
    return list(vjp(jv * 2)[0].values()) + [out]


def fisher_matrix(torch):
    net = network(torch, 3, 2)
    x = drawn(torch, 4, 3)
    p = list(net.parameters())
    F = 0
    lp = torch.log_softmax(net(x), 1)
    for i in range(4):
        for c in range(2):
            g = torch.cat([a.reshape(-1) for a in torch.autograd.grad(lp[i, c], p, retain_graph=True)])
            F = F + lp[i, c].exp().detach() * torch.outer(g, g)
    return [F]


def influence_functions(torch):
    net = network(torch, 3, 2)
    x, y = (drawn(torch, 6, 3), drawn(torch, 6, 2, seed=2))
    names = [k for k, _ in net.named_parameters()]
    shapes = [p.shape for p in net.parameters()]
    flat = torch.nn.utils.parameters_to_vector(net.parameters()).detach()

    def loss(v):
        d = {}
        i = 0
        for n, s in zip(names, shapes):
            d[n] = v[i : i + s.numel()].view(s)
            i += s.numel()
        return ((torch.func.functional_call(net, d, (x,)) - y) ** 2).sum() + (v**2).sum()

    H = torch.autograd.functional.hessian(loss, flat)
    H2 = torch.func.hessian(loss)(flat)
    g = torch.func.grad(loss)(flat)
    return [H, H2, torch.linalg.solve(H, g)]


def gradient_penalty(torch):
    D = network(torch, 2, 8, 1, act=lambda: torch.nn.LeakyReLU(0.2))
    r, f = (drawn(torch, 5, 2), drawn(torch, 5, 2, seed=1))
    e = drawn(torch, 5, 1, seed=3)
    z = (e * r + (1 - e) * f).requires_grad_()
    d = D(z)
    g = torch.autograd.grad(
        outputs=d, inputs=z, grad_outputs=torch.ones_like(d), create_graph=True, retain_graph=True, only_inputs=True
    )[0]
    gp = ((g.norm(2, dim=1) - 1) ** 2).mean()
    (D(f).mean() - D(r).mean() + 10 * gp).backward()
    return [gp, *gradients(D)]


def grad_cam(torch):
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)).double()
    A = {}
    G = {}
    h1 = net[0].register_forward_hook(lambda m, i, o: A.update(a=o))
    h2 = net[0].register_full_backward_hook(lambda m, gi, go: G.update(g=go[0]))
    x = drawn(torch, 1, 1, 6, 6)
    out = net(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out[0, 1].backward()
    h1.remove()
    h2.remove()
    cam = (A["a"] * G["g"].mean((2, 3), keepdim=True)).sum(1).relu()
    return [cam, out]


def tied_autoencoder(torch):

    class AE(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(torch.randn(2, 4, dtype=torch.float64))
            self.b = torch.nn.Parameter(torch.zeros(4, dtype=torch.float64))

        def forward(self, x):
            return torch.nn.functional.linear(torch.sigmoid(torch.nn.functional.linear(x, self.W)), self.W.t(), self.b)

    m = AE()
    x = drawn(torch, 5, 4)
    loss = torch.nn.functional.mse_loss(m(x), x)
    loss.backward()
    return [loss, repr(m), *gradients(m)]


def weight_standardisation(torch):

    class WS(torch.nn.Module):
        def forward(self, w):
            m = w.mean((1, 2, 3), keepdim=True)
            return (w - m) / (w.std((1, 2, 3), keepdim=True) + 1e-05)

    c = torch.nn.Conv2d(2, 3, 3).double()
    torch.nn.utils.parametrize.register_parametrization(c, "weight", WS())
    loss = (c(drawn(torch, 1, 2, 5, 5)) ** 2).sum()
    loss.backward()
    return [loss, repr(c), *gradients(c)]


def checkpoints(torch):
    net = network(torch, 2, 3, 3, 1)
    x = drawn(torch, 4, 2).requires_grad_()
    cp = import_module(torch.__name__ + ".utils.checkpoint")
    y = cp.checkpoint(net, x, use_reentrant=False).sum()
    y.backward()
    g = gradients(net)
    y2 = cp.checkpoint_sequential(net, 2, x, use_reentrant=False).sum()
    y2.backward()
    return [y, x.grad, *g]


def causal_transformer(torch):

    class B(torch.nn.Module):
        def __init__(self, d=8, h=2):
            super().__init__()
            self.ln1 = torch.nn.LayerNorm(d)
            self.att = torch.nn.MultiheadAttention(d, h, batch_first=True)
            self.ln2 = torch.nn.LayerNorm(d)
            self.mlp = torch.nn.Sequential(torch.nn.Linear(d, 4 * d), torch.nn.GELU(), torch.nn.Linear(4 * d, d))
            self.register_buffer("mask", torch.triu(torch.ones(6, 6), 1).bool())

        def forward(self, x):
            n = x.size(1)
            y = self.ln1(x)
            a, _ = self.att(y, y, y, attn_mask=self.mask[:n, :n], need_weights=False)
            x = x + a
            return x + self.mlp(self.ln2(x))

    m = torch.nn.Sequential(B(), B()).double()
    x = drawn(torch, 2, 6, 8)
    loss = (m(x) ** 2).mean()
    loss.backward()
    return [loss, repr(m), *gradients(m)]


def siren(torch):

    class S(torch.nn.Module):
        def __init__(self, i, o, w=30.0):
            super().__init__()
            self.w = w
            self.lin = torch.nn.Linear(i, o)
            with torch.no_grad():
                self.lin.weight.uniform_(-1 / i, 1 / i)

        def forward(self, x):
            return torch.sin(self.w * self.lin(x))

    m = torch.nn.Sequential(S(2, 8), S(8, 8), torch.nn.Linear(8, 1)).double()
    x = drawn(torch, 5, 2).requires_grad_()
    y = m(x)
    g = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    (g**2).sum().backward()
    return [y, g, *gradients(m)]


def variational_autoencoder(torch):

    class V(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.e = torch.nn.Linear(4, 4)
            self.d = torch.nn.Linear(2, 4)

        def forward(self, x):
            mu, lv = self.e(x).chunk(2, 1)
            z = mu + (lv / 2).exp() * torch.randn_like(mu)
            return (self.d(z), mu, lv)

    m = V().double()
    x = drawn(torch, 5, 4)
    r, mu, lv = m(x)
    loss = ((r - x) ** 2).sum() - 0.5 * (1 + lv - mu**2 - lv.exp()).sum()
    loss.backward()
    return [loss, *gradients(m)]


def deep_equilibrium(torch):
    W = torch.nn.Linear(3, 3).double()
    x = drawn(torch, 4, 3)
    with torch.no_grad():
        z = torch.zeros_like(x)
        for _ in range(50):
            z = torch.tanh(0.3 * W(z) + x)
    z = torch.tanh(0.3 * W(z) + x)
    z0 = z.clone().detach().requires_grad_()
    f0 = torch.tanh(0.3 * W(z0) + x)

    def back(g):
        r = g
        for _ in range(30):
            r = torch.autograd.grad(f0, z0, r, retain_graph=True)[0] + g
        return r

    z.register_hook(back)
    z.sum().backward()
    return [z, *gradients(W)]


def low_rank_adaptation(torch):

    class L(torch.nn.Module):
        def __init__(self, base, r=2):
            super().__init__()
            self.base = base
            base.requires_grad_(False)
            self.A = torch.nn.Parameter(torch.randn(r, base.in_features, dtype=torch.float64))
            self.B = torch.nn.Parameter(torch.zeros(base.out_features, r, dtype=torch.float64))

        def forward(self, x):
            return self.base(x) + x @ self.A.T @ self.B.T

    net = network(torch, 3, 4, 2)
    for n, m in list(net.named_children()):
        if isinstance(m, torch.nn.Linear):
            setattr(net, n, L(m))
    (net(drawn(torch, 4, 3)) ** 2).sum().backward()
    return [
        repr(net),
        [n for n, _ in net.named_parameters()],
        *[p.grad for p in net.parameters() if p.grad is not None],
    ]


def hypernetwork(torch):
    net = network(torch, 2, 3, 1)
    n = sum(p.numel() for p in net.parameters())
    H = torch.nn.Linear(4, n).double()
    v = H(drawn(torch, 4))
    d = {}
    i = 0
    for k, p in net.named_parameters():
        d[k] = v[i : i + p.numel()].view_as(p)
        i += p.numel()
    o = torch.func.functional_call(net, d, drawn(torch, 5, 2)).sum()
    o.backward()
    return [o, *gradients(H)]


def packed_sequences(torch):
    U = torch.nn.utils.rnn
    m = torch.nn.GRU(2, 3, batch_first=True).double()
    p = U.pack_padded_sequence(drawn(torch, 3, 4, 2), [2, 4, 1], batch_first=True, enforce_sorted=False)
    o, h = m(p)
    y, n = U.pad_packed_sequence(o, batch_first=True)
    (y.sum() + h.sum()).backward()
    return [y, n, h, *gradients(m)]


def recurrent_weight_norm(torch):
    m = torch.nn.LSTM(2, 3).double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = torch.nn.utils.weight_norm(m, "weight_hh_l0")
    o, _ = m(drawn(torch, 4, 1, 2))
    o.sum().backward()
    return [o, [n for n, _ in m.named_parameters()], *gradients(m)]


def recurrent_parametrization(torch):
    m = torch.nn.LSTM(2, 3).double()
    torch.nn.utils.parametrizations.weight_norm(m, "weight_ih_l0")
    o, _ = m(drawn(torch, 4, 1, 2))
    o.sum().backward()
    return [o, *gradients(m)]


def spectral_discriminator(torch):
    sn = torch.nn.utils.spectral_norm
    D = torch.nn.Sequential(
        sn(torch.nn.Conv2d(1, 2, 3)), torch.nn.LeakyReLU(0.2), torch.nn.Flatten(), sn(torch.nn.Linear(8, 1))
    ).double()
    o = []
    for k in range(3):
        loss = torch.relu(1 - D(drawn(torch, 2, 1, 4, 4, seed=k))).mean()
        loss.backward()
        o.append(loss)
    D.eval()
    o.append(D(drawn(torch, 2, 1, 4, 4)))
    return [*o, *gradients(D), *D.state_dict().values()]


def largest_curvature(torch):
    net = network(torch, 3, 4, 1)
    x = drawn(torch, 5, 3)
    p = list(net.parameters())
    v = [torch.ones_like(a) for a in p]
    for _ in range(5):
        g = torch.autograd.grad((net(x) ** 2).mean(), p, create_graph=True)
        h = torch.autograd.grad(g, p, grad_outputs=v)
        n = sum((a**2).sum() for a in h).sqrt()
        v = [a / n for a in h]
    return [n, *v]


def sharpness_aware_steps(torch):
    net = network(torch, 3, 4, 1)
    x = drawn(torch, 5, 3)
    ps = list(net.parameters())

    def f():
        return (net(x) ** 2).mean()

    f().backward()
    gn = torch.norm(torch.stack([p.grad.norm(2) for p in ps]), 2)
    es = []
    with torch.no_grad():
        for p in ps:
            e = p.grad * (0.05 / (gn + 1e-12))
            p.add_(e)
            es.append(e)
    net.zero_grad()
    f().backward()
    with torch.no_grad():
        for p, e in zip(ps, es):
            p.sub_(e)
            p.add_(p.grad, alpha=-0.1)
    return [gn, *ps]


def residual_network(torch):
    nn = torch.nn

    class B(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.c1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
            self.b1 = nn.BatchNorm2d(c)
            self.r = nn.ReLU(inplace=True)
            self.c2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
            self.b2 = nn.BatchNorm2d(c)

        def forward(self, x):
            return self.r(self.b2(self.c2(self.r(self.b1(self.c1(x))))) + x)

    m = nn.Sequential(B(2), B(2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3)).double()
    for k in m.modules():
        if isinstance(k, nn.Conv2d):
            nn.init.kaiming_normal_(k.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(k, (nn.BatchNorm2d, nn.GroupNorm)):
            nn.init.constant_(k.weight, 1)
            nn.init.constant_(k.bias, 0)
    loss = nn.CrossEntropyLoss()(m(drawn(torch, 2, 2, 4, 4)), torch.tensor([0, 2]))
    loss.backward()
    return [loss, *gradients(m), *m.buffers()]


def padded_encoder(torch):
    nn = torch.nn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2).double()
    pad = torch.tensor([[False] * 5, [False, False, True, True, True]])
    o = m(drawn(torch, 2, 5, 8), src_key_padding_mask=pad)
    o[~pad].sum().backward()
    return [o[~pad], *gradients(m)]


def gradients_of_attention(torch):
    m = torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
    q = drawn(torch, 2, 3, 8).requires_grad_()
    o, w = m(q, q, q, average_attn_weights=False)
    w.retain_grad()
    o.sum().backward()
    return [w, w.grad, q.grad]


def tangents_of_parameters(torch):
    net = network(torch, 3, 4, 2)
    x = drawn(torch, 5, 3)
    params = dict(net.named_parameters())
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        d = {k: fw.make_dual(v, torch.ones_like(v)) for k, v in params.items()}
        o = torch.func.functional_call(net, d, x)
        return [fw.unpack_dual(o).tangent]


def duals_in_the_place_of_parameters(torch):
    net = torch.nn.Linear(2, 1).double()
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        for n, p in list(net.named_parameters()):
            delattr(net, n)
            setattr(net, n, fw.make_dual(p.detach(), torch.ones_like(p)))
        return [fw.unpack_dual(net(drawn(torch, 3, 2))).tangent]


def statistics_of_batches_given(torch):
    m = torch.nn.BatchNorm1d(3).double()
    p, b = (dict(m.named_parameters()), {k: v.clone() for k, v in m.named_buffers()})
    o = torch.func.functional_call(m, (p, b), drawn(torch, 4, 3))
    o2 = torch.func.functional_call(m, {**p, **b}, drawn(torch, 4, 3))
    return [o, o2, m.running_mean]


def tangent_kernel(torch):
    net = network(torch, 3, 4, 1)
    p = {k: v.detach() for k, v in net.named_parameters()}

    def f(p, x):
        return torch.func.functional_call(net, p, (x.unsqueeze(0),)).squeeze(0)

    J = torch.vmap(torch.func.jacrev(f), (None, 0))
    a, b = (J(p, drawn(torch, 4, 3)), J(p, drawn(torch, 5, 3, seed=1)))
    return [sum((torch.einsum("naf,mbf->nmab", x.flatten(2), y.flatten(2)) for x, y in zip(a.values(), b.values())))]


def normalizing_flow(torch):

    class R(torch.nn.Module):
        def __init__(self, m):
            super().__init__()
            self.register_buffer("m", m)
            self.net = network(torch, 2, 4, 4)

        def forward(self, x):
            a, b = self.net(x * self.m).chunk(2, 1)
            a = torch.tanh(a) * (1 - self.m)
            return (x * a.exp() + b * (1 - self.m), a.sum(1))

    fl = torch.nn.ModuleList([R(torch.tensor([float(k % 2), 1.0 - k % 2], dtype=torch.float64)) for k in range(2)])
    x = drawn(torch, 5, 2)
    ld = 0
    for f in fl:
        x, d = f(x)
        ld = ld + d
    loss = -(torch.distributions.Normal(0.0, 1.0).log_prob(x).sum(1) + ld).mean()
    loss.backward()
    return [loss, *gradients(fl)]


def traces_of_jacobians(torch):
    net = network(torch, 2, 4, 2)
    x = drawn(torch, 5, 2).requires_grad_()
    f = net(x)
    tr = sum(torch.autograd.grad(f[:, i].sum(), x, create_graph=True)[0][:, i] for i in range(2))
    tr.pow(2).sum().backward()
    return [tr, *gradients(net)]


PROGRAMS = [
    value for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__ and name not in ("network", "drawn", "gradients")
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_networks(program):
    found = []
    for library in (sg, other):
        library.manual_seed(11)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(program(library))
    for ours, theirs in zip(*found, strict=True):
        if hasattr(theirs, "detach"):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-7, atol=1e-10)
        else:
            assert ours == theirs

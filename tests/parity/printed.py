"""Programs that print what they find, as lessons have them."""

from __future__ import annotations

import math

import numpy as np


def leastsquares_loop(torch):
    """Least squares by gradient steps in place, told epoch by epoch."""
    torch.manual_seed(0)
    w = torch.randn(2, 1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    X = torch.randn(20, 2)
    Y = X @ torch.tensor([[2.0], [-3.4]]) + 4.2
    for epoch in range(3):
        loss = ((X @ w + b - Y) ** 2 / 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            b -= 0.1 * b.grad
            w.grad.zero_()
            b.grad.zero_()
        print(f"epoch {epoch + 1}, loss {loss:f}", f"loss: {loss.item():.3f}", f"{loss:.4f}")
    print(w, b, w.grad, loss)
    print(f"{w.norm():.3f} {float(b):.2f} {b.item():>8.3f}")


def oldvariable(torch):
    """Code of the time when tensors were wrapped: ``Variable``, ``data``, typed constructors."""
    x = torch.autograd.Variable(torch.ones(2, 2), requires_grad=True)
    y = x + 2
    print(y)
    z = y * y * 3
    out = z.mean()
    print(z, out)
    out.backward()
    print(x.grad)
    x = torch.autograd.Variable(torch.Tensor([3]), requires_grad=True)
    print(x, x.data, x.creator if hasattr(x, "creator") else None)
    y = x**2
    y.backward(torch.FloatTensor([1.0]))
    print(x.grad.data[0], x.grad.data)
    x.grad.data.zero_()
    print(x.grad)
    a = torch.autograd.Variable(torch.FloatTensor([[2, 4]]), requires_grad=True)
    b = torch.autograd.Variable(torch.zeros(1, 2))
    b[0, 0] = a[0, 0] ** 2 + a[0, 1] * 5
    b[0, 1] = a[0, 1] ** 3 + a[0, 0] * 4
    j = torch.zeros(2, 2)
    b.backward(torch.FloatTensor([[1, 0]]), retain_graph=True)
    j[:, 0] = a.grad.data
    a.grad.data.zero_()
    b.backward(torch.FloatTensor([[0, 1]]))
    j[:, 1] = a.grad
    print(j, b)


def norm_loop(torch):
    """Doubled until a norm is reached, and a gradient that is given."""
    torch.manual_seed(3)
    x = torch.randn(3, requires_grad=True)
    y = x * 2
    while y.data.norm() < 1000:
        y = y * 2
    print(y)
    v = torch.tensor([0.1, 1.0, 0.0001])
    y.backward(v)
    print(x.grad)
    print(x.requires_grad, (x**2).requires_grad)
    with torch.no_grad():
        print((x**2).requires_grad)
    y = x.detach()
    print(y.requires_grad, x.eq(y).all())


def graphwalk(torch):
    """A walk over the nodes of a graph by ``next_functions``."""
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    L = (torch.tanh(x * w) + w.exp()).log()

    def walk(f, d=0):
        if f is None:
            return
        print("  " * d + f.name(), [type(a).__name__ for a, _ in f.next_functions])
        for a, _ in f.next_functions:
            walk(a, d + 1)

    walk(L.grad_fn)
    print(L.grad_fn.next_functions[0][0].next_functions)
    for t, n in ((x, "x"), (L, "L")):
        print(f"{n}: data={t.data} grad={(t.grad if t.is_leaf else None)} fn={t.grad_fn is not None} leaf={t.is_leaf}")


def numpy_bridge(torch):
    """Arrays in and out."""
    a = np.arange(6.0).reshape(2, 3)
    t = torch.from_numpy(a)
    t[0, 0] = 9
    print(a[0, 0], t.dtype, torch.as_tensor(a).data_ptr() == t.data_ptr(), torch.tensor(a, dtype=torch.float).dtype)
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    y = x * t
    print(np.asarray(y.detach()).sum(), y.detach().numpy().T.shape, y.tolist()[0], y.sum().item())
    print(
        torch.tensor(np.float32(2.0)),
        torch.tensor([np.float64(1.0)]),
        torch.tensor(3),
        torch.tensor(True),
        torch.tensor([1, 2.0]),
        torch.tensor([]),
        torch.tensor(1 + 2j),
    )
    print(t.numpy() is not a, (t > 2).numpy().dtype, torch.from_numpy(np.array([1, 2], dtype=np.int32)))


def decorators(torch):
    """Modes as decorators and contexts."""

    @torch.no_grad()
    def ev(x):
        return x * 2

    @torch.enable_grad()
    def tr(x):
        return x * 2

    @torch.inference_mode()
    def inf(x):
        return x * 2

    x = torch.ones(2, requires_grad=True)
    print(ev(x).requires_grad, tr(x).requires_grad, inf(x).is_inference(), ev.__name__)
    with torch.set_grad_enabled(False):
        print((x * 2).requires_grad, torch.is_grad_enabled(), tr(x).requires_grad)


def legendre(torch):
    """A polynomial with a custom function, after a well-known lesson."""

    class MyReLU(torch.autograd.Function):
        @staticmethod
        def forward(ctx, i):
            ctx.save_for_backward(i)
            return i.clamp(min=0)

        @staticmethod
        def backward(ctx, go):
            (i,) = ctx.saved_tensors
            gi = go.clone()
            gi[i < 0] = 0
            return gi

    class LegendreP3(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 1.5 * (5 * x**2 - 1)

    x = torch.linspace(-math.pi, math.pi, 50)
    y = torch.sin(x)
    ps = [torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3)]
    for t in range(5):
        a, b, c, d = ps
        yp = a + b * LegendreP3.apply(c + d * x)
        loss = (yp - y).pow(2).sum()
        if t % 2 == 0:
            print(t, loss.item().__round__(3))
        loss.backward()
        with torch.no_grad():
            for p in ps:
                p -= 5e-06 * p.grad
                p.grad = None
    print(f"Result: y = {a.item():.4f} + {b.item():.4f} * P3({c.item():.4f} + {d.item():.4f} x)")
    print(yp.grad_fn.next_functions[0])
    z = torch.randn(3, requires_grad=True)
    o = MyReLU.apply(z)
    print(o.grad_fn.name())
    o.sum().backward()
    print(
        torch.autograd.gradcheck(
            MyReLU.apply, (torch.randn(5, dtype=torch.double, requires_grad=True),), eps=1e-06, atol=0.0001
        )
    )


def checkpoints(torch):
    """Checkpointed blocks, one and in turn."""
    calls = []

    def blk(x, w):
        calls.append(1)
        return torch.tanh(x @ w)

    x = torch.randn(2, 3, requires_grad=True)
    w = torch.eye(3).requires_grad_()
    y = torch.utils.checkpoint.checkpoint(blk, x, w, use_reentrant=False)
    y.sum().backward()
    print(len(calls), w.grad.shape)
    fs = [lambda x: x * 2, torch.sin, lambda x: x + 1]
    y = torch.utils.checkpoint.checkpoint_sequential(fs, 2, x, use_reentrant=False)
    print(y.shape)
    y.sum().backward()


def tensor_methods(torch):
    """What a matrix answers to a hundred questions."""
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
    for e in (
        "x.T",
        "x.mT",
        "x.t()",
        "x.abs().max()",
        "x.max(dim=0)",
        "x.norm(p=1)",
        "x.view(-1, 1)",
        "x[..., None]",
        "x[x > 0]",
        "x.clamp(0)",
        "x.std(unbiased=False)",
        "x.mean(-1, keepdim=True)",
        "x.topk(1)",
        "x.index_select(0, torch.tensor([1]))",
        "x.masked_fill(x < 0, -math.inf)",
        "x.repeat(1, 2)",
        "x.tril()",
        "x.cumsum(1)",
        "x.flip(0)",
        "x.roll(1, 0)",
        "x.unbind(1)",
        "x.split(1)",
        "x.sum().exp()",
        "x.float().half()",
        "x.long()",
        "x.to(torch.int32)",
        "x.det()",
        "x.inverse()",
        "x.trace()",
        "x.diag()",
        "x.flatten().outer(x.flatten())",
        "x.prod(0)",
        "x.logsumexp(1)",
        "x.new_zeros(2)",
        "x.new_tensor([1.])",
        "x.nelement()",
        "x.size()",
        "x.size(0)",
        "x.shape[-1]",
        "x.stride()",
        "x.ndim",
        "x.element_size()",
        "x.contiguous() is x",
        "x.is_contiguous()",
        "x.data_ptr() == x.detach().data_ptr()",
        "x.storage_offset()",
        "x.grad",
        "x.is_sparse",
        "x.layout",
        "x.requires_grad",
        "x.retains_grad",
        "x.output_nr",
        "x.is_complex()",
        "x.isnan().any()",
        "x.detach().unique()",
        "x.argmax()",
        "x.nonzero()",
        "x.detach().bool()",
        "x ** 2",
        "2 ** x",
        "x // 2",
        "x % 2",
        "-x",
        "x @ x",
        "x == x",
        "x.eq(1)",
        "1 / x",
        "round(x.sum().item(), 2)",
        "x.sum() > 3",
        "not (x.sum() > 3)",
        "x.detach().tolist()",
        "torch.equal(x, x)",
        "abs(x)",
        "x.gather(1, torch.tensor([[0], [1]]))",
        "x.scatter(1, torch.tensor([[0], [1]]), 0.)",
        "x.lerp(x * 2, .5)",
        "x.where(x > 0, 0)",
        "x.nan_to_num()",
        "x.bernoulli(.5).shape",
        "hash(x) == hash(x)",
        "x.__class__.__name__",
        'format(x[0, 0], ".2f")',
        'f"{x[0, 0]:.1f}"',
        "str(x[0, 0])",
        "x.dim()",
        "x.unsqueeze(0).squeeze().shape",
        "x.reshape(4).unflatten(0, (2, 2))",
        "x.expand(2, 2, 2).shape",
        "x.real",
        "x.sigmoid().log()",
        "x.sort(descending=True)[1]",
        "x.detach().apply_(lambda v: v + 1)",
        "x.pow(2).sum(dim=(0, 1))",
        "x.amax((0, 1))",
        "x.softmax(-1)",
        "x.svd()[1]",
        "x.chunk(2, -1)",
        "x.type_as(torch.ones(1).double()).dtype",
        "x.requires_grad_().is_leaf",
        "x.var(0, correction=0)",
        "x.histc(2, -2, 4)",
        "x.backward",
    ):
        try:
            print(e, "->", eval(e) if e != "x.backward" else callable(x.backward))
        except RuntimeError as er:
            print(e, "!!", str(er)[:80])


def maml_dict(torch):
    """Two gradient steps inside of a loss, with parameters in a dict, and Adam by hand."""
    torch.manual_seed(0)
    params = {"w": torch.randn(1, 4), "b": torch.zeros(4), "v": torch.randn(4, 1)}
    params = {k: v.requires_grad_() for k, v in params.items()}

    def model(x, p):
        return torch.relu(x @ p["w"] + p["b"]) @ p["v"]

    meta = 0.0
    for task in range(2):
        xs = torch.rand(5, 1)
        ys = torch.sin(xs + task)
        fast = params
        for k in range(2):
            value = torch.nn.functional.mse_loss(model(xs, fast), ys)
            gs = torch.autograd.grad(value, tuple(fast.values()), create_graph=True)
            fast = {k: p - 0.1 * g for (k, p), g in zip(fast.items(), gs)}
        meta = meta + torch.nn.functional.mse_loss(model(xs, fast), ys)
    meta.backward()
    for k, p in params.items():
        print(k, p.grad.norm(), p.grad.shape)
    m = {k: torch.zeros_like(p) for k, p in params.items()}
    v = {k: torch.zeros_like(p) for k, p in params.items()}
    for t in range(1, 4):
        for k, p in params.items():
            g = p.grad
            m[k].mul_(0.9).add_(g, alpha=0.1)
            v[k].mul_(0.999).addcmul_(g, g.conj(), value=0.001)
            denom = (v[k].sqrt() / math.sqrt(1 - 0.999**t)).add_(1e-08)
            with torch.no_grad():
                p.addcdiv_(m[k], denom, value=-0.01 / (1 - 0.9**t))
    print({k: p.sum().item().__round__(4) for k, p in params.items()})


def sam(torch):
    """Steps from a worse point near by, all in place."""
    torch.manual_seed(10)
    w = torch.randn(3, requires_grad=True)
    X = torch.randn(6, 3)
    for _ in range(3):
        (X @ w).pow(2).mean().backward()
        e = w.grad / (w.grad.norm(p=2) + 1e-12) * 0.05
        with torch.no_grad():
            w.add_(e)
        w.grad.zero_()
        (X @ w).pow(2).mean().backward()
        with torch.no_grad():
            w.sub_(e)
            w -= 0.1 * w.grad
        w.grad = None
    print(w, w._version)


def prox(torch):
    """Soft thresholds and a projection onto the simplex."""
    torch.manual_seed(11)
    A = torch.randn(8, 4)
    b = A @ torch.tensor([1.0, 0.0, 0.0, -2.0])
    x = torch.zeros(4, requires_grad=True)
    L = torch.linalg.matrix_norm(A, 2) ** 2
    for _ in range(30):
        (g,) = torch.autograd.grad(0.5 * (A @ x - b).norm() ** 2, x)
        z = x.detach() - g / L
        x = (z.sign() * torch.nn.functional.relu(z.abs() - 0.1 / L)).requires_grad_()
    print(
        x,
        torch.nn.functional.softshrink(z, 0.1),
        torch.clamp(z, -0.5, 0.5),
        torch.nn.functional.threshold(z, 0.0, -1.0),
    )
    mu = torch.tensor([3.0, 1.0, 0.2])
    s_, _ = torch.sort(mu, descending=True)
    css = s_.cumsum(0) - 1
    k = (s_ * torch.arange(1, 4) > css).sum()
    print((mu - css[k - 1] / k).clamp_min(0))


def matrixfactor(torch):
    """A matrix of ratings as a product, through ``data``."""
    torch.manual_seed(3)
    R = torch.randint(1, 6, (5, 4)).float()
    M = torch.rand(5, 4) > 0.3
    U = torch.rand(5, 2, requires_grad=True)
    V = torch.rand(4, 2, requires_grad=True)
    for k in range(20):
        e = (R - U @ V.t())[M]
        value = e.pow(2).sum() + 0.01 * (U.norm() ** 2 + V.norm() ** 2)
        value.backward()
        for p in (U, V):
            p.data.add_(p.grad.data, alpha=-0.01)
            p.grad = None
    print(value, U.data[:2], torch.svd(R)[1], torch.linalg.matrix_norm(R, "nuc"))


def word2vec(torch):
    """Word vectors with negative samples."""
    torch.manual_seed(0)
    Ein = torch.randn(10, 4, requires_grad=True)
    Eout = torch.randn(10, 4, requires_grad=True)
    c = torch.tensor([1, 2, 3])
    o = torch.tensor([2, 3, 4])
    neg = torch.randint(0, 10, (3, 5))
    v = torch.nn.functional.embedding(c, Ein)
    pos = torch.nn.functional.logsigmoid((v * torch.nn.functional.embedding(o, Eout)).sum(1))
    ng = torch.nn.functional.logsigmoid(
        -torch.bmm(torch.nn.functional.embedding(neg, Eout), v.unsqueeze(2)).squeeze(2)
    ).sum(1)
    (-(pos + ng).mean()).backward()
    print(Ein.grad[:5], Eout.grad.norm(dim=1))


def cnn(torch):
    """Convolution, batch norm, pooling and a linear layer."""
    torch.manual_seed(1)
    K1 = (torch.randn(4, 1, 3, 3) * 0.3).requires_grad_()
    b1 = torch.zeros(4, requires_grad=True)
    Wf = (torch.randn(2, 16) * 0.3).requires_grad_()
    g = torch.ones(4, requires_grad=True)
    be = torch.zeros(4, requires_grad=True)
    rm, rv = (torch.zeros(4), torch.ones(4))
    x = torch.randn(5, 1, 6, 6)
    h = torch.nn.functional.conv2d(x, K1, b1)
    h = torch.nn.functional.batch_norm(h, rm, rv, g, be, training=True, momentum=0.1)
    h = torch.nn.functional.max_pool2d(torch.nn.functional.leaky_relu(h, 0.2), 2)
    value = torch.nn.functional.nll_loss(
        torch.nn.functional.log_softmax(torch.nn.functional.linear(h.flatten(1), Wf), 1), torch.tensor([0, 1, 1, 0, 1])
    )
    value.backward()
    print(value, rm, rv, K1.grad.abs().sum(), g.grad)
    pred = torch.nn.functional.linear(h.flatten(1), Wf).argmax(dim=1, keepdim=True)
    print(pred.eq(torch.tensor([0, 1, 1, 0, 1]).view_as(pred)).sum().item(), pred.view(-1).tolist())
    u = torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
    print(u.shape, torch.nn.functional.unfold(x, 3).shape, torch.nn.functional.adaptive_avg_pool2d(x, 1).flatten())


def gru(torch):
    """A gated recurrent unit by hand."""
    torch.manual_seed(2)
    Wi, Wh = (torch.randn(3, 6, requires_grad=True), torch.randn(2, 6, requires_grad=True))
    h = torch.zeros(4, 2)
    outs = []
    for t, xt in enumerate(torch.randn(5, 4, 3).unbind(0)):
        gi, gh = (xt @ Wi, h @ Wh)
        ir, iz, inn = gi.chunk(3, 1)
        hr, hz, hn = gh.chunk(3, 1)
        r = torch.sigmoid(ir + hr)
        z = torch.sigmoid(iz + hz)
        n = torch.tanh(inn + r * hn)
        h = n + z * (h - n)
        outs.append(h)
    o = torch.stack(outs, 1)
    o.pow(2).mean().backward()
    print(o[0], Wi.grad.norm(), Wh.grad.norm(), o.grad_fn)


def distill(torch):
    """What a student learns from a teacher."""
    torch.manual_seed(9)
    st = torch.randn(3, 4, requires_grad=True)
    te = torch.randn(3, 4)
    T = 3.0
    kd = (
        torch.nn.functional.kl_div(
            torch.nn.functional.log_softmax(st / T, 1), torch.nn.functional.softmax(te / T, 1), reduction="batchmean"
        )
        * T
        * T
    )
    ce = torch.nn.functional.cross_entropy(st, te.argmax(1))
    (0.7 * kd + 0.3 * ce).backward()
    print(kd, ce, st.grad)
    perm = torch.randperm(3)
    lam = np.float64(0.3)
    print(lam * te + (1 - lam) * te[perm])
    js = 0.5 * torch.nn.functional.kl_div((te.softmax(1) + st.softmax(1)).div(2).log(), te.softmax(1), reduction="sum")
    print(js)


PROGRAMS = (
    leastsquares_loop,
    oldvariable,
    norm_loop,
    graphwalk,
    numpy_bridge,
    decorators,
    legendre,
    checkpoints,
    tensor_methods,
    maml_dict,
    sam,
    prox,
    matrixfactor,
    word2vec,
    cnn,
    gru,
    distill,
)

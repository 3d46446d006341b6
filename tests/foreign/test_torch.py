"""Functions of torch's programs: values and gradients are torch's own; what is not known is refused by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, ShapeError, UnsupportedFunction

torch = pytest.importorskip("torch", reason="programs of torch are compared with torch")
nn, F = torch.nn, torch.nn.functional
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        weights = F.softmax(self.q(x) @ self.k(x).transpose(-2, -1) / 2.0, -1)
        return weights @ self.v(x)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(4), nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Unrolled(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 4)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 4)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return h


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(3, 4), nn.Linear(2, 3)

    def forward(self, x, eps):
        mean, logvar = self.encode(x).chunk(2, -1)
        z = mean + eps * torch.exp(0.5 * logvar)
        kl = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
        return F.mse_loss(self.decode(z), x, reduction="sum") + kl


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x):
        return self.attend(x, x, x)[0]


class Gated(nn.Module):
    """A buffer, an attribute in place, unpacking, keywords."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0, 3.0]))
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = x * self.w
        y += self.scale
        values, _ = torch.sort(y, dim=1, descending=True)
        a, b = torch.sigmoid(values).unbind(0)
        return torch.cat([a, b], dim=0) * torch.where(x > 0, x, 0.1 * x).reshape(-1)


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def uniform(*shape):
    return torch.rand(*shape, dtype=torch.float64) + 0.1


MODULES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)), lambda: [normal(5, 3)]),
    "attention": (Attention, lambda: [normal(2, 3, 4)]),
    "residual": (Residual, lambda: [normal(3, 4)]),
    "conv_net": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
        ),
        lambda: [normal(2, 1, 6, 6)],
    ),
    "conv1d": (lambda: nn.Sequential(nn.Conv1d(2, 3, 2, stride=2, padding=1), nn.SiLU()), lambda: [normal(2, 2, 5)]),
    "transposed": (lambda: nn.ConvTranspose2d(1, 2, 2), lambda: [normal(2, 1, 3, 3)]),
    "unrolled": (Unrolled, lambda: [normal(2, 3, 3)]),
    "gru_cell": (lambda: nn.GRUCell(3, 4), lambda: [normal(2, 3)]),
    "vae": (VAE, lambda: [normal(2, 3), normal(2, 2)]),
    "gaussian_nll": (nn.GaussianNLLLoss, lambda: [normal(4), normal(4), uniform(4)]),
    "cross_entropy": (nn.CrossEntropyLoss, lambda: [normal(4, 3), torch.tensor([0, 2, 1, 1])]),
    "smoothed": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum"),
                 lambda: [normal(4, 3), torch.tensor([0, 2, 1, 1])]),
    "mse": (nn.MSELoss, lambda: [normal(4, 2), normal(4, 2)]),
    "bce": (nn.BCEWithLogitsLoss, lambda: [normal(4), uniform(4) / 2]),
    "huber": (lambda: nn.HuberLoss(delta=0.5), lambda: [normal(6), normal(6)]),
    "embedding": (lambda: nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 2), nn.Softmax(-1)),
                  lambda: [torch.tensor([[1, 2], [0, 4]])]),
    "normalised": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.PReLU(), nn.RMSNorm(4), nn.Dropout(0.3)),
                   lambda: [normal(3, 4)]),
    "instance": (lambda: nn.InstanceNorm1d(3, affine=True), lambda: [normal(2, 3, 5)]),
    "heads": (Heads, lambda: [normal(2, 3, 4)]),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), lambda: [normal(2, 3, 4)]),
    "bilinear": (lambda: nn.Bilinear(2, 3, 4), lambda: [normal(4, 2), normal(4, 3)]),
    "gated": (Gated, lambda: [normal(2, 3)]),
    "upsampled": (lambda: nn.Sequential(nn.Upsample(scale_factor=2), nn.AvgPool1d(3)), lambda: [normal(2, 3, 4)]),
}  # fmt: skip
SHAPED = {"unrolled", "gru_cell", "heads", "transformer", "instance", "transposed"}
"""Modules that ask about shapes, which takes examples."""


def flat(tree, ahead=""):
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{ahead}{name}.")
        else:
            yield f"{ahead}{name}", value


def compare(module, f, inputs):
    """Values, and gradients by inputs and by parameters, are torch's."""
    theirs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    want = module(*theirs)
    weights = torch.randn_like(want)
    (want * weights).sum().backward()
    mine = [sg.tensor(x.numpy().copy(), requires_grad=x.is_floating_point()) for x in inputs]
    got = f(*mine)
    assert got.dtype == want.detach().numpy().dtype
    np.testing.assert_allclose(got.numpy(force=True), want.detach().numpy(), rtol=1e-9, atol=1e-11)
    (got * sg.tensor(weights.numpy())).sum().backward()
    parameters = dict(flat(f.parameters))
    assert set(parameters) == {name for name, _ in module.named_parameters()}
    pairs = [*zip(theirs, mine, strict=True), *((p, parameters[name]) for name, p in module.named_parameters())]
    for t, s in pairs:
        if t.grad is not None:
            np.testing.assert_allclose(s.grad.numpy(), t.grad.numpy(), rtol=1e-8, atol=1e-10)


def made(name):
    torch.manual_seed(sum(map(ord, name)))
    build, sample = MODULES[name]
    return build().double().eval(), sample()


QUICK = ("mlp", "attention", "unrolled", "vae", "gated", "bce")
"""What the default suite compares."""


def sooner(names):
    return [n if n in names else pytest.param(n, marks=pytest.mark.slow) for n in MODULES]


@pytest.mark.parametrize("name", sooner(QUICK))
def test_values_and_gradients_are_those_of_torch(name):
    module, inputs = made(name)
    if name not in SHAPED:
        compare(module, sg.from_fx(module), inputs)
        module.zero_grad()
    compare(module, sg.from_fx(module, *inputs), inputs)


@pytest.mark.parametrize("name", ["vae", "gated"])
def test_graphs_that_torch_has_traced(name):
    module, inputs = made(name)
    compare(module, sg.from_fx(torch.fx.symbolic_trace(module)), inputs)


@pytest.mark.parametrize("name", sooner(["bce"]))
@pytest.mark.parametrize("core", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_exported_programs(name, core):
    if name == "gaussian_nll":
        pytest.skip("torch.export refuses the loss, which looks at the variances")
    module, inputs = made(name)
    program = torch.export.export(module, tuple(inputs))
    if core:
        program = program.run_decompositions()
    compare(module, sg.from_fx(program), inputs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The tensor attributes self.layer._flat_weights")  # of torch.export
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_by_way_of_an_exported_program(kind):
    torch.manual_seed(0)
    module = kind(3, 4).double()

    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = module

        def forward(self, x):
            return self.layer(x)[0]

    x = normal(5, 2, 3)
    with pytest.raises(UnsupportedFunction, match="torch.export"):
        sg.from_fx(First(), x)
    compare(First(), sg.from_fx(torch.export.export(First(), (x,))), [x])


def test_formulas_need_no_examples_but_those_that_the_program_was_read_with():
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh()).double()
    f = sg.from_fx(lambda x: net(x).sum(), normal(5, 3))
    assert f.examples == [(5, 3)]
    want = sg.latex(f, (5, 3), wrt="x")
    assert sg.latex(f, wrt="x") == want
    assert r"\mathrm{net}_{0,\mathrm{weight}}" in want


def test_functions_of_torch_go_everywhere(rng):
    net = nn.Linear(3, 1).double()
    penalty = torch.full((3,), 0.5, dtype=torch.float64, requires_grad=True)

    def loss(x, y):
        return ((net(x) - y) ** 2).sum() + 0.1 * (penalty * penalty).sum()

    f = sg.from_fx(loss, names={"net.weight": "W", "net.bias": "b"})
    assert f.pure.names == ["W", "b", "penalty", "x", "y"]
    assert f.names == ["x", "y"]
    assert set(f.parameters) == {"net", "penalty"}
    assert sg.latex(f.pure, (1, 3), (1,), (3,), (5, 3), (5, 1), wrt="penalty") == r"0.2 \mathrm{penalty}"
    assert sg.latex(f, (5, 3), (5, 1), wrt="y") == r"2 \left(y - x W^{\top} - b\right)"
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 1))
    tensors = [sg.tensor(v.numpy(force=True), requires_grad=True) for v in f.weights.values()]
    tensors += [sg.tensor(v, requires_grad=True) for v in (x, y)]
    assert sg.autograd.gradgradcheck(f.pure, tensors)
    program = sg.compile(sg.func.grad(f.pure, (0, 1)), *tensors, name="gradient")
    loss(torch.tensor(x), torch.tensor(y)).backward()
    for got, want in zip(program(*tensors), (net.weight, net.bias), strict=True):
        np.testing.assert_allclose(got.numpy(force=True), want.grad.numpy())
    shapes = [(1, 7), (1,), (2,), (9, 7), (9, 1)]  # nobody asked for sizes: the program takes others
    assert [g.shape for g in program(*map(np.ones, shapes))] == [(1, 7), (1,)]
    assert sg.func.hessian(f.pure, 1)(*tensors).item() == pytest.approx(10)
    assert sg.check(f.pure, "symgrad", *tensors).ok


def test_a_saved_gradient_runs_without_torch(tmp_path):
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    f = sg.from_fx(lambda x: net(x).sum())
    arguments = [*f.weights.values(), np.ones((4, 2), np.float32)]
    sg.compile(sg.func.grad(f.pure), *arguments, name="g").save(tmp_path / "g.py")
    done = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "g.py"), "--selftest"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def cube_of(x):
    y = x * x
    return torch.quantize_per_tensor(y, 0.1, 0, torch.quint8)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        return g


class Newer(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g


def test_what_is_unknown_is_refused_by_name_and_line():
    words = r"quantize_per_tensor'.*call_function torch.quantize.*line \d+ of .*test_torch.py, return torch"
    with pytest.raises(UnsupportedFunction, match=words):
        sg.from_fx(cube_of)
    with pytest.raises(UnsupportedFunction, match="tensors have no method 'int_repr'"):
        sg.from_fx(lambda x: x.int_repr())
    with pytest.raises(UnsupportedFunction, match=r"torch.autograd.grad|autograd"):
        sg.from_fx(lambda x: torch.autograd.grad(x.sum(), x)[0])


@pytest.mark.parametrize("kind", [Wrong, Newer])
def test_a_backward_of_its_own_is_never_dropped_in_silence(kind):
    with pytest.raises(UnsupportedFunction, match=f"{kind.__name__} is an autograd.Function"):
        sg.from_fx(lambda x: kind.apply(x).sum())
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    sg.from_fx(lambda x: kind.apply(x).sum(), own_backward="ignore")(x).backward()
    assert x.grad.tolist() == [3, 12]
    t = torch.ones(2, requires_grad=True)
    kind.apply(t).sum().backward()  # and torch's class is as it was
    assert t.grad.tolist() == [1, 1]


@pytest.mark.parametrize("examples", [(), (torch.ones(2),)])
def test_programs_that_look_at_entries_are_refused(examples):
    with pytest.raises(UnsupportedFunction, match="cannot be traced by torch.fx.*line"):
        sg.from_fx(lambda x: x if x.sum() > 0 else -x, *examples)


def test_programs_that_ask_about_shapes_say_that_examples_help():
    with pytest.raises(UnsupportedFunction, match="Give from_fx.. example arguments"):
        sg.from_fx(Unrolled())
    f = sg.from_fx(lambda x: x.reshape(x.shape[0] * x.shape[1]), torch.ones(2, 3))
    assert f(np.ones((2, 3))).shape == (6,)
    with pytest.raises(ShapeError, match=r"x has shape \(3, 3\) where the program was made for \(2, 3\)"):
        f(np.ones((3, 3)))
    with pytest.raises(UnsupportedFunction, match="item"):
        sg.from_fx(lambda x: x * x.sum().item(), torch.ones(2))


def test_no_grad_detach_and_random_numbers_mean_what_they_mean_in_torch():
    def held(x):
        with torch.no_grad():
            y = x * x
        return (y * x * x.detach()).sum()

    x = sg.tensor([2.0, 3.0], requires_grad=True)
    sg.from_fx(held)(x).backward()
    assert x.grad.tolist() == [8, 27]
    noisy = sg.from_fx(lambda x: x + torch.randn(3))
    assert noisy(0.0).tolist() != noisy(0.0).tolist()


@pytest.mark.slow
def test_exported_programs_keep_detach_and_no_grad_or_are_refused():
    class Detached(nn.Module):
        def forward(self, x):
            return (x.detach() * x).sum()

    class Blocked(nn.Module):
        def forward(self, x):
            with torch.no_grad():
                y = x * x
            return (y * x).sum()

    program = torch.export.export(Detached(), (torch.ones(2),))
    x = sg.tensor([2.0, 3.0], requires_grad=True)
    sg.from_fx(program)(x).backward()
    assert x.grad.tolist() == [2, 3]
    with pytest.raises(UnsupportedFunction, match=r"writes it for detach\(\)"):
        sg.from_fx(program.run_decompositions())
    with pytest.raises(UnsupportedFunction, match="block under no_grad"):
        sg.from_fx(torch.export.export(Blocked(), (torch.ones(2),)))


def test_what_is_written_in_place_is_written_in_every_call():
    def f(x):
        h = torch.zeros(2)
        h[0] = x[0] * 2
        h += x
        y = x.clone()
        y.mul_(2)
        y[1] = 5.0
        return (h * y).sum()

    t = torch.tensor([2.0, 3.0], requires_grad=True)
    f(t).backward()
    g = sg.from_fx(f)
    for _ in range(2):
        x = sg.tensor([2.0, 3.0], requires_grad=True)
        g(x).backward()
        assert x.grad.tolist() == t.grad.tolist()


def test_the_module_is_left_as_it_was():
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    module[1].weight.requires_grad_(False)
    before = {k: v.clone() for k, v in module.state_dict().items()}
    names = set(vars(module))
    f = sg.from_fx(module)
    f(np.ones((3, 2), np.float32))
    assert set(vars(module)) == names
    assert "_check_input_dim" not in vars(module[1])
    for key, value in module.state_dict().items():
        assert torch.equal(value, before[key])
    assert set(dict(flat(f.parameters))) == {"0.weight", "0.bias", "1.bias"}


def test_tied_parameters_are_one_leaf():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[1].weight = module[0].weight
    f = sg.from_fx(module)
    assert f.pure.names == ["weight_0", "bias_0", "bias_1", "input"]
    f(np.ones((1, 2), np.float32)).sum().backward()
    module(torch.ones(1, 2)).sum().backward()
    np.testing.assert_allclose(f.weights["weight_0"].grad.numpy(), module[0].weight.grad.numpy(), rtol=1e-5)


def test_hooks_are_not_dropped():
    module = nn.Linear(2, 2)
    handle = module.register_full_backward_hook(lambda *_: None)
    for f in (module, lambda x: module(x)):
        with pytest.raises(UnsupportedFunction, match="backward hooks"):
            sg.from_fx(f)
    handle.remove()
    handle = module.weight.register_hook(lambda g: 2 * g)
    with pytest.raises(UnsupportedFunction, match="weight has hooks"):
        sg.from_fx(module)
    handle.remove()
    module.register_forward_hook(lambda m, x, out: 2 * out)
    with pytest.raises(UnsupportedFunction, match="forward hooks"):
        sg.from_fx(module)
    doubled = sg.from_fx(lambda x: module(x))(np.ones((1, 2), np.float32))
    np.testing.assert_allclose(doubled.numpy(force=True), module(torch.ones(1, 2)).detach().numpy(), rtol=1e-5)


def test_arguments():
    assert sg.from_fx(lambda x, scale=2.0, mask=None: x * scale if mask is None else x * mask)(3.0).item() == 6
    assert sg.from_fx(lambda x, *, p: x * p)(x=1.0, p=2.0).item() == 2
    assert sg.from_fx(lambda *xs: sum(xs), torch.ones(2), torch.ones(2)).names == ["xs_0", "xs_1"]
    found = sg.from_fx(lambda x: {"a": x, "b": (x * 2, [x.sum()])})(sg.tensor([1.0, 2.0]))
    assert found["b"][1][0].item() == 3
    assert sg.from_fx(lambda x: torch.max(x, 1).values)(sg.tensor([[1.0, 2.0]])).tolist() == [2]
    assert sg.from_fx(lambda x: x)(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="more examples"):
        sg.from_fx(lambda x: x, torch.ones(2), torch.ones(2))
    with pytest.raises(ArgumentError, match="no example for the argument 'y'"):
        sg.from_fx(lambda x, y: x, torch.ones(2))
    with pytest.raises(ArgumentError, match="names has 'w'"):
        sg.from_fx(lambda x: x, names={"w": "W"})
    with pytest.raises(ArgumentError, match="takes a module, a function"):
        sg.from_fx(3)
    with pytest.raises(ArgumentError, match="own_backward"):
        sg.from_fx(lambda x: x, own_backward="keep")


def test_errors_while_it_runs_tell_the_node():
    net = nn.Linear(3, 1)
    with pytest.raises(ShapeError) as caught:
        sg.from_fx(lambda x: net(x))(np.ones((5, 4), np.float32))
    assert "in the node 'linear' (call_function torch.nn.functional.linear" in caught.value.__notes__[0]


def test_deep_programs_need_no_recursion():
    def deep(x):
        for _ in range(1200):
            x = torch.sin(x) + x
        return x

    x = sg.tensor(0.1, requires_grad=True, dtype=sg.float64)
    sg.from_fx(deep)(x).backward()
    t = torch.tensor(0.1, requires_grad=True, dtype=torch.float64)
    deep(t).backward()
    assert float(x.grad) == pytest.approx(float(t.grad))


class Counting(nn.Module):
    """Keeps what it saw: in new attributes, in one that was None, and in a tensor that it replaces."""

    def __init__(self, replaced):
        super().__init__()
        self.inner, self.replaced = nn.Linear(3, 3), replaced
        self.register_buffer("mean", torch.zeros(3))
        self.state, self.calls, self.weights = torch.zeros(3), 0, None

    def forward(self, x):
        self.calls += 1
        self.weights = self.last = torch.softmax(self.inner(x), -1)
        if self.replaced:
            setattr(self, self.replaced, getattr(self, self.replaced) + x.sum(0))
        return self.weights * self.mean + self.state


@pytest.mark.parametrize("around", [lambda m: m, nn.Sequential, lambda m: lambda x: m(x)], ids=["itself", "in", "f"])
@pytest.mark.parametrize("replaced", ["", "mean", "state"])
def test_a_module_is_left_as_it_was(around, replaced):
    module = Counting(replaced)
    before = [dict(vars(m)) | dict(m._buffers) for m in module.modules()]
    if replaced:
        with pytest.raises(UnsupportedFunction, match=rf"Counting\.{replaced} is a tensor that the program replaces"):
            sg.from_fx(around(module))
    else:
        sg.from_fx(around(module))
    after = [dict(vars(m)) | dict(m._buffers) for m in module.modules()]
    for old, new in zip(before, after, strict=True):
        assert list(old) == list(new)
        assert all(old[name] is new[name] for name in old)

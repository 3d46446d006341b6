"""``functional_call`` and ``stack_module_state``: objects that hold tensors, called with other ones."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import functional_call, grad, stack_module_state, vmap


class Linear:
    def __init__(self, rows, columns, seed):
        generator = np.random.default_rng(seed)
        self.weight = sg.tensor(generator.standard_normal((columns, rows)), requires_grad=True)
        self.bias = sg.tensor(generator.standard_normal(columns), requires_grad=True)

    def __call__(self, x):
        return sg.nn.functional.linear(x, self.weight, self.bias)


class Net:
    """As people write them: layers in a list, a number, a buffer."""

    def __init__(self, seed=0):
        self.layers = [Linear(2, 3, seed), Linear(3, 1, seed + 1)]
        self.scale = {"out": sg.tensor(2.0)}
        self.calls = 0
        self.owner = self  # a cycle

    def __call__(self, x):
        self.calls += 1
        return self.layers[1](sg.tanh(self.layers[0](x))) * self.scale["out"]


class Module:
    """A base class of users' own, which registers parameters."""

    def __init__(self):
        self.__dict__["_parameters"], self.__dict__["_modules"] = {}, {}

    def __setattr__(self, name, value):
        if isinstance(value, sg.nn.Parameter):
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for found in (self.__dict__["_parameters"], self.__dict__["_modules"]):
            if name in found:
                return found[name]
        raise AttributeError(name)

    def named_parameters(self):
        for name, value in self._parameters.items():
            yield name, value
        for name, module in self._modules.items():
            for inner, value in module.named_parameters():
                yield f"{name}.{inner}", value


class Scale(Module):
    def __init__(self):
        super().__init__()
        self.w = sg.nn.Parameter(sg.tensor([2.0, 3.0]))

    def forward(self, x):
        return self.w * x


class Outer(Module):
    def __init__(self):
        super().__init__()
        self.inner, self.b = Scale(), sg.nn.Parameter(sg.tensor(1.0))

    def forward(self, x):
        return self.inner.forward(x) + self.b


X = sg.tensor(np.arange(4.0).reshape(2, 2))


def parameters(net):
    return {f"layers.{k}.{name}": getattr(net.layers[k], name) for k in (0, 1) for name in ("weight", "bias")}


def test_other_tensors_stand_in_their_place():
    net, other = Net(), Net(5)
    before = net(X).tolist()
    assert functional_call(net, parameters(other), (X,)).tolist() == other(X).tolist()
    assert functional_call(net, parameters(other), X).tolist() == other(X).tolist()
    assert functional_call(net, (parameters(other), {"scale.out": sg.tensor(4.0)}), X).tolist() == (
        (2 * other(X)).tolist()
    )
    assert net(X).tolist() == before
    assert net.calls == 5


def test_gradients_by_parameters_and_for_each_sample():
    net = Net()
    params = parameters(net)
    net(X).sum().backward()
    found = grad(lambda p: functional_call(net, p, X).sum())({k: v.detach() for k, v in params.items()})
    for name, value in params.items():
        assert np.allclose(found[name].numpy(), value.grad.numpy())
    each = vmap(grad(lambda p, x: functional_call(net, p, (x,)).sum()), in_dims=(None, 0))(
        {k: v.detach() for k, v in params.items()}, X
    )
    for name, value in params.items():
        assert np.allclose(each[name].numpy().sum(0), value.grad.numpy())


def test_an_inner_loop_of_meta_learning():
    net = Net()
    params = {k: v.detach().requires_grad_() for k, v in parameters(net).items()}
    grads = sg.autograd.grad(functional_call(net, params, X).pow(2).sum(), list(params.values()), create_graph=True)
    fast = {k: v - 0.01 * g for (k, v), g in zip(params.items(), grads, strict=True)}
    functional_call(net, fast, X).pow(2).sum().backward()
    assert all(value.grad is not None for value in params.values())
    assert all(value.grad is None for value in parameters(net).values())


def test_names_that_a_class_gives_itself():
    outer = Outer()
    assert [name for name, _ in outer.named_parameters()] == ["b", "inner.w"]
    out = functional_call(outer, {"inner.w": sg.tensor([10.0, 20.0])}, sg.tensor([1.0, 1.0]))
    assert out.tolist() == [11.0, 21.0]
    assert outer.forward(sg.tensor([1.0, 1.0])).tolist() == [3.0, 4.0]
    assert isinstance(outer.inner.w, sg.nn.Parameter)


def test_tied_weights():
    class Tied:
        def __init__(self):
            self.a = sg.tensor(2.0, requires_grad=True)
            self.b = self.a

        def __call__(self, x):
            return self.a * x + self.b

    tied, one, two = Tied(), sg.tensor(1.0), sg.tensor(5.0)
    assert functional_call(tied, {"a": two}, one).item() == 10.0
    assert functional_call(tied, {"a": two}, one, tie_weights=False).item() == 7.0
    assert functional_call(tied, {"a": two, "b": two}, one).item() == 10.0
    with pytest.raises(ValueError, match=r"multiple values for keys \['a', 'b'\], which are tied"):
        functional_call(tied, {"a": two, "b": one}, one)
    assert tied.a is tied.b


def test_an_error_leaves_the_object_as_it_was():
    net = Net()
    weight = net.layers[0].weight
    with pytest.raises(RuntimeError):
        functional_call(net, {"layers.0.weight": sg.ones(7, 7)}, X)
    assert net.layers[0].weight is weight


def test_a_buffer_that_the_call_replaces():
    class Counting:
        def __init__(self):
            self.seen = sg.tensor(0.0)

        def __call__(self, x):
            self.seen = self.seen + 1
            return x

    counting, state = Counting(), {"seen": sg.tensor(4.0)}
    functional_call(counting, state, sg.ones(1))
    assert (state["seen"].item(), counting.seen.item()) == (5.0, 0.0)


def test_what_is_refused():
    net = Net()
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'w'.*\nIt has 'layers.0.weight'"):
        functional_call(net, {"w": sg.ones(1)}, X)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'layers.0.bias'"):
        functional_call(net, {"layers.0.weight": net.layers[0].weight}, X, strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(net, ({"scale.out": sg.ones(1)}, {"scale.out": sg.ones(1)}), X)
    with pytest.raises(ValueError, match="to be a dict, or a list/tuple of dicts"):
        functional_call(net, 3, X)
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="of the same class"):
        stack_module_state([Net(), Outer()])


def test_an_ensemble():
    nets = [Net(seed) for seed in (0, 3, 7)]
    params, buffers = stack_module_state(nets)
    assert list(params) == list(parameters(nets[0]))
    assert list(buffers) == ["scale.out"]
    assert all(value.is_leaf and value.requires_grad for value in params.values())
    out = vmap(lambda p, b: functional_call(nets[0], (p, b), X))(params, buffers)
    assert np.allclose(out.detach().numpy(), np.stack([net(X).detach().numpy() for net in nets]))


def test_as_torch():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)).double()
    net = Net()
    given = {name.replace("layers.1", "2").replace("layers.", ""): v for name, v in parameters(net).items()}
    theirs = {name: torch.tensor(value.detach().numpy()) for name, value in given.items()}
    want = torch.func.grad(lambda p: torch.func.functional_call(module, p, torch.tensor(X.numpy())).sum() * 2)(theirs)
    mine = grad(lambda p: functional_call(net, p, X).sum())({k: v.detach() for k, v in parameters(net).items()})
    for found, wanted in zip(mine.values(), want.values(), strict=True):
        assert np.allclose(found.numpy(), wanted.numpy())

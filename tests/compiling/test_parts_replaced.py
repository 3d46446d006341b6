"""Functions whose helpers, objects or modules are others since they were compiled are traced again."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgrad as sg
from symgrad import nn

X = np.random.default_rng(0).normal(size=(5, 3))
SCALE = 2.0


class Inner:
    def __init__(self, k: float):
        self.k = k

    def scaled(self, x: Any) -> Any:
        return x * self.k


class Outer:
    def __init__(self) -> None:
        self.inner = Inner(2.0)
        self.shift = lambda x: x + 1

    def __call__(self, x: Any) -> Any:
        return self.shift(self.inner.scaled(x))


def same(program: Any, function: Any) -> None:
    made, meant = program(X), function(sg.tensor(X)).detach().numpy()
    np.testing.assert_allclose(made.detach().numpy() if isinstance(made, sg.Tensor) else made, meant, atol=1e-14)


def test_objects_and_functions_of_an_object() -> None:
    outer = Outer()
    program = sg.compile(outer, X)
    same(program, outer)
    outer.inner = Inner(5.0)
    same(program, outer)
    outer.shift = lambda x: x - 3
    same(program, outer)
    assert program.traces == 3
    same(program, outer)
    assert program.traces == 3


def test_helpers_of_a_closure() -> None:
    helper = sg.sin

    def function(x: Any) -> Any:
        return helper(x) * 2

    program = sg.compile(function, X)
    same(program, function)
    helper = sg.cos
    same(program, function)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
        self.k = 2.0

    def forward(self, x: Any) -> Any:
        return self.inner(x) * self.k


def test_what_modules_hold() -> None:
    net = Net().double().eval()

    def total(x: Any) -> Any:
        return net(x).sum()

    programs = ((sg.compile(net, X), net), (sg.compile(total, X), total), (sg.jit(net), net))
    for change in (
        lambda: None,
        lambda: setattr(net.inner[0], "weight", nn.Parameter(sg.ones(4, 3, dtype=sg.float64))),
        lambda: setattr(net.inner[0], "bias", None),
        lambda: net.inner[1].running_mean.add_(3),
        lambda: net.inner.append(nn.Tanh()),
        lambda: setattr(net, "inner", nn.Linear(3, 4).double()),
        lambda: setattr(net, "k", 3.0),
        lambda: net.inner.register_forward_hook(lambda *args: args[-1] * 2),
        lambda: net.inner._forward_hooks.clear(),
        lambda: net.load_state_dict({name: value + 1 for name, value in net.state_dict().items()}),
    ):
        change()
        for program, function in programs:
            same(program, function)


class Doubling(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2 if self.training else x


def test_training_is_looked_at() -> None:
    net = nn.Sequential(Doubling())
    program = sg.compile(net, X)
    same(program, net)
    net.eval()
    same(program, net)
    net.train()
    same(program, net)


def test_entries_of_arrays_from_outside_that_python_reads() -> None:
    """What NumPy and Python compute of them is a number of the program, which is traced again where they changed."""
    array, tensor, weight = np.ones(3), sg.ones(3, dtype=sg.float64), np.ones(3)
    functions = [
        lambda x: x * array.sum(),
        lambda x: x * array[0],
        lambda x: x * sg.tensor(array),
        lambda x: x if array[0] > 5 else x * 2,
        lambda x: x * tensor[0],
        lambda x: x * tensor.sum().item(),
    ]
    programs = [sg.compile(function, X) for function in functions]
    read_anew = sg.compile(lambda x: x @ weight, X)
    array[0], tensor[0], weight[0] = 9, 7, 5
    for program, function in zip(programs, functions, strict=True):
        same(program, function)
    np.testing.assert_allclose(read_anew(X), X @ weight)
    assert read_anew.traces == 1


def test_arrays_that_a_program_reads_and_python_too() -> None:
    """``x * A / A.sum()``: the program has the entries as they are, but their sum was what it had been, silently."""
    array, other = np.ones(3), np.ones(3)
    tensor = sg.ones(3, dtype=sg.float64)

    def by_a_helper(x, scale):
        return x * scale / scale.sum()

    functions = [
        lambda x: x * array / array.sum(),
        lambda x: by_a_helper(x, array),
        lambda x: sum(row * x for row in [array]) * [array][0].max(),
        lambda x: x * (copy := array) / copy.sum(),
        lambda x: x * tensor / tensor.numpy().sum(),
        lambda x: x * tensor / tensor.sum().item(),
        lambda x: x * tensor[0] * tensor.sum(),
    ]
    programs = [sg.compile(function, X) for function in functions]
    read_anew = sg.compile(lambda x: (x * other).sum(), X)
    for k in range(3):
        array[k] = other[k] = tensor[k] = 9
        for program, function in zip(programs, functions, strict=True):
            same(program, function)
        np.testing.assert_allclose(read_anew(X), (X * other).sum())
    assert read_anew.traces == 1

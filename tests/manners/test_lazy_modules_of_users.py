"""Lazy layers that users write, parameters without entries, and hooks of what modules hold, beside torch's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore:.*Lazy modules are a new feature")]


def rooms(t):
    return (
        importlib.import_module(f"{t.__name__}.nn.{name}") for name in ("parameter", "modules.lazy", "modules.module")
    )


def layer(t):
    parameter, lazy, _ = rooms(t)

    class Own(lazy.LazyModuleMixin, t.nn.Linear):
        cls_to_become = t.nn.Linear

        def __init__(self, out, bias=True):
            super().__init__(0, 0, bias)
            self.out_features = out
            self.weight, self.bias = parameter.UninitializedParameter(), parameter.UninitializedParameter()

        def reset_parameters(self):
            if not self.has_uninitialized_params() and self.in_features:
                super().reset_parameters()

        def initialize_parameters(self, input):
            with t.no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                self.bias.materialize((self.out_features,))
                self.reset_parameters()

    return Own


def test_lazy_layers_of_users():
    found = []
    for t in (sg, torch):
        made = layer(t)(3)
        row = [made.has_uninitialized_params(), [n for n, _ in made.named_parameters()]]
        t.manual_seed(0)
        out = made(t.ones(2, 4))
        out.sum().backward()
        row += [type(made) is t.nn.Linear, type(made.weight).__name__, made.weight.requires_grad, repr(made)]
        found.append((row, out.detach().numpy(), made.weight.grad.numpy()))
        made(t.ones(5, 4))
        with pytest.raises(RuntimeError):
            made(t.ones(5, 3))
    assert found[0][0] == found[1][0]
    for a, b in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_lazy_layers_take_the_shapes_of_what_is_loaded():
    for t in (sg, torch):
        made, other = layer(t)(3), t.nn.Linear(4, 3)
        made.load_state_dict(other.state_dict())
        assert t.equal(made.weight, other.weight)
        assert not made.has_uninitialized_params()


def test_lazy_layers_of_the_library_are_such_layers():
    for t in (sg, torch):
        _, lazy, _ = rooms(t)
        for made, x in ((t.nn.LazyLinear(2), t.ones(2, 3)), (t.nn.LazyConvTranspose1d(2, 1), t.ones(2, 3, 4))):
            assert isinstance(made, lazy.LazyModuleMixin)
            assert made.has_uninitialized_params()
            seen = []
            made.register_forward_pre_hook(lambda layer, args, seen=seen: seen.append(layer.weight.shape[0]))
            made(x)
            made(x)
            assert not isinstance(made, lazy.LazyModuleMixin)
            assert len(made._forward_pre_hooks) == 1
            assert len(seen) == 2


def test_layers_that_stay_without_entries_are_refused():
    for t in (sg, torch):
        parameter, lazy, _ = rooms(t)

        class Empty(lazy.LazyModuleMixin, t.nn.Module):
            def __init__(self, parameter=parameter):
                super().__init__()
                self.w = parameter.UninitializedParameter()

        with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Empty"):
            Empty()(t.ones(1))
        Empty.initialize_parameters = lambda self, x: None
        with pytest.raises(RuntimeError, match="has not been fully initialized"):
            Empty()(t.ones(1))


def test_parameters_and_buffers_without_entries():
    for t in (sg, torch):
        parameter, _, _ = rooms(t)
        p, b = t.nn.UninitializedParameter(dtype=t.float64), t.nn.UninitializedBuffer(persistent=False)
        assert parameter.is_lazy(p)
        assert parameter.is_lazy(b)
        assert not parameter.is_lazy(t.nn.Parameter(t.ones(1)))
        assert [repr(p), repr(b)] == ["<UninitializedParameter>", "<UninitializedBuffer>"]
        assert isinstance(p, t.nn.Parameter)
        assert isinstance(b, t.nn.Buffer)
        assert not b.persistent
        p.materialize((2, 3))
        b.materialize((4,), dtype=t.int64)
        assert type(p) is t.nn.Parameter
        assert type(b) is t.Tensor
        assert (p.shape, p.dtype, p.requires_grad, b.shape, b.dtype) == ((2, 3), t.float64, True, (4,), t.int64)


def test_parameters_without_entries_are_not_computed_with():
    for t in (sg, torch):
        for made in (t.nn.UninitializedParameter(), t.nn.UninitializedBuffer(), t.nn.LazyLinear(2).weight):
            for function in (lambda p: p + 1, lambda p: p.sum(), t.exp, lambda p, t=t: t.ones(3) * p, t.linalg.norm):
                with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
                    function(made)


def test_hooks_of_what_modules_hold():
    found = []
    for t in (sg, torch):
        _, _, module = rooms(t)
        seen = []

        def note(kind, seen=seen):
            return lambda holder, name, what: seen.append((kind, type(holder).__name__, name))

        handles = [
            getattr(module, f"register_module_{kind}_registration_hook")(note(kind))
            for kind in ("parameter", "buffer", "module")
        ]

        class Net(t.nn.Module):
            def __init__(self, t=t):
                super().__init__()
                self.norm = t.nn.BatchNorm1d(2)
                self.add_module("tanh", t.nn.Tanh())
                self.w = t.nn.Parameter(t.ones(1))
                self.register_parameter("none", None)
                self.norm.running_mean = t.zeros(2)
                self.norm.running_mean = self.norm.running_var = self.tanh = None

        Net()
        for handle in handles:
            handle.remove()
        Net()
        with module.register_module_module_registration_hook(lambda holder, name, child, t=t: t.nn.Identity()):
            assert isinstance(Net().norm, t.nn.Identity)
        with module.register_module_parameter_registration_hook(
            lambda holder, name, p, t=t: None if p is None else t.nn.Parameter(p.detach() * 5)
        ):
            assert Net().w.item() == 5
        found.append(seen)
    assert found[0] == found[1]

"""Small things that programs written for torch rely on: operators of strangers, warnings of losses, devices."""

from __future__ import annotations

import copy
import importlib
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer


def node(x: Any) -> str:
    return type(x.grad_fn).__name__


EXPANDED = {
    "expand": lambda t, x: x.expand(2),
    "expand by -1": lambda t, x: x.expand((-1,)),
    "expand_as": lambda t, x: x.expand_as(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x, (2,)),
    "broadcast_tensors": lambda t, x: t.broadcast_tensors(x, t.ones(2))[0],
    "meshgrid": lambda t, x: t.meshgrid(x, indexing="ij")[0],
}


@pytest.mark.parametrize("name", EXPANDED)
def test_expanded_to_its_own_shape(name: str) -> None:
    """A view with a node of its own, as any other expanded tensor is."""

    def answers(t: Any) -> list[Any]:
        x = t.tensor([1.0, 2.0], requires_grad=True)
        y = EXPANDED[name](t, x)
        y.retain_grad()
        (y * y).sum().backward()
        return [y is x, node(y), y.is_leaf, y._base is x, y._is_view(), y.grad.tolist(), x.grad.tolist()]

    assert answers(sg) == answers(torch)


def test_formula_of_what_is_expanded_to_its_own_shape() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    y, plain = (x.expand(2) * 3).sum(), (x * 3).sum()
    assert str(sg.latex(y)) == str(sg.latex(plain))
    assert [str(sg.autograd.grad(z, x)[0].expr) for z in (y, plain)] == ["3*ones(n)"] * 2


def test_nodes_of_incomplete_gammas() -> None:
    def answers(t: Any) -> list[str]:
        a, x = t.tensor([1.0, 2.0]), t.tensor([0.5, 3.0], requires_grad=True)
        made = [t.special.gammainc(a, x), t.special.gammaincc(a, x), t.igamma(a, x), t.igammac(a, x)]
        return [*map(node, made), *(node(t.autograd.grad(y.sum(), x, create_graph=True)[0]) for y in made)]

    assert answers(sg) == answers(torch)


class Row(tuple):
    """Tensors side by side, as solvers of differential equations keep their state."""

    __slots__ = ()

    def __radd__(self, other: Any) -> Any:
        return Row(other + x for x in self)

    def __rmul__(self, other: Any) -> Any:
        return Row(other * x for x in self)

    def __rsub__(self, other: Any) -> Any:
        return Row(other - x for x in self)

    def __rtruediv__(self, other: Any) -> Any:
        return Row(other / x for x in self)

    def __rpow__(self, other: Any) -> Any:
        return Row(other**x for x in self)


class Lazy:
    """An operand of somebody else's making, such as a linear operator."""

    def __radd__(self, other: Any) -> str:
        return f"{other.tolist()} + lazy"

    __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = __rpow__ = __rmod__ = __rfloordiv__ = __radd__


OPERATORS = ["+", "-", "*", "/", "**"]


@pytest.mark.parametrize("sign", OPERATORS)
def test_operands_with_reflected_operators(sign: str) -> None:
    """Such an operand decides itself what a tensor in front of it means."""

    def answers(t: Any) -> list[Any]:
        x = t.tensor(2.0, requires_grad=True)
        made = eval(f"x {sign} row", {"x": x, "row": Row((t.ones(2), t.ones(3)))})  # noqa: S307
        (slope,) = t.autograd.grad(made[1].sum(), x)
        return [type(made).__name__, [p.tolist() for p in made], slope.item()]

    assert answers(sg) == answers(torch)
    for t in (sg, torch):
        for x in (t.tensor(2.0, requires_grad=True), t.ones(2)):
            assert eval(f"x {sign} lazy", {"x": x, "lazy": Lazy()}) == f"{x.tolist()} + lazy"  # noqa: S307


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("stranger", ["None", "{}", "object()"])
def test_operands_that_are_none(sign: str, stranger: str) -> None:
    def words(t: Any) -> str:
        with pytest.raises(TypeError) as caught:
            eval(f"x {sign} {stranger}", {"x": t.ones(2)})  # noqa: S307
        return str(caught.value)

    assert words(sg) == words(torch)


def test_copies_without_waiting() -> None:
    for t in (sg, torch):
        x, y = t.zeros(2), t.ones(2, requires_grad=True)
        assert x.copy_(y, non_blocking=True) is x
        assert node(x) == "CopyBackwards"
        assert t.zeros(2).copy_(t.ones(2), True).tolist() == [1.0, 1.0]


SIZES = [((2,), (2, 1)), ((2, 1), (2,)), ((), (1,)), ((2,), (2,))]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_warn_of_targets_that_are_broadcast(name: str, sizes: Any) -> None:
    def warned(t: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(t.nn.functional, name)(*(t.full(s, 0.5) for s in sizes))
        return [str(w.message) for w in caught if w.category is UserWarning]

    assert warned(sg) == warned(torch)
    assert len(warned(sg)) == (sizes[0] != sizes[1])


@pytest.mark.parametrize("sizes", SIZES[:3])
@pytest.mark.parametrize("name", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
def test_losses_refuse_targets_of_other_sizes(name: str, sizes: Any) -> None:
    """A column of scores beside a vector of labels would be compared each with each."""

    def words(t: Any) -> str:
        with pytest.raises(ValueError, match="size") as caught:
            getattr(t.nn.functional, name)(*(t.full(s, 0.5) for s in sizes))
        return str(caught.value)

    assert words(sg) == words(torch)


def test_densities_tell_what_to_write() -> None:
    densities = importlib.import_module("symgrad.distributions")
    assert sg.distributions is densities
    with pytest.raises(AttributeError, match="log-density"):
        densities.Skellam  # noqa: B018


@pytest.mark.filterwarnings("ignore:.torch.jit", "ignore:.*pt_api:DeprecationWarning")
def test_scripted_functions_run_as_they_are() -> None:
    for t in (sg, torch):

        @t.jit.ignore
        def inner(x: Any) -> Any:
            return x * 3

        x = t.ones(2, requires_grad=True)
        assert inner(x).tolist() == [3.0, 3.0]
        assert not t.jit.is_scripting()
        assert not t.jit.is_tracing()
        assert not t.compiler.is_compiling()

        class Scripted(t.jit.ScriptModule):
            def __init__(self):
                super().__init__()
                self.layer = t.nn.Linear(2, 1)

            @t.jit.script_method
            def forward(self, x):
                return self.layer(x)

        if t is sg:  # torch reads the source
            assert Scripted()(x).requires_grad
            assert isinstance(Scripted(), sg.nn.Module)
        assert t.jit.annotate(list[int], [3]) == [3]
        assert t.jit.isinstance([3], list[int])
        assert not t.jit.isinstance([3.0], list[int])
        assert t.jit.wait(t.jit.fork(lambda y, by: y * by, x, by=2)).tolist() == [2.0, 2.0]
        with t.jit.optimized_execution(True):
            pass
    double = sg.jit.script(lambda x: x * 2)
    assert sg.jit.freeze(double) is double
    assert sg.jit.script_if_tracing(double) is double
    assert double(x := sg.ones(2, requires_grad=True)).requires_grad
    assert sg.jit.trace(double, x)(x).tolist() == [2.0, 2.0]


def test_which_device_there_is():
    """The ways in which programs look for a faster device, down to the CPU."""
    assert (sg.accelerator.current_accelerator().type if sg.accelerator.is_available() else "cpu") == "cpu"
    assert not any(kind.is_available() or kind.device_count() for kind in (sg.cuda, sg.mps, sg.xpu, sg.accelerator))
    assert sg.amp.GradScaler is sg.GradScaler
    assert [sg.get_autocast_dtype(kind) for kind in ("cuda", "cpu")] == [sg.float16, sg.bfloat16]
    assert (sg.get_autocast_gpu_dtype(), sg.get_autocast_cpu_dtype()) == (sg.float16, sg.bfloat16)
    assert not sg.is_autocast_cpu_enabled()
    assert not sg.amp.is_autocast_available("cuda")
    assert sg.is_autocast_cache_enabled()


def test_default_devices_by_with() -> None:
    for t in (sg, torch):
        with t.device("cpu"):
            assert t.ones(2).device.type == "cpu"
    with pytest.raises(RuntimeError, match="there is no device 'cuda'"), sg.device("cuda"):
        pass


def test_skeletons_of_modules_for_functional_calls() -> None:
    """The tutorial on ensembles calls one module, which has no memory of its own, with the weights of several."""
    found = []
    for t in (sg, torch):
        t.manual_seed(0)
        models = [t.nn.Linear(2, 3) for _ in range(4)]
        weights, buffers = t.func.stack_module_state(models)
        base = copy.deepcopy(models[0]).to("meta")

        def one(w, b, x, base=base, t=t):
            return t.func.functional_call(base, (w, b), (x,))

        found.append(t.vmap(one, in_dims=(0, 0, None))(weights, buffers, t.ones(5, 2)).detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_batch_norms_without_running_statistics() -> None:
    for t in (sg, torch):
        net = t.nn.Sequential(t.nn.BatchNorm1d(2), t.nn.Sequential(t.nn.InstanceNorm1d(2)))
        assert t.func.replace_all_batch_norm_modules_(net) is net
        assert net[0].running_mean is net[0].running_var is net[0].num_batches_tracked is None
        assert not net[0].track_running_stats
        x = t.ones(3, 2)
        out = t.func.vmap(
            lambda w, net=net, t=t: t.func.functional_call(net[0], {"weight": w}, (t.arange(6.0).view(3, 2),))
        )(t.ones(4, 2))
        assert out.shape == (4, 3, 2)
        f = t.func.functionalize(lambda x: x.clone().add_(1))
        assert f(x).tolist() == [[2.0, 2.0]] * 3


def test_assert_allclose_of_old_programs() -> None:
    for t in (sg, torch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t.testing.assert_allclose(t.ones(2), np.ones(2))
            t.testing.assert_allclose(t.tensor([float("nan")]), t.tensor([float("nan")]))
            with pytest.raises(AssertionError):
                t.testing.assert_allclose(t.ones(2), t.ones(2) * 1.1)

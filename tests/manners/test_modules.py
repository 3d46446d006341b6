"""nn.Module: what it holds, by which names, how it is called, saved, moved and changed."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

import symgrad as sg
from symgrad import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(3, 4)
        self.inner = nn.Sequential(nn.Tanh(), nn.Linear(4, 2, bias=False))
        self.scale = nn.Parameter(sg.tensor(2.0))
        self.register_buffer("shift", sg.zeros(2))
        self.register_buffer("scratch", sg.ones(1), persistent=False)
        self.none = None

    def forward(self, x: Any) -> Any:
        return self.inner(self.fc1(x)) * self.scale + self.shift


@pytest.fixture
def net() -> Net:
    sg.manual_seed(0)
    return Net()


def test_parameters_are_found_by_their_paths(net: Net) -> None:
    assert [name for name, _ in net.named_parameters()] == ["scale", "fc1.weight", "fc1.bias", "inner.1.weight"]
    assert [name for name, _ in net.named_buffers()] == ["shift", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "fc1", "inner", "inner.0", "inner.1"]
    assert [name for name, _ in net.named_children()] == ["fc1", "inner"]
    assert [name for name, _ in net.named_parameters("top", recurse=False)] == ["top.scale"]
    assert net.get_parameter("inner.1.weight") is net.inner[1].weight
    assert net.get_submodule("inner.0") is net.inner[0]
    assert net.get_buffer("shift") is net.shift
    with pytest.raises(AttributeError, match="is not an nn.Module"):
        net.get_submodule("scale")
    with pytest.raises(AttributeError, match="has no attribute `fc7`"):
        net.get_parameter("fc7.weight")


def test_shared_parameters_are_told_once(net: Net) -> None:
    net.again = net.fc1
    assert len(list(net.parameters())) == 4
    assert len(list(net.named_parameters(remove_duplicate=False))) == 6


def test_parameters_have_the_names_of_their_places_in_formulas(net: Net) -> None:
    assert [p.name for p in net.parameters()] == ["scale", "fc1_weight", "fc1_bias", "inner_1_weight"]
    assert [p.name for p in nn.Sequential(nn.Linear(1, 1), net.inner).parameters()][0] == "weight_0"
    x = sg.ones(5, 3, requires_grad=True)
    net.fc1(x).sum().backward()
    assert str(x.grad.expr) == "outer(ones(p), sum(fc1_weight, 0))"


def test_names_of_the_user_stay() -> None:
    layer = nn.Linear(2, 1)
    layer.weight.name = "W"
    outer = nn.ModuleDict({"head": layer})
    assert [p.name for p in outer.parameters()] == ["W", "head_bias"]


def test_the_gradient_of_a_network_is_a_formula_of_its_parameters() -> None:
    net = nn.Sequential(OrderedDict(first=nn.Linear(3, 2, bias=False), second=nn.Tanh()))
    net(sg.ones(4, 3).requires_grad_()).sum().backward()
    assert "first_weight" in str(net.first.weight.grad.expr)


def test_what_cannot_be_held_is_refused(net: Net) -> None:
    for call, words in (
        (lambda: setattr(net, "fc1", 3), "cannot assign 'int' as child module 'fc1'"),
        (lambda: setattr(net, "scale", sg.ones(1)), "cannot assign 'torch.FloatTensor' as parameter 'scale'"),
        (lambda: setattr(net, "shift", 3), "cannot assign 'int' as buffer 'shift'"),
        (lambda: net.register_parameter("a.b", None), 'parameter name can\'t contain "."'),
        (lambda: net.register_parameter("", None), "can't be empty string"),
        (lambda: net.register_parameter("forward", None), "attribute 'forward' already exists"),
        (lambda: net.register_parameter("p", sg.ones(1)), "torch.nn.Parameter or None required"),
        (lambda: net.register_buffer("b", 3), "torch Tensor or None required"),
        (lambda: net.add_module("m", 3), "int is not a Module subclass"),
        (lambda: net.to(sg.int32), "only accepts floating point or complex dtypes"),
        (lambda: net.train(1), "training mode is expected to be boolean"),  # type: ignore[arg-type]
        (lambda: net.load_state_dict(3), "Expected state_dict to be dict-like"),  # type: ignore[arg-type]
        (lambda: nn.Module()(3), 'is missing the required "forward" function'),
        (lambda: net.nothing, "'Net' object has no attribute 'nothing'"),
    ):
        with pytest.raises((TypeError, KeyError, AttributeError, NotImplementedError), match=words.split("(")[0]):
            call()


@pytest.mark.parametrize(
    "what", [lambda: nn.Parameter(sg.ones(1)), lambda: nn.Linear(1, 1)], ids=["parameter", "module"]
)
def test_nothing_is_held_before_init(what: Any) -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.held = what()

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Early()


def test_attributes_change_their_kind(net: Net) -> None:
    net.scale = None
    assert net.scale is None
    assert "scale" in net._parameters
    net.fc1 = nn.Parameter(sg.ones(2))
    assert "fc1" not in net._modules
    assert net.fc1.shape == (2,)
    del net.shift
    assert not hasattr(net, "shift")
    net.mean = nn.Buffer(sg.ones(2), persistent=False)
    assert "mean" not in net.state_dict()
    assert isinstance(net.mean, nn.Buffer)


def test_states_are_copied_in(net: Net) -> None:
    state = net.state_dict()
    assert list(state) == ["scale", "shift", "fc1.weight", "fc1.bias", "inner.1.weight"]
    assert not state["fc1.weight"].requires_grad
    other = Net()
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert sg.equal(other.fc1.weight, net.fc1.weight)
    assert other.fc1.weight is not net.fc1.weight
    state["more"] = state.pop("fc1.bias")
    with pytest.raises(RuntimeError, match=r'(?s)Missing key.*"fc1.bias".*Unexpected key.*"more"'):
        other.load_state_dict(state)
    assert other.load_state_dict(state, strict=False) == (["fc1.bias"], ["more"])
    state["scale"] = sg.ones(3)
    with pytest.raises(RuntimeError, match="size mismatch for scale: copying a param with shape"):
        other.load_state_dict(state, strict=False)


def test_states_may_be_assigned(net: Net) -> None:
    state = {name: value.double() for name, value in net.state_dict().items()}
    net.load_state_dict(state, assign=True)
    assert net.fc1.weight.dtype == sg.float64
    assert isinstance(net.fc1.weight, nn.Parameter)


def test_extra_state_goes_along() -> None:
    class Counted(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    first, second = Counted(), Counted()
    first.count = 5
    second.load_state_dict(first.state_dict())
    assert second.count == 5


def test_moves_and_modes(net: Net) -> None:
    before = net.fc1.weight
    net(sg.ones(1, 3)).sum().backward()
    assert net.double() is net
    assert net.fc1.weight is before
    assert (before.dtype, before.grad.dtype, net.shift.dtype) == (sg.float64,) * 3
    assert net.to(sg.float16).shift.dtype == sg.float16
    assert not net.eval().inner[0].training
    assert net.train().inner[0].training
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())
    net.zero_grad(set_to_none=False)
    assert before.grad.abs().sum() == 0
    net.zero_grad()
    assert before.grad is None
    seen: list[str] = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Tanh", "Linear", "Sequential", "Net"]


def test_forward_hooks_are_called_in_order(net: Net) -> None:
    log: list[Any] = []
    net.register_forward_pre_hook(lambda _, args: (args[0] * 0,))
    net.register_forward_pre_hook(lambda *_: log.append("first"), prepend=True)
    handle = net.register_forward_hook(lambda _, args, result: log.append(args[0].sum().item()) or result + 1)
    net.register_forward_hook(lambda _, args, kwargs, result: log.append(kwargs), with_kwargs=True)
    assert sg.equal(net(sg.ones(1, 3)), net.forward(sg.zeros(1, 3)) + 1)
    assert log == ["first", 0.0, {}]
    handle.remove()
    assert sg.equal(net(sg.ones(1, 3)), net.forward(sg.zeros(1, 3)))


def test_hooks_that_are_always_called_are_called_after_errors() -> None:
    class Failing(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError(x)

    module, log = Failing(), []
    module.register_forward_hook(lambda *args: log.append(args[-1]), always_call=True)
    with pytest.raises(ValueError, match="3"):
        module(3)
    assert log == [None]


def test_backward_hooks_see_and_change_gradients(net: Net) -> None:
    log: list[Any] = []
    net.fc1.register_full_backward_hook(lambda _, given, taken: log.append((given[0] is None, taken[0].shape)))
    net.inner.register_full_backward_hook(lambda _, given, taken: (given[0] * 0,))
    net.inner.register_full_backward_pre_hook(lambda _, taken: log.append(len(taken)))
    x = sg.ones(1, 3, requires_grad=True)
    net(x).sum().backward()
    assert log == [1, (False, (1, 4))]
    assert x.grad.abs().sum() == 0
    assert net.inner[1].weight.grad.abs().sum() > 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        net(sg.ones(1, 3)).sum().backward()
    assert "no inputs require gradients" in str(told[0].message)


def test_older_backward_hooks_are_those_of_the_last_node(net: Net) -> None:
    log: list[Any] = []
    net.fc1.register_backward_hook(lambda module, given, taken: log.append((type(module).__name__, taken[0].shape)))
    net(sg.ones(1, 3)).sum().backward()
    assert log == [("Linear", (1, 4))]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        net.fc1.register_full_backward_hook(lambda *_: None)


def test_containers() -> None:
    row = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    assert [len(row[1:]), len(row + row), len(row * 2)] == [2, 6, 6]
    assert row[-1] is row[2]
    row.insert(1, nn.ReLU())
    del row[0]
    assert [name for name, _ in row.named_children()] == ["0", "1", "2"]
    with pytest.raises(IndexError, match="out of range"):
        row[3]
    many = nn.ModuleList(nn.Tanh() for _ in range(3))
    many += [nn.Linear(1, 1)]
    assert "(0-2): 3 x Tanh()" in repr(many)
    assert type(many.pop(-1)) is nn.Linear
    heads = nn.ModuleDict([("a", nn.Tanh())])
    heads["b"] = nn.ReLU()
    assert (list(heads), "b" in heads, len(heads)) == (["a", "b"], True, 2)
    powers = nn.ParameterList([sg.ones(1), 3])
    powers.append(sg.zeros(2))
    assert "(0): Parameter containing: [torch.float32 of size 1]" in repr(powers)
    assert [name for name, _ in powers.named_parameters()] == ["0", "2"]
    held = nn.ParameterDict({"u": sg.ones(2)}) | {"v": sg.zeros(1)}
    assert sorted(held.state_dict()) == ["u", "v"]
    assert held.get("w") is None
    assert held.popitem()[0] == "v"


def test_states_of_old_versions_are_changed() -> None:
    class Newer(nn.Linear):
        def __setstate__(self, state: Any) -> None:
            super().__setstate__({"scale": 2, **state})

    assert copy.deepcopy(Newer(1, 1)).scale == 2


def test_empty_memory(net: Net) -> None:
    before = net.fc1.weight
    assert net.to_empty(device="cpu").fc1.weight is before
    assert (before.shape, before.dtype, before.requires_grad) == ((4, 3), sg.float32, True)


def test_copies_are_apart(net: Net) -> None:
    net.tied = net.fc1
    other = copy.deepcopy(net)
    assert other.tied is other.fc1
    assert other.fc1.weight is not net.fc1.weight
    assert sg.equal(other.fc1.weight, net.fc1.weight)
    assert other.fc1.weight.name == "fc1_weight"


def test_functional_call_and_transforms(net: Net) -> None:
    params = dict(net.named_parameters())
    x = sg.randn(6, 3)

    def loss(params: Any, x: Any) -> Any:
        return (sg.func.functional_call(net, params, (x,)) ** 2).sum()

    whole = sg.func.grad(loss)(params, x)
    each = sg.vmap(sg.func.grad(loss), (None, 0))(params, x)
    for name, gradient in whole.items():
        sg.testing.assert_close(each[name].sum(0), gradient, rtol=1e-4, atol=1e-5)


def test_formulas_and_programs_of_modules_have_the_arguments_of_forward() -> None:
    assert list(inspect.signature(Net()).parameters) == ["x"]
    assert list(inspect.signature(nn.MSELoss()).parameters)[:2] == ["input", "target"]
    assert list(inspect.signature(nn.MSELoss).parameters) == ["size_average", "reduce", "reduction"]
    assert list(inspect.signature(nn.Linear).parameters)[:2] == ["in_features", "out_features"]
    assert str(sg.formula(nn.Sequential(nn.Tanh()), (3,))) == "tanh(input)"
    assert "def program(input, target):" in sg.compile(nn.MSELoss(), sg.ones(3), sg.ones(3)).source


def test_a_star_imports_layers() -> None:
    names: dict[str, Any] = {}
    exec("from symgrad.nn import *", names)
    assert {"Linear", "Module", "functional", "Parameter"} <= set(names)


def test_gradients_of_a_module_are_checked() -> None:
    layer = nn.Linear(3, 2).double()
    assert sg.autograd.gradcheck(layer, (sg.randn(4, 3, dtype=sg.float64, requires_grad=True),))


def test_a_module_is_compiled_with_its_parameters() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    params = dict(net.named_parameters())
    program = sg.compile(lambda p, x: sg.func.functional_call(net, p, (x,)).sum(), params, sg.randn(5, 3).double())
    x = sg.randn(7, 3).double()
    assert abs(program({k: p.detach().numpy() for k, p in params.items()}, x.numpy()) - net(x).sum().item()) < 1e-12


def test_hooks_of_all_modules_are_called_before_those_of_one(net: Net) -> None:
    log: list[Any] = []
    everywhere = nn.modules.module
    net.inner.register_forward_hook(lambda *_: log.append("own"))
    with (
        everywhere.register_module_forward_pre_hook(lambda module, _: log.append(type(module).__name__)),
        everywhere.register_module_forward_hook(lambda *_: log.append("all")),
        everywhere.register_module_full_backward_pre_hook(lambda module, _: log.append(f"to {type(module).__name__}")),
        everywhere.register_module_full_backward_hook(lambda module, *_: log.append("done")),
    ):
        result = net(sg.ones(1, 3, requires_grad=True))
        assert log == ["Net", "Linear", "all", "Sequential", "Tanh", "all", "Linear", "all", "all", "own", "all"]
        log.clear()
        result.sum().backward()
    assert log == [
        "to Net", "to Sequential", "to Linear", "done", "to Tanh", "done", "done", "to Linear", "done", "done",
    ]  # fmt: skip
    log.clear()
    net(sg.ones(1, 3))
    assert log == ["own"]


def test_helpers_of_modules() -> None:
    helpers = nn.modules.utils
    assert helpers._pair(3) == (3, 3)
    assert helpers._ntuple(5)([1, 2]) == (1, 2)
    assert helpers._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    state = {f"module.{name}": value for name, value in nn.Linear(2, 2).state_dict().items()}
    helpers.consume_prefix_in_state_dict_if_present(state, "module.")
    nn.Linear(2, 2).load_state_dict(state)


@pytest.mark.parametrize("name", ["SyncBatchNorm", "Container", "CrossMapLRN2d"])
def test_modules_that_are_not_here_say_what_to_write(name: str) -> None:
    kind = getattr(nn, name)
    assert issubclass(kind, nn.Module)
    assert not isinstance(nn.Identity(), kind)
    with pytest.raises(NotImplementedError, match=f"nn.{name} is not here: .*(is|are) what it"):
        kind(3)
    with pytest.raises(AttributeError, match="Nothing"):
        nn.Nothing  # noqa: B018


def test_names_of_a_users_own_are_none_of_the_librarys() -> None:
    """A class of the user's may call its methods as the library calls what torch's modules do not have."""
    torch = pytest.importorskip("torch")
    theirs = set(dir(torch.nn.Module)) | set(vars(torch.nn.Module()))
    ours = {*dir(sg.nn.Module), *vars(sg.nn.Module())} - theirs
    told = ("_layer_", "_shelves", "_state_dict_hooks_of_changes")
    mangled = tuple(f"_{cls.__name__}__" for cls in sg.nn.Module.__mro__)
    assert [name for name in ours if not name.startswith(("__", *told, *mangled))] == []

    class Own(nn.Linear):
        _shown, _usual = None, 3

        def _check(self) -> str:
            return "own"

        _after = _before = _load = _fill = _take = _get = _named = _floats = _replace = _check

    layer = Own(2, 1)
    layer.register_forward_hook(lambda *_: None)
    layer.load_state_dict(layer.double().state_dict())
    layer.more = nn.Parameter(sg.ones(1))
    assert layer(sg.ones(1, 2, dtype=sg.float64)).shape == (1, 1)
    assert repr(layer) == "Own(in_features=2, out_features=1, bias=True)"
    assert layer.get_parameter("weight") is layer.weight


LAYERS: dict[str, tuple[tuple[Any, ...], Callable[[Any], Any]]] = {
    "Conv2d": ((1, 2, 2), lambda net: net(sg.ones(1, 1, 3, 3))),
    "LSTM": ((3, 2), lambda net: net(sg.ones(4, 1, 3))[0]),
    "LSTMCell": ((3, 2), lambda net: net(sg.ones(1, 3))[0]),
    "GRUCell": ((3, 2), lambda net: net(sg.ones(1, 3))),
    "RNNCell": ((3, 2), lambda net: net(sg.ones(1, 3))),
    "BatchNorm1d": ((3,), lambda net: net(sg.ones(4, 3))),
    "LayerNorm": ((3,), lambda net: net(sg.ones(4, 3))),
    "Dropout": ((0.0,), lambda net: net(sg.ones(3))),
    "ZeroPad2d": ((1,), lambda net: net(sg.ones(1, 1, 2, 2))),
    "MaxPool1d": ((2,), lambda net: net(sg.ones(1, 1, 4))),
    "Embedding": ((3, 2), lambda net: net(sg.tensor([0, 2]))),
    "MSELoss": ((), lambda net: net(sg.ones(3), sg.zeros(3))),
}


@pytest.mark.parametrize("name", list(LAYERS))
def test_layers_that_a_user_derives_may_have_names_of_their_own(name: str) -> None:
    """What a class is called, and what it calls its own settings and methods, is nobody else's business."""
    given, called = LAYERS[name]
    base = getattr(nn, name)
    theirs = ["settings", "function", "trains", "axes", "modes", "states", "ndims", "kind", "_scale", "_run", "_begin"]
    theirs += ["_settings", "_function", "_set_up", "_shapes", "_batched", "_each", "_kind", "_out_size", "_as_given"]
    body = {key: property(lambda _: 1 / 0) for key in theirs}
    plain, own = base(*given), type("Mine", (base,), body)(*given)
    own.load_state_dict(plain.state_dict())
    assert sg.equal(called(own), called(plain))
    assert repr(own) == repr(plain).replace(f"{name}(", "Mine(", 1)

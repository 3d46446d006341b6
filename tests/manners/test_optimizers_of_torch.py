"""torch's optimisers and schedules: its own files, run with tensors of this library; what stands there without it."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.optim import absent, borrowed

OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    "Adam": {"lr": 0.05, "amsgrad": True},
    "AdamW": {"lr": 0.05, "maximize": True},
    "Adamax": {"lr": 0.05},
    "NAdam": {"lr": 0.05, "decoupled_weight_decay": True, "weight_decay": 0.1},
    "RAdam": {"lr": 0.05},
    "RMSprop": {"lr": 0.01, "centered": True, "momentum": 0.5},
    "Rprop": {"lr": 0.05},
    "Adagrad": {"lr": 0.05, "lr_decay": 0.1},
    "Adadelta": {"lr": 0.5},
    "ASGD": {"lr": 0.05, "t0": 2.0},
    "Adafactor": {"lr": 0.05},
    "Muon": {"lr": 0.05},
    "LBFGS": {"max_iter": 3, "line_search_fn": "strong_wolfe"},
}
SCHEDULES: dict[str, Any] = {
    "CosineAnnealingLR": lambda room, o: room.CosineAnnealingLR(o, 5),
    "OneCycleLR": lambda room, o: room.OneCycleLR(o, max_lr=0.2, total_steps=8),
    "LambdaLR": lambda room, o: room.LambdaLR(o, lambda k: 0.9**k),
    "SequentialLR": lambda room, o: room.SequentialLR(
        o, [room.ConstantLR(o, 0.1, 2), room.ExponentialLR(o, 0.5)], milestones=[3]
    ),
    "CyclicLR": lambda room, o: room.CyclicLR(o, 0.01, 0.1, step_size_up=2),
}


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def training(t: Any, name: str, steps: int = 5, schedule: Any = None, **settings: Any) -> list[Any]:
    """The losses of a small regression, its rates and its weights at the end."""
    rng = np.random.default_rng(0)
    x, y, a, b = (t.tensor(rng.normal(size=s)) for s in ((8, 3), (8, 1), (3, 4), (4, 1)))
    parameters = [a.requires_grad_(), b.requires_grad_()]
    optimizer = getattr(t.optim, name)(parameters, **OPTIMISERS[name], **settings)
    rates = None if schedule is None else schedule(t.optim.lr_scheduler, optimizer)
    found = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (((x @ a).tanh() @ b - y) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(steps):
        found.append(optimizer.step(closure).item())
        if rates is not None:
            rates.step()
            found.append(rates.get_last_lr())
    return [*found, *(p.detach().numpy() for p in parameters)]


def same(ours: list[Any], theirs: list[Any]) -> None:
    for here, there in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12)


@pytest.mark.peer
@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps_are_those_of_torch(torch: Any, name: str) -> None:
    assert issubclass(getattr(sg.optim, name), sg.optim.Optimizer)
    same(training(sg, name), training(torch, name))


@pytest.mark.peer
@pytest.mark.parametrize("name", [n for n in OPTIMISERS if n not in ("LBFGS", "Muon")])
def test_steps_of_all_parameters_at_once(torch: Any, name: str) -> None:
    same(*(training(t, name, foreach=True) for t in (sg, torch)))


@pytest.mark.peer
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_torch(torch: Any, name: str) -> None:
    same(training(sg, "SGD", 8, SCHEDULES[name]), training(torch, "SGD", 8, SCHEDULES[name]))


@pytest.mark.peer
def test_a_step_may_be_differentiated(torch: Any) -> None:
    """The rate is a tensor, and the loss after the step depends on it."""

    def slope(t: Any) -> float:
        start, rate = t.tensor([1.0, 2.0], requires_grad=True), t.tensor(0.1, requires_grad=True)
        w = start.clone()
        w.retain_grad()
        optimizer = t.optim.SGD([{"params": [w]}], lr=rate, differentiable=True)
        (w**3).sum().backward(retain_graph=True)
        optimizer.step()
        (w**2).sum().backward()
        return rate.grad.item()

    assert slope(sg) == pytest.approx(slope(torch), rel=1e-6)


@pytest.mark.peer
def test_a_schedule_takes_optimisers_of_users_own(torch: Any) -> None:
    class Descent(sg.optim.Optimizer):
        def __init__(self, params: Any, lr: float):
            super().__init__(params, {"lr": lr})

        def step(self, closure: Any = None) -> None:
            pass

    o = Descent([sg.ones(2, requires_grad=True)], 0.4)
    rates = sg.optim.lr_scheduler.StepLR(o, 1, 0.5)
    o.step()
    rates.step()
    assert o.param_groups[0]["lr"] == 0.2
    with pytest.raises(TypeError, match="is not an Optimizer"):
        sg.optim.lr_scheduler.StepLR("o", 1)


@pytest.mark.peer
def test_state_averages_and_copies(torch: Any) -> None:
    sg.manual_seed(0)
    net = sg.nn.Linear(2, 1)
    o = sg.optim.Adam(net.parameters(), lr=0.1)
    mean = sg.optim.swa_utils.AveragedModel(net)
    for _ in range(3):
        o.zero_grad()
        net(sg.ones(4, 2)).pow(2).mean().backward()
        o.step()
        mean.update_parameters(net)
    assert mean.n_averaged.item() == 3
    assert type(pickle.loads(pickle.dumps(o))) is type(copy.deepcopy(o)) is sg.optim.Adam
    again = sg.optim.Adam(net.parameters(), lr=0.5)
    again.load_state_dict(copy.deepcopy(o.state_dict()))
    first = next(net.parameters())
    assert again.state[first]["step"].item() == 3
    assert again.param_groups[0]["lr"] == 0.1


@pytest.mark.peer
def test_torch_is_not_imported_and_may_be_there(torch: Any) -> None:
    """Tensors are told from one another by whose they are, not by which import came first."""
    program = (
        "import sys, symgrad as sg\n"
        "w = sg.ones(2, requires_grad=True)\n"
        "o = sg.optim.SGD([w], lr=0.5)\n"
        "(w**2).sum().backward(); o.step()\n"
        "print(w.tolist(), 'torch' in sys.modules, 'torch.optim' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stdout.split("\n")[0] == "[0.0, 0.0] False False", run.stderr
    assert isinstance(torch.optim.SGD([torch.ones(2)], lr=0.1), torch.optim.Optimizer)


@pytest.mark.peer
def test_programs_that_import_torch_find_its_modules(torch: Any, tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, torch.optim as optim\n"
        "from torch.optim.lr_scheduler import StepLR, LRScheduler\n"
        "from torch.optim.adam import Adam, adam\n"
        "from torch.optim.optimizer import Optimizer\n"
        "o = optim.Adam([torch.ones(2, requires_grad=True)])\n"
        "assert isinstance(o, Optimizer) and Adam is optim.Adam and isinstance(StepLR(o, 2), LRScheduler)\n"
        "print(torch.__version__, type(o.param_groups[0]['params'][0]))\n"
    )
    run = subprocess.run([sys.executable, "-m", "symgrad", "run", program], capture_output=True, text=True, check=False)
    assert "Tensor" in run.stdout, run.stderr


def test_a_file_that_does_not_run_here_is_named(monkeypatch: Any, tmp_path: Any) -> None:
    room = tmp_path / "optim"
    room.mkdir()
    (room / "__init__.py").write_text("from .adam import Adam\n")
    (room / "adam.py").write_text("import torch\nfrom torch.nothing import here\n")
    monkeypatch.setattr(borrowed, "installed", lambda: tmp_path)
    monkeypatch.setattr(borrowed, "_READ", {})
    with pytest.raises(ImportError, match="^torch's adam.py does not run here: .*nothing"):
        borrowed.borrowed("Adam")
    (room / "adam.py").write_text("class Adam: pass\n")
    assert borrowed.borrowed("Adam").__qualname__ == "adam.Adam"
    with pytest.raises(AttributeError, match="Other"):
        borrowed.borrowed("Other")


@pytest.mark.parametrize("name", ["SGD", "Adam", "LBFGS", "lr_scheduler.StepLR", "swa_utils.AveragedModel"])
def test_without_torch_they_can_be_named_and_tell_the_step(name: str) -> None:
    """A file that imports them loads, and one that asks for their class; where one is made stands what to write."""
    room, _, last = name.rpartition(".")
    kind = getattr(absent.absent(room), last) if room else absent.absent(name)
    assert issubclass(kind, sg.optim.Optimizer)
    assert kind.__name__ == last
    with pytest.raises(NotImplementedError, match="pip install torch, or take the step yourself: .*(no_grad|scipy)"):
        kind([sg.ones(2)], lr=0.1)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        absent.absent("Nothing")


def test_the_room_is_the_module() -> None:
    assert sg.optim is importlib.import_module("symgrad.optim")


def stepped(optimizer: Any) -> list[float]:
    """A parameter after two steps by the same gradient."""
    (parameter,) = optimizer.param_groups[0]["params"]
    for _ in range(2):
        parameter.grad = sg.ones(2)
        optimizer.step()
    return parameter.tolist()


@pytest.mark.parametrize("name", ["Adam", "SGD", "Muon", "LBFGS"])
def test_pickles_find_the_classes_of_this_library(torch, name):
    shape = (2, 2) if name == "Muon" else (2,)
    optimizer = getattr(sg.optim, name)([sg.nn.Parameter(sg.ones(shape))], lr=0.1)
    again = pickle.loads(pickle.dumps(optimizer))
    assert type(again) is type(optimizer) is not getattr(torch.optim, name)
    assert again.state_dict() == optimizer.state_dict()


def test_pickles_of_optimisers_and_schedules_go_on(torch):
    optimizer = sg.optim.Adam([sg.nn.Parameter(sg.ones(2))], lr=0.1)
    rates = sg.optim.lr_scheduler.StepLR(optimizer, 1)
    stepped(optimizer)
    copied, other = pickle.loads(pickle.dumps((optimizer, sg.optim.lr_scheduler.StepLR)))
    assert stepped(copied) == stepped(optimizer)
    assert other is type(rates)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused_steps_are_the_plain_ones(torch, name):
    def taken(t: Any, **settings: Any) -> Any:
        parameter = t.nn.Parameter(t.ones(2))
        optimizer = getattr(t.optim, name)([parameter], lr=0.1, **settings)
        parameter.grad = t.tensor([1.0, 2.0])
        optimizer.step()
        return parameter.detach().numpy()

    np.testing.assert_allclose(taken(sg, fused=True), taken(torch, fused=True), rtol=1e-6)


def test_hooks_are_around_the_step_of_a_users_class_once(torch):
    class Mine(sg.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    optimizer, met = Mine([sg.nn.Parameter(sg.ones(2))], lr=0.1), []
    optimizer.register_step_pre_hook(lambda *_: met.append("before"))
    optimizer.register_step_post_hook(lambda *_: met.append("after"))
    stepped(optimizer)
    assert met == ["before", "after"] * 2


def test_the_state_is_weights_alone(torch):
    optimizer = sg.optim.Adam([sg.nn.Parameter(sg.ones(2))], lr=0.1)
    stepped(optimizer)
    file = io.BytesIO()
    sg.save(optimizer.state_dict(), file)
    file.seek(0)
    again = sg.load(file, weights_only=True)
    assert again["state"][0]["exp_avg"].tolist() == optimizer.state_dict()["state"][0]["exp_avg"].tolist()

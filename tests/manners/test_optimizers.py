"""optim.Optimizer: groups of parameters, settings, state and hooks of an optimiser that a user writes."""

from __future__ import annotations

import collections
import importlib
import pickle
from typing import Any

import pytest

LIBRARIES = ["symgrad", "torch"]


@pytest.fixture(params=LIBRARIES)
def torch(request: Any) -> Any:
    return importlib.import_module("symgrad") if request.param == "symgrad" else pytest.importorskip("torch")


def descent(torch: Any) -> Any:
    class Descent(torch.optim.Optimizer):
        def __init__(self, params: Any, lr: float = 0.1):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure: Any = None) -> Any:
            loss = None if closure is None else closure()
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                        self.state[p]["last"] = p.grad.clone()
                        p -= group["lr"] * p.grad
            return loss

    return Descent


def test_groups_have_their_settings(torch: Any) -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    o = descent(torch)([{"params": w, "lr": 0.5}, {"params": [v]}])
    assert repr(o) == "Descent (\nParameter Group 0\n    lr: 0.5\n\nParameter Group 1\n    lr: 0.1\n)"
    (w.sum() + v.sum()).backward()
    o.step()
    assert (w.tolist(), [round(x, 6) for x in v.tolist()]) == ([0.5, 0.5], [0.9, 0.9, 0.9])
    o.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0, 0]
    o.zero_grad()
    assert v.grad is None
    assert o.step(lambda: 3) == 3


def test_states_are_told_and_taken(torch: Any) -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(3, dtype=torch.float64, requires_grad=True)
    o = descent(torch)([("w", w), ("v", v)])
    w.sum().backward()
    o.step()
    state = o.state_dict()
    assert state["param_groups"] == [{"lr": 0.1, "param_names": ["w", "v"], "params": [0, 1]}]
    assert state["state"][0]["steps"] == 1
    other = descent(torch)([("v", torch.ones(2, dtype=torch.float64, requires_grad=True)), ("w", v)], lr=3.0)
    other.load_state_dict(pickle.loads(pickle.dumps(state)))
    first = other.param_groups[0]["params"][0]
    assert other.param_groups[0]["lr"] == 0.1
    assert other.state[first]["last"].dtype == torch.float64
    with pytest.raises(ValueError, match="a different number of parameter groups"):
        o.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        descent(torch)([v]).load_state_dict(state)


def test_hooks_are_called_around_a_step(torch: Any) -> None:
    w = torch.ones(1, requires_grad=True)
    o, log = descent(torch)([w]), []
    before = o.register_step_pre_hook(lambda *args: log.append(len(args)))
    o.register_step_post_hook(lambda *_: log.append("after"))
    o.step()
    before.remove()
    o.step()
    assert log == [3, "after", "after"]


def test_what_is_no_parameter_is_refused(torch: Any) -> None:
    made, w = descent(torch), torch.ones(1, requires_grad=True)
    for call, kind, words in (
        (lambda: made(w), TypeError, "should be an iterable of Tensors or dicts"),
        (lambda: made([]), ValueError, "an empty parameter list"),
        (lambda: made([w * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: made([3]), TypeError, "one of the params is int"),
        (lambda: made([("w", w), w]), ValueError, "Some param names are missing"),
        (lambda: made([w]).add_param_group({"params": w}), ValueError, "in more than one parameter group"),
        (lambda: made([w]).add_param_group({"params": {w}}), TypeError, "in ordered collections"),
        (lambda: made([w]).add_param_group([w]), TypeError, "param_group must be a dict"),
    ):
        with pytest.raises(kind, match=words):
            call()
    with pytest.raises(NotImplementedError):
        torch.optim.Optimizer([w], {}).step()


def test_required_settings_are_asked_for(torch: Any) -> None:
    needed = importlib.import_module(f"{torch.__name__}.optim.optimizer").required
    w = torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="required optimization parameter lr"):
        torch.optim.Optimizer([w], {"lr": needed})
    assert torch.optim.Optimizer([{"params": w, "lr": 2}], {"lr": needed}).param_groups[0]["lr"] == 2


def test_states_that_are_taken_go_through_what_a_class_does_with_them(torch: Any) -> None:
    class Newer(descent(torch)):  # type: ignore[misc]
        def __setstate__(self, state: Any) -> None:
            assert sorted(state) == ["param_groups", "state"]
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("maximize", False)

    o = Newer([torch.ones(2, requires_grad=True)])
    seen: list[Any] = []
    o.register_step_pre_hook(lambda *_: seen.append(1))
    o.load_state_dict(o.state_dict())
    assert o.param_groups[0]["maximize"] is False
    o.step()
    assert seen == [1]


@pytest.mark.parametrize("sets_hooks", [False, True])
def test_optimizers_around_another_one_do_not_call_init(torch: Any, sets_hooks: bool) -> None:
    class Around(torch.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self.inner, self.param_groups, self.calls = inner, inner.param_groups, []
            if sets_hooks:
                for what in ("step", "state_dict", "load_state_dict"):
                    for when in ("pre", "post"):
                        setattr(self, f"_optimizer_{what}_{when}_hooks", collections.OrderedDict())

        def _hooks(self) -> None:
            self.calls.append("hooks")

        def step(self, closure: Any = None) -> Any:
            self._hooks()
            return self.inner.step(closure)

    w = torch.ones(2, requires_grad=True)
    made = Around(descent(torch)([w]))
    (w @ w).backward()
    made.step()
    assert made.calls == ["hooks"]
    assert w.tolist() != [1, 1]


def test_states_of_older_versions_of_adam_are_taken(torch: Any) -> None:
    pytest.importorskip("torch", reason="torch, whose optimisers these are, is not installed")
    w = torch.ones(2, requires_grad=True)
    o = torch.optim.Adam([w], lr=0.1)
    w.sum().backward()
    o.step()
    state = o.state_dict()
    del state["param_groups"][0]["amsgrad"], state["param_groups"][0]["maximize"]
    state["state"][0]["step"] = 1
    o.load_state_dict(state)
    assert o.param_groups[0]["amsgrad"] is False
    assert o.state[w]["step"] == 1
    assert torch.is_tensor(o.state[w]["step"])
    o.step()


def test_parameters_that_stand_twice_are_told_at_the_line_of_the_user() -> None:
    sg, w = importlib.import_module("symgrad"), importlib.import_module("symgrad").ones(2, requires_grad=True)
    pytest.importorskip("torch")
    for kind in (sg.optim.SGD, sg.optim.Adam):
        with pytest.warns(UserWarning, match="a parameter group with duplicate parameters") as told:
            kind([w, w], lr=0.1)
        assert told[0].filename == __file__

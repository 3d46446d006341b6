"""Loops that scale their loss, beside torch: the factor, the steps that are left out, and calls in another order."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


class Descent:
    """All that a scaler asks of an optimiser."""

    def __init__(self, t: Any, *leaves: Any):
        self.t, self.param_groups, self.steps = t, [{"params": list(leaves)}], 0

    def step(self, rate: float = 0.25) -> int:
        with self.t.no_grad():
            for leaf in self.param_groups[0]["params"]:
                if leaf.grad is not None:
                    leaf.sub_(rate * leaf.grad)
        self.steps += 1
        return self.steps


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("unscales", [True, False])
def test_loops(enabled: bool, unscales: bool) -> None:
    found = []
    for t in (torch, sg):
        x, y = t.tensor([1.0, 2.0], requires_grad=True), t.tensor(0.3, requires_grad=True)
        scaler = t.amp.GradScaler("cpu", init_scale=2.0**14 / 3, growth_interval=2, growth_factor=3.0, enabled=enabled)
        descent, seen = Descent(t, x, y), []
        for k in range(8):
            x.grad = y.grad = None
            loss = (x * x).sum() * (float("inf") if k in (3, 6) and enabled else 1.0)
            scaled, (twice,) = scaler.scale(loss), scaler.scale([loss * 2])
            scaled.backward()
            if unscales:
                scaler.unscale_(descent)
            seen.append((scaled.item(), twice.item(), x.grad.tolist(), scaler.step(descent)))
            scaler.update(7.5 if k == 5 else None)
            seen.append((x.tolist(), scaler.get_scale(), descent.steps, scaler.state_dict(), scaler.is_enabled()))
        other = t.amp.GradScaler("cpu")
        if enabled:
            other.load_state_dict(scaler.state_dict())
        found.append((seen, other.state_dict()))
    assert repr(found[0]) == repr(found[1])


def _twice_unscaled(t: Any, scaler: Any, descent: Any) -> None:
    scaler.unscale_(descent)
    scaler.unscale_(descent)


def _unscaled_late(t: Any, scaler: Any, descent: Any) -> None:
    scaler.step(descent)
    scaler.unscale_(descent)


def _twice_stepped(t: Any, scaler: Any, descent: Any) -> None:
    scaler.step(descent)
    scaler.step(descent)


WRONG = {
    "unscaled twice": _twice_unscaled,
    "unscaled late": _unscaled_late,
    "stepped twice": _twice_stepped,
    "updated early": lambda t, scaler, descent: scaler.update(),
    "a closure": lambda t, scaler, descent: scaler.step(descent, closure=abs),
    "no gradients": lambda t, scaler, descent: scaler.step(Descent(t, t.ones(2, requires_grad=True))),
    "not scaled": lambda t, scaler, descent: t.amp.GradScaler("cpu").step(descent),
    "half": lambda t, scaler, descent: scaler.unscale_(Descent(t, _half(t))),
    "no tensor": lambda t, scaler, descent: scaler.scale(3),
    "nothing to load": lambda t, scaler, descent: scaler.load_state_dict({}),
    "shrinks": lambda t, scaler, descent: t.amp.GradScaler("cpu", growth_factor=1.0),
    "does not back off": lambda t, scaler, descent: t.amp.GradScaler("cpu", backoff_factor=1.0),
}


def _half(t: Any) -> Any:
    x = t.ones(2, dtype=t.float16, requires_grad=True)
    x.sum().backward()
    return x


@pytest.mark.parametrize("name", WRONG)
def test_another_order_is_refused_in_torchs_words(name: str) -> None:
    found = []
    for t in (torch, sg):
        x = t.ones(2, requires_grad=True)
        scaler = t.amp.GradScaler("cpu")
        scaler.scale(x.sum()).backward()
        with pytest.raises(Exception) as caught:  # noqa: PT011  (compared below)
            WRONG[name](t, scaler, Descent(t, x))
        found.append(caught)
    theirs, ours = found
    assert issubclass(ours.type, theirs.type)
    assert str(ours.value) == str(theirs.value)


def test_without_cuda_it_lets_everything_pass() -> None:
    for t in (torch, sg):
        with pytest.warns(UserWarning, match="CUDA is not available"):
            scaler = t.amp.GradScaler()
        x = t.ones(2)
        assert scaler.scale(x) is x
        assert scaler.get_scale() == 1.0
        assert not scaler.is_enabled()

"""Names and versions of gradients that pass through views that were changed, conjugates, and places without axes."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

CHANGES = {
    "a squeezed clone": "v = x.clone().squeeze(); v.{change}_()",
    "a part": "v = (x * 2)[0]; v.{change}_()",
    "an einsum": "v = t.einsum('ij,ij->', x, x); v.{change}_()",
    "a batched einsum": "v = t.einsum('bij,bkj->bik', x[None], x[None]); v.{change}_()",
    "a flattened einsum": "v = t.einsum('ij,kj->ik', x, x).flatten(); v.{change}_()",
    "a tensordot": "v = t.tensordot(x, x, 1); v.{change}_()",
    "all of it": "v = x * 2; v.{change}_()",
}


def passes(t: Any, program: str) -> list[Any]:
    """Names and versions of three recorded passes, and versions where the third is not recorded."""
    env = {"t": t, "x": t.arange(1.0, 10.0, dtype=t.float64).reshape(3, 3).div(10).requires_grad_()}
    exec(program, env)  # noqa: S102
    out, seen = (env["v"] * env["v"]).sum(), []
    for order in range(3):
        (g,) = t.autograd.grad(out, env["x"], create_graph=order < 2)
        seen.append((None if g.grad_fn is None else type(g.grad_fn).__name__, g._version))
        out = (g * g).sum() if order else g.sum()
    return seen


@pytest.mark.parametrize("made", CHANGES)
@pytest.mark.parametrize("change", ["tanh", "exp", "sin", "square", "sigmoid"])
def test_changes_of_what_shows_a_base(made: str, change: str) -> None:
    program = CHANGES[made].format(change=change)
    assert passes(sg, program) == passes(torch, program)


RESULTS = {
    "the real part of a conjugate": "v.real.sum().sin()",
    "the imaginary part": "v.imag.sum().sin()",
    "of a part": "v[:1].imag.exp().sum()",
    "of a turned part": "v[None].mT.real.exp().sum()",
    "of a conjugate's conjugate": "v.conj().real.exp().sum()",
    "of a function": "v.sin().real.exp().sum()",
    "a running sum of powers": "w[None].logcumsumexp(1).abs().sum()",
    "a running sum of one": "w.sum().logcumsumexp(0).abs()",
}


@pytest.mark.parametrize("result", RESULTS)
def test_complex_results(result: str) -> None:
    def names(t: Any) -> Any:
        w = t.tensor([1 + 2j, 3 - 1j], requires_grad=True)
        v = w.conj()
        out = eval(RESULTS[result], {"v": v, "w": w})  # noqa: S307
        grads = t.autograd.grad(out, [v, w], create_graph=True, allow_unused=True)
        return [None if g is None else type(g.grad_fn).__name__ for g in grads]

    assert names(sg) == names(torch)


@pytest.mark.parametrize("index", ["t.tensor([1]), 2", "t.tensor([1])", "0, 0", "t.tensor([0, 1]), 2", "[0, 2]", "0"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_values_written_at_places(index: str, shape: Any) -> None:
    def names(t: Any) -> Any:
        value, x = t.full(shape, -1.5, requires_grad=True), t.ones(3, 3)
        exec(f"x[{index}] = value", {"x": x, "value": value, "t": t})  # noqa: S102
        (g,) = t.autograd.grad((x * x).sum(), value, create_graph=True)
        return type(x.grad_fn).__name__, type(g.grad_fn).__name__, g.tolist()

    assert names(sg) == names(torch)


@pytest.mark.parametrize(
    "view", ["x.swapaxes(0, -2)", "x.permute(0, 1)", "x.T", "x.movedim(0, 1)", "x.transpose(1, 1)"]
)
def test_gradients_that_views_turned(view: str) -> None:
    def names(t: Any) -> Any:
        x = t.ones(3, 3, requires_grad=True)
        v = x.view_as(x)
        out = (eval(view, {"x": v}) ** 4).mean()  # noqa: S307
        return [type(g.grad_fn).__name__ for g in t.autograd.grad(out, [x, v], create_graph=True)]

    assert names(sg) == names(torch)

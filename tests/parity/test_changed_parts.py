"""Names and versions of gradients that pass through views that were changed, conjugates, and places without axes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
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


STALE = {
    "a leaf through its twin": "v = x.detach(); v.addcmul_(x, x); out = (v * v).sum()",
    "not its own product": "v = x.detach(); v.mul_(x); out = (v * v).sum()",
    "a factor of an einsum": "v = x * 2; p = t.einsum('ij,ij->', v, v)[None]; v.mul_(2); p[0:1].zero_(); out = p.sum()",
    "a factor with a base": "v = x * 2; out = t.einsum('ij,ij->', v, v); b = out._base; v.mul_(2)",
    "a folded batch": "b = t.stack([x, x]); out = x[0].matmul(b).sum(); b.fill_(0.5)",
    "a batch that is not folded": "b = t.stack([x, x]); out = x[0].detach().matmul(b).sum(); b.fill_(0.5)",
    "a batch turned round": "b = t.stack([x, x]).mT; out = x[0].matmul(b).sum(); b.fill_(0.5)",
}


@pytest.mark.parametrize("name", STALE)
def test_what_is_stale(name: str) -> None:
    def answer(t: Any) -> Any:
        env = {"t": t, "x": t.ones(2, 2, requires_grad=True)}
        exec(STALE[name], env)  # noqa: S102
        try:
            env["out"].backward()
        except RuntimeError as error:
            return str(error)[:60]
        return env["x"].grad.tolist()

    assert answer(sg) == answer(torch)


LAID_OUT = {
    "row by row": lambda x: x,
    "turned matrices": lambda x: x.mT.contiguous().mT,
    "turned batch": lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    "one for all": lambda x: x[:1].expand_as(x),
}
FACTORS = """4,2,3 3 | 3 4,3,2 | 4,2,3 3,5 | 2,3 4,3,5 | 4,2,3 4,3,5 | 4,2,3 1,3,5 | 1,2,3 4,3,5 | 2,4,2,3 4,3,5 |
2,1,2,3 4,3,5 | 2,4,2,3 3 | 2,3 2,4,3,5 | 4,1,3 3,5 | 2,3 1,3,5 | 1,2,3 1,3,5"""


@pytest.mark.parametrize("tracked", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("shapes", [pair.strip() for pair in FACTORS.split("|")])
def test_factors_of_batches_that_torch_copies(shapes: str, tracked: Any) -> None:
    """A factor that is brought into another shape by a copy may change afterwards."""

    def outcomes(t: Any) -> Any:
        found = []
        for layouts in itertools.product(LAID_OUT.values(), repeat=2):
            for which in (0, 1):
                pair = []
                for sizes, laid_out, grad in zip(shapes.split(), layouts, tracked, strict=True):
                    x = t.ones(*map(int, sizes.split(",")), dtype=t.float64)
                    x = laid_out(x) if x.ndim > 2 else x
                    pair.append(x.requires_grad_().view_as(x) if grad else x)
                out = (pair[0] @ pair[1]).sum()
                with t.no_grad():
                    pair[which][(0,) * pair[which].ndim].fill_(2.0)
                try:
                    out.backward()
                    found.append("as before")
                except RuntimeError as error:
                    found.append("stale" if "modified" in str(error) else str(error))
        return found

    assert outcomes(sg) == outcomes(torch)


@pytest.mark.parametrize(
    "result",
    ["t.view_as_real(w).sum()", "t.view_as_real(w).exp().sum()", "w.real.sum()", "w.imag.exp().sum()", "w.abs().sum()",
     "(w[:0] + w[:0].sin()).abs().sum() + w[0].real", "t.addcmul(i, i, r, value=0.5).sum()"],
)  # fmt: skip
def test_versions_of_first_gradients(result: str) -> None:
    def versions(t: Any) -> Any:
        w, r = t.tensor([1 + 2j, 3], requires_grad=True), t.tensor([1.5, 2], requires_grad=True)
        eval(result, {"t": t, "w": w, "r": r, "i": t.tensor([2, 3])}).backward()  # noqa: S307
        return [None if leaf.grad is None else leaf.grad._version for leaf in (w, r)]

    assert versions(sg) == versions(torch)


@pytest.mark.parametrize("result", ["x.maximum(x * 2)", "x.sin()", "x + x.sin()"])
def test_versions_of_gradients_of_nothing_from_numpy(result: str) -> None:
    def version(t: Any) -> Any:
        x = t.tensor(np.array([[], []]), requires_grad=True)
        eval(result, {"x": x}).sum().backward()  # noqa: S307
        return x.grad._version

    assert version(sg) == version(torch)


@pytest.mark.parametrize("function", ["addcmul", "addcdiv"])
@pytest.mark.parametrize("arguments", ["i, i, r", "r, i, r", "r, r, r", "i, r, r"])
def test_whole_numbers_among_the_arguments_have_no_gradient(function: str, arguments: str) -> None:
    def names(t: Any) -> Any:
        r, i = t.tensor([1.5, 2], requires_grad=True), t.tensor([2, 3])
        out = eval(f"t.{function}({arguments}, value=0.5)", {"t": t, "r": r, "i": i})  # noqa: S307
        (g,) = t.autograd.grad((out**3).sum(), r, create_graph=True)
        return type(out.grad_fn).__name__, type(g.grad_fn).__name__, g.shape

    assert names(sg) == names(torch)


@pytest.mark.parametrize("sizes", [(), (1,), (3, 1), (3, 2)])
@pytest.mark.parametrize("result", ["(v * c).abs().sum()", "v.to(t.complex128).imag.tanh().sum()"])
def test_real_parts_of_complex_gradients_lie_apart(sizes: Any, result: str) -> None:
    def facts(t: Any) -> Any:
        x = t.full(sizes, 2.0, dtype=t.float64, requires_grad=True)
        env = {"t": t, "v": x.view(sizes), "c": t.full(sizes, 2j, dtype=t.complex128)}
        out = eval(result, env)  # noqa: S307
        names = [type(g.grad_fn).__name__ for g in t.autograd.grad(out, [x, env["v"]], create_graph=True)]
        out.backward()
        return names, x.grad._version

    assert facts(sg) == facts(torch)

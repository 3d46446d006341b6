"""``.data`` of another shape or dtype, set between a function and its backward: torch reads it, or objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.tape.memory.versions import former

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

NEW = {
    "zeros": "t.zeros(5, dtype=t.float64)",
    "half": "y.data * 0.5",
    "wider": "t.full((7,), 0.3, dtype=t.float64)",
    "a row": "(y.data * 0.5)[None]",
    "one": "y.data[:1] * 0.5",
    "a number": "t.tensor(0.3, dtype=t.float64)",
    "nothing": "y.data[:0]",
    "single": "(y.data * 0.5).to(t.float32)",
    "complex": "(y.data * 0.5).to(t.complex128)",
}


def answer(t: Any, made: str, call: str, new: str) -> Any:
    """The gradient by the leaf, or the first words of the error."""
    x = t.tensor([0.3, 0.7, 1.1, 1.6, 2.2], dtype=t.float64, requires_grad=True)
    env = {"t": t, "x": x, "y": eval(made, {"x": x}), "w": t.tensor([1.2, 0.4, 2.1, 0.9, 1.7], dtype=t.float64)}
    out = eval(call, env)  # noqa: S307
    env["y"].data = eval(NEW[new], env)  # noqa: S307
    try:
        out.sum().backward()
    except RuntimeError as error:
        return str(error)[:20]
    return tuple(x.grad.shape), str(x.grad.dtype).split(".")[-1], x.grad.tolist()


def alike(made: str, call: str, new: str) -> None:
    ours, theirs = answer(sg, made, call, new), answer(torch, made, call, new)
    if isinstance(theirs, str) or isinstance(ours, str):
        assert ours == theirs
    else:
        assert ours[:2] == theirs[:2]
        np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-6)


CALLS = [
    "y.exp()", "y * y", "y * w", "y.sin()", "y.log()", "w / y", "y.pow(3)", "y + 1", "2 ** y", "t.atan2(y, w)",
    "y.sigmoid()", "y.square()", "t.addcmul(w, y, w)", "y.reciprocal()",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("new", [name for name in NEW if name not in ("complex", "nothing")])
@pytest.mark.parametrize("made", ["x * 1", "x"])
def test_entry_by_entry(made: str, call: str, new: str) -> None:
    alike(made, call, new)


@pytest.mark.parametrize("call", ["y.norm()", "y.norm(3)", "y.std()", "y.logsumexp(0)", "y.max()", "y @ y"])
@pytest.mark.parametrize("new", ["wider", "one", "nothing", "single"])
def test_of_all_entries(call: str, new: str) -> None:
    alike("x * 1", call, new)


@pytest.mark.parametrize("call", ["y * y", "y.sin()", "y.norm()", "y * w"])
def test_complex_data(call: str) -> None:
    """A single real operand takes no complex gradient; beside others the real part is taken."""
    alike("x * 1", call, "complex")


FUNCTIONS = ["nn.functional.smooth_l1_loss(y, w)", "nn.functional.huber_loss(y, w)", "dist(y, w)", "dist(y, w, 3)",
             "nn.functional.binary_cross_entropy_with_logits(y, w)", "median(y)", "prod(y)"]  # fmt: skip


@pytest.mark.parametrize("call", FUNCTIONS)
@pytest.mark.parametrize("new", ["zeros", "half"])
def test_functions_of_several_steps_read_results_again(call: str, new: str) -> None:
    """Their operand is the result of an op whose memory nobody keeps."""
    alike("x * 1", f"t.{call}", new)


@pytest.mark.parametrize("call", FUNCTIONS)
def test_functions_of_several_steps_object(call: str) -> None:
    answers = [answer(t, "x * 1", f"t.{call}", "wider") for t in (sg, torch)]
    assert all(isinstance(said, str) for said in answers), answers


def test_an_exponent_that_was_no_number() -> None:
    def second(t: Any) -> Any:
        x, b = t.tensor([0.3, 0.7], requires_grad=True), t.tensor([True, False])
        out = (x.abs() + 0.5) ** b
        b.data = b.data * 2
        (g,) = t.autograd.grad(out.sum(), x, create_graph=True)
        return [g.tolist(), t.autograd.grad(g.sum(), x)[0].tolist()]

    assert second(sg) == second(torch)


def test_graphs_of_afterwards_lead_to_the_leaf_as_it_is() -> None:
    def grads(t: Any) -> Any:
        x = t.tensor([1.0, 2.0], requires_grad=True)
        x.sin().sum().backward()
        x.data = t.ones(3)
        (g,) = t.autograd.grad((x * 2).sum(), x)
        return g.tolist()

    assert grads(sg) == grads(torch)


def test_the_error_says_what_happened() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.data = sg.zeros(5)
    with pytest.raises(
        RuntimeError, match=r"shape \(2,\).*has shape \(5,\).*since its .data was set; set .data before"
    ):
        z.sum().backward()


def test_each_graph_knows_the_shape_that_a_leaf_had_for_it() -> None:
    """Also of a leaf whose shape has changed many times."""
    x, graphs = sg.tensor([1.0, 2.0], requires_grad=True), []
    for n in range(3, 40):
        graphs.append(((n - 1,), x * 2))
        x.data = sg.ones(n)
    for shape, made in graphs:
        assert former(x, made._node) == (shape, np.float32)
    assert former(x, (x * 2)._node) is None


BEFORE = """v.mul_(2) | v[0] = 0.5 | v[1:].mul_(2) | v[v > 0] = 0.25 | v[[0]] = 0.5 | v.cumsum_(0) | v.sin_()
v.masked_fill_(v > 0, 1.0)""".replace("\n", " | ").split(" | ")
TURNED = {
    "an axis before": "with t.no_grad(): v.unsqueeze_(0)",
    "an axis behind": "with t.no_grad(): v.unsqueeze_(-1)",
    "data with an axis before": "v.data = v.data[None]",
    "data more often": "v.data = t.stack([v.data, v.data * 2])",
    "data in single precision": "v.data = v.data.float()",
}
AFTER = ["v.sin()", "v * v", "v[0]", "v @ v.mT", "v", "(v + 1).exp() * 2", "v.sum(-1).square()"]


@pytest.mark.parametrize("turn", TURNED)
@pytest.mark.parametrize("before", BEFORE)
def test_results_that_are_used_in_another_shape(before: str, turn: str) -> None:
    """The gradient of a result is summed to the shape that it had when it got its history, or does not fit."""

    def outcomes(t: Any) -> Any:
        found: list[Any] = []
        for after in AFTER:
            x = t.tensor([1.0, -2.0, 3.0], dtype=t.float64, requires_grad=True)
            env = {"t": t, "v": x * 1}
            exec(f"{before}\nnode = v.grad_fn\n{TURNED[turn]}", env)  # noqa: S102
            try:
                out = eval(after, env).sum()  # noqa: S307
                (g,) = t.autograd.grad(out, x, create_graph=True)
                out.backward()
            except RuntimeError:
                found.append("refused")
                continue
            assert env["v"].grad_fn is env["node"]
            found.append((tuple(x.grad.shape), np.round(x.grad.tolist(), 5).tolist(), np.round(g.tolist(), 5).tolist()))
        return found

    assert outcomes(sg) == outcomes(torch)


FLOWS = """x.exp() | x[0] * 2 | x.mean(1) | x.sum(0) | x.max(1)[0] | x.sort(1)[0] | t.cat([x, y]) * 2 | x.T + 1 | x * 2
x.expand(2, 2, 3) | x.clamp(0.5, 1.5) | x.repeat(2, 1) | x.cumsum(1) | t.stack([x, y]).exp() | x * x | x.sin()"""
MOVES = ["x.unsqueeze_(0)", "x.t_()", "x.unsqueeze_(0); x.unsqueeze_(0)", "x.t_(); x.t_()"]


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("flow", FLOWS.replace("\n", " | ").split(" | "))
def test_leaves_in_another_shape_since_they_were_used(flow: str, move: str) -> None:
    """Gradients are those of the shape that a leaf had when the graph was made."""

    def outcome(t: Any) -> Any:
        x, y = (t.tensor([[0.5, 1.5, 2.5], [1.25, 0.25, 0.75]], requires_grad=True) for _ in "xy")
        out = eval(flow, {"t": t, "x": x, "y": y})  # noqa: S307
        with t.no_grad():
            exec(move, {"x": x})  # noqa: S102
        try:
            (g,) = t.autograd.grad(out.sum(), x, retain_graph=True)
            out.square().sum().backward()
        except RuntimeError:
            return "refused"
        return np.round(g.tolist(), 4).tolist(), np.round(x.grad.tolist(), 4).tolist()

    assert outcome(sg) == outcome(torch)

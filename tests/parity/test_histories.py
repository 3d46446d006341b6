"""What tensors tell of their history after views, changes, hooks and custom functions, as in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.functions import sum_and_product

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer


def values(t: Any, program: str, **given: Any) -> Any:
    """``out`` after a program, as a list, or the class of its error."""
    env = {"t": t, **given}
    try:
        exec(program, env)  # noqa: S102
    except RuntimeError:
        return "RuntimeError"
    out = env["out"]
    return out.detach().double().tolist() if hasattr(out, "detach") else out


QUESTIONS = """t.argmax(v) | t.argmax(v, dim=-1) | v.argmin(0) | v.argmin(0, True) | t.isnan(v) | t.signbit(v) | v > 0
v.logical_not() | v.output_nr | v.sin() | v.max() | v.clone() | v.unsqueeze(0)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("question", [q.strip() for q in QUESTIONS])
@pytest.mark.parametrize("data", [[0.5, 2.0], [[0.5, 2.0], [1.0, 3.0]], [[[0.5], [2.0]], [[1.0], [3.0]]]])
def test_what_a_view_without_history_is_asked(question: str, data: Any) -> None:
    """Who needs its history gets an error, who only needs values does not."""
    program = f"x = t.tensor({data}, requires_grad=True) * 2; v = x.unbind(0)[1]; x.sin_(); out = {question}"
    assert values(sg, program) == values(torch, program)


@pytest.mark.parametrize("change", ["x.view(1).sub_(x[None])", "x[None].add_(x.view(1))", "x.view(1, 1).mul_(x[None])"])
def test_one_entry_in_several_shapes_meets_itself(change: str) -> None:
    program = f"x = t.tensor(2.0); out = {change}"
    assert values(sg, program) == values(torch, program)


def test_hooks_of_missing_gradients_are_called_before_saved_values_are_looked_at() -> None:
    def heard(t: Any) -> Any:
        seen: list[Any] = []
        v = t.tensor([1.0, 2.0], requires_grad=True) * 1
        total, product = sum_and_product(t).apply(v, v)
        total.register_hook(lambda g: seen.append(g))
        v.fill_(0.5)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()
        return seen

    assert heard(sg) == heard(torch) == [None]


@pytest.mark.parametrize("places", ["[[1, 0], t.tensor([1, 2, 1])]", "[t.tensor([9])]", "[5]"])
@pytest.mark.parametrize("whole", ["x", "x.squeeze(0)"])
def test_leaves_are_refused_before_the_places_are_looked_at(whole: str, places: str) -> None:
    def objection(t: Any) -> str:
        env = {"t": t, "x": t.ones(2, 3, requires_grad=True)}
        try:
            exec(f"v = {whole}; v{places} = 2", env)  # noqa: S102
        except (RuntimeError, IndexError) as error:
            return str(error)[:25]
        return "none"

    assert objection(sg) == objection(torch)


DOUBLED = """
class Doubled(t.autograd.Function):
    @staticmethod
    def forward(ctx, x, *others):
        ctx.mark_dirty(x)
        return x.mul_(2)
    @staticmethod
    def backward(ctx, g, *others):
        return g * 2, g
x = t.tensor([1.0, 2.0, 3.0], requires_grad=True); v = x * 1; v.grad = t.ones(3)
"""


@pytest.mark.filterwarnings("ignore:The .grad attribute")
@pytest.mark.parametrize(
    "change",
    ["Doubled.apply(v, 1)", "v = x.detach().clone(); v.grad = t.ones(3); Doubled.apply(v, x)", "v.mul_(2)",
     "Doubled.apply(v[:2], 1)", "v = v.detach(); v.grad = t.ones(3); Doubled.apply(v, 1)",
     "exec('with t.no_grad(): Doubled.apply(v, 1)')", "u = v[:2]; u.grad = t.ones(2); Doubled.apply(u, 1); v = u"],
)  # fmt: skip
def test_the_gradient_of_what_a_function_overwrites(change: str) -> None:
    """It is taken away with the old history, and only with that."""
    program = DOUBLED + change + "; out = v.grad is None"
    assert values(sg, program) == values(torch, program)


WHOLE = [
    "y * v",
    "y / v",
    "y ** v",
    "y.fmax(v)",
    "t.maximum(y, v)",
    "t.atan2(y, v)",
    "t.logaddexp(y, v)",
    "y.clamp(max=v)",
]


@pytest.mark.parametrize("how", [*WHOLE, "t.dist(y, v)", "t.nn.functional.mse_loss(y, v)", "t.addcmul(y, y, v)"])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("other", ["x", "x.detach()", "x.data"])
def test_an_operand_of_another_dtype_that_is_changed_later(how: str, dtype: str, other: str) -> None:
    """It is refused, but not through ``.data``: whose new entries the derivative reads."""
    program = (
        f"x = t.tensor([1, 2, 3], dtype=t.{dtype}); v = {other}; "
        f"y = t.tensor([0.5, 2.5, 1.5], dtype=t.float64, requires_grad=True); "
        f"z = {how}; x[0] = 2; z.sum().backward(); out = y.grad"
    )
    here, there = values(sg, program), values(torch, program)
    assert here == there if isinstance(there, str) else np.allclose(here, there)


HANDING_BACK = """
class F(t.autograd.Function):
    forward = staticmethod(lambda ctx, a: a)
    backward = staticmethod(lambda ctx, g: g)
"""
CHANGING = """
class F(t.autograd.Function):
    forward = staticmethod(lambda ctx, a: (ctx.mark_dirty(a), a.mul_(2))[1])
    backward = staticmethod(lambda ctx, g: 2 * g)
"""
TOLD = {
    "a result that backward is asked for keeps its gradient from then on": "v = x * 1; v.sum().backward(inputs=[v], "
    "retain_graph=True); (v * 3).sum().backward(); out = v.retains_grad, v.grad.tolist()",
    "hooks of a leaf go on when it requires no grad any more, and nothing is added": "y = (x * 2).sum(); "
    "n = (x * 2).grad_fn.next_functions[0][0]; n.register_hook(lambda i, o: L.append('after')); "
    "n.register_prehook(lambda o: L.append('before')); "
    "x.register_post_accumulate_grad_hook(lambda p: L.append(p.grad)); x.requires_grad_(False); y.backward(); out = L",
    "what a function hands back unrecorded is detached": f"{HANDING_BACK}with t.no_grad(): v = F.apply(x * 1)\n"
    "out = v.requires_grad, v.is_leaf, v._is_view()",
    "what a function changed unrecorded is detached": f"{CHANGING}with t.no_grad(): v = F.apply(x)\n"
    "out = v.requires_grad, v is x, x.requires_grad, x.tolist(), v._version",
    "a number put into a number is copied": "v, w = x.sum() * 1, x.sum(); v[...] = w; out = v.grad_fn.name()",
    "a leaf may be a result where others have hooks": "y = t.ones(2, requires_grad=True); "
    "x.register_hook(lambda g: g * 2); out = t.autograd.grad([x.sum(), y], [x], [t.tensor(1.0), y])[0].tolist()",
    "a view with a hook and data of its own is changed": "y = x * 1; v = y[0]; v.register_hook(lambda g: g * 2)\n"
    "with t.no_grad(): v.data = v.data * 2\nv -= 0.5; out = v.tolist(), y.tolist()",
    "a diagonal is a view": "v = (x * 1).fill_diagonal_(2.0); out = v.tolist(), v._version, v.grad_fn.name()",
    "axes of numbers": "v = x.sum() * 1; out = v.movedim(0, -1).grad_fn.name(), t.moveaxis(v, 0, 0).grad_fn.name()",
    "what is rolled is no view": "out = (x * 1).roll(0)._is_view()",
    "a result may be detached after the gradient was made": "v = x.sigmoid(); "
    "g, = t.autograd.grad(v.sum(), x, create_graph=True); v.detach_(); h, = t.autograd.grad(g.sum(), x); "
    "out = h.mul(1e6).round().tolist()",
    "a view told to require grad stays a leaf when its base changes": "a = x.detach(); "
    "j = t.autograd.functional.jacobian(lambda b: b * 0 + 1, a[0], create_graph=True) @ t.ones(2, 2)\n"
    "with t.no_grad(): v = j[..., :]\n"
    "v.requires_grad = True; w = v * 2; j.mul_(0.5); w.sum().backward(); "
    "out = [j.requires_grad, v.requires_grad, v.is_leaf, v.grad.tolist()]",
    "integers of a view that may not change take a copy of what is tracked": "v = t.eye(2).long().unbind(0)[1]; "
    "v.copy_(x.sum()); out = [v.tolist(), v._version, v.requires_grad]",
    "the sign of a zero passes relu": "z = t.tensor([-0.0, 0.0, -1.0]); out = [t.signbit(z.relu()).tolist(), "
    "t.signbit(z[0].relu()).item(), t.signbit(z.repeat(9).relu()).tolist()]",
    "a vector times its conjugate is real": "z = t.tensor([-0.728 - 0.284j, -1.988 - 0.991j, 0.017 + 1.037j], "
    "dtype=t.complex128); d = t.linalg.vecdot(z, z); out = [d.imag.item(), round(float(d), 9)]",
    "hooks of all outputs are called though nothing wanted is reached": "out = []; y = t.ones(2, requires_grad=True)\n"
    "class Two(t.autograd.Function):\n"
    "    forward = staticmethod(lambda ctx, a: (a * 2, a * 3))\n"
    "    backward = staticmethod(lambda ctx, g, h: g * 2 + h * 3)\n"
    "v, w = Two.apply(x); v.register_hook(lambda g: out.append(g is None)); "
    "w.register_hook(lambda g: out.append(g is None)); v.backward(t.ones_like(v), inputs=[y])",
    "gradients of a gradient go through a part that was changed": "v = x * 1; w = v[0]; w.sigmoid_(); "
    "g, h = t.autograd.grad(w.tanh().sum(), [v, x], create_graph=True); "
    "out = t.autograd.grad(h.square().sum(), v)[0].mul(1e5).round().tolist()",
    "third derivatives of what is added from a matrix product have names": "a = t.ones(3, 3, requires_grad=True)\n"
    "b = t.full((3, 3), 0.5, requires_grad=True); v = t.nn.functional.mse_loss(b.sin(), a.exp(), reduction='none')\n"
    "w = v.sin(); w.add_(b.unfold(1, 2, 1).sum(-1) @ t.ones(2, 3), alpha=2); y = (w * v).sum(); out = []\n"
    "for _ in range(3):\n"
    "    g = t.autograd.grad(y, (a, b), create_graph=True); out.append([q.grad_fn.name() for q in g])\n"
    "    y = g[0].sum() + g[1].sum()",
}


@pytest.mark.parametrize("program", TOLD.values(), ids=TOLD)
def test_what_is_told_of_tensors(program: str) -> None:
    told = []
    for t in (sg, torch):
        env = {"t": t, "L": [], "x": t.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)}
        exec(program, env)  # noqa: S102
        told.append(env["out"])
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "name",
    "celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu relu6 rrelu selu silu threshold".split(),
)
def test_names_of_activations_in_place(name: str) -> None:
    told = []
    for t in (sg, torch):
        act = getattr(t.nn.functional, name)
        for x in (t.ones(3, requires_grad=True) * 1, (t.ones(2, 3, requires_grad=True) * 1)[0]):
            act(x, *((0.1, 0.5) if name == "threshold" else ()), inplace=True)
            told.append((x.grad_fn.name(), x._version, [f.name() for f, _ in x.grad_fn.next_functions]))
    assert told[:2] == told[2:]

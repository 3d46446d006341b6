"""What torch would show of gradients and results where its functions go about it in ways of their own."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

A = [[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]]
B = [1.5, 0.25, 3.0]


def name(tensor: Any) -> Any:
    return None if tensor is None or tensor.grad_fn is None else type(tensor.grad_fn).__name__


def shown(t: Any, function: Any, *operands: Any) -> Any:
    """Names and versions of a result and of its gradients of two orders; an operand is ``(values, dtype, leaf)``."""
    tensors = [t.tensor(np.array(v), dtype=getattr(t, dtype), requires_grad=leaf) for v, dtype, leaf in operands]
    leaves = [x for x in tensors if x.requires_grad]
    out = function(t, *tensors)
    first = t.autograd.grad((out * out).sum(), leaves, create_graph=True)
    total = sum((g * g).sum() for g in first)
    second = t.autograd.grad(total, leaves, allow_unused=True, retain_graph=True)
    edges = [type(place).__name__ for place, _ in out.grad_fn.next_functions]
    return name(out), edges, [name(g) for g in first], [None if g is None else g._version for g in (*first, *second)]


def compare(function: Any, *operands: Any) -> None:
    here, there = shown(sg, function, *operands), shown(torch, function, *operands)
    assert here == there


BATCHES = [((1, 4, 3), (2, 3, 5)), ((1, 1, 3), (2, 3, 5)), ((4, 3), (2, 3, 5)), ((1, 3), (2, 3, 5)),
           ((2, 4, 3), (1, 3, 5)), ((2, 4, 3), (3, 5)), ((1, 4, 3), (1, 3, 5)), ((1, 1, 4, 3), (2, 3, 5)),
           ((3,), (2, 3, 5)), ((2, 4, 3), (3,))]  # fmt: skip


@pytest.mark.parametrize("leaves", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("shapes", BATCHES)
def test_products_of_batches(shapes: Any, leaves: Any) -> None:
    """A batch of one is a matrix where its gradient is asked, and the batch is folded for that of a matrix only."""
    operands = [(np.ones(shape), "float64", leaf) for shape, leaf in zip(shapes, leaves, strict=True)]
    compare(lambda t, x, y: x @ y, *operands)


@pytest.mark.parametrize("call", ["x.amin(dim=-1)", "x.amax()", "x.amax(dim=0, keepdim=True)", "x.amin(dim=(0,))"])
def test_extremes_of_numbers(call: str) -> None:
    compare(lambda t, x: eval(call, {"x": x}), (-1.5, "float64", True))  # noqa: S307


@pytest.mark.parametrize("function", ["dist", "mse_loss"])
@pytest.mark.parametrize(
    "operands",
    [
        [(A, "float64", True), (B, "float32", True)],
        [(A, "float32", True), (B, "float64", True)],
        [(A, "float64", False), (2.0, "float32", True)],
        [(A, "float16", True), (A, "float64", True)],
        [([5, 1, 4], "int64", False), (A, "float64", True)],
    ],
)
def test_losses_of_two_dtypes(function: str, operands: Any) -> None:
    compare(lambda t, x, y: getattr(t if function == "dist" else t.nn.functional, function)(x, y), *operands)


ZEROS: list[tuple[Any, int]] = [
    ([1.0, 0.0, 2.0], 0), ([0.0, 0.0, 2.0, 1.0], 0), ([1.0, 2.0], 0), ([0.0, 2.0], 0), ([[0.0, 1.0]], 0), ([0.0], 0),
    ([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]], 0), ([[0.0, 1.0], [2.0, 0.0], [3.0, 4.0]], 1),
]  # fmt: skip


@pytest.mark.parametrize(("values", "dim"), ZEROS)
def test_running_products_with_zeros(values: Any, dim: int) -> None:
    compare(lambda t, x: x.cumprod(dim), (values, "float64", True))
    compare(lambda t, x: (x * 1).cumprod(dim), (values, "float64", True))


@pytest.mark.parametrize("call", ["3 * x", "x * 3", "3 + x", "x + 3", "3 - x", "x - 3", "3 / x", "x / 3", "x ** 2"])
def test_numbers_before_and_after(call: str) -> None:
    compare(lambda t, x: eval(call, {"x": x}), (B, "float64", True))  # noqa: S307


@pytest.mark.parametrize("operands", [([-0.6], A), ([-0.6, 0.4, 0.7], A), (A, [1.5, 0.7, 0.9]), (B, [0.7, 0.7, 0.7])])
@pytest.mark.parametrize("function", ["remainder", "fmod"])
def test_remainders(function: str, operands: Any) -> None:
    compare(lambda t, x, y: getattr(x, function)(y), *((values, "float64", True) for values in operands))


@pytest.mark.parametrize("call", ["x.norm()", "x.norm(dim=0)", "x.norm(p=1)", "x.norm(p=3)", "t.linalg.norm(x)"])
def test_norms(call: str) -> None:
    """Of all entries torch's rule needs no new axes; where axes are named it does."""

    def told(t: Any) -> Any:
        x = t.tensor(B, requires_grad=True)
        y = eval(call, {"x": x, "t": t})  # noqa: S307
        gradients = t.autograd.grad(y.tanh(), [y, x], create_graph=True)
        total = sum(g.sum() for g in gradients)
        return [name(g) for g in gradients] + [g._version for g in t.autograd.grad(total, [y, x])]

    assert told(sg) == told(torch)


SAVED = [
    "t.take_along_dim(a, places, 0)", "t.gather(a, 0, places)", "a.div(b, rounding_mode='floor')",
    "a.div(b.detach(), rounding_mode='trunc')",
    "a.div(2, rounding_mode='trunc')", "t.einsum('ij,kj->ik', a, b)", "t.einsum('ij,ij->', a, b)", "a.median()",
    "a.max()", "a @ b", "a.repeat_interleave(2, dim=0)", "a.remainder(b)", "t.xlogy(a, b)", "a.norm()", "a.sort(0)[0]",
]  # fmt: skip


@pytest.mark.parametrize("change", ["a.mul_(2)", "b.mul_(2)", "a.data.mul_(2)", "a.detach_()", "y.detach_()"])
@pytest.mark.parametrize("call", SAVED)
def test_what_is_saved(call: str, change: str) -> None:
    """An operand may be changed, or detached, where torch's rule does not keep it."""
    if "rounding_mode='floor'" in call and change == "a.detach_()":
        pytest.skip("torch does not see that what it saved for the divisor alone was detached")

    def told(t: Any) -> str:
        a, b = (t.tensor(v, requires_grad=True) * 1 for v in ([[1.0, 2.0], [3.0, 5.0]], [[2.0, 3.0], [4.0, 1.0]]))
        scope = {"t": t, "a": a, "b": b, "places": t.tensor([[0, 1], [1, 0]])}
        scope["y"] = eval(call, scope)  # noqa: S307
        try:
            exec(change, scope)  # noqa: S102
            scope["y"].sum().backward()
        except RuntimeError as error:
            return str(error)[:30]
        return "fine"

    assert told(sg) == told(torch)


PROGRAMS = {
    "a gradient is taken as it came in where the pass goes on": """
        x = t.tensor([-2.0, 1.0, 0.5], requires_grad=True)
        y = x.dot(x)
        y.register_hook(lambda g: g * 2)
        s = y.mean().tanh()
        for wanted in ([y, x], [y]):
            told += [name(g) for g in t.autograd.grad(s, wanted, create_graph=True)]
    """,
    "a change by a function of what torch has as a view": """
        class Doubled(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.mark_dirty(x)
                return x.mul_(2)

            @staticmethod
            def backward(ctx, g):
                return g * 2

        x = t.ones(2, 3, requires_grad=True)
        y = Doubled.apply(t.einsum('ij,kj->ik', x, x))
        told.append(name(y))
        y.sin().sum().backward()
        told.append(x.grad.tolist())
    """,
    "nothing is looked up where nothing is to be found": """
        x = t.ones(1, 2, 1, 3, requires_grad=True)
        made = [x[:0][:, [5]], x[None, :-1, 0:1, [0, 2]], t.ones(2, 0, requires_grad=True)[:, None, [4]]]
        told += [tuple(y.shape) for y in made]
        made[1].sum().backward()
        told.append(x.grad.tolist())
    """,
    "nothing is found along an axis of none": """
        t.ones(0, 3)[[0]]
    """,
    "strides of what was looked up": """
        x = t.ones(2, 3)
        made = [x[1:, [0, 1]], x[:1].index_select(1, t.tensor([0, 0, 1])), x[[0]], t.ones(2, 3, 2)[:1, 1, [1, 0]]]
        told += [tuple(y.stride()) for y in made]
    """,
    "comparisons ask for no history": """
        x = t.ones(3, 1, requires_grad=True).clone()
        part = x.chunk(2)[-1]
        x -= 1
        told += [y.tolist() for y in (x[:1] < part, part >= x[:1], part == part, part != 1)]
        part * 2
    """,
    "views that were cut out unrecorded follow what is detached": """
        x = t.ones(2, 3, requires_grad=True)
        with t.no_grad():
            part = x.view(-1)
        x.detach_()
        x.mul_(0.5)
        told += [part.requires_grad, (part * part).tolist()]
    """,
    "places of a number are no view": """
        for y in (t.tensor(2.0).argmin(dim=-1), t.tensor(2.0).sort()[1], t.kron(t.ones(2, 2), t.ones(2, 2))):
            told.append(y.detach_().tolist())
    """,
    "softmax of nothing has a history all the same": """
        x = t.ones(0, requires_grad=True)
        y = t.outer(x, x)
        for f in (t.softmax, t.log_softmax):
            g, = t.autograd.grad(f(y, -1).sum(), [y], create_graph=True)
            told += [g.requires_grad, name(g)]
    """,
    "what a hook gave is told from what is made of it": """
        x = t.tensor([1.0, -2.0, 0.5], requires_grad=True)
        for f in (lambda x: x.transpose(0, 0) + 1, lambda x: x.view(3) + 1, lambda x: x.t().reshape(-1) * 1):
            y = f(x)
            y.register_hook(lambda g: g.clamp(-1, 1))
            for _ in range(2):
                g, = t.autograd.grad((y * y * y).sum(), x, create_graph=True)
                h, = t.autograd.grad(g.sin().sum(), x, create_graph=True)
                k, = t.autograd.grad(g.sin().sum(), x, retain_graph=True)
                told += [name(g), name(h), k._version]
    """,
    "scaled numbers stand among the inputs, and those of a rounded quotient do not": """
        x = t.ones(2, requires_grad=True)
        for y in (x.add(0.5, alpha=2), x.sub(0.5, alpha=2), t.add(x, x, alpha=3), x // 2, x // x, t.lerp(x, x, 0.5)):
            told.append([type(f).__name__ for f, _ in y.grad_fn.next_functions])
    """,
    "views follow a change of shape in place of another": """
        x = t.ones(2, 3, requires_grad=True)
        base = x * 2
        part = base.narrow(1, 0, 2)
        others = base[0], part.diagonal()
        part.transpose_(0, -1)
        told += [name(y) for y in (base, part, *others)]
        sum(((y * y).sum() for y in (base, part, *others)), t.zeros(())).backward()
        told.append(x.grad.tolist())
    """,
    "expanded places are cast row by row": """
        x = (t.tensor([[0, 1, 1], [1, 1, 0], [0, 0, 1]]) > 0).expand(2, 3, 3)
        y = t.ones(3, requires_grad=True) + x
        told += [tuple(z.stride()) for z in (y, x * 1.5, x.sin())] + [name(y.flatten())]
    """,
    "a running sum of exponentials of nothing is a copy": """
        x = t.ones(3, requires_grad=True)
        g, = t.autograd.grad(x[3:].logcumsumexp(0).sum(), x, create_graph=True)
        told.append(g.requires_grad)
    """,
    "a batch that was copied for a product may change": """
        for change in ("x[1:].zero_()", "W.mul_(2)"):
            W = t.ones(3, 4, requires_grad=True) * 1
            v = t.ones(3, requires_grad=True) * 1
            x = t.ones(2, 3).expand(2, 2, 3)
            y = t.ones(5, 4, 3) * 1
            made = [x @ v, x.transpose(0, 1) @ W, W.T @ y.transpose(1, 2).clone()]
            try:
                exec(change, {"x": y, "W": W})
                told.append([t.autograd.grad(z.sum(), s)[0].tolist() for z, s in zip(made, (v, W, W))])
            except RuntimeError:
                told.append("stale")
    """,
    "a repeated view may be copied into itself, and nothing else may": """
        x = t.linspace(-1, 1, 2).expand(2, 2, 2)
        x[0].copy_(x[-1])
        x.copy_(x)
        told += [x.tolist(), x._version]
        y = t.ones(3)
        y.expand(2, 3).copy_(y)
    """,
    "running products of nothing are copies": """
        x = t.ones(2, 0, requires_grad=True)
        g, = t.autograd.grad((x.cumprod(1) * x * x.cumprod(1)).sum(), x, create_graph=True)
        g, = t.autograd.grad(g.sum(), x, create_graph=True)
        g, = t.autograd.grad(g.sum(), x, create_graph=True)
        told.append(g.requires_grad)
    """,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program: str) -> None:
    found = []
    for t in (sg, torch):
        told: list[Any] = []
        try:
            exec(textwrap.dedent(PROGRAMS[program]), {"t": t, "told": told, "name": name})  # noqa: S102
        except (RuntimeError, IndexError) as error:
            told.append(next(c for c in (IndexError, RuntimeError) if isinstance(error, c)))
        found.append(told)
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "call",
    ["inv(x)", "det(x)", "slogdet(x)", "solve(x, x)", "cholesky(x)", "qr(x)", "eigvalsh(x)", "svdvals(x)", "lu(x)"],
)
def test_matrices_in_half_precision_are_refused(call: str, dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    found = []
    for t in (sg, torch):
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            eval(f"t.linalg.{call}", {"t": t, "x": (t.eye(2) * 2).to(getattr(t, dtype))})  # noqa: S307
        found.append((isinstance(caught.value, NotImplementedError), str(caught.value)[:30]))
    assert found[0] == found[1]

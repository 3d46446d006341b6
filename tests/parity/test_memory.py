"""Layout, views, overlaps and what a backward pass keeps: the same answers, or the same errors, as torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

X = np.array([[0.3, -0.4, 0.5], [0.7, 0.11, -0.2], [-0.6, 0.8, 0.23]])
CUBE = np.arange(24.0).reshape(2, 3, 4)


def both(text: str, **names: Any) -> list[Any]:
    """What an expression gives on both sides: its value, or the text "error"."""
    found = []
    for t in (symgrad, torch):
        try:
            found.append(eval(text, {"t": t, **{k: v(t) for k, v in names.items()}}))  # noqa: S307
        except (RuntimeError, IndexError, ValueError):
            found.append("error")
    return found


LAID_OUT = """
x[:, [0, 1]] / x[..., [0, 0]] / c[:, [0, 1], :] / c[0, :, [0, 1]] / t.stack([x.t(), x.t()]) / t.cat([x.t(), x.t()])
x.t().cumsum(0) / x.t().softmax(0) / x.t().tril() / x.t().exp() / x.t().abs() / -x.t() / c.permute(2, 0, 1).clone()
t.linalg.inv(x) / t.linalg.solve(x, x) / t.linalg.solve(x, x[0]) / t.linalg.cholesky(x @ x.t() + t.eye(3).double())
x.t() @ x / c.permute(1, 2, 0).amax(0) / c.permute(1, 2, 0).std(0) / x.t().contiguous() / x.expand(2, 3, 3)
x.t().masked_fill(x.t() > 0, 0.5).reshape(9) / x.t().scatter(0, t.zeros(3, 3, dtype=t.int64), 0.5) / t.roll(x.t(), 1, 0)
"""


@pytest.mark.parametrize("text", [e.strip() for line in LAID_OUT.split("\n") for e in line.split(" / ") if e.strip()])
def test_strides(text):
    ours, theirs = both(text, x=lambda t: t.tensor(X), c=lambda t: t.tensor(CUBE))
    assert tuple(ours.stride()) == tuple(theirs.stride())
    assert ours.is_contiguous() == theirs.is_contiguous()


@pytest.mark.parametrize("shape", [(-1,), (9,), (3, 3), (1, 9), (3, 1, 3), (9, 1, 1)])
@pytest.mark.parametrize(
    "text", ["x", "x.t()", "x[:, 1:]", "x[1:]", "x[:, :1]", "x.expand(2, 3, 3)", "t.linalg.inv(x)"]
)
def test_view_refuses_to_copy(text, shape):
    ours, theirs = both(f"({text}).view({shape})", x=lambda t: t.tensor(X, requires_grad=True))
    assert (ours == "error") == (theirs == "error") if isinstance(ours, str) or isinstance(theirs, str) else True
    if not isinstance(theirs, str):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-15)  # inv is LAPACK's


SOURCES = ["v", "v[:1]", "v[1:]", "v.t()", "v[0]", "v.clone()", "v.detach()"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", ["add_", "mul_", "copy_", "sub_"])
def test_overlapping_operands(name, source):
    ours, theirs = both(f"v.{name}({source})", v=lambda t: t.tensor(X) * 1)
    assert isinstance(ours, str) == isinstance(theirs, str), (ours, theirs)
    if not isinstance(theirs, str):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


KEPT = """
x * y / x / y / x + y / x.exp() / x.sin() / x.sign() / x.sgn() / x.abs() / x ** 2 / x ** 0 / x ** 1 / x.erfinv()
x.prod() / x.cumprod(0) / x.sum() / x.amax(0) / x.norm() / x.var() / x.std() / x[0] / x[[0, 1]] / x[x > 0] / x.t()
x.reshape(9) / t.index_select(x, 0, t.tensor([0])) / t.where(x > 0, x, y) / x.masked_fill(x > 0, 0.5)
x.clamp(0, 1) / x.clamp(min=0)
t.maximum(x, y) / t.minimum(x, t.tensor(0.5)) / x @ y / t.linalg.inv(x) / x.softmax(0) / x.logsumexp(0) / x.tanh()
x.div(y, rounding_mode="floor") / x.div(y, rounding_mode="trunc") / x.remainder(y) / t.atan2(x, y) / x.copysign(y)
t.nn.functional.mse_loss(x, y) / x.mean() / x.round() / x.sigmoid() / x.log1p() / x.rsqrt() / x.reciprocal()
"""


def saved(t: Any, text: str) -> list[str]:
    """What happens after one change in place of x, y and the result, and in a second pass."""

    def made() -> dict[str, Any]:
        x, y = (t.tensor(a, requires_grad=True) * 1 for a in (X, X[::-1].copy()))
        return {"t": t, "x": x, "y": y, "out": eval(text, {"t": t, "x": x, "y": y})}  # noqa: S307

    facts = []
    for changed in ("x", "y", "out"):
        names = made()
        with t.no_grad():
            names[changed].add_(0.0)
        try:
            names["out"].sum().backward()
            facts.append("fine")
        except RuntimeError:
            facts.append("stale")
    out = made()["out"]
    total = out.sum() if out.ndim else out * 1
    total.backward()
    try:
        total.backward()
        facts.append("twice")
    except RuntimeError:
        facts.append("freed")
    return facts


@pytest.mark.parametrize("text", [e.strip() for line in KEPT.split("\n") for e in line.split(" / ") if e.strip()])
def test_what_is_saved(text):
    assert saved(symgrad, text) == saved(torch, text)


@pytest.mark.parametrize("loss", ["y.sum()", "(y * y).sum()", "(y ** 3).sum()"])
@pytest.mark.parametrize(
    "text",
    ["x ** 0", "x ** 1", "x ** 2", "t.maximum(x, x * 2)", "x.div(x, rounding_mode='floor')", "x % 3", "x.sign()",
     "x.clone().fill_(0.5)", "x.clone().zero_()", "x.clamp(0, 1)", "x.abs()", "x.floor() + x"],
)  # fmt: skip
def test_whether_gradients_have_gradients(text, loss):
    answers = []
    for t in (symgrad, torch):
        x = t.tensor(X, requires_grad=True)
        y = eval(text, {"t": t, "x": x})  # noqa: S307
        (g,) = t.autograd.grad(eval(loss, {"y": y}), x, create_graph=True)  # noqa: S307
        second = t.autograd.grad((g * g).sum(), x, create_graph=True)[0].requires_grad if g.requires_grad else None
        answers.append((g.requires_grad, second))
    assert answers[0] == answers[1]


def test_leaves_that_were_complete_have_their_gradient_after_an_error():
    for t in (symgrad, torch):
        a, b = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        middle = b * 1
        late = middle.exp()
        early = (a * 3).sum()
        with t.no_grad():
            late.mul_(2.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            (early + late.sum()).backward()
        assert a.grad.tolist() == [3.0, 3.0]
        assert b.grad is None


ACTIVATIONS = "gelu relu relu6 hardtanh hardsigmoid elu celu selu leaky_relu softshrink hardshrink softsign silu tanh"
FORMS = [f"t.nn.functional.{name}(x)" for name in ACTIVATIONS.split()] + [
    "t.nn.functional.smooth_l1_loss(x, y)", "t.nn.functional.huber_loss(x, y)", "t.nn.functional.mse_loss(x, y)",
    "t.nan_to_num(x)", "x.nansum()", "x.nanmean()", "x.gather(0, i)", "x.take(i)", "x.cummax(0)[0]", "x.cummin(0)[0]",
    "t.dist(x, y)", "t.cdist(x, y)", "x.masked_select(x > 0)", "x.scatter_add(0, i, y)", "x.index_fill(0, i[0], 0.5)",
    "x.index_select(0, i[0])", "x.roll(1)", "x.lerp(y, 0.3)", "x.clone().index_fill_(0, i[0], 0.5)", "x.relu()[0]",
    "t.nn.functional.leaky_relu(x.clone(), inplace=True)", "t.nn.functional.elu(x.clone(), inplace=True)",
    "t.nan_to_num(x.clone()).nan_to_num_()",
]  # fmt: skip


@pytest.mark.parametrize("changed", ["x", "y", "i"])
@pytest.mark.parametrize("text", FORMS)
def test_what_may_change_before_backward(text, changed):
    answers = []
    for t in (symgrad, torch):
        x, y = t.tensor(X, requires_grad=True) * 1, t.tensor(X[::-1] + 0.05, requires_grad=True) * 1
        names = {"t": t, "x": x, "y": y, "i": t.tensor([[0, 1, 2], [2, 1, 0], [0, 0, 1]])}
        loss = eval(text, names).sum()  # noqa: S307
        with t.no_grad():
            names[changed].zero_()
        try:
            t.autograd.grad(loss, x)
            answers.append("done")
        except RuntimeError as error:
            answers.append("modified by an inplace operation" in str(error))
    assert answers[0] == answers[1]


def test_activations_in_place_give_the_tensor_itself():
    for t in (symgrad, torch):
        for name in ("leaky_relu", "elu", "hardtanh", "relu", "celu"):
            x = t.tensor(X)
            assert getattr(t.nn.functional, name)(x, inplace=True) is x


COPIES = "prod(0) prod(0,keepdim=True) cumsum(0) cumprod(0) cummax(0)[0] logcumsumexp(0) softmax(0) log_softmax(0)"


@pytest.mark.parametrize("text", [*COPIES.split(), "gather(0,t.tensor(0))", "sort(0)[0]", "amax()", "sum()"])
def test_single_numbers_are_not_answered_by_views(text):
    for t in (symgrad, torch):
        x = t.tensor(0.5)
        made = eval(f"x.{text}", {"x": x, "t": t})  # noqa: S307
        assert not made._is_view()
        made.fill_(7.0)
        assert x.item() == 0.5


@pytest.mark.parametrize("text", ["2", "2, dim=0", "3, 1", "1", "0", "1, dim=1", "2, output_size=18"])
def test_repeat_interleave_by_a_number_keeps_nothing(text):
    facts = []
    for t in (symgrad, torch):
        x = t.tensor(X, requires_grad=True)
        y = eval(f"t.repeat_interleave(x, {text})", {"x": x, "t": t})  # noqa: S307
        loss = (y * t.arange(y.numel(), dtype=t.float64).view(y.shape)).sum()
        loss.backward(retain_graph=True)
        y.sum().backward()
        y.sum().backward()
        facts.append((y.stride(), y.tolist(), x.grad.tolist(), type(y.grad_fn).__name__))
    assert facts[0] == facts[1]


@pytest.mark.parametrize("shape", [(0,), (2,), (0, 2)])
def test_gradients_of_joined_tensors_without_entries_have_no_history(shape):
    facts = []
    for t in (symgrad, torch):
        x = t.ones(*shape, dtype=t.float64, requires_grad=True)
        (g,) = t.autograd.grad(t.cat([x, x]).sin().sum(), x, create_graph=True)
        facts.append((g.requires_grad, tuple(g.shape), str(g.dtype).removeprefix("torch.")))
    assert facts[0] == facts[1]

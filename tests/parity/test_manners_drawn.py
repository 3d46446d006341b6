"""What random programs of hooks, changes in place, views, modes and functions of the user found, made small."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


def doubled(t: Any) -> Any:
    """A function that changes its input."""

    class Doubled(t.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    return Doubled


@pytest.mark.parametrize("made", ["x", "x[:1]", "x.view_as(x)", "n", "(x * 1)", "(x * 1).unbind(0)[0]", "x.detach()"])
def test_functions_that_change_a_leaf(made: str) -> None:
    """The error says that the leaf has been used: it is found out after the function ran."""

    def answer(t: Any) -> Any:
        x = t.tensor([1.0, 2.0], requires_grad=True)
        with t.no_grad():
            n = x[...]
        v = eval(made, {"x": x, "n": n})  # noqa: S307
        try:
            out = doubled(t).apply(v)
        except RuntimeError as error:
            return str(error)[:60], v.tolist()
        return out.requires_grad, type(out.grad_fn).__name__, out.tolist()

    assert answer(sg) == answer(torch)


@pytest.mark.parametrize("made", ["x", "x * 1", "x.view_as(x)", "(x * 1)[:1]", "x.detach()", "t.ones(2)"])
def test_detaching_in_place_in_inference_mode_does_nothing(made: str) -> None:
    def facts(t: Any) -> Any:
        x = t.tensor([1.0, 2.0], requires_grad=True)
        v = eval(made, {"x": x, "t": t})  # noqa: S307
        with t.inference_mode():
            same = v.detach_() is v
        return same, v.requires_grad, v.is_leaf, type(v.grad_fn).__name__, v._version

    assert facts(sg) == facts(torch)


@pytest.mark.parametrize("call", ["n * n", "n * x", "x * n", "n.sin()", "n.square()", "n.hypot(x)", "n @ n", "n / 2"])
def test_hooks_on_what_is_saved_of_operands_out_of_reach(call: str) -> None:
    """A view made without grad says that it requires grad, and no gradient reaches it: of several, none is saved."""

    def count(t: Any) -> int:
        x = t.tensor([1.0, 2.0], requires_grad=True)
        with t.no_grad():
            n = x[...]
        seen: list[Any] = []
        with t.autograd.graph.saved_tensors_hooks(lambda v: (seen.append(v), v)[1], lambda v: v):
            eval(call, {"x": x, "n": n, "t": t})  # noqa: S307
        return len(seen)

    assert count(sg) == count(torch)


CHANGED = {
    "in place": "v.mul_(2)",
    "without grad": "with t.no_grad(): v.mul_(2)",
    "through its data": "v.data.mul_(2)",
    "other data": "v.data = v.data * 2",
    "a view of it": "v[:1].mul_(2)",
    "another argument": "w.mul_(2)",
    "what the function closes over": "c.mul_(2)",
    "nothing": "pass",
}


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("made", ["x * 1", "x", "x.sum()"])
@pytest.mark.parametrize("reentrant", [False, True])
def test_arguments_of_checkpoints_that_changed(change: str, made: str, reentrant: bool) -> None:
    """The function would run again on other values, and its gradient be silently wrong."""

    def answer(t: Any) -> Any:
        x, w, c = t.tensor([1.0, 2.0], requires_grad=True), t.ones(2), t.ones(2)
        v = eval(made, {"x": x})  # noqa: S307
        out = t.utils.checkpoint.checkpoint(lambda v, w: (v * v * w * c).sin(), v, w, use_reentrant=reentrant)
        try:
            exec(CHANGED[change], {"v": v, "w": w, "c": c, "t": t})  # noqa: S102
        except (RuntimeError, IndexError):
            return "refused"
        try:
            out.sum().backward()
        except RuntimeError as error:
            return str(error)[:90]
        return [round(g, 5) for g in x.grad.tolist()]

    assert answer(sg) == answer(torch)


def test_a_checkpoint_says_which_argument_changed() -> None:
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    v = x * 1
    out = sg.utils.checkpoint.checkpoint(lambda v: (v * v).sin(), v, use_reentrant=False)
    v.mul_(2)
    with pytest.raises(sg.errors.ChangedInPlace, match="is output 0 of Mul.*version 1; expected version 0.*checkpoint"):
        out.sum().backward()


VIEWS = ["v[0]", "v[:1]", "v[None]", "v[...]", "v[:, 0]", "v[0:1, None]", "v.t()", "v.mT", "v.permute(1, 0)",
         "v.view(-1)",
         "v.transpose(0, 1)", "v.reshape(4)", "v.unsqueeze(0)", "v.squeeze()", "v.expand(2, 2, 2)", "v.diagonal()",
         "v.select(0, 1)", "v.narrow(0, 0, 1)", "v.unbind(0)[0]", "v.flatten()", "v.unfold(0, 1, 1)", "v.chunk(2)[1]",
         "v.as_strided((2,), (1,))"]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("inside", [False, True])
def test_words_for_views_that_may_not_change(view: str, inside: bool) -> None:
    """They name the op that cut the view out, of an index its last step."""

    def words(t: Any) -> str:
        y = t.ones(2, 2, requires_grad=True) * 1
        with t.no_grad():
            v = y.view_as(y)
            made = eval(view, {"v": v}) if inside else None  # noqa: S307
        made = made if inside else eval(view, {"v": v})  # noqa: S307
        try:
            made.mul_(2)
        except RuntimeError as error:
            return str(error)[:55]
        return "changed"

    assert words(sg) == words(torch)

"""Random programs on symgrad and on torch: views, changes in place, hooks, backward passes, gradients of gradients.

A program grows statement by statement; each is run on both sides, and what it made or changed is compared at once:
the class of the error, or value, dtype, shape, requires_grad and is_leaf.  Hypothesis chooses, and shrinks what fails
to the shortest program that still does; its report shows the program.
"""

from __future__ import annotations

import builtins
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
hypothesis = pytest.importorskip("hypothesis", reason="hypothesis makes and shrinks the programs")
from hypothesis import (  # noqa: E402
    HealthCheck,
    given,
    note,
    settings,
    strategies as st,  # noqa: E402
)

pytestmark = pytest.mark.peer

SHAPES = [(), (1,), (3,), (2, 3), (3, 3), (1, 3), (2, 1, 3), (0,), (2, 0)]
DTYPES = ["float64"] * 8 + ["float32"] * 2 + ["int64", "bool"]
METHODS = """sin cos tanh exp sigmoid relu abs neg square atan erf expm1 sign floor round frac clone sgn softmax(-1)
cumsum(-1) logsumexp(-1) flip(0) t() sum() mean() amax() prod() norm() std() sum(-1) mean(0) amax(-1) max(-1)[0]
any() argmax() clamp(-0.5,0.5) clamp(min=0) double() float() long() bool() detach() contiguous() pow(2) pow(0)"""
UNARY = ["{0}." + form + ("" if form.endswith((")", "]")) else "()") for form in METHODS.split()]
PARTS = """[0] [1:] [::2] [...,0] [None] [[0,0]] .view(-1) .reshape(-1) .flatten() .unsqueeze(0) .squeeze()
.transpose(0,-1) .diagonal() .detach() .data .unbind(0)[0] .split(1)[0] .narrow(0,0,1) .select(0,0)
.expand(2,*{0}.shape)"""
VIEWS = ["{0}" + form for form in PARTS.split()]
BINARY = """{0}+{1} {0}-{1} {0}*{1} {0}/({1}.abs()+1) {0}>{1} {0}**2+{1} t.where({0}>0,{0},{1}) t.maximum({0},{1})
({0}*1.0)@({0}.t()*1.0)
t.stack([{0},{0}]) t.cat([{0},{1}]) {0}.masked_fill({1}>0,0.5) t.lerp({0},{1},0.3) t.atan2({0},{1})
t.minimum({0},{1}) {0}%3 {0}//2 {0}.div({1}.abs()+1,rounding_mode="floor") t.nn.functional.mse_loss({0},{1})
({0}.abs()+0.5)**{1} {0}.index_select(0,t.tensor([0,0])) 2-{0} {0}/2 t.add({0},{1},alpha=3) ({0}*1.0).mT@({0}*1.0)
t.einsum("...i,...i->...",{0}*1.0,{0}*1.0) t.tile({0},(2,)) {0}.repeat(2,*[1]*{0}.ndim)
{0}.index_fill(0,t.tensor([0]),0.5)
t.cat([{0},{0}],-1) {0}.type_as({1})+{1} {0}.clone()""".split()
CHANGES = """{0}.add_({1})|{0}.mul_(2)|{0}.sub_({1})|{0}.zero_()|{0}.fill_(0.5)|{0}.sin_()|{0}.copy_({1})
{0}.clamp_(min=0)|{0}[0]=1.5|{0}[...,0]=0.5|{0}[{0}>0]=0.5|{0}[:1].mul_(2)|{0}.t_()|{0}.unsqueeze_(0)|{0}.detach_()
{0}.view(-1)[0]=2.0|{0}.masked_fill_({0}>0,0.5)|{0}.requires_grad_()|{0}.requires_grad_(False)|{0}.retain_grad()
{0}.data.mul_(2)|{0}.data={0}.data*2|{0}.grad=None|{0}.addcmul_({1},{1},value=0.1)|{0}[[0]]+=1
{0}.index_add_(0,t.tensor([0]),{0}[:1])|{0}.index_put_((t.tensor([0,0]),),{0}[0]*1,accumulate=True)
t.from_numpy({0}.detach().numpy()).mul_(2)|t.sin({1}.expand_as({0}),out={0})|t.add({0},{0},out={0})
t.mul({0},{1},out={0})|t.maximum({0},{1},out={0})""".replace("\n", "|").split("|")
BEHIND = """{0}.data={0}.data*2 {0}.data.mul_(2) t.from_numpy({0}.detach().numpy()).mul_(2) {0}.mul_(2)""".split()
HOOKS = ["lambda g: g * 2", "lambda g: None", "lambda g: log.append(tuple(g.shape))", "lambda g: g.clamp(-1, 1)"]
MODES = ["t.no_grad()", "t.enable_grad()", "t.set_grad_enabled(False)"]


class Pair:
    """The same names on both sides."""

    def __init__(self) -> None:
        self.sides: list[dict[str, Any]] = [{"t": t, "np": np, "log": []} for t in (torch, symgrad)]
        self.count = 0
        self.text: list[str] = []

    def new(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def tensors(self) -> list[str]:
        return [n for n, v in self.sides[0].items() if isinstance(v, torch.Tensor)]

    def tracked(self) -> list[str]:
        return [n for n in self.tensors() if outcome(lambda n=n: self.sides[0][n].requires_grad) is True]

    def run(self, statement: str, watched: list[str]) -> None:
        """Run a statement on both sides and compare what it did."""
        self.text.append(statement)
        seen = []
        for side in self.sides:
            error = raised(statement, side)
            seen.append([error, *(described(side.get(name)) for name in ([] if error else watched))])
        same(seen[0], seen[1], self.text)

    def finish(self) -> None:
        """Compare the gradients and what the hooks saw."""
        assert self.sides[0]["log"] == self.sides[1]["log"], "\n".join(self.text)
        for name in self.tensors():
            seen = [outcome(lambda side=side: described(side[name].grad)) for side in self.sides]
            same([seen[0]], [seen[1]], [*self.text, f"{name}.grad"])


def raised(statement: str, names: dict[str, Any]) -> type[BaseException] | None:
    try:
        exec(statement, names)  # noqa: S102  (programs of this file only)
    except Exception as error:  # noqa: BLE001  (the class is what is compared)
        return next(c for c in type(error).__mro__ if hasattr(builtins, c.__name__))
    return None


def outcome(call: Any) -> Any:
    try:
        return call()
    except RuntimeError:
        return RuntimeError


def described(value: Any) -> Any:
    """What can be seen of a tensor; of several, all."""
    if isinstance(value, (tuple, list)):
        return [described(v) for v in value]
    if not hasattr(value, "requires_grad"):
        return None
    dtype = str(value.dtype).removeprefix("torch.")
    flags = outcome(lambda: (value.requires_grad, value.is_leaf))
    untracked = isinstance(flags, tuple) and not flags[0]
    strides = value.stride() if 0 in value.shape and untracked and value._is_view() else None
    return (dtype, tuple(value.shape), flags, strides, value.detach().clone().numpy(force=True))


def same(want: Any, got: Any, text: list[str]) -> None:
    shown = "\n".join(text)
    if isinstance(want, tuple) and len(want) == 5 and isinstance(want[4], np.ndarray):
        assert isinstance(got, tuple), shown
        places = 3 if None in (want[3], got[3]) else 4  # a gradient may be a view in one library alone
        assert want[:places] == got[:places], f"{shown}\ntorch {want[:4]}, here {got[:4]}"
        tight = {"rtol": 1e-6, "atol": 1e-8} if want[0] == "float64" else {"rtol": 1e-3, "atol": 1e-4}
        np.testing.assert_allclose(got[4], want[4], **tight, err_msg=shown)
    elif isinstance(want, list):
        assert len(want) == len(got), f"{shown}\ntorch {want}, here {got}"
        for a, b in zip(want, got, strict=True):
            same(a, b, text)
    elif isinstance(want, type):
        assert isinstance(got, type), f"{shown}\ntorch raises {want}, here {got}"
        assert issubclass(got, want) or want is TypeError, f"{shown}\ntorch raises {want}, here {got}"
    else:
        assert want == got, f"{shown}\ntorch {want}, here {got}"


def blown_up(value: Any) -> bool:
    """Whether a result is too large to compare with."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.numel():
        return False
    top = value.detach().abs().max()
    return not bool(torch.isfinite(top)) or float(top) > 1e3


def leaf(draw: Any, pair: Pair) -> None:
    shape = draw(st.sampled_from(SHAPES))
    dtype = draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 99))
    data = f"np.round(np.random.default_rng({seed}).standard_normal({shape}), 3).astype('{dtype}')"
    tracked = dtype[0] == "f" and draw(st.booleans())
    name = pair.new()
    pair.run(f"{name} = t.tensor(np.asarray({data}).tolist(), dtype=t.{dtype}, requires_grad={tracked})", [name])


def made(draw: Any, pair: Pair, forms: list[str]) -> None:
    a, b = (draw(st.sampled_from(pair.tensors())) for _ in range(2))
    name = pair.new()
    pair.run(f"{name} = {draw(st.sampled_from(forms)).format(a, b)}", [name])
    if blown_up(pair.sides[0].get(name)):
        for side in pair.sides:
            side.pop(name, None)


def changed(draw: Any, pair: Pair) -> None:
    a, b = (draw(st.sampled_from(pair.tensors())) for _ in range(2))
    statement = draw(st.sampled_from(CHANGES)).format(a, b)
    turned = "t_(" in statement or "unsqueeze_(" in statement  # of which torch does not tell gradients without grad
    mode = draw(st.sampled_from(["", "", "", *([] if turned else MODES)]))
    pair.run(f"with {mode}: {statement}" if mode else statement, pair.tensors())


def hooked(draw: Any, pair: Pair) -> None:
    a = draw(st.sampled_from(pair.tensors()))
    pair.run(f"{a}.register_hook({draw(st.sampled_from(HOOKS))})", [])


def between(draw: Any, pair: Pair) -> None:
    """Two passes over one graph, and a change behind autograd's back in between."""
    a, b = (draw(st.sampled_from(pair.tensors())) for _ in range(2))
    c = draw(st.sampled_from(pair.tracked() or pair.tensors()))
    pair.run(f"s = ({c}*{c}).sum()", [])
    pair.run("s.backward(retain_graph=True)", pair.tensors())
    pair.run(draw(st.sampled_from(BEHIND)).format(a, b), pair.tensors())
    pair.run("s.backward()", pair.tensors())


def backward(draw: Any, pair: Pair) -> None:
    a = draw(st.sampled_from(pair.tracked() or pair.tensors()))
    keep = draw(st.sampled_from(["", "retain_graph=True"]))
    pair.run(f"({a}*{a}).sum().backward({keep})", pair.tensors())


def gradients(draw: Any, pair: Pair) -> None:
    a, b = (draw(st.sampled_from(pair.tracked() or pair.tensors())) for _ in range(2))
    name = pair.new()
    pair.run(f"{name} = t.autograd.grad(({a}*{a}).sum(), {b}, create_graph=True, allow_unused=True)[0]", [name])
    if isinstance(pair.sides[0].get(name), torch.Tensor) and draw(st.booleans()):
        again = pair.new()
        pair.run(f"{again} = t.autograd.grad(({name}*{name}).sum(), {b}, allow_unused=True)[0]", [again])


STEPS = [
    leaf,
    *[lambda draw, pair: made(draw, pair, UNARY)] * 3,
    *[lambda draw, pair: made(draw, pair, BINARY)] * 3,
    *[lambda draw, pair: made(draw, pair, VIEWS)] * 2,
    changed,
    changed,
    hooked,
    between,
    backward,
    gradients,
]


def program(data: Any, longest: int) -> None:
    pair = Pair()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leaf(data.draw, pair)
        for step in data.draw(st.lists(st.sampled_from(range(len(STEPS))), max_size=longest)):
            if pair.tensors():
                STEPS[step](data.draw, pair)
        note("\n".join(pair.text))
        pair.finish()


COMMON: dict[str, Any] = {"suppress_health_check": list(HealthCheck)}


@settings(max_examples=40, **COMMON)
@given(st.data())
def test_short_programs(data):
    program(data, 8)


@pytest.mark.slow
@settings(max_examples=3000, derandomize=False, database=None, **COMMON)
@given(st.data())
def test_long_programs(data):
    program(data, 18)

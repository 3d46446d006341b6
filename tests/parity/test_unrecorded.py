"""What is changed or cut out without being recorded: whose gradient is still asked for, and which values count."""

from __future__ import annotations

import contextlib
import textwrap

import pytest

import symgrad
from symgrad.tape.graph import sequence
from symgrad.tape.memory.versions import changed_since

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")

pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

CHANGES = ["v.add_(1)", "b.add_(1)", "b.detach().add_(1)", "b.detach().detach()[1:].mul_(2)", "b[:1].add_(1)",
           "b.data.add_(1)"]  # fmt: skip


def numbers(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def both(run):
    """What ``run`` finds on either side, or the class of its error."""
    found = []
    for t in (symgrad, torch):
        try:
            found.append(run(t))
        except RuntimeError:
            found.append(RuntimeError)
    return found


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("change", CHANGES)
def test_views_of_memory_that_changed_unrecorded_are_new_nodes(change, mode, leaf):
    def run(t):
        x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = x if leaf else x * 1
        v = b[1:]
        before = v.grad_fn
        v.register_hook(lambda g: g * 10)
        y = (v * 2).sum()
        with getattr(t, mode)():
            eval(change, {"v": v, "b": b})  # noqa: S307
        facts = [type(v.grad_fn).__name__, v.grad_fn is before, v.requires_grad]
        facts += numbers(t.autograd.grad(y, [x, v], allow_unused=True))
        return facts + numbers(t.autograd.grad((v * 3).sum(), [x, v], allow_unused=True))

    here, there = both(run)
    assert here == there


ASKED = ["pass", "v.requires_grad_()", "v.requires_grad = True", "v.register_hook(seen.append)", "v.retain_grad()",
         "v.backward()", "t.autograd.grad(v, v)", "t.autograd.grad((v * 2).sum(), v)", "v[:].sum().backward()",
         "v.requires_grad_(False)"]  # fmt: skip


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("asked", ASKED)
def test_no_gradient_reaches_views_that_were_cut_out_unrecorded(asked, mode):
    def run(t):
        seen = []
        x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = x * 1
        with getattr(t, mode)():
            v = b[1:2]
        exec(asked, {"v": v, "t": t, "seen": seen})  # noqa: S102
        y = (v * 2).sum()
        edge = y.grad_fn.next_functions[0][0].next_functions[0][0]
        y.backward()
        return v.requires_grad, v.is_leaf, y.requires_grad, edge is None, numbers([v.grad, x.grad]), len(seen)

    here, there = both(run)
    assert here == there


@pytest.mark.parametrize("wanted", ["[v]", "[x, v]", "[v, y]", "[v, y, x]"])
def test_gradients_that_are_taken_on_the_way_are_those_before_the_hooks(wanted):
    def run(t):
        x = t.tensor([1.0, 2.0, 3.0], requires_grad=True)
        v = x * 5
        y = v * 2
        v.register_hook(lambda g: g * 10)
        y.register_hook(lambda g: g + 1)
        return numbers(t.autograd.grad(y.sum(), eval(wanted, {"x": x, "v": v, "y": y})))  # noqa: S307

    here, there = both(run)
    assert here == there


@pytest.mark.parametrize("change", ["pass", "v.requires_grad_()", "b.requires_grad_(False)", "v.add_(1)",
                                    "b.detach().mul_(2)"])  # fmt: skip
@pytest.mark.parametrize("asked", ["v.sum()", "(v * 2).sum()", "t.where(v > 0, v, v)[0]", "v.add_(1)"])
def test_views_of_what_was_told_to_require_grad_later(change, asked):
    def run(t):
        b = t.tensor([1.0, 2.0, 3.0])
        v = b[1:]
        b.requires_grad_()
        with t.no_grad():
            exec(change, {"v": v, "b": b, "t": t})  # noqa: S102
        facts = [v.requires_grad, v.is_leaf, v.grad_fn is None]
        loss = eval(asked, {"v": v, "t": t})  # noqa: S307
        facts.append(loss.requires_grad)
        if loss.requires_grad:
            loss.backward()
        return facts + numbers([b.grad, v.grad])

    here, there = both(run)
    assert here == there


APART = {
    "numpy and back": """
        v = t.from_numpy(x.detach().numpy())
        w = v[1:]
        w.mul_(2)
        seen = [x, v, w, x.detach(), v.detach()]""",
    "a copy inside": """
        v = t.as_tensor(x.detach().numpy())
        x.detach()[0].copy_(v[1])
        seen = [x, v]""",
    "data": """
        v = x.data
        w = v.detach()
        w.add_(1)
        v[0].mul_(2)
        seen = [x, v, w, v[0], x.data, v.data]""",
    "data of what had other data": """
        x.data = t.zeros(3)
        x.data.add_(1)
        v = x.detach()
        v.add_(1)
        seen = [x, v]""",
    "numbers": """
        v = x[0].data
        v.add_(1)
        w = t.from_numpy(x[0].detach().numpy())
        w.mul_(3)
        seen = [x, v, w]""",
    "conjugates": """
        z = t.complex(x.detach(), x.detach())
        c = z.conj()
        z.data.mul_(2)
        seen = [x, z, c, z.resolve_conj()]""",
    "narrow floats": """
        v = x.detach().bfloat16()
        v.data.add_(1)
        seen = [v, v.data]""",
}


@pytest.mark.parametrize("name", APART)
def test_changes_through_data_and_numpy_are_counted_apart(name):
    def run(t):
        scope = {"t": t, "x": t.ones(3, requires_grad=True)}
        exec(textwrap.dedent(APART[name]), scope)  # noqa: S102
        return [(v._version, v.detach().resolve_conj().tolist()) for v in scope["seen"]]

    here, there = both(run)
    assert here == there


SAVED = {"x": "x", "a view of x": "x[1:]", "data": "x.data", "a view of data": "x.data[1:]",
         "numpy": "t.from_numpy(x.numpy())"}  # fmt: skip


@pytest.mark.parametrize("saved", SAVED)
@pytest.mark.parametrize("changed", ["x", "x.data", "v", "v.data", "t.from_numpy(v.numpy())", "x.detach()"])
def test_backward_objects_where_the_count_is_that_of_what_was_saved(saved, changed):
    def run(t):
        x = t.ones(3)
        v = eval(SAVED[saved], {"x": x, "t": t})  # noqa: S307
        p = t.ones(v.shape, requires_grad=True)
        y = (p * v).sum()
        eval(changed, {"x": x, "v": v, "t": t}).add_(1)  # noqa: S307
        y.backward()
        return p.grad.tolist()

    here, there = both(run)
    assert here == there


@pytest.mark.parametrize("through", ["x.data", "x.data.data", "x.data[:1]", "t.from_numpy(x.numpy())"])
def test_formulas_know_that_their_memory_changed_through_data(through):
    t = symgrad
    x = t.ones(3)
    before = next(sequence)
    eval(through, {"x": x, "t": t}).add_(1)  # noqa: S307
    assert changed_since(x._value, before)
    assert changed_since(x.data._value, before)
    assert not changed_since(t.ones(3)._value, before)


CLAIMED = {
    "clamped": lambda t, x: x.clamp(0, 1),
    "squared": lambda t, x: x**2,
    "to the power of 0": lambda t, x: x**0,
    "inverted": lambda t, x: 1 / x,
    "plus 1": lambda t, x: x + 1,
    "plus a multiple": lambda t, x: t.add(x, x, alpha=3),
    "plus a multiple of 1": lambda t, x: t.add(x, 1, alpha=3),
    "less a multiple": lambda t, x: t.sub(x, x, alpha=2),
    "from a multiple": lambda t, x: t.rsub(x, x, alpha=2),
    "a multiple of others": lambda t, x: t.rsub(x, t.ones(2), alpha=2),
    "to the power of 1": lambda t, x: x**1,
    "to the power of 1.0": lambda t, x: t.pow(x, 1.0),
    "squares": lambda t, x: x * x,
    "times others": lambda t, x: x * t.ones(2),
    "nansum": lambda t, x: x.nansum(-1),
    "prod of a number": lambda t, x: x.sum().prod(-1),
    "max": lambda t, x: x.max(-1)[0],
    "mode": lambda t, x: x.mode(-1)[0],
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
    "elu": lambda t, x: t.nn.functional.elu(x),
    "gelu": lambda t, x: t.nn.functional.gelu(x),
    "lerp": lambda t, x: t.lerp(x, x, 0.5),
    "addcmul": lambda t, x: t.addcmul(x, x, x),
    "clone": lambda t, x: x.clone(),
    "double": lambda t, x: x.double(),
    "numpy": lambda t, x: x.numpy(),
}


@pytest.mark.parametrize("function", CLAIMED.values(), ids=CLAIMED)
def test_what_is_made_of_an_inference_tensor_that_claims_to_require_grad(function):
    def run(t):
        with t.inference_mode():
            x = t.tensor([0.5, 2.0], requires_grad=True)
        made = function(t, x)
        return made.requires_grad, type(made.grad_fn).__name__, made._version

    here, there = both(run)
    assert here == there


SHOWN = {
    "of several": lambda t, x: (x * 2).unbind(0)[0],
    "of several, of a leaf": lambda t, x: x.unbind(0)[0],
    "a chunk": lambda t, x: (x * 2).chunk(2)[0].view(2),
    "unrecorded": lambda t, x: unrecorded(t, (x * 2)),
    "of a leaf, unrecorded": lambda t, x: unrecorded(t, x),
}
ASKED = {
    "backward": lambda t, x, v: v.backward(t.ones(2)),
    "grad": lambda t, x, v: t.autograd.grad(v, x, t.ones(2)),
    "hook": lambda t, x, v: v.register_hook(print),
    "hook on a leaf": lambda t, x, v: v.register_post_accumulate_grad_hook(print),
    "retain_grad": lambda t, x, v: v.retain_grad(),
    "flatten": lambda t, x, v: v.flatten() is v,
    "sin": lambda t, x, v: v.sin(),
    "is_leaf": lambda t, x, v: v.is_leaf,
}


def unrecorded(t, y):
    with t.no_grad():
        return y[0]


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
def test_what_is_asked_of_a_view_whose_base_was_changed_meanwhile(shown, asked):
    def run(t):
        x = t.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True)
        v = shown(t, x)
        base = v._base
        with t.set_grad_enabled(base is not x):
            base.zero_()
        try:
            return asked(t, x, v)
        except RuntimeError as error:
            return str(error)[:60]

    here, there = both(run)
    assert here == there


@pytest.mark.parametrize("part", [False, True])
def test_other_memory_counts_as_a_change(part):
    def run(t):
        x = t.ones(3)
        v = x[:1] if part else x
        v.add_(1)
        v.set_(t.ones(2))
        seen = [x._version, v._version]
        v.add_(1)
        return [*seen, x._version, v._version, x.tolist(), v.tolist()]

    here, there = both(run)
    assert here == there


def test_addcdiv_saves_its_divisor():
    """Also where only what is added to requires grad."""

    def run(t):
        x, divisor, seen = t.ones(2, requires_grad=True), t.full((2,), 4.0), []
        with t.autograd.graph.saved_tensors_hooks(lambda v: seen.append(v.tolist()) or v, lambda v: v):
            t.addcdiv(x, t.ones(2), divisor)
        y = t.addcdiv(x, t.ones(2), divisor)
        divisor.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            seen.append(str(error)[:60])
        return seen

    here, there = both(run)
    assert here == there


@pytest.mark.parametrize("mode", ["any", "all"])
@pytest.mark.parametrize("which", ["c", "ca", "ac", "a", ""])
def test_hooks_on_several_tensors_of_which_some_require_no_grad(mode, which):
    """Where that is refused, none of the tensors has the hook."""

    def run(t):
        known, seen = {"a": t.ones(2, requires_grad=True), "c": t.ones(2)}, []
        with contextlib.suppress(RuntimeError, AssertionError):
            t.autograd.graph.register_multi_grad_hook([known[k] for k in which], lambda g: seen.append(1), mode=mode)
        (known["a"] * known["c"]).sum().backward()
        return seen

    here, there = both(run)
    assert here == there

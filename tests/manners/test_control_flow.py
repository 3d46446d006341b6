"""torch's ``cond``, ``while_loop``, ``scan`` and their kin: what they give and refuse, and their derivatives."""

from __future__ import annotations

import importlib

import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore")


def room(t):
    return importlib.import_module(f"{t.__name__}._higher_order_ops")


@pytest.mark.parametrize("values", [[1.0, 2.0], [-1.0, 0.5]])
def test_cond_is_the_branch_that_is_taken(t, values):
    x = t.tensor(values, requires_grad=True)
    y = t.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))
    other = x.sin() if sum(values) > 0 else x.cos() * 2
    assert t.equal(y, other)
    (slope,) = t.autograd.grad(y.sum(), x)
    assert t.allclose(slope, t.autograd.grad(other.sum(), x)[0])


def test_cond_asks_one_question(t):
    x = t.ones(2)
    with pytest.raises(RuntimeError, match="Expected pred to be bool or single-element tensor"):
        t.cond(x > 0, lambda x: x + 1, lambda x: x - 1, (x,))
    assert t.cond(True, lambda x: x + 1, lambda x: x - 1, (x,)).tolist() == [2.0, 2.0]


def test_cond_of_every_example(t):
    x = t.tensor([[1.0, 2.0], [-3.0, -4.0]])
    found = t.func.vmap(lambda x: t.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 1, (x,)))(x)
    assert found.tolist() == [[2.0, 4.0], [-3.0, -4.0]]


def test_loops_carry_what_they_were_given(t):
    x = t.tensor([1.0, 2.0])
    steps, y = room(t).while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y * 2), (t.tensor(0), x))
    assert (int(steps), y.tolist()) == (3, [8.0, 16.0])
    with pytest.raises(Exception, match="same number of outputs"):
        room(t).while_loop(lambda k, y: k < 3, lambda k, y: (k + 1,), (t.tensor(0), x))


SCANS = {
    "forwards": {},
    "backwards": {"reverse": True},
    "columns": {"dim": 1},
}


@pytest.mark.parametrize("how", SCANS)
def test_scans_stack_what_every_step_gives(t, how):
    x, options = t.arange(6.0).reshape(3, 2), SCANS[how]
    start = t.zeros(3 if how == "columns" else 2)
    last, rows = room(t).scan(lambda c, x: (c + x, c * x), start, x, **options)
    expected = {
        "forwards": ([6.0, 9.0], [[0.0, 0.0], [0.0, 3.0], [8.0, 20.0]]),
        "backwards": ([6.0, 9.0], [[0.0, 8.0], [8.0, 15.0], [0.0, 0.0]]),
        "columns": ([1.0, 5.0, 9.0], [[0.0, 0.0], [0.0, 6.0], [0.0, 20.0]]),
    }
    assert (last.tolist(), rows.tolist()) == expected[how]


def test_associative_scans(t):
    decay, drive = t.arange(1.0, 5.0), t.ones(4)
    step = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])  # noqa: E731
    found = room(t).associative_scan(step, (decay, drive), 0, combine_mode="generic")
    assert [part.tolist() for part in found] == [[1.0, 2.0, 6.0, 24.0], [1.0, 3.0, 10.0, 41.0]]
    back = room(t).associative_scan(lambda a, b: a + b, t.arange(6.0).reshape(2, 3), 1, True, combine_mode="generic")
    assert back.tolist() == [[3.0, 3.0, 2.0], [12.0, 9.0, 5.0]]


def test_gradients_of_a_scan():
    """The recurrence of a state space model, against the loop."""
    decay = sg.tensor([0.5, 0.25, 2.0], dtype=sg.float64, requires_grad=True)
    step = lambda h, a: (a * h + 1, a * h)  # noqa: E731
    assert sg.autograd.gradcheck(lambda a: room(sg).scan(step, sg.ones((), dtype=sg.float64), a), (decay,))
    assert sg.autograd.gradgradcheck(lambda a: room(sg).scan(step, sg.ones((), dtype=sg.float64), a), (decay,))


def test_nothing_to_go_over():
    for call in (
        lambda: room(sg).scan(lambda c, x: (c, x), sg.zeros(2), sg.ones(0, 2)),
        lambda: room(sg).scan(lambda c, x: (c, x), sg.zeros(2), (sg.ones(2), sg.ones(3))),
        lambda: room(sg).map(lambda x: x, 3.0),
        lambda: sg.while_loop(lambda x: False, lambda x: x, sg.ones(2)),
    ):
        with pytest.raises(ValueError, match=r"nothing to go over|as many slices|must be a tuple"):
            call()


def test_steps_that_give_something_else():
    """A tensor of two entries was taken for a carry and a result, and containers of others for those of the first."""
    kinds = iter([{"a": sg.ones(1)}, [sg.ones(1)]])
    for call in (
        lambda: room(sg).scan(lambda c, x: c + x, sg.zeros(2), sg.ones(4, 2)),
        lambda: room(sg).scan(lambda c, x: (c, x, x), sg.zeros(2), sg.ones(4, 2)),
        lambda: room(sg).map(lambda x: next(kinds), sg.ones(2)),
    ):
        with pytest.raises(ValueError, match=r"combine_fn gives \(carry, y\), but|nested differently"):
            call()


@pytest.mark.parametrize("options", [{"backend": "eager"}, {"backend": "eager", "dynamic": True, "fullgraph": False}])
def test_torchs_compile_changes_nothing(t, options):
    """With torch's options it is torch's: tensors come in and go out, and what else a function does is done."""
    w, seen = t.ones(2, requires_grad=True), []

    @t.compile(**options)
    def f(x, *, scale=1.0):
        seen.append(scale)
        return {"y": (w * x * scale).sum()}

    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        f(t.ones(2), scale=scale)["y"].backward()
    assert w.grad.tolist() == [15.0, 15.0]
    assert len(seen) >= 5
    assert t.compile(lambda x: x + 1, **options)(t.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        t.compile(lambda x: x, bad=1)


def test_functions_that_torch_does_not_compile(t):
    @t.compiler.disable
    def f(x):
        return 2 * x

    @t.compiler.disable(recursive=False)
    def g(x):
        return 3 * x

    assert (f(t.ones(1)) + g(t.ones(1))).tolist() == [5.0]

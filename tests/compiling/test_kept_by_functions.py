"""What forward of a custom function computed and kept: in recorded passes it is what it is computed by.

It was a constant with the values of the run: programs of gradients by ``create_graph=True`` gave other numbers at other
values, silently.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import symgrad as sg


class Masked(sg.autograd.Function):
    """A ReLU whose mask is saved."""

    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        return x * mask

    @staticmethod
    def backward(ctx, g):
        (mask,) = ctx.saved_tensors
        return g * mask


class MaskedToo(sg.autograd.Function):
    """The same, which gives its mask as a result without gradient."""

    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x * mask, mask

    @staticmethod
    def backward(ctx, g, _):
        (mask,) = ctx.saved_tensors
        return g * mask


class Attribute(sg.autograd.Function):
    """A power of e that is kept as an attribute."""

    @staticmethod
    def forward(ctx, x):
        ctx.power = x.exp()
        return ctx.power * 2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.power * 2


class Listed(sg.autograd.Function):
    """Powers of e that are kept in containers, which it adds to."""

    @staticmethod
    def forward(ctx, x):
        power = x.exp()
        ctx.powers, ctx.table, ctx.calls = [power, (2, power * 2)], {"half": [power / 2]}, [power]
        return power * 1

    @staticmethod
    def backward(ctx, g):
        power, (two, double) = ctx.powers
        ctx.calls.append(two)
        ctx.powers.append(g)
        del ctx.powers[-1]
        return g * power * double / two * ctx.table["half"][0]


class InPlace(sg.autograd.Function):
    """A result of changes in place, which formulas follow by tensors that stand for the arguments."""

    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        y[y < 0] = 0
        y.mul_(2)
        ctx.save_for_backward(y)
        return y * 3

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y * 3


class Scaled(sg.autograd.Function):
    """A product with a second argument that requires no grad."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x.exp() * k, k)
        return x * k

    @staticmethod
    def backward(ctx, g):
        y, k = ctx.saved_tensors
        return g * y * k, None


HERE, THERE = np.array([1.0, -2.0, 3.0]), np.array([-1.0, 0.5, 2.0])
FUNCTIONS = [Masked, MaskedToo, Attribute, Listed, InPlace, Scaled]


def passes(function, value, x=None):
    """The gradient by a recorded pass, and that of its sine by another one."""
    x = sg.tensor(value, requires_grad=True, name="x") if x is None else x
    others = (sg.tensor(np.float64(3)),) if function is Scaled else ()
    y = function.apply(x, *others)
    y = y[0] if isinstance(y, tuple) else y
    (g,) = sg.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = sg.autograd.grad(g.sin().sum(), x, create_graph=True)
    return g, h


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_programs_hold_for_other_values(function):
    for here, there in zip(passes(function, HERE), passes(function, THERE), strict=True):
        program = sg.compile(here, ["x"])
        assert program(HERE) == pytest.approx(here.detach().numpy(), rel=1e-12)
        assert program(THERE) == pytest.approx(there.detach().numpy(), rel=1e-12)


def test_it_is_a_constant_to_derivatives():
    """As in torch: of y = 2 e^x and its gradient c y, where c = 2 e^x was kept, the second pass sees the y alone."""
    g, h = passes(Attribute, HERE)
    c = 2 * np.exp(HERE)
    assert g.detach().numpy() == pytest.approx(2 * c * c, rel=1e-12)
    assert h.detach().numpy() == pytest.approx(np.cos(2 * c * c) * 2 * c * c, rel=1e-12)


class Replaced(sg.autograd.Function):
    """Two of three kept tensors are other ones after each pass, and one has another value after the first."""

    @staticmethod
    def forward(ctx, x):
        ctx.power, ctx.rest, ctx.third = x.exp(), [x.sin(), 0], x.cos()
        return x * 1

    @staticmethod
    def backward(ctx, g):
        found = g * ctx.power * ctx.rest[0] * ctx.third
        ctx.power, ctx.rest[0] = ctx.power * 2, ctx.rest[0] + 1
        if ctx.rest[1] == 0:
            ctx.third.mul_(3)
        ctx.rest[1] += 1
        return found


@pytest.mark.parametrize("copied", [False, True])
def test_what_backward_put_there_is_not_what_forward_kept(copied):
    x = sg.tensor(HERE, requires_grad=True, name="x")
    total = (Replaced.apply(x) ** 2).sum()
    if copied:
        x, total = pickle.loads(pickle.dumps((x, total)))
    for _ in range(2):
        (g,) = sg.autograd.grad(total, x, create_graph=True)
        kept = g.detach().numpy().copy()
        assert sg.compile(g, ["x"])(HERE) == pytest.approx(kept, rel=1e-12)


def test_containers_are_what_they_were_after_the_pass():
    """They hold the tensors that forward put there, and what backward added."""
    held = []

    class Holding(Listed):
        @staticmethod
        def forward(ctx, x):
            out = Listed.forward(ctx, x)
            held.append((ctx, ctx.powers, ctx.powers[0], ctx.powers[1], ctx.table["half"][0]))
            return out

    passes(Holding, HERE)
    ctx, powers, first, pair, half = held[0]
    assert ctx.powers is powers
    assert powers[0] is first
    assert powers[1] is pair
    assert len(powers) == 2
    assert ctx.table["half"][0] is half
    assert ctx.calls[1:] == [2, 2]


def test_formulas_say_what_it_is():
    assert passes(Masked, HERE)[0].latex() == r"2 x \odot \left[x > 0\right]"
    assert passes(Attribute, HERE)[0].latex() == "8 e^{2 x}"


def test_arrays_from_elsewhere_stay_constants():
    table = sg.tensor([1.0, 2.0, 3.0], dtype=sg.float64)

    class Outside(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, table)
            ctx.table = table
            return x * 1

        @staticmethod
        def backward(ctx, g):
            _, saved = ctx.saved_tensors
            assert saved._value is table._value
            return g * saved * ctx.table

    g, _ = passes(Outside, HERE)
    assert sg.formula(g).constants["table"].tolist() == [1.0, 2.0, 3.0]
    assert table._node is None


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_pickling(function):
    """A context that has tensors as attributes was refused, which the pass had taken up."""
    g, h = passes(function, HERE)
    for value in (g, h):
        again = pickle.loads(pickle.dumps(value))
        assert again.latex() == value.latex()
        assert again.tolist() == value.tolist()

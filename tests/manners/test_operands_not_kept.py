"""Functions whose rule does not read an operand: it may change before backward."""

from __future__ import annotations

import pytest

CALLS = {
    "polar, radius": ("t.polar(a, b)", "a"),
    "polar, angle": ("t.polar(a, b)", "b"),
    "ldexp": ("t.ldexp(a, b)", "a"),
    "ldexp_": ("(a * 1).ldexp_(b)", "a"),
}


def gradients(t, call, change):
    x, y = (t.tensor(v, dtype=t.float64, requires_grad=True) for v in ([1.0, 2.0], [0.3, 0.7]))
    given = {"t": t, "a": x * 1, "b": y * 1}
    out = eval(call, given)  # noqa: S307
    if change:
        given[change].mul_(3)
    (out * out).abs().sum().backward()
    return [round(g, 9) for g in (*x.grad.tolist(), *y.grad.tolist())]


@pytest.mark.parametrize("name", CALLS)
def test_an_operand_that_is_not_kept_may_change(t, name):
    call, operand = CALLS[name]
    assert gradients(t, call, operand) == gradients(t, call, None)


def test_what_is_kept_may_not(t):
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gradients(t, "t.ldexp(a, b)", "b")
    x = t.ones(2, requires_grad=True)
    made = t.polar(x, t.ones(2))
    made.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.abs().sum().backward()


def test_one_operand_alone_has_a_gradient(t):
    angle = t.tensor([0.3, 0.7], requires_grad=True)
    radius = t.ones(2)
    made = t.polar(radius, angle)
    radius.mul_(3)
    made.imag.sum().backward()
    assert (angle.grad - angle.detach().cos()).abs().max() < 1e-6

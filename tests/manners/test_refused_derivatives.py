"""Derivatives that torch refuses though it computes the function: masks, integers and kinds of numbers."""

from __future__ import annotations

import pytest

DIFFERENCE = "Subtraction, the `-` operator, with a bool tensor is not supported"
NEGATIVE = "Negation, the `-` operator, on a bool tensor is not supported"
TWO_KINDS = "input_is_complex == grad_is_complex"


def real(t):
    return t.tensor([1.5, 2.5], requires_grad=True)


BESIDE_A_MASK = [
    ("logaddexp(x, b)", DIFFERENCE),
    ("logaddexp(b, x)", DIFFERENCE),
    ("logaddexp2(x, b)", DIFFERENCE),
    ("pow(x, b)", DIFFERENCE),
    ("pow(x, b[0])", DIFFERENCE),
    ("atan2(b, x)", NEGATIVE),
    ("addcdiv(x, x, b)", "result type Float can't be cast to the desired output type Bool"),
    ("addcdiv(x, x, b.long() + 1, value=2)", "result type Float can't be cast to the desired output type Long"),
]


@pytest.mark.parametrize(("call", "words"), BESIDE_A_MASK)
def test_masks_beside_numbers(t, call, words):
    """The values are there; the derivative meets the operand as it was given, and cannot be computed."""
    x, b = real(t), t.tensor([True, True])
    y = eval(f"t.{call}", {"t": t, "x": x, "b": b})
    assert y.shape == (2,)
    for create_graph in (False, True):
        with pytest.raises(RuntimeError, match=words):
            t.autograd.grad(y.sum(), x, retain_graph=True, create_graph=create_graph)


@pytest.mark.parametrize("call", ["atan2(x, b)", "hypot(x, b)", "pow(b, x)", "addcdiv(x, b, x)", "pow(x, 2)"])
def test_masks_that_do_no_harm(t, call):
    """Where the derivative only multiplies by a mask it is there."""
    x, b = real(t), t.tensor([True, True])
    y = eval(f"t.{call}", {"t": t, "x": x, "b": b})
    y.sum().backward()
    assert x.grad.shape == (2,)


@pytest.mark.parametrize("call", ["logaddexp(x, z)", "logaddexp(z, x)", "dist(x, z)", "dist(z, x)",
                                  "where(x > 2, x, z)", "where(x > 2, z, x)"])  # fmt: skip
def test_real_beside_complex(t, call):
    """A complex gradient cannot go to a real operand of these; that of the complex operand is there."""
    x, z = real(t), t.tensor([1.0 + 1j, 2.0 - 1j], requires_grad=True)
    y = eval(f"t.{call}", {"t": t, "x": x, "z": z}).abs().sum()
    with pytest.raises(RuntimeError) as caught:
        t.autograd.grad(y, x, retain_graph=True)
    assert TWO_KINDS in str(caught.value)
    (g,) = t.autograd.grad(y, z)
    assert g.dtype == t.complex64


def test_abs_in_place_of_complex(t):
    """abs of complex numbers is real, so it cannot be written into them."""
    z = t.tensor([3 + 4j])
    with pytest.raises(RuntimeError, match="In-place abs is not supported for complex tensors"):
        z.abs_()
    assert t.tensor([-2.0]).abs_().tolist() == [2.0]


@pytest.mark.parametrize("call", ["dist(x, z)", "dist(z, x)"])
def test_refused_as_a_whole(t, call):
    """Where a distance is refused neither operand has a gradient afterwards, hooks or not."""
    x, z = real(t), t.tensor([1.0 + 1j, 2.0 - 1j], requires_grad=True)
    x.register_hook(lambda g: g)
    with pytest.raises(RuntimeError):
        eval(f"t.{call}", {"t": t, "x": x, "z": z}).backward()
    assert x.grad is None
    assert z.grad is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_not_implemented_forward(t):
    """A derivative that is not there is an error of its own class in forward mode."""
    forward, b = t.autograd.forward_ad, t.tensor([1.0, 2.0])
    with (
        forward.dual_level(),
        pytest.raises(NotImplementedError, match="Trying to use forward AD with .* that "),
    ):
        forward.make_dual(real(t), b) // b


@pytest.mark.parametrize("call", ["logaddexp(v, b)", "logaddexp(b, v)"])
def test_nothing_is_refused_where_no_gradient_goes(t, call):
    """A view cut out without grad requires grad as its base does, and is not differentiated by."""
    y = t.tensor([1.0, 2.0], requires_grad=True) * 2
    with t.no_grad():
        v = y.view(-1)
    out = eval(f"t.{call}", {"t": t, "v": v, "b": t.tensor([True, False])})
    assert out.requires_grad
    assert t.autograd.grad(out.sum() + y.sum(), y)[0].tolist() == [1.0, 1.0]

"""Forward mode through what reverse mode does not follow: no_grad(), changes in place; and what its tangents are."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vmap


def close(a, b, **tolerance):
    np.testing.assert_allclose(a.numpy() if isinstance(a, sg.Tensor) else a, b, **({"rtol": 1e-12} | tolerance))


def test_linear_maps_of_what_only_forward_mode_moves_through():
    """linearize is forward mode in torch: no_grad() and changes of what reverse mode has saved do not stop it."""
    x, t = sg.tensor([1.0, 2.0], dtype=sg.float64), sg.tensor([1.0, 0.5], dtype=sg.float64)

    def unrecorded(x):
        with sg.no_grad():
            square = x * x
        return x * square

    def overwritten(x):
        y = x + 0
        y.exp_().clamp_(max=3.0)
        return y * x

    for f, moved in ((unrecorded, [3.0, 6.0]), (overwritten, [2 * np.e, 1.5])):
        out, push = linearize(f, x)
        close(out, f(x))
        close(push(t), moved)
        close(push(2 * t), 2 * np.array(moved))


def test_what_moves_unrecorded_is_changed_by_what_is_recorded():
    """The change keeps the value before it where the tape follows the other operand only."""

    def f(x):
        with sg.no_grad():
            moving = x[[1, 0]]
        y = moving * 2
        y.mul_(x)
        y.div_(1 / x)
        y *= x
        return y.sum()

    x = sg.tensor([1.0, 2.0], dtype=sg.float64)
    # The gradient by x with m = (x₁, x₀) fixed is 6 m x², which moves with both.
    close(jacfwd(grad(f))(x), [[24.0, 6.0], [24.0, 24.0]])
    close(hessian(f)(x), [[24.0, 6.0], [24.0, 24.0]])


@pytest.mark.parametrize(
    "step",
    [lambda v: v + 0, lambda v: v.clone(), lambda v: sg.where(v > 0, v, 0.0), lambda v: v.masked_fill(v < 0, 0.0)],
    ids=["add", "clone", "where", "masked_fill"],
)
def test_tangents_of_what_runs_unrecorded_have_no_history(step):
    """Also where the tangent is that of the operand itself; the gradient of this function is 1."""

    def f(x):
        value = (sg.ones(3) * x.sum()).exp()
        with sg.no_grad():
            still = step(value)
        return (still + x).sum()

    close(hessian(f)(sg.ones(1)), [[0.0]])
    close(vmap(hessian(f))(sg.ones(2, 1)), np.zeros((2, 1, 1)))


def test_sums_of_gradients_of_numbers_and_of_stacks():
    """The Hessian's rows go together: a number's gradient may be one for all rows, or one for each."""
    start = sg.ones(1, dtype=sg.float64)

    def f(x):
        y = start * 3
        y.div_(x.abs().sum() + 1)
        y.div_(x.abs().sum() + 1)
        return (y * x).sum()

    x = sg.full((2, 1, 3), 2.0, dtype=sg.float64)
    # 3 s / (s + 1)² with s = Σx has the second derivative 6 (s - 2) / (s + 1)⁴ by any two entries.
    close(hessian(f)(x), np.full((2, 1, 3) * 2, 60 / 13**4))


def test_tangents_have_the_dtype_of_the_result():
    """A float32 operand moves a float64 result by a float64 tangent, and the other way round."""
    x, y = sg.tensor([1.0, 2.0]), sg.tensor([3.0, 4.0], dtype=sg.float64)
    for f, dtype in (
        (lambda x: x + y, sg.float64),
        (lambda x: y[0] * x, sg.float32),
        (lambda x: x.double(), sg.float64),
    ):
        out, tangent = jvp(f, (x,), (x,))
        assert out.dtype == tangent.dtype == jacfwd(f)(x).dtype == dtype
    assert jvp(lambda y: x + y[0], (y,), (y,))[1].dtype == sg.float32


def test_changes_in_place_under_forward_mode_within_forward_mode():
    """What was changed by a value that moves twice stands for its dual of the outer derivative, too."""
    b = sg.tensor([3.0, 4.0])

    def f(x):
        y = b * 1
        y[0] = x[1]
        return y

    x, t = sg.tensor([1.0, 2.0]), sg.tensor([1.0, 5.0])
    first, second = jvp(lambda x: jvp(f, (x,), (x * t,))[1], (x,), (t,))
    close(first, [10.0, 0.0])
    close(second, [25.0, 0.0])


def test_second_derivatives_move_through_no_grad_as_in_torch():
    """hessian is forward mode over reverse mode there: the first moves through no_grad(), the second does not."""

    def target(x):
        with sg.no_grad():
            square = x * x
        return (x * x * square).sum()

    x = sg.tensor([1.0, 2.0])
    moving = np.diag([6.0, 24.0])  # the gradient is 2 x s for s = x², which moves: 2 s + 4 x²
    close(hessian(target)(x), moving)
    close(jacfwd(jacrev(target))(x), moving)
    close(sg.vmap(hessian(target))(x[None])[0], moving)
    close(jacrev(jacrev(target))(x), np.diag([2.0, 8.0]))
    close(sg.autograd.functional.hessian(target, x), np.diag([2.0, 8.0]))

    class Square(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            with sg.no_grad():
                return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    close(hessian(lambda x: Square.apply(x).sum())(x), np.diag([2.0, 2.0]))  # it has no forward mode, and needs none


def test_blocks_of_hessians_have_the_dtype_of_the_first_argument():
    """As forward mode over the gradient by it gives them, also where they are zeros."""
    x, y = sg.tensor([1.0, 2.0]), sg.tensor([3.0], dtype=sg.float64)
    for f in (lambda x, y: (x * y).sum() ** 2, lambda x, y: (x**2).sum() + (y**2).sum()):
        by_pairs = hessian(f, argnums=(0, 1))(x, y)
        assert [[b.dtype for b in row] for row in by_pairs] == [[sg.float32] * 2, [sg.float64] * 2]


@pytest.mark.parametrize(
    "call",
    [
        lambda v: sg.nn.functional.layer_norm(v, (3,)),
        lambda v: sg.nn.functional.rms_norm(v, (3,)),
        lambda v: sg.nn.functional.batch_norm(v, None, None, training=True),
        lambda v: sg.nn.functional.scaled_dot_product_attention(v, v, v),
        lambda v: sg.cdist(v, v + 1),
    ],
    ids=["layer_norm", "rms_norm", "batch_norm", "attention", "cdist"],
)
def test_folded_functions_of_tensors_that_came_to_move(call):
    """They are followed by their parts, as those of values that move from the start."""
    start = sg.tensor([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]], dtype=sg.float64)

    def changed(x):
        v = start.clone()
        v[:, 1:].copy_(x[:, 1:])
        return call(v)

    def joined(x):
        return call(sg.cat([start[:, :1], x[:, 1:]], 1))

    found, wanted = (jvp(f, (start * 0.5,), (start.sin(),)) for f in (changed, joined))
    for a, b in zip(found, wanted, strict=True):
        close(a, b.numpy(), rtol=1e-9, atol=1e-12)

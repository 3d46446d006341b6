"""Custom functions that many tests need, made of the module that they run with."""

from __future__ import annotations


def squaring(t):
    """x², which saves x."""

    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    return Square


def parted(t):
    """Twice and three times the input."""

    class Parted(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    return Parted


def doubling(t):
    """Twice the input, in its own memory."""

    class Doubled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Doubled


def sum_and_product(t):
    """The sum and the product of two inputs, both of which it saves."""

    class SumAndProduct(t.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a + b, a * b

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            return g + h * b, g + h * a

    return SumAndProduct

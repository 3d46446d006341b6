"""Custom functions in programs and formulas: what cannot be run on formulas is run on tensors that stand for them."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError

rng = np.random.default_rng(11)


class Sign(sg.autograd.Function):
    """A straight-through estimator whose gradient is masked in place."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        out = g.clone()
        out[x.ge(1)] = 0
        out[x.le(-1)] = 0
        return out


class Learned(sg.autograd.Function):
    """Quantisation with a learned step; it looks at the step, and its backward calls another custom function."""

    @staticmethod
    def forward(ctx, w, step, low, high):
        assert step > 0
        ctx.save_for_backward(w, step)
        ctx.ends = low, high
        return sg.round(w / step).clamp_(low, high) * step

    @staticmethod
    def backward(ctx, g):
        (w, step), (low, high) = ctx.saved_tensors, ctx.ends
        ratio = w / step
        below, above = (ratio < low).to(w.dtype), (ratio > high).to(w.dtype)
        inside = 1 - below - above
        slope = below * low + above * high + inside * (Sign.apply(ratio) - ratio)
        return inside * g, (slope * g).sum().reshape(step.shape), None, None


class Simplex(sg.autograd.Function):
    """The projection onto the simplex, row by row, with constants made of sizes."""

    @staticmethod
    def forward(ctx, x):
        ordered, _ = x.sort(dim=1, descending=True)
        sums = ordered.cumsum(1) - 1
        k = sg.arange(1, x.size(1) + 1).to(x.dtype).view(1, -1)
        count = (k * ordered > sums).sum(1, keepdim=True)
        out = (x - sums.gather(1, count - 1) / count).clamp(min=0)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        kept = g.clone()
        kept[out == 0] = 0
        mean = kept.sum(1, keepdim=True) / (out != 0).sum(1, keepdim=True)
        return sg.where(out != 0, kept - mean, kept)


class Highest(sg.autograd.Function):
    """A mask of the larger part of all entries: how many these are is a number made of the sizes."""

    @staticmethod
    def forward(ctx, x):
        out = x.clone()
        order = x.flatten().argsort()
        cut, flat = int(0.6 * x.numel()), out.flatten()
        flat[order[:cut]] = 0
        flat[order[cut:]] = 1
        return flat.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g / (7 * g.numel()) ** 0.5


class Pair(sg.autograd.Function):
    """Two outputs, one of which may have no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        first, second = x * y, x.clone()
        second[second < 0] = 0
        ctx.save_for_backward(x, y, second)
        return first, second

    @staticmethod
    def backward(ctx, g, h):
        x, y, second = ctx.saved_tensors
        h = h.clone()
        h[x < 0] = 0
        return g * y + h * second, g * x


class Once(sg.autograd.Function):
    """A gradient that is clipped in place, and that torch would not differentiate."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x * x).clamp_(max=2)

    @staticmethod
    @sg.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        out = 2 * x * g
        out[out > 1] = 1
        return out


CASES = {
    "sign": (lambda x, w: (Sign.apply(x * w) * x).sum(), ((3, 4), (3, 4)), ((5, 2), (5, 2))),
    "learned": (lambda x, s: (Learned.apply(x, s.abs() + 0.1, -4, 3) ** 2).sum(), ((3, 4), (1,)), ((6, 2), (1,))),
    "simplex": (lambda x: (Simplex.apply(x) * x * x).sum(), ((4, 6),), ((7, 3),)),
    "highest": (lambda x, w: (Highest.apply(x * 2) * w).sum(), ((3, 4), (3, 4)), ((4, 6), (4, 6))),
    "both": (lambda x, y: (Pair.apply(x, y)[0] * Pair.apply(y, x)[1]).sum(), ((4, 3), (4, 3)), ((2, 5), (2, 5))),
    "one of two": (lambda x, y: (Pair.apply(x, y)[1] ** 2 * y).sum(), ((4, 3), (4, 3)), ((2, 5), (2, 5))),
}


def slopes(f, args):
    leaves = [sg.tensor(a, requires_grad=True) for a in args]
    first = sg.autograd.grad(f(*leaves), leaves, create_graph=True)
    return first, sg.autograd.grad(sum((g * g).sum() for g in first), leaves)


@pytest.mark.parametrize("case", CASES)
def test_programs_of_custom_functions_give_their_numbers(case):
    f, *shapes = CASES[case]
    sample = [[rng.normal(size=s) for s in shapes[k]] for k in (0, 1, 0)]
    places = tuple(range(len(sample[0])))
    value, slope = sg.compile(f, *sample[0]), sg.compile(sg.func.grad(f, argnums=places), *sample[0])
    for args in sample:
        np.testing.assert_allclose(value(*args), f(*map(sg.tensor, args)), rtol=1e-12)
        for found, wanted in zip(slope(*args), slopes(f, args)[0], strict=True):
            np.testing.assert_allclose(found, wanted.detach(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_second_derivatives_are_those_of_backward(case):
    f, shapes, _ = CASES[case]
    args = [rng.normal(size=s) for s in shapes]
    places = tuple(range(len(args)))

    def steep(*args):
        return sum((g * g).sum() for g in sg.func.grad(f, argnums=places)(*args))

    program = sg.compile(sg.func.grad(steep, argnums=places), *args)
    for found, wanted in zip(program(*args), slopes(f, args)[1], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def test_a_backward_that_is_differentiated_once_has_a_program():
    f = sg.func.grad(lambda x, w: (Once.apply(x) * w).sum())
    x, w = rng.normal(size=(2, 3, 4))
    program = sg.compile(f, x, w)
    for x, w in (rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 2))):
        np.testing.assert_allclose(program(x, w), f(sg.tensor(x), sg.tensor(w)), rtol=1e-13)


def saving(keep):
    """sin(2x), whose backward reads what ``keep`` leaves: torch takes all but arguments and results for constants."""

    class Sine(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            double = x * 2
            out = double.sin()
            keep(ctx, double, out)
            return out

        @staticmethod
        def backward(ctx, g):
            double, out = ctx.saved_tensors or (ctx.double, ctx.out)
            return g * (double.cos() + out)

    return Sine


def attributes(ctx, double, out):
    ctx.double, ctx.out = double, out


@pytest.mark.parametrize("keep", [lambda ctx, *kept: ctx.save_for_backward(*kept), attributes], ids=["saved", "kept"])
def test_what_forward_computed_is_a_constant_and_a_saved_result_is_not(keep):
    """The program took the derivative of ``forward``: of a rounded result it was 0, in place of what backward says."""
    function = saving(keep)

    def f(x):
        return (function.apply(x) ** 2).sum()

    x = np.array([0.3, 0.8])
    leaf = sg.tensor(x, requires_grad=True)
    (first,) = sg.autograd.grad(f(leaf), leaf, create_graph=True)
    rows = [sg.autograd.grad(g, leaf, retain_graph=True)[0].tolist() for g in first]
    np.testing.assert_allclose(sg.compile(sg.func.hessian(f), x)(x), rows, rtol=1e-13)
    named = sg.tensor(x, name="x", requires_grad=True)
    f(named).backward()
    assert str(named.grad.expr) == "2*(sin(2*x) + cos(2*x))*sin(2*x)"


def test_formulas_without_a_program():
    x = sg.tensor([[0.5, -2.0, 0.1]], name="x", requires_grad=True)
    Sign.apply(x).sum().backward()
    text = str(x.grad.expr)
    assert "Sign" not in text
    assert "True" not in text
    np.testing.assert_array_equal(x.grad, [[1, 0, 1]])


def test_a_function_that_draws_or_leaves_traces_has_no_program():
    weight = sg.tensor([1.0, 2.0], requires_grad=True)

    class Accumulating(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone().fill_(1.0) * sg.rand(2, dtype=x.dtype)

        @staticmethod
        def backward(ctx, g):
            with sg.enable_grad():
                (weight * g.detach()).sum().backward()
            return g.clone().fill_(0.0)

    with pytest.raises(CompileError, match="random numbers"):
        sg.compile(lambda x: Accumulating.apply(x).sum(), np.ones(2))
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = Accumulating.apply(x).sum()
    assert "Accumulating" in str(y.expr)
    assert weight.grad is None
    y.backward()
    assert weight.grad.tolist() == [1.0, 1.0]


def test_identity_matrices_are_as_large_as_what_they_are_added_to():
    """Of n - 1 rows, the identity had the number of the trace at other sizes, and no program was found."""

    def f(A, v):
        rows = (A * v[:, None]).diff(dim=0)
        return sg.linalg.solve(rows @ rows.T + 2 * sg.eye(rows.shape[0], dtype=sg.float64), rows).softmax(1).var()

    rng = np.random.default_rng(0)
    slope = sg.func.grad(f, 1)
    program = sg.compile(slope, sg.tensor(rng.random((6, 5))), sg.tensor(rng.random(6))).program
    for n, m in ((6, 5), (4, 3), (9, 9)):
        A, v = rng.random((n, m)), rng.random(n)
        assert np.allclose(program(A, v), slope(sg.tensor(A), sg.tensor(v)).numpy(), rtol=1e-9)

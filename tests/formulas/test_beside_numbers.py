"""The other half of the manners: beside every number stands its formula, and the two agree."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formula.derive import gradient
from symgrad.formula.term import evaluate, symbols
from symgrad.op import lookup
from symgrad.tape.formulas.reading import read


def agrees(tensor, **values):
    """The formula of ``tensor``, evaluated at the values of its symbols, is its number."""
    reading, term = read(tensor)
    sizes = {letter: n for n, letter in reading.letters.items()}
    found = evaluate(term, {k: np.asarray(v, np.float64) for k, v in values.items()}, sizes)
    np.testing.assert_allclose(found, tensor.detach().numpy(), rtol=1e-5)
    return str(tensor.expr)


def leaf(*data, name=None):
    return sg.tensor(data, dtype=sg.float64, requires_grad=True, name=name)


def test_sum_and_its_gradient():
    a = sg.ones((3, 4), requires_grad=True)
    b = sg.zeros(3, 4)
    d = (a + b).sum()
    d.backward()
    assert agrees(d, a=np.ones((3, 4)), b=np.zeros((3, 4))) == "sum(a + b)"
    assert agrees(a.grad) == "ones(n, m)"


def test_gradient_with_a_named_cotangent():
    x = leaf(1.0, 2.0, 3.0, name="x")
    v = sg.tensor([1.0, 1 / 2, 1 / 3], dtype=sg.float64, name="v")
    (x * x).backward(v)
    assert agrees(x.grad, x=[1, 2, 3], v=[1, 1 / 2, 1 / 3]) == "2*v*x"


def test_accumulated_gradient_is_the_sum():
    x = leaf(1.0, 2.0, name="x")
    (x * x).sum().backward()
    (x**3).sum().backward()
    assert agrees(x.grad, x=[1, 2]) in ("3*x**2 + 2*x", "x*(3*x + 2)")


def test_least_squares():
    w = sg.Tensor([1.0])
    w.requires_grad = True
    w.grad = sg.zeros(1)
    X = sg.tensor([1.0, 2.0, 3.0])
    Y = sg.tensor([3.0, 5.0, 7.0])
    y = ((Y - w * X) ** 2).sum()
    y.backward()
    agrees(w.grad, w=[1], X=[1, 2, 3], Y=[3, 5, 7])
    assert {s.name for s in w.grad.expr.free_symbols} >= {"w", "X", "Y"}


def test_local_derivatives_of_a_node():
    x = leaf(1.0, 2.0)
    y = x * leaf(3.0, 4.0)
    assert {k: str(v) for k, v in y.grad_fn.formula.items()} == {"x1": "g*x2", "x2": "g*x1"}


def test_detach_starts_a_new_symbol():
    x = leaf(1.0, 2.0, name="x")
    y = (x * 2).detach()
    assert str((y * x).expr) == "x*y"


# ------------------------------------------------------------------------------------------ gradients changed by hand


def test_a_gradient_changed_by_hand_is_a_symbol():
    x = leaf(1.0, 2.0, name="x")
    (x * x).sum().backward()
    assert str(x.grad.expr) == "2*x"
    x.grad.data.mul_(3)
    assert "x" not in {s.name for s in x.grad.expr.free_symbols}
    (x * x).sum().backward()
    assert "x" not in {s.name for s in x.grad.expr.free_symbols}


@pytest.mark.parametrize(
    "clear",
    [lambda x: x.grad.zero_(), lambda x: x.grad.data.zero_(), lambda x: setattr(x, "grad", None)],
    ids=["zero_", "data.zero_", "None"],
)
def test_after_zeroing_the_formula_starts_again(clear):
    x = leaf(1.0, 2.0, name="x")
    (x * x).sum().backward()
    clear(x)
    (x**3).sum().backward()
    assert agrees(x.grad, x=[1, 2]) == "3*x**2"


def test_assigned_gradient_is_no_part_of_a_formula():
    x = leaf(1.0, 2.0, name="x")
    x.grad = sg.tensor([5.0, 5.0], dtype=sg.float64)
    (x * x).sum().backward()
    assert x.grad.tolist() == [7.0, 9.0]
    assert str(x.grad.expr) != "2*x"


# ------------------------------------------------------------------------------------------ hooks


def test_hook_of_operations_stands_in_the_formula():
    x = leaf(1.0, 2.0, name="x")
    handle = x.register_hook(lambda g: g * 2)
    (x * x).sum().backward()
    handle.remove()
    assert agrees(x.grad, x=[1, 2]) == "4*x"
    (x * x).sum().backward()
    assert agrees(x.grad, x=[1, 2]) == "6*x"


def test_hook_on_a_result():
    x = leaf(1.0, 2.0, name="x")
    y = x * x
    y.register_hook(lambda g: g.clamp(0, 1))
    (y * 3).sum().backward()
    agrees(x.grad, x=[1, 2])


def through_numpy(g):
    return sg.tensor(np.tanh(g.numpy()))


def test_hook_with_values_is_an_opaque_function():
    x = leaf(1.0, 2.0, name="x")
    y = x * x
    y.register_hook(through_numpy)
    (y * 3).sum().backward()
    assert "through_numpy" in agrees(x.grad, x=[1, 2])


def looks(g):
    assert float(g.norm()) > 0
    return g


def test_hook_that_only_looks_leaves_no_trace():
    """It gives what it was given, as hooks that print do."""
    x = leaf(1.0, 2.0, name="x")
    y = x * x
    y.register_hook(looks)
    x.register_hook(looks)
    y.sum().backward()
    assert agrees(x.grad, x=[1, 2]) == "2*x"


def changes_in_place(g):
    g.mul_(3)


def changes_the_array(g):
    g.numpy()[...] *= 3


CHANGES = {
    "unsaid": changes_in_place,
    "returned": lambda g: g.mul_(3),
    "array": changes_the_array,
    "data": lambda g: [g.data.mul_(3)] and None,
}


@pytest.mark.parametrize("hook", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("data", [(1.0, 2.0), (2.0,)])
def test_hook_that_changes_the_gradient_in_place_stands_in_the_formula(hook, data):
    """With and without returning it: the formula was that of the gradient before."""
    x = leaf(*data, name="x")
    y = x * x
    y.register_hook(hook)
    (y * 2).sum().backward()
    assert x.grad.tolist() == [12 * v for v in data]
    agrees(x.grad, x=list(data))


def test_hook_that_changes_a_number_in_place():
    x = sg.tensor(2.0, requires_grad=True, name="x")
    y = x * x
    y.register_hook(changes_in_place)
    y.backward()
    assert x.grad.item() == 12
    assert str(x.grad.expr) != "2*x"


def test_node_hooks_that_change_gradients_in_place_leave_no_wrong_formula():
    for register in ("register_prehook", "register_hook"):
        x = leaf(1.0, 2.0, name="x")
        y = x * x
        getattr(y.grad_fn, register)(lambda gs, *_: changes_in_place(gs[0]))
        (y * 2).sum().backward()
        assert x.grad.tolist() != [4.0, 8.0]
        assert str(x.grad.expr) != "4*x"


def test_equal_formulas_do_not_share_a_hook():
    x = leaf(1.0, 2.0, name="x")
    y, z = x * x, x * x
    y.register_hook(lambda g: g * 10)
    (y + z).sum().backward()
    assert agrees(x.grad, x=[1, 2]) == "22*x"


def test_node_hooks_leave_no_wrong_formula():
    x = leaf(1.0, 2.0, name="x")
    y = x * x
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 7,))
    y.sum().backward()
    assert x.grad.tolist() == [14.0, 28.0]
    assert str(x.grad.expr) != "2*x"


# ------------------------------------------------------------------------------------------ custom functions


class line(sg.autograd.Function):
    """w x + b."""

    @staticmethod
    def forward(ctx, w, x, b):
        ctx.save_for_backward(w, x)
        return w * x + b

    @staticmethod
    def backward(ctx, g):
        w, x = ctx.saved_tensors
        return g * x, g * w, g


class Signed(sg.autograd.Function):
    """The sign, with the straight-through gradient: backward is not the derivative of forward."""

    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        return g


class NumpyExp(sg.autograd.Function):
    """e^x by way of NumPy, which no formula can follow."""

    @staticmethod
    def forward(ctx, x):
        y = sg.tensor(np.exp(x.detach().numpy()))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * sg.tensor(y.detach().numpy())


class Noisy(sg.autograd.Function):
    """A forward that answers differently every time has no formula."""

    @staticmethod
    def forward(ctx, x):
        return x * float(np.random.default_rng().random())

    @staticmethod
    def backward(ctx, g):
        return g


class Pair(sg.autograd.Function):
    """Two outputs and a setting."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        ctx.save_for_backward(x)
        return x * k, (x * x).sum()

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return a * ctx.k + 2 * b * x, None


def test_formula_of_a_function_is_what_it_does():
    w, x, b = leaf(1.0, 2.0, name="w"), leaf(3.0, 4.0, name="x"), leaf(5.0, 6.0, name="b")
    out = line.apply(w, x, b)
    values = {"w": [1, 2], "x": [3, 4], "b": [5, 6]}
    assert agrees(out, **values) == "b + w*x"
    out.sum().backward()
    assert agrees(w.grad, **values) == "x"
    assert agrees(b.grad, **values) == "ones(n)"


def test_derivative_formula_is_the_users_backward():
    x = leaf(0.5, -2.0, name="x")
    (Signed.apply(x) * x).sum().backward()
    assert agrees(x.grad, x=[0.5, -2]) == "x + sign(x)"


def test_function_that_needs_values_is_opaque():
    x = leaf(1.0, 2.0, name="x")
    y = NumpyExp.apply(x)
    assert agrees(y, x=[1, 2]) == "NumpyExp(x)"
    y.sum().backward()
    assert "NumpyExpBackward" in agrees(x.grad, x=[1, 2])


def test_second_derivative_of_an_opaque_function_is_refused():
    x = leaf(1.0, 2.0, name="x")
    (g,) = sg.autograd.grad(NumpyExp.apply(x).sum(), x)
    total = lookup("sum")(g.term, dim=(0,), keepdim=False)
    with pytest.raises(FormulaError, match="second derivative of NumpyExp"):
        gradient(total, [s for s in symbols(total) if s.name == "x"])


def test_random_function_is_opaque():
    assert str(Noisy.apply(leaf(1.0, 2.0, name="x")).expr) == "Noisy(x)"


def test_two_outputs():
    x = leaf(1.0, 2.0, name="x")
    p, q = Pair.apply(x, 3)
    (p.sum() * q).backward()
    assert x.grad.tolist() == [33.0, 51.0]
    agrees(x.grad, x=[1, 2])
    x.grad = None
    (p, q) = Pair.apply(x, 3)
    q.backward()
    assert agrees(x.grad, x=[1, 2]) == "2*x"


def test_higher_derivatives_through_a_function():
    w, x, b = leaf(1.0, 2.0, name="w"), leaf(3.0, 4.0, name="x"), leaf(5.0, 6.0, name="b")
    out = line.apply(w, x, b)
    (gw,) = sg.autograd.grad((out * out).sum(), w, create_graph=True)
    (gx,) = sg.autograd.grad(gw.sum(), x)
    values = {"w": [1, 2], "x": [3, 4], "b": [5, 6]}
    agrees(gw, **values)
    agrees(gx, **values)


def test_function_that_no_gradient_reaches():
    """What its backward gives all the same has no formula; a formula without it would be wrong."""

    def function(answer):
        class Given(sg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return answer(g)

        return Given

    for answer, grad, formula in ((lambda g: g + 1, [2.0, 2.0], False), (lambda g: g * 2, [1.0, 1.0], True)):
        x = sg.tensor([1.0, 2.0], name="x", requires_grad=True)
        ends = function(lambda g: None).apply(function(answer).apply(x)).sum()
        (ends + x.sum()).backward()
        assert x.grad.tolist() == grad
        assert (str(x.grad.expr) == "ones(n)") is formula


class Scaled(sg.autograd.Function):
    """Its inside is NumPy's, and what it does depends on an argument that is no tensor."""

    @staticmethod
    def forward(ctx, x, factor, how):
        ctx.factor = how(factor)
        return sg.from_numpy(x.detach().numpy() * ctx.factor)

    @staticmethod
    def backward(ctx, g):
        return sg.from_numpy(g.detach().numpy() * ctx.factor), None, None


def test_functions_with_other_arguments_are_other_functions():
    x = leaf(1.0, 2.0, name="x")
    difference = Scaled.apply(x, 2.0, abs) - Scaled.apply(x, 3.0, abs)
    difference.sum().backward()
    assert str(difference.expr) == "Scaled(x, 2.0, abs) - Scaled(x, 3.0, abs)"
    assert difference.latex() == (
        r"\operatorname{Scaled}\left(x, 2.0, \text{abs}\right) - \operatorname{Scaled}\left(x, 3.0, \text{abs}\right)"
    )
    assert "3.0" in str(x.grad.expr)
    agrees(difference, x=[1, 2])
    same = Scaled.apply(x, 2.0, lambda a: a) - Scaled.apply(x, 2.0, lambda a: a + 1)
    assert str(same.expr) == "Scaled(x, 2.0, <lambda>) - Scaled(x, 2.0, <lambda>_1)"


def test_a_function_of_arrays_that_do_not_broadcast():
    class Product(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            return sg.from_numpy(x.detach().numpy() @ w.detach().numpy())

        @staticmethod
        def backward(ctx, g):
            return g, g

    x, w = (sg.tensor(np.ones(shape), requires_grad=True) for shape in ((2, 3), (3, 3)))
    assert str((Product.apply(x, w) @ w).expr) == "Product(x1, x2) @ x2"

"""``backward``: roots, gradients given and implied, ``inputs=``, a second call, ``.grad`` added to or replaced."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

SECOND_TIME = "backward through the graph a second time"


def leaf(t, values, dtype=None):
    return t.tensor(values, dtype=dtype or t.float64, requires_grad=True)


# ---------------------------------------------------------------------------------------------- roots and gradients


def test_backward(t):
    """A gradient given to a leaf's own backward is its .grad; four leaves get theirs through +, *, / and **."""
    w = leaf(t, [1.0, -1.0])
    w.backward(t.tensor([5.0, 7.0], dtype=t.float64))
    assert w.grad.tolist() == [5.0, 7.0]
    a, b, c, d = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 0.5]), leaf(t, [4.0, 8.0]), leaf(t, [2.0, 4.0])
    (a + b * c / d + d**2).backward(t.tensor([1.0, 10.0], dtype=t.float64))
    assert a.grad.tolist() == [1.0, 10.0]
    assert b.grad.tolist() == [2.0, 20.0]
    assert c.grad.tolist() == [1.5, 1.25]
    assert d.grad.tolist() == [-3.0 + 4.0, 10 * (-0.25 + 8.0)]


def test_multi_backward(t):
    """Two roots with a gradient each: both add up in the leaf they share."""
    a, b = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    g, h = t.tensor([1.0, 10.0], dtype=t.float64), t.tensor([100.0, 1000.0], dtype=t.float64)
    t.autograd.backward([a * b, a * 3], [g, h])
    assert a.grad.tolist() == [303.0, 3040.0]
    assert b.grad.tolist() == [1.0, 20.0]


def test_multi_backward_no_grad(t):
    """One root that does not require grad spoils the call."""
    a = leaf(t, [1.0, 2.0])
    ones = t.ones(2, dtype=t.float64)
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        t.autograd.backward([a * 2, t.ones(2, dtype=t.float64)], [ones, ones])
    assert a.grad is None


def test_backward_with_inputs(t):
    """Only the tensors named in ``inputs=`` get a .grad; naming none is an error."""
    a, b = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    t.autograd.backward((a * b).sum(), inputs=[a])
    assert (a.grad.tolist(), b.grad) == ([3.0, 4.0], None)
    (a * b).sum().backward(inputs=b)
    assert (a.grad.tolist(), b.grad.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    (a * b).sum().backward(inputs=[a, b])
    assert (a.grad.tolist(), b.grad.tolist()) == ([6.0, 8.0], [2.0, 4.0])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (a * b).sum().backward(inputs=[])


def test_backward_with_nonleaf_inputs(t):
    """A result named in ``inputs=`` gets a .grad of its own; a stranger named there keeps None."""
    a, stranger = leaf(t, [1.0, 2.0]), leaf(t, [0.0])
    middle = a * 3
    (middle * middle).sum().backward(inputs=[a, middle, stranger])
    assert a.grad.tolist() == [18.0, 36.0]
    assert middle.grad.tolist() == [6.0, 12.0]
    assert stranger.grad is None


def test_dependent_backward(t):
    """A root computed from another root: each gives its part."""
    a = leaf(t, [2.0, 3.0])
    square = a**2
    cube = square * a
    t.autograd.backward([square, cube], [t.ones(2, dtype=t.float64), t.ones(2, dtype=t.float64) * 10])
    assert a.grad.tolist() == [4.0 + 120.0, 6.0 + 270.0]


def test_duplicate_backward_root(t):
    """A tensor given twice as root counts twice."""
    a = leaf(t, [1.0, 2.0])
    root = a * 5
    one = t.ones(2, dtype=t.float64)
    t.autograd.backward([root, root], [one, one * 2])
    assert a.grad.tolist() == [15.0, 15.0]


def test_backward_no_grad(t):
    """A root of several entries needs a gradient; None is refused."""
    a = leaf(t, [1.0, 2.0])
    for call in (
        lambda: (a * 2).backward(),
        lambda: t.autograd.backward([a * 2], [None]),
        lambda: t.autograd.backward([a * 2]),
    ):
        with pytest.raises(RuntimeError, match="implicitly created only for scalar outputs"):
            call()


def test_backward_badcalls(t):
    """Nothing to differentiate: the tensor does not require grad."""
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.ones(1).backward()


# ---------------------------------------------------------------------------------------------- a second call


def assigned(t, start):
    """The square of a tensor one entry of which was assigned."""
    a = t.zeros(3, dtype=t.float64)
    a[0] = start
    return a * a


def test_backward_twice_with_saved_values(t):
    """What an assignment and a product saved is gone after the first backward, and the error says how to keep it."""
    start = leaf(t, 3.0)
    out = assigned(t, start).sum()
    out.backward()
    assert start.grad.item() == 6.0
    with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
        out.backward()


def test_backward_twice_retained_graph_with_saved_values(t):
    """With retain_graph=True at the first call the second one is fine."""
    start = leaf(t, 3.0)
    out = assigned(t, start).sum()
    out.backward(retain_graph=True)
    out.backward()
    assert start.grad.item() == 12.0


def test_backward_twice_without_saved_values(t):
    """Adding a constant saves nothing, so nothing is missing at the second call."""
    a = leaf(t, [1.0, 2.0])
    out = a + 7
    out.backward(t.ones(2, dtype=t.float64))
    out.backward(t.ones(2, dtype=t.float64))
    assert a.grad.tolist() == [2.0, 2.0]


def test_backward_twice_retained_graph_without_saved_values(t):
    """An assignment alone, its graph retained, twice."""
    start = leaf(t, 3.0)
    a = t.zeros(3, dtype=t.float64)
    a[0] = start
    a.sum().backward(retain_graph=True)
    a.sum().backward()
    assert start.grad.item() == 2.0


# ---------------------------------------------------------------------------------------------- .grad


def test_backward_create_graph_warns(t):
    """backward(create_graph=True) makes a cycle through .grad and warns; autograd.grad makes none and is silent."""
    a = leaf(t, 3.0)
    with pytest.warns(UserWarning, match=r"Using backward\(\) with create_graph=True will create a reference cycle"):
        (a**2).backward(create_graph=True)
    a.grad = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (g,) = t.autograd.grad(a**2, a, create_graph=True)
    assert g.requires_grad


def test_backward_copy(t):
    """Branches that split, meet and are used again: every path counts once, in the right multiple."""
    a = leaf(t, 1.0)
    left, right = a + 0, a * 1
    meet = left + right
    again = meet + left
    total = again + meet + right + a
    # a: left in again and twice through meet, right twice through meet and once by itself, and a itself
    total.backward()
    assert a.grad.item() == (2 + 1) + (2 + 1) + 1
    b = leaf(t, 1.0)
    chain = b
    for _ in range(6):
        chain = chain + chain
    (chain + chain.view(1).sum()).backward()
    assert b.grad.item() == 128.0


@pytest.mark.filterwarnings("ignore:Using backward")
def test_accumulate_grad(t):
    """A plain backward adds into the memory of .grad; with create_graph=True .grad is a new tensor."""
    a = leaf(t, [1.0, 2.0])
    (a * a).sum().backward()
    held = a.grad
    (a * a).sum().backward()
    assert a.grad is held
    assert held.tolist() == [4.0, 8.0]
    (a * a).sum().backward(create_graph=True)
    assert held.tolist() == [4.0, 8.0]
    assert a.grad is not held
    assert a.grad.tolist() == [6.0, 12.0]
    assert a.grad.requires_grad


def test_accumulate_grad_with_zero_numel_grad(t):
    """Where broadcasting gives an empty result, the empty operand has an empty gradient and the other one zeros."""
    a, b = t.ones(4, 0, requires_grad=True), t.ones(4, 1, requires_grad=True)
    c = a * b
    assert tuple(c.shape) == (4, 0)
    c.sum().backward()
    assert tuple(a.grad.shape) == (4, 0)
    assert b.grad.tolist() == [[0.0]] * 4


@pytest.mark.filterwarnings("ignore:Using backward")
def test_hessian_vector(t):
    """backward of a gradient that was made with create_graph adds the Hessian times a vector to .grad."""
    a, b = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 5.0])
    (a**2 * b).sum().backward(create_graph=True)
    assert a.grad.tolist() == [6.0, 20.0]
    assert b.grad.tolist() == [1.0, 4.0]
    before_a, before_b = a.grad, b.grad
    # v = (1, 1) for a's gradient 2ab: the products are 2b for a and 2a for b
    before_a.backward(t.ones(2, dtype=t.float64))
    assert a.grad.tolist() == [6.0 + 6.0, 20.0 + 10.0]
    assert b.grad.tolist() == [1.0 + 2.0, 4.0 + 4.0]
    assert before_b.requires_grad
    a.grad = b.grad = None


def test_no_grad_copy(t):
    """A fresh gradient becomes .grad as it is, for one of the leaves that share it; an expanded one is copied."""
    seen = []

    class Constant(t.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.shape = tuple(a.shape)
            return t.ones(1)

        @staticmethod
        def backward(ctx, g):
            return t.ones(1).expand(ctx.shape)

    a, b = t.ones(3, 2, requires_grad=True), t.ones(3, 2, requires_grad=True)
    total = a + b
    total.register_hook(lambda g: seen.append(g.data_ptr()))
    total[1][0].backward()
    pointers = {a.grad.data_ptr(), b.grad.data_ptr()}
    assert len(pointers) == 2
    assert seen[0] in pointers
    assert a.grad.tolist() == b.grad.tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    a.grad = b.grad = None
    Constant.apply(a + b).sum().backward()
    for grad in (a.grad, b.grad):
        grad[0, 0] = 5.0
        assert grad.tolist() == [[5.0, 1.0], [1.0, 1.0], [1.0, 1.0]]


# ---------------------------------------------------------------------------------------------- without a gradient


def test_isolated_node(t):
    """A path through the position of a maximum has no gradient and does not disturb the path beside it."""
    a, b = leaf(t, [[1.0, 5.0], [4.0, 2.0]]), leaf(t, [[0.5, 0.5], [0.5, 0.5]])
    total = a + b
    where = t.max(total, 1, keepdim=True)[1].double()
    (where + total).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_integer_outputs(t):
    """Positions and counts are integers and never require grad."""
    x = leaf(t, [3.0, 1.0, 2.0])
    edges = leaf(t, [0.0, 1.5, 2.5])
    for out in (
        x.argmax(),
        x.argmin(),
        x.argsort(),
        t.argsort(x, dim=0, descending=True),
        t.searchsorted(edges, x),
        t.bucketize(x, edges),
        t.count_nonzero(x),
        *t.unique(x, return_inverse=True, return_counts=True)[1:],
        *t.unique_consecutive(x, return_inverse=True, return_counts=True)[1:],
    ):
        assert not out.requires_grad
        assert out.grad_fn is None
        assert "int" in str(out.dtype)


def test_out_variant_raises_when_inputs_require_grad(t):
    """out= cannot be differentiated: with anything that requires grad it is an error, under no_grad it is fine."""
    a, b = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    out = t.zeros(2, dtype=t.float64)
    with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic different"):
        t.mul(a, b, out=out)
    with t.no_grad():
        t.mul(a, b, out=out)
    assert out.tolist() == [3.0, 8.0]
    with pytest.raises(RuntimeError, match=r"out=\.\.\. arguments don't support"):
        t.mul(a.detach(), b.detach(), out=leaf(t, [0.0, 0.0]))
    assert t.mul(a.detach(), b.detach(), out=out) is out


def test_not_implemented_grad(t):
    """backward through an operation whose derivative nobody wrote is an error that says so."""

    class Forward(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    y = Forward.apply(leaf(t, [0.5, 1.5]))
    assert y.requires_grad
    with pytest.raises(NotImplementedError, match="You must implement either the backward or vjp method"):
        y.sum().backward()


# ---------------------------------------------------------------------------------------------- rules with a corner


def test_var_mean_differentiable(t):
    """var_mean over two axes has the gradients that var and mean have one by one."""
    start = np.arange(12.0).reshape(2, 3, 2) ** 2 / 10
    for keepdim in (False, True):
        together, apart = leaf(t, start), leaf(t, start)
        var, mean = t.var_mean(together, dim=(0, 2), keepdim=keepdim)
        (var * mean * 2).sum().backward()
        (apart.var(dim=(0, 2), keepdim=keepdim) * apart.mean(dim=(0, 2), keepdim=keepdim) * 2).sum().backward()
        np.testing.assert_allclose(together.grad.numpy(), apart.grad.numpy(), rtol=1e-12)


def test_pow_zero_tensor_gradient(t):
    """x ** 0 is one everywhere, so its derivative is zero, at zero too, for a number and for a tensor exponent."""
    for zero in (0, 0.0, t.zeros((), dtype=t.float64), t.zeros(3, dtype=t.float64)):
        x = leaf(t, [0.0, 2.0, -1.0])
        (x**zero).sum().backward()
        assert x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_power_function(t):
    """The derivative by the exponent where the base is zero: -inf below exponent 0, zero from there on."""
    exponent = leaf(t, [-2.0, 0.0, 1.5])
    for base in (0, 0.0, t.zeros(3, dtype=t.float64)):
        exponent.grad = None
        (base**exponent).sum().backward()
        assert exponent.grad.tolist() == [float("-inf"), 0.0, 0.0]


def test_select_sum(t):
    """Choosing one slice and adding it up, first and second derivative against differences."""
    x = leaf(t, np.arange(6.0).reshape(2, 3))
    for select in (lambda x: x.select(0, 1).sum(), lambda x: x.select(1, -1).sum(0)):
        assert t.autograd.gradcheck(select, [x])
        assert t.autograd.gradgradcheck(select, [x])


def expanded(t, shape):
    """A gradient whose entries share one place in memory."""
    return t.tensor(2.5, dtype=t.float64).expand(shape)


@pytest.mark.parametrize("offset", [0, 1])
def test_diagonal_expanded_v(t, offset):
    """The gradient of a diagonal when the incoming one is expanded from a single number."""
    x = leaf(t, np.arange(9.0).reshape(3, 3))
    y = x.diagonal(offset)
    (g,) = t.autograd.grad(y, x, expanded(t, tuple(y.shape)))
    np.testing.assert_array_equal(g.numpy(), 2.5 * np.eye(3, k=offset))


def test_select_expanded_v(t):
    """The same where a row is chosen."""
    x = leaf(t, np.arange(9.0).reshape(3, 3))
    (g,) = t.autograd.grad(x[1], x, expanded(t, (3,)))
    assert g.tolist() == [[0.0] * 3, [2.5] * 3, [0.0] * 3]


def test_slice_expanded_v(t):
    """The same where rows are cut out."""
    x = leaf(t, np.arange(9.0).reshape(3, 3))
    (g,) = t.autograd.grad(x[1:], x, expanded(t, (2, 3)))
    assert g.tolist() == [[0.0] * 3, [2.5] * 3, [2.5] * 3]


@pytest.mark.parametrize(("call", "stored"), [("x.sgn()", False), ("(x * 2).sgn()", False), ("x.exp().sgn()", False),
                                              ("(-x).sgn()", True), ("x.tanh().sgn()", True), ("(x @ x).sgn()", False),
                                              ("(x @ t.ones(2, 2)).sgn()", True), ("x[0].sgn()", True),
                                              ("x.sign()", True), ("x.sgn() + x", True)])  # fmt: skip
def test_zeros_without_entries(t, call, stored):
    """The derivative of ``sgn`` is a zero whose entries are stored nowhere, and so is what is a multiple of it."""
    x = t.tensor([0.5, 0.75], requires_grad=True)
    eval(call, {"t": t, "x": x}).sum().backward(retain_graph=True)
    changes = [lambda: x.grad.zero_(), lambda: x.grad.mul_(2), lambda: eval(call, {"t": t, "x": x}).sum().backward()]
    for change in changes:
        if stored:
            change()
        else:
            with pytest.raises(RuntimeError, match="ZeroTensors are immutable"):
                change()
    assert (x.grad.clone().zero_() == 0).all()


def test_leaves_after_a_derivative_that_is_missing(t):
    """An operation without derivative stops the pass as soon as it is reached: older nodes have not run by then."""
    x, y = (t.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    quotient = y // 2
    square = (x * 1).pow(2)
    with pytest.raises(RuntimeError, match="floor_divide is not implemented"):
        (quotient.sum() + square.sum()).backward()
    assert x.grad is None
    assert y.grad is None


def test_missing_derivative_among_the_inputs_of_one_operation(t):
    """What it stands before has no gradient by then, what it stands behind has one, and hooks of older nodes wait."""
    x, y, z = (t.tensor([2.0, 4.0], requires_grad=True) for _ in range(3))
    quotient = z // 2
    between = x * 1
    between.register_hook(lambda g: pytest.fail("an older node has run"))
    for out in ((quotient / x).sum() + between.sum(), (y / quotient).sum()):
        with pytest.raises(RuntimeError, match="floor_divide is not implemented"):
            out.backward()
    assert x.grad is None
    assert y.grad is not None


def test_what_ran_before_an_error_is_freed(t):
    """A second pass ends where the first one has been, before it reaches leaves once more."""
    x, y = leaf(t, [1.0, 2.0]), leaf(t, [3.0, 4.0])
    inner = y.exp()
    inner.sum().backward()
    out = (x * inner).sin().sum()
    for _ in range(2):
        with pytest.raises(RuntimeError, match=SECOND_TIME):
            out.backward()
    once = x.grad.tolist()
    assert once == pytest.approx((inner * (x * inner).cos()).tolist())


@pytest.mark.parametrize("call", ["y.backward(inputs=[z])", "t.autograd.grad(y, z, allow_unused=True)"])
@pytest.mark.parametrize("make", ["x", "x * 3"])
def test_hooks_of_a_root_that_leads_nowhere(t, make, call):
    """They are called though nothing that is asked for was used; nothing is added to a leaf."""
    x, z = leaf(t, 1.5), leaf(t, 2.0)
    y = eval(make, {"x": x})
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    eval(call, {"t": t, "y": y, "z": z})
    assert seen == [1.0]
    assert x.grad is None
    assert z.grad is None

"""Functions that change tensors from outside of themselves cannot be transformed."""

from __future__ import annotations

import functools

import pytest

import symgrad as sg

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CAPTURED = "that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed"


def parts(t):
    return t.tensor([1.0, 2.0]), t.tensor([1.0, 1.0])


CHANGES = {
    "number": lambda c, a: c.add_(1) * a,
    "argument": lambda c, a: c.mul_(a),
    "detached": lambda c, a: c.copy_(a.detach()) * a,
    "entry": lambda c, a: (c.__setitem__(0, a[0]), c * a)[1],
    "view": lambda c, a: c.view(2).mul_(a),
    "reshaped": lambda c, a: c.t_() * a,
    "function": lambda c, a: c.relu_() * a,
}
TRANSFORMS = {
    "grad": lambda t, f, x: t.func.grad(lambda a: f(a).sum())(x),
    "vjp": lambda t, f, x: t.func.vjp(f, x),
    "jvp": lambda t, f, x: t.func.jvp(f, (x,), (x,)),
    "jacrev": lambda t, f, x: t.func.jacrev(f)(x),
    "jacfwd": lambda t, f, x: t.func.jacfwd(f)(x),
    "hessian": lambda t, f, x: t.func.hessian(lambda a: f(a).sum())(x),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("change", CHANGES)
def test_captured_tensors_stay(t, transform, change):
    x, c = parts(t)
    with pytest.raises(RuntimeError, match=CAPTURED):
        TRANSFORMS[transform](t, lambda a: CHANGES[change](c, a), x)
    assert c.tolist() == [1.0, 1.0]
    assert not c.requires_grad


def test_where_they_are_captured(t):
    """A method's object, a partial, a function that the function calls, a list."""
    x, c = parts(t)

    class Layer:
        def __init__(self):
            self.seen = c

        def count(self, a):
            self.seen.add_(1)
            return (a * a).sum()

    def inner(a):
        return (c.add_(a) * a).sum()

    kept = [c]
    for f in (Layer().count, functools.partial(lambda k, a: (k.add_(1) * a).sum(), c), lambda a: inner(a)):
        with pytest.raises(RuntimeError, match=CAPTURED):
            t.func.grad(f)(x)
    with pytest.raises(RuntimeError, match=CAPTURED):
        t.func.grad(lambda a: (kept[0].add_(1) * a).sum())(x)


def test_what_may_be_changed(t):
    """Other arguments, what the function made itself, and copies."""
    x, c = parts(t)
    assert t.func.grad(lambda a, b: b.mul_(a).sum())(x, c.clone()).tolist() == [1.0, 1.0]
    assert t.func.grad(lambda a: t.ones(2).mul_(a).sum())(x).tolist() == [1.0, 1.0]
    assert t.func.grad(lambda a: c.clone().mul_(a).sum())(x).tolist() == [1.0, 1.0]
    c.add_(1)  # outside it may change
    assert c.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda c, a: c.copy_(a),
        lambda c, a: c.view(2).mul_(a),
        lambda c, a: (c.__setitem__(0, a[0]), a)[1],
        lambda c, a: (c.__setitem__(slice(None), a), a)[1],
    ],
    ids=["copy", "view", "entry", "slice"],
)
def test_examples_share_nothing_they_change(t, change):
    _, c = parts(t)
    before = c.tolist()
    with pytest.raises(RuntimeError, match="inplace arithmetic.*is not possible because there exists a Tensor `other`"):
        t.func.vmap(lambda a: change(c, a))(t.ones(3, 2))
    assert c.tolist() == before


CHANGED_ONCE = {
    "added": lambda c, a: (c.add_(1), a * c)[1],
    "filled": lambda c, a: (c.zero_(), c.fill_(2.0), a * c)[2],
    "an entry": lambda c, a: (c.__setitem__(0, 5.0), a * c)[1],
    "a view": lambda c, a: (c[1:].mul_(3), a * c)[1],
    "looked at": lambda c, a: (c.add_(1), a * c if c.sum() > 0 else a)[1],
}


@pytest.mark.parametrize("change", CHANGED_ONCE)
@pytest.mark.parametrize("given", ["captured", "in_dims=None"])
@pytest.mark.parametrize("count", [1, 3])
def test_what_examples_share_is_changed_once(t, change, given, count):
    """A change that no example has a part in is made once for the whole batch, and its results are those after it."""
    x, c = t.arange(2.0 * count).view(count, 2), t.tensor([1.0, 2.0])
    alone = c.clone()
    call = CHANGED_ONCE[change]
    call(alone, x[0])
    if given == "captured":
        found = t.func.vmap(lambda a: call(c, a))(x)
    else:
        found = t.func.vmap(call, in_dims=(None, 0))(c, x)
    assert found.tolist() == (x * alone).tolist()
    assert (c.tolist(), c._version) == (alone.tolist(), alone._version)


def test_changes_in_nested_batches(t):
    """What the inner examples share is changed once for them all, what an outer example has of its own once in each."""
    c = t.zeros(())
    found = t.func.vmap(lambda a: t.func.vmap(lambda b: (c.add_(1), a * b + c)[1])(t.arange(2.0)))(t.ones(3))
    assert (c.item(), found.tolist()) == (1.0, [[1.0, 2.0]] * 3)
    x = t.zeros(3)
    found = t.func.vmap(lambda a: t.func.vmap(lambda b: (a.add_(1), a * b)[1])(t.arange(2.0)))(x)
    assert (x.tolist(), found.tolist()) == ([1.0] * 3, [[0.0, 1.0]] * 3)


def test_changes_that_are_refused_are_so_on_batches(t):
    """The words for leaves are those that they are without a batch, and nothing is changed."""
    w = t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        t.func.vmap(lambda a: (w.mul_(2), a * w)[1])(t.ones(3, 2))
    assert w.tolist() == [1.0, 1.0]


def test_gradients_through_what_was_changed_once(t):
    w = t.ones(2, requires_grad=True)
    c = w * 1
    t.func.vmap(lambda a: (c.mul_(2), a * c)[1])(t.ones(3, 2)).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


def test_examples_change_their_own(t):
    rows = t.ones(3, 2)
    assert t.func.vmap(lambda a: a.clone().mul_(2).add_(a))(rows).tolist() == [[3.0, 3.0]] * 3
    t.func.vmap(lambda a: a.mul_(2))(rows)
    assert rows.tolist() == [[2.0, 2.0]] * 3


class Holder:
    """Something of the user's that holds tensors."""

    def __init__(self, **parts):
        vars(self).update(parts)


DEEP = {
    "attribute": (lambda w: Holder(w=w), lambda h: h.w.add_(1)),
    "attribute of an attribute": (lambda w: Holder(a=Holder(b={"k": [(w,)]})), lambda h: h.a.b["k"][0][0].add_(1)),
    "nested": (lambda w: [{"a": ([w],)}], lambda h: h[0]["a"][0][0].mul_(2)),
    "closure": (lambda w: lambda: w, lambda h: h().add_(1)),
    "its data": (lambda w: w, lambda h: h.data.add_(1)),
    "detached outside": (lambda w: w, lambda h: h.detach().add_(1)),
}


@pytest.mark.parametrize("how", DEEP)
def test_captured_deep_inside(t, how):
    """In attributes of objects, nested as may be, and by another tensor on the same memory."""
    make, change = DEEP[how]
    w = t.ones(2)
    held = make(w)

    def f(x):
        change(held)
        return (x * 2).sum()

    with pytest.raises(RuntimeError, match=CAPTURED):
        t.func.grad(f)(t.ones(2))
    assert w.tolist() == [1.0, 1.0]


def test_backward_stays_outside(t):
    """Except in a custom function's ``forward``, which is no part of what is transformed."""
    w = t.ones(2, requires_grad=True)

    def f(x):
        (x * w).sum().backward()
        return x.sum()

    for call in (lambda: t.func.grad(f)(t.ones(2)), lambda: t.func.jvp(f, (t.ones(2),), (t.ones(2),))):
        with pytest.raises(RuntimeError, match=r"backward\(\) called inside a functorch transform"):
            call()
    assert w.grad is None

    class Inner(t.autograd.Function):
        @staticmethod
        def forward(x):
            with t.enable_grad():
                leaf = x.detach().requires_grad_()
                (leaf**3).sum().backward()
            return leaf.grad.detach()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 6 * x

    assert t.func.grad(lambda x: Inner.apply(x).sum())(t.tensor([1.0, 2.0])).tolist() == [6.0, 12.0]


def test_arrays_have_no_tangent(t):
    """Of what ``jvp`` moves: a derivative by way of NumPy would be zero without a word."""
    x = t.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match="Cannot access data pointer of Tensor that doesn't have storage"):
        t.func.jvp(lambda x: x.sum() * float(x.numpy().sum()), (x,), (x,))
    with t.autograd.forward_ad.dual_level():
        assert t.autograd.forward_ad.make_dual(x, x).numpy().tolist() == [1.0, 2.0]


def test_proxies_that_answer_for_every_name_are_not_looked_into():
    class Proxy:
        __slots__ = ()

        def __getattr__(self, name):
            return 3

    proxy = Proxy()
    found = sg.func.grad(lambda x: (x * proxy.rate).sum())(sg.tensor([1.0, 2.0]))
    assert found.tolist() == [3.0, 3.0]


INSIDE = {
    "switched on": lambda t, x: x.requires_grad_(),
    "switched on elsewhere": lambda t, x: t.ones(2).requires_grad_(),
    "switched off": lambda t, x: t.ones(2).requires_grad_(False),
}
CALLS = {
    "grad": lambda t, f: t.func.grad(f)(t.ones(2)),
    "jvp": lambda t, f: t.func.jvp(f, (t.ones(2),), (t.ones(2),)),
    "vmap": lambda t, f: t.func.vmap(f)(t.ones(2, 2)),
    "jacrev": lambda t, f: t.func.jacrev(f)(t.ones(2)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("how", INSIDE)
def test_gradients_are_not_switched_inside(t, call, how):
    def f(x):
        return (x * INSIDE[how](t, x)).sum()

    with pytest.raises(RuntimeError, match=r"You are attempting to call Tensor.requires_grad_\(\)"):
        CALLS[call](t, f)


@pytest.mark.parametrize("call", CALLS)
def test_what_requires_grad_may_be_made_inside(t, call):
    def f(x):
        made = t.tensor([1.0, 2.0], requires_grad=True)
        other = t.ones(2)
        other.requires_grad = True
        return (x * made * other * t.nn.Parameter(t.ones(2))).sum()

    CALLS[call](t, f)
    assert t.autograd.functional.jacobian(f, t.ones(2)).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("call", ["grad", "jvp", "jacrev"])
def test_data_is_not_replaced_inside(t, call):
    def f(x):
        made = t.ones(2)
        made.data = made * 2
        return (x * made).sum()

    def g(x):
        x.data = x.data * 2
        return (x * x).sum()

    for each in (f, g):
        with pytest.raises(RuntimeError, match="mutating directly with `.data` inside functorch transform is not all"):
            CALLS[call](t, each)


@pytest.mark.parametrize("call", ["grad", "jvp", "jacrev"])
def test_data_does_not_move(t, call):
    found = CALLS[call](t, lambda x: (x.data * x).sum())
    assert (found[1].item() if call == "jvp" else found.sum().item()) == 2.0


@pytest.mark.parametrize("call", ["grad", "jvp", "jacrev", "jacfwd"])
def test_leaves_made_inside_are_left_behind(t, call):
    """Nothing that a transform gives requires grad for a leaf that the function made; for one outside it does."""
    calls = {**CALLS, "jacfwd": lambda t, f: t.func.jacfwd(f)(t.ones(2))}
    outside = t.ones(2, requires_grad=True)

    def inside(x):
        return (x * x * t.tensor([1.0, 2.0], requires_grad=True)).sum()

    for function, expected in ((inside, False), (lambda x: inside(x * outside), True)):
        found = calls[call](t, function)
        assert [part.requires_grad for part in (found if isinstance(found, tuple) else (found,))][-1] is expected


@pytest.mark.parametrize(("inside_of", "expected"), [("grad", False), ("jacrev", False), ("nothing", True)])
def test_leaves_made_inside_of_a_mapped_transform_are_left_behind(t, inside_of, expected):
    """What maps a transform does not require grad for a leaf made inside of that; what maps a function itself does."""

    def function(x):
        return (x * x * t.tensor([1.0, 2.0], requires_grad=True)).sum()

    transformed = {"grad": t.func.grad, "jacrev": t.func.jacrev, "nothing": lambda f: f}[inside_of](function)
    assert t.func.vmap(transformed)(t.ones(3, 2)).requires_grad is expected


def test_leaves_of_an_outer_function_count_inside(t):
    found = {}

    def outer(x):
        made = t.ones(2, requires_grad=True)
        found["inner"] = t.func.grad(lambda y: (made * y * y).sum())(x)
        return t.autograd.grad(found["inner"].sum(), made, create_graph=True)[0].sum()

    assert t.func.grad(outer)(t.ones(2)).tolist() == [2.0, 2.0]
    assert found["inner"].requires_grad


def test_what_is_given_beside_is_released_too(t):
    def f(x):
        made = t.ones(2, requires_grad=True)
        return (made * x).sum(), (made, made * x, made * 2)

    gradient, beside = t.func.grad(f, has_aux=True)(t.ones(2))
    assert not gradient.requires_grad
    assert not any(part.requires_grad for part in beside)

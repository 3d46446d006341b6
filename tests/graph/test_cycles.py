"""What a recorded pass leaves behind goes with its last reference, without the collector of cycles."""

from __future__ import annotations

import gc
import pickle
import warnings
import weakref

import numpy as np
import pytest

import symgrad as sg
from symgrad.op import TABLE
from symgrad.proving.samples import cases, make_case, samples
from tests.functions import squaring


@pytest.fixture(scope="module", autouse=True)
def swept():
    """Garbage of other tests is gone before any of it is frozen."""
    gc.collect()


@pytest.fixture(autouse=True)
def counted():
    """Nothing but reference counts; no warnings of cycles, which torch has."""
    gc.disable()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Using backward")
        yield
    gc.enable()


Square = squaring(sg)


def leaves():
    return sg.tensor([1.0, 2.0], requires_grad=True), sg.tensor([0.5, 3.0], requires_grad=True)


PROGRAMS = {
    "cubes": lambda x, w: (x * x * x * w).sum(),
    "function": lambda x, w: (Square.apply(x) * w).sum(),
    "composite": lambda x, w: (x * w).norm() + sg.softmax(x * w, 0).prod(),
    "folded": lambda x, w: (sg.nn.functional.layer_norm(x * w, (2,)) * x).sum(),
    "view": lambda x, w: x.view(1, -1).double().mean() * w.std(),
    "inplace": lambda x, w: ((x * 2).mul_(w) * x).sum(),
    "siblings": lambda x, w: sum(a * a * b for a, b in zip(x.unbind(), w.unbind(), strict=True)),
}


def once(x, w, f):
    f(x, w).backward(create_graph=True)


def hooked(x, w, f):
    x.register_hook(lambda g: g * g)
    w.register_post_accumulate_grad_hook(lambda _: None)
    f(x, w).backward(create_graph=True)


def twice(x, w, f):
    f(x, w).backward(create_graph=True)
    (x.grad * w.grad).sum().backward()


def slopes(x, w, f):
    sg.autograd.grad(f(x, w), x, create_graph=True)


def product(x, w, f):
    (g,) = sg.autograd.grad(f(x, w), x, create_graph=True)
    (g * g).sum().backward()


def product_twice(x, w, f):
    x.register_hook(lambda g: g * 2)
    (g,) = sg.autograd.grad(f(x, w), x, create_graph=True)
    (g * g).sum().backward(create_graph=True)


def assigned(x, w, f):
    x.grad, w.grad = sg.autograd.grad(f(x, w), (x, w), create_graph=True)


def looked_at(x, w, f):
    product(x, w, f)
    x.grad, w.grad = sg.autograd.grad(f(x, w), (x, w), create_graph=True)
    for leaf in (x, w):
        assert "grad_fn" in repr(leaf.grad)
        assert leaf.grad._version == 0
        assert leaf.grad.grad_fn.next_functions


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "use", [once, hooked, twice, slopes, product, product_twice, assigned, looked_at], ids=lambda use: use.__name__
)
def test_nothing_stays(use, program):
    """Leaves, gradients and graph are gone once the user's references are."""

    def run():
        x, w = leaves()
        use(x, w, PROGRAMS[program])
        return [weakref.ref(t) for t in (x, w, x.grad, w.grad) if t is not None]

    assert not [ref() for ref in run() if ref() is not None]


@pytest.mark.parametrize("use", [once, product_twice], ids=lambda use: use.__name__)
def test_the_collector_finds_nothing(use):
    """Steps one after the other leave no cycles at all, of whatever objects of ours."""
    gc.collect()
    for _ in range(5):
        use(*leaves(), PROGRAMS["cubes"])
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(0)
    found = [thing for thing in gc.garbage if type(thing).__module__.startswith("symgrad")]
    gc.garbage.clear()
    assert not found


def recorded():
    """A leaf with a recorded gradient, and the result it came from."""
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    y = (x * x * x).sum()
    y.backward(create_graph=True)
    return x, y


def ends(tensor):
    """The leaves that a tensor's graph leads to."""
    found, stack = {}, [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        stack += [below for below, _ in node.next_functions if below is not None]
    return list(found.values())


def test_the_graph_knows_its_leaf():
    x, _ = recorded()
    assert (x * 3).grad_fn.next_functions[0][0].variable is x
    assert [leaf is x for leaf in ends(x.grad)] == [True]
    assert x.grad.expr == 3 * x.expr**2
    (second,) = sg.autograd.grad(x.grad.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_a_dropped_leaf_is_made_again():
    """Backward, formulas and hooks go on where somebody holds the graph alone."""
    x, y = recorded()
    heard = []
    x.register_hook(lambda g: heard.append(g.tolist()))
    x.data = sg.tensor([1.0, 2.0])
    gradient = x.grad
    del x
    assert str(gradient.expr) == "3*x**2"
    gradient.sum().backward(retain_graph=True)
    assert heard == [[6.0, 12.0]]
    y.backward()
    assert heard[1:] == [[3.0, 12.0]]
    (again,) = ends(gradient)
    assert again.tolist() == [1.0, 2.0]
    assert again.requires_grad
    assert again.is_leaf


def test_copies_of_the_graph():
    """A pickle of a leaf and its recorded gradient is one graph again, without a cycle of its own made weak."""
    x, _ = recorded()
    other, slope = pickle.loads(pickle.dumps((x, x.grad)))
    assert sg.autograd.grad(slope.sum(), other)[0].tolist() == [6.0, 12.0]
    assert other.grad is slope


def test_second_gradients_keep_their_names():
    """A hook that replaced the gradient is in the formula, whether or not the leaf is held weakly."""
    x, _ = leaves()
    x.register_hook(lambda g: g * 5)
    (x * x).sum().backward(create_graph=True)
    x.grad = None
    (x**3).sum().backward()
    assert x.grad.tolist() == [15.0, 60.0]
    assert sg.latex(x.grad) == sg.latex(15 * x**2)


def squares(tensors):
    """The sum of squares, of absolute values where they are complex."""
    return sum((t * t.conj()).real.sum() for t in tensors if t is not None and t.requires_grad)


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in cases()))
def test_no_op_leaves_a_cycle(name):
    """Gradients of gradients, over every sample of the table."""

    def run():
        for k in range(len(samples(TABLE[name]))):
            args, params = make_case(name, k)
            tensors = [sg.tensor(a) if isinstance(a, np.ndarray | np.generic) else a for a in args]
            wanted = [t.requires_grad_() for t in tensors if sg.is_tensor(t) and t.is_floating_point()]
            out = TABLE[name](*tensors, **params)
            if sg.is_tensor(out) and out.requires_grad:
                squares([out]).backward(create_graph=True)
                second = squares([t.grad for t in wanted])
                if sg.is_tensor(second):
                    second.backward()

    run()  # what is found out once for each op stays
    gc.freeze()  # what earlier tests left is not walked again, for every op
    gc.set_debug(gc.DEBUG_SAVEALL)
    run()
    gc.collect()
    gc.set_debug(0)
    found = {f"{type(thing).__module__}.{type(thing).__name__}" for thing in gc.garbage}
    gc.garbage.clear()
    assert not found


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_random_tensors_leave_nothing(name):
    """A training loop draws at every step."""
    draw = getattr(sg, name)
    draw(2)
    gc.collect()
    draw(2)
    assert gc.collect() == 0

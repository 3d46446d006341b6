"""What nodes save, in the user's hands; edges of the graph; hooks on several tensors."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import graph


def test_pack_sees_what_rules_read_and_unpack_gives_it_back():
    packed, opened = [], []
    a = sg.tensor([2.0, 3.0], requires_grad=True)

    def pack(t):
        packed.append(t.tolist())
        return ("kept", t)

    def unpack(held):
        opened.append(held[0])
        return held[1]

    with graph.saved_tensors_hooks(pack, unpack):
        y = (a * a).sum()
    assert packed == [[2.0, 3.0], [2.0, 3.0]]
    y.backward()
    assert opened == ["kept", "kept"]
    assert a.grad.tolist() == [4.0, 6.0]


def test_what_unpack_gives_is_what_backward_uses():
    a = sg.tensor(3.0, requires_grad=True, name="a")
    with graph.saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = a * a
    y.backward()
    assert a.grad.item() == 60.0
    assert str(y.expr) == "a**2"


def test_second_derivatives_and_pickles():
    a = sg.tensor([2.0, 3.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t.numpy().copy(), lambda held: sg.tensor(held)):
        y = (a**3).sum()
    (g,) = sg.autograd.grad(y, a, create_graph=True)
    (h,) = sg.autograd.grad(g.sum(), a)
    assert h.tolist() == [12.0, 18.0]
    copy = pickle.loads(pickle.dumps(y))
    copy.backward()


def test_innermost_hooks_count_and_only_inside():
    seen = []
    a = sg.tensor([1.0], requires_grad=True)

    def hooks(name):
        return graph.saved_tensors_hooks(lambda t: (seen.append(name), t)[1], lambda t: t)

    with hooks("outer"):
        with hooks("inner"):
            a.exp()
        a.exp()
    a.exp()
    assert seen == ["inner", "outer"]


def test_custom_functions_are_packed():
    class Square(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x + 1)
            return x * x

        @staticmethod
        def backward(ctx, g):
            x, more = ctx.saved_tensors
            return g * (x + more - 1)

    a = sg.tensor([3.0], requires_grad=True)
    seen = []
    with graph.saved_tensors_hooks(lambda t: (seen.append(t.tolist()), t)[1], lambda t: t):
        y = Square.apply(a)
    y.backward()
    assert seen == [[3.0], [4.0]]
    assert a.grad.tolist() == [6.0]


def test_bad_hooks():
    a = sg.tensor([1.0], requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = a.exp()
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.backward()
    with (
        graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
    ):
        a.exp()
    a.exp().backward()


def test_disabled():
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass


@pytest.mark.parametrize("dtype", [sg.float32, sg.float64, sg.complex128])
def test_save_on_disk(tmp_path, dtype):
    a = sg.tensor(np.arange(6.0).reshape(2, 3), dtype=dtype, requires_grad=True)
    with graph.save_on_disk(tmp_path):
        y = (a * a).sum()
    assert len(list(tmp_path.iterdir())) == 2
    (y if dtype != sg.complex128 else y.real).backward()
    np.testing.assert_array_equal(a.grad.numpy().real, 2 * np.arange(6.0).reshape(2, 3))
    del y
    gc.collect()
    assert not list(tmp_path.iterdir())
    with graph.save_on_cpu(pin_memory=True):
        (a * 2).sum()


def test_allow_mutation():
    a = sg.ones(2, requires_grad=True)
    with graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        y = (b * b).sum()
        b.detach().zero_()
        y.backward()
    assert a.grad.tolist() == [2.0, 2.0]


# ---------------------------------------------------------------------------------------------- edges


def test_gradient_edges():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    edge, leaf_edge = graph.get_gradient_edge(y), graph.get_gradient_edge(x)
    assert (edge.node, edge.output_nr) == (y.grad_fn, 0)
    assert leaf_edge.node is y.grad_fn.next_functions[0][0]
    z = (y * 3).sum()
    assert sg.autograd.grad(z, edge, retain_graph=True)[0].tolist() == [3.0, 3.0]
    assert sg.autograd.grad(z, [leaf_edge, x], retain_graph=True)[0].tolist() == [6.0, 12.0]
    assert sg.autograd.grad(graph.GradientEdge(y.grad_fn, 0), x, sg.ones(2))[0].tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        graph.get_gradient_edge(sg.ones(2))


def test_nodes_are_nodes():
    x = sg.tensor(1.0, requires_grad=True)
    y = x * 2
    assert isinstance(y.grad_fn, graph.Node)
    assert isinstance(y.grad_fn.next_functions[0][0], graph.Node)
    assert not isinstance(x, graph.Node)


# ---------------------------------------------------------------------------------------------- several tensors


def program(lib):
    a, b, c = (lib.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0))
    return a, b, c, a * b, lambda p: p * c


def multi_grad_trace(lib):
    """What hooks on several tensors see in three kinds of passes."""
    a, b, c, p, rest = program(lib)
    seen = []

    def note(grads):
        seen.append([None if g is None else g.item() for g in grads])

    every = lib.autograd.graph.register_multi_grad_hook((a, p, c), note)
    some = lib.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.item()), mode="any")
    rest(p).backward(retain_graph=True)
    (p * 1).backward(retain_graph=True)
    every.remove()
    some.remove()
    p.backward()
    return seen


def test_multi_grad_hook():
    seen = multi_grad_trace(sg)
    assert [15.0, 5.0, 6.0] in seen
    assert [3.0, 1.0, None] in seen
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((), print, mode="some")


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_multi_grad_hook_as_torch():
    torch = pytest.importorskip("torch")

    def ordered(seen):
        return sorted(map(repr, seen))

    assert ordered(multi_grad_trace(sg)) == ordered(multi_grad_trace(torch))


PACKS = {"same": lambda t: t, "detached": lambda t: t.detach(), "copied": lambda t: t.detach().clone()}


@pytest.mark.parametrize("pack", PACKS)
def test_pack_hooks_see_changes_in_place_when_they_are_done(pack):
    """What a change in place saves is the value before it or after it, also when it goes through a hook."""

    def program(x):
        a = x * 1
        a.sin_()
        a.mul_(x)
        a.cos_()
        a[0].mul_(x[1])
        a.index_fill_(0, sg.tensor([1]), 0.3)
        a.cumsum_(0).sigmoid_()
        return (a * a).sum()

    x = sg.tensor([[0.5, 1.0, 2.0], [3.0, 5.0, 0.1]], requires_grad=True)
    (want,) = sg.autograd.grad(program(x), x)
    with graph.saved_tensors_hooks(PACKS[pack], lambda t: t):
        out = program(x)
    (got,) = sg.autograd.grad(out, x)
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_pack_hooks_may_copy_what_has_no_axes():
    x = sg.tensor([[0.5, 1.0], [3.0, 5.0]], requires_grad=True)
    functions = [sg.nn.functional.mse_loss, lambda a, b: sg.var_mean(a)[0], lambda a, b: sg.linalg.slogdet(a)[1] * b]
    for function in functions:
        (want,) = sg.autograd.grad(function(x, x.exp()).sum(), x)
        with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
            out = function(x, x.exp()).sum()
        (got,) = sg.autograd.grad(out, x)
        np.testing.assert_array_equal(got.numpy(), want.numpy())


# ------------------------------------------------------------------------------------------ few digits


@pytest.mark.parametrize(
    ("narrow", "wide", "rtol"),
    [
        ("float16", "float32", 4e-3),
        ("float16", "float64", 4e-3),
        ("float32", "float64", 1e-6),
        ("float16", "complex128", 4e-3),
    ],
)
def test_values_saved_in_few_digits(narrow, wide, rtol):
    data = np.random.default_rng(0).uniform(0.5, 1.5, (4, 4)).astype(wide)
    x = sg.tensor(data, requires_grad=True)

    def loss():
        return ((x @ x).exp() * x / 3e5).abs().sum()

    (exact,) = sg.autograd.grad(loss(), x)
    with graph.save_as(getattr(sg, narrow)):
        y = loss()
    (g,) = sg.autograd.grad(y, x)
    assert g.dtype == x.dtype
    np.testing.assert_allclose(g.numpy(), exact.numpy(), rtol=rtol)
    assert not np.array_equal(g.numpy(), exact.numpy())


def test_few_digits_keep_the_range_and_what_is_not_finite():
    x = sg.tensor([1e300, 2e300, np.inf, np.nan], requires_grad=True, dtype=sg.float64)
    with graph.save_as(sg.float16):
        y = (x * 1e-300) * x * 0.5
    y.backward(sg.ones(4, dtype=sg.float64))
    np.testing.assert_allclose(x.grad.numpy(), [1.0, 2.0, np.inf, np.nan], rtol=1e-3)
    mask = sg.tensor([True, False])
    z = sg.ones(2, requires_grad=True)
    with graph.save_as():
        w = sg.where(mask, z * 2, 0.0).sum()
    w.backward()
    assert z.grad.tolist() == [2.0, 0.0]
    with pytest.raises(sg.errors.ArgumentError, match="float16 or float32"):
        graph.save_as(sg.int8)


@pytest.mark.parametrize(
    "packer", [lambda: graph.save_on_disk(min_bytes=10**6), lambda: graph.save_as(np.float16)], ids=["disk", "narrow"]
)
def test_what_a_packer_leaves_in_memory_may_not_change(packer):
    x = sg.ones(3, requires_grad=True)
    with packer():
        mask = x > 0
        y = (sg.where(mask, x.exp(), x) if packer().__class__ is graph.save_as else x.exp().sin()).sum()
        e = x.exp()
        z = e.sin().sum()
        e.mul_(2)
        mask.logical_not_()
    if packer().__class__ is graph.save_on_disk:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
    else:  # a copy was saved of the exponential, and the mask itself
        z.backward()
        np.testing.assert_allclose(x.grad.numpy(), np.e * np.cos(np.e) * np.ones(3), rtol=2e-3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()

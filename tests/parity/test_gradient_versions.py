"""Names and versions of gradients where torch's rules go by the shape, the layout or the mode of a pass."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.functions import doubling

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]


def square(v):
    return (v * v).sum()


def changed_empty(t, x, m, e):
    v = (m * m)[:0].reshape(2, 0) if e.ndim > 1 else e * e
    part = v[:1]
    v.add_(1)
    return square(v) + part.sin().sum()


def doubled_view(t, x, m, e):
    v = t.diag_embed(m)
    doubling(t).apply(v[::2, 1])
    return square(v) + square(m)


def factored(t, x, m, e):
    factor = t.linalg.cholesky(m @ m.t() + t.eye(2, dtype=m.dtype))
    return (factor @ factor.t()).sin().sum() + t.linalg.solve(factor @ factor.t(), factor).sin().sum()


def read_and_changed(make, change):
    """What torch makes as a view of a temporary tensor, read before and after a change of it."""

    def program(t, x, m, e):
        v = make(t, m)
        before = v.sum() if v.ndim else v * 2
        change(v)
        return (v * v).sum() + before.sin()

    return program


def tracked_since(t, x, m, e):
    y = x.detach() * 2
    angle = t.atan2(m.float(), y)
    y.requires_grad = True  # its derivative reads y, which is a leaf by then
    first = t.autograd.grad(angle.sum(), m, create_graph=True)[0]
    return square(t.autograd.grad(square(first), y, create_graph=True)[0])


def expanded(change):
    """A product whose matrix is one row, repeated: the gradient of that matrix, and of its."""

    def program(t, x, m, e):
        v = change(x.expand(2, 3))
        s = (v @ v.t() + t.eye(2, dtype=x.dtype)).sin().sum()
        return square(t.autograd.grad(s, v, create_graph=True)[0])

    return program


PROGRAMS = {
    "tracked after it was read": tracked_since,
    "axes left where they are": lambda t, x, m, e: t.nn.functional.linear(m.transpose(0, 0), m.transpose(0, -2)).sum(),
    "an axis moved to its place": lambda t, x, m, e: (m.movedim(0, 0) @ m.movedim(0, 0).mH).sin().sum(),
    "a row repeated": expanded(lambda v: v),
    "a row copied": expanded(lambda v: v * 1),
    "an einsum of columns, changed": read_and_changed(
        lambda t, m: t.einsum("ij,kj->ik", m[:, :1], m[:, :1]), lambda v: v.index_fill_(0, v.argmin().view(1) * 0, 0.25)
    ),
    "einsum, read and changed": read_and_changed(lambda t, m: t.einsum("ij,kj->ik", m, m), lambda v: v.floor_()),
    "number of an einsum, changed": read_and_changed(lambda t, m: t.einsum("ij,ij->", m, m), lambda v: v.mul_(2)),
    "tensordot, a view changed": read_and_changed(lambda t, m: t.tensordot(m, m.t(), 1), lambda v: v[0].sin_()),
    "repeated, a view changed": read_and_changed(
        lambda t, m: m.repeat_interleave(2, dim=0), lambda v: v.unsqueeze(0).sin_()
    ),
    "sgn of a product": lambda t, x, m, e: square((x * x).sgn()),
    "sgn of a dot": lambda t, x, m, e: square(x.dot(x).sgn()),
    "sgn of logsumexp": lambda t, x, m, e: (x.logsumexp(0, keepdim=True).sgn() * 0.5).sum(),
    "sgn beside others": lambda t, x, m, e: square(x.sgn()) + square(x) + square(m.exp().sgn()),
    "sgn of nothing": lambda t, x, m, e: square(e.asin().sgn()),
    "cat with nothing": lambda t, x, m, e: square(t.cat([x.sin(), e])),
    "cat of nothing": lambda t, x, m, e: t.cat([e, e, e]).view(-1).sum(),
    "nothing, then changed": changed_empty,
    "copysign of a vector": lambda t, x, m, e: m.copysign(x).sum(),
    "copysign of another dtype": lambda t, x, m, e: m.copysign(x.float()).sum(),
    "det of one entry": lambda t, x, m, e: t.linalg.det(m[:1] @ m[:1].t()) ** 2,
    "det of one column": lambda t, x, m, e: t.linalg.det(m[:, :1] @ m[:, :1].t() + t.eye(2, dtype=m.dtype)),
    "a factor and its transpose": factored,
    "cumprod with zeros": lambda t, x, m, e: (x - x.detach()[0]).cumprod(0).exp2().sum(),
    "diag of a view": lambda t, x, m, e: t.diag(x.view_as(x)).sum() ** 3,
    "diagflat": lambda t, x, m, e: t.diagflat(m).sum() ** 3,
    "places along an axis": lambda t, x, m, e: t.take_along_dim(m, t.tensor([[0], [1]]), 1).sin().sum(),
    "places of all": lambda t, x, m, e: t.take_along_dim(m, t.tensor([0, 5])).sin().sum(),
    "vector and batch": lambda t, x, m, e: (x[:1] @ m[:, None]).sin().sum(),
    "vector without grad and batch": lambda t, x, m, e: (x.detach()[:1] @ m[:, None]).sin().sum(),
    "column and batch": lambda t, x, m, e: (m[:, :1] @ m[:, None]).sin().sum(),
    "a row for every batch": lambda t, x, m, e: (t.ones(2, 2, 1, 3, dtype=m.dtype) @ m[:, None].mT).sin().sum(),
    "a function on a part": doubled_view,
    "row by row": lambda t, x, m, e: sum(row.sin() * k for k, row in enumerate(m)).sum(),
    "one row of all": lambda t, x, m, e: square(m.unbind(0)[1]),
    "columns and the whole": lambda t, x, m, e: square(m.unbind(1)[2]) + square(m.unbind(1)[0]) + square(m),
    "chunks": lambda t, x, m, e: sum(square(part.exp()) for part in m.chunk(2, 1)),
    "parts of sizes": lambda t, x, m, e: square(t.cat([part.sin() for part in (x * 2).split([1, 2])])),
    "a margin of distances": lambda t, x, m, e: t.nn.functional.triplet_margin_loss(m, m.sin(), m.cos(), swap=True),
    "a margin of ranks": lambda t, x, m, e: t.nn.functional.margin_ranking_loss(x, x.sin(), t.ones(3, dtype=x.dtype)),
}


def followed(t, program, levels):
    """Name, version and next names of every gradient, pass after pass."""
    leaves = [
        t.tensor(np.array(a), requires_grad=True)
        for a in ([0.5, -1.0, 1.5], [[0.75, 1.25, -1.5], [1.25, 1.5, -0.75]], np.zeros(0))
    ]
    s, seen = program(t, *leaves), []
    for k in range(levels):
        found = t.autograd.grad(s, leaves, allow_unused=True, create_graph=k < levels - 1)
        seen.append([None if g is None else (type(g.grad_fn).__name__, g._version) for g in found])
        recorded = [square(g) for g in found if g is not None and g.requires_grad]
        if not recorded:
            break
        s = sum(recorded)
    return seen


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_names_and_versions_of_gradients(program, levels):
    here, there = (followed(t, program, levels) for t in (symgrad, torch))
    assert here == there


WRITES = {
    "a slice of nothing": lambda v, e: v.__setitem__(slice(1, None), 3.0),
    "a tensor into nothing": lambda v, e: v.__setitem__(slice(1, None), e * 2),
    "all of nothing": lambda v, e: v.__setitem__(slice(None), e * 2),
    "all from the first": lambda v, e: v.__setitem__(slice(0, None), 1.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_node_of_a_write_into_a_tensor_without_entries(write):
    names = []
    for t in (symgrad, torch):
        e = t.tensor(np.zeros(0), requires_grad=True)
        v = e * 1
        write(v, e)
        names.append((type(v.grad_fn).__name__, v._version))
    assert names[0] == names[1]


PARTS = {
    "a column": lambda v, s: v.__setitem__((slice(None), -1), s),
    "a row": lambda v, s: v.__setitem__(0, s),
    "all": lambda v, s: v.__setitem__(slice(None), s),
    "an entry": lambda v, s: v.__setitem__((0, 0), s),
    "places": lambda v, s: v.__setitem__(([0, 1], [0, 1]), s),
    "a mask": lambda v, s: v.__setitem__(v.detach() > 0, s),
}
VALUES = {
    "a number": lambda x, m: m.mean(),
    "axes of one": lambda x, m: m.sum(1, keepdim=True)[:1],
    "one axis of one": lambda x, m: x[:1],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("write", PARTS.values(), ids=PARTS)
def test_what_a_written_value_is_asked(write, value):
    seen = []
    for t in (symgrad, torch):
        x, m = (t.tensor(np.array(a), requires_grad=True) for a in ([0.5, 1.5], [[0.75, 1.25, -1.5], [1.25, 1.5, 0.5]]))
        v, s = m * 2, value(x, m)
        write(v, s)
        grads = t.autograd.grad((v * v * v).sum(), [m, s], create_graph=True)
        seen.append([(type(g.grad_fn).__name__, g._version, g.tolist()) for g in grads])
    assert seen[0] == seen[1]


def cubing(t):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    return Cube.apply


def test_what_a_function_gave_and_another_node_passed_on_are_two_nodes():
    seen = []
    for t in (symgrad, torch):
        s = t.tensor([0.5, -1.5, 2.0], dtype=t.float64, requires_grad=True).mean()
        (first,) = t.autograd.grad(cubing(t)(s.sum()), s, create_graph=True)
        (second,) = t.autograd.grad(first * first, s, create_graph=True)
        (third,) = t.autograd.grad(second, s)
        seen.append([(type(g.grad_fn).__name__, g._version, g.item()) for g in (first, second, third)])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (4, 5, 3), (2, 1, 3)])
@pytest.mark.parametrize("entries", [1, 3])
def test_what_a_function_gave_in_another_shape(entries, shape, create):
    """Its sum to the shape of the input is a view where leading axes go, which nobody adds into."""
    seen = []
    for t in (symgrad, torch):

        class Broad(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, g):
                return g.sum() * t.ones(shape, dtype=t.float64)

        x = t.tensor([0.5, -1.5, 2.0][:entries], dtype=t.float64, requires_grad=True) * 1
        first, last = x.sin(), Broad.apply(x)
        found = [t.autograd.grad(out.sum().sin(), x, create_graph=create)[0] for out in (last, last + first)]
        for g in found:
            seen.append((type(g.grad_fn).__name__, g._version, np.round(g.tolist(), 9).tolist()))
    assert seen[:2] == seen[2:]


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("leaf", [False, True])
def test_what_a_function_gave_was_changed_by_it(leaf, twice):
    """A gradient that a user's backward added up in place is given on as it is, with its version."""
    seen = []
    for t in (symgrad, torch):

        class Slow(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 4

            @staticmethod
            def backward(ctx, g):
                total = g * 0
                for _ in range(4):
                    total += g
                return total

        x = t.ones(3, dtype=t.float64, requires_grad=True)
        y = x if leaf else x * 1
        out = Slow.apply(y).sum() + (Slow.apply(y).sum() if twice else 0)
        seen.append([t.autograd.grad(out, y, retain_graph=True)[0]._version])
        out.backward()
        seen[-1].append(x.grad._version)
    assert seen[0] == seen[1]


def test_where_a_function_gave_none_nothing_is_added():
    seen = []
    for t in (symgrad, torch):

        class First(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * y

            @staticmethod
            def backward(ctx, g):
                return g * 2, None

        x = t.tensor([0.5, -1.5], requires_grad=True) * 1
        for given in ([x.sin(), x.cos()], [x, x.cos()], [x.sin(), x]):
            (g,) = t.autograd.grad((x.exp() + First.apply(*given)).sum(), x)
            seen.append((g._version, np.round(g.tolist(), 5).tolist()))
    assert seen[:3] == seen[3:]


INNER = {
    "outer einsum": lambda t, x, m: t.einsum("i,j->ij", x, x),
    "einsum": lambda t, x, m: t.einsum("ij,kj->ik", m, m),
    "tensordot": lambda t, x, m: t.tensordot(m, m, 2),
    "quotient of a number": lambda t, x, m: 2 / x,
    "an index of two steps": lambda t, x, m: m[1:, None],
    "outer": lambda t, x, m: t.outer(x, x),
}


@pytest.mark.parametrize("make", INNER.values(), ids=INNER)
def test_the_second_gradient_of_what_is_several_nodes_in_torch(make):
    seen = []
    for t in (symgrad, torch):
        x, m = (t.tensor(np.array(a), requires_grad=True) for a in ([0.5, 1.5], [[0.75, 1.25, -1.5], [1.25, 1.5, 0.5]]))
        v = make(t, x, m)
        first = t.autograd.grad((v.sin() * v).sum(), [x, m], create_graph=True, allow_unused=True)
        s = sum(square(g) for g in first if g is not None)
        (second,) = t.autograd.grad(s, v, create_graph=True)
        seen.append((type(second.grad_fn).__name__, second._version, np.round(second.tolist(), 9).tolist()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_the_determinant_of_matrices_without_entries(shape):
    seen = []
    for t in (symgrad, torch):
        x = t.tensor(np.zeros(shape), requires_grad=True)
        (first,) = t.autograd.grad((t.linalg.det(x * 1) ** 2).sum(), x, create_graph=True, allow_unused=True)
        seen.append(None if first is None else tuple(first.shape))
    assert seen[0] == seen[1] or seen[1] is None


ENTROPIES = ["", "weight=w", "reduction='sum'", "reduction='none', weight=w", "reduction='sum', weight=w"]
LOSSES = [
    *(f"binary_cross_entropy(x, y, {options})" for options in ENTROPIES),
    *(f"binary_cross_entropy_with_logits(x, y, {options})" for options in ENTROPIES),
    *(f"binary_cross_entropy_with_logits(x, y, pos_weight=w, {options})" for options in ENTROPIES),
    *(f"soft_margin_loss(x, w.sign(){options})" for options in ("", ", reduction='sum'", ", reduction='none'")),
]


@pytest.mark.parametrize("call", LOSSES)
def test_losses(call):
    """A mean is divided last, in place; weights are multiplied in."""
    seen = []
    for t in (symgrad, torch):
        x, y, w = (t.tensor(v, dtype=t.float64) for v in ([0.3, 0.6, 0.2], [0.5, 0.1, 0.9], [1.0, 2.0, 3.0]))
        wanted = [x.requires_grad_()] if "soft" in call else [x.requires_grad_(), y.requires_grad_()]
        loss = eval(f"F.{call}", {"F": t.nn.functional, "x": x, "y": y, "w": w}).sum()
        seen.append([(g._version, g.grad_fn.name()) for g in t.autograd.grad(loss, wanted, create_graph=True)])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("call", ["avg_pool2d(x, 2)", "max_pool2d(x, 2)", "adaptive_avg_pool2d(x, 2)"])
def test_second_gradients_of_pools(call):
    """torch's zeros are filled once."""
    seen = []
    for t in (symgrad, torch):
        x = t.arange(16.0).reshape(1, 1, 4, 4).requires_grad_()
        (g,) = t.autograd.grad(eval(f"F.{call}", {"F": t.nn.functional, "x": x}).sum(), x, create_graph=True)
        (second,) = t.autograd.grad(g.sum(), x, create_graph=True)
        seen.append((g._version, g.grad_fn.name(), second._version, second.grad_fn, second.tolist()))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("program", ["x * z", "x / z", "z / x", "z * x - z", "(x * z) ** 2"])
def test_a_complex_number_leaves_the_precision_of_arrays(program):
    """What comes back to the array is cast no more, and what comes back to the number is."""
    seen = []
    for t in (symgrad, torch):
        x = t.tensor([0.5, 1.0, 1.5], requires_grad=True)
        z = t.tensor(0.646 - 1.097j, dtype=t.complex128, requires_grad=True)
        found = t.autograd.grad(eval(program, {"x": x, "z": z}).abs().sum(), (x, z), create_graph=True)  # noqa: S307
        seen.append([(type(g.grad_fn).__name__, g._version) for g in found])
    assert seen[0] == seen[1]


TAKEN = {
    "a layer": lambda t, F, x, m: F.linear(x.outer(x), m),
    "a layer with bias": lambda t, F, x, m: F.linear(x.outer(x).detach(), m, m[:, 0].detach()),
    "a layer, twice": lambda t, F, x, m: F.linear(x.outer(x), m) * F.linear(x.outer(x).detach(), m),
    "columns, added": lambda t, F, x, m: t.addmm(x[:2].detach(), x.outer(x).detach(), m.t()),
    "columns": lambda t, F, x, m: x[None] @ m.t(),
    "rows": lambda t, F, x, m: m @ x[:, None],
    "turned, then changed entry by entry": lambda t, F, x, m: m.t().cos() * m.T,
    "turned twice": lambda t, F, x, m: m.t().t() * 2,
    "axes in another order": lambda t, F, x, m: m.permute(1, 0) * m.permute(1, 0).exp(),
    "logits": lambda t, F, x, m: F.binary_cross_entropy_with_logits(m, m.detach().sigmoid()),
    "logits, summed": lambda t, F, x, m: F.binary_cross_entropy_with_logits(m, x.expand(2, 3), reduction="sum"),
    "logits, weighed": lambda t, F, x, m: F.binary_cross_entropy_with_logits(m, x.expand(2, 3), x.detach()),
    "logits of few": lambda t, F, x, m: F.binary_cross_entropy_with_logits(m, x.expand(2, 3), pos_weight=x.detach()),
}


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("program", TAKEN.values(), ids=TAKEN)
def test_what_leaves_take_as_it_is(program, create):
    """A leaf takes what nobody else holds and what lies as it does; of anything else it takes a copy, changed once."""
    seen = []
    for t in (symgrad, torch):
        x = t.tensor([0.5, 1.0, 1.5], requires_grad=True)
        m = t.tensor([[0.75, 1.25, -1.5], [1.25, 1.5, -0.75]], requires_grad=True)
        for _ in range(2):
            program(t, t.nn.functional, x, m).sum().backward(create_graph=create)
            seen.append([None if leaf.grad is None else leaf.grad._version for leaf in (x, m)])
        found = t.autograd.grad(program(t, t.nn.functional, x, m).sum(), (x, m), create_graph=create, allow_unused=True)
        seen.append([None if g is None else g._version for g in found])
    assert seen[:3] == seen[3:]

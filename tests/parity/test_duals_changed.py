"""Forward mode through changes in place, views and questions about a value, against torch's."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
D = np.array([[1.0, 0.5, 2.0], [3.0, 1.0, 1.0]])


def row_from_another(t, x):
    a = x * 1
    a[0] = a[1] * 2
    return a


def views(t, x):
    a = x * x
    v = a.view(-1)
    a[0].mul_(2)
    v[::2].sin_()
    a.t()[0].add_(x[:, 1])
    return a, v


def many(t, x):
    a = x + 0
    a += x * x
    a /= 2
    a.relu_().add_(3)
    a.unsqueeze_(0)
    a.mul_(x).clamp_(min=2.0).masked_fill_(a > 40, 1.0)
    return a


def of_views(t, x):
    a = x**2
    a[0].mul_(a[1])
    b = a.diagonal()
    b.cos_()
    a[:, 1:].t().sub_(x[0, 0])
    return a, b


def recurrence(t, x):
    a = x.clone()
    for i in range(1, 3):
        a[:, i] = a[:, i] + a[:, i - 1] * x[:, i]
    return a.type_as(x).contiguous()


def scattered(t, x):
    b = x[0] + 0
    b.index_add_(0, t.tensor([0, 0]), x[1, :2])
    b.index_put_((t.tensor([0, 0]),), x[0, :2], accumulate=True)
    b.lerp_(x[1], 0.5).addcmul_(x[0], x[1], value=2.0)
    return b


def parts_of_complex(t, x):
    a = x * 1j
    a.real.mul_(2).add_(x)
    t.view_as_real(a)[..., 1].sin_()
    return t.view_as_real(a)


def diagonal_filled(t, x):
    a = x * x
    a.fill_diagonal_(1.0)
    return a


def forgotten(t, x):
    a = x * x
    a.zero_()
    return a, a.fill_(2.0)


def facts(t, x):
    assert (x.is_complex(), x.is_floating_point(), x.nelement(), x.element_size()) == (False, True, 6, 8)
    return x.float().double().half().double() + x.new_ones(3) + x.data * x


def made_alike(t, x):
    return t.ones_like(x) * x + t.zeros_like(x) + t.full_like(x, 2.0).where(x > 2, x) + t.ones(2, 3).type_as(x) * x


def turned(t, x):
    assert 3 in x
    return x.mH @ x + x.H @ x.cpu()


def activations_in_place(t, x):
    functional = t.nn.functional
    return functional.relu_(x - 2) + functional.relu(x - 3, inplace=True) + t.sigmoid_(x * 1) + functional.elu_(x - 3)


FUNCTIONS = [
    row_from_another, views, many, of_views, recurrence, scattered, parts_of_complex, diagonal_filled, forgotten, facts,
    made_alike, turned, activations_in_place,
]  # fmt: skip


def flat(values):
    return [v.detach().numpy() for v in (values if isinstance(values, tuple) else (values,))]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tangents(function):
    found = []
    for t in (sg, torch):
        out, moved = t.func.jvp(lambda x, t=t: function(t, x), (t.tensor(X),), (t.tensor(D),))
        found.append([*flat(out), *flat(moved)])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3 if function is facts else 1e-12)


@pytest.mark.parametrize("function", [row_from_another, views, scattered, diagonal_filled])
def test_tangents_of_tangents(function):
    """Duals of duals, and the gradient of a tangent: what a change is recorded with is the value before it."""
    found = []
    for t in (sg, torch):
        first = lambda x, t=t: _total(function(t, x))  # noqa: E731
        along = lambda x, t=t, first=first: t.func.jvp(first, (x,), (t.tensor(D),))[1]  # noqa: E731
        twice = t.func.jvp(along, (t.tensor(X),), (t.tensor(D),))[1]
        found.append([twice.numpy(), t.func.grad(along)(t.tensor(X)).numpy()])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10)


def _total(values):
    return sum(v.sin().sum() for v in (values if isinstance(values, tuple) else (values,)))


def test_a_level():
    rows = []
    for t in (sg, torch):
        forward = t.autograd.forward_ad
        with forward.dual_level():
            a = forward.make_dual(t.tensor(X) * 1, t.tensor(D))
            b = a * a
            c = b.expand(2, 2, 3)
            b[0].mul_(2)
            b.add_(a)
            rows.append([p.numpy().copy() for d in (b, c) for p in forward.unpack_dual(d)])
    for got, want in zip(*rows, strict=True):
        np.testing.assert_allclose(got, want)


def test_a_tensor_that_stands_still():
    """It cannot start to move, and says so."""

    def fill(x):
        z = sg.zeros(2, 3, dtype=sg.float64)
        z.copy_(x)
        return z

    with pytest.raises(AttributeError, match="a tensor without a tangent cannot be changed in place"):
        sg.func.jvp(fill, (sg.tensor(X),), (sg.tensor(D),))
    with pytest.raises(AttributeError, match="normal_"):
        sg.func.jvp(lambda x: (x * 1).normal_(), (sg.tensor(X),), (sg.tensor(D),))

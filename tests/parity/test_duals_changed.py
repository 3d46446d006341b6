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


def one_of_several_rows(t, x):
    """What was expanded is one row, whichever is changed, also as a part of complex numbers."""
    a = x * x
    a.expand(2, 2, 3)[1].clamp_(2.0, 20.0)
    a.unfold(1, 2, 1)[:, 1].mul_(x[:, :2])
    z = t.complex(a, x)
    z.expand(2, 2, 3)[1].imag.mul_(a)
    t.view_as_real(z.expand(2, 2, 3))[1, ..., 0].sin_()
    return a, t.view_as_real(z)


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


def filled_by_rows(t, x):
    out = t.zeros(2, 3, dtype=t.float64)
    for i in range(2):
        out[i] = x[i] * x[1 - i]
    out[0, 1] = 2.0
    return out


def filled_through_a_view(t, x):
    out = t.ones(3, 2, dtype=t.float64)
    row, flat, late = out[1], out.view(-1), out.t()
    row.copy_(x[0, :2])
    late[0] += x[1]
    flat[::2].mul_(x[0]).sin_()
    return out, row * x[0, 0], flat, late


def summed_up(t, x):
    total, same = t.zeros(3, dtype=t.float64), t.zeros((), dtype=t.float64)
    for row in x:
        total += row**2
        same.add_(row.sum())
    total.unsqueeze_(0)
    return total.exp_() / 1e9, same, total.detach() * same, t.cat([total, x]), total.clone().mul_(2)


def chosen_entries(t, x):
    out = t.ones(2, 3, dtype=t.float64)
    out[x > 2] = x[0, 1]
    out.index_put_((t.tensor([0]), t.tensor([2])), x[1, 1])
    return out.masked_fill_(x > 5, x[0, 0]), t.ones(2, dtype=t.float64).scatter_(0, t.tensor([1]), x[0, :1])


def wider_than_itself(t, x):
    return (
        t.zeros(2, 2, 3, dtype=t.float64).copy_(x),
        t.zeros(2, 3).copy_(x),
        t.zeros(2, dtype=t.float64).fill_(x[1, 2]),
    )


FUNCTIONS = [
    filled_by_rows, filled_through_a_view, summed_up, chosen_entries, wider_than_itself,
    row_from_another, views, many, of_views, recurrence, scattered, parts_of_complex, diagonal_filled, forgotten, facts,
    made_alike, one_of_several_rows, turned, activations_in_place,
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
        np.testing.assert_allclose(
            got, want, rtol=1e-3 if function is facts else 1e-6 if function is wider_than_itself else 1e-12
        )


@pytest.mark.parametrize(
    "function",
    [
        row_from_another,
        views,
        scattered,
        one_of_several_rows,
        diagonal_filled,
        filled_by_rows,
        filled_through_a_view,
        summed_up,
    ],
)
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


def test_a_tensor_that_came_to_move():
    """It stays the object that it is, moves until the level ends, and is a tensor like others then."""
    rows = []
    for t in (sg, torch):
        forward = t.autograd.forward_ad
        with forward.dual_level():
            x = forward.make_dual(t.tensor(X), t.tensor(D))
            out = t.zeros(2, 3, dtype=t.float64)
            row, apart = out[0], out.detach()
            assert out[1].copy_(x[0]) is not out
            assert out.add_(x) is out
            kept = out
            kept += x
            assert kept is out
            assert isinstance(out, t.Tensor)
            assert isinstance(x, t.Tensor)
            assert t.is_tensor(x)
            assert (len(out), out.dtype, out.requires_grad, out.is_leaf) == (2, t.float64, False, True)
            assert forward.unpack_dual(apart).tangent is None
            rows.append([p.numpy().copy() for d in (out, row) for p in forward.unpack_dual(d)])
            rows[-1] += [np.array([float(k) for k in row]), (out > 3).numpy()]
        assert forward.unpack_dual(out).tangent is None
        assert type(out) is t.Tensor
        row.mul_(2)  # views and their base know each other as before
        out.requires_grad_()
        (out * out).sum().backward()
        rows[-1] += [apart.numpy(), out.detach().numpy(), out.grad.numpy(), row.detach().numpy()]
    for got, want in zip(*rows, strict=True):
        np.testing.assert_allclose(got, want)


def test_gradients_of_what_came_to_move():
    """The graph goes on through it: in the level, and after it."""
    rows = []
    for t in (sg, torch):
        forward = t.autograd.forward_ad
        w = t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
        with forward.dual_level():
            x = forward.make_dual(w * w, t.tensor(D)[0] * w)
            out = t.zeros(2, 3, dtype=t.float64)
            view = out[1]
            view.copy_(x)
            out.mul_(x)
            primal, tangent = forward.unpack_dual(out)
            rows.append([t.autograd.grad(p.sum(), w, retain_graph=True)[0].numpy() for p in (primal, tangent)])
        rows[-1] += [t.autograd.grad(p.sum(), w, retain_graph=True)[0].numpy() for p in (out, view)]
        tracked = w * 2
        with forward.dual_level():
            tracked.mul_(forward.make_dual(t.ones(3, dtype=t.float64), t.ones(3, dtype=t.float64)))
            rows[-1].append(
                t.autograd.grad(forward.unpack_dual(tracked).tangent.sum(), w, retain_graph=True)[0].numpy()
            )
        rows[-1].append(t.autograd.grad(tracked.sum(), w)[0].numpy())
    for got, want in zip(*rows, strict=True):
        np.testing.assert_allclose(got, want)


def test_what_came_to_move_among_itself():
    """It is written into others like it, and what it was before a change is what counts for the gradient."""
    rows = []
    for t in (sg, torch):
        forward = t.autograd.forward_ad
        w = t.tensor([1.0, 2.0, 3.0], dtype=t.float64, requires_grad=True)
        one = t.ones(3, dtype=t.float64)
        with forward.dual_level():
            x = forward.make_dual(t.tensor(X[0]), t.tensor(D)[0] * w)
            a, b, c, d = (one * k for k in (2, 3, 4, 5))
            a.mul_(x).add_(1)
            b.copy_(a)
            c.sin_().mul_(b)
            d[...] = c
            x.mul_(d)
            a.zero_()
            found = [forward.unpack_dual(value) for value in (a, b, c, d, x)]
            assert all(isinstance(tangent, t.Tensor) for _, tangent in found)
            total = sum((p * tangent).sum() for p, tangent in found)
            rows.append([total.detach().numpy(), t.autograd.grad(total, w)[0].numpy()])
            rows[-1] += [p.detach().numpy() for pair in found for p in pair]
        rows[-1] += [value.numpy() for value in (a, b.detach(), c.detach(), d.detach())]
    for got, want in zip(*rows, strict=True):
        np.testing.assert_allclose(got, want)


def test_questions_to_a_dual():
    """What a level's values answer: versions, detachment, and their text."""
    texts = []
    for t in (sg, torch):
        forward = t.autograd.forward_ad
        base = t.tensor([1.0, 2.0])
        with forward.dual_level():
            x = forward.make_dual(base, t.tensor([3.0, 4.0]))
            base.add_(1)
            assert x._version == base._version == forward.unpack_dual(x).primal._version
            texts.append([repr(x), repr(x.expand(9, 2) * 1), repr(x.sum())])
            for out in (lambda x=x: t.add(base, base, out=x), lambda x=x: t.add(x, x, out=base)):
                with pytest.raises(NotImplementedError, match="it is an out= function"):
                    out()
            y = x.clone()
            y.detach_()
            assert forward.unpack_dual(y * 2).tangent is None
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["normal_", "uniform_", "exponential_", "random_"])
def test_random_numbers_do_not_move(name):
    rows = []
    for t in (sg, torch):
        t.manual_seed(3)
        forward = t.autograd.forward_ad
        with forward.dual_level():
            x = forward.make_dual(t.tensor(X), t.tensor(D)) * 1
            view = x[0]
            assert getattr(view, name)() is view
            rows.append([*(p.numpy().copy() for p in forward.unpack_dual(x)), x.numpy().copy()])
    for got, want in zip(*rows, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_what_cannot_come_to_move():
    def mixed(x):
        copy = x.clone()
        sg.func.jvp(lambda y: copy.copy_(y), (x,), (sg.tensor(D),))
        return copy

    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        sg.func.jvp(mixed, (sg.tensor(X),), (sg.tensor(D),))


def matrix_of_both(t, a, b):
    """The usual way of mechanics: a matrix of numbers that are put in one by one."""
    made = t.zeros(3, 3, dtype=t.float64)
    made[0, 0], made[0, 1] = a[0], b[1]
    made[1] = a * b
    made.diagonal().add_(b)
    return made @ b


def views_of_the_outer(t, a, b):
    whole = a * 2
    first, last = whole[:2], whole[1:]
    first.mul_(b[:2])
    kept = last * 1
    last.copy_(b[1:])
    whole.sin_()
    return kept * first + last


def pairs_of_complex(t, a, b):
    both = t.complex(a, a * 2)
    t.view_as_real(both)[:, 0] = b
    return (both * both).imag


def row_turned(t, a, b):
    row = a.clone()
    row.unsqueeze_(0).mul_(b)
    row.t_()
    row[0] = b[0]
    return row.squeeze(1) * row.reshape(3)


@pytest.mark.parametrize("program", [matrix_of_both, views_of_the_outer, pairs_of_complex, row_turned])
@pytest.mark.parametrize("outer", ["jacfwd", "jacrev"])
def test_values_of_an_outer_derivative_may_be_changed_by_those_of_an_inner_one(program, outer):
    """They move along both until the inner one is done; in forward mode over forward mode this was refused."""
    found = []
    for t in (sg, torch):
        point = t.tensor([0.3, 0.5, -0.7], dtype=t.float64)

        def by_the_second(a, t=t):
            return t.func.jacfwd(lambda b: program(t, a, b))(a * 2)

        found.append(getattr(t.func, outer)(by_the_second)(point).detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "view",
    ["c.conj()", "t.conj(c)", "c.mH", "c.H", "c.adjoint()", "c.conj()[1].real", "c.conj().imag", "c.conj().conj()"],
)
def test_conjugates_are_views(view):
    """What is changed through them is changed in what they are of, and the other way round."""
    found = []
    for t in (sg, torch):

        def written(x, t=t):
            c = t.complex(x, x * x)
            shown = eval(view)  # noqa: S307
            shown.mul_(3)
            c.add_(x)
            return t.view_as_real(c * 1), (shown * 1).abs()

        found.append([*flat(written(t.tensor(X))), *flat(t.func.jvp(written, (t.tensor(X),), (t.tensor(D),))[1])])
    for got, want in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        "y.mul_(1.5)",
        "y.copy_(p * 3)",
        "y.add_(p)",
        "y[0].mul_(p[1])",
        "y[1:] = 4.0",
        "y.view(3, 1)[1:].sin_()",
        "y.zero_()",
    ],
)
@pytest.mark.parametrize("held", ["d * p", "(d * p).view(1, 3)[0]", "(d * p).conj()"])
def test_changes_under_no_grad_leave_tangents_their_history(change, held):
    """As they leave that of the values; the tangent lost it, and with it a part of its gradient, silently."""
    found = []
    for t in (sg, torch):
        p = t.tensor([2.0, 0.5, -1.0], dtype=t.float64, requires_grad=True)
        with t.autograd.forward_ad.dual_level():
            d = t.autograd.forward_ad.make_dual(t.tensor(D[0]), t.tensor(D[1]))
            scope = {"d": d, "p": p}
            y = scope["y"] = eval(held, scope)  # noqa: S307
            other = y + 0
            with t.no_grad():
                exec(change, scope)  # noqa: S102
            tangent = t.autograd.forward_ad.unpack_dual((y * y + other * p).sum()).tangent
            found.append([tangent.item(), *t.autograd.grad(tangent, p)[0].tolist()])
    np.testing.assert_allclose(*found, rtol=1e-12)


@pytest.mark.parametrize("inner", ["jacfwd", "jvp"])
def test_changes_under_no_grad_leave_jacobians_their_history(inner):
    found = []
    for t in (sg, torch):

        def energy(x, p, t=t):
            y = x * p
            with t.no_grad():
                y[0].mul_(p[1])
                y.mul_(1.5)
            return (y * y).sum() + (y * p).sum()

        def slope(p, t=t):
            x = t.tensor(D[0])
            if inner == "jvp":
                return t.func.jvp(lambda x: energy(x, p), (x,), (x,))[1]
            return (t.func.jacfwd(lambda x: energy(x, p))(x) * p).sum()

        found.append(t.func.grad(slope)(t.tensor(D[1])).tolist())
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_values_of_an_outer_derivative_change_along_all_that_are_inside_of_it():
    """By a value that moves along two of three; the derivatives of what has views were mixed up, silently."""

    def third(t, a):
        def by_the_third(c, b):
            m = a * 1.0
            row = m[1:]
            if t is sg:
                m.mul_(c[0])
                row.mul_(b[2])
            else:
                m = t.cat([a[:1] * c[0], a[1:] * c[0] * b[2]])
                row = m[1:]
            return (m * m * m * c).sum() + (row * row * b[1]).sum()

        def by_the_second(b):
            return t.func.jacfwd(lambda c: by_the_third(c, b))(b * 2)

        return t.func.jacfwd(by_the_second)(a * 3)

    found = [t.func.jacfwd(lambda a, t=t: third(t, a))(t.tensor(X[0])).tolist() for t in (sg, torch)]
    np.testing.assert_allclose(*found, rtol=1e-12)

"""Arrays that are filled in place: sums of parts in compiled gradients, and the buffers of users' functions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import build
from symgrad.compiler.trace import trace
from symgrad.errors import CompileError

rng = np.random.default_rng(7)
PLACES = np.array([0, 1, 1, 4])


def neighbours(x):
    d = x[1:] - x[:-1]
    return (d * d).sum()


def image(x):
    dx, dy = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
    return sg.sqrt(dx * dx + dy * dy + 1e-3).sum()


def stencil(x):
    t = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    return (t * t).sum()


FUNCTIONS = {
    "neighbours": neighbours,
    "image": image,
    "stencil": stencil,
    "one part and an array": lambda x: (x * x).sum() + sg.sin(x[1:]).sum(),
    "an argument itself": lambda x: (x * x[0]).sum() + (x[1:] * x[:-1]).sum(),
    "entries and rows": lambda x: x[0].sum() * x[-1].sum() + (x[::2] ** 3).sum() + (x[..., 1] * x[..., 0]).sum(),
    "new axes": lambda x: (x[None, 1:] * x[:-1, None]).sum() + (x[1:] ** 2).sum(),
    "a part of a part": lambda x: (x[1:][1:] * x[:-2]).sum() + sg.exp(x[1:]).sum(),
    "places that repeat": lambda x: sg.sin(x[PLACES]).sum() + (x[1:] * x[:-1]).sum() + x[PLACES[::-1]].sum(),
    "a mask": lambda x: (x[np.arange(5) > 2] ** 2).sum() + sg.tanh(x[1:]).sum(),
    "ranges": lambda x: (x.narrow(0, 1, 3) * x.narrow(0, 2, 3)).sum() + (x.narrow(1, 0, 2) ** 2).sum(),
    "chunks": lambda x: (x.chunk(2)[0] ** 2).sum() + sg.exp(x.chunk(2)[1]).sum(),
    "windows": lambda x: sg.sin(x.unfold(0, 2, 1)).sum() + (x[1:] ** 2).sum(),
    "two groups": lambda x: sg.sin((x[1:] * x[:-1]).sum()) * ((x[2:] - x[:-2]) ** 2).sum(),
    "means of slices": lambda x: x[1:].mean() * x[:-1].mean() + x[0].sum(),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_the_tape(name, dtype):
    f = FUNCTIONS[name]
    if dtype is np.complex128:
        f = lambda x: sg.real(FUNCTIONS[name](x))  # noqa: E731
    x = rng.standard_normal((5, 5)).astype(dtype)
    before = x.copy()
    t = sg.tensor(x, requires_grad=True)
    f(t).backward()
    traced = trace(sg.func.value_and_grad(f), (x,))
    program = build(traced, direct=False)
    assert program.source == build(traced, direct=True).source
    value, g = program(x)
    assert g.dtype == dtype
    tolerance = 1e-4 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(g, t.grad.numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(value, f(t).item(), rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(program(x)[1], g)


def test_parts_are_added_where_they_lie():
    text = sg.compile(sg.func.grad(neighbours), np.ones(4)).program.source
    assert text == (
        'def grad_neighbours(x):\n    """x (n,) -> (n,) float64."""\n'
        "    n = x.shape[0]\n"
        "    t1 = 2 * (x[1:] - x[:-1])\n"
        "    t2 = np.zeros(n)\n"
        "    t2[1:] = t1\n"
        "    t2[:-1] -= t1\n"
        "    return t2\n"
    )


@pytest.mark.parametrize("name", ["image", "stencil", "neighbours"])
def test_the_order_of_additions_is_that_of_the_sum(name):
    x = rng.standard_normal((40, 40))
    t = sg.tensor(x, requires_grad=True)
    FUNCTIONS[name](t).backward()
    g = sg.compile(sg.func.grad(FUNCTIONS[name]), x)(x)
    assert np.abs(g - t.grad.numpy()).max() <= 8 * np.spacing(np.abs(g).max())


def test_sums_of_parts_that_are_plain_numbers():
    """Slopes that do not depend on x have no dtype of their own; to NumPy, none is float64."""

    def loss(x):
        total = x.sum(1)[0] * 0
        for entry in x.sum(1):
            total = total * 0.5 + entry
        return 0.7 * total

    def along(x):
        return sg.func.grad(lambda x: (sg.func.grad(loss)(x) * sg.sin(x)).sum())(x)

    for rows in (1, 3):
        x = rng.normal(size=(rows, 3))
        np.testing.assert_allclose(sg.compile(along, x)(x), along(sg.tensor(x)), rtol=1e-14)


def test_an_array_that_is_read_again_is_not_written_to():
    def both(x):
        part = sg.cat([x[1:] * 2, x[:1]])
        total = 3 * part
        return total, total + sg.cat([x[:1] * 0, x[1:]]), total * total

    x = rng.standard_normal(5)
    for a, b in zip(sg.compile(both)(x), both(sg.tensor(x)), strict=True):
        np.testing.assert_allclose(a, b.numpy())


def test_hessians_are_those_of_the_tape():
    x = rng.standard_normal(5)
    hessian = sg.func.hessian(lambda x: sg.sin(x[1:] * x[:-1]).sum())
    h, other = sg.compile(hessian)(x), hessian(sg.tensor(x))
    np.testing.assert_allclose(h, other.numpy(), rtol=1e-12, atol=1e-12)


def doubled_diagonal(a):
    v = sg.outer(a.flatten(), a.flatten()).clone()
    v.diagonal(0, 0, -1).mul_(2)
    return (v * v).sum()


def raised_part(a):
    v = sg.view_as_real(a * 1j).clone()
    v[[0]] += 1
    return (v[v > 0] ** 2).sum()


@pytest.mark.parametrize("f", [doubled_diagonal, raised_part], ids=lambda f: f.__name__)
def test_what_is_written_at_counted_places_fits_them_by_letters_or_as_numbers(f):
    """A place of six entries takes no n*m, and one of 3 by 2 no m by n: these gradients did not fit their values."""
    x = np.arange(1.0, 7).reshape(2, 3)
    program = sg.compile(sg.func.grad(f), x)
    for given in (x, -x, x.repeat(2, 0), x.T.copy()):
        t = sg.tensor(given, requires_grad=True)
        f(t).backward()
        np.testing.assert_allclose(program(given), t.grad.numpy(), rtol=1e-12)
        assert t.grad.expr is not None


FIRST, SECOND, X = np.array([1, 2, 0]), np.array([2, 1, 1]), np.array([0.5, 1.5, 2.5])


def counted(i):
    z = sg.zeros(3, dtype=sg.int64)
    z += i
    return z * 2


def entry(i):
    z = sg.zeros(3, dtype=sg.int64)
    z[1] = i[0]
    return z


def one_hot(i):
    z = sg.zeros(3, 3)
    z.scatter_(1, i[:, None], 1.0)
    return z


def places(i):
    z = sg.zeros(3)
    z[i] = 1
    return z


def blanked(i, x):
    z = sg.zeros(3, dtype=sg.float64)
    z += x
    z[i] = 0
    return z


def masked(m):
    z = sg.ones(3, dtype=sg.bool)
    z &= m
    return z


def part(i):
    z = sg.zeros(3, dtype=sg.int64)
    tail = z[1:]
    tail += i[1:]
    return z


def still(x):
    z = sg.zeros(3, dtype=sg.float64)
    z.add_(x.detach())
    return z


@pytest.mark.parametrize(
    ("function", "one", "other"),
    [
        (counted, (FIRST,), (SECOND,)),
        (entry, (FIRST,), (SECOND,)),
        (one_hot, (FIRST,), (SECOND,)),
        (places, (FIRST,), (SECOND,)),
        (blanked, (FIRST, X), (SECOND, 3 * X)),
        (masked, (FIRST > 0,), (SECOND > 1,)),
        (part, (FIRST,), (SECOND,)),
        (still, (X,), (3 * X,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_buffers_that_require_no_grad_are_filled_by_the_program(function, one, other):
    """Labels, counts and masks: what is written comes from the arguments, though nothing of it requires grad."""
    want = function(*map(sg.tensor, other)).numpy()
    np.testing.assert_array_equal(sg.compile(function, *one)(*other), want)
    fast = sg.jit(function)
    for _ in range(3):
        fast(*map(sg.tensor, one))
    np.testing.assert_array_equal(fast(*map(sg.tensor, other)), want)


@pytest.mark.parametrize(
    "function",
    [lambda i: i.neg_(), lambda i: i.zero_() + 1, lambda i: i.__setitem__(0, 2) or i * 1, lambda i: i[1:].add_(1)],
    ids=["neg_", "zero_", "setitem", "view"],
)
def test_arguments_are_not_changed_in_place(function):
    with pytest.raises(CompileError, match="changes an argument in place; work on a copy"):
        sg.compile(function, FIRST.copy())


def test_what_is_detached_is_not_changed_in_place():
    def both(x):
        y = x * 2
        y.detach().mul_(2)
        return y

    with pytest.raises(CompileError, match="changes a detached tensor in place"):
        sg.compile(both, X)


@pytest.mark.parametrize(
    "shown", [lambda y: y.detach(), lambda y: y[1:].detach(), lambda y: y.data], ids=["all", "part", "data"]
)
def test_what_something_was_detached_from_is_not_changed_in_place(shown):
    """The detached tensor has the change, too: programs, and ``vmap``, gave what it was before, silently."""

    def both(x):
        y = x * 2
        kept = shown(y)
        y.mul_(x)
        return kept * 1

    with pytest.raises(CompileError, match="changes a detached tensor in place"):
        sg.compile(both, X)
    rows = sg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(sg.func.vmap(both)(rows), sg.stack([both(row) for row in rows]))


def test_steps_behind_a_detach_need_no_derivative():
    """The sweep asked ``//`` for its derivative, which no cotangent reaches."""
    x = np.array([1.5, 2.5, 7.0])
    for f in (lambda x: (x.detach() // 2 * x).sum(), lambda x: ((x.detach() ** 2 // 3).exp() * x).sum()):
        np.testing.assert_allclose(sg.compile(sg.func.grad(f), x)(x), sg.func.grad(f)(sg.tensor(x)).detach().numpy())
    with pytest.raises(sg.errors.AutogradError, match="floor_divide is not implemented"):
        sg.compile(sg.func.grad(lambda x: (x // 2 * x).sum()), x)


def averaged(x):
    with sg.no_grad():
        mean = x.mean(0)
        mean.mul_(0.9).add_(1)
        mean /= 2
    return ((x - mean) ** 2).sum()


def masked(x):
    with sg.no_grad():
        kept = x * 1
        kept[0] = x[1]
        kept[kept > 0.3] = 0
        part = kept[1:]
        part += 1
        part.clamp_(-0.5, 0.5)
    return ((x - kept) ** 2).sum()


def filled(x):
    table = sg.zeros(4, dtype=sg.float64)
    with sg.no_grad():
        for k in range(4):
            table[k] = x[k % 3, 0] * k
        table.copy_(table * 2)
    return (x.sum() * table).sum()


def given_out(x):
    with sg.no_grad():
        out = sg.empty_like(x)
        sg.mul(x, 2, out=out)
    return (out * x).sum()


def turned(x):
    with sg.no_grad():
        kept = (x * 1).t()
        kept.t_()
        kept.unsqueeze_(0)
        kept *= 2
    return (kept * x).sum()


@pytest.mark.parametrize("function", [averaged, masked, filled, given_out, turned], ids=lambda f: f.__name__)
def test_changes_without_grad_are_part_of_the_program(function):
    """They were left out, so that the values of the first arguments stood in the program."""
    value, slope = sg.compile(function, np.ones((3, 2))), sg.compile(sg.func.grad(function), np.ones((3, 2)))
    for shape in ((3, 2), (3, 2), (3, 4)):
        x = rng.normal(size=shape)
        np.testing.assert_allclose(value(x), function(sg.tensor(x)), rtol=1e-13)
        np.testing.assert_allclose(slope(x), sg.func.grad(function)(sg.tensor(x)), rtol=1e-13)


@pytest.mark.parametrize("part", [lambda y: y, lambda y: y.view(-1)], ids=["itself", "view"])
def test_changes_without_grad_of_what_has_a_gradient_are_refused(part):
    """The value is the new one, and the gradient that of the old one: no formula says both."""

    def tripled(x):
        y = x * 2
        with sg.no_grad():
            part(y).mul_(3)
        return (y**2).sum()

    with pytest.raises(CompileError, match="changes a tensor without grad that has a gradient"):
        sg.compile(tripled, X)


def test_what_is_detached_without_grad_is_not_changed_in_place():
    def both(x):
        y = x * 1
        with sg.no_grad():
            y.detach().mul_(2)
        return (y * x).sum()

    with pytest.raises(CompileError, match="changes a detached tensor in place"):
        sg.compile(both, X)


def doubled_each_round(x):
    t, out = sg.ones_like(x), 0
    for _ in range(3):
        out = out + (t * x).sum()
        t *= 2
    return out


def places_in_turn(x):
    w = sg.zeros(3, dtype=sg.float64)
    w[0] = 1.0
    first = (w * x).sum()
    w[:2] = sg.tensor([0.0, 1.0], dtype=sg.float64)
    return first * 2 + (w * x).sum() * 3


def through_a_view(x):
    t = sg.ones_like(x)
    u, v = t * x, t[1:]
    v.add_(1)
    return u.sum() + (t * x).sum()


def large(x):
    t = sg.ones(2000, dtype=sg.float64)
    u = (t * x.sum()).sum()
    t.add_(1)
    return u + t.sum() * x[0]


def view_read_before(x):
    t = sg.ones_like(x)
    v = t[1:]
    u = v * x[1:]
    t.add_(1)
    return u.sum() + v.sum()


def view_of_itself(x):
    t = sg.zeros_like(x)
    t[-2:] = x[:2] + t[1:]
    return (t * x).sum()


def view_read_twice(x):
    t = sg.zeros_like(x)
    v = t[1:]
    u = x[1:] + v
    t += 2.0
    w = x[1:] * v
    v *= 3.0
    return u.sum() + 5 * w.sum() + 7 * (v * x[1:]).sum() + 11 * (t * x).sum()


def large_view(x):
    t = sg.zeros(5000, dtype=sg.float64)
    v = t[1:]
    u = x[0] + v
    t += 1.0
    return u.sum() + (x[1] * v).sum()


@pytest.mark.parametrize(
    "f",
    [
        doubled_each_round,
        places_in_turn,
        through_a_view,
        large,
        view_read_before,
        view_of_itself,
        view_read_twice,
        large_view,
    ],
)
def test_constants_have_in_programs_the_values_that_they_were_read_with(f):
    def whole(x):
        return f(sg.as_tensor(x))

    x = np.array([1.0, 2.0, 3.0])
    for program in (sg.compile(whole, x), sg.jit(whole)):
        for at in (x, -2 * x, x + 1):
            assert float(program(at)) == float(whole(at))


def changed_where_detached(x):
    t = sg.zeros_like(x)
    t.detach().add_(1)
    v = t.detach()
    v.add_(x)
    return (t * t).sum()


def changed_where_detached_from(x):
    t = sg.zeros_like(x)
    v = t[1:].detach()
    t.add_(x)
    return (v * v).sum()


def changed_by_data(x):
    t = sg.zeros_like(x)
    v = t.data
    v.add_(x)
    return (t * t).sum()


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (changed_where_detached, "it changes a detached tensor in place"),
        (changed_where_detached_from, "it changes a detached tensor in place"),
        (changed_by_data, "it changes a detached tensor in place"),
    ],
)
def test_changes_that_no_program_follows_are_refused(f, told):
    """Programs had the values of the first call in them."""

    def whole(x):
        return f(sg.as_tensor(x))

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(CompileError, match=told):
        sg.compile(whole, x)
    fast = sg.jit(whole)
    for at in (x, x, x, 2 * x):
        assert float(fast(at)) == float(whole(at))


class Layer:
    """A function with a state."""

    def __init__(self):
        self.running = sg.zeros(3, dtype=sg.float64)

    def loss(self, x):
        self.running.mul_(0.9).add_(x.detach(), alpha=0.1)
        return ((x - self.running) ** 2).sum()

    def by_parts(self, x):
        self.running[1:] += 1
        return (x * self.running).sum()


@pytest.mark.parametrize("name", ["loss", "by_parts"])
def test_changes_of_tensors_from_elsewhere_are_refused(name):
    """A program would give the numbers of the first call and leave the state as it is."""
    layer, plain = Layer(), Layer()
    with pytest.raises(CompileError, match=r"a tensor of shape \(3,\) that it has from elsewhere"):
        sg.compile(getattr(Layer(), name), np.ones(3))
    with pytest.raises(CompileError, match="from elsewhere"):
        sg.compile(sg.func.grad(getattr(Layer(), name)), np.ones(3))
    fast = sg.jit(getattr(layer, name))
    for k in range(5):
        x = sg.tensor(np.arange(3.0) + k)
        assert float(fast(x)) == float(getattr(plain, name)(x))
    np.testing.assert_array_equal(layer.running, plain.running)


def by_entry(x, t):
    t[0] = x[0]


def by_operator(x, t):
    t += x


def of_a_view(x, t):
    t[1:].mul_(x[1:])


def filled(x, t):
    t.fill_(2)


CHANGES = [by_entry, by_operator, of_a_view, filled]


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_memory_that_others_read_are_refused(change):
    """A second tensor on the same NumPy array had the values of before."""
    outside = np.ones(3)

    def two(x):
        array = np.ones(3)
        one, two = sg.from_numpy(array), sg.from_numpy(array)
        change(x, one)
        return two * x

    def array_itself(x):
        array = np.ones(3)
        change(x, sg.as_tensor(array))
        return array * x

    def from_outside(x):
        change(x, sg.from_numpy(outside))
        return x * 2

    for f in (two, array_itself, from_outside):
        with pytest.raises(CompileError, match=r"in the memory of a NumPy array of shape \(3,\)"):
            sg.compile(f, np.arange(3.0))
    fast = sg.jit(two)
    for k in range(5):
        np.testing.assert_array_equal(fast(np.arange(3.0) + k), two(sg.tensor(np.arange(3.0) + k)))


@pytest.mark.parametrize("change", CHANGES)
def test_changes_of_memory_of_its_own_are_repeated(change):
    def own(x):
        t = sg.from_numpy(np.ones(3))
        change(x, t)
        return t * x

    f = sg.compile(own, np.arange(3.0))
    for k in range(3):
        np.testing.assert_array_equal(f(np.arange(3.0) + k), own(sg.tensor(np.arange(3.0) + k)))

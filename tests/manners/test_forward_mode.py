"""Forward mode by hand: duals are tensors, and a tensor that a dual is written into is one."""

from __future__ import annotations

import gc
import weakref

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


def leaf(t, values, requires_grad=False):
    return t.tensor(values, dtype=t.float64, requires_grad=requires_grad)


def duals(t):
    """The module of duals, and a dual with its primal and its tangent."""
    forward = t.autograd.forward_ad
    x, v = leaf(t, [1.0, 2.0]), leaf(t, [1.0, -1.0])
    return forward, x, v


def moved(forward, value):
    """Primal and tangent in numbers."""
    primal, tangent = forward.unpack_dual(value)
    return primal.tolist(), None if tangent is None else tangent.tolist()


def test_a_dual_is_a_tensor(t):
    """It is a view of its primal, answers what tensors answer, and prints what it moves along."""
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        for value in (d, d * d, d[0], d.reshape(2, 1)):
            assert isinstance(value, t.Tensor)
        assert d._is_view()
        assert d._base is x
        assert d._version == x._version == 0
        assert d.data_ptr() == x.data_ptr()
        assert "tangent=tensor([ 1., -1.]" in str(d)
        assert "tangent=" not in str(x)
        assert "tangent=" not in str(forward.unpack_dual(d).primal)
        assert f"{d[0]}" == "1.0"
        assert forward.unpack_dual(d).tangent is v
        assert forward.unpack_dual(d).primal is not forward.unpack_dual(d).primal
        assert not forward.unpack_dual(d.detach()).tangent
    d *= 2
    assert "tangent=" not in str(d)
    assert forward.unpack_dual(d).tangent is None
    assert x.tolist() == [2.0, 4.0]


def test_a_dual_of_a_leaf_is_a_view_of_it(t):
    forward, _, v = duals(t)
    x = leaf(t, [1.0, 2.0], requires_grad=True)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        assert d.grad_fn.name() == "ViewBackward0"
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-p"):
            d.mul_(2)


def test_one_tangent_per_level(t):
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        for primal, tangent in ((d, v), (x, d)):
            with pytest.raises(RuntimeError, match="has a forward gradient at the same level"):
                forward.make_dual(primal, tangent)


def test_changes_in_place_reach_the_tangent_given(t):
    """The tangent that the user gave is itself changed; the primal changes beneath the dual, and not the other way."""
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        d *= 2
        assert (x.tolist(), v.tolist()) == ([2.0, 4.0], [2.0, -2.0])
        d[0] = 5.0
        assert (x.tolist(), v.tolist()) == ([5.0, 4.0], [0.0, -2.0])
        assert forward.unpack_dual(x).tangent is None
        shifted = d + 1
        v *= 3
        assert moved(forward, d) == ([5.0, 4.0], [0.0, -6.0])
        assert moved(forward, shifted) == ([6.0, 5.0], [0.0, -2.0])
        fixed = forward.make_dual(leaf(t, [1.0]), leaf(t, [1.0], requires_grad=True))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            fixed.mul_(2)


def test_a_tensor_begins_to_move(t):
    """With its base and all of its views, those made before as well; tensors that only share the memory do not."""
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        base = t.zeros(2, 2, dtype=t.float64)
        turned, corner, apart = base.t(), base[1, 1], base.detach()
        turned[0].add_(d)
        assert moved(forward, base) == ([[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]])
        base += base.t().clone()
        corner.copy_(d[1] * 3)
        assert moved(forward, turned) == ([[2.0, 2.0], [2.0, 6.0]], [[2.0, -1.0], [-1.0, -3.0]])
        assert moved(forward, apart)[1] is None
        wide = t.zeros(1, 3, 2, dtype=t.float64).copy_(d)
        assert moved(forward, wide[0, 2]) == ([1.0, 2.0], [1.0, -1.0])
        wide.unsqueeze_(0).zero_()
        assert moved(forward, wide[0, 0, 1]) == ([0.0, 0.0], [0.0, 0.0])
        with t.no_grad():
            weight = leaf(t, [0.0, 0.0], requires_grad=True).copy_(d)
        assert forward.unpack_dual(weight).tangent.tolist() == [1.0, -1.0]
        base.detach_()
        assert moved(forward, base)[1] is None
    assert all("tangent" not in str(value) for value in (base, turned, corner, wide, weight))


def test_a_detached_leaf_moves_and_is_one_again(t):
    """Its views, and those cut after the derivative is done, follow what others do to its memory."""
    forward, x, v = duals(t)
    source = t.zeros(2, dtype=t.float64)
    apart = source.detach().requires_grad_()
    with forward.dual_level():
        with t.no_grad():
            apart.copy_(forward.make_dual(x, v))
        assert moved(forward, apart) == ([1.0, 2.0], [1.0, -1.0])
        source.mul_(3.0)
        assert apart.tolist() == [3.0, 6.0]
    view = apart[:1]
    source.mul_(2.0)
    assert view.tolist() == [6.0]
    (view * view).sum().backward()
    assert apart.grad.tolist() == [12.0, 0.0]


def test_a_view_whose_base_nobody_holds(t):
    """It moves in one level after the other, and tells its base, which moves, too."""
    forward = t.autograd.forward_ad
    view = t.zeros(2, 2, dtype=t.float64).t()
    for k in (1.0, 2.0):
        with forward.dual_level():
            view[0].copy_(forward.make_dual(leaf(t, [k, k]), leaf(t, [1.0, k])))
            assert moved(forward, view) == ([[k, k], [0.0, 0.0]], [[1.0, k], [0.0, 0.0]])
            assert moved(forward, view._base) == ([[k, 0.0], [k, 0.0]], [[1.0, 0.0], [k, 0.0]])
            view[0].mul_(2)
            assert moved(forward, view._base)[1] == [[2.0, 0.0], [2 * k, 0.0]]
        assert moved(forward, view)[1] is None
    base = view._base
    view.add_(1)
    assert base.tolist() == [[5.0, 1.0], [5.0, 1.0]]
    held = t.zeros(2)
    part = held[:1]
    with forward.dual_level():
        part.copy_(forward.make_dual(t.ones(1), t.ones(1)))
        assert part._base is held
    assert part._base is held


def test_what_may_not_be_written_into(t):
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        for into, value in ((x, d), (d, x)):
            with pytest.raises(RuntimeError, match="forward AD with add_out that does not support it because it is an"):
                t.add(value, value, out=into)


def test_gradients_inside_of_a_level_move(t):
    """The gradient of what moves along v moves along the product of the Hessian and v."""
    forward, _, v = duals(t)
    x = leaf(t, [1.0, 2.0], requires_grad=True)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        y = (d**3).sum()
        (plain,) = t.autograd.grad(y, x, retain_graph=True)
        assert moved(forward, plain) == ([3.0, 12.0], [6.0, -12.0])
        (first,) = t.autograd.grad(y, d, create_graph=True)
        assert forward.unpack_dual(first).tangent.requires_grad
        assert moved(forward, t.autograd.grad(first.sum(), x)[0]) == ([6.0, 12.0], [6.0, -6.0])
        (pulled,) = t.autograd.grad(d * d, x, forward.make_dual(v, v), retain_graph=True)
        assert moved(forward, pulled) == ([2.0, -4.0], [4.0, -2.0])
        y.backward()
        assert moved(forward, x.grad) == ([3.0, 12.0], None)
        outside = t.func.grad(lambda z: (z * z).sum())(d)
        assert isinstance(outside, t.Tensor)
        assert moved(forward, outside) == ([2.0, 4.0], [2.0, -2.0])
        (product,) = t.func.vjp(lambda z: z * d, t.ones_like(v))[1](v)
        assert moved(forward, product) == ([1.0, -2.0], [1.0, 1.0])
        mixed = t.func.grad(lambda z: (z * z * d).sum())(t.ones_like(v))
        assert moved(forward, mixed) == ([2.0, 4.0], [2.0, -2.0])


def test_functions_of_ones_own_in_a_level(t):
    class Square(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.x * g

        @staticmethod
        def jvp(ctx, tangent):
            return 2 * ctx.x * tangent

    forward, x, v = duals(t)
    with forward.dual_level():
        y = Square.apply(forward.make_dual(x, v))
        assert isinstance(y, t.Tensor)
        assert moved(forward, y) == ([1.0, 4.0], [2.0, -4.0])


def test_a_level_in_inference_mode(t):
    forward = t.autograd.forward_ad
    with t.inference_mode(), forward.dual_level():
        x = t.ones(2)
        d = forward.make_dual(x, t.ones(2))
        assert not d._is_view()
        d += 1
        assert d.tolist() == x.tolist() == [2.0, 2.0]


def test_a_level_keeps_nothing(t):
    """What moved is let go of with the last reference, or when the level is left."""
    forward = t.autograd.forward_ad
    gc.disable()
    try:
        with forward.dual_level():
            x, v = t.ones(2), t.ones(2)
            d = forward.make_dual(x, v) * 2
            seen = weakref.ref(d)
            del d
            assert seen() is None
            buffer = t.zeros(2)
            buffer.add_(forward.make_dual(x, v))
            tangent = weakref.ref(forward.unpack_dual(buffer).tangent)
        assert tangent() is None
    finally:
        gc.enable()


def test_results_written_into_a_new_tensor(t):
    """A function that fills a tensor of its own has the derivative of one that does not."""

    def filled(x):
        out = t.zeros(4, dtype=t.float64)
        out[0] = x.sin()
        out[1:3] = t.stack([x, x * x])
        row = out[2:]
        out *= x
        row += x
        row[1].mul_(x)
        return out.clone()

    def plain(x):
        return t.stack([x * x.sin(), x * x, x**3 + x, x * x])

    x, one = leaf(t, 2.0), leaf(t, 1.0)
    for got, want in zip(t.func.jvp(filled, (x,), (one,)), t.func.jvp(plain, (x,), (one,)), strict=True):
        assert t.allclose(got, want)
    weight = leaf(t, 2.0, requires_grad=True)
    slope = t.func.jvp(lambda x: filled(x).sum(), (weight,), (one,))[1]
    (second,) = t.autograd.grad(slope, weight)
    (want,) = t.autograd.grad(t.func.jvp(lambda x: plain(x).sum(), (weight,), (one,))[1], weight)
    assert t.allclose(second, want)


@pytest.mark.parametrize(
    "cast", ["type(t.float64)", "type(t.bfloat16)", "type('torch.FloatTensor')", "bfloat16()", "to_dense()", "half()"]
)
def test_casts_keep_the_tangent(t, cast):
    x, v = t.tensor([0.5, 1.5], dtype=t.float64), t.tensor([1.0, 2.0], dtype=t.float64)
    out, tangent = t.func.jvp(lambda a: eval(f"a.{cast}", {"a": a, "t": t}), (x,), (v,))  # noqa: S307
    assert out.dtype == tangent.dtype == eval(f"x.{cast}", {"x": x, "t": t}).dtype  # noqa: S307
    assert tangent.tolist() == [1, 2]
    with t.autograd.forward_ad.dual_level():
        moved = eval(f"a.{cast}", {"a": t.autograd.forward_ad.make_dual(x, v), "t": t})  # noqa: S307
        assert t.autograd.forward_ad.unpack_dual(moved).tangent.tolist() == [1, 2]


def test_gradients_of_values_that_were_cast(t):
    """The inner derivative depends on the outer one through both."""

    def f(a):
        return t.func.grad(lambda q: (q * a).sin().sum())(t.sin(a).type(t.float64)).sum()

    x = t.tensor([0.5, -1.0], dtype=t.float64)
    expected = t.func.jvp(lambda a: (a * (a * a.sin()).cos()).sum(), (x,), (t.ones_like(x),))[1]
    assert abs(t.func.jvp(f, (x,), (t.ones_like(x),))[1].item() - expected.item()) < 1e-12


def test_questions_about_moving_values(t):
    def f(a):
        assert a.type().endswith("FloatTensor")
        assert a.is_same_size(a * 2)
        assert tuple(a.dim_order()) == (0,)
        return a * 2

    assert t.func.jvp(f, (t.ones(2),), (t.ones(2),))[1].tolist() == [2, 2]


def test_products_without_grad_require_none(t):
    x, c = t.tensor([0.5, 1.0], requires_grad=True), t.ones(2, requires_grad=True)
    with t.no_grad():
        pairs = [
            t.func.jvp(t.sin, (x,), (x,)),
            t.func.jvp(lambda a: a * c, (x.detach(),), (c,)),
            t.func.jvp(t.func.grad(lambda a: (a**4).sum()), (x,), (x,)),
        ]
    assert not any(part.requires_grad for pair in pairs for part in pair)
    assert all(part.requires_grad for part in t.func.jvp(t.sin, (x,), (x,)))


def test_linear_maps_are_differentiated_by_what_they_take(t):
    x = t.tensor([0.5, 1.0], requires_grad=True)
    push = t.func.linearize(t.sin, x.detach())[1]
    moved = push(x)
    assert moved.requires_grad
    moved.sum().backward()
    assert (x.grad - x.detach().cos()).abs().max() < 1e-6
    assert not push(x.detach()).requires_grad
    with t.no_grad():
        assert not push(x).requires_grad


def squared_without_grad(t, q):
    with t.no_grad():
        v = q * q
    return v.sin() * q


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("mode", ["enable_grad", "no_grad", "inference_mode"])
def test_tangents_pass_mapped_functions_whatever_is_recorded(t, mode):
    """Forward mode asks for no graph: what is computed without one moves all the same, also of a batch."""

    def f(q):
        return squared_without_grad(t, q)

    x = t.tensor([[0.97, 1.18], [-0.5, 0.57]], dtype=t.float64)
    slope = (2 * x * x * (x * x).cos() + (x * x).sin()) * x
    alone = (x * x).sin()  # reverse mode takes what was computed without grad for a constant
    with getattr(t, mode)():
        pushed = [
            t.func.jvp(f, (x,), (x,))[1],
            t.func.jvp(t.func.vmap(f), (x,), (x,))[1],
            t.func.vmap(lambda q: t.func.jvp(f, (q,), (q,))[1])(x),
            t.func.jvp(t.func.vmap(t.func.vmap(f)), (x,), (x,))[1],
        ]
        rows = t.func.jacfwd(t.func.vmap(f))(x).sum((2, 3))
        pulled = t.func.vmap(t.func.grad(lambda q: f(q).sum()))(x)
        of_gradient = t.func.jvp(t.func.vmap(t.func.grad(lambda q: (q**3).sum())), (x,), (x,))[1]
    for found in pushed:
        assert (found - slope).abs().max() < 1e-12
    assert (rows - slope / x).abs().max() < 1e-12
    assert (pulled - alone).abs().max() < 1e-12
    assert (of_gradient - 6 * x * x).abs().max() < 1e-12


def blended(v, a):
    return v.lerp_(a, 0.5) + v


def with_an_entry(v, a):
    v.mul_(2)
    v[0] = a[1]
    return v


def multiplied(v, a):
    v.add_(1)
    v.mul_(a)
    v[:1].mul_(a[1:])
    return v


def copied(v, a):
    return v.copy_(a * 2) + a


@pytest.mark.parametrize(
    ("change", "slopes"),
    [
        (blended, [[1, 0], [0, 1]]),
        (with_an_entry, [[0, 1], [0, 0]]),
        (multiplied, [[4, 2], [0, 3]]),
        (copied, [[3, 0], [0, 3]]),
    ],
)
def test_what_was_detached_in_place_moves_again(t, change, slopes):
    """Changed by what moves along a tangent, it has a tangent."""

    def f(a):
        v = a.clone()
        v.detach_()
        return change(v, a)

    x, d = t.tensor([1.0, 2.0], dtype=t.float64), t.tensor([0.5, 1.0], dtype=t.float64)
    expected = [sum(s * m for s, m in zip(row, d.tolist(), strict=True)) for row in slopes]
    assert t.func.jvp(f, (x,), (d,))[1].tolist() == expected
    assert t.func.jacfwd(f)(x).tolist() == slopes
    fw = t.autograd.forward_ad
    with fw.dual_level():
        assert fw.unpack_dual(f(fw.make_dual(x, d))).tangent.tolist() == expected
        still = fw.make_dual(x, d).clone()
        still.detach_()
        still.add_(1)
        assert fw.unpack_dual(still).tangent is None
        assert fw.unpack_dual(still * 2).tangent is None


SHAPES = [((3, 3), False), ((2, 3), False), ((7, 2), False), ((7, 2), True), ((2, 5), True), ((2, 2, 2), False)]


@pytest.mark.parametrize(("shape", "wrap"), [*SHAPES, ((0, 3), False), ((3, 0), True)])
def test_diagonals_that_are_filled_stand_still(t, shape, wrap):
    x = t.ones(shape, dtype=t.float64)
    filled = t.zeros(shape).fill_diagonal_(1, wrap)
    out, tangent = t.func.jvp(lambda a: a.clone().fill_diagonal_(0.5, wrap), (x,), (3 * x,))
    assert out.tolist() == (1 - filled / 2).tolist()
    assert tangent.tolist() == (3 - 3 * filled).tolist()


@pytest.mark.parametrize(("name", "more", "tangents"), [("zero_", (), 0), ("fill_", (0.5,), 0), ("neg_", (), -1)])
def test_functions_that_change_a_tensor_change_one_with_a_tangent(t, name, more, tangents):
    """zero_ and fill_ asked for what tensors alone have; as methods they were right."""
    forward, v = t.autograd.forward_ad, leaf(t, [1.0, -1.0])
    with forward.dual_level():
        dual = forward.make_dual(leaf(t, [1.0, 2.0]), v) * 1
        assert getattr(t, name)(dual, *more) is dual
        assert forward.unpack_dual(dual).tangent.tolist() == (tangents * v).tolist()


def test_a_copy_of_a_dual_keeps_its_tangent(t):
    """Changes in place go into the tangent that a dual was made with, but not into that of what it was copied into."""
    forward, x, v = duals(t)
    with forward.dual_level():
        d = forward.make_dual(x, v)
        for source in (lambda: d, lambda: d[:], lambda: d.clone()):
            made = forward.make_dual(leaf(t, [0.0, 0.0]), leaf(t, [0.0, 0.0])) * 1
            made.copy_(source())
            before = moved(forward, made)
            d.mul_(2)
            assert moved(forward, made) == before
        assert moved(forward, d) == ([8.0, 16.0], [8.0, -8.0])


def test_conjugates_of_duals_are_views(t):
    """They were copies: changes of them were lost, values and tangents, as were changes of what they were made of."""

    def changed(x):
        z = t.complex(x, 2 * x)
        late = z.conj()
        z.conj().mul_(2j)
        z.conj()[0] = x[1] * 1j
        z.conj().imag.mul_(x)
        return z.imag, z.real, late.imag, z.reshape(1, 2).mH.real

    x, v = leaf(t, [1.0, 3.0]), leaf(t, [1.0, -1.0])
    values, tangents = t.func.jvp(changed, (x,), (v,))
    assert [out.tolist() for out in values] == [out.tolist() for out in changed(x)]
    ends = [changed(x + step * v) for step in (1e-6, -1e-6)]
    for tangent, up, down in zip(tangents, *ends, strict=True):
        assert t.allclose(tangent, (up - down) / 2e-6, rtol=1e-6)

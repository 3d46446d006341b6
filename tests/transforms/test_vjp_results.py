"""What comes of a pullback of ``func.vjp`` inside of other transforms: no graph that leads to nobody."""

from __future__ import annotations

import pytest

import symgrad

torchs_warnings = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(params=["symgrad", pytest.param("torch", marks=pytest.mark.peer)])
def t(request):
    return symgrad if request.param == "symgrad" else pytest.importorskip("torch")


def test_a_jacobian_from_a_mapped_pullback_has_no_graph(t):
    """``vmap(pull)(eye)``: the rows are plain values, unless the point of the pullback is tracked itself."""
    x = t.tensor([1.0, 2.0])
    for point, tracked in ((x, False), (x.clone().requires_grad_(), True)):
        _, pull = t.func.vjp(lambda x: x**3, point)
        (rows,) = t.func.vmap(pull)(t.eye(2))
        assert rows.tolist() == [[3.0, 0.0], [0.0, 12.0]]
        assert rows.requires_grad is tracked
    rows.sum().backward()
    assert point.grad.tolist() == [6.0, 12.0]


def test_derivatives_of_pullbacks_have_no_graph(t):
    """By the cotangent, and by the point."""
    x = t.tensor([1.0, 2.0])
    _, pull = t.func.vjp(lambda x: x**3, x)
    by_cotangent = t.func.grad(lambda v: pull(v)[0].sum())(t.ones(2))
    mapped = t.func.grad(lambda v: t.func.vmap(pull)(v)[0].sum())(t.eye(2))
    by_point = t.func.grad(lambda x: t.func.vmap(t.func.vjp(lambda x: x**3, x)[1])(t.eye(2))[0].sum())(x)
    assert by_cotangent.tolist() == [3.0, 12.0]
    assert mapped.tolist() == [[3.0, 12.0], [3.0, 12.0]]
    assert by_point.tolist() == [6.0, 12.0]
    assert not any(g.requires_grad for g in (by_cotangent, mapped, by_point))


def test_a_pullback_is_told_whether_what_it_gives_is_differentiable(t):
    """As published code calls it, by ``create_graph``; without it the mode at the call says so."""
    x = t.tensor([1.0, 2.0], requires_grad=True)
    _, pull = t.func.vjp(lambda x: x**3, x)
    for told, tracked in (({}, True), ({"create_graph": True}, True), ({"create_graph": False}, False)):
        (g,) = pull(t.ones(2), retain_graph=True, **told)
        assert g.tolist() == [3.0, 12.0]
        assert g.requires_grad is tracked
        with t.no_grad():
            assert pull(t.ones(2), **told)[0].requires_grad is bool(told.get("create_graph"))


@torchs_warnings
@pytest.mark.parametrize("function", [lambda x: x, lambda x: x.contiguous()], ids=["as it is", "in order"])
def test_an_argument_that_comes_back_is_nobodys_variable(t, function):
    """``vjp`` and ``linearize`` gave the variable itself, with its grad."""
    x = t.tensor([1.0, 2.0])
    for out, derivative in (t.func.vjp(function, x), t.func.linearize(function, x)):
        assert out.tolist() == [1.0, 2.0]
        assert not out.requires_grad
        moved = derivative(t.ones(2))
        assert (moved[0] if isinstance(moved, tuple) else moved).tolist() == [1.0, 1.0]
    w = x.clone().requires_grad_()
    assert t.func.vjp(lambda x: w, x)[0].requires_grad


@torchs_warnings
def test_results_that_cannot_move_are_still_in_a_linear_map(t):
    """``linearize`` refused whole numbers and masks among the results, ``x.max(0)`` with its place."""
    out, push = t.func.linearize(lambda x: (x.max(0), x > 1, x * x), t.tensor([1.0, 3.0]))
    (most, place), mask, square = push(t.tensor([1.0, 10.0]))
    assert (out[0].indices.item(), out[1].tolist()) == (1, [False, True])
    assert (most.item(), square.tolist()) == (10.0, [2.0, 60.0])
    assert (place.dtype, place.item(), mask.tolist()) == (t.int64, 0, [False, False])

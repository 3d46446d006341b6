"""Which gradients require grad themselves, as in torch."""

from __future__ import annotations

import functools

import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer


@pytest.mark.parametrize("name", ["xlogy", "special.xlog1py"])
@pytest.mark.parametrize("by_both", [False, True])
def test_gradients_of_products_with_logarithms(name: str, by_both: bool) -> None:
    """That by x is a logarithm of y: of x it knows only whether it is 0."""
    found = []
    for t in (sg, torch):
        x, y = t.tensor([1.0, 0.0], requires_grad=True), t.tensor([0.5, 2.0], requires_grad=by_both)
        f = functools.reduce(getattr, name.split("."), t)
        found.append(t.autograd.grad(f(x, y).sum(), x, create_graph=True)[0].requires_grad)
    assert found == [by_both] * 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("name", "pole"), [("xlogy", 0), ("special.xlog1py", -1)])
@pytest.mark.parametrize("cotangent", [[0.0] * 5, [1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 3.0, 2.0, 1.0, 2.0]])
def test_derivatives_of_them_where_the_cotangent_is_zero(name: str, pole: int, cotangent: list[float]) -> None:
    """The gradient by x is a product with a logarithm itself: its derivative by a cotangent of 0 is 0 at the pole."""
    found = []
    for t in (sg, torch):
        kind = {"dtype": t.float64, "requires_grad": True}
        x, y = (t.tensor(v, **kind) for v in ([0.0, 2.0, 0.0, 2.0, 1.0], [pole + d for d in (0, 0, 0.5, 2, -1)]))
        c, f = t.tensor(cotangent, **kind), functools.reduce(getattr, name.split("."), t)
        (g,) = t.autograd.grad(f(x, y), x, c, create_graph=True)
        seconds = t.autograd.grad(g.sum(), (x, y, c), allow_unused=True, create_graph=True)
        thirds = t.autograd.grad(seconds[2].sum(), y)
        found.append([None if s is None else s.tolist() for s in (*seconds, *thirds)])
    assert str(found[0]) == str(found[1])  # nan where torch's are

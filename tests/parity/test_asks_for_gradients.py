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

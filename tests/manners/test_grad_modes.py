"""Grad modes: no_grad, enable_grad and set_grad_enabled as contexts, calls and decorators of everything callable."""

from __future__ import annotations


def test_enable_grad_decorator_no_paren(t):
    """A function under a bare ``@enable_grad`` records, also when called under no_grad."""
    x = t.ones(3, requires_grad=True)

    @t.enable_grad
    def triple(value):
        return value * 3

    with t.no_grad():
        inside, plain = triple(x), x * 3
    assert inside.requires_grad
    assert not plain.requires_grad
    assert triple.__name__ == "triple"

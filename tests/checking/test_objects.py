"""sg.check of layers written as objects: forward leaves values there, backward takes the cotangent alone."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.check import check

RNG = np.random.default_rng(9)
W, x, b = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=3)


class Dense:
    """x ↦ tanh(W x), with the matrix as a setting."""

    def __init__(self, power=2):
        self.power = power

    def forward(self, x):
        self.h = np.tanh(W @ x)
        return self.h

    def backward(self, v):
        return W.T @ (v * (1 - self.h**self.power))

    __call__ = forward


class Linear:
    def forward(self, x):
        return W @ x

    def backward(self, v):
        return W.T @ v


class Square:
    """Result and argument have the same shape."""

    def forward(self, x):
        self.x = x
        return np.sin(x)

    def backward(self, v):
        return v * np.cos(self.x)


class Product:
    def forward(self, W, x):
        self.W, self.x = W, x
        return W @ x

    def backward(self, v):
        return np.outer(v, self.x), self.W.T @ v


class Loss:
    def forward(self, x, y):
        self.r = x - y
        return (self.r**2).sum()

    def backward(self):
        return 2 * self.r, -2 * self.r


class Norm:
    def forward(self, x):
        self.x = x
        return (x**2).sum()

    def backward(self, v=1.0):
        return 2 * v * self.x


class Model:
    """Derivatives that are functions of the point stay what they were."""

    def linear(self, x):
        return W @ x

    def jacobian(self, x):  # noqa: ARG002
        return W

    def square(self, x):
        return x**2

    def slope(self, x):
        return 2 * x

    def energy(self, x):
        return x @ x

    def gradient(self, x):
        return 2 * x

    def height(self, x):
        return x.sum()

    def ones(self, x):
        return np.ones_like(x)


@pytest.mark.parametrize("kind", [None, "vjp"])
@pytest.mark.parametrize(("layer", "args"), [(Dense, (x,)), (Linear, (x,)), (Square, (x,)), (Product, (W, x))])
def test_a_backward_method_takes_the_cotangent(layer, args, kind):
    made = layer()
    report = check(made.forward, made.backward, *args, kind=kind)
    assert report, str(report)
    assert {argument.kind for argument in report.arguments} == {"vjp"}


@pytest.mark.parametrize(("layer", "args"), [(Loss, (b, b + 1)), (Norm, (x,))])
def test_a_backward_method_of_a_loss_takes_nothing(layer, args):
    made = layer()
    assert check(made.forward, made.backward, *args), str(check(made.forward, made.backward, *args))


def test_the_object_itself_may_be_the_function():
    made = Dense()
    assert check(made, made.backward, x)


def test_a_mistake_in_a_backward_method_is_named():
    made = Dense(power=1)
    report = check(made.forward, made.backward, x)
    assert not report
    assert report.diagnosis.kind in ("local derivative", "operand", "local factor"), report.diagnosis.sentence


@pytest.mark.parametrize(
    ("f", "grad", "kind"),
    [("linear", "jacobian", "jacobian"), ("square", "slope", "elementwise"), ("energy", "gradient", "gradient"),
     ("height", "ones", "gradient")],
)  # fmt: skip
def test_methods_that_take_the_point_are_called_with_it(f, grad, kind):
    model = Model()
    report = check(getattr(model, f), getattr(model, grad), x)
    assert report, str(report)
    assert report.arguments[0].kind == kind


def test_a_backward_method_that_does_not_look_at_the_cotangent_is_told():
    class Blind(Square):
        def backward(self, v):  # noqa: ARG002
            return np.cos(self.x)

    blind = Blind()
    report = check(blind.forward, blind.backward, x)
    assert "ones in place of the cotangent" in report.diagnosis.sentence

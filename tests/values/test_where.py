"""The branch not taken by ``where`` leaks no nan: snippets of the field's threads, in gradients by four ways.

The threads are torch's issues 9688, 12986, 15506, 18287, 52248, 68425, 89543, 108618 and 156212.  What stands here is
their kind: a function that is not finite where it is not chosen.
"""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

W = sg.where
SNIPPETS = {
    "sqrt at 0": (lambda x: W(x > 0, sg.sqrt(x), 0 * x), [0.0, 1.0, 4.0], [0, 0.5, 0.25]),
    "1/x at 0": (lambda x: W(x == 0, 0 * x, 1 / x), [0.0, 2.0], [0, -0.25]),
    "log": (lambda x: W(x > 0, sg.log(x), x), [-1.0, 0.0, 2.0], [1, 1, 0.5]),
    "x/|x|": (lambda x: W(x != 0, x / sg.abs(x), 0 * x), [0.0, 3.0], [0, 0]),
    "sinc": (lambda x: W(x == 0, 1 + 0 * x, sg.sin(x) / x), [0.0, 1.0], [0, np.cos(1) - np.sin(1)]),
    "exp overflow": (lambda x: W(x < 0, sg.exp(x), x), [-1.0, 1000.0], [np.exp(-1), 1]),
    "softplus": (lambda x: W(x > 20, x, sg.log(1 + sg.exp(x))), [0.0, 1000.0], [0.5, 1]),
    "sigmoid": (
        lambda x: W(x >= 0, 1 / (1 + sg.exp(-x)), sg.exp(x) / (1 + sg.exp(x))),
        [-1000.0, 0.0, 1000.0],
        [0, 0.25, 0],
    ),
    "acos": (lambda x: W(sg.abs(x) < 1, sg.acos(x), 0 * x), [0.0, 1.0, 2.0], [-1, 0, 0]),
    "asin": (lambda x: W(sg.abs(x) < 1, sg.asin(x), x), [0.0, 1.0, 2.0], [1, 1, 1]),
    "norm": (lambda x: W(x == 0, 0 * x, sg.sqrt(x * x)), [0.0, -2.0], [0, -1]),
    "log1p": (lambda x: W(x > -1, sg.log1p(x), 0 * x), [-1.0, -2.0, 1.0], [0, 0, 0.5]),
    "pow": (lambda x: W(x > 0, x**0.5, 0 * x), [0.0, -1.0, 4.0], [0, 0, 0.25]),
    "rsqrt": (lambda x: W(x > 0, sg.rsqrt(x), 0 * x), [0.0, 4.0], [0, -1 / 16]),
    "tan": (lambda x: W(x > 1, 0 * x, sg.tan(x)), [0.0, 2.0], [1, 0]),
    "log(1-x)": (lambda x: W(x < 1, sg.log(1 - x), 0 * x), [0.0, 1.0, 2.0], [-1, 0, 0]),
    "cosh": (lambda x: W(sg.abs(x) < 10, sg.cosh(x), sg.abs(x)), [0.0, 1000.0], [0, 1]),
    "masked_fill": (lambda x: sg.sqrt(x).masked_fill(x <= 0, 0.0), [0.0, 4.0], [0, 0.25]),
    "masked log": (lambda x: sg.log(x).masked_fill(x <= 0, 0.0), [0.0, 4.0], [0, 0.25]),
    "nested": (lambda x: W(x > 0, W(x > 1, sg.sqrt(x - 1), 0 * x), 0 * x), [0.0, 0.5, 1.0, 5.0], [0, 0, 0, 0.25]),
    "product": (lambda x: W(x > 0, x * sg.log(x), 0 * x), [0.0, 1.0], [0, 1]),
    "div by diff": (lambda x: W(x == 1, 0 * x, (x**2 - 1) / (x - 1)), [1.0, 3.0], [0, 1]),
    "expm1/x": (lambda x: W(x == 0, 1 + x / 2, sg.expm1(x) / x), [0.0, 1.0], [0.5, 1]),
    "lgamma": (lambda x: W(x > 0, sg.lgamma(x), 0 * x), [0.0, -1.0, 2.0], [0, 0, float(sg.digamma(np.float64(2)))]),
    "atanh": (lambda x: W(sg.abs(x) < 1, sg.atanh(x), 0 * x), [0.0, 1.0], [1, 0]),
    "reciprocal": (lambda x: W(x > 0, sg.reciprocal(x), 0 * x), [0.0, 2.0], [0, -0.25]),
    "maximum": (lambda x: W(x > 0, sg.sqrt(sg.maximum(x, 0 * x)), 0 * x), [0.0, 4.0], [0, 0.25]),
    "atan2": (lambda x: W(x != 0, sg.atan2(x, x), 0 * x), [0.0, 2.0], [0, 0]),
    "logit": (lambda x: W((x > 0) & (x < 1), sg.logit(x), 0 * x), [0.0, 0.5, 1.0], [0, 4, 0]),
    "erfinv": (lambda x: W(sg.abs(x) < 1, sg.erfinv(x), 0 * x), [0.0, 1.0], [np.sqrt(np.pi) / 2, 0]),
    "entropy": (lambda x: -W(x > 0, x * sg.log(x), 0 * x), [0.0, 1.0], [0, -1]),
    "huber": (lambda x: W(sg.abs(x) < 1, x * x / 2, sg.sqrt(sg.abs(x))), [0.0, 4.0], [0, 0.25]),
    "geometric": (lambda x: W(x == 1, 5 + 0 * x, (1 - x**5) / (1 - x)), [1.0, 2.0], [0, 1 + 4 + 12 + 32]),
    "boxcox": (lambda x: W(x > 0, (x**0.5 - 1) / 0.5, 0 * x), [0.0, 4.0], [0, 0.5]),
    "kl": (lambda x: W(x > 0, x * (sg.log(x) - 1), 0 * x), [0.0, 2.0], [0, np.log(2)]),
    "cumlog": (lambda x: W(x > 0, sg.log10(x), x), [0.0, 1.0], [1, 1 / np.log(10)]),
    "acosh": (lambda x: W(x > 1, sg.acosh(x), 0 * x), [1.0, 0.0, 2.0], [0, 0, 1 / np.sqrt(3)]),
    "xlogy": (lambda x: W(x > 0, sg.xlogy(x, x), 0 * x), [0.0, 1.0], [0, 1]),
}


def _eager(f, points):
    x = sg.tensor(points, requires_grad=True)
    with np.errstate(all="ignore"):  # as NumPy, the function itself warns of what it computes and does not choose
        y = f(x).sum()
    y.backward()  # the suite turns warnings into errors
    return x.grad.numpy()


def _recorded(f, points):
    x = sg.tensor(points, requires_grad=True)
    with np.errstate(all="ignore"):
        y = f(x).sum()
    (g,) = sg.autograd.grad(y, x, create_graph=True)
    if g.requires_grad:
        (second,) = sg.autograd.grad(g.sum(), x, allow_unused=True)
        assert second is None or np.isfinite(second.numpy()).all()
    return g.detach().numpy()


def _compiled(f, points):
    with np.errstate(all="ignore"):
        return sg.compile(sg.func.grad(lambda x: f(x).sum()), points)(points)


def _formula(f, points):
    x = sg.tensor(points, requires_grad=True, name="x")
    with np.errstate(all="ignore"):
        f(x).sum().backward()
        return np.broadcast_to(sg.formula(x.grad).evaluate(x=points), points.shape)


def _check(name, ways):
    f, points, wanted = SNIPPETS[name]
    for way in ways:
        np.testing.assert_allclose(way(f, np.array(points)), wanted, rtol=1e-12, err_msg=way.__name__)


@pytest.mark.parametrize("name", SNIPPETS)
def test_gradients(name):
    _check(name, (_eager, _recorded))


@pytest.mark.parametrize("name", [*SNIPPETS][::4])
def test_programs_and_formulas(name):
    _check(name, (_compiled, _formula))


@pytest.mark.slow
@pytest.mark.parametrize("name", SNIPPETS)
def test_programs_and_formulas_of_all(name):
    _check(name, (_compiled, _formula))


ENDINGS = {
    "squares": lambda v: (v * v).sum(),
    "prod": sg.prod,
    "norm": sg.linalg.vector_norm,
    "outer": lambda v: (sg.outer(v, v) @ v).sum(),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", [*SNIPPETS][::6])
def test_programs_of_hessians_are_zero_beside_branches_whatever_is_made_of_them(name, ending):
    f, at, _ = SNIPPETS[name]
    second = sg.func.hessian(lambda x: ENDINGS[ending](f(x)))
    x = sg.tensor(np.array([*at, 1.5]))
    with np.errstate(all="ignore"):
        wanted, found = second(x).numpy(), sg.compile(second)(x)
    known = ~np.isnan(wanted)  # the norm of zeros has no second derivatives
    np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9, atol=1e-9)

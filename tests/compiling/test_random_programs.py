"""Random programs: what is compiled gives what eager calls give, at the traced sizes and at others."""

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.tape import containers

LINES = (
    "sg.sin({a})", "{a} * {a}", "sg.where({a} > 0.2, {a}, {a} * {b})", "{a} / ({b} * {b} + 1)", "{a} - {b}",
    "sg.maximum({a}, {b})", "sg.sqrt({a} * {a} + 1)", "sg.cumsum({a}, 0)", "sg.softmax({a}, 0)", "{a} - {a}.mean(0)",
    "{a}[i]", "sg.index_select({a}, 0, i)", "sg.index_add({a}, 0, i, {b})", "sg.index_copy({a}, 0, i, {b})",
    "sg.take_along_dim({a}, sg.argsort({b}, 0), 0)", "sg.gather({a}, 0, J)", "sg.scatter_add({a}, 0, J, {b})",
    "sg.scatter({a}, 0, sg.argsort({b}, 0), {b})", "sg.index_put({a}, (i,), {b}, accumulate=True)",
    "sg.masked_fill({a}, {b} > 0.3, 0.25)", "sg.index_add(sg.zeros_like({a}), 0, i, {b})", "sg.sort({a}, 0)[0]",
    "inner(({a} * {b}).sum(), {a})", "inner(sg.sin({a}).sum(), X)",
    "sg.func.grad(lambda u: (u[i] * {b} * u).sum())({a})",
    "sg.func.jvp(lambda u: sg.tanh(u) * {b}, ({a},), ({b},))[1]", "sg.func.vmap(lambda u: u * u.sum())({a})",
)  # fmt: skip
"""What one line may be, of two arrays of one shape, places along the axis in front and an array of such places."""


def inner(out, wrt):
    (g,) = sg.autograd.grad(out, wrt, create_graph=True, allow_unused=True)
    return wrt * 0 if g is None else g


def program(seed):
    """Source of a function of X, Y and places; every line reads one of the last two."""
    pick = random.Random(seed)
    names, lines = ["X", "Y"], []
    for k in range(pick.randint(2, 6)):
        lines.append(f"    t{k} = {pick.choice(LINES).format(a=pick.choice(names[-2:]), b=pick.choice(names))}")
        names.append(f"t{k}")
    return "\n".join(["def f(X, Y, i, J):", *lines, f"    return {names[-1]}"])


def along_ones(f):
    return lambda X, *rest: sg.func.jvp(lambda X: f(X, *rest), (X,), (sg.ones_like(X),))[1]


def sampled(seed, m, n):
    rng = np.random.default_rng(seed)
    places = rng.permutation(m)
    arrays = rng.normal(size=(m, n)), rng.normal(size=(m, n)), places, np.argsort(rng.normal(size=(m, n)), 0)
    return [sg.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]


def numbers(found):
    return [x.detach().numpy() if isinstance(x, sg.Tensor) else np.asarray(x) for x in containers.flatten(found)[0]]


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 200))])
def test_random_programs_give_what_eager_calls_give(seed):
    scope = {"sg": sg, "inner": inner}
    text = program(seed)
    exec(text, scope)  # noqa: S102  (made of the lines above)
    slope = sg.func.grad(lambda *args: (scope["f"](*args) ** 2).sum())
    for function in (scope["f"], slope, along_ones(slope), along_ones(scope["f"])):
        compiled = sg.compile(function)
        for m, n in ((4, 3), (9, 9), (5, 2)):
            args = sampled(seed + m, m, n)
            for want, got in zip(numbers(function(*args)), numbers(compiled(*(a.detach() for a in args))), strict=True):
                scale = max(1.0, float(np.abs(want).max()))
                np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10 * scale, err_msg=text)

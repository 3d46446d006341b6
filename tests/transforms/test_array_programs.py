"""Functions written for NumPy's arrays: derivatives, formulas and programs are those of what they give for arrays."""

from __future__ import annotations

import dataclasses
import gc
import math
import warnings
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad as sg
from symgrad import func
from symgrad.interop.ndarray import Array

X = np.array([0.5, 1.5, 2.5])


def softmax_loss(x):
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return -math.log((e / e.sum())[1])


def filled(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] ** 2 * (i + 1)
    return out.sum()


def scanned(x):
    out = np.empty_like(x)
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + x[i] ** 2
    return (out**2).sum()


def drawn(x):
    """A function of C calls np.empty() in its turn, and needs what that always gives."""
    start = np.empty(3)
    start[:] = x**2
    return (np.random.default_rng(0).normal(size=(3, 3)) @ start).max()


def by_views(x):
    """What is written into a view is in the array, and the other way round; entries are copies."""
    table = np.zeros((3, 3))
    row, turned, first = table[0], table.T, table[1, 1]
    row[:] = x**2
    turned[2] = turned[0] * x
    table[1] = table[1] + row
    np.reshape(table, -1)[::4] = x**3
    return (table**2).sum() + (turned[1] * row).sum() + first


PROGRAMS = {
    "views": by_views,
    "number by item": lambda x: (x**3).sum().item(),
    "softmax": softmax_loss,
    "filled": filled,
    "scanned": scanned,
    "drawn": drawn,
    "read": lambda x: (np.asarray(x) ** 3).sum(),
    "number": lambda x: float((x**3).sum()),
    "array of entries": lambda x: np.array([x[0] * x[1], x[1] ** 2, x[2] ** 3]).sum(),
    "sum of a list": lambda x: np.sum([x[i] ** 3 for i in range(3)]),
    "math": lambda x: math.sqrt(x[0] ** 2 + x[1] ** 2) + math.sin(x[2]),
    "copies": lambda x: (x.copy().astype(float).ravel() ** 3).sum(),
    "largest": lambda x: np.outer(x, x).max(axis=0).sum(),
    "spread": lambda x: x.std() ** 3 + x.var(),
    "repeated": lambda x: x.repeat(2) @ np.arange(6.0) ** 2 * x[0],
}


def differences(f, x, h=1e-6):
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in np.eye(len(x)) * h])


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_are_those_of_the_program(name):
    f = PROGRAMS[name]
    value, gradient = func.value_and_grad(f)(X)
    want = differences(lambda x: float(f(x)), X)
    assert float(value) == pytest.approx(float(f(X)), rel=1e-14)
    assert np.allclose(gradient, want, atol=1e-6)
    for jacobian in (func.jacrev(f), func.jacfwd(f)):
        assert np.allclose(jacobian(X), want, atol=1e-6)
    assert np.allclose([func.jvp(f, (X,), (e,))[1] for e in np.eye(3)], want, atol=1e-6)
    hessian = differences(lambda x: np.asarray(func.grad(f)(x)), X)
    assert np.allclose(func.hessian(f)(X), hessian, atol=1e-6)
    assert np.allclose(func.vmap(func.grad(f))(np.stack([X, X + 1]))[0], gradient)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_compile_and_have_formulas(name):
    f = PROGRAMS[name]
    value, gradient = sg.compile(f), sg.compile(func.grad(f))
    for x in (X, X + 0.3):
        assert value(x) == pytest.approx(float(f(x)), rel=1e-12)
        assert np.allclose(gradient(x), differences(lambda x: float(f(x)), x), atol=1e-6)
    assert value.traces == gradient.traces == 1
    assert sg.formula(f, X, wrt="x").latex()


def test_formulas_of_programs_for_arrays():
    def loss(W, X, T):
        Z = X @ W
        E = np.exp(Z - Z.max(axis=1, keepdims=True))
        return -(T * np.log(E / E.sum(axis=1, keepdims=True))).sum()

    assert "softmax" in sg.latex(loss, wrt="W")
    assert sg.latex(lambda x: math.exp(x) * x, 2.0) == "x e^{x}"
    assert sg.latex(lambda x: float((x**2).sum()), (3,)) == r"x^{\top} x"


def test_plain_numbers_are_not_lost_silently():
    with pytest.raises(sg.errors.ArgumentError, match="made of plain numbers"):
        func.grad(lambda x: float(x[0]) ** 2)(sg.tensor(X))
    with pytest.raises(sg.errors.ArgumentError, match="made of plain numbers"):
        func.grad(lambda x: float(x[0]) * float(x[1]))(X)
    with pytest.raises(
        sg.errors.NotFollowed, match=r"in test_array_programs.py, line \d+, and the result depends on it"
    ):
        func.grad(lambda x: float(x[0]) * x.sum())(X)
    for of_two in (math.atan2, lambda a, b: float(a) / float(b)):  # which stay where both are changed alike
        with pytest.raises(sg.errors.NotFollowed, match="the result depends on it"):
            func.grad(lambda x, of_two=of_two: of_two(x[0], x[1]) * x.sum())(X)
    sg.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Converting a tensor"):  # the user's tensors have torch's manners
            found = func.grad(lambda x: float(x[0]) * x.sum())(sg.tensor(X))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            func.grad(PROGRAMS["math"])(X)  # no number is made of what it is given
    finally:
        sg.set_warn_always(False)
    assert np.array_equal(found, np.full(3, X[0]))


def kept(x, seen):
    out = np.zeros(3)
    out[:] = x**2
    seen.append(float(out.sum()))
    if float(out[0]) > 1e9:
        return out.sum() * 2
    return out.sum()


@pytest.mark.parametrize("transform", [func.grad, func.jacfwd, lambda f: lambda x: func.hessian(f)(x).sum(0)])
def test_numbers_that_the_result_does_not_depend_on_are_nobodys_loss(transform):
    sg.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = transform(lambda x: kept(x, []))(X)
            loss = func.grad(lambda x: ((s := kept(x, [])), {"loss": float(s)}), has_aux=True)(X)
    finally:
        sg.set_warn_always(False)
    assert np.allclose(found, 2 * X) or np.allclose(found, 2)
    assert np.allclose(loss[0], 2 * X)
    assert loss[1] == {"loss": float((X**2).sum())}


def test_of_a_function_that_never_gives_the_same_twice_is_warned():
    rng = np.random.default_rng()

    def noisy(x):
        out = np.zeros(3)
        out[:] = x
        return out.sum() * float(x[0]) * rng.random()

    sg.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="Converting a tensor"):
            func.grad(noisy)(X)
    finally:
        sg.set_warn_always(False)


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (lambda x: x[0].item() * 2, [sg.tensor(X)]),  # in programs for arrays, item() and tolist() are followed
        (lambda x: sum(x.tolist()), [sg.tensor(X)]),
        (lambda x: sum(map(math.exp, x)), [X, sg.tensor(X)]),
        (lambda x: float(x[0]) * 2 + complex(x[1]).real, [X, sg.tensor(X)]),
    ],
    ids=["item", "list", "map", "float"],
)
@pytest.mark.parametrize("transform", [func.grad, func.jacfwd, func.jacrev, func.hessian], ids=lambda t: t.__name__)
def test_results_that_are_numbers_are_refused_by_every_derivative(transform, f, inputs):
    for x in inputs:
        with pytest.raises(sg.errors.ArgumentError, match="plain numbers|A number does not know"):
            transform(f)(x)
        with pytest.raises(sg.errors.CompileError, match="gives plain numbers"):
            sg.compile(transform(f))(x)


def test_what_failed_on_tensors_does_not_live_on():
    seen = []

    def program(x):
        seen.append(weakref.ref(x))
        return filled(x)

    gc.collect()
    gc.disable()
    try:
        func.grad(program)(X)
        assert len(seen) == 2
        assert all(ref() is None for ref in seen)
    finally:
        gc.enable()


def test_custom_functions_keep_their_rule_in_programs_for_arrays():
    class Square(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 20 * g * x

    found = func.grad(lambda x: Square.apply(x.copy()).max(axis=0))(X)
    assert np.array_equal(found, [0, 0, 20 * X[2]])


def test_arrays_answer_beside_tensors():
    t = sg.tensor([1.0, 2.0, 3.0], dtype=sg.float64)
    inside = func.grad(lambda t: (t**3).sum())
    for f in (
        lambda x: (t * x.copy() ** 2).max(axis=0),
        lambda x: (t @ x.copy()) * (x.max(axis=0) + t)[2],
        lambda x: inside(x.copy()) @ x,
    ):
        own = lambda x, f=f: float(func.value_and_grad(f)(x)[0])  # noqa: E731
        assert np.allclose(func.grad(f)(X), differences(own, X), atol=1e-6)


def test_results_of_several_parts_are_no_operands():
    z = sg.tensor([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(sg.errors.ArgumentError, match="tuple of values and indices: take one of them, as in .values"):
        z - z.max(dim=1, keepdim=True)
    with pytest.raises(sg.errors.ArgumentError, match="sort"):
        z.mul(z.sort(0))


def through_views(x):
    A = np.zeros((2, 3))
    row = A[0]
    row[:] = x**2  # A sees it
    A[1] += x
    A[0, 1] *= 2  # and row sees this
    return (row * A[1]).sum() + row[1]


def into_constants(x):
    y, z, w = np.arange(1.0, 4.0), np.array([1.0, 2.0]), np.eye(3)
    for i in range(1, 3):
        y[i] -= x[i] ** 2 * y[i - 1]
    z[1], w[2, 0] = x[0] ** 2, x[1]
    return y.sum() * z.sum() + (w @ x).sum()


@pytest.mark.parametrize("f", [through_views, into_constants])
def test_entries_written_into_parts_and_into_constants_are_followed(f):
    value, gradient = func.value_and_grad(f)(X)
    want = differences(lambda x: float(f(x)), X)
    assert float(value) == pytest.approx(float(f(X)), rel=1e-14)
    assert np.allclose(gradient, want, atol=1e-6)
    assert np.allclose(sg.compile(func.grad(f))(X), want, atol=1e-6)


def stepped(u, c):
    """Heat that flows, with a reaction, in place."""
    u = u * 1.0
    for _ in range(3):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1] ** 2
        u *= u + 0.5
    return (u**2).sum()


def test_what_a_program_overwrites_is_kept_for_its_derivative():
    u = np.array([0.3, 0.5, 0.1, 0.4])
    want = differences(lambda u: stepped(u, 0.2), u)
    assert np.allclose(func.grad(stepped)(u, 0.2), want, atol=1e-7)
    assert np.allclose(func.jacrev(stepped)(u, 0.2), want, atol=1e-7)
    assert np.allclose(func.jacfwd(stepped)(u, 0.2), want, atol=1e-7)
    second = differences(lambda u: np.asarray(func.grad(stepped)(u, 0.2)), u)
    assert np.allclose(func.hessian(stepped)(u, 0.2), second, atol=1e-6)
    assert np.allclose(sg.compile(func.grad(stepped))(u, 0.2), want, atol=1e-7)
    with pytest.raises(sg.errors.AutogradError, match="modified by an inplace operation"):
        func.grad(stepped)(sg.tensor(u), 0.2)  # torch's manners for tensors


# ---------------------------------------------------------------------------------------------- beside ours


def written(x):
    out = np.zeros(3)
    out[:] = x
    return out


def by_op(x):
    out = np.zeros(3)
    out[0] = sg.sin(x[0])
    out[1] = math.sin(x[1]) * x[2]
    return sg.sum(out)


def by_functions(x):
    out = written(x)
    return sg.stack([out[0], out[1]]).sum() + sg.linalg.norm(out) + sg.special.gammaln(out).sum()


def by_layers(x):
    return sg.nn.functional.softmax(written(x), dim=0)[1] + sg.as_tensor(written(x))[0].exp()


def beside_tensors(x):
    out, weights = written(x), sg.tensor([1.0, 2.0, 3.0], dtype=sg.float64)
    return sg.where(out > 0.35, out, out**2).sum() + (weights * out).sum() + (out * weights).sum() + weights @ out


def by_transforms(x):
    out = written(x)
    return sg.func.grad(lambda u: (u**3).sum())(out).sum() + sg.func.vmap(sg.exp)(out).sum()


@pytest.mark.parametrize("f", [by_op, by_functions, by_layers, beside_tensors, by_transforms])
def test_functions_of_the_library_take_the_arrays_of_such_programs(f):
    x, step = np.array([0.3, 0.4, 0.5]), 1e-6
    slopes = [(float(f(sg.tensor(x + e))) - float(f(sg.tensor(x - e)))) / (2 * step) for e in step * np.eye(3)]
    np.testing.assert_allclose(sg.func.grad(f)(x), slopes, rtol=1e-6)


def test_operators_take_functions_for_arrays():
    def f(x):
        out = np.zeros(2)
        out[0], out[1] = x[0] * math.exp(x[1]), x[1] ** 2
        return out

    x, v = np.array([0.5, 1.5]), np.array([1.0, 2.0])
    J = sg.func.jacobian(f)(x)
    np.testing.assert_allclose(sg.func.jacobian_operator(f, x) @ v, J @ v)
    np.testing.assert_allclose(sg.func.jacobian_operator(f, x).T @ v, J.T @ v)
    H = sg.func.hessian(lambda x: float(np.sum(f(x))))(x)
    np.testing.assert_allclose(sg.func.hessian_operator(lambda x: float(np.sum(f(x))), x) @ v, H @ v)


def test_a_number_that_was_followed_is_not_a_loss_around_it():
    """The inner gradient resolves its ``float``: no reason to run the function around it once more."""
    runs = []

    def outer(x):
        runs.append(1)
        return sg.func.grad(lambda u: float(np.sum(u**3)))(x).sum()

    np.testing.assert_allclose(sg.func.grad(outer)(np.array([1.0, 2.0])), [6.0, 12.0])
    assert len(runs) == 1


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Record:
    first: Any
    second: Any


@pytest.mark.parametrize("kind", [Pair, Record, lambda first, second: OrderedDict(first=first, second=second)])
def test_results_in_containers(kind):
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    found = sg.func.jacrev(lambda x: kind(x.std(axis=0, ddof=1), np.linalg.eigh(x @ x.T)[0]))(x)
    rows = found.values() if isinstance(found, dict) else vars(found).values() if kind is Record else found
    first, second = rows
    np.testing.assert_allclose(first, sg.func.jacrev(lambda x: x.std(0))(sg.tensor(x)))
    np.testing.assert_allclose(second, sg.func.jacrev(lambda x: sg.linalg.eigh(x @ x.T)[0])(sg.tensor(x)))


def test_containers_of_arrays_are_arguments():
    """An error about the call tells what it is, and does not call again and again."""
    x = Array(sg.tensor([1.0, 2.0], requires_grad=True))
    np.testing.assert_allclose(sg.cat(Pair(x, x)).tensor.detach(), [1, 2, 1, 2])
    with pytest.raises(sg.errors.ArgumentError, match=r"stack\(\): argument 'dim' must be int"):
        sg.stack(Pair(x, x), dim="x")
    with pytest.raises(IndexError, match="out of range"):
        sg.cat(Pair(x, x), dim=7)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.apply_along_axis(lambda row: row.std(), 0, x[:, None] * np.ones(2)).sum(),
        lambda x: np.apply_along_axis(lambda row, k: row * row.std() * k, 0, x[:, None] * np.ones(2), 3.0).sum(),
        lambda x: np.apply_over_axes(lambda a, axis: a.std(axis, keepdims=True), x[:, None] * np.ones(2), [0]).sum(),
        lambda x: np.piecewise(x, [x < 1, x >= 1], [lambda t: t.std(), lambda t: t**2 * t.std()]).sum(),
        lambda x: (np.piecewise(x, [x > 1.5, x < 0], [lambda t: t**2, -1.0, lambda t: t * t.max()]) ** 2).sum(),
        lambda x: math.hypot(*x) + math.hypot(x[0]) + math.hypot(x[1], -x[2]),
        lambda x: x.max(0) * x[0],
    ],
    ids=["along axis", "with arguments", "over axes", "piecewise", "otherwise", "hypot", "max"],
)
def test_functions_inside_are_for_arrays_too(f):
    point = np.array([0.5, 1.2, 2.0])
    steps = 1e-6 * np.eye(3)
    want = [(f(point + step) - f(point - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(sg.func.grad(f)(point), want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(sg.func.jacfwd(f)(point), want, rtol=1e-7, atol=1e-9)


def _summed_where(u, v):
    return np.sum(u * v, where=v > 2) * u


def _added_at(u, v):
    out = u * 1
    np.add.at(out, v.astype(int) % 3, u * v)
    return out


REUSED = {
    "factor": lambda u, v: u * v,
    "divisor": lambda u, v: u / v,
    "exponent": lambda u, v: v**u,
    "matrix": lambda u, v: u @ np.outer(v, v),
    "view": lambda u, v: u[:2] * v[::2],
    "condition": lambda u, v: np.where(v > 2, u * v, u),
    "extremum": lambda u, v: np.maximum(u, v) ** 2,
    "function": np.outer,
    "weights": lambda u, v: np.average(u**2, weights=v) * u,
    "part of a sum": _summed_where,
    "places": _added_at,
    "cases": lambda u, v: np.select([v > 2, v > 1], [u**2, v * u], u),
}


@pytest.mark.parametrize("step", REUSED.values(), ids=REUSED)
def test_arrays_may_be_written_to_after_they_were_used(step):
    """Backward read what was written: a gradient of other numbers than the value, which a check believed."""

    def of_own(u):
        return (step(u, np.array([1.0, 3.0, 2.5])) ** 2).sum()

    def of_reused(u):
        v = np.array([1.0, 3.0, 2.5])
        w = step(u, v)
        v[:] = 7
        return (w**2).sum()

    u = np.array([0.5, 1.5, 2.7])
    grad = sg.func.grad
    np.testing.assert_array_equal(grad(of_reused)(u), grad(of_own)(u))
    np.testing.assert_array_equal(sg.func.jacrev(grad(of_reused))(u), sg.func.jacrev(grad(of_own))(u))
    assert sg.check(of_reused, grad(of_own), u).ok


def test_large_arrays_are_not_copied_but_their_changes_are_seen():
    u = sg.tensor(np.linspace(0, 1, 20_000), requires_grad=True)
    v = np.linspace(1, 2, 20_000)
    before = (u * v).sum()
    v[3] += 1e-9
    after = (u * v).sum()
    after.backward()
    np.testing.assert_array_equal(u.grad, v)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*x\.copy\(\)"):
        before.backward()
    of_view = (u[::2] * v[::2]).sum()
    v[1] = 0
    of_view.backward()
    of_view = (u[::2] * v[::2]).sum()
    v[[0, 2]] = v[[2, 0]]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        of_view.backward()


def test_arrays_that_no_graph_has_any_more_are_forgotten():
    from symgrad.tape.memory import arrays

    u = sg.tensor(np.ones(20_000), requires_grad=True)
    large, small = np.ones(20_000), np.ones(3)
    had = len(arrays._copies), len(arrays._marked)
    y = (u * large).sum() * (u[:3] * small).sum()
    assert (len(arrays._copies), len(arrays._marked)) == (had[0] + 1, had[1] + 1)
    del y, large, small
    gc.collect()
    assert (len(arrays._copies), len(arrays._marked)) == had


def test_the_arrays_of_a_function_of_two_meanings_are_not_sorted_by_it() -> None:
    """x.sort(0) gives a sorted tensor, and sorts an array in place: to see what is meant, copies are sorted."""
    x = np.array([3.0, 1.0, 2.0])
    assert sg.func.grad(lambda x: x.sort(0)[0][:2].sum())(x).tolist() == [0, 1, 1]
    assert x.tolist() == [3, 1, 2]

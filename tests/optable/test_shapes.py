"""Generated shapes: 0-d, empty, size-1 axes, up to three axes.  Gradients are numeric, formulas give the numbers."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings, strategies as st

import symgrad as sg
from symgrad.formula.term import evaluate
from symgrad.proving.laws import close, inner, weights

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
FULL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)
COMMON = settings(max_examples=60)
STEP = 2.0**-11


def numbers(shape: tuple[int, ...], seed: int) -> Any:
    """Entries in (0.5, 2), each in a stratum of its own, so that extremes have no ties."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    values = 0.5 + 1.5 * (rng.permutation(count) + rng.uniform(0.4, 0.6, count)) / max(count, 1)
    return values.reshape(shape)[()]


def check(function: Any, *values: Any) -> None:
    """Gradients of ⟨w, function(…)⟩ by the tape, by differences, and by the formula; the formula's value too."""
    leaves = [sg.tensor(v, requires_grad=True, name=f"v{k}") for k, v in enumerate(values)]
    named = {f"v{k}": v for k, v in enumerate(values)}
    out = function(*leaves)
    np.testing.assert_array_equal(out.detach().numpy(), function(*values))
    close(evaluate(out.term, named | sg.formula(out).constants), out.detach().numpy(), 1e-13, "formula of the value")
    w = sg.tensor(weights(tuple(out.shape), out.dtype), name="w")
    out.backward(w)
    for k, (leaf, v) in enumerate(zip(leaves, values, strict=True)):
        assert tuple(leaf.grad.shape) == np.shape(v)
        close(leaf.grad.numpy(), differences(function, values, k, w.numpy()), 1e-6, f"gradient {k}")
        letters = named | {"w": w.numpy()} | sg.formula(leaf.grad).constants  # arrays of an index are constants
        formula = evaluate(leaf.grad.term, letters, sizes_of(leaf.grad.term, values))
        close(formula, leaf.grad.numpy(), 1e-13, f"formula of gradient {k}")


def sizes_of(term: Any, values: Any) -> dict[str, int]:
    """Letters in the order in which the recorded leaves introduce sizes."""
    from symgrad.tape.formulas.reading import LETTERS

    seen = dict.fromkeys(n for v in values for n in np.shape(v) if n > 1)
    _ = term
    return dict(zip(LETTERS, seen, strict=False))


def differences(function: Any, values: Any, k: int, w: Any) -> Any:
    """Central differences of fourth order in argument ``k``."""
    out = np.zeros(np.shape(values[k]))
    for index in np.ndindex(out.shape):
        total = 0.0
        for step, factor in ((1, 8), (2, -1)):
            for sign in (1, -1):
                moved = np.array(values[k])
                moved[index] += sign * step * STEP
                total += sign * factor * inner(w, function(*values[:k], moved[()], *values[k + 1 :]))
        out[index] = total / (12 * STEP)
    return out


BINARY = [sg.add, sg.sub, sg.mul, sg.div, sg.pow, sg.atan2, sg.hypot, sg.logaddexp, sg.maximum, sg.xlogy]


@COMMON
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3), st.sampled_from(BINARY))
def test_binary_ops_broadcast(shapes: Any, op: Any) -> None:
    a, b = shapes.input_shapes
    check(op, numbers(a, 1), numbers(b, 2) + 0.011)


def axes(data: Any, ndim: int) -> Any:
    """None, one axis (positive or negative), or several."""
    some = st.lists(st.integers(0, ndim - 1), unique=True, min_size=1).map(tuple)
    return data.draw(st.one_of(st.none(), st.integers(-ndim, ndim - 1), some))


REDUCTIONS = [sg.sum, sg.mean, sg.amax, sg.amin, sg.var, sg.norm, sg.logsumexp]


@COMMON
@given(FULL, st.sampled_from(REDUCTIONS), st.booleans(), st.data())
def test_reductions(shape: Any, reduce: Any, keepdim: bool, data: Any) -> None:
    dim = axes(data, len(shape))
    if reduce is sg.var:
        check(lambda x: reduce(x, dim=dim, keepdim=keepdim, correction=0), numbers(shape, 3))
    elif reduce is sg.logsumexp:
        check(
            lambda x: reduce(x, dim=tuple(range(len(shape))) if dim is None else dim, keepdim=keepdim),
            numbers(shape, 3),
        )
    else:
        check(lambda x: reduce(x, dim=dim, keepdim=keepdim), numbers(shape, 3))


@COMMON
@given(SHAPES)
def test_sums_of_any_shape(shape: Any) -> None:
    check(sg.sum, numbers(shape, 4))
    check(lambda x: sg.cumsum(x, -1), numbers(shape, 4))


@COMMON
@given(FULL, st.data())
def test_products_and_softmax(shape: Any, data: Any) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    for function in (sg.prod, sg.softmax, sg.log_softmax, sg.cumsum):
        check(lambda x, function=function: function(x, dim), numbers(shape, 5))


@COMMON
@given(FULL, st.data())
def test_basic_indices(shape: Any, data: Any) -> None:
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    x = numbers(shape, 6)
    if np.asarray(x[index]).size:
        check(lambda x: x[index], x)


@COMMON
@given(FULL, st.data())
def test_fancy_indices(shape: Any, data: Any) -> None:
    index = data.draw(hnp.integer_array_indices(shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3)))
    check(lambda x: x[index], numbers(shape, 7))


@COMMON
@given(FULL, st.data())
def test_boolean_indices(shape: Any, data: Any) -> None:
    mask = data.draw(hnp.arrays(bool, shape))
    check(lambda x: x[mask], numbers(shape, 8))


@st.composite
def equations(draw: Any) -> tuple[str, list[tuple[int, ...]]]:
    """An einsum of one to three operands with repeated, summed and kept subscripts."""
    sizes = {letter: draw(st.integers(1, 3)) for letter in "ijkl"}
    operands = draw(st.lists(st.text("ijkl", min_size=0, max_size=3), min_size=1, max_size=3))
    known = sorted(set("".join(operands)))
    kept = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    return ",".join(operands) + "->" + "".join(kept), [tuple(sizes[c] for c in term) for term in operands]


@COMMON
@given(equations())
def test_einsum(case: Any) -> None:
    equation, shapes = case
    values = [numbers(s, k) for k, s in enumerate(shapes)]

    def function(*xs: Any) -> Any:
        return sg.einsum(equation, *xs)

    np.testing.assert_allclose(function(*values), np.einsum(equation, *values), rtol=1e-12)
    check(function, *values)


@COMMON
@given(st.data())
def test_matmul_ranks(data: Any) -> None:
    n, m, p = (data.draw(st.integers(1, 3)) for _ in range(3))
    batch = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, min_side=1, max_side=3)).input_shapes
    left = data.draw(st.sampled_from([(m,), (*batch[0], n, m)]))
    right = data.draw(st.sampled_from([(m,), (*batch[1], m, p)]))
    check(lambda a, b: a @ b, numbers(left, 9), numbers(right, 10))


@COMMON
@given(SHAPES, st.data())
def test_shape_changes(shape: Any, data: Any) -> None:
    x = numbers(shape, 11)
    check(lambda x: sg.ravel(x) * 2, x)
    check(lambda x: sg.unsqueeze(x, data.draw(st.just(0))) * 2, x)
    order = data.draw(st.permutations(range(len(shape))))
    if shape:
        check(lambda x: sg.permute(x, *order) * 2, x)
        check(lambda x: sg.flip(x, tuple(range(len(shape)))) * 2, x)
        check(lambda x: sg.cat([x, x], -1) * 2, x)
    check(lambda x: sg.stack([x, x], 0) * 2, x)
    check(lambda x: sg.squeeze(x) * 2, x)

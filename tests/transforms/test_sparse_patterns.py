"""Patterns of Jacobians: for every op of the table, and for programs of many, no place of a nonzero is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import symgrad as sg
from symgrad.autograd.sparsity.colours import count_of, greedy, plan, star
from symgrad.autograd.sparsity.matrix import from_plan, from_star, seeds_of
from symgrad.autograd.sparsity.pattern import Pattern
from symgrad.autograd.sparsity.relations import by_labels
from symgrad.autograd.sparsity.walk import pattern_of
from symgrad.op import TABLE
from symgrad.proving import laws
from symgrad.proving.samples import make_case, ops, samples

NAMES = [op.name for op in ops() if not op.underived and laws.differentiable(op, make_case(op.name, 0)[0])]


def recorded(name, k):
    """The result of an op at a sample and the tensors it may be differentiated by; None where there is none."""
    op, (args, params) = TABLE[name], make_case(name, k)
    targets = laws.differentiable(op, args)
    if not targets or any(args[i].dtype.kind == "c" for i in targets):
        return None
    tensors = laws.tensors(args, targets)
    with np.errstate(all="ignore"):
        out = op(*tensors, **params)
    return None if out.dtype.kind != "f" else (out, [tensors[i] for i in targets])


def dense(outs, variables):
    """The matrix of all outputs by all variables, row by row."""
    rows = []
    for out in outs:
        units = sg.tensor(np.eye(out.numel()).reshape(-1, *out.shape))
        found = sg.autograd.grad(out, variables, [units], retain_graph=True, allow_unused=True, is_grads_batched=True)
        blocks = [
            np.zeros((out.numel(), v.numel())) if g is None else g.numpy().reshape(out.numel(), -1)
            for g, v in zip(found, variables, strict=True)
        ]
        rows.append(np.concatenate(blocks, 1))
    return np.concatenate(rows)


def mask(pattern):
    """A pattern as a dense matrix of flags."""
    out = np.zeros(pattern.shape, bool)
    out[pattern.rows(), pattern.indices] = True
    return out


def check_superset(outs, variables, what):
    """No place of a nonzero is missing."""
    missing = (dense(outs, variables) != 0) & ~mask(pattern_of(outs, variables))
    assert not missing.any(), (
        f"{what}: {missing.sum()} nonzeros are not in the pattern, first {np.argwhere(missing)[0]}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_pattern_of_every_op(name):
    for k in range(len(samples(TABLE[name]))):
        found = recorded(name, k)
        if found is not None:
            check_superset([found[0]], found[1], f"{name} {make_case(name, k)[1]}")


@pytest.mark.parametrize("name", [name for name in NAMES if TABLE[name].kind != "elementwise"])
def test_pattern_of_every_gradient(name):
    """The graph of a gradient has ops that no user calls."""
    found = recorded(name, 0)
    if found is None:
        return
    out, variables = found
    weights = sg.tensor(laws.weights(tuple(out.shape), np.float64))
    slopes = sg.autograd.grad((out * weights).sum(), variables, create_graph=True, allow_unused=True)
    slopes = [g for g in slopes if g is not None and g.requires_grad]
    if slopes:
        check_superset(slopes, variables, name)


def placed(function, x):
    """The mask of a function's pattern at ``x``."""
    v = sg.tensor(x, requires_grad=True)
    return mask(pattern_of([function(v)], [v]))


BAND = np.eye(6, k=0, dtype=bool) | np.eye(6, k=1, dtype=bool)
PAIRS = np.kron(np.eye(3), np.ones((1, 2)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("function", "want"),
    [
        (lambda x: sg.relu(x) * 0, np.eye(6)),
        (lambda x: sg.where(x > 0, x.roll(1), x), np.eye(6) + np.eye(6, k=-1) + np.eye(6, k=5)),
        (lambda x: x @ sg.zeros(6, 2, dtype=x.dtype), np.ones((2, 6))),
        (lambda x: x.sum(), np.ones((1, 6))),
        (lambda x: x.mean(), np.ones((1, 6))),
        (lambda x: x[1:] * x[:-1], BAND[:5]),
        (lambda x: x[[3, 3, 0]] ** 3, np.eye(6)[[3, 3, 0]]),
        (lambda x: sg.nn.functional.pad(x, (1, 0)), np.eye(7, 6, k=-1)),
        (lambda x: x.unfold(0, 2, 1).sum(1), BAND[:5]),
        (lambda x: sg.nn.functional.conv1d(x.view(1, 1, 6), sg.ones(1, 1, 2, dtype=x.dtype)), BAND[:5]),
        (lambda x: x.cumsum(0)[:1], np.ones((1, 6))),
        (lambda x: x.view(3, 2).softmax(1), np.kron(np.eye(3), np.ones((2, 2)))),
        (lambda x: x.view(3, 2).amax(0), np.tile(np.eye(2), 3)),
        (lambda x: sg.logcumsumexp(x.view(2, 3), 1), np.kron(np.eye(2), np.ones((3, 3)))),
        (lambda x: sg.sort(x.view(2, 3), dim=1)[0], np.eye(6)[[1, 0, 2, 4, 3, 5]]),  # the order is a branch taken
        (lambda x: sg.nn.functional.layer_norm(x.view(3, 2), (2,)), np.kron(np.eye(3), np.ones((2, 2)))),
        (lambda x: sg.nn.functional.cross_entropy(x.view(3, 2), sg.tensor([0, 1, 1]), reduction="none"), PAIRS),
        (lambda x: sg.fft.fft(x.view(3, 2), dim=1).abs(), np.kron(np.eye(3), np.ones((2, 2)))),
        (lambda x: sg.view_as_complex(x.view(3, 2)).imag, PAIRS),
        (lambda x: sg.view_as_real(sg.view_as_complex(x.view(3, 2)) * 1j)[:, 0], PAIRS),
        (lambda x: sg.view_as_real(sg.view_as_complex(x.view(3, 2)).flip(0)).sum(1), PAIRS[::-1]),
        (lambda x: sg.tril(x.view(2, 3)), np.diag([1, 0, 0, 1, 1, 0])),
        (lambda x: sg.cat([x[4:], x[:1]]), np.eye(6)[[4, 5, 0]]),
        (lambda x: x.new_zeros(8).index_add(0, sg.tensor([1, 1, 2, 3, 4, 5]), x), np.eye(8)[:, [1, 1, 2, 3, 4, 5]]),
        (lambda x: x.detach() * x[:1], np.eye(1, 6).repeat(6, 0)),
        (lambda x: sg.linalg.inv(x.view(6, 1, 1) + 9), np.eye(6)),
        (lambda x: x.clone().fill_(1), np.zeros((6, 6))),
    ],
)
def test_structure_not_values(function, want, dtype):
    """Slopes that are zero at the point stay in the pattern; what no value can bring in is not in it."""
    x = np.array([0.0, -1.0, 2.0, 0.5, -0.25, 3.0], dtype)
    np.testing.assert_array_equal(placed(function, x), np.asarray(want).astype(bool))


def test_changes_in_place_are_followed():
    def function(x):
        y = x * 1
        y[1:] *= x[:-1]
        y[0] = 7.0
        return y

    want = np.eye(6) + np.eye(6, k=-1)
    want[0] = 0
    np.testing.assert_array_equal(placed(function, np.arange(6.0)), want.astype(bool))


def test_custom_functions_are_dense():
    class Twice(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2, h * 3

    got = placed(lambda x: Twice.apply(x[:3], x[3:4])[1] + 0 * x[5], np.arange(6.0))
    np.testing.assert_array_equal(got, [[True, True, True, True, False, True]])


STEPS = {
    "sin": lambda x: sg.sin(x),
    "neighbours": lambda x: x[..., 1:] * x[..., :-1],
    "turned": lambda x: x.flip(0),
    "transposed": lambda x: x.mT if x.ndim > 1 else x,
    "rows": lambda x: x.sum(-1, keepdim=True) * x,
    "branch": lambda x: sg.where(x > 0, x, x**2),
    "gathered": lambda x: x[[0, -1]],
    "lines": lambda x: x.softmax(-1),
    "sorted": lambda x: sg.sort(x, dim=-1)[0],
    "running": lambda x: x.cumsum(-1),
    "flat": lambda x: x.reshape(-1),
    "outer": lambda x: x.reshape(-1)[:3, None] * x.reshape(-1)[:2],
    "product": lambda x: x @ x.mT if x.ndim > 1 else x * 2,
    "stacked": lambda x: sg.stack([x, x * 0 + 1]),
    "largest": lambda x: x.amax(0),
    "padded": lambda x: sg.nn.functional.pad(x, (1, 1)),
    "lower": lambda x: sg.tril(x) if x.ndim > 1 else x,
}


@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(0, 2**31))
@settings(max_examples=25)
def test_programs(names, seed):
    """The pattern of a chain of steps holds all nonzeros, and the compressed matrix is the dense one."""

    def function(x):
        for name in names:
            if x.ndim and x.numel() and (x.shape[-1] > 1 or name != "neighbours"):
                x = STEPS[name](x)
        return x

    x = np.random.default_rng(seed).uniform(-2, 2, (3, 4))
    want = sg.func.jacrev(function)(x).numpy()
    found = sg.func.sparse_jacobian(function)(x)
    np.testing.assert_allclose(found.todense().numpy(), want, rtol=1e-12, atol=1e-12)
    second = sg.func.sparse_hessian(lambda x: (function(x) ** 2).sum())(x)
    want = sg.func.hessian(lambda x: (function(x) ** 2).sum())(x).numpy()
    np.testing.assert_allclose(second.todense().numpy(), want, rtol=1e-9, atol=1e-9 * abs(want).max(initial=1))


# ---------------------------------------------------------------------------------------------- parts


def test_labels():
    out, own, count = by_labels((2, 2), (0, 0), (2,), (0,))  # the diagonal matrix of a vector
    assert (out.tolist(), own.tolist(), count) == ([0, -1, -1, 1], [0, 1], 2)
    out, own, count = by_labels((2, 3), (0, 1), (3,), (1,))  # broadcasting
    assert (out.tolist(), own.tolist(), count) == ([0, 1, 2] * 2, [0, 1, 2], 3)


@st.composite
def masks(draw):
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    return rng.random((rows, columns)) < draw(st.sampled_from([0.1, 0.3, 0.7]))


@given(masks())
def test_pattern_algebra(given_mask):
    pattern = Pattern.at(given_mask.shape, *np.nonzero(given_mask))
    np.testing.assert_array_equal(mask(pattern), given_mask)
    np.testing.assert_array_equal(mask(pattern.transposed()), given_mask.T)
    rng = np.random.default_rng(len(given_mask))
    source = rng.integers(-1, len(given_mask), 7)
    np.testing.assert_array_equal(mask(pattern.taken(source)), np.where(source[:, None] < 0, False, given_mask[source]))
    target = rng.integers(-1, 4, len(given_mask))
    merged = np.array([given_mask[target == k].any(0) for k in range(4)])
    np.testing.assert_array_equal(mask(pattern.merged(target, 4)), merged)


@given(masks())
def test_columns_of_one_colour_never_meet(given_mask):
    colours = greedy(Pattern.at(given_mask.shape, *np.nonzero(given_mask)))
    assert ((colours >= 0) == given_mask.any(0)).all()
    for k in range(colours.max(initial=-1) + 1):
        assert given_mask[:, colours == k].sum(1).max() <= 1


@given(masks(), st.integers(0, 2), st.integers(0, 2))
def test_entries_from_products(given_mask, full_rows, full_columns):
    """Every plan gives back the matrix, and takes no more passes than rows or columns alone."""
    given_mask[:full_rows] = given_mask[:, :full_columns] = True
    matrix = given_mask * np.random.default_rng(0).integers(1, 99, given_mask.shape)
    pattern = Pattern.at(given_mask.shape, *np.nonzero(given_mask))
    found = plan(pattern)
    pulled, pushed = seeds_of(found.rows, int) @ matrix, seeds_of(found.columns, int) @ matrix.T
    np.testing.assert_array_equal(from_plan(pattern, found, pulled, pushed), matrix[given_mask])
    assert found.passes <= min(count_of(greedy(pattern)), count_of(greedy(pattern.transposed())))
    size = min(matrix.shape)
    symmetric = matrix[:size, :size] + matrix[:size, :size].T
    pattern = Pattern.at(symmetric.shape, *np.nonzero(symmetric))
    colours = star(pattern)
    np.testing.assert_array_equal(
        from_star(pattern, colours, seeds_of(colours, int) @ symmetric), symmetric[symmetric > 0]
    )


@given(masks())
def test_star_colouring(given_mask):
    """Neighbours differ, and two colours never make a path of four."""
    size = min(given_mask.shape)
    near = given_mask[:size, :size] | given_mask[:size, :size].T
    colours = star(Pattern.at(near.shape, *np.nonzero(near)))
    assert ((colours >= 0) == near.any(0)).all()
    near = near & ~np.eye(size, dtype=bool)
    for a, b in np.argwhere(near):
        assert colours[a] != colours[b]
        for c in np.flatnonzero(near[b]):
            for d in np.flatnonzero(near[c]):
                if len({a, b, c, d}) == 4:
                    assert len({colours[k] for k in (a, b, c, d)}) > 2

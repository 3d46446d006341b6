"""Jacobians of what is entrywise: the identity they begin with is no array of the program."""

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.func import hessian, jacrev

rng = np.random.default_rng(5)
n, m, k = 7, 3, 4
x, y, A, p = rng.random(n) + 0.5, rng.random(n) + 0.5, rng.random((n, m)), rng.random(m) + 0.1
X, W, b = rng.random((n, m)), rng.random((m, k)), rng.random(k)


def layer(W, b, X):
    return sg.tanh(X @ W + b)


def normed(W, b, X):
    h = X @ W + b
    return (h - h.mean(1, keepdim=True)) / sg.sqrt(h.var(1, keepdim=True) + 1e-3)


VECTORS = {
    "curve": (lambda p, x, y: p[0] * sg.exp(-p[1] * x) * sg.cos(p[2] * x) / y, (p, x, y)),
    "linear": (lambda p, x, A: sg.tanh(A @ p) * x, (p, x, A)),
    "chosen": (lambda p, x, A: sg.where(A @ p > 0.5, A @ p * x, x), (p, x, A)),
    "clamped": (lambda p, x, A: (A @ p - x).clamp(-0.2, 0.3).abs(), (p, x, A)),
    "bias": (lambda b, W, X: layer(W, b, X), (b, W, X)),
    "sum of a layer": (lambda W, b, X: layer(W, b, X).sum(1), (W, b, X)),
    "mean and rows": (lambda p, A, x: (A * p).sum(1) * p.sum() + x, (p, A, x)),
    "matrix by vector": (lambda p, A: sg.exp(A * p), (p, A)),
    "transposed": (lambda p, A: (sg.sin(A) * p).T, (p, A)),
    "outer": (lambda p, x: sg.exp(x[:, None] * p), (p, x)),
    "ones": (lambda p, x: p * x, (rng.random(1), x)),
    "quotient": (lambda p, x, A: x / (A @ p), (p, x, A)),
}
OTHERS = {
    "layer": (layer, (W, b, X)),
    "normed": (normed, (W, b, X)),
    "entrywise": (lambda x: sg.sin(x) ** 2, (x,)),
    "shifted": (lambda x: x[1:] * x[:-1], (x,)),
    "softmax": (lambda p, A: (A * p).softmax(1), (p, A)),
    "softmax of the other axis": (lambda p, A: (A * p).softmax(0), (p, A)),
    "joined": (lambda p, A, x: sg.cat([A @ p, x * p[0]]), (p, A, x)),
    "flat": (lambda p, A: (A * p).reshape(-1), (p, A)),
    "sorted": (lambda p, A: sg.sort(A @ p).values, (p, A)),
    "cumulated": (lambda p, A: sg.cumsum(A @ p, 0), (p, A)),
    "twice": (lambda p, A: A @ (p * (A.T @ sg.tanh(A @ p))), (p, A)),
    "of one": (lambda x, A: sg.exp(x * A[:1]), (rng.random(m), A)),
}


@pytest.mark.parametrize("name", [*VECTORS, *OTHERS])
def test_jacobians_are_those_of_eager_calls(name):
    f, args = (VECTORS | OTHERS)[name]
    program = sg.compile(jacrev(f), *args)
    want = jacrev(f)(*map(sg.tensor, args)).numpy()
    found = program(*args)
    assert found.shape == want.shape
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", VECTORS)
def test_what_is_entrywise_makes_no_identity(name):
    f, args = VECTORS[name]
    source = sg.compile(jacrev(f), *args).source
    assert not re.search(r"np\.(eye|identity|diag)", source), source


def test_a_jacobian_by_a_few_parameters_costs_as_much_as_its_entries():
    f, args = VECTORS["curve"]
    cost = sg.compile(jacrev(f), *args).cost
    assert "n²" not in str(cost), cost
    assert "n**2" not in str(cost), cost


def test_a_layer_is_diagonal_in_its_outputs_alone():
    f = sg.compile(jacrev(layer), W, b, X)
    cost = str(sg.compile(jacrev(layer), W, b, X).cost)
    assert f.source.count("_delta(") == 2  # its definition and one call
    assert "n²" not in cost, cost


def test_identities_of_the_function_are_multiplied_as_it_says():
    def f(p, x):
        return (sg.eye(3, dtype=sg.float64) * (p * x)).sum(1)

    with np.errstate(all="ignore"):
        args = np.ones(3), np.array([1.0, np.inf, 2.0])
        program = sg.compile(sg.func.value_and_grad(lambda p, x: f(p, x).sum()), *args)
        assert np.isnan(program(*args)[0])


def test_zeros_off_the_diagonal_stay_zeros_beside_infinity():
    f = sg.compile(jacrev(lambda p, x: p[0] * x + p[1]), np.ones(2), x)
    big = np.array([1.0, np.inf, 2.0])
    np.testing.assert_array_equal(f(np.ones(2), big), np.stack([big, np.ones(3)], 1))


def test_hessians_and_nested_jacobians():
    f = lambda w, A: sg.log1p(sg.exp(A @ w)).sum()  # noqa: E731
    for transform in (hessian, lambda g: jacrev(jacrev(lambda w, A: sg.tanh(A @ w)))):
        made = transform(f)
        np.testing.assert_allclose(
            sg.compile(made, p, A)(p, A), made(sg.tensor(p), sg.tensor(A)).numpy(), rtol=1e-11, atol=1e-13
        )


def test_single_precision_stays_single():
    args = [a.astype("f4") for a in (p, x, y)]
    f = VECTORS["curve"][0]
    found = sg.compile(jacrev(f), *args)(*args)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, jacrev(f)(*map(sg.tensor, args)).numpy(), rtol=1e-5)


def test_complex_residuals():
    def f(p, a):
        r = a * (p[0] + 1j * p[1]) ** 2
        return sg.cat([r.real, r.imag])

    args = np.array([1.0, 0.5]), rng.random(4) + 1j * rng.random(4)
    np.testing.assert_allclose(
        sg.compile(jacrev(f), *args)(*args), jacrev(f)(*map(sg.tensor, args)).numpy(), rtol=1e-12
    )


def project(w, t, K, P):
    """Points of a camera: K[:2] x/z (1 + k r²) + K[2:4]."""
    p = P * w + t
    xy = p[:, :2] / p[:, 2:]
    r2 = (xy * xy).sum(1)[:, None]
    return K[:2] * xy * (1 + K[4] * r2) + K[2:4]


def test_parts_of_rows_stay_rows():
    P = rng.random((n, m)) + np.array([0, 0, 3.0])
    args = rng.random(m) + 0.5, rng.random(m), rng.random(5) + 0.5, P
    program = sg.compile(jacrev(project, argnums=(0, 1, 2)), *args)
    for p in (args, (*args[:3], np.concatenate([P, P + 0.5]))):
        want = jacrev(project, argnums=(0, 1, 2))(*map(sg.tensor, p))
        for one, two in zip(program(*p), want, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-13, atol=1e-15)
    square = [line for line in program.program.source.splitlines() if re.search(r"\(n, \d, n", line)]
    assert not square  # nothing of n² entries


def test_pieces_and_rows_of_residuals_have_diagonals_of_their_own():
    source = sg.compile(jacrev(lambda x, y: sg.cat([x[1:] - x[:-1], x**3 - y])), x, y).source
    assert "np.diag((3 * (x * x)))" in source
    source = sg.compile(jacrev(lambda A: sg.sin(A).reshape(-1)), A).source
    assert "_delta(np.cos(A), (0, 1, 0, 1)).reshape(n*m, n, m)" in source


@pytest.mark.parametrize("shape", [(3, 4), (6, 4), (5, 2)])
def test_a_diagonal_that_ends_where_the_numbers_decide(shape):
    """Whether n or 5 is less, no letter tells: the size is a number then."""

    def f(x):
        wide = sg.nn.functional.pad(x, (1, 2))[:5]
        return sg.diagonal(wide.T) * 2

    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(sg.compile(f, x)(x), f(sg.tensor(x)))


def test_a_block_that_is_the_same_for_every_row_is_computed_once():
    U, V, T = (np.random.default_rng(k).normal(size=shape) for k, shape in enumerate([(4, 2), (3, 2), (4, 3)]))
    program = sg.compile(sg.func.hessian(lambda U, V, T: ((U @ V.T - T) ** 2).sum()), U, V, T)
    assert "return _delta(np.broadcast_to((V.T * 2) @ V, (p, m, m)), (0, 1, 0, 2))\n" in program.program.source
    np.testing.assert_allclose(program(U, V, T), np.einsum("ij,kl->ikjl", np.eye(4), 2 * V.T @ V))
    assert program(U, V, T).flags.writeable


def test_factors_of_two_meet_when_a_gradient_comes_twice():
    def loss(X, y):
        r = X * y
        return (0.5 * (r * r).sum(1)).sum()

    source = sg.compile(sg.func.grad(loss), np.ones((3, 2)), np.ones(2)).program.source
    assert source.count("*") == 2, source  # neither 0.5 nor 2


@pytest.mark.parametrize("likelihood", ["logistic", "poisson", "probit", "weighted"])
def test_hessians_of_likelihoods_are_weighted_grams(likelihood):
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(7, 3)), np.sign(rng.normal(size=7)), rng.normal(size=3)
    loss = {
        "logistic": lambda w, X, y: sg.nn.functional.softplus(-y * (X @ w)).mean(),
        "poisson": lambda w, X, y: (sg.exp(X @ w) - y * (X @ w)).sum(),
        "probit": lambda w, X, y: -sg.special.log_ndtr(y * (X @ w)).sum(),
        "weighted": lambda w, X, y: (y * (X @ w) ** 2).sum(),  # of both signs
    }[likelihood]
    program = sg.compile(sg.func.hessian(loss), w, X, y)
    assert "weighted_gram(X, " in program.program.source
    found = program(w, X, y)
    wanted = sg.func.hessian(loss)(*map(sg.tensor, (w, X, y))).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    if likelihood != "weighted":
        np.testing.assert_array_equal(found, found.T)

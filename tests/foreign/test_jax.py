"""Functions of JAX's programs: values and gradients are JAX's own; what is not known is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, OutOfBounds, ShapeError, UnsupportedFunction

jax = pytest.importorskip("jax", reason="programs of JAX are compared with JAX")
jnp, lax = jax.numpy, jax.lax


@pytest.fixture(autouse=True)
def double_numbers():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


FUNCTIONS = {
    "mlp": lambda A, x: jnp.tanh(A @ x + x) @ jax.nn.relu(A @ x),
    "cross_entropy": lambda A, x: -jax.nn.log_softmax(A)[jnp.arange(3), jnp.array([0, 2, 1])].mean() * x[0],
    "attention": lambda A, x: jax.nn.softmax(A @ A.T / jnp.sqrt(3.0), -1) @ (A * x),
    "logsumexp": lambda A, x: jax.scipy.special.logsumexp(A * x, axis=1),
    "cho_solve": lambda A, x: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(A @ A.T + jnp.eye(3)), x),
    "cholesky": lambda A, x: jnp.linalg.cholesky(A @ A.T + jnp.eye(3)) @ x,
    "solve": lambda A, x: jnp.linalg.solve(A, x),
    "solve_matrix": lambda A, x: jnp.linalg.solve(A, A.T * x),
    "inv": lambda A, x: jnp.linalg.inv(A) @ x,
    "det": lambda A, x: jnp.linalg.det(A) * x,
    "indexing": lambda A, x: A[1] + A[:, 2] * x + A[0, 1] + x[::-1],
    "index_arrays": lambda A, x: A[jnp.array([2, 0, 0])] * x[jnp.array([1, -1, 1])],
    "take": lambda A, x: jnp.take(A, jnp.array([[1, 0], [0, 2]]), axis=1) * x[:, None, None],
    "take_along": lambda A, x: jnp.take_along_axis(A * x, A.argmax(1)[:, None], 1),
    "where": lambda A, x: jnp.where(A > 0.5, A * A, x),
    "cumsum": lambda A, x: jnp.cumsum(A, 0) + jnp.cumprod(x) + lax.cumlogsumexp(x, reverse=True),
    "sort": lambda A, x: jnp.sort(A, 1) * x + A[jnp.argsort(x)],
    "norm": lambda A, x: jnp.linalg.norm(A) + jnp.linalg.norm(x),
    "einsum": lambda A, x: jnp.einsum("ij,kj,k->i", A, A, x),
    "batched": lambda A, x: jnp.einsum("ij,ijk->ik", A, jnp.stack([A, A.T, A])) * x,
    "activations": lambda A, x: jax.nn.gelu(A) + jax.nn.silu(A) + jax.nn.elu(A * x) + jax.nn.softplus(A) * x,
    "var": lambda A, x: A.var(0) + jnp.std(x),
    "joining": lambda A, x: jnp.concatenate([A[0], x]) * jnp.stack([x, x]).ravel(),
    "pad": lambda A, x: jnp.pad(A * x, ((1, 0), (0, 2)), constant_values=2.0),
    "prod": lambda A, x: jnp.prod(A, (0, 1)) * x + jnp.max(A, 0) - jnp.min(x),
    "triangles": lambda A, x: jnp.tril(A) @ x + jnp.triu(A, 1) @ x + jnp.diag(A) + jnp.trace(A),
    "special": lambda A, x: jax.scipy.special.erf(A) + lax.lgamma(x) + lax.digamma(x) + lax.erf_inv(x / 4),
    "eigvalsh": lambda A, x: jnp.linalg.eigh(A @ A.T)[0] * x,
    "svdvals": lambda A, x: jnp.linalg.svd(A, compute_uv=False) * x,
    "powers": lambda A, x: A**3 + x**1.5 + x**x + lax.rsqrt(x) + jnp.exp2(x),
    "clip": lambda A, x: jnp.clip(A, -0.7, 0.9) * x,
    "set": lambda A, x: jnp.asarray(A).at[0].set(x * x) * jnp.asarray(A).at[jnp.array([0, 0]), 1].add(x[0]),
    "dynamic": lambda A, x: lax.dynamic_slice(A * x, (1, 0), (2, 2)),
    "vmap": lambda A, x: jax.vmap(lambda row: jnp.sin(row) @ x)(A),
    "gradient": lambda A, x: jax.grad(lambda y: jnp.sum(jnp.tanh(A @ y) ** 2))(x),
    "reshape": lambda A, x: A.T.reshape(9)[2:8:2] * x + jnp.roll(x, 1),
    "median": lambda A, x: jnp.median(A, 1) + jnp.floor(x) * x,
    "scan": lambda A, x: lax.scan(lambda h, row: (jnp.tanh(A @ h + row), (h * row, row.sum())), x, A)[1][0],
    "scan backwards": lambda A, x: lax.scan(lambda h, row: (h * row[0] + x, h), x, A, reverse=True)[0],
    "fori_loop": lambda A, x: lax.fori_loop(0, 3, lambda i, h: jnp.sin(jnp.asarray(A)[i] * h) + x, x),
    "cond": lambda A, x: lax.cond(A[0, 0] > x[0], lambda h: jnp.sin(h) * A, lambda h: h**2 + A, x),
    "switch in a loop": lambda A, x: lax.map(lambda i: lax.switch(i, [jnp.sin, lambda y: y**2], x), jnp.arange(3)) * A,
    "loop in a loop": lambda A, x: lax.scan(
        lambda h, row: (lax.fori_loop(0, 2, lambda i, y: jnp.sin(y) * row, h), h), x, A)[1],
}  # fmt: skip


QUICK = ("mlp", "indexing", "solve", "where", "scan", "cond")
"""What the default suite compares; JAX takes a second for each of the others."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in FUNCTIONS])
def test_values_and_gradients_are_those_of_jax(name, dtype, rng):
    f = FUNCTIONS[name]
    A, x = rng.normal(size=(3, 3)).astype(dtype), rng.uniform(0.5, 1.5, size=3).astype(dtype)
    want = np.asarray(f(A, x))
    weights = np.asarray(rng.normal(size=want.shape), dtype)
    slopes = jax.grad(lambda A, x: jnp.sum(f(A, x) * weights), argnums=(0, 1))(A, x)
    tensors = [sg.tensor(A, requires_grad=True), sg.tensor(x, requires_grad=True)]
    out = sg.from_jax(f, A, x)(*tensors)
    tol = 1e-9 if dtype == "float64" else 2e-3
    assert out.numpy(force=True).dtype == want.dtype
    np.testing.assert_allclose(out.numpy(force=True), want, rtol=tol, atol=tol)
    got = sg.autograd.grad((out * sg.tensor(weights)).sum(), tensors, allow_unused=True, materialize_grads=True)
    for mine, theirs in zip(got, slopes, strict=True):
        np.testing.assert_allclose(mine.numpy(), np.asarray(theirs), rtol=tol, atol=tol * max(1, np.abs(theirs).max()))


def test_functions_of_jax_go_everywhere(rng):
    X, w, y = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=4)
    f = sg.from_jax(lambda X, w, y: jnp.sum((X @ w - y) ** 2), X, w, y)
    assert f.names == ["X", "w", "y"]
    tensors = [sg.tensor(v, requires_grad=True, name=n) for v, n in zip((X, w, y), "Xwy", strict=True)]
    assert sg.autograd.gradgradcheck(f, tensors)
    assert sg.autograd.grad(f(*tensors), tensors[1])[0].latex() == r"2 X^{\top} \left(X w - y\right)"
    np.testing.assert_allclose(sg.compile(f)(X, w, y), np.sum((X @ w - y) ** 2))
    np.testing.assert_allclose(sg.func.hessian(f, argnums=1)(*map(sg.tensor, (X, w, y))).numpy(), 2 * X.T @ X)


def test_formulas_need_no_examples_but_those_that_the_program_was_read_with(rng):
    f = sg.from_jax(lambda w, X, y: jnp.mean((jnp.tanh(X @ w) - y) ** 2), np.ones(3), np.ones((4, 3)), np.ones(4))
    assert sg.latex(f, wrt="y") == r"\frac{1}{2} \left(y - \tanh\left(X w\right)\right)"
    assert sg.judge("(y - tanh(X@w))/2", of=f, wrt="y")
    assert "X.T @" in str(sg.derive(f, wrt="w"))


def test_containers_and_several_results():
    def f(params, x):
        return {"out": params["W"] @ x + params["b"], "norm": jnp.sum(x**2)}

    params = {"W": np.eye(2), "b": np.ones(2)}
    g = sg.from_jax(f, params, np.ones(2))
    x = sg.tensor([1.0, 2.0], requires_grad=True, dtype=sg.float64)
    out = g({k: sg.tensor(v) for k, v in params.items()}, x)
    (out["out"].sum() + out["norm"]).backward()
    np.testing.assert_allclose(x.grad.numpy(), [3, 5])
    with pytest.raises(ArgumentError, match="the program was made for"):
        g({"W": np.eye(2)}, x)
    two = sg.from_jaxpr(jax.make_jaxpr(lambda x: (x, 2 * x))(1.0))
    assert [float(v) for v in two(3.0)] == [3, 6]


def test_calls_are_inlined_however_deep_they_are():
    def nested(x):
        f = jnp.sin
        for _ in range(60):
            f = jax.jit(lambda x, f=f: f(x) * 1.5 + x)
        return f(x)

    f = sg.from_jax(nested, 0.3)
    assert len(f.steps) > 60
    x = sg.tensor(0.3, requires_grad=True, dtype=sg.float64)
    f(x).backward()
    assert float(x.grad) == pytest.approx(float(jax.grad(nested)(0.3)))


@jax.custom_jvp
def own_rule(x):
    return jnp.sin(x)


own_rule.defjvp(lambda primals, tangents: (jnp.sin(primals[0]), 7 * tangents[0]))


@jax.custom_vjp
def clipped(x):
    return x * x


clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -0.1, 0.1),))


@jax.custom_vjp
def honest(x):
    return x * x


honest.defvjp(lambda x: (x * x, x), lambda x, g: (2 * x * g,))


def test_rules_of_their_own_are_those_of_the_body_or_refused():
    for f in (own_rule, clipped):
        with pytest.raises(UnsupportedFunction, match="has a derivative of its own"):
            sg.from_jax(lambda x, f=f: jnp.sum(f(x)), np.ones(3))
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    sg.from_jax(honest, np.ones(2, "float32"))(x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    kink = sg.tensor([0.0, 1.0, -1.0], requires_grad=True)
    sg.from_jax(jax.nn.relu, np.ones(3))(kink).sum().backward()
    assert kink.grad.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: jnp.abs(jnp.fft.fft(x)), "not known here: fft"),
        (lambda x: lax.scan(lambda c, y: (c, jnp.abs(jnp.fft.fft(x)) * y), 0.0, x)[1], "scan: .*not known here: fft"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused_by_name(f, words):
    with pytest.raises(UnsupportedFunction, match=words):
        sg.from_jax(f, np.ones(3))


def test_loops_and_branches_go_by_the_values_of_each_call():
    growing = sg.from_jax(lambda x: lax.while_loop(lambda s: s.sum() < 10, lambda s: s * 1.5, x), np.ones(3))
    x = sg.tensor([1.0, 1.0, 1.0], requires_grad=True, dtype=sg.float64)
    growing(x).sum().backward()
    assert x.grad.tolist() == [1.5**3] * 3
    assert growing(np.full(3, 4.0)).tolist() == [4, 4, 4]
    chosen = sg.from_jax(lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), np.ones(2))
    assert chosen(np.zeros(2)).tolist() == [1, 1]
    for f in (growing, chosen):
        program = sg.compile(f)
        for scale in (1.0, -1.0 if f is chosen else 5.0):
            given = np.full(f.shapes[0], scale)
            np.testing.assert_allclose(program(given), f(given))


def test_long_and_empty_scans():
    def summed(x):
        return lax.scan(lambda c, y: (jnp.sin(c) + y, c), x[0], x)[0]

    values = np.linspace(0, 1, 1000)
    x = sg.tensor(values, requires_grad=True)
    out = sg.from_jax(summed, values)(x)
    out.backward()
    np.testing.assert_allclose(x.grad.numpy(), jax.grad(summed)(values), rtol=1e-9, atol=1e-12)
    empty = sg.from_jax(lambda x: lax.scan(lambda c, y: (c, y * c), 2.0, x)[1], np.zeros((0, 2)))
    assert empty(np.zeros((0, 2))).shape == empty(sg.zeros(0, 2, dtype=sg.float64)).shape == (0, 2)


def test_other_arguments_are_refused():
    f = sg.from_jax(lambda x: x[jnp.array([0, 1])], np.ones(3))
    with pytest.raises(ShapeError, match=r"x has shape \(2,\) where the program was made for \(3,\)"):
        f(np.ones(2))
    with pytest.raises(ArgumentError, match="missing a required argument"):
        f()
    with pytest.raises(ArgumentError, match="takes a closed jaxpr"):
        sg.from_jaxpr(jnp.sin)
    with pytest.raises(ArgumentError, match="1 arguments, and 2 names"):
        sg.from_jaxpr(jax.make_jaxpr(jnp.sin)(1.0), ["a", "b"])
    with pytest.raises(OutOfBounds, match="gather: an index leaves its axis"):
        sg.from_jax(lambda x: jnp.take(x, jnp.array([7])), np.ones(3))(np.ones(3))

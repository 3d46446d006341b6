"""sg.check of what torch, JAX, HIPS autograd and this library compute: of scalars and of arrays, custom rules too."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.check import check
from symgrad.errors import ArgumentError

RNG = np.random.default_rng(9)
X, A = RNG.normal(size=4), RNG.normal(size=(3, 4))


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.func.jvp itself
def test_torch():
    torch = pytest.importorskip("torch")

    class Cube(torch.autograd.Function):
        factor = 3

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return Cube.factor * g * ctx.saved_tensors[0] ** 2

    def layer(p, x):
        return {"h": torch.tanh(p["A"] @ x), "norm": (p["A"] ** 2).sum()}

    assert check(Cube.apply, "torch", X)
    assert check(lambda x: Cube.apply(x).sum(), "torch", X.astype(np.float32))
    Cube.factor = 2
    report = check(Cube.apply, "torch", X)
    assert (report.diagnosis.kind, report.arguments[0].kind) == ("factor", "vjp")
    report = check(layer, "torch", {"A": A}, X)
    assert report.ok, report
    assert [a.name for a in report.arguments] == ["p_A", "x"]

    def f(x):
        return torch.tanh(torch.tensor(A) @ x)

    x = torch.tensor(X)
    assert check(f, torch.func.jacrev(f), x)
    assert check(f, torch.autograd.functional.jacobian(f, x), x)
    assert check(f, lambda primals, tangents: torch.func.jvp(f, primals, tangents), x, kind="jvp")
    assert check(f, lambda x: torch.func.vjp(f, x), x)
    assert check(f, lambda x: 2 * torch.func.jacrev(f)(x), x).diagnosis.kind == "factor"
    assert check(torch.sin, torch.cos, x).arguments[0].kind == "elementwise"


@pytest.mark.peer
def test_functions_for_torch_are_given_its_tensors_in_place_of_arrays():
    torch = pytest.importorskip("torch")

    def f(p, y):
        return ((torch.tanh(p["w"]) - torch.as_tensor(y)) ** 2).sum()

    def by_hand(p, y, power=2):
        t = torch.tanh(p["w"])
        return {"w": 2 * (t - torch.as_tensor(y)) * (1 - t**power)}, 2 * (torch.as_tensor(y) - t)

    assert check(f, by_hand, {"w": X}, X[::-1])
    assert not check(f, lambda p, y: by_hand(p, y, 1), {"w": X}, X[::-1])


@pytest.mark.peer
def test_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.custom_vjp
    def clipped(x):
        return jnp.sin(x)

    clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (2 * g * jnp.cos(x),))
    report = check(clipped, "jax", X)
    assert report.diagnosis.kind == "factor", report
    f = lambda p, x: {"h": jnp.tanh(p["A"] @ x)}  # noqa: E731
    report = check(f, "jax", {"A": A}, X)
    assert report.ok, report
    assert check(lambda x: jnp.sum(x**2), "jax", X)
    x = jnp.asarray(X)
    g = lambda x: jnp.tanh(A.astype(np.float32) @ x)  # noqa: E731
    assert check(g, jax.jacobian(g), x)
    assert check(g, lambda primals, tangents: jax.jvp(g, primals, tangents), x, kind="jvp")
    assert check(g, lambda x: jax.vjp(g, x), x)


@pytest.mark.peer
def test_hips_autograd():
    autograd = pytest.importorskip("autograd")
    anp = autograd.numpy

    def f(p, x):
        return anp.tanh(anp.dot(p["A"], x))

    assert check(f, "autograd", {"A": A}, X)
    assert check(lambda x: anp.sum(anp.sin(x)), "autograd", X)
    assert check(lambda x: anp.sum(anp.sin(x)), autograd.grad(lambda x: anp.sum(anp.sin(x))), X)
    assert check(lambda x: f({"A": A}, x), autograd.jacobian(lambda x: f({"A": A}, x)), X)

    @autograd.extend.primitive
    def square(x):
        return x**2

    autograd.extend.defvjp(square, lambda out, x: lambda g: -2 * x * g)
    assert check(square, "autograd", X).diagnosis.kind == "sign"


@pytest.mark.peer
def test_mygrad():
    mygrad = pytest.importorskip("mygrad")
    from mygrad.operation_base import Operation

    class Cube(Operation):
        where, factor = True, 3

        def __call__(self, x):
            self.variables = (x,)
            return x.data**3

        def backward_var(self, grad, index, **_):  # noqa: ARG002
            return grad * self.factor * self.variables[0].data ** 2

    def f(p, x):
        return p["W"] @ mygrad.tanh(mygrad.Tensor._op(Cube, x))

    args = {"W": RNG.normal(size=(2, 3))}, RNG.normal(size=3)
    assert check(f, "mygrad", *args)
    Cube.factor = 2
    wrong = check(f, "mygrad", *args)
    assert wrong["p_W"].ok
    assert wrong.diagnosis.kind == "factor"


def test_this_library():
    class Twice(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * y

    report = check(Twice.apply, "symgrad", X, X + 1)
    assert report.arguments[0].ok
    assert report.diagnosis.kind == "swapped"
    with pytest.raises(ArgumentError, match="leave out kind"):
        check(Twice.apply, "symgrad", X, X, kind="jvp")


@pytest.mark.peer
def test_functions_of_jax_are_followed():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.custom_vjp
    def norm(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    def norm_backward(x, g):
        return ((g - g.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),)

    norm.defvjp(lambda x: (norm(x), x), norm_backward)
    report = check(norm, "jax", RNG.normal(size=(3, 4)))
    assert report.method.startswith("the exact derivative")
    assert "as argument of div is missing" in report.diagnosis.sentence, report
    assert "forward in norm" in str(report)

    @jax.custom_jvp
    def wave(x, y):
        return jnp.sin(x) * y

    wave.defjvp(lambda p, t: (wave(*p), jnp.cos(p[0]) * p[1] * t[0] - jnp.sin(p[0]) * t[1]))
    x, y = RNG.normal(size=(2, 3))
    assert "wrong sign" in check(wave, "jax", x, y)["y"].diagnosis.sentence

    def loss(p, X):
        return jnp.mean(jax.nn.relu(X @ p["W"]) @ p["v"])

    p, X = {"W": RNG.normal(size=(3, 4)), "v": RNG.normal(size=4)}, RNG.normal(size=(5, 3))
    assert check(loss, jax.grad(loss), p, X).method.startswith("the exact derivative")
    report = check(lambda x: jnp.sum(jnp.sin(x) ** 2), lambda x: 2 * np.sin(x), x)
    assert report.diagnosis.sentence == "The derivative of sin is left out, in sin(x)."


@pytest.mark.peer
def test_lines_of_functions_of_jax_are_told():
    jax = pytest.importorskip("jax")

    def hidden(W, x):
        return jax.numpy.tanh(W @ x)

    @jax.jit
    def f(W, x):
        return jax.numpy.sum(hidden(W, x) ** 2)

    def grad(W, x):
        return jax.numpy.outer(2 * hidden(W, x), x)

    W, x = jax.numpy.asarray([[0.3, -0.5], [0.7, 0.2]]), jax.numpy.asarray([0.4, 1.1])
    report = check(f, grad, W, x, argnums=0)
    assert "The derivative of tanh is left out" in report.diagnosis.sentence, report
    assert "return jax.numpy.tanh(W @ x)" in report.diagnosis.line, report

    def loop(x):
        h = x
        for _ in range(3):
            h = jax.numpy.sin(h) + 0.5 * h * x
        return (h**2).sum()

    def loop_grad(x):
        hs = [x]
        for _ in range(3):
            hs.append(jax.numpy.sin(hs[-1]) + 0.5 * hs[-1] * x)
        g, d = 2 * hs[-1], 0
        for h in hs[-2::-1]:
            d, g = d + g * 0.5 * h, g * jax.numpy.cos(h)  # and 0.5 * x * g
        return d + g

    report = check(loop, loop_grad, x)
    assert "is missing, each time the line runs" in report.diagnosis.sentence, report
    assert "h = jax.numpy.sin(h)" in report.diagnosis.line


@pytest.mark.peer
def test_programs_of_jax_with_unknown_primitives_are_measured():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def product(x):
        return jnp.prod(jnp.sin(jnp.fft.fft(x).real))

    report = check(product, jax.grad(product), RNG.normal(size=4))
    assert report.ok
    assert report.method.startswith("central differences")


@pytest.mark.peer
def test_sparse_jacobians_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    D = sparse.diags_array([np.ones(4), -np.ones(3)], offsets=[0, 1], format="csr")
    A, x = D.toarray(), RNG.normal(size=4)

    def f(x):
        return np.sin(A @ x)

    for form in ("csr", "coo", "csc"):
        assert check(f, lambda x, form=form: (sparse.diags_array(np.cos(A @ x)) @ D).asformat(form), x)
    assert "sin is left out" in check(f, lambda x: D, x).diagnosis.sentence
    linear = sparse.linalg.LinearOperator

    def jacobian(x, c=1):
        return linear((4, 4), matvec=lambda v: c * np.cos(A @ x) * (A @ v), rmatvec=lambda v: A.T @ (np.cos(A @ x) * v))

    assert check(f, jacobian, x)
    assert "2 times" in check(f, lambda x: jacobian(x, 2), x).diagnosis.sentence


def test_gradients_that_are_written_into_an_array():
    def into(x, grad):
        grad[:] = 2 * x

    def vjp(x, grad):
        return grad * 2 * x

    x = RNG.normal(size=3)
    for written in (into, vjp):  # the name alone does not tell
        assert check(lambda x: (x**2).sum(), written, x)
        assert "1/3" in check(lambda x: 3 * (x**2).sum(), written, x).diagnosis.sentence


def test_a_gradient_that_writes_into_the_cotangent_is_told():
    def into(x, g):
        g[:] = 2 * x

    with pytest.raises(ArgumentError, match="call that parameter out"):
        check(lambda x: (x**2).sum(), into, RNG.normal(size=3))


@pytest.mark.peer
def test_a_rule_that_a_scan_calls_is_followed():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def loss(factor):
        @jax.custom_vjp
        def gate(x):
            return jnp.sin(x) * x

        gate.defvjp(lambda x: (gate(x), x), lambda x, g: (g * (factor * jnp.cos(x) * x + jnp.sin(x)),))

        def f(x, w):
            return jax.lax.scan(lambda h, row: (gate(w * h + row), h.sum()), jnp.ones(2), x)[0].sum()

        return f

    x = np.random.default_rng(0).normal(size=(3, 2))
    report = check(loss(1), "jax", x, 0.7)
    assert report
    assert report.method.startswith("the exact")
    wrong = check(loss(0), "jax", x, 0.7)
    assert "sin(x) is missing, each time the line runs" in wrong.diagnosis.sentence


@pytest.mark.peer
def test_programs_of_jax_are_traced_twice_and_run_from_then_on():
    jax = pytest.importorskip("jax")
    calls = []

    def f(x):
        calls.append(isinstance(x, jax.core.Tracer))
        return jax.numpy.sum(jax.numpy.tanh(x) ** 2)

    assert check(f, lambda x: 2 * np.tanh(x) * (1 - np.tanh(x) ** 2), jax.numpy.asarray(RNG.normal(size=3)))
    assert sum(calls) <= 4  # two for each precision

    def drawn(x):
        return jax.numpy.sum(x) * np.random.normal()  # noqa: NPY002

    with pytest.raises(ArgumentError, match="not deterministic"):
        check(drawn, lambda x: x, jax.numpy.asarray(RNG.normal(size=3)))


@pytest.mark.peer
def test_rules_of_jax_may_make_numbers_of_what_they_are_given():
    jax = pytest.importorskip("jax")

    @jax.custom_vjp
    def square(x):
        return x**2

    square.defvjp(lambda x: (square(x), x), lambda x, g: (g * 2 * float(x),))
    assert check(lambda x: 3 * square(x), "jax", 0.7)


def test_lines_are_those_of_the_user_and_not_of_the_wrappers_of_a_library():
    """It was tracer.py of HIPS autograd, through which all of its functions are called."""
    pytest.importorskip("autograd")
    from autograd import numpy as anp
    from autograd.extend import defvjp, primitive

    c = RNG.normal(size=3)

    @primitive
    def quadratic(A, b):
        return b @ anp.linalg.solve(A, b) + (A @ b) @ c

    defvjp(
        quadratic,
        lambda ans, A, b: lambda g: g * (anp.outer(c, b) - anp.outer(anp.linalg.solve(A, b), anp.linalg.solve(A.T, b))),
        lambda ans, A, b: lambda g: g * (anp.linalg.solve(A, b) + anp.linalg.solve(A.T, b) + A.T @ c),
    )
    report = check(quadratic, "autograd", RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=3))
    assert not report.ok
    assert report.diagnosis.kind == "transpose"
    assert "test_libraries.py" in report.diagnosis.line

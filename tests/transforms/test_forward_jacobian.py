"""Jacobians by forward mode: one run of the function, whatever is in it, inside of whatever derivative."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.autograd import Function
from symgrad.errors import AutogradError
from symgrad.func import grad, hessian, jacfwd, jacobian, jacrev, jvp, vmap

RNG = np.random.default_rng(3)
X = RNG.uniform(0.3, 1.7, 3)


def same(a, b):
    np.testing.assert_allclose(
        sg.as_tensor(a).numpy(force=True), sg.as_tensor(b).numpy(force=True), rtol=1e-10, atol=1e-12
    )


def mixed(x):
    m = sg.outer(x, x.sin()) + 4 * sg.eye(3, dtype=x.dtype)
    s = x.sort(descending=True)[0].cumsum(0) * sg.cat([x[1:], x[:1] ** 2])
    return sg.linalg.solve(m, s) + sg.linalg.inv(m)[:, 0] * x.prod() + sg.softmax(x, 0) * m.norm()


def looping(x):
    y = x * 1
    for k in range(3):
        y[k] = y[(k + 1) % 3].clone() * x[k]
        y.view(3, 1).add_(x[:, None].flip(0))
    return sg.where(y > 1, y, y * y).reshape(3, 1) @ x[None]


FUNCTIONS = {
    "mixed": mixed,
    "looping": looping,
    "number": lambda x: (x * x).sum().exp(),
    "fourier": lambda x: sg.fft.rfft(x).abs(),
    "convolution": lambda x: sg.nn.functional.conv1d(x.reshape(1, 1, 3), x.sin().reshape(1, 1, 3), padding=1),
    "statistics": lambda x: x.var() + x.logsumexp(0) * x.amax() + sg.linalg.det(sg.outer(x, x) + sg.eye(3)),
    "mapped": lambda x: vmap(grad(lambda r: (r * r).sum() * x[0]))(sg.outer(x, x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_the_jacobian(name):
    f = FUNCTIONS[name]
    same(jacfwd(f)(X), jacrev(f)(X))
    same(jacfwd(jacfwd(f))(X), jacrev(jacrev(f))(X))
    same(jacfwd(jacrev(f))(X), jacrev(jacrev(f))(X))
    same(jacrev(jacfwd(f))(X), jacrev(jacrev(f))(X))
    v = RNG.standard_normal(3)
    same(jvp(jacfwd(f), (X,), (v,))[1], jvp(jacrev(f), (X,), (v,))[1])
    same(vmap(jacfwd(f))(np.stack([X, X + 1])), vmap(jacrev(f))(np.stack([X, X + 1])))


def test_the_function_runs_once():
    runs = []

    def f(x):
        runs.append(x.requires_grad)
        return sg.tanh(x) * x.sum()

    jacfwd(f)(X)
    assert runs == [False]
    sg.autograd.functional.jacobian(f, sg.tensor(X), strategy="forward-mode", vectorize=True)
    assert len(runs) == 2


def test_arguments_and_containers():
    def f(p, k, *, scale):
        return {"a": p["w"] * p["b"] * k * scale, "b": (p["w"].sum(),)}, p["b"] * 2

    p = {"w": sg.tensor(X), "b": sg.tensor(2.0, dtype=sg.float64)}
    found, aux = jacfwd(f, has_aux=True)(p, 3.0, scale=2.0)
    assert aux.item() == 4.0
    assert isinstance(aux, sg.Tensor)
    same(found["a"]["w"], np.eye(3) * 12)
    same(found["a"]["b"], X * 6)
    assert found["b"][0]["b"].shape == ()
    first, second = jacfwd(lambda a, b: sg.outer(a, b), argnums=(1, 0))(np.ones(2), np.ones(3))
    assert (first.shape, second.shape) == ((2, 3, 3), (2, 3, 2))
    assert jacfwd(lambda x: x)(sg.ones(0)).shape == (0, 0)
    assert jacfwd(lambda x: x[:0])(sg.ones(3)).shape == (0, 3)
    assert jacfwd(lambda x: sg.ones(2))(sg.ones(3)).tolist() == [[0.0] * 3] * 2


def test_dtypes_are_those_of_the_outputs():
    x = sg.tensor(X, dtype=sg.float32)
    assert jacfwd(lambda x: x.double())(x).dtype == np.float64
    assert jacfwd(lambda x: x * sg.tensor(2.0, dtype=sg.float64))(x[0]).dtype == np.float64
    assert jacfwd(lambda x: x * sg.tensor(2.0, dtype=sg.float64))(x).dtype == np.float32
    assert jacfwd(lambda x: x > 0)(x).dtype == bool


def test_complex_numbers_are_refused():
    with pytest.raises(AutogradError, match="jacfwd: Expected all inputs to be real but received complex tensor at f"):
        jacfwd(lambda z: z * z)(sg.tensor([1j]))
    with pytest.raises(AutogradError, match="jacfwd: Expected all outputs to be real but received complex"):
        jacfwd(lambda x: x * 1j)(X)


def test_random_numbers():
    f = lambda x: x * sg.rand(3, dtype=sg.float64)  # noqa: E731
    with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
        jacfwd(f)(X)
    for kind in ("same", "different"):
        found = jacfwd(f, randomness=kind)(X)
        assert np.count_nonzero(found.numpy()) == 3
    g = lambda x: x * sg.rand(1, dtype=sg.float64)  # noqa: E731
    assert len(set(np.diag(jacfwd(g, randomness="same")(X).numpy()))) == 1
    found, aux = jacfwd(lambda x: (g(x), g(x) * 1), has_aux=True, randomness="different")(X)
    assert len(set(np.diag(found.numpy()))) == 3
    assert aux.shape == (3,)


def test_graphs_of_others_go_on():
    w = sg.tensor(2.0, requires_grad=True, dtype=sg.float64)
    x = sg.tensor(X, requires_grad=True)
    found = jacfwd(lambda x: w * x * x)(x)
    assert type(found.grad_fn).__name__ == "ViewBackward0"
    found.sum().backward()
    same(w.grad, 2 * X.sum())
    same(x.grad, np.full(3, 4.0))
    assert not jacfwd(lambda x: x * x)(X).requires_grad
    with sg.no_grad():
        assert not jacfwd(lambda x: w * x * x)(x).requires_grad


def test_formulas():
    x, A = sg.tensor(X), sg.tensor(RNG.standard_normal((5, 3)), name="A")
    f = lambda x: sg.tanh(A @ x)  # noqa: E731
    for found in (
        jacfwd(f)(x),
        sg.autograd.functional.jacobian(f, sg.tensor(X, name="x"), strategy="forward-mode"),
    ):
        assert found.latex() == jacobian(f)(x).latex()
    assert jacfwd(f)(x).shape == (5, 3)
    x.requires_grad_()
    assert jacfwd(lambda t: t * t)(x).latex() == jacrev(lambda t: t * t)(x).latex()
    same(sg.compile(lambda x: jacfwd(f)(x) * 2)(X), 2 * jacrev(f)(X))
    same(sg.compile(jacfwd(f))(X), jacrev(f)(X))


def test_a_derivative_that_only_the_formula_has():
    zero = sg.zeros(2, dtype=sg.float64)
    for f in (lambda x: (x * x).sum().sqrt(), lambda x: sg.where(x > 0, x.sqrt(), x * 0)):
        assert not jacfwd(f)(zero).numpy().any()
    with np.errstate(over="ignore"):
        found = jacfwd(lambda x: sg.log1p(sg.exp(x)))(sg.tensor([1000.0, 0.0], dtype=sg.float64))
    assert found.tolist() == [[1.0, 0.0], [0.0, 0.5]]


def test_functional():
    J, H = sg.autograd.functional.jacobian, sg.autograd.functional.hessian
    x, y = sg.tensor(X), sg.tensor(X + 1)
    forward = {"strategy": "forward-mode", "vectorize": True}
    f = lambda a, b: (a * b.sin(), a.sum())  # noqa: E731
    for one, other in zip(J(f, (x, y), **forward), J(f, (x, y)), strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.grad_fn is None
            same(a, b)
    same(J(mixed, x, **forward), J(mixed, x))
    assert J(mixed, x.clone().requires_grad_(), **forward).requires_grad
    g = lambda x: (x**3).sum() * x[0] + mixed(x).sum()  # noqa: E731
    same(H(g, x, outer_jacobian_strategy="forward-mode", vectorize=True), H(g, x))
    with pytest.raises(RuntimeError, match="`strict=True` and `strategy=.forward-mode.` are not supported together"):
        J(mixed, x, strict=True, strategy="forward-mode")


# ---------------------------------------------------------------------------------------------- custom functions


class Cube(Function):
    """With a tangent map, and no backward."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return 3 * x * x * dx


class Saving(Function):
    """The same, which saves in ``forward``."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        ctx.x = x
        return x**3

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return 3 * x * ctx.x * dx


class Transposed(Function):
    """The same, with a backward only."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Both(Function):
    """Several arguments and outputs."""

    @staticmethod
    def forward(x, y):
        return x * y, x.sin() * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs, *output)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y, _, _ = ctx.saved_tensors
        return dx * y + x * dy, x.cos() * y * dx + x.sin() * dy

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h * x.cos() * y, g * x + h * x.sin()


def along(f, v=1.0):
    return lambda x: jvp(f, (x,), (x * 0 + v,))[1]


@pytest.mark.parametrize("function", [Cube, Saving, Transposed])
def test_tangents_of_functions_nest(function):
    f = lambda x: function.apply(x) * x  # noqa: E731
    same(jacfwd(f)(X), np.diag(4 * X**3))
    same(jacfwd(jacfwd(f))(X).sum(0), np.diag(12 * X**2))
    same(along(along(f))(X), 12 * X**2)
    same(along(along(along(f)))(X), 24 * X)
    same(jacfwd(along(f))(X), np.diag(12 * X**2))
    same(along(jacfwd(f))(X), np.diag(12 * X**2))
    same(vmap(along(f))(X), 4 * X**3)
    same(sg.autograd.functional.jacobian(f, sg.tensor(X), strategy="forward-mode"), np.diag(4 * X**3))


def test_functions_of_several_arguments_nest():
    f = lambda a, b: Both.apply(a, b)[0] * Both.apply(b, a)[1]  # noqa: E731
    plain = lambda a, b: a * b * (b.sin() * a)  # noqa: E731
    for k in (0, 1):
        want = jacrev(jacrev(plain, argnums=k))(X, X + 1)
        for first, second in ((jacfwd, jacfwd), (jacfwd, jacrev), (jacrev, jacfwd)):
            same(first(second(f, argnums=k))(X, X + 1), want)
    same(hessian(lambda x: f(x, x).sum())(X), hessian(lambda x: plain(x, x).sum())(X))
    same(along(along(grad(lambda x: f(x, x).sum())))(X), along(along(grad(lambda x: plain(x, x).sum())))(X))


class Hiding(Function):
    """Saves what is neither an argument nor an output."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x * x)
        return x**3

    @staticmethod
    def jvp(ctx, dx):
        (square,) = ctx.saved_tensors
        return 3 * square * dx


def test_what_cannot_be_followed_is_refused():
    same(jacfwd(Hiding.apply)(X), np.diag(3 * X**2))
    with pytest.raises(AutogradError, match="Hiding saved a tensor that is neither an argument nor an output"):
        along(along(Hiding.apply))(X)


class InPlace(Function):
    """Changes its argument, and its tangent with it."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def jvp(ctx, dx):
        return dx.mul_(2)


def test_functions_that_change_their_argument():
    def f(x):
        y = x * x
        z = InPlace.apply(y)
        assert z is y
        return y * x

    same(jacfwd(f)(X), np.diag(6 * X**2))
    with pytest.raises(AutogradError, match="which forward mode can follow once"):
        along(along(f))(X)


# ---------------------------------------------------------------------------------------------- reverse mode


def by_rows(f, x):
    leaf = sg.tensor(x).requires_grad_()
    out = f(leaf)
    units = sg.eye(out.numel(), dtype=sg.float64).reshape(out.numel(), *out.shape)
    rows = [sg.autograd.grad(out, leaf, u, retain_graph=True, materialize_grads=True)[0] for u in units]
    return sg.stack(rows).reshape(*out.shape, *leaf.shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_pulled_back_at_once(name):
    f = FUNCTIONS[name]
    want = by_rows(f, X)
    for size in (None, 1, 2, 100):
        same(jacrev(f, chunk_size=size)(X), want)
    same(sg.autograd.functional.jacobian(f, sg.tensor(X)), want)
    x = sg.tensor(X, requires_grad=True)
    same(sg.autograd.jacobian(f(x), x), want)


def test_rows_that_are_not_for_bundles():
    """Hooks, custom functions and half precision see one row at a time, as ever; nan is asked about."""
    seen = []

    def hooked(x):
        y = x * x
        y.register_hook(lambda g: seen.append(g.shape))
        return y * 3

    same(jacrev(hooked)(X), np.diag(6 * X))
    assert seen == [(3,)] * 3
    same(jacrev(Transposed.apply)(X), np.diag(3 * X**2))
    half = jacrev(lambda x: x * x)(sg.tensor([1.0, 2.0], dtype=sg.float16))
    assert (half.dtype, half.tolist()) == (np.float16, [[2.0, 0.0], [0.0, 4.0]])
    branched = jacrev(lambda x: sg.where(x > 0, x.sqrt(), 0 * x))(sg.tensor([0.0, 4.0]))
    assert branched.tolist() == [[0.0, 0.0], [0.0, 0.25]]
    with np.errstate(over="ignore"):
        far = jacrev(lambda x: sg.log1p(sg.exp(x)))(sg.tensor([1000.0, 0.0]))
    assert far.tolist() == [[1.0, 0.0], [0.0, 0.5]]


def test_jacobians_own_their_memory():
    first, second = jacrev(lambda a, b: a + b, argnums=(0, 1))(X, X)
    first[0, 0] = 7
    assert second[0, 0].item() == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        jacrev(lambda x: (y := x.exp(), y.clone(), y.mul_(2))[1])(X)


# ---------------------------------------------------------------------------------------------- of gradients


def energy(x, A):
    return (A @ x).tanh().pow(2).sum() + (x * x.exp()).sum()


@pytest.mark.parametrize("inner", ["grad", "jacrev"])
def test_of_a_gradient_all_rows_go_at_once(inner):
    """The Hessian by composition: the function runs once, and one backward pass takes all rows."""
    A, x, runs = sg.tensor(np.arange(12.0).reshape(4, 3) / 9), sg.tensor([0.3, -0.2, 0.1], dtype=sg.float64), []

    def f(x, A):
        runs.append(1)
        return energy(x, A)

    found = sg.func.jacfwd(getattr(sg.func, inner)(f))(x, A)
    assert len(runs) == 1
    np.testing.assert_allclose(found.numpy(), sg.func.hessian(energy)(x, A).numpy(), rtol=1e-12, atol=1e-15)
    mixed = sg.func.jacfwd(getattr(sg.func, inner)(f), argnums=(0, 1))(x, A)
    assert [tuple(part.shape) for part in mixed] == [(3, 3), (3, 4, 3)]
    by_rows = sg.func.jacrev(sg.func.grad(energy), argnums=(0, 1))(x, A)
    for a, b in zip(mixed, by_rows, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-15)


def test_of_a_gradient_beside_what_others_differentiate_by():
    """A leaf from outside: the Hessian has a history."""
    w, x = sg.tensor(2.0, requires_grad=True), sg.tensor([0.5, 1.0])
    H = sg.func.jacfwd(sg.func.grad(lambda x: (w * x**3).sum()))(x)
    assert H.tolist() == [[6.0, 0.0], [0.0, 12.0]]
    H.sum().backward()
    assert w.grad.item() == 9.0


def test_of_a_gradient_with_a_function_of_the_users_own():
    """Its ``jvp`` counts, as in every forward derivative."""

    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return t * 3 * x**2

    H = sg.func.jacfwd(sg.func.grad(lambda x: Cube.apply(x).sum()))(sg.tensor([0.5, 1.0]))
    assert H.tolist() == [[3.0, 0.0], [0.0, 6.0]]

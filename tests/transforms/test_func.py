"""Derivatives of functions: any order, any nesting, any container."""

import warnings

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError, AutogradError, CompileError
from symgrad.func import grad, hessian, jacfwd, jacobian, jacrev, jvp, linearize, value_and_grad, vjp

rng = np.random.default_rng(1)


def close(a, b, **tolerance):
    np.testing.assert_allclose(a.numpy() if isinstance(a, sg.Tensor) else a, b, **({"rtol": 1e-12} | tolerance))


def test_grad_of_numbers_arrays_and_tensors():
    assert grad(lambda x: x**3)(2).item() == 12.0
    assert grad(lambda x: x**3)(2.0).dtype == np.float64
    x = np.array([1.0, 2.0], np.float32)
    g = grad(lambda x: (x**2).sum())(x)
    assert g.dtype == np.float32
    assert g.tolist() == [2.0, 4.0]
    assert not g.requires_grad


def test_formulas_come_along():
    g = grad(lambda x: (x**2).sum())(np.array([1.0, 2.0]))
    assert repr(g.term) == "<term mul(2, x)>"
    value, _ = value_and_grad(lambda w: (w**2).sum())(np.array([1.0]))
    assert not value.requires_grad
    assert value.term.op.name == "sum"


def test_argnums_and_structures():

    def f(p, x):
        return (p["w"] * x).sum() + p["b"] ** 2

    p = {"w": np.array([1.0, 2.0]), "b": 3.0}
    g = grad(f)(p, np.array([5.0, 6.0]))
    assert g["w"].tolist() == [5.0, 6.0]
    assert g["b"].item() == 6.0
    gp, gx = grad(f, argnums=(0, 1))(p, np.array([5.0, 6.0]))
    assert gp["b"].item() == 6.0
    assert gx.tolist() == [1.0, 2.0]
    assert grad(f, argnums=-1)(p, np.array([5.0, 6.0])).tolist() == [1.0, 2.0]


def test_has_aux():

    def f(x):
        return ((x**2).sum(), {"twice": x * 2})

    g, aux = grad(f, has_aux=True)(np.array([1.0, 2.0]))
    assert g.tolist() == [2.0, 4.0]
    assert aux["twice"].tolist() == [2.0, 4.0]
    (value, aux), g = value_and_grad(f, has_aux=True)(np.array([1.0, 2.0]))
    assert value.item() == 5.0
    compiled, aux = sg.compile(grad(f, has_aux=True))(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(compiled, [2.0, 4.0])
    np.testing.assert_array_equal(aux["twice"], [2.0, 4.0])


def test_unused_arguments_have_zero_gradient():
    assert grad(lambda x, y: (x * 2).sum(), argnums=1)(np.ones(2), np.ones(3)).tolist() == [0, 0, 0]
    assert grad(lambda x: sg.tensor(3.0))(1.0).item() == 0.0
    np.testing.assert_array_equal(sg.compile(grad(lambda x, y: x * 2, argnums=1))(1.0, np.ones(3)), [0, 0, 0])


def test_numbers_have_no_gradient():
    """A number that came out of a tensor is no constant; its gradient would be a zero that nobody asked for."""
    for f in (lambda x: 3.0, lambda x: x.sum().item()):
        with pytest.raises(ArgumentError, match=r"Expected f\(\*args\) to return a Tensor, got <class 'float'>"):
            grad(f)(sg.ones(2))
    with pytest.raises(ArgumentError, match=r"Expected f\(\*args\) to return a Tensor, got <class 'float'>"):
        grad(lambda x: (x.sum().item(), x), has_aux=True)(sg.ones(2))


@pytest.mark.parametrize("given", ["3.0", "{'a': x, 'b': x.sum().item()}"])
@pytest.mark.parametrize(
    "transform", ["vjp(f, x)", "jvp(f, (x,), (x,))", "jacrev(f)(x)", "jacfwd(f)(x)", "linearize(f, x)"]
)
def test_numbers_among_results_have_no_derivative(given, transform):
    with pytest.raises(ArgumentError, match=r"to return only tensors, got unsupported type <class 'float'>. A number"):
        eval(f"t.func.{transform}", {"t": sg, "x": sg.ones(2), "f": eval(f"lambda x: {given}")})


ORDERS = {"tanh": (sg.tanh, mpmath.tanh), "x**x": (lambda x: x**x, lambda x: x**x)}


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("point", [0.7, 1.3])
def test_orders_one_to_six(name, point):
    f, exact = ORDERS[name]
    with mpmath.workdps(50):
        truth = [float(mpmath.diff(exact, mpmath.mpf(point), k)) for k in range(1, 7)]
    for k in range(6):
        f = grad(f)
        np.testing.assert_allclose(f(point).item(), truth[k], rtol=1e-12)
        np.testing.assert_allclose(sg.compile(f)(point), truth[k], rtol=1e-12)


def test_perturbations_are_not_confused():
    assert grad(lambda x: x * grad(lambda y: x + y)(x))(3.0).item() == 1.0
    assert jvp(lambda x: x * jvp(lambda y: x + y, (x,), (1.0,))[1], (3.0,), (1.0,))[1].item() == 1.0
    assert grad(lambda x: jvp(lambda y: x * y, (x,), (1.0,))[1])(3.0).item() == 1.0
    assert jvp(lambda x: grad(lambda y: x * y * y)(x), (3.0,), (1.0,))[1].item() == 12.0

    def f(x):
        return x * grad(lambda y: y * y * x)(x)

    np.testing.assert_allclose(sg.compile(grad(f))(3.0), grad(f)(3.0).item())


def curved(x):
    return (sg.sin(x) * x).sum() + x.prod()


def test_hessian_vector_products_four_ways():
    x, v = rng.standard_normal(4), rng.standard_normal(4)
    H = hessian(curved)(x).numpy()
    close(jvp(grad(curved), (x,), (v,))[1], H @ v, rtol=1e-10)
    close(grad(lambda x: jvp(curved, (x,), (v,))[1])(x), H @ v, rtol=1e-10)
    close(vjp(grad(curved), x)[1](v)[0], H @ v, rtol=1e-10)
    close(jvp(lambda x: jvp(curved, (x,), (v,))[1], (x,), (v,))[1], v @ H @ v, rtol=1e-10)
    close(sg.compile(hessian(curved))(x), H, rtol=1e-10, atol=1e-12)


def test_jacobian_axes_are_outputs_then_inputs():
    A, x = rng.standard_normal((3, 4)), rng.standard_normal(4)

    def f(x):
        return sg.tanh(sg.tensor(A) @ x)

    J = (1 - np.tanh(A @ x) ** 2)[:, None] * A
    for transform in (jacobian, jacrev, jacfwd):
        close(transform(f)(x), J)
    close(sg.compile(jacobian(f))(x), J)
    assert jacobian(lambda x: {"a": x, "b": x.sum()})(x)["a"].shape == (4, 4)
    Ja, Jb = jacobian(lambda a, b: sg.outer(a, b), argnums=(0, 1))(np.ones(2), np.ones(3))
    assert Ja.shape == (2, 3, 2)
    assert Jb.shape == (2, 3, 3)
    assert jacobian(lambda x: x)(np.ones((0,))).shape == (0, 0)


def test_vjp_and_jvp_are_adjoint():
    x, v = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    for f in (
        lambda x: sg.softmax(x, 1),
        lambda x: sg.inverse(x @ x.T + 1) @ x,
        lambda x: sg.cumsum(x, 0).amax(1),
        lambda x: sg.logsumexp(x, 0),
        lambda x: sg.det(x) + sg.norm(x),
        lambda x: sg.var(x, 0),
        lambda x: sg.where(x > 0, x, x * x).prod(0),
        lambda x: sg.cat([x[0], x[:, 1]], 0),
        lambda x: sg.maximum(x, 0 * x) + sg.sigmoid(x),
    ):
        out, pushed = jvp(f, (x,), (v,))
        again, pull = vjp(f, x)
        close(out, again.numpy())
        u = rng.standard_normal(out.shape)
        np.testing.assert_allclose((pushed * u).sum().item(), (pull(u)[0] * v).sum().item(), rtol=1e-9)


def test_vjp_of_several_results_and_aux():
    out, pull, aux = vjp(lambda x, y: ((x * y, x.sum()), "note"), np.ones(2), np.ones(2) * 3, has_aux=True)
    assert aux == "note"
    gx, gy = pull((np.ones(2), 1.0))
    assert gx.tolist() == [4.0, 4.0]
    assert gy.tolist() == [1.0, 1.0]
    assert out[1].item() == 2.0


def test_complex_arguments():
    z = np.array([1 + 2j])
    close(grad(lambda z: (z.abs() ** 2).sum())(z), 2 * z)
    close(jvp(lambda z: z * z, (z,), (np.array([1j]),))[1], 2 * z * 1j)


def test_outer_leaves_stay_differentiable():
    w = sg.tensor(2.0, requires_grad=True, dtype=np.float64)
    g = grad(lambda x: w * x**2)(3.0)
    g.backward()
    assert w.grad.item() == 6.0
    x = sg.tensor(3.0, requires_grad=True, dtype=np.float64)
    grad(lambda x: x**3)(x).backward()
    assert x.grad.item() == 18.0
    with sg.no_grad():
        assert not grad(lambda x: x**3)(x).requires_grad


def test_transforms_inside_compiled_functions():

    def f(x):
        return grad(lambda y: (y**3).sum())(x) * 2 + jvp(lambda y: y * y, (x,), (x,))[1]

    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(sg.compile(f)(x), 6 * x**2 + 2 * x * x)
    np.testing.assert_allclose(sg.compile(f)(x + 1), 8 * (x + 1) ** 2)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: grad(lambda x: x)(np.ones(2)),
            AutogradError,
            r"scalar Tensor, got tensor with 1 dims. Maybe you wanted",
        ),
        (lambda: grad(lambda x: x.sum())(np.arange(3)), ArgumentError, "dtype int64"),
        (lambda: grad(lambda x: None)(1.0), ArgumentError, "to return a Tensor, got <class 'NoneType'>"),
        (lambda: grad(lambda x: x, argnums=1)(1.0), ArgumentError, "Got argnum=1, but only 1 positional inputs"),
        (lambda: jacrev(lambda x: x, argnums=-2)(1.0), ArgumentError, "but only 1 positional inputs"),
        (lambda: grad(lambda x: x, argnums=())(1.0), ArgumentError, "argnums must be non-empty"),
        (lambda: grad(lambda x, y: x, argnums=(0, -2))(1.0, 2.0), ArgumentError, "argnums elements must be unique"),
        (lambda: grad(lambda x: x, argnums=0.0)(1.0), ArgumentError, "argnums must be int or Tuple"),
        (lambda: grad(lambda x: x, argnums=("0",))(1.0), ArgumentError, "argnum must be int, got"),
        (lambda: jacrev(lambda x: x, chunk_size=0), ArgumentError, "jacrev: `chunk_size` should be greater than 0"),
        (lambda: jacfwd(lambda x: x, randomness="no"), ArgumentError, "Only allowed values for randomness"),
        (lambda: grad(lambda x: x)("a"), ArgumentError, "holds str"),
        (lambda: grad(lambda x: x, has_aux=True)(1.0), ArgumentError, r"grad_and_value\(f\)\(\*args\): output of"),
        (lambda: vjp(lambda x: [x, x], 1.0, has_aux=True), ArgumentError, r"vjp\(f, \*primals\): output of function"),
        (lambda: vjp(lambda x: None, 1.0), ArgumentError, "has non-empty output .got output = None"),
        (lambda: jacrev(lambda x: ())(1.0), ArgumentError, "has non-empty output"),
        (lambda: vjp(lambda x: (x, "text"), 1.0), ArgumentError, "to return only tensors, got unsupported type"),
        (lambda: vjp(lambda x: (x, x), 1.0)[1]((1.0,)), ArgumentError, "Expected pytree structure of cotangents"),
        (lambda: jvp(lambda x: x, 1.0, 1.0), ArgumentError, "Expected primals to be a tuple"),
        (
            lambda: jvp(lambda x: x, (1.0,), [1.0]),
            ArgumentError,
            r"\(\*,\) and tangents with structure \[\*\]",
        ),
        (lambda: jvp(lambda x: x, ((),), ((),)), ArgumentError, "at least one Tensor"),
        (
            lambda: jvp(lambda x: sg.tensor(2.0), (1.0,), (1.0,), strict=True),
            AutogradError,
            "output of f is independent of the",
        ),
        (lambda: jvp(lambda x: None, (1.0,), (1.0,)), ArgumentError, "that has non-empty output"),
        (lambda: jvp(lambda x: x, (1.0,), (1.0, 2.0)), ArgumentError, "the same python structure"),
        (
            lambda: jvp(lambda x: x, (np.ones(2),), (np.ones(3),)),
            ArgumentError,
            "forward gradient that has a different size",
        ),
        (lambda: vjp(lambda x: x, np.ones(2))[1](np.ones(3)), AutogradError, "Mismatch in shape"),
        (lambda: sg.compile(grad(lambda x: x), np.ones(2)), CompileError, "one scalar result"),
        (
            lambda: sg.compile(grad(lambda x, k: x * len(k), argnums=1), 1.0, "a"),
            CompileError,
            "no array of floating dtype",
        ),
    ],
)
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_derivatives_inside_inference_mode():
    x = sg.tensor([1.0, 2.0])
    with sg.inference_mode():
        inside = sg.tensor([3.0, 4.0])
        close(grad(lambda x: (x * x * inside).sum())(x), [6.0, 16.0])
        close(grad(lambda x: (x**3).sum())(inside), [27.0, 48.0])
        close(jacrev(grad(lambda x: (x**3).sum()))(x), np.diag([6.0, 12.0]))
        out, pull = vjp(lambda x: x**2, x)
        close(pull(sg.ones(2))[0], [2.0, 4.0])
        close(linearize(lambda x: x**2, x)[1](sg.ones(2)), [2.0, 4.0])
        assert not out.requires_grad
        assert not grad(lambda x: (x * x).sum())(sg.ones(2, requires_grad=True)).requires_grad
        assert sg.is_inference_mode_enabled()

        def shifted(x):
            with sg.inference_mode():
                constant = x**2
            return (x - constant).sum()

        close(grad(shifted)(x), [1.0, 1.0])


def test_no_grad_around_a_pull_or_around_vjp():
    x = sg.tensor(3.0, requires_grad=True)
    out, pull = vjp(lambda x: x**2, x)
    with sg.no_grad():
        assert not pull(sg.tensor(1.0))[0].requires_grad
    close(sg.autograd.grad(out, x)[0], 6.0)
    with sg.no_grad():
        out, pull = vjp(lambda x: x**2, x)
    assert not out.requires_grad
    close(sg.autograd.grad(pull(sg.tensor(1.0))[0], x)[0], 2.0)


def test_inner_transforms_leave_no_grad_behind():
    """By one argument inside, by another outside: nobody is left who could differentiate the result."""
    q, v = sg.tensor([1.0, 2.0]), sg.tensor([0.3, 0.4])
    mixed = jacrev(grad(lambda q, v: (q**2 * v**3).sum(), argnums=1), argnums=0)(q, v)
    assert not mixed.requires_grad
    close(mixed, np.diag([6 * 1.0 * 0.09, 6 * 2.0 * 0.16]), rtol=1e-6)
    w = sg.tensor([1.0, 1.0], requires_grad=True)
    assert jacrev(grad(lambda q, v: (w * q**2 * v**3).sum(), argnums=1), argnums=0)(q, v).requires_grad
    assert grad(lambda q: (grad(lambda v: (v**3 * q).sum())(v) * w).sum())(q).requires_grad
    (_, given) = grad(lambda q: (q.sum(), q), has_aux=True)(q)
    assert not given.requires_grad


class Handed(sg.autograd.Function):
    """Gives its argument back, and keeps it or what it gave."""

    kept = "nothing"

    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        keep = ctx.save_for_forward if Handed.kept.startswith("forward") else ctx.save_for_backward
        if Handed.kept != "nothing":
            keep(output if Handed.kept.endswith("output") else inputs[0])

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t.view_as(t)


@pytest.mark.parametrize("kept", ["nothing", "input", "output", "forward input", "forward output"])
def test_an_input_that_is_given_back_is_not_kept(kept, monkeypatch):
    monkeypatch.setattr(Handed, "kept", kept)
    x = sg.tensor(2.0)
    calls = (
        lambda: grad(lambda x: Handed.apply(x * 3))(x),
        lambda: jvp(Handed.apply, (x,), (sg.tensor(6.0),))[1],
        lambda: 3 * Handed.apply(x),
    )
    for call in calls:
        if kept == "nothing":
            assert call().item() == 6.0
        else:
            with pytest.raises(RuntimeError, match="An input that has been returned as-is as output is being saved"):
                call()


def test_custom_functions_on_tensors_that_came_to_move():
    def f(x):
        moving = sg.zeros(2)
        moving.copy_(x)
        return Cube.apply(moving)

    x = sg.tensor([1.0, 2.0])
    close(jvp(f, (x,), (sg.ones(2),))[1], [3.0, 12.0], rtol=1e-6)
    tangent = sg.ones(2, requires_grad=True)
    (found,) = sg.autograd.grad(jvp(lambda x: x.clone().mul_(x), (x,), (tangent,))[1].sum(), tangent)
    close(found, [2.0, 4.0], rtol=1e-6)


class Cube(sg.autograd.Function):
    """Its own derivative, of either kind."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def jvp(ctx, t):
        return 3 * ctx.saved_tensors[0] ** 2 * t


# ------------------------------------------------------------------------------------------ formulas


def test_results_come_with_their_formulas():
    x, v = sg.tensor([1.0, 2.0]), sg.tensor([1.0, -1.0], name="v")
    functional = sg.autograd.functional

    def cubes(x):
        return (x**3).sum()

    found, expr = functional.hessian(cubes, x, return_expr=True)
    assert found.tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert str(expr) == "6*diag(x)"
    (value, product), (value_expr, product_expr) = functional.hvp(cubes, x, v, return_expr=True)
    assert (value.item(), product.tolist()) == (9.0, [6.0, -12.0])
    assert (str(value_expr), str(product_expr)) == ("sum(x**3)", "6*v*x")
    for name in ("vjp", "vhp", "jvp"):
        made = getattr(functional, name)(cubes, x, None if name == "vjp" else v, return_expr=True)[1]
        assert {"vjp": "3*x**2", "vhp": "6*v*x", "jvp": "3*(v @ x**2)"}[name] == str(made[1])
    (by_a, by_b), exprs = functional.jacobian(lambda a, b: a * b, (x, x.clone()), return_expr=True)
    assert by_a.shape == by_b.shape == (2, 2)
    assert isinstance(exprs, tuple)
    assert {str(s) for e in exprs for s in e.free_symbols} <= {"x", "b", "a", "n"}
    assert functional.jacobian(cubes, x).tolist() == [3.0, 12.0]


def test_the_formula_of_a_gradient_that_is_not_there_is_zero():
    x, w = sg.tensor([1.0, 2.0], requires_grad=True, name="x"), sg.tensor([1.0, 2.0], requires_grad=True, name="w")
    assert sg.func.grad(lambda x, w: (w * 2).sum())(x, w).latex() == "0"
    assert sg.func.vjp(lambda x, w: w * 2, x, w)[1](w)[0].latex() == "0"


def test_linearize_of_a_function_that_holds_what_moves():
    x, v = sg.tensor([1.0, 2.0], dtype=sg.float64), sg.tensor([1.0, 0.5], dtype=sg.float64)
    one = sg.ones((), dtype=sg.float64)
    value, tangent = jvp(lambda w: linearize(lambda x: w**2 * x**3, x)[1](v), (one,), (one,))
    close(value, [3.0, 6.0])
    close(tangent, [6.0, 12.0])
    value, tangent = jvp(lambda w: linearize(lambda x: w**2 * x**3, x)[0], (one,), (one,))
    close(value, [1.0, 8.0])
    close(tangent, [2.0, 16.0])


# ------------------------------------------------------------------------- tangents that two steps have together only


def softplus(x):
    return sg.log1p(sg.exp(x))


FAR = np.array([1000.0, -1000.0, 0.0])
LOST = {
    "log1p(exp(x))": (softplus, FAR, [1.0, 0.0, 0.5]),
    "log(sum(exp(x)))": (lambda x: sg.log(sg.exp(x).sum()), FAR, 1.0),
    "norm": (lambda x: sg.sqrt((x * x).sum()), np.zeros(3), 0.0),
    "distances": (lambda x: ((x[:, None] - x) ** 2 + 0).sqrt().sum(1), np.ones(3), [0.0] * 3),
    "log(cosh(x))": (lambda x: sg.log(sg.cosh(x)), FAR, [1.0, -1.0, 0.0]),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", LOST)
def test_forward_mode_finds_what_two_steps_have_together(case):
    f, x, want = LOST[case]
    value, tangent = sg.func.jvp(f, (x,), (np.ones(3),))
    np.testing.assert_allclose(tangent.numpy(), want, rtol=1e-12)
    both, pushed, aux = sg.func.jvp(lambda x: (f(x), {"x": x}), (x,), (np.ones(3),), has_aux=True)
    np.testing.assert_array_equal(both.numpy(), value.numpy())
    np.testing.assert_allclose(pushed.numpy(), want, rtol=1e-12)
    assert aux["x"].tolist() == x.tolist()
    with sg.conventions("torch"):
        assert sg.func.jvp(f, (x,), (np.ones(3),))[1].isnan().any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tangents_found_again_keep_their_history():
    w = sg.tensor(2.0, dtype=sg.float64, requires_grad=True)
    _, tangent = sg.func.jvp(lambda x: softplus(w * x), (FAR,), (np.ones(3),))
    assert tangent.tolist() == [2.0, 0.0, 1.0]
    assert sg.autograd.grad(tangent.sum(), w)[0].item() == 1.5
    second = sg.func.grad(lambda x: sg.func.jvp(softplus, (x,), (np.ones(3),))[1].sum())(FAR)
    assert second.tolist() == [0.0, 0.0, 0.25]
    moved = sg.func.jvp(softplus, (sg.tensor(FAR, name="x"),), (sg.tensor(np.ones(3), name="d"),))[1]
    assert moved.latex() == r"d \odot \sigma\left(x\right)"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_tangents_that_stay_nan():
    """Where there is no derivative, and where the function is another one at its second call."""
    root = sg.func.jvp(sg.sqrt, (np.array([-1.0, 4.0]),), (np.ones(2),))[1]
    np.testing.assert_array_equal(root.numpy(), [np.nan, 0.25])
    calls = []

    def counting(x):
        calls.append(1)
        return softplus(x) + len(calls) * x * 0

    assert sg.func.jvp(lambda x: counting(x) * len(calls), (-FAR,), (np.ones(3),))[1].isnan().any()


@pytest.mark.parametrize("dtype", [sg.float16, sg.bfloat16, sg.float32])
def test_tangents_of_gradients_that_hold_nan_are_computed_in_every_precision(dtype):
    x = sg.tensor([-1.5, float("nan"), 1.0, 2.0], dtype=dtype)
    tangent = sg.func.jvp(sg.func.grad(lambda x: x.prod()), (x,), (sg.ones_like(x),))[1]
    np.testing.assert_array_equal(tangent.double().numpy(), [np.nan, -2.5, np.nan, np.nan])


def test_whole_numbers_of_a_value_that_moves_have_a_formula():
    x = np.array([1.5, 2.5])
    tangent = sg.compile(lambda x: sg.func.jvp(lambda z: z * z.to(sg.int8), (x,), (x,))[1], x)
    assert "x" in tangent.program.formula


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_a_jacobian_go_through_products_at_once_in_every_precision(dtype):
    W, x = np.arange(6.0, dtype=dtype).reshape(2, 3) / 4, np.array([0.5, -1.0, 2.0], dtype)

    def f(v):
        return sg.tanh(sg.tensor(W) @ v) @ sg.tensor(W[:, 1:])

    slope = 1 - np.tanh(W @ x) ** 2
    for found in (sg.func.jacrev(f)(sg.tensor(x)), sg.autograd.functional.jacobian(f, sg.tensor(x))):
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), W[:, 1:].T @ (slope[:, None] * W), rtol=1e-5)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")
def test_versions_of_what_transforms_give():
    """They are torch's unwrapped tensors, at version 0, whatever was added up on the way."""
    torch = pytest.importorskip("torch")
    for t in (torch, sg):
        x = t.tensor([0.1, 0.2, 0.3])

        def f(v):
            return (v[1:] * v[:-1]).sum() + v[2] ** 2

        found = [
            t.func.grad(f)(x), t.func.grad_and_value(f)(x)[0], t.func.vjp(lambda v: v[1:] * v[:-1], x)[1](x[:2])[0],
            t.func.jvp(t.func.grad(f), (x,), (x,))[1], t.func.grad(lambda v: t.func.grad(f)(v).pow(2).sum())(x),
        ]  # fmt: skip
        assert [g._version for g in found] == [0] * 5
        found[0].mul_(2)
        assert found[0]._version == 1


ROOTS = {
    "sqrt": lambda x: x.sqrt(),
    "power": lambda x: x**0.5,
    "log": lambda x: x.log() * 2,
    "neighbours": lambda x: x[1:] * x[:-1].sqrt(),
    "gradient": lambda x: sg.func.grad(lambda x: (x**1.5).sum())(x),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", ROOTS.values(), ids=ROOTS)
def test_no_nan_where_no_path_leads(f):
    """0 times the infinity of another entry was nan, where formulas and programs have 0."""
    at, functional = np.array([0.0, 1.0, 4.0]), sg.autograd.functional.jacobian
    wanted = sg.compile(sg.func.jacobian(f), at + 1)(at)
    assert np.isinf(wanted[0, 0])
    assert np.isfinite(wanted[1:]).all()
    x = sg.tensor(at, requires_grad=True)
    recorded = sg.autograd.jacobian(f(x), x, create_graph=True)
    assert recorded.requires_grad
    np.testing.assert_array_equal(recorded.detach().numpy(), wanted)
    ways = (sg.func.jacobian(f), sg.func.jacrev(f, chunk_size=1), lambda x: sg.autograd.jacobian(f(x), x))
    for way in (*ways, lambda x: functional(f, x), lambda x: functional(f, x, vectorize=True)):
        np.testing.assert_array_equal(way(x).detach().numpy(), wanted)
        with sg.conventions("torch"):
            assert np.isnan(way(x).detach().numpy()).any()


def test_forward_mode_by_a_number_has_the_second_answer():
    """A TypeError of NumPy's."""
    at = sg.tensor(1000.0, dtype=sg.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        for f in (lambda x: sg.log1p(sg.exp(x)), lambda x: sg.log1p(sg.exp(x.reshape(1, 1)))):
            assert sg.func.jacfwd(f)(at).numpy().ravel() == 1


class Square(sg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


@pytest.mark.parametrize("f", [Square.apply, lambda x: x * x], ids=["custom", "ops"])
def test_infinite_values_warn_of_nothing(f):
    """What is compared to find gradients without history is nobody's arithmetic."""
    x, v = sg.tensor([np.inf, 2.0]), sg.tensor([1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sg.func.jvp(f, (x,), (v,))[1].tolist() == [np.inf, 4]
        assert sg.func.linearize(f, x)[1](v).tolist() == [np.inf, 4]

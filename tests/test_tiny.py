"""Every promise in a few lines each, in a few seconds: the first file to run after a change."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

import symgrad as sg

X = np.array([[1.0, 0.5], [1.0, -1.5], [1.0, 2.0]])
Y = np.array([1.0, 0.0, 1.0])
W = np.array([0.3, -0.2])


def loss(w, X, y):
    return ((X @ w - y) ** 2).sum()


def gradient(w, X, y):
    return 2 * X.T @ (X @ w - y)


def leaves():
    return (
        sg.tensor(W, name="w", requires_grad=True),
        sg.tensor(X, name="X"),
        sg.tensor(Y, name="y"),
    )


def test_numbers_with_torchs_manners():
    w, data, y = leaves()
    out = loss(w, data, y)
    out.backward()
    np.testing.assert_allclose(w.grad.numpy(), gradient(W, X, Y), rtol=1e-14)
    assert repr(out).endswith("grad_fn=<SumBackward0>)")
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()


def test_every_value_and_every_derivative_has_its_formula():
    w, data, y = leaves()
    out = loss(w, data, y)
    out.backward()
    for tensor in (out, w.grad):
        assert {str(s) for s in tensor.expr.free_symbols} >= {"w", "X", "y"}
        assert isinstance(tensor.expr, sp.Basic)
    assert w.grad.latex().replace(" ", "") == r"2X^{\top}\left(Xw-y\right)"


def test_formulas_do_not_depend_on_size():
    texts = set()
    for n, m in ((3, 2), (40, 7), (500, 30)):
        w = sg.tensor(np.ones(m), name="w", requires_grad=True)
        out = loss(w, sg.tensor(np.ones((n, m)), name="X"), sg.tensor(np.ones(n), name="y"))
        out.backward()
        texts.add((str(out.expr), w.grad.latex()))
    assert len(texts) == 1


def test_variables_name_themselves():
    speed = sg.tensor(3.0, requires_grad=True)
    (speed**2).backward()
    assert str(speed.grad.expr) == "2*speed"


def test_scalar_formulas_are_plain_sympy():
    x = sg.tensor(0.7, name="x", requires_grad=True)
    (g,) = sg.autograd.grad(sg.exp(x) * sg.sin(x), x, create_graph=True)
    s = sp.Symbol("x")
    formula = g.expr.xreplace(dict.fromkeys(g.expr.free_symbols, s))
    assert sp.simplify(formula - sp.diff(sp.exp(s) * sp.sin(s), s)) == 0


def test_any_order():
    x = sg.tensor(2.0, requires_grad=True, dtype=np.float64)
    y = x**5
    for expected in (80.0, 160.0, 240.0, 240.0, 120.0):
        (y,) = sg.autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_functions_and_their_derivatives():
    np.testing.assert_allclose(sg.func.grad(loss)(W, X, Y).numpy(), gradient(W, X, Y))
    np.testing.assert_allclose(sg.func.hessian(loss)(W, X, Y).numpy(), 2 * X.T @ X)
    value, slope = sg.func.jvp(lambda w: loss(w, X, Y), (W,), (np.ones(2),))
    assert value.item() == pytest.approx(np.sum((X @ W - Y) ** 2))
    assert slope.item() == pytest.approx(gradient(W, X, Y).sum())


def test_the_compiled_program_is_numpy_and_of_any_size():
    program = sg.compile(sg.func.grad(loss), W, X, Y)
    np.testing.assert_allclose(program(W, X, Y), gradient(W, X, Y))
    assert "np." in program.source or "@" in program.source
    big = np.random.default_rng(0).normal(size=(50, 9))
    np.testing.assert_allclose(
        program(np.ones(9), big, np.ones(50)), gradient(np.ones(9), big, np.ones(50)), rtol=1e-12
    )


def test_a_saved_program_needs_numpy_only(tmp_path):
    path = tmp_path / "shipped.py"
    sg.compile(sg.func.grad(loss), W, X, Y, name="shipped").save(path)
    command = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import shipped; print('symgrad' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", command], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert done.stdout.strip() == "False", done.stderr
    done = subprocess.run([sys.executable, "-I", str(path), "--selftest"], stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_a_wrong_gradient_is_caught_and_named():
    assert sg.check(loss, gradient, W, X, Y).ok
    assert sg.check(loss, lambda *a: gradient(*a) / 2, W, X, Y).diagnosis.kind == "factor"


def test_numpy_functions_are_recorded_and_unknown_ones_refused():
    x = sg.tensor(np.array([0.1, 0.2]), requires_grad=True)
    np.sum(np.sin(x)).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([0.1, 0.2]))
    with pytest.raises(TypeError):
        np.histogram(x)


def test_the_branch_not_taken_leaks_nothing():
    x = sg.tensor(np.array([0.0, 4.0]), requires_grad=True)
    sg.where(x > 0, sg.sqrt(x), 0 * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 0.25])


def test_depth_is_no_limit():
    x = sg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + x
    y.backward()
    assert x.grad.item() == 20_001


def test_complex_gradients_are_torchs():
    z = sg.tensor(np.array(1 + 2j), requires_grad=True)
    (abs(z) ** 2).backward()
    assert z.grad.item() == pytest.approx(2 + 4j)


def test_no_grad_and_detach_cut_the_history():
    w, data, y = leaves()
    with sg.no_grad():
        assert not loss(w, data, y).requires_grad
    assert not w.detach().requires_grad


def test_the_challenger_fit_is_the_published_one():
    """Maximum likelihood of damage on temperature: intercept 15.043, slope -0.232 per degree (Dalal et al., 1989)."""
    from symgrad.commands.demo import loss as negative_likelihood
    from symgrad.data import challenger

    temperature, damage = challenger()
    data = np.stack([np.ones(23), (temperature - 70) / 10], axis=1)
    w = np.zeros(2)
    args = (data, damage, 0.0)
    slope, curvature = sg.func.grad(negative_likelihood), sg.func.hessian(negative_likelihood)
    for _ in range(8):
        w = w - np.linalg.solve(curvature(w, *args).numpy(), slope(w, *args).numpy())
    assert w[1] / 10 == pytest.approx(-0.2322, abs=1e-4)
    assert w[0] - 7 * w[1] == pytest.approx(15.0429, abs=1e-3)


def test_derivations_are_written_line_by_line_and_formulas_judged():
    text = "norm(A@x - b)**2"
    assert str(sg.derive(text, wrt="x")).endswith("2*(A.T @ (A @ x - b))")
    assert sg.judge(r"2 A^\top (A x - b)", of=text, wrt="x").equal
    assert "1/2 times" in sg.judge("A.T @ (A @ x - b)", of=text, wrt="x").diagnosis.sentence


def test_what_is_typed_or_printed_is_read():
    f = sg.from_latex(r"\|X w - y\|^2", {"X": (3, 2), "w": (2,), "y": (3,)})
    w, data, y = leaves()
    (g,) = sg.autograd.grad(f(X=data, w=w, y=y), w)
    np.testing.assert_allclose(g.numpy(), gradient(W, X, Y), rtol=1e-14)


def test_values_have_any_number_of_digits():
    x = sg.tensor(1e-9, dtype=np.float64, name="x")
    assert abs(float((1 - sg.cos(x)).evalf(30)) / 5e-19 - 1) < 1e-15


def test_a_gradient_that_is_not_there_is_explained():
    w = sg.tensor(W, requires_grad=True, name="w")
    assert sg.explain(w, lambda: loss(w.detach(), X, Y)).cause.kind == "detached"


def test_changes_in_place_are_noticed():
    e = sg.tensor([1.0, 2.0], requires_grad=True).exp()
    out = (e * e).sum()
    with sg.no_grad():
        e[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_own_functions_and_hooks():
    class Cube(sg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = sg.tensor(2.0, requires_grad=True, name="x")
    x.register_hook(lambda g: 2 * g)
    Cube.apply(x).backward()
    assert x.grad.item() == 24
    assert str(x.grad.expr) == "6*x**2"


def test_functions_run_on_batches():
    rows = sg.func.vmap(sg.func.grad(lambda x: (x**3).sum()))(X)
    np.testing.assert_allclose(rows.numpy(), 3 * X**2)


def test_jit_and_files_for_other_tools(tmp_path):
    program = sg.compile(sg.func.grad(loss), W, X, Y, name="gradient").program
    program.save(tmp_path / "gradient.c")
    program.save(tmp_path / "gradient.json")
    assert "double" in (tmp_path / "gradient.c").read_text()
    again = sg.compiler.load(tmp_path / "gradient.json")
    np.testing.assert_array_equal(again(W, X, Y), program(W, X, Y))
    np.testing.assert_allclose(sg.jit(loss)(W, X, Y).numpy(), loss(W, X, Y))


def test_sparse_and_structured_second_derivatives():
    hessian = sg.func.sparse_hessian(lambda x: (x[1:] * x[:-1]).sum())(np.ones(5))
    assert hessian.nnz == 8
    structured = sg.func.structured_hessian(lambda U: ((X @ U.T) ** 2).sum())(np.ones((4, 2)))
    np.testing.assert_allclose(structured.todense().reshape(8, 8), np.kron(np.eye(4), 2 * X.T @ X))


def test_solutions_of_equations_have_derivatives():
    a = sg.tensor(2.0, dtype=np.float64, requires_grad=True)
    sg.implicit.root(lambda x, a: x**2 - a, 1.0, a).backward()
    assert abs(a.grad.item() - 0.5 / 2**0.5) < 1e-12
    k = sg.tensor(0.5, dtype=np.float64, requires_grad=True)
    end = sg.implicit.odeint(lambda y, t, k: -k * y, np.ones(1), [0.0, 1.0], k)[-1, 0]
    (slope,) = sg.autograd.grad(end, k)
    assert abs(slope.item() + np.exp(-0.5)) < 1e-6


def test_conventions_at_kinks_can_be_chosen():
    x = sg.tensor(0.0, requires_grad=True)
    assert sg.autograd.grad(sg.relu(x), x)[0].item() == 0
    with sg.conventions("right"):
        assert sg.autograd.grad(sg.relu(x), x)[0].item() == 1


def test_formulas_say_where_they_hold():
    x = sg.tensor(2.0, name="x", requires_grad=True)
    y = x**2 if x > 1 else -x
    assert "x > 1" in str(y.valid_when)

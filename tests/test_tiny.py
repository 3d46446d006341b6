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
    from symgrad.data import challenger
    from symgrad.guide.demo import loss as negative_likelihood

    temperature, damage = challenger()
    data = np.stack([np.ones(23), (temperature - 70) / 10], axis=1)
    w = np.zeros(2)
    args = (data, damage, 0.0)
    slope, curvature = sg.func.grad(negative_likelihood), sg.func.hessian(negative_likelihood)
    for _ in range(8):
        w = w - np.linalg.solve(curvature(w, *args).numpy(), slope(w, *args).numpy())
    assert w[1] / 10 == pytest.approx(-0.2322, abs=1e-4)
    assert w[0] - 7 * w[1] == pytest.approx(15.0429, abs=1e-3)

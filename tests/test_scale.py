"""Promises of size: formulas independent of array sizes, graphs of any depth, gradients of bounded growth."""

from __future__ import annotations

import gc
import pickle
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.derive import gradient
from symgrad.formula.term import count, evaluate, symbol
from symgrad.tape.backward import engine
from tests.memory import left, peak


def tanh_of_products(n):
    w = sg.tensor(np.linspace(0.1, 1.0, n), requires_grad=True, name="w")
    x = sg.tensor(np.linspace(-1.0, 1.0, n), name="x")
    loss = (w * x).tanh().sum()
    loss.backward()
    return w, loss


def test_formula_is_the_same_object_for_any_size():
    small, _ = tanh_of_products(10)
    large, _ = tanh_of_products(1_000_000)
    assert small.grad.term is large.grad.term
    assert str(small.grad.expr) == str(large.grad.expr)
    assert small.grad.latex() == large.grad.latex()


def test_generated_source_is_the_same_for_any_size():
    sources = []
    for n in (10, 1_000_000):
        w, loss = tanh_of_products(n)
        sources.append(sg.compile(w.grad, ["w", "x"]).source)
    assert sources[0] == sources[1]


def chain(depth):
    # From 1.7 the chain tends to pi/2; from below it would underflow to 0, and every comparison with it.
    x = start = sg.tensor(1.7, requires_grad=True, dtype=np.float64, name="x")
    for _ in range(depth):
        x = x.sin() * x
    return start, x


@pytest.mark.parametrize("depth", [1_200, pytest.param(100_000, marks=pytest.mark.slow)])
def test_deep_chain(depth):
    limit = sys.getrecursionlimit()
    assert limit <= 1000, "the promise is for the default recursion limit"
    start, end = chain(depth)
    end.backward(retain_graph=True)
    slope_value = pytest.approx(start.grad.item(), rel=1e-8)
    assert 1e-12 < abs(start.grad.item()) < 1e3
    end_value = pytest.approx(end.item(), rel=1e-12)
    assert 1.5 < end.item() < 1.7
    value, slope = end.term, start.grad.term
    assert count(value) == 2 * depth + 1
    assert count(slope) <= 5 * count(value)
    assert evaluate(slope, {"x": 1.7}) == slope_value

    with pytest.raises(sg.errors.FormulaTooDeep, match="where_list"):
        _ = end.expr
    pairs = sg.where_list(end)
    assert len(pairs) <= 2 * depth
    text = end.latex(where=True, lines=20)
    assert len(text.splitlines()) < 40
    assert "grad_fn=<MulBackward0>" in repr(end)

    program = sg.compile(end, ["x"])
    assert program(1.7) == end_value
    again = pickle.loads(pickle.dumps(program))
    assert again(1.7) == end_value
    assert again.source == program.source
    other = pickle.loads(pickle.dumps(end))
    other_start = sg.copy_graph(end)
    assert other.item() == other_start.item() == end.item()
    del start, end, other, other_start, value, slope, pairs, program, again
    gc.collect()


def test_deep_chain_gradient_compiles():
    start, end = chain(1_200)
    end.backward(retain_graph=True)
    program = sg.compile(start.grad, ["x"])
    assert program(1.7) == pytest.approx(start.grad.item(), rel=1e-8)


def test_doubled_operands_beside_activations_compile():
    def f(x):
        y = x
        for _ in range(100):  # 2^100 ways lead from y to x
            y = y + 0.001 * y
        return (y - y.tanh()).sum()

    x = np.array([0.5, 1.0])
    y = 1.001**100 * x
    assert sg.compile(sg.func.grad(f), x)(x) == pytest.approx(1.001**100 * np.tanh(y) ** 2, rel=1e-9)


def least_squares(X, w, y):
    return ((X @ w - y) ** 2).sum()


def logistic(X, w, y):
    return sg.nn.functional.softplus(X @ w).sum() - (y * (X @ w)).sum() + 0.5 * (w @ w)


def softmax_entropy(X, W, Y):
    return -(Y * sg.log_softmax(X @ W, 1)).sum()


def network(X, W1, W2, Y):
    return (((X @ W1).tanh() @ W2 - Y) ** 2).sum() / 2


def log_det(A):
    return sg.logdet(A @ A.T)


def quadratic(A, x):
    return x @ A @ x


SHAPES = {
    least_squares: [(5, 3), (3,), (5,)],
    logistic: [(5, 3), (3,), (5,)],
    softmax_entropy: [(5, 3), (3, 4), (5, 4)],
    network: [(5, 3), (3, 4), (4, 2), (5, 2)],
    log_det: [(3, 3)],
    quadratic: [(4, 4), (4,)],
}


@pytest.mark.parametrize("f", SHAPES, ids=lambda f: f.__name__)
def test_gradient_is_at_most_five_times_the_function(f):
    rng = np.random.default_rng(0)
    args = [sg.tensor(rng.standard_normal(s), requires_grad=True, name=f"a{k}") for k, s in enumerate(SHAPES[f])]
    loss = f(*args).term
    from symgrad.formula.term import symbols

    gradients = gradient(loss, symbols(loss))
    assert count(*gradients) <= 5 * count(loss)


def test_pieces_of_what_is_joined_ask_for_shapes_once(monkeypatch):
    """For every piece the shapes of all were looked up again: 5000 pieces took minutes."""
    made = []
    shaped = engine.Shaped
    monkeypatch.setattr(engine, "Shaped", lambda *args: made.append(args) or shaped(*args))
    x = sg.tensor(0.5, requires_grad=True, dtype=np.float64)
    sg.cat([(x * k).reshape(1) for k in range(50)]).sum().backward()
    assert x.grad.item() == 49 * 50 / 2
    joined = [args for args in made if args[0] == (1,)]
    assert len(joined) <= 50


def test_memory_per_recorded_operation():
    start, a, b = (sg.tensor(v, requires_grad=True, dtype=np.float64) for v in (0.5, 1.3, 0.1))

    def recorded():
        y = start
        for _ in range(1000):
            y = (y * a + b).tanh()
        return y

    assert left(recorded, below=3000 * 400) / 3000 < 400


def test_a_training_loop_does_not_grow():
    rng = np.random.default_rng(0)
    X, y = sg.tensor(rng.standard_normal((20, 3))), sg.tensor(rng.standard_normal(20))
    w = sg.tensor(np.zeros(3), requires_grad=True)

    def step():
        loss = ((X @ w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        w.data = w.data - 0.1 * w.grad.data

    def steps(count):
        for _ in range(count):
            step()

    steps(50)
    assert left(lambda: steps(200), below=20_000) < 20_000


@pytest.mark.parametrize("tracked", [False, True])
def test_one_entry_is_written_without_a_copy_of_the_rest(tracked):
    t = sg.zeros(1_000_000, dtype=sg.float64, requires_grad=tracked)

    def write():
        t[1], t[2:5], t[[7, 8]] = 2.0, sg.ones(3, dtype=sg.float64), 3.0
        t[3] = t[2] + 4

    with sg.no_grad():
        t[0] = 1.0
        assert peak(write, below=200_000) < 200_000
    assert t[:9].tolist() == [1, 2, 1, 5, 1, 0, 0, 3, 3]
    assert t._version == 5


def sines(x, A, ops):
    for _ in range(ops // 2):
        x = x.sin() * x
    return x.sum()


def residual(x, A, ops):
    for _ in range(ops // 3):
        x = x + (A @ x).tanh() / 100
    return (x * x).sum()


def products(x, A, ops):
    M = A
    for _ in range(ops // 2):
        M = M @ A
        M = M / 2 + A
    return (M @ x).sum()


def broadcasts(x, A, ops):
    M = A
    for _ in range(ops // 3):
        M = (M * x).tanh() + x[:, None]
    return M.sum()


def newton(x, A, ops):
    # Every step nests three sums: written out, the formula doubles with each.
    x = x * x + 1
    for _ in range(ops // 4):
        x = (x + 2 / x) / 2
    return x.sum()


def brackets(x, A, ops):
    # (1 + x/1000)^k, whose numbers taken out alone would be 10^-3k.
    t = x
    for _ in range(ops // 5):
        t = (t * (1 + x / 1000) + x) * 0.999
    return t.sum()


@pytest.mark.parametrize("ops", [600, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("f", [sines, residual, products, broadcasts, newton, brackets], ids=lambda f: f.__name__)
def test_canonical_form_of_a_large_graph(f, ops):
    """The work is bounded, whatever the graph, and what was left as the program has it fits what was simplified."""
    from symgrad.formula.canonical.budget import STEPS
    from symgrad.formula.canonical.simplify import Canonicaliser

    x = sg.tensor(np.array([0.9, 1.3, -0.4]), requires_grad=True, name="x")
    A = sg.tensor(np.eye(3) / 2 + 0.1, name="A")
    (slope,) = sg.autograd.grad(f(x, A, ops), [x], create_graph=True)
    run = Canonicaliser()
    found = run.run(slope.term)
    assert run.steps > -STEPS, "one term overspends by less than the whole budget"
    assert count(found) < 3 * count(slope.term)
    value = evaluate(found, {"x": x.numpy(force=True), "A": A.numpy()})
    np.testing.assert_allclose(value, slope.numpy(force=True), rtol=1e-6, atol=1e-12)


def test_one_term_where_a_list_of_terms_is_wanted_is_an_error():
    x = symbol("x", ("n",))
    y = x @ x
    with pytest.raises(TypeError, match=r"write \[x\]"):
        gradient(y, x)
    with pytest.raises(TypeError, match="not iterable"):
        list(x)

"""Compiled programs: same values as the tape, readable source, checks, pickling, export."""

import math
import pickle
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import build
from symgrad.compiler.trace import trace
from symgrad.errors import ArgumentError, CompileError, DtypeError, NameProblem, ShapeError
from symgrad.formula.term import count
from symgrad.ops.elementwise.smooth import softplus

rng = np.random.default_rng(0)


def loss(X, y, w, lam):
    return softplus(-y * (X @ w)).mean() + lam / 2 * (w @ w)


def data(n=20, m=5, dtype=float):
    return (
        rng.standard_normal((n, m)).astype(dtype),
        np.sign(rng.standard_normal(n)).astype(dtype),
        rng.standard_normal(m).astype(dtype),
        dtype(0.1),
    )


# ---------------------------------------------------------------------------- values and source


def test_gradient_of_the_demo_reads_like_numpy():
    f = sg.compile(sg.func.grad(loss, argnums=2), *data())
    assert f.source == (
        '@np.errstate(over="ignore")\n'
        "def grad_loss(X, y, w, lam):\n"
        '    """X (n, m), y (n,), w (m,), lam scalar -> (m,) float64."""\n'
        "    n = X.shape[0]\n"
        "    t1 = 1 / n if n else np.inf\n"
        "    t1 = t1 / (1 + np.exp(y * (X @ w)))\n"
        "    return lam * w - (t1 * y) @ X\n"
    )


def test_hessian_of_the_demo_keeps_its_structure():
    f = sg.compile(sg.func.hessian(loss, argnums=2), *data())
    assert "weighted_gram(X, t1)" in f.source
    assert "diag" not in f.source[f.source.index("def hessian") :]
    X, y, w, lam = data()
    expected = sg.func.hessian(loss, argnums=2)(X, y, w, lam).numpy()
    np.testing.assert_allclose(f(X, y, w, lam), expected, rtol=1e-12, atol=1e-14)


FUNCTIONS = {
    "chain": lambda x: sg.tanh(sg.sin(x) * x).sum(),
    "mean": lambda x: (x * x).mean(0).sum(),
    "var": lambda x: sg.var(x, 0).sum() + sg.std(x),
    "softmax": lambda x: (sg.softmax(x, 1) * x).sum(),
    "logsumexp": lambda x: sg.logsumexp(x, 1).sum(),
    "log_softmax": lambda x: (sg.log_softmax(x, 1) ** 2).sum(),
    "norm": lambda x: sg.norm(x) + sg.norm(x, 1),
    "matmul": lambda x: (x @ x.T @ x).sum(),
    "gram": lambda x: sg.logdet(x.T @ x + sg.eye(3, dtype=np.float64)),
    "solve": lambda x: sg.inverse(x.T @ x + sg.eye(3, dtype=np.float64)).sum(),
    "index": lambda x: (x[1:, ::2] * 2).sum() + x[0, 1] ** 3,
    "cat": lambda x: sg.cat([x, x * 2], 0).prod(0).sum(),
    "stack": lambda x: sg.stack([x, x * x], 1).sum(1).amax(1).sum(),
    "where": lambda x: sg.where(x > 0, x * x, -x).sum(),
    "clamp": lambda x: sg.clamp(x, -0.5, 0.5).sum() + sg.maximum(x, x * x).sum(),
    "abs": lambda x: (x.abs() ** 1.5).sum(),
    "einsum": lambda x: sg.einsum("ij,kj,kl->il", x, x, x).sum(),
    "outer": lambda x: sg.outer(x[0], x[1]).pow(2).sum(),
    "diag": lambda x: sg.diag(x[0]).sum() + sg.trace(x @ x.T),
    "cumsum": lambda x: (sg.cumsum(x, 0) ** 2).sum(),
    "reshape": lambda x: (x.reshape(2, -1) @ x.reshape(-1, 2)).sum(),
    "erf": lambda x: sg.erf(x).sum() + sg.sigmoid(x).sum() + softplus(x).sum(),
    "special": lambda x: sg.lgamma(x * x + 1).sum() + sg.sinc(x).sum(),
    "kron": lambda x: sg.kron(x, x).sum(),
    "tril": lambda x: (sg.tril(x @ x.T) ** 2).sum(),
    "flip": lambda x: (sg.flip(x, 0) * x).sum(),
    "repeat": lambda x: (x.repeat(2, 1) ** 2).sum(),
    "roots": lambda x: sg.sqrt(x * x + 1).sum() + (x * x + 1).rsqrt().sum() + (x * x + 1).log2().sum(),
    "gather": lambda x: sg.gather(x, 1, np.array([[0], [1], [2], [0]])).sum(),
    "max": lambda x: sg.max(x, 1).values.sum() + x.max() + x.min(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_value_and_gradient_equal_the_tape(name, dtype):
    f = FUNCTIONS[name]
    x = rng.standard_normal((4, 3)).astype(dtype)
    t = sg.tensor(x, requires_grad=True)
    y = f(t)
    y.backward()
    tolerance = {"rtol": 1e-11, "atol": 1e-12} if dtype is np.float64 else {"rtol": 2e-4, "atol": 2e-5}
    compiled = sg.compile(f)
    value = compiled(x)
    assert value.dtype == y.dtype
    assert np.shape(value) == tuple(y.shape)
    np.testing.assert_allclose(value, y.item(), **tolerance)
    gradient = sg.compile(sg.func.grad(f))(x)
    assert gradient.dtype == dtype
    assert gradient.shape == x.shape
    np.testing.assert_allclose(gradient, t.grad.numpy(), **tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_routes_write_the_same_bytes(name):
    x = rng.standard_normal((4, 3))
    for f in (FUNCTIONS[name], sg.func.value_and_grad(FUNCTIONS[name])):
        traced = trace(f, (x,))
        assert build(traced, direct=True).source == build(traced, direct=False).source


def test_tensor_of_named_leaves():
    A = sg.tensor(np.eye(3), requires_grad=True, name="A")
    x = sg.tensor(np.arange(3.0), requires_grad=True, name="x")
    f = sg.compile(sg.tanh(A @ x).sum(), ["A", "x"])
    B, z = rng.standard_normal((7, 7)), rng.standard_normal(7)
    np.testing.assert_allclose(f(B, z), np.tanh(B @ z).sum())
    np.testing.assert_allclose(f(x=z, A=B), np.tanh(B @ z).sum())
    np.testing.assert_allclose(f(sg.tensor(B), sg.tensor(z)), np.tanh(B @ z).sum())


def test_gradient_after_plain_backward_compiles():
    w = sg.tensor(np.arange(3.0), requires_grad=True, name="w")
    (w**3).sum().backward()
    f = sg.compile(w.grad, ["w"])
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [3.0, 12.0])


def test_other_constants_become_defaults():
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x", dtype=np.float64)
    c = sg.tensor([3.0, 4.0], dtype=np.float64)
    f = sg.compile((x * c).sum(), ["x"])
    assert f([1.0, 1.0]) == 7.0
    assert f([1.0, 1.0], c=[1.0, 1.0]) == 2.0


def test_dead_constant_is_an_error():
    x = sg.tensor(np.ones(5000), requires_grad=True, name="x")
    y = (x * np.arange(5000.0)).sum()
    with pytest.raises(CompileError, match="was freed"):
        sg.compile(y, ["x"])


def test_constants_of_a_function_are_kept_alive():
    f = sg.compile(lambda x: (x * np.array([3.0, 4.0])).sum())
    assert f(np.array([1.0, 2.0])) == 11.0


# ---------------------------------------------------------------------------- sizes, shapes, dtypes


def test_a_size_in_a_python_number_serves_its_own_size_only():
    f = sg.compile(lambda x: x.sum() * math.sin(len(x)))
    assert f(np.ones(3)) == 3 * math.sin(3)
    assert f(np.ones(7)) == 7 * math.sin(7)
    assert len(f.programs) == 2


def test_the_length_of_an_argument_is_its_size():
    f = sg.compile(lambda x: x.sum() / len(x))
    assert f(np.ones(3)) == f(np.ones(7)) == 1.0
    assert len(f.programs) == 1


def test_equal_source_is_one_program():
    f = sg.compile(lambda x: (x * x).mean())
    assert f(np.ones(3)) == f(np.ones(9)) == 1.0
    assert len(f.programs) == 1
    assert f.traces == 2


def test_coinciding_sizes_are_not_confused():
    f = sg.compile(lambda a, b: a @ b)
    assert f(np.ones((3, 3)), np.ones((3, 3))).shape == (3, 3)
    assert f(np.ones((2, 3)), np.ones((3, 4))).shape == (2, 4)


@pytest.mark.parametrize("n", [10, 1_000_000])
def test_source_does_not_depend_on_the_size(n):
    x = np.ones(n)
    f = sg.compile(sg.func.grad(lambda w, x: sg.tanh(w * x).sum()), x, x)
    assert f.source == (
        'def grad_f(w, x):\n    """w (n,), x (n,) -> (n,) float64."""\n'
        "    t1 = np.tanh(w * x)\n    return (1 - t1 * t1) * x\n"
    ).replace("grad_f", f.program.name)


def test_constant_results_have_the_traced_shape_and_dtype():
    x = np.arange(3, dtype=np.float32)
    g = sg.compile(sg.func.grad(lambda x: x.sum()))(x)
    assert g.dtype == np.float32
    np.testing.assert_array_equal(g, [1, 1, 1])
    g += 1  # and may be written to
    z = sg.compile(sg.func.grad(lambda x: (x * 0).sum() + 1))(x)
    assert (z.dtype, z.shape) == (np.float32, (3,))
    v = sg.compile(lambda x: (x.sum() * 0, 2.5))(x)
    assert v == (0.0, 2.5)


def test_results_do_not_share_memory_with_arguments():
    x = np.ones((2, 3))
    out = sg.compile(lambda x: (x, x.T))(x)
    assert not any(np.shares_memory(o, x) for o in out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constants_do_not_widen(dtype):
    x = np.linspace(0.1, 1, 5).astype(dtype)
    f = sg.compile(lambda x: (0.1 * x + sg.log2(x) / 3).sum() * (2.5 / 3))
    assert f(x).dtype == dtype
    assert sg.compile(sg.func.grad(lambda x: (0.1 * x + sg.erf(x)).sum()))(x).dtype == dtype


def test_mixed_dtypes_follow_the_library():
    a, b = np.ones(3, np.float32), np.float64(2)

    def f(a, b):
        return (a * b).sum()

    expected = f(sg.tensor(a, requires_grad=True), sg.tensor(b, requires_grad=True))
    assert sg.compile(f)(a, b).dtype == expected.dtype
    k = np.arange(3)

    def f(k, a):
        return k * a

    assert sg.compile(f)(k, a).dtype == f(sg.tensor(k), sg.tensor(a)).dtype


def test_nested_containers_go_in_and_come_out():
    f = sg.compile(sg.func.value_and_grad(lambda p, x: ((p["w"] @ x + p["b"]) ** 2).sum()))
    p = {"w": np.ones((2, 3)), "b": np.zeros(2)}
    value, grads = f(p, np.ones(3))
    assert value == 18.0
    assert sorted(grads) == ["b", "w"]
    np.testing.assert_array_equal(grads["b"], [6, 6])
    assert "p_w" in f.source


# ---------------------------------------------------------------------------- warnings and singular points


def test_branch_not_taken_neither_leaks_nor_warns():

    def f(x):
        return sg.where(x > 0, sg.sqrt(x), 0).sum()

    x = np.array([0.0, 4.0])
    assert sg.compile(f)(x) == 2.0
    np.testing.assert_array_equal(sg.compile(sg.func.grad(f))(x), [0.0, 0.25])


def test_sigmoid_in_its_tail_does_not_warn():
    f = sg.compile(lambda x: sg.sigmoid(x))
    np.testing.assert_array_equal(f(np.array([-1000.0, 0.0, 1000.0])), [0, 0.5, 1])


def test_plain_programs_have_no_errstate_and_warn_like_numpy():
    f = sg.compile(lambda x: sg.log(x))
    assert "errstate" not in f(np.ones(2)).__class__.__name__ + f.source
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        f(np.zeros(2))


def test_python_division_by_zero_is_numpys():
    f = sg.compile(lambda x: 1 / x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f(0.0) == np.inf


# ---------------------------------------------------------------------------- what a trace cannot see


def test_branches_are_guards():
    f = sg.compile(lambda x: x * 2 if x.sum() > 0 else x * 3)
    np.testing.assert_array_equal(f(np.ones(2)), [2, 2])
    np.testing.assert_array_equal(f(-np.ones(2)), [-3, -3])
    np.testing.assert_array_equal(f(np.ones(2)), [2, 2])
    assert f.traces == 2


def test_guards_know_the_sizes_of_constants():
    """What is looked at may have a size that only a constant of the function has, which the guard does not read."""

    def f(x):
        scale = sg.tensor([1.0, 2.0], dtype=sg.float64)
        return (x.reshape(2, 2) * scale).sum() if x.reshape(2, 2).cumsum(0).amin() > 0 else x.sum()

    program = sg.compile(f, np.ones(4))
    for x in (np.ones(4), -np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])):
        np.testing.assert_allclose(program(x), f(sg.tensor(x)).numpy())


def test_values_read_are_guards():
    f = sg.compile(lambda x, i: x[i] * float(x[0]))
    x = np.array([2.0, 3.0, 5.0])
    assert f(x, np.array(1)) == 6.0
    assert f(x, np.array(2)) == 10.0
    assert f(x + 1, np.array(2)) == 18.0


def test_function_of_values_is_refused_in_the_end():
    f = sg.compile(lambda x: x * float(x))
    for k in range(16):
        assert f(np.float64(k)) == k * k
    with pytest.raises(CompileError, match=r"looked at values of its arguments \(item\(\)\)"):
        f(np.float64(99))


def test_items_of_arrays_are_followed():
    f = sg.compile(lambda x: x * x.item())
    for k in range(20):
        assert f(np.float64(k)) == k * k


def test_detach_and_no_grad_are_followed():
    def f(x):
        with sg.no_grad():
            top = x.max()
        return (sg.exp(x - top) / x.detach()).sum()

    compiled = sg.compile(f)
    for x in (np.array([1.0, 2.0]), np.array([5.0, 3.0])):
        np.testing.assert_allclose(compiled(x), (np.exp(x - x.max()) / x).sum())
    x = np.array([5.0, 3.0])
    np.testing.assert_allclose(sg.compile(sg.func.grad(f))(x), np.exp(x - 5) / x)


def test_gradients_taken_inside_are_followed():
    def f(x):
        (g,) = sg.autograd.grad((x**3).sum(), x)
        return g * 2

    compiled = sg.compile(f, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(compiled(np.array([3.0, 4.0])), [54, 96])


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x * sg.randn(2, dtype=np.float64), "random numbers"),
        (lambda x: (x * x).sum().backward(), r"backward\(\) adds into .grad"),
        (lambda x: "text", "gave str"),
        (lambda x: None, "gave NoneType"),
    ],
)
def test_what_no_program_can_repeat_is_refused(f, words):
    with pytest.raises(CompileError, match=words):
        sg.compile(f, np.ones(2))


def test_outer_variables_are_watched():
    scale = 2.0
    w = sg.tensor([1.0, 2.0], dtype=np.float64)

    def f(x):
        return (x * w).sum() * scale

    compiled = sg.compile(f)
    x = np.ones(2)
    assert compiled(x) == 6.0
    scale = 3.0
    assert compiled(x) == 9.0
    w.fill_(1)
    assert compiled(x) == 6.0
    w = sg.tensor([5.0, 5.0], dtype=np.float64)
    assert compiled(x) == 30.0


# ---------------------------------------------------------------------------- errors


def example():
    A = sg.tensor(np.ones((2, 3)), requires_grad=True, name="A")
    x = sg.tensor(np.ones(3), requires_grad=True, name="x")
    return sg.compile((A @ x).sum(), ["A", "x"])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda f: f(np.ones((2, 3)), y=np.ones(3)), NameProblem, "no argument called 'y'; its arguments are A, x"),
        (lambda f: f(np.ones((2, 3))), ArgumentError, "misses x"),
        (lambda f: f(1, 2, 3), ArgumentError, "takes 2 arguments"),
        (lambda f: f(np.ones((2, 3)), np.ones(3), x=1), ArgumentError, "takes|twice"),
        (lambda f: f(np.ones(3), np.ones(3)), ShapeError, r"A has shape \(3,\) with 1 axes"),
        (
            lambda f: f(np.ones((2, 4)), np.ones(3)),
            ShapeError,
            r"x of shape \(3,\) has size 3 in axis 0, where A has m = 4",
        ),
        (lambda f: f(np.ones((2, 3)) * 1j, np.ones(3)), DtypeError, "complex128"),
        (lambda f: f(np.ones((2, 3)), "abc"), DtypeError, "x has dtype"),
    ],
)
def test_errors_name_arguments_and_shapes(call, error, words):
    with pytest.raises(error, match=words):
        call(example())


@pytest.mark.parametrize("name", ["x; import os", "lambda", "1x", "__class__", "a b", "np"])
def test_names_are_validated(name):
    x = sg.tensor(np.ones(3), requires_grad=True, name="x")
    with pytest.raises(NameProblem):
        sg.compile((x * x).sum(), [name])
    with pytest.raises(NameProblem):
        sg.compile(lambda x: x, np.ones(2), name=name)


def test_names_from_python_are_validated():
    program = sg.compile(lambda p: 2 * p["a; b"], {"a; b": np.ones(2)})
    assert program.source.startswith("def program(p_a__b):")  # what no name has is left out of it
    assert program({"a; b": np.ones(3)}).tolist() == [2, 2, 2]
    with pytest.raises(NameProblem, match="for a module"):
        sg.compile(lambda np: np, np.ones(2))


def test_what_a_graph_computes_on_its_way_is_no_argument():
    """It was taken and not read, so that a program gave the same whatever it was."""
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    c = x * 2
    y = (c * x).sum()
    with pytest.raises(NameProblem, match="'c' is no leaf of the formula: the graph computes it on the way"):
        sg.compile(y, ["x", "c"])
    assert sg.compile(y, ["x", "other"])(np.ones(2), 5.0) == 4.0


def test_argument_names_may_be_letters_and_temporaries():
    f = sg.compile(lambda n, m, t1: (n @ m * sg.tanh(t1) ** 2).mean() + sg.tanh(t1).sum())
    n, m, t1 = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(3)
    expected = (n @ m * np.tanh(t1) ** 2).mean() + np.tanh(t1).sum()
    np.testing.assert_allclose(f(n, m, t1), expected)
    np.testing.assert_allclose(f(n=n, m=m, t1=t1), expected)


def test_not_traced_yet():
    with pytest.raises(CompileError, match="not been traced yet"):
        sg.compile(loss).source


def test_compile_takes_tensors_and_functions():
    with pytest.raises(ArgumentError, match="not int"):
        sg.compile(3)


# ---------------------------------------------------------------------------- pickling, tracebacks, export


def test_pickle_round_trip():
    args = data()
    f = sg.compile(sg.func.value_and_grad(loss, argnums=2), *args)
    again = pickle.loads(pickle.dumps(f))
    assert again.source == f.source
    for a, b in zip(again(*args), f(*args), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(CompileError, match="unpickled without its Python function"):
        again(*data(30, 4))
    g = example()
    assert pickle.loads(pickle.dumps(g))(np.ones((4, 2)), np.ones(2)) == 8.0


def test_tracebacks_show_the_source():
    f = sg.compile(lambda a: sg.inverse(a) * 2, np.eye(2))
    try:
        f(np.zeros((2, 2)))
    except np.linalg.LinAlgError:
        text = traceback.format_exc()
    assert "np.linalg.inv(a)" in text
    assert "<symgrad " in text


SELFTESTS = {
    "value": loss,
    "gradient": sg.func.grad(loss, argnums=2),
    "both": sg.func.value_and_grad(loss, argnums=(2, 3)),
    "hessian": sg.func.hessian(loss, argnums=2),
}


@pytest.mark.parametrize("kind", SELFTESTS)
def test_saved_file_stands_alone(kind, tmp_path):
    args = data()
    f = sg.compile(SELFTESTS[kind], *args)
    path = tmp_path / "file.py"
    f.save(path)
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "self-test passed" in run.stdout
    assert ("central differences" in run.stdout) == (kind != "value")
    assert "symgrad" not in [
        line.split()[1] for line in path.read_text().splitlines() if line.startswith(("import", "from"))
    ]


def test_selftest_notices_a_change(tmp_path):
    path = tmp_path / "file.py"
    sg.compile(sg.func.grad(loss, argnums=2), *data()).save(path)
    path.write_text(path.read_text().replace("lam * w", "lam / 3 * w"))
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stdout.count("DIFFERS") == 2


def test_saved_file_with_constants_and_helpers(tmp_path):
    c = sg.tensor(rng.standard_normal(100))
    f = sg.compile(sg.func.grad(lambda x: (sg.lgamma(x * x + 1) * c + sg.erf(x)).sum()), np.ones(100))
    path = tmp_path / "file.py"
    f.save(path)
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_saved_file_with_larger_samples(tmp_path):
    """Sample values of more than 64 entries are written as bytes, which need an import."""
    f = sg.compile(sg.func.grad(lambda W, x: (x @ W).tanh().sum()), np.ones((10, 7)), np.ones((12, 10)))
    path = tmp_path / "file.py"
    f.save(path)
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    masked = sg.compile(lambda x: (x[np.arange(80) % 3 > 0] ** 2).sum(), np.linspace(0, 1, 80))
    masked.save(path)
    run = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_importing_does_not_load_sympy():
    code = "import symgrad, symgrad.func, symgrad.compiler, sys; sys.exit('sympy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------------- size of programs


def deep(x, steps=1200):
    for _ in range(steps):
        x = sg.sin(x) * x
    return x


def test_deep_programs():
    f = sg.compile(sg.func.value_and_grad(deep), 1.7)
    value, gradient = f(1.7)
    t = sg.tensor(np.float64(1.7), requires_grad=True)
    y = deep(t)
    y.backward()
    assert value == y.item() > 1.5  # from 1.7 the chain stays above pi/2; from below it would vanish
    np.testing.assert_allclose(gradient, t.grad.item(), rtol=1e-9)
    assert gradient > 1e-12
    assert len(f.program.function.__code__.co_varnames) < 3 * 1200 + 10


def test_values_are_dropped_when_they_are_not_needed():
    f = sg.compile(lambda x: deep(x, 500), 1.4)
    assert len(getattr(f.program.function, "__wrapped__", f.program.function).__code__.co_varnames) <= 4


@pytest.mark.parametrize("steps", [5, 50, 500])
def test_gradients_grow_linearly(steps):
    inner = trace(lambda x: deep(x, steps), (1.4,))
    outer = trace(sg.func.grad(lambda x: deep(x, steps)), (1.4,))
    assert count(outer.outputs[0].term) <= 5 * count(inner.outputs[0].term)


def test_a_program_does_not_hand_out_the_memory_of_its_arguments() -> None:
    z = np.array([1 + 2j, 3 - 1j])
    for part in (lambda z: z.imag, lambda z: sg.view_as_real(z), lambda z: z.unfold(0, 1, 1)):
        assert not np.shares_memory(sg.compile(part, z)(z), z)


def test_what_a_graph_does_not_show_is_refused():
    with pytest.raises(CompileError, match="resizes a tensor in place"):
        sg.compile(lambda i: i.resize_(2), np.array([1, 2, 3]))


def test_sizes_given_as_a_tensor():
    def ends(v, k):
        return sg.split_with_sizes(v, k)[-1].sum()

    v = np.array([1.0, 2.0, 4.0])
    program = sg.compile(ends, v, np.array([2, 1]))
    assert program(v, np.array([2, 1])) == 4
    assert program(v, np.array([1, 2])) == 6

"""Programs saved for torch and JAX: what the files compute, and what their libraries make of them."""

import contextlib
import importlib.util
import runpy
import subprocess
import sys
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import build
from symgrad.compiler.trace import trace
from symgrad.errors import ArgumentError, CompileError, NameProblem
from symgrad.op import TABLE
from symgrad.proving.laws import is_data
from symgrad.proving.samples import cases, make_case
from tests.compiling.of_engineers import attention, gaussian, image, logistic, pieces, stencil, truss

F = sg.nn.functional
rng = np.random.default_rng(0)
TARGETS = [
    pytest.param(t, marks=pytest.mark.skipif(importlib.util.find_spec(t) is None, reason=f"{t} is not installed"))
    for t in ("torch", "jax")
]
on_every_target = pytest.mark.parametrize("target", TARGETS)
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
needs_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")


def precise(target):
    if target == "torch":
        return contextlib.nullcontext()
    import jax

    return jax.enable_x64(True)


@contextlib.contextmanager
def bits_of_jax_kept(target):
    """The self-test of a file for JAX asks for 64 bits, which would hold for the tests after it."""
    if target == "torch":
        yield
        return
    import jax

    before = jax.config.jax_enable_x64
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def array(target, value):
    if target == "torch":
        import torch

        return torch.tensor(value)
    import jax.numpy as jnp

    return jnp.asarray(value)


def saved(program, folder, target):
    path = folder / f"{target}_file.py"
    program.save(path, target=target)
    with precise(target):
        return runpy.run_path(str(path)), path


def same(target, program, function, args, tolerance=1e-9):
    """Whether the file gives what the NumPy program gives, in its dtypes and shapes."""
    expected = program.function(*args)
    with precise(target), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = function(*(array(target, a) for a in args))
    pairs = zip(
        expected if isinstance(expected, tuple) else (expected,),
        found if isinstance(found, tuple) else (found,),
        strict=True,
    )
    for want, got in pairs:
        got = got.resolve_conj().numpy() if target == "torch" else np.asarray(got)
        assert (got.shape, got.dtype) == (np.shape(want), np.asarray(want).dtype)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------------------- functions of users


def definite(n):
    A = rng.random((n, n))
    return A @ A.T + n * np.eye(n)


def arm(q, links):
    c, s = sg.cos(q), sg.sin(q)
    p = links[0]
    for k in range(3):
        turn = sg.stack([sg.stack([c[k], -s[k]]), sg.stack([s[k], c[k]])])
        p = turn @ p + links[k] * q[:2].sum()
    return p


def poses(X, i, z):
    c, s = sg.cos(X[i][:, 2]), sg.sin(X[i][:, 2])
    d = X[:-1, :2] - X[1:, :2]
    return ((c * d[:, 0] + s * d[:, 1] - z) ** 2).sum() + (s * d[:, 1]).sum()


def robust(x, y):
    small = sg.abs(x**3) < 1
    return sg.where(small, 0.5 * x**6, sg.abs(x**3) - 0.5).mean() + sg.logaddexp(0 * y, x).sum() + np.logaddexp(0, x)[0]


def partial_likelihood(b, X, t):
    at_risk = t[None, :] >= t[:, None]
    return (sg.log(at_risk @ sg.exp(X @ b)) - X @ b).sum()


ENDS = np.array([[0, 1], [1, 2], [2, 3], [-1, 0]])
CASES = {
    "arm": (sg.func.jacrev(arm), lambda k: (rng.random(3), rng.random((3, 2)))),
    "poses": (sg.func.grad(poses), lambda k: (rng.random((5 + k, 3)), np.arange(4 + k), rng.random(4 + k))),
    "robust": (sg.func.grad(robust), lambda k: (3 * rng.random(5 + k) - 1.5, rng.random(5 + k))),
    "logistic": (
        sg.func.value_and_grad(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "logistic, second": (
        sg.func.hessian(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "gaussian": (sg.func.grad(gaussian, argnums=(0, 1)), lambda k: (definite(3 + k), rng.random(3 + k))),
    "attention": (
        sg.func.grad(attention),
        lambda k: (rng.random((4 + k, 3)), rng.random((6 + k, 3)), rng.random((6 + k, 2))),
    ),
    "survival": (
        sg.func.grad(partial_likelihood),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), rng.random(5 + k)),
    ),
    "stencil": (sg.func.grad(stencil), lambda k: (rng.random((5 + k, 7 + k)),)),
    "pieces": (sg.func.grad(pieces, argnums=(0, 1)), lambda k: (2 * rng.random(5 + k), 2 * rng.random(3 + k))),
    "image": (sg.func.grad(image), lambda k: (rng.random((6 + k, 8 + k)), rng.random((3, 3)))),
    "truss": (sg.func.grad(truss), lambda k: (rng.random((5 + k, 2)), ENDS, rng.random(4))),
}


SOON = ("logistic",)
"""What is quick in JAX, which compiles every call when it comes first."""
BY_TARGET = [
    pytest.param(name, *t.values, marks=[*t.marks, *([pytest.mark.slow] * (t.values == ("jax",) and name not in SOON))])
    for name in CASES
    for t in TARGETS
]


@pytest.mark.parametrize(("name", "target"), BY_TARGET)
def test_the_file_gives_what_numpy_gives_at_other_sizes(name, target, tmp_path):
    f, make = CASES[name]
    program = sg.compile(f, *make(0)).program
    module, _ = saved(program, tmp_path, target)
    for k in (0, 2):
        same(target, program, module[program.name], make(k))


@on_every_target
@pytest.mark.slow
def test_the_file_is_a_program_that_needs_its_library_only(target, tmp_path):
    _, path = saved(sg.compile(sg.func.grad(attention), *CASES["attention"][1](0)).program, tmp_path, target)
    done = subprocess.run([sys.executable, "-I", path, "--selftest"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "self-test passed" in done.stdout


@needs_torch
def test_the_self_test_finds_what_is_wrong(tmp_path, capsys):
    args = rng.random(3), rng.random((5, 3)), np.ones(5)
    module, path = saved(sg.compile(sg.func.grad(logistic), *args).program, tmp_path, "torch")
    text = path.read_text(encoding="utf-8")
    assert "numpy as np" not in text
    assert "symgrad" not in text.replace("written by symgrad", "")
    assert module["_selftest"]() == 0
    path.write_text(text.replace("0.02 *", "0.03 *"), encoding="utf-8")
    assert runpy.run_path(str(path))["_selftest"]() == 1
    assert "DIFFERS from the stored value" in capsys.readouterr().out


@on_every_target
def test_arguments_that_do_not_fit_are_refused(target, tmp_path):
    program = sg.compile(lambda A, x: A @ x, rng.random((3, 2)), rng.random(2)).program
    module, _ = saved(program, tmp_path, target)
    f = module[program.name]
    with precise(target):
        A, x = array(target, np.ones((3, 2))), array(target, np.ones(3))
        with pytest.raises(ValueError, match="x has size 3 in axis 0, but x must have shape .* is 2 in A"):
            f(A, x)
        with pytest.raises(ValueError, match=r"x has shape \(3, 2\) with 2 axes"):
            f(A, A)
        with pytest.raises(TypeError, match="complex128, which does not go into"):
            f(A, x[:2] * 1j)
        assert f(A, x[:2] > 0).shape == (3,)
        assert f([[1.0, 2.0]], [3, 4]).tolist() == [11.0]


@on_every_target
def test_constants_travel_along(target, tmp_path):
    big, small = rng.random((9, 8)), rng.random(9)
    program = sg.compile(lambda x: sg.tanh(sg.tensor(big) @ x) * sg.tensor(small), rng.random(8)).program
    module, _ = saved(program, tmp_path, target)
    with precise(target):
        x = rng.random(8)
        found = module[program.name](array(target, x))
    np.testing.assert_allclose(np.asarray(found), program(x), rtol=1e-12)


@on_every_target
def test_half_a_program_is_refused_with_names(target, tmp_path):
    path = tmp_path / "f.py"
    with pytest.raises(CompileError, match=f"calls bessel_j.* no form in {target}"):
        sg.compile(lambda x: sg.special.bessel_j0(x), rng.random(3)).save(path, target=target)
    with pytest.raises(CompileError, match="one way through a function"):
        sg.compile(lambda x: x * 2 if x.sum() > 0 else x, np.ones(3)).save(path, target=target)
    with pytest.raises(ArgumentError, match=r"f.c ends in .c"):
        sg.compile(lambda x: x * 2, np.ones(3)).save(tmp_path / "f.c", target=target)
    assert not path.exists()


def test_targets_that_there_are_not_are_refused(tmp_path, monkeypatch):
    f = sg.compile(lambda x: x * 2, np.ones(3))
    with pytest.raises(ArgumentError, match="no target 'fortran'; the targets are 'numpy', 'torch', 'jax'"):
        f.save(tmp_path / "f.py", target="fortran")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompileError, match="torch is not installed"):
        f.save(tmp_path / "f.py", target="torch")
    f.save(tmp_path / "f.py", target="numpy")
    assert "import numpy" in (tmp_path / "f.py").read_text(encoding="utf-8")


# ---------------------------------------------------------------------------- what the libraries do with the function


@needs_torch
def test_torch_differentiates_and_maps_the_function(tmp_path):
    import torch

    args = rng.random(3), rng.random((5, 3)), (rng.random(5) > 0.5) * 1.0
    value = saved(sg.compile(logistic, *args).program, tmp_path, "torch")[0]["logistic"]
    gradient = sg.func.grad(logistic)(*args).numpy()
    w, X, y = (torch.tensor(a) for a in args)
    w.requires_grad_()
    value(w, X, y).backward()
    np.testing.assert_allclose(w.grad, gradient, rtol=1e-12)
    np.testing.assert_allclose(torch.func.grad(value)(w.detach(), X, y), gradient, rtol=1e-12)
    rows = torch.tensor(rng.random((4, 3)))
    each = torch.func.vmap(value, (0, None, None))(rows, X, y)
    np.testing.assert_allclose(each, torch.stack([value(r, X, y) for r in rows]), rtol=1e-12)


@needs_torch
def test_new_arrays_are_where_the_argument_is(tmp_path):
    import torch

    mask = np.arange(6.0).reshape(2, 3)
    program = sg.compile(sg.func.grad(lambda x: (x[0] * sg.tensor(mask)[1]).sum()), rng.random((2, 3))).program
    f = saved(program, tmp_path, "torch")[0][program.name]
    assert f(torch.ones(4, 3, dtype=torch.float64, device="meta")).device.type == "meta"


@needs_jax
def test_jax_compiles_differentiates_and_maps_the_function(tmp_path):
    import jax

    args = rng.random(3), rng.random((5, 3)), (rng.random(5) > 0.5) * 1.0
    value = saved(sg.compile(logistic, *args).program, tmp_path, "jax")[0]["logistic"]
    gradient = sg.func.grad(logistic)(*args).numpy()
    with precise("jax"):
        np.testing.assert_allclose(jax.jit(jax.grad(value))(*args), gradient, rtol=1e-12)
        rows = rng.random((4, 3))
        each = jax.vmap(value, (0, None, None))(rows, *args[1:])
        np.testing.assert_allclose(each, [value(r, *args[1:]) for r in rows], rtol=1e-12)


@needs_jax
def test_jax_is_told_to_have_64_bits(tmp_path):
    import jax

    def double_of(x):
        return x * 2

    def third_of(x):
        return x / 3

    double = saved(sg.compile(double_of, np.ones(3)).program, tmp_path, "jax")[0]["double_of"]
    with jax.enable_x64(False), pytest.raises(TypeError, match="'jax_enable_x64', True"):
        double(np.ones(3))
    single = saved(sg.compile(third_of, np.ones(3, np.float32)).program, tmp_path, "jax")[0]["third_of"]
    for wide in (False, True):
        with jax.enable_x64(wide):
            assert single(np.ones(3, np.float32)).dtype == np.float32


# ---------------------------------------------------------------------------- the table

SIGNS = ("eigh_vectors", "svd_u", "svd_vh")
"""What is known up to the signs of its columns or rows."""

FIRST = sorted({name for name, _ in cases()})


def swept(target, name, k, folder):
    """Save one op for a target and compare there; False where the file was refused."""
    args, params = make_case(name, k)
    arrays = [a for a in args if is_data(a)]
    op = TABLE[name]

    def f(*xs):
        rest = iter(xs)
        return op(*(next(rest) if is_data(a) else a for a in args), **params)

    with np.errstate(all="ignore"):
        program = build(trace(f, arrays))
        try:
            module, _ = saved(program, folder, target)
        except CompileError as error:
            assert f"no form in {target}" in str(error) or f"not written for {target}" in str(error)  # noqa: PT017
            return False
        if any(a.default is not None for a in program.arguments):
            return True
        for seed in (11, 12):
            fresh = [a for a in make_case(name, k, seed=seed)[0] if is_data(a)]
            if name not in SIGNS:
                same(target, program, module[program.name], fresh)
    return True


@on_every_target
@pytest.mark.slow
def test_every_op_gives_what_numpy_gives_or_is_refused(target, tmp_path):
    found = {name: [swept(target, name, k, tmp_path) for n, k in cases() if n == name] for name in FIRST}
    assert sum(map(all, found.values())) >= {"torch": 230, "jax": 230}[target], [n for n in found if not all(found[n])]


@needs_torch
@pytest.mark.parametrize("name", ["sum", "softmax", "logsumexp", "solve", "put", "windows_sum", "std", "pad", "where"])
def test_common_ops_have_a_form_in_torch(name, tmp_path):
    assert swept("torch", name, 0, tmp_path)


@needs_jax
@pytest.mark.slow
@pytest.mark.parametrize("name", ["cholesky", "eigvalsh", "expn"])
def test_jax_reads_one_triangle_and_the_arguments_in_order(name, tmp_path):
    assert swept("jax", name, 0, tmp_path)


@pytest.mark.parametrize("target", ["torch", "jax"])
@pytest.mark.parametrize("name", ["k", "value", "found"])
def test_a_program_may_have_the_name_of_a_variable_of_its_self_test(tmp_path, target, name, monkeypatch):
    """The file runs as the main one, in this interpreter: a new one for each would import the library again."""
    pytest.importorskip(target)
    program = sg.compile(sg.func.grad(lambda x: (sg.sin(x) * x).sum()), np.ones(3), name=name)
    program.save(tmp_path / "f.py", target=target)
    monkeypatch.setattr(sys, "argv", ["f.py", "--selftest"])
    with bits_of_jax_kept(target), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(tmp_path / "f.py"), run_name="__main__")
    assert ended.value.code == 0


def test_names_of_modules_are_refused(tmp_path):
    pytest.importorskip("torch")
    program = sg.compile(lambda x: x * 2, np.ones(3), name="torch")
    with pytest.raises(NameProblem, match="'torch' is a module in a file for torch"):
        program.save(tmp_path / "f.py", target="torch")


@on_every_target
def test_windows_that_are_gathered_once_and_decompositions(tmp_path, target):
    picture = sg.func.grad(lambda X, W: (F.conv2d(X, W) ** 2).sum(), argnums=(0, 1))
    spectrum = sg.func.grad(lambda A: (lambda w, v: (w**3).sum() + (v**4).sum())(*sg.linalg.eigh(A)))
    turn = sg.func.grad(lambda A, B: (sg.linalg.matrix_exp(A) * B).sum())
    rows = (
        (picture, (rng.random((2, 3, 8, 9)), rng.random((4, 3, 2, 5)))),
        (spectrum, (definite(4),)),
        (turn, (rng.random((3, 3)), 1e9 * rng.random((3, 3)))),
    )
    for f, args in rows:
        program = sg.compile(f, *args, name="f").program
        function = saved(program, tmp_path, target)[0]["f"]
        same(target, program, function, args)


@on_every_target
def test_of_a_chaotic_program_it_is_said_that_no_two_libraries_agree(tmp_path, target):
    def tent(x):
        for _ in range(150):
            x = 1 - 2 * sg.tanh(2 * x) ** 2
        return x

    # Exponentials, and functions of few numbers, may be the same to the last digit in two libraries.
    program = sg.compile(tent, np.linspace(0.1, 0.5, 64), name="f").program
    with precise(target), pytest.raises(CompileError, match="change in their first digits where the arguments change"):
        program.save(tmp_path / "f.py", target=target)


def test_places_beyond_the_axis_raise_in_torch_as_they_do_here(tmp_path):
    """torch's take_along_dim takes 4 of four for 0: the file gave another entry, silently."""
    torch = pytest.importorskip("torch")
    x, k = np.random.default_rng(0).random((3, 4)), np.array([0, 3, -4])
    program = sg.compile(lambda x, k: sg.take_along_dim(x, k[:, None], 1) * 2, x, k, name="f")
    program.save(tmp_path / "f.py", target="torch")
    f = runpy.run_path(str(tmp_path / "f.py"))["f"]
    assert np.array_equal(f(torch.tensor(x), torch.tensor(k)).numpy(), program(x, k))
    for wrong in (4, -5):
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            f(torch.tensor(x), torch.tensor([0, wrong, 1]))


def test_computed_places_beyond_the_axis_raise_in_jax(tmp_path):
    """JAX drops what is added there: the file gave a gradient without these rows, silently."""
    jax = pytest.importorskip("jax")
    x, i = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, 2])
    program = sg.compile(sg.func.grad(lambda x, i: (x[2 * i] ** 2).sum()), x, i, name="f").program
    program.save(tmp_path / "f.py", target="jax")
    with jax.enable_x64(True):
        f = runpy.run_path(str(tmp_path / "f.py"))["f"]
        np.testing.assert_allclose(np.asarray(f(x, i)), program(x, i))
        np.testing.assert_allclose(np.asarray(jax.jit(f)(x, i)), program(x, i))
        for called in (program, f):
            with pytest.raises(IndexError):
                called(x, np.array([0, 4]))

"""Programs saved for Octave: run there, and compared with what NumPy does."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.exports.octave import _array, text_of
from symgrad.errors import ArgumentError, CompileError
from symgrad.op.record import TABLE
from tests.compiling.every_op import programs_of
from tests.compiling.of_engineers import attention, gaussian, systems, truss

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed")
F = sg.nn.functional
rng = np.random.default_rng(0)

_TOLD = """
function told(x)
    fprintf('%s', class(x));
    fprintf(' %d', size(x));
    fprintf(' :');
    fprintf(' %.17g', [real(double(x(:))), imag(double(x(:)))].');
    fprintf('\\n');
end
"""


def run(folder, script):
    command = [OCTAVE, "--no-init-file", "--quiet", "--path", str(folder), "--eval", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def selftests(folder, names):
    """What the self-tests say that fail."""
    lines = [f"try, evalc(\"{n}('selftest');\"); disp('{n} ok'); catch e, disp(['{n} ' e.message]); end" for n in names]
    (folder / "driver.m").write_text("warning('off', 'all');\n" + "\n".join(lines))
    done = run(folder, "driver")
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    return {n: told.get(n, done.stderr) for n in names if told.get(n) != "ok"}


def called(folder, name, *args, results=1):
    """The results of a saved function, as arrays with the axes that Octave gives."""
    (folder / "told.m").write_text(_TOLD)
    (folder / "rows.m").write_text(sg.compiler.targets.octave.library.LIBRARY["rows"])
    outs = ", ".join(f"r{k}" for k in range(results))
    row = ", ".join(map(_array, args))
    done = run(folder, f"[{outs}] = {name}({row}); {' '.join(f'told(r{k});' for k in range(results))}")
    found = []
    for line in done.stdout.splitlines():
        head, _, tail = line.partition(" :")
        kind, *sizes = head.split()
        values = np.array(tail.replace("Inf", "inf").replace("NaN", "nan").split(), float).reshape(-1, 2)
        flat = values[:, 0] + 1j * values[:, 1] if values[:, 1].any() else values[:, 0]
        found.append((kind, flat.reshape([int(s) for s in sizes], order="F")))
    assert len(found) == results, done.stderr
    return found


TRUTHS = {
    "half": lambda y: y // 2,
    "rest": lambda y: sg.remainder(y, 2) + sg.fmod(y, 2),
    "divided": lambda y: 7 // (y | True),
    "or": lambda y: y + y,
    "and": lambda y: y * y,
    "counted": lambda y: ((y + y) * 1).sum(),
    "squares": lambda y: ((y + y) * y).sum(),
}


@needs_octave
def test_truth_values_are_divided_added_and_multiplied_as_numpys_are(tmp_path):
    y = sg.tensor([True, False, True])
    for name, f in TRUTHS.items():
        sg.compile(f, y, name=f"truth_{name}").program.save(tmp_path / f"truth_{name}.m")
    assert not selftests(tmp_path, [f"truth_{name}" for name in TRUTHS])


# ---------------------------------------------------------------------------- functions of engineers


def ridge(w, X, y, rate=0.1):
    r = X @ w - y
    return (r**2).sum() / 2 + rate * (w @ w)


def stencil(u):
    flow = u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1]
    return (flow * flow).sum() + (u[::2] ** 3).sum() + sg.roll(u, 1, 0)[0].prod() + (u[-3:, ::-1] * u[:3]).sum()


def picture(p, k):
    return (F.conv2d(p[None, None], k[None, None]) ** 2).mean() + F.avg_pool1d(p, 2).pow(2).sum()


def spectrum(x):
    return (sg.fft.rfft(x).abs() ** 2 * sg.arange(x.shape[0] // 2 + 1)).sum()


def ranked(x, y):
    return (sg.sort(x).values * y).sum() + (sg.cumsum(x, 0) * sg.cumprod(y, 0)).sum() + x.max() * y.min()


def stacks(A, B, m):
    return (sg.einsum("bij,bjk->bik", A, B) * sg.where(m > 0, m, 0.5 * m)).sum() + (A * A[0] + A[:, :, :1]).mean()


def spread(x, Y):
    return (x[:, None] - Y).abs().amax(1).sum() + (Y / (1 + x[:, None] ** 2)).std() + sg.outer(x, Y[0]).trace()


def embedding(E, places):
    return (E[places] ** 3).sum() + E[places[0], places[1]].sum()


def stepped(x, y, rows):
    z = x * 2
    z[rows] = y
    z[1:3, ::2] = x[:2, 1::2] ** 2
    z[-1] = 1.5
    return (z**3).sum() + x.norm() + F.max_pool1d(x, 2).pow(2).sum()


def modes(S, w):
    values, vectors = sg.linalg.eigh(S + S.mT)
    sign, size = sg.linalg.slogdet(S)
    return (values**3).sum() + ((vectors * vectors)[:, 0] * w).sum() + sign * size


def mixed(w, X):
    return (sg.tanh(X @ w) * 0.1).sum() + (w.double() ** 2).sum()


S = rng.random((4, 4)) @ np.eye(4) + 4 * np.eye(4)
FUNCTIONS = {
    ridge: (rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)),
    attention: (rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))),
    truss: (rng.normal(size=(4, 2)), np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, -2]]), rng.random(5)),
    gaussian: (S @ S.T, rng.normal(size=4)),
    systems: (S, rng.normal(size=4)),
    stencil: (rng.normal(size=(5, 6)),),
    picture: (rng.normal(size=(6, 7)), rng.normal(size=(3, 2))),
    ranked: (rng.normal(size=6), rng.normal(size=6)),
    stacks: (rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 3, 3))),
    spread: (rng.normal(size=4), rng.normal(size=(4, 4))),
    embedding: (rng.normal(size=(5, 4)), np.array([[0, 1, 1], [3, 2, 0]])),
    stepped: (rng.normal(size=(5, 6)), rng.normal(size=(2, 6)), np.array([-2, 1])),
    modes: (S, rng.normal(size=4)),
    mixed: (rng.normal(size=3).astype("f"), rng.normal(size=(4, 3)).astype("f")),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Values and gradients of the functions, and a Hessian, saved; the folder and the programs."""
    folder, made = tmp_path_factory.mktemp("octave"), {}
    for f, args in FUNCTIONS.items():
        wrt = tuple(k for k, a in enumerate(args) if a.dtype.kind == "f")
        made[f.__name__] = sg.compile(sg.func.value_and_grad(f, wrt), *args, name=f.__name__).program
    made["hessian"] = sg.compile(sg.func.hessian(ridge), *FUNCTIONS[ridge], name="hessian").program
    made["fourier"] = sg.compile(sg.func.grad(spectrum), rng.normal(size=8), name="fourier").program
    for name, program in made.items():
        program.save(folder / f"{name}.m")
    return folder, made


@needs_octave
def test_all_self_tests_pass(programs):
    folder, made = programs
    assert selftests(folder, list(made)) == {}


@needs_octave
@pytest.mark.parametrize("n", [0, 1, 7])
def test_other_sizes(programs, n):
    folder, made = programs
    w, X, y = rng.normal(size=3), rng.normal(size=(n, 3)), rng.normal(size=n)
    found = called(folder, "ridge", w, X, y, results=4)
    for (kind, value), expected in zip(found, made["ridge"].function(w, X, y), strict=True):
        assert kind == "double"
        column = np.reshape(expected, (-1, 1)) if np.ndim(expected) < 2 else expected
        np.testing.assert_allclose(value, column, rtol=1e-12, strict=True)


@needs_octave
def test_a_row_stands_for_a_column_and_wrong_sizes_are_told(programs):
    folder, made = programs
    w, X, y = FUNCTIONS[ridge]
    ((_, value),) = called(folder, "hessian", w[None], X, y[None])
    np.testing.assert_allclose(value, made["hessian"].function(w, X, y), rtol=1e-12)
    done = run(folder, f"ridge({_array(w)}, {_array(X)}, {_array(y[1:])})")
    assert "y has size [4 1], but must be n x 1, which is [5 1] here" in done.stderr
    assert "w has entries that do not go into double" in run(folder, "ridge([1i; 2; 3], ones(5, 3), ones(5, 1))").stderr
    done = run(folder, f"systems({_array(np.ones((4, 4)))}, {_array(np.ones(4))})")
    assert "the matrix is singular" in done.stderr


@needs_octave
def test_classes_of_results(tmp_path):
    f = sg.compile(lambda x: (x * 2, x > 1, (x > 1).sum(), x.argmax(), x.cfloat() * 1j), np.ones(3, "f"), name="f")
    f.program.save(tmp_path / "f.m")
    found = called(tmp_path, "f", np.array([1.0, 3.0, 2.0], "f"), results=5)
    assert [kind for kind, _ in found] == ["single", "logical", "int64", "int64", "single"]
    assert [v.ravel().tolist() for _, v in found] == [[2, 6, 4], [0, 1, 1], [2], [1], [1j, 3j, 2j]]


@needs_octave
def test_complex_gradients_are_conjugated_where_numpy_does(tmp_path):
    def f(A, z):
        return ((A @ z).abs() ** 2).sum() + (A.mH @ A).trace().real

    args = rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2)), rng.normal(size=2) + 1j * rng.normal(size=2)
    program = sg.compile(sg.func.grad(f, (0, 1)), *args, name="g").program
    program.save(tmp_path / "g.m")
    for (_, value), expected in zip(called(tmp_path, "g", *args, results=2), program.function(*args), strict=True):
        np.testing.assert_allclose(value.reshape(expected.shape), expected, rtol=1e-12)


@needs_octave
def test_ways_of_functions_that_looked_at_values(tmp_path):
    def way(x, limit):
        return (x**2).sum() if x.sum() > limit else -(x**3).sum()

    def interpolated(values, grid, q):
        i = np.clip(np.searchsorted(grid, q) - 1, 0, grid.shape[0] - 2)
        t = (q - grid[i]) / (grid[i + 1] - grid[i])
        return values[i] * (1 - t) + values[i + 1] * t

    def masked(x):
        return (x[x > 0.5] ** 2).sum()

    args = rng.random(6), np.arange(6.0), np.array([0.5, 3.2, 4.4])
    sg.compile(sg.func.grad(way), np.ones(3), 0.5, name="way").program.save(tmp_path / "way.m")
    sg.compile(interpolated, *args, name="interpolated").program.save(tmp_path / "interpolated.m")
    sg.compile(sg.func.grad(masked), args[0], name="masked").program.save(tmp_path / "masked.m")
    assert selftests(tmp_path, ["way", "interpolated", "masked"]) == {}
    ((_, value),) = called(tmp_path, "way", np.arange(7.0), 0.5)
    assert value.ravel().tolist() == (2 * np.arange(7.0)).tolist()
    assert "looked at is not as it was" in run(tmp_path, "way(ones(3, 1), 9)").stderr
    ((_, value),) = called(tmp_path, "interpolated", args[0], args[1], args[2] + 0.1)
    np.testing.assert_allclose(value.ravel(), np.interp(args[2] + 0.1, args[1], args[0]), rtol=1e-12)


@needs_octave
def test_places_in_an_ascending_row(tmp_path):
    def f(row, x):
        return sg.searchsorted(row, x), sg.searchsorted(row, x, right=True)

    row, x = np.array([0.0, 1, 1, 2, 3, 4]), np.array([[1.0, 2, np.nan], [-1, 9, 0]])
    program = sg.compile(f, row, x, name="f").program
    program.save(tmp_path / "f.m")
    assert selftests(tmp_path, ["f"]) == {}
    for (_, value), expected in zip(called(tmp_path, "f", row, x, results=2), program.function(row, x), strict=True):
        np.testing.assert_array_equal(value, expected)


# ---------------------------------------------------------------------------- the table

SPELLED = sorted(
    n for n, op in TABLE.items() if op.c is not None and op.entrywise and not op.variadic and "f" not in op.refuses
)


def all_of_the_table(x, y, z, c):
    """The results of every op that is spelled in C, at numbers of both signs, with ties, infinite ones and nan."""
    found = []
    for name in SPELLED:
        op = TABLE[name]
        args = [x, y, z][: len(set(re.findall(r"\{\d\}", op.c)))]
        if op.condition is not None:
            args[op.condition] = c
        found.append(op(*([a > 0.3 for a in args] if name.startswith("logical") else args)))
    return found


@needs_octave
def test_every_spelling_of_the_table_computes_what_the_kernel_does(tmp_path):
    row = np.array([0.25, 0.5, 0.5, 0.75, 0.875, 0.125, -1.5, 0.0, 2.5, -2.5, 1.0, -1.0, np.inf, np.nan])
    args = row, np.roll(row, 1), np.roll(row, 2), row > 0.3
    with np.errstate(all="ignore"):
        program = sg.compile(all_of_the_table, *args, name="table").program
        expected = program.function(*args)
    program.save(tmp_path / "table.m")
    found = called(tmp_path, "table", *args, results=len(SPELLED))
    assert len(SPELLED) > 60
    wrong = {
        name: (a.ravel(), b)
        for name, (_, a), b in zip(SPELLED, found, expected, strict=True)
        if not np.allclose(a.ravel(), b, rtol=1e-12, atol=1e-300, equal_nan=True)
    }
    assert not wrong, wrong


@needs_octave
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_every_op_and_its_gradient_at_every_sample(tmp_path, dtype):
    names = []
    for _, program, _ in programs_of(dtype):
        try:
            program.save(tmp_path / f"f{len(names)}.m")
            names.append(f"f{len(names)}")
        except CompileError:
            pass  # refused, with a name
    assert len(names) > 700
    assert selftests(tmp_path, names) == {}


# ---------------------------------------------------------------------------- what is refused


def test_names_refusals_and_bytes(tmp_path):
    program = sg.compile(sg.func.grad(ridge), *FUNCTIONS[ridge]).program
    program.save(tmp_path / "slope.m")
    text = (tmp_path / "slope.m").read_text()
    assert "function out = slope(w, X, y)" in text
    assert "out = X.' * (X * w - y) + 0.2 * w;" in text
    assert text == text_of(program, "slope")
    for name in ("end", "sin", "2x", "a-b"):
        with pytest.raises(ArgumentError, match="is no name of its own there"):
            program.save(tmp_path / f"{name}.m")
    with pytest.raises(ArgumentError, match="f.m ends in .m"):
        program.save(tmp_path / "f.m", target="torch")


def test_arguments_may_have_any_name():
    def f(end, i, sum, θ):  # noqa: A002
        return (end * i).sum() + sum * θ

    text = text_of(sg.compile(f, np.ones(3), np.ones(3), np.float64(2), np.float64(3)).program)
    assert "function out = f(end_, i_, sum_, u03b8)" in text


@pytest.mark.parametrize(
    ("f", "x", "words"),
    [
        (lambda x: sg.special.bessel_j0(x), np.ones(3), r"not written in Octave: \w+\(\) has no form there"),
        (lambda x: x[np.argsort(x)][:2].sum(), np.arange(5000.0), "looked at 5000 values"),
        (lambda x: x * 2, np.ones(3, np.float16), "has dtype float16, which Octave has not"),
        (lambda x: sg.exp(x).to(sg.float16).to(sg.float64), np.ones(3), "has dtype float16, which Octave has not"),
        (lambda x: x * x, np.ones(3, np.uint8), "mul.. of uint8 goes round at the end of its range"),
        (lambda x: sg.linalg.eigh(x)[1], np.eye(3), "whose signs are free"),
        (lambda x: sg.asin(x), np.ones(3, complex), r"asin\(\) has no form there"),
    ],
)
def test_what_is_refused(f, x, words):
    with pytest.raises(CompileError, match=words):
        text_of(sg.compile(f, x, name="f").program)


@needs_octave
def test_functions_of_matrices_make_floats_of_whole_numbers(tmp_path):
    y, functions = (
        np.array([[3, -2], [1, 4], [0, 2]]),
        {"cond": np.linalg.cond, "inv": lambda y: np.linalg.inv(y.T @ y)},
    )
    for name, f in functions.items():
        sg.compile(f, y, name=f"{name}_").save(tmp_path / f"{name}_.m")
    assert selftests(tmp_path, [f"{name}_" for name in functions]) == {}


@needs_octave
def test_sizes_of_constants_and_functions_of_truth_values(tmp_path):
    def moved(z):
        t = np.zeros_like(z)
        t[-1:] = z[:1] + t[1:2]
        return t

    z = np.array([0.5, -1.0, 2.0])
    functions = {"moved": moved, "signs": lambda z: np.sign(z > 0), "most": lambda z: (z[:, None] > z).max(0)}
    for name, f in functions.items():
        sg.compile(f, z, name=name).save(tmp_path / f"{name}.m")
    assert selftests(tmp_path, list(functions)) == {}


def enlarged(x):
    return sg.nn.functional.interpolate(x, size=9, mode="linear")


ENDLESS = np.array([[[0.5, np.inf, 1.0, -2.0, np.nan, 3.0]]])


def test_a_weight_of_zero_keeps_out_what_is_not_finite(tmp_path):
    """It was a product of matrices, in which 0 · inf is nan."""
    program = sg.compile(enlarged, np.where(np.isfinite(ENDLESS), ENDLESS, 0), name="enlarged").program
    program.save(tmp_path / "enlarged.m")
    assert "out = weighed(x, c1, 3);" in (tmp_path / "enlarged.m").read_text()


@needs_octave
def test_weights_beside_infinities(tmp_path):
    program = sg.compile(enlarged, np.where(np.isfinite(ENDLESS), ENDLESS, 0), name="enlarged").program
    program.save(tmp_path / "enlarged.m")
    assert selftests(tmp_path, ["enlarged"]) == {}
    ((_, value),) = called(tmp_path, "enlarged", ENDLESS)
    np.testing.assert_allclose(np.ravel(value), np.ravel(program.function(ENDLESS)), rtol=1e-12)

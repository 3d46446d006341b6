"""Programs saved as C99: compiled by the machine's compiler, and compared with what they are the same as."""

import re
import subprocess
import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError
from symgrad.op.record import TABLE
from symgrad.proving.exported import programs_of
from symgrad.proving.in_c import WARNINGS, called, compiler, library, text_of

CC = compiler()
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")
F = sg.nn.functional


@needs_cc
def test_no_rows(tmp_path):
    """What divides by the number of rows is IEEE's where there are none, as in the NumPy program."""
    f = sg.compile(sg.func.grad(lambda w, x: w / x.shape[0]), np.float64(2.0), np.ones(3)).program
    text = text_of(f, tmp_path)
    outs, status = called(library([text], tmp_path), f, text, np.float64(2.0), np.ones(0))
    assert status == 0
    assert outs[0] == f(2.0, np.ones(0)) == np.inf


# ---------------------------------------------------------------------------- functions of engineers


def logistic(w, X, y):
    return F.binary_cross_entropy_with_logits(X @ w, y) + 0.01 * (w @ w)


def truss(X, ends, k):
    d = X[ends[:, 0]] - X[ends[:, 1]]
    return (k * (sg.sqrt((d * d).sum(1)) - 1) ** 2).sum()


def gaussian(S, x):
    L = sg.linalg.cholesky(S)
    z = sg.linalg.solve_triangular(L, x[:, None], upper=False)
    return (z * z).sum() / 2 + sg.log(sg.diagonal(L)).sum()


def systems(A, b):
    return (sg.linalg.solve(A, b) ** 2).sum() + sg.logdet(A).sum() + sg.linalg.inv(A).sum()


def attention(q, k, v):
    return (sg.softmax(q @ k.T, -1) @ v).pow(2).sum() + sg.logsumexp(q, 1).sum()


def stencil(u):
    flow = u[1:-1, 2:] + u[1:-1, :-2] + u[2:, 1:-1] + u[:-2, 1:-1] - 4 * u[1:-1, 1:-1]
    return (flow * flow).sum() + (u[::2] ** 3).sum() + sg.roll(u, 1, 0)[0].prod()


def pieces(x, y):
    joined = sg.cat([x, sg.stack([y.sum(), y.prod()]), sg.flip(y, (0,))])
    kinked = sg.where(joined > 1, joined**2, sg.clamp(joined, 0.5, 0.9)) + sg.abs(joined - 1)
    return (sg.cumsum(kinked, 0) ** 2).sum() + sg.amax(x, 0) * sg.amin(y, 0) + F.pad(x, (2, 1)).cumsum(0).mean()


def image(picture, kernel):
    return (F.conv2d(picture[None, None], kernel[None, None]) ** 2).mean() + picture.std()


def chain(theta, double):
    angle = sg.cumsum(theta, 0)
    return sg.stack([(double * sg.cos(angle)).sum(), (double * sg.sin(angle)).sum()])


def ranked(x, y):
    up, down = sg.sort(x, dim=0, stable=True).values, sg.sort(y, dim=1, descending=True, stable=True).values
    return (up * down).sum() + (up[0] ** 2).sum() + F.max_pool1d(x, 2).pow(2).sum()


def lengths(x, p):
    some = sum(sg.linalg.vector_norm(x, k, dim=1).prod() for k in (0, 1, 2, 3, np.inf, -np.inf))
    return some + x.norm() + sg.relu(x - p).pow(2).sum() + sg.div(x, p, rounding_mode="floor").sum()


def modes(S, w):
    values, vectors = sg.linalg.eigh(S + S.mT)
    sign, size = sg.linalg.slogdet(S)
    return (values**3).sum() + ((vectors * vectors)[..., 0] * w).sum() + (sign * size).sum()


def stepped(x, y, rows):
    z = x * 2
    z[rows] = y
    z[1:3, ::2] = x[:2, 1::2] ** 2
    z[-1] = 1.5
    return (z**3).sum()


rng = np.random.default_rng(0)
ENDS = np.array([[0, 1], [1, 2], [2, 3], [-1, 0]])


def definite(n):
    A = rng.random((n, n))
    return A @ A.T + n * np.eye(n)


def stacks(b, n):
    return rng.random((b, n, n)) + n * np.eye(n)


CASES = {
    "logistic": (
        sg.func.value_and_grad(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "logistic, second": (
        sg.func.hessian(logistic),
        lambda k: (rng.random(3), rng.random((5 + k, 3)), (rng.random(5 + k) > 0.5) * 1.0),
    ),
    "truss": (sg.func.grad(truss), lambda k: (rng.random((5 + k, 2)), ENDS, rng.random(4))),
    "gaussian": (sg.func.grad(gaussian, argnums=(0, 1)), lambda k: (definite(3 + k), rng.random(3 + k))),
    "systems": (sg.func.grad(systems), lambda k: (stacks(2, 3 + k), rng.random((2, 3 + k, 2)))),
    "attention": (
        sg.func.grad(attention),
        lambda k: (rng.random((4 + k, 3)), rng.random((6 + k, 3)), rng.random((6 + k, 2))),
    ),
    "stencil": (sg.func.grad(stencil), lambda k: (rng.random((5 + k, 7 + k)),)),
    "pieces": (sg.func.grad(pieces, argnums=(0, 1)), lambda k: (2 * rng.random(5 + k), 2 * rng.random(3 + k))),
    "image": (sg.func.grad(image), lambda k: (rng.random((6 + k, 8 + k)), rng.random((3, 3)))),
    "ranked": (
        sg.func.value_and_grad(ranked, argnums=(0, 1)),
        lambda k: (rng.permutation(np.arange(48.0 + 16 * k) // 2).reshape(-1, 8), rng.random((6 + 2 * k, 8))),
    ),
    "lengths": (sg.func.value_and_grad(lengths), lambda k: (rng.random((4 + k, 5)) * ENDS[0, 1], np.float64(0.3))),
    "modes": (sg.func.value_and_grad(modes, argnums=(0, 1)), lambda k: (stacks(2, 3 + k), rng.random(3 + k))),
    "stepped": (
        sg.func.value_and_grad(stepped, argnums=(0, 1)),
        lambda k: (rng.random((5 + k, 6)), rng.random((2, 6)), np.array([-2, 1])),
    ),
    "chain": (sg.func.jacobian(chain), lambda k: (rng.random(4 + k), rng.random(4 + k))),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The programs of all cases with their texts, and the library of their functions."""
    folder = tmp_path_factory.mktemp("c")
    programs = {
        name: sg.compile(f, *make(0), name=f"f{k}_").program for k, (name, (f, make)) in enumerate(CASES.items())
    }
    texts = {name: text_of(p, folder) for name, p in programs.items()}
    return programs, texts, library(list(texts.values()), folder, "-O0") if CC else None


@needs_cc
@pytest.mark.parametrize("name", CASES)
def test_c_gives_what_numpy_gives_at_other_sizes(name, compiled):
    programs, texts, found = compiled
    f, make = CASES[name]
    for k in (0, 2):
        args = make(k)
        outs, status = called(found, programs[name], texts[name], *args)
        assert status == 0
        expected = programs[name].function(*args)
        for a, b in zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@needs_cc
@pytest.mark.parametrize("name", ["gaussian", "truss"])
def test_selftest_of_a_c_file(name, compiled, tmp_path):
    (tmp_path / "f.c").write_text(compiled[1][name], encoding="utf-8")
    made = tmp_path / "f"
    subprocess.run([CC, *WARNINGS, "-O2", "-DSELFTEST", str(tmp_path / "f.c"), "-o", str(made), "-lm"], check=True)
    assert "self-test passed" in subprocess.run([str(made)], capture_output=True, text=True, check=True).stdout


@needs_cc
def test_c_tells_what_does_not_fit_by_its_code(compiled):
    programs, texts, found = compiled
    wrong = np.array([[0, 1], [1, 9], [2, 3], [0, 1]])
    assert called(found, programs["truss"], texts["truss"], rng.random((5, 2)), wrong, rng.random(4))[1] == 3
    assert called(found, programs["gaussian"], texts["gaussian"], -np.eye(3), np.ones(3))[1] == 4
    assert called(found, programs["systems"], texts["systems"], np.zeros((2, 3, 3)), np.ones((2, 3, 2)))[1] == 4
    assert "place in an array of places" in texts["truss"]


@needs_cc
def test_quotients_rounded_down_and_orders_with_nan(tmp_path):
    def f(x, y):
        return x // y, sg.sign(x), sg.argsort(x, stable=True), sg.argsort(x, descending=True, stable=True)

    x = np.array([1.0, -1.0, 0.0, np.inf, np.nan, 5.5, 5.5, np.nan, -np.inf, 0.3])
    y = np.array([0.1, 0.1, 3.0, 2.0, 1.0, 0.0, -2.0, 1.0, 1.0, 0.1])
    with np.errstate(all="ignore"):
        program = sg.compile(f, x, y).program
    text = text_of(program, tmp_path)
    for n in (10, 1, 0):
        outs, status = called(library([text], tmp_path, "-O0"), program, text, x[:n], y[:n])
        assert status == 0
        with np.errstate(all="ignore"):
            for a, b in zip(outs, program.function(x[:n], y[:n]), strict=True):
                np.testing.assert_array_equal(a, b)


@needs_cc
def test_whole_numbers_keep_their_last_digit(tmp_path):
    def f(x, y):
        return x // y, x % y, x.abs(), sg.maximum(x, y), sg.minimum(x, y), x * y, sg.clamp(x, -3, 2**62)

    x = np.array([2**63 - 1, 2**62 + 1, -7, 7, -(2**63) + 1, 5])
    y = np.array([3, -7, 2**60 + 1, -2, -1, 5])
    program = sg.compile(f, x, y).program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, x, y)
    assert status == 0
    for a, b in zip(outs, program.function(x, y), strict=True):
        np.testing.assert_array_equal(a, b)


@needs_cc
def test_nothing_has_no_largest_entry(tmp_path):
    program = sg.compile(lambda x: (x.amax(0), x.argmin(0)), np.ones((4, 3))).program
    text = text_of(program, tmp_path)
    found = library([text], tmp_path)
    assert [called(found, program, text, np.ones(shape))[1] for shape in ((4, 3), (4, 0), (0, 3))] == [0, 0, 2]


@needs_cc
def test_entries_taken_by_number_need_an_axis_that_is_long_enough(tmp_path):
    program = sg.compile(sg.func.grad(lambda x: x[3] * x[-2] + (x * x).sum()), rng.random(6)).program
    text = text_of(program, tmp_path)
    found = library([text], tmp_path)
    x = rng.random(5)
    outs, status = called(found, program, text, x)
    assert status == 0
    np.testing.assert_allclose(outs[0], program(x))
    assert called(found, program, text, rng.random(3))[1] == 2


@needs_cc
def test_names_and_places_of_c(tmp_path):
    """Arguments may be called as words of C and as what the writer itself uses; indices that are data travel along."""
    places = np.array([[0, 1], [2, -1]])

    def f(double, i1, out, t1, θ):
        return (double * i1 + out * t1 * θ[:, places].sum() + θ[places[0], places[1]]).sum()

    with pytest.raises(CompileError, match="a name that C has for something else"):
        sg.compile(lambda x: x + x, 1.0, name="solve").save(tmp_path / "f.c")
    args = 0.5, 1.5, 2.5, 3.5, rng.random((3, 4))
    program = sg.compile(sg.func.grad(f, argnums=(0, 4)), *args).program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, *args)
    assert status == 0
    for a, b in zip(outs, program.function(*args), strict=True):
        np.testing.assert_allclose(a, b)


@needs_cc
def test_arguments_that_a_derivative_does_not_read_make_no_warning(tmp_path):
    """The compiler runs with -Wextra and -Werror; y and the size q are in no formula of the Hessian."""
    args = rng.random(3), rng.random((5, 3)), rng.random(5), rng.random(7)
    program = sg.compile(sg.func.hessian(lambda w, X, y, held: ((X @ w - y) ** 2).sum() + held.sum()), *args).program
    text = text_of(program, tmp_path)
    assert "(void)y;" in text
    outs, status = called(library([text], tmp_path), program, text, *args)
    assert status == 0
    np.testing.assert_allclose(outs[0], 2 * args[1].T @ args[1])


@needs_cc
def test_numbers_made_of_sizes_are_computed_in_double_precision(tmp_path):
    """``n - 1.001`` is a Python number in the function and in the NumPy program."""
    x = rng.random(6) * 9
    program = sg.compile(lambda x: sg.clamp(x, 0, x.shape[0] - 1.001) * (x.shape[0] / 3), x).program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, x)
    assert status == 0
    np.testing.assert_allclose(outs[0], np.clip(x, 0, 6 - 1.001) * 2, rtol=1e-15)


@needs_cc
def test_memory_of_long_programs_is_freed_from_one_array(tmp_path):
    """Hundreds of pointers that are followed to the end of a function took compilers minutes."""

    def f(x):
        for k in range(60):
            x = sg.cumsum(sg.sin(x) + k, 0)
        return x

    x = rng.random(4)
    program = sg.compile(f, x).program
    text = text_of(program, tmp_path)
    assert len(re.findall(r"^done:\n    for .* free\(held\[k\]\);\n    return status;", text, re.MULTILINE)) == 1
    outs, status = called(library([text], tmp_path), program, text, x)
    assert status == 0
    np.testing.assert_allclose(outs[0], program(x))


@needs_cc
def test_single_precision(tmp_path):
    args = rng.random(4).astype(np.float32), rng.random((3, 4)).astype(np.float32)
    program = sg.compile(sg.func.grad(lambda x, A: (sg.sigmoid(A @ x) * sg.sqrt(x.sum())).sum()), *args).program
    text = text_of(program, tmp_path)
    assert "sqrtf(" in text
    outs, status = called(library([text], tmp_path), program, text, *args)
    assert (status, outs[0].dtype) == (0, np.float32)
    np.testing.assert_allclose(outs[0], program(*args), rtol=1e-5)


# ---------------------------------------------------------------------------- the table

SPELLED = sorted(
    name
    for name, op in TABLE.items()
    if op.c is not None
    and op.entrywise
    and not op.variadic
    and "f" not in op.refuses
    and name not in ("detach", "clone")
)


def all_of_the_table(x, y, z, c):
    """The results of every op that is spelled in C, at numbers of both signs, with ties, and where there is no end."""
    found = []
    for name in SPELLED:
        op = TABLE[name]
        args = [x, y, z][: len(set(re.findall(r"\{\d\}", op.c)))]
        if op.condition is not None:
            args[op.condition] = c
        found.append(op(*([a > 0.3 for a in args] if name.startswith("logical") else args)))
    return found


@needs_cc
def test_every_spelling_of_the_table_computes_what_the_kernel_does(tmp_path):
    row = np.array([0.25, 0.5, 0.5, 0.75, 0.875, 0.125, -1.5, 0.0, 2.5, -2.5, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.1])
    args = row, np.roll(row, 1), np.roll(row, 2), row > 0.3
    with np.errstate(all="ignore"):
        program = sg.compile(all_of_the_table, *args).program
        expected = program.function(*args)
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path, "-O0"), program, text, *args)
    assert status == 0
    assert len(outs) == len(SPELLED) > 60
    for name, a, b in zip(SPELLED, outs, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-300, err_msg=name)


@needs_cc
def test_single_numbers_are_compared_without_warnings(tmp_path):
    program = sg.compile(lambda x, y: (sg.isnan(x), sg.where(sg.isnan(x), 1.0, x * y)), *[np.float64(2.0)] * 2).program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, np.float64(np.nan), np.float64(3.0))
    assert status == 0
    assert [bool(outs[0]), float(outs[1])] == [True, 1.0]


@needs_cc
@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_every_op_and_its_gradient_at_every_sample(tmp_path, dtype):
    tried = []
    for name, program, args in programs_of(dtype):
        try:
            program.name = f"f{len(tried)}_"
            tried.append((name, program, args, text_of(program, tmp_path)))
        except CompileError:
            pass  # refused, with a name
    assert len(tried) > 850
    wrong = []
    for first in range(0, len(tried), 60):
        part = tried[first : first + 60]
        (tmp_path / str(first)).mkdir()
        built = library([text for *_, text in part], tmp_path / str(first), "-O0")
        for name, program, args, text in part:
            with np.errstate(all="ignore"):
                outs, status = called(built, program, text, *args)
                expected = program.function(*args)
            for a, b in zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True):
                small = (1e-9 if dtype is not np.float32 else 1e-3) * max(1, np.max(np.abs(b), initial=0))
                if status or not np.allclose(a, b, rtol=small, atol=small, equal_nan=True):
                    wrong.append((name, status, a, b))
    assert not wrong, wrong[:5]


# ---------------------------------------------------------------------------- complex numbers, transforms, order


def built_and_called(f, tmp_path, *rows):
    """The results of the C file and of the NumPy program for every row of arguments; the first one is compiled for."""
    with np.errstate(all="ignore"):
        program = sg.compile(f, *rows[0]).program
    folder = tmp_path / str(len(list(tmp_path.iterdir())))  # a library of the same path would be taken for the same
    folder.mkdir()
    text = text_of(program, folder)
    found = library([text], folder, "-O1")
    for args in rows:
        outs, status = called(found, program, text, *args)
        assert status == 0
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            expected = program.function(*args)
        yield from zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True)


def noise(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@needs_cc
def test_complex_systems_and_their_gradients(tmp_path):
    def f(A, b, x):
        H = A @ A.mH + 4 * sg.eye(A.shape[-1], dtype=A.dtype)
        y = sg.linalg.solve(A + 3, b) + sg.linalg.inv(H) @ b
        size = sg.linalg.det(A).abs() + sg.linalg.eigvalsh(H).sum(-1) + sg.linalg.slogdet(A)[1] + sg.logdet(H).real
        return (y.abs() ** 2).sum() + size.sum() + (sg.linalg.cholesky(H) @ x).angle().sum() + (1j * x**3).imag.sum()

    gradient = sg.func.value_and_grad(f, (0, 1, 2))
    rows = [(noise(2, n, n), noise(2, n, 2), noise(n)) for n in (3, 5, 1)]
    for a, b in built_and_called(gradient, tmp_path, *rows):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@needs_cc
def test_complex_functions_at_their_corners(tmp_path):
    def f(z, x):
        parts = z.real, z.imag, z.abs(), z.angle(), z.sgn(), z.conj(), sg.view_as_real(z), sg.complex(x, -x)
        return (*parts, z**0, z**2, z**-1, z**0.5, sg.log1p(z), sg.expm1(z), z == x, sg.isnan(z), x.angle(), z * x)

    z = np.array([0, 1, -1, 1j, -1j, 1e-12 + 1e-12j, 3 - 4j, -0.5 + 1e-9j])
    for a, b in built_and_called(f, tmp_path, (z, z.real.copy())):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=0)


@needs_cc
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms_of_any_length(tmp_path, norm):
    def f(z):
        return sg.fft.fft(z, dim=0, norm=norm), sg.fft.ifft2(z, norm=norm)

    half = sg.func.grad(lambda x: (sg.fft.rfft(x, norm=norm).abs() ** 3).sum())
    found = list(built_and_called(half, tmp_path, (rng.normal(size=15),)))
    rows = [(noise(n, 3),) for n in (8, 1, 2, 3, 7, 12, 64, 97, 1000, 1009)]
    for a, b in [*found, *built_and_called(f, tmp_path, *rows)]:
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))


@needs_cc
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_singular_values_and_what_is_made_of_them(tmp_path, shape):
    def f(A):
        values = sg.linalg.svdvals(A)
        u, s, vh = sg.linalg.svd(A, full_matrices=False)
        again = (u * s) @ vh
        return values, again, sg.linalg.pinv(A, rtol=1e-10), sg.linalg.matrix_norm(A, 2), sg.linalg.qr(A)[1].abs()

    for make in (lambda *s: rng.normal(size=s), noise):
        full = make(*shape)
        low = full.copy()
        low[:, -1] = low[:, 0]  # a singular value is 0
        for a, b in built_and_called(f, tmp_path, (full,), (low,), (1e-200 * full,), (0 * full,)):
            np.testing.assert_allclose(
                a, b, rtol=1e-9, atol=1e-12 * np.max(np.abs(b), initial=1e-300) + 1e-14 * np.abs(full).max()
            )


@needs_cc
def test_exponentials_of_matrices(tmp_path):
    gradient = sg.func.value_and_grad(lambda A: (sg.linalg.matrix_exp(A).abs() ** 2).sum())
    for A in (rng.normal(size=(3, 3)), noise(2, 3, 3)):
        for a, b in built_and_called(gradient, tmp_path, *((scale * A,) for scale in (0.1, 1, 5))):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())


@needs_cc
def test_order_with_ties_nan_and_whole_numbers(tmp_path):
    def f(x, w):
        top, low = sg.topk(x, 3), sg.topk(x, 2, dim=0, largest=False)
        more = sg.kthvalue(x, 2, dim=0), sg.kthvalue(w, 3), sg.cummax(x, 1), sg.cummin(x, 0), sg.topk(w, 4)
        rest = sg.median(x), sg.nanmedian(x), sg.logcumsumexp(x, 1), sg.argsort(w, 1), sg.amax(w, 1), sg.prod(w, 0)
        return (*top, *low, *(part for pair in more for part in pair), *rest)

    def row(m, n):
        x = rng.integers(-2, 3, (m, n)) / 2
        x[rng.random((m, n)) < 0.1] = np.nan
        return x, rng.integers(-3, 4, (m, n)) + 2**60

    for a, b in built_and_called(f, tmp_path, row(4, 9), row(5, 5), row(3, 40)):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@needs_cc
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_whole_numbers_go_round_as_those_of_numpy(tmp_path, dtype):
    def f(x, y):
        sums = x + y, x * y - x, -x, (x * y) // 3, x.sum(0), x.cumsum(0), (x @ y), x**2
        bits = x & y, x | y, x ^ y, ~x, x << 3, x >> 2, sg.gcd(x, y)
        return (*sums, *bits, sg.maximum(x, y), sg.div(x, 3, rounding_mode="trunc"), sg.amax(x, 0), sg.amin(y, 0))

    ends = np.iinfo(dtype)
    x = np.array([ends.max, ends.min, 1, 7, ends.max // 2 + 1, 100], dtype)
    for a, b in built_and_called(f, tmp_path, (x, x[::-1].copy())):
        np.testing.assert_array_equal(a, b)


@needs_cc
def test_moments_of_few_rows(tmp_path):
    """Where nothing is left to divide by, a variance is nan, or infinite, as in the NumPy program."""
    for f in (lambda x: (x.var(0), x.std(1)), sg.func.grad(lambda x: x.var(0, correction=2).sum())):
        for a, b in built_and_called(f, tmp_path, *((rng.random((n, 3)),) for n in (4, 0, 1, 2))):
            np.testing.assert_allclose(a, b, rtol=1e-12)


# ---------------------------------------------------------------------------- functions that looked at values


@needs_cc
def test_labels_are_checked_by_the_file(tmp_path):
    def loss(W, X, labels):
        return F.cross_entropy(X @ W, labels)

    def args(k):
        return rng.random((3, 4)), rng.random((5 + k, 3)), rng.integers(0, 4, 5 + k)

    program = sg.compile(sg.func.grad(loss), *args(0)).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    assert "5 where what the function looked at is not as it was" in text
    for k in (0, 6):
        W, X, labels = args(k)
        outs, status = called(built, program, text, W, X, labels)
        assert status == 0
        np.testing.assert_allclose(outs[0], program(W, X, labels), rtol=1e-12, atol=1e-14)
    labels[0] = -100  # such a row is left out, which is another way through the function
    assert called(built, program, text, W, X, labels)[1] == 5


@needs_cc
def test_a_branch_holds_for_its_way(tmp_path):
    def f(x, limit):
        return (x**2).sum() if x.sum() > limit else -(x**3).sum()

    x = np.ones(3)
    program = sg.compile(sg.func.grad(f), x, 0.5).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    outs, status = called(built, program, text, np.arange(7.0), np.float64(0.5))
    assert (status, outs[0].tolist()) == (0, (2 * np.arange(7.0)).tolist())
    assert called(built, program, text, x, np.float64(3.5))[1] == 5
    assert called(built, program, text, x * np.nan, np.float64(0.5))[1] == 5


@needs_cc
def test_places_that_were_looked_at_are_compared_one_by_one(tmp_path):
    def interpolated(values, grid, q):
        i = np.clip(np.searchsorted(grid, q) - 1, 0, grid.shape[0] - 2)
        t = (q - grid[i]) / (grid[i + 1] - grid[i])
        return values[i] * (1 - t) + values[i + 1] * t

    values, grid, q = rng.random(6), np.arange(6.0), np.array([0.5, 3.2, 4.4])
    program = sg.compile(interpolated, values, grid, q).program
    text = text_of(program, tmp_path)
    built = library([text], tmp_path)
    outs, status = called(built, program, text, values, grid, q + 0.1)
    assert status == 0
    np.testing.assert_allclose(outs[0], np.interp(q + 0.1, grid, values), rtol=1e-12)
    assert called(built, program, text, values, grid, q[::-1].copy())[1] == 5


# ---------------------------------------------------------------------------- what is not written

REFUSED = {
    "an op": (lambda x: sg.special.airy_ai(x).sum(), np.ones(3), r"airy_ai\(\) has no form there"),
    "an op of complex numbers": (lambda x: sg.log1p(x.logcumsumexp(0)), np.ones(3) * 1j, "of complex numbers is not"),
    "free signs": (lambda x: sg.linalg.eigh(x.outer(x))[1], np.ones(3), "eigh_vectors.. gives, whose signs are free"),
    "half": (lambda x: (x * x).sum(), np.ones(3, np.float16), "float16, which C programs do not have"),
    "many values": (lambda x: x[np.argsort(x)][:2].sum(), np.arange(5000.0), "looked at 5000 values"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_c_does_not_have_is_refused_by_name(name, tmp_path):
    f, x, words = REFUSED[name]
    with pytest.raises(CompileError, match=words):
        sg.compile(f, x).program.save(tmp_path / "f.c")


def test_the_text_is_the_same_twice_and_says_what_it_computes(tmp_path):
    f = sg.compile(sg.func.grad(logistic), rng.random(3), rng.random((5, 3)), np.ones(5))
    texts = [text_of(p, tmp_path) for p in (f.program, sg.compile(f.function, *CASES["logistic"][1](0)).program)]
    assert texts[0].split("#ifdef SELFTEST")[0] == texts[1].split("#ifdef SELFTEST")[0]
    head = "int grad_logistic(ptrdiff_t m, ptrdiff_t n, const double *w, const double *X, const double *y, double *out)"
    assert head in texts[0]
    assert "Formula (LaTeX)" in texts[0]

"""Complex numbers, transforms, decompositions, order and whole numbers in C files."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.op import TABLE
from tests.compiling.c.built import built_and_called, needs_cc

rng = np.random.default_rng(0)


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
    for a, b in built_and_called(tmp_path, (gradient, *rows), option="-O1"):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@needs_cc
def test_complex_functions_at_their_corners(tmp_path):
    def f(z, x):
        parts = z.real, z.imag, z.abs(), z.angle(), z.sgn(), z.conj(), sg.view_as_real(z), sg.complex(x, -x)
        return (*parts, z**0, z**2, z**-1, z**0.5, sg.log1p(z), sg.expm1(z), z == x, sg.isnan(z), x.angle(), z * x)

    z = np.array([0, 1, -1, 1j, -1j, 1e-12 + 1e-12j, 3 - 4j, -0.5 + 1e-9j])
    for a, b in built_and_called(tmp_path, (f, (z, z.real.copy()))):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=0)


@needs_cc
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms_of_any_length(tmp_path, norm):
    def f(z):
        return sg.fft.fft(z, dim=0, norm=norm), sg.fft.ifft2(z, norm=norm)

    half = sg.func.grad(lambda x: (sg.fft.rfft(x, norm=norm).abs() ** 3).sum())
    rows = [(noise(n, 3),) for n in (8, 1, 2, 3, 7, 12, 64, 97, 1000, 1009)]
    for a, b in built_and_called(tmp_path, (half, (rng.normal(size=15),)), (f, *rows)):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))


@needs_cc
@pytest.mark.parametrize(
    ("shape", "option"), [((5, 3), "-O0"), ((3, 5), "-O0"), pytest.param((4, 4), "-O1", marks=pytest.mark.slow)]
)
def test_singular_values_and_what_is_made_of_them(tmp_path, shape, option):
    def f(A):
        values = sg.linalg.svdvals(A)
        u, s, vh = sg.linalg.svd(A, full_matrices=False)
        again = (u * s) @ vh
        return values, again, sg.linalg.pinv(A, rtol=1e-10), sg.linalg.matrix_norm(A, 2), sg.linalg.qr(A)[1].abs()

    rows = []
    for full in (rng.normal(size=shape), noise(*shape)):
        low = full.copy()
        low[:, -1] = low[:, 0]  # a singular value is 0
        rows.append((f, (full,), (low,), (1e-200 * full,), (0 * full,)))
    size = min(np.abs(row[1][0]).max() for row in rows)
    for a, b in built_and_called(tmp_path, *rows, option=option):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12 * np.max(np.abs(b), initial=1e-300) + 1e-14 * size)


@needs_cc
def test_exponentials_of_matrices(tmp_path):
    gradient = sg.func.value_and_grad(lambda A: (sg.linalg.matrix_exp(A).abs() ** 2).sum())
    rows = [(gradient, *((scale * A,) for scale in (0.1, 1, 5))) for A in (rng.normal(size=(3, 3)), noise(2, 3, 3))]
    steep = sg.func.grad(lambda A: (1e20 * sg.linalg.matrix_exp(A).abs()).sum())
    for a, b in built_and_called(tmp_path, *rows, *((steep, row[1]) for row in rows), option="-O1"):
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

    for a, b in built_and_called(tmp_path, (f, row(4, 9), row(5, 5), row(3, 40))):
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
    for a, b in built_and_called(tmp_path, (f, (x, x[::-1].copy()))):
        np.testing.assert_array_equal(a, b)


@needs_cc
def test_moments_of_few_rows(tmp_path):
    """Where nothing is left to divide by, a variance is nan, or infinite, as in the NumPy program."""
    functions = lambda x: (x.var(0), x.std(1)), sg.func.grad(lambda x: x.var(0, correction=2).sum())
    rows = [(f, *((rng.random((n, 3)),) for n in (4, 0, 1, 2))) for f in functions]
    for a, b in built_and_called(tmp_path, *rows):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@needs_cc
def test_functions_of_matrices_make_floats_of_whole_numbers(tmp_path):
    y = np.array([[3, -2], [1, 4], [0, 2]])
    functions = np.linalg.cond, np.linalg.pinv, lambda y: np.linalg.inv(y.T @ y)
    for a, b in built_and_called(tmp_path, *((f, (y,)) for f in functions)):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@needs_cc
def test_numbers_that_are_real_have_an_imaginary_part_of_0_also_beside_nan(tmp_path):
    x = np.array([np.nan, np.inf, 2.0])
    for found, wanted in built_and_called(tmp_path, (lambda x: TABLE["imag"](x), (x,), (x,)), option="-O2"):
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(found, 0)


@needs_cc
def test_the_exponential_of_a_matrix_moves_along_the_matrix(tmp_path):
    x = np.random.default_rng(3).normal(size=(3, 3))

    def moved(x):
        return sg.func.jvp(sg.matrix_exp, (x,), (x,))[1]

    for found, wanted in built_and_called(tmp_path, (moved, (x,), (x,))):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


EDGES = {
    "entr": (np.array([0.0, np.inf, -np.inf, np.nan, 2.0, -1.0]),),
    "root_share": (np.array([0.0, np.inf, -np.inf, np.nan, 1e300, -3.0]),),
    "boxcox": (np.array([0.0, np.inf, 2.0, np.nan, -1.0, 3.0]), np.array([0.0, 0.5, 0.0, 1.0, 2.0, -2.0])),
    "boxcox1p": (np.array([0.0, np.inf, 2.0, np.nan, -3.0, -1.0]), np.array([0.0, 0.5, 0.0, 1.0, 2.0, 2.0])),
}


@needs_cc
def test_functions_have_their_values_where_their_definitions_have_none(tmp_path):
    rows = [(lambda *xs, name=name: TABLE[name](*xs), xs, xs) for name, xs in EDGES.items()]
    for found, wanted in built_and_called(tmp_path, *rows):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@needs_cc
def test_slopes_that_are_excepted_are_zero_beside_what_is_not_finite(tmp_path):
    """Of c**0 at 0, and of a piece that is not entered: 0 · inf is no slope, and the file had nan there."""
    powers = sg.func.grad(lambda c, y: sg.prod(c**y, 1).sum())
    pieces = sg.func.grad(lambda c, y: (1 / sg.relu(c * y)).sum())
    rows = [(np.array([0.5, 0.0, 2.0]), np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0]]))]
    for found, expected in built_and_called(tmp_path, (powers, *rows), (pieces, *rows)):
        assert np.isfinite(expected).any()
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@needs_cc
def test_what_has_no_weight_stays_out_of_a_picture_at_another_size(tmp_path):
    def value(x):
        return sg.nn.functional.interpolate(x, size=(5, 8), mode="bicubic")

    picture = rng.random((1, 2, 3, 4))
    holes = picture.copy()
    holes[0, 0, 1, 2], holes[0, 1, 0, 0] = np.inf, np.nan
    rows = (value, (picture,), (holes,)), (sg.func.grad(lambda x: (value(x) ** 2).sum()), (picture,), (holes,))
    for found, expected in built_and_called(tmp_path, *rows):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

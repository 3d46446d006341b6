"""Small programs saved as C99: numbers, names, sizes, and what is refused."""

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError
from symgrad.proving.in_c import called, library, text_of
from tests.compiling.c.built import needs_cc

rng = np.random.default_rng(0)


@needs_cc
def test_no_rows(tmp_path):
    """What divides by the number of rows is IEEE's where there are none, as in the NumPy program."""
    f = sg.compile(sg.func.grad(lambda w, x: w / x.shape[0]), np.float64(2.0), np.ones(3)).program
    text = text_of(f, tmp_path)
    outs, status = called(library([text], tmp_path), f, text, np.float64(2.0), np.ones(0))
    assert status == 0
    assert outs[0] == f(2.0, np.ones(0)) == np.inf


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


@needs_cc
def test_single_numbers_are_compared_without_warnings(tmp_path):
    program = sg.compile(lambda x, y: (sg.isnan(x), sg.where(sg.isnan(x), 1.0, x * y)), *[np.float64(2.0)] * 2).program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, np.float64(np.nan), np.float64(3.0))
    assert status == 0
    assert [bool(outs[0]), float(outs[1])] == [True, 1.0]


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


@needs_cc
def test_imaginary_factors_of_small_parts(tmp_path):
    """1j times an entry of a vector is complex, whatever order the program multiplies in."""

    def size(p, w):
        return sg.abs(p[0] + 1j * w * p[1] + 1 / (1j * w * p[2])).sum()

    p, w = np.array([1.0, 0.3, 2.0]), rng.random(5) + 0.5
    program = sg.compile(sg.func.grad(size), p, w).program
    assert "complex128(complex" not in program.source
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, p, w)
    assert status == 0
    np.testing.assert_allclose(outs[0], sg.func.grad(size)(sg.tensor(p), sg.tensor(w)).numpy(), rtol=1e-12)


@needs_cc
@pytest.mark.parametrize("weight", [0.25, 0.75])
def test_real_numbers_beside_complex_ones_have_their_own_size(weight, tmp_path):
    """cabs of a real number is a warning of the compiler, which is an error here."""
    z, w = np.array([1 + 2j, -0.5j, 3.0]), np.array([0.5j, 2.0, 1 - 1j])
    program = sg.compile(lambda z, w: sg.lerp(z, w, weight), z, w).program
    text = text_of(program, tmp_path)
    assert "cabs(0" not in text
    outs, status = called(library([text], tmp_path, "-O0"), program, text, z, w)
    assert status == 0
    np.testing.assert_allclose(outs[0], z + weight * (w - z), rtol=1e-15)

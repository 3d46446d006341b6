"""C files of reduced decompositions: results of the size of the shorter side, and files that get another shape."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import symgrad as sg
from symgrad.proving.in_c import called, library, text_of

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

PROGRAMS = {
    "triangle": lambda a: sg.linalg.qr(a)[1].abs(),
    "basis": lambda a: sg.linalg.qr(a)[0].abs(),
    "left": lambda a: sg.linalg.svd(a, full_matrices=False)[0].abs(),
    "slope": sg.func.grad(lambda a: sg.linalg.svdvals(a).sum()),
}


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_other_shape_is_refused_and_the_self_test_has_this_one(tmp_path, name, shape):
    program = sg.compile(PROGRAMS[name], np.random.default_rng(0).normal(size=shape), name="p").program
    program.save(tmp_path / "p.c")
    subprocess.run(["cc", "-std=c99", "-DSELFTEST", "p.c", "-o", "p", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run(["./p"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    if program.arguments[0].shape == shape:  # the file holds for this one alone, and takes no sizes
        return
    subprocess.run(["cc", "-std=c99", "-shared", "-fPIC", "p.c", "-o", "p.so", "-lm"], cwd=tmp_path, check=True)
    found, given = np.full(16, 7.0), np.ones(12)
    call = ctypes.CDLL(str(tmp_path / "p.so")).p
    double = ctypes.POINTER(ctypes.c_double)
    pointers = [a.ctypes.data_as(double) for a in (given, found)]
    assert call(*map(ctypes.c_ssize_t, shape[::-1]), *pointers) == 2
    assert (found == 7).all()
    assert call(*map(ctypes.c_ssize_t, shape), *pointers) == 0


def run(function, a, tmp_path):
    """The first result of the C file of a function, and the program."""
    program = sg.compile(function, np.eye(4) + 0.1, name="p").program
    text = text_of(program, tmp_path)
    outs, status = called(library([text], tmp_path), program, text, a)
    assert status == 0
    return outs[0], program


@pytest.mark.parametrize("function", [sg.linalg.eigvalsh, sg.func.grad(lambda a: sg.linalg.eigvalsh(a)[0])])
@pytest.mark.parametrize("scale", [1e200, 1.0, 1e-200])
def test_eigenvalues_of_large_and_of_small_matrices(tmp_path, scale, function):
    """Whose squares overflow, or vanish."""
    a = np.random.default_rng(1).normal(size=(4, 4))
    a = (a + a.T) * scale
    found, program = run(function, a, tmp_path)
    np.testing.assert_allclose(found, program(a), rtol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("function", [sg.linalg.eigvalsh, sg.linalg.svdvals])
def test_entries_that_are_no_numbers_have_no_decomposition(tmp_path, function, value):
    a = np.eye(4) + 0.1
    a[3, 1] = a[1, 3] = value
    assert np.isnan(run(function, a, tmp_path)[0]).all()

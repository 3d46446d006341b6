"""Programs of sparse Jacobians and Hessians: CSR arrays, from a pass for each colour and nothing else."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import AutogradError, CompileError

rng = np.random.default_rng(0)


def grid(x: Any) -> Any:
    inside = (x[2:] - 2 * x[1:-1] + x[:-2]) * 7 + sg.exp(x[1:-1])
    return sg.cat([x[:1], inside, x[-1:]])


def arrow(x: Any) -> Any:
    return sg.cat([(x**2).sum()[None], x[1:] * x[0]])


FUNCTIONS = {
    "rows": (grid, (20,)),
    "columns": (lambda x: sg.cat([x * x, sg.sin(x)]), (7,)),
    "both": (arrow, (9,)),
    "axes": (lambda x: x[1:] * x[:-1], (4, 3)),
    "places": (lambda x: x[np.array([0, 0, 3, 2])] ** 2, (5,)),
    "nothing": (lambda x: sg.ceil(x), (3,)),
    "one": (lambda x: x**3, ()),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_give_the_arrays_of_the_matrix(name: str, dtype: Any) -> None:
    f, shape = FUNCTIONS[name]
    jacobian = sg.func.sparse_jacobian(f)
    x = np.asarray(rng.normal(size=shape), dtype)
    program = sg.compile(jacobian, x)
    for point in (x, x + dtype(0.25)):
        data, indices, indptr = program(point)
        want = jacobian(point)
        assert data.dtype == dtype
        assert np.array_equal(indices, want.indices)
        assert np.array_equal(indptr, want.indptr)
        assert np.allclose(data, want.data, rtol=1e-5 if dtype is np.float32 else 1e-13)


def test_no_dense_matrix_is_made() -> None:
    n = 3000
    program = sg.compile(sg.func.sparse_jacobian(grid), np.linspace(0, 1, n))
    assert f"({n}, {n})" not in program.source
    assert f"(3, {n})" in program.source  # three colours
    assert program.cost().bytes < 200 * 8 * n
    data, indices, indptr = program(np.linspace(0, 1, n))
    assert len(data) == len(indices) == indptr[-1] == 3 * n - 4


def test_hessians() -> None:
    x = rng.normal(size=12)
    for f in (lambda x: ((x[1:] - x[:-1]) ** 4).sum(), lambda x: (x[0] * x[1:] ** 2).sum(), lambda x: x.sum()):
        hessian = sg.func.sparse_hessian(f)
        data, indices, _ = sg.compile(hessian, x)(x)
        assert np.array_equal(indices, hessian(x).indices)
        assert np.allclose(data, hessian(x).data, rtol=1e-13)


def test_other_sizes_ways_and_places_are_traced_again() -> None:
    """What moves the pattern is what the program holds for: sizes, branches, orders and whole numbers."""

    def branching(x: Any) -> Any:
        return x**2 if x[0] > 0 else x.roll(1) ** 3

    def ordered(x: Any) -> Any:
        return sg.sort(x)[0] ** 2

    def chosen(x: Any, k: Any) -> Any:
        return x[k] ** 2

    cases: list[tuple[Any, list[tuple[Any, ...]]]] = [
        (grid, [(np.ones(9),), (np.ones(5),)]),
        (branching, [(np.array([1.0, 2.0, 3.0]),), (np.array([-1.0, 2.0, 3.0]),)]),
        (ordered, [(np.array([1.0, 2.0, 3.0]),), (np.array([3.0, 1.0, 2.0]),)]),
        (chosen, [(np.array([1.0, 2.0, 3.0]), np.array(k)) for k in ([0, 1], [2, 2], [1, 0])]),
    ]
    for f, points in cases:
        jacobian = sg.func.sparse_jacobian(f)
        program = sg.compile(jacobian, *points[0])
        for point in (*points, points[0]):
            data, indices, _ = program(*point)
            assert np.array_equal(indices, jacobian(*point).indices), f
            assert np.allclose(data, jacobian(*point).data), f


def test_files_stand_alone_and_refuse_other_ways(tmp_path: Any) -> None:
    def ordered(x: Any) -> Any:
        return sg.cat([sg.sort(x)[0] ** 2, x[1:] * x[:-1]])

    x = np.array([1.0, 3.0, 2.0])
    program = sg.compile(sg.func.sparse_jacobian(ordered), x)
    path = tmp_path / "ordered.py"
    program.save(path)
    done = subprocess.run(
        [sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    scope: dict[str, Any] = {"__name__": "saved"}
    exec(path.read_text(), scope)
    data, indices, indptr = scope["sparse_jacobian_ordered"](x)
    want = sg.func.sparse_jacobian(ordered)(x)
    assert np.array_equal(
        np.concatenate([data, indices, indptr]), np.concatenate([want.data, want.indices, want.indptr])
    )
    with pytest.raises(ValueError, match="argsort"):
        scope["sparse_jacobian_ordered"](x[::-1])
    with pytest.raises(ValueError, match="must have shape"):
        scope["sparse_jacobian_ordered"](np.ones(4))
    program.save(tmp_path / "ordered.json")
    assert np.array_equal(sg.compiler.load(tmp_path / "ordered.json")(x)[0], data)


def test_a_pattern_that_is_given_is_the_programs() -> None:
    x = rng.normal(size=10)
    first = sg.func.sparse_jacobian(grid)(x)
    data, _, _ = sg.compile(sg.func.sparse_jacobian(grid, pattern=first), x)(x)
    assert np.allclose(data, first.data)


def test_names_of_arguments_are_kept() -> None:
    def f(columns: Any, places: Any) -> Any:
        return columns**2 * places[0]

    x = rng.normal(size=4)
    program = sg.compile(sg.func.sparse_jacobian(f), x, x)
    assert np.allclose(program(x, x)[0], 2 * x * x[0])


def test_what_has_no_program_is_refused() -> None:
    x = np.ones(3)
    with pytest.raises(CompileError, match="one array by another"):
        sg.compile(sg.func.sparse_jacobian(lambda x, y: x * y, argnums=(0, 1)), x, x)
    with pytest.raises(CompileError, match="2 results"):
        sg.compile(sg.func.sparse_jacobian(lambda x: (x, x)), x)
    with pytest.raises(CompileError, match="has_aux"):
        sg.compile(sg.func.sparse_jacobian(lambda x: (x, x), has_aux=True), x)
    with pytest.raises(AutogradError, match="complex"):
        sg.compile(sg.func.sparse_jacobian(lambda x: x), x + 0j)
    program = sg.compile(sg.func.sparse_jacobian(lambda x: x * x), x)
    with pytest.raises(AutogradError, match="no history"):
        program(sg.tensor(x, requires_grad=True))

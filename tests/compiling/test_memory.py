"""Whose memory results show: nobody's but their own."""

from __future__ import annotations

import itertools
import runpy

import numpy as np
import pytest

import symgrad as sg

X = np.arange(1.0, 4)


def parts(x):
    y = sg.outer(x, x) * 2
    return y, y.mT, y[1:], y.detach()


FUNCTIONS = {
    "equal": lambda x: (x * 2, x * 2),
    "the same": lambda x: (x.sin(),) * 3,
    "views": parts,
    "views alone": lambda x: (lambda y: (y[1:], y[:-1]))(x * 2),
    "arguments": lambda x: (x, x, x[1:], x.reshape(3, 1)),
    "gradients": sg.func.grad(lambda x, y=X: (x + y).sum()),
    "nested": lambda x: {"a": x * 2, "b": [x * 2, (x * 2).sum(), (x * 2).sum()]},
    "numbers": lambda x: (x.sum(), x.sum()),
}


def arrays(result):
    leaves = sg.tape.containers.flatten(result)[0]
    return [x.numpy() if isinstance(x, sg.Tensor) else x for x in leaves]


WAYS = {
    "compile": sg.compile,
    "jit": lambda f: sg.jit(f, after=0),
    "jit, not exact": lambda f: sg.jit(f, after=0, exact=False),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_who_writes_to_a_result_changes_nothing_else(name, way, tmp_path):
    x, f = X.copy(), FUNCTIONS[name]
    program = WAYS[way](f)
    found = arrays(program(x))
    for a, b in zip(found, arrays(f(sg.tensor(x))), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in itertools.combinations([x, *(a for a in found if np.ndim(a))], 2):
        assert not np.shares_memory(a, b)
    if way == "compile":
        program.save(tmp_path / "alone.py")
        (function,) = [v for k, v in runpy.run_path(str(tmp_path / "alone.py")).items() if k == program.program.name]
        out = function(x)
        for a, b in itertools.combinations([x, *(out if isinstance(out, tuple) else (out,))], 2):
            assert not np.shares_memory(a, b)


def test_results_that_differ_are_not_copied():
    assert "copy" not in sg.compile(lambda x: (x * 2, x + 1, (x * x).sum()), X).source


@pytest.mark.slow
@pytest.mark.parametrize("target", ["torch", "numba"])
@pytest.mark.parametrize("name", ["equal", "views", "arguments"])
def test_results_have_memory_of_their_own_in_other_libraries(name, target, tmp_path):
    """Numba was told to make arrays contiguous, which is no copy of those that are."""
    library = pytest.importorskip(target)
    sg.compile(FUNCTIONS[name], X, name="several").save(tmp_path / "several.py", target=target)
    given = library.tensor(X) if target == "torch" else X
    found = runpy.run_path(str(tmp_path / "several.py"))["several"](given)
    for a, b in itertools.combinations([given, *found], 2):
        assert not np.shares_memory(np.asarray(a), np.asarray(b))

"""Every op of the table that C files have: what it computes there, and its gradient."""

import re

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError
from symgrad.op.record import TABLE
from symgrad.proving.in_c import called, library, text_of
from tests.compiling.c.built import needs_cc
from tests.compiling.every_op import programs_of

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

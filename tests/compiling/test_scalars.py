"""Programs of numbers alone run by ``math``; what they give is what NumPy's text of them gives."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.compiler.program import load
from symgrad.compiler.scalars import in_math, is_of_numbers
from symgrad.errors import AutogradError
from symgrad.op.record import TABLE

POINTS = (-2.5, -1.0, -1e-9, -0.0, 0.0, 0.3, 1.0, 37.0, 1e200, math.inf, -math.inf, math.nan)


def plain_of(program):
    return load(program.source, program.name, {})


def alike(a, b):
    """Equal but for the last digits, in which functions of NumPy and of ``math`` may differ; nan is nan."""
    a, b = np.array(a), np.array(b)
    near = np.abs(a - b) <= 16e-16 * np.abs(a) + 1e-320
    return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | near))


@pytest.mark.parametrize("arity", [1, 2])
@np.errstate(all="ignore")
def test_values_and_slopes_of_the_table_are_those_of_numpy(arity):
    written = 0
    for name, op in TABLE.items():
        if op.kind != "elementwise" or callable(op.vjps) or len(op.vjps) != arity:
            continue
        try:
            slopes = sg.func.grad_and_value(lambda *x, op=op: op(*x), argnums=tuple(range(arity)))
            program = sg.compile(slopes, *(0.4, 0.3)[:arity]).program
        except (AutogradError, TypeError):
            continue  # of whole numbers, or without derivative
        plain = plain_of(program)
        quick = in_math(program.source, program.name, plain) if is_of_numbers(program) else None
        if quick is None:
            continue
        written += 1
        for row in itertools.product(map(np.float64, POINTS), repeat=arity):
            assert alike(plain(*row), quick(*row)), (name, row, plain(*row), quick(*row))
    assert written > (50 if arity == 1 else 15)


def called(function, *args, quick=True):
    """What a function gives at first and when it has been called often, by ``math`` where that is ``quick``."""
    first = function(*args)
    for _ in range(len(function.program.source)):
        last = function(*args)
    assert [p.function.__code__.co_filename.endswith("by math>") for p in function.programs.values()] == [quick]
    return first, last


def test_a_program_of_numbers_gives_the_same_before_and_after_it_is_quick():
    f = sg.compile(sg.func.value_and_grad(lambda x, y: sg.sqrt(x**2 + y**2) * sg.cos(x - y), argnums=(0, 1)), 1.2, 0.7)
    (value, slopes), (quick, quick_slopes) = called(f, 1.2, 0.7)
    assert alike((value, *slopes), (quick, *quick_slopes))
    assert quick.__class__ is np.float64
    assert [s.__class__ for s in quick_slopes] == [np.float64, np.float64]
    assert isinstance(quick_slopes, tuple)


def test_choices_inside_of_choices():
    f = sg.compile(lambda x, y: sg.where(x > 0, sg.where(y > 0, x / 3, x * y), sg.where(y > x, y, -x)), 1.0, 1.0)
    for x, y in itertools.product((-2.0, -1.0, 0.5, math.nan), repeat=2):
        first, last = called(f, x, y)
        assert alike(first, last), (x, y)


def test_answers_that_are_added_stay_answers():
    f = sg.compile(lambda x, y: ((x > 0) + (y > 0)) * x, 1.0, 2.0)
    assert in_math(f.program.source, f.program.name, None) is None
    assert called(f, 1.0, 2.0, quick=False) == (1.0, 1.0)


BEYOND = {
    "an exponential that overflows": (lambda x: sg.exp(x) * 2, 1000.0, math.inf),
    "the logarithm of zero": (lambda x: sg.log(x), 0.0, -math.inf),
    "the logarithm of a negative number": (lambda x: sg.log(x), -1.0, math.nan),
    "a division by zero": (lambda x: 1 / x, 0.0, math.inf),
    "a division by minus zero": (lambda x: 1 / x, -0.0, -math.inf),
    "a root of a negative number": (lambda x: x**0.3, -1.0, math.nan),
    "a negative power of zero": (lambda x: x**-3, 0.0, math.inf),
    "a power that overflows": (lambda x: x**300, 1e10, math.inf),
    "a tail": (lambda x: sg.special.ndtr(x), -20.0, 2.7536241186062337e-89),
}


@pytest.mark.parametrize("case", BEYOND)
@np.errstate(all="ignore")
def test_where_math_raises_numpy_answers(case):
    function, at, wanted = BEYOND[case]
    first, last = called(sg.compile(function, 0.5), at)
    assert alike(first, wanted)
    assert alike(last, wanted)


def test_arrays_and_other_dtypes_stay_with_numpy():
    for arg in (np.ones(3), np.float32(1.0), 1j, np.array(2)):
        assert not is_of_numbers(sg.compile(lambda x: x * x, arg).program)


def test_what_is_quick_is_pickled_as_it_was_written():
    f = sg.compile(lambda x: sg.sin(x) * x, 1.0)
    called(f, 1.0)
    again = pickle.loads(pickle.dumps(f))
    assert again(0.5) == f(0.5)


def test_numbers_and_arrays_share_a_call():
    f = sg.compile(lambda x, rate: (x * rate, {"sum": x.sum()}), np.ones(3), 0.5)
    for rate in (0.5, 2.0, np.float64(3.0)):
        scaled, rest = f(np.arange(3.0), rate)
        assert np.array_equal(scaled, np.arange(3.0) * rate)
        assert rest == {"sum": 3.0}
    assert f.traces == 1

"""What the tests of C files share: is there a compiler, and what a file gives beside what NumPy gives."""

import warnings

import numpy as np
import pytest

import symgrad as sg
from symgrad.proving.in_c import called, compiler, library, text_of

CC = compiler()
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def built_and_called(folder, *rows, option="-O0"):
    """Pairs of results of the C file and of the NumPy program.

    A row is a function and the tuples of its arguments, for the first of which it is compiled; the files of all rows
    go through the compiler together.  It warns of more where it optimises, and takes twice as long.
    """
    programs, texts = [], []
    for k, (f, first, *_) in enumerate(rows):
        with np.errstate(all="ignore"):
            programs.append(sg.compile(f, *first, name=f"f{k}_").program)
        texts.append(text_of(programs[-1], folder))
    found = library(texts, folder, option)
    for program, text, (_, *tuples) in zip(programs, texts, rows, strict=True):
        for args in tuples:
            outs, status = called(found, program, text, *args)
            assert status == 0
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                expected = program.function(*args)
            yield from zip(outs, expected if isinstance(expected, tuple) else (expected,), strict=True)

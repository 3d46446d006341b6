"""Random numbers of NumPy's and Python's generators: a program does not hold those of one run."""

# ruff: noqa: NPY002  (what users draw from)

import random

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import CompileError

RNG = np.random.default_rng(3)
OLD = np.random.RandomState(3)
PYTHONS = random.Random(3)


class Noisy:
    def __init__(self):
        self.source = np.random.default_rng(0)

    def __call__(self, x):
        return (x * self.source.normal(size=3)).sum()


def helped(x):
    return x.sum() * noise()


def noise():
    return RNG.uniform()


DRAWING = {
    "np.random": lambda x: (x * np.random.rand()).sum(),
    "np.random array": lambda x: (x + np.random.normal(size=3)).sum(),
    "module random": lambda x: x.sum() * random.random(),
    "generator": lambda x: (x * RNG.normal(size=3)).sum(),
    "RandomState": lambda x: (x * OLD.rand()).sum(),
    "random.Random": lambda x: x.sum() * PYTHONS.gauss(0, 1),
    "attribute": Noisy(),
    "helper": helped,
}


@pytest.mark.parametrize("how", DRAWING)
def test_random_numbers_of_one_run_are_no_constants_of_a_program(how):
    """The program gave the same draw for good."""
    with pytest.raises(CompileError, match=r"draws random numbers of .*argument"):
        sg.compile(DRAWING[how], np.ones(3))


@pytest.mark.parametrize("how", DRAWING)
def test_functions_that_draw_run_eagerly_under_jit(how):
    call, x = sg.jit(DRAWING[how]), sg.ones(3, dtype=sg.float64)
    assert len({call(x).item() for _ in range(4)}) == 4


def seeded(x):
    np.random.seed(0)
    return (x * np.random.rand()).sum()


def own(x):
    return (x * np.random.default_rng(0).normal(size=3)).sum()


@pytest.mark.parametrize("f", [seeded, own, lambda x: (x**2).sum() * len(str(RNG)) / len(str(RNG))])
def test_what_draws_the_same_at_every_call_has_a_program(f):
    x = np.arange(3.0)
    assert np.allclose(sg.compile(f, x)(x), f(x), rtol=1e-14)

"""Formulas of convolutions and pools: windows of a signal, without the axes that only layers need."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings

RNG = np.random.default_rng(4)
GIVEN = {"x": RNG.normal(size=8), "k": RNG.normal(size=3), "X": RNG.normal(size=(4, 6)), "K": RNG.normal(size=(2, 3))}

CASES = {
    "a signal": lambda x, k, X, K: (F.conv1d(x[None, None], k[None, None]) ** 2).sum(),
    "padded": lambda x, k, X, K: (F.conv1d(x[None, None], k[None, None], padding=1) ** 3).sum(),
    "every second": lambda x, k, X, K: (F.conv1d(x[None, None], k[None, None], stride=2) ** 2).sum(),
    "with gaps": lambda x, k, X, K: F.conv1d(x[None, None], k[None, None], dilation=2).exp().sum(),
    "of its entries": lambda x, k, X, K: F.conv1d(x[None, None], k[None, None])[0, 0] @ x[:6],
    "transposed": lambda x, k, X, K: F.conv_transpose1d(x[None, None], k[None, None]).sin().sum(),
    "an image": lambda x, k, X, K: (F.conv2d(X[None, None], K[None, None]) ** 2).sum(),
    "a pool": lambda x, k, X, K: F.avg_pool1d(x[None], 2).exp().sum(),
    "overlapping pools": lambda x, k, X, K: F.avg_pool1d(x[None], 3, 1).exp().sum(),
    "padded pools": lambda x, k, X, K: F.avg_pool1d(x[None], 3, 2, padding=1).exp().sum(),
    "a pool of an image": lambda x, k, X, K: F.avg_pool2d(X[None], 2).exp().sum(),
    "windows": lambda x, k, X, K: ((x.unfold(0, 3, 1) @ k) ** 2).sum(),
}


@pytest.mark.parametrize("name", CASES)
def test_texts_of_windows_say_their_values(name):
    leaves = {k: sg.tensor(v, name=k, requires_grad=True) for k, v in GIVEN.items()}
    value = CASES[name](*leaves.values())
    for made in (value, *sg.autograd.grad(value, list(leaves.values()), allow_unused=True)):
        for text, read in readings(made.term, symbols(made.term)).items() if made is not None else ():
            np.testing.assert_allclose(evaluate(read, GIVEN), made.numpy(force=True), rtol=1e-10, err_msg=text)


def test_a_convolution_is_windows_times_its_kernel():
    text = sg.latex(CASES["a signal"], *GIVEN.values(), wrt="k")
    windows = r"\operatorname{windows}\left(x, m\right)"
    assert text == rf"2 {windows}^{{\top}} {windows} k"


def test_a_pool_divides_by_a_number():
    assert "c_{1}" not in sg.latex(CASES["a pool"], *GIVEN.values(), wrt="x")


def test_the_mean_of_a_depthwise_convolution_divides_by_a_whole_size():
    """As many places are left as there are channels: both sizes are p - q + 1."""
    x, W = np.random.default_rng(0).random((2, 4, 6)), np.random.default_rng(1).random((4, 1, 3))
    f = lambda x, W: (sg.nn.functional.conv1d(x, W, groups=4) ** 2).mean()  # noqa: E731
    found = sg.formula(f, x, W, wrt="W")
    np.testing.assert_allclose(found.evaluate(x=x, W=W), sg.func.grad(f, 1)(x, W).numpy())


def test_one_block_reads_back():
    found = sg.formula(lambda x: (x[:5] * sg.tensor([1.0, 2, 3, 4, 5])).sum(), np.ones(5), wrt="x")
    again = from_latex(found.latex(), found.symbols)
    np.testing.assert_allclose(evaluate(again, found.constants), [1, 2, 3, 4, 5])


def test_the_jacobian_of_windows_is_one_formula() -> None:
    x = sg.tensor(np.arange(1.0, 6), name="x", requires_grad=True)
    found = sg.autograd.functional.jacobian(lambda x: (x.unfold(0, 2, 1) ** 2).sum(-1), x, create_graph=True)
    assert np.array_equal(evaluate(found.term, {"x": x.detach().numpy()}, {"n": 5}), found.detach().numpy())


POOLS = {
    "two by two": (lambda X, G: (G * F.max_pool2d(X, 2)).sum(), 2, (4, 6), (6, 10)),
    "three by three": (lambda X, G: (G * F.max_pool2d(X, 3)).sum(), 3, (9, 6), (12, 15)),
    "means": (lambda X, G: (G * F.avg_pool2d(X, 2)).sum(), 2, (4, 6), (8, 2)),
}


@pytest.mark.parametrize("name", POOLS)
def test_sizes_that_go_with_each_other_are_not_those_of_the_pool(name):
    """Of a matrix with four rows in pools of two by two, a pool's four entries were n, as were its rows."""
    f, k, *sizes = POOLS[name]
    tuples = [(RNG.normal(size=(1, *s)), RNG.normal(size=(1, *(n // k for n in s)))) for s in sizes]
    found = sg.formula(f, *tuples[0], wrt="X")
    for X, G in tuples:
        np.testing.assert_allclose(found.evaluate(X=X, G=G), sg.func.grad(f)(X, G).numpy())
    for text in (found.latex(), found.unicode()):
        assert text.count("reshape") <= 6
        assert "unsqueeze" not in text


def test_runs_at_multiples_of_sizes_go_the_way_of_the_given_arrays():
    """They are run on other numbers, all above 0; the sizes that a formula knows are the given ones."""

    def f(X, G):
        pool = F.max_pool2d if X.sum() > 0 else F.avg_pool2d
        return (G * pool(X, 2)).sum()

    X, G = RNG.normal(size=(1, 4, 6)), RNG.normal(size=(1, 2, 3))
    for given in (abs(X), -abs(X)):
        found = sg.formula(f, given, G, wrt="X")
        np.testing.assert_allclose(found.evaluate(X=given, G=G), sg.func.grad(f)(given, G).numpy())


def test_a_batch_of_half_as_many_signals_as_they_are_long_has_a_gradient():
    """Two signals of four entries, in pools of two: their number is taken for a half of their length."""
    X, G = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 2))
    f = lambda X, G: (G * F.avg_pool1d(X, 2)).sum()  # noqa: E731
    found = sg.formula(f, X, G, wrt="X")
    np.testing.assert_allclose(found.evaluate(X=X, G=G), sg.func.grad(f)(X, G).numpy())


def test_sizes_that_fit_anyway_are_not_taken_for_multiples_of_others():
    """Of three gates of two entries and an x of four, the third began at the length of x."""

    def f(W, x, c):
        first, second, third = (W @ x).chunk(3)
        return (first * c + second * third).sum()

    args = [RNG.normal(size=s) for s in ((6, 4), (4,), (2,))]
    found = sg.formula(f, *args, wrt="W")
    for W, x, c in (
        [RNG.normal(size=s) for s in ((6, 4), (4,), (2,))],
        [RNG.normal(size=s) for s in ((9, 5), (5,), (3,))],
    ):
        try:
            value = found.evaluate(W=W, x=x, c=c)
        except sg.errors.FormulaError:
            assert W.shape == (9, 5)
        else:
            np.testing.assert_allclose(value, sg.func.grad(f)(W, x, c).numpy())

"""Gradients as papers write them: mixtures, Gaussian processes, directions."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate, symbols

RNG = np.random.default_rng(3)
X, M, P = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3)), RNG.dirichlet(np.ones(4))


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


def mixture(mu, X, pi):
    return sg.logsumexp(sg.log(pi) - distances(X, mu) / 2, 1).sum()


def kernel(h, X, a):
    return a @ sg.exp(-distances(X, X) / (2 * h**2)) @ a


def directions(Z, G):
    return (F.normalize(Z, dim=1) * G).sum()


PAIRS = r"\left[\sum_{k} \left(X_{i k} - X_{j k}\right)^{2}\right]_{i j}"
LENGTHS = r"\max\left(\sqrt{Z^{\odot 2} \mathbf{1}}, 10^{-12}\right)"
CASES = {
    "mixture": (mixture, (M, X, P), (
        r"\begin{aligned}" "\n"
        r"t_{1} &= \operatorname{softmax}\left(\mathbf{1} \log\left(\pi\right)^{\top} - \frac{1}{2} "
        r"\left[\sum_{k} \left(X_{i k} - \mu_{j k}\right)^{2}\right]_{i j}\right) \\" "\n"
        r"& t_{1}^{\top} X - \operatorname{diag}\left(t_{1}^{\top} \mathbf{1}\right) \mu" "\n"
        r"\end{aligned}"
    )),
    "kernel": (kernel, (1.5, X, RNG.normal(size=5)), (
        rf"\frac{{a^{{\top}} \left(e^{{-\frac{{1}}{{2 h^{{2}}}} {PAIRS}}} \odot {PAIRS}\right) a}}{{h^{{3}}}}"
    )),
    "directions": (directions, (X, RNG.normal(size=(5, 3))), (
        rf"\operatorname{{diag}}\left(\frac{{1}}{{{LENGTHS}}}\right) \left(G - \operatorname{{diag}}\left("
        r"\frac{\left[\sqrt{Z^{\odot 2} \mathbf{1}} \ge 10^{-12}\right] \odot \left(G \odot Z\right) \mathbf{1}}"
        rf"{{{LENGTHS} \odot \sqrt{{Z^{{\odot 2}} \mathbf{{1}}}}}}\right) Z\right)"
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_papers(name):
    f, args, text = CASES[name]
    names = f.__code__.co_varnames[: len(args)]
    found = sg.formula(f, *args, wrt=names[0])
    assert found.latex() == text
    given = dict(zip(names, map(np.asarray, args), strict=True))
    read = from_latex(text, symbols(found.term), shape=found.term.shape)
    np.testing.assert_allclose(evaluate(read, given), sg.func.grad(f)(*args).numpy(), rtol=1e-10)


def test_an_array_of_three_axes_that_is_summed_beside_others():
    found = sg.latex(lambda x, T, u: sg.einsum("i,abc,i->i", x, T, u), (2,), (5, 3, 4), (2,))
    assert found == r"\operatorname{sum}\left(T\right) x \odot u"

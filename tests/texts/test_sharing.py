"""Names for parts that a formula of one line would write several times."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.printing.sharing import signs
from symgrad.formula.reading.text import from_latex
from symgrad.formula.term import evaluate

RNG = np.random.default_rng(4)


def factors(W, x, psi):
    S = W @ W.T + sg.diag(psi)
    return (x @ sg.linalg.solve(S, x) + sg.logdet(S)) / 2


def leave_one_out(y, X, lam):
    H = X @ sg.linalg.solve(X.T @ X + lam * sg.eye(X.shape[1], dtype=sg.float64), X.T)
    return (((y - H @ y) / (1 - sg.diagonal(H))) ** 2).mean()


def attention(V, Q, K, M):
    return 0.5 * ((sg.softmax(sg.where(M, Q @ K.T, -np.inf), -1) @ V) ** 2).sum()


LOWER = np.tril(np.ones((4, 4))) > 0
CASES = {
    "factors": (factors, ((4, 2), (4,), "+4"), (
        r"t_{1} &= W W^{\top} + \operatorname{diag}\left(\psi\right) \\",
        r"& t_{1}^{-1} \left(W - x x^{\top} t_{1}^{-1} W\right)",
    )),
    "leave one out": (leave_one_out, ((5,), (5, 3), "+"), (
        r"t_{1} &= X^{\top} X + \lambda I \\",
        (r"t_{2} &= \frac{y - X t_{1}^{-1} X^{\top} y}"
        r"{\left(1 - \left(X \odot X t_{1}^{-1}\right) \mathbf{1}\right)^{\odot 2}} \\"),
        r"& \frac{2}{n} \left(t_{2} - X t_{1}^{-1} X^{\top} t_{2}\right)",
    )),
    "attention": (attention, ((4, 2), (4, 3), (4, 3), LOWER), (
        (r"t_{1} &= \operatorname{softmax}\left(\begin{cases} Q K^{\top} & "
        r"\text{for}\: M \\ -\infty & \text{otherwise} \end{cases}\right) \\"),
        r"& t_{1}^{\top} t_{1} V",
    )),
}  # fmt: skip


def given(kind):
    if isinstance(kind, np.ndarray):
        return kind
    if isinstance(kind, str):
        return np.asarray(RNG.uniform(0.5, 1.5, [int(n) for n in kind[1:]]))
    return RNG.normal(size=kind)


@pytest.mark.parametrize("name", CASES)
def test_shared_parts_are_named_once(name):
    f, kinds, lines = CASES[name]
    args = [given(kind) for kind in kinds]
    found = sg.formula(f, *args, wrt=0)
    text = found.latex()
    assert text == "\n".join([r"\begin{aligned}", *lines, r"\end{aligned}"])
    values = dict(zip(f.__code__.co_varnames, args, strict=False))
    read = from_latex(text, found.symbols, shape=found.term.shape)
    want = sg.func.grad(f)(*(sg.tensor(x) for x in args)).numpy()
    np.testing.assert_allclose(evaluate(read, {**found.constants, **values}), want, rtol=1e-9)
    inline = found.latex(where=False)
    assert "\n" not in inline
    assert sum(signs(line) for line in lines) < signs(inline)


def test_short_formulas_stay_in_one_line():
    """tanh stands twice, and a name would take a line for it."""

    def network(W, X, V):
        return (sg.tanh(X @ W) @ V).sum()

    assert "aligned" not in sg.latex(network, (3, 4), (5, 3), (4, 2), wrt="W")


def test_names_of_parts_may_be_chosen():
    text = sg.latex(factors, RNG.normal(size=(4, 2)), RNG.normal(size=4), np.ones(4), wrt="W", names=["Sigma"])
    assert r"\Sigma^{-1} \left(W - x x^{\top} \Sigma^{-1} W\right)" in text
    named = sg.formula(factors, RNG.normal(size=(4, 2)), RNG.normal(size=4), np.ones(4), wrt="W")
    assert named.latex(header=True, environment="align*").splitlines()[2].startswith(r"\frac{\partial")

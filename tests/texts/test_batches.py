"""``latex(batch="i")``: the formula of a batch by that of one example, and sums over all of them."""

import pytest

import symgrad as sg
from symgrad.__main__ import main
from symgrad.errors import FormulaError

F = sg.nn.functional
_RESIDUAL = r"X_{i}^{\top} w - y_{i}"
_CHANCE = r"\sigma\left(y_{i} X_{i}^{\top} w\right)"
_SOFTMAX = r"\operatorname{softmax}\left(z_{i}\right) - \operatorname{onehot}_{m}\left(t_{i}\right)"
_XYW = ((7, 3), (7,), (3,))
_ATTENTION = ((2, 5, 4), (2, 6, 4), (2, 6, 3))


def _mean_square(X, y, w):
    return ((X @ w - y) ** 2).mean()


@pytest.mark.parametrize(
    ("f", "shapes", "wrt", "text"),
    [
        (_mean_square, _XYW, None, rf"\frac{{1}}{{n}} \sum_{{i}} \left({_RESIDUAL}\right)^{{2}}"),
        (_mean_square, _XYW, "w", rf"\frac{{2}}{{n}} \sum_{{i}} \left({_RESIDUAL}\right) X_{{i}}"),
        (
            lambda X, y, w: F.softplus(-y * (X @ w)).sum() + 0.5 * (w @ w), _XYW, "w",
            r"w - \sum_{i} y_{i} \sigma\left(-y_{i} X_{i}^{\top} w\right) X_{i}",
        ),
        (
            lambda X, y, w: F.softplus(-y * (X @ w)).sum(), _XYW, ("w", "w"),
            rf"\sum_{{i}} y_{{i}}^{{2}} {_CHANCE} \left(1 - {_CHANCE}\right) X_{{i}} X_{{i}}^{{\top}}",
        ),
        (
            lambda Q, K, V: F.softmax(Q @ K.mT / 2, -1) @ V, _ATTENTION, None,
            r"\operatorname{softmax}\left(\frac{1}{2} Q_{i} K_{i}^{\top}\right) V_{i}",
        ),
        (
            lambda X, W, b: ((X @ W.T + b) ** 2).sum() / 2, ((2, 5, 4), (3, 4), (3,)), "W",
            r"\sum_{i} \left(W X_{i}^{\top} + b \mathbf{1}^{\top}\right) X_{i}",
        ),
        (lambda X, W: (X @ W).exp().sum(), ((2, 5, 4), (4, 3)), "X", r"e^{X_{i} W} W^{\top}"),
        (lambda S: sg.logdet(S @ S.mT).sum(), ((2, 3, 3),), "S", r"2 S_{i}^{-\top}"),
        (
            lambda z, t: F.cross_entropy(z, t), (sg.zeros(5, 3).double(), sg.tensor([0, 1, 2, 0, 1])), "z",
            rf"\frac{{1}}{{n}} \left({_SOFTMAX}\right)",
        ),
        (
            lambda E, k, w: (E[k] @ w).exp(), (sg.zeros(9, 4), sg.tensor([1, 2, 3]), sg.zeros(4)), None,
            r"e^{w^{\top} E_{[k_{i}]}}",
        ),
        (
            lambda E, k: E[k].exp().sum(), (sg.zeros(9, 4), sg.tensor([1, 2, 3])), "E",
            r"\sum_{i} \operatorname{onehot}_{n}\left(k_{i}\right) \left(e^{E_{[k_{i}]}}\right)^{\top}",
        ),
        (
            lambda X, g: (X - X.mean(1, keepdim=True)) * g, ((7, 3), (3,)), None,
            r"g \odot \left(X_{i} - \frac{\mathbf{1}^{\top} X_{i}}{m}\right)",
        ),
    ],
)  # fmt: skip
def test_a_formula_of_one_example(f, shapes, wrt, text):
    assert sg.formula(f, *shapes, wrt=wrt).latex(batch="i") == text


def test_of_tensors_and_their_gradients():
    X, y = sg.randn(7, 3, dtype=sg.float64), sg.randn(7, 1, dtype=sg.float64)
    W, b = sg.randn(1, 3, dtype=sg.float64, requires_grad=True), sg.zeros(1, dtype=sg.float64, requires_grad=True)
    loss = F.mse_loss(F.linear(X, W, b), y)
    loss.backward()
    assert r"\sum_{i}" in b.grad.latex(batch="i")


@pytest.mark.parametrize("text", ["sum(log(1 + exp(-y*(X@w)))) + k*(w@w)", "norm(X@w - y)**2/2", "sum(exp(X@w))*k"])
def test_the_judge_reads_them(text):
    answer = sg.latex(text, wrt="w", batch="i")
    assert r"\sum_{i}" in answer
    assert sg.judge(answer, of=text, wrt="w").verdict == "EQUAL"
    assert sg.judge(answer.replace(r"\sum_{i}", r"2 \sum_{i}"), of=text, wrt="w").verdict == "DIFFERENT"


@pytest.mark.parametrize(
    "f",
    [
        lambda X: X @ X.T @ X,
        lambda X: X.cumsum(0).cumsum(1) @ X.T,
        lambda X: (X - X.mean(0)) @ (X - X.mean(0)).T,
        lambda X: X.sum() ** 2 + X.exp().sum() ** 2,
    ],
    ids=["products", "sums so far", "centred", "squares of sums"],
)
def test_examples_that_meet_are_refused(f):
    with pytest.raises(FormulaError, match=r"batch='i': no axis of X \('n', 'm'\) numbers examples that do not meet"):
        sg.formula(f, (5, 3)).latex(batch="i")


def test_letters_that_are_none():
    f = sg.formula(lambda X, X_i: (X @ X_i).exp(), (5, 3), (3,))
    with pytest.raises(FormulaError, match="has a X_i of its own"):
        f.latex(batch="i")
    with pytest.raises(FormulaError, match="a letter that numbers the examples"):
        f.latex(batch="2")
    assert f.latex(batch="k") == r"e^{X_{k}^{\top} X_{i}}"


def test_the_other_options_hold_for_one_example():
    f = sg.formula(lambda X, y, w: ((X @ w - y) ** 2).sum(), *_XYW, wrt="w")
    assert f.latex(batch="i", name="g", environment="equation") == (
        "\\begin{equation}\ng = 2 \\sum_{i} \\left(X_{i}^{\\top} w - y_{i}\\right) X_{i}\n\\end{equation}"
    )
    each = sg.formula(lambda X, w: X @ w, *_XYW[::2])
    assert each.latex(batch="i", name="z") == r"z_{i} = X_{i}^{\top} w"
    assert f.unicode(batch="i").replace("\N{MINUS SIGN}", "-") == "2 ∑ᵢ (Xᵢᵀ w - yᵢ) Xᵢ"
    deep = sg.formula(lambda X, w, V: ((X @ w).tanh()[:, None] @ V).exp().sum(), (7, 3), (3,), (1, 4), wrt="w")
    *_, last, end = deep.latex(batch="i", where=True).splitlines()
    assert last.startswith(r"& \sum_{i}")
    assert end == r"\end{aligned}"


def test_from_the_shell(capsys):
    assert main(["latex", "sum(exp(X@w))", "--wrt", "X", "--batch", "i", "--header"]) == 0
    assert capsys.readouterr().out.strip() == (r"\left[\frac{\partial f}{\partial X}\right]_{i} = e^{X_{i}^{\top} w} w")


def test_parts_are_not_called_like_an_example():
    """t₁ stood for a part beside tᵢ, the targets of an example."""

    def attention(q, K, V, t):
        return ((sg.softmax(q @ K.T, 1) @ V - t) ** 2).sum()

    text = sg.latex(attention, (5, 3), (4, 3), (4, 2), (5, 2), wrt="q", batch="i")
    assert "t_{i}" in text
    assert "t_{1}" not in text
    assert r"u_{1} &= \operatorname{softmax}\left(K q_{i}\right)" in text


def test_the_program_of_one_example_is_not_known():
    """The canonical form was printed all the same."""
    with pytest.raises(FormulaError, match=r"batch=, canonical=False.*canonical form"):
        sg.latex("sum((X@w - y)**2)", wrt="w", batch="i", canonical=False)

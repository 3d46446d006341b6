"""Labels in formulas: one-hot rows, whole numbers as labels, and entries that are put at places."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings

RNG = np.random.default_rng(5)
X, W = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 4))
T = np.array([0, 2, 3, 1, 1])


def test_labels_of_a_loss_are_rows_of_the_identity():
    text = sg.latex(lambda W, X, t: F.cross_entropy(X @ W, t), W, X, T, wrt="W")
    assert text == (
        r"\frac{1}{n} X^{\top} \left(\operatorname{softmax}\left(X W\right) - "
        r"\operatorname{onehot}_{p}\left(t\right)\right)"
    )


def test_one_label_after_the_other_is_the_identity():
    """The contrastive loss of a batch, whose labels are 0, 1, 2 ..."""
    text = sg.latex(lambda Z: F.cross_entropy((Z @ Z.T) / 0.1, sg.arange(len(Z))), X, wrt="Z")
    assert text == (
        r"\frac{10}{n} \left(\operatorname{softmax}\left(10 Z Z^{\top}\right) + "
        r"\operatorname{softmax}\left(10 Z Z^{\top}\right)^{\top} - 2 I\right) Z"
    )


def test_a_program_with_such_labels_holds_for_every_size():
    program = sg.compile(sg.func.grad(lambda Z: F.cross_entropy(Z @ Z.T, sg.arange(len(Z)))), X)
    other = RNG.normal(size=(7, 3))
    z = sg.tensor(other, requires_grad=True)
    F.cross_entropy(z @ z.T, sg.arange(7)).backward()
    np.testing.assert_allclose(program(other), z.grad.numpy(), rtol=1e-12)


def test_a_sum_of_entries_put_at_places_is_their_sum():
    text = sg.latex(lambda s, a, R: -(R * sg.log_softmax(s, 0)[a]).sum(), W[0], np.array([0, 2]), X[0, :2], wrt="s")
    assert text == (
        r"\left(\mathbf{1}^{\top} R\right) \operatorname{softmax}\left(s\right) - "
        r"\operatorname{onehot}_{n}\left(a\right)^{\top} R"
    )


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda W, X, t: F.cross_entropy(X @ W, t), (W, X, T)),
        (lambda W, X, t: (sg.log_softmax(X @ W, 1)[np.arange(5), t] * 3).sum(), (W, X, T)),
        (lambda x, t: (x[t] ** 2 * x.sum()).sum(), (W[0], T)),
        (lambda x, t: (F.one_hot(t, 4).double() @ x).exp().sum(), (W[0], T)),
        (lambda x: ((sg.arange(4) * x) ** 2).sum(), (W[0],)),
        (lambda x: (x[sg.arange(4)] * sg.arange(4)).sum() ** 2, (W[0],)),
    ],
)
def test_texts_of_such_formulas_say_their_values(f, args):
    """LaTeX, Unicode and SymPy read back as a formula with the gradient's values, also where a label occurs twice."""
    names = "xWtab"
    tensors = [sg.tensor(a, name=names[k], requires_grad=not k) for k, a in enumerate(args)]
    value = f(*tensors)
    (made,) = sg.autograd.grad(value, tensors[:1])
    known = symbols(made.term)
    given = {names[k]: a for k, a in enumerate(args)}
    sizes = {x: n for s in known if s.op.name == "symbol" for x, n in zip(s.shape, given[s.params["name"]].shape)}
    for text, read in readings(made.term, known).items():
        np.testing.assert_allclose(evaluate(read, given, sizes), made.numpy(), rtol=1e-12, err_msg=text)

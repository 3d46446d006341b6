"""Masks and arrays of places in formulas: constants with a name, or cases, whatever the number of entries."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings


def _overwritten(x, A, t, k):
    y = x * 2
    y[x > 0] = 0
    return (y**2).sum()


def _by_others(x, A, t, k):
    y = x * 2
    y[x > 0] = x[x > 0] * 3
    return (y**2).sum()


def _whole_rows(x, A, t, k):
    B = A * 2
    B[x > 0] = sg.tensor([1.0, 2.0, 3.0], dtype=A.dtype)
    return (B**2).sum()


def _by_a_number(x, A, t, k):
    y = x * 2
    y[(t * 2 > 1).numpy()] = x.sum()
    return (y**2).sum()


def _added(x, A, t, k):
    y = x * 1
    y.index_put_((k,), x**2, accumulate=True)
    return (y**2).sum()


PROGRAMS = {
    "overwritten": _overwritten,
    "by others": _by_others,
    "whole rows": _whole_rows,
    "by a number": _by_a_number,
    "added": _added,
    "mask": lambda x, A, t, k: (x[x > 0] ** 3).sum(),
    "mask, mean": lambda x, A, t, k: (x[x > 0] ** 2).mean(),
    "mask of constants": lambda x, A, t, k: (x[t > 0] ** 2).sum(),
    "mask of two axes": lambda x, A, t, k: (A[A > 0] ** 2).sum(),
    "rows": lambda x, A, t, k: (A[x > 0] ** 2).sum(),
    "rows and a column": lambda x, A, t, k: (A[x > 0, 1] ** 2).sum(),
    "array": lambda x, A, t, k: (x[k.numpy()] ** 2).sum(),
    "two arrays": lambda x, A, t, k: (A[np.arange(len(k)), k.numpy() % 3] ** 2).sum(),
    "array and tensor": lambda x, A, t, k: (A[np.arange(len(k)), k % 3] ** 2).sum(),
    "masked_select": lambda x, A, t, k: (x.masked_select(x > 0) ** 2).sum(),
    "take": lambda x, A, t, k: (A.take(k.numpy()) ** 2).sum(),
    "gather": lambda x, A, t, k: (A.gather(1, (k % 3)[:, None]) ** 2).sum(),
    "scatter_add": lambda x, A, t, k: (sg.zeros(3, dtype=x.dtype).scatter_add(0, k % 3, x) ** 2).sum(),
    "embedding": lambda x, A, t, k: (sg.nn.functional.embedding(k, A) ** 2).sum(),
    "where": lambda x, A, t, k: sg.where(x > 0, x**2, x).sum(),
}


def leaves(n):
    values = np.random.default_rng(n).permutation(np.linspace(-1, 1, n))
    x = sg.tensor(values, requires_grad=True, name="x")
    A = sg.tensor(np.cos(np.arange(3 * n)).reshape(n, 3), requires_grad=True, name="A")
    return x, A, sg.tensor(np.sin(np.arange(n))), sg.tensor(np.arange(n) * 7 % n)


def results(make, n):
    """The value, the gradient, and that of the sum of its squares."""
    x, A, t, k = leaves(n)
    out = make(x, A, t, k)
    wrt = [v for v in (x, A) if sg.autograd.grad(out, v, allow_unused=True, retain_graph=True)[0] is not None][:1]
    (first,) = sg.autograd.grad(out, wrt, create_graph=True)
    (plain,) = sg.autograd.grad(make(x, A, t, k), wrt)
    found = [out, plain]
    if first.requires_grad:
        found += sg.autograd.grad((first**2).sum(), wrt, allow_unused=True)
    return [g for g in found if g is not None]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_number_of_entries_makes_no_difference(name):
    few, many = ([made.latex() for made in results(PROGRAMS[name], n)] for n in (10, 1000))
    assert few == many
    assert max(map(len, few)) < 700


@pytest.mark.parametrize("name", PROGRAMS)
def test_formulas_have_the_values_of_the_program(name):
    for tensor in results(PROGRAMS[name], 10):
        assert sg.verify(tensor)
        made, (x, A, *_) = sg.formula(tensor), leaves(10)
        given = {"x": x.detach().numpy(), "A": A.detach().numpy()}
        given = {str(s.name): given[s.name] for s in made.symbols if s.name in given}
        np.testing.assert_allclose(made.evaluate(**given), tensor.detach().numpy(), rtol=1e-12)
        known = symbols(made.term)
        values = {**made.constants, **given}
        sizes = {x: n for s in known for x, n in zip(s.shape, np.shape(values[s.name]), strict=True)}
        for text, read in readings(made.term, known).items():
            np.testing.assert_allclose(evaluate(read, values, sizes), tensor.detach().numpy(), err_msg=text)


def test_a_value_written_where_a_comparison_holds_is_a_choice_by_cases():
    x, *rest = leaves(10)
    out = _overwritten(x, *rest)
    assert (
        out.latex() == r"4 \lVert \begin{cases} 0 & \text{for}\: x > 0 \\ x & \text{otherwise} \end{cases} \rVert^{2}"
    )
    out.backward()
    assert x.grad.latex() == r"8 \begin{cases} 0 & \text{for}\: x > 0 \\ x & \text{otherwise} \end{cases}"
    others = np.linspace(-3, 2, 10)  # the formula and its program hold there, too
    np.testing.assert_array_equal(sg.formula(x.grad).evaluate(x=others), np.where(others > 0, 0, 8 * others))
    np.testing.assert_array_equal(sg.compile(x.grad)(others), np.where(others > 0, 0, 8 * others))
    assert not sg.formula(out).valid_when


def test_masks_have_the_names_of_their_tensors_where_they_choose():
    x, *_ = leaves(10)
    keep = sg.tensor(np.arange(10) % 2 > 0)
    y = x * 2
    y[keep] = 1.5
    text = r"\begin{cases} \frac{3}{2} & \text{for}\: \mathrm{keep} \\ 2 x & \text{otherwise} \end{cases}"
    assert y.latex() == text
    keep[0] = True  # the graph has what it was
    assert y.latex() == text
    np.testing.assert_array_equal(sg.formula(y).evaluate(x=x.detach().numpy()), y.detach().numpy())


def test_short_lists_are_part_of_the_program():
    x, A, *_ = leaves(10)
    assert x[[0, 2]].latex() == "x_{[[0, 2]]}"
    assert A[[0, 2], 1].shape == (2,)
    assert x[[*range(8, -1, -1)]].latex() == "x_{[c_{1}]}"
    assert x[np.arange(9)].latex() == r"x_{[\operatorname{arange}\left(9\right)]}"
    assert A[x > 0, [0, 1, 2, 0, 1]].latex() == "A_{[c_{1}, [0, 1, 2, 0, 1]]}"


def test_equal_masks_are_one_constant():
    x, *_ = leaves(10)
    assert sg.formula(x[x > 0].sum() * x[x > 0].mean()).constants.keys() == {"c1"}
    assert sg.formula(x[x > 0].sum() * x[x < 0].mean()).constants.keys() == {"c1", "c2"}


@pytest.mark.parametrize("given", [lambda m: m, lambda m: m.numpy()], ids=["tensor", "array"])
def test_gradients_stay_right_when_the_mask_is_changed_later(given):
    x = sg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    mask, places = sg.tensor([True, False, True, False]), np.array([0, 1])
    y = x * 1
    y[given(mask)] = 0
    out = y.sum() + (x[given(mask)] ** 2).sum() + (x[places] ** 3).sum()
    mask[0], places[0] = False, 3
    out.backward()
    np.testing.assert_array_equal(x.grad, [2 + 3, 1 + 12, 6, 1])


def test_each_row_at_its_label_is_a_one_hot_matrix():
    """``logp[np.arange(n), t]``: the first array counts the rows, so the gradient is the textbook's."""
    rng = np.random.default_rng(0)
    for n in (5, 50):
        Z = sg.tensor(rng.normal(size=(n, 3)), requires_grad=True, name="Z")
        t = sg.tensor(rng.integers(0, 3, n), name="t")
        loss = -sg.log_softmax(Z, 1)[np.arange(n), t].mean()
        (made,) = sg.autograd.grad(loss, Z)
        text = (
            r"\frac{1}{n} \left(\operatorname{softmax}\left(Z\right) - \operatorname{onehot}_{m}\left(t\right)\right)"
        )
        assert made.latex() == text
        assert sg.verify(made).ok


def test_the_mask_of_the_identity_may_have_a_size_that_is_a_number():
    def contrastive(Z):
        return sg.logsumexp((Z @ Z.T).masked_fill(sg.eye(5).bool(), -np.inf), 1).sum()

    text = sg.latex(contrastive, wrt="Z", shapes="Z=5,m")
    assert text == sg.latex(contrastive, (5, 3), wrt="Z").replace("I_{n}", "I_{5}")


OF_ALL_ENTRIES = {
    "sums": lambda x: sg.cumsum(sg.where(x > 0, 0 * x, x**2), 0),
    "turned": lambda x: sg.flip(sg.where(x > 0, 2 * x, x**2), (0,)),
    "rolled": lambda x: sg.roll(sg.where(x > 0, 2 * x, x**2), 1),
    "spectrum": lambda x: sg.fft.fft(sg.where(x > 0, 2 * x, x**2)).real,
    "exponential": lambda x: sg.linalg.matrix_exp(sg.where(x > 0, x, x.exp()).diag())[0],
}


@pytest.mark.parametrize("name", OF_ALL_ENTRIES)
@pytest.mark.parametrize("wrt", [None, "x"])
def test_what_reads_other_entries_asks_again_inside_of_a_branch(name, wrt):
    """The answer of a branch holds at its own place: running sums inside of one were those of that branch alone."""
    f = lambda x, w: sg.where(x > 0, OF_ALL_ENTRIES[name](x), x**3)  # noqa: E731
    x, w = np.array([0.5, -1.5, 2.0, -0.25]), np.array([1.0, -2.0, 3.0, 0.5])
    loss = f if wrt is None else lambda x, w: (f(x, w) * w).sum()
    term = sg.formula(loss, x, w, wrt=wrt).term
    want = np.asarray(f(sg.tensor(x), w) if wrt is None else sg.func.grad(loss)(x, w))
    for text, reading in readings(term, symbols(term)).items():
        assert np.allclose(evaluate(reading, {"x": x, "w": w}), want, rtol=1e-9), text


def test_the_derivative_of_an_exponential_reads_all_entries_of_a_mask():
    K, v, w = (np.random.default_rng(k).normal(size=s) for k, s in enumerate(((3, 3), 3, (3, 3))))
    f = lambda K, v, w: (w * sg.linalg.matrix_exp(sg.where(sg.eye(len(v)) > 0, v, K))).sum()  # noqa: E731
    for k, wrt in enumerate("Kv"):
        term = sg.formula(f, K, v, w, wrt=wrt).term
        want = np.asarray(sg.func.grad(f, argnums=k)(K, v, w))
        for name, reading in readings(term, symbols(term)).items():
            assert np.allclose(evaluate(reading, {"K": K, "v": v, "w": w}, {"n": 3}), want, rtol=1e-9), name


def test_comparisons_in_place_are_those_of_others():
    """What stands for their history in the graph, a choice that is never made, is in no formula and no program."""

    def f(a):
        b = a * 2
        b.gt_(1)
        return (b * a).sum()

    x = sg.tensor([0.25, 3.0, -2.0])
    assert sg.latex(f, x) == r"a^{\top} \left[2 a > 1\right]"
    assert "where" not in sg.compile(sg.func.grad(f), x).source
    assert sg.compile(f, x)(x.numpy()) == 3
    assert sg.compile(sg.func.grad(f), x)(x.numpy()).tolist() == sg.func.grad(f)(x).tolist() == [0, 1, 0]


def test_conditions_are_no_powers_and_factors_stay_decimal():
    """A condition times itself is itself, whichever it is, and 0.3 beside one is written as it was given."""
    x = sg.tensor([0.3, -0.2], name="x", requires_grad=True)
    u = 0.3 * x
    held = (sg.clamp(u, -1, 1) * ((u >= -1) & (u <= 1))).sum()
    assert held.latex() == r"0.3 x^{\top} \left[-1 \le 0.3 x \le 1\right]"
    (slope,) = sg.autograd.grad(held, x)
    assert slope.latex() == r"0.3 \left[-1 \le 0.3 x \le 1\right]"
    below = (x * ((x < 2) * (x < 2))).sum()
    assert below.latex() == r"x^{\top} \left[x < 2\right]"

"""Formulas of entries that are picked and put: rows of the identity, blocks with zeros, sizes of slices."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.term import evaluate, symbols
from tests.formulas.roundtrip import readings

RNG = np.random.default_rng(0)
GIVEN = {
    "x": RNG.normal(size=7), "X": RNG.normal(size=(7, 5)), "B": RNG.normal(size=(2, 7, 3)),
    "S": RNG.normal(size=(4, 4)), "t": np.array([0, 2, 2, -1]), "i": np.array([0, 1, 2, 1]),
}  # fmt: skip
TEXTS = [
    (lambda x, X, B, S, t, i: (X[t] ** 2).sum() / 2, "X", r"\operatorname{onehot}_{n}\left(t\right)^{\top} X_{[t]}"),
    (lambda x, X, B, S, t, i: (X[:, t] ** 2).sum(), "X", r"2 X_{[:, t]} \operatorname{onehot}_{m}\left(t\right)"),
    (
        lambda x, X, B, S, t, i: X[t, i].sum(),
        "X",
        r"\operatorname{onehot}_{n}\left(t\right)^{\top} \operatorname{onehot}_{m}\left(i\right)",
    ),
    (lambda x, X, B, S, t, i: (x[::2] ** 2).sum(), "x", r"2 \left(I_{n}\right)_{[::2]}^{\top} x_{[::2]}"),
    (lambda x, X, B, S, t, i: x[:5] @ x[:5], "x", r"2 \begin{bmatrix} x_{[:5]} \\ \mathbf{0}_{n - 5} \end{bmatrix}"),
    (lambda x, X, B, S, t, i: (X[:, 1:] ** 2).sum(), "X", r"2 \begin{bmatrix} 0 & X_{[:, 1:]} \end{bmatrix}"),
    (
        lambda x, X, B, S, t, i: -sg.log_softmax(S, 1).gather(1, i[:, None]).mean(),
        "S",
        r"\frac{1}{n} \left(\operatorname{softmax}\left(S\right) - \operatorname{onehot}_{n}\left(i\right)\right)",
    ),
    (lambda *a: (a[3].gather(1, a[5][:, None]) ** 2).sum(), "S", r"2 S \odot \operatorname{onehot}_{n}\left(i\right)"),
    (lambda x, X, B, S, t, i: ((x[None, None] * 2.0)[0, 0] ** 2).sum(), "x", "8 x"),
    (lambda x, X, B, S, t, i: x.flip(0) @ x, "x", r"2 \operatorname{flip}\left(x\right)"),
]  # fmt: skip
READ = [
    *(make for make, _, _ in TEXTS),
    lambda x, X, B, S, t, i: (x[t] ** 2).sum(),
    lambda x, X, B, S, t, i: (x[::2] ** 2).mean() + (x[1::3] ** 2).mean(),
    lambda x, X, B, S, t, i: (X[1:3, :2] ** 2).sum() + (X[::2, 1:4] ** 2).sum(),
    lambda x, X, B, S, t, i: (X[x > 0] ** 2).sum(),
    lambda x, X, B, S, t, i: (B[:, t] ** 2).sum() + (B[0, t] ** 2).sum() + (B[:, t, 1] ** 2).sum(),
    lambda x, X, B, S, t, i: (x.sort()[0] * x).sum() + x.gather(0, i) @ S[0],
    lambda x, X, B, S, t, i: sg.logcumsumexp(x, 0) @ x,
    lambda x, X, B, S, t, i: x.roll(2) @ x + (X.flip(1).cumsum(0) ** 2).sum(),
]


def gradients(make, names="xXBS"):
    leaves = {k: sg.tensor(v, name=k, requires_grad=k in names) for k, v in GIVEN.items()}
    wanted = [leaves[k] for k in names]
    return dict(zip(names, sg.autograd.grad(make(*leaves.values()), wanted, allow_unused=True), strict=True))


@pytest.mark.parametrize(("make", "wrt", "text"), TEXTS, ids=range(len(TEXTS)))
def test_what_is_put_at_places_has_a_notation(make, wrt, text):
    assert gradients(make, wrt)[wrt].latex() == text


@pytest.mark.parametrize("make", READ, ids=range(len(READ)))
def test_texts_of_places_say_their_values(make):
    for made in (g for g in gradients(make).values() if g is not None):
        known, given = symbols(made.term), GIVEN | sg.formula(made).constants
        sizes = dict(zip(made.term.shape, made.shape, strict=True))
        sizes |= {x: n for s in known if s.op.name == "symbol" for x, n in zip(s.shape, given[s.params["name"]].shape)}
        for text, read in readings(made.term, known).items():
            np.testing.assert_allclose(evaluate(read, given, sizes), made.numpy(), rtol=1e-9, atol=1e-12, err_msg=text)


def test_the_running_logarithm_of_a_sum_has_a_triangle():
    text = sg.latex(lambda x: sg.logcumsumexp(x, 0).sum(), (4,), wrt="x")
    assert text == (
        r"\operatorname{triu}\left(e^{x \mathbf{1}_{n}^{\top} - \mathbf{1}_{n} "
        r"\operatorname{logcumsumexp}\left(x\right)^{\top}}\right) \mathbf{1}_{n}"
    )


def test_the_size_of_a_slice_is_rounded_up():
    text = sg.formula(lambda x: x[1::2].mean(), (7,)).latex()
    assert text == r"\frac{\mathbf{1}^{\top} x_{[1::2]}}{\left\lceil \frac{n - 1}{2} \right\rceil}"


@pytest.mark.parametrize(
    "joined",
    [
        lambda x, y: sg.stack([x, sg.nn.functional.pad(y, (1, 1))]),
        lambda x, y: sg.stack([x, sg.cat([y, sg.ones(2)])], 1),
        lambda x, y: sg.cat([x, sg.nn.functional.pad(y, (1, 1))]),
    ],
    ids=["zeros", "ones", "beside"],
)
@pytest.mark.parametrize("sizes", [(4, 2), (6, 4)])
def test_entries_of_what_was_stacked_are_one_of_it(joined, sizes):
    """A size that is two, as there are two arrays, is no letter beside one that is composed of it."""
    x, y = (sg.tensor(np.arange(1.0, n + 1), requires_grad=True, name=s) for s, n in zip("xy", sizes, strict=True))
    (joined(x, y) ** 2).sum().backward()
    assert (x.grad.latex(), y.grad.latex()) == ("2 x", "2 y")


def test_a_row_of_what_has_a_border_along_other_axes_is_a_row_of_it():
    found = sg.formula(lambda x: sg.nn.functional.pad(x, (1, 0)) * sg.nn.functional.pad(x, (1, 0))[0], (3, 2)).term
    given = RNG.normal(size=(3, 2))
    padded = np.pad(given, ((0, 0), (1, 0)))
    for reading in readings(found, symbols(found)).values():
        np.testing.assert_allclose(evaluate(reading, {"x": given}), padded * padded[0], rtol=1e-14)


@pytest.mark.parametrize(("wrt", "index"), [("x", "_{[:n]}"), ("y", "_{[n:]}")])
def test_ranges_whose_ends_are_sizes_are_read_back(wrt, index):
    given = {"x": RNG.normal(size=5), "y": RNG.normal(size=3)}
    leaves = {k: sg.tensor(v, requires_grad=True, name=k) for k, v in given.items()}
    (sg.softmax(sg.cat([leaves["x"], leaves["y"]]), 0) ** 3).sum().backward()
    term, want = leaves[wrt].grad.term, leaves[wrt].grad.numpy()
    found = readings(term, symbols(term))
    assert any(index in text for text in found)
    for reading in found.values():
        np.testing.assert_allclose(evaluate(reading, given), want, rtol=1e-9)


SORTED = {
    "a Hessian": (
        lambda v, u, K: sg.func.hessian(lambda v: (sg.sort(v).values ** 2 * u).sum())(v),
        "2 diag(onehotₙ(argsort(v))ᵀ u)",
    ),
    "a Jacobian": (
        lambda v, u, K: sg.func.jacobian(lambda v: sg.sort(v).values * u)(v), "diag(u) onehotₙ(argsort(v))"
    ),
    "columns": (lambda v, u, K: sg.gather(K, 1, sg.argsort(v).expand(len(v), -1)), "K[:, argsort(v)]"),
    "rows": (lambda v, u, K: sg.gather(K, 0, sg.argsort(v)[:, None].expand(-1, len(v))), "K[argsort(v)]"),
}  # fmt: skip


@pytest.mark.parametrize("name", SORTED)
def test_places_that_all_rows_share_are_one_list(name):
    """The Hessian of a sorted vector was printed with gather and scatter at 1 sᵀ, which read back as numbers."""
    f, text = SORTED[name]
    rng = np.random.default_rng(2)
    values = {"v": rng.normal(size=4), "u": rng.normal(size=4), "K": rng.normal(size=(4, 4))}
    found = sg.formula(f, *values.values())
    assert found.unicode() == text
    want = np.asarray(f(*map(sg.tensor, values.values())))
    for reading in readings(found.term, symbols(found.term)).values():
        assert np.allclose(evaluate(reading, values, {"n": 4}), want, rtol=1e-9)


def springs(U, a):
    return a * ((U[1:, :] - U[:-1]) ** 2).sum() / 2 + ((U[1:, ...] - U[:-1, :]) ** 4).sum()


def test_what_stands_at_one_place_among_zeros_is_one_block():
    """a[0; r] - a[r; 0] + 4[0; r³] - 4[r³; 0], of which X[1:] and X[1:, :] were two parts, is [0; t] - [t; 0]."""
    U = RNG.normal(size=(5, 4))
    found = sg.formula(springs, U, 0.7, wrt="U")
    assert found.latex() == (
        "\\begin{aligned}\nt_{1} &= U_{[1:]} - U_{[:-1]} \\\\\n"
        "t_{2} &= \\left(a + 4 t_{1}^{\\odot 2}\\right) \\odot t_{1} \\\\\n"
        "& \\begin{bmatrix} 0 \\\\ t_{2} \\end{bmatrix} - \\begin{bmatrix} t_{2} \\\\ 0 \\end{bmatrix}\n\\end{aligned}"
    )
    for n in (2, 3, 6):
        U = RNG.normal(size=(n, 4))
        np.testing.assert_allclose(found.evaluate(U=U, a=0.7), sg.func.grad(springs)(U, 0.7).numpy(), rtol=1e-12)
    back = sg.formula(lambda x, a, b: a * (x[1:] ** 3).sum() - b * (x[1:-1] ** 2).sum(), RNG.normal(size=5), 1.5, 2.5)
    assert back.latex().count("bmatrix") == 0


def simpson(x):
    return (x[0] + 4 * x[1:-1:2].sum() + 2 * x[2:-1:2].sum() + x[-1]) / 3


def test_rows_of_the_identity_that_are_added_up_tell_how_many_they_are():
    r"""The gradient of Simpson's rule had \mathbf{1}_{len(range(n)[1:-1:2])}, which nobody reads."""
    found = sg.formula(simpson, RNG.normal(size=7), wrt="x")
    ones = r"\left(I_{n}\right)_{[%s:-1:2]}^{\top} \mathbf{1}"
    assert found.latex() == (
        rf"\frac{{1}}{{3}} \left(\mathbf{{e}}_{{n,0}} + 4 {ones % 1} + 2 {ones % 2} + \mathbf{{e}}_{{n,n - 1}}\right)"
    )
    for n in (2, 5, 8):
        x = RNG.normal(size=n)
        want = sg.func.grad(simpson)(x).numpy()
        for term in readings(found.term, found.symbols).values():
            np.testing.assert_allclose(evaluate(term, {"x": x}, {"n": n}), want)

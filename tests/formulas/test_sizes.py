"""Sizes that a program composes (n+p of a join, n-1 of a cut) meet leaves that have them by value."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

import symgrad as sg
import symgrad.nn.functional as F
from symgrad.errors import FormulaError
from symgrad.formula.term import evaluate
from symgrad.tape.formulas.reading import read


def gradient_formula(function, *values):
    leaves = [sg.tensor(v, requires_grad=True, name=f"v{k}") for k, v in enumerate(values)]
    function(*leaves).backward()
    named = {f"v{k}": v for k, v in enumerate(values)}
    for leaf in leaves:
        found, term = read(leaf.grad)
        letters = [found[edge].shape for edge in found.sources.values()]
        sizes = dict(zip(itertools.chain(*letters), itertools.chain(*map(np.shape, values)), strict=True))
        np.testing.assert_allclose(evaluate(term, named, sizes), leaf.grad.numpy(), rtol=1e-13)
    return leaves


def test_join_times_a_leaf_of_the_joint_size():
    rng = np.random.default_rng(0)
    gradient_formula(lambda a, b, w: (sg.cat([a, b]) * w * w).sum(), rng.random(3), rng.random(4), rng.random(7))


def test_differences_times_a_leaf():
    rng = np.random.default_rng(1)
    gradient_formula(lambda x, w: ((x[1:] - x[:-1]) ** 2 * w).sum(), rng.random(6), rng.random(5))


def test_differences_are_size_generic():
    x = sg.tensor(np.arange(5.0), requires_grad=True, name="x")
    ((x[1:] - x[:-1]) ** 2).sum().backward()
    fresh = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    want = np.zeros(7)
    want[1:] += 2 * np.diff(fresh)
    want[:-1] -= 2 * np.diff(fresh)
    np.testing.assert_allclose(evaluate(x.grad.term, {"x": fresh}), want)


def test_stack_beside_a_leaf_with_as_many_rows():
    rng = np.random.default_rng(2)
    gradient_formula(lambda a, b, w: (w @ sg.stack([a, b])).sum(), rng.random(3), rng.random(3), rng.random(2))


def test_rows_picked_by_an_index_beside_a_leaf_of_that_size():
    rng = np.random.default_rng(3)
    gradient_formula(lambda x, w: (x[[0, 2]] * w[:, None]).sum(), rng.random((4, 3)), rng.random(2))


def test_a_size_that_no_symbol_tells_is_named():
    x = sg.tensor(np.arange(5.0), requires_grad=True, name="x")
    x.mean().backward()
    with pytest.raises(FormulaError, match="sizes="):
        evaluate(x.grad.term, {})


SIZES = [
    (lambda n, s: n * s, r"n s"),
    (lambda n, s: -n * s, r"-n s"),
    (lambda n, s: s / (n - 1), r"\frac{s}{n - 1}"),
    (lambda n, s: s / n**0.5, r"\frac{s}{\sqrt{n}}"),
    (lambda n, s: n / 2 * s, r"\frac{n s}{2}"),
    (lambda n, s: (n - 1) / n * s, r"\frac{s \left(n - 1\right)}{n}"),
    (lambda n, s: (1 - 1 / n) * s, r"s \left(1 - \frac{1}{n}\right)"),
]


@pytest.mark.parametrize(("multiple", "shown"), SIZES, ids=[row[1] for row in SIZES])
def test_arithmetic_of_sizes_keeps_the_letter(multiple, shown):
    x, s = (sg.tensor(v, requires_grad=True, name=name) for v, name in (([1.0, 2.0, 3.0], "x"), (0.5, "s")))
    y = multiple(x.shape[0], s) + 0 * x.sum()
    assert float(y) == pytest.approx(multiple(3, 0.5), rel=1e-6)
    assert y.latex() == shown
    with sg.no_grad():
        values = {"x": np.ones(7), "s": 0.5}
        assert sg.compile(y, ["x", "s"])(*values.values()) == pytest.approx(multiple(7, 0.5))


def test_sizes_are_ints_and_what_is_made_of_them_are_numbers():
    n = sg.ones(3).shape[0]
    assert (n - 1, n + True, n // 2, n % 2, -n, 2**n, divmod(n, 2)) == (2, 4, 1, 1, -3, 8, (1, 1))
    assert isinstance(n - 1, int)
    assert isinstance(n / 2, float)
    assert [0] * (n - 1) == [0, 0]
    assert (repr(n - 1), repr(n / 2), hash(n - 1)) == ("2", "1.5", hash(2))
    for value in (n - 1, n / 2):
        assert type(pickle.loads(pickle.dumps(value))) in (int, float)
    k = n
    for _ in range(1000):
        k = k + 1
    assert k == 1003
    assert (sg.ones(2) * (n / 2)).dtype == sg.float32


def test_weights_of_a_join_have_its_size():
    """W of [x, h] has as many columns as both together; by value it could have had a letter of its own."""
    rng = np.random.default_rng(4)
    x, h, W = (rng.random(shape) for shape in ((5, 2), (5, 1), (6, 3)))
    leaves = gradient_formula(lambda x, h, W: sg.tanh(sg.cat([x, h], 1) @ W.T).sum(), x, h, W)
    assert read(leaves[0].grad)[0].sources["v2"] is leaves[2]
    assert leaves[0].grad.term.shape == ("n", "m")
    for leaf in leaves:
        assert "tanh" in leaf.grad.latex()
        assert str(leaf.grad.expr)


def test_sizes_that_are_one_number_and_no_one_letter():
    """Five entries by a list of places, and as a join of three and two: the formula holds for these sizes."""
    x, y = (sg.tensor(v, requires_grad=True, name=n) for v, n in ((np.arange(4.0), "x"), (np.arange(2.0), "y")))
    total = (x[[0, 1, 0, 2, 0]] * sg.cat([sg.tensor([1.0, 2.0, 3.0], dtype=sg.float64), y])).sum()
    total.backward()
    assert (
        evaluate(total.term, {"x": x.numpy(force=True), "y": y.numpy(force=True), "c1": [1.0, 2.0, 3.0]})
        == total.item()
    )
    assert y.grad.latex()


def test_constants_that_are_no_numbers():
    filled = sg.full((3, 2), float("inf")).scatter_reduce(
        0, sg.tensor([[0, 2]]), sg.ones(1, 2, requires_grad=True), "amin"
    )
    assert r"\infty" in filled.latex()


RNG = np.random.default_rng(7)
COUNTED = {
    "half": (lambda y, s: s * (len(y) // 2) * y.sum(), 7),
    "a power of two": (lambda y, s: s * 2 ** len(y) * y.sum(), 7),
    "permutations": (lambda y, s: s * math.factorial(len(y)) * y.sum(), 7),
    "a remainder": (lambda y, s: s * (len(y) % 3) * y.sum(), 7),
    "a part of an axis": (lambda y, s: (y[2:] ** 2).sum() / s**2 - len(y[2:]) * sg.log(s), 5),
    "every other entry": (lambda y, s: len(y[::2]) * s * (y**2).sum(), 5),
    "a loop over entries": (lambda y, s: s * sum(y[k] * y[k + 1] for k in range(len(y) - 1)), 4),
}


@pytest.mark.parametrize("name", COUNTED)
def test_no_formula_holds_silently_at_one_size_alone(name):
    """At other sizes it has the gradient's values, or says that it does not hold there."""
    f, n = COUNTED[name]
    found = sg.formula(f, RNG.random(n), 0.7, wrt="s")
    for other in (RNG.random(n), RNG.random(n + 3)):
        want = sg.func.grad(f, argnums=1)(sg.tensor(other), sg.tensor(0.7, dtype=sg.float64)).numpy()
        try:
            got = found.evaluate(y=other, s=0.7)
        except FormulaError:
            assert len(other) != n
        else:
            np.testing.assert_allclose(got, want, rtol=1e-12)


MADE_OF = {
    "squared": (lambda n: (n - 1) ** 2, r"\left(n - 1\right)^{2}"),
    "a difference of squares": (lambda n: n**2 - 1, r"n^{2} - 1"),
    "unbiased": (lambda n: n / (n - 1), r"\frac{n}{n - 1}"),
    "one more": (lambda n: 1 + 1 / n, r"1 + \frac{1}{n}"),
    "in the middle": (lambda n: (n + 1) / 2, r"\frac{n + 1}{2}"),
    "a root": (lambda n: math.sqrt(n - 1), r"\sqrt{n - 1}"),
    "a logarithm": (lambda n: math.log(n + 1), r"\log\left(n + 1\right)"),
}


@pytest.mark.parametrize("shape", [(7, 4), (6, 5), (13, 8)], ids=str)
@pytest.mark.parametrize("name", MADE_OF)
def test_what_python_makes_of_a_length_is_written_with_its_letter(name, shape):
    """A line through the numbers of two sizes is no rule: (n - 1)² is 18 (n - 5) at 7 and 13."""
    made, text = MADE_OF[name]
    assert sg.latex(lambda X, s: s * made(len(X)), RNG.random(shape), 0.7, wrt="s") == text


def test_tall_matrices_stay_tall_at_other_sizes():
    def f(X):
        return sg.linalg.matrix_norm(X, "nuc") ** 2

    found = sg.formula(f, RNG.normal(size=(3, 2)), wrt="X")
    X = RNG.normal(size=(6, 4))
    np.testing.assert_allclose(found.evaluate(X=X), sg.func.grad(f)(sg.tensor(X)).numpy(), rtol=1e-9)


def test_the_length_of_a_part_is_written_with_its_letter():
    text = sg.latex(COUNTED["a part of an axis"][0], (5,), (), wrt="s")
    assert text == r"-\frac{2 \lVert y_{[2:]} \rVert^{2} + s^{2} \left(n - 2\right)}{s^{3}}"


def test_a_size_that_the_program_fixes_leaves_the_others_letters():
    found = sg.formula(lambda X, s: s * sum((X[k] ** 2).mean() for k in range(len(X))), (3, 5), (), wrt="X")
    assert found.shape == (3, "m")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x[: x.shape[0] // 2] ** 2).sum(),
        lambda x: (abs(sg.fft.rfft(x)) ** 4).sum(),
        lambda x: x[:2].sum() if x.shape[0] > 4 else x.sum(),
    ],
    ids=["half an axis", "half a spectrum", "a branch"],
)
def test_letters_that_are_stated_are_kept_or_refused(f):
    """The first was x₀², the formula for n = 3, though n was asked for."""
    with pytest.raises(sg.errors.FormulaError, match="state numbers, as in shapes="):
        sg.latex(f, shapes="x=n")
    assert sg.latex(f, shapes="x=7") == sg.latex(f, (7,))


def test_what_is_left_of_an_axis_is_no_other_one_by_chance():
    """Halves of eight columns are as long as four rows: the formula said n for both, and had other means elsewhere."""
    X = sg.tensor(RNG.normal(size=(4, 8)), name="X")
    found = sg.formula((X.reshape(X.shape[0], 2, -1) ** 2).mean(2))
    assert r"\frac{1}{4}" in found.latex()
    x = RNG.normal(size=(7, 8))
    np.testing.assert_allclose(found.evaluate(X=x), (x.reshape(7, 2, 4) ** 2).mean(2))
    X = sg.tensor(RNG.normal(size=(3, 4)), name="X")
    assert sg.formula(X.reshape(-1)).shape == ("n*m",)
    assert sg.formula(X.reshape(X.shape[0], 1, -1)).shape == ("n", 1, "m")


def test_labels_are_examples_of_labels_at_other_sizes():
    """Integers stay integers when a function is run at other sizes: they choose rows."""
    text = sg.latex(lambda x, t: x[t].mean(), RNG.random(4), np.array([0, 2]), wrt="x")
    assert "onehot" in text
    assert "m" in text


def test_a_size_in_front_of_a_function_of_sums():
    P = RNG.random((3, 2)) + 0.5
    found = sg.formula(lambda a, P: len(P) * sg.lgamma(a.sum()) + (a * sg.log(P)).sum(), P[0], P, wrt="a")
    want = sg.func.grad(lambda a: 3 * sg.lgamma(a.sum()) + (a * sg.log(sg.tensor(P))).sum())(sg.tensor(P[0])).numpy()
    np.testing.assert_allclose(found.evaluate(a=P[0], P=P), want, rtol=1e-12)


def grid_energy(U, V):
    return ((U[1:] - U[:-1]) ** 2).sum() + ((U[:, 1:] - U[:, :-1]) ** 2).sum() - (U * V).sum()


def independence(K, L):
    n = K.shape[0]
    H = sg.eye(n) - sg.ones(n, n) / n
    return sg.trace(K @ H @ L @ H) / (n - 1) ** 2


def independence_numpy(K, L):
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return sg.trace(K @ H @ L @ H)


def distance_of_normals(A, B):
    R = sg.linalg.sqrtm(B)
    return sg.trace(A + B - 2 * sg.linalg.sqrtm(R @ A @ R))


def normal_like(rng, *shape):
    return rng.normal(size=shape)


def definite_like(rng, *shape):
    a = rng.normal(size=shape)
    return a @ a.T + np.eye(len(a))


@pytest.mark.parametrize(
    ("f", "made", "shapes"),
    [
        (grid_energy, normal_like, ((4, 3), (3, 6), (5, 5))),
        (independence, normal_like, ((4, 4), (3, 3), (6, 6))),
        (independence_numpy, normal_like, ((5, 5), (3, 3))),
        (distance_of_normals, definite_like, ((4, 4), (2, 2))),
    ],
)
def test_formulas_of_unlucky_sizes_hold_at_others(f, made, shapes):
    """Of four rows and three columns n - 1 is not m; centring matrices are not data; roots need definite examples."""
    rng = np.random.default_rng(5)
    runs = [(made(rng, *shape), made(rng, *shape)) for shape in shapes]
    names = f.__code__.co_varnames[:2]
    for at in runs[:2]:
        found = sg.formula(f, *at, wrt=names[0])
        assert not found.constants
        for args in runs:
            want = sg.func.grad(f)(*args).numpy()
            np.testing.assert_allclose(found.evaluate(**dict(zip(names, args, strict=True))), want, rtol=1e-6)


def test_recorded_gradients_do_not_take_one_size_for_another():
    U = sg.tensor(np.random.default_rng(6).normal(size=(4, 3)), requires_grad=True, name="U")
    ((U[1:] - U[:-1]) ** 2).sum().backward()
    other = np.random.default_rng(7).normal(size=(2, 5))
    want = sg.func.grad(lambda U: ((U[1:] - U[:-1]) ** 2).sum())(other).numpy()
    np.testing.assert_allclose(sg.formula(U.grad).evaluate(U=other), want, rtol=1e-12)


def test_recorded_derivatives_keep_the_sizes_of_what_is_no_part_of_them():
    x = sg.tensor(np.array([0.5, 1.5, 2.5]), requires_grad=True, name="x")
    a, b = (sg.tensor(v, dtype=sg.float64, requires_grad=True, name=name) for v, name in ((1.3, "a"), (2.0, "b")))
    likelihood = sg.sum(a * sg.log(b) - sg.lgamma(a) + (a - 1) * sg.log(x) - b * x)
    (score,) = sg.autograd.grad(likelihood, a, create_graph=True)
    (mixed,) = sg.autograd.grad(score, b, create_graph=True)
    (twice,) = sg.autograd.grad(mixed, b, create_graph=True)
    assert [mixed.latex(), twice.latex()] == [r"\frac{n}{b}", r"-\frac{n}{b^{2}}"]
    (score,) = sg.autograd.grad((x * a).sum() - x.shape[0] * sg.lgamma(a + b), a, create_graph=True)
    (mixed,) = sg.autograd.grad(score, b, create_graph=True)
    assert mixed.latex() == r"-n \psi^{(1)}\left(a + b\right)"
    (mixed,) = sg.autograd.grad(sg.autograd.grad(likelihood, a, create_graph=True)[0], b, create_graph=True)
    program = sg.compile(mixed, ["x", "b"])  # it was 3 / b, whatever x
    np.testing.assert_allclose(program(np.ones(5), 2.0), 2.5)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_sizes_are_letters_in_functions_of_arrays_of_any_dtype(dtype):
    rng = np.random.default_rng(8)
    runs = [[np.asarray(rng.normal(size=s), dtype) for s in ((n, m), (m,), (n,))] for n, m in ((5, 3), (4, 6))]
    f = lambda A, x, b: (sg.abs(A @ x - b) ** 2).sum() / A.shape[0]  # noqa: E731
    found = sg.formula(f, *runs[0], wrt="x")
    assert (
        found.latex() == rf"\frac{{2}}{{n}} A^{{{'H' if 'complex' in dtype else chr(92) + 'top'}}} \left(A x - b\right)"
    )
    for A, x, b in runs:
        np.testing.assert_allclose(found.evaluate(A=A, x=x, b=b), sg.func.grad(f, 1)(A, x, b).numpy(), rtol=1e-4)


def deviator(S):
    return ((S - sg.trace(S) / 3 * sg.eye(3)) ** 2).sum()


def test_an_identity_of_a_size_that_is_a_number_makes_the_size_one():
    S = np.random.default_rng(9).normal(size=(3, 3))
    found = sg.formula(deviator, S, wrt="S")
    assert found.latex() == r"2 S - \frac{2 \operatorname{tr}\left(S\right)}{3} I"
    np.testing.assert_allclose(found.evaluate(S=S), sg.func.grad(deviator)(S).numpy(), rtol=1e-12)


def test_a_function_that_holds_an_array_has_its_sizes():
    """The shapes that are tried fit that array by chance; at others the function has no value."""
    H = sg.tensor(np.arange(12.0).reshape(4, 3), name="H")
    found = sg.formula(lambda x: ((H @ x) ** 2).sum(), wrt="x")
    assert found.latex() == r"2 H^{\top} H x"
    np.testing.assert_allclose(found.evaluate(x=np.ones(3), H=H.numpy()), 2 * H.numpy().T @ H.numpy().sum(1))


def test_a_parameter_is_called_like_what_it_was_made_of():
    W = sg.nn.Parameter(sg.tensor([1.0, 2.0], name="K"))
    assert str((2 * W).expr) == "2*K"


@pytest.mark.parametrize(
    ("f", "shape"),
    [
        (lambda x: x.tile(3, 1).cumsum(0), (3, 4)),
        (lambda x: x.sum() * sg.ones(3, dtype=x.dtype), (3, 4)),
        (lambda x: F.avg_pool1d(x, 3), (3, 6)),
        (lambda x: x.reshape(3, -1), (3, 4)),
        (lambda x: x @ sg.ones(4, 3, dtype=x.dtype), (3, 4)),
        (lambda x: x + sg.eye(3, dtype=x.dtype), (3, 3)),
    ],
    ids=["tile", "ones", "pool", "reshape", "product", "must fit"],
)
def test_numbers_that_are_as_large_as_an_axis_are_no_sizes(f, shape):
    """x.tile(3) of three rows was tile(x, n): formulas keep the number, or are told to hold at this size only."""
    x = sg.tensor(RNG.normal(size=shape), requires_grad=True, name="x")
    made = sg.formula(f(x))
    value = RNG.normal(size=(6, shape[1] if shape != (3, 3) else 6))
    try:
        found = made.evaluate(x=value)
    except ValueError:
        assert "n = 3" in str(made.valid_when)
        return
    wanted = f(sg.tensor(value)) if shape != (3, 3) else sg.tensor(value + np.eye(6))
    assert found.shape == tuple(wanted.shape)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-12)


@pytest.mark.parametrize("wrt", [None, "x"])
def test_widths_that_do_not_fit_are_told_by_the_formula(wrt):
    """NumPy's own ValueError came out of the step in which it failed."""
    made = sg.formula(lambda x: (x.reshape(-1, 2, 2) ** 3).sum(), (3, 4), wrt=wrt)
    with pytest.raises(FormulaError, match=r"reshape.* does not fit .*\(3, 5\)|where the formula holds for"):
        made.evaluate(x=np.ones((3, 5)))
    read = sg.from_latex(made.latex(), {"x": ("n", "m")})
    np.testing.assert_allclose(read(np.ones((3, 4))), made.evaluate(x=np.ones((3, 4))))
    if "reshape" not in made.latex():  # the gradient is 3x² of whatever width, in print
        return
    with pytest.raises(FormulaError, match=r"reshape.* does not fit .*\(3, 5\)"):
        read(np.ones((3, 5)))


def filtered(h, x, y):
    return ((F.conv1d(x[None, None], h[None, None])[0, 0] - y) ** 2).sum()


def energy(x, h):
    return (F.conv1d(x[None, None], h[None, None]) ** 2).sum()


@pytest.mark.parametrize(("f", "order"), [(filtered, "hxy"), (filtered, "yhx"), (energy, "xh")])
def test_as_many_results_as_the_kernel_is_long(f, order):
    """Five entries and a kernel of three: latex() was a ShapeError, n - m + 1 against m, and without y the 3 stayed."""
    rng = np.random.default_rng(0)
    sizes = {(5, 3): {"x": 5, "h": 3, "y": 3}, (9, 4): {"x": 9, "h": 4, "y": 6}}
    values = {key: {k: rng.normal(size=n) for k, n in given.items() if k in order} for key, given in sizes.items()}
    leaves = {k: sg.tensor(v, requires_grad=True, name=k) for k, v in values[5, 3].items()}
    names = f.__code__.co_varnames[: len(order)]
    (gradient,) = sg.autograd.grad(f(*(leaves[k] for k in names)), leaves["h"])
    assert r"\operatorname{windows}\left(x, m\right)^{\top}" in gradient.latex()
    found = sg.formula(f, *(values[5, 3][k] for k in names), wrt="h")
    for given in values.values():
        wanted = sg.func.grad(f, argnums=names.index("h"))(*(sg.tensor(given[k]) for k in names))
        np.testing.assert_allclose(found.evaluate(**given), wanted.numpy(), rtol=1e-9)

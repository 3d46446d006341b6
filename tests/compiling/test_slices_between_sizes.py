"""Slices whose ends are sizes, ``x[:n // 2]``, and equal parts of an axis: recorded programs cut where their call does.

What does not fit at other sizes, as halves of what is odd, is refused.
"""

import runpy

import numpy as np
import pytest

import symgrad as sg
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.reading.tex import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import symbols
from symgrad.ops.shapes.sizes import product_size, share_size, total_size

rng = np.random.default_rng(0)


def gated(x):
    h = x.shape[-1] // 2
    return x[..., :h] * x[..., h:].sigmoid()


def turned(x, angles):
    a, b = x.chunk(2, -1)
    return x * angles.cos() + sg.cat([-b, a], -1) * angles.sin()


def folded(x):
    n = x.shape[0] // 2
    return ((x[:n] - x[n:].flip(0)) ** 2).sum()


def thirds(x):
    n = x.shape[0] // 3
    return (x[:n] * x[n : 2 * n]).sum() * x[2 * n :].sum()


def quarters(A):
    h = A.shape[0] // 2
    return A[:h, :h].sum() * A[h:, h:].sin().sum() + (A[:h, h:] * A[h:, :h]).sum()


def lagged(x, k):
    return (x[k.shape[0] :] * k.sum()).sum() ** 2 + (x[: k.shape[0]] * k).sum()


def parts(x):
    h = x.shape[0] // 2
    first, second = x.split([h, x.shape[0] - h])
    return first.sum() ** 2 * second.sum()


def halves_of_rows(x):
    """Its gradient has parts of n columns and of m - n, which are as long by chance."""
    h = x.shape[1] // 2
    sums = sg.stack([x[:, :h].sum(1), x[:, h:].sum(1)])
    return sg.autograd.grad((sums**2).sum(), x, create_graph=True)[0]


def with_a_new_axis(x):
    h = x.shape[1] // 2
    return x[0, None, :h] * x[1:, h:]


FOLLOWED = {
    "halves": (lambda x: (x.chunk(2)[0] * x.chunk(2)[1]).sum(), [(6,)], [[(4,)], [(10,)], [(2,)]]),
    "thirds of many": (
        lambda x: sum((k + 1) * p.sum() ** 2 for k, p in enumerate(x.chunk(12))), [(24,)], [[(12,)], [(36,)]]
    ),
    "split": (lambda x: sum(p.sum() ** 2 * p for p in x.split(x.shape[0] // 2)), [(6,)], [[(4,)], [(10,)]]),
    "split in two": (parts, [(7,)], [[(4,)], [(9,)], [(1,)]]),
    "gated": (gated, [(5, 6)], [[(2, 4)], [(3, 10)], [(1, 2)]]),
    "turned": (turned, [(5, 8), (8,)], [[(2, 4), (4,)], [(3, 10), (10,)], [(1, 2), (2,)]]),
    "folded": (folded, [(8,)], [[(2,)], [(6,)], [(10,)]]),
    "thirds": (thirds, [(9,)], [[(3,)], [(6,)], [(12,)]]),
    "thirds and a rest": (thirds, [(10,)], [[(3,)], [(6,)], [(11,)]]),
    "quarters": (quarters, [(6, 6)], [[(4, 4)], [(10, 10)], [(2, 2)]]),
    "as long as another": (lagged, [(9,), (4,)], [[(3,), (3,)], [(6,), (2,)], [(5,), (1,)]]),
    "one half": (lambda x: x[: x.shape[0] // 2].sum() ** 2, [(6,)], [[(5,)], [(7,)], [(1,)]]),
    "in the middle": (lambda x: x[x.shape[0] // 4 : 3 * x.shape[0] // 4].sum() ** 2, [(8,)], [[(4,)], [(7,)], [(1,)]]),
    "columns and rows": (lambda x: (x[: x.shape[1]] ** 2).sum(), [(5, 3)], [[(4, 3)], [(5, 2)], [(1, 1)]]),
    "beside others": (with_a_new_axis, [(6, 8)], [[(3, 8)], [(2, 2)]]),
    "joined": (lambda x, y: sg.cat([x, y, x[2:]]), [(6,), (3,)], [[(5,), (4,)], [(7,), (1,)], [(2,), (2,)]]),
    "the last half": (lambda x: x[-(x.shape[0] // 2) :] ** 2, [(8,)], [[(12,)], [(7,)], [(2,)]]),
    "all but the last half": (lambda x: x[: -(x.shape[0] // 2)] ** 2, [(8,)], [[(12,)], [(7,)], [(2,)]]),
    "one in the middle": (
        lambda x: x[x.shape[0] // 2] * x[:, -(x.shape[1] // 2)].sum(), [(6, 8)], [[(5, 3)], [(2, 2)]]
    ),
    "around the middle": (lambda x: x[x.shape[0] // 2 - 2 : x.shape[0] // 2 + 2].prod(), [(8,)], [[(12,)], [(5,)]]),
    "rolled": (lambda x: x * x.roll(x.shape[0] // 2) ** 2, [(9,)], [[(12,)], [(7,)], [(1,)]]),
    "rolled back": (lambda x: x * x.roll((-(x.shape[0] // 3), 1), (0, 1)), [(8, 3)], [[(12, 2)], [(7, 4)]]),
    "shifted": (lambda x: x * sg.fft.fftshift(x) ** 2, [(9,)], [[(12,)], [(7,)], [(1,)]]),
    "shifted back": (lambda x: x * sg.fft.ifftshift(x, 1) ** 2, [(3, 9)], [[(3, 12)], [(2, 7)]]),
    "parts of nearly one size": (
        lambda x: x.tensor_split(2)[0].sum() * x.tensor_split(2)[1] ** 2, [(9,)], [[(7,)], [(4,)]]
    ),
    "from the end": (lambda x: x.narrow(0, -3, 2) ** 2, [(9,)], [[(12,)], [(5,)], [(3,)]]),
    "cut at places": (lambda x: x.tensor_split((x.shape[0] // 2, -1))[1] ** 2, [(9,)], [[(8,)], [(5,)], [(3,)]]),
    "behind a cut": (lambda x: x.tensor_split((-2,))[1] ** 2, [(9,)], [[(12,)], [(5,)], [(2,)]]),
    "joined with a part": (lambda x, y: sg.cat([x[1:], y]) ** 3, [(6,), (3,)], [[(5,), (4,)], [(7,), (1,)]]),
}  # fmt: skip


BEYOND = {
    "last rows": lambda A: A[-A.shape[1] :] ** 2,
    "a row": lambda A: A[-A.shape[1]] ** 2,
    "rolled": lambda A: A * A.roll(A.shape[1], 0) ** 2,
}


@pytest.mark.parametrize("case", BEYOND)
def test_places_before_the_start_are_refused(case):
    """As many rows as columns, counted from the end of fewer rows: the program took those from another end."""
    f = BEYOND[case]
    program = sg.compile(f, rng.random((6, 4))).program
    for shape in ((6, 4), (7, 5)):
        A = rng.random(shape)
        np.testing.assert_allclose(program(A), f(sg.tensor(A)).numpy())
    with pytest.raises(ValueError, match="holds where"):
        program(rng.random((4, 6)))


def variables(shapes):
    """Tensors called a, b …, and their names."""
    names = ["a", "b"][: len(shapes)]
    return [
        sg.tensor(rng.normal(size=s), requires_grad=True, name=n) for s, n in zip(shapes, names, strict=True)
    ], names


def slopes(f, args):
    return list(sg.autograd.grad((f(*args) ** 2).sum(), args, create_graph=True))


@pytest.mark.parametrize("case", FOLLOWED)
@pytest.mark.parametrize("made", [lambda f, args: [f(*args)], slopes], ids=["value", "slopes"])
def test_followed(case, made):
    f, shapes, others = FOLLOWED[case]
    args, names = variables(shapes)
    program = sg.compile(made(f, args), names)
    for sizes in (shapes, *others):
        here, _ = variables(sizes)
        found = program(*(x.detach().numpy() for x in here))
        for got, expected in zip(found, made(f, here), strict=True):
            assert got.shape == tuple(expected.shape)
            np.testing.assert_allclose(got, expected.detach().numpy(), rtol=1e-9, atol=1e-12)


def test_as_many_as_are_written_by_chance():
    """The first three of three entries are all of them, and at other sizes they are not."""

    def without_first(x):
        y = np.gradient(x[1:]) * 1
        y[:3] = 0
        return y

    (x,), names = variables([(4,)])
    program = sg.compile(without_first(x), names)
    np.testing.assert_array_equal(program(np.ones(4)), np.zeros(3))
    with pytest.raises(ValueError, match="holds where n − 1 = 3"):
        program(np.ones(8))


REFUSED = {
    "halves": (lambda x: x.chunk(2)[0] * x.chunk(2)[1], (6,), (5,), "n mod 2 = 0"),
    "thirds": (lambda x: x.chunk(3)[0].sum(), (6,), (7,), "n mod 3 = 0"),
    "parts that are not equal": (lambda x: x.chunk(3)[0].sum(), (7,), (8,), "is what was recorded at other sizes"),
    "gated": (gated, (2, 6), (2, 7), "m mod 2 = 0"),
    "one of two": (lambda x: x.chunk(2)[1], (6,), (7,), "n mod 2 = 0"),
    "one that is shorter": (lambda x: x.split((x.shape[0] + 1) // 2)[1], (7,), (9,), "is what was recorded"),
    "a number of Python's": (lambda x: x[: int(0.5 * x.shape[0])], (6,), (8,), "is what was recorded"),
    "one that it rounded": (lambda x: x[: int(0.5 * x.shape[0])], (3,), (8,), "is what was recorded"),
    "two parts as long as there are rows": (halves_of_rows, (3, 6), (3, 7), "is what was recorded"),
    "the last half of one": (lambda x: x[-(x.shape[0] // 2) :] ** 2, (8,), (1,), "n/2.* > 0|is what was recorded"),
    "before the start": (lambda x: x[x.shape[0] // 2 - 2 :] ** 2, (8,), (2,), "is what was recorded"),
    "before the start of a range": (lambda x: x.narrow(0, -3, 2) ** 2, (9,), (2,), "holds where"),
    "a range beyond the end": (lambda x: x.narrow(0, x.shape[0] // 2, 3), (9,), (4,), "holds where"),
    "one of many parts": (lambda x: x.chunk(x.shape[0] // 3)[1], (9,), (12,), "is what was recorded"),
    "one in the middle": (lambda x: x.split(x.shape[0] // 3 + 1)[1], (9,), (12,), "is what was recorded"),
    "cut beyond the end": (lambda x: x.tensor_split((3, 20))[1], (9,), (12,), "is what was recorded"),
    "beside the diagonal": (lambda x: sg.diag(sg.outer(x, x), x.shape[0] // 3), (8,), (4,), "is what was recorded"),
    "beside a diagonal that is made": (lambda x: sg.diag(x * 1, x.shape[0] // 3), (8,), (4,), "is what was recorded"),
    "beyond the end": (lambda x: (x[: x.shape[1]] ** 2).sum(), (2, 3), (4, 3), "was compiled for size 2"),
    "from beyond the end": (lambda x: (x[x.shape[1] :] ** 2).sum(), (2, 3), (4, 3), "was compiled for size 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    f, shape, other, words = REFUSED[case]
    (x,), names = variables([shape])
    program = sg.compile(f(x), names)
    np.testing.assert_allclose(program(x.detach().numpy()), f(x).detach().numpy())
    with pytest.raises(ValueError, match=words):
        program(rng.normal(size=other))


FUNCTIONS = {
    "folded": folded,
    "chunk": lambda x: x.chunk(2)[0].dot(x.chunk(2)[1]),
    "half": lambda x: (x[: x.shape[0] // 2 + 1] ** 2).sum(),
    "waves": lambda x: (sg.fft.rfft(x).abs() ** 3).sum(),
}


@pytest.mark.parametrize("how", FUNCTIONS)
def test_files_of_functions(how, tmp_path):
    """They hold at other sizes than that of the example; of what is odd there are no halves."""
    slope = sg.func.grad(FUNCTIONS[how])
    program = sg.compile(slope, rng.random(6)).program
    program.save(tmp_path / "f.py")
    function = runpy.run_path(str(tmp_path / "f.py"))[program.name]
    for n in (6, 8, 7, 2):
        x = rng.random(n)
        if n % 2 and how in ("folded", "chunk"):
            with pytest.raises(ValueError, match=r"holds where n mod 2 = 0"):
                function(x)
        else:
            np.testing.assert_allclose(function(x), slope(x).numpy(), rtol=1e-9)


def test_from_what_is_0():
    """A third of two is 0, which is another number at other sizes as any third is."""

    def middle(x):
        return x[x.shape[0] // 3 : 2 * x.shape[0] // 3].sum()

    (x,), names = variables([(2,)])
    program = sg.compile(middle(x), names)
    for n in (2, 1, 3, 7, 12):
        other = rng.normal(size=n)
        np.testing.assert_allclose(program(other), middle(other))


def test_formulas_show_numbers():
    """They are of one run: x[:h] is x[:3], and its gradient a part."""
    (x,), _ = variables([(6,)])
    h = x.shape[0] // 2
    y = (x[:h] * x[h:]).sum()
    (slope,) = sg.autograd.grad(y, x, create_graph=True)
    assert str(y.expr) == "a[:3] @ a[3:]"
    assert slope.latex() == r"\begin{bmatrix} a_{[3:]} \\ a_{[:3]} \end{bmatrix}"
    assert y.grad_fn.next_functions[0][0].next_functions[0][0].name() == "SliceBackward0"


@pytest.mark.parametrize("read", [from_latex, from_unicode])
def test_shares_are_written_as_quotients(read):
    """They were the text of Python's that tells them, letter by letter: l e n (r a n g e (n) [1::2])."""
    program = sg.compile(lambda x: x.chunk(2)[0].chunk(2)[1].sum(), rng.random(8)).program
    (term,) = program.terms
    written = latex(term) if read is from_latex else spelled(latex(term), "unicode")
    assert latex(read(written, symbols(term))) == latex(term)
    assert spelled(latex(term), "unicode") == "𝟏ᵀ (x[:⌊n/2⌋])[⌊⌊n/2⌋/2⌋:]"
    with pytest.raises(ValueError, match=r"holds where ⌊n/2⌋ mod 2 = 0"):
        program(rng.random(6))


@pytest.mark.parametrize(
    ("cut", "last", "first"),
    [
        (lambda x, h: x[:h, -1], "SelectBackward0", "SliceBackward0"),
        (lambda x, h: x[0, :h], "SliceBackward0", "SelectBackward0"),
        (lambda x, h: x[..., h:, None], "UnsqueezeBackward0", "SliceBackward0"),
        (lambda x, h: x[None, :h], "SliceBackward0", "UnsqueezeBackward0"),
    ],
)
def test_nodes_in_the_order_of_an_index(cut, last, first):
    """Slices between sizes came last, whatever stood behind them."""
    (x,), names = variables([(4, 4)])
    made = cut(x, x.shape[0] // 2)
    assert made.grad_fn.name() == last
    assert made.grad_fn.next_functions[0][0].name() == first
    program = sg.compile(made, names)
    other = rng.normal(size=(6, 6))
    np.testing.assert_array_equal(program(other), cut(other, 3))


def test_views():
    """A half is a view, as every slice is."""
    x = sg.zeros(4, dtype=sg.float64)
    x[: x.shape[0] // 2].add_(1)
    x.chunk(2)[1].sub_(1)
    assert x.tolist() == [1, 1, -1, -1]


def test_sums_of_shares():
    """What is beside a share of it is as many shares; those that fill it are the whole."""
    half, third = share_size("n", 2), share_size("n", 3)
    assert total_size(["n", half], (1, -1)) == half
    assert total_size([half, half]) == product_size(2, half) == "n"
    assert total_size(["n", third], (1, -1)) == f"2*{third}"
    assert total_size(["n", product_size(2, third)], (1, -1)) == third
    assert total_size(["n", half, "m"], (1, -1, 1)) == f"m+{half}"
    assert total_size([half, half], (1, -1)) == 0
    quarter = share_size(half, 2)
    assert total_size([quarter, half, quarter], (1, 1, -1)) == total_size([quarter, quarter]) == half
    assert total_size([half, quarter], (1, -1)) == total_size([quarter, half], (-1, 1)) == quarter

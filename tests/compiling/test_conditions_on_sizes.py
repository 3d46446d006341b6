"""Functions that take their way by the sizes of what they are given: a file holds at other sizes, or refuses them."""

import builtins
import importlib.util
import math
import sys
import threading
from types import BuiltinFunctionType

import numpy as np
import pytest

import symgrad as sg

rng = np.random.default_rng(11)


def gram(A):
    n, m = A.shape
    return ((A.T @ A if n > m else A @ A.T) ** 3).sum() + (A[0, 0] if n > m else 0)


def taller(A):
    return (A**2).sum() if A.shape[0] >= A.shape[1] else (A**3).sum()


def least(A):
    return (A**2).sum() / min(A.shape)


def most(A):
    return (A**2).sum() * max(A.shape[0], A.shape[1])


def leading(A):
    k = min(A.shape[0], A.shape[1], 3)
    return (A[:k, :k] ** 2).sum()


def ordered(A):
    small, large = sorted(A.shape)
    return (A**2).sum() * small + large


def long_by_len(x):
    return (x**2).mean() if len(x) > 100 else (x**2).sum()


def long_by_shape(x):
    return (x**2).mean() if x.shape[0] > 100 else (x**2).sum()


def long_by_size(x):
    return (x**2).mean() if np.size(x) >= 64 else (x**2).sum()


def capped(x):
    return (x**2).sum() * min(len(x), 50)


def floored(x):
    return (x**2).sum() / max(len(x), 20)


def even(x):
    return (x**2).sum() if len(x) % 2 == 0 else (x**3).sum()


def by_four(x):
    return (x**2).sum() if x.shape[0] % 4 else (x**3).sum()


def power_of_two(x):
    n = len(x)
    return (x**2).sum() if n & (n - 1) else (x**3).sum()


def one_of(x):
    return (x**2).sum() if len(x) in (2, 3, 8) else (x**3).sum()


def table(x):
    return (x**2).sum() * {2: 0.5, 3: 0.25, 40: 0.75}.get(len(x), 1.0)


def among(x):
    return (x**2).sum() if len(x) in {4, 33, 130} else (x**3).sum()


def exactly(x):
    return (x**3).sum() if x.shape == (12,) else (x**2).sum()


def halves(x):
    n = len(x) // 2
    return (x**2).sum() * (2 if n > 10 else 1)


def spaced(x):
    return (x**2).sum() * (1 if len(x) - 3 < 20 else 4)


def by_root(x):
    return (x**2).sum() * (1 if math.sqrt(len(x)) < 5 else 2)


def refused(x):
    if len(x) < 4:
        raise ValueError("too short")
    return (x**2).sum()


def longer_first(x, y):
    return (x**2).sum() * y.sum() if len(x) > len(y) else (x**3).sum() + y.sum()


def shapes_as_tuples(x, y):
    return (x**2).sum() + y.sum() if x.shape < y.shape else (x**3).sum() - y.sum()


def total(x, y):
    return (x**2).sum() + y.sum() if len(x) + len(y) > 30 else (x**3).sum() + y.sum()


def ratio(A):
    return (A**2).sum() if A.shape[0] / A.shape[1] > 2 else (A**3).sum()


def area(A):
    return (A**2).sum() if A.shape[0] * A.shape[1] > 60 else (A**3).sum()


def product(A):
    return (A**2).sum() if np.prod(A.shape) > 60 else (A**3).sum()


def count(A):
    return (A**2).sum() if math.prod(A.shape) > 60 else (A**3).sum()


def square(A):
    return (A**2).sum() if A.shape[0] == A.shape[1] else (A**3).sum()


def doubling(x):
    n, steps = len(x), 0
    while n > 1:
        n, steps = n // 2, steps + 1
    return (x**2).sum() * steps


def truth(x):
    return (x[1:] ** 2).sum() * (2 if len(x) - 12 else 1)


def three_ways(A):
    n, m = A.shape
    return (A**2).sum() if n < m else (A**3).sum() if n > m else (A**4).sum()


def inside(x):
    return (x**2).sum() * (2 if 8 < len(x) <= 24 else 3)


def chosen(x):
    match len(x):
        case 2 | 5:
            return (x**2).sum()
        case n if n > 30:
            return (x**3).sum()
    return (x**4).sum()


def told_as_numbers(x):
    return (x**2).sum() * (2 if int(len(x)) > 60 else 3)


def counted(x):
    return (x**2).sum() * (2 if np.array(x.shape).max() > 60 else 3)


def rows(A):
    return (A**2).sum() if len(A) > len(A[0]) else (A**3).sum()


def of_a_part(x):
    y = x[1:]
    return (y**2).sum() * (2 if len(y) in (4, 32, 129) else 1)


def of_every_second(x):
    y = x[::2]
    return (y**2).sum() * (2 if len(y) in (4, 20) else 1)


def of_the_first(x):
    y = x[:12]
    return (y**2).sum() * (2 if len(y) in (8, 12) else 1)


def of_all_entries(A):
    y = A.reshape(-1)
    return (y**2).sum() * (2 if y.shape[0] in (6, 36, 132) else 1)


def of_a_join(x, y):
    z = np.concatenate([x, y])
    return (z**2).sum() * (2 if z.shape[0] in (8, 14, 23) else 1)


VECTORS = [
    of_a_part, of_every_second, of_the_first,
    long_by_len, long_by_shape, long_by_size, capped, floored, even, by_four, power_of_two, one_of, among, table,
    exactly, halves, spaced, by_root, refused, doubling, truth, inside, chosen, told_as_numbers, counted,
]  # fmt: skip
MATRICES = [
    gram, taller, least, most, leading, ordered, ratio, area, product, count, square, three_ways, rows, of_all_entries,
]  # fmt: skip
PAIRS = [of_a_join, longer_first, shapes_as_tuples, total]

LENGTHS = (2, 3, 5, 8, 12, 16, 21, 33, 40, 64, 130)
SHAPES = ((2, 3), (3, 2), (4, 4), (5, 9), (9, 5), (1, 7), (7, 1), (11, 12), (12, 3), (3, 14), (30, 31))
CASES = [
    *((f, (n,), [(k,) for k in LENGTHS]) for f in VECTORS for n in (10, 16)),
    *((f, shape, SHAPES) for f in MATRICES for shape in ((7, 4), (4, 7))),
    *((f, shape, SHAPES) for f in PAIRS for shape in ((7, 4), (4, 7))),
]


def arguments(f, shape):
    values = [rng.random(n) + 0.5 for n in shape] if f in PAIRS else [rng.random(shape) + 0.5]
    return [sg.tensor(v) for v in values], values


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, path.stem)


def answer(run, arrays):
    """What a program gives; None where it refuses."""
    try:
        return run(*arrays)
    except ValueError as error:
        words = str(error)
    assert "program()" in words, words
    return None


@pytest.mark.parametrize(("f", "example", "shapes"), CASES, ids=lambda x: getattr(x, "__name__", None) or str(x)[:8])
@pytest.mark.parametrize("given", ["tensors", "arrays"])
def test_files_hold_at_other_sizes_or_refuse(f, example, shapes, given, tmp_path):
    both = sg.func.value_and_grad(f)
    tensors, arrays = arguments(f, example)
    program = sg.compile(both, *(tensors if given == "tensors" else arrays), name="program")
    program.save(tmp_path / "program.py")
    run = loaded(tmp_path / "program.py")
    assert answer(run, arrays) is not None
    for shape in (example, *shapes):
        tensors, arrays = arguments(f, shape)
        found = answer(run, arrays)
        if found is None:
            continue
        for value, want in zip(found, both(*tensors), strict=True):
            np.testing.assert_allclose(value, want.numpy(), rtol=1e-12, err_msg=str(shape))


HELD = {
    long_by_len: 10, capped: 9, floored: 6, even: 7, exactly: 10, spaced: 7, refused: 9, inside: 3, gram: 4, taller: 5,
    least: 4, ordered: 4, square: 10, three_ways: 4, area: 9, longer_first: 4,
}  # fmt: skip
"""At how many of the shapes a program goes the way of its first example, 10 or (7, 4)."""


@pytest.mark.parametrize("f", HELD, ids=lambda f: f.__name__)
def test_what_is_asked_of_sizes_leaves_them_open_where_the_answer_is_the_same(f):
    example, shapes = next((e, s) for g, e, s in CASES if g is f)
    program = sg.compile(sg.func.grad(f), *arguments(f, example)[0], name="program").program
    assert sum(answer(program, arguments(f, shape)[1]) is not None for shape in shapes) == HELD[f]


def test_the_condition_is_told():
    A = rng.random((7, 4))
    program = sg.compile(sg.func.grad(gram), A, name="program").program
    with pytest.raises(ValueError, match="holds where n > m, and here it is not"):
        program(A.T)


@pytest.mark.parametrize("size", [6, 20])
def test_calls_go_both_ways(size):
    """What compile() gives traces each shape for itself."""
    program = sg.compile(sg.func.grad(halves), rng.random(7))
    x = rng.random(4 * size)
    np.testing.assert_allclose(program(x), sg.func.grad(halves)(sg.tensor(x)).numpy())


def test_sizes_are_no_others_when_nobody_watches():
    x = sg.ones(3)
    sg.compile(long_by_len, x).program  # noqa: B018
    assert type(len(x)) is int
    assert isinstance(builtins.len, BuiltinFunctionType)


def test_a_source_says_under_which_conditions_it_holds_and_a_file_at_which_sizes_it_does_not(tmp_path):
    def gram(A):
        return sg.trace(A.T @ A) if len(A) > A.shape[1] and A.sum() > 0 else A.sum()

    gradient = sg.compile(sg.func.grad(gram), np.ones((5, 3)), name="gram_gradient")
    assert '"""A (n, m) -> (n, m) float64.\n\n    Holds where 𝟏ᵀ A 𝟏 > 0 is True; n > m.\n    """\n' in gradient.source
    exec(gradient.source, place := {"np": np})  # it is still the program
    assert np.array_equal(place["gram_gradient"](np.ones((4, 2))), np.full((4, 2), 2.0))
    gradient.save(tmp_path / "gram_gradient.py")
    spec = importlib.util.spec_from_file_location("gram_gradient", tmp_path / "gram_gradient.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(ValueError, match=r"holds where n > m; here m = 4, n = 3"):
        module.gram_gradient(np.ones((3, 4)))


def test_sizes_of_constants_that_no_argument_has_are_asked_of_nobody(tmp_path):
    """The slice of the constant is long enough for good; a file looked for its size among those of the arguments."""
    places = np.arange(7)

    def payoff(s, x):
        u = sg.relu(s * 1.1**places - 1)
        return (u[1:] - u[:-1]).sum() + (x[2:] * x[:-2]).sum()

    x = rng.random(4)
    program = sg.compile(sg.func.grad(payoff, argnums=(0, 1)), np.array(1.3), x, name="slope").program
    program.save(tmp_path / "slope.py")
    function = loaded(tmp_path / "slope.py")
    for given in (x, rng.random(9)):
        slopes = sg.func.grad(payoff, argnums=(0, 1))(sg.tensor(0.9), sg.tensor(given))
        for got, want in zip(function(np.array(0.9), given), slopes, strict=True):
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-6)


def test_beside_a_thread_that_looks_at_values():
    """What other threads look at, and their recorded passes, come while those before a graph are gone through."""
    done = threading.Event()

    def look():
        x = sg.tensor(np.ones(4), requires_grad=True)
        while not done.is_set():
            sg.autograd.grad((x * x).sum(), x, create_graph=True)[0].sum().item()

    before, beside = sys.getswitchinterval(), threading.Thread(target=look)
    sys.setswitchinterval(1e-6)
    beside.start()
    try:
        for _ in range(60):
            x = sg.tensor(np.ones((3, 2)), requires_grad=True, name="x")
            mean = x.sum() / x.shape[0]
            mean.item()
            assert sg.compile(mean * 2, ["x"])(np.ones((4, 2))) == 4
    finally:
        sys.setswitchinterval(before)
        done.set()
        beside.join()


@pytest.mark.parametrize("kind", ["condition", "length"])
def test_steps_before_whose_losses_were_looked_at(kind):
    """What was asked of the sizes of another batch is nothing that the program of the last one stands on."""

    def loss(X):
        total = (X**2).sum()
        if kind == "length":
            return total / float(len(X * 1))
        return total * 2 if X.shape[0] > 4 else total

    for n in (3, 5):
        X = sg.tensor(np.ones((n, 3)), requires_grad=True, name="X")
        last = loss(X)
        last.item()
    shape = (5, 6) if kind == "length" else (7, 6)
    assert sg.compile(last, ["X"])(np.ones(shape)) == loss(sg.tensor(np.ones(shape))).item()

"""Sizes of which Python makes plain numbers: a graph that was recorded with these is refused at other sizes."""

import math
import runpy
from fractions import Fraction
from math import log

import numpy as np
import pytest

import symgrad as sg

RATE = 0.25


class Mean:
    def __init__(self, x):
        self.n = x.shape[0]

    def __call__(self, x):
        return (x**2).sum() * (1.0 / self.n)


def share(n, scale=2.0):
    return scale / n


def length(x):
    return x.shape[0]


def halved(x):
    for _ in range(x.shape[0]):
        x = x * 0.5 + x * x
    return x.sum()


def gaussian(x):
    (n,) = x.shape
    return -0.5 * n * math.log(2 * math.pi) * x.exp().sum()


def by_name(x):
    n, scale = x.size(0), 3.0
    return (x**2).sum() * (scale / (n + 1))


def scaled(x, scale):
    return (x**2).sum() * (scale / x.shape[0])


def named_scale(x, *, scale):
    return (x**2).sum() * (scale / x.shape[0])


def in_a_table(x):
    sizes = {"n": x.shape[0], "m": 3}
    return (x**2).sum() * (2.5 / sizes["n"])


def in_a_list(x):
    sizes = [1, x.numel()]
    return (x**2).sum() * (2.5 / sizes[1])


def walrus(x):
    return (x**2).sum() * (2.5 / (n := x.numel())) + n


LOSING = {
    "float on the left": lambda x: 1.0 / x.shape[0] * (x**2).sum(),
    "a constant on the left": lambda x: (x**2).sum() * (RATE * x.shape[0]),
    "a float that is a literal too": lambda x: (x**2).sum() * (math.pi / x.size(0)),
    "attribute": lambda x: Mean(x)(x),
    "helper": lambda x: (x**2).sum() * share(x.shape[0]),
    "helper by keyword": lambda x: (x**2).sum() * share(n=x.shape[0]),
    "given back": lambda x: (x**2).sum() * (2.0 / length(x)),
    "range": halved,
    "sum over range": lambda x: (x**2).sum() * sum(1 / k for k in range(1, x.shape[0] + 1)),
    "gaussian": gaussian,
    "by name": by_name,
    "walrus": walrus,
    "argument": lambda x: scaled(x, 2.5),
    "named argument": lambda x: named_scale(x, scale=0.3),
    "table": in_a_table,
    "list of sizes": in_a_list,
    "log": lambda x: (x**2).sum() * math.log(x.shape[0]),
    "imported log": lambda x: (x**2).sum() * log(x.shape[0]),
    "comb": lambda x: (x**2).sum() * math.comb(x.shape[0], 2),
    "factorial": lambda x: (x**2).sum() * math.factorial(x.size(0)),
    "pow": lambda x: (x**2).sum() * pow(2.0, x.shape[0]),
    "power of a float": lambda x: (x**2).sum() * 0.5 ** x.shape[0],
    "fraction": lambda x: (x**2).sum() * float(Fraction(1, x.shape[0])),
    "list": lambda x: (x**2).sum() * sum([1.5] * x.shape[0]),
    "int": lambda x: (x**2).sum() / int(x.shape[0]),
    "bits": lambda x: (x**2).sum() * (x.shape[0] << 1) + x.sum() * (x.shape[0] | 1) + x[0] * x.shape[0].bit_length(),
}


@pytest.mark.parametrize("how", LOSING)
def test_a_graph_in_which_a_size_became_a_number_is_refused_at_other_sizes(how):
    """The number of the recorded run stood in the program at every size."""
    f = LOSING[how]
    rng = np.random.default_rng(0)
    x = sg.tensor(rng.random(7), requires_grad=True, name="x")
    y = f(x)
    for program in (sg.compile(y), sg.compile(sg.autograd.grad(y, x, create_graph=True)[0], ["x"])):
        assert np.isfinite(program(rng.random(7))).all()
        with pytest.raises(ValueError, match="holds where n = 7"):
            program(rng.random(9))


def filled(x):
    w = sg.ones(3, dtype=sg.float64)
    w[0] = x.shape[0]
    return x * w.sum()


def filled_all(x):
    return x * sg.ones(3, dtype=sg.float64).fill_(x.shape[0]).sum()


def of_numpy(x):
    steps = np.linspace(0, 1, x.shape[0])
    squares = steps * steps
    return x * np.sum(squares)


LOSING_OF_MATRICES = {
    "float on the left": lambda x: x * (1.0 / x.shape[0]),
    "absolute": lambda x: x * abs(0.3 - x.shape[0]),
    "log": lambda x: x.exp() * math.log(x.shape[0]),
    "a constant times n": lambda x: x * (sg.tensor([1.0, 2.0], dtype=sg.float64) * x.shape[0]).sum(),
    "n to a constant": lambda x: x * sg.pow(x.shape[0], sg.tensor(0.5, dtype=sg.float64)),
    "the larger": lambda x: x * sg.maximum(sg.tensor(3.0), sg.tensor(1.0) + x.shape[0]),
    "a choice": lambda x: x * sg.where(sg.tensor(True), x.shape[0], 2),
    "steps of a constant": lambda x: x * sg.tensor(0.0).add(sg.tensor(1.0), alpha=x.shape[0]),
    "entries": lambda x: x.sum(0) + sg.tensor([1.0 / x.shape[0]], dtype=sg.float64),
    "an entry written": filled,
    "all entries written": filled_all,
    "sum of even steps": lambda x: x * sg.linspace(0, 1, x.shape[0], dtype=sg.float64).sum(),
    "sum of a window": lambda x: x * sg.hann_window(x.shape[0], dtype=sg.float64).sum(),
    "an array's sum": lambda x: x * np.ones(x.shape[0]).sum(),
    "a matrix's sum": lambda x: x * np.ones((x.shape[0], 2)).sum(),
    "an array by name": of_numpy,
}


@pytest.mark.parametrize("how", LOSING_OF_MATRICES)
def test_sizes_of_matrices_that_became_numbers_are_told(how):
    """Of x (n, m) nothing was told, as a size was compared with itself; constants kept what was made of sizes."""
    f = LOSING_OF_MATRICES[how]
    rng = np.random.default_rng(0)
    x = sg.tensor(rng.random((7, 5)), requires_grad=True, name="x")
    program, values = sg.compile(f(x), ["x"]), rng.random((7, 5))
    assert np.allclose(program(values), f(sg.tensor(values)).numpy(), rtol=1e-12)
    with pytest.raises(ValueError, match="holds where n = 7"):
        program(rng.random((9, 5)))


STAYING_OF_MATRICES = {
    "steps": lambda x: (x * sg.linspace(0, 1, x.shape[0], dtype=sg.float64)[:, None]).shape[0] * x,
    "the trace of ones": lambda x: x * sg.eye(x.shape[0], dtype=sg.float64).trace(),
    "ones of NumPy": lambda x: np.eye(x.shape[0]) @ x * 0.3 + np.ones((x.shape[0], 1)),
    "root of a root": lambda x: x * (1 / x.shape[0] ** 0.5) ** 0.5,
}


@pytest.mark.parametrize("how", STAYING_OF_MATRICES)
def test_sizes_of_matrices_that_stay_sizes_leave_a_graph_open(how):
    """1/√√n had the digits of single precision: a function of one number alone rounded it to the default dtype."""
    f = STAYING_OF_MATRICES[how]
    rng = np.random.default_rng(1)
    program = sg.compile(f(sg.tensor(rng.random((7, 5)), requires_grad=True, name="x")), ["x"])
    for n in (7, 9, 4):
        x = rng.random((n, 5))
        assert np.allclose(program(x), f(sg.tensor(x)).numpy(), rtol=1e-14)


STAYING = {
    "int on the left": lambda x: 1 / x.shape[0] * (x**2).sum() * 0.125,
    "size on the left": lambda x: (x**2).sum() * (x.shape[0] * 0.375) / x.shape[0] ** 1.5,
    "two to the n": lambda x: (x**2).sum() * 2 ** x.shape[0],
    "tensors": lambda x: ((x / x.shape[0]) ** 2).sum() * 2.5 + 0.3 * (0.1 * x / x.shape[0]).sum(),
    "only printed": lambda x: ((x**2).sum() * 2.5, f"{1.0 / x.shape[0]:.3f}")[0],
    "given to tensors": lambda x: sg.ones(x.shape[0], dtype=sg.float64).dot(x) + x.reshape(-1, x.shape[0]).sum(),
}


@pytest.mark.parametrize("how", STAYING)
def test_sizes_that_stay_sizes_leave_a_graph_open(how):
    for losing in LOSING.values():
        losing(sg.tensor(np.random.default_rng(0).random(6), requires_grad=True))
    f = STAYING[how]
    rng = np.random.default_rng(1)
    program = sg.compile(f(sg.tensor(rng.random(6), requires_grad=True, name="x")))
    for n in (6, 9, 4):
        x = rng.random(n)
        assert np.allclose(program(x), f(sg.tensor(x)).item(), rtol=1e-12)


def test_what_is_read_outside_of_functions_holds_for_all_graphs_of_that_size(tmp_path):
    (tmp_path / "script.py").write_text(
        "import numpy as np, symgrad as sg\n"
        "x = sg.tensor(np.arange(1.0, 6.0), requires_grad=True, name='x')\n"
        "n = x.shape[0]\n"
        "for step in range(3):\n"
        "    loss = 1.0 / n * (x ** 2).sum()\n"
        "program = sg.compile(loss)\n"
    )
    program = runpy.run_path(str(tmp_path / "script.py"))["program"]
    assert program(np.arange(1.0, 6.0)) == 11.0
    with pytest.raises(ValueError, match="holds where n = 5"):
        program(np.ones(3))


def test_the_refusal_says_what_to_write():
    x = sg.tensor(np.ones(5), requires_grad=True, name="x")
    program = sg.compile(1.0 / x.shape[0] * (x**2).sum())
    with pytest.raises(ValueError, match=r"1 / n"):
        program(np.ones(3))


def test_a_formula_tells_such_sizes_and_gives_no_value_at_others():
    x = sg.tensor(np.arange(1.0, 6.0), requires_grad=True, name="x")
    formula = sg.formula(1.0 / x.shape[0] * (x**2).sum())
    assert str(formula.valid_when) == "n = 5  (size: sizes)"
    assert formula.evaluate(x=np.ones(5)) == 1.0
    with pytest.raises(ValueError, match="holds where n = 5"):
        formula.evaluate(x=np.ones(3))
    still = sg.formula(1 / x.shape[0] * (x**2).sum())
    assert (still.evaluate(x=np.ones(3)), len(still.valid_when)) == (1.0, 0)


def test_a_branch_on_sizes_is_a_condition_of_the_recorded_gradient():
    """Its graph has none of the nodes before which the size was asked."""

    def f(x):
        return (x**2).sum() * 3.7 if x.shape[0] > 4 else (x**2).sum() * 1.3

    x = sg.tensor(np.arange(1.0, 6.0), requires_grad=True, name="x")
    slope = sg.autograd.grad(f(x), x, create_graph=True)[0]
    assert str(slope.valid_when) == "n > 4  (size: sizes)"
    program = sg.compile(slope, ["x"])
    assert np.allclose(program(np.ones(9)), 7.4)
    with pytest.raises(ValueError, match="holds where n > 4"):
        program(np.ones(3))
    with pytest.raises(ValueError, match="holds where n > 4"):
        sg.formula(slope).evaluate(x=np.ones(3))


def test_sizes_that_no_value_tells_are_those_of_the_run():
    """The formula of a constant gradient could not be evaluated: KeyError 'n'."""
    X = sg.tensor(np.ones((3, 2)), requires_grad=True, name="X")
    formula = sg.formula(sg.autograd.grad(X[:, 1].sum(), X)[0])
    assert formula.evaluate().tolist() == formula.evalf(3).astype(float).tolist() == [[0, 1]] * 3
    assert formula.evaluate(X=np.ones((2, 2))).tolist() == [[0, 1]] * 2

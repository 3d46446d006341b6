"""Programs of recorded graphs whose run went on from a call that failed."""

import numpy as np
import pytest

import symgrad as sg


def test_a_place_that_the_run_did_not_find_is_there_at_other_sizes():
    """What the run did instead was done at every size, silently."""

    def f(x):
        try:
            return x.sum() + x[4].sum()
        except IndexError:
            return x.sum() - 1

    program = sg.compile(f(sg.tensor(np.ones((3, 2)), requires_grad=True, name="x")), ["x"])
    assert program(np.ones((3, 2))) == 5
    with pytest.raises(ValueError, match="holds where n = 3"):
        program(np.ones((5, 2)))


FAILING = {
    "+": lambda x: (x + sg.ones(9)).sum(), "@": lambda x: x @ sg.ones(9),
    "add_": lambda x: x.clone().add_(sg.ones(9)).sum(), "narrow": lambda x: x.narrow(0, 7, 2).sum(),
    "reshape": lambda x: x.reshape(3, 3).sum(), "expand": lambda x: x.expand(9).sum(),
    "take": lambda x: x.take(sg.tensor([7])).sum(), "stack": lambda x: sg.stack([x, sg.ones(9)]).sum(),
    "einsum": lambda x: sg.einsum("i,i->", x, sg.ones(9)), "split": lambda x: x.split([4, 5])[0].sum(),
    "unfold": lambda x: x.unfold(0, 7, 1).sum(), "topk": lambda x: x.topk(7)[0].sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_calls_that_failed_in_the_run_may_do_at_other_sizes(name):
    """What was done instead was done at every size, silently."""

    def f(x):
        try:
            return FAILING[name](x)
        except (ValueError, IndexError, RuntimeError):
            return 3 * x[0]

    program = sg.compile(f(sg.tensor(np.arange(5.0), requires_grad=True, name="x")), ["x"])
    assert program(np.arange(5.0) + 1) == 3
    with pytest.raises(ValueError, match="holds where n = 5"):
        program(np.ones(9))


BY_VALUES = {
    "cholesky": (lambda x: sg.linalg.cholesky(sg.diag(x)).sum(), [1.0, -1.0, 0.0]),
    "inv": (lambda x: sg.linalg.inv(sg.diag(x)).sum(), [1.0, -1.0, 0.0]),
    "solve": (lambda x: sg.linalg.solve(sg.diag(x), x).sum(), [1.0, -1.0, 0.0]),
    "np.linalg.inv": (lambda x: np.linalg.inv(sg.diag(x)).sum(), [1.0, -1.0, 0.0]),
    "places": (lambda x: x[x.long()].sum(), [1.0, 5.0, 0.0]),
    "one_hot": (lambda x: (sg.nn.functional.one_hot(x.long(), 3) * x).sum(), [1.0, 5.0, 0.0]),
}


@pytest.mark.parametrize("name", BY_VALUES)
def test_calls_that_failed_at_the_values_of_the_run_may_do_at_others(name):
    """Of a matrix that was singular in the run, programs did what stood in the except at every value, silently."""
    step, failing = BY_VALUES[name]

    def f(x):
        try:
            return step(x)
        except (np.linalg.LinAlgError, IndexError, RuntimeError):
            return 3 * x.sum()

    first, others = np.array(failing), np.array([1.0, 2.0, 1.5])
    program = sg.compile(f(sg.tensor(first, requires_grad=True, name="x")), ["x"])
    assert program(first) == 3 * first.sum()
    with pytest.raises(ValueError, match="recorded with other values"):
        program(others)
    compiled = sg.compile(f)
    for values in (first, others, first):
        assert np.isclose(compiled(values), f(sg.tensor(values)).item())


def test_matrices_that_a_function_of_the_library_says_no_of_have_programs():
    """cholesky_ex tries, and says which matrices have no factor."""

    def f(x):
        factor, info = sg.linalg.cholesky_ex(sg.diag(x))
        return sg.where(info == 0, factor.sum(), x.sum())

    compiled = sg.compile(f)
    for values in ([1.0, -1.0, 0.5], [1.0, 4.0, 9.0]):
        assert np.isclose(compiled(np.array(values)), f(sg.tensor(values, dtype=sg.float64)).item())

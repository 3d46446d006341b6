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

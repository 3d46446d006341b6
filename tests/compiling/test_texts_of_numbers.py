"""Texts that tell a number and are read again: programs follow the number, or hold for the recorded one."""

import numpy as np
import pytest

import symgrad as sg

A = np.array([1.3, -0.7, 2.1, -1.4])
OTHERS = [A, np.array([-1.3, 0.4, -2.6, 0.9]), np.array([0.6, 1.7, 2.2, 0.3]), np.array([-0.2, -2.3, -0.6, -1.1])]

READ_AGAIN = [
    lambda x: x * float(f"{x[0].item():.1f}"),
    lambda x: x * len(f"{x[0].item():.3f}"),
    lambda x: x * (2 if str(x[0].item()).startswith("-") else 3),
    lambda x: x * (2 if f"{x[0]:.0f}" == "1" else 3),
    lambda x: x * (2 if f"{x[0]}" > "1" else 3),
    lambda x: x * (2 if repr(x[0].item()) > "1" else 3),
    lambda x: x * (2 if format(x[0], ".0f") == "1" else 3),
    lambda x: x * len(set(x.sign().tolist())),
    lambda x: x * len({v > 0 for v in x.tolist()}),
]


def right_or_refused(program, f):
    for values in OTHERS:
        try:
            found = program(values)
        except sg.errors.ArgumentError:
            assert values is not A
        else:
            np.testing.assert_allclose(found, f(sg.tensor(values)).numpy())


@pytest.mark.parametrize("f", READ_AGAIN, ids=range(len(READ_AGAIN)))
def test_functions_and_graphs(f):
    right_or_refused(sg.compile(f(sg.tensor(A, requires_grad=True, name="x")), ["x"]), f)
    for example in (A, sg.tensor(A)):
        program = sg.compile(f, example)
        for values in OTHERS:
            np.testing.assert_allclose(program(values), f(sg.tensor(values)).numpy())


def test_shown_texts_choose_nothing(capsys):
    x = sg.tensor(A, requires_grad=True, name="x")
    y = (x * x).sum()
    print(f"{y:.3f} {y} {x[0].item()}")
    assert sg.compile(y, ["x"])(np.ones(4)) == 4.0
    assert capsys.readouterr().out.startswith("8.550 8.5")


def test_numbers_that_are_summed_in_another_order():
    """A program holds for the values that it was recorded with, also where it adds them in another order."""
    x = sg.tensor(A, requires_grad=True, name="x")
    rate, y = 0.1, x
    for _ in range(5):
        after = y - 2 * rate * y
        rate *= 1.1 if (after**2).sum().item() < (y**2).sum().item() else 0.5
        y = after
    program = sg.compile(y, ["x"])
    np.testing.assert_allclose(program(A), y.detach().numpy())
    with pytest.raises(sg.errors.ArgumentError, match="recorded with other values"):
        program(A * (1 + 1e-9))


def test_strides_made_of_sizes():
    x = sg.tensor(np.arange(24.0).reshape(4, 6), requires_grad=True, name="x")
    program = sg.compile(sg.as_strided(x, (x.shape[0],), (x.shape[1],)).sum(), ["x"])
    assert program(np.ones((4, 6))) == 4.0
    with pytest.raises(ValueError, match="program"):
        program(np.ones((4, 10)))

"""Numbers that a function takes out of its arguments stay out of its formula: they are those of one example."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg

TAKEN = {
    "the largest entry by NumPy": lambda a: (a.detach().numpy().max() * a).sum(),
    "an array": lambda a: (a.detach().numpy() * a).sum(),
    "a list": lambda a: (a.detach().tolist()[0] * a).sum(),
    "an array of its own": lambda a: (np.asarray(a.detach()).max() * a).sum(),
    "a size and an entry": lambda a: a.sum() * (a.shape[0] + a.detach().numpy()[0]),
    "a value that is one": lambda a: (a / a).detach().numpy()[0] * a.detach().numpy()[0] * a.sum(),
}


@pytest.mark.parametrize("f", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("given", [(3,), np.array([1.0, 1.0, 1.0]), np.zeros(3), np.full(3, 2, "f4")], ids=str)
def test_values_taken_out_of_arguments_are_no_numbers_of_formulas(f, given):
    if isinstance(given, np.ndarray) and not given.any():
        f = TAKEN["an array"]
    with pytest.raises(sg.errors.FormulaError, match=r"numbers of one example.*\(\) at test_samples\.py:\d+"):
        sg.formula(f, given)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_ratios_of_values_are_not_either(dtype):
    """They stay where all arguments are changed by the same part of themselves."""
    x, y = np.array([2, 0.5], dtype)[0], np.array([3, 0.7], dtype)
    with pytest.raises(sg.errors.FormulaError, match="numbers of one example"):
        sg.formula(lambda x, y: x**2 * (y.detach()[0] / x.detach()).item(), x, y)
    with pytest.raises(sg.errors.FormulaError, match="numbers of one example"):
        sg.formula(lambda x, y: x**2 * np.arctan2(x.detach().numpy(), y.detach().numpy()).max(), x, y)


def test_numbers_of_tensors_are_not_either():
    with pytest.raises(sg.errors.FormulaError, match=r"item\(\) at test_samples.py"):
        sg.latex(lambda a: (a.sum().item() * a).sum(), sg.tensor([1.0, 2.0]))
    assert sg.latex(lambda a: (a.sum().item() * a).sum(), (2,)) == r"\left(\mathbf{1}^{\top} a\right)^{2}"


def test_values_that_do_not_matter_may_be_looked_at():
    seen = []

    def f(a):
        seen.append(a.detach().numpy().max())
        return (a.detach().max() * a).sum()

    assert sg.latex(f, (3,)) == r"\max\left(a\right) \mathbf{1}^{\top} a"
    assert sg.latex(lambda a: (sg.tensor([1.0, 3.0]).numpy().max() * a).sum(), (3,)) == r"3 \mathbf{1}^{\top} a"


def test_functions_of_chance_are_told_from_functions_of_values():
    chance = np.random.default_rng(0)

    def f(a):
        return chance.normal() * a.sum() if a.detach().numpy().max() < 9 else a.prod()

    assert r"\mathbf{1}^{\top} a" in sg.latex(f, (3,))


def test_places_chosen_by_values_are_conditions():
    f = sg.formula(lambda a: a[a.detach().numpy().argmax()], (3,))
    assert str(f.valid_when).startswith("a is [")

"""Loops print as recurrences and adjoint recurrences: read back or run step by step they give the program's number."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import FormulaError
from symgrad.formula.loops.adjoint import adjoint
from symgrad.formula.loops.recurrence import Recurrence, recurrence, unrolled
from symgrad.formula.loops.rows import shown
from symgrad.formula.reading.recurrences import expanded
from symgrad.formula.reading.text import from_latex
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import count, evaluate
from tests.formulas import loops
from tests.formulas.loops import LOOPS

KINDS = [pytest.param(f, args, id=f.__name__) for f, args in LOOPS.items()]
GRADIENTS = [
    pytest.param(f, args, wrt, id=f"{f.__name__}-{wrt}")
    for f, args in LOOPS.items()
    for wrt in inspect.signature(f).parameters
]


@functools.cache
def formula(f: Any, args: Any, wrt: str | None = None) -> Any:
    """The formula of a program or of its gradient, which several tests ask for."""
    return sg.formula(f, *args, wrt=wrt)


def point(f: Any, args: Any, found: Any, seed: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Values of the arguments, and the letters of their sizes."""
    rng = np.random.default_rng(seed)
    values = {
        name: 0.3 + 0.3 * rng.random(a if isinstance(a, tuple) else ())
        for name, a in zip(inspect.signature(f).parameters, args, strict=True)
    }
    known = {s.name: s for s in found.symbols}
    values = {name: v for name, v in values.items() if name in known}
    sizes = {n: m for name, v in values.items() for n, m in zip(known[name].shape, np.shape(v), strict=True)}
    return values, {n: m for n, m in sizes.items() if isinstance(n, str)}


def loop_of(found: Any) -> Recurrence:
    loop = recurrence(found.term)
    assert loop is not None
    return loop


@pytest.mark.parametrize(("f", "args"), KINDS)
def test_recurrences_unroll_to_the_program(f: Any, args: Any) -> None:
    found = formula(f, args)
    loop = loop_of(found)
    assert unrolled(loop) is loop.root
    values, sizes = point(f, args, found, 1)
    want = found.evaluate(False, **values)
    assert np.allclose(loop.value(values, sizes), want, rtol=1e-12)
    for size in (24, 6):
        assert np.allclose(loop.in_parts(size, "t").value(values, sizes), want, rtol=1e-12)


def printed(found: Any) -> dict[str, Any]:
    """A formula as it is printed with its loops, and what reads that."""
    texts = [found.latex(loops=True), found.latex(loops=True, width=None)]
    return {**dict.fromkeys(texts, from_latex), found.unicode(loops=True): from_unicode}


@pytest.mark.parametrize(("f", "args"), KINDS)
def test_printed_recurrences_read_back(f: Any, args: Any) -> None:
    found = formula(f, args)
    for text, read in printed(found).items():
        assert r", \ldots, " in text or ", …, " in text
        back = read(text, found.symbols, found.shape)
        for seed in (1, 2):
            values, sizes = point(f, args, found, seed)
            assert np.allclose(evaluate(back, values, sizes), found.evaluate(False, **values), rtol=1e-9), text


@pytest.mark.parametrize(("f", "args", "wrt"), GRADIENTS)
def test_adjoint_recurrences_give_the_gradient(f: Any, args: Any, wrt: str) -> None:
    whole = formula(f, args)
    found = formula(f, args, wrt)
    target = next(s for s in found.symbols if s.name == wrt)
    loop = loop_of(whole)
    values, sizes = point(f, args, found, 3)
    want = found.evaluate(False, **values)
    for cut in (loop, loop.in_parts(24, "t"), loop.in_parts(6, "t")):
        back = adjoint(cut, target)
        if back is None:
            assert f in (
                loops.horner,
                loops.layers,
                loops.smoothed,
            )  # several entries, or one array of a list, by themselves
            return
        assert np.allclose(back.value(values, sizes), want, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("f", "args", "wrt"), GRADIENTS)
def test_printed_adjoint_recurrences_read_back(f: Any, args: Any, wrt: str) -> None:
    found = formula(f, args, wrt)
    texts = printed(found)
    by_entry = re.search(rf"\\bar\{{{wrt}\}}_\{{\[(:,)?k\]\}}", next(iter(texts)))
    for text, read in texts.items():
        if by_entry:
            with pytest.raises(FormulaError, match="entry by entry"):
                read(text, found.symbols, found.shape)
            continue
        back = read(text, found.symbols, found.shape)
        for seed in (1, 2):
            values, sizes = point(f, args, found, seed)
            want = found.evaluate(False, **values)
            assert np.allclose(evaluate(back, values, sizes), want, rtol=1e-9, atol=1e-14), text


def test_gradient_descent_has_the_adjoint_recursion_of_papers() -> None:
    text = sg.latex(loops.descent, *LOOPS[loops.descent], wrt="eta", header="nabla")
    assert text.splitlines() == [
        r"\begin{aligned}",
        r"x^{(0)} &= x \\",
        r"x^{(k+1)} &= x^{(k)} - \eta A^{\top} \left(A x^{(k)} - b\right), \quad k = 0, \ldots, 4 \\",
        r"\bar{x}^{(5)} &= 2 A^{\top} \left(A x^{(5)} - b\right) \\",
        r"\bar{x}^{(k)} &= \bar{x}^{(k+1)} - \eta A^{\top} A \bar{x}^{(k+1)}, \quad k = 4, \ldots, 0 \\",
        r"\nabla_{\eta} \mathrm{descent} &= \sum_{k=0}^{4} \left(b - A x^{(k)}\right)^{\top} A \bar{x}^{(k+1)}",
        r"\end{aligned}",
    ]


def test_text_has_the_same_lines() -> None:
    plain = sg.formula(loops.network, *LOOPS[loops.network], wrt="W").unicode()
    assert plain.splitlines()[1] == "h⁽ᵏ⁺¹⁾ = tanh(W h⁽ᵏ⁾ + U X[k]), k = 0, …, 4"
    assert plain.splitlines()[3].strip() == "h̄⁽ᵏ⁾ = Wᵀ (h̄⁽ᵏ⁺¹⁾ ⊙ (1 − (h⁽ᵏ⁺¹⁾)^⊙2)), k = 4, …, 0"


def test_gradients_of_recorded_loops_are_adjoint_recurrences() -> None:
    A = sg.tensor(np.eye(3) + 0.1, name="A")
    x0 = sg.tensor([0.1, 0.2, 0.3], name="x0", requires_grad=True)
    x = x0
    for _ in range(6):
        x = sg.tanh(A @ x)
    x.sum().backward()
    text = x0.grad.latex()
    assert text.splitlines()[1] == r"x^{(0)} &= x_{0} \\"
    assert r"\bar{x}^{(k)} &= A^{\top}" in text
    assert text == sg.formula(x0.grad).latex()
    back = from_latex(text, sg.formula(x0.grad).symbols)
    assert np.allclose(evaluate(back, {"A": A.numpy(), "x0": x0.detach().numpy()}), x0.grad.numpy())


def test_entries_that_steps_read_have_their_own_adjoints() -> None:
    text = sg.latex(loops.network, *LOOPS[loops.network], wrt="X", header=True)
    assert r"\bar{X}_{[k]} &= U^{\top} \left(" in text
    assert r"\frac{\partial \mathrm{network}}{\partial X} &= \bar{X}" in text


def test_arrays_stand_in_bold() -> None:
    text = sg.latex(loops.descent, *LOOPS[loops.descent], wrt="x", bold=True)
    assert r"\boldsymbol{\bar{x}}^{(k)} &= \boldsymbol{\bar{x}}^{(k+1)} - \eta \mathbf{A}^{\top}" in text


def test_letters_of_the_program_are_not_used_for_steps() -> None:
    text = sg.latex(loops.annealed, *LOOPS[loops.annealed])
    assert r"t^{(j+1)} &= e^{-k t^{(j)}} + t^{(j)} \left(j + 1\right), \quad j = 0, \ldots, 4" in text


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (lambda x: _times(x, lambda p: p * x, 6), (0.5,), "x^{7}"),
        (lambda x: _times(x, lambda p: p * p, 4), (0.5,), "x^{16}"),
        (lambda x, c: _times(x, lambda p: p + c, 5), (0.5, 0.1), "x + 5 c"),
        (lambda A, v: _times(v, lambda u: A @ u, 5), ((3, 3), (3,)), "A^{5} v"),
        (lambda x: sum(x[k] * x[k] for k in range(4)), ((4,),), None),
    ],
)
def test_loops_with_a_closed_form_stay_closed(f: Any, args: Any, text: str | None) -> None:
    made = sg.latex(f, *args)
    assert text in (None, made)
    assert made == sg.latex(f, *args, loops=False)


def _times(value: Any, step: Any, n: int) -> Any:
    for _ in range(n):
        value = step(value)
    return value


def test_options_say_that_loops_are_written_out() -> None:
    f, args = loops.fixed_point, LOOPS[loops.fixed_point]
    assert "ldots" in sg.latex(f, *args, wrt="w")
    for options in ({"loops": False}, {"where": True}, {"where": False}, {"canonical": False}, {"names": "u"}):
        assert "ldots" not in sg.latex(f, *args, wrt="w", **options)


def test_what_is_no_loop_is_printed_as_before() -> None:
    def uneven(x: Any) -> Any:
        for k in range(6):
            x = (sg.sin, sg.cos, sg.exp, sg.tanh, sg.sin, sg.log1p)[k](x)
        return x

    def reads_all(x: Any) -> Any:
        out = [x]
        for _ in range(5):
            out.append(sg.sin(out[-1]) + out[0] * out[1 if len(out) > 1 else 0])
        return out[-1] * out[2]

    for f in (uneven, reads_all):
        assert sg.latex(f, 0.5, wrt="x") == sg.latex(f, 0.5, wrt="x", loops=False)


def test_a_derivative_of_second_order_is_written_out() -> None:
    f, args = loops.fixed_point, LOOPS[loops.fixed_point]
    assert "ldots" not in sg.latex(f, *args, wrt=("w", "w"))


def test_long_loops_have_the_lines_of_short_ones() -> None:
    def made(n: int) -> list[str]:
        def f(x: Any, w: Any) -> Any:
            return _times(x, lambda y: y - 0.01 * sg.sin(w * y), n)

        return sg.latex(f, 0.5, 0.2, wrt="w").splitlines()

    short, long = made(10), made(600)
    assert [line.replace("10", "n").replace("9", "m") for line in short] == [
        line.replace("600", "n").replace("599", "m") for line in long
    ]


def test_steps_are_as_large_as_one_step() -> None:
    loop = loop_of(sg.formula(loops.runge_kutta, *LOOPS[loops.runge_kutta]))
    assert (len(loop.states), loop.steps) == (1, 4)
    assert count(loop.states[0].body) < 30


def test_the_lines_of_a_step_fit_a_column() -> None:
    from symgrad.formula.printing.width import COLUMN, width

    loop = loop_of(sg.formula(loops.runge_kutta, *LOOPS[loops.runge_kutta]))
    found = shown(loop, None, "f", False, COLUMN)
    assert found is not None
    assert found.loop.parts
    assert all(width(f"{a} = {b}") <= COLUMN for a, b in found.rows)


def test_a_recurrence_that_says_no_steps_is_an_error() -> None:
    with pytest.raises(FormulaError, match="for which steps"):
        expanded(r"\begin{aligned} x^{(k+1)} &= x^{(k)} \\ & x^{(3)} \end{aligned}")

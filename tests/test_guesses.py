"""Errors of people who know other libraries: they say what is written here."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import symgrad as sg
from symgrad.guesses import IN_MODULE, OF_FORMULAS, OF_PROGRAMS, OF_REPORTS

X, w = np.ones((4, 2)), np.array([1.0, 2.0])


def loss(w, X):
    return ((X @ w) ** 2).sum()


def grad(w, X):
    return 2 * X.T @ (X @ w)


THINGS = {
    "module": (sg, IN_MODULE),
    "formula": (sg.formula(loss, w, X, wrt="w"), OF_FORMULAS),
    "program": (sg.compile(sg.func.grad(loss), w, X), OF_PROGRAMS),
    "report": (sg.check(loss, grad, w, X), OF_REPORTS),
}


@pytest.mark.parametrize("kind", THINGS)
def test_guesses_are_answered(kind: str) -> None:
    thing, guesses = THINGS[kind]
    for name, answer in guesses.items():
        with pytest.raises(AttributeError) as caught:
            getattr(thing, name)
        assert str(caught.value).endswith(f"no attribute {name!r}: {answer}")
        assert caught.value.name == name
    with pytest.raises(AttributeError, match=r"no attribute '_other'$"):
        _ = thing._other


def test_answers_hold() -> None:
    """What the answers name is there."""
    assert sg.check.assert_gradient(loss, grad, w, X) is None
    assert issubclass(sg.check.Report, object)
    assert sg.check(loss, grad, w, X, method="fd").ok
    assert sg.autograd.functional.hvp(lambda x: (x**2).sum(), sg.tensor(w), sg.tensor(w))[1].tolist() == [2.0, 4.0]
    assert sg.formula(loss, w, X, wrt=("w", "w")).latex() == "2 X^{\\top} X"
    assert sg.formula(loss, w, X, wrt="w").evaluate(X=X, w=w).tolist() == grad(w, X).tolist()
    assert sg.formula(loss, w, X).unicode()
    argument = sg.check(loss, grad, w, X).arguments[0]
    assert argument.formulas()[1] == "2 X^{\\top} X w"


def test_things_are_copied_as_before() -> None:
    program = THINGS["program"][0]
    assert pickle.loads(pickle.dumps(program))(w, X).tolist() == grad(w, X).tolist()
    assert copy.copy(THINGS["report"][0]).ok


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sg.check(loss, grad, w, X, wrt="w"), TypeError, "argument 'wrt': say argnums="),
        (lambda: sg.check(loss, grad, w, X=X), TypeError, r"argument 'X': arguments of f by keyword go in kwargs="),
        (lambda: sg.check("sum(x)", grad, w), TypeError, r"judge\(text, of=f, wrt=\.\.\.\)"),
        (lambda: sg.latex(loss, w, X, order=2), TypeError, "argument 'order': a second derivative is wrt="),
        (lambda: sg.formula(loss, w, X, argnums=0), TypeError, "argument 'argnums': say wrt="),
        (lambda: sg.latex(w), TypeError, r"not of ndarray; name a value to have it in formulas: tensor\("),
        (lambda: sg.latex(sg.tensor(w).grad), TypeError, r"None before backward\(\)"),
        (lambda: sg.compile("sum(x)"), TypeError, r"compile\(func.grad\(f\), \*args\)"),
        (lambda: sg.func.grad(loss, "w")(w, X), TypeError, "the position of the argument, 0 for the first"),
        (lambda: sg.gradient(loss, w), TypeError, r"The derivative of a function f is func.grad\(f\)\(x\)"),
        (lambda: THINGS["program"][0].save("f.m", target="octave"), ValueError, "says so itself; leave target= out"),
        (lambda: THINGS["program"][0].save("f.c", target="jax"), ValueError, r"take a path that ends in \.py"),
        (lambda: THINGS["program"][0].save("f.py", target="c"), ValueError, r"by the end of the path: \.c, \.m or"),
        (lambda: sg.compile(sg.func.grad(loss), np.array([1, 2]), X), Exception, r"it has int64.* pass floats"),
    ],
)  # fmt: skip
def test_what_to_write_instead(call, error, words) -> None:
    with pytest.raises(error, match=words):
        call()


class Model:
    def loss(self, w):
        return (w**2).sum()

    def grad(self, w):
        return 2 * w


def test_methods_and_arrays_of_records() -> None:
    assert sg.check(Model().loss, Model().grad, w).ok
    with pytest.raises(TypeError, match=r"It is a method of Model: take that of an object, Model\(\.\.\.\)\.loss\."):
        sg.check(Model.loss, Model.grad, w)
    records = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
    with pytest.raises(TypeError, match="the columns of a record array one by one"):
        sg.check(lambda d: (d["a"] * d["b"]).sum(), lambda d: d["b"], records)
    assert sg.check(lambda a: (a**2).sum(), lambda a: 2 * a, records["a"]).ok


@pytest.mark.parametrize("ask", [sg.latex, sg.compile])
def test_lists_of_numbers_are_named(ask) -> None:
    with pytest.raises(TypeError) as caught:
        ask(loss, w.tolist(), X.tolist())
    assert caught.value.__notes__ == [
        "Argument 0 is a list of numbers, and the function gets it as such; pass an array: np.array(...)."
    ]


def test_an_empty_array_has_no_branches() -> None:
    assert not sg.check(lambda x: (x**2).sum(), lambda x: 2 * x, np.zeros(0)).notes


def test_a_result_that_is_no_scalar_has_a_jacobian() -> None:
    with pytest.raises(ValueError, match=r"shape \(n,\).* func\.jacobian\(f, argnums\) in the place of f"):
        sg.latex(lambda A, x: A @ x, (3, 2), (2,), wrt="x")
    assert sg.latex(sg.func.jacobian(lambda A, x: A @ x, 1), (3, 2), (2,)) == "A"
    with pytest.raises(ValueError, match="theta is printed as one"):
        sg.tensor([1.0], name="\\theta")
    assert sg.latex(sg.tensor([1.0], name="theta").sin()) == "\\sin\\left(\\theta\\right)"

"""Names that people try who know other libraries, and what is to be written here: for errors that say so.

A name stands here only where nothing of the name is found elsewhere in the library, which is looked for, too.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_CHECK = "a gradient is checked by check(f, grad, *args)"
_FILE = "compile(f, *args).save(path) writes it: Python, C, Octave or JSON by the end of the path"
_LATEX = "it is latex(f, *args, wrt='x'); of a tensor, t.latex()"
_LEAF = "tensor(data, requires_grad=True) makes a variable"
_NUMBERS = "func.grad(f)(x) gives the numbers, formula(f, x, wrt='x') the formula"
_DRAWN = "draw(t) draws the graph of a tensor"
_RULE = "a function with a derivative of its own is a class, autograd.Function"
_NEVER = "formulas are simplified when they are read: formula(f, *args), or t.expr of a tensor"

IN_MODULE = {
    **dict.fromkeys(("to_latex", "tolatex", "tex", "to_tex"), _LATEX),
    **dict.fromkeys(("simplify", "canonicalize", "expand_expr"), _NEVER),
    **dict.fromkeys(("derivative", "derivatives", "differentiate", "deriv", "gradients", "elementwise_grad"), _NUMBERS),
    **dict.fromkeys(("array", "variable", "parameter", "Parameter"), _LEAF),
    **dict.fromkeys(("export", "codegen", "to_c", "c_code", "to_numpy", "to_octave", "to_matlab", "to_python"), _FILE),
    **dict.fromkeys(("check_grad", "check_gradient", "checkgrad", "grad_check", "gradient_check"), _CHECK),
    **dict.fromkeys(("assert_grad", "assert_gradient"), "it is check.assert_gradient(f, grad, *args)"),
    **dict.fromkeys(
        ("numerical_gradient", "approx_fprime", "finite_difference", "finite_differences", "complex_step"),
        "check(f, grad, *args, method='fd') compares with differences, method='complex-step' with such a step",
    ),
    **dict.fromkeys(("hvp", "hessian_vector_product"), "it is autograd.functional.hvp(f, x, v)"),
    **dict.fromkeys(("primitive", "defvjp", "defjvp", "custom_vjp", "custom_jvp", "custom_gradient"), _RULE),
    **dict.fromkeys(("make_vjp", "make_jvp"), "they are func.vjp(f, *args) and func.jvp(f, args, tangents)"),
    **dict.fromkeys(("visualize", "make_dot", "dot_graph", "plot_graph"), _DRAWN),
    **dict.fromkeys(("symbol", "symbols", "Symbol"), "arrays are the symbols: tensor(data, name='x')"),
    **{name: f"it is nn.{name}" for name in ("Linear", "Module", "Sequential")},
    **dict.fromkeys(("SGD", "Adam", "AdamW", "RMSprop"), "optimisers are a few lines here, which optim.<name> tells"),
    "lambdify": "compile(f, *args) makes a NumPy program; of a SymPy expression, from_sympy(expression) is a function",
    "to_sympy": "it is t.expr of a tensor, formula(f, *args).expr of a function",
    "stop_gradient": "it is t.detach()",
    "GradientTape": "tensors keep their history themselves: y.backward(), then x.grad",
    "pprint": "print(formula(f, *args)), or formula(f, *args).unicode()",
}
"""Names missed in the package."""

_AGAIN = "the formula of a derivative is formula(f, *args, wrt='x'), of a second one formula(f, *args, wrt=('x', 'x'))"
_VALUE = "it is .evaluate(x=value, …), with the names of its symbols"
OF_FORMULAS = {
    **dict.fromkeys(("to_latex", "tex", "to_tex"), "it is .latex()"),
    **dict.fromkeys(("sympy", "to_sympy", "expression"), "it is .expr"),
    **dict.fromkeys(("simplify", "simplified"), "it is simplified; .term is the program as it was run"),
    **dict.fromkeys(("diff", "grad", "gradient", "jacobian", "hessian", "backward"), _AGAIN),
    **dict.fromkeys(("subs", "value", "numpy", "eval", "lambdify"), _VALUE),
    **dict.fromkeys(("code", "source", "save", "export"), "compile(f, *args) makes a program of a function"),
    **dict.fromkeys(("free_symbols", "variables", "args"), "its arrays are .symbols"),
    **dict.fromkeys(("show", "print", "pprint", "text"), "print(formula) prints it; in a notebook it shows itself"),
}
"""Names missed in a :class:`~symgrad.notation.Formula`."""

OF_PROGRAMS = {
    **dict.fromkeys(("export", "write", "dump", "to_file"), "it is .save(path), as .py, .c, .m or .json"),
    **dict.fromkeys(("to_c", "c", "c_source", "c_code"), "it is .save('f.c')"),
    **dict.fromkeys(("to_octave", "octave", "to_matlab", "matlab", "m"), "it is .save('f.m')"),
    **dict.fromkeys(("to_json", "json"), "it is .save('f.json')"),
    **dict.fromkeys(("code", "src", "text", "to_python", "to_numpy", "numpy"), "it is .source"),
    **dict.fromkeys(("latex", "to_latex", "tex"), "it is .formula"),
    **dict.fromkeys(("expr", "sympy"), "the formula of a function is formula(f, *args).expr"),
    **dict.fromkeys(("run", "call", "evaluate", "forward"), "a program is called as its function is"),
    **dict.fromkeys(("shapes", "dtypes", "args", "inputs", "outputs", "parameters"), "print it, or its .source"),
    **dict.fromkeys(("flops", "memory", "bytes"), "it is .cost"),
}
"""Names missed in what ``compile`` makes of a function."""

OF_REPORTS = {
    **dict.fromkeys(("passed", "success", "correct", "result", "right", "valid"), "it is .ok"),
    **dict.fromkeys(("message", "text", "summary"), "it is str(report); what the mistake is, .diagnosis"),
    **dict.fromkeys(("mistake", "reason"), "it is .diagnosis"),
    **dict.fromkeys(("error", "errors", "max_error", "worst", "exact", "given", "tolerance"), "it is in .arguments[k]"),
    **dict.fromkeys(("formula", "latex"), "it is .arguments[k].formulas(), as text and as LaTeX"),
    **dict.fromkeys(("raise_for_status", "check", "assert_ok"), "it is .raise_for_mismatch()"),
    "json": "it is .to_dict()",
}
"""Names missed in the report of a check."""


def missing(kind: str, name: str, guesses: Mapping[str, str], thing: Any) -> AttributeError:
    """Python's error for an attribute that is none, with what to write in its place where that is known.

    >>> print(missing("'Formula' object", "to_latex", OF_FORMULAS, None))
    'Formula' object has no attribute 'to_latex': it is .latex()
    """
    why = f": {guesses[name]}" if name in guesses else ""
    return AttributeError(f"{kind} has no attribute {name!r}{why}", name=name, obj=thing)


@contextlib.contextmanager
def arrays_meant(args: Iterable[Any]) -> Iterator[None]:
    """Of Python's errors inside, say where lists of numbers were given: the function gets them as lists."""
    try:
        yield
    except TypeError as error:
        found = [(k, arg) for k, arg in enumerate(args) if isinstance(arg, (list, tuple)) and _numbers(arg)]
        if found:
            k, arg = found[0]
            error.add_note(
                f"Argument {k} is a {type(arg).__name__} of numbers, and the function gets it as such; pass an array: "
                "np.array(...)."
            )
        raise


def _numbers(value: Any) -> bool:
    """Whether all that is in nested lists is numbers."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (list, tuple)):
            waiting += item
        elif not isinstance(item, (int, float, complex)):
            return False
    return True


def options(rest: str = "", /, **guesses: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that says of keywords which a function has not what to write in their place.

    ``rest`` is said of all that are no guesses, by a function that takes no further ones.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for key in kwargs:
                why = "" if key in known else guesses.get(key, rest)
                if why:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {key!r}: {why}")
            return function(*args, **kwargs)

        known = frozenset(inspect.signature(function).parameters)
        return call

    return decorate

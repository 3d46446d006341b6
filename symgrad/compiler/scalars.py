"""Programs of numbers alone, run by ``math``: its functions take a number in a fraction of the time of NumPy's.

NumPy's text stays what a program says of itself, what its files hold, and what runs where ``math`` raises: beyond the
domain of a function, at an overflow, and at a division by zero.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from symgrad.compiler.program import Compiled

_PER_CALL = 20
"""Characters of source for each call after which a program is written for ``math``: then that has paid."""

_SAME = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "hypot", "copysign", "fmod", "isnan", "isinf", "isfinite",
)  # fmt: skip
"""Functions that have one name in ``math`` and in NumPy."""

_CALLS = {
    **{f"np.{name}": f"math.{name}" for name in _SAME},
    **{f"np.arc{name}": f"math.a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"np.{name}": name for name in ("sign", "square", "maximum", "minimum", "floor", "ceil", "trunc")},
    "np.arctan2": "math.atan2",
    "np.power": "math.pow",
    "np.abs": "abs",
    "np.absolute": "abs",
    "np.rint": "nearest",
    "np.deg2rad": "math.radians",
    "np.rad2deg": "math.degrees",
    "np.float64": "float",
    "float": "float",
    "log2": "math.log2",
    "erf": "math.erf",
    "erfc": "math.erfc",
    "gamma_function": "math.gamma",
}
"""Functions of programs, and what stands for them here."""

_ASKING = ("math.isnan", "math.isinf", "math.isfinite")
_TAKES_ANSWERS = ("np.where", "np.float64", "np.logical_and", "np.logical_or", "np.logical_not", "masked")

_FORMS: dict[str, Callable[..., ast.expr]] = {
    "np.where": lambda keep, x, y: ast.IfExp(keep, x, y),
    "np.logical_and": lambda x, y: ast.BoolOp(ast.And(), [_call("bool", [x]), _call("bool", [y])]),
    "np.logical_or": lambda x, y: ast.BoolOp(ast.Or(), [_call("bool", [x]), _call("bool", [y])]),
    "np.logical_not": lambda answer: ast.UnaryOp(ast.Not(), answer),
    "np.negative": lambda x: ast.UnaryOp(ast.USub(), x),
    "np.ones_like": lambda x: ast.Constant(1.0),
    "np.zeros_like": lambda x: ast.Constant(0.0),
}

_KERNELS = """
def floor(x):
    return math.copysign(math.floor(x), x)

def ceil(x):
    return math.copysign(math.ceil(x), x)

def trunc(x):
    return math.copysign(math.trunc(x), x)

def nearest(x):
    return math.copysign(round(x), x)

def maximum(x, y):
    return x if x >= y or x != x else y

def minimum(x, y):
    return x if x <= y or x != x else y

def square(x):
    return x * x

def sign(x):
    if x != x:
        raise ValueError("nan, of which one sign is 0 and the other nan")
    return float((x > 0) - (x < 0))

def softplus(x):
    return maximum(x, 0.0) + math.log1p(math.exp(-abs(x)))

def sigmoid(x):
    e = math.exp(-abs(x))
    return (1 if x >= 0 else e) / (1 + e)

def logsigmoid(x):
    return minimum(x, 0.0) - math.log1p(math.exp(-abs(x)))

def logaddexp(x, y):
    if x == y:
        return x + math.log(2)
    return maximum(x, y) + math.log1p(math.exp(-abs(x - y)))

def xlogy(x, y):
    return 0.0 if x == 0 and y == y else x * math.log(y)

def entr(x):
    return 0.0 if x == 0 else -x * math.log(x)

def divided_where(x, y, keep):
    return x / y if keep else 0.0

def ratio(x, y):
    return x / y if y else 0.0

def masked(x, keep):
    return x * keep if keep else 0.0

def ndtr(x):
    if x < -3:
        raise ValueError("a tail of which erfc keeps few digits")
    return math.erfc(-x / math.sqrt(2)) / 2
"""
"""The library's kernels of one number that are no single expressions of NumPy's functions, or slow as such."""


class _NoForm(Exception):
    """Something in a program that Python's numbers and ``math`` have not."""


def is_of_numbers(program: Compiled) -> bool:
    """Whether a program takes and gives nothing but numbers of double precision."""
    double = np.dtype(np.float64)
    rows = [(a.shape, a.dtype) for a in program.arguments] + program.results
    return (
        len(program.arguments) > 0
        and program.kernels is None
        and all(a.default is None for a in program.arguments)
        and all(shape == () and np.dtype(dtype) == double for shape, dtype in rows)
    )


def warming(program: Compiled, plain: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a program of numbers, which is replaced by a quicker one when it is called again and again."""
    left = len(program.source) // _PER_CALL

    def function(*row: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            program.function = in_math(program.source, program.name, plain) or plain
        return plain(*row, **named)

    return function


def in_math(source: str, name: str, plain: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function called ``name`` in a program's source by ``math``, and by ``plain`` where that raises.

    None where something in the source has no form there.
    """
    functions = {s.name: s for s in ast.parse(source).body if isinstance(s, ast.FunctionDef)}
    kernels = _kernels()
    needed = {name: functions.pop(name)}
    rest = [name]
    try:
        while rest:
            function = needed[rest.pop()]
            for called in _Spelling(functions, kernels).spell(function) - needed.keys():
                needed[called] = functions[called]
                rest.append(called)
    except _NoForm:
        return None
    _with_way_back(needed[name])
    tree = ast.fix_missing_locations(ast.Module(list(needed.values()), []))
    namespace = {**kernels, "_number": np.float64, "_plain": plain}
    exec(compile(tree, f"<symgrad {name} by math>", "exec"), namespace)  # noqa: S102  (this library wrote the source)
    return namespace[name]  # type: ignore[no-any-return]


@functools.cache
def _kernels() -> dict[str, Any]:
    namespace: dict[str, Any] = {"math": math}
    exec(_KERNELS, namespace)  # noqa: S102  (the text above)
    return namespace


def _with_way_back(function: ast.FunctionDef) -> None:
    """Makes Python's numbers of NumPy's, NumPy's of the results, and leaves to ``_plain`` what ``math`` refuses."""
    *steps, last = function.body
    assert isinstance(last, ast.Return)
    assert last.value is not None
    row = "".join(f"{a.arg}, " for a in function.args.args)
    given = "".join(f"float({a.arg}), " for a in function.args.args)
    made = ast.parse(
        f"_row = ({row})\ntry:\n    {row}= {given}\nexcept (ArithmeticError, ValueError):\n    return _plain(*_row)"
    )
    attempt = made.body[1]
    assert isinstance(attempt, ast.Try)
    if isinstance(last.value, ast.Tuple):
        last.value.elts = [_call("_number", [result]) for result in last.value.elts]
    else:
        last.value = _call("_number", [last.value])
    attempt.body += [*steps, last]
    function.body = made.body


class _Spelling(ast.NodeTransformer):
    """Spells a function of NumPy's numbers in Python's, so that it does the same; ``_NoForm`` where it cannot.

    Python adds the answers of comparisons as numbers: where two are joined by more than ``and`` and ``or``, there is no
    form.  ``functions`` stand beside the one that is spelled, and ``kernels`` for some of them.
    """

    def __init__(self, functions: Container[str], kernels: Container[str]) -> None:
        self.functions = functions
        self.kernels = kernels
        self.called: set[str] = set()
        self.answers: set[str] = set()

    def spell(self, function: ast.FunctionDef) -> set[str]:
        """Spells the function, without its docstring; gives the names of those beside it that it calls."""
        function.decorator_list, function.returns = [], None
        for a in function.args.args:
            a.annotation = None
        function.body = [
            self.visit(s) for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        ]
        return self.called

    def is_answer(self, node: ast.expr) -> bool:
        """Whether an expression is the answer of a comparison, or made of such."""
        if isinstance(node, ast.Name):
            return node.id in self.answers
        if isinstance(node, ast.Constant):
            return isinstance(node.value, bool)
        if isinstance(node, ast.BinOp):
            return self.is_answer(node.left) and self.is_answer(node.right)
        if isinstance(node, ast.IfExp):
            return self.is_answer(node.body) and self.is_answer(node.orelse)
        if isinstance(node, ast.Call):
            return ast.unparse(node.func) in _ASKING
        return isinstance(node, (ast.Compare, ast.BoolOp)) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        )

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """What is left as it is, with its parts spelled."""
        if not isinstance(node, _LEFT):
            raise _NoForm(type(node).__name__)
        return super().generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """Remembers which names are answers."""
        if len(node.targets) > 1 or not isinstance(target := node.targets[0], ast.Name):
            raise _NoForm(ast.unparse(node.targets[0]))
        node.value = self.visit(node.value)
        (self.answers.add if self.is_answer(node.value) else self.answers.discard)(target.id)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.Assign:
        """``h += x`` is ``h = h + x``."""
        if not isinstance(node.target, ast.Name):
            raise _NoForm(ast.unparse(node.target))
        made = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return self.visit_Assign(ast.Assign([node.target], made, lineno=node.lineno))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A power of a negative number is complex in Python, and an error in ``math.pow``."""
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        answers = self.is_answer(node.left), self.is_answer(node.right)
        allowed = (ast.BitAnd, ast.BitOr) if all(answers) else (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
        if not isinstance(node.op, allowed):
            raise _NoForm(type(node.op).__name__)
        return _call("math.pow", [node.left, node.right]) if isinstance(node.op, ast.Pow) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """``~`` of an answer is ``not``."""
        node.operand = self.visit(node.operand)
        if self.is_answer(node.operand) != isinstance(node.op, ast.Invert):
            raise _NoForm(type(node.op).__name__)
        return ast.UnaryOp(ast.Not(), node.operand) if isinstance(node.op, ast.Invert) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A function of numbers, not of answers but where it is known what it makes of them."""
        name = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
            return self.visit(node.func.value)  # type: ignore[no-any-return]
        args = [self.visit(a) for a in node.args]
        if node.keywords or (name not in _TAKES_ANSWERS and any(map(self.is_answer, args))):
            raise _NoForm(name)
        if name in _FORMS:
            return _FORMS[name](*args)
        if name in _CALLS:
            return _call(_CALLS[name], args)
        if name in self.kernels:
            return _call(name, args)
        if name not in self.functions:
            raise _NoForm(name)
        self.called.add(name)
        return _call(name, args)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """``x[()]`` is ``x``."""
        if not isinstance(node.slice, ast.Tuple) or node.slice.elts:
            raise _NoForm("a part of an array")
        return self.visit(node.value)  # type: ignore[no-any-return]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``np.inf`` and its like, which ``math`` has, too."""
        name = ast.unparse(node)
        if name not in ("np.inf", "np.nan", "np.pi", "np.e"):
            raise _NoForm(name)
        return ast.Attribute(ast.Name("math", ast.Load()), node.attr, ast.Load())


_LEFT = (
    ast.Return, ast.Tuple, ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.IfExp, ast.expr_context, ast.cmpop,
    ast.boolop,
)  # fmt: skip


def _call(name: str, args: list[ast.expr]) -> ast.expr:
    module, _, function = name.rpartition(".")
    named = ast.Attribute(ast.Name(module, ast.Load()), function, ast.Load()) if module else ast.Name(name, ast.Load())
    return ast.Call(named, args, [])

"""NumPy source in the calls of another library: the calls are looked up in that library's table, the rest stays.

The source of a program is assignments, one ``return`` and calls, so that reading it is enough: nothing has to be known
of the ops.  What updates an array in place is written as a new array.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.op.record import TABLE

_MATH = frozenset((
    "exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log2", "log10", "floor",
    "ceil",
))  # fmt: skip
"""Functions that a plain number has in ``math`` under NumPy's name."""


class Missing(Exception):
    """A call for which a library has no form; its argument is the name of the call."""


class Text(str):
    """Source of an argument; ``plain`` where it is a Python number or a size, ``whole`` where that is an integer."""

    plain: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Framework:
    """What is known of a library: its names for NumPy's calls and for the library's own kernels.

    ``calls`` gives a name, which takes the same arguments, or a function of the arguments' texts that NumPy's function
    has; ``method`` the same for methods.  ``kernels`` are texts of functions in NumPy's spelling or the library's own.
    ``others`` answers for calls of NumPy that are in no table, ``typed`` gives a value a dtype, and ``turned`` turns
    axes where slices with a step of -1 do not.  ``lost`` is how an index with arrays is written so that places beyond
    an axis are nan, for a library that would take others.
    """

    name: str
    module: str
    imports: str
    calls: dict[str, Any]
    methods: dict[str, Any]
    kernels: dict[str, str]
    others: Callable[[str], str | None]
    typed: Callable[[Text, str, str], str]
    turned: str | None = None
    lost: str | None = None


class Rewriter(ast.NodeTransformer):
    """Rewrites one function; ``helpers`` are the kernels that its text calls, ``first`` an argument of it.

    A ``kernel`` is a text of the tables, which may have the library's own calls; ``beside`` are the functions that
    stand beside the one that is rewritten.
    """

    def __init__(
        self,
        framework: Framework,
        aliases: dict[str, str],
        first: str | None,
        beside: Mapping[str, ast.FunctionDef],
        kernel: bool = False,
    ):
        self.framework = framework
        self.kernel = kernel
        self.beside = beside
        self.aliases = aliases
        self.first = first
        self.plain: set[str] = set()
        self.whole: set[str] = set()
        self.helpers: dict[str, None] = {}

    # -------------------------------------------------------------------------------------- plain numbers

    def is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a Python number or a size."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, (int, float, complex))
        if isinstance(node, ast.Name):
            return node.id in self.plain
        if isinstance(node, ast.UnaryOp):
            return self.is_plain(node.operand)
        if isinstance(node, ast.BinOp):
            return self.is_plain(node.left) and self.is_plain(node.right)
        if isinstance(node, ast.IfExp):
            return self.is_plain(node.body) and self.is_plain(node.orelse)
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            return name in ("float", "len", "complex") or name.startswith("math.")
        return isinstance(node, ast.Attribute) and node.attr in ("inf", "nan", "pi", "e")

    def is_whole(self, node: ast.expr) -> bool:
        """Whether a plain number is an integer."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int)
        if isinstance(node, ast.Name):
            return node.id in self.whole
        if isinstance(node, ast.UnaryOp):
            return self.is_whole(node.operand)
        if isinstance(node, ast.BinOp):
            return (
                not isinstance(node.op, (ast.Div, ast.Pow)) and self.is_whole(node.left) and self.is_whole(node.right)
            )
        if isinstance(node, ast.Call):
            return ast.unparse(node.func) == "len"
        return isinstance(node, ast.Subscript) and self.is_plain(node)

    # -------------------------------------------------------------------------------------- statements

    def visit_Assign(self, node: ast.Assign) -> Any:
        """``h[1:] = x`` is ``h = index_put(h, x, 1:)``; remembers what plain numbers are, and which are whole."""
        (target,) = node.targets
        value = node.value
        if not self.kernel and isinstance(target, ast.Subscript):
            name = ast.unparse(target.value)
            value = _parsed(f"index_put({name}, {ast.unparse(value)}, {ast.unparse(_index(target.slice))})")
            node.targets, node.value = [ast.Name(name, ast.Store())], self.visit(value)
            return node
        sizes = isinstance(value, ast.Attribute) and value.attr == "shape"
        node.value = self.visit(value)
        names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        if sizes or self.is_plain(node.value):
            self.plain |= names
        if sizes or self.is_whole(node.value):
            self.whole |= names
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """``h += x`` is ``h = h + x``: arrays may not be written to, and those that a gradient needs must not.

        ``h[1:] += x`` is ``h = h + put(x, 1:, h.shape)``.
        """
        target, value = node.target, node.value
        if isinstance(target, ast.Subscript):
            index = ast.unparse(_index(target.slice))
            target = target.value  # type: ignore[assignment]
            value = _parsed(f"put({ast.unparse(value)}, {index}, {ast.unparse(target)}.shape)")
        name = ast.unparse(target)
        new = ast.BinOp(_parsed(name), node.op, value)
        return self.visit(ast.Assign([ast.Name(name, ast.Store())], new, lineno=node.lineno))

    # -------------------------------------------------------------------------------------- expressions

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """``np.inf`` and dtypes have the same names everywhere."""
        if isinstance(node.value, ast.Name) and node.value.id == "np":
            name = {"bool_": "bool"}.get(node.attr, node.attr)
            return _parsed(f"{self.framework.module}.{name}")
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """``x[()]`` is ``x``, and an index made by ``np.s_`` a tuple of slices."""
        if ast.unparse(node.value) == "np.s_":
            return self.visit(_index(node.slice))
        if isinstance(node.slice, ast.Tuple) and not node.slice.elts:
            return self.visit(node.value)
        self.generic_visit(node)
        if self.framework.lost is not None and self._has_places(node):
            index = ast.unparse(ast.Subscript(ast.Name("_", ast.Load()), node.slice, ast.Load()))[2:-1]
            return _parsed(self.framework.lost.format(ast.unparse(node.value), index))
        return node if self.framework.turned is None else self._turned(node)

    def _has_places(self, node: ast.Subscript) -> bool:
        """Whether arrays of places are among the parts of an index."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        fixed = (ast.Slice, ast.Constant)
        return (
            not self.kernel
            and not self.is_plain(node)
            and any(not isinstance(part, fixed) and not self.is_plain(part) for part in parts)
        )

    def _turned(self, node: ast.Subscript) -> Any:
        """``x[:, ::-1]`` as a call that turns axes, where slices cannot."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        backwards = [k for k, part in enumerate(parts) if isinstance(part, ast.Slice) and _is_backwards(part)]
        if not backwards or not all(isinstance(part, ast.Slice) for part in parts):
            return node
        rest = [ast.Slice() if k in backwards else part for k, part in enumerate(parts)]
        taken = ast.Subscript(node.value, ast.Tuple(rest, ast.Load()), node.ctx)
        whole = all(ast.unparse(part) == ":" for part in rest)
        inner = node.value if whole else taken
        return _parsed(f"{self.framework.turned}({ast.unparse(ast.fix_missing_locations(inner))}, {tuple(backwards)})")

    def visit_Call(self, node: ast.Call) -> Any:
        """A call under the library's name for it."""
        function = node.func
        name = ast.unparse(function)
        name = self.aliases.get(name, name)
        if self.kernel and _root(function) != "np" and not self._listed(function, name):
            self.generic_visit(node)
            return node
        if isinstance(function, ast.Attribute) and _root(function) not in ("np", "math"):
            if not self.kernel and function.attr in _REDUCTIONS:
                return self.visit_Call(_as_function(function, node))
            return self._method(function, node)
        args = [self._text(a) for a in node.args]
        named = {k.arg: self._text(k.value) for k in node.keywords if k.arg is not None}
        if name.startswith("np."):
            return self._numpy(name[3:], args, named)
        if name in self.framework.calls:
            return self._made(name, self.framework.calls[name], args, named)
        if name in self.framework.kernels or (name in self.beside and _is_plain_text(self.beside[name])):
            self.helpers[name] = None
            return _parsed(_call(name, args, named))
        if name in _PYTHON or name.startswith("math."):
            return _parsed(_call(name, args, named))
        raise Missing(name)

    def _listed(self, function: ast.expr, name: str) -> bool:
        if isinstance(function, ast.Attribute):
            return function.attr in self.framework.methods and _root(function) not in (self.framework.name, "jnp")
        return name in self.framework.calls or name in self.framework.kernels

    def _numpy(self, name: str, args: list[Text], named: dict[str, Text]) -> ast.expr:
        if re.fullmatch(r"(float|int|uint|complex|bool)\d*_?", name):
            return _parsed(self.framework.typed(args[0], name.rstrip("_"), self.device()))
        if len(args) == 1 and args[0].plain and name in _MATH:
            return _parsed(f"math.{name}({args[0]})")
        form = self.framework.calls.get(name) or self.framework.others(name)
        if form is None:
            raise Missing(f"np.{name}")
        return self._made(f"np.{name}", form, args, named)

    def _method(self, function: ast.Attribute, node: ast.Call) -> ast.expr:
        form = self.framework.methods.get(function.attr)
        if form is None:
            raise Missing(f".{function.attr}")
        args = [self._text(function.value), *(self._text(a) for a in node.args)]
        named = {str(k.arg): self._text(k.value) for k in node.keywords}
        return self._made(f".{function.attr}", form, args, named)

    def _made(self, name: str, form: Any, args: list[Text], named: dict[str, Text]) -> ast.expr:
        if isinstance(form, str):
            if form in self.framework.kernels:
                self.helpers[form] = None
            return _parsed(_call(form, args, named))
        try:
            text = form(*args, **named)
        except TypeError:  # arguments that the form does not know
            raise Missing(name) from None
        text = text.replace(DEVICE, self.device())
        for called in re.findall(r"(?<![\w.])(\w+)\(", text):
            if called in self.framework.kernels:
                self.helpers[called] = None
        return _parsed(text)

    def device(self) -> str:
        """The argument that says where new arrays are made, for libraries that ask."""
        return "" if self.first is None else f", device={self.first}.device"

    def _text(self, node: ast.expr) -> Text:
        new = self.visit(node)
        text = Text(ast.unparse(new))
        text.plain = self.is_plain(new)
        text.whole = text.plain and self.is_whole(new)
        return text


_PYTHON = ("float", "int", "complex", "len", "range", "slice", "tuple", "list", "max", "min", "abs", "enumerate", "zip")

DEVICE = ", device=?"
"""Stands in texts of calls that make arrays, for the words that say where."""


def _is_backwards(part: ast.Slice) -> bool:
    return part.lower is None and part.upper is None and part.step is not None and ast.unparse(part.step) == "-1"


_REDUCTIONS = frozenset(op.method for op in TABLE.values() if op.method)


def _as_function(method: ast.Attribute, node: ast.Call) -> ast.Call:
    """``x.sum(1)`` as ``np.sum(x, 1)``."""
    return ast.Call(_parsed(f"np.{method.attr}"), [method.value, *node.args], node.keywords)


def _root(node: ast.expr) -> str | None:
    """The name that a dotted name begins with; None for what is computed."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _call(name: str, args: Sequence[str], named: dict[str, Text]) -> str:
    return f"{name}({', '.join([*args, *(f'{k}={v}' for k, v in named.items())])})"


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _index(node: ast.expr) -> ast.expr:
    """The value of an index: ``np.s_[:, 1]`` is ``(slice(None), 1)``."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_index(part) for part in node.elts], ast.Load())
    if not isinstance(node, ast.Slice):
        return node
    ends = [end if end is not None else ast.Constant(None) for end in (node.lower, node.upper, node.step)]
    return ast.Call(ast.Name("slice", ast.Load()), ends, [])


def told(index: str) -> str:
    """An index into an array that is written to; ``Missing`` where its places are data and may be there twice.

    NumPy keeps the last of two values for one place, and other libraries keep any.
    """
    node = ast.parse(index, mode="eval").body
    if any(isinstance(part, ast.Name) for part in (node.elts if isinstance(node, ast.Tuple) else [node])):
        raise Missing("index_put")
    return index


@dataclass(frozen=True)
class Rewritten:
    """A function in another library: its source, and the sources of what it calls."""

    source: str
    helpers: dict[str, str]


def rewritten(source: str, name: str, framework: Framework, first: str | None) -> Rewritten:
    """The function called ``name`` in ``source``, in the calls of a library.

    Raises ``Missing`` with the first call that the library has no form for.
    """
    tree = ast.parse(source)
    aliases = {ast.unparse(s.targets[0]): ast.unparse(s.value) for s in tree.body if isinstance(s, ast.Assign)}
    function = next(s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name)
    function.decorator_list = []
    beside = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef) and s is not function}
    writer = Rewriter(framework, aliases, first, beside)
    doc, body = function.body[0], function.body[1:]
    made = [ast.fix_missing_locations(writer.visit(statement)) for statement in body]
    head = f"def {name}({ast.unparse(function.args)}):\n    {_doc(doc)}\n"
    text = head + "".join(f"    {ast.unparse(statement)}\n" for statement in made)
    return Rewritten(text, _kernels(framework, writer.helpers, beside))


def _doc(node: ast.stmt) -> str:
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Constant)
    return f'"""{node.value.value!s}"""'


def _is_plain_text(function: ast.FunctionDef) -> bool:
    """Whether a kernel is assignments to names and a result, so that its own text can be rewritten.

    Branches may look at what other libraries' arrays have not, and arrays that are written to are NumPy's manner.
    """
    *steps, last = (s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)))
    inside = list(ast.walk(function))
    written = {n.arg for n in inside if isinstance(n, ast.keyword)}.intersection(("out", "where"))
    return (
        isinstance(last, ast.Return)
        and all(isinstance(s, ast.Assign) and isinstance(s.targets[0], (ast.Name, ast.Tuple)) for s in steps)
        and not written
        and not any(isinstance(n, ast.IfExp) for n in inside)
    )


def _kernels(framework: Framework, wanted: dict[str, None], beside: Mapping[str, ast.FunctionDef]) -> dict[str, str]:
    """Sources of kernels and of those they call, in the library's calls, callees first."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        listed = framework.kernels.get(name)
        tree = beside[name] if listed is None else ast.parse(listed).body[0]
        assert isinstance(tree, ast.FunctionDef)
        tree.returns = None
        for arg in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs):
            arg.annotation = None
        first = (*tree.args.posonlyargs, *tree.args.args)[0].arg
        writer = Rewriter(framework, {}, first, beside, kernel=listed is not None)
        text = ast.unparse(ast.fix_missing_locations(writer.visit(tree)))
        for callee in writer.helpers:
            add(callee)
        done[name] = text + "\n"

    for name in wanted:
        add(name)
    return done

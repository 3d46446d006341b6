"""SymPy objects for what SymPy has no object for: array symbols, sizes, and one head per op of the table.

On arrays, SymPy's own ``Add``, ``Mul``, ``Pow`` and functions mean *elementwise NumPy*; that is a commutative ring, so
SymPy's algebra is right on it.  Every other op of the table is an opaque head.  Heads come from one factory: this
module makes the class ``heads.softmax`` for the op ``softmax`` when it is first looked up, so heads pickle by name.
Each prints itself as NumPy-like text, as LaTeX and as NumPy code through SymPy's printer hooks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import sympy as sp
from sympy.printing.precedence import PRECEDENCE

from symgrad import kernels
from symgrad.errors import FormulaError
from symgrad.formula.sympy.entries import Indexable
from symgrad.op import TABLE, Op, broadcast_shapes, lookup
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.indexing.getitem import Index, beside_index
from symgrad.ops.shapes.sizes import letters_of

_MATMUL_LEVEL = PRECEDENCE["Add"]  # brackets inside products, also negative ones, and none inside sums
_WORD = re.compile(r"[A-Za-z_]\w*")


def _refuse(name: str) -> FormulaError:
    return FormulaError(
        f"SymPy cannot differentiate by the array {name}: one symbol stands for all its entries, and SymPy's rules are "
        "for scalars. Differentiate the tensor instead, with symgrad.autograd.grad or backward(), and take the expr "
        "of the result."
    )


class ArraySymbol(Indexable, sp.Symbol):  # type: ignore[misc]
    """One symbol for a whole array; ``shape`` holds ints and size letters.

    >>> ArraySymbol("x", ("n",)).shape
    ('n',)
    """

    __slots__ = ("shape",)
    shape: tuple[Any, ...]

    def __new__(cls, name: str, shape: tuple[Any, ...] = ()) -> Self:
        """A symbol for an array of a shape."""
        made: Self = sp.Symbol.__xnew__(cls, name)
        made.shape = tuple(shape)
        return made

    def __getnewargs_ex__(self) -> Any:
        return (self.name, self.shape), {}

    def _latex(self, printer: Any) -> str:
        return str(printer._print_Symbol(self))

    def _hashable_content(self) -> Any:
        return (self.name, self.shape)

    @property
    def _diff_wrt(self) -> bool:
        raise _refuse(self.name)

    def _eval_derivative(self, s: Any) -> Any:
        if s.name == self.name:
            raise _refuse(self.name)
        return sp.S.Zero


class SizeSymbol(sp.Symbol):  # type: ignore[misc]
    """A size letter that knows an array and axis which have it, so that NumPy code can read it there."""

    __slots__ = ("array", "axis")
    array: ArraySymbol
    axis: int

    def __new__(cls, letter: str, array: ArraySymbol, axis: int) -> Self:
        """The size ``letter`` of an axis of ``array``."""
        made: Self = sp.Symbol.__xnew__(cls, letter, integer=True, positive=True)
        made.array, made.axis = array, axis
        return made

    def __getnewargs_ex__(self) -> Any:
        return (self.name, self.array, self.axis), {}

    def _hashable_content(self) -> Any:
        return (self.name, self.array, self.axis)

    @property
    def free_symbols(self) -> Any:
        """The array the size is read from: the size itself is no unknown."""
        return {self.array}

    def _eval_subs(self, old: Any, new: Any) -> Any:
        """Where a number takes the place of the array, nothing has its size any more: a letter is left."""
        return _size(self.name) if old == self.array and not shape_of(new) else None

    def _numpycode(self, printer: Any) -> str:
        return f"{printer._module_format('numpy.shape')}({printer._print(self.array)})[{self.axis}]"


def _size(letter: str) -> Any:
    return sp.Symbol(letter, integer=True, positive=True)


class Static(sp.Atom):  # type: ignore[misc]
    """The static parameters of a head: sorted ``(key, value)`` pairs, and the letters of the sizes that follow it."""

    __slots__ = ("letters", "pairs")
    pairs: tuple[tuple[str, Any], ...]
    letters: tuple[str, ...]

    def __new__(cls, pairs: Any, letters: Any = ()) -> Self:
        """Parameters, and the letters among them."""
        made: Self = sp.Atom.__new__(cls)
        made.pairs, made.letters = tuple(pairs), tuple(letters)
        return made

    def __getnewargs__(self) -> Any:
        return (self.pairs, self.letters)

    def _hashable_content(self) -> Any:
        return (params_text(dict(self.pairs)), ",".join(self.letters))

    def _sympystr(self, _: Any) -> str:
        return params_text(dict(self.pairs))

    _sympyrepr = _latex = _sympystr


class Head(Indexable, sp.Expr):  # type: ignore[misc]
    """An op of the table that is not elementwise, as an opaque commutative expression with a shape.

    ``args`` are the operands, one :class:`Static`, and the sizes whose letters the parameters use.
    """

    __slots__ = ("_shape",)
    is_commutative = True
    is_number = False
    op_name = ""
    _shape: tuple[Any, ...]

    def __new__(cls, *args: Any) -> Self:
        """The op at operands, its parameters, and sizes."""
        made: Self = sp.Expr.__new__(cls, *map(sp.sympify, args))
        infer: Any = made.op.infer
        made._shape = tuple(infer(*map(shape_of, made.operands), **made.params))
        return made

    @property
    def op(self) -> Op:
        """The op of the table."""
        return lookup(self.op_name)

    @property
    def _static(self) -> int:
        return next(k for k, a in enumerate(self.args) if isinstance(a, Static))

    @property
    def operands(self) -> tuple[Any, ...]:
        """The array arguments."""
        return tuple(self.args[: self._static])

    @property
    def params(self) -> dict[str, Any]:
        """The static parameters, sizes as letters."""
        return dict(self.args[self._static].pairs)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes of the result: ints and letters."""
        return self._shape

    @property
    def precedence(self) -> int:
        """Where SymPy's printers put brackets around this head."""
        return int(_MATMUL_LEVEL) if self.op_name == "matmul" else PRECEDENCE["Atom"]

    def cost(self) -> int:
        """Operations that this node stands for: none for an identity matrix and for constant arrays."""
        return 0 if self.op_name in ("eye", "full") else 1

    def _eval_subs(self, old: Any, new: Any) -> Any:
        """A number in the place of an array stands for all its entries: operands keep their shapes."""
        if not isinstance(old, ArraySymbol) or shape_of(new):
            return None
        shapes = [shape_of(a) for a in self.operands]
        changed = [a._subs(old, new) for a in self.operands]
        if [shape_of(a) for a in changed] == shapes:
            return None
        sizes = {s.name: s for s in self.atoms(SizeSymbol) if s.array != old}
        sizes = {n: SizeSymbol(n, a, k) for a in self.atoms(ArraySymbol) - {old} for k, n in enumerate(a.shape)} | sizes
        filled = [a if shape_of(a) else _filled(a, shape, sizes) for a, shape in zip(changed, shapes, strict=True)]
        return self.func(*filled, *(a._subs(old, new) for a in self.args[self._static :]))

    def _eval_derivative(self, s: Any) -> Any:
        if s in self.free_symbols:
            raise _refuse(str(s))
        return sp.S.Zero

    def _sympystr(self, printer: Any) -> str:
        return head_text(self, printer)

    def _sympyrepr(self, _: Any) -> str:
        return str(self)

    def _latex(self, _: Any) -> str:
        from symgrad.formula.printing.latex import latex
        from symgrad.formula.sympy.terms import from_sympy_expr

        text = latex(from_sympy_expr(self), canonical=False)
        return rf"\left({text}\right)" if self.op_name in ("outer", "solve") else text

    def _numpycode(self, printer: Any) -> str:
        static = self._static
        letters = {
            letter: printer._print(size)
            for letter, size in zip(self.args[static].letters, self.args[static + 1 :], strict=True)
        }
        return op_code(self.op, self.operands, self.params, letters, printer)


def _filled(value: Any, shape: tuple[Any, ...], sizes: dict[str, Any]) -> Any:
    """An array of a shape with one value everywhere."""
    if not shape:
        return value
    letters = tuple(dict.fromkeys(w for n in shape if isinstance(n, str) for w in sorted(letters_of(n))))
    static = Static([("dtype", "float64"), ("shape", shape), ("value", 1)], letters)
    return value * head("full")(static, *(sizes.get(w) or _size(w) for w in letters))


class Elementwise(sp.Function):  # type: ignore[misc]
    """An elementwise op that SymPy has no function for (or none that NumPy code can be printed of)."""

    op_name = ""

    def fdiff(self, argindex: int = 1) -> Any:
        """The partial derivative by an argument, from the op's own rule."""
        from symgrad.formula.sympy.expressions import partial

        return partial(lookup(self.op_name), self.args, argindex - 1)

    def _eval_evalf(self, prec: int) -> Any:
        """Digits where mpmath has them; its function of that name may also be a truth value (isnan)."""
        try:
            return super()._eval_evalf(prec)
        except TypeError:
            return None

    def _latex(self, _: Any, exp: Any = None) -> str:
        from symgrad.formula.printing.latex import latex
        from symgrad.formula.sympy.terms import from_sympy_expr

        text = latex(from_sympy_expr(self), canonical=False)
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"

    def _numpycode(self, printer: Any) -> str:
        return op_code(lookup(self.op_name), self.args, {}, {}, printer)


# ---------------------------------------------------------------------------------------------- the factory

_MADE: dict[str, Any] = {}


def _make(op: Op) -> Any:
    elementwise = op.kind == "elementwise"
    space: dict[str, Any] = {"op_name": op.name, "__module__": __name__, "__doc__": op.doc, "__qualname__": op.name}
    if not elementwise:
        return type(op.name, (Head,), {**space, "__slots__": ()})
    if op.name not in ("erf", "erfc"):
        return type(sp.Function)(op.name, (Elementwise,), {**space, "nargs": len(op.vjps)})
    hooks = {"_numpycode": Elementwise._numpycode, "_latex": Elementwise._latex}
    return type(sp.Function)(op.name, (getattr(sp, op.name),), {**space, **hooks})


def head(name: str) -> Any:
    """The class of an op's head."""
    if name not in _MADE:
        _MADE[name] = _make(lookup(name))
    return _MADE[name]


def __getattr__(name: str) -> Any:
    if name in TABLE and not name.startswith("__"):
        return head(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---------------------------------------------------------------------------------------------- shapes


def shape_of(expr: Any, known: dict[Any, Any] | None = None) -> tuple[Any, ...]:
    """The shape of an expression: ints and size letters; elementwise nodes broadcast their arguments.

    ``known`` is filled with the shapes of all parts.

    >>> x = ArraySymbol("x", ("n",))
    >>> shape_of(2 * sp.sin(x) + 1)
    ('n',)
    """
    known = {} if known is None else known
    stack = [expr]
    while stack:
        item = stack[-1]
        if item in known:
            stack.pop()
        elif isinstance(item, (ArraySymbol, Head)):
            known[stack.pop()] = item.shape
        elif hasattr(type(item), "shape_of_result"):
            known[stack.pop()] = type(item).shape_of_result
        else:
            missing = [a for a in item.args if a not in known]
            if missing:
                stack.extend(missing)
            else:
                known[stack.pop()] = broadcast_shapes(*(known[a] for a in item.args))
    return known[expr]  # type: ignore[no-any-return]


def unknown(name: str, shape: tuple[Any, ...]) -> Any:
    """An undefined function of SymPy whose results have a shape."""
    return sp.core.function.UndefinedFunction(name, __dict__={"shape_of_result": shape})


# ---------------------------------------------------------------------------------------------- text


def value_text(value: Any, places: Sequence[str] = ()) -> str:
    """A static parameter as text: sizes bare, strings quoted, floats as ``repr``, operands inside an index."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_size_or_value, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, Index):
        return f"s_[{value.text(places)}]"
    if isinstance(value, float):
        return repr(value).replace("inf", "oo")
    return repr(value)


def _size_or_value(value: Any) -> str:
    return value if isinstance(value, str) else value_text(value)


def params_text(params: dict[str, Any], size_params: tuple[str, ...] = (), places: Sequence[str] = ()) -> str:
    """``key=value`` pairs, sorted by key."""
    return ", ".join(
        f"{k}={v if k in size_params and isinstance(v, str) else value_text(v, places)}"
        for k, v in sorted(params.items())
    )


def _closed(operand: Any, printer: Any) -> str:
    """The text of an operand before an index; a square root is a call there, though SymPy takes it for a power."""
    if operand.is_Pow and operand.exp == sp.S.Half:
        return str(printer._print(operand))
    return str(printer.parenthesize(operand, PRECEDENCE["Atom"], strict=True))


def head_text(self: Head, printer: Any) -> str:
    """NumPy-like text of a head, as :func:`symgrad.formula.reading.text.parse_formula` reads it."""
    name, params, operands = self.op_name, self.params, self.operands
    if name == "matmul":
        chained = getattr(operands[0], "op_name", "") == "matmul"
        left = printer._print(operands[0]) if chained else _factor_text(operands[0], printer)
        return f"{left} @ {_factor_text(operands[1], printer)}"
    if name == "permute" and params["dims"] == (1, 0):
        return f"{_closed(operands[0], printer)}.T"
    if name == "getitem":
        index = params["index"].text([printer._print(a) for a in operands[1:]])
        return f"{_closed(operands[0], printer)}[{index}]"
    if name == "full" and params["dtype"] == "float64" and params["value"] in (0, 1):
        return f"{'ones' if params['value'] else 'zeros'}({', '.join(map(str, params['shape']))})"
    texts = [printer._print(a) for a in operands]
    if name == "sum" and not params["keepdim"]:
        axes = params["dim"]
        whole = axes == tuple(range(len(shape_of(operands[0]))))
        return f"sum({texts[0]}{'' if whole else f', {axes[0]}' if len(axes) == 1 else f', {axes}'})"
    if name == "einsum" and params["inputs"] == ((0,),) and params["output"] == (0, 0):
        return f"diag({texts[0]})"
    if name == "eye" and params["dtype"] == "float64":
        return f"eye({params['n']})"
    if params.get("keepdim") is False:
        del params["keepdim"]
    if name == "norm" and params["p"] == 2 and params["dim"] == tuple(range(len(shape_of(operands[0])))):
        params = {}
    texts, places = beside_index(texts, params)
    static = params_text(params, tuple(self.op.size_params or ()), places)
    return f"{name}({', '.join([*texts, *([static] if static else [])])})"


def _factor_text(operand: Any, printer: Any) -> str:
    """An operand of ``@``: bracketed unless it binds more (a reciprocal is printed as a quotient)."""
    inverse = operand.is_Pow and operand.exp.could_extract_minus_sign()
    return f"({printer._print(operand)})" if inverse else str(printer.parenthesize(operand, PRECEDENCE["Mul"]))


# ---------------------------------------------------------------------------------------------- NumPy code


def op_code(op: Op, operands: Any, params: dict[str, Any], letters: dict[str, str], printer: Any) -> str:
    """NumPy source of one op: its code template, or a call of its kernel, which the printer imports."""
    texts = [_operand_code(a, op, printer) for a in operands]
    static = {k: _coded(v, letters) if k in (op.size_params or ()) else v for k, v in params.items()}
    if op.code is not None and not _HELPER.search(op.code(*(f"x{k}" for k in range(len(texts))), **static)):
        text = op.code(*texts, **static)
        return _numpy(text if op.name == "matmul" else closed(text))
    keywords = "".join(f", {k}={_source(v, k in (op.size_params or ()), printer)}" for k, v in static.items())
    arrays = ", ".join(f"numpy.asarray({t})" for t in texts)
    return f"{_kernel(op, printer)}({(arrays + keywords).removeprefix(', ')})"


_HELPER = re.compile(r"(?<![\w.])[A-Za-z_]\w*\(")
"""A call of a function that is not NumPy's: generated programs carry it with them, but lambdify's do not."""


def _operand_code(a: Any, op: Op, printer: Any) -> str:
    text = printer.parenthesize(a, PRECEDENCE["Func"], strict=True)
    return f"numpy.asarray({text})" if a.is_number and op.kind != "elementwise" else str(text)


def _numpy(text: str) -> str:
    return re.sub(r"\bnp\.", "numpy.", text)


def _kernel(op: Op, printer: Any) -> str:
    name = getattr(op.kernel, "__name__", "")
    if getattr(kernels, name, None) is op.kernel:
        printer.module_imports["symgrad"].add("kernels")
        return f"kernels.{name}"
    printer.module_imports["symgrad.op"].add("lookup")
    return f"lookup({op.name!r}).kernel"


def _coded(value: Any, letters: dict[str, str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_coded(v, letters) for v in value)
    return _WORD.sub(lambda m: letters.get(m[0], m[0]), value) if isinstance(value, str) else value


def _source(value: Any, sizes: bool, printer: Any) -> str:
    if isinstance(value, Index):
        printer.module_imports["symgrad.ops.indexing.getitem"] |= {"Index", "HOLE"} if value.holes else {"Index"}
        return f"Index({_index_source(value.value)})"
    if isinstance(value, tuple):
        return f"({', '.join(_source(v, sizes, printer) for v in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    return str(value) if sizes and isinstance(value, str) else repr(value)


def _index_source(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_index_source, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, np.ndarray):
        return f"numpy.array({value.tolist()}, dtype={value.dtype.name!r})"
    return repr(value)

"""The reader of formulas as people type them without LaTeX: NumPy's notation, or that of matrices on paper.

Two readings of one text.  :func:`read_numpy` is NumPy's: ``*`` is entry by entry, ``@`` the matrix product; only where
the shapes fit no other way does ``*`` mean the matrix product.  :func:`read_matrices` is that of mathematics (and of
MATLAB): vectors are columns, ``*`` is the matrix product, ``.*`` entry by entry, ``A'`` and ``A^T`` are transposes, and
the ``*`` may be left out.  Nothing of the text is evaluated as code.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from symgrad.errors import FormulaError, NameProblem, ShapeError, SymgradError
from symgrad.formula.misfits import ProductMisfit, said
from symgrad.formula.parse import ALIASES, _Reader, symbol_table
from symgrad.formula.people import read_latex, read_tokens
from symgrad.formula.peopleatoms import pseudo_inverse
from symgrad.formula.peopleclauses import cut, main_piece
from symgrad.formula.peopletokens import OPERATORS, PeopleTokens, braced, primes
from symgrad.formula.term import Term, apply, as_term, full, number, size_letter, size_product
from symgrad.formula.texnames import name_latex
from symgrad.formula.texvalues import op
from symgrad.op import FRONTS, TABLE, lookup

RAISED = "[ᵀ⁻⁰¹²³⁴⁵⁶⁷⁸⁹]"
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)"
    rf"|(?P<name>(?!{RAISED})[^\W\d](?:(?!{RAISED})\w)*)"
    r"|(?P<text>'[a-z]{2,12}'|'[a-zA-Z]+(?:,[a-zA-Z]+)+'|'[a-zA-Z]+(?:\s*,\s*[a-zA-Z]+)*\s*->\s*[a-zA-Z]*'|\"[^\"]*\")"
    r"|(?P<raised>⁻?ᵀ|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|\.\*|\./|\.\^|\.\.\.|\|\||[-+*/%@()\[\],:;.&|~<>=^'⊙·−√‖∑∏]))"
)
MODULES = {"np", "numpy", "torch", "jnp", "sg", "sympy", "sp", "scipy", "linalg", "math", "special", "F", "nn"}
_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def tokenize(text: str) -> PeopleTokens:
    """The tokens of plain text; prefixes such as ``np.linalg.`` are dropped."""
    items: list[tuple[str, str, int]] = []
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            found = PeopleTokens(text, [("sign", text[at], at)])
            raise found.error(f"unexpected {text[at]!r}")
        items.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
        at = match.end()
    return PeopleTokens(text, _without_modules(items))


def _without_modules(items: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    out: list[tuple[str, str, int]] = []
    for k, item in enumerate(items):
        following = items[k + 1][1] if k + 1 < len(items) else ""
        module = item[1] in MODULES and following == "."
        if not module and not (item[1] == "." and k and items[k - 1][1] in MODULES):
            out.append(item)
    return out


def split_definition(text: str) -> str:
    """The right side of ``df/dx = …``; a text with further definitions stays whole."""
    parts = re.split(r"(?<![<>=!:])=(?!=)", text)
    outside = parts[0].count("(") == parts[0].count(")")
    flat = text
    for _ in range(40):
        flat, before = re.sub(r"[(\[][^()\[\]]*[)\]]", "", flat), flat
        if flat == before:
            break
    return parts[1] if len(parts) == 2 and outside and not re.search(r"[,;\n]", flat.strip()) else text


# ---------------------------------------------------------------------------------------------- NumPy's notation


def read_numpy(text: str, symbols: Mapping[str, Any] | Iterable[Term]) -> Term:
    """The term of a text in NumPy's notation.

    >>> read_numpy("2*A.T @ (A@x - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    tokens = tokenize(as_line(text))
    tokens.items = [(kind, _SIGNS.get(found, found), place) for kind, found, place in tokens.items]
    table = dict(symbol_table(symbols))
    main, definitions = statements(tokens)
    for name, items in definitions:
        table[name] = _finished(PeopleTokens(text, items), table)
    return _finished(PeopleTokens(text, main), table)


def _finished(tokens: PeopleTokens, table: dict[str, Term]) -> Term:
    reader = NumpyReader(tokens, table)
    found = reader.expression(0)
    if tokens.kind != "end":
        raise tokens.error(f"unexpected {tokens.peek()!r}")
    return as_term(found)


_SIGNS = {"^": "**", "·": "*", "−": "-"}


def as_line(text: str) -> str:
    """A text of several lines with semicolons between them, of the same length."""
    depth = 0
    out = []
    for c in re.sub(r"\breturn\b", "      ", text.strip()):
        depth += (c in "([{") - (c in ")]}")
        out.append(";" if c == "\n" and depth <= 0 else c)
    return "".join(out)


Items = list[tuple[str, str, int]]


def statements(tokens: PeopleTokens) -> tuple[Items, list[tuple[str, Items]]]:
    """The formula, and the definitions ``name = …`` around it with those before that others need."""
    pieces = [cut(piece, "=") for piece in cut(tokens.items, ",", ";")]
    main = pieces.pop(main_piece(pieces))[-1]
    left: list[tuple[str, Items]] = []
    for piece in pieces:
        if len(piece) != 2 or len(piece[0]) != 1:
            tokens.at = tokens.items.index((piece[0] or piece[-1])[0])
            raise tokens.error("after a comma a definition such as Y = A + X is expected")
        left.append((piece[0][0][1], piece[1]))
    ready: list[tuple[str, Items]] = []
    while left:
        waiting = {name for name, _ in left}
        free = [d for d in left if not waiting & {text for _, text, _ in d[1]}]
        ready += free or left
        left = [d for d in left if free and d not in free]
    return main, ready


class NumpyReader(_Reader):
    """The strict reader with NumPy's functions, methods, and the matrix product where ``*`` can mean nothing else."""

    def infix(self, sign: str, left: Any, right: Any) -> Any:
        """The value of an operator; ``*`` is the matrix product where it can mean nothing else."""
        try:
            return super().infix(sign, left, right)
        except ShapeError as error:
            if sign == "*" and left.ndim and right.ndim:
                try:
                    return lookup("matmul")(left, right)
                except ShapeError:
                    pass
            raise self.tokens.error(str(error).rstrip(".").replace("'", ""), ProductMisfit) from None

    def attribute(self, left: Any) -> Any:
        """A transpose, or a method such as ``x.sum()``."""
        tokens = self.tokens
        name = tokens.peek(1)
        if name in _ATTRIBUTES and (tokens.peek(2) != "(" or name == "T"):
            tokens.at += 2
            try:
                return _ATTRIBUTES[name](left)
            except (SymgradError, IndexError) as error:
                raise tokens.error(said(error), ProductMisfit) from None
        if name == "shape" and tokens.peek(2) == "[" and tokens.peek(3).isdigit() and tokens.peek(4) == "]":
            axis = int(tokens.peek(3))
            if axis >= left.ndim:
                raise tokens.error(f"an array with {left.ndim} axes has no axis {axis}")
            tokens.at += 5
            return size_letter(left.shape[axis])
        if tokens.peek(2) != "(":
            return super().attribute(left)
        tokens.at += 3
        if name == "astype":
            while tokens.take() not in (")", ""):
                pass
            return 1 * left
        return self.call(name, [left])

    def call(self, name: str, before: Iterable[Any] = ()) -> Any:
        """A function with its arguments."""
        tokens = self.tokens
        start = tokens.at
        args, params = self.arguments()
        args = [*before, *args]
        try:
            return as_term(self.people(name, args, params))
        except (ShapeError, ProductMisfit) as error:
            tokens.at = start - 1
            raise tokens.error(str(error).rstrip("."), ProductMisfit) from None
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            if isinstance(error, (FormulaError, NameProblem)):
                raise
            tokens.at = start - 1
            raise tokens.error(f"{name}() cannot take these arguments: {error}") from None

    def end(self) -> Any:
        """The end of a slice; ``np.newaxis`` is None."""
        return None if self.tokens.found("newaxis") else super().end()

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional arguments and static parameters up to the closing bracket."""
        args: list[Any] = []
        params: dict[str, Any] = {}
        tokens = self.tokens
        while not tokens.found(")"):
            if tokens.kind == "name" and tokens.peek(1) == "=":
                key = tokens.take()
                tokens.take()
                params[key] = self.value()
            elif tokens.kind == "text":
                args.append(tokens.take()[1:-1])
            else:
                args.append(self.expression(0))
            if tokens.kind == "end":
                raise tokens.error("')' is missing")
            if tokens.peek() != ")":
                tokens.expect(",")
        return args, params

    def people(self, name: str, args: list[Any], params: dict[str, Any]) -> Any:
        """A function by its name in NumPy, torch or mathematics."""
        own = FUNCTIONS.get(name)
        if own is not None:
            return own(*args, **params)
        if name == "Piecewise":
            return self.applied(name, args, params)
        name = OPERATORS.get(name, ALIASES.get(name, name))
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **params)
        if name in FRONTS:
            plain = [args[0], *(_static(a) for a in args[1:])] if args else []
            return FRONTS[name].call(*plain, **params)
        return self.applied(name, args, params)


def _static(value: Any) -> Any:
    """The number of a constant term, for parameters such as an axis."""
    if isinstance(value, tuple):
        return tuple(_static(v) for v in value)
    found = value.number if isinstance(value, Term) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else value


def _trace(a: Term) -> Any:
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ProductMisfit(f"the trace of an array of shape {a.shape}")
    return op("trace", a)


def _square(name: str) -> Callable[..., Any]:
    def call(a: Term) -> Any:
        if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
            raise ProductMisfit(f"{name}() of an array of shape {a.shape}, which is no square matrix")
        return apply(lookup(name), (a,), {})

    return call


def _diag(a: Term) -> Any:
    if a.ndim == 1:
        return op("einsum", a, inputs=((0,),), output=(0, 0), shape=(a.shape[0], a.shape[0]))
    return op("diagonal", a, offset=0, dim1=0, dim2=1)


def _softmax(name: str) -> Callable[..., Any]:
    def call(a: Term, axis: Any = None, dim: Any = None) -> Any:
        given = axis if axis is not None else dim
        return FRONTS[name].call(a, a.ndim - 1 if given is None else _static(given))

    return call


def _logsumexp(a: Term, axis: Any = None, dim: Any = None, keepdims: bool = False) -> Any:
    given = _static(axis if axis is not None else dim)
    return FRONTS["logsumexp"].call(a, tuple(range(a.ndim)) if given is None else given, keepdims)


def _norm(a: Term, ord: Any = 2, **params: Any) -> Any:
    p = 2 if ord in ("fro", "f") else _static(ord)
    return FRONTS["norm"].call(a, p, **params)


def _transpose(a: Term, *axes: Any) -> Any:
    flat = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes
    return op("permute", a, dims=tuple(_static(x) for x in flat)) if len(flat) == a.ndim else a.T


def _reshape(a: Term, *sizes: Any) -> Any:
    flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
    plain = tuple(_static(s) for s in flat)
    if a.ndim == 1 and plain in ((-1, 1), (1, -1), (-1,)):
        return a if len(plain) == 1 else op("unsqueeze", a, dim=plain.index(1))
    return op("reshape", a, shape=tuple(_size(s) if isinstance(s, Term) else s for s in plain))


def _along_axis(name: str) -> Callable[..., Any]:
    def call(a: Term, axis: Any = None, dim: Any = None) -> Any:
        given = _static(axis if axis is not None else dim)
        if given is None and a.ndim != 1:
            raise ProductMisfit(f"{name}() of an array with {a.ndim} axes needs axis=")
        return FRONTS[name].call(a, 0 if given is None else given)

    return call


def _flip(a: Term, axis: Any = None) -> Any:
    given = _static(axis)
    dims = tuple(range(a.ndim)) if given is None else given
    return FRONTS["flip"].call(a, dims if isinstance(dims, tuple) else (dims,))


def _tensordot(a: Term, b: Term, axes: Any = 2) -> Any:
    given = _static(axes)
    pairs = tuple(x if isinstance(x, tuple) else (x,) for x in given) if isinstance(given, tuple) else given
    return FRONTS["tensordot"].call(a, b, pairs)


def _einsum(text: Any, *operands: Term, **_: Any) -> Any:
    return FRONTS["einsum"].call(text.replace(" ", ""), *operands)


def _rational(p: Term, q: Any = 1) -> Any:
    return number(Fraction(p.number) / Fraction(q.number if isinstance(q, Term) else q))


def _folded(name: str) -> Callable[..., Any]:
    return lambda *args: functools.reduce(lookup(name), args)


_ATTRIBUTES: dict[str, Callable[[Term], Any]] = {
    "T": lambda a: a.T,
    "mT": lambda a: FRONTS["swapaxes"].call(a, -1, -2),
    "H": lambda a: op("conj", a.T),
    "I": lambda a: _square("inv")(a),
    "size": lambda a: size_product(a.shape),
    "real": lambda a: op("real", a),
    "imag": lambda a: op("imag", a),
}


def _dot(a: Term, b: Term) -> Any:
    return lookup("matmul")(a, b) if a.ndim and b.ndim else lookup("mul")(a, b)


def _full(value: int) -> Callable[..., Any]:
    def call(*sizes: Any, **_: Any) -> Any:
        flat = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
        return full(tuple(_size(s) for s in flat), value, "float64")

    return call


def _eye(n: Any) -> Any:
    return op("eye", n=_size(n), dtype="float64")


def _size(term: Any) -> Any:
    value = term.number
    return int(value) if value is not None else term.params["name"]


def _elementwise(name: str) -> Callable[..., Any]:
    return lambda *args: apply(lookup(name), args, {})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "trace": _trace,
    "tr": _trace,
    "diag": _diag,
    "softmax": _softmax("softmax"),
    "log_softmax": _softmax("log_softmax"),
    "logsumexp": _logsumexp,
    "norm": _norm,
    "dot": _dot,
    "transpose": _transpose,
    "permute": _transpose,
    "Transpose": lambda a: a.T,
    "reshape": _reshape,
    "expand_dims": lambda a, axis: op("unsqueeze", a, dim=_static(axis) % (a.ndim + 1)),
    "cumsum": _along_axis("cumsum"),
    "cumprod": _along_axis("cumprod"),
    "flip": _flip,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "pinv": lambda a, *_: pseudo_inverse(a),
    "len": lambda a: size_letter(a.shape[0]),
    "power": lambda a, b: lookup("pow")(a, b),
    "Pow": lambda a, b: lookup("pow")(a, b),
    "Add": _folded("add"),
    "Mul": _folded("mul"),
    "MatMul": _folded("matmul"),
    "HadamardProduct": _folded("mul"),
    "Matrix": lambda a: a,
    "Integer": lambda a: a,
    "S": lambda a: a,
    "Rational": _rational,
    "Heaviside": lambda x, at=None: lookup("heaviside")(x, number(0) if at is None else at),
    "Inverse": lambda a: _square("inv")(a),
    "Trace": lambda a: _trace(a),
    "Determinant": lambda a: _square("det")(a),
    "ones": _full(1),
    "zeros": _full(0),
    "ones_like": lambda a: full(a.shape, 1, a.dtype),
    "zeros_like": lambda a: full(a.shape, 0, a.dtype),
    "eye": _eye,
    **{name: _square(name) for name in ("inv", "det", "logdet", "logabsdet")},
    "softplus": _elementwise("softplus"),
    "sech": lambda a: 1 / lookup("cosh")(a),
    "max": lambda a, *rest, **params: FRONTS["maximum"].call(a, *rest) if rest else FRONTS["amax"].call(a, **params),
    "min": lambda a, *rest, **params: FRONTS["minimum"].call(a, *rest) if rest else FRONTS["amin"].call(a, **params),
    "log": _elementwise("log"),
    "exp": _elementwise("exp"),
    "sqrt": _elementwise("sqrt"),
    "sign": _elementwise("sign"),
}


# ---------------------------------------------------------------------------------------------- matrices on paper


def read_matrices(
    text: str, symbols: Mapping[str, Any] | Iterable[Term], shape: tuple[Any, ...] | None = None, **readings: Any
) -> Term:
    """The term of a text in the notation of mathematics, where vectors are columns.

    >>> read_matrices("2 A'(Ax - b)", {"A": ("m", "n"), "x": ("n",), "b": ("m",)}).shape
    ('n',)
    """
    table = symbol_table(symbols)
    tokens = _translated(tokenize(as_line(text)), table)
    return read_tokens(tokens, table, shape, **readings)


_PAPER = {
    "*": r"\star", "·": r"\cdot", "@": r"\cdot", ".*": r"\entry", "⊙": r"\odot", "./": r"\ratio", "−": "-", "||": r"\|",
    "‖": r"\|", "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "=", "&": r"\wedge", "√": r"\sqrt",
}  # fmt: skip


def _translated(tokens: PeopleTokens, table: dict[str, Term]) -> PeopleTokens:
    """Plain tokens in the notation of the reader of LaTeX."""
    out: list[tuple[str, str, int]] = []
    items = tokens.items
    explicit = any(text == "@" for _, text, _ in items)
    k = 0
    while k < len(items):
        kind, text, place = items[k]
        following = items[k + 1][1] if k + 1 < len(items) else ""
        k += 1
        if text == "." and following in _AFTER_DOT:
            out += [("char", part, place) for part in ("^", "{", *_AFTER_DOT[following], "}")]
            k += 1
        elif kind == "raised":
            inner = [("char", r"\top", place)] if text == "ᵀ" else _digits(text, place)
            out += [("char", "^", place), ("char", "{", place), *inner, ("char", "}", place)]
        elif text in ("**", "^", ".^"):
            k = _exponent(items, k, out, place, entrywise=text == ".^" or (text == "**" and explicit))
        elif text == "*" and explicit:
            out.append(("char", r"\entry", place))
        elif (
            kind == "name" and text[0] == "T" and len(text) > 1 and out[-1:] and out[-1][1] == "^" and text not in table
        ):
            # ``A^TA``: the transpose, and what follows it.
            out.append(("char", "T", place))
            out += _name(text[1:], place + 1, following, table)
        elif kind == "name":
            out += _name(text, place, following, table)
        elif text in ("∑", "∏"):
            out.append(("char", r"\sum" if text == "∑" else r"\prod", place))
        elif kind == "sign" and text in _PAPER:
            out.append(("char", _PAPER[text], place))
        else:
            out.append((kind if kind == "number" else "char", text, place))
    return PeopleTokens(tokens.text, braced(primes(out)))


def _digits(text: str, place: int) -> list[tuple[str, str, int]]:
    turned = text.replace("⁻ᵀ", "").translate(_DIGITS)
    if text == "⁻ᵀ":
        return [("char", "-", place), ("char", r"\top", place)]
    return [*([("char", "-", place)] if turned[0] == "-" else []), ("number", turned.lstrip("-"), place)]


def _exponent(items: list[Any], k: int, out: list[Any], place: int, entrywise: bool) -> int:
    """A power: its bracket becomes the braces of LaTeX."""
    out.append(("char", "^", place))
    if k < len(items) and items[k][1] == "(":
        depth = 0
        for j in range(k, len(items)):
            depth += (items[j][1] == "(") - (items[j][1] == ")")
            if not depth:
                inside = _translated(PeopleTokens("", items[k + 1 : j]), {}).items
                mark = [("char", r"\odot", place)] if entrywise else []
                out += [("char", "{", place), *mark, *inside, ("char", "}", place)]
                return j + 1
    if entrywise:
        out += [("char", "{", place), ("char", r"\odot", place)]
        end = k + 2 if k < len(items) and items[k][1] == "-" else k + 1
        out += [("number" if i[0] == "number" else "char", i[1], i[2]) for i in items[k:end]]
        out.append(("char", "}", place))
        return end
    return k


_AFTER_DOT = {"T": (r"\top",), "mT": (r"\top",), "I": ("-", "1"), "H": ("H",)}
_INDEXED = {"sum": r"\sum", "prod": r"\prod", "": "", "delta": r"\delta", "δ": r"\delta"}
"""What may stand before an index besides a symbol; nothing, after a sign such as ∑."""


def _name(text: str, place: int, following: str, table: dict[str, Term]) -> list[tuple[str, str, int]]:
    """The tokens of a name: a symbol, a function, a Greek letter, or several symbols side by side."""
    if text in table or text in ("T", "H", "I", "e"):
        return [("char", text, place)]
    stem, _, letters = text.partition("_")
    if letters.isalnum() and (stem in table or stem in _INDEXED):
        signs = [_INDEXED.get(stem, stem), "_", "{", *letters, "}"]
        return [("char", sign, place) for sign in signs if sign]
    greek = next((name for name in table if name_latex(name) == name_latex(text)), None)
    if greek is not None:
        return [("char", greek, place)]
    if re.fullmatch(r"I_\d", text) and following == "(":
        return [("char", part, place) for part in ("I", "_", "{", text[2], "}")]
    known = text in TABLE or text in FRONTS or text in OPERATORS or text in FUNCTIONS or text in ("tr", "relu")
    if text in ("pi", "π"):
        return [("command", r"\pi", place)]
    if text in ("σ", "sigma") and following in ("(", "'"):
        return [("command", r"\sigma", place)]
    if known and (following == "(" or len(text) > 2):
        plain = {"log": r"\log", "exp": r"\exp", "sin": r"\sin", "cos": r"\cos", "tanh": r"\tanh"}.get(text)
        return [("command", plain, place)] if plain else [("name", rf"\operatorname{{{text}}}", place)]
    if all(c in table for c in text):
        return [("char", c, place + j) for j, c in enumerate(text)]
    return [("char", text, place)]


# ---------------------------------------------------------------------------------------------- any of them


def is_latex(text: str) -> bool:
    """Whether a text is LaTeX rather than plain."""
    return "\\" in text or "_{" in text or "^{" in text


def position(error: Exception) -> float:
    """How far reading got before an error."""
    found = re.search(r"position (\d+)", str(error))
    return float(found[1]) if found else 0.0


def read_function(text: str, shapes: Mapping[str, Any]) -> Term:
    """The term of a function given as text."""
    if is_latex(text):
        return read_latex(text, shapes)
    try:
        return read_numpy(text, shapes)
    except (FormulaError, NameProblem) as error:
        try:
            return read_matrices(text, shapes)
        except (FormulaError, NameProblem) as other:
            misfits = [e for e in (error, other) if isinstance(e, ProductMisfit)]
            raise max(misfits or (error, other), key=position) from None

"""Terms: the array-level formula language.

A term is immutable plain data ``(op, args, params)`` with a shape and a dtype, and equal terms are the same object.
Sizes in shapes are ints or *letters* (strings such as ``"n"`` or ``"n*m"``), so a formula is the same object for
n = 10 and n = 1000.  Terms flow through ops as a carrier: the rules of the table build formulas from them.  Terms keep
the program as it was written; :mod:`symgrad.formula.canonical.simplify` makes the canonical form.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from symgrad import dtypes
from symgrad.errors import ArgumentError, FormulaError, SymgradError
from symgrad.op import TABLE, Op, carrier_of, lookup, register, register_carrier, shape_of
from symgrad.op.operators import Operand, bind_operators
from symgrad.ops.rules.constants import Constant, NamedFloat
from symgrad.ops.shapes.sizes import letters_of, size_value

_FLOAT = dtypes.float64


class _Entry(weakref.ref["Term"]):
    """Where a term is kept as long as something else holds it; half the time of a ``WeakValueDictionary``."""

    __slots__ = ("key",)
    key: Any


_INTERNED: dict[Any, _Entry] = {}


def _forget(entry: _Entry) -> None:
    if _INTERNED.get(entry.key) is entry:
        del _INTERNED[entry.key]


def _leaf(name: str) -> Op:
    def kernel(*_: Any, **__: Any) -> Any:
        raise FormulaError(
            f"a formula's {name} has no value of its own; evaluate the formula with values for its symbols"
        )

    return register(Op(name, "leaf", kernel, ()))


SYMBOL = _leaf("symbol")
NUMBER = _leaf("number")
SIZE = _leaf("size")


class Term(Operand):
    """One node of a formula.  Build terms with ops and operators, or :func:`symbol` and :func:`number`."""

    __slots__ = ("__weakref__", "args", "dtype", "op", "params", "shape")

    op: Op
    args: tuple[Term, ...]
    params: dict[str, Any]
    shape: tuple[Any, ...]
    dtype: Any
    __array_ufunc__ = None
    __iter__ = None  # not by __getitem__, which takes any index and would never end

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def number(self) -> Any:
        """The value of a constant (int, Fraction, float, complex, bool), else None."""
        return self.params["value"] if self.op is NUMBER else None

    @property
    def name(self) -> str | None:
        """The name of a symbol or the letter of a size, else None."""
        return self.params.get("name") if self.op is SYMBOL or self.op is SIZE else None

    @property
    def squared(self) -> Term | None:
        """``x`` of x·x, x² and square(x), else None."""
        name, args = self.op.name, self.args
        whole = name == "square" or (name == "pow" and args[1].number == 2) or (name == "mul" and args[0] is args[1])
        return args[0] if whole else None

    @property
    def complex_dtype(self) -> bool:
        """Whether it is an array of complex numbers."""
        return self.dtype is not None and self.dtype.kind == "c"

    @property
    def real_dtype(self) -> bool:
        """Whether it is an array of real floats."""
        return self.dtype is not None and dtypes.is_real_floating(self.dtype)

    @property
    def weak_complex(self) -> bool:
        """Whether it is a formula of numbers with a complex one among them, such as conj(2i)."""
        return is_complex_constant(self)

    def sizes(self, dim: tuple[int, ...]) -> Term:
        """Number of entries along ``dim``."""
        return size_product([self.shape[k] for k in dim])

    def full_like(self, value: int) -> Term:
        """A constant of this shape and dtype."""
        return full(self.shape, value, self.dtype)

    def labels(self) -> Any:
        """Of a multilinear op: the labels of the operands' axes, and those of the result."""
        return self.op.einsum(*(a.shape for a in self.args), **self.params)

    def fits(self, other: Term) -> bool:
        """Whether it has the shape and the dtype of another."""
        return self.shape == other.shape and self.dtype == other.dtype

    def with_args(self, args: tuple[Term, ...]) -> Term:
        """The same op of other arguments, of the same shapes and dtypes."""
        return self if args == self.args else make(self.op, args, self.params, self.shape, self.dtype)

    def again(self, args: tuple[Any, ...]) -> Any:
        """The op applied to other arguments, whatever their shapes and dtypes."""
        return self if args == self.args else self.op(*args, **self.params)

    def relabelled(self, shape: tuple[Any, ...]) -> Term:
        """The same term with its sizes written otherwise."""
        return make(self.op, self.args, self.params, tuple(shape), self.dtype)

    def __repr__(self) -> str:
        return f"<term {describe(self)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (rebuild, (flatten([self]),))

    def __bool__(self) -> bool:
        raise FormulaError(
            "a formula has no truth value: a rule or function branched on a value; use where(condition, a, b)"
        )

    def __getitem__(self, index: Any) -> Term:
        from symgrad.ops.indexing.getitem import getitem

        return getitem(self, index)  # type: ignore[no-any-return]


bind_operators(Term, by_identity=True)


# ---------------------------------------------------------------------------------------------- building


def frozen(params: dict[str, Any]) -> tuple[Any, ...]:
    """Hashable form of params; numbers keep their type, so that 1, 1.0 and True stay apart."""
    if not params:
        return ()
    items = params.items() if len(params) == 1 else sorted(params.items())
    return tuple([(k, v.__class__, repr(v) if isinstance(v, (float, complex)) else v) for k, v in items])


def make(op: Op, args: tuple[Term, ...], params: dict[str, Any], shape: tuple[Any, ...], dtype: Any) -> Term:
    """The one term with these parts."""
    key = (op.name, args, frozen(params) if params else (), shape, dtype)
    entry = _INTERNED.get(key)
    found = None if entry is None else entry()
    if found is None:
        found = Term()
        found.op, found.args, found.params, found.shape, found.dtype = op, args, params, shape, dtype
        entry = _INTERNED[key] = _Entry(found, _forget)
        entry.key = key
    return found


def symbol(name: str, shape: tuple[Any, ...] = (), dtype: Any = _FLOAT, structure: str | None = None) -> Term:
    """The symbol of an array.

    >>> symbol("X", ("n", "m")).shape
    ('n', 'm')
    """
    params = {"name": name} if structure is None else {"name": name, "structure": structure}
    return make(SYMBOL, (), params, tuple(shape), np.dtype(dtype))


def own_symbol(word: str, shape: tuple[Any, ...] = (), dtype: Any = _FLOAT) -> Term:
    """A symbol of the library's own, ``@word``: what users call their tensors is another one, whatever it is.

    >>> own_symbol("cotangent").name
    '@cotangent'
    """
    return symbol(f"@{word}", shape, dtype)


def number(value: Any, dtype: Any = None) -> Term:
    """A constant; ints and Fractions stay exact."""
    if isinstance(value, (np.generic, np.ndarray)):
        dtype, value = value.dtype, value.item()
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53 and math.copysign(1, value) > 0:
            value = int(value)
    elif isinstance(value, Fraction) and (value.denominator == 1 or value.__class__ is not Fraction):
        value = int(value) if value.denominator == 1 else Fraction(value)
    return make(NUMBER, (), {"value": value}, (), dtype)


def size_letter(letter: Any) -> Term:
    """A size as a term: an int, a letter, a product such as ``"n*m"``, or a sum as it is written."""
    if isinstance(letter, (int, np.integer)):
        return number(int(letter))
    if "*" in letter and "+" not in letter and "-" not in letter:
        return size_product(letter.split("*"))
    return make(SIZE, (), {"name": letter}, (), dtypes.int64)


def size_product(letters: Sequence[Any]) -> Term:
    """Product of sizes."""
    out: Term | None = None
    for letter in letters:
        factor = size_letter(int(letter) if isinstance(letter, str) and letter.isdigit() else letter)
        if factor.number == 1:
            continue
        out = factor if out is None else apply(lookup("mul"), (out, factor), {})
    return number(1) if out is None else out


def full(shape: tuple[Any, ...], value: Any, dtype: Any) -> Term:
    """A constant array; a plain number for shape ()."""
    return number(value, dtype) if not shape else make(
        lookup("full"), (), {"shape": tuple(shape), "value": value, "dtype": np.dtype(dtype).name}, tuple(shape),
        np.dtype(dtype),
    )  # fmt: skip


def as_term(value: Any) -> Term:
    """A term of a number, an exact constant or a term."""
    if isinstance(value, Term):
        return value
    if isinstance(value, NamedFloat):
        value = value.exact
    if isinstance(value, Constant):
        return _exact_constant(value)
    if isinstance(value, (bool, int, float, complex, Fraction, np.generic)):
        return number(value)
    if isinstance(value, np.ndarray) and not value.ndim:
        return number(value)
    raise ArgumentError(
        f"ops take tensors, arrays, numbers and terms, not {type(value).__name__} ({value!r:.40}); "
        "a symbol of a formula is a value with a name: symgrad.tensor(..., name=...)"
    )


def _exact_constant(value: Constant) -> Term:
    if isinstance(value.op, str):
        return number(value.args[0]) if value.args else make(NUMBER, (), {"value": value.op}, (), None)
    return apply(value.op, tuple(as_term(a) for a in value.args), value.params)  # type: ignore[no-any-return]


def constant_value(term: Term) -> Any:
    """The constant a term stands for everywhere: of a number or a constant array; None otherwise."""
    if term.op is NUMBER:
        return term.params["value"]
    return term.params["value"] if term.op.name == "full" else None


def is_zero(term: Term) -> bool:
    """Whether a term is the number 0 or an array of zeros."""
    value = constant_value(term)
    return value is not None and not isinstance(value, str) and value == 0


Short = Callable[[Any, Any, Any, Any], "Term | None"]
"""What a term is short for: ``(args, shape, dtype, params)`` to a term, or None."""


class Shortcuts(dict[str, "Short | None"]):
    """What terms of each op are short for; of ops that are not here, ``found`` is asked once.  See ``shortcuts``."""

    def __init__(self, rules: Mapping[str, Short | None], found: Callable[[Op], Short | None]):
        super().__init__(rules)
        self.found = found

    def __missing__(self, name: str) -> Short | None:
        op = TABLE.get(name)
        return None if op is None else self.setdefault(name, self.found(op))


SHORT = Shortcuts({}, lambda _: None)


def apply(
    op: Op,
    args: tuple[Any, ...],
    params: dict[str, Any],
    shortcuts: Shortcuts = SHORT,
) -> Any:
    """Apply an op to terms: infer shape and dtype, drop what does nothing, and intern."""
    terms = tuple([a if a.__class__ is Term else as_term(a) for a in args])
    if op.spelled:
        return op.define(*terms, **params)  # type: ignore[misc]
    if op.infer is None:
        raise FormulaError(f"op {op.name!r} states no shape rule")
    shape = tuple(op.infer(*[t.shape for t in terms], **params))
    dtype = _infer_dtype(op, terms, params)
    rule = shortcuts[op.name]
    short = None if rule is None else rule(terms, shape, dtype, params)
    return short if short is not None else make(op, terms, params, shape, dtype)


def remade(term: Term, args: tuple[Term, ...]) -> Term:
    """A term with other arguments of the same shapes and dtypes."""
    rule = SHORT[term.op.name]
    short = None if rule is None else rule(args, term.shape, term.dtype, term.params)
    return short if short is not None else make(term.op, args, term.params, term.shape, term.dtype)


register_carrier(Term, 1, apply)
register_carrier(str, 1, apply)  # size letters


def _infer_dtype(op: Op, terms: tuple[Term, ...], params: dict[str, Any]) -> Any:
    found = [t.dtype for t in terms]
    if op.result is not None and None not in found:
        return np.dtype(op.result(*found, **params))
    out = None
    for dtype in found[1:] if op.name == "where" else found:
        if dtype is not None and dtype is not out:
            out = dtype if out is None or out == dtype else dtypes.result_type(out, dtype)
    if out is not None and None in found:
        for t in terms:
            if t.dtype is None and not isinstance(t.number, (str, Fraction)):
                weak = t.number if t.op is NUMBER else 1j if is_complex_constant(t) else None
                out = dtypes.weak_with(weak, out) if weak is not None else out
    if op.result is not None:
        return np.dtype(op.result(*[out or _FLOAT for _ in found], **params))
    if op.dtypes == "float" and out is not None and out.kind in "bui":
        return dtypes.get_default_dtype() if not any(t.op is SIZE for t in terms) else None
    return out


def is_complex_constant(term: Term) -> bool:
    """Whether a formula of numbers, such as 1 + i, has a complex number in it; it has no dtype that tells."""
    return term.dtype is None and any(isinstance(t.number, complex) for t in postorder([term]))


# ---------------------------------------------------------------------------------------------- walking


def postorder(roots: Iterable[Term], known: Container[Term] = ()) -> list[Term]:
    """Every term below the roots once, arguments before users, and nothing that is known; no recursion."""
    seen: set[Term] = set()
    out: list[Term] = []
    above: list[Term] = []  # whose arguments are being looked at, and where in them
    ways: list[Iterator[Term]] = []
    way = iter(roots)
    while True:
        for term in way:
            if term in seen or (known and term in known):
                continue
            seen.add(term)
            if term.args:
                above.append(term)
                ways.append(way)
                way = iter(term.args)
                break
            out.append(term)
        else:
            if not ways:
                return out
            out.append(above.pop())
            way = ways.pop()


def count(*roots: Term) -> int:
    """Number of distinct terms, the measure of a formula's size."""
    return len(postorder(roots))


def symbols(*roots: Term) -> list[Term]:
    """The symbols in order of first appearance."""
    return [t for t in postorder(roots) if t.op is SYMBOL]


def rebuilt(
    roots: Sequence[Term],
    change: Callable[[Term, tuple[Any, ...]], Any],
    order: Iterable[Term] | None = None,
    only: Container[str] | None = None,
) -> list[Any]:
    """Map ``change(term, new args)`` over the graph, arguments first; gives the images of the roots.

    ``order``: their :func:`postorder`, where it is known.  ``only``: the names of the ops that ``change`` looks at;
    terms of others are made with their new arguments.
    """
    image: dict[Term, Any] = {}  # of terms that are not their own
    for term in postorder(roots) if order is None else order:
        args = term.args
        if image:
            for a in args:
                if a in image:
                    args = tuple([image.get(a, a) for a in args])
                    break
        if only is None or term.op.name in only:
            made = change(term, args)
        elif args is term.args:
            continue
        else:
            made = make(term.op, args, term.params, term.shape, term.dtype)
        if made is not term:
            image[term] = made
    return [image.get(r, r) for r in roots]


def substitute(roots: Sequence[Term], values: dict[Term, Any]) -> list[Any]:
    """Replace terms (usually symbols) by others; everything above is rebuilt by its ops."""

    def change(term: Term, args: tuple[Any, ...]) -> Any:
        if term in values:
            return values[term]
        return term.again(args)

    return rebuilt(roots, change)


def evaluate(
    root: Term,
    values: dict[str, Any],
    sizes: dict[str, int] | None = None,
    known: Mapping[Term, Any] = MappingProxyType({}),
) -> Any:
    """The number a formula has for given arrays by symbol name; letters are read from their shapes.

    ``sizes`` gives the letters that stand in no symbol of the formula (the gradient of a mean holds only a size), and
    ``known`` the numbers of parts that need not be found again.

    >>> x = symbol("x", ("n",))
    >>> evaluate(lookup("sum")(x * 2, dim=(0,), keepdim=False), {"x": np.array([1.0, 2.0])})
    np.float64(6.0)
    """
    letters: dict[str, int] = dict(sizes or {})
    out = images([root], values, letters, known)[root]
    return (
        np.broadcast_to(out, tuple(size_value(s, letters) for s in root.shape))
        if shape_of(out) == () != root.shape
        else out
    )


def images(
    roots: Iterable[Term],
    values: dict[str, Any],
    letters: dict[str, int],
    known: Mapping[Term, Any] = MappingProxyType({}),
) -> dict[Term, Any]:
    """The number of every term below the roots down to the known ones; letters of shapes go to ``letters``."""
    roots = list(roots)
    terms = postorder(roots, known)
    image: dict[Term, Any] = {t: known[t] for t in (*roots, *(a for t in terms for a in t.args)) if t in known}
    for t, value in image.items():
        for letter, n in zip(t.shape, shape_of(value), strict=False):
            if isinstance(letter, str):
                letters.setdefault(letter, n)
    for t in terms:
        if t.op is SYMBOL:
            if t.params["name"] not in values:
                raise FormulaError(f"no value was given for {t.params['name']!r}")
            for letter, n in zip(t.shape, shape_of(values[t.params["name"]]), strict=True):
                if isinstance(letter, str) and letters.setdefault(letter, n) != n:
                    raise FormulaError(
                        f"{t.params['name']} has size {n} where {letter} = {letters[letter]} was read from another "
                        "symbol"
                    )
    for t in terms:
        for letter in letters_of(t.params["name"]) if t.op is SIZE else ():
            if letter not in letters:
                raise FormulaError(
                    f"the size {letter} stands in no symbol of the formula; give it with sizes={{{letter!r}: …}}"
                )
    with np.errstate(all="ignore"):
        for t in terms:
            args = [image[a] for a in t.args]
            try:
                image[t] = _value(t, args, values, letters)
            except ValueError as error:
                if isinstance(error, (SymgradError, np.linalg.LinAlgError)):
                    raise
                shapes = " and ".join(str(tuple(shape_of(a))) for a in args)
                raise FormulaError(f"{describe(t)} does not fit operands of shape {shapes}: {error}.") from None
    return image


def _value(t: Term, args: list[Any], values: dict[str, Any], letters: dict[str, int]) -> Any:
    if t.op is SYMBOL:
        return values[t.params["name"]]
    if t.op is SIZE:
        return size_value(t.params["name"], letters)
    if t.op is NUMBER:
        value = t.params["value"]
        if isinstance(value, str):
            return math.pi
        return float(value) if isinstance(value, Fraction) else value
    params = concrete(t.op, t.params, letters)
    if t.op.kind != "elementwise":  # what adds up or turns entries asks for their dtype
        args = [_typed(a, x.dtype) for a, x in zip(args, t.args, strict=True)]
    narrow = any(dtypes.is_narrow(getattr(a, "dtype", None)) for a in args)
    narrow = narrow and all(carrier_of(a.__class__) is None for a in args)  # tensors see to it themselves
    return t.op.in_float32(args, params) if narrow else t.op(*args, **params)


def _typed(value: Any, dtype: Any) -> Any:
    """A Python number, or a product of such, as one of NumPy's."""
    return np.asarray(value, dtype)[()] if value.__class__ in _PLAIN else value


_PLAIN = (bool, int, float, complex)


def concrete(op: Op, params: dict[str, Any], letters: dict[str, int]) -> dict[str, Any]:
    """Params with the letters of size parameters replaced by numbers."""
    return with_sizes(op, params, lambda size: size_value(size, letters))


def with_sizes(op: Op, params: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Params with every size changed."""
    if not op.size_params:
        return params
    out = dict(params)
    for key in op.size_params:
        value = out[key]
        out[key] = tuple(map(change, value)) if isinstance(value, tuple) else change(value)
    return out


# ---------------------------------------------------------------------------------------------- plain data


def flatten(roots: Sequence[Term]) -> dict[str, Any]:
    """Plain data of a formula: a list of nodes with positions for arguments."""
    order = postorder(roots)
    place = {t: k for k, t in enumerate(order)}
    nodes = [(t.op.name, [place[a] for a in t.args], t.params, t.shape, t.dtype) for t in order]
    return {"nodes": nodes, "roots": [place[r] for r in roots]}


def rebuild(data: dict[str, Any]) -> Any:
    """The (first) term of :func:`flatten`'s data."""
    made: list[Term] = []
    for name, args, params, shape, dtype in data["nodes"]:
        made.append(make(lookup(name), tuple(made[k] for k in args), params, tuple(shape), dtype))
    return made[data["roots"][0]]


def describe(term: Term, budget: int = 60) -> str:
    """Short text of a term for messages."""
    if term.op is SYMBOL or term.op is SIZE:
        return str(term.params["name"])
    if term.op is NUMBER:
        return str(term.params["value"])
    inner = ", ".join(
        a.params["name"] if a.op is SYMBOL else str(a.number) if a.op is NUMBER else "…" for a in term.args
    )
    return f"{term.op.name}({inner})"[:budget]

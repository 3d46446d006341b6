"""The record of an op, and the table of them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import BLOCK, SINGLE, float32, float64, is_narrow, rounded_to, widened
from symgrad.errors import ArgumentError, SymgradError
from symgrad.op.carriers import CARRIERS, Carrier, carrier_of, is_complex
from symgrad.op.needs import KEEP, read_arguments
from symgrad.op.partials import zeroed
from symgrad.op.refusals import by_kind
from symgrad.op.tables import FEW, looked_up

_f64 = np.float64
Rule = Callable[..., Any]
Labels = tuple[int, ...]
Spec = tuple[tuple[Labels, ...], Labels]


def title(name: str) -> str:
    """A function's name as torch's nodes write it.

    >>> title("adaptive_avg_pool2d"), title("log1p"), title("nn.functional.cosine_similarity")
    ('AdaptiveAvgPool2D', 'Log1P', 'CosineSimilarity')
    """
    return name.rpartition(".")[2].title().replace("_", "")


class Op:
    r"""One operation: everything symgrad knows about it, as data.

    name        the table's key and the formula's function name
    kind        "elementwise", "multilinear" or "primitive"
    kernel      NumPy function ``(*arrays, **params)``
    single      the kernel of float32 and complex64 operands, where torch's last digit needs another
    half        the same of float16 and bfloat16, where computing in float32 and rounding once is not what torch does;
                NotImplemented for arguments of which it is
    imaginary   the same of complex operands, where NumPy's has no digits; it rounds to complex64 itself
    run         what is called on arrays: the kernel, or a choice between these and ``scalar``
    scalar      the same for one Python float, where ``math`` is faster than NumPy: what float64 without axes runs
    vjps, jvps  per-input rules, or None where an input has no derivative
    partials    elementwise only: the derivative factor per input, ``(out, *inputs)``
    einsum      multilinear only: ``(*shapes, **params) -> (labels per input, labels of the output)``
    infer       ``(*shapes, **params) -> shape``, on ints and size letters alike; where a primitive says nothing, the
                shape of its first operand
    result      dtype of the result as ``(*dtypes, **params) -> dtype``; None means the promoted one
    define_symbolic  how a node of the tape becomes a term, for ops that are not in the table (custom functions)
    define      the op in terms of others, where the formula should show them (``mean`` is sum over size)
    spelled     formulas hold the definition in place of the op
    expanded    formulas hold the op, and where they are read they show the definition
    c           the op on numbers in C99: a format text with ``{0}``, ``{1}`` … of operands of one type, in functions of
                <math.h> or of the C target's library
    code        ``(*argument texts, **params) -> text``; None means "call the kernel as a helper function"
    weak        whether the kernel takes Python numbers among its operands as they are, and not as NumPy's scalars only;
                None: where the op is elementwise
    method      of a reduction: the method of NumPy's arrays that does the same, which takes less time than the function
    boxed       True where the kernel gives an array of no axes, and no scalar, for operands without axes
    aliased     True where NumPy's result shows the operand's memory though torch's does not
    sympy       name of the SymPy function, for elementwise ops that SymPy has
    digits      the op in many digits: a function ``(mp, *numbers, **params)`` in the arithmetic of a context of mpmath,
                of arrays where the op is not elementwise; "kernel" where the kernel takes any numbers (those of views
                and multilinear ops do), "order" where it only asks which are larger; "floats" where
                it has none, as its value is a matter of floats; None: as defined, or as in SymPy
    called      what formulas call the function, in LaTeX, where it is not its name as an upright word: ``\arcsin``,
                ``\mathrm{Si}``, ``\log \Gamma``; the printers and the readers of formulas follow
    dtypes      "float": integers and bool become the default dtype first; "number": bool becomes int64
    refuses     dtypes that the op has no kernel for: their kinds (NumPy's letters, "b" bool, "u" and "i" integers, "f"
                floats, "c" complex; "h" float16 and bfloat16), or a dict from kinds to the words of the error, "?" for
                a bool operand even where the others widen it; see :func:`refusal`
    refuses_back  what the derivative refuses though the op does not: ``(i, *dtypes, **params) -> words or None``, with
                the dtypes of the operands as given (None for a number) and ``i`` the one whose gradient is asked
    numbers     what torch makes of a number among the operands, where no input of the node: a "setting"; "within", a
                tensor that the node does not show; or "after", a tensor that a later step meets
    node        torch's node name (without ``Backward0``), or a function ``(*shapes, **params)`` giving it
    node_by_numbers  torch's names where it depends on which operands are numbers: by these
    saves       positions (-1 the output) that are kept for the backward pass though no rule reads them: torch does,
                and objects when they are changed; the output of tensors only, not of a number among them; a dict where
                it depends on the operands whose gradients are asked: by these
    together    of a primitive: its operands are brought to a common dtype first, as those of the other kinds are
    settings    positions of operands that are plain numbers; where a gradient by one is asked all the same, the op is
                taken for what it is defined as
    condition   position of an operand that chooses and is not computed with: it stays bool
    layout      how results of several axes lie in memory where not row by row: "columns" (those of LAPACK), or "kept",
                as the first operand does; those of entrywise ops lie as their operands do anyway
    mirrors     True where the gradient of a matrix lies column by column in memory if the matrix does, as torch's do
    copies      True where torch saves something made of the operands, so that these may change afterwards; or a
                function of the bits of those that require grad, and of the operands, that gives the positions of
                those of which it does
    decomposed  True where torch saves what it made of the first operand (its LU factors) beside that operand itself:
                what changes through ``.data`` does not reach backward, and any other change is an error
    keeps       whether parameters count as saved (index arrays), as a function of the parameters
    underived   words for what has a derivative instead, where torch has none for the op: whoever asks gets its error
    structural  ``(i, *inputs) -> keep``: where the cotangent of input ``i`` is not a structural zero; or None
    spare       positions (as in ``needs``) of values that the rules read only under another convention at kinks; they
                find None there otherwise
    parity      "odd" or "even" functions: f(-x) is -f(x) or f(x)
    rises       True where no entry of the result falls when an entry of an operand grows
    bounds      the numbers between which the values lie where the operands are real: ``(lowest, highest)``
    halves      what the op is where its operand is below 0 and where it is above, as functions of it or numbers
    identity    True where the values are those of the operand: what differs is the memory, or the history
    entrywise   True where each entry of the result is made of the operands' entries at its place: elementwise ops, and
                those primitives that have rules of their own only because of dtypes or parameters
    linear      of a primitive: linear over the reals in its first operand, the only one that has a derivative
    stacks      True of a primitive that acts on stacks of its operands once its axis parameters are moved behind the
                new axes in front, as those that are linear in their only operand do; "column" where the last operand
                may also be a vector, which stands for a column; "shared" where the last two operands decide together
                how it is computed, so that it acts on stacks of the others only
    triangle    True where only one triangle of a matrix is read: it stands for a symmetric one
    orthonormal  the axes of a matrix over which its product with itself is the identity
    along       True where the op acts on each line along its axis ``dim`` (those that ``widths`` widen) for itself
    mixes       the axes along which an entry of the result depends on entries of the operands anywhere: the parameter
                that names them, or how many axes at the end; along all others it depends on those at its own place.
                None where that follows from other fields, or nothing is known
    decomposes  of a part of a matrix decomposition: its kind, and the letter of the part in textbooks
    phases      True where complex operands leave the phases of the result free: two ways to compute it may differ; the
                axis along which its vectors lie (-1: conjugated rows, -2: columns) where no derivative may depend on
                them
    loses       "digits" where formulas with the op may overflow or cancel though their values are ordinary numbers;
                "activation" where they do so in the functions of networks, which are looked at on demand
    fails       ``(*values)`` to torch's words where there is no result: LAPACK finds none, or integers are divided by 0
    work        floating-point operations, where not one per entry: ``(*shapes, **params)`` to products of sizes with
                their factors, ``[(2, ("n", "n", "k"))]`` for 2 n² k; or "unknown" where values decide
    regular     ``(i, condition)``: where the value and the derivative are finite, as text about operand ``i``
    overflows   True where NumPy warns of large operands, for which the value or the derivative is infinite
    quiet       the kind of warning that NumPy gives on the way to a value that is right ("over", "invalid")
    chooses     True where values may be left out: a warning about one of these means nothing
    place       ``(*shapes, **params)``: the index, as text, of the entries of zeros that the first operand fills, each
                once; None where an entry may get several
    opposite    of a comparison: the name of the one that holds where it does not
    turned      of a comparison: the name of the one that says the same with the operands exchanged
    twins       names of the functions of the same arguments that people write in its place by mistake, or it in theirs
    among       positions of the operands of which one is taken, entry by entry
    turn        positions of the operands, from 1, in the order in which torch saves them, by its names of them: else a
                later operand of an entrywise op comes first
    ascends     True where the entries of the first operand must ascend: among others the value means nothing
    folds       of an op that joins entries: the function that joins all along axes, the one that joins them one after
                the other, and the number that changes nothing, None where there is none
    domain      sampling interval per input, for the op-table test and the docs card: "real" unless stated
    example     what shows on its card what the op does, where numbers of its domain do not: operands, as a number, a
                list, "vector" or "matrix", and the parameters last
    samples     operands and parameters to try the laws on, as functions of a maker of operands (``op.sampling``);
                None: made from the domain
    kinks       points where the derivative jumps, for the docs card and the tests
    smooth      where those are samples of many: ``(asked, *operands)`` -> the condition for there being none, with the
                positions of the operands by which derivatives are asked
    decided     in words, what holds at a kink though the slopes beside it are others
    view        ``(array, **params)``: the memory of the array that the op shows, where its result is a view as in
                torch; a result that NumPy had to copy is none; True where the kernel is that
    put_back    of a view: ``(whole, part, **params)``, the whole with what the op shows of it replaced by the part;
                None where the part has all entries of the whole in their order
    shares      True where the result is the operand's own memory though no view with a history (``detach``)
    retaken     True for a view that strides cannot say: after a change torch takes it once more
    copy        True for a copy: outside of inference mode it is recorded of inference tensors, too
    factor      True where a 0-d operand scales the other: a constant made without a dtype takes that of the 0-d one,
                and half precision meets a 0-d second one of another dtype unrounded
    rounds      True where torch rounds a number to half precision before it computes: terms, though not factors
    indirect    True where torch saves views that it made of the operands: these may be detached in place, or get other
                ``data``, and backward reads what they were; or a function of the node that says of which operands
    fused       where torch computes the derivative in one kernel: its node's word, and the position of what it reads
                besides the cotangent (-1 the output, None nothing)
    once        True where a derivative of several ops is rounded once in half precision, as torch has one kernel for
                it; when the pass is recorded torch takes the steps
    words       other names that torch has for its arguments, with those of the call (``input`` and ``other``)
    variadic    True when the op takes any number of arrays (``cat``, ``stack``, ``einsum``)
    """

    name: str
    kind: str
    kernel: Rule
    vjps: Any
    conj_vjps: Any
    jvps: Any
    single: Rule | None
    half: Rule | None
    imaginary: Rule | None
    run: Rule
    scalar: Callable[[float], float] | None
    partials: tuple[Any, ...] | None
    einsum: Callable[..., Spec]
    infer: Callable[..., Sequence[Any]] | None
    result: Callable[..., Any] | None
    dtypes: str | None
    refuses: dict[str, str]
    refuses_back: Callable[..., str | None] | None
    saves: tuple[int, ...] | dict[int, tuple[int, ...]] | None
    mirrors: bool | None
    copies: bool | Callable[..., tuple[int, ...]] | None
    decomposed: bool | None
    together: bool | None
    condition: int | None
    layout: str | None
    keeps: Callable[..., bool] | None
    define: Rule | None
    define_symbolic: Callable[..., Any] | None
    c: str | None
    code: Callable[..., str] | None
    weak: bool | None
    method: str | None
    boxed: bool | None
    aliased: bool | None
    size_params: tuple[str, ...] | None
    spare: tuple[int, ...] | None
    spelled: bool | None
    expanded: bool | None
    structural: Callable[..., Any] | None
    underived: str | None
    sympy: str | None
    digits: Rule | str | None
    called: str | None
    numbers: str | None
    settings: tuple[int, ...] | None
    node: Any
    node_by_numbers: dict[tuple[bool, ...], str] | None
    parity: str | None
    rises: bool | None
    bounds: tuple[float, float] | None
    halves: tuple[Any, Any] | None
    identity: bool | None
    entrywise: bool | None
    linear: bool | None
    stacks: bool | str | None
    triangle: bool | None
    orthonormal: tuple[int, ...] | None
    along: bool | None
    mixes: str | int | None
    decomposes: tuple[str, str] | None
    phases: bool | int | None
    loses: str | None
    fails: Callable[..., str] | None
    work: Callable[..., Sequence[tuple[Any, tuple[Any, ...]]]] | str | None
    regular: tuple[int, str] | None
    overflows: bool | None
    quiet: str | None
    chooses: bool | None
    place: Callable[..., str | None] | None
    opposite: str | None
    turned: str | None
    twins: tuple[str, ...] | None
    among: tuple[int, ...] | None
    turn: tuple[int, ...] | None
    ascends: bool | None
    folds: tuple[str, str, float | None] | None
    domain: Any
    example: tuple[Any, ...] | None
    samples: list[Callable[..., tuple[tuple[Any, ...], dict[str, Any]]]] | None
    kinks: Any
    smooth: Callable[..., Any] | None
    decided: str | None
    doc: str
    variadic: bool
    view: Callable[..., Any] | None
    put_back: Rule | None
    shares: bool | None
    retaken: bool | None
    copy: bool | None
    factor: bool | None
    rounds: bool | None
    indirect: Any
    fused: tuple[str, int | None] | None
    once: bool | None
    words: dict[str, str] | None
    _needs: dict[tuple[int, bool, bool], tuple[tuple[int, ...], tuple[int, ...]]]

    __slots__ = tuple(__annotations__)

    def __init__(self, name: str, kind: str, kernel: Rule, vjps: Sequence[Rule | None] | Rule, **fields: Any):
        self.name = name
        self.kind = kind
        self.kernel = kernel
        self.vjps = vjps
        self.conj_vjps = vjps
        self._needs = {}
        self.variadic = callable(vjps)
        self.node = None
        if fields.get("view") is True:
            fields["view"] = kernel
        for field in Op.__slots__:
            if field not in ("name", "kind", "kernel", "vjps", "conj_vjps", "_needs", "variadic", "run"):
                setattr(self, field, fields.pop(field, None))
        if fields:
            raise SymgradError(f"op {name!r}: unknown fields {sorted(fields)}; the fields are {Op.__slots__}.")
        plain = self.single is None and self.scalar is None and self.imaginary is None
        self.run = kernel if plain else choosing(self)
        self.refuses = by_kind(self.refuses)
        self.node = self.node or ("NotImplemented" if self.underived else title(name))

    @property
    def told(self) -> str:
        """What the op does, in the words of the function's call: ``input`` and ``other`` for x and y.

        >>> lookup("log1p").doc, lookup("log1p").told
        ('log(1 + x).', 'log(1 + input).')
        """
        first = re.sub(r"(?<!\w)x(?![a-zA-Z0-9_])", "input", self.doc)  # also that of x²
        return re.sub(r"(?<!\w)y(?![a-zA-Z0-9_])", "other", first)

    def __call__(self, *args: Any, **params: Any) -> Any:
        """Apply the op to what flows: the highest-ranked carrier among the arguments decides how."""
        carrier = None
        for arg in args:
            try:
                found = CARRIERS[arg.__class__]
            except KeyError:
                found = carrier_of(arg.__class__)
            if found is not None and (carrier is None or found.rank > carrier.rank):
                carrier = found
        if carrier is None and not args:
            carrier = self._carrier_of_sizes(params)
        if carrier is None:
            return self.run(*args, **params)
        return carrier.apply(self, args, params)

    def of(self, x: Any) -> Any:
        """``self(x)`` for rules of the commonest ops: sooner where NumPy's doubles come, which run the kernel."""
        kind = x.__class__
        if kind is _f64:
            return self.kernel(x) if self.scalar is None else self.of_number(x)
        return self.kernel(x) if kind is np.ndarray and x.ndim and x.dtype is float64 else self(x)

    def chosen(self, dtype: Any) -> Rule:
        """The kernel that runs when the first operand has this dtype, which is not half precision."""
        if self.imaginary is not None and dtype.kind == "c":
            return self.imaginary
        return self.kernel if self.single is None or dtype.char not in SINGLE else self.single

    def of_number(self, x: Any) -> Any:
        """The op on one float64 without axes, by ``scalar``; where ``math`` raises, NumPy has inf or nan."""
        try:
            return _f64(self.scalar(x))  # type: ignore[misc]
        except (ValueError, OverflowError):
            return self.kernel(x)

    def in_float32(self, arrays: Sequence[Any], params: dict[str, Any], tables: bool = True) -> Any:
        """The kernel on float16 or bfloat16: computed in float32 and rounded once, as in torch; many by ``tables``."""
        x = arrays[0]
        if tables and self.kind == "elementwise" and len(arrays) == 1 and x.__class__ is np.ndarray and x.size > FEW:
            found = looked_up(self, x, params)
            if found is not None:
                return found
        if self.entrywise and _many_alike(arrays):
            return self._in_blocks(arrays, params)
        return self._in_float32(arrays, params)

    def _in_blocks(self, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        """The same of neighbouring entries, block by block: what is made in float32 stays in the processor's cache."""
        flat = [a.reshape(-1) if hasattr(a, "dtype") else a for a in arrays]
        first = next(a for a in arrays if hasattr(a, "dtype"))
        out: Any = None
        for start in range(0, first.size, BLOCK):
            part = slice(start, start + BLOCK)
            found = self._in_float32([a[part] if hasattr(a, "dtype") else a for a in flat], params)
            if out is None:
                out = np.empty(first.size, found.dtype)
            out[part] = found
        return out.reshape(first.shape)

    def _in_float32(self, arrays: Sequence[Any], params: dict[str, Any]) -> Any:
        if self.half is not None:
            own = self.half(*arrays, **params)
            if own is not NotImplemented:
                return own
        if self.rounds:
            dtypes = {a.dtype for a in arrays if hasattr(a, "dtype")}
            if len(dtypes) == 1:
                arrays = [a if _exact(a) else np.asarray(a).astype(*dtypes)[()] for a in arrays]
        out = self.run(*map(widened, arrays), **params)
        found = [a.dtype for a in arrays if hasattr(a, "dtype")]
        if self.result is not None and len(found) == len(arrays):
            wanted = self.result(*found, **params)
            return out if out.dtype == wanted else rounded_to(out, wanted)
        if out.dtype != float32 or (float32 in found and not (self.factor and scales(*arrays))):
            return out
        return rounded_to(out, next(filter(is_narrow, found)))

    def _carrier_of_sizes(self, params: dict[str, Any]) -> Carrier | None:
        """An op without arrays (``eye``) is a formula when a size of it is a letter."""
        for key in self.size_params or ():
            sizes = params[key]
            if any(isinstance(size, str) for size in (sizes if isinstance(sizes, tuple) else (sizes,))):
                return carrier_of(str)
        return None

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (lookup, (self.name,))

    def pullback(self, i: int, g: Any, out: Any, inputs: Sequence[Any], params: dict[str, Any]) -> Any:
        """Cotangent of input ``i``; None when the op has no derivative there."""
        if callable(self.vjps):
            return self.vjps(i, g, out, *inputs, **params)
        rules = self.conj_vjps if is_complex(out, *inputs) else self.vjps
        rule = rules[i]
        return None if rule is None else rule(g, out, *inputs, **params)

    @property
    def by_entries(self) -> bool:
        """Whether the cotangent of an entry is multiplied by a slope there, which a structural zero must not meet."""
        return self.kind == "elementwise" or bool(self.entrywise and not self.linear)

    def differentiable(self, i: int) -> bool:
        """Whether a gradient can flow to input ``i``."""
        return callable(self.vjps) or (i < len(self.vjps) and self.vjps[i] is not None)

    def moves(self, i: int) -> bool:
        """Whether a tangent of input ``i`` goes on: where a gradient can flow, and through what no graph records."""
        rules = self.jvps
        return self.differentiable(i) or (isinstance(rules, tuple) and i < len(rules) and rules[i] is not None)

    def still(self, i: int) -> bool:
        """Whether the result stands still wherever input ``i`` moves to, as that of ``floor`` does."""
        rules = self.jvps
        return isinstance(rules, tuple) and i < len(rules) and rules[i] is zeroed

    def apart(self, i: int) -> bool:
        """Whether the op is taken for its definition where operand ``i``, a plain number else, is differentiated by."""
        return self.settings is not None and i in self.settings

    def needs(self, mask: int, number: bool = False) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """``(saved, shaped)`` for the inputs in ``mask``: positions whose value, or only shape, the rules read.

        Position -1 is the output, -2 stands for all inputs, -3-i for all inputs but ``i``, and ``FROM - i`` for those
        from ``i`` on; ``number`` where a number is among the operands.
        """
        key = (mask, KEEP.all, number)
        found = self._needs.get(key)
        if found is None:
            saved, shaped = self._find_needs(mask, number)
            spare = () if KEEP.all else self.spare or ()
            found = self._needs[key] = (tuple(p for p in saved if p not in spare), shaped)
        return found

    def _find_needs(self, mask: int, number: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        if self.kind == "multilinear":
            wanted = [i for i in range(mask.bit_length()) if mask >> i & 1]
            return (-2,) if len(wanted) > 1 else (-3 - wanted[0],), (-2,)
        if callable(self.vjps):
            saved, shaped = read_arguments(self.vjps, 2)
            return tuple(sorted(saved)), tuple(sorted(shaped))
        all_saved: set[int] = set()
        all_shaped: set[int] = set()
        for i, rule in enumerate(self.vjps):
            if rule is not None and mask >> i & 1:
                read = self.partials[i] if self.partials and callable(self.partials[i]) else rule
                saved, shaped = read_arguments(read, 0 if read is not rule else 1)
                all_saved |= saved
                all_shaped |= shaped
        asked = [i for i in range(mask.bit_length()) if mask >> i & 1]
        also = (
            self.saves if isinstance(self.saves, tuple) else [p for i in asked for p in (self.saves or {}).get(i, ())]
        )
        all_saved.update(p for p in also if p >= 0 or not number)
        return tuple(sorted(all_saved)), tuple(sorted(all_shaped - all_saved))


def _many_alike(arrays: Sequence[Any]) -> bool:
    """Whether operands are so many entries that blocks of them pay, in the same order, and numbers beside them."""
    found = [a for a in arrays if hasattr(a, "dtype")]
    shape = found[0].shape
    return found[0].size > 2 * BLOCK and all(a.shape == shape and a.flags.c_contiguous for a in found)


def _exact(operand: Any) -> bool:
    """Whether an operand is an array, or a whole number that half precision holds: kernels are faster with these."""
    return hasattr(operand, "dtype") or (operand.__class__ is int and abs(operand) <= 256)


def scales(x: Any, y: Any) -> bool:
    """Whether ``y`` is a 0-d array beside one with axes, whose dtype is then that of their product."""
    return bool(getattr(x, "ndim", 0)) and hasattr(y, "dtype") and not y.ndim


def choosing(op: Op) -> Rule:
    """The kernel, where operands of single precision and single numbers are left to others."""
    kernel, single, scalar, imaginary = op.kernel, op.single, op.scalar, op.imaginary

    def run(*xs: Any, **params: Any) -> Any:
        dtype = getattr(xs[0], "dtype", None)
        if dtype is float64:
            return op.of_number(*xs) if scalar is not None and not xs[0].ndim else kernel(*xs, **params)
        if imaginary is not None and getattr(dtype, "kind", None) == "c":
            return imaginary(*xs, **params)
        return (kernel if single is None or dtype is None or dtype.char not in SINGLE else single)(*xs, **params)

    return run


TABLE: dict[str, Op] = {}


def register(op: Op) -> Op:
    """Put an op into the table; a name is taken once."""
    if op.name in TABLE:
        raise SymgradError(f"op {op.name!r} is in the table already; an op is one entry.")
    TABLE[op.name] = op
    return op


def lookup(name: str) -> Op:
    """The op of that name.  Unknown names are an ``ArgumentError`` that lists near ones."""
    if name not in TABLE:
        import difflib

        near = difflib.get_close_matches(name, TABLE, n=3)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise ArgumentError(f"There is no op named {name!r} in the table.{hint}")
    return TABLE[name]


def unlisted(name: str) -> str:
    """The name of an op that is not in the table: one that no entry has, as rules and readers go by these.

    >>> unlisted("swish_of_mine"), unlisted("neg")
    ('swish_of_mine', 'neg_')
    """
    while name in TABLE:
        name += "_"
    return name

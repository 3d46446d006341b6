"""Compiled programs: source text that knows its arguments, checks them, and can be pickled and saved."""

from __future__ import annotations

import copy
import hashlib
import inspect
import linecache
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.compiler import passes, schedule
from symgrad.compiler.cost import Cost, cost_of
from symgrad.compiler.followed import run_followed
from symgrad.compiler.narrow import in_floats
from symgrad.compiler.scalars import is_of_numbers, warming
from symgrad.compiler.targets import eager, numpy as target
from symgrad.compiler.targets.helpers import helper_sources, unhidden
from symgrad.compiler.targets.memory import repeated
from symgrad.compiler.trace import OF_SIZES, Input, Output, Trace
from symgrad.dtypes import is_number
from symgrad.errors import ArgumentError, CompileError, DtypeError, NameProblem, ShapeError
from symgrad.formula.accurate import accurate
from symgrad.formula.accurate.collecting import collected
from symgrad.formula.resizing import resized, resized_size
from symgrad.formula.term import SIZE, flatten as flatten_terms, rebuild, rebuilt
from symgrad.guesses import OF_PROGRAMS, missing
from symgrad.ops.shapes.sizes import letters_of, size_value
from symgrad.tape import containers
from symgrad.tape.formulas.fitting import has_sizes
from symgrad.tape.record import Recorded
from symgrad.tape.watching.following import is_followed
from symgrad.timing import timed


class Argument:
    """What a program knows of one array it takes."""

    __slots__ = ("default", "dtype", "name", "shape")

    def __init__(self, name: str, shape: tuple[Any, ...], dtype: Any, default: Any = None):
        self.name = name
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.default = default

    def __str__(self) -> str:
        return f"{self.name} {shape_words(self.shape)} {self.dtype}"


def shape_words(shape: Sequence[Any]) -> str:
    """A shape as text: letters without quotes, ``scalar`` for none."""
    if shape == (...,):
        return "(not used)"
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})" if shape else "scalar"


class Guards:
    """What a function looked at when it was traced: a program for those values, what they were, and how it looked."""

    __slots__ = ("how", "program", "seen")

    def __init__(self, program: Compiled, seen: list[Any], how: list[str]):
        self.program = program
        self.seen = seen
        self.how = how

    def words(self, k: int) -> str:
        """What holds of the value number ``k``, as text: ``𝟏ᵀ x > 0 is True``, or of sizes ``n > m``."""
        text = self._value(k)
        return text if self.how[k] == OF_SIZES else f"{text} is {self.seen[k]!s:.60}"

    def _value(self, k: int) -> str:
        from symgrad.formula.printing.formats import spelled
        from symgrad.formula.printing.latex import latex

        text = spelled(latex(self.program.terms[k], where=False, width=None), "unicode")
        return text if len(text) <= 60 else f"what {self.how[k]} gives"

    def stated(self, source: str, name: str) -> str:
        """The source of a program, with what holds of the values in its docstring."""
        before, called, rest = source.partition(f"def {name}(")
        signature, quotes, body = rest.partition('"""')
        summary, _, body = body.partition(quotes)
        words = "; ".join(dict.fromkeys(map(self.words, range(len(self.how)))))
        return f"{before}{called}{signature}{quotes}{summary}\n\n    Holds where {words}.\n    {quotes}{body}"

    def broken(self, row: Sequence[Any]) -> int | None:
        """The first value that is another one for these arguments."""
        found = self.program.function(*row)
        for k, (a, b) in enumerate(zip(self.seen, found if len(self.seen) > 1 else (found,), strict=True)):
            if not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") and not _rounded(a, b):
                return k
        return None


ROUNDING = 64
"""Units in the last place by which a value may differ that a program computes in another order than the graph did."""


def _rounded(a: Any, b: Any) -> bool:
    """Whether numbers are equal but for the order in which they were summed."""
    if np.shape(a) != np.shape(b) or a.dtype.kind not in "fc" or not np.size(a):
        return False
    return np.allclose(a, b, rtol=ROUNDING * float(np.finfo(a.dtype).eps), atol=0, equal_nan=True)


def given(called: str, names: Sequence[str], args: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names; names that there are not, or given twice, are refused."""
    values = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names:
            raise NameProblem(f"{called}() has no argument called {name!r}; its arguments are {', '.join(names)}.")
        if name in values:
            raise ArgumentError(f"{called}() got {name!r} twice, by position and by name.")
        values[name] = value
    return values


class Compiled:
    """A NumPy function made from a graph.

    Call it with arrays, tensors or numbers, by position or by name; it gives a NumPy array or scalar (a tuple or the
    traced nesting for several results).  Every result has memory of its own, also where it is equal to another one, an
    argument, or a view of one.  Sizes are read from the arguments, so one program serves every size.
    Arguments of another dtype of the same kind are cast to the traced one.  Called with a tensor that requires grad, or
    inside of a function that is traced or differentiated, it runs its ops one by one and gives tensors with a history.

    Raises ``ArgumentError`` for missing or surplus arguments and where the traced function would take another branch,
    ``NameProblem`` for unknown names, ``ShapeError`` for ranks and sizes that do not fit and ``DtypeError`` for a dtype
    of another kind.

    >>> import symgrad as sg, numpy as np
    >>> f = sg.compile(lambda x: (x * x).sum(), np.array([1.0, 2.0]))
    >>> f(np.array([3.0, 4.0, 0.0]))
    np.float64(25.0)
    """

    def __init__(
        self,
        name: str,
        source: str,
        arguments: Sequence[Argument],
        results: Sequence[tuple[tuple[Any, ...], Any]],
        structure: Any,
        kernels: dict[str, Any] | None = None,
    ):
        self.kernels = kernels
        self.name = name
        self.source = source
        self.arguments = list(arguments)
        self.results = list(results)
        self.structure = structure
        self.terms: list[Any] = []
        self.trace: Trace | None = None
        self.guards: Guards | None = None
        self.stable = True
        self._seen: set[Any] = set()
        constants = {a.name: a.default for a in arguments if a.default is not None}
        plain = load(source, name, {**constants, **(kernels or {})})
        self.function = warming(self, plain) if is_of_numbers(self) else plain

    def __repr__(self) -> str:
        inside = ", ".join(map(str, self.arguments))
        gives = ", ".join(f"{shape_words(shape)} {dtype}" for shape, dtype in self.results)
        return f"<compiled {self.name}({inside}) -> {gives}>"

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":  # what inspect.signature asks for
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            return inspect.Signature([inspect.Parameter(a.name, kind) for a in self.arguments if a.default is None])
        raise missing("a compiled function", name, OF_PROGRAMS, self)

    # -------------------------------------------------------------------------------------- calling

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the program on arrays, tensors or numbers."""
        if is_followed((*args, *named.values())):
            return run_followed(self, args, named)
        row = self.prepared(args, named)
        self.check_branch(row)
        out = self.function(*row)
        if self.structure == containers.LEAF:
            return out
        return containers.unflatten(self.structure, iter(out if len(self.results) > 1 else (out,)))

    def prepared(self, args: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
        """The arguments as arrays of the traced dtypes, checked against each other."""
        if named or len(args) != len(self.arguments):
            args = self._by_name(args, named)
        row = []
        for a, value in zip(self.arguments, args, strict=True):
            if isinstance(value, Recorded):
                value = value._value
            if value.__class__ is not np.ndarray or value.dtype != a.dtype:
                value = converted(a, value)
            row.append(value)
        key = tuple([v.shape for v in row])
        if key not in self._seen:
            self._check(key)
            self._seen.add(key)
        return row

    def _by_name(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        names = [a.name for a in self.arguments]
        if len(args) > len(names):
            raise ArgumentError(
                f"{self.name}() takes {len(names)} arguments ({', '.join(names)}), but {len(args)} were given."
            )
        values = given(self.name, names, args, named)
        missing = [a.name for a in self.arguments if a.name not in values and a.default is None]
        if missing:
            raise ArgumentError(
                f"{self.name}() misses {', '.join(missing)}; its arguments are {', '.join(map(str, self.arguments))}."
            )
        return tuple(values.get(a.name, a.default) for a in self.arguments)

    def _check(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Ranks, fixed sizes, and sizes that share a letter or are made of those of others."""
        letters: dict[str, tuple[int, str]] = {}
        made: list[tuple[Argument, int, str, int]] = []
        for a, shape in zip(self.arguments, shapes, strict=True):
            if a.shape == (...,):
                continue
            if len(shape) != len(a.shape):
                raise ShapeError(
                    f"{self.name}(): {a.name} has shape {shape_words(shape)} with {len(shape)} axes, but was "
                    f"compiled as {shape_words(a.shape)} with {len(a.shape)}."
                )
            for axis, (size, letter) in enumerate(zip(shape, a.shape, strict=True)):
                if isinstance(letter, str) and not letter.isidentifier():
                    made.append((a, axis, letter, size))
                elif isinstance(letter, str):
                    known = letters.setdefault(letter, (size, a.name))
                    if known[0] != size:
                        raise ShapeError(
                            f"{self.name}(): {a.name} of shape {shape_words(shape)} has size {size} in axis {axis}, "
                            f"where {known[1]} has {letter} = {known[0]}; the program was compiled for "
                            f"{', '.join(f'{b.name} {shape_words(b.shape)}' for b in self.arguments)}. (Sizes that are "
                            "equal when it is compiled are one letter; where they need not be, compile it for arrays "
                            "of different sizes.)"
                        )
                elif letter != size:
                    raise ShapeError(
                        f"{self.name}(): {a.name} of shape {shape_words(shape)} has size {size} in axis {axis}, but "
                        f"was compiled for size {letter} there. (A size is fixed where the steps of the "
                        "function depend on it, by a loop over rows or a condition, and where a number that it makes "
                        "of it follows no simple rule; in a graph that was recorded, also where a number that is as "
                        "large was given as a size or count: x.shape[0] is known to be a size.)"
                    )
        sizes = {letter: size for letter, (size, _) in letters.items()}
        for a, axis, letter, size in made:
            if letters_of(letter) <= sizes.keys() and size != (wanted := size_value(letter, sizes)):
                raise ShapeError(
                    f"{self.name}(): {a.name} has size {size} in axis {axis}, where {letter} = {wanted}; the program "
                    f"was compiled for {', '.join(f'{b.name} {shape_words(b.shape)}' for b in self.arguments)}."
                )

    def check_branch(self, row: Sequence[Any]) -> None:
        """One program is one way through a function; ``ArgumentError`` where these arrays need another."""
        guards = self.guards
        if guards is None:
            return
        live = {a.name for a in guards.program.arguments}
        k = guards.broken([v for a, v in zip(self.arguments, row, strict=True) if a.default is None or a.name in live])
        if k is None:
            return
        if self.trace is not None and self.trace.recorded and guards.how[k] != OF_SIZES:
            raise ArgumentError(
                f"{self.name}() is what was recorded with other values: it holds where {guards.words(k)}, and here it "
                "is not. Compile the function in place of its result, or use where(condition, a, b)."
            )
        if self.trace is not None and self.trace.recorded:
            raise ArgumentError(
                f"{self.name}() is what was recorded at other sizes: it holds where {guards.words(k)}, and here it is "
                "not. Compile the function in place of its result; or, where len(x), math.sqrt(n) or 1.0 / n made a "
                "plain number of a size, write x.shape[0], n**0.5 and 1 / n, which stay sizes."
            )
        raise ArgumentError(
            f"{self.name}() is one way through a function that looked at values: it holds where {guards.words(k)}, "
            "and here it is not. Call what compile() gave, which traces every way, or use where(condition, a, b)."
        )

    # -------------------------------------------------------------------------------------- text

    @property
    def formula(self) -> str:
        """What the program computes, in LaTeX; one line per result, derived when asked for."""
        from symgrad.formula.printing.latex import latex

        return "\n".join(latex(t) for t in self.terms)

    @property
    def cost(self) -> Cost:
        """Floating-point operations and bytes that are read and written, as polynomials of the sizes.

        Raises ``CompileError`` for a program that was unpickled.

        >>> import symgrad as sg, numpy as np
        >>> sg.compile(lambda X, w: X @ w, np.ones((4, 3)), np.ones(3)).cost
        <cost 2·m·n flops, 8·m·n + 8·m + 8·n bytes>
        """
        trace = self.trace
        if trace is None:
            raise CompileError(f"{self.name}() was unpickled, so its cost is not known; compile the function again.")
        terms = self.terms if trace.exact else optimised(trace, self.stable)[1]
        letters = dict.fromkeys(x for a in self.arguments for s in a.shape if isinstance(s, str) for x in letters_of(s))
        return cost_of(terms, letters, trace.sizes)

    def save(self, path: Any, target: str | None = None) -> None:
        """Write a file that needs nothing but NumPy, or a C99 compiler: the function, its formula, and a self-test.

        ``python -I file.py --selftest`` runs the self-test and exits with 0 when it passes.  A path that ends in ``.c``
        gets C99: a function of the sizes, the arrays row by row, and memory for the results, that gives 0 or a code
        which the head of the file explains; ``cc -std=c99 -DSELFTEST file.c -lm`` makes a program of its self-test.
        One that ends in ``.m`` gets the function for GNU Octave and MATLAB, which find it by the file's name: on whole
        arrays, a vector being a column; ``octave-cli --eval "NAME('selftest')"`` runs its self-test.
        One that ends in ``.json`` gets the program as data, for :func:`symgrad.compiler.load`.

        With ``target="torch"`` or ``"jax"`` the Python file takes and gives that library's arrays and imports nothing
        else; the library must be installed, as the file is run before it is written.  With ``target="numba"`` it takes
        and gives NumPy's, and is compiled to machine code at its first call.

        A function that looked at values holds where they are as they were; ``.py`` raises ``ValueError`` where they are
        not, and C gives 5.

        Raises ``CompileError`` for what cannot leave the library: in C that are complex numbers, half precision, and
        functions such as Bessel's, which it names; for torch, JAX, Numba and Octave branches on values and functions
        without a form there.  Raises ``ArgumentError`` for other targets, and for a path where no file can be written.
        """
        from symgrad.compiler.exports.alone import save

        self._needs_text("saved")
        save(self, path, target)

    def _needs_text(self, what: str) -> None:
        if self.kernels:
            raise CompileError(
                f"{self.name}() calls the library's own kernels ({', '.join(sorted(self.kernels))}), so that it rounds "
                f"as eager calls do; such a program is not {what}. symgrad.compile(f) gives one that is."
            )

    def __getstate__(self) -> dict[str, Any]:
        self._needs_text("pickled")
        return {
            "name": self.name,
            "source": self.source,
            "arguments": [(a.name, a.shape, a.dtype, a.default) for a in self.arguments],
            "results": self.results,
            "structure": self.structure,
            "terms": [flatten_terms([t]) for t in self.terms],
            "guards": None if self.guards is None else (self.guards.program, self.guards.seen, self.guards.how),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        arguments = [Argument(*row) for row in state["arguments"]]
        Compiled.__init__(self, state["name"], state["source"], arguments, state["results"], state["structure"])
        self.terms = [rebuild(data) for data in state["terms"]]
        self.guards = None if state["guards"] is None else Guards(*state["guards"])


def converted(a: Argument, value: Any) -> Any:
    """A value as an array or NumPy scalar of the argument's dtype."""
    if isinstance(value, Recorded):
        value = value._value
    array = np.asarray(value)
    if array.dtype != a.dtype:
        if not is_number(array.dtype) or not np.can_cast(array.dtype, a.dtype, "same_kind"):
            raise DtypeError(
                f"{a.name} has dtype {array.dtype}, which does not go into the compiled dtype {a.dtype}; cast it, or "
                "compile for that dtype."
            )
        array = array.astype(a.dtype)
    return array if array.ndim else array[()]


def load(source: str, name: str, constants: dict[str, Any]) -> Any:
    """Execute a program's source, which this library wrote, under a file name that tracebacks can show."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    filename = f"<symgrad {name} {digest}>"
    lines = source.splitlines(True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    namespace: dict[str, Any] = {"np": np, "math": math, "__name__": "symgrad_program", **constants}
    exec(compile(source, filename, "exec"), namespace)  # noqa: S102  (names are validated, constants are reprs)
    return namespace[name]


# ---------------------------------------------------------------------------------------------- building


@timed("codegen", "write program")
def build(trace: Trace, name: str | None = None, direct: bool | None = None, stable: bool = True) -> Compiled:
    """The program of a trace; ``stable``: parts that overflow or cancel as they are written keep their digits."""
    name, trace = name or trace.name, settled(trace)
    terms = [o.term for o in trace.outputs]
    kernels: dict[str, Any] | None = None
    if trace.exact:
        name, source, constants, kernels = write_exactly(trace, name)
    else:
        name, source, constants = write(trace, name, direct, stable)
    arguments = [Argument(i.name, i.shape, i.dtype) for i in trace.inputs]
    arguments += [Argument(i.name, i.shape, i.dtype, i.value) for i in constants]
    made = Compiled(name, source, arguments, [(o.shape, o.dtype) for o in trace.outputs], trace.structure, kernels)
    made.terms = terms
    made.trace = trace
    made.stable = stable
    if trace.guards:
        seen = [Output(term, value.dtype) for term, value, _ in trace.guards]
        looked = trace.derived(f"_{made.name}_looked_at", seen, containers.LEAF)
        looked.guards = []
        made.guards = Guards(
            build(looked, stable=False), [v for _, v, _ in trace.guards], [how for _, _, how in trace.guards]
        )
    return made


def settled(trace: Trace) -> Trace:
    """The trace with numbers for sizes of constants that no argument has: they are what they are in every call."""
    told = {size for i in trace.inputs for size in i.shape}
    fixed = {s: trace.sizes[s] for c in trace.constants for s in c.shape if s not in told and s in trace.sizes}
    if not fixed:
        return trace
    made = copy.copy(trace)
    arrays = [*trace.inputs, *trace.constants]
    found = iter(
        resized(
            [*(o.term for o in trace.outputs), *(i.term for i in arrays), *(look[0] for look in trace.guards)], fixed
        )
    )
    made.outputs = [
        Output(next(found), o.dtype, tuple(resized_size(s, fixed) for s in o.shape), o.derivative)
        for o in trace.outputs
    ]
    arrays = [i if (term := next(found)) is i.term else Input(i.name, term, i.value, i.tensor) for i in arrays]
    made.inputs, made.constants = arrays[: len(trace.inputs)], arrays[len(trace.inputs) :]
    looks = [(next(found), seen, how) for _, seen, how in trace.guards]
    made.guards = [look for look in looks if look[2] != OF_SIZES or has_sizes(look[0])]
    made.base, made.lettered = None if trace.base is None else settled(trace.base), trace
    return made


def write(trace: Trace, name: str, direct: bool | None = None, stable: bool = True) -> tuple[str, str, list[Any]]:
    """The name and source of a trace as one function, and the constants that become default arguments.

    The name has an underscore more where an argument or a helper function has it.
    """
    before, found = optimised(trace, stable)
    results = [type(o)(t, o.dtype, o.shape, o.derivative) for o, t in zip(trace.outputs, found, strict=True)]
    order = target.order_of(found)
    symbols = set(order)
    missing = _letters(order, results) - {letter for i in trace.inputs for letter in i.shape}
    constants = [c for c in trace.constants if c.term in symbols or not missing.isdisjoint(c.shape)]
    inputs = [*trace.inputs, *constants]
    writer = target.Writer(inputs, order, trace.sizes)
    writer.repeated = repeated(results)
    program = schedule.schedule(found, order, writer.names, writer.literal, target.Plain(writer), {*writer.taken, name})
    text = target.body(writer, program, results, direct)
    silent = target.silence(before, trace.base is not None)
    helpers = helper_sources(writer.helpers)
    while name in writer.taken or name in helpers:
        name += "_"
    return name, assembled(name, text, writer, constants, silent, trace, helpers), constants


def optimised(trace: Trace, stable: bool) -> tuple[list[Any], list[Any]]:
    """All terms of a trace as they are computed, and its results after all passes."""
    terms = [o.term for o in trace.outputs]
    order = target.order_of(terms)
    outputs = in_floats(terms, order)
    before = order if outputs == terms else target.order_of(outputs)
    found = _stabilised(outputs, before, trace) if stable else outputs
    known = before if found == outputs else None
    return before, passes.optimise(found, trace.base is not None, known)


def write_exactly(trace: Trace, name: str) -> tuple[str, str, list[Any], dict[str, Any]]:
    """As :func:`write`, for a program of the eager kernels: no pass changes what is computed; equal calls are one."""
    order = target.order_of([o.term for o in trace.outputs])
    symbols = set(order)
    constants = [c for c in trace.constants if c.term in symbols]
    writer = eager.Writer([*trace.inputs, *constants], trace.raw)
    writer.repeated = repeated(trace.outputs)
    while name in writer.taken:
        name += "_"
    taken = {*writer.taken, *(t.op.name for t in order), name}
    program = schedule.schedule(
        [o.term for o in trace.outputs], order, writer.names, writer.literal, eager.always, taken, False, False
    )
    writer.taken.update(name, *(name for name, _, _ in program.statements))
    text = target.directly(writer, program, trace.outputs)
    return name, assembled(name, text, writer, constants, None, trace, {}), constants, writer.functions


def _stabilised(outputs: Sequence[Any], order: Sequence[Any], trace: Trace) -> list[Any]:
    """The outputs in spellings that keep their digits; derivatives of activations only where the function needed it."""
    derived, naive = trace.base is not None, False
    outputs, before = _without_copies(outputs, order), outputs
    order = order if outputs == before else target.order_of(outputs)
    if not trace.recorded:
        values = _without_copies([o.term for o in (trace.base or trace).outputs])
        found = accurate(values, False, order if values == outputs else None, first=True)
        naive = any(a is not b for a, b in zip(found, values, strict=True))
        if not (naive or derived) and values == outputs:
            return found  # asked again, it would say the same
    if trace.base is not None:
        outputs, before = collected(outputs, order, [o.term for o in trace.base.outputs]), outputs
        order = order if outputs == before else target.order_of(outputs)
    return accurate(outputs, naive, order, derived)


def _letters(order: Sequence[Any], outputs: Sequence[Any]) -> set[str]:
    """The letters of sizes that results have, or that the program computes with."""
    sizes = [size for o in outputs for size in o.shape]
    for term in order:
        for key in ("name",) if term.op is SIZE else term.op.size_params or ():
            value = term.params[key]
            sizes += value if isinstance(value, tuple) else (value,)
    return {letter for size in sizes if isinstance(size, str) for letter in letters_of(size)}


def assembled(
    name: str,
    text: str,
    writer: Any,
    constants: Sequence[Any],
    silent: str | None,
    trace: Trace,
    helpers: dict[str, str],
) -> str:
    """The whole source: helpers, the guard against warnings, and the function under its own name."""
    _, _, rest = text.partition("\n")
    parameters = [i.name if i not in constants else f"{i.name}={i.name}" for i in writer.inputs]
    layout = ", ".join(f"{i.name} {shape_words(i.shape)}" for i in writer.inputs)
    gives = ", ".join(f"{shape_words(o.shape)} {o.dtype}" for o in trace.outputs)
    lines = ["from __future__ import annotations\n", "\n\n"] if helpers else []
    lines += [f"{h}\n\n" for h in helpers.values()]
    rest, others = unhidden(rest, helpers, writer.taken)
    lines += [*others, "\n\n"] if others else []
    if silent:
        lines.append(f"@np.errstate({silent})\n")
    lines.append(f"def {name}({', '.join(parameters)}):\n")
    lines.append(f'    """{layout} -> {gives}."""\n')
    lines.append(rest)
    return "".join(lines)


def _without_copies(outputs: Sequence[Any], order: Sequence[Any] | None = None) -> list[Any]:
    """The outputs without the copies that derivatives make of their variables: what is of x and copies is of x."""
    found = rebuilt(outputs, lambda _, args: args[0], order, only=_COPIES)
    return [t if t.op.name in _COPIES else made for t, made in zip(outputs, found, strict=True)]


_COPIES = frozenset({"clone"})

"""Tracing: a function runs once on tensors, and what it did is read from the tape as terms.

Arguments of floating dtype are traced as leaves that require grad, other arrays as named constants; both become
symbols with the parameter's name.  Python numbers that are not floats, strings and the like are static.  Reads of
values (branches, ``item()``, indices) become guards: terms with the value they had.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from symgrad.compiler.draws import draws_seen
from symgrad.compiler.transforms import transform_of
from symgrad.compiler.verbatim import Verbatim, verbatim_number
from symgrad.dtypes import in_native_order, is_floating, is_narrow
from symgrad.errors import ArgumentError, CompileError, NameProblem, NotFollowed, SymgradError, UnsupportedFunction
from symgrad.formula.term import Term, as_term, symbol
from symgrad.interop.array_calls import arrays_first, followed, leads_back, means_the_same
from symgrad.notices import users_frames
from symgrad.ops.elementwise.select import lt
from symgrad.ops.reductions.predicates import any_
from symgrad.tape import containers
from symgrad.tape.formulas.fitting import asked, compared, has_sizes, least_lengths, long_enough, misfits, read_by
from symgrad.tape.formulas.names import check_name
from symgrad.tape.formulas.places import with_places
from symgrad.tape.formulas.reading import Reading, read_all
from symgrad.tape.formulas.sizes import comparisons_noted
from symgrad.tape.graph import Source
from symgrad.tape.memory.versions import any_changes, changes, renewed
from symgrad.tape.modes import enable_grad
from symgrad.tape.numbering import sequence
from symgrad.tape.record import Recorded, plain
from symgrad.tape.watching.changes import arguments_kept, changes_seen, note_shared
from symgrad.tape.watching.conditions import choices_of
from symgrad.tape.watching.looks import OF_PLACES, counts_from_zero
from symgrad.tape.watching.scalars import note_number, numbers_counted, numbers_made, values_read
from symgrad.tape.watching.watch import Watch, note_problem
from symgrad.tensor import Tensor

OF_SIZES = "a size"
"""How a function looked at what it asked of sizes."""

TAKEN = {"np", "math"}
"""Names that mean something in generated source."""


class Input:
    """An array that a program takes: its name, its symbol, and the value it had in the trace (None if not kept)."""

    __slots__ = ("dtype", "name", "shape", "tensor", "term", "value")

    def __init__(self, name: str, term: Term, value: Any, tensor: Any = None):
        self.name = name
        self.term = term
        self.shape = term.shape
        self.dtype = term.dtype
        self.value = value
        self.tensor = tensor


class Output:
    """A result of a program: its term, and the dtype and shape it must have.

    ``derivative`` is (input, output of the base trace) where the result is the derivative of one by the other.
    """

    __slots__ = ("derivative", "dtype", "shape", "term")

    def __init__(
        self, term: Term, dtype: Any, shape: tuple[Any, ...] | None = None, derivative: tuple[int, int] | None = None
    ):
        self.derivative = derivative
        self.term = term
        self.dtype = np.dtype(dtype)
        self.shape = term.shape if shape is None else shape


class Trace:
    """What one run of a function did, as terms.

    inputs     the array arguments in order; constants are the arrays the function took from elsewhere
    outputs    the results, and ``structure`` how they are nested
    positions  which inputs belong to each positional argument
    guards     (term, value seen, how) for every value the function looked at
    sizes      the size every letter stood for
    compared   the comparisons of sizes that the function made, or their opposites: they are true
    least      sizes of axes, and how long they must be for slices of them to be as long as the terms say
    base       the trace this one is the derivative of, or None
    lettered   the same trace before sizes that only constants have became numbers, or None where there are none
    recorded   whether it was read from a tape, where nobody knows what is a derivative
    numbers    whether it made plain numbers of tensors, of which derivatives know nothing
    plain      whether its results are nothing but numbers that it made of tensors, which lead back to nothing
    respelled  whether derivatives inside are in spellings of their own that hold at the example
    exact      whether its terms are the tape's nodes as they are, for a program that rounds as they did
    raw        of an exact one: the terms of backward passes, which ran on arrays; ``passes`` counts them
    given      of an exact one: the values of the results, until its program has been compared with them
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Input] = []
        self.constants: list[Input] = []
        self.outputs: list[Output] = []
        self.structure: Any = containers.LEAF
        self.arguments: list[tuple[list[int], Any]] = []
        self.guards: list[tuple[Term, Any, str]] = []
        self.sizes: dict[str, int] = {}
        self.compared: list[Term] = []
        self.least: list[tuple[str, int]] = []
        self.base: Trace | None = None
        self.lettered: Trace | None = None
        self.recorded = False
        self.plain = False
        self.numbers = False
        self.respelled = False
        self.exact = False
        self.raw: set[Term] = set()
        self.passes = 0
        self.given: list[Any] = []

    def derived(self, name: str, outputs: Sequence[Output], structure: Any) -> Trace:
        """A trace with the same inputs and other outputs."""
        made = Trace(name)
        made.inputs, made.constants, made.arguments = self.inputs, self.constants, self.arguments
        made.guards, made.sizes, made.exact, made.raw = self.guards, self.sizes, self.exact, self.raw
        made.compared, made.least = self.compared, self.least
        made.outputs, made.structure = list(outputs), structure
        made.base = self
        return made


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """No garbage collection while a graph is turned into a program.

    Everything made is alive, and looking at all of it again and again would make the cost of large graphs quadratic.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def safe_name(name: str) -> str:
    """``name`` if it can stand in source and formulas; else ``NameProblem``."""
    check_name(name)
    if name in TAKEN:
        raise NameProblem(f"{name!r} cannot name an argument of a program: generated source uses it for a module.")
    return name


ARRAYS = (Recorded, np.ndarray, np.generic)


def is_array(value: Any) -> bool:
    """Whether a leaf of the arguments becomes an input of the program; other leaves are static."""
    return isinstance(value, (*ARRAYS, float, complex)) and not isinstance(value, bool)


def array_of(value: Any) -> Any:
    """The array or NumPy scalar behind an argument."""
    if isinstance(value, Recorded):
        return value._value
    value = in_native_order(np.asarray(value))
    return value if value.ndim else value[()]


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names of the positional parameters; ``args_0`` … for ``*args``."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"x{k + 1}" for k in range(count)]
    names: list[str] = []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}_{k}" for k in range(count - len(names))]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
    return names[:count]


def function_name(function: Callable[..., Any]) -> str:
    """A name for the generated function."""
    name = getattr(function, "__name__", "program")
    return name if name.isidentifier() and not name.startswith("__") else "program"


_FIXED: ContextVar[frozenset[int] | None] = ContextVar("fixed sizes", default=frozenset())


@contextlib.contextmanager
def fixed(sizes: Iterable[int] | None = None) -> Iterator[None]:
    """Traces made inside have numbers for these sizes (by default for all), not letters."""
    token = _FIXED.set(None if sizes is None else frozenset(sizes))
    try:
        yield
    finally:
        _FIXED.reset(token)


def trace(function: Callable[..., Any], args: Sequence[Any], exact: bool = False) -> Trace:
    """Run ``function`` on tensors made of ``args`` and read what it did; ``exact``: node by node, and no formulas.

    A function that is written for NumPy's arrays, and does not run on tensors or makes plain numbers of them, is run on
    tensors that answer as arrays do.  Raises ``CompileError`` when it did something that no program can repeat.
    """
    transform = transform_of(function)
    if transform is not None and not exact:
        return transform.traced(args)
    of_arrays = not of_tensors(args)
    if exact:
        return _exactly(function, args, of_arrays)
    before = numbers_made(), values_read()
    as_arrays = functools.partial(followed, arrays=of_arrays, derived=False)
    if of_arrays and arrays_first(function):
        with contextlib.suppress(Exception), numbers_counted():
            made, _ = _traced(function, args, call=as_arrays)
            if not made.plain:
                return made
    try:
        with numbers_counted():
            made, result = _traced(function, args)
    except CompileError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever a program for arrays does with a tensor)
        try:
            return _traced(function, args, call=as_arrays)[0]
        except UnsupportedFunction as unknown:  # it is, and this tells which function
            if isinstance(unknown, NotFollowed) and isinstance(error, ArgumentError):
                raise error from None  # a function of the library has refused the values before
            raise
        except Exception:  # noqa: BLE001  (it is not written for arrays either)
            raise error from None
    numbers = numbers_made() > before[0]
    unsure = numbers or made.plain or (of_arrays and values_read() > before[1])
    if not unsure and (not of_arrays or means_the_same(function, args, {}, result)):
        return made
    try:
        start = numbers_made()
        again, other = _traced(function, args, call=as_arrays)
        more = made.plain or numbers_made() == start or len(again.guards) < len(made.guards)
        if not unsure or (more and not again.plain and same_results(result, other)):
            return again
    except NotFollowed:  # which made the numbers
        raise
    except Exception:  # noqa: BLE001  (whatever a program for tensors does with arrays)
        again = None
    if numbers:
        note_number()
    return made


def of_tensors(args: Sequence[Any]) -> bool:
    """Whether there are tensors among the arguments, so that the methods of tensors are meant."""
    return any(isinstance(leaf, Recorded) for leaf in containers.flatten(list(args))[0])


def _exactly(function: Callable[..., Any], args: Sequence[Any], of_arrays: bool) -> Trace:
    """The trace node by node; refused where a function that is given arrays is written for them."""
    written = CompileError("it is written for arrays, and runs as it is")
    if of_arrays and arrays_first(function):
        raise written
    try:
        with numbers_counted():
            made, result = _traced(function, args, True)
    except (SymgradError, NameError):
        raise
    except Exception:
        if of_arrays:
            raise written from None
        raise
    if of_arrays and not means_the_same(function, args, {}, result):
        raise written
    return made


def same_results(a: Any, b: Any) -> bool:
    """Whether two runs of a function gave the same numbers, but for rounding."""
    (ours, structure), (theirs, other) = containers.flatten(a), containers.flatten(b)
    if structure != other:
        return False
    pairs = [(np.asarray(array_of(x)), np.asarray(array_of(y))) for x, y in zip(ours, theirs, strict=True)]
    return all(x.shape == y.shape and np.allclose(x, y, 1e-5, 1e-9, True) for x, y in pairs)


def _traced(
    function: Callable[..., Any], args: Sequence[Any], exact: bool = False, call: Callable[..., Any] | None = None
) -> tuple[Trace, Any]:
    """What one run of ``function`` did, ``call(function, args)`` or as it is, and what it gave."""
    made = Trace(function_name(function))
    made.exact = exact
    start, before, count = next(sequence), values_read(), numbers_made()
    watch = Watch(everything=exact, names=True)
    tensors: list[Any] = []
    names: list[str] = []
    call_args = []
    stems = argument_names(function, len(args))
    if len(stems) < len(args):
        raise ArgumentError(f"{made.name}() takes {len(stems)} arguments, but {len(args)} were given.")
    for stem, arg in zip(stems, args, strict=True):
        leaves, structure = containers.flatten(arg)
        row, mine = [], []
        for name, leaf in zip(containers.paths(structure, stem), leaves, strict=True):
            if not (isinstance(leaf, ARRAYS) if exact else is_array(leaf)):
                row.append(leaf)
                continue
            tensor = _input_tensor(leaf, safe_name(name))
            watch.inputs.add(id(tensor))
            if leaf.__class__ in (float, complex):
                watch.numbers[tensor] = True
            mine.append(len(tensors))
            tensors.append(tensor)
            names.append(name)
            row.append(tensor)
        made.arguments.append((mine, structure))
        call_args.append(containers.unflatten(structure, iter(row)))
    watched = changes_seen(note_unrepeatable if exact else arguments_kept(watch, function))
    with watch, enable_grad(), watched, draws_seen(function), comparisons_noted(not exact) as asked:
        result = function(*call_args) if call is None else call(function, call_args)
        note_rewritten(watch)
    if watch.problems:
        raise CompileError(f"{made.name}() cannot be compiled: {watch.problems[0]}.")
    made.plain = values_read() > before and not leads_back(result)
    made.numbers = numbers_made() > count
    leaves, made.structure = containers.flatten(result)
    reading = _read(made, tensors, names, leaves, watch, start)
    if isinstance(reading, Reading):
        made.compared = compared(reading, asked)
        made.least = least_lengths(reading)
    return made, result


def note_rewritten(watch: Watch) -> None:
    """Constants that were written to after an op had read them: the program would read what they are now.

    With NumPy, or through other views of their memory; a tensor that is changed itself has another record since.
    """
    for tensor, source, mark in watch.marks:
        value = tensor._value
        if source.ref() is not tensor or zlib.crc32(value.tobytes()) == mark:
            continue
        if id(tensor) not in watch.inputs and source.outlived(value) and zlib.crc32(source.kept.tobytes()) == mark:
            source.alone()
            continue
        if changes(value):
            note_problem(
                f"it changes a constant of shape {value.shape} in place after it has computed with a view of it; "
                "compute with a copy of the view, v.clone()"
            )
        else:
            note_problem(
                f"it writes to a NumPy array of shape {value.shape} after it has computed with it; compute with a "
                "copy, a.copy(), or write to a tensor, symgrad.zeros(...)"
            )


def note_unrepeatable(root: Any, tensor: Any, new: Any, recording: bool) -> None:
    """Whether a program of the tape's nodes makes the change with the same digits."""
    note_shared(root)
    if root._node is None or not recording:
        note_problem("it changes a tensor in place that it did not compute, or without a record")
    elif new._value.dtype != tensor._value.dtype or not root._array().flags.c_contiguous:
        note_problem("it changes a tensor in place that has another dtype, or does not lie in memory row by row")


def _input_tensor(leaf: Any, name: str) -> Any:
    tensor = plain(Tensor, array_of(leaf))
    if tensor.dtype.kind in "OSUMm":
        raise ArgumentError(f"the argument {name} is an array of dtype {tensor.dtype}; programs take numbers.")
    tensor.more().name = name
    tensor._requires_grad = is_floating(tensor.dtype)
    return tensor


def _read(
    made: Trace, tensors: Sequence[Any], names: Sequence[str], results: Sequence[Any], watch: Watch, start: int
) -> Reading | Verbatim:
    results = [plain(Tensor, r) if isinstance(r, np.ndarray) else r for r in results]
    for r in results:
        if not isinstance(r, (Recorded, bool, int, float, complex, np.generic)):
            raise CompileError(
                f"{made.name}() gave {type(r).__name__} {r!r:.40}; a compiled function gives tensors, arrays and "
                "numbers, or nested tuples, lists and dicts of them."
            )
    outs = [r.edge() if isinstance(r, Recorded) else r for r in results]
    roots = [o for o in outs if not isinstance(o, (bool, int, float, complex, np.generic))]
    roots += [t.edge() for t in tensors] + [r.edge for r in watch.reads]
    given = {id(t): name for t, name in zip(tensors, names, strict=True)}
    reading: Reading | Verbatim
    if made.exact:
        # A pass that another one differentiates is recorded eagerly, too.
        reading = Verbatim(roots, given, start, watch.passes if len(watch.passes) == 1 else ())
        made.raw, made.passes = reading.raw, len(watch.passes)
    else:
        reading = _read_at_these_sizes(roots, given)
    if made.exact and watch.passes and any(is_narrow(t.dtype) for t in reading.terms.values()):
        raise CompileError("its gradients in half precision round otherwise where a tracer looks on")
    made.sizes = {letter: n for n, letter in reading.letters.items()}
    made.inputs = [Input(name, reading[t.edge()], t._value) for t, name in zip(tensors, names, strict=True)]
    made.constants = constants_of(reading, {i.term for i in made.inputs})
    for r, out in zip(results, outs, strict=True):
        made.outputs.append(_output(reading, r, out))
    if made.exact:
        made.given = [array_of(r) if isinstance(r, ARRAYS) else r for r in results]
    for read in watch.reads:
        made.guards.append((reading[read.edge], read.seen, read.how))
    return reading


def _read_at_these_sizes(roots: Sequence[Any], given: dict[int, str]) -> Reading:
    """The terms, with letters for those sizes at which they have the shapes that were recorded."""
    numbers = _FIXED.get()
    while numbers is not None:
        reading = Reading(roots, given, fixed=numbers, counts=False)
        wrong = misfits(reading)
        if not wrong:
            return reading
        numbers |= wrong
    return Reading(roots, given, {}, counts=False)


def _output(reading: Reading | Verbatim, result: Any, out: Any) -> Output:
    if isinstance(result, Recorded):
        return Output(reading[out], result._value.dtype)
    if isinstance(reading, Verbatim):
        return Output(verbatim_number(out), np.asarray(out).dtype)
    return Output(as_term(out), np.asarray(out).dtype)


def constants_of(reading: Reading | Verbatim, known: set[Term], needed: set[Term] | None = None) -> list[Input]:
    """The leaves of a reading that are not in ``known``, with the values they have.

    Of those that are ``needed`` of a recorded graph only what it read.
    """
    found = []
    first = _first_readers(reading.nodes) if needed is not None and isinstance(reading, Reading) else {}
    for leaf in reading.leaves:
        term = reading.terms[id(leaf)]
        if term in known or (needed is not None and term not in needed):
            continue
        tensor = leaf.ref() if isinstance(leaf, Source) else leaf
        value = tensor._value if tensor is not None else leaf.kept
        if needed is not None and tensor is not None and _changed(leaf, tensor, first.get(id(leaf), math.inf)):
            raise CompileError(
                f"{term.name} of shape {tuple(leaf.shape)} was changed in place since the graph was recorded, and is "
                "not among the arguments: the program would compute with what it is now; list it among the arguments, "
                "or record the graph again."
            )
        if value is None:
            raise CompileError(
                f"the constant {term.name} of shape {tuple(leaf.shape)} was freed, or changed in place, since the "
                "graph was recorded, so its values are not known any more; keep the tensor, give it a name and list it "
                "among the arguments, or compile the function instead of its result."
            )
        found.append(Input(str(term.name), term, np.array(value)[()], tensor))
    return found


def _changed(leaf: Any, tensor: Any, since: float) -> bool:
    """Whether a leaf has other values by now than those that operations read from a creation number on."""
    return renewed(tensor, since) or (isinstance(leaf, Source) and leaf.outlived(tensor._value))


def _first_readers(nodes: Sequence[Any]) -> dict[int, float]:
    """The number of the first node that reads a leaf, by its identity; nothing where nothing was ever changed."""
    first: dict[int, float] = {}
    for node in nodes if any_changes() else ():
        for arg in with_places(node):
            first.setdefault(id(arg), node.sequence_nr)
    return first


def _is_variable(leaf: Any) -> bool:
    """Whether a leaf is a variable of the formula rather than a constant: it requires grad or was given a name."""
    return isinstance(leaf, Recorded) or leaf.name is not None


def trace_recorded(results: Any, names: Sequence[str] | None) -> Trace:
    """What was recorded of tensors, as a function of their leaves called ``names`` (all named leaves by default).

    ``results`` is a tensor, or a container of them.
    """
    tensors, structure = containers.flatten(results)
    reading, terms = read_all(tensors, recorded=True)
    made = Trace("program")
    made.recorded = True
    made.sizes = {letter: n for n, letter in reading.letters.items()}
    own = {str(reading.terms[id(leaf)].name) for leaf in reading.leaves}
    chosen = list(choices_of(reading, {*(names or ())} - own))
    leaves = {str(reading.terms[id(leaf)].name): leaf for leaf in reading.leaves}
    if names is None:
        names = [name for name, leaf in leaves.items() if _is_variable(leaf)]
    unlisted = [name for name, leaf in leaves.items() if name not in names and _is_variable(leaf)]
    for name in names:
        if name not in leaves:
            if unlisted:
                safe_name(name)
                raise NameProblem(
                    f"the formula has no leaf called {name!r}; its leaves are {', '.join(leaves)}, of which "
                    f"{', '.join(unlisted)} was not listed. Give a tensor a name with symgrad.tensor(..., name=...)."
                )
            if _is_on_the_way(reading, name):
                raise NameProblem(
                    f"{name!r} is no leaf of the formula: the graph computes it on the way, and a program takes what "
                    f"that begins with, {', '.join(leaves)}. For a function of it, compute from {name}.detach() with "
                    "requires_grad, or compile a function."
                )
            # Every variable is there, so this is one that the result does not depend on: it is taken and not read.
            made.inputs.append(Input(safe_name(name), symbol(name), None))
            made.inputs[-1].shape = (...,)
            made.inputs[-1].dtype = np.dtype(complex)
            continue
        leaf = leaves[name]
        alive = leaf.ref() if isinstance(leaf, Source) else leaf
        made.inputs.append(Input(safe_name(name), reading.terms[id(leaf)], None if alive is None else alive._value))
    made.arguments = [([k], containers.LEAF) for k in range(len(made.inputs))]
    made.outputs = [Output(term, tensor.dtype) for term, tensor in zip(terms, tensors, strict=True)]
    made.structure = structure
    made.compared = [*asked(reading), *long_enough(reading)]
    made.guards = [(term, np.array(True), OF_SIZES) for term in made.compared if has_sizes(term)] + chosen
    made.guards += [(any_(lt(term, 0)), np.array(False), OF_PLACES) for term in _places(reading, made.inputs)]
    given, seen = [i.term for i in made.inputs], [*terms, *(term for term, *_ in made.guards)]
    needed = read_by(seen, [reading.terms[id(leaf)] for leaf in reading.leaves], given)
    made.constants = constants_of(reading, set(given), needed)
    return made


def _is_on_the_way(reading: Reading, name: str) -> bool:
    """Whether a variable of the user's by this name holds what the graph computes on its way to the result."""
    for frame in users_frames():
        tensor = frame.f_locals.get(name)
        if isinstance(tensor, Recorded) and tensor._node is not None and id(tensor._node) in reading.terms:
            return True
    return False


def _places(reading: Reading, inputs: Sequence[Input]) -> Iterator[Term]:
    """What a recorded graph takes for places that are counted from 0, and what another call may give others of."""
    given = {i.term for i in inputs}
    for leaf in reading.leaves:
        if counts_from_zero(leaf) and reading.terms[id(leaf)] in given:
            yield reading.terms[id(leaf)]
    yield from (reading[node] for node in reading.nodes if counts_from_zero(node))


# ---------------------------------------------------------------------------------------------- derivatives of traces


def targets_of(made: Trace, argnums: int | Sequence[int]) -> list[Input]:
    """The inputs of the arguments that are differentiated."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    found = []
    for number in numbers:
        if not -len(made.arguments) <= number < len(made.arguments):
            raise CompileError(
                f"argnums={number} is out of range: {made.name}() was given {len(made.arguments)} arguments."
            )
        mine = made.arguments[number][0]
        if not mine or any(not is_floating(made.inputs[k].dtype) for k in mine):
            raise CompileError(
                f"argument {number} of {made.name}() holds no array of floating dtype{_dtypes(made, mine)}, so there "
                "is no derivative by it; pass floats, 1.0 for 1."
            )
        found += [made.inputs[k] for k in mine]
    return found


def _dtypes(made: Trace, places: Sequence[int]) -> str:
    kinds = dict.fromkeys(str(made.inputs[k].dtype) for k in places)
    return f" (it has {', '.join(kinds)})" if kinds else ""


def target_structure(made: Trace, argnums: int | Sequence[int]) -> Any:
    """How the derivatives are nested: as the argument, or a tuple of such."""
    if isinstance(argnums, int):
        return containers.without_settings(made.arguments[argnums][1])
    numbers = tuple(argnums)
    parts = (containers.without_settings(made.arguments[k][1]) for k in numbers)
    return ("tuple", tuple(range(len(numbers))), tuple(parts))

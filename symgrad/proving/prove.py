"""The run over the table: what was proved of every op, and how; what was refuted, and what stayed without a proof."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from symgrad.compiler import compile as compiled
from symgrad.dtypes import as_dtype
from symgrad.errors import ArgumentError, CompileError, DtypeError, FormulaError
from symgrad.func import grad
from symgrad.op import Op, lookup
from symgrad.op.sampling import Case
from symgrad.proving import laws
from symgrad.proving.exact import exact_law, symbolic
from symgrad.proving.in_c import called, compiler, library, text_of
from symgrad.proving.points import points, points_law
from symgrad.proving.samples import make_case, ops, samples, takes_complex

PROVED, REFUTED, UNPROVED, DECLARED = "proved", "refuted", "unproved", "declared"
_SMALL = {"n": 2, "m": 3, "p": 2, "q": 2}
"""Sizes for SymPy."""
_IN_C = 3
"""How many samples of an op are compiled in C."""
_FLOATS: dict[str, Callable[[Op, Case], Any]] = {
    "value": laws.value_law,
    "vjp": laws.vjp_law,
    "jvp": laws.jvp_law,
    "columns": laws.columns_law,
    "rows": laws.rows_law,
    "second order": laws.second_order_law,
    "code": laws.code_law,
    "program": laws.compiled_law,
}
_COMPLEX = ("value", "vjp", "jvp", "columns", "second order")


@dataclass
class Entry:
    """What was found out about one op.

    ``verdict`` is "proved", "refuted", "unproved" or "declared"; ``reason`` says why it is not the first.  Of the
    samples, ``arguments`` have a derivative.  All of these agree with the definition at fifty digits, and SymPy proved
    ``by_sympy`` of the ``asked``.  ``in_c`` is "yes" where programs of value and gradient were run in C; else "value",
    "no form" or "not run".
    """

    name: str
    verdict: str = PROVED
    reason: str = ""
    samples: int = 0
    arguments: int = 0
    asked: int = 0
    by_sympy: int = 0
    points: int = 0
    in_c: str = ""
    checks: Counter[str] = field(default_factory=Counter)

    @property
    def how(self) -> str:
        """By what the rules are proved."""
        if not self.arguments:
            return "no derivative"
        return "SymPy" if self.asked and self.by_sympy == self.asked else "50 digits"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "op": self.name, "verdict": self.verdict, "reason": self.reason, "how": self.how, "samples": self.samples,
            "arguments": self.arguments, "asked of SymPy": self.asked, "proved by SymPy": self.by_sympy,
            "singular points": self.points, "C": self.in_c, "checks": dict(self.checks),
        }  # fmt: skip


@dataclass
class Proof:
    """The outcome of a run: an entry for every op, and what was not run."""

    entries: list[Entry]
    not_run: list[str]
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing is refuted, and nothing without a proof but what the table declares."""
        return all(e.verdict in (PROVED, DECLARED) for e in self.entries)

    @property
    def counts(self) -> dict[str, int]:
        """How many entries have each verdict."""
        found = Counter(e.verdict for e in self.entries)
        return {v: found[v] for v in (PROVED, REFUTED, UNPROVED, DECLARED)}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "ok": self.ok,
            **self.counts,
            "not run": self.not_run,
            "seconds": round(self.seconds, 1),
            "ops": [e.to_dict() for e in self.entries],
        }

    def __str__(self) -> str:
        head = ("op", "verdict", "how", "samples", "arguments", "points", "checks", "C")
        rows = [
            (e.name, e.verdict, e.how, str(e.samples), str(e.arguments), str(e.points), str(e.checks.total()), e.in_c)
            for e in self.entries
        ]
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)]
        told = [f"{e.verdict}: {e.name}: {e.reason}" for e in self.entries if e.reason]
        how = Counter(e.how for e in self.entries if e.verdict == PROVED)
        counts = ", ".join(f"{n} {v}" for v, n in self.counts.items())
        kinds = ", ".join(f"{n} {k}" for k, n in sorted(how.items()))
        end = [f"{len(self.entries)} {'op' if len(self.entries) == 1 else 'ops'}: {counts}.", f"Proved by: {kinds}."]
        return "\n".join([*lines, "", *told, *(f"not run: {words}" for words in self.not_run), *end])


def prove(names: Sequence[str] = (), tell: Callable[[str], None] | None = None, jobs: int = 1) -> Proof:
    """Run every law on the ops called ``names``, or on the whole table, in as many processes as there are ``jobs``.

    ``tell`` hears each name when its turn has come.  Ops that are not in the library's own table need ``jobs`` 1: other
    processes do not know them.  Raises ``ArgumentError`` for names that are not in the table, with near ones, and for
    fewer jobs than one.

    >>> print(prove(["tanh"]).entries[0].verdict)
    proved
    """
    if jobs < 1:
        raise ArgumentError(f"prove() takes a number of jobs from 1 on, not {jobs}.")
    asked_for, began, entries = [op.name for op in asked(names)], time.perf_counter(), []
    with contextlib.ExitStack() as stack:
        proofs: Iterator[Entry] = map(_proved, asked_for)
        if jobs > 1:
            pool = stack.enter_context(ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")))
            proofs = pool.map(_proved, asked_for)
        for name in asked_for:
            if tell is not None:
                tell(name)
            entries.append(next(proofs))
    return Proof(entries, list(_missing()), time.perf_counter() - began)


def _proved(name: str) -> Entry:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _entry(_known(name))


def asked(names: Sequence[str]) -> list[Op]:
    """The ops of these names, or the whole table."""
    return [_known(name) for name in names] if names else ops()


def _known(name: str) -> Op:
    op = lookup(name)
    if op.kind in ("leaf", "opaque"):
        raise ArgumentError(f"{name} is a {op.kind} of formulas: it has no rules to prove.")
    return op


def _missing() -> Iterator[str]:
    if compiler() is None:
        yield "programs in C: there is no gcc or cc"
    if not _has_bfloat16():
        yield "bfloat16: ml_dtypes is not installed"


def _entry(op: Op) -> Entry:
    entry = Entry(op.name, samples=len(samples(op)))
    if not entry.samples:
        entry.verdict, entry.reason = UNPROVED, "no operands to try it on: give it a domain, or a sample"
        return entry
    try:
        if op.underived is not None:
            laws.value_law(op, (make_case(op.name, 0)[0], {}))
            entry.verdict, entry.reason = DECLARED, f"torch has no derivative for it: {op.underived}"
            return entry
        _in_floats(op, entry)
        _at_points(op, entry)
        _in_c(op, entry)
        _exactly(op, entry)
    except AssertionError as error:
        entry.verdict, entry.reason = REFUTED, _short(error)
    except FormulaError as error:
        entry.verdict, entry.reason = (DECLARED if op.digits == "floats" else UNPROVED), _short(error)
    except Exception as error:  # noqa: BLE001  (whatever a rule raises, the rule is wrong, and the run goes on)
        entry.verdict, entry.reason = REFUTED, f"raises {type(error).__name__}: {_short(error)}"
    return entry


def _short(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300]


def _in_floats(op: Op, entry: Entry) -> None:
    for k in range(entry.samples):
        case = make_case(op.name, k)
        for name, law in _FLOATS.items():
            law(op, case)
            entry.checks[name] += 1
        laws.formula_law(op, op.name, k)
        laws.single_law(op.name, k)
        entry.checks.update(("formula", "float32"))
        for dtype in laws.NARROW:
            if dtype == "float16" or _has_bfloat16():
                laws.narrow_law(op.name, k, dtype)
                entry.checks[dtype] += 1
        if takes_complex(op):
            case = make_case(op.name, k, dtype=np.complex128)
            for name in _COMPLEX:
                _FLOATS[name](op, case)
            laws.formula_law(op, op.name, k, np.complex128)
            entry.checks["complex"] += 1


def _has_bfloat16() -> bool:
    try:
        return as_dtype("bfloat16") is not None
    except DtypeError:
        return False


def _exactly(op: Op, entry: Entry) -> None:
    for k in range(entry.samples):
        case = make_case(op.name, k)
        entry.arguments += exact_law(op, case)
        entry.checks["definition"] += 1
        if takes_complex(op) and any(laws.is_leaf(a) for a in case[0]):
            exact_law(op, make_case(op.name, k, dtype=np.complex128))
            entry.checks["complex definition"] += 1
        if entry.by_sympy == entry.asked:  # what it cannot do once, it is not asked again
            found = symbolic(op, _small(op, k))
            entry.asked += len(found)
            entry.by_sympy += sum(found)


def _small(op: Op, k: int) -> Case:
    """A sample at sizes for SymPy, or as it is where its parameters need more."""
    try:
        args, params = make_case(op.name, k, _SMALL)
        op.kernel(*args, **params)
    except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return make_case(op.name, k)
    return args, params


def _at_points(op: Op, entry: Entry) -> None:
    for point in points(op):
        points_law(point)
        entry.points += 1


def _in_c(op: Op, entry: Entry) -> None:
    if compiler() is None:
        entry.in_c = "not run"
        return
    forms = Counter[str]()
    for k in range(min(entry.samples, _IN_C)):
        for program, arrays in _programs(op, make_case(op.name, k)):
            try:
                with TemporaryDirectory() as folder:
                    text = text_of(program, Path(folder))
            except CompileError:  # the words say which op has no form in C
                continue
            _compared_in_c(op, program, text, arrays)
            forms[program.name] += 1
    entry.checks["C"] += forms.total()
    entry.in_c = "yes" if forms["slope"] else "value" if forms else "no form"


def _programs(op: Op, case: Case) -> Iterator[tuple[Any, list[Any]]]:
    """The compiled value of a sample and the gradient of a function of it, with their arguments."""
    args, params = case
    places = [i for i, a in enumerate(args) if laws.is_data(a)]
    arrays = [args[i] for i in places]
    if not arrays:
        return

    def value(*xs: Any) -> Any:
        given = dict(zip(places, xs, strict=True))
        return op(*(given.get(i, a) for i, a in enumerate(args)), **params)

    yield compiled(value, *arrays, name="value").program, arrays
    targets = tuple(k for k, i in enumerate(places) if i in laws.differentiable(op, args))
    if targets and np.asarray(laws.run_kernel(op, args, params)).dtype.kind == "f":

        def total(*xs: Any) -> Any:
            out = value(*xs)
            return (out * lookup("sin")(out)).sum()

        yield compiled(grad(total, argnums=targets), *arrays, name="slope").program, arrays


def _compared_in_c(op: Op, program: Any, text: str, arrays: list[Any]) -> None:
    """A program in C gives what the NumPy program does."""
    want = program.function(*arrays)
    with TemporaryDirectory() as folder:
        got, code = called(library([text], Path(folder), "-O0"), program, text, *arrays)
    laws.demand(not code, f"{op.name}: {program.name} in C gives the code {code}")
    for a, b in zip(got, want if isinstance(want, (tuple, list)) else (want,), strict=True):
        laws.close(a, b, 1e-10, f"{op.name}: {program.name} in C")

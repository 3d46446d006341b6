"""What every printed derivative keeps: its value, read back from each kind of text, at three random sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import FormulaTooDeep
from symgrad.formula.canonical.simplify import canonical
from symgrad.formula.printing.formats import spelled
from symgrad.formula.printing.latex import latex
from symgrad.formula.reading.text import from_latex, parse_formula
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.sympy.expressions import to_sympy
from symgrad.formula.sympy.terms import from_sympy_expr
from symgrad.formula.term import Term, evaluate, symbols as symbols_of
from tests.formulas.generator import values_for

SIZES = ((2, 3, 4), (4, 2, 3), (3, 5, 2))


def readings(term: Term, known: list[Term]) -> dict[str, Term]:
    """The term as it is read back from each text that is printed of it."""
    text = latex(term, lines=100_000)
    plain = spelled(text, "unicode")
    found = {
        "canonical": canonical(term),
        f"LaTeX {text}": from_latex(text, known, shape=term.shape),
        f"Unicode {plain}": from_unicode(plain, known, shape=term.shape),
    }
    try:
        expr = to_sympy(term, symbols=known)
    except FormulaTooDeep:
        return found
    written = str(expr)
    found[f"text {written}"] = parse_formula(written, known)
    found[f"SymPy {written}"] = from_sympy_expr(expr, known)
    return found


def problems(made: Term, term: Term, seed: int) -> list[str]:
    """What is wrong with the texts of ``term``, a derivative of ``made``; nothing when all is well."""
    known = [s for s in symbols_of(made, term) if s.op.name == "symbol"]
    wrong = []
    found = readings(term, known)
    rng = np.random.default_rng(seed)
    for n, m, p in SIZES:
        sizes = {"n": n, "m": m, "p": p}
        values = values_for([made, term], rng, sizes)
        want = np.asarray(evaluate(term, values, sizes))
        for name, reading in found.items():
            problem = _difference(evaluate(reading, values, sizes), want)
            if problem:
                wrong.append(f"{name} at sizes {n}, {m}, {p}: {problem}")
    once = found["canonical"]
    if canonical(once) is not once:
        wrong.append(
            f"not idempotent: {latex(once, canonical=False)} becomes {latex(canonical(once), canonical=False)}"
        )
    return wrong


def _difference(got: Any, want: np.ndarray) -> str:
    got = np.asarray(got)
    if got.size != want.size:
        return f"shape {got.shape} instead of {want.shape}"
    finite = np.isfinite(want)
    scale = np.abs(want[finite]).max(initial=1e-6)
    away = np.abs(got.reshape(want.shape)[finite] - want[finite]).max(initial=0.0)
    return "" if away <= 1e-6 * scale else f"off by {away:.3g} of {scale:.3g}"


def problems_of_a_tensor(tensor: Any, values: dict[str, Any]) -> list[str]:
    """What is wrong with the texts of a recorded derivative, and whether its canonical form changes again."""
    known = sg.formula(tensor).symbols
    want = np.asarray(tensor.numpy(force=True))
    # A size may be all that is left of an argument: log det(A ⊗ X) has the gradient n X⁻ᵀ.
    sizes = sizes_of(tensor.term, want)
    for s in known:
        if s.name in values:
            sizes |= sizes_of(s, np.asarray(values[s.name]))
    try:
        found = readings(tensor.term, known)
        got = {name: np.asarray(evaluate(t, values, sizes)) for name, t in found.items()}
    except Exception as error:  # noqa: BLE001  (every entry is reported)
        return [str(error)]
    wrong = [
        name
        for name, value in got.items()
        if value.size != want.size or not np.allclose(value.reshape(want.shape), want, rtol=1e-5, atol=1e-8)
    ]
    return wrong if canonical(found["canonical"]) is found["canonical"] else [*wrong, "not idempotent"]


def sizes_of(term: Term, value: np.ndarray) -> dict[str, int]:
    """The letters that the shape of a result tells."""
    return {n: k for n, k in zip(term.shape, value.shape, strict=True) if isinstance(n, str) and n.isidentifier()}

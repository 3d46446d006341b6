"""Derivatives along tangents: the jvp of each argument by itself, and of all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, is_array_like, is_differentiable
from symgrad.check.asking.calling import like
from symgrad.check.asking.derivatives import Derivative
from symgrad.check.asking.kinds import jvp_function
from symgrad.check.asking.nested import Given, leaves
from symgrad.check.asking.outputs import (
    SEED,
    at_path,
    cotangent_of,
    output_leaves,
    output_parts,
    path_text,
    product,
    several_text,
)
from symgrad.check.asking.subject import Subject
from symgrad.check.compare import Question, compared, joined
from symgrad.check.oracle.trust import reads_one_triangle, symmetrised
from symgrad.check.report import ArgumentReport, Diagnosis, Report
from symgrad.errors import ArgumentError


def check_jvp(question: Question, out: Any, tangents: Sequence[Any] | None) -> Report:
    """The jvp along a tangent of one argument at a time, and along all together: it has to be linear."""
    q, count = question, len(question.args)
    places = q.flat.holders(q.argnums)
    chosen = _read(q, tangents, places) if tangents is not None else _drawn(q, out, places)
    jvp = jvp_function(q.grad, count) if callable(q.grad) else None
    if jvp is None and (tangents is None or len(places) > 1):
        raise ArgumentError(
            "the result of a jvp can be compared for one argument and tangents=; for several give the function, "
            "jvp(primals, tangents)."
        )

    def along(values: Sequence[Any], some: Sequence[int], path: tuple[Any, ...]) -> Any:
        if jvp is None:
            return as_array(at_path(q.grad, path, several_text(out) if path else "f gave one array")).copy()
        moves = [_tangent(values[k], chosen.get(k) if k in some else None) for k in range(len(values))]
        return _tangent_of(jvp(q.flat.whole(values), q.flat.whole(moves)), out, path)

    reports = []
    for path, _ in output_leaves(out):
        reports.append(_check_result(q, out, path, places, [np.asarray(chosen[k]) for k in places], along))
    if not reports:
        raise ArgumentError("f gave no floating-point array to differentiate.")
    return joined(q.label, reports)


Along = Callable[[Sequence[Any], Sequence[int], tuple[Any, ...]], Any]


def _check_result(
    q: Question, out: Any, path: tuple[Any, ...], places: list[int], tangents: list[Any], along: Along
) -> Report:
    def f(*values: Any) -> Any:
        return at_path(q.f(*q.flat.whole(values)), path, several_text(out) if path else "")

    def again(values: Sequence[Any]) -> list[Any]:
        return [along(values, [k], path) for k in places]

    given = Given(f, q.flat.args, q.flat.names, again(q.flat.shown), places, again, len(q.flat.args))
    label = q.label + path_text(path)
    report = compared(given, Derivative("jvp", tangents, q.method), "jvp", label, q.rtol)
    if report.ok and len(places) > 1:
        report.arguments += _not_linear(report, along(q.flat.shown, places, path))
    return report


def _not_linear(report: Report, together: Any) -> list[ArgumentReport]:
    """A report on all tangents together, if that is not the sum of those on each."""
    exact = np.sum([a.exact for a in report.arguments], axis=0)
    tolerance = np.sum([a.tolerance for a in report.arguments], axis=0)
    if together.shape == exact.shape and np.all((np.abs(together - exact) <= tolerance) | ~np.isfinite(exact)):
        return []
    name = ", d".join(a.name for a in report.arguments)
    mistake = Diagnosis(
        "not linear", "Along all tangents together it is not the sum of those along each.", "a product of tangents"
    )
    made = ArgumentReport(name, together, exact, tolerance, int(np.size(exact)), None, mistake)
    made.kind, made.function, made.outputs = "jvp", report.arguments[0].function, np.ndim(exact)
    return [made]


def _drawn(q: Question, out: Any, places: Sequence[int]) -> dict[int, Any]:
    """Random tangents; symmetric ones for symmetric matrices, of which functions may read one triangle."""
    rng = np.random.default_rng(SEED)
    found = {}
    for k in places:
        x = as_array(q.flat.args[k])
        if x.dtype.kind == "c":
            raise ArgumentError(f"{q.flat.names[k]} is complex; check the vjp (kind='vjp').")
        found[k] = rng.normal(size=x.shape)
    with np.errstate(all="ignore"):
        triangles = reads_one_triangle(_weighted(q, out, places))
    return {k: symmetrised(v) if k in triangles else v for k, v in found.items()}


def _weighted(q: Question, out: Any, places: Sequence[int]) -> Subject:
    """The results as one number, whose gradient is for symmetric matrices only where a result is."""
    v = cotangent_of(out, q.flat.shown, np.random.default_rng(SEED))
    return Subject(lambda *values: product(v, q.f(*q.flat.whole(values))), q.flat.args, places, q.flat.names)


def _read(q: Question, tangents: Sequence[Any], places: Sequence[int]) -> dict[int, Any]:
    """Tangents as they were given, in the structure of the arguments."""
    if len(q.args) == 1 and not (isinstance(tangents, (tuple, list)) and len(tangents) == 1):
        tangents = (tangents,)
    if len(tangents) != len(q.args):
        raise ArgumentError(f"tangents= holds {len(tangents)} tangents for {len(q.args)} arguments.")
    flat = [leaf for v in tangents for _, leaf in leaves(v, "")]
    if len(flat) != len(q.flat.args):
        raise ArgumentError("tangents= has to have the structure of the arguments.")
    for k in places:
        if np.shape(as_array(flat[k])) != np.shape(as_array(q.flat.args[k])):
            raise ArgumentError(
                f"the tangent of {q.flat.names[k]} has shape {np.shape(as_array(flat[k]))}, it has "
                f"{np.shape(as_array(q.flat.args[k]))}."
            )
    return {k: as_array(flat[k]).astype(float) for k in places}


def _tangent(value: Any, chosen: Any) -> Any:
    """A tangent for a value in its precision and library: zeros where none was chosen, None for what is no array."""
    if not is_array_like(value) or not is_differentiable(value):
        return None
    array = as_array(value)
    return like(value, np.zeros_like(array) if chosen is None else np.asarray(chosen, array.dtype))


def _tangent_of(found: Any, out: Any, path: tuple[Any, ...]) -> Any:
    """The tangent of a result, of ``tangents`` or ``(results, tangents)``."""
    if (
        isinstance(found, (tuple, list))
        and len(found) == 2
        and (output_parts(out) is None or all(_alike(part, out) for part in found))
    ):
        found = found[1]
    return as_array(at_path(found, path, several_text(out) if path else "")).copy()


def _alike(value: Any, out: Any) -> bool:
    mine, theirs = output_parts(value), output_parts(out)
    return (mine is None) == (theirs is None) and (mine is None or len(mine) == len(theirs or ()))

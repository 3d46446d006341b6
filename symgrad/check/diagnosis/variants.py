"""Mistakes in one local derivative: it is taken at another value, twice, or with a factor too many or too few.

Each hypothesis walks over the edges of the graph, from the output down, and proposes what the edge may have handed down
instead (:mod:`symgrad.check.graph.surgery`).  Values that may be mixed up are those that the function has computed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.diagnosis.constants import constant_name
from symgrad.check.diagnosis.windows import places_read
from symgrad.check.graph import surgery
from symgrad.check.graph.surgery import Change, Local
from symgrad.check.report import Diagnosis
from symgrad.op import TABLE, lookup
from symgrad.op.partials import factor_of
from symgrad.tape.graph import Node

BUDGET = 20_000
"""Visits of nodes for each hypothesis."""

MOST_VALUES = 60
"""Values of the function that are tried in the place of others."""

LARGEST_FLIPPED = 1000
"""Entries of operands that are tried in the reverse order."""

MOST_ENDS = 6
"""Values that the derivative of a part may be left out down to."""

MOST_PARTS = 60
"""Parts of a gradient of which two may be wrong."""


class Variant(NamedTuple):
    """What an edge may have handed down, and the words for it."""

    node: Any
    i: int
    change: Change
    say: Callable[[], Diagnosis]


class Value(NamedTuple):
    """An array that the function has computed or was given, and its formula."""

    array: Any
    text: Callable[[], str]


# ---------------------------------------------------------------------------------------------- the search


def variant(case: Case) -> Diagnosis | None:
    """The first local change that explains the gradient."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps:
        return None
    values = _values(case)
    for propose in (
        _turned_round,
        _left_out,
        _composed,
        _rule_elsewhere,
        _other_operand,
        _factors,
        _powered,
        _without_ends,
    ):
        told = tried(case, rows, propose, values)
        if told is not None:
            return told
    return None


def overwritten(case: Case) -> Diagnosis | None:
    """Entries that are read several times get the gradient of the last time only."""
    rows = case.by_rows()
    return None if rows.surgeon is None or not rows.surgeon.sweeps else tried(case, rows, _overwritten, [])


def tried(case: Case, rows: Case, propose: Callable[..., Iterator[Variant]], values: list[Value]) -> Diagnosis | None:
    """The first proposal for an edge that explains the gradient."""
    for node, i in rows.edges(BUDGET):
        for found in propose(case, node, i, values):
            if rows.meets(rows.altered(node, i, found.change)):
                return case.keep(partial(Case.altered, node=found.node, i=found.i, change=found.change), found.say())
    return None


def _values(case: Case) -> list[Value]:
    """The values that may be mixed up: arguments first, then what the function computes."""
    found: dict[Any, Value] = {}

    def add(array: Any, text: Callable[[], str]) -> None:
        array = np.asarray(array)
        if (array.dtype.kind in "fc" and array.size and not np.all(array == array.flat[0])) or array.shape == ():
            key = (array.shape, array.tobytes()) if array.size < 10_000 else id(array)
            if (len(found) < MOST_VALUES and abs(array.flat[0]) != 1) or array.ndim:
                found.setdefault(key, Value(array, text))

    output, subject = case.exact.output, case.subject
    for k in subject.data:
        add(subject.args[k], partial(str, subject.names[k]))
    if case.replay is not None:
        for node in case.replay.nodes:
            for edge in (*node.args, node):
                array = case.replay.value(edge)
                if array is not None:
                    add(array, partial(surgery.text_of, output, edge) if not _is_number(edge) else partial(str, edge))
    return list(found.values())


def _is_number(edge: Any) -> bool:
    return isinstance(edge, (int, float, complex))


def _saved(case: Case, node: Any) -> list[Any] | None:
    """The result and the operands of a node, by value."""
    if case.replay is None:
        return None
    return [case.replay.value(edge) for edge in (node, *node.args)]


# ---------------------------------------------------------------------------------------------- what may be wrong


def _turned_round(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """A linear operation in the place of its transpose, or a conjugate that is missing."""

    def told(said: str, hint: str) -> Callable[[], Diagnosis]:
        return lambda: Diagnosis(
            "transpose" if "transpose" in said else "conjugate",
            said.format(surgery.describe_node(case.exact.output, node)),
            hint,
            case.line(node),
        )

    if len(node.args) == 1 and node.op.kind != "elementwise":
        said = f"The gradient goes through {node.op.name} itself, not through its transpose, in {{}}."
        yield Variant(node, i, surgery.transposed_rule, told(said, "its direction: the transpose runs backwards"))
    if node.args[i].dtype.kind == "c":
        said = "The gradient that {} hands down is conjugated once too often, or not at all."
        yield Variant(node, i, surgery.conjugated, told(said, "conj() of one factor, or Aᵀ for Aᴴ"))
        for unit, name in ((1j, "i"), (-1j, "-i")):
            said = f"The gradient that {{}} hands down is multiplied by {name}."
            hint = "the imaginary part in place of the real one, or an i that the derivative of exp(i x) brings"
            yield Variant(node, i, partial(_times, w=unit), told(said, hint))


def _left_out(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """The derivative of a whole part by the argument under check, or by a value of its shape on the way there."""
    arg, leaf = node.args[i], case.exact.leaves[case.number]
    if not isinstance(arg, Node):
        return
    ends = [leaf, *surgery.nodes_below(arg)[1:]]

    def told(to: Any, twice: bool) -> Diagnosis:
        factor = None if twice else _factor_above(arg, to)
        if factor is not None:
            product, other = (surgery.text_of(case.exact.output, edge) for edge in factor)
            said = f"The factor {other} is left out, in {product}."
            return Diagnosis("inner derivative", said, "the derivative of a product", case.line(factor[0]))
        part, end = (surgery.text_of(case.exact.output, edge) for edge in (arg, to))
        said = "is multiplied in twice" if twice else "is left out"
        return Diagnosis(
            "inner derivative", f"The derivative of {part} by {end} {said}.", "the chain rule", case.line(arg)
        )

    for to in [end for end in ends if end.raw_shape == arg.raw_shape][:MOST_ENDS]:
        yield Variant(node, i, surgery.Straight(to), partial(told, to, False))
        yield Variant(node, i, surgery.Straight(to, True), partial(told, to, True))


def _factor_above(arg: Any, to: Any) -> tuple[Any, Any] | None:
    """The product, and its other factor, if a value ``to`` comes to ``arg`` by that product and by sums."""
    while isinstance(arg, Node):
        if arg.op.name == "mul" and sum(a is to for a in arg.args) == 1:
            return arg, next(a for a in arg.args if a is not to)
        if arg.op.name not in ("add", "sub"):
            return None
        below = [a for a in arg.args if isinstance(a, Node) and _leads_to(a, to)]
        if len(below) != 1:
            return None
        arg = below[0]
    return None


def _without_ends(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """The first or the last part of a value along an axis brings nothing: a loop or a slice that ends early."""
    for axis, n in enumerate(node.shape):
        for end, said in ((0, "first"), (-1, "last")) if n > 1 else ():
            yield Variant(node, i, partial(_ended, axis=axis, end=end), partial(_ended_told, case, node, axis, said))


def _ended(local: Local, axis: int, end: int) -> Any:
    g = np.array(local.g)
    if g.ndim <= axis:
        return None
    np.moveaxis(g, axis, 0)[end] = 0
    return local.of(g)


def _ended_told(case: Case, node: Any, axis: int, said: str) -> Diagnosis:
    part = surgery.describe_node(case.exact.output, node)
    along = f" along axis {axis}" if len(node.shape) > 1 else ""
    what = f"What comes through the {said} part of {part}{along} is missing."
    return Diagnosis("slice", what, "a loop or a slice that starts late or ends early", case.line(node))


def _composed(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """The derivative of a function that f writes out, as ``1 / (1 + exp(-x))``: argument and result mixed up."""
    arg = node.args[i]
    if not isinstance(arg, Node) or case.replay is None or not arg.shape or arg.dtype.kind != "f":
        return
    out = case.replay.value(arg)
    ends = [end for end in surgery.nodes_below(arg)[1:] if end.shape == arg.shape][:MOST_ENDS]
    leaf = case.exact.leaves[case.number]
    for end in [*ends, *([leaf] if leaf.raw_shape == arg.shape else [])]:
        x = case.replay.value(end)
        op = None if x is None or x.dtype.kind != "f" or out is None else _function_of(x, out)
        if op is None:
            continue
        for at, said in ((x, "takes the argument for the result"), (out, "takes the result for the argument")):
            with np.errstate(all="ignore"):
                slope = np.asarray(factor_of(op.partials[0], at, at))
            yield Variant(
                node, i, surgery.Straight(end, slope=slope), partial(_composed_told, case, op, arg, end, said)
            )


@functools.cache
def _told_by_result() -> tuple[Any, ...]:
    """The functions of one argument whose derivative is told by their result alone, as that of tanh is."""
    return tuple(op for op in TABLE.values() if op.partials and len(op.partials) == 1 and op.needs(1) == ((-1,), ()))


def _function_of(x: Any, out: Any) -> Any:
    """The function of the table that makes one array of another, where its derivative can be told by its result."""
    for op in _told_by_result():
        with np.errstate(all="ignore"):
            if np.allclose(op.kernel(x), out, rtol=1e-12, atol=0):
                return op
    return None


def _composed_told(case: Case, op: Any, arg: Any, end: Any, said: str) -> Diagnosis:
    of = surgery.text_of(case.exact.output, end)
    hint = "the value before and after"
    return Diagnosis(
        "local derivative", f"The derivative of {op.name} {said}, in {op.name}({of}).", hint, case.line(arg)
    )


def _rule_elsewhere(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:
    """The derivative of a function, taken twice or at another value."""
    if not any(map(callable, node.op.partials or ())) or node.op.name == "mul":  # a product's slope is an operand
        return
    saved = _saved(case, node)
    if saved is None or any(v is None for v in saved) or np.shape(saved[i + 1]) != node.shape:
        return
    x, line, graph = saved[i + 1], case.line(node), case.exact.output

    def told(said: str, hint: str) -> Callable[[], Diagnosis]:
        return lambda: Diagnosis(
            "local derivative",
            f"The derivative of {node.op.name} {said}, in {surgery.describe_node(graph, node)}.",
            hint,
            line,
        )

    def at(other: Any) -> Change:
        operands = [*saved[1 : i + 1], other, *saved[i + 2 :]]
        with np.errstate(all="ignore"):
            return partial(_at, saved=(node.op(*operands, **(node.params or {})), *operands))

    if len(node.args) == 1:
        before_after = "the value before and after"
        yield Variant(node, i, _twice, told("is multiplied in twice", "a cotangent that has passed it already"))
        yield Variant(node, i, partial(_at, saved=(x, x)), told("takes the argument for the result", before_after))
        out = (saved[0], saved[0])
        yield Variant(node, i, partial(_at, saved=out), told("takes the result for the argument", before_after))
        for twin in map(lookup, node.op.twins or ()):
            if twin.partials and len(twin.partials) == 1 and callable(twin.partials[0]):
                said = f"is that of {twin.name}"
                yield Variant(node, i, partial(_by_twin, twin=twin), told(said, f"{twin.name} for {node.op.name}"))
    if len(node.args) == 2 and callable(other := node.op.partials[1 - i]):
        with np.errstate(all="ignore"):
            slope = factor_of(other, *saved, **(node.params or {}))
        of_other = told("is the one by its other argument", "xᵃ⁻¹ and log(a) aˣ: which argument varies")
        yield Variant(node, i, partial(_by, w=slope), of_other)
    itself = partial(_by, w=saved[0])
    yield Variant(node, i, itself, told("is taken to be its value", f"{node.op.name} itself for its derivative"))
    for factor, text in ((-1, "minus its argument"), (2, "twice its argument"), (0.5, "half its argument")):
        yield Variant(node, i, at(factor * x), told(f"is taken at {text}", "its argument"))
    for value in values:
        of_a_kind = value.array.shape == x.shape and (value.array.dtype.kind == "c") <= (x.dtype.kind == "c")
        if of_a_kind and not np.array_equal(value.array, x):
            yield Variant(node, i, at(value.array), partial(_taken_at, told, value))


def _taken_at(told: Callable[..., Callable[[], Diagnosis]], value: Value) -> Diagnosis:
    return told(f"is taken at {value.text()}", "a value of another step, or a stale one")()


def _twice(local: Local) -> Any:
    before = local.fitted(local.g)
    return np.where(before != 0, local.c * local.c / np.where(before != 0, before, 1), 0).astype(local.c.dtype)


def _by(local: Local, w: Any) -> Any:
    return local.fitted(local.g * w)


def _by_twin(local: Local, twin: Any) -> Any:
    """The rule of another function, at the same argument and result."""
    out, x = local.saved[0], local.saved[1]
    out = twin.kernel(x) if out is None else out
    x = out if x is None else x
    return local.fitted(local.g * factor_of(twin.partials[0], out, x))


def _at(local: Local, saved: tuple[Any, ...]) -> Any:
    return local.apply(*saved)


def _other_operand(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:
    """The derivative of a product or another function of several arguments with another operand."""
    if len(node.args) < 2 or node.op.kind not in ("elementwise", "multilinear"):
        return
    saved = case.surgeon.sweeps[0].get((node, i)) if case.surgeon is not None and case.surgeon.sweeps else None
    if saved is None:
        return
    for j, operand in enumerate(saved.saved):
        if operand is None or j in (0, i + 1) or not np.ndim(operand):
            continue
        arg = node.args[j - 1]

        def told(said: str, hint: str, arg: Any = arg) -> Callable[[], Diagnosis]:
            return lambda: Diagnosis(
                "operand",
                f"In the derivative of {node.op.name}, in {surgery.describe_node(case.exact.output, node)}, {said} "
                f"stands for {surgery.text_of(case.exact.output, arg)}.",
                hint,
                case.line(node),
            )

        if np.iscomplexobj(operand):
            yield Variant(node, i, partial(_with, j=j, value=np.conj(operand)), told("the conjugate", "Aᵀ for Aᴴ"))
        for axis in range(np.ndim(operand) if operand.size < LARGEST_FLIPPED else 0):
            said = f"the reverse order along axis {axis}" if np.ndim(operand) > 1 else "the reverse order"
            flipped = partial(_with, j=j, value=np.flip(operand, axis))
            yield Variant(node, i, flipped, told(said, "a kernel flipped, or not"))
        others = [*values, *_of_other_functions(case, arg)]
        for value in others:
            if value.array.shape == np.shape(operand) and not np.array_equal(value.array, operand):
                yield Variant(
                    node,
                    i,
                    partial(_with, j=j, value=value.array),
                    partial(_standing, told, value),
                )


def _of_other_functions(case: Case, arg: Any) -> Iterator[Value]:
    """The operand as people compute it again without a constant that is added or multiplies."""
    if case.replay is None or not isinstance(arg, Node):
        return
    for other in case.replay.without_constants():
        changed = case.replay.values_of(other).get(arg)
        if changed is not None and not np.array_equal(changed, case.replay.value(arg)):
            yield Value(np.asarray(changed), partial(_of_other_text, case, arg, other.said))


def _of_other_text(case: Case, arg: Any, said: str) -> str:
    return f"{surgery.text_of(case.exact.output, arg)} {said}"


def _standing(told: Callable[..., Callable[[], Diagnosis]], value: Value) -> Diagnosis:
    return told(value.text(), "a stale value, or one of another step")()


def _with(local: Local, j: int, value: Any) -> Any:
    return local.apply(*local.saved[:j], value, *local.saved[j + 1 :])


def _overwritten(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:  # noqa: ARG001
    """Entries that are read several times get the gradient of the last time only: ``g[i] = v`` for ``g[i] += v``."""
    arg, places = node.args[i], places_read(case, node)
    if places is None or places.size == np.unique(places).size:
        return

    def change(local: Local) -> Any:
        made = np.zeros(local.c.shape, local.c.dtype)
        made.ravel()[places.ravel()] = local.g.ravel()
        return made

    yield Variant(
        node,
        i,
        change,
        lambda: Diagnosis(
            "overwritten",
            f"Entries of {surgery.text_of(case.exact.output, arg)} that are read several times get the gradient of the "
            "last time only.",
            "g[index] = v, which overwrites, for np.add.at(g, index, v)",
            case.line(node),
        ),
    )


def _powered(case: Case, node: Any, i: int, values: list[Value]) -> Iterator[Variant]:
    """A square or a root of a value that is multiplied in, or divided by: a norm for its square."""
    return _factors(case, node, i, values, True)


def _simple(value: Value) -> list[tuple[Any, Callable[[], str]]]:
    w, text = value
    ones = [(1 - w, partial(prefixed, "1 - {}", text)), (1 + w, partial(prefixed, "1 + {}", text))]
    return [(w, text), *(ones if w.ndim else [])]


def _powers(value: Value) -> list[tuple[Any, Callable[[], str]]]:
    w, text = value
    root = [(np.sqrt(w), partial(prefixed, "sqrt({})", text))] if w.dtype.kind == "f" and np.all(w > 0) else []
    return [*root, (w * w, partial(prefixed, "({})**2", text))]


def _factors(case: Case, node: Any, i: int, values: list[Value], powers: bool = False) -> Iterator[Variant]:
    """A value that is multiplied in, or divided by, once too often or not at all."""
    arg = node.args[i]
    shape = arg.raw_shape

    def told(text: Callable[[], str], much: bool) -> Callable[[], Diagnosis]:
        def say() -> Diagnosis:
            word = "too many" if much else "missing"
            part = surgery.text_of(case.exact.output, arg)
            return Diagnosis(
                "local factor",
                f"A factor {text()} is {word} in the part of the gradient that comes through {part}, an argument of "
                f"{node.op.name}.",
                "the local derivative, or a factor that is multiplied in elsewhere already",
                case.line(node),
            )

        return say

    for value in values:
        w = value.array
        if w.ndim > len(shape) or not _stretches(w.shape, shape) or (w.dtype.kind == "c") > (arg.dtype.kind == "c"):
            continue
        for array, text in _powers(value) if powers else _simple(value):
            yield Variant(node, i, partial(_times, w=array), told(text, True))
            if np.all(array):
                yield Variant(node, i, partial(_over, w=array), told(text, False))
                yield Variant(node, i, partial(_over, w=-array), told(partial(_negated, text), False))


def _negated(text: Callable[[], str]) -> str:
    """The negative of a value, or of a number, in words."""
    said = text()
    return said[1:] if re.fullmatch(r"-[\d.]+", said) else f"-({said})"


def prefixed(form: str, text: Callable[[], str]) -> str:
    """A text that is made when it is needed, in another one."""
    return form.format(text())


def _times(local: Local, w: Any) -> Any:
    return (local.c * w).astype(local.c.dtype)


def _over(local: Local, w: Any) -> Any:
    return (local.c / w).astype(local.c.dtype)


def _stretches(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    return all(n in (1, m) for n, m in zip(shape[::-1], target[::-1], strict=False))


# ---------------------------------------------------------------------------------------------- two mistakes


def two_parts(case: Case) -> Diagnosis | None:
    """Two parts of the gradient with a factor each: one mistake in a value that both take part in, or two."""
    rows = case.by_rows()
    if rows.surgeon is None or rows.off is None or rows.g.size < 3 or np.iscomplexobj(rows.g):
        return None
    parts: list[tuple[Any, Any, int]] = []
    for node, i in rows.edges():
        moved = rows.altered(node, i, surgery.cut)
        if moved is None:
            continue
        part = (rows.g - moved).ravel()
        size = np.linalg.norm(part)
        if size > 0 and np.isfinite(size) and not any(abs(abs(part @ p) / size - 1) < 1e-9 for p, _, _ in parts):
            parts.append((part / size, node, i))
        if len(parts) == MOST_PARTS:
            break
    off = rows.off.ravel()
    found: list[Any] = []
    for (p, m, a), (q, n, b) in combinations(parts, 2):
        cosine = float(p @ q)
        (x, y) = np.linalg.solve([[1, cosine], [cosine, 1]], [p @ off, q @ off])
        if not rows.meets(rows.g + (x * p + y * q).reshape(rows.g.shape)):
            continue
        words = []
        for node, i, part, k in ((m, a, p, x), (n, b, q, y)):
            whole = float(part @ (rows.g - rows.altered(node, i, surgery.cut)).ravel())
            words.append(_factor_word(1 + k / whole, case))
        if None not in words and not _leads_to(m.args[a], n) and not _leads_to(n.args[b], m):
            found.append((words[0] != words[1], len(found), words, (m, a), (n, b)))
    return _pair_told(case, *min(found)[2:]) if found else None


def _leads_to(arg: Any, node: Any) -> bool:
    """Whether a value is computed from a node or a leaf: all that comes to that is among what comes to the value."""
    below = [*surgery.nodes_below(arg), *surgery.leaves_below(arg)] if isinstance(arg, Node) else ()
    return any(other is node for other in below)  # tensors are equal entry by entry


def _pair_told(case: Case, words: list[str], one: tuple[Any, int], two: tuple[Any, int]) -> Diagnosis:
    texts = [surgery.describe(case.exact.output, node, i) for node, i in (one, two)]
    line = case.line(one[0].args[one[1]])
    if words[0] != words[1]:
        said = f"The part of the gradient that comes from {texts[0]} {words[0]}, that from {texts[1]} {words[1]}."
        both = {*words} == {"is missing", "is counted twice"}
        hint = "2 A x, right for a symmetric A only, in place of (A + Aᵀ) x; or " if both else ""
        return Diagnosis("terms", said, f"{hint}two mistakes, or a value that both take part in", line)
    where = f"{texts[0]}, in two places," if texts[0] == texts[1] else f"{texts[0]}, and that from {texts[1]},"
    said = f"The part of the gradient that comes from {where} {words[0]}."
    return Diagnosis("terms", said, "a value that both take part in: a mean, a count, a statistic", line)


def _factor_word(factor: float, case: Case) -> str | None:
    if abs(factor) < 1e-5:
        return "is missing"
    name = constant_name(factor, case)
    known = {"-1": "is of the wrong sign", "2": "is counted twice"}
    return None if name is None else known.get(name, f"is {name} times what it should be")

"""The formulas of gradients that backward passes left: derivatives of the formulas of what they went back from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symgrad.errors import FormulaError
from symgrad.formula.derive import Derivation, jacobian, pulled_rows, wirtinger
from symgrad.formula.term import Term, full
from symgrad.ops.rules.kinks import turned, under
from symgrad.tape.backward.tether import at
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.formulas.hooked import through_hooks
from symgrad.tape.formulas.origin import Origin, origin_of
from symgrad.tape.graph import Node
from symgrad.tape.memory.versions import changes

if TYPE_CHECKING:
    from symgrad.tape.formulas.reading import Reading


def told_by_passes(tensor: Any) -> Any:
    """The passes that a gradient says more by than by its node; None for others."""
    origin = origin_of(tensor)
    came = None if tensor._extra is None else tensor._extra.came
    if origin is None and came is not None and came[0].known and not (tensor._requires_grad or changes(tensor._value)):
        return [(came[0], at(came[1]))]  # what depends on nothing still has the sizes of its tensor
    # A recorded gradient says what it is by its node; all entries of a Jacobian say it better at once.
    if origin is None or not (tensor._node is None or origin[0][0].pulled == "jacobian"):
        return None
    if origin is FormulaError:
        raise FormulaError(
            "this gradient has accumulated too many backward passes to keep their formulas; zero it (x.grad = None) "
            "and run one pass"
        )
    return origin


def passed_through(nodes: Sequence[Node]) -> list[Any]:
    """What the recorded passes went back from whose results are among the nodes, and those that made these in turn."""
    found: dict[int, Any] = {}
    seen: set[Origin] = set()
    rest = list(nodes)
    while rest:
        origin = getattr(rest.pop().args, "origin", None)
        if origin is not None and origin not in seen:
            seen.add(origin)
            found.update((id(root), root) for root in map(at, origin.roots))
            rest += nodes_below(origin.roots)[0]
    return list(found.values())


def roots_of(origin: list[tuple[Origin, Any]]) -> list[Any]:
    """What has to be read for the formula of a gradient: what the passes began with, and what they led to."""
    return [edge for passed, target in origin for edge in (*passed.roots, *(s for s in passed.seeds if s), target)]


def gradient_of(reading: Reading, origin: list[tuple[Origin, Any]]) -> Term:
    """The formula of a gradient: the sum of what the passes gave that it accumulated."""
    total: Any = None
    for passed, target in origin:
        term = _pulled(reading, passed, target)
        total = term if total is None else total + term
    return total  # type: ignore[no-any-return]


def _pulled(reading: Reading, passed: Origin, target: Any) -> Term:
    with under(passed.convention):
        return _pulled_now(reading, passed, target)


def _pulled_now(reading: Reading, passed: Origin, target: Any) -> Term:
    if passed.replaced:
        reading = reading.hooked(passed.replaced)
    if passed.pulled in _ENTRIES:
        return _ENTRIES[passed.pulled](reading[passed.roots[0]], reading[target])
    outputs = [reading[r] for r in passed.roots]
    if passed.pulled == "rows":
        return _rows(outputs, [reading[seed] for seed in passed.seeds], reading[target])
    seeds = [
        full(out.shape, 1, out.dtype) if seed is None else turned(reading[seed])
        for out, seed in zip(outputs, passed.seeds, strict=True)
    ]
    wrt = reading[target]
    found = Derivation(outputs, seeds, [wrt]).adjoints.get(wrt)
    if found is None:
        return full(wrt.shape, 0, wrt.dtype)
    return turned(through_hooks(passed.hooks_at(target), found))  # type: ignore[no-any-return]


def _rows(outputs: list[Term], stacks: list[Term], wrt: Term) -> Term:
    """The gradients for every entry of stacks of cotangents."""
    total: Any = None
    for out, rows in zip(outputs, stacks, strict=True):
        part = pulled_rows(out, wrt, rows)
        total = part if total is None else total + part
    return total  # type: ignore[no-any-return]


_ENTRIES: dict[str, Callable[[Term, Term], Term]] = {
    "jacobian": lambda out, wrt: turned(jacobian(out, wrt)),
    "dz": lambda out, wrt: wirtinger(out, wrt)[0],
    "dzbar": lambda out, wrt: wirtinger(out, wrt)[1],
}

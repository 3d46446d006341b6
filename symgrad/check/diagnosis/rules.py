"""Mistakes inside the derivative of one operation, as in that of a Cholesky factor: a half, a triangle, a transpose.

The rule of an operation is a small program of other operations.  It is recorded, and one step of it is changed at a
time; what the changed rule hands down is pulled back as in :mod:`symgrad.check.diagnosis.variants`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from symgrad.check.diagnosis.case import Case
from symgrad.check.graph import surgery
from symgrad.check.graph.lines import lines_noted
from symgrad.check.graph.replay import again, on_axis, other_axes
from symgrad.check.graph.surgery import Local
from symgrad.check.report import Diagnosis
from symgrad.tape.graph import Node
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

BUDGET = 20_000
"""Visits of nodes."""

FEWEST, MOST = 3, 60
"""Steps of rules that are looked into."""

LARGEST = 20_000
"""Entries of all values of a rule up to which it is looked into."""


class Edit(NamedTuple):
    """A step of a rule computed otherwise, from its operands, and the words for that."""

    node: Any
    run: Callable[..., Any]
    said: Callable[[], str]
    hint: str


class Program:
    """The rule of an edge as recorded operations on ``grad``, the gradient of the result, ``out`` and the operands."""

    def __init__(self, local: Local):
        names = ["grad", "out", *(f"x{k + 1}" for k in range(len(local.saved) - 1))]
        self.leaves = [_leaf(v, name) for v, name in zip((local.g, *local.saved), names, strict=True)]
        self.constants: dict[Any, Any] = {}
        self.output: Any = None
        self.nodes: list[Any] = []
        try:
            with np.errstate(all="ignore"), lines_noted(self.constants):
                found = local.rule(*self.leaves)
                while isinstance(found, Recorded) and found._node is not None and found._node.op.define is not None:
                    found = found._node.op.define(*found._node.args, **(found._node.params or {}))
                self.output = found if isinstance(found, Recorded) and found._node is not None else None
                if self.output is not None:
                    self.nodes = surgery.nodes_below(self.output._node, constant=True)[::-1]
                    right = np.asarray(local.rule(local.g, *local.saved))
                    works = np.allclose(self.run(local), right, rtol=1e-10, atol=1e-12 * np.max(np.abs(right)))
        except Exception:  # noqa: BLE001  (a rule that is no program of recorded operations)
            works = False
        size = sum(math.prod(node.shape) for node in self.nodes)
        self.works = self.output is not None and works and FEWEST <= len(self.nodes) <= MOST and size <= LARGEST

    def run(self, local: Local, *edits: Edit) -> Any:
        """What the rule hands down of other values, with some of its steps changed."""
        values = {id(leaf): v for leaf, v in zip(self.leaves, (local.g, *local.saved), strict=True)}
        runs = {edit.node: edit.run for edit in edits}
        made: dict[Any, Any] = {}
        for node in self.nodes:
            made[node] = again(node, made, self.constants, runs.get(node), of=lambda leaf: values[id(leaf)])
        return np.asarray(made[self.output._node])

    def changed(self, local: Local, edits: tuple[Edit, ...]) -> Any:
        """The same in the shape of the argument; None where that is none."""
        try:
            return local.fitted(self.run(local, *edits))
        except Exception:  # noqa: BLE001  (the changed rule need not be one)
            return None

    def text(self, edge: Any) -> str:
        """A value of the rule as a formula."""
        return surgery.text_of(self.output, edge)

    def edits(self) -> Iterator[tuple[Edit, ...]]:
        """Changes of one step, and of two matrices that are taken for their transposes."""
        turned = []
        for node in self.nodes:
            yield from ((edit,) for edit in _terms(self, node))
            yield from ((edit,) for edit in _skipped(self, node))
            yield from ((edit,) for edit in _other_axes(self, node))
            turned += list(_turned(self, node))
        yield from ((edit,) for edit in turned)
        yield from ((a, b) for a, b in combinations(turned, 2) if a.node is not b.node)


def inside_rule(case: Case) -> Diagnosis | None:
    """The first change in the rule of an operation that explains the gradient."""
    rows = case.by_rows()
    if rows.surgeon is None or not rows.surgeon.sweeps:
        return None
    for node, i in rows.edges(BUDGET):
        if node.op.kind != "primitive" and not surgery.is_unary(node):  # of a function of one number only, as of silu
            continue
        program = Program(rows.surgeon.sweeps[0][node, i])
        for edits in program.edits() if program.works else ():
            if rows.meets(rows.altered(node, i, partial(program.changed, edits=edits))):
                return _told(case, node, edits)
    return None


def _told(case: Case, node: Any, edits: tuple[Edit, ...]) -> Diagnosis:
    of = surgery.describe_node(case.exact.output, node)
    said = " and ".join(edit.said() for edit in edits)
    where = f"Inside the derivative of {node.op.name}, where out is {of} and grad its gradient"
    return Diagnosis("inside a rule", f"{where}: {said}.", edits[0].hint, case.line(node))


def _leaf(value: Any, name: str) -> Any:
    """A named tensor of an array; what is no array of floating-point numbers is itself."""
    if value is None or np.asarray(value).dtype.kind not in "fc":
        return value
    made = plain(Tensor, np.array(value)[()])
    made.more().name = name
    return made.requires_grad_()


# ---------------------------------------------------------------------------------------------- changes of one step


def _terms(program: Program, node: Node) -> Iterator[Edit]:
    """A term of a sum is missing, counted otherwise, or of the wrong sign."""
    if node.op.name not in ("add", "sub") or len(node.args) != 2:
        return
    for j, arg in enumerate(node.args):
        for factor, said in _TERMS.items():

            def run(*args: Any, j: int = j, factor: float = factor) -> Any:
                return node.op(*(factor * a if k == j else a for k, a in enumerate(args)))

            yield Edit(
                node, run, partial(_said, "the term {} " + said, program, arg), "a term, a diagonal counted twice"
            )


_TERMS = {
    0.0: "is missing",
    2.0: "is counted twice",
    -1.0: "has the wrong sign",
    0.5: "is halved",
    1.5: "is counted 3/2 times",
}


def _skipped(program: Program, node: Node) -> Iterator[Edit]:
    """A step is left out: a half, a triangle, a factor."""
    if node.op.name in ("add", "sub"):
        return
    for j, arg in enumerate(node.args):
        if getattr(arg, "raw_shape", None) == node.shape:
            of = f"{node.op.name} is left out, in {{}}" if len(node.args) == 1 else "{} is taken without its factor"
            yield Edit(
                node, lambda *args, j=j: np.asarray(args[j]), partial(_said, of, program, node), "a half, a triangle"
            )


def _other_axes(program: Program, node: Node) -> Iterator[Edit]:
    """A sum runs along another axis."""
    for axis, along in other_axes(node):
        run = on_axis(node, along)
        said = partial(_said, f"{{}} runs along axis {along}, not along axis {axis}", program, node)
        yield Edit(node, run, said, "the axis of a sum")


def _turned(program: Program, node: Node) -> Iterator[Edit]:
    """A square matrix is taken for its transpose."""
    for j, arg in enumerate(node.args):
        if node.op.kind == "elementwise" or not surgery.is_square(node, j):
            continue

        def run(*args: Any, j: int = j) -> Any:
            args = tuple(np.swapaxes(a, -1, -2) if k == j else a for k, a in enumerate(args))
            return node.op(*args, **(node.params or {}))

        said = partial(_said, "{} is taken for its transpose", program, arg)
        yield Edit(node, run, said, "A for Aᵀ")


def _said(form: str, program: Program, edge: Any) -> str:
    return form.format(program.text(edge))

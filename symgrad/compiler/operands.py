"""The operands of a contraction, made fewer: deltas, constants, transposes and broadcasts become labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.formula.term import Term
from symgrad.ops.shapes.shaping import squeeze_op


class Operands:
    """The operands of a contraction while it is being reduced: terms, labels, and scalar factors taken out."""

    def __init__(self, xs: Sequence[Term], inputs: Sequence[tuple[int, ...]], output: tuple[int, ...]):
        self.xs = list(xs)
        self.inputs = [tuple(row) for row in inputs]
        self.output = output
        self.scalars: list[Term] = []
        self.value: Any = 1

    def covered(self, k: int, label: int) -> bool:
        """Whether a label stays known without operand ``k``: in another operand, or broadcast into the output."""
        return self.output.count(label) == 1 or any(label in row for j, row in enumerate(self.inputs) if j != k)

    def step(self) -> bool:
        """One simplification; False when there is none."""
        return any(self._shorten(k) for k in range(len(self.xs)))

    def _shorten(self, k: int) -> bool:
        x, labels = self.xs[k], self.inputs[k]
        if len(self.xs) > 1 and not labels:
            self.scalars.append(x)
            del self.xs[k], self.inputs[k]
            return True
        op = x.op.name
        if op == "full" and len(self.xs) > 1 and all(self.covered(k, a) for a in labels):
            if isinstance(x.params["value"], str):
                return False
            self.value = self.value * x.params["value"]
            del self.xs[k], self.inputs[k]
            return True
        if op == "eye" and len(self.xs) > 1:
            return self._drop_identity(k, *labels)
        if op == "permute":
            dims = x.params["dims"]
            self.xs[k] = x.args[0]
            self.inputs[k] = tuple(labels[dims.index(j)] for j in range(len(dims)))
            return True
        if op == "unsqueeze" and self.covered(k, labels[x.params["dim"]]):
            dim = x.params["dim"]
            self.xs[k], self.inputs[k] = x.args[0], (*labels[:dim], *labels[dim + 1 :])
            return True
        if op == "expand":
            return self._unexpand(k, x, labels)
        if op == "einsum" and len(x.args) == 1:
            return self._inline(k, x, labels)
        single = tuple(j for j, a in enumerate(labels) if x.shape[j] == 1 and self._alone(k, a))
        if single and len(set(labels)) == len(labels):
            self.xs[k], self.inputs[k] = (
                squeeze_op(x, dim=single),
                tuple(a for a in labels if a not in [labels[j] for j in single]),
            )
            return True
        return False

    def _alone(self, k: int, label: int) -> bool:
        """Whether a label is summed, and in no other operand."""
        return label not in self.output and not any(label in row for j, row in enumerate(self.inputs) if j != k)

    def _drop_identity(self, k: int, a: int, b: int) -> bool:
        """A Kronecker delta renames one label to the other, unless both are labels of the result."""
        if (
            a == b
            or (a in self.output and b in self.output)
            or not any(a in row or b in row for j, row in enumerate(self.inputs) if j != k)
        ):
            return False
        old, new = (b, a) if a in self.output else (a, b)
        del self.xs[k], self.inputs[k]
        self.inputs = [tuple(new if x == old else x for x in row) for row in self.inputs]
        return True

    def _unexpand(self, k: int, x: Term, labels: tuple[int, ...]) -> bool:
        inner = x.args[0]
        lead = len(labels) - len(inner.shape)
        stretched = [j for j, size in enumerate(inner.shape) if size == 1 and x.shape[j + lead] != 1]
        dropped = [*labels[:lead], *(labels[j + lead] for j in stretched)]
        if not all(self.covered(k, a) for a in dropped) or len(set(labels)) < len(labels):
            return False
        self.xs[k] = squeeze_op(inner, dim=tuple(stretched)) if stretched else inner
        self.inputs[k] = tuple(a for a in labels if a not in dropped)
        return True

    def _inline(self, k: int, x: Term, labels: tuple[int, ...]) -> bool:
        """An operand that is a delta, a broadcast or a transpose is replaced by what it is made of."""
        inner, output = x.params["inputs"][0], x.params["output"]
        summed = [a for a in inner if a not in output]
        if summed or len(set(inner)) < len(inner) or len(set(labels)) < len(labels):
            return False
        names: dict[int, int] = {}
        merged: dict[int, int] = {}
        for mine, outer in zip(output, labels, strict=True):
            if mine in names:
                merged[outer] = names[mine]
            else:
                names[mine] = outer
        broadcast = [names[a] for a in dict.fromkeys(output) if a not in inner]
        if merged and (len(self.xs) == 1 or sum(a in self.output for a in (*merged, *merged.values())) > 1):
            return False
        if not all(self.covered(k, a) for a in broadcast):
            return False
        self.xs[k] = x.args[0]
        self.inputs[k] = tuple(names[a] for a in inner)
        if merged:
            self.inputs = [tuple(merged.get(a, a) for a in row) for row in self.inputs]
            self.output = tuple(merged.get(a, a) for a in self.output)
        return True

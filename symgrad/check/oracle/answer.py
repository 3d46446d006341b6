"""What the oracle answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from symgrad.check.graph.lines import Line


@dataclass
class Exact:
    """The answer of the oracle.

    gradients  exact gradients in double precision, one per argument under check
    tolerance  how far each entry of an honest gradient may be off
    low, high  the span of each entry over the pieces that meet at the point, where ``f`` has a kink there
    symmetric  the arguments (by position) that count as symmetric matrices, since ``f`` reads one triangle of them
    recorded   what the tape gives where ``f`` leaves it on the way: the gradient with what left it held constant
    output     the result of ``f`` as a tensor with its graph, None for a black box
    leaves     the arguments under check as tensors of that graph
    lines      the lines of f that its operations stand in
    constants  the values of the graph's constants
    surgeons   the recorded sweeps that a diagnosis changes, by what they start from
    replay     the operations with their values
    suspects   mistakes in the function that have explained the derivative by one of the arguments
    sampled    by position of the argument, how many entries are known where the others are not
    deadline   the time of ``time.monotonic()`` until which the mistake is looked for
    measured   whether it is known from values of ``f`` only, and so not exact
    as_arrays  whether ``f`` was given tensors with the methods of arrays
    missing    what goes along paths that the given gradients lack
    elsewhere  the function, the given and the exact gradients at other points, once they are known
    """

    method: str
    value: Any
    gradients: list[Any]
    tolerance: list[Any]
    low: list[Any] = field(default_factory=list)
    high: list[Any] = field(default_factory=list)
    symmetric: list[int] = field(default_factory=list)
    recorded: list[Any] = field(default_factory=list)
    output: Any = None
    leaves: list[Any] = field(default_factory=list)
    lines: dict[Any, Line] = field(default_factory=dict)
    constants: dict[Any, Any] = field(default_factory=dict)
    surgeons: dict[str, Any] = field(default_factory=dict)
    replay: Any = None
    suspects: list[Any] = field(default_factory=list)
    deadline: float = math.inf
    measured: bool = False
    as_arrays: bool = False
    sampled: dict[int, int] = field(default_factory=dict)
    missing: list[Any] = field(default_factory=list)
    elsewhere: list[Any] | None = None
    notes: list[str] = field(default_factory=list)

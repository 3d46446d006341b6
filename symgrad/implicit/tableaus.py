"""Steps of explicit Runge–Kutta methods, and the control of their size.

A method is its table of coefficients (Butcher 1964).  A step is written with operators, so it runs on arrays and, for
derivatives, on tensors.  Where an interval of time is cut is kept as fractions of it: the result is then a function of
the times at its ends, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.errors import NotConverged

Slope = Callable[[Any, Any], Any]
"""dy/dt at ``(time, y)``."""


class Tableau(NamedTuple):
    """Coefficients of a method: times of the stages, what each is made of, weights of the result and of its error.

    ``order`` is that of the result.  Without ``errors`` the steps are fixed; else the last stage is the slope at the
    end of the step, which stands in the error alone and is the first of the next one.
    """

    nodes: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    errors: tuple[float, ...]
    order: int


_DOPRI = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
_BOSH = (2 / 9, 1 / 3, 4 / 9)

METHODS: dict[str, Tableau] = {
    "euler": Tableau((0,), ((),), (1,), (), 1),
    "midpoint": Tableau((0, 1 / 2), ((), (1 / 2,)), (0, 1), (), 2),
    "rk4": Tableau(
        (0, 1 / 2, 1 / 2, 1), ((), (1 / 2,), (0, 1 / 2), (0, 0, 1)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (), 4
    ),
    # Bogacki and Shampine 1989
    "bosh3": Tableau((0, 1 / 2, 3 / 4), ((), (1 / 2,), (0, 3 / 4)), _BOSH, (-5 / 72, 1 / 12, 1 / 9, -1 / 8), 3),
    # Dormand and Prince 1980; Hairer, Nørsett and Wanner 1993, table II.5.2
    "dopri5": Tableau(
        (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
        (
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        _DOPRI,
        (71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
        5,
    ),
}  # fmt: skip


def step(method: Tableau, slope: Slope, t: Any, h: Any, y: Any, first: Any = None) -> tuple[Any, list[Any]]:
    """y one step later, and the slopes of the stages, of which ``first`` may be known."""
    slopes = [slope(t, y) if first is None else first]
    for node, row in zip(method.nodes[1:], method.rows[1:], strict=True):
        slopes.append(slope(t + node * h, y + h * _combined(row, slopes)))
    return y + h * _combined(method.weights, slopes), slopes


def _combined(row: Sequence[float], slopes: Sequence[Any]) -> Any:
    total = None
    for factor, k in zip(row, slopes, strict=False):
        if factor:
            total = factor * k if total is None else total + factor * k
    return total


class Control(NamedTuple):
    """How large steps are: of ``size`` at most, or such that errors stay below ``atol + rtol |y|``.

    The error of a step is measured in each of the ``blocks`` of y by the root of the mean square, and the largest
    counts: large arrays do not hide small ones.
    """

    method: Tableau
    name: str
    rtol: float
    atol: float
    size: float | None
    most: int
    blocks: tuple[slice, ...]

    def error(self, wrong: Any, y: Any, later: Any) -> float:
        """How large an error is beside what is allowed, which is 1."""
        return self.norm(wrong, np.maximum(np.abs(y), np.abs(later)))

    def norm(self, value: Any, size: Any) -> float:
        """The largest root mean square of a block, by what is allowed for a y of that size."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratio = np.where(value == 0, 0.0, value / (self.atol + self.rtol * np.asarray(size, np.float64)))
            flat = ratio.reshape(-1)
            return max((float(np.sqrt(np.mean(flat[b] ** 2))) for b in self.blocks if flat[b].size), default=0.0)


class March:
    """One walk through all times, on numbers.

    cuts    per interval: the fractions of it at which steps begin and end, from 0 to 1
    states  per interval: y at the beginning of every ``STRIDE``-th step
    """

    STRIDE = 16

    def __init__(self, control: Control):
        self.control = control
        self.cuts: list[Any] = []
        self.states: list[list[Any]] = []
        self.count = 0
        self._size = 0.0
        self._first: Any = None

    def through(self, slope: Slope, times: Any, y: Any) -> list[Any]:
        """y at all times."""
        if not np.isfinite(y).all():
            raise NotConverged(
                f"odeint ({self.control.name}): y is not finite at the start, t = {float(times[0]):.6g}."
            )
        found = [y]
        walk = self._adaptive if self.control.method.errors else self._fixed
        for begin, end in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
            y = walk(slope, begin, end, y)
            if not np.isfinite(y).all():
                raise NotConverged(
                    f"odeint ({self.control.name}): y is not finite at t = {end:.6g}. The equation may have no "
                    "solution up to there, or the steps are too long for it (step_size=...)."
                )
            found.append(y)
        return found

    def _fixed(self, slope: Slope, begin: float, end: float, y: Any) -> Any:
        size = self.control.size
        count = 1 if size is None else max(1, math.ceil(abs(end - begin) / size * (1 - 1e-12)))
        self._counted(count, begin)
        cuts = np.arange(count + 1) / count
        kept = []
        for k in range(count):
            if not k % self.STRIDE:
                kept.append(y)
            t, h = placed(cuts, k, begin, end)
            y = step(self.control.method, slope, t, h, y)[0]
        self.cuts.append(cuts)
        self.states.append(kept)
        return y

    def _adaptive(self, slope: Slope, begin: float, end: float, y: Any) -> Any:
        control, length = self.control, end - begin
        cuts, kept, grow = [0.0], [], 10.0
        if self._first is None:
            self._first = slope(begin, y)
            self._size = self._first_size(slope, begin, end, y)
        while cuts[-1] < 1.0:
            self._counted(1, begin + cuts[-1] * length)
            share = min(1.0, cuts[-1] + self._size / abs(length))
            share = 1.0 if 1.0 - share < 1e-10 else share  # no step of rounding at the end
            t, h = placed([cuts[-1], share], 0, begin, end)
            later, slopes = step(control.method, slope, t, h, y, self._first)
            last = slope(t + h, later)
            ratio = control.error(h * _combined(control.method.errors, [*slopes, last]), y, later)
            factor = 0.9 * ratio ** (-1 / control.method.order) if ratio > 0 else grow
            factor = min(grow, max(0.2, factor)) if math.isfinite(ratio) else 0.2
            if ratio <= 1:
                if not (len(cuts) - 1) % self.STRIDE:
                    kept.append(y)
                cuts.append(share)
                y, self._first, grow = later, last, 10.0
                if share < 1.0 or factor < 1.0 or self._size <= abs(h):
                    self._size = abs(h) * factor  # what an end of an interval made short says nothing of the next step
                continue
            self._size, grow = abs(h) * factor, 1.0
            if self._size <= 16 * np.spacing(max(abs(begin), abs(end))):
                raise NotConverged(
                    f"odeint ({control.name}): at t = {t:.6g} no step is short enough for rtol = {control.rtol:g} and "
                    f"atol = {control.atol:g}. The solution may end there, the equation may jump, or the tolerances "
                    f"are below what {y.dtype} can tell."
                )
        self.cuts.append(np.array(cuts))
        self.states.append(kept)
        return y

    def _first_size(self, slope: Slope, begin: float, end: float, y: Any) -> float:
        """A first step (Hairer, Nørsett and Wanner 1993, section II.4)."""
        control, first = self.control, self._first
        size = np.abs(y)
        far, fast = control.norm(y, size), control.norm(first, size)
        small = 1e-6 if far < 1e-5 or not 1e-5 <= fast < math.inf else 0.01 * far / fast
        small = min(small, abs(end - begin))
        towards = math.copysign(small, end - begin)
        second = slope(begin + towards, y + towards * first)
        bent = control.norm(second - first, size) / small
        steep = max(fast, bent)
        step = max(1e-6, small * 1e-3) if steep <= 1e-15 else (0.01 / steep) ** (1 / control.method.order)
        step = min(100 * small, step)
        return step if math.isfinite(step) and step > 0 else small

    def _counted(self, steps: int, t: float) -> None:
        self.count += steps
        if self.count > self.control.most:
            raise NotConverged(
                f"odeint ({self.control.name}): more than max_steps = {self.control.most} steps, at t = {t:.6g}. A "
                "stiff equation takes explicit methods many steps; loosen rtol and atol, or raise max_steps."
            )


def placed(cuts: Any, k: int, begin: Any, end: Any) -> tuple[Any, Any]:
    """Begin and size of step ``k`` of an interval."""
    length = end - begin
    return begin + float(cuts[k]) * length, (float(cuts[k + 1]) - float(cuts[k])) * length

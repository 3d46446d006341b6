"""A trial on a few examples: whether a function is the sum or the mean of what it is of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.dtypes import finfo
from symgrad.errors import ArgumentError
from symgrad.func.chances import drawing
from symgrad.parallel.work import Arguments, Gradients
from symgrad.tape.modes import no_grad


def try_reduction(job: Gradients, given: Arguments, arrays: Sequence[Any], size: int) -> bool:
    """Raise ``ArgumentError`` where the chunks of a batch do not make the whole in the way that was said.

    A function that fails on few examples, or is not finite there, is taken as it was described.  The answer is False
    where the trial says nothing, as of a function that is 0: then the next call tries again.
    """
    if size < 2:
        return False
    end = min(size, 5)
    middle = end // 2
    try:
        whole, left, right = (_value(job, given, arrays, span) for span in ((0, end), (0, middle), (middle, end)))
        near = float(finfo(whole.dtype).eps) ** 0.5 * 10 * float(abs(whole) + abs(left) + abs(right))
    except Exception:  # noqa: BLE001  (anything that a function raises)
        return False  # what is wrong with the arguments or the result the chunks will say, and at which examples
    made = {"sum": left + right, "mean": (middle * left + (end - middle) * right) / end}
    if not np.isfinite([whole, left, right]).all():
        return False
    said = "mean" if job.mean else "sum"
    fitting = [name for name, value in made.items() if abs(value - whole) <= near]
    if said not in fitting:
        advice = (
            "its examples depend on one another, or something is divided or added that belongs to the whole batch (a "
            "penalty beside a sum, the number of labels); take that out of the function, or pass verify=False if what "
            "the chunks give is what you want"
        )
        if fitting:
            verb = "adds" if fitting == ["sum"] else "averages"
            advice = f"it {verb} over its examples: pass reduction={fitting[0]!r}"
        raise ArgumentError(
            f"parallel: {job.name} of {end} examples is {float(whole):.6g}, "
            f"and reduction={said!r} of its values on {middle} and {end - middle} of them gives "
            f"{float(made[said]):.6g}: {advice}."
        )
    return len(fitting) == 1


def _value(job: Gradients, given: Arguments, arrays: Sequence[Any], span: tuple[int, int]) -> Any:
    args, kwargs = given.filled(arrays, span)
    with no_grad(), drawing("error"), job.reading(args, kwargs):
        out = job.function(*args, **kwargs)
    out = out[0] if job.has_aux else out
    return np.asarray(out._value)[()] if hasattr(out, "_value") else np.asarray(out)[()]

"""A value and its gradients once more, in as many digits as asked for, and how far the floats are from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.autograd.graphs.hooks import as_tensor
from symgrad.autograd.sweeps.entrances import grad
from symgrad.errors import ArgumentError, AutogradError, FormulaError
from symgrad.explaining.answer import Told, at_text, json_numbers, number_text
from symgrad.explaining.bars import called
from symgrad.explaining.replay import swept
from symgrad.explaining.scene import largest
from symgrad.explaining.verifying import differences
from symgrad.formula.derive import gradient
from symgrad.formula.digits import all_in_mpmath, without_digits
from symgrad.formula.term import full
from symgrad.tape.formulas.digits import known
from symgrad.tape.formulas.reading import read
from symgrad.tape.record import Recorded


class Replayed(Told):
    """What :func:`symgrad.replay` gives.

    ``of``         what the value is called
    ``digits``     how many digits hold
    ``value``      the value: an object array of mpmath's numbers
    ``gradients``  by the name of each leaf, the gradient of the sum of the entries, as such arrays
    ``ulps``       by name, how far the gradients of backward are from them, in units in the last place (float64 arrays)
    ``value_ulps`` the same of the value
    """

    def __init__(self, of: str, digits: int, value: Any, value_ulps: Any, gradients: dict[str, Any], ulps: Any):
        self.of = of
        self.digits = digits
        self.value = value
        self.value_ulps = value_ulps
        self.gradients = gradients
        self.ulps = ulps

    def text(self, of: str | None = None) -> Any:
        """The value (or the gradient by ``of``) as text with all of its digits: an object array of strings."""
        import mpmath

        if of is not None and of not in self.gradients:
            raise ArgumentError(f"text({of!r}): there are gradients by {', '.join(self.gradients) or 'nothing'}.")
        array = self.value if of is None else self.gradients[of]
        with mpmath.workdps(self.digits + 5):
            return np.frompyfunc(lambda v: str(mpmath.nstr(mpmath.mpmathify(v), self.digits)), 1, 1)(array)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON knows it; numbers are texts with all digits."""
        return {
            "of": self.of,
            "digits": self.digits,
            "value": np.asarray(self.text()).tolist(),
            "value_ulps": json_numbers(self.value_ulps),
            "gradients": {name: np.asarray(self.text(name)).tolist() for name in self.gradients},
            "ulps": {name: json_numbers(ulps) for name, ulps in self.ulps.items()},
        }

    def __str__(self) -> str:
        rows = [_line(self.of, self.value_ulps)]
        rows += [_line(f"the gradient by {name}", ulps) for name, ulps in self.ulps.items()]
        return f"In {self.digits} digits:\n" + "\n".join(rows)


def _line(of: str, ulps: Any) -> str:
    if not ulps.size:
        return f"{of} has no entries."
    return (
        f"{of} is off by at most {number_text(float(np.max(ulps)))} ulp{at_text(largest(ulps) if ulps.ndim else ())}."
    )


def replay(y: Any, digits: int = 50, wrt: Any = None) -> Replayed:
    """A recorded value and its gradients in ``digits`` digits, from exactly the floats that the leaves hold.

    y
        A computed tensor of any shape, floating-point (real or complex).
    digits
        Decimal digits that hold in the results: the working precision is raised until they do.
    wrt
        The leaves to have gradients by: a tensor, or a list of them.  By default all that require a gradient.

    The gradients are those of ``y.sum()``, conjugated as torch's for complex leaves.  They come from the rules of the
    ops on formulas; what they are compared with is a pass of backward, run again, so ``y`` may have been differentiated
    before.  Every op is evaluated in mpmath's numbers at array level, entry by entry: a thousand entries take about a
    second.

    Raises ``ArgumentError`` for what is no recorded tensor and for leaves that ``y`` does not depend on,
    ``FormulaError`` that names the operations which have no value in many digits (bits of integers, functions that
    are not known), ``AutogradError`` where a leaf was changed since.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.1, 0.2], dtype=sg.float64, requires_grad=True, name="x")
    >>> found = sg.replay((sg.exp(x) - 1).log().sum(), digits=30)
    >>> print(found.text("x")[0])
    10.5083319447750490693969267199
    >>> bool(found.ulps["x"].max() > 1)
    True
    """
    if not isinstance(y, Recorded) or y._value.dtype.kind not in "fc" or y._node is None:
        raise ArgumentError(
            "replay(y): y is a floating-point tensor that was computed from others which require a gradient (of a "
            "gradient, x.grad.evalf(n) gives the digits)."
        )
    if not isinstance(digits, int) or digits < 1:
        raise ArgumentError(f"replay(y, {digits!r}): digits is a whole number of at least 1.")
    reading, term = read(y)
    sources = {id(leaf): name for name, leaf in reading.sources.items()}
    leaves = _leaves(reading, wrt)
    names = [sources[id(leaf)] for leaf in leaves]
    seed = full(term.shape, 1, term.dtype)
    terms = [term, *gradient(term, [reading[leaf] for leaf in leaves], seed)] if leaves else [term]
    lacking = without_digits(terms)
    if lacking:
        raise FormulaError(
            f"replay: {', '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no value in many digits; compute "
            "that part before, and give its result as a tensor of its own."
        )
    values, sizes = known(y, reading, "replay")
    try:
        found = all_in_mpmath(terms, values, sizes, digits)
    except (OverflowError, ZeroDivisionError) as error:
        raise FormulaError(f"replay: the formula has no value in {digits} digits: {error}") from None
    floats = [y._value, *_engine(y, leaves)]
    exact = [np.broadcast_to(np.asarray(f, object), np.shape(v)) for f, v in zip(found, floats, strict=True)]
    ulps = [_ulps(np.asarray(v), f) for v, f in zip(floats, exact, strict=True)]
    gradients, off = (dict(zip(names, row[1:], strict=True)) for row in (exact, ulps))
    return Replayed(called(y), digits, exact[0], ulps[0], gradients, off)


def _leaves(reading: Any, wrt: Any) -> list[Any]:
    """The leaves that are asked for, in order of first use."""
    met = [leaf for leaf in reading.sources.values() if isinstance(leaf, Recorded) and leaf._requires_grad]
    if wrt is None:
        return met
    asked = list(wrt) if isinstance(wrt, Sequence) else [wrt]
    for leaf in asked:
        if not any(leaf is other for other in met):
            name = getattr(leaf, "name", None) or type(leaf).__name__
            raise ArgumentError(f"replay(y, wrt=…): {name} is no leaf that y depends on and that requires a gradient.")
    return asked


def _engine(y: Any, leaves: Sequence[Any]) -> list[Any]:
    """The gradients of a backward pass, zeros where nothing arrives; run again where the graph has been freed."""
    ones = np.ones(y._value.shape, y._value.dtype)
    made: Sequence[Any]
    try:
        made = grad([y], leaves, [as_tensor(ones, type(y))], retain_graph=True, allow_unused=True) if leaves else ()
    except AutogradError:
        reached = swept([(y.edge(), ones[()])], None).found
        made = tuple(reached.get(leaf) for leaf in leaves)
    values = [getattr(g, "_value", g) for g in made]
    like = [leaf._value for leaf in leaves]
    return [np.zeros_like(v) if g is None else np.asarray(g) for g, v in zip(values, like, strict=True)]


def _ulps(value: Any, exact: Any) -> Any:
    off, unit = differences(value, exact)
    with np.errstate(all="ignore"):
        return off / unit


__all__ = ["Replayed", "replay"]

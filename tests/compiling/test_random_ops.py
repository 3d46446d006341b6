"""Random programs over the op table, with infinities, nan and kinks among their inputs: compiled as eager.

What compiled programs may say in place of eager's nan is what they are for: with ``stable`` a number that the spelling
loses, and in derivatives 0 where a factor is 0 whatever the other one is, alone or as a part of a sum.  And they may
say nan of the derivative of what is nan itself.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.proving.samples import cases
from symgrad.tape import containers
from tests.compiling.random_ops import DTYPES, Program, program, quiet, shrunk, single

LEVELS = ("value", "slopes", "second")
CLOSE = {8: (1e-9, 1e-12, 1e-14, 1e4), 4: (1e-4, 1e-6, 1e-7, 1e3), 2: (2e-3, 1e-4, 1e-6, 1e3)}
"""By the bytes of a number: by which part of itself and of the largest one it may be off, by how much in any case, and
by how many times what it moves when steps round otherwise."""


def arrays(found: Any) -> list[Any]:
    return [np.asarray(x.detach().numpy() if isinstance(x, sg.Tensor) else x) for x in containers.flatten(found)[0]]


def eager(drawn: Program, level: str) -> list[Any]:
    """What the eager program gives; half precision is computed in single, as programs do, and rounded once."""
    whole = arrays(getattr(drawn, level)(*(sg.tensor(x, requires_grad=True) for x in drawn.inputs)))
    if not any(x.dtype == np.float16 for x in (*drawn.inputs, *whole)):
        return whole
    wide = (sg.tensor(x.astype("float32") if x.dtype == np.float16 else x, requires_grad=True) for x in drawn.inputs)
    return [x.astype(y.dtype) for x, y in zip(arrays(getattr(drawn, level)(*wide)), whole, strict=True)]


def rounded(seed: int, value: Any) -> Any:
    """``value`` with another last digit where it is no short number, as one that was computed otherwise has."""
    if not isinstance(value, sg.Tensor) or value.dtype.kind not in "fc":
        return value
    number = value.detach().numpy()
    short = ~np.isfinite(number) | (number * 64 == np.round(number * 64))
    step = 2 * np.finfo(number.dtype).eps * np.random.default_rng(seed).choice([-2, -1, 1, 2], number.shape)
    return value * np.where(short, 1, 1 + step).astype(number.real.dtype)


def unsure(drawn: Program, level: str, wanted: list[Any]) -> list[Any]:
    """By how much the entries of a result move when its steps round otherwise; infinity where they stay no numbers."""
    moved = [np.zeros(w.shape) for w in wanted]
    for seed in range(3):
        drawn.rounded = functools.partial(rounded, seed)
        for far, a, b in zip(moved, eager(drawn, level), wanted, strict=True):
            away = np.where(np.isfinite(a) & np.isfinite(b), apart(a, b), np.where(same(a, b), 0.0, np.inf))
            np.maximum(far, away, out=far)
    drawn.rounded = lambda value: value
    return moved


def apart(a: Any, b: Any) -> Any:
    wide = complex if "c" in (a.dtype.kind, b.dtype.kind) else float
    return np.abs(a.astype(wide) - b.astype(wide))


def tolerances(b: Any) -> tuple[float, ...]:
    return CLOSE[b.real.dtype.itemsize if b.dtype.kind in "fc" else 8]


def same(a: Any, b: Any) -> Any:
    if b.dtype.kind not in "fc":
        return a == b
    own, of_all, least, _ = tolerances(b)
    scale = np.abs(np.where(np.isfinite(b), b, 0)).max(initial=0)
    close = apart(a, b) <= own * np.abs(b) + of_all * scale + least
    if b.dtype.kind == "c":  # of which part is infinite, and which is nan, depends on the order of products
        return close | ~(np.isfinite(a) | np.isfinite(b))
    return (a == b) | (np.isnan(a) & np.isnan(b)) | close


def difference(drawn: Program, level: str, stable: bool) -> str:
    """What the compiled program gives otherwise than the eager one; nothing where there is no eager one."""
    with quiet():
        try:
            wanted = eager(drawn, level)
        except (SymgradError, np.linalg.LinAlgError):
            return ""
        try:
            found = arrays(sg.compile(getattr(drawn, level), stable=stable)(*drawn.inputs))
        except Exception as error:  # noqa: BLE001  (whatever it is, the eager program has none)
            return f"{type(error).__name__}: {error}"
        if [(a.shape, a.dtype) for a in found] != [(b.shape, b.dtype) for b in wanted]:
            return f"{level}: {found} for {wanted}"
        agree = [same(a, b) | _better(b, level, stable) for a, b in zip(found, wanted, strict=True)]
        if level != "value" and not all(map(np.all, agree)):
            lost = _of_nan(drawn, level)
            agree = [fine | (np.isnan(a) & nan) for a, fine, nan in zip(found, agree, lost, strict=True)]
        if not all(map(np.all, agree)):
            moved = unsure(drawn, level, wanted)
            for a, b, alike, far in zip(found, wanted, agree, moved, strict=True):
                wrong = ~(alike | (apart(a, b) <= tolerances(b)[-1] * far))
                if wrong.any():
                    return f"{level}: {a[wrong][:4]} for {b[wrong][:4]} at {np.argwhere(wrong)[:4].tolist()}"
    return ""


def _better(b: Any, level: str, stable: bool) -> Any:
    """Where something may stand in the place of nan."""
    return np.isnan(b) & np.bool_(stable or level != "value")


def _of_nan(drawn: Program, level: str) -> list[Any]:
    """Where a derivative is one of nan: an eager one is what the steps that were not taken leave of it."""
    values = [x for x in eager(drawn, "value") if x.dtype.kind in "fc"]
    everything = bool(values) and all(np.isnan(x).all() for x in values)
    below = eager(drawn, "slopes") if level == "second" else drawn.inputs
    return [np.isnan(x) | everything if level == "second" else np.full(x.shape, everything) for x in below]


def check(drawn: Program) -> None:
    for level in LEVELS:
        for stable in (False, True):
            if difference(drawn, level, stable):
                drawn = shrunk(drawn, lambda p: bool(difference(p, level, stable)))
                raise AssertionError(f"stable={stable}, {difference(drawn, level, stable)}{drawn!r}")


OTHERWISE = {
    "109-float32": "with stable, nan³ - nan³ is 0, and any() asks it",
    "560": "an index beyond an axis is no error without entries, as in torch; NumPy's is one there, too",
    "addcmul-2": "of x + x² at infinity the second derivative is 2; as it is written, x (1/x + 2), it is nan",
    "bce-0": "beyond [0, 1], slopes are divided by torch's 1e-12: the eager derivative has 15 of the digits of fifty, "
    "and the program takes terms of 1e12 from each other",
    "pseudo_huber-3": "at -800 beside 0.2, the eager second derivative has 6 of the digits of fifty, the program 15",
}
"""Programs that are compiled otherwise than they run, and why they may."""


def known(number: str) -> list[Any]:
    """The mark of a program that is ``OTHERWISE``."""
    return [pytest.mark.xfail(reason=OTHERWISE[number], strict=True)] if number in OTHERWISE else []


OF_NUMBERS = (4039, 4328, 4372)
"""Programs with a contraction or a sum of a number, which has no shape."""


@pytest.mark.parametrize(
    "number",
    [*range(30), *OF_NUMBERS, *(pytest.param(k, marks=[pytest.mark.slow, *known(str(k))]) for k in range(30, 2000))],
)
def test_programs_of_the_table_are_compiled_as_they_run(number):
    check(program(number))


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        *itertools.product(range(3, 11), DTYPES),
        *(
            pytest.param(k, dtype, marks=[pytest.mark.slow, *known(f"{k}-{dtype}")])
            for k, dtype in itertools.product(range(11, 200), DTYPES)
        ),
    ],
)
def test_programs_of_other_dtypes_are_compiled_as_they_run(number, dtype):
    check(program(number, dtype=dtype))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sample"), [pytest.param(name, k, marks=known(f"{name}-{k}")) for name, k in cases()])
def test_every_op_at_special_values(name, sample):
    drawn = single(name, sample)
    if drawn is not None:
        check(drawn)

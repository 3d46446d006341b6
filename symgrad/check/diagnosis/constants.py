"""Names for numbers: which well-known constant a ratio is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.check.graph.surgery import text_of

if TYPE_CHECKING:
    from symgrad.check.diagnosis.case import Case

_KNOWN = {
    "pi": math.pi,
    "2*pi": 2 * math.pi,
    "log(2)": math.log(2),
    "log(10)": math.log(10),
    "sqrt(2)": math.sqrt(2),
    "sqrt(2*pi)": math.sqrt(2 * math.pi),
    "log(2)**2": math.log(2) ** 2,
    "log(10)**2": math.log(10) ** 2,
    "pi/180": math.pi / 180,
    "e": math.e,
}


def constant_name(value: Any, case: Case) -> str | None:
    """The name of ``value``: a small fraction, a size, a known constant, an argument's value; None if it has none."""
    if isinstance(value, complex) or not math.isfinite(value) or not value:
        return None
    sign, size = ("-" if value < 0 else ""), abs(value)
    if _near(value, 1.0):
        return None
    fraction = Fraction(size).limit_denominator(12)
    plain = f"{sign}{fraction}" if _near(size, float(fraction)) and fraction.numerator <= 24 else None
    if plain is not None and fraction in (1, 2, Fraction(1, 2)):
        return plain
    of_size, of_scalar = _size_name(size, case, sign), _scalar_name(value, case)
    if of_size and of_scalar and "**" not in of_scalar:  # which of them is meant nobody knows
        return f"{of_size[:-1]} or {of_scalar.partition(' (')[0]})"
    named = of_size or of_scalar or _total_name(value, case) or plain
    if named:
        return named
    for name, known in {**_KNOWN, **_norm(case)}.items():
        for text, candidate in ((name, known), (_inverse(name), 1 / known)):
            if _near(size, candidate):
                return sign + text
    return None


def every_name(value: float, case: Case) -> dict[str, str]:
    """What ``value`` may be of numbers, sizes and arguments without axes, each with its text, the likeliest first."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    number, root = (Fraction(x).limit_denominator(100) for x in (size, size * size))
    shown = str(number) if _near(size, float(number)) else f"sqrt({root})"
    plain = {sign + shown: sign + shown} if _near(size, float(number)) and number.denominator <= 12 else {}
    found = plain if number in (2, Fraction(1, 2)) else {}
    sizes = {text: n for text, n in _sizes(case).items() if n}
    for form, of in _OF_SIZES.items():
        fits = {sign + form.format(t): n for t, n in sizes.items() if n > 1 and _near(size, of(n))}
        texts = {name: form.format(n) if "sqrt" in form and "sqrt" in shown else shown for name, n in fits.items()}
        found |= {name: f"{sign}{text} (= {name})" for name, text in texts.items()}
    pairs = [f"{sign}{a}/{b}" for a, n in sizes.items() for b, m in sizes.items() if n != m and _near(size, n / m)]
    found |= {name: f"{sign}{shown} (= {name})" for name in pairs}
    scalars, entries = _scalars(case), _entries(case)
    for named in (scalars, entries, _totals(case)):
        for form, of in _FORMS.items():
            made = {form.format(t): of(float(x)) for t, x in named if x and abs(x) != 1}
            names = ["-" * ((x < 0) != (value < 0)) + name for name, x in made.items() if _near(size, abs(x))]
            found |= {name: f"{name} (= {value:.4g})" for name in names}
    exponential = _exponential(value, [*scalars, *entries])
    if exponential is not None:
        found[exponential.partition(" (=")[0]] = exponential
    return found | plain


def _inverse(name: str) -> str:
    top, _, below = name.partition("/")
    if below:
        return f"{below}/{top}"
    return f"1/{name}" if name.isidentifier() else f"1/({name})"


def value_name(factor: Any, case: Case) -> str | None:
    """``factor`` as a number that the function computes on the way, as ‖x - y‖, its square, or their inverses."""
    replay = None if isinstance(factor, complex) else case.replay
    for node, value in {} if replay is None else replay.values.items():
        if np.ndim(value) or np.iscomplexobj(value) or not np.isfinite(value):
            continue
        of_value = _among(factor, [("{}", value)])
        if of_value is not None:
            text = text_of(case.exact.output, node)
            form, _, known = of_value.partition(" (= ")
            return f"{form.format(text if form == '{}' else f'({text})')} (= {known}"
    return None


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 * abs(b)


def _size_name(value: float, case: Case, sign: str) -> str | None:
    """``value`` as a size of an argument, its inverse or double, as Bessel's n/(n-1), or as one size over another.

    A ``sign`` stands before each of them.
    """
    sizes = _sizes(case)
    fraction = Fraction(value).limit_denominator(12)
    power = max(fraction.numerator, fraction.denominator) < 4 and _near(value, float(fraction))
    for form, of in _OF_SIZES.items():
        for text, n in sizes.items() if not power or form not in _HALVES else ():
            if n > 2 and _near(value, of(n)):
                plain = form.format(n) if "sqrt" in form else str(Fraction(of(n)).limit_denominator(2 * n))
                told = [form.format(text), _two_sizes(value, sizes, case) if form in _DOUBTFUL else None]
                return f"{sign}{plain} (= {' or '.join(sign + text for text in told if text)})"
    for form, number in {"{}": value, "sqrt({})": value * value}.items():
        pair = _two_sizes(number, sizes, case)
        if pair is not None:
            ratio = Fraction(number).limit_denominator(max(sizes.values()))
            return f"{sign}{form.format(ratio)} (= {sign}{form.format(pair)})"
    return None


def _sizes(case: Case) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, shape in _shapes(case):
        sizes |= {f"{name}.shape[{axis}]": n for axis, n in enumerate(shape)}
        sizes[f"{name}.size"] = math.prod(shape)
    return sizes


def _shapes(case: Case) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The shapes of the arguments, and of the arrays that the function has from elsewhere, with their names."""
    yield from ((case.subject.names[k], case.subject.args[k].shape) for k in case.subject.data)
    for source in case.exact.constants:
        name = source.name or source.variable
        if name is not None:
            yield name, source.shape


def _two_sizes(value: float, sizes: dict[str, int], case: Case) -> str | None:
    """``value`` as one size over another, which stands for it: of what is no parameter first, and along first axes."""
    derived = [case.subject.names[k] for k in case.subject.positions]
    ratio = Fraction(value).limit_denominator(max(sizes.values(), default=1))
    if min(ratio.numerator, ratio.denominator) < 3 or not _near(value, float(ratio)):
        return None  # halves and thirds have other reasons as well

    def rank(text: str) -> tuple[bool, bool]:
        return text.partition(".")[0] in derived, not text.endswith("[0]")

    pairs = [(a, b) for a, n in sizes.items() for b, m in sizes.items() if m and Fraction(n, m) == ratio]
    best = min(pairs, key=lambda pair: [rank(text) for text in pair[::-1]], default=None)
    return None if best is None else f"{best[0]}/{best[1]}"


_OF_SIZES: dict[str, Callable[[int], float]] = {
    "{}": float,
    "1/{}": lambda n: 1 / n,
    "{}/2": lambda n: n / 2,
    "2/{}": lambda n: 2 / n,
    "{0}/({0} - 1)": lambda n: n / (n - 1),
    "({0} - 1)/{0}": lambda n: (n - 1) / n,
    "sqrt({})": math.sqrt,
    "1/sqrt({})": lambda n: 1 / math.sqrt(n),
    "sqrt({0}/({0} - 1))": lambda n: math.sqrt(n / (n - 1)),
    "sqrt(({0} - 1)/{0})": lambda n: math.sqrt((n - 1) / n),
}


_HALVES = ("{}/2", "2/{}")
"""Forms of a size that are no name of 3 and 1/3, which powers bring."""

_DOUBTFUL = ("{0}/({0} - 1)", "({0} - 1)/{0}")
"""Forms of one size that two sizes may give as well."""


def _scalar_name(value: float, case: Case) -> str | None:
    """``value`` as an argument without axes, its square or double, or the inverse of one of these."""
    scalars = _scalars(case)
    return _among(value, scalars) or _exponential(value, scalars)


def _scalars(case: Case) -> list[tuple[str, Any]]:
    arguments = [(case.subject.names[k], case.subject.args[k]) for k in case.subject.data]
    return [(name, a) for name, a in arguments if not a.ndim and a.dtype.kind == "f"]


def _total_name(value: float, case: Case) -> str | None:
    """``value`` as the sum, mean or norm of an argument, its square or double, or the inverse of one of these."""
    return _among(value, _totals(case))


def _totals(case: Case) -> list[tuple[str, Any]]:
    subject = case.subject
    arrays = [(subject.names[k], np.asarray(subject.args[k])) for k in subject.data]
    chosen = [(name, a) for name, a in arrays if a.size > 2 and a.dtype.kind in "fib"]
    sums = [(f"{name}.{kind}()", getattr(a, kind)()) for kind in ("sum", "mean") for name, a in chosen]
    return [*sums, *((f"norm({name})", np.sqrt(np.sum(a * 1.0 * a))) for name, a in chosen)]


def parameter_name(value: Any, case: Case, other: str | None) -> str | None:
    """``value`` as one of a few parameters in one vector, its square, or their inverses; else its ``other`` name.

    Where that is a sign, a 2 or a size it is likelier.
    """
    if isinstance(value, complex) or (other is not None and (other in ("-1", "2", "1/2") or "=" in other)):
        return other
    entries = _entries(case)
    return _among(value, entries) or other or _exponential(value, entries)


def _entries(case: Case) -> list[tuple[str, Any]]:
    """The entries of vectors that may be parameters, with their names."""
    vectors = [(case.subject.names[k], case.subject.args[k]) for k in case.subject.data]
    few = [(name, a) for name, a in vectors if a.ndim == 1 and a.size <= FEW and a.dtype.kind == "f"]
    return [(f"{name}[{i}]", entry) for name, a in few for i, entry in enumerate(a)]


FEW = 12
"""Entries of a vector that are parameters, each with its own meaning."""


def _among(value: float, named: Sequence[tuple[str, Any]]) -> str | None:
    """``value`` as one of a few numbers, its square or double, an inverse of these, or the negative of one."""
    for name, array in named:
        if array and abs(array) not in (1, 2, 0.5):
            for form, of in _FORMS.items():
                made = of(float(array))
                if _near(abs(value), abs(made)):
                    sign = "-" if (made < 0) != (value < 0) else ""
                    return f"{sign}{form.format(name)} (= {value:.4g})"
    return None


_FORMS: dict[str, Callable[[float], float]] = {
    "{}": lambda x: x,
    "1/{}": lambda x: 1 / x,
    "{}**2": lambda x: x**2,
    "1/{}**2": lambda x: 1 / x**2,
    "2*{}": lambda x: 2 * x,
    "1/(2*{})": lambda x: 1 / (2 * x),
}


def _exponential(value: float, named: Sequence[tuple[str, Any]]) -> str | None:
    """``value`` as the exponential of a number, or of its double: what people take the logarithm of as a parameter."""
    for name, x in named:
        for k, form in ((1, "exp({})"), (-1, "exp(-{})"), (2, "exp(2*{})"), (-2, "exp(-2*{})")):
            if x and value and abs(math.log(abs(value)) - k * x) <= 1e-6 * min(1, abs(x)):
                return f"{'-' if value < 0 else ''}{form.format(name)} (= {value:.4g})"
    return None


def _norm(case: Case) -> dict[str, float]:
    norm = float(np.sqrt(np.sum(np.abs(case.g) ** 2)))
    return {"the norm of the exact gradient": norm} if norm else {}

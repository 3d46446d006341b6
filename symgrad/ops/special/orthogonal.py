"""Orthogonal polynomials.

Derivatives are polynomials of the same families (DLMF 18.9.19 to 18.9.28), so they have no poles at the ends of the
interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import get_default_dtype, is_real_floating, promote
from symgrad.errors import ArgumentError
from symgrad.op import Op, broadcast_shapes, family, fixed, sampling, shape_of
from symgrad.ops.calls.naming import within
from symgrad.ops.calls.still import decided_by
from symgrad.ops.elementwise.select import where
from symgrad.ops.elementwise.smooth import trunc
from symgrad.ops.reductions.sums import cast
from symgrad.ops.shapes.shaping import spread
from symgrad.precision import digits


def _polynomial(
    name: str,
    kernel: Any,
    slope: Callable[..., Any],
    in_digits: Any,
    doc: str,
    samples: list[Any],
    **example: Any,
) -> Op:
    return family(
        name,
        kernel,
        slope,
        digits=digits.by_entry(in_digits),
        example=(0.5, {"n": 3, **example}),
        samples=samples,
        doc=doc,
    )


chebyshev_t: Op = _polynomial(
    "chebyshev_polynomial_t",
    kernels.chebyshev_t,
    lambda x, n: n * gegenbauer(x, n=n - 1, a=1.0),
    lambda mp, x, n: mp.chebyt(n, x),
    "Chebyshev polynomial of the first kind, cos(n arccos x).",
    samples=sampling.orders("real", 3, 0, 1),
)
gegenbauer: Op = _polynomial(
    "gegenbauer_polynomial",
    kernels.gegenbauer,
    lambda x, n, a: 2 * a * gegenbauer(x, n=n - 1, a=a + 1),
    lambda mp, x, n, a: mp.gegenbauer(n, a, x) if n >= 0 else mp.mpf(0),
    "Gegenbauer polynomial: of the second Chebyshev kind for a = 1, Legendre's for a = 1/2.",
    a=0.5,
    samples=[
        sampling.one("real", "n", "m", n=3, a=0.5),
        sampling.one("real", "n", n=0, a=1.0),
        sampling.one("real", n=4, a=1.0),
    ],
)
laguerre: Op = _polynomial(
    "laguerre_polynomial",
    kernels.laguerre,
    lambda x, n, a: -laguerre(x, n=n - 1, a=a + 1),
    lambda mp, x, n, a: mp.laguerre(n, a, x) if n >= 0 else mp.mpf(0),
    "Laguerre polynomial; a = 0 is the plain one.",
    a=0,
    samples=[
        sampling.one("real", "n", "m", n=3, a=0),
        sampling.one("real", "n", n=1, a=2),
        sampling.one("real", n=4, a=1),
    ],
)
hermite: Op = _polynomial(
    "hermite_polynomial_h",
    kernels.hermite,
    lambda x, n: 2 * n * hermite(x, n=n - 1),
    lambda mp, x, n: mp.hermite(n, x) if n >= 0 else mp.mpf(0),
    "Hermite polynomial of the physicists, orthogonal under e^(-x²).",
    samples=sampling.orders("real", 3, 0, 1),
)
hermite_prob: Op = _polynomial(
    "hermite_polynomial_he",
    kernels.hermite_prob,
    lambda x, n: n * hermite_prob(x, n=n - 1),
    lambda mp, x, n: mp.power(2, -mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2)) if n >= 0 else mp.mpf(0),
    "Hermite polynomial of probability theory, orthogonal under e^(-x²/2).",
    samples=sampling.orders("real", 3, 0, 1),
)


def _degrees(name: str, n: Any) -> Any:
    """The degrees as whole numbers, cut off behind the point; what is recorded holds for these."""
    try:
        cut = trunc(n) if hasattr(n, "new_tensor") and is_real_floating(n.dtype) else n
        return np.asarray(decided_by(fixed(cut))).astype(np.int64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}(x, n): degrees are whole numbers; got {n!r:.60}.") from error


def _beside(x: Any, n: Any) -> Any:
    """The input in the common dtype of an input and a tensor of degrees."""
    if not hasattr(x, "dtype"):
        return n.new_tensor(x, dtype=n.dtype if is_real_floating(n.dtype) else get_default_dtype())
    common = promote(x, n)
    return x if common == x.dtype else cast(x, common)


def _public(name: str, call: Callable[[Any, int], Any], doc: str) -> None:
    def polynomial(input: Any, n: Any) -> Any:
        degrees = _degrees(name, n)
        if hasattr(n, "new_tensor"):  # degrees in a tensor have a dtype, which counts beside that of the input
            input = _beside(input, n)
        first, *others = np.unique(degrees).tolist() or [0]
        out = call(input, first)
        for degree in others:
            out = where(degrees == degree, call(input, degree), out)
        return spread(out, broadcast_shapes(tuple(shape_of(input)), degrees.shape)) if degrees.shape else out

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"{doc}, of degree ``n`` (a whole number, or one for every entry); 0 for a negative one."
    within("special")(polynomial)


def _shifted(x: Any) -> Any:
    """2x - 1, of whole numbers in the default dtype: uint8 has no -1, and int8 no 200."""
    kind = getattr(getattr(x, "dtype", None), "kind", "f")
    return 2 * (cast(x, get_default_dtype()) if kind in "biu" else x) - 1


def _u(x: Any, n: int) -> Any:
    return gegenbauer(x, n=n, a=1.0)


_CHEBYSHEV: dict[str, tuple[Callable[[Any, int], Any], str]] = {
    "chebyshev_polynomial_t": (lambda x, n: chebyshev_t(x, n=n), "Chebyshev polynomial of the first kind"),
    "chebyshev_polynomial_u": (_u, "Chebyshev polynomial of the second kind"),
    "chebyshev_polynomial_v": (lambda x, n: _u(x, n) - _u(x, n - 1), "Chebyshev polynomial of the third kind"),
    "chebyshev_polynomial_w": (lambda x, n: _u(x, n) + _u(x, n - 1), "Chebyshev polynomial of the fourth kind"),
}
for _name, (_call, _doc) in _CHEBYSHEV.items():
    _public(_name, _call, _doc)
    _public(f"shifted_{_name}", lambda x, n, call=_call: call(_shifted(x), n), f"{_doc}, on [0, 1]")  # type: ignore[misc]
_public("legendre_polynomial_p", lambda x, n: gegenbauer(x, n=n, a=0.5), "Legendre polynomial")
_public("laguerre_polynomial_l", lambda x, n: laguerre(x, n=n, a=0), "Laguerre polynomial")
_public("hermite_polynomial_h", lambda x, n: hermite(x, n=n), "Hermite polynomial of the physicists")
_public("hermite_polynomial_he", lambda x, n: hermite_prob(x, n=n), "Hermite polynomial of probability theory")

"""Modified Bessel functions of real order, under SciPy's names: those of whole orders stand with Bessel's others."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.errors import ArgumentError
from symgrad.op import Op, family, of_reals, sampling
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.smooth import exp
from symgrad.ops.special.bessel import bessel_i, bessel_ie, bessel_k, bessel_ke
from symgrad.ops.special.common import with_orders
from symgrad.precision import digits


def _of_two(name: str, kernel: Any, rules: Any, in_digits: Any, doc: str, **params: Any) -> Op:
    return with_orders(
        name,
        kernel,
        rules,
        digits=digits.by_entry(in_digits),
        example=(0.5, 2.0, params),
        samples=[
            sampling.many(("positive", "n", "m"), ("positive", "m"), **params),
            sampling.many(("positive",), ("positive",), **{k: n + 1 for k, n in params.items()}),
        ],
        doc=doc,
    )


bessel_kv: Op = of_reals(
    "bessel_kv",
    kernels.real_kv,
    lambda out, v, x: bessel_kv_slope(v, x, n=1),
    lambda out, v, x: -(bessel_kv(v - 1, x) + bessel_kv(v + 1, x)) / 2,
    domain="positive",
    digits=lambda mp, v, x: mp.besselk(v, x) if x != 0 else mp.inf,
    doc="Modified Bessel function of the second kind of real order: K_v(x), x > 0.",
)
bessel_kv_slope: Op = _of_two(
    "bessel_kv_slope",
    kernels.real_kv,
    (
        lambda g, out, v, x, *, n: g * bessel_kv_slope(v, x, n=n + 1),
        lambda g, out, v, x, *, n: -g * (bessel_kv_slope(v - 1, x, n=n) + bessel_kv_slope(v + 1, x, n=n)) / 2,
    ),
    lambda mp, v, x, n: mp.diff(lambda t: mp.besselk(t, x), v, n),
    "The n-th derivative of K_v(x) by its order.",
    n=1,
)
bessel_kve: Op = of_reals(
    "bessel_kve",
    kernels.real_kve,
    lambda out, v, x: bessel_kve_slope(v, x, n=1, k=0),
    lambda out, v, x: bessel_kve_slope(v, x, n=0, k=1),
    domain="positive",
    define=lambda v, x: exp(x) * bessel_kv(v, x),
    expanded=False,
    doc="e^x K_v(x) of real order, x > 0.",
)
bessel_kve_slope: Op = _of_two(
    "bessel_kve_slope",
    kernels.real_kve,
    (
        lambda g, out, v, x, *, n, k: g * bessel_kve_slope(v, x, n=n + 1, k=k),
        lambda g, out, v, x, *, n, k: g * bessel_kve_slope(v, x, n=n, k=k + 1),
    ),
    lambda mp, v, x, n, k: mp.diff(lambda t, y: mp.exp(y) * mp.besselk(t, y), (v, x), (n, k)),
    "The derivative of e^x K_v(x) of orders n by v and k by x; differences of orders have no digits far out.",
    n=1,
    k=0,
)


def _by_number(name: str, kernel: Any, slope: Any, in_digits: Any, doc: str, **params: Any) -> Op:
    return family(
        name,
        kernel,
        slope,
        domain="positive",
        digits=digits.by_entry(in_digits),
        example=(0.5, {"v": 0.5, **params}),
        samples=[
            sampling.one("positive", "n", "m", v=0.5, **params),
            sampling.one("positive", "n", v=2.25, **params),
            sampling.one("positive", v=-1.5, **params),
        ],
        doc=doc,
    )


bessel_iv: Op = _by_number(
    "bessel_iv",
    kernels.iv_number,
    lambda x, v: (bessel_iv(x, v=v - 1) + bessel_iv(x, v=v + 1)) / 2,
    lambda mp, x, v: mp.besseli(v, x),
    "Modified Bessel function of the first kind I_v(x) of an order v that is a real number.",
)
bessel_ive: Op = _by_number(
    "bessel_ive",
    kernels.ive_number,
    lambda x, v, k: bessel_ive(x, v=v, k=k + 1),
    lambda mp, x, v, k: mp.diff(lambda y: mp.exp(-y) * mp.besseli(v, y), x, k),
    "The k-th derivative of e^(-x) I_v(x) for x > 0, of an order v that is a real number.",
    k=0,
)


def _whole(v: Any) -> bool:
    return isinstance(v, int) and not isinstance(v, bool)


def _number(name: str, v: Any) -> float:
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        raise ArgumentError(
            f"{name}(v, z) takes a number (an int or a float) for its order v, got {type(v).__name__}; by its order "
            "kv and kve are differentiable, which take arrays."
        )
    return float(v)


@within("special")
def kv(v: Any, z: Any) -> Any:
    """The modified Bessel function of the second kind K_v(z) of real order, z > 0; differentiable by both.

    Arrays and tensors ``v`` and ``z`` are broadcast; a whole number ``v`` (an int) is no variable.  The integral of
    e^(-z cosh t) cosh vt (DLMF 10.32.9) and its derivatives by v.

    >>> import symgrad as sg
    >>> v = sg.tensor(1.5, dtype=sg.float64, requires_grad=True)
    >>> y = sg.special.kv(v, 2.0)
    >>> y.backward()
    >>> print(f"{y.item():.12f} {v.grad.item():.12f}")
    0.179906657952 0.107563453216
    """
    return bessel_k(z, n=abs(v)) if _whole(v) else bessel_kv(v, z)


@within("special")
def kve(v: Any, z: Any) -> Any:
    """e^z K_v(z), as :func:`kv`, for z so large that K is 0."""
    return bessel_ke(z, n=abs(v)) if _whole(v) else bessel_kve(v, z)


@within("special")
def iv(v: Any, z: Any) -> Any:
    """The modified Bessel function of the first kind I_v(z) of a real number ``v``; differentiable by z.

    Of orders that are no whole numbers for z > 0.  Raises ArgumentError for orders that are arrays or tensors: the
    derivative by v is not known here.
    """
    return bessel_i(z, n=abs(v)) if _whole(v) else bessel_iv(z, v=_number("iv", v))


@within("special")
def ive(v: Any, z: Any) -> Any:
    """e^(-|z|) I_v(z), as :func:`iv`, for z so large that I is infinite."""
    return bessel_ie(z, n=abs(v)) if _whole(v) else bessel_ive(z, v=_number("ive", v), k=0)

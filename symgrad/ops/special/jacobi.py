"""Jacobi's elliptic functions, under SciPy's name, with derivatives by the argument and by the parameter."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, of_reals
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.rules.constants import exact


def _jacobi(name: str, kernel: Any, by_argument: Any, by_parameter: Any, in_digits: Any, doc: str, **fields: Any) -> Op:
    return of_reals(
        name,
        kernel,
        by_argument,
        by_parameter,
        domain=("unit", "probability"),
        digits=in_digits,
        doc=doc,
        **fields,
    )


def _turned(u: Any, m: Any) -> Any:
    """The derivative of the amplitude by m, but for the sign: the factor of those of sn and cn."""
    return ellip_dn(u, m) * ellip_sd_integral(u, m) / 2


def _amplitude(mp: Any, u: Any, m: Any) -> Any:
    """By Landen's transformation (DLMF 22.20.6, 22.20.7), which takes a hundredth of the time of theta functions."""
    if m == 1:
        return mp.atan(mp.sinh(u))
    a, b, shares, scale = mp.mpf(1), mp.sqrt(1 - m), [], 1
    while abs(a - b) > mp.ldexp(a, 10 - mp.prec):
        a, b, c = (a + b) / 2, mp.sqrt(a * b), (a - b) / 2
        shares.append(c / a)
        scale *= 2
    angle = scale * a * u
    for share in reversed(shares):
        angle = (angle + mp.asin(share * mp.sin(angle))) / 2
    return angle


def _in_digits(kind: str) -> Any:
    def value(mp: Any, u: Any, m: Any) -> Any:
        if not 0 <= m <= 1:
            return mp.nan
        with mp.workprec(2 * mp.prec + 20):
            angle = _amplitude(mp, u, m)
            sn, cn = mp.sin(angle), mp.cos(angle)
            dn = mp.sqrt(1 - m + m * cn * cn)
            if kind in ("sn", "cn", "dn", "am"):
                out = {"sn": sn, "cn": cn, "dn": dn, "am": angle}[kind]
            elif m == 0:
                out = u / 2 - mp.sin(2 * u) / 4
            elif m == 1:
                out = u - sn if kind == "of sn" else mp.sinh(2 * u) / 4 - u / 2
            else:
                second = mp.ellipe(angle, m)
                out = (u - second) / m if kind == "of sn" else ((second - (1 - m) * u) / m - sn * cn / dn) / (1 - m)
        return +out

    return value


def _bend(u: Any, m: Any) -> Any:
    """Half the integral of sn⁴/dn², which is elementary where m is 0."""
    sn, cn = ellip_sn(u, m), ellip_cn(u, m)
    start = exact(3) / 16 * (u - sn * cn) - sn**3 * cn / 8
    return where(eq(m, 0), start, (ellip_sd_integral(u, m) - ellip_sn_integral(u, m)) / (2 * m))


def _bent(out: Any, u: Any, m: Any) -> Any:
    """The derivative of the integral of (sn/dn)² by m."""
    sn, cn, dn = ellip_sn(u, m), ellip_cn(u, m), ellip_dn(u, m)
    at_angle = (3 * out / 2 - _bend(u, m) - sn**3 * cn / (2 * dn**3)) / (1 - m)
    return at_angle - (sn / dn) ** 2 * out / 2


ellip_sn: Op = _jacobi(
    "ellip_sn",
    kernels.ellip_sn,
    lambda out, u, m: ellip_cn(u, m) * ellip_dn(u, m),
    lambda out, u, m: -ellip_cn(u, m) * _turned(u, m),
    _in_digits("sn"),
    "Jacobi's elliptic function sn(u, m), the sine of the amplitude; m from 0 to 1.",
    called=r"\mathrm{sn}",
    bounds=(-1, 1),
)
ellip_cn: Op = _jacobi(
    "ellip_cn",
    kernels.ellip_cn,
    lambda out, u, m: -ellip_sn(u, m) * ellip_dn(u, m),
    lambda out, u, m: ellip_sn(u, m) * _turned(u, m),
    _in_digits("cn"),
    "Jacobi's elliptic function cn(u, m), the cosine of the amplitude; m from 0 to 1.",
    called=r"\mathrm{cn}",
    bounds=(-1, 1),
)
ellip_dn: Op = _jacobi(
    "ellip_dn",
    kernels.ellip_dn,
    lambda out, u, m: -m * ellip_sn(u, m) * ellip_cn(u, m),
    lambda out, u, m: ellip_sn(u, m) * (m * ellip_cn(u, m) * ellip_sd_integral(u, m) - ellip_sn(u, m) / out) / 2,
    _in_digits("dn"),
    "Jacobi's elliptic function dn(u, m) = √(1 - m sn²), the slope of the amplitude; m from 0 to 1.",
    called=r"\mathrm{dn}",
    bounds=(0, 1),
)
ellip_am: Op = _jacobi(
    "ellip_am",
    kernels.ellip_am,
    lambda out, u, m: ellip_dn(u, m),
    lambda out, u, m: -_turned(u, m),
    _in_digits("am"),
    "Jacobi's amplitude am(u, m), the angle φ of which u is the integral F(φ, m); m from 0 to 1.",
    called=r"\mathrm{am}",
)
ellip_sn_integral: Op = _jacobi(
    "ellip_sn_integral",
    kernels.ellip_sn_integral,
    lambda out, u, m: ellip_sn(u, m) ** 2,
    lambda out, u, m: _bend(u, m) - ellip_sn(u, m) ** 2 * ellip_sd_integral(u, m) / 2,
    _in_digits("of sn"),
    "The integral of sn² from 0 to u, which has digits where m is next to 0.",
)
ellip_sd_integral: Op = _jacobi(
    "ellip_sd_integral",
    kernels.ellip_sd_integral,
    lambda out, u, m: (ellip_sn(u, m) / ellip_dn(u, m)) ** 2,
    _bent,
    _in_digits("of sd"),
    "The integral of (sn/dn)² from 0 to u: the derivatives of Jacobi's functions by m are multiples of it.",
)


@within("special")
def ellipj(u: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude of ``u`` for parameters m from 0 to 1, as in SciPy.

    Arrays and tensors are broadcast; each result is differentiable by both.  Beyond 0 and 1 they are nan.
    """
    return ellip_sn(u, m), ellip_cn(u, m), ellip_dn(u, m), ellip_am(u, m)

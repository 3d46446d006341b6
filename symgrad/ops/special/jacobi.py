"""Jacobi's elliptic functions, under SciPy's name, with derivatives by the argument and by the parameter."""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, elementwise
from symgrad.ops.calls.naming import within
from symgrad.ops.elementwise.select import eq, where
from symgrad.ops.rules.constants import exact


def _jacobi(name: str, kernel: Any, by_argument: Any, by_parameter: Any, in_digits: Any, doc: str, **fields: Any) -> Op:
    return elementwise(
        name,
        kernel,
        by_argument,
        by_parameter,
        public=(),
        dtypes="float",
        refuses="c",
        domain=("unit", "probability"),
        digits=in_digits,
        doc=doc,
        **fields,
    )


def _turned(u: Any, m: Any) -> Any:
    """The derivative of the amplitude by m, but for the sign: the factor of those of sn and cn."""
    return ellip_dn(u, m) * ellip_sd_integral(u, m) / 2


def _amplitude(mp: Any, u: Any, m: Any) -> Any:
    quarter = mp.ellipk(m) if m < 1 else mp.inf
    turns = mp.nint(u / (2 * quarter))
    rest = u - (2 * turns * quarter if turns else 0)
    return mp.atan2(mp.ellipfun("sn", rest, m=m), mp.ellipfun("cn", rest, m=m)) + turns * mp.pi


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
    lambda mp, u, m: mp.ellipfun("sn", u, m=m),
    "Jacobi's elliptic function sn(u, m), the sine of the amplitude; m from 0 to 1.",
    called=r"\mathrm{sn}",
    bounds=(-1, 1),
)
ellip_cn: Op = _jacobi(
    "ellip_cn",
    kernels.ellip_cn,
    lambda out, u, m: -ellip_sn(u, m) * ellip_dn(u, m),
    lambda out, u, m: ellip_sn(u, m) * _turned(u, m),
    lambda mp, u, m: mp.ellipfun("cn", u, m=m),
    "Jacobi's elliptic function cn(u, m), the cosine of the amplitude; m from 0 to 1.",
    called=r"\mathrm{cn}",
    bounds=(-1, 1),
)
ellip_dn: Op = _jacobi(
    "ellip_dn",
    kernels.ellip_dn,
    lambda out, u, m: -m * ellip_sn(u, m) * ellip_cn(u, m),
    lambda out, u, m: ellip_sn(u, m) * (m * ellip_cn(u, m) * ellip_sd_integral(u, m) - ellip_sn(u, m) / out) / 2,
    lambda mp, u, m: mp.ellipfun("dn", u, m=m),
    "Jacobi's elliptic function dn(u, m) = √(1 - m sn²), the slope of the amplitude; m from 0 to 1.",
    called=r"\mathrm{dn}",
    bounds=(0, 1),
)
ellip_am: Op = _jacobi(
    "ellip_am",
    kernels.ellip_am,
    lambda out, u, m: ellip_dn(u, m),
    lambda out, u, m: -_turned(u, m),
    _amplitude,
    "Jacobi's amplitude am(u, m), the angle φ of which u is the integral F(φ, m); m from 0 to 1.",
    called=r"\mathrm{am}",
)
ellip_sn_integral: Op = _jacobi(
    "ellip_sn_integral",
    kernels.ellip_sn_integral,
    lambda out, u, m: ellip_sn(u, m) ** 2,
    lambda out, u, m: _bend(u, m) - ellip_sn(u, m) ** 2 * ellip_sd_integral(u, m) / 2,
    lambda mp, u, m: (u - mp.ellipe(_amplitude(mp, u, m), m)) / m if m else u / 2 - mp.sin(2 * u) / 4,
    "The integral of sn² from 0 to u, which has digits where m is next to 0.",
)
ellip_sd_integral: Op = _jacobi(
    "ellip_sd_integral",
    kernels.ellip_sd_integral,
    lambda out, u, m: (ellip_sn(u, m) / ellip_dn(u, m)) ** 2,
    _bent,
    lambda mp, u, m: mp.quad(lambda t: (mp.ellipfun("sn", t, m=m) / mp.ellipfun("dn", t, m=m)) ** 2, [0, u]),
    "The integral of (sn/dn)² from 0 to u: the derivatives of Jacobi's functions by m are multiples of it.",
)


@within("special")
def ellipj(u: Any, m: Any) -> tuple[Any, Any, Any, Any]:
    """Jacobi's elliptic functions sn, cn, dn and the amplitude of ``u`` for parameters m from 0 to 1, as in SciPy.

    Arrays and tensors are broadcast; each result is differentiable by both.  Beyond 0 and 1 they are nan.

    >>> import numpy as np
    >>> print(*(f"{part:.9f}" for part in ellipj(np.float64(1.0), np.float64(0.5))))
    0.803001824 0.595976568 0.823161001 0.932315076
    """
    return ellip_sn(u, m), ellip_cn(u, m), ellip_dn(u, m), ellip_am(u, m)

"""Sample inputs for every op: made from the op's ``domain``, and listed here for ops with parameters.

A sample is a function of a :class:`Maker`, which knows sizes by letter; the same sample at other sizes gives the fresh
values at which formulas are evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.op import TABLE, Op
from symgrad.ops.indexing.getitem import HOLE, Index
from symgrad.proving.making import SIZES, Case, Maker, Sample


def _one(domain: str, *letters: Any, **params: Any) -> Sample:
    """A sample of one array; string parameters in brackets are sizes."""
    return lambda make: ((make(domain, *letters),), _sized(make, params))


def _sized(make: Maker, params: dict[str, Any]) -> dict[str, Any]:
    return {k: v(make) if callable(v) else v for k, v in params.items()}


def _sizes(*letters: Any) -> Callable[[Maker], tuple[int, ...]]:
    return lambda make: make.shape(*letters)


def _many(*arrays: tuple[Any, ...], **params: Any) -> Sample:
    return lambda make: (tuple(make(*a) for a in arrays), _sized(make, params))


def _reductions(domain: str = "real", **params: Any) -> list[Sample]:
    return [
        _one(domain, "n", "m", dim=(0, 1), keepdim=False, **params),
        _one(domain, "n", "m", dim=(1,), keepdim=True, **params),
        _one(domain, "n", "m", "p", dim=(0, 2), keepdim=False, **params),
    ]


def _along(domain: str = "real", **params: Any) -> list[Sample]:
    return [
        _one(domain, "n", "m", dim=0, **params),
        _one(domain, "n", "m", dim=1, **params),
        _one(domain, "n", dim=0, **params),
    ]


def _square(domain: str, **params: Any) -> list[Sample]:
    return [_one(domain, "n", "n", **params), _one(domain, "q", "n", "n", **params)]


_BASIC = (
    1,
    slice(0, 2),
    (slice(None), 1),
    (slice(None, None, -1),),
    (None, slice(None), slice(1, None)),
    (Ellipsis, 0),
    (slice(1, 3), slice(None, None, 2)),
    (slice(None, -1),),
)
_FANCY = (
    np.array([0, 2, 2]),
    (np.array([0, 2, 1, 0]), np.array([1, 1, 3, 1])),
    (slice(None), np.array([[1, 0], [1, 3]])),
    np.array([-1, 0]),
)


_HOLES: tuple[tuple[Any, tuple[tuple[Any, ...], ...]], ...] = (
    (HOLE, (("n", "p"),)),
    ((slice(None), HOLE), (("p",),)),
    ((HOLE, HOLE), (("p", 1), ("n",))),
    ((HOLE, slice(0, 2)), (("p",),)),
)
"""Indices with operands, and the shapes of these."""


def _picking(index: Any, shapes: tuple[tuple[Any, ...], ...]) -> Sample:
    """``x[index]`` with arrays of places as operands, negative and repeated ones among them."""
    return lambda make: (
        (make("real", "n", "m"), *(make("place", *shape) for shape in shapes)),
        {"index": Index(index)},
    )


def _putting(index: Any, shapes: tuple[tuple[Any, ...], ...]) -> Sample:
    def sample(make: Maker) -> Case:
        shape, places = (9, 7), [make("place", *shape) for shape in shapes]
        got = np.zeros(shape)[Index(index).filled(places)].shape
        return (make("real", *got), *places), {"index": Index(index), "shape": shape}

    return sample


def _writing(index: Any) -> Sample:
    def sample(make: Maker) -> Case:
        x, places = make("real", "n", "m"), np.array([2, -1, 0])  # each once: which of two writes counts is not said
        return (x, make("real", *x[Index(index).filled([places])].shape), places), {"index": Index(index)}

    return sample


def _masked(make: Maker) -> Case:
    return (make("real", 3, 4),), {"index": Index(np.arange(12).reshape(3, 4) % 3 == 1)}


def _fixed(sample: Sample) -> Sample:
    return lambda make: sample(Maker({**make.sizes, "n": 3, "m": 4}, 5, make.dtype))


def _put(index: Any) -> Sample:
    def sample(make: Maker) -> Case:
        # No input has the target's sizes, so they stay the same numbers.
        shape = (9, 8)
        got = np.zeros(shape)[index].shape
        return (make("real", *got),), {"index": Index(index), "shape": shape}

    return sample


def _index_put(index: Any) -> Sample:
    def sample(make: Maker) -> Case:
        x = make("real", "n", "m")
        return (x, make("real", *x[index].shape)), {"index": Index(index)}

    return sample


def _einsum(inputs: Any, output: Any) -> Sample:
    def sample(make: Maker) -> Case:
        sizes = {label: make.size("nmpq"[label]) for label in range(4)}
        args = tuple(make("real", *(sizes[k] for k in labels)) for labels in inputs)
        return args, {"inputs": inputs, "output": output, "shape": tuple(sizes[k] for k in output)}

    return sample


def _multiple(y: Any, factor: Any) -> Case:
    """x / y stays away from the integers, where the remainder jumps."""
    return (y * factor, y), {}


def _scattered(constant: bool = False, places: tuple[int, ...] = (0, 2), **params: Any) -> Sample:
    """Some places of every column; none of them twice unless ``places`` says so."""

    def sample(make: Maker) -> Case:
        count = len(places)
        index = np.broadcast_to(np.array(places).reshape(-1, 1), make.shape(count, "m")).copy()
        src = 9 if constant else make("real", count, "m")
        return (make("real", "n", "m"), src, index), {"dim": 0, **_sized(make, params)}

    return sample


def _wide(make: Maker) -> str:
    return "complex128" if make.dtype.kind == "c" else "float64"


def _ordered(reduce: str) -> Callable[[Maker], str]:
    """The largest and smallest of real numbers; complex ones have only a product."""
    return lambda make: "prod" if make.dtype.kind == "c" else reduce


def _into_sorted(*letters: Any, right: bool = False) -> Sample:
    """Values and the sorted rows they are to be put into."""

    def sample(make: Maker) -> Case:
        rows = np.sort(make("real", *letters), -1)
        return (rows, make("real", *letters[:-1], "m")), {"right": right, "dtype": "int64"}

    return sample


def _spectrum(dims: tuple[int, ...], inverse: bool) -> Sample:
    """Complex values whatever the dtype asked for, in its precision."""

    def sample(make: Maker) -> Case:
        dtype = np.result_type(make.dtype, np.complex64)
        value = make("real", "n", "m") + 1j * make("real", "n", "m")
        return (value.astype(dtype),), {"dims": dims, "inverse": inverse, "norm": "backward"}

    return sample


def _complex(*sizes: int | str) -> Sample:
    """Complex values whatever the dtype asked for, in its precision."""

    def sample(make: Maker) -> Case:
        value = make("real", *sizes) + 1j * make("real", *sizes)
        return (value.astype(np.result_type(make.dtype, np.complex64)),), {}

    return sample


def _gather(make: Maker) -> Case:
    return (make("real", "n", "m"), make("index:n", 2, "m")), {"dim": 0}


def _adding(make: Maker) -> Case:
    return (make("real", 9, "m"), make("real", 2, "m"), make("index:n", 2, "m")), {"dim": 0}


def _scatter(make: Maker) -> Case:
    return (make("real", 2, "m"), make("index:n", 2, "m")), {"dim": 0, "shape": (9, make.size("m"))}


_WIDE_AND_TALL: tuple[tuple[Any, ...], ...] = (("n", "n"), ("p", "q"), ("q", "n"), (2, "p", "q"))
SAMPLES: dict[str, list[Sample]] = {
    "where": [
        _many(("bool", "n", "m"), ("real", "n", "m"), ("real", "n", "m")),
        _many(("bool", "m"), ("real", "n", "m"), ("real",)),
        lambda make: ((make("bool", "n", "m"), make("real", "m"), 0), {}),
    ],
    "clamp": [
        lambda make: ((make("real", "n", "m"), -1, 1), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m") / 4 - 1, make("real", "n", 1) / 4 + 1), {}),
    ],
    "by_pieces": [_many(("real", "n", "m"), ("real", "n", "m")), _many(("real",), ("real",))],
    "barred": [_many(("real", "n", "m"), ("real", "n", "m")), _many(("real",), ("real",))],
    "beside": [_many(("real", "n", "m"), ("real", "n", "m")), _many(("real",), ("real",))],
    "pow": [
        _many(("positive", "n", "m"), ("real", "n", "m")),
        lambda make: ((make("real", "n", "m"), 2), {}),
        lambda make: ((make("real", "n", "m"), 3), {}),
        lambda make: ((make("off-zero", "n"), -2), {}),
        lambda make: ((make("positive", "n"), 0.5), {}),
        lambda make: ((2, make("real", "n")), {}),
        lambda make: ((make("real", "n", "m"), 0), {}),
        lambda make: ((make("real"), 1), {}),
    ],
    "remainder": [
        lambda make: _multiple(make("nonzero", "n", "m"), make("off-integer", "n", "m")),
        lambda make: _multiple(make("nonzero"), make("off-integer")),
        lambda make: _multiple(make("nonzero", "m"), make("off-integer", "n", "m")),
        lambda make: ((make("off-integer", "n", "m"), 1), {}),
    ],
    "addcmul": [
        lambda make: ((make("real", "n"), make("real", "n"), make("real", "n"), 3), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m"), 3, 1), {}),
        lambda make: ((make("real"), make("real"), make("real"), 1), {}),
    ],
    "lerp": [
        lambda make: ((make("real", "n"), make("real", "n"), 0.25), {}),
        lambda make: ((make("real", "n", "m"), make("real", "m"), 2), {}),
        lambda make: ((make("real", "n"), make("real", "n"), make("real", "n")), {}),
    ],
    "elu": [lambda make: ((make("real", "n"), 0.7, 1, 1), {}), lambda make: ((make("real", "n"), 2, 1.5, 2), {})],
    "elu_slope": [lambda make: ((make("real", "n"), make("real", "n"), 2, 1.5, 2), {})],
    "softshrink": [lambda make: ((make("real", "n"), 0.3), {})],
    "plus_multiple": [lambda make: ((make("real", "n", "m"), make("real", "m"), 0.3), {})],
    "addcdiv": [lambda make: ((make("real", "n"), make("real", "n"), make("nonzero", "n"), 0.3), {})],
    "scaled_reciprocal": [lambda make: ((make("nonzero", "n"), 3), {})],
    "portion": [lambda make: ((make("real", "n"), 2, 3), {})],
    "std_slope": [lambda make: ((make("real", "n"), make("positive", "n"), 3), {})],
    "matrix_power": [
        lambda make: ((make("invertible", "n", "n"),), {"n": 3}),
        lambda make: ((make("invertible", 2, "n", "n"),), {"n": -2}),
    ],
    "guard": [_many(("real", "n", "m"), ("bool", "m"))],
    "defined": [lambda make: ((make("real", "n", "m"), make("bool", "m") | True), {})],
    "erfcx_slope": [_one("real", "n", "m", n=1), _one("real", n=2)],
    "erfcinv_slope": [_one("probability", "n", "m", n=1), _one("probability", n=2)],
    "ndtri_slope": [_one("probability", "n", "m", n=1), _one("probability", n=2)],
    "erfinv_slope": [_one("unit", "n", "m", n=1), _one("unit", n=2)],
    "inverse_mills_slope": [_one("real", "n", "m", n=1), _one("real", n=2), _one("real", n=3)],
    "dawsn_slope": [_one("real", "n", "m", n=1), _one("real", n=2)],
    "ellipb_slope": [_one("probability", "n", "m", n=1), _one("probability", n=2)],
    "spence_slope": [_one("positive", "n", "m", n=0), _one("positive", "n", n=1), _one("positive", n=2)],
    **dict.fromkeys(
        ("gammainc", "gammaincc"), [_many(("positive", 2, 1), ("positive", 3)), _many(*[("positive",)] * 2)]
    ),
    "gammainc_slope": [_many(("positive", 2, 1), ("positive", 3), n=1), _many(("positive",), ("positive",), n=2)],
    "zeta_slope": [_many(("above-one", "n"), ("positive", "n"), n=1), _many(("above-one",), ("positive",), n=2)],
    "betainc": [
        _many(("positive", 2, 1), ("positive", 3), ("probability",)),
        _many(("positive",), ("positive",), ("probability",)),
    ],
    "betainc_slope": [
        _many(("positive", 2), ("positive",), ("probability", 2), m=1, n=0),
        _many(("positive",), ("positive",), ("probability",), m=0, n=1),
    ],
    "polygamma_fall": [_many(("positive", "n", "m"), ("positive", "m"), n=0), _many(("positive",), ("positive",), n=2)],
    "lambertw_slope": [
        _one("positive", "n", "m", n=1, lower=False),
        _one("above-branch", "n", n=2, lower=True),
        _one("positive", n=2, lower=False),
    ],
    "polygamma": [_one("positive", "n", "m", n=1), _one("positive", "n", n=2), _one("positive", n=0)],
    "xlogy": [_many(("real", "n", "m"), ("positive", "n", "m")), _many(("real", "n", "m"), ("positive", "m"))],
    "xlog1py": [_many(("real", "n", "m"), ("positive", "n", "m")), _many(("real", "n", "m"), ("positive", "m"))],
    "full": [lambda make: ((), {"shape": make.shape("n", "m"), "value": 2, "dtype": make.dtype.name})],
    "eye": [lambda make: ((), {"n": make.size("n"), "dtype": make.dtype.name})],
    "arange": [lambda make: ((), {"n": make.size("n"), "dtype": "int64"})],
    "reshape": [
        _one("real", "n", "m", shape=lambda make: (make.size("n") * make.size("m"),)),
        _one("real", "n", "m", "q", shape=lambda make: (make.size("n"), make.size("m") * make.size("q"))),
        _one("real", "n", shape=lambda make: (make.size("n"), 1)),
        _one("real", shape=(1, 1)),
    ],
    "einsum": [
        _einsum(((0, 1), (1, 2)), (0, 2)),
        _einsum(((0, 1), (0, 1)), ()),
        _einsum(((0, 1), (1, 2), (2,)), (0,)),
        _einsum(((0,), (1,)), (1, 0)),
        _einsum(((0, 0),), (0,)),
        _einsum(((0, 1),), (0, 0, 1)),
        _einsum(((0,), (0, 1)), (1, 0)),
        _einsum(((0, 1), (0, 1), (1,)), (1, 0)),
        _einsum(((3, 0, 1), (3, 1, 2)), (3, 0, 2)),
        _einsum(((0, 1, 2), (1, 2)), (0,)),
    ],
    "squeeze": [_one("real", "n", 1, "m", dim=(1,)), _one("real", 1, 1, dim=(0, 1)), _one("real", "n", dim=())],
    "unsqueeze": [_one("real", "n", "m", dim=0), _one("real", "n", "m", dim=2), _one("real", dim=0)],
    "adjoint": [_one("real", "n", "m"), _one("real", 2, "n", "m")],
    "permute": [_one("real", "n", "m", dims=(1, 0)), _one("real", "n", "m", "p", dims=(2, 0, 1))],
    "expand": [
        _one("real", "m", shape=_sizes(2, "m")),
        _one("real", "n", 1, shape=_sizes(3, "n", 2)),
        _one("real", shape=(3,)),
    ],
    "cat": [_many(("real", "n", "m"), ("real", "p", "m"), dim=0), _many(("real", "n", 2), ("real", "n", 1), dim=1)],
    "narrow": [_one("real", "n", "m", dim=0, start=1, length=2), _one("real", "n", "m", dim=1, start=0, length=3)],
    "embed": [_one("real", 2, "m", dim=0, start=1, size=9), _one("real", "n", 1, dim=1, start=0, size=3)],
    "stack": [_many(("real", "n", "m"), ("real", "n", "m"), dim=0), _many(("real", "n"), ("real", "n"), dim=1)],
    "select": [_one("real", "n", "m", dim=0, index=1), _one("real", "n", "m", dim=1, index=2)],
    "flip": [_one("real", "n", "m", dims=(0,)), _one("real", "n", "m", dims=(0, 1)), _one("real", "n", dims=())],
    "getitem": [
        *(_one("real", "n", "m", index=Index(index)) for index in _BASIC),
        *(_one("real", "n", "m", index=Index(index)) for index in _FANCY),
        _fixed(_masked),
        *(_picking(*given) for given in _HOLES),
    ],
    "put": [
        _put(np.array([0, 2, 2])),
        _put((slice(None), 1)),
        _put((slice(1, 3), slice(None, None, 2))),
        *(_putting(*given) for given in _HOLES),
    ],
    "index_put": [
        _index_put((slice(None), 1)),
        _index_put(np.array([0, 2])),
        _index_put((slice(0, 2),)),
        _writing(HOLE),
        _writing((slice(None), HOLE)),
    ],
    "gather": [_gather],
    "scatter_into": [_scatter],
    "scatter_plus": [_adding],
    "one_hot": [lambda make: ((make("index:n", "m"),), {"classes": 9, "dtype": "float64"})],
    "sum": _reductions(),
    "cast": [_one("real", "n", "m", dtype=_wide), _one("real", dtype=_wide)],
    "mean": _reductions(),
    "var": [*_reductions(correction=1), _one("real", "n", dim=(0,), correction=0, keepdim=False)],
    "std": [*_reductions(correction=1), _one("real", "n", dim=(0,), correction=0, keepdim=False)],
    "prod_others": _along(),
    "divisible": [_many(("nonzero", "m"), ("nonzero", "n", "m"))],
    "prod_divided": [
        _many(("nonzero", "m"), ("nonzero", "n", "m"), dim=0, keepdim=False),
        _many(("nonzero", "n", 1), ("nonzero", "n", "m"), dim=1, keepdim=True),
    ],
    "prod_divided_twice": [
        _fixed(_many(("nonzero", "n", "m"), ("nonzero", "m"), ("nonzero", "n", "m"), dim=0, keepdim=False)),
        _fixed(_many(("nonzero", "n", "m"), ("nonzero", "n", 1), ("nonzero", "n", "m"), dim=1, keepdim=True)),
    ],
    "prod": [_one("real", "n", "m", dim=0, keepdim=False), _one("real", "n", "m", dim=1, keepdim=True)],
    "amax": _reductions(),
    "amin": _reductions(),
    "argmax_of_pool": [_one("real", "n", "m", dim=1, keepdim=True)],
    "argmax": [_one("real", "n", "m", dim=0, keepdim=False), _one("real", "n", "m", dim=1, keepdim=True)],
    "argmin": [_one("real", "n", "m", dim=0, keepdim=False), _one("real", "n", "m", dim=1, keepdim=True)],
    "any": _reductions(),
    "all": _reductions(),
    "norm": [
        *_reductions(p=2),
        *(_one("off-zero", "n", "m", p=p, dim=(0,), keepdim=True) for p in (1, 3, math.inf, -math.inf, 2.5)),
        _one("off-zero", "n", p=0, dim=(0,), keepdim=False),
    ],
    "logsumexp": _reductions(),
    "softmax": _along(),
    "log_softmax": _along(),
    **dict.fromkeys(
        ("softmax_slope", "log_softmax_slope"),
        [
            _many(("real", "n", "m"), ("real", "n", "m"), dim=0),
            _many(("real", "n", "m"), ("real", "n", "m"), dim=1),
            _many(("real", "n"), ("real", "n"), dim=0),
        ],
    ),
    "cross": [_many(("real", 3), ("real", 3), dim=0), _many(("real", "n", 3, "m"), ("real", "n", 3, "m"), dim=1)],
    "cumsum": _along(),
    "matmul": [
        _many(("real", "n", "m"), ("real", "m", "p")),
        _many(("real", "n", "m"), ("real", "m")),
        _many(("real", "n"), ("real", "n", "m")),
        _many(("real", "n"), ("real", "n")),
        _many(("real", "q", "n", "m"), ("real", "q", "m", "p")),
        _many(("real", "q", "n", "m"), ("real", "m", "p")),
        _many(("real", "q", "n", "m"), ("real", "m")),
        _many(("real", "n"), ("real", "q", "n", "m")),
        _many(("real", 1, "n", "m"), ("real", "q", "m", "p")),
    ],
    "outer": [_many(("real", "n"), ("real", "m"))],
    "diagonal": [
        _one("real", "n", "n", offset=0, dim1=0, dim2=1),
        _one("real", "q", "n", "n", offset=0, dim1=1, dim2=2),
        _one("real", "n", "q", "n", offset=0, dim1=2, dim2=0),
    ],
    "trace": [_one("real", "n", "n")],
    "tril": [*_square("real", k=0), _one("real", "n", "m", k=1)],
    "triu": [*_square("real", k=0), _one("real", "n", "m", k=-1)],
    "bessel_j": [_one("off-zero", "n", "m", n=0), _one("off-zero", "n", n=2), _one("off-zero", n=1)],
    "bessel_y": [_one("positive", "n", "m", n=0), _one("positive", "n", n=2), _one("positive", n=1)],
    "bessel_k": [_one("positive", "n", "m", n=0), _one("positive", "n", n=2), _one("positive", n=1)],
    "bessel_ke": [_one("positive", "n", "m", n=0), _one("positive", "n", n=2), _one("positive", n=1)],
    "chebyshev_polynomial_t": [_one("real", "n", "m", n=3), _one("real", "n", n=0), _one("real", n=1)],
    "gegenbauer_polynomial": [
        _one("real", "n", "m", n=3, a=0.5),
        _one("real", "n", n=0, a=1.0),
        _one("real", n=4, a=1.0),
    ],
    "laguerre_polynomial": [_one("real", "n", "m", n=3, a=0), _one("real", "n", n=1, a=2), _one("real", n=4, a=1)],
    "hermite_polynomial_h": [_one("real", "n", "m", n=3), _one("real", "n", n=0), _one("real", n=1)],
    "hermite_polynomial_he": [_one("real", "n", "m", n=3), _one("real", "n", n=0), _one("real", n=1)],
    "bessel_i": [_one("off-zero", "n", "m", n=0), _one("off-zero", "n", n=2), _one("off-zero", n=1)],
    "expn": [_one("positive", "n", "m", n=1), _one("positive", "n", n=3), _one("positive", n=2)],
    "spherical_jn": [_one("off-zero", "n", "m", n=0), _one("off-zero", "n", n=2), _one("off-zero", n=1)],
    "spherical_yn": [_one("off-zero", "n", "m", n=0), _one("off-zero", "n", n=2), _one("off-zero", n=1)],
    "bessel_ke_slope": [_one("positive", "n", "m", n=0, k=1), _one("positive", n=2, k=2)],
    "bessel_ie_slope": [_one("off-zero", "n", "m", n=0, k=1), _one("off-zero", n=2, k=2)],
    "bessel_ie": [_one("off-zero", "n", "m", n=0), _one("off-zero", "n", n=2), _one("off-zero", n=1)],
    "pad": [_one("real", "n", "m", widths=((1, 1), (0, 0)), value=0), _one("real", "n", widths=((2, 0),), value=1)],
    "roll": [_one("real", "n", "m", shifts=(1, -2), dims=(0, 1)), _one("real", "n", shifts=(2,), dims=(0,))],
    "scatter": [_scattered(), _scattered(constant=True)],
    "scatter_combine": [_scattered(reduce=_ordered(r), include_self=True) for r in ("prod", "amax", "amin")],
    "scatter_others": [_scattered(places=(0, 2, 0, 0), include_self=s) for s in (True, False)],
    "windows": [
        _one("real", "m", dim=0, size=2, step=1, dilation=1),
        _one("real", 7, "m", dim=0, size=3, step=2, dilation=1),
        _one("real", "m", 7, dim=1, size=2, step=1, dilation=2),
    ],
    "windows_sum": [_one("real", 3, "m", 2, dim=0, step=2, dilation=1, size=7)],
    "fourier": [_spectrum(dims, inverse) for dims in ((1,), (0, 1)) for inverse in (False, True)],
    "mantissa": [_one("in-binade", "n", "m"), _one("in-binade")],
    "exponent": [_one("in-binade", "n", "m"), _one("in-binade")],
    "cumprod": _along(),
    **{
        name: [_fixed(_many(*[("nonzero", "n", "m")] * count, dim=dim)) for dim in (0, 1)]
        for name, count in (("cumprod_divided", 3), ("cumprod_moved", 3), ("cumprod_divided_twice", 4))
    },
    "logcumsumexp": _along(),
    "argsort": _along(descending=False),
    "isin": [_many(("real", "n", "m"), ("real", "n"))],
    "view_as_real": [_complex("n", "m"), _complex()],
    "view_as_complex": [_one("real", "n", 2), _one("real", 2)],
    "middle": [_one("real", "n", skip_nan=False), _one("real", "n", skip_nan=True)],
    "searchsorted": [_into_sorted("p"), _into_sorted("n", "p", right=True)],
    "argcummax": _along(),
    "argkth": _along(k=2),
    "argtop": _along(k=2, largest=True),
    "argcummin": _along(),
    **{
        name: [
            _one("matrix", *sizes, k=lambda make, sizes=sizes: min(make.shape(*sizes[-2:]))) for sizes in _WIDE_AND_TALL
        ]
        for name in ("svdvals", "svd_u", "svd_vh")
    },
    "qr_q": [_one("tall", "n", "n"), _one("tall", "p", "q"), _one("tall", 2, "p", "q")],
    "qr_r": [_one("tall", "n", "n"), _one("tall", "p", "q"), _one("tall", 2, "p", "q")],
    "pinv": [_one("matrix", *sizes, atol=0.0, rtol=1e-12) for sizes in (("n", "n"), ("p", "q"), ("q", "n"))],
    **dict.fromkeys(
        ("chosen", "surprise_of_label"),
        [_many(("real", "n", "m"), ("index:m", "n")), _many(("real", "m"), ("index:m",))],
    ),
    **dict.fromkeys(("sqrtm", "logm"), [_one("invertible", "q", "q"), _fixed(_one("invertible", 2, 3, 3))]),
    "logm_frechet": [_fixed(_many(("invertible", "n", "n"), ("real", "n", "n")))],
    "solve_sylvester": [
        _many(("invertible", "q", "q"), ("invertible", 2, 2), ("real", "q", 2)),
        _fixed(_many(("invertible", 2, 2, 2), ("invertible", 1, 1), ("real", 2, 2, 1))),
    ],
    "solve_triangular": [
        _many(("invertible", "n", "n"), ("real", "n", "m"), upper=True, unit=False),
        _many(("invertible", "q", "n", "n"), ("real", "q", "n", "m"), upper=False, unit=False),
        _many(("invertible", "n", "n"), ("real", "n", "m"), upper=False, unit=True),
    ],
    "adjugate_moved": [_fixed(_many(("invertible", 2, "n", "n"), ("real", 2, "n", "n")))],
    "det_divided": [
        _many(("nonzero",), ("invertible", "n", "n")),
        _many(("nonzero", "q"), ("invertible", "q", "n", "n")),
    ],
    "det_divided_twice": [
        _fixed(_many(("real", "n", "n"), ("nonzero",), ("invertible", "n", "n"))),
        _fixed(_many(("real", 2, "n", "n"), ("nonzero", 2), ("invertible", 2, "n", "n"))),
    ],
    "solve": [
        _many(("invertible", "n", "n"), ("real", "n")),
        _many(("invertible", "n", "n"), ("real", "n", "m")),
        _many(("invertible", "q", "n", "n"), ("real", "q", "n", "m")),
    ],
}
"""Samples by op name; elementwise ops without an entry and matrix ops get theirs from the domain."""

_MATRIX_DOMAINS = ("invertible", "positive-definite", "symmetric", "square", "distinct")


def domains(op: Op) -> tuple[str, ...]:
    """The domain of every input."""
    if isinstance(op.domain, tuple):
        return op.domain
    arity = op.kernel.nin if isinstance(op.kernel, np.ufunc) else len(op.vjps)
    return (op.domain,) * arity


def _elementwise(op: Op) -> list[Sample]:
    kinds = domains(op)
    same = _many(*((kind, "n", "m") for kind in kinds))
    scalar = _many(*((kind,) for kind in kinds))
    if len(kinds) == 1:
        return [same, scalar, _many((kinds[0], "n", 1, "m"))]
    stretched = _many((kinds[0], "n", "m"), *((kind, "m") for kind in kinds[1:]))
    crossed = _many((kinds[0], "n", 1), *((kind, 1, "m") for kind in kinds[1:]))
    return [same, scalar, stretched, crossed]


def samples(op: Op) -> list[Sample]:
    """All samples of an op; empty when it has none."""
    if op.name in SAMPLES:
        return SAMPLES[op.name]
    if op.domain in _MATRIX_DOMAINS:
        return _square(op.domain) if len(op.vjps) == 1 else [_many((op.domain, "n", "n"), ("real", "n", "n"))]
    if op.domain == "matrix":
        return [_one("matrix", "n", "n"), _one("matrix", "p", "q"), _one("matrix", "q", "n")]
    return _elementwise(op) if op.domain and not callable(op.vjps) and op.kind != "multilinear" else []


REFUSED = frozenset({"floor_divide"})
"""Ops whose derivative is torch's error.  floor_divide has the kernel of div_floor, for which the laws are tested."""


def takes_complex(op: Op) -> bool:
    """Whether the laws hold of complex operands: the op takes them, and they say what its result is."""
    return "c" not in op.refuses and not op.phases


def ops() -> list[Op]:
    """The table without the leaves of formulas, in the order of entry."""
    return [op for op in TABLE.values() if op.kind not in ("leaf", "opaque")]


def cases(complex_too: bool = False) -> list[tuple[str, int]]:
    """Every (op name, sample number)."""
    return [
        (op.name, k)
        for op in ops()
        for k in range(len(samples(op)))
        if op.name not in REFUSED and (not complex_too or takes_complex(op))
    ]


def make_case(name: str, k: int, sizes: dict[str, int] = SIZES, dtype: Any = np.float64, seed: int = 11) -> Case:
    """Arguments and parameters of one sample."""
    return samples(TABLE[name])[k](Maker(sizes, seed + k, dtype))

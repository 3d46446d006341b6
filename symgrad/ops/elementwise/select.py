"""Comparisons, where, and the piecewise functions: abs, sign, relu, maximum, clamp."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import as_python_number, for_python_number, real_part, result_type, torch_name
from symgrad.errors import ArgumentError, DtypeError
from symgrad.notices import notice_once
from symgrad.op import Op, broadcast_shapes, elementwise, front, is_complex, lookup, primitive, publish, sampling
from symgrad.ops.elementwise.arithmetic import closed, ratio, static_number
from symgrad.ops.elementwise.complex import conj, real
from symgrad.ops.rules.kinks import at_kink
from symgrad.ops.rules.refusals import two_kinds
from symgrad.precision import digits

_BOOL = np.dtype(bool)


def _bool(*_: Any, **__: Any) -> np.dtype[Any]:
    return _BOOL


def _compare(name: str, kernel: Any, sign: str, opposite: str, turned: str, *aliases: str, refuses: str = "c") -> Op:
    return elementwise(
        name,
        kernel,
        None,
        None,
        public=(name, *aliases),
        result=_bool,
        code=lambda x, y: f"{closed(x)} {sign} {closed(y)}",
        c=f"{{0}} {sign} {{1}}",
        refuses=refuses,
        digits=lambda mp, x, y: getattr(operator, name)(x, y),
        opposite=opposite,
        rounds=True,
        turned=turned,
        doc=f"x {sign} y entry by entry; no derivative.",
    )


gt: Op = _compare("gt", np.greater, ">", "le", "lt", "greater")
ge: Op = _compare("ge", np.greater_equal, ">=", "lt", "le", "greater_equal")
lt: Op = _compare("lt", np.less, "<", "ge", "gt", "less")
le: Op = _compare("le", np.less_equal, "<=", "gt", "ge", "less_equal")
eq: Op = _compare("eq", np.equal, "==", "ne", "eq", refuses="")
ne: Op = _compare("ne", np.not_equal, "!=", "eq", "ne", "not_equal", refuses="")
COMPARISONS = (gt, ge, lt, le, eq, ne)

tied: Op = elementwise(
    "tied",
    lambda x, y: np.equal(x, y) | (np.not_equal(x, x) & np.not_equal(y, y)),
    None,
    None,
    public=(),
    result=_bool,
    code=lambda x, y: f"({closed(x)} == {closed(y)}) | (({closed(x)} != {closed(x)}) & ({closed(y)} != {closed(y)}))",
    digits=lambda mp, x, y: x == y or (x != x and y != y),
    c="{0} == {1} || (isnan((double)({0})) && isnan((double)({1})))",
    doc="x == y entry by entry, where nan is equal to nan; no derivative.",
)


def _logical(
    name: str, kernel: Any, arity: int, doc: str, in_digits: Any = None, refuses: Any = None, c: str | None = None
) -> Op:
    return elementwise(
        name,
        kernel,
        *[None] * arity,
        public=(name,),
        result=_bool,
        refuses=refuses,
        c=c,
        domain="bool",
        digits=in_digits or (lambda mp, *x: bool(kernel(*map(bool, x)))),
        doc=f"Whether {doc}; no derivative.",
    )


logical_and: Op = _logical("logical_and", np.logical_and, 2, "neither of two entries is zero", c="{0} && {1}")
logical_or: Op = _logical("logical_or", np.logical_or, 2, "one of two entries, or both, are not zero", c="{0} || {1}")
logical_xor: Op = _logical("logical_xor", np.logical_xor, 2, "just one of two entries is not zero", c="!{0} != !{1}")
logical_not: Op = _logical("logical_not", np.logical_not, 1, "an entry is zero", c="!{0}")
isnan: Op = _logical("isnan", np.isnan, 1, "an entry is nan", lambda mp, x: mp.isnan(x), c="isnan((double)({0}))")
isinf: Op = _logical(
    "isinf", np.isinf, 1, "an entry is an infinity", lambda mp, x: mp.isinf(x), c="fabs((double)({0})) == INFINITY"
)
isfinite: Op = _logical(
    "isfinite",
    np.isfinite,
    1,
    "an entry is neither an infinity nor nan",
    lambda mp, x: mp.isfinite(x),
    c="fabs((double)({0})) < INFINITY",
)
isreal: Op = _logical("isreal", np.isreal, 1, "an entry has no imaginary part", lambda mp, x: mp.im(x) == 0)
isposinf: Op = _logical(
    "isposinf",
    np.isposinf,
    1,
    "an entry is inf",
    lambda mp, x: x == mp.inf,
    refuses={"c": "isposinf does not support complex inputs."},
    c="{0} == INFINITY",
)
isneginf: Op = _logical(
    "isneginf",
    np.isneginf,
    1,
    "an entry is -inf",
    lambda mp, x: x == -mp.inf,
    refuses={"c": "isneginf does not support complex inputs."},
    c="{0} == -INFINITY",
)


def _keep(i: int, condition: Any, *_: Any) -> Any:
    number = static_number(condition)
    if number is not None:
        condition = np.bool_(number)
    elif condition.dtype.kind != "b":
        condition = condition != 0
    return condition if i == 1 else ~condition


def _where_kernel(c: Any, x: Any, y: Any, leaks: bool = False) -> Any:
    if getattr(c, "ndim", 0):
        if y.__class__ is int and y == 0:
            return kernels.masked(x, c)
        if x.__class__ is int and x == 0:
            return kernels.masked(y, np.logical_not(c))
    return kernels.either(c, x, y)


where_op: Op = primitive(
    "where",
    _where_kernel,
    (
        None,
        lambda g, out, c, likex, likey, **leaks: where_op(c, g, 0, **leaks),
        lambda g, out, c, likex, likey, **leaks: where_op(c, 0, g, **leaks),
    ),
    jvp=(
        None,
        lambda t, out, c, likex, likey, **leaks: where_op(c, t, 0, **leaks),
        lambda t, out, c, likex, likey, **leaks: where_op(c, 0, t, **leaks),
    ),
    infer=broadcast_shapes,
    entrywise=True,
    result=lambda c, x, y, **_: result_type(x, y),
    structural=_keep,
    among=(1, 2),
    refuses_back=two_kinds,
    code=lambda c, x, y, **_: f"np.where({c}, {x}, {y})",
    weak=True,
    boxed=True,
    condition=0,
    together=True,
    digits="kernel",
    chooses=True,
    example=(True, 0.5, -1.0, {}),
    c="{0} ? {1} : {2}",
    samples=[
        sampling.many(("bool", "n", "m"), ("real", "n", "m"), ("real", "n", "m")),
        sampling.many(("bool", "m"), ("real", "n", "m"), ("real",)),
        lambda make: ((make("bool", "n", "m"), make("real", "m"), 0), {}),
    ],
    doc="x where the condition holds, else y; the branch not taken contributes a structural zero (unless it leaks).",
)


def where(condition: Any, input: Any = None, other: Any = None, leaks: bool = False) -> Any:
    """Entries of ``input`` where ``condition`` holds, of ``other`` elsewhere, or the places where it holds.

    With ``leaks`` the branch not taken contributes 0 times its derivative, which is nan where that is infinite.
    """
    if input is None and other is None:
        from symgrad.ops.indexing.counting import nonzero

        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise ArgumentError("where() needs a condition and two values: where(condition, input, other).")
    dtype = getattr(condition, "dtype", None)
    if hasattr(condition, "requires_grad") and dtype not in (np.bool_, np.uint8):
        raise DtypeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{torch_name(condition.dtype)}; compare it, as in condition != 0"
        )
    if dtype == np.uint8:
        notice_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead."
        )
    if not isinstance(condition, (np.ndarray, np.generic)):  # of arrays, as in rules, these are entries
        input, other = (as_python_number(x) if isinstance(x, np.generic) else x for x in (input, other))
    found = where_op(condition, input, other, leaks=True) if leaks else where_op(condition, input, other)
    if isinstance(input, _NUMBERS) and isinstance(other, _NUMBERS) and hasattr(condition, "requires_grad"):
        dtype = result_type(for_python_number(input), for_python_number(other))
        return found if found.dtype == dtype else lookup("cast")(found, dtype=dtype.name)
    return found


_NUMBERS = (bool, int, float, complex)


def _guarded(out: Any, x: Any, keep: Any) -> Any:
    return guard(1, keep)


def _guard_vjp(g: Any, out: Any, likex: Any, keep: Any) -> Any:
    return guard(g, keep)


def _excepts(i: int, x: Any, keep: Any) -> Any:
    return keep if getattr(keep, "dtype", None) == _BOOL else ne(keep, 0)


guard: Op = elementwise(
    "guard",
    lambda x, keep: np.where(keep, x, 0)[()],
    _guarded,
    None,
    public=(),
    structural=_excepts,
    code=lambda x, keep: f"np.where({keep}, {x}, 0)",
    weak=False,
    domain=("real", "bool"),
    condition=1,
    digits="kernel",
    example=(0.5, True, {}),
    c="{1} ? {0} : 0",
    samples=[sampling.many(("real", "n", "m"), ("bool", "m"))],
    doc="x, and 0 where keep does not hold: points that a rule excepts, at which x has no value of its own.",
)
guard.vjps = guard.conj_vjps = guard.jvps = (_guard_vjp, None)
divided_where: Op = elementwise(
    "divided_where",
    kernels.divided_where,
    lambda out, x, y, keep: divided_where(1, y, keep),
    lambda out, x, y, keep: -divided_where(out, y, keep),
    None,
    public=(),
    define=lambda x, y, keep: guard(x / y, keep),
    expanded=True,
    domain=("real", "nonzero", "bool"),
    condition=2,
    doc="x / y, and 0 where keep does not hold: what has no part where it cannot be divided.",
)

masked: Op = elementwise(
    "masked",
    kernels.masked,
    lambda out, x, keep: keep,
    0,
    public=(),
    define=lambda x, keep: x * keep,
    expanded=True,
    weak=False,
    domain=("real", "bool"),
    digits=lambda mp, x, keep: x * keep if keep else mp.zero,
    c="{1} == 0 ? 0 : {0} * {1}",
    doc="x · keep, and 0 where keep is 0 whatever x is: slopes by pieces, beside infinite cotangents.",
)
masked.vjps = masked.conj_vjps = masked.jvps = (lambda g, out, likex, keep: masked(g, keep), masked.vjps[1])
excepted: Op = elementwise(
    "excepted",
    kernels.masked,
    lambda out, x, keep: keep,
    0,
    public=(),
    define=lambda x, keep: masked(x, keep),
    structural=_excepts,
    domain=("real", "bool"),
    c="{1} == 0 ? 0 : {0} * {1}",
    doc="masked at points that a rule excepts: formulas hold beside them and do not show them.",
)
excepted.vjps = excepted.conj_vjps = excepted.jvps = (lambda g, out, likex, keep: excepted(g, keep), excepted.vjps[1])
EXCEPTING = frozenset((guard, excepted))
"""Ops whose zeros are points that a rule excepts, not a branch that was not taken."""


defined: Op = elementwise(
    "defined",
    lambda x, keep: np.where(keep, x, np.nan)[()],
    lambda out, x, keep: guard(1, keep),
    None,
    public=(),
    code=lambda x, keep: f"np.where({keep}, {x}, np.nan)",
    weak=False,
    domain=("real", "bool"),
    digits=lambda mp, x, keep: x if keep else mp.nan,
    c="{1} ? {0} : NAN",
    samples=[lambda make: ((make("real", "n", "m"), make("bool", "m") | True), {})],
    doc="x, and nan where keep does not hold: a slope outside of the domain of its function, as a constant.",
)
defined.vjps = defined.conj_vjps = defined.jvps = (lambda g, out, likex, keep: guard(g, keep), None)


def by_parts(op: Op) -> Op:
    """``op``, whose slopes are 0 in parts: where they are nothing passes, not even infinity."""

    def rule(partial: Any) -> Any:
        return lambda g, out, *inputs: masked(g, partial(out, *inputs))

    op.vjps = op.conj_vjps = op.jvps = tuple(map(rule, op.partials or ()))
    return op


real_sign: Op = elementwise(
    "sign",
    kernels.sign,
    0,
    public=(),
    sympy="sign",
    refuses="c",
    domain="off-zero",
    kinks=(0,),
    digits=digits.sign,
    twins=("abs",),
    c="sign({0})",
    rises=True,
    bounds=(-1, 1),
    halves=(-1, 1),
    called=r"\operatorname{sign}",
    parity="odd",
    doc="-1, 0 or 1; derivative 0.",
)
complex_sign: Op = primitive(
    "sgn",
    kernels.complex_sign,
    (lambda g, out, x: ratio(g - conj(g) * out * out, 2 * abs_(x)) if is_complex(x) else zeros_like(g),),
    saves=(0,),
    structural=lambda i, x: None if is_complex(x) else ne(x, x),  # torch's only zeros that infinity does not undo
    entrywise=True,
    sympy="sign",
    domain="off-zero",
    kinks=(0,),
    digits=digits.by_entry(digits.sign),
    doc="x/|x| of complex x, 0 at 0.",
)


publish(complex_sign, "sgn")
publish(real_sign, "sign")


def sign(input: Any) -> Any:
    """-1, 0 or 1; x/|x| of complex x."""
    return complex_sign(input) if is_complex(input) else real_sign(input)


abs_: Op = publish(
    primitive(
        "abs",
        np.abs,
        (lambda g, out, x: g * at_kink("abs", 0, sign(x), x, 0),),
        jvp=(lambda t, out, x: real(conj(at_kink("abs", 0, sign(x), x, 0)) * t),),
        entrywise=True,
        result=real_part,
        scalar=None,
        sympy="Abs",
        refuses="b",
        domain="off-zero",
        kinks=(0,),
        digits=digits.by_entry(lambda mp, x: abs(x)),
        parity="even",
        bounds=(0, math.inf),
        halves=(lambda x: -x, lambda x: x),
        twins=("sign",),
        loses="digits",
        c="fabs({0})",
        doc="Absolute value; derivative 0 at 0.",
    ),
    "abs",
    "absolute",
)
beside: Op = elementwise(
    "beside",
    kernels.first,
    None,
    0,
    public=(),
    define=lambda c, x: c,
    code=lambda c, x: c,
    identity=True,
    result=lambda c, x: c,
    domain=("real", "real"),
    samples=[sampling.many(("real", "n", "m"), ("real", "n", "m")), sampling.many(("real",), ("real",))],
    doc="c, which has a derivative by x: 0.  Slopes that are constant by pieces depend on where they are taken.",
)
beside.vjps = beside.conj_vjps = beside.jvps = (lambda g, out, likec, x: beside(g, x), beside.vjps[1])
by_pieces: Op = elementwise(
    "by_pieces",
    kernels.first,
    1,
    None,
    public=(),
    define=lambda y, x: y,
    code=lambda y, x: y,
    identity=True,
    result=lambda y, x: y,
    domain=("real", "real"),
    samples=[sampling.many(("real", "n", "m"), ("real", "n", "m")), sampling.many(("real",), ("real",))],
    doc="y, a function of x that is linear by pieces: its slope is recorded as one that depends on x.",
)
by_pieces.vjps = by_pieces.conj_vjps = by_pieces.jvps = (lambda g, out, likey, x: beside(g, x), None)


def placed(x: Any) -> Any:
    """``x`` for a function whose slope torch computes from its operand: recorded, the slope depends on it."""
    return by_pieces(x, x)


def _kept(x: Any, out: Any) -> Any:
    return out if x is None else x


relu: Op = by_parts(
    elementwise(
        "relu",
        kernels.relu,
        # The result is positive where x is, and nan where x is nan, which passes; most often somebody keeps it anyway.
        lambda out, x: beside(at_kink("relu", 0, ne(out, 0), x, 0), _kept(x, out)),
        spare=(0,),
        public=("relu",),
        refuses={"b": "Boolean inputs not supported for relu", "c": ""},
        code=lambda x: f"np.maximum({x}, 0)",
        rises=True,
        bounds=(0, math.inf),
        halves=(0, lambda x: x),
        domain="off-zero",
        kinks=(0,),
        fused=("ThresholdBackward", -1),
        digits=lambda mp, x: digits.larger(mp, x, mp.mpf(0)),
        twins=("sign",),
        c="maximum({0}, 0)",
        called=r"\operatorname{relu}",
        doc="max(x, 0); derivative 0 at 0.",
    )
)
step: Op = elementwise(
    "step",
    kernels.step,
    None,
    None,
    c="1 - ({0} < {1}) - ({0} == {1}) * 0.5",
    public=(),
    refuses="c",
    domain="off-zero",
    kinks=(0,),
    digits=lambda mp, x, y: mp.mpf(0 if x < y else 0.5 if x == y else 1),
    numbers="setting",
    doc="0 where x < y, 1/2 where equal, 1 elsewhere.",
)


def _extreme(name: str, kernel: Any, other: str, wins: Any, in_digits: Any, largest: str, doc: str) -> Op:
    """The larger or smaller of two, which ``wins`` tells by a 1, or 1/2 at a tie."""
    op = elementwise(
        name,
        kernel,
        lambda out, x, y: at_kink(name, 0, wins(x, y), x, y),
        lambda out, x, y: at_kink(name, 1, wins(y, x), x, y),
        public=(name,),
        refuses={"c": f"{name} not implemented for complex tensors."},
        sympy=name[:3].title(),
        rises=True,
        kinks=("x = y",),
        among=(0, 1),
        twins=(other,),
        digits=in_digits,
        c=f"{name}({{0}}, {{1}})",
        folds=(f"a{largest}", f"cum{largest}", None),
        doc=doc,
    )
    return by_parts(op)


maximum: Op = _extreme(
    "maximum", np.maximum, "minimum", step, digits.larger, "max", "The larger entry; a tie shares the gradient equally."
)
minimum: Op = _extreme(
    "minimum",
    np.minimum,
    "maximum",
    lambda x, y: step(y, x),
    digits.smaller,
    "min",
    "The smaller entry; a tie shares the gradient equally.",
)
clamp_op: Op = by_parts(
    elementwise(
        "clamp",
        lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
        lambda out, x, lo, hi: at_kink("clamp_min", 0, at_kink("clamp_max", 0, (x >= lo) & (x <= hi), x, hi), x, lo),
        lambda out, x, lo, hi: at_kink("clamp_min", 1, (x < lo) & (lo < hi), x, lo),
        lambda out, x, lo, hi: at_kink("clamp_max", 1, (x > hi) | (lo > hi), x, hi),
        public=(),
        refuses="c",
        node=lambda x, lo, hi: f"ClampBackward{int(lo == hi == ())}",
        code=lambda x, lo, hi: f"np.minimum(np.maximum({x}, {lo}), {hi})",
        kinks=("x = lo", "x = hi"),
        digits=lambda mp, x, lo, hi: digits.smaller(mp, digits.larger(mp, x, lo), hi),
        numbers="setting",
        example=(2.0, -1, 1, {}),
        c="minimum(maximum({0}, {1}), {2})",
        samples=[
            lambda make: ((make("real", "n", "m"), -1, 1), {}),
            lambda make: ((make("real", "n", "m"), make("real", "m") / 4 - 1, make("real", "n", 1) / 4 + 1), {}),
        ],
        doc="x limited to [lo, hi]; derivative 1 at the bounds.",
    )
)
clamp_min: Op = by_parts(
    elementwise(
        "clamp_min",
        np.maximum,
        lambda out, x, lo: at_kink("clamp_min", 0, x >= lo, x, lo),
        lambda out, x, lo: at_kink("clamp_min", 1, x < lo, x, lo),
        public=("clamp_min",),
        refuses="c",
        sympy="Max",
        kinks=("x = lo",),
        digits=digits.larger,
        numbers="setting",
        words={"min": "other"},
        c="maximum({0}, {1})",
        doc="x limited from below; derivative 1 at the bound.",
    )
)
clamp_max: Op = by_parts(
    elementwise(
        "clamp_max",
        np.minimum,
        lambda out, x, hi: at_kink("clamp_max", 0, x <= hi, x, hi),
        lambda out, x, hi: at_kink("clamp_max", 1, x > hi, x, hi),
        public=("clamp_max",),
        refuses="c",
        sympy="Min",
        kinks=("x = hi",),
        digits=digits.smaller,
        numbers="setting",
        words={"max": "other"},
        c="minimum({0}, {1})",
        doc="x limited from above; derivative 1 at the bound.",
    )
)


@front("clamp", "clip", op=clamp_op)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """``input`` limited to [min, max]; either bound may be None, not both.

    The bounds are numbers or tensors that broadcast; entries at a bound pass their gradient, as in torch.
    """
    if min is None and max is None:
        raise ArgumentError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if min is None:
        return clamp_max(input, max)
    return clamp_min(input, min) if max is None else clamp_op(input, min, max)


from symgrad.ops.shapes.shaping import zeros_like  # noqa: E402

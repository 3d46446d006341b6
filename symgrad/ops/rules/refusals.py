"""What derivatives refuse: operands with which torch's backward ends in an error, though the function takes them.

torch keeps operands for backward as they were given, so a derivative meets a mask or an integer where the function met
its number, and complex gradients come to real operands of some functions.  The words are torch's.
"""

from __future__ import annotations

from typing import Any

from symgrad import kernels
from symgrad.op import Op, elementwise, sampling

_NOT_A_MASK = "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
NO_DIFFERENCE = f"Subtraction, the `-` operator, with a bool tensor is not supported. {_NOT_A_MASK}"
NO_NEGATIVE = f"Negation, the `-` operator, on a bool tensor is not supported. {_NOT_A_MASK}"
TWO_KINDS = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false."
)


def kind_of(x: Any) -> str:
    """NumPy's letter for the kind of a dtype or of what has one, blank for what has none."""
    kind = getattr(getattr(x, "dtype", x), "kind", " ")
    return kind if isinstance(kind, str) else " "


def no_quotient(*_: Any) -> str:
    """torch's word where integers are divided by 0."""
    return "ZeroDivisionError"


def two_kinds(i: int, *dtypes: Any, **_: Any) -> str | None:
    """Refuse the gradient of a real operand beside a complex one."""
    return TWO_KINDS if kind_of(dtypes[i]) == "f" and any(kind_of(dtype) == "c" for dtype in dtypes) else None


def differences(i: int, *dtypes: Any) -> str | None:
    """The same, and that beside a mask: the derivative subtracts the operands."""
    return NO_DIFFERENCE if any(kind_of(dtype) == "b" for dtype in dtypes) else two_kinds(i, *dtypes)


def second_angle(i: int, first: Any, _: Any) -> str | None:
    """Refuse the gradient by x of the angle of (x, y) where y is a mask, which the derivative negates."""
    return NO_NEGATIVE if i == 1 and kind_of(first) == "b" else None


def base_of_power(i: int, _: Any, exponent: Any) -> str | None:
    """Refuse the gradient of the base where the exponent is a mask, from which the derivative subtracts 1."""
    return NO_DIFFERENCE if i == 0 and kind_of(exponent) == "b" else None


barred: Op = elementwise(
    "barred",
    lambda x, by, *, words=None: kernels.first(x, by),
    1,
    0,
    public=(),
    define=lambda x, by, words=None: x,
    code=lambda x, by, words=None: x,
    infer=lambda x, by, words=None: x,
    result=lambda x, by, words=None: x,
    refuses_back=lambda i, x, by, *, words=None: words if i else None,
    domain=("real", "real"),
    samples=[sampling.many(("real", "n", "m"), ("real", "n", "m")), sampling.many(("real",), ("real",))],
    doc="x, from where no pass goes on to by: that is an error, which says why, of a function that torch has as one.",
)

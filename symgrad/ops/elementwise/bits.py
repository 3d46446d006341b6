"""Operations on the bits of integers, and their common divisors and multiples.  None of them has a derivative.

On truth values the bitwise operations are the logical ones, and formulas show them so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.errors import DtypeError
from symgrad.op import Op, elementwise, front, known_as
from symgrad.ops.calls.naming import inplace
from symgrad.ops.elementwise.select import logical_and, logical_not, logical_or, logical_xor


def _bits(name: str, kernel: Callable[..., Any], arity: int, doc: str, public: bool = False, **fields: Any) -> Op:
    return elementwise(
        name,
        kernel,
        *[None] * arity,
        public=public,
        refuses="bfc" if public else "fc",
        domain="integer",
        doc=f"{doc}; no derivative.",
        **fields,
    )


bitwise_and_op: Op = _bits("bitwise_and", np.bitwise_and, 2, "The bits that both have", c="bits_and({0}, {1})")
bitwise_or_op: Op = _bits("bitwise_or", np.bitwise_or, 2, "The bits that one has", c="bits_or({0}, {1})")
bitwise_xor_op: Op = _bits("bitwise_xor", np.bitwise_xor, 2, "The bits that just one has", c="bits_xor({0}, {1})")
bitwise_not_op: Op = _bits("bitwise_not", np.invert, 1, "All bits turned", c="bits_not({0})")
left_shift: Op = _bits(
    "bitwise_left_shift", kernels.left_shift, 2, "x · 2**y: the bits moved up", True, c="bits_up({0}, {1})"
)
right_shift: Op = _bits(
    "bitwise_right_shift",
    kernels.right_shift,
    2,
    "x / 2**y rounded down: the bits moved down",
    True,
    c="bits_down({0}, {1})",
)
gcd: Op = _bits("gcd", np.gcd, 2, "Greatest common divisor", True, c="common_divisor({0}, {1})")
lcm: Op = _bits("lcm", np.lcm, 2, "Least common multiple", True, c="common_multiple({0}, {1})")


def _is_truth(x: Any) -> bool:
    return isinstance(x, bool) or getattr(getattr(x, "dtype", None), "kind", "") == "b"


def _front(name: str, op: Op, on_truth: Op, doc: str) -> Callable[..., Any]:
    def call(input: Any, other: Any) -> Any:
        return (on_truth if _is_truth(input) and _is_truth(other) else op)(input, other)

    return front(name, op=op)(known_as(call, name, doc))


bitwise_and = _front("bitwise_and", bitwise_and_op, logical_and, "``input & other``: on integers bit by bit.")
bitwise_or = _front("bitwise_or", bitwise_or_op, logical_or, "``input | other``: on integers bit by bit.")
bitwise_xor = _front("bitwise_xor", bitwise_xor_op, logical_xor, "``input ^ other``: on integers bit by bit.")


@front("bitwise_not", op=bitwise_not_op)
def bitwise_not(input: Any) -> Any:
    """``~input``: on integers all bits turned, on truth values the opposite."""
    return logical_not(input) if _is_truth(input) else bitwise_not_op(input)


def inverted(input: Any) -> Any:
    """The operator ``~``, which refuses other dtypes in words of its own."""
    if input.dtype.kind not in "bui":
        raise DtypeError(
            f"~ (operator.invert) is only implemented on integer and Boolean-type tensors, not on {input.dtype}"
        )
    return bitwise_not(input)


inplace("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift")
inplace("gcd", "lcm")

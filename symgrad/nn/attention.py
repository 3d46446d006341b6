"""torch.nn.attention: which kernels compute attention.  Here one does, whose derivatives are those of its formula."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from symgrad.errors import NoSuchKernel
from symgrad.stand_in import elsewhere

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """torch's kernels of ``nn.functional.scaled_dot_product_attention``, by name.

    >>> import symgrad as sg
    >>> sg.nn.attention.SDPBackend.MATH.name
    'MATH'
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[str, object]]:
    """Inside, torch computes attention by one of these kernels.  Here it is one and the same, of any order.

    Programs choose ``SDPBackend.MATH`` for second derivatives, which torch's other kernels do not have.
    Raises ``AssertionError`` for what is no ``SDPBackend`` nor a list of such.

    >>> import symgrad as sg
    >>> x = sg.eye(2)
    >>> with sg.nn.attention.sdpa_kernel(sg.nn.attention.SDPBackend.MATH):
    ...     sg.nn.functional.scaled_dot_product_attention(x, x, x).shape[0]
    2
    """
    del set_priority
    if not isinstance(backends, (list, SDPBackend)):
        raise NoSuchKernel(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    yield {}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return elsewhere(__name__, name)  # torch has more modules below

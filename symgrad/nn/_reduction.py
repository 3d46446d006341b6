"""How losses are reduced, as torch's kernels count it, and by the two flags of former versions: packages ask for it."""

from __future__ import annotations

import warnings

from symgrad.ops.nn.losses import check_reduction, reduction_of


def get_enum(reduction: str) -> int:
    """The number of a reduction; raises ``ValueError`` for a word that is none.

    >>> get_enum("mean")
    1
    """
    found = reduction_of(reduction, None, None)
    check_reduction(found)
    return ("none", "mean", "sum").index(found)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the two flags mean.

    >>> legacy_get_string(False, True, emit_warning=False)
    'sum'
    """
    with warnings.catch_warnings():
        if not emit_warning:
            warnings.simplefilter("ignore")
        return reduction_of("mean", size_average, reduce)


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of that."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))

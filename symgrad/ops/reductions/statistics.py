"""Statistics that pass over nan, and pairs of mean and spread: plain functions of ops."""

from __future__ import annotations

from typing import Any

from symgrad.dtypes import as_dtype, torch_name
from symgrad.errors import DtypeError
from symgrad.op import front, is_complex, known_as, refusal
from symgrad.ops.elementwise.select import isnan, where
from symgrad.ops.reductions.sums import check_mean, mean, std, sum_, var
from symgrad.ops.rules.refusals import kind_of


@front("nansum")
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum of the entries that are numbers."""
    if is_complex(input):
        raise refusal("nansum", "nansum on CPU does not support complex inputs", input.dtype)
    return sum_(where(isnan(input), 0, input), dim, keepdim, dtype=dtype)


@front("nanmean")
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Mean of the entries that are numbers."""
    if dtype is not None:
        check_mean("nanmean", "Optional", as_dtype(dtype))
    if kind_of(input) in "bui":
        raise DtypeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {torch_name(input.dtype)}"
        )
    return nansum(input, dim, keepdim, dtype=dtype) / sum_(~isnan(input), dim, keepdim)


def _pair(name: str, spread: Any) -> Any:
    def call(
        input: Any, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **options: Any
    ) -> tuple[Any, Any]:
        along = None if isinstance(dim, bool) else dim
        return spread(input, dim, unbiased, keepdim, **options), mean(input, along, keepdim)

    return front(name)(known_as(call, name, f"The pair ({name.split('_')[0]}, mean) over axes."))


std_mean, var_mean = _pair("std_mean", std), _pair("var_mean", var)

"""Schemas of functions, and a check that an operator does what its schema says."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.autograd import grad
from symgrad.errors import CheckFailed, NameProblem
from symgrad.library.operators import CustomOpDef, registered
from symgrad.tape import containers
from symgrad.tensor import Tensor

_CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The schema of a function with annotations, as :func:`custom_op` reads it.

    ``mutates_args``: the names of what it changes in place, or ``"unknown"``, which are all tensors then.  Raises
    ``ValueError`` for parameters without a type, and names that are none of them.

    >>> import symgrad as sg
    >>> def f(x: sg.Tensor, by: float = 2.0, *, times: int | None = None) -> sg.Tensor: ...
    >>> infer_schema(f, mutates_args={"x"})
    '(Tensor(a0!) x, float by=2.0, *, SymInt? times=None) -> Tensor'
    """
    del tags
    op = CustomOpDef("", op_name or "", prototype_function, mutates_args)
    if mutates_args == "unknown":
        op._changes = tuple(name for name, kind in op._types.items() if name != "return" and _has_tensors(kind))
    return op._schema.removeprefix("::")


def _has_tensors(kind: Any) -> bool:
    return kind is Tensor or any(map(_has_tensors, typing.get_args(kind)))


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _CHECKS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, str]:
    """Run an operator on arguments, and see that it changes those alone that it said, and gives gradients.

    Whether gradients are right is what :func:`symgrad.autograd.gradcheck` tells.  Results without values, which two of
    torch's checks are about, are not asked for here.  Gives ``"SUCCESS"``, or the error, for each check, and raises it
    (``CheckFailed``, which is an ``AssertionError``) if ``raise_exception``.

    >>> import symgrad as sg
    >>> @sg.library.custom_op("doc::halved", mutates_args=())
    ... def halved(x: sg.Tensor) -> sg.Tensor:
    ...     return x / 2
    >>> opcheck(halved, (sg.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    del atol, rtol
    asked = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    if unknown := set(asked) - {*_CHECKS, "test_aot_dispatch_static"}:
        raise NameProblem(f"opcheck: test_utils are among {', '.join(_CHECKS)}, not {min(unknown)!r}")
    op = registered(op)
    found: dict[str, str] = {}
    for name in asked:
        try:
            if name == "test_schema":
                _unchanged(op, args, kwargs or {})
            else:
                _differentiated(op, args, kwargs or {}, asked=name.startswith("test_aot"))
            found[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise CheckFailed(f"opcheck(op, ...): {name} failed with {error}") from error
            found[name] = f"FAILED: {error}"
    return found


def _unchanged(op: CustomOpDef, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise ``CheckFailed`` where an argument changes that the schema does not tell."""
    given = containers.tree_map(lambda x: x.detach().clone() if isinstance(x, Tensor) else x, (list(args), kwargs))
    row = op._signature.bind(*given[0], **given[1]).arguments
    before = {name: _arrays(value) for name, value in row.items()}
    op(*given[0], **given[1])
    for name, value in row.items():
        same = all(
            np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
            for a, b in zip(before[name], _arrays(value), strict=True)
        )
        if not same and name not in op._changes:
            raise CheckFailed(f"Argument {name} is not defined as mutable but was mutated")


def _arrays(value: Any) -> list[Any]:
    return [np.array(leaf.detach()) for leaf in containers.flatten(value)[0] if isinstance(leaf, Tensor)]


def _differentiated(op: CustomOpDef, args: Sequence[Any], kwargs: dict[str, Any], asked: bool) -> None:
    """Take the gradients of the results, if the operator has any to give, or if they are ``asked`` of one without."""
    leaves: list[Any] = []

    def leaf(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        made = x.detach().clone().requires_grad_(x.requires_grad)
        leaves.extend([made] * made.requires_grad)
        return made

    given = containers.tree_map(leaf, (list(args), kwargs))
    outputs = [out for out in containers.flatten(op(*given[0], **given[1]))[0] if isinstance(out, Tensor)]
    followed = [out for out in outputs if out.requires_grad]
    if followed and leaves and (asked or op._backward is not None or op._recorded is not None):
        grad(followed, leaves, [out.detach().clone().fill_(1) for out in followed], allow_unused=True)

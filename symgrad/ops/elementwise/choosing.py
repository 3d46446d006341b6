"""``where`` as users call it: what the branch not taken contributes is a convention, which the library's own ignore."""

from __future__ import annotations

from typing import Any, overload

from symgrad.op import front
from symgrad.ops.elementwise.select import where as select, where_op
from symgrad.ops.rules.kinks import keeps_nan


@overload
def where(condition: Any) -> tuple[Any, ...]: ...
@overload
def where(condition: Any, input: Any, other: Any) -> Any: ...
@front("where", op=where_op, method=False)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Entries of ``input`` where ``condition`` holds, of ``other`` elsewhere; shapes broadcast.

    The branch not taken contributes an exact zero to gradients, even where its own derivative is infinite; called under
    ``conventions("torch")`` it gives the nan that it gives in torch.

    ``where(condition)`` gives the places where it holds, one row per axis.
    """
    return select(condition, input, other, leaks=keeps_nan("where"))

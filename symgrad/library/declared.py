"""Operators that are declared by a schema, and filled with what computes them later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symgrad.errors import ArgumentError
from symgrad.library.operators import custom_op, registered
from symgrad.library.schemas import stub_of

__all__ = ["Library", "define", "impl"]


def define(qualname: Any, schema: str, *, lib: Any = None, tags: Sequence[Any] = ()) -> Any:
    """An operator named ``namespace::name`` with a signature, such as ``"(Tensor x, float k=1.0) -> Tensor"``.

    What computes it comes later, by :func:`impl`.  ``@define(lib, "name(Tensor x) -> Tensor")`` takes a
    :class:`Library`, and the function that it decorates.  Raises ``ArgumentError`` for a schema that cannot be read.

    >>> import symgrad as sg
    >>> sg.library.define("doc::shifted", "(Tensor x, float by=1.0) -> Tensor")
    >>> @sg.library.impl("doc::shifted", "cpu")
    ... def shifted(x, by):
    ...     return x + by
    >>> sg.ops.doc.shifted(sg.tensor(1.0))
    tensor(2.)
    """
    del lib, tags
    if isinstance(qualname, Library):
        return impl(qualname, qualname.define(schema))
    stub, changed = stub_of(schema)
    custom_op(qualname, stub, mutates_args=changed)
    return None


_RECORDED = ("CompositeImplicitAutograd", "Autograd", "AutogradCPU", "autograd")
_COMPUTING = ("cpu", "default", "CompositeExplicitAutograd")


def impl(qualname: Any, types: str | Sequence[str], func: Any = None, *, lib: Any = None) -> Any:
    """What computes an operator, on devices or for torch's dispatch keys; a decorator without ``func``.

    A function for ``CompositeImplicitAutograd`` or ``Autograd``, or of an operator that changes arguments, is
    differentiated itself; of others the gradient is what :func:`register_autograd` is told.  Other devices are never
    asked.  ``@impl(lib, "name", "CPU")`` takes a :class:`Library`, a name in it and a dispatch key.

    >>> import symgrad as sg
    >>> sg.library.define("doc::squared", "(Tensor x) -> Tensor")
    >>> sg.library.impl("doc::squared", "CompositeImplicitAutograd", lambda x: x * x)
    >>> x = sg.tensor(3.0, requires_grad=True)
    >>> sg.ops.doc.squared(x).backward()
    >>> x.grad
    tensor(6.)
    """
    del lib
    if isinstance(qualname, Library):
        key = func or qualname.dispatch_key or "CompositeImplicitAutograd"
        return impl(f"{qualname.ns}::{types}", key)
    op, keys = registered(qualname), [types] if isinstance(types, str) else list(types)

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        computes = any(key.lower() in map(str.lower, _COMPUTING) for key in keys)
        if any(key in _RECORDED for key in keys) or (computes and op._changes):
            op._recorded = fn
        elif computes:
            op._run = fn
        return fn

    if func is None:
        return register
    register(func)
    return None


class Library:
    """Operators of one namespace, declared and filled in pieces: ``Library("mylib", "DEF")``.

    >>> import symgrad as sg
    >>> lib = sg.library.Library("doc2", "DEF")
    >>> lib.define("tripled(Tensor x) -> Tensor")
    'tripled'
    >>> lib.impl("tripled", lambda x: 3 * x, "CompositeImplicitAutograd")
    >>> sg.ops.doc2.tripled(sg.tensor(2.0))
    tensor(6.)
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ArgumentError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Sequence[Any] = ()) -> str:  # noqa: ARG002
        """An operator by its name and signature, ``"name(Tensor x) -> Tensor"``; returns the name."""
        name, bracket, rest = schema.partition("(")
        define(f"{self.ns}::{name.strip()}", bracket + rest)
        return name.strip()

    def impl(self, op_name: str, fn: Callable[..., Any], dispatch_key: str = "", **_: Any) -> None:
        """What computes an operator of this namespace; see :func:`impl`."""
        impl(self, op_name.removeprefix(f"{self.ns}::"), dispatch_key)(fn)

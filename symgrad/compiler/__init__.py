"""From graphs to programs: ``compile`` makes a NumPy function of a tensor's graph or of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from symgrad.compiler.exports.stored import load
from symgrad.compiler.program import Compiled, build
from symgrad.compiler.scripting import jit
from symgrad.compiler.specialise import Specialised
from symgrad.compiler.trace import collection_paused, trace_recorded
from symgrad.errors import ArgumentError
from symgrad.ops.rules.kinks import keeps_nan
from symgrad.tape import containers
from symgrad.tape.record import Recorded

__all__ = ["Compiled", "Specialised", "compile", "disable", "is_compiling", "is_exporting", "jit", "load"]

_OPTIONS = {"backend", "disable", "dynamic", "fullgraph", "mode", "options"}
"""What torch's function of this name is told."""


def is_compiling() -> bool:
    """False: functions are run to be compiled, and nothing in them has to be left out.

    >>> import symgrad as sg
    >>> sg.compiler.is_compiling()
    False
    """
    return False


is_exporting = is_compiling


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself: what torch does not compile.  A decorator where no function is given.

    What calls it is followed here whether or not, as all Python code is that works on tensors.

    >>> import symgrad as sg
    >>> @sg.compiler.disable
    ... def double(x):
    ...     return 2 * x
    >>> double(sg.ones(2))
    tensor([2., 2.])
    """
    del recursive, reason
    return fn if fn is not None else lambda function: function


allow_in_graph = disable
"""torch's name for functions that it takes as they are."""


@overload
def compile(
    target: Recorded | Sequence[Any] | dict[Any, Any], /, *args: Any, name: str | None = None, stable: bool = True
) -> Compiled: ...
@overload
def compile(target: Callable[..., Any], /, *args: Any, name: str | None = None, stable: bool = True) -> Specialised: ...
@overload
def compile(target: Callable[..., Any] | None = None, /, **options: Any) -> Any: ...
def compile(target: Any = None, /, *args: Any, name: str | None = None, stable: bool = True, **options: Any) -> Any:
    """A NumPy function of a tensor's graph, or of a function on tensors.

    ``compile(tensor, ["A", "x"])`` gives the :class:`Compiled` function of the named leaves; other constants keep the
    values that the graph read. Without names, all named leaves are arguments. A list, tuple or dict of tensors, such as
    a loss and the gradients that ``backward`` left, is one program with results nested so, which share their parts. A
    graph is one way through the code that recorded it: ``ArgumentError`` for values and sizes at which the code would
    have seen something else where it looked.

    ``compile(f, *example_args)`` runs ``f`` once on tensors and compiles what it did; without examples it does so at
    the first call.  A call with other dtypes or shapes traces again, and one that takes another branch, too; programs
    with equal source are one object.  ``f`` may be a transform such as ``symgrad.func.grad(f)``.

    Parts that overflow or cancel as they are written, such as ``exp(x) / (1 + exp(x))``, are compiled so that they keep
    their digits; with ``stable=False``, and under the conventions of other libraries, which keep the nan there, the
    program does what was written, operation by operation.

    With an option of torch's (``backend``, ``mode``, ``dynamic``, ``fullgraph``, ``options``, ``disable``) it is
    torch's ``compile``, under which a function does what it did before, with tensors, and faster: here it is given
    back as it is, or, without a function, a decorator that does so.  :func:`jit` makes it faster.

    Raises ``CompileError`` when the graph cannot become a program, as where a constant was changed since and nobody has
    what it was, and ``NameProblem`` for names that cannot stand in source text.

    >>> import symgrad as sg, numpy as np
    >>> A = sg.tensor(np.eye(2), requires_grad=True, name="A")
    >>> x = sg.tensor(np.array([1.0, 2.0]), requires_grad=True, name="x")
    >>> f = sg.compile(sg.tanh(A @ x).sum(), ["A", "x"])
    >>> print(f.source)
    def program(A, x):
        \"\"\"A (n, n), x (n,) -> scalar float64.\"\"\"
        return np.tanh(A @ x).sum()
    <BLANKLINE>
    """
    if unknown := options.keys() - _OPTIONS:
        raise ArgumentError(f"compile() got an unexpected keyword argument {min(unknown)!r}")
    if options:
        return target if target is not None else lambda function: function
    stable = stable and not keeps_nan("composed")
    if isinstance(target, Recorded) or _all_recorded(target):
        if len(args) > 1 or (args and isinstance(args[0], str) and not args[0].isidentifier()):
            from symgrad.compiler.trace import safe_name

            for given in args:
                safe_name(given)
        names: Sequence[str] | None = None
        if args:
            names = list(args) if all(isinstance(a, str) for a in args) else args[0]
        with collection_paused():
            return build(trace_recorded(target, names), name, stable=stable)
    if isinstance(target, Callable):  # type: ignore[arg-type]
        made = Specialised(target, name, stable)
        if args:
            made.trace(*args)
        return made
    raise ArgumentError(
        f"compile() takes a tensor, a container of tensors or a function, not {type(target).__name__}; of a gradient "
        "it is compile(func.grad(f), *args), of a SymPy expression compile(from_sympy(expression), *args)."
    )


def _all_recorded(target: Any) -> bool:
    """Whether something is a list, tuple or dict of tensors, or several of these."""
    if not isinstance(target, (list, tuple, dict)):
        return False
    leaves = containers.flatten(target)[0]
    for leaf in leaves:
        if not isinstance(leaf, Recorded):
            raise ArgumentError(
                f"compile() of a {type(target).__name__} takes tensors in it, not {type(leaf).__name__}; a gradient "
                "that is None has no program."
            )
    return bool(leaves)

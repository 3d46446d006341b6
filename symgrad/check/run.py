"""The check itself: find out what kind of derivative was given, and compare it with the exact one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from symgrad.check.asking.arrays import as_array, as_written, is_differentiable, require_floating
from symgrad.check.asking.calling import like
from symgrad.check.asking.defaults import shared_defaults
from symgrad.check.asking.derivatives import METHODS, Derivative
from symgrad.check.asking.frameworks import derivative_of, in_library, wants_torch
from symgrad.check.asking.jax_calls import jax_followed
from symgrad.check.asking.kinds import filled, kind_of, known_kind, signature_text, takes, vjp_function
from symgrad.check.asking.nested import Arguments, Given, parts, take_apart
from symgrad.check.asking.objects import of_one_object, with_forward
from symgrad.check.asking.outputs import (
    SEED,
    alone,
    at_path,
    cotangent_of,
    output_leaves,
    output_parts,
    path_text,
    probed,
    product,
    several_text,
)
from symgrad.check.asking.placing import both_of, in_rows, without_aside
from symgrad.check.asking.subject import Subject
from symgrad.check.asking.torch_calls import followable
from symgrad.check.compare import Question, compared, joined
from symgrad.check.mending.search import looking_for_mends
from symgrad.check.oracle.exact import exact_gradient
from symgrad.check.oracle.trust import weights_of
from symgrad.check.report import Report
from symgrad.check.tangents import check_jvp
from symgrad.errors import ArgumentError
from symgrad.guesses import options


@options(
    "arguments of f by keyword go in kwargs={...}",
    wrt="say argnums=, the position of the argument, or several",
    tol="the tolerance follows from the dtype and the conditioning; rtol= widens it",
    atol="the tolerance follows from the dtype and the conditioning; rtol= widens it",
    eps="no differences are taken; method='fd' takes some, whose step it finds itself",
    h="no differences are taken; method='fd' takes some, whose step it finds itself",
)
def check(
    f: Callable[..., Any],
    grad: Any,
    *args: Any,
    kind: str | None = None,
    argnums: int | Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    cotangent: Any = None,
    tangents: Sequence[Any] | None = None,
    rtol: float | None = None,
    method: str | None = None,
    mend: bool = True,
    diagnose: bool | float = True,
) -> Report:
    """Compare a derivative of ``f`` at ``args`` with the exact one, and say what the mistake is.

    ``grad`` is a function of the same arguments, or its result: one array, or a tuple of arrays for several
    arguments (NumPy, torch, JAX, nested lists), or a dict by their names.  ``kind`` says what it computes; without it
    the shapes decide:

    * ``"gradient"`` of a scalar function: the shapes of the arguments.
    * ``"jacobian"`` of a function that gives arrays: shape ``(*result, *argument)``.
    * ``"elementwise"``, the derivative of each entry by its own: the shape of the result.
    * ``"vjp"``: ``grad(cotangent, *args)``, the cotangent first or last, or ``grad(*args) -> (result, pullback)``.
      It is asked for a random cotangent, or for ``cotangent``.
      Of two methods of one object, ``check(layer.forward, layer.backward, x)``, the second may take the cotangent
      alone, or nothing: the first then runs at the point before it.
    * ``"jvp"``: ``grad(primals, tangents)`` or ``grad(*args, *tangents)``: the derivative along a tangent of each
      argument, or that with the result before it.  (For one argument the first form has to call its parameter
      primals.)  It is asked for random tangents, or for ``tangents``.

    A function that gives ``(value, derivative)`` is checked as ``check(f, True, *args)``, like ``jac=True`` of SciPy,
    and ``grad`` may be one, too, as JAX's ``value_and_grad`` makes; what both give beside with ``has_aux=True`` is
    left out.  One Jacobian, where ``argnums`` does not say
    whose, is that of the first argument that it fits; columns may stand for several numbers.

    ``grad`` may also be the name of a library, ``"torch"``, ``"jax"``, ``"autograd"``, ``"mygrad"`` or
    ``"symgrad"``: what it computes for its own function is checked, with the backward passes that were written for it.

    Arguments may be dicts, dataclasses or lists of arrays; their gradient has the same structure, and so has the
    derivative of several results.  ``kwargs`` go to both functions.  ``f`` may be a function of this library, of NumPy,
    torch or JAX; in a custom function it is ``forward`` that counts, since ``backward`` may be wrong.  ``argnums`` says
    which arguments the derivative belongs to (default: the first floating-point ones), ``names`` what the arguments are
    called in formulas (default: the parameters of ``f``).  The tolerance follows from the dtypes and from the
    conditioning of ``f`` at the point; ``rtol`` widens it.

    ``method`` says what to compare with: ``"exact"``, the derivative by the rules of the operations in ``f``; ``"mp"``,
    the same evaluated to 50 digits; ``"complex-step"`` and ``"fd"`` (extrapolated differences), which call ``f`` only.
    Without it that is the exact derivative, and for functions that symgrad cannot follow (they call ``float(x)``
    or a library in C) a complex step or differences; a note of the report then names the line.

    Where the derivative is wrong, its functions are also run with one small change in their text after the other, and
    the change that makes them right is shown; with ``mend=False`` nothing runs but what is written.

    The verdict takes a few runs of ``f`` and ``grad``, the search for what the mistake is up to 20 seconds.
    ``diagnose`` gives it another number of seconds; with ``diagnose=False`` there is none, unless
    ``report.explain()`` is called.

    Returns a :class:`Report`: true if the derivative is right; printed, it names the wrong entry, the ratio, the
    probable mistake and the exact formula.  Raises ``ArgumentError`` when ``f`` is not deterministic, has no
    derivative of this kind, or moves in steps, so that its values tell no derivative.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> report = sg.check(lambda x: (x**2).sum(), lambda x: x, [1.0, 2.0])
    >>> report.ok, report.diagnosis.kind
    (False, 'factor')
    >>> sg.check(lambda x: (x**2).sum(), lambda x: 2 * x, np.array([1.0, 2.0])).ok
    True
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> sg.check(lambda x: A @ x, A.T, np.ones(2)).diagnosis.sentence
    'The given Jacobian of x is the transpose of the exact one.'
    >>> sg.check(lambda x: A @ x, lambda v, x: A.T @ v, np.ones(2)).ok  # a vjp: the cotangent first
    True
    """
    _require_options(argnums, rtol, diagnose)
    with looking_for_mends(mend):
        report = _checked(f, grad, args, kind, argnums, names, kwargs or {}, cotangent, tangents, rtol, method)
    if not diagnose:
        return report
    return report.explain() if diagnose is True else report.explain(diagnose)


def _checked(
    f: Callable[..., Any],
    grad: Any,
    args: tuple[Any, ...],
    kind: str | None,
    argnums: int | Sequence[int] | None,
    names: Sequence[str] | None,
    kwargs: Mapping[str, Any],
    cotangent: Any,
    tangents: Sequence[Any] | None,
    rtol: float | None,
    method: str | None,
) -> Report:
    if not callable(f):
        if isinstance(f, str):
            raise ArgumentError(
                "check() takes functions, check(f, grad, *args); of formulas as texts it is judge(text, of=f, wrt=...)."
            )
        raise ArgumentError(f"check() takes the function first, not {type(f).__name__}: check(f, grad, *args).")
    if grad is True:
        f, grad = both_of(f)
    if not args:
        none = f"{_name_of(f)} takes no arguments, so that there is nothing to differentiate by."
        needed = "check() needs the point at which to compare: check(f, grad, *args)."
        raise ArgumentError(needed if takes(f, 1) else none)
    _require_calls(f, grad, args, kwargs)
    if method is not None and method not in METHODS:
        raise ArgumentError(f"method={method!r} is none of {', '.join(map(repr, METHODS))}.")
    kind = known_kind(kind) or ("vjp" if cotangent is not None else "jvp" if tangents is not None else None)
    label = _name_of(f)
    if kwargs:
        f, grad = partial(f, **kwargs), partial(grad, **kwargs) if callable(grad) else grad
    grad = filled(grad, args) if kind in (None, "gradient") else grad
    asked = grad if isinstance(grad, str) else None
    args, grad, kind = _in_its_library(f, grad, args, kind)
    written_for = jax_followed(followable(f), asked, args)
    question = Question(written_for, grad, args, argnums, Arguments(f, args, names), label, rtol, method)
    f = question.f
    _require_numbers(question.flat)
    out = None if kind == "gradient" and not of_one_object(f, grad) else probed(f, question.flat)
    if kind in (None, "gradient"):
        question.f, question.grad, out = without_aside(
            f, grad, out, lambda: grad(*question.flat.whole(question.flat.copies()))
        )
        f, grad = question.f, question.grad
    pair = with_forward(f, grad, args, out) if kind in (None, "gradient", "vjp") else None
    if pair is not None:
        question.grad, kind = pair
        grad = question.grad
    if kind is None:
        kind = kind_of(grad, question.flat, out)
    if kind == "gradient":
        return _check_gradient(question)
    if kind == "vjp":
        return _check_vjp(question, out, cotangent)
    if kind == "jvp":
        return check_jvp(question, out, tangents)
    return (_check_jacobian if kind == "jacobian" else _check_elementwise)(question, out)


def _in_its_library(f: Any, grad: Any, args: tuple[Any, ...], kind: str | None) -> tuple[Any, Any, str | None]:
    """Arguments, derivative and its kind for a function that is written for another library."""
    if not isinstance(grad, str):
        return in_library("torch", args) if wants_torch(f, args) else args, grad, kind
    if kind not in (None, "vjp"):
        raise ArgumentError(f"the derivative of {grad} is asked for as a vjp; leave out kind={kind!r}.")
    return in_library(grad, args), derivative_of(grad, f), "vjp"


def _require_calls(f: Any, grad: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a number of arguments that a function does not take, before it says so in its own words."""
    count = len(args)
    if not takes(partial(f, **kwargs), count):
        owner = getattr(f, "__qualname__", "").rpartition(".")[0].rpartition(".")[2]
        lacks = owner.isidentifier() and not hasattr(f, "__self__") and takes(partial(f, **kwargs), count + 1)
        bound = f" It is a method of {owner}: take that of an object, {owner}(...).{f.__name__}." if lacks else ""
        raise ArgumentError(f"f takes {signature_text(f)}, but check() was given {_arguments(count)} for it.{bound}")
    counts = {count, count + 1, 2, 2 * count} | ({0, 1} if of_one_object(f, grad) and not kwargs else set())
    if callable(grad) and not any(takes(partial(grad, **kwargs), n) for n in counts):
        raise ArgumentError(
            f"grad takes {signature_text(grad)}, but it is called with the arguments of f, of which there "
            f"{'is' if count == 1 else 'are'} {count} (and with a cotangent before or behind them, if it is a vjp)."
        )


def _require_options(argnums: Any, rtol: Any, diagnose: Any) -> None:
    """Refuse names for positions, and texts for numbers."""
    if not isinstance(diagnose, (bool, int, float)) or not diagnose >= 0:
        raise ArgumentError(f"diagnose={diagnose!r}: True, False, or for how many seconds to look for the mistake.")
    chosen = [argnums] if argnums is None or isinstance(argnums, (str, int)) else list(argnums)
    for k in chosen:
        if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer))):
            raise ArgumentError(f"argnums={argnums!r}: arguments are chosen by position, argnums=0 for the first one.")
    if rtol is not None and not isinstance(rtol, (int, float, np.number)):
        raise ArgumentError(f"rtol={rtol!r} is a {type(rtol).__name__}; it is a number, as in rtol=1e-6.")


def _arguments(count: int) -> str:
    return f"{count} argument{'s' * (count != 1)}"


def _require_numbers(flat: Arguments) -> None:
    """Refuse a point without floats, and one with nan in it: every derivative there is nan, and any other agrees."""
    require_floating(flat.args, flat.names)
    for name, value in zip(flat.names, flat.args, strict=True):
        if is_differentiable(value):
            array = as_array(value)
            bad = np.argwhere(np.isnan(array.astype(complex if array.dtype.kind == "c" else float)))
            if len(bad):
                place = f"{name}[{', '.join(map(str, bad[0]))}]" if array.ndim else name
                raise ArgumentError(f"{place} is nan, where no derivative can be compared; check at another point.")


def _name_of(f: Any) -> str:
    while isinstance(f, partial):
        f = f.func
    whose = getattr(f, "__self__", None) if as_written(f) is not f else None
    label = getattr(whose or f, "__name__", type(f).__name__)  # of Square.apply: Square
    return label if label.isidentifier() else "f"


# ---------------------------------------------------------------------------------------------- each kind


def _check_gradient(q: Question) -> Report:
    fixed = shared_defaults(q.f, q.grad, len(q.args))
    given = take_apart(q.f, q.grad, [*q.args, *fixed.values()], q.argnums, [*q.flat.called, *fixed], len(q.args))
    given.own, given.shared = len(given.args), range(given.own, len(given.args))
    return compared(given, Derivative(method=q.method), "gradient", q.label, q.rtol)


def _check_vjp(question: Question, out: Any, cotangent: Any) -> Report:
    """As the gradient of ``<v, f>``, where ``v`` is one more argument."""
    q, count = question, len(question.args)
    if cotangent is None:
        cotangent = cotangent_of(out, q.flat.shown, np.random.default_rng(SEED))
    elif output_parts(out) is None and np.shape(as_array(cotangent)) != np.shape(as_array(out)):
        raise ArgumentError(
            f"cotangent= has shape {np.shape(as_array(cotangent))}, but the result of {q.label} has "
            f"{np.shape(as_array(out))}; a cotangent has the shape of the result."
        )
    grad = q.grad
    if callable(grad):
        vjp = vjp_function(q.f, grad, count)

        def grad(*values: Any) -> Any:
            return vjp(values[-1], *values[:-1])

    v = next(name for name in ("v", "cotangent", "cotangent_") if name not in q.flat.called)

    def of(cotangent: Any) -> Report:
        given = take_apart(paired(q.f), grad, [*q.args, cotangent], q.argnums, [*q.flat.called, v], count)
        return compared(given, Derivative(method=q.method), "vjp", q.label, q.rtol)

    report = of(cotangent)
    report.notes.insert(0, f"{v} is the cotangent")
    paths = [path for path, _ in output_leaves(out)]
    if not report.ok and callable(grad) and len(paths) > 1:
        right = {path: of(alone(cotangent, path)).ok for path in paths}
        if len(set(right.values())) > 1:
            names = [
                " and ".join(q.label + path_text(path) for path in paths if right[path] == which)
                for which in (False, True)
            ]
            report.notes.insert(1, f"what comes from {names[0]} is wrong, what comes from {names[1]} is right")
    return report


def paired(f: Callable[..., Any]) -> Callable[..., Any]:
    """``<v, f>`` as a function of the arguments of ``f`` and of ``v``."""
    return lambda *values: product(values[-1], f(*values[:-1]))


def _check_elementwise(question: Question, out: Any) -> Report:
    """As the gradient of the sum, with arguments stretched to the shape of the result."""
    q, array = question, as_array(out)
    if output_parts(out) is not None or any(parts(arg) is not None for arg in q.args):
        raise ArgumentError("kind='elementwise' is for functions of arrays that give one array.")
    args = [like(a, np.broadcast_to(as_array(a), array.shape)) if is_differentiable(a) else a for a in q.flat.args]
    ones = np.ones_like(array)
    total = take_apart(lambda *values: product(ones, q.f(*values)), q.grad, args, q.argnums, q.flat.called)
    report = compared(total, Derivative(method=q.method), "elementwise", q.label, q.rtol)
    weights = weights_of(array)
    subject = Subject(
        paired(q.f), [*total.args, weights], total.positions, [*total.names, "v"], Derivative(method=q.method)
    )
    with np.errstate(all="ignore"):
        weighted = exact_gradient(subject, total.gradients)
    for a, w, tolerance in zip(report.arguments, weighted.gradients, weighted.tolerance, strict=True):
        room = 1e-6 * np.abs(weights * a.exact) + 64 * tolerance + 64 * a.tolerance * np.abs(weights)
        if a.exact.shape != array.shape or np.any(np.abs(w - weights * a.exact) > room):
            shape = array.shape + np.shape(q.args[q.flat.called.index(a.name)])
            raise ArgumentError(
                f"{q.label} is not elementwise in {a.name}: entries of its result depend on other entries. Give its "
                f"Jacobian, of shape {shape}, or a vjp, which takes "
                "a cotangent and has the shape of the argument (kind='vjp')."
            )
    return report


def _check_jacobian(question: Question, out: Any) -> Report:
    """Result by result."""
    q = question
    several = output_parts(out) is not None
    reports = []
    for path, leaf in output_leaves(out):
        shape = np.shape(as_array(leaf))
        given = take_apart(*_of_result(q, path, out), q.args, q.argnums, q.flat.called, result=shape)
        read_flat(given, shape)
        reports.append(
            compared(given, Derivative("jacobian", method=q.method), "jacobian", q.label + path_text(path), q.rtol)
        )
    if not reports:
        said = several_text(out) if several else f"f gave a {type(out).__name__}, which is"
        raise ArgumentError(
            f"{said} no floating-point array to differentiate; give a function that makes one of it, with np.asarray()."
        )
    return joined(q.label, reports)


def _of_result(q: Question, path: tuple[Any, ...], out: Any) -> tuple[Callable[..., Any], Any]:
    """The function that gives one of several results, and its derivative."""
    if not path:
        return q.f, q.grad
    said, whole = several_text(out), q.grad
    grad = (
        (lambda *values: at_path(in_rows(whole(*values), out), path, said))
        if callable(whole)
        else at_path(in_rows(whole, out), path, said)
    )
    return (lambda *values: at_path(q.f(*values), path, said)), grad


def read_flat(given: Given, shape: tuple[int, ...]) -> None:
    """Jacobians of flattened results by flattened arguments are given the axes of both."""
    inner = [np.shape(as_array(given.args[k])) for k in given.positions]
    wanted = [shape + below for below in inner]
    flat = [(int(np.prod(shape)), int(np.prod(below))) for below in inner]

    def read(gradients: list[Any]) -> list[Any]:
        return [
            g.reshape(want) if len(want) > 2 and g.shape == two else g
            for g, want, two in zip(gradients, wanted, flat, strict=True)
        ]

    given.gradients, again = read(given.gradients), given.again
    given.again = None if again is None else lambda values: read(again(values))


def assert_gradient(f: Callable[..., Any], grad: Any, *args: Any, **options: Any) -> None:
    """Raise ``CheckFailed`` (an ``AssertionError``) with the whole report unless ``check`` finds the derivative right.

    For tests; arguments and options are those of :func:`check`.

    >>> import numpy as np
    >>> import symgrad as sg
    >>> sg.check.assert_gradient(lambda x: (x**2).sum(), lambda x: 2 * x, np.array([1.0, 2.0]))
    >>> sg.check.assert_gradient(np.sin, lambda x: -np.cos(x), np.array([1.0, 2.0]))
    Traceback (most recent call last):
        ...
    symgrad.errors.CheckFailed: ...
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    check(f, grad, *args, **options).raise_for_mismatch()

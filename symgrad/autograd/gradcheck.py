"""``gradcheck`` and ``gradgradcheck``: derivatives against differences of the function itself.

Complex arrays are pairs of real ones.  A Jacobian is kept per part of the output (real, imaginary), with entries
``d part / d re + i d part / d im`` for complex inputs: that is exactly what backward gives for a unit cotangent, so
both sides have one layout, ``(entries of the input, entries of the output)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.autograd.checking.differences import Subject, new_leaf, place, random_values, tensors_of, worst
from symgrad.autograd.checking.references import TIGHT, Derivative, reference, run_along
from symgrad.autograd.sweeps.entrances import grad
from symgrad.errors import ArgumentError, ConflictingChecks, FormulaError, GradcheckError
from symgrad.tape.forward import dual
from symgrad.tape.forward.dual import Dual
from symgrad.tape.modes import enable_grad
from symgrad.tape.record import Recorded, plain
from symgrad.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,  # noqa: ARG001  (concerns sparse tensors, of which there are none)
    method: str = "fd",
) -> bool:
    """Whether the derivatives of ``func`` at ``inputs`` agree with central differences; the flags are torch's.

    Inputs that require grad are checked, in all entries, or along one random direction per pair of input and output
    with ``fast_mode``.  A disagreement raises :class:`GradcheckError`, or gives False without ``raise_exception``; it
    says which entry is worst, the ratio there, and the formulas.  Raises ``ValueError`` when no input requires grad.

    ``method`` is what to compare with: differences (``"fd"``), the complex step (``"complex-step"``, for analytic
    functions of real inputs), or the exact derivative of what ``forward`` does (``"exact"``, and ``"mp"``, evaluated to
    50 digits).  The last three have no error of their own: with ``atol`` and ``rtol`` left as they are, they compare to
    1e-10 and 1e-8 of an entry.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.5, 2.0], dtype=sg.double, requires_grad=True)
    >>> sg.autograd.gradcheck(lambda x: x.sin() * x, (x,))
    True
    >>> sg.autograd.gradcheck(lambda x: x.sin() * x, (x,), method="exact")
    True
    """
    if not check_forward_ad and not check_backward_ad:
        raise ConflictingChecks("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise ConflictingChecks("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise ConflictingChecks("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    row = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    subject = Subject(func, tuple(row), eps)
    derivative = reference(subject, method)
    if method != "fd" and (atol, rtol) == (1e-5, 1e-3):
        atol, rtol = TIGHT
    try:
        if check_grad_dtypes:
            subject.check_dtypes()
        if not subject.tracked:
            return subject.check_constant()
        check = (_Fast if fast_mode else _Slow)(subject, atol, rtol, derivative)
        if check_backward_ad:
            check.backward()
        if check_forward_ad:
            check.forward(check_batched_forward_grad)
            if check_undefined_grad:
                _check_undefined_forward(subject)
        if check_backward_ad:
            subject.check_repeatable(nondet_tol)
            if check_batched_grad:
                subject.check_batched()
            subject.check_gradients()
            if check_undefined_grad:
                subject.check_undefined()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
    method: str = "fd",
) -> bool:
    """Whether second derivatives agree with differences of the first ones; arguments as for :func:`gradcheck`.

    The gradient of ``func`` is checked as a function of the inputs and of ``grad_outputs`` (random by default).
    ``method="complex-step"`` is an ``ArgumentError``: a backward pass takes its cotangents conjugate.

    >>> import symgrad as sg
    >>> x = sg.tensor([0.5, 2.0], dtype=sg.double, requires_grad=True)
    >>> sg.autograd.gradgradcheck(lambda x: x.exp().sum(), (x,))
    True
    """
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise ConflictingChecks("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, wanted in (("check_undefined_grad", check_undefined_grad), ("check_batched_grad", check_batched_grad)):
        if wanted and not check_rev_over_rev:
            raise ConflictingChecks(f"Setting {name}=True requires check_rev_over_rev to be True")
    if method == "complex-step":
        raise ArgumentError(
            "gradgradcheck() has no method='complex-step': a gradient is no analytic function of complex "
            "inputs, of which it takes conjugates; use method='exact' or 'fd'."
        )
    row = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if grad_outputs is None:
        seeds = _random_cotangents(func, row, gen_non_contig_grad_outputs)
    else:
        seeds = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
    return gradcheck(
        _gradient_of(func, row, seeds),
        row + seeds,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
        method=method,
    )


def _gradient_of(func: Callable[..., Any], row: tuple[Any, ...], seeds: tuple[Any, ...]) -> Callable[..., Any]:
    """The gradient of a function, as a function of its inputs and of the cotangents of its outputs."""
    required = [isinstance(x, Recorded) and x._requires_grad for x in row + seeds]

    def gradient(*args: Any) -> Any:
        given, cotangents = args[: len(row)], args[len(row) :]
        if any(isinstance(x, Dual) for x in args):
            for x, needed in zip(args, required, strict=True):
                if needed:  # forward mode is checked on inputs that do not require grad
                    x._require()
            return _moved_gradient(func, given, cotangents)
        with enable_grad():
            outputs = tensors_of(func(*given), tracked=True)
            wanted = [x for x in given if isinstance(x, Recorded) and x._requires_grad]
            found = grad(outputs, wanted, list(cotangents), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradient


def _moved_gradient(func: Callable[..., Any], inputs: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Any:
    """The gradient of a function of duals: of ``v . y`` and, for its tangent, of ``v . y' + v' . y``."""
    tag = next(x.tag for x in (*inputs, *cotangents) if isinstance(x, Dual))
    wanted = [p for p, _ in (dual.parts(x, tag) for x in inputs) if isinstance(p, Recorded) and p._requires_grad]
    with enable_grad():
        found = func(*inputs)
    outs = [dual.parts(o, tag) for o in (found if isinstance(found, (tuple, list)) else (found,))]
    outs = [(y, dy) for y, dy in outs if isinstance(y, Recorded) and y._requires_grad]
    seeds = [dual.parts(v, tag) for v in cotangents]
    pairs = [(y, v) for (y, _), (v, _) in zip(outs, seeds, strict=True)]
    moved = [(dy, v) for (_, dy), (v, _) in zip(outs, seeds, strict=True) if dy is not None and dy._requires_grad]
    moved += [(y, dv) for (y, _), (_, dv) in zip(outs, seeds, strict=True) if dv is not None]
    first = _summed(pairs, wanted)
    second = _summed(moved, wanted) if moved else (None,) * len(wanted)
    return tuple(
        g if t is None else dual.make_dual(g, t, tag) for g, t in zip(first, second, strict=True) if g is not None
    )


def _summed(pairs: list[Any], wanted: list[Any]) -> tuple[Any, ...]:
    return grad([y for y, _ in pairs], wanted, [v for _, v in pairs], retain_graph=True, allow_unused=True)


def _random_cotangents(func: Callable[..., Any], inputs: tuple[Any, ...], strided: bool) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    seeds = []
    for out in tensors_of(func(*inputs), tracked=True):
        value = random_values(rng, out._value.shape, out.dtype)
        if strided and value.ndim:
            value = np.repeat(value, 2, axis=-1)[..., ::2]
        seeds.append(new_leaf(value, True))
    return tuple(seeds)


# ---------------------------------------------------------------------------------------------- all entries


class _Slow:
    """The comparison entry by entry."""

    def __init__(self, subject: Subject, atol: float, rtol: float, derivative: Derivative):
        self.subject = subject
        self.atol = atol
        self.rtol = rtol
        self.derivative = derivative
        self._numeric: dict[int, list[Any]] | None = None

    @property
    def numeric(self) -> dict[int, list[Any]]:
        """By input: per output the pair of Jacobians of its real and imaginary part, to compare with."""
        if self._numeric is None:
            self._numeric = {k: self._assembled(k, self.derivative) for k in self.subject.checked}
        return self._numeric

    def _assembled(self, k: int, derivative: Callable[[int, Any], list[Any]]) -> list[Any]:
        subject, x = self.subject, self.subject.inputs[k]
        tables = [
            [np.zeros((x._value.size, o._value.size), x.dtype) for _ in range(2 if o.dtype.kind == "c" else 1)]
            for o in subject.outputs
        ]
        for entry, imaginary, unit in subject.units(k):
            for table, d in zip(tables, derivative(k, unit), strict=True):
                for part, values in zip(table, (d.real, d.imag), strict=False):
                    part[entry] += values.ravel() * (1j if imaginary else 1)
        return tables

    def backward(self) -> None:
        """Reverse mode against differences."""
        subject = self.subject
        leaves, outputs = subject.trace()
        for j in subject.tracked:
            out = outputs[j]
            parts = 2 if out.dtype.kind == "c" else 1
            tables = [[np.zeros((x._value.size, out._value.size), x.dtype) for _ in range(parts)] for x in leaves]
            for entry in range(out._value.size):
                for part in range(parts):
                    seed = np.zeros(out._value.shape, out.dtype)
                    seed.flat[entry] = 1j if part else 1
                    for table, g in zip(tables, subject.pullback(leaves, out, seed[()]), strict=True):
                        table[part][:, entry] = np.ravel(g)
            for i, k in enumerate(subject.checked):
                self._compare(j, k, tables[i], "Jacobian mismatch")

    def forward(self, batched: bool) -> None:
        """Forward mode against differences; ``batched``: also several tangents in one run of the linear map."""
        subject = self.subject
        for k in subject.checked:
            tables = self._assembled(k, lambda k, unit: _pushed(subject, k, unit))
            for j in subject.tracked:
                self._compare(j, k, tables[j], "Jacobian computed with forward mode mismatch")
            if batched:
                _check_batched_forward(subject, k)

    def _compare(self, j: int, k: int, analytic: Any, words: str) -> None:
        parts = list(zip(analytic, self.numeric[k][j], ("real", "imaginary"), strict=False))
        for a, n, part in reversed(parts):
            close = np.isclose(a, n, self.rtol, self.atol)
            if not close.all():
                prefix = f"While considering the {part} part of complex outputs only, " if len(parts) > 1 else ""
                raise GradcheckError(self._message(j, k, a, n, close, prefix + words))

    def _message(self, j: int, k: int, a: Any, n: Any, close: Any, words: str) -> str:
        """torch's words, then the worst entry and the formulas."""
        subject = self.subject
        with np.errstate(invalid="ignore"):
            off = np.where(close, -1.0, np.nan_to_num(np.abs(a - n), nan=np.inf))
        row, column = map(int, np.unravel_index(int(off.argmax()), off.shape))
        entry = f"output {j}{place(column, subject.outputs[j])} by {subject.name(k)}{place(row, subject.inputs[k])}"
        return (
            f"{words} for output {j} with respect to input {k},\nnumerical:{plain(Tensor, n)!r}\nanalytical:"
            f"{plain(Tensor, a)!r}\n\n{int((~close).sum())} of {close.size} entries are wrong, the worst is the "
            f"derivative of {entry}: "
            f"analytical {a[row, column].item()!r}, numerical {n[row, column].item()!r}"
            f"{_ratio(a[row, column], n[row, column])}.\n{_formulas(subject, j, k)}"
        )


def _pushed(subject: Subject, k: int, direction: Any) -> list[Any]:
    """The derivative of all outputs along a direction, by forward mode."""
    standing = {i: np.zeros_like(subject.inputs[i]._value) for i in subject.checked}
    return run_along(subject, standing | {k: direction})


def _check_undefined_forward(subject: Subject) -> None:
    """An input without tangent counts as one whose tangent is zero."""
    rng = np.random.default_rng(3)
    moves = {k: random_values(rng, subject.inputs[k]._value.shape, subject.inputs[k].dtype) for k in subject.checked}
    for k in subject.checked:
        others = {i: move for i, move in moves.items() if i != k}
        zero = run_along(subject, others | {k: np.zeros_like(moves[k])})
        for j, (a, b) in enumerate(zip(zero, run_along(subject, others), strict=True)):
            if not np.allclose(a, b):
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {j} when input: {k} has an undefined tangent "
                    f"value. Got: {a} for zeros, but expected: {b}, as without tangent"
                )


def _check_batched_forward(subject: Subject, k: int) -> None:
    """Forward mode is linear: the tangent of a sum is the sum of the tangents, whatever came before."""
    rng = np.random.default_rng(2)
    shape, dtype = subject.inputs[k]._value.shape, subject.inputs[k].dtype
    u, v = random_values(rng, shape, dtype), random_values(rng, shape, dtype)
    parts = zip(_pushed(subject, k, u), _pushed(subject, k, v), _pushed(subject, k, u + v), strict=True)
    for j, (a, b, both) in enumerate(parts):
        if not np.allclose(a + b, both):
            raise GradcheckError(
                f"Forward mode of output {j} is not linear in the tangent of {subject.name(k)}: the tangents of two "
                f"directions and of their sum differ by {worst(a + b - both)!r}."
            )


# ---------------------------------------------------------------------------------------------- one direction


class _Fast:
    """The comparison along one random direction per pair of input and output."""

    def __init__(self, subject: Subject, atol: float, rtol: float, derivative: Derivative):
        self.subject = subject
        self.atol = atol
        self.rtol = rtol
        self.derivative = derivative
        rng = np.random.default_rng(0)
        self.directions = {
            k: _unit(random_values(rng, subject.inputs[k]._value.shape, subject.inputs[k].dtype))
            for k in subject.checked
        }
        self.cotangents = [_unit(random_values(rng, o._value.shape, o.dtype)) for o in subject.outputs]
        self.numeric = {k: derivative(k, u) for k, u in self.directions.items()}

    def backward(self) -> None:
        """Reverse mode: ``Re(conj(v) J u)`` is ``Re(conj(g) u)`` with the gradient ``g`` for cotangent ``v``."""
        subject = self.subject
        leaves, outputs = subject.trace()
        for j in subject.tracked:
            v = self.cotangents[j]
            for k, g in zip(subject.checked, subject.pullback(leaves, outputs[j], v), strict=True):
                self._compare(j, k, _inner(g, self.directions[k]), "Jacobian mismatch", "backward")

    def forward(self, batched: bool) -> None:
        """Forward mode along the same directions."""
        for k in self.subject.checked:
            pushed = _pushed(self.subject, k, self.directions[k])
            for j in self.subject.tracked:
                found = _inner(self.cotangents[j], pushed[j])
                self._compare(j, k, found, "Jacobian computed with forward mode mismatch", "forward")
            if batched:
                _check_batched_forward(self.subject, k)

    def _compare(self, j: int, k: int, analytic: float, words: str, mode: str) -> None:
        numeric = _inner(self.cotangents[j], self.numeric[k][j])
        # The product adds as many rounding errors as the Jacobian has entries; they are as large as those of one entry.
        scale = float(np.abs(self.cotangents[j]).sum() * np.abs(self.directions[k]).sum())
        if np.isclose(analytic, numeric, self.rtol, self.atol * max(scale, 1.0)):
            return
        slow = _Slow(self.subject, self.atol, self.rtol, self.derivative)
        try:
            slow.backward() if mode == "backward" else slow.forward(False)
            found = "the slow mode finds no entry beyond its tolerances: raise atol, or use fast_mode=False"
        except GradcheckError as error:
            found = str(error)
        raise GradcheckError(
            f"{words} for output {j} with respect to input {k},\nnumerical:{numeric!r}\nanalytical:{analytic!r}\n\nThe "
            "above quantities relating the numerical and analytical jacobians are computed in fast mode. Below, we "
            f"recompute numerical and analytical jacobians in slow mode:\n\n{found}"
        )


def _unit(value: Any) -> Any:
    norm = np.linalg.norm(np.ravel(value))
    return value / norm if norm else value


def _inner(a: Any, b: Any) -> float:
    """The real inner product."""
    return float(np.real(np.vdot(np.ravel(a), np.ravel(b))))


# ---------------------------------------------------------------------------------------------- words


def _ratio(a: Any, n: Any) -> str:
    a, n = complex(a), complex(n)  # in half precision 1e-12 is 0, and a quotient may overflow
    if not np.isfinite(a) or not np.isfinite(n) or abs(n) < 1e-12:
        return ""
    ratio = a / n
    return f", ratio {ratio.real if abs(ratio.imag) < 1e-9 * abs(ratio) else ratio:.6g}"


def _formulas(subject: Subject, j: int, k: int) -> str:
    """The formula of the output and of the gradient that backward takes, where they can be written."""
    leaves, outputs = subject.trace()
    out = outputs[j]
    if not out._requires_grad:
        return ""
    seed = plain(Tensor, np.ones_like(out._value))
    seed.more().name = "v"
    (g,) = grad([out], [leaves[subject.checked.index(k)]], [seed], retain_graph=True, allow_unused=True)
    return f"formula of the output: {_text(out)}\nformula of its gradient, for the cotangent v: {_text(g)}"


def _text(tensor: Any) -> str:
    if tensor is None:
        return "none, the output does not depend on the input"
    try:
        return str(tensor.expr)
    except FormulaError as error:
        return f"not available ({error})"

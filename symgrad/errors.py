"""Every exception and warning symgrad raises.

Each class derives from the built-in that torch or NumPy raises in the same situation, so that code written for them
catches ours.  A message says what happened, with which names, shapes and values, and what to do next.
"""

from __future__ import annotations


class SymgradError(Exception):
    """Base of everything raised on purpose by this library."""


class AutogradError(SymgradError, RuntimeError):
    """A backward pass was asked for something it cannot give (torch raises ``RuntimeError``)."""


class CopiesForgotten(AutogradError, AssertionError):
    """Backward needs copies of saved values that were forgotten."""


class ScalingError(AutogradError, AssertionError):
    """The steps of a loop that scales its loss came in another order (torch raises one or the other)."""


class ChangedInPlace(AutogradError):
    """A value that a derivative needs was changed in place after it was saved."""


class UnsupportedDerivative(AutogradError, NotImplementedError):
    """A derivative that is known to exist and is not there (torch raises ``NotImplementedError``)."""


class ShapeError(SymgradError, RuntimeError, ValueError):
    """Shapes that do not fit together (NumPy raises ``ValueError``, torch ``RuntimeError``)."""


class OutOfBounds(SymgradError, IndexError, RuntimeError):
    """An index array names a place that an axis does not have."""


class DtypeError(SymgradError, RuntimeError, TypeError):
    """A dtype that an operation does not support."""


class UnsupportedDtype(DtypeError, NotImplementedError):
    """A dtype for which an operation has no kernel (torch raises ``NotImplementedError``)."""


class NumberTooLarge(DtypeError, OverflowError, ValueError):
    """A whole number of more than 64 bits (torch raises one or the other)."""


class DeviceError(SymgradError, RuntimeError, AssertionError):
    """Another device than the CPU was asked for (torch raises one or the other)."""


class OutOfMemoryError(SymgradError, RuntimeError):
    """What torch raises where the memory of a GPU is full; training loops name it, and here it is never raised.

    >>> import symgrad as sg
    >>> batch = 8
    >>> try:
    ...     loss = sg.ones(batch).sum()
    ... except sg.OutOfMemoryError:
    ...     batch //= 2
    >>> batch
    8
    """


class ArgumentError(SymgradError, TypeError, ValueError, RuntimeError):
    """An argument of the wrong kind or value (torch raises one or the other, for values mostly ``RuntimeError``)."""


class NotAnOperand(ArgumentError):
    """What stands beside a tensor is no tensor, array or number; an operator then asks the other operand."""


class UnsupportedMode(ArgumentError, NotImplementedError):
    """A mode that a function does not have, or not for such an input (torch raises ``NotImplementedError``)."""


class MissingPackage(SymgradError, ModuleNotFoundError):
    """A package that is needed for what was asked, and not installed."""


class MemberError(SymgradError, AttributeError, KeyError):
    """A name under which a module can hold nothing (torch raises one or the other)."""

    __str__ = Exception.__str__  # that of KeyError puts quotes around the words


class NameProblem(SymgradError, ValueError):
    """A symbol name that cannot be used in source text or in a formula, or that is not known."""


class UnsupportedFunction(SymgradError, TypeError):
    """A NumPy function that the op table does not have; refusing keeps the gradient from being lost."""


class NotFollowed(UnsupportedFunction):
    """A function that makes plain numbers of what a program for NumPy's arrays gives it."""


class FormulaError(SymgradError, ValueError):
    """A formula that cannot be built, printed or read."""


class LineFailed(FormulaError):
    """A line of a derivation is not what the program computes."""


class FormulaTooDeep(FormulaError):
    """The graph is past the depth budget of a single expression; the where-list form has no such limit."""


class CompileError(SymgradError, ValueError):
    """A graph or function that cannot be compiled."""


class KinkError(AutogradError):
    """A derivative was asked for at a kink while ``conventions("raise")`` is in force.

    ``place`` says where the kink is: ``x = 0``.
    """

    place = ""


class LawBroken(SymgradError, AssertionError):
    """A law of the op table does not hold for an op; the words say for which, and with which numbers."""


class CheckFailed(SymgradError, AssertionError):
    """A gradient under check differs from the exact one."""


class GradcheckError(AutogradError):
    """``gradcheck`` found a derivative that differs from differences of the function."""


class NoSuchKernel(ArgumentError, AssertionError):
    """A kernel was named that is none of torch's."""


class AttentionMisfit(ArgumentError, AssertionError):
    """The sizes of heads, features and masks of attention do not go together."""


class ConflictingChecks(ArgumentError, AssertionError):
    """The flags of a check contradict each other, or leave nothing to check."""


class UnsteadyOutput(SymgradError, AssertionError):
    """A function under check changes the shape or dtype of what it returns when its input moves a little."""


class NotConverged(SymgradError, ArithmeticError, RuntimeError):
    """A solver's result is no solution, so that a derivative of it would be wrong."""


class DividedByZero(SymgradError, RuntimeError, ZeroDivisionError):
    """Integers are divided by 0, for which they have neither an infinity nor a nan."""


class SingularJacobian(SymgradError, ArithmeticError, RuntimeError):
    """An equation whose solution is no differentiable function of its parameters (torch raises ``LinAlgError``)."""


class WorkerError(SymgradError, RuntimeError):
    """A worker process ended without an answer, or raised what pickle cannot bring home."""


class SymgradWarning(UserWarning):
    """Base of the library's warnings."""


class IllPosedDerivative(SymgradWarning):
    """A derivative that hardly any digit is left of: eigenvalues that meet, whose vectors have no derivative."""

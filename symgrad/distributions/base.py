"""What all distributions have: their shapes, the checks of parameters and values, and samples without gradient."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symgrad.autograd import grad
from symgrad.distributions import constraints
from symgrad.distributions.constraints import Constraint
from symgrad.dtypes import get_default_dtype
from symgrad.errors import ArgumentError
from symgrad.tape.modes import enable_grad, no_grad
from symgrad.tensor import FUNCTIONS, Tensor, creation
from symgrad.tensor.facts import Shape


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of one shape; numbers have the dtype of the first tensor.

    Raises ``ArgumentError`` for what is neither.
    """
    for value in values:
        if not isinstance(value, (Tensor, int, float, np.number)):
            raise ArgumentError(f"a distribution takes numbers and tensors, not {type(value).__name__}")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), get_default_dtype())
    tensors = [v if isinstance(v, Tensor) else creation.tensor(v, dtype=dtype) for v in values]
    return tuple(FUNCTIONS["broadcast_tensors"](*tensors))


def kind_of(distribution: Any) -> Any:
    """The class here of a distribution, from which one of users' own derives."""
    return next(kind for kind in type(distribution).__mro__ if kind.__module__.startswith("symgrad.distributions"))


class Distribution:
    """A family of distributions of one shape: ``batch_shape`` independent ones, of events of shape ``event_shape``.

    ``validate_args``: whether parameters and values are checked, which raises ``ArgumentError`` (a ``ValueError``);
    None for what :meth:`set_default_validate_args` says, which is True at first.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = True
    arg_constraints: ClassVar[dict[str, Any]] = {}
    """What the parameters satisfy, by their names; classes of users' own may compute it."""
    _alike: ClassVar[tuple[str, ...]] = ()
    """Settings that stand before the parameters, and are the same for a whole batch."""

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None):
        self._batch_shape, self._event_shape = Shape(batch_shape), Shape(event_shape)
        if validate_args is not None:
            self._validate_args = bool(validate_args)
        self._check_parameters()

    def _check_parameters(self) -> None:
        """Raise torch's error for a parameter that does not satisfy its constraint."""
        self._hold(
            **{
                name: (getattr(self, name), constraint)
                for name, constraint in (self.arg_constraints.items() if self._validate_args else ())
                if not constraints.is_dependent(constraint) and self._is_given(name)
            }
        )

    @property
    def _parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters that are shown, and that ``expand`` gives again."""
        return tuple(self.arg_constraints)

    def _is_given(self, name: str) -> bool:
        """Whether a parameter is there, and none that is computed when it is asked for."""
        return name in self.__dict__ or not isinstance(getattr(type(self), name, None), functools.cached_property)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and values where they are not told."""
        if value not in (True, False):
            raise ArgumentError(f"set_default_validate_args() takes True or False, not {value!r}")
        Distribution._validate_args = bool(value)

    @property
    def batch_shape(self) -> Shape:
        """The shape over which the parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one event."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The expected value."""
        raise NotImplementedError

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The value of the largest density, or the most probable one."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The square root of the variance."""
        return self.variance.sqrt()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions in a larger batch: a new object, or ``_instance`` of a class of users' own."""
        parameters = {name: getattr(self, name) for name in self._parameter_names}
        axes = len(self._batch_shape)  # behind which a parameter has those of an event
        wide = {name: value.expand((*batch_shape, *value.shape[axes:])) for name, value in parameters.items()}
        made = kind_of(self)(*(getattr(self, name) for name in self._alike), **wide, validate_args=False)
        return self._filled(_instance, made)

    def _filled(self, instance: Any, made: Any) -> Any:
        """What ``expand`` made of a class here, as an object of its own class, or as the ``instance`` that is given."""
        instance = self._get_checked_instance(type(made), instance)
        vars(instance).update(vars(made), _validate_args=self._validate_args)
        return instance

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """A bare object that ``expand`` fills, under the name by which classes of users' own ask for it.

        Raises ``NotImplementedError`` for those that are made of other arguments.
        """
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self))

    def sample(self, sample_shape: Any = ()) -> Any:
        """Values without gradient, of shape ``sample_shape + batch_shape + event_shape``."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Values by which the parameters can be differentiated; raises ``NotImplementedError`` where none can."""
        raise NotImplementedError(
            f"{type(self).__name__} has no samples that gradients flow through: take sample(), and log_prob() of them"
        )

    def log_prob(self, value: Any) -> Any:
        """The log of the density, or of the probability, at ``value``; of shape ``batch_shape``, broadcast."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of at most ``value``."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The quantile of a probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values along a new first axis, for distributions of finitely many."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy in nats, of shape ``batch_shape``."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """e to the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any) -> Shape:
        return Shape((*sample_shape, *self._batch_shape, *self._event_shape))

    def _hold(self, **parameters: tuple[Any, Constraint]) -> None:
        """Raise torch's error for a parameter that does not satisfy its constraint."""
        for name, (value, constraint) in parameters.items() if self._validate_args else ():
            if not _holds(value, constraint):
                raise ArgumentError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value: Any) -> None:
        """Raise torch's errors for a value that is no tensor, has another shape, or is outside of the support."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ArgumentError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if tuple(value.shape[len(value.shape) - events :]) != tuple(self._event_shape):
            raise ArgumentError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        shape = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(tuple(value.shape)), reversed(shape), strict=False):
            if i != j and 1 not in (i, j):
                raise ArgumentError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {Shape(shape)}."
                )
        try:
            constraint = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not _holds(value, constraint):
            raise ArgumentError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the support "
                f"({constraint!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = []
        for name in self._parameter_names:
            value = self.__dict__.get(name)
            if value is not None:
                shown.append(f"{name}: {value.item() if math.prod(value.shape) == 1 else value.shape}")
        return f"{type(self).__name__}({', '.join(shown)})"


class Located(Distribution):
    """A distribution that is moved by ``loc`` and stretched by ``scale``, around its mean."""

    has_rsample = True
    support = constraints.real
    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean


class ExponentialFamily(Distribution):
    """A base class for densities exp(⟨t(x), θ⟩ - F(θ) + k(x)), whose entropies and divergences follow from F.

    A class has ``_natural_params``, which is θ as a tuple of tensors, ``_log_normalizer``, which is F as a function of
    them, and ``_mean_carrier_measure``, the expected k.
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def _naturals(self) -> list[Any]:
        """θ as tensors by which can be differentiated, and through which gradients reach the parameters."""
        return [p.clone() if p.requires_grad else p.detach().requires_grad_() for p in self._natural_params]

    def _normalised(self, natural: list[Any]) -> tuple[Any, Sequence[Any]]:
        """F, and its slopes, which are the expected t(x)."""
        with enable_grad():
            found = self._log_normalizer(*natural)
            return found, grad(found.sum(), natural, create_graph=True)

    def entropy(self) -> Any:
        """The entropy in nats: F less what its slopes say of θ."""
        natural = self._naturals()
        found, slopes = self._normalised(natural)
        found = found - self._mean_carrier_measure
        for p, slope in zip(natural, slopes, strict=True):
            found = found - (p * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return found


def _holds(value: Any, constraint: Constraint) -> bool:
    """Whether all entries satisfy a constraint, as far as there are entries: no program hangs on this look at them."""
    array = getattr(value, "_value", None)
    if not isinstance(array, (np.ndarray, np.generic)):
        return True
    with no_grad():
        return bool(np.all(constraint.check(array if constraints.takes_arrays(constraint) else creation.tensor(array))))


def room(shape: Sequence[int], like: Any) -> Any:
    """A tensor of a shape for random numbers, in the dtype of another one."""
    return creation.empty(tuple(shape), dtype=like.dtype)

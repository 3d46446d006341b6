"""Grad mode: whether operations record themselves.  Thread-local, nestable, usable as context or decorator.

The per-op path must not look at a thread-local for nothing: ``MODE.exceptional`` counts the threads and contexts that
have recording switched off, and only when it is not zero does an op ask for its own thread's setting.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload

import numpy as np

from symgrad.errors import ArgumentError
from symgrad.tape.threads import ThreadState

F = TypeVar("F", bound=Callable[..., Any])


class _Local(ThreadState):
    asked = True
    enabled = True
    inference = False
    closed = False
    left: int | None = None


class _Mode:
    """``local.enabled`` says whether this thread records; ``local.asked`` what it would do outside of inference mode.

    ``local.closed`` is for graphs that do not outlive a transform of a function: they may save inference tensors.
    ``local.left`` counts how often the user's code switches recording off, if somebody wants to know
    (:func:`switches_noticed`).

    ``inferred`` is true once there may be inference tensors, which graphs must not save.
    """

    __slots__ = ("exceptional", "inferred", "local")

    def __init__(self) -> None:
        self.exceptional = 0
        self.inferred = False
        self.local = _Local()


MODE = _Mode()
_LOCK = threading.Lock()


def is_grad_enabled() -> bool:
    """Whether grad mode is on in this thread: operations are recorded, unless inference mode is on as well.

    >>> import symgrad as sg
    >>> with sg.no_grad():
    ...     sg.is_grad_enabled()
    False
    """
    return MODE.local.asked


def recording() -> bool:
    """Whether operations on tensors that require grad are recorded now, in this thread."""
    return not MODE.exceptional or MODE.local.enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside ``inference_mode``.

    >>> import symgrad as sg
    >>> with sg.inference_mode():
    ...     sg.is_inference_mode_enabled()
    True
    """
    return MODE.local.inference


def _switch(enabled: bool) -> bool:
    local = MODE.local
    before, local.asked = local.asked, enabled
    records = enabled and not local.inference
    if local.enabled is not records:
        with _LOCK:
            MODE.exceptional += -1 if records else 1
        local.enabled = records
    return before


def _asked(enabled: bool) -> bool:
    """:func:`_switch` at a context or call that says so, and not at the end of one."""
    local = MODE.local
    if local.left is not None and local.asked and not enabled:
        local.left += 1
    return _switch(enabled)


class _Context:
    """Base of the mode contexts: as context, as decorator (functions and generators), nested in any order."""

    enabled = True

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_asked(self.enabled))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _switch(self._before.pop())

    def clone(self) -> _Context:
        """Another context of the same kind."""
        return type(self)()

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function):
            return cast(F, self._wrap_generator(function))
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            # The mode is for making objects; the class itself stays as it is.
            return cast(F, self._wrap(lambda *args, **kwargs: function(*args, **kwargs)))
        return cast(F, self._wrap(function))

    def _wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The mode holds while the generator runs, not while its caller does; what is sent or thrown in arrives."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            step = functools.partial(generator.send, None)
            while True:
                with self.clone():
                    try:
                        item = step()
                    except StopIteration as stop:
                        return stop.value
                try:
                    sent = yield item
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:  # noqa: BLE001  (it is for the generator to take or to let through)
                    step = functools.partial(generator.throw, error)
                else:
                    step = functools.partial(generator.send, sent)

        return wrapped


class no_grad(_Context):  # noqa: N801  (torch's name)
    """Do not record: results are new symbols without history.

    >>> import symgrad as sg
    >>> x = sg.tensor(1.0, requires_grad=True)
    >>> with sg.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    enabled = False

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]  # not an instance, as torch's
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """A context, or ``function`` wrapped in one: ``@no_grad`` works without brackets."""
        made = super().__new__(cls)
        if function is not None:
            made.__init__()  # type: ignore[misc]
            return made(function)
        return made


class own_no_grad(_Context):  # noqa: N801  (beside its public kin)
    """:class:`no_grad` where the library runs what has a derivative of its own: not a switch of the user's."""

    enabled = False

    def __init__(self) -> None:
        super().__init__()
        self._left = MODE.local.left

    def __exit__(self, *error: Any) -> None:  # noqa: PYI036
        super().__exit__(*error)
        MODE.local.left = self._left


@contextlib.contextmanager
def switches_noticed() -> Iterator[Callable[[], bool]]:
    """Inside, what is given tells whether the user switched recording off, which forward mode moves through."""
    local = MODE.local
    outer, local.left = local.left, 0
    try:
        yield lambda: bool(local.left)
    finally:
        local.left = None if outer is None else outer + local.left


def without_grad(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of the library's gives unrecorded."""
    before, left = _switch(False), MODE.local.left
    try:
        return function(*args, **kwargs)
    finally:
        _switch(before)
        MODE.local.left = left


class enable_grad(no_grad):  # noqa: N801  (torch's name)
    """Record again inside ``no_grad``.

    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> with sg.no_grad(), sg.enable_grad():
    ...     (x * x).requires_grad
    True
    """

    enabled = True


class inference_mode(_Context):  # noqa: N801  (torch's name)
    """Like ``no_grad``, and what is made inside are inference tensors, which no graph may save afterwards.

    ``inference_mode(False)`` ends both until the end of its block.

    >>> import symgrad as sg
    >>> with sg.inference_mode():
    ...     x = sg.ones(2)
    >>> x.is_inference()
    True
    """

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]  # not an instance, as torch's
    def __new__(cls, mode: Any = True) -> Any:
        """A context, or a function wrapped in one: ``@inference_mode`` works without brackets."""
        made = super().__new__(cls)
        if callable(mode):
            made.__init__(True)  # type: ignore[misc]
            return made(mode)
        return made

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode
        self.enabled = not mode
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(MODE.local.inference)
        MODE.local.inference = self.mode
        MODE.inferred = MODE.inferred or self.mode
        super().__enter__()

    def __exit__(self, *error: Any) -> None:  # noqa: PYI036
        MODE.local.inference = self._outer.pop()
        super().__exit__(*error)

    def clone(self) -> _Context:
        """Another context of the same kind and mode."""
        return inference_mode(self.mode)


class set_grad_enabled(_Context):  # noqa: N801  (torch's name)
    """Switch recording on or off: at once as a function, until the end of the block as a context.

    >>> import symgrad as sg
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> with sg.set_grad_enabled(False):
    ...     (x * x).requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, (bool, np.bool_)):
            raise ArgumentError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        super().__init__()
        self.enabled = bool(mode)
        self._first: bool | None = _asked(self.enabled)

    def __repr__(self) -> str:
        return f"symgrad.autograd.grad_mode.set_grad_enabled(mode={self.enabled})"

    def __enter__(self) -> None:
        self._before.append(_asked(self.enabled) if self._first is None else self._first)
        self._first = None

    def clone(self) -> _Context:
        """Another context of the same mode; making it does not set the mode."""
        before = MODE.local.asked
        made = set_grad_enabled(self.enabled)
        made._first = None
        _switch(before)
        return made

    def __call__(self, function: F) -> F:
        """As a decorator the mode belongs to the calls, not to the line of the decoration."""
        if self._first is not None:
            _switch(self._first)
        return super().__call__(function)


class _Threads(ThreadState):
    several = True


_THREADS = _Threads()


def is_multithreading_enabled() -> bool:
    """What ``set_multithreading_enabled`` set in this thread; True unless it was used.

    >>> import symgrad as sg
    >>> sg.autograd.is_multithreading_enabled()
    True
    """
    return _THREADS.several


class set_multithreading_enabled(_Context):  # noqa: N801  (torch's name)
    """At once as a function, until the end of the block as a context; backward runs in the thread that calls it anyway.

    >>> import symgrad as sg
    >>> with sg.autograd.set_multithreading_enabled(False):
    ...     sg.autograd.is_multithreading_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._outer = _THREADS.several
        _THREADS.several = self.mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _THREADS.several = self._outer

    def clone(self) -> _Context:
        """Another context of the same kind and mode."""
        return set_multithreading_enabled(self.mode)

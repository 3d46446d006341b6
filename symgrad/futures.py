"""Results that are waited for, under the names of ``torch.futures``; here they are set by who makes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from symgrad.errors import ArgumentError, AutogradError
from symgrad.notices import notice

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A result, or an exception, that is there or will be set; ``devices`` are torch's.

    Raises ``RuntimeError`` where it is waited for and there is no other thread to set it, and where it is set twice.

    >>> import symgrad as sg
    >>> later = sg.futures.Future()
    >>> doubled = later.then(lambda future: 2 * future.value())
    >>> later.set_result(3)
    >>> doubled.wait()
    6
    """

    def __init__(self, *, devices: Any = None):
        del devices
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []
        self._changing = threading.Condition()

    def done(self) -> bool:
        """Whether it is set."""
        return self._outcome is not None

    def wait(self) -> T:
        """What is set, by another thread perhaps."""
        with self._changing:
            while self._outcome is None and threading.active_count() > 1:
                self._changing.wait(0.05)  # and look whether there are still others
        return self.value()

    def value(self) -> T:
        """What was set."""
        if self._outcome is None:
            raise AutogradError("Future: nothing was set: set_result() or set_exception() comes first, in this process")
        found, error = self._outcome
        if error is not None:
            raise error
        return found  # type: ignore[no-any-return]

    def set_result(self, result: T) -> None:
        """Set what it is."""
        self._set((result, None))

    def set_exception(self, result: BaseException) -> None:
        """Set what is raised where it is waited for.  Raises ``ArgumentError`` for what cannot be raised."""
        if not isinstance(result, BaseException):
            raise ArgumentError(f"{result} is of type {type(result)}, not an Exception.")
        self._set((None, result))

    def _set(self, outcome: tuple[Any, BaseException | None]) -> None:
        with self._changing:
            if self._outcome is not None:
                raise AutogradError("Future: it can be set once, and was set before")
            self._outcome = outcome
            self._changing.notify_all()
        for callback in self._callbacks:
            self._tell(callback)

    def _tell(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call it; its error is none of those who set the result, nor of the callbacks behind it."""
        try:
            callback(self)
        except Exception as error:  # noqa: BLE001  (whatever it may be)
            notice(f"Got the following error when running the callback: {type(error).__name__}: {error}")

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call ``callback(self)`` when it is set, or now; an error there is told by a warning."""
        with self._changing:
            if self._outcome is None:
                self._callbacks.append(callback)
                return
        self._tell(callback)

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """What ``callback(self)`` gives when this one is set."""
        made: Future[Any] = Future()

        def follow(_: Any) -> None:
            try:
                made.set_result(callback(self))
            except Exception as error:  # noqa: BLE001  (it is raised where the result is asked for)
                made.set_exception(error)

        self.add_done_callback(follow)
        return made


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """One that is set when all of them are, and gives them, or raises the first exception among theirs.

    >>> import symgrad as sg
    >>> one = sg.futures.Future()
    >>> both = collect_all([one, one])
    >>> one.set_result(1)
    >>> [future.value() for future in both.value()]
    [1, 1]
    """
    made: Future[list[Future[Any]]] = Future()

    def told(_: Any) -> None:
        with made._changing:
            outcomes = [future._outcome for future in futures]
            if not made.done() and None not in outcomes:
                failed = next((outcome[1] for outcome in outcomes if outcome and outcome[1] is not None), None)
                made._set((list(futures), failed))

    for future in futures:
        future.add_done_callback(told)
    told(None)  # where there are none
    return made


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """What each of them is set to.

    >>> import symgrad as sg
    >>> one = sg.futures.Future()
    >>> one.set_result(1)
    >>> wait_all([one])
    [1]
    """
    return [future.wait() for future in collect_all(futures).wait()]

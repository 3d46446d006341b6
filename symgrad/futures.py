"""Results that are waited for, under the names of ``torch.futures``; here they are set by who makes them.

>>> import symgrad as sg
>>> later = sg.futures.Future()
>>> doubled = later.then(lambda future: 2 * future.value())
>>> later.set_result(3)
>>> doubled.wait()
6
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from symgrad.errors import AutogradError

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A result, or an exception, that is there or will be set; ``devices`` are torch's.

    Raises ``RuntimeError`` where it is waited for and nobody will set it, and where it is set twice.
    """

    def __init__(self, *, devices: Any = None):
        del devices
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether it is set."""
        return self._outcome is not None

    def value(self) -> T:
        """What was set."""
        if self._outcome is None:
            raise AutogradError("Future: nothing was set: set_result() or set_exception() comes first, in this process")
        found, error = self._outcome
        if error is not None:
            raise error
        return found  # type: ignore[no-any-return]

    wait = value

    def set_result(self, result: T) -> None:
        """Set what it is."""
        self._set((result, None))

    def set_exception(self, result: BaseException) -> None:
        """Set what is raised where it is waited for."""
        self._set((None, result))

    def _set(self, outcome: tuple[Any, BaseException | None]) -> None:
        if self._outcome is not None:
            raise AutogradError("Future: it can be set once, and was set before")
        self._outcome = outcome
        for callback in self._callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call ``callback(self)`` when it is set, or now."""
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)

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
    """One that is set when all of them are, and gives them.

    >>> import symgrad as sg
    >>> one = sg.futures.Future()
    >>> both = collect_all([one, one])
    >>> one.set_result(1)
    >>> [future.value() for future in both.value()]
    [1, 1]
    """
    made: Future[list[Future[Any]]] = Future()

    def told(_: Any) -> None:
        if not made.done() and all(future.done() for future in futures):
            made.set_result(list(futures))

    for future in futures:
        future.add_done_callback(told)
    if not futures:
        made.set_result([])
    return made


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """What each of them was set to.

    >>> import symgrad as sg
    >>> one = sg.futures.Future()
    >>> one.set_result(1)
    >>> wait_all([one])
    [1]
    """
    return [future.value() for future in collect_all(futures).value()]

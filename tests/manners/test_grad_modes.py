"""Grad modes: no_grad, enable_grad and set_grad_enabled as contexts, calls and decorators of everything callable."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture(autouse=True)
def mode_stays(t):
    """No test may leave another mode behind."""
    assert t.is_grad_enabled()
    yield
    left = t.is_grad_enabled()
    t.set_grad_enabled(True)
    assert left


def test_no_grad(t):
    """Results under no_grad do not require grad; as a decorator it comes with brackets and without."""
    x, y = t.ones(3, requires_grad=True), t.ones(3) * 4
    with t.no_grad():
        inside = x + y

    @t.no_grad()
    def bracketed(x, y):
        return x + y

    @t.no_grad
    def bare(x, y):
        return x + y

    for result in (inside, bracketed(x, y), bare(x, y), t.no_grad(lambda: x + y)()):
        assert result.tolist() == [5.0] * 3
        assert not result.requires_grad
        with pytest.raises(RuntimeError, match="does not require grad"):
            result.backward(t.ones(3))
    assert (x + y).requires_grad


def test_enable_grad_decorator_no_paren(t):
    """A function under a bare ``@enable_grad`` records, also when called under no_grad."""
    x = t.ones(3, requires_grad=True)

    @t.enable_grad
    def triple(value):
        return value * 3

    with t.no_grad():
        inside, plain = triple(x), x * 3
    assert inside.requires_grad
    assert not plain.requires_grad
    assert triple.__name__ == "triple"


def test_grad_mode_class_decoration(t):
    """Decorating a class warns, and the mode holds for its construction only; functions and methods do not warn."""
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @t.no_grad()
        class Quiet:
            def __init__(self):
                self.made_with = t.is_grad_enabled()

            def mode(self):
                return t.is_grad_enabled()

    made = Quiet()
    assert made.made_with is False
    assert made.mode() is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        @t.no_grad()
        def function():
            return t.is_grad_enabled()

        class Methods:
            @t.no_grad()
            def __init__(self):
                self.made_with = t.is_grad_enabled()

            @t.no_grad()
            def quiet(self):
                return t.is_grad_enabled()

            def mode(self):
                return t.is_grad_enabled()

    methods = Methods()
    assert (function(), methods.made_with, methods.quiet(), methods.mode()) == (False, False, False, True)


def test_set_grad_enabled(t):
    """As a context until its end; as a call from then on."""
    x = t.ones(1, requires_grad=True)
    with t.set_grad_enabled(False):
        y = x * 2
    assert not y.requires_grad
    with t.set_grad_enabled(True):
        y = x * 2
    assert y.requires_grad
    with t.set_grad_enabled(False):
        t.set_grad_enabled(True)
        y = x * 2
    assert y.requires_grad
    t.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    t.set_grad_enabled(True)


@pytest.mark.parametrize("around", [False, True])
def test_set_grad_enabled_wraps(t, around):
    """As a decorator it sets the mode of the calls, and not that of the line where it decorates."""
    with t.set_grad_enabled(around):

        @t.set_grad_enabled(not around)
        def inside():
            return t.is_grad_enabled()

        assert t.is_grad_enabled() is around
        assert inside() is not around
        assert t.is_grad_enabled() is around

        # a decorator kept in a name: making it sets the mode, using it takes that back
        decorator = t.set_grad_enabled(not around)
        assert t.is_grad_enabled() is not around
        again = decorator(t.is_grad_enabled)
        assert t.is_grad_enabled() is around
        assert again() is not around
        assert t.is_grad_enabled() is around


# ---------------------------------------------------------------------------------------------- generators


def test_set_grad_generator_functions(t):
    """A decorated generator has its mode while it runs and leaves that of its caller alone in between."""

    @t.no_grad()
    def quiet():
        for _ in range(3):
            assert not t.is_grad_enabled()
            yield t.is_grad_enabled()

    @t.enable_grad()
    def loud():
        for _ in range(3):
            assert t.is_grad_enabled()
            yield t.is_grad_enabled()

    for outer in (True, False):
        for generator, expected in ((quiet, False), (loud, True)):
            with t.set_grad_enabled(outer):
                for mode in generator():
                    assert mode is expected
                    assert t.is_grad_enabled() is outer
                assert t.is_grad_enabled() is outer
    assert list(quiet()) == [False] * 3


def test_set_grad_generator_functions_recursive(t):
    """Decorated generators within one another, with contexts inside: every level gets its mode back."""

    @t.enable_grad()
    def recording(depth):
        assert t.is_grad_enabled()
        if depth:
            with t.no_grad():
                assert list(silent(depth - 1)) == list(range(depth))
                assert not t.is_grad_enabled()
            assert t.is_grad_enabled()
            yield from silent(depth - 1)
        assert t.is_grad_enabled()
        yield depth

    @t.no_grad()
    def silent(depth):
        assert not t.is_grad_enabled()
        if depth:
            with t.enable_grad():
                assert list(recording(depth - 1)) == list(range(depth))
                assert t.is_grad_enabled()
            assert not t.is_grad_enabled()
            yield from recording(depth - 1)
        assert not t.is_grad_enabled()
        yield depth

    for outer in (True, False):
        with t.set_grad_enabled(outer):
            seen = []
            for depth in recording(6):
                assert t.is_grad_enabled() is outer
                seen.append(depth)
            assert seen == list(range(7))
            assert list(silent(3)) == [0, 1, 2, 3]
            assert t.is_grad_enabled() is outer


def coroutine(t, expected, log):
    """A generator that notes what it is sent, and checks the mode at every step."""

    def body():
        received = None
        try:
            while received != "stop":
                assert t.is_grad_enabled() is expected
                try:
                    received = yield received
                    log.append(received)
                except ValueError as error:
                    assert t.is_grad_enabled() is expected
                    log.append(f"took {error}")
                    received = "took"
                except KeyError as error:
                    assert t.is_grad_enabled() is expected
                    raise RuntimeError("given up") from error
            return "done"
        finally:
            assert t.is_grad_enabled() is expected
            log.append("closed")

    return body


@pytest.fixture(params=[False, True], ids=["under_no_grad", "under_enable_grad"])
def outer(request):
    """The mode of the caller, the opposite of the coroutine's."""
    return request.param


def started(t, outer, log):
    """A decorated coroutine, run to its first yield."""
    made = t.set_grad_enabled(not outer)(coroutine(t, not outer, log))()
    assert next(made) is None
    return made


def test_set_grad_coroutines(t, outer):
    """Values sent to a decorated generator arrive, its return value comes back, the mode switches with it."""
    log = []
    with t.set_grad_enabled(outer):
        running = started(t, outer, log)
        assert t.is_grad_enabled() is outer
        for value in (1, 2):
            assert running.send(value) == value
            assert t.is_grad_enabled() is outer
        with pytest.raises(StopIteration) as end:
            running.send("stop")
        assert end.value.value == "done"
        assert t.is_grad_enabled() is outer
    assert log == [1, 2, "stop", "closed"]


def test_set_grad_coroutines_benign_exceptions(t, outer):
    """An exception thrown in that the generator takes: it goes on, in its own mode."""
    log = []
    with t.set_grad_enabled(outer):
        running = started(t, outer, log)
        for k in (1, 2):
            assert running.throw(ValueError(f"no {k}")) == "took"
            assert t.is_grad_enabled() is outer
        assert running.send(3) == 3
        running.close()
    assert log == ["took no 1", "took no 2", 3, "closed"]


def test_set_grad_coroutines_critical_exceptions(t, outer):
    """An exception thrown in that makes the generator raise another one: that one comes out, the mode is back."""
    log = []
    with t.set_grad_enabled(outer):
        running = started(t, outer, log)
        with pytest.raises(RuntimeError, match="given up"):
            running.throw(KeyError("unexpected"))
        assert t.is_grad_enabled() is outer
    assert log == ["closed"]


def test_set_grad_coroutines_exit(t, outer):
    """Closing a decorated generator runs its end in its own mode, once."""
    log = []
    with t.set_grad_enabled(outer):
        running = started(t, outer, log)
        assert running.send(1) == 1
        running.close()
        assert t.is_grad_enabled() is outer
        running.close()
    assert log == [1, "closed"]


def test_a_switch_says_what_it_switched_to(t):
    with t.enable_grad():
        assert repr(t.set_grad_enabled(True)).endswith("autograd.grad_mode.set_grad_enabled(mode=True)")


def test_running_extremes_of_a_number_are_no_views_of_it(t):
    """What is made without grad requires none; a view of a leaf would."""
    x = t.tensor(0.5, requires_grad=True)
    for name in ("cummax", "cummin"):
        with t.no_grad():
            found = getattr(x, name)(0)[0]
        assert not found.requires_grad
        recorded = getattr(x, name)(0)[0]
        assert type(recorded.grad_fn).__name__ == f"{name.title()}Backward0"
        assert not recorded._is_view()

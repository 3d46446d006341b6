"""The pytest plugin: reports on lines of their own, and the fixture ``gradient_check``.

A wheel holds this file as the module ``symgrad_pytest`` beside the package: pytest loads the plugins of an environment
at every start, also in projects that check no gradient, and importing a module of a package imports the package.  So
nothing of symgrad is imported here before a test asks for it.  ``pytest -p no:symgrad`` goes without.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import pytest

_ENDS = 60
"""Characters at both ends of a report that pytest shows of it at least, and by which it is found again."""


@pytest.fixture
def gradient_check(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Check a derivative: ``gradient_check(f, grad, *args)`` fails the test with the report unless it is right.

    Arguments and options are those of ``symgrad.check``, and so is the result.  Each report goes as JSON into the
    properties of the test, under ``gradient_check``, and with them into the file of ``--junit-xml``.

    >>> def test_loss(gradient_check):
    ...     gradient_check(loss, loss_grad, w)
    """

    def gradient_check(f: Callable[..., Any], grad: Any, *args: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        from symgrad.check import check

        report = check(f, grad, *args, **options)
        request.node.user_properties.append(("gradient_check", json.dumps(report.to_dict())))
        return report.raise_for_mismatch()

    return gradient_check


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Import symgrad as it is: of packages with a plugin, pytest rewrites all ``assert`` statements, for seconds."""
    marked = getattr(early_config.pluginmanager.rewrite_hook, "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("symgrad")


def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Write out the reports that pytest, which shows values in one line, has cut down in a failed ``assert``.

    No hook is asked about ``assert report``, so the text of the error is changed before pytest makes its page of it.
    """
    checks = sys.modules.get("symgrad.check.report")
    error = None if call.excinfo is None else call.excinfo.value
    if checks is None or not isinstance(error, AssertionError) or not (error.args and isinstance(error.args[0], str)):
        return
    text = error.args[0]
    for report in _values(error.__traceback__, checks.Report):
        text = _written_out(text, report)
    error.args = (text, *error.args[1:])


def _values(traceback: TracebackType | None, kind: type) -> Iterator[Any]:
    """The values of a class in the frame that raised, each once: variables, and what pytest keeps of its asserts."""
    if traceback is None:
        return
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    found = {id(value): value for value in traceback.tb_frame.f_locals.values() if isinstance(value, kind)}
    yield from found.values()


def _written_out(text: str, report: Any) -> str:
    """The text of an error with the headline of a report where its long form stood, and the report below that line."""
    page = str(report)
    start, end = (part.replace("\n", "\\n") for part in (page[:_ENDS], page[-_ENDS:]))
    shown = re.compile(f"{re.escape(start)}.*?{re.escape(end)}")
    first = shown.search(text)
    if first is None:
        return text
    line_end = text.find("\n", first.end())
    above, below = (text, "") if line_end < 0 else (text[:line_end], text[line_end:])
    above, below = (shown.sub(lambda _: report.headline, part) for part in (above, below))
    return f"{above}\n{page}{below}"

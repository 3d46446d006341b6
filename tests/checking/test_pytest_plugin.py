"""The pytest plugin: what a failed test shows of a report, and the fixture."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np
import pytest

import symgrad as sg

ROOT = Path(__file__).parents[2]
pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import symgrad as sg
from symgrad.check import assert_gradient

x = np.array([1.0, 2.0])

def f(x):
    return (x**2).sum() + np.sin(x).sum()

def right(x):
    return 2 * x + np.cos(x)

def wrong(x):
    return 2 * x - np.cos(x)
"""
MISTAKE = "*  mistake     *sin(x)*"


@pytest.fixture
def site(pytester, monkeypatch):
    """An environment into which the wheel is installed, as far as pytest looks."""
    # pytester forgets what was imported during a run, and rooms imported twice have two classes of reports.
    str(sg.check(np.sin, lambda x: -np.cos(x), np.ones(2)))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ((name, module),) = project["project"]["entry-points"]["pytest11"].items()
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    (source,) = (here for here, there in shipped.items() if there == f"{module}.py")
    folder = pytester.mkdir("site")
    (folder / f"{module}.py").write_text((ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    facts = folder / "symgrad-0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: symgrad\nVersion: 0\n")
    (facts / "entry_points.txt").write_text(f"[pytest11]\n{name} = {module}\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # other plugins take their time
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):  # the latter let pytest print whole reports in its summary
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", f"{folder}:{ROOT}")
    pytester.syspathinsert(folder)
    return pytester


def run(pytester, body, *options):
    pytester.makepyfile(HEAD + body)
    return pytester.runpytest_inprocess("-p", "symgrad_pytest", *options)


ASSERTS = (
    "assert sg.check(f, wrong, x)",
    "assert sg.check(f, right, x) and sg.check(f, wrong, x)",
    "report = sg.check(f, wrong, x)\n    assert report",
    "report = sg.check(f, wrong, x)\n    assert report.ok",
    "report = sg.check(f, wrong, x)\n    assert report, 'the loss of the model'",
    "assert_gradient(f, wrong, x)",
)


@pytest.mark.parametrize("verbose", ["-v", "-vv"])
def test_a_failed_assert_shows_the_report_on_its_own_lines(site, verbose):
    done = run(site, "".join(f"\ndef test_{k}():\n    {text}\n" for k, text in enumerate(ASSERTS)), verbose)
    done.assert_outcomes(failed=len(ASSERTS))
    text, _ = done.stdout.str().split(" short test summary info ")  # which -vv writes out, too
    page = ["E *d f / d x: WRONG", f"E {MISTAKE}", "E *worst *x[[]0[]]: given *", "E *compared to *"]
    done.stdout.fnmatch_lines(page * len(ASSERTS))
    assert not re.search(r"^E.*\\n", text, re.MULTILINE)
    assert text.count("d f / d x: WRONG") == len(ASSERTS)
    assert "the loss of the model" in text
    assert "raise CheckFailed" not in text  # pytest shows the line of the test, not that of the library
    done.stdout.fnmatch_lines([f"FAILED *test_{k} - *" for k in range(len(ASSERTS))])  # a line for each
    if verbose == "-vv":  # else cut to the width of the terminal
        done.stdout.fnmatch_lines(
            ["FAILED *test_0 - *assert d f / d x: *", "FAILED *test_5 - *CheckFailed: d f / d x: *"]
        )


def test_other_failures(site):
    done = run(
        site,
        """
import unittest

class TestF(unittest.TestCase):
    def test_a(self):
        assert sg.check(f, wrong, x)

def test_b():  # a report that is right is shown where an assert denies it
    assert not sg.check(f, right, x)

def test_c():  # and not one of which the assert does not speak
    other = sg.check(f, wrong, x)
    assert not other
    assert 1 == 2

def test_d():
    raise AssertionError

def test_e():
    raise AssertionError(7)
""",
    )
    done.assert_outcomes(failed=5)
    first, last = (
        ["E *d f / d x: WRONG", f"E {MISTAKE}"],
        ["E *assert 1 == 2", "E *AssertionError", "E *AssertionError: 7"],
    )
    done.stdout.fnmatch_lines([*first, "E *assert not d f / d x: right", "E *all of 2 agree*", *last])
    assert done.stdout.str().count("WRONG") == 1


def test_the_fixture(site):
    body = """
def test_right(gradient_check):
    assert gradient_check(f, right, x).ok

def test_wrong(gradient_check):
    gradient_check(f, wrong, x)

def test_options(gradient_check):
    assert gradient_check(np.sin, lambda x, dx: np.cos(x) * dx, x, kind="jvp")["x"].kind == "jvp"
"""
    site.makepyfile(HEAD + body)
    record = site.inline_run("-p", "symgrad_pytest")
    record.assertoutcome(passed=2, failed=1)
    found = {r.nodeid.split("::")[1]: r for r in record.getreports("pytest_runtest_logreport") if r.when == "call"}
    properties = {
        name: [json.loads(v) for k, v in r.user_properties if k == "gradient_check"] for name, r in found.items()
    }
    assert {name: [v["ok"] for v in row] for name, row in properties.items()} == {
        "test_right": [True],
        "test_wrong": [False],
        "test_options": [True],
    }
    text = found["test_wrong"].longreprtext
    assert "d f / d x: WRONG" in text
    assert "gradient_check(f, wrong, x)" in text
    assert "raise_for_mismatch" not in text


def test_as_an_entry_point_it_imports_nothing_and_can_be_left_out(site, monkeypatch):
    """A project that checks no gradient does not pay for symgrad, nor for NumPy and SymPy."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    site.makepyfile("""
        import sys

        def test_a(request):
            assert request.config.pluginmanager.has_plugin("symgrad")
            assert "symgrad_pytest" in sys.modules
            assert not {"symgrad", "numpy", "sympy"} & set(sys.modules)

        def test_b(gradient_check):
            pass
    """)
    # What else is installed may import anything.
    others = [f"-pno:{e.name}" for e in entry_points(group="pytest11") if e.name != "symgrad"]
    site.runpytest_subprocess(*others).assert_outcomes(passed=2)
    done = site.runpytest_subprocess(*others, "-p", "no:symgrad")
    done.assert_outcomes(failed=1, errors=1)
    done.stdout.fnmatch_lines(["*fixture 'gradient_check' not found"])


def test_the_package_is_imported_as_it_is(site, monkeypatch):
    """Its asserts are no tests: pytest rewrites those of all files that are listed beside a plugin."""
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    (site.path / "site" / "symgrad-0.dist-info" / "RECORD").write_text("symgrad/__init__.py,,\nsymgrad_pytest.py,,\n")
    site.makepyfile("""
        import symgrad
        import symgrad_pytest
        from _pytest.assertion.rewrite import AssertionRewritingHook

        def test_loaders():
            assert isinstance(symgrad_pytest.__loader__, AssertionRewritingHook)
            assert not isinstance(symgrad.__loader__, AssertionRewritingHook)
    """)
    site.runpytest_subprocess("-p", "no:xdist", "-p", "no:hypothesispytest").assert_outcomes(passed=1)

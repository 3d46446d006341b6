"""Public functions and methods end their docstrings with an example that runs."""

from __future__ import annotations

import doctest
import functools
import inspect
import types
from pathlib import Path
from typing import Any

import symgrad as sg
from symgrad.ops.calls.naming import SPACES
from symgrad.tensor.docstrings import Docstring

WITHOUT = {
    "symgrad.nn.functional.multi_head_attention_forward",  # thirteen arguments, which its module gives
    "Tensor.more",  # records of the library's own
    "Tensor.source",
    "symgrad.set_default_tensor_type",  # it warns
    "symgrad.set_num_threads",  # what it does depends on what is installed
}


def _public() -> dict[str, Any]:
    """Functions that are given an example, by the place where they are found."""
    rooms = [vars(sg), {name: getattr(sg.Tensor, name) for name in dir(sg.Tensor)}, *SPACES.values()]
    found = (f for room in rooms for name, f in room.items() if not name.startswith("_"))
    functions = (f for f in found if isinstance(f, types.FunctionType) and isinstance(f.__doc__, Docstring))
    return {f.__doc__.place: f for f in functions}


PUBLIC = _public()


def test_all_rooms_are_visited() -> None:
    for name in ("symgrad.tanh", "symgrad.fft.fft2", "symgrad.special.entr", "Tensor.abs", "symgrad.abs_"):
        assert name in PUBLIC


def test_public_functions_say_what_they_do() -> None:
    rooms = {"": vars(sg), "Tensor": vars(sg.Tensor), **SPACES}
    silent = [
        f"{room}.{name}"
        for room, found in rooms.items()
        for name, function in found.items()
        if not name.startswith("_") and isinstance(function, types.FunctionType) and not inspect.getdoc(function)
    ]
    assert not silent


def test_public_names_have_examples() -> None:
    names = (Path(__file__).parent / "public_names.txt").read_text(encoding="utf-8").split()
    found = {name: functools.reduce(getattr, name.split("."), sg) for name in names}
    called = {name: value for name, value in found.items() if isinstance(value, (types.FunctionType, type))}
    silent = [name for name, value in called.items() if ">>>" not in (inspect.getdoc(value) or "")]
    assert set(silent) == {name.removeprefix("symgrad.") for name in WITHOUT} & set(called)


def test_examples_of_methods_run() -> None:
    """Those of functions are run with the modules that these stand in, but for two that stand in none."""
    runner = doctest.DocTestRunner(verbose=False)
    for place, function in PUBLIC.items():
        text = inspect.getdoc(function) or ""
        assert (">>>" in text) is (place not in WITHOUT), place
        if place.startswith("Tensor.") or place in ("symgrad.rand_like", "symgrad.randn_like"):
            runner.run(doctest.DocTestParser().get_doctest(text, {}, place, None, 0))
    assert runner.summarize(verbose=False).failed == 0

"""Public functions and methods end their docstrings with an example that runs."""

from __future__ import annotations

import ast
import builtins
import doctest
import functools
import importlib
import inspect
import re
import types
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.commands.card import example as arguments_of
from symgrad.commands.facts import _KINDS, op_of
from symgrad.formula.reading.unicode import from_unicode
from symgrad.formula.term import evaluate, symbol
from symgrad.op import FRONTS, TABLE
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
    """Functions of the table and beside it, by the place where they are found."""
    rooms = [vars(sg), {name: getattr(sg.Tensor, name) for name in dir(sg.Tensor)}, *SPACES.values()]
    found = (f for room in rooms for name, f in room.items() if not name.startswith("_"))
    functions = (f for f in found if isinstance(f, types.FunctionType) and isinstance(f.__doc__, Docstring))
    return {f.__doc__.place: f for f in functions}


PUBLIC = _public()


@functools.cache
def _text(function: Any) -> str:
    """What ``help`` shows, which is made when it is read."""
    return inspect.getdoc(function) or ""


def test_all_rooms_are_visited() -> None:
    for name in ("symgrad.tanh", "symgrad.fft.fft2", "symgrad.special.entr", "Tensor.abs", "symgrad.abs_"):
        assert name in PUBLIC


def test_public_functions_say_what_they_do() -> None:
    rooms = {"": vars(sg), "Tensor": vars(sg.Tensor), **SPACES}
    silent = [
        f"{room}.{name}"
        for room, found in rooms.items()
        for name, function in found.items()
        if not name.startswith("_") and isinstance(function, types.FunctionType) and not _text(function)
    ]
    assert not silent


ROOMS = (
    "autograd autograd.forward_ad autograd.functional autograd.graph autograd.profiler check compiler cuda draw fft "
    "func implicit judging linalg masked nn.functional nn.utils notation parallel random signal.windows sparse "
    "special switches testing utils.checkpoint"
).split()


def _everything() -> dict[str, Any]:
    """All that is public and called, by its place."""
    found = {f"Tensor.{name}": getattr(sg.Tensor, name) for name in dir(sg.Tensor) if not name.startswith("_")}
    for name in (Path(__file__).parent / "public_names.txt").read_text(encoding="utf-8").split():
        found[name] = functools.reduce(getattr, name.split("."), sg)
    for room in ROOMS:
        module = importlib.import_module(f"symgrad.{room}")
        found.update({f"{room}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())})
    ours = {name: f for name, f in found.items() if not str(getattr(f, "__module__", "")).startswith("numpy")}
    return {name: f for name, f in ours.items() if callable(f) or isinstance(f, property)}


EVERYTHING = _everything()


RECORDS = {
    "autograd.forward_ad.UnpackedDualTensor", "autograd.profiler.EventList", "autograd.profiler.FunctionEvent",
    "check.ArgumentReport", "check.Diagnosis", "check.Report", "compiler.Specialised", "implicit.Adjoint",
    "implicit.Theorem", "judging.Verdict", "notation.Formula", "parallel.ParallelGradient",
    "utils.checkpoint.CheckpointError",
}  # fmt: skip
"""What functions give, where their examples show it."""


def test_all_that_is_called_has_an_example() -> None:
    called = {name for name, value in EVERYTHING.items() if isinstance(value, (types.FunctionType, type))}
    silent = {name for name in called if ">>>" not in _text(EVERYTHING[name])}
    without = {name.removeprefix("symgrad.") for name in WITHOUT} | {"switches.set_num_threads", "cuda.current_device"}
    assert silent == (RECORDS | without) & called


def _unknown(source: str, known: set[str]) -> set[str]:
    """The names that a line reads and nothing has made; what it makes is ``known`` afterwards."""
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                known.add(name)
            case ast.ClassDef(name=name):
                known.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                known.update((alias.asname or alias.name).partition(".")[0] for alias in names)
    return {node.id for node in nodes if isinstance(node, ast.Name)} - known


def test_examples_can_be_typed_as_they_stand() -> None:
    """They import what they use: nobody who reads them has the names of the module that the function stands in."""
    wanting = {}
    for name, value in EVERYTHING.items():
        known = set(dir(builtins))
        examples = doctest.DocTestParser().get_examples(_text(value))
        if missing := set().union(*(_unknown(example.source, known) for example in examples)):
            wanting[name] = missing
    assert not wanting


def test_texts_call_arguments_by_their_names() -> None:
    """A formula of ``input`` says so: x would be somebody else, and so would the t of a target."""
    strange = set()
    for place, function in PUBLIC.items():
        names = inspect.signature(function).parameters
        words = re.sub("``.*?``", "", _text(function).partition(">>>")[0].partition("\n\n")[0])
        for letter, name in (("x", "input"), ("t", "target")):
            if name in names and letter not in names and re.search(rf"(?<![\w']){letter}(?!\w)", words):
                strange.add(place)
    assert not strange


def test_docstrings_say_what_the_table_knows() -> None:
    """Derivative, shapes, dtypes and what is refused are read off the entry, beside torch's way to call it."""
    assert _text(sg.atan2).partition("\n\n>>>")[0] == (
        "The angle of the point (other, input), which is arctan(input/other) turned into its quadrant; "
        "derivatives 0 at the origin.\n\n"
        "∂/∂input = other/(other² + input²)\n"
        "∂/∂other = −input/(other² + input²)\n"
        "Operands are broadcast; the dtype is their common one.\n"
        "Integers and truth values are taken as floats of the default dtype.\n"
        "Raises ``UnsupportedDtype`` for complex numbers.\n"
        "In torch: ``atan2(Tensor input, Tensor other, *, Tensor out = None)``."
    )
    for name, op in TABLE.items():
        function = PUBLIC.get(f"symgrad.{name}")
        front = FRONTS.get(name)
        if function is None or front is None or front.call is not op or op.kind != "elementwise":
            continue
        text = _text(function)
        assert re.search(r"^(Any shape, entry by entry|Operands are broadcast; .*)\.$", text, re.MULTILINE), name
        for kind in op.refuses.keys() & {"c", "b"}:
            assert re.search(rf"^Raises ``.*``.* for .*{_KINDS[kind]}", text, re.MULTILINE), name
        assert not re.search(r"\b[xy]\b", text.partition("\n\n>>>")[0]), name


def test_derivatives_in_docstrings_are_right() -> None:
    """Each ∂/∂input that is shown, read back and evaluated, is the number that backward gives."""
    seen = 0
    for place, function in PUBLIC.items():
        name = place.removeprefix("symgrad.")
        text = _text(function)
        if not place.startswith("symgrad.") or "." in name or name.endswith("_"):
            continue
        for operand, formula in re.findall(r"^∂/∂(input|other) = (.*)$", text, re.MULTILINE):
            values, _ = arguments_of(op_of(name))
            leaves = [sg.tensor(float(v), dtype=sg.float64, requires_grad=True) for v in values]
            function(*leaves).backward()
            names = ("input", "other")[: len(leaves)]
            read = from_unicode(formula, [symbol(n, (), sg.float64) for n in names])
            wanted = leaves[names.index(operand)].grad.item()
            np.testing.assert_allclose(
                evaluate(read, dict(zip(names, map(float, values), strict=False))), wanted, rtol=1e-12, err_msg=name
            )
            seen += 1
    assert seen > 60


def test_examples_of_methods_run() -> None:
    """Those of functions are run with the modules that these stand in, but for two that stand in none."""
    runner = doctest.DocTestRunner(verbose=False)
    for place, function in PUBLIC.items():
        text = _text(function)
        assert (">>>" in text) is (place not in WITHOUT), place
        if place.startswith("Tensor.") or place in ("symgrad.rand_like", "symgrad.randn_like"):
            runner.run(doctest.DocTestParser().get_doctest(text, {}, place, None, 0))
    assert runner.summarize(verbose=False).failed == 0

"""Programs of one tensor as texts, and the graphs that they leave."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

import symgrad as sg

F = sg.nn.functional


def derived(text: str | Sequence[str], values: Any, order: int) -> Any:
    """The value of a program of ``x``, or of its steps in turn, or the gradient of the sum of its squares."""
    x = sg.tensor(values, requires_grad=True, name="x")
    y = x
    for step in [text] if isinstance(text, str) else text:
        y = eval(step, {"sg": sg, "np": np, "F": F, "x": y})  # noqa: S307
    return y if order == 0 else sg.autograd.grad((y**2).sum(), x, create_graph=True)[0]


def in_a_file(made, form, path):
    """The function of a file with these lines."""
    return module_of(
        "import functools, math, operator\nimport numpy as np\nimport symgrad as sg\n\n\n"
        f"def f(x):\n    c = {made}\n    return {form}\n",
        path,
    ).f


def module_of(text, path):
    """The module of a file with this text."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def right_or_refused(made, forms, path):
    """A number of a matrix x, put into formulas: their programs are right at other sizes of x, or refuse them."""
    rng = np.random.default_rng(0)
    for k, form in enumerate(forms):
        f = in_a_file(made, form, path / f"m{k}.py")
        program = sg.compile(f(sg.tensor(rng.random((3, 4)), requires_grad=True, name="x")), ["x"])
        for shape in ((3, 4), (5, 4), (3, 6), (4, 4), (6, 2)):
            values = rng.random(shape)
            try:
                found = program(values)
            except ValueError:
                assert shape != (3, 4)
            else:
                assert np.allclose(found, f(sg.tensor(values, requires_grad=True)).detach().numpy())

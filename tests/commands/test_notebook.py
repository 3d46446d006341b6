"""The example notebook: its code runs, and shows what it says.

``python tests/commands/test_notebook.py`` stores fresh outputs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


def shown(value):
    """What a notebook would store for the value of a cell."""
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    for kind, method in (("text/latex", "_repr_latex_"), ("text/markdown", "_repr_markdown_")):
        found = getattr(value, method, None)
        if found is not None:
            data[kind] = found().splitlines(keepends=True)
    return data


def executed(code, scope):
    """The outputs of one cell: what it prints, and its value."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), scope)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)
    out = []
    if printed.getvalue():
        out.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        out.append({"data": shown(value), "execution_count": 1, "metadata": {}, "output_type": "execute_result"})
    return out


def run(book):
    """Fresh outputs of all code cells, in order, by number."""
    scope = {"__name__": "__main__"}
    for number, cell in enumerate((c for c in book["cells"] if c["cell_type"] == "code"), 1):
        outputs = executed("".join(cell["source"]), scope)
        for output in outputs:
            if "execution_count" in output:
                output["execution_count"] = number
        yield cell, number, outputs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert sum(c["cell_type"] == "code" for c in book["cells"]) >= 5
    for cell, number, outputs in run(book):
        assert cell["execution_count"] == number
        assert cell["outputs"] == outputs, "".join(cell["source"])


def test_there_is_a_notebook():
    assert NOTEBOOKS


if __name__ == "__main__":
    for path in NOTEBOOKS:
        book = json.loads(path.read_text(encoding="utf-8"))
        for cell, number, outputs in run(book):
            cell["execution_count"], cell["outputs"] = number, outputs
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

"""``sg.draw``: the forward and backward graph as DOT, Mermaid and lines; repeated blocks are drawn once."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from shutil import which

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError


def layered(depth):
    """A chain of layers, each with its own weights."""
    x = sg.tensor(np.ones((4, 3)))
    weights = [sg.tensor(np.eye(3) * 0.5, requires_grad=True) for _ in range(depth)]
    h = x
    for w in weights:
        h = sg.tanh(h @ w)
    return (h**2).sum()


def test_layers_are_drawn_once():
    found = sg.draw(layered(6))
    assert [(b.size, b.times) for b in found.blocks] == [(2, 6)]
    assert [box.label for box in found.boxes] == [
        "x (4, 3)", "leaf (3, 3)", "matmul (4, 3)", "tanh (4, 3)", "pow (4, 3)", "sum ()",
    ]  # fmt: skip
    assert ("n1", "n0") in found.arrows  # from one layer to the next
    assert found.boxes[0].block is None  # the input belongs to the first layer alone
    assert "× 6" in found.text()
    whole = sg.draw(layered(6), collapse=False)
    assert not whole.blocks
    assert len(whole.boxes) == 21


def test_few_repetitions_are_drawn_as_they_are():
    assert not sg.draw(layered(2)).blocks


def test_blocks_that_read_otherwise_are_no_repetition():
    x = sg.tensor(1.0, requires_grad=True)
    h = [x]
    for k in (0, 0, 1, 1, 4, 2):
        h.append(h[-1] * h[k])
    assert not sg.draw(h[-1]).blocks


@pytest.mark.parametrize("backward", [False, True])
def test_arrows_join_boxes_and_lead_on(backward):
    found = sg.draw(layered(5), backward=backward)
    keys = {box.key for box in found.boxes}
    assert {key for arrow in found.arrows for key in arrow} == keys
    boxes = re.findall(r"^\s+(\w+)(?:\(\[|\[)", found.mermaid(), re.MULTILINE)
    assert set(boxes) == keys | {"x0"} & keys
    assert found.dot().count("->") == len(found.arrows) == found.mermaid().count("-->")


def test_the_backward_graph_has_torchs_names():
    found = sg.draw(layered(1), backward=True)
    assert [box.label for box in found.boxes] == [
        "AccumulateGrad leaf (3, 3)", "MmBackward0", "TanhBackward0", "PowBackward0", "SumBackward0",
    ]  # fmt: skip
    assert ("n3", "n2") in found.arrows


def test_folded_functions_are_drawn_by_their_parts():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    found = sg.draw(sg.nn.functional.layer_norm(x, (2,)).sum())
    last = found.boxes[-1]
    assert last.label == "sum ()"
    assert any(b == last.key for _, b in found.arrows)


def test_leaves_constants_and_names():
    x = sg.tensor([1.0], requires_grad=True, name="x")
    found = sg.draw(x * sg.tensor([2.0], name="c"))
    assert [(box.label, box.kind) for box in found.boxes] == [
        ("x (1)", "leaf"), ("c (1)", "constant"), ("mul (1)", "output"),
    ]  # fmt: skip
    assert sg.draw(x).text() == "x0  x (1)"
    with pytest.raises(ArgumentError, match="t is a tensor"):
        sg.draw(3.0)


def test_deep_graphs():
    h = sg.tensor(0.5, requires_grad=True)
    for _ in range(5000):
        h = h * 1.0001 + 0.1
    found = sg.draw(h)
    assert len(found.boxes) == 3
    assert "× 5000" in found.mermaid()
    assert "```mermaid" in found._repr_markdown_()
    assert repr(found) == "<drawing of 3 boxes and 3 arrows>"


@pytest.mark.skipif(which("dot") is None, reason="graphviz is not installed")
def test_graphviz_reads_it():
    done = subprocess.run(
        ["dot", "-Tsvg"], input=sg.draw(layered(5)).dot(), text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------------------------------------- pages


class Outline(HTMLParser):
    """The tags of a page, which have to close in order, and what its links and ids are."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.seen = [], set(), set(), []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids |= {v for k, v in attrs if k == "id"}
        self.links |= {v[1:] for k, v in attrs if k == "href"}
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_holds_formula_value_gradient_and_times(tmp_path):
    x = sg.tensor([0.5, -1.0], dtype=sg.float64, requires_grad=True, name="x")
    page = sg.draw((sg.exp(x) * 2).sum()).html(tmp_path / "graph.html")
    assert (tmp_path / "graph.html").read_text(encoding="utf-8") == page
    outline = Outline(page)
    assert outline.links <= outline.ids == {"x0", "n0", "n1", "n2"}
    for said in ("<math", "1.64872", "3.29744", "0.73576", "3 operations", "µs", "made of", "used in"):
        assert said in page, said  # exp(x), 2 exp(x), and the gradient of x


def test_a_page_loads_nothing_and_escapes_names():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    drawing = sg.draw(sg.exp(x).sum())
    drawing.boxes = (drawing.boxes[0]._replace(label="<script>alert(1)</script> (2)"), *drawing.boxes[1:])
    page = drawing.html()
    assert "<script>alert" not in page
    Outline(page)
    assert not re.search(r"(src|href)=.?https?:|@import|url\(", page)


def test_blocks_fold_in_a_page_and_show_their_rounds():
    outline = Outline(page := sg.draw(layered(6)).html())
    assert ("details", {"class": "block", "open": None}) in outline.seen
    assert "gradient by round" in page
    assert page.count("<title>round 6") == 4  # value and gradient of matmul and of tanh


def test_pages_of_backward_of_leaves_and_of_what_needs_no_gradient():
    Outline(sg.draw(layered(4), backward=True).html())
    Outline(sg.draw(sg.tensor([1.0], requires_grad=True)).html())
    page = sg.draw(sg.tensor([1.0, 2.0], name="c").sum()).html()
    assert "gradient" not in page
    folded = sg.nn.functional.layer_norm(sg.tensor(np.eye(3), requires_grad=True), (3,))
    Outline(sg.draw(folded.sum()).html())


def test_deep_graphs_fold_and_too_many_boxes_are_refused():
    t = sg.tensor([0.3], requires_grad=True)
    for _ in range(2000):
        t = sg.sin(t)
    page = sg.draw(t).html()
    assert len(page) < 200_000
    found = sg.draw(t, collapse=False)
    found.boxes = found.boxes * 3
    with pytest.raises(ArgumentError, match="a page holds 5000 boxes, this drawing has 6003"):
        found.html()


def test_arrays_of_numpy_are_called_like_the_variables_that_hold_them():
    weights = np.array([0.5, 2.0])
    x = sg.tensor([1.0, 2.0], requires_grad=True, name="x")
    assert "weights (2)" in sg.draw((weights * x).sum()).text()
    assert "constant (2)" in sg.draw((np.cos(weights) * x).sum()).text()

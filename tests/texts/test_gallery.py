"""The gallery: every picture shows the formula that its block prints, and fits its column."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ENTRY = re.compile(r'^</td><td><img src="img/([\w-]+)\.svg".*?^```text\n(.*?)\n```$', re.MULTILINE | re.DOTALL)
ENTRIES = ENTRY.findall((DOCS / "formulas.md").read_text(encoding="utf-8"))
COLUMN = 620


def test_size_of_the_gallery():
    names = [name for name, _ in ENTRIES]
    assert len(set(names)) == len(names) >= 20
    assert {p.stem for p in (DOCS / "img").glob("*.svg")} == set(names)


@pytest.mark.parametrize(("name", "latex"), ENTRIES, ids=[name for name, _ in ENTRIES])
def test_picture(name, latex):
    """A picture that is out of date is made again with ``node docs/render.mjs``."""
    svg = (DOCS / "img" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = re.search(r"<desc>(.*?)</desc>", svg, re.DOTALL)
    assert html.unescape(drawn[1]) == latex
    assert int(re.search(r'width="(\d+)"', svg)[1]) <= COLUMN
    assert "merror" not in svg

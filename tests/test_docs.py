"""What the documentation says is run: every fenced Python block of README and docs, and every example."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def need_peers(source: str) -> None:
    """Skip what reads programs of libraries that are not installed."""
    for peer in ("torch", "jax"):
        if re.search(rf"^import {peer}$", source, re.MULTILINE):
            pytest.importorskip(peer, reason=f"the page or example reads programs of {peer}")


def run(script: Path, folder: Path) -> str:
    """Run a script in a fresh interpreter, warnings as errors, in an empty folder; gives what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONIOENCODING": "utf-8", "MPLBACKEND": "Agg"},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def joined_blocks(page: Path) -> str:
    """The page's blocks as one script; lines stay where they are, so that a traceback points into the page."""
    text = page.read_text(encoding="utf-8")
    kept = [""] * (text.count("\n") + 1)
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1))
        for k, line in enumerate(block.group(1).splitlines()):
            kept[first + k] = line
    return "\n".join(kept)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page, tmp_path):
    """The blocks run in order; a block marked ``text`` shows lines that they print."""
    need_peers(page.read_text(encoding="utf-8"))
    script = tmp_path / f"{page.stem}.py"
    script.write_text(joined_blocks(page), encoding="utf-8")
    printed = run(script, tmp_path)
    for shown in TEXT.findall(page.read_text(encoding="utf-8")):
        for line in filter(None, map(str.rstrip, shown.splitlines())):
            assert line in printed, f"{page.name} shows {line!r}, which its blocks do not print:\n{printed}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_example(example, tmp_path):
    need_peers(example.read_text(encoding="utf-8"))
    printed = run(example, tmp_path)
    assert len(printed.splitlines()) >= 5
    assert max(map(len, printed.splitlines())) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_the_table_of_rooms_is_true_and_complete():
    """Every file that it names is there, and every file of the package is named, or a folder that it lies in."""
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    table = text[text.index("| here | there |") : text.index("## Why it is so")]
    named = re.findall(r"`((?:symgrad/|tests/)?[\w/]+(?:\.py|/))`", table)
    there = [path for path in named if (ROOT / path).exists() or (ROOT / "symgrad" / path).exists()]
    assert named == there
    known = {path.removeprefix("symgrad/").rstrip("/") for path in named}
    files = [path.relative_to(ROOT / "symgrad") for path in (ROOT / "symgrad").rglob("*.py")]
    at = {path: {p.as_posix() for p in (path, *path.parents)} for path in files if path.name != "__init__.py"}
    missing = [path for path, places in at.items() if not known & places]
    assert not missing

"""A graph as one HTML file: a drawing by ranks, and a list of nodes to open.  No network, no library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from symgrad.explaining.nodes import Facts

MOST_DRAWN = 80
"""Boxes up to which there is a drawing beside the list."""

SHOWN = 48
"""Entries of a value that are written out."""

ROW, GAP, HIGH, LETTER = 58, 22, 28, 7.2
"""Pixels: from rank to rank, between boxes, of a box, of a letter."""

_STYLE = """
:root{--ink:#1d2530;--soft:#687385;--line:#d5dbe3;--page:#fbfcfd;--card:#fff;--leaf:#e7f2ea;--op:#eef2fa;--hot:#3b6fd4}
@media(prefers-color-scheme:dark){:root{--ink:#e3e8ef;--soft:#98a3b3;--line:#38414e;--page:#161a20;--card:#1e242c;
--leaf:#22352a;--op:#232c3d;--hot:#7ba4f7}}
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
header{padding:18px 24px 10px;border-bottom:1px solid var(--line)}h1{font-size:18px;margin:0 0 2px}
header p{margin:0;color:var(--soft)}main{display:flex;align-items:flex-start;gap:20px;padding:16px 24px}
.picture{flex:none;max-width:50%;max-height:calc(100vh - 110px);overflow:auto;position:sticky;top:12px}
.list{flex:1;min-width:0}input{font:inherit;padding:4px 10px;border:1px solid var(--line);border-radius:6px;
background:var(--card);color:inherit;margin:0 0 10px;width:16em}
details{border:1px solid var(--line);border-radius:7px;background:var(--card);margin:0 0 6px}
details.block{padding:0 10px 4px;background:none}summary{cursor:pointer;padding:5px 10px;display:flex;gap:10px}
.block>summary{padding:6px 0;font-weight:600}summary b{font-weight:600}
summary .shape,summary .key{color:var(--soft)}.key{min-width:2.6em}summary .time{margin-left:auto;color:var(--soft)}
details:target,.on rect{border-color:var(--hot);stroke:var(--hot)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 14px;margin:2px 12px 10px}dt{color:var(--soft)}
dd{margin:0;min-width:0;overflow-x:auto}pre{margin:0;font:13px/1.4 ui-monospace,monospace}
math{text-align:left}a{color:var(--hot);text-decoration:none}
svg text{font:12px ui-monospace,monospace;fill:var(--ink)}svg rect{fill:var(--op);stroke:var(--line);rx:6}
svg .leaf rect,svg .constant rect{fill:var(--leaf);rx:14}svg .constant rect{stroke-dasharray:4 3}
svg .output rect{stroke:var(--ink);stroke-width:1.6}svg .block rect{fill:none;stroke:var(--soft);stroke-dasharray:2 3}
svg path{fill:none;stroke:var(--soft);stroke-width:1.2}svg path.back{stroke-dasharray:5 4}
"""

_SCRIPT = """
const rows=[...document.querySelectorAll('details.node')],find=document.querySelector('input');
find.oninput=()=>rows.forEach(r=>r.hidden=!r.textContent.toLowerCase().includes(find.value.toLowerCase()));
const show=()=>{const r=document.getElementById(location.hash.slice(1));
for(const g of document.querySelectorAll('svg .on'))g.classList.remove('on');
if(r){for(let d=r;d;d=d.parentElement)if(d.tagName=='DETAILS')d.open=true;r.scrollIntoView({block:'nearest'});
document.querySelector(`svg a[href="#${r.id}"]`)?.firstElementChild.classList.add('on')}};
onhashchange=show;show();
"""


class Entry(NamedTuple):
    """A box of a drawing with what is known of the nodes that it stands for, one for each repetition."""

    key: str
    label: str
    kind: str
    block: int | None
    facts: Sequence[Facts]


def page(title: str, entries: Sequence[Entry], arrows: Sequence[tuple[str, str]], times: Sequence[int]) -> str:
    """The whole file; ``times`` says of each block how often it comes."""
    drawn = f'<div class="picture">{picture(entries, arrows, times)}</div>' if len(entries) <= MOST_DRAWN else ""
    listed = _list(entries, arrows, times)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>\n'
        f"<header><h1>{escape(title)}</h1><p>{_summary(entries)}</p></header>\n<main>{drawn}\n"
        '<div class="list"><input type="search" placeholder="find a node" aria-label="find a node">\n'
        f"{listed}</div></main>\n"
        f"<script>{_SCRIPT}</script></html>\n"
    )


def _summary(entries: Sequence[Entry]) -> str:
    ops = [e for e in entries if e.kind not in ("leaf", "constant")]
    count = sum(len(e.facts) for e in ops)
    said = [f"{count} operation{'s' * (count != 1)}", f"{len(entries) - len(ops)} leaves and constants"]
    for name in ("forward", "backward"):
        seconds = [getattr(f, name) for e in ops for f in e.facts]
        if any(s is not None for s in seconds):
            said.append(f"{name} {_time(sum(s or 0 for s in seconds))}")
    return " · ".join(said)


# ---------------------------------------------------------------------------------------------- the list


def _neighbours(arrows: Sequence[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Where the arrows into an entry come from, and where those out of it go."""
    into: dict[str, list[str]] = {}
    out: dict[str, list[str]] = {}
    for a, b in arrows:
        into.setdefault(b, []).append(a)
        out.setdefault(a, []).append(b)
    return into, out


def _list(entries: Sequence[Entry], arrows: Sequence[tuple[str, str]], times: Sequence[int]) -> str:
    labels = {e.key: e.label for e in entries}
    into, out = _neighbours(arrows)
    rows: list[str] = []
    before: int | None = None
    for e in entries:
        if e.block != before:
            rows += ["</details>"] * (before is not None)
            rows += (
                [f'<details class="block" open><summary>× {times[e.block]}</summary>'] if e.block is not None else []
            )
            before = e.block
        links = [_links(word, found.get(e.key, ()), labels) for word, found in (("made of", into), ("used in", out))]
        rows.append(_row(e, "".join(links)))
    return "\n".join([*rows, *["</details>"] * (before is not None)])


def _links(word: str, keys: Sequence[str], labels: dict[str, str]) -> str:
    found = ", ".join(f'<a href="#{key}">{key} {escape(labels[key])}</a>' for key in keys)
    return f"<dt>{word}</dt><dd>{found}</dd>" if found else ""


def _row(e: Entry, links: str) -> str:
    name, _, shape = e.label.partition(" (")
    facts = e.facts[0] if e.facts else Facts(None, None, None, None, None)
    known = [f.forward for f in e.facts if f.forward is not None]
    shown = f'<span class="time">{_time(sum(known))}</span>' if known else ""
    parts = [f"<dt>formula</dt><dd>{facts.formula}</dd>"] if facts.formula else []
    first = " of the first" if len(e.facts) > 1 else ""
    for word, value in (("value", facts.value), ("gradient", facts.gradient)):
        if value is not None:
            parts.append(f"<dt>{word}{first}</dt><dd>{_array(value)}</dd>")
    if len(e.facts) > 1:
        parts += [_bars(f"{w} by round", [getattr(f, w) for f in e.facts]) for w in ("value", "gradient")]
    for word, seconds in (("forward", known), ("backward", [f.backward for f in e.facts if f.backward is not None])):
        parts += [f"<dt>{word}</dt><dd>{_time(sum(seconds))}</dd>"] if seconds else []
    return (
        f'<details class="node" id="{e.key}"><summary><span class="key">{e.key}</span><b>{escape(name)}</b>'
        f'<span class="shape">{escape(f"({shape}" if shape else "")}</span>{shown}</summary>'
        f"<dl>{''.join(parts)}{links}</dl></details>"
    )


def _array(value: Any) -> str:
    """Entries of an array, all of a small one, and its size and what is not finite."""
    array = np.asarray(value)
    try:
        text = np.array2string(array, precision=5, threshold=SHOWN, edgeitems=3, suppress_small=False)
    except TypeError:  # a dtype that NumPy does not print
        text = str(array)
    said = f"{escape(text)}"
    if array.dtype.kind in "fc" and array.size > 1:
        finite = np.abs(array[np.isfinite(array)])
        largest = f"largest {finite.max():.4g}, mean size {finite.mean():.4g}" if finite.size else ""
        lost = int(array.size - finite.size)
        said += f"\n{largest}{f', {lost} not finite' if lost else ''}"
    return f"<pre>{said}</pre>"


def _bars(word: str, values: Sequence[Any]) -> str:
    """How large something is in each round, as bars on a logarithmic scale."""
    sizes = [_size(v) for v in values]
    known = [np.log10(s) for s in sizes if s]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    span, n = max(high - low, 1.0), min(len(sizes), 200)
    bars = []
    for k, size in enumerate(sizes[:n]):
        tall = 4 + 26 * (np.log10(size) - low) / span if size else 0
        bars.append(
            f'<rect x="{k * 7}" y="{30 - tall:.1f}" width="5" height="{tall:.1f}" style="rx:1;fill:var(--hot)">'
            f"<title>round {k + 1}: largest {size or 0:.4g}</title></rect>"
        )
    said = f"{sizes[0] or 0:.3g} … {sizes[-1] or 0:.3g}"
    return f'<dt>{word}</dt><dd><svg width="{n * 7}" height="31">{"".join(bars)}</svg> {said}</dd>'


def _size(value: Any) -> float | None:
    array = np.abs(np.asarray(value)) if value is not None and np.asarray(value).dtype.kind in "fc" else np.zeros(0)
    finite = array[np.isfinite(array)]
    return float(finite.max()) if finite.size and finite.max() > 0 else None


def _time(seconds: float) -> str:
    unit, scale = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


# ---------------------------------------------------------------------------------------------- the picture


def picture(entries: Sequence[Entry], arrows: Sequence[tuple[str, str]], times: Sequence[int]) -> str:
    """The boxes in ranks, each below all that it is made of; what leads back into a repeated block is dashed."""
    place = {e.key: k for k, e in enumerate(entries)}
    ahead = [(a, b) for a, b in arrows if place[a] < place[b]]
    ranks = _ranks(entries, ahead)
    spots, width = _spots(entries, ahead, ranks)
    height = (max(ranks.values(), default=0) + 1) * ROW
    parts = [_path(spots[a], spots[b], place[a] < place[b]) for a, b in arrows]
    parts += [_frame(b, n, entries, spots) for b, n in enumerate(times)]
    for e in entries:
        x, y = spots[e.key]
        wide = _width(e)
        parts.append(
            f'<a href="#{e.key}"><g class="{e.kind}"><rect x="{x - wide / 2:.0f}" y="{y:.0f}" width="{wide:.0f}" '
            f'height="{HIGH}"/><text x="{x:.0f}" y="{y + 18:.0f}" text-anchor="middle">{escape(e.label)}</text></g></a>'
        )
    return f'<svg width="{width:.0f}" height="{height}" role="img" aria-label="the graph">{"".join(parts)}</svg>'


def _ranks(entries: Sequence[Entry], ahead: Sequence[tuple[str, str]]) -> dict[str, int]:
    ranks = {e.key: 0 for e in entries}
    into, out = _neighbours(ahead)
    for e in entries:
        ranks[e.key] = max((ranks[a] + 1 for a in into.get(e.key, ())), default=0)
    for e in entries:  # leaves come down to where they are used
        if e.key not in into and e.key in out:
            ranks[e.key] = min(ranks[b] for b in out[e.key]) - 1
    return ranks


def _spots(
    entries: Sequence[Entry], ahead: Sequence[tuple[str, str]], ranks: dict[str, int]
) -> tuple[dict[str, tuple[float, float]], float]:
    """The middle of the upper side of each box, ordered in its rank by what it is made of; and the width of all."""
    spots: dict[str, tuple[float, float]] = {}
    groups: dict[int, list[Entry]] = {}
    for e in entries:
        groups.setdefault(ranks[e.key], []).append(e)
    widths = {r: sum(_width(e) + GAP for e in group) - GAP for r, group in groups.items()}
    whole = max(widths.values(), default=0.0) + 2 * GAP
    for r in sorted(groups):
        above: dict[str, list[float]] = {}
        for a, b in ahead:
            if a in spots:
                above.setdefault(b, []).append(spots[a][0])
        order = sorted(groups[r], key=lambda e: float(np.mean(above.get(e.key, [whole]))))
        x = (whole - widths[r]) / 2
        for e in order:
            spots[e.key] = (x + _width(e) / 2, r * ROW + 12.0)
            x += _width(e) + GAP
    return spots, whole


def _width(e: Entry) -> float:
    return len(e.label) * LETTER + 20


def _path(start: tuple[float, float], end: tuple[float, float], ahead: bool) -> str:
    (x, y), (u, v) = start, end
    y += HIGH
    if ahead:
        bend = (v - y) / 2
        return f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {u:.0f} {v - bend:.0f} {u:.0f} {v:.0f}"/>'
    side = max(x, u) + 90
    return f'<path class="back" d="M{x:.0f} {y:.0f}C{side:.0f} {y + 30:.0f} {side:.0f} {v - 30:.0f} {u:.0f} {v:.0f}"/>'


def _frame(block: int, count: int, entries: Sequence[Entry], spots: dict[str, tuple[float, float]]) -> str:
    """A frame around the operations of a repeated block, where no other box would lie in it."""
    inside = [(spots[e.key], _width(e)) for e in entries if e.block == block and e.kind == "op"]
    if not inside:
        return ""
    left, right = min(x - w / 2 for (x, _), w in inside) - 8, max(x + w / 2 for (x, _), w in inside) + 8
    top, low = min(y for (_, y), _ in inside) - 10, max(y for (_, y), _ in inside) + HIGH + 8
    for e in entries:
        x, y = spots[e.key]
        near = top < y + HIGH and y < low and left < x + _width(e) / 2 and x - _width(e) / 2 < right
        if near and (e.block != block or e.kind != "op"):
            return ""
    return (
        f'<g class="block"><rect x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" height="{low - top:.0f}"/>'
        f'<text x="{right - 6:.0f}" y="{top + 14:.0f}" text-anchor="end">× {count}</text></g>'
    )

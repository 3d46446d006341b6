"""The graph of a tensor: DOT for graphviz, Mermaid for Markdown and notebooks, plain lines, or one HTML file.

Blocks of operations that repeat (layers, steps of a loop) are drawn once, with how often.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError
from symgrad.tape.folding import unfolded
from symgrad.tape.formulas.below import nodes_below
from symgrad.tape.formulas.names import name_of, site_name
from symgrad.tape.formulas.variables import held_alone
from symgrad.tape.graph import Node, Source
from symgrad.tape.naming import node_name
from symgrad.tape.record import Recorded

_LONGEST_BLOCK = 64
"""Operations of a block up to which repetitions are looked for."""
_FEWEST = 3
"""Repetitions that are worth a block."""
_MOST_ON_A_PAGE = 5000
"""Boxes of a drawing that is written as HTML."""


class Block(NamedTuple):
    """Nodes ``start`` to ``start + size`` in order, which come ``times`` times in a row."""

    start: int
    size: int
    times: int


class Box(NamedTuple):
    """One box of a drawing: ``kind`` is "leaf", "constant", "op" or "output"; ``block`` the number of its block."""

    key: str
    label: str
    kind: str
    block: int | None


class Drawing:
    """A graph as boxes and arrows; what :func:`symgrad.draw` gives.

    ``boxes``    :class:`Box` objects, arguments before results
    ``arrows``   pairs of their keys
    ``blocks``   what was drawn once and comes several times

    ``dot()``, ``mermaid()``, ``text()`` and ``html()`` write it; notebooks show the Mermaid diagram.  ``nodes`` holds
    the nodes that each box stands for, one for each repetition, and ``root`` the tensor that was drawn.
    """

    def __init__(
        self,
        boxes: Sequence[Box],
        arrows: Sequence[tuple[str, str]],
        blocks: Sequence[Block],
        nodes: dict[str, list[Any]] | None = None,
        root: Any = None,
    ):
        self.boxes = tuple(boxes)
        self.nodes = nodes or {}
        self.root = root
        self.arrows = tuple(dict.fromkeys(arrows))
        self.blocks = tuple(blocks)

    def _grouped(self) -> list[tuple[int | None, list[Box]]]:
        groups: dict[int | None, list[Box]] = {}
        for box in self.boxes:
            groups.setdefault(box.block, []).append(box)
        return list(groups.items())

    def dot(self) -> str:
        """The graph in DOT: ``dot -Tsvg`` draws it."""
        shapes = {"leaf": "ellipse", "constant": "ellipse", "op": "box", "output": "box"}
        styles = {"leaf": "filled", "constant": "dashed", "op": "rounded", "output": "bold"}
        rows = ["digraph {", "  rankdir=TB;"]
        for block, boxes in self._grouped():
            lines = [
                f'{b.key} [label="{_quoted(b.label)}", shape={shapes[b.kind]}, style="{styles[b.kind]}"];'
                for b in boxes
            ]
            if block is None:
                rows += [f"  {line}" for line in lines]
            else:
                rows += [f"  subgraph cluster_{block} {{", f'    label="× {self.blocks[block].times}";']
                rows += [*(f"    {line}" for line in lines), "  }"]
        return "\n".join([*rows, *(f"  {a} -> {b};" for a, b in self.arrows), "}"])

    def mermaid(self) -> str:
        """The graph in Mermaid, which GitHub and notebooks draw."""
        shapes = {"leaf": '(["{}"])', "constant": '(["{}"])', "op": '["{}"]', "output": '[["{}"]]'}
        rows = ["flowchart TB"]
        for block, boxes in self._grouped():
            lines = [f"{b.key}{shapes[b.kind].format(_quoted(b.label))}" for b in boxes]
            if block is None:
                rows += [f"  {line}" for line in lines]
            else:
                rows += [
                    f'  subgraph block{block}["× {self.blocks[block].times}"]',
                    *(f"    {x}" for x in lines),
                    "  end",
                ]
        return "\n".join([*rows, *(f"  {a} --> {b}" for a, b in self.arrows)])

    def text(self) -> str:
        """One line per box, with what it is made of."""
        labels = {box.key: box.label for box in self.boxes}
        into: dict[str, list[str]] = {}
        for a, b in self.arrows:
            into.setdefault(b, []).append(f"{a} {labels[a]}")
        width = max((len(box.key) for box in self.boxes), default=0)
        rows = []
        before: int | None = None
        for box in self.boxes:
            if box.block != before and box.block is not None:
                rows.append(f"× {self.blocks[box.block].times}:")
            before = box.block
            made = f"  ← {', '.join(into[box.key])}" if box.key in into else ""
            rows.append(f"{'  ' if box.block is not None else ''}{box.key:<{width}}  {box.label}{made}")
        return "\n".join(rows)

    def html(self, file: Any = None) -> str:
        """The graph as one HTML page, to be opened in a browser; ``file``, a path, is written if given.

        A drawing by ranks beside a list of nodes, where repeated blocks fold.  Each node opens: its formula, value and
        gradient (of the sum of the entries of the tensor), and the time of both passes, which are run again for it.
        The page loads nothing from elsewhere.

        Raises ``ArgumentError`` for drawings of more than 5000 boxes, and what is raised where the graph cannot be run
        again: leaves that were changed, constants that are gone.

        >>> import symgrad as sg
        >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
        >>> page = sg.draw(sg.exp(x).sum()).html()
        >>> page[:15], "http" in page.replace("http://www.w3.org/1998/Math/MathML", "")
        ('<!doctype html>', False)
        """
        from symgrad.explaining.nodes import facts_of
        from symgrad.explaining.page import Entry, page

        if len(self.boxes) > _MOST_ON_A_PAGE:
            raise ArgumentError(
                f"a page holds {_MOST_ON_A_PAGE} boxes, this drawing has {len(self.boxes)}; draw a part of the graph, "
                "or take .dot()."
            )
        tell = facts_of(self.root)
        entries = [Entry(*box, [tell(node) for node in self.nodes.get(box.key, ())]) for box in self.boxes]
        place = {box.key: k for k, box in enumerate(self.boxes)}
        if 2 * sum(place[a] > place[b] for a, b in self.arrows) > len(self.arrows):  # the way that gradients flow
            entries.reverse()
        name = name_of(self.root) or "result"
        made = page(f"{name} {_shape(self.root.raw_shape)}", entries, self.arrows, [b.times for b in self.blocks])
        if file is not None:
            Path(file).write_text(made, encoding="utf-8")
        return made

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<drawing of {len(self.boxes)} boxes and {len(self.arrows)} arrows>"

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self.mermaid()}\n```"


def draw(t: Any, backward: bool = False, collapse: bool = True) -> Drawing:
    """The graph of a tensor: ``draw(t).dot()``, ``.mermaid()``, ``.text()``, and ``.html()`` with values and gradients.

    t
        A computed tensor.
    backward
        The nodes of the backward pass by torch's names, with ``AccumulateGrad`` at the leaves, and arrows the way that
        gradients flow; constants are left out.
    collapse
        Draw blocks of operations that come three times or more in a row once.

    Raises ``ArgumentError`` for what is no tensor.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> print(sg.draw(sg.exp(x).sum()))
    x0  x (2)
    n0  exp (2)  ← x0 x (2)
    n1  sum ()  ← n0 exp (2)
    >>> print(sg.draw(sg.exp(x).sum(), backward=True).mermaid())
    flowchart TB
      x0(["AccumulateGrad x (2)"])
      n0["ExpBackward0"]
      n1[["SumBackward0"]]
      n0 --> x0
      n1 --> n0
    """
    if not isinstance(t, Recorded):
        raise ArgumentError(f"draw(t): t is a tensor, not {type(t).__name__}.")
    root = t.edge()
    every = nodes_below([root])[0] if isinstance(root, Node) else []
    nodes = [node for node in every if node.op.kind != "folded" and (node.mask or not backward)]
    place = {id(node): k for k, node in enumerate(nodes)}
    place |= {id(node): place[id(unfolded(node))] for node in every if node.op.kind == "folded"}
    blocks = _blocks(nodes, place) if collapse else []
    found = _drawn(root, nodes, place, blocks, _first_of(blocks, len(nodes)), backward)
    found.root = t
    return found


def _drawn(
    root: Any,
    nodes: list[Node],
    place: dict[int, int],
    blocks: list[Block],
    first: Callable[[int], int],
    backward: bool,
) -> Drawing:
    inside = {k: b for b, block in enumerate(blocks) for k in range(block.start, block.start + block.size)}
    boxes: list[Box] = []
    arrows: list[tuple[str, str]] = []
    leaves: dict[int, str] = {}
    held: dict[str, list[Any]] = {}
    for k, node in enumerate(nodes):
        held.setdefault(f"n{first(k)}", []).append(node)
        if first(k) != k:
            # Of a block that comes again only what it has from the block before is new.
            arrows += [(f"n{first(place[id(a)])}", f"n{first(k)}") for a in node.args if id(a) in place]
            continue
        for i, arg in enumerate(node.args):
            if not isinstance(arg, (Recorded, Source)) or (backward and not node.mask >> i & 1):
                continue
            if id(arg) not in leaves:
                leaves[id(arg)] = f"x{len(leaves)}"
                home = inside.get(k)
                if home is not None and id(nodes[k + blocks[home].size].args[i]) in place:
                    home = None  # where the block comes again it has something computed there
                boxes.append(Box(leaves[id(arg)], _leaf_label(arg, backward), _leaf_kind(arg), home))
                held[leaves[id(arg)]] = [arg]
            arrows.append((leaves[id(arg)], f"n{k}"))
        label = node_name(node) if backward else f"{node.op.name} {_shape(node.shape)}"
        boxes.append(Box(f"n{k}", label, "output" if k == len(nodes) - 1 else "op", inside.get(k)))
        arrows += [
            (f"n{first(place[id(a)])}", f"n{k}")
            for i, a in enumerate(node.args)
            if id(a) in place and (not backward or node.mask >> i & 1)
        ]
    if not nodes:
        boxes.append(Box("x0", _leaf_label(root, backward), _leaf_kind(root), None))
        held["x0"] = [root]
    return Drawing(boxes, [(b, a) for a, b in arrows] if backward else arrows, blocks, held)


def _blocks(nodes: Sequence[Node], place: dict[int, int]) -> list[Block]:
    """The repetitions: those that cover most first, shorter blocks before longer ones; none overlap."""
    kinds: dict[Any, int] = {}
    likeness = [
        kinds.setdefault((node.op.name, node.shape, tuple(getattr(a, "raw_shape", ()) for a in node.args)), len(kinds))
        for node in nodes
    ]
    found: list[Block] = []
    for size in range(1, min(_LONGEST_BLOCK, len(nodes) // _FEWEST) + 1):
        run = 0
        for k in range(len(nodes) - size + 1):
            same = k < len(nodes) - size and likeness[k] == likeness[k + size]
            if not same and run >= (_FEWEST - 1) * size and not _known(found, k - run, k + size, size):
                found += _wired_alike(nodes, place, Block(k - run, size, run // size + 1))
            run = run + 1 if same else 0
    found.sort(key=lambda b: (-b.size * b.times, b.size))
    kept: list[Block] = []
    covered: set[int] = set()
    for block in found:
        span = range(block.start, block.start + block.size * block.times)
        if covered.isdisjoint(span):
            covered.update(span)
            kept.append(block)
    return sorted(kept, key=lambda b: b.start)


def _known(found: Sequence[Block], start: int, end: int, size: int) -> bool:
    """Whether a shorter block that goes into ``size`` repeats over most of a span already."""
    return any(
        size % b.size == 0 and b.start <= start + b.size and b.start + b.size * b.times >= end - b.size for b in found
    )


def _wired_alike(nodes: Sequence[Node], place: dict[int, int], block: Block) -> list[Block]:
    """The block as far as its repetitions read alike; what the first one reads from outside may differ."""
    start, size, times = block
    for r in range(2, times):
        for p in range(size):
            one, other = ([_back(a, k, place) for a in nodes[k].args] for k in (start + size + p, start + r * size + p))
            if one != other:
                return [Block(start, size, r)] if r >= _FEWEST else []
    inner = ([_back(a, start + p, place) for a in nodes[start + p].args] for p in range(size))
    second = ([_back(a, start + size + p, place) for a in nodes[start + size + p].args] for p in range(size))
    alike = all(
        a == b or b is None or b > p
        for p, (x, y) in enumerate(zip(inner, second, strict=True))
        for a, b in zip(x, y, strict=True)
    )
    return [block] if alike else []


def _back(arg: Any, k: int, place: dict[int, int]) -> int | None:
    """How many nodes back an argument was made; None for leaves, constants and numbers."""
    return k - place[id(arg)] if id(arg) in place else None


def _first_of(blocks: Sequence[Block], n: int) -> Callable[[int], int]:
    """Where the first of the nodes stands that a node is drawn as."""
    first = list(range(n))
    for block in blocks:
        for k in range(block.size, block.size * block.times):
            first[block.start + k] = block.start + k % block.size
    return first.__getitem__


def _leaf_kind(leaf: Any) -> str:
    return "leaf" if isinstance(leaf, Recorded) else "constant"


def _leaf_label(leaf: Any, backward: bool) -> str:
    if isinstance(leaf, Source):
        name = site_name(leaf.name, leaf.site) or held_alone(leaf) or "constant"
    else:
        name = name_of(leaf) or "leaf"
    label = f"{name} {_shape(leaf.raw_shape)}"
    return f"AccumulateGrad {label}" if backward else label


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))})"


def _quoted(label: str) -> str:
    return label.replace('"', "'")

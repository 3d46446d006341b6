"""Colourings: rows or columns of one colour never meet in a place, so one pass computes all of them.

``greedy`` colours columns so that no row has two of one colour (Curtis, Powell and Reid, "On the estimation of sparse
Jacobian matrices", 1974).  ``star`` colours a symmetric matrix's columns so that every entry is alone in its row or its
mirror image is (Coleman and Moré, "Estimation of sparse Hessian matrices and graph coloring problems", 1984; the greedy
rule is that of Gebremedhin, Manne and Pothen, "What color is your Jacobian?", SIAM Review 47, 2005).  Sets of colours
are the bits of whole numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from symgrad.autograd.sparsity.pattern import Pattern


class Plan(NamedTuple):
    """Which rows are pulled back and which columns pushed forward, by colours; -1 is for those that are not.

    An entry is read from the pass of ``first`` ("rows" or "columns") where it is in one, else from the other.
    """

    rows: Any
    columns: Any
    first: str

    @property
    def passes(self) -> int:
        """Number of colours."""
        return count_of(self.rows) + count_of(self.columns)


def count_of(colours: Any) -> int:
    """How many colours there are."""
    return int(colours.max(initial=-1)) + 1


def plan(pattern: Pattern) -> Plan:
    """The cheapest way to a Jacobian: all rows, all columns, or a few full ones of one kind and the others' colours.

    That last way is for arrows, in which a full row makes every column meet and a full column every row (T. F. Coleman
    and A. Verma, "The efficient computation of sparse Jacobian matrices using automatic differentiation", 1998).
    """
    turned = pattern.transposed()
    nothing = [np.full(size, -1) for size in pattern.shape]
    plans = [Plan(greedy(turned), nothing[1], "rows"), Plan(nothing[0], greedy(pattern), "columns")]
    least = min(found.passes for found in plans)
    for mine, kind in ((pattern, "rows"), (turned, "columns")):
        full = _full_rows(mine, least)
        if full is not None:
            alone = np.full(mine.shape[0], -1)
            alone[full] = np.arange(len(full))
            rest = greedy(mine.without(full))
            plans.append(Plan(alone, rest, kind) if kind == "rows" else Plan(rest, alone, kind))
    return min(plans, key=lambda found: found.passes)


def _full_rows(pattern: Pattern, least: int) -> Any:
    """The rows with the most places whose passes of their own may pay; None where fewer than ``least`` cannot be.

    Without the t fullest rows there are as many colours as the fullest of the rest has places, at least.
    """
    degrees = np.diff(pattern.indptr)
    order = np.argsort(-degrees, kind="stable")
    bounds = np.arange(len(order)) + degrees[order]
    t = int(bounds.argmin()) if len(bounds) else 0
    return order[:t] if t and bounds[t] < least else None


def greedy(pattern: Pattern) -> Any:
    """A colour for every column; -1 for those without places.  No row has two columns of one colour."""
    degrees = np.diff(pattern.indptr)
    least = int(degrees.max(initial=0))
    by_column = pattern.transposed()
    columns = np.flatnonzero(np.diff(by_column.indptr))
    if least == len(columns):  # a full row: all columns meet in it
        colours = np.full(pattern.shape[1], -1)
        colours[columns] = np.arange(least)
        return colours
    best = _greedily(by_column, columns)
    if best.max(initial=-1) >= least:  # the natural order is the best for bands; else columns with many places first
        busiest = np.argsort(-np.diff(by_column.indptr)[columns], kind="stable")
        other = _greedily(by_column, columns[busiest])
        best = min(best, other, key=lambda colours: int(colours.max(initial=-1)))
    return best


def _greedily(by_column: Pattern, order: Any) -> Any:
    colours = np.full(by_column.shape[0], -1)
    starts, rows = by_column.indptr.tolist(), by_column.indices.tolist()
    taken = [0] * by_column.shape[1]
    for column in order.tolist():
        own, barred = rows[starts[column] : starts[column + 1]], 0
        for row in own:
            barred |= taken[row]
        free = ~barred & (barred + 1)
        for row in own:
            taken[row] |= free
        colours[column] = free.bit_length() - 1
    return colours


def star(pattern: Pattern) -> Any:
    """A colour for every column of a symmetric pattern; -1 for those without places.

    Neighbours differ, and no path of four has two colours only.
    """
    size = pattern.shape[0]
    starts, ends = pattern.indptr.tolist(), pattern.indices.tolist()
    bit = [0] * size  # the colour of a column that has one
    once, twice = [0] * size, [0] * size  # colours that some, or several, neighbours have
    barred_by = [0] * size  # of a coloured one: colours of neighbours that have another neighbour of its colour
    colours = np.full(size, -1)
    for v in range(size):
        near = [w for w in ends[starts[v] : starts[v + 1]] if w != v]
        if starts[v] == starts[v + 1]:
            continue
        barred = 0
        for w in near:
            barred |= bit[w] | barred_by[w] if bit[w] else once[w]
        free = bit[v] = ~barred & (barred + 1)
        colours[v] = free.bit_length() - 1
        for x in near:
            if not once[x] & free:
                once[x] |= free
                continue
            if not twice[x] & free:
                twice[x] |= free
                for w in ends[starts[x] : starts[x + 1]] if bit[x] else ():
                    if bit[w] == free and w != x:
                        barred_by[w] |= bit[x]
            if bit[x]:
                barred_by[v] |= bit[x]
    return colours

"""Functions of the C target on the order of entries: each text stands for floating and for whole numbers.

``behind`` knows that nan counts as largest; whole numbers have none, and double precision does not hold all of them.
"""

from __future__ import annotations

import re

_ORDERS = {
    "behind": """/* Whether x stands behind y in ascending or descending order; nan counts as largest. */
static bool behind(NUMBER x, NUMBER y, bool down)
{
    return down ? y > x || (missing(y) && !missing(x)) : x > y || (missing(x) && !missing(y));
}""",
    "before": """/* Whether x is better than y. */
static bool before(NUMBER x, NUMBER y, bool largest)
{
    return largest ? behind(x, y, false) : behind(y, x, false);
}""",
    "ordered": """\
/* The places of n entries, step apart, in their order; equal ones stay. They are in one of two rooms for n. */
static int64_t *ordered(ptrdiff_t n, ptrdiff_t step, const NUMBER *x, bool down, int64_t *from, int64_t *to)
{
    for (ptrdiff_t k = 0; k < n; k++) from[k] = k;
    for (ptrdiff_t width = 1; width < n; width *= 2) {
        for (ptrdiff_t low = 0; low < n; low += 2 * width) {
            ptrdiff_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
            for (ptrdiff_t i = low, j = middle, k = low; k < high; k++) {
                bool first = i < middle && (j == high || !behind(x[from[i] * step], x[from[j] * step], down));
                to[k] = first ? from[i++] : from[j++];
            }
        }
        int64_t *other = from;
        from = to;
        to = other;
    }
    return from;
}""",
    "order_of": """\
static void order_of(ptrdiff_t n, ptrdiff_t step, const NUMBER *x, bool down, int64_t *order, int64_t *from,
                     int64_t *to)
{
    const int64_t *row = ordered(n, step, x, down, from, to);
    for (ptrdiff_t k = 0; k < n; k++) order[k * step] = row[k];
}""",
    "middle_of": """\
/* The lower median of n entries; nan where one is, unless these are skipped and there are others. */
static NUMBER middle_of(ptrdiff_t n, const NUMBER *x, bool skip_nan, int64_t *from, int64_t *to)
{
    const int64_t *row = ordered(n, 1, x, false, from, to);
    ptrdiff_t count = n;
    while (count && missing(x[row[count - 1]])) count--;
    return x[row[count < n && !(skip_nan && count) ? n - 1 : (count - 1) / 2]];
}""",
    "selected": """\
/* The place of the entry that Hoare's selection brings to position k of n: among equal ones torch's choice. */
static int64_t selected(ptrdiff_t n, ptrdiff_t step, const NUMBER *x, ptrdiff_t k, int64_t *row)
{
    ptrdiff_t low = 0, high = n - 1;
    for (ptrdiff_t i = 0; i < n; i++) row[i] = i;
    while (high > low + 1) {
        ptrdiff_t middle = low + (high - low) / 2, i = low + 1, j = high;
        const ptrdiff_t pairs[] = {low + 1, high, low, high, low + 1, low};
        int64_t other = row[middle];
        row[middle] = row[low + 1];
        row[low + 1] = other;
        for (int p = 0; p < 6; p += 2) {
            ptrdiff_t a = pairs[p], b = pairs[p + 1];
            if (!behind(x[row[a] * step], x[row[b] * step], false)) continue;
            other = row[a];
            row[a] = row[b];
            row[b] = other;
        }
        for (;;) {
            do i++; while (behind(x[row[low] * step], x[row[i] * step], false));
            do j--; while (behind(x[row[j] * step], x[row[low] * step], false));
            if (j < i) break;
            other = row[i];
            row[i] = row[j];
            row[j] = other;
        }
        other = row[low];
        row[low] = row[j];
        row[j] = other;
        ptrdiff_t end = high;
        if (j >= k) end = j - 1;
        if (j <= k) low = i;
        high = end;
    }
    if (high == low + 1 && behind(x[row[low] * step], x[row[high] * step], false)) {
        int64_t other = row[low];
        row[low] = row[high];
        row[high] = other;
    }
    return row[k];
}""",
    "inserted": """/* The places row[low] to row[high - 1] sorted by insertion, the best first. */
static void inserted(ptrdiff_t step, const NUMBER *x, bool largest, int64_t *row, ptrdiff_t low, ptrdiff_t high)
{
    for (ptrdiff_t i = low + 1; i < high; i++) {
        int64_t entry = row[i];
        ptrdiff_t at = i;
        for (; at > low && before(x[entry * step], x[row[at - 1] * step], largest); at--) row[at] = row[at - 1];
        row[at] = entry;
    }
}""",
    "best_of": """\
/* The places of the best k of n entries, in order; among equal ones torch's choice, by introspective selection. */
static void best_of(ptrdiff_t n, ptrdiff_t step, const NUMBER *x, ptrdiff_t k, bool largest, int64_t *best,
                    int64_t *from, int64_t *to)
{
    int64_t *row = ordered(n, step, x, largest, from, to), other;
    bool tied = false;
    for (ptrdiff_t i = 0; i < k && i + 1 < n; i++) {
        NUMBER p = x[row[i] * step], q = x[row[i + 1] * step];
        if (p == q || missing(p) || missing(q)) tied = true;
    }
    if (tied && k <= 16) {
        ptrdiff_t low = 0, high = n;
        for (ptrdiff_t i = 0; i < n; i++) row[i] = i;
        while (high - low > 3) {
            ptrdiff_t a = low + 1, b = low + (high - low) / 2, c = high - 1, i = low + 1, j = high, middle;
            NUMBER p = x[row[a] * step], q = x[row[b] * step], r = x[row[c] * step];
            if (before(p, q, largest)) middle = before(q, r, largest) ? b : before(p, r, largest) ? c : a;
            else middle = before(p, r, largest) ? a : before(q, r, largest) ? c : b;
            other = row[low];
            row[low] = row[middle];
            row[middle] = other;
            for (;;) {
                while (before(x[row[i] * step], x[row[low] * step], largest)) i++;
                do j--; while (before(x[row[low] * step], x[row[j] * step], largest));
                if (i >= j) break;
                other = row[i];
                row[i++] = row[j];
                row[j] = other;
            }
            if (i < k) low = i;
            else high = i;
        }
        inserted(step, x, largest, row, low, high);
        inserted(step, x, largest, row, 0, k - 1);
    }
    for (ptrdiff_t i = 0; i < k; i++) best[i * step] = row[i];
}""",
    "searchsorted": """/* How many of the ascending values stand before x; right: also those equal to it. */
static int64_t searchsorted(const NUMBER *values, ptrdiff_t n, NUMBER x, bool right)
{
    ptrdiff_t low = 0, high = n;
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (behind(x, values[middle], false) || (right && !behind(values[middle], x, false))) low = middle + 1;
        else high = middle;
    }
    return low;
}""",
}
_NAMES = re.compile(rf"\b({'|'.join(_ORDERS)})\(")
_MISSING = re.compile(r"\bmissing\(([^()]*)\)")


def _of(prefix: str, kind: str, missing: str) -> dict[str, str]:
    """The functions for one type, in which an entry is missing where it is nan."""
    return {
        f"{prefix}{name}": _NAMES.sub(rf"{prefix}\1(", _MISSING.sub(missing, text.replace("NUMBER", kind)))
        for name, text in _ORDERS.items()
    }


ORDERS = {**_of("", "double", r"isnan(\1)"), **_of("whole_", "int64_t", "false")}
"""The text of every function by its name; one that calls another stands after it."""

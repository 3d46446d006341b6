"""Python's generators and conditional expressions as formulas: ``sum_i^(n) (a_i)``, ``where(c, a, b)``."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Mapping
from typing import Any

from symgrad.errors import FormulaError
from symgrad.formula.reading.people.paper import INDICES
from symgrad.formula.reading.people.ranks import MODULES, is_whole_axis, parts_of, rank


def refusal(node: ast.AST, advice: str = "") -> FormulaError:
    """The error for what is no formula, with what is one."""
    shown = ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]
    advice = advice or "a formula has definitions y = …, branches that return or assign, and loops that add up"
    return FormulaError(f"cannot read a text with the statement {shown!r}; {advice}")


def filled(value: ast.expr, generator: ast.comprehension) -> ast.expr:
    """An array of zeros of which a loop fills entries."""
    return ast.Call(ast.Name(_FILLED), [ast.ListComp(value, [generator])], [])


_FILLED = "_filled_"


class Masked(ast.IfExp):
    """What ``g[x > 0] = …`` gives: a case for each entry, where a branch of Python asks one question."""


def written(node: ast.expr, table: Mapping[str, Any]) -> str:
    """The formula of an expression of Python; the array of a list is a sum over unit vectors."""
    return ast.unparse(ast.fix_missing_locations(_Writer(node, table).visit(copy.deepcopy(node))))


class _Writer(ast.NodeTransformer):
    """Rewrites generators to indices; a piece of the formula stands as a name in the tree that is printed."""

    def __init__(self, node: ast.expr, table: Mapping[str, Any]):
        self.table = table
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used |= {*table, *(str(size) for t in table.values() for size in t.shape)}
        self.free = (x for x in INDICES if x not in used)
        self.letters: dict[str, str] = {}
        self.members: dict[str, ast.expr] = {}
        self.room: dict[str, tuple[int, int]] = {}  # how many entries are before the first and after the last one

    def _anew(self, node: ast.expr) -> ast.expr:
        """A rewritten copy."""
        made: ast.expr = self.visit(copy.deepcopy(node))
        return made

    # ------------------------------------------------------------------------------------- conditions

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self._refuse_arrays(node.test)
        return self.visit_Masked(node)

    def visit_Masked(self, node: ast.IfExp) -> ast.expr:
        parts = (node.test, node.body, node.orelse)
        return ast.Call(ast.Name("where"), [self.visit(part) for part in parts], [])

    def _refuse_arrays(self, test: ast.expr) -> None:
        """Refuse the condition of a branch on a whole array, of which Python does not know which entry is meant."""
        if rank(test, self._axes):
            raise refusal(test, _WHOLE)

    def _axes(self, name: str) -> int | None:
        """How many axes the value of a name has that are not of one entry."""
        if name in self.members:
            return rank(self.members[name], self._axes)
        if name in self.letters or name not in self.table:
            return 0
        return sum(1 for size in self.table[name].shape if size != 1)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self._refuse_arrays(node)
        values = [self.visit(value) for value in node.values]
        sign = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        made: ast.expr = functools.reduce(lambda a, b: ast.BinOp(a, sign, b), values)
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.ListComp) and not isinstance(node.op, ast.MatMult) and not rank(other, self._axes):
                raise refusal(node, "a list is no array in Python, which it repeats or makes longer: np.array([…])")
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if node.ops[1:]:
            self._refuse_arrays(node)
        values = [self.visit(value) for value in (node.left, *node.comparators)]
        pairs = [ast.Compare(a, [sign], [b]) for a, sign, b in zip(values, node.ops, values[1:], strict=False)]
        made: ast.expr = pairs[0]
        for pair in pairs[1:]:
            made = ast.BinOp(made, ast.BitAnd(), pair)
        return made

    # ------------------------------------------------------------------------------------- indices

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.members:
            return self._anew(self.members[node.id])
        letter = self.letters.get(node.id)
        return node if letter is None else ast.Name(f"({letter} - 1)")  # sums count from 1

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        size = self._size(node)
        if size is not None:
            return size
        row = [self._index(x) for x in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])]
        while row[1:] and row[-1] == ":":
            row.pop()
        if None in row and any(getattr(n, "id", "") in self.letters for n in ast.walk(node.slice)):
            raise refusal(node, "an index of a loop stands alone, or with a number added, as in x[i] and x[i - 1]")
        if None in row or row == [":"]:
            return self.generic_visit(node)  # type: ignore[return-value]
        value = self.members.get(getattr(node.value, "id", ""), node.value)
        if isinstance(value, ast.Subscript):  # A[i][j], or an entry of a row that a loop is over
            before, own = parts_of(value), iter(parts_of(node))
            if not any(isinstance(x, ast.Slice) and not is_whole_axis(x) for x in before):
                filled = [next(own, x) if isinstance(x, ast.Slice) else x for x in before]
                return self.visit_Subscript(ast.Subscript(value.value, ast.Tuple([*filled, *own])))
        array = ast.unparse(self.visit(node.value))
        return ast.Name(f"{array if array.isidentifier() else f'({array})'} _{{{','.join(map(str, row))}}} ")

    def _index(self, node: ast.expr) -> str | None:
        """An index of a generator, with what is added to it, or ``:`` for a whole axis; None for others."""
        shift, whole = "", node
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and _is_whole(node.right):
            shift, node = f"{'+' if isinstance(node.op, ast.Add) else '-'}{ast.unparse(node.right)}", node.left
        if isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step):
            return ":"
        if not isinstance(node, ast.Name):
            return None
        member = self.members.get(node.id)
        letter = self.letters.get(member.id if isinstance(member, ast.Name) else node.id)
        if letter and shift and -int(shift) > self.room[letter][0]:
            raise refusal(whole, "at the first index this is the last entry in Python; begin the loop later")
        if letter and shift and int(shift) > self.room[letter][1]:
            raise refusal(whole, "at the last index there is no such entry; end the loop earlier")
        return f"{letter}{shift}" if letter else None

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        size = self._size(node)
        if size is not None:
            return size
        inner = node.args[0] if node.args else None
        if isinstance(inner, (ast.GeneratorExp, ast.ListComp)) and name == "sum" and _is_first(node):
            made = self._total(inner.generators, inner.elt)
            every = isinstance(inner, ast.ListComp) and isinstance(node.func, ast.Attribute) and not _axes(node)
            return ast.Call(ast.Name("sum"), [made], []) if every else made  # NumPy's, of all entries
        if isinstance(inner, ast.ListComp) and name in ("array", "asarray", _FILLED) and len(node.args) == 1:
            return self._array(inner, filled=name == _FILLED)
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        method = of is not None and getattr(of, "attr", getattr(of, "id", "")) not in MODULES
        if of is not None and method and not node.keywords and name in _METHODS:
            node = ast.Call(ast.Name(name), [of, *node.args], [])
        if name == "dot" and len(node.args) == 2 and not node.keywords and self.letters:
            return self.visit(ast.BinOp(node.args[0], ast.MatMult(), node.args[1]))  # type: ignore[no-any-return]
        whole = name in ("sum", "mean") and len(node.args) == 1 and not node.keywords and self.letters
        if whole and rank(node.args[0], self._axes) == 1 and (name == "sum" or self._length(node.args[0])):
            total = self._of_entries(node.args[0])
            length = self._length(node.args[0]) if name == "mean" else ""
            return ast.BinOp(total, ast.Div(), ast.Name(length)) if length else total
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._size(node) or self.generic_visit(node)  # type: ignore[return-value]

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        raise refusal(node, "a generator is summed here, as in sum(x[i] for i in range(n))")

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._array(node, filled=False)

    def _array(self, node: ast.ListComp, filled: bool) -> ast.expr:
        """The array of a list: its entries times unit vectors, a matrix for a list of lists.

        One that a loop has ``filled`` is 0 where the loop does not run; a list would be shorter.
        """
        if "e" in self.table:
            raise refusal(node, "an array that is given entry by entry is none where e is a symbol")
        generators: list[ast.comprehension] = []
        inner: ast.expr = node
        while isinstance(inner, ast.ListComp) and len(inner.generators) == 1:
            generators += inner.generators
            inner = inner.elt
            if filled and getattr(getattr(inner, "func", None), "id", "") == _FILLED:
                inner = inner.args[0]  # type: ignore[attr-defined]
        if isinstance(inner, ast.ListComp) or len(generators) > 2:
            raise refusal(node, "a list has one for, and so has a list in it")
        return self._total(generators, inner, None if filled else node, basis=True)

    def _total(
        self, generators: list[ast.comprehension], value: ast.expr, whole: ast.expr | None = None, basis: bool = False
    ) -> ast.expr:
        """The sum over the indices of generators, from the innermost one outwards; all of them for a ``whole`` list."""
        before = dict(self.letters), dict(self.members)
        heads, letters = [], []
        tests: list[ast.expr] = []
        for generator in generators:
            letter, end, more = self._over(generator)
            letters.append(letter)
            heads.append(f"sum_{letter}" + (f"^({end})" if end else ""))
            tests += more
            if whole is not None and (more or "-" in end):
                raise refusal(whole, "a list that leaves out entries is shorter; fill an array of zeros in a loop")
        for test in reversed(tests):
            value = ast.IfExp(test, value, ast.Constant(0))
        if basis and len(letters) == 1 and rank(value, self._axes) == 1:  # rows
            letters.append(self._letter(value))
            heads.append(f"sum_{letters[1]}")
            value = self._entry(value, ast.Name(f"{_INDEX}{letters[1]}"))
        text = ast.unparse(self._anew(value))
        self.letters, self.members = before
        if basis:
            unit = f"e_{letters[0]}" if len(letters) == 1 else f"outer(e_{letters[0]}, e_{letters[1]})"
            text = f"({text}) * {unit}"
        for head in reversed(heads):
            text = f"({head} ({text}))"
        return ast.Name(text)

    def _of_entries(self, vector: ast.expr) -> ast.expr:
        """The sum of the entries of a vector made of rows and entries with indices, over an index of its own."""
        letter = self._letter(vector)
        entry = self._anew(self._entry(vector, ast.Name(f"{_INDEX}{letter}")))
        return ast.Name(f"(sum_{letter} ({ast.unparse(entry)}))")

    def _length(self, vector: ast.expr) -> str:
        """The letter of the size of a vector made of arguments entry by entry; empty where it is not known."""
        stack: list[ast.expr] = [vector]
        while stack:
            node = stack.pop()
            array = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(array, ast.Name) and rank(node, self._axes) == 1 and array.id in self.table:
                parts = parts_of(node) if isinstance(node, ast.Subscript) else []
                kept = [k for k in range(self.table[array.id].ndim) if k >= len(parts) or is_whole_axis(parts[k])]
                size = str(self.table[array.id].shape[kept[0]]) if len(kept) == 1 else ""
                return size if re.fullmatch(r"\w+", size) else ""
            if isinstance(node, ast.UnaryOp):
                stack.append(node.operand)
            elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
                stack += [node.left, node.right]
            elif isinstance(node, ast.Call) and rank(node, self._axes) == 1:
                stack += node.args
        return ""

    def _letter(self, vector: ast.expr) -> str:
        """A letter of its own for the entries of a vector."""
        letter = next(self.free, "")
        if not letter:
            raise refusal(vector, _TOO_MANY)
        self.letters[f"{_INDEX}{letter}"] = letter
        self.room[letter] = (0, 0)
        return letter

    def _entry(self, node: ast.expr, index: ast.Name) -> ast.expr:
        """The entry of a vector at an index."""
        axes = rank(node, self._axes)
        if axes == 0:
            return node
        if axes == 1 and isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self._entry(node.operand, index))
        if axes == 1 and isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return ast.BinOp(self._entry(node.left, index), node.op, self._entry(node.right, index))
        inner = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if axes == 1 and isinstance(node, ast.Call) and isinstance(inner, ast.GeneratorExp):
            each = ast.GeneratorExp(self._entry(inner.elt, index), inner.generators)
            return ast.Call(node.func, [each], [])
        if axes == 1 and isinstance(node, ast.Call) and node.args and not node.keywords:  # a function of entries
            return ast.Call(node.func, [self._entry(a, index) for a in node.args], [])
        return ast.Subscript(node, index)

    # ------------------------------------------------------------------------------------- ranges

    def _over(self, generator: ast.comprehension) -> tuple[str, str, list[ast.expr]]:
        """The index of a generator, the size at which it ends, and the conditions on it."""
        target, over = generator.target, generator.iter
        called = getattr(over.func, "id", "") if isinstance(over, ast.Call) else ""
        args = over.args if isinstance(over, ast.Call) else []
        name = getattr(target, "id", "")
        own = called == "range" and name in INDICES and name not in {*self.table, *self.letters.values()}
        letter = name if own else next(self.free, "")
        if not letter:
            raise refusal(over, _TOO_MANY)
        index = ast.Name(f"{_INDEX}{letter}")
        self.room[letter] = (_after(generator), 0)
        self.letters[index.id] = letter
        end, tests = "", list(generator.ifs)
        if called == "range" and name:
            end, more = self._range(over, index)
            tests += more
            self.letters[name] = letter
            self.members.pop(name, None)
            return letter, end, tests
        pairs: list[tuple[ast.expr, ast.expr]] = [(target, ast.Subscript(over, index))]
        names = target.elts if isinstance(target, ast.Tuple) else []
        if called == "enumerate" and len(names) == 2 and len(args) == 1:
            pairs = [(names[0], index), (names[1], ast.Subscript(args[0], index))]
        elif called == "zip" and len(names) == len(args):
            pairs = [(x, ast.Subscript(a, index)) for x, a in zip(names, args, strict=True)]
        for x, member in pairs:
            array = getattr(member, "value", index)
            if not isinstance(x, ast.Name) or not isinstance(array, ast.Name):
                raise refusal(over, "a loop is over range(n), over an array, or over zip(…) or enumerate(…) of arrays")
            self.letters.pop(x.id, None)
            self.members[x.id] = member
        return letter, end, tests

    def _range(self, over: Any, index: ast.Name) -> tuple[str, list[ast.expr]]:
        """The end of a range, and conditions where it begins after 0 or ends at another index."""
        if over.keywords or len(over.args) not in (1, 2):
            raise refusal(over, "a loop runs over range(n) or range(a, n)")
        low, high = (ast.Constant(0), *over.args) if len(over.args) == 1 else over.args
        letter = self.letters[index.id]
        before, after = self._ahead(low, 0), -self._ahead(high, 1)
        if self._is_counted(low) and before < 0:
            raise refusal(over, "an index below 0 is that of the last entry in Python; begin the loop at 0")
        if self._is_counted(high) and after < 0:
            raise refusal(over, "the loop runs over the end of what it indexes; end it earlier")
        self.room[letter] = (max(before, self.room[letter][0]), after)
        tests: list[ast.expr] = []
        if not (isinstance(low, ast.Constant) and low.value == 0):
            tests.append(ast.Compare(index, [ast.GtE()], [low]))
        if any(isinstance(n, ast.Name) and n.id in self.letters for n in ast.walk(high)):
            return "", [*tests, ast.Compare(index, [ast.Lt()], [high])]
        end = ast.unparse(self._anew(high))
        if re.fullmatch(r"\d+|[a-zA-Z]( - \d+)?", end):
            return end, tests
        if _LENGTH.fullmatch(end):
            return "", tests
        raise refusal(over, "a loop ends at a size, such as n or len(x), or at another index")

    def _is_counted(self, node: ast.expr) -> bool:
        """Whether an end of a range is a number or another index, with what is added to it."""
        base = node.left if isinstance(node, ast.BinOp) else getattr(node, "operand", node)
        return _is_whole(base) or getattr(base, "id", "") in self.letters

    def _ahead(self, node: ast.expr, side: int) -> int:
        """What is added at least to 0, or to a size, in the end of a range that may be another index."""
        more = 0
        if isinstance(node, ast.UnaryOp):  # -1
            node = ast.BinOp(ast.Constant(0), ast.Sub(), node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and _is_whole(node.right):
            more = int(ast.unparse(node.right)) * (1 if isinstance(node.op, ast.Add) else -1)
            node = node.left
        if isinstance(node, ast.Constant) and _is_whole(node) and not side:
            return more + int(ast.unparse(node))
        letter = self.letters.get(getattr(node, "id", ""))
        if letter is None:
            return more
        before, after = self.room[letter]
        return more + (-after - 1 if side else before)

    def _size(self, node: ast.expr) -> ast.expr | None:
        """The letter of ``len(x)``, ``x.size`` or ``x.shape[0]``, where the symbol has one there."""
        found = _LENGTH.fullmatch(ast.unparse(ast.fix_missing_locations(node)))
        symbol = self.table.get(found[1] or found[2] or found[3]) if found else None
        axis = int(found[4] or 0) if found else 0
        if symbol is None or axis >= symbol.ndim or (found and found[2] and symbol.ndim > 1):
            return None
        size = symbol.shape[axis]
        return ast.Name(str(size)) if re.fullmatch(r"\w+", str(size)) else None


_INDEX = "_index_"
_LENGTH = re.compile(r"len\((\w+)\)|(\w+)\.size|(\w+)\.shape\[(\d+)\]")


_TOO_MANY = f"a text has up to {len(INDICES)} indices"
_WHOLE = "this is a condition on a whole array, which is an error in Python; write np.where(condition, a, b)"
_METHODS = ("sum", "mean", "dot", "trace")


def _after(generator: ast.comprehension) -> int:
    """From where on a condition such as ``if i > 0`` lets a range begin."""
    starts = [0]
    for test in generator.ifs:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_whole(test.comparators[0]):
            same = getattr(test.left, "id", "") == getattr(generator.target, "id", "-")
            bound = int(ast.unparse(test.comparators[0]))
            starts += [bound + 1] * (same and isinstance(test.ops[0], ast.Gt))
            starts += [bound] * (same and isinstance(test.ops[0], ast.GtE))
    return max(starts)


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_first(node: ast.Call) -> bool:
    """Whether a sum is taken along the axis of its list."""
    axes = _axes(node)
    return len(axes) == len(node.args) - 1 + len(node.keywords) and all(getattr(a, "value", 1) == 0 for a in axes)


def _axes(node: ast.Call) -> list[ast.expr]:
    return [*node.args[1:], *(k.value for k in node.keywords if k.arg == "axis")]

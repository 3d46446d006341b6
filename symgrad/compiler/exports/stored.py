"""Programs as JSON: the terms of a program in a file that is read, checked and built anew, and never executed.

The file holds data alone: the ops by their names in the table, one line for each, with parameters, shapes and dtypes;
what the program takes and gives; the constants.  Loading looks every op up and writes the source again, so the file
needs no Python function.  A digest tells damage.  Names and sizes become source text, and are let in by their grammar.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compiler import passes
from symgrad.compiler.program import Compiled, build
from symgrad.compiler.trace import Input, Output, Trace, collection_paused, safe_name
from symgrad.dtypes import as_dtype, is_number
from symgrad.errors import CompileError
from symgrad.formula.term import SYMBOL, Term, make, postorder
from symgrad.op import lookup
from symgrad.ops.indexing.getitem import HOLE, Index
from symgrad.ops.reductions.sums import Everything
from symgrad.tape import containers

FORMAT = "symgrad program"
VERSION = 1
"""Raised when files change their form, or an op its parameters: older versions refuse what they would misread."""

_SMALL = 64
"""Arrays up to this many entries are written as numbers, larger ones as base64 of their bytes."""

_WORD = re.compile(r"[\w-]*", re.ASCII)
"""Texts among parameters: modes, dtypes, names of constants.  Nothing that calls, indexes or ends a statement."""
_SLICED = re.compile(r"len\(range\([\w+*-]+\)\[[-\d:]+\]\)")
"""The length of a slice, such as ``len(range(n)[::2])``; they stand inside of one another."""
_SIZE = re.compile(r"-?\w+([+*-]\w+)*")


# ---------------------------------------------------------------------------------------------- writing


def text_of(program: Compiled) -> str:
    """The file of a program; equal programs have equal files, whatever Python's hash seed is."""
    trace = program.trace
    if trace is None:
        raise CompileError(f"{program.name}() was unpickled, and is not known well enough; compile the function again.")
    levels = []
    while trace is not None:
        levels.append((trace, passes.opened([o.term for o in trace.outputs])))
        trace = trace.base
    trace = levels[0][0]
    guards = passes.opened([term for term, _, _ in trace.guards])
    roots = [*guards, *(t for _, terms in levels for t in terms)]
    read = {*postorder(roots), *(a.name for p in (program, *_looking(program)) for a in p.arguments)}
    constants = [c for c in trace.constants if c.term in read or c.name in read]
    order = postorder([*(i.term for i in (*trace.inputs, *constants)), *roots])
    place = {t: k for k, t in enumerate(order)}
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": program.name,
        "stable": program.stable,
        "recorded": trace.recorded,
        "sizes": dict(sorted(trace.sizes.items())),
        "inputs": [_input(i, place) for i in trace.inputs],
        "constants": [{**_input(c, place), "value": _array(c.value)} for c in constants],
        "nodes": [_node(t, place) for t in order],
        "levels": [
            {
                "name": level.name,
                "nesting": _nesting(level.structure),
                "results": [_result(o, t, place) for o, t in zip(level.outputs, terms, strict=True)],
            }
            for level, terms in levels
        ],
        "looked_at": [
            {"node": place[term], "value": _array(seen), "how": how}
            for term, (_, seen, how) in zip(guards, trace.guards, strict=True)
        ],
    }
    return _laid_out({**data, "sha256": _digest(data)})


def _looking(program: Compiled) -> list[Compiled]:
    return [] if program.guards is None else [program.guards.program]


def _laid_out(data: dict[str, Any]) -> str:
    """JSON with a line for every node, input and result."""
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(_dumped(row) for row in value) + "\n ]"
        else:
            text = _dumped(value)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _digest(data: dict[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _input(i: Input, place: dict[Term, int]) -> dict[str, Any]:
    used = {} if i.shape != (...,) else {"unused": True}
    return {"name": i.name, "node": place[i.term], "dtype": i.dtype.name, **used}


def _node(term: Term, place: dict[Term, int]) -> dict[str, Any]:
    params = {key: _encoded(term, key, value) for key, value in sorted(term.params.items())}
    return {
        "id": place[term],
        "op": term.op.name,
        "args": [place[a] for a in term.args],
        **({"params": params} if params else {}),
        "shape": list(term.shape),
        "dtype": None if term.dtype is None else term.dtype.name,
    }


def _result(output: Output, term: Term, place: dict[Term, int]) -> dict[str, Any]:
    by, of = output.derivative or (None, None)
    derivative = {} if output.derivative is None else {"by": by, "of": of}
    return {"node": place[term], "shape": list(output.shape), "dtype": output.dtype.name, **derivative}


def _encoded(term: Term, key: str, value: Any) -> Any:
    """A parameter of an op as JSON; what JSON has no form for is a dict with its kind as only key."""
    if value is None or value.__class__ in (bool, int):
        return value
    if isinstance(value, int):  # a size of a tensor that the program holds for alone
        return int(value)
    if value.__class__ is float:
        return value if np.isfinite(value) else {"float": str(value)}
    if value.__class__ is str and (_WORD.fullmatch(value) or _is_size(value) or term.op is SYMBOL):
        return value
    if value.__class__ is tuple:
        return [_encoded(term, key, v) for v in value]
    for kind, (cls, written, _) in _KINDS.items():
        if isinstance(value, cls):
            return {kind: written(value, lambda v: _encoded(term, key, v))}
    raise CompileError(
        f"the program holds {key}={value!r:.60} ({type(value).__name__}) of {term.op.name}, for which its JSON has no "
        "form; save it as .py or .c."
    )


def _array(value: Any) -> dict[str, Any]:
    """An array with its dtype and shape: its numbers where they are few, else its bytes."""
    array = np.asarray(value)
    found: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.dtype.kind in "biuf" and array.size <= _SMALL and np.all(np.isfinite(array)):
        return {**found, "numbers": array.ravel().tolist()}
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {**found, "base64": base64.b64encode(little.tobytes()).decode()}


def _nesting(structure: Any) -> Any:
    if structure == containers.LEAF or structure is None:
        return structure
    if isinstance(structure, containers.Setting):
        kind: Any = type(structure.value)
    else:
        kind, keys, parts = structure
        kind = "ordered dict" if kind is OrderedDict else kind
        if kind in ("tuple", "list", "dict", "ordered dict") and all(type(k) in (str, int) for k in keys):
            return {kind: [[k, _nesting(p)] for k, p in zip(keys, parts, strict=True)]}
    raise CompileError(
        f"the results are nested in {getattr(kind, '__name__', kind)}, a class that a file of data cannot name; give "
        "them as a tuple, list or dict with texts as keys, or save the program as .py."
    )


# ---------------------------------------------------------------------------------------------- reading


def load(path: Any) -> Compiled:
    """The program of a file that ``save("f.json")`` wrote; it needs no function, and no line of the file is executed.

    The program equals the saved one to the last bit.  It can be called, saved again (also as ``.py`` and ``.c``), shown
    (``formula``, ``cost``) and differentiated: ``symgrad.func.grad(program)``, also inside of other functions.

    Raises ``CompileError`` for files that are no programs, that were damaged or changed by hand (their digest tells),
    that a newer symgrad wrote, or that have an op this one lacks; ``OSError`` where there is no file.

    >>> import symgrad as sg, numpy as np, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "f.json")
    >>> sg.compile(lambda x: (x * x).sum(), np.array([1.0, 2.0])).save(path)
    >>> f = sg.compiler.load(path)
    >>> f(np.array([3.0, 4.0, 0.0]))
    np.float64(25.0)
    >>> sg.func.grad(f)(np.array([3.0, 4.0]))
    tensor([6., 8.], dtype=float64)
    """
    path = Path(path)
    try:
        data = json.loads(path.read_bytes().decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise CompileError(f"{path.name} is not JSON, or was cut off: {error}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise CompileError(f"{path.name} is JSON, but no program: its format is not {FORMAT!r}.")
    version = data.get("version")
    if type(version) is int and version > VERSION:
        raise CompileError(
            f"{path.name} was written by a newer symgrad: its version is {version}, and this symgrad reads up to "
            f"{VERSION}. Update symgrad, or save the program there as .py."
        )
    if version != VERSION or data.pop("sha256", None) != _digest(data):
        raise CompileError(
            f"{path.name} was damaged or changed by hand: it does not have the digest that was stored with it. Save it "
            "again from its function."
        )
    try:
        with collection_paused():
            return _program(data)
    except Exception as error:  # whatever data leads to that is no program
        raise CompileError(f"{path.name} is no program that this symgrad can build: {error}") from error


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


def _program(data: dict[str, Any]) -> Compiled:
    terms: list[Term] = []
    for node in data["nodes"]:
        terms.append(_term(node, terms))
    inputs = [_given(row, terms) for row in data["inputs"]]
    constants = [_given(row, terms, _array_of(row["value"])) for row in data["constants"]]
    guards = [(_at(terms, row["node"]), _array_of(row["value"]), str(row["how"])) for row in data["looked_at"]]
    made: Trace | None = None
    for level in reversed(data["levels"]):
        base, made = made, Trace(safe_name(level["name"]))
        made.inputs, made.constants, made.guards = inputs, constants, guards
        made.arguments = [([k], containers.LEAF) for k in range(len(inputs))]
        made.sizes = {_size(letter): int(n) for letter, n in data["sizes"].items()}
        made.base, made.recorded = base, bool(data["recorded"])
        made.structure = _structure(level["nesting"])
        made.outputs = [
            Output(
                _at(terms, row["node"]),
                _dtype(row["dtype"]),
                tuple(map(_size, row["shape"])),
                (int(row["by"]), int(row["of"])) if "by" in row else None,
            )
            for row in level["results"]
        ]
    if made is None:
        raise ValueError("it has no results")
    return build(made, safe_name(data["name"]), stable=bool(data["stable"]))


def _term(node: dict[str, Any], terms: Sequence[Term]) -> Term:
    if node["id"] != len(terms):
        raise ValueError(f"node {node['id']} stands in line {len(terms)}")
    args = tuple(_at(terms, k) for k in node["args"])
    op = lookup(node["op"])
    params = {safe_name(key): _decoded(value) for key, value in node.get("params", {}).items()}
    if op is SYMBOL:
        safe_name(params["name"])
    elif not all(map(_safe, params.values())):
        raise ValueError(f"node {node['id']} has a parameter that is no word and no size")
    return make(op, args, params, tuple(map(_size, node["shape"])), _dtype(node["dtype"]))


def _at(terms: Sequence[Term], k: int) -> Term:
    if k < 0:
        raise ValueError(f"{k} is the number of no node")
    return terms[k]


def _given(row: dict[str, Any], terms: Sequence[Term], value: Any = None) -> Input:
    found = Input(safe_name(row["name"]), _at(terms, row["node"]), value)
    if found.term.name != found.name:
        raise ValueError(f"{found.name} is called {found.term.name} in its node")
    if row.get("unused"):
        found.shape, found.dtype = (...,), _dtype(row["dtype"])
    return found


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        return float(inner) if kind == "float" else _KINDS[kind][2](inner)
    return value


def _safe(value: Any) -> bool:
    """Whether the texts of a parameter may stand in source."""
    if isinstance(value, tuple):
        return all(map(_safe, value))
    return not isinstance(value, str) or _WORD.fullmatch(value) is not None or _is_size(value)


def _is_size(text: str) -> bool:
    found = 1
    while found:
        text, found = _SLICED.subn("1", text)
    return _SIZE.fullmatch(text) is not None


def _size(size: Any) -> Any:
    if type(size) is int or (isinstance(size, str) and _is_size(size)):
        return size
    raise ValueError(f"{size!r:.40} is no size")


def _dtype(name: Any) -> Any:
    if name is None:
        return None
    dtype = as_dtype(name) if isinstance(name, str) else None
    if dtype is None or not is_number(dtype):
        raise ValueError(f"{name!r:.40} is no dtype of numbers")
    return dtype


def _array_of(data: dict[str, Any]) -> Any:
    dtype, shape = _dtype(data["dtype"]), tuple(map(int, data["shape"]))
    if "numbers" in data:
        return np.array(data["numbers"], dtype).reshape(shape)[()]
    found = np.frombuffer(base64.b64decode(data["base64"], validate=True), dtype.newbyteorder("<"))
    return found.astype(dtype).reshape(shape)[()]


def _structure(nesting: Any) -> Any:
    if nesting == containers.LEAF or nesting is None:
        return nesting
    ((kind, rows),) = nesting.items()
    if kind not in ("tuple", "list", "dict", "ordered dict"):
        raise ValueError(f"{kind!r:.40} is no nesting")
    keys, parts = tuple(k for k, _ in rows), tuple(_structure(p) for _, p in rows)
    return (OrderedDict if kind == "ordered dict" else kind), keys, parts


def _index_written(index: Index, written: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        "parts": [written(np.asarray(part) if isinstance(part, list) else part) for part in index.parts],
        "alone": index.value.__class__ is not tuple,
        "steps": written(index.steps),
    }


def _index_read(data: dict[str, Any]) -> Index:
    parts = _decoded(data["parts"])
    return Index(parts[0] if data["alone"] else parts, _decoded(data["steps"]))


_KINDS: dict[str, tuple[Any, Callable[..., Any], Callable[..., Any]]] = {
    "complex": (
        complex,
        lambda z, written: [written(z.real), written(z.imag)],
        lambda parts: complex(*_decoded(parts)),
    ),
    "fraction": (Fraction, lambda q, _: [q.numerator, q.denominator], lambda parts: Fraction(*parts)),
    "slice": (
        slice,
        lambda s, written: [written(s.start), written(s.stop), written(s.step)],
        lambda ends: slice(*_decoded(ends)),
    ),
    "everything": (Everything, lambda dims, _: list(dims), Everything),
    "ellipsis": (type(...), lambda *_: True, lambda _: ...),
    "hole": (type(HOLE), lambda *_: True, lambda _: HOLE),
    "array": (np.ndarray, lambda a, _: _array(a), _array_of),
    "index": (Index, _index_written, _index_read),
}
"""Parameters that JSON has no form for: their class, and how they are written and read."""

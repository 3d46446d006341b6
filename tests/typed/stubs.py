"""The stubs of modules whose names are bound when they are loaded: ``python -m tests.typed.stubs`` writes them.

Type checkers and editors do not run code; stubs tell them what stands in the table.  A parameter is what the function's
own annotation says.  Where that is ``Any``, which is something that flows through ops, it is what torch's ways to call
the function say (``tape/signatures.txt``), and a result that flows is a tensor.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_overloads

import symgrad as sg
from symgrad.op import FRONTS
from symgrad.op.operators import ARITHMETIC, COMPARISONS
from symgrad.ops.calls.naming import WORDS
from symgrad.ops.calls.results import FIELDS
from symgrad.tape.signatures import Parameter as Torchs, ways
from symgrad.tensor.operators import BITS

PACKAGE = Path(sg.__file__).parent
_ATTRIBUTES = {
    "dtype": "dtype", "grad_dtype": "dtype", "device": "device", "layout": "layout", "grad": "Tensor | Any",
} | dict.fromkeys("item tolist expr term evalf verify valid_when grad_fn storage untyped_storage register_hook "
                  "register_post_accumulate_grad_hook as_subclass _make_subclass _version".split(), "Any")  # fmt: skip
"""What the tensor's own methods and attributes give whose sources say ``Any`` and that are no tensors.

A gradient is there or None: to those who know, it is a tensor.
"""
MARK = "# Written by ``python -m tests.typed.stubs`` from the functions themselves, which are what to change."
_TENSOR = ("symgrad.tensor.tensor", "Tensor")
_KINDS = {
    "Tensor": "Operand", "Tensors": "Sequence[Operand]", "Number": "Number", "Numbers": "Sequence[Number]",
    "dtype": "DType", "layout": "Layout", "device": "Device", "generator": "Random", "memory_format": "Format",
    "ints": "Ints", "floats": "Sequence[float]",
}  # fmt: skip
"""What torch's words for kinds of arguments are called in ``symgrad/tensor/kinds.py``; others are Python's."""
_SETTINGS = {
    "DType": "dtype", "Random": "generator", "Device": "device", "Format": "memory_format",
    "bool": "size_average reduce",
    "int | Ints": "dim kernel_size stride padding dilation shape sizes repeats axes size split_size_or_sections",
    "Any": "output_size output_ratio scale_factor dims indices_or_sections p ord args kwargs options named callable "
    "data",
}  # fmt: skip
"""What parameters without a way of torch's take by their names, where that does not flow."""
_BY_NAME = {name: kind for kind, names in _SETTINGS.items() for name in names.split()}
_FOR_ALL = {"Any": "typing", "Sequence": "collections.abc", "overload": "typing"}
OPERATORS = {f"__{prefix}{name}__" for name in (*ARITHMETIC, *COMPARISONS, *BITS) for prefix in ("", "r", "i")} | {
    "__neg__", "__abs__", "__invert__", "__pos__", "__getitem__",
}  # fmt: skip
_OURS = "Array Operand Number Ints DType Device Layout Format Random Index".split()


@functools.cache
def origins(module: str) -> Mapping[str, tuple[str, str]]:
    """Where the names of a module come from that its annotations use, also those it imports for these alone."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    found = {node.name: (module, node.name) for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.update({a.asname or a.name: (node.module, a.name) for a in node.names})
        elif isinstance(node, ast.Import):
            found.update(
                {a.asname or a.name: ("", f"{a.name} as {a.asname}" if a.asname else a.name) for a in node.names}
            )
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update({t.id: (module, t.id) for t in targets if isinstance(t, ast.Name)})
    return found


class Stub:
    """One stub: the names it tells of, and its text."""

    def __init__(self, module: str, names: Iterable[str]):
        self.module = module
        self.names = frozenset(names)
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []

    # ------------------------------------------------------------------------------------------ names

    def use(self, text: str, module: str) -> str:
        """An annotation of a module's, with the imports it needs; Python's names are told from those of the stub."""

        def named(match: re.Match[str]) -> str:
            name = match[0]
            if name in _FOR_ALL:
                place = (_FOR_ALL[name], name)
            elif name == "return_types":
                place = ("symgrad", name)
            elif name in _OURS:
                place = ("symgrad.tensor.kinds", name)
            elif name == "Tensor":
                place = _TENSOR
            elif name in origins(module):
                place = origins(module)[name]
            elif hasattr(builtins, name):
                if name not in self.names:
                    return name
                place = ("builtins", name)
            else:
                raise LookupError(f"{name} in an annotation of {module}: {text}")
            if place[0] == self.module or (place == _TENSOR and name in self.names):
                return name
            own = name
            if name in self.names and place not in (_TENSOR, ("symgrad", "return_types")):
                own = f"_{name}"
                place = (place[0], f"{place[1]} as {own}")
            elif place[0] and place[1] != name:
                place = (place[0], f"{place[1]} as {name}")
            self.imports.setdefault(place[0], set()).add(place[1])
            return own

        bare = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?![\w'\"])")
        return bare.sub(named, text)

    # ------------------------------------------------------------------------------------------ functions

    def function(self, name: str, function: Any, place: str, words: Mapping[str, str], indent: str = "") -> None:
        """The declaration of a function, or of a method where there is an indent."""
        inner = inspect.unwrap(function)
        given: list[Any] = get_overloads(inner) or [inspect.signature(function)]
        if alike := by_ways(place):
            given, words = alike, {}
        takes_out = "out" in inspect.signature(function, follow_wrapped=False).parameters
        first = summary(function)
        if name.startswith("__") or "in place: the tensor is changed" in first:  # which the name says
            first = ""
        made = []
        bound = bool(indent) and not isinstance(inspect.getattr_static(sg.Tensor, name), staticmethod)
        for way in given:
            signature = way if isinstance(way, inspect.Signature) else inspect.signature(way)
            rows = list(self.rows(signature, place, words, inner.__module__, bound))
            several = returned(place, signature).startswith(("tuple", "return_types"))
            if takes_out and "out" not in signature.parameters and (several or returned(place, signature) == "Tensor"):
                out = self.use("Sequence[Tensor] | None" if several else "Tensor | None", "symgrad")
                starred = [r for r in rows if r.startswith("**")]
                rows = [r for r in rows if not r.startswith("**")]
                rows += ["*"] * (not any(r.startswith("*") for r in rows)) + [f"out: {out} = None", *starred]
            result = self.use(returned(place, signature), inner.__module__)
            ways_on = with_axis(rows) if getattr(function, "takes_axis", False) else [rows]
            made += [f"{indent}def {name}({', '.join(way_on)}) -> {result}:" for way_on in ways_on]
        note = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
        for k, head in enumerate(made):
            if len(made) > 1:
                self.lines.append(f"{indent}@{self.use('overload', 'typing')}")
            told = first and k == len(made) - 1
            self.lines += [f"{head}{note}", f"{indent}    {first}"] if told else [f"{head} ...{note}"]

    def rows(
        self, signature: inspect.Signature, place: str, words: Mapping[str, str], module: str, method: bool
    ) -> Iterator[str]:
        """The parameters of a function, as text."""
        known: dict[str, list[Torchs]] = {}
        for way in ways(place) or ():
            for p in way.parameters:
                known.setdefault(p.name, []).append(p)
        parameters = list(signature.parameters.values())[int(method) :]
        taken = {p.name for p in parameters}
        renamed = {
            own: torchs
            for torchs, own in words.items()
            if torchs in known and torchs not in taken and not re.match(r"input\d|self", torchs)
        }
        for torchs, own in words.items():
            known.setdefault(own, []).extend(known.get(torchs, ()))
        named = False
        if method:
            yield "self"
        sizes = [n for n, ps in known.items() if ps and ps[0].kind == "ints" and n not in signature.parameters]
        for p in parameters:
            if p.name.startswith("_") and p.kind is not p.VAR_KEYWORD:
                continue
            torchs = known.get(p.name, ())
            if p.kind is p.VAR_POSITIONAL:
                torchs = [t for ts in known.values() for t in ts if not t.keyword and t.name not in taken - {p.name}]
            python = place.startswith("Tensor.__") and place.removeprefix("Tensor.") not in OPERATORS
            kind = self.use("Any" if python and p.annotation == "Any" else kind_of(p, torchs), module)
            name = renamed.get(p.name, p.name)
            if p.kind is p.VAR_POSITIONAL:
                own = next((n for n, ps in known.items() if n == p.name and ps and ps[0].kind == "ints"), None)
                yield f"*{'sizes' if own else name}: {kind}"
                named = True
                for word in dict.fromkeys([own, *sizes] if own else sizes):
                    yield f"{word}: {self.use('Ints', 'symgrad')} = ..."
                continue
            if p.kind is p.VAR_KEYWORD:
                yield f"**{name}: {kind}"
                continue
            if p.kind is p.KEYWORD_ONLY and not named:
                yield "*"
                named = True
            yield f"{name}: {kind}" + ("" if p.default is p.empty else f" = {default(p.default)}")


def with_axis(rows: list[str]) -> list[list[str]]:
    """The parameters of a function that takes NumPy's names, too: ``axis=`` in the place of ``dim``, and so on.

    Where there must be one of the two, these are two ways to call it.
    """
    kinds = {name: rest.partition(" = ")[0] for name, _, rest in (row.partition(": ") for row in rows)}
    if "dim" not in kinds:
        return [rows]
    starred = [row for row in rows if row.startswith("**")]
    given = [row for row in rows if not row.startswith("**")]
    required = f"dim: {kinds['dim']}" in given
    more = [f"axis: {kinds['dim']}" + " = ..." * (not required)]
    if "keepdim" in kinds:
        more.append(f"keepdims: {kinds['keepdim']} = ...")
    if required:
        dim = given.index(f"dim: {kinds['dim']}")
        before, behind = given[:dim], [row for row in given[dim + 1 :] if row != "*"]
        return [rows, [*before, *["*"] * (not any(row.startswith("*") for row in before)), *more, *behind, *starred]]
    return [[*given, *["*"] * (not any(row.startswith("*") for row in given)), *more, *starred]]


def kind_of(p: inspect.Parameter, torchs: Iterable[Torchs]) -> str:
    """What a parameter takes."""
    declared = (
        p.annotation if isinstance(p.annotation, str) else "Any" if p.annotation is p.empty else str(p.annotation)
    )
    if declared != "Any" and not (declared == "Sequence[Any]" and torchs):
        return declared
    if p.name == "out":
        return "Tensor | None"
    several = p.kind is p.VAR_POSITIONAL
    kinds = [
        "int | " * (t.single or several) * (t.kind == "ints") + _KINDS.get(t.kind, t.kind) + " | None" * t.none
        for t in torchs
    ]
    kinds = kinds or [_BY_NAME.get(p.name, "Operand | Sequence[Operand]" if several else "Operand")]
    parts = dict.fromkeys(part for kind in kinds for part in kind.split(" | "))
    if "Operand" in parts:
        parts = {part: None for part in parts if part not in ("Number", "int", "float", "bool")}
    if p.default is None:
        parts["None"] = None
    if "Any" in parts:
        return "Any"
    return " | ".join(sorted(parts, key=lambda part: part == "None"))


def by_ways(place: str) -> list[inspect.Signature]:
    """The ways to call a function whose results have several parts in some of them, and one in others."""
    name = place.removeprefix("Tensor.")
    found = [way for way in ways(name) or () if not way.hidden]
    several = [any(p.name == "out" and p.kind == "Tensors" for p in way.parameters) for way in found]
    if name not in FIELDS or all(several):
        return []
    made = []
    for way, parts in zip(found, several, strict=True):
        rows = [_row(p) for p in way.parameters if p.name != "out"]
        made.append(inspect.Signature(rows, return_annotation="Named" if parts else "Any"))
    return made


def _row(p: Torchs) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY if p.keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
    value = inspect.Parameter.empty if p.default is None else ast.literal_eval(p.default)
    return inspect.Parameter(
        p.name, kind, default=value, annotation=_KINDS.get(p.kind, p.kind) + " | None" * (value is None)
    )


def default(value: Any) -> str:
    simple = value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and abs(value) < 1e300)
    return repr(value) if simple or (isinstance(value, tuple) and all(map(str.isdigit, map(str, value)))) else "..."


def returned(place: str, signature: inspect.Signature) -> str:
    """What a function gives: tensors where its annotation says no more than that it flows."""
    declared = signature.return_annotation
    owner, _, name = place.rpartition(".")
    if owner == "Tensor" and declared == "Any" and (name in _ATTRIBUTES or name.startswith("__")):
        return _ATTRIBUTES.get(name, "Any" if name not in OPERATORS else "Tensor")
    if name == "__init__":
        return "None"
    if declared in (signature.empty, None, "Any"):
        return "Tensor"
    if "Named" in declared:
        name = place.removeprefix("Tensor.")
        return declared.replace("Named", f"return_types.{FIELDS[name] and name}")
    return re.sub(r"(?<=[\[ ])Any(?=[],|])", "Tensor", declared) if declared.startswith("tuple") else declared


def summary(function: Any) -> str:
    """The first line of a docstring, as a literal."""
    text = str.__str__(function.__doc__ or "")
    first = text.strip().partition("\n")[0]
    return f'"""{first}"""' if first and not re.search(r'"$|\\', first) else f"r'''{first}'''" if first else ""


# ---------------------------------------------------------------------------------------------- the stubs


def namespace(module: str) -> str:
    """The stub of a module with functions of the table beside its own, which are imported from where they stand."""
    found = importlib.import_module(module)
    space = module.removeprefix("symgrad").removeprefix(".")
    names = sorted({*public(found), *(name for name, home in sg._LAZY.items() if home == module)})
    stub = Stub(module, names)
    for name in names:
        value = getattr(found, name)
        if name == "__version__":
            stub.lines.append("__version__: str")
        elif isinstance(value, ModuleType) and name not in sg._LAZY:
            stub.lines.append(f"from {value.__name__.rpartition('.')[0]} import {name} as {name}")
        elif (home := home_of(name, value, module)) is not None:
            stub.lines.append(
                f"from {home[0]} import {home[1]}" + (f" as {name}" if home[1] == name else f"\n{name} = {home[1]}")
            )
        elif isinstance(value, FunctionType):
            place = f"{space}_{name}" if space else name
            words = WORDS.get(f"{space}.{name}") or (FRONTS[name].words if name in FRONTS and not space else {})
            stub.function(name, value, place, words)
        else:
            stub.lines.append(f"{name}: {stub.use(type_of(value), 'symgrad')}")
    return text_of(stub, found.__doc__ or "")


def public(module: ModuleType) -> list[str]:
    names = module.__dir__() if module is sg else module.__all__
    hidden = {"Any", "FUNCTIONS", "annotations", "importlib", "sys"}
    lazy = {"autograd", *sg._MODULES, *sg._LAZY}
    kept = [n for n in names if not n.startswith("_") or n == "__version__"]
    if module is not sg:
        return kept
    return ["errors"] + [
        n for n in kept if n not in hidden and (n in lazy or not isinstance(vars(sg).get(n), ModuleType))
    ]


def home_of(name: str, value: Any, module: str) -> tuple[str, str] | None:
    """The module whose source says what a value is, and its name there; None of what only stands in the table."""
    if module != "symgrad":
        return None
    if name in sg._LAZY:
        return sg._LAZY[name], name
    if name in ("Tensor", "Size"):
        return value.__module__, value.__name__
    home, own = origins("symgrad").get(name, ("", ""))
    if home.startswith("symgrad."):
        return home, own
    homes = [str(room.__name__) for room in (*sg._ROOMS, sg.autograd) if name in room.__all__]
    return (homes[0], name) if homes else None


def type_of(value: Any) -> str:
    return "type[Tensor]" if isinstance(value, type) else type(value).__name__ if value is not None else "None"


def text_of(stub: Stub, doc: str) -> str:
    plain = sorted(f"import {name}" for name in stub.imports.pop("", ()))
    heads = plain + [
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(stub.imports.items())
    ]
    return "\n".join([f'"""{doc.strip().splitlines()[0]}"""', "", MARK, "", *heads, "", *stub.lines]) + "\n"


def tensor() -> str:
    """The stub of the tensor class: its own methods and those of the table."""
    cls: Any = sg.Tensor
    names = [n for n in dir(cls) if not n.startswith("_")]
    own = [n for kind in cls.__mro__[:-1] for n in vars(kind) if n.startswith("__") and callable(getattr(cls, n))]
    skipped = {
        "__new__",
        "__reduce_ex__",
        "__init_subclass__",
        "__class__",
        "__getstate__",
        "__setstate__",
        "__weakref__",
    }
    names += sorted({*own, "_version", "_base", "_is_view", "_make_subclass"} - skipped)
    stub = Stub("symgrad.tensor.tensor", names)
    told = summary(cls)
    stub.imports["symgrad.tape.record"] = {"Recorded"}
    stub.lines += ["class Tensor(Recorded):", f"    {told}", ""]
    for name in names:
        value = inspect.getattr_static(cls, name)
        if isinstance(value, property):
            attribute(stub, name, value)
        elif name == "__hash__":
            stub.lines.append(f"    def __hash__(self) -> {stub.use('int', 'symgrad')}: ...")
        elif isinstance(value, (FunctionType, staticmethod)):
            stub.lines += ["    @staticmethod"] * isinstance(value, staticmethod)
            words = FRONTS[name].words if name in FRONTS else {}
            stub.function(name, getattr(cls, name), f"Tensor.{name}", words, "    ")
    return text_of(stub, sys.modules["symgrad.tensor.tensor"].__doc__ or "")


def attribute(stub: Stub, name: str, value: property) -> None:
    getter: Any = value.fget
    module = inspect.unwrap(getter).__module__
    declared = inspect.signature(getter).return_annotation
    plain = _ATTRIBUTES.get(name, "Any" if name.startswith("_") else "Tensor")
    kind = stub.use(plain if declared == "Any" else declared, "symgrad" if declared == "Any" else module)
    stub.lines += ["    @property", f"    def {name}(self) -> {kind}:", f"        {summary(getter) or '...'}"]
    if value.fset is not None:
        taken = list(inspect.signature(value.fset).parameters.values())[1].annotation
        stub.lines += [f"    @{name}.setter", f"    def {name}(self, value: {stub.use(taken, module)}) -> None: ..."]


def return_types() -> str:
    """The stub of the classes of results with named parts."""
    lines = ["from symgrad.tensor.tensor import Tensor"]
    for fields in dict.fromkeys(FIELDS.values()):
        base = f"_{'_'.join(fields)}"
        lines += ["", f"class {base}(tuple[{', '.join(['Tensor'] * len(fields))}]):"]
        for field in fields:
            lines += ["    @property", f"    def {field}(self) -> Tensor: ..."]
        lines += ["", *(f"class {kind}({base}): ..." for kind, parts in FIELDS.items() if parts == fields)]
    return "\n".join([f'"""{(sg.return_types.__doc__ or "").splitlines()[0]}"""', "", MARK, "", *lines]) + "\n"


SPACES = ("symgrad", "symgrad.fft", "symgrad.linalg", "symgrad.masked", "symgrad.nn.functional", "symgrad.special")


def texts() -> dict[Path, str]:
    """The stubs by where they stand."""
    found = {place(module): namespace(module) for module in SPACES}
    return found | {place("symgrad.tensor.tensor"): tensor(), place("symgrad.return_types"): return_types()}


def place(module: str) -> Path:
    return Path(str(importlib.import_module(module).__file__)).with_suffix(".pyi")


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")

"""Saving a program as one file that needs nothing but NumPy: formula, function, and a self-test with stored values."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compiler.program import ROUNDING, build, shape_words
from symgrad.compiler.targets.literals import number_text
from symgrad.compiler.trace import OF_SIZES
from symgrad.dtypes import finfo, is_floating, is_real_floating
from symgrad.errors import ArgumentError, CompileError, SymgradError
from symgrad.formula.term import NUMBER, SIZE, images, postorder
from symgrad.ops.shapes.sizes import LETTER, letters_of, size_value
from symgrad.tape.formulas.sizes import IN_PYTHON

_SMALL = 64
"""Arrays up to this many entries are written as numbers, larger ones as base64 of their bytes."""

_READ = 100
"""Operations up to which a file tells its formula: more of them take seconds to bring to a form that nobody reads."""
_REPEATED = 150
"""And with those of every result for itself, as formulas of several results have no parts in common."""

_CHECKED = '''def _checked(**arrays):
    """The arguments as arrays of the dtypes above; an error where one does not fit, or two do not fit each other."""
    sizes = {{}}
    for name, value in arrays.items():
        shape, dtype = _LAYOUT[name]
        array = np.asarray(value)
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(f"{name}(): {{name}} has dtype {{array.dtype}}, which does not go into {{dtype}}")
        wanted = f"{{name}} must have shape ({{', '.join(map(str, shape))}}{{',' * (len(shape) == 1)}})"
        if shape != (...,) and array.ndim != len(shape):
            raise ValueError(f"{name}(): {{name}} has shape {{array.shape}} with {{array.ndim}} axes, but {{wanted}}")
        for axis, (size, letter) in enumerate(zip(array.shape, shape)):
            known, where = sizes.setdefault(letter, (size, name)) if isinstance(letter, str) else (letter, "")
            if size != known and letter is not ...:
                found = f", and {{letter}} is {{known}} in {{where}}" if where else ""
                if value is globals().get(name):
                    found += "; its default is as long as it was when this was written: give another one"
                raise ValueError(f"{name}(): {{name}} has size {{size}} in axis {{axis}}, but {{wanted}}{{found}}")
        arrays[name] = array.astype(dtype, copy=False)[()]
{made}    return arrays.values()


'''

_SAME_WAY = '''def _same_way({names}):
    """An error where the function that this program was traced from would go another way."""
    found = {looked}({names})
    for value, seen, how in zip(found if isinstance(found, tuple) else (found,), _SEEN, _LOOKED):
        rounding = {rounding} * np.finfo(seen.dtype).eps if seen.dtype.kind in "fc" else 0.0
        if np.shape(value) != seen.shape or not np.allclose(value, seen, rounding, 0.0, equal_nan=True):
            raise ValueError(f"{name}() holds where {{how}}; for these arguments it is {{value}}")


'''

_SELFTEST = '''
def _selftest():
    """Compare with stored values and, for derivatives, with central differences; 0 when all agree."""
    failures = 0
    with np.errstate(all="ignore"):
        found = _PROGRAM(*_ARGUMENTS)
    found = found if isinstance(found, tuple) else (found,)
    for k, (value, stored) in enumerate(zip(found, _RESULTS)):
        same_kind = np.shape(value) == stored.shape and np.asarray(value).dtype == stored.dtype
        close = same_kind and np.allclose(value, stored, rtol=_RTOL, atol=_RTOL, equal_nan=True)
        verdict = "as stored" if close else "DIFFERS from the stored value"
        print(f"{name}: result {{k}} of shape {{np.shape(value)}}: {{verdict}}")
        failures += not close
'''

_DIFFERENCES = """    for k, (position, column) in enumerate(_DERIVATIVES):
        step = 6e-6 if _ARGUMENTS[position].dtype == np.float64 else 1e-2
        rng = np.random.default_rng(k)
        direction = rng.standard_normal(_ARGUMENTS[position].shape).astype(_ARGUMENTS[position].dtype)
        turned = np.swapaxes(_ARGUMENTS[position], -1, -2) if direction.ndim > 1 else None
        if turned is not None and np.array_equal(_ARGUMENTS[position], turned):
            direction = direction + np.swapaxes(direction, -1, -2)  # symmetric matrices stay symmetric
        ends = []
        for sign in (1, -1):
            moved = list(_ARGUMENTS)
            moved[position] = moved[position] + moved[position].dtype.type(sign * step) * direction
            with np.errstate(all="ignore"):
                out = {base}(*moved)
            ends.append(np.asarray(out[_BASES[k]] if isinstance(out, tuple) else out, np.float64))
        numeric = (ends[0] - ends[1]) / (2 * step)
        exact = np.tensordot(np.asarray(found[column], np.float64), np.asarray(direction, np.float64), direction.ndim)
        scale = max(1.0, float(np.max(np.abs(exact), initial=0)))
        close = np.allclose(exact, numeric, rtol=_LOOSE, atol=_LOOSE * scale, equal_nan=True)
        print(f"{name}: result {{column}}: {{'agrees with' if close else 'DIFFERS from'}} central differences")
        failures += not close
"""

_END = """    print("self-test passed" if not failures else f"self-test FAILED: {{failures}} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    import sys

    if sys.argv[1:] == ["--selftest"]:
        sys.exit(_selftest())
    print(__doc__)
    sys.exit(2 if sys.argv[1:] not in ([], ["-h"], ["--help"]) else 0)
"""


SUFFIXES = {".py": "Python", ".c": "C", ".m": "Octave", ".json": "data"}
"""What the ends of paths say that is written."""
_BY_SUFFIX = {".c": ("c", "c99"), ".m": ("octave", "matlab", "m"), ".json": ("json", "data")}
"""Names of targets that nobody needs to state."""


def save(program: Any, path: Any, target: str | None = None) -> None:
    """Write ``program`` to ``path``, in what its end says; a path without an end gets Python."""
    path = Path(path)
    if path.suffix not in ("", *SUFFIXES):
        *most, last = SUFFIXES
        raise ArgumentError(
            f"save(): a file ends in {', '.join(most)} or {last}, which says what is written; got {path.name}."
        )
    if target is not None and path.suffix not in ("", ".py"):
        if target.lower() in _BY_SUFFIX[path.suffix]:
            raise ArgumentError(f"save(): a path that ends in {path.suffix} says so itself; leave target= out.")
        raise ArgumentError(
            f"save(): target={target!r} is a kind of Python, and {path.name} ends in {path.suffix}; take a path that "
            "ends in .py."
        )
    _check_writable(path)
    _write(path, _text_for(program, path, target))


def _text_for(program: Any, path: Path, target: str | None) -> str:
    if target == "numba":
        from symgrad.compiler.exports.for_numba import text_of as jitted

        return jitted(program)
    if target not in (None, "numpy"):
        from symgrad.compiler.exports.frameworks import text_of as translated

        return translated(program, str(target))
    if path.suffix == ".c":
        from symgrad.compiler.exports.c import text_of as written

        return written(program)
    if path.suffix == ".m":
        from symgrad.compiler.exports.octave import text_of as on_arrays

        return on_arrays(program, path.stem)
    if path.suffix == ".json":
        from symgrad.compiler.exports.stored import text_of as stored

        return stored(program)
    return text_of(program)


def _check_writable(path: Path) -> None:
    """Raise ``ArgumentError`` for a path where no file can be, before a program is written for it."""
    if os.path.isdir(path):  # which is no error where a path is none
        raise ArgumentError(f"save(): {path} is a folder; give the path of a file in it, as in {path / 'gradient.py'}.")
    if not os.path.isdir(path.parent):
        what = "is a file" if os.path.exists(path.parent) else "does not exist"
        raise ArgumentError(f"save(): the folder {path.parent} {what}, so {path.name} cannot be written there.")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"save(): {path} cannot be written: {error.strerror or error}.") from error


def text_of(program: Any) -> str:
    """The whole file, with a self-test that passes."""
    base = _base(program)
    pairs = [] if base is None else _derivatives(program)
    found = list(samples(program, base))
    if not found:
        raise CompileError(f"{program.name} fails on every sample, so it cannot be given a self-test.")
    for sample in found:
        text = _text(program, base, pairs, sample)
        if not pairs or _passes(text):
            return text
    # No derivative but by design: a detached part, a kink at the sample, too few digits.
    kept = [p for p in pairs if _passes(_text(program, base, [p], found[0]))]
    return _text(program, base, kept, found[0])


def _passes(text: str) -> bool:
    """Whether the self-test of a file passes."""
    scope: dict[str, Any] = {"__name__": "symgrad_export"}
    exec(compile(text, "<export>", "exec"), scope)  # noqa: S102  (text that was written here)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return not scope["_selftest"]()


def _text(program: Any, base: Any, pairs: Sequence[tuple[int, int, int]], sample: tuple[Any, ...]) -> str:
    arguments, results, loose = sample
    base = base if pairs else None
    guards = of_values(program)
    parts = [program, *([base] if base is not None else []), *([guards.program] if guards is not None else [])]
    body = "\n\n".join([_guarded(program), *(p.source for p in parts[1:])])
    body = _without_repeats(body.replace("from __future__ import annotations\n\n", ""))
    defaults = {a.name: a.default for p in parts for a in p.arguments if a.default is not None}
    lines = [f"{name} = {array_text(value)}\n" for name, value in defaults.items()]
    made = _made(program) + of_sizes(program)
    lines.append(f"\n{body}\n\n{_layout(program)}{_CHECKED.format(name=program.name, made=made)}")
    if guards is not None:
        seen = "".join(f"    {array_text(value)},\n" for value in guards.seen)
        lines.append(f"_SEEN = [\n{seen}]\n_LOOKED = {_looks(guards)!r}\n\n\n")
        inside = ", ".join(a.name for a in guards.program.arguments)
        lines.append(_SAME_WAY.format(name=program.name, looked=guards.program.name, names=inside, rounding=ROUNDING))
    lines.append(f"_PROGRAM = {program.name}\n")  # whose name may be that of a variable below
    lines.append(f"_ARGUMENTS = [\n{''.join(f'    {array_text(a)},{chr(10)}' for a in arguments)}]\n")
    lines.append(f"_RESULTS = [\n{''.join(f'    {array_text(np.asarray(r))},{chr(10)}' for r in results)}]\n")
    lines.append(f"_RTOL = {loose[0]}\n")
    test = _SELFTEST.format(name=program.name)
    if base is not None:
        lines.append(
            f"_LOOSE = {loose[1]}\n_DERIVATIVES = {[p[:2] for p in pairs]}\n_BASES = {[p[2] for p in pairs]}\n\n"
        )
        test += _DIFFERENCES.format(name=program.name, base=base.name)
    else:
        lines.append("\n")
    code = "".join(lines)
    return f"{docstring(program, 'NumPy source', 'python -I')}\n\n{_imports(code)}{code}{test}{_END.format()}"


def _guarded(program: Any) -> str:
    """The source of the function, which looks at its arguments before it computes."""
    head, found, rest = program.source.partition(f"def {program.name}(")
    signature, doc, body = rest.split("\n", 2)
    names = [a.name for a in program.arguments]
    row = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
    checks = f"    {row} = _checked({', '.join(f'{n}={n}' for n in names)})\n"
    if of_values(program) is not None:
        checks += f"    _same_way({', '.join(a.name for a in program.guards.program.arguments)})\n"
    return f"{head}{found}{signature}\n{doc}\n{checks if names else ''}{body}"


def of_values(program: Any) -> Any:
    """What a program looked at, if that was more than sizes."""
    return None if program.guards is None or set(program.guards.how) == {OF_SIZES} else program.guards


def _looks(guards: Any) -> list[str]:
    return [guards.words(k) for k in range(len(guards.how))]


def _layout(program: Any) -> str:
    """The table of arguments that a file checks its arguments by."""
    rows = [f"    {a.name!r}: ({_shape_source(a.shape)}, {a.dtype.name!r}),\n" for a in program.arguments]
    return (
        f"# shape and dtype of every argument; a letter is one size everywhere\n_LAYOUT = {{\n{''.join(rows)}}}\n\n\n"
    )


def _made(program: Any) -> str:
    """The lines that compare sizes made of others, such as ``n+m``, with what they are made of."""
    letters = {s for a in program.arguments for s in a.shape if isinstance(s, str) and s.isidentifier()}
    lines = []
    for a in program.arguments:
        for axis, size in enumerate(a.shape):
            if not isinstance(size, str) or size.isidentifier() or not letters_of(size) <= letters:
                continue
            lines.append(
                f'    if arrays["{a.name}"].shape[{axis}] != {_known(size)}:\n'
                f'        raise ValueError("{program.name}(): {a.name} must have size {size} in axis {axis}")\n'
            )
    return "".join(lines)


def _known(size: str) -> str:
    """A size in a file that has found what the letters are."""
    text = LETTER.sub(lambda m: f'sizes["{m[0]}"][0]' if m[0] in letters_of(size) else m[0], size)
    return text if size.isidentifier() else f"({text})"


def of_sizes(program: Any) -> str:
    """The lines that refuse sizes for which the function would go another way."""
    guards = program.guards
    lines = []
    for k, term in enumerate(guards.program.terms if guards is not None else ()):
        if guards.how[k] != OF_SIZES:
            continue
        texts: dict[Any, str] = {}
        for t in postorder([term]):
            if t.op is SIZE:
                texts[t] = _known(t.params["name"])
            else:
                texts[t] = repr(t.number) if t.op is NUMBER else IN_PYTHON[t.op.name].format(*map(texts.get, t.args))
        letters = sorted(set().union(*(letters_of(t.params["name"]) for t in texts if t.op is SIZE)))
        here = ", ".join(f"{s} = {{sizes['{s}'][0]}}" for s in letters)
        words = guards.words(k).replace("{", "{{").replace("}", "}}")
        error = f'ValueError(f"{program.name}() holds where {words}; here {here}")'
        lines.append(f"    if not {texts[term]}:\n        raise {error}\n")
    return "".join(lines)


def _shape_source(shape: Sequence[Any]) -> str:
    return "(...,)" if shape == (...,) else repr(tuple(shape))


def _imports(code: str) -> str:
    """The import lines that the code needs."""
    lines = ["from __future__ import annotations\n\n"]
    lines += [f"import {module}\n" for module in ("base64", "math") if f"{module}." in code]
    if "Any" in code:
        lines.append("from typing import Any\n")
    if len(lines) > 1:
        lines.append("\n")
    if "bfloat16" in code:
        lines.append("import ml_dtypes  # gives NumPy the dtype bfloat16\n")
    return "".join(lines) + "import numpy as np\n\n"


def _without_repeats(body: str) -> str:
    """Helper functions that the program and its base share are written once."""
    blocks: list[str] = []
    for block in body.split("\n\n\n"):
        if block.strip("\n") not in blocks:
            blocks.append(block.strip("\n"))
    return "\n\n\n".join(blocks) + "\n"


def docstring(program: Any, kind: str, python: str = "python") -> str:
    """The text on top of a file: what it is, what it computes, and how it is tested."""
    lines = [f"{program.name}: {kind} written by symgrad.", "", *described(program)]
    lines += ["", f"`{python} <this file> --selftest` compares it with stored values.", ""]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}"""'


def described(program: Any) -> list[str]:
    """What goes in, what comes out, and the formula, line by line."""
    lines = ["Arguments"]
    for a in program.arguments:
        kept = "" if a.default is None else ", default: the constant of the graph"
        lines.append(f"    {a}{kept}")
    derivatives = any(what for what, _ in _results(program))
    lines.append(
        "Results (gradients have the shape of their variable; Jacobians have axes outputs…, inputs…)"
        if derivatives
        else "Results"
    )
    lines += [f"    {what}{shape_words(shape)} {dtype}" for what, (shape, dtype) in _results(program)]
    if program.guards is not None:
        lines.append(f"Holds where {'; '.join(_looks(program.guards))}")
    formula = _formula(program)
    if formula:
        lines += ["Formula (LaTeX)", *(f"    {line}" for line in formula.splitlines())]
    return lines


def _results(program: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """What every result is, with its shape and dtype."""
    outputs = [None] * len(program.results) if program.trace is None else program.trace.outputs
    for out, result in zip(outputs, program.results, strict=True):
        derivative = None if out is None else out.derivative
        yield "" if derivative is None else f"by {program.trace.inputs[derivative[0]].name}: ", result


def _formula(program: Any) -> str:
    """The formula in LaTeX, or why it is not there; nothing where it is past the depth that can be printed."""
    count, each = _operations(program.terms), [_operations([term]) for term in program.terms]
    if count > _READ:
        return f"% not printed: it has {count:,} operations"
    if sum(each) > _REPEATED:
        return f"% not printed: its {len(each)} results have {sum(each):,} operations"
    try:
        return str(program.formula)
    except (SymgradError, ImportError):
        return ""


def _operations(terms: Sequence[Any]) -> int:
    return sum(bool(t.args) for t in postorder(terms))


def array_text(value: Any) -> str:
    """Source that gives an array back to the last bit.

    >>> array_text(np.array([0.1, 2.0]))
    "np.array([0.1, 2.0], dtype='float64')"
    """
    array = np.asarray(value)
    if array.size > _SMALL:
        data = base64.b64encode(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()).decode()
        return (
            f"np.frombuffer(base64.b64decode({data!r}), {array.dtype.newbyteorder('<').str!r}).reshape({array.shape})"
        )
    if not array.size:
        return f"np.zeros({array.shape}, dtype={array.dtype.name!r})"
    return f"np.array({_nested(array)}, dtype={array.dtype.name!r})"


def _nested(array: Any) -> str:
    if not array.ndim:
        return number_text(array.item())
    return f"[{', '.join(_nested(row) for row in array)}]"


# ---------------------------------------------------------------------------------------------- sample values


def samples(program: Any, base: Any) -> Iterator[tuple[list[Any], list[Any], tuple[float, float]]]:
    """Arguments for the self-test, the results there, and how close to be: finite and steady ones first.

    Steady: the last digits of the arguments do not decide about the results, as they do for singular matrices, so that
    another machine or another language finds the same.  What the program is a derivative of runs there, too: it may
    read entries of which the derivative only has the size.
    """
    late = []
    rows = [_invented(program, 0), _invented(program, 1), _traced(program)]
    if any(term.op.ascends for term in postorder(program.terms)):
        rows.reverse()  # what is invented does not ascend
    for arguments in rows:
        if arguments is None:
            continue
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program.check_branch(arguments)
                found = program.function(*arguments)
                if base is not None:
                    base.function(*arguments)
        except (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError):
            continue
        results = list(found) if isinstance(found, tuple) else [found]
        sample = (arguments, results, _tolerances(arguments, results))
        if all(np.all(np.isfinite(r)) for r in results) and _steady(program, *sample):
            yield sample
        else:
            late.append(sample)
    yield from late


def sample_for(
    program: Any, outputs: Sequence[Any], language: str, ordered: Iterable[tuple[Any, Any]] = ()
) -> tuple[list[Any], list[Any], tuple[float, float]]:
    """The first of the samples at which the formulas that are written give what the program gives.

    ``ordered``: pairs of sizes of which the first is not the smaller one where the file holds.

    ``outputs`` may have definitions in place of ops that the language lacks, and a definition may divide 0 by 0 where
    the kernel knows the limit.  ``CompileError`` where no sample is left.
    """
    constants = {i.name: i.value for i in program.trace.constants}
    given = {i.name: i.term.params["name"] for i in (*program.trace.constants, *program.trace.inputs)}
    for arguments, results, loose in samples(program, None):
        row = [(a, v) for a, v in zip(program.arguments, arguments, strict=True) if a.shape != (...,)]
        values = {given[a.name]: v for a, v in row}
        sizes = dict(program.trace.sizes)
        sizes.update((s, n) for a, v in row for s, n in zip(a.shape, np.shape(v), strict=True) if isinstance(s, str))
        pairs = [(sizes.get(a, a), sizes.get(b, b)) for a, b in ordered]
        if any(isinstance(a, int) and isinstance(b, int) and a < b for a, b in pairs):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = images([o.term for o in outputs], {**constants, **values}, sizes)
        close = (
            np.allclose(found[o.term], result, rtol=loose[0], atol=loose[0], equal_nan=True)
            for o, result in zip(outputs, results, strict=True)
        )
        if all(close):
            return arguments, results, loose
    raise CompileError(
        f"{program.name}() is not written in {language}: written in ops that are there, it does not give what the "
        "program gives at any sample. Save the program as a Python file."
    )


def _steady(program: Any, arguments: Sequence[Any], results: Sequence[Any], loose: tuple[float, float]) -> bool:
    """Whether the results stay what they are where the arguments change in their last digits."""
    near = [a * a.dtype.type(1 + 8 * finfo(a.dtype).eps) if is_floating(a.dtype) else a for a in arguments]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            moved = program.function(*near)
        except (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError):
            return False
    moved = moved if isinstance(moved, tuple) else (moved,)
    return all(np.allclose(a, b, rtol=loose[0], atol=loose[0]) for a, b in zip(results, moved, strict=True))


def _tolerances(arguments: Sequence[Any], results: Sequence[Any]) -> tuple[float, float]:
    found = [np.asarray(a).dtype for a in (*results, *arguments)]
    double = all(finfo(dtype).eps < 1e-15 for dtype in found if is_floating(dtype))
    return (1e-9, 1e-5) if double else (1e-3, 5e-2)


def _invented(program: Any, kind: int) -> list[Any] | None:
    """Values with real parts between 0.2 and 1.8 (kind 0) or positive-definite matrices (kind 1), at small sizes."""
    letters: dict[str, int] = {}
    for a in program.arguments:
        if a.default is not None:
            letters.update((s, n) for s, n in zip(a.shape, a.default.shape, strict=True) if isinstance(s, str))
    row = []
    for k, a in enumerate(program.arguments):
        if a.default is not None:
            row.append(a.default)
            continue
        if a.shape == (...,):
            row.append(np.zeros((), a.dtype)[()])
            continue
        for s in a.shape:
            for letter in sorted(letters_of(s)) if isinstance(s, str) else ():
                letters.setdefault(letter, 3 + len(letters))
        shape = tuple(letters.get(s) or size_value(s, letters) for s in a.shape)
        count = int(np.prod(shape, dtype=int))
        if count > 4096:
            return None
        values = 1 + 0.8 * np.sin(1.7 * np.arange(count) + k)
        if a.dtype.kind == "c":
            values = values + 0.6j * np.cos(1.3 * np.arange(count) + k)
        matrix = values.reshape(shape)
        if kind == 1 and len(shape) >= 2 and shape[-1] == shape[-2]:
            matrix = matrix @ np.swapaxes(matrix.conj(), -1, -2) + shape[-1] * np.eye(shape[-1])
        row.append((matrix > 1 if a.dtype.kind == "b" else matrix).astype(a.dtype)[()])
    return row


def _traced(program: Any) -> list[Any] | None:
    if program.trace is None or any(i.value is None for i in program.trace.inputs):
        return None
    return [i.value for i in program.trace.inputs] + [a.default for a in program.arguments if a.default is not None]


# ---------------------------------------------------------------------------------------------- differences


def _base(program: Any) -> Any:
    """The program that this one is a derivative of, if there is one."""
    if program.trace is None or program.trace.base is None:
        return None
    base = build(program.trace.base, f"_{program.trace.base.name}_value", stable=program.stable)
    same = [a.name for a in base.arguments] == [a.name for a in program.arguments]
    return base if same else None


def _derivatives(program: Any) -> list[tuple[int, int, int]]:
    """(argument, result, base result) for the results that are real derivatives of a base result by an argument."""
    trace = program.trace
    if trace is None or trace.base is None:
        return []
    pairs = []
    for column, out in enumerate(trace.outputs):
        if out.derivative is not None:
            position, base = out.derivative
            if is_real_floating(trace.inputs[position].dtype) and is_real_floating(out.dtype):
                pairs.append((position, column, base))
    return pairs

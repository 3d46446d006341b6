"""Saving a program as one file for torch or JAX: the function on that library's arrays, and a self-test.

Before it is written, the file is run: on the sample it stores, on one of other sizes, and where JAX compiles it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from symgrad.compiler.exports.alone import (
    _SMALL,
    _made,
    _nested,
    _shape_source,
    _steady,
    docstring,
    of_sizes,
    of_values,
    samples,
)
from symgrad.compiler.exports.places import index_asked, of_places
from symgrad.compiler.targets.frameworks.for_jax import JAX
from symgrad.compiler.targets.frameworks.for_torch import TORCH
from symgrad.compiler.targets.frameworks.rewriting import Framework, Missing, Rewritten, rewritten
from symgrad.compiler.trace import OF_SIZES
from symgrad.errors import ArgumentError, CompileError, NameProblem
from symgrad.formula.term import postorder
from symgrad.tape.watching.looks import OF_PLACES

FRAMEWORKS = {"torch": TORCH, "jax": JAX}

_TORCH = '''def _checked(**arrays):
    """The arguments as tensors of the dtypes above; an error where one does not fit, or two do not fit each other."""
    sizes = {{}}
    device = next((a.device for n, a in arrays.items() if isinstance(a, torch.Tensor) and n not in _CONSTANTS), None)
    for name, value in arrays.items():
        shape, dtype = _LAYOUT[name]
        if isinstance(value, torch.Tensor):
            array = value.to(device) if name in _CONSTANTS else value
        else:
            array = torch.as_tensor(value, dtype=torch.float64 if isinstance(value, float) else None, device=device)
        if not torch.can_cast(array.dtype, dtype):
            raise TypeError(f"{name}(): {{name}} has dtype {{array.dtype}}, which does not go into {{dtype}}")
{shapes}        arrays[name] = array.to(dtype)
{made}    return arrays.values()


'''

_JAX = '''def _checked(**arrays):
    """The arguments as arrays of the dtypes above; an error where one does not fit, or two do not fit each other."""
{wide}    sizes = {{}}
    for name, value in arrays.items():
        shape, dtype = _LAYOUT[name]
        if isinstance(value, tuple) and value and isinstance(value[0], bytes):
            value = jnp.frombuffer(value[0], dtype).reshape(value[1])
        array = jnp.asarray(value, dtype if name in _CONSTANTS else None)
        if not jnp.issubdtype(dtype, jnp.complexfloating) and jnp.issubdtype(array.dtype, jnp.complexfloating) or (
            not jnp.issubdtype(dtype, jnp.inexact) and jnp.issubdtype(array.dtype, jnp.inexact)
        ) or (dtype == "bool" and array.dtype != bool):
            raise TypeError(f"{name}(): {{name}} has dtype {{array.dtype}}, which does not go into {{dtype}}")
{shapes}        arrays[name] = array.astype(dtype)
{made}    return arrays.values()


'''

_WIDE = """    if not jax.config.jax_enable_x64:
        raise TypeError("{name}() has 64-bit dtypes: jax.config.update('jax_enable_x64', True) comes first")
"""

_SHAPES = """        wanted = f"{{name}} must have shape ({{', '.join(map(str, shape))}}{{',' * (len(shape) == 1)}})"
        found = tuple(array.shape)
        if shape != (...,) and array.ndim != len(shape):
            raise ValueError(f"{name}(): {{name}} has shape {{found}} with {{array.ndim}} axes, but {{wanted}}")
        for axis, (size, letter) in enumerate(zip(found, shape)):
            known, where = sizes.setdefault(letter, (size, name)) if isinstance(letter, str) else (letter, "")
            if size != known and letter is not ...:
                other = f", and {{letter}} is {{known}} in {{where}}" if where else ""
                raise ValueError(f"{name}(): {{name}} has size {{size}} in axis {{axis}}, but {{wanted}}{{other}}")
"""

_SELFTEST = {
    "torch": '''def _selftest():
    """Compare with stored values; 0 when all agree."""
    failures = 0
    found = _PROGRAM(*_ARGUMENTS)
    found = found if isinstance(found, tuple) else (found,)
    for k, (value, stored) in enumerate(zip(found, _RESULTS)):
        close = value.shape == stored.shape and value.dtype == stored.dtype
        if close and (stored.is_floating_point() or stored.is_complex()):
            close = torch.allclose(value, stored, rtol=_RTOL, atol=_RTOL, equal_nan=True)
        elif close:
            close = torch.equal(value, stored)
        verdict = "as stored" if close else "DIFFERS from the stored value"
        print(f"{name}: result {{k}} of shape {{tuple(value.shape)}}: {{verdict}}")
        failures += not close
''',
    "jax": '''def _selftest():
    """Compare with stored values, also where it is compiled by jax.jit; 0 when all agree."""
    failures = 0
    arguments = [jnp.array(value, dtype) for value, dtype in _ARGUMENTS]
    for how, function in (("", _PROGRAM), (" under jax.jit", jax.jit(_PROGRAM))):
        found = function(*arguments)
        found = found if isinstance(found, tuple) else (found,)
        for k, (value, (stored, dtype)) in enumerate(zip(found, _RESULTS)):
            stored = jnp.array(stored, dtype).reshape(value.shape)
            close = value.dtype == stored.dtype and jnp.allclose(value, stored, rtol=_RTOL, atol=_RTOL, equal_nan=True)
            verdict = "as stored" if close else "DIFFERS from the stored value"
            print(f"{name}: result {{k}} of shape {{value.shape}}{{how}}: {{verdict}}")
            failures += not close
''',
}

_END = """    print("self-test passed" if not failures else f"self-test FAILED: {{failures}} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    import sys

    if sys.argv[1:] == ["--selftest"]:
{wide}        sys.exit(_selftest())
    print(__doc__)
    sys.exit(2 if sys.argv[1:] not in ([], ["-h"], ["--help"]) else 0)
"""


def text_of(program: Any, target: str) -> str:
    """The file of a program for ``target``, which must be installed, as the file is run before it is written.

    Raises ``CompileError`` for programs that hold for one way through a function, for calls that the library has no
    form for, which it names with their ops, and for files that do not give what the NumPy program gives.
    """
    framework = FRAMEWORKS.get(target)
    if framework is None:
        raise ArgumentError(
            f"There is no target {target!r}; the targets are {', '.join(map(repr, ('numpy', *FRAMEWORKS, 'numba')))}. "
            "C, Octave and JSON are chosen by the end of the path: .c, .m or .json."
        )
    return run_before(
        program,
        target,
        target,
        lambda: _body(program, framework),
        lambda body, sample: _text(program, framework, body, sample),
        lambda text: run_file(program, target, text, _wide(program, framework), _said),
    )


def run_before(
    program: Any,
    target: str,
    needed: str,
    rewrite: Callable[[], Rewritten],
    written: Callable[[Rewritten, Any], str],
    run: Callable[[str], None],
    most: int | None = None,
) -> str:
    """The file of a program for a library, run on samples (``most`` of them) before it is given.

    ``needed`` is what pip calls the library; ``rewrite`` gives the program in its calls, ``written`` the file with a
    sample of its arguments and results.
    """
    guards = of_values(program)
    if guards is not None and not all(
        how == OF_SIZES or (how == OF_PLACES and not seen.any() and index_asked(term) is not None)
        for how, seen, term in zip(guards.how, guards.seen, guards.program.terms, strict=True)
    ):
        raise CompileError(
            f"{program.name}() holds for one way through a function that looked at values, so it is not written for "
            f"{target}. Use where(condition, a, b) in the function."
        )
    if importlib.util.find_spec(target) is None:
        raise CompileError(
            f"A file for {target} is run before it is written, and {target} is not installed: pip install {needed}."
        )
    try:
        body = rewrite()
    except Missing as missing:
        call = str(missing)
        raise CompileError(
            f"{program.name}() calls {call}{_ops(program, call)}, for which there is no form in {target}. Save it as "
            ".py, which NumPy runs, or write the function without that."
        ) from None
    found = list(samples(program, None))
    if not found:
        raise CompileError(f"{program.name} fails on every sample, so it cannot be given a self-test.")
    others = [sample for sample in found[1:most] if _steady(program, *sample)]
    texts = [written(body, sample) for sample in (found[0], *others)]
    for text in texts:
        run(text)
    return texts[0]


def run_file(
    program: Any, target: str, text: str, around: AbstractContextManager[Any], said: Callable[[Exception], str]
) -> None:
    """Run the self-test of a file; ``CompileError`` where it fails, with what is ``said`` of an error."""
    why = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), around:
            warnings.simplefilter("ignore")
            scope: dict[str, Any] = {"__name__": "symgrad_export"}
            exec(compile(text, "<export>", "exec"), scope)  # noqa: S102  (text that was written here)
            if not scope["_selftest"]():
                return
    except Exception as error:  # noqa: BLE001  (whatever the library raises: the file is not written)
        why = said(error)
    if why is None and not any(_steady(program, *sample) for sample in samples(program, None)):
        raise CompileError(
            f"{program.name}() was not written for {target}: its results change in their first digits where the "
            "arguments change in their last ones, so two libraries, which round differently, agree in none of them and "
            "no file could be tested. Save it as .py, which NumPy runs, or save fewer of its steps."
        )
    ops = sorted({t.op.name for t in postorder(program.terms)} - {"symbol", "number", "size"})
    raise CompileError(
        f"{program.name}() was not written for {target}: the file does not give there what the NumPy program gives "
        f"({why or 'its values differ'}). Its ops are {', '.join(ops)}. Save it as .py, which NumPy runs."
    )


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()[:200]}"


def _body(program: Any, framework: Framework) -> Rewritten:
    """The program in the calls of a library, which has names of its own."""
    _names_apart(program, framework)
    first = next((a.name for a in program.arguments if a.shape != (...,)), None)
    return rewritten(program.source, program.name, framework, first)


def _names_apart(program: Any, framework: Framework) -> None:
    """Raise ``NameProblem`` where the program or an argument has the name of a module that the file imports."""
    modules = {*re.findall(r"(?:import|as) (\w+)$", framework.imports, re.MULTILINE), "base64", "math"}
    for name in (program.name, *(a.name for a in program.arguments)):
        if name in modules:
            raise NameProblem(
                f"{name!r} is a module in a file for {framework.name}; give the program's own another name."
            )


def _ops(program: Any, call: str) -> str:
    """The ops of the program whose text has a call, as words."""
    name = call.removeprefix("np.").removeprefix(".")
    ops = {t.op for t in postorder(program.terms)}
    names = sorted(op.name for op in ops if name in (op.name, getattr(op.kernel, "__name__", None)))
    return f" (of {', '.join(names)})" if names and names != [name] else ""


def _is_wide(program: Any) -> bool:
    """Whether 64-bit dtypes are among what a program takes and gives, which JAX has to be told to have."""
    dtypes = [a.dtype for a in program.arguments] + [dtype for _, dtype in program.results]
    return any(np.dtype(d) in (np.float64, np.int64, np.uint64, np.complex128) for d in dtypes)


def _wide(program: Any, framework: Framework) -> Any:
    if framework is not JAX:
        return contextlib.nullcontext()
    import jax

    return jax.enable_x64(_is_wide(program))


# ---------------------------------------------------------------------------------------------- the parts of a file


def _text(program: Any, framework: Framework, body: Any, sample: tuple[Any, ...]) -> str:
    arguments, results, loose = sample
    name = program.name
    torch = framework is TORCH
    constants = {a.name: a.default for a in program.arguments if a.default is not None}
    stored = _tensor if torch else _numbers
    lines = [f"{key} = {stored(value)}\n" for key, value in constants.items()]
    lines.append(f"_CONSTANTS = {tuple(constants)!r}\n\n\n")
    lines += [f"{text}\n\n" for text in body.helpers.values()]
    lines += [_guarded(program, body.source), "\n\n", _layout(program, torch)]
    shapes = _SHAPES.format(name=name)
    wide = _WIDE.format(name=name) if _is_wide(program) else ""
    made = _made(program) + of_sizes(program) + of_places(program, framework.name)
    lines.append((_TORCH if torch else _JAX).format(name=name, shapes=shapes, made=made, wide=wide))
    for title, values in (("_ARGUMENTS", arguments), ("_RESULTS", results)):
        rows = "".join(f"    {_tensor(v) if torch else _pair(v)},\n" for v in values)
        lines.append(f"{title} = [\n{rows}]\n")
    lines.append(f"_PROGRAM = {name}\n_RTOL = {loose[0]}\n\n\n")
    lines.append(_SELFTEST[framework.name].format(name=name))
    config = '        jax.config.update("jax_enable_x64", True)\n' if wide and not torch else ""
    code = "".join(lines) + _END.format(wide=config)
    return headed(program, f"{framework.name} source", framework, code)


def headed(program: Any, kind: str, framework: Framework, code: str) -> str:
    """A file: its docstring, what it imports, and the code."""
    imports = "".join(f"import {m}\n" for m in ("base64", "math") if f"{m}." in code)
    return f"{docstring(program, kind)}\n\n{imports}{chr(10) if imports else ''}{framework.imports}\n{code}"


def _guarded(program: Any, source: str) -> str:
    """The source of the function, which looks at its arguments before it computes."""
    signature, doc, body = source.split("\n", 2)
    names = [a.name for a in program.arguments]
    row = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
    check = f"    {row} = _checked({', '.join(f'{n}={n}' for n in names)})\n" if names else ""
    return f"{signature}\n{doc}\n{check}{body}"


def _layout(program: Any, torch: bool) -> str:
    rows = []
    for a in program.arguments:
        dtype = f"torch.{a.dtype.name}" if torch else repr(a.dtype.name)
        rows.append(f"    {a.name!r}: ({_shape_source(a.shape)}, {dtype}),\n")
    return (
        f"# shape and dtype of every argument; a letter is one size everywhere\n_LAYOUT = {{\n{''.join(rows)}}}\n\n\n"
    )


def _bytes(array: Any) -> str:
    import base64

    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    return f"base64.b64decode({base64.b64encode(data).decode()!r})"


def _list(array: Any, module: str) -> str:
    return _nested(array).replace("np.", f"{module}.")


def _tensor(value: Any) -> str:
    """Source that gives a tensor back to the last bit."""
    array = np.asarray(value)
    dtype = f"dtype=torch.{array.dtype.name}"
    if not array.size:
        return f"torch.zeros({array.shape}, {dtype})"
    if array.size > _SMALL:
        return f"torch.frombuffer(bytearray({_bytes(array)}), {dtype}).reshape({array.shape})"
    return f"torch.tensor({_list(array, 'math')}, {dtype})"


def _numbers(value: Any) -> str:
    """Numbers of an array, as nested lists or as bytes with a shape: JAX would round arrays at import."""
    array = np.asarray(value)
    if array.size > _SMALL or not array.size:
        return f"({_bytes(array)}, {array.shape})"
    return _list(array, "math")


def _pair(value: Any) -> str:
    array = np.asarray(value)
    numbers = _list(array, "math") if array.size else "[]"
    return f"({numbers}, {array.dtype.name!r})"

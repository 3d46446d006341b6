"""One run of a function on tensors called like its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.compiler.trace import argument_names
from symgrad.compiler.transforms import transform_of
from symgrad.dtypes import is_floating
from symgrad.errors import ArgumentError, FormulaError
from symgrad.formula.derive import gradient, jacobian
from symgrad.formula.printing.names import name_latex
from symgrad.formula.term import Term
from symgrad.interop.array_calls import called as called_with_arrays
from symgrad.op import is_complex
from symgrad.sources.samples import nudged, refuse_samples
from symgrad.tape import containers
from symgrad.tape.formulas.fitting import compared
from symgrad.tape.formulas.reading import Reading
from symgrad.tape.formulas.sizes import comparisons_noted
from symgrad.tape.modes import enable_grad
from symgrad.tape.numbering import sequence
from symgrad.tape.record import Recorded
from symgrad.tape.watching.watch import Watch
from symgrad.tensor.creation import tensor


def called(function: Callable[..., Any]) -> str:
    """What messages call a function."""
    name = getattr(function, "__name__", "")
    return f"{name}()" if name.isidentifier() else "the function"


def name_of(function: Callable[..., Any]) -> str:
    """The LaTeX of a function's name; f where it has none."""
    name = getattr(function, "__name__", "f")
    return head_latex(name) if name.isidentifier() else "f"


def head_latex(name: str) -> str:
    r"""The LaTeX of a function's name: one letter with its indices, or one upright word, of which no part is a letter.

    >>> head_latex("least_squares"), head_latex("f_1"), head_latex("loss"), head_latex("phi")
    ('\\mathrm{least\\_squares}', 'f_{1}', '\\mathrm{loss}', '\\phi')
    >>> head_latex("gamma_nll"), head_latex("rk4")
    ('\\mathrm{gamma\\_nll}', '\\mathrm{rk4}')
    """
    stem, *subs = re.findall(r"[^\W\d_]+|\d+", name) or [name]
    word = r"\mathrm" in name_latex(stem) or any(len(s) > 1 and not s.isdigit() for s in subs)
    if subs and word and name.isascii():
        return rf"\mathrm{{{name.replace('_', chr(92) + '_')}}}"
    return name_latex(name)


def parameters(function: Callable[..., Any], count: int) -> list[str]:
    """The names of the positional parameters."""
    return argument_names(function, count)


def ran(
    function: Callable[..., Any], args: Sequence[Any], letters: dict[int, str] | None = None
) -> tuple[Reading, Term]:
    """The reading of one run of a function, and the term of its result.

    ``letters`` says which sizes stand for which letters; without it all sizes are letters.  Raises ``FormulaError``
    where the formula has numbers of this run, which are others for other values of the arguments.
    """
    derived = _derived(function, args, letters)
    if derived is not None:
        return derived
    run = Run(function, args, letters)
    refuse_samples(run, lambda nudge: Run(function, args, letters, nudge))
    return run.reading, run.term


class Run:
    """One run of a function on tensors: its reading, the term of its result, and what it has read of their values.

    ``nudge`` is by what part of themselves about the examples differ from the arguments.
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], letters: dict[int, str] | None, nudge: float = 0.0
    ):
        names: dict[int, str] = {}
        tensors: list[Any] = []
        call_args = []
        stems = parameters(function, len(args))
        if len(stems) < len(args):
            raise ArgumentError(
                f"{called(function)} takes {len(stems)} arguments ({', '.join(stems)}), but {len(args)} were given."
            )
        for stem, arg in zip(stems, args, strict=True):
            leaves, structure = containers.flatten(_example(arg))
            row = []
            for name, leaf in zip(containers.paths(structure, stem), leaves, strict=True):
                tensor = _input(leaf, name, nudge, len(tensors))
                if tensor is not leaf:
                    names[id(tensor)] = name
                    tensors.append(tensor)
                row.append(tensor)
            call_args.append(containers.unflatten(structure, iter(row)))
        watch = Watch(names=True)
        watch.inputs.update(map(id, tensors))
        with watch, enable_grad(), comparisons_noted() as asked:  # which follows values past a detach
            start = next(sequence)
            result = as_run(function, call_args, args)
            end = next(sequence)
        self.reads = watch.reads
        del watch  # and with it the constants that nobody else has, whose names are lost as in other graphs
        if not isinstance(result, Recorded):
            whole = [f"{stem} = {a}" for stem, a in zip(stems, args, strict=True) if type(a) is int]
            hint = f"  ({', '.join(whole)}: an int is passed as it is, as a size; a number is 2.0.)" if whole else ""
            raise ArgumentError(
                f"{called(function)} gives {type(result).__name__}; latex() prints the formula of one tensor.{hint}"
            )
        self.reading = Reading([result.edge(), *(t.edge() for t in tensors)], names, letters, local=True)
        self.reading.span = (start, end)
        self.reading.compared = compared(self.reading, asked)
        self.term = self.reading[result.edge()]
        self.arguments = set(names.values())


def as_run(function: Callable[..., Any], values: Sequence[Any], given: Sequence[Any]) -> Any:
    """What a function gives for tensors; unless some that was ``given`` are tensors, it may be written for arrays."""
    of_tensors = any(isinstance(leaf, Recorded) for leaf in containers.flatten(list(given))[0])
    return function(*values) if of_tensors else called_with_arrays(function, values)


def _derived(
    function: Callable[..., Any], args: Sequence[Any], letters: dict[int, str] | None
) -> tuple[Reading, Term] | None:
    """The derivative that a transform such as ``hessian(f)`` is, on formulas; None where only its run tells it."""
    made = transform_of(function)
    if made is None or made.kind not in _DERIVATIVES or made.has_aux or not isinstance(made.argnums, int):
        return None
    reading, term = ran(made.function, args, letters)
    names = parameters(made.function, len(args))
    if not -len(args) <= made.argnums < len(args) or (term.shape and made.kind == "grad"):
        return None
    target = next((s for s in reading.symbols if s.name == names[made.argnums]), None)
    if target is None or is_complex(term) or (is_complex(target) and made.kind != "grad"):
        return None
    try:
        return reading, _DERIVATIVES[made.kind](term, target)
    except FormulaError:
        return None


_DERIVATIVES: dict[str, Callable[[Term, Term], Term]] = {
    "grad": lambda term, target: gradient(term, [target])[0],
    "jacobian": jacobian,
    "hessian": lambda term, target: jacobian(
        jacobian(term, target) if term.shape else gradient(term, [target])[0], target
    ),
}


def _example(arg: Any) -> Any:
    """An argument, or for a shape an example array: its entries are near 1, where most functions are defined."""
    if isinstance(arg, tuple) and all(isinstance(s, int) and not isinstance(s, bool) for s in arg):
        steps = np.arange(int(np.prod(arg)), dtype=np.float64)
        return (1 + 0.4 * np.sin(steps * steps + 1)).reshape(arg)
    return arg


def _input(leaf: Any, name: str, nudge: float, k: int) -> Any:
    """Tensor ``k``, of its own for an array or float; other arguments are passed as they are."""
    if isinstance(leaf, Recorded):
        leaf = leaf._value
    if isinstance(leaf, bool) or not isinstance(leaf, (np.ndarray, np.generic, float, complex)):
        return leaf
    array = np.asarray(leaf)
    differs = is_floating(array.dtype)
    return tensor(nudged(array, nudge, k) if nudge and differs else array, name=name, requires_grad=differs)

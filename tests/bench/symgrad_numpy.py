"""symgrad as a contestant that compiles: derivatives of array programs as NumPy programs."""

from __future__ import annotations

import numpy as np
from symgrad_eager import XP as EAGER

import symgrad as sg

try:
    from bench.api import Built
except ImportError:
    Built = None

GROUP = "main"
VERSION = sg.__version__


class XP(EAGER):
    """The functions array programs use, and those of scalar kernels."""

    softplus = staticmethod(sg.nn.functional.softplus)


def supports(prob, task, q):
    return prob.name != "eager"


def build(prob, task, q, inputs):
    function, args = wanted(prob, task, q, inputs)
    program = sg.compile(function, *args)
    run = program.program
    for _ in range(len(run.source) // 20 if task != "hess" and np.ndim(args[0]) == 0 else 0):
        run.function(*args)  # which replaces it by a quicker one where all are numbers
    function = run.function
    return Built(lambda: function(*args), lambda result: as_arrays(prob, task, result))


def wanted(prob, task, q, inputs):
    """What the task asks for as a function of arrays, and these: parameters first, then data."""
    data = {k: v for k, v in inputs["c"].items() if isinstance(v, np.ndarray)}
    fixed = {k: v for k, v in inputs["c"].items() if k not in data}
    if prob.name == "ba":
        columns, features = prob.gathered(q, inputs)
        return slopes(lambda x, feat: prob.program(XP, x, q, feat), prob.nin), (*columns, *features)
    if task in ("jac", "deriv") or prob.name in ("chain", "chaindag"):
        kernel = lambda x, _: prob.program(XP, x, {**q, **fixed})  # noqa: E731
        columns = [x[0] if x.size == 1 else x for x in inputs["p"][0]]
        if task == "jac":
            return slopes(kernel, prob.nin), tuple(columns)
        if task == "deriv":
            return repeated(lambda x: kernel([x], None)[0], q["k"]), tuple(columns)
        f = lambda x: kernel([x], None)[0].sum()  # noqa: E731
        return (sg.func.grad(f) if task == "grad" else f), tuple(columns)
    count = len(inputs["p"])

    def objective(*args):
        if prob.objective is None:
            return args[0].prod()
        return prob.objective(XP, args[:count], {**fixed, **dict(zip(data, args[count:], strict=True))}, q)

    args = (*inputs["p"], *data.values())
    if task == "grad":
        return sg.func.grad(objective, argnums=tuple(range(count))), args
    if task == "hess":
        return (sg.func.sparse_hessian if prob.name == "rosen" else sg.func.hessian)(objective), args
    return objective, args


def slopes(kernel, count):
    """Derivatives of every output of a kernel by every input, entry by entry."""

    def rows(*args):
        x, rest = args[:count], args[count:]
        found = []
        for k in range(len(kernel(x, rest))):
            row = sg.func.grad(lambda *x, k=k: kernel(x, rest)[k].sum(), argnums=tuple(range(count)))
            found += row(*x)
        return tuple(found)

    return rows


def repeated(f, k):
    """The k-th derivative of a function that is taken entry by entry."""
    for _ in range(k):
        f = sg.func.grad(lambda x, f=f: f(x).sum())
    return f


def as_arrays(prob, task, result):
    if task in ("jac",):
        rows = np.stack(np.broadcast_arrays(*result)).reshape(prob.nout, prob.nin, -1)
        return (rows.transpose(2, 0, 1) if prob.name == "ba" else rows,)
    if task == "hess" and prob.name == "rosen":
        entries, columns, starts = result
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return entries[rows == columns], entries[rows + 1 == columns]
    if task == "hess":
        size = int(np.sqrt(np.asarray(result).size))
        return (np.asarray(result).reshape(size, size),)
    return result if isinstance(result, tuple) else (result,)

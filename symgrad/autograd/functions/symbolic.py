"""Formulas of custom functions.

A function's value is the term ``f(arguments)``.  Where the user states a rule (``symbolic``), or ``forward`` can be run
on formulas, the term's op says so in ``define``, and formulas show what stands inside; where not, it stays a function
with a name.  Its derivative is the user's ``backward`` run on formulas, never the derivative of ``forward``: the two
need not agree, and the number comes from ``backward``.  Where that cannot be run, it is the derivative of the rule, if
``backward`` gives the same number at the recorded point, and else an opaque function too.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import operator
from typing import Any

import numpy as np

from symgrad.autograd.functions.inside import COTANGENT, RESULT, StandIns, stripped, values_seen
from symgrad.autograd.functions.outside import Marks, is_changed, outside, run_again
from symgrad.autograd.functions.stated import as_recorded, pull, rule_of, stated
from symgrad.errors import FormulaError
from symgrad.formula.term import Term, as_term, full, make, own_symbol, substitute, symbol, symbols
from symgrad.op import Op, unlisted
from symgrad.tape.containers import tree_map
from symgrad.tape.formulas.formal import Formal, computed_still, formula_of
from symgrad.tape.graph import Node, Parts, new_node
from symgrad.tape.modes import own_no_grad
from symgrad.tape.record import Recorded, plain, value_of
from symgrad.tape.watching.watch import WATCH

_KEPT = 32
"""How many formulas of one call are kept."""

_OUTPUTS = ("output", "parts")
"""Names of the ops that outputs of functions and their gradients have."""


class _Here:
    """Stands in a pattern where a tensor stood among the arguments."""

    def __repr__(self) -> str:
        return "tensor"

    def __reduce__(self) -> str:
        return "HERE"


HERE = _Here()


class Signature:
    """How a function was called, without its tensors: hashable, so that equal calls give equal formulas.

    pattern  the arguments of ``apply``, with ``HERE`` for tensors
    shapes   per argument the shape of the tensor, None for other things; ``dtypes`` those of the tensors
    count    number of outputs, or None where ``forward`` returned one thing that is no tuple
    outside  marks of what the function reads that is no argument; None where that is not known
    values   what the tensors held, where a tracer saw it; else None
    stood    ``(symbols, outputs, rows)``, the formulas from stand-ins where a run on formulas gives none; as they may
             depend on the sizes, equal calls have equal ones
    """

    __slots__ = ("_key", "cache", "count", "dtypes", "function", "outside", "pattern", "shapes", "stood", "values")

    def __init__(self, function: Any, args: tuple[Any, ...], count: int | None):
        self.function = function
        self.pattern = tuple(HERE if isinstance(a, Recorded) else a for a in args)
        self.shapes = tuple(a._value.shape if isinstance(a, Recorded) else None for a in args)
        self.dtypes = tuple(a._value.dtype for a in args if isinstance(a, Recorded))
        self.count = count
        self.outside: Marks | None = outside(function)
        self.values = values_seen([a for a in args if isinstance(a, Recorded)]) if WATCH.count else None
        self.stood: tuple[Any, Any, Any] | None = None
        self._key: Any = None
        self.cache: dict[Any, Any] = {}

    @property
    def key(self) -> Any:
        """What equal calls have in common; only formulas ask for it."""
        if self._key is None:
            self._key = self._make_key()
        return self._key

    def _make_key(self) -> Any:
        key = (self.function, tuple((type(a).__name__, repr(a) if isinstance(a, float) else a) for a in self.pattern))
        try:
            hash(key)
        except TypeError:
            return id(self)  # an argument that cannot be compared (a list, an array): every call is its own
        return (*key, self.count, self.stood, self.outside)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and self.key == other.key

    @property
    def constants(self) -> tuple[Any, ...]:
        """The arguments that are no tensors."""
        return tuple(a for a in self.pattern if a is not HERE)

    @property
    def digested(self) -> Any:
        """What of it is the same on every machine."""
        pattern = tuple("tensor" if a is HERE else (type(a).__name__, a) for a in self.pattern)
        return (self.function, pattern, self.count)

    def __repr__(self) -> str:
        return f"{self.function.__name__}{self.pattern}"

    def __getstate__(self) -> Any:
        return (self.function, self.pattern, self.shapes, self.dtypes, self.count, self.stood)

    def __setstate__(self, state: Any) -> None:
        self.function, self.pattern, self.shapes, self.dtypes, self.count, self.stood = state
        self._key = self.values = self.outside = None
        self.cache = {}

    def filled(self, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of ``apply`` with ``tensors`` in their places."""
        found = iter(tensors)
        return tuple(next(found) if a is HERE else a for a in self.pattern)

    def changed(self) -> str | None:
        """What to say where the function reads something else from outside than when it was applied; else None."""
        if self.outside is None or not is_changed(self.function, self.outside):
            return None
        return (
            f"{self.function.__name__} reads values from outside that have changed since it was applied, and would "
            "compute something else now; make them arguments of it, or apply it again."
        )

    def check(self) -> None:
        """Raise ``FormulaError`` where the function would compute something else now."""
        changed = self.changed()
        if changed is not None:
            raise FormulaError(changed)

    def run(self, tensors: tuple[Any, ...]) -> tuple[Any, Any]:
        """``(context, what forward returns)`` for tensors or formulas."""
        from symgrad.autograd.function import FunctionCtx, run_forward

        self.check()
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(a is HERE for a in self.pattern)
        with own_no_grad(), run_again(self.function):
            return ctx, run_forward(self.function, ctx, self.filled(tensors))

    def set_up(self, args: tuple[Term, ...], outputs: Any) -> tuple[Any, Any]:
        """``(context, outputs)`` where a rule says what ``forward`` would give; it takes ``setup_context``."""
        from symgrad.autograd.function import FunctionCtx, has_setup

        if not has_setup(self.function):
            raise FormulaError("forward itself saves for backward, and it needs values")
        ctx, row = FunctionCtx(), tuple(map(Formal, outputs))
        ctx.needs_input_grad = tuple(a is HERE for a in self.pattern)
        out = row[0] if self.count is None else row
        self.function.setup_context(ctx, self.filled(tuple(map(Formal, args))), out)
        return ctx, out

    def gradients(self, ctx: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """``backward``'s answers for the tensor arguments."""
        self.check()
        with run_again(self.function):
            results = self.function.backward(ctx, *grads)
        rows = results if isinstance(results, (tuple, list)) else (results,)
        return tuple(r for r, a in zip(rows, self.pattern, strict=False) if a is HERE)


# ---------------------------------------------------------------------------------------------- ops of one class


class FunctionOp(Op):
    """An op that is not in the table: of a custom function, or of one of its outputs; ``node`` is what torch calls it.

    Formulas call it by its name where no op of the library has that: a class ``neg`` is no negative.
    """

    __slots__ = ("function", "role")

    def __init__(self, name: str, pull: Any, symbolic: Any = None, function: Any = None, role: str = "", **fields: Any):
        fields.setdefault("infer", lambda *_, shape, **__: shape)
        fields["indirect"] = True  # what it saves it says itself
        fields.setdefault("result", lambda *_, dtype, **__: np.dtype(dtype))
        fields.setdefault("node", name)
        own = unlisted(name) if function is None or name not in _OUTPUTS else f"{name}_"
        super().__init__(own, "function", fields.pop("kernel", _no_kernel), pull, define_symbolic=symbolic, **fields)
        self.function = function
        self.role = role

    def __reduce__(self) -> tuple[Any, ...]:
        return (found_op, (self.function, self.name, self.role))


def _no_kernel(*_: Any, **__: Any) -> Any:
    raise FormulaError("this operation has no value of its own")


def found_op(function: Any, name: str, role: str) -> Op:
    """The op of a custom function in one of its roles (what pickles refer to)."""
    if function is None:
        from symgrad.autograd.functions.once import ONCE

        outputs = {"": OUTPUT, "term": OUTPUT_TERM, "opaque": OPAQUE_OUTPUT}
        return outputs[role] if name == "output" else {"parts": PARTS}.get(name, ONCE)
    return _ops(function)[role]


def _ops(function: Any) -> dict[str, Op]:
    """All ops of a custom function, made once: of its nodes, its terms and its derivatives."""
    found = function.__dict__.get("_symgrad_ops")
    if found is None:
        name = function.__name__
        found = {
            "node": FunctionOp(name, _pull_number, _symbolic, function, "node"),
            "term": FunctionOp(
                name, _pull_term, None, function, "term", kernel=_forward_kernel, define=_define, size_params=("shape",)
            ),
            "opaque": FunctionOp(
                name, _pull_term, None, function, "opaque", kernel=_forward_kernel, size_params=("shape",)
            ),
            "ruled": FunctionOp(
                name, _pull_ruled, None, function, "ruled", kernel=_forward_kernel, define=_define,
                size_params=("shape",),
            ),
            "ruled outputs": FunctionOp(
                name, _pull_ruled, None, function, "ruled outputs", kernel=_forward_kernel, size_params=("shape",)
            ),
            "kept": FunctionOp(name, _pull_number, _kept, function, "kept"),
            "derivative": FunctionOp(
                f"{name}Backward", _pull_opaque, None, function, "derivative", kernel=_backward_kernel,
                size_params=("shape",),
            ),
        }  # fmt: skip
        function._symgrad_ops = found
    return found  # type: ignore[no-any-return]


def node_op(function: Any) -> Op:
    """The op of a function's nodes on the tape."""
    return _ops(function)["node"]


def kept_op(function: Any) -> Op:
    """The op of what ``forward`` computed and kept (:mod:`symgrad.autograd.functions.keeping`)."""
    return _ops(function)["kept"]


def _kept(reading: Any, node: Node, args: tuple[Term, ...]) -> Term:
    from symgrad.autograd.functions.keeping import symbolic

    return symbolic(reading, node, args)


def _pull_number(i: int, g: Any, *_: Any, run: Any) -> Any:
    return run.gradient(i, g)


# ---------------------------------------------------------------------------------------------- forward


def _symbolic(reading: Any, node: Node, args: tuple[Term, ...]) -> Term:
    """The term of a node: with its inside where it has a rule, or ``forward`` run on formulas gives what it gave."""
    run = node.params["run"]  # type: ignore[index]
    signature = run.signature
    several = signature.count is not None
    shape, dtype = (), np.dtype(float)
    if not several:
        shape, dtype = reading.shape(node.shape), node.dtype
    params = {"signature": signature, "shape": shape, "dtype": dtype.name}
    ops = _ops(signature.function)
    role = "opaque"
    rule = _rule(signature, args)
    if signature.stood is None and rule_of(signature.function) is None:
        signature.stood = _stood(signature, args)
    if rule is not None:
        run.point.prove(signature)
        role = "ruled" if run.point.agrees(signature) else "opaque" if several else "term"
        role += " outputs" if several and role == "ruled" else ""
    elif not several:
        inside = forward_formula(signature, args)
        if inside is not None and inside[0].shape == shape and inside[0].dtype == dtype:
            role = "term"
    made = make(ops[role], args, params, shape, dtype)
    if made.op.define is not None:
        made.op.define(*args, **params)  # a rule of another shape is told here
    return made


def _rule(signature: Signature, args: tuple[Term, ...]) -> tuple[Term | None, ...] | None:
    """What the user's rule says the outputs are, if there is one."""
    if rule_of(signature.function) is None:
        return None
    key = ("symbolic", args)
    if key not in signature.cache:
        if len(signature.cache) > _KEPT:
            signature.cache.clear()
        signature.cache[key] = stated(signature, args)
    return signature.cache[key]  # type: ignore[no-any-return]


def forward_formula(signature: Signature, args: tuple[Term, ...]) -> tuple[Term, ...] | None:
    """The outputs of ``forward``: run on formulas, or on tensors that stand for its arguments.

    None where it needs values; None stands among them for what is no tensor.
    """
    key = ("forward", args)
    if key not in signature.cache:
        if len(signature.cache) > _KEPT:
            signature.cache.clear()
        inside = on_formulas(signature, args)
        signature.cache[key] = stripped(inside[2]) if inside else _from_stand_ins(signature, args, {}, 1)
    return signature.cache[key]  # type: ignore[no-any-return]


def on_formulas(signature: Signature, args: tuple[Term, ...]) -> Any:
    """``(context, what forward gives, the terms of that)``, run on formulas; None where that cannot be."""
    key = ("inside", args)
    if key not in signature.cache:
        runs: list[tuple[Any, Any]] = []

        def run() -> Any:
            with computed_still():
                ctx, out = signature.run(tuple(map(Formal, args)))
            runs[:] = [(ctx, out)]  # what is saved is this run's output
            parts = out if isinstance(out, tuple) else (out,)
            if any(isinstance(p, Recorded) for p in parts) or not any(isinstance(p, Formal) for p in parts):
                raise FormulaError("forward made its result from values")
            return out

        found = None
        if formula_of(run) is not None:
            ctx, out = runs[0]
            parts = out if isinstance(out, tuple) else (out,)
            found = (ctx, out, tuple(p.term if isinstance(p, Formal) else None for p in parts))
        signature.cache[key] = found
    return signature.cache[key]


def _stood(signature: Signature, args: tuple[Term, ...]) -> tuple[Any, Any, Any]:
    """What tensors that stand for the arguments tell, where a run on formulas does not."""
    inside = on_formulas(signature, args)
    stand_ins = outputs = rows = None
    if inside is not None:
        seeds = {k: symbol(f"{COTANGENT}{k}", t.shape, t.dtype) for k, t in enumerate(inside[2]) if t is not None}
        g = seeds[0] if signature.count is None else _summed(seeds)
        if formula_of(lambda: _backward(signature, inside, g)) is not None:
            return (), None, None
    with contextlib.suppress(Exception):  # anything a user's function may raise when it meets values that are none
        stand_ins = StandIns(signature, args)
        outputs = stand_ins.outputs()
        rows = stand_ins.rows()
    return () if stand_ins is None else stand_ins.symbols, outputs if inside is None else None, rows


def _summed(parts: dict[int, Term]) -> Term:
    """Gradients of several outputs as the sweep gives them to a function's node."""
    terms = [make(PARTS, (part,), {"index": k}, (), None) for k, part in parts.items()]
    return functools.reduce(operator.add, terms)


def _from_stand_ins(signature: Signature, args: tuple[Term, ...], others: dict[str, Any], which: int) -> Any:
    """The outputs (1) or the rows of gradients (2), or None; with terms for the symbols, the ``others`` by name."""
    if signature.stood is None or signature.stood[which] is None:
        return None
    found = signature.stood[which]
    terms = [term for term in found if term is not None]
    known = dict(zip(signature.stood[0], args, strict=True))
    rest = iter(substitute(terms, {s: known[s] if s in known else others[str(s.name)] for s in symbols(*terms)}))
    return tuple(None if term is None else next(rest) for term in found)


def _pulled(signature: Signature, args: tuple[Term, ...], g: Term, out: Term) -> Any:
    """The gradients from stand-ins, or None; linear as they are, what has no cotangent has a zero."""
    if signature.stood is None or signature.stood[2] is None:
        return None
    parts = {0: g} if signature.count is None else _collected(g)
    others: dict[str, Any] = {}
    for s in symbols(*(term for term in signature.stood[2] if term is not None)):
        name = str(s.name)
        if name.startswith(COTANGENT):
            others[name] = parts.get(int(name.removeprefix(COTANGENT)), full(s.shape, 0, s.dtype))
        elif name.startswith(RESULT):
            k = int(name.removeprefix(RESULT))
            others[name] = out if signature.count is None else output_term(out, k, s.shape, s.dtype)
    return _from_stand_ins(signature, args, others, 2)


def _define(*args: Any, signature: Signature, shape: Any, dtype: Any, index: int | None = None) -> Any:
    found = _output_formula(signature, args, index, shape, np.dtype(dtype))
    if found is None:
        raise FormulaError(f"{signature.function.__name__} has no formula for these arguments")
    return found


def _output_formula(signature: Signature, args: tuple[Term, ...], index: int | None, shape: Any, dtype: Any) -> Any:
    """The formula of one output, by the rule or by ``forward``; None where neither knows it."""
    row = _rule(signature, args)
    if row is not None:
        term = row[index or 0]
        return None if term is None else as_recorded(term, shape, dtype, signature.function.__name__)
    inside = forward_formula(signature, args)
    if inside is None:
        return None
    found = inside[index or 0]
    return found if found is not None and found.shape == shape and found.dtype == dtype else None


def _forward_kernel(*values: Any, signature: Signature, **_: Any) -> Any:
    _, out = signature.run(tuple(map(_tensor, values)))
    return tuple(map(value_of, out)) if isinstance(out, tuple) else value_of(out)


def _tensor(value: Any) -> Any:
    from symgrad.tensor import Tensor

    return plain(Tensor, np.asarray(value)[()])


# ---------------------------------------------------------------------------------------------- outputs and parts


def _pull_output(i: int, g: Any, *_: Any, index: int, **__: Any) -> Any:  # noqa: ARG001  (the rule's signature)
    return make(PARTS, (as_term(g),), {"index": index}, (), None)


def _define_output(whole: Any, **params: Any) -> Any:
    return _define(*whole.args, signature=whole.params["signature"], **params)


OUTPUT_TERM = FunctionOp(
    "output",
    _pull_output,
    role="term",
    kernel=lambda whole, index, **_: whole[index],
    define=_define_output,
    size_params=("shape",),
)
OPAQUE_OUTPUT = FunctionOp(
    "output", _pull_output, role="opaque", kernel=lambda whole, index, **_: whole[index], size_params=("shape",)
)
PARTS = FunctionOp("parts", _no_kernel, infer=lambda *_, **__: (), result=None)


def output_term(whole: Term, index: int, shape: tuple[Any, ...], dtype: Any) -> Term:
    """One output of a function with several."""
    known = _output_formula(whole.params["signature"], whole.args, index, shape, dtype)
    op = OPAQUE_OUTPUT if known is None else OUTPUT_TERM
    return make(op, (whole,), {"index": index, "shape": shape, "dtype": dtype.name}, shape, dtype)


def _output_pull(i: int, g: Any, *_: Any, index: int) -> Any:  # noqa: ARG001  (the rule's signature)
    return Parts({index: g})


def _output_symbolic(reading: Any, node: Node, args: tuple[Any, ...]) -> Any:
    return output_term(args[0], node.params["index"], reading.shape(node.shape), node.dtype)  # type: ignore[index]


OUTPUT = FunctionOp("output", _output_pull, _output_symbolic)


def output_node(node: Node, index: int, value: Any) -> Node:
    """Where one output of a function with several stands in the graph."""
    return new_node(OUTPUT, (node,), {"index": index}, 1 if node.mask else 0, value.shape, value.dtype, (None, None))


def _collected(g: Term) -> dict[int, Term]:
    """Gradients by output number, out of the sum of parts that the sweep made."""
    found: dict[int, Term] = {}
    stack = [g]
    while stack:
        term = stack.pop()
        if term.op is PARTS:
            k = term.params["index"]
            found[k] = found[k] + term.args[0] if k in found else term.args[0]  # type: ignore[operator]
        else:
            stack.extend(reversed(term.args))
    return found


# ---------------------------------------------------------------------------------------------- backward


def _pull_term(i: int, g: Any, out: Any, *args: Any, signature: Signature, **__: Any) -> Any:
    """The user's ``backward`` on formulas; an opaque function where that is not possible."""
    rows = _backward_formula(signature, args, g, out)
    if rows is not None:
        found = rows[i]
        return found.term if isinstance(found, Formal) else found
    params = {"signature": signature, "wrt": i, "shape": args[i].shape, "dtype": args[i].dtype.name}
    if signature.count is not None:
        params["outputs"] = tuple(sorted(_collected(g)))
        seeds = tuple(part for _, part in sorted(_collected(g).items()))
    else:
        seeds = (g,)
    return make(_ops(signature.function)["derivative"], (*seeds, *args), params, args[i].shape, args[i].dtype)


def _pull_ruled(i: int, g: Any, out: Any, *args: Any, signature: Signature, **params: Any) -> Any:
    """The user's ``backward`` on formulas; the derivative of the rule where that is not possible."""
    if _backward_formula(signature, args, g, out) is not None:
        return _pull_term(i, g, out, *args, signature=signature, **params)
    key = ("rule", g, args)
    if key not in signature.cache:
        symbols = tuple(own_symbol(f"argument{k}", a.shape, a.dtype) for k, a in enumerate(args))
        row = stated(signature, symbols)
        assert row is not None
        if signature.count is None:
            seeds = {0: g}
            row = (as_recorded(row[0], g.shape, g.dtype, ""),)  # type: ignore[arg-type]
        else:
            seeds = _collected(g)
        gradients = pull([row[k] for k in seeds], list(seeds.values()), symbols)  # type: ignore[misc]
        signature.cache[key] = substitute(gradients, dict(zip(symbols, args, strict=True)))
    return signature.cache[key][i]


def _backward_formula(signature: Signature, args: tuple[Term, ...], g: Term, out: Any) -> Any:
    """The answers of ``backward``, run on formulas or on tensors that stand for them; None where it needs values.

    Where ``forward`` needs values, a ``setup_context`` is given what the rule says of the outputs, or else the one
    output ``out`` as a function with a name.
    """
    key = ("backward", g, args)
    if key not in signature.cache:
        inside = on_formulas(signature, args)
        if inside is not None:
            found = formula_of(lambda: _backward(signature, inside, g, out))
        else:
            row = _rule(signature, args)
            if row is None and signature.count is None:
                row = (out,)
            known = row is not None and None not in row
            found = formula_of(lambda: _backward(signature, signature.set_up(args, row), g)) if known else None
        if found is None:
            found = _pulled(signature, args, g, out)
        signature.cache[key] = found
    return signature.cache[key]


def _backward(signature: Signature, inside: Any, g: Term, made: Any = None) -> tuple[Any, ...]:
    """``backward`` on formulas; saved outputs are the results ``made`` of the function, with its derivative."""
    ctx, out = inside[:2]
    outputs = out if signature.count is not None else (out,)
    for k, o in enumerate(outputs if made is not None else ()):
        if isinstance(o, Formal) and o.term.op.name == "unrecorded":
            o.term = made if signature.count is None else output_term(made, k, o.term.shape, o.term.dtype)
    if signature.count is None:
        grads: tuple[Any, ...] = (Formal(g),)
    else:
        parts = _collected(g)
        grads = tuple(
            Formal(parts[k]) if k in parts else _absent(ctx, o) if isinstance(o, Formal) else None
            for k, o in enumerate(out)
        )
    rows = signature.gradients(_apart(ctx), grads)
    for row in rows:
        if row is not None and not isinstance(row, Formal):
            raise FormulaError("backward made its result from values")
    return rows


def _apart(ctx: Any) -> Any:
    """A context with the same attributes, which ``backward`` may change: the next one finds what ``forward`` left."""
    made = copy.copy(ctx)
    for name, value in vars(ctx).items():
        vars(made)[name] = tree_map(lambda x: Formal(x.term) if isinstance(x, Formal) else x, value)
    return made


def _absent(ctx: Any, like: Formal) -> Any:
    return like.full_like(0) if ctx.materialize_grads else None


def _pull_opaque(i: int, g: Any, *_: Any, signature: Signature, **__: Any) -> Any:  # noqa: ARG001
    name = signature.function.__name__
    raise FormulaError(
        f"the second derivative of {name} has no formula: its backward needs values. Write {name}.backward with tensor "
        "operations only."
    )


def _backward_kernel(*values: Any, signature: Signature, wrt: int, outputs: Any = None, **_: Any) -> Any:
    count = 1 if outputs is None else len(outputs)
    ctx, out = signature.run(tuple(map(_tensor, values[count:])))
    seeds = dict(zip(outputs or (0,), map(_tensor, values[:count]), strict=True))
    rows = out if isinstance(out, tuple) else (out,)
    grads = tuple(
        seeds.get(k, _tensor(np.zeros_like(o._value)) if ctx.materialize_grads and isinstance(o, Recorded) else None)
        for k, o in enumerate(rows)
    )
    with own_no_grad():
        found = signature.gradients(ctx, grads)[wrt]
    return np.zeros(np.shape(values[count + wrt]))[()] if found is None else found._value

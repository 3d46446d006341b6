"""``backward`` and ``grad``: torch's entrances to the reverse sweep, with torch's words for its errors."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.autograd.anomaly_mode import ANOMALY, CheckedSweep
from symgrad.autograd.graph import GradientEdge, inputs, tensor_at
from symgrad.autograd.graphs.hooks import (
    as_tensor,
    count_outputs,
    run_node_hooks,
    run_post_hooks,
    run_pre_hooks,
)
from symgrad.autograd.graphs.saving import hooks_as_they_are
from symgrad.autograd.graphs.shown import name_gradient, name_inside
from symgrad.autograd.graphs.torch_graph import lower
from symgrad.autograd.profiler import ACTIVE, watch_sweep
from symgrad.autograd.sweeps.leaves import accumulate, giving_to_leaves, leaf_hooks
from symgrad.autograd.sweeps.moved import moved_gradients
from symgrad.autograd.sweeps.rescue import Rescue
from symgrad.autograd.sweeps.stochastic import awaits_reward, reinforced
from symgrad.errors import ArgumentError, AutogradError
from symgrad.op import lengths, lookup, shape_of
from symgrad.ops.reductions.sums import cast
from symgrad.ops.rules.kinks import turned
from symgrad.tape.backward.engine import Sweep, passed
from symgrad.tape.backward.phases import settle
from symgrad.tape.backward.siblings import siblings_of, together
from symgrad.tape.backward.tether import held, loosen, tethered
from symgrad.tape.formulas.origin import Origin, attach
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.graph import Labelled, Node, Parts, Source
from symgrad.tape.layout import like_the_leaf
from symgrad.tape.memory.aliases import Invalid
from symgrad.tape.memory.views import out_of_reach
from symgrad.tape.modes import enable_grad, is_grad_enabled, own_no_grad
from symgrad.tape.naming import node_name
from symgrad.tape.numbering import Pass, passes, sequence
from symgrad.tape.observers import RUNNING
from symgrad.tape.overriding import WITHIN
from symgrad.tape.record import Recorded, plain, recorded, root_of
from symgrad.tape.threads import nested
from symgrad.tape.watching.captured import transforming
from symgrad.tape.watching.watch import WATCH, note_pass, note_problem
from symgrad.tensor import Tensor
from symgrad.tensor.facts import Shape

__all__ = ["backward", "grad"]

NO_REWARD = (
    "differentiating stochastic functions requires providing a reward: call .reinforce(reward) on the sample before "
    "backward(). Without one the derivative of a sample by its parameters is zero."
)
COMPLEX_SEED = (
    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
    "grad_output[{}] has a dtype of {} and output[{}] has a dtype of {}."
)
IN_TRANSFORM = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp "
    "instead or call backward() outside of functorch transforms. (The transforms are those of symgrad.func.)"
)
NOT_REAL = "grad can be implicitly created only for real scalar outputs but got {}"
NO_GRAD = (
    "element {} of tensors does not require grad and does not have a grad_fn: nothing it was computed from has "
    "requires_grad=True, or it was computed under no_grad() or from detach()"
)


_ONE = np.float64(1)


def _sequence(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (Recorded, Dual, GradientEdge, np.ndarray, str)) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value.values() if isinstance(value, dict) else value)


def _placed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors, where places in the graph may stand for them."""
    return tuple([tensor_at(t) if t.__class__ is GradientEdge else t for t in row])


def _seeds(outputs: Sequence[Any], gradients: Sequence[Any], create_graph: bool) -> list[Any]:
    seeds: list[Any] = []
    for out, g in zip(outputs, gradients, strict=True):
        if g is None and not create_graph and out._value.__class__ is np.float64:
            seeds.append(_ONE)
            continue
        if g is None:
            if out._value.size != 1 and not reinforced(out):
                raise AutogradError(
                    "grad can be implicitly created only for scalar outputs "
                    f"(this output has shape {tuple(out._value.shape)}; pass gradient= of that shape, or "
                    "reduce it first)"
                )
            if out.dtype.kind == "c":
                raise AutogradError(NOT_REAL.format(out.dtype))
            value = np.ones_like(out._value)[()]
            seeds.append(_ones(value) if create_graph else value)
            continue
        if not isinstance(g, Recorded):
            raise ArgumentError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if tuple(shape_of(g._value)) != tuple(out._value.shape):
            raise AutogradError(
                f"Mismatch in shape: grad_output[{len(seeds)}] has a shape of {Shape(shape_of(g._value))} and "
                f"output[{len(seeds)}] has a shape of {out.shape}."
            )
        if (g._value.dtype.kind == "c") is not (out.dtype.kind == "c"):
            raise AutogradError(COMPLEX_SEED.format(len(seeds), g._value.dtype, len(seeds), out.dtype))
        if create_graph:
            seeds.append(g if g._value.dtype == out.dtype else cast(g, out.dtype))
        else:
            value = g._value
            seeds.append(value.astype(out.dtype)[()] if value.dtype != out.dtype else value)
    return seeds


def _ones(value: Any) -> Any:
    """The implicit cotangent as a tensor that formulas show as the constant 1."""
    made = plain(Tensor, value)
    extra = made.more()
    extra.recipe = ("full", {"shape": lengths(value.shape), "value": 1, "dtype": value.dtype.name})
    extra.structure = "ones"  # a structure makes what is computed from it part of the graph
    return made


def wrap_saved(node: Node, saved: Any) -> list[Any]:
    """Saved values as tensors that stand where they stood in the graph, so that rules on them are recorded."""
    if node.op.kind == "function":
        return list(saved)
    out = saved[0]  # that its tensor is detached in place later does not concern what is made of it here
    now = node.args.now() if node.args.__class__ is Labelled and node.args.now is not None else None
    place = node if now is None else now
    row: list[Any] = [None if out is None else _tensor_at(out[...] if out.__class__ is np.ndarray else out, place)]
    for arg, value in zip(node.args, saved[1:], strict=True):
        if value is None:
            row.append(None)
        elif isinstance(arg, (Node, Tensor, Source)) and value.dtype != arg.dtype:
            row.append(_widened(arg, value))
        elif isinstance(arg, Node):
            row.append(_tensor_at(value, arg))
        elif isinstance(arg, Recorded):
            row.append(arg if arg._value is value or not value.ndim else at_leaf(arg, value))
        elif isinstance(arg, (int, float, complex)) or not hasattr(arg, "ref"):
            row.append(arg)
        else:
            row.append(_constant(arg, value))
    return row


def _widened(place: Any, value: Any) -> Any:
    """A saved operand that was cast to the dtype of its operation: a cast of what stands at ``place``."""
    requires = bool(place.mask if isinstance(place, Node) else isinstance(place, Tensor) and place._requires_grad)
    return recorded(Tensor, lookup("cast"), value, (place,), [value], {"dtype": value.dtype.name}, int(requires))


def at_leaf(leaf: Any, value: Any) -> Any:
    """A saved value that is no longer the leaf's own, because a hook kept it or it was replaced, as a tensor there."""
    with enable_grad():
        made = leaf.clone()
    made._value = value
    return made


def _constant(source: Any, value: Any) -> Any:
    alive = source.ref()
    if alive is not None and alive._value is value:
        return alive
    if alive is not None and alive._requires_grad and alive._node is None:
        return at_leaf(alive, value)  # told so since, and a copy of it was saved
    made = plain(Tensor, value)
    extra = made.more()
    extra.source, extra.structure = source, source.structure
    extra.name, extra.site = source.name, source.site  # with which what is computed of it is part of the graph
    return made


def _tensor_at(value: Any, node: Node) -> Any:
    made = plain(Tensor, value)
    made._node = node
    made._requires_grad = node.mask != 0
    return made


def _check(outputs: Sequence[Any]) -> None:
    for k, out in enumerate(outputs):
        if not isinstance(out, Recorded):
            raise ArgumentError(f"element {k} of outputs is {type(out).__name__}, not a tensor")
        if awaits_reward(out):
            raise AutogradError(NO_REWARD)
        if not out._requires_grad or out_of_reach(out):
            if out._requires_grad and isinstance(out._node, Invalid):
                raise out._node.error()
            raise AutogradError(NO_GRAD.format(k))


def _refuse_others(targets: Sequence[Any]) -> None:
    for t in targets:
        if not isinstance(faced(t), (Recorded, Dual)):
            raise ArgumentError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")


def _check_targets(targets: Sequence[Any]) -> None:
    for k, t in enumerate(targets):
        if not isinstance(t, Recorded) or not t.requires_grad:  # type: ignore[attr-defined]
            raise AutogradError(
                "One of the differentiated Tensors does not require grad "
                f"(input {k}; call requires_grad_() on it before the computation)"
            )
        if isinstance(t._node, Invalid):
            t.edge()  # raises


def run_sweep(
    outputs: Sequence[Any],
    seeds: Sequence[Any],
    wanted: Sequence[Any] | None,
    keep_graph: bool,
    create_graph: bool,
    origin: Origin,
    finish_leaf: Any,
    run_wanted: bool = False,
) -> Sweep:
    """A backward pass that has run; ``finish_leaf(leaf, gradient)`` says what is found of a leaf."""
    sweep = (CheckedSweep if ANOMALY.enabled else Sweep)(
        [(root_of(out), seed) for out, seed in zip(outputs, seeds, strict=True)],
        wanted,
        create_graph,
        keep_graph or RUNNING.again,
        wrap_saved,
        finish_leaf,
        lambda node, g: run_node_hooks(node, g, Tensor, origin),
        lambda node, g: run_pre_hooks(node, g, Tensor, origin),
        lambda node, results, g: _after(node, results, g, origin),
        run_wanted,
    )
    if ACTIVE:
        watch_sweep(sweep)
    start = next(sequence) if create_graph else 0
    nested(functools.partial(_in_mode, sweep), len(RUNNING.sweeps))
    if create_graph:
        passes.append(Pass(start, next(sequence), *sweep.span))
        tethered(sweep.met)
    return sweep


def _in_mode(sweep: Sweep) -> None:
    WITHIN.disabled += 1  # rules take tensors of every class for plain ones
    try:
        with enable_grad() if sweep.create_graph else own_no_grad(), hooks_as_they_are():
            sweep.run()
    finally:
        WITHIN.disabled -= 1


def call_node(node: Node, gradients: tuple[Any, ...]) -> Any:
    """What a node makes of gradients of its outputs: one tensor or None per tensor argument, alone if there is one.

    Raises ``TypeError`` for a number of gradients that is not that of the outputs.
    """
    whole = siblings_of(node)
    several = node.op.kind == "function" and node.dtype is None
    count = count_outputs(node if whole is None else whole)
    if len(gradients) != count:
        raise ArgumentError(f"expected {count} arguments, got {len(gradients)} instead")
    for g in gradients:
        if g is not None and not isinstance(g, Recorded):
            raise ArgumentError(f"{node_name(node)} takes gradients that are tensors or None, not {type(g).__name__}")
    keep = is_grad_enabled()
    if not several and whole is None and gradients[0] is None:
        return _of_nothing(node)
    row = [g if g is None or keep else g._value for g in gradients]
    g = Parts({k: part for k, part in enumerate(row) if part is not None}) if several else row[0]
    sweep = Sweep((), None, keep, True, wrap_saved, passed, passed, passed, passed)
    with np.errstate(all="ignore"):
        if whole is not None:
            results = together(sweep, whole, dict(enumerate(row)))[1]
        else:
            given = _giving(node)
            made = (
                sweep.contributions(node, node.mask, g, None)[0] if given is node.args else sweep.whole(node, g, given)
            )
            results = [None if k is None else made[k] for k in _positions(node)]
    settle(sweep.turns)
    shown = tuple(as_tensor(c, Tensor) for c in results)
    return shown[0] if len(shown) == 1 else shown


def _after(node: Any, results: list[Any], g: Any, origin: Origin) -> list[Any]:
    """What the hooks after a node make of what it gives to its arguments, which they see as its inputs in torch."""
    hooked = node.__class__ is Node and node.extra is not None and node.extra.post
    order = _positions(node) if hooked else []
    if not hooked or any(c is not None and k not in order for k, c in enumerate(results)):  # or torch has steps there
        return run_post_hooks(node, results, g, Tensor, origin)
    shown = run_post_hooks(node, [None if k is None else results[k] for k in order], g, Tensor, origin)
    given = dict(zip(order, shown, strict=True))
    return [given.get(k) for k in range(len(results))]


def _giving(node: Node) -> tuple[Any, ...]:
    """What a node gives gradients to: its arguments, or those of the function that it stands for."""
    inside = node.args.inputs if node.args.__class__ is Labelled else None
    return node.args if inside is None else inside


def _positions(node: Node) -> list[int | None]:
    """Which of what it gives to the inputs of a node are, in torch's order; None where it is nothing of that."""
    last = lower(node)
    left: dict[int | None, Any] = dict(enumerate(_giving(node)))
    order = []
    for arg in [arg for arg, _ in inputs(node)] if last is node else last.places:
        order.append(next((k for k, other in left.items() if arg is not None and other is arg), None))
        left.pop(order[-1], None)
    return order


def _of_nothing(node: Node) -> Any:
    """What a node with one output makes of no gradient: none for each of its inputs."""
    count = len(_positions(node))
    return None if count == 1 else (None,) * count


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)
"""torch's warning, which programs expect and filter; here no cycle stays: leaves are held by their tethers."""


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    **legacy: Any,
) -> None:
    """Sum of gradients of ``tensors`` into the ``.grad`` of the leaves they came from.

    ``grad_tensors`` are the cotangents, one per tensor (None for one-element tensors).  ``retain_graph`` (default: the
    value of ``create_graph``) keeps the saved values for another pass; ``create_graph`` records the pass, so that
    gradients can be differentiated; ``inputs`` limits the pass to some tensors.

    >>> import symgrad as sg
    >>> x = sg.tensor([1.0, 2.0], requires_grad=True)
    >>> sg.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if transforming():
        raise AutogradError(IN_TRANSFORM)
    retain_graph, grad_tensors = _legacy(retain_graph, grad_tensors, grad_variables, legacy)
    if WATCH.count:
        note_problem("backward() adds into .grad, which a program cannot do; use autograd.grad or symgrad.func.grad")
    outputs = _placed(_sequence(tensors))
    gradients = (None,) * len(outputs) if grad_tensors is None else _sequence(grad_tensors)
    if len(gradients) != len(outputs):
        raise AutogradError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    targets = None
    if inputs is not None:
        targets = _placed(_sequence(inputs))
        if not targets:
            raise AutogradError("`inputs` argument to `backward()` cannot be empty.")
        _refuse_others(targets)
        if not all(t.requires_grad for t in targets):
            raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
    _check(outputs)
    if create_graph:
        warnings.warn(_CYCLE, UserWarning, stacklevel=3)
    keep = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(outputs, gradients, create_graph)
    origin = Origin(outputs, gradients)
    allowed = None if targets is None else {id(root_of(t)) for t in targets}
    seeds = [turned(seed) for seed in seeds]
    origin.taken.update(map(id, seeds))
    rescue = Rescue(outputs, seeds, targets or ())
    finish = giving_to_leaves(origin, rescue, allowed, create_graph)
    wanted = None if targets is None else [root_of(t) for t in targets]
    sweep = run_sweep(outputs, seeds, wanted, keep, create_graph, origin, finish, run_wanted=True)
    for t in targets or ():
        if t._node is not None and not t.retains_grad:
            if t._node in sweep.found:
                accumulate(t, turned(rescue(t._node, sweep.found[t._node])), create_graph, origin)
            t.retain_grad()
    _free_of_cycles(sweep)


def _free_of_cycles(sweep: Sweep) -> None:
    """After a pass that was recorded, or went on from one: what gradients keep holds the leaves weakly."""
    if sweep.create_graph or any(held(leaf) is not leaf for leaf in sweep.leaves):
        tethered(sweep.met)
        loosen(leaf._extra.grad for leaf in sweep.leaves if leaf._extra.grad is not None)


def _legacy(retain_graph: Any, grad_tensors: Any, grad_variables: Any, legacy: dict[str, Any]) -> tuple[Any, Any]:
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", DeprecationWarning, stacklevel=3)
        if grad_tensors is not None:
            raise AutogradError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if "retain_variables" in legacy:
        warnings.warn("'retain_variables' is deprecated. Use 'retain_graph' instead.", DeprecationWarning, stacklevel=3)
        retain_graph = legacy.pop("retain_variables")
    if legacy:
        raise ArgumentError(f"backward() got unexpected arguments {sorted(legacy)}")
    return retain_graph, grad_tensors


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]:
    """Gradients of the sum of ``outputs`` (weighted by ``grad_outputs``) with respect to ``inputs``.

    Returns one tensor per input, None for an unused one with ``allow_unused``; ``materialize_grads`` gives zeros
    instead.  For a dict of inputs it is a dict of gradients by the same keys.  Arguments and errors are torch's.

    >>> import symgrad as sg
    >>> x = sg.tensor(3.0, requires_grad=True)
    >>> (g,) = sg.autograd.grad(x**2, x, create_graph=True)
    >>> g, sg.autograd.grad(g, x)
    (tensor(6., grad_fn=<MulBackward0>), (tensor(2.),))
    """
    if isinstance(inputs, Mapping):
        given = (grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched)
        return _by_keys(outputs, inputs, *given, materialize_grads)
    asked, outs = _sequence(inputs), _placed(_sequence(outputs))
    targets = _placed(asked)
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True).", FutureWarning, stacklevel=2
        )
    if materialize_grads and allow_unused is False:
        raise ArgumentError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not targets:
        raise AutogradError("`inputs` argument to `grad()` cannot be empty.")
    _refuse_others(targets)
    gradients = (None,) * len(outs) if grad_outputs is None else _sequence(grad_outputs)
    if len(gradients) != len(outs):
        raise AutogradError(f"got {len(outs)} tensors and {len(gradients)} gradients")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        from symgrad.autograd.jacobians.rows import pulled_batch

        found, origin = pulled_batch(grad, outs, targets, gradients, keep, create_graph), Origin(outs, gradients)
    elif [x for x in (*outs, *targets, *gradients) if x.__class__ is not Tensor and isinstance(faced(x), Dual)]:
        options = {"create_graph": create_graph, "allow_unused": allow_unused, "materialize_grads": materialize_grads}
        return moved_gradients(grad, outs, asked, gradients, keep, options)
    else:
        found, origin = _pulled(outs, targets, gradients, keep, create_graph)
    return tuple(
        [
            _missing(k, asked[k], targets[k], origin, allow_unused, materialize_grads, create_graph) if g is None else g
            for k, g in enumerate(found)
        ]
    )


def _by_keys(outputs: Any, inputs: Mapping[Any, Any], *given: Any) -> tuple[Any, ...]:
    """The gradients of a dict of inputs, by the same keys."""
    if type(inputs) is not dict:
        raise ArgumentError(
            f"`inputs` argument to `grad()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported."
        )
    return dict(zip(inputs, grad(outputs, tuple(inputs.values()), *given), strict=True))  # type: ignore[return-value]


def _pulled(
    outs: Sequence[Any], targets: Sequence[Any], gradients: Sequence[Any], keep: bool, create_graph: bool
) -> tuple[list[Any], Origin]:
    """The gradient of each target from one pass, None where none arrives; and what the pass began from."""
    _check(outs)
    _check_targets(targets)
    watched = WATCH.count > 0 and bool(WATCH.local.stack)
    ends = watched and not create_graph  # what a tracer alone has of the pass is not derived
    if watched:
        create_graph = keep = True  # a tracer needs the pass on the tape
    began = next(sequence) if watched else 0
    seeds = _seeds(outs, gradients, create_graph)
    origin = Origin(outs, gradients)
    wanted = [root_of(t) for t in targets]
    origin.wanted, origin.recorded = frozenset(map(id, wanted)), create_graph
    seeds = [turned(seed) for seed in seeds]
    rescue = Rescue(outs, seeds, targets)

    def finish(leaf: Any, g: Any) -> Any:
        return leaf_hooks(leaf, None if g is None else turned(rescue(leaf, g)), origin)

    reachable = [edge for edge, t in zip(wanted, targets, strict=True) if not out_of_reach(t)]
    sweep = run_sweep(outs, seeds, reachable, keep, create_graph, origin, finish)
    if watched:
        note_pass(began, next(sequence))
    if origin.calls or sweep.calls:
        name_inside(origin, [*origin.calls, *sweep.calls])
    results: list[Any] = []
    for edge, t in zip(wanted, targets, strict=True):
        g = sweep.found.get(edge)
        if g is not None and t._node is not None:
            g = turned(rescue(edge, g))
        found = g if g is None else _result(g, origin, t)
        results.append(found.detach() if ends and found is not None else found)
    return results, origin


def _missing(
    k: int, asked: Any, target: Any, origin: Origin, allow_unused: bool | None, materialize: bool, create_graph: bool
) -> Any:
    """What is given for a tensor that was not used, or torch's error."""
    if materialize:
        return _zeros(asked, target, origin)._require(create_graph or origin.recorded)
    if allow_unused:
        return None
    raise AutogradError(
        f"The differentiated Tensor at index {k} appears to not have been used in the graph. Set allow_unused=True if "
        f"this is the desired behavior. ({target.name or 'unnamed'}, shape {tuple(target._value.shape)})"
    )


def _zeros(asked: Any, target: Any, origin: Origin) -> Any:
    """The gradient of a tensor that was not used, for ``materialize_grads``."""
    if isinstance(asked, GradientEdge):
        raise AutogradError("materialize_grads cannot be used when the given input is a GradientEdge")
    return _result(np.zeros_like(target._value)[()], origin, target)


def _result(g: Any, origin: Origin, target: Any) -> Any:
    """A gradient as :func:`grad` returns it: a tensor that knows where it came from."""
    if not isinstance(g, Recorded):
        own = not isinstance(g, np.ndarray) or (g.base is None and g.flags.c_contiguous)
        fits = not own and g.shape == target._value.shape  # not where the leaf has another shape by now
        value = g if own else like_the_leaf(g, target._value)[()] if fits else g.copy()
        return attach(plain(Tensor, value), origin, target)
    if g._node is not None and g._node.sequence_nr > origin.began:
        g = name_gradient(g, origin, root_of(target))
    if not g._requires_grad:
        g.more().came = (origin, root_of(target))
    return g

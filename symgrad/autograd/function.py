"""Custom functions: a forward and a backward written by the user, as in ``torch.autograd.Function``."""

from __future__ import annotations

import inspect
import itertools
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

import numpy as np

from symgrad.autograd.functions.batched import LEVELS, ruled
from symgrad.autograd.functions.context import FunctionCtx
from symgrad.autograd.functions.handed import USED_LEAF, attached, check_dirty, check_kept, unrecorded
from symgrad.autograd.functions.keeping import attributes_standing, left_by
from symgrad.autograd.functions.once import once_differentiable as once_differentiable
from symgrad.autograd.functions.outside import running
from symgrad.autograd.functions.packing import Held, replaced
from symgrad.autograd.functions.pushforward import NO_JVP, pushed
from symgrad.autograd.functions.stated import Point, rule_of
from symgrad.autograd.functions.symbolic import Signature, node_op, output_node
from symgrad.autograd.graph import class_named
from symgrad.dtypes import is_floating, is_real_floating, torch_name
from symgrad.errors import ArgumentError, AutogradError, UnsupportedDerivative
from symgrad.interop.ndarray import Array
from symgrad.op import shape_of
from symgrad.ops.rules.refusals import TWO_KINDS
from symgrad.tape.forward.dual import Dual, faced
from symgrad.tape.forward.jets import Jet
from symgrad.tape.graph import Node, Parts, new_node
from symgrad.tape.layout import written_out
from symgrad.tape.memory.aliases import Invalid, follow
from symgrad.tape.memory.inplace import refuse
from symgrad.tape.memory.views import count_change, inferred, out_of_reach, view_of
from symgrad.tape.modes import MODE, is_grad_enabled, own_no_grad
from symgrad.tape.observers import NODES, PackedRow, observed
from symgrad.tape.record import INFERENCE_SAVED, Recorded, as_leaves, plain, traced
from symgrad.tape.standins import inner
from symgrad.tape.watching.captured import apart, inside
from symgrad.tape.watching.lookthrough import met_functions
from symgrad.tensor import Tensor

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]

LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method ({0}.forward), and call {0}.apply(...)."
)

_PLACES = ("_node", "_kinds")
"""Attributes of a context that say where it stands in the graph."""


class Run:
    """One application of a function: its context, how it was called, and the gradients of the pass under way."""

    __slots__ = ("ctx", "gave", "left", "outputs", "pending", "places", "point", "signature", "unreached")

    def __init__(self, signature: Signature, ctx: FunctionCtx, outputs: tuple[Any, ...]):
        self.signature = signature
        self.ctx = ctx
        self.left = left_by(ctx)
        self.outputs = outputs
        # What backward gave for each argument: None, "same" for a gradient that it got, else shape and dtype.
        self.gave: tuple[Any, ...] = ()
        self.pending: tuple[Any, dict[int, Any]] | None = None
        self.places: dict[int, weakref.ref[Node]] = {}
        self.unreached: tuple[int, ...] = ()  # arguments that require grad only as their base does
        self.point: Point | None = None  # what a function with a symbolic rule was applied to

    def place(self, k: int) -> Node | None:
        """Where output ``k`` of several stands in the graph, while anybody holds it."""
        return self.places[k]() if k in self.places else None

    def __getstate__(self) -> Any:
        # What the context has of the graph, its places and the tensors, is written by the node's own record.
        kinds = tuple((kind, None) for kind, _ in self.ctx._kinds)
        count = itertools.count()
        own = {k: replaced(v, Recorded, lambda _: Held(next(count))) for k, v in self._own().items()}
        return (self.signature, own, kinds, self.outputs, None if self.point is None else self.point.values)

    def __setstate__(self, state: Any) -> None:
        self.signature, own, kinds, self.outputs, values = state
        self.point = None if values is None else Point(values)
        self.ctx, self.gave, self.pending, self.places, self.unreached = FunctionCtx(), (), None, {}, ()
        vars(self.ctx).update(own)
        self.ctx._kinds = kinds
        self.left = left_by(self.ctx)

    def copied(self, memo: dict[int, Any]) -> Run:
        """A run of its own for a copied node."""
        import copy

        made = Run.__new__(Run)
        signature, _, kinds, outputs, values = self.__getstate__()
        own = copy.deepcopy(self._own(), memo)
        made.__setstate__((signature, own, kinds, outputs, copy.deepcopy(values, memo)))
        return made

    def _own(self) -> dict[str, Any]:
        """The attributes of the context that do not say where it stands."""
        return {k: v for k, v in vars(self.ctx).items() if k not in _PLACES}

    def tensors(self) -> list[Any]:
        """The tensors among the attributes of the context, also in containers."""
        found: list[Any] = []
        for value in self._own().values():
            replaced(value, Recorded, found.append)
        return found

    def fill(self, tensors: list[Any]) -> None:
        """Put the tensors into the context that was pickled without them."""
        own = {k: replaced(v, Held, lambda held: tensors[held.k]) for k, v in self._own().items()}
        vars(self.ctx).update(own)
        self.left = left_by(self.ctx)

    def gradient(self, i: int, g: Any) -> Any:
        """The gradient for tensor argument ``i``; ``backward`` runs once for all of them."""
        if self.pending is None or self.pending[0] is not g or i not in self.pending[1]:
            self.pending = (g, dict(enumerate(self._backward(g))))
        rest = self.pending[1]
        found = rest.pop(i)
        if not rest:
            self.pending = None
        return found

    def _incoming(self, g: Any) -> list[Any]:
        parts = g.parts if isinstance(g, Parts) else {0: g}
        grads = []
        for k, like in enumerate(self.outputs):
            part = parts.get(k)
            if part is None and like is not None and self.ctx.materialize_grads:
                part = np.zeros(*like)[()]
            grads.append(part if part is None or isinstance(part, Recorded) else plain(Tensor, written_out(part)))
        return grads

    def _backward(self, g: Any) -> list[Any]:
        signature = self.signature
        grads = self._incoming(g)
        node = self.ctx._node() if self.ctx._node is not None else None
        with attributes_standing(self.ctx, node, self.left), running(signature.function, "backward"):
            results = signature.function.backward(self.ctx, *grads)
        rows = list(results) if isinstance(results, (tuple, list)) else [results]
        wanted = signature.pattern
        if len(rows) > len(wanted) and all(r is None for r in rows[len(wanted) :]):
            rows = rows[: len(wanted)]
        name = f"{signature.function.__name__}Backward"
        if len(rows) != len(wanted):
            raise AutogradError(
                f"function {name} returned an incorrect number of gradients (expected {len(wanted)}, got {len(rows)})"
            )
        shapes = signature.shapes
        for k, shape in enumerate(shapes):
            if shape is None and rows[k] is not None:
                raise AutogradError(
                    f"function {name} returned a gradient different than None at position {k + 1}, but the "
                    "corresponding forward input was not a Variable"
                )
        places = [k for k, shape in enumerate(shapes) if shape is not None]
        recorded = any(isinstance(x, Recorded) and x._requires_grad for x in grads) or is_grad_enabled()
        made = [
            None if k in self.unreached else _checked(rows[k], name, k, shapes[k], dtype, recorded)
            for k, dtype in zip(places, signature.dtypes, strict=True)
        ]
        self.gave = tuple(_seen(rows[k], grads) for k in places)
        return made


def _seen(g: Any, grads: list[Any]) -> Any:
    """What torch's engine sees of a gradient, besides its entries."""
    if g is None:
        return None
    return "same" if any(g is other for other in grads) else (tuple(shape_of(g._value)), g._value.dtype, g._version)


def _checked(g: Any, name: str, k: int, shape: Any, dtype: Any, recorded: bool) -> Any:
    if g is None:
        return None
    if not isinstance(g, Recorded):
        raise ArgumentError(
            f"expected Variable or None (got {type(g).__name__}): function {name} returned it as gradient {k}"
        )
    got = shape_of(g._value)
    lead = len(got) - len(shape)
    if lead < 0 or any(want not in (1, have) for want, have in zip(shape, got[lead:], strict=True)):
        raise AutogradError(
            f"Function {name} returned an invalid gradient at index {k} - got {list(got)} but expected shape "
            f"compatible with {list(shape)}"
        )
    if not is_real_floating(g._value.dtype) and (g._value.dtype.kind == "c") is not (dtype.kind == "c"):
        raise AutogradError(
            f"{TWO_KINDS} Function {name} returned a gradient of {torch_name(g._value.dtype)} at index {k} for an "
            f"argument of {torch_name(dtype)}; return its real part where the argument is real."
        )
    return g if recorded else np.array(g._value)[()]


# ---------------------------------------------------------------------------------------------- the base class


class _BackwardClass:
    """The class of a function's nodes: ``type(y.grad_fn) is F._backward_cls``."""

    def __get__(self, _: Any, owner: type) -> type:
        return class_named(f"{owner.__name__}Backward")


class Function:
    """Base of custom functions: define static ``forward(ctx, …)`` and ``backward(ctx, *grads)``, call ``apply``.

    ``forward`` may leave out ``ctx`` when a static ``setup_context(ctx, inputs, output)`` is defined.  ``backward``
    gets one gradient per output and returns one per argument of ``apply`` (None for those that have none).  The formula
    of a result comes from running ``forward`` on formulas, that of its gradient from running ``backward`` on them;
    where one of them needs values, its formula is an opaque function of that name, or what a static ``symbolic`` says:
    it gets the arguments of ``apply``, with formulas for tensors, and returns the formula of the result (a tuple where
    there are several, None where it has no formula).  ``FormulaError`` where that is not what ``forward`` gave.
    Numbers never come from the rule; formulas, programs and ``evalf`` do.

    >>> import symgrad as sg
    >>> class Cube(sg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * 3 * x * x
    >>> x = sg.tensor(2.0, requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y
    tensor(8., grad_fn=<CubeBackward>)
    >>> y.backward()
    >>> x.grad
    tensor(12.)
    >>> class Table(Cube):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return sg.tensor(x.numpy() ** 3)
    ...
    ...     @staticmethod
    ...     def symbolic(x):
    ...         return x**3
    >>> Table.apply(sg.tensor(2.0, requires_grad=True, name="x")).expr
    x**3
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        import warnings

        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            f"invoke them on the class itself: use {type(self).__name__}.apply(...).",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Raise: instances do nothing."""
        raise AutogradError(LEGACY.format(type(self).__name__))

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs from the arguments of ``apply``; the user defines it."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save for backward, where ``forward`` has no ``ctx``; the user defines it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any, **_: Any) -> Any:
        """Gradients of the arguments from those of the outputs; the user defines it."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Tangents of the outputs from those of the arguments; where it is missing, ``backward`` is transposed."""
        raise NotImplementedError(NO_JVP)

    symbolic: ClassVar[Callable[..., Any] | None] = None
    """The formula of the function, where a subclass states one: a static ``symbolic`` of the arguments of ``apply``."""

    clear_saved_tensors_on_access = False
    """Whether ``ctx.saved_tensors`` gives what it holds away: nothing but the caller keeps it then, and once only."""

    vjp = backward
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """The function on a batch: :func:`symgrad.func.vmap` calls it in place of one run of ``forward`` per example.

        ``info`` has the ``batch_size`` and the ``randomness`` of the call, ``in_dims`` the axis of the batch in each
        argument (None for those that have none).  It returns the outputs and the axes of the batch in them.  A
        function without it runs on one example after the other, with ``generate_vmap_rule`` or not.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    _backward_cls = _BackwardClass()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = cls.__dict__
        if "vjp" in own and "backward" not in own:
            cls.backward = own["vjp"]  # type: ignore[method-assign]
        elif "backward" in own and cls.vjp is not Function.vjp:
            cls.backward = staticmethod(_refuse_two)  # type: ignore[assignment]

    @classmethod
    def apply(cls, *args: Any, **named: Any) -> Any:
        """Run ``forward`` and record the function as one node named ``<class name>Backward``.

        Arguments that are given by keyword have their places among the gradients, too.
        """
        if named or has_setup(cls):
            args = _in_order(cls, args, named)
        args = tuple(map(faced, args))
        array = next((a for a in args if isinstance(a, Array)), None)
        if array is not None and met_functions() is None:  # a program for arrays calls it
            return array.whole(cls.apply(*inner(args)))
        if LEVELS.open and (found := ruled(cls, args)) is not NotImplemented:
            return found
        met = met_functions()
        if met is not None:
            met.append(cls.__name__)
            ctx = FunctionCtx()
            ctx.needs_input_grad = (True,) * len(args)
            return run_forward(cls, ctx, args)
        if any(isinstance(a, Dual) for a in args):
            return pushed(cls, args, lambda primals, moving: _applied(cls, primals, moving))
        if any(isinstance(a, Jet) for a in args):
            raise UnsupportedDerivative(
                f"{cls.__name__} is a custom function, which has no Taylor series (func.jet, func.taylor): its "
                "backward is a first derivative. Write it with tensor operations, or nest func.jvp."
            )
        return _applied(cls, args)[1]


def _applied(cls: type[Function], args: tuple[Any, ...], moving: Sequence[bool] = ()) -> tuple[FunctionCtx, Any]:
    """Run and record a function; arguments that ``moving`` marks have a tangent, so their gradient is wanted, too."""
    if MODE.inferred and MODE.local.enabled:
        with as_leaves(args):
            return _run(cls, args, moving)
    return _run(cls, args, moving)


def _run(cls: type[Function], args: tuple[Any, ...], moving: Sequence[bool]) -> tuple[FunctionCtx, Any]:
    ctx = FunctionCtx()
    ctx.needs_input_grad = tuple(isinstance(a, Recorded) and a._requires_grad for a in args)
    if moving:
        ctx.needs_input_grad = tuple(a or b for a, b in zip(ctx.needs_input_grad, moving, strict=True))
    for arg in args if not MODE.exceptional or is_grad_enabled() else ():
        if isinstance(arg, Recorded) and isinstance(arg._node, Invalid):
            arg.edge()  # raises, before forward can change anything
    with own_no_grad(), apart() if inside() else nullcontext():
        returned = run_forward(cls, ctx, args)
    if has_setup(cls):
        check_kept(ctx, args, returned)
    if not moving:
        ctx.saved_for_forward = None  # nobody will ask, and an output there would hold its own node
    else:
        marked = {id(t) for t in ctx.non_differentiable}
        outputs = returned if isinstance(returned, tuple) else (returned,)
        ctx.still = tuple(
            isinstance(o, Recorded) and (id(o) in marked or not is_floating(o._value.dtype)) for o in outputs
        )
    return ctx, _recorded(cls, ctx, args, returned)


class InplaceFunction(Function):
    """The old base of functions that change their input; ``Function`` with ``ctx.mark_dirty`` does the same."""


def _refuse_two(*_: Any) -> Any:
    raise AutogradError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
        "them."
    )


def _in_order(cls: type[Function], args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of ``forward`` by position, up to the last one that was given; with ``setup_context`` all."""
    complete = has_setup(cls)
    lead = () if complete else (None,)
    try:
        bound = inspect.signature(cls.forward).bind(*lead, *args, **named)
    except TypeError as error:
        raise ArgumentError(f"{cls.__name__}.apply(): {error}") from error
    given = set(bound.arguments)
    bound.apply_defaults()
    row = list(bound.args)
    names = list(bound.arguments)[: len(row)]
    if bound.kwargs:
        raise ArgumentError(f"{cls.__name__}.apply(): forward takes {sorted(bound.kwargs)} by keyword only")
    while not complete and names and len(names) == len(row) and names[-1] not in given:
        names.pop()
        row.pop()
    return tuple(row[len(lead) :])


def has_setup(cls: type[Function]) -> bool:
    """Whether the function saves in ``setup_context``, so that ``forward`` has no ``ctx``."""
    return cls.setup_context is not Function.setup_context


def run_forward(cls: type[Function], ctx: FunctionCtx, args: Sequence[Any]) -> Any:
    """``forward`` in the style the class uses; arguments may be tensors or formulas."""
    with running(cls, "forward"):
        if not has_setup(cls):
            return cls.forward(ctx, *args)
        returned = cls.forward(*args)
        cls.setup_context(ctx, tuple(args), returned)
        return returned


def _recorded(cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], returned: Any) -> Any:
    tensors = [a for a in args if isinstance(a, Recorded)]
    outputs = returned if isinstance(returned, tuple) else (returned,)
    recording = not MODE.exceptional or is_grad_enabled()
    keep = recording and any(map(traced, tensors))
    dirty = {id(t) for t in ctx.dirty_tensors}
    _note_changes(ctx.dirty_tensors, tensors, outputs, keep, cls.__name__)
    if not keep or not outputs:
        return unrecorded(returned, tensors, dirty, cls.__name__)
    ctx.dirty_tensors = tuple(t for t in ctx.dirty_tensors if any(t is x for x in tensors))
    dirty = {id(t) for t in ctx.dirty_tensors}
    several = isinstance(returned, tuple)
    signature = Signature(cls, args, len(outputs) if several else None)
    mask = sum(1 << k for k, t in enumerate(tensors) if t._requires_grad)
    plain_ids = {id(t) for t in ctx.non_differentiable}
    without = () if ctx._materialize_non_diff_grads else plain_ids  # zeros are not made for these
    run = Run(
        signature,
        ctx,
        tuple(
            (o._value.shape, o._value.dtype) if isinstance(o, Recorded) and id(o) not in without else None
            for o in outputs
        ),
    )
    if rule_of(cls) is not None:
        run.point = Point(tuple(t._value for t in tensors))
    run.unreached = tuple(k for k, a in enumerate(args) if isinstance(a, Recorded) and out_of_reach(a))
    first = outputs[0]
    single = not several and isinstance(first, Recorded)
    node = new_node(
        node_op(cls), tuple(t.edge() for t in tensors), {"run": run}, mask, first._value.shape if single else (),
        first.dtype if single else None, (),
    )  # fmt: skip
    if mask and MODE.inferred and not MODE.local.closed and any(map(inferred, ctx.to_save)):
        raise AutogradError(INFERENCE_SAVED)
    node.saved = _pack(ctx, tensors, outputs, several)
    if NODES:
        observed(node)
        if node.saved.__class__ is PackedRow:
            for k in range(len(node.saved)):
                ctx.let_go(k)
    ctx._node = weakref.ref(node)
    results: list[Any] = []
    for k, out in enumerate(outputs):
        if not isinstance(out, Recorded) or (id(out) in dirty and any(out is r for r in results)):
            results.append(out)
            continue
        place = output_node(node, k, out._value) if several else node
        if several:
            run.places[k] = weakref.ref(place)
        made = attached(out, place, tensors, dirty, id(out) in plain_ids)
        if len(outputs) > 1 and (view := view_of(made)) is not None:
            view.marked("several", (k, cls.__name__))
        results.append(made)
    ctx.to_save = ctx.non_differentiable = ctx.dirty_tensors = ()
    return tuple(results) if several else results[0]


def _note_changes(dirty: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], keep: bool, name: str) -> None:
    """Count the changes that ``forward`` says it made, and raise torch's errors for those that must not be."""
    for t in dirty:
        count_change(t)  # what is refused has happened: forward changed the memory
    check_dirty(dirty, inputs, outputs, keep)
    for t in dirty if keep else ():
        if any(t is x for x in inputs):
            try:
                if t._requires_grad and (t._node is None or (t._lost and not t._node.recorded)):
                    raise AutogradError(USED_LEAF)
                refuse(t, tuple(inputs), name)
            except AutogradError:
                follow(t)
                raise


def _pack(ctx: FunctionCtx, inputs: list[Any], outputs: Sequence[Any], several: bool) -> tuple[Any, ...]:
    kinds: list[tuple[str, Any]] = []
    values: list[Any] = []
    constant = {id(t) for t in ctx.non_differentiable}
    for t in ctx.to_save:
        position = next((k for k, o in enumerate(outputs) if o is t and id(o) not in constant), None)
        if t is None:
            kinds.append(("kept", None))
        elif position is not None and (any(t is d for d in ctx.dirty_tensors) or not any(t is x for x in inputs)):
            fixed = any(t is d for d in ctx.non_differentiable) or not is_floating(t._value.dtype)
            kinds.append(("fixed" if fixed else "output", position if several else None))
        elif t._node is not None:
            kinds.append(("node", t._node))
        else:
            kinds.append(("leaf" if t._requires_grad else "kept", t))
        values.append(None if t is None else t._value)
    ctx._kinds = tuple(kinds)
    return tuple(values)

"""Recording: how an op on tensors runs its kernel and leaves one node on the tape.

:func:`apply` is the path for any op; elementwise ops of tensors take a shorter one, :mod:`symgrad.tape.fast`.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from symgrad.dtypes import (
    NARROW,
    SINGLE,
    float32,
    float64,
    is_floating,
    wrapped,
)
from symgrad.errors import AutogradError, DividedByZero
from symgrad.kernels import kept_order
from symgrad.op import Length, Op, lookup, shape_of
from symgrad.ops.indexing.places import INTO
from symgrad.ops.torch_nodes.rewrites import COPYING, OF_OPS, no_place_for, rewrites
from symgrad.tape.explaining import explain, refused
from symgrad.tape.formulas.constants import SMALL, noted, turned_about
from symgrad.tape.formulas.variables import called_like_variable
from symgrad.tape.graph import Labelled, Node, Source
from symgrad.tape.layout import arranged, laid_out
from symgrad.tape.memory.aliases import Invalid
from symgrad.tape.memory.arrays import as_it_is
from symgrad.tape.memory.versions import Given, changes, note_scalar, set_apart, storage
from symgrad.tape.memory.views import View, inferred, note_view, out_of_reach
from symgrad.tape.modes import MODE
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import NODES, observed
from symgrad.tape.operands import as_operand, promoted, reject_strangers
from symgrad.tape.saved import select_saved
from symgrad.tape.watching.numbers import as_numbers
from symgrad.tape.watching.watch import WATCH, note_constant, watches_everything

_ARRAYS = (np.ndarray, np.generic)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `no_grad()` instead of `inference_mode()`."
)


class Extra:
    """Rare things about a tensor; most tensors never get one.

    copied     a reference to the user's array that the value is, or is a copy of
    counted    what the tensor's version number has besides the changes of its memory: those of its former memory when
               ``.data`` was set
    counts     an inference tensor that counts its changes: one taken off another outside of inference mode
    depth      how many transformed functions ran when it became a leaf
    detached   a reference to the tensor with history whose memory this one shares without
    came       the pass, and the place, that a gradient without history came from, where ``origin`` does not say
    formed     when it got another shape or dtype, by ``.data`` or in place without grad, and those until then
    former     references to the arrays that the tensor had before ``.data`` was set
    given      a ``.grad`` that no pass made, though passes were added to it, and what a transform of a function gave
    grad_dtype ``(dtype,)`` that gradients of this leaf are cast to, ``(None,)`` for any; None for the leaf's own
    inference  made in inference mode; such a tensor only ``claims`` to require grad, since nothing records it
    inner      the creation number since which it is a leaf that a transformed function made, by which nobody outside
               differentiates; without bound for a variable of ``func.vjp``, which is its pullback's alone
    sized      of a constant: the lengths that it was made with, and comparisons of sizes that are in its entries
    renewed    the creation number at which ``.data`` was last set, 0 if never
    strides    of a tensor without entries: those that the NumPy array had which it came from
    tether     how graphs that gradients keep hold this leaf, once a recorded pass went over it
    twin       shares the memory of the tensor that it was detached from
    undetermined  a constant (``eye``, ``ones`` …) made without a dtype: it has the default one until it meets a finer
    """

    accumulate: Any = None
    came: Any = None
    claims = False
    copied: Any = None
    counted = 0
    counts = False
    depth = 0
    detached: Any = None
    formed: list[tuple[int, tuple[int, ...], Any]] | None = None
    former: tuple[Any, ...] = ()
    given = False
    grad: Any = None
    grad_dtype: tuple[Any] | None = None
    inference = False
    inner = 0.0
    metadata: dict[str, Any] | None = None
    name: str | None = None
    origin: Any = None
    origin_at = 0
    recipe: Any = None
    renewed = 0
    retains = False
    score: Any = None
    site: Any = None
    sized: frozenset[Any] = frozenset()
    source: Source | None = None
    strides: tuple[int, ...] | None = None
    structure: str | None = None
    tether: Any = None
    twin = False
    undetermined = False
    view: View | None = None
    views: list[Any] | None = None

    def __init__(self) -> None:  # every view has a record: what stands above costs it nothing
        self.hooks: dict[int, Any] = {}
        self.post: dict[int, Any] = {}

    def plain(self) -> bool:
        """Whether nothing here lets results of the tensor be recorded (:func:`traced`)."""
        return self.name is None and self.origin is None and self.structure is None and not self.claims


class Recorded:
    """The part of a tensor that the tape knows: a value, its node, and whether it requires grad."""

    __slots__ = ("__weakref__", "_extra", "_node", "_requires_grad", "_value")

    _value: Any
    _node: Node | None
    _requires_grad: bool
    _extra: Extra | None

    __hash__ = object.__hash__

    def _array(self) -> Any:
        """The value as an array that others may share; a 0-d scalar becomes a 0-d array for good."""
        value = self._value
        if not isinstance(value, np.ndarray):
            self._value = note_scalar(value)
            if self._extra is not None and self._extra.tether is not None:
                self._extra.tether.value = self._value
        return self._value

    def more(self) -> Extra:
        """The record of rare things, made on first use."""
        if self._extra is None:
            self._extra = Extra()
        return self._extra

    def source(self, saved: bool | None = None) -> Source:
        """How this tensor appears as a constant of other tensors' graphs; ``saved``: with its value.

        Raises AutogradError where an inference tensor would be saved, or claims to be no constant: the fast paths,
        which say whether they save it, leave that to the careful one.
        """
        extra = self.more()
        if saved is not None and extra.inference and (extra.claims or (saved and not MODE.local.closed)):
            raise AutogradError(INFERENCE_SAVED)
        if extra.recipe is not None and changes(self._value):
            extra.recipe = None  # a constant that was changed in place is no longer what made it
            if extra.source is not None:
                extra.source.recipe = None
        if WATCH.count and extra.source is not None and extra.source.outlived(self._value):
            extra.source = None  # the program goes on with the entries of now
        if extra.source is None:
            extra.source = Source(self, shape_of(self._value), self._value.dtype, extra.name, extra.site)
            extra.source.structure = extra.structure
            extra.source.recipe, extra.source.sized = extra.recipe, extra.sized
            extra.source.copied = extra.copied
            if self._value.nbytes <= SMALL or (WATCH.count and self._value.base is not None):
                # The value, not the tensor: a tensor that knew a record which kept the tensor would be a cycle.
                # A copy of a view: what it is a view of may be written to.
                extra.source.kept = self._value if self._value.base is None else self._value.copy()
            if extra.view is not None and extra.source.recipe is None and extra.name is extra.site is None:
                extra.source.recipe = turned_about(extra.view)
        if WATCH.count:
            note_constant(self, extra.source)
            called_like_variable(self, extra.source, plain)
        return extra.source

    def edge(self, saved: bool | None = None) -> Any:
        """What a node stores for this argument: the node it came from, the leaf itself, or a constant's record.

        >>> import symgrad as sg
        >>> x = sg.tensor(2.0, requires_grad=True)
        >>> y = x * x
        >>> x.edge() is x, y.edge().op.name
        (True, 'mul')
        """
        node: Any = self._node
        if node is not None:
            if node.__class__ is Invalid:
                raise node.error()
            return node
        return self if self._requires_grad else self.source(saved)

    @property
    def _lost(self) -> bool:
        """Whether this is a view without history since its base was changed: asking for its node is an error."""
        node: Any = self._node
        return node.__class__ is Invalid

    @property
    def _watched(self) -> bool:
        """Whether a tracer looks on: to it every value that is read fixes a program."""
        return WATCH.count > 0

    def has_hooks(self) -> bool:
        """Whether something runs when this leaf's gradient is complete."""
        extra = self._extra
        return extra is not None and bool(extra.hooks or extra.post)


def value_of(item: Any) -> Any:
    """The array of a tensor, or the array itself."""
    return item._value if isinstance(item, Recorded) else item


def root_of(tensor: Any) -> Any:
    """Where a tensor stands in the graph: its node, or the leaf itself."""
    return tensor if tensor._node is None else tensor._node


BETWEEN: set[Any] = set()
"""The code of what may stand between a function and its caller."""


def call_site(depth: int) -> Any:
    """Where the caller stands, cheaply: its code object and instruction; the name is read from it when needed."""
    frame: Any = sys._getframe(depth + 1)
    while frame.f_code in BETWEEN and frame.f_back is not None:
        frame = frame.f_back
    return (frame.f_code, frame.f_lasti)


def traced(tensor: Recorded) -> bool:
    """Whether results of this tensor are recorded: it requires grad, has a node, was named, or is known exactly."""
    extra = tensor._extra
    return (
        tensor._requires_grad
        or tensor._node is not None
        or (
            extra is not None
            and (extra.name is not None or extra.origin is not None or extra.structure is not None or extra.claims)
        )
    )


def given(cls: Any, array: Any, read: bool = True) -> Any:
    """A tensor without history with the values that a user's array has now; ``read``: backward may read them."""
    if WATCH.count:  # tracers look for changes themselves
        return plain(cls, array)
    made = plain(cls, as_it_is(array, read))
    if array.base is None:
        made.more().copied = weakref.ref(array)
    return made


def plain(cls: Any, value: Any) -> Any:
    """A tensor without history; in inference mode an inference tensor.

    A truth value is an array also where it is 0-d: NumPy has two scalars of them, of which all tensors would have one.
    """
    made = cls.__new__(cls)
    made._value = np.array(value) if value.__class__ is np.bool else value
    made._node = None
    made._requires_grad = False
    made._extra = None
    if MODE.exceptional and MODE.local.inference:
        made.more().inference = True
    return made


def apply(cls: Any, op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:  # noqa: C901
    """Run ``op`` on tensors, arrays and numbers, and record it if a gradient or a formula may be asked for."""
    values: list[Any] = []
    mask, keep, dtype, alike, vjps = 0, False, None, True, op.vjps
    for i, arg in enumerate(args):
        kind = arg.__class__
        if kind is cls or isinstance(arg, Recorded):
            values.append(value := arg._value)
            if dtype is None:
                dtype = value.dtype
            elif value.dtype is not dtype:
                alike = False
            if arg._requires_grad:
                keep = True
                if callable(vjps) or (i < len(vjps) and vjps[i] is not None):
                    mask |= 1 << i
                elif op.apart(i):
                    return op.define(*args, **params)  # type: ignore[misc]
            elif not keep and (arg._node is not None or arg._extra is not None):
                keep = traced(arg)
        elif kind is float or kind is int:
            values.append(arg)
        else:
            alike = False
            values.append(as_operand(op, arg, i))
            if isinstance(arg, (np.generic, Length)) and values[i] is not arg:
                args = (*args[:i], values[i], *args[i + 1 :])
    # Beside Python numbers there is nothing to cast, or to refuse, among tensors of one of the two commonest dtypes.
    alike = alike and (dtype is float64 or dtype is float32) and not (op.refuses and "f" in op.refuses)
    if not alike:
        args, values = _made_alike(op, args, values)
    cuts = op.view is not None and isinstance(args[0], Recorded)
    if cuts:
        values[0] = args[0]._array()
    try:
        if cuts:
            out = op.view(*values, **params)  # type: ignore[misc]
        elif alike and op.single is not None and dtype is float32:
            out = op.single(*values, **params)
        elif alike and op.scalar is None:
            out = op.kernel(*values, **params)
        else:
            out = computed(op, values, params)
    except OverflowError:
        out = computed(op, values, params)  # which takes numbers that are too large for the dtype
    except (ValueError, TypeError, IndexError, np.linalg.LinAlgError) as error:
        raise explain(op, args, error) from error
    out, shared = finished(op, out, values, cuts)
    made = _made(cls, op, out, args, values, params, mask, keep)
    if MODE.inferred:
        _of_inferred(op, args, params, made, shared and (cuts or op.shares is True))
    if shared and cuts and not (MODE.inferred and inferred(args[0])):
        note_view(args[0], made, op, params)
    if op.copy and not made._value.size:  # NumPy does not say what the strides of nothing are
        made.more().strides = args[0].stride()
    return made


def _made_alike(op: Op, args: tuple[Any, ...], values: list[Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """The operands and their values in a common dtype; raises for what is no operand, and for dtypes the op refuses."""
    reject_strangers(op, values)
    if op.refuses and (wrong := refused(op, values)):
        raise wrong
    if op.factor:
        args = _determined(args, values)
    if WATCH.count:
        args = as_numbers(op, args, values)
    return args, promoted(op, values)


def finished(op: Op, out: Any, values: Any, cuts: bool) -> tuple[Any, bool]:
    """What the kernel gave as the value of a tensor, and whether it lies in the memory of an operand.

    ``cuts``: it is the part of the first operand that the op shows.
    """
    if out.__class__ is not np.ndarray or out is INTO.array:
        return out, False
    if out.ndim > 1 and not cuts:
        kept = values if op.entrywise else values[:1] if op.layout == "kept" else None
        out = laid_out(op.layout, out) if kept is None else arranged(out, kept)
    if not _shared(out, values):
        return out if out.ndim else out[()], False
    # As torch: of what is repeated in memory row by row.
    return out if cuts or op.shares else out.copy(kept_order(out)), True


def _determined(args: tuple[Any, ...], values: list[Any]) -> tuple[Any, ...]:
    """The factors, where a constant of no dtype of its own (``eye(n)``) takes that of a 0-d float64 variable.

    By the rule for 0-d tensors ``s * eye(n)`` would round s to float32, the default dtype, and its gradient with it.
    A run that is recorded only to be repeated takes its arguments for variables, though nobody differentiates by them.
    """
    for k in (0, 1):
        scalar, constant = args[k], args[1 - k]
        if not (isinstance(scalar, Recorded) and scalar._requires_grad and isinstance(constant, Recorded)):
            continue
        wide = scalar._value.dtype == float64 and not scalar._value.ndim and constant._value.dtype == float32
        extra = constant._extra
        if wide and extra is not None and extra.undetermined and not (constant._requires_grad or watches_everything()):
            made = plain(type(constant), constant._value.astype(float64)[()])
            name, given = extra.recipe
            made.more().recipe = (name, {**given, "dtype": "float64"})
            values[1 - k] = made._value
            return (scalar, made) if k == 0 else (made, scalar)
    return args


def _claimed(op: Op, args: tuple[Any, ...]) -> int:
    """The mask of inference tensors that claim to require grad, where torch records them outside of inference mode.

    It does so for copies, and beside operands that are no inference tensors, which its numbers are not; those that stay
    numbers in torch are no operands.
    """
    apart = op.numbers in ("setting", "after")
    others = [arg for arg in args if isinstance(arg, Recorded)] if apart else args
    if not MODE.local.enabled or (not op.copy and all(map(inferred, others))):
        return 0
    mask = 0
    for i, arg in enumerate(args):
        if inferred(arg) and arg._extra.claims and not arg._requires_grad and op.differentiable(i):
            mask |= 1 << i
    return mask


def _as_copied(op: Op, args: Any, values: Any, params: dict[str, Any]) -> tuple[Op, Any, Any, dict[str, Any]]:
    """The call as it is, or the copy that torch makes in its place of an inference tensor."""
    if op.name in COPYING and inferred(args[0]) and COPYING[op.name](*args):
        return lookup("clone"), args[:1], values[:1], {}
    return op, args, values, params


def _as_claimed(cls: Any, op: Op, out: Any, args: Any, values: Any, params: Any, mask: int, claimed: int) -> Any:
    """The result recorded with the operands in ``claimed`` as leaves; to other operations they stay constants."""
    with as_leaves(arg for i, arg in enumerate(args) if claimed >> i & 1):
        made = _made(cls, op, out, args, values, params, mask | claimed, True)
    if all(map(inferred, args)):
        Labelled.on(made._node, "CopyBackwards", (None, made._node.args[0]))
    return made


def _of_inferred(op: Op, args: Any, params: dict[str, Any], made: Any, view: bool) -> None:
    """Note of a view that it is an inference tensor, too, and of other results of such how often torch changed them."""
    if view:
        made.more().inference = inferred(args[0])
    elif op.name in OF_OPS:
        count_rewrites(op.name, OF_OPS[op.name], (made,), args, params)


def count_rewrites(name: str, entry: Any, results: Any, args: Any, options: dict[str, Any]) -> None:
    """Note of results of inference tensors how often torch changed them, by an entry of the table of such changes.

    Beside other tensors they do as these do.  Raises torch's error where it cannot change what claims to require grad.
    """
    tensors = [arg for arg in args if isinstance(arg, Recorded)]
    known = [*map(inferred, tensors)]
    if MODE.local.inference or not any(known):
        return
    entry = entry if all(known) else 0
    values = [arg._value if isinstance(arg, Recorded) else arg for arg in args]
    if all(known) and MODE.local.enabled and any(tensor.more().claims for tensor in tensors):
        words = no_place_for(name, values, options)
        if words is not None:
            raise AutogradError(words)
    for k, made in enumerate(results):
        if isinstance(made, Recorded) and not inferred(made):
            times = rewrites(entry[k] if isinstance(entry, tuple) else entry, made._value, values, options)
            if times is not None and (times or made._extra is not None):
                made.more().counted = times


@contextlib.contextmanager
def as_leaves(tensors: Iterable[Any]) -> Iterator[None]:
    """Let inference tensors that claim to require grad be leaves until the end of the block."""
    claiming = [t for t in tensors if inferred(t) and t._extra.claims and not t._requires_grad]
    for tensor in claiming:
        tensor._requires_grad = True
    try:
        yield
    finally:
        for tensor in claiming:
            tensor._requires_grad = False


def computed(op: Op, values: list[Any], params: dict[str, Any]) -> Any:
    """What the kernel for the operands' precision gives."""
    for value in values:
        if isinstance(value, _ARRAYS) and value.dtype.char in NARROW:
            return op.in_float32(values, params)
    if op.imaginary is not None and getattr(values[0], "dtype", float64).kind == "c":
        return op.imaginary(*values, **params)
    if op.single is not None and getattr(values[0], "dtype", float64).char in SINGLE:
        return op.single(*values, **params)
    if op.scalar is not None and shape_of(values[0]) == () and getattr(values[0], "dtype", None) is float64:
        return op.of_number(values[0])
    whole = op.fails is not None and op.kind == "elementwise" and np.result_type(*values).kind in "bui"
    try:
        with np.errstate(divide="raise") if whole else contextlib.nullcontext():
            return op.kernel(*values, **params)
    except OverflowError:
        return op.kernel(*wrapped(values), **params)
    except FloatingPointError as error:
        if op.fails is None or not whole:
            raise  # as the user asked of NumPy
        raise DividedByZero(f"{op.fails(*values)}: {op.name}() of integers by 0; floats have inf and nan") from error


def _shared(out: Any, values: list[Any]) -> bool:
    """Whether a result lies in the memory of an operand."""
    if out.base is None:
        for v in values:  # noqa: SIM110  in a generator it would take five times as long
            if out is v:
                return True
        return False
    base = out.base
    for v in values:
        if v is base or (v.__class__ is np.ndarray and v.base is base):
            return True
    owner = storage(out)
    for v in values:  # noqa: SIM110
        if v.__class__ is np.ndarray and storage(v) is owner:
            return True
    return False


def _made(cls: Any, op: Op, out: Any, args: Any, values: Any, params: Any, mask: int, keep: bool) -> Any:
    """The tensor of a result, with its node where a gradient or a formula may be asked for."""
    if MODE.inferred:
        op, args, values, params = _as_copied(op, args, values, params)
        claimed = _claimed(op, args)
        if claimed:
            return _as_claimed(cls, op, out, args, values, params, mask, claimed)
    if not keep and not (WATCH.count and watches_everything()):
        return noted(plain(cls, out), op, args, params)
    watched = False
    if MODE.exceptional and not MODE.local.enabled:
        watched = WATCH.count > 0 and bool(WATCH.local.stack)
        if not watched:
            return plain(cls, out)
        mask = 0
    if mask and not is_floating(out.dtype):
        mask = 0
    edges, cast = [], False
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Recorded):
            node = arg._node
            if value is not arg._value:
                cast = True
            if node.__class__ is Node:
                edges.append(node)
            else:  # what has no derivative does not ask for the history of a view that lost it
                edges.append(arg.edge() if mask or not isinstance(node, Invalid) else plain(cls, value).source())
        elif isinstance(value, np.ndarray):
            tensor = given(cls, value, mask != 0) if value is arg else plain(cls, value)
            values[len(edges)] = tensor._value
            edges.append(tensor.source())
        else:
            edges.append(arg)
    if cast and mask:
        kept = _as_given(args, values) if op.kind == "elementwise" else values
        made = recorded(cls, op, out, tuple(edges), kept, params, mask)
        _keep_originals(made._node, args, kept)
    else:
        made = recorded(cls, op, out, tuple(edges), values, params, mask)
    if MODE.inferred and not MODE.local.closed:
        _refuse_inferred(made._node, args, values)
    if watched and not op.shares:
        # A tracer sees what happens without grad, too, or it would freeze; what it sees is a constant to derivatives.
        return recorded(cls, lookup("unrecorded"), out, (made._node,), [out], {}, 0)
    return made


def _refuse_inferred(node: Node, args: Any, values: Any) -> None:
    """Raise torch's error where an inference tensor is read by the derivative of an operand that a pass can reach."""
    reached = sum(1 << i for i, arg in enumerate(args) if node.mask >> i & 1 and not out_of_reach(arg))
    for arg, saved in zip(args, select_saved(node.op, reached, None, values)[1:], strict=False):
        if saved is not None and isinstance(arg, Recorded) and inferred(arg):
            raise AutogradError(INFERENCE_SAVED)


def _as_given(args: Any, values: Any) -> list[Any]:
    """The operands as torch saves them: in their own dtype.  Of whole numbers the rules make fewer digits, so no."""
    return [
        arg._value if isinstance(arg, Recorded) and is_floating(arg._value.dtype) else value
        for arg, value in zip(args, values, strict=True)
    ]


def _keep_originals(node: Node, args: Any, values: Any) -> None:
    """Note the operands of which a cast copy was saved: torch saves them as they were given, and they may change."""
    Labelled.on(node, None)  # the mark of operands that differ in dtype
    late = [
        Given(arg, k)
        for k, (arg, value, saved) in enumerate(zip(args, values, node.saved[1:], strict=False), 1)
        if saved is not None and isinstance(arg, Recorded) and saved is value is not arg._value
    ]
    if late:
        Labelled.on(node, None, None, tuple(late))


def recorded(cls: Any, op: Op, out: Any, edges: Any, values: Any, params: Any, mask: int) -> Any:
    """The tensor of a result with its node: where the operands came from, and what of their values the rules read."""
    node = Node()
    node.op = op
    node.args = edges
    node.params = params or None
    node.mask = mask
    node.shape = out.shape
    node.dtype = out.dtype
    node.sequence_nr = next(sequence)
    node.extra = None
    node.rules = None
    node.saved = select_saved(op, mask, out, values)
    if op.decomposed:
        set_apart(node, values[0])
    if NODES:
        observed(node)
    made = cls.__new__(cls)
    made._value = out
    made._node = node
    made._requires_grad = mask != 0
    made._extra = None
    return made

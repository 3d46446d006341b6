"""Pickling and deep copies of tensors with their graph, as flat plain data.

A tensor's record holds everything it reaches (nodes, leaves, constants, gradients and the passes they came from) in one
list with positions for references, so a chain of 10⁵ operations neither recurses nor repeats itself.  Tensors pickled
together share what they share in memory: while a pickler holds one record, later tensors refer to it.

Hooks go along when they can be found again by name: importable functions, classes and their partial applications.
Others (lambdas, local functions, bound methods) are dropped, with a warning that says which.
"""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import numpy as np

from symgrad.errors import FormulaError, SymgradWarning
from symgrad.tape.backward.siblings import Siblings, siblings_of
from symgrad.tape.backward.tether import at
from symgrad.tape.formulas.constants import sources_of
from symgrad.tape.formulas.names import site_name
from symgrad.tape.formulas.origin import OWN, Origin, origin_of
from symgrad.tape.formulas.sizes import Measure, Size
from symgrad.tape.graph import FREED, Labelled, Node, NodeExtra, Source
from symgrad.tape.memory.versions import storage
from symgrad.tape.memory.views import by_the_mode, inferred, view_of
from symgrad.tape.numbering import sequence
from symgrad.tape.observers import unpacked
from symgrad.tape.record import Recorded
from symgrad.tape.threads import during

_KINDS = (Recorded, Node, Source, Origin)


class Bundle:
    """Objects of a graph and their states; pickles as the states alone.

    In a state a tuple ``(place,)`` stands for an object of this record and ``(place, bundle)`` for one of a record that
    was pickled before; plain tuples because a pickle of 10⁵ nodes holds twice as many of them.
    """

    __slots__ = ("__weakref__", "objects", "states")

    def __init__(self, objects: list[Any], states: list[Any]):
        self.objects = objects
        self.states = states

    def __reduce__(self) -> tuple[Any, ...]:
        return (restored, (self.states,))


_live: dict[bool, weakref.WeakValueDictionary[int, Bundle]] = {k: weakref.WeakValueDictionary() for k in (False, True)}
"""Records with and without gradients that some pickler still holds, by the identity of the objects in them.

These are kept alive by them.
"""
_places: weakref.WeakKeyDictionary[Bundle, dict[int, int]] = weakref.WeakKeyDictionary()


_GRADIENTS = ContextVar("gradients", default=True)
"""Whether what is pickled takes gradients along."""


def without_gradients() -> AbstractContextManager[bool]:
    """Inside, tensors are pickled without their ``grad``."""
    return during(_GRADIENTS, False)


def _gradient(tensor: Any) -> Any:
    return tensor._extra.grad if _GRADIENTS.get() else None


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """What pickle writes for a tensor: its record and its place in it."""
    bundle = _live[_GRADIENTS.get()].get(id(tensor))
    if bundle is None:
        bundle = _bundled(tensor)
    return (_member, (bundle, _places[bundle][id(tensor)]))


def _member(bundle: Bundle, place: int) -> Any:
    return bundle.objects[place]


def _bundled(root: Any) -> Bundle:
    live = _live[_GRADIENTS.get()]
    objects = _reached([root], lambda item: id(item) in live)
    places = {id(item): k for k, item in enumerate(objects)}

    def ref(item: Any) -> Any:
        if not isinstance(item, _KINDS):
            return _as_size(item)
        if id(item) in places:
            return (places[id(item)],)
        earlier = live[id(item)]
        return (_places[earlier][id(item)], earlier)

    bundle = Bundle(objects, [_state(item, ref) for item in objects])
    _places[bundle] = places
    for item in objects:
        live[id(item)] = bundle
    return bundle


def _reached(roots: Iterable[Any], known: Any) -> list[Any]:
    """The objects below the roots that are not known already, each once; no recursion."""
    seen: set[int] = set()
    found: list[Any] = []
    stack = list(roots)
    while stack:
        item = stack.pop()
        if id(item) in seen or known(item):
            continue
        seen.add(id(item))
        found.append(item)
        stack.extend(_parts(item))
    return found


def _parts(item: Any) -> list[Any]:
    """The graph objects that one object refers to."""
    if isinstance(item, Node):
        below = [*item.args, *(getattr(item.args, "inputs", None) or ()), *_inside(item.params), *_together(item)]
    elif isinstance(item, Origin):
        below = [*item.roots, *item.seeds]
    elif isinstance(item, Source):
        alive = item.ref()
        below = [] if alive is None else [alive]
    else:
        below = [item._node]
        if item._extra is not None:
            below += [_gradient(item), item._extra.source, *_pairs(item._extra.origin)]
    return [x for x in below if isinstance(x, _KINDS)]


def _pairs(origin: Any) -> list[Any]:
    return [at(x) for pair in origin for x in pair] if isinstance(origin, list) else []


def _inside(params: Any) -> list[Any]:
    """Graph objects in the parameters of a custom function's node: what its context saved, and its attributes."""
    run = (params or {}).get("run")
    return [] if run is None else [*(at(place) for _, place in run.ctx._kinds), *run.tensors()]


def _together(node: Node) -> list[Node]:
    """The other outputs of what a node is one output of, or has as outputs, as far as they are alive."""
    whole = siblings_of(node)
    if whole is not None:
        return whole.alive()
    run = (node.params or {}).get("run")
    return [] if run is None else [place for ref in run.places.values() if (place := ref()) is not None]


# ---------------------------------------------------------------------------------------------- states


def _state(item: Any, ref: Any) -> tuple[Any, ...]:
    if isinstance(item, Node):
        saved = "freed" if item.saved is FREED else unpacked(item.saved)
        extra = _node_extra(item.extra)
        args = _labelled_state(item, ref)
        inside = tuple(ref(x) for x in _inside(item.params))
        return ("node", item.op, args, _as_size(item.params), inside, item.mask, item.shape, item.dtype,
                item.sequence_nr, saved, extra, _standing(item, ref))  # fmt: skip
    if isinstance(item, Origin):
        return ("origin", tuple(map(ref, item.roots)), tuple(map(ref, item.seeds)), _plain_fields(item))
    if isinstance(item, Source):
        alive = item.ref()
        fields = {**_plain_fields(item), "recipe": _recipe(item)}
        return ("source", _name(item), None if alive is None else ref(alive), fields)
    value = item._value
    whole = _shown(value)
    if whole is not None and (whole.nbytes == value.nbytes or view_of(item) is not None):
        value = (whole, _start(value, whole), value.shape, value.strides, value.dtype)
    requires = item._requires_grad or (item._extra is not None and item._extra.claims)
    row = ("tensor", type(item), value, ref(item._node), requires, _tensor_extra(item, ref))
    own = getattr(item, "__dict__", None)  # what the user put on the tensor
    return (*row, own) if own else row


def _labelled_state(node: Node, ref: Any) -> tuple[Any, ...]:
    """References to a node's arguments, after their label and its inputs where they have one."""
    args = node.args
    refs = tuple(ref(a) for a in args)
    if not isinstance(args, Labelled) or args.label is None:
        return refs
    label = str(args.label) if isinstance(args.label, str) else args.label(node)
    return (label, None if args.inputs is None else tuple(ref(a) for a in args.inputs), *refs)


def _standing(node: Node, ref: Any) -> Any:
    """A node's role, and of one output of several the whole: all its outputs, their looks and the hooks on it."""
    whole = siblings_of(node)
    role = getattr(node.args, "role", "")
    if whole is None:
        return role or None
    members = tuple(None if (member := at()) is None else ref(member) for at in whole.nodes)
    return (role, members, whole.looks, _node_extra(whole.extra))


def _labelled(state: tuple[Any, ...], deref: Any) -> tuple[Any, ...]:
    """The arguments of :func:`_labelled_state`."""
    if not state or not isinstance(state[0], str):
        return tuple(map(deref, state))
    label, inputs, *refs = state
    args = Labelled(map(deref, refs))
    args.label, args.inputs, args.kept = label, None if inputs is None else tuple(map(deref, inputs)), ()
    return args


class _KeptSize:
    """A size that is still one after pickling: elsewhere a :class:`Size` pickles as the int it is."""

    __slots__ = ("size",)

    def __init__(self, size: Size | Measure):
        self.size = size

    def __reduce__(self) -> tuple[Any, ...]:
        size = self.size
        return (type(size), (int(size) if isinstance(size, Size) else float(size), size.factors, _as_size(size.steps)))


def _as_size(value: Any) -> Any:
    """``value`` (an argument, or a node's parameters) with the sizes in it marked to stay sizes."""
    if value.__class__ in (Size, Measure):
        return _KeptSize(value)
    if value.__class__ is tuple and any(item.__class__ in (Size, Measure, tuple) for item in value):
        return tuple(map(_as_size, value))
    if value.__class__ is dict and value:
        return {key: _as_size(item) for key, item in value.items()}
    return value


_OWN_FIELDS = {
    "__weakref__", "_given", "cache", "calls", "copied", "name", "ref", "replaced", "roots", "seeds", "shown", "site",
}  # fmt: skip
"""Fields of passes and constants that are written in a way of their own or made anew."""


def _plain_fields(item: Any) -> dict[str, Any]:
    return {field: getattr(item, field) for field in type(item).__slots__ if field not in _OWN_FIELDS}


def _name(item: Any) -> str | None:
    """The name in formulas; one that was read from the source line is written out, since the line stays behind."""
    found: str | None = site_name(item.name, item.site)
    return found


def _recipe(item: Any) -> Any:
    """How a constant was made; None where that tells of other constants, which stay behind."""
    return None if item.recipe is None or any(sources_of(item.recipe)) else item.recipe


def _passes(tensor: Any, ref: Any) -> Any:
    """Where a gradient came from: its passes, "lost" beyond their limit, "own" where it is a symbol of its own."""
    passes = origin_of(tensor)
    if passes is FormulaError:
        return "lost"
    # Hooks that replaced gradients stay behind, and with them the formula of what they left.
    if passes is not None and all(not passed.replaced for passed, _ in passes):
        return [(ref(passed), ref(edge)) for passed, edge in passes]
    return None if tensor._extra.origin is None else "own"


def _tensor_extra(tensor: Any, ref: Any) -> Any:
    extra = tensor._extra
    if extra is None:
        return None
    return {
        "name": extra.name,
        "assigned": _name(extra) if extra.name is None else None,
        "structure": extra.structure,
        "recipe": _recipe(extra),
        "sized": extra.sized,
        "retains": extra.retains,
        "grad": ref(_gradient(tensor)),
        "source": ref(extra.source),
        "origin": _passes(tensor, ref),
        "hooks": _named_hooks(extra.hooks),
        "post": _named_hooks(extra.post),
    }


def _node_extra(extra: NodeExtra | None) -> Any:
    if extra is None:
        return None
    tables = tuple(_named_hooks(table) for table in (extra.hooks, extra.pre, extra.post))
    return tables if any(tables) else None


def _named_hooks(table: dict[int, Any]) -> dict[int, Any]:
    kept = {key: hook for key, hook in table.items() if _findable(hook)}
    for key, hook in table.items():
        if key not in kept:
            warnings.warn(
                f"the hook {hook!r} was left out of the copy or pickle: only functions that can be imported by name go "
                "along; define it at the top of a module",
                SymgradWarning,
                stacklevel=2,
            )
    return kept


def _findable(hook: Any) -> bool:
    """Whether pickle can find this function again; nothing is imported for the answer."""
    bare = getattr(hook, "func", hook)
    found: Any = sys.modules.get(getattr(bare, "__module__", None) or "")
    for part in (getattr(bare, "__qualname__", None) or "<none>").split("."):
        found = getattr(found, part, None)
    if found is not bare:
        return False
    try:
        pickle.dumps(hook)
    except (pickle.PicklingError, TypeError, AttributeError):
        return False
    return True


# ---------------------------------------------------------------------------------------------- back


_BLANK = {"node": Node, "origin": Origin, "source": Source}


def restored(states: list[Any]) -> Bundle:
    """The record whose states these are: blank objects first, then their contents, so that cycles close."""
    objects: list[Any] = []
    for state in states:
        cls: Any = state[1] if state[0] == "tensor" else _BLANK[state[0]]
        objects.append(cls.__new__(cls))
    bundle = Bundle(objects, states)

    def deref(item: Any) -> Any:
        if item.__class__ is not tuple:
            return item
        return (bundle if len(item) == 1 else item[1]).objects[item[0]]

    fresh = _fresh_numbers(states)
    for item, state in zip(objects, states, strict=True):
        _FILL[state[0]](item, state, deref, fresh)
    for item, state in zip(objects, states, strict=True):
        if state[0] == "node":
            _stand(item, state[-1], deref)
    return bundle


def _stand(node: Node, standing: Any, deref: Any) -> None:
    """A node's role among others, once these are there."""
    if node.op.name == "output" and isinstance(node.args[0], Node) and node.params is not None:
        node.args[0].params["run"].places[node.params["index"]] = weakref.ref(node)  # type: ignore[index]
    role, *whole = standing if isinstance(standing, tuple) else (standing,)
    if role:
        Labelled.cast(node, role)
    if whole and siblings_of(node) is None:
        members, looks, hooks = whole
        made = Siblings([None if member is None else deref(member) for member in members], looks)
        if hooks is not None:
            _hook(made.more(), hooks)


def _hook(extra: NodeExtra, tables: Any) -> None:
    extra.hooks, extra.pre, extra.post = map(dict, tables)


def _fresh_numbers(states: list[Any]) -> dict[int, int]:
    """New creation numbers in the old order, younger than everything here."""
    return {old: next(sequence) for old in sorted(state[8] for state in states if state[0] == "node")}


def _fill_node(node: Node, state: Any, deref: Any, fresh: dict[int, int]) -> None:
    _, op, args, params, inside, mask, shape, dtype, number, saved, extra, _ = state
    node.op, node.args, node.params = op, _labelled(args, deref), params
    node.mask, node.shape, node.dtype, node.rules = mask, shape, dtype, None
    node.sequence_nr = fresh[number]
    node.saved = FREED if isinstance(saved, str) else saved
    node.extra = None
    if extra is not None:
        _hook(node.more(), extra)
    run = (params or {}).get("run")
    if run is not None:
        run.ctx._node = weakref.ref(node)
        count = len(run.ctx._kinds)
        run.ctx._kinds = tuple((kind, deref(p)) for (kind, _), p in zip(run.ctx._kinds, inside[:count], strict=True))
        run.fill([deref(x) for x in inside[count:]])


def _fill_origin(origin: Origin, state: Any, deref: Any, fresh: Any) -> None:  # noqa: ARG001  (one form for all)
    origin.roots, origin.seeds = tuple(map(deref, state[1])), tuple(map(deref, state[2]))
    origin.cache, origin.replaced, origin._given, origin.shown, origin.calls = {}, {}, None, None, []
    for field, value in state[3].items():
        setattr(origin, field, value)


def _fill_source(source: Source, state: Any, deref: Any, fresh: Any) -> None:  # noqa: ARG001  (one form for all)
    _, source.name, alive, fields = state
    source.site = source.copied = None
    for field, value in fields.items():
        setattr(source, field, value)
    owner = deref(alive)
    source.ref = weakref.ref(owner) if owner is not None else _gone


def _gone() -> None:
    """Stands for a reference whose tensor is no more."""


def _fill_tensor(tensor: Any, state: Any, deref: Any, fresh: Any) -> None:  # noqa: ARG001  (one form for all)
    _, _, value, node, requires, extra, *own = state
    for attributes in own:
        vars(tensor).update(attributes)
    value = _part(*value) if value.__class__ is tuple else value
    tensor._value = value[()] if isinstance(value, np.ndarray) and not value.ndim else value
    tensor._node = deref(node)
    tensor._requires_grad, tensor._extra = requires, None
    more = tensor.more()
    more.counted = 1  # torch sets the memory of the copy, which counts as a change
    if tensor._node is None and inferred(by_the_mode(tensor)):
        more.claims, tensor._requires_grad = requires, False
    if extra is None:
        return
    more.name = extra["name"] or extra["assigned"]
    more.recipe, more.sized = extra["recipe"], extra["sized"]
    more.structure, more.retains = extra["structure"], extra["retains"]
    more.grad, more.source = deref(extra["grad"]), deref(extra["source"])
    origin = extra["origin"]
    marks = {"lost": FormulaError, "own": OWN, None: None}
    more.origin = [(deref(a), deref(b)) for a, b in origin] if isinstance(origin, list) else marks[origin]
    more.origin_at = next(sequence)
    more.hooks, more.post = dict(extra["hooks"]), dict(extra["post"])
    if more.retains and tensor._node is not None:
        tensor._node.more().retained = weakref.ref(tensor)


_FILL: dict[str, Callable[..., None]] = {
    "node": _fill_node,
    "origin": _fill_origin,
    "source": _fill_source,
    "tensor": _fill_tensor,
}


# ---------------------------------------------------------------------------------------------- copies


WITH_GRAPH = -1
"""In the memo of a deep copy (no object has this identity): results may be copied too, with their graphs."""


def copy_graph(values: Any) -> Any:
    """A copy of tensors, or of containers of them, with the graphs they came from.

    What the tensors share (leaves, parts of the graph, memory) their copies share.  ``copy.deepcopy`` does the same for
    leaves, and refuses results, as torch does.

    >>> import symgrad as sg
    >>> x = sg.tensor(3.0, requires_grad=True)
    >>> twin, square = sg.copy_graph((x, x**2))
    >>> square.backward()
    >>> twin.grad, x.grad
    (tensor(6.), None)
    """
    return copy.deepcopy(values, {WITH_GRAPH: True})


def deep_copy(tensor: Any, memo: dict[int, Any]) -> Any:
    """``copy.deepcopy`` of a tensor with its graph; what was copied before in the same call is shared."""
    objects = _reached([tensor], lambda item: id(item) in memo)
    places = {id(item): k for k, item in enumerate(objects)}

    def ref(item: Any) -> Any:
        if not isinstance(item, _KINDS):
            return item  # sizes among them stay what they are
        return (places[id(item)],) if id(item) in places else memo[id(item)]

    states = [_copied(item, _state(item, ref), memo) for item in objects]
    bundle = restored(states)
    keep = memo.setdefault(id(memo), [])
    for item, made in zip(objects, bundle.objects, strict=True):
        memo[id(item)] = made
        keep.append(item)
    return memo[id(tensor)]


def _copied(item: Any, state: tuple[Any, ...], memo: dict[int, Any]) -> tuple[Any, ...]:
    """A state with arrays and parameters of its own; classes, ops and graph objects stay."""
    if state[0] == "node":
        _, op, args, _, inside, *middle, saved, extra, standing = state
        params = _own_params(item.params, memo)
        saved = saved if isinstance(saved, str) else tuple(copy.deepcopy(v, memo) for v in saved)
        return ("node", op, args, params, inside, *middle, saved, extra, standing)
    if state[0] == "tensor":
        own = (copy.deepcopy(attributes, memo) for attributes in state[6:])
        return (*state[:2], _own_memory(item, item._value, memo), *state[3:6], *own)
    return state


def _own_memory(tensor: Any, value: Any, memo: dict[int, Any]) -> Any:
    """A copy of a tensor's array; tensors that share memory share that of their copies, as in torch.

    Of a larger memory the whole is copied where the tensor is a view of another one, or where the whole was copied
    before.
    """
    if getattr(type(tensor), "_copied_alone", False):
        return copy.deepcopy(value, {})
    whole = _shown(value)
    if whole is None or (whole.nbytes != value.nbytes and id(whole) not in memo and view_of(tensor) is None):
        return copy.deepcopy(value, memo)
    return _part(copy.deepcopy(whole, memo), _start(value, whole), value.shape, value.strides, value.dtype)


def _shown(value: Any) -> Any:
    """The memory of which an array shows a part; None where it has its own, or one with gaps."""
    whole = storage(value)
    return None if whole is value or not whole.ndim or not whole.flags.c_contiguous else whole


def _start(value: Any, whole: Any) -> int:
    """The byte of its memory at which an array begins."""
    start: int = value.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return start


def _part(whole: Any, start: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """The array that begins at a byte of a memory."""
    return np.ndarray(shape, dtype, whole.reshape(-1).view(np.uint8), start, strides)


def _own_params(params: Any, memo: dict[int, Any]) -> Any:
    if not params or "run" not in params:
        return params
    run = params["run"]
    return {**params, "run": run.copied(memo)}

"""Nested containers as a list of leaves and a description: what programs take from ``torch.utils._pytree``.

Lists, tuples, named tuples, dicts, ordered and default dicts and deques are containers; everything else is a leaf, None
and dataclasses too.  A class becomes a container by :func:`register_pytree_node`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError

__all__ = [
    "GetAttrKey", "MappingKey", "PyTree", "SequenceKey", "TreeSpec", "keystr", "register_pytree_node", "tree_all",
    "tree_any", "tree_flatten", "tree_flatten_with_path", "tree_iter", "tree_leaves", "tree_map", "tree_map_",
    "tree_map_only", "tree_map_with_path", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
"""Any nesting of containers and leaves."""

Asked = Callable[[Any], bool] | None


class MappingKey(NamedTuple):
    """A place in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class SequenceKey(NamedTuple):
    """A place in a list, tuple or deque."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


class GetAttrKey(NamedTuple):
    """A field of a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


class _Kind(NamedTuple):
    """What is known of a class of containers: how it comes apart, how it is put together, and its places."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]
    keys: Callable[[int, Any], list[Any]]
    name: str


def _numbers(count: int, _: Any) -> list[Any]:
    return [SequenceKey(k) for k in range(count)]


_KINDS: dict[Any, _Kind] = {
    list: _Kind(lambda t: (t, None), lambda parts, _: list(parts), _numbers, "list"),
    tuple: _Kind(lambda t: (list(t), None), lambda parts, _: tuple(parts), _numbers, "tuple"),
    deque: _Kind(lambda t: (list(t), t.maxlen), lambda parts, most: deque(parts, maxlen=most), _numbers, "deque"),
    dict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda parts, keys: dict(zip(keys, parts, strict=True)),
        lambda _, keys: list(map(MappingKey, keys)),
        "dict",
    ),
    OrderedDict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
        lambda _, keys: list(map(MappingKey, keys)),
        "OrderedDict",
    ),
    defaultdict: _Kind(
        lambda t: (list(t.values()), [t.default_factory, list(t)]),
        lambda parts, context: defaultdict(context[0], zip(context[1], parts, strict=True)),
        lambda _, context: list(map(MappingKey, context[1])),
        "defaultdict",
    ),
}
_NAMED = _Kind(
    lambda t: (list(t), type(t)),
    lambda parts, cls: cls(*parts),
    lambda _, cls: list(map(GetAttrKey, cls._fields)),
    "namedtuple",
)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    **_: Any,
) -> None:
    """Let the functions of this module look into ``cls``.

    ``flatten_fn(value)`` gives its parts and a context, ``unflatten_fn(parts, context)`` the value again.  The
    transforms of :mod:`symgrad.func` know dataclasses, and not what is registered here.  Raises ``ArgumentError`` for a
    class that is known.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda parts, _: Pair(*parts))
    >>> tree_leaves(Pair(1, [2, 3]))
    [1, 2, 3]
    """
    if cls in _KINDS:
        raise ArgumentError(f"{cls} is already registered as pytree node.")
    _KINDS[cls] = _Kind(flatten_fn, unflatten_fn, _numbers, serialized_type_name or cls.__name__)


def _kind(tree: Any) -> _Kind | None:
    cls = type(tree)
    if cls in _KINDS:
        return _KINDS[cls]
    return _NAMED if isinstance(tree, tuple) and hasattr(cls, "_fields") else None


class TreeSpec(NamedTuple):
    """What a tree is without its leaves; ``kind`` is None for a leaf."""

    kind: _Kind | None
    context: Any
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """Number of leaves."""
        return sum(child.num_leaves for child in self.children) if self.kind else 1

    def is_leaf(self) -> bool:
        """Whether the tree is a single leaf."""
        return self.kind is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """:func:`tree_unflatten`."""
        return tree_unflatten(leaves, self)

    def __repr__(self) -> str:
        return self._shown(0)

    def _shown(self, indent: int) -> str:
        if self.kind is None:
            return "*"
        parts = (",\n" + " " * (indent + 2)).join(child._shown(indent + 2) for child in self.children)
        return f"TreeSpec({self.kind.name}, {self.context}, [{parts}])"


_LEAF = TreeSpec(None, None, ())


def tree_flatten(tree: PyTree, is_leaf: Asked = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, entries of dicts as they were put in, and what it is without them.

    ``is_leaf(value)`` may say that a container is a leaf.

    >>> leaves, spec = tree_flatten({"w": 1, "b": (2, None)})
    >>> leaves, tree_unflatten([4, 5, 6], spec)
    ([1, 2, None], {'w': 4, 'b': (5, 6)})
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


def _flatten(tree: Any, is_leaf: Asked, leaves: list[Any]) -> TreeSpec:
    kind = None if is_leaf is not None and is_leaf(tree) else _kind(tree)
    if kind is None:
        leaves.append(tree)
        return _LEAF
    parts, context = kind.flatten(tree)
    return TreeSpec(kind, context, tuple(_flatten(part, is_leaf, leaves) for part in parts))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of these leaves.  Raises ``ValueError`` unless there are as many as ``treespec`` has places."""
    if not isinstance(treespec, TreeSpec):
        raise ArgumentError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ArgumentError(
            f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _filled(treespec, iter(given))


def _filled(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.kind is None:
        return next(leaves)
    return spec.kind.unflatten([_filled(child, leaves) for child in spec.children], spec.context)


def tree_leaves(tree: PyTree, is_leaf: Asked = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: Asked = None) -> Iterator[Any]:
    """The leaves of a tree, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: Asked = None) -> TreeSpec:
    """What a tree is without its leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Asked = None) -> PyTree:
    """``func`` on every leaf, and on those of ``rests`` at the same places.

    Raises ``ValueError`` where one of ``rests`` is built otherwise; its leaves may be whole trees.

    >>> tree_map(lambda a, b: a + b, {"w": 1, "b": [2]}, {"w": 10, "b": [20]})
    {'w': 11, 'b': [22]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, leaves, *(_up_to(spec, rest) for rest in rests)), spec)


def _up_to(spec: TreeSpec, tree: Any) -> list[Any]:
    """What stands in ``tree`` where ``spec`` has leaves."""
    if spec.kind is None:
        return [tree]
    kind = _kind(tree)
    if kind is not spec.kind:
        raise ArgumentError(f"Node type mismatch; expected a {spec.kind.name}, but got {type(tree)}.")
    parts, context = kind.flatten(tree)
    if len(parts) != len(spec.children):
        raise ArgumentError(f"Node arity mismatch; expected {len(spec.children)}, but got {len(parts)}.")
    if context != spec.context:
        if not isinstance(tree, dict) or set(tree) != {key.key for key in kind.keys(len(parts), spec.context)}:
            raise ArgumentError(f"Node context mismatch: {spec.context} and {context} at a {spec.kind.name}.")
        parts = [tree[key.key] for key in kind.keys(len(parts), spec.context)]
    return [leaf for child, part in zip(spec.children, parts, strict=True) for leaf in _up_to(child, part)]


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Asked = None) -> PyTree:
    """Call ``func`` on every leaf as :func:`tree_map` does, and give the tree itself back."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: Asked = None) -> PyTree:
    """``func`` on the leaves of a class, or of which ``kind(leaf)`` is true; the others stay.

    >>> tree_map_only(int, lambda x: -x, [1, "a", 2.0])
    [-1, 'a', 2.0]
    """
    fits = kind if callable(kind) and not isinstance(kind, type) else lambda leaf: isinstance(leaf, kind)
    return tree_map(lambda leaf: func(leaf) if fits(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Asked = None) -> bool:
    """Whether ``pred`` is true of all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Asked = None) -> bool:
    """Whether ``pred`` is true of some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_flatten_with_path(tree: PyTree, is_leaf: Asked = None) -> tuple[list[tuple[tuple[Any, ...], Any]], TreeSpec]:
    """As :func:`tree_flatten`, with the way to each leaf.

    >>> tree_flatten_with_path({"a": [5]})[0]
    [((MappingKey(key='a'), SequenceKey(idx=0)), 5)]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return list(zip(_paths(spec), leaves, strict=True)), spec


def _paths(spec: TreeSpec) -> list[tuple[Any, ...]]:
    if spec.kind is None:
        return [()]
    keys = spec.kind.keys(len(spec.children), spec.context)
    return [(key, *path) for key, child in zip(keys, spec.children, strict=True) for path in _paths(child)]


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: Asked = None) -> PyTree:
    """``func(path, leaf)`` on every leaf, as :func:`tree_map`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten(map(func, _paths(spec), leaves, *(_up_to(spec, rest) for rest in rests)), spec)


def keystr(kp: tuple[Any, ...]) -> str:
    """The way to a leaf as one writes it.

    >>> keystr((MappingKey("a"), SequenceKey(0)))
    "['a'][0]"
    """
    return "".join(map(str, kp))

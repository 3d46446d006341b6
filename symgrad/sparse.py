"""Sparse matrices in coordinate form: ``to_sparse``, ``sparse_coo_tensor``, ``sparse.mm`` and their kin.

A sparse tensor is places (whole numbers) and a dense tensor of the entries there.  Everything it does is done to the
entries by ops of the table, so gradients, formulas and graphs are theirs; a gradient is sparse like its tensor.

>>> import symgrad as sg
>>> x = sg.tensor([[1.0, 0.0], [0.0, 3.0]], requires_grad=True)
>>> sg.sparse.mm(x.to_sparse(), sg.ones(2, 2)).sum().backward()
>>> x.grad  # the zeros are not entries
tensor([[2., 0.],
        [0., 2.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.devices import accept, sparse_coo
from symgrad.errors import ArgumentError, AutogradError, ShapeError, UnsupportedFunction
from symgrad.op import Op, lookup, register_carrier
from symgrad.ops.indexing.getitem import static_index
from symgrad.tape.formulas.sizes import Size
from symgrad.tensor import FUNCTIONS, Tensor
from symgrad.tensor.borrowed import as_tensor
from symgrad.tensor.creation import full
from symgrad.tensor.facts import Shape

__all__ = ["SparseTensor", "addmm", "log_softmax", "mm", "softmax", "sum"]

_INT = np.dtype(np.int64)


class SparseTensor:
    """Places of shape (axes, count), the entries there (a tensor of shape (count,)), and a shape.

    A place may stand several times; its entries are then added (``coalesce`` does it once and for all).

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> s.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """

    __slots__ = ("_coalesced", "_entries", "_places", "_shape", "_source")
    __array_ufunc__ = None

    def __init__(self, places: Any, entries: Any, shape: Sequence[int], coalesced: bool = False):
        self._places = np.asarray(places, _INT)
        self._entries: Any = entries
        self._shape = tuple(int(n) for n in shape)
        self._coalesced = coalesced
        self._source: Any = None  # the dense tensor whose zeros were left out

    # -------------------------------------------------------------------------------------- what it is

    layout = sparse_coo
    is_sparse = True

    @property
    def shape(self) -> Shape:
        """The sizes."""
        return Shape(Size(n) for n in self._shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def dtype(self) -> Any:
        """The dtype of the entries."""
        return self._entries.dtype

    @property
    def device(self) -> Any:
        """Where the entries live: on the CPU."""
        return self._entries.device

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    def dim(self) -> int:
        """Number of axes."""
        return len(self._shape)

    sparse_dim = ndimension = dim

    def dense_dim(self) -> int:
        """Number of axes that every entry has of its own: none here."""
        return 0

    def numel(self) -> int:
        """Number of entries that a dense tensor of this shape has."""
        return self.shape.numel()

    def _nnz(self) -> int:
        return int(self._places.shape[1])

    def __len__(self) -> int:
        return self._shape[0]

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the entries."""
        return bool(self._entries.requires_grad)

    @property
    def is_leaf(self) -> bool:
        """Whether the entries are a leaf."""
        return bool(self._entries.is_leaf)

    @property
    def grad_fn(self) -> Any:
        """The node of the entries."""
        return self._entries.grad_fn

    @property
    def grad(self) -> SparseTensor | None:
        """The gradient of a leaf, sparse and coalesced."""
        found = self._entries.grad
        if found is None:
            return None
        flat = np.ravel_multi_index(tuple(self._places), self._shape)
        _, first = np.unique(flat, return_index=True)  # entries at one place have one gradient
        return SparseTensor(self._places[:, first], found[first], self._shape, True)

    @grad.setter
    def grad(self, value: None) -> None:
        if value is not None:
            raise ArgumentError("the grad of a sparse tensor can be set to None only; add into values().grad instead.")
        self._entries.grad = None

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Let gradients flow to the entries, or not."""
        self._entries.requires_grad_(requires_grad)
        return self

    def is_coalesced(self) -> bool:
        """Whether every place stands once, in order."""
        return self._coalesced

    def indices(self) -> Tensor:
        """The places, of shape (axes, count); ``AutogradError`` unless coalesced."""
        self._once("indices")
        return as_tensor(self._places)

    def values(self) -> Any:
        """The entries; ``AutogradError`` unless coalesced."""
        self._once("values")
        return self._entries

    def _indices(self) -> Tensor:
        return as_tensor(self._places)

    def _values(self) -> Any:
        return self._entries

    def _once(self, what: str) -> None:
        if not self._coalesced:
            raise AutogradError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def __repr__(self) -> str:
        parts = [f"indices={self._indices()!r}".replace("\n", "\n" + " " * 15)]
        parts.append(f"values={self._entries.detach()!r}".replace("\n", "\n" + " " * 14))
        rest = f"size={self._shape}, nnz={self._nnz()}, layout={self.layout!r}"
        if self.grad_fn is not None:
            rest += f", grad_fn=<{self.grad_fn.name()}>"
        elif self.requires_grad:
            rest += ", requires_grad=True"
        return "tensor(" + ",\n       ".join([*parts, rest]) + ")"

    # -------------------------------------------------------------------------------------- other forms

    def to_dense(self) -> Tensor:
        """The dense tensor, zero where there is no entry."""
        index = static_index(tuple(self._places))
        return lookup("put")(self._entries, index=index, shape=self._shape)  # type: ignore[no-any-return]

    def to_sparse(self) -> SparseTensor:
        """The tensor itself."""
        return self

    def coalesce(self) -> SparseTensor:
        """Every place once, in row-major order, with its entries added."""
        if self._coalesced:
            return self
        flat = np.ravel_multi_index(tuple(self._places), self._shape)
        order, at = np.unique(flat, return_inverse=True)
        entries = lookup("put")(self._entries, index=static_index(at), shape=(len(order),))
        return SparseTensor(np.stack(np.unravel_index(order, self._shape)), entries, self._shape, True)

    def detach(self) -> SparseTensor:
        """The same places and entries without history."""
        return self._with(self._entries.detach())

    def clone(self) -> SparseTensor:
        """A copy with history."""
        return self._with(self._entries.clone())

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """In another dtype."""
        return self._with(self._entries.to(*args, **kwargs))

    def float(self) -> SparseTensor:
        """In float32."""
        return self.to("float32")

    def double(self) -> SparseTensor:
        """In float64."""
        return self.to("float64")

    def _with(self, entries: Any) -> SparseTensor:
        return SparseTensor(self._places, entries, self._shape, self._coalesced)

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two axes exchanged."""
        order = list(range(self.ndim))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return SparseTensor(self._places[order], self._entries, [self._shape[k] for k in order])

    def t(self) -> SparseTensor:
        """The transpose of a matrix."""
        return self.transpose(0, 1)

    @property
    def T(self) -> SparseTensor:  # noqa: N802  (NumPy's name)
        """The transpose of a matrix."""
        return self.transpose(0, 1)

    # -------------------------------------------------------------------------------------- arithmetic

    def __neg__(self) -> SparseTensor:
        return self._with(-self._entries)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            return self * other.to_dense()
        if getattr(other, "ndim", 0):
            if tuple(other.shape) != self._shape:
                raise ShapeError(f"mul(sparse, dense): the shapes {self._shape} and {tuple(other.shape)} must agree.")
            own = self.coalesce()
            return own._with(own._entries * other[tuple(own._places)])
        return self._with(self._entries * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._with(self._entries / other)

    def __pow__(self, exponent: Any) -> SparseTensor:
        if not isinstance(exponent, (int, float)) or exponent <= 0:
            raise ArgumentError(f"a sparse tensor to the power {exponent!r}: only positive numbers keep its zeros.")
        own = self.coalesce()
        return own._with(own._entries**exponent)

    pow = __pow__

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, SparseTensor):
            raise AutogradError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        if other._shape != self._shape:
            raise ShapeError(f"add(sparse, sparse): the shapes {self._shape} and {other._shape} must agree.")
        entries = lookup("cat")(self._entries, other._entries, dim=0)
        return SparseTensor(np.concatenate([self._places, other._places], 1), entries, self._shape)

    def __radd__(self, other: Any) -> Any:
        return other + self.to_dense()

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __matmul__(self, other: Any) -> Any:
        """The product.  Unlike ``sparse.mm`` it gives the zeros that ``to_sparse`` left out a gradient, as in torch."""
        if self._source is not None and not isinstance(other, SparseTensor):
            return self._source @ other
        return mm(self, other) if other.ndim == 2 else mm(self, other[:, None])[:, 0]

    def __rmatmul__(self, other: Any) -> Any:
        return mm(other, self) if other.ndim == 2 else mm(self.t(), other[:, None])[:, 0]

    mm = matmul = __matmul__
    mv = __matmul__

    def sum(self, dim: Any = None) -> Any:
        """Sum of all entries, or a sparse tensor of the sums along one axis or several."""
        return sum(self, dim)

    def norm(self) -> Tensor:
        """Root of the sum of squares."""
        return self.coalesce()._entries.norm()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        found = FUNCTIONS.get(name)
        if found is None or name.startswith("__"):
            raise AttributeError(f"sparse tensors have no attribute {name!r}; .to_dense() gives a tensor that may.")
        return lambda *args, **kwargs: found(self, *args, **kwargs)


def _apply(op: Op, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Entrywise functions that are 0 at 0 act on the entries; all others would fill the zeros."""
    with np.errstate(all="ignore"):
        if op.name == "matmul":
            return args[0] @ args[1]
        if len(args) == 1 and (op.kind == "elementwise" or op.name == "abs") and not op.kernel(np.float64(0), **params):
            own = args[0].coalesce()
            return own._with(op(own._entries, **params))
    raise UnsupportedFunction(f"{op.name}() of a sparse tensor: its result is not sparse; use .to_dense() first.")


register_carrier(SparseTensor, 5, _apply)


# ---------------------------------------------------------------------------------------------- making them


def from_dense(x: Any, sparse_dim: int | None = None) -> SparseTensor:
    """The entries of a tensor that are not zero; the others get no gradient."""
    if sparse_dim not in (None, x.ndim):
        raise ArgumentError(f"to_sparse(): all {x.ndim} axes become sparse, or none; got sparse_dim={sparse_dim}.")
    places = np.stack(np.nonzero(np.atleast_1d(x.detach().numpy()))) if x.ndim else np.zeros((0, 1), _INT)
    entries = lookup("getitem")(x, index=static_index(tuple(places))) if x.ndim else x.reshape(1)
    made = SparseTensor(places, entries, x.shape, True)
    made._source = x
    return made


def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
    is_coalesced: bool | None = None,
    check_invariants: bool | None = None,  # noqa: ARG001  (they are checked always)
    **options: Any,
) -> SparseTensor:
    """A sparse tensor of ``values`` at the places ``indices``, of shape (axes, count).

    Entries at one place are added.  Without ``size`` it is the smallest that holds all places.  Raises ``ShapeError``
    for places outside, and where the numbers of places and values differ.

    >>> import symgrad as sg
    >>> sg.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0]).to_dense()
    tensor([[0., 2.],
            [3., 0.]])
    """
    accept("sparse_coo_tensor", {k: v for k, v in options.items() if k != "layout"})  # type: ignore[arg-type]
    places = np.asarray(indices.detach() if isinstance(indices, Tensor) else indices, _INT)
    places = places.reshape(1, -1) if places.ndim == 1 else places
    entries = as_tensor(values, dtype)
    if places.ndim != 2 or entries.ndim != 1 or places.shape[1] != entries.shape[0]:
        raise ShapeError(
            f"sparse_coo_tensor: indices of shape (axes, count) and values of shape (count,), not {places.shape} and "
            f"{tuple(entries.shape)}."
        )
    shape = tuple(int(n) for n in places.max(1, initial=-1) + 1) if size is None else tuple(int(n) for n in size)
    if len(shape) != len(places) or (places.size and ((places < 0) | (shape <= places.T).T).any()):
        raise ShapeError(f"sparse_coo_tensor: places outside of the size {shape} (largest {places.max(1).tolist()}).")
    if requires_grad:
        entries = entries.detach()._require()
    return SparseTensor(places, entries, shape, bool(is_coalesced))


# ---------------------------------------------------------------------------------------------- torch.sparse


def _matrix(x: Any, what: str) -> None:
    if x.ndim != 2:
        raise ShapeError(f"sparse.mm: {what} must be a matrix, not of shape {tuple(x.shape)}.")


def mm(mat1: Any, mat2: Any) -> Any:
    """The product of two matrices, one of them sparse (the result is dense) or both (it is sparse).

    Raises ``ShapeError`` where sizes do not fit.

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> sg.sparse.mm(s, sg.ones(3, 2))
    tensor([[3., 3.],
            [4., 4.]])
    """
    _matrix(mat1, "mat1")
    _matrix(mat2, "mat2")
    if mat1.shape[1] != mat2.shape[0]:
        raise ShapeError(
            f"mat1 and mat2 shapes cannot be multiplied ({mat1.shape[0]}x{mat1.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        )
    if not isinstance(mat1, SparseTensor):
        if not isinstance(mat2, SparseTensor):
            return FUNCTIONS["mm"](mat1, mat2)
        return mm(mat2.t(), mat1.t()).t()
    if isinstance(mat2, SparseTensor):
        return _sparse_product(mat1.coalesce(), mat2.coalesce())
    rows, columns = mat1._places
    parts = mat1._entries[:, None] * mat2[columns]
    return lookup("put")(parts, index=static_index((rows,)), shape=(mat1._shape[0], int(mat2.shape[1])))


def _sparse_product(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """Every entry of ``a`` with every entry in the row of ``b`` that its column names."""
    rows, columns = a._places
    begins = np.searchsorted(b._places[0], np.arange(b._shape[0] + 1))
    counts = (begins[1:] - begins[:-1])[columns]
    left = np.repeat(np.arange(len(columns)), counts)
    within = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = begins[columns][left] + within
    entries = a._entries[left] * b._entries[right]
    places = np.stack([rows[left], b._places[1][right]])
    return SparseTensor(places, entries, (a._shape[0], b._shape[1])).coalesce()


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """``beta * mat + alpha * (mat1 @ mat2)`` with a sparse ``mat1``.

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 1], [1, 0]], [3.0, 4.0], (2, 2))
    >>> sg.sparse.addmm(sg.eye(2), s, sg.eye(2))
    tensor([[1., 3.],
            [4., 1.]])
    """
    return mat * beta + mm(mat1, mat2) * alpha


def sum(input: SparseTensor, dim: Any = None, dtype: Any = None) -> Any:
    """Sum of all entries, or a sparse tensor of the sums along one axis or several.

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> sg.sparse.sum(s)
    tensor(7.)
    """
    own = input if dtype is None else input.to(dtype)
    if dim is None:
        return own._entries.sum()
    gone = {d % own.ndim for d in (dim if isinstance(dim, (tuple, list)) else (dim,))}
    kept = [k for k in range(own.ndim) if k not in gone]
    if not kept:
        return own._entries.sum()
    return SparseTensor(own._places[kept], own._entries, [own._shape[k] for k in kept]).coalesce()


def softmax(input: SparseTensor, dim: int, dtype: Any = None) -> SparseTensor:
    """Softmax of the entries along an axis; where there is none, it is as if there were minus infinity.

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> sg.sparse.softmax(s, 1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000]])
    """
    return _softmax("softmax", input, dim, dtype)


def log_softmax(input: SparseTensor, dim: int, dtype: Any = None) -> SparseTensor:
    """Logarithm of :func:`softmax`.

    >>> import symgrad as sg
    >>> s = sg.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> sg.sparse.log_softmax(s, 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax("log_softmax", input, dim, dtype)


def _softmax(name: str, input: SparseTensor, dim: int, dtype: Any) -> SparseTensor:
    own = (input if dtype is None else input.to(dtype)).coalesce()
    index = static_index(tuple(own._places))
    filled = lookup("index_put")(full(own._shape, -np.inf, dtype=own.dtype), own._entries, index=index)
    return own._with(FUNCTIONS[name](filled, dim)[tuple(own._places)])

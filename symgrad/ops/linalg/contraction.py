"""The einsum core: one op that every multilinear rule comes down to.

Labels are ints.  Two things go beyond ``np.einsum``, so that the op is closed under its own derivative: a label that
stands twice in the output puts the values on a diagonal (a Kronecker delta), and one that stands in no input
broadcasts (its size comes from ``shape``).  A plan turns labels into the text of a NumPy expression; the kernel is
that text compiled, and generated code is that text printed, so the two cannot differ.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad import kernels
from symgrad.dtypes import float32, float64, result_type
from symgrad.kernels.arrays.index import _delta
from symgrad.op import Labels, Op, Rule, Spec, front, multilinear, sampling, shape_of
from symgrad.ops.elementwise.arithmetic import closed
from symgrad.ops.linalg.subscripts import fitted
from symgrad.precision.adding import einsum_in_turn, matmul, summed


def _axes_text(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


class Piece:
    """An intermediate of a plan: its text, its labels, and whether the text needs brackets before ``.T`` or ``@``."""

    __slots__ = ("atom", "labels", "text")

    def __init__(self, text: str, labels: Labels, atom: bool = True):
        self.text = text
        self.labels = labels
        self.atom = atom

    def closed(self) -> str:
        """The text, in brackets where it needs them."""
        return self.text if self.atom else f"({self.text})"


def diagonal_text(x: str, offset: int, dim1: int, dim2: int) -> str:
    """The diagonal of two axes; what NumPy does anyway is not said."""
    return f"np.diagonal({x})" if (offset, dim1, dim2) == (0, 0, 1) else f"np.diagonal({x}, {offset}, {dim1}, {dim2})"


def _diagonals(piece: Piece) -> Piece:
    """Take diagonals until no label stands twice."""
    if len(set(piece.labels)) == len(piece.labels):
        return piece
    text, labels = piece.closed(), list(piece.labels)
    while len(set(labels)) < len(labels):
        label = next(x for x in labels if labels.count(x) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        text = diagonal_text(text, 0, first, second)
        del labels[second], labels[first]
        labels.append(label)
    return Piece(text, tuple(labels))


def _sum_out(piece: Piece, keep: set[int]) -> Piece:
    axes = [k for k, label in enumerate(piece.labels) if label not in keep]
    if not axes:
        return piece
    labels = tuple(x for x in piece.labels if x in keep)
    if not labels:
        return Piece(f"np.sum({piece.text})", labels)
    return Piece(f"np.sum({piece.text}, {_axes_text(axes)})", labels)


def _permuted(piece: Piece, order: Labels) -> Piece:
    if piece.labels == order:
        return piece
    axes = tuple(piece.labels.index(x) for x in order)
    if axes == (1, 0):
        return Piece(f"{piece.closed()}.T", order)
    if len(axes) > 2 and axes == (*range(len(axes) - 2), len(axes) - 1, len(axes) - 2):
        return Piece(f"{piece.closed()}.swapaxes(-1, -2)", order)
    return Piece(f"{piece.closed()}.transpose({', '.join(map(str, axes))})", order)


def _aligned(piece: Piece, order: Labels) -> Piece:
    """Permute and insert new axes so that the piece broadcasts against an array labelled ``order``."""
    piece = _permuted(piece, tuple(x for x in order if x in piece.labels))
    while order and order[0] not in piece.labels:
        order = order[1:]
    if len(order) == len(piece.labels):
        return piece
    index = ", ".join(":" if x in piece.labels else "None" for x in order)
    return Piece(f"{piece.closed()}[{index}]", order)


def _matmul(a: Piece, b: Piece, batch: Labels, inner: Labels, keep: set[int]) -> Piece | None:
    """``a @ b`` where at most one free label stands on each side and exactly one label is contracted."""
    free_a = tuple(x for x in a.labels if x in keep and x not in batch)
    free_b = tuple(x for x in b.labels if x in keep and x not in batch)
    if len(inner) != 1:
        return None
    if not batch and len(free_b) <= 1:
        left = _permuted(a, free_a + inner)
        right = _permuted(b, inner + free_b)
        return Piece(f"{left.closed()} @ {right.closed()}", free_a + free_b, False)
    if len(free_a) == 1 and len(free_b) == 1:
        left = _permuted(a, batch + free_a + inner)
        right = _permuted(b, batch + inner + free_b)
        return Piece(f"{left.closed()} @ {right.closed()}", batch + free_a + free_b, False)
    return None


def _pair(a: Piece, b: Piece, keep: set[int], order: Labels, single: bool) -> Piece:
    """Contract two pieces, keeping the labels in ``keep``; ``order`` is the output order that is hoped for.

    ``single``: only by ``@`` and ``np.einsum``, of which the order of additions is known.
    """
    a = _sum_out(_diagonals(a), keep | set(b.labels))
    b = _sum_out(_diagonals(b), keep | set(a.labels))
    shared = [x for x in a.labels if x in b.labels]
    inner = tuple(x for x in shared if x not in keep)
    batch = tuple(x for x in shared if x in keep)
    if not inner:
        present = dict.fromkeys(a.labels + b.labels)
        labels = (*(x for x in present if x not in order), *(x for x in order if x in present))
        left, right = _aligned(a, labels), _aligned(b, labels)
        return Piece(f"{left.closed()} * {right.closed()}", labels, False)
    for first, second in ((a, b), (b, a)):
        product = _matmul(first, second, batch, inner, keep)
        wished = tuple(x for x in order if product and x in product.labels)
        if product is not None and (product.labels == wished or second is a):
            return product
    product = _matmul(a, b, batch, inner, keep)
    if product is not None:
        return product
    if not single and (quick := _without_einsum(a, b, batch, inner, order)) is not None:
        return quick
    free = tuple(x for x in dict.fromkeys(a.labels + b.labels) if x in keep)
    letters = {x: chr(97 + k) for k, x in enumerate(dict.fromkeys(a.labels + b.labels))}
    spec = f"{''.join(letters[x] for x in a.labels)},{''.join(letters[x] for x in b.labels)}"
    spec += "->" + "".join(letters[x] for x in free)
    apart = single or a.labels != b.labels  # entry by entry, there is nothing to optimise
    return Piece(f'np.einsum("{spec}", {a.text}, {b.text}{", optimize=True" if apart else ""})', free)


def _without_einsum(a: Piece, b: Piece, batch: Labels, inner: Labels, order: Labels) -> Piece | None:
    """Sums over several labels as ``np.einsum`` computes them after it has looked for a way, which takes it longer."""
    if batch:
        return _rows_by_matrices(a, b, batch, inner)
    if len(inner) == len(a.labels) == len(b.labels):
        return Piece(f"{a.closed()}.ravel() @ {_permuted(b, a.labels).closed()}.ravel()", (), False)
    if b.labels and order[:1] and order[0] in b.labels:
        a, b = b, a
    if len(a.labels) == len(b.labels) == len(inner) + 1:
        # A matrix product, which NumPy's tensordot makes of it as well, but looks for it longer.
        free = tuple(next((y,) for y in x.labels if y not in inner) for x in (a, b))
        left, right = (f"in_rows({_permuted(x, inner + y).text})" for x, y in zip((a, b), free, strict=True))
        return Piece(f"{left}.T @ {right}", free[0] + free[1], False)
    axes = ", ".join(str(tuple(map(x.labels.index, inner))) for x in (a, b))
    return Piece(f"np.tensordot({a.text}, {b.text}, ({axes}))", tuple(x for x in a.labels + b.labels if x not in inner))


def _rows_by_matrices(a: Piece, b: Piece, batch: Labels, inner: Labels) -> Piece | None:
    """A vector times a matrix for every label of a batch, as products of matrices of one row or column."""
    vector, matrix = sorted((a, b), key=lambda x: len(x.labels))
    free = tuple(x for x in matrix.labels if x not in (*batch, *inner))
    if len(inner) != 1 or len(free) != 1 or len(vector.labels) != len(batch) + 1:
        return None
    rows = _permuted(vector, batch + inner).closed()
    one = ", ".join(":" for _ in batch)
    if matrix.labels[-1:] == inner:
        left = _permuted(matrix, batch + free + inner).closed()
        return Piece(f"({left} @ {rows}[{one}, :, None])[..., 0]", batch + free)
    right = _permuted(matrix, batch + inner + free).closed()
    return Piece(f"({rows}[{one}, None] @ {right})[{one}, 0]", batch + free)


def plan_text(
    inputs: tuple[Labels, ...],
    output: Labels,
    names: Sequence[str],
    shape: str,
    order: Any = None,
    single: bool = False,
) -> str:
    """The NumPy expression of a contraction; ``shape`` is the text of the shape of the output's labels, each once.

    ``single``: for entries in single precision, which are added in the order of torch.

    >>> plan_text(((0, 1), (2, 1)), (0, 2), ["a", "b"], "")
    'a @ b.T'
    >>> plan_text(((0,),), (1, 0), ["x"], "(3, n)")
    'np.broadcast_to(x, (3, n))'
    """
    pieces = [Piece(name, labels) for name, labels in zip(names, inputs, strict=True)]
    wanted = tuple(dict.fromkeys(output))
    for i, j in order or [(0, 1)] * (len(pieces) - 1):
        b, a = pieces.pop(max(i, j)), pieces.pop(min(i, j))
        keep = set(wanted).union(*(p.labels for p in pieces))
        pieces.append(_pair(a, b, keep, wanted, single))
    piece = _sum_out(_diagonals(pieces[0]), set(wanted))
    if len(wanted) > len(piece.labels):
        piece = Piece(f"np.broadcast_to({_aligned(piece, wanted).text}, {shape})", wanted)
    else:
        piece = _permuted(piece, wanted)
    if len(output) > len(wanted):
        return _diagonal_text(piece, output, wanted)
    return piece.text


def _diagonal_text(piece: Piece, output: Labels, wanted: Labels) -> str:
    if len(output) == 2:
        return f"np.diag({piece.text})"
    where = tuple(wanted.index(x) for x in output)
    return f"_delta({piece.text}, {where})"


@functools.lru_cache(maxsize=4096)
def _compiled(inputs: tuple[Labels, ...], output: Labels, order: Any, single: bool = False) -> Callable[..., Any]:
    names = [f"x{k}" for k in range(len(inputs))]
    text = plan_text(inputs, output, names, "shape", order, single).replace("np.broadcast_to(", "spread(")
    # The text is made from integer labels alone; nothing of a user's reaches it.
    source = ast.parse(f"lambda {', '.join([*names, 'shape'])}: {text}", mode="eval")
    known = {"np": np, "_delta": _delta, "spread": kernels.spread, "in_rows": kernels.in_rows}
    if single:
        source = ast.fix_missing_locations(_InSingle().visit(source))
        known |= {"total": summed, "in_turn": einsum_in_turn, "product": matmul}
    return eval(compile(source, "<contraction>", "eval"), known)  # type: ignore[no-any-return]  # noqa: S307


class _InSingle(ast.NodeTransformer):
    """Sums and matrix products of float32 entries in the order in which torch adds them."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        return ast.Call(ast.Name("product", ast.Load()), [node.left, node.right], [])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sum":
            node.func = ast.Name("total", ast.Load())
        if isinstance(node.func, ast.Attribute) and node.func.attr == "einsum":
            node.func = ast.Name("in_turn", ast.Load())
        return node


@functools.lru_cache(maxsize=4096)
def contraction_order(inputs: tuple[Labels, ...], output: Labels, shapes: Any) -> tuple[tuple[int, int], ...]:
    """Pairs to contract, by NumPy's own path finder (exact for few factors, greedy beyond)."""
    letters = {x: chr(97 + k) if k < 26 else chr(39 + k) for k, x in enumerate(dict.fromkeys(sum(inputs, ())))}
    spec = ",".join("".join(letters[x] for x in labels) for labels in inputs)
    spec += "->" + "".join(letters[x] for x in dict.fromkeys(output) if x in letters)
    dummies = [np.broadcast_to(np.float32(0), shape) for shape in shapes]
    path = np.einsum_path(spec, *dummies, optimize="optimal" if len(inputs) <= 6 else "greedy")[0][1:]
    pairs: list[tuple[int, int]] = []
    for step in path:
        step = sorted(step)
        while len(step) > 2:
            pairs.append((step[0], step[1]))
            step = [k - (k > step[0]) - (k > step[1]) for k in step[2:]]
            step.append(len(dummies) - len(pairs) - 1)
        if len(step) == 2:
            pairs.append((step[0], step[1]))
    return tuple(pairs)


_OBJECT = np.dtype(object)


def _contract_kernel(*xs: Any, inputs: tuple[Labels, ...], output: Labels, shape: tuple[int, ...]) -> Any:
    order = None
    if len(xs) > 2:
        order = contraction_order(inputs, output, tuple(shape_of(x) for x in xs))
    single = {getattr(x, "dtype", None) for x in xs} == {float32}
    made = _compiled(inputs, output, order, single)(*xs, _once(output, shape))
    if getattr(made, "dtype", _OBJECT).kind in "ui" and xs:  # mpmath's single numbers have no dtype
        # As torch: a plain sum of whole numbers is int64, and products stay what their factors are.
        alone = len(xs) == 1 and len(inputs[0]) > len(output)
        kinds = [x.dtype for x in xs if hasattr(x, "dtype")] or [made.dtype]  # sizes in formulas are plain numbers
        return made.astype(np.int64 if alone else functools.reduce(result_type, kinds), copy=False)
    return made


def _once(output: Labels, shape: Any) -> Any:
    """The sizes of the output's labels, each once: what is broadcast before it is put on a diagonal."""
    return tuple(shape[output.index(x)] for x in dict.fromkeys(output)) if _repeats(output) else shape


@functools.lru_cache(maxsize=4096)
def _repeats(output: Labels) -> bool:
    return len(set(output)) < len(output)


@functools.lru_cache(maxsize=4096)
def _spreads(inputs: tuple[Labels, ...], output: Labels) -> bool:
    """Whether the output has a label that no input has."""
    return not set().union(*inputs).issuperset(output)


def _contract_code(
    *texts: str, inputs: tuple[Labels, ...], output: Labels, shape: Any, shapes: Any = None, **_: Any
) -> str:
    order = contraction_order(inputs, output, shapes) if len(texts) > 2 and shapes else None
    sizes = _once(output, shape)
    size_text = f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"
    return plan_text(inputs, output, [closed(text) for text in texts], size_text, order)


def _contract_spec(*_: Any, inputs: tuple[Labels, ...], output: Labels, shape: Any) -> Spec:
    return inputs, output


def multilinear_vjp(op: Op) -> Rule:
    """The pullback of any multilinear op: contract the cotangent with the other inputs (conjugated if complex)."""
    from symgrad.ops.elementwise.complex import conj

    def vjp(i: int, g: Any, out: Any, *inputs: Any, **params: Any) -> Any:
        dtype = g.dtype if isinstance(g, _ARRAYS) else None
        if dtype is float64 or dtype is float32:
            rest = [x for k, x in enumerate(inputs) if k != i]
            if not [x for x in rest if x.__class__ is not np.ndarray or x.dtype is not dtype]:
                shapes = tuple([shape_of(x) for x in inputs])
                turned = bool(op.mirrors and by_columns(inputs[i]))
                found = _pull(op, i, shapes, tuple(params.items()) if params else (), dtype is float32, turned)
                if found is not None:
                    return found(g, *rest, shapes[i][::-1]).T if turned else found(g, *rest, shapes[i])
        labels, output = op.einsum(*(shape_of(x) for x in inputs), **params)
        others = [conj(x) for k, x in enumerate(inputs) if k != i]
        other_labels = tuple(x for k, x in enumerate(labels) if k != i)
        if op.mirrors and isinstance(g, np.ndarray) and by_columns(inputs[i]):
            shape = shape_of(inputs[i])
            return contract((g, *others), (output, *other_labels), labels[i][::-1], shape[::-1]).T
        return contract((g, *others), (output, *other_labels), labels[i], shape_of(inputs[i]))

    return vjp


_ARRAYS = (np.ndarray, np.generic)


@functools.lru_cache(maxsize=4096)
def _pull(
    op: Op, i: int, shapes: tuple[tuple[int, ...], ...], params: Any, single: bool, turned: bool
) -> Callable[..., Any] | None:
    """How an op of one or two arrays is pulled back to operand ``i``: the compiled contraction, looked up by shapes.

    It takes the cotangent, the other operand and the shape of this one; ``turned``: it gives the transpose, and takes
    the shape of that.  None where that is no single plan.
    """
    if len(shapes) > 2:
        return None
    labels, output = op.einsum(*shapes, **dict(params))
    wanted, others = labels[i][::-1] if turned else labels[i], labels[:i] + labels[i + 1 :]
    if _repeats(wanted) or (not others and wanted == output):
        return None
    return _compiled((output, *others), wanted, None, single)


@functools.lru_cache(maxsize=4096)
def pulls(
    op: Op, mask: int, a: tuple[int, ...], b: tuple[int, ...], single: bool, turned: tuple[bool, bool]
) -> tuple[Rule | None, Rule | None] | None:
    """The rules ``(g, out, x, y)`` of a product of two arrays of these shapes, by the factors in ``mask``.

    They are float64, or all of them in ``single`` precision; those ``turned`` lie column by column, as their gradients
    do then.
    """
    first, second = (_pull(op, i, (a, b), (), single, turned[i]) for i in (0, 1))
    # Many cotangents at once are no array, which the sums of single precision ask for.
    firsts, seconds = (_pull(op, i, (a, b), (), False, turned[i]) for i in (0, 1))
    if first is None or second is None or firsts is None or seconds is None:
        return None

    def by_first(g: Any, _out: Any, _x: Any, y: Any) -> Any:
        pull = first if isinstance(g, _ARRAYS) else firsts
        return pull(g, y, a[::-1]).T if turned[0] else pull(g, y, a)

    def by_second(g: Any, _out: Any, x: Any, _y: Any) -> Any:
        pull = second if isinstance(g, _ARRAYS) else seconds
        return pull(g, x, b[::-1]).T if turned[1] else pull(g, x, b)

    return (by_first if mask & 1 else None, by_second if mask & 2 else None)


def by_columns(matrix: Any) -> bool:
    """Whether an operand is a matrix that lies column by column; one whose values are not kept tells it itself."""
    if isinstance(matrix, np.ndarray):
        return matrix.ndim == 2 and matrix.flags.f_contiguous and not matrix.flags.c_contiguous
    return getattr(matrix, "turned", False)


def multilinear_jvp(op: Op) -> Rule:
    """The tangent map of a multilinear op: the op itself with one input replaced by its tangent."""

    def jvp(i: int, t: Any, out: Any, *inputs: Any, **params: Any) -> Any:
        return op(*inputs[:i], t, *inputs[i + 1 :], **params)

    return jvp


def contract(xs: Sequence[Any], inputs: tuple[Labels, ...], output: Labels, shape: tuple[Any, ...]) -> Any:
    """Contract ``xs`` by labels to an array of ``shape`` labelled ``output``.

    Output labels found in no input broadcast; axes of size 1 that another input has at full size are summed out.
    """
    if _repeats(output) and _spreads(inputs, output):
        # Broadcast first, repeat afterwards: a delta of a broadcast is a broadcast delta.
        wanted = tuple(dict.fromkeys(output))
        sizes = tuple(shape[output.index(x)] for x in wanted)
        spread = contract(xs, inputs, wanted, sizes)
        return contract((spread,), (wanted,), output, shape)
    if len(xs) == 1 and inputs[0] == output and not _repeats(output):
        return xs[0]
    return einsum_op(*xs, inputs=inputs, output=output, shape=tuple(shape))


def _infer_contract(*_: Any, shape: tuple[Any, ...], **__: Any) -> tuple[Any, ...]:
    return tuple(shape)


def _contract_node(*_: Any, inputs: tuple[Labels, ...], output: Labels, shape: tuple[Any, ...]) -> str:
    """What torch does where a rule has such an einsum; those that people write have a label."""
    known, wanted = set().union(*inputs), set(output)
    if len(wanted) < len(output):
        return "DiagEmbed"
    if not known >= wanted:
        new = [size for label, size in zip(output, shape, strict=True) if label not in known]
        return "Unsqueeze" if all(size == 1 for size in new) else "Expand"
    if len(inputs) == 1:
        if known > wanted:
            return "SumBackward1"
        return "Permute" if len(inputs[0]) == len(output) else "Diagonal"
    return "Mm" if known > wanted else "Mul"


def _einsum(inputs: Any, output: Any) -> sampling.Sample:
    def sample(make: Any) -> sampling.Case:
        sizes = {label: make.size("nmpq"[label]) for label in range(4)}
        args = tuple(make("real", *(sizes[k] for k in labels)) for labels in inputs)
        return args, {"inputs": inputs, "output": output, "shape": tuple(sizes[k] for k in output)}

    return sample


einsum_op: Op = multilinear(
    "einsum",
    _contract_kernel,
    _contract_spec,
    infer=_infer_contract,
    code=_contract_code,
    weak=True,
    size_params=("shape",),
    variadic=True,
    node=_contract_node,
    indirect=True,
    example=("matrix", "vector", {"inputs": ((0, 1), (1,)), "output": (0,), "shape": (2,)}),
    samples=[
        _einsum(((0, 1), (1, 2)), (0, 2)),
        _einsum(((0, 1), (0, 1)), ()),
        _einsum(((0, 1), (1, 2), (2,)), (0,)),
        _einsum(((0,), (1,)), (1, 0)),
        _einsum(((0, 0),), (0,)),
        _einsum(((0, 1),), (0, 0, 1)),
        _einsum(((0,), (0, 1)), (1, 0)),
        _einsum(((0, 1), (0, 1), (1,)), (1, 0)),
        _einsum(((3, 0, 1), (3, 1, 2)), (3, 0, 2)),
        _einsum(((0, 1, 2), (1, 2)), (0,)),
    ],
    doc="Sum of products over labelled axes (einsum), with deltas and broadcasts.",
)


@front(op=einsum_op, method=False)
def einsum(equation: str, *operands: Any) -> Any:
    """Sum of products in Einstein's notation, as ``numpy.einsum`` and ``torch.einsum``.

    ``equation`` may use ``...``; ``operands`` are arrays or tensors (or one list of them).  In place of an equation the
    axes may be numbered: ``einsum(a, [0, 1], b, [1], [0])``.  Raises ``ShapeError`` when sizes do not fit and
    ``ArgumentError`` for a bad equation.
    """
    xs, inputs, output, shape = fitted(equation, *operands)
    if len(xs) == 1 and set(inputs[0]) == set(output):
        return _rearranged(xs[0], list(inputs[0]), output)
    return einsum_op(*xs, inputs=inputs, output=output, shape=shape)


def _rearranged(x: Any, labels: list[int], output: Labels) -> Any:
    """One operand without a sum: a view of it, diagonals of axes with the same letter first."""
    from symgrad.ops.linalg.matrices import diagonal
    from symgrad.ops.shapes.shaping import permute_op

    for label in output:
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            rest = range(len(labels) - 2)  # the diagonal is the last axis, and takes the place of the first
            x = permute_op(diagonal(x, 0, first, second), dims=(*rest[:first], len(rest), *rest[first:]))
            del labels[second]
    return permute_op(x, dims=tuple(labels.index(label) for label in output))

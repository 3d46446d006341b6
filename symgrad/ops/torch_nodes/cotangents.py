"""Which answer torch's rule gives for a node of the graph here: most by the name alone, some by what the node does.

The answers themselves are written in :mod:`symgrad.ops.torch_nodes.answers`.  Functions that are one node here and
several in torch have the several nodes in ``lowered``, in the same words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.elementwise.arithmetic import static_number
from symgrad.ops.indexing.getitem import index_steps
from symgrad.ops.torch_nodes.answers import ROWS, Row, parsed
from symgrad.ops.torch_nodes.kinds import Steps

UNKNOWN = "Mul(g,D(x,y,z,w))"
"""The answer of a node without a row: the gradient times a derivative that reads all inputs."""

_NORMS = {1: "Mul~(Sgn(x),Unsqueeze(g))", 2: "Mul(Unsqueeze(g),MaskedFill(Div(x,Unsqueeze(r))))"}
_MORE_NORMS = "Mul(Mul(x,Pow#p(Abs(x))),MaskedFill(Div(Unsqueeze(g),Pow#p(Unsqueeze(r)))))"


def row(node: Any, name: str) -> Row:
    """The answers of ``node``, which is called ``name``, for its inputs in torch's order."""
    return parsed(_by_op(node, name) or ROWS.get(name) or UNKNOWN)


def product(first: bool, second: bool, before: str = "") -> Row:
    """The answers of a matrix product, whose factors stand in memory column by column, or not."""
    x, y = "yz" if before else "xy"
    left = f"T(Mm({y}',T(g)))" if first else f"Mm(g,T({y})')"
    right = f"T(Mm(T(g),{x}'))" if second else f"Mm(T({x})',g)"
    return parsed(f"{before or '~'} {left} {right}")


def exponent(node: Any) -> Any:
    """The number that a power node raises to; None where that is no number."""
    if node.op.name == "square":
        return 2
    return static_number(node.args[1]) if node.op.name == "pow" and len(node.args) == 2 else None


def _by_op(node: Any, name: str) -> str | None:
    """Answers that depend on more than the name."""
    op, params = node.op.name, node.params or {}
    if name in ("AddBackward0", "SubBackward0") and getattr(node.args, "inputs", None):
        return "g Mul:1(g)"  # the other summand was scaled on the way
    if op == "sgn" and node.dtype.kind != "c":
        return "e"
    if op == "mean" and name in ("VarMeanBackward0", "StdMeanBackward0"):
        return ROWS["MeanBackward1"]
    if op == "angle" and node.args[0].dtype.kind != "c":
        return "0"
    if op in ("amax", "amin") and name in ("AmaxBackward0", "AminBackward0") and not node.args[0].raw_shape:
        return "Mul(Div(g,_),_)" if _of_all(node) else "Sum(Mul(Div(View(g),_),_))"
    if name == "PowBackward0" and exponent(node) == 0:
        return "0"
    if name == "LinalgVectorNormBackward0" and "p" in params:
        return _norm(node, **params)
    if name in _TRIVIAL and _TRIVIAL[name](node, params.get("dim")):
        return "g"
    if name in ("VarBackward0", "StdBackward0") and op in ("var", "std"):
        return _spread(node, params["dim"], params["correction"], name == "StdBackward0")
    if op == "prod" and _has_zeros(node):
        return _product_with_zeros(node.args[0].raw_shape, params["dim"], name == "ProdBackward0")
    if op == "cumprod" and _has_zeros(node) and node.shape[params["dim"]] <= len(_LETTERS):
        return _running_product_with_zeros(node.shape[params["dim"]])
    if name in _BY_SHAPE:
        return _BY_SHAPE[name](node)
    if name == "RepeatBackward0":
        return _repeated(node)
    if name.startswith("Squeeze") and op == "squeeze" and not params["dim"]:
        return "g"
    return None


def _joined(node: Any) -> str:
    """What is a vector without entries has zeros of its own."""
    shapes = [tuple(getattr(arg, "raw_shape", ())) for arg in node.args]
    return " ".join("Zeros@t()+1" if shape == (0,) else "Slice(g)" for shape in shapes)


def _empty(text: str) -> Callable[[Any], str | None]:
    """The answer of a node whose result has no entries."""
    return lambda node: None if math.prod(node.shape) else text


_BY_SHAPE: dict[str, Callable[[Any], str | None]] = {
    "CatBackward0": _joined,
    "AsStridedBackward0": _empty("Zeros@t()+1"),
    "CummaxBackward0": _empty("x"),
    "CumminBackward0": _empty("x"),
    "BinaryCrossEntropyBackward0": lambda node: _entropy(node, _ENTROPY),
    "BinaryCrossEntropyWithLogitsBackward0": lambda node: _entropy(node, _OF_LOGITS),
    "LogcumsumexpBackward0": lambda node: (
        "Exp(Add(Flip(Logcumsumexp(Flip(Sub(Log(g'),r)))),x))'" if node.dtype.kind == "c" else None
    ),
    "LinalgDetBackward0": lambda node: (
        "Expand@t(Unsqueeze@t(Unsqueeze@t(g)))" if node.args[0].raw_shape[-1] == 1 else None
    ),
}
"""Answers that go by the shape or the dtype, by the node's name."""


def _of_all(node: Any) -> bool:
    """Whether a reduction was asked for without axes: where some were named the node has a label."""
    return getattr(node.args, "label", None) is None


def _norm(node: Any, p: Any, dim: Any, keepdim: bool) -> str:
    text = _NORMS.get(p, _MORE_NORMS)
    if abs(p) == float("inf"):
        text = "Mul~(Sgn(x),Mul(Div(Unsqueeze(g),_),_))"
    whole = _of_all(node) and not keepdim and len(dim) == len(node.args[0].raw_shape)
    return text.replace("Unsqueeze(g)", "g").replace("Unsqueeze(r)", "r") if whole else text


def _one_along(node: Any, dim: Any) -> bool:
    """Whether a running sum or product has one entry at most, or one along its axis."""
    return bool(node.op.name == "clone" or math.prod(node.shape) <= 1 or node.shape[dim] == 1)


_TRIVIAL: dict[str, Any] = {
    "CumsumBackward0": _one_along,
    "CumprodBackward0": _one_along,
    "LogcumsumexpBackward0": lambda node, dim: not math.prod(node.shape) or not node.shape,
    "ProdBackward0": lambda node, dim: not node.args[0].raw_shape,
    "ProdBackward1": lambda node, dim: not node.args[0].raw_shape,
}
"""When torch passes the gradient on as it came, by the node's name."""


def _spread(node: Any, dim: Any, correction: Any, root: bool) -> str | None:
    """A variance of all entries, or of none but one, without degrees of freedom: times what has no history."""
    shape = node.args[0].raw_shape
    if len(shape) == 1 or len(dim) < len(shape) or math.prod(shape) > correction:
        return None  # along an axis, and of a vector, whose only axis that may be
    given = "MaskedFill(Div(g,Mul:1(r)))" if root else "g"
    # What it is times has the default dtype, which entries take over from a number.
    return f"ToCopy(Mul({given},_))" if shape and node.dtype.itemsize == 8 else f"Mul({given},_)"


def _has_zeros(node: Any) -> bool:
    """Whether a factor was zero, as far as the node still knows its operand."""
    return node.saved.__class__ is tuple and any(value is not None and not np.all(value) for value in node.saved[1:])


def _product_with_zeros(shape: Any, dim: Any, whole: bool) -> str:
    """A product without its quotient: the product of all factors before times that of all after."""
    given, x = ("g", "a=View(x)") if whole else ("Unsqueeze(g)", "x")
    made = f"Mul({given},Mul(Cumprod(Cat(_,Slice({x}))),Flip(Cumprod(Cat(_,Flip(Slice({x[0]})))))))"
    made = given if shape[dim] == 1 else made
    return f"View({made})" if whole else made


_LETTERS = "abcdfhij"


def _running_product_with_zeros(size: int) -> str:
    """A recorded running product without its quotient: one entry of the axis after the other is put into zeros."""
    made = "_"
    for k, name in enumerate(_LETTERS[:size]):
        others = "Prod:1(Slice(x))"
        if k == 0:
            others = "Cat(_,Cumprod(Slice(x)))"
        elif k < size - 1:
            others = f"Cat({name}={others},Mul(Expand({name}),Cumprod(Slice(x))))"
        made = f"CopySlices@t({made},Sum:1(Mul(Slice(g),{others})))"
    return f"{made}*{size + 1}"


_ENTROPY: tuple[str, str, int, int] = ("", "Neg(Logit(x))", 0, 2)
_OF_LOGITS: tuple[str, str, int, int] = ("Sub(Sigmoid(x),y)", "Neg(x)", 2, 0)
_WEIGHED = (
    "Sub(Mul(Sub(Add:1(Mul(y,_)),y),Sigmoid(x)),Mul(y,_))", "Sub(LogSigmoid(Neg(x)),Mul(LogSigmoid(x),_))", 4, 2,
)  # fmt: skip
"""What the gradients of binary cross-entropies are of input and target, and how often they are changed in place: that
of the input only where the pass is not recorded."""


def _entropy(node: Any, answers: tuple[str, str, int, int]) -> str | None:
    """A binary cross-entropy by its weights and by what is made of its entries, ``answers``; a mean is divided last."""
    given = getattr(node.args, "given", None)
    if given is None:
        return None
    _, args, named = given
    weighted = "weight" in named or args[2:3] == (...,)
    mean = not {"sum", "none"} & {value for value in (*args, *named.values()) if isinstance(value, str)}
    of_input, of_target, first, second = _WEIGHED if "pos_weight" in named or args[6:] == (...,) else answers

    def scaled(text: str, mark: str, changed: int) -> str:
        text = f"Mul({text},g)"
        text = f"Mul({text},_)" if weighted else text
        return f"{f'Div:1({text})+1' if mean else text}{mark}{changed + weighted}"

    slope = scaled(of_input, "-", first) if of_input else "BinaryCrossEntropyBackward(g,x,y)"
    return f"{slope} {scaled(of_target, '+', second)}"


def _repeated(node: Any) -> str:
    """A repetition adds up one new axis after the other, then all axes that were repeated."""
    shape, made = tuple(node.args.inputs[0].raw_shape), tuple(node.shape)
    kept = made[len(made) - len(shape) :]
    if 0 in shape:  # of which the result does not tell how often it is repeated
        _, args, named = node.args.given
        flat = [n for a in (*args[1:], *named.values()) for n in (a if isinstance(a, (tuple, list)) else (a,))]
        kept = shape if all(n == 1 for n in flat[max(0, len(flat) - len(shape)) :]) else ()
    text = "g"
    for _ in range(len(made) - len(shape)):
        text = f"Sum:1@t({text})"
    return text if kept == shape else f"Sum:1@t(View({text}))"


# ---------------------------------------------------------------------------------------------- one here, several there

_EINSUMS = ("MulBackward0", "SumBackward1", "PermuteBackward0")
_HIDDEN = ("BmmBackward0", "MmBackward0", "DotBackward0", "AddmmBackward0")
_PAIRED = ("BmmBackward0", "MulBackward0")
"""The last pair of an einsum, of which torch gives a view."""
_BROADCAST = ("MseLossBackward0", "HuberLossBackward0", "SmoothL1LossBackward0")
_STEPS = {"Index": "Index({})", "Unsqueeze": "Unsqueeze({})", "Select": "Select({})", "Slice": "Slice({})"}


_ALWAYS = {
    ("scaled_reciprocal", "f"): "Mul(Reciprocal(x),_)",
    ("scaled_reciprocal", "c"): "Mul(Reciprocal(x),_)",
    ("logdet", "f"): "Where(_,LinalgSlogdet(x))",
}
"""The steps of ops, by the kind of their dtype."""


def lowered(node: Any, name: str) -> tuple[str, tuple[Any, ...]] | None:
    """The nodes that torch makes of a node here, in the words of the answers, and the shapes that they name.

    None where node and node are one and the same.
    """
    op, params = node.op.name, node.params or {}
    shapes: tuple[Any, ...] = ()
    text, hidden = None, temporary(node)
    label = getattr(node.args, "label", None)
    if label.__class__ is Steps:
        return label.text, label.shapes
    if (op, node.dtype and node.dtype.kind) in _ALWAYS:
        text = _ALWAYS[op, node.dtype.kind]
    elif op == "reshape" and name == "UnsafeViewBackward0" and len(getattr(node.args, "inputs", None) or "x") == 1:
        text = "UnsafeView(Clone(x))"
    elif op == "getitem" and name.removesuffix("Backward0") in _STEPS:
        text = _indexed(index_steps(node.args[0].raw_shape, params["index"]))
    elif op == "matmul" and name in ("UnsafeViewBackward0", "CloneBackward0", "TransposeBackward0", "SqueezeBackward4"):
        text, shapes = _batched(node, name)
    elif getattr(node.args, "inputs", None) and name in _HIDDEN:
        text, shapes = _product(name, node)
    elif op == "einsum" and (name in _EINSUMS or hidden in _PAIRED) and getattr(node.args, "inputs", None):
        text, shapes = _einsum(params["inputs"], params["output"], node)
    elif getattr(node.args, "inputs", None) and hidden in _HIDDEN:
        text, shapes = _product(hidden, node)
        text = f"View({text})"
    elif op in ("real", "imag"):
        given = "ViewAsReal(Conj(x))" if shows_conjugate(node.args[0]) else "ViewAsReal(x)"
        text = f"Select(NegView({given}))" if op == "imag" and "Conj" in given else f"Select({given})"
    elif op == "ndtr" and name == "MulBackward1":
        text = "Mul:1(Add:1(Erf(Mul:1(x))))"
    elif name in _BROADCAST and getattr(node.args, "inputs", None):
        text, shapes = _broadcast(name, node)
    elif op == "outer":
        text, shapes = "Mul(View@0(x),y)", ((*node.args[0].raw_shape, 1),)
    return None if text is None else (text, shapes)


def shows_conjugate(place: Any) -> bool:
    """Whether the result of a node is a conjugate that torch did not compute yet, or a view of one."""
    turned = False
    while getattr(place, "op", None) is not None and (place.op.name == "conj" or place.op.view is not None):
        turned ^= place.op.name == "conj"
        place = place.args[0]
    return turned


def _broadcast(name: str, node: Any) -> tuple[str | None, tuple[Any, ...]]:
    """A loss of two arrays, which torch expands to one shape before."""
    whole = tuple(getattr(node.args[0], "raw_shape", ()) or node.shape)
    known = list(zip("xy", node.args.inputs, strict=False))
    fits = [place is None or tuple(place.raw_shape) == whole for _, place in known]
    if all(fits):
        return None, ()
    words = [letter if fit else f"Expand@0({letter})" for (letter, _), fit in zip(known, fits, strict=True)]
    return f"{name.removesuffix('Backward0')}({','.join(words)})", (whole,)


def _indexed(steps: list[str]) -> str | None:
    """An index in several steps, the first one innermost."""
    text = "x"
    for step in steps:
        text = _STEPS[step].format(text)
    return text if len(steps) > 1 else None


def _factors(node: Any) -> list[tuple[Any, ...]]:
    """The shapes of the factors of a product; torch takes a batch of one whose gradient is asked as a matrix."""
    shapes = [tuple(arg.raw_shape) for arg in node.args]
    if [len(shape) for shape in shapes] == [3, 3]:
        for k, shape in enumerate(shapes):
            if node.mask >> k & 1 and shape[0] == 1 != shapes[1 - k][0]:
                shapes[k] = shape[1:]
    return shapes


def product_name(node: Any) -> str | None:
    """What torch calls a product of a matrix and a batch; None where the shapes alone tell the name.

    It turns the factors round, and the product back, for a derivative of the matrix only.
    """
    first, second = _factors(node)
    if not len(first) == 2 < len(second):
        return None
    if not node.mask & 1:
        return "UnsafeViewBackward0"
    return "TransposeBackward0" if 1 in (first[0], second[-1]) else "CloneBackward0"


def temporary(node: Any) -> str | None:
    """The name of the node whose result torch gives a view of; None where it gives the result itself."""
    label = getattr(node.args, "label", None)
    if label is not None:
        return getattr(label, "hidden", None)
    turned = node.op.name == "matmul" and product_name(node) == "TransposeBackward0"
    return "UnsafeViewBackward0" if turned else None


def within(node: Any, hidden: str) -> str:
    """The label of the temporary tensor that torch gives a view of: its name, with the steps that lead to it."""
    found = lowered(node, str(getattr(node.args, "label", None) or "TransposeBackward0"))
    word = f"{hidden.removesuffix('Backward0')}("
    if found is None or word not in found[0]:
        return hidden
    text, shapes = found
    around = text[: text.index(word)]
    return Steps.of(hidden, text[len(around) : len(text) - around.count("(")], *shapes)


def _batched(node: Any, name: str) -> tuple[str, tuple[Any, ...]]:
    """A product of more than two axes: torch folds the batch into the rows where one factor is a matrix or vector."""
    shapes = _factors(node)
    whole = [len(shape) == len(arg.raw_shape) for shape, arg in zip(shapes, node.args, strict=True)]
    x, y = "x" if whole[0] else "Squeeze:1@0(x)", "y" if whole[1] else "Squeeze:1@1(y)"
    ranks = [len(shape) for shape in shapes]
    if ranks == [1, 2]:
        return "Squeeze:4(Mm(Unsqueeze(x),y))", ()
    in_order = 1 in shapes[1][-2:]  # also with the last two axes exchanged
    alone = ranks[0] <= 2 and not node.mask & 1 and not (ranks[0] == 1 and in_order)
    if min(ranks) > 2 or alone:
        batch = tuple(node.shape[: max(ranks) - 2])
        rows = shapes[0] if ranks[0] > 1 else (1, *shapes[0])
        broad = tuple((*batch, *shape[-2:]) for shape in (rows, shapes[1]))
        flat = tuple((math.prod(batch), *shape[-2:]) for shape in broad)
        return "UnsafeView(Bmm(View@2(Expand@0(x)),View@3(Expand@1(y))))", broad + flat
    if ranks[0] > 2:
        return (f"UnsafeView(Mm(View(x),{y}))" if ranks[1] == 2 else "UnsafeView(Mv(View(x),y))"), tuple(shapes)
    folded = "View(Transpose(y))" if in_order else "UnsafeView(Clone(Transpose(y)))"
    if ranks[0] == 1:
        return f"UnsafeView(Mv({folded},x))", ()
    made = f"UnsafeView(Mm({folded},T({x})))"
    if name != "UnsafeViewBackward0":
        made = f"Transpose({made})" if name == "TransposeBackward0" else f"Clone(Transpose({made}))"
    return made, tuple(shapes)


def _product(name: str, node: Any) -> tuple[str | None, tuple[Any, ...]]:
    """A product that torch makes, and a view of it, for a function that is one node here."""
    if name == "AddmmBackward0":
        rows = tuple(node.args.inputs[0].raw_shape) if node.args.inputs[0] is not None else ()
        return ("Addmm(z,View@0(x),T(y))", ((math.prod(rows[:-1]), *rows[-1:]),)) if len(rows) > 2 else (None, ())
    if node.op.name != "einsum":
        return None, ()
    inputs, output = node.params["inputs"], node.params["output"]
    words: list[str] = []
    shapes: tuple[Any, ...] = ()
    for k, (labels, arg) in enumerate(zip(inputs, node.args, strict=True)):
        kept = [labels.index(label) for label in labels if label in output]
        summed = [labels.index(label) for label in inputs[0] if label in labels and label not in output]
        layout = np.empty(arg.raw_shape, bool).transpose((*summed, *kept) if k else (*kept, *summed))
        rows = layout.shape[: len(summed) if k else len(kept)]
        flat = (math.prod(rows), math.prod(layout.shape[len(rows) :]))
        shapes += (layout.shape, flat if name == "MmBackward0" else (layout.size,))
        words.append(_reshaped(f"Permute@{2 * k}({'xy'[k]})", layout, 2 * k + 1, shapes[-1]))
    return f"{name.removesuffix('Backward0')}({','.join(words)})", shapes


def _reshaped(text: str, layout: Any, k: int, shape: Any) -> str:
    """What torch's ``reshape`` makes of an array laid out so; of a vector a vector is itself."""
    if layout.ndim == len(shape) == 1:
        return text
    if layout.flags.c_contiguous:
        return f"View@{k}({text})"
    shared = np.may_share_memory(layout.reshape(shape), layout)
    return f"ReshapeAlias@{k}({text})" if shared else f"UnsafeView@{k}(Clone({text}))"


class _Operand:
    """An operand of an einsum on its way: the words for it, and how it lies in memory, an axis for each letter."""

    def __init__(self, text: str, layout: Any):
        self.text, self.layout = text, layout

    def __getitem__(self, axis: int) -> int:
        return int(self.layout.shape[axis])


_OPERANDS = "xyzwv"
"""The letters that words have for the inputs of a node."""


def _einsum(inputs: Any, output: Any, node: Any) -> tuple[str | None, tuple[Any, ...]]:
    """The ops that torch makes of an einsum: views, then products from left to right, or in opt_einsum's order."""
    if len(inputs) > len(_OPERANDS):
        return None, ()
    order = (*output, *sorted(set().union(*inputs) - set(output)))
    shapes: list[Any] = []
    operands = [
        _aligned(labels, order, k, arg, shapes) for k, (labels, arg) in enumerate(zip(inputs, node.args, strict=True))
    ]
    if len(inputs) == 1:
        whole = operands[0].text
        return (f"Sum:1({whole})" if len(order) > len(output) else whole), tuple(shapes)
    met = [sum(operand[axis] != 1 for operand in operands) for axis in range(len(order))]
    made = operands[0]
    for other in operands[1:]:
        made = _paired(made, other, len(output), met, shapes)
    return (f"View({made.text})" if len(order) > len(output) else made.text), tuple(shapes)


def _aligned(labels: Any, order: Any, k: int, arg: Any, shapes: list[Any]) -> _Operand:
    """Operand ``k`` with an axis for each letter, in one order: a view of it."""
    letter, known = _OPERANDS[k], [label for label in order if label in labels]
    layout = np.empty(arg.raw_shape, bool)
    places = {label: n for n, label in enumerate(order)}
    layout = np.einsum(layout, [places[label] for label in labels], [places[label] for label in known])
    layout = layout[tuple(slice(None) if label in labels else None for label in order)]
    shapes.append(layout.shape)
    text = f"Permute@{k}(Diagonal@{k}({letter}))" if len(known) < len(labels) else letter
    added = len(order) - len(known)
    return _Operand(f"Permute@{k}(" + f"Unsqueeze@{k}(" * added + text + ")" * (added + 1), layout)


def _paired(a: _Operand, b: _Operand, kept: int, met: list[int], shapes: list[Any]) -> _Operand:
    """The product of two operands, summed over the axes that no later one has; ``met`` counts who has an axis."""
    both: list[int] = []
    for operand, other in ((a, b), (b, a)):
        alone = [axis for axis in range(kept, len(met)) if operand[axis] != 1 == other[axis] and met[axis] == 1]
        if alone:
            operand.layout = np.empty([1 if k in alone else n for k, n in enumerate(operand.layout.shape)], bool)
            shapes.append(operand.layout.shape)
            operand.text = f"Sum:1@{len(shapes) - 1}({operand.text})"
    for axis in range(kept, len(met)):
        if a[axis] != 1 != b[axis]:
            met[axis] -= 1
            both += [axis] * (met[axis] == 1)
    if not both:
        whole = np.nditer([a.layout, b.layout, None], ["zerosize_ok"]).operands[2]  # laid out as the factors are
        return _Operand(f"Mul({a.text},{b.text})", whole)
    axes = [axis for axis in range(len(met)) if axis not in both]
    shared = [axis for axis in axes if a[axis] > 1 < b[axis]]
    first = [axis for axis in axes if a[axis] > 1 == b[axis]]
    second = [axis for axis in axes if a[axis] <= 1]
    left = _folded(a, (shared, first, both), second, shapes)
    right = _folded(b, (shared, both, second), first, shapes)
    sizes = (*(a[k] for k in shared + first), *[1] * len(both), *(b[k] for k in second))
    turned = np.empty(sizes, bool).transpose(np.argsort([*shared, *first, *both, *second]))
    shapes += [sizes, turned.shape]
    text = f"Permute@{len(shapes) - 1}(View@{len(shapes) - 2}(Bmm({left},{right})))"
    return _Operand(text, turned)


def _folded(operand: _Operand, groups: tuple[list[int], ...], rest: list[int], shapes: list[Any]) -> str:
    """An operand as a stack of matrices: three groups of axes, each as one."""
    layout = operand.layout.transpose([axis for group in (*groups, rest) for axis in group])
    flat = tuple(math.prod(operand[axis] for axis in group) for group in groups)
    shapes += [layout.shape, flat]
    return _reshaped(f"Permute@{len(shapes) - 2}({operand.text})", layout, len(shapes) - 1, flat)

"""What torch's rules answer: for every node, how the gradients of its inputs come about, in torch's words.

A gradient that a rule passes on is the incoming one (``=``), a view of it (``>Permute``) or a new array (``Mul``); the
word is the last node of the rule in a recorded pass, without ``Backward0`` (``Div:1`` for ``DivBackward1``), and
``+1`` counts the in-place changes that torch's rule made to its answer.  ``0`` is a zero without history.  One word per
input, the last one for the rest; nodes that do not stand here answer with a product, custom functions as they like.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from symgrad.dtypes import is_real_floating
from symgrad.ops.arithmetic import static_number
from symgrad.ops.indexing import index_steps


class Answer(NamedTuple):
    """One gradient that a rule passes on, the name of its node, and its version.

    kind    "same", "view", "new", "view of new", "zero", or "nothing" for a zero that torch stores no entries of
    """

    kind: str
    node: str | None = None
    version: int = 0


_RULES = """
Add = | Sub = Neg | Rsub Neg = | RsubBackward1 Neg | Neg Neg | Div Div Mul | PowBackward1 Where | Remainder = Mul
RemainderBackward1 = Mul | Fmod = Mul | FmodBackward1 = Mul | Frac = | Clone = | Alias = | CopyBackwards 0 =
Sign 0 | Floor 0 | Ceil 0 | Round 0 | Trunc 0 | RoundBackward1 0 | DivBackward2 0 | DivBackward3 0 | Fill 0
FillBackward2 0 | FillBackward3 0 Sum | Zero 0 | Log Div | Log1P Div | Log2 Div | Log10 Div | Sqrt Div | Atan Div
Atanh Div | Hypot Div | Logaddexp Div | Logaddexp2 Div | Maximum MaskedFill+1 | Minimum MaskedFill+1
Fmax MaskedFill | Fmin MaskedFill | Clamp Where | ClampBackward1 Where | ClampMin Where | ClampMinBackward1 Where
ClampMax Where | ClampMaxBackward1 Where | Where Where | Relu ThresholdBackward | Sinc Where | Xlogy MaskedFill Div
Sigmoid SigmoidBackward | Tanh TanhBackward | Elu EluBackward | Gelu GeluBackward | Glu GluBackward
LeakyRelu LeakyReluBackward | Hardtanh HardtanhBackward | Hardswish HardswishBackward
Hardshrink HardshrinkBackward | Softshrink SoftshrinkBackward | Softplus SoftplusBackward
LogSigmoid LogSigmoidBackward | Logit Where | Threshold ThresholdBackward | Celu EluBackward
PreluKernel PreluKernelBackward | Deg2Rad Mul:1 | Rad2Deg Mul:1 | Exp2 Mul:1 | Lerp Mul:1 | LerpBackward1 Mul
Addcmul = Mul | Addcdiv = Mul | Addmm = Mm | Addmv = Mul Mv | Addr = Mv | Baddbmm = Bmm | Addbmm = Bmm | Mv Mul Mv
Bmm Bmm | Dot Mul | Vdot Mul | SqueezeBackward4 >Squeeze:1 Mm | MseLoss MseLossBackward
HuberLoss HuberLossBackward | SmoothL1Loss SmoothL1LossBackward | Dist Mul Neg | Sum >Expand | SumBackward1 >Expand
Mean Div:1 | MeanBackward1 Div:1 | Amax Mul | Softmax SoftmaxBackwardData | LogSoftmax LogSoftmaxBackwardData
Cumsum Flip | Logcumsumexp Sub | Max Scatter+2 | Min Scatter+2 | Sort Scatter+2 | SortBackward1 Scatter+2
Topk Scatter+2 | Kthvalue Scatter+2 | Mode Scatter+2 | MedianBackward1 Scatter+2 | Median MaskedFill:1+1
Cummax ScatterAdd+2 | Cummin ScatterAdd+2 | MaxBackward1 MaskedFill:1+1 | MinBackward1 MaskedFill:1+1
Gather ScatterAdd+1 | Take Put+1 | IndexSelect IndexAdd+1 | MaskedSelect MaskedScatter+1 | MaskedFill MaskedFill
MaskedFillBackward1 MaskedFill Sum | IndexFill IndexFill | IndexFillBackward1 IndexFill Sum | IndexAdd = IndexSelect
ScatterAdd = Gather | Scatter Scatter:1 Gather | ScatterBackward1 Scatter:1
MaskedScatter MaskedFill MaskedScatterBackward | IndexPut IndexPut Index | Diagonal DiagonalBackward
DiagonalBackward0_copy DiagonalBackward | DiagEmbed >Diagonal | Tril Tril | Triu Triu | Trace View+2 | Flip Flip
Roll Roll | Rot90 Rot90 | Repeat Sum:1 | ConstantPadNd ConstantPadNd | Unfold UnfoldBackward | Split Cat
SplitWithSizes Cat | Unbind Stack | Cat >Slice | Stack >Select | ToCopy ToCopy | Select SelectBackward
Slice SliceBackward | Permute >Permute | Transpose >Transpose | T >T | TransposeBackward1 >Transpose | TBackward1 >T
View >View | UnsafeView >View | Unsqueeze >Squeeze:1 | UnsqueezeBackward1 >Squeeze:1 | AsStrided AsStrided+1
LinalgInvEx Neg | LinalgSolveEx Neg LinalgSolveEx | LinalgCholeskyEx LinalgSolveTriangular
ViewAsReal >ViewAsComplex | ViewAsComplex >ViewAsReal | Conj >Conj | CopySlices CopySlices+2 Mul
TanhBackwardBackward0 TanhBackward Mul | SigmoidBackwardBackward0 SigmoidBackward Mul
ThresholdBackwardBackward0 ThresholdBackward 0 | SoftmaxBackwardDataBackward0 SoftmaxBackwardData Sub
LogSoftmaxBackwardDataBackward0 Sub Mul | SoftplusBackwardBackward0 SoftplusBackward Mul
LogSigmoidBackwardBackward0 LogSigmoidBackward Mul | SelectBackwardBackward0 >Select | SliceBackwardBackward0 >Slice
DiagonalBackwardBackward0 >Diagonal | IndexPutImplBackward0 Index | Copysign Mul 0 | MulBackward1 Mul:1
"""


FUSED: dict[str, tuple[str, int | None]] = {
    "tanh": ("TanhBackward", -1),
    "sigmoid": ("SigmoidBackward", -1),
    "relu": ("ThresholdBackward", -1),
    "softmax": ("SoftmaxBackwardData", -1),
    "log_softmax": ("LogSoftmaxBackwardData", -1),
    "softplus": ("SoftplusBackward", 0),
    "logsigmoid": ("LogSigmoidBackward", 0),
    "select": ("SelectBackward", None),
    "diagonal": ("DiagonalBackward", None),
}
"""Ops whose rule is several nodes here and one in torch: its word, and the argument that it reads (-1: the result)."""


def full_name(word: str) -> str:
    """A node's name from its word: ``Mul`` is MulBackward0, ``Div:1`` is DivBackward1.

    >>> full_name("Div:1")
    'DivBackward1'
    """
    if word == "CopySlices" or word == "CopyBackwards":
        return word
    stem, _, number = word.partition(":")
    return f"{stem}Backward{number or 0}"


def _answer(text: str) -> Answer:
    if text in "=0":
        return Answer("same" if text == "=" else "zero")
    word, _, count = text.partition("+")
    return Answer("view" if word[0] == ">" else "new", full_name(word.removeprefix(">")), int(count or 0))


RULES: dict[str, list[Answer]] = {}
for _entry in _RULES.replace("\n", "|").split("|"):
    if _entry.strip():
        _name, *_words = _entry.split()
        RULES[_name if "Backward" in _name or _name.startswith("Copy") else f"{_name}Backward0"] = [
            _answer(word) for word in _words
        ]

_EINSUMS = ("ViewBackward0", "MulBackward0", "SumBackward1", "PermuteBackward0")
PRODUCT = Answer("new", "MulBackward0")
_STEPS = {
    "Slice": Answer("new", "SliceBackwardBackward0"),
    "Select": Answer("new", "SelectBackwardBackward0"),
    "Unsqueeze": Answer("view", "SqueezeBackward1"),
    "Index": Answer("new", "IndexPutImplBackward0", 1),
}
"""The gradient of an indexed tensor, by the first step of the index."""


def answer(node: Any, name: str, i: int, target: Any) -> Answer:
    """How the gradient of input ``i`` of ``node``, which is called ``name``, comes about; ``target`` is that input."""
    found = _by_op(node, name, i, target)
    if found is None:
        row = RULES.get(name, [PRODUCT])
        found = row[min(i, len(row) - 1)]
    return _fitted(found, node, name, target)


def _by_op(node: Any, name: str, i: int, target: Any) -> Answer | None:
    """Answers that depend on more than the name."""
    op, params = node.op.name, node.params or {}
    if node.op.kind == "function":
        run = params.get("run")
        passed = () if run is None else run.passed
        return Answer("same" if i < len(passed) and passed[i] else "new")
    if i == 1 and name in ("AddBackward0", "SubBackward0") and getattr(node.args, "inputs", None):
        return Answer("new", "MulBackward1")  # the other summand was scaled on the way
    if op == "matmul" and name in ("UnsafeViewBackward0", "CloneBackward0", "TransposeBackward0"):
        return _batched(node, i, target)
    if op == "einsum" and name in _EINSUMS and getattr(node.args, "inputs", None):
        labels = params["inputs"]
        missing = len(labels) > 1 and set().union(*labels) > set(labels[i])
        return Answer("view of new", "SqueezeBackward1" if missing else "PermuteBackward0")
    if op in ("sgn", "sign"):  # of real x, the only use of either in a rule is abs, which is sgn there
        return Answer("new", "MaskedFillBackward0") if node.dtype.kind == "c" else Answer("nothing")
    if op == "getitem" and name.removesuffix("Backward0") in (*_STEPS, "Alias"):
        return _indexed(index_steps(node.args[0].raw_shape, params["index"]))
    if op == "getitem" and name == "ViewBackward0":  # repeat_interleave, which torch makes of views
        return Answer("view of new", "SqueezeBackward1")
    if op in ("real", "imag"):
        return Answer("view", "ViewAsComplexBackward0")
    if name.startswith("Squeeze") and op == "squeeze":
        return Answer("view", "UnsqueezeBackward0") if params["dim"] else Answer("same")
    if name == "MmBackward0" or (name == "AddmmBackward0" and i):
        return Answer("view", "TBackward0") if _by_columns(target) else Answer("new", "MmBackward0")
    if name in ("CumsumBackward0", "LogcumsumexpBackward0") and _trivial(target, params.get("dim")):
        return Answer("same")
    if op == "pow" and len(node.args) == 2 and static_number(node.args[1]) == 0 and name == "PowBackward0":
        return Answer("zero")
    if name == "ExpandBackward0":
        return _summed(Answer("same"), node.shape, target.raw_shape)
    if name == "RepeatBackward0" and tuple(node.shape) == tuple(target.raw_shape):
        return Answer("same")
    return None


def _indexed(steps: list[str]) -> Answer:
    """The gradient of what was indexed in some steps: the first one answers last."""
    if not steps:
        return Answer("same")
    if len(steps) > 1 and steps[0] == "Unsqueeze":
        return Answer("view of new", "SqueezeBackward1", int("Index" in steps))
    return _STEPS[steps[0]]


def _batched(node: Any, i: int, target: Any) -> Answer:
    """A product of more than two axes: torch folds the batch into the rows where one factor is a matrix or vector."""
    ranks = [len(arg.raw_shape) for arg in node.args]
    if min(ranks) > 2:
        return _summed(
            Answer("view of new", "ViewBackward0"), (*node.shape[:-2], *target.raw_shape[-2:]), target.raw_shape
        )
    if ranks[i] == 1:
        return Answer("new", "MvBackward0")
    if ranks[0] > 2:
        return Answer("new", "MmBackward0") if i else Answer("view of new", "ViewBackward0")
    return Answer("view of new", "TransposeBackward0" if i else "TBackward0")


def _trivial(x: Any, dim: Any) -> bool:
    shape = x.raw_shape
    return not shape or (isinstance(dim, int) and shape[dim] == 1)


def _by_columns(matrix: Any) -> bool:
    """Whether a matrix stands in memory column by column, as far as the graph tells."""
    op = getattr(matrix, "op", None)
    return tuple(matrix.raw_shape) == (1, 1) or (op is not None and op.name == "permute")


def _summed(found: Answer, have: tuple[Any, ...], wanted: tuple[Any, ...]) -> Answer:
    """A gradient of shape ``have`` summed to ``wanted``, as torch's ``sum_to`` does it."""
    if tuple(have) == tuple(wanted):
        return found
    if not wanted:
        return Answer("new", "SumBackward0")
    return Answer(
        "view of new" if len(have) > len(wanted) else "new",
        "ViewBackward0" if len(have) > len(wanted) else "SumBackward1",
    )


def _fitted(found: Answer, node: Any, name: str, target: Any) -> Answer:
    """The answer in the shape and dtype of the input: what torch's engine does to it afterwards."""
    given, wanted = node.dtype, target.dtype
    if given is None or wanted is None:
        return found  # a function with several outputs has a dtype for each of them
    cast = is_real_floating(given) and is_real_floating(wanted) and given != wanted
    if node.op.kind != "elementwise" and node.op.name != "where" and name != "AddmmBackward0":
        return Answer("new", "ToCopyBackward0") if cast else found
    if given.kind == "c" and is_real_floating(wanted) and found.kind not in ("zero", "nothing"):
        found = Answer("view" if found.kind in ("same", "view") else "view of new", "SelectBackward0", found.version)
    found = _summed(found, node.shape, target.raw_shape)
    return Answer("new", "ToCopyBackward0") if cast else found

"""What torch's rules answer, in torch's words: for every node, the nodes that the gradients of its inputs come from.

Names only: nothing is computed from these, and no derivative here follows from them.  torch shows the nodes of a
recorded pass (``grad_fn``), and how often its engine added into a gradient (``_version``), and both depend on how its
rules are written: ``g / x`` is one node, and a second pass meets ``x`` once.

A row is a node's name and one answer for every input, the last one for the rest, too.  ``Mul(g,Cos(x))`` is
``MulBackward0`` of the incoming gradient ``g`` and of ``CosBackward0`` of the first input (``x``, ``y``, ``z``, ``w``
are the inputs, ``r`` is the result, ``_`` has no history); ``Div:1`` is ``DivBackward1``.  Besides:

``g`` alone      the gradient itself is passed on
``0``, ``e``     zeros without history; the same where torch stores no entries of them
``Scatter()+2``  torch's rule changed its answer in place, twice; ``*2`` where the pass is recorded, ``-2`` where not
``y'``           conjugated where complex
``Pow#2(x)``     a power by that number; ``#n`` is the node's own exponent less one
``Mul@g(x,y)``   of the shape of ``g``; ``@0`` of the first that comes with the answer, ``@t`` of the input's,
                 ``@k`` of that with its reduced axes kept, ``@a`` of the first argument's here,
                 ``@i`` of what the node's index takes
``Mul~(…)``      the second argument was computed before the first; after the row's name: the last answer first
``a=Exp(x)``     a name for a part that is used in several places
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

_ROWS = """
Add g | Add:1 g | Sub g Neg(g) | Sub:1 g | Rsub Neg(g) g | Rsub:1 Neg(g) | Neg Neg(g) | Clone g | Alias g | Frac g
Mul ~ Mul(g,y') Mul(g,x') | Mul:1 Mul:1(g) | Div ~ Div(g,y') Mul~(Neg(g),Div(Div(x,y),y)') | Div:1 Div:1(g)
Reciprocal Mul~(Neg(g),Mul(r,r)') | Remainder g | Fmod g | RemainderBackward1 g Mul~(Neg(g),Div:2(x,y))
FmodBackward1 g Mul~(Neg(g),Div:2(x,y)) | Pow Mul(g,Mul:1(Pow#n(x))') | Pow:2 Mul(g,Mul:1(r)')
Pow:1 ~ Where(_,Mul(g,Mul(y,Pow:1(x,Sub:1(y)))')) Mul(g,Where(_,Mul(r,Log(x))'))
Addcmul g Mul(g,Mul:1(z)') Mul(g,Mul:1(y)') | Addcdiv g Mul(g,Div(_,z)') Mul~(Neg(g),Div~(Mul:1(y),Mul(z,z))')
Lerp ~ Mul:1(g) | Lerp:1 Mul(g,Sub(_,z)) Mul(g,z) Mul(g,Sub(y,x)) | Sign 0 | Floor 0 | Ceil 0 | Round 0 | Trunc 0
Round:1 0 | Div:2 0 | Div:3 0 | Copysign:1 Mul(g,MaskedFill(Div(r,x)))
Copysign Mul(g,MaskedFill(Div(r,x))) Zeros@y()+1
Exp Mul(g,r') | Expm1 Mul(g,Add:1(r')) | Exp2 Mul:1(Mul(g,r')) | Log Div(g,x') | Log1P Div(g,Add:1(x)')
Log2 Div(g,Mul:1(x')) | Log10 Div(g,Mul:1(x')) | Sqrt Div(g,Mul:1(r')) | Rsqrt Mul~(Mul:1(g),Pow#3(r)')
Sin Mul(g,Cos(x)') | Cos Mul(g,Neg(Sin(x)')) | Tan Mul(g,Add:1(Pow#2(r))') | Sinh Mul(g,Cosh(x)')
Cosh Mul(g,Sinh(x)') | Tanh TanhBackward(g,r) | Asin Mul(g,Rsqrt(Add:1(Mul(Neg(x),x)))')
Acos Mul(g,Neg(Rsqrt(Add:1(Mul(Neg(x),x)))')) | Atan Div(g,Add:1(Mul(x,x))') | Asinh Mul(g,Rsqrt(Add:1(Pow#2(x)))')
Acosh Mul(g,Rsqrt(Sub:1(Mul(x,x)))') | Atanh Div(g,Add:1(Neg(Pow#2(x)))') | Sigmoid SigmoidBackward(g,r)
Atan2 Mul~(Mul(g,y),a=MaskedFill(Reciprocal(Add~(Mul(x,x),Mul(y,y))))) Mul(Mul(g,Neg(x)),a)
Hypot ~ Div(Mul(g,x),r) Div(Mul(g,y),r) | Logaddexp ~ Div(g,Add:1(Exp(Sub(y,x)))) Div(g,Add:1(Exp(Sub(x,y))))
Logaddexp2 ~ Div(g,Add:1(Pow:2(Sub(y,x)))) Div(g,Add:1(Pow:2(Sub(x,y)))) | Abs Mul(g,Sgn(x)) | Fmin ~ MaskedFill(g)
Maximum ~ MaskedFill(Where(Div:1(g),g))+1 | Minimum ~ MaskedFill(Where(Div:1(g),g))+1 | Fmax ~ MaskedFill(g)
Clamp ~ Where(g,_) | Clamp:1 Where(g,_) | ClampMin Where(g,_) | ClampMin:1 ~ Where(g,_) | ClampMax Where(g,_)
ClampMax:1 ~ Where(g,_) | Where ~ Where(g,_) Where(_,g) | Xlogy ~ MaskedFill(Xlogy(g,y)) Div(Mul(g,x),y)
Xlogy:1 Div(Mul:1(g),x) | Xlogy:2 Xlogy:2(g) | SpecialXlog1Py ~ MaskedFill(SpecialXlog1Py(g,y)) Div(Mul(g,x),Add:1(y))
SpecialXlog1Py:1 Div(Mul:1(g),Add:1(x)) | SpecialXlog1Py:2 SpecialXlog1Py:2(g)
Sinc Where(_,Mul(g,Div~(Sub~(Mul(a=Mul:1(x),Cos(a)),Sin(a)),Mul:1(Mul(x,x)))'))
Erf Mul(Mul:1(Exp(Neg(Pow#2(x)))),g) | Erfc Mul(Mul:1(Exp(Neg(Pow#2(x)))),g)
Erfinv Mul(Mul:1(Exp(Pow#2(Erfinv(x)))),g) | Lgamma Mul(g,Digamma(x)) | Digamma Mul(g,Polygamma(x))
Polygamma Mul(g,Polygamma(x)) | I0 Mul(g,SpecialI1(x)) | Logit Where(Div(g,Mul(x,Sub(_,x))),_) | NanToNum Mul(g,_)
SpecialI1 Mul(g,Where(Sub~(I0(a),Mul(r,Reciprocal(a=Where(x,_)))),_)) | Deg2Rad Mul:1(g) | Rad2Deg Mul:1(g)
Relu ThresholdBackward(g,r) | Threshold ThresholdBackward(g,x) | Softplus SoftplusBackward(g,x)
LeakyRelu LeakyReluBackward(g,x) | Gelu GeluBackward(g,x) | Elu EluBackward(g,x) | Celu EluBackward(g,x)
Hardtanh HardtanhBackward(g,x) | Hardswish HardswishBackward(g,x) | Hardshrink HardshrinkBackward(g,x)
Softshrink SoftshrinkBackward(g,x) | LogSigmoid LogSigmoidBackward(g,x) | Glu GluBackward(g,x)
PreluKernel PreluKernelBackward(g,x,y) | Silu Mul~(Mul(g,a),Add:1(Mul(x,Sub(_,a=Sigmoid(x)))))
Mish Mul(g,Add(a=Tanh(Log1P(Exp(x))),Mul~(Mul(x,Sigmoid(x)),Sub(_,Mul(a,a)))))
MseLoss MseLossBackward(g,x,y) MseLossBackward(g,y,x)
HuberLoss HuberLossBackward(g,x,y) HuberLossBackward(g,y,x)
SmoothL1Loss SmoothL1LossBackward(g,x,y) SmoothL1LossBackward(g,y,x)
Dist ~ Mul(g,MaskedFill(Div(Sub@a(x,y),r))) Neg(Mul(g,MaskedFill(Div(Sub@a(x,y),r))))
TanhBackward TanhBackward(g,y') Mul~(g',Mul(Mul:1(y'),x)) | ThresholdBackward ThresholdBackward(g,y) 0
SigmoidBackward SigmoidBackward(g,y') Mul~(Mul(g',x),Add:1(Mul:1(y'))) | LeakyReluBackward LeakyReluBackward(g,y) 0
SoftplusBackward SoftplusBackward(g,y) Mul:1(Mul(SigmoidBackward(Mul(g,x),Sigmoid(Mul:1(y))),_))
GeluBackward GeluBackward(g,y) Mul~(Mul(g,x),Sub~(Mul:1(b),Mul(a=Mul(y,y),b=Mul:1(Exp(Mul:1(a))))))
EluBackward EluBackward(g,y) Mul(EluBackward(Mul:1(Mul(g,x)),y),_) | HardtanhBackward HardtanhBackward(g,y) 0
HardshrinkBackward HardshrinkBackward(g,y) 0 | SoftshrinkBackward SoftshrinkBackward(g,y) 0
LogSigmoidBackward LogSigmoidBackward(g,y) Mul(g,D(x,y))
SoftmaxBackwardData SoftmaxBackwardData(g,y) Sub~(Sub~(Mul(x,g),Mul(Sum:1(Mul(y,x)),g)),Mul(x,Sum:1(Mul(y,g))))
LogSoftmaxBackwardData Sub(g,Sum:1(Mul(g,Exp(y)))) Mul(Mul~(Neg(Sum:1(x)),Exp(y)),g)
MseLossBackward Sum(MseLossBackward(g,y,z)) Div:1(Mul:1(Mul(g,x)))+1 Neg(Div:1(Mul:1(Mul(g,x))))
SelectBackward Select(g) | SliceBackward Slice(g) | DiagonalBackward Diagonal(g) | IndexPutImpl Mul(g,_) Index(g)
MaskedScatterBackward MaskedScatter(_,g) | UnfoldBackward Unfold(g)
Sum Expand(g) | Sum:1 Expand(Unsqueeze(g)) | Mean Div:1(Expand(g)) | Mean:1 Div:1(Expand(Unsqueeze(g)))
Nansum Mul(Expand(Unsqueeze(g)),_) | Prod Mul(g,Div(r,x)') | Prod:1 Mul(Unsqueeze(g),Div(Unsqueeze(r),x)')
Amax Mul@t(Div(View@k(g),_),_) | Amin Mul@t(Div(View@k(g),_),_) | Logsumexp Mul(Unsqueeze(g),Exp(Sub(x,Unsqueeze(r))))
Var Mul~(a=Mul:1(Unsqueeze(g)),Sub(x,Mean:1(x))) | VarMean Mul~(Mul:1(Unsqueeze(g)),Sub(x,Mean:1(x)))
Std Mul~(Mul:1(Unsqueeze(MaskedFill(Div(g,Mul:1(r))))),Sub(x,Mean:1(x)))
StdMean Mul~(Mul:1(Unsqueeze(MaskedFill(Div(g,Mul:1(r))))),Sub(x,Mean:1(x)))
LinalgVectorNorm Mul(Unsqueeze(g),MaskedFill(Div(x,Unsqueeze(r))))
Max:1 MaskedFill:1(_,Div(g,_))+1 | Min:1 MaskedFill:1(_,Div(g,_))+1 | Median MaskedFill:1(_,Div(g,_))+1
Max Scatter(_,Unsqueeze(g))+2 | Min Scatter(_,Unsqueeze(g))+2 | MedianBackward1 Scatter(_,Unsqueeze(g))+2
Kthvalue Scatter(_,Unsqueeze(g))+2 | Mode Scatter(_,Unsqueeze(g))+2 | Topk Scatter(_,g)+2 | Sort Scatter(_,g)+2
Sort:1 Scatter(_,g)+2 | Cummax ScatterAdd(_,g)+2 | Cummin ScatterAdd(_,g)+2 | Cumsum Flip(Cumsum(Flip(g)))
Cumprod Div(Flip(Cumsum(Flip(Mul(r',g)))),x')
Logcumsumexp Sub(Exp(Add(Flip(Logcumsumexp(Flip(Sub(Where(a=Log(Abs(g)),_),r)))),x)),\
Exp(Add(Flip(Logcumsumexp(Flip(Sub(Where(a,_),r)))),x)))
Softmax SoftmaxBackwardData(g,r) | LogSoftmax LogSoftmaxBackwardData(g,r)
Dot Mul(g,y') Mul(g,x') | Vdot ~ Mul(g',y) Mul(g,x) | Mv Mul~(View(g),y') Mv(T(x'),g)
Mm ~ Mm(g,T(y)') Mm(T(x)',g) | Addmm g Mm(g,T(z)') Mm(T(y)',g) | Bmm ~ Bmm(g,Transpose(y)') Bmm(Transpose(x)',g)
Baddbmm g Bmm(g,Transpose(z)') Bmm(Transpose(y)',g) | Addmv g Mul~(View(g),z') Mv(T(y'),g)
Addr g Mv(g,z') Mv(T(g),y') | LinalgInvEx Neg(Mm~(Transpose(r)',Mm(g,Transpose(r)')))
LinalgDet LinalgSolveEx~(Transpose(x)',Transpose(DiagEmbed(Expand(Unsqueeze(Mul(g,r'))))))
LinalgSolveEx Neg(Mm(a=LinalgSolveEx@g(Transpose(x)',g),Transpose(r)')) a
LinalgSolveTriangular Tril(Neg(Mm(a=LinalgSolveTriangular@g(Transpose(x)',g),Transpose(r)'))) a
LinalgCholeskyEx LinalgSolveTriangular(r,LinalgSolveTriangular~(Transpose(r)',\
Mul:1(Add(a=Tril(Mm(Transpose(r)',g)),Transpose(Tril(a))'))))
Trace View(IndexFill:1(_,g))+2 | Gather ScatterAdd(_,g)+1 | Take Put(_,g)+1 | Put Put(g,_) View(Take(g))
IndexSelect IndexAdd(_,g)+1 | MaskedSelect MaskedScatter(_,g)+1 | Index IndexPutImpl(_,g)+1
MaskedFill MaskedFill(g) | MaskedFill:1 MaskedFill(g) Sum(MaskedSelect(g)) | IndexFill IndexFill(g)
IndexFill:1 IndexFill(g) Sum(IndexSelect(g)) | IndexAdd g Expand(IndexSelect(g)) | ScatterAdd g Gather(g)
Scatter Scatter:1(g) Gather(g) | Scatter:1 Scatter:1(g) | MaskedScatter MaskedFill(g) MaskedScatterBackward(g)
IndexPut IndexPut(g,_) Index@i(g) | Diagonal DiagonalBackward(g) | DiagonalBackward0_copy DiagonalBackward(g)
DiagEmbed Diagonal(g) | Tril Tril(g) | Triu Triu(g) | Flip Flip(g) | Roll Roll(g) | Rot90 Rot90(g)
Repeat Sum:1(View(g)) | ConstantPadNd ConstantPadNd(g) | Unfold UnfoldBackward(g) | Split Cat(g,_)
SplitWithSizes Cat(g,_) | Unbind Stack(g,_) | Cat Slice(g) | Stack Select(g) | ToCopy g
Select SelectBackward(g) | Slice SliceBackward(g)
Permute Permute(g) | Transpose Transpose(g) | T T(g) | Transpose:1 Transpose(g) | T:1 T(g)
View View(g) | UnsafeView View(g) | ReshapeAlias View(g) | Unsqueeze Squeeze:1(g) | Unsqueeze:1 Squeeze:1(g)
Squeeze Unsqueeze(g) | Squeeze:1 Unsqueeze(g) | Squeeze:2 Unsqueeze(g) | Squeeze:3 Unsqueeze(g)
Squeeze:4 Unsqueeze(g) | Squeeze:5 Unsqueeze(g) | Expand g | AsStrided AsStrided(CopySlices(_,g)+1)
Real ViewAsComplex(SelectBackward(g)) | Imag ViewAsComplex(SelectBackward(g)) | ViewAsReal ViewAsComplex(g)
ViewAsComplex ViewAsReal(g) | Conj g' | NegView Neg(g) | ConjPhysical ConjPhysical(g)
ConjPhysical:1 ConjPhysical(g) | Complex ~ Select(ViewAsReal(g))
Aminmax Mul@t(Div(View@k(g),_),_) | Angle Where(_,Mul:1(Div~(Mul(g,x),Pow#2(Abs(x)))))
Sgn MaskedFill(Div~(Sub(g,Mul~(Mul(r,r),g')),Mul:1(Abs(x))))+1
Fill 0 | Fill:2 0 | Fill:3 0 Sum(g) | Zero 0 | CopyBackwards 0 g
Convolution ConvolutionBackward(g,x,y) | NativeLayerNorm NativeLayerNormBackward(g,x,y)
NativeBatchNorm NativeBatchNormBackward(g,x,y) | Embedding EmbeddingDenseBackward(g)
GridSampler2D GridSampler2DBackward(g,x,y) | GridSampler3D GridSampler3DBackward(g,x,y)
AvgPool2D AvgPool2DBackward(g,x) | AvgPool3D AvgPool3DBackward(g,x) | AdaptiveAvgPool2D AdaptiveAvgPool2DBackward(g,x)
AdaptiveAvgPool3D AdaptiveAvgPool3DBackward(g,x) | AdaptiveMaxPool2D AdaptiveMaxPool2DBackward(g,x)
AdaptiveMaxPool3D AdaptiveMaxPool3DBackward(g,x) | MaxPool2DWithIndices MaxPool2DWithIndicesBackward(g,x)
MaxPool3DWithIndices MaxPool3DWithIndicesBackward(g,x) | FractionalMaxPool2D FractionalMaxPool2DBackward(g,x)
FractionalMaxPool3D FractionalMaxPool3DBackward(g,x) | ReflectionPad1D ReflectionPad1DBackward(g,x)
ReflectionPad2D ReflectionPad2DBackward(g,x) | ReflectionPad3D ReflectionPad3DBackward(g,x)
ReplicationPad1D ReplicationPad1DBackward(g,x) | ReplicationPad2D ReplicationPad2DBackward(g,x)
ReplicationPad3D ReplicationPad3DBackward(g,x) | NllLoss NllLossBackward(g,x) | NllLoss2D NllLoss2DBackward(g,x)
AvgPool2DBackward AvgPool2D@x(g) Zeros@y()+1 | AvgPool3DBackward AvgPool3D@x(g) Zeros@y()+1
AdaptiveAvgPool2DBackward AdaptiveAvgPool2D@x(g) Zeros@y()+1
AdaptiveAvgPool3DBackward AdaptiveAvgPool3D@x(g) Zeros@y()+1
MaxPool2DWithIndicesBackward View@x(Gather@x(View@x(g))) Zeros@y()+1
MaxPool3DWithIndicesBackward View@x(Gather@x(View@x(g))) Zeros@y()+1
AdaptiveMaxPool2DBackward View@x(Gather@x(View@x(g))) Zeros@y()+1
AdaptiveMaxPool3DBackward View@x(Gather@x(View@x(g))) Zeros@y()+1
LinalgCross LinalgCross(y',g) LinalgCross(g,x') | SoftMarginLoss SoftMarginLossBackward(g,x)
CopySlices CopySlices(a=CopyBackwards(_,g),_)+2 Clone@i(AsStrided@i(a))
"""

_VIEWS = """
Expand Unsqueeze View ReshapeAlias T Transpose Permute Squeeze Squeeze:1 Squeeze:2 Select Slice Diagonal Unfold
ViewAsReal ViewAsComplex Conj NegView AsStrided
"""
_SHAPED = """
SelectBackward SliceBackward DiagonalBackward IndexPutImpl Scatter Scatter:1 ScatterAdd Put IndexAdd MaskedScatter
Gather Take IndexSelect Index Mm Mv Bmm MaskedFill:1 UnfoldBackward ConstantPadNd Cat Stack DiagEmbed
UnsafeView IndexFill:1 MaskedScatterBackward Clone
AvgPool2DBackward AvgPool3DBackward AdaptiveAvgPool2DBackward AdaptiveAvgPool3DBackward AdaptiveMaxPool2DBackward
AdaptiveMaxPool3DBackward MaxPool2DWithIndicesBackward MaxPool3DWithIndicesBackward FractionalMaxPool2DBackward
FractionalMaxPool3DBackward ReflectionPad1DBackward ReflectionPad2DBackward ReflectionPad3DBackward
ReplicationPad1DBackward ReplicationPad2DBackward ReplicationPad3DBackward NllLossBackward NllLoss2DBackward
SoftMarginLossBackward BinaryCrossEntropyBackward ConvolutionBackward NativeLayerNormBackward NativeBatchNormBackward
EmbeddingDenseBackward GridSampler2DBackward GridSampler3DBackward
"""
VIEWS = frozenset(_VIEWS.split())
"""Words whose result is a view of their first argument."""

IN_ORDER = frozenset(["View", "Unsqueeze", "Squeeze", "Squeeze:1", "Squeeze:2", "Conj", "ViewAsReal", "ViewAsComplex"])
"""Those that leave the entries in order."""

SHAPED = VIEWS | frozenset(_SHAPED.split())
"""Words whose result has the shape of the input that the answer is for; those of others follow by broadcasting."""

KEEPING = frozenset(["Unsqueeze", "Mean:1", "Sum:1"])
"""Words whose result has the shape of the input with axes of size one for those reduced."""


class Part(NamedTuple):
    """A node of an answer.

    word      the node's name, in short
    args      parts, or letters
    swapped   the second argument comes into being before the first
    number    the exponent of a power, or "n"
    shape     which shape it has, where that does not follow from its arguments
    changes   in-place changes that a pass makes to it, and a recorded one
    name      what other answers of the row call it
    """

    word: str
    args: tuple[Any, ...] = ()
    swapped: bool = False
    number: str = ""
    shape: str = ""
    changes: tuple[int, int] = (0, 0)
    name: str = ""


class Row(NamedTuple):
    """The answers of a node: one for every input, and the parts that have names."""

    answers: tuple[Any, ...]
    swapped: bool
    named: dict[str, Part]


_TOKEN = re.compile(r"([a-z])=|([A-Z]\w*(?::\d)?)(?:#(\w))?(?:@(\d+|\w))?(~?)\(|([a-z0_])|([+*-]\d)|([,)'])")


def _parse(text: str, named: dict[str, Part]) -> Any:
    """An answer: a letter or a :class:`Part`; the parts with names are added to ``named``."""
    stack: list[list[Any]] = [[]]
    heads: list[Part] = []
    name = ""
    for label, word, number, shape, swapped, letter, changes, mark in _TOKEN.findall(text):
        if label:
            name = label
        elif word:
            heads.append(Part(word, (), bool(swapped), number, shape, name=name))
            stack.append([])
            name = ""
        elif letter:
            stack[-1].append(letter)
        elif changes:
            (plain, recorded), more = stack[-1][-1].changes, int(changes[1])
            changed = (plain + more * (changes[0] != "*"), recorded + more * (changes[0] != "-"))
            stack[-1][-1] = stack[-1][-1]._replace(changes=changed)
        elif mark == "'":
            stack[-1][-1] = Part("Conj", (stack[-1][-1],))
        elif mark == ")":
            made = heads.pop()._replace(args=tuple(stack.pop()))
            named[made.name] = made
            stack[-1].append(made.name or made)
    return stack[0][0]


@functools.cache
def parsed(text: str) -> Row:
    """A row of answers, from the text after the name."""
    named: dict[str, Part] = {}
    words = text.split()
    answers = tuple(_parse(word, named) for word in words if word != "~")
    return Row(answers, words[0] == "~", named)


def full_name(word: str) -> str:
    """A node's name from its word: ``Mul`` is MulBackward0, ``Div:1`` is DivBackward1.

    >>> full_name("Div:1")
    'DivBackward1'
    """
    if word in ("CopySlices", "CopyBackwards"):
        return word
    stem, _, number = word.partition(":")
    if stem.endswith("_copy") or (stem[-1].isdigit() and "Backward" in stem):
        return stem
    return f"{stem}Backward{number or 0}"


ROWS: dict[str, str] = {}
"""The answers by the full name of a node."""
for _row in _ROWS.replace("\n", "|").split("|"):
    if _row.strip():
        _name, _, _text = _row.strip().partition(" ")
        ROWS[full_name(_name)] = _text

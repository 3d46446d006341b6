"""Every public function against torch: values, gradients, argument names, and what torch calls the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
import symgrad.linalg
import symgrad.nn.functional
import symgrad.special
from symgrad.op import FRONTS, Op
from symgrad.ops.elementwise import arithmetic, complex, select, smooth
from symgrad.ops.indexing import getitem
from symgrad.ops.linalg import contraction, matrices
from symgrad.ops.reductions import products, sums
from symgrad.ops.shapes import shaping
from symgrad.ops.special import common

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, (3, 4))
Y = RNG.uniform(-2, 2, (3, 4))
P = RNG.uniform(0.3, 3, (3, 4))
Q = RNG.uniform(0.3, 3, (3, 4))
U = RNG.uniform(-0.8, 0.8, (3, 4))
S = RNG.uniform(-1, 1, (3, 3)) + 3 * np.eye(3)
D = S @ S.T
V = RNG.uniform(-2, 2, 4)
W = RNG.uniform(-2, 2, 3)
T3 = RNG.uniform(-2, 2, (2, 3, 4))
PICKS = np.array([0, 2, 1, 2])
M = X > 0

UNARY = {
    **dict.fromkeys(
        "abs absolute neg negative square exp exp2 expm1 sin cos tan atan arctan sinh cosh tanh asinh arcsinh sigmoid "
        "erf erfc sinc relu floor ceil round trunc fix frac sign sgn clone isnan isinf isfinite "
        "isreal isposinf isneginf reciprocal".split(),
        X,
    ),
    **dict.fromkeys("log log2 log10 log1p sqrt rsqrt lgamma digamma".split(), P),
    **dict.fromkeys("asin arcsin acos arccos atanh arctanh".split(), U),
    **dict.fromkeys("acosh arccosh".split(), P + 1),
}
BINARY = {
    **dict.fromkeys("add sub subtract mul multiply maximum minimum atan2 arctan2 hypot logaddexp".split(), (X, Y)),
    **dict.fromkeys("div divide true_divide remainder xlogy".split(), (X, P)),
    "floor_divide": (np.array([7, -7, 5]), np.array([2, 2, 5])),
    **dict.fromkeys("gt ge lt le eq ne greater greater_equal less less_equal not_equal".split(), (X, Y)),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), (M, Y > 0)),
    "pow": (P, Y),
}

Call = tuple[str, tuple[Any, ...], dict[str, Any]]
CALLS: list[Call] = [
    *((name, (value,), {}) for name, value in UNARY.items()),
    *((name, values, {}) for name, values in BINARY.items()),
    ("logical_not", (M,), {}),
    ("adjoint", (X,), {}),
    ("fake_quantize_per_tensor_affine", (X, 0.1, 3, 0, 15), {}),
    ("native_dropout", (X, 0.0, True), {}),
    ("norm_except_dim", (X,), {}),
    ("norm_except_dim", (X, 2, 1), {}),
    ("norm_except_dim", (X, 1, -1), {}),
    ("add", (X, Y), {"alpha": 2}),
    ("sub", (X, Y), {"alpha": 2}),
    ("div", (X, P), {"rounding_mode": "trunc"}),
    ("div", (X, P), {"rounding_mode": "floor"}),
    ("pow", (X, 2), {}),
    ("pow", (X, 3), {}),
    ("pow", (P, 0.5), {}),
    ("pow", (P, -1), {}),
    ("pow", (2, X), {}),
    ("where", (M, X, Y), {}),
    ("clamp", (X,), {"min": -1, "max": 1}),
    ("clamp", (X,), {"min": 0}),
    ("clip", (X,), {"max": 0.5}),
    ("clamp_min", (X, 0.2), {}),
    ("clamp_max", (X, 0.2), {}),
    *((name, (X,), options) for name in ("sum", "mean", "std", "var", "amax", "amin") for options in (
        {}, {"dim": 1}, {"dim": 0, "keepdim": True}, {"axis": 1}, {"dim": (0, 1)}, {"dim": -1})),
    ("var", (X,), {"dim": 0, "correction": 0}),
    ("std", (X, 0, False), {}),
    ("prod", (X,), {}),
    ("prod", (X,), {"dim": 1}),
    ("prod", (X, 0, True), {}),
    ("max", (X,), {}),
    ("min", (X,), {}),
    ("max", (X, Y), {}),
    ("max", (X, 1), {}),
    ("min", (X,), {"dim": 0, "keepdim": True}),
    ("argmax", (X,), {}),
    ("argmin", (X,), {"dim": 1}),
    ("norm", (X,), {}),
    ("norm", (X, 3, 1), {}),
    ("norm", (X,), {"p": 1, "dim": 0, "keepdim": True}),
    ("norm", (X, float("inf")), {}),
    ("logsumexp", (X, 1), {}),
    ("logsumexp", (X,), {"dim": (0, 1), "keepdim": True}),
    ("softmax", (X, 1), {}),
    ("log_softmax", (X,), {"dim": 0}),
    ("cumsum", (X,), {"dim": 1}),
    ("cumsum", (X,), {"axis": 0}),
    ("reshape", (X, (2, 6)), {}),
    ("reshape", (X, (-1,)), {}),
    ("flatten", (T3,), {"start_dim": 1}),
    ("ravel", (X,), {}),
    ("squeeze", (X[:, None],), {}),
    ("squeeze", (X[:, None],), {"dim": 1}),
    ("unsqueeze", (X, -1), {}),
    ("permute", (T3, (2, 0, 1)), {}),
    ("transpose", (T3, 0, -1), {}),
    ("swapaxes", (T3, 0, 1), {}),
    ("swapdims", (T3, 1, 2), {}),
    ("movedim", (T3, 0, 2), {}),
    ("moveaxis", (T3, (0, 1), (1, 2)), {}),
    ("t", (X,), {}),
    ("broadcast_to", (V, (3, 4)), {}),
    ("narrow", (X, 1, 1, 2), {}),
    ("select", (X, 0, 1), {}),
    ("unbind", (X,), {"dim": 1}),
    ("split", (X, 2), {"dim": 1}),
    ("chunk", (X, 3), {"dim": 1}),
    ("flip", (X, (0, 1)), {}),
    ("cat", ([X, Y],), {"dim": 1}),
    ("concat", ([X, Y],), {}),
    ("concatenate", ([X, Y],), {"axis": 1}),
    ("stack", ([X, Y],), {"dim": 2}),
    ("gather", (X, 0, np.array([[0, 1, 2, 0]])), {}),
    ("index_select", (X, 1, PICKS), {}),
    ("masked_select", (X, M), {}),
    ("matmul", (X, V), {}),
    ("matmul", (T3, V), {}),
    ("matmul", (T3, X.T), {}),
    ("mm", (X, Y.T), {}),
    ("spmm", (X, Y.T), {}),
    ("dsmm", (X, Y.T), {}),
    ("mv", (X, V), {}),
    ("dot", (V, V[::-1].copy()), {}),
    ("vdot", (V, V[::-1].copy()), {}),
    ("bmm", (T3, T3.swapaxes(1, 2).copy()), {}),
    ("outer", (W, V), {}),
    ("ger", (W, V), {}),
    ("einsum", ("ij,kj->ik", X, Y), {}),
    ("einsum", ("...i,i", T3, V), {}),
    ("einsum", ("ii", S), {}),
    ("tensordot", (X, Y), {"dims": 2}),
    ("tensordot", (X, Y), {"dims": ([1], [1])}),
    ("kron", (S, X), {}),
    ("trace", (S,), {}),
    ("diag", (W,), {}),
    ("diag", (X,), {"diagonal": 1}),
    ("diagonal", (T3,), {"offset": 1, "dim1": 1, "dim2": 2}),
    ("diag_embed", (X,), {}),
    ("tril", (X,), {}),
    ("triu", (X,), {"diagonal": 1}),
    ("inverse", (S,), {}),
    ("det", (S,), {}),
    ("logdet", (S,), {}),
    ("slogdet", (S,), {}),
    ("cholesky", (D,), {}),
    ("real", (X,), {}),
    ("conj", (X,), {}),
    ("logit", (P / 4,), {}),
    *((f"linalg.{name}", args, options) for name, args, options in (
        ("inv", (S,), {}),
        ("solve", (S, W), {}),
        ("solve", (S, X), {}),
        ("det", (S,), {}),
        ("slogdet", (S,), {}),
        ("cholesky", (D,), {}),
        ("norm", (X,), {}),
        ("norm", (X, 1), {}),
        ("norm", (X, 3), {"dim": 1}),
        ("norm", (X, "fro"), {}),
        ("vector_norm", (X,), {"ord": 3, "dim": 0}),
        ("matrix_norm", (T3,), {}),
        ("matrix_norm", (X, float("inf")), {"keepdim": True}),
        ("matmul", (X, V), {}),
        ("diagonal", (T3,), {}),
        ("multi_dot", ([X, Y.T, S, W],), {}),
    )),
    *((f"special.{name}", args, {}) for name, args in (
        ("erf", (X,)), ("erfc", (X,)), ("expit", (X,)), ("digamma", (P,)), ("psi", (P,)), ("gammaln", (P,)),
        ("polygamma", (1, P)), ("polygamma", (2, P)), ("xlogy", (X, P)), ("xlog1py", (X, P)), ("logit", (P / 4,)),
        ("entr", (P,)), ("sinc", (X,)), ("exp2", (X,)), ("expm1", (X,)), ("log1p", (P,)), ("logsumexp", (X, 1)),
        ("softmax", (X, 1)), ("log_softmax", (X, 1)),
    )),
    *((f"nn.functional.{name}", args, options) for name, args, options in (
        ("relu", (X,), {}),
        ("sigmoid", (X,), {}),
        ("tanh", (X,), {}),
        ("logsigmoid", (X,), {}),
        ("softplus", (X,), {}),
        ("softplus", (X, 2), {}),
        ("silu", (X,), {}),
        ("gelu", (X,), {}),
        ("gelu", (X,), {"approximate": "tanh"}),
        ("leaky_relu", (X,), {}),
        ("elu", (X,), {"alpha": 2.0}),
        ("softsign", (X,), {}),
        ("hardtanh", (X,), {}),
        ("softmax", (X,), {"dim": 1}),
        ("log_softmax", (X,), {"dim": 1}),
        *((name, (X, Y), {"reduction": r}) for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss")
          for r in ("mean", "sum", "none")),
        ("binary_cross_entropy", (P / 4, Q / 4), {}),
        ("binary_cross_entropy_with_logits", (X, Q / 4), {}),
        ("cross_entropy", (X, np.array([0, 3, 1])), {}),
        ("cross_entropy", (X, P / P.sum(1, keepdims=True)), {}),
        ("cross_entropy", (X, np.array([0, 3, 1])), {"label_smoothing": 0.1}),
        ("nll_loss", (X, np.array([0, 3, 1])), {}),
        ("kl_div", (X, P), {"reduction": "batchmean"}),
        ("kl_div", (X, Y), {"reduction": "sum", "log_target": True}),
        ("one_hot", (PICKS,), {}),
        ("linear", (X, Y, W), {}),
        ("normalize", (X,), {}),
        ("cosine_similarity", (X, Y), {"dim": 1}),
    )),
]  # fmt: skip
NOT_IN_TORCH = {"cbrt", "reshape_as", "expit", "gammaln", "psi", "conj", "polar", "imag"}
COPIES = {n for n in FRONTS if n.endswith("_copy") or n.startswith("unsafe_")}
METHODS_ONLY = {"expand", "expand_as", "view", "view_as", "reshape_as", "repeat"}


def resolve(space: Any, name: str) -> Callable[..., Any] | None:
    """The function behind a dotted name, or None."""
    for part in name.split("."):
        space = getattr(space, part, None)
    return space


def lifted(value: Any, make: Callable[[Any], Any]) -> Any:
    """Arrays as tensors, inside lists too."""
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [make(v) for v in value]
    return make(value) if isinstance(value, np.ndarray) else value


def flat(value: Any) -> list[Any]:
    """The tensors of a result."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def leaves_of(args: tuple[Any, ...]) -> list[Any]:
    """The tensors of arguments that can require grad."""
    found = [x for a in args for x in (a if isinstance(a, list) else [a])]
    return [x for x in found if getattr(x, "requires_grad", False) is True]


def ours(value: Any) -> Any:
    return sg.tensor(value, requires_grad=value.dtype.kind == "f")


def theirs(value: Any) -> Any:
    return torch.tensor(value, requires_grad=value.dtype.kind == "f")


def run(space: Any, call: Call, make: Callable[[Any], Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Results, leaves, and gradients of Σ cos(k + index) · result."""
    name, args, options = call
    function = resolve(space, name)
    assert function is not None, f"{space.__name__} has no {name}"
    lifted_args = tuple(lifted(a, make) for a in args)
    outs = flat(function(*lifted_args, **options))
    leaves = leaves_of(lifted_args)
    total: Any = None
    for k, out in enumerate(outs):
        if not out.requires_grad:
            continue
        w = np.cos(k + np.arange(int(np.prod(out.shape)))).reshape(tuple(out.shape))
        part = (out * space.tensor(w)).sum()
        total = part if total is None else total + part
    if total is not None:
        total.backward()
    return outs, leaves, [x.grad for x in leaves]


def numpy_of(x: Any) -> Any:
    return x.detach().numpy(force=True) if isinstance(x, torch.Tensor) else x.detach().numpy()


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("call", CALLS, ids=[f"{c[0]}-{k}" for k, c in enumerate(CALLS)])
def test_same_as_torch(call: Call) -> None:
    name = call[0]
    if resolve(sg, name) is None or resolve(torch, name) is None:
        pytest.skip(f"{name} is not in both")
    got, want = run(sg, call, ours), run(torch, call, theirs)
    assert len(got[0]) == len(want[0])
    for a, b in zip(got[0], want[0], strict=True):
        # torch's trigamma has nine digits; tests/values/test_special.py holds ours against 30.
        rtol = 1e-9 if name == "special.polygamma" else 1e-10
        np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=rtol, atol=1e-12)
        assert str(b.dtype) == f"torch.{a.dtype.name}"
        assert a.requires_grad == b.requires_grad
    for a, b in zip(got[2], want[2], strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(numpy_of(a), numpy_of(b), rtol=1e-9, atol=1e-11)


ROOMS = (arithmetic, complex, contraction, smooth, getitem, matrices, products, sums, select, shaping, common)


def room_of(call: Any) -> Any:
    """The room that defines a public function or op, among those compared here."""
    return next((room for room in ROOMS if any(v is call for v in vars(room).values())), None) or next(
        (room for room in ROOMS if getattr(call, "__module__", None) == room.__name__ and not isinstance(call, Op)),
        None,
    )


def test_every_front_is_compared() -> None:
    """A public function of these rooms that torch has too needs a call above."""
    compared = {call[0] for call in CALLS}
    names = {n for n, f in FRONTS.items() if f.function and resolve(torch, n) is not None and room_of(f.call)}
    assert sorted(names - compared - NOT_IN_TORCH - METHODS_ONLY - COPIES) == []


METHODS: list[Call] = [
    ("expand", (V, 3, 4), {}),
    ("expand", (V, (3, -1)), {}),
    ("view", (X, 2, 6), {}),
    ("view", (X, (4, 3)), {}),
    ("repeat", (X, 2, 1, 3), {}),
    ("reshape", (X, 6, 2), {}),
    ("permute", (T3, 2, 1, 0), {}),
    ("sum", (X,), {"axis": 0, "keepdims": True}),
    ("mean", (X, 1), {}),
    ("t", (X,), {}),
    ("softmax", (X, 1), {}),
    ("clamp", (X, -1, 1), {}),
    ("norm", (X,), {}),
    ("max", (X,), {"dim": 1}),
    ("diagonal", (S,), {}),
    ("unsqueeze", (X, 0), {}),
    ("logsumexp", (X, 0), {}),
    ("flip", (X, 0), {}),
]


@pytest.mark.parametrize("call", METHODS, ids=[f"{c[0]}-{k}" for k, c in enumerate(METHODS)])
def test_methods(call: Call) -> None:
    name, (first, *rest), options = call
    results = []
    for make in (ours, theirs):
        x = make(first)
        out = flat(getattr(x, name)(*rest, **options))[0]
        (out * out).sum().backward()
        results.append((numpy_of(out), numpy_of(x.grad)))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


INDICES: list[Any] = [
    0, -1, slice(1, None), (slice(None), 1), (Ellipsis, 2), None, (slice(None), None), [0, 2], (slice(None), [3, 1, 1]),
    np.array([True, False, True]), M, ([0, 1], [1, 2]), (slice(0, 2), slice(None, None, 2)), (1, 2), Ellipsis,
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=range(len(INDICES)))
def test_indexing(index: Any) -> None:
    a, b = ours(X), theirs(X)
    parts = index if isinstance(index, tuple) else (index,)
    other = tuple(torch.tensor(i) if isinstance(i, np.ndarray) else i for i in parts)
    got, want = a[index], b[other if isinstance(index, tuple) else other[0]]
    np.testing.assert_array_equal(numpy_of(got), numpy_of(want))
    (got * got).sum().backward()
    (want * want).sum().backward()
    np.testing.assert_allclose(numpy_of(a.grad), numpy_of(b.grad))


PROMOTIONS = ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("left", PROMOTIONS)
@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "pow", "where"])
def test_promotion(name: str, left: str) -> None:
    """Dtypes of mixed operands: arrays with arrays, with 0-d tensors, and with Python numbers."""
    for right in [*PROMOTIONS, "0-d float64", "0-d int64", 2, 2.5]:
        made = []
        for space in (torch, sg):
            x = space.ones(2, dtype=getattr(space, left) if left != "bool" or space is torch else sg.bool_)
            if isinstance(right, str):
                kind = right.rsplit(" ", 1)[-1]
                shape = () if right.startswith("0-d") else (2,)
                dtype = getattr(space, kind) if kind != "bool" or space is torch else sg.bool_
                y = space.ones(shape, dtype=dtype)
            else:
                y = right
            function = getattr(space, name)
            try:
                out = function(space.tensor([True, False]), x, y) if name == "where" else function(x, y)
                made.append(str(out.dtype).replace("torch.", ""))
            except (RuntimeError, TypeError):
                made.append("refused")
        if "refused" not in made:
            assert made[0] == made[1], f"{name}({left}, {right}): torch {made[0]}, here {made[1]}"


@pytest.mark.parametrize("name", ["exp", "sqrt", "sigmoid", "tanh", "erf", "log1p", "sin", "reciprocal"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "int64"])
def test_integers_become_floats(name: str, dtype: str) -> None:
    value = np.array([1, 1 if name == "reciprocal" else 0, 1], dtype=dtype)
    got, want = getattr(sg, name)(sg.tensor(value)), getattr(torch, name)(torch.tensor(value))
    assert str(want.dtype) == f"torch.{got.dtype.name}"
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "source",
    ["nn.functional.bilinear(input1=x, input2=x, weight=x[None])",
     "nn.functional.bilinear(weight=x[None], input2=x, input1=x)",
     "pow(self=2, exponent=x)", "pow(input=x, exponent=3)", "addmm(mat2=x, mat1=x, input=x)"],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_operands_by_their_names(source: str, dtype: str) -> None:
    def run(t: Any) -> Any:
        x = t.tensor(S).to(getattr(t, dtype))
        return eval(f"t.{source}", {"t": t, "x": x}).to(t.float64).numpy()  # noqa: S307

    np.testing.assert_allclose(run(sg), run(torch), rtol=1e-12 if dtype == "float64" else 2**-7)

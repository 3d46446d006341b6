"""The corners of ops against torch: no axes, nothing in an axis, ties, infinities and nan, unusual arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

RNG = np.random.default_rng(5)
V = RNG.uniform(-2, 2, 5)
M = RNG.uniform(-2, 2, (3, 4))
T4 = RNG.uniform(-2, 2, (1, 2, 4, 4))
ZERO_D = np.array(1.25)
ODD = np.array([np.nan, 1.0, 1.0, -np.inf, 0.5])
NOTHING = np.zeros((0,))
TRIANGLE = np.array([[2.0, 1.0], [1.0, 0.0]])
FAR = np.array([-60.0, -3.5, -0.25, 0.0, 0.5, 40.0, 1e3, 1e5])
PARTS = np.array([complex(a, b) for a in (np.nan, np.inf, -np.inf, 0.5, 1.0) for b in (np.nan, np.inf, 0.0, -1.0)])
RANKS = np.stack([np.diag([1.0, 2.0]), np.diag([3.0, 0.5])])

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
CASES: list[Case] = [
    ("divided by 0", lambda t, x: x / 0, (V,)),
    ("divided by 0.0", lambda t, x: x / 0.0, (V,)),
    ("divided by -0.0", lambda t, x: x / -0.0, (V,)),
    ("max of all beside nan", lambda t, x: x.max(), (ODD,)),
    ("smoothed", lambda t, x: t.nn.functional.interpolate(x, (2, 3), None, "bilinear", antialias=True), (T4,)),
    ("cubic and smaller", lambda t, x: t.nn.functional.interpolate(x, None, 0.6, "bicubic", antialias=True), (T4,)),
    ("cubic, larger", lambda t, x: t.nn.functional.interpolate(x, (7, 5), None, "bicubic", True, None, True), (T4,)),
    ("quantile, no axes, keepdim", lambda t, x: t.quantile(x, 0.5, dim=0, keepdim=True), (ZERO_D,)),
    ("nanquantile, no axes", lambda t, x: t.nanquantile(x, t.tensor([0.2, 0.7], dtype=t.float64), dim=0), (ZERO_D,)),
    ("diag_embed on other axes", lambda t, x: t.diag_embed(x, offset=-2, dim1=0, dim2=1), (M,)),
    ("diag_embed with axes turned", lambda t, x: t.diag_embed(x, offset=1, dim1=2, dim2=0), (M,)),
    ("gather of a number", lambda t, x: t.gather(x, 0, t.tensor([0])), (ZERO_D,)),
    ("gather at a number", lambda t, x: t.gather(x, 0, t.tensor(3)), (V,)),
    ("gather of nothing", lambda t, x: t.gather(x, 0, t.tensor(np.zeros((2, 0), np.int64))), (V,)),
    ("cosine_similarity of numbers", lambda t, x: t.nn.functional.cosine_similarity(x, x * x, dim=0), (ZERO_D,)),
    ("circular, cut and grown", lambda t, x: t.nn.functional.pad(x, (-1, 1, -2, 1), "circular"), (T4,)),
    ("circular, cut at the end", lambda t, x: t.nn.functional.pad(x, (2, -1), "circular"), (T4[0],)),
    ("lstsq residuals", lambda t, x: t.linalg.lstsq(x, x[:, :2] ** 2, driver="gels")[1], (M.T,)),
    ("batch_norm of nothing", lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True), (NOTHING,)),
    ("axes of a number moved", lambda t, x: t.movedim(x, 0, -1), (ZERO_D,)),
    ("pooling beside nan", lambda t, x: t.nn.functional.max_pool1d(x[None], 3, 1, return_indices=True)[1], (ODD,)),
    ("pooling of cells beside nan", lambda t, x: t.nn.functional.adaptive_max_pool1d(x[None], 2), (ODD,)),
    ("pooling of planes beside nan", lambda t, x: t.nn.functional.max_pool2d(x.view(1, 1, 5, 1), (2, 1), 1), (ODD,)),
    ("no windows at random", lambda t, x: t.nn.functional.fractional_max_pool2d(x, 2, output_size=(0, 1)), (T4,)),
    ("points in no channels", lambda t, x: t.nn.functional.grid_sample(x[:, :0], x[:, :, :2, :2]), (T4,)),
    ("mode beside nan", lambda t, x: x.mode(1)[1], (np.array([[4, np.nan, 0, 4], [np.nan, np.nan, np.nan, 2.0]]),)),
    ("maximum beside nan", lambda t, x: t.maximum(x, x.flip(0)), (ODD,)),
    ("minimum beside nan", lambda t, x: t.minimum(x, x.flip(0)), (ODD,)),
    ("entr outside of its domain", lambda t, x: t.special.entr(x), (V,)),
    ("mantissa", lambda t, x: t.frexp(x)[0], (np.array([0.0, 3.0, -0.7, np.inf]),)),
    ("softshrink of nan", lambda t, x: t.nn.functional.softshrink(x), (ODD,)),
    ("i0 far out", lambda t, x: t.special.i0(x), (np.array([0.0, 0.1, -3.0, 41.0, 300.0]),)),
    ("i0e far out", lambda t, x: t.special.i0e(x), (np.array([1e4, -3e6, 0.2]),)),
    ("sqrt where relu is 0", lambda t, x: t.sqrt(t.relu(x)), (FAR[:3],)),
    ("sqrt at a bound", lambda t, x: t.sqrt(t.clamp(x, 0.5, 0.5)).log(), (FAR,)),
    ("log of the larger", lambda t, x: t.log(t.maximum(x, t.zeros_like(x))), (FAR[1:3],)),
    ("log_ndtr far out", lambda t, x: t.special.log_ndtr(x), (FAR,)),
    ("fmod by anything", lambda t, x, y: t.fmod(x, y), (FAR, np.resize([np.nan, np.inf, 2.0, 0.0], 8))),
    ("sgn of parts", lambda t, x: t.sgn(x), (PARTS,)),
    ("abs of parts", lambda t, x: t.abs(x), (PARTS,)),
    ("complex of parts", lambda t, x, y: t.complex(x, y), (PARTS.real, PARTS.imag)),
    ("trigamma below 0", lambda t, x: t.polygamma(1, x), (FAR - 0.125,)),
    ("digamma below 0", lambda t, x: t.digamma(x), (np.array([-1.0, -2.0, -40.3, 0.5]),)),
    ("margin beside nan", lambda t, x: t.nn.functional.margin_ranking_loss(x, x.flip(0), x * 0 + 1), (ODD,)),
    ("norm of order 3/2 beside 0", lambda t, x: t.linalg.norm(x, 1.5), (np.array([0.0, 1.0, -2.0]),)),
    ("norm to another dtype", lambda t, x: t.linalg.vector_norm(x.float(), 3, dtype=t.float64), (V,)),
    ("det of numbers", lambda t, x: t.linalg.det(x), (np.array([0.0, 2.0, np.inf, np.nan, -1.5]).reshape(5, 1, 1),)),
    ("powers of a number", lambda t, x: t.linalg.vander(x, N=2), (np.array([-4.83 - 7.58j]),)),
    ("a singular triangle", lambda t, x: t.linalg.solve_triangular(x, x[:, :1], upper=True), (TRIANGLE,)),
    ("windows of nothing", lambda t, x: x.unfold(0, 0, 2), (M,)),
    ("similarity to whole numbers", lambda t, x: t.cosine_similarity(x, t.tensor([1, 0, 2, 3])), (M,)),
    ("ranks of a batch", lambda t, x: t.linalg.matrix_rank(x.detach(), rtol=t.tensor([0.6, 0.1])), (RANKS,)),
    ("ranks by limits", lambda t, x: t.linalg.matrix_rank(x[0].detach(), t.tensor([1.5, 0.1, 3.0])), (RANKS,)),
    ("blocks without rows or columns", lambda t, x, y: t.block_diag(x, y), (np.zeros((3, 0)), np.zeros((0, 3)))),
    ("blocks beside an empty one", lambda t, x, y: t.block_diag(x, y), (np.zeros((0, 3)), M)),
    ("powers of one entry", lambda t, x: t.vander(x), (V[:1],)),
    ("powers of no entry", lambda t, x: t.vander(x), (NOTHING,)),
    ("the triangle of a batch", lambda t, x, y: t.triangular_solve(x, y)[1], (np.ones((4, 2, 1)), np.eye(2))),
    ("one degree in a list", lambda t, x: t.special.hermite_polynomial_h(x.detach(), t.tensor([2])), (ZERO_D,)),
    (
        "a degree for every entry",
        lambda t, x: t.special.shifted_chebyshev_polynomial_w(x.detach()[:, None], t.tensor([2.9, -1.0, 0.0, 3.0])),
        (V,),
    ),
    ("the range of no entries", lambda t, x: t.histogram(x.detach(), 4)[1], (NOTHING,)),
    ("the range of no points", lambda t, x: t.histogramdd(x.detach(), [2, 2])[1][0], (np.zeros((0, 2)),)),
    ("degrees of a number", lambda t, x: t.special.laguerre_polynomial_l(0.5, x.detach()), (V,)),
    ("a tensor of a tensor", lambda t, x, y: x.new(y), (V, M)),
    ("i1 far out", lambda t, x: t.special.i1(x), (np.array([0.1, -3.0, 41.0, -300.0]),)),
]  # fmt: skip


@pytest.mark.parametrize("n", [2, 3, 7, 10, 100, 1237])
@pytest.mark.parametrize("value", [0.7303, -41.1, 1e-7 / 3])
def test_equal_entries_have_no_spread(n, value):
    """Also where their mean is rounded: std is 0 and so is its gradient, as a number and in programs."""
    x = np.full(n, value)
    with_slope = sg.func.value_and_grad(sg.std)
    for out, g in (with_slope(sg.tensor(x)), sg.compile(with_slope, np.arange(n) + 0.5)(x)):
        assert float(out) == 0
        assert not np.any(np.asarray(g))
    assert float(sg.var(sg.tensor(x * 1j))) == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_logarithms_of_numbers_keep_their_digits(name, dtype):
    """Also in gradients that can be differentiated, which had those of single precision."""
    found = []
    for t in (torch, sg):
        for more in (False, True):
            x = t.tensor(np.array([0.0, 0.5, -2.0], dtype), requires_grad=True)
            (g,) = t.autograd.grad(getattr(t.special, name)(x, 0.3).sum(), x, create_graph=more)
            found.append((str(g.dtype).split(".")[-1], g.tolist()))
    assert found == found[:1] * 4


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_no_cotangent_meets_no_logarithm(name, dtype):
    """A cotangent of 0 is one, where the logarithm is infinite, too: it was nan by the factor.

    By such a cotangent torch's derivative is 0 there; here it is what it is by any other.
    """
    poles = np.repeat([-2.0, -1.0, -0.5, 0.0, 0.7, np.nan], 9)
    xs, gs = np.tile(np.repeat([-1.3, 0.0, 2.0], 3), 6), np.tile([0.0, 1.7, -1.0], 18)
    found = []
    for t in (torch, sg):
        x, y, g = (t.tensor(a, dtype=getattr(t, dtype), requires_grad=True) for a in (xs, poles, gs))
        first = t.autograd.grad(getattr(t.special, name)(x, y), x, g, create_graph=True)
        second = t.autograd.grad(first, (g, y), t.full_like(x, 0.7))
        by_g = second[0][g != 0]
        found.append([a.detach().double().numpy() for a in (*first, by_g, second[1])])
        with t.autograd.forward_ad.dual_level():
            moving = t.autograd.forward_ad.make_dual(x, g.detach())
            found[-1].append(
                t.autograd.forward_ad.unpack_dual(getattr(t.special, name)(moving, y))[1].detach().double()
            )
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), 2e-7)


@pytest.mark.parametrize("name", ["poisson", "histc"])
def test_counts_of_complex_numbers(name):
    for t in (torch, sg):
        with pytest.raises(NotImplementedError, match="_cpu\" not implemented for 'ComplexDouble'"):
            getattr(t, name)(t.ones(2, dtype=t.complex128))


def _slope_of_logit(t: Any, x: Any) -> Any:
    x.requires_grad_()
    t.logit(x).sum().backward()
    return x.grad


def _slope_of_norms(t: Any, x: Any) -> Any:
    x.requires_grad_()
    sum(t.linalg.norm(x, p) for p in (-2, -0.5, 0.5)).backward()
    return x.grad


VALUES: dict[str, tuple[Callable[..., Any], Any]] = {
    "hardsigmoid": (lambda t, x: t.nn.functional.hardsigmoid(x), [np.nan, -4.0, 4.0, 1.0]),
    "i1e": (lambda t, x: t.special.i1e(x), [np.inf, -np.inf, np.nan]),
    "digamma": (lambda t, x: t.digamma(x), [0.0, -0.0, -2.0]),
    "slope of logit": (_slope_of_logit, [3.0, -2.0, 0.5]),
    "slope of norms beside 0": (_slope_of_norms, [0.0, 1.0, -2.0]),
    "means of no cells": (lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, (0, 2)), T4),
    "largest of no cells": (lambda t, x: t.nn.functional.adaptive_max_pool2d(x, (2, 0)), T4),
    "no samples put back": (lambda t, x: t.nn.functional.max_unpool2d(x[:0], x[:0].long(), 2), T4),
    "entr": (lambda t, x: t.special.entr(x), [0.0, -1.0, np.nan, np.inf]),
}


def _answers(t: Any, call: Callable[..., Any], arrays: tuple[Any, ...]) -> list[Any]:
    """Value, gradients and second gradients as arrays; None where nothing flows."""
    leaves = [t.tensor(a, requires_grad=True) for a in arrays]
    out = call(t, *leaves)
    found = [out]
    if out.requires_grad:
        weights = t.tensor(np.linspace(-1, 2, out.numel()).reshape(tuple(out.shape)), requires_grad=True)
        first = t.autograd.grad(out, leaves, weights.to(out.dtype), create_graph=True, allow_unused=True)
        found.extend(first)
        again = [g for g in first if g is not None and g.requires_grad]
        if again:
            ones = [t.ones_like(g) for g in again]
            found.extend(t.autograd.grad(again, [*leaves, weights], ones, allow_unused=True))
    return [None if f is None else f.detach().numpy() for f in found]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_same_as_torch(case: Case) -> None:
    """Values, shapes, first and second gradients agree; None and zeros mean the same."""
    _, call, arrays = case
    mine, theirs = _answers(sg, call, arrays), _answers(torch, call, arrays)
    for ours, want in zip(mine, theirs, strict=True):
        if ours is None or want is None:
            assert not np.any(ours if want is None else want)
        else:
            assert ours.shape == want.shape
            assert ours.dtype == want.dtype
            np.testing.assert_allclose(ours, want, 1e-6, 1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VALUES)
def test_same_value(name: str) -> None:
    """Values at points where derivatives are a matter of taste."""
    call, points = VALUES[name]
    np.testing.assert_allclose(call(sg, sg.tensor(points)).numpy(), call(torch, torch.tensor(points)).numpy(), 1e-6)


@pytest.mark.parametrize(("name", "dim"), [("amax", 1), ("amin", 0), ("max", None)])
def test_extremes_beside_nan(name: str, dim: int | None) -> None:
    found = []
    for t in (sg, torch):
        x = t.tensor([[np.nan, 1.0, 2.0], [1.0, 2.0, 2.0], [1.0, np.nan, np.nan]], requires_grad=True)
        getattr(x, name)(*([] if dim is None else [dim])).sum().backward()
        found.append(x.grad.tolist())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_binary_cross_entropy_of_certainties(dtype: str) -> None:
    """The loss stops at 100; its slope, where the probability is 0 or 1 and wrong, is very large and not 0."""
    found = []
    for t in (sg, torch):
        p = t.tensor([0.0, 0.0, 1.0, 1.0, 0.3, 0.5], dtype=getattr(t, dtype), requires_grad=True)
        target = t.tensor([0.0, 1.0, 0.0, 1.0, 0.2, 1.0], dtype=getattr(t, dtype), requires_grad=True)
        loss = t.nn.functional.binary_cross_entropy(p, target, reduction="none")
        loss.sum().backward()
        found.append([a.detach().numpy() for a in (loss, p.grad, target.grad)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-6, 1e-7)


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss"])
def test_margins_that_are_just_kept(name: str) -> None:
    """An entry whose distance is the margin itself has no slope; torch has no second derivatives of these."""
    found = []
    for t in (sg, torch):
        x = t.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, -1.0]], dtype=t.float64, requires_grad=True)
        labels = t.tensor([1, 0] if name == "multi_margin_loss" else [[1, 0, -1], [0, -1, 0]])
        getattr(t.nn.functional, name)(x, labels).backward()
        found.append(x.grad.tolist())
    np.testing.assert_allclose(*found, 1e-12)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "true_divide", "floor_divide"])
@pytest.mark.parametrize("pair", [(1, 2), (1.0, 2), (2, 2.5), (3, 2.0)])
def test_of_numbers(name: str, pair: tuple[Any, Any]) -> None:
    """Two numbers make a tensor."""
    mine, theirs = getattr(sg, name)(*pair), getattr(torch, name)(*pair)
    assert mine.numpy() == pytest.approx(theirs.numpy(), 1e-6)
    assert mine.is_floating_point() is theirs.is_floating_point()


def test_writing_functions() -> None:
    """Functions such as ``relu_`` write into their argument, as the methods do."""
    x = sg.tensor([1.0, -2.0])
    assert sg.relu_(x) is x
    assert sg.zero_(x).tolist() == [0, 0]


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_quotients_of_numbers(mode: str | None) -> None:
    """Functions of two numbers make tensors, whatever else they are given."""
    ours, theirs = (t.div(7.5, -2.0, rounding_mode=mode) for t in (sg, torch))
    assert isinstance(ours, sg.Tensor)
    assert (ours.item(), str(ours.dtype)) == (theirs.item(), str(theirs.dtype).removeprefix("torch."))


@pytest.mark.parametrize("order", [-0.5, np.inf, -np.inf])
def test_norms_of_nothing(order: float) -> None:
    """Without entries there is no smallest and no largest one."""
    for t in (torch, sg):
        assert t.linalg.vector_norm(t.zeros(0, 2), order, dim=1).shape == (0,)
        with pytest.raises(RuntimeError, match=r"norm on an empty tensor because the operation does not have an ident"):
            t.linalg.vector_norm(t.zeros(0, 2), order)


NONE_OF_THEM: dict[str, Callable[..., Any]] = {
    "put": lambda t, x, y: t.put(y, t.tensor(np.zeros(0, np.int64)), x),
    "cat": lambda t, x, y: t.cat([x, y.reshape(1, 2), x], 1),
    "cat of a narrower dtype": lambda t, x, y: t.cat([y.float().reshape(2, 1), x]),
    "group_norm": lambda t, x, y: t.nn.functional.group_norm(x.reshape(0, 2), 1, y),
}


@pytest.mark.parametrize("name", NONE_OF_THEM)
def test_gradients_of_nothing(name: str) -> None:
    """An argument without entries, or one that meets none, has a gradient that is no None."""
    found = []
    for t in (torch, sg):
        x, y = (t.tensor(v, requires_grad=True) for v in (NOTHING, V[:2]))
        out = NONE_OF_THEM[name](t, x, y)
        assert out is not x
        assert out is not y
        found.append([out, *t.autograd.grad(out.sum(), [x, y], allow_unused=True)])
    for want, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours.detach().numpy(), want.detach().numpy(), strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.diff(x, n=0),
        lambda t, x: t.nn.functional.pad(x, (0, 0)),
        lambda t, x: t.nn.functional.pad(x, (0, 0), "replicate"),
        lambda t, x: t.linalg.matrix_power(x, 1),
        lambda t, x: t.nn.functional.group_norm(x[:0], 1),
    ],
    ids=["diff", "pad", "replicate", "matrix_power", "group_norm"],
)
def test_nothing_to_do_is_a_copy(call: Callable[..., Any]) -> None:
    """What is written into the result does not show in the argument."""
    for t in (torch, sg):
        x = t.tensor(M[:, :3])
        out = call(t, x)
        out.add_(1)
        np.testing.assert_array_equal(x.numpy(), M[:, :3])
        np.testing.assert_array_equal(out.numpy(), M[: len(out), :3] + 1)


@pytest.mark.parametrize("target", [1, [1]])
def test_margin_of_one_sample(target: Any) -> None:
    """The loss of a sample without batch axis has the shape of its target."""
    found = [t.nn.functional.multi_margin_loss(t.tensor(V), t.tensor(target), reduction="none") for t in (torch, sg)]
    np.testing.assert_allclose(found[1].numpy(), found[0].numpy(), strict=True)


def test_masks_of_inputs() -> None:
    """torch.masked's helper: any numbers, broadcast to the input's shape, as truth values."""
    for mask in (np.array([[1], [0], [2]]), np.array([True, False, True, True])):
        found = [t.masked._input_mask(t.tensor(M), mask=t.tensor(mask)).numpy() for t in (torch, sg)]
        np.testing.assert_array_equal(found[1], found[0], strict=True)
    for t in (torch, sg):
        with pytest.raises(ValueError, match="_input_mask requires explicit mask"):
            t.masked._input_mask(t.tensor(M))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_few_digits(dtype: str) -> None:
    """Variances near 0 and large scores: float32 inside, rounded once."""
    rng = np.random.default_rng(2)
    shapes = ((2, 3, 8), (2, 6, 8), (2, 6, 8))
    heads = [5 * rng.standard_normal(shape) for shape in shapes]
    found = []
    for t in (torch, sg):
        one, *qkv = (t.tensor(v).to(getattr(t, dtype)).requires_grad_() for v in ([3.0], *heads))
        seen = t.nn.functional.scaled_dot_product_attention(*qkv)
        weights = t.tensor(np.linspace(-1, 2, 48).reshape(2, 3, 8)).to(seen.dtype)
        slope = t.autograd.grad(t.nn.functional.layer_norm(one, (1,)).sum(), one)
        answers = [seen, *slope, *t.autograd.grad(seen, qkv, weights)]
        assert all(a.dtype == getattr(t, dtype) for a in answers)
        found.append([a.detach().double().numpy() for a in answers])
    for want, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, want, rtol=1e-2, atol=1e-2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("point", [complex(np.inf, 0), complex(-np.inf, 1), complex(np.inf, np.inf), 2 + 1j, -3 + 0j])
def test_acosh_of_complex_infinity(point: complex) -> None:
    found = []
    for t in (sg, torch):
        x = t.tensor(point, dtype=t.complex128, requires_grad=True)
        found.append(t.autograd.grad(t.acosh(x).imag, x)[0].item())
    np.testing.assert_allclose(*found, 1e-14)
    moves = [t.func.jvp(t.acosh, (t.tensor(point),), (t.tensor(1 + 0j),))[1].item() for t in (sg, torch)]
    np.testing.assert_allclose(*moves, 1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("p", [3, 4, 7.5])
def test_norms_above_two_are_flat_at_the_zero_vector(p: float, dtype: str) -> None:
    """Gradients and Hessians of the zero rows are 0, as torch's; those of the others stay."""
    found = []
    for t in (sg, torch):
        x = t.tensor([[0.0, 0.0], [1.0, 2.0], [0.0, 1.0]], dtype=getattr(t, dtype), requires_grad=True)
        (first,) = t.autograd.grad(t.linalg.vector_norm(x, p, 1).sum(), x, create_graph=True)
        second = t.autograd.grad(first[:, 0].sum(), x)[0]
        found.append([first.detach().numpy(), second.numpy()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, *((2e-2, 5e-2) if dtype == "float16" else (1e-4, 1e-5)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("p", [0.5, 1, 2, 3, np.inf])
def test_renorm_of_rows_with_nan(p: float) -> None:
    """They stay as they are and have the slope 1; a norm that is not used puts no nan into their gradient."""
    found = []
    for t in (sg, torch):
        x = t.tensor([[1.0, np.nan], [3.0, 4.0], [0.0, 0.0], [0.1, 0.1]], dtype=t.float64, requires_grad=True)
        out = t.renorm(x, p, 0, 1.0)
        first = t.autograd.grad(out[:, 1].sum(), x, create_graph=True)[0]
        second = t.autograd.grad(first[1].sum(), x)[0]
        found.append([a.detach().numpy() for a in (out, first, second[1])])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-12)


@pytest.mark.parametrize("p", [0, -1])
def test_renorm_takes_norms_only(p: float) -> None:
    for t, error in ((sg, ArgumentError), (torch, RuntimeError)):
        with pytest.raises(error, match="non-positive-norm not supported"):
            t.renorm(t.ones(2, 2), p, 0, 1.0)


@pytest.mark.parametrize("arguments", [{}, {"label_smoothing": 0.1}, {"reduction": "none"}, {"ignore_index": 1}])
@pytest.mark.parametrize(("rows", "table"), [((3,), (5, 3)), ((4, 3), (5, 3)), ((4, 3), (5, 2, 2, 3))])
def test_linear_cross_entropy(rows: Any, table: Any, arguments: dict[str, Any]) -> None:
    """Values, first and second derivatives by rows, weight and bias, of labels and of probabilities."""
    rng = np.random.default_rng(7)
    parts = [rng.standard_normal(shape) for shape in (rows, table, table[:-1])]
    labels = np.asarray(rng.integers(2, 5, (*rows[:-1], *table[1:-1])))
    chances = rng.uniform(size=(*rows[:-1], *table[:-1]))
    for target in (labels, chances)[: 1 if "ignore_index" in arguments else 2]:
        found = []
        for t in (sg, torch):
            x, w, b = leaves = [t.tensor(part, requires_grad=True) for part in parts]
            classes = t.linspace(0.5, 1, 5, dtype=t.float64)
            loss = t.nn.functional.linear_cross_entropy(
                x, w, t.tensor(target), linear_bias=b, weight=classes, **arguments
            )
            first = t.autograd.grad(loss.sum(), leaves, create_graph=True)
            second = t.autograd.grad(sum((g * g).sum() for g in first), leaves)
            found.append([v.detach().numpy() for v in (loss, *first, *second)])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(ours, theirs, 1e-11, 1e-13)


@pytest.mark.parametrize(("shapes", "words"), [
    (((1, 2, 3), (5, 3), None), "dimensionality 1 or 2, got 3"),
    (((4, 3), (3,), None), "at least 2, got 1"),
    (((4, 2), (5, 3), None), "got 2 and 3, respectively"),
    (((4, 3), (5, 3), (4,)), r"expected linear_bias shape \(5,\), got \(4,\)"),
    (((3,), (5, 2, 3), None), "requires batched input"),
])  # fmt: skip
def test_linear_cross_entropy_refuses_in_the_words_of_torch(shapes: Any, words: str) -> None:
    for t in (sg, torch):
        x, w, b = (None if shape is None else t.ones(shape) for shape in shapes)
        with pytest.raises(RuntimeError, match=words):
            t.nn.functional.linear_cross_entropy(x, w, t.tensor([0] * 4), linear_bias=b)
    with pytest.raises(ArgumentError, match="chunk by chunk"):
        sg.nn.functional.linear_cross_entropy(sg.ones(4, 3), sg.ones(5, 3), sg.tensor([0] * 4), options=1)


@pytest.mark.filterwarnings("ignore")
def test_an_empty_batch_leaves_the_running_statistics_as_they_are() -> None:
    for t in (torch, sg):
        mean, var = t.zeros(3), t.ones(3)
        out = t.nn.functional.batch_norm(t.zeros(0, 3, 2, 2), mean, var, training=True)
        assert out.shape == (0, 3, 2, 2)
        assert (mean.tolist(), var.tolist()) == ([0.0] * 3, [1.0] * 3)


def test_slope_of_running_sums_of_powers_where_nothing_comes_down() -> None:
    """torch takes the gradient's logarithm, and loses the derivative by a gradient of 0, as that of entries of 0 is."""

    def second(t: Any, run: Any) -> Any:
        x = t.tensor([[0.0, 0.0], [2.0, 2.0], [1.0, -1.0]], dtype=t.float64, requires_grad=True)
        (g,) = t.autograd.grad((run(x) ** 2).sum(), x, create_graph=True)
        return t.autograd.grad((g * g).sum(), x)[0].numpy()

    found = second(sg, lambda x: x.logcumsumexp(0))
    np.testing.assert_allclose(found, second(torch, lambda x: x.exp().cumsum(0).log()), rtol=1e-13)
    assert abs(found[0] - second(torch, lambda x: x.logcumsumexp(0))[0]).min() > 1


@pytest.mark.parametrize("dtype", [None, "float32", "int32"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_places_among_masked_entries_have_the_dtype_asked_for(name, dtype):
    values, hidden = np.array([[0.4, 3.0, 0.2], [0.1, 0.7, 4.0]]), np.array([[True, False, True]])
    for options in ({}, {"dim": 0}, {"dim": 1, "keepdim": True}):
        want, got = (
            getattr(t.masked, name)(
                t.tensor(values), mask=t.tensor(hidden), dtype=dtype and getattr(t, dtype), **options
            )
            for t in (torch, sg)
        )
        assert got.tolist() == want.tolist()
        assert str(got.dtype).removeprefix("torch.") == str(want.dtype).removeprefix("torch.")


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 1), (2, 0, 3)])
@pytest.mark.parametrize("dim", [0, 1])
def test_filling_slices_of_nothing(shape: tuple[int, ...], dim: int) -> None:
    """It is refused only where slices of some entries would be filled."""

    def fills(t: Any) -> bool:
        try:
            return tuple(t.zeros(shape).index_fill(dim, t.tensor([0]), 0.25).shape) == shape
        except RuntimeError:
            return False

    assert fills(sg) == fills(torch)

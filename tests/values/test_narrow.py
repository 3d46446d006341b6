"""float16 and bfloat16: their tensors behave as all others do, and their arithmetic is rounded once."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad as sg
from symgrad import kernels
from symgrad.dtypes import BLOCK, load_bfloat16, rounded_to, widened
from symgrad.errors import DtypeError
from symgrad.formula.term import evaluate

pytest.importorskip("ml_dtypes")
NARROW = ("float16", "bfloat16")
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def made(name: str) -> tuple[Any, Any]:
    """A matrix and a vector of a dtype."""
    dtype = getattr(sg, name)
    A = sg.tensor(np.arange(9).reshape(3, 3) / 7 - 0.5, dtype=dtype, requires_grad=True, name="A")
    return A, sg.tensor([1.0, -2.0, 0.3], dtype=dtype, requires_grad=True, name="x")


def f(A: Any, x: Any) -> Any:
    return (sg.tanh(A @ x) * x).sum() + (x**2).mean() * 2.5 + sg.softmax(x, 0)[0]


def close(got: Any, want: Any, name: str) -> None:
    got, want = np.asarray(got).astype(float), np.asarray(want).astype(float)
    np.testing.assert_allclose(got, want, rtol=8 * EPSILON[name], atol=8 * EPSILON[name])


def test_nothing_is_loaded_before_it_is_named() -> None:
    code = "import sys, symgrad as sg; assert 'ml_dtypes' not in sys.modules; sg.bfloat16; sys.modules['ml_dtypes']"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_absence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(DtypeError, match=r"symgrad\[bfloat16\]"):
        load_bfloat16()


@pytest.mark.parametrize("name", NARROW)
def test_value_gradient_formula_and_program_agree(name: str) -> None:
    A, x = made(name)
    y = f(A, x)
    y.backward()
    wide = [t.detach().double().requires_grad_() for t in (A, x)]
    want = f(*wide)
    want.backward()
    assert y.dtype == x.dtype == x.grad.dtype == A.grad.dtype
    close(y.detach(), want.detach(), name)
    values = {"A": A._value, "x": x._value}
    for t, w in ((A, wide[0]), (x, wide[1])):
        close(t.grad, w.grad, name)
        close(evaluate(t.grad.term, values), w.grad, name)
    program = pickle.loads(pickle.dumps(sg.compile(y, ["A", "x"])))
    plain = A.detach(), x.detach()
    out = program(*plain)
    assert out.dtype == x.dtype
    close(out, want.detach(), name)
    slopes = sg.compile(sg.func.grad(f, argnums=1))(*plain)
    assert slopes.dtype == x.dtype
    close(slopes, wide[1].grad, name)
    close(sg.func.jvp(lambda v: f(A.detach(), v), (x.detach(),), (sg.ones_like(x),))[1], wide[1].grad.sum(), name)
    (second,) = sg.autograd.grad(sg.autograd.grad(f(A, x), x, create_graph=True)[0].sum(), x)
    (exact,) = sg.autograd.grad(sg.autograd.grad(f(*wide), wide[1], create_graph=True)[0].sum(), wide[1])
    assert second.dtype == x.dtype
    close(second, exact, name)


@pytest.mark.parametrize("name", NARROW)
def test_sums_are_kept_in_float32(name: str) -> None:
    many = sg.full((4096,), 1.0, dtype=getattr(sg, name))
    assert many.sum().item() == 4096
    assert many.mean().item() == 1
    assert (many @ many).item() == 4096
    assert many.cumsum(0)[-1].item() == 4096
    assert many.norm().item() == 64
    squares = sg.full((4,), 300.0, dtype=sg.float16)
    assert squares.norm().item() == 600  # the squares alone are past float16


@pytest.mark.parametrize("name", NARROW)
def test_programs_keep_what_a_cast_rounds(name: str) -> None:
    value = np.float32([1.001, 2.003])
    program = sg.compile(lambda z: (z.to(name) * 3).to(sg.float32).sum(), value)
    want = (sg.tensor(value).to(name).float() * 3).sum()
    assert program(value) == np.float32(want.item())
    assert program(value) != np.float32((value * 3).sum())


@pytest.mark.parametrize("name", NARROW)
def test_saved_programs_test_themselves(name: str, tmp_path: Path) -> None:
    A, x = made(name)
    path = tmp_path / "program.py"
    sg.compile(f(A, x), ["A", "x"]).save(path)
    subprocess.run([sys.executable, "-I", str(path), "--selftest"], check=True, capture_output=True)


def test_conversions() -> None:
    x = sg.tensor([1.0, 3.3], dtype=sg.bfloat16, requires_grad=True)
    assert repr(x) == "tensor([1.0000, 3.2969], dtype=bfloat16, requires_grad=True)"
    assert (x.half().dtype, x.float().dtype, x.double().dtype) == (sg.float16, sg.float32, sg.float64)
    assert all(y.dtype == sg.bfloat16 for y in (x.half().bfloat16(), x.float().to("bfloat16"), sg.ones(2).type_as(x)))
    assert x[1].item() == 3.296875
    assert type(x[1].item()) is float
    assert x.detach().numpy().dtype == sg.bfloat16
    assert x.is_floating_point()
    assert not x.is_complex()
    (x.float() * 2).sum().backward()
    assert x.grad.dtype == sg.bfloat16
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert again.dtype == sg.bfloat16
        assert again.tolist() == x.tolist()
    assert sg.tensor(np.asarray(x.detach())).dtype == sg.bfloat16
    with pytest.raises(RuntimeError, match="dtype"):
        x.grad = sg.ones(2)


@pytest.mark.parametrize("name", ["half", "float", "double", "bfloat16", "cfloat", "cdouble"])
def test_every_floating_dtype_keeps_its_gradient(name: str) -> None:
    """The dtype as an attribute of the module, and the method of the same name."""
    dtype = getattr(sg, name)
    x = sg.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    y = sg.tensor([1.0, 2.0], dtype=sg.float64, requires_grad=True)
    cast = getattr(y, name)()
    assert cast.dtype == dtype
    for leaf, out in ((x, x * x), (y, cast * cast)):
        out.sum().backward(sg.ones((), dtype=dtype))
        assert leaf.grad.dtype == leaf.dtype
        assert leaf.grad.tolist() == [2, 4]
    for whole in (sg.bool, sg.int, sg.int64):
        with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype can"):
            sg.ones(2, dtype=whole, requires_grad=True)


MAKERS: list[Callable[..., Any]] = [
    lambda dtype: sg.zeros(2, dtype=dtype), lambda dtype: sg.full((2,), 0.3, dtype=dtype),
    lambda dtype: sg.eye(2, dtype=dtype), lambda dtype: sg.arange(3, dtype=dtype),
    lambda dtype: sg.randn(2, dtype=dtype),
    lambda dtype: sg.linspace(0, 1, 3, dtype=dtype), lambda dtype: sg.ones_like(sg.zeros(2), dtype=dtype),
]  # fmt: skip


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("make", MAKERS, ids=range(len(MAKERS)))
def test_makers(make: Callable[..., Any], name: str) -> None:
    for dtype in (getattr(sg, name), name):
        assert make(dtype).dtype == getattr(sg, name)


def test_default_dtype() -> None:
    sg.set_default_dtype(sg.bfloat16)
    assert sg.tensor(1.5).dtype == sg.bfloat16


def test_what_has_no_arithmetic_here_is_refused() -> None:
    import ml_dtypes

    with pytest.raises(TypeError, match="float8"):
        sg.tensor(np.ones(2, ml_dtypes.float8_e5m2))


DTYPES = ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_promotion_is_torchs() -> None:
    """Arrays with arrays, with 0-d tensors and with Python numbers; torch's complex32 is complex64 here."""
    torch = pytest.importorskip("torch")

    def name_of(dtype: Any) -> str:
        return str(dtype).removeprefix("torch.").replace("complex32", "complex64")

    for a in DTYPES:
        for b in (*DTYPES, 2, 2.5, 2j):
            for shape in ((2,), ()):
                rows = []
                for space in (torch, sg):
                    x = space.ones(2, dtype=getattr(space, a))
                    y = space.ones(shape, dtype=getattr(space, b)) if isinstance(b, str) else b
                    found = {name_of((x * y).dtype), name_of((y * x).dtype), name_of(space.result_type(x, y))}
                    rows.append(found)
                assert rows[0] == rows[1], (a, b, shape)
            if isinstance(b, str):
                want = torch.promote_types(getattr(torch, a), getattr(torch, b))
                assert name_of(sg.promote_types(getattr(sg, a), getattr(sg, b))) == name_of(want)


ONE_KERNEL: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "linear": (sg.nn.functional.linear, [(5, 7), (3, 7), (3,)]),
    "bilinear": (sg.nn.functional.bilinear, [(5, 3), (5, 4), (2, 3, 4), (2,)]),
    "addmm": (lambda c, a, b: sg.addmm(c, a, b, beta=0.3, alpha=-2), [(3, 4), (3, 9), (9, 4)]),
    "addmv": (sg.addmv, [(3,), (3, 9), (9,)]),
    "addr": (lambda c, a, b: sg.addr(c, a, b, beta=0.7), [(3, 4), (3,), (4,)]),
    "addbmm": (sg.addbmm, [(3, 4), (5, 3, 6), (5, 6, 4)]),
    "baddbmm": (sg.baddbmm, [(5, 3, 4), (5, 3, 6), (5, 6, 4)]),
    "conv1d": (lambda x, w, b: sg.nn.functional.conv1d(x, w, b, padding=2), [(2, 3, 9), (4, 3, 3), (4,)]),
    "conv2d": (lambda x, w: sg.nn.functional.conv2d(x, w, groups=2), [(2, 4, 6, 5), (4, 2, 3, 3)]),
    "conv_transpose2d": (sg.nn.functional.conv_transpose2d, [(2, 3, 4, 4), (3, 2, 3, 3), (2,)]),
    "unfold": (lambda x: sg.nn.functional.unfold(x, 3), [(2, 2, 6, 6)]),
    "fold": (lambda x: sg.nn.functional.fold(x, (5, 5), 3), [(2, 18, 9)]),
    "avg_pool2d": (lambda x: sg.nn.functional.avg_pool2d(x, 3, 1), [(2, 2, 6, 6)]),
    "max_pool2d": (lambda x: sg.nn.functional.max_pool2d(x, 3, 1), [(2, 2, 6, 6)]),
    "adaptive_avg_pool2d": (lambda x: sg.nn.functional.adaptive_avg_pool2d(x, (3, 4)), [(2, 2, 7, 6)]),
    "nearest": (lambda x: sg.nn.functional.interpolate(x, (9, 8)), [(2, 1, 4, 3)]),
    "bilinear resampling": (lambda x: sg.nn.functional.interpolate(x, (7, 9), mode="bilinear"), [(2, 1, 4, 3)]),
    "bicubic": (lambda x: sg.nn.functional.interpolate(x, (7, 9), mode="bicubic"), [(2, 1, 4, 3)]),
    "reflect": (lambda x: sg.nn.functional.pad(x, (3, 3, 2, 2), "reflect"), [(1, 2, 5, 5)]),
    "layer_norm": (lambda x, w, b: sg.nn.functional.layer_norm(x, (9,), w, b), [(4, 9), (9,), (9,)]),
    "rms_norm": (lambda x, w: sg.nn.functional.rms_norm(x, (9,), w, 1e-3), [(4, 9), (9,)]),
    "group_norm": (lambda x, w, b: sg.nn.functional.group_norm(x, 2, w, b), [(2, 4, 5), (4,), (4,)]),
    "batch_norm": (
        lambda x, w, b: sg.nn.functional.batch_norm(x, None, None, w, b, True), [(5, 4, 3), (4,), (4,)]),
    "instance_norm": (lambda x, w, b: sg.nn.functional.instance_norm(x, None, None, w, b), [(2, 4, 7), (4,), (4,)]),
    "grid_sample": (
        lambda x, g: sg.nn.functional.grid_sample(x, g / 4, "bicubic", align_corners=False),
        [(1, 2, 4, 4), (1, 3, 3, 2)],
    ),
    "glu": (sg.nn.functional.glu, [(4, 6)]),
    "renorm": (lambda x: sg.renorm(x, 3, 0, 1.2), [(5, 4)]),
    "embedding_bag": (
        lambda w, c: sg.nn.functional.embedding_bag(
            sg.tensor([[0, 2, 2, 1], [3, 1, 4, 0]]), w, per_sample_weights=c, mode="sum"),
        [(5, 3), (2, 4)],
    ),
    "cross_entropy": (lambda x: sg.nn.functional.cross_entropy(x, sg.tensor([2, 0, 1, 4])), [(4, 5)]),
    "nll_loss": (lambda x: sg.nn.functional.nll_loss(x, sg.tensor([2, 0, 1, 4])), [(4, 5)]),
    "binary_cross_entropy": (
        lambda x, y: sg.nn.functional.binary_cross_entropy(x.abs() / 8, y.abs() / 8), [(9,), (9,)]),
    "with logits": (
        lambda x, y: sg.nn.functional.binary_cross_entropy_with_logits(x, y, pos_weight=y.detach()), [(9,), (9,)]),
    "poisson_nll_loss": (lambda x, y: sg.nn.functional.poisson_nll_loss(x, y, full=True), [(9,), (9,)]),
    "soft_margin_loss": (lambda x, y: sg.nn.functional.soft_margin_loss(x, y, reduction="none"), [(9,), (9,)]),
    "softplus": (lambda x: sg.nn.functional.softplus(x, beta=3, threshold=0.2), [(9,)]),
    "smooth_l1_loss": (lambda x, y: sg.nn.functional.smooth_l1_loss(x, y, reduction="none"), [(9,), (9,)]),
    "huber_loss": (lambda x, y: sg.nn.functional.huber_loss(x, y, reduction="none", delta=0.7), [(9,), (9,)]),
}  # fmt: skip
"""Functions of several ops that are one kernel in torch, and the shapes of what they are given."""


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("what", ONE_KERNEL)
def test_one_kernel_rounds_once(what: str, name: str) -> None:
    """The value and the gradients are those of float64 but for a last digit, also where large terms cancel."""
    function, shapes = ONE_KERNEL[what]
    rng = np.random.default_rng(3)
    arrays = [rng.normal(0, 1, shape) for shape in shapes]
    narrow = [sg.tensor(a, dtype=getattr(sg, name), requires_grad=True) for a in arrays]
    wide = [t.detach().double().requires_grad_() for t in narrow]
    found = []
    for tensors in (narrow, wide):
        out = function(*tensors)
        weights = sg.tensor(np.random.default_rng(4).normal(0, 1, out.shape), dtype=getattr(sg, name)).to(out.dtype)
        found.append([out.detach(), *sg.autograd.grad(out, tensors, weights)])
    for got, want in zip(*found, strict=True):
        assert got.dtype == getattr(sg, name)
        want, got = (np.asarray(t).astype(np.float64) for t in (want, got))
        np.testing.assert_allclose(got, want, rtol=EPSILON[name] * 0.51, atol=EPSILON[name] * 1e-3)


@pytest.mark.parametrize("name", NARROW)
def test_norms_have_the_dtype_of_their_input(name: str) -> None:
    """Weights and statistics of float32 do not widen the result, and have gradients of float32."""
    x = sg.tensor(np.arange(24.0).reshape(2, 4, 3) ** 1.5, dtype=getattr(sg, name), requires_grad=True)
    row, channels = (sg.arange(1, n + 1, dtype=sg.float32).requires_grad_() for n in (3, 4))
    f = sg.nn.functional
    for out, weight in (
        (f.layer_norm(x, (3,), row, row), row), (f.rms_norm(x, (3,), row), row),
        (f.group_norm(x, 2, channels, channels), channels),
        (f.batch_norm(x, channels.detach(), channels.detach(), channels, channels), channels),
        (f.batch_norm(x, None, None, channels, channels, True), channels),
        (f.instance_norm(x, None, None, channels, channels), channels),
    ):  # fmt: skip
        first, second = sg.autograd.grad(out.sum(), (x, weight))
        assert (out.dtype, first.dtype, second.dtype) == (x.dtype, x.dtype, sg.float32)


LOSSES: dict[str, tuple[Callable[..., Any], int]] = {
    "huber_loss": (sg.nn.functional.huber_loss, 0),
    "soft_margin_loss": (sg.nn.functional.soft_margin_loss, 0),
    "binary_cross_entropy_with_logits": (sg.nn.functional.binary_cross_entropy_with_logits, 1),
}
"""Losses that have the dtype of one of their operands, and of which."""


@pytest.mark.parametrize("dtypes", [("bfloat16", "float32"), ("float32", "float16"), ("float16", "bfloat16")])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_two_dtypes(name: str, dtypes: tuple[str, str]) -> None:
    function, leading = LOSSES[name]
    x, y = (sg.tensor([0.25, 1.5, -2.0], dtype=getattr(sg, d), requires_grad=True) for d in dtypes)
    out = function(x, y)
    assert out.dtype == (x, y)[leading].dtype
    assert [g.dtype for g in sg.autograd.grad(out, (x, y))] == [x.dtype, y.dtype]


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("p", [0.5, 1.5, 3, 4, 7.5])
def test_slopes_of_norms(p: float, name: str) -> None:
    """Powers do not multiply the error of a rounded ratio; that of the rounded norm they do."""
    x = sg.tensor(np.random.default_rng(5).normal(0, 1, 20), dtype=getattr(sg, name), requires_grad=True)
    wide = x.detach().double().requires_grad_()
    got, want = (sg.autograd.grad(t.norm(p), t)[0].double() for t in (x, wide))
    np.testing.assert_allclose(got, want, rtol=EPSILON[name] * (0.51 + 0.5 * abs(p - 1)), atol=EPSILON[name] * 1e-2)


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e-9, 1e6])
def test_many_numbers_are_rounded_as_few_are(scale: float) -> None:
    """Conversions of large arrays are the library's own: also of numbers that are small, infinite or between two."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    finite = every[np.isfinite(every)]
    edges = np.float32([np.inf, -np.inf, np.nan, 65519.9, 65520, 2.98e-8, 2.981e-8, 6e-8, -0.0])
    middles = (finite[1:] + finite[:-1]) / 2
    wide = np.concatenate([finite, middles, edges]) * np.float32(scale)
    with np.errstate(over="ignore", invalid="ignore"):
        want = wide.astype(np.float16)
    got = rounded_to(wide, np.dtype(np.float16))
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
    np.testing.assert_array_equal(widened(want), want.astype(np.float32))
    np.testing.assert_array_equal(sg.tensor(wide).half().numpy(), want)
    columns = every[np.isfinite(every)].reshape(-1, 4).T
    assert rounded_to(columns, np.dtype(np.float16)).flags.f_contiguous


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("op", ["mul", "exp", "relu", "div", "gelu", "lt", "sigmoid", "where"])
def test_many_entries_are_computed_as_few_are(op: str, name: str) -> None:
    """Large arrays go through float32 in blocks, which changes no bit; those in another order go through it at once."""
    count = 2 * BLOCK + 1001
    x, y = (sg.tensor(np.random.default_rng(seed).normal(0, 2, count)).to(getattr(sg, name)) for seed in (1, 2))
    functions = {"relu": sg.relu, "gelu": sg.nn.functional.gelu, "sigmoid": sg.sigmoid, "exp": sg.exp}
    binary = {"mul": sg.mul, "div": sg.div, "lt": sg.lt, "where": lambda a, b: sg.where(a > b, a, b)}

    def value(a: sg.Tensor, b: sg.Tensor) -> np.ndarray:
        return (functions[op](a) if op in functions else binary[op](a, b)).numpy()

    middle = BLOCK + 320
    parts = [value(x[part], y[part]) for part in (slice(0, middle), slice(middle, None))]
    whole = value(x, y)
    assert whole.tobytes() == np.concatenate(parts).tobytes()
    pairs = value(x[:-1].reshape(-1, 2).T, y[:-1].reshape(-1, 2).T)
    assert pairs.dtype == whole.dtype
    close(pairs.T.ravel(), whole[:-1], name)


@pytest.mark.parametrize("call", [sg.nn.functional.gelu, sg.special.ndtr], ids=["gelu", "ndtr"])
def test_tails_of_the_normal_distribution_in_single_precision(call):
    """The nearest float32 of what float64 has, where 1 + erf has no digits left."""
    points = np.concatenate([np.linspace(-13, 6, 800), -np.logspace(-30, 1, 200)]).astype(np.float32)
    x, wide = (sg.tensor(p, requires_grad=True) for p in (points, points.astype(np.float64)))
    got, want = call(x), call(wide)
    np.testing.assert_array_max_ulp(got.detach().numpy(), want.detach().numpy().astype(np.float32), 1)
    if call is sg.nn.functional.gelu:
        (slope,), (true,) = sg.autograd.grad(got.sum(), x), sg.autograd.grad(want.sum(), wide)
        np.testing.assert_allclose(slope.numpy(), true.numpy(), rtol=4e-7, atol=1e-9)


def test_gelu_keeps_its_digits_far_to_the_left():
    x = np.array([-4.0, -8.5, -20.0, -36.0])
    with mpmath.workdps(30):
        want = [float(v * mpmath.ncdf(v)) for v in map(mpmath.mpf, x)]
    np.testing.assert_allclose(sg.nn.functional.gelu(sg.tensor(x)).numpy(), want, rtol=5e-13)


@pytest.mark.parametrize("name", NARROW)
def test_numbers_are_compared_as_half_precision_holds_them(name):
    """0.3 is the nearest number of the dtype beside its entries, here, in formulas and in programs."""
    x = sg.tensor([0.3, 0.2, 0.4], dtype=getattr(sg, name), name="x")
    for call, want in [
        (lambda v: v == 0.3, [True, False, False]),
        (lambda v: v <= 0.3, [True, True, False]),
        (lambda v: 0.3 >= v, [True, True, False]),
        (lambda v: v > 0.3, [False, False, True]),
        (lambda v: sg.nn.functional.hardshrink(v, 0.3) != 0, [False, False, True]),
    ]:
        assert call(x).tolist() == want
        assert sg.compile(call, x)(x).tolist() == want


@pytest.mark.parametrize("name", NARROW)
def test_the_next_number_of_half_precision_is_one_of_its_own(name):
    dtype = getattr(sg, name)
    x, y = (sg.tensor(values, dtype=dtype) for values in ([0.0, 1.0, math.inf, -1.0], [1.0, 2.0, 0.0, -2.0]))
    smallest = np.float32(sg.finfo(dtype).smallest_normal) * EPSILON[name]
    last = float(sg.finfo(dtype).max)
    assert sg.nextafter(x, y).tolist() == [smallest, 1 + EPSILON[name], last, -1 - EPSILON[name]]


@pytest.mark.parametrize("f", [sg.special.xlogy, sg.special.xlog1py])
def test_slopes_of_products_with_logarithms_take_numbers_for_their_cotangent(f):
    """The formula of a gradient has 1 there: an AttributeError, also in second derivatives of half precision."""
    x = sg.tensor(0.6, dtype=sg.float16, requires_grad=True, name="x")
    (slope,) = sg.autograd.grad(f(x, 2 * x), x, create_graph=True)
    assert sg.formula(slope).evaluate(x=np.float16(0.6)) == slope.item() == sg.compile(slope)(np.float16(0.6))


@pytest.mark.parametrize("dtype", NARROW)
def test_a_quotient_that_is_guarded_stays_as_narrow(dtype):
    """In bfloat16 it was an array of float64, which compiled programs went on with."""
    x = sg.tensor([1.0, 2.0], dtype=dtype).numpy()
    assert kernels.divided_where(x, x, np.array([True, False])).dtype == x.dtype
    assert kernels.divided_where(np.arange(2), np.arange(2), np.array([False, True])).dtype == np.float64


@pytest.mark.parametrize("decimals", [-3, -1, 1, 2, 3])
@pytest.mark.parametrize("name", NARROW)
def test_decimals_are_rounded_once(name, decimals):
    """In half precision 903.5 · 100 is infinite, and so was its value to two places; 0.1235 to three was 0.1240."""
    dtype = getattr(sg, name)
    x = sg.tensor([903.5, -535.5, 0.1235, 12.57, 3014.0, 72.94], dtype=dtype)
    exact = np.round(x.to(sg.float64).numpy(), decimals)
    assert sg.round(x, decimals=decimals).tolist() == sg.tensor(exact, dtype=dtype).tolist()
    assert (
        sg.compile(lambda x: sg.round(x, decimals=decimals), x)(x.numpy()).tolist()
        == sg.tensor(exact, dtype=dtype).tolist()
    )


@pytest.mark.parametrize("name", NARROW)
def test_the_usual_eps_of_rms_norm_is_that_of_the_precision_it_computes_in(name):
    """It was that of half precision, 1e-3 or 8e-3, which made small rows, and gradients of any, another function."""
    dtype = getattr(sg, name)
    x = sg.tensor([2.0**-10, -(2.0**-10), 2.0**-9, 2.0**-9], dtype=dtype)
    exact = x.to(sg.float64) / np.sqrt(2.5 * 2.0**-20 + 2.0**-23)
    assert sg.nn.functional.rms_norm(x, (4,)).tolist() == exact.to(dtype).tolist()

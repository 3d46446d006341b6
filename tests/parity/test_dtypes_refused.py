"""Bool, integer, complex, empty and 0-d arguments: the same result, or the same class of error, as torch."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

DTYPES = ["bool", "uint8", "int64", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (3,), (3, 3), (0,), (2, 0)]

UNARY = """abs neg sign sgn ceil floor round trunc frac square exp sqrt reciprocal logical_not isnan relu
sum prod any all mean std var amax amin argmax argmin max min median norm nansum triu tril det""".split()
ALONG = """sum prod any all mean std var amax amin argmax argmin max min median mode cummax cummin cumsum cumprod
logsumexp logcumsumexp softmax log_softmax norm nansum sort""".split()
BINARY = """add sub mul div true_divide floor_divide remainder fmod maximum minimum fmax fmin atan2 hypot logaddexp
copysign gt ge lt le eq ne xlogy dist""".split()


FEW = {"median", "mode", "cummax", "cummin", "kthvalue", "topk", "amax", "amin", "sort", "max", "min", "amax of two"}
"""Functions of order: what torch says to bool, integers and complex differs where there is nothing to order."""


def cases(name: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for dtype, shape in itertools.product(DTYPES, SHAPES):
        if name not in FEW or dtype[0] == "f" or np.prod(shape) > 1:
            yield dtype, shape


def outcome(module: Any, call: Any) -> tuple[Any, ...]:
    """What a call gives: dtype, shape and values, or the first built-in class of its error."""
    try:
        out = call(module)
    except Exception as error:  # noqa: BLE001  (the class is what is compared)
        return ("error", next(c for c in type(error).__mro__ if hasattr(builtins, c.__name__)))
    out = out[0] if isinstance(out, tuple) else out
    return (str(out.dtype).removeprefix("torch."), tuple(out.shape), out.detach().numpy())


def compared(call: Any, note: Any) -> None:
    got, want = outcome(symgrad, call), outcome(torch, call)
    if want[0] == "error":
        # TypeErrors are torch's parser speaking; there any refusal will do.
        assert got[0] == "error", (note, want)
        assert want[1] is TypeError or issubclass(got[1], want[1]), (note, got, want)
        return
    assert got[:2] == want[:2], (note, got, want)
    np.testing.assert_allclose(got[2], want[2], rtol=1e-4, atol=1e-6, err_msg=str(note))


def sample(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, shape) if dtype != "uint8" else rng.integers(1, 5, shape)
    return np.asarray(values).astype(dtype)


@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name):
    for dtype, shape in cases(name):
        x = sample(dtype, shape)
        compared(lambda t, x=x: getattr(t, name)(t.tensor(x)), (name, dtype, shape))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_complex_numbers_without_entries(name):
    """torch has it, where nobody asks for its gradient."""
    for tracked, mode in itertools.product((True, False), ("no_grad", "enable_grad")):

        def call(t, tracked=tracked, mode=mode):
            with getattr(t, mode)():
                return getattr(t.zeros(2, 0, dtype=t.complex128, requires_grad=tracked), name)(1)

        compared(call, (name, tracked, mode))


@pytest.mark.parametrize("name", ALONG)
def test_along_an_axis(name):
    for dtype, shape in cases(name):
        # Where the extreme stands more than once, torch's answer is one of its places.
        x = sample(dtype, shape) if dtype == "bool" else np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        compared(lambda t, x=x: getattr(t, name)(t.tensor(x), dim=-1), (name, dtype, shape))


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name):
    for a, b in itertools.product(DTYPES, DTYPES):
        x, y = sample(a, (3, 3), 1), sample(b, (3, 3), 2)
        compared(lambda t, x=x, y=y: getattr(t, name)(t.tensor(x), t.tensor(y)), (name, a, b))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "gt", "eq", "pow", "masked_fill"])
def test_a_number_as_second_argument(name):
    for dtype, number in itertools.product(DTYPES, [2, 0.5, -1.0, True]):
        x = sample(dtype, (2, 2))
        if name == "pow" and number is True:
            continue  # torch answers in bool

        def call(t, x=x, number=number):
            tensor = t.tensor(x)
            if name == "masked_fill":
                return tensor.masked_fill(tensor == 1, number)
            return getattr(t, name)(tensor, t.tensor(number) if name == "maximum" else number)

        compared(call, (name, dtype, number))


@pytest.mark.parametrize("alpha", [1, 2, 0.5, True])
def test_alpha(alpha):
    for (a, b), name in itertools.product(itertools.product(["bool", "int64", "float64"], repeat=2), ["add", "sub"]):
        x, y = sample(a, (3,), 1), sample(b, (3,), 2)
        if alpha is True and "bool" not in (a, b):
            continue  # "Boolean alpha only supported for Boolean results": here a number like others
        compared(lambda t, x=x, y=y: getattr(t, name)(t.tensor(x), t.tensor(y), alpha=alpha), (name, a, b, alpha))


PARTS = {
    "split": lambda t, x: x.split(1, dim=-1)[0],
    "chunk": lambda t, x: x.chunk(2, -1)[-1],
    "index_select": lambda t, x: x.index_select(-1, t.tensor([0, 0])),
    "one entry": lambda t, x: x.index_select(0, t.tensor([0])),
    "masked_scatter": lambda t, x: x.masked_scatter(x != 0, x * 2),
    "lerp": lambda t, x: t.lerp(x, x, 0.5),
    "addcmul": lambda t, x: t.addcmul(x, x, x, value=0.5),
    "addcdiv": lambda t, x: t.addcdiv(x, x, x * x + 1),
    "mse_loss": lambda t, x: t.nn.functional.mse_loss(x, x),
    "kthvalue": lambda t, x: x.kthvalue(1, dim=-1),
    "topk": lambda t, x: x.topk(1, dim=-1),
    "diff": lambda t, x: x.diff(dim=-1),
    "amax of two": lambda t, x: x.amax(dim=(-1, 0)) if x.ndim > 1 else x.amax(dim=0),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts(name):
    for dtype, shape in cases(name):
        compared(lambda t, x=sample(dtype, shape): PARTS[name](t, t.tensor(x)), (name, dtype, shape))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
def test_means_over_cells_are_of_floats(dtype):
    for rank in (1, 2, 3):
        x = sample(dtype, (1, 1, *(3,) * rank))
        compared(lambda t, x=x, n=rank: getattr(t.nn.functional, f"adaptive_avg_pool{n}d")(t.tensor(x), 2), rank)
        compared(lambda t, x=x: t.nn.functional.interpolate(t.tensor(x), size=2, mode="area"), rank)


DECOMPOSED = """linalg.inv(A)|linalg.inv_ex(A)|linalg.svd(A)|linalg.svdvals(A)|linalg.qr(A)|linalg.cholesky(A)|
linalg.cholesky_ex(A)|linalg.eigh(A)|linalg.eigvalsh(A)|linalg.eig(A)|linalg.eigvals(A)|linalg.solve(A, A)|
linalg.solve_ex(A, A)|linalg.solve_triangular(A, A, upper=True)|linalg.lu(A)|linalg.lu_factor(A)|linalg.cond(A)|
linalg.matrix_power(A, -1)|linalg.tensorinv(A, ind=1)|linalg.tensorsolve(A, A[0])|linalg.matrix_norm(A, "nuc")|
linalg.matrix_norm(A, 2)|linalg.householder_product(A, A[0])|orgqr(A, A[0])|linalg.pinv(A)|linalg.lstsq(A, A)|
pinverse(A)|cholesky_solve(A, A)|cholesky_inverse(A)|ormqr(A, A[0], A)|frexp(A)|histc(A)|matrix_exp(A)|
linalg.slogdet(A)"""


@pytest.mark.parametrize("call", DECOMPOSED.replace("\n", "").split("|"))
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_whole_numbers_are_not_decomposed(call, dtype):
    def run(t):
        return eval(f"t.{call}", {"t": t, "A": t.tensor([[4, 1], [1, 3]]).to(getattr(t, dtype))})  # noqa: S307

    assert outcome(torch, run)[0] == "error"
    compared(run, call)


IN_FLOATS = """relu(x)|relu6(x)|elu(x)|selu(x)|celu(x)|gelu(x)|silu(x)|mish(x)|hardtanh(x)|hardswish(x)|hardsigmoid(x)|
leaky_relu(x)|rrelu(x)|threshold(x, 1, 0)|hardshrink(x)|softshrink(x)|prelu(x, x[:, 0, 0])|glu(x)|max_pool1d(x, 2)|
max_pool2d(x, 2)|interpolate(x[None], 4)|interpolate(x[None], 4, mode="nearest")|nll_loss(x[0], x[0, 0].long())|
binary_cross_entropy_with_logits(x, x)|multi_margin_loss(x[0], x[0, 0].long())|unfold(x, 2)|
scaled_dot_product_attention(x, x, x)|grid_sample(x[None], x[:, :, :, None].expand(1, 2, 2, 2))"""


@pytest.mark.parametrize("call", IN_FLOATS.replace("\n", "").split("|"))
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_whole_numbers_where_floats_are_computed(call, dtype):
    x = np.array([[[1, 0], [0, 1]]]).astype(dtype)
    compared(lambda t: eval(f"f.{call}", {"f": t.nn.functional, "x": t.tensor(x)}), call)  # noqa: S307


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_whole_numbers_of_incomplete_gammas(name):
    compared(lambda t: getattr(t, name)(t.tensor([1, 2]), t.tensor([1, 2])), name)

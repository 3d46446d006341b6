"""Programs of whole numbers: pictures of bytes, masks, labels, sizes that are tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

NAMES = ["sigmoid", "tanh", "exp", "erf", "sqrt", "sinc", "special.ndtr", "special.entr"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64"])
@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str, dtype: str) -> None:
    function = sg
    for part in name.split("."):
        function = getattr(function, part)
    x = np.array([1, 0, 1]).astype(dtype)
    got, want = sg.compile(lambda t: function(t), x)(x), function(sg.tensor(x)).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_sizes_of_a_split_as_a_tensor() -> None:
    v = np.array([1.0, 2.0, 4.0])
    program = sg.compile(lambda v, k: sg.split(v, k)[-1].sum(), v, np.array([2, 1]))
    assert program(v, np.array([1, 2])) == 6


A = np.array([0.2, 0.5, 0.9], np.float32)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x: sg.xlogy(x, 2), (A,)),
        (lambda x, m: sg.xlogy(x, m), (A, A > 0.1)),
        (lambda x: sg.special.xlog1py(x, 2), (A,)),
        (lambda x: sg.special.rel_entr(x, 0.3), (A,)),
        (lambda x: sg.polar(x, 0), (A,)),
        (lambda i: sg.vander(i), (np.array([1, 2, 0], np.uint8),)),
    ],
    ids=["xlogy", "mask", "xlog1py", "rel_entr", "polar", "vander"],
)
def test_plain_numbers_do_not_widen(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    got, want = sg.compile(function, *args)(*args), function(*map(sg.tensor, args)).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_sums_of_unsigned_numbers_are_int64_as_they_are_eagerly(dtype):
    x = np.array([[200, 3], [5, 255]], dtype)
    for f in (lambda x: x.sum(), lambda x: x.prod(), lambda x: sg.cumsum(x, 0), lambda x: x.argmax(1), sg.trace):
        eager, compiled = f(sg.tensor(x)).numpy(), sg.compile(f, x)(x)
        assert eager.dtype == np.asarray(compiled).dtype
        np.testing.assert_array_equal(eager, compiled)


@pytest.mark.parametrize(
    "function",
    [lambda x: x.int().sum() + x.sum(), lambda x: (x.long() * x).sum() + x.bool().sum()],
    ids=["beside", "as a factor"],
)
def test_whole_numbers_made_of_others_have_no_derivative(function: Callable[..., Any]) -> None:
    """The formula took the cast for a linear function, and the program's gradient was larger by 1."""
    x = np.array([-1.2, 0.3, 2.5])
    slope = sg.func.grad(function)
    np.testing.assert_array_equal(sg.compile(slope, x)(x), slope(x).numpy())
    along = sg.compile(lambda x, v: sg.func.jvp(function, (x,), (v,))[1], x, x)
    assert along(x, np.ones(3)) == sg.func.jvp(function, (sg.tensor(x),), (sg.ones(3, dtype=sg.float64),))[1].item()
    t = sg.tensor(x, requires_grad=True, name="x")
    function(t).backward()
    assert t.grad is not None
    np.testing.assert_array_equal(sg.compile(t.grad, ["x"])(x), t.grad.numpy())


def test_negative_powers_are_rounded_towards_0_as_they_are_eagerly():
    z = np.array([[-1, 2, 0, -3]], np.int32)
    for f in (lambda z: 2**z, lambda z: z**z, lambda z: z ** sg.abs(z), lambda z: (-1) ** z):
        program = sg.compile(f, np.abs(z))
        np.testing.assert_array_equal(program(z), f(sg.tensor(z)).numpy())
        assert program(z).dtype == np.int32


QUOTIENTS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: sg.fmod(a, b),
    lambda a, b: sg.div(a, b, rounding_mode="trunc"),
    lambda a, b: sg.div(a, b, rounding_mode="floor"),
]


@pytest.mark.parametrize("quotient", QUOTIENTS, ids=range(len(QUOTIENTS)))
@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_division_by_zero_is_refused_where_there_is_no_infinity(
    quotient: Callable[[Any, Any], Any], dtype: str
) -> None:
    a, b = np.array([4, 5], dtype), np.array([0, 2], dtype)
    for divisor in (sg.tensor(b), sg.tensor(b)[0], 0):
        with pytest.raises(sg.errors.DividedByZero, match="^ZeroDivisionError"):
            quotient(sg.tensor(a), divisor)
    assert quotient(sg.tensor(a)[:0], 0).shape == (0,)
    # Programs do not look at their values: they have NumPy's answer and its warning.
    program = sg.compile(quotient, a, a)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert program(a, b)[0] == 0
    assert program(a, b[::-1].copy() + 1)[0] == quotient(4, 3)


BEYOND: list[Callable[[Any], Any]] = [
    lambda u: sg.clamp(u, -1, 3),
    lambda u: sg.maximum(u + (-1), sg.tensor(3, dtype=sg.uint8)) * 300,
    lambda u: sg.where(u > -1, u - 300, u & -1),
    lambda u: (u == 300) | (u // 257 < 4),
    lambda u: sg.full_like(u, -1),
    lambda u: u + sg.full((3,), -1, dtype=u.dtype),
    lambda u: u.clone().fill_(-1),
]


@pytest.mark.parametrize("function", BEYOND, ids=range(len(BEYOND)))
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16"])
def test_numbers_too_large_for_the_whole_numbers_beside_them_are_taken_modulo_their_range(
    function: Callable[[Any], Any], dtype: str
) -> None:
    """They were refused with an OverflowError when the program ran."""
    u = np.array([0, 5, 100], dtype)
    got, want = sg.compile(function, u)(u), function(sg.tensor(u)).numpy()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


BACKWARD: dict[str, Callable[..., Any]] = {
    "grad": lambda x, k: sg.func.grad(lambda z: (z * z * k).sum())(x),
    "autograd.grad": lambda x, k: sg.autograd.grad((x * x * k).sum(), x)[0],
    "vjp": lambda x, k: sg.func.vjp(lambda z: z * z * k, x)[1](x)[0],
    "jvp of grad": lambda x, k: sg.func.jvp(sg.func.grad(lambda z: (z**3 * k).sum()), (x,), (x,))[1],
}


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("f", BACKWARD.values(), ids=BACKWARD)
def test_backward_passes_inside_of_a_program_read_whole_numbers_from_its_arguments(
    f: Callable[..., Any], dtype: str
) -> None:
    x, first, other = np.array([1.5, -2.0]), np.ones(2, dtype), np.array([0, 1], dtype)
    want = f(sg.tensor(x, requires_grad=True), sg.tensor(other)).detach().numpy()
    np.testing.assert_allclose(sg.compile(f, x, first)(x, other), want)


@pytest.mark.parametrize("dtype", [sg.float16, sg.bfloat16, sg.float32, sg.float64])
@pytest.mark.parametrize("whole", [sg.uint8, sg.int64, sg.bool])
def test_no_derivative_goes_through_casts_to_whole_numbers_whatever_the_float(dtype: Any, whole: Any) -> None:
    x = sg.tensor([1.25, -0.5, 2.5], dtype=dtype)
    gradient = sg.func.grad(lambda x: (x.to(whole) * x).sum())
    got = sg.compile(gradient, x)(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.astype(np.float64), gradient(x).double().numpy())


@pytest.mark.parametrize("product", [sg.xlogy, sg.special.xlog1py], ids=["xlogy", "xlog1py"])
def test_logarithms_of_whole_numbers_are_no_whole_numbers(product):
    """The gradient of xlogy(x, 2.0) by x was 0 in programs: 1 and 2 are whole numbers, and log 2 was cut to one."""
    x = np.array([1.5, 2.0])
    for f in (lambda x: product(x, 2.0).sum(), lambda x: product(x**2, 3).sum()):
        assert np.allclose(sg.compile(sg.func.grad(f), x)(x), sg.func.grad(f)(x).numpy(), rtol=1e-14)


def test_bits_of_numbers_are_read_anew_from_other_numbers() -> None:
    """``x.view(int32)`` was a cast in programs: no op gives the bits, so they are looked at, as ``tolist()`` does."""

    def inverse_root(x: Any) -> Any:
        guess = (0x5F3759DF - (x.view(sg.int32) >> 1)).view(sg.float32)
        return guess * (1.5 - 0.5 * x * guess * guess)

    program = sg.compile(inverse_root)
    for x in (np.array([1.0, 4.0], np.float32), np.array([9.0, 0.25], np.float32)):
        np.testing.assert_array_equal(program(x), inverse_root(sg.tensor(x)).numpy())

"""The dtype of results, and the class of errors, of operands of two dtypes: as torch has them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import symgrad

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytest.importorskip("ml_dtypes")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

DTYPES = "float16 bfloat16 float32 float64 int8 uint8 int32 int64 bool complex64 complex128".split()
SCALARS = (np.float16(2.5), np.float32(2.5), np.float64(2.5), np.int8(2), np.uint8(3), np.int64(2), np.bool_(True))
SCALARS += (np.complex128(1 + 2j),)
BESIDE_NUMBERS = """
t.result_type(x, s)
x + s
s + x
x - s
s - x
x * s
s / x
x // s
x % s
x ** s
s ** x
x == s
x < s
x & s
s | x
x << s
t.add(s, x)
t.rsub(x, s)
t.where(x == 1, x, s)
t.where(x == 1, s, s)
t.clamp(x, s)
t.clamp(x, max=s)
t.fmod(x, s)
t.xlogy(s, x)
t.copysign(x, s)
t.full((2,), s)
t.full_like(x, s)
x.masked_fill(x == 1, s)
x.clone().fill_(s)
t.tensor(s)
""".strip().splitlines()
"""``x`` is a tensor, ``s`` a number."""
OF_TWO = """
t.gcd(x, y)
t.lcm(x, y)
x & y
x | y
x ^ y
x << y
x >> y
t.ldexp(x, y)
t.maximum(x, y)
x // y
x ** y
""".strip().splitlines()


def outcome(t: Any, line: str, **given: Any) -> Any:
    """The dtype and the values that a line gives, or the classes of the error."""
    try:
        made = eval(line, {"t": t, **given})
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return type(error)
    if isinstance(made, tuple):
        return [(str(part.dtype).removeprefix("torch."), part.tolist()) for part in made]
    if not hasattr(made, "tolist"):
        return str(made).removeprefix("torch.")
    return str(made.dtype).removeprefix("torch."), made.tolist()


def agree(line: str, ours: Any, theirs: Any) -> bool:
    """Whether the two did the same; what torch has no kernel for may work here."""
    if isinstance(theirs, type):
        return (isinstance(ours, type) and issubclass(ours, theirs)) or (
            theirs is NotImplementedError and not isinstance(ours, type)
        )
    if "complex32" in str(theirs):
        return True
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return bool(ours == theirs)
    return ours[0] == theirs[0] and np.allclose(ours[1], theirs[1], rtol=1e-2, equal_nan=True)


def ones(t: Any, dtype: str) -> Any:
    return t.ones(3).to(getattr(t, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_count_as_python_numbers(dtype: str) -> None:
    for line, s in itertools.product(BESIDE_NUMBERS, SCALARS):
        theirs = outcome(torch, line, x=ones(torch, dtype), s=s)
        ours = outcome(symgrad, line, x=ones(symgrad, dtype), s=s)
        assert agree(line, ours, theirs), (line, s, theirs, ours)


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_dtypes(dtype: str) -> None:
    for line, other in itertools.product(OF_TWO, DTYPES):
        theirs = outcome(torch, line, x=ones(torch, dtype), y=ones(torch, other))
        ours = outcome(symgrad, line, x=ones(symgrad, dtype), y=ones(symgrad, other))
        assert agree(line, ours, theirs), (line, other, theirs, ours)


@pytest.mark.parametrize("number", [1, -1, 9, 2**40, 2**40 + 1, True])
def test_shifts_by_numbers_stay_in_the_dtype(number: int) -> None:
    for line, dtype in itertools.product(("x << s", "x >> s", "s << x", "s >> x"), ("int8", "uint8", "int32", "int64")):
        values = [100, 99, 1, 0]
        theirs = outcome(torch, line, x=torch.tensor(values).to(getattr(torch, dtype)), s=number)
        ours = outcome(symgrad, line, x=symgrad.tensor(values).to(getattr(symgrad, dtype)), s=number)
        assert agree(line, ours, theirs), (line, dtype, theirs, ours)


INTO = """
t.full((2,), s, dtype=d)
t.full_like(t.ones(2, dtype=d), s)
t.ones(2, dtype=d).new_full((2,), s)
t.ones(2, dtype=d).fill_(s)
t.ones(2, dtype=d).new_tensor(s)
t.tensor(s, dtype=d)
t.tensor([[s], [1]], dtype=d)
""".strip().splitlines()
NUMBERS = (-1, 300, -300, 2.7, 2**40, 2**70, math.nan, math.inf, 1j, 1 + 0j, 1e30, True, "a", None)
NUMBERS += (np.float64(2.5), np.int64(300), np.float32(np.inf))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float16", "float32", "bool", "complex64"])
def test_numbers_become_entries_or_are_refused(dtype: str) -> None:
    for line, s in itertools.product(INTO, NUMBERS):
        if isinstance(s, np.float32) and "tensor" in line:
            continue  # torch has no answer of its own: it asks NumPy's float32 for an index
        theirs, ours = (outcome(t, line, s=s, d=getattr(t, dtype)) for t in (torch, symgrad))
        assert agree(line, ours, theirs), (line, s, theirs, ours)


IN_PLACE = """
x.add_(y)
x.mul_(y)
x.div_(y)
x.pow_(y)
x.atan2_(y)
x.copysign_(y)
x.floor_divide_(y)
x.bitwise_or_(y)
x.copy_(y)
x.masked_fill_(x == 1, y[0])
""".strip().splitlines()


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_go_in_place_where_their_kind_fits(dtype: str) -> None:
    for line, other in itertools.product(IN_PLACE, DTYPES):
        theirs, ours = (outcome(t, line, x=ones(t, dtype), y=ones(t, other)) for t in (torch, symgrad))
        assert agree(line, ours, theirs), (line, other, theirs, ours)


WITH_OUT = """
t.abs(x, out=out)
t.clamp(x, 0, 2, out=out)
t.clamp(x, min=0, out=out)
t.clamp(x, max=2, out=out)
t.clamp(x, x, x, out=out)
t.clamp_min(x, 0, out=out)
t.any(x, 0, out=out)
t.all(x, out=out)
t.sum(x, 0, dtype=t.float64, out=out)
t.max(x, 0, out=(out, t.zeros((), dtype=t.int64)))
t.max(x, x, out=out)
t.max(x, out=out)
t.neg(x, out=out)
""".strip().splitlines()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "complex64"])
def test_the_dtype_of_out(dtype: str) -> None:
    for line, other in itertools.product(WITH_OUT, DTYPES):
        places = [
            t.zeros(() if "0, out" in line or "t.a" in line else 3).to(getattr(t, other)) for t in (torch, symgrad)
        ]
        theirs, ours = (
            outcome(t, line, x=ones(t, dtype), out=out) for t, out in zip((torch, symgrad), places, strict=True)
        )
        assert agree(line, ours, theirs), (line, other, theirs, ours)


REFUSED = """
t.sub(x, x, alpha=True)
t.addcdiv(x, x.long(), x.long())
t.addcdiv(x.long(), x.long(), x.long())
t.nanmean(x.long())
t.nanmean(x.bool(), 0)
t.nanmean(x, 0, dtype=t.int64)
t.histc(x.bool())
t.linalg.cross(x.bool(), x.bool())
t.cross(x.bool(), x.bool(), dim=0)
""".strip().splitlines()


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    theirs, ours = (outcome(t, line, x=t.ones(3)) for t in (torch, symgrad))
    assert isinstance(theirs, type)
    assert isinstance(ours, type)
    assert issubclass(ours, theirs)


def test_a_scalar_condition_chooses() -> None:
    x = symgrad.tensor([1.0, 2.0], requires_grad=True)
    for condition in (np.bool_(True), np.bool_(False), True, False, 2, 0.0):
        y = symgrad.where(condition, x, 3 * x)
        assert y.tolist() == ([1.0, 2.0] if condition else [3.0, 6.0])
        (slope,) = symgrad.autograd.grad(y.sum(), x, create_graph=True)
        assert slope.tolist() == ([1.0, 1.0] if condition else [3.0, 3.0])


@pytest.mark.parametrize("dtype", ["uint8"])
def test_a_condition_that_is_no_truth_value_chooses_where_it_is_not_0(dtype: str) -> None:
    x = symgrad.tensor([1.0, 0.0], requires_grad=True)
    condition = symgrad.tensor([2, 0], dtype=getattr(symgrad, dtype))
    y = symgrad.where(condition, x.log(), symgrad.where(condition, x.sqrt(), 3 * x))
    (slope,) = symgrad.autograd.grad(y.sum(), x)
    assert slope.tolist() == [1.0, 3.0]


NUMBERS = (2, 0.5, 0, True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "zeta"])
@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_beside_tensors_in_special_functions(dtype: str, name: str, number: float) -> None:
    if name == "zeta" and ("float16" in dtype or number is True):
        pytest.skip("torch has no zeta of half precision, and no derivative beside a truth value")

    def run(t: Any, turned: bool) -> Any:
        x = t.tensor([0.75, 0.25, 1.5], dtype=getattr(t, dtype), requires_grad=True)
        function = getattr(t.special, name)
        y = function(number, x) if turned else function(x, number)
        values = [y.detach().double().tolist(), str(y.dtype).rpartition(".")[-1]]
        if name == "zeta" and not turned:
            return values
        return [*values, t.autograd.grad(y.sum(), x)[0].double().tolist()]

    for turned in (False, True):
        theirs, ours = run(torch, turned), run(symgrad, turned)
        assert theirs[1] == ours[1]
        for a, b in zip(theirs[::2], ours[::2], strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-2 if "float16" in dtype else 1e-5)


SPECIAL = """
boxcox boxcox1p inv_boxcox inv_boxcox1p powm1 gammainc gammaincc kv kve poch pdtr pdtrc stdtr
zeta xlogy xlog1py
""".split()


@pytest.mark.parametrize("name", SPECIAL)
def test_numbers_do_not_widen_special_functions(name: str) -> None:
    function = getattr(symgrad.special, name)
    x = symgrad.tensor([0.75, 2.25])
    for number in (2, 0.5):
        for left, right in ((x, number), (number, x)):
            assert function(left, right).dtype == np.float32

"""What kind of thing an argument is: tensors, arrays and plain numbers, with the meaning and the dtype each has."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad as sg

SPREADS = {
    "var": lambda a: a.var(0),
    "std": lambda a: a.std(),
    "transpose": lambda a: a.transpose(0, -1),
    "in a program": lambda a: sg.sin(a).var(0) * 2,
}
BESIDE = {
    "mul": lambda a, b: a * b,
    "where": lambda a, b: sg.where(b > a, b, a),
    "add": lambda a, b: sg.add(b, a, alpha=2),
}


@pytest.mark.parametrize("f", SPREADS.values(), ids=SPREADS)
def test_methods_of_tensors_are_meant_where_tensors_are_given(f):
    x = sg.tensor(np.random.default_rng(0).standard_normal((3, 4)))
    want = f(x).numpy()
    compiled = sg.compile(f, x)
    np.testing.assert_allclose(compiled(x), want)
    np.testing.assert_allclose(compiled.program(x), want)
    np.testing.assert_allclose(sg.compile(f)(x), want)


def test_one_compiled_function_serves_tensors_and_arrays_by_their_own_methods():
    x = np.random.default_rng(0).standard_normal((3, 4))
    compiled = sg.compile(lambda a: a.var(0))
    for _ in range(2):
        np.testing.assert_allclose(compiled(x), x.var(0))
        np.testing.assert_allclose(compiled(sg.tensor(x)), x.var(0, ddof=1))


def test_gradients_of_what_tensors_methods_give():
    x = sg.tensor(np.random.default_rng(0).standard_normal((3, 4)))
    gradient = sg.func.grad(lambda a: (a.var(0) ** 2).sum())
    np.testing.assert_allclose(sg.compile(gradient, x)(x), gradient(x).numpy())


@pytest.mark.parametrize("other", [np.float32(2), np.arange(3), np.int64(3), np.float16(2)], ids=repr)
@pytest.mark.parametrize("f", BESIDE.values(), ids=BESIDE)
def test_plain_numbers_take_the_dtype_of_what_is_beside_them_and_numpys_have_their_own(f, other):
    beside = sg.tensor(np.asarray(other))
    plain, own = f(0.5, beside).numpy(), f(sg.tensor(np.array(0.5)), beside).numpy()
    compiled = sg.compile(f, 0.5, other)
    assert np.asarray(compiled(0.5, other)).dtype == plain.dtype
    assert np.asarray(compiled.program(0.5, other)).dtype == plain.dtype
    assert np.asarray(compiled(np.float64(0.5), other)).dtype == own.dtype
    assert np.asarray(compiled(0.5, other)).dtype == plain.dtype


def test_derivatives_that_vanish_have_the_dtype_of_their_argument():
    def f(a, b):
        return sg.minimum(a, sg.tensordot(sg.dist(b, b), a, 0)).sum() * 1.5

    def squares(a, b):
        return sum((g**2).sum() for g in sg.func.grad(f, argnums=(0, 1))(a, b))

    a, b = np.ones((3, 1), np.float32), np.ones((3, 4), np.float32)
    for found in sg.compile(sg.func.grad(squares, argnums=(0, 1)), a, b)(a, b):
        assert found.dtype == np.float32


def test_programs_of_signs_of_what_is_always_zero():
    def f(a):
        return sg.nn.functional.huber_loss(sg.expm1(a), sg.expm1(a))

    a = np.linspace(-1, 1, 4)
    np.testing.assert_array_equal(sg.compile(sg.func.grad(f), a)(a), np.zeros(4))


def test_what_a_cast_to_real_numbers_left_out_stays_out_of_products():
    def f(a):
        return sg.nn.functional.linear((a * a).double(), a).abs()

    a = sg.tensor(np.array([0.3 + 1j, -1 + 2j, 0.5]))
    gradient = sg.func.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the cast leaves out
        np.testing.assert_allclose(sg.compile(gradient, a)(a), gradient(a).numpy())


def test_a_row_of_a_new_axis_in_a_gradient():
    def f(a):
        return (a[None][0] ** 2).sum()

    a = np.linspace(-1, 1, 6).reshape(2, 3)
    np.testing.assert_allclose(sg.compile(sg.func.grad(f), a)(a), 2 * a)


def test_numbers_beside_double_arrays_are_double_numbers():
    """Solvers call with Python's numbers and NumPy's in turn; each kind was traced anew."""
    f = sg.compile(lambda t, y: y * t)
    y = np.ones(2)
    for t in (2.0, np.float64(2.0), np.array(2.0)):
        assert f(t, y).tolist() == [2.0, 2.0]
    assert f.traces == 1
    assert f(2.0, y.astype(np.float32)).dtype == np.float32


def test_the_slope_of_a_spread_that_is_nan_is_nan_also_where_nothing_is_counted():
    def f(a):
        return a.std().std()

    x = sg.tensor([3.0])
    with warnings.catch_warnings(action="ignore"):
        for found, want in zip(sg.compile(sg.func.value_and_grad(f), x)(x), sg.func.value_and_grad(f)(x), strict=True):
            np.testing.assert_array_equal(found, want.numpy())


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32", "complex64"])
@pytest.mark.parametrize("value", [0.25, 2, True])
def test_numbers_written_where_a_mask_holds_take_the_dtype_of_the_tensor(dtype, value):
    def f(x):
        y = x.clone()
        y[y != 0] = value
        return y

    x = np.array([0, 1, 1]).astype(dtype)
    want, got = f(sg.tensor(x)).numpy(), sg.compile(f, x)(x)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_slopes_written_with_sizes_of_numbers_keep_the_dtype_of_their_argument():
    x = np.array([0.25, -0.5], np.float32)

    def tangent(x):
        return sg.func.jvp(lambda z: sg.acos(z).sum(), (x,), (x,))[1]

    assert sg.compile(tangent, x)(x).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_zero_times_infinity_is_nan_in_programs_of_every_precision(dtype):
    x = np.array([1, np.inf, 0], dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(sg.compile(lambda x: sg.stack([x * 0, x]), x)(x)[0], x * 0)


def test_constants_that_are_no_numbers_stand_in_programs_of_half_precision():
    """The 3/2 log π of mvlgamma was taken for a number, which was a KeyError."""
    x = np.array([3.0, 4.0], np.float16)
    got = sg.compile(lambda x: sg.mvlgamma(x, 3))(x)
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, sg.mvlgamma(x.astype(np.float64), 3), rtol=1e-3)


SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5])


@pytest.mark.parametrize("name", ["hardtanh", "softshrink", "relu6", "leaky_relu"])
def test_slopes_of_activations_are_floats(name):
    """Slopes of whole numbers were whole numbers."""
    function = getattr(sg.nn.functional, name)
    slope = sg.func.grad(lambda x: function(x).sum())
    for f in (function, slope, sg.func.grad(lambda x: slope(x).sum())):
        with np.errstate(invalid="ignore"):
            want, got = f(sg.tensor(SPECIAL)).numpy(), sg.compile(f)(SPECIAL)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-15)


def test_choices_by_one_condition_are_made_once():
    f = sg.compile(lambda x: sg.where(x > 0, x, sg.where(x > 0, sg.sin(x), sg.exp(x))), np.ones(3))
    assert f.source.count("where") == 1
    assert "sin" not in f.source


IN_OTHER_ORDER = {
    "parts": lambda x: sg.complex(x, 0.5 * x).abs(),
    "sorted": lambda x: sg.sort(x)[0],
    "product": lambda x: x.view(2, 1) @ x.view(1, 2),
}


@pytest.mark.parametrize("name", IN_OTHER_ORDER)
def test_arrays_of_other_machines_have_the_dtypes_of_this_one(name):
    """Results were big-endian, and float64 beside float64 was refused: "Expected Double but got Double"."""
    f, native = IN_OTHER_ORDER[name], np.array([1.5, -2.0])
    other = native.astype(">f8")

    def total(x):
        return (f(x) ** 2).sum()

    compiled, slope = sg.compile(f), sg.compile(sg.func.grad(total))
    for g in (compiled, compiled, lambda x: f(sg.tensor(x)).numpy(), slope, lambda x: sg.func.grad(total)(x).numpy()):
        found = g(other)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, g(native))

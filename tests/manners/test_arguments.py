"""Arguments and results that are seldom used, and say what torch says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


def test_the_ends_have_names(t):
    x = t.tensor([[3.0, 1.0], [2.0, 5.0]], requires_grad=True)
    both = t.aminmax(x)
    assert (both.min.item(), both.max.item()) == (1, 5)
    rows = x.aminmax(dim=1, keepdim=True)
    assert rows.max.tolist() == [[3], [5]]
    low, high = rows
    (high - low).sum().backward()
    assert x.grad.tolist() == [[1, -1], [-1, 1]]


def test_the_place_of_the_extreme_keeps_all_axes(t):
    x = t.tensor([[3.0, 1.0], [2.0, 5.0]])
    assert t.argmin(x, keepdim=True).tolist() == [[1]]
    assert x.argmax(dim=None, keepdim=True).tolist() == [[3]]


def test_places_as_often_as_they_say(t):
    assert t.repeat_interleave(t.tensor([1, 0, 2])).tolist() == [0, 2, 2]


def test_what_is_chosen_or_joined_of_nothing(t):
    assert t.combinations(t.tensor([1.0, 2.0]), 0).shape == (0,)
    assert t.combinations(t.tensor([1.0, 2.0]), 3).shape == (0, 3)


def test_gradients_of_gathered_entries(t):
    x = t.ones(2, 2, requires_grad=True)
    t.gather(x, 1, t.tensor([[0], [0]]), sparse_grad=False).sum().backward()
    assert x.grad.tolist() == [[1, 0], [1, 0]]


def test_one_place_selects_one_slice(t):
    x = t.ones(2, 3, requires_grad=True)
    row = x.index_select(0, t.tensor(1))
    assert row.shape == (1, 3)
    row.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert t.ones(2).index_select(0, t.tensor(1)).shape == (1,)
    assert t.tensor(2.0).index_select(0, t.tensor([0])).shape == t.tensor(2.0).index_select(0, t.tensor(0)).shape == ()


def test_places_along_the_axes(t):
    assert [p.tolist() for p in t.unravel_index(t.tensor([5, 7]), (2, 3))] == [[1, 0], [2, 1]]
    with pytest.raises(TypeError, match="expected 'indices' to be integer"):
        t.unravel_index(t.tensor(0.5), (2, 2))
    with pytest.raises(TypeError, match="expected 'shape' to be int or sequence of ints"):
        t.unravel_index(t.tensor([1]), t.tensor([1, 2]))
    with pytest.raises(TypeError, match="expected 'shape' sequence to only contain ints"):
        t.unravel_index(t.tensor([1]), (1, 2.0))
    with pytest.raises(ValueError, match=r"'shape' cannot have negative values, but got \(2, -3\)"):
        t.unravel_index(t.tensor(0), (2, -3))


def test_shapes_of_whole_numbers(t):
    with pytest.raises(RuntimeError, match="Input shapes should be of type ints"):
        t.broadcast_shapes(1.5)
    with pytest.raises(TypeError):
        t.broadcast_shapes((1.5, 2))


def test_a_tensor_is_an_array_already(t):
    x = t.ones(2)
    assert t.asarray(x) is x
    assert t.asarray(x, copy=True) is not x


def test_the_dtype_of_a_softmax(t):
    x = t.tensor([0.0, 0.0])
    assert t.softmax(x, 0, t.float64).dtype == t.log_softmax(x, 0, t.float64).dtype == t.float64


SUMS = {"sum": 5, "prod": 6, "cumsum": [2, 5], "cumprod": [2, 6], "mean": 2.5}


@pytest.mark.parametrize("name", SUMS)
def test_sums_are_taken_in_the_dtype_of_the_place(t, name):
    out = t.empty(0, dtype=t.float64 if name == "mean" else t.int32)
    getattr(t, name)(t.tensor([2.0, 3.0]), 0, out=out)
    assert out.tolist() == SUMS[name]


@pytest.mark.parametrize("name", ["all", "any"])
def test_truths_as_bytes(t, name):
    out = t.empty(0, dtype=t.uint8)
    getattr(t, name)(t.tensor([True, True]), 0, out=out)
    assert out.item() == 1


@pytest.mark.parametrize("name", ["sum", "prod", "nansum"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "int64"])
def test_sums_of_integers_in_a_dtype_asked_for(t, name, dtype):
    dtype = getattr(t, dtype)
    found = getattr(t, name)(t.tensor([[1.0, 0.0], [2.0, 3.0]]), 0, dtype=dtype)
    assert found.dtype == dtype
    whole = {"prod": [2, 0]}.get(name, [3, 3])
    assert found.tolist() == (whole if dtype != t.bool else [bool(k) for k in whole])


CHOICES = [
    ((1, 2.5), "float32"),
    ((1.5, 2.5), "float32"),
    ((1, 2), "int64"),
    ((True, 2.5), "float32"),
    ((1, 2j), "complex64"),
]


@pytest.mark.parametrize(("numbers", "dtype"), CHOICES, ids=str)
def test_a_choice_of_two_numbers_has_the_default_dtype(t, numbers, dtype):
    chosen = t.where(t.tensor([True, False]), *numbers)
    assert chosen.dtype == getattr(t, dtype)
    assert chosen.tolist() == list(numbers)


def test_truths_filled_with_complex_numbers(t):
    x, mask = t.tensor([False, False]), t.tensor([True, False])
    assert x.masked_fill(mask, 1j).tolist() == [True, False]
    pytest.importorskip("ml_dtypes")
    assert t.can_cast(t.bfloat16, t.float32)
    assert not t.can_cast(t.bfloat16, t.int64)


def test_no_axes_are_none_or_all(t):
    x = t.tensor([[0.0, 2.0], [3.0, 0.0]])
    for name in ("any", "all"):
        assert getattr(t, name)(x, dim=()).tolist() == [[False, True], [True, False]]
    assert t.count_nonzero(x, dim=()).item() == 2
    assert t.sum(x, dim=()).item() == 5


@pytest.mark.parametrize(
    ("call", "same"),
    [
        ("x.squeeze(0, 2)", "x.squeeze((0, 2))"),
        ("x.count_nonzero(0, 1)", "x.count_nonzero((0, 1))"),
        ("x[0].hsplit(1, 2)[1]", "x[0].hsplit((1, 2))[1]"),
        ("t.ones(1, 3).expand(2, 3, implicit=False)", "t.ones(1, 3).expand(2, 3)"),
        ("t.group_norm(x, 2, cudnn_enabled=False)", "t.nn.functional.group_norm(x, 2)"),
        ("t.subtract(x, 2, 3)", "x - 6"),
        ("x.subtract(2, 3)", "x - 6"),
        ("t.clone(x, memory_format=t.preserve_format)", "x.clone()"),
    ],
)
def test_arguments_one_by_one_and_those_that_say_nothing(t, call, same):
    names = {"t": t, "x": t.arange(16.0).reshape(1, 4, 4)[:, :, :1] + 1}
    made, expected = eval(call, names), eval(same, names)
    assert t.equal(made, expected)
    assert made.stride() == expected.stride()


@pytest.mark.parametrize(
    "call",
    [
        "t.linalg.norm(x, axis=0, keepdims=True)", "t.linalg.vector_norm(x, 3, axis=(0, 1), keepdims=True)",
        "t.linalg.matrix_norm(x, keepdims=True)", "t.linalg.norm(x, 2, axis=(0, 1))", "t.fft.fft(x, axis=0).real",
        "t.fft.rfft(x, n=4, axis=0).imag", "t.fft.fft2(x, axis=(1, 0)).real", "t.fft.fftshift(x, axis=1)",
        "t.special.softmax(x, axis=0)", "t.special.log_softmax(x, axis=-1)",
        "t.special.logsumexp(x, axis=0, keepdims=True)",
        "t.squeeze_copy(x[None], axis=0)", "t.unbind_copy(x, axis=1)[0]",
    ],
)  # fmt: skip
def test_the_names_that_numpy_has(t, call):
    """An axis is ``axis`` in every namespace, and ``keepdims`` keeps it."""
    x = t.tensor([[3.0, 1.0, 2.0], [2.0, 5.0, 0.5]], dtype=t.float64)
    words = call.replace("axis=", "dim=").replace("keepdims=", "keepdim=")
    assert eval(call, {"t": t, "x": x}).tolist() == eval(words, {"t": t, "x": x}).tolist()  # noqa: S307


@pytest.mark.parametrize(
    "call",
    [
        "self.relu(x)", "self.erf(x)", "self.matmul(x, x.T)", "self.linear(x, x, bias=x[:, 0])", "self.norm(x, dim=0)",
        "self.stack([x, x], 1)", "self.conv(x[None], x[:, :, None])", "self.max(x, 1)[0]", "self.fft(x, n=2).real",
        "self.where(x > 1, x, 0 * x)", "self.softmax(x, dim=0)", "self.add(x, x, alpha=2)",
        "self.exp(x, out=t.ones(2, 2))",
    ],
)  # fmt: skip
def test_functions_that_classes_keep_do_not_bind(t, call):
    """An activation is often an attribute of a class; it is called with what stands in the brackets, and no more."""

    class Layer:
        relu, matmul, stack, max, where = t.relu, t.matmul, t.stack, t.max, t.where
        softmax, add, exp, erf, norm, fft = t.softmax, t.add, t.exp, t.special.erf, t.linalg.norm, t.fft.fft
        linear, conv = t.nn.functional.linear, t.nn.functional.conv1d

    class Inner(Layer):
        pass

    x = t.tensor([[1.0, -2.0], [3.0, 0.5]])
    alone = eval(call, {"t": t, "x": x, "self": vars_of(Layer)})  # noqa: S307
    assert eval(call, {"t": t, "x": x, "self": Inner()}).tolist() == alone.tolist()  # noqa: S307
    with pytest.raises(TypeError):
        Inner().relu()
    with pytest.raises((TypeError, RuntimeError)):
        Inner().matmul(x)


@pytest.mark.parametrize(
    "call",
    [
        "self.zeros(3)", "self.ones(2, 2)", "self.eye(2)", "self.tensor([1.0, 2.0])", "self.full((2,), 3.0)",
        "self.arange(3)", "self.linspace(0, 1, 3)", "self.as_tensor([1.0])", "self.zeros((2, 1), dtype=t.float64)",
        "self.zeros_like(t.ones(2))", "self.rand(2).shape", "self.randint(0, 1, (2,))",
    ],
)  # fmt: skip
def test_functions_that_make_tensors_do_not_bind(t, call):
    class Maker:
        zeros, ones, eye, tensor, full, arange = t.zeros, t.ones, t.eye, t.tensor, t.full, t.arange
        linspace, as_tensor, zeros_like, rand, randint = t.linspace, t.as_tensor, t.zeros_like, t.rand, t.randint

    class Inner(Maker):
        pass

    alone = eval(call, {"t": t, "self": vars_of(Maker)})  # noqa: S307
    made = eval(call, {"t": t, "self": Inner()})  # noqa: S307
    assert getattr(made, "tolist", lambda: made)() == getattr(alone, "tolist", lambda: alone)()
    with pytest.raises((TypeError, RuntimeError)):
        Inner().full(3)


def vars_of(kept):
    return SimpleNamespace(**{name: value for name, value in vars(kept).items() if not name.startswith("_")})


@pytest.mark.parametrize(
    "call",
    [
        "t.fft.fftfreq(n)", "t.fft.rfftfreq(n, 0.5)", "t.hann_window(n)", "t.hamming_window(n, False)",
        "t.nn.functional.max_pool1d(x, n)", "t.nn.functional.avg_pool1d(x, n, stride=n)",
        "t.nn.functional.interpolate(x, size=n)", "t.nn.functional.interpolate(x, size=(n,), mode='linear')",
        "t.nn.functional.conv1d(x, x[..., :2], stride=n, padding=n)",
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_sizes_that_are_tensors_of_one_number(t, call):
    """What a program has counted with tensors may be a size."""
    x = t.arange(8.0)[None, None]
    given = [eval(call, {"t": t, "x": x, "n": n}) for n in (t.tensor(3), 3)]  # noqa: S307
    assert given[0].tolist() == given[1].tolist()

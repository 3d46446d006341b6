"""What may stand between the brackets of a tensor, and what may be written there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest


@pytest.fixture
def x(t):
    return t.arange(24.0).view(4, 6)


def quietly(function):
    """The result, and the categories of the warnings on the way."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = function()
    return found, [str(w.message) for w in seen]


def test_bytes_are_a_mask(t, x):
    mask = t.tensor([1, 0, 1, 1], dtype=t.uint8)
    found, said = quietly(lambda: x[mask])
    assert found.tolist() == [x[k].tolist() for k in (0, 2, 3)]
    assert "indexing with dtype torch.uint8 is now deprecated" in said[0]
    assert quietly(lambda: x[mask.numpy()])[0].shape == (3, 6)
    assert x[t.tensor(1, dtype=t.uint8)].shape == (1, 4, 6)
    assert x[t.tensor(0, dtype=t.uint8)].shape == (0, 4, 6)


def test_bytes_as_a_mask_to_write_by(t):
    x = t.zeros(3, requires_grad=True)
    y = x * 1
    quietly(lambda: y.__setitem__(t.tensor([1, 0, 1], dtype=t.uint8), t.tensor([7.0, 7.0])))
    assert y.tolist() == [7, 0, 7]
    quietly(lambda: y.sum().backward())
    assert x.grad.tolist() == [0, 1, 0]
    added, _ = quietly(lambda: t.ones(2).index_put((t.tensor([0, 1], dtype=t.uint8),), t.ones(1), accumulate=True))
    assert added.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["int8", "int16", "float32"])
def test_other_dtypes_hold_no_places(t, x, name):
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        x[t.tensor([1, 0]).to(getattr(t, name))]
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        x[t.tensor([]).to(getattr(t, name))]


def test_a_narrow_integer_is_a_number(t, x):
    assert x[t.tensor(1, dtype=t.int8)].tolist() == x[1].tolist()
    assert x[t.tensor(1, dtype=t.int16), 2].item() == 8


PARTED = {
    "two rows of places": ([[0, 1], [0, 1]], (2,)),
    "one row of places": ([[0, 1]], (2, 6)),
    "tuples": ([(0, 1), (0, 1)], (2,)),
    "None": ([1, None], (1, 6)),
    "a slice": ([slice(0, 2), 1], (2,)),
    "dots": ([..., 1], (4,)),
    "arrays": ([np.array([0, 1]), np.array([1, 2])], (2,)),
}


@pytest.mark.parametrize("name", PARTED)
def test_a_list_of_parts_stands_for_a_tuple(t, x, name):
    index, shape = PARTED[name]
    found, said = quietly(lambda: x[index])
    assert found.shape == shape
    assert "Using a non-tuple sequence for multidimensional indexing is deprecated" in said[0]


def test_a_list_of_tensors_stands_for_a_tuple(t, x):
    assert quietly(lambda: x[[t.tensor(1), 2]])[0].item() == 8
    assert quietly(lambda: x[[t.tensor([1, 2]), 2]])[0].tolist() == [8, 14]


def test_a_list_of_numbers_or_a_long_one_is_an_array(t, x):
    for index, shape in [([0, 1], (2, 6)), ([True, False, True, True], (3, 6)), ([[0, 1]] * 32, (32, 2, 6))]:
        found, said = quietly(lambda index=index: x[index])
        assert found.shape == shape
        assert not said


SLICES = [slice(0.0, 2.0), slice("a"), slice(None, 1.5)]


@pytest.mark.parametrize("part", SLICES, ids=str)
def test_slices_have_whole_ends(t, x, part):
    with pytest.raises(TypeError, match="slice indices must be integers or None or have an __index__ method"):
        x[part]
    with pytest.raises(TypeError, match="slice indices must be integers or None or have an __index__ method"):
        x[:, part]


def test_tensors_as_ends_of_slices_are_whole(t, x):
    assert x[t.tensor(1) : t.tensor([3])].shape == (2, 6)
    with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
        x[t.tensor(1.0) :]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[::0]


def test_texts_and_objects_are_no_index(t, x):
    for index in ("a", (0, "a"), ["a"]):
        with pytest.raises(TypeError, match="invalid data type 'str'"):
            quietly(lambda index=index: x[index])
    for index in (1.5, 1j, object(), (0, 1.5), np.float64(1)):
        with pytest.raises(IndexError, match="only integers, slices"):
            x[index]
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del x[0]


def test_what_has_no_axes(t):
    x = t.tensor(1.0)
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0]
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor"):
        x[:]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0] = 2.0
    with pytest.raises(IndexError, match=r"slice\(\) cannot be applied to a 0-dim tensor"):
        x[:] = 2.0
    x[...] = 3.0
    assert x.item() == 3


MASKS = {
    "too short": (lambda t: t.tensor([True]), r"mask \[1\] at index 0 .* tensor \[4, 6\] at index 0"),
    "of columns": (
        lambda t: (slice(None), t.tensor([True] * 4)),
        r"mask \[4\] at index 0 .* tensor \[4, 6\] at index 1",
    ),
    "a matrix": (lambda t: t.ones(4, 5).bool(), r"mask \[4, 5\] at index 1 .* tensor \[4, 6\] at index 1"),
    "behind dots": (lambda t: (..., t.tensor([True] * 4)), r"mask \[4\] at index 0 .* tensor \[4, 6\] at index 1"),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_have_the_sizes_of_the_axes(t, x, name):
    index, words = MASKS[name]
    with pytest.raises(IndexError, match=words):
        x[index(t)]


def test_places_that_do_not_broadcast(t, x):
    with pytest.raises(IndexError, match=r"indexing tensors could not be broadcast together with shapes \[2\], \[3\]"):
        x[[0, 1], [0, 1, 2]]


WRONG = [("uint8", 300), ("int8", -200), ("int64", float("nan")), ("int32", float("inf")), ("float32", 1e300)]


WRITES = {
    "x[0] =": lambda t, x, number: x.__setitem__(0, number),
    "fill_": lambda t, x, number: x.fill_(number),
    "masked_fill": lambda t, x, number: x.masked_fill(t.tensor([True, False]), number),
    "index_fill": lambda t, x, number: x.index_fill(0, t.tensor([0]), number),
}


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize(("name", "number"), WRONG, ids=str)
def test_numbers_that_a_dtype_has_not(t, name, number, how):
    x = t.ones(2).to(getattr(t, name))
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        WRITES[how](t, x, number)
    assert x.tolist() == [1, 1]


def test_numbers_that_wrap_or_are_cut(t):
    x = t.zeros(3, dtype=t.uint8)
    x[0], x[1] = -1, 2.7
    assert x.tolist() == [255, 2, 0]
    assert x.fill_(-2).tolist() == [254] * 3
    assert x.masked_fill(t.tensor([True, False, True]), -1).tolist() == [255, 254, 255]
    assert x.index_fill(0, t.tensor([1]), -1).tolist() == [254, 255, 254]
    assert t.zeros(2).bool().masked_fill(t.tensor([True, False]), 0.5).tolist() == [True, False]
    assert t.zeros(2).fill_(float("inf")).tolist() == [float("inf")] * 2


def test_a_half_of_a_large_number(t):
    x = t.zeros(2, dtype=t.float16)
    x[0] = 1e6
    assert x.tolist() == [float("inf"), 0]
    with pytest.raises(RuntimeError, match="value cannot be converted to type .* without overflow"):
        x.fill_(1e6)


def test_only_numbers_are_written(t, x):
    for value in (None, "a", {}):
        with pytest.raises(TypeError, match="can't assign a .* to a torch.FloatTensor"):
            x[0] = value


def test_places_and_dtypes_of_writing_functions(t, x):
    row, places = t.ones(6).view(1, 6), t.tensor([0])
    with pytest.raises(RuntimeError, match="requires the source and destination dtypes match, got Float .* and Double"):
        x.index_put((places,), row.double())
    for name in ("index_add", "index_copy"):
        with pytest.raises(IndexError):
            getattr(x, name)(0, t.tensor([[0]]), row)
        with pytest.raises(RuntimeError):
            getattr(x, name)(0, t.tensor([0.0]), row)
    with pytest.raises(RuntimeError, match="Index has to be a vector/scalar"):
        x.index_fill(0, t.tensor([[0]]), 1.0)


@pytest.mark.parametrize("index", ["places", "a list", "a mask", "places and a slice"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", "complex128"])
def test_places_take_values_of_their_dtype_alone(t, index, dtype):
    """Arrays of places are written by index_put_, which does not cast; one number fills a mask, whatever it is."""
    x = t.zeros(4, 2, dtype=t.float64)
    places = t.tensor([0, 2])
    index = {
        "places": places,
        "a list": [0, 2],
        "a mask": t.tensor([True, False, True, False]),
        "places and a slice": (places, slice(0, 1)),
    }[index]
    with pytest.raises(RuntimeError, match="requires the source and destination dtypes match, got Double"):
        x[index] = t.ones(2, 1, dtype=getattr(t, dtype))
    assert not x.any()
    whole = t.zeros(4, 2, dtype=t.int64)
    for number in (2.5, True, 7):  # numbers are of the dtype that they are written into
        whole[index] = number
        x[index] = number
        assert (whole[0, 0].item(), x[0, 0].item()) == (int(number), number)
    x[index] = 1
    x[0:2] = t.ones(2, 2, dtype=t.float32)
    x[3] = t.ones((), dtype=t.int64)
    x[t.tensor([False, False, True, False])] = t.tensor(3, dtype=t.int64)
    assert x[2:].tolist() == [[3.0, 3.0], [1.0, 1.0]]


def test_values_that_do_not_fit_have_torchs_words(t):
    x = t.tensor([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="the number of sizes provided"):
        x[0:2] = t.ones(3, 3)
    assert x.tolist() == [1.0, 2.0, 3.0]

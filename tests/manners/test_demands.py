"""What programs demand of sizes and values: torch._check and its kin."""

from __future__ import annotations

import importlib

import pytest

ERRORS = {
    "_check": RuntimeError, "_check_value": ValueError, "_check_index": IndexError, "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_demands(t, name):
    check, kind = getattr(t, name), ERRORS[name]
    check(True)
    check(t.ones(2).shape[0] > 1, lambda: "no rows")
    with pytest.raises(kind, match="Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(kind, match="^3 rows$"):
        check(t.ones(3).shape[0] == 2, lambda: "3 rows")
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "text")
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)
    with pytest.raises(TypeError, match="cond must be a bool, but got a Tensor"):
        check(t.tensor(True))


def test_demands_of_entries(t):
    t._check_tensor_all(t.tensor([True, True]))
    t._assert(t.tensor(True), "holds")
    for call, kind, words in (
        (lambda: t._check_tensor_all(t.tensor([True, False]), lambda: "not all"), RuntimeError, "not all"),
        (lambda: t._check_tensor_all(t.tensor([1, 0])), TypeError, "must have dtype torch.bool"),
        (lambda: t._check_with(KeyError, False, lambda: "key"), KeyError, "key"),
        (lambda: t._assert(t.tensor(0), "holds"), AssertionError, "holds"),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_types_for_annotations(t):
    types = importlib.import_module(f"{t.__name__}.types")
    assert isinstance(3, types.Number)
    assert not isinstance("3", types.Number)
    assert isinstance("cpu", types.Device)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_sizes_are_not_negative(t):
    t._check_is_size(0)
    t._check_is_size(3, max=3)
    with pytest.raises(RuntimeError, match="no rows"):
        t._check_is_size(-1, lambda: "no rows")
    with pytest.raises(RuntimeError, match="Expected cond to be True"):
        t._check_is_size(4, max=3)

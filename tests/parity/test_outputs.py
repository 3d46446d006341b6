"""``out=``: which dtypes a place may have, which memory, and which functions take one, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

CALLS: dict[str, Callable[..., Any]] = {
    "sin": lambda t, x, **k: t.sin(x, **k),
    "mean": lambda t, x, **k: t.mean(x, 0, **k),
    "maximum": lambda t, x, **k: t.maximum(x, x, **k),
    "cat": lambda t, x, **k: t.cat([x, x], **k),
    "abs": lambda t, x, **k: t.abs(x, **k),
    "neg": lambda t, x, **k: t.neg(x, **k),
    "mm": lambda t, x, **k: t.mm(x, x, **k),
    "gather": lambda t, x, **k: t.gather(x, 0, t.zeros((3, 3), dtype=t.int64), **k),
    "index_select": lambda t, x, **k: t.index_select(x, 0, t.tensor([0, 2]), **k),
    "cummax": lambda t, x, **k: t.logcumsumexp(x, 0, **k),
    "softmax": lambda t, x, **k: t.softmax(x, 0, **k),
    "amax": lambda t, x, **k: t.amax(x, 0, **k),
    "signbit": lambda t, x, **k: t.signbit(x, **k),
    "all": lambda t, x, **k: t.all(x, 0, **k),
    "tril": lambda t, x, **k: t.tril(x, **k),
    "eye": lambda t, x, **k: t.eye(3, **k),
    "polar": lambda t, x, **k: t.polar(x, x, **k),
    "inv": lambda t, x, **k: t.linalg.inv(x, **k),
    "norm": lambda t, x, **k: t.linalg.norm(x, **k),
    "vector_norm": lambda t, x, **k: t.linalg.vector_norm(x, **k),
    "multi_dot": lambda t, x, **k: t.linalg.multi_dot([x, x, x], **k),
    "normalize": lambda t, x, **k: t.nn.functional.normalize(x, dim=0, **k),
    "matrix_rank": lambda t, x, **k: t.linalg.matrix_rank(x, **k),
    "avg_pool2d": lambda t, x, **k: (
        t._C._nn.avg_pool2d(x[None], 2, **k) if t is torch else t.nn.functional.avg_pool2d(x[None], 2, **k)
    ),
    "linear": lambda t, x, **k: t.nn.functional.linear(x, x, **k),
    "gelu": lambda t, x, **k: t.nn.functional.gelu(x, **k),
    "softplus": lambda t, x, **k: t.nn.functional.softplus(x, **k),
}
DTYPES = ("float64", "int64", "bool", "complex64")


def _input(t: Any) -> Any:
    return t.tensor(np.random.default_rng(1).uniform(0.5, 2, (3, 3)).astype(np.float32))


@pytest.mark.parametrize("name", CALLS)
def test_places_of_other_dtypes(name: str) -> None:
    for dtype in DTYPES:
        outcomes = []
        for t in (torch, sg):
            place = t.zeros(0, dtype=getattr(t, dtype))
            try:
                outcomes.append(CALLS[name](t, _input(t), out=place))
            except (RuntimeError, TypeError) as error:
                outcomes.append(error)
        want, got = outcomes
        if isinstance(want, Exception):
            assert isinstance(got, Exception), f"{dtype}: torch says {want}"
        else:
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5)


SAID = ("abs", "mm", "gather", "amax", "signbit", "all", "polar", "tril", "inv")


@pytest.mark.parametrize("name", SAID)
def test_words(name: str) -> None:
    words = []
    for t in (torch, sg):
        with pytest.raises(RuntimeError) as caught:
            CALLS[name](t, _input(t), out=t.zeros(0, dtype=t.float64))
        words.append(str(caught.value))
    assert words[1].startswith(words[0])


@pytest.mark.parametrize("name", CALLS)
def test_results(name: str) -> None:
    want, x = CALLS[name](sg, _input(sg)), _input(sg)
    place = sg.zeros(0, dtype=want.dtype)
    assert CALLS[name](sg, x, out=place) is place
    np.testing.assert_array_equal(place.numpy(), want.numpy())


APART: dict[str, Callable[..., Any]] = {
    "gather": lambda t, x, **k: t.gather(x, 0, t.tensor([2, 1, 0]), **k),
    "take": lambda t, x, **k: t.take(x, t.tensor([2, 1, 0]), **k),
    "index_select": lambda t, x, **k: t.index_select(x, 0, t.tensor([2, 1, 0]), **k),
    "masked_select": lambda t, x, **k: t.masked_select(x, x > 0, **k),
    "cat": lambda t, x, **k: t.cat([x[:1], x[1:]], **k),
    "cross": lambda t, x, **k: t.linalg.cross(x, x, **k),
}


@pytest.mark.parametrize("name", APART)
def test_places_in_the_memory_of_an_argument(name: str) -> None:
    for t in (torch, sg):
        x = t.tensor(np.array([1.0, 2.0, 3.0]))
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            APART[name](t, x, out=x)


@pytest.mark.filterwarnings("ignore:.*chain_matmul")
def test_the_place_of_a_product_of_one_matrix():
    """It kept what it had: out= was taken and ignored."""
    for t in (sg, torch):
        out = t.zeros(2, 2)
        assert t.chain_matmul(t.ones(2, 2), out=out) is out
        assert out.tolist() == [[1, 1], [1, 1]]

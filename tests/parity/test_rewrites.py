"""How often torch's functions change their own result: ``_version`` of what no graph records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.peer, pytest.mark.filterwarnings("ignore")]

SHAPES = [(), (3,), (3, 3), (2, 1, 3)]
OF_ONE = (
    "abs amax amin any all clone deg2rad exp sin sqrt neg floor frac sigmoid mean sum prod rad2deg relu isnan "
    "logical_not var std"
).split()
OF_TWO = "add sub mul div maximum atan2 fmax hypot eq gt logical_and complex matmul".split()
ALONG = ["amax", "amin", "any", "all", "mean", "sum", "prod", "logsumexp", "softmax", "argmax"]
CASTS = ["int", "half", "bool", "cfloat"]
MATRICES = ["linalg.inv", "linalg.det", "linalg.solve", "mm", "tril", "trace"]


def versions(t: Any, name: str, inference: bool, shapes: Any, *more: Any, **options: Any) -> Any:
    space, _, last = name.rpartition(".")
    function = getattr(t.Tensor, last) if last in CASTS else getattr(getattr(t, space) if space else t, last)
    values = [np.random.default_rng(k).uniform(0.5, 2, shape) for k, shape in enumerate(shapes)]
    with t.inference_mode(inference):
        args = [t.tensor(value) for value in values]
    return function(*args, *more, **options)._version


def compare(name: str, *given: Any, **options: Any) -> None:
    for inference in (True, False):
        assert versions(sg, name, inference, *given, **options) == versions(torch, name, inference, *given, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", OF_ONE + CASTS)
def test_functions_of_one(name: str, shape: Any) -> None:
    compare(name, [shape])


@pytest.mark.parametrize("shape", SHAPES[1:3])
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name: str, shape: Any) -> None:
    compare(name, [shape, shape])


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("name", ALONG)
def test_functions_along_an_axis(name: str, shape: Any) -> None:
    compare(name, [shape], dim=-1)


@pytest.mark.parametrize("name", MATRICES)
def test_functions_of_matrices(name: str) -> None:
    compare(name, [(3, 3)] * (2 if name in ("linalg.solve", "mm") else 1))


def test_products_of_vectors_and_matrices() -> None:
    """A vector times a matrix loses an axis in place, whether a graph is recorded or not."""

    def told(t: Any) -> Any:
        x, W = t.ones(3, dtype=t.float64), t.ones(3, 2, dtype=t.float64)
        plain = [x @ W, t.matmul(x, W), W.T @ x, x @ x, W.T @ W]
        x.requires_grad_()
        with t.no_grad():
            plain.append(x @ W)
        changed = (x @ W).sigmoid_(), t.matmul(x, W).unsqueeze(0).fill_(2.0)
        first = t.autograd.grad((x @ W).sin().sum(), x, create_graph=True)
        second = t.autograd.grad(first[0].sin().sum(), x, create_graph=True)
        seen = [*plain, *changed, x @ W, (x @ W).detach(), (x @ W).data, (x @ W).clone(), (x @ W)[0], *first, *second]
        return [y._version for y in seen]

    assert told(sg) == told(torch)

"""``nn.init`` against torch: the same numbers, the same words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch, the referee, is not installed")
pytestmark = pytest.mark.peer

CALLS = [
    "uniform_(w, -1, 2)", "normal_(w, 1, 0.5)", "trunc_normal_(w)", "trunc_normal_(w, 1.0, 0.5, 0.0, 1.2)",
    "trunc_normal_(w, 0.0, 1.0, 0.5, 0.9)",
    "constant_(w, 0.3)", "ones_(w)", "zeros_(w)", "xavier_uniform_(w)", "xavier_uniform_(w, gain=2.0)",
    "xavier_normal_(w)", "kaiming_uniform_(w, a=5**0.5)", "kaiming_uniform_(w, nonlinearity='relu')",
    "kaiming_normal_(w, mode='fan_out')", "kaiming_normal_(w, nonlinearity='tanh')", "orthogonal_(w)",
    "orthogonal_(w, 2)",
    "eye_(w[..., 0] if w.ndim > 2 else w)", "sparse_(w[..., 0] if w.ndim > 2 else w, 0.6)",
    "dirac_(w if w.ndim > 2 else w[:, :, None])",
    "dirac_(w if w.ndim > 2 else w[:2, :, None], 2)",
]  # fmt: skip


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 3, 2)])
@pytest.mark.parametrize("call", CALLS)
def test_same_numbers(call: str, shape: tuple[int, ...]) -> None:
    def found(t: Any) -> list[Any]:
        t.manual_seed(5)
        w = t.nn.Parameter(t.zeros(shape))  # of memory that nobody wrote, torch's eye_ would leave what was there
        given = eval(call, {"w": w} | vars(t.nn.init))  # noqa: S307
        return [given is w or "[" in call, w.requires_grad, w.grad_fn, w._version > 0, w.tolist()]

    (*ours, mine), (*theirs, wanted) = found(sg), found(torch)
    assert ours == theirs
    np.testing.assert_allclose(mine, wanted, 1e-5, 1e-6)


REFUSED = [
    "calculate_gain('leaky_relu', 'a')", "xavier_normal_(v)", "kaiming_normal_(v)", "orthogonal_(v)", "eye_(v)",
    "kaiming_uniform_(v[None], mode='in')", "calculate_gain('cosine')",
]  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_same_words(call: str) -> None:
    def words(t: Any) -> str:
        with pytest.raises(ValueError, match=r"\w") as caught:
            eval(call, {"v": t.ones(3)} | vars(t.nn.init))  # noqa: S307
        return str(caught.value).split(";")[0]

    assert words(sg) == words(torch)


@pytest.mark.parametrize("call", ["kaiming_normal_(t.empty(0, 3))", "trunc_normal_(t.empty(3), 9.0)"])
def test_same_warnings(call: str) -> None:
    def warned(t: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(call, {"t": t} | vars(t.nn.init))  # noqa: S307
        return [str(w.message).split(" The ")[0] for w in caught]

    assert warned(sg) == warned(torch)


@pytest.mark.parametrize("name", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains(name: str) -> None:
    assert sg.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (0, 3)])
def test_sizes_that_layers_ask_for(shape: tuple[int, ...]) -> None:
    """Code with layers of its own reads the numbers of inputs and outputs under torch's names."""

    def found(t: Any) -> Any:
        w = t.ones(shape)
        asked = t.nn.init._calculate_fan_in_and_fan_out
        return asked(w), *(t.nn.init._calculate_correct_fan(w, mode) for mode in ("fan_in", "fan_out"))

    assert found(sg) == found(torch)


@pytest.mark.parametrize("call", ["_no_grad_fill_(w, 0.5)", "_no_grad_normal_(w, 1, 2)", "_no_grad_uniform_(w, -1, 2)"])
def test_what_other_initialisers_are_made_of(call: str) -> None:
    def found(t: Any) -> Any:
        t.manual_seed(5)
        w = t.nn.Parameter(t.ones(5, dtype=t.float64))
        return eval(call, {"w": w} | vars(t.nn.init)) is w, w.tolist(), w.requires_grad  # noqa: S307

    assert found(sg) == found(torch)

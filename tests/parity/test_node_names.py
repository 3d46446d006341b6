"""What ``grad_fn.name()`` says: torch's word for the same operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import symgrad as sg
from tests.parity.test_ops import CALLS, METHODS, flat, lifted, ours, resolve, theirs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peer

COMPOSED = {
    "clip", "cosine_similarity", "cross_entropy", "kl_div", "mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "nll_loss", "softplus", "silu", "gelu", "leaky_relu",
    "elu", "hardtanh", "linear", "normalize", "logit", "entr", "xlog1py", "matrix_norm", "norm", "multi_dot", "einsum",
    "tensordot", "kron",
}  # fmt: skip
"""Functions made of other ops, here or in torch: the last op of the two programs need not be the same."""


def node_names(space: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> list[str]:
    make = ours if space is sg else theirs
    outs = flat(function(*(lifted(a, make) for a in args), **options))
    return [out.grad_fn.name() for out in outs if out.grad_fn is not None]


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("call", CALLS, ids=[f"{c[0]}-{k}" for k, c in enumerate(CALLS)])
def test_functions(call: Any) -> None:
    name, args, options = call
    if name.rsplit(".", 1)[-1] in COMPOSED:
        pytest.skip("made of other ops")
    here, there = resolve(sg, name), resolve(torch, name)
    if here is None or there is None:
        pytest.skip("not in both")
    assert node_names(sg, here, args, options) == node_names(torch, there, args, options)


@pytest.mark.parametrize("call", METHODS, ids=[f"{c[0]}-{k}" for k, c in enumerate(METHODS)])
def test_methods(call: Any) -> None:
    name, args, options = call
    if name in COMPOSED:
        pytest.skip("made of other ops")

    def method(x: Any, *rest: Any, **named: Any) -> Any:
        return getattr(x, name)(*rest, **named)

    assert node_names(sg, method, args, options) == node_names(torch, method, args, options)

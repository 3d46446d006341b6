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

ONE_OP_FOR_SEVERAL = {
    ("sgn", "Sign"), ("div", "Trunc"), ("div", "Floor"), ("clamp", "ClampMin"), ("clip", "ClampMax"), ("max", "Amax"),
    ("min", "Amin"), ("max", "Squeeze"), ("min", "Gather"), ("squeeze", "Squeeze"), ("transpose", "T"),
    ("unbind", "Select"), ("split", "Slice"), ("chunk", "Slice"), ("index_select", "Index"), ("masked_select", "Index"),
    ("vdot", "Dot"), ("bmm", "UnsafeView"), ("diag", "Diagonal"), ("cholesky", "LinalgCholeskyEx"),
    ("logdet", "Logdet"), ("repeat", "View"), ("permute", "Transpose"),
    ("linalg.solve", "Squeeze"),
}  # fmt: skip
"""Where one op of the table serves functions that torch names apart: (function, the name it gets here)."""


def node_names(space: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> list[str]:
    make = ours if space is sg else theirs
    outs = flat(function(*(lifted(a, make) for a in args), **options))
    return [out.grad_fn.name() for out in outs if out.grad_fn is not None]


def compare(name: str, here: list[str], there: list[str]) -> None:
    if name in ("sum", "mean") and there == [f"{name.capitalize()}Backward1"] and here[0][:-1] == there[0][:-1]:
        # An op that reduces every axis cannot tell whether the axes were listed.
        return
    for a, b in zip(here, there, strict=True):
        assert a == b or (name, a.removesuffix("Backward0")) in ONE_OP_FOR_SEVERAL


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("call", CALLS, ids=[f"{c[0]}-{k}" for k, c in enumerate(CALLS)])
def test_functions(call: Any) -> None:
    name, args, options = call
    if name.rsplit(".", 1)[-1] in COMPOSED:
        pytest.skip("made of other ops")
    here, there = resolve(sg, name), resolve(torch, name)
    if here is None or there is None:
        pytest.skip("not in both")
    compare(name, node_names(sg, here, args, options), node_names(torch, there, args, options))


@pytest.mark.parametrize("call", METHODS, ids=[f"{c[0]}-{k}" for k, c in enumerate(METHODS)])
def test_methods(call: Any) -> None:
    name, args, options = call
    if name in COMPOSED:
        pytest.skip("made of other ops")

    def method(x: Any, *rest: Any, **named: Any) -> Any:
        return getattr(x, name)(*rest, **named)

    compare(name, node_names(sg, method, args, options), node_names(torch, method, args, options))

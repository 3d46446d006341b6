"""The card of an op: it exists for every entry of the table and says what the table says."""

from __future__ import annotations

import pytest

from symgrad.commands.card import card
from symgrad.errors import ArgumentError
from symgrad.op import TABLE


@pytest.mark.parametrize("name", [op.name for op in TABLE.values() if op.kind != "opaque"])
def test_every_op_has_a_card(name: str) -> None:
    text = card(name)
    assert text.startswith(f"{name}: ")
    assert TABLE[name].kind == "leaf" or ("value" in text and "code" in text and "node" in text)


def test_card_of_tanh() -> None:
    assert card("tanh").splitlines() == [
        "tanh: Hyperbolic tangent.",
        "kind        elementwise",
        "domain      real",
        "value       tanh(0.5) = 0.462117",
        "expression  tanh(x)",
        "latex       \\tanh\\left(x\\right)",
        "vjp x       g*(1 - tanh(x)**2)",
        "jvp x       t*(1 - tanh(x)**2)",
        "code        np.tanh(x)",
        "node        TanhBackward0",
    ]


def test_unknown_name_lists_near_ones() -> None:
    with pytest.raises(ArgumentError, match="tanh"):
        card("tan_h")

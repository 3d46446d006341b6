"""Cells of recurrent networks: values, gradients of two orders, nodes, errors, formulas and programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad as sg

torch = pytest.importorskip("torch", reason="torch is the referee here: pip install torch==2.13.0")
pytestmark = pytest.mark.peer

GATES = {"rnn_tanh_cell": 1, "rnn_relu_cell": 1, "gru_cell": 3, "lstm_cell": 4}
BATCH, SIZE, HIDDEN = 3, 2, 4


def parts(name: str) -> list[np.ndarray[Any, Any]]:
    rng, gates = np.random.default_rng(5), GATES[name]
    shapes = [(BATCH, SIZE), (BATCH, HIDDEN), (gates * HIDDEN, SIZE), (gates * HIDDEN, HIDDEN)]
    shapes += [(gates * HIDDEN,)] * 2 + [(BATCH, HIDDEN)] * (gates == 4)
    return [rng.normal(size=shape) for shape in shapes]


def step(
    t: Any, name: str, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None, c: Any = None
) -> Any:
    if c is None:
        return (getattr(t, name)(x, h, w_ih, w_hh, b_ih, b_hh),)
    return getattr(t, name)(x, (h, c), w_ih, w_hh, b_ih, b_hh)


@pytest.mark.parametrize("name", GATES)
def test_values_gradients_and_nodes(name: str) -> None:
    rows = []
    for t in (sg, torch):
        leaves = [t.tensor(a, requires_grad=True) for a in parts(name)]
        outs = step(t, name, *leaves)
        first = t.autograd.grad(sum((o * o).sum() for o in outs), leaves, create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in first), leaves)
        nodes = [o.grad_fn.name() for o in outs]
        rows.append((nodes, [x.detach().numpy() for x in (*outs, *first, *second)]))
    assert rows[0][0] == rows[1][0]
    for ours, theirs in zip(rows[0][1], rows[1][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", GATES)
def test_single_precision(name: str) -> None:
    ours, theirs = (step(t, name, *(t.tensor(a, dtype=t.float32) for a in parts(name))) for t in (sg, torch))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_sizes_that_do_not_fit(name: str, place: int) -> None:
    errors = []
    for t in (sg, torch):
        given = [t.tensor(a) for a in parts(name)]
        given[place] = t.ones(5, given[place].shape[1], dtype=t.float64) if place == 0 else given[place].repeat(1, 2)
        with pytest.raises(RuntimeError) as caught:
            step(t, name, *given)
        errors.append(str(caught.value).splitlines()[0])
    assert errors[0] == errors[1]


@pytest.mark.parametrize("name", GATES)
def test_formulas_and_programs(name: str) -> None:
    given = parts(name)

    def total(*args: Any) -> Any:
        return sum(out.sum() for out in step(sg, name, *args))

    leaves = [sg.tensor(a, requires_grad=True) for a in given]
    (eager,) = sg.autograd.grad(total(*leaves), leaves[2])
    program = sg.compile(sg.func.grad(total, argnums=2), *given)
    np.testing.assert_allclose(np.asarray(program(*given)), eager.numpy(), rtol=1e-10)
    assert "tanh" in sg.latex(total, *given) or name == "rnn_relu_cell"

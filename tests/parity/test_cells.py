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


NETWORKS = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}


def network(name: str, layers: int, ways: int, biases: bool, projected: int = 0) -> list[Any]:
    """A padded input, the states and the weights of a network."""
    rng, gates, out = np.random.default_rng(3), NETWORKS[name], projected or HIDDEN
    shapes: list[tuple[int, ...]] = [(5, BATCH, SIZE), (layers * ways, BATCH, out), (layers * ways, BATCH, HIDDEN)]
    for layer in range(layers):
        for _ in range(ways):
            shapes += [(gates * HIDDEN, out * ways if layer else SIZE), (gates * HIDDEN, out)]
            shapes += [(gates * HIDDEN,)] * (2 * biases) + [(projected, HIDDEN)] * bool(projected)
    return [0.5 * rng.normal(size=shape) for shape in shapes]


def run_both(name: str, leaves: list[Any], call: Any) -> None:
    rows = []
    for t in (sg, torch):
        x, h, c, *weights = given = [t.tensor(a, requires_grad=True) for a in leaves]
        outs = call(t, getattr(t, name), x, (h, c) if name == "lstm" else h, weights)
        wanted = [g for g in given if g is not c or name == "lstm"]
        grads = t.autograd.grad(sum((o * o).sum() for o in outs), wanted)
        rows.append([r.detach().numpy() for r in (*outs, *grads)])
    for ours, theirs in zip(*rows, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("layers", "ways", "biases"), [(1, 1, True), (1, 2, False), (2, 1, False), (2, 2, True)])
@pytest.mark.parametrize("batch_first", [False, True])
def test_networks_over_padded_sequences(name: str, layers: int, ways: int, biases: bool, batch_first: bool) -> None:
    def call(t: Any, run: Any, x: Any, hx: Any, weights: Any) -> Any:  # noqa: ARG001
        x = x.transpose(0, 1) if batch_first else x
        return run(x, hx, weights, biases, layers, 0.0, True, ways == 2, batch_first)

    run_both(name, network(name, layers, ways, biases), call)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("layers", "ways"), [(1, 1), (2, 2)])
def test_networks_over_packed_sequences(name: str, layers: int, ways: int) -> None:
    def call(t: Any, run: Any, x: Any, hx: Any, weights: Any) -> Any:
        rows = t.cat([x[0], x[1], x[2][:2], x[3][:1], x[4][:1]])
        return run(rows, t.tensor([3, 3, 2, 1, 1]), hx, weights, True, layers, 0.0, False, ways == 2)

    run_both(name, network(name, layers, ways, True), call)


def test_networks_whose_states_are_projected() -> None:
    def call(t: Any, run: Any, x: Any, hx: Any, weights: Any) -> Any:  # noqa: ARG001
        return run(x, hx, weights, True, 2, 0.0, False, True, False)

    run_both("lstm", network("lstm", 2, 2, True, projected=2), call)


def test_networks_refuse_other_numbers_of_weights_and_states() -> None:
    for t in (sg, torch):
        x, h, c, *weights = (t.tensor(a) for a in network("lstm", 1, 1, True))
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            t.lstm(x, (h, c), weights[:2], True, 1, 0.0, True, False, False)
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            t.lstm(x, (h,), weights, True, 1, 0.0, True, False, False)
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            t.lstm(x, (h, c))


def test_weights_of_a_direction_and_a_length() -> None:
    """torch's second derivative of ``_weight_norm`` is not that of the function; the first one is."""
    rows = []
    for t in (sg, torch):
        v, g = t.tensor([[3.0, 4.0], [1.0, 2.0]], requires_grad=True), t.tensor([[2.0], [0.5]], requires_grad=True)
        w = t._weight_norm(v, g, 0)
        rows.append((w.grad_fn.name(), [x.detach().numpy() for x in (w, *t.autograd.grad((w**3).sum(), [v, g]))]))
    assert rows[0][0] == rows[1][0] == "WeightNormInterfaceBackward0"
    for ours, theirs in zip(rows[0][1], rows[1][1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert sg.autograd.gradgradcheck(sg._weight_norm, (v64(3.0, 4.0), v64(2.0)))


def v64(*entries: float) -> Any:
    return sg.tensor([list(entries)], dtype=sg.float64, requires_grad=True)

"""What changes on edges bring: by Jacobians from one forward run, and by sweeps, which are slower and know them all."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.check.graph import surgery
from symgrad.check.graph.replay import Replay
from symgrad.check.graph.slopes import slopes
from symgrad.check.graph.surgery import Surgeon

RNG = np.random.default_rng(5)
W, V, X = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 2)), RNG.normal(size=(4, 3))


def recurrent(w, v, x):
    h = x
    for _ in range(3):
        h = sg.tanh(h @ w) + 0.3 * h
    return ((sg.softmax(h @ v, dim=1) ** 2).sum(1) / (1 + (h**2).mean(1))).sum()


def masked(w, v, x):
    h = x @ w
    h = sg.where(h > 0, sg.sqrt(sg.maximum(h, sg.zeros(()))), 0.1 * h)
    return (sg.cumsum(h @ v, dim=0) ** 2).sum() + sg.logdet(w @ w.T + sg.eye(3, dtype=sg.float64))


@pytest.mark.parametrize("f", [recurrent, masked])
def test_jacobians_and_sweeps_bring_the_same(f):
    leaves = [sg.tensor(a, requires_grad=True) for a in (W, V, X)]
    output = f(*leaves)
    replay = Replay(output, {})
    assert replay.works
    fast = Surgeon(output, slopes=lambda leaf, still: slopes(replay, leaf, still))
    slow = Surgeon(output)
    edges = list(slow.edges())
    assert edges
    assert edges == list(fast.edges())
    for leaf in leaves:
        assert slopes(replay, leaf) is not None
        for node, i in edges:
            for change in (surgery.cut, lambda local: 3 * local.c):
                a, b = (surgeon.moved(leaf, node, i, change) for surgeon in (fast, slow))
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(a[0], b[0], rtol=1e-9, atol=1e-10)
        still = frozenset(edges[3:5])
        together = frozenset(edges[1::4])
        for surgeon in (fast, slow):
            surgeon.__dict__["idle"] = still  # as if all cancelled there
        a, b = (surgeon.changed(leaf, together, surgery.cut, still)[0] for surgeon in (fast, slow))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def test_changes_on_several_edges_meet_each_other():
    x = sg.tensor(np.array([0.3, -0.2]), requires_grad=True)
    y = sg.tanh(3 * sg.tanh(2 * x))
    output = y.sum()
    surgeon = Surgeon(output)
    inner = [(node, i) for node, i in surgeon.edges() if node.op.name == "tanh"]
    (moved,) = surgeon.changed(x, frozenset(inner), surgery.skip)
    (g,) = sg.autograd.grad(output, x, retain_graph=True)
    np.testing.assert_allclose(g.numpy() + moved, [6.0, 6.0], rtol=1e-12)


def test_a_mistake_in_a_long_loop_costs_little():
    def f(a, x):
        for _ in range(40):
            x = np.tanh(a * x) + 0.1 * x
        return (x**2).sum()

    def grad(a, x):
        xs = [x]
        for _ in range(40):
            xs.append(np.tanh(a * xs[-1]) + 0.1 * xs[-1])
        g, da = 2 * xs[-1], 0.0
        for x in xs[-2::-1]:
            slope = g * (1 - np.tanh(a * x) ** 2)
            da += (slope * x).sum()
            g = slope * a  # and 0.1 * g
        return da, g

    report = sg.check(f, grad, 0.7, np.array([0.4, -0.3]))
    assert "0.1 * x is missing, each time" in report.diagnosis.sentence, report


@pytest.mark.filterwarnings("error")
def test_a_real_value_receives_the_real_part_of_a_changed_cotangent():
    x = sg.tensor([1.0, 2.0], requires_grad=True)
    h = x**2
    surgeon = Surgeon((h * 3).sum())
    np.testing.assert_array_equal(surgeon.swept(h._node, np.array([1 + 5j, 2 - 1j]), x), [2.0, 8.0])

"""Fit a network to many examples with two processes: the same bits as with one, and the data lie in shared memory."""

import numpy as np

import symgrad as sg
import symgrad.nn.functional as F

CLASSES = 3


def loss(p, X, labels):
    hidden = sg.tanh(X @ p["W"] + p["b"])
    return F.cross_entropy(hidden @ p["V"], labels)


def fit(step, X, labels, rounds):
    rng = np.random.default_rng(1)
    p = {"W": rng.normal(size=(2, 16)), "b": rng.normal(size=16), "V": rng.normal(size=(16, CLASSES)) / 4}
    values = []
    for _ in range(rounds):
        value, slopes = step(p, X, labels)
        p = {name: p[name] - 2.0 * slopes[name].numpy() for name in p}
        values.append(value.item())
    return p, values


if __name__ == "__main__":  # workers may run this file again, and shall not begin workers themselves
    rng = np.random.default_rng(0)
    angle, arm = rng.uniform(0, 2, 6000), rng.integers(0, CLASSES, 6000)
    turn = 2 * np.pi * arm / CLASSES + angle
    X, labels = sg.parallel.share((np.stack([angle * np.cos(turn), angle * np.sin(turn)], 1), arm))

    with sg.parallel.value_and_grad(loss, workers=2) as step:
        p, values = fit(step, X, labels, 60)
    for k in range(0, 60, 15):
        print(f"round {k:3}: loss {values[k]:.4f}")
    print(f"round  59: loss {values[-1]:.4f}")
    right = (np.tanh(X @ p["W"] + p["b"]) @ p["V"]).argmax(1) == labels
    print(f"right: {right.mean():.1%} of the examples")

    again, _ = fit(sg.parallel.value_and_grad(loss, workers=1), X, labels, 60)
    print("the same bits in one process:", all(np.array_equal(p[name], again[name]) for name in p))

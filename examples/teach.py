"""Backpropagation shown on the blackboard: the graph, the local derivative at each node, and the chain rule at work."""

import numpy as np

import symgrad as sg

x = sg.tensor(np.array([0.5, -1.0]), name="x", requires_grad=True)
W = sg.tensor(np.array([[1.0, 2.0], [-1.0, 0.5]]), name="W", requires_grad=True)
b = sg.tensor(np.array([0.1, -0.2]), name="b", requires_grad=True)

z = W @ x + b
h = sg.tanh(z)
L = (h * h).sum()

print("forward: every value is a number and a formula")
for name, value in {"z": z, "h": h, "L": L}.items():
    print(f"  {name} = {value.expr}")
    print(f"    = {value.numpy(force=True).round(4)}")

print("\nthe graph that was recorded, from the result down; at each node its local derivative")
node, depth = L.grad_fn, 0
while node is not None and hasattr(node, "formula"):
    for name, formula in node.formula.items():
        print(f"  {'  ' * depth}{node.name():<20} gradient of {name}: {formula}")
    following = [n for n, _ in node.next_functions if n is not None]
    node, depth = (following[0] if following else None), depth + 1

print("\nbackward: one sweep, and each gradient knows its formula")
L.backward()
for name, leaf in {"x": x, "W": W, "b": b}.items():
    print(f"  dL/d{name} = {leaf.grad.expr}")
    print(f"        {leaf.grad.latex()}")
    print(f"        {leaf.grad.numpy().round(4).tolist()}")

print("\nwhat a student might hand in for dL/dW, and what the check says")


def f(W, x, b):
    return (sg.tanh(W @ x + b) ** 2).sum()


def homework(W, x, b):
    return np.outer(x, 2 * np.tanh(W @ x + b) * (1 - np.tanh(W @ x + b) ** 2))


print(sg.check(f, homework, W, x, b).diagnosis)

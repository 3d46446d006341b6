"""A torch loss, its gradient as LaTeX, and the same gradient as one file that needs nothing but NumPy.

A small network with its loss is read from torch once; what is shipped knows neither torch nor this library.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

import symgrad as sg

if importlib.util.find_spec("torch") is None:
    sys.exit("this example reads a program of torch: pip install torch")
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 4, bias=False), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()


def loss(x, y):
    return ((net(x) - y) ** 2).sum() / 2


names = {"net.0.weight": "W", "net.2.weight": "V", "net.2.bias": "c"}
f = sg.from_fx(loss, names=names)
print(f"read: {f.pure}\n")

shapes = [tuple(p.shape) for p in f.weights.values()]
for name in ("V", "c"):
    print(f"by {name}:", sg.latex(f.pure, *shapes, (5, 3), (5, 1), wrt=name))

rng = np.random.default_rng(0)
x, y = rng.normal(size=(5, 3)), rng.normal(size=(5, 1))
weights = [p.numpy(force=True) for p in f.weights.values()]
gradient = sg.compile(sg.func.grad(f.pure, (0, 1, 2)), *weights, x, y, name="gradient")
path = Path("gradient.py")
gradient.save(path)
done = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=True)
print(f"\nsaved {path}; {done.stdout.splitlines()[-1]}")

loss(torch.tensor(x), torch.tensor(y)).backward()
for got, parameter in zip(gradient(*weights, x, y), net.parameters(), strict=True):
    print(f"largest difference from torch: {np.abs(got - parameter.grad.numpy()).max():.0e}")

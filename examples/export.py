"""Ship a gradient as one file that needs nothing but NumPy: no symgrad, no SymPy, any size of data.

The Huber regression loss has two branches. Its gradient is derived once here, saved, and used by a bare interpreter.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import symgrad as sg

rng = np.random.default_rng(0)
X, y, w = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)


def huber(w, X, y):
    r = X @ w - y
    return sg.where(abs(r) < 1, r**2 / 2, abs(r) - 0.5).sum()


gradient = sg.compile(sg.func.grad(huber), w, X, y, name="huber_gradient")
print(gradient.source)

path = Path("huber_gradient.py")
gradient.save(path)
print(f"saved {path} ({len(path.read_text(encoding='utf-8').splitlines())} lines)\n")

# The file tests itself in an interpreter that sees neither this folder nor this library.
done = subprocess.run([sys.executable, "-I", str(path), "--selftest"], capture_output=True, text=True, check=True)
print("self-test:", done.stdout.strip() or "passed")

# The program is size-generic: derived with 6 rows of 3, used with 1,000 rows of 20.
X, y, w = rng.normal(size=(1000, 20)), rng.normal(size=1000), rng.normal(size=20)
g = gradient(w, X, y)
print("1,000 x 20:", g.shape, "norm", np.linalg.norm(g).round(3))
print("checked:", sg.check(huber, gradient, w, X, y).ok)

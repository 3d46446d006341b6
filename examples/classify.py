"""Ship the training step of a small text classifier: the words and labels of a batch are arguments of the file.

The gradient of embedding, linear map and cross entropy is derived once and saved.  A bare interpreter with NumPy alone
then trains on batches that the file has never seen, of any size.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import symgrad as sg
import symgrad.nn.functional as F

rng = np.random.default_rng(0)
E, W, b = rng.normal(size=(50, 8)) / 4, rng.normal(size=(3, 8)) / 4, np.zeros(3)
words, labels = rng.integers(0, 50, (6, 4)), rng.integers(0, 3, 6)


def loss(E, W, b, words, labels):
    text = F.embedding(words, E).mean(1)
    return F.cross_entropy(F.linear(text, W, b), labels)


step = sg.compile(sg.func.value_and_grad(loss, argnums=(0, 1, 2)), E, W, b, words, labels, name="step")
print("arguments:", *step.program.arguments, sep="\n    ")
step.save("step.py")

# Where the file is used there is NumPy and nothing else; words and labels of every batch are new.
Path("training.py").write_text("""
import numpy as np
from step import step

rng = np.random.default_rng(1)
E, W, b = rng.normal(size=(50, 8)) / 4, rng.normal(size=(3, 8)) / 4, np.zeros(3)
kind = rng.integers(0, 3, 50)  # of every word; the label of a text is the kind of its first one
for k in range(401):
    words = rng.integers(0, 50, (32, 3))
    loss, *gradients = step(E, W, b, words, kind[words[:, 0]])
    for x, g in zip((E, W, b), gradients):
        x -= 0.5 * g
    if k % 100 == 0:
        print(f"batch {k}: loss {loss:.3f}")
try:
    step(E, W, b, np.full((32, 3), 50), kind[:32])
except ValueError as error:
    print("a word that is none:", error)
""")
code = "import sys; sys.path.insert(0, '.'); import training; assert 'symgrad' not in sys.modules"
done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
print(done.stdout)

"""Formulas of gradients in matrix notation, from ordinary code: for a paper, a lecture, or a notebook.

In Jupyter a tensor or a gradient shows its formula by itself.
"""

import numpy as np

import symgrad as sg

rng = np.random.default_rng(0)
A = rng.normal(size=(4, 4))
S = A @ A.T + np.eye(4)
X = rng.normal(size=(6, 4))
y, w, x = rng.normal(size=6), rng.normal(size=4), rng.normal(size=4)

PROBLEMS = {
    "least squares": (lambda w, X, y: ((X @ w - y) ** 2).sum(), (w, X, y), "w"),
    "ridge regression": (lambda w, X, y, lam: ((X @ w - y) ** 2).sum() + lam * (w @ w), (w, X, y, 0.1), "w"),
    "logistic regression": (lambda w, X, y: (sg.logaddexp(0, X @ w) - y * (X @ w)).sum(), (w, X, y), "w"),
    "quadratic form": (lambda x, A: x @ A @ x, (x, A), "x"),
    "Gaussian likelihood": (
        lambda x, S: 0.5 * (x @ sg.linalg.solve(S, x)) + 0.5 * sg.linalg.slogdet(S)[1],
        (x, S),
        "S",
    ),
    "log-determinant": (lambda A: sg.linalg.slogdet(A)[1], (A,), "A"),
    "one layer": (lambda A, x: (sg.tanh(A @ x) ** 2).sum(), (A, x), "A"),
}

for title, (f, arguments, variable) in PROBLEMS.items():
    print(f"{title}")
    print(f"  f          {sg.latex(f, *arguments)}")
    print(f"  df/d{variable:<6} {sg.latex(f, *arguments, wrt=variable)}")
    print()

# The same from the imperative side: after backward() every gradient knows its formula, number and SymPy expression.
t_w = sg.tensor(w, name="w", requires_grad=True)
loss = ((sg.tensor(X, name="X") @ t_w - sg.tensor(y, name="y")) ** 2).mean()
loss.backward()
print("after backward()")
print(f"  number     {t_w.grad.numpy().round(4)}")
print(f"  SymPy      {t_w.grad.expr}")
print(f"  LaTeX      {t_w.grad.latex()}")
print(f"  Unicode    {sg.formula(t_w.grad).unicode()}")
print(f"  Typst      {sg.formula(t_w.grad).typst()}")
print(f"  an entry   {t_w.grad.expr['i']}")

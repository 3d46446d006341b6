"""``python -m symgrad demo``: the main job, from data to a shipped and checked gradient, in a few seconds.

A regularised logistic regression of O-ring damage on temperature, on the launches before the Challenger accident.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.data import challenger
from symgrad.tensor.creation import tensor

WIDTH = 80


def loss(w: Any, X: Any, y: Any, lam: Any) -> Any:
    """Negative log-likelihood of logistic regression plus λ/2 ‖w‖²."""
    z = X @ w
    return (sg.logaddexp(0, z) - y * z).sum() + lam / 2 * (w @ w)


def careless_gradient(w: Any, X: Any, y: Any, lam: Any) -> Any:  # noqa: ARG001
    """The gradient as somebody wrote it by hand: the penalty is forgotten, and with it ``lam``."""
    return X.T @ (1 / (1 + np.exp(-(X @ w))) - y)


def run() -> int:
    """Print the demonstration; 0 if everything it claims came out true."""
    temperature, damage = challenger()
    X = np.stack([np.ones_like(temperature), (temperature - 70) / 10], axis=1)
    args = (np.zeros(2), X, damage, 0.1)
    _the_data(temperature, damage)
    _numbers_and_formulas(args)
    programs = _programs(args)
    w = _newton(programs, args)
    _prediction(w)
    return _ship(programs["gradient"]) | _check(args)


def _title(number: int, text: str) -> None:
    print(f"\n{number}. {text}\n{'-' * (len(text) + 3)}")


def _say(text: str) -> None:
    print(textwrap.fill(" ".join(text.split()), WIDTH))


def _show(label: str, text: str) -> None:
    print(
        textwrap.fill(text, WIDTH, initial_indent=f"  {label:<9} ", subsequent_indent=" " * 12, break_on_hyphens=False)
    )


def _the_data(temperature: Any, damage: Any) -> None:
    _title(1, "The data")
    _say(
        """23 Space Shuttle launches, 1981 to 1986: the temperature at launch and whether an O-ring was damaged. On 28
        January 1986 Challenger was launched at 31 degrees Fahrenheit; the O-rings failed. (Report of the Presidential
        Commission, 1986.)"""
    )
    for value, word in ((1, "damage"), (0, "none")):
        _show(word, " ".join(f"{t:.0f}" for t in np.sort(temperature[damage == value])))


def _numbers_and_formulas(args: tuple[Any, ...]) -> None:
    _title(2, "One run of ordinary code: the number and the formula")
    _say("Logistic regression with a penalty. X has a column of ones and one of (temperature - 70)/10.")
    print("\n    z = X @ w\n    L = (logaddexp(0, z) - y * z).sum() + lam / 2 * (w @ w)\n    L.backward()\n")
    w, X, y, lam = (tensor(a, name=n) for a, n in zip(args, ("w", "X", "y", "lam"), strict=True))
    L = loss(w.requires_grad_(), X, y, lam)
    L.backward()
    _show("L", f"{L.item():.6f}")
    _show("", str(L.expr))
    _show("w.grad", str(w.grad.numpy()))
    _show("", str(w.grad.expr))
    _show("LaTeX", w.grad.latex())


def _programs(args: tuple[Any, ...]) -> dict[str, Any]:
    _title(3, "First and second derivatives, compiled to NumPy")
    programs = {
        "value": sg.compile(loss, *args),
        "gradient": sg.compile(sg.func.grad(loss), *args, name="gradient"),
        "hessian": sg.compile(sg.func.hessian(loss), *args, name="hessian"),
    }
    _show("Hessian", str(programs["hessian"](*args)).replace("\n", ""))
    _show("LaTeX", programs["hessian"].formula)
    print()
    function = programs["hessian"].source.split("\n\n\n")[-1]  # what stands before it are its helpers
    print(textwrap.indent(function.strip(), "    "))
    return programs


def _newton(programs: dict[str, Any], args: tuple[Any, ...]) -> Any:
    _title(4, "Newton's method with them")
    w, *data = args
    print("  step          L           |gradient|    w")
    for step in range(8):
        g = programs["gradient"](w, *data)
        size = float(np.linalg.norm(g))
        print(f"  {step:>4}   {programs['value'](w, *data):.10f}   {size:10.2e}    [{w[0]:+.6f}, {w[1]:+.6f}]")
        if size < 1e-12:
            break
        w = w - np.linalg.solve(programs["hessian"](w, *data), g)
    return w


def _prediction(w: Any) -> None:
    print()
    for degrees in (31, 53, 70):
        chance = 1 / (1 + np.exp(-(w[0] + w[1] * (degrees - 70) / 10)))
        print(f"  chance of damage at {degrees} F: {100 * chance:5.1f} %")


def _ship(gradient: Any) -> int:
    _title(5, "Shipping the gradient: one file that needs NumPy only")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gradient.py"
        gradient.save(path)
        print(f"  saved       {path.name}, {len(path.read_text(encoding='utf-8').splitlines())} lines")
        done = subprocess.run(
            [sys.executable, "-I", str(path), "--selftest"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    print(f"  self-test   python -I {path.name} --selftest: exit code {done.returncode}")
    for line in (done.stdout + done.stderr).strip().splitlines():
        print(f"              {line}")
    return done.returncode


def _check(args: tuple[Any, ...]) -> int:
    _title(6, "Checking a gradient written by hand")
    print("    def careless_gradient(w, X, y, lam):")
    print("        return X.T @ (1 / (1 + np.exp(-(X @ w))) - y)\n")
    report = sg.check(loss, careless_gradient, np.array([-1.0, -2.0]), *args[1:])
    print(report)
    return int(report.ok)

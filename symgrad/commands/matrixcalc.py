"""The command ``python -m symgrad matrixcalc``: derivatives of textbooks in closed form, read back and proved."""

from __future__ import annotations

import argparse
import json
from typing import Any, NamedTuple

from symgrad.errors import ArgumentError, SymgradError

COOKBOOK: tuple[tuple[str, str], ...] = (
    ("a@x", "x"), ("x@x", "x"), ("x@A@x", "x"), ("x@A@y", "A"), ("norm(A@x-b)**2", "x"), ("norm(A@x-b)", "x"),
    ("(A@x-b)@W@(A@x-b)", "x"), ("a@X@b", "X"), ("a@X.T@b", "X"), ("a@X@X.T@b", "X"), ("a@X.T@X@b", "X"),
    ("(X@b+c)@D@(X@b+c)", "X"), ("tr(X)", "X"), ("tr(A@X)", "X"), ("tr(A@X.T)", "X"), ("tr(A@X@B)", "X"),
    ("tr(A@X.T@B)", "X"), ("tr(X@X)", "X"), ("tr(X.T@X)", "X"), ("tr(X.T@B@X)", "X"), ("tr(X@B@X.T)", "X"),
    ("tr(A@X@B@X)", "X"), ("tr(A@X@B@X.T@C)", "X"), ("tr(X@X@X)", "X"), ("tr(inv(X))", "X"), ("tr(A@inv(X)@B)", "X"),
    ("a@inv(X)@b", "X"), ("tr(inv(X+A))", "X"), ("det(X)", "X"), ("det(X)**2", "X"), ("det(inv(X))", "X"),
    ("log(det(X))", "X"), ("log(det(X.T@X))", "X"), ("det(A@X@B)", "X"), ("det(X.T@A@X)", "X"), ("exp(tr(X))", "X"),
    ("sin(tr(X))", "X"), ("tr(X)**2", "X"), ("norm(X)**2", "X"), ("norm(A@X-B)**2", "X"), ("tr(X*A)", "X"),
    ("sum(X*Y)", "X"), ("sum(exp(A@x))", "x"), ("sum(log(1+exp(-y*(X@w))))", "w"), ("log(sum(exp(x)))", "x"),
    ("sum(tanh(W@x+b))", "W"), ("sum(sin(x)*y)", "x"), ("sum((X@w-y)**2)+r*(w@w)", "w"), ("norm(T-U@V.T)**2", "U"),
    ("a@diag(x)@b", "x"), ("tr((I-X)@(I-X))", "X"), ("x@A@x/(x@x)", "x"), ("log(det(S))+y@inv(S)@y", "S"),
)  # fmt: skip
"""Functions and variables: of "The Matrix Cookbook" (Petersen and Pedersen, 2012), sections 2.1 to 2.8, and losses."""
SUITES = {"cookbook": COOKBOOK}


class Row(NamedTuple):
    """A function, its variable, the derivative as text, and what was found out about it."""

    function: str
    wrt: str
    derivative: str
    closed: bool
    proof: str

    @property
    def ok(self) -> bool:
        """Whether there is a closed form that was read back and is right."""
        return self.closed and self.proof in ("structural", "numerical")


def add_matrixcalc(commands: Any) -> None:
    """Add the parser of the command."""
    parser = commands.add_parser(
        "matrixcalc",
        help="derivatives of textbooks in matrix notation, each read back from its text and proved",
        description="Derive the functions of a suite, print the derivatives in matrix notation, read every printed "
        "text again, and compare it with the exact derivative: as formulas, and at random arrays of several sizes. "
        "Exit code 0 if all are closed and equal, 1 if not.",
        epilog="example: python -m symgrad matrixcalc --suite cookbook --sizes 3",
    )
    parser.add_argument("--suite", choices=SUITES, default="cookbook", help="which functions (default: cookbook)")
    parser.add_argument("--sizes", type=int, default=3, metavar="N", help="sizes to compare at (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.sizes < 1:
        raise ArgumentError(f"--sizes {options.sizes}: derivatives are compared at one size at least.")
    rows = [examined(text, wrt, options.sizes) for text, wrt in SUITES[options.suite]]
    good = sum(row.ok for row in rows)
    if options.json:
        print(
            json.dumps({"ok": good == len(rows), "rows": [{**row._asdict(), "ok": row.ok} for row in rows]}, indent=2)
        )
        return 0 if good == len(rows) else 1
    width = max(len(row.function) for row in rows)
    for row in rows:
        print(f"{row.function:<{width}}  by {row.wrt}:  {row.derivative}{'' if row.ok else f'   <- {row.proof}'}")
    print(f"closed: {sum(r.closed for r in rows)} of {len(rows)}, proved: {good} of {len(rows)}.")
    return 0 if good == len(rows) else 1


def examined(text: str, wrt: str, sizes: int = 3) -> Row:
    """The derivative of a text, read back from what is printed and compared with the exact one."""
    from symgrad.judging import judge
    from symgrad.notation import formula

    try:
        found = formula(text, wrt=wrt)
        shown = str(found)
        verdict = judge(shown, of=text, wrt=wrt)
        proof = verdict.proof if verdict.verdict == "EQUAL" else verdict.verdict
        if verdict.verdict == "EQUAL" and not all(_slope_agrees(text, wrt, k) for k in range(sizes)):
            proof = "another slope"
    except SymgradError as error:
        return Row(text, wrt, "", False, str(error).partition("\n")[0])
    return Row(text, wrt, shown, "einsum(" not in shown, proof)


def _slope_agrees(text: str, wrt: str, k: int) -> bool:
    """Whether the derivative is the slope of the value along a random direction, at arrays of other sizes."""
    import numpy as np

    from symgrad.notation import formula

    derivative = formula(text, wrt=wrt)
    shapes = {t.params["name"]: t.shape for t in derivative.symbols}
    value = formula(text, shapes=shapes)
    rng = np.random.default_rng(k)
    letters = list(dict.fromkeys(s for shape in shapes.values() for s in shape if isinstance(s, str)))
    # Rows before columns: more of them, so that XᵀX has an inverse.
    sizes = {letter: k + max(2, 5 - place) for place, letter in enumerate(letters)}
    arrays = {name: _array(rng, tuple(sizes.get(s, s) for s in shape)) for name, shape in shapes.items()}
    way, step = rng.normal(size=arrays[wrt].shape), 2.0**-12

    def at(steps: int) -> float:
        return float(value.evaluate(**{**arrays, wrt: arrays[wrt] + steps * step * way}))

    want = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)
    got = float(np.sum(way * derivative.evaluate(**arrays)))
    return abs(got - want) <= 1e-6 * max(1.0, abs(want), abs(at(0)))


def _array(rng: Any, shape: tuple[int, ...]) -> Any:
    """Numbers around 1; square matrices are positive definite, so that logarithms of determinants exist."""
    import numpy as np

    drawn = rng.uniform(0.3, 1.2, shape)
    return drawn @ drawn.T + np.eye(shape[0]) if len(shape) == 2 and shape[0] == shape[1] else drawn

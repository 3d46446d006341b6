"""Identities of matrix calculus, statistics and physics: derivatives have the textbook's value, and print as in one.

``formulas/*_identities.jsonl`` have one identity a line: the program ``f``, the closed form ``expected`` (both as
functions of a namespace ``t`` like torch's), and the LaTeX that is printed.  Its sources are K. B. Petersen and M. S.
Pedersen, "The Matrix Cookbook" (2012), T. P. Minka, "Old and New Matrix Algebra Useful for Statistics" (2000), M. B.
Giles, "Collected Matrix Derivative Results" (2008), and J. R. Magnus and H. Neudecker, "Matrix Differential Calculus".
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad as sg
from tests.formulas.roundtrip import problems_of_a_tensor

DATA = Path(__file__).parent
FILES = [DATA / f"{name}_identities.jsonl" for name in ("matrix", "statistics")]
ENTRIES = [json.loads(line) for file in FILES for line in file.read_text(encoding="utf-8").splitlines()]


def _square(make: Callable[[int], Any], shape: tuple[int, ...]) -> Any:
    return np.stack([make(shape[-1]) for _ in range(int(np.prod(shape[:-2])))]).reshape(shape)


def value(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    """A random array of a kind: normal, positive definite, with entries between two bounds …"""
    normal = rng.standard_normal
    n = shape[-1] if shape else 1
    if kind.startswith("u:"):
        return rng.uniform(*map(float, kind[2:].split(",")), shape)
    if kind == "inv":
        return 1.5 * np.eye(n) + 0.25 * normal(shape)
    if kind == "spd":
        return _square(lambda k: (b := normal((k, k))) @ b.T / k + np.eye(k), shape)
    if kind == "lap":
        weights = np.abs(normal(shape))
        return np.diag((weights + weights.T).sum(1)) - weights - weights.T
    if kind == "cherm":
        b = normal(shape) + 1j * normal(shape)
        return b @ b.conj().T / n + np.eye(n)
    if kind == "basis_toeplitz":
        return np.stack([np.eye(n, k=j - n + 1) for j in range(shape[0])])
    if kind == "onehot":
        return np.eye(n)[rng.integers(0, n, shape[0])]
    made = {
        "n": lambda: normal(shape),
        "unit": lambda: rng.uniform(0.1, 0.9, shape),
        "01": lambda: rng.integers(0, 2, shape).astype(float),
        "count": lambda: rng.integers(0, 5, shape).astype(float),
        "small": lambda: 0.3 * normal(shape),
        "pos": lambda: rng.uniform(0.5, 2, shape),
        "away0": lambda: rng.uniform(0.25, 1.5, shape) * rng.choice([-1.0, 1.0], shape),
        "pm1": lambda: rng.choice([-1.0, 1.0], shape),
        "prob": lambda: (v := rng.uniform(0.2, 1, shape)) / v.sum(-1, keepdims=True),
        "sym": lambda: (b := normal(shape)) + b.T,
        "c": lambda: normal(shape) + 1j * normal(shape),
        "cinv": lambda: 1.5 * np.eye(n) + 0.25 * (normal(shape) + 1j * normal(shape)),
    }
    return made[kind]()


def sample(entry: dict[str, Any], which: int) -> dict[str, Any]:
    """Values of all symbols; ``which`` of two sets of sizes."""
    rng = np.random.default_rng(zlib.crc32(f"{entry['id']} {which}".encode()))
    sizes = {letter: pair[which] for letter, pair in entry["dims"].items()}
    found = {}
    for var in entry["vars"]:
        shape = tuple(s if isinstance(s, int) else eval(s, {}, sizes) for s in var["shape"])
        found[var["name"]] = np.asarray(value(var["gen"], shape, rng))
    return found


def function(source: str, name: str) -> Any:
    """A function of an entry."""
    space: dict[str, Any] = {}
    exec(source, space)
    return space[name]


def derivative(entry: dict[str, Any], values: dict[str, Any], assume: bool = False) -> Any:
    """The derivative that an entry asks for, as a tensor with a formula."""
    structures = entry["assume"] if assume else {}
    leaves = {
        name: sg.tensor(v, requires_grad=True, name=name, structure=structures.get(name)) for name, v in values.items()
    }
    seed = leaves.pop(entry["cotangent"]) if entry["cotangent"] else None
    y = function(entry["f"], "f")(sg, **leaves)
    wrt = [leaves[name] for name in entry["wrt"]]

    def grad(out: Any, x: Any, *seeds: Any) -> Any:
        return sg.autograd.grad(out, [x], *seeds, create_graph=True)[0]

    kind = entry["kind"]
    if kind == "deriv":
        for _ in range(entry["order"]):
            y = grad(y, wrt[0])
        return y
    if kind == "hvp":
        return grad((grad(y, wrt[0]) * seed).sum(), wrt[0])
    if kind in ("hess", "mixed"):
        return sg.autograd.jacobian(grad(y, wrt[0]), wrt[-1])
    if kind == "jac":
        return sg.autograd.jacobian(y, wrt[0])
    return grad(y, wrt[0]) if seed is None else grad(y, wrt[0], [seed])


@pytest.fixture(autouse=True)
def _doubles() -> Iterator[None]:
    before = sg.get_default_dtype()
    sg.set_default_dtype(sg.float64)
    yield
    sg.set_default_dtype(before)


@pytest.mark.parametrize("entry", ENTRIES, ids=[e["id"] for e in ENTRIES])
def test_identity(entry: dict[str, Any]) -> None:
    for which in (0, 1):
        values = sample(entry, which)
        found = derivative(entry, values)
        want = function(entry["expected"], "g")(sg, **{k: sg.tensor(v) for k, v in values.items()})
        np.testing.assert_allclose(found.numpy(force=True), np.asarray(want), rtol=1e-8, atol=1e-10)
        assert not problems_of_a_tensor(found, values)
        if which == 0:
            assert found.latex() == entry["latex"]


ASSUMING = [e for e in ENTRIES if e["assume"]]


@pytest.mark.parametrize("entry", ASSUMING, ids=[e["id"] for e in ASSUMING])
def test_identity_of_declared_structures(entry: dict[str, Any]) -> None:
    values = sample(entry, 0)
    found = derivative(entry, values, assume=True)
    plain = derivative(entry, values)
    np.testing.assert_allclose(found.numpy(force=True), plain.numpy(force=True), rtol=1e-8, atol=1e-10)
    assert found.latex() == entry["latex_assume"]

r"""Greek letters of a text that stand for symbols of the code: ``\Sigma`` for ``S``, ``\theta`` for ``th``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.formula.printing.names import GREEK, name_latex

_NAMES = {
    "alpha": "a", "beta": "b", "gamma": "g c", "Gamma": "G", "delta": "d", "Delta": "D", "epsilon": "eps e",
    "zeta": "z", "eta": "e h lr", "theta": "th t w", "Theta": "Th T W", "kappa": "k", "lambda": "lam l c",
    "Lambda": "L Lam P", "mu": "m u", "nu": "n v df", "xi": "x", "Xi": "X", "pi": "p", "rho": "r",
    "sigma": "s sd std sig", "Sigma": "S C Cov", "tau": "t", "upsilon": "u", "phi": "ph p f", "Phi": "P F", "chi": "c",
    "psi": "ps p", "Psi": "P", "omega": "w om", "Omega": "W O Om", "ell": "l",
}  # fmt: skip
"""What people call a Greek letter in code, the likeliest first."""
_CALLED = ("sigma", "psi", "phi", "Phi", "Gamma", "zeta", "Theta")
"""Greek letters that are functions before a bracket."""


def stand_ins(tokens: Sequence[str], table: Mapping[str, Any]) -> dict[str, str]:
    r"""The symbol that each Greek letter of a text stands for which is none itself, where that can be told.

    >>> stand_ins([r"\Sigma", "x"], {"S": None, "x": None})
    {'\\Sigma': 'S'}
    """
    known = {name_latex(name): name for name in table}
    out: dict[str, str] = {}
    for k, token in enumerate(tokens):
        plain = "\\" + token[1:].removeprefix("var")
        following = tokens[k + 1] if k + 1 < len(tokens) else ""
        if token[:1] != "\\" or token in known or token in out or (following in ("(", "'") and plain[1:] in _CALLED):
            continue
        if plain[1:] not in GREEK and token != r"\ell":
            continue
        names = [known[plain]] if plain in known else _NAMES.get(plain[1:], "").split()
        free = [n for n in names if n in table and n not in tokens and n not in out.values()]
        if free:
            out[token] = free[0]
    return out

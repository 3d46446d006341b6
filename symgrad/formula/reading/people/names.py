r"""Greek letters of a text that stand for symbols of the code: ``\Sigma`` for ``S``, ``\theta`` for ``th``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from symgrad.formula.printing.names import GREEK, name_latex, spellings

_NAMES = {
    "alpha": "a", "beta": "b", "gamma": "g c", "Gamma": "G", "delta": "d", "Delta": "D", "epsilon": "eps e",
    "zeta": "z", "eta": "e h lr", "theta": "th t w", "Theta": "Th T W", "kappa": "k", "lambda": "lam l c",
    "Lambda": "L Lam P", "mu": "m u", "nu": "n v df", "xi": "x", "Xi": "X", "pi": "p", "rho": "r",
    "sigma": "s sd std sig", "Sigma": "S C Cov", "tau": "t", "upsilon": "u", "phi": "ph p f", "Phi": "P F", "chi": "c",
    "psi": "ps p", "Psi": "P", "omega": "w om", "Omega": "W O Om", "ell": "l",
}  # fmt: skip
"""What people call a Greek letter in code, the likeliest first."""
CALLED = ("sigma", "psi", "phi", "Phi", "Gamma", "zeta", "Theta")
"""Greek letters that are functions before a bracket."""
_WORD = re.compile(r"\\mathrm\{(\w+)\}")


def stand_ins(tokens: Sequence[str], table: Mapping[str, Any]) -> dict[str, str]:
    r"""The symbol that each Greek letter of a text stands for which is none itself, where that can be told.

    A letter with an index may be the name of a symbol, too: ``\Sigma_0`` for ``S0``, ``z_R`` for ``zr``.

    >>> stand_ins([r"\Sigma", "x"], {"S": None, "x": None})
    {'\\Sigma': 'S'}
    """
    known = {name_latex(name): name for name in table}
    out: dict[str, str] = {}
    for k, token in enumerate(tokens):
        below = _below(tokens, k)
        text = f"{token}_{{{below}}}" if below else token
        following = tokens[k + 1] if k + 1 < len(tokens) else ""
        called = following in ("(", "'") and token.removeprefix("\\").removeprefix("var") in CALLED
        if text in known or text in out or called:
            continue
        names = _names(token, known)
        if below:
            names = [f"{n}{bar}{sub}" for n in (*names, token) for bar in ("", "_") for sub in (below, below.lower())]
        free = [n for n in names if n in table and n not in tokens and n not in out.values()]
        if free:
            out[text] = free[0]
    return out


def plain_subscripts(name: str, text: str, table: Mapping[str, Any]) -> Iterator[str]:
    r"""The LaTeX ``text`` of a name with the words of its subscript in plain letters; nothing where these are indices.

    Indices they are where all letters are from i to n, and the stem is a symbol, too, with as many axes.  A word behind
    a letter that is no symbol may be its subscript.

    >>> list(plain_subscripts("x_eq", r"x_{\mathrm{eq}}", {"x_eq": None}))
    ['x_{eq}']
    >>> list(plain_subscripts("Vmax", r"\mathrm{Vmax}", {"Vmax": None}))
    ['V_{\\mathrm{max}}', 'V_{\\text{max}}', 'V_{max}']
    """
    if len(name) > 2 and name.isascii() and name.isalpha() and name[0] not in table:
        name = f"{name[0]}_{name[1:]}"
        text = name_latex(name)
        yield from spellings(text)
    stem, _, below = text.partition("_{")
    plain = _WORD.sub(r"\1", below)
    array, letters = table.get(name.partition("_")[0]), [c for c in plain if c.isalnum()]
    indices = getattr(array, "ndim", 0) == len(letters) and all("i" <= c <= "n" for c in letters)
    if plain != below and not indices:
        yield f"{stem}_{{{plain}"


def _below(tokens: Sequence[str], k: int) -> str:
    """The digit or letter below a token; empty without one."""
    after = tokens[k + 1 : k + 5]
    return after[2] if len(after) == 4 and after[:2] == ["_", "{"] and after[3] == "}" and after[2].isalnum() else ""


def _names(token: str, known: Mapping[str, str]) -> list[str]:
    """The names that a Greek letter may have in code, the likeliest first; none for what is no Greek letter."""
    plain = token[1:].removeprefix("var")
    if token[:1] != "\\" or plain not in GREEK:
        return []
    if token in known:
        return [known[token]]
    return [known["\\" + plain]] if "\\" + plain in known else _NAMES.get(plain, "").split()

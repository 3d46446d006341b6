"""Names in LaTeX: Greek letters, indices, hats; no two symbols of a formula look alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

FUNCTIONS = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "log", "exp", "det", "max", "min", "arcsin", "arccos", "arctan",
)  # fmt: skip
"""Functions that LaTeX has commands for, and texts an upright word."""
GREEK = frozenset([
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "pi", "varpi", "rho", "varrho", "sigma", "varsigma", "tau", "upsilon", "phi",
    "varphi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi",
    "Psi", "Omega", "ell", "hbar",
])  # fmt: skip
"""Names of letters that LaTeX has commands for: the Greek ones, the ℓ of length scales and Planck's ħ."""

_ALIASES = {"lam": "lambda", "lamda": "lambda", "lmbda": "lambda", "eps": "epsilon"}
_ACCENTS = {"hat": "hat", "bar": "bar", "tilde": "tilde", "dot": "dot", "vec": "vec"}
_INDEXED = re.compile("[A-Z](?:[a-z]|[x-z]{2})")
_OPERATORS = frozenset({"Re", "Im", "Tr", "Id"})
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_UNICODE = dict(zip(_GREEK_LETTERS, _GREEK_NAMES.split(), strict=True))
GREEK_LETTERS = {
    **{name: letter for letter, name in _UNICODE.items()},
    "Upsilon": "ϒ", "varepsilon": "ϵ", "vartheta": "ϑ", "varpi": "ϖ", "varrho": "ϱ", "varsigma": "ς", "varphi": "ϕ",
    "ell": "ℓ", "hbar": "ħ",
}  # fmt: skip
"""The letter of each name."""


def _stem(text: str) -> str:
    text = _UNICODE.get(text, text)
    text = _ALIASES.get(text, text)
    if text in GREEK:
        return rf"\{text}"
    if len(text) == 1 and text.isascii():
        return text
    return rf"\mathrm{{{text}}}" if text.isascii() else rf"\text{{{text}}}"


def name_latex(name: str) -> str:
    r"""A symbol's name in LaTeX.

    >>> name_latex("beta_1"), name_latex("W2"), name_latex("x_hat"), name_latex("lambda_"), name_latex("loss")
    ('\\beta_{1}', 'W_{2}', '\\hat{x}', '\\lambda', '\\mathrm{loss}')

    A capital letter and a small one are a letter with its index, and so are xx, xy, … behind a capital letter:

    >>> name_latex("Wz"), name_latex("Sxy"), name_latex("Xi"), name_latex("Pos")
    ('W_{z}', 'S_{xy}', '\\Xi', '\\mathrm{Pos}')
    """
    stem, *subs = [part for part in name.split("_") if part] or [""]
    if not stem or stem.isdigit():  # which would be a number
        return rf"\mathrm{{{escaped(name)}}}"
    found = re.fullmatch(r"(.*?[^\d])(\d+)", stem)
    if found:
        stem, subs = found[1], [found[2], *subs]
    if _INDEXED.fullmatch(stem) and stem not in GREEK and stem not in _OPERATORS:
        stem, subs = stem[0], [stem[1:], *subs]
    accent = next((s for s in subs if s in _ACCENTS), None)
    text = _stem(stem)
    if accent:
        subs.remove(accent)
        text = rf"\{_ACCENTS[accent]}{{{text}}}"
    return text + (rf"_{{{','.join(map(_subscript, subs))}}}" if subs else "")


def escaped(name: str) -> str:
    """A name as LaTeX writes it letter by letter."""
    return name.replace("_", r"\_")


def _subscript(text: str) -> str:
    return text if text.isdigit() or re.fullmatch("[x-z]{2}", text) else _stem(text)


def texts(names: Iterable[str]) -> dict[str, str]:
    """The text of each name; where two would look alike, the later one in alphabetical order is spelled out."""
    out: dict[str, str] = {}
    used: set[str] = set()
    for name in sorted(set(names)):
        text = name_latex(name)
        if text in used:
            text = rf"\mathrm{{{escaped(name)}}}"
        used.add(text)
        out[name] = text
    return out


def spellings(text: str) -> list[str]:
    r"""The text of a name, and what people type for it: words in ``\text`` as well as in ``\mathrm``.

    >>> spellings(r"y_{\mathrm{true}}")
    ['y_{\\mathrm{true}}', 'y_{\\text{true}}']
    """
    stem, low, index = text.partition("_{")
    stems, indices = ([part, part.replace(r"\mathrm{", r"\text{")] for part in (stem, index))
    return list(dict.fromkeys(first + low + second for first in stems for second in indices))


def bolded(text: str) -> str:
    """The letter of a name in bold, for arrays."""
    stem = re.split("[_^]", text, maxsplit=1)[0]
    return (rf"\boldsymbol{{{stem}}}" if stem.startswith("\\") else rf"\mathbf{{{stem}}}") + text[len(stem) :]


FOURIER: dict[tuple[bool, str], tuple[str, str]] = {
    (False, "backward"): ("F", ""),
    (True, "backward"): ("F", "^{-1}"),
    (True, "forward"): ("F", "^{*}"),
    (False, "forward"): ("F", "^{-*}"),
    (False, "ortho"): ("U", ""),
    (True, "ortho"): ("U", "^{*}"),
}
"""The letters and marks of Fourier's transform: its inverse, its adjoint (the inverse times the size), the inverse of
that; and the unitary one, of which the adjoint is the inverse."""
SCRIPT = {"F": "𝓕", "U": "𝓤"}
"""These letters in Unicode."""

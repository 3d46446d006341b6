"""What is asked of formulas: to show them, to derive them in steps, their entries, and SymPy's spelling of them."""

from symgrad.notation.showing import Formula, digest, formula, latex, where_list

__all__ = ["Formula", "digest", "formula", "latex", "where_list"]

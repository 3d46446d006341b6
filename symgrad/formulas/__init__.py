"""What is asked of formulas: to show them, to derive them in steps, their entries, and SymPy's spelling of them."""

from symgrad.formulas.showing import Formula, formula, latex, where_list

__all__ = ["Formula", "formula", "latex", "where_list"]

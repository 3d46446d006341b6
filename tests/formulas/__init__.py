"""Formulas of values and gradients: textbook forms, forms of programs, and random expressions with what they keep."""

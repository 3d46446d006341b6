"""Formulas as text: one printer for LaTeX, Unicode, Typst, MathML and Markdown; where-lists; the Kronecker form."""

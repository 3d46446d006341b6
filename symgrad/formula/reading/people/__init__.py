"""Formulas as people type them: LaTeX of papers, NumPy's notation, matrices on paper; indices, sums, headers."""

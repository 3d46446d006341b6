"""Algebra of entries: numbers, powers, fractions, functions that meet, complex numbers."""

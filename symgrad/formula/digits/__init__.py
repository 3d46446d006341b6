"""Formulas at any number of digits: the op table once more, in mpmath's numbers."""

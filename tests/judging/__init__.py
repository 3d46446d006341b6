"""Textbook formulas, right and wrong."""

"""Mistakes in formulas: the changes that people make, the search for the one that was made, and the words for it."""

"""Judged formulas: textbook ones, right and wrong, and those that people write."""

"""Sums: term by term, with common factors in front, shorter as one power, and as they stand in products."""

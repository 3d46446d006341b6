"""Readers: the texts that this library prints, and formulas as people type them."""

"""Canonical forms: a formula as a sum of einsum products, rewritten, and written in matrix notation."""

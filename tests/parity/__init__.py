"""Comparisons with peers, skipped where they are not installed."""

"""Printers of programs: one file per language."""

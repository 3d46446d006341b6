"""Piecewise formulas: branches, conditions about one number line, factors that are 0 anyway."""

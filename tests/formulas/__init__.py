"""Generated formulas: random expressions of every shape, and what every printed derivative of them must keep."""

"""Entry by entry: operators, smooth functions, comparisons and functions by pieces, complex numbers, bits."""

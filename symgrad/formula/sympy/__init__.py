"""The way out to SymPy and back in: expressions with one symbol per array, matrix expressions, entries."""

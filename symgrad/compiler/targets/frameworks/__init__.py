"""Programs in the calls of other array libraries: one reading of NumPy's source, one table of names per library."""

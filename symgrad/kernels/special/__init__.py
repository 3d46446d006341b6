"""NumPy kernels of special functions, one family a file."""

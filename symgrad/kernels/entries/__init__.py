"""NumPy kernels of functions of single entries."""

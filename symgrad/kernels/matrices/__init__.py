"""NumPy kernels of matrices."""

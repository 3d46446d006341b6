"""Jacobians of recorded tensors and of functions: by rows in reverse mode, by columns in forward mode."""
